/* Growing arrays of words, in which new modules are made. */
#ifndef TEGRACL_SPIRV_WORDS_H
#define TEGRACL_SPIRV_WORDS_H

#include "compiler/spirv/spirv.h"

struct words {
  uint32_t *data; /* freed by the owner */
  size_t count, room;
  bool failed; /* out of memory, or more than REWORD_WORDS_MAX words */
};

void words_add(struct words *out, const uint32_t *words, size_t count);

/* Adds an instruction with the operands. */
void words_emit(struct words *out, enum spirv_opcode opcode, const uint32_t *operands,
                size_t count);

#define EMIT(out, opcode, ...)                                                                     \
  words_emit(out, opcode, (const uint32_t[]){__VA_ARGS__},                                         \
             sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))

/* Whether the first operand of the opcode's instructions is a type and the second is a result. */
bool spirv_has_type(enum spirv_opcode opcode);

#endif
