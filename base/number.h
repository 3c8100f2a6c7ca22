/* Minimum and rounding of 64-bit numbers; conversion between floats and their bits. */
#ifndef TEGRACL_BASE_NUMBER_H
#define TEGRACL_BASE_NUMBER_H

#include <stdint.h>
#include <string.h>

static inline uint64_t base_min(uint64_t a, uint64_t b) {
  return a < b ? a : b;
}

/* Rounds value up to a multiple of unit, which must not be 0. value + unit must not overflow. */
static inline uint64_t base_round_up(uint64_t value, uint64_t unit) {
  return (value + unit - 1) / unit * unit;
}

/* Returns the float with these bits. */
static inline float base_float(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof(value));
  return value;
}

static inline uint32_t base_float_bits(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof(bits));
  return bits;
}

#endif
