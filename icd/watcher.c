/* The watcher: a thread that exists while some event on the GPU has callbacks.
 * The timeline wakes nobody by itself, so somebody must look at it. It is not
 * the queue's worker, which may be waiting for the very thing that a callback
 * will bring about.
 */
#include "icd/event_pool.h"

/* How long to wait for one event before looking at the others. */
#define LOOK_NS 1000000u

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static cl_event arrivals; /* under lock */
static bool running;      /* under lock */

/* Drops the events that are complete; their callbacks have been called. */
static cl_event look(cl_event watched) {
  cl_event left = NULL;
  while (watched) {
    cl_event event = watched;
    watched = event->next_watched;
    if (icd_event_status(event) <= CL_COMPLETE) {
      icd_event_drop(event);
    } else {
      event->next_watched = left;
      left = event;
    }
  }
  return left;
}

static void *watch(void *unused) {
  cl_event watched = NULL;
  for (;;) {
    pthread_mutex_lock(&lock);
    while (arrivals) {
      cl_event event = arrivals;
      arrivals = event->next_watched;
      event->next_watched = watched;
      watched = event;
    }
    if (!watched) {
      running = false;
      pthread_mutex_unlock(&lock);
      return NULL;
    }
    pthread_mutex_unlock(&lock);
    watched = look(watched);
    if (watched)
      rt_queue_wait(watched->queue->rt, watched->point, LOOK_NS);
  }
}

void icd_watcher_forked(void) {
  pthread_mutex_init(&lock, NULL);
  arrivals = NULL;
  running = false;
}

bool icd_watch(cl_event event) {
  bool started = true;
  pthread_mutex_lock(&lock);
  if (!running) {
    pthread_attr_t detached;
    pthread_t thread;
    pthread_attr_init(&detached);
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    started = running = !pthread_create(&thread, &detached, watch, NULL);
    pthread_attr_destroy(&detached);
  }
  if (started) {
    icd_event_hold(event);
    event->next_watched = arrivals;
    arrivals = event;
  }
  pthread_mutex_unlock(&lock);
  return started;
}
