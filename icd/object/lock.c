/* The slow path of icd/object/lock.h, which sleeps on a futex (the third mutex in U. Drepper's
 * "Futexes Are Tricky").
 */
#include "icd/object/lock.h"

#include <limits.h>
#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

static void sleep_while(_Atomic uint32_t *word, uint32_t value) {
  syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
}

static void wake_sleepers(_Atomic uint32_t *word, int most) {
  syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, most, NULL, NULL, 0);
}

void icd_lock_wait(struct icd_lock *lock) {
  while (atomic_exchange_explicit(&lock->state, ICD_LOCK_WANTED, memory_order_acquire) !=
         ICD_LOCK_FREE)
    sleep_while(&lock->state, ICD_LOCK_WANTED);
}

void icd_lock_wake(struct icd_lock *lock) {
  wake_sleepers(&lock->state, 1);
}

/* icd_wake changes the counter while it holds the lock, so no wake-up after this read is missed. */
void icd_wait(struct icd_condition *condition, struct icd_lock *lock) {
  const uint32_t seen = atomic_load_explicit(&condition->changes, memory_order_relaxed);
  condition->sleepers++;
  icd_unlock(lock);
  sleep_while(&condition->changes, seen);
  icd_lock(lock);
  condition->sleepers--;
}

void icd_wake(struct icd_condition *condition) {
  if (!condition->sleepers)
    return;
  atomic_fetch_add_explicit(&condition->changes, 1, memory_order_relaxed);
  wake_sleepers(&condition->changes, INT_MAX);
}
