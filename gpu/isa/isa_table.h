/* The rows that isagen.py generates from sm87.isa, for the decoder, the disassembler and the tests'
 * encoder. sm87.isa explains the fields. */
#ifndef TEGRACL_SM_ISA_TABLE_H
#define TEGRACL_SM_ISA_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "gpu/isa/isa_gen.h"

/* Up to two pieces of the word; the first has the value's high bits. A piece of length 0 is
 * absent. */
struct sm_isa_bits {
  struct {
    uint8_t low, length;
  } piece[2];
};

enum sm_isa_kind {
  SM_ISA_NONE,
  SM_ISA_REG,
  SM_ISA_UREG,
  SM_ISA_PRED,
  SM_ISA_UPRED,
  SM_ISA_IMM,
  SM_ISA_CONST,
  SM_ISA_BINDLESS,
  SM_ISA_MEM,
  SM_ISA_TARGET,
  SM_ISA_BARRIER,
  SM_ISA_SPECIAL,
  SM_ISA_SCOREBOARD,
  SM_ISA_PR,
  SM_ISA_UPR,
  SM_ISA_ENUM,
  SM_ISA_SBSET,
  SM_ISA_SWIZZLE,
};

enum sm_isa_style {
  SM_STYLE_PLAIN,
  SM_STYLE_SIGNED,
  SM_STYLE_F32,
  SM_STYLE_F64,  /* the high word of a double */
  SM_STYLE_F16,  /* two halves */
  SM_STYLE_HALF, /* one half, in the low bits */
  SM_STYLE_ROW,  /* IMMA's matrix operands */
  SM_STYLE_COL,
};

struct sm_isa_operand {
  uint8_t kind, style;
  struct sm_isa_bits bits, value, bank, index, uindex, ureg, scale, select;
  /* Positions of single bits in the word; 0, which is a bit of the opcode, means that the bit is
   * absent. */
  uint8_t neg_bit, abs_bit, not_bit, inv_bit, e_bit, desc_bit, policy_bit, wide_bit;
  uint8_t absolute_if_bit;
  bool dst, optional, inverted, absolute, offset, is_signed;
  bool next;                     /* MEM: uses the UR after the field's, which is another operand */
  uint8_t reuse;                 /* operand-cache slot + 1, or 0 if none */
  uint8_t unit;                  /* the value is the field times unit; 0 means 1 */
  uint8_t neutral;               /* default value of an optional operand, which is not printed */
  uint8_t values, select_values; /* index + 1 into sm_isa_values */
};

struct sm_isa_values {
  const char *const *text; /* NULL: reserved */
  uint16_t count;
};

struct sm_isa_mod {
  uint8_t mod; /* enum sm_mod */
  uint8_t values;
  struct sm_isa_bits bits;
};

struct sm_isa_selector {
  uint32_t set; /* bitmap of the values that select the row */
  struct sm_isa_bits bits;
};

struct sm_isa_row {
  uint16_t opcode, op;
  uint16_t first_operand, first_mod, first_selector;
  uint8_t operand_count, mod_count, selector_count;
  bool guard_uniform;
  uint64_t known[2]; /* bits that belong to fields */
  const char *text;  /* name, with \1 in place of each modifier */
};

extern const struct sm_isa_values sm_isa_values[];
extern const struct sm_isa_operand sm_isa_operands[];
extern const uint16_t sm_isa_operand_refs[];
extern const struct sm_isa_mod sm_isa_mods[];
extern const struct sm_isa_selector sm_isa_selectors[];
extern const struct sm_isa_row sm_isa_rows[SM_ISA_ROWS];
/* The rows of an opcode are sm_isa_first[opcode] to sm_isa_first[opcode + 1] - 1. */
extern const uint16_t sm_isa_first[8193];

static inline uint64_t sm_isa_piece(const uint64_t word[2], unsigned low, unsigned length) {
  uint64_t value = word[low >> 6] >> (low & 63);
  if ((low & 63) + length > 64)
    value |= word[1] << (64 - (low & 63));
  return length == 64 ? value : value & ((1ull << length) - 1);
}

static inline uint64_t sm_isa_field(const uint64_t word[2], struct sm_isa_bits bits) {
  uint64_t value = sm_isa_piece(word, bits.piece[0].low, bits.piece[0].length);
  if (bits.piece[1].length)
    value =
        value << bits.piece[1].length | sm_isa_piece(word, bits.piece[1].low, bits.piece[1].length);
  return value;
}

static inline bool sm_isa_bit(const uint64_t word[2], unsigned bit) {
  return bit && (word[bit >> 6] >> (bit & 63) & 1);
}

static inline unsigned sm_isa_width(struct sm_isa_bits bits) {
  return bits.piece[0].length + bits.piece[1].length;
}

#endif
