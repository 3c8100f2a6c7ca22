/* Replaces instructions that the translator of LLVM 15 does not support or translates wrongly:
 * null constants that are numbers, composites of values and accesses to their members,
 * OpCopyMemory, shuffles of different vector types, hints about vectors, clock reads, atomic
 * addition of halves, and additions of SPIR-V 1.4 and later. Modules have been validated without
 * their debug information, but memory accesses here do not rely on that. */
#include <stdlib.h>
#include <string.h>

#include "compiler/spirv/spirv_words.h"

/* Newest minor version that the translator accepts, and the position of the major version. */
enum { TRANSLATOR_MINOR_MAX = 4, MAJOR_SHIFT = 16 };

/* Maximum lanes of a vector, and elements of the largest array
 * that is copied element by element. */
enum { LANES_MAX = 16, ELEMENTS_MAX = 4096 };

/* Functions of OpenCL C that read clocks, one for each scope and result type. */
enum { CLOCK_TYPES = 2, CLOCKS = 3 * CLOCK_TYPES };

/* Functions that add to a half, one for each storage class. */
enum { HALF_SUMS = 3, HALF_BITS = 16 };

struct reword {
  const uint32_t *words;
  size_t count;
  uint32_t bound;      /* upper bound of the ids so far */
  uint32_t old_bound;  /* of the module's */
  uint32_t *type_of;   /* types of values, by id; 0 for other ids */
  size_t *place_of;    /* places of types and constants, by id; 0 for other ids */
  struct words *out;   /* current output: before or functions */
  struct words before; /* everything before the functions */
  struct words functions;
  bool decorated;          /* declare_functions has been called */
  uint32_t clocks[CLOCKS]; /* ids of functions; 0 if unused */
  uint32_t half_sums[HALF_SUMS];
  uint32_t wide_type; /* ids of a 64-bit integer type and its constant 1; 0 if not yet declared */
  uint32_t wide_one;
};

/* ---- definitions ------------------------------------------------------------------- */

static void find_results(struct reword *reword) {
  for (size_t at = SPIRV_HEADER_WORDS, length; at < reword->count; at += length) {
    const uint32_t *word = reword->words + at;
    const struct spirv_instruction instruction = spirv_instruction_at(word);
    length = instruction.length;
    const bool typed_value = spirv_has_type(instruction.opcode) && length > 2;
    const bool is_type = instruction.opcode >= OP_TYPE_BOOL - 1 &&
                         instruction.opcode <= OP_TYPE_FUNCTION && length > 1;
    if (!typed_value && !is_type)
      continue;
    const uint32_t id = word[typed_value ? 2 : 1];
    if (id >= reword->old_bound)
      continue;
    reword->place_of[id] = at;
    if (typed_value)
      reword->type_of[id] = word[1];
  }
}

/* Returns the instruction that defines a type or value of the module, or NULL for other ids. */
static const uint32_t *definition(const struct reword *reword, uint32_t id) {
  return id < reword->old_bound && reword->place_of[id] ? reword->words + reword->place_of[id]
                                                        : NULL;
}

static bool is_made_by(const uint32_t *word, enum spirv_opcode opcode, size_t least) {
  return word && spirv_instruction_at(word).opcode == opcode &&
         spirv_instruction_at(word).length >= least;
}

static uint32_t type_of(const struct reword *reword, uint32_t id) {
  return id < reword->old_bound ? reword->type_of[id] : 0;
}

/* ---- numbers ------------------------------------------------------------------------- */

enum { WIDE_BITS = 64, WORD_BITS = 32 };

static uint32_t bits_of(const struct reword *reword, uint32_t type) {
  const uint32_t *word = definition(reword, type);
  return is_made_by(word, OP_TYPE_INT, 4) || is_made_by(word, OP_TYPE_FLOAT, 3) ? word[2] : 0;
}

static uint32_t wide_type(struct reword *reword) {
  for (uint32_t id = 0; !reword->wide_type && id < reword->old_bound; id++)
    if (is_made_by(definition(reword, id), OP_TYPE_INT, 4) && bits_of(reword, id) == WIDE_BITS)
      reword->wide_type = id;
  if (!reword->wide_type) {
    reword->wide_type = reword->bound++;
    EMIT(&reword->before, OP_TYPE_INT, reword->wide_type, WIDE_BITS, 0);
  }
  return reword->wide_type;
}

static uint32_t wide_one(struct reword *reword) {
  const uint32_t type = wide_type(reword);
  if (!reword->wide_one) {
    reword->wide_one = reword->bound++;
    EMIT(&reword->before, OP_CONSTANT, type, reword->wide_one, 1, 0);
  }
  return reword->wide_one;
}

/* OpConstantNull type result. The translator supports it only for composites and pointers. */
static bool reword_null(struct reword *reword, const uint32_t *word) {
  const uint32_t bits = bits_of(reword, word[1]);
  if (is_made_by(definition(reword, word[1]), OP_TYPE_BOOL, 2))
    EMIT(reword->out, OP_CONSTANT_FALSE, word[1], word[2]);
  else if (bits > WORD_BITS)
    EMIT(reword->out, OP_CONSTANT, word[1], word[2], 0, 0);
  else if (bits)
    EMIT(reword->out, OP_CONSTANT, word[1], word[2], 0);
  else
    return false;
  return true;
}

/* ---- pointers ------------------------------------------------------------------------ */

static uint32_t emit_address(struct reword *reword, uint32_t pointer) {
  const uint32_t type = wide_type(reword), address = reword->bound++;
  EMIT(reword->out, OP_CONVERT_PTR_TO_U, type, address, pointer);
  return address;
}

/* OpPtrEqual, OpPtrNotEqual type result pointer pointer. */
static bool reword_comparison(struct reword *reword, const uint32_t *word) {
  const bool equal = spirv_instruction_at(word).opcode == OP_PTR_EQUAL;
  const uint32_t a = emit_address(reword, word[3]), b = emit_address(reword, word[4]);
  EMIT(reword->out, equal ? OP_I_EQUAL : OP_I_NOT_EQUAL, word[1], word[2], a, b);
  return true;
}

/* OpPtrDiff type result pointer pointer. The result is a number of elements. The size of an
 * element is the address of element 1 in an array at address 0. */
static bool reword_difference(struct reword *reword, const uint32_t *word) {
  const uint32_t pointer_type = type_of(reword, word[3]);
  if (!pointer_type)
    return false;
  const uint32_t type = wide_type(reword), one = wide_one(reword);
  const uint32_t a = emit_address(reword, word[3]), b = emit_address(reword, word[4]);
  const uint32_t bytes = reword->bound++, null = reword->bound++, second = reword->bound++;
  EMIT(reword->out, OP_I_SUB, type, bytes, a, b);
  EMIT(&reword->before, OP_CONSTANT_NULL, pointer_type, null);
  EMIT(reword->out, OP_IN_BOUNDS_PTR_ACCESS_CHAIN, pointer_type, second, null, one);
  const uint32_t size = emit_address(reword, second);
  const bool is_wide = bits_of(reword, word[1]) == WIDE_BITS;
  const uint32_t elements = is_wide ? word[2] : reword->bound++;
  EMIT(reword->out, OP_S_DIV, is_wide ? word[1] : type, elements, bytes, size);
  if (!is_wide)
    EMIT(reword->out, OP_U_CONVERT, word[1], word[2], elements);
  return true;
}

/* OpBitcast type result value. Since SPIR-V 1.5 it converts
 * between pointers and other 64-bit values. */
static bool reword_bitcast(struct reword *reword, const uint32_t *word) {
  const uint32_t from = type_of(reword, word[3]);
  const bool from_pointer = is_made_by(definition(reword, from), OP_TYPE_POINTER, 4);
  const bool to_pointer = is_made_by(definition(reword, word[1]), OP_TYPE_POINTER, 4);
  if (!from || from_pointer == to_pointer)
    return false;
  if (from_pointer) {
    EMIT(reword->out, OP_BITCAST, word[1], word[2], emit_address(reword, word[3]));
  } else {
    const uint32_t type = wide_type(reword), address = reword->bound++;
    EMIT(reword->out, OP_BITCAST, type, address, word[3]);
    EMIT(reword->out, OP_CONVERT_U_TO_PTR, word[1], word[2], address);
  }
  return true;
}

/* ---- copies -------------------------------------------------------------------------- */

/* Returns the number of words of the memory operands that begin at words, 0 if count is 0. */
static size_t memory_operands(const uint32_t *words, size_t count) {
  enum { ALIGNED = 2 };
  return !count ? 0 : words[0] & ALIGNED && count > 1 ? 2 : 1;
}

/* OpCopyMemory target source [operands of both, or of the target [of the source]]. */
static bool reword_copy(struct reword *reword, const uint32_t *word) {
  enum { OPERANDS = 3 };
  const size_t length = spirv_instruction_at(word).length;
  const uint32_t *pointer_type = definition(reword, type_of(reword, word[2]));
  if (!is_made_by(pointer_type, OP_TYPE_POINTER, 4))
    return false;
  const uint32_t value = reword->bound++;
  const uint32_t *to = word + OPERANDS, *from = to;
  const size_t to_count = memory_operands(to, length - OPERANDS);
  size_t from_count = memory_operands(to + to_count, length - OPERANDS - to_count);
  if (from_count)
    from = to + to_count;
  else
    from_count = to_count;
  uint32_t load[OPERANDS + 2] = {pointer_type[3], value, word[2]};
  memcpy(load + 3, from, from_count * sizeof *from);
  words_emit(reword->out, OP_LOAD, load, 3 + from_count);
  uint32_t store[OPERANDS + 1] = {word[1], value};
  memcpy(store + 2, to, to_count * sizeof *to);
  words_emit(reword->out, OP_STORE, store, 2 + to_count);
  return true;
}

/* Returns the number of lanes of a vector type, or 0 for other types. */
static uint32_t lanes_of(const struct reword *reword, uint32_t type) {
  const uint32_t *word = definition(reword, type);
  return is_made_by(word, OP_TYPE_VECTOR, 4) ? word[3] : 0;
}

/* Emits an instruction that constructs result from its members. */
static void emit_construct(struct reword *reword, uint32_t type, uint32_t result,
                           const uint32_t *members, size_t count) {
  uint32_t composite = reword->bound++;
  EMIT(reword->out, OP_UNDEF, type, composite);
  for (uint32_t i = 0; i < count; i++) {
    const uint32_t next = i + 1 < count ? reword->bound++ : result;
    EMIT(reword->out, OP_COMPOSITE_INSERT, type, next, members[i], composite, i);
    composite = next;
  }
}

/* OpCompositeConstruct type result constituent... The translator supports only
 * constants. The constituents of a vector may be vectors. */
static bool reword_construct(struct reword *reword, const uint32_t *word) {
  const size_t count = spirv_instruction_at(word).length - 3;
  uint32_t lanes[LANES_MAX];
  size_t used = 0;
  if (!lanes_of(reword, word[1])) {
    emit_construct(reword, word[1], word[2], word + 3, count);
    return true;
  }
  for (size_t i = 0; i < count; i++) {
    const uint32_t id = word[3 + i], width = lanes_of(reword, type_of(reword, id));
    if (!width && used < LANES_MAX)
      lanes[used++] = id;
    for (uint32_t lane = 0; lane < width && used < LANES_MAX; lane++, used++) {
      lanes[used] = reword->bound++;
      EMIT(reword->out, OP_COMPOSITE_EXTRACT, definition(reword, word[1])[2], lanes[used], id,
           lane);
    }
  }
  emit_construct(reword, word[1], word[2], lanes, used);
  return true;
}

/* Returns the number of members of a struct or array, or 0 for other
 * types and for arrays that are too large. */
static uint32_t member_count(const struct reword *reword, uint32_t type) {
  const uint32_t *word = definition(reword, type);
  if (is_made_by(word, OP_TYPE_STRUCT, 2))
    return (uint32_t)spirv_instruction_at(word).length - 2;
  if (!is_made_by(word, OP_TYPE_ARRAY, 4))
    return 0;
  const uint32_t *length = definition(reword, word[3]);
  return is_made_by(length, OP_CONSTANT, 4) && length[3] <= ELEMENTS_MAX ? length[3] : 0;
}

/* Returns the type of a member of a struct, array or vector. */
static uint32_t member_type(const struct reword *reword, uint32_t type, uint32_t member) {
  const uint32_t *word = definition(reword, type);
  if (!word || spirv_instruction_at(word).length < 3)
    return 0;
  return is_made_by(word, OP_TYPE_STRUCT, 3 + (size_t)member) ? word[2 + member] : word[2];
}

enum { LEVELS_MAX = 255 }; /* universal limit of nesting (section 2.17) */

/* Extracts one level of members after another, except the last of count levels,
 * because the translator cannot step from a struct or array into a vector.
 * Stores the composite of each level in types and ids. */
static uint32_t emit_steps(struct reword *reword, uint32_t type, uint32_t value,
                           const uint32_t *members, size_t count, uint32_t *types, uint32_t *ids) {
  for (size_t i = 0; i + 1 < count; i++) {
    types[i] = type;
    ids[i] = value;
    type = member_type(reword, type, members[i]);
    value = reword->bound++;
    EMIT(reword->out, OP_COMPOSITE_EXTRACT, type, value, ids[i], members[i]);
  }
  types[count - 1] = type;
  ids[count - 1] = value;
  return value;
}

/* OpCompositeExtract type result composite member... */
static bool reword_extract(struct reword *reword, const uint32_t *word) {
  const size_t count = spirv_instruction_at(word).length - 4;
  uint32_t types[LEVELS_MAX], ids[LEVELS_MAX];
  if (count < 2 || count > LEVELS_MAX || !type_of(reword, word[3]))
    return false;
  const uint32_t last =
      emit_steps(reword, type_of(reword, word[3]), word[3], word + 4, count, types, ids);
  EMIT(reword->out, OP_COMPOSITE_EXTRACT, word[1], word[2], last, word[3 + count]);
  return true;
}

/* OpCompositeInsert type result object composite member... */
static bool reword_insert(struct reword *reword, const uint32_t *word) {
  const size_t count = spirv_instruction_at(word).length - 5;
  uint32_t types[LEVELS_MAX], ids[LEVELS_MAX], object = word[3];
  if (count < 2 || count > LEVELS_MAX)
    return false;
  emit_steps(reword, word[1], word[4], word + 5, count, types, ids);
  for (size_t i = count; i-- > 0;) {
    const uint32_t whole = i ? reword->bound++ : word[2];
    EMIT(reword->out, OP_COMPOSITE_INSERT, types[i], whole, object, ids[i], word[5 + i]);
    object = whole;
  }
  return true;
}

/* Copies a value to a type whose members have corresponding types. */
static bool emit_copy(struct reword *reword, uint32_t to_type, uint32_t result, uint32_t from_type,
                      uint32_t value, unsigned level) {
  const uint32_t count = member_count(reword, to_type);
  if (!count || count != member_count(reword, from_type) || level == LEVELS_MAX ||
      reword->out->failed)
    return false;
  uint32_t *members = malloc(count * sizeof *members);
  bool done = members != NULL;
  for (uint32_t i = 0; done && i < count; i++) {
    const uint32_t to = member_type(reword, to_type, i), from = member_type(reword, from_type, i);
    const uint32_t member = members[i] = reword->bound++;
    EMIT(reword->out, OP_COMPOSITE_EXTRACT, from, member, value, i);
    if (to != from) {
      members[i] = reword->bound++;
      done = emit_copy(reword, to, members[i], from, member, level + 1);
    }
  }
  if (done)
    emit_construct(reword, to_type, result, members, count);
  free(members);
  return done;
}

/* OpCopyLogical type result value. */
static bool reword_logical_copy(struct reword *reword, const uint32_t *word) {
  const size_t start = reword->out->count;
  const bool done = emit_copy(reword, word[1], word[2], type_of(reword, word[3]), word[3], 0);
  if (!done)
    reword->out->count = start;
  return done;
}

/* OpVectorShuffle type result vector vector lane... The translator requires both vectors
 * to have the same type. The lane 0xffffffff is undefined. */
static bool reword_shuffle(struct reword *reword, const uint32_t *word) {
  enum { LANES = 5 };
  const size_t count = spirv_instruction_at(word).length - LANES;
  const uint32_t lanes = lanes_of(reword, type_of(reword, word[3]));
  const uint32_t others = lanes_of(reword, type_of(reword, word[4]));
  uint32_t picked[LANES_MAX];
  if (!lanes || lanes == others || count > LANES_MAX || !lanes_of(reword, word[1]))
    return false;
  for (size_t i = 0; i < count; i++) {
    const uint32_t wanted = word[LANES + i] < lanes + others ? word[LANES + i] : 0;
    const bool is_first = wanted < lanes;
    picked[i] = reword->bound++;
    EMIT(reword->out, OP_COMPOSITE_EXTRACT, definition(reword, word[1])[2], picked[i],
         word[is_first ? 3 : 4], wanted - (is_first ? 0 : lanes));
  }
  emit_construct(reword, word[1], word[2], picked, count);
  return true;
}

/* OpExpectKHR type result value expected. A hint, which LLVM supports only for scalars. */
static bool reword_hint(struct reword *reword, const uint32_t *word) {
  if (!lanes_of(reword, word[1]))
    return false;
  EMIT(reword->out, OP_COPY_OBJECT, word[1], word[2], word[3]);
  return true;
}

/* Removes the hint Nontemporal from the image operands. */
static bool reword_image(struct reword *reword, const uint32_t *word) {
  enum { NONTEMPORAL = 0x4000, WRITE_OPERANDS = 4, OTHER_OPERANDS = 5 };
  const struct spirv_instruction instruction = spirv_instruction_at(word);
  const size_t operands = instruction.opcode == OP_IMAGE_WRITE ? WRITE_OPERANDS : OTHER_OPERANDS;
  if (instruction.length <= operands || !(word[operands] & NONTEMPORAL))
    return false;
  const uint32_t first = word[operands] & ~(uint32_t)NONTEMPORAL;
  words_add(reword->out, word, operands);
  words_add(reword->out, &first, 1);
  if (instruction.length > operands + 1)
    words_add(reword->out, word + operands + 1, instruction.length - operands - 1);
  return true;
}

/* ---- clocks -------------------------------------------------------------------------- */

/* Returns the id of the function for OpReadClockKHR type result scope, or NULL if the extension
 * does not allow the type or scope. The module has been validated. */
static uint32_t *find_clock(struct reword *reword, const uint32_t *word) {
  const uint32_t *scope = definition(reword, word[3]);
  const bool is_pair = lanes_of(reword, word[1]) == 2 &&
                       bits_of(reword, definition(reword, word[1])[2]) == WORD_BITS;
  if (!is_made_by(scope, OP_CONSTANT, 4) || scope[3] < SCOPE_DEVICE || scope[3] > SCOPE_SUBGROUP ||
      (!is_pair && bits_of(reword, word[1]) != WIDE_BITS))
    return NULL;
  return &reword->clocks[(scope[3] - SCOPE_DEVICE) * CLOCK_TYPES + is_pair];
}

/* Returns the id of the function for OpAtomicFAddEXT type result pointer scope semantics value
 * on halves, according to the storage class, or NULL for other types. */
static uint32_t *find_half_sum(struct reword *reword, const uint32_t *word) {
  static const uint32_t classes[HALF_SUMS] = {STORAGE_WORKGROUP, STORAGE_CROSS_WORKGROUP,
                                              STORAGE_GENERIC};
  const uint32_t *pointer = definition(reword, type_of(reword, word[3]));
  if (bits_of(reword, word[1]) != HALF_BITS || !is_made_by(pointer, OP_TYPE_POINTER, 4))
    return NULL;
  for (size_t i = 0; i < HALF_SUMS; i++)
    if (pointer[2] == classes[i])
      return &reword->half_sums[i];
  return NULL;
}

/* Declares a device library function as an import. Returns its id. */
static uint32_t declare(struct reword *reword, const char *name, uint32_t type,
                        const uint32_t *parameters, size_t count) {
  enum { NAME_WORDS = 10, IMPORT = 1, PARAMETERS_MAX = 2 };
  const size_t words = strlen(name) / sizeof(uint32_t) + 1;
  const uint32_t id = reword->bound++, function_type = reword->bound++;
  uint32_t operands[2 + NAME_WORDS + 1] = {id, DECORATION_LINKAGE_ATTRIBUTES};
  memcpy(operands + 2, name, strlen(name));
  operands[2 + words] = IMPORT;
  words_emit(&reword->before, OP_DECORATE, operands, 2 + words + 1);
  uint32_t types[2 + PARAMETERS_MAX] = {function_type, type};
  if (count)
    memcpy(types + 2, parameters, count * sizeof *parameters);
  words_emit(&reword->functions, OP_TYPE_FUNCTION, types, 2 + count);
  EMIT(&reword->functions, OP_FUNCTION, type, id, 0, function_type);
  for (size_t i = 0; i < count; i++) {
    const uint32_t parameter = reword->bound++;
    EMIT(&reword->functions, OP_FUNCTION_PARAMETER, parameters[i], parameter);
  }
  words_emit(&reword->functions, OP_FUNCTION_END, NULL, 0);
  return id;
}

/* Declares the functions that the module needs. */
static void declare_functions(struct reword *reword) {
  static const char *const clocks[CLOCKS] = {
      "_Z17clock_read_devicev",     "_Z22clock_read_hilo_devicev",
      "_Z21clock_read_work_groupv", "_Z26clock_read_hilo_work_groupv",
      "_Z20clock_read_sub_groupv",  "_Z25clock_read_hilo_sub_groupv",
  };
  static const char *const half_sums[HALF_SUMS] = {
      "_Z16tegracl_add_halfPU3AS3DhDh",
      "_Z16tegracl_add_halfPU3AS1DhDh",
      "_Z16tegracl_add_halfPU3AS4DhDh",
  };
  for (size_t at = SPIRV_HEADER_WORDS, length; at < reword->count; at += length) {
    const uint32_t *word = reword->words + at;
    length = spirv_instruction_at(word).length;
    uint32_t *clock = is_made_by(word, OP_READ_CLOCK, 4) ? find_clock(reword, word) : NULL;
    uint32_t *sum = is_made_by(word, OP_ATOMIC_F_ADD, 7) ? find_half_sum(reword, word) : NULL;
    if (clock && !*clock)
      *clock = declare(reword, clocks[clock - reword->clocks], word[1], NULL, 0);
    if (sum && !*sum)
      *sum = declare(reword, half_sums[sum - reword->half_sums], word[1],
                     (const uint32_t[]){type_of(reword, word[3]), word[1]}, 2);
  }
}

static bool reword_sum(struct reword *reword, const uint32_t *word) {
  const uint32_t *id = find_half_sum(reword, word);
  if (!id)
    return false;
  EMIT(reword->out, OP_FUNCTION_CALL, word[1], word[2], *id, word[3], word[6]);
  return true;
}

/* OpReadClockKHR type result scope. */
static bool reword_clock(struct reword *reword, const uint32_t *word) {
  const uint32_t *id = find_clock(reword, word);
  if (!id)
    return false;
  EMIT(reword->out, OP_FUNCTION_CALL, word[1], word[2], *id);
  return true;
}

static bool drop_extension(struct reword *reword, const uint32_t *word) {
  static const char *const names[] = {"SPV_KHR_shader_clock", "SPV_EXT_shader_atomic_float16_add",
                                      SPIRV_EXTENSION_EQUAL_TYPES};
  (void)reword;
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    const size_t size = strlen(names[i]) + 1;
    if ((spirv_instruction_at(word).length - 1) * sizeof *word >= size &&
        !memcmp(word + 1, names[i], size))
      return true;
  }
  return false;
}

/* ---- modules ------------------------------------------------------------------------- */

/* Drops OpCapability UniformDecoration, which is a hint, and the capabilities ShaderClockKHR
 * and AtomicFloat16AddEXT, whose instructions become function calls.
 */
static bool reword_capability(struct reword *reword, const uint32_t *word) {
  enum { UNIFORM_DECORATION = 71 };
  const bool calls = word[1] == CAPABILITY_SHADER_CLOCK || word[1] == CAPABILITY_ATOMIC_FLOAT16_ADD;
  if (calls)
    EMIT(reword->out, OP_CAPABILITY, CAPABILITY_LINKAGE);
  return calls || word[1] == UNIFORM_DECORATION;
}

/* Drops OpDecorate id Uniform, which is a hint. */
static bool drop_uniform(struct reword *reword, const uint32_t *word) {
  (void)reword;
  return word[2] == DECORATION_UNIFORM;
}

/* Drops UserSemantic and UniformId, which do not affect the code. */
static bool drop(struct reword *reword, const uint32_t *word) {
  (void)reword, (void)word;
  return true;
}

/* The replaced instructions, with their minimum lengths. If the
 * function returns false, the instruction is kept. */
static const struct {
  enum spirv_opcode opcode;
  size_t length;
  bool (*reword)(struct reword *reword, const uint32_t *word);
} rules[] = {
    {OP_CONSTANT_NULL, 3, reword_null},
    {OP_COPY_MEMORY, 3, reword_copy},
    {OP_COPY_LOGICAL, 4, reword_logical_copy},
    {OP_PTR_EQUAL, 5, reword_comparison},
    {OP_PTR_NOT_EQUAL, 5, reword_comparison},
    {OP_PTR_DIFF, 5, reword_difference},
    {OP_COMPOSITE_CONSTRUCT, 4, reword_construct},
    {OP_COMPOSITE_EXTRACT, 5, reword_extract},
    {OP_COMPOSITE_INSERT, 6, reword_insert},
    {OP_VECTOR_SHUFFLE, 6, reword_shuffle},
    {OP_EXPECT, 5, reword_hint},
    {OP_BITCAST, 4, reword_bitcast},
    {OP_IMAGE_SAMPLE_EXPLICIT_LOD, 6, reword_image},
    {OP_IMAGE_FETCH, 5, reword_image},
    {OP_IMAGE_READ, 5, reword_image},
    {OP_IMAGE_WRITE, 4, reword_image},
    {OP_DECORATE, 3, drop_uniform},
    {OP_CAPABILITY, 2, reword_capability},
    {OP_EXTENSION, 2, drop_extension},
    {OP_READ_CLOCK, 4, reword_clock},
    {OP_ATOMIC_F_ADD, 7, reword_sum},
    {OP_DECORATE_ID, 3, drop},
    {OP_DECORATE_STRING, 3, drop},
    {OP_MEMBER_DECORATE_STRING, 4, drop},
};

static bool reword_one(struct reword *reword, const uint32_t *word) {
  const struct spirv_instruction instruction = spirv_instruction_at(word);
  for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++)
    if (rules[i].opcode == instruction.opcode && rules[i].length <= instruction.length)
      return rules[i].reword(reword, word);
  return false;
}

static void reword_all(struct reword *reword) {
  reword->out = &reword->before;
  words_add(reword->out, reword->words, SPIRV_HEADER_WORDS);
  if (!reword->out->failed && spirv_minor(reword->words) > TRANSLATOR_MINOR_MAX)
    reword->out->data[SPIRV_VERSION_WORD] = 1 << MAJOR_SHIFT | TRANSLATOR_MINOR_MAX
                                                                   << SPIRV_MINOR_SHIFT;
  for (size_t at = SPIRV_HEADER_WORDS, length; at < reword->count; at += length) {
    const struct spirv_instruction instruction = spirv_instruction_at(reword->words + at);
    length = instruction.length;
    const bool is_type =
        instruction.opcode >= OP_TYPE_BOOL - 1 && instruction.opcode <= OP_TYPE_FUNCTION;
    if (is_type && !reword->decorated) {
      declare_functions(reword);
      reword->decorated = true;
    }
    if (instruction.opcode == OP_FUNCTION)
      reword->out = &reword->functions;
    if (!reword_one(reword, reword->words + at))
      words_add(reword->out, reword->words + at, length);
  }
  if (reword->functions.count)
    words_add(&reword->before, reword->functions.data, reword->functions.count);
}

bool spirv_reword(uint32_t **words, size_t *count) {
  struct reword reword = {.words = *words, .count = *count};
  reword.bound = reword.old_bound = reword.words[SPIRV_BOUND_WORD];
  reword.type_of = calloc(reword.bound, sizeof *reword.type_of);
  reword.place_of = calloc(reword.bound, sizeof *reword.place_of);
  if (reword.type_of && reword.place_of) {
    find_results(&reword);
    reword_all(&reword);
  }
  free(reword.type_of);
  free(reword.place_of);
  free(reword.functions.data);
  if (!reword.before.data || reword.before.failed || reword.functions.failed) {
    free(reword.before.data);
    return false;
  }
  reword.before.data[SPIRV_BOUND_WORD] = reword.bound;
  free(*words);
  *words = reword.before.data;
  *count = reword.before.count;
  return true;
}
