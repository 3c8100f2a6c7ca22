/* Set-up of the tests of the OpenCL layer; see bench.h. */
#include <stdlib.h>

#include "tests/icd/bench.h"

int bench_setup(void **state) {
  return bench_setup_with(state, NULL, NULL);
}

int bench_setup_with(void **state, const cl_context_properties *properties,
                     icd_context_notify notify) {
  struct bench *bench = calloc(1, sizeof *bench);
  cl_int code;
  const char *source = "the fake compiler does not read this";
  assert_cl(clGetDeviceIDs(&icd_platform, CL_DEVICE_TYPE_GPU, 1, &bench->device, NULL));
  bench->context = clCreateContext(properties, 1, &bench->device, notify, NULL, &code);
  assert_cl(code);
  bench->queue = bench_queue(bench, 0);
  bench->program = clCreateProgramWithSource(bench->context, 1, &source, NULL, &code);
  assert_cl(code);
  assert_cl(clBuildProgram(bench->program, 1, &bench->device, "", NULL, NULL));
  *state = bench;
  return 0;
}

int bench_teardown(void **state) {
  struct bench *bench = *state;
  assert_cl(clReleaseProgram(bench->program));
  assert_cl(clReleaseCommandQueue(bench->queue));
  assert_cl(clReleaseContext(bench->context));
  free(bench);
  /* Threads of the driver may be about to drop their last references. */
  BENCH_AWAIT(!fake_live());
  assert_int_equal(fake_live(), 0);
  return 0;
}

cl_command_queue bench_queue(struct bench *bench, cl_command_queue_properties flags) {
  cl_int code;
  cl_command_queue queue = clCreateCommandQueue(bench->context, bench->device, flags, &code);
  assert_cl(code);
  return queue;
}

cl_kernel bench_kernel(struct bench *bench, const char *name) {
  cl_int code;
  cl_kernel kernel = clCreateKernel(bench->program, name, &code);
  assert_cl(code);
  return kernel;
}

cl_mem bench_buffer(struct bench *bench, size_t size) {
  cl_int code;
  cl_mem mem = clCreateBuffer(bench->context, CL_MEM_READ_WRITE, size, NULL, &code);
  assert_cl(code);
  return mem;
}

cl_kernel bench_add(struct bench *bench, const char *name, cl_mem in, cl_mem out, int n) {
  cl_kernel kernel = bench_kernel(bench, name);
  assert_cl(clSetKernelArg(kernel, 0, sizeof in, &in));
  assert_cl(clSetKernelArg(kernel, 1, sizeof out, &out));
  assert_cl(clSetKernelArg(kernel, 2, sizeof n, &n));
  return kernel;
}

cl_int bench_status(cl_event event) {
  cl_int status;
  assert_cl(clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL));
  return status;
}

cl_uint bench_map_count(cl_mem mem) {
  cl_uint count;
  assert_cl(clGetMemObjectInfo(mem, CL_MEM_MAP_COUNT, sizeof count, &count, NULL));
  return count;
}
