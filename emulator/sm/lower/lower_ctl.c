/* Lowering of control and warp-wide instructions (exec_ctl.c). */
#include "emulator/sm/lower/lower.h"

/* A target: an address, or with a register what is added to it. */
static unsigned branch(struct lowering *l) {
  struct sm_uop *u = l->u;
  const struct sm_operand *o = next(l);
  if (o->kind == SM_OPERAND_UREG) { /* CALL.ABS URa */
    u->s[0] = reg_slot(l, o, 2, false);
    return SM_H_brx;
  }
  if (o->kind != SM_OPERAND_TARGET) {
    l->unsupported = true;
    return SM_H_bra_far;
  }
  u->branch.target = o->absolute ? o->value : (int64_t)(l->next_pc + (uint64_t)o->value);
  if (o->reg != SM_RZ) {
    struct sm_operand reg = {.kind = SM_OPERAND_REG, .reg = o->reg};
    u->s[0] = reg_slot(l, &reg, 2, false);
    return SM_H_brx;
  }
  const uint64_t pc = l->next_pc - SM_INSN_BYTES, page = pc & ~(uint64_t)(SM_PAGE_BYTES - 1);
  const uint64_t at = (uint64_t)u->branch.target - page;
  if (at >= SM_PAGE_BYTES || at % SM_INSN_BYTES)
    return SM_H_bra_far;
  u->branch.jump = (int32_t)(at / SM_INSN_BYTES) - (int32_t)((pc - page) / SM_INSN_BYTES);
  return SM_H_bra;
}

static unsigned lower_bra(struct lowering *l) {
  struct sm_uop *u = l->u;
  control_pred(l);
  const unsigned cond = mod(l, SM_MOD_COND);
  if (l->insn->op == SM_OP_BRA_UR) {
    const struct sm_operand *mask = next(l);
    u->s[0] = reg_slot(l, mask, 1, false);
    u->mods = mask->inv ? SM_SRC_NEG : 0;
  } else {
    u->mods = SM_SRC_NEG; /* ~0: all lanes */
  }
  const unsigned handler = branch(l);
  if (cond == SM_COND_NONE && l->insn->op == SM_OP_BRA)
    return handler;
  if (cond < SM_COND_DIV && l->insn->op == SM_OP_BRA_UR)
    l->unsupported = true;
  u->branch.condition = (uint8_t)cond;
  u->branch.near = handler == SM_H_bra;
  return SM_H_bra_cond;
}

static unsigned barrier(struct lowering *l, unsigned handler) {
  control_pred(l);
  const struct sm_operand *o = next(l);
  if (o->kind != SM_OPERAND_BARRIER || o->value < 0 || o->value >= SM_BARRIERS)
    l->unsupported = true;
  else
    l->u->barrier.barrier = (uint8_t)o->value;
  return handler;
}

static unsigned lower_bmov(struct lowering *l) {
  struct sm_uop *u = l->u;
  const struct sm_operand *to = next(l);
  if (to->kind == SM_OPERAND_BARRIER) {
    u->bmov.to_barrier = 1;
    u->bmov.to = (uint8_t)to->value;
  } else {
    u->d = reg_slot(l, to, 1, true);
  }
  if (l->at < l->insn->operand_count && l->insn->operand[l->at].kind == SM_OPERAND_BARRIER) {
    u->bmov.from_barrier = 1;
    u->bmov.from = (uint8_t)next(l)->value;
  } else {
    src(l, 1, 1);
  }
  u->bmov.clear = (uint8_t)mod(l, SM_MOD_CLEAR);
  return SM_H_bmov;
}

static unsigned lower_bar(struct lowering *l) {
  struct sm_uop *u = l->u;
  u->bar.mode = (uint8_t)mod(l, SM_MOD_BAR);
  u->bar.reduce = (uint8_t)mod(l, SM_MOD_RED);
  if (l->insn->operand_count == 0)
    return SM_H_bar;
  const struct sm_operand *id = next(l), *count = next(l);
  if (id->kind == SM_OPERAND_REG) {
    u->bar.id_in_register = 1;
    u->s[1] = reg_slot(l, id, 1, false);
  } else {
    u->bar.id = (uint8_t)id->value;
  }
  if (count->kind == SM_OPERAND_REG) {
    u->bar.count_in_register = 1;
    u->bar.packed = u->bar.id_in_register;
    u->s[1] = reg_slot(l, count, 1, false);
  } else {
    u->bar.count = (int32_t)count->value;
  }
  src_pred(l, 0);
  if (u->bar.mode == SM_BAR_SCAN)
    l->unsupported = true;
  return SM_H_bar;
}

/* Special registers with a value (exec_ctl.c), or that read as zero. */
static bool known_special(int64_t n) {
  enum {
    LANEID = 0,
    CLOCK = 1,
    VIRTID = 3,
    TID_X = 33,
    TID_Z = 35,
    CTAID_X = 37,
    CTAID_Z = 39,
    SMEMSZ = 50,
    LMEMHIOFF = 55,
    EQMASK = 56,
    GEMASK = 60,
    VIRTUALSMID = 67,
    CLOCKLO = 80,
    GLOBALTIMERHI = 83,
    PM_FIRST = 100,
    PM_LAST = 115,
    ZERO = 255,
  };
  return n == LANEID || n == CLOCK || n == VIRTID || (n >= TID_X && n <= TID_Z) ||
         (n >= CTAID_X && n <= CTAID_Z) || n == SMEMSZ || n == LMEMHIOFF ||
         (n >= EQMASK && n <= GEMASK) || n == VIRTUALSMID || (n >= CLOCKLO && n <= GLOBALTIMERHI) ||
         (n >= PM_FIRST && n <= PM_LAST) || n == ZERO;
}

static unsigned lower_s2r(struct lowering *l, bool pair) {
  dst(l, pair ? 2 : 1);
  const struct sm_operand *o = next(l);
  if (!known_special(o->value))
    l->unsupported = true;
  l->u->special.number = (uint8_t)o->value;
  return pair ? SM_H_s2r64 : SM_H_s2r;
}

static unsigned lower_shfl(struct lowering *l) {
  struct sm_uop *u = l->u;
  u->pd = dst_pred(l);
  dst(l, 1);
  src(l, 0, 1);
  src(l, 1, 1);
  const struct sm_operand *o = &l->insn->operand[l->at];
  u->shfl.mode = (uint8_t)mod(l, SM_MOD_SHFL);
  u->shfl.clamp_known = o->kind == SM_OPERAND_IMM;
  if (u->shfl.clamp_known)
    u->shfl.clamp = (uint16_t)o->value;
  else
    src(l, 2, 1);
  return SM_H_shfl;
}

static unsigned lower_warp(struct lowering *l) {
  struct sm_uop *u = l->u;
  switch (l->insn->op) {
  case SM_OP_VOTE:
  case SM_OP_VOTEU:
    u->uniform = 0; /* the active lanes vote, whatever the guard */
    u->vote.to_uniform = l->insn->op == SM_OP_VOTEU;
    dst(l, 1);
    u->pd = dst_pred(l);
    src_pred(l, 0);
    u->vote.mode = (uint8_t)mod(l, SM_MOD_VOTE);
    return SM_H_vote;
  case SM_OP_MATCH_ALL:
    u->pd = dst_pred(l); /* fall through */
  case SM_OP_MATCH_ANY:
    u->match.any = l->insn->op == SM_OP_MATCH_ANY;
    u->match.wide = mod(l, SM_MOD_SZ) != 0;
    dst(l, 1);
    src(l, 0, u->match.wide ? 2 : 1);
    return SM_H_match;
  case SM_OP_REDUX:
    u->redux.operation = (uint8_t)mod(l, SM_MOD_REDUX);
    u->redux.is_signed = (uint8_t)mod(l, SM_MOD_SIGNED);
    return lower_simple(l, SM_H_redux, 1);
  default:
    u->pd = dst_pred(l);
    u->r2ur.or_lanes = (uint8_t)mod(l, SM_MOD_OR);
    return lower_simple(l, SM_H_r2ur, 1);
  }
}

unsigned sm_lower_control(struct lowering *l) {
  struct sm_uop *u = l->u;
  switch (l->insn->op) {
  case SM_OP_NOP:
  case SM_OP_PMTRIG:
  case SM_OP_DEPBAR:
  case SM_OP_DEPBAR_LE:
    return SM_H_nop;
  case SM_OP_BRA:
  case SM_OP_BRA_UR:
    return lower_bra(l);
  case SM_OP_BRX:
  case SM_OP_JMP:
  case SM_OP_CALL_ABS:
  case SM_OP_CALL_REL:
  case SM_OP_RET:
    control_pred(l);
    return branch(l);
  case SM_OP_EXIT:
    control_pred(l);
    return SM_H_exit;
  case SM_OP_BSSY:
    return barrier(l, SM_H_bssy);
  case SM_OP_BSYNC:
    return barrier(l, SM_H_bsync);
  case SM_OP_BREAK:
    return barrier(l, SM_H_break_);
  case SM_OP_YIELD:
  case SM_OP_NANOSLEEP:
    control_pred(l);
    return SM_H_yield;
  case SM_OP_WARPSYNC:
    control_pred(l);
    src(l, 1, 1);
    return SM_H_warpsync;
  case SM_OP_BMOV:
    return lower_bmov(l);
  case SM_OP_BAR:
    return lower_bar(l);
  case SM_OP_B2R_RESULT:
    dst(l, 1);
    u->pd = dst_pred(l);
    return SM_H_b2r;
  case SM_OP_BPT:
    l->unsupported |= mod(l, SM_MOD_BPT) != SM_BPT_TRAP;
    return SM_H_trap;
  case SM_OP_LEPC:
    dst(l, 2);
    return SM_H_lepc;
  case SM_OP_S2R:
  case SM_OP_S2UR:
    return lower_s2r(l, false);
  case SM_OP_CS2R:
    return lower_s2r(l, mod(l, SM_MOD_SZ) != SM_CS2R_32);
  case SM_OP_SHFL:
    return lower_shfl(l);
  case SM_OP_VOTE:
  case SM_OP_VOTEU:
  case SM_OP_MATCH_ALL:
  case SM_OP_MATCH_ANY:
  case SM_OP_REDUX:
  case SM_OP_R2UR:
    return lower_warp(l);
  default:
    return SM_HANDLER_COUNT;
  }
}
