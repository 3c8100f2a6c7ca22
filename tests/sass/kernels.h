/* Shared by the tests of kernels in CUDA C (kernels/), which run on the SM. */
#ifndef TEGRACL_TESTS_SASS_KERNELS_H
#define TEGRACL_TESTS_SASS_KERNELS_H

#include "tests/sm/harness.h"

typedef uint8_t u8;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int64_t s64;

u64 random64(void);

/* Global memory of a module, initially zero. */
struct buffer {
  u64 gpu;
  void *host;
};
struct buffer buffer(struct module *m, size_t bytes);

/* Runs a kernel. kinds has a letter for each parameter: p for struct buffer, i for an int. Prints a
 * message and returns false if the kernel faults. */
bool run(struct module *m, const char *kernel, struct launch launch, const char *kinds, ...);

#define GRID(x, y, bx, by) ((struct launch){.grid = {x, y, 1}, .block = {bx, by, 1}})

/* Prints a message if right is false. Returns right. */
bool check(const char *what, bool right);

bool test_together(struct module *m);

#endif
