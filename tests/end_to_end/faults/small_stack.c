/* Makes all kinds of calls, including the first of the process, in a thread with a stack of 64 KiB:
 * launches, and builds, which search for the compilers, compute keys and read the cache.
 * meson.build limits the stack frame of each function.
 */
#include <pthread.h>
#include <stdint.h>
#include <unistd.h>

#include "tests/end_to_end/opencl.h"

enum { STACK_BYTES = 64 << 10, BUILDS = 2 };

static char trace[] = "/tmp/tegracl-small-stack-XXXXXX";

static void build_and_run(const struct opencl *opencl, const char *options, int n) {
  char source[256];
  int value = 0;
  cl_int error;
  /* The second program is in the cache. Each run has its own programs. */
  snprintf(source, sizeof source, "%skernel void k(global int *p) { *p = 40 + %ld * 0 + 2; }\n",
           n ? "#include <nothing.h>\n" : "", (long)getpid());
  cl_program program = opencl_program(opencl, source);
  error = clBuildProgram(program, 1, &opencl->device, options, NULL, NULL);
  CHECK_CL(error, n ? CL_BUILD_PROGRAM_FAILURE : CL_SUCCESS);
  if (error)
    CHECK_CL(clReleaseProgram(program), CL_SUCCESS);
  else
    opencl_once(opencl, program, "k", &value, sizeof value);
  CHECK(error || value == 42);
}

static void compile_and_link(const struct opencl *opencl) {
  cl_int error;
  cl_program object =
      opencl_program(opencl, "#include \"a.h\"\nkernel void k(global int *p) { *p = A; }\n");
  cl_program header = opencl_program(opencl, "#define A 7\n");
  const char *name = "a.h";
  int value = 0;
  CHECK_CL(clCompileProgram(object, 1, &opencl->device, "", 1, &header, &name, NULL, NULL),
           CL_SUCCESS);
  cl_program program =
      clLinkProgram(opencl->context, 1, &opencl->device, "", 1, &object, NULL, NULL, &error);
  CHECK_CL(error, CL_SUCCESS);
  CHECK_CL(clReleaseProgram(object), CL_SUCCESS);
  CHECK_CL(clReleaseProgram(header), CL_SUCCESS);
  opencl_once(opencl, program, "k", &value, sizeof value);
  CHECK(value == 7);
}

static void load_binary(const struct opencl *opencl) {
  size_t size;
  cl_int error, status;
  int value = 0;
  unsigned char *binary =
      opencl_binary(opencl, "kernel void k(global int *p) { printf(\"%d\\n\", *p = 9); }", &size);
  const unsigned char *bytes = binary;
  cl_program program = clCreateProgramWithBinary(opencl->context, 1, &opencl->device, &size, &bytes,
                                                 &status, &error);
  CHECK_CL(error, CL_SUCCESS);
  CHECK_CL(clBuildProgram(program, 1, &opencl->device, "", NULL, NULL), CL_SUCCESS);
  opencl_once(opencl, program, "k", &value, sizeof value);
  CHECK(value == 9);
  free(binary);
}

static void *live(void *data) {
  struct opencl opencl;
  opencl_open(&opencl);
  for (int n = 0; n < BUILDS; n++) {
    build_and_run(&opencl, "", n);
    build_and_run(&opencl, "-I/nowhere -DX=1 -cl-kernel-arg-info", n);
    build_and_run(&opencl, "", n);
  }
  compile_and_link(&opencl);
  load_binary(&opencl);
  char names[4096];
  CHECK_CL(clGetDeviceInfo(opencl.device, CL_DEVICE_EXTENSIONS, sizeof names / 2, names, NULL),
           CL_SUCCESS);
  CHECK_CL(clGetDeviceInfo(opencl.device, CL_DEVICE_IL_VERSION, sizeof names, names, NULL),
           CL_SUCCESS);
  opencl_close(&opencl);
  return NULL;
}

int main(void) {
  pthread_t thread;
  pthread_attr_t small;
  char debug[128];
  const int file = mkstemp(trace);
  CHECK(file >= 0);
  snprintf(debug, sizeof debug, "trace:%s,api", trace);
  CHECK(setenv("TEGRACL_DEBUG", debug, 1) == 0);
  /* On arm64 a thread must have at least 128 KiB. */
  const long least = sysconf(_SC_THREAD_STACK_MIN);
  const size_t bytes = least > STACK_BYTES ? (size_t)least : STACK_BYTES;
  CHECK(pthread_attr_init(&small) == 0 && pthread_attr_setstacksize(&small, bytes) == 0);
  CHECK(pthread_create(&thread, &small, live, NULL) == 0);
  CHECK(pthread_join(thread, NULL) == 0);
  CHECK(close(file) == 0 && unlink(trace) == 0);
  return 0;
}
