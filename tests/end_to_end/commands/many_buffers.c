/* Many small buffers and images in one context: more than the number of mappings that a process may
 * have.
 *
 *   many_buffers [COUNT]      so many of each; default: 40000
 *
 * The host writes a number to each, a kernel adds one to some of them, and all are read.
 */
#include "tests/end_to_end/opencl.h"

static const char source[] = "kernel void add_one(global uint *p) { *p += 1; }\n";

enum { EACH = 1000, SIDE = 4 };

int main(int words, char **word) {
  const cl_uint count = words > 1 ? (cl_uint)strtoul(word[1], NULL, 0) : 40000;
  const cl_image_format format = {CL_R, CL_UNSIGNED_INT32};
  const cl_image_desc desc = {
      .image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = SIDE, .image_height = SIDE};
  const size_t origin[3] = {0}, region[3] = {1, 1, 1}, one = 1;
  struct opencl opencl;
  cl_int error;
  unsetenv("TEGRACL_SUBALLOCATION"); /* with size 0 each of them would have its own mapping */
  opencl_open(&opencl);
  cl_kernel kernel = opencl_kernel(&opencl, source, "add_one");
  cl_mem *buffers = calloc(count, sizeof *buffers), *images = calloc(count, sizeof *images);
  CHECK(buffers && images);
  for (cl_uint i = 0; i < count; i++) {
    buffers[i] = clCreateBuffer(opencl.context, CL_MEM_READ_WRITE, sizeof i, NULL, &error);
    CHECK_CL(error, CL_SUCCESS);
    images[i] = clCreateImage(opencl.context, CL_MEM_READ_WRITE, &format, &desc, NULL, &error);
    CHECK_CL(error, CL_SUCCESS);
    CHECK_CL(
        clEnqueueWriteBuffer(opencl.queue, buffers[i], CL_TRUE, 0, sizeof i, &i, 0, NULL, NULL),
        CL_SUCCESS);
    CHECK_CL(clEnqueueWriteImage(opencl.queue, images[i], CL_TRUE, origin, region, 0, 0, &i, 0,
                                 NULL, NULL),
             CL_SUCCESS);
  }
  for (cl_uint i = 0; i < count; i += EACH) {
    CHECK_CL(clSetKernelArg(kernel, 0, sizeof buffers[i], &buffers[i]), CL_SUCCESS);
    CHECK_CL(clEnqueueNDRangeKernel(opencl.queue, kernel, 1, NULL, &one, NULL, 0, NULL, NULL),
             CL_SUCCESS);
  }
  CHECK_CL(clFinish(opencl.queue), CL_SUCCESS);
  for (cl_uint i = 0; i < count; i++) {
    cl_uint number = 0;
    CHECK_CL(clEnqueueReadBuffer(opencl.queue, buffers[i], CL_TRUE, 0, sizeof number, &number, 0,
                                 NULL, NULL),
             CL_SUCCESS);
    CHECK(number == i + (i % EACH == 0));
    CHECK_CL(clEnqueueReadImage(opencl.queue, images[i], CL_TRUE, origin, region, 0, 0, &number, 0,
                                NULL, NULL),
             CL_SUCCESS);
    CHECK(number == i);
    CHECK_CL(clReleaseMemObject(buffers[i]), CL_SUCCESS);
    CHECK_CL(clReleaseMemObject(images[i]), CL_SUCCESS);
  }
  free(buffers);
  free(images);
  CHECK_CL(clReleaseKernel(kernel), CL_SUCCESS);
  opencl_close(&opencl);
  return 0;
}
