/* Interpreter core: moves, integer and predicate instructions, in their vector and uniform
 * forms. */
#include "emulator/sm/exec/core.h"

static inline void store_lanes(struct sm_warp *w, unsigned offset, const struct sm_lanes *value,
                               uint32_t m) {
  if (LIKELY(m == SM_ALL_LANES))
    memcpy(REG(offset), value->l, SM_REG_BYTES);
  else
    sm_blend(REG(offset), value->l, m);
}

/* Modifiers of an integer operand: the mask that inverts it, and the 1 that completes a
 * negation. */
static inline uint32_t int_xor(const struct sm_uop *u, unsigned slot) {
  return u->mods >> (2 * slot) & 3u ? ~0u : 0;
}
static inline uint32_t int_inc(const struct sm_uop *u, unsigned slot) {
  return u->mods >> (2 * slot) & SM_SRC_NEG;
}

HANDLER(nop) {
  return NEXT;
}

EACH_WARP(mov_reg) {
  RESULT(u->d);
  const uint32_t *b = REG(u->s[1]);
  FOR_LANES
  r[i] = b[i];
  RESULT_END;
}

EACH_WARP_SCALAR(mov_scalar, value) {
  RESULT(u->d);
  sm_splat(r, value);
  RESULT_END;
}

EACH_WARP(sel) {
  RESULT(u->d);
  struct sm_lanes t;
  const uint32_t *a = REG(u->s[0]), *b = source(w, u, 1, &t);
  const uint32_t p = PP;
  FOR_LANES
  r[i] = sm_choose(p, i, a[i], b[i]);
  RESULT_END;
}

EACH_WARP(iadd3_plain) {
  RESULT(u->d);
  struct sm_lanes t;
  const uint32_t *a = REG(u->s[0]), *b = source(w, u, 1, &t), *c = REG(u->s[2]);
  const uint32_t xa = int_xor(u, 0), xb = int_xor(u, 1), xc = int_xor(u, 2);
  const uint32_t n = int_inc(u, 0) + int_inc(u, 1) + int_inc(u, 2);
  FOR_LANES
  r[i] = (a[i] ^ xa) + (b[i] ^ xb) + (c[i] ^ xc) + n;
  RESULT_END;
}

EACH_WARP(iadd3_rrr) {
  RESULT(u->d);
  const uint32_t *a = REG(u->s[0]), *b = REG(u->s[1]), *c = REG(u->s[2]);
  FOR_LANES
  r[i] = a[i] + b[i] + c[i];
  RESULT_END;
}

EACH_WARP_SCALAR(iadd3_rsr, b) {
  RESULT(u->d);
  const uint32_t *a = REG(u->s[0]), *c = REG(u->s[2]);
  FOR_LANES
  r[i] = a[i] + b + c[i];
  RESULT_END;
}

/* IADD3 with carries: Pp and Pq are the carries in (.X), Pu and Pv the carries out. */
EACH_WARP(iadd3) {
  struct sm_lanes ta, tb, tc, d, one, two;
  const uint32_t *a = source(w, u, 0, &ta), *b = source(w, u, 1, &tb), *c = source(w, u, 2, &tc);
  const uint32_t xa = int_xor(u, 0), xb = int_xor(u, 1), xc = int_xor(u, 2);
  const uint32_t n = int_inc(u, 0) + int_inc(u, 1) + int_inc(u, 2);
  const bool x = u->iadd.extended;
  const uint32_t p = x ? PP : 0, q = x ? PQ : 0;
  FOR_LANES {
    uint32_t in = n + (p & sm_lane_bit[i] ? 1u : 0) + (q & sm_lane_bit[i] ? 1u : 0), carry;
    d.l[i] = sem_add3(a[i], b[i], c[i], xa, xb, xc, in, &carry);
    one.l[i] = carry >= 1 ? ~0u : 0;
    two.l[i] = carry >= 2 ? ~0u : 0;
  }
  store_lanes(w, u->d, &d, m);
  pred_out(w, u->pd, sm_mask_of(one.l), m);
  pred_out(w, u->pe, sm_mask_of(two.l), m);
  return DONE;
}

/* IADD3 of two operands, with one carry in and one out. */
EACH_WARP(iadd_carry) {
  RESULT(u->d);
  struct sm_lanes t, out;
  const uint32_t *a = REG(u->s[0]), *b = source(w, u, 1, &t);
  const uint32_t xa = int_xor(u, 0), xb = int_xor(u, 1);
  const uint32_t p = u->iadd.extended ? PP : 0u - (int_inc(u, 0) + int_inc(u, 1));
  FOR_LANES {
    uint32_t x = a[i] ^ xa, y = b[i] ^ xb, sum = x + y + (p & sm_lane_bit[i] ? 1u : 0);
    out.l[i] = (x & y) | ((x | y) & ~sum); /* the top bit is the carry */
    r[i] = sum;
  }
  pred_out(w, u->pd, sm_mask_of(out.l), m);
  RESULT_END;
}

/* IADD3 of two operands without modifiers and without a carry in. */
EACH_WARP(iadd_cc) {
  RESULT(u->d);
  const uint32_t carries = sm_add_carry_out(r, REG(u->s[0]), REG(u->s[1]));
  pred_out(w, u->pd, carries, m);
  RESULT_END;
}

EACH_WARP_SCALAR(iadd_cc_rs, value) {
  RESULT(u->d);
  struct sm_lanes b;
  sm_splat(b.l, value);
  const uint32_t carries = sm_add_carry_out(r, REG(u->s[0]), b.l);
  pred_out(w, u->pd, carries, m);
  RESULT_END;
}

/* IADD3.X of two operands without modifiers and without a carry out. */
EACH_WARP(iadd_x) {
  RESULT(u->d);
  sm_add_carries(r, REG(u->s[0]), REG(u->s[1]), PP);
  RESULT_END;
}

EACH_WARP_SCALAR(iadd_x_rs, value) {
  RESULT(u->d);
  struct sm_lanes b;
  sm_splat(b.l, value);
  sm_add_carries(r, REG(u->s[0]), b.l, PP);
  RESULT_END;
}

EACH_WARP(imad_rrr) {
  RESULT(u->d);
  const uint32_t *a = REG(u->s[0]), *b = REG(u->s[1]), *c = REG(u->s[2]);
  FOR_LANES
  r[i] = a[i] * b[i] + c[i];
  RESULT_END;
}

EACH_WARP_SCALAR(imad_rsr, b) {
  RESULT(u->d);
  const uint32_t *a = REG(u->s[0]), *c = REG(u->s[2]);
  FOR_LANES
  r[i] = a[i] * b + c[i];
  RESULT_END;
}

EACH_WARP(imad) {
  RESULT(u->d);
  struct sm_lanes tb, tc;
  const uint32_t *a = REG(u->s[0]), *b = source(w, u, 1, &tb), *c = source(w, u, 2, &tc);
  const uint32_t xc = int_xor(u, 2), n = int_inc(u, 2), p = u->imad.extended ? PP : 0;
  FOR_LANES
  r[i] = a[i] * b[i] + (c[i] ^ xc) + n + (p & sm_lane_bit[i] ? 1u : 0);
  RESULT_END;
}

/* The operands of IMAD.WIDE that are not registers, in all lanes: b, or both words of c. */
struct wide_scalars {
  struct sm_lanes b, lo, hi;
};

static inline void splat_wide(struct wide_scalars *t, const struct sm_warp *w,
                              const struct sm_uop *u) {
  if (u->scalar_slot == 1)
    sm_splat(t->b.l, scalar(w, u));
  else if (u->scalar_slot == 2)
    source_pair(w, u, 2, false, t->lo.l, t->hi.l);
}

static inline void mad_wide(struct sm_warp *w, const struct sm_uop *u, uint32_t m,
                            const struct wide_scalars *t) {
  const uint32_t *a = REG(u->s[0]), *b = u->scalar_slot == 1 ? t->b.l : REG(u->s[1]);
  const bool is_scalar = u->scalar_slot == 2, all = m == SM_ALL_LANES;
  const uint32_t *cl = is_scalar ? t->lo.l : REG(u->s[2]);
  const uint32_t *ch = is_scalar ? t->hi.l : REG(u->s[2] + SM_REG_BYTES);
  uint32_t *const lo = LIKELY(all) ? REG(u->d) : w->scratch[0].l;
  uint32_t *const hi = LIKELY(all) ? REG(u->d + SM_REG_BYTES) : w->scratch[1].l;
  if (u->imad_wide.is_signed)
    sm_mad_wide(lo, hi, a, b, cl, ch, true);
  else
    sm_mad_wide(lo, hi, a, b, cl, ch, false);
  if (UNLIKELY(!all)) {
    sm_blend(REG(u->d), lo, m);
    sm_blend(REG(u->d + SM_REG_BYTES), hi, m);
  }
}

static __attribute__((noinline)) const struct sm_uop *
some_imad_wide_plain(struct sm_warp *w, const struct sm_uop *restrict u, uint32_t warps) {
  FOR_STRIDE(v) {
    struct wide_scalars t;
    const uint32_t m = exec_mask(v, u);
    if (!m)
      continue;
    splat_wide(&t, v, u);
    mad_wide(v, u, m, &t);
  }
  return NEXT;
}

/* IMAD.WIDE without modifiers and carries. Most addresses are computed by it. */
HANDLER(imad_wide_plain) {
  struct wide_scalars t;
  if (UNLIKELY(!w->all_active || !sm_is_unguarded(u) || u->scalar_kind == SM_BANKS))
    return some_imad_wide_plain(w, u, warps);
  splat_wide(&t, w, u);
  FOR_STRIDE(v)
  mad_wide(v, u, SM_ALL_LANES, &t);
  return NEXT;
}

/* .WIDE and .HI */
EACH_WARP(imad_wide) {
  struct sm_lanes tb, lo, hi, carry, clo, chi;
  const uint32_t *a = REG(u->s[0]), *b = source(w, u, 1, &tb);
  const uint32_t xc = int_xor(u, 2), n = int_inc(u, 2), p = u->imad_wide.extended ? PP : 0;
  const bool is_signed = u->imad_wide.is_signed;
  source_pair(w, u, 2, false, clo.l, chi.l);
  for (unsigned i = 0; i < SM_LANES; i++) {
    uint32_t out;
    uint64_t c = sem_pair(clo.l[i] ^ xc, chi.l[i] ^ xc);
    uint64_t s = sem_mad_wide(a[i], b[i], c, is_signed, n + (p >> i & 1), &out);
    lo.l[i] = (uint32_t)s;
    hi.l[i] = (uint32_t)(s >> 32);
    carry.l[i] = 0u - (out != 0);
  }
  if (u->imad_wide.high) {
    store_lanes(w, u->d, &hi, m);
  } else {
    store_lanes(w, u->d, &lo, m);
    store_lanes(w, u->d + SM_REG_BYTES, &hi, m);
  }
  pred_out(w, u->pd, sm_mask_of(carry.l), m);
  return DONE;
}

enum lea_part { LEA_LOW, LEA_HI, LEA_HI_SX32 };

EACH_WARP(lea_plain) {
  RESULT(u->d);
  struct sm_lanes t;
  const uint32_t *a = REG(u->s[0]), *b = source(w, u, 1, &t);
  const uint32_t shift = u->lea.shift;
  FOR_LANES
  r[i] = (a[i] << shift) + b[i];
  RESULT_END;
}

/* LEA.HI, which hashes use to rotate and add. */
EACH_WARP(lea_high) {
  RESULT(u->d);
  struct sm_lanes tb, tc;
  const uint32_t *a = REG(u->s[0]), *b = source(w, u, 1, &tb), *c = source(w, u, 2, &tc);
  const uint32_t shift = u->lea.shift; /* below 32 */
  FOR_LANES
  r[i] = (c[i] << shift | a[i] >> 1 >> (31 - shift)) + b[i];
  RESULT_END;
}

EACH_WARP(lea) {
  struct sm_lanes tb, tc, d, carry;
  const uint32_t *a = REG(u->s[0]), *b = source(w, u, 1, &tb), *c = source(w, u, 2, &tc);
  const uint32_t xa = int_xor(u, 0), xb = int_xor(u, 1), n = int_inc(u, 0) + int_inc(u, 1);
  const uint32_t p = u->lea.extended ? PP : 0, shift = u->lea.shift;
  const unsigned part = u->lea.part;
  FOR_LANES {
    uint32_t out, high = part == LEA_HI_SX32 ? (uint32_t)((int32_t)a[i] >> 31) : c[i];
    uint32_t shifted = part == LEA_LOW ? a[i] << shift : sem_shl_high(a[i], high, shift);
    d.l[i] = sem_add3(shifted, b[i], 0, xa, xb, 0, n + (p & sm_lane_bit[i] ? 1u : 0), &out);
    carry.l[i] = out ? ~0u : 0;
  }
  store_lanes(w, u->d, &d, m);
  pred_out(w, u->pd, sm_mask_of(carry.l), m);
  return DONE;
}

EACH_WARP(lop3) {
  RESULT(u->d);
  struct sm_lanes tb, nonzero;
  const uint32_t *a = REG(u->s[0]), *b = source(w, u, 1, &tb), *c = REG(u->s[2]);
  const struct sem_lut lut = sem_lut(u->lop3.table);
  FOR_LANES
  r[i] = sem_lop3(a[i], b[i], c[i], lut);
  if (u->pd != SM_PRED_DISCARD) {
    FOR_LANES
    nonzero.l[i] = r[i] ? ~0u : 0;
    uint32_t p = sm_mask_of(nonzero.l);
    pred_out(w, u->pd, u->lop3.and_predicate ? p & PP : p | PP, m);
  }
  RESULT_END;
}

/* Handlers of LOP3 with common truth tables and without a destination predicate. expression
 * computes a word of the result from the words a, b and c. */
#define LOP3(name, expression)                                                                     \
  EACH_WARP_SCALAR(name, value) {                                                                  \
    RESULT(u->d);                                                                                  \
    const uint32_t *first = REG(u->s[0]), *third = REG(u->s[2]);                                   \
    if (u->scalar_slot == 1) {                                                                     \
      FOR_LANES {                                                                                  \
        const uint32_t a = first[i], b = value, c = third[i];                                      \
        (void)c;                                                                                   \
        r[i] = expression;                                                                         \
      }                                                                                            \
    } else {                                                                                       \
      const uint32_t *second = REG(u->s[1]);                                                       \
      FOR_LANES {                                                                                  \
        const uint32_t a = first[i], b = second[i], c = third[i];                                  \
        (void)c;                                                                                   \
        r[i] = expression;                                                                         \
      }                                                                                            \
    }                                                                                              \
    RESULT_END;                                                                                    \
  }

LOP3(lop3_and, (a & b))
LOP3(lop3_or, (a | b))
LOP3(lop3_xor, (a ^ b))
LOP3(lop3_xor3, a ^ b ^ c)
LOP3(lop3_or3, a | b | c)
LOP3(lop3_select, (a & b) | (~a & c))
LOP3(lop3_majority, (a & b) | (a & c) | (b & c))

/* Handlers of the common forms of SHF, which shift one word. by_immediate and by_count are
 * expressions of the word v and the count n. The count is an immediate below 32, or the value of b,
 * reduced modulo 32 in the wrapping forms. */
#define SHIFT(name, slot, by_immediate, by_count)                                                  \
  EACH_WARP(name) {                                                                                \
    RESULT(u->d);                                                                                  \
    struct sm_lanes t;                                                                             \
    const uint32_t *s = REG(u->s[slot]);                                                           \
    if (u->shift.known) {                                                                          \
      const uint32_t n = u->imm;                                                                   \
      FOR_LANES {                                                                                  \
        const uint32_t v = s[i];                                                                   \
        r[i] = by_immediate;                                                                       \
      }                                                                                            \
    } else {                                                                                       \
      const uint32_t *b = source(w, u, 1, &t);                                                     \
      const uint32_t wrap = u->shift.wrap ? 31 : ~0u;                                              \
      FOR_LANES {                                                                                  \
        const uint32_t v = s[i], n = b[i] & wrap;                                                  \
        r[i] = by_count;                                                                           \
      }                                                                                            \
    }                                                                                              \
    RESULT_END;                                                                                    \
  }

SHIFT(shl, 0, v << n, n > 31 ? 0 : v << (n & 31))
SHIFT(shr, 2, v >> n, n > 31 ? 0 : v >> (n & 31))
SHIFT(sar, 2, (uint32_t)((int32_t)v >> n), (uint32_t)((int32_t)v >> (n > 31 ? 31 : n)))

/* The general form. */
EACH_WARP(shf) {
  RESULT(u->d);
  struct sm_lanes tb, tc;
  const uint32_t *a = REG(u->s[0]), *b = source(w, u, 1, &tb), *c = source(w, u, 2, &tc);
  const bool right = u->shift.right, wrap = u->shift.wrap, is_signed = u->shift.is_signed,
             high = u->shift.high;
  const uint32_t width = u->shift.width;
  FOR_LANES
  r[i] = sem_shf(a[i], b[i], c[i], right, wrap, is_signed, width, high);
  RESULT_END;
}

/* SHF of two words by an immediate from 1 to 31, to the left or to the right. */
EACH_WARP(shf_left) {
  RESULT(u->d);
  const uint32_t *a = REG(u->s[0]), *c = REG(u->s[2]);
  const uint32_t n = u->imm;
  FOR_LANES
  r[i] = c[i] << n | a[i] >> (32 - n);
  RESULT_END;
}
EACH_WARP(shf_right) {
  RESULT(u->d);
  const uint32_t *a = REG(u->s[0]), *c = REG(u->s[2]);
  const uint32_t n = u->imm;
  FOR_LANES
  r[i] = a[i] >> n | c[i] << (32 - n);
  RESULT_END;
}

/* SHF of a word and itself to the right, by an immediate from 1 to 31. Compilers see a rotation
 * only if both counts are reduced. */
EACH_WARP(shf_rotate) {
  RESULT(u->d);
  const uint32_t *a = REG(u->s[0]);
  const uint32_t n = u->imm;
  FOR_LANES
  r[i] = a[i] >> (n & 31) | a[i] << (-n & 31);
  RESULT_END;
}

EACH_WARP(isetp) {
  struct sm_lanes t;
  const uint32_t *a = REG(u->s[0]), *b = source(w, u, 1, &t);
  uint32_t cmp = u->isetp.compare;
  if (UNLIKELY(u->isetp.extended)) /* where the high words are equal, the low ones decide */
    cmp = cmp == SEM_CMP_EQUAL || cmp == (SEM_CMP_LESS | SEM_CMP_GREATER) ? cmp
                                                                          : cmp & ~SEM_CMP_EQUAL;
  const uint32_t flip = u->isetp.is_signed ? 0 : 0x80000000u;
  uint32_t p = 0;
  if (cmp & SEM_CMP_LESS)
    p |= sm_mask_more(b, a, flip);
  if (cmp & SEM_CMP_GREATER)
    p |= sm_mask_more(a, b, flip);
  if (cmp & SEM_CMP_EQUAL)
    p |= sm_mask_same(a, b);
  if (UNLIKELY(u->isetp.extended)) {
    uint32_t equal = sm_mask_same(a, b), low = PR;
    switch (u->isetp.compare) {
    case SEM_CMP_EQUAL:
      p = equal & low;
      break;
    case SEM_CMP_LESS | SEM_CMP_GREATER:
      p = ~equal | low;
      break;
    case 0:
      p = 0;
      break;
    case SEM_CMP_LESS | SEM_CMP_EQUAL | SEM_CMP_GREATER:
      p = ~0u;
      break;
    default:
      p |= equal & low;
    }
  }
  const uint32_t q = PP;
  pred_out(w, u->pd, sem_bop(u->isetp.combine, p, q), m);
  pred_out(w, u->pe, sem_bop(u->isetp.combine, ~p, q), m);
  return DONE;
}

/* ISETP without .EX whose result depends on no other predicate and goes to one. All relations are
 * "more" or "equal", perhaps with operands exchanged or the result inverted. */
EACH_WARP_SCALAR(isetp_one, value) {
  struct sm_lanes t;
  const uint32_t *a = REG(u->s[0]), *b = REG(u->s[1]);
  const uint32_t flip = u->isetp.is_signed ? 0 : 0x80000000u, compare = u->isetp.compare;
  if (u->scalar_slot == 1) {
    sm_splat(t.l, value);
    b = t.l;
  }
  uint32_t p;
  if (compare == SEM_CMP_EQUAL || compare == (SEM_CMP_LESS | SEM_CMP_GREATER))
    p = sm_mask_same(a, b);
  else if (compare == SEM_CMP_GREATER || compare == (SEM_CMP_LESS | SEM_CMP_EQUAL))
    p = sm_mask_more(a, b, flip);
  else
    p = sm_mask_more(b, a, flip);
  const bool inverted = compare & (compare - 1); /* two of the three relations */
  pred_out(w, u->pd, inverted ? ~p : p, m);
  return DONE;
}

EACH_WARP(imnmx) {
  RESULT(u->d);
  struct sm_lanes t;
  const uint32_t *a = REG(u->s[0]), *b = source(w, u, 1, &t);
  const uint32_t min = PP, flip = u->imnmx.is_signed ? 0 : 0x80000000u;
  FOR_LANES {
    const uint32_t x = a[i], y = b[i];
    const bool less = (int32_t)(x ^ flip) < (int32_t)(y ^ flip);
    r[i] = sm_choose(min, i, less ? x : y, less ? y : x);
  }
  RESULT_END;
}

EACH_WARP(iabs) {
  RESULT(u->d);
  struct sm_lanes t;
  const uint32_t *b = source(w, u, 1, &t);
  FOR_LANES
  r[i] = (int32_t)b[i] < 0 ? 0 - b[i] : b[i];
  RESULT_END;
}

EACH_WARP(popc) {
  RESULT(u->d);
  struct sm_lanes t;
  const uint32_t *b = source(w, u, 1, &t);
  const uint32_t x = int_xor(u, 1);
  FOR_LANES
  r[i] = sem_popc(b[i] ^ x);
  RESULT_END;
}

EACH_WARP(brev) {
  RESULT(u->d);
  struct sm_lanes t;
  const uint32_t *b = source(w, u, 1, &t);
  FOR_LANES
  r[i] = sem_brev(b[i]);
  RESULT_END;
}

EACH_WARP(flo) {
  RESULT(u->d);
  struct sm_lanes t;
  const uint32_t *b = source(w, u, 1, &t);
  const uint32_t x = int_xor(u, 1);
  uint32_t none = 0;
  for (unsigned i = 0; i < SM_LANES; i++) {
    r[i] = sem_flo(b[i] ^ x, u->flo.is_signed, u->flo.shift);
    none |= (uint32_t)(r[i] == ~0u) << i;
  }
  pred_out(w, u->pd, ~none, m);
  RESULT_END;
}

EACH_WARP(sgxt) {
  RESULT(u->d);
  struct sm_lanes t;
  const uint32_t *a = REG(u->s[0]), *b = source(w, u, 1, &t);
  for (unsigned i = 0; i < SM_LANES; i++)
    r[i] = sem_sgxt(a[i], b[i], u->extend.wrap, u->extend.is_signed);
  RESULT_END;
}

EACH_WARP(bmsk) {
  RESULT(u->d);
  struct sm_lanes t;
  const uint32_t *a = REG(u->s[0]), *b = source(w, u, 1, &t);
  for (unsigned i = 0; i < SM_LANES; i++)
    r[i] = sem_bmsk(a[i], b[i], u->extend.wrap);
  RESULT_END;
}

EACH_WARP(prmt) {
  RESULT(u->d);
  struct sm_lanes tb, tc;
  const uint32_t *a = REG(u->s[0]), *b = source(w, u, 1, &tb), *c = source(w, u, 2, &tc);
  for (unsigned i = 0; i < SM_LANES; i++)
    r[i] = sem_prmt(a[i], c[i], sem_prmt_selector(b[i], u->prmt.mode));
  RESULT_END;
}

/* PRMT with an immediate selector, to which the mode has already been applied. */
EACH_WARP(prmt_imm) {
  RESULT(u->d);
  const uint32_t *a = REG(u->s[0]), *c = REG(u->s[2]);
  const uint32_t nibbles = u->imm;
  FOR_LANES
  r[i] = sem_prmt(a[i], c[i], nibbles);
  RESULT_END;
}

EACH_WARP(dp4a) {
  RESULT(u->d);
  struct sm_lanes t;
  const uint32_t *a = REG(u->s[0]), *b = source(w, u, 1, &t), *c = REG(u->s[2]);
  const bool sa = u->dot.a_signed, sb = u->dot.b_signed;
  const uint32_t xc = int_xor(u, 2), n = int_inc(u, 2);
  FOR_LANES
  r[i] = sem_dp4a(a[i], b[i], (c[i] ^ xc) + n, sa, sb);
  RESULT_END;
}

EACH_WARP(dp2a) {
  RESULT(u->d);
  struct sm_lanes t;
  const uint32_t *a = REG(u->s[0]), *b = source(w, u, 1, &t), *c = REG(u->s[2]);
  const bool sa = u->dot.a_signed, sb = u->dot.b_signed, high = u->dot.high;
  const uint32_t xc = int_xor(u, 2), n = int_inc(u, 2);
  FOR_LANES
  r[i] = sem_dp2a(a[i], b[i], (c[i] ^ xc) + n, sa, sb, high);
  RESULT_END;
}

EACH_WARP(absdiff) {
  RESULT(u->d);
  struct sm_lanes tb, tc;
  const uint32_t *a = REG(u->s[0]), *b = source(w, u, 1, &tb), *c = source(w, u, 2, &tc);
  for (unsigned i = 0; i < SM_LANES; i++)
    r[i] = sem_absdiff(a[i], b[i], u->absdiff.is_signed) + c[i];
  RESULT_END;
}

EACH_WARP(absdiff4) {
  RESULT(u->d);
  struct sm_lanes tb, tc;
  const uint32_t *a = REG(u->s[0]), *b = source(w, u, 1, &tb), *c = source(w, u, 2, &tc);
  for (unsigned i = 0; i < SM_LANES; i++)
    r[i] = sem_absdiff4(a[i], b[i], c[i], u->absdiff.is_signed, u->absdiff.accumulate);
  RESULT_END;
}

EACH_WARP(i2i_sat) {
  RESULT(u->d);
  struct sm_lanes t;
  const uint32_t *b = source(w, u, 1, &t);
  for (unsigned i = 0; i < SM_LANES; i++)
    r[i] = sem_clamp(b[i], u->narrow.bits, u->narrow.is_signed);
  RESULT_END;
}

EACH_WARP(i2ip) {
  RESULT(u->d);
  struct sm_lanes t;
  const uint32_t *a = REG(u->s[0]), *b = source(w, u, 1, &t), *c = REG(u->s[2]);
  for (unsigned i = 0; i < SM_LANES; i++)
    r[i] = sem_i2ip(a[i], b[i], c[i], u->narrow.bits, u->narrow.is_signed);
  RESULT_END;
}

/* P2R: collects the predicates of each lane in a byte. */
EACH_WARP(p2r) {
  RESULT(u->d);
  struct sm_lanes t, bits;
  const uint32_t *a = REG(u->s[0]), *b = source(w, u, 1, &t);
  const uint32_t shift = 8u * u->predicates.byte;
  memset(&bits, 0, sizeof bits);
  for (unsigned k = 0; k < SM_PRED_TRUE; k++) {
    const uint32_t p = w->pred[sm_first_predicate(u) + k];
    FOR_LANES
    bits.l[i] |= p & sm_lane_bit[i] ? 1u << k : 0;
  }
  FOR_LANES {
    uint32_t field = b[i] & 0x7f;
    r[i] = (a[i] & ~(field << shift)) | (bits.l[i] & field) << shift;
  }
  RESULT_END;
}

EACH_WARP(r2p) {
  struct sm_lanes t, bit;
  const uint32_t *a = REG(u->s[0]), *b = source(w, u, 1, &t);
  const uint32_t shift = 8u * u->predicates.byte;
  for (unsigned k = 0; k < SM_PRED_TRUE; k++) {
    FOR_LANES
    bit.l[i] = b[i] >> k & 1 ? ~0u : 0;
    uint32_t write = sm_mask_of(bit.l) & m;
    if (!write)
      continue;
    FOR_LANES
    bit.l[i] = a[i] >> (k + shift) & 1 ? ~0u : 0;
    pred_out(w, (uint8_t)(sm_first_predicate(u) + k), sm_mask_of(bit.l), write);
  }
  return DONE;
}

EACH_WARP(plop3) {
  const uint32_t p = PP, q = PQ, r = PR;
  uint32_t pu = sem_lop3(p, q, r, sem_lut(u->plop3.table_u));
  uint32_t pv = sem_lop3(p, q, r, sem_lut(u->plop3.table_v));
  pred_out(w, u->pd, pu, m);
  pred_out(w, u->pe, pv, m);
  return DONE;
}

/* PLOP3 on the sign bits of registers. */
EACH_WARP(plop3_sign) {
  struct sm_lanes t, sign;
  uint32_t in[3];
  for (unsigned k = 0; k < 3; k++) {
    const uint32_t *s = source(w, u, k, &t);
    FOR_LANES
    sign.l[i] = (uint32_t)((int32_t)s[i] >> 31);
    in[k] = sm_mask_of(sign.l);
  }
  uint32_t pu = sem_lop3(in[0], in[1], in[2], sem_lut(u->plop3.table_u));
  uint32_t pv = sem_lop3(in[0], in[1], in[2], sem_lut(u->plop3.table_v));
  pred_out(w, u->pd, pu, m);
  pred_out(w, u->pe, pv, m);
  return DONE;
}
