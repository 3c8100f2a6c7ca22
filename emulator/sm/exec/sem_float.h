/* Floating-point semantics of SM 8.7 for one lane: arithmetic helpers, comparison, minimum and
 * maximum, half and bfloat16, conversions. Rules: docs/hardware/sass.md sections 4.2 to 4.5,
 * docs/hardware/floating-point.md sections 1 to 5. */
#ifndef TEGRACL_SM_SEM_FLOAT_H
#define TEGRACL_SM_SEM_FLOAT_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/number.h"
#include "emulator/sm/exec/sem_int.h"

/* In the encoding of the instructions. Conversions to integer call the same values ROUND, FLOOR,
 * CEIL and TRUNC. */
enum sem_round { SEM_RN, SEM_RM, SEM_RP, SEM_RZ };

#define SEM_F32_SIGN  0x80000000u
#define SEM_F32_EXP   0x7f800000u
#define SEM_F32_NAN   0x7fffffffu
#define SEM_F32_ONE   0x3f800000u
#define SEM_F64_SIGN  0x8000000000000000ull
#define SEM_F64_EXP   0x7ff0000000000000ull
#define SEM_F64_NAN   0xfff8000000000000ull
#define SEM_F64_QUIET 0x0008000000000000ull
#define SEM_F16_NAN   0x7fffu

static inline float sem_f32(uint32_t bits) {
  return base_float(bits);
}

static inline uint32_t sem_bits32(float f) {
  return base_float_bits(f);
}

static inline double sem_f64(uint64_t bits) {
  double d;
  memcpy(&d, &bits, sizeof d);
  return d;
}

static inline uint64_t sem_bits64(double d) {
  uint64_t bits;
  memcpy(&bits, &d, sizeof bits);
  return bits;
}

static inline bool sem_is_nan32(uint32_t a) {
  return (a & ~SEM_F32_SIGN) > SEM_F32_EXP;
}

static inline uint32_t sem_canonical32(uint32_t a) {
  return sem_is_nan32(a) ? SEM_F32_NAN : a;
}

/* Flushes subnormals to zero of the same sign. */
static inline uint32_t sem_flush32(uint32_t a) {
  return a & SEM_F32_EXP ? a : a & SEM_F32_SIGN;
}

/* .SAT: clamps to [+0, 1]. NaN and -0 become +0. */
static inline uint32_t sem_sat32(uint32_t a) {
  uint32_t low = (int32_t)a < 0 || sem_is_nan32(a) ? 0 : a;
  return low > SEM_F32_ONE ? SEM_F32_ONE : low;
}

/* Compares two f32 values. Returns all ones if the comparison code (SEM_CMP_*) matches, else 0. */
static inline uint32_t sem_compare_f32(uint32_t a, uint32_t b, uint32_t cmp) {
  float x = sem_f32(a), y = sem_f32(b);
  uint32_t less = x < y ? cmp & SEM_CMP_LESS : 0;
  uint32_t more = x > y ? cmp & SEM_CMP_GREATER : 0;
  uint32_t same = x == y ? cmp & SEM_CMP_EQUAL : 0;
  uint32_t nan = __builtin_isunordered(x, y) ? cmp & SEM_CMP_UNORDERED : 0;
  return (less | more | same | nan) ? ~0u : 0;
}

/* Maps f32 to integers that are ordered in the same way, with -0 below +0. */
static inline int32_t sem_order32(uint32_t a) {
  return (int32_t)(a ^ ((uint32_t)((int32_t)a >> 31) >> 1));
}

static inline uint32_t sem_minmax32(uint32_t a, uint32_t b, bool min, bool nan, bool xor_sign) {
  uint32_t sign = (a ^ b) & SEM_F32_SIGN;
  if (xor_sign)
    a &= ~SEM_F32_SIGN, b &= ~SEM_F32_SIGN;
  bool na = sem_is_nan32(a), nb = sem_is_nan32(b);
  bool a_less = sem_order32(a) < sem_order32(b);
  uint32_t r = a_less == min ? a : b;
  r = nb ? a : na ? b : r;
  bool all_nan = nan ? na | nb : na & nb;
  if (xor_sign)
    r = (r & ~SEM_F32_SIGN) | sign;
  return all_nan ? SEM_F32_NAN : r;
}

/* FCHK: returns whether a division by Newton's method might leave the safe range of exponents. It
 * may return true too often (docs/hardware/floating-point.md section 5). */
static inline bool sem_fchk(uint32_t a, uint32_t b) {
  int ea = (int)(a >> 23 & 255), eb = (int)(b >> 23 & 255);
  enum { SPECIAL = 255, B_MAX = 253, DIFF_MIN = -125, DIFF_MAX = 126, A_MIN = 24 };
  return (ea <= A_MIN) | (eb == 0) | (ea == SPECIAL) | (eb >= B_MAX) | (ea - eb < DIFF_MIN) |
         (ea - eb > DIFF_MAX);
}

/* Returns the NaN that is the result of a double operation: the first NaN operand, made quiet, or
 * the NaN of an invalid operation. */
static inline uint64_t sem_nan64(uint64_t a, uint64_t b, uint64_t c) {
  double x = sem_f64(a), y = sem_f64(b), z = sem_f64(c);
  return x != x   ? a | SEM_F64_QUIET
         : y != y ? b | SEM_F64_QUIET
         : z != z ? c | SEM_F64_QUIET
                  : SEM_F64_NAN;
}

/* --- formats and exact rounding ----------------------------------------- */

struct sem_format {
  unsigned mantissa; /* stored bits */
  unsigned exponent; /* bits */
};

static const struct sem_format SEM_FORMAT_F16 = {10, 5};
static const struct sem_format SEM_FORMAT_BF16 = {7, 8};
static const struct sem_format SEM_FORMAT_TF32 = {10, 8};
static const struct sem_format SEM_FORMAT_F32 = {23, 8};
static const struct sem_format SEM_FORMAT_F64 = {52, 11};

/* Rounds sig * 2^exp correctly to a format and returns its bits. If the top bits of sig are set,
 * its lowest bit may stand for all lower ones (sticky). */
static inline uint64_t sem_round_pack(bool negative, uint64_t sig, int exp,
                                      struct sem_format format, enum sem_round mode,
                                      bool saturate) {
  int bias = (1 << (format.exponent - 1)) - 1;
  uint64_t sign = (uint64_t)negative << (format.mantissa + format.exponent);
  if (sig == 0)
    return sign;
  int lead = __builtin_clzll(sig);
  sig <<= lead;
  int e = exp + 63 - lead; /* the value is 1.xxx * 2^e */
  int drop = 63 - (int)format.mantissa;
  int min_e = 1 - bias;
  if (e < min_e)
    drop += min_e - e;
  uint64_t kept = drop >= 64 ? 0 : sig >> drop;
  uint64_t rest = drop >= 64 ? sig : sig << (64 - drop); /* the top bit is worth one half */
  bool above_half = drop > 64 ? false : rest > 1ull << 63;
  bool half = drop > 64 ? false : rest == 1ull << 63;
  bool up = false;
  switch (mode) {
  case SEM_RN:
    up = above_half || (half && (kept & 1));
    break;
  case SEM_RM:
    up = negative && rest;
    break;
  case SEM_RP:
    up = !negative && rest;
    break;
  case SEM_RZ:
    break;
  }
  uint64_t biased = e < min_e ? 0 : (uint64_t)(e + bias - 1);
  uint64_t out = (biased << format.mantissa) + kept + up;
  uint64_t infinity = ((1ull << format.exponent) - 1) << format.mantissa;
  if (out >= infinity) {
    bool to_infinity =
        mode == SEM_RN || (mode == SEM_RM && negative) || (mode == SEM_RP && !negative);
    out = to_infinity && !saturate ? infinity : infinity - 1;
  }
  return sign | out;
}

struct sem_parts {
  bool negative, nan, infinite;
  uint64_t sig;
  int exp;
};

static inline struct sem_parts sem_unpack(uint64_t bits, struct sem_format format) {
  int bias = (1 << (format.exponent - 1)) - 1;
  uint64_t mask = (1ull << format.mantissa) - 1, top = (1ull << format.exponent) - 1;
  uint64_t e = bits >> format.mantissa & top;
  struct sem_parts p = {.negative = bits >> (format.mantissa + format.exponent) & 1,
                        .sig = bits & mask};
  if (e == top) {
    p.nan = p.sig != 0;
    p.infinite = !p.nan;
    return p;
  }
  if (e != 0)
    p.sig |= 1ull << format.mantissa;
  p.exp = (int)(e ? e : 1) - bias - (int)format.mantissa;
  return p;
}

static inline uint64_t sem_format_nan(struct sem_format format) {
  if (format.mantissa == SEM_FORMAT_F64.mantissa)
    return SEM_F64_NAN;
  return (1ull << (format.mantissa + format.exponent)) - 1;
}

/* F2F: converts between formats. */
static inline uint64_t sem_convert(uint64_t bits, struct sem_format from, struct sem_format to,
                                   enum sem_round mode, bool saturate) {
  struct sem_parts p = sem_unpack(bits, from);
  uint64_t infinity = ((1ull << to.exponent) - 1) << to.mantissa;
  if (p.nan)
    return sem_format_nan(to);
  if (p.infinite)
    return (uint64_t)p.negative << (to.mantissa + to.exponent) |
           (saturate ? infinity - 1 : infinity);
  return sem_round_pack(p.negative, p.sig, p.exp, to, mode, saturate);
}

/* I2F. */
static inline uint64_t sem_from_int(uint64_t value, bool is_signed, struct sem_format to,
                                    enum sem_round mode) {
  bool negative = is_signed && (int64_t)value < 0;
  return sem_round_pack(negative, negative ? 0 - value : value, 0, to, mode, false);
}

/* Rounds a value to an integer, whose exponent is 0 if it was negative and the value is not 0. */
static inline struct sem_parts sem_to_integral(struct sem_parts p, enum sem_round mode) {
  if (p.nan || p.infinite || p.exp >= 0 || p.sig == 0)
    return p;
  int drop = -p.exp;
  uint64_t kept = drop >= 64 ? 0 : p.sig >> drop;
  uint64_t rest = drop >= 64 ? (drop == 64 ? p.sig : 1) : p.sig << (64 - drop);
  bool up = false;
  switch (mode) {
  case SEM_RN:
    up = rest > 1ull << 63 || (rest == 1ull << 63 && (kept & 1));
    break;
  case SEM_RM:
    up = p.negative && rest;
    break;
  case SEM_RP:
    up = !p.negative && rest;
    break;
  case SEM_RZ:
    break;
  }
  p.sig = kept + up;
  p.exp = 0;
  return p;
}

/* F2I: converts to an integer and saturates. NaN becomes 0 if ntz, else only the sign bit of the
 * destination is set. Negative results are sign-extended to 64 bits. */
static inline uint64_t sem_to_int(uint64_t bits, struct sem_format from, unsigned width,
                                  bool is_signed, enum sem_round mode, bool ntz) {
  struct sem_parts p = sem_unpack(bits, from);
  uint64_t top = 1ull << (width - 1);
  if (p.nan)
    return ntz ? 0 : top;
  uint64_t max = is_signed ? top - 1 : (top - 1) | top;
  uint64_t min_magnitude = is_signed ? top : 0;
  uint64_t limit = p.negative ? min_magnitude : max;
  p = sem_to_integral(p, mode);
  uint64_t magnitude;
  if (p.infinite)
    magnitude = limit;
  else if (p.sig == 0)
    magnitude = 0;
  else if (p.exp >= __builtin_clzll(p.sig) + 1)
    magnitude = limit;
  else
    magnitude = p.sig << p.exp;
  if (magnitude > limit)
    magnitude = limit;
  return p.negative ? 0 - magnitude : magnitude;
}

/* FRND. */
static inline uint64_t sem_frnd(uint64_t bits, struct sem_format format, enum sem_round mode) {
  struct sem_parts p = sem_unpack(bits, format);
  if (p.nan)
    return sem_format_nan(format);
  if (p.infinite)
    return bits;
  p = sem_to_integral(p, mode);
  return sem_round_pack(p.negative, p.sig, p.exp, format, SEM_RN, false);
}

/* --- half precision ------------------------------------------------------ */

static inline float sem_f16_to_f32(uint32_t h) {
  const uint32_t scale_up = (uint32_t)(127 + 112) << 23; /* 2^112: exponent bias 15 to 127 */
  uint32_t body = (h & 0x7fff) << 13;
  uint32_t f = sem_bits32(sem_f32(body) * sem_f32(scale_up));
  f = (h & 0x7c00) == 0x7c00 ? body | SEM_F32_EXP : f;
  return sem_f32(f | (h & 0x8000) << 16);
}

static inline float sem_bf16_to_f32(uint32_t h) {
  return sem_f32(h << 16);
}

/* Rounds to odd: sets the lowest bit if the result is inexact, so that a second rounding to half
 * the width is still correct. */
static inline float sem_odd_f32(double d) {
  float f = (float)d;
  uint32_t bits = sem_bits32(f);
  double back = (double)f;
  if (back == d || d != d)
    return f;
  if (fabs(back) > fabs(d))
    bits--;
  return sem_f32(bits | 1);
}

static inline double sem_odd_add(double a, double b) {
  double s = a + b;
  double t = s - a;
  double error = (a - (s - t)) + (b - t);
  uint64_t bits = sem_bits64(s);
  if (error != 0 && error == error && s - s == 0 && !(bits & 1))
    bits += (error > 0) == (s > 0) ? 1 : (uint64_t)-1;
  return sem_f64(bits);
}

static inline uint32_t sem_f32_to_f16(float f) {
  return (uint32_t)sem_convert(sem_bits32(f), SEM_FORMAT_F32, SEM_FORMAT_F16, SEM_RN, false);
}

static inline uint32_t sem_f32_to_bf16(float f) {
  return (uint32_t)sem_convert(sem_bits32(f), SEM_FORMAT_F32, SEM_FORMAT_BF16, SEM_RN, false);
}

struct sem_half_mode {
  bool bf16, ftz, fmz, sat, relu;
};

static inline uint32_t sem_half_flush(uint32_t h, bool bf16) {
  return h & (bf16 ? 0x7f80u : 0x7c00u) ? h : h & 0x8000u;
}

static inline float sem_half_to_f32(uint32_t h, bool bf16) {
  return bf16 ? sem_bf16_to_f32(h) : sem_f16_to_f32(h);
}

/* Returns a * b + c, rounded once to 16 bits. The operands are exact in f32. */
static inline uint32_t sem_half_fma(float a, float b, float c, struct sem_half_mode mode) {
  if (mode.fmz && (a == 0 || b == 0))
    a = b = 0;
  double exact = sem_odd_add((double)a * (double)b, c);
  if (exact != exact)
    return mode.sat ? 0 : SEM_F16_NAN;
  float odd = sem_odd_f32(exact);
  uint32_t h = mode.bf16 ? sem_f32_to_bf16(odd) : sem_f32_to_f16(odd);
  if (mode.ftz)
    h = sem_half_flush(h, mode.bf16);
  if (mode.sat) {
    uint32_t one = mode.bf16 ? 0x3f80u : 0x3c00u;
    h = h & 0x8000 ? 0 : h > one ? one : h;
  }
  if (mode.relu && h & 0x8000)
    h = 0;
  return h;
}

#endif
