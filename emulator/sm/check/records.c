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

static struct sm_common *common_of(const struct sm_warp *w) {
  return &w->cta->shadow->common[w->index / SM_BATCH];
}

static void use_records(struct sm_warp *w, struct sm_records *records) {
  w->records = records;
  w->place_state = w->cta->grid->watch->profile ? NULL : records->state;
}

static void undefine(struct sm_records *r, unsigned first, unsigned count) {
  memset(&r->state[first], SM_PLACE_UNDEFINED, count);
  for (unsigned k = first; k < first + count; k++)
    r->undefined[k] = SM_ALL_LANES;
  for (unsigned k = first; k < first + count; k++)
    r->origin[k] = SM_CAUSE_REGISTER;
}

static void start_records(struct sm_records *r, const struct sm_entry *entry, unsigned registers) {
  /* Not at once: for 2 KiB or more, the C library uses "rep stos", which is slow to start. */
  memset(r, 0, offsetof(struct sm_records, undefined));
  memset(r->undefined, 0, sizeof r->undefined);
  if (!entry)
    undefine(r, SM_SLOT_UR, SM_SLOT_R + registers - SM_SLOT_UR);
  for (uint32_t k = 0; entry && k < entry->run_count; k++)
    undefine(r, entry->run[k].slot, entry->run[k].count);
  undefine(r, SM_SLOTS, SM_PRED_TRUE);
  undefine(r, SM_SLOTS + SM_PRED_UNIFORM, SM_PRED_TRUE);
  /* The prologue of sm_87 code reads UR2 before any write (docs/hardware/command-stream.md 6). */
  enum { PROLOGUE_UR = 2 };
  r->undefined[SM_SLOT_UR + PROLOGUE_UR] = r->state[SM_SLOT_UR + PROLOGUE_UR] = 0;
}

void sm_records_start(struct sm_cta *cta, const struct sm_entry *entry) {
  for (uint32_t first = 0; first < cta->warps; first += SM_BATCH) {
    struct sm_common *common = common_of(sm_warp_at(cta, first));
    start_records(&common->records, entry, cta->grid->registers);
    common->warps = cta->warps - first < SM_BATCH ? cta->warps - first : SM_BATCH;
    for (uint32_t k = 0; k < common->warps; k++)
      use_records(sm_warp_at(cta, first + k), &common->records);
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
    struct sm_common *common = common_of(v);
    if (v->records != &common->records)
      continue;
    struct sm_records *own = &sm_shadow_of(v)->own;
    copy_records(own, &common->records);
    use_records(v, own);
    common->warps--;
  }
}

/* Counts the warps that have the same records as w and have not ended. */
static void count_warps(const struct sm_warp *w, struct sm_common *common) {
  const struct sm_cta *cta = w->cta;
  const uint32_t first = w->index / SM_BATCH * SM_BATCH;
  common->warps = 0;
  for (uint32_t k = first; k < first + SM_BATCH && k < cta->warps; k++)
    common->warps += sm_warp_at(cta, k)->alive && sm_warp_at(cta, k)->records == w->records;
}

uint32_t sm_records_joint(struct sm_warp *w, const struct sm_uop *u, uint32_t warps) {
  struct sm_common *common = common_of(w);
  const uint32_t m = sm_lanes_of(w, u);
  uint32_t count = 1;
  if (w->records != &common->records)
    return 1;
  while (count < warps) {
    const struct sm_warp *v = sm_warp_after(w, count);
    if (v->records != w->records || sm_lanes_of(v, u) != m)
      break;
    count++;
  }
  if (count != common->warps)
    count_warps(w, common);
  if (count == common->warps)
    return count;
  sm_records_separate(w, 1);
  return 1;
}
