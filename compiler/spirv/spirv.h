/* SPIR-V modules as arrays of words, for the parts of a module that the compiler reads and changes
 * itself. All numbers are from the SPIR-V specification, sections 2.3 "Physical Layout" and 3
 * "Binary Form". Except for spirv_is, all functions require modules that cc_il_read has checked:
 * count is in words, and the module consists of complete instructions. */
#ifndef TEGRACL_SPIRV_H
#define TEGRACL_SPIRV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "compiler/compiler.h"

enum {
  SPIRV_MAGIC = 0x07230203,
  SPIRV_VERSION_WORD = 1,
  SPIRV_BOUND_WORD = 3, /* upper bound of all ids */
  SPIRV_SCHEMA_WORD = 4,
  SPIRV_HEADER_WORDS = 5,
  SPIRV_MINOR_SHIFT = 8, /* in the version */
  SPIRV_MINOR_MAX = CC_IL_MINOR_MAX,
};

/* Maximum size of a module after spirv_reword. Copying nested arrays element
 * by element could otherwise take far more memory. */
enum { REWORD_WORDS_MAX = 1 << 24 };

/* Layout of the first word of an instruction. */
enum { SPIRV_LENGTH_SHIFT = 16, SPIRV_OPCODE_MASK = 0xffff, SPIRV_LENGTH_MAX = 0xffff };

enum spirv_opcode {
  OP_UNDEF = 1,
  OP_NAME = 5,
  OP_EXTENSION = 10,
  OP_EXT_INST_IMPORT = 11,
  OP_EXT_INST = 12,
  OP_MEMORY_MODEL = 14,
  OP_ENTRY_POINT = 15,
  OP_EXECUTION_MODE = 16,
  OP_CAPABILITY = 17,
  OP_TYPE_VOID = 19,
  OP_TYPE_BOOL = 20,
  OP_TYPE_INT = 21,
  OP_TYPE_FLOAT = 22,
  OP_TYPE_VECTOR = 23,
  OP_TYPE_SAMPLER = 26,
  OP_TYPE_ARRAY = 28,
  OP_TYPE_STRUCT = 30,
  OP_TYPE_POINTER = 32,
  OP_TYPE_FUNCTION = 33,
  OP_CONSTANT_FALSE = 42,
  OP_CONSTANT = 43,
  OP_CONSTANT_COMPOSITE = 44,
  OP_CONSTANT_NULL = 46,
  OP_SPEC_CONSTANT_TRUE = 48,
  OP_SPEC_CONSTANT_FALSE = 49,
  OP_SPEC_CONSTANT = 50,
  OP_SPEC_CONSTANT_COMPOSITE = 51,
  OP_SPEC_CONSTANT_OP = 52,
  OP_FUNCTION = 54,
  OP_FUNCTION_PARAMETER = 55,
  OP_FUNCTION_END = 56,
  OP_FUNCTION_CALL = 57,
  OP_VARIABLE = 59,
  OP_LOAD = 61,
  OP_STORE = 62,
  OP_COPY_MEMORY = 63,
  OP_ACCESS_CHAIN = 65,
  OP_IN_BOUNDS_ACCESS_CHAIN = 66,
  OP_PTR_ACCESS_CHAIN = 67,
  OP_IN_BOUNDS_PTR_ACCESS_CHAIN = 70,
  OP_DECORATE = 71,
  OP_VECTOR_EXTRACT_DYNAMIC = 77,
  OP_VECTOR_SHUFFLE = 79,
  OP_COMPOSITE_CONSTRUCT = 80,
  OP_COMPOSITE_EXTRACT = 81,
  OP_COMPOSITE_INSERT = 82,
  OP_COPY_OBJECT = 83,
  OP_IMAGE_SAMPLE_EXPLICIT_LOD = 88,
  OP_IMAGE_FETCH = 95,
  OP_IMAGE_READ = 98,
  OP_IMAGE_WRITE = 99,
  OP_CONVERT_F_TO_U = 109,
  OP_CONVERT_U_TO_F = 112,
  OP_U_CONVERT = 113,
  OP_F_CONVERT = 115,
  OP_CONVERT_PTR_TO_U = 117,
  OP_SAT_CONVERT_U_TO_S = 119,
  OP_CONVERT_U_TO_PTR = 120,
  OP_PTR_CAST_TO_GENERIC = 121,
  OP_GENERIC_CAST_TO_PTR = 122,
  OP_BITCAST = 124,
  OP_S_NEGATE = 126,
  OP_I_SUB = 130,
  OP_I_MUL = 132,
  OP_U_DIV = 134,
  OP_S_DIV = 135,
  OP_F_DIV = 136,
  OP_VECTOR_TIMES_SCALAR = 142,
  OP_MATRIX_TIMES_SCALAR = 143,
  OP_SELECT = 169,
  OP_I_EQUAL = 170,
  OP_I_NOT_EQUAL = 171,
  OP_CONTROL_BARRIER = 224,
  OP_MEMORY_BARRIER = 225,
  OP_PHI = 245,
  OP_LOOP_MERGE = 246,
  OP_SELECTION_MERGE = 247,
  OP_LABEL = 248,
  OP_BRANCH_CONDITIONAL = 250,
  OP_SWITCH = 251,
  OP_EXECUTION_MODE_ID = 331,
  OP_DECORATE_ID = 332,
  OP_COPY_LOGICAL = 400,
  OP_PTR_EQUAL = 401,
  OP_PTR_NOT_EQUAL = 402,
  OP_PTR_DIFF = 403,
  OP_EXT_INST_FORWARD = 4433,
  OP_TYPE_MATRIX = 4456,
  OP_MATRIX_LOAD = 4457,
  OP_MATRIX_STORE = 4458,
  OP_MATRIX_MUL_ADD = 4459,
  OP_MATRIX_LENGTH = 4460,
  OP_READ_CLOCK = 5056,
  OP_EXPECT = 5631,
  OP_DECORATE_STRING = 5632,
  OP_MEMBER_DECORATE_STRING = 5633,
  OP_ALIAS_DOMAIN_DECL = 5911,
  OP_ALIAS_SCOPE_LIST_DECL = 5913,
  OP_ATOMIC_F_ADD = 6035,
  OP_CONVERT_F_TO_BF16 = 6116,
  OP_CONVERT_BF16_TO_F = 6117,
  OP_CONTROL_BARRIER_ARRIVE = 6142,
  OP_CONTROL_BARRIER_WAIT = 6143,
};

enum spirv_decoration {
  DECORATION_SPEC_ID = 1,
  DECORATION_BUILT_IN = 11,
  DECORATION_UNIFORM = 26,
  DECORATION_SATURATED_CONVERSION = 28,
  DECORATION_FP_FAST_MATH_MODE = 40,
  DECORATION_LINKAGE_ATTRIBUTES = 41,
  DECORATION_ALIAS_SCOPE = 5914,
  DECORATION_NO_ALIAS = 5915,
};

enum spirv_capability {
  CAPABILITY_LINKAGE = 5,
  CAPABILITY_VECTOR16 = 7,
  CAPABILITY_SHADER_CLOCK = 5055,
  CAPABILITY_COOPERATIVE_MATRIX = 6022,
  CAPABILITY_FLOAT_CONTROLS2 = 6029,
  CAPABILITY_ATOMIC_FLOAT16_ADD = 6095,
  CAPABILITY_BFLOAT16_CONVERSION = 6115,
  CAPABILITY_SPLIT_BARRIER = 6141,
};

enum spirv_mode {
  MODE_LOCAL_SIZE = 17,
  MODE_LOCAL_SIZE_HINT = 18,
  MODE_SUBGROUP_SIZE = 35,
  MODE_SUBGROUPS_PER_WORKGROUP = 36,
  MODE_SUBGROUPS_PER_WORKGROUP_ID = 37,
  MODE_LOCAL_SIZE_ID = 38,
  MODE_LOCAL_SIZE_HINT_ID = 39,
  MODE_FP_FAST_MATH_DEFAULT = 6028,
};

enum spirv_storage {
  STORAGE_WORKGROUP = 4,
  STORAGE_CROSS_WORKGROUP = 5,
  STORAGE_PRIVATE = 6,
  STORAGE_FUNCTION = 7,
  STORAGE_GENERIC = 8,
};

enum spirv_scope { SCOPE_DEVICE = 1, SCOPE_WORKGROUP = 2, SCOPE_SUBGROUP = 3 };

struct spirv_instruction {
  enum spirv_opcode opcode;
  size_t length; /* in words, including the first one */
};

static inline struct spirv_instruction spirv_instruction_at(const uint32_t *word) {
  return (struct spirv_instruction){*word & SPIRV_OPCODE_MASK, *word >> SPIRV_LENGTH_SHIFT};
}

/* Whether bytes begin with the magic number of a module, in either byte order. Text never does. */
bool spirv_is(const void *bytes, size_t size);

/* Returns the minor version number of a module. */
unsigned spirv_minor(const uint32_t *words);

/* Whether the device supports the memory model, capabilities and execution modes that the
 * module requires. Otherwise log names the first unsupported one. matrices is whether the draft
 * cl_khr_cooperative_matrix is enabled. */
bool spirv_check(const uint32_t *words, size_t count, bool matrices, struct text *log);

/* Reads the value of an integer constant of at most 32 bits, specialized or
 * not. Returns false if id is not such a constant. */
bool spirv_number(const uint32_t *words, size_t count, uint32_t id, uint32_t *value);

/* Returns the number of sub-groups that the kernel requires in each
 * work-group, or 0 if it accepts any. */
uint32_t spirv_sub_groups(const uint32_t *words, size_t count, const char *kernel);

/* Removes the merge instructions, which are only hints in
 * kernels. Returns the new number of words. */
size_t spirv_drop_merges(uint32_t *words, size_t count);

/* Removes the instructions of SPV_INTEL_memory_access_aliasing, which are hints and
 * unknown to spirv-val. Returns the new number of words. */
size_t spirv_drop_aliasing(uint32_t *words, size_t count);

/* Replaces instructions of extensions that the tools do not support; see
 * spirv_plain.c. Returns false if out of memory. */
bool spirv_plain(uint32_t *words, size_t *count);

/* Replaces cooperative matrices by vectors and function calls; see spirv_matrix.c. Frees *words
 * and replaces it with the new module, which the caller frees. On failure *words is unchanged.
 * Returns CC_BUILD_FAILURE, and says why in log, if the module breaks a rule or uses what the
 * device does not support. */
enum cc_status spirv_matrices(uint32_t **words, size_t *count, struct text *log);

/* For spirv-val: a module may declare equal types. spirv_reword removes it. */
#define SPIRV_EXTENSION_EQUAL_TYPES "SPV_VALIDATOR_ignore_type_decl_unique"

/* Removes extended instruction sets whose names begin with the prefix, and
 * their instructions. Returns false if out of memory. */
bool spirv_drop_sets(uint32_t *words, size_t *count, const char *prefix);

/* Merges several sampler types into one, because the translator of LLVM 15 declares a
 * second one for literal samplers. Returns the new number of words. */
size_t spirv_join_samplers(uint32_t *words, size_t count);

/* Sorts the blocks of each function; see spirv_order.c. Returns false if out of memory. */
bool spirv_order(uint32_t *words, size_t count);

/* Returns a copy of the module for spirv-val, with the corrections listed in
 * spirv_mend.c. The caller frees it. Returns NULL if out of memory. */
uint32_t *spirv_mend(const uint32_t *words, size_t *count);

/* Returns a copy of the module whose phis have an entry for each edge to their block (each_edge)
 * or for each predecessor. The caller frees it. Returns NULL if out of memory. */
uint32_t *spirv_phis(const uint32_t *words, size_t *count, bool each_edge);

/* Returns a copy of the module that loads whole built-in values; see
 * spirv_builtin.c. The caller frees it. Returns NULL if out of memory. */
uint32_t *spirv_load_builtins(const uint32_t *words, size_t *count);

/* Replaces instructions that the translator of LLVM 15 does not support; see
 * spirv_reword.c. The module must have been validated. Frees *words and
 * replaces it with the new module, which the caller frees. Returns false, and leaves *words
 * unchanged, if out of memory or if there would be more than REWORD_WORDS_MAX words. */
bool spirv_reword(uint32_t **words, size_t *count);

#endif
