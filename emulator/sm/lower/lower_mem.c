/* Lowering by hand of addresses and of memory instructions (exec_mem.c, exec_atom.c). */
#include "emulator/sm/lower/lower.h"

void sm_lower_address(struct lowering *l) {
  struct sm_uop *u = l->u;
  const struct sm_operand *o = next_operand(l);
  if (o->kind != SM_OPERAND_MEM) {
    l->unsupported = true;
    return;
  }
  struct sm_operand reg = {.kind = SM_OPERAND_REG, .reg = o->reg};
  l->address = true;
  u->s[0] = reg_slot(l, &reg, o->base64 ? 2 : 1, false);
  struct sm_operand ureg = {.kind = SM_OPERAND_UREG, .reg = o->ureg};
  u->memory.uniform = reg_slot(l, &ureg, o->base64 ? 2 : 1, false);
  l->address = false;
  u->memory.offset = (int32_t)o->value;
  u->memory.scale = (uint8_t)(o->scale > 1 ? __builtin_ctz(o->scale) : 0);
  u->memory.narrow = !o->base64;
}

/* LDC has a general index register, ULDC a uniform one. */
unsigned sm_lower_ldc(struct lowering *l, unsigned handler) {
  struct sm_uop *u = l->u;
  const bool is_uniform = l->insn->op == SM_OP_ULDC;
  lower_result(l, u->ldc.size == SM_SZ_64 ? 2 : 1);
  const struct sm_operand *o = next_operand(l);
  l->unsupported |= o->bank >= SM_BANKS;
  const struct sm_operand index = {.kind = SM_OPERAND_REG, .reg = is_uniform ? SM_RZ : o->index};
  const struct sm_operand uindex = {.kind = SM_OPERAND_UREG, .reg = is_uniform ? o->ureg : SM_URZ};
  u->s[0] = reg_slot(l, &index, 1, false);
  u->ldc.uniform = reg_slot(l, &uindex, 1, false);
  u->ldc.bank = o->bank;
  u->ldc.offset = (int32_t)o->value;
  return handler;
}

/* Types of atomics, in the encoding of ATOM. */
enum { TYPE_U32, TYPE_S32, TYPE_U64, TYPE_F32, TYPE_F16X2, TYPE_S64, TYPE_F64 };

unsigned sm_choose_atom(struct lowering *l, unsigned handler) {
  struct sm_uop *u = l->u;
  const unsigned type = u->atom.type, operation = u->atom.operation;
  const bool is_wide = type == TYPE_U64 || type == TYPE_S64 || type == TYPE_F64;
  const bool is_float = type == TYPE_F32 || type == TYPE_F16X2 || type == TYPE_F64;
  u->atom.size = is_wide ? SM_SZ_64 : SM_SZ_NONE;
  l->unsupported |=
      !u->atom.cas && (operation > SM_ATOM_EXCH || (is_float && operation != SM_ATOM_ADD));
  return handler;
}

/* The destination is a shared address, the source a global one. */
unsigned sm_lower_ldgsts(struct lowering *l, unsigned handler) {
  struct sm_uop *u = l->u;
  const struct sm_operand *to = next_operand(l);
  const struct sm_operand reg = {.kind = SM_OPERAND_REG, .reg = to->reg};
  const struct sm_operand ureg = {.kind = SM_OPERAND_UREG, .reg = to->ureg};
  sm_lower_address(l);
  u->s[1] = reg_slot(l, &reg, 1, false);
  u->s[2] = reg_slot(l, &ureg, 1, false);
  u->ldgsts.shared_offset = (int32_t)to->value;
  lower_source_predicate(l, 0);
  return handler;
}
