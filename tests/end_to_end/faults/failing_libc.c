/* Wrappers of functions of the C library. See failing_libc.h. */
#include "tests/end_to_end/faults/failing_libc.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { SITES = 1024 };

static atomic_uint until; /* calls */
static _Atomic(const void *) bad_site;
static atomic_bool hit;
static _Atomic(const void *) sites[SITES];

void fail_nth_call(unsigned nth) {
  bad_site = NULL;
  hit = false;
  until = nth;
}

bool fail_calls_at_site(unsigned site) {
  fail_nth_call(0);
  bad_site = site < SITES ? sites[site] : NULL;
  return bad_site;
}

bool injected_failure(void) {
  return hit;
}

static void note(const void *site) {
  for (unsigned i = 0; i < SITES; i++) {
    const void *known = NULL;
    if (sites[i] == site || atomic_compare_exchange_strong(&sites[i], &known, site) ||
        known == site)
      return;
  }
}

static bool fails(const void *site) {
  note(site);
  unsigned left = until;
  while (left && !atomic_compare_exchange_weak(&until, &left, left - 1)) {
  }
  if (left != 1 && bad_site != site)
    return false;
  hit = true;
  errno = ENOMEM;
  return true;
}

/* NOLINTBEGIN(bugprone-reserved-identifier) */
#define FAILING(type, name, failure, parameters, arguments)                                        \
  type __real_##name parameters;                                                                   \
  type __wrap_##name parameters;                                                                   \
  type __wrap_##name parameters {                                                                  \
    if (fails(__builtin_extract_return_addr(__builtin_return_address(0))))                         \
      return failure;                                                                              \
    return __real_##name arguments;                                                                \
  }
FAILING(void *, malloc, NULL, (size_t size), (size))
FAILING(void *, calloc, NULL, (size_t count, size_t size), (count, size))
FAILING(void *, realloc, NULL, (void *old, size_t size), (old, size))
FAILING(void *, aligned_alloc, NULL, (size_t alignment, size_t size), (alignment, size))
FAILING(int, posix_memalign, ENOMEM, (void **to, size_t alignment, size_t size),
        (to, alignment, size))
FAILING(char *, strdup, NULL, (const char *text), (text))
FAILING(char *, strndup, NULL, (const char *text, size_t size), (text, size))
FAILING(int, pthread_create, EAGAIN,
        (pthread_t * thread, const pthread_attr_t *attributes, void *(*function)(void *),
         void *argument),
        (thread, attributes, function, argument))
FAILING(int, memfd_create, -1, (const char *name, unsigned flags), (name, flags))
FAILING(void *, mmap64, MAP_FAILED,
        (void *address, size_t length, int protection, int flags, int fd, off_t offset),
        (address, length, protection, flags, fd, offset))
/* NOLINTEND(bugprone-reserved-identifier) */
