/* Launches without a local size whose global size has no good divisor. Each work-item counts at its
 * place. modes/awkward_sizes.py checks which work-groups the driver chose: the kernels apart_* do
 * not notice them, the kernels sees_* could.
 */
#include <CL/cl_ext.h>
#include <stdbool.h>

#include "tests/end_to_end/opencl.h"

#define SEES(name, expression)                                                                     \
  "kernel void sees_" name "(COMMON) { out[PLACE] += 1 + ((" expression ") > 1000000); }\n"

static const char source[] =
    "#define COMMON global int *out, ulong x, ulong y, ulong z\n"
    "#define PLACE (((get_global_id(2) - z) * get_global_size(1) + get_global_id(1) - y) * \\\n"
    "               get_global_size(0) + get_global_id(0) - x)\n"
    "__attribute__((noinline)) void count(global int *out, int n) { out[n] += 1; }\n"
    "__attribute__((noinline)) int tell(int d) { return get_local_id(d); }\n"
    "kernel void apart_ids(COMMON) { out[PLACE] += 1; }\n"
    "kernel void apart_helper(COMMON) { count(out, PLACE); }\n"
    "kernel void apart_atomic(COMMON) { atomic_inc(out + PLACE); }\n"
    "kernel void apart_math(COMMON) {\n"
    "  float4 v = convert_float4(vload4(0, out)) * 0.0f;\n"
    "  out[PLACE] += (int)exp(fmin(dot(v, v), 0.0f)) + (get_work_dim() > 3);\n"
    "}\n" SEES("local_id", "get_local_id(0)") SEES("group_id", "get_group_id(0)")
        SEES("local_size", "get_local_size(1)") SEES("groups", "get_num_groups(2)")
            SEES("linear", "get_global_linear_id()") SEES("offset", "get_global_offset(0)")
                SEES("sub_group", "get_sub_group_local_id()")
                    SEES("helper",
                         "tell(1)") "kernel void sees_barrier(COMMON) {\n"
                                    "  barrier(CLK_LOCAL_MEM_FENCE);\n"
                                    "  out[PLACE] += 1;\n"
                                    "}\n"
                                    "kernel void sees_local(COMMON) {\n"
                                    "  local volatile int one;\n"
                                    "  one = 1;\n"
                                    "  out[PLACE] += one;\n"
                                    "}\n"
                                    "kernel void sees_assembly(COMMON) {\n"
                                    "  uint id;\n"
                                    "  __asm__(\"mov.u32 %0, %%tid.x;\" : \"=r\"(id));\n"
                                    "  out[PLACE] += 1 + (id > 1024);\n"
                                    "}\n"
                                    "kernel void sees_argument(COMMON, local volatile int *one) {\n"
                                    "  *one = 1;\n"
                                    "  out[PLACE] += *one;\n"
                                    "}\n";

enum { KERNELS_MAX = 32, COUNTS = 43691 };

/* The products of the sizes are at most COUNTS. */
static const struct {
  size_t size[3], offset[3];
} rows[] = {{{43691, 1, 1}, {0}},       {{2 * 1031, 2, 2}, {3, 5, 7}}, {{3, 2003, 1}, {1, 2, 0}},
            {{1, 10007, 3}, {0, 9, 0}}, {{5, 1, 4001}, {0, 0, 6}},     {{1, 1, 8009}, {4, 0, 1}}};

static clGetKernelSuggestedLocalWorkSizeKHR_fn suggest;

/* Launches a kernel without a local size; and, if the program has non-uniform work-groups, with the
 * size that the driver suggests. */
static void launch(const struct opencl *opencl, cl_kernel kernel, cl_mem buffer, size_t row,
                   bool uniform) {
  static cl_int counts[COUNTS];
  const cl_int zero = 0;
  const size_t *size = rows[row].size, *offset = rows[row].offset;
  const size_t count = size[0] * size[1] * size[2];
  size_t suggested[3];
  char name[32];
  CHECK_CL(clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, sizeof name, name, NULL), CL_SUCCESS);
  CHECK_CL(clEnqueueFillBuffer(opencl->queue, buffer, &zero, sizeof zero, 0, sizeof counts, 0, NULL,
                               NULL),
           CL_SUCCESS);
  CHECK_CL(suggest(opencl->queue, kernel, 3, offset, size, suggested), CL_SUCCESS);
  for (int i = 0; i < 3 && uniform; i++)
    CHECK(size[i] % suggested[i] == 0);
  CHECK_CL(clEnqueueNDRangeKernel(opencl->queue, kernel, 3, offset, size, NULL, 0, NULL, NULL),
           CL_SUCCESS);
  if (!uniform)
    CHECK_CL(
        clEnqueueNDRangeKernel(opencl->queue, kernel, 3, offset, size, suggested, 0, NULL, NULL),
        CL_SUCCESS);
  CHECK_CL(
      clEnqueueReadBuffer(opencl->queue, buffer, CL_TRUE, 0, sizeof counts, counts, 0, NULL, NULL),
      CL_SUCCESS);
  const int times = uniform ? 1 : 2;
  for (size_t i = 0; i < COUNTS; i++)
    if (counts[i] != (i < count ? times : 0)) {
      fprintf(stderr, "%s, row %zu: work-item %zu of %zu ran %d times\n", name, row, i, count,
              counts[i]);
      exit(1);
    }
}

static void set_arguments(cl_kernel kernel, cl_mem buffer, size_t row) {
  cl_uint arguments;
  CHECK_CL(clGetKernelInfo(kernel, CL_KERNEL_NUM_ARGS, sizeof arguments, &arguments, NULL),
           CL_SUCCESS);
  CHECK_CL(clSetKernelArg(kernel, 0, sizeof buffer, &buffer), CL_SUCCESS);
  for (cl_uint i = 0; i < 3; i++) {
    const cl_ulong start = rows[row].offset[i];
    CHECK_CL(clSetKernelArg(kernel, i + 1, sizeof start, &start), CL_SUCCESS);
  }
  if (arguments > 4)
    CHECK_CL(clSetKernelArg(kernel, 4, sizeof(cl_int), NULL), CL_SUCCESS);
}

static void launch_all(const struct opencl *opencl, const char *options, bool uniform) {
  cl_kernel kernels[KERNELS_MAX];
  cl_uint count;
  cl_int error;
  cl_program program = opencl_program(opencl, source);
  CHECK_CL(clBuildProgram(program, 1, &opencl->device, options, NULL, NULL), CL_SUCCESS);
  CHECK_CL(clCreateKernelsInProgram(program, KERNELS_MAX, kernels, &count), CL_SUCCESS);
  cl_mem buffer =
      clCreateBuffer(opencl->context, CL_MEM_READ_WRITE, COUNTS * sizeof(cl_int), NULL, &error);
  CHECK_CL(error, CL_SUCCESS);
  for (cl_uint i = 0; i < count; i++) {
    for (size_t row = 0; row < sizeof rows / sizeof *rows; row++) {
      set_arguments(kernels[i], buffer, row);
      launch(opencl, kernels[i], buffer, row, uniform);
    }
    CHECK_CL(clReleaseKernel(kernels[i]), CL_SUCCESS);
  }
  CHECK_CL(clReleaseMemObject(buffer), CL_SUCCESS);
  CHECK_CL(clReleaseProgram(program), CL_SUCCESS);
}

int main(void) {
  struct opencl opencl;
  opencl_open(&opencl);
  suggest = (clGetKernelSuggestedLocalWorkSizeKHR_fn)clGetExtensionFunctionAddressForPlatform(
      opencl.platform, "clGetKernelSuggestedLocalWorkSizeKHR");
  CHECK(suggest);
  launch_all(&opencl, "-cl-std=CL3.0 -cl-uniform-work-group-size", true);
  launch_all(&opencl, "-cl-std=CL3.0", false);
  opencl_close(&opencl);
  return 0;
}
