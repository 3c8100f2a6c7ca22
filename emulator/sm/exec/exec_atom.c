/* Interpreter core: atomic operations on memory that other host threads use at the same time,
 * copies from global to shared memory, and fences. Rules: docs/hardware/sass.md section 4.10. */
#include "emulator/sm/exec/exec_mem.h"
#include "emulator/sm/exec/sem_atom.h"
#include "emulator/sm/l1.h"

static inline uint64_t lane_value(const struct sm_warp *w, unsigned s, unsigned lane, bool wide) {
  uint32_t lo = REG(s)[lane];
  return wide ? sem_pair(lo, REG(s + SM_REG_BYTES)[lane]) : lo;
}

static inline void lane_result(struct sm_warp *w, unsigned d, unsigned lane, bool wide,
                               uint64_t value) {
  REG(d)[lane] = (uint32_t)value;
  if (wide)
    REG(d + SM_REG_BYTES)[lane] = (uint32_t)(value >> 32);
}

/* Executes the additions of all lanes to one word as a single atomic addition. Each lane gets the
 * old value that it would get if the lanes were added in order. */
static void add_together(struct sm_warp *w, const struct sm_uop *u, uint32_t m, uint8_t *p) {
  uint32_t sum = 0, old[SM_LANES];
  FOR_MASK(i, m) {
    old[i] = sum;
    sum += REG(u->s[1])[i];
  }
  uint32_t before = __atomic_fetch_add((uint32_t *)(void *)p, sum, __ATOMIC_SEQ_CST);
  FOR_MASK(i, m)
  REG(u->d)[i] = before + old[i];
}

/* Executes the additions of lanes to several integers of one mapping: those in one cache line of
 * the host before those in the next, because a line that other cores change as well costs most when
 * it comes here. Returns false, without effect, if they are in several mappings, or if one may
 * fault. */
static bool add_each(struct sm_warp *w, const struct sm_uop *u, uint32_t m,
                     const struct addresses *a) {
  enum { LINE_SHIFT = 6 };
  struct sm_lanes at, line, one;
  const bool wide = u->memory.size == SIZE_64;
  uint8_t *p = one_run(w, a, size_bytes[u->memory.size], true, at.l);
  if (!p)
    return false;
  const uint32_t in_line = (uintptr_t)p & ((1u << LINE_SHIFT) - 1);
  FOR_LANES
  line.l[i] = (at.l[i] + in_line) >> LINE_SHIFT;
  for (uint32_t left = m, same; left; left &= ~same) {
    sm_splat(one.l, line.l[__builtin_ctz(left)]);
    same = sm_mask_same(line.l, one.l) & left;
    FOR_MASK(i, same)
    lane_result(w, u->d, i, wide,
                sem_atom_word(p + at.l[i], lane_value(w, u->s[1], i, wide), ATOM_ADD,
                              wide ? ATOM_U64 : ATOM_U32));
  }
  return true;
}

/* Local and shared memory need no atomics, because one host thread at a time runs a CTA. The two
 * words of a 64-bit value are place.stride bytes apart. */
static uint64_t private_load(struct place place, bool wide) {
  uint32_t lo = load_word(place.p, SIZE_32);
  return wide ? sem_pair(lo, load_word(place.p + place.stride, SIZE_32)) : lo;
}

static void private_store(struct place place, bool wide, uint64_t value) {
  store_word(place.p, (uint32_t)value, SIZE_32);
  if (wide)
    store_word(place.p + place.stride, (uint32_t)(value >> 32), SIZE_32);
}

static inline uint64_t compare_swap(uint8_t *p, uint64_t expected, uint64_t desired, bool wide) {
  if (wide) {
    __atomic_compare_exchange_n((uint64_t *)(void *)p, &expected, desired, false, __ATOMIC_SEQ_CST,
                                __ATOMIC_SEQ_CST);
    return expected;
  }
  uint32_t old = (uint32_t)expected;
  __atomic_compare_exchange_n((uint32_t *)(void *)p, &old, (uint32_t)desired, false,
                              __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
  return old;
}

/* Executes the atomic of one lane and returns its result. s[1] is the value; for CAS, s[1] is the
 * expected value and s[2] the new one. atom.operation is an enum atom_op; for CAS, 1 means that the
 * result is success instead of the old value. atom.type is an enum atom_type and implies the
 * size. */
static inline uint64_t one_atomic(const struct sm_warp *w, const struct sm_uop *u, unsigned lane,
                                  struct place place, bool is_private) {
  const bool wide = u->memory.size == SIZE_64, cas = u->atom.cas;
  const uint64_t value = lane_value(w, u->s[1], lane, wide);
  const uint64_t desired = cas ? lane_value(w, u->s[2], lane, wide) : 0;
  uint64_t old;
  if (is_private) {
    old = private_load(place, wide);
    uint64_t now = cas ? (old == value ? desired : old)
                       : sem_atom_combine(old, value, u->atom.operation, u->atom.type);
    private_store(place, wide, now);
  } else {
    old = cas ? compare_swap(place.p, value, desired, wide)
              : sem_atom_word(place.p, value, u->atom.operation, u->atom.type);
  }
  return cas && u->atom.operation ? old == value : old;
}

/* Returns whether shared memory lacks the operation. It lacks operations on floats, and all on 64
 * bits except exchange and compare-and-swap. Lanes for which these are not performed get Pu = 0 and
 * repeat the operation in a loop that ptxas adds. For f32 that loop keeps subnormals. */
static inline bool only_global(const struct sm_uop *u) {
  return !u->atom.cas && u->atom.type > ATOM_S32 && u->atom.operation != ATOM_EXCH;
}

/* RED and ATOMG take any address as a global one, like LDG and STG. */
static inline struct place atom_place(struct sm_warp *w, const struct sm_uop *u, unsigned lane,
                                      uint64_t address) {
  const uint32_t bytes = size_bytes[u->memory.size];
  return u->atom.generic ? generic_place(w, u, lane, address, bytes, true)
                         : global_place(w, u, lane, address, bytes, true);
}

EACH_WARP(atom) {
  struct addresses a;
  const uint32_t bytes = size_bytes[u->memory.size];
  addresses_of(w, u, m, &a);
  if (UNLIKELY(address_bits(&a) & (bytes - 1)))
    return raise_misaligned(w, u, m, a.l, bytes, true);
  const bool adds = !u->atom.cas && u->atom.operation == ATOM_ADD,
             adds_words = adds && u->atom.type <= ATOM_S32,
             adds_pairs = adds && (u->atom.type == ATOM_U64 || u->atom.type == ATOM_S64);
  uint64_t differ = 0;
  FOR_LANES
  differ |= a.l[i] ^ a.l[0];
  if ((adds_words || adds_pairs) && differ && !u->atom.generic && add_each(w, u, m, &a)) {
    pred_out(w, u->pd, ~0u, m);
    return DONE;
  }
  if (adds_words && !differ) {
    struct place place = atom_place(w, u, (unsigned)__builtin_ctz(m), a.l[0]);
    if (!place.p)
      return NULL;
    if (place.stride == 4) {
      add_together(w, u, m, place.p);
      pred_out(w, u->pd, ~0u, m);
      return DONE;
    }
  }
  uint32_t performed = ~0u;
  FOR_MASK(i, m) {
    struct place place = atom_place(w, u, i, a.l[i]);
    if (!place.p)
      return NULL;
    if (only_global(u) && in_windows(w, a.l[i]))
      performed &= ~sm_lane_bit[i];
    else
      lane_result(w, u->d, i, bytes == 8, one_atomic(w, u, i, place, place.stride != 4));
  }
  pred_out(w, u->pd, performed, m);
  return DONE;
}

EACH_WARP(atom_shared) {
  struct sm_lanes at;
  const uint32_t bytes = size_bytes[u->memory.size];
  if (!shared_addresses(w, u, m, bytes, true, at.l))
    return NULL;
  FOR_MASK(i, m) {
    struct place place = {w->shared + at.l[i], 4};
    lane_result(w, u->d, i, bytes == 8, one_atomic(w, u, i, place, true));
  }
  return DONE;
}

/* ATOMS.POPC.INC: every lane adds one. */
EACH_WARP(atom_inc) {
  struct sm_lanes at;
  if (!shared_addresses(w, u, m, 4, true, at.l))
    return NULL;
  FOR_MASK(i, m) {
    uint8_t *p = w->shared + at.l[i];
    const uint32_t old = load_word(p, SIZE_32);
    store_word(p, old + 1, SIZE_32);
    REG(u->d)[i] = old;
  }
  return DONE;
}

/* LDGSTS. s[1] is the register of the shared address and s[2] the uniform one. Lanes whose Pp is
 * false write zeros (cp.async with ignore-src). With .ZFILL the low bits of the global address are
 * the number of zero bytes at the end, by which ptxas encodes the src-size of cp.async. */
static inline const struct sm_uop *copy_to_shared(struct sm_warp *w, const struct sm_uop *u,
                                                  uint32_t m, struct sm_l1 *l1) {
  struct addresses a;
  const uint32_t bytes = size_bytes[u->memory.size], p = PP;
  const uint32_t term = REG(u->s[2])[0] + (uint32_t)u->ldgsts.shared_offset;
  addresses_of(w, u, m, &a);
  FOR_MASK(i, m) {
    const uint32_t to = REG(u->s[1])[i] + term;
    const uint32_t zeros = u->ldgsts.zfill ? a.l[i] & (bytes - 1) : 0;
    const uint64_t from = a.l[i] - zeros;
    const bool reads = p >> i & 1;
    uint8_t *data = NULL;
    if ((to | (reads ? from : 0)) & (bytes - 1))
      return sm_raise(w, u, SM_FAULT_MISALIGNED, i, from, bytes, false);
    if ((uint64_t)to + bytes > w->shared_bytes)
      return sm_raise(w, u, SM_FAULT_SHARED_RANGE, i, to, bytes, true);
    if (reads && !(data = sm_global(w->cta, from, bytes, false)))
      return sm_raise(w, u, SM_FAULT_MMU, i, from, bytes, false);
    if (data && l1)
      data = sm_l1_read(l1, w->cta->grid->memory.space, from, data, SM_L1_DATA);
    memset(w->shared + to, 0, bytes);
    if (data)
      memcpy(w->shared + to, data, bytes - zeros);
  }
  return DONE;
}

EACH_WARP(ldgsts) {
  return copy_to_shared(w, u, m, NULL);
}
EACH_WARP(l1_ldgsts) {
  return copy_to_shared(w, u, m, sm_l1_of(w));
}

HANDLER(fence) {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  return NEXT;
}

EACH_WARP(qspc) {
  enum { SPACE_GLOBAL, SPACE_LOCAL, SPACE_SHARED };
  struct addresses a;
  const struct sm_grid *grid = w->cta->grid;
  addresses_of(w, u, m, &a);
  uint32_t p = 0;
  for (unsigned i = 0; i < SM_LANES; i++) {
    bool shared = a.l[i] - grid->shared_window < SM_WINDOW_BYTES;
    bool local = a.l[i] - grid->local_window < SM_WINDOW_BYTES;
    bool in = u->qspc.space == SPACE_SHARED  ? shared
              : u->qspc.space == SPACE_LOCAL ? local
                                             : !shared && !local;
    p |= (uint32_t)in << i;
  }
  pred_out(w, u->pd, p, m);
  return DONE;
}
