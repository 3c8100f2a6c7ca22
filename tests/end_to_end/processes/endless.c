/* A client that works until it is killed: it creates contexts, builds new sources, and launches
 * kernels with callbacks.
 */
#include <time.h>
#include <unistd.h>

#include "tests/end_to_end/opencl.h"

static void CL_CALLBACK ignore(cl_event event, cl_int status, void *data) {}

static void lifecycle(unsigned number) {
  enum { ITEMS = 4096 };
  char source[256];
  struct opencl opencl;
  const size_t items = ITEMS;
  cl_int error;
  snprintf(source, sizeof source,
           "kernel void k(global int *p) {"
           "  for (int i = 0; i < 1000; i++) p[get_global_id(0)] += i; } // %d.%u.%ld",
           (int)getpid(), number, (long)time(NULL));
  opencl_open(&opencl);
  cl_kernel kernel = opencl_kernel(&opencl, source, "k");
  cl_mem buffer = clCreateBuffer(opencl.context, 0, ITEMS * sizeof(cl_int), NULL, &error);
  CHECK_CL(error, CL_SUCCESS);
  CHECK_CL(clSetKernelArg(kernel, 0, sizeof buffer, &buffer), CL_SUCCESS);
  for (int i = 0; i < 4; i++) {
    cl_event event;
    CHECK_CL(clEnqueueNDRangeKernel(opencl.queue, kernel, 1, NULL, &items, NULL, 0, NULL, &event),
             CL_SUCCESS);
    CHECK_CL(clSetEventCallback(event, CL_COMPLETE, ignore, NULL), CL_SUCCESS);
    CHECK_CL(clReleaseEvent(event), CL_SUCCESS);
  }
  CHECK_CL(clFinish(opencl.queue), CL_SUCCESS);
  CHECK_CL(clReleaseMemObject(buffer), CL_SUCCESS);
  CHECK_CL(clReleaseKernel(kernel), CL_SUCCESS);
  opencl_close(&opencl);
}

int main(void) {
  for (unsigned i = 0;; i++)
    lifecycle(i);
}
