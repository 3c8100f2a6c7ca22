/* OpenCL functions about events. */
#include <stdlib.h>

#include "icd/context/retire.h"
#include "icd/queue/event_pool.h"

CL_API_ENTRY cl_event CL_API_CALL clCreateUserEvent(cl_context context, cl_int *errcode_ret) {
  if (!icd_is_context(context))
    return ICD_FAIL_NULL(errcode_ret, NULL, CL_INVALID_CONTEXT,
                         "context %p is not a valid cl_context", (void *)context);
  cl_event event = icd_event_create(context, NULL, CL_COMMAND_USER);
  if (!event)
    return ICD_FAIL_NULL(errcode_ret, context, CL_OUT_OF_HOST_MEMORY, "out of host memory");
  return ICD_GIVE(errcode_ret, event);
}

CL_API_ENTRY cl_int CL_API_CALL clSetUserEventStatus(cl_event event, cl_int execution_status) {
  if (!icd_is_event(event) || event->queue)
    return ICD_FAIL(NULL, CL_INVALID_EVENT, "event %p is not a valid user event", (void *)event);
  if (execution_status > CL_COMPLETE)
    return ICD_FAIL(event->context, CL_INVALID_VALUE,
                    "execution_status is %d; it must be CL_COMPLETE or negative", execution_status);
  icd_event_hold(event); /* a callback or a thread that waited for it may release it */
  const cl_int code = icd_event_set(event, execution_status, 0, 0)
                          ? CL_SUCCESS
                          : ICD_FAIL(event->context, CL_INVALID_OPERATION,
                                     "the status of the event has already been set");
  icd_event_drop(event);
  return code;
}

CL_API_ENTRY cl_int CL_API_CALL clWaitForEvents(cl_uint num_events, const cl_event *event_list) {
  if (!num_events || !event_list)
    return ICD_FAIL(NULL, CL_INVALID_VALUE,
                    "num_events is %u and event_list %p; at least one event is required",
                    num_events, (const void *)event_list);
  for (cl_uint i = 0; i < num_events; i++) {
    if (!icd_is_event(event_list[i]))
      return ICD_FAIL(NULL, CL_INVALID_EVENT, "event_list[%u] is not a valid cl_event", i);
    if (event_list[i]->context != event_list[0]->context)
      return ICD_FAIL(event_list[0]->context, CL_INVALID_CONTEXT,
                      "event_list[%u] and event_list[0] belong to different contexts", i);
  }
  cl_int code = CL_SUCCESS;
  for (cl_uint i = 0; i < num_events; i++) {
    const cl_int status = icd_event_wait(event_list[i]);
    if (status < 0 && !code)
      code = ICD_FAIL(event_list[i]->context, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST,
                      "event_list[%u] has failed with status %d", i, status);
  }
  icd_reclaim(event_list[0]->context, false);
  return code;
}

CL_API_ENTRY cl_int CL_API_CALL clRetainEvent(cl_event event) {
  if (!icd_is_event(event))
    return ICD_FAIL(NULL, CL_INVALID_EVENT, "event %p is not a valid cl_event", (void *)event);
  icd_object_retain(&event->object);
  return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL clReleaseEvent(cl_event event) {
  if (!icd_is_event(event))
    return ICD_FAIL(NULL, CL_INVALID_EVENT, "event %p is not a valid cl_event", (void *)event);
  /* Nothing can set a released user event any more, so commands that wait for it would wait
   * forever. The specification leaves this undefined. Here those commands fail. */
  icd_event_hold(event);
  const cl_int code = icd_object_release(&event->object, CL_INVALID_EVENT);
  if (!code && !event->queue && !atomic_load(&event->object.handles))
    icd_event_set(event, CL_INVALID_EVENT, 0, 0);
  icd_event_drop(event);
  if (code)
    return ICD_FAIL(NULL, code, "event %p has been released too often", (void *)event);
  return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL
clSetEventCallback(cl_event event, cl_int command_exec_callback_type,
                   void(CL_CALLBACK *pfn_notify)(cl_event, cl_int, void *), void *user_data) {
  if (!icd_is_event(event))
    return ICD_FAIL(NULL, CL_INVALID_EVENT, "event %p is not a valid cl_event", (void *)event);
  if (!pfn_notify)
    return ICD_FAIL(event->context, CL_INVALID_VALUE, "pfn_notify is NULL");
  if (command_exec_callback_type != CL_SUBMITTED && command_exec_callback_type != CL_RUNNING &&
      command_exec_callback_type != CL_COMPLETE)
    return ICD_FAIL(
        event->context, CL_INVALID_VALUE,
        "command_exec_callback_type is %d; it must be CL_SUBMITTED, CL_RUNNING or CL_COMPLETE",
        command_exec_callback_type);
  struct icd_event_callback *callback = malloc(sizeof(*callback));
  if (!callback)
    return ICD_FAIL(event->context, CL_OUT_OF_HOST_MEMORY, "out of host memory");
  *callback = (struct icd_event_callback){
      .status = command_exec_callback_type, .function = pfn_notify, .data = user_data};
  if (!icd_deliver_later()) {
    free(callback);
    return ICD_FAIL(event->context, CL_OUT_OF_RESOURCES,
                    "cannot start the thread that calls callbacks");
  }
  icd_event_hold(event); /* the callback may release it in another thread */
  icd_event_add_callback(event, callback);
  icd_event_watch(event);
  icd_event_drop(event);
  return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL clGetEventInfo(cl_event event, cl_event_info param_name,
                                               size_t param_value_size, void *param_value,
                                               size_t *param_value_size_ret) {
  const struct icd_answer answer = {param_value_size, param_value, param_value_size_ret};
  if (!icd_is_event(event))
    return ICD_FAIL(NULL, CL_INVALID_EVENT, "event %p is not a valid cl_event", (void *)event);
  switch (param_name) {
  case CL_EVENT_COMMAND_QUEUE:
    return ICD_ANSWER(&answer, cl_command_queue, event->queue);
  case CL_EVENT_CONTEXT:
    return ICD_ANSWER(&answer, cl_context, event->context);
  case CL_EVENT_COMMAND_TYPE:
    return ICD_ANSWER(&answer, cl_command_type, event->type);
  case CL_EVENT_COMMAND_EXECUTION_STATUS:
    return ICD_ANSWER(&answer, cl_int, icd_event_status(event));
  case CL_EVENT_REFERENCE_COUNT:
    return ICD_ANSWER(&answer, cl_uint, atomic_load(&event->object.handles));
  default:
    return ICD_FAIL(event->context, CL_INVALID_VALUE, "unknown param_name 0x%x", param_name);
  }
}

CL_API_ENTRY cl_int CL_API_CALL clGetEventProfilingInfo(cl_event event,
                                                        cl_profiling_info param_name,
                                                        size_t param_value_size, void *param_value,
                                                        size_t *param_value_size_ret) {
  const struct icd_answer answer = {param_value_size, param_value, param_value_size_ret};
  if (!icd_is_event(event))
    return ICD_FAIL(NULL, CL_INVALID_EVENT, "event %p is not a valid cl_event", (void *)event);
  if (!event->profiled)
    return ICD_FAIL(event->context, CL_PROFILING_INFO_NOT_AVAILABLE,
                    event->queue ? "the command queue was created without CL_QUEUE_PROFILING_ENABLE"
                                 : "a user event has no profiling information");
  if (icd_event_status(event) != CL_COMPLETE)
    return ICD_FAIL(event->context, CL_PROFILING_INFO_NOT_AVAILABLE,
                    "the command has not completed");
  switch (param_name) {
  case CL_PROFILING_COMMAND_QUEUED:
    return ICD_ANSWER(&answer, cl_ulong, event->queued_ns);
  case CL_PROFILING_COMMAND_SUBMIT:
    return ICD_ANSWER(&answer, cl_ulong, event->submit_ns);
  case CL_PROFILING_COMMAND_START:
    return ICD_ANSWER(&answer, cl_ulong, event->start_ns);
  case CL_PROFILING_COMMAND_END:
  case CL_PROFILING_COMMAND_COMPLETE: /* no child kernels */
    return ICD_ANSWER(&answer, cl_ulong, event->end_ns);
  default:
    return ICD_FAIL(event->context, CL_INVALID_VALUE, "unknown param_name 0x%x", param_name);
  }
}
