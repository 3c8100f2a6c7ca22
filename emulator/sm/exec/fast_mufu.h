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

/* Reciprocal square roots of four lanes from estimates with an error of at most 1.5 * 2^-12, by
 * four terms of the series of 1 / sqrt(1 - e). Error below 2^-42. */
static inline __m256d fast_rsq_quarter(__m128 a, __m128 estimate) {
  const __m256d x = _mm256_cvtps_pd(a), y = _mm256_cvtps_pd(estimate);
  const __m256d e = _mm256_fnmadd_pd(_mm256_mul_pd(x, y), y, _mm256_set1_pd(1));
  __m256d s = _mm256_fmadd_pd(e, _mm256_set1_pd(5. / 16), _mm256_set1_pd(3. / 8));
  s = _mm256_fmadd_pd(s, e, _mm256_set1_pd(1. / 2));
  return _mm256_fmadd_pd(_mm256_mul_pd(s, e), y, y);
}

/* Computes MUFU.RSQ of all lanes. Returns 0 if a lane is in doubt. */
static inline int fast_rsq(uint32_t *r, const uint32_t *a) {
  enum { LOW_WORDS = 0x88 };
  __m256i special = _mm256_setzero_si256(), least = _mm256_set1_epi32(-1);
  const __m256i half = _mm256_set1_epi32((int)((1u << 31) - FAST_ERROR));
  for (unsigned k = 0; k < SM_LANES; k += 8) {
    const __m256 v = _mm256_load_ps((const float *)(const void *)(a + k));
    /* A positive normal number minus the least one is below the difference of the limits. */
    const __m256i above = _mm256_sub_epi32(_mm256_castps_si256(v), _mm256_set1_epi32(0x00800000));
    special = _mm256_max_epu32(special, above);
    const __m256 estimate = _mm256_rsqrt_ps(v);
    const __m256d low =
        fast_rsq_quarter(_mm256_castps256_ps128(v), _mm256_castps256_ps128(estimate));
    const __m256d high =
        fast_rsq_quarter(_mm256_extractf128_ps(v, 1), _mm256_extractf128_ps(estimate, 1));
    const __m256 rest = _mm256_shuffle_ps(_mm256_castpd_ps(low), _mm256_castpd_ps(high), LOW_WORDS);
    const __m256i scaled = _mm256_slli_epi32(_mm256_castps_si256(rest), 3);
    least = _mm256_min_epu32(least, _mm256_sub_epi32(scaled, half));
    _mm256_store_ps((float *)(void *)(r + k),
                    _mm256_set_m128(_mm256_cvtpd_ps(high), _mm256_cvtpd_ps(low)));
  }
  const __m256i normal = _mm256_set1_epi32(0x7effffff);
  const __m256i doubt = _mm256_set1_epi32(2 * FAST_ERROR);
  const __m256i fine = _mm256_cmpeq_epi32(_mm256_max_epu32(special, normal), normal);
  const __m256i near = _mm256_cmpeq_epi32(_mm256_min_epu32(least, doubt), least);
  return _mm256_testc_si256(_mm256_andnot_si256(near, fine), _mm256_set1_epi32(-1));
}
#endif

#endif
