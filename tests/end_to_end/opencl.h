/* Helpers for the end-to-end tests, which use a tegracl device through the loader. Every helper
 * ends the test with a message if a call fails.
 */
#ifndef TEGRACL_TEST_OPENCL_H
#define TEGRACL_TEST_OPENCL_H

#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                                           \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                      \
      exit(1);                                                                                     \
    }                                                                                              \
  } while (0)

#define CHECK_CL(call, expected)                                                                   \
  do {                                                                                             \
    cl_int got_ = (call);                                                                          \
    if (got_ != (expected)) {                                                                      \
      fprintf(stderr, "%s:%d: %s gives %d instead of %d\n", __FILE__, __LINE__, #call, got_,       \
              (cl_int)(expected));                                                                 \
      exit(1);                                                                                     \
    }                                                                                              \
  } while (0)

struct opencl {
  cl_platform_id platform;
  cl_device_id device;
  cl_context context;
  cl_command_queue queue;
};

/* notify is the context's callback for error messages, or NULL. */
static inline void opencl_open_with_notify(struct opencl *opencl,
                                           void(CL_CALLBACK *notify)(const char *, const void *,
                                                                     size_t, void *)) {
  cl_int error;
  char name[64];
  CHECK_CL(clGetPlatformIDs(1, &opencl->platform, NULL), CL_SUCCESS);
  CHECK_CL(clGetPlatformInfo(opencl->platform, CL_PLATFORM_NAME, sizeof name, name, NULL),
           CL_SUCCESS);
  CHECK(!strcmp(name, "tegracl"));
  CHECK_CL(clGetDeviceIDs(opencl->platform, CL_DEVICE_TYPE_GPU, 1, &opencl->device, NULL),
           CL_SUCCESS);
  opencl->context = clCreateContext(NULL, 1, &opencl->device, notify, NULL, &error);
  CHECK_CL(error, CL_SUCCESS);
  const cl_queue_properties properties[] = {CL_QUEUE_PROPERTIES, CL_QUEUE_PROFILING_ENABLE, 0};
  opencl->queue =
      clCreateCommandQueueWithProperties(opencl->context, opencl->device, properties, &error);
  CHECK_CL(error, CL_SUCCESS);
}

static inline void opencl_open(struct opencl *opencl) {
  opencl_open_with_notify(opencl, NULL);
}

static inline void opencl_close(struct opencl *opencl) {
  CHECK_CL(clReleaseCommandQueue(opencl->queue), CL_SUCCESS);
  CHECK_CL(clReleaseContext(opencl->context), CL_SUCCESS);
}

static inline cl_program opencl_program(const struct opencl *opencl, const char *source) {
  cl_int error;
  cl_program program = clCreateProgramWithSource(opencl->context, 1, &source, NULL, &error);
  CHECK_CL(error, CL_SUCCESS);
  return program;
}

static inline cl_kernel opencl_kernel(const struct opencl *opencl, const char *source,
                                      const char *name) {
  cl_int error;
  cl_program program = opencl_program(opencl, source);
  error = clBuildProgram(program, 1, &opencl->device, "", NULL, NULL);
  if (error != CL_SUCCESS) {
    static char log[16384];
    clGetProgramBuildInfo(program, opencl->device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL);
    fprintf(stderr, "%s\n", log);
  }
  CHECK_CL(error, CL_SUCCESS);
  cl_kernel kernel = clCreateKernel(program, name, &error);
  CHECK_CL(error, CL_SUCCESS);
  CHECK_CL(clReleaseProgram(program), CL_SUCCESS);
  return kernel;
}

/* Checks that the context works: a thousand work-items add one each. */
static inline void opencl_works(const struct opencl *opencl) {
  const size_t many = 1000;
  cl_int error, value = 0;
  cl_kernel kernel =
      opencl_kernel(opencl, "kernel void count(global int *p) { atomic_inc(p); }", "count");
  cl_mem buffer =
      clCreateBuffer(opencl->context, CL_MEM_COPY_HOST_PTR, sizeof value, &value, &error);
  CHECK_CL(error, CL_SUCCESS);
  CHECK_CL(clSetKernelArg(kernel, 0, sizeof buffer, &buffer), CL_SUCCESS);
  CHECK_CL(clEnqueueNDRangeKernel(opencl->queue, kernel, 1, NULL, &many, NULL, 0, NULL, NULL),
           CL_SUCCESS);
  CHECK_CL(
      clEnqueueReadBuffer(opencl->queue, buffer, CL_TRUE, 0, sizeof value, &value, 0, NULL, NULL),
      CL_SUCCESS);
  CHECK(value == 1000);
  CHECK_CL(clReleaseMemObject(buffer), CL_SUCCESS);
  CHECK_CL(clReleaseKernel(kernel), CL_SUCCESS);
}

/* Runs the kernel with one work-item on a buffer with the data, and releases the program. */
static inline void opencl_once(const struct opencl *opencl, cl_program program, const char *name,
                               void *data, size_t size) {
  const size_t one = 1;
  cl_int error;
  cl_kernel kernel = clCreateKernel(program, name, &error);
  CHECK_CL(error, CL_SUCCESS);
  cl_mem buffer = clCreateBuffer(opencl->context, CL_MEM_COPY_HOST_PTR, size, data, &error);
  CHECK_CL(error, CL_SUCCESS);
  CHECK_CL(clSetKernelArg(kernel, 0, sizeof buffer, &buffer), CL_SUCCESS);
  CHECK_CL(clEnqueueNDRangeKernel(opencl->queue, kernel, 1, NULL, &one, NULL, 0, NULL, NULL),
           CL_SUCCESS);
  CHECK_CL(clEnqueueReadBuffer(opencl->queue, buffer, CL_TRUE, 0, size, data, 0, NULL, NULL),
           CL_SUCCESS);
  CHECK_CL(clReleaseMemObject(buffer), CL_SUCCESS);
  CHECK_CL(clReleaseKernel(kernel), CL_SUCCESS);
  CHECK_CL(clReleaseProgram(program), CL_SUCCESS);
}

/* Returns the binary of a program, of *size bytes. The caller frees it. */
static inline unsigned char *opencl_binary_of(cl_program program, size_t *size) {
  CHECK_CL(clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof *size, size, NULL),
           CL_SUCCESS);
  unsigned char *binary = malloc(*size);
  CHECK(binary);
  CHECK_CL(clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof binary, &binary, NULL),
           CL_SUCCESS);
  return binary;
}

/* Builds a source and returns its program binary, of *size bytes. The caller frees it. */
static inline unsigned char *opencl_binary_with(const struct opencl *opencl, const char *source,
                                                const char *options, size_t *size) {
  cl_program program = opencl_program(opencl, source);
  CHECK_CL(clBuildProgram(program, 1, &opencl->device, options, NULL, NULL), CL_SUCCESS);
  unsigned char *binary = opencl_binary_of(program, size);
  CHECK_CL(clReleaseProgram(program), CL_SUCCESS);
  return binary;
}

static inline unsigned char *opencl_binary(const struct opencl *opencl, const char *source,
                                           size_t *size) {
  return opencl_binary_with(opencl, source, "", size);
}

#endif
