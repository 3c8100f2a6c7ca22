/* An encoder for tests, which uses the same table as the decoder. */
#ifndef TEGRACL_TESTS_SM_ISA_ENCODE_H
#define TEGRACL_TESTS_SM_ISA_ENCODE_H

#include "gpu/isa/insn.h"
#include "gpu/isa/isa_table.h"

/* Sets a field of the word. value must fit. */
void isa_set_field(uint64_t word[2], struct sm_isa_bits bits, uint64_t value);

/* Encodes insn as row insn->row of the table: opcode, guard, operands, modifiers and scheduling.
 * Unused bits are 0. */
void isa_encode(const struct sm_insn *insn, uint64_t word[2]);

#endif
