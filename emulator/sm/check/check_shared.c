/* Check mode: shared memory.
 *
 * Each word has a cell with its last accesses. But most kernels separate by barriers the accesses
 * that would race. A phase lies between two barriers that order all accesses before them with all
 * after them. Only accesses of the same phase can race, so an access that meets none there with
 * which it could race is written to a log, which ends with the phase. mark has for each word the
 * phase of its last access, whether that phase has written the word, and the work-item, if only one
 * has accessed it. An access that may race, or may read an undefined value, is checked lane by
 * lane, after all of the log has been entered into the cells. */
#include <stdlib.h>
#include <string.h>

#include "emulator/sm/check/mark.h"
#include "emulator/sm/check/watch.h"

enum { LOG = 2048 };
/* With one logged access for each so many bytes of shared memory, it is worth to look at all of it.
 */
enum { SOUGHT_BYTES = 256 };
static const uint32_t LAST_PHASE = 0x7fff0000u;

static void forget_phases(struct sm_shadow *s) {
  memset(s->mark, 0, s->mark_bytes);
  s->phase = 0;
}

static void next_phase(struct sm_shadow *s) {
  if (s->phase >= LAST_PHASE)
    forget_phases(s);
  s->phase += SM_MARK_PHASE;
  s->logged = 0;
}

bool sm_shared_start(struct sm_shadow *s, size_t bytes) {
  const size_t words = (bytes + SM_CELL_BYTES - 1) / SM_CELL_BYTES;
  if (!sm_grow_array(&s->shared_defined, &s->shared_bytes, words * SM_CELL_BYTES + 1) ||
      !sm_grow_array(&s->cell, &s->cell_bytes, words * sizeof *s->cell + 1) ||
      !sm_grow_array(&s->mark, &s->mark_bytes, words * sizeof *s->mark + 1) ||
      !sm_grow_array(&s->shared_origin, &s->shared_origin_bytes, words * sizeof(uint64_t) + 1))
    return false;
  if (words && !s->log_at) {
    s->log = aligned_alloc(_Alignof(struct sm_logged), LOG * sizeof *s->log);
    s->log_at = s->log ? aligned_alloc(_Alignof(struct sm_lanes), LOG * sizeof *s->log_at) : NULL;
    if (!s->log_at) {
      free(s->log);
      s->log = NULL;
      return false;
    }
  }
  memset(s->shared_defined, 0, words * SM_CELL_BYTES);
  memset(s->shared_origin, 0, words * sizeof(uint64_t));
  next_phase(s);
  s->all_written = false;
  s->sought_in = 0;
  return true;
}

void sm_shared_free(struct sm_shadow *s) {
  free(s->shared_defined);
  free(s->cell);
  free(s->mark);
  free(s->log);
  free(s->log_at);
  free(s->shared_origin);
}

/* --- the log ---------------------------------------------------------------------- */

static uint32_t logged_address(const struct sm_shadow *s, const struct sm_logged *l,
                               uint32_t lane) {
  const struct sm_words *run = &l->run[lane / SM_HALF];
  const uint32_t step = run->bytes == l->bytes ? 0 : l->bytes;
  return l->runs ? run->at + lane % SM_HALF * step : s->log_at[l - s->log].l[lane];
}

static void enter_lane(struct sm_shadow *s, const struct sm_logged *l, uint32_t lane) {
  const uint32_t first = logged_address(s, l, lane);
  for (uint32_t done = 0, word = 0; done < l->bytes; word++) {
    const uint32_t at = first + done;
    const struct sm_part p = sm_part_of(first, l->bytes, done);
    struct sm_cell *cell = &s->cell[at / SM_CELL_BYTES];
    struct sm_touch now = l->touch;
    now.by += lane | (uint32_t)p.mask << SM_TOUCH_BYTES_AT;
    done += p.count;
    if (l->is_write && l->writers[word] >> lane & 1)
      cell->writer = now;
    else
      sm_add_reader(cell->reader, &now);
  }
}

/* Sets the values of a lane's store in its cells. If it is not in memory yet, u is the store. */
static void enter_value(struct sm_cta *cta, const struct sm_logged *l, uint32_t lane,
                        const struct sm_uop *u) {
  const struct sm_warp *w = sm_warp_at(cta, sm_touch_warp(&l->touch));
  struct sm_shadow *s = cta->shadow;
  for (uint32_t at = logged_address(s, l, lane), word = 0; word * SM_CELL_BYTES < l->bytes;
       word++) {
    struct sm_cell *cell = &s->cell[at / SM_CELL_BYTES + word];
    if (!(l->writers[word] >> lane & 1))
      continue;
    if (u)
      cell->value = sm_file_at(w, u->s[1] + word * SM_REG_BYTES)[lane] << at % SM_CELL_BYTES * 8;
    else
      memcpy(&cell->value, w->shared + (at / SM_CELL_BYTES + word) * (size_t)SM_CELL_BYTES,
             SM_CELL_BYTES);
  }
}

/* Enters the log into the cells while u is checked. The values of stores before it are in memory,
 * because nothing else has been stored there in this phase. */
static void enter_log(struct sm_cta *cta, const struct sm_uop *u) {
  struct sm_shadow *s = cta->shadow;
  for (uint32_t k = 0; k < s->logged; k++) {
    const struct sm_logged *l = &s->log[k];
    FOR_MASK(i, l->lanes) {
      enter_lane(s, l, i);
      if (l->is_write)
        enter_value(cta, l, i, k < s->stored ? NULL : u);
    }
  }
  s->logged = s->stored = 0;
}

static bool is_arrival(const struct sm_note *note) {
  return note->handler == SM_H_arrive || note->handler == SM_H_arrive_generic;
}

/* Sets s->all_written if all bytes of shared memory are written. Looks once in each phase. */
static void look_for_unwritten(const struct sm_warp *w) {
  struct sm_shadow *s = w->cta->shadow;
  if (s->all_written || s->sought_in == s->phase)
    return;
  s->sought_in = s->phase;
  s->all_written =
      !(w->shared_bytes % SM_CELL_BYTES) && sm_are_written(s->shared_defined, w->shared_bytes);
}

/* Marks the access of a lane. Returns false if it may race, or reads bytes that are not written. */
static bool mark_lane(struct sm_shadow *s, uint32_t at, uint32_t bytes, uint32_t owner,
                      bool is_write) {
  const uint32_t write = is_write ? SM_MARK_WRITE : 0, only = sm_only_mark(s->phase, owner, write);
  bool is_good = is_write || s->all_written || sm_are_written(s->shared_defined + at, bytes);
  for (uint32_t k = at / SM_CELL_BYTES; k <= (at + bytes - 1) / SM_CELL_BYTES; k++)
    if (s->mark[k] < s->phase)
      s->mark[k] = only;
    else if (s->mark[k] != only)
      is_good &= !sm_mark_word(&s->mark[k], s->phase, owner, write);
  return is_good;
}

static inline uint32_t uniform_term(const struct sm_warp *w, const struct sm_uop *u) {
  return sm_file_at(w, u->memory.uniform)[0] + (uint32_t)u->memory.offset;
}

/* Finds the words that each half of a full warp accesses. Returns the number of different runs, or
 * 0 if the addresses have no pattern, are misaligned or out of range, or if lanes write the same
 * memory. */
static uint8_t find_runs(const struct sm_warp *w, const struct sm_uop *u, uint32_t bytes,
                         bool is_write, struct sm_words *run) {
  const uint32_t *a = sm_file_at(w, u->s[0]), scale = u->memory.scale, step = bytes >> scale;
  if (bytes % SM_CELL_BYTES || step << scale != bytes)
    return 0;
  const struct sm_halves h = sm_core()->halves(a, a, step);
  for (unsigned k = 0; k < 2; k++) {
    const uint32_t first = (a[k * SM_HALF] << scale) + uniform_term(w, u);
    const bool is_row = sm_pattern_of(h, k) == SM_PATTERN_ROW;
    run[k] = (struct sm_words){first, is_row ? SM_HALF * bytes : bytes,
                               is_row ? w->index * SM_LANES + k * SM_HALF : SM_MARK_SEVERAL};
    if (sm_pattern_of(h, k) == SM_PATTERN_ANY || first & (bytes - 1) ||
        (uint64_t)first + run[k].bytes > w->shared_bytes || (is_write && !is_row))
      return 0;
  }
  if (is_write && run[1].at < run[0].at + run[0].bytes)
    return 0;
  if (run[0].at != run[1].at || run[0].bytes != run[1].bytes)
    return 2;
  run[0].owner = SM_MARK_SEVERAL;
  return 1;
}

/* Marks the access to a run, of some words by each lane. Returns false if it may race, or reads
 * bytes that are not written. */
static bool mark_run(struct sm_shadow *s, const struct sm_words *run, unsigned shift,
                     bool is_write) {
  const struct sm_marking m = {.words = run->bytes / SM_CELL_BYTES,
                               .phase = s->phase,
                               .owner = run->owner,
                               .shift = shift,
                               .write = is_write ? SM_MARK_WRITE : 0};
  if (m.words < SM_HALF)
    return mark_lane(s, run->at, run->bytes, run->owner, is_write);
  return !sm_core()->mark(&s->mark[run->at / SM_CELL_BYTES], &m) &&
         (is_write || s->all_written || sm_are_written(s->shared_defined + run->at, run->bytes));
}

/* Returns the lanes whose store changes a part of memory. */
static uint32_t changing_lanes(const struct sm_warp *w, const struct sm_uop *u,
                               const struct sm_logged *l, uint32_t m, uint32_t part,
                               uint32_t bytes) {
  const struct sm_shadow *s = w->cta->shadow;
  const uint32_t *value = sm_file_at(w, u->s[1] + part / SM_CELL_BYTES * SM_REG_BYTES);
  uint32_t changes = 0;
  FOR_MASK(i, m) {
    const uint32_t at = logged_address(s, l, i) + part;
    changes |= (uint32_t)(!sm_are_written(s->shared_defined + at, bytes) ||
                          memcmp(w->shared + at, &value[i], bytes) != 0)
               << i;
  }
  return changes;
}

/* Returns the lanes whose store of a word changes memory. */
static uint32_t changing_words(const struct sm_warp *w, const struct sm_uop *u,
                               const struct sm_words *run) {
  struct sm_lanes old, defined, written;
  for (unsigned k = 0; k < 2; k++) {
    memcpy(&old.l[k * SM_HALF], w->shared + run[k].at, sizeof old / 2);
    memcpy(&defined.l[k * SM_HALF], w->cta->shadow->shared_defined + run[k].at, sizeof defined / 2);
  }
  sm_splat(written.l, SM_WRITTEN * (UINT32_MAX / UINT8_MAX));
  return ~(sm_mask_same(old.l, sm_file_at(w, u->s[1])) & sm_mask_same(defined.l, written.l));
}

/* Sets the writers of *l for a store. Returns false if there are none. */
static bool find_changes(const struct sm_warp *w, const struct sm_uop *u, uint32_t m,
                         struct sm_logged *l) {
  const uint32_t bytes = l->bytes < SM_CELL_BYTES ? l->bytes : (uint32_t)SM_CELL_BYTES;
  uint32_t any = 0;
  if (l->runs && l->bytes == SM_CELL_BYTES) {
    l->writers[0] = changing_words(w, u, l->run);
    return l->writers[0];
  }
  for (uint32_t word = 0; word * SM_CELL_BYTES < l->bytes; word++)
    any |= l->writers[word] = changing_lanes(w, u, l, m, word * SM_CELL_BYTES, bytes);
  return any;
}

static void find_addresses(const struct sm_warp *w, const struct sm_uop *u, struct sm_lanes *at) {
  const uint32_t *a = sm_file_at(w, u->s[0]), scale = u->memory.scale, term = uniform_term(w, u);
  FOR_LANES
  at->l[i] = (a[i] << scale) + term;
}

/* Returns whether the accesses of the lanes of m are aligned and in range. */
static bool are_inside(const struct sm_warp *w, const uint32_t *at, uint32_t m, uint32_t bytes) {
  const uint32_t last = w->shared_bytes - bytes;
  uint32_t outside = 0;
  FOR_LANES
  outside |= (0 - (uint32_t)((at[i] & (bytes - 1)) != 0 || at[i] > last)) & sm_lane_bit[i];
  return w->shared_bytes >= bytes && !(outside & m);
}

/* Returns whether the accesses of the lanes of m are aligned and in range, and no two lanes write
 * the same memory. Of stores, it only recognises increasing addresses. */
static bool are_separate(const struct sm_warp *w, const uint32_t *at, uint32_t m, uint32_t bytes,
                         bool is_write) {
  uint64_t next = 0;
  if (!is_write)
    return are_inside(w, at, m, bytes);
  FOR_MASK(i, m) {
    if (at[i] & (bytes - 1) || (uint64_t)at[i] + bytes > w->shared_bytes || at[i] < next)
      return false;
    next = (uint64_t)at[i] + bytes;
  }
  return true;
}

/* Marks the accesses of the lanes of m. Returns false if one of them may race, or reads bytes that
 * are not written. */
static bool mark_access(const struct sm_warp *w, const struct sm_logged *l, uint32_t m) {
  struct sm_shadow *s = w->cta->shadow;
  bool is_good = true;
  for (unsigned k = 0; k < l->runs; k++)
    is_good &=
        mark_run(s, &l->run[k], (unsigned)__builtin_ctz(l->bytes / SM_CELL_BYTES), l->is_write);
  FOR_MASK(i, l->runs ? 0 : m)
  is_good &= mark_lane(s, logged_address(s, l, i), l->bytes, w->index * SM_LANES + i, l->is_write);
  return is_good;
}

static void set_written(struct sm_shadow *s, const struct sm_logged *l, uint32_t m) {
  for (unsigned k = 0; k < l->runs; k++)
    memset(s->shared_defined + l->run[k].at, SM_WRITTEN, l->run[k].bytes);
  FOR_MASK(i, l->runs ? 0 : m)
  memset(s->shared_defined + logged_address(s, l, i), SM_WRITTEN, l->bytes);
}

/* Returns whether an atomic of the lanes of m accesses written memory only. Then it has no
 * record. */
static bool is_good_atomic(const struct sm_warp *w, const struct sm_uop *u,
                           const struct sm_note *note, uint32_t m) {
  struct sm_lanes at;
  find_addresses(w, u, &at);
  if (is_arrival(note) || !are_inside(w, at.l, m, note->bytes))
    return false;
  look_for_unwritten(w);
  if (w->cta->shadow->all_written)
    return true;
  FOR_MASK(i, m)
  if (!sm_are_written(w->cta->shadow->shared_defined + at.l[i], note->bytes))
    return false;
  return true;
}

/* Returns whether two accesses at the same instruction are to the same words. */
static bool are_alike(const struct sm_logged *a, const struct sm_logged *b) {
  return a->runs == b->runs && a->run[0].at == b->run[0].at && a->run[1].at == b->run[1].at &&
         a->run[0].bytes == b->run[0].bytes && a->run[1].bytes == b->run[1].bytes;
}

/* Sets a record of w. touch has all but its work-item and clock. The clock usually is the same, and
 * after a store to a part of a record the host waits before it can load all of it. */
static inline void set_touch(const struct sm_warp *w, struct sm_touch *to,
                             const struct sm_touch *touch) {
  const uint32_t clock = sm_shadow_of(w)->clock[w->index];
  *to = *touch;
  to->by |= w->index * SM_LANES;
  if (to->clock != clock)
    to->clock = clock;
}

/* Records a read by a warp if two other warps were the last to read the same words, at the same
 * instruction. Only the last two of these warps stay in the records, and the marks already are of
 * several work-items. l is the end of the log. Returns false if another access came before. */
static bool repeats_read(const struct sm_warp *w, const struct sm_shadow *s, struct sm_logged *l,
                         const struct sm_touch *touch) {
  if (s->logged < 2 || l->is_write || !l->runs || l[-1].touch.pc != touch->pc ||
      l[-2].touch.pc != touch->pc || !are_alike(l, &l[-1]) || !are_alike(l, &l[-2]))
    return false;
  const uint32_t last = sm_touch_warp(&l[-1].touch);
  if (last == w->index || last == sm_touch_warp(&l[-2].touch))
    return false;
  l[-2].touch = l[-1].touch;
  set_touch(w, &l[-1].touch, touch);
  return true;
}

/* Notes that w accesses shared memory at its present clock. */
static inline void note_access(const struct sm_warp *w) {
  struct sm_warp_shadow *ws = sm_shadow_of(w);
  ws->accessed = ws->clock[w->index] + 1;
}

/* Starts a record of an access at the end of the log, which has space for two. */
static inline struct sm_logged *start_log(struct sm_warp *w, const struct sm_memory_check *c) {
  struct sm_shadow *s = w->cta->shadow;
  if (s->logged >= LOG - 1)
    enter_log(w->cta, c->u);
  struct sm_logged *l = &s->log[s->logged];
  l->is_write = c->note->access == SM_ACCESS_STORE;
  l->bytes = c->note->bytes;
  return l;
}

/* Records an access of the lanes of m. Returns false, and has logged nothing, if each lane has to
 * be checked. Marks that it has already set do not change the result of that. */
static bool log_access(struct sm_warp *w, const struct sm_memory_check *c, uint32_t m) {
  struct sm_shadow *s = w->cta->shadow;
  struct sm_logged *l = start_log(w, c);
  l->runs = m == SM_ALL_LANES ? find_runs(w, c->u, l->bytes, l->is_write, l->run) : 0;
  if (!l->runs) {
    struct sm_lanes *const at = &s->log_at[s->logged];
    find_addresses(w, c->u, at);
    if (!are_separate(w, at->l, m, l->bytes, l->is_write))
      return false;
  }
  if (repeats_read(w, s, l, &c->touch)) {
    note_access(w);
    return true;
  }
  l->lanes = m;
  if (s->logged * SOUGHT_BYTES >= w->shared_bytes)
    look_for_unwritten(w);
  l->is_write = l->is_write && find_changes(w, c->u, m, l);
  if (!mark_access(w, l, m))
    return false;
  note_access(w);
  set_touch(w, &l->touch, &c->touch);
  s->logged++;
  if (l->is_write)
    set_written(s, l, m);
  return true;
}

/* Returns whether warps, from w on, have the same addresses. */
static bool are_equal(const struct sm_warp *w, uint32_t warps, const struct sm_uop *u) {
  const uint32_t *a = sm_file_at(w, u->s[0]);
  for (uint32_t k = 1; k < warps; k++) {
    const struct sm_warp *v = sm_warp_after(w, k);
    const uint32_t *b = sm_file_at(v, u->s[0]);
    if (a[0] != b[0] || a[SM_LANES - 1] != b[SM_LANES - 1] ||
        uniform_term(v, u) != uniform_term(w, u) || memcmp(a, b, SM_LANES * sizeof *a) != 0)
      return false;
  }
  return true;
}

/* Records that warps, from w on, read the same memory, as one access by several work-items of which
 * the last two warps stay in the log. Returns false like log_access. */
static bool log_same(struct sm_warp *w, uint32_t warps, const struct sm_memory_check *c) {
  struct sm_shadow *s = w->cta->shadow;
  const struct sm_logged *first = start_log(w, c);
  struct sm_logged l = *first;
  l.lanes = SM_ALL_LANES;
  l.runs = find_runs(w, c->u, l.bytes, false, l.run);
  l.run[0].owner = l.run[1].owner = SM_MARK_SEVERAL;
  if (!l.runs || !mark_access(w, &l, SM_ALL_LANES))
    return false;
  for (uint32_t k = 0; k < warps; k++)
    note_access(sm_warp_after(w, k));
  for (uint32_t k = warps - 2; k < warps; k++) {
    const struct sm_warp *v = sm_warp_after(w, k);
    struct sm_logged *to = &s->log[s->logged];
    *to = l;
    if (repeats_read(v, s, to, &c->touch))
      continue;
    set_touch(v, &to->touch, &c->touch);
    s->logged++;
  }
  return true;
}

uint32_t sm_shared_log(const struct sm_memory_check *c, struct sm_warp *w, uint32_t warps,
                       uint32_t m) {
  const struct sm_shadow *s = w->cta->shadow;
  const enum sm_access_kind access = c->note->access;
  uint32_t count = 0;
  if (c->note->strong && s->logged)
    enter_log(w->cta, c->u); /* before memory loses the values of its stores */
  if (c->note->strong)
    while (count < warps && is_good_atomic(sm_warp_after(w, count), c->u, c->note, m))
      count++;
  if (c->note->strong || (access != SM_ACCESS_STORE && access != SM_ACCESS_LOAD) || !s->log)
    return count;
  if (access == SM_ACCESS_LOAD && warps > 1 && m == SM_ALL_LANES && are_equal(w, warps, c->u) &&
      log_same(w, warps, c))
    return warps;
  while (count < warps && log_access(sm_warp_after(w, count), c, m))
    count++;
  return count;
}

/* --- one lane --------------------------------------------------------------------- */

/* A read of an mbarrier is ordered after all earlier arrivals at it. */
static void check_mbarrier(const struct sm_access *a, uint8_t *defined) {
  if (is_arrival(a->note)) {
    memset(defined, SM_MBARRIER, a->bytes);
    a->w->cta->shadow->all_written = false;
  } else if (!a->is_write && *defined == SM_MBARRIER)
    sm_acquire_clock(a->w, a->w->cta->shadow->lock_clock);
}

bool sm_shared_access(struct sm_access *a) {
  struct sm_shadow *s = a->w->cta->shadow;
  const uint32_t bytes = a->bytes, owner = a->w->index * SM_LANES + a->lane;
  uint8_t *defined = s->shared_defined + a->at;
  bool found = false;
  if (a->at + bytes > a->w->shared_bytes || a->at & (bytes - 1))
    return false; /* it will fault */
  if (s->logged)
    enter_log(a->w->cta, a->u);
  if (!a->strong)
    note_access(a->w);
  a->memory = a->w->shared + a->at;
  a->defined = defined;
  for (uint32_t done = 0; done < bytes && !a->strong;) {
    const struct sm_part p = sm_part_of(a->at, bytes, done);
    const uint64_t word = (a->at + done) / SM_CELL_BYTES;
    sm_check_race(a, &s->cell[word], &p);
    sm_mark_word(&s->mark[word], s->phase, owner, a->is_write ? SM_MARK_WRITE : 0);
    done += p.count;
  }
  if (!a->undefined && !is_arrival(a->note) && sm_are_written(defined, bytes))
    return false;
  uint64_t origin = sm_pc_of(a->w, a->u) | SM_CAUSE_SHARED;
  for (uint32_t k = 0; k < bytes; k++) {
    sm_note_origin(&s->shared_origin[(a->at + k) / SM_CELL_BYTES], a, !defined[k], &origin);
    found |= !defined[k];
    if (a->is_write)
      defined[k] = a->undefined ? SM_UNWRITTEN : SM_WRITTEN;
    s->all_written = s->all_written && !a->undefined;
  }
  a->origin = origin;
  check_mbarrier(a, defined);
  return found && a->note->access != SM_ACCESS_STORE;
}

/* --- barriers --------------------------------------------------------------------- */

/* Returns whether all accesses so far are ordered before the accesses of w that follow. */
static bool is_after_all(const struct sm_warp *w) {
  const struct sm_warp_shadow *all = w->cta->shadow->warp, *ws = sm_shadow_of(w);
  for (uint32_t k = 0; k < w->cta->warps; k++)
    if (all[k].accessed > ws->clock[k])
      return false;
  return true;
}

void sm_shared_barrier(struct sm_cta *cta) {
  for (uint32_t k = 0; k < cta->warps; k++) {
    const struct sm_warp *w = sm_warp_at(cta, k);
    if (w->alive && !is_after_all(w))
      return;
  }
  next_phase(cta->shadow);
}
