/* Fails each allocation of the OpenCL layer once, and each creation in the runtime. The call must
 * return an error, and nothing may crash or leak (AddressSanitizer finds leaks of host memory).
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

/* The objects of one sequence of calls. release_all skips those that are NULL. */
struct objects {
  cl_context context;
  cl_command_queue queue;
  cl_mem mem, sub, mapped;
  void *pointer, *svm;
  cl_program program, binary;
  cl_kernel kernel, clone, printer;
  cl_event user, event, read;
  cl_command_buffer_khr buffer;
};

/* Calls the API until something fails. Returns the error code. */
#define TRY(call)                                                                                  \
  if ((code = (call)))                                                                             \
    return code;
#define MAKE(place, call)                                                                          \
  objects->place = (call);                                                                         \
  if (code)                                                                                        \
    return code;                                                                                   \
  assert_non_null(objects->place);

static void CL_CALLBACK ignore_mem(cl_mem mem, void *data) {}
static void CL_CALLBACK ignore_context(cl_context context, void *data) {}
static void CL_CALLBACK ignore_output(const char *text, size_t size, size_t end, void *data) {}
static void CL_CALLBACK ignore_event(cl_event event, cl_int status, void *data) {}

static cl_int walk(cl_device_id device, struct objects *objects, int *values) {
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
  TRY(clSetContextDestructorCallback(objects->context, ignore_context, NULL))
  MAKE(queue, clCreateCommandQueueWithProperties(objects->context, device, queue_properties, &code))
  MAKE(mem, clCreateBufferWithProperties(objects->context, mem_properties, CL_MEM_COPY_HOST_PTR,
                                         N * 16, values, &code))
  TRY(clSetMemObjectDestructorCallback(objects->mem, ignore_mem, NULL))
  MAKE(sub, clCreateSubBuffer(objects->mem, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &code))
  MAKE(program, clCreateProgramWithSource(objects->context, 1, &source, NULL, &code))
  TRY(clBuildProgram(objects->program, 1, &device, "-cl-fast-relaxed-math", NULL, NULL))
  MAKE(kernel, clCreateKernel(objects->program, "add", &code))
  TRY(clSetKernelArg(objects->kernel, 0, sizeof(cl_mem), &objects->mem))
  TRY(clSetKernelArg(objects->kernel, 1, sizeof(cl_mem), &objects->sub))
  TRY(clSetKernelArg(objects->kernel, 2, sizeof(int), &(int){1}))
  MAKE(clone, clCloneKernel(objects->kernel, &code))
  MAKE(printer, clCreateKernel(objects->program, "print", &code))
  TRY(clSetKernelArg(objects->printer, 0, sizeof(int), &(int){1}))
  TRY(clEnqueueNDRangeKernel(objects->queue, objects->printer, 1, NULL, &global, NULL, 0, NULL,
                             NULL))
  MAKE(user, clCreateUserEvent(objects->context, &code))
  /* the first launch is submitted at once, the second waits for the worker */
  TRY(clEnqueueNDRangeKernel(objects->queue, objects->clone, 1, NULL, &global, NULL, 0, NULL, NULL))
  TRY(clEnqueueNDRangeKernel(objects->queue, objects->kernel, 1, NULL, &global, NULL, 1,
                             &objects->user, &objects->event))
  TRY(clSetEventCallback(objects->event, CL_COMPLETE, ignore_event, NULL))
  TRY(clEnqueueReadBuffer(objects->queue, objects->sub, CL_FALSE, 0, N, values, 0, NULL,
                          &objects->read))
  MAKE(pointer, clEnqueueMapBuffer(objects->queue, objects->mem, CL_FALSE, CL_MAP_WRITE, 0, N, 0,
                                   NULL, NULL, &code))
  TRY(clEnqueueUnmapMemObject(objects->queue, objects->mem, objects->pointer, 0, NULL, NULL))
  MAKE(buffer, icd_clCreateCommandBufferKHR(1, &objects->queue, buffer_properties, &code))
  TRY(icd_clCommandFillBufferKHR(objects->buffer, NULL, NULL, objects->mem, &global, sizeof global,
                                 0, N, 0, NULL, NULL, NULL))
  TRY(icd_clCommandCopyBufferKHR(objects->buffer, NULL, NULL, objects->mem, objects->mem, 0, N, N,
                                 0, NULL, NULL, NULL))
  cl_mutable_command_khr command;
  TRY(icd_clCommandNDRangeKernelKHR(objects->buffer, NULL, launch_properties, objects->kernel, 1,
                                    NULL, &global, NULL, 0, NULL, NULL, &command))
  TRY(icd_clFinalizeCommandBufferKHR(objects->buffer))
  TRY(icd_clEnqueueCommandBufferKHR(0, NULL, objects->buffer, 1, &objects->user, NULL))
  const struct icd_mutable_dispatch_config config = {.command = command,
                                                     .global_work_size = &global};
  const cl_command_buffer_update_type_khr type = ICD_MUTABLE_DISPATCH_CONFIG;
  const void *configs[] = {&config};
  TRY(icd_clUpdateMutableCommandsKHR(objects->buffer, 1, &type, configs))
  code = CL_OUT_OF_HOST_MEMORY; /* the only reason why clSVMAlloc may fail here */
  objects->svm = clSVMAlloc(objects->context, CL_MEM_READ_WRITE, N, 0);
  if (!objects->svm)
    return code;
  TRY(clEnqueueSVMFree(objects->queue, 1, &objects->svm, NULL, NULL, 0, NULL, NULL))
  objects->svm = NULL;
  TRY(clSetUserEventStatus(objects->user, CL_COMPLETE))
  TRY(clWaitForEvents(1, &objects->read))
  TRY(clWaitForEvents(1, &objects->event))
  return clFinish(objects->queue);
}

static void release_all(struct objects *objects) {
  if (objects->user)
    assert_cl(clReleaseEvent(objects->user));
  if (objects->queue)
    clFinish(objects->queue); /* may fail, because the user event has failed */
  if (objects->event)
    assert_cl(clReleaseEvent(objects->event));
  if (objects->read)
    assert_cl(clReleaseEvent(objects->read));
  if (objects->buffer)
    assert_cl(icd_clReleaseCommandBufferKHR(objects->buffer));
  if (objects->printer)
    assert_cl(clReleaseKernel(objects->printer));
  if (objects->clone)
    assert_cl(clReleaseKernel(objects->clone));
  if (objects->kernel)
    assert_cl(clReleaseKernel(objects->kernel));
  if (objects->program)
    assert_cl(clReleaseProgram(objects->program));
  clSVMFree(objects->context, objects->svm);
  if (objects->sub)
    assert_cl(clReleaseMemObject(objects->sub));
  if (objects->mem)
    assert_cl(clReleaseMemObject(objects->mem));
  if (objects->queue)
    assert_cl(clReleaseCommandQueue(objects->queue));
  if (objects->context)
    assert_cl(clReleaseContext(objects->context));
  AWAIT(!fake_live());
  assert_int_equal(fake_live(), 0);
}

static void failed_host_allocations_return_errors(void **state) {
  cl_device_id device = icd_device();
  int tries = 0, gone_round = 0;
  for (bool failed = true; failed; tries++) {
    static int values[4 * N];
    struct objects objects = {0};
    alloc_fail_arm(tries);
    const cl_int code = walk(device, &objects, values);
    failed = alloc_fail_disarm();
    gone_round += failed && !code;
    if (code && !failed)
      fail_msg("allocation %d: failed %d, code %d", tries, failed, code);
    if (code && !is_memory_error(code))
      fail_msg("allocation %d: code %d", tries, code);
    release_all(&objects);
  }
  /* If no thread can be started to wait for an event with callbacks, the call itself waits. */
  assert_in_range(gone_round, 0, 1);
  assert_true(tries > 15); /* the sequence allocates at least that many objects */
}

static void failed_device_allocations_return_errors(void **state) {
  cl_device_id device = icd_device();
  /* context, queue, buffer, module, and times of the launch with an event */
  for (int skip = 0; skip < 5; skip++) {
    static int values[4 * N];
    struct objects objects = {0};
    fake_fail_after(skip, 2); /* two failures, because the allocation of a buffer is retried */
    const cl_int code = walk(device, &objects, values);
    fake_fail_after(0, 0);
    if (!is_memory_error(code) && code != CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST)
      fail_msg("creation %d: code %d", skip, code);
    release_all(&objects);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(failed_host_allocations_return_errors),
      cmocka_unit_test(failed_device_allocations_return_errors),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
