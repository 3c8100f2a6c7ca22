/* Decodes instructions. The opcode of a word selects a few rows of the table, and selectors choose
 * one of them. The fields of that row fill in the instruction. */
#include "gpu/isa/insn.h"

#include <string.h>

#include "gpu/isa/isa_table.h"

#define RZ          255
#define URZ         63
#define OPCODE_MASK 0xfffu

/* Scheduling fields: docs/hardware/sass.md section 1. */
static const struct sm_isa_bits stall_bits = {{{105, 4}}}, yield_bits = {{{109, 1}}},
                                write_sb_bits = {{{110, 3}}}, read_sb_bits = {{{113, 3}}},
                                wait_bits = {{{116, 6}}}, reuse_bits = {{{122, 3}}},
                                guard_bits = {{{12, 3}}};
#define GUARD_NOT_BIT   15
#define OPCODE_HIGH_BIT 91

static int64_t sign_extend(uint64_t value, unsigned width) {
  return (int64_t)(value << (64 - width)) >> (64 - width);
}

/* Returns whether the table defines the value; otherwise it is reserved. */
static bool is_listed(unsigned values, uint64_t value) {
  const struct sm_isa_values *v = &sm_isa_values[values];
  return value < v->count && v->text[value];
}

static bool is_selected(const struct sm_isa_row *row, const uint64_t word[2]) {
  for (unsigned i = 0; i < row->selector_count; i++) {
    const struct sm_isa_selector *s = &sm_isa_selectors[row->first_selector + i];
    uint64_t value = sm_isa_field(word, s->bits);
    if (value > 31 || !(s->set >> value & 1))
      return false;
  }
  return true;
}

static uint8_t operand_kind(uint8_t kind) {
  static const uint8_t kinds[] = {
      [SM_ISA_REG] = SM_OPERAND_REG,
      [SM_ISA_UREG] = SM_OPERAND_UREG,
      [SM_ISA_PRED] = SM_OPERAND_PRED,
      [SM_ISA_UPRED] = SM_OPERAND_UPRED,
      [SM_ISA_IMM] = SM_OPERAND_IMM,
      [SM_ISA_CONST] = SM_OPERAND_CONST,
      [SM_ISA_BINDLESS] = SM_OPERAND_CONST_BINDLESS,
      [SM_ISA_MEM] = SM_OPERAND_MEM,
      [SM_ISA_TARGET] = SM_OPERAND_TARGET,
      [SM_ISA_BARRIER] = SM_OPERAND_BARRIER,
      [SM_ISA_SPECIAL] = SM_OPERAND_SPECIAL,
      [SM_ISA_SCOREBOARD] = SM_OPERAND_SCOREBOARD,
      [SM_ISA_PR] = SM_OPERAND_PR,
      [SM_ISA_UPR] = SM_OPERAND_UPR,
      [SM_ISA_ENUM] = SM_OPERAND_IMM,
      [SM_ISA_SBSET] = SM_OPERAND_SCOREBOARD_SET,
      [SM_ISA_SWIZZLE] = SM_OPERAND_SWIZZLE,
  };
  return kinds[kind];
}

static void decode_value(const struct sm_isa_operand *d, struct sm_isa_bits bits,
                         const uint64_t word[2], struct sm_operand *o) {
  uint64_t raw = sm_isa_field(word, bits);
  int64_t value = d->is_signed ? sign_extend(raw, sm_isa_width(bits)) : (int64_t)raw;
  o->value = d->unit ? value * d->unit : value;
}

/* Returns false if the access has a descriptor but no 64-bit register address. */
static bool decode_mem(const struct sm_isa_operand *d, const uint64_t word[2],
                       struct sm_operand *o) {
  static const uint8_t scales[] = {1, 4, 8, 16};
  o->reg = (uint8_t)sm_isa_field(word, d->bits);
  o->scale = scales[d->scale.piece[0].length ? sm_isa_field(word, d->scale) : 0];
  o->base64 = sm_isa_bit(word, d->wide_bit ? d->wide_bit : d->e_bit);
  if (d->ureg.piece[0].length) {
    uint8_t ureg = (uint8_t)sm_isa_field(word, d->ureg);
    if (d->next && ureg != URZ)
      ureg++;
    o->described = sm_isa_bit(word, d->desc_bit);
    if (o->described)
      o->desc = ureg;
    else if (!d->next)
      o->ureg = ureg;
  }
  o->policy = sm_isa_bit(word, d->policy_bit);
  return !o->described || o->base64;
}

static bool decode_operand(const struct sm_isa_operand *d, const uint64_t word[2],
                           struct sm_operand *o) {
  *o = (struct sm_operand){.kind = operand_kind(d->kind), .ureg = URZ, .desc = URZ, .scale = 1};
  o->index = RZ;
  o->dst = d->dst;
  o->neg = sm_isa_bit(word, d->neg_bit);
  o->abs = sm_isa_bit(word, d->abs_bit);
  o->inv = sm_isa_bit(word, d->inv_bit);
  o->not_ = sm_isa_bit(word, d->not_bit);
  if (d->select_values) {
    o->select = (uint8_t)sm_isa_field(word, d->select);
    if (!is_listed(d->select_values - 1u, o->select))
      return false;
  }
  if (d->value.piece[0].length)
    decode_value(d, d->value, word, o);
  switch (d->kind) {
  case SM_ISA_REG:
  case SM_ISA_UREG:
  case SM_ISA_BINDLESS:
    o->reg = (uint8_t)sm_isa_field(word, d->bits);
    return true;
  case SM_ISA_PRED:
  case SM_ISA_UPRED:
    o->reg = (uint8_t)sm_isa_field(word, d->bits);
    if (d->inverted)
      o->reg = (uint8_t)(7 - o->reg);
    return true;
  case SM_ISA_CONST:
    o->bank = (uint8_t)sm_isa_field(word, d->bank);
    if (d->index.piece[0].length)
      o->index = (uint8_t)sm_isa_field(word, d->index);
    if (d->uindex.piece[0].length)
      o->ureg = (uint8_t)sm_isa_field(word, d->uindex);
    return true;
  case SM_ISA_MEM:
    return decode_mem(d, word, o);
  case SM_ISA_TARGET:
    o->reg = d->bits.piece[0].length ? (uint8_t)sm_isa_field(word, d->bits) : RZ;
    if (d->ureg.piece[0].length)
      o->ureg = (uint8_t)sm_isa_field(word, d->ureg);
    o->absolute = d->absolute || sm_isa_bit(word, d->absolute_if_bit);
    return true;
  case SM_ISA_PR:
  case SM_ISA_UPR:
    return true;
  default:
    decode_value(d, d->bits, word, o);
    return !d->values || d->kind == SM_ISA_SPECIAL || is_listed(d->values - 1u, (uint64_t)o->value);
  }
}

static bool decode_row(const struct sm_isa_row *row, struct sm_insn *insn) {
  const uint64_t *word = insn->word;
  insn->op = row->op;
  insn->row = (uint16_t)(row - sm_isa_rows);
  insn->opcode = row->opcode;
  insn->guard = (uint8_t)sm_isa_field(word, guard_bits);
  insn->guard_not = sm_isa_bit(word, GUARD_NOT_BIT);
  insn->guard_uniform = row->guard_uniform;
  insn->operand_count = row->operand_count;
  for (unsigned i = 0; i < row->operand_count; i++) {
    const struct sm_isa_operand *d = &sm_isa_operands[sm_isa_operand_refs[row->first_operand + i]];
    if (!decode_operand(d, word, &insn->operand[i]))
      return false;
  }
  for (unsigned i = 0; i < row->mod_count; i++) {
    const struct sm_isa_mod *m = &sm_isa_mods[row->first_mod + i];
    uint64_t value = sm_isa_field(word, m->bits);
    if (!is_listed(m->values, value))
      return false;
    insn->mod[m->mod] = (uint8_t)value;
  }
  insn->stall = (uint8_t)sm_isa_field(word, stall_bits);
  insn->yield = (uint8_t)sm_isa_field(word, yield_bits);
  insn->write_sb = (uint8_t)sm_isa_field(word, write_sb_bits);
  insn->read_sb = (uint8_t)sm_isa_field(word, read_sb_bits);
  insn->wait_mask = (uint8_t)sm_isa_field(word, wait_bits);
  insn->reuse = (uint8_t)sm_isa_field(word, reuse_bits);
  return true;
}

bool sm_decode(const uint64_t word[2], struct sm_insn *insn) {
  unsigned opcode = (unsigned)(word[0] & OPCODE_MASK) | (unsigned)sm_isa_bit(word, OPCODE_HIGH_BIT)
                                                            << 12;
  uint64_t stray[2] = {0};
  memset(insn, 0, sizeof(*insn));
  memcpy(insn->word, word, sizeof(insn->word));
  for (unsigned i = sm_isa_first[opcode]; i < sm_isa_first[opcode + 1]; i++) {
    const struct sm_isa_row *row = &sm_isa_rows[i];
    if (!is_selected(row, word))
      continue;
    stray[0] = word[0] & ~row->known[0];
    stray[1] = word[1] & ~row->known[1];
    if (!(stray[0] | stray[1]) && decode_row(row, insn))
      return true;
    break;
  }
  memset(insn, 0, sizeof(*insn));
  memcpy(insn->word, word, sizeof(insn->word));
  memcpy(insn->stray, stray, sizeof(insn->stray));
  return false;
}
