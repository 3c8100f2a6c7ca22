/* Interpreter core: single, double and half precision, conversions and the
 * special functions.
 */
#include "runtime/emulator/sm/core.h"

#include <fenv.h>

/* The order of loads, float operations and stores around a change of the
 * rounding mode: nothing moves across it, and the compiler must think that the
 * lanes behind the pointers are rewritten. */
#define FENCE_LANES(r, a, b, c)                                                                    \
  __asm__ volatile("" : "+r"(r), "+r"(a), "+r"(b), "+r"(c) : : "memory")

#if defined(__SSE2__)
/* MXCSR's rounding field has the order of enum sem_round. */
enum { MXCSR_ROUND_SHIFT = 13, MXCSR_ROUND_MASK = 3 << MXCSR_ROUND_SHIFT };
static inline void set_round(enum sem_round mode) {
  _mm_setcsr((_mm_getcsr() & ~(unsigned)MXCSR_ROUND_MASK) | (unsigned)mode << MXCSR_ROUND_SHIFT);
}
#else
static inline void set_round(enum sem_round mode) {
  static const int host[] = {FE_TONEAREST, FE_DOWNWARD, FE_UPWARD, FE_TOWARDZERO};
  fesetround(host[mode]);
}
#endif

/* Runs a loop in the uop's rounding mode. */
#define IN_ROUND(mode, r, a, b, c, loop)                                                           \
  do {                                                                                             \
    if (LIKELY((mode) == SEM_RN)) {                                                                \
      loop;                                                                                        \
    } else {                                                                                       \
      FENCE_LANES(r, a, b, c);                                                                     \
      set_round((enum sem_round)(mode));                                                           \
      FENCE_LANES(r, a, b, c);                                                                     \
      loop;                                                                                        \
      FENCE_LANES(r, a, b, c);                                                                     \
      set_round(SEM_RN);                                                                           \
      FENCE_LANES(r, a, b, c);                                                                     \
    }                                                                                              \
  } while (0)

#define F(x) sem_f32(x)

/* NaN, .FTZ and .SAT of a float result. */
static inline void finish_f32(const struct sm_uop *u, uint32_t *r) {
  if (u->ftz) {
    FOR_LANES
    r[i] = sem_flush32(r[i]);
  }
  if (u->sat) {
    FOR_LANES
    r[i] = sem_sat32(r[i]);
  }
}

/* Rare: a NaN among the results becomes the one that the hardware gives. Apart
 * from the arithmetic, so that the next instruction need not wait for it. */
#define CANONICAL(r)                                                                               \
  do {                                                                                             \
    if (UNLIKELY(sm_any_nan32(r))) {                                                               \
      FOR_LANES(r)[i] = sem_canonical32((r)[i]);                                                   \
    }                                                                                              \
  } while (0)

#define ADD_LANES FOR_LANES r[i] = sem_bits32(F(a[i]) + F(b[i]))
#define MUL_LANES FOR_LANES r[i] = sem_bits32(F(a[i]) * F(b[i]))
#define FMA_LANES FOR_LANES r[i] = sem_bits32(__builtin_fmaf(F(a[i]), F(b[i]), F(c[i])))

HANDLER(fadd_rr) {
  RESULT(u->d);
  const uint32_t *a = REG(u->s[0]), *b = REG(u->s[1]);
  ADD_LANES;
  CANONICAL(r);
  RESULT_END;
}

HANDLER(fadd_rs) {
  RESULT(u->d);
  const uint32_t *a = REG(u->s[0]);
  const float b = F(scalar(w, u));
  FOR_LANES
  r[i] = sem_bits32(F(a[i]) + b);
  CANONICAL(r);
  RESULT_END;
}

HANDLER(fadd) {
  const uint32_t m = exec_mask(w, u);
  struct sm_lanes ta, tb, out;
  uint32_t *r = out.l;
  const uint32_t *a = source_f32(w, u, 0, &ta), *b = source_f32(w, u, 1, &tb);
  IN_ROUND(u->round, r, a, b, b, ADD_LANES);
  CANONICAL(r);
  finish_f32(u, r);
  sm_blend(REG(u->d), r, m);
  return NEXT;
}

HANDLER(fmul_rr) {
  RESULT(u->d);
  const uint32_t *a = REG(u->s[0]), *b = REG(u->s[1]);
  MUL_LANES;
  CANONICAL(r);
  RESULT_END;
}

HANDLER(fmul_rs) {
  RESULT(u->d);
  const uint32_t *a = REG(u->s[0]);
  const float b = F(scalar(w, u));
  FOR_LANES
  r[i] = sem_bits32(F(a[i]) * b);
  CANONICAL(r);
  RESULT_END;
}

/* .FMZ: zero times anything is +0. */
static inline void zero_products(const uint32_t *a, const uint32_t *b, uint32_t *r) {
  FOR_LANES
  r[i] = ((a[i] << 1 == 0) | (b[i] << 1 == 0)) ? 0 : r[i];
}

/* x[0]: .FMZ */
HANDLER(fmul) {
  const uint32_t m = exec_mask(w, u);
  struct sm_lanes ta, tb, out;
  uint32_t *r = out.l;
  const uint32_t *a = source_f32(w, u, 0, &ta), *b = source_f32(w, u, 1, &tb);
  IN_ROUND(u->round, r, a, b, b, MUL_LANES);
  CANONICAL(r);
  if (u->x[0])
    zero_products(a, b, r);
  finish_f32(u, r);
  sm_blend(REG(u->d), r, m);
  return NEXT;
}

/* Signs by register: the usual subtractions. */
static inline uint32_t sign_flip(const struct sm_uop *u, unsigned slot) {
  return (uint32_t)(u->mods >> (2 * slot) & SM_SRC_NEG) << 31;
}

HANDLER(ffma_rrr) {
  RESULT(u->d);
  const uint32_t *a = REG(u->s[0]), *b = REG(u->s[1]), *c = REG(u->s[2]);
  FMA_LANES;
  CANONICAL(r);
  RESULT_END;
}

/* Registers only, with negated operands. */
HANDLER(ffma_neg) {
  RESULT(u->d);
  const uint32_t *a = REG(u->s[0]), *b = REG(u->s[1]), *c = REG(u->s[2]);
  const uint32_t ab = sign_flip(u, 0) ^ sign_flip(u, 1), nc = sign_flip(u, 2);
  FOR_LANES
  r[i] = sem_bits32(__builtin_fmaf(F(a[i] ^ ab), F(b[i]), F(c[i] ^ nc)));
  CANONICAL(r);
  RESULT_END;
}

HANDLER(ffma_rsr) {
  RESULT(u->d);
  const uint32_t *a = REG(u->s[0]), *c = REG(u->s[2]);
  const float b = F(scalar(w, u));
  FOR_LANES
  r[i] = sem_bits32(__builtin_fmaf(F(a[i]), b, F(c[i])));
  CANONICAL(r);
  RESULT_END;
}

HANDLER(ffma_rrs) {
  RESULT(u->d);
  const uint32_t *a = REG(u->s[0]), *b = REG(u->s[1]);
  const float c = F(scalar(w, u));
  FOR_LANES
  r[i] = sem_bits32(__builtin_fmaf(F(a[i]), F(b[i]), c));
  CANONICAL(r);
  RESULT_END;
}

HANDLER(ffma) {
  const uint32_t m = exec_mask(w, u);
  struct sm_lanes ta, tb, tc, out;
  uint32_t *r = out.l;
  const uint32_t *a = source_f32(w, u, 0, &ta), *b = source_f32(w, u, 1, &tb),
                 *c = source_f32(w, u, 2, &tc);
  if (u->x[0]) { /* +0 instead of the product, which then only c passes */
    FOR_LANES {
      bool zero = (a[i] << 1 == 0) | (b[i] << 1 == 0);
      ta.l[i] = zero ? 0 : a[i];
      tb.l[i] = zero ? 0 : b[i];
    }
    a = ta.l, b = tb.l;
  }
  IN_ROUND(u->round, r, a, b, c, FMA_LANES);
  CANONICAL(r);
  finish_f32(u, r);
  sm_blend(REG(u->d), r, m);
  return NEXT;
}

/* x[0]: .NAN, x[1]: .XORSIGN */
HANDLER(fmnmx) {
  RESULT(u->d);
  struct sm_lanes ta, tb;
  const uint32_t *a = source_f32(w, u, 0, &ta), *b = source_f32(w, u, 1, &tb);
  const uint32_t min = PP;
  const bool nan = u->x[0], xor_sign = u->x[1];
  FOR_LANES
  r[i] = sem_minmax32(a[i], b[i], (min & sm_lane_bit[i]) != 0, nan, xor_sign);
  RESULT_END;
}

HANDLER(fsel) {
  RESULT(u->d);
  struct sm_lanes ta, tb;
  const uint32_t *a = source_f32(w, u, 0, &ta), *b = source_f32(w, u, 1, &tb);
  const uint32_t p = PP;
  FOR_LANES
  r[i] = p & sm_lane_bit[i] ? a[i] : b[i];
  RESULT_END;
}

static inline uint32_t compare_f32(const struct sm_warp *w, const struct sm_uop *u) {
  struct sm_lanes ta, tb;
  const uint32_t *a = source_f32(w, u, 0, &ta), *b = source_f32(w, u, 1, &tb);
  const uint32_t cmp = u->x[0];
#if defined(__AVX512F__)
  uint32_t p = 0;
#define COMPARE(predicate)                                                                         \
  (uint32_t) _mm512_cmp_ps_mask(_mm512_load_ps(a), _mm512_load_ps(b), predicate) |                 \
      (uint32_t)_mm512_cmp_ps_mask(_mm512_load_ps(a + 16), _mm512_load_ps(b + 16), predicate)      \
          << 16
  if (cmp & SEM_CMP_LESS)
    p |= COMPARE(_CMP_LT_OQ);
  if (cmp & SEM_CMP_GREATER)
    p |= COMPARE(_CMP_GT_OQ);
  if (cmp & SEM_CMP_EQUAL)
    p |= COMPARE(_CMP_EQ_OQ);
  if (cmp & SEM_CMP_UNORDERED)
    p |= COMPARE(_CMP_UNORD_Q);
#undef COMPARE
  return p;
#else
  struct sm_lanes hit;
  FOR_LANES
  hit.l[i] = sem_compare_f32(a[i], b[i], cmp);
  return sm_mask_of(hit.l);
#endif
}

/* x[0]: comparison, x[2]: enum sem_bop */
HANDLER(fsetp) {
  const uint32_t m = exec_mask(w, u);
  const uint32_t p = compare_f32(w, u), q = PP;
  pred_out(w, u->pd, sem_bop(u->x[2], p, q), m);
  pred_out(w, u->pe, sem_bop(u->x[2], ~p, q), m);
  return NEXT;
}

HANDLER(fset) {
  RESULT(u->d);
  const uint32_t p = sem_bop(u->x[2], compare_f32(w, u), PP);
  FOR_LANES
  r[i] = p & sm_lane_bit[i] ? SEM_F32_ONE : 0;
  RESULT_END;
}

HANDLER(fchk) {
  const uint32_t m = exec_mask(w, u);
  struct sm_lanes ta, tb;
  const uint32_t *a = source_f32(w, u, 0, &ta), *b = source_f32(w, u, 1, &tb);
  uint32_t p = 0;
  for (unsigned i = 0; i < SM_LANES; i++)
    p |= (uint32_t)sem_fchk(a[i], b[i]) << i;
  pred_out(w, u->pd, p, m);
  return NEXT;
}

/* x[0]: two bits for each lane of a quad: which signs a and b take. */
HANDLER(fswzadd) {
  enum { SWZ_PP, SWZ_PN, SWZ_NP, SWZ_ZP };
  const uint32_t m = exec_mask(w, u);
  struct sm_lanes ta, tb, out;
  uint32_t *r = out.l;
  const uint32_t *a = source_f32(w, u, 0, &ta), *b = source_f32(w, u, 1, &tb);
  for (unsigned i = 0; i < SM_LANES; i++) {
    unsigned code = u->x[0] >> (2 * (i & 3)) & 3u;
    ta.l[i] = code == SWZ_ZP ? 0 : code == SWZ_NP ? a[i] ^ SEM_F32_SIGN : a[i];
    tb.l[i] = code == SWZ_PN ? b[i] ^ SEM_F32_SIGN : b[i];
  }
  a = ta.l, b = tb.l;
  IN_ROUND(u->round, r, a, b, b, ADD_LANES);
  CANONICAL(r);
  finish_f32(u, r);
  sm_blend(REG(u->d), r, m);
  return NEXT;
}

/* --- double precision ----------------------------------------------------- */

struct pairs {
  uint64_t l[SM_LANES];
} __attribute__((aligned(SM_REG_BYTES)));

static inline void source_f64(const struct sm_warp *w, const struct sm_uop *u, unsigned slot,
                              struct pairs *out) {
  struct sm_lanes tl, th;
  const uint32_t *lo, *hi;
  if (u->scalar_slot == slot) {
    source_pair(w, u, slot, true, tl.l, th.l);
    lo = tl.l, hi = th.l;
  } else {
    lo = REG(u->s[slot]), hi = REG(u->s[slot] + SM_REG_BYTES);
  }
  unsigned mods = u->mods >> (2 * slot) & 3u;
  const uint32_t keep = mods & SM_SRC_ABS ? 0x7fffffffu : ~0u;
  const uint32_t flip = mods & SM_SRC_NEG ? 0x80000000u : 0;
  FOR_LANES
  out->l[i] = sem_pair(lo[i], (hi[i] & keep) ^ flip);
}

static inline void put_pairs(struct sm_warp *w, const struct sm_uop *u, const struct pairs *value,
                             uint32_t m) {
  struct sm_lanes lo, hi;
  FOR_LANES {
    lo.l[i] = (uint32_t)value->l[i];
    hi.l[i] = (uint32_t)(value->l[i] >> 32);
  }
  sm_blend(REG(u->d), lo.l, m);
  sm_blend(REG(u->d + SM_REG_BYTES), hi.l, m);
}

/* Rare: a NaN among the results gets the value that the hardware gives. */
static inline void fix_nans(uint64_t *r, const uint64_t *a, const uint64_t *b, const uint64_t *c) {
  uint64_t nan = 0;
  FOR_LANES
  nan |= (r[i] & ~(1ull << 63)) > 0x7ff0000000000000ull;
  if (LIKELY(!nan))
    return;
  for (unsigned i = 0; i < SM_LANES; i++)
    if ((r[i] & ~(1ull << 63)) > 0x7ff0000000000000ull)
      r[i] = sem_nan64(a[i], b[i], c[i]);
}

#define D(x) sem_f64(x)

HANDLER(dadd) {
  const uint32_t m = exec_mask(w, u);
  struct pairs pa, pb, pr;
  source_f64(w, u, 0, &pa);
  source_f64(w, u, 1, &pb);
  const uint64_t *a = pa.l, *b = pb.l;
  uint64_t *r = pr.l;
  IN_ROUND(u->round, r, a, b, b, FOR_LANES r[i] = sem_bits64(D(a[i]) + D(b[i])));
  fix_nans(r, a, b, b);
  put_pairs(w, u, &pr, m);
  return NEXT;
}

HANDLER(dmul) {
  const uint32_t m = exec_mask(w, u);
  struct pairs pa, pb, pr;
  source_f64(w, u, 0, &pa);
  source_f64(w, u, 1, &pb);
  const uint64_t *a = pa.l, *b = pb.l;
  uint64_t *r = pr.l;
  IN_ROUND(u->round, r, a, b, b, FOR_LANES r[i] = sem_bits64(D(a[i]) * D(b[i])));
  fix_nans(r, a, b, b);
  put_pairs(w, u, &pr, m);
  return NEXT;
}

HANDLER(dfma) {
  const uint32_t m = exec_mask(w, u);
  struct pairs pa, pb, pc, pr;
  source_f64(w, u, 0, &pa);
  source_f64(w, u, 1, &pb);
  source_f64(w, u, 2, &pc);
  const uint64_t *a = pa.l, *b = pb.l, *c = pc.l;
  uint64_t *r = pr.l;
  IN_ROUND(u->round, r, a, b, c,
           FOR_LANES r[i] = sem_bits64(__builtin_fma(D(a[i]), D(b[i]), D(c[i]))));
  fix_nans(r, a, b, c);
  put_pairs(w, u, &pr, m);
  return NEXT;
}

/* x[0]: comparison, whose ends mean MIN and MAX; x[2]: enum sem_bop */
HANDLER(dsetp) {
  enum { DSETP_MIN = 0, DSETP_MAX = 15 };
  const uint32_t m = exec_mask(w, u);
  struct pairs pa, pb;
  source_f64(w, u, 0, &pa);
  source_f64(w, u, 1, &pb);
  uint32_t p = 0, v = 0;
  if (u->x[0] == DSETP_MIN || u->x[0] == DSETP_MAX) {
    const bool min = u->x[0] == DSETP_MIN;
    for (unsigned i = 0; i < SM_LANES; i++) {
      double x = D(pa.l[i]), y = D(pb.l[i]);
      bool nx = x != x, ny = y != y;
      bool x_negative = pa.l[i] >> 63, y_negative = pb.l[i] >> 63;
      bool lower = x < y || (x == y && x_negative && !y_negative);
      bool higher = x > y || (x == y && !x_negative && y_negative);
      p |= (uint32_t)((!nx && ny) || (min ? lower : higher)) << i;
      v |= (uint32_t)(nx && ny) << i;
    }
  } else {
    for (unsigned i = 0; i < SM_LANES; i++)
      p |= (sem_compare_f64(pa.l[i], pb.l[i], u->x[0]) & 1) << i;
    v = ~p;
  }
  const uint32_t q = PP;
  pred_out(w, u->pd, sem_bop(u->x[2], p, q), m);
  pred_out(w, u->pe, sem_bop(u->x[2], v, q), m);
  return NEXT;
}

/* --- half precision ------------------------------------------------------- */

/* Bits of x[1] of half instructions. */
enum { HALF_BF16 = 1, HALF_F32_OUT = 2, HALF_FMZ = 4, HALF_RELU = 8 };
enum half_select { HALF_BOTH, HALF_F32, HALF_LOW, HALF_HIGH };

/* Both halves of an operand as floats; x[0] holds two bits of selection for
 * each slot. */
static inline void source_half(const struct sm_warp *w, const struct sm_uop *u, unsigned slot,
                               float *low, float *high) {
  struct sm_lanes t;
  const uint32_t *s = source(w, u, slot, &t);
  const unsigned select = u->x[0] >> (2 * slot) & 3u, mods = u->mods >> (2 * slot) & 3u;
  const bool bf16 = u->x[1] & HALF_BF16, ftz = u->ftz;
  for (unsigned i = 0; i < SM_LANES; i++) {
    if (select == HALF_F32) {
      low[i] = high[i] = F(ftz ? sem_flush32(s[i]) : s[i]);
    } else {
      uint32_t l = select == HALF_HIGH ? s[i] >> 16 : s[i] & 0xffff;
      uint32_t h = select == HALF_LOW ? s[i] & 0xffff : s[i] >> 16;
      if (ftz)
        l = sem_half_flush(l, bf16), h = sem_half_flush(h, bf16);
      low[i] = sem_half_to_f32(l, bf16);
      high[i] = sem_half_to_f32(h, bf16);
    }
    uint32_t keep = mods & SM_SRC_ABS ? ~SEM_F32_SIGN : ~0u;
    uint32_t flip = mods & SM_SRC_NEG ? SEM_F32_SIGN : 0;
    low[i] = F((sem_bits32(low[i]) & keep) ^ flip);
    high[i] = F((sem_bits32(high[i]) & keep) ^ flip);
  }
}

/* x[2]: HADD2, HMUL2 or HFMA2 */
enum half_op { HALF_ADD, HALF_MUL, HALF_FMA };

HANDLER(hfma2) {
  RESULT(u->d);
  float a[2][SM_LANES], b[2][SM_LANES], c[2][SM_LANES];
  const struct sem_half_mode mode = {.bf16 = u->x[1] & HALF_BF16,
                                     .ftz = u->ftz,
                                     .fmz = u->x[1] & HALF_FMZ,
                                     .sat = u->sat,
                                     .relu = u->x[1] & HALF_RELU};
  source_half(w, u, 0, a[0], a[1]);
  source_half(w, u, 1, b[0], b[1]);
  if (u->x[2] == HALF_FMA)
    source_half(w, u, 2, c[0], c[1]);
  for (unsigned k = 0; k < 2; k++)
    for (unsigned i = 0; i < SM_LANES; i++) {
      if (u->x[2] == HALF_ADD)
        c[k][i] = b[k][i], b[k][i] = 1;
      else if (u->x[2] == HALF_MUL)
        c[k][i] = -0.0f;
    }
  for (unsigned i = 0; i < SM_LANES; i++) {
    if (u->x[1] & HALF_F32_OUT) {
      double exact = sem_odd_add((double)a[0][i] * (double)b[0][i], c[0][i]);
      uint32_t out = sem_canonical32(sem_bits32((float)exact));
      out = u->ftz ? sem_flush32(out) : out;
      r[i] = u->sat ? sem_sat32(out) : out;
    } else {
      uint32_t low = sem_half_fma(a[0][i], b[0][i], c[0][i], mode);
      uint32_t high = sem_half_fma(a[1][i], b[1][i], c[1][i], mode);
      r[i] = low | high << 16;
    }
  }
  RESULT_END;
}

static inline uint32_t half_of(float f, bool bf16) {
  return f != f ? SEM_F16_NAN : bf16 ? sem_f32_to_bf16(f) : sem_f32_to_f16(f);
}

/* x[3]: .NAN, x[4]: .XORSIGN */
HANDLER(hmnmx2) {
  RESULT(u->d);
  float a[2][SM_LANES], b[2][SM_LANES];
  const bool bf16 = u->x[1] & HALF_BF16;
  const uint32_t min = PP;
  source_half(w, u, 0, a[0], a[1]);
  source_half(w, u, 1, b[0], b[1]);
  for (unsigned i = 0; i < SM_LANES; i++) {
    uint32_t out[2];
    for (unsigned k = 0; k < 2; k++)
      out[k] =
          sem_minmax32(sem_bits32(a[k][i]), sem_bits32(b[k][i]), min >> i & 1, u->x[3], u->x[4]);
    if (u->x[1] & HALF_F32_OUT)
      r[i] = out[0];
    else
      r[i] = half_of(F(out[0]), bf16) | half_of(F(out[1]), bf16) << 16;
  }
  RESULT_END;
}

static inline void compare_half(const struct sm_warp *w, const struct sm_uop *u, uint32_t p[2]) {
  float a[2][SM_LANES], b[2][SM_LANES];
  source_half(w, u, 0, a[0], a[1]);
  source_half(w, u, 1, b[0], b[1]);
  for (unsigned k = 0; k < 2; k++) {
    p[k] = 0;
    for (unsigned i = 0; i < SM_LANES; i++)
      p[k] |= (sem_compare_f32(sem_bits32(a[k][i]), sem_bits32(b[k][i]), u->x[3]) & 1) << i;
  }
}

/* x[2]: enum sem_bop, x[3]: comparison, x[4]: .BF */
HANDLER(hset2) {
  RESULT(u->d);
  uint32_t p[2];
  compare_half(w, u, p);
  const uint32_t q = PP, yes = u->x[4] ? (u->x[1] & HALF_BF16 ? 0x3f80u : 0x3c00u) : 0xffffu;
  p[0] = sem_bop(u->x[2], p[0], q);
  p[1] = sem_bop(u->x[2], p[1], q);
  for (unsigned i = 0; i < SM_LANES; i++)
    r[i] = (p[0] >> i & 1 ? yes : 0) | (p[1] >> i & 1 ? yes << 16 : 0);
  RESULT_END;
}

/* x[4]: .H_AND */
HANDLER(hsetp2) {
  const uint32_t m = exec_mask(w, u), q = PP;
  uint32_t p[2];
  compare_half(w, u, p);
  if (u->x[4]) {
    p[0] &= p[1];
    p[1] = ~p[0];
  }
  pred_out(w, u->pd, sem_bop(u->x[2], p[0], q), m);
  pred_out(w, u->pe, sem_bop(u->x[2], p[1], q), m);
  return NEXT;
}

/* --- special functions ---------------------------------------------------- */

/* x[0]: enum sem_mufu */
HANDLER(mufu) {
  RESULT(u->d);
  struct sm_lanes t;
  const uint32_t *b = source_f32(w, u, 1, &t);
  switch ((enum sem_mufu)u->x[0]) {
#define CASE(name, call)                                                                           \
  case name:                                                                                       \
    FOR_LANES r[i] = call;                                                                         \
    break
    CASE(SEM_MUFU_COS, sem_turn(b[i], true));
    CASE(SEM_MUFU_SIN, sem_turn(b[i], false));
    CASE(SEM_MUFU_EX2, sem_ex2(b[i]));
    CASE(SEM_MUFU_LG2, sem_lg2(b[i]));
    CASE(SEM_MUFU_RCP, sem_rcp(b[i]));
    CASE(SEM_MUFU_RSQ, sem_rsq(b[i]));
    CASE(SEM_MUFU_SQRT, sem_sqrt(b[i]));
    CASE(SEM_MUFU_RCP64H, sem_seed64(b[i], false));
    CASE(SEM_MUFU_RSQ64H, sem_seed64(b[i], true));
    CASE(SEM_MUFU_TANH, sem_tanh(b[i]));
#undef CASE
  }
  RESULT_END;
}

/* x[1]: the high half is the source */
HANDLER(mufu_f16) {
  RESULT(u->d);
  struct sm_lanes t;
  const uint32_t *b = source(w, u, 1, &t);
  const unsigned mods = u->mods >> 2 & 3u;
  for (unsigned i = 0; i < SM_LANES; i++) {
    uint32_t h = u->x[1] ? b[i] >> 16 : b[i] & 0xffff;
    h = mods & SM_SRC_ABS ? h & 0x7fff : h;
    h = mods & SM_SRC_NEG ? h ^ 0x8000 : h;
    r[i] = sem_mufu_f16(h, u->x[0]);
  }
  RESULT_END;
}

/* --- conversions ---------------------------------------------------------- */

/* Formats as the instructions number them. */
enum { FORMAT_F16 = 1, FORMAT_F32 = 2, FORMAT_F64 = 3, FORMAT_BF16 = 4, FORMAT_TF32 = 5 };

static inline struct sem_format format_of(unsigned code) {
  switch (code) {
  case FORMAT_F16:
    return SEM_FORMAT_F16;
  case FORMAT_F64:
    return SEM_FORMAT_F64;
  case FORMAT_BF16:
    return SEM_FORMAT_BF16;
  case FORMAT_TF32:
    return SEM_FORMAT_TF32;
  default:
    return SEM_FORMAT_F32;
  }
}

/* A conversion's float operand: the bits in its own format, signs applied.
 * x[0]: format, x[1]: the high half. */
static inline void source_format(const struct sm_warp *w, const struct sm_uop *u,
                                 struct pairs *out) {
  if (u->x[0] == FORMAT_F64) {
    source_f64(w, u, 1, out);
    return;
  }
  struct sm_lanes t;
  const unsigned mods = u->mods >> 2 & 3u;
  if (u->x[0] == FORMAT_F16) {
    const uint32_t *s = source(w, u, 1, &t);
    for (unsigned i = 0; i < SM_LANES; i++) {
      uint32_t h = u->x[1] ? s[i] >> 16 : s[i] & 0xffff;
      h = mods & SM_SRC_ABS ? h & 0x7fff : h;
      out->l[i] = mods & SM_SRC_NEG ? h ^ 0x8000 : h;
    }
    return;
  }
  const uint32_t *s = source_f32(w, u, 1, &t);
  FOR_LANES
  out->l[i] = s[i];
}

/* x[2]: destination width, x[3]: signed, x[4]: .NTZ */
HANDLER(f2i) {
  const uint32_t m = exec_mask(w, u);
  struct pairs in, out;
  source_format(w, u, &in);
  const struct sem_format from = format_of(u->x[0]);
  FOR_MASK(i, m)
  out.l[i] = sem_to_int(in.l[i], from, u->x[2], u->x[3], u->round, u->x[4]);
  if (u->x[2] == 64) {
    FOR_MASK(i, ~m)
    out.l[i] = 0;
    put_pairs(w, u, &out, m);
  } else {
    FOR_MASK(i, m)
    REG(u->d)[i] = (uint32_t)out.l[i];
  }
  return NEXT;
}

static inline float round_f32(float x, enum sem_round mode) {
  switch (mode) {
  case SEM_RM:
    return __builtin_floorf(x);
  case SEM_RP:
    return __builtin_ceilf(x);
  case SEM_RZ:
    return __builtin_truncf(x);
  default:
    return __builtin_rintf(x);
  }
}

static inline double round_f64(double x, enum sem_round mode) {
  switch (mode) {
  case SEM_RM:
    return __builtin_floor(x);
  case SEM_RP:
    return __builtin_ceil(x);
  case SEM_RZ:
    return __builtin_trunc(x);
  default:
    return __builtin_rint(x);
  }
}

/* f32 to a signed word. */
HANDLER(f2i_fast) {
  RESULT(u->d);
  struct sm_lanes t;
  const uint32_t *b = source_f32(w, u, 1, &t);
  const float limit = 0x1p31f;
  const uint32_t nan = u->x[4] ? 0 : 0x80000000u;
  const enum sem_round mode = u->round;
#define CONVERT(how)                                                                               \
  FOR_LANES {                                                                                      \
    float x = round_f32(F(b[i]), how);                                                             \
    bool inside = x > -limit && x < limit;                                                         \
    int32_t v = (int32_t)(inside ? x : 0);                                                         \
    uint32_t edge = x > 0 ? 0x7fffffffu : x < 0 ? 0x80000000u : nan;                               \
    r[i] = inside ? (uint32_t)v : edge;                                                            \
  }
  if (mode == SEM_RZ)
    CONVERT(SEM_RZ)
  else if (mode == SEM_RM)
    CONVERT(SEM_RM)
  else if (mode == SEM_RP)
    CONVERT(SEM_RP)
  else
    CONVERT(SEM_RN)
#undef CONVERT
  RESULT_END;
}

/* x[0]: destination format, x[1]: byte or half of the source, x[2]: source
 * width, x[3]: signed */
HANDLER(i2f) {
  const uint32_t m = exec_mask(w, u);
  struct pairs in, out;
  struct sm_lanes t;
  if (u->x[2] == 64) {
    struct sm_lanes hi;
    source_pair(w, u, 1, false, t.l, hi.l);
    FOR_LANES
    in.l[i] = sem_pair(t.l[i], hi.l[i]);
  } else {
    const uint32_t *s = source(w, u, 1, &t);
    const unsigned up = 32u - u->x[2];
    for (unsigned i = 0; i < SM_LANES; i++) {
      uint32_t v = s[i] >> (u->x[2] * u->x[1] & 31) << up;
      in.l[i] = u->x[3] ? (uint64_t)((int32_t)v >> up) : v >> up;
    }
  }
  const struct sem_format to = format_of(u->x[0]);
  for (unsigned i = 0; i < SM_LANES; i++)
    out.l[i] = sem_from_int(in.l[i], u->x[3], to, u->round);
  if (u->x[0] == FORMAT_F64) {
    put_pairs(w, u, &out, m);
  } else {
    FOR_MASK(i, m)
    REG(u->d)[i] = (uint32_t)out.l[i];
  }
  return NEXT;
}

/* A word to f32, to nearest. */
HANDLER(i2f_fast) {
  RESULT(u->d);
  struct sm_lanes t;
  const uint32_t *b = source(w, u, 1, &t);
  if (u->x[3]) {
    FOR_LANES
    r[i] = sem_bits32((float)(int32_t)b[i]);
  } else {
    FOR_LANES
    r[i] = sem_bits32((float)((double)(int32_t)(b[i] >> 1) * 2 + (double)(int32_t)(b[i] & 1)));
  }
  RESULT_END;
}

/* x[0]: source format, x[2]: destination format */
HANDLER(f2f) {
  const uint32_t m = exec_mask(w, u);
  struct pairs in, out;
  source_format(w, u, &in);
  if (u->x[0] == FORMAT_F32 && u->x[2] == FORMAT_F64) {
    FOR_LANES {
      double x = F((uint32_t)in.l[i]);
      out.l[i] = x != x ? SEM_F64_NAN : sem_bits64(x);
    }
  } else if (u->x[0] == FORMAT_F64 && u->x[2] == FORMAT_F32 && u->round == SEM_RN) {
    FOR_LANES
    out.l[i] = sem_canonical32(sem_bits32((float)D(in.l[i])));
  } else {
    const struct sem_format from = format_of(u->x[0]), to = format_of(u->x[2]);
    for (unsigned i = 0; i < SM_LANES; i++)
      out.l[i] = sem_convert(in.l[i], from, to, u->round, false);
  }
  if (u->x[2] == FORMAT_F64) {
    put_pairs(w, u, &out, m);
    return NEXT;
  }
  struct sm_lanes r;
  /* The bits that tf32 lacks are zeros below it. */
  const unsigned up = u->x[2] == FORMAT_TF32 ? 13 : 0;
  FOR_LANES
  r.l[i] = (uint32_t)out.l[i] << up;
  if (u->ftz && u->x[2] == FORMAT_F32) {
    FOR_LANES
    r.l[i] = sem_flush32(r.l[i]);
  }
  sm_blend(REG(u->d), r.l, m);
  return NEXT;
}

HANDLER(frnd) {
  const uint32_t m = exec_mask(w, u);
  struct pairs in, out;
  struct sm_lanes r;
  source_format(w, u, &in);
  if (u->x[0] == FORMAT_F32) {
    for (unsigned i = 0; i < SM_LANES; i++)
      r.l[i] = sem_canonical32(sem_bits32(round_f32(F((uint32_t)in.l[i]), u->round)));
    sm_blend(REG(u->d), r.l, m);
  } else if (u->x[0] == FORMAT_F64) {
    for (unsigned i = 0; i < SM_LANES; i++)
      out.l[i] = sem_bits64(round_f64(D(in.l[i]), u->round));
    fix_nans(out.l, in.l, in.l, in.l);
    put_pairs(w, u, &out, m);
  } else {
    for (unsigned i = 0; i < SM_LANES; i++)
      r.l[i] = (uint32_t)sem_frnd(in.l[i], format_of(u->x[0]), u->round);
    sm_blend(REG(u->d), r.l, m);
  }
  return NEXT;
}

/* Narrows for F2FP. x[0]: format, x[1]: .RELU, x[3]: .SATFINITE */
static inline uint32_t narrow(const struct sm_uop *u, uint32_t a) {
  const struct sem_format to = format_of(u->x[0]);
  uint32_t h = (uint32_t)sem_convert(a, SEM_FORMAT_F32, to, u->round, u->x[3]);
  bool nan = (h & 0x7fff) > (((1ull << to.exponent) - 1) << to.mantissa);
  return u->x[1] && !nan && h & 0x8000 ? 0 : h;
}

/* x[2]: .MERGE_C: the high half stays c's */
HANDLER(f2fp) {
  RESULT(u->d);
  struct sm_lanes ta, tb, tc;
  const uint32_t *a = source(w, u, 0, &ta), *b = source(w, u, 1, &tb), *c = source(w, u, 2, &tc);
  for (unsigned i = 0; i < SM_LANES; i++) {
    uint32_t high = u->x[2] ? c[i] & 0xffff0000u : narrow(u, a[i]) << 16;
    r[i] = high | narrow(u, b[i]);
  }
  RESULT_END;
}

/* Two floats to bytes below the shifted c. x[0]: signed, x[1]: .RELU, x[2]:
 * .NTZ */
HANDLER(f2ip) {
  RESULT(u->d);
  struct sm_lanes tb;
  const uint32_t *a = REG(u->s[0]), *b = source(w, u, 1, &tb), *c = REG(u->s[2]);
  for (unsigned i = 0; i < SM_LANES; i++) {
    uint32_t in[2] = {b[i], a[i]}, out = c[i] << 16;
    for (unsigned k = 0; k < 2; k++) {
      uint64_t v = sem_to_int(in[k], SEM_FORMAT_F32, 8, u->x[0], u->round, u->x[2]);
      if (u->x[1] && (int64_t)v < 0)
        v = 0;
      out |= (uint32_t)(v & 0xff) << (8 * k);
    }
    r[i] = out;
  }
  RESULT_END;
}
