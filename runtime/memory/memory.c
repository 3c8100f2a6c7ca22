/* Allocates, maps and imports nvmap memory. */
#include "runtime/memory/memory.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

#include "gpu/hw/memory.h"
#include "gpu/nvgpu/uapi.h"
#include "runtime/device/available.h"
#include "runtime/device/fds.h"
#include "runtime/message.h"

/* Tag of our allocations in nvmap's statistics. Its value does not matter, but without one the
 * kernel logs a warning (docs/hardware/kernel-interface.md 3.5). */
enum { NVMAP_TAG = 0x0c1 };

static const uint32_t cache_types[] = {
    /* The GPU snoops CPU caches, so data needs no maintenance (docs/hardware/kernel-interface.md
       5). */
    [RT_MEMORY_CACHED] = NVMAP_INNER_CACHEABLE,
    [RT_MEMORY_WRITE_COMBINE] = NVMAP_WRITE_COMBINE,
};

/* Returns a dmabuf fd other than 0, which SETUP_BIND would refuse
 * (docs/hardware/kernel-interface.md trap T6). */
static int get_fd(struct rt_device *d, uint32_t handle, int *fd) {
  struct nvmap_create_handle args = {.handle = handle};
  int error = d->os->ioctl(d->nvmap_fd, NVMAP_IOC_GET_FD, &args);
  if (error == 0 && args.fd == 0) {
    args = (struct nvmap_create_handle){.handle = handle};
    error = d->os->ioctl(d->nvmap_fd, NVMAP_IOC_GET_FD, &args);
    d->os->close(0);
  }
  if (error)
    return error;
  *fd = rt_fd_opened(d->os, args.fd);
  return *fd < 0 ? *fd : 0;
}

/* Only the dmabuf keeps the memory; the handle is released here. */
static int allocate_pages(struct rt_device *d, uint64_t size, enum rt_memory_type type, int *fd) {
  struct nvmap_create_handle create = {.size64 = size};
  int error = d->os->ioctl(d->nvmap_fd, NVMAP_IOC_CREATE_64, &create);
  if (error)
    return rt_fail_call(error, "nvmap CREATE of %llu bytes", (unsigned long long)size);
  uint32_t handle = create.handle64;
  struct nvmap_alloc_handle alloc = {.handle = handle,
                                     .heap_mask = NVMAP_HEAP_IOVMM,
                                     .flags = cache_types[type] | NVMAP_TAG << NVMAP_TAG_SHIFT,
                                     .align = GPU_PAGE_BYTES,
                                     .numa_nid = NVMAP_NUMA_ANY};
  error = d->os->ioctl(d->nvmap_fd, rt_request(d, NVMAP_IOC_ALLOC), &alloc);
  if (error) {
    error = rt_fail_call(error, "nvmap ALLOC of %llu bytes", (unsigned long long)size);
  } else {
    error = get_fd(d, handle, fd);
    if (error)
      error = rt_fail_call(error, "nvmap GET_FD");
  }
  d->os->ioctl(d->nvmap_fd, NVMAP_IOC_FREE, (void *)(uintptr_t)handle);
  return error;
}

static int allocate_handle(struct rt_device *d, uint64_t size, enum rt_memory_type type, int *fd) {
  if (!rt_available_due(d, size))
    return allocate_pages(d, size, type, fd);
  base_mutex_lock(&d->allocation);
  int error = rt_available_check(d, size);
  if (error == 0)
    error = allocate_pages(d, size, type, fd);
  base_mutex_unlock(&d->allocation);
  return error;
}

/* Maps at m->gpu, which must be reserved, or anywhere if it is 0.
 *
 * There are no flags for caches: the GPU's L2 does not keep the data after an access. Both public
 * stacks ran on Orin with such mappings, coherent without flushes (docs/hardware/bring-up.md 2). */
static int map_gpu(struct rt_device *d, struct rt_memory *m) {
  struct nvgpu_as_map_buffer_ex_args args = {.flags = d->release->map_flags_needed,
                                             .compr_kind = NVGPU_KIND_NONE,
                                             .incompr_kind = NVGPU_KIND_PITCH,
                                             .dmabuf_fd = (uint32_t)m->fd,
                                             .page_size = GPU_PAGE_BYTES};
  if (m->gpu) {
    args.flags |= NVGPU_MAP_FIXED_OFFSET;
    args.offset = m->gpu;
  }
  int error = d->os->ioctl(m->as_fd, NVGPU_AS_IOCTL_MAP_BUFFER_EX, &args);
  if (error) {
    if (!m->reserved)
      m->gpu = 0;
    return rt_fail_call(error, "MAP_BUFFER_EX of %llu bytes", (unsigned long long)m->size);
  }
  m->gpu = args.offset;
  return 0;
}

static int map_cpu(struct rt_device *d, struct rt_memory *m) {
  int error = 0;
  if (m->gpu) {
    void *wanted = (void *)(uintptr_t)m->gpu;
    m->cpu = d->os->mmap(wanted, m->size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE,
                         m->fd, 0, &error);
    if (m->cpu)
      return 0;
  }
  m->cpu = d->os->mmap(NULL, m->size, PROT_READ | PROT_WRITE, MAP_SHARED, m->fd, 0, &error);
  return m->cpu
             ? 0
             : rt_fail_call(error, "mmap of a dmabuf of %llu bytes", (unsigned long long)m->size);
}

/* Maps the memory for the CPU, and for the GPU if there is an address space. */
static int map_memory(struct rt_device *d, struct rt_memory *m) {
  base_mutex_lock(&d->addresses);
  int error = m->as_fd == RT_NO_ADDRESS_SPACE ? 0 : map_gpu(d, m);
  if (error == 0)
    error = map_cpu(d, m);
  base_mutex_unlock(&d->addresses);
  return error;
}

int rt_memory_create_at(struct rt_device *d, int as_fd, uint64_t gpu, uint64_t size,
                        enum rt_memory_type type, struct rt_memory *m) {
  *m = (struct rt_memory){.as_fd = as_fd, .fd = -1};
  if (size > UINT64_MAX - GPU_PAGE_BYTES)
    return rt_fail(-ENOMEM, "cannot allocate %llu bytes: larger than any memory",
                   (unsigned long long)size);
  m->size = (size + GPU_PAGE_BYTES - 1) / GPU_PAGE_BYTES * GPU_PAGE_BYTES;
  int error = allocate_handle(d, size, type, &m->fd); /* the kernel rounds the size up */
  if (error)
    return error;
  m->gpu = gpu;
  error = map_memory(d, m);
  if (error)
    rt_memory_destroy(d, m);
  return error;
}

int rt_memory_create(struct rt_device *d, int as_fd, uint64_t size, enum rt_memory_type type,
                     struct rt_memory *m) {
  return rt_memory_create_at(d, as_fd, 0, size, type, m);
}

int rt_memory_import(struct rt_device *d, int as_fd, int fd, struct rt_memory *m) {
  memset(m, 0, sizeof(*m));
  m->fd = -1;
  struct nvgpu_gpu_get_buffer_info_args info = {.in.dmabuf_fd = fd};
  int error = d->os->ioctl(d->ctrl_fd, NVGPU_GPU_IOCTL_GET_BUFFER_INFO, &info);
  if (error)
    return rt_fail_call(error, "GET_BUFFER_INFO of fd %d, which must be a dma-buf", fd);
  m->as_fd = as_fd;
  m->size = info.out.size / GPU_PAGE_BYTES * GPU_PAGE_BYTES;
  m->fd = fd;
  if (m->size == 0)
    error = rt_fail(-EINVAL, "dma-buf is smaller than a page");
  if (error == 0)
    error = map_memory(d, m);
  m->fd = -1;
  if (error)
    rt_memory_destroy(d, m);
  return error;
}

/* Creates a dmabuf from pages of the process. */
static int wrap_pages(struct rt_device *d, void *pages, uint64_t size, int *fd) {
  struct nvmap_create_handle_from_va from = {.va = (uintptr_t)pages,
                                             .flags = NVMAP_INNER_CACHEABLE |
                                                      NVMAP_TAG << NVMAP_TAG_SHIFT,
                                             .size64 = size};
  int error = d->os->ioctl(d->nvmap_fd, NVMAP_IOC_FROM_VA, &from);
  if (error)
    return rt_fail_call(error, "nvmap FROM_VA of %llu bytes at %p", (unsigned long long)size,
                        pages);
  error = get_fd(d, from.handle, fd);
  d->os->ioctl(d->nvmap_fd, NVMAP_IOC_FREE, (void *)(uintptr_t)from.handle);
  return error ? rt_fail_call(error, "nvmap GET_FD") : 0;
}

/* Fixed mappings are possible only in such reservations (docs/hardware/kernel-interface.md 3.2,
 * MAP_BUFFER_EX). */
int rt_memory_reserve(struct rt_device *d, int as_fd, uint64_t size, uint64_t *gpu) {
  struct nvgpu_as_alloc_space_args args = {.pages = size / GPU_PAGE_BYTES,
                                           .page_size = GPU_PAGE_BYTES};
  int error = d->os->ioctl(as_fd, NVGPU_AS_IOCTL_ALLOC_SPACE, &args);
  if (error)
    return rt_fail_call(error, "ALLOC_SPACE of %llu bytes", (unsigned long long)size);
  *gpu = args.o_a.offset;
  return 0;
}

void rt_memory_unreserve(struct rt_device *d, int as_fd, uint64_t gpu, uint64_t size) {
  struct nvgpu_as_free_space_args args = {
      .offset = gpu, .pages = size / GPU_PAGE_BYTES, .page_size = GPU_PAGE_BYTES};
  d->os->ioctl(as_fd, NVGPU_AS_IOCTL_FREE_SPACE, &args);
}

int rt_memory_import_host(struct rt_device *d, int as_fd, void *pages, uint64_t size,
                          struct rt_memory *m) {
  *m = (struct rt_memory){.as_fd = as_fd, .size = size, .fd = -1};
  int error = wrap_pages(d, pages, size, &m->fd);
  if (error == 0)
    error = rt_memory_reserve(d, as_fd, size, &m->gpu);
  m->reserved = error == 0;
  if (error == 0)
    error = map_gpu(d, m);
  if (error)
    rt_memory_destroy(d, m);
  else
    rt_memory_drop_fd(d, m);
  return error;
}

int rt_memory_renew_host(struct rt_device *d, void *pages, struct rt_memory *m) {
  int error = wrap_pages(d, pages, m->size, &m->fd);
  if (error)
    return error;
  struct nvgpu_as_unmap_buffer_args unmap = {.offset = m->gpu};
  d->os->ioctl(m->as_fd, NVGPU_AS_IOCTL_UNMAP_BUFFER, &unmap);
  error = map_gpu(d, m);
  rt_memory_drop_fd(d, m);
  return error;
}

void rt_memory_drop_fd(struct rt_device *d, struct rt_memory *m) {
  rt_fd_close(d->os, m->fd);
  m->fd = -1;
}

/* Unmaps from the GPU, then from the CPU, then closes the fd. This order caused no kernel warnings
 * (docs/hardware/bring-up.md trap 26). */
void rt_memory_destroy(struct rt_device *d, struct rt_memory *m) {
  if (m->size == 0)
    return;
  base_mutex_lock(&d->addresses);
  if (m->gpu) {
    struct nvgpu_as_unmap_buffer_args args = {.offset = m->gpu};
    d->os->ioctl(m->as_fd, NVGPU_AS_IOCTL_UNMAP_BUFFER, &args);
  }
  if (m->reserved)
    rt_memory_unreserve(d, m->as_fd, m->gpu, m->size);
  if (m->cpu)
    d->os->munmap(m->cpu, m->size);
  base_mutex_unlock(&d->addresses);
  rt_memory_drop_fd(d, m);
  memset(m, 0, sizeof(*m));
  m->fd = -1;
}
