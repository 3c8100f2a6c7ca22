/* Assigns address ranges to contexts. See ranges.h. */
#include "runtime/memory/ranges.h"

#include <stdatomic.h>
#include <sys/mman.h>

#include "gpu/hw/memory.h"
#include "gpu/nvgpu/uapi.h"

/* CUDA's address range begins at 64 MiB and ends at 128 GiB; ours are the first seven multiples of
 * that size. Several contexts of a process then use different addresses, and each can map its
 * buffers for the CPU at their GPU address. The last range, including the 4 GiB that the kernel
 * uses after it, ends at 0xe100000000. This is below the windows and far below 2^40, above which
 * the kernel's own mappings would be cut off and freeze the machine
 * (docs/hardware/kernel-interface.md trap T1). */
#ifdef __SANITIZE_THREAD__
enum {
  RANGES = 4
}; /* ThreadSanitizer's shadow is above 2^39; it kills a process that maps memory there */
#else
enum { RANGES = 7 };
#endif
#define RANGE_BYTES UINT64_C(0x2000000000)
#define RANGE_FIRST UINT64_C(0x4000000)
_Static_assert(RANGES *RANGE_BYTES + NVGPU_AS_KERNEL_BYTES <= RT_LOCAL_WINDOW,
               "ranges and windows must not overlap");

static atomic_uint ranges_used;

int rt_range_get(void) {
  unsigned used = atomic_load(&ranges_used);
  for (;;) {
    int range = __builtin_ctz(~used);
    if (range >= RANGES)
      return RT_NO_RANGE;
    if (atomic_compare_exchange_weak(&ranges_used, &used, used | 1u << range))
      return range;
  }
}

void rt_range_put(int range) {
  if (range >= 0)
    atomic_fetch_and(&ranges_used, ~(1u << range));
}

/* Tests one page in the middle of each range. */
bool rt_ranges_are_free(void) {
  for (uint64_t i = 0; i < RANGES; i++) {
    void *wanted = (void *)(uintptr_t)(i * RANGE_BYTES + RANGE_BYTES / 2);
    void *page = mmap(wanted, GPU_PAGE_BYTES, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (page != MAP_FAILED)
      munmap(page, GPU_PAGE_BYTES);
    if (page != wanted)
      return false;
  }
  return true;
}

void rt_ranges_forget(void) {
  atomic_store(&ranges_used, 0);
}

uint64_t rt_range_begin(int range) {
  return range > 0 ? (uint64_t)range * RANGE_BYTES : RANGE_FIRST;
}

uint64_t rt_range_end(int range) {
  return ((uint64_t)(range > 0 ? range : 0) + 1) * RANGE_BYTES;
}
