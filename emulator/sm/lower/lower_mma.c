/* Lowering of tensor instructions (exec_mma.c): how many registers each matrix has. */
#include "emulator/sm/exec/sem_mma.h"
#include "emulator/sm/lower/lower.h"

/* Lowers the operands D, A, B, C, a uniform predicate that must be PT, and the metadata of a sparse
 * A. a, b and cd are the numbers of registers of each matrix; a is 0 if the instruction does not
 * exist. */
static void lower_matrices(struct lowering *l, unsigned a, unsigned b, unsigned cd) {
  struct sm_uop *u = l->u;
  if (a == 0 || l->unsupported) {
    l->unsupported = true;
    return;
  }
  u->mma.a_registers = (uint8_t)a;
  u->mma.b_registers = (uint8_t)b;
  lower_result(l, cd);
  lower_source(l, 0, a);
  lower_source(l, 1, b);
  lower_source(l, 2, cd);
  l->unsupported |= u->mods != 0;
  expect_neutral(l, 0);
  if (u->mma.sparse) {
    u->mma.metadata = reg_slot(l, next_operand(l), 1, false);
    u->mma.selector = (uint8_t)next_operand(l)->value;
  }
}

/* The shape determines the registers of A. A sparse A has half of the elements of its shape, and B
 * has as many registers as A. */
unsigned sm_lower_hmma(struct lowering *l, unsigned handler) {
  struct sm_uop *u = l->u;
  const unsigned shape = modifier(l, SM_MOD_SHAPE), type = modifier(l, SM_MOD_AB);
  const bool tf32 = type == SM_HMMA_T_TF32, to_f16 = u->mma.option, sparse = u->mma.sparse;
  unsigned k; /* elements along k */
  if (sparse)
    k = shape == SM_HMMA_SP_1688 ? 8 : shape == SM_HMMA_SP_16816 ? 16 : 32;
  else
    k = shape == SM_HMMA_1688 ? 8 : shape == SM_HMMA_16816 ? 16 : 4;
  const unsigned a = k * (tf32 ? 2 : 1) / (sparse ? 8 : 4);
  u->mma.type = tf32 ? SEM_MMA_TF32 : type == SM_HMMA_T_BF16 ? SEM_MMA_BF16 : SEM_MMA_F16;
  l->unsupported |= (a != 2 && a != 4) || (to_f16 && type != SM_HMMA_T_NONE);
  lower_matrices(l, a, sparse ? a : a / 2, to_f16 ? 2 : 4);
  l->unsupported |= sparse && u->mma.selector >= (a == 2 ? 4 : 2);
  return handler;
}

unsigned sm_lower_imma(struct lowering *l, unsigned handler) {
  struct sm_uop *u = l->u;
  /* Registers of A, for bytes and for nibbles; 0 if the instruction does not exist. */
  static const uint8_t dense_a[][2] = {[SM_IMMA_8816] = {1, 0},
                                       [SM_IMMA_8832] = {0, 1},
                                       [SM_IMMA_16816] = {2, 0},
                                       [SM_IMMA_16832] = {4, 2},
                                       [SM_IMMA_16864] = {0, 4}};
  static const uint8_t sparse_a[][2] = {
      [SM_IMMA_SP_16832] = {2, 0}, [SM_IMMA_SP_16864] = {4, 2}, [SM_IMMA_SP_168128] = {0, 4}};
  const unsigned shape = modifier(l, SM_MOD_SHAPE);
  const bool nibbles = u->mma.type >= SM_IMMA_T_U4, sparse = u->mma.sparse;
  const unsigned a = sparse ? sparse_a[shape][nibbles] : dense_a[shape][nibbles];
  l->unsupported |= (u->mma.b_type >= SM_IMMA_T_U4) != nibbles;
  lower_matrices(l, a, sparse || a == 1 ? a : a / 2, a == 1 ? 2 : 4);
  l->unsupported |= sparse && u->mma.selector >= (a == 2 ? 2 : 1);
  return handler;
}

unsigned sm_lower_bmma(struct lowering *l, unsigned handler) {
  const unsigned shape = modifier(l, SM_MOD_SHAPE);
  const unsigned a = shape == SM_BMMA_88128 ? 1 : shape == SM_BMMA_168128 ? 2 : 4;
  lower_matrices(l, a, a > 1 ? a / 2 : 1, a > 1 ? 4 : 2);
  return handler;
}

unsigned sm_lower_dmma(struct lowering *l, unsigned handler) {
  lower_matrices(l, 2, 2, 4);
  return handler;
}
