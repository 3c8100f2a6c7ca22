/* Events. The status of a tracked event changes when a thread reads the queue's timeline: in a
 * query, in a wait, or in the watcher if the event has callbacks or promises.
 */
#include <stdlib.h>

#include "base/number.h"
#include "icd/context/retire.h"
#include "icd/queue/event_pool.h"

static void recycle_event(void *owner) {
  cl_event event = owner;
  cl_context context = event->context;
  cl_command_queue queue = event->queue;
  if (event->times)
    rt_times_put(context->rt, event->times);
  event->times = NULL;
  while (event->promises) {
    cl_event promise = event->promises;
    event->promises = promise->next_promise;
    icd_event_drop(promise);
  }
  icd_event_pool_put(context, event);
  if (queue)
    icd_queue_drop(queue);
  else
    icd_context_drop(context);
}

static void destroy_event(struct icd_object *object) {
  cl_event event = (cl_event)object;
  if (event->times && rt_queue_completed(event->queue->rt) < event->point)
    /* the GPU has not written them yet */
    icd_retire(event->context, &event->retired, recycle_event, event);
  else
    recycle_event(event);
}

static const struct icd_kind event_kind = {.magic = ICD_MAGIC_EVENT, .destroy = destroy_event};

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
    icd_queue_hold(queue); /* the queue holds the context */
  else
    icd_context_hold(context);
  icd_object_init(&event->object, &event_kind);
  return event;
}

/* ---- state -------------------------------------------------------------------- */

static void call_back(void *owner) {
  struct icd_event_callback *callback = owner;
  callback->function(callback->event, callback->status, callback->data);
  icd_event_drop(callback->event);
  free(callback);
}

/* Removes and delivers the callbacks that are due for a status, in order of registration. The
 * caller holds the context's lock. */
static void deliver_due(cl_event event, cl_int status) {
  for (struct icd_event_callback **link = &event->callbacks; *link;) {
    struct icd_event_callback *callback = *link;
    if (callback->status < status) {
      link = &callback->next;
      continue;
    }
    *link = callback->next;
    icd_event_hold(event);
    callback->event = event;
    if (status < 0)
      callback->status = status;
    icd_deliver(&callback->delivery, call_back, callback);
  }
}

/* Moves an event forward to status. Returns false if it has already ended. The caller holds the
 * context's lock. */
static bool move_locked(cl_event event, cl_int status, uint64_t start_ns, uint64_t end_ns) {
  const cl_int now = atomic_load(&event->status);
  if (now <= CL_COMPLETE)
    return false;
  if (now <= status)
    return true;
  if (status == CL_COMPLETE && event->profiled) {
    /* Converting between two clocks has an error, but the times must be in order. */
    const uint64_t submit_ns = icd_device_clock(event->queue->device, event->submit_ns);
    event->start_ns = start_ns;
    event->end_ns = end_ns < start_ns ? start_ns : end_ns;
    event->queued_ns = base_min(submit_ns - (event->submit_ns - event->queued_ns), start_ns);
    event->submit_ns = base_min(submit_ns, start_ns);
  }
  atomic_store_explicit(&event->status, status, memory_order_release);
  icd_context_change_locked(event->context);
  deliver_due(event, status);
  if (status <= CL_COMPLETE)
    for (cl_event promise = event->promises; promise; promise = promise->next_promise)
      move_locked(promise, status, 0, 0);
  return true;
}

bool icd_event_set(cl_event event, cl_int status, uint64_t start_ns, uint64_t end_ns) {
  base_mutex_lock(&event->context->lock);
  const bool open = move_locked(event, status, start_ns, end_ns);
  base_mutex_unlock(&event->context->lock);
  return open;
}

void icd_event_add_callback(cl_event event, struct icd_event_callback *callback) {
  icd_event_status(event); /* updates the status of a tracked event */
  base_mutex_lock(&event->context->lock);
  struct icd_event_callback **link = &event->callbacks;
  while (*link)
    link = &(*link)->next;
  *link = callback;
  deliver_due(event, atomic_load(&event->status));
  base_mutex_unlock(&event->context->lock);
}

void icd_event_promise(cl_event event, cl_event promise) {
  icd_event_status(event);
  base_mutex_lock(&event->context->lock);
  promise->next_promise = event->promises;
  event->promises = promise;
  if (atomic_load(&event->status) <= CL_COMPLETE)
    move_locked(promise, atomic_load(&event->status), 0, 0);
  base_mutex_unlock(&event->context->lock);
}

void icd_event_track(cl_event event, uint64_t point, struct rt_times *times) {
  base_mutex_lock(&event->context->lock);
  event->point = point;
  event->times = times;
  atomic_store_explicit(&event->tracked, true, memory_order_release);
  move_locked(event, CL_SUBMITTED, 0, 0);
  icd_context_change_locked(event->context);
  base_mutex_unlock(&event->context->lock);
}

/* Completes a tracked event, with the times that the GPU has written. */
static cl_int settle_event(cl_event event, cl_int status) {
  icd_print_drain(event->queue);
  base_mutex_lock(&event->context->lock);
  struct rt_times *times = event->times;
  if (move_locked(event, status, times ? times->start_ns : 0, times ? times->end_ns : 0))
    event->times = NULL;
  else
    times = NULL; /* another thread has already completed the event */
  base_mutex_unlock(&event->context->lock);
  if (times)
    rt_times_put(event->context->rt, times);
  if (status < 0)
    icd_context_report_fault(event->context);
  return atomic_load_explicit(&event->status, memory_order_acquire);
}

/* Whether the GPU has begun to execute a profiled command. */
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
  /* Read the fault before the timeline, so that work which completed before the fault counts as
   * complete. */
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
