/* A client that works until it is killed: contexts, builds of ever new sources, launches
 * with callbacks.
 */
#include <time.h>
#include <unistd.h>

#include "tests/road/road.h"

static void CL_CALLBACK ignore(cl_event event, cl_int status, void *data) {}

static void life(unsigned number) {
  enum { ITEMS = 4096 };
  char source[256];
  struct road road;
  const size_t items = ITEMS;
  cl_int error;
  snprintf(source, sizeof source,
           "kernel void k(global int *p) {"
           "  for (int i = 0; i < 1000; i++) p[get_global_id(0)] += i; } // %d.%u.%ld",
           (int)getpid(), number, (long)time(NULL));
  road_open(&road);
  cl_kernel kernel = road_kernel(&road, source, "k");
  cl_mem buffer = clCreateBuffer(road.context, 0, ITEMS * sizeof(cl_int), NULL, &error);
  CHECK_CL(error, CL_SUCCESS);
  CHECK_CL(clSetKernelArg(kernel, 0, sizeof buffer, &buffer), CL_SUCCESS);
  for (int i = 0; i < 4; i++) {
    cl_event event;
    CHECK_CL(clEnqueueNDRangeKernel(road.queue, kernel, 1, NULL, &items, NULL, 0, NULL, &event),
             CL_SUCCESS);
    CHECK_CL(clSetEventCallback(event, CL_COMPLETE, ignore, NULL), CL_SUCCESS);
    CHECK_CL(clReleaseEvent(event), CL_SUCCESS);
  }
  CHECK_CL(clFinish(road.queue), CL_SUCCESS);
  CHECK_CL(clReleaseMemObject(buffer), CL_SUCCESS);
  CHECK_CL(clReleaseKernel(kernel), CL_SUCCESS);
  road_close(&road);
}

int main(void) {
  for (unsigned i = 0;; i++)
    life(i);
}
