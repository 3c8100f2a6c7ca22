/* GPU faults in an OpenCL program: the running command fails, and so do all commands that wait for
 * it, in every queue of the context. The callback reports the reason. The program can release
 * everything and continue in a new context. Each kind of fault is caused many times.
 */
#include <dirent.h>
#include <stdatomic.h>
#include <unistd.h>

#include "tests/end_to_end/opencl.h"

#include "icd/cl_tegracl.h"

static const char source[] =
    "kernel void mmu(global int *p) { p[1 << 26] = 1; }\n"
    "kernel void null(global int *p) { *(global int *)(ulong)(*p - 1) = 1; }\n"
    "kernel void misaligned(global int *p) {\n"
    "  *(global volatile int *)((global char *)p + 2) = 1;\n"
    "}\n"
    "kernel void shared_range(global int *p) {\n"
    "  local int l[32];\n"
    "  *(volatile local int *)(l + 100000 + *p) = 1;\n"
    "}\n"
    "kernel void trap(global int *p) { __asm__ volatile(\"trap;\"); }\n"
    "kernel void count(global int *p) { atomic_inc(p); }\n";

static const struct {
  const char *kernel, *message;
} kinds[] = {
    {"mmu", "MMU fault"},
    {"null", "MMU fault"},
    {"misaligned", "misaligned"},
    {"shared_range", "local memory"},
    {"trap", "trap"},
};
enum { KINDS = sizeof kinds / sizeof kinds[0], ROUNDS = 10, EVENTS = 6, MOMENTS = 60000 };

static unsigned open_fds(void) {
  unsigned count = 0;
  DIR *directory = opendir("/proc/self/fd");
  CHECK(directory);
  while (readdir(directory))
    count++;
  closedir(directory);
  return count;
}

static atomic_int told, called;

static void CL_CALLBACK context_told(const char *text, const void *info, size_t size, void *user) {
  (void)info;
  (void)size;
  if (strstr(text, user))
    told++;
}

static void CL_CALLBACK event_told(cl_event event, cl_int status, void *user) {
  (void)event;
  (void)user;
  if (status < 0)
    called++;
}

static cl_kernel kernel_of(const struct opencl *opencl, cl_program program, const char *name,
                           cl_mem buffer) {
  (void)opencl;
  cl_int error;
  cl_kernel kernel = clCreateKernel(program, name, &error);
  CHECK_CL(error, CL_SUCCESS);
  CHECK_CL(clSetKernelArg(kernel, 0, sizeof buffer, &buffer), CL_SUCCESS);
  return kernel;
}

static cl_int status_of(cl_event event) {
  cl_int status;
  CHECK_CL(clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL),
           CL_SUCCESS);
  return status;
}

static cl_program build(struct opencl *opencl) {
  cl_program program = opencl_program(opencl, source);
  CHECK_CL(clBuildProgram(program, 1, &opencl->device, "", NULL, NULL), CL_SUCCESS);
  return program;
}

/* Creates a context in which one kernel fails. */
static void fail(unsigned kind) {
  const size_t one = 1;
  cl_int error, data[64];
  struct opencl opencl;
  opencl_open(&opencl);
  cl_context own = clCreateContext(NULL, 1, &opencl.device, context_told,
                                   (void *)(uintptr_t)kinds[kind].message, &error);
  CHECK_CL(error, CL_SUCCESS);
  CHECK_CL(clReleaseCommandQueue(opencl.queue), CL_SUCCESS);
  CHECK_CL(clReleaseContext(opencl.context), CL_SUCCESS);
  opencl.context = own;
  opencl.queue = clCreateCommandQueueWithProperties(own, opencl.device, NULL, &error);
  CHECK_CL(error, CL_SUCCESS);
  cl_command_queue second = clCreateCommandQueueWithProperties(own, opencl.device, NULL, &error);
  CHECK_CL(error, CL_SUCCESS);
  cl_program program = build(&opencl);
  cl_mem buffer = clCreateBuffer(own, CL_MEM_READ_WRITE, sizeof data, NULL, &error);
  CHECK_CL(error, CL_SUCCESS);
  const cl_int zero = 0;
  CHECK_CL(
      clEnqueueFillBuffer(opencl.queue, buffer, &zero, sizeof zero, 0, sizeof data, 0, NULL, NULL),
      CL_SUCCESS);
  CHECK_CL(clFinish(opencl.queue), CL_SUCCESS);
  cl_kernel bad = kernel_of(&opencl, program, kinds[kind].kernel, buffer);
  cl_kernel good = kernel_of(&opencl, program, "count", buffer);
  cl_event gate = clCreateUserEvent(own, &error), events[EVENTS];
  CHECK_CL(error, CL_SUCCESS);
  told = called = 0;
  /* Command 0 has completed before, command 1 fails, and the others wait for it in either queue. */
  CHECK_CL(clEnqueueNDRangeKernel(opencl.queue, good, 1, NULL, &one, NULL, 0, NULL, &events[0]),
           CL_SUCCESS);
  CHECK_CL(clFinish(opencl.queue), CL_SUCCESS);
  CHECK_CL(clEnqueueNDRangeKernel(opencl.queue, bad, 1, NULL, &one, NULL, 1, &gate, &events[1]),
           CL_SUCCESS);
  CHECK_CL(clEnqueueNDRangeKernel(opencl.queue, good, 1, NULL, &one, NULL, 0, NULL, &events[2]),
           CL_SUCCESS);
  CHECK_CL(clEnqueueNDRangeKernel(second, good, 1, NULL, &one, NULL, 1, &events[1], &events[3]),
           CL_SUCCESS);
  CHECK_CL(clEnqueueReadBuffer(second, buffer, CL_FALSE, 0, sizeof data, data, 1, &events[1],
                               &events[4]),
           CL_SUCCESS);
  CHECK_CL(clEnqueueNDRangeKernel(second, good, 1, NULL, &one, NULL, 0, NULL, &events[5]),
           CL_SUCCESS);
  for (unsigned i = 0; i < EVENTS; i++)
    CHECK_CL(clSetEventCallback(events[i], CL_COMPLETE, event_told, NULL), CL_SUCCESS);
  CHECK_CL(clSetUserEventStatus(gate, CL_COMPLETE), CL_SUCCESS);
  CHECK_CL(clWaitForEvents(EVENTS, events), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
  CHECK(status_of(events[0]) == CL_COMPLETE);
  for (unsigned i = 1; i < EVENTS; i++)
    CHECK(status_of(events[i]) < 0);
  while (called < EVENTS - 1 || !told)
    usleep(1000);
  CHECK(called == EVENTS - 1);
  CHECK(told >= 1);
  /* Further calls on the context fail. */
  char message[1024];
  CHECK_CL(clGetContextInfo(own, CL_CONTEXT_FAULT_TEGRACL, sizeof message, message, NULL),
           CL_SUCCESS);
  CHECK(strstr(message, kinds[kind].message) && strstr(message, kinds[kind].kernel));
  CHECK(clEnqueueNDRangeKernel(second, good, 1, NULL, &one, NULL, 0, NULL, NULL) < 0);
  CHECK(clEnqueueReadBuffer(opencl.queue, buffer, CL_TRUE, 0, sizeof data, data, 0, NULL, NULL) <
        0);
  CHECK(clFinish(opencl.queue) < 0);
  clCreateCommandQueueWithProperties(own, opencl.device, NULL, &error);
  CHECK(error < 0);
  for (unsigned i = 0; i < EVENTS; i++)
    CHECK_CL(clReleaseEvent(events[i]), CL_SUCCESS);
  CHECK_CL(clReleaseEvent(gate), CL_SUCCESS);
  CHECK_CL(clReleaseKernel(bad), CL_SUCCESS);
  CHECK_CL(clReleaseKernel(good), CL_SUCCESS);
  CHECK_CL(clReleaseProgram(program), CL_SUCCESS);
  CHECK_CL(clReleaseMemObject(buffer), CL_SUCCESS);
  CHECK_CL(clReleaseCommandQueue(second), CL_SUCCESS);
  opencl_close(&opencl);
}

int main(void) {
  struct opencl bystander;
  unsigned before = 0;
  opencl_open(&bystander);
  for (unsigned round = 0; round < ROUNDS; round++) {
    for (unsigned kind = 0; kind < KINDS; kind++) {
      struct opencl opencl;
      fail(kind);
      opencl_open(&opencl);
      opencl_works(&opencl);
      opencl_close(&opencl);
      opencl_works(&bystander);
    }
    if (round == 0)
      before = open_fds();
  }
  /* A thread of the driver may hold the last reference to a context for a short time. */
  for (int i = 0; i < MOMENTS && open_fds() > before; i++)
    usleep(1000);
  CHECK(open_fds() <= before);
  opencl_close(&bystander);
  return 0;
}
