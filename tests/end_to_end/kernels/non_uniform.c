/* Launches of OpenCL C 2.0 and later whose last work-groups are smaller. Each work-item checks the
 * results of the work-item functions and counts, and the sums show the number of work-groups. Such
 * launches are refused for programs that require uniform work-groups or have an older language
 * version.
 */
#include "tests/end_to_end/opencl.h"

static const char source[] =
    "kernel void k(global ulong *sum, ulong4 offset, ulong4 size, ulong4 whole) {\n"
    "  const ulong offsets[3] = {offset.x, offset.y, offset.z};\n"
    "  const ulong sizes[3] = {size.x, size.y, size.z}, groups[3] = {whole.x, whole.y, whole.z};\n"
    "  bool good = true;\n"
    "  ulong items = 1;\n"
    "  for (uint d = 0; d < 3; d++) {\n"
    "    const ulong begin = get_group_id(d) * groups[d];\n"
    "    good &= get_global_offset(d) == offsets[d] && get_global_size(d) == sizes[d];\n"
    "    good &= get_enqueued_local_size(d) == groups[d];\n"
    "    good &= get_num_groups(d) == (sizes[d] + groups[d] - 1) / groups[d];\n"
    "    good &= get_local_size(d) == min(groups[d], sizes[d] - begin);\n"
    "    good &= get_global_id(d) == offsets[d] + begin + get_local_id(d);\n"
    "    good &= get_local_id(d) < get_local_size(d);\n"
    "    items *= get_local_size(d);\n"
    "  }\n"
    "  const ulong linear = ((get_global_id(2) - offset.z) * size.y + get_global_id(1) - offset.y) "
    "*\n"
    "                       size.x + get_global_id(0) - offset.x;\n"
    "  good &= get_global_linear_id() == linear;\n"
    "  good &= work_group_reduce_add(1ul) == items;\n"
    "  good &= get_enqueued_num_sub_groups() == (whole.x * whole.y * whole.z + 31) / 32;\n"
    "  atom_add(&sum[0], good ? 1ul : 0ul);\n"
    "  atom_add(&sum[1], linear);\n"
    "  if (get_local_linear_id() == items - 1) atom_add(&sum[2], items);\n"
    "}\n";

static const struct {
  size_t global[3], local[3], offset[3];
} rows[] = {
    {{64, 1, 1}, {64, 1, 1}, {0, 0, 0}},   {{100, 1, 1}, {64, 1, 1}, {0, 0, 0}},
    {{100, 1, 1}, {64, 1, 1}, {7, 0, 0}},  {{5, 1, 1}, {64, 1, 1}, {3, 0, 0}},
    {{33, 17, 1}, {8, 8, 1}, {1, 2, 0}},   {{33, 16, 1}, {8, 8, 1}, {1, 2, 0}},
    {{32, 17, 5}, {8, 8, 4}, {1, 2, 3}},   {{9, 9, 9}, {4, 4, 4}, {10, 20, 30}},
    {{3, 3, 3}, {4, 4, 4}, {0, 0, 0}},     {{1, 65537, 1}, {1, 3, 1}, {0, 5, 0}},
    {{2, 3, 65600}, {2, 2, 1}, {0, 0, 1}}, {{1021, 1, 1}, {256, 1, 1}, {0, 0, 0}},
};

static cl_kernel build(const struct opencl *opencl, const char *options) {
  cl_int error;
  cl_program program = opencl_program(opencl, source);
  CHECK_CL(clBuildProgram(program, 1, &opencl->device, options, NULL, NULL), CL_SUCCESS);
  cl_kernel kernel = clCreateKernel(program, "k", &error);
  CHECK_CL(error, CL_SUCCESS);
  CHECK_CL(clReleaseProgram(program), CL_SUCCESS);
  return kernel;
}

static void check(const struct opencl *opencl, cl_kernel kernel, cl_mem buffer, size_t row) {
  const size_t *global = rows[row].global, *local = rows[row].local, *offset = rows[row].offset;
  const cl_ulong zero = 0, count = (cl_ulong)global[0] * global[1] * global[2];
  const cl_ulong4 arguments[3] = {{{offset[0], offset[1], offset[2]}},
                                  {{global[0], global[1], global[2]}},
                                  {{local[0], local[1], local[2]}}};
  cl_ulong sums[3];
  cl_event event;
  cl_ulong start, end;
  CHECK_CL(
      clEnqueueFillBuffer(opencl->queue, buffer, &zero, sizeof zero, 0, sizeof sums, 0, NULL, NULL),
      CL_SUCCESS);
  CHECK_CL(clSetKernelArg(kernel, 0, sizeof buffer, &buffer), CL_SUCCESS);
  for (cl_uint i = 0; i < 3; i++)
    CHECK_CL(clSetKernelArg(kernel, i + 1, sizeof arguments[i], &arguments[i]), CL_SUCCESS);
  CHECK_CL(clEnqueueNDRangeKernel(opencl->queue, kernel, 3, offset, global, local, 0, NULL, &event),
           CL_SUCCESS);
  CHECK_CL(clEnqueueReadBuffer(opencl->queue, buffer, CL_TRUE, 0, sizeof sums, sums, 0, NULL, NULL),
           CL_SUCCESS);
  if (sums[0] != count || sums[1] != count * (count - 1) / 2 || sums[2] != count) {
    fprintf(stderr, "row %zu: %llu of %llu work-items are right, sums %llu and %llu\n", row,
            (unsigned long long)sums[0], (unsigned long long)count, (unsigned long long)sums[1],
            (unsigned long long)sums[2]);
    exit(1);
  }
  CHECK_CL(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof start, &start, NULL),
           CL_SUCCESS);
  CHECK_CL(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL),
           CL_SUCCESS);
  CHECK(start < end);
  CHECK_CL(clReleaseEvent(event), CL_SUCCESS);
}

/* Kernels that require uniform work-groups. */
static void refused(const struct opencl *opencl) {
  static const char text[] = "kernel void k(global int *a) { a[get_global_id(0)] = 1; }";
  static const char *const options[] = {"", "-cl-std=CL1.2",
                                        "-cl-std=CL3.0 -cl-uniform-work-group-size"};
  for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
    const size_t global = 100, local = 64, good = 50;
    cl_int error;
    cl_program program = opencl_program(opencl, text);
    CHECK_CL(clBuildProgram(program, 1, &opencl->device, options[i], NULL, NULL), CL_SUCCESS);
    cl_kernel kernel = clCreateKernel(program, "k", &error);
    CHECK_CL(error, CL_SUCCESS);
    cl_mem buffer = clCreateBuffer(opencl->context, CL_MEM_READ_WRITE, 400, NULL, &error);
    CHECK_CL(error, CL_SUCCESS);
    CHECK_CL(clSetKernelArg(kernel, 0, sizeof buffer, &buffer), CL_SUCCESS);
    CHECK_CL(clEnqueueNDRangeKernel(opencl->queue, kernel, 1, NULL, &global, &local, 0, NULL, NULL),
             CL_INVALID_WORK_GROUP_SIZE);
    CHECK_CL(clEnqueueNDRangeKernel(opencl->queue, kernel, 1, NULL, &global, &good, 0, NULL, NULL),
             CL_SUCCESS);
    CHECK_CL(clFinish(opencl->queue), CL_SUCCESS);
    CHECK_CL(clReleaseMemObject(buffer), CL_SUCCESS);
    CHECK_CL(clReleaseKernel(kernel), CL_SUCCESS);
    CHECK_CL(clReleaseProgram(program), CL_SUCCESS);
  }
}

int main(void) {
  struct opencl opencl;
  cl_int error;
  opencl_open(&opencl);
  cl_mem buffer = clCreateBuffer(opencl.context, CL_MEM_READ_WRITE, 24, NULL, &error);
  CHECK_CL(error, CL_SUCCESS);
  cl_kernel kernel = build(&opencl, "-cl-std=CL3.0");
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    check(&opencl, kernel, buffer, i);
  CHECK_CL(clReleaseKernel(kernel), CL_SUCCESS);
  refused(&opencl);
  CHECK_CL(clReleaseMemObject(buffer), CL_SUCCESS);
  opencl_close(&opencl);
  return 0;
}
