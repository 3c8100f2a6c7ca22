/* Allocation failures on demand; see alloc_fail.h. */
#include <stdatomic.h>

#include "tests/icd/fakes/alloc_fail.h"

static atomic_int countdown = -1; /* negative: disarmed */
static atomic_bool hit;

void alloc_fail_arm(int after) {
  hit = false;
  countdown = after;
}

bool alloc_fail_disarm(void) {
  countdown = -1;
  return hit;
}

static bool fails(void) {
  int left = countdown;
  while (left >= 0)
    if (atomic_compare_exchange_weak(&countdown, &left, left - 1)) {
      if (left == 0)
        hit = true;
      return left == 0;
    }
  return false;
}

/* NOLINTBEGIN(bugprone-reserved-identifier) */
void *__real_realloc(void *old, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);

void *__wrap_malloc(size_t size) {
  return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size) {
  return fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size) {
  return fails() ? NULL : __real_realloc(old, size);
}
/* NOLINTEND(bugprone-reserved-identifier) */
