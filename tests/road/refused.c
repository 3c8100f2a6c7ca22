/* Every system call of the driver fails in turn, with every error that it can give:
 * the OpenCL call behind it says so with the right code, nothing is left behind, nobody
 * hangs, and a new context works. The driver is linked to the program, so that its
 * kernel boundary can be too (refusing_os.c).
 */
#include <errno.h>
#include <stdbool.h>
#include <time.h>
#include <unistd.h>

#include "runtime/nvgpu/emulator_node.h"
#include "runtime/nvgpu/uapi.h"
#include "tests/road/refusing_os.h"
#include "tests/road/road.h"

#include "icd/cl_tegracl.h"

/* ---- the calls ---------------------------------------------------------------------- */

/* An ioctl's result is what could not be copied of its struct: nvgpu-uapi.md 1.4. */
enum { NOT_COPIED = 24, RESULTS = 8 };

/* What each call can answer (facts: nvgpu-uapi.md 1.2, 3 and 4; EINVAL also where power
 * cannot be had), and what the system adds to any. SURVIVED: the driver does without. */
static const struct call {
  const char *name;
  enum { FATAL, SURVIVED } kind;
  int results[RESULTS];
} calls[] = {
    {NVMAP_NODE, FATAL, {-ENOENT, -EACCES, -ENODEV, -EMFILE, -ENFILE, -ENOMEM}},
    {NVGPU_CTRL_NODE, FATAL, {-ENOENT, -EACCES, -ENODEV, -EMFILE, -ENFILE, -ENOMEM}},
    {HOST1X_FENCE_NODE, SURVIVED, {-ENOENT, -EACCES, -EMFILE, -ENFILE, -ENOMEM}},
    {EMULATOR_NODE_PATH, FATAL, {-EACCES, -EMFILE, -ENFILE, -ENOMEM}},
    {CALL_EMULATOR, SURVIVED, {-EINVAL, -ENOMEM, -EFAULT}},
    {CALL_MMAP, FATAL, {-ENOSYS, -EBUSY, -EINVAL, -EAGAIN, -ENODEV, -ENOMEM}},
    {CALL_MMAP_AT, SURVIVED, {-EEXIST, -EINVAL, -EAGAIN, -ENODEV, -ENOMEM}},
    {CALL_MUNMAP, SURVIVED, {-EINVAL, -ENOMEM}},
    {CALL_CLOSE, SURVIVED, {-EINTR, -EIO}},
    {CALL_POLL, SURVIVED, {-EINTR, -EINVAL, -ENOMEM}},
    {"NVGPU_GPU_IOCTL_GET_CHARACTERISTICS", FATAL, {-EINVAL, -ENOTTY, NOT_COPIED}},
    {"NVGPU_GPU_IOCTL_NUM_VSMS", FATAL, {-EINVAL, -ENOTTY, NOT_COPIED}},
    {"NVGPU_GPU_IOCTL_GET_TPC_MASKS", FATAL, {-EINVAL, -ENOTTY, NOT_COPIED}},
    {"NVGPU_GPU_IOCTL_CLK_GET_RANGE", SURVIVED, {-EINVAL, -EFAULT, -ENOTTY, NOT_COPIED}},
    {"NVMAP_IOC_QUERY_HEAP_PARAMS", SURVIVED, {-EFAULT, -ENODEV, -ENOTTY}},
    {"NVGPU_GPU_IOCTL_GET_GPU_TIME", FATAL, {-EINVAL, -ENODEV, NOT_COPIED}},
    {"NVGPU_GPU_IOCTL_ALLOC_AS", FATAL, {-EINVAL, -EMFILE, -ENFILE, -ENOMEM, NOT_COPIED}},
    {"NVGPU_GPU_IOCTL_OPEN_TSG", FATAL, {-EINVAL, -EMFILE, -ENFILE, -ENOMEM, NOT_COPIED}},
    {"NVGPU_GPU_IOCTL_OPEN_CHANNEL",
     FATAL,
     {-EINVAL, -EMFILE, -ENFILE, -ENODEV, -ENOMEM, NOT_COPIED}},
    {"NVGPU_TSG_IOCTL_CREATE_SUBCONTEXT", FATAL, {-EINVAL, -ENOSPC, -ENOMEM, NOT_COPIED}},
    {"NVGPU_TSG_IOCTL_BIND_CHANNEL_EX", FATAL, {-EPERM, -EINVAL, -ENOMEM, -ETIMEDOUT, NOT_COPIED}},
    {"NVGPU_AS_IOCTL_BIND_CHANNEL", FATAL, {-EINVAL, -ENOMEM, -EFAULT}},
    {"NVGPU_AS_IOCTL_MAP_BUFFER_EX", FATAL, {-EBADF, -EINVAL, -ENOMEM, -EFAULT}},
    {"NVGPU_AS_IOCTL_UNMAP_BUFFER", SURVIVED, {-EINVAL, -ENOMEM}},
    {"NVGPU_IOCTL_CHANNEL_WDT", FATAL, {-EINVAL, -ETIMEDOUT}},
    {"NVGPU_IOCTL_CHANNEL_SETUP_BIND",
     FATAL,
     {-EINVAL, -EEXIST, -EBADF, -ETIMEDOUT, -ENOMEM, NOT_COPIED}},
    {"NVGPU_IOCTL_CHANNEL_ALLOC_OBJ_CTX", FATAL, {-EINVAL, -ETIMEDOUT, -ENOMEM, NOT_COPIED}},
    {"NVGPU_IOCTL_CHANNEL_SET_PREEMPTION_MODE", FATAL, {-EINVAL, -ETIMEDOUT, -ENOMEM}},
    {"NVGPU_IOCTL_CHANNEL_SET_ERROR_NOTIFIER", FATAL, {-EINVAL, -ETIMEDOUT, -ENOMEM}},
    {"NVGPU_IOCTL_CHANNEL_GET_USER_SYNCPOINT", SURVIVED, {-EINVAL, -ENOMEM, NOT_COPIED}},
    {"NVMAP_IOC_CREATE_64", FATAL, {-EFAULT, -EINVAL, -ENOMEM}},
    {"NVMAP_IOC_ALLOC", FATAL, {-EFAULT, -EINVAL, -EEXIST, -ENOMEM}},
    {"NVMAP_IOC_GET_FD", FATAL, {-EFAULT, -EBADF, -EINVAL, -EMFILE, -ENFILE, -ENOMEM}},
    {"NVMAP_IOC_FREE", SURVIVED, {-EFAULT, -EINVAL}},
    {"HOST1X_IOCTL_CREATE_FENCE", SURVIVED, {-EINVAL, -EMFILE, -ENFILE, -ENOMEM, -EFAULT}},
};
enum { CALLS = sizeof calls / sizeof calls[0] };

/* What fails while a fault is explained, and behind it. */
static const struct call untold[] = {
    {CALL_EMULATOR, SURVIVED, {-EINVAL, -ENOMEM, -EFAULT}},
    {CALL_ANY, SURVIVED, {-EIO, -EINVAL, -ENODEV, -ENOMEM, -ETIMEDOUT, NOT_COPIED}},
};

/* ---- one life of a context ---------------------------------------------------------- */

enum step {
  DEVICE,
  CONTEXT,
  QUEUE,
  BUFFER,
  PROGRAM,
  BUILD,
  KERNEL,
  LAUNCH,
  WAIT,
  TIMES,
  READ,
  FINISH
};

/* The code for a refused call behind an OpenCL call. */
static cl_int expected(enum step step, int result) {
  static const cl_int no_memory[] = {
      [CONTEXT] = CL_OUT_OF_HOST_MEMORY,
      [QUEUE] = CL_OUT_OF_HOST_MEMORY,
      [BUFFER] = CL_SUCCESS, /* tried again */
      [BUILD] = CL_OUT_OF_RESOURCES,
      [LAUNCH] = CL_MEM_OBJECT_ALLOCATION_FAILURE,
      [TIMES] = CL_OUT_OF_RESOURCES,
      [READ] = CL_OUT_OF_RESOURCES,
  };
  if (step == DEVICE)
    return CL_DEVICE_NOT_FOUND;
  if (step == WAIT) /* what a thread of the driver's has found */
    return CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
  if (result == -ENOMEM)
    return no_memory[step];
  if (result == -ENODEV && step != TIMES)
    return CL_DEVICE_NOT_AVAILABLE;
  return CL_OUT_OF_RESOURCES;
}

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

enum { ITEMS = 64, KERNELS = 3 };
static const char *const names[KERNELS] = {"add", "some", "more"};
static const char faulty[] = "trap";

static cl_platform_id platform;
static cl_device_id device;
static unsigned char *binary;
static size_t binary_size;

struct life {
  cl_context context;
  cl_command_queue queue;
  cl_mem buffer;
  cl_program program;
  cl_kernel kernels[KERNELS];
  cl_event gate, events[KERNELS];
  enum step step; /* the last one */
};

#define TRY(name, call)                                                                            \
  stage_begins(life->step = name);                                                                 \
  if ((call), error)                                                                               \
  return error

static cl_int launch(struct life *life, unsigned kernel, cl_event gate, cl_event *event) {
  const size_t items = ITEMS;
  return clEnqueueNDRangeKernel(life->queue, life->kernels[kernel], 1, NULL, &items, NULL,
                                gate != NULL, gate ? &gate : NULL, event);
}

/* Until the first error. */
static cl_int live(struct life *life) {
  static const cl_queue_properties profiling[] = {CL_QUEUE_PROPERTIES, CL_QUEUE_PROFILING_ENABLE,
                                                  0};
  const cl_int one = 1;
  cl_int values[ITEMS] = {0}, error;
  cl_ulong device_ns, host_ns;
  TRY(CONTEXT, life->context = clCreateContext(NULL, 1, &device, NULL, NULL, &error));
  TRY(QUEUE,
      life->queue = clCreateCommandQueueWithProperties(life->context, device, profiling, &error));
  TRY(BUFFER, life->buffer = clCreateBuffer(life->context, CL_MEM_COPY_HOST_PTR, sizeof values,
                                            values, &error));
  TRY(PROGRAM,
      life->program = clCreateProgramWithBinary(life->context, 1, &device, &binary_size,
                                                (const unsigned char *[]){binary}, NULL, &error));
  TRY(BUILD, error = clBuildProgram(life->program, 1, &device, "", NULL, NULL));
  for (unsigned i = 0; i < KERNELS; i++) {
    TRY(KERNEL, life->kernels[i] = clCreateKernel(life->program, names[i], &error));
    TRY(KERNEL, error = clSetKernelArg(life->kernels[i], 0, sizeof life->buffer, &life->buffer));
    TRY(KERNEL, error = clSetKernelArg(life->kernels[i], 1, sizeof one, &one));
  }
  TRY(LAUNCH, error = launch(life, 0, NULL, &life->events[0]));
  TRY(LAUNCH, error = launch(life, 1, NULL, &life->events[1]));
  TRY(WAIT, error = clWaitForEvents(2, life->events));
  /* This one is submitted by a thread of the driver's. */
  TRY(WAIT, life->gate = clCreateUserEvent(life->context, &error));
  TRY(WAIT, error = launch(life, 2, life->gate, &life->events[2]));
  TRY(WAIT, error = clSetUserEventStatus(life->gate, CL_COMPLETE));
  TRY(WAIT, error = clWaitForEvents(1, &life->events[2]));
  TRY(TIMES, error = clGetDeviceAndHostTimer(device, &device_ns, &host_ns));
  TRY(TIMES, error = clGetEventProfilingInfo(life->events[0], CL_PROFILING_COMMAND_END,
                                             sizeof device_ns, &device_ns, NULL));
  TRY(READ, error = clEnqueueReadBuffer(life->queue, life->buffer, CL_TRUE, 0, sizeof values,
                                        values, 0, NULL, NULL));
  for (unsigned i = 0; i < ITEMS; i++)
    CHECK(values[i] == KERNELS);
  TRY(FINISH, error = clFinish(life->queue));
  return CL_SUCCESS;
}

static void release(struct life *life) {
  for (unsigned i = 0; i < KERNELS; i++)
    if (life->events[i])
      CHECK_CL(clReleaseEvent(life->events[i]), CL_SUCCESS);
  if (life->gate)
    CHECK_CL(clReleaseEvent(life->gate), CL_SUCCESS);
  for (unsigned i = 0; i < KERNELS; i++)
    if (life->kernels[i])
      CHECK_CL(clReleaseKernel(life->kernels[i]), CL_SUCCESS);
  if (life->program)
    CHECK_CL(clReleaseProgram(life->program), CL_SUCCESS);
  if (life->buffer)
    CHECK_CL(clReleaseMemObject(life->buffer), CL_SUCCESS);
  if (life->queue)
    CHECK_CL(clReleaseCommandQueue(life->queue), CL_SUCCESS);
  if (life->context)
    CHECK_CL(clReleaseContext(life->context), CL_SUCCESS);
}

/* A fault whose causes nobody tells is a fault all the same. */
static void die(const struct call *call, int result) {
  struct life life = {0};
  const size_t one = 1;
  cl_int error;
  char message[1024] = "";
  refuse(NULL, 0, 0);
  CHECK_CL(live(&life), CL_SUCCESS);
  cl_kernel bad = clCreateKernel(life.program, faulty, &error);
  CHECK_CL(error, CL_SUCCESS);
  CHECK_CL(clSetKernelArg(bad, 0, sizeof life.buffer, &life.buffer), CL_SUCCESS);
  CHECK_CL(clSetKernelArg(bad, 1, sizeof error, &error), CL_SUCCESS);
  refuse(call->name, 0, result);
  CHECK_CL(clEnqueueNDRangeKernel(life.queue, bad, 1, NULL, &one, NULL, 0, NULL, NULL), CL_SUCCESS);
  CHECK_CL(clFinish(life.queue), CL_OUT_OF_RESOURCES);
  CHECK(refused());
  CHECK_CL(clGetContextInfo(life.context, CL_CONTEXT_FAULT_TEGRACL, sizeof message, message, NULL),
           CL_SUCCESS);
  CHECK(strncmp(message, "GPU fault", strlen("GPU fault")) == 0);
  CHECK_CL(clReleaseKernel(bad), CL_SUCCESS);
  release(&life);
  refuse_end();
}

/* ---- the checks --------------------------------------------------------------------- */

static struct alive at_rest; /* with the device open, and no context */

/* Threads of the driver's may have something in hand for a moment. */
static void nothing_stays(const char *call) {
  struct alive now = still_alive();
  for (int i = 0; i < 1000 && memcmp(&now, &at_rest, sizeof now) != 0; i++) {
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    now = still_alive();
  }
  if (memcmp(&now, &at_rest, sizeof now) == 0)
    return;
  fprintf(stderr, "after the failure of %s: %d fds, %d handles and %d mappings too many\n", call,
          now.fds - at_rest.fds, now.handles - at_rest.handles, now.mappings - at_rest.mappings);
  exit(1);
}

static void works(void) {
  struct life life = {0};
  refuse(NULL, 0, 0);
  CHECK_CL(live(&life), CL_SUCCESS);
  release(&life);
}

/* A case that takes longer hangs. */
enum { HANG_S = 30 };

static void refuse_in_a_life(const struct call *call, unsigned nth, int result) {
  struct life life = {0};
  alarm(HANG_S);
  refuse(call->name, nth, result);
  const cl_int error = live(&life);
  const bool fatal = refused() && call->kind == FATAL;
  const enum step step = refused_elsewhere() ? WAIT : (enum step)refused_stage();
  const cl_int right = fatal ? expected(step, result) : CL_SUCCESS;
  if (error != right || (right && life.step != step)) {
    fprintf(stderr, "%s, time %u, gives %d at step %d: step %d gives %d instead of %d\n",
            call->name, nth, result, (int)step, (int)life.step, error, right);
    exit(1);
  }
  /* What there is goes on. */
  refuse(NULL, 0, 0);
  if (life.kernels[KERNELS - 1]) {
    CHECK_CL(launch(&life, KERNELS - 1, NULL, NULL), CL_SUCCESS);
    CHECK_CL(clFinish(life.queue), CL_SUCCESS);
  }
  /* And ends, while releases are refused. */
  if (call->kind == SURVIVED)
    refuse(call->name, nth, result);
  release(&life);
  refuse_end();
  nothing_stays(call->name);
}

static const struct call *call_named(const char *name) {
  for (unsigned i = 0; i < CALLS; i++)
    if (strcmp(calls[i].name, name) == 0)
      return &calls[i];
  fprintf(stderr, "it is not said how %s can fail\n", name);
  exit(1);
}

static bool has_slept(void) {
  const char *name;
  for (unsigned i = 0, count; (name = calls_made(i, &count)); i++)
    if (strcmp(name, CALL_POLL) == 0)
      return true;
  return false;
}

static void lives(void) {
  struct {
    const struct call *call;
    unsigned count;
  } made[CALLS];
  unsigned made_count = 0, cases = 0;
  /* Whoever gets no processor for long enough finds the work done, and does not sleep. */
  for (int tries = 0; tries < 100 && !has_slept(); tries++)
    works();
  CHECK(has_slept());
  const char *name;
  for (unsigned i = 0, count; (name = calls_made(i, &count)); i++) {
    CHECK(made_count < CALLS);
    made[made_count].call = call_named(name);
    made[made_count++].count = count;
  }
  for (unsigned i = 0; i < made_count; i++) {
    const struct call *call = made[i].call;
    for (unsigned r = 0; r < RESULTS && call->results[r]; r++) {
      for (unsigned nth = 1; nth <= made[i].count; nth++, cases++)
        refuse_in_a_life(call, nth, call->results[r]);
      if (call->kind == SURVIVED)
        refuse_in_a_life(call, 0, call->results[r]);
      works();
      nothing_stays("nothing");
    }
  }
  for (unsigned i = 0; i < sizeof untold / sizeof untold[0]; i++)
    for (unsigned r = 0; r < RESULTS && untold[i].results[r]; r++) {
      die(&untold[i], untold[i].results[r]);
      works();
      nothing_stays(untold[i].name);
    }
  printf("%u cases of %u calls\n", cases, made_count);
  CHECK(cases > 200);
}

/* ---- a device that cannot be opened ------------------------------------------------- */

/* The failures first, each behind the last: the device is opened once. */
static void openings(void) {
  CHECK_CL(clGetPlatformIDs(1, &platform, NULL), CL_SUCCESS);
  unsigned failures = 0;
  for (unsigned i = 0; i < CALLS; i++) {
    const struct call *call = &calls[i];
    /* Those that opening makes. */
    const bool opens = strncmp(call->name, "/dev/", 5) == 0 || !strcmp(call->name, CALL_MMAP) ||
                       strstr(call->name, "CHARACTERISTICS") || strstr(call->name, "NUM_VSMS") ||
                       strstr(call->name, "TPC_MASKS");
    for (unsigned r = 0; opens && call->kind == FATAL && r < RESULTS && call->results[r]; r++) {
      refuse(call->name, 0, call->results[r]);
      CHECK_CL(clGetDeviceIDs(platform, CL_DEVICE_TYPE_GPU, 1, &device, NULL),
               expected(DEVICE, call->results[r]));
      CHECK(refused());
      nothing_stays(call->name);
      failures++;
    }
  }
  CHECK(failures > 20);
  refuse(NULL, 0, 0);
  CHECK_CL(clGetDeviceIDs(platform, CL_DEVICE_TYPE_GPU, 1, &device, NULL), CL_SUCCESS);
  at_rest = still_alive();
}

static void compile(void) {
  struct road road;
  cl_int error;
  road_open(&road);
  cl_program program = road_program(&road, source);
  error = clBuildProgram(program, 1, &device, "", NULL, NULL);
  CHECK_CL(error, CL_SUCCESS);
  CHECK_CL(
      clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof binary_size, &binary_size, NULL),
      CL_SUCCESS);
  binary = malloc(binary_size);
  CHECK(binary);
  CHECK_CL(clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof binary, &binary, NULL),
           CL_SUCCESS);
  CHECK_CL(clReleaseProgram(program), CL_SUCCESS);
  road_close(&road);
}

int main(void) {
  openings();
  compile();
  lives();
  free(binary);
  return 0;
}
