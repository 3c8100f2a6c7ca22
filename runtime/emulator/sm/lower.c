/* From a decoded instruction to the compact form that the interpreter executes:
 * chooses the handler, turns registers into offsets, checks them against the
 * launch's count. What the fields of each handler mean stands with it in
 * exec_*.c.
 */
#include "runtime/emulator/sm/insn.h"
#include "runtime/emulator/sm/semantics.h"
#include "runtime/emulator/sm/state.h"

struct lowering {
  struct sm_uop *u;
  const struct sm_insn *insn;
  uint32_t registers;
  uint64_t next_pc;
  bool out_of_range, unsupported;
  unsigned at; /* next operand */
};

/* --- operands ------------------------------------------------------------------ */

static const struct sm_operand *next(struct lowering *l) {
  static const struct sm_operand none = {.kind = SM_OPERAND_NONE};
  return l->at < l->insn->operand_count ? &l->insn->operand[l->at++] : &none;
}

/* The next operand, if it is of a kind. */
static const struct sm_operand *next_if(struct lowering *l, enum sm_operand_kind kind) {
  if (l->at < l->insn->operand_count && l->insn->operand[l->at].kind == kind)
    return next(l);
  return NULL;
}

static unsigned mod(const struct lowering *l, enum sm_mod which) {
  return l->insn->mod[which];
}

/* The offset of count general or uniform registers. */
static uint16_t reg_slot(struct lowering *l, const struct sm_operand *o, unsigned count, bool dst) {
  unsigned slot = dst ? SM_SLOT_DISCARD : SM_SLOT_ZERO;
  if (o->kind == SM_OPERAND_UREG && o->reg != SM_URZ) {
    slot = SM_SLOT_UR + o->reg;
    l->out_of_range |= o->reg % count != 0 || o->reg + count > SM_UR_COUNT;
  } else if (o->kind == SM_OPERAND_REG && o->reg != SM_RZ) {
    slot = SM_SLOT_R + o->reg;
    l->out_of_range |= o->reg % count != 0 || o->reg + count > l->registers;
  } else if (o->kind != SM_OPERAND_REG && o->kind != SM_OPERAND_UREG) {
    l->unsupported = true;
  }
  return (uint16_t)(slot * SM_REG_BYTES);
}

static void dst(struct lowering *l, unsigned count) {
  l->u->d = reg_slot(l, next(l), count, true);
}

static uint8_t pred_index(const struct sm_operand *o) {
  return (uint8_t)(o->kind == SM_OPERAND_UPRED ? SM_PRED_UNIFORM + o->reg : o->reg);
}

static uint8_t dst_pred(struct lowering *l) {
  const struct sm_operand *o = next(l);
  if (o->kind != SM_OPERAND_PRED && o->kind != SM_OPERAND_UPRED)
    return SM_PRED_DISCARD;
  return o->reg == SM_PRED_TRUE ? SM_PRED_DISCARD : pred_index(o);
}

/* Input predicates pp, pq, pr: which is 0, 1, 2. */
static void src_pred(struct lowering *l, unsigned which) {
  struct sm_uop *u = l->u;
  const struct sm_operand *o = next(l);
  if (o->kind != SM_OPERAND_PRED && o->kind != SM_OPERAND_UPRED)
    return;
  uint8_t *field = which == 0 ? &u->pp : which == 1 ? &u->pq : &u->pr;
  *field = pred_index(o);
  if (o->not_)
    u->pnot |= (uint8_t)(1u << which);
}

/* The leading ?Pp of control instructions. */
static void control_pred(struct lowering *l) {
  if (l->at < l->insn->operand_count && l->insn->operand[l->at].kind == SM_OPERAND_PRED)
    src_pred(l, 0);
}

/* Source slot: a register of count words, an immediate or a constant. */
static void src(struct lowering *l, unsigned slot, unsigned count) {
  struct sm_uop *u = l->u;
  const struct sm_operand *o = next(l);
  unsigned mods = (o->neg ? SM_SRC_NEG : 0u) | (o->abs || o->inv ? SM_SRC_ABS : 0u);
  u->mods |= (uint8_t)(mods << (2 * slot));
  switch (o->kind) {
  case SM_OPERAND_REG:
  case SM_OPERAND_UREG:
    u->s[slot] = reg_slot(l, o, count, false);
    break;
  case SM_OPERAND_IMM:
    u->scalar_slot = (uint8_t)slot;
    u->scalar_kind = SM_SCALAR_IMM;
    u->imm = (uint32_t)o->value;
    break;
  case SM_OPERAND_CONST:
    if (o->bank >= SM_BANKS || o->index != SM_RZ) {
      l->unsupported = true;
      break;
    }
    u->scalar_slot = (uint8_t)slot;
    u->scalar_kind = o->bank;
    u->imm = (uint32_t)o->value;
    break;
  default:
    l->unsupported = true;
  }
}

/* Memory operand into s[0], imm, off, x[1], x[2]. */
static void memory(struct lowering *l) {
  struct sm_uop *u = l->u;
  const struct sm_operand *o = next(l);
  if (o->kind != SM_OPERAND_MEM) {
    l->unsupported = true;
    return;
  }
  struct sm_operand reg = {.kind = SM_OPERAND_REG, .reg = o->reg};
  u->s[0] = reg_slot(l, &reg, o->base64 ? 2 : 1, false);
  struct sm_operand ureg = {.kind = SM_OPERAND_UREG, .reg = o->ureg};
  u->imm = reg_slot(l, &ureg, o->base64 ? 2 : 1, false);
  u->off = o->value;
  u->x[1] = (uint8_t)(o->scale > 1 ? __builtin_ctz(o->scale) : 0);
  u->x[2] = !o->base64;
}

/* --- groups of instructions -------------------------------------------------------- */

static bool plain_mods(const struct sm_uop *u) {
  return u->mods == 0;
}

static unsigned lower_iadd3(struct lowering *l, bool x) {
  struct sm_uop *u = l->u;
  dst(l, 1);
  u->pd = dst_pred(l);
  u->pe = dst_pred(l);
  for (unsigned k = 0; k < 3; k++)
    src(l, k, 1);
  u->x[0] = x;
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
  u->x[0] = x;
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
  u->x[0] = x;
  u->x[1] = mod(l, SM_MOD_FMT) != SM_FMT_U32;
  u->x[2] = high;
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
  u->x[0] = x;
  u->x[1] = (uint8_t)next(l)->value;
  u->x[2] = (uint8_t)part;
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
  u->x[0] = (uint8_t)next(l)->value;
  u->x[1] = (uint8_t)mod(l, SM_MOD_PAND);
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
    u->x[0] = right;
    u->x[1] = wrap;
    u->x[2] = is_signed;
    u->x[3] = wide ? 64 : 32;
    u->x[4] = high;
    return handler;
  }
  u->x[0] = 0;
  u->x[1] = wrap;
  if (u->scalar_slot == 1 && u->scalar_kind == SM_SCALAR_IMM) {
    uint32_t n = sem_shift_count(u->imm, 32, wrap);
    if (n == 32 && handler == SM_H_sar)
      n = 31;
    if (n < 32) {
      u->imm = n;
      u->x[0] = 1;
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
  u->x[0] = (uint8_t)mod(l, SM_MOD_CMP);
  u->x[1] = mod(l, SM_MOD_FMT) != SM_FMT_U32;
  u->x[2] = (uint8_t)mod(l, SM_MOD_BOP);
  u->x[3] = (uint8_t)mod(l, SM_MOD_EX);
  return SM_H_isetp;
}

static unsigned lower_prmt(struct lowering *l) {
  struct sm_uop *u = l->u;
  dst(l, 1);
  for (unsigned k = 0; k < 3; k++)
    src(l, k, 1);
  u->x[0] = (uint8_t)mod(l, SM_MOD_PRMT);
  if (u->scalar_slot == 1 && u->scalar_kind == SM_SCALAR_IMM) {
    u->imm = sem_prmt_selector(u->imm, u->x[0]);
    return SM_H_prmt_imm;
  }
  return SM_H_prmt;
}

/* Width of an integer format as conversions number them: U8 S8 U16 S16 U32 S32
 * U64 S64. */
static unsigned int_width(unsigned code) {
  return 8u << (code >> 1);
}

static unsigned lower_i2i(struct lowering *l, bool pack) {
  struct sm_uop *u = l->u;
  dst(l, 1);
  static const uint8_t bits[] = {8, 8, 16, 16, 2, 2, 4, 4};
  u->x[0] = bits[mod(l, SM_MOD_DST) & 7];
  u->x[1] = mod(l, SM_MOD_DST) & 1;
  if (!pack) {
    src(l, 1, 1);
    return SM_H_i2i_sat;
  }
  src(l, 0, 1);
  src(l, 1, 1);
  static const uint8_t shift[] = {0, 0, 24, 28};
  u->x[2] = shift[l->insn->operand[l->at].select & 3];
  src(l, 2, 1);
  return SM_H_i2ip;
}

/* Float operands' flushing and the result's. */
static void float_mods(struct lowering *l) {
  struct sm_uop *u = l->u;
  u->round = (uint8_t)mod(l, SM_MOD_RND);
  u->ftz = mod(l, SM_MOD_FTZ) || mod(l, SM_MOD_FMZ);
  u->sat = (uint8_t)mod(l, SM_MOD_SAT);
  u->x[0] = mod(l, SM_MOD_FMZ) == SM_FMZ_FMZ;
}

static bool bare(const struct sm_uop *u) {
  return u->round == SEM_RN && !u->ftz && !u->sat && !u->x[0];
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
  u->x[0] = (uint8_t)mod(l, SM_MOD_CMP);
  u->x[2] = (uint8_t)mod(l, SM_MOD_BOP);
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
      l->u->x[0] |= (uint8_t)((o->select & 3u) << (2 * slot));
  }
  src(l, slot, 1);
}

enum { HALF_BF16 = 1, HALF_F32_OUT = 2, HALF_FMZ = 4, HALF_RELU = 8 };

/* Sources, format and flags of half instructions. */
static void half_mods(struct lowering *l, unsigned sources) {
  struct sm_uop *u = l->u;
  for (unsigned k = 0; k < sources; k++)
    half_src(l, k);
  u->ftz = mod(l, SM_MOD_FTZ) || mod(l, SM_MOD_FMZ);
  if (mod(l, SM_MOD_FMZ) == SM_FMZ_FMZ)
    u->x[1] |= HALF_FMZ;
}

static unsigned lower_half(struct lowering *l, unsigned op, unsigned sources) {
  struct sm_uop *u = l->u;
  dst(l, 1);
  half_mods(l, sources);
  u->x[2] = (uint8_t)op;
  const unsigned format = mod(l, SM_MOD_OFMT), sat = mod(l, SM_MOD_SAT);
  switch (l->insn->op) {
  case SM_OP_HADD2:
    u->x[1] |= format == SM_OFMT_F32_F32 ? HALF_F32_OUT : 0;
    break;
  default:
    u->x[1] |= format == SM_OFMT_BF16_V2 ? HALF_BF16 : format == SM_OFMT_F32 ? HALF_F32_OUT : 0;
  }
  if (sources == 3) {
    u->x[1] |= sat == SM_RELU_SAT_RELU ? HALF_RELU : 0;
    u->sat = sat == SM_RELU_SAT_SAT;
  } else {
    u->sat = sat != 0;
  }
  /* -0 * 0 + constant: loads a word. */
  const uint32_t exponent = 0x7c00;
  if (sources == 3 && u->s[0] == 0 && u->s[1] == 0 && u->scalar_slot == 2 &&
      u->scalar_kind == SM_SCALAR_IMM && (u->mods & 3) == SM_SRC_NEG && !u->ftz && !u->sat &&
      !(u->x[1] & ~(unsigned)HALF_BF16) && (u->imm & exponent) != exponent &&
      (u->imm >> 16 & exponent) != exponent)
    return SM_H_mov_scalar;
  return SM_H_hfma2;
}

static unsigned lower_hset(struct lowering *l, unsigned handler) {
  struct sm_uop *u = l->u;
  if (handler == SM_H_hset2) {
    dst(l, 1);
    u->x[4] = (uint8_t)mod(l, SM_MOD_BF);
  } else {
    u->pd = dst_pred(l);
    u->pe = dst_pred(l);
    u->x[4] = (uint8_t)mod(l, SM_MOD_H_AND);
  }
  half_mods(l, 2);
  src_pred(l, 0);
  u->x[2] = (uint8_t)mod(l, SM_MOD_BOP);
  u->x[3] = (uint8_t)mod(l, SM_MOD_CMP);
  return handler;
}

static unsigned lower_mufu(struct lowering *l) {
  struct sm_uop *u = l->u;
  dst(l, 1);
  const unsigned half = l->insn->operand[l->at].select;
  src(l, 1, 1);
  u->x[0] = (uint8_t)mod(l, SM_MOD_FN);
  u->x[1] = half != 0;
  return mod(l, SM_MOD_MUFU_FMT) ? SM_H_mufu_f16 : SM_H_mufu;
}

enum { CONVERT_F16 = 1, CONVERT_F32 = 2, CONVERT_F64 = 3, CONVERT_BF16 = 4 };

/* A conversion's float source. */
static void convert_src(struct lowering *l) {
  struct sm_uop *u = l->u;
  u->x[0] = (uint8_t)mod(l, SM_MOD_SRC);
  u->x[1] = l->insn->operand[l->at].select != 0;
  src(l, 1, u->x[0] == CONVERT_F64 ? 2 : 1);
  u->round = (uint8_t)mod(l, SM_MOD_RND);
  u->ftz = (uint8_t)mod(l, SM_MOD_FTZ);
}

static unsigned lower_f2i(struct lowering *l) {
  struct sm_uop *u = l->u;
  const unsigned to = mod(l, SM_MOD_DST);
  dst(l, int_width(to) == 64 ? 2 : 1);
  convert_src(l);
  u->x[2] = (uint8_t)int_width(to);
  u->x[3] = to & 1;
  u->x[4] = (uint8_t)mod(l, SM_MOD_NTZ);
  return u->x[0] == CONVERT_F32 && u->x[2] == 32 && u->x[3] ? SM_H_f2i_fast : SM_H_f2i;
}

static unsigned lower_i2f(struct lowering *l) {
  struct sm_uop *u = l->u;
  const unsigned from = mod(l, SM_MOD_SRC);
  u->x[0] = (uint8_t)mod(l, SM_MOD_DST);
  dst(l, u->x[0] == CONVERT_F64 ? 2 : 1);
  u->x[1] = l->insn->operand[l->at].select;
  u->x[2] = (uint8_t)int_width(from);
  u->x[3] = from & 1;
  src(l, 1, u->x[2] == 64 ? 2 : 1);
  u->round = (uint8_t)mod(l, SM_MOD_RND);
  return u->x[0] == CONVERT_F32 && u->x[2] == 32 && u->round == SEM_RN ? SM_H_i2f_fast : SM_H_i2f;
}

static unsigned lower_i2fp(struct lowering *l) {
  struct sm_uop *u = l->u;
  dst(l, 1);
  src(l, 1, 1);
  u->x[0] = (uint8_t)mod(l, SM_MOD_DST);
  u->x[2] = 32;
  u->x[3] = mod(l, SM_MOD_SRC) == SM_SIGN32_S32;
  u->round = (uint8_t)mod(l, SM_MOD_RND);
  return u->x[0] == CONVERT_F32 && u->round == SEM_RN ? SM_H_i2f_fast : SM_H_i2f;
}

static unsigned lower_f2fp(struct lowering *l, bool merge) {
  struct sm_uop *u = l->u;
  dst(l, 1);
  if (!merge)
    src(l, 0, 1);
  src(l, 1, 1);
  if (merge)
    src(l, 2, 1);
  u->x[0] = mod(l, SM_MOD_DST) ? CONVERT_BF16 : CONVERT_F16;
  u->x[1] = (uint8_t)mod(l, SM_MOD_RELU);
  u->x[2] = merge;
  u->x[3] = (uint8_t)mod(l, SM_MOD_SATFINITE);
  u->round = (uint8_t)mod(l, SM_MOD_RND);
  return SM_H_f2fp;
}

/* --- memory -------------------------------------------------------------------------- */

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
  u->x[0] = (uint8_t)mod(l, SM_MOD_SZ);
  expect_neutral(l, next_if(l, SM_OPERAND_PRED));
  dst(l, size_words(u->x[0]));
  memory(l);
  expect_neutral(l, next_if(l, SM_OPERAND_PRED));
  return handler;
}

static unsigned lower_store(struct lowering *l, unsigned handler) {
  struct sm_uop *u = l->u;
  u->x[0] = (uint8_t)mod(l, SM_MOD_SZ);
  memory(l);
  u->s[1] = reg_slot(l, next(l), size_words(u->x[0]), false);
  return handler;
}

static unsigned lower_ldc(struct lowering *l, bool uniform) {
  struct sm_uop *u = l->u;
  u->x[0] = (uint8_t)mod(l, SM_MOD_SZ);
  dst(l, size_words(u->x[0]));
  const struct sm_operand *o = next(l);
  if (o->kind != SM_OPERAND_CONST || o->bank >= SM_BANKS || mod(l, SM_MOD_AD)) {
    l->unsupported = true;
    return SM_H_ldc;
  }
  struct sm_operand index = {.kind = SM_OPERAND_REG, .reg = uniform ? SM_RZ : o->index};
  struct sm_operand uindex = {.kind = SM_OPERAND_UREG, .reg = uniform ? o->ureg : SM_URZ};
  u->s[0] = reg_slot(l, &index, 1, false);
  u->imm = reg_slot(l, &uindex, 1, false);
  u->x[1] = o->bank;
  u->off = o->value;
  return SM_H_ldc;
}

/* Atomics' types as ATOM numbers them. */
enum { TYPE_U32, TYPE_S32, TYPE_U64, TYPE_F32, TYPE_F16X2, TYPE_S64, TYPE_F64 };

static void atom_type(struct lowering *l, unsigned type) {
  struct sm_uop *u = l->u;
  const bool wide = type == TYPE_U64 || type == TYPE_S64 || type == TYPE_F64;
  u->x[5] = (uint8_t)type;
  u->x[0] = wide ? SM_SZ_64 : SM_SZ_NONE;
}

static unsigned lower_atom(struct lowering *l, bool has_result, bool shared) {
  struct sm_uop *u = l->u;
  const unsigned type = mod(l, SM_MOD_SZ), op = mod(l, SM_MOD_OP);
  atom_type(l, type);
  const unsigned words = size_words(u->x[0]);
  u->d = SM_SLOT_DISCARD * SM_REG_BYTES;
  if (has_result) {
    if (!shared)
      u->pd = dst_pred(l);
    dst(l, words);
  }
  memory(l);
  u->s[1] = reg_slot(l, next(l), words, false);
  u->x[4] = (uint8_t)op;
  const bool is_float = type == TYPE_F32 || type == TYPE_F16X2 || type == TYPE_F64;
  if (op > SM_ATOM_EXCH || (is_float && op != SM_ATOM_ADD))
    l->unsupported = true;
  return shared ? SM_H_atom_shared : SM_H_atom;
}

static unsigned lower_cas(struct lowering *l, bool shared) {
  struct sm_uop *u = l->u;
  atom_type(l, mod(l, SM_MOD_SZ));
  const unsigned words = size_words(u->x[0]);
  if (!shared)
    u->pd = dst_pred(l);
  dst(l, words);
  memory(l);
  u->s[1] = reg_slot(l, next(l), words, false);
  u->s[2] = reg_slot(l, next(l), words, false);
  u->x[3] = 1;
  u->x[4] = mod(l, SM_MOD_CAS) != SM_CAS_CAS;
  return shared ? SM_H_atom_shared : SM_H_atom;
}

static unsigned lower_ldgsts(struct lowering *l) {
  struct sm_uop *u = l->u;
  const struct sm_operand *to = next(l);
  struct sm_operand reg = {.kind = SM_OPERAND_REG, .reg = to->reg};
  u->x[0] = (uint8_t)mod(l, SM_MOD_SZ);
  memory(l);
  u->s[1] = reg_slot(l, &reg, 1, false);
  u->jump = (int32_t)to->value;
  src_pred(l, 0);
  u->x[3] = (uint8_t)mod(l, SM_MOD_ZFILL);
  return SM_H_ldgsts;
}

/* --- control ------------------------------------------------------------------------- */

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
  u->off = o->absolute ? o->value : (int64_t)(l->next_pc + (uint64_t)o->value);
  if (o->reg != SM_RZ) {
    struct sm_operand reg = {.kind = SM_OPERAND_REG, .reg = o->reg};
    u->s[0] = reg_slot(l, &reg, 2, false);
    return SM_H_brx;
  }
  const uint64_t pc = l->next_pc - SM_INSN_BYTES, page = pc & ~(uint64_t)(SM_PAGE_BYTES - 1);
  const uint64_t at = (uint64_t)u->off - page;
  if (at >= SM_PAGE_BYTES || at % SM_INSN_BYTES)
    return SM_H_bra_far;
  u->jump = (int32_t)(at / SM_INSN_BYTES) - (int32_t)((pc - page) / SM_INSN_BYTES);
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
  if (cond != SM_COND_DIV && cond != SM_COND_CONV)
    return handler;
  u->x[0] = (uint8_t)cond;
  return SM_H_bra_cond;
}

static unsigned barrier(struct lowering *l, unsigned handler) {
  control_pred(l);
  const struct sm_operand *o = next(l);
  if (o->kind != SM_OPERAND_BARRIER || o->value < 0 || o->value >= SM_BARRIERS)
    l->unsupported = true;
  else
    l->u->x[0] = (uint8_t)o->value;
  return handler;
}

static unsigned lower_bmov(struct lowering *l) {
  struct sm_uop *u = l->u;
  const struct sm_operand *to = next(l);
  if (to->kind == SM_OPERAND_BARRIER) {
    u->x[2] = 1;
    u->x[3] = (uint8_t)to->value;
  } else {
    u->d = reg_slot(l, to, 1, true);
  }
  if (l->at < l->insn->operand_count && l->insn->operand[l->at].kind == SM_OPERAND_BARRIER) {
    u->x[0] = 1;
    u->x[1] = (uint8_t)next(l)->value;
  } else {
    src(l, 1, 1);
  }
  u->x[4] = (uint8_t)mod(l, SM_MOD_CLEAR);
  return SM_H_bmov;
}

static unsigned lower_bar(struct lowering *l) {
  struct sm_uop *u = l->u;
  u->x[0] = (uint8_t)mod(l, SM_MOD_BAR);
  u->x[1] = (uint8_t)mod(l, SM_MOD_RED);
  if (l->insn->operand_count == 0)
    return SM_H_bar;
  const struct sm_operand *id = next(l), *count = next(l);
  if (id->kind == SM_OPERAND_REG) {
    u->x[2] = 1;
    u->s[1] = reg_slot(l, id, 1, false);
  } else {
    u->x[3] = (uint8_t)id->value;
  }
  if (count->kind == SM_OPERAND_REG) {
    u->x[4] = 1;
    u->x[5] = u->x[2];
    u->s[1] = reg_slot(l, count, 1, false);
  } else {
    u->jump = (int32_t)count->value;
  }
  src_pred(l, 0);
  if (u->x[0] == SM_BAR_SCAN)
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
  l->u->x[0] = (uint8_t)o->value;
  return pair ? SM_H_s2r64 : SM_H_s2r;
}

static unsigned lower_shfl(struct lowering *l) {
  struct sm_uop *u = l->u;
  u->pd = dst_pred(l);
  dst(l, 1);
  src(l, 0, 1);
  src(l, 1, 1);
  const struct sm_operand *o = &l->insn->operand[l->at];
  u->x[0] = (uint8_t)mod(l, SM_MOD_SHFL);
  u->x[1] = o->kind == SM_OPERAND_IMM;
  if (u->x[1])
    u->off = o->value;
  else
    src(l, 2, 1);
  return SM_H_shfl;
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
  u->x[0] = (uint8_t)next(l)->value;
  u->x[1] = (uint8_t)next(l)->value;
  return sign ? SM_H_plop3_sign : SM_H_plop3;
}

static unsigned lower_simple(struct lowering *l, unsigned handler, unsigned sources) {
  dst(l, 1);
  for (unsigned k = 0; k < sources; k++)
    src(l, k, 1);
  return handler;
}

/* Instructions whose one source is in slot 1. */
static unsigned lower_unary(struct lowering *l, unsigned handler, bool pred) {
  struct sm_uop *u = l->u;
  dst(l, 1);
  if (pred)
    u->pd = dst_pred(l);
  src(l, 1, 1);
  u->x[1] = mod(l, SM_MOD_FMT) != SM_FMT_U32;
  u->x[2] = (uint8_t)mod(l, SM_MOD_SH);
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
  u->x[0] = (uint8_t)(handler == SM_H_p2r ? mod(l, SM_MOD_BYTE) : l->insn->operand[l->at].select);
  u->x[1] = u->uniform ? SM_PRED_UNIFORM : 0;
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
  u->x[1] = (uint8_t)mod(l, SM_MOD_FMT);
  u->x[2] = (uint8_t)mod(l, SM_MOD_ACC);
  return bytes ? SM_H_absdiff4 : SM_H_absdiff;
}

static unsigned lower_dot(struct lowering *l, unsigned handler) {
  struct sm_uop *u = l->u;
  lower_simple(l, handler, 3);
  u->x[0] = (uint8_t)mod(l, SM_MOD_FA);
  u->x[1] = (uint8_t)mod(l, SM_MOD_FB);
  u->x[2] = mod(l, SM_MOD_HILO) == SM_HILO_HI;
  return handler;
}

static unsigned lower_warp(struct lowering *l) {
  struct sm_uop *u = l->u;
  switch (l->insn->op) {
  case SM_OP_VOTE:
  case SM_OP_VOTEU:
    u->uniform = 0; /* the active lanes vote, whatever the guard */
    u->x[1] = l->insn->op == SM_OP_VOTEU;
    dst(l, 1);
    u->pd = dst_pred(l);
    src_pred(l, 0);
    u->x[0] = (uint8_t)mod(l, SM_MOD_VOTE);
    return SM_H_vote;
  case SM_OP_MATCH_ALL:
    u->pd = dst_pred(l); /* fall through */
  case SM_OP_MATCH_ANY:
    u->x[0] = l->insn->op == SM_OP_MATCH_ANY;
    u->x[1] = mod(l, SM_MOD_SZ) != 0;
    dst(l, 1);
    src(l, 0, u->x[1] ? 2 : 1);
    return SM_H_match;
  case SM_OP_REDUX:
    u->x[0] = (uint8_t)mod(l, SM_MOD_REDUX);
    u->x[1] = (uint8_t)mod(l, SM_MOD_SIGNED);
    return lower_simple(l, SM_H_redux, 1);
  default:
    u->pd = dst_pred(l);
    u->x[0] = (uint8_t)mod(l, SM_MOD_OR);
    return lower_simple(l, SM_H_r2ur, 1);
  }
}

static unsigned lower_integer(struct lowering *l) {
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
    u->x[1] = mod(l, SM_MOD_FMT) != SM_FMT_U32;
    return SM_H_imnmx;
  case SM_OP_SHF:
  case SM_OP_USHF:
    return lower_shf(l);
  case SM_OP_SGXT:
  case SM_OP_USGXT:
    u->x[0] = (uint8_t)mod(l, SM_MOD_WRAP);
    u->x[1] = mod(l, SM_MOD_FMT) != SM_FMT_U32;
    return lower_simple(l, SM_H_sgxt, 2);
  case SM_OP_BMSK:
  case SM_OP_UBMSK:
    u->x[0] = (uint8_t)mod(l, SM_MOD_WRAP);
    return lower_simple(l, SM_H_bmsk, 2);
  case SM_OP_PLOP3:
  case SM_OP_UPLOP3:
    return lower_plop3(l, false);
  case SM_OP_PLOP3_SIGN:
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

static unsigned lower_float(struct lowering *l) {
  struct sm_uop *u = l->u;
  switch (l->insn->op) {
  case SM_OP_FADD:
    return lower_float2(l, SM_H_fadd, SM_H_fadd_rr, SM_H_fadd_rs);
  case SM_OP_FMUL:
    l->unsupported |= mod(l, SM_MOD_SCALE) != SM_SCALE_NONE;
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
    u->x[0] = (uint8_t)mod(l, SM_MOD_NAN);
    u->x[1] = (uint8_t)mod(l, SM_MOD_XORSIGN);
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
    u->x[0] = (uint8_t)next(l)->value;
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
    u->x[1] |= mod(l, SM_MOD_OFMT) == SM_OFMT_BF16_V2 ? HALF_BF16
               : mod(l, SM_MOD_OFMT) == SM_OFMT_F32   ? HALF_F32_OUT
                                                      : 0;
    u->x[3] = (uint8_t)mod(l, SM_MOD_NAN);
    u->x[4] = (uint8_t)mod(l, SM_MOD_XORSIGN);
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
    u->x[2] = (uint8_t)mod(l, SM_MOD_DST);
    dst(l, u->x[2] == CONVERT_F64 ? 2 : 1);
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
    u->x[0] = (uint8_t)mod(l, SM_MOD_DST);
    u->x[1] = (uint8_t)mod(l, SM_MOD_RELU);
    u->x[2] = (uint8_t)mod(l, SM_MOD_NTZ);
    u->round = (uint8_t)mod(l, SM_MOD_RND);
    return lower_simple(l, SM_H_f2ip, 3);
  default:
    return SM_HANDLER_COUNT;
  }
}

static unsigned lower_memory(struct lowering *l) {
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
    l->unsupported |= mod(l, SM_MOD_ARRIVE) != SM_ARRIVE_POPC_INC_32;
    dst(l, 1);
    memory(l);
    return SM_H_atom_inc;
  case SM_OP_LDGSTS:
    return lower_ldgsts(l);
  case SM_OP_QSPC:
    u->pd = dst_pred(l);
    dst(l, 1);
    l->unsupported |= u->d != SM_SLOT_DISCARD * SM_REG_BYTES;
    memory(l);
    u->x[3] = (uint8_t)mod(l, SM_MOD_SPACE);
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

static unsigned lower_control(struct lowering *l) {
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
    control_pred(l);
    return SM_H_yield;
  case SM_OP_NANOSLEEP:
    control_pred(l);
    u->x[0] = 1;
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

/* Does the instruction work on uniform registers, for the whole warp? */
static bool is_uniform(const struct sm_insn *insn) {
  return insn->guard_uniform;
}

void sm_lower(struct sm_uop *u, const struct sm_insn *insn, uint64_t pc, uint32_t registers,
              const struct sm_core *core) {
  struct lowering l = {.u = u, .insn = insn, .registers = registers, .next_pc = pc + SM_INSN_BYTES};
  *u = (struct sm_uop){
      .d = SM_SLOT_DISCARD * SM_REG_BYTES,
      .guard = (uint8_t)(insn->guard + (insn->guard_uniform ? SM_PRED_UNIFORM : 0)),
      .guard_xor = insn->guard_not ? ~0u : 0,
      .uniform = is_uniform(insn),
      .scalar_slot = SM_NO_SLOT,
      .pd = SM_PRED_DISCARD,
      .pe = SM_PRED_DISCARD,
      .pp = SM_PRED_TRUE,
      .pq = SM_PRED_TRUE,
      .pr = SM_PRED_TRUE,
  };
  unsigned handler = lower_integer(&l);
  if (handler == SM_HANDLER_COUNT)
    handler = lower_float(&l);
  if (handler == SM_HANDLER_COUNT)
    handler = lower_memory(&l);
  if (handler == SM_HANDLER_COUNT)
    handler = lower_control(&l);
  if (handler == SM_HANDLER_COUNT || l.unsupported)
    handler = SM_H_not_implemented;
  else if (l.out_of_range)
    handler = SM_H_register_range;
  u->handler = core->handler[handler];
}
