/* What the end-to-end tests share: a tegracl device through the loader. Every
 * helper ends the test with a message when a call fails.
 */
#ifndef TEGRACL_ROAD_H
#define TEGRACL_ROAD_H

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

struct road {
  cl_platform_id platform;
  cl_device_id device;
  cl_context context;
  cl_command_queue queue;
};

/* notify: whom the context tells of errors, in words; NULL: no callback. */
static inline void road_open_told(struct road *road,
                                  void(CL_CALLBACK *notify)(const char *, const void *, size_t,
                                                            void *)) {
  cl_int error;
  char name[64];
  CHECK_CL(clGetPlatformIDs(1, &road->platform, NULL), CL_SUCCESS);
  CHECK_CL(clGetPlatformInfo(road->platform, CL_PLATFORM_NAME, sizeof name, name, NULL),
           CL_SUCCESS);
  CHECK(!strcmp(name, "tegracl"));
  CHECK_CL(clGetDeviceIDs(road->platform, CL_DEVICE_TYPE_GPU, 1, &road->device, NULL), CL_SUCCESS);
  road->context = clCreateContext(NULL, 1, &road->device, notify, NULL, &error);
  CHECK_CL(error, CL_SUCCESS);
  const cl_queue_properties properties[] = {CL_QUEUE_PROPERTIES, CL_QUEUE_PROFILING_ENABLE, 0};
  road->queue = clCreateCommandQueueWithProperties(road->context, road->device, properties, &error);
  CHECK_CL(error, CL_SUCCESS);
}

static inline void road_open(struct road *road) {
  road_open_told(road, NULL);
}

static inline void road_close(struct road *road) {
  CHECK_CL(clReleaseCommandQueue(road->queue), CL_SUCCESS);
  CHECK_CL(clReleaseContext(road->context), CL_SUCCESS);
}

static inline cl_program road_program(const struct road *road, const char *source) {
  cl_int error;
  cl_program program = clCreateProgramWithSource(road->context, 1, &source, NULL, &error);
  CHECK_CL(error, CL_SUCCESS);
  return program;
}

static inline cl_kernel road_kernel(const struct road *road, const char *source, const char *name) {
  cl_int error;
  cl_program program = road_program(road, source);
  error = clBuildProgram(program, 1, &road->device, "", NULL, NULL);
  if (error != CL_SUCCESS) {
    static char log[16384];
    clGetProgramBuildInfo(program, road->device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL);
    fprintf(stderr, "%s\n", log);
  }
  CHECK_CL(error, CL_SUCCESS);
  cl_kernel kernel = clCreateKernel(program, name, &error);
  CHECK_CL(error, CL_SUCCESS);
  CHECK_CL(clReleaseProgram(program), CL_SUCCESS);
  return kernel;
}

/* Lets one work-item of the kernel work on a buffer with the data, and releases the program. */
static inline void road_once(const struct road *road, cl_program program, const char *name,
                             void *data, size_t size) {
  const size_t one = 1;
  cl_int error;
  cl_kernel kernel = clCreateKernel(program, name, &error);
  CHECK_CL(error, CL_SUCCESS);
  cl_mem buffer = clCreateBuffer(road->context, CL_MEM_COPY_HOST_PTR, size, data, &error);
  CHECK_CL(error, CL_SUCCESS);
  CHECK_CL(clSetKernelArg(kernel, 0, sizeof buffer, &buffer), CL_SUCCESS);
  CHECK_CL(clEnqueueNDRangeKernel(road->queue, kernel, 1, NULL, &one, NULL, 0, NULL, NULL),
           CL_SUCCESS);
  CHECK_CL(clEnqueueReadBuffer(road->queue, buffer, CL_TRUE, 0, size, data, 0, NULL, NULL),
           CL_SUCCESS);
  CHECK_CL(clReleaseMemObject(buffer), CL_SUCCESS);
  CHECK_CL(clReleaseKernel(kernel), CL_SUCCESS);
  CHECK_CL(clReleaseProgram(program), CL_SUCCESS);
}

/* The program binary that a source becomes; *size bytes, freed by the caller. */
static inline unsigned char *road_binary_with(const struct road *road, const char *source,
                                              const char *options, size_t *size) {
  cl_program program = road_program(road, source);
  CHECK_CL(clBuildProgram(program, 1, &road->device, options, NULL, NULL), CL_SUCCESS);
  CHECK_CL(clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof *size, size, NULL),
           CL_SUCCESS);
  unsigned char *binary = malloc(*size);
  CHECK(binary);
  CHECK_CL(clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof binary, &binary, NULL),
           CL_SUCCESS);
  CHECK_CL(clReleaseProgram(program), CL_SUCCESS);
  return binary;
}

static inline unsigned char *road_binary(const struct road *road, const char *source,
                                         size_t *size) {
  return road_binary_with(road, source, "", size);
}

#endif
