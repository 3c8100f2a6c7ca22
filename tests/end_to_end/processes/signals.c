/* Signal handlers of the application do not run on threads of the driver, except for a fault that
 * the application's callback causes there.
 */
#include <dirent.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>
#include <unistd.h>

#include "tests/end_to_end/opencl.h"

static const char source[] = "kernel void longer(global volatile int *flag) { while (!*flag) ; }\n";
static const char other_source[] = "kernel void other(global int *p) { *p = 3; }\n";

static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS};
enum { FAULTS = sizeof faults / sizeof faults[0], CALLBACKS = 2 };

static atomic_int called, handled;
static atomic_bool handled_here; /* in the thread that caused the fault */
static pthread_t main_thread;

static uint64_t bit(int number) {
  return UINT64_C(1) << (number - 1);
}

/* Signals that must be blocked. glibc does not block its own two (those below SIGRTMIN), and a
 * program cannot block SIGKILL and SIGSTOP. */
static uint64_t wanted_mask(void) {
  uint64_t mask = UINT64_MAX & ~bit(SIGKILL) & ~bit(SIGSTOP);
  for (int i = 0; i < FAULTS; i++)
    mask &= ~bit(faults[i]);
  for (int number = __SIGRTMIN; number < SIGRTMIN; number++)
    mask &= ~bit(number);
  return mask;
}

/* Reads the signals that a thread of the process blocks. */
static bool blocked_by(const char *thread, uint64_t *mask) {
  char path[300], line[256];
  bool found = false;
  snprintf(path, sizeof path, "/proc/self/task/%s/status", thread);
  FILE *file = fopen(path, "re");
  while (file && !found && fgets(line, sizeof line, file))
    found = sscanf(line, "SigBlk: %" SCNx64, mask) == 1;
  if (file)
    fclose(file);
  return found;
}

/* Checks all threads except this one. Returns their number. */
static int check_threads(void) {
  int threads = 0;
  DIR *folder = opendir("/proc/self/task");
  CHECK(folder);
  for (const struct dirent *entry; (entry = readdir(folder));) {
    uint64_t mask;
    const long id = strtol(entry->d_name, NULL, 10);
    if (id == 0 || id == (long)gettid() || !blocked_by(entry->d_name, &mask))
      continue;
    threads++;
    for (int number = 1; number < 65; number++)
      if ((wanted_mask() & bit(number)) && !(mask & bit(number))) {
        fprintf(stderr, "a thread does not block %s (mask %" PRIx64 ")\n", strsignal(number), mask);
        exit(1);
      }
  }
  closedir(folder);
  return threads;
}

static void handle(int number) {
  CHECK(pthread_equal(pthread_self(), main_thread));
  atomic_fetch_add(&handled, 1);
}

static void handle_fault(int number) {
  atomic_store(&handled_here, !pthread_equal(pthread_self(), main_thread));
}

static void note_callback(void) {
  sigset_t mask;
  CHECK(!pthread_equal(pthread_self(), main_thread));
  CHECK(pthread_sigmask(SIG_SETMASK, NULL, &mask) == 0);
  CHECK(sigismember(&mask, SIGUSR1) && sigismember(&mask, SIGALRM));
  for (int i = 0; i < FAULTS; i++)
    CHECK(!sigismember(&mask, faults[i]));
  atomic_fetch_add(&called, 1);
}

static void CL_CALLBACK event_done(cl_event event, cl_int status, void *data) {
  raise(SIGFPE); /* like a fault of the callback itself */
  note_callback();
}

static void CL_CALLBACK built(cl_program program, void *data) {
  note_callback();
}

int main(void) {
  struct opencl opencl;
  cl_int error;
  sigset_t user;
  main_thread = pthread_self();
  CHECK(signal(SIGUSR1, handle) != SIG_ERR && signal(SIGFPE, handle_fault) != SIG_ERR);
  opencl_open(&opencl);
  cl_kernel kernel = opencl_kernel(&opencl, source, "longer");
  cl_mem buffer = clCreateBuffer(opencl.context, CL_MEM_ALLOC_HOST_PTR, 64, NULL, &error);
  CHECK_CL(error, CL_SUCCESS);
  int *flag = clEnqueueMapBuffer(opencl.queue, buffer, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, 64,
                                 0, NULL, NULL, &error);
  CHECK_CL(error, CL_SUCCESS);
  *(volatile int *)flag = 0;
  CHECK_CL(clSetKernelArg(kernel, 0, sizeof buffer, &buffer), CL_SUCCESS);

  /* There is a thread for the callback, one for the command that waits for the host, and one for
   * the device. */
  cl_event user_event = clCreateUserEvent(opencl.context, &error), launched;
  const size_t one = 1;
  CHECK_CL(clEnqueueNDRangeKernel(opencl.queue, kernel, 1, NULL, &one, NULL, 0, NULL, &launched),
           CL_SUCCESS);
  CHECK_CL(clSetEventCallback(launched, CL_COMPLETE, event_done, NULL), CL_SUCCESS);
  CHECK_CL(clEnqueueMarkerWithWaitList(opencl.queue, 1, &user_event, NULL), CL_SUCCESS);
  CHECK_CL(clFlush(opencl.queue), CL_SUCCESS);
  const int threads = check_threads();
  printf("%d threads beside main\n", threads);
  CHECK(threads >= 2);

  /* Builds in a thread. Signals remain pending for the only thread that accepts them. */
  sigemptyset(&user);
  sigaddset(&user, SIGUSR1);
  CHECK(pthread_sigmask(SIG_BLOCK, &user, NULL) == 0);
  setenv("TEGRACL_CACHE", "0", 1);
  cl_program program = opencl_program(&opencl, other_source);
  CHECK_CL(clBuildProgram(program, 1, &opencl.device, "", built, NULL), CL_SUCCESS);
  CHECK(kill(getpid(), SIGUSR1) == 0);
  check_threads();
  *(volatile int *)flag = 1;
  CHECK_CL(clSetUserEventStatus(user_event, CL_COMPLETE), CL_SUCCESS);
  while (atomic_load(&called) < CALLBACKS)
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
  CHECK(atomic_load(&handled) == 0 && atomic_load(&handled_here));
  CHECK(pthread_sigmask(SIG_UNBLOCK, &user, NULL) == 0);
  CHECK(atomic_load(&handled) == 1);

  CHECK_CL(clFinish(opencl.queue), CL_SUCCESS);
  CHECK_CL(clEnqueueUnmapMemObject(opencl.queue, buffer, flag, 0, NULL, NULL), CL_SUCCESS);
  CHECK_CL(clReleaseEvent(launched), CL_SUCCESS);
  CHECK_CL(clReleaseEvent(user_event), CL_SUCCESS);
  CHECK_CL(clReleaseProgram(program), CL_SUCCESS);
  CHECK_CL(clReleaseMemObject(buffer), CL_SUCCESS);
  CHECK_CL(clReleaseKernel(kernel), CL_SUCCESS);
  opencl_close(&opencl);
  return 0;
}
