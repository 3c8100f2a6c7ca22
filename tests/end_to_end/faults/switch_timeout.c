/* The context-switch timeout in an OpenCL program: an endless kernel runs, and another context uses
 * the GPU. If running grids cannot be saved (wfi, cta), the kernel is ended, its event and context
 * report the reason, and the other context works. If they can (cilp), both work.
 */
#include <stdbool.h>
#include <unistd.h>

#include "tests/end_to_end/opencl.h"

#include "icd/cl_tegracl.h"

static const char source[] = "kernel void spin(global volatile int *flag) { while (!*flag) {} }\n";

static cl_int status_of(cl_event event) {
  cl_int status;
  CHECK_CL(clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL),
           CL_SUCCESS);
  return status;
}

/* The kernel runs until the host sets the flag or the timeout ends it. */
static cl_event spin(const struct opencl *opencl, cl_mem flag) {
  const size_t one = 1;
  cl_event event;
  cl_kernel kernel = opencl_kernel(opencl, source, "spin");
  CHECK_CL(clSetKernelArg(kernel, 0, sizeof flag, &flag), CL_SUCCESS);
  CHECK_CL(clEnqueueNDRangeKernel(opencl->queue, kernel, 1, NULL, &one, NULL, 0, NULL, &event),
           CL_SUCCESS);
  CHECK_CL(clFlush(opencl->queue), CL_SUCCESS);
  while (status_of(event) > CL_RUNNING)
    usleep(1000);
  CHECK_CL(clReleaseKernel(kernel), CL_SUCCESS);
  return event;
}

static void is_ended(const struct opencl *opencl, cl_event event) {
  char message[1024];
  CHECK_CL(clWaitForEvents(1, &event), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
  CHECK(status_of(event) < 0);
  CHECK_CL(
      clGetContextInfo(opencl->context, CL_CONTEXT_FAULT_TEGRACL, sizeof message, message, NULL),
      CL_SUCCESS);
  CHECK(strstr(message, "from using the GPU"));
  CHECK(strstr(message, "TEGRACL_PREEMPTION=cta or cilp"));
  CHECK(clFinish(opencl->queue) < 0);
}

int main(int argc, char **argv) {
  CHECK(argc == 2);
  const bool saved = !strcmp(argv[1], "cilp");
  CHECK(setenv("TEGRACL_PREEMPTION", argv[1], 1) == 0);
  struct opencl long_running, other;
  opencl_open(&long_running);
  opencl_open(&other);
  /* Not shared virtual memory, because AddressSanitizer's shadow uses its addresses. */
  cl_int error;
  cl_mem buffer =
      clCreateBuffer(long_running.context, CL_MEM_ALLOC_HOST_PTR, sizeof error, NULL, &error);
  CHECK_CL(error, CL_SUCCESS);
  volatile cl_int *flag =
      clEnqueueMapBuffer(long_running.queue, buffer, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0,
                         sizeof *flag, 0, NULL, NULL, &error);
  CHECK_CL(error, CL_SUCCESS);
  *flag = 0;
  cl_event event = spin(&long_running, buffer);
  do /* The first launches may run before the kernel. */
    opencl_works(&other);
  while (!saved && status_of(event) == CL_RUNNING);
  if (saved) {
    CHECK(status_of(event) == CL_RUNNING);
    *flag = 1;
    CHECK_CL(clWaitForEvents(1, &event), CL_SUCCESS);
    opencl_works(&long_running);
  } else {
    is_ended(&long_running, event);
  }
  CHECK_CL(clReleaseEvent(event), CL_SUCCESS);
  CHECK_CL(clReleaseMemObject(buffer), CL_SUCCESS);
  opencl_close(&long_running);
  /* The context cannot be used any more, but the device can. */
  opencl_open(&long_running);
  opencl_works(&long_running);
  opencl_works(&other);
  opencl_close(&long_running);
  opencl_close(&other);
  printf("right\n");
  return 0;
}
