/* The ways of a command: at once on the GPU, at once in the calling thread, or
 * to the worker (worker.c).
 */
#include <errno.h>
#include <string.h>

#include "icd/command.h"
#include "runtime/timeline.h"

cl_int icd_check_wait_list(cl_command_queue queue, cl_uint wait_count, const cl_event *waits,
                           const char *call) {
  if (!wait_count != !waits)
    return icd_fail(queue->context, CL_INVALID_EVENT_WAIT_LIST, call,
                    "num_events_in_wait_list is %u but event_wait_list is %s", wait_count,
                    waits ? "not NULL" : "NULL");
  for (cl_uint i = 0; i < wait_count; i++) {
    if (!icd_is_event(waits[i]))
      return icd_fail(queue->context, CL_INVALID_EVENT_WAIT_LIST, call,
                      "event_wait_list[%u] is not an event", i);
    if (waits[i]->context != queue->context)
      return icd_fail(queue->context, CL_INVALID_CONTEXT, call,
                      "event_wait_list[%u] is of another context", i);
  }
  return CL_SUCCESS;
}

cl_int icd_check_good_waits(cl_command_queue queue, cl_uint wait_count, const cl_event *waits,
                            const char *call) {
  const cl_int code = icd_check_waits(queue, wait_count, waits, call);
  for (cl_uint i = 0; i < wait_count && !code; i++)
    if (icd_event_status(waits[i]) < 0)
      return icd_fail(queue->context, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, call,
                      "event_wait_list[%u] has failed", i);
  return code;
}

bool icd_gpu_is_past(cl_command_queue queue, const struct icd_operation *operation,
                     cl_uint wait_count, uint64_t *point) {
  const bool all = icd_in_order(queue) || icd_follows_all(operation, wait_count);
  *point = all ? rt_queue_submitted(queue->rt) : atomic_load(&queue->barrier);
  return rt_queue_completed(queue->rt) >= *point;
}

/* ---- doing it ------------------------------------------------------------------- */

void icd_copy_box(const struct icd_copy *copy) {
  const size_t row = copy->region[0];
  for (size_t z = 0; z < copy->region[2]; z++) {
    char *target = copy->target + z * copy->target_slice;
    const char *source = copy->source + z * copy->source_slice;
    if (copy->target_row == row && copy->source_row == row) {
      memcpy(target, source, row * copy->region[1]);
      continue;
    }
    for (size_t y = 0; y < copy->region[1]; y++)
      memcpy(target + y * copy->target_row, source + y * copy->source_row, row);
  }
}

/* Doubles what is already filled of the first row, then copies that row, so that memcpy
 * does the work. */
static void fill_box(const struct icd_fill *fill) {
  const size_t size = fill->region[0];
  size_t done = fill->pattern_size;
  memcpy(fill->target, fill->pattern, done);
  while (done < size) {
    const size_t more = done < size - done ? done : size - done;
    memcpy(fill->target + done, fill->target, more);
    done += more;
  }
  for (size_t z = 0; z < fill->region[2]; z++)
    for (size_t y = z ? 0 : 1; y < fill->region[1]; y++)
      memcpy(fill->target + z * fill->slice + y * fill->row, fill->target, size);
}

/* For the software Orin's checks: from the first byte that is written to the last. */
static void tell_written(const struct icd_operation *operation) {
  const cl_mem mem = operation->mems[1] ? operation->mems[1] : operation->mems[0];
  const struct icd_copy *copy = &operation->copy;
  const struct icd_fill *fill = &operation->fill;
  if (!mem)
    return;
  if (operation->kind == ICD_FILL)
    rt_buffer_tell_written(mem->buffer, fill->target,
                           icd_box_span(fill->region, fill->row, fill->slice));
  else
    rt_buffer_tell_written(mem->buffer, copy->target,
                           icd_box_span(copy->region, copy->target_row, copy->target_slice));
}

/* On the timeline: how many bytes the host has written. */
static void show(const struct icd_operation *operation, uint64_t since) {
  const bool copy = operation->kind == ICD_COPY;
  const size_t *region = copy ? operation->copy.region : operation->fill.region;
  const struct rt_timeline_detail bytes = {"bytes", region[0] * region[1] * region[2], NULL};
  if (copy || operation->kind == ICD_FILL)
    rt_timeline_span("copy", copy ? "copy" : "fill", since, &bytes, 1);
}

void icd_do(cl_command_queue queue, const struct icd_operation *operation) {
  const uint64_t since = rt_timeline_on() ? base_clock_ns() : 0;
  switch (operation->kind) {
  case ICD_COPY:
    icd_copy_box(&operation->copy);
    tell_written(operation);
    break;
  case ICD_FILL:
    fill_box(&operation->fill);
    tell_written(operation);
    break;
  case ICD_CALL:
    operation->call.function(queue, operation->call.data);
    break;
  case ICD_LAUNCH:
  case ICD_MARK:
  case ICD_REPLAY:
    break;
  }
  if (rt_timeline_on())
    show(operation, since);
}

/* Commands that run kernels. */
static bool runs_kernels(const struct icd_operation *operation) {
  return operation->kind == ICD_LAUNCH || operation->kind == ICD_REPLAY;
}

/* The runtime refuses a launch for other reasons than the API does in general. */
cl_int icd_submission_code(const struct icd_operation *operation, int error) {
  if (operation->kind == ICD_LAUNCH && error == -EINVAL)
    return CL_INVALID_WORK_GROUP_SIZE;
  if (operation->kind == ICD_LAUNCH && error == -ENOMEM)
    return CL_MEM_OBJECT_ALLOCATION_FAILURE;
  return icd_code(error, CL_OUT_OF_RESOURCES);
}

/* Submits a LAUNCH or REPLAY: 0 or -errno. The queue's lock is held. times: what the GPU
 * writes, or NULL. */
static int submit_kernels(cl_command_queue queue, const struct icd_operation *operation,
                          struct rt_times *times) {
  if (operation->kind == ICD_REPLAY)
    return icd_replay(queue, &operation->replay, times);
  const struct rt_launch *launch = operation->launch.rt;
  struct rt_launch timed;
  if (times) {
    timed = *launch;
    timed.times = times;
    launch = &timed;
  }
  return operation->kernel->code->prints ? icd_print_launch(queue, operation->kernel, launch)
                                         : rt_queue_launch(queue->rt, launch, NULL);
}

cl_int icd_submit(cl_command_queue queue, const struct icd_operation *operation, cl_uint wait_count,
                  const cl_event *waits, cl_event event, struct icd_event_callback **due) {
  struct rt_times *times = NULL;
  bool acquired = false;
  int error = 0;
  *due = NULL;
  for (cl_uint i = 0; i < wait_count && !error; i++) {
    /* This channel is in order; what was never tracked has been done by the host. */
    if (waits[i]->queue == queue || !atomic_load(&waits[i]->tracked) ||
        rt_queue_completed(waits[i]->queue->rt) >= waits[i]->point)
      continue;
    error = rt_queue_acquire(queue->rt, waits[i]->queue->rt, waits[i]->point);
    acquired = true;
  }
  struct rt_cut *cut = operation->kind == ICD_LAUNCH ? operation->launch.rt->cut : NULL;
  if (cut && cut->begun) {
    times = cut->times;
  } else if (!error && event && event->profiled) {
    event->submit_ns = base_clock_ns();
    error = rt_times_get(queue->context->rt, &times);
  }
  if (!error && runs_kernels(operation))
    error = submit_kernels(queue, operation, times);
  else if (!error && (times || acquired))
    error = rt_queue_marker(queue->rt, times, NULL);
  if (error) {
    if (times)
      rt_times_put(queue->context->rt, times);
    return icd_submission_code(operation, error);
  }
  if (cut && !cut->over) {
    cut->times = times;
    return CL_SUCCESS;
  }
  const uint64_t point = rt_queue_submitted(queue->rt);
  if (icd_is_barrier(operation))
    atomic_store(&queue->barrier, point);
  if (event)
    *due = icd_event_track(event, point, times);
  return CL_SUCCESS;
}

/* ---- which way ------------------------------------------------------------------- */

enum dependencies {
  ALL_COMPLETE,
  ALL_ON_GPU, /* some are incomplete, but tracked */
  SOME_OPEN,  /* some are still with the host */
  SOME_FAILED,
};

static enum dependencies look(cl_uint wait_count, const cl_event *waits) {
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

/* The command has been done in this thread, from its submission to now. */
static void complete(cl_event event) {
  if (!event)
    return;
  uint64_t start = 0, end = 0;
  if (event->profiled) {
    start = icd_device_clock(event->queue->device, event->submit_ns);
    end = start + (base_clock_ns() - event->submit_ns);
  }
  icd_event_set(event, CL_COMPLETE, start, end);
}

/* Outcome of one try at doing a command at once. */
enum attempt { DONE, SUBMITTED, MUST_WAIT, MUST_DEFER };

/* Tries to do the operation at once. Takes and frees the queue's lock. *due are
 * the callbacks for icd_event_call. */
static enum attempt attempt(cl_command_queue queue, struct icd_operation *operation,
                            enum dependencies dependencies, cl_uint wait_count,
                            const cl_event *waits, cl_event event, cl_int *code,
                            struct icd_event_callback **due) {
  uint64_t point;
  *code = CL_SUCCESS;
  if (dependencies == SOME_OPEN || icd_must_queue(queue, operation, wait_count))
    return MUST_DEFER;
  if (!runs_kernels(operation) && dependencies == ALL_COMPLETE &&
      icd_gpu_is_past(queue, operation, wait_count, &point)) {
    if (event && event->profiled) /* no sooner: what it follows may just have ended */
      event->submit_ns = base_clock_ns();
    icd_do(queue, operation);
    return DONE;
  }
  if (icd_is_for_gpu(operation)) {
    *code = icd_submit(queue, operation, wait_count, waits, event, due);
    return SUBMITTED;
  }
  return MUST_WAIT;
}

static cl_int refuse(cl_command_queue queue, cl_event event, cl_int code, const char *call,
                     const char *why) {
  if (event)
    icd_event_drop(event);
  if (code == CL_OUT_OF_RESOURCES)
    icd_context_tell_fault(queue->context);
  return icd_fail(queue->context, code, call, "%s", why);
}

cl_int icd_refuse_submission(cl_command_queue queue, cl_event event, cl_int code,
                             const char *call) {
  const char *fault = rt_context_fault(queue->context->rt);
  return refuse(queue, event, code, call, fault ? fault : rt_last_message());
}

cl_int icd_enqueue(cl_command_queue queue, struct icd_operation *operation, bool blocking,
                   cl_uint wait_count, const cl_event *waits, cl_event *event_ret,
                   const char *call) {
  cl_context context = queue->context;
  icd_reclaim(context, false);
  /* The runtime checks this for what runs kernels. */
  const bool runs = runs_kernels(operation);
  const char *fault = runs ? NULL : rt_context_fault(context->rt);
  if (fault)
    return refuse(queue, NULL, CL_OUT_OF_RESOURCES, call, fault);
  cl_event event = NULL;
  if (event_ret || blocking) {
    event = icd_event_create(context, queue, operation->type);
    if (!event)
      return refuse(queue, NULL, CL_OUT_OF_HOST_MEMORY, call, "no memory for an event");
  }
  if (blocking)
    for (cl_uint i = 0; i < wait_count; i++)
      icd_event_wait(waits[i]);

  const enum dependencies dependencies = look(wait_count, waits);
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
      return refuse(queue, event, failed, call, "an event in the wait list has failed");
    if (icd_is_about_mapping(operation))
      icd_map_terminated(operation);
    if (event) {
      icd_event_set(event, failed, 0, 0);
      *event_ret = event;
    }
    return CL_SUCCESS;
  }

  struct icd_event_callback *due = NULL;
  icd_lock(&queue->lock);
  enum attempt outcome =
      attempt(queue, operation, dependencies, wait_count, waits, event, &code, &due);
  if (outcome == MUST_WAIT && blocking) {
    /* Wait without the lock; if others have come between, get in line. */
    uint64_t point;
    icd_gpu_is_past(queue, operation, wait_count, &point);
    icd_unlock(&queue->lock);
    rt_queue_wait(queue->rt, point, UINT64_MAX); /* a fault shows in what follows */
    icd_lock(&queue->lock);
    if (rt_context_fault(context->rt))
      code = CL_OUT_OF_RESOURCES;
    else
      outcome = attempt(queue, operation, dependencies, wait_count, waits, event, &code, &due);
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
    complete(event);
  } else if (event) {
    icd_event_call(event, CL_SUBMITTED, due);
  }
  if (blocking && outcome != DONE) {
    const cl_int status = icd_event_wait(event);
    if (status < 0)
      return refuse(queue, event, status, call, "the command has failed");
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
