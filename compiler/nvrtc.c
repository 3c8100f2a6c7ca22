/* Calls NVRTC through dlopen, so that one binary supports CUDA 11.4 to 13. The few functions used
 * are declared here according to NVRTC's documentation, so the build needs no CUDA toolkit. */
#include "compiler/nvrtc.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/device_files.h"
#include "compiler/find.h"

struct nvrtc_program;
enum { NVRTC_SUCCESS = 0, NVRTC_ERROR_COMPILATION = 6 };

static struct {
  void *library;
  const char *(*error_string)(int result);
  int (*version)(int *major, int *minor);
  int (*create)(struct nvrtc_program **program, const char *source, const char *name,
                int header_count, const char *const *headers, const char *const *names);
  int (*destroy)(struct nvrtc_program **program);
  int (*compile)(struct nvrtc_program *program, int option_count, const char *const *options);
  int (*cubin_size)(struct nvrtc_program *program, size_t *size);
  int (*cubin)(struct nvrtc_program *program, char *bytes);
  int (*log_size)(struct nvrtc_program *program, size_t *size);
  int (*log)(struct nvrtc_program *program, char *text);
} nvrtc;

static const struct {
  const char *name;
  void **function;
} functions[] = {
    {"nvrtcGetErrorString", (void **)&nvrtc.error_string},
    {"nvrtcVersion", (void **)&nvrtc.version},
    {"nvrtcCreateProgram", (void **)&nvrtc.create},
    {"nvrtcDestroyProgram", (void **)&nvrtc.destroy},
    {"nvrtcCompileProgram", (void **)&nvrtc.compile},
    {"nvrtcGetCUBINSize", (void **)&nvrtc.cubin_size},
    {"nvrtcGetCUBIN", (void **)&nvrtc.cubin},
    {"nvrtcGetProgramLogSize", (void **)&nvrtc.log_size},
    {"nvrtcGetProgramLog", (void **)&nvrtc.log},
};

static pthread_mutex_t load_lock = PTHREAD_MUTEX_INITIALIZER;

static bool load_locked(struct text *log) {
  char path[CC_PATH_MAX];
  if (nvrtc.library)
    return true;
  if (!cc_find_nvrtc(path)) {
    text_puts(log, "error: NVRTC (libnvrtc.so), which compiles OpenCL C, was not found: "
                   "install it (" CC_NVRTC_HELP "), or set TEGRACL_NVRTC to the file or its "
                   "folder\n");
    return false;
  }
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    text_printf(log, "error: cannot load NVRTC: %s\n", dlerror());
    return false;
  }
  for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
    *functions[i].function = dlsym(library, functions[i].name);
    if (!*functions[i].function) {
      text_printf(log, "error: %s lacks %s; NVRTC 11.4 or newer is required\n", path,
                  functions[i].name);
      dlclose(library);
      return false;
    }
  }
  nvrtc.library = library;
  return true;
}

static bool load_nvrtc(struct text *log) {
  pthread_mutex_lock(&load_lock);
  bool loaded = load_locked(log);
  pthread_mutex_unlock(&load_lock);
  return loaded;
}

/* Options are stored in arrays of fixed size, because all of them are short. */
enum { OPTIONS_MAX = 16, OPTION_SIZE = 48 };

struct option_list {
  const char *pointers[OPTIONS_MAX];
  char storage[OPTIONS_MAX][OPTION_SIZE];
  int count;
};

static void add_option(struct option_list *list, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void add_option(struct option_list *list, const char *format, ...) {
  va_list values;
  va_start(values, format);
  vsnprintf(list->storage[list->count], OPTION_SIZE, format, values);
  va_end(values);
  list->pointers[list->count] = list->storage[list->count];
  list->count++;
}

static const char *bool_name(bool value) {
  return value ? "true" : "false";
}

static void make_options(struct option_list *list, unsigned sm, const struct options *options) {
  add_option(list, "--gpu-architecture=sm_%u", sm);
  add_option(list, "--std=c++17");
  add_option(list, "--device-as-default-execution-space");
  add_option(list, "--device-int128");
  add_option(list, "--disable-warnings");
  add_option(list, "--fmad=%s", bool_name(options->effects & OPTION_CONTRACT));
  add_option(list, "--ftz=%s", bool_name(options->effects & OPTION_FTZ));
  /* Without this option OpenCL allows errors of 2.5 ulp for division and 3 ulp for sqrt. */
  add_option(list, "--prec-div=%s", bool_name(options->effects & OPTION_EXACT));
  add_option(list, "--prec-sqrt=%s", bool_name(options->effects & OPTION_EXACT));
  if (options->effects & OPTION_FAST) {
    add_option(list, "--use_fast_math");
    add_option(list, "-DOCL_FAST");
  }
  add_option(list, "--generate-line-info");
  if (options->max_registers)
    add_option(list, "--maxrregcount=%u", options->max_registers);
}

static enum cc_status add_cubin(struct nvrtc_program *program, struct text *cubin) {
  size_t size = 0;
  if (nvrtc.cubin_size(program, &size) != NVRTC_SUCCESS || size == 0)
    return CC_INTERNAL_ERROR;
  char *bytes = malloc(size);
  if (!bytes)
    return CC_OUT_OF_MEMORY;
  enum cc_status status = CC_INTERNAL_ERROR;
  if (nvrtc.cubin(program, bytes) == NVRTC_SUCCESS) {
    text_add(cubin, bytes, size);
    status = cubin->failed ? CC_OUT_OF_MEMORY : CC_OK;
  }
  free(bytes);
  return status;
}

/* Whether the program contains asm statements. The device library's own are in other files. */
static bool has_assembly(const char *source) {
  return strstr(source, "asm(") || strstr(source, "asm volatile(");
}

/* Adds to log why the code was refused, whose fault it is, and NVRTC's messages. */
static void add_refusal(struct nvrtc_program *program, int result, const char *source,
                        struct text *log) {
  size_t size = 0;
  char *words = NULL;
  if (nvrtc.log_size(program, &size) == NVRTC_SUCCESS && size > 1)
    words = malloc(size);
  if (words && nvrtc.log(program, words) != NVRTC_SUCCESS)
    *words = 0;
  if (words && strstr(words, "uses too much shared data"))
    text_puts(log, "error: a kernel's local variables exceed the local memory of the device\n");
  else if (words && strstr(words, "parameter space overflowed"))
    text_puts(log, "error: a kernel's arguments exceed the maximum size of arguments\n");
  else
    text_printf(log, "error: NVRTC refused the generated code (%s); this is a bug in %stegracl\n",
                nvrtc.error_string(result),
                has_assembly(source) ? "the program's asm statements or in " : "");
  if (words)
    text_puts(log, words);
  free(words);
}

enum cc_status nvrtc_compile(const char *source, unsigned sm, const struct options *options,
                             struct text *cubin, struct text *log) {
  struct nvrtc_program *program = NULL;
  struct option_list list = {.count = 0};
  enum cc_status status = CC_INTERNAL_ERROR;
  if (!load_nvrtc(log))
    return CC_NOT_AVAILABLE;

  const char **texts = calloc(2 * (size_t)device_file_count, sizeof *texts);
  if (!texts)
    return CC_OUT_OF_MEMORY;
  const char **names = texts + device_file_count;
  for (unsigned i = 0; i < device_file_count; i++) {
    texts[i] = device_files[i].text;
    names[i] = device_files[i].name;
  }
  int result = nvrtc.create(&program, source, "kernels.cu", (int)device_file_count, texts, names);
  if (result == NVRTC_SUCCESS) {
    make_options(&list, sm, options);
    result = nvrtc.compile(program, list.count, list.pointers);
    if (result == NVRTC_SUCCESS) {
      status = add_cubin(program, cubin);
    } else {
      add_refusal(program, result, source, log);
    }
    nvrtc.destroy(&program);
  } else {
    text_printf(log, "error: NVRTC: %s\n", nvrtc.error_string(result));
  }
  free(texts);
  return status;
}
