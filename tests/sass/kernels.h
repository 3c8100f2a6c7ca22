/* Kernels in CUDA C (kernels/), run on the SM: what their tests share. */
#ifndef TEGRACL_TESTS_SASS_KERNELS_H
#define TEGRACL_TESTS_SASS_KERNELS_H

#include "tests/sm/harness.h"

typedef uint8_t u8;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int64_t s64;

u64 random64(void);

/* Global memory, zeroed. */
struct buffer {
  u64 gpu;
  void *host;
};
struct buffer buffer(struct module *m, size_t bytes);

/* Parameters in letters: p a buffer, i an int. */
bool run(struct module *m, const char *kernel, struct launch launch, const char *kinds, ...);

#define GRID(x, y, bx, by) ((struct launch){.grid = {x, y, 1}, .block = {bx, by, 1}})

/* Says what is wrong if it is. */
bool check(const char *what, bool right);

bool test_together(struct module *m);

#endif
