/* Growing arrays of words, and which instructions have a type and a result. */
#include "compiler/spirv/spirv_words.h"

#include <stdlib.h>
#include <string.h>

/* Ranges of opcodes whose first operand is a type and whose second is a result
 * (section 3.42 "Instructions" and the extensions' texts). */
static const struct {
  uint16_t first, last;
} typed[] = {
    {1, 1},       {12, 12},     {41, 46},     {48, 52},     {54, 55},     {57, 57},
    {59, 61},     {65, 70},     {77, 84},     {86, 98},     {100, 107},   {109, 124},
    {126, 152},   {154, 191},   {194, 205},   {227, 227},   {229, 242},   {245, 245},
    {259, 259},   {261, 271},   {333, 366},   {400, 403},   {4421, 4422}, {4428, 4432},
    {4450, 4455}, {4457, 4457}, {4459, 4460}, {5056, 5056}, {5571, 5575}, {5577, 5577},
    {5614, 5615}, {5631, 5631}, {6035, 6035}, {6116, 6117}, {6401, 6408},
};

bool spirv_has_type(enum spirv_opcode opcode) {
  for (size_t i = 0; i < sizeof typed / sizeof typed[0]; i++)
    if (opcode >= typed[i].first && opcode <= typed[i].last)
      return true;
  return false;
}

void words_add(struct words *out, const uint32_t *words, size_t count) {
  if (out->count + count > REWORD_WORDS_MAX) {
    out->failed = true;
    return;
  }
  if (out->count + count > out->room) {
    const size_t room = (out->count + count) * 2;
    uint32_t *data = realloc(out->data, room * sizeof *data);
    if (!data) {
      out->failed = true;
      return;
    }
    out->data = data;
    out->room = room;
  }
  memcpy(out->data + out->count, words, count * sizeof *words);
  out->count += count;
}

void words_emit(struct words *out, enum spirv_opcode opcode, const uint32_t *operands,
                size_t count) {
  const uint32_t first = (uint32_t)(count + 1) << SPIRV_LENGTH_SHIFT | opcode;
  words_add(out, &first, 1);
  if (count)
    words_add(out, operands, count);
}
