/* Slots: small fixed-size pieces of GPU memory (timelines, times) in shared pages. A slot keeps its
 * contents when it is released and allocated again. */
#ifndef TEGRACL_RUNTIME_SLOTS_H
#define TEGRACL_RUNTIME_SLOTS_H

#include "base/lock.h"
#include "runtime/memory/memory.h"

struct rt_slots {
  struct rt_device *device;
  int as_fd;
  size_t stride_bytes; /* a multiple of 16, at least 16 */
  struct base_mutex lock;
  struct rt_memory *pages;
  size_t page_count;
  void **free; /* CPU addresses of free slots; the array has an element for every slot */
  size_t free_count;
};

void rt_slots_init(struct rt_slots *slots, struct rt_device *device, int as_fd,
                   size_t stride_bytes);
void rt_slots_destroy(struct rt_slots *slots);
/* Returns the CPU address of a slot in *slot. A slot is zeroed when it is allocated for the first
 * time. */
int rt_slots_get(struct rt_slots *slots, void **slot);
void rt_slots_put(struct rt_slots *slots, void *slot);
/* Returns the GPU address of any address within a slot. */
uint64_t rt_slot_gpu(const volatile void *slot);

#endif
