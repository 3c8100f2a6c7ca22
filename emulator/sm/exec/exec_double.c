/* Interpreter core: double precision. */
#include "emulator/sm/exec/exec_double.h"
#include "emulator/sm/exec/exec_round.h"

/* Handler of an operation with any rounding, modifiers and operands. */
#define GENERAL(name, third, operation)                                                            \
  EACH_WARP(name) {                                                                                \
    struct pairs pa, pb, pc, pr;                                                                   \
    source_f64(w, u, 0, &pa);                                                                      \
    source_f64(w, u, 1, &pb);                                                                      \
    if (third)                                                                                     \
      source_f64(w, u, 2, &pc);                                                                    \
    const uint64_t *a = pa.l, *b = pb.l, *c = third ? pc.l : pb.l;                                 \
    uint64_t *r = pr.l;                                                                            \
    IN_ROUND(u->round, r, a, b, c, FOR_LANES r[i] = sem_bits64(operation));                        \
    fix_nans(r, a, b, c);                                                                          \
    put_pairs(w, u, &pr, m);                                                                       \
    return DONE;                                                                                   \
  }

GENERAL(dadd, false, sem_f64(a[i]) + sem_f64(b[i]))
GENERAL(dmul, false, sem_f64(a[i]) * sem_f64(b[i]))
GENERAL(dfma, true, __builtin_fma(sem_f64(a[i]), sem_f64(b[i]), sem_f64(c[i])))

/* Loads 2 * VEC lanes of a source: from registers, or the scalar for each. */
static inline void vec_source(const struct sm_warp *w, const struct sm_uop *u, unsigned slot,
                              bool is_scalar, vec splat, unsigned lane, vec v[2]) {
  const uint32_t flip = (uint32_t)(u->mods >> (2 * slot) & SM_SRC_NEG) << 31;
  if (is_scalar)
    v[0] = v[1] = splat;
  else
    vec_zip(v, REG(u->s[slot]) + lane, REG(u->s[slot] + SM_REG_BYTES) + lane, flip);
}

/* Stores the result to the lanes of m. */
static inline void put_vecs(struct sm_warp *w, const struct sm_uop *u, const vec *r, uint32_t m) {
  uint32_t *const low = REG(u->d), *const high = REG(u->d + SM_REG_BYTES);
  if (LIKELY(m == SM_ALL_LANES)) {
    for (unsigned k = 0; k < SM_LANES / VEC; k += 2)
      vec_unzip(low + k * VEC, high + k * VEC, r + k);
    return;
  }
  struct sm_lanes l, h; /* the compiler keeps them in the host's registers */
  for (unsigned k = 0; k < SM_LANES / VEC; k += 2)
    vec_unzip(l.l + k * VEC, h.l + k * VEC, r + k);
  sm_blend(low, l.l, m);
  sm_blend(high, h.l, m);
}

/* Computes the results r of a common form in vectors. slot is that of the scalar. If fixes is true,
 * NaNs become those that the hardware returns; the operation has a third operand if third is.
 * Otherwise sets nan if there are any. */
#define IN_VECTORS(slot, third, operation, fixes)                                                  \
  const vec s = (slot) == SM_NO_SLOT ? vec_splat(0) : vec_splat(sem_f64(scalar_pair(w, u, true))); \
  vec r[SM_LANES / VEC], a[2], b[2], c[2];                                                         \
  unsigned nan = 0;                                                                                \
  for (unsigned k = 0; k < SM_LANES / VEC; k += 2) {                                               \
    vec_source(w, u, 0, false, s, k *VEC, a);                                                      \
    vec_source(w, u, 1, (slot) == 1, s, k * VEC, b);                                               \
    vec_source(w, u, 2, (slot) == 2, s, k * VEC, c);                                               \
    for (unsigned i = 0; i < 2; i++)                                                               \
      r[k + i] =                                                                                   \
          (fixes) ? vec_fix_nan(operation, a[i], b[i], (third) ? c[i] : b[i]) : (operation);       \
    nan |= (fixes) ? 0 : vec_any_nan(r[k], r[k + 1]);                                              \
  }

/* Handler of a common form, which computes in vectors: rounded to nearest, without absolute values,
 * and with at most one scalar, in slot and not negated. NaNs are rare. A separate function handles
 * them, because its code needs many of the host's registers. */
#define FAST(name, third, slot, operation)                                                         \
  static __attribute__((noinline, cold))                                                           \
  const struct sm_uop *nan_##name(struct sm_warp *w, const struct sm_uop *u, uint32_t m) {         \
    IN_VECTORS(slot, third, operation, true)                                                       \
    (void)nan;                                                                                     \
    put_vecs(w, u, r, m);                                                                          \
    return DONE;                                                                                   \
  }                                                                                                \
  EACH_WARP(name) {                                                                                \
    IN_VECTORS(slot, third, operation, false)                                                      \
    if (UNLIKELY(nan))                                                                             \
      return nan_##name(w, u, m);                                                                  \
    put_vecs(w, u, r, m);                                                                          \
    return DONE;                                                                                   \
  }

#define VEC_ADD vec_add(a[i], b[i])
#define VEC_MUL vec_mul(a[i], b[i])
#define VEC_FMA vec_fma(a[i], b[i], c[i])

FAST(dadd_rr, false, SM_NO_SLOT, VEC_ADD)
FAST(dadd_rs, false, 1, VEC_ADD)
FAST(dmul_rr, false, SM_NO_SLOT, VEC_MUL)
FAST(dmul_rs, false, 1, VEC_MUL)
FAST(dfma_rrr, true, SM_NO_SLOT, VEC_FMA)
FAST(dfma_rsr, true, 1, VEC_FMA)
FAST(dfma_rrs, true, 2, VEC_FMA)

/* Returns the lanes where the relation of a and b is one of cmp. */
static inline uint32_t compare_f64(const struct pairs *a, const struct pairs *b, uint32_t cmp) {
  uint32_t less = 0, equal = 0, nan = 0;
  for (unsigned i = 0; i < SM_LANES; i += VEC) {
    vec x, y;
    memcpy(&x, a->l + i, sizeof x);
    memcpy(&y, b->l + i, sizeof y);
    less |= (uint32_t)vec_less(x, y) << i;
    equal |= (uint32_t)vec_equal(x, y) << i;
    nan |= (uint32_t)vec_any_nan(x, y) << i;
  }
  return (cmp & SEM_CMP_LESS ? less : 0) | (cmp & SEM_CMP_EQUAL ? equal : 0) |
         (cmp & SEM_CMP_UNORDERED ? nan : 0) | (cmp & SEM_CMP_GREATER ? ~(less | equal | nan) : 0);
}

/* DSETP. Comparison codes 0 and 15 mean MIN and MAX. */
EACH_WARP(dsetp) {
  enum { DSETP_MIN = 0, DSETP_MAX = 15 };
  struct pairs pa, pb;
  source_f64(w, u, 0, &pa);
  source_f64(w, u, 1, &pb);
  uint32_t p = 0, v = 0;
  if (u->compare.compare == DSETP_MIN || u->compare.compare == DSETP_MAX) {
    const bool min = u->compare.compare == DSETP_MIN;
    for (unsigned i = 0; i < SM_LANES; i++) {
      double x = sem_f64(pa.l[i]), y = sem_f64(pb.l[i]);
      bool nx = x != x, ny = y != y;
      bool x_negative = pa.l[i] >> 63, y_negative = pb.l[i] >> 63;
      bool lower = x < y || (x == y && x_negative && !y_negative);
      bool higher = x > y || (x == y && !x_negative && y_negative);
      p |= (uint32_t)((!nx && ny) || (min ? lower : higher)) << i;
      v |= (uint32_t)(nx && ny) << i;
    }
  } else {
    p = compare_f64(&pa, &pb, u->compare.compare);
    v = ~p;
  }
  const uint32_t q = PP;
  pred_out(w, u->pd, sem_bop(u->compare.combine, p, q), m);
  pred_out(w, u->pe, sem_bop(u->compare.combine, v, q), m);
  return DONE;
}
