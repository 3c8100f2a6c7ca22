/* Small fixed-size pieces of GPU memory (timelines, times), carved from pages.
 * A piece keeps its contents when it is put back and got again.
 */
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
  void **free; /* CPU addresses; capacity for every slot there is */
  size_t free_count;
};

void rt_slots_init(struct rt_slots *slots, struct rt_device *device, int as_fd,
                   size_t stride_bytes);
void rt_slots_destroy(struct rt_slots *slots);
/* A slot's CPU address; zeroed the first time. */
int rt_slots_get(struct rt_slots *slots, void **slot);
void rt_slots_put(struct rt_slots *slots, void *slot);
/* GPU address of any place inside a slot. */
uint64_t rt_slot_gpu(const volatile void *slot);

#endif
