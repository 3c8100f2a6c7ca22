/* Runs clang -cc1 with the source as its standard input. */
#include "compiler/frontend/frontend.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "compiler/device_files.h"
#include "compiler/frontend/header_files.h"
#include "compiler/frontend/places.h"
#include "gpu/cubin/cubin_format.h"

static const char source_name[] = SOURCE_NAME;

/* Adds an argument, with the prefix and suffix, for each word of a blank-separated list. */
static void add_prefixed_words(struct command *command, const char *prefix, const char *words,
                               const char *after) {
  while (words && *words) {
    size_t size = strcspn(words, " ");
    if (size)
      command_add(command, "%s%.*s%s", prefix, (int)size, words, after);
    words += size + (words[size] == ' ');
  }
}

/* Enables the device's extensions and disables all others. */
static void add_extensions(struct command *command, const struct cc_device *device,
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
    command->failed = true;
  else
    command_add(command, "%s", list.data);
  text_finish(&list);
  for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++)
    add_prefixed_words(command, "-D", groups[i], "=1");
  command_add(command, "-Ucl_ext_cxx_for_opencl"); /* not of OpenCL C; for C++ clang has macros */
}

/* Sets the version of the language, and the macros of OpenCL 3.1 for clang
 * before 23. OpenCL C 3.1 is the same language as 3.0. */
static void add_version(struct command *command, const struct cc_device *device,
                        const struct options *options) {
  const bool is_3_1 = options->c_version == 310;
  const unsigned version = is_3_1 ? 300 : options->c_version;
  if (options->cxx)
    command_add(command, "-cl-std=%s", options->cxx);
  else
    command_add(command, "-cl-std=CL%u.%u", version / 100, version / 10 % 10);
  if (is_3_1) {
    command_add(command, "-U__OPENCL_C_VERSION__");
    command_add(command, "-D__OPENCL_C_VERSION__=310");
  }
  command_add(command, "-DCL_VERSION_3_1=310");
  /* This macro is the OpenCL version of the device, not of the language. */
  command_add(command, "-D__OPENCL_VERSION__=%u", device->version);
}

bool frontend_find_clang(char path[CC_PATH_MAX], struct text *log) {
  if (cc_find_clang(path))
    return true;
  text_puts(log, "error: clang was not found; install clang 15 or newer (Debian, Ubuntu: apt "
                 "install clang-15), or set TEGRACL_CLANG to the path of the executable\n");
  return false;
}

static bool source_mentions(const struct cc_source *source, const char *word) {
  return memmem(source->text, source->size, word, strlen(word)) != NULL;
}

/* Whether the program or a header may overload a built-in function. clang then needs
 * opencl-c.h. Its built-in table takes a third of the time, but any function that
 * the program declares hides all overloads of that name. */
static bool may_overload(const struct cc_job *job) {
  bool may = false;
  for (size_t i = 0; i < job->source_count; i++)
    may |= source_mentions(&job->sources[i], "overloadable") ||
           source_mentions(&job->sources[i], "include");
  return may;
}

static bool build_command(struct command *command, const char *clang, const struct cc_job *job,
                          const struct options *options, struct text *log) {
  static const char *const fixed[] = {
      "-cc1", "-triple", FRONTEND_TARGET, "-emit-llvm-bc",
      /* LLVM's optimiser runs later; see optimise.h. */
      "-disable-llvm-passes", "-finclude-default-header", "-cl-kernel-arg-info",
      /* The device needs clang's headers, not those of the host. */
      "-nostdsysteminc",
      /* Messages about faults show source lines. */
      "-debug-info-kind=line-tables-only",
      /* Applications use inline PTX on NVIDIA devices. */
      "-fgnu-keywords", "-ferror-limit", "100",
      /* Enabling an extension that needs no pragma is not an error; see enables_unknown. */
      "-Wno-error=ignored-pragmas",
      /* clang defines this macro only for SPIR targets. */
      "-D__IMAGE_SUPPORT__=1",
      /* fma is one instruction; multiplication and addition are two. */
      "-DFP_FAST_FMAF=1", "-DFP_FAST_FMA=1", "-DFP_FAST_FMA_HALF=1",
      /* Write the list of files that clang reads, including system headers. */
      "-dependency-file", COMMAND_EXTRA, "-MT", "source", "-MV", "-sys-header-deps"};
  command_add(command, "%s", clang);
  for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; i++)
    command_add(command, "%s", fixed[i]);
  command_add(command, "-x");
  command_add(command, options->cxx ? "clcpp" : "cl");
  /* With these semantics a plain inline function needs no other definition. */
  command_add(command, options->cxx ? "-fno-threadsafe-statics" : "-fgnu89-inline");
  if (!may_overload(job))
    command_add(command, "-fdeclare-opencl-builtins");
  /* At level 0 clang drops extern inline functions, and does not mark other functions as inline. */
  command_add(command, "-O%u", options->opt_level ? options->opt_level : 1);
  add_version(command, job->device, options);
  /* "on" contracts within an expression only, and honours #pragma FP_CONTRACT. */
  command_add(command, "-ffp-contract=%s", options->effects & OPTION_CONTRACT ? "fast" : "on");
  add_extensions(command, job->device, options);
  if (job->header_count) {
    if (!header_files_add(command, job, source_name, log))
      return false;
    /* The program's own headers are searched first. */
    command_add(command, "-iquote" HEADER_FOLDER);
    command_add(command, "-iquote.");
    command_add(command, "-I" HEADER_FOLDER);
    command_add(command, "-fdebug-prefix-map=" HEADER_FOLDER "/=");
    command_add(command, "-fmacro-prefix-map=" HEADER_FOLDER "/=");
  }
  for (size_t i = 0; i < options->clang_count; i++)
    command_add(command, "%s", options->clang[i]);
  command_add(command, "-o");
  command_add(command, "-");
  /* #include "..." searches the folder of the including file first, so the source
   * must appear to be in the folder of its headers. */
  if (job->header_count)
    command_add(command, HEADER_FOLDER "/%s", source_name);
  else
    command_add(command, "-");
  return true;
}

/* Declarations that clang lacks before version 20. */
#define CLOCK(scope)                                                                               \
  "ulong __attribute__((overloadable)) clock_read_" scope "(void);"                                \
  "uint2 __attribute__((overloadable)) clock_read_hilo_" scope "(void);\n"
static const char prelude[] =
    "# 1 \"tegracl.h\" 3\n" CLOCK("device") CLOCK("work_group") CLOCK("sub_group");

/* Writes the declarations that the program may need and clang may lack. */
static bool write_prelude(int fd, const struct cc_job *job) {
  static const struct {
    const char *name, *word;
  } headers[] = {
      {"intel.cl", "intel_"}, {"uniform.cl", "work_group_"}, {"matrix.cl", "tegracl_matrix"}};
  bool written = command_write(fd, prelude, sizeof prelude - 1);
  for (size_t h = 0; h < sizeof(headers) / sizeof(*headers); h++) {
    bool wanted = false;
    for (size_t i = 0; i < job->source_count; i++)
      wanted |= source_mentions(&job->sources[i], headers[h].word) ||
                source_mentions(&job->sources[i], "include");
    for (unsigned i = 0; wanted && i < device_file_count; i++)
      if (!strcmp(device_files[i].name, headers[h].name))
        written = written && command_write(fd, device_files[i].text, strlen(device_files[i].text));
  }
  return written;
}

static int source_file(const struct cc_job *job) {
  static const char byte_order[] =
      "\xef\xbb\xbf"; /* clang skips it only at the beginning of a file */
  int fd = command_input();
  if (fd < 0)
    return -1;
  char marker[sizeof source_name + 16];
  int size = snprintf(marker, sizeof marker, "# 1 \"%s\"\n", source_name);
  bool written = write_prelude(fd, job) && command_write(fd, marker, (size_t)size);
  for (size_t i = 0; written && i < job->source_count; i++) {
    const struct cc_source *source = &job->sources[i];
    const size_t mark = sizeof byte_order - 1;
    const bool marked = i == 0 && source->size >= mark && !memcmp(source->text, byte_order, mark);
    written =
        command_write(fd, source->text + (marked ? mark : 0), source->size - (marked ? mark : 0));
  }
  if (written)
    return fd;
  close(fd);
  return -1;
}

/* Adds clang's messages with the original names of the headers. */
static void add_messages(struct text *log, const char *messages) {
  static const char folder[] = HEADER_FOLDER "/";
  for (const char *found; (found = strstr(messages, folder)); messages = found + sizeof folder - 1)
    text_add(log, messages, (size_t)(found - messages));
  text_puts(log, messages);
}

bool frontend_has_word(const char *words, const char *word, size_t size) {
  for (; words && *words; words += strcspn(words, " "), words += *words == ' ')
    if (strcspn(words, " ") == size && !memcmp(words, word, size))
      return true;
  return false;
}

/* clang gives the same warning about pragmas for unneeded and for non-existent
 * extensions. With -Werror, only the latter are errors. */
static bool enables_unknown(const char *messages, const struct cc_device *device,
                            struct text *log) {
  static const char before[] = "OpenCL extension '";
  bool unknown = false;
  for (const char *name; (name = strstr(messages, before)); messages = name) {
    name += sizeof before - 1;
    const size_t size = strcspn(name, "'\n");
    if (name[size] != '\'' || frontend_has_word(device->extensions, name, size))
      continue;
    text_printf(log, "error: the device does not support the OpenCL extension '%.*s' [-Werror]\n",
                (int)size, name);
    unknown = true;
  }
  return unknown;
}

static bool warnings_are_errors(const struct options *options) {
  for (size_t i = 0; i < options->clang_count; i++)
    if (!strcmp(options->clang[i], "-Werror"))
      return true;
  return false;
}

enum cc_status frontend_run(const struct cc_job *job, const struct options *options,
                            struct text *output, struct text *places, struct text *log) {
  char clang[CC_PATH_MAX];
  struct text dependencies = {0}, messages = {0};
  struct command command = {.extra = &dependencies};
  int source = -1;
  enum cc_status status = CC_INTERNAL_ERROR;

  if (!frontend_find_clang(clang, log))
    return CC_NOT_AVAILABLE;
  if (build_command(&command, clang, job, options, log)) {
    source = source_file(job);
    if (source < 0)
      text_printf(log, "error: cannot create a memory file for the source: %s\n", strerror(errno));
    status = source < 0 ? CC_OUT_OF_MEMORY : command_run(&command, source, output, &messages);
    add_messages(log, messages.data ? messages.data : "");
    log->failed |= messages.failed;
    if (status == CC_OK && messages.data && warnings_are_errors(options) &&
        enables_unknown(messages.data, job->device, log))
      status = CC_BUILD_FAILURE;
    if (status == CC_OK && dependencies.data)
      places_add(dependencies.data, options, job->header_count ? HEADER_FOLDER : NULL, places);
  }
  if (source >= 0)
    close(source);
  text_finish(&dependencies);
  text_finish(&messages);
  command_finish(&command);
  return status;
}
