/* Check mode: shared memory.
 *
 * Each word has a cell with its last accesses. But most kernels separate by barriers the accesses
 * that would race. A phase lies between two barriers that order all accesses before them with all
 * after them. Only accesses of the same phase can race, so an access that meets none there with
 * which it could race is written to a log, which ends with the phase. mark has for each word the
 * phase and kind of its last access. An access that may race, or may read an undefined value, is
 * checked lane by lane, after all of the log has been entered into the cells. */
#include <stdlib.h>
#include <string.h>

#include "emulator/sm/check/watch.h"

/* Added to the phase in mark. */
enum { READ = 1, WRITE = 2, PHASE = 2 };
enum { LOG = 2048 };
static const uint32_t LAST_PHASE = 0x7ffffff0u;

static void forget_phases(struct sm_shadow *s) {
  memset(s->mark, 0, s->mark_bytes);
  s->phase = 0;
}

static void next_phase(struct sm_shadow *s) {
  if (s->phase >= LAST_PHASE)
    forget_phases(s);
  s->phase += PHASE;
  s->logged = 0;
}

bool sm_shared_start(struct sm_shadow *s, size_t bytes) {
  const size_t words = (bytes + SM_CELL_BYTES - 1) / SM_CELL_BYTES;
  if (!sm_grow_array(&s->shared_defined, &s->shared_bytes, words * SM_CELL_BYTES + 1) ||
      !sm_grow_array(&s->cell, &s->cell_bytes, words * sizeof *s->cell + 1) ||
      !sm_grow_array(&s->mark, &s->mark_bytes, words * sizeof *s->mark + 1) ||
      !sm_grow_array(&s->shared_origin, &s->shared_origin_bytes, words * sizeof(uint64_t) + 1))
    return false;
  if (words && !s->log &&
      posix_memalign((void **)&s->log, _Alignof(struct sm_logged), LOG * sizeof *s->log)) {
    s->log = NULL;
    return false;
  }
  memset(s->shared_defined, 0, words * SM_CELL_BYTES);
  memset(s->shared_origin, 0, words * sizeof(uint64_t));
  next_phase(s);
  return true;
}

void sm_shared_free(struct sm_shadow *s) {
  free(s->shared_defined);
  free(s->cell);
  free(s->mark);
  free(s->log);
  free(s->shared_origin);
}

/* --- the log ---------------------------------------------------------------------- */

static void enter_lane(struct sm_shadow *s, const struct sm_logged *l, uint32_t lane) {
  for (uint32_t done = 0, word = 0; done < l->bytes; word++) {
    const uint32_t at = l->at.l[lane] + done;
    const struct sm_part p = sm_part_of(l->at.l[lane], l->bytes, done);
    struct sm_cell *cell = &s->cell[at / SM_CELL_BYTES];
    struct sm_touch now = l->touch;
    now.thread = (uint16_t)(now.thread + lane);
    now.bytes = p.mask;
    done += p.count;
    if (!(l->lanes[word] >> lane & 1))
      continue;
    if (l->is_write)
      cell->writer = now;
    else
      sm_add_reader(cell->reader, &now);
  }
}

/* Enters the log into the cells. The values of stores are in memory, because nothing else has been
 * stored there in this phase. */
static void enter_log(struct sm_shadow *s, const uint8_t *memory) {
  for (uint32_t k = 0; k < s->logged; k++) {
    const struct sm_logged *l = &s->log[k];
    uint32_t lanes = 0;
    for (unsigned word = 0; word < (l->bytes + 3u) / SM_CELL_BYTES; word++)
      lanes |= l->lanes[word];
    FOR_MASK(i, lanes) {
      enter_lane(s, l, i);
      const uint32_t first = l->at.l[i] / SM_CELL_BYTES;
      for (unsigned word = 0; l->is_write && word < (l->bytes + 3u) / SM_CELL_BYTES; word++)
        memcpy(&s->cell[first + word].value, memory + (first + word) * (size_t)SM_CELL_BYTES,
               SM_CELL_BYTES);
    }
  }
  s->logged = 0;
}

static bool is_arrival(const struct sm_note *note) {
  return note->handler == SM_H_arrive || note->handler == SM_H_arrive_generic;
}

/* The addresses of a warp's access to shared memory. */
struct span {
  const uint32_t *at;  /* of the lanes; those of other lanes equal that of the first one */
  uint32_t low, bytes; /* all bytes between the first and the last one */
};

/* Sets the addresses of lanes m. Returns false if one is misaligned or out of range. */
static bool find_span(const struct sm_warp *w, const struct sm_uop *u, const struct sm_note *note,
                      uint32_t m, uint32_t *at, struct span *span) {
  const uint32_t *a = sm_file_at(w, u->s[0]);
  const uint32_t term = sm_file_at(w, u->memory.uniform)[0] + (uint32_t)u->memory.offset;
  const uint32_t scale = u->memory.scale, first = (a[__builtin_ctz(m)] << scale) + term;
  int32_t low = (int32_t)first, high = (int32_t)first;
  uint32_t bits = 0;
  if (m == SM_ALL_LANES) {
    FOR_LANES
    at[i] = (a[i] << scale) + term;
  } else {
    FOR_LANES
    at[i] = m & sm_lane_bit[i] ? (a[i] << scale) + term : first;
  }
  for (unsigned i = 0; i < SM_LANES; i++) {
    low = (int32_t)at[i] < low ? (int32_t)at[i] : low;
    high = (int32_t)at[i] > high ? (int32_t)at[i] : high;
    bits |= at[i];
  }
  *span = (struct span){at, (uint32_t)low, (uint32_t)high - (uint32_t)low + note->bytes};
  return !(bits & (note->bytes - 1u)) && low >= 0 &&
         (uint64_t)(uint32_t)high + note->bytes <= w->shared_bytes;
}

static bool is_dense(const struct span *span, uint32_t bytes) {
  return span->bytes <= SM_LANES * bytes * 2;
}

/* Returns whether no word of the access, or between its first and last one if they are dense, has a
 * mark above limit. */
static bool has_marks_up_to(const struct sm_shadow *s, const struct span *span, uint32_t bytes,
                            uint32_t limit) {
  const uint32_t words = (bytes + 3) / SM_CELL_BYTES;
  uint32_t above = 0;
  if (is_dense(span, bytes)) {
    const uint32_t end = (span->low + span->bytes - 1) / SM_CELL_BYTES;
    for (uint32_t k = span->low / SM_CELL_BYTES; k <= end; k++)
      above |= limit - s->mark[k];
  } else {
    for (unsigned i = 0; i < SM_LANES; i++)
      for (uint32_t k = 0; k < words; k++)
        above |= limit - s->mark[span->at[i] / SM_CELL_BYTES + k];
  }
  return (int32_t)above >= 0;
}

static void set_marks(struct sm_shadow *s, const struct span *span, uint32_t bytes, uint32_t mark) {
  const uint32_t words = (bytes + 3) / SM_CELL_BYTES;
  if (is_dense(span, bytes)) {
    const uint32_t end = (span->low + span->bytes - 1) / SM_CELL_BYTES;
    for (uint32_t k = span->low / SM_CELL_BYTES; k <= end; k++)
      s->mark[k] = mark;
  } else {
    for (unsigned i = 0; i < SM_LANES; i++)
      for (uint32_t k = 0; k < words; k++)
        s->mark[span->at[i] / SM_CELL_BYTES + k] = mark;
  }
}

/* Returns whether the bytes are SM_WRITTEN. */
static bool are_written(const uint8_t *defined, uint32_t bytes) {
  enum { MOST = SM_LANES * 16 * 2 };
  static const uint8_t written[MOST] = {[0 ... MOST - 1] = SM_WRITTEN};
  return !memcmp(defined, written, bytes);
}

static bool are_all_written(const struct sm_shadow *s, const struct span *span, uint32_t bytes) {
  if (is_dense(span, bytes) && are_written(s->shared_defined + span->low, span->bytes))
    return true;
  for (unsigned i = 0; i < SM_LANES; i++)
    if (!are_written(s->shared_defined + span->at[i], bytes))
      return false;
  return true;
}

/* Returns whether each lane of m accesses other bytes. Only recognises increasing addresses. */
static bool are_increasing(const struct span *span, uint32_t m, uint32_t bytes) {
  uint32_t next = 0;
  FOR_MASK(i, m) {
    if (span->at[i] < next)
      return false;
    next = span->at[i] + bytes;
  }
  return true;
}

/* Returns the lanes of m whose store changes a part of memory. */
static uint32_t changing_lanes(const struct sm_warp *w, const struct sm_uop *u,
                               const struct span *span, uint32_t m, uint32_t part, uint32_t bytes) {
  const uint8_t *defined = w->cta->shadow->shared_defined;
  const uint32_t *value = sm_file_at(w, u->s[1] + part / SM_CELL_BYTES * SM_REG_BYTES);
  uint32_t changes = 0;
  FOR_MASK(i, m) {
    const uint32_t at = span->at[i] + part;
    changes |= (uint32_t)(!are_written(defined + at, bytes) ||
                          memcmp(w->shared + at, &value[i], bytes) != 0)
               << i;
  }
  return changes;
}

/* Sets the lanes of *l for a store. Returns false if it changes nothing. */
static bool find_changes(const struct sm_warp *w, const struct sm_uop *u, const struct span *span,
                         uint32_t m, struct sm_logged *l) {
  const uint32_t bytes = l->bytes < SM_CELL_BYTES ? l->bytes : (uint32_t)SM_CELL_BYTES;
  uint32_t any = 0;
  for (uint32_t word = 0; word * SM_CELL_BYTES < l->bytes; word++)
    any |= l->lanes[word] = changing_lanes(w, u, span, m, word * SM_CELL_BYTES, bytes);
  return any;
}

static void set_written(const struct sm_warp *w, const struct span *span, uint32_t m,
                        uint32_t bytes) {
  FOR_MASK(i, m)
  memset(w->cta->shadow->shared_defined + span->at[i], SM_WRITTEN, bytes);
}

/* --- the log: full warps ------------------------------------------------------------ */

/* Consecutive bytes of shared memory that a full warp, or half of it, accesses. */
struct run {
  uint32_t at, bytes;
};

/* Sets the runs of a full warp's access. Returns their number, or 0 if the addresses have no
 * pattern, are misaligned or out of range, or if lanes write the same memory. */
static unsigned find_runs(const struct sm_warp *w, const struct sm_uop *u,
                          const struct sm_note *note, struct run *run) {
  const uint32_t *a = sm_file_at(w, u->s[0]);
  const uint32_t scale = u->memory.scale, bytes = note->bytes;
  const uint32_t term = sm_file_at(w, u->memory.uniform)[0] + (uint32_t)u->memory.offset;
  const struct sm_halves h = sm_core()->halves(a, a, bytes >> scale);
  if (bytes % SM_CELL_BYTES || bytes & ((1u << scale) - 1))
    return 0;
  for (unsigned k = 0; k < 2; k++) {
    const uint32_t at = (a[k * SM_HALF] << scale) + term;
    run[k] = (struct run){at, h.pattern[k] == SM_PATTERN_ROW ? SM_HALF * bytes : bytes};
    if (h.pattern[k] == SM_PATTERN_ANY || at & (bytes - 1) ||
        (uint64_t)at + run[k].bytes > w->shared_bytes)
      return 0;
  }
  if (note->access == SM_ACCESS_STORE &&
      (h.pattern[0] != SM_PATTERN_ROW || h.pattern[1] != SM_PATTERN_ROW ||
       run[1].at < run[0].at + run[0].bytes))
    return 0;
  if (h.pattern[0] != h.pattern[1])
    return 2;
  if (run[0].at == run[1].at)
    return 1;
  if (h.pattern[0] != SM_PATTERN_ROW || run[1].at != run[0].at + run[0].bytes)
    return 2;
  run[0].bytes *= 2;
  return 1;
}

/* Returns whether no word has a mark above limit and, if written is set, all bytes are written. */
static inline bool may_log(const struct sm_shadow *s, const struct run *run, uint32_t limit,
                           bool written) {
  const uint32_t each = SM_WRITTEN * (UINT32_MAX / UINT8_MAX);
  const uint32_t *mark = &s->mark[run->at / SM_CELL_BYTES];
  const uint32_t *defined = (const uint32_t *)(const void *)(s->shared_defined + run->at);
  const uint32_t words = run->bytes / SM_CELL_BYTES;
  uint32_t above = 0, missing = 0;
  for (uint32_t k = 0; words < SM_HALF && k < words; k++) {
    above |= limit - mark[k];
    missing |= defined[k] ^ each;
  }
  for (uint32_t k = 0; words >= SM_HALF && k < words; k += SM_HALF)
    FOR_HALF {
      above |= limit - mark[k + i];
      missing |= defined[k + i] ^ each;
    }
  return (int32_t)above >= 0 && !(written && missing);
}

static inline void mark_run(struct sm_shadow *s, const struct run *run, uint32_t value) {
  uint32_t *mark = &s->mark[run->at / SM_CELL_BYTES];
  const uint32_t words = run->bytes / SM_CELL_BYTES;
  for (uint32_t k = 0; words < SM_HALF && k < words; k++)
    mark[k] = value;
  for (uint32_t k = 0; words >= SM_HALF && k < words; k += SM_HALF)
    FOR_HALF
  mark[k + i] = value;
}

/* Returns the lanes whose store of a word changes memory. */
static uint32_t changing_words(const struct sm_warp *w, const struct sm_uop *u,
                               const struct run *run, unsigned runs) {
  struct sm_lanes old, defined, written;
  for (unsigned k = 0; k < 2; k++) {
    const uint32_t at =
        runs == 2 ? run[k].at : run->at + k * (uint32_t)(SM_HALF * sizeof(uint32_t));
    memcpy(&old.l[k * SM_HALF], w->shared + at, sizeof old / 2);
    memcpy(&defined.l[k * SM_HALF], w->cta->shadow->shared_defined + at, sizeof defined / 2);
  }
  sm_splat(written.l, SM_WRITTEN * (UINT32_MAX / UINT8_MAX));
  return ~(sm_mask_same(old.l, sm_file_at(w, u->s[1])) & sm_mask_same(defined.l, written.l));
}

/* Notes that w accesses shared memory at its present clock. */
static void note_access(const struct sm_warp *w) {
  struct sm_warp_shadow *ws = sm_shadow_of(w);
  ws->accessed = ws->clock[w->index] + 1;
}

/* Adds an access to the log. The lanes of the entry are set. */
static void add_logged(struct sm_shadow *s, struct sm_warp *w, const struct sm_uop *u,
                       const struct sm_note *note) {
  struct sm_logged *l = &s->log[s->logged++];
  l->is_write = note->access == SM_ACCESS_STORE;
  l->bytes = note->bytes;
  l->touch = sm_touch_by(w, u, note, false);
  l->touch.thread = (uint16_t)(w->index * SM_LANES);
}

/* Logs an access of all lanes with a pattern, of one word each if they write. Returns false, and
 * has changed nothing, if there is none, or each lane has to be checked. */
static bool log_runs(struct sm_warp *w, const struct sm_uop *u, const struct sm_note *note) {
  struct sm_shadow *s = w->cta->shadow;
  struct sm_logged *l = &s->log[s->logged];
  const bool is_write = note->access == SM_ACCESS_STORE;
  const uint32_t *a = sm_file_at(w, u->s[0]), scale = u->memory.scale;
  const uint32_t term = sm_file_at(w, u->memory.uniform)[0] + (uint32_t)u->memory.offset;
  struct run run[2];
  const unsigned runs = is_write && note->bytes != SM_CELL_BYTES ? 0 : find_runs(w, u, note, run);
  for (unsigned k = 0; k < runs; k++)
    if (!may_log(s, &run[k], s->phase + (is_write ? 0 : READ), !is_write))
      return false;
  if (!runs)
    return false;
  note_access(w);
  l->lanes[0] = l->lanes[1] = l->lanes[2] = l->lanes[3] = SM_ALL_LANES;
  if (is_write && !(l->lanes[0] = changing_words(w, u, run, runs)))
    return true;
  FOR_LANES
  l->at.l[i] = (a[i] << scale) + term;
  add_logged(s, w, u, note);
  for (unsigned k = 0; k < runs; k++) {
    mark_run(s, &run[k], s->phase + (is_write ? WRITE : READ));
    if (is_write)
      memset(s->shared_defined + run[k].at, SM_WRITTEN, run[k].bytes);
  }
  return true;
}

/* Returns whether an atomic of the lanes of m accesses written memory only. Then it has no
 * record. */
static bool is_good_atomic(const struct sm_warp *w, const struct sm_uop *u,
                           const struct sm_note *note, uint32_t m) {
  struct sm_lanes at;
  struct span span;
  return !is_arrival(note) && find_span(w, u, note, m, at.l, &span) &&
         are_all_written(w->cta->shadow, &span, note->bytes);
}

bool sm_shared_log(struct sm_warp *w, const struct sm_uop *u, const struct sm_note *note,
                   uint32_t m) {
  struct sm_shadow *s = w->cta->shadow;
  const bool is_write = note->access == SM_ACCESS_STORE;
  const uint32_t bytes = note->bytes;
  struct span span;
  if (note->strong) {
    if (s->logged)
      enter_log(s, w->shared); /* before memory loses the values of its stores */
    return is_good_atomic(w, u, note, m);
  }
  if ((!is_write && note->access != SM_ACCESS_LOAD) || !s->log)
    return false;
  if (s->logged == LOG)
    enter_log(s, w->shared);
  if (m == SM_ALL_LANES && log_runs(w, u, note))
    return true;
  struct sm_logged *l = &s->log[s->logged];
  if (!find_span(w, u, note, m, l->at.l, &span) ||
      !has_marks_up_to(s, &span, bytes, s->phase + (is_write ? 0 : READ)) ||
      !(is_write ? are_increasing(&span, m, bytes) : are_all_written(s, &span, bytes)))
    return false;
  note_access(w);
  l->bytes = (uint8_t)bytes;
  if (!is_write)
    l->lanes[0] = l->lanes[1] = l->lanes[2] = l->lanes[3] = m;
  else if (!find_changes(w, u, &span, m, l))
    return true;
  add_logged(s, w, u, note);
  set_marks(s, &span, bytes, s->phase + (is_write ? WRITE : READ));
  if (is_write)
    set_written(w, &span, m, bytes);
  return true;
}

/* --- one lane --------------------------------------------------------------------- */

/* A read of an mbarrier is ordered after all earlier arrivals at it. */
static void check_mbarrier(const struct sm_access *a, uint8_t *defined) {
  if (is_arrival(a->note))
    memset(defined, SM_MBARRIER, a->bytes);
  else if (!a->is_write && *defined == SM_MBARRIER)
    sm_acquire_clock(a->w, a->w->cta->shadow->lock_clock);
}

bool sm_shared_access(struct sm_access *a, bool undefined) {
  struct sm_shadow *s = a->w->cta->shadow;
  const uint32_t bytes = a->bytes, mark = s->phase + (a->is_write ? WRITE : READ);
  uint8_t *defined = s->shared_defined + a->at;
  bool found = false;
  if (a->at + bytes > a->w->shared_bytes || a->at & (bytes - 1))
    return false; /* it will fault */
  if (s->logged)
    enter_log(s, a->w->shared);
  if (!a->strong)
    note_access(a->w);
  a->memory = a->w->shared + a->at;
  a->defined = defined;
  for (uint32_t done = 0; done < bytes && !a->strong;) {
    const struct sm_part p = sm_part_of(a->at, bytes, done);
    const uint64_t word = (a->at + done) / SM_CELL_BYTES;
    sm_check_race(a, &s->cell[word], &p);
    s->mark[word] = s->mark[word] > mark ? s->mark[word] : mark;
    done += p.count;
  }
  if (!undefined && !is_arrival(a->note) && are_written(defined, bytes))
    return false;
  uint64_t origin = sm_pc_of(a->w, a->u) | SM_CAUSE_SHARED;
  for (uint32_t k = 0; k < bytes; k++) {
    sm_note_origin(&s->shared_origin[(a->at + k) / SM_CELL_BYTES], a, !defined[k], undefined,
                   &origin);
    found |= !defined[k];
    if (a->is_write)
      defined[k] = undefined ? SM_UNWRITTEN : SM_WRITTEN;
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
