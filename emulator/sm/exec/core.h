/* Definitions that all parts of one build of the interpreter core share: names with the suffix of
 * the build, access to operands, and the frame of a handler.
 *
 * The exec_*.c files are compiled several times, once for each instruction set of the host that
 * makes them faster. SM_BUILD is the name of the build: base, v3 or v4. */
#ifndef TEGRACL_SM_CORE_H
#define TEGRACL_SM_CORE_H

#include "emulator/sm/exec/semantics.h"
#include "emulator/sm/state.h"

#define SM_PASTE_(a, b)    a##_##b
#define SM_PASTE(a, b)     SM_PASTE_(a, b)
#define SM_NAME(name)      SM_PASTE(sm_h_##name, SM_BUILD)
#define SM_WARP_NAME(name) SM_PASTE(warp_##name, SM_BUILD)

/* u is restrict: no handler changes uops, so that their fields can be read before a loop. */
#define HANDLER(name)                                                                              \
  const struct sm_uop *SM_NAME(name)(struct sm_warp * w, const struct sm_uop *restrict u,          \
                                     uint32_t warps)

#define X(name) HANDLER(name);
SM_HANDLERS(X)
#undef X

#define LIKELY(x)   __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

/* A handler ends with a call of the next one, which the compiler turns into a jump. If it does not,
 * the stack is still bounded, because taken branches and the ends of pages return to the loop. */
#define NEXT u[1].handler(w, u + 1, warps)

/* Defines a handler that executes an instruction for one warp of the batch after the other. Its
 * body does so for the lanes m of the warp w, of which there is one at least, and returns DONE, or
 * NULL with the warp's event set, which ends the turn. The body is compiled twice, once with a
 * constant m for the usual case that all lanes of all warps execute. */
#define EACH_WARP(name)                                                                            \
  static inline __attribute__((always_inline))                                                     \
  const struct sm_uop *SM_WARP_NAME(name)(struct sm_warp * w, const struct sm_uop *u, uint32_t m); \
  static __attribute__((noinline)) const struct sm_uop *some_##name(                               \
      struct sm_warp *w, const struct sm_uop *restrict u, uint32_t warps) {                        \
    FOR_STRIDE(v) {                                                                                \
      const uint32_t m = exec_mask(v, u);                                                          \
      if (m && UNLIKELY(!SM_WARP_NAME(name)(v, u, m)))                                             \
        return NULL;                                                                               \
    }                                                                                              \
    return NEXT;                                                                                   \
  }                                                                                                \
  HANDLER(name) {                                                                                  \
    if (UNLIKELY(!w->all_active || !sm_is_unguarded(u)))                                           \
      return some_##name(w, u, warps);                                                             \
    FOR_STRIDE(v) {                                                                                \
      if (UNLIKELY(!SM_WARP_NAME(name)(v, u, SM_ALL_LANES)))                                       \
        return NULL;                                                                               \
    }                                                                                              \
    return NEXT;                                                                                   \
  }                                                                                                \
  const struct sm_uop *SM_WARP_NAME(name)(struct sm_warp * w, const struct sm_uop *u, uint32_t m)
#define DONE (u + 1)

/* The same for an instruction that cannot fault and may have a scalar operand, which the body gets
 * as value; without one, value has no meaning. A batch reads it once, unless its bank is bound by a
 * descriptor, which each warp has in its own uniform registers. */
#define EACH_WARP_SCALAR(name, value)                                                              \
  static inline __attribute__((always_inline)) const struct sm_uop *SM_WARP_NAME(name)(            \
      struct sm_warp * w, const struct sm_uop *u, uint32_t m, uint32_t value);                     \
  static __attribute__((noinline)) const struct sm_uop *some_##name(                               \
      struct sm_warp *w, const struct sm_uop *restrict u, uint32_t warps) {                        \
    FOR_STRIDE(v) {                                                                                \
      const uint32_t m = exec_mask(v, u);                                                          \
      if (m)                                                                                       \
        SM_WARP_NAME(name)(v, u, m, scalar(v, u));                                                 \
    }                                                                                              \
    return NEXT;                                                                                   \
  }                                                                                                \
  HANDLER(name) {                                                                                  \
    if (UNLIKELY(!w->all_active || !sm_is_unguarded(u) || u->scalar_kind == SM_BANKS))             \
      return some_##name(w, u, warps);                                                             \
    const uint32_t value_of_all = scalar(w, u);                                                    \
    FOR_STRIDE(v)                                                                                  \
    SM_WARP_NAME(name)(v, u, SM_ALL_LANES, value_of_all);                                          \
    return NEXT;                                                                                   \
  }                                                                                                \
  const struct sm_uop *SM_WARP_NAME(name)(struct sm_warp * w, const struct sm_uop *u, uint32_t m,  \
                                          uint32_t value)

/* Defines a handler that executes an instruction for one warp only, and disbands a batch. The body
 * returns the next uop, or NULL with the warp's event set. */
#define ONE_WARP(name)                                                                             \
  static inline const struct sm_uop *SM_WARP_NAME(name)(struct sm_warp * w,                        \
                                                        const struct sm_uop *u);                   \
  HANDLER(name) {                                                                                  \
    return warps > 1 ? sm_disband(w, u, warps) : SM_WARP_NAME(name)(w, u);                         \
  }                                                                                                \
  static inline const struct sm_uop *SM_WARP_NAME(name)(struct sm_warp * w, const struct sm_uop *u)

/* Loops over the warps of the batch. */
#define FOR_WARPS(v)                                                                               \
  for (struct sm_warp *v = (struct sm_warp *)(w), *const end_##v = sm_warp_after(v, warps);        \
       v != end_##v; v = sm_warp_after(v, 1))

/* The same, for bodies that may write anywhere: what the loop needs is read once, and so little
 * that handlers save few of the host's registers. */
#define FOR_STRIDE(v)                                                                              \
  const size_t stride_##v = w->stride;                                                             \
  uint32_t left_##v = warps;                                                                       \
  for (struct sm_warp *v = w; left_##v;                                                            \
       left_##v--, v = (struct sm_warp *)(void *)((uint8_t *)v + stride_##v))

#define REG(offset) ((uint32_t *)(sm_file(w) + (offset)))

/* Lanes that execute u. */
static inline uint32_t exec_mask(const struct sm_warp *w, const struct sm_uop *u) {
  return (w->pred[u->guard] ^ u->guard_xor) & w->active[u->uniform];
}

static inline uint32_t pred_in(const struct sm_warp *w, const struct sm_uop *u, uint8_t index,
                               unsigned bit) {
  return w->pred[index] ^ (0u - (u->pnot >> bit & 1u));
}
#define PP pred_in(w, u, u->pp, 0)
#define PQ pred_in(w, u, u->pq, 1)
#define PR pred_in(w, u, u->pr, 2)

static inline void pred_out(struct sm_warp *w, uint8_t index, uint32_t value, uint32_t mask) {
  w->pred[index] = (w->pred[index] & ~mask) | (value & mask);
}

/* Returns a word of a constant bank, or 0 outside the bank. */
static inline uint32_t bank_word(const struct sm_warp *w, unsigned bank, uint32_t offset) {
  uint32_t value = 0;
  if (LIKELY(offset + 4u <= w->bank[bank].size))
    memcpy(&value, w->bank[bank].data + offset, sizeof value);
  return value;
}

static inline uint32_t scalar(const struct sm_warp *w, const struct sm_uop *u) {
  return u->scalar_kind == SM_SCALAR_IMM ? u->imm : bank_word(w, u->scalar_kind, u->imm);
}

/* Returns the 32 lanes of a source operand: its register, or *t with the scalar in each lane. */
static inline const uint32_t *source(const struct sm_warp *w, const struct sm_uop *u, unsigned slot,
                                     struct sm_lanes *t) {
  if (LIKELY(u->scalar_slot != slot))
    return REG(u->s[slot]);
  sm_splat(t->l, scalar(w, u));
  return t->l;
}

/* Returns a source operand with its float sign modifiers and .FTZ applied. */
static inline const uint32_t *source_f32(const struct sm_warp *w, const struct sm_uop *u,
                                         unsigned slot, struct sm_lanes *t) {
  const unsigned mods = u->mods >> (2 * slot) & 3u;
  const uint32_t keep = mods & SM_SRC_ABS ? 0x7fffffffu : ~0u;
  const uint32_t flip = mods & SM_SRC_NEG ? 0x80000000u : 0;
  if (u->scalar_slot == slot) {
    const uint32_t value = (scalar(w, u) & keep) ^ flip;
    sm_splat(t->l, u->ftz ? sem_flush32(value) : value);
    return t->l;
  }
  const uint32_t *s = REG(u->s[slot]);
  if (mods) {
    FOR_LANES
    t->l[i] = (s[i] & keep) ^ flip;
    s = t->l;
  }
  if (u->ftz) {
    FOR_LANES
    t->l[i] = sem_flush32(s[i]);
    s = t->l;
  }
  return s;
}

/* Returns the scalar as 64 bits. An immediate is the high word if imm_is_high, else it is
 * sign-extended. */
static inline uint64_t scalar_pair(const struct sm_warp *w, const struct sm_uop *u,
                                   bool imm_is_high) {
  const uint32_t value = scalar(w, u);
  if (u->scalar_kind != SM_SCALAR_IMM)
    return (uint64_t)bank_word(w, u->scalar_kind, u->imm + 4) << 32 | value;
  return imm_is_high ? (uint64_t)value << 32 : (uint64_t)(int64_t)(int32_t)value;
}

/* Copies a 64-bit integer operand as low and high words. imm_is_high means that an immediate is the
 * high word, as ptxas encodes it for I2F. */
static inline void source_pair(const struct sm_warp *w, const struct sm_uop *u, unsigned slot,
                               bool imm_is_high, uint32_t *lo, uint32_t *hi) {
  if (u->scalar_slot != slot) {
    memcpy(lo, REG(u->s[slot]), SM_REG_BYTES);
    memcpy(hi, REG(u->s[slot] + SM_REG_BYTES), SM_REG_BYTES);
    return;
  }
  const uint64_t value = scalar_pair(w, u, imm_is_high);
  sm_splat(lo, (uint32_t)value);
  sm_splat(hi, (uint32_t)(value >> 32));
}

/* The frame of a handler. m is the mask of executing lanes, and r points to the result: the
 * destination register if all lanes execute, else a scratch that RESULT_END blends into the
 * register. */
#define RESULT(offset)                                                                             \
  uint32_t *const reg_ = REG(offset);                                                              \
  uint32_t *const r = LIKELY(m == SM_ALL_LANES) ? reg_ : w->scratch[0].l

#define RESULT_END                                                                                 \
  do {                                                                                             \
    if (UNLIKELY(m != SM_ALL_LANES))                                                               \
      sm_blend(reg_, w->scratch[0].l, m);                                                          \
    return DONE;                                                                                   \
  } while (0)

#endif
