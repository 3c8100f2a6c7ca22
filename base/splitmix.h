/* SplitMix64 (Steele, Lea and Flood, OOPSLA 2014): random numbers by hashing a counter. Any state
 * is a valid seed. */
#ifndef TEGRACL_BASE_SPLITMIX_H
#define TEGRACL_BASE_SPLITMIX_H

#include <stdint.h>

/* Returns the hash of a 64-bit number. */
static inline uint64_t splitmix(uint64_t z) {
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return z ^ z >> 31;
}

/* Returns the next random number of a stream, from 0 to n - 1. n must not be 0. */
static inline uint32_t splitmix_below(uint64_t *state, uint32_t n) {
  *state += UINT64_C(0x9e3779b97f4a7c15);
  return (uint32_t)((splitmix(*state) >> 32) * n >> 32);
}

#endif
