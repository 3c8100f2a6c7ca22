/* Forks at each system call of the driver after the device is opened. The parent's work must
 * continue undisturbed. The child must not have the parent's handles, file descriptors or mappings,
 * must not wait for a lock forever, and must be able to open the device itself.
 */
#include <sys/wait.h>
#include <unistd.h>

#include "tests/end_to_end/faults/failing_os.h"
#include "tests/end_to_end/faults/lifecycle.h"
#include "tests/end_to_end/processes/children.h"

/* A case that takes longer counts as a hang. */
enum { HANG_S = 600 };

static struct lifecycle parents;
static struct alive at_rest; /* with the device open, and no context */

/* ---- the child ------------------------------------------------------------------------ */

static void no_handles(struct lifecycle *lifecycle) {
  cl_uint count;
  cl_int value = 1;
  const size_t one = 1;
  if (lifecycle->context) {
    CHECK_CL(clGetContextInfo(lifecycle->context, CL_CONTEXT_REFERENCE_COUNT, sizeof count, &count,
                              NULL),
             CL_INVALID_CONTEXT);
    CHECK(!clCreateBuffer(lifecycle->context, 0, sizeof value, NULL, &value));
    CHECK_CL(value, CL_INVALID_CONTEXT);
    CHECK_CL(clReleaseContext(lifecycle->context), CL_INVALID_CONTEXT);
  }
  if (lifecycle->queue) {
    CHECK_CL(clEnqueueReadBuffer(lifecycle->queue, lifecycle->buffer, CL_TRUE, 0, sizeof value,
                                 &value, 0, NULL, NULL),
             CL_INVALID_COMMAND_QUEUE);
    CHECK_CL(clEnqueueNDRangeKernel(lifecycle->queue, lifecycle->kernels[0], 1, NULL, &one, NULL, 0,
                                    NULL, NULL),
             CL_INVALID_COMMAND_QUEUE);
    CHECK_CL(clFinish(lifecycle->queue), CL_INVALID_COMMAND_QUEUE);
    CHECK_CL(clReleaseCommandQueue(lifecycle->queue), CL_INVALID_COMMAND_QUEUE);
  }
  if (lifecycle->buffer)
    CHECK_CL(clReleaseMemObject(lifecycle->buffer), CL_INVALID_MEM_OBJECT);
  if (lifecycle->program)
    CHECK_CL(clReleaseProgram(lifecycle->program), CL_INVALID_PROGRAM);
  for (unsigned i = 0; i < LIFECYCLE_KERNELS; i++) {
    if (lifecycle->kernels[i]) {
      CHECK_CL(clSetKernelArg(lifecycle->kernels[i], 1, sizeof value, &value), CL_INVALID_KERNEL);
      CHECK_CL(clReleaseKernel(lifecycle->kernels[i]), CL_INVALID_KERNEL);
    }
    if (lifecycle->events[i]) {
      CHECK_CL(clWaitForEvents(1, &lifecycle->events[i]), CL_INVALID_EVENT);
      CHECK_CL(clReleaseEvent(lifecycle->events[i]), CL_INVALID_EVENT);
    }
  }
  if (lifecycle->gate)
    CHECK_CL(clSetUserEventStatus(lifecycle->gate, CL_COMPLETE), CL_INVALID_EVENT);
}

static void in_child(void) {
  char name[256];
  alarm(HANG_S);
  no_memfds();
  no_handles(&parents);
  if (lifecycle_device)
    CHECK_CL(clGetDeviceInfo(lifecycle_device, CL_DEVICE_NAME, sizeof name, name, NULL),
             CL_SUCCESS);
  else
    CHECK_CL(clGetDeviceIDs(lifecycle_platform, CL_DEVICE_TYPE_GPU, 1, &lifecycle_device, NULL),
             CL_SUCCESS);
  if (lifecycle_is_compiled())
    lifecycle_check();
}

/* Two ways to end a child: with and without the library's destructors. */
static void end_child(void) {
  in_child();
  end_by_exit();
}
static void kill_child(void) {
  in_child();
  _exit(0);
}

/* ---- the parent ------------------------------------------------------------------------- */

static void child_was_well(unsigned nth) {
  const int status = fork_status();
  if (status == 0)
    return;
  fprintf(stderr, "the child of a fork at call %u ends with status 0x%x\n", nth, status);
  exit(1);
}

/* Returns false if there are fewer calls. */
static bool fork_in_a_life(unsigned nth) {
  alarm(HANG_S);
  parents = (struct lifecycle){0};
  fork_at(nth, nth % 2 ? end_child : kill_child);
  CHECK_CL(lifecycle_run(&parents), CL_SUCCESS);
  lifecycle_release(&parents);
  still_as(&at_rest, "a fork"); /* a thread of the driver may make the last calls */
  if (fork_status() == -1)
    return false;
  child_was_well(nth);
  return true;
}

/* Each in its own process, because a process opens the device once. */
static bool fork_in_an_opening(unsigned nth) {
  int status;
  const pid_t opener = fork();
  CHECK(opener >= 0);
  if (opener == 0) {
    fork_at(nth, nth % 2 ? end_child : kill_child);
    CHECK_CL(clGetDeviceIDs(lifecycle_platform, CL_DEVICE_TYPE_GPU, 1, &lifecycle_device, NULL),
             CL_SUCCESS);
    if (fork_status() == -1)
      _exit(2);
    child_was_well(nth);
    _exit(0);
  }
  CHECK(waitpid(opener, &status, 0) == opener);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) != 1);
  return WEXITSTATUS(status) == 0;
}

int main(void) {
  unsigned openings = 0, calls = 0;
  CHECK_CL(clGetPlatformIDs(1, &lifecycle_platform, NULL), CL_SUCCESS);
  while (fork_in_an_opening(openings + 1))
    openings++;
  CHECK_CL(clGetDeviceIDs(lifecycle_platform, CL_DEVICE_TYPE_GPU, 1, &lifecycle_device, NULL),
           CL_SUCCESS);
  at_rest = still_alive();
  lifecycle_compile();
  while (fork_in_a_life(calls + 1))
    calls++;
  lifecycle_check();
  lifecycle_free_program();
  printf("forks at %u calls of the opening, %u of a lifecycle\n", openings, calls);
  CHECK(openings > 8 && calls > 70);
  return 0;
}
