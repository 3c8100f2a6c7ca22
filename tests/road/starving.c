/* The C library's functions under the linker's names; see starving.h. */
#include "tests/road/starving.h"

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

void starve_at(unsigned nth) {
  bad_site = NULL;
  hit = false;
  until = nth;
}

bool starve_site(unsigned site) {
  starve_at(0);
  bad_site = site < SITES ? sites[site] : NULL;
  return bad_site;
}

bool starved(void) {
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
#define STARVING(type, name, failure, parameters, arguments)                                       \
  type __real_##name parameters;                                                                   \
  type __wrap_##name parameters;                                                                   \
  type __wrap_##name parameters {                                                                  \
    if (fails(__builtin_extract_return_addr(__builtin_return_address(0))))                         \
      return failure;                                                                              \
    return __real_##name arguments;                                                                \
  }
STARVING(void *, malloc, NULL, (size_t size), (size))
STARVING(void *, calloc, NULL, (size_t count, size_t size), (count, size))
STARVING(void *, realloc, NULL, (void *old, size_t size), (old, size))
STARVING(void *, aligned_alloc, NULL, (size_t alignment, size_t size), (alignment, size))
STARVING(int, posix_memalign, ENOMEM, (void **to, size_t alignment, size_t size),
         (to, alignment, size))
STARVING(char *, strdup, NULL, (const char *text), (text))
STARVING(char *, strndup, NULL, (const char *text, size_t size), (text, size))
STARVING(int, pthread_create, EAGAIN,
         (pthread_t * thread, const pthread_attr_t *attributes, void *(*function)(void *),
          void *argument),
         (thread, attributes, function, argument))
STARVING(int, memfd_create, -1, (const char *name, unsigned flags), (name, flags))
STARVING(void *, mmap64, MAP_FAILED,
         (void *address, size_t length, int protection, int flags, int fd, off_t offset),
         (address, length, protection, flags, fd, offset))
/* NOLINTEND(bugprone-reserved-identifier) */
