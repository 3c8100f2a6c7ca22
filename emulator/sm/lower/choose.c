/* Selects a handler for an instruction from the contents of its uop: common forms have special
 * handlers, all others use the general one. The generated functions call these after they have
 * stored operands and arguments (sm87.isa, choose=). */
#include "emulator/sm/lower/lower.h"

static bool has_no_mods(const struct sm_uop *u) {
  return u->mods == 0;
}

/* --- moves and integers ------------------------------------------------------*/

unsigned sm_choose_mov(struct lowering *l, unsigned handler) {
  return l->u->scalar_slot == SM_NO_SLOT ? handler : SM_H_mov_scalar;
}

unsigned sm_choose_iadd3(struct lowering *l, unsigned handler) {
  const struct sm_uop *u = l->u;
  if (u->pd != SM_PRED_DISCARD || u->pe != SM_PRED_DISCARD || u->scalar_slot == 0 ||
      u->scalar_slot == 2)
    return handler;
  if (!has_no_mods(u))
    return SM_H_iadd3_plain;
  return u->scalar_slot == SM_NO_SLOT ? SM_H_iadd3_rrr : SM_H_iadd3_rsr;
}

unsigned sm_choose_imad(struct lowering *l, unsigned handler) {
  struct sm_uop *u = l->u;
  if (!has_no_mods(u))
    return handler;
  /* A product with RZ plus c is a move of c. */
  const bool zero = u->s[0] == 0 || (u->scalar_slot != 1 && u->s[1] == 0);
  if (zero && u->scalar_slot == 2)
    return SM_H_mov_scalar;
  if (zero && u->scalar_slot == SM_NO_SLOT) {
    u->s[1] = u->s[2];
    return SM_H_mov_reg;
  }
  return u->scalar_slot == SM_NO_SLOT ? SM_H_imad_rrr
         : u->scalar_slot == 1        ? SM_H_imad_rsr
                                      : handler;
}

unsigned sm_choose_imad_wide(struct lowering *l, unsigned handler) {
  return l->u->pd == SM_PRED_DISCARD && has_no_mods(l->u) ? SM_H_imad_wide_plain : handler;
}

unsigned sm_choose_lea(struct lowering *l, unsigned handler) {
  return l->u->pd == SM_PRED_DISCARD && has_no_mods(l->u) ? SM_H_lea_plain : handler;
}

unsigned sm_choose_lea_high(struct lowering *l, unsigned handler) {
  return l->u->pd == SM_PRED_DISCARD && has_no_mods(l->u) ? SM_H_lea_high : handler;
}

/* Chooses a handler for a 32-bit shift that needs only one word: to the left with the low word as
 * result, or to the right with the high one. */
unsigned sm_choose_shift(struct lowering *l, unsigned handler) {
  struct sm_uop *u = l->u;
  if (u->shift.width == 64 || u->shift.right != u->shift.high || u->scalar_slot == 2)
    return handler;
  handler = !u->shift.right ? SM_H_shl : u->shift.is_signed ? SM_H_sar : SM_H_shr;
  if (u->scalar_slot == 1 && u->scalar_kind == SM_SCALAR_IMM) {
    uint32_t n = sem_shift_count(u->imm, 32, u->shift.wrap);
    if (n == 32 && handler == SM_H_sar)
      n = 31;
    if (n < 32) {
      u->imm = n;
      u->shift.known = 1;
    }
  }
  return handler;
}

unsigned sm_choose_prmt(struct lowering *l, unsigned handler) {
  struct sm_uop *u = l->u;
  if (u->scalar_slot != 1 || u->scalar_kind != SM_SCALAR_IMM)
    return handler;
  u->imm = sem_prmt_selector(u->imm, u->prmt.mode);
  return SM_H_prmt_imm;
}

/* Returns which part of the third operand is kept. */
static unsigned kept_part(const struct lowering *l) {
  return l->insn->operand[l->insn->operand_count - 1].select;
}

/* C.24 and C.28 are the bits of c that remain below the fields: all that fit if the fields have 4
 * or 2 bits. No compiler emits another choice (.H1). */
unsigned sm_choose_i2ip(struct lowering *l, unsigned handler) {
  const unsigned bits = l->u->narrow.bits;
  l->unsupported |= kept_part(l) != (bits == 2 ? SM_I2IP_28_28 : bits == 4 ? SM_I2IP_24_24 : 0);
  return handler;
}

/* --- floats ------------------------------------------------------------------*/

static bool is_plain_float(const struct sm_uop *u) {
  return u->round == SEM_RN && !u->ftz && !u->sat && !u->product.fmz;
}

unsigned sm_choose_fadd(struct lowering *l, unsigned handler) {
  const struct sm_uop *u = l->u;
  if (!is_plain_float(u) || !has_no_mods(u))
    return handler;
  return u->scalar_slot == 1 ? SM_H_fadd_rs : SM_H_fadd_rr;
}

unsigned sm_choose_fmul(struct lowering *l, unsigned handler) {
  const struct sm_uop *u = l->u;
  if (u->product.scale != SM_SCALE_NONE) {
    l->unsupported |= u->product.fmz; /* what FMZ means with a scale is not known */
    return SM_H_fmul_scaled;
  }
  if (!is_plain_float(u) || !has_no_mods(u))
    return handler;
  return u->scalar_slot == 1 ? SM_H_fmul_rs : SM_H_fmul_rr;
}

unsigned sm_choose_ffma(struct lowering *l, unsigned handler) {
  const struct sm_uop *u = l->u;
  enum { ABS_BITS = SM_SRC_ABS * 0x15 };
  if (!is_plain_float(u) || u->mods & ABS_BITS)
    return handler;
  if (u->scalar_slot == SM_NO_SLOT)
    return has_no_mods(u) ? SM_H_ffma_rrr : SM_H_ffma_neg;
  if (!has_no_mods(u))
    return handler;
  return u->scalar_slot == 1 ? SM_H_ffma_rsr : SM_H_ffma_rrs;
}

/* .XORSIGN occurs with |a| and |b|, but takes the sign of the result from a and b themselves.
 * sem_minmax32 computes the magnitudes, so the modifiers are dropped. */
static void drop_abs_mods(struct sm_uop *u, bool xor_sign) {
  enum { ABS_BITS = SM_SRC_ABS | SM_SRC_ABS << 2 };
  if (xor_sign)
    u->mods &= (uint8_t)~ABS_BITS;
}

unsigned sm_choose_fmnmx(struct lowering *l, unsigned handler) {
  drop_abs_mods(l->u, l->u->fmnmx.xor_sign);
  return handler;
}

/* Records which halves of its sources an instruction uses. */
unsigned sm_choose_half(struct lowering *l, unsigned handler) {
  struct sm_uop *u = l->u;
  unsigned slot = 0;
  for (unsigned k = 0; k < l->insn->operand_count; k++) {
    const struct sm_operand *o = &l->insn->operand[k];
    if (o->dst || o->kind == SM_OPERAND_PRED)
      continue;
    if (o->kind != SM_OPERAND_IMM) {
      u->half.select |= (uint8_t)((o->select & 3u) << (2 * slot));
      u->half.exchange |= o->select == SM_HALF_X_H0_NH1;
    }
    slot++;
  }
  return handler;
}

unsigned sm_choose_hfma2(struct lowering *l, unsigned handler) {
  struct sm_uop *u = l->u;
  sm_choose_half(l, handler);
  /* -0 * 0 + constant loads a constant. */
  const uint32_t exponent = 0x7c00;
  const bool is_plain = !u->ftz && !u->sat && !u->half.f32_result && !u->half.relu &&
                        !u->half.exchange && (u->mods & 3) == SM_SRC_NEG;
  if (is_plain && u->s[0] == 0 && u->s[1] == 0 && u->scalar_slot == 2 &&
      u->scalar_kind == SM_SCALAR_IMM && (u->imm & exponent) != exponent &&
      (u->imm >> 16 & exponent) != exponent)
    return SM_H_mov_scalar;
  return handler;
}

unsigned sm_choose_hmnmx2(struct lowering *l, unsigned handler) {
  drop_abs_mods(l->u, l->u->half.xor_sign);
  return sm_choose_half(l, handler);
}

/* --- conversions -------------------------------------------------------------*/

unsigned sm_choose_f2i(struct lowering *l, unsigned handler) {
  const struct sm_uop *u = l->u;
  return u->convert.from == SM_FLOAT_NONE && u->convert.width == 32 ? SM_H_f2i_fast : handler;
}

unsigned sm_choose_i2f(struct lowering *l, unsigned handler) {
  const struct sm_uop *u = l->u;
  return u->convert.to == SM_FLOAT_NONE && u->convert.width == 32 ? SM_H_i2f_fast : handler;
}

/* Only the plain form is supported. For the others it is not known which half of c is kept. */
unsigned sm_choose_f2ip(struct lowering *l, unsigned handler) {
  l->unsupported |= kept_part(l) != 0;
  return handler;
}
