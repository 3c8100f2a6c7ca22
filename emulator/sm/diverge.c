/* Divergence: splits a warp into groups of lanes that execute together, blocks them and lets them
 * reconverge (docs/hardware/divergence.md sections 1 to 4). */
#include "emulator/sm/state.h"

static uint32_t bit(uint32_t lane) {
  return 1u << lane;
}

/* Returns a free group. There is always one, because groups are disjoint, non-empty sets of
 * lanes. */
static struct sm_group *find_free_group(struct sm_warp *w) {
  uint32_t k = 0;
  while (k < w->groups && w->group[k].state != SM_GROUP_FREE)
    k++;
  if (k == w->groups)
    w->groups++;
  return &w->group[k];
}

static struct sm_group *add_group(struct sm_warp *w, uint32_t lanes, uint64_t pc,
                                  enum sm_group_state state, uint8_t breg) {
  struct sm_group *g = find_free_group(w);
  *g = (struct sm_group){.mask = lanes, .state = (uint8_t)state, .breg = breg, .pc = pc};
  return g;
}

static void set_active(struct sm_warp *w, uint32_t mask) {
  w->active[0] = mask;
  w->cta->batch->all_active = w->cta->batch->all_active && mask == SM_ALL_LANES;
}

static void set_group_mask(struct sm_warp *w, struct sm_group *g, uint32_t mask) {
  g->mask = mask;
  if (!mask)
    g->state = SM_GROUP_FREE;
  if (g == sm_group_now(w))
    set_active(w, mask);
}

struct sm_group *sm_split(struct sm_warp *w, uint32_t lanes, uint64_t pc) {
  struct sm_group *now = sm_group_now(w);
  set_group_mask(w, now, now->mask & ~lanes);
  return add_group(w, lanes, pc, SM_GROUP_READY, 0);
}

static const struct sm_uop *end_turn(struct sm_warp *w, const struct sm_uop *u,
                                     enum sm_event event) {
  if (w == w->cta->batch)
    sm_account(w, u, u);
  w->event = event;
  return NULL;
}

/* Lets the groups of the batch continue at pc. */
static void set_pcs(struct sm_warp *w, uint32_t warps, uint64_t pc) {
  for (uint32_t k = 0; k < warps; k++)
    sm_group_now(sm_warp_after(w, k))->pc = pc;
}

const struct sm_uop *sm_preempt(struct sm_warp *w, uint32_t warps, uint64_t pc) {
  set_pcs(w, warps, pc);
  w->event = SM_EVENT_BUDGET;
  return NULL;
}

const struct sm_uop *sm_disband(struct sm_warp *w, const struct sm_uop *u, uint32_t warps) {
  set_pcs(w, warps, sm_pc_of(w, u));
  for (uint32_t k = 0; k < warps; k++)
    sm_warp_after(w, k)->alone = true;
  if (w->shadow)
    *w->left_to_watchdog += warps; /* which will execute u again */
  w->left -= u - w->from;
  w->from = u;
  w->event = SM_EVENT_DISBAND;
  return NULL;
}

const struct sm_uop *sm_continue(struct sm_warp *w, uint32_t warps, uint64_t pc) {
  const struct sm_page *page = w->page;
  if (!page || pc - page->va >= SM_PAGE_BYTES) {
    page = sm_code_page(w->cta->grid->code, pc & ~(uint64_t)(SM_PAGE_BYTES - 1),
                        w->cta->grid->registers);
    if (!page) {
      sm_raise_at(w, pc, SM_FAULT_PC_RANGE);
      return NULL;
    }
    for (uint32_t k = 0; k < warps; k++)
      sm_warp_after(w, k)->page = page;
  }
  if (pc % SM_INSN_BYTES) {
    sm_raise_at(w, pc, SM_FAULT_PC_RANGE);
    return NULL;
  }
  const struct sm_uop *u = &page->uop[(pc - page->va) / SM_INSN_BYTES];
  w->from = u;
  return u;
}

/* Moves lanes from their blocked groups into a new group that continues at pc. */
static void release_lanes(struct sm_warp *w, uint32_t lanes, uint64_t pc) {
  for (unsigned k = 0; k < w->groups; k++) {
    struct sm_group *g = &w->group[k];
    if (g->state != SM_GROUP_FREE && g->mask & lanes)
      set_group_mask(w, g, g->mask & ~lanes);
  }
  add_group(w, lanes, pc, SM_GROUP_READY, 0);
}

static uint32_t blocked_lanes_at(const struct sm_warp *w, enum sm_group_state state, uint64_t pc,
                                 uint8_t breg) {
  uint32_t lanes = 0;
  for (unsigned k = 0; k < w->groups; k++) {
    const struct sm_group *g = &w->group[k];
    if (g->state == state && g->pc == pc && g->breg == breg)
      lanes |= g->mask;
  }
  return lanes;
}

static uint32_t yielded_lanes(const struct sm_warp *w) {
  uint32_t lanes = 0;
  for (unsigned k = 0; k < w->groups; k++)
    if (w->group[k].state != SM_GROUP_FREE && w->group[k].yielded)
      lanes |= w->group[k].mask;
  return lanes;
}

/* Releases the lanes of a blocked group that no longer wait for another lane. Returns false if
 * there are none. */
static bool try_release_group(struct sm_warp *w, const struct sm_group *g) {
  const bool bsync = g->state == SM_GROUP_BSYNC;
  const uint64_t pc = g->pc;
  const uint8_t breg = g->breg;
  const uint32_t here = blocked_lanes_at(w, g->state, pc, breg);
  const uint32_t excused = bsync ? yielded_lanes(w) & ~here : 0;
  uint32_t *mask = bsync ? w->breg[breg].l : w->sync_mask.l;
  uint32_t tried = 0;
  FOR_MASK(lane, g->mask) {
    if (tried & bit(lane))
      continue;
    const uint32_t want = (mask[lane] & w->alive) | bit(lane);
    uint32_t together = 0;
    FOR_MASK(k, want & here)
    if (((mask[k] & w->alive) | bit(k)) == want)
      together |= bit(k);
    tried |= together;
    if ((want & ~together & ~excused) != 0)
      continue;
    if (bsync) {
      FOR_MASK(k, together)
      mask[k] = 0;
      FOR_MASK(k, want & excused)
      mask[k] &= ~together;
    }
    release_lanes(w, together, pc + SM_INSN_BYTES);
    return true;
  }
  return false;
}

/* Releases all lanes whose wait is over. Call this after lanes have blocked, exited, yielded or
 * left a barrier. */
static void release_groups(struct sm_warp *w) {
  if (sm_group_now(w)->state == SM_GROUP_READY && sm_group_now(w)->mask == w->alive)
    return; /* no lane is blocked */
  for (bool again = true; again;) {
    again = false;
    for (unsigned k = 0; k < w->groups && !again; k++) {
      const struct sm_group *g = &w->group[k];
      if (g->state == SM_GROUP_BSYNC || g->state == SM_GROUP_WARPSYNC)
        again = try_release_group(w, g);
    }
  }
}

/* Returns the group that waits at a BSYNC, or NULL. Lanes that join it keep the list short. */
static struct sm_group *find_blocked(struct sm_warp *w, uint64_t pc, uint8_t breg) {
  for (unsigned k = 0; k < w->groups; k++) {
    struct sm_group *g = &w->group[k];
    if (g->state == SM_GROUP_BSYNC && g->pc == pc && g->breg == breg)
      return g;
  }
  return NULL;
}

const struct sm_uop *sm_block(struct sm_warp *w, const struct sm_uop *u, uint32_t mask,
                              enum sm_group_state state, uint8_t breg) {
  struct sm_group *now = sm_group_now(w);
  const uint64_t pc = sm_pc_of(w, u);
  const uint32_t rest = now->mask & ~mask;
  if (rest) {
    struct sm_group *same = state == SM_GROUP_BSYNC ? find_blocked(w, pc, breg) : NULL;
    if (same)
      same->mask |= mask;
    else
      add_group(w, mask, pc, state, breg);
    set_group_mask(w, now, rest);
    now->pc = pc + SM_INSN_BYTES;
  } else {
    now->state = (uint8_t)state;
    now->breg = breg;
    now->pc = pc;
  }
  return end_turn(w, u, SM_EVENT_SWITCH);
}

/* Only lanes that wait at the same place can be released by those that block here. If the latter
 * have one mask, which also waits for lanes elsewhere, there is nothing to release. */
const struct sm_uop *sm_bsync(struct sm_warp *w, const struct sm_uop *u, uint32_t mask, uint8_t n) {
  const uint64_t pc = sm_pc_of(w, u);
  const uint32_t *b = w->breg[n].l, want = b[__builtin_ctz(mask)];
  uint32_t differ = 0;
  FOR_LANES
  differ |= mask & sm_lane_bit[i] ? b[i] ^ want : 0;
  sm_block(w, u, mask, SM_GROUP_BSYNC, n);
  if (differ ||
      !(want & w->alive & ~mask & ~blocked_lanes_at(w, SM_GROUP_BSYNC, pc, n) & ~yielded_lanes(w)))
    release_groups(w);
  return NULL;
}

const struct sm_uop *sm_warpsync(struct sm_warp *w, const struct sm_uop *u, uint32_t mask) {
  sm_block(w, u, mask, SM_GROUP_WARPSYNC, 0);
  release_groups(w);
  return NULL;
}

void sm_break(struct sm_warp *w, uint32_t mask, uint8_t n) {
  uint32_t *b = w->breg[n].l;
  uint32_t members = 0;
  FOR_MASK(lane, mask)
  members |= b[lane];
  FOR_MASK(lane, members)
  b[lane] &= ~mask;
  FOR_MASK(lane, mask)
  b[lane] = 0;
  release_groups(w);
}

const struct sm_uop *sm_switch(struct sm_warp *w, const struct sm_uop *u) {
  struct sm_group *now = sm_group_now(w);
  if (w->cta->warps == 1 && now->mask == w->alive)
    return u + 1;
  now->pc = sm_pc_of(w, u) + SM_INSN_BYTES;
  now->yielded = true;
  w->alone = true; /* in a batch, warps that wait for each other would yield together forever */
  release_groups(w);
  return end_turn(w, u, SM_EVENT_YIELD);
}

const struct sm_uop *sm_exit(struct sm_warp *w, const struct sm_uop *u, uint32_t mask) {
  struct sm_group *now = sm_group_now(w);
  w->alive &= ~mask;
  w->cta->exited += mask == SM_ALL_LANES ? SM_LANES : (uint32_t)__builtin_popcount(mask);
  set_group_mask(w, now, now->mask & ~mask);
  const bool some_stay =
      now->mask != 0; /* read before release_groups, which may reuse the struct */
  if (w->alive)
    release_groups(w);
  sm_bar_after_exit(w->cta);
  return some_stay ? u + 1 : end_turn(w, u, SM_EVENT_SWITCH);
}

const struct sm_uop *sm_exit_batch(struct sm_warp *w, const struct sm_uop *u, uint32_t warps) {
  for (uint32_t k = 0; k < warps; k++) {
    struct sm_warp *v = sm_warp_after(w, k);
    w->cta->exited += v->alive == SM_ALL_LANES ? SM_LANES : (uint32_t)__builtin_popcount(v->alive);
    v->alive = v->active[0] = 0;
    sm_group_now(v)->mask = 0;
    sm_group_now(v)->state = SM_GROUP_FREE;
    end_turn(v, u, SM_EVENT_SWITCH);
  }
  w->all_active = false;
  sm_bar_after_exit(w->cta);
  return NULL;
}

const struct sm_uop *sm_jump_lanes(struct sm_warp *w, const struct sm_uop *u, uint32_t mask,
                                   const uint64_t *target) {
  struct sm_group *now = sm_group_now(w);
  now->pc = sm_pc_of(w, u) + SM_INSN_BYTES;
  while (mask) {
    const uint64_t to = target[__builtin_ctz(mask)];
    uint32_t same = 0;
    FOR_MASK(k, mask)
    if (target[k] == to)
      same |= bit(k);
    mask &= ~same;
    if (same == now->mask)
      now->pc = to;
    else
      sm_split(w, same, to);
  }
  return end_turn(w, u, SM_EVENT_SWITCH);
}

const struct sm_uop *sm_pick(struct sm_warp *w, bool preempted) {
  /* Round robin, starting after the group that ran last. */
  const struct sm_group *last = sm_group_now(w);
  const bool same = last->state == SM_GROUP_READY && (preempted || last->mask == w->alive);
  for (unsigned k = same ? 0 : 1; k <= w->groups; k++) {
    const unsigned at = w->current + k, index = at < w->groups ? at : at - w->groups;
    struct sm_group *g = &w->group[index];
    if (g->state != SM_GROUP_READY)
      continue;
    w->current = index;
    w->active[0] = g->mask;
    w->all_active = g->mask == SM_ALL_LANES;
    g->yielded = false;
    return sm_continue(w, 1, g->pc);
  }
  return NULL;
}

bool sm_release_early(struct sm_warp *w) {
  struct sm_group *low = NULL;
  for (unsigned k = 0; k < w->groups; k++) {
    struct sm_group *g = &w->group[k];
    if (g->state == SM_GROUP_BSYNC && (!low || g->pc < low->pc))
      low = g;
  }
  if (!low)
    return false;
  const uint32_t lanes = low->mask;
  FOR_MASK(k, lanes)
  w->breg[low->breg].l[k] = 0;
  release_lanes(w, lanes, low->pc + SM_INSN_BYTES);
  release_groups(w);
  return true;
}
