/* 64-bit values of a warp, whose halves are in two registers, as vectors of the host. A vector has
 * VEC values. One vector of low words and one of high words make two vectors of doubles. */
#ifndef TEGRACL_SM_DOUBLES_H
#define TEGRACL_SM_DOUBLES_H

#include "emulator/sm/exec/lanes.h"
#include "emulator/sm/exec/sem_float.h"

/* Arithmetic on vectors of one width, which is given as the prefix of the compiler's intrinsics. */
#define VEC_ARITHMETIC(width)                                                                      \
  static inline vec vec_splat(double a) {                                                          \
    return width##_set1_pd(a);                                                                     \
  }                                                                                                \
  static inline vec vec_add(vec a, vec b) {                                                        \
    return width##_add_pd(a, b);                                                                   \
  }                                                                                                \
  static inline vec vec_mul(vec a, vec b) {                                                        \
    return width##_mul_pd(a, b);                                                                   \
  }                                                                                                \
  static inline vec vec_fma(vec a, vec b, vec c) {                                                 \
    return width##_fmadd_pd(a, b, c);                                                              \
  }

#if defined(__AVX512F__)

typedef __m512d vec;
enum { VEC = 8 };

VEC_ARITHMETIC(_mm512)

static inline unsigned vec_any_nan(vec a, vec b) {
  return _mm512_cmp_pd_mask(a, b, _CMP_UNORD_Q);
}
static inline unsigned vec_less(vec a, vec b) {
  return _mm512_cmp_pd_mask(a, b, _CMP_LT_OQ);
}
static inline unsigned vec_equal(vec a, vec b) {
  return _mm512_cmp_pd_mask(a, b, _CMP_EQ_OQ);
}

/* Returns r, or where it is a NaN the one that the hardware returns: sem_nan64. */
static inline vec vec_fix_nan(vec r, vec a, vec b, vec c) {
  const __m512i quiet = _mm512_set1_epi64((int64_t)SEM_F64_QUIET);
  const vec from[3] = {c, b, a};
  __m512i nan = _mm512_set1_epi64((int64_t)SEM_F64_NAN);
  for (unsigned k = 0; k < 3; k++)
    nan = _mm512_mask_or_epi64(nan, _mm512_cmp_pd_mask(from[k], from[k], _CMP_UNORD_Q),
                               _mm512_castpd_si512(from[k]), quiet);
  return _mm512_mask_mov_pd(r, _mm512_cmp_pd_mask(r, r, _CMP_UNORD_Q), _mm512_castsi512_pd(nan));
}

/* Combines low and high words to doubles. flip has the bits of the high words to invert. */
static inline void vec_zip(vec v[2], const uint32_t *lo, const uint32_t *hi, uint32_t flip) {
  const __m512i first = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
  const __m512i second = _mm512_add_epi32(first, _mm512_set1_epi32(VEC));
  const __m512i l = _mm512_load_si512(lo);
  const __m512i h = _mm512_xor_si512(_mm512_load_si512(hi), _mm512_set1_epi32((int)flip));
  v[0] = _mm512_castsi512_pd(_mm512_permutex2var_epi32(l, first, h));
  v[1] = _mm512_castsi512_pd(_mm512_permutex2var_epi32(l, second, h));
}

static inline void vec_unzip(uint32_t *lo, uint32_t *hi, const vec v[2]) {
  const __m512i even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
  const __m512i odd = _mm512_add_epi32(even, _mm512_set1_epi32(1));
  const __m512i a = _mm512_castpd_si512(v[0]), b = _mm512_castpd_si512(v[1]);
  _mm512_store_si512(lo, _mm512_permutex2var_epi32(a, even, b));
  _mm512_store_si512(hi, _mm512_permutex2var_epi32(a, odd, b));
}

#elif defined(__AVX2__)

typedef __m256d vec;
enum { VEC = 4 };

VEC_ARITHMETIC(_mm256)

static inline unsigned vec_any_nan(vec a, vec b) {
  return (unsigned)_mm256_movemask_pd(_mm256_cmp_pd(a, b, _CMP_UNORD_Q));
}
static inline unsigned vec_less(vec a, vec b) {
  return (unsigned)_mm256_movemask_pd(_mm256_cmp_pd(a, b, _CMP_LT_OQ));
}
static inline unsigned vec_equal(vec a, vec b) {
  return (unsigned)_mm256_movemask_pd(_mm256_cmp_pd(a, b, _CMP_EQ_OQ));
}

static inline vec vec_fix_nan(vec r, vec a, vec b, vec c) {
  const vec quiet = _mm256_castsi256_pd(_mm256_set1_epi64x((int64_t)SEM_F64_QUIET));
  const vec from[3] = {c, b, a};
  vec nan = _mm256_castsi256_pd(_mm256_set1_epi64x((int64_t)SEM_F64_NAN));
  for (unsigned k = 0; k < 3; k++)
    nan = _mm256_blendv_pd(nan, _mm256_or_pd(from[k], quiet),
                           _mm256_cmp_pd(from[k], from[k], _CMP_UNORD_Q));
  return _mm256_blendv_pd(r, nan, _mm256_cmp_pd(r, r, _CMP_UNORD_Q));
}

static inline void vec_zip(vec v[2], const uint32_t *lo, const uint32_t *hi, uint32_t flip) {
  const __m256i l = _mm256_load_si256((const __m256i *)lo);
  const __m256i h =
      _mm256_xor_si256(_mm256_load_si256((const __m256i *)hi), _mm256_set1_epi32((int)flip));
  const __m256i outer = _mm256_unpacklo_epi32(l, h), inner = _mm256_unpackhi_epi32(l, h);
  v[0] = _mm256_castsi256_pd(_mm256_permute2x128_si256(outer, inner, 0x20));
  v[1] = _mm256_castsi256_pd(_mm256_permute2x128_si256(outer, inner, 0x31));
}

static inline void vec_unzip(uint32_t *lo, uint32_t *hi, const vec v[2]) {
  const __m256 a = _mm256_castpd_ps(v[0]), b = _mm256_castpd_ps(v[1]);
  const __m256i even = _mm256_castps_si256(_mm256_shuffle_ps(a, b, 0x88));
  const __m256i odd = _mm256_castps_si256(_mm256_shuffle_ps(a, b, 0xdd));
  _mm256_store_si256((__m256i *)lo, _mm256_permute4x64_epi64(even, 0xd8));
  _mm256_store_si256((__m256i *)hi, _mm256_permute4x64_epi64(odd, 0xd8));
}

#else

typedef double vec;
enum { VEC = 1 };

static inline vec vec_splat(double a) {
  return a;
}
static inline vec vec_add(vec a, vec b) {
  return a + b;
}
static inline vec vec_mul(vec a, vec b) {
  return a * b;
}
static inline vec vec_fma(vec a, vec b, vec c) {
  return __builtin_fma(a, b, c);
}
static inline unsigned vec_any_nan(vec a, vec b) {
  return (a != a) | (b != b);
}
static inline unsigned vec_less(vec a, vec b) {
  return a < b;
}
static inline unsigned vec_equal(vec a, vec b) {
  return a == b;
}

static inline vec vec_fix_nan(vec r, vec a, vec b, vec c) {
  return r != r ? sem_f64(sem_nan64(sem_bits64(a), sem_bits64(b), sem_bits64(c))) : r;
}

static inline void vec_zip(vec v[2], const uint32_t *lo, const uint32_t *hi, uint32_t flip) {
  v[0] = sem_f64(sem_pair(lo[0], hi[0] ^ flip));
  v[1] = sem_f64(sem_pair(lo[1], hi[1] ^ flip));
}

static inline void vec_unzip(uint32_t *lo, uint32_t *hi, const vec v[2]) {
  for (unsigned i = 0; i < 2; i++) {
    lo[i] = (uint32_t)sem_bits64(v[i]);
    hi[i] = (uint32_t)(sem_bits64(v[i]) >> 32);
  }
}

#endif

/* Convert all lanes of a register pair to doubles, and back. v need not be aligned. */
static inline void sm_zip(void *v, const uint32_t *lo, const uint32_t *hi) {
  for (unsigned i = 0; i < SM_LANES; i += 2 * VEC) {
    vec t[2];
    vec_zip(t, lo + i, hi + i, 0);
    memcpy((uint8_t *)v + i * sizeof(double), t, sizeof t);
  }
}

static inline void sm_unzip(uint32_t *lo, uint32_t *hi, const void *v) {
  for (unsigned i = 0; i < SM_LANES; i += 2 * VEC) {
    vec t[2];
    memcpy(t, (const uint8_t *)v + i * sizeof(double), sizeof t);
    vec_unzip(lo + i, hi + i, t);
  }
}

#endif
