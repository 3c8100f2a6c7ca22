/* Interpreter core: single precision and the special functions. */
#include "emulator/sm/exec/exec_round.h"
#include "emulator/sm/exec/fast_mufu.h"

#define F(x) sem_f32(x)

/* Applies .FTZ and .SAT to a result. */
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

/* Replaces each NaN result with the one that the hardware returns. NaNs are rare, so this is a
 * branch: the next instruction need not wait for it. */
#define CANONICAL(r)                                                                               \
  do {                                                                                             \
    if (UNLIKELY(sm_any_nan32(r))) {                                                               \
      FOR_LANES(r)[i] = sem_canonical32((r)[i]);                                                   \
    }                                                                                              \
  } while (0)

/* .FMZ: a product with zero is +0. */
static inline void zero_products(const uint32_t *a, const uint32_t *b, uint32_t *r) {
  FOR_LANES
  r[i] = ((a[i] << 1 == 0) | (b[i] << 1 == 0)) ? 0 : r[i];
}

/* Handlers of a sum or product: of two registers, of a register and a scalar, and the general one
 * with signs, rounding and flushing. */
#define FLOAT2(name, operation, fmz)                                                               \
  EACH_WARP(name##_rr) {                                                                           \
    RESULT(u->d);                                                                                  \
    const uint32_t *a = REG(u->s[0]), *b = REG(u->s[1]);                                           \
    FOR_LANES                                                                                      \
    r[i] = sem_bits32(F(a[i]) operation F(b[i]));                                                  \
    CANONICAL(r);                                                                                  \
    RESULT_END;                                                                                    \
  }                                                                                                \
  EACH_WARP_SCALAR(name##_rs, value) {                                                             \
    RESULT(u->d);                                                                                  \
    const uint32_t *a = REG(u->s[0]);                                                              \
    const float b = F(value);                                                                      \
    FOR_LANES                                                                                      \
    r[i] = sem_bits32(F(a[i]) operation b);                                                        \
    CANONICAL(r);                                                                                  \
    RESULT_END;                                                                                    \
  }                                                                                                \
  EACH_WARP(name) {                                                                                \
    struct sm_lanes ta, tb, out;                                                                   \
    uint32_t *r = out.l;                                                                           \
    const uint32_t *a = source_f32(w, u, 0, &ta), *b = source_f32(w, u, 1, &tb);                   \
    IN_ROUND(u->round, r, a, b, b, FOR_LANES r[i] = sem_bits32(F(a[i]) operation F(b[i])));        \
    CANONICAL(r);                                                                                  \
    if (fmz)                                                                                       \
      zero_products(a, b, r);                                                                      \
    finish_f32(u, r);                                                                              \
    sm_blend(REG(u->d), r, m);                                                                     \
    return DONE;                                                                                   \
  }

FLOAT2(fadd, +, false)
FLOAT2(fmul, *, u->product.fmz)

/* Returns the sign bit if the operand is negated, else 0. */
static inline uint32_t sign_flip(const struct sm_uop *u, unsigned slot) {
  return (uint32_t)(u->mods >> (2 * slot) & SM_SRC_NEG) << 31;
}

/* FADD of registers, or of a register and a scalar, with negated operands. */
EACH_WARP(fadd_neg) {
  RESULT(u->d);
  struct sm_lanes t;
  const uint32_t *a = REG(u->s[0]), *b = source(w, u, 1, &t);
  const uint32_t na = sign_flip(u, 0), nb = sign_flip(u, 1);
  FOR_LANES
  r[i] = sem_bits32(F(a[i] ^ na) + F(b[i] ^ nb));
  CANONICAL(r);
  RESULT_END;
}

EACH_WARP(ffma_rrr) {
  RESULT(u->d);
  const uint32_t *a = REG(u->s[0]), *b = REG(u->s[1]), *c = REG(u->s[2]);
  FOR_LANES
  r[i] = sem_bits32(__builtin_fmaf(F(a[i]), F(b[i]), F(c[i])));
  CANONICAL(r);
  RESULT_END;
}

/* FFMA of registers with negated operands. */
EACH_WARP(ffma_neg) {
  RESULT(u->d);
  const uint32_t *a = REG(u->s[0]), *b = REG(u->s[1]), *c = REG(u->s[2]);
  const uint32_t ab = sign_flip(u, 0) ^ sign_flip(u, 1), nc = sign_flip(u, 2);
  FOR_LANES
  r[i] = sem_bits32(__builtin_fmaf(F(a[i] ^ ab), F(b[i]), F(c[i] ^ nc)));
  CANONICAL(r);
  RESULT_END;
}

EACH_WARP_SCALAR(ffma_rsr, value) {
  RESULT(u->d);
  const uint32_t *a = REG(u->s[0]), *c = REG(u->s[2]);
  const float b = F(value);
  FOR_LANES
  r[i] = sem_bits32(__builtin_fmaf(F(a[i]), b, F(c[i])));
  CANONICAL(r);
  RESULT_END;
}

EACH_WARP_SCALAR(ffma_rrs, value) {
  RESULT(u->d);
  const uint32_t *a = REG(u->s[0]), *b = REG(u->s[1]);
  const float c = F(value);
  FOR_LANES
  r[i] = sem_bits32(__builtin_fmaf(F(a[i]), F(b[i]), c));
  CANONICAL(r);
  RESULT_END;
}

EACH_WARP(ffma) {
  struct sm_lanes ta, tb, tc, out;
  uint32_t *r = out.l;
  const uint32_t *a = source_f32(w, u, 0, &ta), *b = source_f32(w, u, 1, &tb),
                 *c = source_f32(w, u, 2, &tc);
  if (u->product.fmz) { /* a product with zero is +0 */
    FOR_LANES {
      bool zero = (a[i] << 1 == 0) | (b[i] << 1 == 0);
      ta.l[i] = zero ? 0 : a[i];
      tb.l[i] = zero ? 0 : b[i];
    }
    a = ta.l, b = tb.l;
  }
  IN_ROUND(u->round, r, a, b, c,
           FOR_LANES r[i] = sem_bits32(__builtin_fmaf(F(a[i]), F(b[i]), F(c[i]))));
  CANONICAL(r);
  finish_f32(u, r);
  sm_blend(REG(u->d), r, m);
  return DONE;
}

EACH_WARP(fmnmx) {
  RESULT(u->d);
  struct sm_lanes ta, tb;
  const uint32_t *a = source_f32(w, u, 0, &ta), *b = source_f32(w, u, 1, &tb);
  const uint32_t min = PP;
  const bool nan = u->fmnmx.nan, xor_sign = u->fmnmx.xor_sign;
  FOR_LANES
  r[i] = sem_minmax32(a[i], b[i], (min & sm_lane_bit[i]) != 0, nan, xor_sign);
  RESULT_END;
}

EACH_WARP(fsel) {
  RESULT(u->d);
  struct sm_lanes ta, tb;
  const uint32_t *a = source_f32(w, u, 0, &ta), *b = source_f32(w, u, 1, &tb);
  const uint32_t p = PP;
  FOR_LANES
  r[i] = sm_choose(p, i, a[i], b[i]);
  RESULT_END;
}

#if defined(__AVX2__)
/* Returns the lanes of a vector where a predicate of the host holds. */
#if defined(__AVX512F__)
enum { COMPARED = 16 };
#define COMPARE_VECTOR(x, y, predicate)                                                            \
  (uint32_t) _mm512_cmp_ps_mask(_mm512_load_ps(x), _mm512_load_ps(y), predicate)
#else
enum { COMPARED = 8 };
#define COMPARE_VECTOR(x, y, predicate)                                                            \
  (uint32_t) _mm256_movemask_ps(_mm256_cmp_ps(_mm256_load_ps((const float *)(const void *)(x)),    \
                                              _mm256_load_ps((const float *)(const void *)(y)),    \
                                              predicate))
#endif

/* Returns the lanes where the relation of a and b is one of cmp. */
static inline uint32_t compare_vectors(const uint32_t *a, const uint32_t *b, uint32_t cmp) {
  uint32_t p = 0;
  switch (cmp) {
#define CASE(relations, predicate)                                                                 \
  case relations:                                                                                  \
    for (unsigned k = 0; k < SM_LANES; k += COMPARED)                                              \
      p |= COMPARE_VECTOR(a + k, b + k, predicate) << k;                                           \
    return p
    CASE(SEM_CMP_LESS, _CMP_LT_OQ);
    CASE(SEM_CMP_GREATER, _CMP_GT_OQ);
    CASE(SEM_CMP_EQUAL, _CMP_EQ_OQ);
    CASE(SEM_CMP_LESS | SEM_CMP_EQUAL, _CMP_LE_OQ);
    CASE(SEM_CMP_GREATER | SEM_CMP_EQUAL, _CMP_GE_OQ);
    CASE(SEM_CMP_LESS | SEM_CMP_GREATER, _CMP_NEQ_OQ);
    CASE(SEM_CMP_LESS | SEM_CMP_GREATER | SEM_CMP_EQUAL, _CMP_ORD_Q);
    CASE(SEM_CMP_UNORDERED, _CMP_UNORD_Q);
    CASE(SEM_CMP_UNORDERED | SEM_CMP_LESS, _CMP_NGE_UQ);
    CASE(SEM_CMP_UNORDERED | SEM_CMP_GREATER, _CMP_NLE_UQ);
    CASE(SEM_CMP_UNORDERED | SEM_CMP_EQUAL, _CMP_EQ_UQ);
    CASE(SEM_CMP_UNORDERED | SEM_CMP_LESS | SEM_CMP_EQUAL, _CMP_NGT_UQ);
    CASE(SEM_CMP_UNORDERED | SEM_CMP_GREATER | SEM_CMP_EQUAL, _CMP_NLT_UQ);
    CASE(SEM_CMP_UNORDERED | SEM_CMP_LESS | SEM_CMP_GREATER, _CMP_NEQ_UQ);
#undef CASE
  default:
    return cmp ? SM_ALL_LANES : 0;
  }
}
#endif

static inline uint32_t compare_f32(const struct sm_warp *w, const struct sm_uop *u) {
  struct sm_lanes ta, tb;
  const uint32_t *a = source_f32(w, u, 0, &ta), *b = source_f32(w, u, 1, &tb);
  const uint32_t cmp = u->compare.compare;
#if defined(__AVX2__)
  return compare_vectors(a, b, cmp);
#else
  struct sm_lanes hit;
  FOR_LANES
  hit.l[i] = sem_compare_f32(a[i], b[i], cmp);
  return sm_mask_of(hit.l);
#endif
}

EACH_WARP(fsetp) {
  const uint32_t p = compare_f32(w, u), q = PP;
  pred_out(w, u->pd, sem_bop(u->compare.combine, p, q), m);
  pred_out(w, u->pe, sem_bop(u->compare.combine, ~p, q), m);
  return DONE;
}

/* FSETP whose result depends on no other predicate and goes to one. */
EACH_WARP(fsetp_one) {
  pred_out(w, u->pd, compare_f32(w, u), m);
  return DONE;
}

EACH_WARP(fset) {
  RESULT(u->d);
  const uint32_t p = sem_bop(u->compare.combine, compare_f32(w, u), PP);
  FOR_LANES
  r[i] = p & sm_lane_bit[i] ? SEM_F32_ONE : 0;
  RESULT_END;
}

EACH_WARP(fchk) {
  struct sm_lanes ta, tb, hit;
  const uint32_t *a = source_f32(w, u, 0, &ta), *b = source_f32(w, u, 1, &tb);
  FOR_LANES
  hit.l[i] = sem_fchk(a[i], b[i]) ? ~0u : 0;
  pred_out(w, u->pd, sm_mask_of(hit.l), m);
  return DONE;
}

EACH_WARP(fswzadd) {
  enum { SWZ_PP, SWZ_PN, SWZ_NP, SWZ_ZP };
  struct sm_lanes ta, tb, out;
  uint32_t *r = out.l;
  const uint32_t *a = source_f32(w, u, 0, &ta), *b = source_f32(w, u, 1, &tb);
  for (unsigned i = 0; i < SM_LANES; i++) {
    unsigned code = u->fswzadd.signs >> (2 * (i & 3)) & 3u;
    ta.l[i] = code == SWZ_ZP ? 0 : code == SWZ_NP ? a[i] ^ SEM_F32_SIGN : a[i];
    tb.l[i] = code == SWZ_PN ? b[i] ^ SEM_F32_SIGN : b[i];
  }
  a = ta.l, b = tb.l;
  IN_ROUND(u->round, r, a, b, b, FOR_LANES r[i] = sem_bits32(F(a[i]) + F(b[i])));
  CANONICAL(r);
  finish_f32(u, r);
  sm_blend(REG(u->d), r, m);
  return DONE;
}

/* --- special functions ---------------------------------------------------- */

/* Computes a special function for all lanes in a faster way. Returns false if fast_mufu.h has none,
 * or if a lane is in doubt. */
static inline bool fast_mufu(uint32_t *r, const uint32_t *b, enum sem_mufu function) {
  switch (function) {
#define CASE(name, call)                                                                           \
  case name: {                                                                                     \
    uint32_t least = UINT32_MAX, doubt = 0;                                                        \
    FOR_LANES r[i] = call;                                                                         \
    return fast_is_certain(least) && !doubt;                                                       \
  }
#if defined(SM_FAST_MUFU)
    CASE(SEM_MUFU_COS, fast_turn(b[i], true, &least, &doubt))
    CASE(SEM_MUFU_SIN, fast_turn(b[i], false, &least, &doubt))
    CASE(SEM_MUFU_EX2, fast_ex2(b[i], &least, &doubt))
    CASE(SEM_MUFU_LG2, fast_lg2(b[i], &least, &doubt))
#endif
#undef CASE
#if defined(SM_FAST_RSQ)
  case SEM_MUFU_RSQ: {
    float estimate[SM_LANES];
    uint32_t least = UINT32_MAX, doubt = 0;
    fast_rsq_estimates(estimate, b);
    FOR_LANES r[i] = fast_rsq(b[i], estimate[i], &least, &doubt);
    return fast_is_certain(least) && !doubt;
  }
#endif
  default:
    return false;
  }
}

EACH_WARP(mufu) {
  struct sm_lanes t, fast;
  const uint32_t *b = source_f32(w, u, 1, &t);
  if (LIKELY(fast_mufu(fast.l, b, u->mufu.function))) {
    if (LIKELY(m == SM_ALL_LANES))
      memcpy(REG(u->d), fast.l, SM_REG_BYTES);
    else
      sm_blend(REG(u->d), fast.l, m);
    return DONE;
  }
  RESULT(u->d);
  switch ((enum sem_mufu)u->mufu.function) {
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

EACH_WARP(mufu_f16) {
  RESULT(u->d);
  struct sm_lanes t;
  const uint32_t *b = source(w, u, 1, &t);
  const unsigned mods = u->mods >> 2 & 3u;
  for (unsigned i = 0; i < SM_LANES; i++) {
    uint32_t h = u->mufu.high ? b[i] >> 16 : b[i] & 0xffff;
    h = mods & SM_SRC_ABS ? h & 0x7fff : h;
    h = mods & SM_SRC_NEG ? h ^ 0x8000 : h;
    r[i] = sem_mufu_f16(h, u->mufu.function);
  }
  RESULT_END;
}
