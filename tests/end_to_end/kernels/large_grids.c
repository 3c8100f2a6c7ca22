/* Launches with more work-groups than the fields of a QMD allow: 2^31 - 1 in x, and 65535 in y and
 * z. Each work-item counts in a bucket that its IDs select.
 */
#include <stdint.h>
#include <unistd.h>

#include "tests/end_to_end/commands/command_buffer.h"

static const char source[] =
    "kernel void ids(global ulong *sum, ulong3 offset, ulong3 groups) {\n"
    "  const ulong place[3] = {get_global_id(0), get_global_id(1), get_global_id(2)};\n"
    "  bool good = true;\n"
    "  const ulong offsets[3] = {offset.x, offset.y, offset.z};\n"
    "  const ulong counts[3] = {groups.x, groups.y, groups.z};\n"
    "  for (uint d = 0; d < 3; d++) {\n"
    "    good &= get_global_offset(d) == offsets[d] && get_num_groups(d) == counts[d];\n"
    "    good &= get_global_size(d) == counts[d] * get_local_size(d);\n"
    "    good &= place[d] ==\n"
    "            offsets[d] + get_group_id(d) * get_local_size(d) + get_local_id(d);\n"
    "  }\n"
    "  const ulong linear = ((place[2] - offset.z) * get_global_size(1) + place[1] - offset.y) *\n"
    "                       get_global_size(0) + place[0] - offset.x;\n"
    "  good &= get_global_linear_id() == linear;\n"
    "  atom_add(&sum[0], good ? 1ul : 0ul);\n"
    "  atom_add(&sum[1], linear);\n"
    "  atom_max(&sum[2], linear);\n"
    "}\n";

static const struct {
  size_t global[3], local[3], offset[3];
} rows[] = {
    {{3, 70000, 1}, {1, 1, 1}, {0, 0, 0}},
    {{1, 200000, 2}, {1, 2, 1}, {5, 7, 9}},
    {{2, 1, 140000}, {2, 1, 1}, {0, 1, 1000000}},
    {{1, 66000, 3}, {0}, {0, 3, 0}},  /* the runtime chooses */
    {{1, 100003, 1}, {0}, {0, 0, 0}}, /* prime, so no work-group size divides it */
    {{200000, 1, 1}, {1, 1, 1}, {1, 0, 0}},
    {{1, 18 * 65535 + 5, 1}, {1, 1, 1}, {0, 0, 0}}, /* more grids than are submitted at once */
};

/* A launch beyond the limits fails at once. A launch that would never end returns, and so do
 * other calls after it and at the same time. */
enum { WORKER_US = 100000 }; /* time for the queue's worker to submit its part */
static void try_endless(struct opencl *opencl, cl_kernel kernel) {
  static const size_t too_many[][3] = {{(size_t)1 << 32, (size_t)1 << 32, (size_t)1 << 32},
                                       {((size_t)1 << 62) + 1, 2, 1},
                                       {SIZE_MAX, 1, 1}};
  static const size_t many[3] = {1, 0x7fffffff, 0x7fffffff}, one[3] = {1, 1, 1};
  cl_event event, behind;
  cl_int status, error;
  for (size_t i = 0; i < sizeof too_many / sizeof too_many[0]; i++)
    CHECK_CL(
        clEnqueueNDRangeKernel(opencl->queue, kernel, 3, NULL, too_many[i], NULL, 0, NULL, NULL),
        CL_OUT_OF_RESOURCES);
  cl_command_queue queues[2] = {opencl->queue};
  const cl_queue_properties properties[] = {CL_QUEUE_PROPERTIES,
                                            CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, 0};
  queues[1] =
      clCreateCommandQueueWithProperties(opencl->context, opencl->device, properties, &error);
  CHECK_CL(error, CL_SUCCESS);
  for (int i = 0; i < 2; i++) {
    CHECK_CL(clEnqueueNDRangeKernel(queues[i], kernel, 3, NULL, many, one, 0, NULL, &event),
             CL_SUCCESS);
    usleep(WORKER_US);
    CHECK_CL(clEnqueueMarkerWithWaitList(queues[i], 1, &event, &behind), CL_SUCCESS);
    CHECK_CL(clEnqueueNDRangeKernel(queues[i], kernel, 3, NULL, many, one, 0, NULL, NULL),
             CL_SUCCESS);
    CHECK_CL(clFlush(queues[i]), CL_SUCCESS);
    CHECK_CL(
        clGetEventInfo(behind, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL),
        CL_SUCCESS);
    CHECK(status > CL_COMPLETE);
  }
}

/* A recording has all of its grids in memory. */
static void record_endless(struct opencl *opencl, cl_kernel kernel) {
  static const size_t many[3] = {1, 0x7fffffff, 0x7fffffff}, few[3] = {1, 70000, 1},
                      one[3] = {1, 1, 1};
  struct command_buffer_functions f;
  cl_int error;
  find_functions(opencl, &f);
  for (int i = 0; i < 2; i++) {
    cl_command_buffer_khr buffer = f.clCreateCommandBufferKHR(1, &opencl->queue, NULL, &error);
    CHECK_CL(error, CL_SUCCESS);
    CHECK_CL(f.clCommandNDRangeKernelKHR(buffer, NULL, NULL, kernel, 3, NULL, i ? many : few, one,
                                         0, NULL, NULL, NULL),
             CL_SUCCESS);
    CHECK_CL(f.clFinalizeCommandBufferKHR(buffer), i ? CL_OUT_OF_RESOURCES : CL_SUCCESS);
    CHECK_CL(f.clReleaseCommandBufferKHR(buffer), CL_SUCCESS);
  }
}

int main(void) {
  struct opencl opencl;
  cl_int error;
  opencl_open(&opencl);
  cl_program program = opencl_program(&opencl, source);
  CHECK_CL(clBuildProgram(program, 1, &opencl.device, "-cl-std=CL3.0", NULL, NULL), CL_SUCCESS);
  cl_kernel kernel = clCreateKernel(program, "ids", &error);
  CHECK_CL(error, CL_SUCCESS);
  CHECK_CL(clReleaseProgram(program), CL_SUCCESS);
  cl_mem buffer = clCreateBuffer(opencl.context, CL_MEM_READ_WRITE, 24, NULL, &error);
  CHECK_CL(error, CL_SUCCESS);
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    const size_t *local = rows[i].local[0] ? rows[i].local : NULL;
    const cl_ulong zero = 0,
                   count = (cl_ulong)rows[i].global[0] * rows[i].global[1] * rows[i].global[2];
    cl_ulong3 offset = {{rows[i].offset[0], rows[i].offset[1], rows[i].offset[2]}};
    cl_ulong3 groups = {{rows[i].global[0], rows[i].global[1], rows[i].global[2]}};
    for (int d = 0; local && d < 3; d++)
      groups.s[d] /= local[d];
    CHECK_CL(clEnqueueFillBuffer(opencl.queue, buffer, &zero, sizeof zero, 0, 24, 0, NULL, NULL),
             CL_SUCCESS);
    CHECK_CL(clSetKernelArg(kernel, 0, sizeof buffer, &buffer), CL_SUCCESS);
    CHECK_CL(clSetKernelArg(kernel, 1, sizeof offset, &offset), CL_SUCCESS);
    CHECK_CL(clSetKernelArg(kernel, 2, sizeof groups, &groups), CL_SUCCESS);
    cl_event event;
    CHECK_CL(clEnqueueNDRangeKernel(opencl.queue, kernel, 3, rows[i].offset, rows[i].global, local,
                                    0, NULL, &event),
             CL_SUCCESS);
    cl_ulong sum[3], start, end;
    CHECK_CL(clEnqueueReadBuffer(opencl.queue, buffer, CL_TRUE, 0, sizeof sum, sum, 0, NULL, NULL),
             CL_SUCCESS);
    if (local)
      CHECK(sum[0] == count);
    CHECK(sum[1] == count * (count - 1) / 2);
    CHECK(sum[2] == count - 1);
    CHECK_CL(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof start, &start, NULL),
             CL_SUCCESS);
    CHECK_CL(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL),
             CL_SUCCESS);
    CHECK(start && start < end);
    CHECK_CL(clReleaseEvent(event), CL_SUCCESS);
  }
  record_endless(&opencl, kernel);
  try_endless(&opencl, kernel);
  _exit(0); /* nothing can be released while it runs */
}
