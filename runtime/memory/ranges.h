/* Assigns ranges of GPU addresses to contexts, a different one to each if possible. */
#ifndef TEGRACL_RUNTIME_RANGES_H
#define TEGRACL_RUNTIME_RANGES_H

#include <stdbool.h>
#include <stdint.h>

/* Generic-address windows, at the addresses that have run on boards
 * (docs/hardware/command-stream.md 4.2). Every context's range, including the 4 GiB that the kernel
 * uses after it, ends below them, so they need no reservation. */
#define RT_LOCAL_WINDOW  UINT64_C(0xfd00000000)
#define RT_SHARED_WINDOW UINT64_C(0xfe00000000)

/* Used instead of a range's number for the addresses of the first range if another context may also
 * have them. The CPU addresses of its buffers then differ from the GPU addresses. */
enum { RT_NO_RANGE = -1 };

/* Returns the number of the lowest free range, or RT_NO_RANGE if all are taken. */
int rt_range_get(void);
void rt_range_put(int range);

/* Return the first address of a range, and the address after the last one. */
uint64_t rt_range_begin(int range);
uint64_t rt_range_end(int range);

/* Returns true if all ranges are free for CPU mappings. They are not under AddressSanitizer, whose
 * shadow is there (docs/hardware/kernel-interface.md 4.4). */
bool rt_ranges_are_free(void);

/* Marks all ranges as free in a child of fork. */
void rt_ranges_forget(void);

#endif
