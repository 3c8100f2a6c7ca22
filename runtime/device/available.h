/* Checks whether there is enough memory for an allocation. The kernel does not: nvmap compares the
 * size with the total RAM (nvmap_dev.c, is_nvmap_memory_available) and takes pages with GFP_KERNEL
 * (nvmap_alloc.c, handle_page_alloc), so when memory is exhausted Linux kills processes. */
#ifndef TEGRACL_RUNTIME_AVAILABLE_H
#define TEGRACL_RUNTIME_AVAILABLE_H

#include "runtime/device/device.h"

/* Returns whether an allocation must be checked: each large one, and the small ones after every few
 * MiB. */
bool rt_available_due(struct rt_device *device, uint64_t size);
/* Returns 0, or -ENOMEM with a message that contains the sizes. The caller holds device->allocation
 * until it has allocated, so that two threads do not use the same free memory. */
int rt_available_check(struct rt_device *device, uint64_t size);

/* Returns the part of the RAM that is reported to applications. */
uint64_t rt_available_share(uint64_t total_bytes);

#endif
