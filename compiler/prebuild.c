/* tegraclc --prebuild; see prebuild.h. Opens the loader at run time,
 * because nothing else in tegraclc needs it. */
#define CL_TARGET_OPENCL_VERSION 300

#include "compiler/prebuild.h"

#include <CL/cl.h>
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "compiler/spirv/spirv.h"

#define FUNCTIONS(X)                                                                               \
  X(clGetPlatformIDs)                                                                              \
  X(clGetPlatformInfo)                                                                             \
  X(clGetDeviceIDs)                                                                                \
  X(clCreateContext)                                                                               \
  X(clReleaseContext)                                                                              \
  X(clCreateProgramWithSource)                                                                     \
  X(clCreateProgramWithIL)                                                                         \
  X(clBuildProgram)                                                                                \
  X(clGetProgramBuildInfo)                                                                         \
  X(clReleaseProgram)

#define MEMBER(name) __typeof__(name) *name;
static struct {
  void *library; /* stays open */
  FUNCTIONS(MEMBER)
} opencl;
#undef MEMBER

static bool open_loader(void) {
  static const char loader[] = "libOpenCL.so.1";
  opencl.library = dlopen(loader, RTLD_NOW | RTLD_LOCAL);
  if (!opencl.library) {
    fprintf(stderr, "tegraclc: %s: install an OpenCL loader (ocl-icd-libopencl1)\n", dlerror());
    return false;
  }
#define FIND(name) (opencl.name = (__typeof__(name) *)dlsym(opencl.library, #name)) &&
  if (FUNCTIONS(FIND) true)
    return true;
#undef FIND
  fprintf(stderr, "tegraclc: %s is too old: it lacks OpenCL 2.1 functions\n", loader);
  return false;
}

/* Opens a context on this driver's device. Prints a message and returns NULL on failure. */
static cl_context open_device(cl_device_id *device) {
  enum { PLATFORMS = 64, NAME_BYTES = 64 };
  cl_platform_id platforms[PLATFORMS];
  cl_uint count = 0;
  cl_int error = opencl.clGetPlatformIDs(PLATFORMS, platforms, &count);
  for (cl_uint i = 0; error == CL_SUCCESS && i < count && i < PLATFORMS; i++) {
    char name[NAME_BYTES] = "";
    opencl.clGetPlatformInfo(platforms[i], CL_PLATFORM_NAME, sizeof name, name, NULL);
    if (strcmp(name, "tegracl") != 0)
      continue;
    error = opencl.clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, 1, device, NULL);
    cl_context context = error ? NULL : opencl.clCreateContext(NULL, 1, device, NULL, NULL, &error);
    if (!context)
      fprintf(stderr, "tegraclc: cannot open the device (error %d); run tegracl-doctor\n", error);
    return context;
  }
  fputs("tegraclc: the OpenCL loader does not find tegracl; run tegracl-doctor\n", stderr);
  return NULL;
}

static void print_log(cl_program program, cl_device_id device) {
  size_t size = 0;
  opencl.clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0, NULL, &size);
  char *log = size ? malloc(size) : NULL;
  if (log && opencl.clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, size, log, NULL) ==
                 CL_SUCCESS)
    fputs(log, stderr);
  free(log);
}

/* Builds one program. The text before precedes any message. */
static bool build(cl_context context, cl_device_id device, const struct text *source,
                  const char *options, const char *before) {
  const char *text = source->data;
  cl_int error;
  cl_program program =
      spirv_is(text, source->size)
          ? opencl.clCreateProgramWithIL(context, text, source->size, &error)
          : opencl.clCreateProgramWithSource(context, 1, &text, &source->size, &error);
  if (!program) {
    fputs(before, stderr);
    fprintf(stderr, "tegraclc: cannot create the program (error %d)\n", error);
    return false;
  }
  error = opencl.clBuildProgram(program, 1, &device, options, NULL, NULL);
  fputs(before, stderr);
  print_log(program, device);
  opencl.clReleaseProgram(program);
  return error == CL_SUCCESS;
}

int prebuild(const char *const *names, const struct text *texts, size_t count,
             const char *options) {
  static const double ns_per_second = 1e9;
  static const char clear_line[] = "\r\033[K";
  const bool shows = isatty(STDERR_FILENO);
  const char *cache = getenv("TEGRACL_CACHE");
  bool good = true;
  cl_device_id device;
  if (cache && strcmp(cache, "0") == 0) {
    fputs("tegraclc: --prebuild needs the cache, which TEGRACL_CACHE=0 turns off\n", stderr);
    return EXIT_FAILURE;
  }
  setenv("TEGRACL_BUILD", "full", 1); /* wait until the whole build is in the cache */
  cl_context context = open_loader() ? open_device(&device) : NULL;
  if (!context)
    return EXIT_FAILURE;
  for (size_t i = 0; i < count; i++) {
    const uint64_t since = base_clock_ns();
    if (shows)
      fprintf(stderr, "[%zu/%zu] %s", i + 1, count, names[i]);
    const bool built = build(context, device, &texts[i], options, shows ? clear_line : "");
    printf("%s: %s after %.1f s\n", names[i], built ? "built" : "failed",
           (double)(base_clock_ns() - since) / ns_per_second);
    fflush(stdout);
    good &= built;
  }
  opencl.clReleaseContext(context);
  return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
