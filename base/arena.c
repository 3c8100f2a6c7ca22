/* A bump allocator: blocks of a few kilobytes, and larger blocks for larger requests. */
#include "base/arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_BYTES = 8192 };

struct arena_block {
  struct arena_block *next;
  size_t used;
  size_t size;
  alignas(max_align_t) unsigned char bytes[];
};

void *arena_alloc(struct arena *arena, size_t count, size_t size) {
  size_t bytes;
  if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX / 2)
    return NULL;
  bytes = (bytes + alignof(max_align_t) - 1) & ~(alignof(max_align_t) - 1);
  struct arena_block *block = arena->blocks;
  if (!block || block->size - block->used < bytes) {
    size_t room = bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES;
    block = calloc(1, sizeof(*block) + room);
    if (!block)
      return NULL;
    block->size = room;
    block->next = arena->blocks;
    arena->blocks = block;
  }
  void *result = block->bytes + block->used;
  block->used += bytes;
  return result;
}

char *arena_string(struct arena *arena, const char *text, size_t length) {
  if (length == SIZE_MAX)
    return NULL;
  char *copy = arena_alloc(arena, length + 1, 1);
  if (copy)
    memcpy(copy, text, length);
  return copy;
}

void arena_finish(struct arena *arena) {
  for (struct arena_block *block = arena->blocks; block;) {
    struct arena_block *next = block->next;
    free(block);
    block = next;
  }
  arena->blocks = NULL;
}
