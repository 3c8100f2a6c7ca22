/* Runs the handlers of all parts from a single pthread_atfork registration. */
#include "base/fork.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of registered */
static atomic_bool registered;
static const struct base_fork_handlers *_Atomic parts[BASE_FORK_PARTS];
/* The handlers that this thread's fork has prepared. Other threads may fork or register handlers at
 * the same time. */
static _Thread_local const struct base_fork_handlers *prepared[BASE_FORK_PARTS];

static void prepare_parts(void) {
  for (size_t i = BASE_FORK_PARTS; i-- > 0;) {
    prepared[i] = atomic_load(&parts[i]);
    if (prepared[i] && prepared[i]->prepare)
      prepared[i]->prepare();
  }
}

static void resume_parent(void) {
  for (size_t i = 0; i < BASE_FORK_PARTS; i++)
    if (prepared[i] && prepared[i]->parent)
      prepared[i]->parent();
}

static void resume_child(void) {
  /* A thread of the parent may have been about to store this value. */
  atomic_store(&registered, true);
  pthread_mutex_init(&lock, NULL);
  for (size_t i = 0; i < BASE_FORK_PARTS; i++)
    if (prepared[i] && prepared[i]->child)
      prepared[i]->child();
}

int base_fork_watch(enum base_fork_part part, const struct base_fork_handlers *handlers) {
  int error = 0;
  if (atomic_load(&parts[part]))
    return 0;
  if (!atomic_load(&registered)) {
    pthread_mutex_lock(&lock);
    if (!atomic_load(&registered)) {
      error = pthread_atfork(prepare_parts, resume_parent, resume_child);
      atomic_store(&registered, !error);
    }
    pthread_mutex_unlock(&lock);
  }
  if (!error)
    atomic_store(&parts[part], handlers);
  return error;
}
