/* The slow side of icd/lock.h: sleeping on a futex (the third mutex of U. Drepper's
 * "Futexes Are Tricky").
 */
#include "icd/lock.h"

#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

void icd_lock_wait(struct icd_lock *lock) {
  while (atomic_exchange_explicit(&lock->state, ICD_LOCK_WANTED, memory_order_acquire) !=
         ICD_LOCK_FREE)
    syscall(SYS_futex, &lock->state, FUTEX_WAIT_PRIVATE, ICD_LOCK_WANTED, NULL, NULL, 0);
}

void icd_lock_wake(struct icd_lock *lock) {
  syscall(SYS_futex, &lock->state, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}
