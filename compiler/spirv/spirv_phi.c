/* Converts between the phis of LLVM IR and SPIR-V. In LLVM IR a phi has an entry for each incoming
 * edge, and a switch may have many edges to one block; in SPIR-V it has an entry for each
 * predecessor. The translators of LLVM 15 read and write phis of the first kind. */
#include <stdlib.h>
#include <string.h>

#include "compiler/spirv/spirv.h"

struct phis {
  const uint32_t *words;
  size_t count;
  uint32_t bound;
  size_t *exit_of;  /* last instruction of a block, by label; 0 for other ids */
  uint32_t *phi_of; /* by label: number, from 1, of the last phi with an entry for it */
  uint32_t *value;  /* by label: value in that entry */
  bool each_edge;
};

/* Indices of operands in an instruction's words. */
enum {
  PHI_ENTRIES = 3,
  BRANCH_TRUE = 2,
  BRANCH_FALSE = 3,
  SWITCH_DEFAULT = 2,
  SWITCH_CASES = 3,
};

static bool is_label(const struct phis *phis, uint32_t id) {
  return id < phis->bound && phis->exit_of[id];
}

static void find_exits(struct phis *phis) {
  uint32_t label = 0;
  for (size_t at = SPIRV_HEADER_WORDS, length; at < phis->count; at += length) {
    const struct spirv_instruction instruction = spirv_instruction_at(phis->words + at);
    length = instruction.length;
    if (instruction.opcode == OP_LABEL && length == 2 && phis->words[at + 1] < phis->bound)
      label = phis->words[at + 1];
    else if (instruction.opcode == OP_FUNCTION_END)
      label = 0;
    if (label)
      phis->exit_of[label] = at;
  }
}

/* Returns the size of a case in words: a literal of one or two words, and a label. Does not look
 * up the type of the selector: if literals have two words, not every second word is a label. */
static size_t case_words(const struct phis *phis, const uint32_t *word, size_t length) {
  enum { NARROW = 2, WIDE = 3 };
  for (size_t i = SWITCH_CASES + NARROW - 1; i < length; i += NARROW)
    if (!is_label(phis, word[i]))
      return WIDE;
  return NARROW;
}

static size_t edges(const struct phis *phis, uint32_t from, uint32_t to) {
  size_t found = 0;
  if (!is_label(phis, from))
    return 1;
  const uint32_t *word = phis->words + phis->exit_of[from];
  const struct spirv_instruction exit = spirv_instruction_at(word);
  if (exit.opcode == OP_BRANCH_CONDITIONAL && exit.length > BRANCH_FALSE) {
    found = (size_t)(word[BRANCH_TRUE] == to) + (word[BRANCH_FALSE] == to);
  } else if (exit.opcode == OP_SWITCH && exit.length > SWITCH_DEFAULT) {
    const size_t step = case_words(phis, word, exit.length);
    found = word[SWITCH_DEFAULT] == to;
    for (size_t i = SWITCH_CASES + step - 1; i < exit.length; i += step)
      found += word[i] == to;
  }
  return found ? found : 1;
}

/* Writes the entries of a phi of the block to out unless that is
 * NULL. Returns their size in words. */
static size_t put_entries(struct phis *phis, const uint32_t *word, uint32_t block, uint32_t phi,
                          uint32_t *out) {
  size_t size = 0;
  for (size_t i = PHI_ENTRIES; i + 1 < spirv_instruction_at(word).length; i += 2) {
    const uint32_t value = word[i], from = word[i + 1];
    const bool seen = from < phis->bound && phis->phi_of[from] == phi;
    if (seen && (phis->each_edge || phis->value[from] == value))
      continue;
    if (from < phis->bound) {
      phis->phi_of[from] = phi;
      phis->value[from] = value;
    }
    for (size_t n = phis->each_edge ? edges(phis, from, block) : 1; n > 0; n--, size += 2)
      if (out)
        memcpy(out + size, (const uint32_t[]){value, from}, 2 * sizeof *out);
  }
  return size;
}

/* Copies the module to out unless that is NULL. Returns its size in words. */
static size_t copy(struct phis *phis, uint32_t *out) {
  size_t size = SPIRV_HEADER_WORDS;
  uint32_t block = 0, phi = 0;
  memset(phis->phi_of, 0, phis->bound * sizeof *phis->phi_of);
  if (out)
    memcpy(out, phis->words, size * sizeof *out);
  for (size_t at = size, length; at < phis->count; at += length) {
    const uint32_t *word = phis->words + at;
    const struct spirv_instruction instruction = spirv_instruction_at(word);
    length = instruction.length;
    if (instruction.opcode == OP_LABEL && length == 2)
      block = word[1];
    size_t entries = 0, kept = length;
    if (instruction.opcode == OP_PHI && length > PHI_ENTRIES) {
      entries = put_entries(phis, word, block, ++phi, NULL);
      kept = PHI_ENTRIES;
      if (kept + entries > SPIRV_LENGTH_MAX) {
        entries = 0;
        kept = length;
      } else if (out) {
        put_entries(phis, word, block, ++phi, out + size + PHI_ENTRIES);
      }
    }
    if (out) {
      memcpy(out + size, word, kept * sizeof *out);
      out[size] = (uint32_t)(kept + entries) << SPIRV_LENGTH_SHIFT | instruction.opcode;
    }
    size += kept + entries;
  }
  return size;
}

uint32_t *spirv_phis(const uint32_t *words, size_t *count, bool each_edge) {
  const uint32_t bound = words[SPIRV_BOUND_WORD];
  struct phis phis = {.words = words, .count = *count, .bound = bound, .each_edge = each_edge};
  uint32_t *out = NULL;
  phis.exit_of = calloc(bound, sizeof *phis.exit_of);
  phis.phi_of = calloc(bound, sizeof *phis.phi_of);
  phis.value = calloc(bound, sizeof *phis.value);
  if (phis.exit_of && phis.phi_of && phis.value) {
    find_exits(&phis);
    *count = copy(&phis, NULL);
    out = malloc(*count * sizeof *out);
    if (out)
      copy(&phis, out);
  }
  free(phis.exit_of);
  free(phis.phi_of);
  free(phis.value);
  return out;
}
