/* Makes SPIR-V modules in memory, for instructions that spirv-as does not know. A module has the
 * sections that its layout demands, and each function adds an instruction to one of them. */
#ifndef TEGRACL_TEST_SPIRV_BUILDER_H
#define TEGRACL_TEST_SPIRV_BUILDER_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/spirv/spirv.h"

enum { SECTION_WORDS = 1 << 17, BUILDER_ENTRIES = 256 };
enum section { HEAD, ENTRIES, DECORATIONS, TYPES, BODIES, SECTIONS };

struct builder {
  uint32_t bound;
  size_t counts[SECTIONS];
  uint32_t words[SECTIONS][SECTION_WORDS];
};

static inline uint32_t new_id(struct builder *b) {
  return b->bound++;
}

static inline void put(struct builder *b, enum section section, unsigned opcode,
                       const uint32_t *operands, size_t count) {
  if (b->counts[section] + count + 1 > SECTION_WORDS)
    abort();
  uint32_t *to = b->words[section] + b->counts[section];
  to[0] = (uint32_t)(count + 1) << SPIRV_LENGTH_SHIFT | opcode;
  if (count)
    memcpy(to + 1, operands, count * sizeof *operands);
  b->counts[section] += count + 1;
}

#define PUT(b, section, opcode, ...)                                                               \
  put(b, section, opcode, (const uint32_t[]){__VA_ARGS__},                                         \
      sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))

/* Adds an instruction with a result of the type. Returns its id. */
#define VALUE(b, opcode, type, ...) value_of(b, new_id(b), opcode, type, __VA_ARGS__)
#define value_of(b, id, opcode, type, ...)                                                         \
  put_value(b, BODIES, opcode, type, id, (const uint32_t[]){__VA_ARGS__},                          \
            sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))

static inline uint32_t put_value(struct builder *b, enum section section, unsigned opcode,
                                 uint32_t type, uint32_t id, const uint32_t *operands,
                                 size_t count) {
  uint32_t all[64] = {type, id};
  if (count + 2 > sizeof all / sizeof *all)
    abort();
  if (count)
    memcpy(all + 2, operands, count * sizeof *operands);
  put(b, section, opcode, all, count + 2);
  return id;
}

/* Adds an instruction whose last operands are a string and perhaps one more word. */
static inline void put_string(struct builder *b, enum section section, unsigned opcode,
                              const uint32_t *operands, size_t count, const char *string) {
  uint32_t all[64] = {0};
  const size_t words = strlen(string) / sizeof *all + 1;
  if (count + words > sizeof all / sizeof *all)
    abort();
  if (count)
    memcpy(all, operands, count * sizeof *all);
  memcpy(all + count, string, strlen(string));
  put(b, section, opcode, all, count + words);
}

/* Returns the id of a type or constant, which the module declares once. */
static inline uint32_t declared(struct builder *b, unsigned opcode, const uint32_t *operands,
                                size_t count, int has_type) {
  const uint32_t first = (uint32_t)(count + 2) << SPIRV_LENGTH_SHIFT | opcode;
  const uint32_t *words = b->words[TYPES];
  for (size_t at = 0; at < b->counts[TYPES]; at += words[at] >> SPIRV_LENGTH_SHIFT)
    if (words[at] == first && (!has_type || words[at + 1] == operands[0]) &&
        !memcmp(words + at + 2 + has_type, operands + has_type,
                (count - (size_t)has_type) * sizeof *words))
      return words[at + 1 + has_type];
  uint32_t all[64];
  const uint32_t id = new_id(b);
  if (has_type)
    all[0] = operands[0];
  all[has_type] = id;
  memcpy(all + 1 + has_type, operands + has_type, (count - (size_t)has_type) * sizeof *all);
  put(b, TYPES, opcode, all, count + 1);
  return id;
}
#define TYPE(b, opcode, ...)                                                                       \
  declared(b, opcode, (const uint32_t[]){__VA_ARGS__},                                             \
           sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t), 0)
#define CONSTANT(b, opcode, ...)                                                                   \
  declared(b, opcode, (const uint32_t[]){__VA_ARGS__},                                             \
           sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t), 1)

static inline uint32_t type_int(struct builder *b, uint32_t bits) {
  return TYPE(b, OP_TYPE_INT, bits, 0);
}
static inline uint32_t type_float(struct builder *b, uint32_t bits) {
  return TYPE(b, OP_TYPE_FLOAT, bits);
}
static inline uint32_t uint_constant(struct builder *b, uint32_t value) {
  return CONSTANT(b, OP_CONSTANT, type_int(b, 32), value);
}
static inline uint32_t pointer_to(struct builder *b, uint32_t storage, uint32_t type) {
  return TYPE(b, OP_TYPE_POINTER, storage, type);
}

/* Joins the sections. The caller frees the words. */
static inline uint32_t *builder_finish(const struct builder *b, uint32_t version, size_t *count) {
  *count = SPIRV_HEADER_WORDS;
  for (int i = 0; i < SECTIONS; i++)
    *count += b->counts[i];
  uint32_t *words = malloc(*count * sizeof *words), *to = words + SPIRV_HEADER_WORDS;
  if (!words)
    abort();
  memcpy(words, (const uint32_t[]){SPIRV_MAGIC, version, 0, b->bound, 0},
         SPIRV_HEADER_WORDS * sizeof *words);
  for (int i = 0; i < SECTIONS; i++) {
    memcpy(to, b->words[i], b->counts[i] * sizeof *words);
    to += b->counts[i];
  }
  return words;
}

#endif
