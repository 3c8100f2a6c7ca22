/* Interpreter core: branches and calls, convergence and CTA barriers, special registers, and
 * warp-wide instructions. Rules: docs/hardware/sass.md sections 4.8, 4.9 and 4.11,
 * docs/hardware/divergence.md. */
#include "emulator/sm/exec/core.h"

/* --- branches --------------------------------------------------------------- */

static inline const struct sm_uop *jump_near(struct sm_warp *w, const struct sm_uop *u,
                                             uint32_t warps, const struct sm_uop *to) {
  sm_account(w, u, to);
  return LIKELY(w->left > 0) ? to : sm_preempt(w, warps, sm_pc_of(w, to));
}

static inline const struct sm_uop *jump_far(struct sm_warp *w, const struct sm_uop *u,
                                            uint32_t warps, uint64_t pc) {
  sm_account(w, u, u);
  return w->left > 0 ? sm_continue(w, warps, pc) : sm_preempt(w, warps, pc);
}

/* Number of warps in the batch in which all active lanes execute an instruction, and of those in
 * which none does. For a branch, lanes execute it only if Pp is true for them as well. */
struct agreement {
  uint32_t all, none;
};
static inline struct agreement agreement_of(const struct sm_warp *w, const struct sm_uop *u,
                                            uint32_t warps, bool is_branch) {
  struct agreement count = {0, 0};
  FOR_WARPS(v) {
    const uint32_t m = exec_mask(v, u) & (is_branch ? pred_in(v, u, u->pp, 0) : ~0u);
    count.all += m == v->active[0];
    count.none += m == 0;
  }
  return count;
}

/* Executes a branch that only some lanes of the batch take. */
static const struct sm_uop *branch_apart(struct sm_warp *w, const struct sm_uop *u,
                                         uint32_t warps) {
  if (warps > 1)
    return sm_disband(w, u, warps);
  sm_split(w, exec_mask(w, u) & PP, (uint64_t)u->branch.target);
  return u + 1;
}

/* A branch to a target in the same page. */
HANDLER(bra) {
  const struct agreement taken = agreement_of(w, u, warps, true);
  if (taken.all == warps)
    return jump_near(w, u, warps, u + u->branch.jump);
  if (LIKELY(taken.none == warps))
    return NEXT;
  return branch_apart(w, u, warps);
}

HANDLER(bra_far) {
  const struct agreement taken = agreement_of(w, u, warps, true);
  if (taken.all == warps)
    return jump_far(w, u, warps, (uint64_t)u->branch.target);
  if (taken.none == warps)
    return NEXT;
  return branch_apart(w, u, warps);
}

/* Returns whether all lanes of the branch's mask that are alive take it. s[0] is the mask, inverted
 * if mods is set. */
static inline bool are_together(const struct sm_warp *w, const struct sm_uop *u) {
  const uint32_t m = exec_mask(w, u) & PP;
  const uint32_t mask = REG(u->s[0])[0] ^ (u->mods ? ~0u : 0);
  return (mask & w->alive & ~m) == 0;
}

/* BRA.DIV, BRA.CONV and BRA.U. DIV moves the whole group, including lanes with a false guard
 * (docs/hardware/divergence.md 2). BRA.U is taken by all executing lanes or by none: if only some
 * of them took it, no barrier of ptxas would reconverge them. */
HANDLER(bra_cond) {
  enum { COND_U = 1, COND_DIV = 2 };
  const struct agreement taken = agreement_of(w, u, warps, true);
  uint32_t together = 0;
  FOR_WARPS(v)
  together += are_together(v, u);
  const bool div = u->branch.condition == COND_DIV, uniform = u->branch.condition == COND_U;
  const uint32_t go = uniform ? taken.all : div ? warps - together : together;
  if (go == 0)
    return NEXT;
  if (go != warps)
    return sm_disband(w, u, warps);
  if (!div && taken.none == warps)
    return NEXT;
  if (!div && taken.all != warps)
    return branch_apart(w, u, warps);
  return u->branch.near ? jump_near(w, u, warps, u + u->branch.jump)
                        : jump_far(w, u, warps, (uint64_t)u->branch.target);
}

/* Computes the targets of a warp's lanes. Returns whether all active lanes branch to *common. */
static inline bool targets_of(const struct sm_warp *w, const struct sm_uop *u, uint64_t *target,
                              uint64_t *common) {
  const uint32_t *lo = REG(u->s[0]), *hi = REG(u->s[0] + SM_REG_BYTES);
  const uint32_t m = exec_mask(w, u) & PP;
  uint64_t differ = 0;
  for (unsigned i = 0; i < SM_LANES; i++)
    target[i] = sem_pair(lo[i], hi[i]) + (uint64_t)u->branch.target;
  *common = m ? target[__builtin_ctz(m)] : 0;
  FOR_MASK(i, m)
  differ |= target[i] ^ *common;
  return m == w->active[0] && !differ;
}

/* Branches to the sum of branch.target and a register pair: BRX, BRXU, RET, indirect calls.
 */
HANDLER(brx) {
  uint64_t target[SM_LANES], first, common;
  bool together = targets_of(w, u, target, &first);
  FOR_WARPS(v)
  together = together && targets_of(v, u, target, &common) && common == first;
  if (together)
    return jump_far(w, u, warps, first);
  if (warps > 1)
    return sm_disband(w, u, warps);
  const uint32_t m = exec_mask(w, u) & PP;
  targets_of(w, u, target, &first);
  return m ? sm_jump_lanes(w, u, m, target) : NEXT;
}

/* A batch is disbanded if some of its warps end and others keep lanes. */
HANDLER(exit) {
  const struct agreement ends = agreement_of(w, u, warps, true);
  if (ends.none == warps)
    return NEXT;
  if (ends.all != 0 && ends.all != warps)
    return sm_disband(w, u, warps);
  if (warps > 1 && ends.all)
    return sm_exit_batch(w, u, warps);
  FOR_WARPS(v) {
    const uint32_t m = exec_mask(v, u) & pred_in(v, u, u->pp, 0);
    if (m)
      sm_exit(v, u, m);
  }
  return ends.all ? NULL : NEXT;
}

EACH_WARP(lepc) {
  const uint64_t pc = sm_pc_of(w, u);
  FOR_MASK(i, m) {
    REG(u->d)[i] = (uint32_t)pc;
    REG(u->d + SM_REG_BYTES)[i] = (uint32_t)(pc >> 32);
  }
  return DONE;
}

HANDLER(page_end) {
  return jump_far(w, u - 1, warps, w->page->va + SM_PAGE_BYTES);
}

/* --- convergence -------------------------------------------------------------- */

EACH_WARP(bssy) {
  m &= PP;
  uint32_t *b = w->breg[u->barrier.barrier].l;
  w->breg_used |= 1u << u->barrier.barrier;
  FOR_LANES
  b[i] = sm_choose(m, i, m, b[i]);
  return DONE;
}

/* Returns the lanes for which the lanes m have to wait at BSYNC. */
static inline uint32_t awaited_lanes(const struct sm_warp *w, const struct sm_uop *u, uint32_t m) {
  const uint32_t *b = w->breg[u->barrier.barrier].l;
  uint32_t need = 0;
  FOR_LANES
  need |= sm_choose(m, i, b[i], 0);
  return need & w->alive & ~m;
}

HANDLER(bsync) {
  uint32_t waiting = 0;
  FOR_WARPS(v)
  waiting |= awaited_lanes(v, u, exec_mask(v, u) & pred_in(v, u, u->pp, 0));
  if (UNLIKELY(waiting != 0))
    return warps > 1 ? sm_disband(w, u, warps)
                     : sm_bsync(w, u, exec_mask(w, u) & PP, u->barrier.barrier);
  FOR_WARPS(v) {
    const uint32_t m = exec_mask(v, u) & pred_in(v, u, u->pp, 0);
    uint32_t *b = v->breg[u->barrier.barrier].l;
    FOR_LANES
    b[i] = sm_choose(m, i, 0, b[i]);
  }
  return NEXT;
}

EACH_WARP(break_) {
  m &= PP;
  if (m)
    sm_break(w, m, u->barrier.barrier);
  return DONE;
}

/* YIELD and NANOSLEEP. NANOSLEEP also yields, because ptxas puts no YIELD into a loop that has
 * one. */
ONE_WARP(yield) {
  const uint32_t m = exec_mask(w, u) & PP;
  return m ? sm_switch(w, u) : DONE;
}

/* Returns non-zero if the lanes m have to wait for others at WARPSYNC. */
static inline uint32_t absent_lanes(const struct sm_warp *w, const struct sm_uop *u, uint32_t m,
                                    struct sm_lanes *t) {
  const uint32_t *mask = source(w, u, 1, t);
  uint32_t differ = 0;
  FOR_LANES
  differ |= sm_choose(m, i, (mask[i] & w->alive) ^ m, 0);
  return differ;
}

HANDLER(warpsync) {
  struct sm_lanes t;
  uint32_t absent = 0;
  FOR_WARPS(v)
  absent |= absent_lanes(v, u, exec_mask(v, u) & pred_in(v, u, u->pp, 0), &t);
  if (LIKELY(!absent))
    return NEXT;
  if (warps > 1)
    return sm_disband(w, u, warps);
  const uint32_t m = exec_mask(w, u) & PP, *mask = source(w, u, 1, &t);
  FOR_LANES
  w->sync_mask.l[i] = sm_choose(m, i, mask[i], w->sync_mask.l[i]);
  return sm_warpsync(w, u, m);
}

/* Sources of BMOV other than B0..B15, in its encoding. */
enum { BMOV_MEXITED = 24, BMOV_MACTIVE = 26 };

/* Moves from a barrier register, a special register or b to a barrier register or d. */
EACH_WARP(bmov) {
  struct sm_lanes t;
  const uint32_t *from;
  if (!u->bmov.from_barrier) {
    from = source(w, u, 1, &t);
  } else if (u->bmov.from < SM_BARRIERS) {
    memcpy(t.l, w->breg[u->bmov.from].l, SM_REG_BYTES);
    from = t.l;
    if (u->bmov.clear) {
      uint32_t *b = w->breg[u->bmov.from].l;
      FOR_LANES
      b[i] = sm_choose(m, i, 0, b[i]);
    }
  } else {
    sm_splat(t.l, u->bmov.from == BMOV_MACTIVE   ? w->active[0]
                  : u->bmov.from == BMOV_MEXITED ? ~w->alive
                                                 : 0);
    from = t.l;
  }
  if (!u->bmov.to_barrier) {
    sm_blend(REG(u->d), from, m);
  } else if (u->bmov.to < SM_BARRIERS) {
    w->breg_used |= 1u << u->bmov.to;
    sm_blend(w->breg[u->bmov.to].l, from, m);
  }
  return DONE;
}

static inline void clear_barriers(struct sm_warp *w, uint32_t warps) {
  const struct sm_lanes zeros = {{0}};
  FOR_WARPS(v) {
    FOR_MASK(n, v->breg_used)
    sm_blend(v->breg[n].l, zeros.l, v->active[0]);
  }
}

/* Replaces a sequence of BMOVs that clears all barriers. */
HANDLER(clear_barriers) {
  const struct sm_uop *last = u + SM_BARRIERS;
  clear_barriers(w, warps);
  return last[1].handler(w, last + 1, warps);
}

/* The same if a page ends within the sequence. */
HANDLER(clear_barriers_far) {
  const struct sm_uop *last = u + SM_BARRIERS;
  clear_barriers(w, warps);
  return jump_far(w, last, warps, sm_pc_of(w, last) + SM_INSN_BYTES);
}

/* --- the CTA's barriers ------------------------------------------------------- */

HANDLER(bar) {
  const struct agreement arrive = agreement_of(w, u, warps, false);
  if (arrive.none == warps)
    return NEXT;
  if (warps > 1 && arrive.all != warps)
    return sm_disband(w, u, warps);
  const struct sm_uop *next = NULL;
  sm_clear_upper_halves(); /* a barrier that opens is checked in check mode */
  FOR_WARPS(v) {
    const uint32_t m = exec_mask(v, u);
    const struct sm_bar_request request = sm_bar_request_of(v, u, m);
    next = sm_bar_arrive(v, u, m, &request);
    if (v->event == SM_EVENT_FAULT)
      return NULL;
  }
  return next;
}

EACH_WARP(b2r) {
  sm_blend(REG(u->d), w->bar_count.l, m);
  pred_out(w, u->pd, sm_mask_of(w->bar_flag.l), m);
  return DONE;
}

/* --- special registers --------------------------------------------------------- */

enum special {
  SR_LANEID = 0,
  SR_CLOCK = 1,
  SR_VIRTID = 3,
  SR_TID_X = 33,
  SR_TID_Y,
  SR_TID_Z,
  SR_CTAID_X = 37,
  SR_CTAID_Y,
  SR_CTAID_Z,
  SR_SMEMSZ = 50,
  SR_LMEMHIOFF = 55,
  SR_EQMASK = 56,
  SR_LTMASK,
  SR_LEMASK,
  SR_GTMASK,
  SR_GEMASK,
  SR_VIRTUALSMID = 67,
  SR_CLOCKLO = 80,
  SR_CLOCKHI,
  SR_GLOBALTIMERLO,
  SR_GLOBALTIMERHI,
};

/* Returns the CTA's clock. Each instruction of a turn is one tick, also if a batch executes it. The
 * clock follows the worker's count of instructions, but never goes back. */
static uint64_t clock_now(const struct sm_warp *w, const struct sm_uop *u) {
  const struct sm_cta *cta = w->cta;
  const struct sm_warp *first = cta->batch;
  return cta->worker->instructions + cta->ahead +
         (uint64_t)(first->slice - first->left + (u - first->from));
}

static uint64_t time_now(const struct sm_warp *w) {
  const struct sm_grid *grid = w->cta->grid;
  return grid->time_ns ? grid->time_ns() : 0;
}

static void read_special(struct sm_warp *w, const struct sm_uop *u, unsigned number, uint32_t *r) {
  enum { VIRTID_WARP_SHIFT = 8 };
  switch (number) {
  case SR_LANEID:
    memcpy(r, sm_lane_index, SM_REG_BYTES);
    break;
  case SR_VIRTID:
    sm_splat(r, w->index << VIRTID_WARP_SHIFT);
    break;
  case SR_TID_X:
  case SR_TID_Y:
  case SR_TID_Z:
    memcpy(r, w->tid[number - SR_TID_X].l, SM_REG_BYTES);
    break;
  case SR_CTAID_X:
  case SR_CTAID_Y:
  case SR_CTAID_Z:
    sm_splat(r, w->cta->id[number - SR_CTAID_X]);
    break;
  case SR_SMEMSZ:
    sm_splat(r, w->shared_bytes);
    break;
  case SR_LMEMHIOFF: /* start of the high region: debug code traps if the stack pointer falls below
                        it */
    sm_splat(r, (uint32_t)SM_WINDOW_BYTES - w->cta->grid->local_high);
    break;
  case SR_EQMASK:
    memcpy(r, sm_lane_bit, SM_REG_BYTES);
    break;
  case SR_LTMASK:
    FOR_LANES r[i] = sm_lane_bit[i] - 1;
    break;
  case SR_LEMASK:
    FOR_LANES r[i] = sm_lane_bit[i] | (sm_lane_bit[i] - 1);
    break;
  case SR_GTMASK:
    FOR_LANES r[i] = ~(sm_lane_bit[i] | (sm_lane_bit[i] - 1));
    break;
  case SR_GEMASK:
    FOR_LANES r[i] = ~(sm_lane_bit[i] - 1);
    break;
  case SR_VIRTUALSMID:
    sm_splat(r, w->cta->sm_id);
    break;
  case SR_CLOCK:
  case SR_CLOCKLO:
    sm_splat(r, (uint32_t)clock_now(w, u));
    break;
  case SR_CLOCKHI:
    sm_splat(r, (uint32_t)(clock_now(w, u) >> 32));
    break;
  case SR_GLOBALTIMERLO:
    sm_splat(r, (uint32_t)time_now(w));
    break;
  case SR_GLOBALTIMERHI:
    sm_splat(r, (uint32_t)(time_now(w) >> 32));
    break;
  default:
    sm_splat(r, 0);
  }
}

EACH_WARP(s2r) {
  RESULT(u->d);
  read_special(w, u, u->special.number, r);
  RESULT_END;
}

/* 64-bit CS2R: writes a register and the next one. */
EACH_WARP(s2r64) {
  struct sm_lanes lo, hi;
  if (u->special.number == SR_CLOCKLO || u->special.number == SR_GLOBALTIMERLO) {
    uint64_t now = u->special.number == SR_CLOCKLO ? clock_now(w, u) : time_now(w);
    sm_splat(lo.l, (uint32_t)now);
    sm_splat(hi.l, (uint32_t)(now >> 32));
  } else {
    read_special(w, u, u->special.number, lo.l);
    sm_splat(hi.l, 0);
  }
  sm_blend(REG(u->d), lo.l, m);
  sm_blend(REG(u->d + SM_REG_BYTES), hi.l, m);
  return DONE;
}

/* --- warp-wide ------------------------------------------------------------------ */

/* Writes a value that is the same for the whole warp to d: to all lanes if d is a uniform register,
 * else to those of m. */
static inline void splat_result(struct sm_warp *w, const struct sm_uop *u, uint32_t value,
                                uint32_t m, bool uniform) {
  struct sm_lanes t;
  sm_splat(t.l, value);
  sm_blend(REG(u->d), t.l, uniform ? SM_ALL_LANES : m);
}

EACH_WARP(vote) {
  enum { VOTE_ALL, VOTE_ANY, VOTE_EQ };
  const uint32_t p = PP & m;
  const bool all = p == m, any = p != 0;
  const bool result = u->vote.mode == VOTE_ALL ? all : u->vote.mode == VOTE_ANY ? any : all || !any;
  splat_result(w, u, p, m, u->vote.to_uniform);
  pred_out(w, u->pd, 0u - result, u->vote.to_uniform ? SM_ALL_LANES : m);
  return DONE;
}

EACH_WARP(shfl) {
  enum { SHFL_IDX, SHFL_UP, SHFL_DOWN, SHFL_BFLY };
  struct sm_lanes tb, out;
  const uint32_t *a = REG(u->s[0]), *b = source(w, u, 1, &tb), *c = REG(u->s[2]);
  uint32_t p = 0;
  for (unsigned i = 0; i < SM_LANES; i++) {
    const uint32_t control = u->shfl.clamp_known ? (uint32_t)u->shfl.clamp : c[i];
    const uint32_t segment = control >> 8 & 31, clamp = control & 31, by = b[i] & 31;
    const uint32_t max = (i & segment) | (clamp & ~segment);
    uint32_t from;
    bool ok;
    switch (u->shfl.mode) {
    case SHFL_UP:
      from = i - by;
      ok = (int32_t)from >= (int32_t)max;
      break;
    case SHFL_DOWN:
      from = i + by;
      ok = from <= max;
      break;
    case SHFL_BFLY:
      from = i ^ by;
      ok = from <= max;
      break;
    default:
      from = (i & segment) | (by & ~segment & 31);
      ok = from <= max;
    }
    out.l[i] = a[ok ? from & 31 : i];
    p |= (uint32_t)ok << i;
  }
  sm_blend(REG(u->d), out.l, m);
  pred_out(w, u->pd, p, m);
  return DONE;
}

EACH_WARP(match) {
  const uint32_t *lo = REG(u->s[0]), *hi = REG(u->match.wide ? u->s[0] + SM_REG_BYTES : 0);
  struct sm_lanes out;
  memset(&out, 0, sizeof out);
  uint32_t left = m;
  while (left) {
    const unsigned first = (unsigned)__builtin_ctz(left);
    uint32_t same = 0;
    FOR_MASK(i, left)
    same |= (uint32_t)(lo[i] == lo[first] && hi[i] == hi[first]) << i;
    FOR_MASK(k, same)
    out.l[k] = same;
    left &= ~same;
  }
  if (!u->match.any) {
    const bool all = out.l[__builtin_ctz(m)] == m;
    sm_splat(out.l, all ? m : 0);
    pred_out(w, u->pd, 0u - all, m);
  }
  sm_blend(REG(u->d), out.l, m);
  return DONE;
}

EACH_WARP(redux) {
  enum { REDUX_AND, REDUX_OR, REDUX_XOR, REDUX_SUM, REDUX_MIN, REDUX_MAX };
  const uint32_t *a = REG(u->s[0]), flip = u->redux.is_signed ? 0x80000000u : 0;
  uint32_t r = a[__builtin_ctz(m)];
  FOR_MASK(i, m & (m - 1)) {
    switch (u->redux.operation) {
    case REDUX_AND:
      r &= a[i];
      break;
    case REDUX_OR:
      r |= a[i];
      break;
    case REDUX_XOR:
      r ^= a[i];
      break;
    case REDUX_SUM:
      r += a[i];
      break;
    case REDUX_MIN:
      r = (a[i] ^ flip) < (r ^ flip) ? a[i] : r;
      break;
    case REDUX_MAX:
      r = (a[i] ^ flip) > (r ^ flip) ? a[i] : r;
      break;
    }
  }
  splat_result(w, u, r, m, true);
  return DONE;
}

/* Returns the value of the first executing lane, or the OR of all. Pu is true if the values
 * differ. */
EACH_WARP(r2ur) {
  const uint32_t *a = REG(u->s[0]), first = a[__builtin_ctz(m)];
  uint32_t differ = 0, all = 0;
  FOR_MASK(i, m) {
    differ |= a[i] ^ first;
    all |= a[i];
  }
  splat_result(w, u, u->r2ur.or_lanes ? all : first, m, true);
  pred_out(w, u->pd, differ ? ~0u : 0, m);
  return DONE;
}

/* --- faults --------------------------------------------------------------------- */

static inline const struct sm_uop *fault_here(struct sm_warp *w, const struct sm_uop *u, uint32_t m,
                                              enum sm_fault_kind kind) {
  return sm_raise(w, u, kind, (uint32_t)__builtin_ctz(m), 0, 0, false);
}

EACH_WARP(trap) {
  return fault_here(w, u, m, SM_FAULT_TRAP);
}
EACH_WARP(not_implemented) {
  return fault_here(w, u, m, SM_FAULT_NOT_IMPLEMENTED);
}
EACH_WARP(register_range) {
  return fault_here(w, u, m, SM_FAULT_REGISTER_RANGE);
}
EACH_WARP(illegal) {
  return fault_here(w, u, m, SM_FAULT_ILLEGAL_INSTRUCTION);
}
EACH_WARP(pc_range) {
  return fault_here(w, u, m, SM_FAULT_PC_RANGE);
}
