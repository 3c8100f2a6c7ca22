/* cl_intel_bfloat16_conversions: every bfloat16, and floats around each of them, in vectors of each
 * width. cl_intel_split_work_group_barrier: values that are written before the arrival are read by
 * other work-items after the wait.
 *
 *   intel_others SOURCE | MODULE      intel_others.cl, or its SPIR-V module
 */
#include <stdbool.h>

#include "tests/end_to_end/spirv/spirv.h"

enum { PATTERNS = 1 << 16, AROUND = 8, FLOATS = PATTERNS * AROUND, HALF_BITS = 16 };
/* A multiple of 2, 4, 8, 16 and 3. */
enum { COUNT = FLOATS / 48 * 48 };

static uint32_t floats[FLOATS];
static uint16_t bfloats[FLOATS];

static bool is_nan(uint32_t bits) {
  return (bits & 0x7fffffff) > 0x7f800000;
}

/* Rounds the bits of a float to bfloat16, ties to even. */
static uint16_t round_bits(uint32_t bits) {
  return (uint16_t)((bits + 0x7fff + (bits >> HALF_BITS & 1)) >> HALF_BITS);
}

/* The lower halves: exact, around the midpoint to the next bfloat16, and the last value before
 * it. */
static void make_floats(void) {
  static const uint16_t lower[AROUND] = {0, 1, 0x7fff, 0x8000, 0x8001, 0xffff, 0x4000, 0xc000};
  for (uint32_t i = 0; i < FLOATS; i++)
    floats[i] = (i / AROUND) << HALF_BITS | lower[i % AROUND];
}

static void run(const struct opencl *opencl, cl_program program, const char *name, size_t items,
                const cl_mem *mems) {
  cl_int error;
  cl_kernel kernel = clCreateKernel(program, name, &error);
  CHECK_CL(error, CL_SUCCESS);
  for (cl_uint i = 0; i < 2; i++)
    CHECK_CL(clSetKernelArg(kernel, i, sizeof *mems, &mems[i]), CL_SUCCESS);
  CHECK_CL(clEnqueueNDRangeKernel(opencl->queue, kernel, 1, NULL, &items, NULL, 0, NULL, NULL),
           CL_SUCCESS);
  CHECK_CL(clReleaseKernel(kernel), CL_SUCCESS);
}

static void check_conversions(const struct opencl *opencl, cl_program program, size_t lanes) {
  char name[32];
  cl_int error;
  cl_mem mems[] = {
      clCreateBuffer(opencl->context, CL_MEM_COPY_HOST_PTR, sizeof floats, floats, &error),
      clCreateBuffer(opencl->context, 0, sizeof bfloats, NULL, &error),
      clCreateBuffer(opencl->context, 0, sizeof floats, NULL, &error)};
  CHECK(mems[0] && mems[1] && mems[2]);
  static uint32_t back[FLOATS];
  snprintf(name, sizeof name, "to_bfloat16_%zu", lanes);
  run(opencl, program, name, COUNT / lanes, mems);
  snprintf(name, sizeof name, "to_float_%zu", lanes);
  run(opencl, program, name, COUNT / lanes, mems + 1);
  CHECK_CL(clEnqueueReadBuffer(opencl->queue, mems[1], CL_TRUE, 0, sizeof bfloats, bfloats, 0, NULL,
                               NULL),
           CL_SUCCESS);
  CHECK_CL(
      clEnqueueReadBuffer(opencl->queue, mems[2], CL_TRUE, 0, sizeof back, back, 0, NULL, NULL),
      CL_SUCCESS);
  for (size_t i = 0; i < COUNT; i++) {
    const bool good = is_nan(floats[i]) ? is_nan((uint32_t)bfloats[i] << HALF_BITS)
                                        : bfloats[i] == round_bits(floats[i]);
    if (good && back[i] == (uint32_t)bfloats[i] << HALF_BITS)
      continue;
    fprintf(stderr, "vectors of %zu: float 0x%08x is bfloat16 0x%04x, and that 0x%08x\n", lanes,
            floats[i], bfloats[i], back[i]);
    exit(1);
  }
  for (int i = 0; i < 3; i++)
    CHECK_CL(clReleaseMemObject(mems[i]), CL_SUCCESS);
}

static void check_barriers(const struct opencl *opencl, cl_program program) {
  enum { LOCAL = 256, GLOBAL = 4 * LOCAL, TURNS = 20 };
  const size_t local = LOCAL, global = GLOBAL;
  cl_int error;
  uint32_t x[LOCAL], next[LOCAL], got[GLOBAL];
  for (uint32_t i = 0; i < LOCAL; i++)
    x[i] = i;
  for (int turn = 0; turn < TURNS; turn++) {
    for (uint32_t i = 0; i < LOCAL; i++)
      next[i] = x[i] * x[i] + x[(i + 33) % LOCAL] + 3 * x[(i + 71) % LOCAL];
    memcpy(x, next, sizeof x);
  }
  cl_kernel kernel = clCreateKernel(program, "turns", &error);
  CHECK_CL(error, CL_SUCCESS);
  cl_mem far = clCreateBuffer(opencl->context, 0, sizeof got, NULL, &error);
  cl_mem out = clCreateBuffer(opencl->context, 0, sizeof got, NULL, &error);
  CHECK(far && out);
  CHECK_CL(clSetKernelArg(kernel, 0, sizeof x, NULL), CL_SUCCESS);
  CHECK_CL(clSetKernelArg(kernel, 1, sizeof far, &far), CL_SUCCESS);
  CHECK_CL(clSetKernelArg(kernel, 2, sizeof out, &out), CL_SUCCESS);
  CHECK_CL(clEnqueueNDRangeKernel(opencl->queue, kernel, 1, NULL, &global, &local, 0, NULL, NULL),
           CL_SUCCESS);
  CHECK_CL(clEnqueueReadBuffer(opencl->queue, out, CL_TRUE, 0, sizeof got, got, 0, NULL, NULL),
           CL_SUCCESS);
  for (size_t group = 0; group < GLOBAL; group += LOCAL)
    CHECK(!memcmp(got + group, x, sizeof x));
  CHECK_CL(clReleaseMemObject(far), CL_SUCCESS);
  CHECK_CL(clReleaseMemObject(out), CL_SUCCESS);
  CHECK_CL(clReleaseKernel(kernel), CL_SUCCESS);
}

int main(int argc, char **argv) {
  static const size_t widths[] = {1, 2, 3, 4, 8, 16};
  CHECK(argc == 2);
  struct opencl opencl;
  opencl_open(&opencl);
  struct module module = module_read(argv[1]);
  cl_program program = module_or_source(&opencl, &module);
  make_floats();
  for (size_t i = 0; i < sizeof widths / sizeof *widths; i++)
    check_conversions(&opencl, program, widths[i]);
  check_barriers(&opencl, program);
  CHECK_CL(clReleaseProgram(program), CL_SUCCESS);
  free(module.words);
  opencl_close(&opencl);
  return 0;
}
