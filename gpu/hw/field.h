/* Bit fields of 32-bit words. The generated headers define a field as "high bit, low bit", which
 * are two arguments of these functions. */
#ifndef TEGRACL_HW_FIELD_H
#define TEGRACL_HW_FIELD_H

#include <stdint.h>

/* Returns a word with value in bits high:low. Excess bits of value are discarded. */
static inline uint32_t hw_bits(unsigned high, unsigned low, uint32_t value) {
  return (value & (UINT32_MAX >> (31 - (high - low)))) << low;
}

/* Returns bits high:low of word. */
static inline uint32_t hw_field(uint32_t word, unsigned high, unsigned low) {
  return (word >> low) & (UINT32_MAX >> (31 - (high - low)));
}

/* Access bits high:low of a descriptor with many words. A field never crosses a word boundary (the
 * generator rejects such tables). */
static inline uint32_t hw_get(const uint32_t *words, unsigned high, unsigned low) {
  return hw_field(words[low / 32], high % 32, low % 32);
}

static inline void hw_set(uint32_t *words, unsigned high, unsigned low, uint32_t value) {
  words[low / 32] = (words[low / 32] & ~hw_bits(high % 32, low % 32, UINT32_MAX)) |
                    hw_bits(high % 32, low % 32, value);
}

#endif
