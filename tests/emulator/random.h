/* Random numbers of the fuzz targets. They depend only on the input's number. */
#ifndef TEGRACL_TEST_RANDOM_H
#define TEGRACL_TEST_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

static uint64_t seed; /* seed of the current input; a debugger can read it after a crash */
static uint64_t random_state;

static inline uint32_t rnd(void) {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return (uint32_t)(random_state >> 16);
}

static inline uint32_t below(uint32_t n) {
  return rnd() % n;
}

static inline bool one_in(uint32_t n) {
  return below(n) == 0;
}

static inline void begin_input(uint64_t number) {
  seed = number;
  uint64_t z = (number + 1) * UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  random_state = (z ^ z >> 27) | 1;
}

#endif
