/* See exact.h. */
#include "tests/sass/exact.h"

#include <fenv.h>
#include <string.h>

const struct format FORMAT_F16 = {10, 5}, FORMAT_BF16 = {7, 8}, FORMAT_F32 = {23, 8},
                    FORMAT_F64 = {52, 11};

typedef unsigned __int128 u128;

enum { QUAD_MANTISSA = 112, QUAD_BIAS = 16383, QUAD_SPECIAL = 0x7fff };

static u128 quad_bits(quad v) {
  u128 bits;
  memcpy(&bits, &v, sizeof bits);
  return bits;
}

static bool negative(quad v) {
  return quad_bits(v) >> 127;
}

static uint64_t infinity(const struct format *f) {
  return ((1ull << f->exponent) - 1) << f->mantissa;
}

static uint64_t magnitude_mask(const struct format *f) {
  return (1ull << (f->mantissa + f->exponent)) - 1;
}

/* All operations truncate and record in sticky whether anything was lost. */
#define TRUNCATED(expression)                                                                      \
  feclearexcept(FE_ALL_EXCEPT);                                                                    \
  fesetround(FE_TOWARDZERO);                                                                       \
  volatile quad out = expression;                                                                  \
  const bool lost = fetestexcept(FE_INEXACT);                                                      \
  fesetround(FE_TONEAREST);                                                                        \
  return (struct exact) {                                                                          \
    out, lost || a.sticky || b.sticky                                                              \
  }

struct exact exact_add(struct exact a, struct exact b) {
  const volatile quad x = a.v, y = b.v;
  TRUNCATED(x + y);
}

struct exact exact_mul(struct exact a, struct exact b) {
  const volatile quad x = a.v, y = b.v;
  TRUNCATED(x * y);
}

struct exact exact_div(struct exact a, struct exact b) {
  const volatile quad x = a.v, y = b.v;
  TRUNCATED(x / y);
}

struct exact exact_of(uint64_t bits, const struct format *f) {
  const int bias = (1 << (f->exponent - 1)) - 1;
  const uint64_t e = (bits & magnitude_mask(f)) >> f->mantissa;
  const uint64_t m = bits & ((1ull << f->mantissa) - 1);
  quad v;
  if (e == (1ull << f->exponent) - 1) {
    u128 special = (u128)QUAD_SPECIAL << QUAD_MANTISSA | (m ? (u128)1 << (QUAD_MANTISSA - 1) : 0);
    memcpy(&v, &special, sizeof v);
  } else {
    v = (quad)(m | (e ? 1ull << f->mantissa : 0));
    const int exponent = (int)(e ? e : 1) - bias - (int)f->mantissa;
    u128 power = (u128)(unsigned)(exponent + QUAD_BIAS) << QUAD_MANTISSA;
    quad scale;
    memcpy(&scale, &power, sizeof scale);
    v *= scale;
  }
  return (struct exact){bits >> (f->mantissa + f->exponent) & 1 ? -v : v, false};
}

/* Returns whether a magnitude is rounded up. */
static bool rounds_up(int mode, bool minus, bool odd, u128 rest, u128 half) {
  if (rest == 0)
    return false;
  if (mode == FE_TONEAREST)
    return rest > half || (rest == half && odd);
  return (mode == FE_UPWARD && !minus) || (mode == FE_DOWNWARD && minus);
}

uint64_t exact_round(struct exact a, const struct format *f, int mode) {
  const u128 bits = quad_bits(a.v);
  const bool minus = negative(a.v);
  const uint64_t sign = (uint64_t)minus << (f->mantissa + f->exponent);
  int e = (int)(bits >> QUAD_MANTISSA & QUAD_SPECIAL);
  u128 m = bits & (((u128)1 << QUAD_MANTISSA) - 1);
  if (e == QUAD_SPECIAL && m)
    return magnitude_mask(f);
  if (e == QUAD_SPECIAL)
    return sign | infinity(f);
  if (e == 0) /* zero, because subnormal quads do not occur */
    return sign;
  const int bias = (1 << (f->exponent - 1)) - 1, lowest = 1 - bias;
  e -= QUAD_BIAS;
  m = (m | (u128)1 << QUAD_MANTISSA) << 1 | a.sticky;
  int drop = QUAD_MANTISSA + 1 - (int)f->mantissa;
  if (e < lowest)
    drop += lowest - e, e = lowest;
  if (drop > 120)
    drop = 120;
  const u128 unit = (u128)1 << drop, rest = m & (unit - 1);
  uint64_t kept = (uint64_t)(m >> drop);
  kept += rounds_up(mode, minus, kept & 1, rest, unit / 2);
  const uint64_t out = ((uint64_t)(e - lowest) << f->mantissa) + kept;
  if (out < infinity(f))
    return sign | out;
  const bool away =
      mode == FE_TONEAREST || (mode == FE_UPWARD && !minus) || (mode == FE_DOWNWARD && minus);
  return sign | (away ? infinity(f) : infinity(f) - 1);
}

static uint64_t round_sum(struct exact x, struct exact y, const struct format *to, int mode) {
  struct exact s = exact_add(x, y);
  if (s.v == 0 && !s.sticky) {
    const bool both = x.v == 0 && y.v == 0 && negative(x.v) == negative(y.v);
    const bool minus = both ? negative(x.v) : mode == FE_DOWNWARD;
    return (uint64_t)minus << (to->mantissa + to->exponent);
  }
  return exact_round(s, to, mode);
}

uint64_t exact_sum(uint64_t a, uint64_t b, const struct format *f, int mode) {
  return round_sum(exact_of(a, f), exact_of(b, f), f, mode);
}

uint64_t exact_fma(uint64_t a, uint64_t b, uint64_t c, const struct format *from,
                   const struct format *to, int mode) {
  return round_sum(exact_mul(exact_of(a, from), exact_of(b, from)), exact_of(c, from), to, mode);
}

quad exact_integral(quad a, int mode) {
  const bool minus = negative(a);
  const u128 bits = quad_bits(a);
  const int e = (int)(bits >> QUAD_MANTISSA & QUAD_SPECIAL) - QUAD_BIAS;
  if (e >= QUAD_MANTISSA || a == 0)
    return a;
  u128 whole = 0, rest = bits & (((u128)1 << QUAD_MANTISSA) - 1);
  rest |= (u128)1 << QUAD_MANTISSA;
  u128 half;
  if (e < -1) {
    rest = 1, half = 2;
  } else {
    const int drop = QUAD_MANTISSA - e;
    whole = e < 0 ? 0 : rest >> drop;
    rest &= ((u128)1 << drop) - 1;
    half = (u128)1 << (drop - 1);
  }
  whole += rounds_up(mode, minus, whole & 1, rest, half);
  const quad v = (quad)whole;
  return minus ? -v : v;
}

bool exact_is_nan(uint64_t bits, const struct format *f) {
  return (bits & magnitude_mask(f)) > infinity(f);
}

uint64_t exact_flush(uint64_t bits, const struct format *f) {
  return bits & infinity(f) ? bits : bits & ~magnitude_mask(f);
}

uint64_t exact_saturate(uint64_t bits, const struct format *f) {
  const uint64_t one = (uint64_t)((1u << (f->exponent - 1)) - 1) << f->mantissa;
  if (exact_is_nan(bits, f) || bits > magnitude_mask(f))
    return 0;
  return bits > one ? one : bits;
}
