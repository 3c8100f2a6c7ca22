/* Address spaces: their ioctls and mappings. Section numbers refer to
 * docs/hardware/kernel-interface.md: 2.2, 3.2. */
#include "emulator/kernel/address_space.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "emulator/engine/grid.h"
#include "emulator/engine/mmu.h"
#include "emulator/kernel/buddy.h"
#include "emulator/kernel/channel.h"
#include "emulator/kernel/dispatch.h"
#include "emulator/kernel/dmabuf.h"
#include "emulator/kernel/l4t.h"
#include "emulator/kernel/syncpoint.h"
#include "emulator/kernel/user_copy.h"
#include "emulator/modes/checks.h"
#include "emulator/modes/notes.h"
#include "emulator/modes/stale.h"
#include "emulator/objects.h"
#include "gpu/hw/host.h"
#include "gpu/hw/memory.h"
#include "gpu/nvgpu/uapi.h"

enum { BATCH_MAX = 256 };

static uint64_t round_to_pages(uint64_t bytes) {
  return (bytes + GPU_PAGE_BYTES - 1) / GPU_PAGE_BYTES * GPU_PAGE_BYTES;
}

static const struct emu_object_ops as_ops;

struct emu_as *emu_as_create(uint64_t start, uint64_t end) {
  struct emu_as *as = emu_object_create(&as_ops, sizeof(*as));
  if (!as)
    return NULL;
  as->start = start;
  as->end = end;
  as->pins.next = as->pins.previous = &as->pins;
  if (!emu_buddy_init(&as->user, start, end)) {
    free(as);
    return NULL;
  }
  if (!emu_buddy_init(&as->kernel, end, end + NVGPU_AS_KERNEL_BYTES)) {
    emu_buddy_destroy(&as->user);
    free(as);
    return NULL;
  }
  pthread_rwlock_init(&as->mappings_lock, NULL);
  pthread_mutex_init(&as->pin_lock, NULL);
  return as;
}

static void as_destroy(struct emu_object *object) {
  struct emu_as *as = (struct emu_as *)object;
  emu_check_leaks(as);
  while (as->mapping_count)
    emu_as_unmap(as, as->mappings[as->mapping_count - 1]);
  while (as->areas) {
    struct emu_area *area = as->areas;
    as->areas = area->next;
    free(area);
  }
  if (as->code)
    emu_code_put(as->code);
  emu_stale_free(as);
  emu_notes_forget(as, 0, GPU_VA_END);
  emu_checks_forget(as, 0, GPU_VA_END);
  free(as->mappings);
  emu_buddy_destroy(&as->user);
  emu_buddy_destroy(&as->kernel);
  pthread_rwlock_destroy(&as->mappings_lock);
  pthread_mutex_destroy(&as->pin_lock);
  free(as);
}

/* Creates a mapping in a range that the caller has reserved. Returns NULL if memory is
 * exhausted. */
static struct emu_mapping *create_mapping(uint64_t gpu, uint64_t size, struct emu_dmabuf *dmabuf,
                                          uint64_t offset) {
  struct emu_mapping *m = calloc(1, sizeof(*m));
  if (!m)
    return NULL;
  m->gpu = gpu;
  m->size = size;
  m->offset = offset;
  m->dmabuf = dmabuf;
  m->host = dmabuf->host + offset;
  m->count = 1;
  m->syncpoint = EMU_NO_SYNCPOINT;
  return m;
}

static bool insert_mapping(struct emu_as *as, struct emu_mapping *m) {
  if (emu_mmu_insert(as, m))
    return false;
  m->dmabuf->mapping_count++;
  emu_object_get(&m->dmabuf->object);
  return true;
}

struct emu_mapping *emu_as_map_kernel(struct emu_as *as, struct emu_dmabuf *dmabuf, uint64_t offset,
                                      uint64_t size, bool writable, int syncpoint) {
  if (emu_dmabuf_host(dmabuf))
    return NULL;
  uint64_t gpu = emu_buddy_alloc(&as->kernel, size);
  struct emu_mapping *m = gpu ? create_mapping(gpu, size, dmabuf, offset) : NULL;
  if (m) {
    m->kernel = true;
    m->writable = writable;
    m->syncpoint = syncpoint;
    if (insert_mapping(as, m))
      return m;
    free(m);
  }
  if (gpu)
    emu_buddy_free(&as->kernel, gpu);
  return NULL;
}

int emu_as_map_part(struct emu_as *as, const struct emu_mapping *whole, uint64_t start,
                    uint64_t end) {
  struct emu_mapping *m =
      create_mapping(start, end - start, whole->dmabuf, whole->offset + (start - whole->gpu));
  if (!m)
    return -ENOMEM;
  m->writable = whole->writable;
  m->flags = whole->flags;
  m->kind = whole->kind;
  m->remap = true;
  m->fixed = true; /* freeing the area also frees its range */
  if (insert_mapping(as, m)) {
    atomic_fetch_add(&as->unmappings, 1);
    return 0;
  }
  free(m);
  return -ENOMEM;
}

void emu_as_unmap(struct emu_as *as, struct emu_mapping *m) {
  emu_mmu_remove(as, m);
  m->dmabuf->mapping_count--;
  atomic_fetch_add(&as->unmappings, 1);
  if (m->kernel)
    emu_buddy_free(&as->kernel, m->gpu);
  else if (!m->fixed)
    emu_buddy_free(&as->user, m->gpu);
  emu_mmu_free_unpinned(as, m);
}

/* 3.2, BIND_CHANNEL */
static int as_bind_channel(struct emu_object *object, int fd, void *argument) {
  (void)fd;
  struct nvgpu_as_bind_channel_args *a = argument;
  struct emu_channel *channel = emu_table_get_kind((int)a->channel_fd, EMU_CHANNEL);
  if (!channel || channel->as)
    return -EINVAL;
  channel->as = (struct emu_as *)object;
  emu_object_get(object);
  return 0;
}

/* ALLOC_SPACE: makes the checks in the driver's order (3.2). */
static int alloc_space(struct emu_as *as, uint64_t pages, uint32_t page_size, uint32_t flags,
                       uint64_t *offset) {
  if (page_size != GPU_PAGE_BYTES)
    return -EINVAL;
  if (!pages || pages > (as->end - as->start) / GPU_PAGE_BYTES)
    return -ENOMEM;
  struct emu_area *area = calloc(1, sizeof(*area));
  if (!area)
    return -ENOMEM;
  area->size = pages * GPU_PAGE_BYTES;
  area->fixed = flags & NVGPU_SPACE_FIXED_OFFSET;
  area->sparse = flags & NVGPU_SPACE_SPARSE;
  if (area->fixed) {
    area->gpu = *offset;
    if (*offset % GPU_PAGE_BYTES || !emu_buddy_alloc_fixed(&as->user, *offset, area->size)) {
      free(area);
      return -ENOMEM;
    }
  } else {
    area->gpu = emu_buddy_alloc(&as->user, area->size);
    if (!area->gpu) {
      free(area);
      return -ENOMEM;
    }
  }
  pthread_rwlock_wrlock(&as->mappings_lock); /* the MMU reads the list of areas under this lock */
  area->next = as->areas;
  as->areas = area;
  pthread_rwlock_unlock(&as->mappings_lock);
  *offset = area->gpu;
  return 0;
}

static int as_alloc_space(struct emu_object *object, int fd, void *argument) {
  (void)fd;
  struct nvgpu_as_alloc_space_args *a = argument;
  return alloc_space((struct emu_as *)object, a->pages, a->page_size, a->flags, &a->o_a.offset);
}

static int as_alloc_space_32(struct emu_object *object, int fd, void *argument) {
  (void)fd;
  struct nvgpu32_as_alloc_space_args *a = argument;
  return alloc_space((struct emu_as *)object, a->pages, a->page_size, a->flags, &a->o_a.offset);
}

/* FREE_SPACE: frees the area that contains the address. An unknown address is not an error
 * (3.2). */
static int as_free_space(struct emu_object *object, int fd, void *argument) {
  (void)fd;
  struct emu_as *as = (struct emu_as *)object;
  struct nvgpu_as_free_space_args *a = argument;
  const struct emu_area *found = emu_area_find(as, a->offset);
  struct emu_area **link = &as->areas;
  while (*link != found)
    link = &(*link)->next;
  struct emu_area *area = *link;
  if (!area)
    return 0;
  for (size_t i = as->mapping_count; i-- > 0;) {
    struct emu_mapping *m = as->mappings[i];
    if (m->fixed && m->gpu >= area->gpu && m->gpu < area->gpu + area->size)
      emu_as_unmap(as, m);
  }
  pthread_rwlock_wrlock(&as->mappings_lock);
  *link = area->next;
  pthread_rwlock_unlock(&as->mappings_lock);
  if (area->fixed)
    emu_buddy_free_fixed(&as->user, area->gpu, area->size);
  else
    emu_buddy_free(&as->user, area->gpu);
  free(area);
  return 0;
}

const struct emu_area *emu_area_find(const struct emu_as *as, uint64_t address) {
  const struct emu_area *area = as->areas;
  while (area && (address < area->gpu || address - area->gpu >= area->size))
    area = area->next;
  return area;
}

/* MAP_BUFFER_EX: checks 2 to 7 of 3.2. */
static int check_map_arguments(const struct nvgpu_as_map_buffer_ex_args *a,
                               const struct emu_dmabuf *dmabuf) {
  const uint32_t known = NVGPU_MAP_FIXED_OFFSET | NVGPU_MAP_CACHEABLE | NVGPU_MAP_UNMAPPED_PTE |
                         NVGPU_MAP_MAPPABLE_COMPBITS | NVGPU_MAP_L3_ALLOC |
                         NVGPU_MAP_SYSTEM_COHERENT | NVGPU_MAP_ACCESS_MASK;
  bool fixed = a->flags & NVGPU_MAP_FIXED_OFFSET;
  uint32_t access = (a->flags & NVGPU_MAP_ACCESS_MASK) >> NVGPU_MAP_ACCESS_SHIFT;
  if (!fixed && (a->buffer_offset || a->offset))
    return -EINVAL; /* check 2 */
  if (!fixed && a->mapping_size)
    return -EINVAL; /* check 3 */
  if (a->mapping_size > dmabuf->size || a->buffer_offset > dmabuf->size - a->mapping_size)
    return -EINVAL; /* check 4 */
  if (access == NVGPU_ACCESS_INVALID)
    return -EINVAL; /* check 5 */
  if (a->flags & NVGPU_MAP_TEGRA_RAW)
    return -EINVAL; /* check 6 */
  if (a->flags & ~(known | emu_release()->map_flags))
    return -EINVAL; /* check 7 */
  return 0;
}

/* Returns the flags that the driver keeps for a mapping. They include the access. */
static uint32_t kept_flags(const struct nvgpu_as_map_buffer_ex_args *a) {
  return a->flags & ~(uint32_t)NVGPU_MAP_MAPPABLE_COMPBITS;
}

/* Returns the kind by which the driver finds a mapping. */
static int16_t kept_kind(const struct nvgpu_as_map_buffer_ex_args *a) {
  return a->compr_kind != NVGPU_KIND_NONE ? a->compr_kind : a->incompr_kind;
}

/* MAP_BUFFER_EX: check 12 of 3.2. Returns the existing mapping that the driver uses again, or NULL.
 * The driver compares the flags with those of only one mapping: the first one in the order of
 * addresses that has the buffer and the kind. The read-only dma-buf of a handle is another buffer
 * than its writable one. nvgpu, os/linux/vm.c, nvgpu_vm_find_mapping */
static struct emu_mapping *same_mapping(const struct emu_as *as,
                                        const struct nvgpu_as_map_buffer_ex_args *a,
                                        const struct emu_dmabuf *dmabuf, bool read_only) {
  const bool fixed = a->flags & NVGPU_MAP_FIXED_OFFSET;
  struct emu_mapping *found = NULL;
  for (size_t i = 0; dmabuf->mapping_count && !found && i < as->mapping_count; i++) {
    struct emu_mapping *m = as->mappings[i];
    if (m->dmabuf == dmabuf && m->read_only == read_only && m->kind == kept_kind(a) && !m->kernel &&
        !m->remap && (!fixed || m->gpu == a->offset))
      found = m;
  }
  return found && found->flags == kept_flags(a) ? found : NULL;
}

/* MAP_BUFFER_EX: check 13 of 3.2. */
static bool is_place_valid(const struct emu_as *as, uint64_t address, uint64_t size) {
  const struct emu_area *area = emu_area_find(as, address);
  return address + size > address && address % GPU_PAGE_BYTES == 0 && area &&
         size <= area->gpu + area->size - address && !emu_mmu_overlaps(as, address, size);
}

/* MAP_BUFFER_EX: check 13 of 3.2, for fixed mappings. A compressible kind also needs the same
 * offset in 64 KiB for the address and the buffer, even where pages are small: nvgpu,
 * common/mm/vm.c, nvgpu_vm_do_map. */
static bool is_fixed_place_valid(const struct emu_as *as,
                                 const struct nvgpu_as_map_buffer_ex_args *a, uint64_t size) {
  return is_place_valid(as, a->offset, size) &&
         (a->compr_kind == NVGPU_KIND_NONE ||
          (a->offset ^ a->buffer_offset) % NVGPU_COMPRESSION_BYTES == 0);
}

/* MAP_BUFFER_EX: check 14 of 3.2. Returns whether the pages can have one of the kinds. */
static bool has_valid_kind(const struct nvgpu_as_map_buffer_ex_args *a, struct emu_dmabuf *dmabuf) {
  if (a->compr_kind != NVGPU_KIND_NONE && emu_dmabuf_comptags(dmabuf))
    return true;
  return a->incompr_kind >= 0 && a->incompr_kind <= UINT8_MAX;
}

/* Makes the checks after check 12 of 3.2 in the driver's order. Sets *size to the bytes to map. */
static int check_new_mapping(const struct emu_as *as, const struct nvgpu_as_map_buffer_ex_args *a,
                             struct emu_dmabuf *dmabuf, uint64_t *size) {
  /* Without a size the whole buffer is meant, even with an offset: nvgpu, common/mm/vm.c,
   * nvgpu_vm_new_mapping. */
  *size = round_to_pages(a->mapping_size ? a->mapping_size : dmabuf->size);
  if (*size > dmabuf->size || a->buffer_offset > dmabuf->size - *size)
    return -EINVAL;
  if ((a->flags & NVGPU_MAP_FIXED_OFFSET) && !is_fixed_place_valid(as, a, *size))
    return -EINVAL; /* check 13 */
  if (!has_valid_kind(a, dmabuf))
    return -ENOMEM; /* check 14 */
  /* The driver loses the error number of nvgpu_gmmu_update_page_table. */
  return a->buffer_offset % GPU_PAGE_BYTES ? -ENOMEM : 0;
}

static int map_buffer(struct emu_as *as, struct nvgpu_as_map_buffer_ex_args *a) {
  struct emu_dmabuf *dmabuf;
  int error = emu_dmabuf_from_fd((int)a->dmabuf_fd, &dmabuf); /* check 1 */
  if (error)
    return error;
  bool fixed = a->flags & NVGPU_MAP_FIXED_OFFSET;
  uint32_t access = (a->flags & NVGPU_MAP_ACCESS_MASK) >> NVGPU_MAP_ACCESS_SHIFT;
  uint64_t size = 0, gpu = 0;
  struct emu_mapping *m;
  bool read_only = emu_dmabuf_read_only(dmabuf, (int)a->dmabuf_fd);
  error = check_map_arguments(a, dmabuf);
  if (!error && (fcntl((int)a->dmabuf_fd, F_GETFL) & O_ACCMODE) == O_WRONLY)
    error = -EINVAL; /* check 8 */
  if (error)
    goto out;
  if (!dmabuf->allocated || emu_dmabuf_host(dmabuf)) {
    error = -ENOMEM; /* check 9 */
    goto out;
  }
  if (access == NVGPU_ACCESS_READ_WRITE && read_only) {
    error = -EINVAL; /* check 11 */
    goto out;
  }
  m = same_mapping(as, a, dmabuf, read_only);
  if (m) {
    m->count++;
    a->offset = m->gpu;
    goto out;
  }
  error = check_new_mapping(as, a, dmabuf, &size);
  if (error)
    goto out;
  error = -ENOMEM;
  gpu = fixed ? a->offset : emu_buddy_alloc(&as->user, size + emu_check_gap());
  m = gpu ? create_mapping(gpu, size, dmabuf, a->buffer_offset) : NULL;
  if (m) {
    m->fixed = fixed;
    m->read_only = read_only;
    m->writable = access != NVGPU_ACCESS_READ_ONLY && !read_only;
    m->flags = kept_flags(a);
    m->kind = kept_kind(a);
    m->compressible = a->compr_kind != NVGPU_KIND_NONE && dmabuf->comptags;
    if (insert_mapping(as, m)) {
      a->offset = gpu;
      error = 0;
      goto out;
    }
    free(m);
  }
  if (gpu && !fixed)
    emu_buddy_free(&as->user, gpu); /* check 15 */
out:
  emu_object_put(&dmabuf->object);
  return error;
}

static int as_map_buffer(struct emu_object *object, int fd, void *argument) {
  (void)fd;
  const struct nvgpu_as_map_buffer_ex_args *a = argument;
  const uint32_t needed = emu_release()->map_flags_needed;
  if ((a->flags & needed) != needed)
    return -EINVAL; /* only r35 makes this check, and makes it first */
  return map_buffer((struct emu_as *)object, argument);
}

/* UNMAP_BUFFER: always succeeds (3.2). The driver's own mappings cannot be removed by the
 * client. */
static void unmap_buffer(struct emu_as *as, uint64_t offset) {
  struct emu_mapping *m = emu_mmu_find_exact(as, offset);
  if (!m)
    emu_check_unmap(as, offset);
  else if (!m->kernel && !m->remap && --m->count == 0)
    emu_as_unmap(as, m);
}

static int as_unmap_buffer(struct emu_object *object, int fd, void *argument) {
  (void)fd;
  unmap_buffer((struct emu_as *)object, ((struct nvgpu_as_unmap_buffer_args *)argument)->offset);
  return 0;
}

/* 3.2, MAP_BUFFER_BATCH */
static int as_map_batch(struct emu_object *object, int fd, void *argument) {
  (void)fd;
  struct emu_as *as = (struct emu_as *)object;
  struct nvgpu_as_map_buffer_batch_args *a = argument;
  if (a->num_unmaps > BATCH_MAX || a->num_maps > BATCH_MAX)
    return -EINVAL;
  for (uint32_t i = 0; i < a->num_unmaps; i++) {
    struct nvgpu_as_unmap_buffer_args unmap;
    if (emu_copy_from_user(&unmap, a->unmaps + i * sizeof(unmap), sizeof(unmap)))
      return -EFAULT;
    unmap_buffer(as, unmap.offset);
  }
  for (uint32_t i = 0; i < a->num_maps; i++) {
    struct nvgpu_as_map_buffer_ex_args map;
    if (emu_copy_from_user(&map, a->maps + i * sizeof(map), sizeof(map)))
      return -EFAULT;
    int error = map_buffer(as, &map);
    if (error)
      return error;
  }
  return 0;
}

/* 3.2, GET_VA_REGIONS */
static int as_va_regions(struct emu_object *object, int fd, void *argument) {
  (void)fd;
  const struct emu_as *as = (const struct emu_as *)object;
  struct nvgpu_as_get_va_regions_args *a = argument;
  struct nvgpu_as_va_region region = {.offset = as->start,
                                      .page_size = GPU_PAGE_BYTES,
                                      .pages = (as->end - as->start) / GPU_PAGE_BYTES};
  if (a->buf_size >= sizeof(region) && emu_copy_to_user(a->buf_addr, &region, sizeof(region)))
    return -EFAULT;
  a->buf_size = sizeof(region);
  return 0;
}

uint64_t emu_as_syncpoints(struct emu_as *as) {
  if (!as->syncpoint_ro) {
    struct emu_dmabuf *memory = emu_syncpoint_memory();
    const struct emu_mapping *m =
        memory ? emu_as_map_kernel(as, memory, 0, memory->size, false, EMU_NO_SYNCPOINT) : NULL;
    as->syncpoint_ro = m ? m->gpu : 0;
  }
  return as->syncpoint_ro;
}

/* GET_SYNC_RO_MAP (3.2). */
static int as_sync_ro_map(struct emu_object *object, int fd, void *argument) {
  (void)fd;
  struct nvgpu_as_get_sync_ro_map_args *a = argument;
  a->base_gpuva = emu_as_syncpoints((struct emu_as *)object);
  if (!a->base_gpuva)
    return -ENOMEM;
  a->sync_size = EMU_SYNCPOINT_STRIDE;
  a->num_syncpoints = EMU_SYNCPOINTS;
  return 0;
}

/* MAPPING_MODIFY: the kind has no effect in this memory (3.2). */
static int as_mapping_modify(struct emu_object *object, int fd, void *argument) {
  (void)fd;
  struct nvgpu_as_mapping_modify_args *a = argument;
  const struct emu_mapping *m = emu_mmu_find_exact((struct emu_as *)object, a->map_address);
  if (!m || m->kernel || m->remap || a->buffer_offset % GPU_PAGE_BYTES ||
      a->buffer_size % GPU_PAGE_BYTES || a->buffer_size > m->size ||
      a->buffer_offset > m->size - a->buffer_size ||
      (a->incompr_kind == NVGPU_KIND_NONE &&
       (a->compr_kind == NVGPU_KIND_NONE || !m->compressible)))
    return -EINVAL;
  return 0;
}

/* GET_BUFFER_COMPBITS_INFO and MAP_BUFFER_COMPBITS return ENOTTY on r36. */
static const struct emu_ioctl ioctls[] = {
    {NVGPU_AS_IOCTL_BIND_CHANNEL, as_bind_channel},
    {NVGPU32_AS_IOCTL_ALLOC_SPACE, as_alloc_space_32},
    {NVGPU_AS_IOCTL_FREE_SPACE, as_free_space},
    {NVGPU_AS_IOCTL_UNMAP_BUFFER, as_unmap_buffer},
    {NVGPU_AS_IOCTL_ALLOC_SPACE, as_alloc_space},
    {NVGPU_AS_IOCTL_MAP_BUFFER_EX, as_map_buffer},
    {NVGPU_AS_IOCTL_GET_VA_REGIONS, as_va_regions},
    {NVGPU_AS_IOCTL_MAP_BUFFER_BATCH, as_map_batch},
    {NVGPU_AS_IOCTL_GET_SYNC_RO_MAP, as_sync_ro_map},
    {NVGPU_AS_IOCTL_MAPPING_MODIFY, as_mapping_modify},
    {NVGPU_AS_IOCTL_REMAP, emu_as_remap, true},
};

const struct emu_node emu_node_as = {
    .magic = 'A',
    .last_number = 14,
    .largest_argument = 40,
    .copy_out_error = -EFAULT,
    .ioctls = ioctls,
    .ioctl_count = sizeof(ioctls) / sizeof(ioctls[0]),
};

static int as_ioctl(struct emu_object *object, int fd, unsigned long request, void *argument) {
  return emu_dispatch(&emu_node_as, object, fd, request, argument);
}

static const struct emu_object_ops as_ops = {
    .kind = EMU_AS,
    .ioctl = as_ioctl,
    .destroy = as_destroy,
};
