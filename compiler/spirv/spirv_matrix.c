/* Replaces cooperative matrices (SPV_KHR_cooperative_matrix), which spirv-val and llvm-spirv 15 do
 * not support. A matrix becomes the vector of the elements that a work-item holds; loads, stores
 * and products become calls of the functions in device/matrix.cuh. Matrix types with equal vectors
 * stay separate types, which spirv-val therefore does not mix up. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/spirv/spirv_matrix.h"

enum { NAME_MAX_BYTES = 80, PARAMETERS_MAX = 4, FUNCTIONS_MAX = 96, NUMBERS = 129 };

/* A function of the device library that the module calls. */
struct function {
  char name[NAME_MAX_BYTES]; /* mangled */
  uint32_t id, type;         /* of the result */
  uint32_t parameters[PARAMETERS_MAX];
};

struct rewording {
  struct matrices m;
  uint32_t bound;
  uint32_t numbers[NUMBERS]; /* ids of constants, by value; 0 if not yet declared */
  struct function functions[FUNCTIONS_MAX];
  size_t function_count;
  /* The new module: what precedes its types, decorations, types and constants, declarations of
   * functions, functions. */
  struct words head, decorations, types, declarations, bodies;
  struct words *out; /* one of them */
};

/* ---- what the calls need ------------------------------------------------------------- */

/* Returns a constant of the type m.integer_type. */
static uint32_t number(struct rewording *r, uint32_t value) {
  if (!r->numbers[value]) {
    r->numbers[value] = r->bound++;
    EMIT(&r->types, OP_CONSTANT, r->m.integer_type, r->numbers[value], value);
  }
  return r->numbers[value];
}

static uint32_t void_type(struct rewording *r) {
  if (!r->m.void_type) {
    r->m.void_type = r->bound++;
    EMIT(&r->types, OP_TYPE_VOID, r->m.void_type);
  }
  return r->m.void_type;
}

static uint32_t pointer_type(struct rewording *r, uint32_t storage, uint32_t element) {
  const uint32_t id = r->bound++;
  EMIT(&r->types, OP_TYPE_POINTER, id, storage, element);
  return id;
}

static void declare(struct rewording *r, const struct function *function, size_t count) {
  enum { IMPORT = 1 };
  const size_t bytes = strlen(function->name), words = bytes / sizeof(uint32_t) + 1;
  uint32_t name[2 + NAME_MAX_BYTES / sizeof(uint32_t) + 1] = {function->id,
                                                              DECORATION_LINKAGE_ATTRIBUTES};
  memcpy(name + 2, function->name, bytes);
  name[2 + words] = IMPORT;
  words_emit(&r->decorations, OP_DECORATE, name, 2 + words + 1);
  uint32_t types[2 + PARAMETERS_MAX] = {r->bound++, function->type};
  memcpy(types + 2, function->parameters, count * sizeof *types);
  words_emit(&r->types, OP_TYPE_FUNCTION, types, 2 + count);
  EMIT(&r->declarations, OP_FUNCTION, function->type, function->id, 0, types[0]);
  for (size_t i = 0; i < count; i++) {
    const uint32_t parameter = r->bound++;
    EMIT(&r->declarations, OP_FUNCTION_PARAMETER, function->parameters[i], parameter);
  }
  words_emit(&r->declarations, OP_FUNCTION_END, NULL, 0);
}

/* Returns the function with the name, which it declares at the first time. A parameter of type 0
 * gets that of a pointer in storage to element. */
static const struct function *find_function(struct rewording *r, const char *name, uint32_t type,
                                            const uint32_t *parameters, size_t count,
                                            uint32_t storage, uint32_t element) {
  for (size_t i = 0; i < r->function_count; i++)
    if (!strcmp(r->functions[i].name, name))
      return &r->functions[i];
  struct function *function = &r->functions[r->function_count++];
  memcpy(function->name, name, strlen(name) + 1);
  function->id = r->bound++;
  function->type = type;
  for (size_t i = 0; i < count; i++)
    function->parameters[i] = parameters[i] ? parameters[i] : pointer_type(r, storage, element);
  declare(r, function, count);
  return function;
}

/* ---- values -------------------------------------------------------------------------- */

/* Converts a value to a type with the same bits. spirv-val demands an equal type. */
static uint32_t cast(struct rewording *r, uint32_t value, uint32_t from, uint32_t to) {
  if (from == to)
    return value;
  const uint32_t id = r->bound++;
  EMIT(r->out, OP_BITCAST, to, id, value);
  return id;
}

/* Emits a call whose result has the given type. */
static void call(struct rewording *r, const struct function *function, uint32_t type,
                 uint32_t result, const uint32_t *arguments, size_t count) {
  uint32_t operands[3 + PARAMETERS_MAX] = {
      function->type, function->type == type ? result : r->bound++, function->id};
  memcpy(operands + 3, arguments, count * sizeof *operands);
  words_emit(r->out, OP_FUNCTION_CALL, operands, 3 + count);
  if (function->type != type)
    EMIT(r->out, OP_BITCAST, type, result, operands[1]);
}

/* Returns the stride in elements of the matrix. The module's is in units of what the pointer
 * points to. */
static uint32_t stride_in_elements(struct rewording *r, uint32_t stride, uint32_t pointer,
                                   unsigned bits) {
  enum { BYTE_BITS = 8, INTEGER_BITS = 32 };
  const uint32_t bytes = matrix_pointee_bytes(&r->m, pointer), element = bits / BYTE_BITS;
  const uint32_t type = r->m.integer_type;
  if (matrix_bits(&r->m, matrix_type_id(&r->m, stride)) != INTEGER_BITS) {
    const uint32_t narrow = r->bound++;
    EMIT(r->out, OP_U_CONVERT, type, narrow, stride);
    stride = narrow;
  }
  if (bytes == element)
    return stride;
  const uint32_t factor = number(r, bytes > element ? bytes / element : element / bytes);
  const uint32_t scaled = r->bound++;
  EMIT(r->out, bytes > element ? OP_I_MUL : OP_U_DIV, type, scaled, stride, factor);
  return scaled;
}

/* Emits OpUndef, OpConstantComposite or OpCompositeConstruct of a matrix with equal elements. */
static void splat(struct rewording *r, enum spirv_opcode opcode, uint32_t type, uint32_t result,
                  uint32_t element) {
  enum { LENGTH_MAX = 16 };
  uint32_t operands[2 + LENGTH_MAX] = {type, result};
  const unsigned length = matrix_length(matrix_kind(&r->m, type));
  for (unsigned i = 0; i < length; i++)
    operands[2 + i] = element;
  words_emit(r->out, opcode, operands, 2 + length);
}

/* ---- instructions -------------------------------------------------------------------- */

/* Loads and stores. object is the matrix to store, or 0. */
static void reword_access(struct rewording *r, const uint32_t *word, uint32_t matrix_type,
                          uint32_t object, size_t pointer, size_t layout, size_t stride) {
  enum { MATRIX_ALIGNED = 2, MATRIX_STRIDE_8 = 4 }; /* of device/matrix.cuh */
  const struct matrix_type *kind = matrix_kind(&r->m, matrix_type);
  const uint32_t from = matrix_type_id(&r->m, word[pointer]);
  const uint32_t storage = matrix_definition(&r->m, from)[2];
  const uint32_t element = matrix_definition(&r->m, matrix_type)[2];
  const uint32_t integer = r->m.integer_type;
  const unsigned space = storage == STORAGE_WORKGROUP ? 3 : 1, length = matrix_length(kind);
  char base[NAME_MAX_BYTES / 2], name[NAME_MAX_BYTES];
  snprintf(base, sizeof base, "tegracl_matrix_%s_%s", object ? "store" : "load", kind->name);
  if (object)
    snprintf(name, sizeof name, "_Z%zu%sPU3AS%u%sDv%u_%sjj", strlen(base), base, space,
             kind->mangle, length, kind->mangle);
  else
    snprintf(name, sizeof name, "_Z%zu%sPU3AS%uK%sjj", strlen(base), base, space, kind->mangle);
  const uint32_t load[] = {0, integer, integer}, store[] = {0, matrix_type, integer, integer};
  const struct function *function =
      object ? find_function(r, name, void_type(r), store, 4, storage, element)
             : find_function(r, name, matrix_type, load, 3, storage, element);
  uint32_t order = 0;
  matrix_number(&r->m, word[layout], &order);
  const uint32_t address = cast(r, word[pointer], from, function->parameters[0]);
  const uint32_t step = stride_in_elements(r, word[stride], word[pointer], kind->bits);
  const uint32_t constant = number(r, order | MATRIX_ALIGNED | MATRIX_STRIDE_8);
  if (object)
    call(r, function, function->type, r->bound++,
         (const uint32_t[]){address, cast(r, object, matrix_type, function->parameters[1]),
                            constant, step},
         4);
  else
    call(r, function, matrix_type, word[2], (const uint32_t[]){address, constant, step}, 3);
}

static const char *operand_mangle(enum cc_component component) {
  switch (component) {
  case CC_FP16:
    return "Dh";
  case CC_FP32:
    return "f";
  case CC_SINT8:
    return "c";
  case CC_UINT8:
    return "h";
  default:
    return "i"; /* the bits of a sum are the same for both signs */
  }
}

static void reword_product(struct rewording *r, const uint32_t *word) {
  const struct cc_matrix_product *product = matrix_product(&r->m, word);
  const struct matrix_type *kinds[3];
  uint32_t types[3], arguments[3];
  char name[NAME_MAX_BYTES];
  const char *const base = product->a == CC_FP16 ? "22tegracl_matrix_mad_f16"
                           : product->saturates  ? "25tegracl_matrix_mad_sat_i8"
                                                 : "21tegracl_matrix_mad_i8";
  for (size_t i = 0; i < 3; i++) {
    types[i] = matrix_type_id(&r->m, word[PRODUCT_A + i]);
    kinds[i] = matrix_kind(&r->m, types[i]);
  }
  snprintf(name, sizeof name, "_Z%sDv%u_%sDv%u_%sDv%u_%s", base, matrix_length(kinds[0]),
           operand_mangle(product->a), matrix_length(kinds[1]), operand_mangle(product->b),
           matrix_length(kinds[2]), operand_mangle(product->c));
  const struct function *function = find_function(r, name, word[1], types, 3, 0, 0);
  for (size_t i = 0; i < 3; i++)
    arguments[i] = cast(r, word[PRODUCT_A + i], types[i], function->parameters[i]);
  call(r, function, word[1], word[2], arguments, 3);
}

static void reword_scaling(struct rewording *r, const uint32_t *word) {
  if (matrix_kind(&r->m, word[1])->is_float) {
    EMIT(r->out, OP_VECTOR_TIMES_SCALAR, word[1], word[2], word[3], word[4]);
    return;
  }
  const uint32_t factors = r->bound++;
  splat(r, OP_COMPOSITE_CONSTRUCT, word[1], factors, word[4]);
  EMIT(r->out, OP_I_MUL, word[1], word[2], word[3], factors);
}

static bool is_extension(const uint32_t *word) {
  static const char name[] = "SPV_KHR_cooperative_matrix";
  const struct spirv_instruction instruction = spirv_instruction_at(word);
  return instruction.opcode == OP_EXTENSION &&
         (instruction.length - 1) * sizeof *word >= sizeof name &&
         !memcmp(word + 1, name, sizeof name);
}

static void put_extension(struct words *out) {
  static const char name[] = SPIRV_EXTENSION_EQUAL_TYPES;
  uint32_t words[(sizeof name + sizeof(uint32_t) - 1) / sizeof(uint32_t)] = {0};
  memcpy(words, name, sizeof name);
  words_emit(out, OP_EXTENSION, words, sizeof words / sizeof *words);
}

/* Emits what replaces an instruction. Returns false if it is kept. */
static bool reword(struct rewording *r, const uint32_t *word) {
  const struct spirv_instruction instruction = spirv_instruction_at(word);
  const struct matrix_type *kind = instruction.length > 3 ? matrix_kind(&r->m, word[1]) : NULL;
  switch (instruction.opcode) {
  case OP_CAPABILITY:
    if (instruction.length < 2 || word[1] != CAPABILITY_COOPERATIVE_MATRIX)
      return false;
    EMIT(r->out, OP_CAPABILITY, CAPABILITY_LINKAGE);
    EMIT(r->out, OP_CAPABILITY, CAPABILITY_VECTOR16);
    return true;
  case OP_EXTENSION:
    if (is_extension(word))
      put_extension(r->out);
    return is_extension(word);
  case OP_TYPE_MATRIX:
    if (matrix_kind(&r->m, word[1]))
      EMIT(r->out, OP_TYPE_VECTOR, word[1], word[2], matrix_length(matrix_kind(&r->m, word[1])));
    else /* only declared; what it is does not matter */
      EMIT(r->out, OP_TYPE_STRUCT, word[1], word[2]);
    return true;
  case OP_CONSTANT_COMPOSITE:
  case OP_SPEC_CONSTANT_COMPOSITE:
  case OP_COMPOSITE_CONSTRUCT:
    if (kind)
      splat(r, instruction.opcode, word[1], word[2], word[3]);
    return kind;
  case OP_SPEC_CONSTANT_OP:
    if (!matrix_is_constant_length(word))
      return false;
    EMIT(r->out, OP_CONSTANT, word[1], word[2], matrix_length(matrix_kind(&r->m, word[4])));
    return true;
  case OP_MATRIX_LENGTH:
    EMIT(&r->types, OP_CONSTANT, word[1], word[2], matrix_length(matrix_kind(&r->m, word[3])));
    return true;
  case OP_MATRIX_LOAD:
    reword_access(r, word, word[1], 0, LOAD_POINTER, LOAD_LAYOUT, LOAD_STRIDE);
    return true;
  case OP_MATRIX_STORE:
    reword_access(r, word, matrix_type_id(&r->m, word[STORE_OBJECT]), word[STORE_OBJECT],
                  STORE_POINTER, STORE_LAYOUT, STORE_STRIDE);
    return true;
  case OP_MATRIX_MUL_ADD:
    reword_product(r, word);
    return true;
  case OP_MATRIX_TIMES_SCALAR:
    if (kind)
      reword_scaling(r, word);
    return kind;
  default:
    return false;
  }
}

/* ---- modules ------------------------------------------------------------------------- */

static bool is_type_or_constant(enum spirv_opcode opcode) {
  return (opcode >= OP_TYPE_VOID && opcode <= OP_SPEC_CONSTANT_OP) || opcode == OP_TYPE_MATRIX ||
         opcode == OP_VARIABLE || opcode == OP_UNDEF;
}

static void reword_all(struct rewording *r) {
  r->out = &r->head;
  words_add(r->out, r->m.words, SPIRV_HEADER_WORDS);
  for (size_t at = SPIRV_HEADER_WORDS, length; at < r->m.count; at += length) {
    const struct spirv_instruction instruction = spirv_instruction_at(r->m.words + at);
    length = instruction.length;
    if (r->out == &r->head && is_type_or_constant(instruction.opcode))
      r->out = &r->types;
    if (instruction.opcode == OP_FUNCTION)
      r->out = &r->bodies;
    if (!reword(r, r->m.words + at))
      words_add(r->out, r->m.words + at, length);
  }
  struct words *const parts[] = {&r->decorations, &r->types, &r->declarations, &r->bodies};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
    r->head.failed |= parts[i]->failed;
    if (parts[i]->count)
      words_add(&r->head, parts[i]->data, parts[i]->count);
  }
}

/* Whether the module uses or declares matrices. */
static bool has_matrices(const uint32_t *words, size_t count) {
  for (size_t at = SPIRV_HEADER_WORDS; at < count; at += spirv_instruction_at(words + at).length) {
    const struct spirv_instruction instruction = spirv_instruction_at(words + at);
    if (instruction.opcode == OP_CAPABILITY && instruction.length > 1 &&
        words[at + 1] == CAPABILITY_COOPERATIVE_MATRIX)
      return true;
  }
  return false;
}

static bool declares_extension(const uint32_t *words, size_t count) {
  for (size_t at = SPIRV_HEADER_WORDS; at < count; at += spirv_instruction_at(words + at).length)
    if (is_extension(words + at))
      return true;
  return false;
}

enum cc_status spirv_matrices(uint32_t **words, size_t *count, struct text *log) {
  if (!has_matrices(*words, *count))
    return CC_OK;
  if (!declares_extension(*words, *count)) {
    text_puts(log, "error: the capability CooperativeMatrixKHR requires the extension "
                   "SPV_KHR_cooperative_matrix\n");
    return CC_BUILD_FAILURE;
  }
  enum cc_status status = CC_OUT_OF_MEMORY;
  const uint32_t bound = (*words)[SPIRV_BOUND_WORD];
  struct rewording *r = calloc(1, sizeof *r);
  if (!r)
    return status;
  r->m = (struct matrices){.words = *words, .count = *count, .log = log, .old_bound = bound};
  r->bound = bound;
  r->m.place_of = calloc(bound, sizeof *r->m.place_of);
  r->m.type_of = calloc(bound, sizeof *r->m.type_of);
  r->m.kind = calloc(bound, sizeof *r->m.kind);
  r->m.use = calloc(bound, sizeof *r->m.use);
  r->m.holds = calloc(bound, sizeof *r->m.holds);
  if (r->m.place_of && r->m.type_of && r->m.kind && r->m.use && r->m.holds) {
    status = matrix_check(&r->m) ? CC_OK : CC_BUILD_FAILURE;
    if (status == CC_OK)
      reword_all(r);
    if (r->head.failed)
      status = CC_OUT_OF_MEMORY;
  }
  if (status == CC_OK) {
    r->head.data[SPIRV_BOUND_WORD] = r->bound;
    free(*words);
    *words = r->head.data;
    *count = r->head.count;
    r->head.data = NULL;
  }
  free(r->head.data);
  free(r->decorations.data);
  free(r->types.data);
  free(r->declarations.data);
  free(r->bodies.data);
  free(r->m.place_of);
  free(r->m.type_of);
  free(r->m.kind);
  free(r->m.use);
  free(r->m.holds);
  free(r);
  return status;
}
