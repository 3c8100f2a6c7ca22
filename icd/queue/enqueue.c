/* Launches, markers, barriers and migration. */
#include "icd/cl_tegracl.h"
#include "icd/memory/transfer.h"
#include "icd/queue/command.h"

/* ---- launches ----------------------------------------------------------------------- */

/* Returns whether the range is empty, which is allowed since OpenCL 2.1. */
static bool range_is_empty(const struct icd_given_range *given) {
  bool empty = !given->global;
  for (cl_uint i = 0; i < given->work_dim && !empty; i++)
    empty = !given->global[i];
  return empty;
}

static cl_int launch_nothing(cl_command_queue queue, const struct icd_operation *operation,
                             cl_uint wait_count, const cl_event *waits, cl_event *event,
                             const char *call) {
  cl_kernel kernel = operation->kernel;
  struct icd_range range;
  const cl_int code = icd_read_range(kernel, &operation->launch.range, &range, call);
  if (code)
    return code;
  icd_hold_notify();
  icd_lock(&kernel->guard);
  const cl_int unset = icd_check_arguments(kernel, call);
  icd_unlock(&kernel->guard);
  icd_release_notify();
  return unset ? unset : icd_mark(queue, operation->type, false, wait_count, waits, event, call);
}

/* Enqueues a launch. The caller has set type, kernel and launch.range of the operation. */
static inline cl_int enqueue_launch(cl_command_queue queue, struct icd_operation *operation,
                                    cl_uint wait_count, const cl_event *waits, cl_event *event,
                                    const char *call) {
  cl_int code;
  if ((code = icd_check_queue(queue, call)) ||
      (code = icd_check_launch(queue->context, operation->kernel, operation->launch.range.work_dim,
                               call)) ||
      (code = icd_check_waits(queue, wait_count, waits, call)))
    return code;
  if (range_is_empty(&operation->launch.range))
    return launch_nothing(queue, operation, wait_count, waits, event, call);
  operation->kind = ICD_LAUNCH;
  operation->mems[0] = operation->mems[1] = NULL;
  return icd_enqueue_kernels(queue, operation, wait_count, waits, event, call);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel,
                                                       cl_uint work_dim, const size_t *offset,
                                                       const size_t *global, const size_t *local,
                                                       cl_uint wait_count, const cl_event *waits,
                                                       cl_event *event) {
  struct icd_operation operation;
  operation.type = CL_COMMAND_NDRANGE_KERNEL;
  operation.kernel = kernel;
  operation.launch.range = (struct icd_given_range){work_dim, offset, global, local};
  return enqueue_launch(queue, &operation, wait_count, waits, event, __func__);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueTask(cl_command_queue queue, cl_kernel kernel,
                                              cl_uint wait_count, const cl_event *waits,
                                              cl_event *event) {
  const size_t one = 1;
  struct icd_operation operation;
  operation.type = CL_COMMAND_TASK;
  operation.kernel = kernel;
  operation.launch.range = (struct icd_given_range){1, NULL, &one, &one};
  return enqueue_launch(queue, &operation, wait_count, waits, event, __func__);
}

CL_API_ENTRY cl_int CL_API_CALL
clGetKernelSuggestedLocalWorkSize(cl_command_queue queue, cl_kernel kernel, cl_uint work_dim,
                                  const size_t *offset, const size_t *global, size_t *suggested) {
  cl_int code;
  if ((code = icd_check_queue(queue, __func__)) ||
      (code = icd_check_launch(queue->context, kernel, work_dim, __func__)))
    return code;
  if (!suggested)
    return ICD_FAIL(queue->context, CL_INVALID_VALUE, "suggested_local_work_size is NULL");
  const struct icd_given_range range = {work_dim, offset, global, NULL};
  if (range_is_empty(&range))
    return ICD_FAIL(queue->context, CL_INVALID_GLOBAL_WORK_SIZE,
                    "global_work_size is NULL or has a size of 0");
  return icd_suggest_local_size(kernel, &range, suggested, __func__);
}

/* ---- markers, barriers and migration ------------------------------------------------ */

CL_API_ENTRY cl_int CL_API_CALL clEnqueueMarkerWithWaitList(cl_command_queue queue,
                                                            cl_uint wait_count,
                                                            const cl_event *waits,
                                                            cl_event *event) {
  const cl_int code = icd_check_queue(queue, __func__);
  return code ? code
              : icd_mark(queue, CL_COMMAND_MARKER, false, wait_count, waits, event, __func__);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueBarrierWithWaitList(cl_command_queue queue,
                                                             cl_uint wait_count,
                                                             const cl_event *waits,
                                                             cl_event *event) {
  const cl_int code = icd_check_queue(queue, __func__);
  return code ? code
              : icd_mark(queue, CL_COMMAND_BARRIER, false, wait_count, waits, event, __func__);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueMarker(cl_command_queue queue, cl_event *event) {
  const cl_int code = icd_check_queue(queue, __func__);
  if (code)
    return code;
  if (!event)
    return ICD_FAIL(queue->context, CL_INVALID_VALUE, "event is NULL");
  return icd_mark(queue, CL_COMMAND_MARKER, false, 0, NULL, event, __func__);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueBarrier(cl_command_queue queue) {
  const cl_int code = icd_check_queue(queue, __func__);
  return code ? code : icd_mark(queue, CL_COMMAND_BARRIER, false, 0, NULL, NULL, __func__);
}

/* Deprecated since OpenCL 1.2. Unlike wait lists it reports CL_INVALID_EVENT for an invalid
 * event. */
CL_API_ENTRY cl_int CL_API_CALL clEnqueueWaitForEvents(cl_command_queue queue, cl_uint count,
                                                       const cl_event *events) {
  const cl_int code = icd_check_queue(queue, __func__);
  if (code)
    return code;
  if (!count || !events)
    return ICD_FAIL(queue->context, CL_INVALID_VALUE,
                    "num_events is %u and event_list %p; at least one event is required", count,
                    (const void *)events);
  for (cl_uint i = 0; i < count; i++)
    if (!icd_is_event(events[i]))
      return ICD_FAIL(queue->context, CL_INVALID_EVENT, "event_list[%u] is not a valid cl_event",
                      i);
  return icd_mark(queue, CL_COMMAND_BARRIER, false, count, events, NULL, __func__);
}

cl_int icd_check_migration(cl_command_queue queue, cl_mem_migration_flags flags, const char *call) {
  const cl_mem_migration_flags known =
      CL_MIGRATE_MEM_OBJECT_HOST | CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED;
  if (flags & ~known)
    return icd_fail(queue->context, CL_INVALID_VALUE, call, "flags 0x%llx has unknown bits 0x%llx",
                    (unsigned long long)flags, (unsigned long long)(flags & ~known));
  return CL_SUCCESS;
}

/* Host and device share memory, so nothing is moved. */
CL_API_ENTRY cl_int CL_API_CALL clEnqueueMigrateMemObjects(cl_command_queue queue, cl_uint count,
                                                           const cl_mem *mems,
                                                           cl_mem_migration_flags flags,
                                                           cl_uint wait_count,
                                                           const cl_event *waits, cl_event *event) {
  cl_int code = icd_check_queue(queue, __func__);
  if (code)
    return code;
  if (!count || !mems)
    return ICD_FAIL(
        queue->context, CL_INVALID_VALUE,
        "num_mem_objects is %u and mem_objects %p; at least one memory object is required", count,
        (const void *)mems);
  for (cl_uint i = 0; i < count; i++)
    if ((code = icd_check_mem(queue, mems[i], __func__)))
      return code;
  if ((code = icd_check_migration(queue, flags, __func__)))
    return code;
  return icd_mark(queue, CL_COMMAND_MIGRATE_MEM_OBJECTS, false, wait_count, waits, event, __func__);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueNativeKernel(cl_command_queue queue,
                                                      void(CL_CALLBACK *function)(void *),
                                                      void *args, size_t args_size,
                                                      cl_uint mem_count, const cl_mem *mems,
                                                      const void **places, cl_uint wait_count,
                                                      const cl_event *waits, cl_event *event) {
  const cl_int code = icd_check_queue(queue, __func__);
  if (code)
    return code;
  if (!function)
    return ICD_FAIL(queue->context, CL_INVALID_VALUE, "user_func is NULL");
  return ICD_FAIL(queue->context, CL_INVALID_OPERATION,
                  "native kernels are not supported (CL_DEVICE_EXECUTION_CAPABILITIES)");
}
