/* Work-group collective functions of OpenCL C 3.0 in every type, in work-groups of one warp and of
 * many, complete and partial, with up to three dimensions, compared with the host's arithmetic.
 */
#include <stdbool.h>

#include "tests/end_to_end/opencl.h"

enum { GROUPS = 3, GROUP_MAX = 1024, RESULTS = 13 };

/* A kernel for one type. The input has small numbers, so that sums of floats are exact. */
static const char source[] =
    "#define EACH(f) \\\n"
    "  f(reduce_add) f(reduce_min) f(reduce_max) f(scan_inclusive_add) f(scan_inclusive_min) \\\n"
    "  f(scan_inclusive_max) f(scan_exclusive_add) f(scan_exclusive_min) f(scan_exclusive_max)\n"
    "#define CALL(name) out[i++ * count + item] = work_group_##name(x);\n"
    "kernel void k(global const T *in, global T *out, uint count, uint dimensions) {\n"
    "  const size_t group = get_local_size(0) * get_local_size(1) * get_local_size(2);\n"
    "  const size_t number = (get_group_id(2) * get_num_groups(1) + get_group_id(1)) *\n"
    "                        get_num_groups(0) + get_group_id(0);\n"
    "  const size_t item = number * group + get_local_linear_id();\n"
    "  const T x = in[item];\n"
    "  uint i = 0;\n"
    "  EACH(CALL)\n"
    "  out[i++ * count + item] = work_group_all(x > (T)0) != 0;\n"
    "  out[i++ * count + item] = work_group_any(x < (T)0) != 0;\n"
    "  const size_t a = get_local_size(0) - 1, b = get_local_size(1) / 2, c = 0;\n"
    "  out[i++ * count + item] = dimensions == 1   ? work_group_broadcast(x, a)\n"
    "                            : dimensions == 2 ? work_group_broadcast(x, a, b)\n"
    "                                              : work_group_broadcast(x, a, b, c);\n"
    "  for (int again = 0; again < 2; again++)\n" /* reuses the memory between warps */
    "    out[i * count + item] = work_group_reduce_add(x) + work_group_broadcast(x, a, b, c);\n"
    "}\n";

static const struct {
  const char *name;
  size_t bytes;
  double lowest, highest; /* identities of max and min */
} types[] = {
    {"int", 4, -0x1p31, 0x1p31 - 1},
    {"uint", 4, 0, 0x1p32 - 1},
    {"long", 8, -0x1p63, 0x1p63},
    {"ulong", 8, 0, 0x1p64},
    {"float", 4, -__builtin_inf(), __builtin_inf()},
    {"double", 8, -__builtin_inf(), __builtin_inf()},
};

static const struct {
  cl_uint dimensions;
  size_t local[3];
} shapes[] = {{1, {1, 1, 1}},  {1, {5, 1, 1}},   {1, {32, 1, 1}}, {1, {33, 1, 1}}, {1, {256, 1, 1}},
              {2, {7, 11, 1}}, {2, {32, 32, 1}}, {3, {3, 5, 7}},  {3, {4, 2, 60}}};

static double read_number(size_t type, const void *values, size_t i) {
  switch (types[type].name[0]) {
  case 'i':
    return ((const cl_int *)values)[i];
  case 'u':
    return types[type].bytes == 4 ? ((const cl_uint *)values)[i]
                                  : (double)((const cl_ulong *)values)[i];
  case 'l':
    return (double)((const cl_long *)values)[i];
  case 'f':
    return ((const cl_float *)values)[i];
  default:
    return ((const cl_double *)values)[i];
  }
}

static void write_number(size_t type, void *values, size_t i, int number) {
  switch (types[type].name[0]) {
  case 'f':
    ((cl_float *)values)[i] = (cl_float)number;
    break;
  case 'd':
    ((cl_double *)values)[i] = number;
    break;
  default:
    if (types[type].bytes == 4)
      ((cl_int *)values)[i] = number;
    else
      ((cl_long *)values)[i] = number;
  }
}

static double smaller(double a, double b) {
  return a < b ? a : b;
}

static double larger(double a, double b) {
  return a > b ? a : b;
}

/* Returns the expected results of the functions for work-item i. */
static void model(size_t type, const double *x, size_t group, size_t i, size_t from,
                  double want[RESULTS]) {
  const double start[3] = {0, types[type].highest, types[type].lowest};
  double scan[3] = {0}, before[3] = {0}, all[3];
  bool positive = true, negative = false;
  memcpy(all, start, sizeof all);
  for (size_t k = 0; k < group; k++) {
    if (k == i)
      memcpy(before, all, sizeof all);
    all[0] += x[k];
    all[1] = smaller(all[1], x[k]);
    all[2] = larger(all[2], x[k]);
    if (k == i)
      memcpy(scan, all, sizeof all);
    positive &= x[k] > 0;
    negative |= x[k] < 0;
  }
  memcpy(want, all, sizeof all);
  memcpy(want + 3, scan, sizeof scan);
  memcpy(want + 6, before, sizeof before);
  want[9] = positive;
  want[10] = negative;
  want[11] = x[from];
  want[12] = all[0] + x[from];
}

static void run(const struct opencl *opencl, size_t type, size_t shape) {
  static cl_ulong in[GROUPS * GROUP_MAX], out[RESULTS * GROUPS * GROUP_MAX];
  const size_t *local = shapes[shape].local;
  const size_t group = local[0] * local[1] * local[2], items = GROUPS * group;
  const size_t global[3] = {GROUPS * local[0], local[1], local[2]};
  const size_t from = (shapes[shape].dimensions > 1 ? local[1] / 2 * local[0] : 0) + local[0] - 1;
  const cl_uint count = (cl_uint)items;
  const bool is_signed = types[type].lowest < 0;
  char options[64];
  cl_int error;
  for (size_t i = 0; i < items; i++)
    write_number(type, in, i, (int)(i * 7919 % 101) - (is_signed && i / group == 1 ? 50 : -1));
  snprintf(options, sizeof options, "-cl-std=CL3.0 -DT=%s", types[type].name);
  cl_program program = opencl_program(opencl, source);
  CHECK_CL(clBuildProgram(program, 1, &opencl->device, options, NULL, NULL), CL_SUCCESS);
  cl_kernel kernel = clCreateKernel(program, "k", &error);
  CHECK_CL(error, CL_SUCCESS);
  cl_mem from_host =
      clCreateBuffer(opencl->context, CL_MEM_COPY_HOST_PTR, items * types[type].bytes, in, &error);
  CHECK_CL(error, CL_SUCCESS);
  cl_mem to_host = clCreateBuffer(opencl->context, CL_MEM_READ_WRITE,
                                  RESULTS * items * types[type].bytes, NULL, &error);
  CHECK_CL(error, CL_SUCCESS);
  CHECK_CL(clSetKernelArg(kernel, 0, sizeof from_host, &from_host), CL_SUCCESS);
  CHECK_CL(clSetKernelArg(kernel, 1, sizeof to_host, &to_host), CL_SUCCESS);
  CHECK_CL(clSetKernelArg(kernel, 2, sizeof count, &count), CL_SUCCESS);
  CHECK_CL(clSetKernelArg(kernel, 3, sizeof(cl_uint), &shapes[shape].dimensions), CL_SUCCESS);
  CHECK_CL(clEnqueueNDRangeKernel(opencl->queue, kernel, 3, NULL, global, local, 0, NULL, NULL),
           CL_SUCCESS);
  CHECK_CL(clEnqueueReadBuffer(opencl->queue, to_host, CL_TRUE, 0,
                               RESULTS * items * types[type].bytes, out, 0, NULL, NULL),
           CL_SUCCESS);
  for (size_t i = 0; i < items; i++) {
    double x[GROUP_MAX], want[RESULTS];
    for (size_t k = 0; k < group; k++)
      x[k] = read_number(type, in, i / group * group + k);
    model(type, x, group, i % group, from, want);
    for (size_t r = 0; r < RESULTS; r++)
      if (read_number(type, out, r * items + i) != want[r]) {
        fprintf(stderr, "%s, shape %zu, work-item %zu, result %zu: %g instead of %g\n",
                types[type].name, shape, i, r, read_number(type, out, r * items + i), want[r]);
        exit(1);
      }
  }
  CHECK_CL(clReleaseMemObject(from_host), CL_SUCCESS);
  CHECK_CL(clReleaseMemObject(to_host), CL_SUCCESS);
  CHECK_CL(clReleaseKernel(kernel), CL_SUCCESS);
  CHECK_CL(clReleaseProgram(program), CL_SUCCESS);
}

int main(void) {
  struct opencl opencl;
  cl_bool supported;
  opencl_open(&opencl);
  CHECK_CL(clGetDeviceInfo(opencl.device, CL_DEVICE_WORK_GROUP_COLLECTIVE_FUNCTIONS_SUPPORT,
                           sizeof supported, &supported, NULL),
           CL_SUCCESS);
  CHECK(supported);
  /* all types in one shape, and all shapes in one type */
  for (size_t type = 0; type < sizeof types / sizeof *types; type++)
    run(&opencl, type, 5);
  for (size_t shape = 0; shape < sizeof shapes / sizeof *shapes; shape++)
    run(&opencl, 0, shape);
  opencl_close(&opencl);
  return 0;
}
