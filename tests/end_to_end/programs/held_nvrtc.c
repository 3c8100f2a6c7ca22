/* A wrapper of NVRTC that files in TEGRACL_TEST_FOLDER control. A source with the kernel "held"
 * waits until the file "go" exists. One with the kernel "broken" fails while the file "break"
 * exists. A unit of a program with that kernel also fails while "break-unit" exists. */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { SUCCESS = 0, ERROR_COMPILATION = 6 };

static const char refusal[] = "refused by the test\n";
static char *source; /* of the last program */
static bool refused;

/* Returns a function of the real NVRTC. */
static void *real(const char *name) {
  static void *library;
  if (!library)
    library = dlopen(getenv("TEGRACL_TEST_NVRTC"), RTLD_NOW | RTLD_LOCAL);
  void *function = library ? dlsym(library, name) : NULL;
  if (!function) {
    fprintf(stderr, "held_nvrtc: %s\n", dlerror());
    abort();
  }
  return function;
}

static bool exists(const char *name) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", getenv("TEGRACL_TEST_FOLDER"), name);
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd >= 0)
    close(fd);
  return fd >= 0;
}

#define FORWARD(name, parameters, ...)                                                             \
  __attribute__((visibility("default"))) int name parameters;                                      \
  int name parameters {                                                                            \
    return ((__typeof__(name) *)real(#name))(__VA_ARGS__);                                         \
  }
FORWARD(nvrtcVersion, (int *major, int *minor), major, minor)
FORWARD(nvrtcDestroyProgram, (void **program), program)
FORWARD(nvrtcGetCUBINSize, (void *program, size_t *size), program, size)
FORWARD(nvrtcGetCUBIN, (void *program, char *bytes), program, bytes)

__attribute__((visibility("default"))) const char *nvrtcGetErrorString(int result);
const char *nvrtcGetErrorString(int result) {
  return ((__typeof__(nvrtcGetErrorString) *)real("nvrtcGetErrorString"))(result);
}

__attribute__((visibility("default"))) int nvrtcCreateProgram(void **program, const char *text,
                                                              const char *name, int header_count,
                                                              const char *const *headers,
                                                              const char *const *names);
int nvrtcCreateProgram(void **program, const char *text, const char *name, int header_count,
                       const char *const *headers, const char *const *names) {
  free(source);
  source = strdup(text);
  return ((__typeof__(nvrtcCreateProgram) *)real("nvrtcCreateProgram"))(
      program, text, name, header_count, headers, names);
}

__attribute__((visibility("default"))) int nvrtcCompileProgram(void *program, int option_count,
                                                               const char *const *options);
int nvrtcCompileProgram(void *program, int option_count, const char *const *options) {
  const bool whole = strstr(source, "k_k0(");
  while (strstr(source, "k_held(") && !exists("go"))
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
  refused = strstr(source, "k_broken(") && (exists("break") || (!whole && exists("break-unit")));
  if (refused)
    return ERROR_COMPILATION;
  return ((__typeof__(nvrtcCompileProgram) *)real("nvrtcCompileProgram"))(program, option_count,
                                                                          options);
}

__attribute__((visibility("default"))) int nvrtcGetProgramLogSize(void *program, size_t *size);
int nvrtcGetProgramLogSize(void *program, size_t *size) {
  if (!refused)
    return ((__typeof__(nvrtcGetProgramLogSize) *)real("nvrtcGetProgramLogSize"))(program, size);
  *size = sizeof refusal;
  return SUCCESS;
}

__attribute__((visibility("default"))) int nvrtcGetProgramLog(void *program, char *text);
int nvrtcGetProgramLog(void *program, char *text) {
  if (!refused)
    return ((__typeof__(nvrtcGetProgramLog) *)real("nvrtcGetProgramLog"))(program, text);
  memcpy(text, refusal, sizeof refusal);
  return SUCCESS;
}
