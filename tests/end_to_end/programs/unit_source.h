/* A program in which each kernel is large enough for its own unit, and the expected results. */
#ifndef TEGRACL_TEST_UNIT_SOURCE_H
#define TEGRACL_TEST_UNIT_SOURCE_H

#include <stdint.h>

#include "tests/end_to_end/opencl.h"

enum { KERNELS = 4, COUNT = 64, STEPS = 170, SOURCE_BYTES = 1 << 16 };

static char source[SOURCE_BYTES];
static size_t source_size;

__attribute__((format(printf, 1, 2))) static inline void add(const char *format, ...) {
  va_list values;
  va_start(values, format);
  source_size +=
      (size_t)vsnprintf(source + source_size, SOURCE_BYTES - source_size, format, values);
  va_end(values);
  CHECK(source_size < SOURCE_BYTES);
}

static const char common[] =
    "constant uint table[4] = {3, 5, 7, 11};\n"
    "uint shared_by_all(uint x, uint n) { return x * table[n & 3] + n; }\n";

/* Adds a kernel that computes expected(k, constant, ...). */
static inline void add_kernel(const char *name, int k, unsigned constant) {
  add("kernel void %s(global uint *out, local uint *l) {\n"
      "  uint i = get_global_id(0), x = i + %uu;\n"
      "  local uint fixed[64];\n",
      name, constant);
  for (int s = 0; s < STEPS; s++)
    add("  x = (x << %d | x >> %d) ^ (x * %uu); x += %uu;\n", s % 31 + 1, 31 - s % 31,
        2654435761u + 2 * (unsigned)(s * k), 40503u * (unsigned)s);
  add("  fixed[get_local_id(0)] = shared_by_all(x, %du);\n"
      "  l[get_local_id(0)] = fixed[get_local_id(0)] + 1u;\n"
      "  barrier(CLK_LOCAL_MEM_FENCE);\n"
      "  out[i] = l[get_local_size(0) - 1 - get_local_id(0)];\n"
      "  if (i == 0) printf(\"kernel %d\\n\");\n"
      "}\n",
      k, k);
}

/* Writes the source. Kernel number changed gets another constant. */
static inline void make_source(const char *front, int changed) {
  source_size = 0;
  add("%s%s", front, common);
  for (int k = 0; k < KERNELS; k++) {
    char name[16];
    snprintf(name, sizeof name, "k%d", k);
    add_kernel(name, k, k == changed ? 1000u : (unsigned)k);
  }
}

static inline uint32_t expected(int k, uint32_t constant, uint32_t i) {
  static const uint32_t table[4] = {3, 5, 7, 11};
  uint32_t x = i + constant;
  for (int s = 0; s < STEPS; s++) {
    const int left = s % 31 + 1;
    x = (x << left | x >> (32 - left)) ^ (x * (2654435761u + 2 * (uint32_t)(s * k)));
    x += 40503u * (uint32_t)s;
  }
  return x * table[k & 3] + (uint32_t)k + 1;
}

/* Runs the kernel and checks its results. */
static inline void run_kernel(const struct opencl *opencl, cl_command_queue queue, cl_kernel kernel,
                              int k, uint32_t constant) {
  enum { GROUP = 32 };
  const size_t global = COUNT, local = GROUP;
  cl_int error;
  uint32_t out[COUNT];
  cl_mem memory = clCreateBuffer(opencl->context, CL_MEM_READ_WRITE, sizeof out, NULL, &error);
  CHECK_CL(error, CL_SUCCESS);
  CHECK_CL(clSetKernelArg(kernel, 0, sizeof memory, &memory), CL_SUCCESS);
  CHECK_CL(clSetKernelArg(kernel, 1, GROUP * sizeof(cl_uint), NULL), CL_SUCCESS);
  CHECK_CL(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, &local, 0, NULL, NULL),
           CL_SUCCESS);
  CHECK_CL(clEnqueueReadBuffer(queue, memory, CL_TRUE, 0, sizeof out, out, 0, NULL, NULL),
           CL_SUCCESS);
  for (uint32_t i = 0; i < COUNT; i++)
    CHECK(out[i / GROUP * GROUP + (GROUP - 1 - i % GROUP)] == expected(k, constant, i));
  CHECK_CL(clReleaseMemObject(memory), CL_SUCCESS);
}

/* Runs the kernels of make_source one after another. */
static inline void run(const struct opencl *opencl, cl_program program, int changed) {
  for (int k = 0; k < KERNELS; k++) {
    char name[16];
    cl_int error;
    snprintf(name, sizeof name, "k%d", k);
    cl_kernel kernel = clCreateKernel(program, name, &error);
    CHECK_CL(error, CL_SUCCESS);
    run_kernel(opencl, opencl->queue, kernel, k, k == changed ? 1000 : (uint32_t)k);
    CHECK_CL(clReleaseKernel(kernel), CL_SUCCESS);
  }
}

#endif
