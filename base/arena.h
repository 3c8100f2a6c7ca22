/* A bump allocator for things that live and die together: all the arrays and
 * strings of one module_code, say.
 */
#ifndef TEGRACL_ARENA_H
#define TEGRACL_ARENA_H

#include <stddef.h>

struct arena_block;

struct arena {
  struct arena_block *blocks; /* newest first */
};

/* count * size zeroed bytes, aligned for any type. NULL when memory is out or the
 * product overflows. A count of 0 gives a valid pointer. */
void *arena_alloc(struct arena *arena, size_t count, size_t size);

/* A copy of length bytes with a NUL after them. */
char *arena_string(struct arena *arena, const char *text, size_t length);

void arena_finish(struct arena *arena);

#endif
