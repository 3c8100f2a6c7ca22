/* Watchers: threads that wait for commands on the GPU whose events have callbacks or promises. */
#include <stdlib.h>

#include "base/fork.h"
#include "base/thread.h"
#include "icd/queue/event_pool.h"

/* Interval at which a thread polls whether a command has begun while a callback waits for that.
 * Nothing wakes the thread when a command starts. */
#define POLL_NS 1000000u

struct watch {
  struct watch *next;
  cl_command_queue queue; /* held */
  cl_event events;
  uint64_t awaited; /* the lowest point of the events, for which the thread sleeps */
  bool polls;       /* the thread polls whether commands have begun */
};

static struct base_mutex lock = BASE_MUTEX_INITIALIZER(BASE_LOCK_WATCHER); /* guards what follows */
static struct watch *watches;
static unsigned begin_requests; /* number of calls of poll_begin */

/* Whether a callback waits for the start of the command. */
static bool awaits_begin(cl_event event) {
  bool awaits = false;
  base_mutex_lock(&event->context->lock);
  for (const struct icd_event_callback *c = event->callbacks; c; c = c->next)
    awaits |= event->profiled && c->status == CL_RUNNING;
  base_mutex_unlock(&event->context->lock);
  return awaits;
}

/* Drops the events that are complete and returns the others. Sets *poll if one of these must be
 * polled. */
static cl_event drop_completed(cl_event watched, bool *poll) {
  cl_event left = NULL;
  while (watched) {
    cl_event event = watched;
    watched = event->next_watched;
    if (icd_event_status(event) <= CL_COMPLETE) {
      icd_event_drop(event);
    } else {
      *poll |= awaits_begin(event);
      event->next_watched = left;
      left = event;
    }
  }
  return left;
}

/* Returns events to the watch. Sets *poll if a callback may have been added since requests was
 * read. Returns false if the watch has no events left and has ended. */
static bool keep_watching(struct watch *watch, cl_event left, unsigned requests, bool *poll) {
  base_mutex_lock(&lock);
  while (left) {
    cl_event event = left;
    left = event->next_watched;
    event->next_watched = watch->events;
    watch->events = event;
  }
  *poll |= requests != begin_requests;
  watch->polls = *poll;
  watch->awaited = UINT64_MAX;
  for (cl_event event = watch->events; event; event = event->next_watched)
    if (event->point < watch->awaited)
      watch->awaited = event->point;
  const bool over = !watch->events;
  if (over) {
    struct watch **link = &watches;
    while (*link != watch)
      link = &(*link)->next;
    *link = watch->next;
  }
  base_mutex_unlock(&lock);
  return !over;
}

static cl_event take_events(struct watch *watch, unsigned *requests) {
  base_mutex_lock(&lock);
  *requests = begin_requests;
  cl_event events = watch->events;
  watch->events = NULL;
  base_mutex_unlock(&lock);
  return events;
}

static void *run_watcher(void *data) {
  struct watch *watch = data;
  for (;;) {
    bool poll = false;
    unsigned requests;
    cl_event events = take_events(watch, &requests);
    if (!keep_watching(watch, drop_completed(events, &poll), requests, &poll))
      break;
    rt_queue_wait(watch->queue->rt, watch->awaited, poll ? POLL_NS : UINT64_MAX);
  }
  icd_queue_drop(watch->queue);
  free(watch);
  return NULL;
}

/* The threads and the events do not exist in the child. */
static void forked_child(void) {
  base_mutex_init(&lock, BASE_LOCK_WATCHER);
  watches = NULL;
}

/* Returns a watch of the event's queue that does not sleep beyond the event's point, or NULL.
 * The caller holds the lock. */
static struct watch *find_watch(cl_event event) {
  struct watch *watch = watches;
  while (watch && (watch->queue != event->queue || watch->awaited > event->point))
    watch = watch->next;
  return watch;
}

static struct watch *start_watch(cl_event event) {
  static const struct base_fork_handlers handlers = {.child = forked_child};
  struct watch *watch =
      base_fork_watch(BASE_FORK_WATCHERS, &handlers) ? NULL : calloc(1, sizeof(*watch));
  if (!watch)
    return NULL;
  watch->queue = event->queue;
  watch->awaited = event->point;
  if (base_thread_start(NULL, run_watcher, watch)) {
    free(watch);
    return NULL;
  }
  icd_queue_hold(event->queue);
  watch->next = watches;
  watches = watch;
  return watch;
}

/* Passes a reference to the event to a watch. Returns false if no thread could be started. */
static bool watch_event(cl_event event) {
  base_mutex_lock(&lock);
  struct watch *watch = find_watch(event);
  if (!watch)
    watch = start_watch(event);
  if (watch) {
    icd_event_hold(event);
    event->next_watched = watch->events;
    watch->events = event;
  }
  base_mutex_unlock(&lock);
  return watch;
}

/* Returns a watch that polls the events of the event's queue, or NULL. The caller holds the lock.
 */
static struct watch *polling_watch(cl_event event) {
  struct watch *watch = watches;
  while (watch && !(watch->polls && watch->queue == event->queue))
    watch = watch->next;
  if (watch || !(watch = start_watch(event)))
    return watch;
  watch->polls = true;
  return watch;
}

/* Makes a thread poll whether the command of a watched event has begun. A thread that sleeps until
 * the command ends cannot be woken, so another one takes the event. If no thread can be started,
 * the callback is called when the command ends. */
static void poll_begin(cl_event event) {
  base_mutex_lock(&lock);
  begin_requests++; /* a thread that is examining the event examines it again */
  for (struct watch *watch = watches; watch; watch = watch->next) {
    cl_event *link = &watch->events;
    while (*link && *link != event)
      link = &(*link)->next_watched;
    struct watch *other = *link && !watch->polls ? polling_watch(event) : NULL;
    if (other) {
      *link = event->next_watched;
      event->next_watched = other->events;
      other->events = event;
      break;
    }
  }
  base_mutex_unlock(&lock);
}

void icd_event_watch(cl_event event) {
  base_mutex_lock(&event->context->lock);
  const bool awaited = event->callbacks || event->promises;
  const bool watch = awaited && atomic_load(&event->tracked) && !event->watched &&
                     atomic_load(&event->status) > CL_COMPLETE;
  const bool was_watched = event->watched;
  event->watched |= watch;
  base_mutex_unlock(&event->context->lock);
  if (watch && !watch_event(event))
    icd_event_wait(event); /* without a thread, wait here */
  else if (was_watched && awaits_begin(event))
    poll_begin(event);
}
