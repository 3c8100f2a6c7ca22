/* Interpreter core: operands and results of double precision, whose halves are in two registers. */
#ifndef TEGRACL_SM_EXEC_DOUBLE_H
#define TEGRACL_SM_EXEC_DOUBLE_H

#include "emulator/sm/exec/core.h"
#include "emulator/sm/exec/doubles.h"

/* The doubles of all lanes. */
struct pairs {
  uint64_t l[SM_LANES];
} __attribute__((aligned(SM_REG_BYTES)));

/* Loads a source operand and applies its sign modifiers. */
static inline void source_f64(const struct sm_warp *w, const struct sm_uop *u, unsigned slot,
                              struct pairs *out) {
  if (UNLIKELY(u->scalar_slot == slot)) {
    const uint64_t value = scalar_pair(w, u, true);
    FOR_LANES
    out->l[i] = value;
  } else {
    sm_zip(out->l, REG(u->s[slot]), REG(u->s[slot] + SM_REG_BYTES));
  }
  const unsigned mods = u->mods >> (2 * slot) & 3u;
  if (mods) {
    const uint64_t keep = mods & SM_SRC_ABS ? ~SEM_F64_SIGN : ~0ull;
    const uint64_t flip = mods & SM_SRC_NEG ? SEM_F64_SIGN : 0;
    FOR_LANES
    out->l[i] = (out->l[i] & keep) ^ flip;
  }
}

/* Replaces each NaN result with the one that the hardware returns. */
static inline void fix_nans(uint64_t *r, const uint64_t *a, const uint64_t *b, const uint64_t *c) {
  for (unsigned i = 0; i < SM_LANES; i++)
    if ((r[i] & ~SEM_F64_SIGN) > SEM_F64_EXP)
      r[i] = sem_nan64(a[i], b[i], c[i]);
}

/* Stores the result to the lanes of m. */
static inline void put_pairs(struct sm_warp *w, const struct sm_uop *u, const struct pairs *value,
                             uint32_t m) {
  uint32_t *const low = REG(u->d), *const high = REG(u->d + SM_REG_BYTES);
  if (LIKELY(m == SM_ALL_LANES)) {
    sm_unzip(low, high, value->l);
    return;
  }
  struct sm_lanes l, h;
  sm_unzip(l.l, h.l, value->l);
  sm_blend(low, l.l, m);
  sm_blend(high, h.l, m);
}

#endif
