/* Replaces or removes instructions that spirv-val or llvm-spirv 15 do not support: execution modes
 * whose operands are ids of constants, split barriers, non-semantic instructions, and fast-math
 * defaults, whose permissions are not used here. Modules have not been validated. */
#include <stdlib.h>
#include <string.h>

#include "compiler/spirv/spirv.h"

struct plain {
  const uint32_t *words;
  uint32_t bound;
  const char *prefix; /* prefix of the names of instruction sets to be removed */
  bool *is_nothing;   /* by id: a removed set, or the result of one of its instructions */
};

static bool is_marked(const struct plain *plain, uint32_t id) {
  return id < plain->bound && plain->is_nothing[id];
}

/* Whether the literal string at words begins with the size bytes of text. */
static bool begins_with(const uint32_t *words, size_t count, const char *text, size_t size) {
  return count * sizeof *words >= size && !memcmp(words, text, size);
}

static bool is_empty_instruction(const struct plain *plain, const uint32_t *word) {
  const struct spirv_instruction instruction = spirv_instruction_at(word);
  return (instruction.opcode == OP_EXT_INST || instruction.opcode == OP_EXT_INST_FORWARD) &&
         instruction.length > 3 && is_marked(plain, word[3]);
}

/* Marks removed sets and the results of their instructions. A module declares sets first. */
static void find_empty(struct plain *plain, size_t count) {
  for (size_t at = SPIRV_HEADER_WORDS, length; at < count; at += length) {
    const uint32_t *word = plain->words + at;
    const struct spirv_instruction instruction = spirv_instruction_at(word);
    length = instruction.length;
    if (instruction.opcode == OP_EXT_INST_IMPORT && length > 2 && word[1] < plain->bound &&
        begins_with(word + 2, length - 2, plain->prefix, strlen(plain->prefix)))
      plain->is_nothing[word[1]] = true;
    else if (is_empty_instruction(plain, word) && word[2] < plain->bound)
      plain->is_nothing[word[2]] = true;
  }
}

static bool is_known_here(const uint32_t *word, size_t length) {
  static const char *const extensions[] = {
      "SPV_INTEL_split_barrier",
      "SPV_KHR_float_controls2",
      "SPV_KHR_non_semantic_info",
      "SPV_KHR_relaxed_extended_instruction",
  };
  for (size_t i = 0; i < sizeof extensions / sizeof extensions[0]; i++)
    if (begins_with(word + 1, length - 1, extensions[i], strlen(extensions[i]) + 1))
      return true;
  return false;
}

/* Whether the instruction belongs to a removed set, or names or decorates one of its results. */
static bool is_of_set(const struct plain *plain, const uint32_t *word) {
  const struct spirv_instruction instruction = spirv_instruction_at(word);
  switch (instruction.opcode) {
  case OP_EXT_INST_IMPORT:
  case OP_NAME:
  case OP_DECORATE:
    return instruction.length > 1 && is_marked(plain, word[1]);
  default:
    return is_empty_instruction(plain, word);
  }
}

bool spirv_drop_sets(uint32_t *words, size_t *count, const char *prefix) {
  struct plain plain = {.words = words, .bound = words[SPIRV_BOUND_WORD], .prefix = prefix};
  size_t kept = SPIRV_HEADER_WORDS;
  plain.is_nothing = calloc(plain.bound, sizeof *plain.is_nothing);
  if (!plain.is_nothing)
    return false;
  find_empty(&plain, *count);
  for (size_t at = SPIRV_HEADER_WORDS, length; at < *count; at += length) {
    length = spirv_instruction_at(words + at).length;
    if (is_of_set(&plain, words + at))
      continue;
    memmove(words + kept, words + at, length * sizeof *words);
    kept += length;
  }
  free(plain.is_nothing);
  *count = kept;
  return true;
}

static bool has_capability(const uint32_t *words, size_t count, uint32_t capability) {
  for (size_t at = SPIRV_HEADER_WORDS; at < count; at += spirv_instruction_at(words + at).length)
    if (spirv_instruction_at(words + at).opcode == OP_CAPABILITY &&
        spirv_instruction_at(words + at).length > 1 && words[at + 1] == capability)
      return true;
  return false;
}

static bool is_dropped(const uint32_t *word, bool has_fast_math) {
  const struct spirv_instruction instruction = spirv_instruction_at(word);
  const size_t length = instruction.length;
  switch (instruction.opcode) {
  case OP_CAPABILITY:
    return length > 1 &&
           (word[1] == CAPABILITY_FLOAT_CONTROLS2 || word[1] == CAPABILITY_SPLIT_BARRIER);
  case OP_EXTENSION:
    return is_known_here(word, length);
  case OP_EXECUTION_MODE_ID:
    return has_fast_math && length > 2 && word[2] == MODE_FP_FAST_MATH_DEFAULT;
  case OP_DECORATE:
    return has_fast_math && length > 2 && word[2] == DECORATION_FP_FAST_MATH_MODE;
  default:
    return false;
  }
}

/* Replaces a split barrier: arrive becomes a memory barrier, and wait becomes a full barrier.
 * Returns the number of words written, which is at most the length of the instruction. */
static size_t put_barrier(uint32_t *out, const uint32_t *word) {
  enum { BARRIER_WORDS = 4, MEMORY_BARRIER_WORDS = 3 };
  const uint32_t execution = word[1], memory = word[2], semantics = word[3];
  if (spirv_instruction_at(word).opcode == OP_CONTROL_BARRIER_WAIT) {
    out[0] = BARRIER_WORDS << SPIRV_LENGTH_SHIFT | OP_CONTROL_BARRIER;
    out[1] = execution;
    out[2] = memory;
    out[3] = semantics;
    return BARRIER_WORDS;
  }
  out[0] = MEMORY_BARRIER_WORDS << SPIRV_LENGTH_SHIFT | OP_MEMORY_BARRIER;
  out[1] = memory;
  out[2] = semantics;
  return MEMORY_BARRIER_WORDS;
}

/* Replaces OpExecutionModeId entry mode id... by OpExecutionMode
 * with the values of the constants. */
static void resolve_mode(uint32_t *words, size_t count, size_t at) {
  uint32_t *word = words + at;
  const size_t length = spirv_instruction_at(word).length;
  if (length < 4 || word[2] < MODE_SUBGROUPS_PER_WORKGROUP_ID || word[2] > MODE_LOCAL_SIZE_HINT_ID)
    return;
  for (size_t i = 3; i < length; i++)
    if (!spirv_number(words, count, word[i], &word[i]))
      return;
  word[0] = (uint32_t)length << SPIRV_LENGTH_SHIFT | OP_EXECUTION_MODE;
  word[2] = word[2] == MODE_LOCAL_SIZE_ID        ? MODE_LOCAL_SIZE
            : word[2] == MODE_LOCAL_SIZE_HINT_ID ? MODE_LOCAL_SIZE_HINT
                                                 : MODE_SUBGROUPS_PER_WORKGROUP;
}

bool spirv_plain(uint32_t *words, size_t *count) {
  const bool has_fast_math = has_capability(words, *count, CAPABILITY_FLOAT_CONTROLS2);
  size_t kept = SPIRV_HEADER_WORDS;
  for (size_t at = SPIRV_HEADER_WORDS; at < *count; at += spirv_instruction_at(words + at).length)
    if (spirv_instruction_at(words + at).opcode == OP_EXECUTION_MODE_ID)
      resolve_mode(words, *count, at);
  for (size_t at = SPIRV_HEADER_WORDS, length; at < *count; at += length) {
    const struct spirv_instruction instruction = spirv_instruction_at(words + at);
    length = instruction.length;
    if (is_dropped(words + at, has_fast_math))
      continue;
    if (length == 4 && (instruction.opcode == OP_CONTROL_BARRIER_ARRIVE ||
                        instruction.opcode == OP_CONTROL_BARRIER_WAIT)) {
      kept += put_barrier(words + kept, words + at);
      continue;
    }
    memmove(words + kept, words + at, length * sizeof *words);
    kept += length;
  }
  *count = kept;
  /* By SPV_KHR_non_semantic_info, these sets do not affect the semantics of a module. */
  return spirv_drop_sets(words, count, "NonSemantic.");
}
