/* Runs clang -cc1 with the source on its standard input. Input, bitcode and
 * messages are memory files, so nothing can block on a full pipe, and nothing
 * is left behind. Program headers go to a temporary folder. */
#include "compiler/frontend.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "compiler/cubin_format.h"
#include "compiler/find.h"

extern char **environ;

static const char source_name[] = SOURCE_NAME;

/* A list of arguments for exec; the strings it owns are freed with it. */
struct arguments {
  char **list;
  size_t count;
  bool failed;
};

static void add(struct arguments *arguments, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void add(struct arguments *arguments, const char *format, ...) {
  char **list = realloc(arguments->list, (arguments->count + 2) * sizeof *list);
  if (!list) {
    arguments->failed = true;
    return;
  }
  arguments->list = list;
  va_list values;
  va_start(values, format);
  char *word = NULL;
  if (vasprintf(&word, format, values) < 0) {
    word = NULL;
    arguments->failed = true;
  }
  va_end(values);
  list[arguments->count] = word;
  arguments->count += word != NULL;
  list[arguments->count] = NULL;
}

static void arguments_finish(struct arguments *arguments) {
  for (size_t i = 0; i < arguments->count; i++)
    free(arguments->list[i]);
  free(arguments->list);
}

/* Adds one argument for each blank-separated word of words. */
static void add_each(struct arguments *arguments, const char *prefix, const char *words,
                     const char *after) {
  while (words && *words) {
    size_t size = strcspn(words, " ");
    if (size)
      add(arguments, "%s%.*s%s", prefix, (int)size, words, after);
    words += size + (words[size] == ' ');
  }
}

/* clang's list of extensions that exist: none but the device's. */
static void add_extensions(struct arguments *arguments, const struct cc_device *device,
                           const struct options *options) {
  struct text list = {0};
  text_puts(&list, "-cl-ext=-all");
  const char *groups[] = {device->extensions,
                          options->c_version >= 300 ? device->c_features : NULL};
  for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++)
    for (const char *words = groups[i]; words && *words;) {
      size_t size = strcspn(words, " ");
      if (size)
        text_printf(&list, ",+%.*s", (int)size, words);
      words += size + (words[size] == ' ');
    }
  if (list.failed)
    arguments->failed = true;
  else
    add(arguments, "%s", list.data);
  text_finish(&list);
  for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++)
    add_each(arguments, "-D", groups[i], "=1");
}

static void build_arguments(struct arguments *arguments, const char *clang,
                            const struct cc_job *job, const struct options *options,
                            enum frontend_output kind, const char *header_folder) {
  static const char *const fixed[] = {
      "-cc1", "-triple", "nvptx64-nvidia-nvcl", "-x", "cl", "-finclude-default-header",
      "-fdeclare-opencl-builtins", "-cl-kernel-arg-info",
      /* Source lines, for messages about faults. */
      "-debug-info-kind=line-tables-only",
      /* Applications use inline PTX on NVIDIA devices. */
      "-fgnu-keywords",
      /* A plain inline function needs no other definition elsewhere. */
      "-fgnu89-inline", "-ferror-limit", "100",
      /* A program may enable what needs no enabling. */
      "-Wno-error=ignored-pragmas",
      /* LLVM would take the same sub-group function in both branches of a condition
       * for one in front of it, where all lanes are together. */
      "-mllvm", "-simplifycfg-hoist-common=false",
      /* The OpenCL version of the device, not of the language. */
      "-D__OPENCL_VERSION__=300",
      /* clang defines it for SPIR alone. */
      "-D__IMAGE_SUPPORT__=1"};
  add(arguments, "%s", clang);
  for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; i++)
    add(arguments, "%s", fixed[i]);
  add(arguments, "-cl-std=CL%u.%u", options->c_version / 100, options->c_version / 10 % 10);
  add(arguments, "-O%u", options->opt_level);
  /* On: a product and a sum in one expression may be joined (FP_CONTRACT). */
  add(arguments, "-ffp-contract=%s", options->contract ? "fast" : "on");
  add(arguments, "%s", kind == FRONTEND_BITCODE ? "-emit-llvm-bc" : "-emit-llvm");
  add_extensions(arguments, job->device, options);
  if (header_folder) {
    add(arguments, "-I%s", header_folder);
    add(arguments, "-fdebug-prefix-map=%s/=", header_folder);
  }
  for (size_t i = 0; i < options->clang_count; i++)
    add(arguments, "%s", options->clang[i]);
  add(arguments, "-o");
  add(arguments, "-");
  add(arguments, "-");
}

/* A header's name must stay inside the folder. */
static bool is_inside(const char *name) {
  if (!*name || *name == '/')
    return false;
  for (const char *part = name; part; part = strchr(part, '/')) {
    part += *part == '/';
    if (!strncmp(part, "..", 2) && (part[2] == '/' || part[2] == 0))
      return false;
  }
  return true;
}

static bool write_header(const char *folder, const struct cc_header *header) {
  char path[PATH_MAX];
  int size = snprintf(path, sizeof path, "%s/%s", folder, header->name);
  if (size < 0 || (size_t)size >= sizeof path)
    return false;
  for (char *slash = strchr(path + strlen(folder) + 1, '/'); slash;
       slash = strchr(slash + 1, '/')) {
    *slash = 0;
    bool made = mkdir(path, S_IRWXU) == 0 || errno == EEXIST;
    *slash = '/';
    if (!made)
      return false;
  }
  FILE *file = fopen(path, "wbe");
  if (!file)
    return false;
  bool written = fputs(header->text, file) >= 0;
  return fclose(file) == 0 && written;
}

static int remove_entry(const char *path, const struct stat *info, int type, struct FTW *place) {
  return remove(path);
}

static void remove_folder(const char *folder) {
  enum { OPEN_FOLDERS = 8 };
  nftw(folder, remove_entry, OPEN_FOLDERS, FTW_DEPTH | FTW_PHYS);
}

/* Makes the folder of the job's headers; folder becomes "" if there are none. */
static bool write_headers(const struct cc_job *job, char folder[PATH_MAX], struct text *log) {
  folder[0] = 0;
  if (!job->header_count)
    return true;
  const char *parent = getenv("TMPDIR");
  snprintf(folder, PATH_MAX, "%s/tegraclc-XXXXXX", parent && *parent ? parent : "/tmp");
  if (!mkdtemp(folder)) {
    text_printf(log, "error: no folder for the program's headers: %s\n", strerror(errno));
    folder[0] = 0;
    return false;
  }
  for (size_t i = 0; i < job->header_count; i++)
    if (!is_inside(job->headers[i].name) || !write_header(folder, &job->headers[i])) {
      text_printf(log, "error: header '%s' cannot be provided\n", job->headers[i].name);
      return false;
    }
  return true;
}

static bool write_all(int fd, const char *bytes, size_t size) {
  while (size) {
    ssize_t written = write(fd, bytes, size);
    if (written < 0 && errno == EINTR)
      continue;
    if (written <= 0)
      return false;
    bytes += written;
    size -= (size_t)written;
  }
  return true;
}

/* What clang before 20 does not declare. */
#define CLOCK(scope)                                                                               \
  "ulong __attribute__((overloadable)) clock_read_" scope "(void);"                                \
  "uint2 __attribute__((overloadable)) clock_read_hilo_" scope "(void);\n"
static const char prelude[] =
    "# 1 \"tegracl.h\" 3\n" CLOCK("device") CLOCK("work_group") CLOCK("sub_group");

static int source_file(const struct cc_job *job) {
  int fd = memfd_create("source", MFD_CLOEXEC);
  if (fd < 0)
    return -1;
  char marker[sizeof source_name + 16];
  int size = snprintf(marker, sizeof marker, "# 1 \"%s\"\n", source_name);
  bool written = write_all(fd, prelude, sizeof prelude - 1) && write_all(fd, marker, (size_t)size);
  for (size_t i = 0; written && i < job->source_count; i++)
    written = write_all(fd, job->sources[i].text, job->sources[i].size);
  if (written && lseek(fd, 0, SEEK_SET) == 0)
    return fd;
  close(fd);
  return -1;
}

static bool read_all(int fd, struct text *text) {
  struct stat info;
  if (fstat(fd, &info) || lseek(fd, 0, SEEK_SET))
    return false;
  if (!info.st_size)
    return true;
  char *bytes = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
  if (bytes == MAP_FAILED)
    return false;
  text_add(text, bytes, (size_t)info.st_size);
  munmap(bytes, (size_t)info.st_size);
  return true;
}

/* Runs the program with the three files as its standard streams; 0 and its wait
 * status, or an errno value. */
static int run(char **arguments, const int files[3], int *wait_status) {
  posix_spawn_file_actions_t actions;
  pid_t pid;
  int error = posix_spawn_file_actions_init(&actions);
  if (error)
    return error;
  for (int i = 0; i < 3 && !error; i++)
    error = posix_spawn_file_actions_adddup2(&actions, files[i], i);
  if (!error)
    error = posix_spawn(&pid, arguments[0], &actions, NULL, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error)
    return error;
  while (waitpid(pid, wait_status, 0) < 0)
    if (errno != EINTR)
      return errno;
  return 0;
}

enum cc_status frontend_run(const struct cc_job *job, const struct options *options,
                            enum frontend_output kind, struct text *output, struct text *log) {
  char clang[CC_PATH_MAX], folder[PATH_MAX];
  struct arguments arguments = {0};
  int files[3] = {-1, -1, -1}, wait_status = 0, error;
  enum cc_status status = CC_INTERNAL_ERROR;

  if (!cc_find_clang(clang)) {
    text_puts(log, "error: clang was not found; install clang-15 or newer (Debian, Ubuntu: "
                   "apt install clang-15), or set TEGRACL_CLANG to the executable\n");
    return CC_NOT_AVAILABLE;
  }
  if (!write_headers(job, folder, log))
    goto done;
  build_arguments(&arguments, clang, job, options, kind, folder[0] ? folder : NULL);
  files[0] = source_file(job);
  files[1] = memfd_create("output", MFD_CLOEXEC);
  files[2] = memfd_create("messages", MFD_CLOEXEC);
  if (arguments.failed || files[0] < 0 || files[1] < 0 || files[2] < 0) {
    status = CC_OUT_OF_MEMORY;
    goto done;
  }
  error = run(arguments.list, files, &wait_status);
  if (error) {
    text_printf(log, "error: %s cannot be started: %s\n", clang, strerror(error));
    status = CC_NOT_AVAILABLE;
    goto done;
  }
  if (!read_all(files[2], log) || !read_all(files[1], output)) {
    status = CC_OUT_OF_MEMORY;
  } else if (WIFSIGNALED(wait_status)) {
    text_printf(log, "error: clang was ended by signal %d\n", WTERMSIG(wait_status));
  } else {
    status = WEXITSTATUS(wait_status) ? CC_BUILD_FAILURE : CC_OK;
  }

done:
  for (int i = 0; i < 3; i++)
    if (files[i] >= 0)
      close(files[i]);
  if (folder[0])
    remove_folder(folder);
  arguments_finish(&arguments);
  return status;
}
