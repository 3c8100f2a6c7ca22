/* Reads SPIR-V modules: their structure, their specialization constants and what they require of a
 * device. Modules are untrusted, so all accesses are checked against the size. */
#include "compiler/spirv/spirv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/compiler.h"
#include "compiler/spirv/capabilities.h"
#include "gpu/cubin/kernel_code.h"

/* Universal limit of ids (section 2.17). */
enum { BOUND_MAX = 0x3fffff + 1 };

enum { ADDRESSING_PHYSICAL64 = 2, MEMORY_MODEL_OPENCL = 2 };

/* Loops over all instructions with the opcode and at least the given number of
 * words. The module must consist of complete instructions. */
#define FOR_EACH(at, words, count, wanted, least)                                                  \
  for (size_t at = SPIRV_HEADER_WORDS; at < (count);                                               \
       at += spirv_instruction_at((words) + at).length)                                            \
    if (spirv_instruction_at((words) + at).opcode == (wanted) &&                                   \
        spirv_instruction_at((words) + at).length >= (least))

bool spirv_is(const void *bytes, size_t size) {
  uint32_t first = 0;
  if (size < sizeof first)
    return false;
  memcpy(&first, bytes, sizeof first);
  return first == SPIRV_MAGIC || first == __builtin_bswap32(SPIRV_MAGIC);
}

unsigned spirv_minor(const uint32_t *words) {
  enum { MINOR_MASK = 0xff };
  return words[SPIRV_VERSION_WORD] >> SPIRV_MINOR_SHIFT & MINOR_MASK;
}

/* ---- structure --------------------------------------------------------------------- */

static bool has_known_version(const uint32_t *words) {
  enum { MAJOR_SHIFT = 16, OTHERS_MASK = 0xff };
  return words[SPIRV_VERSION_WORD] >> MAJOR_SHIFT == 1 &&
         !(words[SPIRV_VERSION_WORD] & OTHERS_MASK) && spirv_minor(words) <= SPIRV_MINOR_MAX;
}

/* Whether the module consists of complete instructions. */
static bool are_whole(const uint32_t *words, size_t count) {
  size_t at = SPIRV_HEADER_WORDS;
  while (at < count) {
    const size_t length = spirv_instruction_at(words + at).length;
    if (!length || length > count - at)
      return false;
    at += length;
  }
  return true;
}

static const char *fault(const uint32_t *words, size_t count) {
  if (!has_known_version(words))
    return "the module's version of SPIR-V is not supported";
  if (!words[SPIRV_BOUND_WORD] || words[SPIRV_BOUND_WORD] > BOUND_MAX || words[SPIRV_SCHEMA_WORD])
    return "the module's header is malformed";
  return are_whole(words, count) ? NULL : "the module's instructions are malformed or truncated";
}

enum cc_status cc_il_read(const void *il, size_t size, uint32_t **words, const char **why) {
  const size_t count = size / sizeof(uint32_t);
  *words = NULL;
  *why = "the data is not a SPIR-V module";
  if (size % sizeof(uint32_t) || count < SPIRV_HEADER_WORDS)
    return CC_INVALID_BINARY;
  uint32_t *copy = malloc(size);
  if (!copy) {
    *why = "no memory";
    return CC_OUT_OF_MEMORY;
  }
  memcpy(copy, il, size);
  if (copy[0] == __builtin_bswap32(SPIRV_MAGIC))
    for (size_t i = 0; i < count; i++)
      copy[i] = __builtin_bswap32(copy[i]);
  if (copy[0] == SPIRV_MAGIC)
    *why = fault(copy, count);
  if (*why) {
    free(copy);
    return CC_INVALID_BINARY;
  }
  *words = copy;
  return CC_OK;
}

/* ---- specialization constants -------------------------------------------------------- */

/* Returns the size in bytes of a number of this width in bits, or 0 if
 * there are no such numbers (section 2.16.1). */
static size_t number_size(uint32_t bits) {
  enum { BYTE_BITS = 8 };
  const size_t size = bits / BYTE_BITS;
  const bool is_known = size == sizeof(uint8_t) || size == sizeof(uint16_t) ||
                        size == sizeof(uint32_t) || size == sizeof(uint64_t);
  return is_known && bits % BYTE_BITS == 0 ? size : 0;
}

/* Returns the size in bytes of a number of the type, or 0 for other types. */
static size_t type_size(const uint32_t *words, size_t count, uint32_t type) {
  FOR_EACH(at, words, count, OP_TYPE_INT, 4)
  if (words[at + 1] == type)
    return number_size(words[at + 2]);
  FOR_EACH(at, words, count, OP_TYPE_FLOAT, 3)
  if (words[at + 1] == type)
    return number_size(words[at + 2]);
  return 0;
}

/* Returns the size of the constant at a place, or 0 if there is
 * none or its literal is malformed. */
static size_t size_at(const uint32_t *words, size_t count, size_t at) {
  const struct spirv_instruction instruction = spirv_instruction_at(words + at);
  const size_t literal = 3; /* index of the literal, after opcode, type and result */
  if (instruction.opcode == OP_SPEC_CONSTANT_TRUE || instruction.opcode == OP_SPEC_CONSTANT_FALSE)
    return instruction.length == literal ? sizeof(uint8_t) : 0;
  if (instruction.opcode != OP_SPEC_CONSTANT || instruction.length <= literal)
    return 0;
  const size_t size = type_size(words, count, words[at + 1]);
  return size <= (instruction.length - literal) * sizeof(uint32_t) ? size : 0;
}

/* Returns the place of the specialization constant with this
 * result id, or count if there is none. */
static size_t find_result(const uint32_t *words, size_t count, uint32_t result) {
  for (size_t at = SPIRV_HEADER_WORDS; at < count; at += spirv_instruction_at(words + at).length)
    if (spirv_instruction_at(words + at).length > 2 && words[at + 2] == result &&
        size_at(words, count, at))
      return at;
  return count;
}

/* Returns the place of the specialization constant with this SpecId, or count if there is none. */
static size_t find_constant(const uint32_t *words, size_t count, uint32_t id) {
  FOR_EACH(at, words, count, OP_DECORATE, 4)
  if (words[at + 2] == DECORATION_SPEC_ID && words[at + 3] == id)
    return find_result(words, count, words[at + 1]);
  return count;
}

size_t cc_il_constant_size(const uint32_t *words, size_t count, uint32_t id) {
  const size_t at = find_constant(words, count, id);
  return at < count ? size_at(words, count, at) : 0;
}

/* Replaces the default value. A module with a new default is the specialized module. */
void cc_il_specialize(uint32_t *words, size_t count, uint32_t id, const void *value) {
  const size_t at = find_constant(words, count, id);
  if (at == count)
    return;
  if (spirv_instruction_at(words + at).opcode == OP_SPEC_CONSTANT) {
    const size_t literal = at + 3, length = spirv_instruction_at(words + at).length;
    memset(words + literal, 0, (length - 3) * sizeof *words);
    memcpy(words + literal, value, size_at(words, count, at));
    return;
  }
  const bool is_true = *(const uint8_t *)value != 0;
  words[at] = (words[at] & ~(uint32_t)SPIRV_OPCODE_MASK) |
              (is_true ? OP_SPEC_CONSTANT_TRUE : OP_SPEC_CONSTANT_FALSE);
}

/* ---- what a module requires ------------------------------------------------------------ */

static const struct {
  uint32_t number;
  const char *name;
} refused_capabilities[] = {
#define AS_ENTRY(number, name) {number, #name},
    REFUSED_CAPABILITIES(AS_ENTRY)
#undef AS_ENTRY
};

#define COUNT(array) (sizeof(array) / sizeof *(array))

const uint32_t *cc_il_capabilities(bool matrices, size_t *count) {
#define AS_NUMBER(number, name) number,
  static const uint32_t offered[] = {OFFERED_CAPABILITIES(AS_NUMBER)};
#undef AS_NUMBER
  *count = COUNT(offered) - !matrices;
  return offered;
}

/* Returns the extensions for the capabilities above, and extensions that only add a linkage or
 * decorations. */
const char *const *cc_il_extensions(bool matrices, size_t *count) {
  static const char *const extensions[] = {
      "SPV_EXT_shader_atomic_float16_add",
      "SPV_EXT_shader_atomic_float_add",
      "SPV_EXT_shader_atomic_float_min_max",
      "SPV_INTEL_bfloat16_conversion",
      "SPV_INTEL_fp_fast_math_mode",
      "SPV_INTEL_kernel_attributes",
      "SPV_INTEL_memory_access_aliasing",
      "SPV_INTEL_optnone",
      "SPV_INTEL_split_barrier",
      "SPV_INTEL_subgroups",
      "SPV_INTEL_unstructured_loop_controls",
      "SPV_KHR_bit_instructions",
      "SPV_KHR_expect_assume",
      "SPV_KHR_float_controls2",
      "SPV_KHR_integer_dot_product",
      "SPV_KHR_linkonce_odr",
      "SPV_KHR_no_integer_wrap_decoration",
      "SPV_KHR_non_semantic_info",
      "SPV_KHR_shader_clock",
      "SPV_KHR_subgroup_rotate",
      "SPV_KHR_uniform_group_instructions",
      "SPV_KHR_cooperative_matrix", /* the last one: only if its draft is enabled */
  };
  *count = COUNT(extensions) - !matrices;
  return extensions;
}

const char *const *cc_il_instruction_sets(size_t *count) {
  static const char *const sets[] = {"OpenCL.std", "OpenCL.DebugInfo.100"};
  *count = COUNT(sets);
  return sets;
}

static bool check_capability(uint32_t number, bool matrices, struct text *log) {
  size_t count;
  const uint32_t *offered = cc_il_capabilities(matrices, &count);
  for (size_t i = 0; i < count; i++)
    if (offered[i] == number)
      return true;
  if (number == CAPABILITY_COOPERATIVE_MATRIX) {
    text_puts(log,
              "error: the module requires the capability CooperativeMatrixKHR of the draft "
              "cl_khr_cooperative_matrix; TEGRACL_EXPERIMENTAL=cooperative_matrix enables it\n");
    return false;
  }
  for (size_t i = 0; i < COUNT(refused_capabilities); i++)
    if (refused_capabilities[i].number == number) {
      text_printf(log,
                  "error: the module requires the capability %s, which the device does not "
                  "support\n",
                  refused_capabilities[i].name);
      return false;
    }
  text_printf(log, "error: the module requires the unknown capability %u\n", number);
  return false;
}

bool spirv_number(const uint32_t *words, size_t count, uint32_t id, uint32_t *value) {
  for (size_t at = SPIRV_HEADER_WORDS; at < count; at += spirv_instruction_at(words + at).length) {
    const struct spirv_instruction made = spirv_instruction_at(words + at);
    if ((made.opcode == OP_CONSTANT || made.opcode == OP_SPEC_CONSTANT) && made.length == 4 &&
        words[at + 2] == id) {
      *value = words[at + 3];
      return true;
    }
  }
  return false;
}

uint32_t spirv_sub_groups(const uint32_t *words, size_t count, const char *kernel) {
  const size_t bytes = strlen(kernel) + 1;
  uint32_t entry = 0;
  FOR_EACH(at, words, count, OP_ENTRY_POINT, 4)
  if (bytes <= (spirv_instruction_at(words + at).length - 3) * sizeof *words &&
      !memcmp(words + at + 3, kernel, bytes))
    entry = words[at + 2];
  FOR_EACH(at, words, count, OP_EXECUTION_MODE, 4)
  if (words[at + 1] == entry && words[at + 2] == MODE_SUBGROUPS_PER_WORKGROUP)
    return words[at + 3];
  return 0;
}

/* Checks required sub-groups, which are warps. */
static bool check_sub_groups(enum spirv_mode mode, uint32_t wanted, struct text *log) {
  enum { WARP = 32 };
  if (mode == MODE_SUBGROUP_SIZE && wanted != WARP) {
    text_printf(log,
                "error: the module requires sub-groups of %u work-items, but the device has "
                "sub-groups of %u\n",
                wanted, (unsigned)WARP);
    return false;
  }
  if (mode == MODE_SUBGROUPS_PER_WORKGROUP && (!wanted || wanted > KERNEL_SUB_GROUPS_MAX)) {
    text_printf(
        log,
        "error: the module requires %u sub-groups in a work-group; the device supports 1 to "
        "%u\n",
        wanted, (unsigned)KERNEL_SUB_GROUPS_MAX);
    return false;
  }
  return true;
}

/* Checks OpExecutionModeId entry mode id...: each id must refer to a constant. */
static bool check_mode_ids(const uint32_t *words, size_t count, size_t at, struct text *log) {
  const enum spirv_mode mode = words[at + 2];
  uint32_t value = 0;
  if (mode < MODE_SUBGROUPS_PER_WORKGROUP_ID || mode > MODE_LOCAL_SIZE_HINT_ID)
    return true;
  for (size_t i = 3; i < spirv_instruction_at(words + at).length; i++)
    if (!spirv_number(words, count, words[at + i], &value)) {
      text_printf(log, "error: execution mode %u has the id %u, which is not a constant number\n",
                  mode, words[at + i]);
      return false;
    }
  return mode != MODE_SUBGROUPS_PER_WORKGROUP_ID ||
         check_sub_groups(MODE_SUBGROUPS_PER_WORKGROUP, value, log);
}

bool spirv_check(const uint32_t *words, size_t count, bool matrices, struct text *log) {
  bool has_model = false;
  FOR_EACH(at, words, count, OP_CAPABILITY, 2)
  if (!check_capability(words[at + 1], matrices, log))
    return false;
  FOR_EACH(at, words, count, OP_EXECUTION_MODE, 4)
  if (!check_sub_groups(words[at + 2], words[at + 3], log))
    return false;
  FOR_EACH(at, words, count, OP_EXECUTION_MODE_ID, 4)
  if (!check_mode_ids(words, count, at, log))
    return false;
  FOR_EACH(at, words, count, OP_MEMORY_MODEL, 3) {
    if (words[at + 1] != ADDRESSING_PHYSICAL64 || words[at + 2] != MEMORY_MODEL_OPENCL) {
      text_printf(log,
                  "error: unsupported memory model %u with addressing model %u; this device "
                  "requires OpenCL (2) with Physical64 (2)\n",
                  words[at + 2], words[at + 1]);
      return false;
    }
    has_model = true;
  }
  if (!has_model)
    text_puts(log, "error: the module has no memory model\n");
  return has_model;
}

/* ---- removal of instructions ------------------------------------------------------------- */

/* Removes the instructions for which keep returns false. Returns the new number of words. */
static size_t filter(uint32_t *words, size_t count,
                     bool (*keep)(const uint32_t *word, uint32_t data), uint32_t data) {
  size_t kept = SPIRV_HEADER_WORDS;
  for (size_t at = SPIRV_HEADER_WORDS, length; at < count; at += length) {
    length = spirv_instruction_at(words + at).length;
    if (!keep(words + at, data))
      continue;
    memmove(words + kept, words + at, length * sizeof *words);
    kept += length;
  }
  return kept;
}

static bool is_no_merge(const uint32_t *word, uint32_t data) {
  const enum spirv_opcode opcode = spirv_instruction_at(word).opcode;
  return opcode != OP_LOOP_MERGE && opcode != OP_SELECTION_MERGE;
}

size_t spirv_drop_merges(uint32_t *words, size_t count) {
  return filter(words, count, is_no_merge, 0);
}

static bool is_no_aliasing(const uint32_t *word, uint32_t data) {
  enum { MEMORY_ACCESS_ALIASING = 5910 };
  const struct spirv_instruction instruction = spirv_instruction_at(word);
  if (instruction.opcode == OP_CAPABILITY && instruction.length > 1)
    return word[1] != MEMORY_ACCESS_ALIASING;
  if (instruction.opcode == OP_DECORATE_ID && instruction.length > 2)
    return word[2] != DECORATION_ALIAS_SCOPE && word[2] != DECORATION_NO_ALIAS;
  return instruction.opcode < OP_ALIAS_DOMAIN_DECL || instruction.opcode > OP_ALIAS_SCOPE_LIST_DECL;
}

/* Removes alias scope lists, which are the last memory operands of a load or
 * store because their bits are the highest. Overwrites them with one-word
 * instructions, which is_no_aliasing removes later. */
static void drop_scopes(uint32_t *word) {
  enum { SCOPES = 0x30000 }; /* AliasScopeINTELMask, NoAliasINTELMask */
  const struct spirv_instruction instruction = spirv_instruction_at(word);
  const size_t mask =
      instruction.opcode == OP_LOAD
          ? 4
          : 3; /* index of the memory operands; those of OpStore follow pointer and value */
  if ((instruction.opcode != OP_LOAD && instruction.opcode != OP_STORE) ||
      instruction.length <= mask)
    return;
  const size_t lists = (size_t)__builtin_popcount(word[mask] & SCOPES);
  if (!lists || instruction.length <= mask + lists)
    return;
  word[mask] &= ~(uint32_t)SCOPES;
  word[0] -= (uint32_t)lists << SPIRV_LENGTH_SHIFT;
  for (size_t i = 0; i < lists; i++)
    word[instruction.length - lists + i] = 1 << SPIRV_LENGTH_SHIFT | OP_ALIAS_DOMAIN_DECL;
}

size_t spirv_drop_aliasing(uint32_t *words, size_t count) {
  for (size_t at = SPIRV_HEADER_WORDS, length; at < count; at += length) {
    length = spirv_instruction_at(words + at).length;
    drop_scopes(words + at);
  }
  return filter(words, count, is_no_aliasing, 0);
}

static bool is_no_other_sampler(const uint32_t *word, uint32_t first) {
  const struct spirv_instruction instruction = spirv_instruction_at(word);
  return instruction.opcode != OP_TYPE_SAMPLER || instruction.length != 2 || word[1] == first;
}

/* Finds the operands of an instruction that can be a sampler type, from *first to before *end: the
 * first operand of instructions with a type, and the operands of type declarations. Instructions
 * before the types contain literals, except for names and decorations. */
static void find_types(struct spirv_instruction instruction, bool before_types, size_t *first,
                       size_t *end) {
  enum { POINTER_TYPE = 3 }; /* index of the pointee in OpTypePointer result class type */
  const enum spirv_opcode opcode = instruction.opcode;
  *first = opcode == OP_TYPE_POINTER ? POINTER_TYPE : 1;
  *end = opcode == OP_TYPE_FUNCTION ? instruction.length : *first + 1;
  if (opcode == OP_TYPE_SAMPLER || (before_types && opcode != OP_NAME && opcode != OP_DECORATE))
    *end = 0;
}

/* Renames the type that is declared at place. */
static void rename_type(uint32_t *words, size_t count, size_t place, uint32_t to) {
  const uint32_t from = words[place + 1];
  for (size_t at = SPIRV_HEADER_WORDS, length; at < count; at += length) {
    const struct spirv_instruction instruction = spirv_instruction_at(words + at);
    length = instruction.length;
    size_t i, end;
    for (find_types(instruction, at < place, &i, &end); i < end && i < length; i++)
      if (words[at + i] == from)
        words[at + i] = to;
  }
}

size_t spirv_join_samplers(uint32_t *words, size_t count) {
  uint32_t first = 0;
  FOR_EACH(at, words, count, OP_TYPE_SAMPLER, 2) {
    if (!first)
      first = words[at + 1];
    else
      rename_type(words, count, at, first);
  }
  return filter(words, count, is_no_other_sampler, first);
}
