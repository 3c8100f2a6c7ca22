/* Deferred freeing. See retire.h. */
#include "icd/context/retire.h"

#include <errno.h>

#include "base/thread.h"

#define RECLAIM_NS UINT64_C(5000000000) /* limit for an allocation that waits for other threads */

/* A retired object waits for the context's queues one after the other, each time for the work
 * that has been submitted by then. That includes work submitted after the release, but it ends.
 * The objects that wait for a queue are in ascending order of point, so each is checked only
 * once per queue, however many there are. */

/* Makes the object wait for the first queue with unfinished work, starting at queue. Returns
 * false if there is none. The caller holds the context's lock. */
static bool wait_for_queues(cl_context context, cl_command_queue queue, struct icd_retired *node) {
  for (; queue; queue = queue->next) {
    node->point = rt_queue_submitted(queue->rt);
    if (rt_queue_completed(queue->rt) >= node->point)
      continue;
    node->next = NULL;
    if (queue->retired)
      queue->last_retired->next = node;
    else
      queue->retired = node;
    queue->last_retired = node;
    context->retired_count++;
    return true;
  }
  return false;
}

/* Moves the objects that wait for this queue up to point to the next queue with unfinished work,
 * or to the idle objects. The caller holds the context's lock. */
static void pass_queue(cl_context context, cl_command_queue queue, uint64_t point, bool dead) {
  struct icd_retired *node;
  while ((node = queue->retired) && node->point <= point) {
    queue->retired = node->next;
    context->retired_count--;
    if (!dead && wait_for_queues(context, queue->next, node))
      continue;
    node->next = NULL;
    if (context->idle)
      context->last_idle->next = node;
    else
      context->idle = node;
    context->last_idle = node;
  }
}

/* Moves retired objects that no queue uses any longer to the idle objects. The caller holds the
 * context's lock. */
static void find_idle(cl_context context) {
  const bool dead = rt_context_fault(context->rt);
  for (cl_command_queue queue = context->queues; queue; queue = queue->next)
    if (queue->retired)
      pass_queue(context, queue, dead ? UINT64_MAX : rt_queue_completed(queue->rt), dead);
}

void icd_context_remove_queue(cl_command_queue queue) {
  cl_context context = queue->context;
  base_mutex_lock(&context->lock);
  cl_command_queue *link = &context->queues;
  while (*link != queue)
    link = &(*link)->next;
  *link = queue->next;
  pass_queue(context, queue, UINT64_MAX, rt_context_fault(context->rt));
  base_mutex_unlock(&context->lock);
}

void icd_retire(cl_context context, struct icd_retired *node, void (*destroy)(void *),
                void *owner) {
  *node = (struct icd_retired){.destroy = destroy, .owner = owner};
  base_mutex_lock(&context->lock);
  const bool waits =
      !rt_context_fault(context->rt) && wait_for_queues(context, context->queues, node);
  if (waits)
    atomic_store(&context->any_retired, true);
  base_mutex_unlock(&context->lock);
  if (!waits)
    destroy(owner);
}

/* Returns a queue for which a retired object waits, with a reference. Returns NULL if there is
 * none. Skips queues that are being destroyed, because their destruction waits for their work
 * and reclaims. */
static cl_command_queue awaited_queue(cl_context context, uint64_t *point) {
  for (cl_command_queue queue = context->queues; queue; queue = queue->next)
    if (queue->retired && icd_object_try_hold(&queue->object)) {
      *point = queue->retired->point;
      return queue;
    }
  return NULL;
}

/* this thread is in reclaim_idle */
static _Thread_local bool thread_reclaims;

/* Destroys the idle objects one by one. The caller holds the context's lock, which is released
 * during each destruction. */
static void reclaim_idle(cl_context context) {
  find_idle(context);
  while (context->idle) {
    struct icd_retired *node = context->idle;
    context->idle = node->next;
    atomic_store(&context->any_retired, context->retired_count || context->idle);
    context->reclaiming++;
    base_mutex_unlock(&context->lock);
    const bool nested = thread_reclaims;
    thread_reclaims = true;
    node->destroy(node->owner);
    thread_reclaims = nested;
    base_mutex_lock(&context->lock);
    context->reclaiming--;
    pthread_cond_broadcast(&context->changed);
    if (!context->idle)
      find_idle(context);
  }
}

void icd_reclaim_retired(cl_context context, bool wait) {
  cl_command_queue queue;
  if (thread_reclaims && !wait)
    return; /* reclaim_idle continues */
  do {
    uint64_t point = 0;
    base_mutex_lock(&context->lock);
    reclaim_idle(context);
    queue = wait ? awaited_queue(context, &point) : NULL;
    base_mutex_unlock(&context->lock);
    if (queue) {
      rt_queue_wait(queue->rt, point, UINT64_MAX);
      icd_queue_drop(queue);
    }
  } while (queue);
}

void icd_reclaim_began(cl_context context) {
  base_mutex_lock(&context->lock);
  context->reclaiming++;
  base_mutex_unlock(&context->lock);
}

void icd_reclaim_ended(cl_context context) {
  base_mutex_lock(&context->lock);
  context->reclaiming--;
  pthread_cond_broadcast(&context->changed);
  base_mutex_unlock(&context->lock);
}

/* Waits at most RECLAIM_NS while other threads destroy objects. The limit is needed because a
 * destructor callback may wait for this thread. */
static void await_reclaims(cl_context context) {
  if (thread_reclaims || icd_delivers())
    return;
  const uint64_t end_ns = base_clock_ns() + RECLAIM_NS;
  base_mutex_lock(&context->lock);
  for (int error = 0; context->reclaiming && !error;)
    error = base_mutex_wait_until(&context->lock, &context->changed, end_ns);
  base_mutex_unlock(&context->lock);
}

bool icd_context_make_room(cl_context context, int error) {
  if (error != -ENOMEM)
    return false;
  icd_reclaim(context, true);
  await_reclaims(context);
  return true;
}

static void *run_reclaimer(void *data) {
  cl_context context = data;
  cl_command_queue queue;
  do {
    uint64_t point;
    icd_reclaim_retired(context, true);
    base_mutex_lock(&context->lock);
    queue = awaited_queue(context, &point);
    context->has_reclaimer = queue;
    base_mutex_unlock(&context->lock);
    if (queue)
      icd_queue_drop(queue);
  } while (queue);
  icd_context_drop(context);
  return NULL;
}

void icd_reclaim_in_background(cl_context context) {
  base_mutex_lock(&context->lock);
  const bool start = context->retired_count && !context->has_reclaimer;
  context->has_reclaimer |= start;
  base_mutex_unlock(&context->lock);
  if (!start)
    return;
  icd_context_hold(context);
  if (!base_thread_start(NULL, run_reclaimer, context))
    return;
  base_mutex_lock(&context->lock);
  context->has_reclaimer = false;
  base_mutex_unlock(&context->lock);
  icd_reclaim(context, true); /* without a thread, wait here */
  icd_context_drop(context);
}
