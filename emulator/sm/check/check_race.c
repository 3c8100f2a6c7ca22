/* Check mode: data races.
 *
 * Two accesses to a byte race if different work-items of a grid make them, at least one is a write,
 * and nothing orders them:
 *
 * - Barriers order the accesses within a CTA. Vector clocks track this: an access happened before
 *   if the other warp has seen the clock that the accessing warp had at the time.
 * - Within a warp, the clock also advances at warp-synchronous operations.
 * - Compare-and-swap and exchange order the accesses before and after them, as locks do.
 * - Accesses of two CTAs are ordered if the first CTA has released after its access (by a fence of
 *   wider scope than the CTA, or by an atomic that locks use) and the second has acquired since
 *   then. Whether both used the same variable is not checked, so no correct program is reported.
 *
 * Two strong accesses (atomic or volatile) do not race. A write of the value that memory has counts
 * as a read: only a write of another value races with it. So do unordered writes of the same value
 * by one instruction, after the first one, because that may not be in memory yet. The record of a
 * word has its last writer, or the first of these, and the last readers from two warps, or, of
 * global memory, reads by two CTAs after which no other is recorded (check_row.c). */
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>

#include "emulator/sm/check/watch.h"

_Static_assert(sizeof(struct sm_cell) == SM_CELL_SIZE, "must equal sizeof(struct sm_cell)");
_Static_assert(sizeof(struct sm_row) == SM_ROW_SIZE, "must equal sizeof(struct sm_row)");

_Atomic uint32_t sm_releases;

/* The time of each CTA's last release, indexed by the CTA's number. CTAs that share an entry count
 * as having released together. */
enum { RELEASES = 4096 };
static _Atomic uint32_t released[RELEASES];

void sm_check_order(struct sm_warp *w, const struct sm_note *note) {
  struct sm_shadow *s = w->cta->shadow;
  if (note->releases_all)
    atomic_store(&released[s->number % RELEASES], atomic_fetch_add(&sm_releases, 1) + 1);
  if (note->acquires_all)
    s->acquired = atomic_load(&sm_releases);
}

static bool ordered_between_ctas(const struct sm_access *a, const struct sm_touch *t) {
  if (!a->global || !sm_is_of_grid(a, t))
    return true; /* of an earlier grid, or of a CTA that used this shared memory before */
  return atomic_load_explicit(&released[t->cta % RELEASES], memory_order_relaxed) > t->time &&
         a->w->cta->shadow->acquired > t->time;
}

/* Returns whether the recorded access t is ordered before the current access. */
static bool is_ordered(const struct sm_access *a, const struct sm_touch *t) {
  const struct sm_warp *w = a->w;
  const uint32_t warp = sm_touch_warp(t), lane = sm_touch_thread(t) % SM_LANES;
  if (t->cta != w->cta->shadow->number)
    return ordered_between_ctas(a, t);
  return t->clock < sm_shadow_of(w)->clock[warp] ||
         (warp == w->index && lane == a->lane && !(t->by & SM_TOUCH_BY_SEVERAL));
}

/* Describes the work-items of a recorded access, and their group if it is another one. */
static void describe_touch(const struct sm_access *a, const struct sm_touch *t, char *text,
                           size_t size) {
  const struct sm_grid *g = a->w->cta->grid;
  const uint32_t n = sm_touch_thread(t), *b = g->block;
  if (t->cta == a->w->cta->shadow->number && n == a->w->index * SM_LANES + a->lane) {
    snprintf(text, size, "other work-items of its sub-group");
    return;
  }
  const int length =
      snprintf(text, size, "work-item (%u,%u,%u)", n % b[0], n / b[0] % b[1], n / b[0] / b[1]);
  const uint32_t c = t->cta - g->first_number;
  if (t->cta != a->w->cta->shadow->number)
    snprintf(text + length, size - (size_t)length, " of group (%u,%u,%u)", c % g->grid[0],
             c / g->grid[0] % g->grid[1], c / g->grid[0] / g->grid[1]);
}

static void report_race(const struct sm_access *a, const struct sm_touch *t, bool was_write) {
  char who[96];
  describe_touch(a, t, who, sizeof who);
  sm_report(a->w, sm_pc_of(a->w, a->u), SM_REPORT_RACE, a->lane,
            &(struct sm_about){.address = a->at,
                               .bytes = a->bytes,
                               .is_write = a->is_write,
                               .other_pc = a->w->cta->grid->program + t->pc},
            "data race on %s memory at 0x%" PRIx64 ": this %s is not ordered after the %s by %s",
            a->global ? "global" : "local", a->at, a->is_write ? "write" : "read",
            was_write || t->by & SM_TOUCH_VALUED ? "write" : "read", who);
}

/* Returns whether two unordered accesses do not race: both are strong, or one is a
 * compare-and-swap, which verifies the value that the other one reads. */
static bool is_harmless(const struct sm_access *a, const struct sm_touch *t, bool was_write) {
  return (a->strong && t->by & SM_TOUCH_STRONG) || (a->note->compares && !was_write) ||
         (t->by & SM_TOUCH_COMPARES && !a->is_write);
}

/* Returns whether the texture units read what a store of their own grid wrote. They may not see it
 * even if it is ordered before the read (docs/hardware/textures.md 4.3). */
static bool is_unseen(const struct sm_access *a, const struct sm_touch *writer, uint32_t mask) {
  return a->by_units && sm_touch_bytes(writer) & mask && sm_is_of_grid(a, writer);
}

static void report_unseen(const struct sm_access *a, const struct sm_touch *t) {
  char who[96];
  describe_touch(a, t, who, sizeof who);
  sm_report(a->w, sm_pc_of(a->w, a->u), SM_REPORT_RACE, a->lane,
            &(struct sm_about){
                .address = a->at, .bytes = a->bytes, .other_pc = a->w->cta->grid->program + t->pc},
            "the texture units read memory at 0x%" PRIx64
            " that this grid has written, which they need not see: the write by %s",
            a->at, who);
}

static inline bool has_conflict(const struct sm_access *a, const struct sm_touch *t, uint32_t mask,
                                bool was_write) {
  return sm_touch_bytes(t) & mask && !is_harmless(a, t, was_write) && !is_ordered(a, t);
}

bool sm_is_race(const struct sm_access *a, const struct sm_touch *t, uint32_t mask,
                bool was_write) {
  return has_conflict(a, t, mask, was_write);
}

static uint32_t value_word(const struct sm_access *a, unsigned word, uint32_t lane) {
  return sm_file_at(a->w, a->u->s[1] + word * SM_REG_BYTES)[lane];
}

static uint8_t stored_byte(const struct sm_access *a, unsigned byte) {
  return a->stored ? a->stored[byte] : (uint8_t)(value_word(a, byte / 4, a->lane) >> byte % 4 * 8);
}

/* Returns whether the write changes memory. What an undefined value does depends on the order. */
static bool changes_memory(const struct sm_access *a, const struct sm_part *p) {
  if (a->note->space == SM_SPACE_COPY || a->note->access == SM_ACCESS_ATOMIC || a->undefined)
    return true;
  for (unsigned k = p->offset; k < p->offset + p->count; k++)
    if ((a->defined && !a->defined[k]) || a->memory[k] != stored_byte(a, k))
      return true;
  return false;
}

/* Returns the bytes that a store writes to one word, at their places in it. */
static uint32_t stored_bytes(const struct sm_access *a, const struct sm_part *p) {
  uint32_t value = 0;
  for (unsigned k = 0; k < p->count; k++) {
    const unsigned byte = p->offset + k;
    value |= (uint32_t)stored_byte(a, byte) << (p->first + k) * 8;
  }
  return value;
}

/* Returns whether a store repeats the value of the store before it, which may not be in memory
 * yet. */
static bool repeats_write(const struct sm_cell *cell, const struct sm_touch *now, uint32_t value) {
  const uint32_t common = sm_touch_bytes(&cell->writer) & sm_touch_bytes(now);
  if (!(cell->writer.by & now->by & SM_TOUCH_VALUED))
    return false;
  for (unsigned k = 0; k < SM_CELL_BYTES; k++)
    if (common >> k & 1 && (uint8_t)(value >> k * 8) != (uint8_t)(cell->value >> k * 8))
      return false;
  return true;
}

bool sm_is_ordered_write(const struct sm_access *a, const struct sm_touch *writer) {
  if (writer->cta != a->w->cta->shadow->number)
    return ordered_between_ctas(a, writer);
  return writer->clock < sm_shadow_of(a->w)->clock[sm_touch_warp(writer)];
}

/* Returns whether a store repeats the value of another lane's store by the same instruction, which
 * it is not ordered after. That value may not be in memory yet. */
static bool stores_again(const struct sm_access *a, const struct sm_cell *cell,
                         const struct sm_touch *now) {
  const struct sm_touch *writer = &cell->writer;
  return writer->cta == now->cta && writer->pc == now->pc &&
         !(sm_touch_bytes(now) & ~sm_touch_bytes(writer)) && !sm_is_ordered_write(a, writer);
}

/* Compares a write with the last readers. Some of them may have stored what the writer of the cell
 * has, which a store that repeats it does not race with. */
static void check_readers(const struct sm_access *a, const struct sm_cell *cell, uint32_t mask,
                          bool repeats) {
  for (unsigned k = 0; k < 2; k++) {
    const struct sm_touch *reader = &cell->reader[k];
    const bool has_stored = reader->by & SM_TOUCH_REPEATS;
    if (!(repeats && has_stored) && has_conflict(a, reader, mask, has_stored))
      report_race(a, reader, has_stored);
  }
}

/* Drops the readers that have stored what the writer of the cell has, because it gets another
 * one. */
static void drop_repeats(struct sm_cell *cell) {
  for (unsigned k = 0; k < 2; k++)
    if (cell->reader[k].by & SM_TOUCH_REPEATS)
      cell->reader[k].by = 0;
}

void sm_check_race(struct sm_access *a, struct sm_cell *cell, const struct sm_part *p) {
  struct sm_touch now = sm_touch_by_lane(a, p->mask);
  if (a->undefined)
    now.by &= ~(uint32_t)SM_TOUCH_VALUED;
  const uint32_t value = now.by & SM_TOUCH_VALUED ? stored_bytes(a, p) : 0;
  const bool repeats = a->is_write && repeats_write(cell, &now, value);
  if (a->is_write && !changes_memory(a, p)) {
    /* A store of another value may not be in memory yet. */
    if (cell->writer.by & now.by & SM_TOUCH_VALUED && !repeats &&
        has_conflict(a, &cell->writer, p->mask, true))
      report_race(a, &cell->writer, true);
    sm_add_reader(cell->reader, &now);
    return;
  }
  if (is_unseen(a, &cell->writer, p->mask))
    report_unseen(a, &cell->writer);
  else if (!repeats && has_conflict(a, &cell->writer, p->mask, true))
    report_race(a, &cell->writer, true);
  if (!a->is_write) {
    a->by_writer |= a->several && sm_touch_thread(&cell->writer) == sm_touch_thread(&now);
    now.by |= a->several ? (uint32_t)SM_TOUCH_BY_SEVERAL : 0;
    sm_add_reader(cell->reader, &now);
    return;
  }
  check_readers(a, cell, p->mask, repeats);
  if (repeats && stores_again(a, cell, &now)) {
    now.by |= SM_TOUCH_REPEATS;
    sm_add_reader(cell->reader, &now);
    return;
  }
  drop_repeats(cell);
  cell->writer = now;
  cell->value = value;
}
