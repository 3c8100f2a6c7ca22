/* Fails each system call of the driver in turn, with every error that it can return. The OpenCL
 * call must return the right code, nothing may leak, no thread may hang, and a new context must
 * work. The driver is linked into the program, so that its kernel boundary can be replaced
 * (failing_os.c).
 */
#include <errno.h>
#include <stdbool.h>
#include <unistd.h>

#include "gpu/nvgpu/emulator_node.h"
#include "gpu/nvgpu/release.h"
#include "gpu/nvgpu/uapi.h"
#include "tests/end_to_end/faults/failing_os.h"
#include "tests/end_to_end/faults/lifecycle.h"
#include "tests/end_to_end/opencl.h"

#include "icd/cl_tegracl.h"
#include "icd/objects.h"
#include "runtime/queue/queue.h"

/* ---- the calls ---------------------------------------------------------------------- */

/* An ioctl returns the number of bytes of its struct that were not copied:
 * docs/hardware/kernel-interface.md 1.4. */
enum { NOT_COPIED = 24, RESULTS = 8 };

/* The errors that each call can return (docs/hardware/kernel-interface.md 1.2, 3 and 4; EINVAL
 * also if the GPU cannot be powered), and those that the system may return for any call.
 * SURVIVED means that the driver works without the call. */
static const struct call {
  const char *name;
  enum { FATAL, SURVIVED } kind;
  int results[RESULTS];
} calls[] = {
    {NVMAP_NODE, FATAL, {-ENOENT, -EACCES, -ENODEV, -EMFILE, -ENFILE, -ENOMEM}},
    {NVGPU_CTRL_NODE, FATAL, {-ENOENT, -EACCES, -ENODEV, -EMFILE, -ENFILE, -ENOMEM}},
    {HOST1X_FENCE_NODE, SURVIVED, {-ENOENT, -EACCES, -EMFILE, -ENFILE, -ENOMEM}},
    {NVHOST_CTRL_NODE, SURVIVED, {-ENOENT, -EACCES, -EMFILE, -ENFILE, -ENOMEM}},
    {EMULATOR_NODE_PATH, SURVIVED, {-EACCES, -EMFILE, -ENFILE, -ENOMEM}},
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
    {"NVHOST_IOCTL_CTRL_SYNC_FENCE_CREATE",
     SURVIVED,
     {-EINVAL, -EMFILE, -ENFILE, -ENOMEM, -EFAULT}},
};
enum { CALLS = sizeof calls / sizeof calls[0] };

/* Calls that fail while the driver reports a fault or afterwards. */
static const struct call calls_of_reports[] = {
    {CALL_EMULATOR, SURVIVED, {-EINVAL, -ENOMEM, -EFAULT}},
    {CALL_ANY, SURVIVED, {-EIO, -EINVAL, -ENODEV, -ENOMEM, -ETIMEDOUT, NOT_COPIED}},
};

/* ---- lifecycle of a context --------------------------------------------------------- */

/* Returns the expected code of an OpenCL call whose system call was refused. */
static cl_int expected(enum lifecycle_step step, int result) {
  static const cl_int no_memory[] = {
      [CONTEXT] = CL_OUT_OF_HOST_MEMORY,
      [QUEUE] = CL_SUCCESS, /* retried, like the next two */
      [BUFFER] = CL_SUCCESS,
      [BUILD] = CL_SUCCESS,
      [LAUNCH] = CL_MEM_OBJECT_ALLOCATION_FAILURE,
      [TIMES] = CL_OUT_OF_RESOURCES,
      [READ] = CL_OUT_OF_RESOURCES,
  };
  if (step == DEVICE)
    return CL_DEVICE_NOT_FOUND;
  if (step == WAIT) /* a thread of the driver has reported it */
    return CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
  if (result == -ENOMEM)
    return no_memory[step];
  if (result == -ENODEV && step != TIMES)
    return CL_DEVICE_NOT_AVAILABLE;
  return CL_OUT_OF_RESOURCES;
}

/* A fault is reported even if its cause cannot be determined. */
static void refuse_in_report(const struct call *call, int result) {
  struct lifecycle lifecycle = {0};
  const size_t one = 1;
  cl_int error;
  char message[1024] = "";
  refuse(NULL, 0, 0);
  CHECK_CL(lifecycle_run(&lifecycle), CL_SUCCESS);
  cl_kernel bad = clCreateKernel(lifecycle.program, lifecycle_faulty, &error);
  CHECK_CL(error, CL_SUCCESS);
  CHECK_CL(clSetKernelArg(bad, 0, sizeof lifecycle.buffer, &lifecycle.buffer), CL_SUCCESS);
  CHECK_CL(clSetKernelArg(bad, 1, sizeof error, &error), CL_SUCCESS);
  refuse(call->name, 0, result);
  CHECK_CL(clEnqueueNDRangeKernel(lifecycle.queue, bad, 1, NULL, &one, NULL, 0, NULL, NULL),
           CL_SUCCESS);
  CHECK_CL(clFinish(lifecycle.queue), CL_OUT_OF_RESOURCES);
  CHECK(refused());
  CHECK_CL(
      clGetContextInfo(lifecycle.context, CL_CONTEXT_FAULT_TEGRACL, sizeof message, message, NULL),
      CL_SUCCESS);
  CHECK(strncmp(message, "GPU fault", strlen("GPU fault")) == 0);
  CHECK_CL(clReleaseKernel(bad), CL_SUCCESS);
  lifecycle_release(&lifecycle);
  refuse_end();
}

/* ---- the checks --------------------------------------------------------------------- */

static struct alive at_rest; /* with the device open, and no context */

/* A case that takes longer counts as a hang. */
enum { HANG_S = 600 };

/* A queue works without a second channel. */
static bool has_the_only_channel(const struct lifecycle *lifecycle) {
  return lifecycle->queue && lifecycle->queue->rt->channel->shared;
}

/* A context that cannot get a range of addresses uses the first one, which the thread that ends
 * the last context may still hold. */
static bool shares_the_first_range(const struct call *call, const struct lifecycle *lifecycle) {
  return strcmp(call->name, "NVGPU_GPU_IOCTL_ALLOC_AS") == 0 && lifecycle->context &&
         lifecycle->context->rt->range < 0;
}

static void refuse_in_lifecycle(const struct call *call, unsigned nth, int result) {
  struct lifecycle lifecycle = {0};
  alarm(HANG_S);
  refuse(call->name, nth, result);
  const cl_int error = lifecycle_run(&lifecycle);
  const bool fatal = refused() && call->kind == FATAL && !has_the_only_channel(&lifecycle) &&
                     !shares_the_first_range(call, &lifecycle);
  const enum lifecycle_step step =
      refused_elsewhere() ? WAIT : (enum lifecycle_step)refused_stage();
  const cl_int right = fatal ? expected(step, result) : CL_SUCCESS;
  if (error != right || (right && lifecycle.step != step)) {
    fprintf(stderr, "%s, time %u, gives %d at step %d: step %d gives %d instead of %d\n",
            call->name, nth, result, (int)step, (int)lifecycle.step, error, right);
    exit(1);
  }
  /* Existing objects can still be used. */
  refuse(NULL, 0, 0);
  if (lifecycle.kernels[LIFECYCLE_KERNELS - 1]) {
    CHECK_CL(lifecycle_launch(&lifecycle, LIFECYCLE_KERNELS - 1, NULL, NULL), CL_SUCCESS);
    CHECK_CL(clFinish(lifecycle.queue), CL_SUCCESS);
  }
  /* They are released while such calls are refused. */
  if (call->kind == SURVIVED)
    refuse(call->name, nth, result);
  lifecycle_release(&lifecycle);
  still_as(&at_rest, call->name); /* a thread of the driver may make the last calls */
  refuse_end();
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

static void try_lifecycles(void) {
  struct {
    const struct call *call;
    unsigned count;
  } made[CALLS];
  unsigned made_count = 0, cases = 0;
  /* On a busy machine a thread may find the work done and not sleep. */
  for (int tries = 0; tries < 100 && !has_slept(); tries++)
    lifecycle_check();
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
        refuse_in_lifecycle(call, nth, call->results[r]);
      if (call->kind == SURVIVED)
        refuse_in_lifecycle(call, 0, call->results[r]);
      lifecycle_check();
      still_as(&at_rest, "nothing");
    }
  }
  for (unsigned i = 0; i < sizeof calls_of_reports / sizeof calls_of_reports[0]; i++)
    for (unsigned r = 0; r < RESULTS && calls_of_reports[i].results[r]; r++) {
      refuse_in_report(&calls_of_reports[i], calls_of_reports[i].results[r]);
      lifecycle_check();
      still_as(&at_rest, calls_of_reports[i].name);
    }
  printf("%u cases of %u calls\n", cases, made_count);
  CHECK(cases > 200);
}

/* ---- a device that cannot be opened ------------------------------------------------- */

/* The failures come first, one after another, because the device is opened only once. */
static void try_openings(void) {
  CHECK_CL(clGetPlatformIDs(1, &lifecycle_platform, NULL), CL_SUCCESS);
  unsigned failures = 0;
  for (unsigned i = 0; i < CALLS; i++) {
    const struct call *call = &calls[i];
    /* The calls that are made when the device is opened. */
    const bool opens = strncmp(call->name, "/dev/", 5) == 0 ||
                       strstr(call->name, "CHARACTERISTICS") || strstr(call->name, "NUM_VSMS") ||
                       strstr(call->name, "TPC_MASKS");
    for (unsigned r = 0; opens && call->kind == FATAL && r < RESULTS && call->results[r]; r++) {
      refuse(call->name, 0, call->results[r]);
      CHECK_CL(clGetDeviceIDs(lifecycle_platform, CL_DEVICE_TYPE_GPU, 1, &lifecycle_device, NULL),
               expected(DEVICE, call->results[r]));
      CHECK(refused());
      still_as(&at_rest, call->name);
      failures++;
    }
  }
  CHECK(failures > 20);
  refuse(NULL, 0, 0);
  CHECK_CL(clGetDeviceIDs(lifecycle_platform, CL_DEVICE_TYPE_GPU, 1, &lifecycle_device, NULL),
           CL_SUCCESS);
  at_rest = still_alive();
}

int main(void) {
  try_openings();
  lifecycle_compile();
  try_lifecycles();
  lifecycle_free_program();
  return 0;
}
