/* Replaces loads of a part of a built-in value, such as GlobalInvocationId.y, by
 * a load of the whole value and an extraction. Optimising compilers load parts,
 * which the translator of LLVM 15 does not support. */
#include <stdlib.h>
#include <string.h>

#include "compiler/spirv/spirv.h"

enum { BYTE_BITS = 8, LOAD_OPERANDS = 3, EXTRACT_OPERANDS = 4 };

/* The address of a built-in variable or of a part of it. */
struct part {
  uint32_t variable; /* 0 if the id is not such an address */
  uint32_t type;     /* of the pointer */
  uint32_t bytes;    /* offset from the start of the variable */
  uint32_t lane;     /* if not 0, the id of the lane's index; bytes is then 0 */
};

struct builtins {
  const uint32_t *words;
  size_t count;
  uint32_t old_bound, bound;
  size_t *place_of;   /* place of types and constants, by id; 0 for others */
  struct part *parts; /* by id */
  uint32_t *out;
  size_t size;
};

static const uint32_t *definition(const struct builtins *b, uint32_t id, enum spirv_opcode opcode,
                                  size_t least) {
  if (id >= b->old_bound || !b->place_of[id])
    return NULL;
  const uint32_t *word = b->words + b->place_of[id];
  const struct spirv_instruction made = spirv_instruction_at(word);
  return made.opcode == opcode && made.length >= least ? word : NULL;
}

static uint32_t pointee(const struct builtins *b, uint32_t type) {
  const uint32_t *pointer = definition(b, type, OP_TYPE_POINTER, 4);
  return pointer ? pointer[3] : 0;
}

/* Returns the element type of a vector type, or 0 for other types. */
static uint32_t element_of(const struct builtins *b, uint32_t type) {
  const uint32_t *vector = definition(b, type, OP_TYPE_VECTOR, 4);
  return vector ? vector[2] : 0;
}

/* Returns the size in bytes of a number or a vector of numbers, or 0 for other types. */
static uint32_t size_of(const struct builtins *b, uint32_t type) {
  enum { THREE = 3, FOUR = 4 };
  const uint32_t *vector = definition(b, type, OP_TYPE_VECTOR, 4);
  const uint32_t *number = definition(b, vector ? vector[2] : type, OP_TYPE_INT, 4);
  const uint32_t lanes = !vector ? 1 : vector[3] == THREE ? FOUR : vector[3];
  return number ? lanes * (number[2] / BYTE_BITS) : 0;
}

/* Adds an index, constant or computed, of elements of the given size. */
static bool step(const struct builtins *b, struct part *part, uint32_t index, uint32_t size) {
  const uint32_t *constant = definition(b, index, OP_CONSTANT, 4);
  if (definition(b, index, OP_CONSTANT_NULL, 3))
    return true;
  if (constant)
    part->bytes += constant[3] * size;
  else if (!part->lane && !part->bytes)
    part->lane = index;
  else
    return false;
  return size != 0;
}

/* Whether an instruction computes the address of a part: opcode base [element] [index]. */
static bool find_part(const struct builtins *b, enum spirv_opcode opcode, const uint32_t *operands,
                      size_t count, struct part *part) {
  if (!count || operands[0] >= b->old_bound || !b->parts[operands[0]].variable ||
      !b->parts[operands[0]].type) /* a constant may have the decoration too */
    return false;
  *part = b->parts[operands[0]];
  const uint32_t type = pointee(b, part->type);
  size_t at = 1;
  switch (opcode) {
  case OP_BITCAST:
  case OP_COPY_OBJECT:
  case OP_PTR_CAST_TO_GENERIC:
  case OP_GENERIC_CAST_TO_PTR:
    return true;
  case OP_PTR_ACCESS_CHAIN:
  case OP_IN_BOUNDS_PTR_ACCESS_CHAIN:
    if (count < 2 || !step(b, part, operands[at++], size_of(b, type)))
      return false;
    break;
  case OP_ACCESS_CHAIN:
  case OP_IN_BOUNDS_ACCESS_CHAIN:
    break;
  default:
    return false;
  }
  return at == count ||
         (at + 1 == count && step(b, part, operands[at], size_of(b, element_of(b, type))));
}

static void find_parts(struct builtins *b) {
  enum { RESULT = 2, OPERANDS = 3 };
  for (size_t at = SPIRV_HEADER_WORDS, length; at < b->count; at += length) {
    const uint32_t *word = b->words + at;
    const struct spirv_instruction made = spirv_instruction_at(word);
    length = made.length;
    const bool is_type = made.opcode >= OP_TYPE_BOOL && made.opcode <= OP_TYPE_POINTER;
    if (is_type && length > 1 && word[1] < b->old_bound)
      b->place_of[word[1]] = at;
    if (made.opcode == OP_DECORATE && length > 3 && word[2] == DECORATION_BUILT_IN &&
        word[1] < b->old_bound)
      b->parts[word[1]].variable = word[1];
    if (is_type || length < OPERANDS || word[RESULT] >= b->old_bound)
      continue;
    struct part *part = &b->parts[word[RESULT]], found;
    const bool in_constant = made.opcode == OP_SPEC_CONSTANT_OP && length > OPERANDS;
    if (made.opcode == OP_CONSTANT || made.opcode == OP_CONSTANT_NULL) {
      b->place_of[word[RESULT]] = at;
    } else if (made.opcode == OP_VARIABLE) {
      part->type = word[1];
    } else if (find_part(b, in_constant ? word[OPERANDS] : made.opcode,
                         word + OPERANDS + in_constant, length - OPERANDS - in_constant, &found)) {
      *part = found;
      part->type = word[1];
    }
  }
}

static void emit(struct builtins *b, enum spirv_opcode opcode, const uint32_t *operands,
                 size_t count) {
  b->out[b->size++] = (uint32_t)(count + 1) << SPIRV_LENGTH_SHIFT | opcode;
  memcpy(b->out + b->size, operands, count * sizeof *operands);
  b->size += count;
}

/* Emits the replacement of OpLoad type result pointer [...].
 * Returns false if it does not load a part. */
static bool emit_load(struct builtins *b, const uint32_t *word) {
  const struct part *part = word[3] < b->old_bound ? &b->parts[word[3]] : NULL;
  if (!part || !part->variable || part->variable == word[3])
    return false;
  const uint32_t whole = pointee(b, b->parts[part->variable].type);
  const uint32_t element = element_of(b, whole), size = size_of(b, element);
  const bool is_lane = element == word[1] && size;
  const uint32_t value = is_lane ? b->bound++ : word[2];
  emit(b, OP_LOAD, (const uint32_t[]){whole, value, part->variable}, LOAD_OPERANDS);
  if (is_lane)
    emit(b, part->lane ? OP_VECTOR_EXTRACT_DYNAMIC : OP_COMPOSITE_EXTRACT,
         (const uint32_t[]){word[1], word[2], value, part->lane ? part->lane : part->bytes / size},
         EXTRACT_OPERANDS);
  return true;
}

/* Whether the instruction computes, names or decorates the address of a part. */
static bool is_of_part(const struct builtins *b, const uint32_t *word) {
  const struct spirv_instruction made = spirv_instruction_at(word);
  const bool names = made.opcode == OP_NAME || made.opcode == OP_DECORATE;
  const size_t at = names ? 1 : 2;
  if (made.length <= at || word[at] >= b->old_bound || !b->parts[word[at]].variable ||
      b->parts[word[at]].variable == word[at])
    return false;
  return names || made.opcode == OP_SPEC_CONSTANT_OP || made.opcode == OP_COPY_OBJECT ||
         (made.opcode >= OP_ACCESS_CHAIN && made.opcode <= OP_IN_BOUNDS_PTR_ACCESS_CHAIN) ||
         (made.opcode >= OP_PTR_CAST_TO_GENERIC && made.opcode <= OP_BITCAST);
}

uint32_t *spirv_load_builtins(const uint32_t *words, size_t *count) {
  enum { GROWTH = 3 }; /* four words become at most nine */
  const uint32_t bound = words[SPIRV_BOUND_WORD];
  struct builtins b = {.words = words, .count = *count, .old_bound = bound, .bound = bound};
  b.place_of = calloc(bound, sizeof *b.place_of);
  b.parts = calloc(bound, sizeof *b.parts);
  b.out = malloc(*count * GROWTH * sizeof *b.out);
  if (b.place_of && b.parts && b.out) {
    find_parts(&b);
    for (size_t at = 0, length = SPIRV_HEADER_WORDS; at < *count; at += length) {
      if (at)
        length = spirv_instruction_at(words + at).length;
      if (at && spirv_instruction_at(words + at).opcode == OP_LOAD && length > LOAD_OPERANDS &&
          emit_load(&b, words + at))
        continue;
      if (at && is_of_part(&b, words + at))
        continue;
      memcpy(b.out + b.size, words + at, length * sizeof *words);
      b.size += length;
    }
    b.out[SPIRV_BOUND_WORD] = b.bound;
    *count = b.size;
  } else {
    free(b.out);
    b.out = NULL;
  }
  free(b.place_of);
  free(b.parts);
  return b.out;
}
