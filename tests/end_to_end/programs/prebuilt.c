/* Prebuilt kernels: the offline compiler writes a program binary, and OpenCL loads it without a
 * compiler. A bare CUBIN, which lacks the kernels' arguments, is refused. In a cross build the
 * compiler is that of the build machine.
 *
 *   prebuilt TEGRACLC SOURCE.cl
 */
#include "tests/end_to_end/programs/offline.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

enum { COUNT = 4096, GROUP = 128 };

static cl_mem buffer(const struct opencl *opencl, size_t bytes, void *from) {
  cl_int error;
  cl_mem memory = clCreateBuffer(
      opencl->context, CL_MEM_READ_WRITE | (from ? CL_MEM_COPY_HOST_PTR : 0), bytes, from, &error);
  CHECK_CL(error, CL_SUCCESS);
  return memory;
}

static cl_kernel kernel_with(cl_program program, const char *name, cl_mem a, cl_mem b) {
  cl_int error;
  cl_kernel kernel = clCreateKernel(program, name, &error);
  CHECK_CL(error, CL_SUCCESS);
  CHECK_CL(clSetKernelArg(kernel, 0, sizeof a, &a), CL_SUCCESS);
  CHECK_CL(clSetKernelArg(kernel, 1, sizeof b, &b), CL_SUCCESS);
  return kernel;
}

/* Runs the kernel, reads the memory and releases both. */
static void run(const struct opencl *opencl, cl_kernel kernel, cl_mem memory, size_t bytes,
                void *to) {
  size_t global = COUNT, local = GROUP;
  CHECK_CL(clEnqueueNDRangeKernel(opencl->queue, kernel, 1, NULL, &global, &local, 0, NULL, NULL),
           CL_SUCCESS);
  CHECK_CL(clEnqueueReadBuffer(opencl->queue, memory, CL_TRUE, 0, bytes, to, 0, NULL, NULL),
           CL_SUCCESS);
  CHECK_CL(clReleaseKernel(kernel), CL_SUCCESS);
  CHECK_CL(clReleaseMemObject(memory), CL_SUCCESS);
}

static uint32_t mixed(uint32_t in, uint32_t factor) {
  uint32_t x = in * factor;
  uint32_t low = (x & 0xffffff) * 5 + 3;
  if (x & 1)
    return (x << 7 | x >> 25) ^ low;
  return (uint32_t)__builtin_popcount(x) + (uint32_t)((uint64_t)x * 0x9e3779b9u >> 32);
}

static void integers(const struct opencl *opencl, cl_program program) {
  uint32_t in[COUNT], out[COUNT];
  const cl_uint factor = 2654435761u;
  for (uint32_t i = 0; i < COUNT; i++)
    in[i] = i;
  cl_mem a = buffer(opencl, sizeof in, in), b = buffer(opencl, sizeof out, NULL);
  cl_kernel kernel = kernel_with(program, "mix", a, b);
  CHECK_CL(clSetKernelArg(kernel, 2, sizeof factor, &factor), CL_SUCCESS);
  run(opencl, kernel, b, sizeof out, out);
  for (uint32_t i = 0; i < COUNT; i++)
    CHECK(out[i] == mixed(i, factor));
  CHECK_CL(clReleaseMemObject(a), CL_SUCCESS);
}

/* Doubles must be exact, and floats within OpenCL's bounds for their division and square root. */
static void floats(const struct opencl *opencl, cl_program program) {
  float in[COUNT], out[COUNT];
  double wide[COUNT];
  for (int i = 0; i < COUNT; i++)
    in[i] = (float)(i - COUNT / 2) * 0.37f;
  cl_mem a = buffer(opencl, sizeof in, in), b = buffer(opencl, sizeof out, NULL),
         c = buffer(opencl, sizeof wide, NULL);
  cl_kernel kernel = kernel_with(program, "arithmetic", a, b);
  CHECK_CL(clSetKernelArg(kernel, 2, sizeof c, &c), CL_SUCCESS);
  run(opencl, kernel, c, sizeof wide, wide);
  CHECK_CL(clEnqueueReadBuffer(opencl->queue, b, CL_TRUE, 0, sizeof out, out, 0, NULL, NULL),
           CL_SUCCESS);
  for (int i = 0; i < COUNT; i++) {
    double exact = ((double)in[i] * in[i] - 1) / 3 + sqrt(fabs((double)in[i]));
    CHECK(fabs(out[i] - exact) <= 0x1p-21 * fabs(exact) + 0x1p-21);
    CHECK(wide[i] == fma(in[i], 1.0 / 3.0, -0.125) / 7.0);
  }
  CHECK_CL(clReleaseMemObject(a), CL_SUCCESS);
  CHECK_CL(clReleaseMemObject(b), CL_SUCCESS);
}

static void sum(const struct opencl *opencl, cl_program program) {
  uint32_t in[COUNT], out = 0, expected = 0;
  for (uint32_t i = 0; i < COUNT; i++)
    expected += in[i] = i * i + 7;
  cl_mem a = buffer(opencl, sizeof in, in), b = buffer(opencl, sizeof out, &out);
  cl_kernel kernel = kernel_with(program, "total", a, b);
  CHECK_CL(clSetKernelArg(kernel, 2, GROUP * sizeof(cl_uint), NULL), CL_SUCCESS);
  run(opencl, kernel, b, sizeof out, &out);
  CHECK(out == expected);
  CHECK_CL(clReleaseMemObject(a), CL_SUCCESS);
}

static char said[512]; /* the last message of the context's callback */

static void CL_CALLBACK listen(const char *words, const void *info, size_t size, void *data) {
  (void)info, (void)size, (void)data;
  snprintf(said, sizeof said, "%s", words);
}

static void refused(const struct opencl *opencl, const unsigned char *cubin, size_t size) {
  cl_int error;
  CHECK(
      !clCreateProgramWithBinary(opencl->context, 1, &opencl->device, &size, &cubin, NULL, &error));
  CHECK_CL(error, CL_INVALID_BINARY);
  CHECK(strstr(said, "tegraclc --emit bin"));
}

int main(int argc, char **argv) {
  CHECK(argc == 3);
  size_t size, cubin_size;
  unsigned char *binary = offline_compile(argv[1], "bin", argv[2], &size);
  unsigned char *cubin = offline_compile(argv[1], "cubin", argv[2], &cubin_size);
  /* No compiler is available any more. */
  setenv("TEGRACL_COMPILER", "/nonexistent", 1);
  struct opencl opencl;
  opencl_open_with_notify(&opencl, listen);
  refused(&opencl, cubin, cubin_size);
  cl_int status, error;
  const unsigned char *binaries[] = {binary};
  cl_program program = clCreateProgramWithBinary(opencl.context, 1, &opencl.device, &size, binaries,
                                                 &status, &error);
  CHECK_CL(error, CL_SUCCESS);
  CHECK_CL(status, CL_SUCCESS);
  CHECK_CL(clBuildProgram(program, 1, &opencl.device, "", NULL, NULL), CL_SUCCESS);
  integers(&opencl, program);
  floats(&opencl, program);
  sum(&opencl, program);
  CHECK_CL(clReleaseProgram(program), CL_SUCCESS);
  opencl_close(&opencl);
  free(binary);
  free(cubin);
  return 0;
}
