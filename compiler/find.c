/* Searches for tegraclc, clang, the tools for SPIR-V, and NVRTC. find.h gives the order. */
#include "compiler/find.h"

#include <dlfcn.h>
#include <glob.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

_Static_assert(CC_PATH_MAX >= PATH_MAX, "realpath writes up to PATH_MAX bytes");

#if defined(__x86_64__)
#define MULTIARCH "x86_64-linux-gnu"
#elif defined(__aarch64__)
#define MULTIARCH "aarch64-linux-gnu"
#else
#error "tegracl runs on 64-bit ARM and x86-64"
#endif

__attribute__((format(printf, 2, 3))) static bool make_path(char path[CC_PATH_MAX],
                                                            const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(path, CC_PATH_MAX, format, arguments);
  va_end(arguments);
  return length >= 0 && length < CC_PATH_MAX;
}

static bool is_file(const char *path) {
  struct stat status;
  return stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

static bool is_folder(const char *path) {
  struct stat status;
  return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

static bool is_command(const char *path) {
  return is_file(path) && access(path, X_OK) == 0;
}

static const char *environment(const char *name) {
  const char *value = secure_getenv(name);
  return value && *value ? value : NULL;
}

static void cut_last_component(char *path) {
  char *slash = strrchr(path, '/');
  if (slash)
    *slash = 0;
}

/* Calls visit for each part of a colon-separated list until it returns true. */
static bool each_part(const char *list, bool (*visit)(const char *part, void *data), void *data) {
  bool done = false;
  while (list && *list && !done) {
    size_t length = strcspn(list, ":");
    char *part = length ? strndup(list, length) : NULL;
    done = part && visit(part, data);
    free(part);
    list += length + (list[length] == ':');
  }
  return done;
}

struct wanted_file {
  const char *name;
  char *path; /* result, CC_PATH_MAX bytes */
};

static bool command_in(const char *folder, void *data) {
  struct wanted_file *wanted = data;
  return make_path(wanted->path, "%s/%s", folder, wanted->name) && is_command(wanted->path);
}

static bool command_on_path(const char *name, char path[CC_PATH_MAX]) {
  struct wanted_file wanted = {name, path};
  return each_part(environment("PATH"), command_in, &wanted);
}

/* ---- files that variables name ------------------------------------------------ */

static char first_folder[CC_PATH_MAX];
static pthread_once_t first_folder_once = PTHREAD_ONCE_INIT;

static void find_first_folder(void) {
  if (!getcwd(first_folder, sizeof(first_folder)))
    first_folder[0] = 0;
}

/* Writes the absolute path of a file that a variable names. Relative names start at the folder of
 * the first search, because a build runs in another thread, and the application may have changed
 * its folder by then. */
static bool forced_path(const char *value, char path[CC_PATH_MAX]) {
  pthread_once(&first_folder_once, find_first_folder);
  return *value == '/' ? make_path(path, "%s", value)
                       : make_path(path, "%s/%s", first_folder, value);
}

static bool forced_command(const char *value, char path[CC_PATH_MAX]) {
  return forced_path(value, path) && is_command(path);
}

static const char *const file_variables[] = {"TEGRACL_COMPILER", "TEGRACL_CLANG", "TEGRACL_NVRTC",
                                             "TEGRACL_SPIRV_VAL", "TEGRACL_LLVM_SPIRV"};
enum { FILE_VARIABLES = sizeof(file_variables) / sizeof(file_variables[0]) };

/* Returns the variable as "NAME=PATH" with an absolute path; NULL if it needs no change. */
static char *absolute_variable(const char *variable) {
  for (size_t i = 0; i < FILE_VARIABLES; i++) {
    const char *name = file_variables[i];
    const size_t length = strlen(name);
    if (strncmp(variable, name, length) != 0 || variable[length] != '=')
      continue;
    const char *value = variable + length + 1;
    char *path = *value && *value != '/' ? malloc(CC_PATH_MAX) : NULL, *absolute = NULL;
    if (path && forced_path(value, path) && asprintf(&absolute, "%s=%s", name, path) < 0)
      absolute = NULL;
    free(path);
    return absolute;
  }
  return NULL;
}

void cc_environment_finish(struct cc_environment *environment) {
  for (size_t i = 0; i < environment->own_count; i++)
    free(environment->own[i]);
  free(environment->own);
  free(environment->variables);
  *environment = (struct cc_environment){0};
}

bool cc_environment_make(char *const *variables, struct cc_environment *environment) {
  size_t count = 0;
  while (variables && variables[count])
    count++;
  *environment = (struct cc_environment){.variables = calloc(count + 1, sizeof(char *)),
                                         .own = calloc(count + 1, sizeof(char *))};
  if (!environment->variables || !environment->own) {
    cc_environment_finish(environment);
    return false;
  }
  for (size_t i = 0; i < count; i++) {
    char *absolute = absolute_variable(variables[i]);
    if (absolute)
      environment->own[environment->own_count++] = absolute;
    environment->variables[i] = absolute ? absolute : variables[i];
  }
  return true;
}

/* ---- tegraclc ---------------------------------------------------------------- */

static char own_folder[CC_PATH_MAX];
static pthread_once_t own_folder_once = PTHREAD_ONCE_INIT;

/* Finds the folder of the object that contains this code. The loader stores a library by
 * path, but a program by the name with which it was called. */
static void find_own_folder(void) {
  Dl_info info;
  if (dladdr(own_folder, &info) && info.dli_fname && strchr(info.dli_fname, '/') &&
      realpath(info.dli_fname, own_folder)) {
    cut_last_component(own_folder);
    return;
  }
  ssize_t length = readlink("/proc/self/exe", own_folder, sizeof(own_folder) - 1);
  own_folder[length > 0 ? length : 0] = 0;
  cut_last_component(own_folder);
}

bool cc_find_tegraclc(char path[CC_PATH_MAX]) {
  const char *forced = environment("TEGRACL_COMPILER");
  if (forced)
    return forced_command(forced, path);
  static const char *const places[] = {
      "",                /* tegraclc itself */
      "../compiler/",    /* build tree, from icd/ */
      "../../compiler/", /* build tree, from tests/X/ */
      "../libexec/tegracl/",
      "../bin/", /* prefix/lib */
      "../../libexec/tegracl/",
      "../../bin/", /* prefix/lib/<multiarch> */
  };
  pthread_once(&own_folder_once, find_own_folder);
  for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
    if (make_path(path, "%s/%stegraclc", own_folder, places[i]) && is_command(path))
      return true;
  return command_on_path("tegraclc", path);
}

/* ---- clang and the tools for SPIR-V ------------------------------------------- */

/* Finds a command of an LLVM release: name-N on PATH, or in Debian's folder for the release. */
static bool command_of_release(const char *name, int release, char path[CC_PATH_MAX]) {
  char versioned[32];
  snprintf(versioned, sizeof(versioned), "%s-%d", name, release);
  return command_on_path(versioned, path) ||
         (make_path(path, "/usr/lib/llvm-%d/bin/%s", release, name) && is_command(path));
}

/* Finds a command that writes bitcode for tegraclc's LLVM: the file that the variable names, else
 * the command of the same LLVM release, else of the newest older release, else any version. */
static bool llvm_command(const char *variable, const char *name, char path[CC_PATH_MAX]) {
  enum { OLDEST_RELEASE = 15 };
  const char *forced = environment(variable);
  if (forced)
    return forced_command(forced, path);
  for (int release = TEGRACL_LLVM_MAJOR; release >= OLDEST_RELEASE; release--)
    if (command_of_release(name, release, path))
      return true;
  return command_on_path(name, path);
}

bool cc_find_clang(char path[CC_PATH_MAX]) {
  return llvm_command("TEGRACL_CLANG", "clang", path);
}

bool cc_find_spirv_tools(char validator[CC_PATH_MAX], char translator[CC_PATH_MAX]) {
  const char *forced = environment("TEGRACL_SPIRV_VAL");
  const bool found =
      forced ? forced_command(forced, validator) : command_on_path("spirv-val", validator);
  return found && llvm_command("TEGRACL_LLVM_SPIRV", "llvm-spirv", translator);
}

/* ---- NVRTC ------------------------------------------------------------------- */

/* Newest first: the sonames in CUDA 13, 12, and 11.3 to 11.8. */
static const char *const nvrtc_names[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2"};
enum { NVRTC_NAMES = sizeof(nvrtc_names) / sizeof(nvrtc_names[0]) };

/* Finds the match of a pattern with the highest version number at its end. */
__attribute__((format(printf, 2, 3))) static bool newest_match(char path[CC_PATH_MAX],
                                                               const char *format, ...) {
  glob_t found;
  char *pattern;
  va_list arguments;
  va_start(arguments, format);
  const int length = vasprintf(&pattern, format, arguments);
  va_end(arguments);
  if (length < 0)
    return false;
  const int error = glob(pattern, 0, NULL, &found);
  free(pattern);
  if (error)
    return false;
  const char *best = NULL;
  for (size_t i = 0; i < found.gl_pathc; i++) {
    const char *file = found.gl_pathv[i];
    if (is_file(file) && (!best || strverscmp(strrchr(file, '/') + 1, strrchr(best, '/') + 1) > 0))
      best = file;
  }
  bool done = best && make_path(path, "%s", best);
  globfree(&found);
  return done;
}

/* Finds NVRTC in a folder, which contains the library itself, a toolkit or the PyPI package. */
static bool nvrtc_below(const char *folder, char path[CC_PATH_MAX]) {
  static const char *const places[] = {"", "lib64/", "lib/", "nvidia/*/lib/", "targets/*/lib/"};
  for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
    if (newest_match(path, "%s/%slibnvrtc.so.*", folder, places[i]))
      return true;
  return false;
}

static bool file_in(const char *folder, void *data) {
  struct wanted_file *wanted = data;
  return make_path(wanted->path, "%s/%s", folder, wanted->name) && is_file(wanted->path);
}

/* Searches the folders listed in the dynamic loader's configuration,
 * whose lines are a folder or "include PATTERN". */
static bool file_by_loader_configuration(const char *configuration, struct wanted_file *wanted,
                                         int depth) {
  enum { MAX_DEPTH = 4 };
  FILE *file = depth < MAX_DEPTH ? fopen(configuration, "re") : NULL;
  if (!file)
    return false;
  static const char blanks[] = " \t\r";
  char *line = NULL, *rest;
  size_t room = 0;
  bool done = false;
  while (!done && getline(&line, &room, file) > 0) {
    line[strcspn(line, "#\n")] = 0;
    glob_t found;
    const char *word = strtok_r(line, blanks, &rest);
    const char *pattern = word && !strcmp(word, "include") ? strtok_r(NULL, blanks, &rest) : NULL;
    if (pattern) {
      if (glob(pattern, 0, NULL, &found) != 0)
        continue;
      for (size_t i = 0; !done && i < found.gl_pathc; i++)
        done = file_by_loader_configuration(found.gl_pathv[i], wanted, depth + 1);
      globfree(&found);
    } else if (word && word[0] == '/') {
      done = file_in(word, wanted);
    }
  }
  free(line);
  fclose(file);
  return done;
}

/* Searches for a library in the order of dlopen. */
static bool loader_would_find(const char *name, char path[CC_PATH_MAX]) {
  struct wanted_file wanted = {name, path};
  static const char standard[] =
      "/lib/" MULTIARCH ":/usr/lib/" MULTIARCH ":/lib64:/usr/lib64:/lib:/usr/lib";
  return each_part(environment("LD_LIBRARY_PATH"), file_in, &wanted) ||
         file_by_loader_configuration("/etc/ld.so.conf", &wanted, 0) ||
         each_part(standard, file_in, &wanted);
}

/* Finds NVRTC in a PyPI package that pip has installed in the virtual
 * environment, for this user, or for all users. */
static bool nvrtc_of_pip(char path[CC_PATH_MAX]) {
  const struct {
    const char *folder, *packages;
  } places[] = {{environment("VIRTUAL_ENV"), "lib/python3*/site-packages"},
                {environment("HOME"), ".local/lib/python3*/site-packages"},
                {"/usr/local", "lib/python3*/dist-packages"}};
  for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
    if (places[i].folder && newest_match(path, "%s/%s/nvidia/*/lib/libnvrtc.so.*", places[i].folder,
                                         places[i].packages))
      return true;
  return false;
}

bool cc_find_nvrtc(char path[CC_PATH_MAX]) {
  const char *forced = environment("TEGRACL_NVRTC");
  if (forced) {
    char *folder = forced_path(forced, path) && is_folder(path) ? strdup(path) : NULL;
    const bool found = folder ? nvrtc_below(folder, path) : is_file(path);
    free(folder);
    return found;
  }
  if (cc_find_tegraclc(path)) {
    cut_last_component(path);
    char *near = NULL, *above = NULL;
    const bool found = asprintf(&near, "%s/../nvrtc", path) >= 0 &&
                       asprintf(&above, "%s/../../nvrtc", path) >= 0 &&
                       (nvrtc_below(near, path) || nvrtc_below(above, path));
    free(near);
    free(above);
    if (found)
      return true;
  }
  if (nvrtc_below("/usr/local/lib/nvrtc", path))
    return true;
  for (size_t i = 0; i < NVRTC_NAMES; i++)
    if (loader_would_find(nvrtc_names[i], path))
      return true;
  return newest_match(path, "/usr/local/cuda*/lib64/libnvrtc.so.*") ||
         newest_match(path, "/usr/local/cuda*/targets/*/lib/libnvrtc.so.*") || nvrtc_of_pip(path);
}
