/* A first program: adds two vectors on the first GPU of the platform tegracl.
 *   cc first.c -o first -lOpenCL
 */
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 1000000, PLATFORMS = 16 };

static const char *source =
    "kernel void add(global const float *a, global const float *b, global float *sum) {\n"
    "  size_t i = get_global_id(0);\n"
    "  sum[i] = a[i] + b[i];\n"
    "}\n";

static void check(cl_int code, const char *what) {
  if (code == CL_SUCCESS)
    return;
  fprintf(stderr, "%s: error %d\n", what, code);
  exit(1);
}

static cl_device_id find_device(void) {
  cl_platform_id platforms[PLATFORMS];
  cl_uint count;
  check(clGetPlatformIDs(PLATFORMS, platforms, &count), "clGetPlatformIDs");
  for (cl_uint i = 0; i < count && i < PLATFORMS; i++) {
    char name[64] = "";
    cl_device_id device;
    clGetPlatformInfo(platforms[i], CL_PLATFORM_NAME, sizeof name, name, NULL);
    if (!strcmp(name, "tegracl") &&
        clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_GPU, 1, &device, NULL) == CL_SUCCESS)
      return device;
  }
  fprintf(stderr, "no tegracl device found; run tegracl-doctor\n");
  exit(1);
}

int main(void) {
  static float a[N], b[N], sum[N];
  for (int i = 0; i < N; i++) {
    a[i] = (float)i;
    b[i] = 2 * (float)i;
  }
  cl_int code;
  char name[128];
  cl_device_id device = find_device();
  check(clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof name, name, NULL), "clGetDeviceInfo");
  cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
  check(code, "clCreateContext");
  cl_command_queue queue = clCreateCommandQueueWithProperties(context, device, NULL, &code);
  check(code, "clCreateCommandQueueWithProperties");
  cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, &code);
  check(code, "clCreateProgramWithSource");
  if (clBuildProgram(program, 1, &device, "", NULL, NULL) != CL_SUCCESS) {
    static char log[10000];
    clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL);
    fprintf(stderr, "%s\n", log);
    return 1;
  }
  cl_kernel kernel = clCreateKernel(program, "add", &code);
  check(code, "clCreateKernel");

  cl_mem buffers[3];
  float *contents[] = {a, b, NULL};
  for (cl_uint i = 0; i < 3; i++) {
    cl_mem_flags flags = contents[i] ? CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR : CL_MEM_WRITE_ONLY;
    buffers[i] = clCreateBuffer(context, flags, sizeof a, contents[i], &code);
    check(code, "clCreateBuffer");
    check(clSetKernelArg(kernel, i, sizeof(cl_mem), &buffers[i]), "clSetKernelArg");
  }
  size_t size = N;
  check(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &size, NULL, 0, NULL, NULL),
        "clEnqueueNDRangeKernel");
  check(clEnqueueReadBuffer(queue, buffers[2], CL_TRUE, 0, sizeof sum, sum, 0, NULL, NULL),
        "clEnqueueReadBuffer");

  int wrong = 0;
  for (int i = 0; i < N; i++)
    wrong += sum[i] != a[i] + b[i];
  printf("%s: %d of %d sums are wrong\n", name, wrong, N);
  for (int i = 0; i < 3; i++)
    clReleaseMemObject(buffers[i]);
  clReleaseKernel(kernel);
  clReleaseProgram(program);
  clReleaseCommandQueue(queue);
  clReleaseContext(context);
  return wrong != 0;
}
