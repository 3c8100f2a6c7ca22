/* A bump allocator for objects that are freed together, such as all arrays and strings of one
 * module_code. A zero-initialized arena is empty. */
#ifndef TEGRACL_ARENA_H
#define TEGRACL_ARENA_H

#include <stddef.h>

struct arena_block;

struct arena {
  struct arena_block *blocks; /* newest first */
};

/* count * size zeroed bytes, aligned for any type and valid until arena_finish. NULL if there is
 * no memory or the product overflows. A count of 0 gives a valid pointer. */
void *arena_alloc(struct arena *arena, size_t count, size_t size);

/* A copy of length bytes with a NUL after them, or NULL. */
char *arena_string(struct arena *arena, const char *text, size_t length);

/* Frees all memory of the arena, which is then empty. */
void arena_finish(struct arena *arena);

#endif
