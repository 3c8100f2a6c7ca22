/* Commands must keep their order although the device delays and overlaps them: queues that wait for
 * each other, rings that wrap, diamonds of events in an out-of-order queue, commands of the host
 * between launches, private memory that grows and programs that are built while kernels run.
 * tests/adversarial runs this program.
 */
#include "tests/end_to_end/opencl.h"

enum { ITEMS = 1024, GROUP = 64, BYTES = ITEMS * sizeof(cl_uint) };

/* The result depends on the order of any two of these steps. */
static const char source[] =
    "kernel void step(global uint *x, uint n) {\n"
    "  const size_t i = get_global_id(0);\n"
    "  x[i] = x[i] * 3 + n + (uint)i;\n"
    "}\n"
    "kernel void join(global uint *x, global const uint *a, global const uint *b) {\n"
    "  const size_t i = get_global_id(0);\n"
    "  x[i] = a[i] * 5 + b[i];\n"
    "}\n";

struct order {
  struct opencl opencl;
  cl_command_queue queues[2], disorder;
  cl_kernel step, join;
  cl_mem buffers[3];
  cl_uint expected[3][ITEMS], got[ITEMS];
};

static cl_command_queue queue_with(const struct opencl *opencl, cl_command_queue_properties bits) {
  cl_int error;
  const cl_queue_properties properties[] = {CL_QUEUE_PROPERTIES, bits, 0};
  cl_command_queue queue =
      clCreateCommandQueueWithProperties(opencl->context, opencl->device, properties, &error);
  CHECK_CL(error, CL_SUCCESS);
  return queue;
}

static void start(struct order *o) {
  cl_int error;
  const cl_uint zero = 0;
  opencl_open(&o->opencl);
  o->queues[0] = o->opencl.queue;
  o->queues[1] = queue_with(&o->opencl, 0);
  o->disorder = queue_with(&o->opencl, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  o->step = opencl_kernel(&o->opencl, source, "step");
  o->join = opencl_kernel(&o->opencl, source, "join");
  for (unsigned i = 0; i < 3; i++) {
    o->buffers[i] = clCreateBuffer(o->opencl.context, CL_MEM_READ_WRITE, BYTES, NULL, &error);
    CHECK_CL(error, CL_SUCCESS);
    CHECK_CL(clEnqueueFillBuffer(o->opencl.queue, o->buffers[i], &zero, sizeof zero, 0, BYTES, 0,
                                 NULL, NULL),
             CL_SUCCESS);
  }
  CHECK_CL(clFinish(o->opencl.queue), CL_SUCCESS);
}

static cl_event launch(cl_command_queue queue, cl_kernel kernel, cl_uint waits,
                       const cl_event *wait) {
  const size_t global = ITEMS, local = GROUP;
  cl_event event;
  CHECK_CL(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, &local, waits,
                                  waits ? wait : NULL, &event),
           CL_SUCCESS);
  return event;
}

/* Enqueues a step on a buffer after an event, which is released, or without one. */
static cl_event step(struct order *o, cl_command_queue queue, unsigned buffer, cl_uint n,
                     cl_event behind) {
  CHECK_CL(clSetKernelArg(o->step, 0, sizeof o->buffers[0], &o->buffers[buffer]), CL_SUCCESS);
  CHECK_CL(clSetKernelArg(o->step, 1, sizeof n, &n), CL_SUCCESS);
  cl_event event = launch(queue, o->step, behind != NULL, &behind);
  if (behind)
    CHECK_CL(clReleaseEvent(behind), CL_SUCCESS);
  for (cl_uint i = 0; i < ITEMS; i++)
    o->expected[buffer][i] = o->expected[buffer][i] * 3 + n + i;
  return event;
}

static void check(struct order *o, unsigned buffer, cl_event behind) {
  CHECK_CL(clEnqueueReadBuffer(o->queues[1], o->buffers[buffer], CL_TRUE, 0, BYTES, o->got, 1,
                               &behind, NULL),
           CL_SUCCESS);
  CHECK_CL(clReleaseEvent(behind), CL_SUCCESS);
  CHECK(memcmp(o->got, o->expected[buffer], BYTES) == 0);
}

static void queues_in_turn(struct order *o) {
  enum { STEPS = 100 };
  cl_event last = NULL;
  for (cl_uint i = 0; i < STEPS; i++)
    last = step(o, o->queues[i % 3 % 2], 0, i, last);
  check(o, 0, last);
}

/* More launches than a ring has entries, and more than fit in its slices. */
static void rings_wrap(struct order *o) {
  enum { STEPS = 2500 };
  cl_event last = NULL;
  for (cl_uint i = 0; i < STEPS; i++) {
    if (last)
      CHECK_CL(clReleaseEvent(last), CL_SUCCESS);
    last = step(o, o->queues[0], 0, i, NULL);
  }
  check(o, 0, last);
}

static void diamonds(struct order *o) {
  enum { ROUNDS = 40 };
  cl_event last = NULL;
  for (cl_uint round = 0; round < ROUNDS; round++) {
    cl_event sides[2];
    for (unsigned side = 0; side < 2; side++) {
      if (last)
        CHECK_CL(clRetainEvent(last), CL_SUCCESS);
      sides[side] = step(o, o->disorder, side, round, last);
    }
    if (last)
      CHECK_CL(clReleaseEvent(last), CL_SUCCESS);
    for (unsigned i = 0; i < 3; i++)
      CHECK_CL(clSetKernelArg(o->join, i, sizeof o->buffers[0], &o->buffers[(i + 2) % 3]),
               CL_SUCCESS);
    last = launch(o->disorder, o->join, 2, sides);
    for (unsigned side = 0; side < 2; side++)
      CHECK_CL(clReleaseEvent(sides[side]), CL_SUCCESS);
  }
  for (unsigned i = 0; i < ITEMS; i++)
    o->expected[2][i] = o->expected[0][i] * 5 + o->expected[1][i];
  check(o, 2, last);
}

static void host_between(struct order *o) {
  enum { ROUNDS = 50 };
  static cl_uint in[ROUNDS][ITEMS], out[ROUNDS][ITEMS];
  cl_command_queue queue = o->queues[0];
  cl_event last = NULL;
  for (cl_uint round = 0; round < ROUNDS; round++) {
    for (cl_uint i = 0; i < ITEMS; i++)
      in[round][i] = o->expected[0][i] = round * i;
    CHECK_CL(
        clEnqueueWriteBuffer(queue, o->buffers[0], CL_FALSE, 0, BYTES, in[round], 0, NULL, NULL),
        CL_SUCCESS);
    if (last)
      CHECK_CL(clReleaseEvent(last), CL_SUCCESS);
    last = step(o, queue, 0, round, NULL);
    CHECK_CL(clEnqueueCopyBuffer(queue, o->buffers[0], o->buffers[1], 0, 0, BYTES, 0, NULL, NULL),
             CL_SUCCESS);
    CHECK_CL(
        clEnqueueReadBuffer(queue, o->buffers[1], CL_FALSE, 0, BYTES, out[round], 0, NULL, NULL),
        CL_SUCCESS);
  }
  memcpy(o->expected[1], o->expected[0], BYTES);
  CHECK_CL(clFinish(queue), CL_SUCCESS);
  for (cl_uint round = 0; round < ROUNDS; round++)
    for (cl_uint i = 0; i < ITEMS; i++)
      CHECK(out[round][i] == round * i * 3 + round + i);
  check(o, 1, last);
}

/* While kernels run, each program is built and its larger stack is allocated. */
static void growing_stacks(struct order *o) {
  static const unsigned words[] = {8, 40, 200, 1000};
  cl_event last = NULL;
  for (unsigned k = 0; k < sizeof words / sizeof words[0]; k++) {
    char text[512];
    snprintf(text, sizeof text,
             "kernel void stack(global uint *x, uint n) {\n"
             "  volatile uint t[%u];\n"
             "  const uint i = (uint)get_global_id(0);\n"
             "  for (uint k = 0; k < %u; k++) t[k] = k * n;\n"
             "  x[i] = x[i] * 7 + t[(i + n) %% %u];\n"
             "}\n",
             words[k], words[k], words[k]);
    for (cl_uint i = 0; i < 20; i++)
      last = step(o, o->queues[1], 0, i, last);
    cl_kernel kernel = opencl_kernel(&o->opencl, text, "stack");
    for (cl_uint n = 0; n < 5; n++) {
      CHECK_CL(clSetKernelArg(kernel, 0, sizeof o->buffers[0], &o->buffers[0]), CL_SUCCESS);
      CHECK_CL(clSetKernelArg(kernel, 1, sizeof n, &n), CL_SUCCESS);
      cl_event event = launch(o->queues[n % 2], kernel, 1, &last);
      CHECK_CL(clReleaseEvent(last), CL_SUCCESS);
      last = event;
      for (cl_uint i = 0; i < ITEMS; i++)
        o->expected[0][i] = o->expected[0][i] * 7 + (i + n) % words[k] * n;
    }
    CHECK_CL(clReleaseKernel(kernel), CL_SUCCESS);
  }
  check(o, 0, last);
}

/* A command that has completed has its times, in ascending order. */
static void times(struct order *o) {
  enum { STEPS = 50 };
  cl_ulong before = 0;
  for (cl_uint i = 0; i < STEPS; i++) {
    cl_ulong from, to;
    cl_event event = step(o, o->queues[0], 0, i, NULL);
    CHECK_CL(clWaitForEvents(1, &event), CL_SUCCESS);
    CHECK_CL(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof from, &from, NULL),
             CL_SUCCESS);
    CHECK_CL(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof to, &to, NULL),
             CL_SUCCESS);
    CHECK(before <= from && from <= to);
    before = to;
    CHECK_CL(clReleaseEvent(event), CL_SUCCESS);
  }
}

int main(void) {
  static struct order o;
  start(&o);
  queues_in_turn(&o);
  rings_wrap(&o);
  diamonds(&o);
  host_between(&o);
  growing_stacks(&o);
  times(&o);
  for (unsigned i = 0; i < 3; i++)
    CHECK_CL(clReleaseMemObject(o.buffers[i]), CL_SUCCESS);
  CHECK_CL(clReleaseKernel(o.step), CL_SUCCESS);
  CHECK_CL(clReleaseKernel(o.join), CL_SUCCESS);
  CHECK_CL(clReleaseCommandQueue(o.queues[1]), CL_SUCCESS);
  CHECK_CL(clReleaseCommandQueue(o.disorder), CL_SUCCESS);
  opencl_close(&o.opencl);
  return 0;
}
