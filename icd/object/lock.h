/* A mutex that needs one atomic operation to lock and one to unlock without contention, and a
 * condition variable for it. Used for objects that frequent calls lock.
 */
#ifndef TEGRACL_LOCK_H
#define TEGRACL_LOCK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/lock.h"

/* A zeroed lock is unlocked. */
struct icd_lock {
  _Atomic uint32_t state;
  BASE_LOCK_KIND_FIELD
};

static inline void icd_lock_init(struct icd_lock *lock, enum base_lock_kind kind) {
  atomic_init(&lock->state, 0);
  BASE_LOCK_SET_KIND(lock, kind);
}

enum { ICD_LOCK_FREE, ICD_LOCK_HELD, ICD_LOCK_WANTED /* held, with waiting threads */ };

/* A zeroed condition has no waiting threads. */
struct icd_condition {
  _Atomic uint32_t changes;
  uint32_t sleepers; /* protected by the lock */
};

/* icd_wait releases the lock, sleeps until icd_wake or a spurious wake-up, and takes the lock
 * again. icd_wake wakes all waiting threads. The caller holds the lock. */
void icd_wait(struct icd_condition *condition, struct icd_lock *lock);
void icd_wake(struct icd_condition *condition);

void icd_lock_wait(struct icd_lock *lock);
void icd_lock_wake(struct icd_lock *lock);

static inline void icd_lock(struct icd_lock *lock) {
  uint32_t state = ICD_LOCK_FREE;
  base_lock_take(lock, lock->kind);
  if (!atomic_compare_exchange_strong_explicit(&lock->state, &state, ICD_LOCK_HELD,
                                               memory_order_acquire, memory_order_relaxed))
    icd_lock_wait(lock);
}

static inline bool icd_try_lock(struct icd_lock *lock) {
  uint32_t state = ICD_LOCK_FREE;
  if (!atomic_compare_exchange_strong_explicit(&lock->state, &state, ICD_LOCK_HELD,
                                               memory_order_acquire, memory_order_relaxed))
    return false;
  base_lock_took(lock, lock->kind);
  return true;
}

static inline void icd_unlock(struct icd_lock *lock) {
  base_lock_release(lock);
  if (atomic_exchange_explicit(&lock->state, ICD_LOCK_FREE, memory_order_release) ==
      ICD_LOCK_WANTED)
    icd_lock_wake(lock);
}

#endif
