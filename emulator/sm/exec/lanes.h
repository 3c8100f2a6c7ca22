/* The vector type of the 32 lanes of a warp, and its conversion from and to lane masks. Loops over
 * lanes are plain C, which the compiler vectorises for each build (the interpreter is compiled
 * several times, see core.h). */
#ifndef TEGRACL_SM_LANES_H
#define TEGRACL_SM_LANES_H

#include <stdint.h>
#include <string.h>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#define SM_LANES     32
#define SM_ALL_LANES 0xffffffffu
#define SM_REG_BYTES 128 /* one register of a warp */

struct sm_lanes {
  uint32_t l[SM_LANES];
} __attribute__((aligned(SM_REG_BYTES)));

/* Marks a loop whose iterations are independent: destination and source registers are either the
 * same or disjoint. */
#ifdef __clang__
#define SM_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define SM_INDEPENDENT _Pragma("GCC ivdep")
#endif
#define FOR_LANES SM_INDEPENDENT for (unsigned i = 0; i < SM_LANES; i++)

/* Loops over 16 lanes. GCC would unroll such a loop before it tries to vectorise it. */
#ifdef __clang__
#define FOR_HALF for (unsigned i = 0; i < SM_HALF; i++)
#else
#define FOR_HALF _Pragma("GCC unroll 1") for (unsigned i = 0; i < SM_HALF; i++)
#endif

/* Clears the upper halves of the host's vector registers. On Intel's processors each change between
 * instructions of AVX and of SSE costs some 200 cycles unless they are clear. Handlers leave them
 * as they are, so this comes before code that may have instructions of SSE: that of libraries and
 * of files that are compiled once, except those without vectors (sm_called in meson.build). memcpy
 * and its like have none. */
static inline void sm_clear_upper_halves(void) {
#if defined(__AVX__)
  __asm__ volatile("vzeroupper" ::
                       : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8",
                         "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
#endif
}

#define FOR_MASK(lane, mask)                                                                       \
  for (uint32_t left_##lane = (mask), lane = 0;                                                    \
       left_##lane && (lane = (uint32_t)__builtin_ctz(left_##lane), 1);                            \
       left_##lane &= left_##lane - 1)

static const uint32_t sm_lane_bit[SM_LANES] __attribute__((aligned(SM_REG_BYTES))) = {
    1u << 0,  1u << 1,  1u << 2,  1u << 3,  1u << 4,  1u << 5,  1u << 6,  1u << 7,
    1u << 8,  1u << 9,  1u << 10, 1u << 11, 1u << 12, 1u << 13, 1u << 14, 1u << 15,
    1u << 16, 1u << 17, 1u << 18, 1u << 19, 1u << 20, 1u << 21, 1u << 22, 1u << 23,
    1u << 24, 1u << 25, 1u << 26, 1u << 27, 1u << 28, 1u << 29, 1u << 30, 1u << 31,
};

/* Returns yes if lane is one of mask, and no otherwise. Both are evaluated: compilers for
 * processors without masked loads do not make vectors of choices between words of memory. */
static inline uint32_t sm_choose(uint32_t mask, unsigned lane, uint32_t yes, uint32_t no) {
  return mask & sm_lane_bit[lane] ? yes : no;
}

static const uint32_t sm_lane_index[SM_LANES] __attribute__((aligned(SM_REG_BYTES))) = {
    0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
    16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31,
};

#if defined(__AVX2__)
/* The distance of each lane's bit from the sign. */
static const uint32_t sm_lane_shift[SM_LANES] __attribute__((aligned(SM_REG_BYTES))) = {
    31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16,
    15, 14, 13, 12, 11, 10, 9,  8,  7,  6,  5,  4,  3,  2,  1,  0,
};
#endif

/* Collects the top bit of each lane in a mask. */
static inline uint32_t sm_mask_of(const uint32_t *v) {
#if defined(__AVX512DQ__)
  uint32_t low = _mm512_movepi32_mask(_mm512_load_si512(v));
  uint32_t high = _mm512_movepi32_mask(_mm512_load_si512(v + 16));
  return low | high << 16;
#elif defined(__AVX2__)
  uint32_t mask = 0;
  for (unsigned i = 0; i < SM_LANES; i += 8)
    mask |= (uint32_t)_mm256_movemask_ps(_mm256_load_ps((const float *)v + i)) << i;
  return mask;
#elif defined(__SSE2__)
  uint32_t mask = 0;
  for (unsigned i = 0; i < SM_LANES; i += 4)
    mask |= (uint32_t)_mm_movemask_ps(_mm_load_ps((const float *)v + i)) << i;
  return mask;
#else
  uint32_t mask = 0;
  for (unsigned i = 0; i < SM_LANES; i++)
    mask |= (uint32_t)((int32_t)v[i] >> 31) & sm_lane_bit[i];
  return mask;
#endif
}

/* Return masks of the lanes where a > b, compared as signed words after XOR with flip, and where a
 * == b. */
static inline uint32_t sm_mask_more(const uint32_t *a, const uint32_t *b, uint32_t flip) {
#if defined(__AVX512F__)
  const __m512i f = _mm512_set1_epi32((int)flip);
  uint32_t low = _mm512_cmpgt_epi32_mask(_mm512_xor_si512(f, _mm512_load_si512(a)),
                                         _mm512_xor_si512(f, _mm512_load_si512(b)));
  uint32_t high = _mm512_cmpgt_epi32_mask(_mm512_xor_si512(f, _mm512_load_si512(a + 16)),
                                          _mm512_xor_si512(f, _mm512_load_si512(b + 16)));
  return low | high << 16;
#else
  struct sm_lanes t;
  FOR_LANES
  t.l[i] = (int32_t)(a[i] ^ flip) > (int32_t)(b[i] ^ flip) ? ~0u : 0;
  return sm_mask_of(t.l);
#endif
}

static inline uint32_t sm_mask_same(const uint32_t *a, const uint32_t *b) {
#if defined(__AVX512F__)
  uint32_t low = _mm512_cmpeq_epi32_mask(_mm512_load_si512(a), _mm512_load_si512(b));
  uint32_t high = _mm512_cmpeq_epi32_mask(_mm512_load_si512(a + 16), _mm512_load_si512(b + 16));
  return low | high << 16;
#else
  struct sm_lanes t;
  FOR_LANES
  t.l[i] = a[i] == b[i] ? ~0u : 0;
  return sm_mask_of(t.l);
#endif
}

enum { SM_HALF = SM_LANES / 2 };

/* Returns whether 16 lanes are an arithmetic sequence with the given step, modulo 2^32. */
static inline int sm_is_row(const uint32_t *v, uint32_t step) {
#if defined(__AVX512F__)
  const __m512i rest = _mm512_sub_epi32(_mm512_loadu_si512(v), _mm512_set1_epi32((int)v[0]));
  const __m512i row =
      _mm512_mullo_epi32(_mm512_load_si512(sm_lane_index), _mm512_set1_epi32((int)step));
  return _mm512_cmpneq_epi32_mask(rest, row) == 0;
#elif defined(__AVX2__)
  const __m256i first = _mm256_set1_epi32((int)v[0]), by = _mm256_set1_epi32((int)step);
  __m256i differ[2];
  for (unsigned k = 0; k < 2; k++) {
    const __m256i index = _mm256_load_si256((const __m256i *)(const void *)sm_lane_index + k);
    const __m256i rest =
        _mm256_sub_epi32(_mm256_loadu_si256((const __m256i_u *)(const void *)v + k), first);
    differ[k] = _mm256_xor_si256(rest, _mm256_mullo_epi32(index, by));
  }
  const __m256i any = _mm256_or_si256(differ[0], differ[1]);
  return _mm256_testz_si256(any, any);
#else
  uint32_t differ = 0;
  FOR_HALF
  differ |= (v[i] - v[0]) ^ (sm_lane_index[i] * step);
  return differ == 0;
#endif
}

/* Returns whether 16 lanes have the same value. */
static inline int sm_is_same(const uint32_t *v) {
#if defined(__AVX512F__)
  return _mm512_cmpneq_epi32_mask(_mm512_loadu_si512(v), _mm512_set1_epi32((int)v[0])) == 0;
#elif defined(__AVX2__)
  const __m256i_u *const half = (const __m256i_u *)(const void *)v;
  const __m256i first = _mm256_set1_epi32((int)v[0]);
  const __m256i any = _mm256_or_si256(_mm256_xor_si256(_mm256_loadu_si256(half), first),
                                      _mm256_xor_si256(_mm256_loadu_si256(half + 1), first));
  return _mm256_testz_si256(any, any);
#else
  uint32_t differ = 0;
  FOR_HALF
  differ |= v[i] ^ v[0];
  return differ == 0;
#endif
}

/* Returns whether all lanes have the same value. */
static inline int sm_is_uniform(const uint32_t *v) {
#if defined(__AVX512F__)
  const __m512i first = _mm512_set1_epi32((int)v[0]);
  const __m512i low = _mm512_xor_si512(_mm512_load_si512(v), first);
  const __m512i high = _mm512_xor_si512(_mm512_load_si512(v + SM_HALF), first);
  const __m512i any = _mm512_or_si512(low, high);
  return _mm512_test_epi32_mask(any, any) == 0;
#else
  return v[0] == v[SM_HALF] && sm_is_same(v) && sm_is_same(v + SM_HALF);
#endif
}

/* Returns whether hi is the same in all lanes and lo is an arithmetic sequence with the given step,
 * modulo 2^32. */
static inline int sm_is_pair_row(const uint32_t *lo, const uint32_t *hi, uint32_t step) {
#if defined(__AVX512F__)
  enum { OR_XOR = 0xf6 }; /* of three operands: the first one, or the XOR of the others */
  const __m512i by = _mm512_set1_epi32((int)step), first = _mm512_set1_epi32((int)lo[0]);
  const __m512i h = _mm512_set1_epi32((int)hi[0]);
  __m512i differ = _mm512_setzero_si512();
  for (unsigned k = 0; k < SM_LANES; k += SM_HALF) {
    const __m512i row =
        _mm512_add_epi32(first, _mm512_mullo_epi32(_mm512_load_si512(sm_lane_index + k), by));
    differ = _mm512_ternarylogic_epi32(differ, _mm512_load_si512(lo + k), row, OR_XOR);
    differ = _mm512_ternarylogic_epi32(differ, _mm512_load_si512(hi + k), h, OR_XOR);
  }
  return _mm512_test_epi32_mask(differ, differ) == 0;
#elif defined(__AVX2__)
  enum { VECTORS = SM_LANES / 8 };
  const __m256i *const index = (const __m256i *)(const void *)sm_lane_index;
  const __m256i *const low = (const __m256i *)(const void *)lo;
  const __m256i *const high = (const __m256i *)(const void *)hi;
  const __m256i by = _mm256_set1_epi32((int)step), first = _mm256_set1_epi32((int)lo[0]);
  const __m256i h = _mm256_set1_epi32((int)hi[0]);
  __m256i differ = _mm256_setzero_si256();
  for (unsigned k = 0; k < VECTORS; k++) {
    const __m256i row =
        _mm256_add_epi32(first, _mm256_mullo_epi32(_mm256_load_si256(index + k), by));
    differ = _mm256_or_si256(differ, _mm256_xor_si256(_mm256_load_si256(low + k), row));
    differ = _mm256_or_si256(differ, _mm256_xor_si256(_mm256_load_si256(high + k), h));
  }
  return _mm256_testz_si256(differ, differ);
#else
  uint32_t differ = 0;
  FOR_LANES
  differ |= (lo[i] - lo[0]) ^ (sm_lane_index[i] * step);
  FOR_LANES
  differ |= hi[i] ^ hi[0];
  return differ == 0;
#endif
}

/* Returns whether any lane is a NaN. */
static inline int sm_any_nan32(const uint32_t *v) {
#if defined(__AVX512F__)
  __m512 low = _mm512_load_ps(v), high = _mm512_load_ps(v + 16);
  return _mm512_cmp_ps_mask(low, high, _CMP_UNORD_Q) != 0;
#elif defined(__AVX__)
  const float *f = (const float *)v;
  __m256 a = _mm256_cmp_ps(_mm256_load_ps(f), _mm256_load_ps(f + 8), _CMP_UNORD_Q);
  __m256 b = _mm256_cmp_ps(_mm256_load_ps(f + 16), _mm256_load_ps(f + 24), _CMP_UNORD_Q);
  return _mm256_movemask_ps(_mm256_or_ps(a, b)) != 0;
#else
  uint32_t any = 0;
  for (unsigned i = 0; i < SM_LANES; i++)
    any |= (v[i] & 0x7fffffffu) > 0x7f800000u;
  return any != 0;
#endif
}

/* Copies s to d in the lanes of mask. */
static inline void sm_blend(uint32_t *d, const uint32_t *s, uint32_t mask) {
#if defined(__AVX512F__)
  /* Not a masked store: processors do not forward one to the load of the next instruction, which
   * would wait until the cache has it. */
  for (unsigned k = 0; k < SM_LANES; k += SM_HALF)
    _mm512_store_si512(d + k,
                       _mm512_mask_blend_epi32((__mmask16)(mask >> k), _mm512_load_si512(d + k),
                                               _mm512_load_si512(s + k)));
#elif defined(__AVX2__)
  /* BLENDVPS selects by the sign alone, so one shift takes the place of a comparison. */
  const __m256i m = _mm256_set1_epi32((int)mask);
  for (unsigned k = 0; k < SM_LANES; k += 8) {
    const __m256i shift = _mm256_load_si256((const __m256i *)(const void *)(sm_lane_shift + k));
    const __m256 choice = _mm256_castsi256_ps(_mm256_sllv_epi32(m, shift));
    float *const to = (float *)(void *)(d + k);
    const float *const from = (const float *)(const void *)(s + k);
    _mm256_store_ps(to, _mm256_blendv_ps(_mm256_load_ps(to), _mm256_load_ps(from), choice));
  }
#else
  FOR_LANES
  d[i] = sm_choose(mask, i, s[i], d[i]);
#endif
}

/* Computes d = a + b. Returns the carries. */
static inline uint32_t sm_add_carry_out(uint32_t *d, const uint32_t *a, const uint32_t *b) {
#if defined(__AVX512F__)
  uint32_t carries = 0;
  for (unsigned k = 0; k < SM_LANES; k += SM_HALF) {
    const __m512i x = _mm512_load_si512(a + k);
    const __m512i sum = _mm512_add_epi32(x, _mm512_load_si512(b + k));
    carries |= (uint32_t)_mm512_cmplt_epu32_mask(sum, x) << k;
    _mm512_store_si512(d + k, sum);
  }
  return carries;
#else
  struct sm_lanes out;
  FOR_LANES {
    const uint32_t x = a[i], y = b[i], sum = x + y;
    out.l[i] = (x & y) | ((x | y) & ~sum); /* the top bit is the carry */
    d[i] = sum;
  }
  return sm_mask_of(out.l);
#endif
}

/* Computes d = a + b, plus 1 in the lanes of mask. */
static inline void sm_add_carries(uint32_t *d, const uint32_t *a, const uint32_t *b,
                                  uint32_t mask) {
#if defined(__AVX512F__)
  const __m512i minus_one = _mm512_set1_epi32(-1);
  for (unsigned k = 0; k < SM_LANES; k += SM_HALF) {
    const __m512i sum = _mm512_add_epi32(_mm512_load_si512(a + k), _mm512_load_si512(b + k));
    _mm512_store_si512(d + k, _mm512_mask_sub_epi32(sum, (__mmask16)(mask >> k), sum, minus_one));
  }
#else
  FOR_LANES
  d[i] = a[i] + b[i] + (mask & sm_lane_bit[i] ? 1u : 0);
#endif
}

/* Computes the 64-bit sums c + a * b, whose halves are in separate registers. Results may replace
 * operands. */
static inline void sm_mad_wide(uint32_t *lo, uint32_t *hi, const uint32_t *a, const uint32_t *b,
                               const uint32_t *c_lo, const uint32_t *c_hi, int is_signed) {
#if defined(__AVX512F__)
  enum { ODD = 0xaaaa };
  const __m512i minus_one = _mm512_set1_epi32(-1);
  for (unsigned k = 0; k < SM_LANES; k += SM_HALF) {
    const __m512i x = _mm512_load_si512(a + k), y = _mm512_load_si512(b + k);
    const __m512i x_odd = _mm512_srli_epi64(x, 32), y_odd = _mm512_srli_epi64(y, 32);
    const __m512i even = is_signed ? _mm512_mul_epi32(x, y) : _mm512_mul_epu32(x, y);
    const __m512i odd = is_signed ? _mm512_mul_epi32(x_odd, y_odd) : _mm512_mul_epu32(x_odd, y_odd);
    const __m512i low = _mm512_mask_blend_epi32(ODD, even, _mm512_slli_epi64(odd, 32));
    const __m512i high = _mm512_mask_blend_epi32(ODD, _mm512_srli_epi64(even, 32), odd);
    const __m512i c = _mm512_load_si512(c_lo + k), sum = _mm512_add_epi32(low, c);
    const __m512i rest = _mm512_add_epi32(high, _mm512_load_si512(c_hi + k));
    _mm512_store_si512(lo + k, sum);
    _mm512_store_si512(
        hi + k, _mm512_mask_sub_epi32(rest, _mm512_cmplt_epu32_mask(sum, c), rest, minus_one));
  }
#elif defined(__AVX2__)
  enum { ODD = 0xaa };
  const __m256i one = _mm256_set1_epi32(1);
#define ROW(p)       ((__m256i *)(void *)((p) + k))
#define CONST_ROW(p) _mm256_load_si256((const __m256i *)(const void *)((p) + k))
  for (unsigned k = 0; k < SM_LANES; k += 8) {
    const __m256i x = CONST_ROW(a), y = CONST_ROW(b);
    const __m256i x_odd = _mm256_srli_epi64(x, 32), y_odd = _mm256_srli_epi64(y, 32);
    const __m256i even = is_signed ? _mm256_mul_epi32(x, y) : _mm256_mul_epu32(x, y);
    const __m256i odd = is_signed ? _mm256_mul_epi32(x_odd, y_odd) : _mm256_mul_epu32(x_odd, y_odd);
    const __m256i low = _mm256_blend_epi32(even, _mm256_slli_epi64(odd, 32), ODD);
    const __m256i high = _mm256_blend_epi32(_mm256_srli_epi64(even, 32), odd, ODD);
    const __m256i c = CONST_ROW(c_lo), sum = _mm256_add_epi32(low, c);
    const __m256i no_carry = _mm256_cmpeq_epi32(_mm256_max_epu32(sum, c), sum);
    const __m256i rest = _mm256_add_epi32(high, CONST_ROW(c_hi));
    _mm256_store_si256(ROW(lo), sum);
    _mm256_store_si256(ROW(hi), _mm256_add_epi32(rest, _mm256_add_epi32(one, no_carry)));
  }
#undef ROW
#undef CONST_ROW
#else
  FOR_LANES {
    const uint64_t c = (uint64_t)c_hi[i] << 32 | c_lo[i];
    const uint64_t sum = c + (is_signed ? (uint64_t)((int64_t)(int32_t)a[i] * (int32_t)b[i])
                                        : (uint64_t)a[i] * b[i]);
    lo[i] = (uint32_t)sum;
    hi[i] = (uint32_t)(sum >> 32);
  }
#endif
}

static inline void sm_splat(uint32_t *d, uint32_t value) {
  FOR_LANES
  d[i] = value;
}

#endif
