/* Arithmetic for tests, independent of the emulator's: a value has a significand of 113 bits and
 * one bit for the loss below it, and can be rounded to any binary format in any direction. */
#ifndef TEGRACL_TESTS_SASS_EXACT_H
#define TEGRACL_TESTS_SASS_EXACT_H

#include <stdbool.h>
#include <stdint.h>

#include "tests/sm/quad.h"

struct format {
  unsigned mantissa, exponent; /* stored bits of each */
};
extern const struct format FORMAT_F16, FORMAT_BF16, FORMAT_F32, FORMAT_F64;

/* sticky: the value is slightly further from zero than v. */
struct exact {
  quad v;
  bool sticky;
};

struct exact exact_of(uint64_t bits, const struct format *format);
struct exact exact_add(struct exact a, struct exact b);
struct exact exact_mul(struct exact a, struct exact b);
struct exact exact_div(struct exact a, struct exact b);

/* Rounds to a format by mode (FE_TONEAREST, FE_DOWNWARD, ...). A zero has the sign of a.v, which
 * exact_fma and exact_sum choose according to the mode. */
uint64_t exact_round(struct exact a, const struct format *format, int mode);
uint64_t exact_fma(uint64_t a, uint64_t b, uint64_t c, const struct format *from,
                   const struct format *to, int mode);
/* a + b */
uint64_t exact_sum(uint64_t a, uint64_t b, const struct format *format, int mode);

/* Rounds to an integer by mode; |a| < 2^100. */
quad exact_integral(quad a, int mode);

bool exact_is_nan(uint64_t bits, const struct format *format);
/* Replaces subnormals by zero of the same sign. */
uint64_t exact_flush(uint64_t bits, const struct format *format);
/* Clamps to [0, 1]. NaN becomes +0. */
uint64_t exact_saturate(uint64_t bits, const struct format *format);

#endif
