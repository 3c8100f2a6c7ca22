/* REMAP: maps and unmaps pages of dma-bufs in a sparse area. docs/hardware/kernel-interface.md 3.2;
 * the order of the checks within an operation comes from nvgpu's vm_remap.c of L4T r36.4.3. */
#include <errno.h>
#include <stdlib.h>

#include "emulator/engine/mmu.h"
#include "emulator/kernel/address_space.h"
#include "emulator/kernel/dmabuf.h"
#include "emulator/kernel/user_copy.h"
#include "emulator/objects.h"
#include "gpu/hw/memory.h"
#include "gpu/nvgpu/uapi.h"

enum {
  OPS_BYTES_MAX = 4 << 20, /* the kernel's limit for kmalloc */
  PAGE_SIZES = NVGPU_REMAP_PAGE_4K | NVGPU_REMAP_PAGE_64K | NVGPU_REMAP_PAGE_128K,
  MAP_FLAGS = PAGE_SIZES | NVGPU_REMAP_CACHEABLE | NVGPU_REMAP_NO_WRITE,
};

/* Makes the checks of an operation that do not depend on other operations. */
static int check_operation(const struct emu_as *as, const struct nvgpu_as_remap_op *op) {
  uint32_t size_flag = op->flags & PAGE_SIZES;
  uint64_t pages = (as->end + NVGPU_AS_KERNEL_BYTES) / GPU_PAGE_BYTES;
  bool unmap = op->mem_handle == 0;
  if (op->flags & ~(uint32_t)(unmap ? PAGE_SIZES : MAP_FLAGS))
    return -EINVAL;
  if (!size_flag || (size_flag & (size_flag - 1)))
    return -EINVAL;
  if (unmap && (op->compr_kind != NVGPU_KIND_NONE || op->incompr_kind != NVGPU_KIND_NONE ||
                op->mem_offset_in_pages))
    return -EINVAL;
  if (!unmap && op->compr_kind == NVGPU_KIND_NONE && op->incompr_kind == NVGPU_KIND_NONE)
    return -EINVAL;
  if (!op->num_pages || op->num_pages > pages || op->mem_offset_in_pages > pages ||
      op->virt_offset_in_pages > pages)
    return -EINVAL;
  return 0;
}

/* Returns the sparse area of the first operation, or NULL if there is none. All other operations
 * must be in the same area. */
static const struct emu_area *find_area(const struct emu_as *as,
                                        const struct nvgpu_as_remap_op *op) {
  const struct emu_area *area =
      emu_area_find(as, op->virt_offset_in_pages * (uint64_t)GPU_PAGE_BYTES);
  return area && area->sparse && (op->flags & NVGPU_REMAP_PAGE_4K) ? area : NULL;
}

static bool is_inside(const struct emu_area *area, const struct nvgpu_as_remap_op *op) {
  uint64_t first = area->gpu / GPU_PAGE_BYTES, count = area->size / GPU_PAGE_BYTES;
  return op->virt_offset_in_pages >= first && op->num_pages <= count &&
         op->virt_offset_in_pages - first <= count - op->num_pages;
}

/* Checks an operation against its area and dma-buf. On success *dmabuf is a new reference, or NULL
 * for an unmap. */
static int check_against_area(const struct emu_area *area, const struct nvgpu_as_remap_op *op,
                              struct emu_dmabuf **dmabuf) {
  *dmabuf = NULL;
  if (op->mem_handle && emu_dmabuf_from_fd((int)op->mem_handle, dmabuf))
    return -EINVAL;
  if (!*dmabuf)
    return is_inside(area, op) ? 0 : -EINVAL;
  int error = 0;
  uint64_t pages = (*dmabuf)->size / GPU_PAGE_BYTES;
  if (!(op->flags & NVGPU_REMAP_NO_WRITE) && emu_dmabuf_read_only(*dmabuf, (int)op->mem_handle))
    error = -EINVAL;
  else if (!(*dmabuf)->allocated || emu_dmabuf_host(*dmabuf))
    error = -ENOMEM;
  else if (op->num_pages > pages || op->mem_offset_in_pages > pages - op->num_pages ||
           !is_inside(area, op))
    error = -EINVAL;
  if (error) {
    emu_object_put(&(*dmabuf)->object);
    *dmabuf = NULL;
  }
  return error;
}

/* Unmaps the range. Parts of mappings outside the range remain. */
static int unmap_range(struct emu_as *as, uint64_t start, uint64_t end) {
  for (;;) {
    struct emu_mapping *m = emu_mmu_first_in(as, start, end);
    if (!m)
      return 0;
    const struct emu_mapping whole = *m;
    int error = 0;
    emu_object_get(&whole.dmabuf->object);
    emu_as_unmap(as, m);
    if (whole.gpu < start)
      error = emu_as_map_part(as, &whole, whole.gpu, start);
    if (!error && whole.gpu + whole.size > end)
      error = emu_as_map_part(as, &whole, end, whole.gpu + whole.size);
    emu_object_put(&whole.dmabuf->object);
    if (error)
      return error;
  }
}

static int execute_operation(struct emu_as *as, const struct nvgpu_as_remap_op *op,
                             struct emu_dmabuf *dmabuf) {
  uint64_t start = op->virt_offset_in_pages * (uint64_t)GPU_PAGE_BYTES;
  uint64_t size = op->num_pages * (uint64_t)GPU_PAGE_BYTES;
  int error = unmap_range(as, start, start + size);
  if (error || !dmabuf)
    return error;
  const struct emu_mapping whole = {
      .gpu = start,
      .size = size,
      .offset = op->mem_offset_in_pages * (uint64_t)GPU_PAGE_BYTES,
      .dmabuf = dmabuf,
      .writable = !(op->flags & NVGPU_REMAP_NO_WRITE),
      .remap = true,
      .flags = op->flags & NVGPU_REMAP_CACHEABLE,
      .kind = op->incompr_kind,
  };
  return emu_as_map_part(as, &whole, start, start + size);
}

static int run_operations(struct emu_as *as, const struct nvgpu_as_remap_op *ops,
                          struct emu_dmabuf **dmabufs, uint32_t *count) {
  uint32_t valid = 0, done = 0;
  const struct emu_area *area = find_area(as, &ops[0]);
  int error = area ? 0 : -EINVAL;
  while (!error && valid < *count) {
    error = check_against_area(area, &ops[valid], &dmabufs[valid]);
    valid += !error;
  }
  while (!error && done < *count) {
    error = execute_operation(as, &ops[done], dmabufs[done]);
    done += !error;
  }
  for (uint32_t i = 0; i < valid; i++) {
    if (dmabufs[i])
      emu_object_put(&dmabufs[i]->object);
  }
  *count = done;
  return error;
}

/* num_ops is always copied back; see always_copy in struct emu_ioctl. */
int emu_as_remap(struct emu_object *object, int fd, void *argument) {
  struct emu_as *as = (struct emu_as *)object;
  struct nvgpu_as_remap_args *a = argument;
  if (!a->num_ops)
    return 0;
  if (a->num_ops > OPS_BYTES_MAX / sizeof(struct nvgpu_as_remap_op))
    return -ENOMEM;
  struct nvgpu_as_remap_op *ops = calloc(a->num_ops, sizeof(*ops));
  struct emu_dmabuf **dmabufs = calloc(a->num_ops, sizeof(struct emu_dmabuf *));
  int error = ops && dmabufs ? 0 : -ENOMEM;
  for (uint32_t i = 0; i < a->num_ops && !error; i++) {
    error = emu_copy_from_user(&ops[i], a->ops + i * sizeof(*ops), sizeof(*ops));
    if (error)
      break;
    error = check_operation(as, &ops[i]);
    if (error)
      a->num_ops = 0;
  }
  if (!error)
    error = run_operations(as, ops, dmabufs, &a->num_ops);
  /* Buffers have no compression tags, so the compressible kind is ignored. */
  for (uint32_t i = 0; i < a->num_ops && !error; i++) {
    ops[i].compr_kind = NVGPU_KIND_NONE;
    error = emu_copy_to_user(a->ops + i * sizeof(*ops), &ops[i], sizeof(*ops));
    if (error)
      a->num_ops = i;
  }
  free(ops);
  free(dmabufs);
  return error;
}
