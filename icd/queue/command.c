/* Enqueues commands. A command is submitted to the GPU at once, done at once in the calling thread,
 * or left to the worker (worker.c).
 */
#include "icd/queue/command.h"
#include "icd/memory/mapping.h"

cl_int icd_check_wait_list(cl_command_queue queue, cl_uint wait_count, const cl_event *waits,
                           const char *call) {
  if (!wait_count != !waits)
    return icd_fail(queue->context, CL_INVALID_EVENT_WAIT_LIST, call,
                    "num_events_in_wait_list is %u, but event_wait_list is %s", wait_count,
                    waits ? "not NULL" : "NULL");
  for (cl_uint i = 0; i < wait_count; i++) {
    if (!icd_is_event(waits[i]))
      return icd_fail(queue->context, CL_INVALID_EVENT_WAIT_LIST, call,
                      "event_wait_list[%u] is not a valid cl_event", i);
    if (waits[i]->context != queue->context)
      return icd_fail(queue->context, CL_INVALID_CONTEXT, call,
                      "event_wait_list[%u] belongs to another context", i);
  }
  return CL_SUCCESS;
}

cl_int icd_check_good_waits(cl_command_queue queue, cl_uint wait_count, const cl_event *waits,
                            const char *call) {
  const cl_int code = icd_check_waits(queue, wait_count, waits, call);
  for (cl_uint i = 0; i < wait_count && !code; i++)
    if (icd_event_status(waits[i]) < 0)
      return icd_fail(queue->context, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, call,
                      "event_wait_list[%u] has failed with status %d", i,
                      icd_event_status(waits[i]));
  return code;
}

/* ---- where a command runs ------------------------------------------------------------------- */

enum dependencies {
  ALL_COMPLETE,
  ALL_ON_GPU, /* some are incomplete, but all of these are tracked */
  SOME_OPEN,  /* some have not been submitted to the GPU */
  SOME_FAILED,
};

static enum dependencies check_dependencies(cl_uint wait_count, const cl_event *waits) {
  enum dependencies result = ALL_COMPLETE;
  for (cl_uint i = 0; i < wait_count; i++) {
    const cl_int status = icd_event_status(waits[i]);
    if (status < 0)
      return SOME_FAILED;
    if (status == CL_COMPLETE)
      continue;
    if (!atomic_load_explicit(&waits[i]->tracked, memory_order_acquire))
      result = SOME_OPEN;
    else if (result == ALL_COMPLETE)
      result = ALL_ON_GPU;
  }
  return result;
}

/* Completes the event of a command that this thread has just done. It began at submit_ns. */
static void complete_event(cl_event event) {
  if (!event)
    return;
  uint64_t start_ns = 0, end_ns = 0;
  if (event->profiled) {
    start_ns = icd_device_clock(event->queue->device, event->submit_ns);
    end_ns = start_ns + (base_clock_ns() - event->submit_ns);
  }
  icd_event_set(event, CL_COMPLETE, start_ns, end_ns);
}

/* The outcome of attempt_command. */
enum attempt { DONE, SUBMITTED, MUST_WAIT, MUST_DEFER };

/* Tries to do the operation at once. The queue's lock must be held. */
static enum attempt attempt_command(cl_command_queue queue, struct icd_operation *operation,
                                    enum dependencies dependencies, cl_uint wait_count,
                                    const cl_event *waits, cl_event event, cl_int *code) {
  uint64_t point;
  *code = CL_SUCCESS;
  if (dependencies == SOME_OPEN || icd_must_queue(queue, operation, wait_count))
    return MUST_DEFER;
  if (!icd_runs_kernels(operation) && dependencies == ALL_COMPLETE &&
      icd_gpu_is_past(queue, operation, wait_count, &point)) {
    /* As late as possible, so that it is after the end of the work before it. */
    if (event && event->profiled)
      event->submit_ns = base_clock_ns();
    icd_do_on_host(queue, operation);
    return DONE;
  }
  if (icd_is_for_gpu(operation)) {
    *code = icd_submit(queue, operation, wait_count, waits, event);
    return SUBMITTED;
  }
  return MUST_WAIT;
}

static cl_int refuse_command(cl_command_queue queue, cl_event event, cl_int code, const char *call,
                             const char *why) {
  if (event)
    icd_event_drop(event);
  if (code == CL_OUT_OF_RESOURCES)
    icd_context_report_fault(queue->context);
  return icd_fail(queue->context, code, call, "%s", why);
}

cl_int icd_refuse_submission(cl_command_queue queue, cl_event event, cl_int code,
                             const char *call) {
  const char *fault = rt_context_fault(queue->context->rt);
  return refuse_command(queue, event, code, call, fault ? fault : rt_last_message());
}

cl_int icd_enqueue(cl_command_queue queue, struct icd_operation *operation, bool blocking,
                   cl_uint wait_count, const cl_event *waits, cl_event *event_ret,
                   const char *call) {
  cl_context context = queue->context;
  icd_reclaim(context, false);
  /* The runtime makes this check for operations that run kernels. */
  const bool runs = icd_runs_kernels(operation);
  const char *fault = runs ? NULL : rt_context_fault(context->rt);
  if (fault)
    return refuse_command(queue, NULL, CL_OUT_OF_RESOURCES, call, fault);
  cl_event event = NULL;
  if (event_ret || blocking) {
    event = icd_event_create(context, queue, operation->type);
    if (!event)
      return refuse_command(queue, NULL, CL_OUT_OF_HOST_MEMORY, call,
                            "out of host memory for an event");
  }
  if (blocking)
    for (cl_uint i = 0; i < wait_count; i++)
      icd_event_wait(waits[i]);

  const enum dependencies dependencies = check_dependencies(wait_count, waits);
  cl_kernel kernel = operation->kernel;
  cl_int code = CL_SUCCESS;
  if (runs && icd_prints(operation))
    icd_print_wait_for_room(context);
  if (kernel) {
    code = icd_launch_begin(operation, call);
    if (!code && dependencies == SOME_FAILED)
      icd_launch_end(operation);
  }
  if (code) {
    if (event)
      icd_event_drop(event);
    return code;
  }
  if (dependencies == SOME_FAILED) {
    const cl_int failed = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
    if (blocking)
      return refuse_command(queue, event, failed, call, "an event in the wait list has failed");
    if (icd_is_about_mapping(operation))
      icd_map_terminated(operation);
    if (event) {
      icd_event_set(event, failed, 0, 0);
      *event_ret = event;
    }
    return CL_SUCCESS;
  }

  icd_lock(&queue->lock);
  enum attempt outcome =
      attempt_command(queue, operation, dependencies, wait_count, waits, event, &code);
  if (outcome == MUST_WAIT && blocking) {
    /* Wait without the lock. Commands that other threads enqueue meanwhile run before this one. */
    uint64_t point;
    icd_gpu_is_past(queue, operation, wait_count, &point);
    icd_unlock(&queue->lock);
    rt_queue_wait(queue->rt, point, UINT64_MAX); /* a fault is found below */
    icd_lock(&queue->lock);
    if (rt_context_fault(context->rt))
      code = CL_OUT_OF_RESOURCES;
    else
      outcome = attempt_command(queue, operation, dependencies, wait_count, waits, event, &code);
  }
  if (!code && (outcome == MUST_WAIT || outcome == MUST_DEFER))
    code = icd_defer(queue, operation, wait_count, waits, event);
  icd_unlock(&queue->lock);
  if (kernel)
    icd_launch_end(operation);

  if (code)
    return icd_refuse_submission(queue, event, code, call);
  if (outcome == DONE) {
    icd_print_drain(queue);
    complete_event(event);
  }
  if (blocking && outcome != DONE) {
    const cl_int status = icd_event_wait(event);
    if (status < 0)
      return refuse_command(queue, event, status, call, "the command has failed");
  }
  if (event_ret)
    *event_ret = event;
  else if (event)
    icd_event_drop(event);
  return CL_SUCCESS;
}

cl_int icd_enqueue_checked(cl_command_queue queue, struct icd_operation *operation,
                           cl_uint wait_count, const cl_event *waits, cl_event *event,
                           const char *call) {
  const cl_int code = icd_check_waits(queue, wait_count, waits, call);
  return code ? code : icd_enqueue(queue, operation, false, wait_count, waits, event, call);
}

cl_int icd_mark(cl_command_queue queue, cl_command_type type, bool blocking, cl_uint wait_count,
                const cl_event *waits, cl_event *event, const char *call) {
  const cl_int code = icd_check_waits(queue, wait_count, waits, call);
  if (code)
    return code;
  struct icd_operation operation = {.kind = ICD_MARK, .type = type};
  return icd_enqueue(queue, &operation, blocking, wait_count, waits, event, call);
}
