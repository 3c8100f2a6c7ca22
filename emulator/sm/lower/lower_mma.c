/* Lowering of tensor instructions (exec_mma.c). */
#include "emulator/sm/exec/sem_mma.h"
#include "emulator/sm/lower/lower.h"

/* D, A, B, C, a uniform predicate of which only the neutral value is known, and for
 * sparse A its metadata. Each with how many registers it takes; A none: there is no
 * such instruction. */
static void operands(struct lowering *l, unsigned a, unsigned b, unsigned cd, bool sparse) {
  struct sm_uop *u = l->u;
  if (a == 0 || l->unsupported) {
    l->unsupported = true;
    return;
  }
  u->mma.a_registers = (uint8_t)a;
  u->mma.b_registers = (uint8_t)b;
  u->mma.sparse = sparse;
  dst(l, cd);
  src(l, 0, a);
  src(l, 1, b);
  src(l, 2, cd);
  l->unsupported |= u->mods != 0;
  const struct sm_operand *p = next_if(l, SM_OPERAND_UPRED);
  l->unsupported |= p && (p->reg != SM_PRED_TRUE || p->not_);
  if (sparse) {
    u->mma.metadata = reg_slot(l, next(l), 1, false);
    u->mma.selector = (uint8_t)next(l)->value;
  }
}

/* Registers of A by the shape; with a sparse A the shape is that of what it stands
 * for, and B has as many. */
static unsigned lower_hmma(struct lowering *l, bool sparse) {
  struct sm_uop *u = l->u;
  const unsigned shape = mod(l, SM_MOD_SHAPE), type = mod(l, SM_MOD_AB);
  const bool tf32 = type == SM_HMMA_T_TF32, to_f16 = mod(l, SM_MOD_DST) == SM_FACC_F16;
  unsigned k; /* elements along k */
  if (sparse)
    k = shape == SM_HMMA_SP_1688 ? 8 : shape == SM_HMMA_SP_16816 ? 16 : 32;
  else
    k = shape == SM_HMMA_1688 ? 8 : shape == SM_HMMA_16816 ? 16 : 4;
  const unsigned a = k * (tf32 ? 2 : 1) / (sparse ? 8 : 4);
  u->mma.type = tf32 ? SEM_MMA_TF32 : type == SM_HMMA_T_BF16 ? SEM_MMA_BF16 : SEM_MMA_F16;
  u->mma.option = to_f16;
  l->unsupported |= (a != 2 && a != 4) || (to_f16 && type != SM_HMMA_T_NONE);
  operands(l, a, sparse ? a : a / 2, to_f16 ? 2 : 4, sparse);
  l->unsupported |= sparse && u->mma.selector >= (a == 2 ? 4 : 2);
  return SM_H_hmma;
}

static unsigned lower_imma(struct lowering *l, bool sparse) {
  struct sm_uop *u = l->u;
  /* By the shape, of bytes and of nibbles. */
  static const uint8_t dense_a[][2] = {[SM_IMMA_8816] = {1, 0},
                                       [SM_IMMA_8832] = {0, 1},
                                       [SM_IMMA_16816] = {2, 0},
                                       [SM_IMMA_16832] = {4, 2},
                                       [SM_IMMA_16864] = {0, 4}};
  static const uint8_t sparse_a[][2] = {
      [SM_IMMA_SP_16832] = {2, 0}, [SM_IMMA_SP_16864] = {4, 2}, [SM_IMMA_SP_168128] = {0, 4}};
  const unsigned shape = mod(l, SM_MOD_SHAPE);
  const bool nibbles = mod(l, SM_MOD_A) >= SM_IMMA_T_U4;
  const unsigned a = sparse ? sparse_a[shape][nibbles] : dense_a[shape][nibbles];
  u->mma.type = (uint8_t)mod(l, SM_MOD_A);
  u->mma.b_type = (uint8_t)mod(l, SM_MOD_B);
  u->mma.option = (uint8_t)mod(l, SM_MOD_SAT);
  l->unsupported |= (mod(l, SM_MOD_B) >= SM_IMMA_T_U4) != nibbles;
  operands(l, a, sparse || a == 1 ? a : a / 2, a == 1 ? 2 : 4, sparse);
  l->unsupported |= sparse && u->mma.selector >= (a == 2 ? 2 : 1);
  return SM_H_imma;
}

static unsigned lower_bmma(struct lowering *l) {
  const unsigned shape = mod(l, SM_MOD_SHAPE);
  const unsigned a = shape == SM_BMMA_88128 ? 1 : shape == SM_BMMA_168128 ? 2 : 4;
  l->u->mma.type = mod(l, SM_MOD_BMMA_OP) == SM_BMMA_OP_AND;
  operands(l, a, a > 1 ? a / 2 : 1, a > 1 ? 4 : 2, false);
  return SM_H_bmma;
}

unsigned sm_lower_tensor(struct lowering *l) {
  switch (l->insn->op) {
  case SM_OP_HMMA:
    return lower_hmma(l, false);
  case SM_OP_HMMA_SP:
    return lower_hmma(l, true);
  case SM_OP_IMMA:
    return lower_imma(l, false);
  case SM_OP_IMMA_SP:
    return lower_imma(l, true);
  case SM_OP_BMMA:
    return lower_bmma(l);
  case SM_OP_DMMA:
    l->u->round = (uint8_t)mod(l, SM_MOD_RND);
    operands(l, 2, 2, 4, false);
    return SM_H_dmma;
  case SM_OP_MOVM:
    l->unsupported |= mod(l, SM_MOD_MATRIX) != SM_MOVM_MT88;
    return lower_simple(l, SM_H_movm, 1);
  default:
    return SM_HANDLER_COUNT;
  }
}
