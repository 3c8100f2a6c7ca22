/* A bump allocator for objects that are freed together, such as all arrays and strings of one
 * module_code. A zero-initialized arena is empty. */
#ifndef TEGRACL_ARENA_H
#define TEGRACL_ARENA_H

#include <stddef.h>

struct arena_block;

struct arena {
  struct arena_block *blocks; /* newest first */
};

/* Allocates count * size zeroed bytes, aligned for any type and valid until arena_finish. Returns
 * NULL if memory is exhausted or the product overflows. A count of 0 returns a valid pointer. */
void *arena_alloc(struct arena *arena, size_t count, size_t size);

/* Returns a copy of length bytes followed by a NUL, or NULL. */
char *arena_string(struct arena *arena, const char *text, size_t length);

/* Frees all memory of the arena and leaves it empty. */
void arena_finish(struct arena *arena);

#endif
