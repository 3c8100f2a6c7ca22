/* The value of a half. Tests that include this need the maths library. */
#ifndef TEGRACL_TESTS_HALF_VALUE_H
#define TEGRACL_TESTS_HALF_VALUE_H

#include <math.h>
#include <stdint.h>

static inline double half_value(uint32_t bits) {
  const int exponent = (int)(bits >> 10 & 31), mantissa = (int)(bits & 1023);
  const double size = exponent == 31  ? mantissa ? NAN : INFINITY
                      : exponent == 0 ? ldexp(mantissa, -24)
                                      : ldexp(1024 + mantissa, exponent - 25);
  return bits & 0x8000 ? -size : size;
}

#endif
