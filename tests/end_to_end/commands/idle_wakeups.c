/* Threads that wait for the GPU must sleep. While a long kernel runs, with callbacks on its event
 * and on others, and with callbacks and a command that wait for a user event, the threads of the
 * process almost never wake up.
 */
#include <dirent.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include "tests/end_to_end/opencl.h"

enum { LOOKED_MS = 500, WAKES_PER_S_MAX = 200, CALLBACKS = 4 };

static const char source[] = "kernel void longer(global volatile int *flag) { while (!*flag) ; }\n"
                             "kernel void one(global int *p) { p[1] = 1; }\n";

static void sleep_ms(long ms) {
  nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
}

static double now_s(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Returns how often threads of this process have gone to sleep. */
static long sleeps(void) {
  long sum = 0;
  DIR *folder = opendir("/proc/self/task");
  CHECK(folder);
  for (const struct dirent *entry; (entry = readdir(folder));) {
    char path[300], line[256];
    snprintf(path, sizeof path, "/proc/self/task/%s/status", entry->d_name);
    FILE *file = fopen(path, "re");
    long count;
    while (file && fgets(line, sizeof line, file))
      if (sscanf(line, "voluntary_ctxt_switches: %ld", &count) == 1)
        sum += count;
    if (file)
      fclose(file);
  }
  closedir(folder);
  return sum;
}

static void CL_CALLBACK called(cl_event event, cl_int status, void *counter) {
  CHECK(status == CL_COMPLETE);
  atomic_fetch_add((atomic_int *)counter, 1);
}

static cl_event launch(cl_command_queue queue, cl_kernel kernel, cl_event gate) {
  const size_t one = 1;
  cl_event event;
  CHECK_CL(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &one, NULL, gate != NULL,
                                  gate ? &gate : NULL, &event),
           CL_SUCCESS);
  return event;
}

int main(void) {
  struct opencl opencl;
  cl_int error;
  atomic_int count = 0;
  opencl_open(&opencl);
  cl_command_queue other =
      clCreateCommandQueueWithProperties(opencl.context, opencl.device, NULL, &error);
  CHECK_CL(error, CL_SUCCESS);
  cl_kernel longer = opencl_kernel(&opencl, source, "longer"),
            one = opencl_kernel(&opencl, source, "one");
  cl_mem buffer = clCreateBuffer(opencl.context, CL_MEM_ALLOC_HOST_PTR, 64, NULL, &error);
  CHECK_CL(error, CL_SUCCESS);
  int *flag = clEnqueueMapBuffer(opencl.queue, buffer, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, 64,
                                 0, NULL, NULL, &error);
  CHECK_CL(error, CL_SUCCESS);
  flag[0] = flag[1] = 0;
  CHECK_CL(clSetKernelArg(longer, 0, sizeof buffer, &buffer), CL_SUCCESS);
  CHECK_CL(clSetKernelArg(one, 0, sizeof buffer, &buffer), CL_SUCCESS);
  cl_event user = clCreateUserEvent(opencl.context, &error);
  CHECK_CL(error, CL_SUCCESS);

  /* Enqueues a second kernel and a command that waits for a user event. */
  cl_event events[CALLBACKS] = {launch(opencl.queue, longer, NULL), launch(opencl.queue, one, NULL),
                                launch(other, one, user), user};
  for (int i = 0; i < CALLBACKS; i++)
    CHECK_CL(clSetEventCallback(events[i], CL_COMPLETE, called, &count), CL_SUCCESS);
  sleep_ms(100); /* threads spin before they sleep */
  const double begin = now_s();
  const long before = sleeps();
  sleep_ms(LOOKED_MS);
  const long wakes = sleeps() - before;
  const double seconds = now_s() - begin;
  CHECK(atomic_load(&count) == 0);
  printf("%ld wakes in %.3f s\n", wakes, seconds);
  CHECK((double)wakes < seconds * WAKES_PER_S_MAX);

  *(volatile int *)flag = 1;
  CHECK_CL(clSetUserEventStatus(user, CL_COMPLETE), CL_SUCCESS);
  CHECK_CL(clFinish(other), CL_SUCCESS);
  CHECK_CL(clFinish(opencl.queue), CL_SUCCESS);
  while (atomic_load(&count) < CALLBACKS)
    sleep_ms(1);
  CHECK(atomic_load(&count) == CALLBACKS && flag[1] == 1);
  for (int i = 0; i < CALLBACKS; i++)
    CHECK_CL(clReleaseEvent(events[i]), CL_SUCCESS);
  CHECK_CL(clEnqueueUnmapMemObject(opencl.queue, buffer, flag, 0, NULL, NULL), CL_SUCCESS);
  CHECK_CL(clReleaseMemObject(buffer), CL_SUCCESS);
  CHECK_CL(clReleaseKernel(longer), CL_SUCCESS);
  CHECK_CL(clReleaseKernel(one), CL_SUCCESS);
  CHECK_CL(clReleaseCommandQueue(other), CL_SUCCESS);
  opencl_close(&opencl);
  return 0;
}
