/* The monotonic clock of the CPU. */
#ifndef TEGRACL_BASE_CLOCK_H
#define TEGRACL_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Returns the time of CLOCK_MONOTONIC in ns. */
static inline uint64_t base_clock_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

#endif
