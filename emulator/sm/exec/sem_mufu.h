/* MUFU: the special functions, computed in double and rounded once, which is within the documented
 * bounds (docs/hardware/floating-point.md section 6). Functions whose loops over lanes should
 * vectorise have no branches or library calls. */
#ifndef TEGRACL_SM_SEM_MUFU_H
#define TEGRACL_SM_SEM_MUFU_H

#include "emulator/sm/exec/lanes.h"
#include "emulator/sm/exec/sem_float.h"

/* In the encoding of the instruction. */
enum sem_mufu {
  SEM_MUFU_COS,
  SEM_MUFU_SIN,
  SEM_MUFU_EX2,
  SEM_MUFU_LG2,
  SEM_MUFU_RCP,
  SEM_MUFU_RSQ,
  SEM_MUFU_RCP64H,
  SEM_MUFU_RSQ64H,
  SEM_MUFU_SQRT,
  SEM_MUFU_TANH,
};

/* Rounds to the nearest integer; |x| must be below 2^51. Adding 1.5 * 2^52 leaves no fraction
 * bits. */
static inline double sem_nearest(double x) {
  const double shifter = 0x1.8p52;
  return (x + shifter) - shifter;
}

static inline double sem_exp2_unit(double f) {
  /* Taylor series of e^(f ln 2) for |f| <= 1/2, whose last term is below 2^-45. */
  double x = f * 0x1.62e42fefa39efp-1, r = 1.0 / 479001600;
  r = r * x + 1.0 / 39916800;
  r = r * x + 1.0 / 3628800;
  r = r * x + 1.0 / 362880;
  r = r * x + 1.0 / 40320;
  r = r * x + 1.0 / 5040;
  r = r * x + 1.0 / 720;
  r = r * x + 1.0 / 120;
  r = r * x + 1.0 / 24;
  r = r * x + 1.0 / 6;
  r = r * x + 0.5;
  r = r * x + 1;
  return r * x + 1;
}

static inline uint32_t sem_ex2(uint32_t a) {
  a = sem_flush32(a);
  double x = sem_f32(a);
  /* Results beyond these limits are infinite or flushed. The limits keep the exponent in range. */
  double y = x > 200 ? 200 : x < -200 ? -200 : x;
  double n = sem_nearest(y);
  double p = sem_exp2_unit(y - n);
  const double exponent_shifter = 0x1.8p52; /* the low bits hold n + bias */
  uint64_t e = sem_bits64(n + (exponent_shifter + 1023));
  double r = p * sem_f64(e << 52);
  uint32_t out = sem_flush32(sem_bits32((float)r));
  return sem_is_nan32(a) ? SEM_F32_NAN : out;
}

static inline uint32_t sem_lg2(uint32_t a) {
  a = sem_flush32(a);
  const uint32_t sqrt_half = 0x3f3504f3u; /* centres mantissas around one */
  int32_t shifted = (int32_t)(a - sqrt_half);
  int32_t e = shifted >> 23;
  double m = sem_f32((uint32_t)((shifted & 0x7fffff) + (int32_t)sqrt_half));
  /* log m = 2 atanh((m - 1) / (m + 1)) */
  double z = (m - 1) / (m + 1), w = z * z, r = 1.0 / 19;
  r = r * w + 1.0 / 17;
  r = r * w + 1.0 / 15;
  r = r * w + 1.0 / 13;
  r = r * w + 1.0 / 11;
  r = r * w + 1.0 / 9;
  r = r * w + 1.0 / 7;
  r = r * w + 1.0 / 5;
  r = r * w + 1.0 / 3;
  r = r * w + 1;
  const double two_over_ln2 = 2.8853900817779268;
  uint32_t out = sem_bits32((float)(e + z * r * two_over_ln2));
  bool zero = (a & ~SEM_F32_SIGN) == 0;
  bool bad = sem_is_nan32(a) || ((int32_t)a < 0 && !zero);
  out = zero ? SEM_F32_SIGN | SEM_F32_EXP : a == SEM_F32_EXP ? SEM_F32_EXP : out;
  return bad ? SEM_F32_NAN : out;
}

static inline uint32_t sem_rcp(uint32_t a) {
  float r = 1.0f / sem_f32(sem_flush32(a));
  return sem_canonical32(sem_flush32(sem_bits32(r)));
}

static inline uint32_t sem_rsq(uint32_t a) {
  a = sem_flush32(a);
  uint32_t r = sem_bits32((float)(1.0 / __builtin_sqrt((double)sem_f32(a))));
  r = (a & ~SEM_F32_SIGN) == 0 ? a | SEM_F32_EXP : r;
  return sem_canonical32(r);
}

static inline uint32_t sem_sqrt(uint32_t a) {
  return sem_canonical32(sem_bits32(__builtin_sqrtf(sem_f32(sem_flush32(a)))));
}

/* Returns sin(2 pi x) or cos(2 pi x). */
static inline uint32_t sem_turn(uint32_t a, bool cosine) {
  a = sem_flush32(a);
  double x = sem_f32(a);
  bool huge = !(fabs(x) < 0x1p24); /* a whole number of turns, or a NaN */
  double y = huge ? 0 : x;
  double t = y - sem_nearest(y); /* -1/2 .. 1/2 */
  double u = fabs(t);
  /* Up to the sign, the result is sin(2 pi s) with |s| <= 1/4. */
  double s = cosine ? 0.25 - u : (u > 0.25 ? 0.5 - u : u);
  double v = s * 6.283185307179586, w = v * v, r = -1.0 / 1307674368000;
  r = r * w + 1.0 / 6227020800;
  r = r * w - 1.0 / 39916800;
  r = r * w + 1.0 / 362880;
  r = r * w - 1.0 / 5040;
  r = r * w + 1.0 / 120;
  r = r * w - 1.0 / 6;
  r = r * w * v + v;
  uint32_t out = sem_flush32(sem_bits32((float)r));
  uint32_t sign = cosine ? 0 : sem_bits32((float)t) & SEM_F32_SIGN;
  if (!cosine && t == 0)
    sign = a & SEM_F32_SIGN;
  bool bad = (a & SEM_F32_EXP) == SEM_F32_EXP;
  return bad ? SEM_F32_NAN : out ^ sign;
}

static inline float sem_tanh_of(float x) {
  sm_clear_upper_halves();
  return tanhf(x);
}

static inline uint32_t sem_tanh(uint32_t a) {
  return sem_canonical32(sem_bits32(sem_tanh_of(sem_f32(a))));
}

/* RCP64H and RSQ64H: return the high word of a seed for the high word of a double. Subnormal
 * doubles count as zero. */
static inline uint32_t sem_seed64(uint32_t high, bool root) {
  const uint32_t exp_mask = 0x7ff00000u;
  if (!(high & exp_mask))
    high &= 0x80000000u;
  double x = sem_f64((uint64_t)high << 32);
  if (x != x || (root && x < 0))
    return SEM_F32_NAN;
  double r = root ? 1 / __builtin_sqrt(x) : 1 / x;
  /* Rounds to the nearest value whose low word is zero. */
  uint64_t bits = sem_bits64(r);
  if (r - r == 0)
    bits += 0x80000000u;
  uint32_t out = (uint32_t)(bits >> 32);
  return out & exp_mask ? out : out & 0x80000000u;
}

static inline uint32_t sem_mufu(uint32_t a, enum sem_mufu function) {
  switch (function) {
  case SEM_MUFU_COS:
    return sem_turn(a, true);
  case SEM_MUFU_SIN:
    return sem_turn(a, false);
  case SEM_MUFU_EX2:
    return sem_ex2(a);
  case SEM_MUFU_LG2:
    return sem_lg2(a);
  case SEM_MUFU_RCP:
    return sem_rcp(a);
  case SEM_MUFU_RSQ:
    return sem_rsq(a);
  case SEM_MUFU_RCP64H:
    return sem_seed64(a, false);
  case SEM_MUFU_RSQ64H:
    return sem_seed64(a, true);
  case SEM_MUFU_SQRT:
    return sem_sqrt(a);
  case SEM_MUFU_TANH:
    return sem_tanh(a);
  }
  return SEM_F32_NAN;
}

/* MUFU on f16, which keeps subnormals: EX2 and TANH. */
static inline uint32_t sem_mufu_f16(uint32_t h, enum sem_mufu function) {
  float x = sem_f16_to_f32(h);
  float r;
  if (function == SEM_MUFU_EX2)
    r = sem_f32(sem_ex2(sem_bits32(x)));
  else if (function == SEM_MUFU_TANH)
    r = sem_tanh_of(x);
  else
    r = sem_f32(sem_mufu(sem_bits32(x), function));
  return sem_f32_to_f16(r);
}

#endif
