/* Check mode: reads of bytes of private and global memory that were never written, accesses to
 * memory that kernels may not read or may not write, and pointers outside their buffer. Runs for
 * the lanes of each memory instruction before it is executed. */
#include <inttypes.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#include "emulator/sm/check/watch.h"

/* --- private memory --------------------------------------------------------------- */

/* Replaces an address in the window of private memory by the offset in a work-item's part of it.
 * Returns false if there is no memory. */
static bool find_local(const struct sm_warp *w, uint64_t *at, uint32_t bytes) {
  const struct sm_grid *grid = w->cta->grid;
  if (*at < SM_WINDOW_BYTES - grid->local_high || *at + bytes > SM_WINDOW_BYTES)
    return *at + bytes <= grid->local_low;
  *at = w->local_high_at + (*at - (SM_WINDOW_BYTES - w->local_high));
  return true;
}

/* Returns true if the access reads an undefined value. */
static bool local_access(struct sm_access *a) {
  const struct sm_warp *w = a->w;
  const uint32_t bytes = a->bytes;
  uint64_t at = a->at;
  bool undefined = false;
  if (!find_local(w, &at, bytes))
    return false; /* it will fault */
  const size_t warp = (size_t)(w->local - w->cta->local) / 4;
  uint64_t origin = sm_pc_of(w, a->u) | SM_CAUSE_LOCAL;
  for (uint32_t done = 0; done < bytes;) {
    const struct sm_part p = sm_part_of(at, bytes, done);
    const size_t word = warp + (at + done) / 4 * SM_LANES + a->lane;
    uint8_t *defined = &w->cta->shadow->local_defined[word];
    /* One written byte is enough: compilers spill half a word and load the whole word. */
    const bool found = !(*defined & p.mask);
    uint64_t *of_word = &w->cta->shadow->local_origin[word];
    if (!(*defined & SM_LOCAL_ORIGIN))
      *of_word = 0;
    sm_note_origin(of_word, a, found, &origin);
    undefined |= found;
    if (a->is_write)
      *defined =
          (uint8_t)(a->undefined ? (*defined & ~p.mask) | SM_LOCAL_ORIGIN : *defined | p.mask);
    done += p.count;
  }
  a->origin = origin;
  return undefined && a->note->access != SM_ACCESS_STORE;
}

enum { ALL_BYTES = (1 << SM_CELL_BYTES) - 1 };

/* Returns whether some words of private memory have a written byte in each lane. */
static bool are_words_written(const uint8_t *defined, unsigned words) {
  const uint64_t all = UINT64_MAX / UINT8_MAX * ALL_BYTES;
  uint64_t missing = 0;
  for (unsigned k = 0; k < words * SM_LANES; k += sizeof missing) {
    uint64_t some;
    memcpy(&some, defined + k, sizeof some);
    missing |= some ^ all;
  }
  for (unsigned k = 0; missing && k < words * SM_LANES; k++)
    if (!(defined[k] & ALL_BYTES))
      return false;
  return true;
}

uint32_t sm_local_rows(const struct sm_memory_check *c, struct sm_warp *w, uint32_t warps) {
  const struct sm_uop *u = c->u;
  const uint32_t bytes = c->note->bytes, words = bytes / SM_CELL_BYTES;
  const bool is_store = c->note->access == SM_ACCESS_STORE;
  if (!words || c->note->access == SM_ACCESS_ATOMIC)
    return 0;
  for (uint32_t k = 0; k < warps; k++, w = sm_warp_after(w, 1)) {
    const uint32_t *a = sm_file_at(w, u->s[0]);
    uint64_t at = (uint32_t)((a[0] << u->memory.scale) + sm_file_at(w, u->memory.uniform)[0] +
                             (uint32_t)u->memory.offset);
    if (at % SM_CELL_BYTES || !sm_is_uniform(a) || !find_local(w, &at, bytes))
      return k;
    uint8_t *defined = w->cta->shadow->local_defined + (w->local - w->cta->local) / SM_CELL_BYTES +
                       at / SM_CELL_BYTES * SM_LANES;
    if (is_store)
      memset(defined, ALL_BYTES, words * (size_t)SM_LANES);
    else if (!are_words_written(defined, words))
      return k;
  }
  return warps;
}

/* Checks the shared addresses to which LDGSTS copies. */
static void copy_access(struct sm_access a, uint32_t m, uint32_t undefined, uint64_t origin) {
  const uint32_t *to = sm_file_at(a.w, a.u->s[1]);
  const uint32_t term = sm_file_at(a.w, a.u->s[2])[0] + (uint32_t)a.u->ldgsts.shared_offset;
  a.is_write = true;
  a.bytes = a.note->bytes;
  FOR_MASK(i, m) {
    a.lane = i;
    a.at = to[i] + term;
    a.origin = origin;
    a.undefined = undefined >> i & 1;
    sm_shared_access(&a);
  }
}

/* --- global memory ------------------------------------------------------------------ */

/* All CTAs share the cells of global memory. A lock protects the cells of one KiB in every LOCKS.
 * They are held for some tens of nanoseconds, and a mutex would take as long. */
enum { LOCKS = 256, LOCKED_SHIFT = 10 };
struct sm_cell_lock {
  _Alignas(64) atomic_bool is_held; /* each has a cache line */
};
static struct sm_cell_lock locks[LOCKS];

void sm_check_forked(void) {
  for (int i = 0; i < LOCKS; i++)
    atomic_store(&locks[i].is_held, false);
}

static struct sm_cell_lock *lock_of(uint64_t address) {
  return &locks[(address >> LOCKED_SHIFT) % LOCKS];
}

static void release(struct sm_cell_lock *lock) {
  atomic_store_explicit(&lock->is_held, false, memory_order_release);
}

static void acquire(struct sm_cell_lock *lock) {
  enum { TRIES = 500 }; /* its holder usually runs on another core */
  while (atomic_exchange_explicit(&lock->is_held, true, memory_order_acquire))
    for (unsigned k = 0; atomic_load_explicit(&lock->is_held, memory_order_relaxed); k++)
      if (k >= TRIES)
        sched_yield();
}

static bool is_inside(const struct sm_range *r, uint64_t address, uint32_t bytes) {
  const uint64_t at = address - r->gpu;
  return at < r->size && bytes <= r->size - at;
}

/* Returns the memory range that contains an access, or NULL if there is none and the access will
 * fault. */
static const struct sm_range *range_of(struct sm_cta *cta, uint64_t address, uint32_t bytes) {
  struct sm_shadow *s = cta->shadow;
  const struct sm_memory *memory = &cta->grid->memory;
  for (unsigned k = 0; k < SM_CHECK_RANGES; k++)
    if (is_inside(&s->range[k], address, bytes))
      return &s->range[k];
  struct sm_range *r = &s->range[s->range_turn++ % SM_CHECK_RANGES];
  r->size = 0;
  return memory->find(memory->space, address, r) && is_inside(r, address, bytes) ? r : NULL;
}

static void check_rights(const struct sm_access *a, const struct sm_memory_shadow *shadow) {
  const bool bad_write = shadow->read_only && a->is_write;
  if (bad_write || (shadow->write_only && a->note->access != SM_ACCESS_STORE))
    sm_report(a->w, sm_pc_of(a->w, a->u), SM_REPORT_ACCESS, a->lane,
              &(struct sm_about){.address = a->at, .bytes = a->bytes, .is_write = bad_write},
              bad_write
                  ? "write of %u bytes at 0x%" PRIx64 " in a buffer that kernels may only read"
                  : "read of %u bytes at 0x%" PRIx64 " in a buffer that kernels may only write",
              a->bytes, a->at);
}

static void check_bounds(const struct sm_access *a) {
  const struct sm_parameter *p = a->one_pointer ? a->pointer : sm_pointer_of(a->w, a->u, a->lane);
  const uint32_t bytes = a->bytes;
  if (!p || is_inside(&p->range, a->at, bytes))
    return;
  sm_report(
      a->w, sm_pc_of(a->w, a->u), SM_REPORT_BOUNDS, a->lane,
      &(struct sm_about){.address = a->at, .bytes = bytes, .is_write = a->is_write, .parameter = p},
      "%s of %u bytes at 0x%" PRIx64 ", outside of the buffer that the pointer belongs to",
      a->is_write ? "write" : "read", bytes, a->at);
}

/* Returns true if the access reads a byte that was never written. The caller holds the lock of the
 * address. */
static bool global_words(struct sm_access *a, const struct sm_range *r) {
  const uint64_t offset = a->at - r->gpu;
  const uint32_t bytes = a->bytes;
  uint8_t *written = __atomic_load_n(&r->shadow->written, __ATOMIC_ACQUIRE);
  bool found = false;
  a->memory = r->host + offset;
  a->defined = written ? written + offset : NULL;
  if (r->shadow->rows) {
    if (sm_row_is_free(a, r->shadow, offset))
      return false;
    sm_row_split(r->shadow, offset);
  }
  for (uint32_t done = 0; r->shadow->cells && done < bytes;) {
    const struct sm_part p = sm_part_of(a->at, bytes, done);
    sm_check_race(a, &r->shadow->cells[(offset + done) / SM_CELL_BYTES], &p);
    done += p.count;
  }
  if (!written || sm_are_written(written + offset, bytes))
    return false;
  for (uint32_t k = 0; k < bytes; k++) {
    found |= !__atomic_load_n(&written[offset + k], __ATOMIC_RELAXED);
    if (a->is_write)
      __atomic_store_n(&written[offset + k], 1, __ATOMIC_RELAXED);
  }
  return found && a->note->access != SM_ACCESS_STORE;
}

/* Holds the lock of an address, and no other one. */
static void hold_lock_of(uint64_t address, struct sm_cell_lock **held) {
  struct sm_cell_lock *lock = lock_of(address);
  if (lock == *held)
    return;
  if (*held)
    release(*held);
  acquire(lock);
  *held = lock;
}

static bool global_access(struct sm_access *a, struct sm_cell_lock **held) {
  const struct sm_range *r = a->one_pointer && a->pointer ? &a->pointer->range : NULL;
  const bool in_buffer = r && r->shadow && is_inside(r, a->at, a->bytes);
  if (!in_buffer)
    r = range_of(a->w->cta, a->at, a->bytes);
  if (!r || !r->shadow || a->at & (a->note->bytes - 1))
    return false; /* it will fault, or its memory has no records */
  check_rights(a, r->shadow);
  if (!in_buffer && !a->texel)
    check_bounds(a);
  hold_lock_of(a->at, held);
  a->global = true;
  const bool undefined = global_words(a, r);
  a->global = false;
  return undefined;
}

bool sm_check_texel(struct sm_warp *w, const struct sm_uop *u, uint32_t lane,
                    const struct sm_texel *texel) {
  struct sm_note note = *sm_note_of(w, u);
  const uint32_t bytes = texel->bytes & (texel->bytes - 1) ? sizeof(uint32_t) : texel->bytes;
  struct sm_cell_lock *held = NULL;
  bool undefined = false;
  note.space = SM_SPACE_GLOBAL;
  note.access = (uint8_t)texel->access;
  w->cta->shadow->has_stored |= texel->access != SM_ACCESS_LOAD;
  note.bytes = (uint8_t)bytes;
  for (uint32_t done = 0; done < texel->bytes; done += bytes) {
    struct sm_access a = {.w = w,
                          .u = u,
                          .note = &note,
                          .lane = lane,
                          .at = texel->address + done,
                          .bytes = bytes,
                          .stored = texel->stored ? texel->stored + done : NULL,
                          .is_write = texel->access != SM_ACCESS_LOAD,
                          .strong = texel->access == SM_ACCESS_ATOMIC,
                          .by_units = texel->by_units,
                          .texel = true,
                          .touch = sm_touch_by(w, u, &note, texel->access == SM_ACCESS_ATOMIC)};
    undefined |= global_access(&a, &held);
  }
  if (held)
    release(held);
  return undefined;
}

void sm_check_undefined(struct sm_warp *w, const struct sm_uop *u, uint32_t lanes) {
  const struct sm_note *note = sm_note_of(w, u);
  if (lanes)
    sm_records_separate(w, 1);
  struct sm_records *r = w->records;
  for (unsigned k = 0; lanes && k < note->write_count; k++)
    for (unsigned word = 0; word < note->write[k].count; word++) {
      r->undefined[note->write[k].slot + word] |= lanes;
      r->state[note->write[k].slot + word] |= SM_PLACE_UNDEFINED;
      r->origin[note->write[k].slot + word] = sm_pc_of(w, u) | SM_CAUSE_GLOBAL;
    }
}

/* --- an instruction ------------------------------------------------------------------ */

static enum sm_space space_of(struct sm_access *a) {
  const struct sm_grid *grid = a->w->cta->grid;
  if (a->note->space == SM_SPACE_COPY)
    return SM_SPACE_GLOBAL;
  if (a->note->space != SM_SPACE_GENERIC && a->note->space != SM_SPACE_GLOBAL)
    return a->note->space;
  if (a->at - grid->shared_window < SM_WINDOW_BYTES) {
    a->at -= grid->shared_window;
    return SM_SPACE_SHARED;
  }
  if (a->at - grid->local_window < SM_WINDOW_BYTES) {
    a->at -= grid->local_window;
    return SM_SPACE_LOCAL;
  }
  return SM_SPACE_GLOBAL;
}

/* Returns whether the records of a range have rows, and the access is allowed there. */
static bool has_rows(const struct sm_access *a, const struct sm_range *r) {
  return r->shadow && r->shadow->rows && !(a->is_write && r->shadow->read_only) &&
         !(a->note->access != SM_ACCESS_STORE && r->shadow->write_only);
}

/* Returns whether the addresses of lanes follow each other. */
static bool is_row(const uint64_t *address, unsigned lanes, uint32_t bytes) {
  for (unsigned i = 1; i < lanes; i++)
    if (address[i] - address[i - 1] != bytes)
      return false;
  return true;
}

/* Returns the memory of an access whose lanes have one pointer, or NULL if each of them has to be
 * checked. */
static inline const struct sm_range *range_of_lanes(const struct sm_access *a, uint32_t bytes) {
  const struct sm_range *r = a->rows;
  if (r)
    return is_inside(r, a->at, bytes) ? r : NULL;
  if (!a->one_pointer || (a->pointer && !is_inside(&a->pointer->range, a->at, bytes)))
    return NULL;
  r = range_of(a->w->cta, a->at, bytes);
  return r && has_rows(a, r) ? r : NULL;
}

/* Returns whether a read needs no check, by the stamps of its rows. */
static inline bool are_stamped(const struct sm_access *a, const struct sm_memory_shadow *shadow,
                               uint64_t offset, uint32_t bytes) {
  const uint64_t stamp = sm_stamp_of(a);
  for (uint64_t at = offset - offset % SM_ROW_BYTES; at < offset + bytes; at += SM_ROW_BYTES)
    if (sm_row_stamp(shadow, at) != stamp)
      return false;
  return true;
}

/* Checks the accesses of a->lane and the lanes after it to rows of global memory, which have one
 * lock. Returns the number of rows before the first of which each lane has to be checked. */
static uint32_t check_some_rows(struct sm_access *a, struct sm_cell_lock **held, uint32_t rows,
                                uint32_t *undefined) {
  const struct sm_range *r = range_of_lanes(a, rows * SM_ROW_BYTES);
  if (!r || (a->at - r->gpu) % SM_ROW_BYTES)
    return 0;
  const uint64_t offset = a->at - r->gpu;
  const uint32_t lane = a->lane;
  if (!a->is_write && are_stamped(a, r->shadow, offset, rows * SM_ROW_BYTES))
    return rows;
  hold_lock_of(a->at, held);
  a->memory = r->host + offset;
  a->global = true;
  rows = sm_row_access(a, r->shadow, offset, rows, undefined);
  a->global = false;
  a->lane = lane;
  return rows;
}

/* Checks one row. Returns false if each of its lanes has to be checked. */
static bool check_row(struct sm_access *a, struct sm_cell_lock **held, uint32_t *undefined) {
  return check_some_rows(a, held, 1, undefined);
}

/* Checks that several lanes, from a->lane on, read the same words of global memory. Returns false
 * if each of them has to be checked. */
static bool check_same(struct sm_access *a, struct sm_cell_lock **held, bool *undefined) {
  const struct sm_range *r = range_of_lanes(a, a->bytes);
  if (a->is_write || a->strong || !r || a->at & (a->bytes - 1))
    return false;
  if (are_stamped(a, r->shadow, a->at - r->gpu, a->bytes))
    return true;
  hold_lock_of(a->at, held);
  a->global = true;
  const bool done = sm_row_read_same(a, r->shadow, a->at - r->gpu, undefined);
  a->global = false;
  return done;
}

/* Returns the number of lanes that access a row, or 0 if there are no rows to look for. */
static unsigned lanes_of_row(const struct sm_note *note) {
  return (note->space == SM_SPACE_GLOBAL || note->space == SM_SPACE_GENERIC) &&
                 (note->access == SM_ACCESS_LOAD || note->access == SM_ACCESS_STORE) &&
                 note->bytes >= SM_CELL_BYTES
             ? SM_ROW_BYTES / note->bytes
             : 0;
}

static bool reads_parts(const struct sm_note *note) {
  return (note->space == SM_SPACE_GLOBAL || note->space == SM_SPACE_GENERIC) &&
         note->access == SM_ACCESS_LOAD && note->bytes < SM_CELL_BYTES;
}

static void use_addresses(const struct sm_access *a, struct sm_memory_check *c) {
  if (c->has_addresses)
    return;
  if (a->note->space == SM_SPACE_SHARED || a->note->space == SM_SPACE_LOCAL)
    sm_addresses_32(a->w, a->u, c->address);
  else
    sm_addresses(a->w, a->u, c->address);
  c->has_addresses = true;
}

/* Checks the lanes of m one by one. Returns those that read an undefined value. */
static uint32_t check_lanes(struct sm_access *a, struct sm_memory_check *c, uint32_t m) {
  const struct sm_note *note = a->note;
  uint32_t undefined = 0;
  c->is_clean = false;
  FOR_MASK(i, m) {
    bool found = false;
    a->lane = i;
    a->at = c->address[i];
    a->bytes = note->bytes;
    a->origin = c->stored;
    const enum sm_space space = space_of(a);
    a->undefined = space != SM_SPACE_GLOBAL && c->data >> i & 1;
    if (note->space == SM_SPACE_COPY && a->u->ldgsts.zfill) {
      const uint32_t zeros = a->at & (note->bytes - 1u);
      a->at -= zeros;
      a->bytes -= zeros;
    }
    if (space == SM_SPACE_GLOBAL)
      found = global_access(a, &c->held);
    else if (space == SM_SPACE_SHARED)
      found = sm_shared_access(a);
    else
      found = local_access(a);
    if (!found)
      continue;
    undefined |= 1u << i;
    *c->origin = space == SM_SPACE_GLOBAL ? sm_pc_of(a->w, a->u) | SM_CAUSE_GLOBAL : a->origin;
  }
  return undefined;
}

static uint32_t lowest(uint32_t m) {
  return m & (0u - m);
}

/* Returns whether all lanes of m read the same global memory through the same pointer. Checking the
 * first one has the results of checking all, because the record has it and by_several. Only if it
 * is the work-item that wrote the memory, the next one has to be checked as well. */
static bool is_one_address(const struct sm_access *a, const uint64_t *address, uint32_t m) {
  if (a->note->access != SM_ACCESS_LOAD || !m || !a->one_pointer ||
      (a->note->space != SM_SPACE_GLOBAL && a->note->space != SM_SPACE_GENERIC))
    return false;
  const struct sm_grid *grid = a->w->cta->grid;
  const uint64_t first = address[__builtin_ctz(m)];
  if (first - grid->shared_window < SM_WINDOW_BYTES || first - grid->local_window < SM_WINDOW_BYTES)
    return false;
  FOR_MASK(i, m)
  if (address[i] != first)
    return false;
  return true;
}

/* Checks the lanes of m: one or two of them if all of them read the same memory. */
static uint32_t check_equal_lanes(struct sm_access *a, struct sm_memory_check *c, uint32_t m) {
  if (!is_one_address(a, c->address, m))
    return check_lanes(a, c, m);
  const uint32_t first = lowest(m);
  a->several = m != first;
  a->by_writer = false;
  const uint32_t undefined = check_lanes(a, c, first);
  a->several = false;
  if (a->by_writer)
    check_lanes(a, c, lowest(m & ~first));
  return undefined ? m : 0;
}

/* Checks the lanes of m, rows of them at once. Each row has the given number of lanes. */
static uint32_t check_rows(struct sm_access *a, struct sm_memory_check *c, uint32_t m,
                           unsigned lanes) {
  const uint32_t row = (1u << lanes) - 1;
  uint32_t undefined = 0;
  for (unsigned first = 0; first < SM_LANES; first += lanes) {
    uint32_t found = 0;
    a->lane = first;
    a->at = c->address[first];
    a->bytes = a->note->bytes;
    if (!(~m >> first & row) && is_row(&c->address[first], lanes, a->bytes) &&
        check_row(a, &c->held, &found))
      *c->origin = found ? sm_pc_of(a->w, a->u) | SM_CAUSE_GLOBAL : *c->origin;
    else
      found = check_equal_lanes(a, c, m & row << first);
    undefined |= found;
  }
  return undefined;
}

static bool is_plain_atomic(const struct sm_note *note) {
  return note->access == SM_ACCESS_ATOMIC && note->bytes >= SM_CELL_BYTES && !note->compares &&
         (note->space == SM_SPACE_GLOBAL || note->space == SM_SPACE_GENERIC);
}

/* Checks an atomic of the lanes of m to the memory of one pointer. */
static uint32_t check_atomics(struct sm_access *a, struct sm_memory_check *c, uint32_t m) {
  const struct sm_range *r = a->rows;
  uint32_t undefined = 0;
  FOR_MASK(i, m) {
    const uint64_t at = c->address[i];
    a->lane = i;
    a->bytes = a->note->bytes;
    if (is_inside(r, at, a->bytes) && !(at & (a->bytes - 1))) {
      hold_lock_of(at, &c->held);
      if (sm_row_atomic(a, r->shadow, at - r->gpu))
        continue;
    }
    undefined |= check_lanes(a, c, 1u << i);
  }
  return undefined;
}

/* Returns false if the high words of the addresses are not the same. */
static bool find_patterns(const struct sm_warp *w, const struct sm_uop *u, uint32_t bytes,
                          struct sm_warp_addresses *p) {
  const uint32_t *lo = sm_file_at(w, u->s[0]);
  const uint32_t *hi = u->memory.narrow ? lo : sm_file_at(w, u->s[0] + SM_REG_BYTES);
  const uint32_t *base = sm_file_at(w, u->memory.uniform);
  const uint32_t high = (u->memory.narrow ? 0 : hi[0]) + base[SM_LANES];
  const uint32_t last = UINT32_MAX - SM_LANES * 16;
  p->halves = sm_core()->halves(lo, hi, bytes);
  for (unsigned k = 0; k < 2; k++)
    p->first[k] = ((uint64_t)high << 32) + lo[k * SM_HALF] + base[0] + (uint64_t)u->memory.offset;
  return p->halves.is_uniform && lo[0] <= last && lo[SM_HALF] <= last;
}

/* Checks the lanes of m, which read the same words at address at. Returns false if each of them has
 * to be checked. */
static bool check_same_lanes(struct sm_access *a, struct sm_memory_check *c, uint32_t m,
                             uint64_t at, uint32_t *undefined) {
  bool found = false;
  a->lane = (uint32_t)__builtin_ctz(m);
  a->at = at;
  if (!check_same(a, &c->held, &found))
    return false;
  if (found) {
    *c->origin = sm_pc_of(a->w, a->u) | SM_CAUSE_GLOBAL;
    *undefined |= m;
  }
  return true;
}

/* Checks consecutive elements from address at, of the lanes from first to end. */
static uint32_t check_sequence(struct sm_access *a, struct sm_memory_check *c, unsigned first,
                               unsigned end, uint64_t at, unsigned lanes) {
  uint32_t undefined = 0;
  while (first < end) {
    const uint32_t until_next_lock =
        ((1u << LOCKED_SHIFT) - at % (1u << LOCKED_SHIFT)) / SM_ROW_BYTES;
    const uint32_t rows = (end - first) >> __builtin_ctz(lanes);
    uint32_t found = 0;
    a->lane = first;
    a->at = at;
    const uint32_t done =
        check_some_rows(a, &c->held, rows < until_next_lock ? rows : until_next_lock, &found);
    if (done) {
      *c->origin = found ? sm_pc_of(a->w, a->u) | SM_CAUSE_GLOBAL : *c->origin;
    } else {
      use_addresses(a, c);
      found = check_equal_lanes(a, c, ((1u << lanes) - 1) << first);
      a->bytes = a->note->bytes;
    }
    undefined |= found;
    first += (done ? done : 1) * lanes;
    at += (done ? done : 1) * (uint64_t)SM_ROW_BYTES;
  }
  return undefined;
}

/* Checks that both halves of a warp read the same 16 consecutive elements. Returns false if each
 * half has to be checked. */
static bool check_twins(struct sm_access *a, struct sm_memory_check *c, uint64_t at, unsigned lanes,
                        uint32_t *undefined) {
  bool done = !a->is_write;
  a->several = true;
  for (unsigned first = 0; first < SM_HALF && done; first += lanes, at += SM_ROW_BYTES) {
    uint32_t found = 0;
    a->lane = first;
    a->at = at;
    done = check_row(a, &c->held, &found);
    if (found)
      *c->origin = sm_pc_of(a->w, a->u) | SM_CAUSE_GLOBAL;
    *undefined |= found | found << SM_HALF;
  }
  a->several = false;
  return done;
}

/* Checks all lanes of a warp, half of them at once if their addresses have a pattern. */
static uint32_t check_halves(struct sm_access *a, struct sm_memory_check *c,
                             const struct sm_warp_addresses *p, unsigned lanes) {
  const enum sm_pattern of[] = {p->halves.first, p->halves.second};
  uint32_t undefined = 0;
  a->bytes = a->note->bytes;
  if (of[0] == SM_PATTERN_SAME && of[1] == SM_PATTERN_SAME && p->first[0] == p->first[1]) {
    if (check_same_lanes(a, c, SM_ALL_LANES, p->first[0], &undefined))
      return undefined;
    use_addresses(a, c);
    return check_equal_lanes(a, c, SM_ALL_LANES);
  }
  if (of[0] == SM_PATTERN_ROW && of[1] == SM_PATTERN_ROW) {
    if (p->first[1] - p->first[0] == (uint64_t)SM_HALF * a->bytes)
      return check_sequence(a, c, 0, SM_LANES, p->first[0], lanes);
    if (p->first[0] == p->first[1] && check_twins(a, c, p->first[0], lanes, &undefined))
      return undefined;
  }
  for (unsigned k = 0; k < 2; k++) {
    const unsigned first = k * SM_HALF;
    const uint32_t m = (uint32_t)UINT16_MAX << first;
    if (of[k] == SM_PATTERN_ROW) {
      undefined |= check_sequence(a, c, first, first + SM_HALF, p->first[k], lanes);
    } else if (of[k] != SM_PATTERN_SAME || !check_same_lanes(a, c, m, p->first[k], &undefined)) {
      use_addresses(a, c);
      undefined |= check_rows(a, c, m, lanes);
    }
  }
  return undefined;
}

/* Checks that a full warp reads consecutive bytes or halves of words. Returns false if each lane
 * has to be checked. */
static bool check_parts(struct sm_access *a, struct sm_memory_check *c,
                        const struct sm_warp_addresses *p) {
  const uint32_t bytes = SM_LANES * a->note->bytes;
  a->lane = 0;
  a->at = p->first[0];
  a->bytes = a->note->bytes;
  if (p->halves.first != SM_PATTERN_ROW || p->halves.second != SM_PATTERN_ROW ||
      p->first[1] - a->at != bytes / 2 || a->at % SM_CELL_BYTES ||
      a->at >> LOCKED_SHIFT != (a->at + bytes - 1) >> LOCKED_SHIFT)
    return false;
  const struct sm_range *r = range_of_lanes(a, bytes);
  if (!r || a->strong)
    return false;
  if (are_stamped(a, r->shadow, a->at - r->gpu, bytes))
    return true;
  hold_lock_of(a->at, &c->held);
  a->global = true;
  const bool done = sm_row_read_parts(a, r->shadow, a->at - r->gpu);
  a->global = false;
  return done;
}

static uint32_t check_accesses(struct sm_access *a, struct sm_memory_check *c, uint32_t m) {
  const struct sm_warp *w = a->w;
  const struct sm_uop *u = a->u;
  const unsigned lanes = c->row_lanes;
  if (a->note->space == SM_SPACE_SHARED || a->note->space == SM_SPACE_LOCAL) {
    use_addresses(a, c);
    return check_lanes(a, c, m);
  }
  if (m == SM_ALL_LANES && (lanes || reads_parts(a->note))) {
    if (!c->read_same || !c->has_pattern)
      c->has_pattern = find_patterns(w, u, a->note->bytes, &c->pattern);
    if (c->has_pattern && lanes)
      return check_halves(a, c, &c->pattern, lanes);
    if (c->has_pattern && check_parts(a, c, &c->pattern))
      return 0;
  }
  use_addresses(a, c);
  if (a->rows && is_plain_atomic(a->note))
    return check_atomics(a, c, m);
  return lanes && !is_one_address(a, c->address, m) ? check_rows(a, c, m, lanes)
                                                    : check_equal_lanes(a, c, m);
}

static bool are_same(const uint32_t *a, const uint32_t *b) {
  return a[0] == b[0] && a[SM_LANES - 1] == b[SM_LANES - 1] &&
         memcmp(a, b, SM_LANES * sizeof *a) == 0;
}

/* Returns whether two warps have the same addresses. */
static bool have_same_addresses(const struct sm_warp *v, const struct sm_warp *w,
                                const struct sm_uop *u) {
  const unsigned low = u->s[0], base = u->memory.uniform;
  return are_same(sm_file_at(v, low), sm_file_at(w, low)) &&
         sm_file_at(v, base)[0] == sm_file_at(w, base)[0] &&
         sm_file_at(v, base + SM_REG_BYTES)[0] == sm_file_at(w, base + SM_REG_BYTES)[0] &&
         (u->memory.narrow ||
          are_same(sm_file_at(v, low + SM_REG_BYTES), sm_file_at(w, low + SM_REG_BYTES)));
}

/* Returns whether warps, from w on, read the same global memory. */
static bool read_same(const struct sm_warp *w, const struct sm_uop *u, const struct sm_note *note,
                      uint32_t warps) {
  if (note->strong || note->space != SM_SPACE_GLOBAL || w->cta->shadow->has_stored)
    return false;
  for (uint32_t k = 1; k < warps; k++)
    if (!have_same_addresses(w, sm_warp_after(w, k), u))
      return false;
  return true;
}

/* Returns whether the first address of w is step bytes after that of another warp. */
static bool follows(const struct sm_warp *before, const struct sm_warp *w, const struct sm_uop *u,
                    uint32_t step) {
  const unsigned low = u->s[0], base = u->memory.uniform, next = SM_REG_BYTES;
  return sm_file_at(w, low)[0] - sm_file_at(before, low)[0] == step &&
         sm_file_at(w, base)[0] == sm_file_at(before, base)[0] &&
         (u->memory.narrow || sm_file_at(w, low + next)[0] == sm_file_at(before, low + next)[0]) &&
         sm_file_at(w, base + next)[0] == sm_file_at(before, base + next)[0];
}

/* Returns whether the addresses of warps, from w on, are those of consecutive rows in a->rows. Sets
 * *first to the first address. */
static bool find_sequence(const struct sm_access *a, const struct sm_warp *w, uint32_t warps,
                          uint64_t *first) {
  const struct sm_uop *u = a->u;
  const uint32_t bytes = a->note->bytes, step = SM_LANES * bytes;
  const uint32_t *lo = sm_file_at(w, u->s[0]);
  struct sm_warp_addresses p;
  if (lo[SM_LANES - 1] - lo[0] != step - bytes || lo[0] > UINT32_MAX - warps * step)
    return false;
  for (uint32_t k = 1; k < warps; k++)
    if (!follows(sm_warp_after(w, k - 1), sm_warp_after(w, k), u, step))
      return false;
  for (uint32_t k = 0; k < warps; k++) {
    const struct sm_warp *v = sm_warp_after(w, k);
    const uint32_t *of = sm_file_at(v, u->s[0]);
    const uint32_t *high = u->memory.narrow ? of : sm_file_at(v, u->s[0] + SM_REG_BYTES);
    const struct sm_halves h = sm_core()->halves(of, high, bytes);
    if (h.first != SM_PATTERN_ROW || h.second != SM_PATTERN_ROW || !h.is_uniform ||
        of[SM_HALF] - of[0] != step / 2)
      return false;
  }
  find_patterns(w, u, bytes, &p);
  *first = p.first[0];
  return is_inside(a->rows, *first, warps * step) && (*first - a->rows->gpu) % SM_ROW_BYTES == 0;
}

/* Sets what the accesses of all warps have in common. */
static void start(struct sm_memory_check *c, const struct sm_warp *w) {
  const struct sm_note *note = c->note;
  struct sm_access *a = &c->access;
  *a = (struct sm_access){.u = c->u,
                          .note = note,
                          .is_write = note->access != SM_ACCESS_LOAD,
                          .strong = note->strong,
                          .touch = sm_touch_by(w, c->u, note, note->strong)};
  c->is_started = true;
  c->row_lanes = lanes_of_row(note);
  c->held = NULL;
  c->has_pattern = false;
  if (note->space == SM_SPACE_SHARED || note->space == SM_SPACE_LOCAL)
    return;
  w->cta->shadow->has_stored |= a->is_write;
  a->one_pointer = sm_pointer_of_all(w, c->u, &a->pointer);
  a->rows =
      a->one_pointer && a->pointer && has_rows(a, &a->pointer->range) ? &a->pointer->range : NULL;
}

/* Returns how many warps, from w on, read only memory whose stamps say that no check is needed. */
static uint32_t count_stamped(struct sm_memory_check *c, struct sm_warp *w, uint32_t warps) {
  struct sm_access *a = &c->access;
  const struct sm_range *r = a->rows;
  const uint32_t bytes = a->note->bytes;
  for (uint32_t n = 0; n < warps; n++, w = sm_warp_after(w, 1)) {
    struct sm_warp_addresses p;
    if (!find_patterns(w, c->u, bytes, &p))
      return n;
    for (unsigned k = 0; k < 2; k++) {
      const enum sm_pattern pattern = sm_pattern_of(p.halves, k);
      const uint32_t size = pattern == SM_PATTERN_ROW ? SM_HALF * bytes : bytes;
      if (pattern == SM_PATTERN_ANY || !is_inside(r, p.first[k], size) ||
          !are_stamped(a, r->shadow, p.first[k] - r->gpu, size))
        return n;
    }
  }
  return warps;
}

/* Returns whether the first address of w has a stamp by which no check is needed. */
static bool starts_stamped(const struct sm_access *a, const struct sm_warp *w) {
  const struct sm_uop *u = a->u;
  const uint32_t *lo = sm_file_at(w, u->s[0]), *base = sm_file_at(w, u->memory.uniform);
  const uint64_t high = u->memory.narrow ? 0 : sm_file_at(w, u->s[0] + SM_REG_BYTES)[0];
  const uint64_t at = (high << 32) + lo[0] + ((uint64_t)base[SM_LANES] << 32) + base[0] +
                      (uint64_t)u->memory.offset;
  return is_inside(a->rows, at, a->note->bytes) &&
         sm_row_stamp(a->rows->shadow, at - a->rows->gpu) == sm_stamp_of(a);
}

static inline void set_warp(struct sm_memory_check *c, struct sm_warp *w) {
  const uint32_t clock = sm_shadow_of(w)->clock[w->index];
  c->access.w = w;
  if (c->access.touch.clock != clock) /* usually not: sm_touch_by_lane loads all of it soon */
    c->access.touch.clock = clock;
}

/* Returns whether warps, from w on, access consecutive rows, from c->next on. */
static bool is_sequence(struct sm_memory_check *c, const struct sm_warp *w, uint32_t warps) {
  return warps > 1 && c->access.rows && c->row_lanes && sm_lanes_of(w, c->u) == SM_ALL_LANES &&
         find_sequence(&c->access, w, warps, &c->next);
}

/* Records the reads of a sequence by warps, from w on, that are the first ones of these rows in the
 * grid. Returns the number of warps. */
static uint32_t read_first(struct sm_memory_check *c, struct sm_warp *w, uint32_t warps) {
  struct sm_access *a = &c->access;
  const uint32_t each = SM_LANES / c->row_lanes, rows = warps * each;
  uint32_t done = 0, more, count;
  a->bytes = a->note->bytes;
  a->w = w;
  a->lane = 0;
  do {
    const uint64_t at = c->next + done * (uint64_t)SM_ROW_BYTES;
    const uint32_t locked = ((1u << LOCKED_SHIFT) - at % (1u << LOCKED_SHIFT)) / SM_ROW_BYTES;
    more = rows - done < locked ? rows - done : locked;
    hold_lock_of(at, &c->held);
    if (a->lane == SM_LANES) {
      a->lane = 0;
      a->w = sm_warp_after(a->w, 1);
    }
    set_warp(c, a->w);
    count = sm_row_read_first(a, a->rows->shadow, at - a->rows->gpu, more);
    done += count;
  } while (count == more && done < rows);
  return done / each;
}

/* Starts the check of a load by all lanes of warps. Returns how many of them, from w on, need no
 * more check. */
static uint32_t start_load(struct sm_memory_check *c, struct sm_warp *w, uint32_t warps) {
  enum { CHECKED = 4 }; /* warps that are checked in any case: sm_check_memory */
  uint32_t done = 0;
  start(c, w);
  c->access.w = w;
  if (c->access.rows && starts_stamped(&c->access, w)) {
    done = count_stamped(c, w, warps);
    w = sm_warp_after(w, done);
  } else if (is_sequence(c, w, warps)) {
    done = read_first(c, w, warps);
    c->is_sequence = true;
    c->next += done * (uint64_t)SM_LANES * c->note->bytes;
    return done;
  }
  c->read_same = warps - done > CHECKED && read_same(w, c->u, c->note, warps - done);
  return done;
}

uint32_t sm_check_memory_start(struct sm_memory_check *c, struct sm_warp *w, const struct sm_uop *u,
                               const struct sm_note *note, uint32_t warps, bool is_defined) {
  const uint32_t m = sm_lanes_of(w, u) & sm_addressing_lanes(u, note);
  uint32_t done = 0;
  c->u = u;
  c->note = note;
  c->clean = 0;
  c->is_started = c->is_sequence = c->read_same = false;
  if (note->space == SM_SPACE_SHARED) {
    c->touch = sm_touch_by(w, u, note, false);
    done = m && is_defined ? sm_shared_log(c, w, warps, m) : 0;
  } else if (note->space == SM_SPACE_LOCAL) {
    done = m == SM_ALL_LANES && is_defined ? sm_local_rows(c, w, warps) : 0;
  } else if (m == SM_ALL_LANES && note->access == SM_ACCESS_LOAD &&
             (note->space == SM_SPACE_GLOBAL || note->space == SM_SPACE_GENERIC)) {
    done = start_load(c, w, warps);
  }
  c->left = c->warps = warps - done;
  return done;
}

uint32_t sm_check_next_rows(struct sm_memory_check *c, struct sm_warp *w, uint64_t *origin) {
  struct sm_access *a = &c->access;
  const uint32_t bytes = SM_LANES * a->note->bytes, rows = bytes / SM_ROW_BYTES;
  const uint64_t at = c->next, offset = at - a->rows->gpu;
  uint32_t done = 0, undefined = 0;
  set_warp(c, w);
  c->next += bytes;
  a->bytes = a->note->bytes;
  if (at >> LOCKED_SHIFT == (at + bytes - 1) >> LOCKED_SHIFT) {
    hold_lock_of(at, &c->held);
    a->lane = 0;
    a->at = at;
    a->memory = a->rows->host + offset;
    a->global = true;
    done = sm_row_access(a, a->rows->shadow, offset, rows, &undefined);
    a->global = false;
  }
  if (undefined)
    *origin = sm_pc_of(a->w, a->u) | SM_CAUSE_GLOBAL;
  if (done == rows)
    return undefined;
  c->data = 0;
  c->stored = *origin;
  c->origin = origin;
  c->has_addresses = false;
  return undefined | check_sequence(a, c, done * c->row_lanes, SM_LANES,
                                    at + done * (uint64_t)SM_ROW_BYTES, c->row_lanes);
}

uint32_t sm_check_warp(struct sm_memory_check *c, struct sm_warp *w, uint32_t data,
                       uint64_t *origin, uint32_t m) {
  const struct sm_note *note = c->note;
  if (!c->is_started)
    start(c, w);
  if (c->left + 1 == c->warps && c->access.is_write && !data && is_sequence(c, w, c->warps)) {
    c->is_sequence = true;
    return sm_check_next_rows(c, w, origin);
  }
  set_warp(c, w);
  c->data = data;
  c->stored = *origin;
  c->origin = origin;
  c->has_addresses = false;
  /* LDGSTS may write zeros instead of reading. */
  const uint32_t reads =
      note->space == SM_SPACE_COPY ? m & (w->pred[c->u->pp] ^ (0u - (c->u->pnot & 1u))) : m;
  const uint32_t undefined = check_accesses(&c->access, c, reads);
  if (note->space == SM_SPACE_COPY) {
    copy_access(c->access, m, undefined, *origin);
    return 0; /* LDGSTS writes no register */
  }
  /* The lanes of LDSM load rows for each other. */
  return undefined && note->handler == SM_H_ldsm ? SM_ALL_LANES : undefined;
}

void sm_check_memory_end(struct sm_memory_check *c) {
  if (c->is_started && c->held)
    release(c->held);
}
