/* Sorts the blocks of a module's functions so that each one follows the block that dominates
 * it, as SPIR-V requires (section 2.16.1 "Universal Validation Rules"). LLVM IR has no such
 * rule, and the translators of LLVM 15 and older keep LLVM's order. */
#include <stdlib.h>
#include <string.h>

#include "compiler/spirv/spirv.h"

struct block {
  size_t start, end; /* words, from the label to the end of the last instruction */
  size_t exit;       /* the last instruction */
  size_t visited;    /* words of exit that have been followed; 0 if unvisited */
  size_t case_words; /* words of a case if exit is a switch: one or two for the literal, one for the
                        label */
};

struct order {
  const uint32_t *words;
  uint32_t bound;
  uint32_t *block_of; /* number of the block plus one, by label; 0 for other ids */
  struct block *blocks;
  size_t block_count;
  size_t *stack; /* numbers of the blocks on the path from the entry */
  size_t *done;  /* numbers of finished blocks, the last one first */
  uint32_t *sorted;
};

enum { BRANCH_WEIGHTS = 4, SWITCH_CASES = 3 }; /* places of operands */

static bool is_label(const struct order *order, uint32_t id) {
  return id < order->bound && order->block_of[id];
}

/* Counts the words of a switch case like case_words in spirv_phi.c. */
static size_t count_case_words(const struct order *order, size_t place) {
  enum { NARROW = 2, WIDE = 3 };
  const uint32_t *word = order->words + place;
  for (size_t i = SWITCH_CASES + NARROW - 1; i < spirv_instruction_at(word).length; i += NARROW)
    if (!is_label(order, word[i]))
      return WIDE;
  return NARROW;
}

/* Whether a word of a block's last instruction is a literal, which
 * may be equal to the id of a label. */
static bool is_literal(const struct order *order, const struct block *block, size_t i) {
  const enum spirv_opcode opcode = spirv_instruction_at(order->words + block->exit).opcode;
  if (opcode == OP_BRANCH_CONDITIONAL)
    return i >= BRANCH_WEIGHTS;
  return opcode == OP_SWITCH && i >= SWITCH_CASES &&
         (i - SWITCH_CASES) % block->case_words != block->case_words - 1;
}

/* Returns the next successor of a block, or block_count if there is none.
 * Every label in the last instruction is a successor. */
static size_t next_successor(const struct order *order, struct block *block) {
  const size_t length = spirv_instruction_at(order->words + block->exit).length;
  while (block->visited < length) {
    const size_t i = block->visited++;
    const uint32_t id = order->words[block->exit + i];
    if (!is_literal(order, block, i) && is_label(order, id))
      return order->block_of[id] - 1;
  }
  return order->block_count;
}

static void push_block(struct order *order, size_t number, size_t *depth) {
  struct block *block = &order->blocks[number];
  block->visited = 1;
  block->case_words = count_case_words(order, block->exit);
  order->stack[(*depth)++] = number;
}

/* Walks depth-first from the entry. Fills done from its end, which gives the reverse postorder. */
static size_t walk(struct order *order) {
  size_t depth = 0, done = 0;
  push_block(order, 0, &depth);
  while (depth) {
    const size_t at = order->stack[depth - 1];
    const size_t next = next_successor(order, &order->blocks[at]);
    if (next == order->block_count) {
      order->done[done++] = at;
      depth--;
    } else if (!order->blocks[next].visited) {
      push_block(order, next, &depth);
    }
  }
  return done;
}

/* Appends a block to the sorted ones. */
static size_t append_block(struct order *order, const struct block *block, size_t size) {
  memcpy(order->sorted + size, order->words + block->start,
         (block->end - block->start) * sizeof *order->words);
  return size + (block->end - block->start);
}

/* Sorts the listed blocks, which occupy words from the first
 * block's start to the last block's end. */
static void sort_blocks(struct order *order, uint32_t *words) {
  size_t size = 0;
  if (!order->block_count)
    return;
  const size_t start = order->blocks[0].start;
  for (size_t i = walk(order); i-- > 0;)
    size = append_block(order, &order->blocks[order->done[i]], size);
  for (size_t i = 0; i < order->block_count; i++) {
    const struct block *block = &order->blocks[i];
    if (!block->visited)
      size = append_block(order, block, size);
    order->block_of[words[block->start + 1]] = 0;
  }
  memcpy(words + start, order->sorted, size * sizeof *words);
  order->block_count = 0;
}

static void sort_functions(struct order *order, uint32_t *words, size_t count) {
  for (size_t at = SPIRV_HEADER_WORDS, length; at < count; at += length) {
    const enum spirv_opcode opcode = spirv_instruction_at(words + at).opcode;
    length = spirv_instruction_at(words + at).length;
    if (opcode == OP_FUNCTION_END) {
      sort_blocks(order, words);
    } else if (opcode == OP_LABEL && length == 2 && words[at + 1] < order->bound &&
               !order->block_of[words[at + 1]]) {
      order->blocks[order->block_count++] = (struct block){.start = at};
      order->block_of[words[at + 1]] = (uint32_t)order->block_count;
    }
    if (order->block_count) {
      order->blocks[order->block_count - 1].exit = at;
      order->blocks[order->block_count - 1].end = at + length;
    }
  }
}

bool spirv_order(uint32_t *words, size_t count) {
  const size_t most = count / 2; /* a block has at least the two words of its label */
  struct order order = {.words = words, .bound = words[SPIRV_BOUND_WORD]};
  order.block_of = calloc(order.bound, sizeof *order.block_of);
  order.blocks = calloc(most + 1, sizeof *order.blocks);
  order.stack = calloc(most + 1, sizeof *order.stack);
  order.done = calloc(most + 1, sizeof *order.done);
  order.sorted = malloc(count * sizeof *words);
  const bool ready = order.block_of && order.blocks && order.stack && order.done && order.sorted;
  if (ready)
    sort_functions(&order, words, count);
  free(order.block_of);
  free(order.blocks);
  free(order.stack);
  free(order.done);
  free(order.sorted);
  return ready;
}
