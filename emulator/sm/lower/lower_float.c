/* Lowering of float instructions and conversions (exec_float.c). */
#include "emulator/sm/lower/lower.h"

/* Width of an integer format as conversions number them: U8 S8 U16 S16 U32 S32
 * U64 S64. */
static unsigned int_width(unsigned code) {
  return 8u << (code >> 1);
}

/* Float operands' flushing and the result's. */
static void float_mods(struct lowering *l) {
  struct sm_uop *u = l->u;
  u->round = (uint8_t)mod(l, SM_MOD_RND);
  u->ftz = mod(l, SM_MOD_FTZ) || mod(l, SM_MOD_FMZ);
  u->sat = (uint8_t)mod(l, SM_MOD_SAT);
  u->product.fmz = mod(l, SM_MOD_FMZ) == SM_FMZ_FMZ;
}

static bool bare(const struct sm_uop *u) {
  return u->round == SEM_RN && !u->ftz && !u->sat && !u->product.fmz;
}

static unsigned lower_float2(struct lowering *l, unsigned full, unsigned rr, unsigned rs) {
  struct sm_uop *u = l->u;
  dst(l, 1);
  src(l, 0, 1);
  src(l, 1, 1);
  float_mods(l);
  if (!bare(u) || !plain_mods(u))
    return full;
  return u->scalar_slot == 1 ? rs : rr;
}

static unsigned lower_fmul_scaled(struct lowering *l) {
  lower_float2(l, 0, 0, 0);
  l->unsupported |= l->u->product.fmz; /* FMZ: not known with a scale */
  l->u->product.scale = (uint8_t)mod(l, SM_MOD_SCALE);
  return SM_H_fmul_scaled;
}

static unsigned lower_ffma(struct lowering *l) {
  struct sm_uop *u = l->u;
  dst(l, 1);
  for (unsigned k = 0; k < 3; k++)
    src(l, k, 1);
  float_mods(l);
  enum { ABS_BITS = SM_SRC_ABS * 0x15 };
  if (!bare(u) || u->mods & ABS_BITS)
    return SM_H_ffma;
  if (u->scalar_slot == SM_NO_SLOT)
    return plain_mods(u) ? SM_H_ffma_rrr : SM_H_ffma_neg;
  if (!plain_mods(u))
    return SM_H_ffma;
  return u->scalar_slot == 1 ? SM_H_ffma_rsr : SM_H_ffma_rrs;
}

static unsigned lower_compare(struct lowering *l, unsigned handler, unsigned words) {
  struct sm_uop *u = l->u;
  if (handler == SM_H_fset) {
    dst(l, 1);
  } else {
    u->pd = dst_pred(l);
    u->pe = dst_pred(l);
  }
  src(l, 0, words);
  src(l, 1, words);
  src_pred(l, 0);
  u->ftz = (uint8_t)mod(l, SM_MOD_FTZ);
  u->compare.compare = (uint8_t)mod(l, SM_MOD_CMP);
  u->compare.combine = (uint8_t)mod(l, SM_MOD_BOP);
  return handler;
}

static unsigned lower_double(struct lowering *l, unsigned handler, unsigned sources) {
  dst(l, 2);
  for (unsigned k = 0; k < sources; k++)
    src(l, k, 2);
  l->u->round = (uint8_t)mod(l, SM_MOD_RND);
  return handler;
}

static void half_src(struct lowering *l, unsigned slot) {
  if (l->at < l->insn->operand_count) {
    const struct sm_operand *o = &l->insn->operand[l->at];
    if (o->kind != SM_OPERAND_IMM)
      l->u->half.select |= (uint8_t)((o->select & 3u) << (2 * slot));
    if (o->kind != SM_OPERAND_IMM && o->select == SM_HALF_X_H0_NH1)
      l->u->half.flags |= SM_HALF_EXCHANGE;
  }
  src(l, slot, 1);
}

/* Sources, format and flags of half instructions. */
static void half_mods(struct lowering *l, unsigned sources) {
  struct sm_uop *u = l->u;
  for (unsigned k = 0; k < sources; k++)
    half_src(l, k);
  u->ftz = mod(l, SM_MOD_FTZ) || mod(l, SM_MOD_FMZ);
  if (mod(l, SM_MOD_FMZ) == SM_FMZ_FMZ)
    u->half.flags |= SM_HALF_FMZ;
}

static unsigned lower_half(struct lowering *l, unsigned op, unsigned sources) {
  struct sm_uop *u = l->u;
  dst(l, 1);
  half_mods(l, sources);
  u->half.operation = (uint8_t)op;
  const unsigned format = mod(l, SM_MOD_OFMT), sat = mod(l, SM_MOD_SAT);
  switch (l->insn->op) {
  case SM_OP_HADD2:
    u->half.flags |= format == SM_OFMT_F32_F32 ? SM_HALF_F32_OUT : 0;
    break;
  default:
    u->half.flags |= format == SM_OFMT_BF16_V2 ? SM_HALF_BF16
                     : format == SM_OFMT_F32   ? SM_HALF_F32_OUT
                                               : 0;
  }
  if (sources == 3) {
    u->half.flags |= sat == SM_RELU_SAT_RELU ? SM_HALF_RELU : 0;
    u->sat = sat == SM_RELU_SAT_SAT;
  } else {
    u->sat = sat != 0;
  }
  /* -0 * 0 + constant: loads a word. */
  const uint32_t exponent = 0x7c00;
  if (sources == 3 && u->s[0] == 0 && u->s[1] == 0 && u->scalar_slot == 2 &&
      u->scalar_kind == SM_SCALAR_IMM && (u->mods & 3) == SM_SRC_NEG && !u->ftz && !u->sat &&
      !(u->half.flags & ~(unsigned)SM_HALF_BF16) && (u->imm & exponent) != exponent &&
      (u->imm >> 16 & exponent) != exponent)
    return SM_H_mov_scalar;
  return SM_H_hfma2;
}

static unsigned lower_hset(struct lowering *l, unsigned handler) {
  struct sm_uop *u = l->u;
  if (handler == SM_H_hset2) {
    dst(l, 1);
    u->half.wide = (uint8_t)mod(l, SM_MOD_BF);
  } else {
    u->pd = dst_pred(l);
    u->pe = dst_pred(l);
    u->half.wide = (uint8_t)mod(l, SM_MOD_H_AND);
  }
  half_mods(l, 2);
  src_pred(l, 0);
  u->half.combine = (uint8_t)mod(l, SM_MOD_BOP);
  u->half.compare = (uint8_t)mod(l, SM_MOD_CMP);
  return handler;
}

static unsigned lower_mufu(struct lowering *l) {
  struct sm_uop *u = l->u;
  dst(l, 1);
  const unsigned half = l->insn->operand[l->at].select;
  src(l, 1, 1);
  u->mufu.function = (uint8_t)mod(l, SM_MOD_FN);
  u->mufu.high = half != 0;
  return mod(l, SM_MOD_MUFU_FMT) ? SM_H_mufu_f16 : SM_H_mufu;
}

enum { CONVERT_F16 = 1, CONVERT_F32 = 2, CONVERT_F64 = 3, CONVERT_BF16 = 4 };

/* A conversion's float source. */
static void convert_src(struct lowering *l) {
  struct sm_uop *u = l->u;
  u->convert.from = (uint8_t)mod(l, SM_MOD_SRC);
  u->convert.part = l->insn->operand[l->at].select != 0;
  src(l, 1, u->convert.from == CONVERT_F64 ? 2 : 1);
  u->round = (uint8_t)mod(l, SM_MOD_RND);
  u->ftz = (uint8_t)mod(l, SM_MOD_FTZ);
}

static unsigned lower_f2i(struct lowering *l) {
  struct sm_uop *u = l->u;
  const unsigned to = mod(l, SM_MOD_DST);
  dst(l, int_width(to) == 64 ? 2 : 1);
  convert_src(l);
  u->convert.width = (uint8_t)int_width(to);
  u->convert.is_signed = to & 1;
  u->convert.ntz = (uint8_t)mod(l, SM_MOD_NTZ);
  return u->convert.from == CONVERT_F32 && u->convert.width == 32 && u->convert.is_signed
             ? SM_H_f2i_fast
             : SM_H_f2i;
}

static unsigned lower_i2f(struct lowering *l) {
  struct sm_uop *u = l->u;
  const unsigned from = mod(l, SM_MOD_SRC);
  u->convert.to = (uint8_t)mod(l, SM_MOD_DST);
  dst(l, u->convert.to == CONVERT_F64 ? 2 : 1);
  u->convert.part = l->insn->operand[l->at].select;
  u->convert.width = (uint8_t)int_width(from);
  u->convert.is_signed = from & 1;
  src(l, 1, u->convert.width == 64 ? 2 : 1);
  u->round = (uint8_t)mod(l, SM_MOD_RND);
  return u->convert.to == CONVERT_F32 && u->convert.width == 32 && u->round == SEM_RN
             ? SM_H_i2f_fast
             : SM_H_i2f;
}

static unsigned lower_i2fp(struct lowering *l) {
  struct sm_uop *u = l->u;
  dst(l, 1);
  src(l, 1, 1);
  u->convert.to = (uint8_t)mod(l, SM_MOD_DST);
  u->convert.width = 32;
  u->convert.is_signed = mod(l, SM_MOD_SRC) == SM_SIGN32_S32;
  u->round = (uint8_t)mod(l, SM_MOD_RND);
  return u->convert.to == CONVERT_F32 && u->round == SEM_RN ? SM_H_i2f_fast : SM_H_i2f;
}

static unsigned lower_f2fp(struct lowering *l, bool merge) {
  struct sm_uop *u = l->u;
  dst(l, 1);
  if (!merge)
    src(l, 0, 1);
  src(l, 1, 1);
  if (merge)
    src(l, 2, 1);
  u->f2fp.to = mod(l, SM_MOD_DST) ? CONVERT_BF16 : CONVERT_F16;
  u->f2fp.relu = (uint8_t)mod(l, SM_MOD_RELU);
  u->f2fp.merge = merge;
  u->f2fp.satfinite = (uint8_t)mod(l, SM_MOD_SATFINITE);
  u->round = (uint8_t)mod(l, SM_MOD_RND);
  return SM_H_f2fp;
}

/* .XORSIGN goes with |a| and |b|, but takes the sign from what they were before;
 * sem_minmax32 makes the magnitudes itself. */
static bool xor_sign(struct lowering *l) {
  enum { ABS_BITS = SM_SRC_ABS | SM_SRC_ABS << 2 };
  if (!mod(l, SM_MOD_XORSIGN))
    return false;
  l->u->mods &= (uint8_t)~ABS_BITS;
  return true;
}

unsigned sm_lower_float(struct lowering *l) {
  struct sm_uop *u = l->u;
  switch (l->insn->op) {
  case SM_OP_FADD:
    return lower_float2(l, SM_H_fadd, SM_H_fadd_rr, SM_H_fadd_rs);
  case SM_OP_FMUL:
    if (mod(l, SM_MOD_SCALE) != SM_SCALE_NONE)
      return lower_fmul_scaled(l);
    return lower_float2(l, SM_H_fmul, SM_H_fmul_rr, SM_H_fmul_rs);
  case SM_OP_FFMA:
    return lower_ffma(l);
  case SM_OP_FSEL:
    lower_simple(l, 0, 2);
    src_pred(l, 0);
    u->ftz = (uint8_t)mod(l, SM_MOD_FTZ);
    return SM_H_fsel;
  case SM_OP_FMNMX:
    lower_simple(l, 0, 2);
    src_pred(l, 0);
    u->ftz = (uint8_t)mod(l, SM_MOD_FTZ);
    u->fmnmx.nan = (uint8_t)mod(l, SM_MOD_NAN);
    u->fmnmx.xor_sign = xor_sign(l);
    return SM_H_fmnmx;
  case SM_OP_FSET:
    return lower_compare(l, SM_H_fset, 1);
  case SM_OP_FSETP:
    return lower_compare(l, SM_H_fsetp, 1);
  case SM_OP_DSETP:
    return lower_compare(l, SM_H_dsetp, 2);
  case SM_OP_FCHK:
    u->pd = dst_pred(l);
    src(l, 0, 1);
    src(l, 1, 1);
    return SM_H_fchk;
  case SM_OP_FSWZADD:
    lower_simple(l, 0, 2);
    float_mods(l);
    u->fswzadd.signs = (uint8_t)next(l)->value;
    return SM_H_fswzadd;
  case SM_OP_DADD:
    return lower_double(l, SM_H_dadd, 2);
  case SM_OP_DMUL:
    return lower_double(l, SM_H_dmul, 2);
  case SM_OP_DFMA:
    return lower_double(l, SM_H_dfma, 3);
  case SM_OP_HADD2:
    return lower_half(l, 0, 2);
  case SM_OP_HMUL2:
    return lower_half(l, 1, 2);
  case SM_OP_HFMA2:
  case SM_OP_HFMA2_MMA:
    return lower_half(l, 2, 3);
  case SM_OP_HMNMX2:
    dst(l, 1);
    half_mods(l, 2);
    src_pred(l, 0);
    u->half.flags |= mod(l, SM_MOD_OFMT) == SM_OFMT_BF16_V2 ? SM_HALF_BF16
                     : mod(l, SM_MOD_OFMT) == SM_OFMT_F32   ? SM_HALF_F32_OUT
                                                            : 0;
    u->half.nan = (uint8_t)mod(l, SM_MOD_NAN);
    u->half.xor_sign = xor_sign(l);
    return SM_H_hmnmx2;
  case SM_OP_HSET2:
    return lower_hset(l, SM_H_hset2);
  case SM_OP_HSETP2:
    return lower_hset(l, SM_H_hsetp2);
  case SM_OP_MUFU:
    return lower_mufu(l);
  case SM_OP_F2I:
    return lower_f2i(l);
  case SM_OP_I2F:
    return lower_i2f(l);
  case SM_OP_I2FP:
    return lower_i2fp(l);
  case SM_OP_F2F:
    u->convert.to = (uint8_t)mod(l, SM_MOD_DST);
    dst(l, u->convert.to == CONVERT_F64 ? 2 : 1);
    convert_src(l);
    return SM_H_f2f;
  case SM_OP_FRND:
    dst(l, mod(l, SM_MOD_SRC) == CONVERT_F64 ? 2 : 1);
    convert_src(l);
    return SM_H_frnd;
  case SM_OP_F2FP:
    return lower_f2fp(l, false);
  case SM_OP_F2FP_MERGE:
    return lower_f2fp(l, true);
  case SM_OP_F2IP:
    u->f2ip.is_signed = (uint8_t)mod(l, SM_MOD_DST);
    u->f2ip.relu = (uint8_t)mod(l, SM_MOD_RELU);
    u->f2ip.ntz = (uint8_t)mod(l, SM_MOD_NTZ);
    u->round = (uint8_t)mod(l, SM_MOD_RND);
    lower_simple(l, SM_H_f2ip, 3);
    /* Which half of c is kept is only known for the plain form. */
    l->unsupported |= l->insn->operand[l->at - 1].select != 0;
    return SM_H_f2ip;
  default:
    return SM_HANDLER_COUNT;
  }
}
