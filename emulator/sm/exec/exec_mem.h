/* Interpreter core: addresses of memory instructions, and accesses of one lane, for loads, stores
 * and atomics.
 *
 * s[0] is the address register. The other parts of the address are in the arguments of the group
 * "memory" and of the groups that extend it (sm87.isa). */
#ifndef TEGRACL_SM_EXEC_MEM_H
#define TEGRACL_SM_EXEC_MEM_H

#include "emulator/sm/exec/core.h"

/* In the encoding of the instructions. */
enum size { SIZE_U8, SIZE_S8, SIZE_U16, SIZE_S16, SIZE_32, SIZE_64, SIZE_128 };

static const uint8_t size_bytes[] = {1, 1, 2, 2, 4, 8, 16};

static inline uint32_t load_word(const uint8_t *p, enum size size) {
  uint16_t h;
  uint32_t v;
  switch (size) {
  case SIZE_U8:
    return *p;
  case SIZE_S8:
    return (uint32_t)(int8_t)*p;
  case SIZE_U16:
    memcpy(&h, p, sizeof h);
    return h;
  case SIZE_S16:
    memcpy(&h, p, sizeof h);
    return (uint32_t)(int16_t)h;
  default:
    memcpy(&v, p, sizeof v);
    return v;
  }
}

static inline void store_word(uint8_t *p, uint32_t v, enum size size) {
  uint16_t h = (uint16_t)v;
  switch (size) {
  case SIZE_U8:
  case SIZE_S8:
    *p = (uint8_t)v;
    break;
  case SIZE_U16:
  case SIZE_S16:
    memcpy(p, &h, sizeof h);
    break;
  default:
    memcpy(p, &v, sizeof v);
  }
}

/* --- global and generic addresses ----------------------------------------- */

struct addresses {
  uint64_t l[SM_LANES];
} __attribute__((aligned(SM_REG_BYTES)));

static inline uint64_t uniform_term(const struct sm_warp *w, const struct sm_uop *u) {
  return sem_pair(REG(u->memory.uniform)[0], REG(u->memory.uniform + SM_REG_BYTES)[0]) +
         (uint64_t)u->memory.offset;
}

/* Computes the addresses of all lanes. Lanes outside m get the address of a lane of m. */
static inline void addresses_of(const struct sm_warp *w, const struct sm_uop *u, uint32_t m,
                                struct addresses *out) {
  const uint32_t *lo = REG(u->s[0]), *hi = REG(u->memory.narrow ? 0 : u->s[0] + SM_REG_BYTES);
  const uint64_t term = uniform_term(w, u);
  if (LIKELY(m == SM_ALL_LANES)) {
    FOR_LANES
    out->l[i] = sem_pair(lo[i], hi[i]) + term;
    return;
  }
  const unsigned first = (unsigned)__builtin_ctz(m);
  const uint64_t spare = sem_pair(lo[first], hi[first]) + term;
  FOR_LANES {
    uint64_t a = sem_pair(lo[i], hi[i]) + term;
    out->l[i] = m & sm_lane_bit[i] ? a : spare;
  }
}

static inline uint64_t address_bits(const struct addresses *a) {
  uint64_t bits = 0;
  FOR_LANES
  bits |= a->l[i];
  return bits;
}

/* Returns the host address of the lowest address, or NULL if the accesses are not in one mapping.
 * Sets at to the offsets from it, which are below 2^31. */
static inline uint8_t *one_run(struct sm_warp *w, const struct addresses *a, uint32_t bytes,
                               bool write, uint32_t *at) {
  uint64_t min = a->l[0], max = a->l[0];
  FOR_LANES {
    min = a->l[i] < min ? a->l[i] : min;
    max = a->l[i] > max ? a->l[i] : max;
  }
  if (max - min > INT32_MAX)
    return NULL;
  FOR_LANES
  at[i] = (uint32_t)(a->l[i] - min);
  return sm_global(w->cta, min, max - min + bytes, write);
}

static inline const struct sm_uop *raise_misaligned(struct sm_warp *w, const struct sm_uop *u,
                                                    uint32_t m, const uint64_t *a, uint32_t bytes,
                                                    bool write) {
  FOR_MASK(i, m)
  if (a[i] & (bytes - 1))
    return sm_raise(w, u, SM_FAULT_MISALIGNED, i, a[i], bytes, write);
  return sm_raise(w, u, SM_FAULT_MISALIGNED, 0, a[0], bytes, write);
}

/* --- one lane, any space --------------------------------------------------- */

/* Returns the place of a lane's bytes in local memory, whose words are interleaved over the lanes,
 * or NULL if the access is outside the low and the high region. */
static inline uint8_t *local_place(const struct sm_warp *w, uint64_t offset, uint32_t bytes,
                                   unsigned lane) {
  const struct sm_grid *grid = w->cta->grid;
  uint64_t at;
  if (offset + bytes <= grid->local_low)
    at = offset;
  else if (offset >= SM_WINDOW_BYTES - grid->local_high && offset + bytes <= SM_WINDOW_BYTES)
    at = w->local_high_at + (offset - (SM_WINDOW_BYTES - w->local_high));
  else
    return NULL;
  return w->local + (at >> 2) * SM_REG_BYTES + lane * 4 + (at & 3);
}

struct place {
  uint8_t *p;
  uint32_t stride; /* bytes from one word to the next */
};

/* Returns the memory at a lane's global address. p is NULL after a fault. */
static inline struct place global_place(struct sm_warp *w, const struct sm_uop *u, unsigned lane,
                                        uint64_t address, uint32_t bytes, bool write) {
  struct place place = {sm_global(w->cta, address, bytes, write), 4};
  if (!place.p)
    sm_raise(w, u, SM_FAULT_MMU, lane, address, bytes, write);
  return place;
}

/* Returns the memory at a lane's generic address. p is NULL after a fault. */
static inline struct place generic_place(struct sm_warp *w, const struct sm_uop *u, unsigned lane,
                                         uint64_t address, uint32_t bytes, bool write) {
  const struct sm_grid *grid = w->cta->grid;
  struct place place = {.stride = 4};
  enum sm_fault_kind kind;
  if (address - grid->shared_window < SM_WINDOW_BYTES) {
    uint64_t offset = address - grid->shared_window;
    kind = SM_FAULT_SHARED_RANGE;
    if (offset + bytes <= w->shared_bytes)
      place.p = w->shared + offset;
  } else if (address - grid->local_window < SM_WINDOW_BYTES) {
    kind = SM_FAULT_LOCAL_RANGE;
    place.p = local_place(w, address - grid->local_window, bytes, lane);
    place.stride = SM_REG_BYTES;
  } else {
    return global_place(w, u, lane, address, bytes, write);
  }
  if (!place.p)
    sm_raise(w, u, kind, lane, address, bytes, write);
  return place;
}

/* Returns whether a generic address is in shared or local memory. */
static inline bool in_windows(const struct sm_warp *w, uint64_t address) {
  const struct sm_grid *grid = w->cta->grid;
  return address - grid->shared_window < SM_WINDOW_BYTES ||
         address - grid->local_window < SM_WINDOW_BYTES;
}

/* Copies one lane's element between memory and its registers. */
static inline void move_lane(struct sm_warp *w, const struct sm_uop *u, unsigned lane,
                             struct place place, bool write) {
  const enum size size = u->memory.size, part = size <= SIZE_32 ? size : SIZE_32;
  for (unsigned k = 0; k < (size_bytes[size] + 3u) / 4; k++) {
    uint8_t *p = place.p + k * place.stride;
    if (write)
      store_word(p, REG(u->s[1] + k * SM_REG_BYTES)[lane], part);
    else
      REG(u->d + k * SM_REG_BYTES)[lane] = load_word(p, part);
  }
}

/* Computes the 32-bit addresses (register << scale) + UR + offset. Lanes outside m get the address
 * of a lane of m. *high is the highest address, and *bits the OR of all. */
static inline void addresses32(const struct sm_warp *w, const struct sm_uop *u, uint32_t m,
                               uint32_t *at, uint32_t *high, uint32_t *bits) {
  const uint32_t *a = REG(u->s[0]);
  const uint32_t term = REG(u->memory.uniform)[0] + (uint32_t)u->memory.offset,
                 shift = u->memory.scale;
  const uint32_t spare = (a[__builtin_ctz(m)] << shift) + term;
  uint32_t max = 0, all = 0;
  FOR_LANES {
    const uint32_t v = sm_choose(m, i, (a[i] << shift) + term, spare);
    at[i] = v;
    all |= v;
    max = v > max ? v : max;
  }
  *high = max;
  *bits = all;
}

/* Raises the fault of a shared access that is out of range or misaligned in some lane. */
static inline const struct sm_uop *shared_fault(struct sm_warp *w, const struct sm_uop *u,
                                                uint32_t m, const uint32_t *at, uint32_t bytes,
                                                bool write) {
  FOR_MASK(i, m) {
    if (at[i] & (bytes - 1))
      return sm_raise(w, u, SM_FAULT_MISALIGNED, i, at[i], bytes, write);
    if ((uint64_t)at[i] + bytes > w->shared_bytes)
      return sm_raise(w, u, SM_FAULT_SHARED_RANGE, i, at[i], bytes, write);
  }
  return sm_raise(w, u, SM_FAULT_SHARED_RANGE, 0, at[0], bytes, write);
}

/* Computes the addresses of a shared access. Returns false after a fault. */
static inline bool shared_addresses(struct sm_warp *w, const struct sm_uop *u, uint32_t m,
                                    uint32_t bytes, bool write, uint32_t *at) {
  uint32_t high, bits;
  addresses32(w, u, m, at, &high, &bits);
  if (LIKELY((uint64_t)high + bytes <= w->shared_bytes && !(bits & (bytes - 1))))
    return true;
  shared_fault(w, u, m, at, bytes, write);
  return false;
}

#endif
