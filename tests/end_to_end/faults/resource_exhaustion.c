/* Fails every allocation of the driver and the software Orin in turn, and every creation of a
 * thread, file or mapping: once, and then always at one place in the code. Also leaves the process
 * too few file descriptors. The OpenCL calls must return errors, no file descriptor or mapping may
 * leak, no thread may hang, and afterwards everything works. AddressSanitizer checks that no memory
 * leaks.
 */
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/end_to_end/faults/failing_libc.h"
#include "tests/end_to_end/faults/failing_os.h"
#include "tests/end_to_end/faults/lifecycle.h"

/* A case that takes longer counts as a hang. */
enum { HANG_S = 600 };

static struct alive at_rest; /* with the device open, and no context */
static unsigned errors;      /* lifecycles and builds that ended with an error */

static bool is_right(cl_int code) {
  return code == CL_OUT_OF_HOST_MEMORY || code == CL_OUT_OF_RESOURCES ||
         code == CL_MEM_OBJECT_ALLOCATION_FAILURE ||
         code == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
}

static cl_int build_from_source(void) {
  static const char *const text = "kernel void k(global int *p) { *p = 1; }";
  cl_int error;
  cl_context context = clCreateContext(NULL, 1, &lifecycle_device, NULL, NULL, &error);
  if (error)
    return error;
  cl_program program = clCreateProgramWithSource(context, 1, (const char **)&text, NULL, &error);
  if (!error) {
    error = clBuildProgram(program, 1, &lifecycle_device, "-cl-kernel-arg-info", NULL, NULL);
    CHECK_CL(clReleaseProgram(program), CL_SUCCESS);
  }
  CHECK_CL(clReleaseContext(context), CL_SUCCESS);
  return error;
}

static void check_code(cl_int error, const char *what, unsigned number, int step) {
  if (error && !is_right(error)) {
    fprintf(stderr, "%s %u fails: step %d gives %d\n", what, number, step, error);
    exit(1);
  }
  errors += error != CL_SUCCESS;
}

/* Runs a lifecycle and a build. The caller has chosen which call fails. */
static bool live(const char *what, unsigned number) {
  struct lifecycle lifecycle = {0};
  alarm(HANG_S);
  cl_int error = lifecycle_run(&lifecycle);
  if (!error)
    error = build_from_source();
  const bool failed = injected_failure();
  check_code(error, what, number, (int)lifecycle.step);
  lifecycle_release(&lifecycle);
  fail_nth_call(0);
  still_as(&at_rest, what);
  return failed;
}

static void works(void) {
  lifecycle_check();
  CHECK_CL(build_from_source(), CL_SUCCESS);
}

static unsigned each_call(void) {
  unsigned nth = 1;
  for (fail_nth_call(nth); live("call", nth); fail_nth_call(nth)) {
    if (nth % 4 == 0)
      works();
    nth++;
  }
  works();
  return nth;
}

/* Fails each call of a build whose result is not in the cache, one after another. */
static unsigned each_call_of_a_build(void) {
  unsigned nth = 0;
  bool failed = true;
  setenv("TEGRACL_CACHE", "0", 1);
  while (failed) {
    alarm(HANG_S);
    fail_nth_call(++nth);
    const cl_int error = build_from_source();
    failed = injected_failure();
    fail_nth_call(0);
    check_code(error, "call of a build", nth, (int)BUILD);
    still_as(&at_rest, "a build");
  }
  CHECK_CL(build_from_source(), CL_SUCCESS);
  unsetenv("TEGRACL_CACHE");
  return nth;
}

static unsigned each_site(void) {
  unsigned site = 0;
  for (; fail_calls_at_site(site); site++) {
    live("site", site);
    works();
  }
  return site;
}

/* Limits the process to a few more file descriptors than are open. */
static void each_limit(void) {
  enum { MORE_MAX = 24 };
  struct rlimit before, limit;
  CHECK(getrlimit(RLIMIT_NOFILE, &before) == 0);
  const int next = dup(0);
  CHECK(next > 0);
  close(next);
  for (unsigned more = 0; more < MORE_MAX; more++) {
    limit = (struct rlimit){.rlim_cur = (rlim_t)next + more, .rlim_max = before.rlim_max};
    CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    live("limit of fds", more);
    CHECK(setrlimit(RLIMIT_NOFILE, &before) == 0);
    works();
  }
}

/* Each in its own process, because a process opens the device once. */
static bool open_injected_failure(unsigned nth) {
  int status;
  const pid_t opener = fork();
  CHECK(opener >= 0);
  if (opener == 0) {
    alarm(HANG_S);
    fail_nth_call(nth);
    const cl_int error =
        clGetDeviceIDs(lifecycle_platform, CL_DEVICE_TYPE_GPU, 1, &lifecycle_device, NULL);
    const bool failed = injected_failure();
    CHECK(error == CL_SUCCESS || (failed && error == CL_DEVICE_NOT_FOUND));
    fail_nth_call(0);
    CHECK_CL(clGetDeviceIDs(lifecycle_platform, CL_DEVICE_TYPE_GPU, 1, &lifecycle_device, NULL),
             CL_SUCCESS);
    _exit(failed ? 0 : 2);
  }
  CHECK(waitpid(opener, &status, 0) == opener);
  if (!WIFEXITED(status) || WEXITSTATUS(status) == 1) {
    fprintf(stderr, "opening without call %u: status 0x%x\n", nth, status);
    exit(1);
  }
  return WEXITSTATUS(status) == 0;
}

int main(void) {
  unsigned openings = 0;
  CHECK_CL(clGetPlatformIDs(1, &lifecycle_platform, NULL), CL_SUCCESS);
  while (open_injected_failure(openings + 1))
    openings++;
  CHECK_CL(clGetDeviceIDs(lifecycle_platform, CL_DEVICE_TYPE_GPU, 1, &lifecycle_device, NULL),
           CL_SUCCESS);
  at_rest = still_alive();
  lifecycle_compile();
  works();
  const unsigned calls = each_call(), builds = each_call_of_a_build(), sites = each_site();
  each_limit();
  lifecycle_free_program();
  printf("%u calls of the opening, %u of a lifecycle, %u of a build, %u places: %u errors\n",
         openings, calls, builds, sites, errors);
  CHECK(openings > 5 && calls > 100 && builds > 20 && sites > 30 && errors > 100);
  return 0;
}
