/* Forks at random times while the threads of a program use the GPU, wait, build and get callbacks.
 * Their results must be right. Each child opens the device itself, executes another program, which
 * must not inherit anything of the device, or just exits.
 *
 *   fork_at_random COUNT
 */
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <time.h>

#include "tests/end_to_end/processes/children.h"

enum { THREADS = 3, ITEMS = 256, ROUNDS_MIN = 3, HANG_S = 1000, MOMENT_MAX_NS = 3000000 };

static const char source[] = "kernel void add(global int *p, int n) {"
                             "  for (int i = 0; i < n; i++) p[get_global_id(0)] += i % 2; }";

static struct opencl shared;
static atomic_bool over;

static void CL_CALLBACK count(cl_event event, cl_int status, void *counter) {
  atomic_fetch_add((atomic_int *)counter, 1);
}

/* A queue, a program and a buffer, with the expected results. seed makes the sources differ. */
static void round_of_work(const struct opencl *opencl, unsigned seed) {
  enum { LAUNCHES = 8, N = 1000 };
  char text[512];
  int values[ITEMS] = {0};
  const int n = N;
  const size_t items = ITEMS;
  cl_int error;
  atomic_int called = 0;
  snprintf(text, sizeof text, "%s // %u", source, seed);
  cl_kernel kernel = opencl_kernel(opencl, text, "add");
  cl_command_queue queue =
      clCreateCommandQueueWithProperties(opencl->context, opencl->device, NULL, &error);
  CHECK_CL(error, CL_SUCCESS);
  cl_mem buffer =
      clCreateBuffer(opencl->context, CL_MEM_COPY_HOST_PTR, sizeof values, values, &error);
  CHECK_CL(error, CL_SUCCESS);
  CHECK_CL(clSetKernelArg(kernel, 0, sizeof buffer, &buffer), CL_SUCCESS);
  CHECK_CL(clSetKernelArg(kernel, 1, sizeof n, &n), CL_SUCCESS);
  for (int i = 0; i < LAUNCHES; i++) {
    cl_event event;
    CHECK_CL(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &items, NULL, 0, NULL, &event),
             CL_SUCCESS);
    CHECK_CL(clSetEventCallback(event, CL_COMPLETE, count, &called), CL_SUCCESS);
    CHECK_CL(clReleaseEvent(event), CL_SUCCESS);
  }
  CHECK_CL(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, sizeof values, values, 0, NULL, NULL),
           CL_SUCCESS);
  for (int i = 0; i < ITEMS; i++)
    CHECK(values[i] == LAUNCHES * N / 2);
  while (atomic_load(&called) < LAUNCHES)
    nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
  CHECK_CL(clReleaseMemObject(buffer), CL_SUCCESS);
  CHECK_CL(clReleaseCommandQueue(queue), CL_SUCCESS);
  CHECK_CL(clReleaseKernel(kernel), CL_SUCCESS);
}

/* The first thread has its own contexts; the others share one. */
static void *work(void *argument) {
  const unsigned thread = *(const unsigned *)argument;
  for (unsigned i = 0; i < ROUNDS_MIN || !atomic_load(&over); i++) {
    struct opencl own;
    if (thread == 0)
      opencl_open(&own);
    round_of_work(thread ? &shared : &own, i % 4 ? 0 : thread * 1000000 + i);
    if (thread == 0)
      opencl_close(&own);
  }
  return NULL;
}

static void child(unsigned number, const char *self) {
  enum { WAYS = 4 };
  int value;
  alarm(HANG_S);
  CHECK_CL(clReleaseContext(shared.context), CL_INVALID_CONTEXT);
  CHECK(!clCreateBuffer(shared.context, 0, sizeof value, NULL, &value));
  CHECK_CL(value, CL_INVALID_CONTEXT);
  switch (number % WAYS) {
  case 0:
    execl(self, self, "--empty", NULL);
    _exit(1);
  case 1:
    _exit(0);
  default: {
    struct opencl own;
    opencl_open(&own);
    round_of_work(&own, number % WAYS == 2 ? 0 : number);
    opencl_close(&own);
    end_by_exit();
  }
  }
}

int main(int argc, char **argv) {
  CHECK(argc == 2);
  if (strcmp(argv[1], "--empty") == 0) {
    no_memfds();
    return 0;
  }
  pthread_t threads[THREADS];
  unsigned numbers[THREADS];
  alarm(HANG_S);
  opencl_open(&shared);
  const unsigned seed = (unsigned)time(NULL);
  printf("seed %u\n", seed);
  srandom(seed);
  for (unsigned i = 0; i < THREADS; i++) {
    numbers[i] = i;
    CHECK(pthread_create(&threads[i], NULL, work, &numbers[i]) == 0);
  }
  const unsigned forks = (unsigned)strtoul(argv[1], NULL, 10);
  for (unsigned i = 0; i < forks; i++) {
    int status;
    nanosleep(&(struct timespec){.tv_nsec = random() % MOMENT_MAX_NS}, NULL);
    fflush(stdout);
    const pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0)
      child(i, argv[0]);
    CHECK(waitpid(pid, &status, 0) == pid);
    if (status) {
      fprintf(stderr, "child %u ends with status 0x%x\n", i, status);
      return 1;
    }
  }
  atomic_store(&over, true);
  for (unsigned i = 0; i < THREADS; i++)
    CHECK(pthread_join(threads[i], NULL) == 0);
  opencl_close(&shared);
  return 0;
}
