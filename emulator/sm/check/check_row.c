/* Check mode: whole rows of global memory. Most accesses of a warp are to consecutive words, so the
 * records of 16 words differ in the work-item only. A row has them once, until somebody accesses a
 * part of it, or records differ in another way. Then the row is split: each word has its cell.
 *
 * Some rows are read by many CTAs, as those of the factors of a matrix product. Once two CTAs have
 * read a whole row that the grid has not written, every later write in the grid races with one of
 * these reads, unless both have released since and the writer has acquired. So further reads until
 * the next release are not recorded: the row has a stamp (watch.h), until it is written, or another
 * grid reads it. */
#include <stdatomic.h>
#include <string.h>

#include "emulator/sm/check/watch.h"

enum { ALL_BYTES = (1 << SM_CELL_BYTES) - 1, ALL_WORDS = (1 << SM_ROW_WORDS) - 1 };
enum { NOT_PLAIN = SM_TOUCH_STRONG | SM_TOUCH_COMPARES | SM_TOUCH_VALUED | SM_TOUCH_REPEATS };
enum { AHEAD = 2048 / SM_ROW_BYTES }; /* prefetched, as exec_mem.c does the memory */

/* Returns the record of a row. Writes to it before anybody reads it: the host maps a page that is
 * read first twice, and stops the other cores meanwhile. */
static struct sm_row *row_at(const struct sm_memory_shadow *shadow, uint64_t offset) {
  struct sm_row *row = &shadow->rows[offset / SM_ROW_BYTES];
  row->is_used = true;
  atomic_signal_fence(memory_order_seq_cst);
  return row;
}

static struct sm_cell *cells_at(const struct sm_memory_shadow *shadow, uint64_t offset) {
  return &shadow->cells[offset / SM_ROW_BYTES * SM_ROW_WORDS];
}

static struct sm_touch touch_of_word(const struct sm_touch *t, unsigned word) {
  struct sm_touch out = *t;
  out.by = (t->by & ~(3u << SM_TOUCH_SHIFT_AT)) + (word >> sm_touch_shift(t));
  return out;
}

/* Returns whether a reader is the store that the writer is. It has changed some words of the row,
 * of which it is no reader, and repeated the values of the others. */
static bool is_same_store(const struct sm_touch *reader, const struct sm_touch *writer) {
  return reader->by & SM_TOUCH_VALUED && reader->cta == writer->cta && reader->pc == writer->pc &&
         reader->clock == writer->clock && reader->time == writer->time &&
         sm_touch_thread(reader) == sm_touch_thread(writer);
}

static __attribute__((noinline)) void
split_row(struct sm_row *row, const struct sm_memory_shadow *shadow, uint64_t offset) {
  struct sm_cell *cell = cells_at(shadow, offset);
  const bool is_partly_written = row->words && row->words != ALL_WORDS;
  for (unsigned k = 0; k < SM_ROW_WORDS; k++) {
    const bool is_written = row->words >> k & 1;
    cell[k].writer = is_written ? touch_of_word(&row->writer, k) : (struct sm_touch){.by = 0};
    for (unsigned r = 0; r < 2; r++) {
      const bool is_writer =
          is_partly_written && is_written && is_same_store(&row->reader[r], &row->writer);
      cell[k].reader[r] =
          is_writer ? (struct sm_touch){.by = 0} : touch_of_word(&row->reader[r], k);
    }
    cell[k].value = row->value[k];
  }
  row->is_split = true;
}

static inline void use_cells(const struct sm_memory_shadow *shadow, uint64_t offset) {
  struct sm_row *row = row_at(shadow, offset);
  if (!row->is_split)
    split_row(row, shadow, offset);
}

void sm_row_split(const struct sm_memory_shadow *shadow, uint64_t offset) {
  use_cells(shadow, offset);
}

/* --- stamps ------------------------------------------------------------------------- */

static void set_stamp(const struct sm_access *a, const struct sm_memory_shadow *shadow,
                      uint64_t offset) {
  __atomic_store_n(&shadow->stamps[offset / SM_ROW_BYTES], sm_stamp_of(a), __ATOMIC_RELAXED);
  shadow->rows[offset / SM_ROW_BYTES].is_stamped = true;
}

/* Returns whether a recorded read of a whole word races with every write of another CTA, unless it
 * is released later. */
static bool is_plain_read(const struct sm_access *a, const struct sm_touch *t) {
  return sm_is_of_grid(a, t) && t->time == a->touch.time && sm_touch_bytes(t) == ALL_BYTES &&
         !(t->by & NOT_PLAIN);
}

/* Returns whether two CTAs have read, and none of the grid has written, so that another read adds
 * nothing. */
static bool have_two_read(const struct sm_access *a, const struct sm_touch *reader,
                          const struct sm_touch *writer) {
  return is_plain_read(a, &reader[0]) && is_plain_read(a, &reader[1]) &&
         reader[0].cta != reader[1].cta && !(sm_touch_bytes(writer) && sm_is_of_grid(a, writer));
}

/* Returns whether a recorded access cannot race with any later one, because its grid has ended. */
static bool is_over(const struct sm_access *a, const struct sm_touch *t) {
  const struct sm_watch *watch = a->w->cta->grid->watch;
  return !sm_touch_bytes(t) ||
         (atomic_load_explicit(&watch->unfinished_grids, memory_order_relaxed) <= 1 &&
          !sm_is_of_grid(a, t));
}

/* Drops the records of a split row if all are over. Returns false if one is not. */
static __attribute__((noinline)) bool
join_row(const struct sm_access *a, const struct sm_memory_shadow *shadow, uint64_t offset) {
  const struct sm_cell *cell = cells_at(shadow, offset);
  for (unsigned k = 0; k < SM_ROW_WORDS; k++)
    if (!is_over(a, &cell[k].writer) || !is_over(a, &cell[k].reader[0]) ||
        !is_over(a, &cell[k].reader[1]))
      return false;
  sm_row_drop_stamp(shadow, offset);
  memset(row_at(shadow, offset), 0, sizeof(struct sm_row));
  return true;
}

/* Returns whether the access may race with a recorded one. */
static bool may_race(const struct sm_access *a, const struct sm_touch *t,
                     const struct sm_touch *now, bool was_write) {
  if (!sm_is_race(a, t, ALL_BYTES, was_write))
    /* A work-item's accesses are ordered, but each word's must be by the same work-item. */
    return sm_touch_bytes(t) && sm_touch_shift(t) != sm_touch_shift(now) &&
           sm_touch_thread(t) == sm_touch_thread(now) && !is_over(a, t);
  return true;
}

enum written { WRITTEN_ALL, WRITTEN_NONE, WRITTEN_SOME };
static enum written written_bytes(const uint8_t *written) {
  const uint64_t each = UINT64_MAX / UINT8_MAX;
  uint64_t all = each, any = 0;
  if (!written)
    return WRITTEN_ALL;
#pragma GCC unroll 8
  for (unsigned k = 0; k < SM_ROW_BYTES; k += sizeof all) {
    const uint64_t part =
        __atomic_load_n((const uint64_t *)(const void *)(written + k), __ATOMIC_RELAXED);
    all &= part;
    any |= part;
  }
  return all == each ? WRITTEN_ALL : any ? WRITTEN_SOME : WRITTEN_NONE;
}

static void set_written(uint8_t *written) {
  const uint64_t each = UINT64_MAX / UINT8_MAX;
  for (unsigned k = 0; k < SM_ROW_BYTES; k += sizeof each)
    __atomic_store_n((uint64_t *)(void *)(written + k), each, __ATOMIC_RELAXED);
}

/* Sets the stamp of a split row if two CTAs have read all of it and none has written it. */
static __attribute__((noinline)) void stamp_cells(const struct sm_access *a,
                                                  const struct sm_memory_shadow *shadow,
                                                  uint64_t offset, const uint8_t *written) {
  const struct sm_cell *cell = cells_at(shadow, offset);
  /* From the last one: others may be reading the words in turn. */
  for (unsigned k = SM_ROW_WORDS; k--;)
    if (!have_two_read(a, cell[k].reader, &cell[k].writer))
      return;
  offset -= offset % SM_ROW_BYTES;
  if (written_bytes(written ? written + offset : NULL) == WRITTEN_ALL)
    set_stamp(a, shadow, offset);
}

/* Returns whether an access can be added to those that have read the row. */
static inline bool can_add_reader(const struct sm_row *row, const struct sm_touch *now) {
  return sm_touch_shift(&row->reader[0]) == sm_touch_shift(now) ||
         !sm_follows_read(&row->reader[0], now);
}

static bool row_load(const struct sm_access *a, struct sm_row *row, const struct sm_touch *now) {
  if (row->words && (a->several ? !sm_is_settled(a, &row->writer, ALL_BYTES)
                                : may_race(a, &row->writer, now, true)))
    return false;
  if (!can_add_reader(row, now))
    return false;
  sm_add_reader(row->reader, now);
  return true;
}

/* Returns the words whose value a store changes. value are those that it stores. */
static uint32_t changed_words(const uint8_t *memory, const uint32_t *value) {
  uint32_t old[SM_ROW_WORDS], changed = 0;
  memcpy(old, memory, sizeof old);
  for (unsigned k = 0; k < SM_ROW_WORDS; k++)
    changed |= (0 - (uint32_t)(old[k] != value[k])) & sm_lane_bit[k];
  return changed;
}

static void stored_words(const struct sm_access *a, unsigned shift, uint32_t *value) {
  const unsigned words = 1u << shift;
  if (!shift) {
    memcpy(value, sm_file_at(a->w, a->u->s[1]) + a->lane, SM_ROW_BYTES);
    return;
  }
  for (unsigned word = 0; word < words; word++) {
    const uint32_t *from = sm_file_at(a->w, a->u->s[1] + word * SM_REG_BYTES) + a->lane;
    for (unsigned k = 0; k < (unsigned)SM_ROW_WORDS >> shift; k++)
      value[k * words + word] = from[k];
  }
}

/* Returns whether a strong store may repeat the values that other work-items have stored at the
 * same instruction. Then these remain the writers (sm_check_race). */
static bool may_repeat(const struct sm_access *a, const struct sm_touch *writer,
                       const struct sm_touch *now) {
  return a->strong && writer->cta == now->cta && writer->pc == now->pc &&
         sm_touch_thread(writer) != sm_touch_thread(now);
}

/* Returns whether all that races with a store which repeats values races with the row's only read,
 * too: a weak load by the same work-items just before. */
static bool has_own_read(const struct sm_access *a, const struct sm_row *row,
                         const struct sm_touch *now) {
  const struct sm_touch *read = &row->reader[0];
  return !a->strong && !(read->by & NOT_PLAIN) && sm_follows_read(read, now) &&
         sm_touch_thread(read) == sm_touch_thread(now) && is_over(a, &row->reader[1]);
}

static __attribute__((noinline)) bool row_store(const struct sm_access *a, struct sm_row *row,
                                                const struct sm_touch *now, enum written written) {
  uint32_t value[SM_ROW_WORDS];
  stored_words(a, sm_touch_shift(now), value);
  const uint32_t changed = written == WRITTEN_ALL ? changed_words(a->memory, value) : ALL_WORDS;
  if (changed != ALL_WORDS && !can_add_reader(row, now))
    return false;
  if (!changed) {
    if (row->words && may_race(a, &row->writer, now, true))
      return false; /* it may store another value, which is not in memory yet */
    sm_add_reader(row->reader, now);
    return true;
  }
  if ((row->words && may_race(a, &row->writer, now, true)) ||
      may_race(a, &row->reader[0], now, false) || may_race(a, &row->reader[1], now, false) ||
      (changed != ALL_WORDS && row->words && !is_over(a, &row->writer)) ||
      (row->words && may_repeat(a, &row->writer, now)))
    return false;
  if (changed != ALL_WORDS && !has_own_read(a, row, now)) {
    if (!is_over(a, &row->reader[0]) || !is_over(a, &row->reader[1]))
      return false; /* the words that do not change have one more reader than the others */
    sm_add_reader(row->reader, now);
  }
  row->writer = *now;
  row->words = (uint16_t)changed;
  memcpy(row->value, value, sizeof value);
  return true;
}

/* Checks one row. now is the record of its first lane. */
static inline bool access_row(const struct sm_access *a, const struct sm_memory_shadow *shadow,
                              uint64_t offset, const struct sm_touch *now, uint8_t *of_range,
                              uint32_t *undefined) {
  struct sm_row *row = row_at(shadow, offset);
  __builtin_prefetch(row + AHEAD, 1);
  if (a->is_write)
    __builtin_prefetch(&row[AHEAD].value, 1);
  if (sm_row_is_free(a, shadow, offset))
    return true;
  uint8_t *written = of_range ? of_range + offset : NULL;
  const enum written state = written_bytes(written);
  if (state == WRITTEN_SOME || (row->is_split && !join_row(a, shadow, offset)))
    return false;
  if (!a->is_write && state == WRITTEN_ALL && have_two_read(a, row->reader, &row->writer)) {
    set_stamp(a, shadow, offset);
    return true;
  }
  if (!a->is_write ? !row_load(a, row, now) : !row_store(a, row, now, state))
    return false;
  const uint32_t lanes = (1u << (SM_ROW_WORDS >> sm_touch_shift(now))) - 1;
  *undefined |= !a->is_write && state == WRITTEN_NONE ? lanes << a->lane : 0;
  if (a->is_write && state == WRITTEN_NONE)
    set_written(written);
  return true;
}

/* Returns the record of an access by a->lane and the lanes after it to a row. */
static inline struct sm_touch touch_by_lanes(const struct sm_access *a) {
  struct sm_touch now = sm_touch_by_lane(a, ALL_BYTES);
  now.by |= (uint32_t)__builtin_ctz(a->bytes / SM_CELL_BYTES) << SM_TOUCH_SHIFT_AT |
            (a->several ? (uint32_t)SM_TOUCH_BY_SEVERAL : 0);
  return now;
}

uint32_t sm_row_access(struct sm_access *a, const struct sm_memory_shadow *shadow, uint64_t offset,
                       uint32_t rows, uint32_t *undefined) {
  uint8_t *of_range = __atomic_load_n(&shadow->written, __ATOMIC_ACQUIRE);
  struct sm_touch now = touch_by_lanes(a);
  const uint32_t lanes = SM_ROW_WORDS >> sm_touch_shift(&now);
  for (uint32_t k = 0; k < rows; k++) {
    if (!access_row(a, shadow, offset, &now, of_range, undefined))
      return k;
    offset += SM_ROW_BYTES;
    a->memory += SM_ROW_BYTES;
    a->lane += lanes;
    now.by += lanes;
  }
  return rows;
}

uint32_t sm_row_read_first(struct sm_access *a, const struct sm_memory_shadow *shadow,
                           uint64_t offset, uint32_t rows) {
  const struct sm_grid *grid = a->w->cta->grid;
  const uint32_t first = grid->first_number;
  const uint64_t ctas = a->w->cta->shadow->ctas;
  const uint8_t *written = __atomic_load_n(&shadow->written, __ATOMIC_ACQUIRE);
  struct sm_touch now = touch_by_lanes(a);
  const uint32_t lanes = SM_ROW_WORDS >> sm_touch_shift(&now);
  if (atomic_load_explicit(&grid->watch->unfinished_grids, memory_order_relaxed) > 1)
    return 0;
  for (uint32_t k = 0; k < rows; k++, offset += SM_ROW_BYTES, now.by += lanes) {
    struct sm_row *row = row_at(shadow, offset);
    __builtin_prefetch(row + AHEAD, 1);
    if (row->is_split || row->is_stamped || row->writer.cta - first < ctas ||
        row->reader[0].cta - first < ctas || row->reader[1].cta - first < ctas ||
        (written && written_bytes(written + offset) != WRITTEN_ALL))
      return k;
    if (a->lane == SM_LANES) {
      a->lane = 0;
      a->w = sm_warp_after(a->w, 1);
      now.clock = sm_shadow_of(a->w)->clock[a->w->index];
    }
    row->words = 0;
    row->reader[0] = now;
    row->reader[1].by = 0;
    a->lane += lanes;
  }
  return rows;
}

/* Records a read of words by several lanes. Returns false if it may race with a write. */
static bool add_reader_of_words(const struct sm_access *a, struct sm_cell *cell, unsigned words) {
  struct sm_touch now = sm_touch_by_lane(a, ALL_BYTES);
  now.by |= SM_TOUCH_BY_SEVERAL;
  for (unsigned k = 0; k < words; k++)
    if (!sm_is_settled(a, &cell[k].writer, ALL_BYTES))
      return false;
  for (unsigned k = 0; k < words; k++)
    sm_add_reader(cell[k].reader, &now);
  return true;
}

bool sm_row_read_same(const struct sm_access *a, const struct sm_memory_shadow *shadow,
                      uint64_t offset, bool *undefined) {
  const uint8_t *written = __atomic_load_n(&shadow->written, __ATOMIC_ACQUIRE);
  struct sm_cell *cell = &shadow->cells[offset / SM_CELL_BYTES];
  const unsigned words = a->bytes / SM_CELL_BYTES;
  bool are_known = true;
  if (sm_row_is_free(a, shadow, offset))
    return true;
  use_cells(shadow, offset);
  for (unsigned k = 0; k < words; k++)
    are_known &= have_two_read(a, cell[k].reader, &cell[k].writer);
  if (are_known)
    stamp_cells(a, shadow, offset, written);
  else if (!add_reader_of_words(a, cell, words))
    return false;
  *undefined = written && !sm_are_written(written + offset, a->bytes);
  return true;
}

/* Returns whether an atomic does not race with a recorded access, without a look at clocks. */
static inline bool is_clear_of(const struct sm_access *a, const struct sm_touch *t) {
  return !sm_touch_bytes(t) || t->by & SM_TOUCH_STRONG || !sm_is_of_grid(a, t);
}

bool sm_row_atomic(const struct sm_access *a, const struct sm_memory_shadow *shadow,
                   uint64_t offset) {
  const uint8_t *written = __atomic_load_n(&shadow->written, __ATOMIC_ACQUIRE);
  struct sm_cell *cell = &shadow->cells[offset / SM_CELL_BYTES];
  if (written && !sm_are_written(written + offset, a->bytes))
    return false;
  use_cells(shadow, offset);
  for (unsigned k = 0; k < a->bytes / SM_CELL_BYTES; k++)
    if (!is_clear_of(a, &cell[k].writer) || !is_clear_of(a, &cell[k].reader[0]) ||
        !is_clear_of(a, &cell[k].reader[1]))
      return false;
  sm_row_drop_stamp(shadow, offset);
  for (unsigned k = 0; k < a->bytes / SM_CELL_BYTES; k++) {
    cell[k].writer = sm_touch_by_lane(a, ALL_BYTES);
    cell[k].value = 0;
  }
  return true;
}

bool sm_row_read_parts(const struct sm_access *a, const struct sm_memory_shadow *shadow,
                       uint64_t offset) {
  const uint8_t *written = __atomic_load_n(&shadow->written, __ATOMIC_ACQUIRE);
  struct sm_cell *cell = &shadow->cells[offset / SM_CELL_BYTES];
  const unsigned words = SM_LANES * a->bytes / SM_CELL_BYTES, lanes = SM_CELL_BYTES / a->bytes;
  const uint32_t part = (1u << a->bytes) - 1;
  const struct sm_touch first = sm_touch_by_lane(a, part);
  if (written && !sm_are_written(written + offset, words * SM_CELL_BYTES))
    return false;
  use_cells(shadow, offset);
  use_cells(shadow, offset + (words - 1) * (uint64_t)SM_CELL_BYTES); /* perhaps the next row */
  for (unsigned k = 0; k < words; k++)
    if (!sm_is_settled(a, &cell[k].writer, ALL_BYTES) ||
        sm_follows_read(&cell[k].reader[0], &first))
      return false;
  sm_row_drop_stamp(shadow, offset);
  sm_row_drop_stamp(shadow, offset + (words - 1) * (uint64_t)SM_CELL_BYTES);
  struct sm_touch last = a->touch; /* the last of the lanes that read a word */
  last.by |=
      (a->w->index * SM_LANES + lanes - 1) | part << (SM_CELL_BYTES - a->bytes + SM_TOUCH_BYTES_AT);
  for (unsigned k = 0; k < words; k++, last.by += lanes)
    sm_replace_reader(cell[k].reader, &last);
  return true;
}
