/* Whether there is memory for an allocation. The kernel does not check that: nvmap compares with
 * all of the RAM (nvmap_dev.c, is_nvmap_memory_available) and takes pages with GFP_KERNEL
 * (nvmap_alloc.c, handle_page_alloc), so Linux kills processes when there are none left.
 */
#ifndef TEGRACL_RUNTIME_AVAILABLE_H
#define TEGRACL_RUNTIME_AVAILABLE_H

#include "runtime/device/device.h"

/* Whether an allocation has to be checked: large ones, and small ones once in some MiB. */
bool rt_available_due(struct rt_device *device, uint64_t size);
/* 0, or -ENOMEM with the figures as message. The caller holds device->allocation until it
 * has allocated, so that two threads do not find the same memory free. */
int rt_available_check(struct rt_device *device, uint64_t size);

/* The part of the RAM that is reported to applications. */
uint64_t rt_available_share(uint64_t total_bytes);

#endif
