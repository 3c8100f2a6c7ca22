/* A decoded SM 8.7 instruction, which the disassembler prints and the interpreter lowers. Names of
 * operations and modifiers are generated from sm87.isa. */
#ifndef TEGRACL_SM_INSN_H
#define TEGRACL_SM_INSN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Generated from sm87.isa, which is the list of all names: a line
 *   insn IADD3_X IADD3.X ...             gives SM_OP_IADD3_X in enum sm_op,
 *   ... ISETP{cmp@78:76=icmp}{bop@75:74} gives SM_MOD_CMP and SM_MOD_BOP in
 *                                        enum sm_mod (index of sm_insn.mod),
 *   values icmp F LT EQ ...              gives SM_ICMP_F = 0, SM_ICMP_LT = 1, ...
 *                                        (- is _NONE; dots become _)
 * Where no =name follows, the values have the modifier's name ({bop@75:74}:
 * SM_BOP_AND). Operands are in the order of the insn's row, including
 * those marked ?, which the text may leave out. */
#include "gpu/isa/isa_gen.h"

enum sm_operand_kind {
  SM_OPERAND_NONE,
  SM_OPERAND_REG,            /* R0..R254, 255 = RZ */
  SM_OPERAND_UREG,           /* UR0..UR62, 63 = URZ */
  SM_OPERAND_PRED,           /* P0..P6, 7 = PT */
  SM_OPERAND_UPRED,          /* UP0..UP6, 7 = UPT */
  SM_OPERAND_IMM,            /* value: raw 32-bit word or a small field */
  SM_OPERAND_CONST,          /* c[bank][value]; index, ureg: added register (RZ, URZ: none) */
  SM_OPERAND_CONST_BINDLESS, /* cx[UR reg][value] */
  SM_OPERAND_MEM,            /* [reg * scale + ureg + value] */
  SM_OPERAND_TARGET,         /* value: signed byte offset from the next instruction, or
                              * an address if absolute; reg or ureg (a pair) is added */
  SM_OPERAND_BARRIER,        /* convergence barrier B0..B15 or a BMOV special (value) */
  SM_OPERAND_SPECIAL,        /* special register number */
  SM_OPERAND_SCOREBOARD,
  SM_OPERAND_PR, /* all predicate registers (P2R, R2P) */
  SM_OPERAND_UPR,
  SM_OPERAND_SCOREBOARD_SET, /* value: mask */
  SM_OPERAND_SWIZZLE,        /* FSWZADD; value: 2 bits per lane of a quad */
};

struct sm_operand {
  uint8_t kind;   /* enum sm_operand_kind */
  uint8_t reg;    /* register or predicate; for MEM the base register */
  uint8_t ureg;   /* MEM, TARGET: UR added to the address; 63: none */
  uint8_t desc;   /* MEM: UR pair with the descriptor, which is not added; 63: none */
  uint8_t bank;   /* CONST */
  uint8_t index;  /* CONST: index register; 255: none */
  uint8_t scale;  /* MEM: 1, 4, 8 or 16 */
  uint8_t select; /* half or byte of the register: SM_HALF_*, SM_H1_*, SM_BYTE_* */
  bool dst;       /* written */
  bool neg, abs, inv, not_;
  bool absolute;  /* TARGET */
  bool described; /* MEM: desc is used */
  bool policy;    /* MEM: the UR pair is an L2 cache policy, even if it is added */
  bool base64;    /* MEM: reg is a 64-bit pair (global and generic memory) */
  int64_t value;  /* IMM of a float operand, in this format: a float, the high word of a double, or
                     two halves */
};

#define SM_MAX_OPERANDS SM_ISA_OPERANDS_MAX

struct sm_insn {
  uint16_t op;  /* enum sm_op: mnemonic and variant, for any form of operands (register, immediate,
                   constant, uniform) */
  uint16_t row; /* index of the row in the table */
  uint16_t opcode; /* 13 bits: bit 91 << 12 | bits 11:0 */
  uint8_t operand_count;
  uint8_t guard; /* predicate number, 7 = PT */
  bool guard_not;
  bool guard_uniform;                         /* the guard is a uniform predicate */
  struct sm_operand operand[SM_MAX_OPERANDS]; /* in print order */
  uint8_t mod[SM_MOD_COUNT];                  /* values of the row's modifiers; 0 for others */
  uint8_t stall, yield, write_sb, read_sb, wait_mask, reuse;
  uint64_t word[2];
  uint64_t stray[2]; /* after a failure: bits without meaning */
};

extern const char *const sm_op_names[SM_OP_COUNT]; /* "IADD3_X" */

/* Decodes a 16-byte instruction. Returns false if no row matches, an operand or modifier has a
 * reserved value, or a bit is set that has no meaning in this instruction. *insn then contains only
 * the words and, in the last case, those bits. */
bool sm_decode(const uint64_t word[2], struct sm_insn *insn);

/* Prints the instruction like nvdisasm, without the final " ;". pc is its byte offset in the
 * section and is used for branch targets. text is terminated unless size is 0. Returns the length
 * of the complete text. */
size_t sm_disassemble(const struct sm_insn *insn, uint64_t pc, char *text, size_t size);

#endif
