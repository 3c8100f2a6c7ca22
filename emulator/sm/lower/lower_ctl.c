/* Lowering by hand of control and warp-wide instructions (exec_ctl.c): branches, barriers, special
 * registers. */
#include "emulator/sm/lower/lower.h"

/* Lowers a branch target: an address, or an offset that is added to a register. Returns the
 * handler. */
static unsigned lower_target(struct lowering *l) {
  struct sm_uop *u = l->u;
  const struct sm_operand *o = next_operand(l);
  if (o->kind == SM_OPERAND_UREG) { /* CALL.ABS URa */
    u->s[0] = reg_slot(l, o, 2, false);
    return SM_H_brx;
  }
  if (o->kind != SM_OPERAND_TARGET) {
    l->unsupported = true;
    return SM_H_bra_far;
  }
  u->branch.target = o->absolute ? o->value : (int64_t)(l->next_pc + (uint64_t)o->value);
  if (o->reg != SM_RZ || o->ureg != SM_URZ) {
    const bool uniform = o->reg == SM_RZ;
    const struct sm_operand reg = {.kind = uniform ? SM_OPERAND_UREG : SM_OPERAND_REG,
                                   .reg = uniform ? o->ureg : o->reg};
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

unsigned sm_lower_branch(struct lowering *l, unsigned handler) {
  (void)handler;
  lower_source_predicate(l, 0);
  return lower_target(l);
}

unsigned sm_lower_bra(struct lowering *l, unsigned handler) {
  struct sm_uop *u = l->u;
  lower_source_predicate(l, 0);
  const unsigned cond = modifier(l, SM_MOD_COND);
  if (l->insn->op == SM_OP_BRA_UR) {
    const struct sm_operand *mask = next_operand(l);
    u->s[0] = reg_slot(l, mask, 1, false);
    u->mods = mask->inv ? SM_SRC_NEG : 0;
  } else {
    u->mods = SM_SRC_NEG; /* ~0: all lanes */
  }
  handler = lower_target(l);
  if (cond == SM_COND_NONE && l->insn->op == SM_OP_BRA)
    return handler;
  u->branch.condition = (uint8_t)cond;
  u->branch.near = handler == SM_H_bra;
  return SM_H_bra_cond;
}

unsigned sm_lower_bmov(struct lowering *l, unsigned handler) {
  struct sm_uop *u = l->u;
  const struct sm_operand *to = next_operand(l);
  if (to->kind == SM_OPERAND_BARRIER) {
    u->bmov.to_barrier = 1;
    u->bmov.to = (uint8_t)to->value;
  } else {
    u->d = reg_slot(l, to, 1, true);
  }
  if (peek_operand(l)->kind == SM_OPERAND_BARRIER) {
    u->bmov.from_barrier = 1;
    u->bmov.from = (uint8_t)next_operand(l)->value;
  } else {
    lower_source(l, 1, 1);
  }
  return handler;
}

unsigned sm_lower_bar(struct lowering *l, unsigned handler) {
  struct sm_uop *u = l->u;
  if (l->insn->operand_count == 0)
    return handler;
  const struct sm_operand *id = next_operand(l), *count = next_operand(l);
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
  lower_source_predicate(l, 0);
  return handler;
}

/* Returns whether exec_ctl.c supports special register n, with a value or as zero. */
static bool known_special(unsigned n) {
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

unsigned sm_choose_special(struct lowering *l, unsigned handler) {
  l->unsupported |= !known_special(l->u->special.number);
  return handler;
}

unsigned sm_lower_shfl(struct lowering *l, unsigned handler) {
  struct sm_uop *u = l->u;
  u->pd = lower_result_predicate(l);
  lower_result(l, 1);
  lower_source(l, 0, 1);
  lower_source(l, 1, 1);
  u->shfl.clamp_known = peek_operand(l)->kind == SM_OPERAND_IMM;
  if (u->shfl.clamp_known)
    u->shfl.clamp = (uint16_t)next_operand(l)->value;
  else
    lower_source(l, 2, 1);
  return handler;
}
