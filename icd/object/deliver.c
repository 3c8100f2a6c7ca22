/* The thread that calls callbacks of the application. See deliver.h. */
#include "icd/object/deliver.h"

#include <stddef.h>

#include "base/fork.h"
#include "base/lock.h"
#include "base/thread.h"

static struct base_mutex lock = BASE_MUTEX_INITIALIZER(BASE_LOCK_DELIVERIES); /* guards the rest */
static pthread_cond_t added = PTHREAD_COND_INITIALIZER;
static struct icd_delivery *first, *last;
static unsigned long expected; /* number of deliveries that are in the list or will be */
static bool running;

static _Thread_local bool delivers;

static void *run_deliveries(void *unused) {
  (void)unused;
  delivers = true;
  base_mutex_lock(&lock);
  while (expected) {
    struct icd_delivery *delivery = first;
    if (!delivery) {
      base_mutex_wait(&lock, &added);
      continue;
    }
    first = delivery->next;
    base_mutex_unlock(&lock);
    delivery->function(delivery->owner);
    if (!delivers)
      return NULL; /* the callback has forked, and this is the child */
    base_mutex_lock(&lock);
    expected--;
  }
  running = false;
  base_mutex_unlock(&lock);
  return NULL;
}

/* The thread does not exist in the child, or ends there after the callback that has forked. What it
 * was to deliver is the parent's. */
static void forked_child(void) {
  delivers = false;
  base_mutex_init(&lock, BASE_LOCK_DELIVERIES);
  pthread_cond_init(&added, NULL);
  first = NULL;
  expected = 0;
  running = false;
}

bool icd_deliver_later(void) {
  static const struct base_fork_handlers handlers = {.child = forked_child};
  base_mutex_lock(&lock);
  if (!running)
    running = !base_fork_watch(BASE_FORK_CALLBACKS, &handlers) &&
              !base_thread_start(NULL, run_deliveries, NULL);
  const bool runs = running;
  expected += runs;
  base_mutex_unlock(&lock);
  return runs;
}

void icd_deliver(struct icd_delivery *delivery, void (*function)(void *), void *owner) {
  *delivery = (struct icd_delivery){.function = function, .owner = owner};
  base_mutex_lock(&lock);
  if (first)
    last->next = delivery;
  else
    first = delivery;
  last = delivery;
  pthread_cond_signal(&added);
  base_mutex_unlock(&lock);
}

bool icd_delivers(void) {
  return delivers;
}
