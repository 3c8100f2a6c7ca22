/* The tests' own arithmetic, independent of the emulator's: a value in 113 bits
 * of significand with what was lost below it as one bit, and its rounding to any
 * binary format in any direction.
 */
#ifndef TEGRACL_TESTS_SASS_EXACT_H
#define TEGRACL_TESTS_SASS_EXACT_H

#include <stdbool.h>
#include <stdint.h>

#include "tests/sm/quad.h"

struct format {
  unsigned mantissa, exponent; /* stored bits of each */
};
extern const struct format FORMAT_F16, FORMAT_BF16, FORMAT_F32, FORMAT_F64;

/* sticky: the value is a little further from zero than v says. */
struct exact {
  quad v;
  bool sticky;
};

struct exact exact_of(uint64_t bits, const struct format *format);
struct exact exact_add(struct exact a, struct exact b);
struct exact exact_mul(struct exact a, struct exact b);
struct exact exact_div(struct exact a, struct exact b);

/* In a format, rounded as mode (FE_TONEAREST, FE_DOWNWARD, ...) says. A sum of
 * opposite equals that is zero takes its sign from the mode: exact_add cannot
 * know it, so the callers of sums say which zero by exact_sum_zero. */
uint64_t exact_round(struct exact a, const struct format *format, int mode);
uint64_t exact_fma(uint64_t a, uint64_t b, uint64_t c, const struct format *from,
                   const struct format *to, int mode);
/* a + b */
uint64_t exact_sum(uint64_t a, uint64_t b, const struct format *format, int mode);

/* The nearest integer in the mode's direction; |a| < 2^100. */
quad exact_integral(quad a, int mode);

bool exact_is_nan(uint64_t bits, const struct format *format);
/* Subnormals to zero of their sign. */
uint64_t exact_flush(uint64_t bits, const struct format *format);
/* NaN and negative to +0, more than one to one. */
uint64_t exact_saturate(uint64_t bits, const struct format *format);

#endif
