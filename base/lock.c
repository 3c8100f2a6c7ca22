/* Checks the order of locks with a list of the locks that each thread holds. */
#include "base/lock.h"

#if BASE_LOCK_ORDER

#include <stdio.h>
#include <stdlib.h>

enum { HELD_MAX = 64 }; /* any further locks are not checked */

static _Thread_local struct {
  const void *lock;
  enum base_lock_kind kind;
} held[HELD_MAX];
static _Thread_local unsigned held_count;

static const char *const names[] = {[BASE_LOCK_NONE] = "a lock that was not initialised",
#define X(name, where) [BASE_LOCK_##name] = #name " (" where ")",
                                    BASE_LOCKS(X)
#undef X
};

/* The list is empty in a child of fork. */
static void forget_held(void) {
  held_count = 0;
}

__attribute__((constructor)) static void watch_forks(void) {
  pthread_atfork(NULL, NULL, forget_held);
}

void base_lock_take(const void *lock, enum base_lock_kind kind) {
  for (unsigned i = 0; i < held_count; i++)
    if (held[i].kind >= kind) {
      fprintf(stderr, "tegracl: wrong order of locks: %s is taken while the thread holds %s\n",
              names[kind], names[held[i].kind]);
      abort();
    }
  if (!kind) {
    fprintf(stderr, "tegracl: %s is taken\n", names[kind]);
    abort();
  }
  base_lock_took(lock, kind);
}

void base_lock_took(const void *lock, enum base_lock_kind kind) {
  if (held_count == HELD_MAX)
    return;
  held[held_count].lock = lock;
  held[held_count++].kind = kind;
}

void base_lock_release(const void *lock) {
  for (unsigned i = held_count; i-- > 0;)
    if (held[i].lock == lock) {
      held[i] = held[--held_count];
      return;
    }
}

#endif
