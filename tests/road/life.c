/* One life of a context; see life.h. */
#include "tests/road/life.h"

#include "tests/road/refusing_os.h"

/* Private memory, which the first launches get room for: less, then more. The last takes
 * so long that who waits for it goes to sleep. */
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

static const char *const names[LIFE_KERNELS] = {"add", "some", "more"};
const char life_faulty[] = "trap";

cl_platform_id life_platform;
cl_device_id life_device;
static unsigned char *binary;
static size_t binary_size;

#define TRY(name, call)                                                                            \
  stage_begins(life->step = name);                                                                 \
  if ((call), error)                                                                               \
  return error

cl_int life_launch(struct life *life, unsigned kernel, cl_event gate, cl_event *event) {
  const size_t items = LIFE_ITEMS;
  return clEnqueueNDRangeKernel(life->queue, life->kernels[kernel], 1, NULL, &items, NULL,
                                gate != NULL, gate ? &gate : NULL, event);
}

cl_int life_live(struct life *life) {
  static const cl_queue_properties profiling[] = {CL_QUEUE_PROPERTIES, CL_QUEUE_PROFILING_ENABLE,
                                                  0};
  const cl_int one = 1;
  cl_int values[LIFE_ITEMS] = {0}, error;
  cl_ulong device_ns, host_ns;
  TRY(CONTEXT, life->context = clCreateContext(NULL, 1, &life_device, NULL, NULL, &error));
  TRY(QUEUE, life->queue =
                 clCreateCommandQueueWithProperties(life->context, life_device, profiling, &error));
  TRY(BUFFER, life->buffer = clCreateBuffer(life->context, CL_MEM_COPY_HOST_PTR, sizeof values,
                                            values, &error));
  TRY(PROGRAM,
      life->program = clCreateProgramWithBinary(life->context, 1, &life_device, &binary_size,
                                                (const unsigned char *[]){binary}, NULL, &error));
  TRY(BUILD, error = clBuildProgram(life->program, 1, &life_device, "", NULL, NULL));
  for (unsigned i = 0; i < LIFE_KERNELS; i++) {
    TRY(KERNEL, life->kernels[i] = clCreateKernel(life->program, names[i], &error));
    TRY(KERNEL, error = clSetKernelArg(life->kernels[i], 0, sizeof life->buffer, &life->buffer));
    TRY(KERNEL, error = clSetKernelArg(life->kernels[i], 1, sizeof one, &one));
  }
  TRY(LAUNCH, error = life_launch(life, 0, NULL, &life->events[0]));
  TRY(LAUNCH, error = life_launch(life, 1, NULL, &life->events[1]));
  TRY(WAIT, error = clWaitForEvents(2, life->events));
  /* This one is submitted by a thread of the driver's. */
  TRY(WAIT, life->gate = clCreateUserEvent(life->context, &error));
  TRY(WAIT, error = life_launch(life, 2, life->gate, &life->events[2]));
  TRY(WAIT, error = clSetUserEventStatus(life->gate, CL_COMPLETE));
  TRY(WAIT, error = clWaitForEvents(1, &life->events[2]));
  TRY(TIMES, error = clGetDeviceAndHostTimer(life_device, &device_ns, &host_ns));
  TRY(TIMES, error = clGetEventProfilingInfo(life->events[0], CL_PROFILING_COMMAND_END,
                                             sizeof device_ns, &device_ns, NULL));
  TRY(READ, error = clEnqueueReadBuffer(life->queue, life->buffer, CL_TRUE, 0, sizeof values,
                                        values, 0, NULL, NULL));
  for (unsigned i = 0; i < LIFE_ITEMS; i++)
    CHECK(values[i] == LIFE_KERNELS);
  TRY(FINISH, error = clFinish(life->queue));
  return CL_SUCCESS;
}

/* What is being released has no user any more, nor a child's of a fork meanwhile. */
#define RELEASE(release, place)                                                                    \
  do {                                                                                             \
    __typeof__(place) handle_ = (place);                                                           \
    (place) = NULL;                                                                                \
    if (handle_)                                                                                   \
      CHECK_CL(release(handle_), CL_SUCCESS);                                                      \
  } while (0)

void life_release(struct life *life) {
  for (unsigned i = 0; i < LIFE_KERNELS; i++)
    RELEASE(clReleaseEvent, life->events[i]);
  RELEASE(clReleaseEvent, life->gate);
  for (unsigned i = 0; i < LIFE_KERNELS; i++)
    RELEASE(clReleaseKernel, life->kernels[i]);
  RELEASE(clReleaseProgram, life->program);
  RELEASE(clReleaseMemObject, life->buffer);
  RELEASE(clReleaseCommandQueue, life->queue);
  RELEASE(clReleaseContext, life->context);
}

void life_works(void) {
  struct life life = {0};
  refuse(NULL, 0, 0);
  CHECK_CL(life_live(&life), CL_SUCCESS);
  life_release(&life);
}

void life_forget(void) {
  free(binary);
}

bool life_is_compiled(void) {
  return binary;
}

void life_compile(void) {
  struct road road;
  road_open(&road);
  binary = road_binary(&road, source, &binary_size);
  road_close(&road);
}
