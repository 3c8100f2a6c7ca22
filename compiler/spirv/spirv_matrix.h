/* What spirv_matrix.c and spirv_matrix_check.c share: cooperative matrices of a module. */
#ifndef TEGRACL_SPIRV_MATRIX_H
#define TEGRACL_SPIRV_MATRIX_H

#include "compiler/spirv/spirv_words.h"

enum matrix_use { USE_A, USE_B, USE_ACCUMULATOR };

/* A type of matrices that the device supports. A type for another use, which no product has, but
 * which may be loaded, stored and computed with, is treated like this one. */
struct matrix_type {
  enum matrix_use use;
  bool is_float;
  unsigned bits; /* of an element */
  unsigned rows, columns;
  const char *name;   /* part of the names of functions in device/matrix.cuh */
  const char *mangle; /* of an element; integers are signed */
};

struct matrices {
  const uint32_t *words; /* the module */
  size_t count;
  struct text *log;
  uint32_t old_bound;              /* upper bound of the ids in words */
  size_t *place_of;                /* places of definitions, by id; 0 for other ids */
  uint32_t *type_of;               /* types of values, by id; 0 for other ids */
  const struct matrix_type **kind; /* by id of a type; NULL for other types */
  uint8_t *use;                    /* by id of a matrix type */
  bool *holds; /* by id of a type: whether it is of matrices, or of structs or arrays that have some
                */
  uint32_t void_type;    /* id; 0 if the module has none */
  uint32_t integer_type; /* id of the first integer type with 32 bits; 0 if there is none */
};

/* Indices of operands in the instructions' words. */
enum {
  LOAD_POINTER = 3,
  LOAD_LAYOUT = 4,
  LOAD_STRIDE = 5,
  STORE_POINTER = 1,
  STORE_OBJECT = 2,
  STORE_LAYOUT = 3,
  STORE_STRIDE = 4,
  PRODUCT_A = 3,
  PRODUCT_B = 4,
  PRODUCT_C = 5,
  PRODUCT_SIGNS = 6,
};

/* Elements of a matrix that each work-item of a sub-group holds. */
static inline unsigned matrix_length(const struct matrix_type *kind) {
  enum { WARP = 32 };
  return kind->rows * kind->columns / WARP;
}

/* Returns the instruction that defines an id, or NULL. */
static inline const uint32_t *matrix_definition(const struct matrices *m, uint32_t id) {
  return id < m->old_bound && m->place_of[id] ? m->words + m->place_of[id] : NULL;
}

static inline uint32_t matrix_type_id(const struct matrices *m, uint32_t value) {
  return value < m->old_bound ? m->type_of[value] : 0;
}

/* Returns the matrix type with this id, or NULL. */
static inline const struct matrix_type *matrix_kind(const struct matrices *m, uint32_t type) {
  return type < m->old_bound ? m->kind[type] : NULL;
}

/* Returns the matrix type of a value, or NULL. */
static inline const struct matrix_type *matrix_of(const struct matrices *m, uint32_t value) {
  return matrix_kind(m, matrix_type_id(m, value));
}

static inline bool matrix_is_made_by(const uint32_t *word, enum spirv_opcode opcode, size_t least) {
  return word && spirv_instruction_at(word).opcode == opcode &&
         spirv_instruction_at(word).length >= least;
}

/* Whether an instruction is OpSpecConstantOp with OpCooperativeMatrixLengthKHR. */
static inline bool matrix_is_constant_length(const uint32_t *word) {
  return matrix_is_made_by(word, OP_SPEC_CONSTANT_OP, 5) && word[3] == OP_MATRIX_LENGTH;
}

/* Returns the width of an integer or float type, or 0 for other types. */
uint32_t matrix_bits(const struct matrices *m, uint32_t type);

/* Reads the value of a constant of a 32-bit integer type. Returns false for other ids. */
bool matrix_number(const struct matrices *m, uint32_t id, uint32_t *value);

/* Returns the size in bytes of what a pointer to a number or a vector of numbers points to, or 0
 * for other values. */
uint32_t matrix_pointee_bytes(const struct matrices *m, uint32_t pointer);

/* Finds the product of OpCooperativeMatrixMulAddKHR, whose operands are matrices. Returns NULL if
 * the device lacks it. */
const struct cc_matrix_product *matrix_product(const struct matrices *m, const uint32_t *word);

/* Finds the module's matrices, and checks how it uses them. Returns false, and says why in the
 * log, if it breaks a rule or uses what the device does not support. */
bool matrix_check(struct matrices *m);

#endif
