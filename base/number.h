/* Minimum and rounding of 64-bit numbers. */
#ifndef TEGRACL_BASE_NUMBER_H
#define TEGRACL_BASE_NUMBER_H

#include <stdint.h>

static inline uint64_t base_min(uint64_t a, uint64_t b) {
  return a < b ? a : b;
}

/* The next multiple of unit, which is not 0. value + unit must not overflow. */
static inline uint64_t base_round_up(uint64_t value, uint64_t unit) {
  return (value + unit - 1) / unit * unit;
}

#endif
