/* Types, values and rounding functions for the test of built-in functions. */
#include "tests/builtins/builtins.h"

#include <fenv.h>
#include <float.h>
#include <string.h>

const struct type_info types[TYPES] = {
    [CHAR] = {"char", 8, true, false, 0, 0, 0},
    [UCHAR] = {"uchar", 8, false, false, 0, 0, 0},
    [SHORT] = {"short", 16, true, false, 0, 0, 0},
    [USHORT] = {"ushort", 16, false, false, 0, 0, 0},
    [INT] = {"int", 32, true, false, 0, 0, 0},
    [UINT] = {"uint", 32, false, false, 0, 0, 0},
    [LONG] = {"long", 64, true, false, 0, 0, 0},
    [ULONG] = {"ulong", 64, false, false, 0, 0, 0},
    [HALF] = {"half", 16, true, true, 11, -13, 16},
    [FLOAT] = {"float", 32, true, true, FLT_MANT_DIG, FLT_MIN_EXP, FLT_MAX_EXP},
    [DOUBLE] = {"double", 64, true, true, DBL_MANT_DIG, DBL_MIN_EXP, DBL_MAX_EXP},
};
const unsigned widths[WIDTHS] = {1, 2, 3, 4, 8, 16};

enum type integer_type(unsigned bits, bool is_signed) {
  enum type type = bits == 8 ? CHAR : bits == 16 ? SHORT : bits == 32 ? INT : LONG;
  return is_signed ? type : type + 1;
}

wide least_of(enum type type) {
  return types[type].is_signed ? -((wide)1 << (types[type].bits - 1)) : 0;
}
wide most_of(enum type type) {
  return ((wide)1 << (types[type].bits - types[type].is_signed)) - 1;
}
wide clip(enum type type, wide n) {
  return n < least_of(type) ? least_of(type) : n > most_of(type) ? most_of(type) : n;
}
wide wrap(enum type type, wide n) {
  const unsigned bits = types[type].bits;
  uwide low = (uwide)n & (((uwide)1 << bits) - 1);
  return types[type].is_signed && low >> (bits - 1) ? (wide)low - ((wide)1 << bits) : (wide)low;
}

struct value value_of_bits(enum type type, uint64_t bits) {
  struct value value = {0, (wide)bits};
  uint32_t low = (uint32_t)bits;
  float f;
  double d;
  if (!types[type].is_float) {
    value.n = wrap(type, value.n);
  } else if (type == DOUBLE) {
    memcpy(&d, &bits, sizeof d);
    value.x = d;
  } else if (type == FLOAT) {
    memcpy(&f, &low, sizeof f);
    value.x = (real)f;
  } else {
    value.x = device_half_value(low);
  }
  return value;
}

struct value value_of_real(enum type type, real x) {
  uint64_t bits = 0;
  float f = (float)x;
  double d = (double)x;
  if (type == HALF)
    bits = device_half_bits(x, FE_TONEAREST);
  else if (type == FLOAT)
    memcpy(&bits, &f, sizeof f);
  else
    memcpy(&bits, &d, sizeof d);
  return value_of_bits(type, bits);
}

struct value value_load(enum type type, const void *array, size_t i) {
  const size_t size = types[type].bits / 8;
  uint64_t bits = 0;
  memcpy(&bits, (const char *)array + i * size, size);
  return value_of_bits(type, bits);
}

void value_store(enum type type, void *array, size_t i, struct value value) {
  const size_t size = types[type].bits / 8;
  uint64_t bits = (uint64_t)value.n;
  memcpy((char *)array + i * size, &bits, size);
}

real narrow(enum type type, real x, int rounding) {
  volatile real exact = x;
  volatile float f = 0;
  volatile double d = 0;
  if (type == HALF)
    return isnan(x) ? x : device_half_value(device_half_bits(x, rounding));
  fesetround(rounding);
  if (type == FLOAT)
    f = (float)exact;
  else
    d = (double)exact;
  fesetround(FE_TONEAREST);
  return type == FLOAT ? (real)f : (real)d;
}

real epsilon(enum type type) {
  return ldexpl(1, 1 - types[type].digits);
}
