/* Queues: creation, markers, waits for points and for other queues. */
#include "runtime/queue/queue.h"

#include <errno.h>
#include <stdlib.h>

#include "runtime/debug/debug.h"
#include "runtime/debug/timeline.h"
#include "runtime/debug/timeline_gpu.h"
#include "runtime/debug/trace.h"
#include "runtime/message.h"

static int channel_of(struct rt_context *c, enum rt_priority priority,
                      struct rt_channel **channel) {
  struct rt_tsg *tsg = NULL;
  const int error = rt_context_tsg(c, priority, &tsg);
  return error ? error : rt_channel_get(c, tsg, channel);
}

/* No board has run a TSG of high priority. If it does not get a channel, the normal TSG is used. */
static int take_channel(struct rt_context *c, enum rt_priority priority,
                        struct rt_channel **channel) {
  struct rt_choices *choices = &c->device->choices;
  const bool tries =
      priority == RT_PRIORITY_HIGH && rt_choice_unknown(choices, RT_CHOICE_HIGH_PRIORITY);
  int error = channel_of(c, priority, channel);
  if (!error || !tries)
    return error;
  error = channel_of(c, RT_PRIORITY_MEDIUM, channel);
  if (!error)
    rt_choice_refused(choices, RT_CHOICE_HIGH_PRIORITY,
                      "cannot open a channel in a TSG of high priority, but in the normal one");
  return error;
}

int rt_queue_create(struct rt_context *c, enum rt_priority priority, struct rt_queue **queue) {
  int error = rt_context_check(c);
  if (error)
    return error;
  struct rt_queue *q = calloc(1, sizeof(*q));
  if (!q)
    return rt_fail(-ENOMEM, "out of memory while creating a queue");
  q->context = c;
  error = take_channel(c, priority, &q->channel);
  if (error) {
    free(q);
    return error;
  }
  q->timeline = q->channel->timeline;
  q->shown = rt_debug_launch() || rt_trace_on() || rt_timeline_on();
  atomic_init(&q->submitted, q->channel->first);
  base_mutex_lock(&c->lock);
  q->next = c->queues;
  if (q->next)
    q->next->previous = q;
  c->queues = q;
  base_mutex_unlock(&c->lock);
  *queue = q;
  return 0;
}

void rt_queue_destroy(struct rt_queue *q) {
  if (!q)
    return;
  rt_queue_idle(q);
  rt_timeline_queue_end(q);
  struct rt_context *c = q->context;
  /* Describe a fault now, while the submissions of this queue still exist. */
  rt_context_fault(c);
  base_mutex_lock(&c->lock);
  if (q->previous)
    q->previous->next = q->next;
  else
    c->queues = q->next;
  if (q->next)
    q->next->previous = q->previous;
  base_mutex_unlock(&c->lock);
  rt_channel_put(q->channel);
  free(q);
}

/* ---- waits ------------------------------------------------------------------- */

int rt_queue_idle(struct rt_queue *q) {
  return rt_queue_wait_point(q, rt_queue_submitted(q), UINT64_MAX);
}

int rt_queue_wait(struct rt_queue *q, uint64_t point, uint64_t timeout_ns) {
  int error = rt_queue_wait_point(q, point, timeout_ns);
  if (error == -EIO)
    rt_context_explain(q->context);
  if (error == -ETIMEDOUT)
    return rt_fail(error, "timeout: point %llu was not reached within %llu ns",
                   (unsigned long long)point, (unsigned long long)timeout_ns);
  return error;
}

/* ---- submissions -------------------------------------------------------------- */

static int submit_marker(struct rt_queue *q, struct rt_times *times, uint64_t *point) {
  struct rt_slice s;
  int error = rt_slice_begin(q, 0, &s);
  if (error)
    return error;
  if (times) {
    rt_slice_timestamp(&s, rt_slot_gpu(&times->start_mark), false);
    rt_slice_timestamp(&s, rt_slot_gpu(&times->end_mark), true);
  }
  uint64_t reached = rt_slice_submit(q, &s, NULL);
  if (point)
    *point = reached;
  return 0;
}

int rt_queue_marker(struct rt_queue *q, struct rt_times *times, uint64_t *point) {
  rt_channel_lock(q->channel);
  const int error = submit_marker(q, times, point);
  rt_channel_unlock(q->channel);
  return error;
}

int rt_queue_timestamp(struct rt_queue *q, struct rt_times *times, bool end) {
  struct rt_slice s;
  rt_channel_lock(q->channel);
  const int error = rt_slice_begin(q, 0, &s);
  if (error == 0) {
    rt_slice_timestamp(&s, rt_slot_gpu(end ? &times->end_mark : &times->start_mark), end);
    rt_slice_submit(q, &s, NULL);
  }
  rt_channel_unlock(q->channel);
  return error;
}

int rt_queue_acquire(struct rt_queue *q, struct rt_queue *other, uint64_t point) {
  if (q->context != other->context)
    return rt_fail(-EINVAL, "queues of different contexts cannot wait for each other on the GPU");
  if (point > rt_queue_submitted(other))
    return rt_fail(-EINVAL, "cannot wait for point %llu, which has not been submitted",
                   (unsigned long long)point);
  return rt_queue_await(q, other->timeline, point);
}

/* Acquires are collected here and emitted before the next submission. */
int rt_queue_await(struct rt_queue *q, const volatile uint64_t *other, uint64_t point) {
  if (rt_queue_dead(q)) {
    rt_context_explain(q->context);
    return -EIO;
  }
  if (q->timeline == other || rt_timeline_reached(other, point))
    return 0;
  if (!rt_choice_may(&q->context->device->choices, RT_CHOICE_ACQUIRES))
    return rt_timeline_await(q, other, point);
  atomic_store_explicit(&q->context->acquired, true, memory_order_relaxed);
  uint64_t timeline = rt_slot_gpu(other);
  for (unsigned i = 0; i < q->acquire_count; i++)
    if (q->acquires[i].timeline == timeline) {
      if (q->acquires[i].point < point)
        q->acquires[i].point = point;
      return 0;
    }
  if (q->acquire_count == RT_ACQUIRES_MAX) {
    int error = rt_queue_marker(q, NULL, NULL);
    if (error)
      return error;
  }
  q->acquires[q->acquire_count++] = (struct rt_acquire){timeline, point};
  return 0;
}

void rt_queue_abandon(struct rt_queue *q) {
  rt_channel_abandon(q->channel, rt_queue_submitted(q));
}

void rt_queue_skip_setup(struct rt_queue *q) {
  q->channel->set_up = true;
  q->channel->seen_code = atomic_load(&q->context->code_generation);
}
