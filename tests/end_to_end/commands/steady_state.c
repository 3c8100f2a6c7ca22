/* In the steady state, enqueueing a command makes no system call and no allocation, and a map
 * copies nothing. steady_state.sh runs this program in a system-call trace and counts the system
 * calls of this thread between the two getppid calls.
 */
#include "tests/end_to_end/opencl.h"

#include <unistd.h>

/* Number of allocations of the measured thread, or -1 outside the measurement. All libraries of
 * the process call these wrappers instead of the C library's functions. It is volatile because
 * strdup is declared not to call back. */
static _Thread_local volatile long allocations = -1;

#define COUNTED(type, name, underlying, parameters, arguments)                                     \
  type underlying parameters;                                                                      \
  type name parameters;                                                                            \
  type name parameters {                                                                           \
    if (allocations >= 0)                                                                          \
      allocations++;                                                                               \
    return underlying arguments;                                                                   \
  }

COUNTED(void *, malloc, __libc_malloc, (size_t size), (size))
COUNTED(void *, calloc, __libc_calloc, (size_t count, size_t size), (count, size))
COUNTED(void *, realloc, __libc_realloc, (void *old, size_t size), (old, size))
COUNTED(void *, aligned_alloc, __libc_memalign, (size_t alignment, size_t size), (alignment, size))

int main(void) {
  enum { LAUNCHES = 400, ITEMS = 1 << 14 };
  struct opencl opencl;
  opencl_open(&opencl);
  cl_int error;
  cl_kernel kernel = opencl_kernel(&opencl,
                                   "kernel void step(global uint *p) {\n"
                                   "  uint i = get_global_id(0);\n"
                                   "  p[i] = p[i] * 1664525 + 1013904223;\n"
                                   "}\n",
                                   "step");
  /* Keeps the device busy until the last command is enqueued, even if this thread is slow. */
  cl_kernel wait = opencl_kernel(
      &opencl, "kernel void wait(volatile global uint *open) { while (!*open); }\n", "wait");
  cl_uint *gate =
      clSVMAlloc(opencl.context, CL_MEM_READ_WRITE | CL_MEM_SVM_FINE_GRAIN_BUFFER, sizeof *gate, 0);
  CHECK(gate);
  *gate = 0;
  CHECK_CL(clSetKernelArgSVMPointer(wait, 0, gate), CL_SUCCESS);
  cl_mem buffer = clCreateBuffer(opencl.context, CL_MEM_READ_WRITE, ITEMS * 4, NULL, &error);
  CHECK_CL(error, CL_SUCCESS);
  cl_uint *mapped = clEnqueueMapBuffer(opencl.queue, buffer, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0,
                                       ITEMS * 4, 0, NULL, NULL, &error);
  CHECK_CL(error, CL_SUCCESS);
  memset(mapped, 0, ITEMS * 4);
  CHECK_CL(clEnqueueUnmapMemObject(opencl.queue, buffer, mapped, 0, NULL, NULL), CL_SUCCESS);
  CHECK_CL(clSetKernelArg(kernel, 0, sizeof buffer, &buffer), CL_SUCCESS);
  size_t global = ITEMS, local = 256, one = 1;
  static cl_event events[LAUNCHES];
  /* Warm up until pools have grown and the device is awake. */
  for (int i = 0; i < LAUNCHES; i++)
    CHECK_CL(
        clEnqueueNDRangeKernel(opencl.queue, kernel, 1, NULL, &global, &local, 0, NULL, &events[i]),
        CL_SUCCESS);
  CHECK_CL(clFinish(opencl.queue), CL_SUCCESS);
  for (int i = 0; i < LAUNCHES; i++)
    CHECK_CL(clReleaseEvent(events[i]), CL_SUCCESS);
  CHECK_CL(clEnqueueNDRangeKernel(opencl.queue, wait, 1, NULL, &one, &one, 0, NULL, NULL),
           CL_SUCCESS);

  allocations = 0;
  free(strdup("a library's allocation"));
  CHECK(allocations == 1);

  getppid();
  allocations = 0;
  for (int i = 0; i < LAUNCHES; i++)
    CHECK_CL(clEnqueueNDRangeKernel(opencl.queue, kernel, 1, NULL, &global, &local, 0, NULL,
                                    i % 2 ? &events[i] : NULL),
             CL_SUCCESS);
  long counted = allocations;
  allocations = -1;
  getppid();
  __atomic_store_n(gate, 1, __ATOMIC_SEQ_CST);

  printf("%d enqueues: %ld allocations\n", LAUNCHES, counted);
  CHECK(counted == 0);
  CHECK_CL(clFinish(opencl.queue), CL_SUCCESS);
  for (int i = 1; i < LAUNCHES; i += 2)
    CHECK_CL(clReleaseEvent(events[i]), CL_SUCCESS);

  /* The mapping has the same address again and shows a kernel's writes. */
  cl_uint *again = clEnqueueMapBuffer(opencl.queue, buffer, CL_TRUE, CL_MAP_READ, 0, ITEMS * 4, 0,
                                      NULL, NULL, &error);
  CHECK_CL(error, CL_SUCCESS);
  CHECK(again == mapped);
  cl_uint before = again[5];
  CHECK_CL(clEnqueueNDRangeKernel(opencl.queue, kernel, 1, NULL, &global, &local, 0, NULL, NULL),
           CL_SUCCESS);
  CHECK_CL(clFinish(opencl.queue), CL_SUCCESS);
  CHECK(again[5] == before * 1664525u + 1013904223u);
  CHECK_CL(clEnqueueUnmapMemObject(opencl.queue, buffer, again, 0, NULL, NULL), CL_SUCCESS);
  CHECK_CL(clReleaseMemObject(buffer), CL_SUCCESS);
  clSVMFree(opencl.context, gate);
  CHECK_CL(clReleaseKernel(wait), CL_SUCCESS);
  CHECK_CL(clReleaseKernel(kernel), CL_SUCCESS);
  opencl_close(&opencl);
  return 0;
}
