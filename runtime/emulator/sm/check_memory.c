/* Check mode: shared and private memory: bytes that nothing has written, and
 * accesses to shared memory that race.
 *
 * Two accesses by different work-items to one byte, one of them a write, race
 * unless a barrier lies between them, told by vector clocks: an access is over if
 * the clock its warp had then is known to the other warp. Lanes that run together
 * count as ordered, for compiled code no longer shows whether its author asked for
 * it. Atomics never race; those that locks are made of (compare-and-swap,
 * exchange) order what lies around them, and so do arrivals at an mbarrier and looks
 * at it. Writes that change nothing are no writes. Of each word the last writer and
 * the last readers of two warps are remembered.
 */
#include <inttypes.h>

#include "runtime/emulator/sm/watch.h"

struct access {
  struct sm_warp *w;
  const struct sm_uop *u;
  const struct sm_note *note;
  uint32_t lane;
  uint64_t at; /* byte in shared memory */
  bool is_write, undefined;
};

/* A word's part of an access. */
struct part {
  uint64_t word;
  uint32_t first, count; /* bytes in the word */
  uint8_t mask;
};

static struct part part_of(uint64_t at, uint32_t bytes) {
  struct part p = {.word = at / 4, .first = at % 4};
  p.count = 4 - p.first < bytes ? 4 - p.first : bytes;
  p.mask = (uint8_t)(((1u << p.count) - 1) << p.first);
  return p;
}

/* Is the touch before what the access's lane does now? */
static bool ordered(const struct access *a, const struct sm_touch *t) {
  const struct sm_warp *w = a->w;
  const uint32_t warp = t->thread / SM_LANES, lane = t->thread % SM_LANES;
  if (t->clock < sm_shadow_of(w)->clock[warp])
    return true;
  return warp == w->index && (w->active[0] | ~w->alive) >> lane & 1;
}

static void race(const struct access *a, const struct sm_touch *t, bool was_write) {
  const struct sm_warp *w = a->w;
  const struct sm_cta *cta = w->cta;
  const struct sm_warp *other = sm_warp_at(cta, t->thread / SM_LANES);
  const uint32_t i = a->lane, k = t->thread % SM_LANES;
  sm_report(w, sm_pc_of(w, a->u), SM_REPORT_RACE, i, a->at, a->note->bytes, a->is_write,
            "data race on shared memory at 0x%" PRIx64 ": %s by work-item (%u,%u,%u) of group "
            "(%u,%u,%u), not ordered after the %s by work-item (%u,%u,%u) at 0x%" PRIx64,
            a->at, a->is_write ? "write" : "read", w->tid[0].l[i], w->tid[1].l[i], w->tid[2].l[i],
            cta->id[0], cta->id[1], cta->id[2], was_write ? "write" : "read", other->tid[0].l[k],
            other->tid[1].l[k], other->tid[2].l[k], cta->grid->program + t->pc);
}

static bool conflicts(const struct access *a, const struct sm_touch *t, uint8_t mask) {
  return t->bytes & mask && !ordered(a, t);
}

static uint32_t value_word(const struct access *a, unsigned word, uint32_t lane) {
  return sm_file_at(a->w, a->u->s[1] + word * SM_REG_BYTES)[lane];
}

/* Does what the lane writes differ from memory? */
static bool changes(const struct access *a, const struct part *p, unsigned offset) {
  const uint8_t *defined = a->w->cta->shadow->shared_defined + p->word * 4 + p->first;
  const uint8_t *memory = a->w->shared + p->word * 4 + p->first;
  if (a->note->space == SM_SPACE_COPY)
    return true;
  for (unsigned k = 0; k < p->count; k++) {
    const unsigned byte = offset + k;
    if (!defined[k] || memory[k] != (uint8_t)(value_word(a, byte / 4, a->lane) >> byte % 4 * 8))
      return true;
  }
  return false;
}

/* Two lanes of one instruction write different values to one place. */
static void check_own_lanes(const struct access *a, const struct sm_cell *cell,
                            const struct part *p, unsigned offset) {
  const struct sm_warp_shadow *ws = sm_shadow_of(a->w);
  const struct sm_touch *t = &cell->writer;
  if (cell->serial != ws->serial || t->thread / SM_LANES != a->w->index || !(t->bytes & p->mask) ||
      t->clock != ws->clock[a->w->index] || a->note->space == SM_SPACE_COPY)
    return;
  const unsigned word = offset / 4;
  if (a->note->bytes >= 4 && t->bytes == p->mask &&
      value_word(a, word, t->thread % SM_LANES) != value_word(a, word, a->lane))
    race(a, t, true);
}

static void check_race(const struct access *a, const struct part *p, unsigned offset) {
  const struct sm_warp *w = a->w;
  struct sm_cell *cell = &w->cta->shadow->cell[p->word];
  const struct sm_touch now = {
      .clock = sm_shadow_of(w)->clock[w->index],
      .pc = (uint32_t)(sm_pc_of(w, a->u) - w->cta->grid->program),
      .thread = (uint16_t)(w->index * SM_LANES + a->lane),
      .bytes = p->mask,
  };
  if (a->is_write && !changes(a, p, offset))
    return;
  if (conflicts(a, &cell->writer, p->mask))
    race(a, &cell->writer, true);
  if (!a->is_write) {
    struct sm_touch *last = &cell->reader[0];
    if (last->bytes && last->thread / SM_LANES != w->index)
      cell->reader[1] = *last;
    *last = now;
    return;
  }
  for (unsigned k = 0; k < 2; k++)
    if (conflicts(a, &cell->reader[k], p->mask))
      race(a, &cell->reader[k], false);
  check_own_lanes(a, cell, p, offset);
  cell->writer = now;
  cell->serial = sm_shadow_of(w)->serial;
}

static bool is_arrival(const struct sm_note *note) {
  return note->handler == SM_H_arrive || note->handler == SM_H_arrive_generic;
}

/* Who looks at an mbarrier is ordered after those who have arrived there. */
static void check_mbarrier(const struct access *a, uint64_t word) {
  struct sm_shadow *s = a->w->cta->shadow;
  if (is_arrival(a->note))
    s->cell[word].mbarrier = s->base;
  else if (!a->is_write && s->cell[word].mbarrier == s->base)
    sm_acquire_clock(a->w, s->lock_clock);
}

/* True if something undefined was read. */
static bool shared_access(const struct access *a) {
  struct sm_shadow *s = a->w->cta->shadow;
  const uint32_t bytes = a->note->bytes;
  const bool atomic = a->note->access == SM_ACCESS_ATOMIC;
  bool undefined = false;
  if (a->at + bytes > a->w->shared_bytes || a->at & (bytes - 1))
    return false; /* it faults */
  for (uint32_t done = 0; done < bytes;) {
    const struct part p = part_of(a->at + done, bytes - done);
    check_mbarrier(a, p.word);
    if (!atomic)
      check_race(a, &p, done);
    uint8_t *defined = s->shared_defined + p.word * 4 + p.first;
    for (unsigned k = 0; k < p.count; k++) {
      undefined |= !defined[k];
      if (a->is_write || atomic)
        defined[k] = !a->undefined;
    }
    done += p.count;
  }
  return undefined && !a->is_write;
}

static bool local_access(const struct access *a) {
  const struct sm_warp *w = a->w;
  const struct sm_grid *grid = w->cta->grid;
  const uint32_t bytes = a->note->bytes;
  uint64_t at = a->at;
  bool undefined = false;
  if (at >= SM_WINDOW_BYTES - grid->local_high && at + bytes <= SM_WINDOW_BYTES)
    at = w->local_high_at + (at - (SM_WINDOW_BYTES - w->local_high));
  else if (at + bytes > grid->local_low)
    return false; /* it faults */
  const size_t warp = (size_t)(w->local - w->cta->local) / 4;
  for (uint32_t done = 0; done < bytes;) {
    const struct part p = part_of(at + done, bytes - done);
    uint8_t *defined = &w->cta->shadow->local_defined[warp + p.word * SM_LANES + a->lane];
    undefined |= (*defined & p.mask) != p.mask;
    if (a->is_write || a->note->access == SM_ACCESS_ATOMIC)
      *defined = (uint8_t)(a->undefined ? *defined & ~p.mask : *defined | p.mask);
    done += p.count;
  }
  return undefined && !a->is_write;
}

/* The destinations of LDGSTS. */
static void copy_access(struct access *a, uint32_t m) {
  const uint32_t *to = sm_file_at(a->w, a->u->s[1]);
  a->is_write = true;
  FOR_MASK(i, m) {
    a->lane = i;
    a->at = to[i] + (uint32_t)a->u->jump;
    shared_access(a);
  }
}

uint32_t sm_check_memory(struct sm_warp *w, const struct sm_uop *u, const struct sm_note *note,
                         uint32_t data, enum sm_cause *cause) {
  const struct sm_grid *grid = w->cta->grid;
  const uint32_t m = sm_lanes_of(w, u) & sm_addressing_lanes(u, note);
  uint64_t address[SM_LANES];
  uint32_t undefined = 0;
  struct access a = {.w = w, .u = u, .note = note, .is_write = note->access == SM_ACCESS_STORE};
  if (note->space == SM_SPACE_COPY) {
    copy_access(&a, m);
    return 0;
  }
  if (note->space == SM_SPACE_GLOBAL)
    return 0;
  if (note->space == SM_SPACE_GENERIC)
    sm_addresses(w, u, address);
  else
    sm_addresses_32(w, u, address);
  FOR_MASK(i, m) {
    a.lane = i;
    a.at = address[i];
    a.undefined = data >> i & 1;
    enum sm_space space = note->space;
    if (space == SM_SPACE_GENERIC) {
      if (a.at - grid->shared_window < SM_WINDOW_BYTES) {
        space = SM_SPACE_SHARED;
        a.at -= grid->shared_window;
      } else if (a.at - grid->local_window < SM_WINDOW_BYTES) {
        space = SM_SPACE_LOCAL;
        a.at -= grid->local_window;
      } else {
        continue;
      }
    }
    if (space == SM_SPACE_SHARED ? shared_access(&a) : local_access(&a)) {
      undefined |= 1u << i;
      *cause = space == SM_SPACE_SHARED ? SM_CAUSE_SHARED : SM_CAUSE_LOCAL;
    }
  }
  return undefined;
}
