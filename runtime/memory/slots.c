/* Allocates slots. The first stride of each page stores the page's GPU address, so that the GPU
 * address of a slot needs no search. */
#include "runtime/memory/slots.h"

#include <errno.h>
#include <stdlib.h>

#include "gpu/hw/memory.h"
#include "runtime/message.h"

void rt_slots_init(struct rt_slots *s, struct rt_device *device, int as_fd, size_t stride_bytes) {
  *s = (struct rt_slots){.device = device, .as_fd = as_fd, .stride_bytes = stride_bytes};
  base_mutex_init(&s->lock, BASE_LOCK_RT_SLOTS);
}

void rt_slots_destroy(struct rt_slots *s) {
  if (!s->device)
    return;
  for (size_t i = 0; i < s->page_count; i++)
    rt_memory_destroy(s->device, &s->pages[i]);
  free(s->pages);
  free(s->free);
  base_mutex_destroy(&s->lock);
}

static int add_page(struct rt_slots *s) {
  size_t per_page = GPU_PAGE_BYTES / s->stride_bytes - 1;
  struct rt_memory *pages = realloc(s->pages, (s->page_count + 1) * sizeof(*pages));
  if (!pages)
    return rt_fail(-ENOMEM, "out of memory: list of pages");
  s->pages = pages;
  void **list = realloc(s->free, (s->page_count + 1) * per_page * sizeof(*list));
  if (!list)
    return rt_fail(-ENOMEM, "out of memory: list of slots");
  s->free = list;
  struct rt_memory *page = &s->pages[s->page_count];
  int error = rt_memory_create(s->device, s->as_fd, GPU_PAGE_BYTES, RT_MEMORY_CACHED, page);
  if (error)
    return error;
  rt_memory_drop_fd(s->device, page);
  s->page_count++;
  *(uint64_t *)page->cpu = page->gpu;
  for (size_t i = per_page; i > 0; i--)
    s->free[s->free_count++] = (char *)page->cpu + i * s->stride_bytes;
  return 0;
}

int rt_slots_get(struct rt_slots *s, void **slot) {
  base_mutex_lock(&s->lock);
  int error = s->free_count ? 0 : add_page(s);
  if (error == 0)
    *slot = s->free[--s->free_count];
  base_mutex_unlock(&s->lock);
  return error;
}

void rt_slots_put(struct rt_slots *s, void *slot) {
  base_mutex_lock(&s->lock);
  s->free[s->free_count++] = slot;
  base_mutex_unlock(&s->lock);
}

uint64_t rt_slot_gpu(const volatile void *slot) {
  uintptr_t address = (uintptr_t)slot;
  uintptr_t page = address & ~(uintptr_t)(GPU_PAGE_BYTES - 1);
  return *(const uint64_t *)page + (address - page);
}
