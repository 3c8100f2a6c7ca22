/* All kinds of calls in a thread with a stack of 64 KiB, the first of the process included: builds,
 * which look for compilers, keys and cached programs, and launches. The build bounds the frames of
 * single functions (meson.build).
 */
#include <pthread.h>
#include <stdint.h>
#include <unistd.h>

#include "tests/road/road.h"

enum { STACK_BYTES = 64 << 10, BUILDS = 2 };

static char trace[] = "/tmp/tegracl-small-stack-XXXXXX";

static void build_and_run(const struct road *road, const char *options, int n) {
  char source[256];
  int value = 0;
  cl_int error;
  /* The second has a cached program; each run has its own programs. */
  snprintf(source, sizeof source, "%skernel void k(global int *p) { *p = 40 + %ld * 0 + 2; }\n",
           n ? "#include <nothing.h>\n" : "", (long)getpid());
  cl_program program = road_program(road, source);
  error = clBuildProgram(program, 1, &road->device, options, NULL, NULL);
  CHECK_CL(error, n ? CL_BUILD_PROGRAM_FAILURE : CL_SUCCESS);
  if (error)
    CHECK_CL(clReleaseProgram(program), CL_SUCCESS);
  else
    road_once(road, program, "k", &value, sizeof value);
  CHECK(error || value == 42);
}

static void compile_and_link(const struct road *road) {
  cl_int error;
  cl_program object =
      road_program(road, "#include \"a.h\"\nkernel void k(global int *p) { *p = A; }\n");
  cl_program header = road_program(road, "#define A 7\n");
  const char *name = "a.h";
  int value = 0;
  CHECK_CL(clCompileProgram(object, 1, &road->device, "", 1, &header, &name, NULL, NULL),
           CL_SUCCESS);
  cl_program program =
      clLinkProgram(road->context, 1, &road->device, "", 1, &object, NULL, NULL, &error);
  CHECK_CL(error, CL_SUCCESS);
  CHECK_CL(clReleaseProgram(object), CL_SUCCESS);
  CHECK_CL(clReleaseProgram(header), CL_SUCCESS);
  road_once(road, program, "k", &value, sizeof value);
  CHECK(value == 7);
}

static void load_binary(const struct road *road) {
  size_t size;
  cl_int error, status;
  int value = 0;
  unsigned char *binary =
      road_binary(road, "kernel void k(global int *p) { printf(\"%d\\n\", *p = 9); }", &size);
  const unsigned char *bytes = binary;
  cl_program program =
      clCreateProgramWithBinary(road->context, 1, &road->device, &size, &bytes, &status, &error);
  CHECK_CL(error, CL_SUCCESS);
  CHECK_CL(clBuildProgram(program, 1, &road->device, "", NULL, NULL), CL_SUCCESS);
  road_once(road, program, "k", &value, sizeof value);
  CHECK(value == 9);
  free(binary);
}

static void *live(void *data) {
  struct road road;
  road_open(&road);
  for (int n = 0; n < BUILDS; n++) {
    build_and_run(&road, "", n);
    build_and_run(&road, "-I/nowhere -DX=1 -cl-kernel-arg-info", n);
    build_and_run(&road, "", n);
  }
  compile_and_link(&road);
  load_binary(&road);
  char names[4096];
  CHECK_CL(clGetDeviceInfo(road.device, CL_DEVICE_EXTENSIONS, sizeof names / 2, names, NULL),
           CL_SUCCESS);
  CHECK_CL(clGetDeviceInfo(road.device, CL_DEVICE_IL_VERSION, sizeof names, names, NULL),
           CL_SUCCESS);
  road_close(&road);
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
  /* On arm64 no thread may have less than 128 KiB. */
  const long least = sysconf(_SC_THREAD_STACK_MIN);
  const size_t bytes = least > STACK_BYTES ? (size_t)least : STACK_BYTES;
  CHECK(pthread_attr_init(&small) == 0 && pthread_attr_setstacksize(&small, bytes) == 0);
  CHECK(pthread_create(&thread, &small, live, NULL) == 0);
  CHECK(pthread_join(thread, NULL) == 0);
  CHECK(close(file) == 0 && unlink(trace) == 0);
  return 0;
}
