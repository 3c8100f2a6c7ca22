/* The lifecycle of a context. See lifecycle.h. */
#include "tests/end_to_end/faults/lifecycle.h"

#include "tests/end_to_end/faults/failing_os.h"

/* Kernels with increasing private memory, which the driver allocates at the first launch. The
 * last one takes so long that a thread that waits for it sleeps. */
static const char source[] =
    "kernel void add(global int *p, int n) { p[get_global_id(0)] += n; }\n"
    "#define PRIVATE(name, words)                                                     \\\n"
    "  kernel void name(global int *p, int n) {                                       \\\n"
    "    volatile int a[words];                                                       \\\n"
    "    for (int i = 0; i < 16 * words; i++) a[i % words] = i % words;               \\\n"
    "    p[get_global_id(0)] += n + a[n - 1]; /* a[0] */                              \\\n"
    "  }\n"
    "PRIVATE(some, 64)\n"
    "PRIVATE(more, 256)\n"
    "kernel void trap(global int *p, int n) { __asm__ volatile(\"trap;\"); }\n";

static const char *const names[LIFECYCLE_KERNELS] = {"add", "some", "more"};
const char lifecycle_faulty[] = "trap";

cl_platform_id lifecycle_platform;
cl_device_id lifecycle_device;
static unsigned char *binary;
static size_t binary_size;

#define TRY(name, call)                                                                            \
  stage_begins(lifecycle->step = name);                                                            \
  if ((call), error)                                                                               \
  return error

cl_int lifecycle_launch(struct lifecycle *lifecycle, unsigned kernel, cl_event gate,
                        cl_event *event) {
  const size_t items = LIFECYCLE_ITEMS;
  return clEnqueueNDRangeKernel(lifecycle->queue, lifecycle->kernels[kernel], 1, NULL, &items, NULL,
                                gate != NULL, gate ? &gate : NULL, event);
}

cl_int lifecycle_run(struct lifecycle *lifecycle) {
  static const cl_queue_properties profiling[] = {CL_QUEUE_PROPERTIES, CL_QUEUE_PROFILING_ENABLE,
                                                  0};
  const cl_int one = 1;
  cl_int values[LIFECYCLE_ITEMS] = {0}, error;
  cl_ulong device_ns, host_ns;
  TRY(CONTEXT,
      lifecycle->context = clCreateContext(NULL, 1, &lifecycle_device, NULL, NULL, &error));
  TRY(QUEUE, lifecycle->queue = clCreateCommandQueueWithProperties(
                 lifecycle->context, lifecycle_device, profiling, &error));
  TRY(BUFFER, lifecycle->buffer = clCreateBuffer(lifecycle->context, CL_MEM_COPY_HOST_PTR,
                                                 sizeof values, values, &error));
  TRY(PROGRAM, lifecycle->program =
                   clCreateProgramWithBinary(lifecycle->context, 1, &lifecycle_device, &binary_size,
                                             (const unsigned char *[]){binary}, NULL, &error));
  TRY(BUILD, error = clBuildProgram(lifecycle->program, 1, &lifecycle_device, "", NULL, NULL));
  for (unsigned i = 0; i < LIFECYCLE_KERNELS; i++) {
    TRY(KERNEL, lifecycle->kernels[i] = clCreateKernel(lifecycle->program, names[i], &error));
    TRY(KERNEL, error = clSetKernelArg(lifecycle->kernels[i], 0, sizeof lifecycle->buffer,
                                       &lifecycle->buffer));
    TRY(KERNEL, error = clSetKernelArg(lifecycle->kernels[i], 1, sizeof one, &one));
  }
  TRY(LAUNCH, error = lifecycle_launch(lifecycle, 0, NULL, &lifecycle->events[0]));
  TRY(LAUNCH, error = lifecycle_launch(lifecycle, 1, NULL, &lifecycle->events[1]));
  TRY(WAIT, error = clWaitForEvents(2, lifecycle->events));
  /* A thread of the driver submits this one. */
  TRY(WAIT, lifecycle->gate = clCreateUserEvent(lifecycle->context, &error));
  TRY(WAIT, error = lifecycle_launch(lifecycle, 2, lifecycle->gate, &lifecycle->events[2]));
  TRY(WAIT, error = clSetUserEventStatus(lifecycle->gate, CL_COMPLETE));
  TRY(WAIT, error = clWaitForEvents(1, &lifecycle->events[2]));
  TRY(TIMES, error = clGetDeviceAndHostTimer(lifecycle_device, &device_ns, &host_ns));
  TRY(TIMES, error = clGetEventProfilingInfo(lifecycle->events[0], CL_PROFILING_COMMAND_END,
                                             sizeof device_ns, &device_ns, NULL));
  TRY(READ, error = clEnqueueReadBuffer(lifecycle->queue, lifecycle->buffer, CL_TRUE, 0,
                                        sizeof values, values, 0, NULL, NULL));
  for (unsigned i = 0; i < LIFECYCLE_ITEMS; i++)
    CHECK(values[i] == LIFECYCLE_KERNELS);
  TRY(FINISH, error = clFinish(lifecycle->queue));
  return CL_SUCCESS;
}

/* The object is removed from the list before its release, because the child of a fork in between
 * must not use it. */
#define RELEASE(release, place)                                                                    \
  do {                                                                                             \
    __typeof__(place) handle_ = (place);                                                           \
    (place) = NULL;                                                                                \
    if (handle_)                                                                                   \
      CHECK_CL(release(handle_), CL_SUCCESS);                                                      \
  } while (0)

void lifecycle_release(struct lifecycle *lifecycle) {
  for (unsigned i = 0; i < LIFECYCLE_KERNELS; i++)
    RELEASE(clReleaseEvent, lifecycle->events[i]);
  RELEASE(clReleaseEvent, lifecycle->gate);
  for (unsigned i = 0; i < LIFECYCLE_KERNELS; i++)
    RELEASE(clReleaseKernel, lifecycle->kernels[i]);
  RELEASE(clReleaseProgram, lifecycle->program);
  RELEASE(clReleaseMemObject, lifecycle->buffer);
  RELEASE(clReleaseCommandQueue, lifecycle->queue);
  RELEASE(clReleaseContext, lifecycle->context);
}

void lifecycle_check(void) {
  struct lifecycle lifecycle = {0};
  refuse(NULL, 0, 0);
  CHECK_CL(lifecycle_run(&lifecycle), CL_SUCCESS);
  lifecycle_release(&lifecycle);
}

void lifecycle_free_program(void) {
  free(binary);
}

bool lifecycle_is_compiled(void) {
  return binary;
}

void lifecycle_compile(void) {
  struct opencl opencl;
  opencl_open(&opencl);
  binary = opencl_binary(&opencl, source, &binary_size);
  opencl_close(&opencl);
}
