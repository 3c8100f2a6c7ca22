/* See isa_encode.h. */
#include "tests/sm/isa_encode.h"

#define PRED_COUNT 8

static void set_piece(uint64_t word[2], unsigned low, unsigned length, uint64_t value) {
  for (unsigned i = 0; i < length; i++) {
    uint64_t bit = 1ull << ((low + i) & 63);
    uint64_t *half = &word[(low + i) >> 6];
    *half = value >> i & 1 ? *half | bit : *half & ~bit;
  }
}

void isa_set_field(uint64_t word[2], struct sm_isa_bits bits, uint64_t value) {
  set_piece(word, bits.piece[0].low, bits.piece[0].length, value >> bits.piece[1].length);
  set_piece(word, bits.piece[1].low, bits.piece[1].length, value);
}

static void set_bit(uint64_t word[2], unsigned bit, bool value) {
  if (bit)
    set_piece(word, bit, 1, value);
}

static void encode_operand(const struct sm_isa_operand *d, const struct sm_operand *o,
                           uint64_t word[2]) {
  int64_t value = d->unit ? o->value / d->unit : o->value;
  set_bit(word, d->neg_bit, o->neg);
  set_bit(word, d->abs_bit, o->abs);
  set_bit(word, d->inv_bit, o->inv);
  set_bit(word, d->not_bit, o->not_);
  set_bit(word, d->absolute_if_bit, o->absolute);
  set_bit(word, d->desc_bit, o->described);
  set_bit(word, d->policy_bit, o->policy);
  set_bit(word, d->wide_bit ? d->wide_bit : d->e_bit, o->base64);
  isa_set_field(word, d->select, o->select);
  isa_set_field(word, d->value, (uint64_t)value);
  isa_set_field(word, d->bank, o->bank);
  isa_set_field(word, d->index, o->index);
  isa_set_field(word, d->uindex, o->ureg);
  if (!d->next) /* otherwise another operand has it */
    isa_set_field(word, d->ureg, o->described ? o->desc : o->ureg);
  isa_set_field(word, d->scale, o->scale == 1 ? 0 : o->scale == 4 ? 1 : o->scale == 8 ? 2 : 3);
  switch (d->kind) {
  case SM_ISA_REG:
  case SM_ISA_UREG:
  case SM_ISA_BINDLESS:
  case SM_ISA_MEM:
  case SM_ISA_TARGET:
    isa_set_field(word, d->bits, o->reg);
    break;
  case SM_ISA_PRED:
  case SM_ISA_UPRED:
    isa_set_field(word, d->bits, d->inverted ? PRED_COUNT - 1u - o->reg : o->reg);
    break;
  case SM_ISA_CONST:
  case SM_ISA_PR:
  case SM_ISA_UPR:
    break;
  default:
    isa_set_field(word, d->bits, (uint64_t)value);
  }
}

void isa_encode(const struct sm_insn *insn, uint64_t word[2]) {
  const struct sm_isa_row *row = &sm_isa_rows[insn->row];
  word[0] = word[1] = 0;
  for (unsigned i = 0; i < row->selector_count; i++) {
    const struct sm_isa_selector *s = &sm_isa_selectors[row->first_selector + i];
    isa_set_field(word, s->bits, (unsigned)__builtin_ctz(s->set));
  }
  for (unsigned i = 0; i < row->operand_count; i++)
    encode_operand(&sm_isa_operands[sm_isa_operand_refs[row->first_operand + i]], &insn->operand[i],
                   word);
  for (unsigned i = 0; i < row->mod_count; i++) {
    const struct sm_isa_mod *m = &sm_isa_mods[row->first_mod + i];
    isa_set_field(word, m->bits, insn->mod[m->mod]);
  }
  set_piece(word, 0, 12, row->opcode);
  set_piece(word, 91, 1, row->opcode >> 12);
  set_piece(word, 12, 3, insn->guard);
  set_piece(word, 15, 1, insn->guard_not);
  set_piece(word, 105, 4, insn->stall);
  set_piece(word, 109, 1, insn->yield);
  set_piece(word, 110, 3, insn->write_sb);
  set_piece(word, 113, 3, insn->read_sb);
  set_piece(word, 116, 6, insn->wait_mask);
  set_piece(word, 122, 3, insn->reuse);
}
