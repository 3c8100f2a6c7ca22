/* Many threads, and several processes, on the device at once: queues that wait for each
 * other, reads, writes, maps, user events, callbacks, builds from binaries, shared virtual
 * memory; all results are checked.
 *   threads own|shared|processes ROUNDS
 * own: each thread has a context; shared: all have queues of one; processes: both, in
 * two processes.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/end_to_end/opencl.h"

enum { THREADS = 16, ITEMS = 512, PROCESSES = 2 };

static const char source[] =
    "kernel void add(global int *p, int n) { p[get_global_id(0)] += n; }\n"
    "kernel void scale(global int *p, int n) { p[get_global_id(0)] *= n; }\n";

static unsigned char *binary;
static size_t binary_size;
static unsigned rounds;

struct worker {
  pthread_t thread;
  struct opencl *shared; /* or NULL */
  unsigned number;
};

static void CL_CALLBACK count(cl_event event, cl_int status, void *counter) {
  atomic_fetch_add((atomic_int *)counter, 1);
}

static cl_kernel kernel_of(cl_program program, const char *name, cl_mem buffer, int n) {
  cl_int error;
  cl_kernel kernel = clCreateKernel(program, name, &error);
  CHECK_CL(error, CL_SUCCESS);
  CHECK_CL(clSetKernelArg(kernel, 0, sizeof buffer, &buffer), CL_SUCCESS);
  CHECK_CL(clSetKernelArg(kernel, 1, sizeof n, &n), CL_SUCCESS);
  return kernel;
}

static void launch(cl_command_queue queue, cl_kernel kernel, cl_event wait, cl_event *event) {
  const size_t items = ITEMS;
  CHECK_CL(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &items, NULL, wait != NULL,
                                  wait ? &wait : NULL, event),
           CL_SUCCESS);
}

/* Computes (start + 3) * 5 in two queues. The host adds 1, and a launch that waits for it adds
 * 3. */
static void round_of_work(const struct opencl *opencl, cl_command_queue queues[2], int start) {
  enum { WRITTEN, ADDED, SCALED, AGAIN, EVENTS };
  int values[ITEMS];
  cl_event events[EVENTS];
  atomic_int called = 0;
  cl_int error;
  for (int i = 0; i < ITEMS; i++)
    values[i] = start + i;
  cl_mem buffer = clCreateBuffer(opencl->context, CL_MEM_READ_WRITE, sizeof values, NULL, &error);
  CHECK_CL(error, CL_SUCCESS);
  cl_program program = clCreateProgramWithBinary(opencl->context, 1, &opencl->device, &binary_size,
                                                 (const unsigned char *[]){binary}, NULL, &error);
  CHECK_CL(error, CL_SUCCESS);
  CHECK_CL(clBuildProgram(program, 1, &opencl->device, "", NULL, NULL), CL_SUCCESS);
  cl_kernel add = kernel_of(program, "add", buffer, 3),
            scale = kernel_of(program, "scale", buffer, 5);
  cl_event gate = clCreateUserEvent(opencl->context, &error);
  CHECK_CL(error, CL_SUCCESS);

  CHECK_CL(clEnqueueWriteBuffer(queues[0], buffer, CL_FALSE, 0, sizeof values, values, 0, NULL,
                                &events[WRITTEN]),
           CL_SUCCESS);
  launch(queues[1], add, events[WRITTEN], &events[ADDED]);
  launch(queues[0], scale, events[ADDED], &events[SCALED]);
  CHECK_CL(clSetEventCallback(events[SCALED], CL_COMPLETE, count, &called), CL_SUCCESS);
  int *mapped = clEnqueueMapBuffer(queues[1], buffer, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0,
                                   sizeof values, 1, &events[SCALED], NULL, &error);
  CHECK_CL(error, CL_SUCCESS);
  for (int i = 0; i < ITEMS; i++) {
    CHECK(mapped[i] == (start + i + 3) * 5);
    mapped[i]++;
  }
  CHECK_CL(clEnqueueUnmapMemObject(queues[1], buffer, mapped, 0, NULL, NULL), CL_SUCCESS);
  launch(queues[1], add, gate, &events[AGAIN]);
  CHECK_CL(clSetEventCallback(events[AGAIN], CL_COMPLETE, count, &called), CL_SUCCESS);
  CHECK_CL(clSetUserEventStatus(gate, CL_COMPLETE), CL_SUCCESS);
  CHECK_CL(clEnqueueReadBuffer(queues[0], buffer, CL_TRUE, 0, sizeof values, values, 1,
                               &events[AGAIN], NULL),
           CL_SUCCESS);
  for (int i = 0; i < ITEMS; i++)
    CHECK(values[i] == (start + i + 3) * 5 + 4);
  while (atomic_load(&called) < 2)
    nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
  for (int i = 0; i < EVENTS; i++)
    CHECK_CL(clReleaseEvent(events[i]), CL_SUCCESS);
  CHECK_CL(clReleaseEvent(gate), CL_SUCCESS);
  CHECK_CL(clReleaseKernel(add), CL_SUCCESS);
  CHECK_CL(clReleaseKernel(scale), CL_SUCCESS);
  CHECK_CL(clReleaseProgram(program), CL_SUCCESS);
  CHECK_CL(clReleaseMemObject(buffer), CL_SUCCESS);
}

/* A buffer keeps its address while other threads allocate and release memory. */
static void rounds_of_memory(const struct opencl *opencl) {
  enum { BLOCKS = 20, PER_ROUND = 4 };
  cl_device_svm_capabilities can;
  CHECK_CL(clGetDeviceInfo(opencl->device, CL_DEVICE_SVM_CAPABILITIES, sizeof can, &can, NULL),
           CL_SUCCESS);
  for (unsigned i = 0; can && i < rounds * PER_ROUND; i++) {
    void *blocks[BLOCKS];
    for (int k = 0; k < BLOCKS; k++) {
      blocks[k] = clSVMAlloc(opencl->context, CL_MEM_READ_WRITE, ITEMS, 0);
      CHECK(blocks[k]);
      memset(blocks[k], k, ITEMS);
    }
    for (int k = 0; k < BLOCKS; k++)
      clSVMFree(opencl->context, blocks[k]);
  }
}

/* Buffers of many sizes share memory, and keep what their thread has written. */
static void rounds_of_buffers(const struct opencl *opencl, cl_command_queue queue,
                              unsigned number) {
  enum { BUFFERS = 20, PER_ROUND = 4, STEP = 1000 };
  for (unsigned i = 0; i < rounds * PER_ROUND; i++) {
    cl_mem buffers[BUFFERS];
    for (unsigned k = 0; k < BUFFERS; k++) {
      const unsigned value = number << 16 | i << 8 | k;
      cl_int error;
      buffers[k] =
          clCreateBuffer(opencl->context, 0, sizeof value + (size_t)k * k * STEP, NULL, &error);
      CHECK_CL(error, CL_SUCCESS);
      CHECK_CL(clEnqueueWriteBuffer(queue, buffers[k], CL_TRUE, (size_t)k * k * STEP, sizeof value,
                                    &value, 0, NULL, NULL),
               CL_SUCCESS);
    }
    for (unsigned k = 0; k < BUFFERS; k++) {
      unsigned value = 0;
      CHECK_CL(clEnqueueReadBuffer(queue, buffers[k], CL_TRUE, (size_t)k * k * STEP, sizeof value,
                                   &value, 0, NULL, NULL),
               CL_SUCCESS);
      CHECK(value == (number << 16 | i << 8 | k));
      CHECK_CL(clReleaseMemObject(buffers[k]), CL_SUCCESS);
    }
  }
}

static void *work(void *argument) {
  const struct worker *worker = argument;
  struct opencl own, *opencl = worker->shared ? worker->shared : &own;
  cl_command_queue queues[2];
  cl_int error;
  if (opencl == &own)
    opencl_open(&own);
  for (int i = 0; i < 2; i++) {
    queues[i] = clCreateCommandQueueWithProperties(opencl->context, opencl->device, NULL, &error);
    CHECK_CL(error, CL_SUCCESS);
  }
  for (unsigned i = 0; i < rounds; i++)
    round_of_work(opencl, queues, (int)(worker->number * rounds + i));
  if (worker->shared)
    rounds_of_buffers(opencl, queues[0], worker->number);
  if (worker->shared) /* there may not be enough address ranges for so many contexts */
    rounds_of_memory(opencl);
  for (int i = 0; i < 2; i++)
    CHECK_CL(clReleaseCommandQueue(queues[i]), CL_SUCCESS);
  if (opencl == &own)
    opencl_close(&own);
  return NULL;
}

static void together(struct opencl *shared) {
  struct worker workers[THREADS];
  for (unsigned i = 0; i < THREADS; i++) {
    workers[i] = (struct worker){.shared = shared, .number = i};
    CHECK(pthread_create(&workers[i].thread, NULL, work, &workers[i]) == 0);
  }
  for (unsigned i = 0; i < THREADS; i++)
    CHECK(pthread_join(workers[i].thread, NULL) == 0);
}

static void run(bool own, bool shared) {
  struct opencl opencl;
  opencl_open(&opencl);
  binary = opencl_binary(&opencl, source, &binary_size);
  if (own)
    together(NULL);
  if (shared)
    together(&opencl);
  opencl_close(&opencl);
  free(binary);
}

static void processes(void) {
  pid_t children[PROCESSES];
  for (int i = 0; i < PROCESSES; i++) {
    children[i] = fork();
    CHECK(children[i] >= 0);
    if (children[i] == 0) {
      run(true, true);
      exit(0);
    }
  }
  for (int i = 0; i < PROCESSES; i++) {
    int status;
    CHECK(waitpid(children[i], &status, 0) == children[i] && status == 0);
  }
}

int main(int argc, char **argv) {
  CHECK(argc == 3);
  rounds = (unsigned)strtoul(argv[2], NULL, 10);
  if (strcmp(argv[1], "processes") == 0)
    processes();
  else
    run(strcmp(argv[1], "own") == 0, strcmp(argv[1], "shared") == 0);
  return 0;
}
