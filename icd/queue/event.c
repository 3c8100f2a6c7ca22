/* Events. One that tracks the GPU learns of its completion when it is queried:
 * a query, a wait, or the watcher if it has callbacks.
 */
#include <stdlib.h>

#include "base/number.h"
#include "icd/context/retire.h"
#include "icd/queue/event_pool.h"

cl_event icd_event_create(cl_context context, cl_command_queue queue, cl_command_type type) {
  cl_event event = icd_event_pool_get(context);
  if (!event)
    return NULL;
  event->context = context;
  event->queue = queue;
  event->type = type;
  atomic_init(&event->status, queue ? CL_QUEUED : CL_SUBMITTED);
  event->profiled = queue && (queue->flags & CL_QUEUE_PROFILING_ENABLE);
  if (event->profiled)
    event->queued_ns = base_clock_ns();
  if (queue)
    icd_queue_hold(queue); /* which holds the context */
  else
    icd_context_hold(context);
  icd_object_init(&event->object, ICD_MAGIC_EVENT);
  return event;
}

void icd_event_hold(cl_event event) {
  icd_object_hold(&event->object);
}

static void recycle_event(void *owner) {
  cl_event event = owner;
  cl_context context = event->context;
  cl_command_queue queue = event->queue;
  if (event->times)
    rt_times_put(context->rt, event->times);
  event->times = NULL;
  icd_event_pool_put(context, event);
  if (queue)
    icd_queue_drop(queue);
  else
    icd_context_drop(context);
}

void icd_event_drop(cl_event event) {
  if (!icd_object_drop(&event->object))
    return;
  if (event->times && rt_queue_completed(event->queue->rt) < event->point)
    /* the GPU has yet to write them */
    icd_retire(event->context, &event->retired, recycle_event, event);
  else
    recycle_event(event);
}

/* ---- state -------------------------------------------------------------------- */

/* Takes the callbacks off that are due in this status, first registered first.
 * Context lock held. */
static struct icd_event_callback *take_due(cl_event event, cl_int status) {
  struct icd_event_callback *due = NULL, **end = &due;
  for (struct icd_event_callback **link = &event->callbacks; *link;) {
    struct icd_event_callback *callback = *link;
    if (callback->status >= status) {
      *link = callback->next;
      callback->next = NULL;
      *end = callback;
      end = &callback->next;
    } else {
      link = &callback->next;
    }
  }
  return due;
}

void icd_event_call(cl_event event, cl_int status, struct icd_event_callback *callbacks) {
  while (callbacks) {
    struct icd_event_callback *next = callbacks->next;
    callbacks->function(event, status < 0 ? status : callbacks->status, callbacks->data);
    free(callbacks);
    callbacks = next;
  }
}

/* Context lock held. */
static struct icd_event_callback *move_locked(cl_event event, cl_int status, uint64_t start_ns,
                                              uint64_t end_ns) {
  const cl_int now = atomic_load(&event->status);
  if (now <= CL_COMPLETE || now <= status)
    return NULL;
  if (status == CL_COMPLETE && event->profiled) {
    /* Comparing two clocks has an error; the order of the four is certain. */
    const uint64_t submit_ns = icd_device_clock(event->queue->device, event->submit_ns);
    event->start_ns = start_ns;
    event->end_ns = end_ns < start_ns ? start_ns : end_ns;
    event->queued_ns = base_min(submit_ns - (event->submit_ns - event->queued_ns), start_ns);
    event->submit_ns = base_min(submit_ns, start_ns);
  }
  atomic_store_explicit(&event->status, status, memory_order_release);
  icd_context_change_locked(event->context);
  return take_due(event, status);
}

struct icd_event_callback *icd_event_move(cl_event event, cl_int status, uint64_t start_ns,
                                          uint64_t end_ns) {
  base_mutex_lock(&event->context->lock);
  struct icd_event_callback *due = move_locked(event, status, start_ns, end_ns);
  base_mutex_unlock(&event->context->lock);
  return due;
}

void icd_event_set(cl_event event, cl_int status, uint64_t start_ns, uint64_t end_ns) {
  icd_event_call(event, status, icd_event_move(event, status, start_ns, end_ns));
}

struct icd_event_callback *icd_event_track(cl_event event, uint64_t point, struct rt_times *times) {
  base_mutex_lock(&event->context->lock);
  event->point = point;
  event->times = times;
  atomic_store_explicit(&event->tracked, true, memory_order_release);
  struct icd_event_callback *due = move_locked(event, CL_SUBMITTED, 0, 0);
  icd_context_change_locked(event->context);
  base_mutex_unlock(&event->context->lock);
  return due;
}

/* A tracked event has reached its end: takes the GPU's times over. */
static cl_int settle_event(cl_event event, cl_int status) {
  icd_print_drain(event->queue);
  base_mutex_lock(&event->context->lock);
  struct rt_times *times = event->times;
  struct icd_event_callback *due = NULL;
  if (atomic_load(&event->status) > CL_COMPLETE) {
    event->times = NULL;
    due = move_locked(event, status, times ? times->start_ns : 0, times ? times->end_ns : 0);
  } else {
    times = NULL; /* another thread was first */
  }
  base_mutex_unlock(&event->context->lock);
  if (times)
    rt_times_put(event->context->rt, times);
  if (status < 0)
    icd_context_tell_fault(event->context);
  icd_event_call(event, status, due);
  return atomic_load_explicit(&event->status, memory_order_acquire);
}

/* True if the GPU has begun with a profiled command. */
static bool has_begun(cl_event event) {
  base_mutex_lock(&event->context->lock);
  const bool begun = event->times && __atomic_load_n(&event->times->start_ns, __ATOMIC_RELAXED);
  base_mutex_unlock(&event->context->lock);
  return begun;
}

cl_int icd_event_status(cl_event event) {
  const cl_int status = atomic_load_explicit(&event->status, memory_order_acquire);
  if (status <= CL_COMPLETE || !atomic_load_explicit(&event->tracked, memory_order_acquire))
    return status;
  /* The fault is read before the timeline: what was completed before it counts. */
  const bool dead = rt_context_fault(event->context->rt);
  if (rt_queue_completed(event->queue->rt) >= event->point)
    return settle_event(event, CL_COMPLETE);
  if (dead)
    return settle_event(event, CL_OUT_OF_RESOURCES);
  if (event->profiled && status > CL_RUNNING && has_begun(event)) {
    icd_event_set(event, CL_RUNNING, 0, 0);
    return CL_RUNNING;
  }
  return status;
}

void icd_event_await_submission(cl_event event) {
  base_mutex_lock(&event->context->lock);
  while (atomic_load(&event->status) > CL_COMPLETE && !atomic_load(&event->tracked))
    base_mutex_wait(&event->context->lock, &event->context->changed);
  base_mutex_unlock(&event->context->lock);
}

cl_int icd_event_wait(cl_event event) {
  for (;;) {
    const cl_int status = icd_event_status(event);
    if (status <= CL_COMPLETE)
      return status;
    if (atomic_load_explicit(&event->tracked, memory_order_acquire)) {
      if (rt_queue_wait(event->queue->rt, event->point, UINT64_MAX))
        return settle_event(event, CL_OUT_OF_RESOURCES);
      continue;
    }
    icd_event_await_submission(event);
  }
}

/* ---- entry points ---------------------------------------------------------------- */

CL_API_ENTRY cl_event CL_API_CALL clCreateUserEvent(cl_context context, cl_int *errcode_ret) {
  if (!icd_is_context(context))
    return ICD_FAIL_NULL(errcode_ret, NULL, CL_INVALID_CONTEXT, "context is not a context");
  cl_event event = icd_event_create(context, NULL, CL_COMMAND_USER);
  if (!event)
    return ICD_FAIL_NULL(errcode_ret, context, CL_OUT_OF_HOST_MEMORY, "no memory");
  return ICD_GIVE(errcode_ret, event);
}

CL_API_ENTRY cl_int CL_API_CALL clSetUserEventStatus(cl_event event, cl_int execution_status) {
  if (!icd_is_event(event) || event->queue)
    return ICD_FAIL(NULL, CL_INVALID_EVENT, "event is not a user event");
  if (execution_status > CL_COMPLETE)
    return ICD_FAIL(event->context, CL_INVALID_VALUE, "%d is neither CL_COMPLETE nor negative",
                    execution_status);
  icd_event_hold(event); /* who has waited for it, or the first callback, may release it */
  base_mutex_lock(&event->context->lock);
  const bool open = atomic_load(&event->status) > CL_COMPLETE;
  struct icd_event_callback *due = move_locked(event, execution_status, 0, 0);
  base_mutex_unlock(&event->context->lock);
  icd_event_call(event, execution_status, due);
  const cl_int code =
      open ? CL_SUCCESS
           : ICD_FAIL(event->context, CL_INVALID_OPERATION, "the status has been set before");
  icd_event_drop(event);
  return code;
}

CL_API_ENTRY cl_int CL_API_CALL clWaitForEvents(cl_uint num_events, const cl_event *event_list) {
  if (!num_events || !event_list)
    return ICD_FAIL(NULL, CL_INVALID_VALUE, "no events are given");
  for (cl_uint i = 0; i < num_events; i++) {
    if (!icd_is_event(event_list[i]))
      return ICD_FAIL(NULL, CL_INVALID_EVENT, "event_list[%u] is not an event", i);
    if (event_list[i]->context != event_list[0]->context)
      return ICD_FAIL(event_list[0]->context, CL_INVALID_CONTEXT,
                      "event_list[%u] is of another context than event_list[0]", i);
  }
  cl_int code = CL_SUCCESS;
  for (cl_uint i = 0; i < num_events; i++) {
    const cl_int status = icd_event_wait(event_list[i]);
    if (status < 0 && !code)
      code = ICD_FAIL(event_list[i]->context, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST,
                      "event_list[%u] has failed with %d", i, status);
  }
  icd_reclaim(event_list[0]->context, false);
  return code;
}

CL_API_ENTRY cl_int CL_API_CALL clRetainEvent(cl_event event) {
  if (!icd_is_event(event))
    return ICD_FAIL(NULL, CL_INVALID_EVENT, "event is not an event");
  icd_object_retain(&event->object);
  return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL clReleaseEvent(cl_event event) {
  if (!icd_is_event(event))
    return ICD_FAIL(NULL, CL_INVALID_EVENT, "event is not an event");
  /* A user event that can no longer be set: what waits for it would wait for
   * ever. The specification leaves it undefined; here those commands fail. */
  icd_event_hold(event);
  bool last;
  const cl_int code = icd_object_release(&event->object, CL_INVALID_EVENT, &last);
  if (!code && !event->queue && !atomic_load(&event->object.handles))
    icd_event_set(event, CL_INVALID_EVENT, 0, 0);
  icd_event_drop(event);
  if (code)
    return ICD_FAIL(NULL, code, "event has been released too often");
  return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL
clSetEventCallback(cl_event event, cl_int command_exec_callback_type,
                   void(CL_CALLBACK *pfn_notify)(cl_event, cl_int, void *), void *user_data) {
  if (!icd_is_event(event))
    return ICD_FAIL(NULL, CL_INVALID_EVENT, "event is not an event");
  if (!pfn_notify)
    return ICD_FAIL(event->context, CL_INVALID_VALUE, "pfn_notify is NULL");
  if (command_exec_callback_type != CL_SUBMITTED && command_exec_callback_type != CL_RUNNING &&
      command_exec_callback_type != CL_COMPLETE)
    return ICD_FAIL(event->context, CL_INVALID_VALUE,
                    "%d is none of CL_SUBMITTED, CL_RUNNING, CL_COMPLETE",
                    command_exec_callback_type);
  struct icd_event_callback *callback = malloc(sizeof(*callback));
  if (!callback)
    return ICD_FAIL(event->context, CL_OUT_OF_HOST_MEMORY, "no memory");
  *callback = (struct icd_event_callback){
      .status = command_exec_callback_type, .function = pfn_notify, .data = user_data};

  icd_event_hold(event);   /* the callback may release it, in another thread */
  icd_event_status(event); /* so that a tracked event's status is up to date */
  base_mutex_lock(&event->context->lock);
  const cl_int status = atomic_load(&event->status);
  const bool due = status <= command_exec_callback_type;
  if (!due) {
    struct icd_event_callback **link = &event->callbacks;
    while (*link)
      link = &(*link)->next;
    *link = callback;
  }
  base_mutex_unlock(&event->context->lock);
  if (due)
    icd_event_call(event, status, callback);
  else
    icd_event_watch(event);
  icd_event_drop(event);
  return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL clGetEventInfo(cl_event event, cl_event_info param_name,
                                               size_t param_value_size, void *param_value,
                                               size_t *param_value_size_ret) {
  const struct icd_answer answer = {param_value_size, param_value, param_value_size_ret};
  if (!icd_is_event(event))
    return ICD_FAIL(NULL, CL_INVALID_EVENT, "event is not an event");
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
    return ICD_FAIL(NULL, CL_INVALID_EVENT, "event is not an event");
  if (!event->profiled)
    return ICD_FAIL(event->context, CL_PROFILING_INFO_NOT_AVAILABLE,
                    event->queue ? "the queue was made without CL_QUEUE_PROFILING_ENABLE"
                                 : "a user event has no times");
  if (icd_event_status(event) != CL_COMPLETE)
    return ICD_FAIL(event->context, CL_PROFILING_INFO_NOT_AVAILABLE, "the event is not complete");
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
