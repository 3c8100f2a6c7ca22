/* Corrects harmless rule violations, so that spirv-val can check the rest. The translators of LLVM
 * 15 and older write
 * - variables of a function that are not at its beginning,
 * - entry points that do not list the module's variables, which SPIR-V 1.4 requires,
 * - addresses of variables in constants, where the specification only allows them as initial
 * values,
 * - saturation of conversions to the same type, which are then omitted.
 * Clock reads become undefined values, because spirv-val applies graphics rules to modules with
 * them. Conversions of bfloat16, which spirv-val does not support, become integer conversions. */
#include <stdlib.h>
#include <string.h>

#include "compiler/spirv/spirv.h"

struct mend {
  const uint32_t *words;
  size_t count;
  uint32_t *type_of;   /* types of the module's variables, by id; 0 for other ids */
  uint32_t *variables; /* their ids */
  size_t variable_count;
  bool *converted; /* by id: whether a conversion produces it */
  uint32_t bound;
  uint32_t *out;
  size_t size;
};

/* Lengths of instructions in words (for a variable, the minimum) and indices of operands. */
enum {
  VARIABLE_WORDS = 4,
  NULL_WORDS = 3,
  UNDEF_WORDS = 3,
  LABEL_WORDS = 2,
  ENTRY_NAME = 3,
  CONSTITUENTS = 3
};

/* From this minor version on, entry points list all variables. */
enum { INTERFACES_MINOR = 4 };

static void put(struct mend *mend, const uint32_t *words, size_t count) {
  memcpy(mend->out + mend->size, words, count * sizeof *words);
  mend->size += count;
}

static bool is_clock(const uint32_t *word) {
  const struct spirv_instruction instruction = spirv_instruction_at(word);
  return instruction.opcode == OP_READ_CLOCK && instruction.length > 2;
}

static bool is_hidden_capability(const uint32_t *word) {
  const struct spirv_instruction instruction = spirv_instruction_at(word);
  return instruction.opcode == OP_CAPABILITY && instruction.length > 1 &&
         (word[1] == CAPABILITY_SHADER_CLOCK || word[1] == CAPABILITY_BFLOAT16_CONVERSION);
}

/* Returns the opcode that replaces this one for spirv-val, or 0 if it is kept. */
static uint32_t stand_in(enum spirv_opcode opcode) {
  return opcode == OP_CONVERT_F_TO_BF16   ? OP_CONVERT_F_TO_U
         : opcode == OP_CONVERT_BF16_TO_F ? OP_CONVERT_U_TO_F
                                          : 0;
}

/* Whether the opcode is a conversion, which may also be part of a constant. */
static bool is_conversion(enum spirv_opcode opcode) {
  return (opcode >= OP_CONVERT_F_TO_U && opcode <= OP_SAT_CONVERT_U_TO_S) ||
         opcode == OP_SPEC_CONSTANT_OP;
}

static void find_conversions(struct mend *mend) {
  for (size_t at = SPIRV_HEADER_WORDS, length; at < mend->count; at += length) {
    const uint32_t *word = mend->words + at;
    const struct spirv_instruction instruction = spirv_instruction_at(word);
    length = instruction.length;
    if (is_conversion(instruction.opcode) && length > 2 && word[2] < mend->bound)
      mend->converted[word[2]] = true;
  }
}

/* Returns whether the instruction is a SaturatedConversion decoration of something other than a
 * conversion, which spirv-val refuses. */
static bool saturates_nothing(const struct mend *mend, const uint32_t *word, uint32_t old_bound) {
  const struct spirv_instruction instruction = spirv_instruction_at(word);
  return instruction.opcode == OP_DECORATE && instruction.length > 2 &&
         word[2] == DECORATION_SATURATED_CONVERSION && word[1] < old_bound &&
         !mend->converted[word[1]];
}

/* Lists the variables outside of functions. Returns the number of entry points. */
static size_t find_variables(struct mend *mend) {
  size_t entries = 0;
  for (size_t at = SPIRV_HEADER_WORDS, length; at < mend->count; at += length) {
    const uint32_t *word = mend->words + at;
    const struct spirv_instruction instruction = spirv_instruction_at(word);
    length = instruction.length;
    if (instruction.opcode == OP_FUNCTION)
      break;
    entries += instruction.opcode == OP_ENTRY_POINT;
    if (instruction.opcode == OP_VARIABLE && length >= VARIABLE_WORDS && word[2] < mend->bound) {
      mend->type_of[word[2]] = word[1];
      mend->variables[mend->variable_count++] = word[2];
    }
  }
  return entries;
}

/* Returns the end of the name, whose last word contains a zero byte. */
static size_t name_end(const uint32_t *word, size_t length) {
  size_t at = ENTRY_NAME;
  while (at < length && memchr(word + at, 0, sizeof *word) == NULL)
    at++;
  return at < length ? at + 1 : length;
}

static void put_entry(struct mend *mend, const uint32_t *word, size_t length) {
  const size_t start = mend->size, named = name_end(word, length);
  if (named + mend->variable_count > SPIRV_LENGTH_MAX) {
    put(mend, word, length);
    return;
  }
  put(mend, word, named);
  put(mend, mend->variables, mend->variable_count);
  mend->out[start] = (uint32_t)(mend->size - start) << SPIRV_LENGTH_SHIFT | OP_ENTRY_POINT;
}

/* Writes the constant with null in place of each variable's address. */
static void put_composite(struct mend *mend, const uint32_t *word, size_t length,
                          uint32_t old_bound) {
  const uint32_t first = mend->bound;
  for (size_t i = CONSTITUENTS; i < length; i++)
    if (word[i] < old_bound && mend->type_of[word[i]]) {
      const uint32_t null[NULL_WORDS] = {NULL_WORDS << SPIRV_LENGTH_SHIFT | OP_CONSTANT_NULL,
                                         mend->type_of[word[i]], mend->bound++};
      put(mend, null, NULL_WORDS);
    }
  const size_t start = mend->size;
  uint32_t next = first;
  put(mend, word, length);
  for (size_t i = CONSTITUENTS; i < length; i++)
    if (word[i] < old_bound && mend->type_of[word[i]])
      mend->out[start + i] = next++;
}

/* Copies either the variables of a function or all its other instructions, starting after
 * the first label. Returns the place of the function's end. */
static size_t put_body(struct mend *mend, size_t at, bool variables) {
  for (size_t length; at < mend->count; at += length) {
    const struct spirv_instruction instruction = spirv_instruction_at(mend->words + at);
    length = instruction.length;
    if (instruction.opcode == OP_FUNCTION_END)
      break;
    const uint32_t *word = mend->words + at;
    if ((instruction.opcode == OP_VARIABLE) != variables)
      continue;
    const uint32_t other = stand_in(instruction.opcode);
    if (is_clock(word))
      put(mend, (const uint32_t[]){UNDEF_WORDS << SPIRV_LENGTH_SHIFT | OP_UNDEF, word[1], word[2]},
          UNDEF_WORDS);
    else
      put(mend, word, length);
    if (other)
      mend->out[mend->size - length] = (uint32_t)length << SPIRV_LENGTH_SHIFT | other;
  }
  return at;
}

static void mend_all(struct mend *mend, uint32_t old_bound) {
  bool in_function = false;
  for (size_t at = SPIRV_HEADER_WORDS, length; at < mend->count; at += length) {
    const uint32_t *word = mend->words + at;
    const struct spirv_instruction instruction = spirv_instruction_at(word);
    length = instruction.length;
    in_function |= instruction.opcode == OP_FUNCTION;
    if (instruction.opcode == OP_ENTRY_POINT && !in_function &&
        spirv_minor(mend->words) >= INTERFACES_MINOR) {
      put_entry(mend, word, length);
    } else if (instruction.opcode == OP_CONSTANT_COMPOSITE && !in_function) {
      put_composite(mend, word, length, old_bound);
    } else if (in_function && instruction.opcode == OP_LABEL && length == LABEL_WORDS) {
      put(mend, word, length);
      put_body(mend, at + length, true);
      length = put_body(mend, at + length, false) - at;
    } else if (!saturates_nothing(mend, word, old_bound) && !is_hidden_capability(word)) {
      put(mend, word, length);
    }
  }
}

uint32_t *spirv_mend(const uint32_t *words, size_t *count) {
  const uint32_t bound = words[SPIRV_BOUND_WORD];
  struct mend mend = {.words = words, .count = *count, .bound = bound};
  mend.type_of = calloc(bound, sizeof *mend.type_of);
  mend.variables = calloc(*count, sizeof *mend.variables);
  mend.converted = calloc(bound, sizeof *mend.converted);
  if (mend.type_of && mend.variables && mend.converted) {
    find_conversions(&mend);
    const size_t entries = find_variables(&mend);
    /* each word may become a null constant, and each entry point may list all variables */
    const size_t room = *count * (1 + NULL_WORDS) + entries * mend.variable_count;
    mend.out = calloc(room, sizeof *mend.out);
  }
  if (mend.out) {
    put(&mend, words, SPIRV_HEADER_WORDS);
    mend_all(&mend, bound);
    mend.out[SPIRV_BOUND_WORD] = mend.bound;
    *count = mend.size;
  }
  free(mend.type_of);
  free(mend.variables);
  free(mend.converted);
  return mend.out;
}
