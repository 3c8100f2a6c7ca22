/* Programs whose units are compiled after clBuildProgram has returned. The NVRTC is
 * tests/end_to_end/programs/held_nvrtc.c, which does not compile the kernel "held" before the file
 * "go" exists. So a call that waits for that kernel unnecessarily never returns.
 *
 *   background NVRTC      NVRTC: held_nvrtc
 */
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/wait.h>
#include <unistd.h>

#include "compiler/find.h"
#include "tests/end_to_end/opencl.h"
#include "tests/end_to_end/programs/unit_source.h"

enum { LOG_BYTES = 1 << 16, THREADS = 16, EXTRA = 7 /* constant in the additional kernel */ };

static char folder[] = "/tmp/tegracl-background-XXXXXX";
static struct opencl opencl;

static void make_file(const char *name) {
  char path[128];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  const int fd = open(path, O_WRONLY | O_CREAT, 0600);
  CHECK(fd >= 0 && close(fd) == 0);
}

static void remove_file(const char *name) {
  char path[128];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  CHECK(unlink(path) == 0);
}

static cl_program create(const char *extra) {
  const char *text = source;
  cl_int error;
  make_source("", -1);
  add_kernel(extra, 1, EXTRA);
  cl_program program = clCreateProgramWithSource(opencl.context, 1, &text, &source_size, &error);
  CHECK_CL(error, CL_SUCCESS);
  return program;
}

static cl_program build(const char *extra, const char *options) {
  cl_program program = create(extra);
  CHECK_CL(clBuildProgram(program, 1, &opencl.device, options, NULL, NULL), CL_SUCCESS);
  return program;
}

static void release(cl_program program) {
  CHECK_CL(clReleaseProgram(program), CL_SUCCESS);
}

static void run_extra(cl_program program, const char *name) {
  cl_int error;
  cl_kernel kernel = clCreateKernel(program, name, &error);
  CHECK_CL(error, CL_SUCCESS);
  run_kernel(&opencl, opencl.queue, kernel, 1, EXTRA);
  CHECK_CL(clReleaseKernel(kernel), CL_SUCCESS);
}

static cl_build_status status_of(cl_program program) {
  cl_build_status status;
  CHECK_CL(clGetProgramBuildInfo(program, opencl.device, CL_PROGRAM_BUILD_STATUS, sizeof status,
                                 &status, NULL),
           CL_SUCCESS);
  return status;
}

static const char *log_of(cl_program program) {
  static char log[LOG_BYTES];
  CHECK_CL(
      clGetProgramBuildInfo(program, opencl.device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL),
      CL_SUCCESS);
  return log;
}

static size_t size_of(cl_program program) {
  size_t size;
  CHECK_CL(clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, NULL),
           CL_SUCCESS);
  return size;
}

static unsigned char *binary_of(cl_program program, size_t *size) {
  *size = size_of(program);
  unsigned char *binary = malloc(*size + 1);
  CHECK(binary);
  CHECK_CL(clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof binary, &binary, NULL),
           CL_SUCCESS);
  return binary;
}

static cl_program_binary_type type_of(cl_program program) {
  cl_program_binary_type type;
  CHECK_CL(clGetProgramBuildInfo(program, opencl.device, CL_PROGRAM_BINARY_TYPE, sizeof type, &type,
                                 NULL),
           CL_SUCCESS);
  return type;
}

static void check_plan(cl_program program, const char *extra) {
  char names[256], wanted[256];
  size_t count;
  snprintf(wanted, sizeof wanted, "k0;k1;k2;k3;%s", extra);
  CHECK_CL(clGetProgramInfo(program, CL_PROGRAM_KERNEL_NAMES, sizeof names, names, NULL),
           CL_SUCCESS);
  CHECK(strcmp(names, wanted) == 0);
  CHECK_CL(clGetProgramInfo(program, CL_PROGRAM_NUM_KERNELS, sizeof count, &count, NULL),
           CL_SUCCESS);
  CHECK(count == KERNELS + 1);
  CHECK(type_of(program) == CL_PROGRAM_BINARY_TYPE_EXECUTABLE);
}

/* ---- tests --------------------------------------------------------------------------------- */

/* Kernels run while another one is compiled. The binary is the same as that of a build that
 * waits for all units. */
static void test_order(void) {
  cl_int error;
  size_t size, full_size;
  cl_program program = build("held", "");
  CHECK(status_of(program) == CL_BUILD_SUCCESS && !*log_of(program));
  check_plan(program, "held");
  run(&opencl, program, -1);
  CHECK(!clCreateKernel(program, "missing", &error) && error == CL_INVALID_KERNEL_NAME);
  make_file("go");
  run_extra(program, "held");
  unsigned char *binary = binary_of(program, &size);
  CHECK(status_of(program) == CL_BUILD_SUCCESS && !*log_of(program));
  release(program);
  setenv("TEGRACL_BUILD", "full", 1);
  program = build("held", "");
  unsetenv("TEGRACL_BUILD");
  unsigned char *full = binary_of(program, &full_size);
  CHECK(size == full_size && memcmp(binary, full, size) == 0);
  check_plan(program, "held");
  run_extra(program, "held");
  release(program);
  free(binary);
  free(full);
  remove_file("go");
}

/* Options and errors for which clBuildProgram waits until the end of the build. */
static void test_waits(void) {
  cl_program program = build("last", "-cl-nv-verbose");
  CHECK(strstr(log_of(program), "k0: ") && strstr(log_of(program), "last: "));
  release(program);
  program = create("last");
  add("kernel void wrong(global uint *p) { __asm__(\"nosuchinstruction %%0;\" : \"=r\"(*p)); }\n");
  release(program);
  const char *text = source;
  cl_int error;
  program = clCreateProgramWithSource(opencl.context, 1, &text, &source_size, &error);
  CHECK_CL(error, CL_SUCCESS);
  CHECK_CL(clBuildProgram(program, 1, &opencl.device, "", NULL, NULL), CL_BUILD_PROGRAM_FAILURE);
  CHECK(strstr(log_of(program), "nosuchinstruction") && status_of(program) == CL_BUILD_ERROR);
  release(program);
}

/* A unit fails after the program has been accepted. */
static void test_failure(void) {
  cl_int error;
  cl_kernel kernels[KERNELS + 1];
  make_file("break");
  cl_program program = build("broken", "");
  CHECK(!clCreateKernel(program, "broken", &error) && error == CL_OUT_OF_RESOURCES);
  CHECK(status_of(program) == CL_BUILD_ERROR);
  CHECK(strstr(log_of(program), "refused by the test"));
  CHECK(size_of(program) == 0);
  run(&opencl, program, -1);
  CHECK_CL(clCreateKernelsInProgram(program, KERNELS + 1, kernels, NULL), CL_OUT_OF_RESOURCES);
  remove_file("break");
  CHECK_CL(clBuildProgram(program, 1, &opencl.device, "", NULL, NULL), CL_SUCCESS);
  CHECK(status_of(program) == CL_BUILD_SUCCESS && !*log_of(program));
  run_extra(program, "broken");
  CHECK_CL(clCreateKernelsInProgram(program, KERNELS + 1, kernels, NULL), CL_SUCCESS);
  for (int k = 0; k < KERNELS; k++)
    run_kernel(&opencl, opencl.queue, kernels[k], k, (uint32_t)k);
  run_kernel(&opencl, opencl.queue, kernels[KERNELS], 1, EXTRA);
  for (int k = 0; k <= KERNELS; k++)
    CHECK_CL(clReleaseKernel(kernels[k]), CL_SUCCESS);
  release(program);
}

/* The build of a compiled object, which the program keeps if a unit fails. */
static void test_object(void) {
  cl_int error;
  size_t size;
  cl_program compiled = create("broken");
  CHECK_CL(clCompileProgram(compiled, 1, &opencl.device, "", 0, NULL, NULL, NULL, NULL),
           CL_SUCCESS);
  unsigned char *binary = binary_of(compiled, &size);
  const unsigned char *object = binary;
  cl_program program =
      clCreateProgramWithBinary(opencl.context, 1, &opencl.device, &size, &object, NULL, &error);
  CHECK_CL(error, CL_SUCCESS);
  make_file("break");
  CHECK_CL(clBuildProgram(program, 1, &opencl.device, "", NULL, NULL), CL_SUCCESS);
  check_plan(program, "broken");
  CHECK(size_of(program) == size && status_of(program) == CL_BUILD_ERROR);
  CHECK(type_of(program) == CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT);
  remove_file("break");
  CHECK_CL(clBuildProgram(program, 1, &opencl.device, "", NULL, NULL), CL_SUCCESS);
  run_extra(program, "broken");
  CHECK(size_of(program) > 0 && type_of(program) == CL_PROGRAM_BINARY_TYPE_EXECUTABLE);
  CHECK_CL(clBuildProgram(program, 1, &opencl.device, "", NULL, NULL), CL_SUCCESS);
  run(&opencl, program, -1);
  release(program);
  release(compiled);
  free(binary);
}

/* A unit fails, but the program can be built as one module. */
static void test_whole(void) {
  make_file("break-unit");
  cl_program program = build("broken", "");
  run_extra(program, "broken");
  CHECK(status_of(program) == CL_BUILD_SUCCESS && size_of(program) > 0);
  run(&opencl, program, -1);
  release(program);
  remove_file("break-unit");
}

static void CL_CALLBACK notify(cl_program program, void *data) {
  CHECK(status_of(program) == CL_BUILD_SUCCESS);
  run(&opencl, program, -1);
  CHECK(sem_post(data) == 0);
}

static void test_notify(void) {
  sem_t done;
  CHECK(sem_init(&done, 0, 0) == 0);
  cl_program program = create("held");
  CHECK_CL(clBuildProgram(program, 1, &opencl.device, "", notify, &done), CL_SUCCESS);
  while (sem_wait(&done) != 0)
    continue;
  make_file("go");
  run_extra(program, "held");
  remove_file("go");
  release(program);
  sem_destroy(&done);
}

static void *use_program(void *argument) {
  cl_int error;
  cl_command_queue queue =
      clCreateCommandQueueWithProperties(opencl.context, opencl.device, NULL, &error);
  CHECK_CL(error, CL_SUCCESS);
  for (int i = 0; i <= KERNELS; i++) {
    char name[16];
    snprintf(name, sizeof name, i < KERNELS ? "k%d" : "held", i);
    cl_kernel kernel = clCreateKernel(argument, name, &error);
    CHECK_CL(error, CL_SUCCESS);
    run_kernel(&opencl, queue, kernel, i < KERNELS ? i : 1, i < KERNELS ? (uint32_t)i : EXTRA);
    CHECK_CL(clReleaseKernel(kernel), CL_SUCCESS);
  }
  CHECK_CL(clReleaseCommandQueue(queue), CL_SUCCESS);
  return NULL;
}

static void test_threads(void) {
  pthread_t threads[THREADS];
  cl_program program = build("held", "");
  for (int i = 0; i < THREADS; i++)
    CHECK(pthread_create(&threads[i], NULL, use_program, program) == 0);
  make_file("go");
  CHECK(size_of(program) > 0);
  for (int i = 0; i < THREADS; i++)
    CHECK(pthread_join(threads[i], NULL) == 0);
  release(program);
  remove_file("go");
}

/* A build whose program is released does not block other builds, nor make the next one fail. */
static void test_release(void) {
  cl_int error;
  cl_program program = build("held", "");
  cl_kernel kernel = clCreateKernel(program, "k0", &error);
  CHECK_CL(error, CL_SUCCESS);
  release(program);
  run_kernel(&opencl, opencl.queue, kernel, 0, 0);
  CHECK_CL(clReleaseKernel(kernel), CL_SUCCESS);
  program = build("held", "");
  /* The program is built again during its build. */
  CHECK_CL(clBuildProgram(program, 1, &opencl.device, "", NULL, NULL), CL_SUCCESS);
  make_file("go");
  run_extra(program, "held");
  release(program);
  remove_file("go");
}

/* A child of fork does not wait for the parent's builds, and can build programs itself. */
static void test_fork(void) {
  cl_program program = build("held", "");
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
/* ThreadSanitizer cannot start threads in such a child, and AddressSanitizer's allocator remains
 * locked in it if another thread has locked it at the fork (gcc 12). */
#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
    opencl_open(&opencl);
    cl_program own = build("last", "");
    run_extra(own, "last");
    release(own);
    opencl_close(&opencl);
#endif
    _exit(0); /* Memory of threads that do not exist in the child is lost. */
  }
  int status;
  CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
  make_file("go");
  run_extra(program, "held");
  release(program);
  remove_file("go");
}

int main(int argc, char **argv) {
  char nvrtc[CC_PATH_MAX];
  CHECK(argc == 2 && mkdtemp(folder) && cc_find_nvrtc(nvrtc));
  setenv("TEGRACL_TEST_FOLDER", folder, 1);
  setenv("TEGRACL_TEST_NVRTC", nvrtc, 1);
  setenv("TEGRACL_NVRTC", argv[1], 1);
  setenv("TEGRACL_CACHE", "0", 1);
  opencl_open(&opencl);
  test_order();
  test_waits();
  test_failure();
  test_object();
  test_whole();
  test_notify();
  test_threads();
  test_release();
  test_fork();
  cl_program last = build("held", "");
  CHECK(rmdir(folder) == 0);
#ifdef __SANITIZE_ADDRESS__ /* it would report objects that are not released */
  release(last);
  opencl_close(&opencl);
#else
  (void)last; /* The process exits during its build. */
#endif
  return 0;
}
