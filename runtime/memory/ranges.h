/* The ranges of GPU addresses that contexts have, each another one where possible. */
#ifndef TEGRACL_RUNTIME_RANGES_H
#define TEGRACL_RUNTIME_RANGES_H

#include <stdbool.h>
#include <stdint.h>

/* Generic-address windows of the board-proven stack (docs/hardware/command-stream.md 4.2).
 * Every context's range, and the 4 GiB that the kernel uses after it, ends
 * below them, so they need no reservation. */
#define RT_LOCAL_WINDOW  UINT64_C(0xfd00000000)
#define RT_SHARED_WINDOW UINT64_C(0xfe00000000)

/* Instead of a number: the addresses of the first range, which another context may have, too. The
 * CPU addresses of its buffers then differ from the GPU addresses. */
enum { RT_NO_RANGE = -1 };

/* The number of the lowest free range, or RT_NO_RANGE when all are taken. */
int rt_range_get(void);
void rt_range_put(int range);

/* Its addresses, from begin to end - 1. */
uint64_t rt_range_begin(int range);
uint64_t rt_range_end(int range);

/* True if all ranges are free for CPU mappings: not under AddressSanitizer, whose shadow lies
 * there (docs/hardware/kernel-interface.md 4.4). */
bool rt_ranges_are_free(void);

/* In a child of fork: the parent's address ranges are free here. */
void rt_ranges_forget(void);

#endif
