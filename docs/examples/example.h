/* Shared by the C examples of the user's guide: finds the device, builds a kernel, checks
 * errors. */
#ifndef EXAMPLE_H
#define EXAMPLE_H

#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct example {
  cl_device_id device;
  cl_context context;
  cl_command_queue queue;
  cl_program program;
};

static inline void check(cl_int code, const char *call) {
  if (code == CL_SUCCESS)
    return;
  fprintf(stderr, "%s: error %d\n", call, code);
  exit(1);
}

/* Returns the first GPU of the tegracl platform, which may be one of several platforms. */
static inline cl_device_id find_device(void) {
  cl_platform_id platforms[16];
  cl_uint count = 0;
  check(clGetPlatformIDs(16, platforms, &count), "clGetPlatformIDs");
  for (cl_uint i = 0; i < count && i < 16; i++) {
    char name[64] = "";
    cl_device_id device;
    clGetPlatformInfo(platforms[i], CL_PLATFORM_NAME, sizeof(name), name, NULL);
    if (!strcmp(name, "tegracl") &&
        clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_GPU, 1, &device, NULL) == CL_SUCCESS)
      return device;
  }
  fprintf(stderr, "no tegracl device found; run tegracl-doctor\n");
  exit(1);
}

static inline struct example example_open(const char *source) {
  struct example e = {.device = find_device()};
  cl_int code;
  e.context = clCreateContext(NULL, 1, &e.device, NULL, NULL, &code);
  check(code, "clCreateContext");
  e.queue = clCreateCommandQueueWithProperties(e.context, e.device, NULL, &code);
  check(code, "clCreateCommandQueueWithProperties");
  e.program = clCreateProgramWithSource(e.context, 1, &source, NULL, &code);
  check(code, "clCreateProgramWithSource");
  if (clBuildProgram(e.program, 1, &e.device, "", NULL, NULL) != CL_SUCCESS) {
    static char log[10000];
    clGetProgramBuildInfo(e.program, e.device, CL_PROGRAM_BUILD_LOG, sizeof(log), log, NULL);
    fprintf(stderr, "%s\n", log);
    exit(1);
  }
  return e;
}

static inline void example_close(struct example *e) {
  clReleaseProgram(e->program);
  clReleaseCommandQueue(e->queue);
  clReleaseContext(e->context);
}

/* If contents is NULL, the kernel writes the buffer. */
static inline cl_mem example_buffer(const struct example *e, size_t size, void *contents) {
  cl_int code;
  cl_mem buffer = clCreateBuffer(
      e->context, contents ? CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR : CL_MEM_WRITE_ONLY, size,
      contents, &code);
  check(code, "clCreateBuffer");
  return buffer;
}

static inline cl_kernel example_kernel(const struct example *e, const char *name) {
  cl_int code;
  cl_kernel kernel = clCreateKernel(e->program, name, &code);
  check(code, "clCreateKernel");
  return kernel;
}

static inline void example_run(const struct example *e, cl_kernel kernel, size_t items) {
  check(clEnqueueNDRangeKernel(e->queue, kernel, 1, NULL, &items, NULL, 0, NULL, NULL),
        "clEnqueueNDRangeKernel");
}

static inline void example_read(const struct example *e, cl_mem buffer, size_t size, void *to) {
  check(clEnqueueReadBuffer(e->queue, buffer, CL_TRUE, 0, size, to, 0, NULL, NULL),
        "clEnqueueReadBuffer");
}

#endif
