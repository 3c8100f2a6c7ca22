/* Lowering of moves, integer and predicate instructions (exec_int.c). */
#include "emulator/sm/lower/lower.h"

static unsigned lower_iadd3(struct lowering *l, bool x) {
  struct sm_uop *u = l->u;
  dst(l, 1);
  u->pd = dst_pred(l);
  u->pe = dst_pred(l);
  for (unsigned k = 0; k < 3; k++)
    src(l, k, 1);
  u->iadd.extended = x;
  if (x) {
    src_pred(l, 0);
    src_pred(l, 1);
  }
  if (x || u->pd != SM_PRED_DISCARD || u->pe != SM_PRED_DISCARD || u->scalar_slot == 0 ||
      u->scalar_slot == 2)
    return SM_H_iadd3;
  if (!plain_mods(u))
    return SM_H_iadd3_plain;
  return u->scalar_slot == SM_NO_SLOT ? SM_H_iadd3_rrr : SM_H_iadd3_rsr;
}

static unsigned lower_imad(struct lowering *l, bool x) {
  struct sm_uop *u = l->u;
  dst(l, 1);
  for (unsigned k = 0; k < 3; k++)
    src(l, k, 1);
  u->imad.extended = x;
  if (x) {
    src_pred(l, 0);
    return SM_H_imad;
  }
  if (!plain_mods(u))
    return SM_H_imad;
  /* A product with RZ is a move. */
  const bool zero = u->s[0] == 0 || (u->scalar_slot != 1 && u->s[1] == 0);
  if (zero && u->scalar_slot == 2)
    return SM_H_mov_scalar;
  if (zero && u->scalar_slot == SM_NO_SLOT) {
    u->s[0] = u->s[2];
    return SM_H_mov_reg;
  }
  return u->scalar_slot == SM_NO_SLOT ? SM_H_imad_rrr
         : u->scalar_slot == 1        ? SM_H_imad_rsr
                                      : SM_H_imad;
}

static unsigned lower_imad_wide(struct lowering *l, bool x, bool high) {
  struct sm_uop *u = l->u;
  dst(l, high ? 1 : 2);
  u->pd = dst_pred(l);
  src(l, 0, 1);
  src(l, 1, 1);
  src(l, 2, 2);
  u->imad_wide.extended = x;
  u->imad_wide.is_signed = mod(l, SM_MOD_FMT) != SM_FMT_U32;
  u->imad_wide.high = high;
  if (x)
    src_pred(l, 0);
  const bool plain = !x && !high && u->pd == SM_PRED_DISCARD && plain_mods(u);
  return plain ? SM_H_imad_wide_plain : SM_H_imad_wide;
}

static unsigned lower_lea(struct lowering *l, bool x, unsigned part) {
  struct sm_uop *u = l->u;
  dst(l, 1);
  u->pd = dst_pred(l);
  src(l, 0, 1);
  src(l, 1, 1);
  if (part == 1) /* .HI has a third register */
    src(l, 2, 1);
  u->lea.extended = x;
  u->lea.shift = (uint8_t)next(l)->value;
  u->lea.part = (uint8_t)part;
  if (x)
    src_pred(l, 0);
  const bool plain = !x && part == 0 && u->pd == SM_PRED_DISCARD && plain_mods(u);
  return plain ? SM_H_lea_plain : SM_H_lea;
}

static unsigned lower_lop3(struct lowering *l) {
  struct sm_uop *u = l->u;
  u->pd = dst_pred(l);
  dst(l, 1);
  for (unsigned k = 0; k < 3; k++)
    src(l, k, 1);
  u->lop3.table = (uint8_t)next(l)->value;
  u->lop3.and_predicate = (uint8_t)mod(l, SM_MOD_PAND);
  src_pred(l, 0);
  if (u->scalar_slot == 0 || u->scalar_slot == 2)
    l->unsupported = true;
  return SM_H_lop3;
}

static unsigned lower_shf(struct lowering *l) {
  struct sm_uop *u = l->u;
  dst(l, 1);
  for (unsigned k = 0; k < 3; k++)
    src(l, k, 1);
  const bool right = mod(l, SM_MOD_DIR) == SM_DIR_R, wrap = mod(l, SM_MOD_WRAP);
  const bool high = mod(l, SM_MOD_HI);
  const unsigned type = mod(l, SM_MOD_SHIFT);
  const bool wide = type == SM_SHIFT_S64 || type == SM_SHIFT_U64;
  const bool is_signed = type == SM_SHIFT_S32 || type == SM_SHIFT_S64;
  unsigned handler = SM_H_shf;
  if (!wide && !right && !high && u->scalar_slot != 2)
    handler = SM_H_shl;
  else if (!wide && right && high && u->scalar_slot != 2)
    handler = is_signed ? SM_H_sar : SM_H_shr;
  if (handler == SM_H_shf) {
    u->shift.right = right;
    u->shift.wrap = wrap;
    u->shift.is_signed = is_signed;
    u->shift.width = wide ? 64 : 32;
    u->shift.high = high;
    return handler;
  }
  u->shift.known = 0;
  u->shift.wrap = wrap;
  if (u->scalar_slot == 1 && u->scalar_kind == SM_SCALAR_IMM) {
    uint32_t n = sem_shift_count(u->imm, 32, wrap);
    if (n == 32 && handler == SM_H_sar)
      n = 31;
    if (n < 32) {
      u->imm = n;
      u->shift.known = 1;
    }
  }
  return handler;
}

static unsigned lower_isetp(struct lowering *l) {
  struct sm_uop *u = l->u;
  u->pd = dst_pred(l);
  u->pe = dst_pred(l);
  src(l, 0, 1);
  src(l, 1, 1);
  src_pred(l, 0);
  src_pred(l, 2);
  u->isetp.compare = (uint8_t)mod(l, SM_MOD_CMP);
  u->isetp.is_signed = mod(l, SM_MOD_FMT) != SM_FMT_U32;
  u->isetp.combine = (uint8_t)mod(l, SM_MOD_BOP);
  u->isetp.extended = (uint8_t)mod(l, SM_MOD_EX);
  return SM_H_isetp;
}

static unsigned lower_prmt(struct lowering *l) {
  struct sm_uop *u = l->u;
  dst(l, 1);
  for (unsigned k = 0; k < 3; k++)
    src(l, k, 1);
  u->prmt.mode = (uint8_t)mod(l, SM_MOD_PRMT);
  if (u->scalar_slot == 1 && u->scalar_kind == SM_SCALAR_IMM) {
    u->imm = sem_prmt_selector(u->imm, u->prmt.mode);
    return SM_H_prmt_imm;
  }
  return SM_H_prmt;
}

static unsigned lower_i2i(struct lowering *l, bool pack) {
  struct sm_uop *u = l->u;
  dst(l, 1);
  static const uint8_t bits[] = {8, 8, 16, 16, 2, 2, 4, 4};
  u->narrow.bits = bits[mod(l, SM_MOD_DST) & 7];
  u->narrow.is_signed = mod(l, SM_MOD_DST) & 1;
  if (!pack) {
    src(l, 1, 1);
    return SM_H_i2i_sat;
  }
  src(l, 0, 1);
  src(l, 1, 1);
  /* C.24 and C.28 name the bits of c that remain below the fields: with fields of
   * 4 and 2 bits, all that fit. Other choices (.H1) no compiler makes. */
  static const uint8_t kept[] = {0, 0, 0, 0, 3, 3, 2, 2};
  l->unsupported |= l->insn->operand[l->at].select != kept[mod(l, SM_MOD_DST) & 7];
  src(l, 2, 1);
  return SM_H_i2ip;
}

static unsigned lower_plop3(struct lowering *l, bool sign) {
  struct sm_uop *u = l->u;
  u->pd = dst_pred(l);
  u->pe = dst_pred(l);
  for (unsigned k = 0; k < 3; k++) {
    if (sign)
      src(l, k, 1);
    else
      src_pred(l, k);
  }
  u->plop3.table_u = (uint8_t)next(l)->value;
  u->plop3.table_v = (uint8_t)next(l)->value;
  return sign ? SM_H_plop3_sign : SM_H_plop3;
}

/* Instructions whose one source is in slot 1. */
static unsigned lower_unary(struct lowering *l, unsigned handler, bool pred) {
  struct sm_uop *u = l->u;
  dst(l, 1);
  if (pred)
    u->pd = dst_pred(l);
  src(l, 1, 1);
  u->flo.is_signed = mod(l, SM_MOD_FMT) != SM_FMT_U32;
  u->flo.shift = (uint8_t)mod(l, SM_MOD_SH);
  return handler;
}

static unsigned lower_mov(struct lowering *l) {
  struct sm_uop *u = l->u;
  enum { ALL_BYTES = 15 };
  dst(l, 1);
  src(l, 0, 1);
  const struct sm_operand *bytes = next_if(l, SM_OPERAND_IMM);
  if (bytes && bytes->value != ALL_BYTES)
    l->unsupported = true;
  return u->scalar_slot == 0 ? SM_H_mov_scalar : SM_H_mov_reg;
}

/* PR, register, mask: the byte is a selection of the register or a modifier. */
static unsigned lower_pr(struct lowering *l, unsigned handler) {
  struct sm_uop *u = l->u;
  if (handler == SM_H_p2r)
    dst(l, 1);
  next(l); /* PR or UPR */
  u->predicates.byte =
      (uint8_t)(handler == SM_H_p2r ? mod(l, SM_MOD_BYTE) : l->insn->operand[l->at].select);
  u->predicates.first = u->uniform ? SM_PRED_UNIFORM : 0;
  src(l, 0, 1);
  src(l, 1, 1);
  return handler;
}

static unsigned lower_vabsdiff(struct lowering *l, bool bytes) {
  struct sm_uop *u = l->u;
  dst(l, 1);
  if (dst_pred(l) != SM_PRED_DISCARD)
    l->unsupported = true;
  for (unsigned k = 0; k < 3; k++)
    src(l, k, 1);
  u->absdiff.is_signed = (uint8_t)mod(l, SM_MOD_FMT);
  u->absdiff.accumulate = (uint8_t)mod(l, SM_MOD_ACC);
  return bytes ? SM_H_absdiff4 : SM_H_absdiff;
}

static unsigned lower_dot(struct lowering *l, unsigned handler) {
  struct sm_uop *u = l->u;
  lower_simple(l, handler, 3);
  u->dot.a_signed = (uint8_t)mod(l, SM_MOD_FA);
  u->dot.b_signed = (uint8_t)mod(l, SM_MOD_FB);
  u->dot.high = mod(l, SM_MOD_HILO) == SM_HILO_HI;
  return handler;
}

unsigned sm_lower_integer(struct lowering *l) {
  struct sm_uop *u = l->u;
  switch (l->insn->op) {
  case SM_OP_MOV:
  case SM_OP_UMOV:
    return lower_mov(l);
  case SM_OP_SEL:
  case SM_OP_USEL:
    lower_simple(l, 0, 2);
    src_pred(l, 0);
    return SM_H_sel;
  case SM_OP_P2R:
  case SM_OP_UP2UR:
    return lower_pr(l, SM_H_p2r);
  case SM_OP_R2P:
  case SM_OP_UR2UP:
    return lower_pr(l, SM_H_r2p);
  case SM_OP_ISETP:
  case SM_OP_UISETP:
    return lower_isetp(l);
  case SM_OP_IADD3:
  case SM_OP_UIADD3:
    return lower_iadd3(l, false);
  case SM_OP_IADD3_X:
  case SM_OP_UIADD3_X:
    return lower_iadd3(l, true);
  case SM_OP_LEA:
  case SM_OP_ULEA:
    return lower_lea(l, false, 0);
  case SM_OP_LEA_X:
  case SM_OP_ULEA_X:
    return lower_lea(l, true, 0);
  case SM_OP_LEA_HI:
  case SM_OP_ULEA_HI:
    return lower_lea(l, false, 1);
  case SM_OP_LEA_HI_X:
  case SM_OP_ULEA_HI_X:
    return lower_lea(l, true, 1);
  case SM_OP_LEA_HI_SX32:
  case SM_OP_ULEA_HI_SX32:
    return lower_lea(l, false, 2);
  case SM_OP_LEA_HI_X_SX32:
  case SM_OP_ULEA_HI_X_SX32:
    return lower_lea(l, true, 2);
  case SM_OP_LOP3:
  case SM_OP_ULOP3:
    return lower_lop3(l);
  case SM_OP_IABS:
    return lower_unary(l, SM_H_iabs, false);
  case SM_OP_VABSDIFF:
    return lower_vabsdiff(l, false);
  case SM_OP_VABSDIFF4:
    return lower_vabsdiff(l, true);
  case SM_OP_PRMT:
  case SM_OP_UPRMT:
    return lower_prmt(l);
  case SM_OP_IMNMX:
    lower_simple(l, 0, 2);
    src_pred(l, 0);
    u->imnmx.is_signed = mod(l, SM_MOD_FMT) != SM_FMT_U32;
    return SM_H_imnmx;
  case SM_OP_SHF:
  case SM_OP_USHF:
    return lower_shf(l);
  case SM_OP_SGXT:
  case SM_OP_USGXT:
    u->extend.wrap = (uint8_t)mod(l, SM_MOD_WRAP);
    u->extend.is_signed = mod(l, SM_MOD_FMT) != SM_FMT_U32;
    return lower_simple(l, SM_H_sgxt, 2);
  case SM_OP_BMSK:
  case SM_OP_UBMSK:
    u->extend.wrap = (uint8_t)mod(l, SM_MOD_WRAP);
    return lower_simple(l, SM_H_bmsk, 2);
  case SM_OP_PLOP3:
  case SM_OP_UPLOP3:
    return lower_plop3(l, false);
  case SM_OP_PLOP3_SIGN:
  case SM_OP_UPLOP3_SIGN:
    return lower_plop3(l, true);
  case SM_OP_IMAD:
  case SM_OP_UIMAD:
    return lower_imad(l, false);
  case SM_OP_IMAD_X:
  case SM_OP_UIMAD_X:
    return lower_imad(l, true);
  case SM_OP_IMAD_WIDE:
  case SM_OP_UIMAD_WIDE:
    return lower_imad_wide(l, false, false);
  case SM_OP_IMAD_WIDE_X:
  case SM_OP_UIMAD_WIDE_X:
    return lower_imad_wide(l, true, false);
  case SM_OP_IMAD_HI:
    return lower_imad_wide(l, false, true);
  case SM_OP_IMAD_HI_X:
    return lower_imad_wide(l, true, true);
  case SM_OP_IDP_4A:
    return lower_dot(l, SM_H_dp4a);
  case SM_OP_IDP_2A:
    return lower_dot(l, SM_H_dp2a);
  case SM_OP_I2I:
    return lower_i2i(l, false);
  case SM_OP_I2IP:
    return lower_i2i(l, true);
  case SM_OP_FLO:
  case SM_OP_UFLO:
    return lower_unary(l, SM_H_flo, true);
  case SM_OP_BREV:
  case SM_OP_UBREV:
    return lower_unary(l, SM_H_brev, false);
  case SM_OP_POPC:
  case SM_OP_UPOPC:
    return lower_unary(l, SM_H_popc, false);
  default:
    return SM_HANDLER_COUNT;
  }
}
