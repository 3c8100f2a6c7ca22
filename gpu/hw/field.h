/* Bit fields of 32-bit words. The generated headers name a field as its
 * "high bit, low bit", which these functions take as two arguments.
 */
#ifndef TEGRACL_HW_FIELD_H
#define TEGRACL_HW_FIELD_H

#include <stdint.h>

/* A word with value in bits high:low. Bits of value that do not fit are cut off. */
static inline uint32_t hw_bits(unsigned high, unsigned low, uint32_t value) {
  return (value & (UINT32_MAX >> (31 - (high - low)))) << low;
}

/* Bits high:low of word. */
static inline uint32_t hw_field(uint32_t word, unsigned high, unsigned low) {
  return (word >> low) & (UINT32_MAX >> (31 - (high - low)));
}

/* Bits high:low of a descriptor of many words. No field crosses a word (the generator
 * refuses tables with one). */
static inline uint32_t hw_get(const uint32_t *words, unsigned high, unsigned low) {
  return hw_field(words[low / 32], high % 32, low % 32);
}

static inline void hw_set(uint32_t *words, unsigned high, unsigned low, uint32_t value) {
  words[low / 32] = (words[low / 32] & ~hw_bits(high % 32, low % 32, UINT32_MAX)) |
                    hw_bits(high % 32, low % 32, value);
}

#endif
