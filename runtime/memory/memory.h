/* GPU memory from nvmap, mapped into an address space and for the CPU, at the same address if it is
 * free. */
#ifndef TEGRACL_RUNTIME_MEMORY_H
#define TEGRACL_RUNTIME_MEMORY_H

#include "runtime/device/device.h"

enum { RT_NO_ADDRESS_SPACE = -1 };

struct rt_memory {
  uint64_t gpu;  /* 0 if not mapped for the GPU */
  void *cpu;     /* NULL if not mapped for the CPU */
  uint64_t size; /* mapped bytes, a multiple of 4 KiB */
  int as_fd;     /* address space of the GPU mapping, or RT_NO_ADDRESS_SPACE */
  int fd;        /* dmabuf, never 0; -1 after rt_memory_drop_fd */
  bool reserved; /* the addresses stay reserved, so another dmabuf can replace this one */
};

/* Allocates and maps zeroed memory. The dmabuf fd stays open. as_fd may be RT_NO_ADDRESS_SPACE for
 * memory that only the kernel maps (rings). On failure nothing remains allocated. */
int rt_memory_create(struct rt_device *device, int as_fd, uint64_t size, enum rt_memory_type type,
                     struct rt_memory *memory);
/* Reserves addresses of the GPU. rt_memory_create_at is like rt_memory_create, at an address in a
 * reservation. Its memory must be destroyed before rt_memory_unreserve. */
int rt_memory_reserve(struct rt_device *device, int as_fd, uint64_t size, uint64_t *gpu);
int rt_memory_create_at(struct rt_device *device, int as_fd, uint64_t gpu, uint64_t size,
                        enum rt_memory_type type, struct rt_memory *memory);
void rt_memory_unreserve(struct rt_device *device, int as_fd, uint64_t gpu, uint64_t size);
/* rt_memory_import maps a dma-buf for GPU and CPU; the caller keeps its fd. rt_memory_import_host
 * maps pages of the process for the GPU only (cpu is NULL). On failure nothing remains
 * allocated. */
int rt_memory_import(struct rt_device *device, int as_fd, int fd, struct rt_memory *memory);
int rt_memory_import_host(struct rt_device *device, int as_fd, void *pages, uint64_t size,
                          struct rt_memory *memory);
/* Replaces the GPU mapping with one of the process's current pages. Must be called after a fork,
 * because copy-on-write may have given the process new pages, or will at its next store, while the
 * GPU still uses the old ones. */
int rt_memory_renew_host(struct rt_device *device, void *pages, struct rt_memory *memory);
/* Closes the dmabuf fd. The mappings keep the memory (docs/hardware/kernel-interface.md 3.2). */
void rt_memory_drop_fd(struct rt_device *device, struct rt_memory *memory);
/* Does nothing for a zeroed struct. */
void rt_memory_destroy(struct rt_device *device, struct rt_memory *memory);

#endif
