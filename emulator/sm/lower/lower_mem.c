/* Lowering of memory instructions (exec_mem.c, exec_atom.c). */
#include "emulator/sm/lower/lower.h"

/* The memory operand. */
static void memory(struct lowering *l) {
  struct sm_uop *u = l->u;
  const struct sm_operand *o = next(l);
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

/* Registers that a size of LDG and its like takes. */
static unsigned size_words(unsigned size) {
  return size == SM_SZ_64 ? 2 : size == SM_SZ_128 ? 4 : 1;
}

/* The optional predicates around a load: only their neutral values are known. */
static void expect_neutral(struct lowering *l, const struct sm_operand *o) {
  if (o && (o->reg != SM_PRED_TRUE || o->not_))
    l->unsupported = true;
}

static unsigned lower_load(struct lowering *l, unsigned handler) {
  struct sm_uop *u = l->u;
  u->memory.size = (uint8_t)mod(l, SM_MOD_SZ);
  expect_neutral(l, next_if(l, SM_OPERAND_PRED));
  dst(l, size_words(u->memory.size));
  memory(l);
  expect_neutral(l, next_if(l, SM_OPERAND_PRED));
  return handler;
}

static unsigned lower_store(struct lowering *l, unsigned handler) {
  struct sm_uop *u = l->u;
  u->memory.size = (uint8_t)mod(l, SM_MOD_SZ);
  memory(l);
  u->s[1] = reg_slot(l, next(l), size_words(u->memory.size), false);
  return handler;
}

static unsigned lower_ldc(struct lowering *l, bool uniform) {
  struct sm_uop *u = l->u;
  u->ldc.size = (uint8_t)mod(l, SM_MOD_SZ);
  dst(l, size_words(u->ldc.size));
  const struct sm_operand *o = next(l);
  if (o->kind != SM_OPERAND_CONST || o->bank >= SM_BANKS || mod(l, SM_MOD_AD)) {
    l->unsupported = true;
    return SM_H_ldc;
  }
  struct sm_operand index = {.kind = SM_OPERAND_REG, .reg = uniform ? SM_RZ : o->index};
  struct sm_operand uindex = {.kind = SM_OPERAND_UREG, .reg = uniform ? o->ureg : SM_URZ};
  u->s[0] = reg_slot(l, &index, 1, false);
  u->ldc.uniform = reg_slot(l, &uindex, 1, false);
  u->ldc.bank = o->bank;
  u->ldc.offset = (int32_t)o->value;
  return SM_H_ldc;
}

/* Atomics' types as ATOM numbers them. */
enum { TYPE_U32, TYPE_S32, TYPE_U64, TYPE_F32, TYPE_F16X2, TYPE_S64, TYPE_F64 };

static void atom_type(struct lowering *l, unsigned type) {
  struct sm_uop *u = l->u;
  const bool wide = type == TYPE_U64 || type == TYPE_S64 || type == TYPE_F64;
  u->atom.type = (uint8_t)type;
  u->memory.size = wide ? SM_SZ_64 : SM_SZ_NONE;
}

static unsigned lower_atom(struct lowering *l, bool has_result, bool shared) {
  struct sm_uop *u = l->u;
  const unsigned type = mod(l, SM_MOD_SZ), op = mod(l, SM_MOD_OP);
  atom_type(l, type);
  const unsigned words = size_words(u->memory.size);
  u->d = SM_SLOT_DISCARD * SM_REG_BYTES;
  if (has_result) {
    if (!shared)
      u->pd = dst_pred(l);
    dst(l, words);
  }
  memory(l);
  if (!shared)
    u->atom.generic = l->insn->op == SM_OP_ATOM;
  u->s[1] = reg_slot(l, next(l), words, false);
  u->atom.operation = (uint8_t)op;
  const bool is_float = type == TYPE_F32 || type == TYPE_F16X2 || type == TYPE_F64;
  if (op > SM_ATOM_EXCH || (is_float && op != SM_ATOM_ADD))
    l->unsupported = true;
  return shared ? SM_H_atom_shared : SM_H_atom;
}

static unsigned lower_cas(struct lowering *l, bool shared) {
  struct sm_uop *u = l->u;
  atom_type(l, mod(l, SM_MOD_SZ));
  const unsigned words = size_words(u->memory.size);
  if (!shared)
    u->pd = dst_pred(l);
  dst(l, words);
  memory(l);
  if (!shared)
    u->atom.generic = l->insn->op == SM_OP_ATOM_CAS;
  u->s[1] = reg_slot(l, next(l), words, false);
  u->s[2] = reg_slot(l, next(l), words, false);
  u->atom.cas = 1;
  u->atom.operation = mod(l, SM_MOD_CAS) != SM_CAS_CAS;
  return shared ? SM_H_atom_shared : SM_H_atom;
}

static unsigned lower_ldgsts(struct lowering *l) {
  struct sm_uop *u = l->u;
  const struct sm_operand *to = next(l);
  struct sm_operand reg = {.kind = SM_OPERAND_REG, .reg = to->reg};
  struct sm_operand ureg = {.kind = SM_OPERAND_UREG, .reg = to->ureg};
  u->memory.size = (uint8_t)mod(l, SM_MOD_SZ);
  memory(l);
  u->s[1] = reg_slot(l, &reg, 1, false);
  u->s[2] = reg_slot(l, &ureg, 1, false);
  u->ldgsts.shared_offset = (int32_t)to->value;
  src_pred(l, 0);
  u->ldgsts.zfill = (uint8_t)mod(l, SM_MOD_ZFILL);
  return SM_H_ldgsts;
}

/* A row of a matrix is 16 bytes. */
static unsigned lower_ldsm(struct lowering *l) {
  struct sm_uop *u = l->u;
  const unsigned matrix = mod(l, SM_MOD_MATRIX), num = mod(l, SM_MOD_NUM);
  u->ldsm.matrices = num == SM_LDSM_NUM_4 ? 4 : num == SM_LDSM_NUM_2 ? 2 : 1;
  u->ldsm.transposed = matrix == SM_LDSM_MT88;
  u->memory.size = SM_SZ_128;
  l->unsupported |= matrix != SM_LDSM_M88 && matrix != SM_LDSM_MT88;
  dst(l, u->ldsm.matrices);
  memory(l);
  return SM_H_ldsm;
}

/* Arrivals at an mbarrier. */
static unsigned lower_arrive(struct lowering *l, bool generic) {
  struct sm_uop *u = l->u;
  const bool has_result = l->insn->op != SM_OP_ARRIVES;
  u->arrive.counts_only = has_result && mod(l, SM_MOD_ARRIVE) == SM_ARRIVE_POPC_INC_32;
  u->memory.size = u->arrive.counts_only ? SM_SZ_NONE : SM_SZ_64;
  if (generic)
    u->pd = dst_pred(l);
  if (has_result)
    dst(l, u->arrive.counts_only ? 1 : 2);
  memory(l);
  return generic ? SM_H_arrive_generic : u->arrive.counts_only ? SM_H_atom_inc : SM_H_arrive;
}

unsigned sm_lower_memory(struct lowering *l) {
  struct sm_uop *u = l->u;
  switch (l->insn->op) {
  case SM_OP_LDG:
    return lower_load(l, SM_H_ld_global);
  case SM_OP_LD:
    return lower_load(l, SM_H_ld_generic);
  case SM_OP_LDS:
    return lower_load(l, SM_H_ld_shared);
  case SM_OP_LDL:
    return lower_load(l, SM_H_ld_local);
  case SM_OP_STG:
    return lower_store(l, SM_H_st_global);
  case SM_OP_ST:
    return lower_store(l, SM_H_st_generic);
  case SM_OP_STS:
    return lower_store(l, SM_H_st_shared);
  case SM_OP_STL:
    return lower_store(l, SM_H_st_local);
  case SM_OP_LDC:
    return lower_ldc(l, false);
  case SM_OP_ULDC:
    return lower_ldc(l, true);
  case SM_OP_ATOM:
  case SM_OP_ATOMG:
    return lower_atom(l, true, false);
  case SM_OP_RED:
    return lower_atom(l, false, false);
  case SM_OP_ATOMS:
    return lower_atom(l, true, true);
  case SM_OP_ATOM_CAS:
  case SM_OP_ATOMG_CAS:
    return lower_cas(l, false);
  case SM_OP_ATOMS_CAS:
    return lower_cas(l, true);
  case SM_OP_ATOMS_ARRIVE:
  case SM_OP_ARRIVES:
    return lower_arrive(l, false);
  case SM_OP_ATOM_ARRIVE:
    return lower_arrive(l, true);
  case SM_OP_LDSM:
    return lower_ldsm(l);
  case SM_OP_LDGSTS:
    return lower_ldgsts(l);
  case SM_OP_QSPC:
    u->pd = dst_pred(l);
    dst(l, 1);
    l->unsupported |= u->d != SM_SLOT_DISCARD * SM_REG_BYTES;
    memory(l);
    u->qspc.space = (uint8_t)mod(l, SM_MOD_SPACE);
    return SM_H_qspc;
  case SM_OP_MEMBAR:
    return SM_H_fence;
  /* Caches and error barriers have no effect that a program can see here. */
  case SM_OP_CCTL:
  case SM_OP_CCTL_ALL:
  case SM_OP_CCTLL:
  case SM_OP_ERRBAR:
  case SM_OP_LDGDEPBAR:
    return SM_H_nop;
  default:
    return SM_HANDLER_COUNT;
  }
}
