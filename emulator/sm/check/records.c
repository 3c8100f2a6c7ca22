/* Check mode: which records a warp's registers and predicates have.
 *
 * The warps of a batch execute the same instructions, so their records usually are the same: they
 * say which instructions wait for which registers and where pointers came from, not what the
 * registers contain. So consecutive warps have records in common until they differ, for example
 * because one takes a branch that another does not take, or reads uninitialised memory. Then they
 * get a copy of their own. */
#include <stddef.h>
#include <string.h>

#include "emulator/sm/check/watch.h"

static struct sm_records *common_of(const struct sm_warp *w) {
  return &w->cta->shadow->common[w->index / SM_BATCH];
}

static void use_records(struct sm_warp *w, struct sm_records *records) {
  w->records = records;
  w->place_state = w->cta->grid->watch->profile ? NULL : records->state;
}

static void undefine(struct sm_records *r, unsigned first, unsigned count, uint32_t lanes) {
  memset(&r->state[first], SM_PLACE_UNDEFINED, count);
  for (unsigned k = first; k < first + count; k++)
    r->undefined[k] = lanes;
  for (unsigned k = first; k < first + count; k++)
    r->origin[k] = SM_CAUSE_REGISTER;
}

/* lanes are those that exist in any of the warps. Lanes that do not exist write nothing, so what is
 * undefined in them would stay so. */
static void start_records(struct sm_records *r, const struct sm_entry *entry, unsigned registers,
                          uint32_t lanes) {
  /* Not at once: for 2 KiB or more, the C library uses "rep stos", which is slow to start. */
  memset(r, 0, offsetof(struct sm_records, undefined));
  memset(r->undefined, 0, sizeof r->undefined);
  if (!entry) {
    undefine(r, SM_SLOT_UR, SM_SLOT_R - SM_SLOT_UR, SM_ALL_LANES);
    undefine(r, SM_SLOT_R, registers, lanes);
  }
  for (uint32_t k = 0; entry && k < entry->run_count; k++)
    undefine(r, entry->run[k].slot, entry->run[k].count,
             entry->run[k].slot < SM_SLOT_R ? SM_ALL_LANES : lanes);
  undefine(r, SM_SLOTS, SM_PRED_TRUE, lanes);
  undefine(r, SM_SLOTS + SM_PRED_UNIFORM, SM_PRED_TRUE, SM_ALL_LANES);
  /* The prologue of sm_87 code reads UR2 before any write (docs/hardware/command-stream.md 6). */
  enum { PROLOGUE_UR = 2 };
  r->undefined[SM_SLOT_UR + PROLOGUE_UR] = r->state[SM_SLOT_UR + PROLOGUE_UR] = 0;
}

void sm_records_start(struct sm_cta *cta, const struct sm_entry *entry) {
  for (uint32_t first = 0; first < cta->warps; first += SM_BATCH) {
    struct sm_warp *w = sm_warp_at(cta, first);
    struct sm_records *common = common_of(w);
    const uint32_t warps = cta->warps - first < SM_BATCH ? cta->warps - first : SM_BATCH;
    start_records(common, entry, cta->grid->registers, w->lanes);
    common->warps = sm_batch_of(w, warps);
    for (uint32_t k = 0; k < warps; k++)
      use_records(sm_warp_after(w, k), common);
  }
}

static void copy_records(struct sm_records *to, const struct sm_records *from) {
  memcpy(to, from, offsetof(struct sm_records, undefined));
  memcpy(to->undefined, from->undefined, sizeof to->undefined);
  memcpy(to->waiting, from->waiting, sizeof to->waiting);
  for (unsigned place = 0; place < SM_PLACES; place++) {
    if (!from->state[place])
      continue;
    to->origin[place] = from->origin[place];
    to->result[place] = from->result[place];
    to->source[place] = from->source[place];
    memcpy(to->lane_pointer[place], from->lane_pointer[place], SM_LANES);
  }
}

void sm_records_separate(struct sm_warp *w, uint32_t warps) {
  for (uint32_t k = 0; k < warps; k++) {
    struct sm_warp *v = sm_warp_after(w, k);
    struct sm_records *common = common_of(v), *own = &sm_shadow_of(v)->own;
    const uint32_t warp = sm_batch_of(v, 1);
    if (!(common->warps & ~warp) || v->records != common)
      continue;
    copy_records(own, common);
    common->warps &= ~warp;
    own->warps = warp;
    use_records(v, own);
  }
}

static bool is_same_pending(const struct sm_pending *a, const struct sm_pending *b) {
  return a->pc == b->pc && a->lanes == b->lanes && a->scoreboard == b->scoreboard &&
         a->result_scoreboard == b->result_scoreboard && a->space == b->space;
}

/* Compares the records of a place that have the same state. */
static bool is_same_place(const struct sm_records *a, const struct sm_records *b, unsigned place) {
  const uint8_t state = a->state[place];
  return (!(state & SM_PLACE_UNDEFINED) ||
          (a->undefined[place] == b->undefined[place] && a->origin[place] == b->origin[place])) &&
         (!(state & SM_PLACE_RESULT) || is_same_pending(&a->result[place], &b->result[place])) &&
         (!(state & SM_PLACE_SOURCE) || is_same_pending(&a->source[place], &b->source[place])) &&
         (a->pointer[place] != SM_POINTER_LANES ||
          memcmp(a->lane_pointer[place], b->lane_pointer[place], SM_LANES) == 0);
}

static bool are_same(const struct sm_records *a, const struct sm_records *b) {
  if (memcmp(a->state, b->state, sizeof a->state) != 0 ||
      memcmp(a->pointer, b->pointer, sizeof a->pointer) != 0 ||
      memcmp(a->waiting_count, b->waiting_count, sizeof a->waiting_count) != 0 ||
      a->spilled != b->spilled)
    return false;
  for (unsigned k = 0; k < SM_SCOREBOARDS; k++) {
    const size_t count = a->waiting_count[k] < SM_WAITING ? a->waiting_count[k] : SM_WAITING;
    if (memcmp(a->waiting[k], b->waiting[k], count * sizeof a->waiting[k][0]) != 0)
      return false;
  }
  for (unsigned place = 0; place < SM_PLACES; place++)
    if (a->state[place] && !is_same_place(a, b, place))
      return false;
  return true;
}

static void forget_ended_warps(const struct sm_warp *w, struct sm_records *r) {
  const struct sm_cta *cta = w->cta;
  const uint32_t first = w->index / SM_BATCH * SM_BATCH;
  for (uint32_t k = first; k < first + SM_BATCH && k < cta->warps; k++)
    if (!sm_warp_at(cta, k)->alive)
      r->warps &= ~sm_batch_of(sm_warp_at(cta, k), 1);
}

uint32_t sm_records_joint(struct sm_warp *w, const struct sm_uop *u, uint32_t warps) {
  struct sm_records *r = w->records;
  const uint32_t m = sm_lanes_of(w, u);
  uint32_t count = 1;
  for (; count < warps; count++) {
    const struct sm_warp *v = sm_warp_after(w, count);
    if (v->records != r || v->active[0] != w->active[0] || sm_lanes_of(v, u) != m)
      break;
  }
  if (r->warps & ~sm_batch_of(w, count))
    forget_ended_warps(w, r);
  if (!(r->warps & ~sm_batch_of(w, count)))
    return count;
  sm_records_separate(w, 1);
  return 1;
}

void sm_records_join(struct sm_warp *w, uint32_t warps) {
  struct sm_records *common = common_of(w);
  if (!(sm_batch_of(w, warps) & ~w->records->warps))
    return;
  forget_ended_warps(w, common);
  if (!common->warps) {
    copy_records(common, w->records);
    common->warps = sm_batch_of(w, 1);
    use_records(w, common);
  }
  for (uint32_t k = 0; k < warps; k++) {
    struct sm_warp *v = sm_warp_after(w, k);
    if (v->records == common || !are_same(v->records, common))
      continue;
    common->warps |= sm_batch_of(v, 1);
    use_records(v, common);
  }
}
