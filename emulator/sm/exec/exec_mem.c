/* Interpreter core: loads and stores in global, shared, local and constant memory. Rules:
 * docs/hardware/sass.md section 4.10, docs/hardware/divergence.md sections 6 and 7. exec_mem.h
 * explains the fields of these uops. */
#include "emulator/sm/exec/exec_mem.h"
#include "emulator/sm/exec/doubles.h"

#define REGS(offset) ((struct sm_lanes *)(void *)(sm_file(w) + (offset)))

static inline unsigned register_count(enum size size) {
  return size <= SIZE_32 ? 1 : size == SIZE_64 ? 2 : 4;
}

/* Loads 16 words at offsets from p below 2^31. */
static inline void gather_16(uint32_t *out, const uint8_t *p, const uint32_t *at) {
#if defined(__AVX512F__)
  _mm512_store_si512(out, _mm512_i32gather_epi32(_mm512_load_si512(at), p, 1));
#elif defined(__AVX2__)
  for (unsigned i = 0; i < SM_HALF; i += 8)
    _mm256_store_si256(
        (__m256i *)(void *)(out + i),
        _mm256_i32gather_epi32((const int *)(const void *)p,
                               _mm256_load_si256((const __m256i *)(const void *)(at + i)), 1));
#else
  for (unsigned i = 0; i < SM_HALF; i++)
    memcpy(&out[i], p + at[i], sizeof *out);
#endif
}

/* The same, which is faster if the words are consecutive or all the same: work-groups are often 16
 * wide, and then each half of a warp accesses one row. */
static inline void gather_half(uint32_t *out, const uint8_t *p, const uint32_t *at) {
  if (sm_is_row(at, sizeof *out)) {
    memcpy(out, p + at[0], SM_HALF * sizeof *out);
  } else if (sm_is_same(at)) {
    const uint32_t value = load_word(p + at[0], SIZE_32);
    FOR_HALF
    out[i] = value;
  } else {
    gather_16(out, p, at);
  }
}

/* Loads one element at p + at[lane] for each lane of m into registers d and following. */
static inline void gather_words(struct sm_warp *w, unsigned d, const uint8_t *p, const uint32_t *at,
                                enum size size, uint32_t m) {
  const unsigned words = register_count(size);
  struct sm_lanes t[4];
  if (size == SIZE_32) {
    uint32_t *out = LIKELY(m == SM_ALL_LANES) ? REG(d) : t[0].l;
    gather_half(out, p, at);
    gather_half(out + SM_LANES / 2, p, at + SM_LANES / 2);
    if (m == SM_ALL_LANES)
      return;
  } else if (size < SIZE_32) {
    for (unsigned i = 0; i < SM_LANES; i++)
      t[0].l[i] = load_word(p + at[i], size);
  } else {
    for (unsigned i = 0; i < SM_LANES; i++) {
      uint32_t v[4];
      memcpy(v, p + at[i], size == SIZE_64 ? 8 : 16);
      for (unsigned k = 0; k < words; k++)
        t[k].l[i] = v[k];
    }
  }
  for (unsigned k = 0; k < words; k++)
    sm_blend(REG(d + k * SM_REG_BYTES), t[k].l, m);
}

static inline void scatter_lane(const struct sm_warp *w, unsigned s, uint8_t *p, enum size size,
                                unsigned lane) {
  uint32_t t[4];
  if (size <= SIZE_32) {
    store_word(p, REG(s)[lane], size);
    return;
  }
  for (unsigned k = 0; k < (size == SIZE_64 ? 2 : 4); k++)
    t[k] = REG(s + k * SM_REG_BYTES)[lane];
  memcpy(p, t, size == SIZE_64 ? 8 : 16);
}

static inline void scatter_words(const struct sm_warp *w, unsigned s, uint8_t *p,
                                 const uint32_t *at, enum size size, uint32_t m) {
  if (LIKELY(m == SM_ALL_LANES)) {
    for (unsigned i = 0; i < SM_LANES; i++)
      scatter_lane(w, s, p + at[i], size, i);
  } else {
    FOR_MASK(i, m)
    scatter_lane(w, s, p + at[i], size, i);
  }
}

/* Like one_run, for lanes that all execute. Returns NULL also if the high words of the addresses
 * differ or an address is misaligned. */
static inline uint8_t *near_run(struct sm_warp *w, const struct sm_uop *u, const uint32_t *lo,
                                const uint32_t *hi, uint32_t bytes, bool write, uint32_t *at) {
  const uint32_t h0 = hi[0];
  uint32_t min = lo[0], max = min, differ = 0, bits = 0;
  FOR_LANES {
    differ |= hi[i] ^ h0;
    min = lo[i] < min ? lo[i] : min;
    max = lo[i] > max ? lo[i] : max;
  }
  FOR_LANES {
    at[i] = lo[i] - min;
    bits |= at[i];
  }
  const uint64_t base = sem_pair(min, h0) + uniform_term(w, u);
  if (differ || max - min > INT32_MAX || (base | bits) & (bytes - 1))
    return NULL;
  return sm_global(w->cta, base, (uint64_t)(max - min) + bytes, write);
}

enum pattern { PATTERN_ANY, PATTERN_UNIT, PATTERN_SAME };

/* Work-groups often have rows of 16 work-items, so each half of a warp accesses a row, or all its
 * lanes the same element. Sets *step to the distance of the lanes' addresses, or of the registers
 * that they are computed from: unit or 0. Returns false if it is another one, or none. */
static inline bool is_half_pattern(const uint32_t *v, uint32_t unit, uint32_t *step) {
  *step = v[1] - v[0];
  return (*step == 0 || *step == unit) && sm_is_row(v, *step);
}

/* Loads consecutive words for half a warp, or the same element for all its lanes. */
static inline void load_half(struct sm_warp *w, unsigned d, const uint8_t *p, bool is_row,
                             uint32_t bytes) {
  if (is_row) {
    memcpy(REG(d), p, SM_HALF * sizeof(uint32_t));
    return;
  }
  for (unsigned k = 0; k < bytes / 4; k++) {
    uint32_t *r = REG(d + k * SM_REG_BYTES);
    const uint32_t value = load_word(p + 4 * k, SIZE_32);
    FOR_HALF
    r[i] = value;
  }
}

/* Extends 32 elements of 8 or 16 bits. */
static inline void load_narrow(uint32_t *r, const uint8_t *p, enum size size) {
  uint8_t byte[SM_LANES];
  uint16_t half[SM_LANES];
  memcpy(byte, p, sizeof byte);
  if (size == SIZE_U8) {
    FOR_LANES
    r[i] = byte[i];
  } else if (size == SIZE_S8) {
    FOR_LANES
    r[i] = (uint32_t)(int8_t)byte[i];
  } else {
    memcpy(half, p, sizeof half);
    FOR_LANES
    r[i] = size == SIZE_U16 ? half[i] : (uint32_t)(int16_t)half[i];
  }
}

static inline void store_narrow(uint8_t *p, const uint32_t *r, enum size size) {
  uint8_t byte[SM_LANES];
  uint16_t half[SM_LANES];
  if (size <= SIZE_S8) {
    FOR_LANES
    byte[i] = (uint8_t)r[i];
    memcpy(p, byte, sizeof byte);
  } else {
    FOR_LANES
    half[i] = (uint16_t)r[i];
    memcpy(p, half, sizeof half);
  }
}

/* Loads consecutive elements. Each word of a wide element goes to a separate register of r; for 128
 * bits, the even words are separated from the odd ones first. */
static inline void load_row(struct sm_lanes *r, const uint8_t *p, enum size size) {
  struct sm_lanes even[2], odd[2];
  switch (size) {
  case SIZE_32:
    memcpy(r, p, sizeof *r);
    break;
  case SIZE_64:
    sm_unzip(r[0].l, r[1].l, p);
    break;
  case SIZE_128:
    sm_unzip(even[0].l, odd[0].l, p);
    sm_unzip(even[1].l, odd[1].l, p + 2 * SM_REG_BYTES);
    sm_unzip(r[0].l, r[2].l, even);
    sm_unzip(r[1].l, r[3].l, odd);
    break;
  default:
    load_narrow(r->l, p, size);
  }
}

static inline void store_row(const struct sm_lanes *r, uint8_t *p, enum size size) {
  struct sm_lanes even[2], odd[2];
  switch (size) {
  case SIZE_32:
    memcpy(p, r, sizeof *r);
    break;
  case SIZE_64:
    sm_zip(p, r[0].l, r[1].l);
    break;
  case SIZE_128:
    sm_zip(even, r[0].l, r[2].l);
    sm_zip(odd, r[1].l, r[3].l);
    sm_zip(p, even[0].l, odd[0].l);
    sm_zip(p + 2 * SM_REG_BYTES, even[1].l, odd[1].l);
    break;
  default:
    store_narrow(p, r->l, size);
  }
}

static inline void load_same(struct sm_lanes *r, const uint8_t *p, enum size size) {
  if (size <= SIZE_32) {
    sm_splat(r->l, load_word(p, size));
    return;
  }
  for (unsigned k = 0; k < size_bytes[size] / 4u; k++)
    sm_splat(r[k].l, load_word(p + 4 * k, SIZE_32));
}

/* The lanes of an access that only some lanes execute: those from the first to the last one, and
 * whether all between them execute. */
struct span {
  unsigned first, count;
  bool is_whole;
};
static inline struct span span_of(uint32_t m) {
  const unsigned first = (unsigned)__builtin_ctz(m);
  const uint32_t rest = m >> first;
  return (struct span){first, SM_LANES - (unsigned)__builtin_clz(rest), (rest & (rest + 1)) == 0};
}

/* Returns the pattern of the addresses of the lanes of m. A single lane is a row.
 * The first two lanes exclude all patterns but one. */
static inline enum pattern pattern_of_some(const uint32_t *v, uint32_t step, uint32_t m) {
  const unsigned first = (unsigned)__builtin_ctz(m);
  const unsigned second = m & (m - 1) ? (unsigned)__builtin_ctz(m & (m - 1)) : first;
  const uint32_t distance = v[second] - v[first];
  const bool unit = step && distance == (second - first) * step;
  if (!unit && distance != 0)
    return PATTERN_ANY;
  const uint32_t by = unit ? step : 0, start = v[first] - first * by;
  uint32_t differ = 0;
  FOR_LANES
  differ |= sm_choose(m, i, v[i] ^ (start + sm_lane_index[i] * by), 0);
  return differ ? PATTERN_ANY : unit ? PATTERN_UNIT : PATTERN_SAME;
}

/* Moves the elements of the lanes of m, which are a row at p, or all the element at p. Touches no
 * memory outside of the span's elements. A store of a span with gaps goes lane by lane, because
 * other work-items may write the elements in the gaps. */
static inline void load_some(struct sm_warp *w, const struct sm_uop *u, uint32_t m,
                             struct span span, enum pattern pattern, const uint8_t *p) {
  const enum size size = u->memory.size;
  const uint32_t bytes = size_bytes[size];
  struct sm_lanes row[4], t[4];
  if (pattern == PATTERN_SAME) {
    load_same(t, p, size);
  } else {
    memcpy((uint8_t *)row + span.first * bytes, p, span.count * bytes);
    load_row(t, (const uint8_t *)row, size);
  }
  for (unsigned k = 0; k < register_count(size); k++)
    sm_blend(REG(u->d + k * SM_REG_BYTES), t[k].l, m);
}
static inline void store_some(const struct sm_warp *w, const struct sm_uop *u, uint32_t m,
                              struct span span, uint8_t *p) {
  const enum size size = u->memory.size;
  const uint32_t bytes = size_bytes[size];
  struct sm_lanes row[4];
  if (span.is_whole) {
    store_row(REGS(u->s[1]), (uint8_t *)row, size);
    memcpy(p, (const uint8_t *)row + span.first * bytes, span.count * bytes);
    return;
  }
  FOR_MASK(i, m)
  scatter_lane(w, u->s[1], p + (i - span.first) * bytes, size, i);
}

/* Accesses memory lane by lane. Needed for generic addresses and for addresses in several
 * mappings. */
static inline const struct sm_uop *access_lanes(struct sm_warp *w, const struct sm_uop *u,
                                                uint32_t m, const struct addresses *a, bool generic,
                                                bool write) {
  const uint32_t bytes = size_bytes[u->memory.size];
  FOR_MASK(i, m) {
    struct place place = generic ? generic_place(w, u, i, a->l[i], bytes, write)
                                 : global_place(w, u, i, a->l[i], bytes, write);
    if (!place.p)
      return NULL;
    move_lane(w, u, i, place, write);
  }
  return DONE;
}

/* Accesses global memory at any addresses. */
static inline const struct sm_uop *access_any(struct sm_warp *w, const struct sm_uop *u, uint32_t m,
                                              bool write) {
  struct addresses a;
  struct sm_lanes at;
  const enum size size = u->memory.size;
  const uint32_t bytes = size_bytes[size];
  addresses_of(w, u, m, &a);
  if (UNLIKELY(address_bits(&a) & (bytes - 1)))
    return raise_misaligned(w, u, m, a.l, bytes, write);
  uint8_t *p = one_run(w, &a, bytes, write, at.l);
  if (UNLIKELY(!p))
    return access_lanes(w, u, m, &a, false, write);
  if (write)
    scatter_words(w, u->s[1], p, at.l, size, m);
  else
    gather_words(w, u->d, p, at.l, size, m);
  return DONE;
}

/* The highest low word of the first address of a row that has one high word. */
enum { ROW_END_BYTES = SM_LANES * 16 };
static inline bool ends_in_word(uint32_t lo) {
  return lo <= UINT32_MAX - ROW_END_BYTES;
}

/* Accesses global memory for a few lanes. Returns false, without effect, if the access may fault.
 */
enum { FEW_LANES = 4 };
static inline bool access_few(struct sm_warp *w, const struct sm_uop *u, uint32_t m,
                              const uint32_t *lo, const uint32_t *hi, bool write) {
  const uint64_t term = uniform_term(w, u);
  const uint32_t bytes = size_bytes[u->memory.size];
  struct place place[FEW_LANES];
  unsigned count = 0;
  FOR_MASK(i, m) {
    const uint64_t address = sem_pair(lo[i], hi[i]) + term;
    place[count] = (struct place){sm_global(w->cta, address, bytes, write), 4};
    if (UNLIKELY(!place[count++].p || address & (bytes - 1)))
      return false;
  }
  count = 0;
  FOR_MASK(i, m)
  move_lane(w, u, i, place[count++], write);
  return true;
}

/* Accesses global memory for the lanes of m. */
static inline const struct sm_uop *access_some(struct sm_warp *w, const struct sm_uop *u,
                                               uint32_t m, bool write) {
  const uint32_t *lo = REG(u->s[0]), *hi = REG(u->memory.narrow ? 0 : u->s[0] + SM_REG_BYTES);
  const enum size size = u->memory.size;
  const uint32_t bytes = size_bytes[size];
  if (__builtin_popcount(m) <= FEW_LANES)
    return access_few(w, u, m, lo, hi, write) ? DONE : access_any(w, u, m, write);
  const struct span span = span_of(m);
  const enum pattern pattern = pattern_of_some(lo, bytes, m);
  const uint64_t base = sem_pair(lo[span.first], hi[span.first]) + uniform_term(w, u);
  if (pattern != PATTERN_ANY && !(pattern == PATTERN_SAME && write) &&
      pattern_of_some(hi, 0, m) == PATTERN_SAME && ends_in_word(lo[span.first]) &&
      !(base & (bytes - 1))) {
    uint8_t *p =
        sm_global(w->cta, base, pattern == PATTERN_SAME ? bytes : span.count * bytes, write);
    if (LIKELY(p != NULL)) {
      if (write)
        store_some(w, u, m, span, p);
      else
        load_some(w, u, m, span, pattern, p);
      return DONE;
    }
  }
  struct sm_lanes low, high, at;
  sm_splat(low.l, lo[span.first]);
  sm_splat(high.l, hi[span.first]);
  sm_blend(low.l, lo, m);
  sm_blend(high.l, hi, m);
  uint8_t *p = near_run(w, u, low.l, high.l, bytes, write, at.l);
  if (UNLIKELY(!p))
    return access_any(w, u, m, write);
  if (write)
    scatter_words(w, u->s[1], p, at.l, size, m);
  else
    gather_words(w, u->d, p, at.l, size, m);
  return DONE;
}

/* Out of line, because most accesses are by all lanes. */
#define SOME(name, function, write)                                                                \
  static __attribute__((noinline)) const struct sm_uop *name(struct sm_warp *w,                    \
                                                             const struct sm_uop *u, uint32_t m) { \
    return function(w, u, m, write);                                                               \
  }
SOME(load_global_some, access_some, false)
SOME(store_global_some, access_some, true)

/* Loads whole words for all lanes, whose addresses have the high word hi, by halves. Returns false,
 * without effect, if the addresses are others or a load may fault. */
static inline bool load_halves(struct sm_warp *w, const struct sm_uop *u, const uint32_t *lo,
                               uint32_t hi, uint32_t bytes) {
  const uint64_t term = uniform_term(w, u);
  const uint8_t *p[2];
  uint32_t step[2];
  for (unsigned k = 0; k < 2; k++) {
    const uint32_t *v = lo + k * SM_HALF;
    const uint64_t base = sem_pair(v[0], hi) + term;
    if (!is_half_pattern(v, bytes == 4 ? 4 : 0, &step[k]) || !ends_in_word(v[0]) ||
        base & (bytes - 1))
      return false;
    p[k] = sm_global(w->cta, base, step[k] ? SM_HALF * 4 : bytes, false);
    if (UNLIKELY(!p[k]))
      return false;
  }
  for (unsigned k = 0; k < 2; k++)
    load_half(w, u->d + k * SM_REG_BYTES / 2, p[k], step[k] != 0, bytes);
  return true;
}

/* Reads ahead of a row: the next work-groups often access the next rows. An address that is not
 * mapped does not matter. */
static inline void prefetch_rows(const uint8_t *p) {
  enum { AHEAD = 2048, LINE = 64 };
  const uintptr_t at = (uintptr_t)p + AHEAD;
  __builtin_prefetch((const void *)at);
  __builtin_prefetch((const void *)(at + LINE));
}

/* Returns the place of the row that all lanes access, or NULL if there is none or if the access may
 * fault. */
static inline uint8_t *global_row(struct sm_warp *w, const struct sm_uop *u, const uint32_t *lo,
                                  const uint32_t *hi, uint32_t bytes, bool write) {
  if (lo[SM_LANES - 1] - lo[0] != (SM_LANES - 1) * bytes || !sm_is_pair_row(lo, hi, bytes))
    return NULL;
  const uint64_t base = sem_pair(lo[0], hi[0]) + uniform_term(w, u);
  if (UNLIKELY(!ends_in_word(lo[0]) || base & (bytes - 1)))
    return NULL;
  uint8_t *const p = sm_global(w->cta, base, SM_LANES * bytes, write);
  prefetch_rows(p);
  return p;
}

/* Loads for all lanes from any addresses. */
static __attribute__((noinline)) const struct sm_uop *gather_global(struct sm_warp *w,
                                                                    const struct sm_uop *u) {
  const enum size size = u->memory.size;
  const uint32_t bytes = size_bytes[size];
  struct sm_lanes at;
  const uint8_t *p = near_run(w, u, REG(u->s[0]), REG(u->s[0] + SM_REG_BYTES), bytes, false, at.l);
  if (UNLIKELY(!p))
    return access_any(w, u, SM_ALL_LANES, false);
  gather_words(w, u->d, p, at.l, size, SM_ALL_LANES);
  return DONE;
}

/* Loads for all lanes after global_row has found no row. Each part is out of line, so that those
 * before it save fewer registers of the host. */
static __attribute__((noinline)) const struct sm_uop *load_global_all(struct sm_warp *w,
                                                                      const struct sm_uop *u) {
  const enum size size = u->memory.size;
  const uint32_t bytes = size_bytes[size];
  const uint32_t *lo = REG(u->s[0]), *hi = REG(u->s[0] + SM_REG_BYTES);
  if (UNLIKELY(!sm_is_uniform(hi)))
    return gather_global(w, u);
  if (lo[0] == lo[SM_LANES - 1] && sm_is_uniform(lo)) {
    const uint64_t base = sem_pair(lo[0], hi[0]) + uniform_term(w, u);
    const uint8_t *p = base & (bytes - 1) ? NULL : sm_global(w->cta, base, bytes, false);
    if (UNLIKELY(!p))
      return gather_global(w, u);
    load_same(REGS(u->d), p, size);
    return DONE;
  }
  /* Most elements are words: the constant makes their code shorter. */
  const bool done = size == SIZE_32 ? load_halves(w, u, lo, hi[0], 4)
                                    : size > SIZE_32 && load_halves(w, u, lo, hi[0], bytes);
  return done ? DONE : gather_global(w, u);
}

EACH_WARP(ld_global) {
  if (UNLIKELY(m != SM_ALL_LANES || u->memory.narrow))
    return load_global_some(w, u, m);
  const enum size size = u->memory.size;
  const uint32_t *lo = REG(u->s[0]), *hi = REG(u->s[0] + SM_REG_BYTES);
  const uint8_t *p = global_row(w, u, lo, hi, size_bytes[size], false);
  if (!p)
    return load_global_all(w, u);
  load_row(REGS(u->d), p, size);
  return DONE;
}

EACH_WARP(st_global) {
  if (UNLIKELY(m != SM_ALL_LANES || u->memory.narrow))
    return store_global_some(w, u, m);
  const enum size size = u->memory.size;
  const uint32_t bytes = size_bytes[size];
  const uint32_t *lo = REG(u->s[0]), *hi = REG(u->s[0] + SM_REG_BYTES);
  struct sm_lanes at;
  uint8_t *p = global_row(w, u, lo, hi, bytes, true);
  if (LIKELY(p != NULL)) {
    store_row(REGS(u->s[1]), p, size);
    return DONE;
  }
  p = near_run(w, u, lo, hi, bytes, true, at.l);
  if (UNLIKELY(!p))
    return access_any(w, u, m, true);
  scatter_words(w, u->s[1], p, at.l, size, m);
  return DONE;
}

/* Returns whether any address is in the shared or local window. */
static inline bool any_in_windows(const struct sm_warp *w, const struct addresses *a) {
  const uint64_t s = w->cta->grid->shared_window, l = w->cta->grid->local_window;
  uint64_t any = 0;
  FOR_LANES
  any |= (a->l[i] - s < SM_WINDOW_BYTES) | (a->l[i] - l < SM_WINDOW_BYTES);
  return any;
}

static inline const struct sm_uop *access_generic(struct sm_warp *w, const struct sm_uop *u,
                                                  uint32_t m, bool write) {
  struct addresses a;
  addresses_of(w, u, m, &a);
  if (!any_in_windows(w, &a))
    return write ? SM_WARP_NAME(st_global)(w, u, m) : SM_WARP_NAME(ld_global)(w, u, m);
  const uint32_t bytes = size_bytes[u->memory.size];
  if (UNLIKELY(address_bits(&a) & (bytes - 1)))
    return raise_misaligned(w, u, m, a.l, bytes, write);
  return access_lanes(w, u, m, &a, true, write);
}

EACH_WARP(ld_generic) {
  return access_generic(w, u, m, false);
}
EACH_WARP(st_generic) {
  return access_generic(w, u, m, true);
}

/* --- shared and local ------------------------------------------------------ */

static inline uint32_t address32(const struct sm_warp *w, const struct sm_uop *u, uint32_t value) {
  return (value << u->memory.scale) + REG(u->memory.uniform)[0] + (uint32_t)u->memory.offset;
}

/* Returns the place of an access to shared memory, or NULL if it is out of range or misaligned. */
static inline uint8_t *shared_place(const struct sm_warp *w, uint32_t at, uint32_t bytes,
                                    uint32_t alignment) {
  return (uint64_t)at + bytes <= w->shared_bytes && !(at & (alignment - 1)) ? w->shared + at : NULL;
}

/* Returns the difference of the address registers of neighbouring lanes that access consecutive
 * elements of shared memory, or 0 if there is none. */
static inline uint32_t register_step(const struct sm_uop *u, uint32_t bytes) {
  const uint32_t step = bytes >> u->memory.scale;
  return step << u->memory.scale == bytes ? step : 0;
}

/* Finds the place p[k] that half k of a warp accesses: the start of a row, or, if step[k] is 0, the
 * element of all its lanes. unit is the difference of registers in a row, or 0 to find no rows.
 * Returns false if the addresses are others or if the access may fault. */
static inline bool shared_halves(const struct sm_warp *w, const struct sm_uop *u, uint32_t unit,
                                 uint32_t bytes, uint8_t **p, uint32_t *step) {
  const uint32_t *a = REG(u->s[0]);
  for (unsigned k = 0; k < 2; k++, a += SM_HALF) {
    if (!is_half_pattern(a, unit, &step[k]))
      return false;
    p[k] = shared_place(w, address32(w, u, a[0]), step[k] ? SM_HALF * bytes : bytes, bytes);
    if (UNLIKELY(!p[k]))
      return false;
  }
  return true;
}

/* Returns the place of the row that all lanes access, or NULL. */
static inline uint8_t *shared_row(const struct sm_warp *w, const struct sm_uop *u, uint32_t bytes) {
  const uint32_t *a = REG(u->s[0]), step = register_step(u, bytes);
  return step && a[SM_HALF] - a[0] == step * SM_HALF && sm_is_row(a, step) &&
                 sm_is_row(a + SM_HALF, step)
             ? shared_place(w, address32(w, u, a[0]), SM_LANES * bytes, bytes)
             : NULL;
}

/* Returns whether all lanes of one half of a warp execute, and no others. */
static inline bool is_half_mask(uint32_t m) {
  return m == UINT16_MAX || m == (uint32_t)UINT16_MAX << SM_HALF;
}

/* Accesses a word of shared memory for each lane of one half of a warp. Returns false, without
 * effect, if the access may fault. */
static inline bool access_shared_half(struct sm_warp *w, const struct sm_uop *u, unsigned half,
                                      bool write) {
  enum { BYTES = 4 };
  const uint32_t *a = REG(u->s[0]) + half * SM_HALF;
  uint32_t *r = REG(write ? u->s[1] : u->d) + half * SM_HALF;
  uint32_t step, max = 0, bits = 0;
  struct sm_lanes at;
  if (is_half_pattern(a, register_step(u, BYTES), &step) && (step || !write)) {
    uint8_t *p = shared_place(w, address32(w, u, a[0]), step ? SM_HALF * BYTES : BYTES, BYTES);
    if (p && write)
      memcpy(p, r, SM_HALF * BYTES);
    else if (p)
      load_half(w, u->d + half * SM_REG_BYTES / 2, p, step != 0, BYTES);
    return p != NULL;
  }
  const uint32_t term = address32(w, u, 0), shift = u->memory.scale;
  FOR_HALF {
    const uint32_t v = (a[i] << shift) + term;
    at.l[i] = v;
    max = v > max ? v : max;
    bits |= v;
  }
  if ((uint64_t)max + BYTES > w->shared_bytes || bits & (BYTES - 1))
    return false;
  if (write)
    for (unsigned i = 0; i < SM_HALF; i++)
      store_word(w->shared + at.l[i], r[i], SIZE_32);
  else
    gather_16(r, w->shared, at.l);
  return true;
}

/* Loads for the lanes of m. Out of line, like load_global_all. */
static __attribute__((noinline)) const struct sm_uop *
load_shared_any(struct sm_warp *w, const struct sm_uop *u, uint32_t m) {
  const enum size size = u->memory.size;
  const uint32_t bytes = size_bytes[size];
  struct sm_lanes at;
  uint8_t *p[2];
  uint32_t step[2];
  if (is_half_mask(m) && size == SIZE_32 && access_shared_half(w, u, m >> 31, false))
    return DONE;
  if (m == SM_ALL_LANES && size != SIZE_32) {
    const uint8_t *row = shared_row(w, u, bytes);
    if (row) {
      load_row(REGS(u->d), row, size);
      return DONE;
    }
    if (shared_halves(w, u, 0, bytes, p, step) && (size > SIZE_32 || p[0] == p[1])) {
      if (p[0] == p[1]) {
        load_same(REGS(u->d), p[0], size);
        return DONE;
      }
      for (unsigned k = 0; k < 2; k++)
        load_half(w, u->d + k * SM_REG_BYTES / 2, p[k], false, bytes);
      return DONE;
    }
  }
  if (!shared_addresses(w, u, m, bytes, false, at.l))
    return NULL;
  gather_words(w, u->d, w->shared, at.l, size, m);
  return DONE;
}

EACH_WARP(ld_shared) {
  enum { BYTES = 4 };
  uint8_t *p[2];
  uint32_t step[2];
  if (UNLIKELY(m != SM_ALL_LANES || u->memory.size != SIZE_32 ||
               !shared_halves(w, u, register_step(u, BYTES), BYTES, p, step)))
    return load_shared_any(w, u, m);
  for (unsigned k = 0; k < 2; k++)
    load_half(w, u->d + k * SM_REG_BYTES / 2, p[k], step[k] != 0, BYTES);
  return DONE;
}

/* Stores for the lanes of m after shared_row has found no row. */
static __attribute__((noinline)) const struct sm_uop *
store_shared_any(struct sm_warp *w, const struct sm_uop *u, uint32_t m) {
  const enum size size = u->memory.size;
  struct sm_lanes at;
  if (is_half_mask(m) && size == SIZE_32 && access_shared_half(w, u, m >> 31, true))
    return DONE;
  if (!shared_addresses(w, u, m, size_bytes[size], true, at.l))
    return NULL;
  scatter_words(w, u->s[1], w->shared, at.l, size, m);
  return DONE;
}

EACH_WARP(st_shared) {
  const enum size size = u->memory.size;
  uint8_t *p = m == SM_ALL_LANES ? shared_row(w, u, size_bytes[size]) : NULL;
  if (!p)
    return store_shared_any(w, u, m);
  store_row(REGS(u->s[1]), p, size);
  return DONE;
}

/* Accesses one offset in local memory for all lanes, by copying whole registers: words of local
 * memory are interleaved over the lanes. Returns false, without effect, if the offsets differ or if
 * the access may fault. */
static inline __attribute__((always_inline)) bool local_rows(struct sm_warp *w,
                                                             const struct sm_uop *u, bool write) {
  const uint32_t *a = REG(u->s[0]), bytes = size_bytes[u->memory.size];
  const uint32_t at = address32(w, u, a[0]);
  if (u->memory.size < SIZE_32 || at & (bytes - 1) || !sm_is_uniform(a))
    return false;
  uint8_t *p = local_place(w, at, bytes, 0);
  if (UNLIKELY(!p))
    return false;
  for (unsigned k = 0; k < bytes / 4; k++) {
    if (write)
      memcpy(p + k * SM_REG_BYTES, REG(u->s[1] + k * SM_REG_BYTES), SM_REG_BYTES);
    else
      memcpy(REG(u->d + k * SM_REG_BYTES), p + k * SM_REG_BYTES, SM_REG_BYTES);
  }
  return true;
}

/* Accesses local memory, whose offsets wrap at the 24 bits of the window. */
static inline const struct sm_uop *local_access(struct sm_warp *w, const struct sm_uop *u,
                                                uint32_t m, bool write) {
  struct sm_lanes at;
  uint32_t high, bits;
  const uint32_t bytes = size_bytes[u->memory.size];
  addresses32(w, u, m, at.l, &high, &bits);
  if (UNLIKELY(bits & (bytes - 1))) {
    FOR_MASK(i, m)
    if (at.l[i] & (bytes - 1))
      return sm_raise(w, u, SM_FAULT_MISALIGNED, i, at.l[i], bytes, write);
  }
  FOR_MASK(i, m) {
    const struct place place = {local_place(w, at.l[i], bytes, i), SM_REG_BYTES};
    if (!place.p)
      return sm_raise(w, u, SM_FAULT_LOCAL_RANGE, i, at.l[i], bytes, write);
    move_lane(w, u, i, place, write);
  }
  return DONE;
}

SOME(load_local, local_access, false)
SOME(store_local, local_access, true)

EACH_WARP(ld_local) {
  return m == SM_ALL_LANES && local_rows(w, u, false) ? DONE : load_local(w, u, m);
}
EACH_WARP(st_local) {
  return m == SM_ALL_LANES && local_rows(w, u, true) ? DONE : store_local(w, u, m);
}

/* --- constants -------------------------------------------------------------- */

/* Returns a value from a constant bank, or 0 if it is not within the bank. */
static inline uint32_t bank_value(const struct sm_warp *w, unsigned bank, uint64_t offset,
                                  enum size size) {
  if (offset + size_bytes[size] > w->bank[bank].size)
    return 0;
  return load_word(w->bank[bank].data + offset, size);
}

/* LDC and ULDC. s[0] and ldc.uniform are the index registers. PTX leaves misaligned addresses
 * undefined in all spaces; they fault here. */
static __attribute__((noinline)) const struct sm_uop *
load_constant_any(struct sm_warp *w, const struct sm_uop *u, uint32_t m) {
  const enum size size = u->ldc.size;
  const enum size part = size <= SIZE_32 ? size : SIZE_32;
  const unsigned words = size == SIZE_64 ? 2 : 1;
  const uint32_t term = REG(u->ldc.uniform)[0] + (uint32_t)u->ldc.offset;
  struct sm_lanes t[2];
  const uint32_t *index = REG(u->s[0]);
  const uint32_t bytes = size_bytes[size];
  uint32_t wrong = term & (bytes - 1) ? m : 0;
  if (u->s[0] != 0) {
    wrong = 0;
    FOR_LANES
    wrong |= (index[i] + term) & (bytes - 1) ? m & sm_lane_bit[i] : 0;
  }
  if (UNLIKELY(wrong)) {
    const unsigned lane = (unsigned)__builtin_ctz(wrong);
    return sm_raise(w, u, SM_FAULT_MISALIGNED, lane, index[lane] + term, bytes, false);
  }
  if (u->s[0] == 0 || sm_is_uniform(index)) {
    const uint32_t at = index[0] + term;
    for (unsigned k = 0; k < words; k++)
      sm_splat(t[k].l, bank_value(w, u->ldc.bank, (uint64_t)at + 4 * k, part));
  } else {
    for (unsigned k = 0; k < words; k++)
      for (unsigned i = 0; i < SM_LANES; i++)
        t[k].l[i] = bank_value(w, u->ldc.bank, (uint64_t)(uint32_t)(index[i] + term) + 4 * k, part);
  }
  for (unsigned k = 0; k < words; k++)
    sm_blend(REG(u->d + k * SM_REG_BYTES), t[k].l, m);
  return DONE;
}

EACH_WARP(ldc) {
  const enum size size = u->ldc.size, part = size <= SIZE_32 ? size : SIZE_32;
  const uint32_t *index = REG(u->s[0]);
  const uint32_t at = index[0] + REG(u->ldc.uniform)[0] + (uint32_t)u->ldc.offset;
  if (UNLIKELY(m != SM_ALL_LANES || at & (size_bytes[size] - 1u) || !sm_is_uniform(index)))
    return load_constant_any(w, u, m);
  for (unsigned k = 0; k < (size == SIZE_64 ? 2 : 1); k++)
    sm_splat(REG(u->d + k * SM_REG_BYTES), bank_value(w, u->ldc.bank, (uint64_t)at + 4 * k, part));
  return DONE;
}
