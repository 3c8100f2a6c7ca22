/* Every allocation of the OpenCL layer fails once, and so does every creation in
 * the runtime: the call says so, nothing crashes, nothing is left behind (leaks of
 * host memory are the address sanitizer's to find).
 */
#include <stdlib.h>

#include "icd/command_buffer/command_buffer_api.h"
#include "tests/icd/fakes/alloc_fail.h"
#include "tests/icd/fakes/fixture.h"

enum { N = 64 };

static bool is_memory_error(cl_int code) {
  return code == CL_OUT_OF_HOST_MEMORY || code == CL_MEM_OBJECT_ALLOCATION_FAILURE ||
         code == CL_OUT_OF_RESOURCES;
}

/* What one walk makes; whatever is not NULL is released. */
struct things {
  cl_context context;
  cl_command_queue queue;
  cl_mem mem, sub, mapped;
  void *pointer, *svm;
  cl_program program, binary;
  cl_kernel kernel, clone, printer;
  cl_event user, event, read;
  cl_command_buffer_khr buffer;
};

/* Goes through the API until something fails; gives the code. */
#define TRY(call)                                                                                  \
  if ((code = (call)))                                                                             \
    return code;
#define MAKE(place, call)                                                                          \
  things->place = (call);                                                                          \
  if (code)                                                                                        \
    return code;                                                                                   \
  assert_non_null(things->place);

static void CL_CALLBACK ignore_mem(cl_mem mem, void *data) {}
static void CL_CALLBACK ignore_context(cl_context context, void *data) {}
static void CL_CALLBACK ignore_output(const char *text, size_t size, size_t end, void *data) {}
static void CL_CALLBACK ignore_event(cl_event event, cl_int status, void *data) {}

static cl_int walk(cl_device_id device, struct things *things, int *values) {
  const cl_context_properties properties[] = {
      CL_CONTEXT_PLATFORM, (cl_context_properties)&icd_platform, CL_PRINTF_CALLBACK_ARM,
      (cl_context_properties)ignore_output, 0};
  const cl_queue_properties queue_properties[] = {CL_QUEUE_PROPERTIES, CL_QUEUE_PROFILING_ENABLE,
                                                  0};
  const cl_mem_properties mem_properties[] = {0};
  const cl_buffer_region region = {512, 512};
  const char *source = "source";
  const size_t global = N;
  const cl_command_buffer_properties_khr buffer_properties[] = {CL_COMMAND_BUFFER_FLAGS_KHR,
                                                                CL_COMMAND_BUFFER_MUTABLE_KHR, 0};
  const cl_command_properties_khr launch_properties[] = {CL_MUTABLE_DISPATCH_UPDATABLE_FIELDS_KHR,
                                                         CL_MUTABLE_DISPATCH_GLOBAL_SIZE_KHR, 0};
  cl_int code;
  MAKE(context, clCreateContext(properties, 1, &device, NULL, NULL, &code))
  TRY(clSetContextDestructorCallback(things->context, ignore_context, NULL))
  MAKE(queue, clCreateCommandQueueWithProperties(things->context, device, queue_properties, &code))
  MAKE(mem, clCreateBufferWithProperties(things->context, mem_properties, CL_MEM_COPY_HOST_PTR,
                                         N * 16, values, &code))
  TRY(clSetMemObjectDestructorCallback(things->mem, ignore_mem, NULL))
  MAKE(sub, clCreateSubBuffer(things->mem, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &code))
  MAKE(program, clCreateProgramWithSource(things->context, 1, &source, NULL, &code))
  TRY(clBuildProgram(things->program, 1, &device, "-cl-fast-relaxed-math", NULL, NULL))
  MAKE(kernel, clCreateKernel(things->program, "add", &code))
  TRY(clSetKernelArg(things->kernel, 0, sizeof(cl_mem), &things->mem))
  TRY(clSetKernelArg(things->kernel, 1, sizeof(cl_mem), &things->sub))
  TRY(clSetKernelArg(things->kernel, 2, sizeof(int), &(int){1}))
  MAKE(clone, clCloneKernel(things->kernel, &code))
  MAKE(printer, clCreateKernel(things->program, "print", &code))
  TRY(clSetKernelArg(things->printer, 0, sizeof(int), &(int){1}))
  TRY(clEnqueueNDRangeKernel(things->queue, things->printer, 1, NULL, &global, NULL, 0, NULL, NULL))
  MAKE(user, clCreateUserEvent(things->context, &code))
  /* first a launch at once, then one that waits for the worker */
  TRY(clEnqueueNDRangeKernel(things->queue, things->clone, 1, NULL, &global, NULL, 0, NULL, NULL))
  TRY(clEnqueueNDRangeKernel(things->queue, things->kernel, 1, NULL, &global, NULL, 1,
                             &things->user, &things->event))
  TRY(clSetEventCallback(things->event, CL_COMPLETE, ignore_event, NULL))
  TRY(clEnqueueReadBuffer(things->queue, things->sub, CL_FALSE, 0, N, values, 0, NULL,
                          &things->read))
  MAKE(pointer, clEnqueueMapBuffer(things->queue, things->mem, CL_FALSE, CL_MAP_WRITE, 0, N, 0,
                                   NULL, NULL, &code))
  TRY(clEnqueueUnmapMemObject(things->queue, things->mem, things->pointer, 0, NULL, NULL))
  MAKE(buffer, icd_clCreateCommandBufferKHR(1, &things->queue, buffer_properties, &code))
  TRY(icd_clCommandFillBufferKHR(things->buffer, NULL, NULL, things->mem, &global, sizeof global, 0,
                                 N, 0, NULL, NULL, NULL))
  TRY(icd_clCommandCopyBufferKHR(things->buffer, NULL, NULL, things->mem, things->mem, 0, N, N, 0,
                                 NULL, NULL, NULL))
  cl_mutable_command_khr command;
  TRY(icd_clCommandNDRangeKernelKHR(things->buffer, NULL, launch_properties, things->kernel, 1,
                                    NULL, &global, NULL, 0, NULL, NULL, &command))
  TRY(icd_clFinalizeCommandBufferKHR(things->buffer))
  TRY(icd_clEnqueueCommandBufferKHR(0, NULL, things->buffer, 1, &things->user, NULL))
  const struct icd_mutable_dispatch_config config = {.command = command,
                                                     .global_work_size = &global};
  const cl_command_buffer_update_type_khr type = ICD_MUTABLE_DISPATCH_CONFIG;
  const void *configs[] = {&config};
  TRY(icd_clUpdateMutableCommandsKHR(things->buffer, 1, &type, configs))
  code = CL_OUT_OF_HOST_MEMORY; /* the only reason why clSVMAlloc may fail here */
  things->svm = clSVMAlloc(things->context, CL_MEM_READ_WRITE, N, 0);
  if (!things->svm)
    return code;
  TRY(clEnqueueSVMFree(things->queue, 1, &things->svm, NULL, NULL, 0, NULL, NULL))
  things->svm = NULL;
  TRY(clSetUserEventStatus(things->user, CL_COMPLETE))
  TRY(clWaitForEvents(1, &things->read))
  TRY(clWaitForEvents(1, &things->event))
  return clFinish(things->queue);
}

static void release(struct things *things) {
  if (things->user)
    assert_cl(clReleaseEvent(things->user));
  if (things->queue)
    clFinish(things->queue); /* may fail with what the user event left behind */
  if (things->event)
    assert_cl(clReleaseEvent(things->event));
  if (things->read)
    assert_cl(clReleaseEvent(things->read));
  if (things->buffer)
    assert_cl(icd_clReleaseCommandBufferKHR(things->buffer));
  if (things->printer)
    assert_cl(clReleaseKernel(things->printer));
  if (things->clone)
    assert_cl(clReleaseKernel(things->clone));
  if (things->kernel)
    assert_cl(clReleaseKernel(things->kernel));
  if (things->program)
    assert_cl(clReleaseProgram(things->program));
  clSVMFree(things->context, things->svm);
  if (things->sub)
    assert_cl(clReleaseMemObject(things->sub));
  if (things->mem)
    assert_cl(clReleaseMemObject(things->mem));
  if (things->queue)
    assert_cl(clReleaseCommandQueue(things->queue));
  if (things->context)
    assert_cl(clReleaseContext(things->context));
  AWAIT(!fake_live());
  assert_int_equal(fake_live(), 0);
}

static void host_memory(void **state) {
  cl_device_id device = icd_device();
  int tries = 0, gone_round = 0;
  for (bool failed = true; failed; tries++) {
    static int values[4 * N];
    struct things things = {0};
    alloc_fail_arm(tries);
    const cl_int code = walk(device, &things, values);
    failed = alloc_fail_disarm();
    gone_round += failed && !code;
    if (code && !failed)
      fail_msg("allocation %d: failed %d, code %d", tries, failed, code);
    if (code && !is_memory_error(code))
      fail_msg("allocation %d: code %d", tries, code);
    release(&things);
  }
  /* without a thread that waits for an event with callbacks the call itself waits */
  assert_in_range(gone_round, 0, 1);
  assert_true(tries > 15); /* the walk has at least that many objects */
}

static void device_memory(void **state) {
  cl_device_id device = icd_device();
  /* context, queue, buffer, module, times of the launch that has an event */
  for (int skip = 0; skip < 5; skip++) {
    static int values[4 * N];
    struct things things = {0};
    fake_fail_after(skip, 2); /* two: a buffer is tried again */
    const cl_int code = walk(device, &things, values);
    fake_fail_after(0, 0);
    if (!is_memory_error(code) && code != CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST)
      fail_msg("creation %d: code %d", skip, code);
    release(&things);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(host_memory),
      cmocka_unit_test(device_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
