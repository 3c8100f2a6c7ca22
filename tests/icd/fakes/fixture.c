/* Fixture of the tests of the OpenCL layer. See fixture.h. */
#include <stdlib.h>

#include "tests/icd/fakes/fixture.h"

int fixture_setup(void **state) {
  return fixture_setup_with(state, NULL, NULL);
}

int fixture_setup_with(void **state, const cl_context_properties *properties,
                       icd_context_notify notify) {
  struct fixture *fixture = calloc(1, sizeof *fixture);
  cl_int code;
  const char *source = "the fake compiler does not read this";
  assert_cl(clGetDeviceIDs(&icd_platform, CL_DEVICE_TYPE_GPU, 1, &fixture->device, NULL));
  fixture->context = clCreateContext(properties, 1, &fixture->device, notify, NULL, &code);
  assert_cl(code);
  fixture->queue = fixture_queue(fixture, 0);
  fixture->program = clCreateProgramWithSource(fixture->context, 1, &source, NULL, &code);
  assert_cl(code);
  assert_cl(clBuildProgram(fixture->program, 1, &fixture->device, "", NULL, NULL));
  *state = fixture;
  return 0;
}

int fixture_teardown(void **state) {
  struct fixture *fixture = *state;
  assert_cl(clReleaseProgram(fixture->program));
  assert_cl(clReleaseCommandQueue(fixture->queue));
  assert_cl(clReleaseContext(fixture->context));
  free(fixture);
  /* Threads of the driver may still hold their last references for a moment. */
  AWAIT(!fake_live());
  assert_int_equal(fake_live(), 0);
  return 0;
}

cl_command_queue fixture_queue(struct fixture *fixture, cl_command_queue_properties flags) {
  cl_int code;
  cl_command_queue queue = clCreateCommandQueue(fixture->context, fixture->device, flags, &code);
  assert_cl(code);
  return queue;
}

cl_kernel fixture_kernel(struct fixture *fixture, const char *name) {
  cl_int code;
  cl_kernel kernel = clCreateKernel(fixture->program, name, &code);
  assert_cl(code);
  return kernel;
}

cl_mem fixture_buffer(struct fixture *fixture, size_t size) {
  cl_int code;
  cl_mem mem = clCreateBuffer(fixture->context, CL_MEM_READ_WRITE, size, NULL, &code);
  assert_cl(code);
  return mem;
}

cl_kernel fixture_add(struct fixture *fixture, const char *name, cl_mem in, cl_mem out, int n) {
  cl_kernel kernel = fixture_kernel(fixture, name);
  assert_cl(clSetKernelArg(kernel, 0, sizeof in, &in));
  assert_cl(clSetKernelArg(kernel, 1, sizeof out, &out));
  assert_cl(clSetKernelArg(kernel, 2, sizeof n, &n));
  return kernel;
}

cl_int fixture_status(cl_event event) {
  cl_int status;
  assert_cl(clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL));
  return status;
}

cl_uint fixture_map_count(cl_mem mem) {
  cl_uint count;
  assert_cl(clGetMemObjectInfo(mem, CL_MEM_MAP_COUNT, sizeof count, &count, NULL));
  return count;
}
