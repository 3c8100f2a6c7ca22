/* Rarely used requests of /dev/nvmap: the client's own memory (FROM_VA), the test for it, ranges of
 * several handles, and memory of virtual machines. docs/hardware/kernel-interface.md 2.5, 3.5;
 * other details come from nvmap_ioctl.c of L4T r36. */
#include <errno.h>
#include <sys/mman.h>

#include "emulator/engine/mmu.h"
#include "emulator/kernel/dmabuf.h"
#include "emulator/kernel/nvmap.h"
#include "emulator/kernel/user_copy.h"
#include "emulator/kernel/vma.h"
#include "gpu/hw/memory.h"
#include "gpu/nvgpu/uapi.h"

/* Makes the client's pages the pages of the dma-buf. A board pins them, so they stay even if the
 * client unmaps them; here the client must not unmap them while the GPU uses them. */
static int take_pages(struct emu_dmabuf *dmabuf, const struct emu_vma *vma, uint64_t va) {
  if (vma->shared) /* private pages of a file are allowed: nvmap pins them as well */
    return -EINVAL;
  dmabuf->host = (uint8_t *)(uintptr_t)va;
  dmabuf->in_place = true;
  return 0;
}

/* Gives the dma-buf separate pages with a copy of the client's. */
static int copy_pages(struct emu_dmabuf *dmabuf) {
  uint8_t *pages = dmabuf->host;
  dmabuf->host = NULL;
  const int error = emu_dmabuf_host(dmabuf);
  if (error) {
    dmabuf->host = pages;
    return error;
  }
  dmabuf->in_place = false;
  for (uint64_t at = 0; at < dmabuf->size; at += GPU_PAGE_BYTES) /* some of them may be unmapped */
    emu_copy_from_user(dmabuf->host + at, (uintptr_t)pages + at, GPU_PAGE_BYTES);
  emu_mmu_moved(dmabuf);
  return 0;
}

int emu_nvmap_share_pages(struct emu_dmabuf *dmabuf, int fd) {
  void *pages = dmabuf->host;
  struct emu_vma vma;
  if (!dmabuf->in_place)
    return 0;
  const uint64_t own =
      (uintptr_t)__builtin_frame_address(0); /* the stack in use must not be replaced */
  if (!emu_vma_find((uintptr_t)pages, &vma) || (own >= vma.start && own < vma.end))
    return -EINVAL;
  const int error = copy_pages(dmabuf);
  if (error)
    return error;
  const int protection = PROT_READ | (vma.writable ? PROT_WRITE : 0);
  return mmap(pages, dmabuf->size, protection, MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED ? -errno
                                                                                            : 0;
}

/* After a fork parent and child share the pages, and whichever writes a page first gets a copy. The
 * page that the GPU uses may then not be the parent's any more (get_user_pages without
 * FOLL_LONGTERM; nvmap_priv.h, nvmap_get_user_pages). Here the parent loses all pages at once. */
void emu_nvmap_forking(void) {
  for (struct emu_dmabuf *dmabuf = emu_memory.dmabufs; dmabuf; dmabuf = dmabuf->next)
    if (dmabuf->in_place)
      copy_pages(dmabuf);
}

/* FROM_VA: makes the checks in the driver's order (3.5). */
int emu_nvmap_from_va(void *argument) {
  struct nvmap_create_handle_from_va *a = argument;
  struct emu_vma vma;
  if (a->va % GPU_PAGE_BYTES || !emu_vma_find(a->va, &vma))
    return -EINVAL;
  uint64_t size = a->size ? a->size : a->size64;
  size = size ? size : vma.end - a->va;
  if (size > emu_memory.limit)
    return -ENOMEM;
  bool read_only = a->flags & NVMAP_FLAG_READ_ONLY;
  if (!vma.writable && !read_only)
    return -EINVAL;
  size = (size + GPU_PAGE_BYTES - 1) / GPU_PAGE_BYTES * GPU_PAGE_BYTES;
  if (a->va < vma.start || size > vma.end - a->va)
    return -EINVAL; /* pinning */
  struct emu_handle *handle = emu_handle_create(size);
  if (!handle)
    return -ENOMEM;
  int error = take_pages(handle->dmabuf, &vma, a->va);
  if (error) {
    emu_handle_free(handle);
    return error;
  }
  handle->dmabuf->allocated = handle->dmabuf->from_va = true;
  handle->dmabuf->read_only = read_only;
  handle->dmabuf->heap = NVMAP_HEAP_IOVMM;
  handle->dmabuf->flags = a->flags;
  handle->dmabuf->align = GPU_PAGE_BYTES;
  handle->read_only = read_only;
  a->handle = handle->id;
  return 0;
}

/* GUP_TEST: checks whether the mapping at va consists of the handle's pages. */
int emu_nvmap_gup_test(void *argument) {
  struct nvmap_gup_test *a = argument;
  struct emu_vma vma;
  if (!emu_vma_find(a->va, &vma) || a->va < vma.start)
    return -EINVAL;
  const struct emu_handle *handle = emu_handle_find(a->handle);
  if (!handle || vma.end - vma.start != handle->dmabuf->size)
    return -EINVAL;
  const struct emu_dmabuf *dmabuf = handle->dmabuf;
  if (dmabuf->in_place ? (uintptr_t)dmabuf->host != vma.start : !emu_dmabuf_is(dmabuf, &vma))
    return -EINVAL;
  a->result = 1;
  return 0;
}

/* 3.5, CACHE */
int emu_nvmap_cache_range(uint64_t address, uint64_t bytes, const struct emu_dmabuf *dmabuf) {
  struct emu_vma vma;
  if (!emu_vma_find(address, &vma) || address < vma.start || bytes > vma.end - address)
    return -EADDRNOTAVAIL;
  for (const struct emu_dmabuf *other = emu_memory.dmabufs; other; other = other->next) {
    if (emu_dmabuf_is(other, &vma))
      return other == dmabuf ? 0 : -EFAULT;
  }
  return -EADDRNOTAVAIL;
}

/* GET_FD_FOR_RANGE_FROM_LIST. A file cannot consist of pages of several files, so after the checks
 * this returns the error of a failed assignment. The real driver crashes for an unknown id. */
int emu_nvmap_range(void *argument) {
  const struct nvmap_fd_for_range_from_list *a = argument;
  if (!a->handles || !a->num_handles || !a->size)
    return -EINVAL;
  for (uint32_t i = 0; i < a->num_handles; i++) {
    uint32_t id;
    if (emu_copy_from_user(&id, a->handles + i * sizeof(id), sizeof(id)))
      return -EFAULT;
    if (!emu_handle_find(id))
      break;
  }
  return -EINVAL;
}

/* There is no IVM carveout, so allocations fail and no id is valid. */
int emu_nvmap_ivm_heaps(void *argument) {
  *(uint32_t *)argument = 0;
  return 0;
}

int emu_nvmap_ivm_alloc(void *argument) {
  const struct nvmap_alloc_ivm_handle *a = argument;
  if ((a->align & (a->align - 1)) || !emu_handle_find(a->handle))
    return -EINVAL;
  return -ENOMEM;
}

int emu_nvmap_ivc_get(void *argument) {
  struct nvmap_create_handle *a = argument;
  const struct emu_handle *handle = emu_handle_find(a->ivm_handle);
  if (!handle)
    return -EINVAL;
  if (!handle->dmabuf->allocated)
    return -EFAULT;
  a->ivm_id = 0;
  return 0;
}

/* The low 16 bits of the id are the size in pages (NVMAP_IVM_LENGTH_WIDTH). */
int emu_nvmap_ivc_open(void *argument) {
  const struct nvmap_create_handle *a = argument;
  return a->ivm_id & UINT16_MAX ? -ENOMEM : -EINVAL;
}

/* The error of a kernel that is built without NvSciIpc. */
int emu_nvmap_sciipc(void *argument) {
  return -EPERM;
}

int emu_nvmap_vpr_floor(void *argument) {
  return 0;
}
