/* The handlers of pthread_atfork. See fork.h. */
#include "base/fork.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the registration alone */
static atomic_bool registered;
static const struct base_fork_handlers *_Atomic parts[BASE_FORK_PARTS];
/* Of this thread's fork: another thread may fork, or add a part, at the same time. */
static _Thread_local const struct base_fork_handlers *prepared[BASE_FORK_PARTS];

static void prepare(void) {
  for (size_t i = BASE_FORK_PARTS; i-- > 0;) {
    prepared[i] = atomic_load(&parts[i]);
    if (prepared[i] && prepared[i]->prepare)
      prepared[i]->prepare();
  }
}

static void parent(void) {
  for (size_t i = 0; i < BASE_FORK_PARTS; i++)
    if (prepared[i] && prepared[i]->parent)
      prepared[i]->parent();
}

static void child(void) {
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
      error = pthread_atfork(prepare, parent, child);
      atomic_store(&registered, !error);
    }
    pthread_mutex_unlock(&lock);
  }
  if (!error)
    atomic_store(&parts[part], handlers);
  return error;
}
