/* Special functions of a warp in fewer operations than in sem_mufu.h, with the same results. Each
 * computes its function in double with a relative error below DOUBT, with fused operations and
 * shorter polynomials. The caller computes the warp again as in sem_mufu.h if that error may change
 * the rounded result in a lane, or if an operand is special, for which functions set bits of
 * *doubt.
 *
 * Polynomials interpolate the function at Chebyshev nodes. */
#ifndef TEGRACL_SM_FAST_MUFU_H
#define TEGRACL_SM_FAST_MUFU_H

#include "emulator/sm/exec/sem_mufu.h"

/* A limit of the error in units of 2^-32 of a float's last place: 2^-37 of the largest mantissa,
 * which is above the errors of the functions here and in sem_mufu.h together. */
enum { FAST_ERROR = 1 << 19 };

/* Returns how far the bits of a result below a float's last place, as a fraction of 2^32, are above
 * the lowest value that the error may carry across one half, modulo 2^32. */
static inline uint32_t fast_above_half(uint64_t bits) {
  return ((uint32_t)bits << 3) - ((1u << 31) - FAST_ERROR);
}

/* Returns whether the error cannot change a rounded result. least is the least of
 * fast_above_half. */
static inline bool fast_is_certain(uint32_t least) {
  return least > 2 * FAST_ERROR;
}

#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
#define SM_FAST_MUFU

static inline uint32_t fast_round(double r, uint32_t *least) {
  const uint32_t above = fast_above_half(sem_bits64(r));
  *least = above < *least ? above : *least;
  return sem_bits32((float)r);
}

/* Error below 2^-39. */
static inline uint32_t fast_ex2(uint32_t a, uint32_t *least, uint32_t *doubt) {
  /* Results beyond this limit are infinite or flushed. That of a subnormal is 1. */
  const uint32_t limit = 0x43480000u /* 200 */, size = a & ~SEM_F32_SIGN;
  *doubt |= size > SEM_F32_EXP;
  const double y = sem_f32((size < limit ? size : limit) | (a & SEM_F32_SIGN));
  const double n = sem_nearest(y), f = y - n;
  double p = 0x1.63d136366db24p-20;
  p = __builtin_fma(p, f, 0x1.00dc4a532fb8ep-16);
  p = __builtin_fma(p, f, 0x1.4308ac85aa947p-13);
  p = __builtin_fma(p, f, 0x1.5d8745a728441p-10);
  p = __builtin_fma(p, f, 0x1.3b2ab7181b755p-7);
  p = __builtin_fma(p, f, 0x1.c6b08dd6fd234p-5);
  p = __builtin_fma(p, f, 0x1.ebfbdff823cedp-3);
  p = __builtin_fma(p, f, 0x1.62e42fef84cf0p-1);
  p = __builtin_fma(p, f, 1);
  const double exponent_shifter = 0x1.8p52;
  const uint64_t e = sem_bits64(n + (exponent_shifter + 1023));
  return sem_flush32(fast_round(p * sem_f64(e << 52), least));
}

/* Error below 2^-44. */
static inline uint32_t fast_lg2(uint32_t a, uint32_t *least, uint32_t *doubt) {
  *doubt |= a - 0x00800000u >= 0x7f000000u; /* not a positive normal number */
  const uint32_t sqrt_half = 0x3f3504f3u;
  const int32_t shifted = (int32_t)(a - sqrt_half), e = shifted >> 23;
  const double m = sem_f32((uint32_t)((shifted & 0x7fffff) + (int32_t)sqrt_half));
  const double z = (m - 1) / (m + 1), w = z * z;
  double r = 0x1.21af101c073efp-2;
  r = __builtin_fma(r, w, 0x1.47957ca53fbd6p-2);
  r = __builtin_fma(r, w, 0x1.a61a2db52464ap-2);
  r = __builtin_fma(r, w, 0x1.2776c294d1dbap-1);
  r = __builtin_fma(r, w, 0x1.ec709dc53ace3p-1);
  r = __builtin_fma(r, w, 0x1.71547652b8252p+1);
  return fast_round(__builtin_fma(r, z, e), least);
}

/* sin(2 pi x) or cos(2 pi x). Error below 2^-42. */
static inline uint32_t fast_turn(uint32_t a, bool cosine, uint32_t *least, uint32_t *doubt) {
  const double x = sem_f32(sem_flush32(a));
  *doubt |= (a & ~SEM_F32_SIGN) >= 0x4b800000u; /* 2^24 or more, or a NaN */
  const double t = x - sem_nearest(x), u = fabs(t);
  const double s = cosine ? 0.25 - u : (u > 0.25 ? 0.5 - u : u), w = s * s;
  double r = 0x1.d53abdeb199c1p+1;
  r = __builtin_fma(r, w, -0x1.e29b82ab98ea9p+3);
  r = __builtin_fma(r, w, 0x1.50770f6a5a66bp+5);
  r = __builtin_fma(r, w, -0x1.32d2c9b2d1df5p+6);
  r = __builtin_fma(r, w, 0x1.466bc66ed3d1cp+6);
  r = __builtin_fma(r, w, -0x1.4abbce624ad99p+5);
  r = __builtin_fma(r, w, 0x1.921fb54442bb4p+2);
  const uint32_t out = sem_flush32(fast_round(r * s, least));
  const uint32_t sign = t == 0 ? a : sem_bits32((float)t);
  return cosine ? out : out ^ (sign & SEM_F32_SIGN);
}

#endif

#if defined(__AVX2__)
#define SM_FAST_RSQ

/* Sets estimates of reciprocal square roots with an error of at most 1.5 * 2^-12. */
static inline void fast_rsq_estimates(float *estimate, const uint32_t *a) {
#if defined(__AVX512F__)
  for (unsigned k = 0; k < SM_LANES; k += 16)
    _mm512_storeu_ps(estimate + k, _mm512_rsqrt14_ps(_mm512_loadu_ps(a + k)));
#else
  for (unsigned k = 0; k < SM_LANES; k += 8)
    _mm256_storeu_ps(estimate + k,
                     _mm256_rsqrt_ps(_mm256_loadu_ps((const float *)(const void *)(a + k))));
#endif
}

/* By four terms of the series of 1 / sqrt(1 - e). Error below 2^-42. */
static inline uint32_t fast_rsq(uint32_t a, float estimate, uint32_t *least, uint32_t *doubt) {
  *doubt |= a - 0x00800000u >= 0x7f000000u; /* not a positive normal number */
  const double x = sem_f32(a), y = estimate, e = __builtin_fma(-(x * y), y, 1);
  double s = __builtin_fma(e, 5. / 16, 3. / 8);
  s = __builtin_fma(s, e, 1. / 2);
  return fast_round(__builtin_fma(s * e, y, y), least);
}
#endif

#endif
