/* GPU memory from nvmap: allocated, mapped into an address space, mapped for the
 * CPU at the same address where that is free.
 */
#ifndef TEGRACL_RUNTIME_MEMORY_H
#define TEGRACL_RUNTIME_MEMORY_H

#include "runtime/device/device.h"

enum { RT_NO_ADDRESS_SPACE = -1 };

struct rt_memory {
  uint64_t gpu;  /* 0 when not mapped for the GPU */
  void *cpu;     /* NULL when there is no memory here */
  uint64_t size; /* mapped bytes, a multiple of 4 KiB */
  int as_fd;     /* the address space it is mapped in, or RT_NO_ADDRESS_SPACE */
  int fd;        /* dmabuf, -1 when dropped; never 0 */
  bool reserved; /* gpu is of an area of the address space, where another dmabuf may follow */
};

/* Zeroed memory with its dmabuf fd still open. as_fd may be RT_NO_ADDRESS_SPACE
 * for what only the kernel maps (rings). On failure nothing is left. */
int rt_memory_create(struct rt_device *device, int as_fd, uint64_t size, enum rt_memory_type type,
                     struct rt_memory *memory);
/* Memory of others: mappings of a dma-buf, whose fd stays the caller's; and a GPU mapping
 * of the host's own pages, without a CPU mapping (cpu is NULL). On failure nothing is
 * left. */
int rt_memory_import(struct rt_device *device, int as_fd, int fd, struct rt_memory *memory);
int rt_memory_import_host(struct rt_device *device, int as_fd, void *pages, uint64_t size,
                          struct rt_memory *memory);
/* After a fork: the process's next store to one of the pages, or the one that the fork
 * raced with, has given it another page, which the GPU does not have. Maps the pages
 * that are there now in the place of the old. */
int rt_memory_renew_host(struct rt_device *device, void *pages, struct rt_memory *memory);
/* Closes the dmabuf fd; the mappings hold the memory (docs/hardware/kernel-interface.md 3.2). */
void rt_memory_drop_fd(struct rt_device *device, struct rt_memory *memory);
/* Harmless on a zeroed struct. */
void rt_memory_destroy(struct rt_device *device, struct rt_memory *memory);

#endif
