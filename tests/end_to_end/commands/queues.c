/* More queues than the GPU has channels, so that queues share channels. All results must be right.
 *
 *   queues many COUNT           COUNT queues of one context: each waits for the one before; all at
 *                               once; each waits for others at random
 *   queues contexts COUNT EACH  COUNT contexts with EACH queues
 *   queues held                 user events hold back some queues, and no others
 *   queues threads              threads fill the rings of channels that they share
 *   queues beside               queues and a context are created and released during a long kernel
 *
 * Every second queue is out of order.
 */
#include <pthread.h>
#include <stdbool.h>
#include <unistd.h>

#include "tests/end_to_end/commands/command_buffer.h"
#include "tests/end_to_end/opencl.h"

/* A step computes one more than the larger of two others. It can be made slow. */
static const char source[] =
    "kernel void step(global int *p, int to, int a, int b, int loops) {\n"
    "  int more = 0;\n"
    "  for (int i = 0; i < loops; i++) more += (int)(atomic_add(p, 0) < 0);\n"
    "  p[to] = max(p[a], p[b]) + 1 + more;\n"
    "}\n"
    "kernel void count(global int *p) { p[0]++; }\n"
    "kernel void hold(volatile global uint *gate, global int *p, int to) {\n"
    "  gate[1] = 1;\n"
    "  while (!gate[0]);\n"
    "  p[to] = 7;\n"
    "}\n";

enum { STEPS = 4096, LONG = 20000 };

static struct opencl opencl;
static cl_mem memory;
static cl_kernel step;

static cl_command_queue queue_of(cl_context context, unsigned number) {
  const cl_queue_properties out_of_order[] = {CL_QUEUE_PROPERTIES,
                                              CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, 0};
  cl_int error;
  cl_command_queue queue = clCreateCommandQueueWithProperties(
      context, opencl.device, number % 2 ? out_of_order : NULL, &error);
  if (error)
    fprintf(stderr, "queue %u\n", number);
  CHECK_CL(error, CL_SUCCESS);
  return queue;
}

static cl_command_queue *queues_of(cl_context context, unsigned count) {
  cl_command_queue *queues = calloc(count, sizeof(cl_command_queue));
  CHECK(queues);
  for (unsigned i = 0; i < count; i++)
    queues[i] = queue_of(context, i);
  return queues;
}

static void release_queues(cl_command_queue *queues, unsigned count) {
  for (unsigned i = 0; i < count; i++)
    CHECK_CL(clReleaseCommandQueue(queues[i]), CL_SUCCESS);
  free(queues);
}

/* Element 0 stays 0. */
static void enqueue_step(cl_command_queue queue, int to, int a, int b, int loops, cl_uint count,
                         const cl_event *waits, cl_event *event) {
  const size_t one = 1;
  CHECK_CL(clSetKernelArg(step, 0, sizeof memory, &memory), CL_SUCCESS);
  CHECK_CL(clSetKernelArg(step, 1, sizeof to, &to), CL_SUCCESS);
  CHECK_CL(clSetKernelArg(step, 2, sizeof a, &a), CL_SUCCESS);
  CHECK_CL(clSetKernelArg(step, 3, sizeof b, &b), CL_SUCCESS);
  CHECK_CL(clSetKernelArg(step, 4, sizeof loops, &loops), CL_SUCCESS);
  CHECK_CL(
      clEnqueueNDRangeKernel(queue, step, 1, NULL, &one, &one, count, count ? waits : NULL, event),
      CL_SUCCESS);
}

static void clear(void) {
  const int zero = 0;
  CHECK_CL(clEnqueueFillBuffer(opencl.queue, memory, &zero, sizeof zero, 0, STEPS * sizeof zero, 0,
                               NULL, NULL),
           CL_SUCCESS);
  CHECK_CL(clFinish(opencl.queue), CL_SUCCESS);
}

static int *results(void) {
  static int values[STEPS];
  CHECK_CL(
      clEnqueueReadBuffer(opencl.queue, memory, CL_TRUE, 0, sizeof values, values, 0, NULL, NULL),
      CL_SUCCESS);
  return values;
}

static void open_all(void) {
  cl_int error;
  opencl_open(&opencl);
  step = opencl_kernel(&opencl, source, "step");
  memory = clCreateBuffer(opencl.context, 0, STEPS * sizeof(cl_int), NULL, &error);
  CHECK_CL(error, CL_SUCCESS);
  clear();
}

static void close_all(void) {
  CHECK_CL(clReleaseMemObject(memory), CL_SUCCESS);
  CHECK_CL(clReleaseKernel(step), CL_SUCCESS);
  opencl_close(&opencl);
}

/* ---- one context -------------------------------------------------------------------- */

/* Each queue waits for the previous one, twice around. The first step takes a while, so that the
 * work of the others is in the rings by then. */
static void in_turn(cl_command_queue *queues, unsigned count) {
  cl_event last = NULL;
  const unsigned steps = 2 * count < STEPS ? 2 * count : STEPS - 1;
  clear();
  for (unsigned i = 0; i < steps; i++) {
    cl_event event;
    enqueue_step(queues[i % count], (int)i + 1, (int)i, 0, i ? 0 : LONG, last != NULL, &last,
                 &event);
    if (last)
      CHECK_CL(clReleaseEvent(last), CL_SUCCESS);
    last = event;
  }
  CHECK_CL(clWaitForEvents(1, &last), CL_SUCCESS);
  CHECK_CL(clReleaseEvent(last), CL_SUCCESS);
  const int *values = results();
  for (unsigned i = 0; i <= steps; i++)
    CHECK(values[i] == (int)i);
}

static void at_once(cl_command_queue *queues, unsigned count) {
  clear();
  for (unsigned i = 0; i < count; i++)
    enqueue_step(queues[i], (int)i + 1, 0, 0, 0, 0, NULL, NULL);
  for (unsigned i = 0; i < count; i++)
    CHECK_CL(clFinish(queues[i]), CL_SUCCESS);
  const int *values = results();
  for (unsigned i = 1; i <= count; i++)
    CHECK(values[i] == 1);
}

static unsigned random_below(unsigned limit) {
  static unsigned state = 1;
  state = state * 1103515245 + 12345;
  return (state >> 8) % limit;
}

/* Each step is in a random queue and waits for two earlier steps in any queue, so channels wait
 * for each other many times. */
static void at_random(cl_command_queue *queues, unsigned count) {
  enum { EVENTS = 1500 };
  static cl_event events[EVENTS + 1];
  static int expected[EVENTS + 1];
  clear();
  for (int i = 1; i <= EVENTS; i++) {
    const int a = (int)random_below((unsigned)i), b = (int)random_below((unsigned)i);
    const cl_event waits[] = {events[a ? a : b], events[b ? b : a]};
    enqueue_step(queues[random_below(count)], i, a, b, i % 100 ? 0 : LONG, a || b ? 2 : 0, waits,
                 &events[i]);
    expected[i] = (expected[a] > expected[b] ? expected[a] : expected[b]) + 1;
  }
  CHECK_CL(clWaitForEvents(EVENTS, &events[1]), CL_SUCCESS);
  const int *values = results();
  for (int i = 1; i <= EVENTS; i++) {
    CHECK(values[i] == expected[i]);
    CHECK_CL(clReleaseEvent(events[i]), CL_SUCCESS);
  }
}

/* Replays one command buffer on one queue after another. */
static void recorded(cl_command_queue *queues, unsigned count) {
  struct command_buffer_functions f;
  const size_t one = 1;
  cl_int error;
  find_functions(&opencl, &f);
  cl_kernel kernel = opencl_kernel(&opencl, source, "count");
  CHECK_CL(clSetKernelArg(kernel, 0, sizeof memory, &memory), CL_SUCCESS);
  clear();
  const cl_command_buffer_properties_khr properties[] = {CL_COMMAND_BUFFER_FLAGS_KHR,
                                                         CL_COMMAND_BUFFER_SIMULTANEOUS_USE_KHR, 0};
  cl_command_buffer_khr buffer = f.clCreateCommandBufferKHR(1, &queues[0], properties, &error);
  CHECK_CL(error, CL_SUCCESS);
  CHECK_CL(f.clCommandNDRangeKernelKHR(buffer, NULL, NULL, kernel, 1, NULL, &one, &one, 0, NULL,
                                       NULL, NULL),
           CL_SUCCESS);
  CHECK_CL(f.clFinalizeCommandBufferKHR(buffer), CL_SUCCESS);
  for (unsigned i = 0; i < count; i += 2) /* the in-order queues, like the first */
    CHECK_CL(f.clEnqueueCommandBufferKHR(1, &queues[i], buffer, 0, NULL, NULL), CL_SUCCESS);
  for (unsigned i = 0; i < count; i += 2)
    CHECK_CL(clFinish(queues[i]), CL_SUCCESS);
  CHECK(results()[0] == (int)(count + 1) / 2);
  CHECK_CL(f.clReleaseCommandBufferKHR(buffer), CL_SUCCESS);
  CHECK_CL(clReleaseKernel(kernel), CL_SUCCESS);
}

static void many(unsigned count) {
  CHECK(count >= 2 && count < STEPS);
  open_all();
  cl_command_queue *queues = queues_of(opencl.context, count);
  at_once(queues, count);
  in_turn(queues, count);
  at_random(queues, count);
  recorded(queues, count);
  release_queues(queues, count);
  close_all();
}

/* ---- contexts ------------------------------------------------------------------------ */

/* All of these exist at the same time. Without sharing, the 512 channels of the GPU would not be
 * enough. */
static void contexts(unsigned count, unsigned each) {
  struct {
    cl_context context;
    cl_kernel kernel;
    cl_mem memory;
    cl_command_queue *queues;
  } *all = calloc(count, sizeof(*all));
  cl_int error;
  size_t size;
  CHECK(all);
  opencl_open(&opencl);
  unsigned char *binary = opencl_binary(&opencl, source, &size);
  for (unsigned i = 0; i < count; i++) {
    const unsigned char *bytes = binary;
    all[i].context = clCreateContext(NULL, 1, &opencl.device, NULL, NULL, &error);
    CHECK_CL(error, CL_SUCCESS);
    cl_program program =
        clCreateProgramWithBinary(all[i].context, 1, &opencl.device, &size, &bytes, NULL, &error);
    CHECK_CL(error, CL_SUCCESS);
    CHECK_CL(clBuildProgram(program, 1, &opencl.device, "", NULL, NULL), CL_SUCCESS);
    all[i].kernel = clCreateKernel(program, "step", &error);
    CHECK_CL(error, CL_SUCCESS);
    CHECK_CL(clReleaseProgram(program), CL_SUCCESS);
    all[i].memory =
        clCreateBuffer(all[i].context, CL_MEM_ALLOC_HOST_PTR, STEPS * sizeof(int), NULL, &error);
    CHECK_CL(error, CL_SUCCESS);
    all[i].queues = queues_of(all[i].context, each);
  }
  for (unsigned k = 0; k < each; k++)
    for (unsigned i = 0; i < count; i++) {
      step = all[i].kernel;
      memory = all[i].memory;
      enqueue_step(all[i].queues[k], (int)k + 1, 0, 0, 0, 0, NULL, NULL);
    }
  for (unsigned i = 0; i < count; i++) {
    static int values[STEPS];
    for (unsigned k = 0; k < each; k++)
      CHECK_CL(clFinish(all[i].queues[k]), CL_SUCCESS);
    CHECK_CL(clEnqueueReadBuffer(all[i].queues[0], all[i].memory, CL_TRUE, 0, sizeof values, values,
                                 0, NULL, NULL),
             CL_SUCCESS);
    for (unsigned k = 1; k <= each; k++)
      CHECK(values[k] == 1);
    release_queues(all[i].queues, each);
    CHECK_CL(clReleaseMemObject(all[i].memory), CL_SUCCESS);
    CHECK_CL(clReleaseKernel(all[i].kernel), CL_SUCCESS);
    CHECK_CL(clReleaseContext(all[i].context), CL_SUCCESS);
  }
  free(binary);
  free(all);
  opencl_close(&opencl);
}

/* ---- user events ----------------------------------------------------------------------- */

/* Half of the queues wait for a user event. The other half, on the same channels, only wait with
 * their last step. */
static void held(void) {
  enum { QUEUES = 64 };
  cl_event waiting[QUEUES], behind[QUEUES];
  cl_int error;
  open_all();
  cl_command_queue *queues = queues_of(opencl.context, QUEUES);
  cl_event user = clCreateUserEvent(opencl.context, &error);
  CHECK_CL(error, CL_SUCCESS);
  /* Of each four queues two wait and two do not, so each channel has both kinds. */
  for (int i = 0; i < QUEUES; i++)
    if (i / 8 % 2 == 0)
      enqueue_step(queues[i], i + 1, 0, 0, 0, 1, &user, &waiting[i]);
  for (int i = 0; i < QUEUES; i++)
    if (i / 8 % 2) {
      enqueue_step(queues[i], i + 1, 0, 0, 0, 0, NULL, NULL);
      CHECK_CL(clFinish(queues[i]), CL_SUCCESS);
      enqueue_step(queues[i], QUEUES + i + 1, i + 1, i - 7, 0, 1, &waiting[i - 8], &behind[i]);
    }
  for (int i = 0; i < QUEUES; i++) {
    cl_int status;
    cl_event event = i / 8 % 2 ? behind[i] : waiting[i];
    CHECK_CL(clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL),
             CL_SUCCESS);
    CHECK(status > CL_COMPLETE);
  }
  CHECK_CL(clSetUserEventStatus(user, CL_COMPLETE), CL_SUCCESS);
  for (int i = 0; i < QUEUES; i++)
    CHECK_CL(clFinish(queues[i]), CL_SUCCESS);
  const int *values = results();
  for (int i = 0; i < QUEUES; i++) {
    CHECK(values[i + 1] == 1);
    CHECK(!(i / 8 % 2) || values[QUEUES + i + 1] == 2);
    CHECK_CL(clReleaseEvent(i / 8 % 2 ? behind[i] : waiting[i]), CL_SUCCESS);
  }
  CHECK_CL(clReleaseEvent(user), CL_SUCCESS);
  release_queues(queues, QUEUES);
  close_all();
}

/* ---- threads ----------------------------------------------------------------------------- */

enum { THREADS = 24, LAUNCHES = 700 };

struct launcher {
  pthread_t thread;
  cl_kernel kernel;
  cl_command_queue queue;
};

static void *launch(void *data) {
  const struct launcher *l = data;
  const size_t one = 1;
  for (int i = 0; i < LAUNCHES; i++) {
    CHECK_CL(clEnqueueNDRangeKernel(l->queue, l->kernel, 1, NULL, &one, &one, 0, NULL, NULL),
             CL_SUCCESS);
    if (i % 50 == 0)
      CHECK_CL(clFinish(l->queue), CL_SUCCESS);
  }
  CHECK_CL(clFinish(l->queue), CL_SUCCESS);
  return NULL;
}

/* More launches than a ring has entries. Each thread counts in its own buffer, which requires no
 * atomics in an in-order queue. */
static void threads(void) {
  struct launcher launchers[THREADS];
  cl_mem counters[THREADS];
  open_all();
  for (int i = 0; i < THREADS; i++) {
    const int zero = 0;
    cl_int error;
    counters[i] =
        clCreateBuffer(opencl.context, CL_MEM_COPY_HOST_PTR, sizeof zero, (void *)&zero, &error);
    CHECK_CL(error, CL_SUCCESS);
    launchers[i].kernel =
        i ? clCloneKernel(launchers[0].kernel, &error) : opencl_kernel(&opencl, source, "count");
    CHECK_CL(clSetKernelArg(launchers[i].kernel, 0, sizeof counters[i], &counters[i]), CL_SUCCESS);
    launchers[i].queue = queue_of(opencl.context, 0);
  }
  for (int i = 0; i < THREADS; i++)
    CHECK(!pthread_create(&launchers[i].thread, NULL, launch, &launchers[i]));
  for (int i = 0; i < THREADS; i++) {
    int counted;
    CHECK(!pthread_join(launchers[i].thread, NULL));
    CHECK_CL(clEnqueueReadBuffer(opencl.queue, counters[i], CL_TRUE, 0, sizeof counted, &counted, 0,
                                 NULL, NULL),
             CL_SUCCESS);
    CHECK(counted == LAUNCHES);
    CHECK_CL(clReleaseMemObject(counters[i]), CL_SUCCESS);
    CHECK_CL(clReleaseKernel(launchers[i].kernel), CL_SUCCESS);
    CHECK_CL(clReleaseCommandQueue(launchers[i].queue), CL_SUCCESS);
  }
  close_all();
}

/* ---- a long kernel --------------------------------------------------------------------------- */

static void launch_one(cl_command_queue queue, cl_kernel kernel) {
  const size_t one = 1;
  CHECK_CL(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &one, &one, 0, NULL, NULL), CL_SUCCESS);
}

/* Launches a kernel on opencl.queue that runs until gate[0] is set. Returns gate. */
static volatile cl_uint *begin_long_kernel(cl_kernel hold, int to) {
  volatile cl_uint *gate = clSVMAlloc(
      opencl.context, CL_MEM_READ_WRITE | CL_MEM_SVM_FINE_GRAIN_BUFFER, 2 * sizeof *gate, 0);
  CHECK(gate);
  gate[0] = gate[1] = 0;
  CHECK_CL(clSetKernelArgSVMPointer(hold, 0, (const void *)gate), CL_SUCCESS);
  CHECK_CL(clSetKernelArg(hold, 1, sizeof memory, &memory), CL_SUCCESS);
  CHECK_CL(clSetKernelArg(hold, 2, sizeof to, &to), CL_SUCCESS);
  launch_one(opencl.queue, hold);
  CHECK_CL(clFlush(opencl.queue), CL_SUCCESS);
  while (!gate[1])
    usleep(1000);
  return gate;
}

static void use_another_context(void) {
  cl_int error;
  cl_context context = clCreateContext(NULL, 1, &opencl.device, NULL, NULL, &error);
  CHECK_CL(error, CL_SUCCESS);
  cl_command_queue *queues = queues_of(context, 2);
  for (int i = 0; i < 2; i++) {
    CHECK_CL(clEnqueueMarkerWithWaitList(queues[i], 0, NULL, NULL), CL_SUCCESS);
    CHECK_CL(clFinish(queues[i]), CL_SUCCESS);
  }
  release_queues(queues, 2);
  CHECK_CL(clReleaseContext(context), CL_SUCCESS);
}

/* Creates queues during a long kernel. With TEGRACL_EMULATOR=preempt:100 a request that preempts
 * fails here, and closing a channel ends the long kernel. */
static void beside(void) {
  enum { QUEUES = 10, ROUNDS = 3, LONG_KERNEL = STEPS - 1 };
  open_all();
  cl_kernel hold = opencl_kernel(&opencl, source, "hold");
  volatile cl_uint *gate = begin_long_kernel(hold, LONG_KERNEL);
  for (int round = 0; round < ROUNDS; round++) {
    cl_command_queue *queues = queues_of(opencl.context, QUEUES);
    for (int i = 0; i < QUEUES; i++)
      enqueue_step(queues[i], 1 + round * QUEUES + i, 0, 0, 0, 0, NULL, NULL);
    for (int i = 0; i < QUEUES; i++)
      CHECK_CL(clFinish(queues[i]), CL_SUCCESS);
    release_queues(queues, QUEUES);
  }
  use_another_context();
  gate[0] = 1;
  CHECK_CL(clFinish(opencl.queue), CL_SUCCESS);
  const int *values = results();
  for (int i = 1; i <= ROUNDS * QUEUES; i++)
    CHECK(values[i] == 1);
  CHECK(values[LONG_KERNEL] == 7);
  clSVMFree(opencl.context, (void *)gate);
  CHECK_CL(clReleaseKernel(hold), CL_SUCCESS);
  close_all();
}

int main(int argc, char **argv) {
  if (argc == 3 && !strcmp(argv[1], "many"))
    many((unsigned)atoi(argv[2]));
  else if (argc == 4 && !strcmp(argv[1], "contexts"))
    contexts((unsigned)atoi(argv[2]), (unsigned)atoi(argv[3]));
  else if (argc == 2 && !strcmp(argv[1], "held"))
    held();
  else if (argc == 2 && !strcmp(argv[1], "threads"))
    threads();
  else if (argc == 2 && !strcmp(argv[1], "beside"))
    beside();
  else
    return 2;
  return 0;
}
