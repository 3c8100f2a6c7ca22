/* Checks the use of cooperative matrices (SPV_KHR_cooperative_matrix, and the environment of the
 * draft cl_khr_cooperative_matrix). spirv-val later gets a module in which each matrix type is a
 * separate vector type. So it compares the types of operands where an instruction demands equal
 * ones; this file checks the rest. */
#include <string.h>

#include "compiler/spirv/spirv_matrix.h"

static const struct matrix_type kinds[] = {
    {USE_A, true, 16, 16, 16, "a_f16", "Dh"},
    {USE_A, true, 16, 16, 8, "a_f16_16x8", "Dh"},
    {USE_A, false, 8, 16, 32, "a_s8", "c"},
    {USE_B, true, 16, 16, 16, "b_f16", "Dh"},
    {USE_B, true, 16, 16, 8, "b_f16_16x8", "Dh"},
    {USE_B, true, 16, 8, 8, "b_f16_8x8", "Dh"},
    {USE_B, false, 8, 32, 16, "b_s8", "c"},
    {USE_B, false, 8, 32, 8, "b_s8_32x8", "c"},
    {USE_ACCUMULATOR, true, 16, 16, 16, "c_f16", "Dh"},
    {USE_ACCUMULATOR, true, 32, 16, 16, "c_f32", "f"},
    {USE_ACCUMULATOR, false, 32, 16, 16, "c_s32", "i"},
    {USE_ACCUMULATOR, true, 16, 16, 8, "c_f16_16x8", "Dh"},
    {USE_ACCUMULATOR, true, 32, 16, 8, "c_f32_16x8", "f"},
    {USE_ACCUMULATOR, false, 32, 16, 8, "c_s32_16x8", "i"},
};

enum { INTEGER_BITS = 32 }; /* of constants */

static const char *const use_names[] = {"A", "B", "accumulator"};

static __attribute__((format(printf, 2, 3))) bool refuse(const struct matrices *m,
                                                         const char *format, ...) {
  va_list arguments;
  text_puts(m->log, "error: cooperative matrices: ");
  va_start(arguments, format);
  text_vprintf(m->log, format, arguments);
  va_end(arguments);
  text_puts(m->log, "\n");
  return false;
}

/* ---- definitions --------------------------------------------------------------------- */

uint32_t matrix_bits(const struct matrices *m, uint32_t type) {
  const uint32_t *word = matrix_definition(m, type);
  return matrix_is_made_by(word, OP_TYPE_INT, 4) || matrix_is_made_by(word, OP_TYPE_FLOAT, 3)
             ? word[2]
             : 0;
}

static bool is_integer(const struct matrices *m, uint32_t type) {
  return matrix_is_made_by(matrix_definition(m, type), OP_TYPE_INT, 4);
}

bool matrix_number(const struct matrices *m, uint32_t id, uint32_t *value) {
  const uint32_t *word = matrix_definition(m, id);
  if ((!matrix_is_made_by(word, OP_CONSTANT, 4) && !matrix_is_made_by(word, OP_SPEC_CONSTANT, 4)) ||
      !is_integer(m, word[1]) || matrix_bits(m, word[1]) != INTEGER_BITS)
    return false;
  *value = word[3];
  return true;
}

uint32_t matrix_pointee_bytes(const struct matrices *m, uint32_t pointer) {
  enum { BYTE_BITS = 8, WIDEST = 64, LANES_MAX = 16, THREE = 3, FOUR = 4 };
  const uint32_t *type = matrix_definition(m, matrix_type_id(m, pointer));
  if (!matrix_is_made_by(type, OP_TYPE_POINTER, 4))
    return 0;
  const uint32_t *vector = matrix_definition(m, type[3]);
  const bool is_vector = matrix_is_made_by(vector, OP_TYPE_VECTOR, 4);
  const uint32_t bits = matrix_bits(m, is_vector ? vector[2] : type[3]);
  const uint32_t lanes = !is_vector ? 1 : vector[3] == THREE ? FOUR : vector[3];
  const bool is_power = !(bits & (bits - 1)) && !(lanes & (lanes - 1));
  return bits < BYTE_BITS || bits > WIDEST || lanes > LANES_MAX || !is_power
             ? 0
             : lanes * (bits / BYTE_BITS);
}

static bool find_definitions(struct matrices *m) {
  for (size_t at = SPIRV_HEADER_WORDS, length; at < m->count; at += length) {
    const uint32_t *word = m->words + at;
    const struct spirv_instruction instruction = spirv_instruction_at(word);
    length = instruction.length;
    const bool typed = spirv_has_type(instruction.opcode) && length > 2;
    const bool is_type =
        ((instruction.opcode >= OP_TYPE_VOID && instruction.opcode <= OP_TYPE_FUNCTION) ||
         instruction.opcode == OP_TYPE_MATRIX) &&
        length > 1;
    if ((!typed && !is_type) || word[typed ? 2 : 1] >= m->old_bound)
      continue;
    const uint32_t id = word[typed ? 2 : 1];
    if (m->place_of[id])
      return refuse(m, "the id %u is defined twice", id);
    m->place_of[id] = at;
    m->type_of[id] = typed ? word[1] : 0;
    if (!m->void_type && instruction.opcode == OP_TYPE_VOID)
      m->void_type = id;
    if (!m->integer_type && is_integer(m, id) && word[2] == INTEGER_BITS)
      m->integer_type = id;
  }
  return true;
}

/* ---- types --------------------------------------------------------------------------- */

/* OpTypeCooperativeMatrixKHR result component scope rows columns use. The device may lack types
 * that are only declared; check_declared refuses their use. */
static bool check_type(struct matrices *m, const uint32_t *word) {
  uint32_t scope, rows, columns, use;
  if (spirv_instruction_at(word).length != 7 || word[1] >= m->old_bound)
    return refuse(m, "a type is malformed");
  if (!matrix_number(m, word[3], &scope) || !matrix_number(m, word[4], &rows) ||
      !matrix_number(m, word[5], &columns) || !matrix_number(m, word[6], &use))
    return refuse(m, "the scope, rows, columns and use of type %u must be 32-bit constants",
                  word[1]);
  if (scope != SCOPE_SUBGROUP)
    return refuse(m, "type %u has the scope %u; it must be Subgroup (3)", word[1], scope);
  if (use > USE_ACCUMULATOR)
    return refuse(m, "type %u has the unknown use %u", word[1], use);
  const uint32_t bits = matrix_bits(m, word[2]);
  const bool is_float = !is_integer(m, word[2]);
  const struct matrix_type **kind = &m->kind[word[1]];
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (kinds[i].bits == bits && kinds[i].is_float == is_float && kinds[i].rows == rows &&
        kinds[i].columns == columns && (!*kind || kinds[i].use == (enum matrix_use)use))
      *kind = &kinds[i];
  m->holds[word[1]] = *kind;
  m->use[word[1]] = (uint8_t)use;
  return true;
}

/* Whether a type is one of matrices for the use that products may have. */
static bool is_for_use(const struct matrices *m, uint32_t type, enum matrix_use use) {
  const struct matrix_type *kind = matrix_kind(m, type);
  return kind && kind->use == use && m->use[type] == use;
}

/* Whether an id is not that of a matrix type that the device lacks. */
static bool check_declared(const struct matrices *m, uint32_t type) {
  const uint32_t *word = matrix_definition(m, type);
  uint32_t rows = 0, columns = 0, use = 0;
  if (!matrix_is_made_by(word, OP_TYPE_MATRIX, 7) || matrix_kind(m, type))
    return true;
  matrix_number(m, word[4], &rows);
  matrix_number(m, word[5], &columns);
  matrix_number(m, word[6], &use);
  return refuse(m,
                "type %u, %u rows and %u columns of %u-bit %s for use as %s, is not supported; "
                "clGetDeviceCooperativeMatrixInfoKHR returns what is",
                type, rows, columns, matrix_bits(m, word[2]),
                is_integer(m, word[2]) ? "integers" : "floats", use_names[use]);
}

/* Checks the types of which a type is made. */
static bool check_parts(const struct matrices *m, const uint32_t *word) {
  const struct spirv_instruction instruction = spirv_instruction_at(word);
  const bool has_many =
      instruction.opcode == OP_TYPE_STRUCT || instruction.opcode == OP_TYPE_FUNCTION;
  const size_t first = instruction.opcode == OP_TYPE_POINTER ? 3 : 2;
  const size_t end = has_many                                            ? instruction.length
                     : first == 3 || instruction.opcode == OP_TYPE_ARRAY ? first + 1
                                                                         : first;
  for (size_t i = first; i < end && i < instruction.length; i++)
    if (!check_declared(m, word[i]))
      return false;
  return true;
}

static bool holds(const struct matrices *m, uint32_t type) {
  return type < m->old_bound && m->holds[type];
}

static bool check_types(struct matrices *m) {
  for (size_t at = SPIRV_HEADER_WORDS, length; at < m->count; at += length) {
    const uint32_t *word = m->words + at;
    const struct spirv_instruction instruction = spirv_instruction_at(word);
    length = instruction.length;
    if (instruction.opcode == OP_TYPE_MATRIX && !check_type(m, word))
      return false;
    if (length < 3 || word[1] >= m->old_bound)
      continue;
    const size_t end = instruction.opcode == OP_TYPE_STRUCT  ? length
                       : instruction.opcode == OP_TYPE_ARRAY ? 3
                                                             : 0;
    for (size_t i = 2; i < end; i++)
      m->holds[word[1]] |= holds(m, word[i]);
  }
  return true;
}

/* OpTypePointer result class type. Variables with matrices are private to a work-item. */
static bool check_pointer(const struct matrices *m, const uint32_t *word) {
  if (!holds(m, word[3]) || word[2] == STORAGE_FUNCTION || word[2] == STORAGE_PRIVATE)
    return true;
  return refuse(m, "type %u points to matrices in storage class %u; it must be Function (7)",
                word[1], word[2]);
}

/* Whether an argument of this type is of matrices, or a pointer to a private copy of a struct that
 * has some, which is how kernels take structs. */
static bool passes_matrices(const struct matrices *m, uint32_t type) {
  const uint32_t *word = matrix_definition(m, type);
  return holds(m, type) || (matrix_is_made_by(word, OP_TYPE_POINTER, 4) &&
                            word[2] == STORAGE_FUNCTION && holds(m, word[3]));
}

/* OpEntryPoint model function name... */
static bool check_kernel(const struct matrices *m, const uint32_t *word) {
  enum { FUNCTION_TYPE = 4 };
  const uint32_t *function = matrix_definition(m, word[2]);
  if (!matrix_is_made_by(function, OP_FUNCTION, FUNCTION_TYPE + 1))
    return true;
  const uint32_t *type = matrix_definition(m, function[FUNCTION_TYPE]);
  for (size_t i = 3; matrix_is_made_by(type, OP_TYPE_FUNCTION, i + 1); i++)
    if (passes_matrices(m, type[i]))
      return refuse(m, "kernel %u has a matrix as its argument %zu, or in it", word[2], i - 3);
  return true;
}

/* ---- loads and stores ---------------------------------------------------------------- */

/* Checks the memory operands from index first on: Aligned and Nontemporal only. */
static bool check_memory_operands(const struct matrices *m, const uint32_t *word, size_t first) {
  enum { VOLATILE = 1, ALIGNED = 2, NONTEMPORAL = 4 };
  const size_t length = spirv_instruction_at(word).length;
  if (length <= first)
    return true;
  if (word[first] & VOLATILE)
    return refuse(m, "volatile accesses are not supported");
  if (word[first] & ~(uint32_t)(ALIGNED | NONTEMPORAL))
    return refuse(m, "the memory operands 0x%x are not supported", word[first]);
  return length == first + 1 + (word[first] & ALIGNED ? 1 : 0) ||
         refuse(m, "the memory operands of a load or store are malformed");
}

static bool check_access(const struct matrices *m, const uint32_t *word, size_t pointer,
                         size_t layout, size_t stride) {
  uint32_t order;
  if (spirv_instruction_at(word).length <= stride)
    return refuse(m, "a load or store has no stride, which its layout requires");
  const uint32_t *type = matrix_definition(m, matrix_type_id(m, word[pointer]));
  if (!matrix_is_made_by(type, OP_TYPE_POINTER, 4))
    return refuse(m, "%u, from which a matrix is loaded or to which it is stored, is no pointer",
                  word[pointer]);
  if (type[2] != STORAGE_WORKGROUP && type[2] != STORAGE_CROSS_WORKGROUP)
    return refuse(m,
                  "pointer %u has storage class %u; loads and stores require Workgroup (4) or "
                  "CrossWorkgroup (5)",
                  word[pointer], type[2]);
  if (!matrix_pointee_bytes(m, word[pointer]))
    return refuse(m, "pointer %u does not point to a number or a vector of numbers", word[pointer]);
  if (!matrix_number(m, word[layout], &order) || order > 1)
    return refuse(
        m, "the layout %u is not a constant 0 (RowMajorKHR) or 1 (ColumnMajorKHR) of 32 bits",
        word[layout]);
  if (!is_integer(m, matrix_type_id(m, word[stride])))
    return refuse(m, "the stride %u is not an integer", word[stride]);
  return check_memory_operands(m, word, stride + 1);
}

/* ---- products ------------------------------------------------------------------------ */

enum { SIGNED_A = 1, SIGNED_B = 2, SIGNED_C = 4, SIGNED_RESULT = 8, SATURATING = 16 };

/* Returns the component type that an element of this kind has in a product. */
static enum cc_component component(const struct matrix_type *kind, bool is_signed) {
  enum { BYTE_BITS = 8, HALF_BITS = 16 };
  if (kind->is_float)
    return kind->bits == HALF_BITS ? CC_FP16 : CC_FP32;
  if (kind->bits == BYTE_BITS)
    return is_signed ? CC_SINT8 : CC_UINT8;
  return is_signed ? CC_SINT32 : CC_UINT32;
}

const struct cc_matrix_product *matrix_product(const struct matrices *m, const uint32_t *word) {
  const struct matrix_type *a = matrix_of(m, word[PRODUCT_A]), *b = matrix_of(m, word[PRODUCT_B]);
  const struct matrix_type *c = matrix_of(m, word[PRODUCT_C]), *result = matrix_kind(m, word[1]);
  const uint32_t signs =
      spirv_instruction_at(word).length > PRODUCT_SIGNS ? word[PRODUCT_SIGNS] : 0;
  /* Floats have no bits in the mask, although they are signed. */
  const uint32_t known = (a->is_float ? 0 : SIGNED_A) | (b->is_float ? 0 : SIGNED_B) |
                         (c->is_float ? 0 : SIGNED_C) | (result->is_float ? 0 : SIGNED_RESULT) |
                         SATURATING;
  size_t count;
  const struct cc_matrix_product *products = cc_il_matrix_products(&count);
  for (size_t i = 0; i < count && !(signs & ~known); i++) {
    const struct cc_matrix_product *p = &products[i];
    if (a->rows == p->m && a->columns == p->k && b->rows == p->k && b->columns == p->n &&
        c->rows == p->m && c->columns == p->n && p->a == component(a, signs & SIGNED_A) &&
        p->b == component(b, signs & SIGNED_B) && p->c == component(c, signs & SIGNED_C) &&
        p->result == component(result, signs & SIGNED_RESULT) &&
        p->saturates == !!(signs & SATURATING))
      return p;
  }
  return NULL;
}

/* OpCooperativeMatrixMulAddKHR type result A B C [signs] */
static bool check_product(const struct matrices *m, const uint32_t *word) {
  const size_t length = spirv_instruction_at(word).length;
  if (length <= PRODUCT_C || length > PRODUCT_SIGNS + 1)
    return refuse(m, "an OpCooperativeMatrixMulAddKHR is malformed");
  const struct matrix_type *a = matrix_of(m, word[PRODUCT_A]), *b = matrix_of(m, word[PRODUCT_B]);
  const struct matrix_type *c = matrix_of(m, word[PRODUCT_C]), *result = matrix_kind(m, word[1]);
  if (!is_for_use(m, matrix_type_id(m, word[PRODUCT_A]), USE_A) ||
      !is_for_use(m, matrix_type_id(m, word[PRODUCT_B]), USE_B) ||
      !is_for_use(m, matrix_type_id(m, word[PRODUCT_C]), USE_ACCUMULATOR) ||
      !is_for_use(m, word[1], USE_ACCUMULATOR))
    return refuse(m,
                  "the operands of product %u are not matrices for use as A, B and accumulator, of "
                  "types that products have",
                  word[2]);
  if (a->columns != b->rows || c->rows != a->rows || c->columns != b->columns ||
      result->rows != c->rows || result->columns != c->columns)
    return refuse(m, "the operands of product %u have different sizes", word[2]);
  if (!matrix_product(m, word))
    return refuse(m,
                  "product %u, of sizes %u x %u x %u, types %s, %s, %s and %s, and the operands "
                  "0x%x, is not supported; clGetDeviceCooperativeMatrixInfoKHR returns what is",
                  word[2], a->rows, b->columns, a->columns, a->name, b->name, c->name, result->name,
                  length > PRODUCT_SIGNS ? word[PRODUCT_SIGNS] : 0);
  return true;
}

/* ---- other instructions -------------------------------------------------------------- */

/* Whether the operands from the given one on have the type of the result. */
static bool check_operands(const struct matrices *m, const uint32_t *word, size_t count) {
  bool equal = spirv_instruction_at(word).length == 3 + count;
  for (size_t i = 0; equal && i < count; i++)
    equal = matrix_type_id(m, word[3 + i]) == word[1];
  return equal || refuse(m, "the operands of instruction %u, with opcode %u, have other types",
                         word[2], spirv_instruction_at(word).opcode);
}

static bool check_conversion(const struct matrices *m, const uint32_t *word) {
  const struct matrix_type *to = matrix_kind(m, word[1]), *from = NULL;
  if (spirv_instruction_at(word).length == 4)
    from = matrix_of(m, word[3]);
  if (!from || m->use[matrix_type_id(m, word[3])] != m->use[word[1]] || from->use != to->use ||
      from->rows != to->rows || from->columns != to->columns ||
      (spirv_instruction_at(word).opcode == OP_BITCAST && from->bits != to->bits))
    return refuse(m, "%u is not converted from a matrix of the same size and use", word[2]);
  return true;
}

/* A matrix is made of one element, which is the value of all. */
static bool check_composite(const struct matrices *m, const uint32_t *word) {
  const uint32_t *type = matrix_definition(m, word[1]);
  return (spirv_instruction_at(word).length == 4 && matrix_type_id(m, word[3]) == type[2]) ||
         refuse(m, "%u is not made of one value of the elements' type", word[2]);
}

/* OpMatrixTimesScalar type result matrix scalar */
static bool check_scaling(const struct matrices *m, const uint32_t *word) {
  const uint32_t *type = matrix_definition(m, word[1]);
  return (spirv_instruction_at(word).length == 5 && matrix_type_id(m, word[3]) == word[1] &&
          matrix_type_id(m, word[4]) == type[2]) ||
         refuse(m, "%u is not the product of a matrix of its type and an element", word[2]);
}

/* Checks an instruction whose result is a matrix. spirv-val compares the types of what is
 * only copied. */
static bool check_result(const struct matrices *m, const uint32_t *word) {
  const enum spirv_opcode opcode = spirv_instruction_at(word).opcode;
  switch (opcode) {
  case OP_MATRIX_LOAD:
    return check_access(m, word, LOAD_POINTER, LOAD_LAYOUT, LOAD_STRIDE);
  case OP_MATRIX_MUL_ADD:
    return check_product(m, word);
  case OP_CONSTANT_COMPOSITE:
  case OP_SPEC_CONSTANT_COMPOSITE:
  case OP_COMPOSITE_CONSTRUCT:
    return check_composite(m, word);
  case OP_MATRIX_TIMES_SCALAR:
    return check_scaling(m, word);
  case OP_UNDEF:
  case OP_CONSTANT_NULL:
  case OP_FUNCTION:
  case OP_FUNCTION_PARAMETER:
  case OP_FUNCTION_CALL:
  case OP_LOAD:
  case OP_COMPOSITE_EXTRACT:
  case OP_COMPOSITE_INSERT:
  case OP_COPY_OBJECT:
  case OP_SELECT:
  case OP_PHI:
    return true;
  case OP_BITCAST:
    return check_conversion(m, word);
  default:
    if (opcode >= OP_CONVERT_F_TO_U && opcode <= OP_F_CONVERT)
      return check_conversion(m, word);
    if (opcode >= OP_S_NEGATE && opcode <= OP_F_DIV)
      return check_operands(m, word, opcode < OP_S_NEGATE + 2 ? 1 : 2);
    return refuse(m, "%u, a matrix, is the result of an instruction with opcode %u", word[2],
                  opcode);
  }
}

/* Whether the words 3 and 4 of the opcode's instructions, if there are any, are ids of values that
 * must not be matrices unless the result is one. */
static bool takes_numbers(enum spirv_opcode opcode) {
  return (opcode >= OP_VECTOR_EXTRACT_DYNAMIC && opcode <= OP_VECTOR_SHUFFLE) ||
         (opcode >= OP_CONVERT_F_TO_U && opcode < OP_CONTROL_BARRIER);
}

static bool is_composite(enum spirv_opcode opcode) {
  return opcode == OP_CONSTANT_COMPOSITE || opcode == OP_SPEC_CONSTANT_COMPOSITE ||
         opcode == OP_COMPOSITE_CONSTRUCT;
}

/* A vector may be made of shorter vectors, but not of matrices. */
static bool check_vector(const struct matrices *m, const uint32_t *word) {
  if (!matrix_is_made_by(matrix_definition(m, word[1]), OP_TYPE_VECTOR, 4))
    return true;
  for (size_t i = 3; i < spirv_instruction_at(word).length; i++)
    if (matrix_of(m, word[i]))
      return refuse(m, "%u, a matrix, is a component of the vector %u", word[i], word[2]);
  return true;
}

static bool check_other(const struct matrices *m, const uint32_t *word) {
  enum { SET_OPERANDS = 5 };
  const struct spirv_instruction instruction = spirv_instruction_at(word);
  const size_t first = instruction.opcode == OP_EXT_INST   ? SET_OPERANDS
                       : takes_numbers(instruction.opcode) ? 3
                                                           : instruction.length;
  if (is_composite(instruction.opcode) && !check_vector(m, word))
    return false;
  for (size_t i = first; i < first + 2 && i < instruction.length; i++)
    if (matrix_of(m, word[i]))
      return refuse(m, "%u, a matrix, is an operand of an instruction with opcode %u", word[i],
                    instruction.opcode);
  return true;
}

/* [OpSpecConstantOp] OpCooperativeMatrixLengthKHR type result matrix-type */
static bool check_length(const struct matrices *m, const uint32_t *word, size_t operand) {
  if (!check_declared(m, word[operand]))
    return false;
  return (spirv_instruction_at(word).length == operand + 1 && matrix_kind(m, word[operand]) &&
          is_integer(m, word[1]) && matrix_bits(m, word[1]) == INTEGER_BITS) ||
         refuse(m, "%u is not the length of a matrix type, as a 32-bit integer", word[2]);
}

static bool check_instruction(const struct matrices *m, const uint32_t *word) {
  const struct spirv_instruction instruction = spirv_instruction_at(word);
  const bool typed = spirv_has_type(instruction.opcode) && instruction.length > 2;
  if (!check_parts(m, word) || (typed && !check_declared(m, word[1])))
    return false;
  if (instruction.opcode == OP_ENTRY_POINT && instruction.length > 2)
    return check_kernel(m, word);
  if (instruction.opcode == OP_TYPE_POINTER && instruction.length > 3)
    return check_pointer(m, word);
  if (instruction.opcode == OP_MATRIX_STORE) {
    if (instruction.length <= STORE_LAYOUT || !matrix_of(m, word[STORE_OBJECT]))
      return refuse(m, "an OpCooperativeMatrixStoreKHR does not store a matrix");
    return check_access(m, word, STORE_POINTER, STORE_LAYOUT, STORE_STRIDE);
  }
  if (instruction.opcode == OP_MATRIX_LENGTH)
    return instruction.length > 3 ? check_length(m, word, 3)
                                  : refuse(m, "an OpCooperativeMatrixLengthKHR is malformed");
  if (matrix_is_constant_length(word))
    return check_length(m, word, 4);
  if (typed && matrix_kind(m, word[1]))
    return check_result(m, word);
  if (instruction.opcode == OP_MATRIX_LOAD || instruction.opcode == OP_MATRIX_MUL_ADD)
    return refuse(m, "the result of an instruction with opcode %u is not a matrix",
                  instruction.opcode);
  return !typed || check_other(m, word);
}

bool matrix_check(struct matrices *m) {
  if (!find_definitions(m) || !check_types(m))
    return false;
  for (size_t at = SPIRV_HEADER_WORDS; at < m->count;
       at += spirv_instruction_at(m->words + at).length)
    if (!check_instruction(m, m->words + at))
      return false;
  return true;
}
