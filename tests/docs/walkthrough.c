/* One buffer, one launch, one result: the program that docs/architecture.md follows. */
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>

static const char source[] =
    "kernel void square(global uint *x) { x[get_global_id(0)] *= x[get_global_id(0)]; }";

static void check(cl_int error, const char *call) {
  if (error) {
    fprintf(stderr, "%s: error %d\n", call, error);
    exit(1);
  }
}

int main(void) {
  enum { COUNT = 1 << 20, CHECKED = 1000 };
  cl_platform_id platform;
  cl_device_id device;
  cl_int error;
  check(clGetPlatformIDs(1, &platform, NULL), "clGetPlatformIDs");
  check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_GPU, 1, &device, NULL), "clGetDeviceIDs");
  cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
  check(error, "clCreateContext");
  cl_command_queue queue = clCreateCommandQueueWithProperties(context, device, NULL, &error);
  check(error, "clCreateCommandQueueWithProperties");
  cl_program program = clCreateProgramWithSource(context, 1, &(const char *){source}, NULL, &error);
  check(error, "clCreateProgramWithSource");
  check(clBuildProgram(program, 1, &device, "", NULL, NULL), "clBuildProgram");
  cl_kernel kernel = clCreateKernel(program, "square", &error);
  check(error, "clCreateKernel");
  cl_mem buffer = clCreateBuffer(context, 0, COUNT * sizeof(cl_uint), NULL, &error);
  check(error, "clCreateBuffer");

  cl_uint numbers[CHECKED];
  for (cl_uint i = 0; i < CHECKED; i++)
    numbers[i] = i;
  check(clEnqueueWriteBuffer(queue, buffer, CL_TRUE, 0, sizeof(numbers), numbers, 0, NULL, NULL),
        "clEnqueueWriteBuffer");
  check(clSetKernelArg(kernel, 0, sizeof(buffer), &buffer), "clSetKernelArg");
  check(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &(size_t){CHECKED}, NULL, 0, NULL, NULL),
        "clEnqueueNDRangeKernel");
  check(clFinish(queue), "clFinish");
  check(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, sizeof(numbers), numbers, 0, NULL, NULL),
        "clEnqueueReadBuffer");
  for (cl_uint i = 0; i < CHECKED; i++)
    if (numbers[i] != i * i) {
      fprintf(stderr, "the square of %u is not %u\n", i, numbers[i]);
      return 1;
    }

  clReleaseMemObject(buffer);
  clReleaseKernel(kernel);
  clReleaseProgram(program);
  clReleaseCommandQueue(queue);
  clReleaseContext(context);
  return 0;
}
