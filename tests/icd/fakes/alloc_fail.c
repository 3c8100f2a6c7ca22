/* Injected allocation failures. See alloc_fail.h. */
#include <stdatomic.h>

#include "icd/icd.h"
#include "tests/icd/fakes/alloc_fail.h"

static atomic_int countdown = -1; /* negative: disarmed */
static atomic_bool hit;
static _Thread_local bool is_passing; /* allocations of this thread are not counted */

void alloc_fail_arm(int after) {
  hit = false;
  countdown = after;
}

bool alloc_fail_disarm(void) {
  countdown = -1;
  return hit;
}

static bool fails(void) {
  int left = is_passing ? -1 : countdown;
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
void *__real_icd_object_new(enum icd_magic kind, size_t size);
void *__wrap_icd_object_new(enum icd_magic kind, size_t size);

void *__wrap_malloc(size_t size) {
  return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size) {
  return fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size) {
  return fails() ? NULL : __real_realloc(old, size);
}

void *__wrap_icd_object_new(enum icd_magic kind, size_t size) {
  if (fails())
    return NULL;
  is_passing = true;
  void *object = __real_icd_object_new(kind, size);
  is_passing = false;
  return object;
}
/* NOLINTEND(bugprone-reserved-identifier) */
