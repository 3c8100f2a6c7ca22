/*   file_limit [cache|compiler]
 *
 * "ulimit -f 0": the driver's files cannot grow. Its calls fail, or do without the file, and the
 * process gets no SIGXFSZ. "cache": the helper process is started before the limit is set, so only
 * the cache cannot write; "compiler": the limit also applies to the helper.
 */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tests/end_to_end/opencl.h"

static void set_limit(rlim_t bytes) {
  struct rlimit limit;
  CHECK(getrlimit(RLIMIT_FSIZE, &limit) == 0);
  limit.rlim_cur = bytes == RLIM_INFINITY ? limit.rlim_max : bytes;
  CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
}

static cl_int build(const struct opencl *opencl, const char *source) {
  cl_program program = opencl_program(opencl, source);
  const cl_int code = clBuildProgram(program, 1, &opencl->device, "", NULL, NULL);

  if (code == CL_BUILD_PROGRAM_FAILURE) {
    char log[4096];
    CHECK_CL(
        clGetProgramBuildInfo(program, opencl->device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL),
        CL_SUCCESS);
    CHECK(strstr(log, "ulimit -f"));
  }
  CHECK_CL(clReleaseProgram(program), CL_SUCCESS);
  return code;
}

int main(int count, char **words) {
  const bool of_cache = count > 1 && !strcmp(words[1], "cache");
  static const rlim_t limits[] = {0, 1, 4096, 65536, 1 << 20};
  char source[128], trace[] = "/tmp/tegracl-file-limit-XXXXXX", debug[64];
  struct opencl opencl;
  cl_int error;
  sigset_t held, pending;
  const int file = mkstemp(trace);
  CHECK(file >= 0);
  snprintf(debug, sizeof debug, "trace:%s", trace);
  CHECK(setenv("TEGRACL_DEBUG", debug, 1) == 0);
  opencl_open(&opencl);
  /* Starts the helper. The source differs in each run, so that it is not in the cache. */
  if (of_cache) {
    snprintf(source, sizeof source, "kernel void warm(global int *p) { *p = %ld; }",
             (long)getpid());
    CHECK_CL(build(&opencl, source), CL_SUCCESS);
  }
  for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
    set_limit(limits[i]);
    snprintf(source, sizeof source, "kernel void k(global int *p) { *p = %ld + %zu; }",
             (long)getpid(), i);
    error = build(&opencl, source);
    CHECK(error == CL_SUCCESS || error == CL_OUT_OF_RESOURCES || error == CL_OUT_OF_HOST_MEMORY ||
          (error == CL_BUILD_PROGRAM_FAILURE && !of_cache));
    cl_mem buffer = clCreateBuffer(opencl.context, CL_MEM_ALLOC_HOST_PTR, 4 << 20, NULL, &error);
    CHECK(error == CL_MEM_OBJECT_ALLOCATION_FAILURE || error == CL_OUT_OF_RESOURCES ||
          error == CL_OUT_OF_HOST_MEMORY);
    cl_context context = clCreateContext(NULL, 1, &opencl.device, NULL, NULL, &error);
    CHECK(!context == (error != CL_SUCCESS));
    if (context)
      CHECK_CL(clReleaseContext(context), CL_SUCCESS);
    CHECK(!buffer);
  }
  /* If the application blocks SIGXFSZ, the driver leaves none pending, and does not consume one
   * that is. */
  sigemptyset(&held);
  sigaddset(&held, SIGXFSZ);
  CHECK(sigprocmask(SIG_BLOCK, &held, NULL) == 0);
  clCreateBuffer(opencl.context, CL_MEM_ALLOC_HOST_PTR, 4 << 20, NULL, &error);
  CHECK(error != CL_SUCCESS);
  CHECK(sigpending(&pending) == 0 && !sigismember(&pending, SIGXFSZ));
  CHECK(raise(SIGXFSZ) == 0);
  clCreateBuffer(opencl.context, CL_MEM_ALLOC_HOST_PTR, 4 << 20, NULL, &error);
  CHECK(error != CL_SUCCESS);
  CHECK(sigpending(&pending) == 0 && sigismember(&pending, SIGXFSZ));
  CHECK(signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
  CHECK(sigprocmask(SIG_UNBLOCK, &held, NULL) == 0);
  CHECK(signal(SIGXFSZ, SIG_DFL) != SIG_ERR);

  set_limit(RLIM_INFINITY);
  cl_mem buffer = clCreateBuffer(opencl.context, CL_MEM_ALLOC_HOST_PTR, 4 << 20, NULL, &error);
  CHECK_CL(error, CL_SUCCESS);
  CHECK_CL(build(&opencl, "kernel void last(global int *p) { *p = 2; }"), CL_SUCCESS);
  CHECK_CL(clReleaseMemObject(buffer), CL_SUCCESS);
  opencl_close(&opencl);
  CHECK(unlink(trace) == 0 && close(file) == 0);
  return 0;
}
