/* /dev/nvmap: memory handles. Section numbers refer to docs/hardware/kernel-interface.md: 2.5, 3.5
 * and the nvmap column of 1.4. */
#include "emulator/kernel/nvmap.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "emulator/kernel/dmabuf.h"
#include "emulator/kernel/l4t.h"
#include "emulator/kernel/user_copy.h"
#include "emulator/objects.h"
#include "gpu/hw/memory.h"
#include "gpu/nvgpu/uapi.h"

struct emu_nvmap emu_nvmap;

enum {
  NVMAP_ARGUMENT_MAX = 128,
  NVMAP_NODE_LAST = 0, /* highest NUMA node */
};

/* Carveouts that Orin lists. They have no memory here, so allocations from them fail.
 * docs/hardware/kernel-interface.md 3.5, GET_AVAILABLE_HEAPS */
static const uint32_t carveouts = NVMAP_HEAP_VPR | NVMAP_HEAP_FSI;

/* Heaps that ALLOC does not combine with others: nvmap_alloc.c, heap_policy_excl. */
static const uint32_t exclusive_heaps = NVMAP_HEAP_IVM | NVMAP_HEAP_VIDMEM;

struct emu_handle *emu_handle_find(uint32_t id) {
  struct emu_handle *handle = emu_nvmap.handles;
  while (handle && handle->id != id)
    handle = handle->next;
  return handle;
}

static struct emu_handle *handle_create(struct emu_dmabuf *dmabuf) {
  struct emu_handle *handle = calloc(1, sizeof(*handle));
  if (!handle)
    return NULL;
  handle->id = ++emu_nvmap.next_handle;
  handle->dmabuf = dmabuf;
  emu_object_get(&dmabuf->object);
  dmabuf->handles++;
  handle->next = emu_nvmap.handles;
  emu_nvmap.handles = handle;
  return handle;
}

void emu_handle_free(struct emu_handle *handle) {
  struct emu_handle **link = &emu_nvmap.handles;
  while (*link != handle)
    link = &(*link)->next;
  *link = handle->next;
  handle->dmabuf->handles--;
  emu_dmabuf_drop_kept_fd(handle->dmabuf);
  emu_object_put(&handle->dmabuf->object);
  free(handle);
}

struct emu_handle *emu_handle_create(uint64_t size) {
  uint64_t pages = (size + GPU_PAGE_BYTES - 1) / GPU_PAGE_BYTES;
  struct emu_dmabuf *dmabuf = emu_dmabuf_create(pages * GPU_PAGE_BYTES);
  if (!dmabuf)
    return NULL;
  dmabuf->asked = size;
  dmabuf->flags = NVMAP_WRITE_COMBINE; /* 3.5, CREATE */
  struct emu_handle *handle = handle_create(dmabuf);
  emu_object_put(&dmabuf->object);
  return handle;
}

static int create_handle(uint64_t size, uint32_t *id) {
  if (size == 0 || size > UINT64_MAX - GPU_PAGE_BYTES)
    return -EINVAL;
  const struct emu_handle *handle = emu_handle_create(size);
  if (!handle)
    return -ENOMEM;
  *id = handle->id;
  return 0;
}

static int nvmap_create(void *argument) {
  struct nvmap_create_handle *a = argument;
  return create_handle(a->size, &a->handle);
}

static int nvmap_create_64(void *argument) {
  struct nvmap_create_handle *a = argument;
  uint32_t id;
  int error = create_handle(a->size64, &id);
  if (!error)
    a->handle64 = id;
  return error;
}

/* Kills this process like Linux's OOM killer. The kernel driver refuses only allocations that
 * exceed the whole RAM. It allocates smaller ones page by page with GFP_KERNEL, which waits and
 * kills processes instead of failing (nvmap_alloc.c, handle_page_alloc). The memory does not count
 * as the client's, so other processes may be killed first, but eventually the client is. */
static void kill_for_memory(uint64_t size) {
  fprintf(stderr,
          "tegracl: emulator: killing this process, as the kernel's OOM killer would: nvmap ALLOC "
          "of %llu bytes, but only %llu of %llu are free; check MemAvailable or QUERY_HEAP_PARAMS "
          "before allocating (nvmap, nvmap_dev.c is_nvmap_memory_available and nvmap_alloc.c "
          "handle_page_alloc)\n",
          (unsigned long long)size, (unsigned long long)(emu_memory.limit - emu_memory.used),
          (unsigned long long)emu_memory.limit);
  kill(getpid(), SIGKILL);
  pause();
}

/* ALLOC: makes the checks in the driver's order (docs/hardware/kernel-interface.md 3.5). */
static int nvmap_alloc(void *argument) {
  const struct nvmap_alloc_handle *a = argument;
  if (a->align & (a->align - 1))
    return -EINVAL;
  if (!a->handle || a->numa_nid < NVMAP_NUMA_ANY || a->numa_nid > NVMAP_NODE_LAST)
    return -EINVAL;
  struct emu_handle *handle = emu_handle_find(a->handle);
  if (!handle)
    return -EINVAL;
  struct emu_dmabuf *dmabuf = handle->dmabuf;
  if (!(a->heap_mask & NVMAP_HEAP_IOVMM) || dmabuf->size > emu_memory.limit)
    return -ENOMEM;
  if (dmabuf->allocated)
    return -EEXIST;
  if (a->heap_mask & exclusive_heaps)
    return -EINVAL;
  if (dmabuf->size > emu_memory.limit - emu_memory.used)
    kill_for_memory(dmabuf->size);
  dmabuf->allocated = true;
  emu_memory.used += dmabuf->size;
  dmabuf->heap = NVMAP_HEAP_IOVMM;
  dmabuf->flags = a->flags;
  if (a->heap_mask & NVMAP_HEAP_VPR)
    dmabuf->flags &= ~(uint32_t)NVMAP_CACHE_TYPE_MASK;
  dmabuf->align = a->align > GPU_PAGE_BYTES ? a->align : GPU_PAGE_BYTES;
  return 0;
}

/* FREE: the argument is a value, not a pointer, and no value is an error (3.5). */
static int nvmap_free(uint32_t value) {
  struct emu_handle *handle = emu_handle_find(value);
  if (handle) {
    emu_handle_free(handle);
    return 0;
  }
  int fd = (int)value;
  if (value && emu_table_get_kind(fd, EMU_DMABUF))
    emu_table_close(fd);
  return 0;
}

static int nvmap_get_fd(void *argument) {
  struct nvmap_create_handle *a = argument;
  struct emu_handle *handle = emu_handle_find(a->handle);
  if (!handle) {
    struct emu_dmabuf *dmabuf;
    int error = emu_dmabuf_from_fd((int)a->handle, &dmabuf);
    if (!error)
      emu_object_put(&dmabuf->object);
    return error ? error : -EINVAL;
  }
  int fd = emu_dmabuf_fd(handle->dmabuf, handle->read_only);
  if (fd < 0)
    return fd;
  a->fd = fd;
  return 0;
}

static int nvmap_from_fd(void *argument) {
  struct nvmap_create_handle *a = argument;
  struct emu_dmabuf *dmabuf;
  int error = emu_dmabuf_from_fd(a->fd, &dmabuf);
  if (error)
    return error;
  struct emu_handle *handle = NULL;
  error = -EINVAL;
  if (dmabuf->allocated) {
    handle = handle_create(dmabuf);
    error = handle ? 0 : -ENOMEM;
  }
  emu_object_put(&dmabuf->object);
  if (!handle)
    return error;
  handle->read_only = emu_dmabuf_read_only(handle->dmabuf, a->fd);
  a->handle = handle->id;
  return 0;
}

/* The checks of rw_handle (nvmap_ioctl.c). Sizes are in bytes. Elements without gaps, at a multiple
 * of 8, are combined into one. */
static int check_elements(struct nvmap_rw_handle *a, uint64_t size) {
  if (a->elem_size == a->hmem_stride && a->elem_size == a->user_stride && a->offset % 8 == 0) {
    if (__builtin_mul_overflow(a->elem_size, a->count, &a->elem_size))
      return -EINVAL;
    a->hmem_stride = a->user_stride = a->elem_size;
    a->count = 1;
  }
  if (a->elem_size > size || a->offset >= size || a->elem_size > a->user_stride ||
      a->elem_size > a->hmem_stride || a->user_stride > (size - a->offset) / a->count)
    return -EINVAL;
  uint64_t last;
  if (__builtin_mul_overflow(a->hmem_stride, a->count - 1, &last) ||
      __builtin_add_overflow(last, a->offset, &last) || last > size - a->elem_size)
    return -EINVAL;
  return 0;
}

/* Returns the number of bytes. As in nvmap, a failed copy returns the number of bytes not copied,
 * which the caller takes for bytes copied: if nothing was copied, there is no error. */
static int read_write(struct nvmap_rw_handle *a, bool write) {
  if (!a->addr || !a->count || !a->elem_size)
    return -EINVAL;
  struct emu_handle *handle = emu_handle_find(a->handle);
  if (!handle)
    return -EINVAL;
  struct emu_dmabuf *dmabuf = handle->dmabuf;
  if (write && handle->read_only)
    return -EPERM;
  struct nvmap_rw_handle e = *a;
  uint64_t all;
  bool huge = __builtin_mul_overflow(a->count, a->elem_size, &all);
  a->count = 0;
  if (!dmabuf->allocated)
    return -EPERM; /* without a heap the CPU must not access it */
  if (huge || check_elements(&e, dmabuf->size))
    return -EINVAL;
  if (emu_dmabuf_host(dmabuf))
    return -ENOMEM;
  int error = 0;
  for (uint64_t i = 0; i < e.count && !error; i++) {
    uint8_t *memory = dmabuf->host + e.offset + i * e.hmem_stride;
    uint64_t user = e.addr + i * e.user_stride;
    error = write ? emu_copy_from_user(memory, user, e.elem_size)
                  : emu_copy_to_user(user, memory, e.elem_size);
  }
  a->count = error ? e.elem_size : all;
  return a->count < all ? -EINTR : 0;
}

static int nvmap_write(void *argument) {
  return read_write(argument, true);
}
static int nvmap_read(void *argument) {
  return read_write(argument, false);
}

/* Only checks the arguments: the caches of Orin and of this machine are coherent. */
static int check_cache_request(uint64_t address, uint32_t id, uint64_t bytes, int32_t op) {
  enum { CACHE_OP_LAST = 2 };
  if (!address || op < 0 || op > CACHE_OP_LAST)
    return -EINVAL;
  const struct emu_handle *handle = emu_handle_find(id);
  return handle ? emu_nvmap_cache_range(address, bytes, handle->dmabuf) : -EINVAL;
}

static int nvmap_cache(void *argument) {
  const struct nvmap_cache_op *a = argument;
  return check_cache_request(a->addr, a->handle, a->len, a->op);
}

static int nvmap_cache_64(void *argument) {
  const struct nvmap_cache_op_64 *a = argument;
  return check_cache_request(a->addr, a->handle, a->len, a->op);
}

/* On Tegra234 nvmap_do_cache_maint_list does not check ranges. */
static int nvmap_cache_list(void *argument) {
  const struct nvmap_cache_op_list *a = argument;
  bool wide = (uint32_t)a->op >> 31; /* 64-bit offsets and sizes */
  size_t bytes = wide ? sizeof(uint64_t) : sizeof(uint32_t);
  uint32_t at_reserve = 0;
  if (!a->nr || !a->handles || !a->offsets || !a->sizes)
    return -EINVAL;
  for (uint32_t i = 0; i < a->nr; i++) {
    uint32_t id;
    uint64_t offset = 0, size = 0; /* little-endian, so this sets the low part */
    if (emu_copy_from_user(&id, a->handles + i * sizeof(id), sizeof(id)) ||
        emu_copy_from_user(&offset, a->offsets + i * bytes, bytes) ||
        emu_copy_from_user(&size, a->sizes + i * bytes, bytes))
      return -EFAULT;
    const struct emu_handle *handle = emu_handle_find(id);
    if (!handle)
      return -EINVAL;
    if (!handle->dmabuf->allocated)
      return -EPERM; /* the same error as in read_write */
    at_reserve += !!(handle->dmabuf->flags & NVMAP_FLAG_SYNC_AT_RESERVE);
  }
  return at_reserve % a->nr ? -EINVAL : 0; /* all or none */
}

static int nvmap_available_heaps(void *argument) {
  ((struct nvmap_available_heaps *)argument)->heaps = carveouts;
  return 0;
}

static int nvmap_heap_size(void *argument) {
  struct nvmap_heap_size *a = argument;
  if (!(a->heap & carveouts))
    return -ENODEV;
  a->size = 0;
  return 0;
}

/* Like nvmap_ioctl_query_heap_params, checks carveouts first; an unknown heap is not an error. */
static int nvmap_query_heap(void *argument) {
  struct nvmap_query_heap_params *a = argument;
  bool carveout = a->heap_mask & (NVMAP_HEAP_IOVMM - 1);
  if (carveout && !(a->heap_mask & carveouts))
    return -ENODEV;
  a->largest_free_block = GPU_PAGE_BYTES;
  if (carveout) {
    a->total = a->free = 0;
  } else if (a->heap_mask & NVMAP_HEAP_IOVMM) {
    a->total = emu_memory.limit;
    a->free = emu_memory.limit - emu_memory.used;
    a->granule_size = GPU_PAGE_BYTES;
  }
  return 0;
}

static int nvmap_parameters(void *argument) {
  const uint32_t no_peer = UINT32_MAX; /* of virtual machines */
  struct nvmap_handle_parameters *a = argument;
  const struct emu_handle *handle = emu_handle_find(a->handle);
  if (!handle)
    return -ENODEV;
  const struct emu_dmabuf *dmabuf = handle->dmabuf;
  a->contig = dmabuf->allocated && (dmabuf->flags & NVMAP_FLAG_CONTIGUOUS);
  a->heap_number = no_peer;
  a->heap = dmabuf->heap;
  a->align = dmabuf->align;
  a->coherency = dmabuf->flags & NVMAP_CACHE_TYPE_MASK;
  a->size = dmabuf->size;
  a->offset = 0;
  a->serial_id = dmabuf->serial;
  if (handle->read_only)
    a->access_flags = NVMAP_FLAG_READ_ONLY;
  return 0;
}

static int nvmap_duplicate(void *argument) {
  struct nvmap_duplicate_handle *a = argument;
  struct emu_handle *handle = emu_handle_find(a->handle);
  if (!handle)
    return -EINVAL;
  bool read_only = a->access_flags == NVMAP_FLAG_READ_ONLY;
  if (handle->read_only && !read_only)
    return -EPERM;
  /* Without memory the id is taken for an fd of another driver's dma-buf: nvmap, nvmap_ioctl.c,
   * nvmap_ioctl_dup_handle. */
  if (!handle->dmabuf->allocated)
    return -EBADF;
  struct emu_handle *copy = handle_create(handle->dmabuf);
  if (!copy)
    return -ENOMEM;
  copy->read_only = read_only;
  a->dup_handle = copy->id;
  return 0;
}

static int nvmap_tag_label(void *argument) {
  enum { TAG_BITS = 64, LABEL_MAX = 64 };
  const struct nvmap_set_tag_label *a = argument;
  uint64_t *word = &emu_nvmap.tags[(a->tag & 0xffff) / TAG_BITS];
  uint64_t bit = UINT64_C(1) << (a->tag % TAG_BITS);
  if (!a->len) {
    if (!(*word & bit))
      return -ENOENT;
    *word &= ~bit;
    return 0;
  }
  char label[LABEL_MAX];
  if (emu_copy_from_user(label, a->addr, a->len < LABEL_MAX ? a->len : LABEL_MAX))
    return -EFAULT;
  *word |= bit;
  return 0;
}

/* FROM_ID, GET_ID and PARAM return ENOTTY on a board as well. */
static const struct {
  uint32_t request;
  int (*function)(void *argument);
  bool copy_out;    /* sometimes differs from the direction bits (2.5) */
  bool always_copy; /* copy out even after an error */
} ioctls[] = {
    {NVMAP_IOC_CREATE, nvmap_create, true},
    {NVMAP_IOC_CREATE_64, nvmap_create_64, true},
    {NVMAP_IOC_ALLOC, nvmap_alloc, false},
    {NVMAP_IOC_WRITE, nvmap_write, true, true},
    {NVMAP_IOC_READ, nvmap_read, true, true},
    {NVMAP_IOC_CACHE, nvmap_cache, false},
    {NVMAP_IOC_CACHE_64, nvmap_cache_64, false},
    {NVMAP_IOC_GET_FD, nvmap_get_fd, true},
    {NVMAP_IOC_FROM_FD, nvmap_from_fd, true},
    {NVMAP_IOC_CACHE_LIST, nvmap_cache_list, false},
    {NVMAP_IOC_SET_TAG_LABEL, nvmap_tag_label, false},
    {NVMAP_IOC_GET_AVAILABLE_HEAPS, nvmap_available_heaps, true},
    {NVMAP_IOC_GET_HEAP_SIZE, nvmap_heap_size, true},
    {NVMAP_IOC_PARAMETERS, nvmap_parameters, true},
    {NVMAP_IOC_QUERY_HEAP_PARAMS, nvmap_query_heap, true},
    {NVMAP_IOC_DUP_HANDLE, nvmap_duplicate, true},
    {NVMAP_IOC_FROM_VA, emu_nvmap_from_va, true},
    {NVMAP_IOC_GUP_TEST, emu_nvmap_gup_test, true},
    {NVMAP_IOC_GET_FD_FOR_RANGE_FROM_LIST, emu_nvmap_range, true},
    {NVMAP_IOC_GET_IVM_HEAPS, emu_nvmap_ivm_heaps, true},
    {NVMAP_IOC_ALLOC_IVM, emu_nvmap_ivm_alloc, false},
    {NVMAP_IOC_GET_IVC_ID, emu_nvmap_ivc_get, true},
    {NVMAP_IOC_FROM_IVC_ID, emu_nvmap_ivc_open, true},
    {NVMAP_IOC_GET_SCIIPCID, emu_nvmap_sciipc, false},
    {NVMAP_IOC_HANDLE_FROM_SCIIPCID, emu_nvmap_sciipc, false},
    {NVMAP_IOC_VPR_FLOOR_SIZE, emu_nvmap_vpr_floor, false},
};

static int nvmap_ioctl(struct emu_object *object, int fd, unsigned long request, void *user) {
  /* Unknown requests (1.4, nvmap column): wrong magic, or a number that is too high. */
  if (_IOC_TYPE(request) != 'N' || _IOC_NR(request) > emu_release()->nvmap_last)
    return -ENOTTY;
  if ((uint32_t)request == NVMAP_IOC_FREE)
    return nvmap_free((uint32_t)(uintptr_t)user);
  uint32_t code = emu_l4t_request((uint32_t)request);
  for (size_t i = 0; i < sizeof(ioctls) / sizeof(ioctls[0]); i++) {
    if (ioctls[i].request != code)
      continue;
    size_t size = _IOC_SIZE(request);
    _Alignas(8) uint8_t argument[NVMAP_ARGUMENT_MAX] = {0};
    if (emu_copy_from_user(argument, (uintptr_t)user, size))
      return -EFAULT;
    /* If the result cannot be copied out, the request must have no effect, so try the copy
     * first. */
    if (ioctls[i].copy_out && emu_copy_to_user((uintptr_t)user, argument, size))
      return -EFAULT;
    int result = ioctls[i].function(argument);
    bool copy_out = ioctls[i].copy_out && (result == 0 || ioctls[i].always_copy);
    if (copy_out && emu_copy_to_user((uintptr_t)user, argument, size))
      return -EFAULT;
    return result;
  }
  return -ENOTTY;
}

/* docs/hardware/kernel-interface.md 4.3, "which fd" */
static int nvmap_mmap(struct emu_object *object, int fd, size_t length, int protection,
                      off_t offset) {
  return -EPERM;
}

static void nvmap_destroy(struct emu_object *object) {
  free(object);
  if (--emu_nvmap.opens > 0)
    return;
  while (emu_nvmap.handles)
    emu_handle_free(emu_nvmap.handles);
}

static const struct emu_object_ops nvmap_ops = {
    .kind = EMU_NVMAP,
    .node = NVMAP_NODE,
    .ioctl = nvmap_ioctl,
    .mmap = nvmap_mmap,
    .destroy = nvmap_destroy,
};

int emu_nvmap_open(void) {
  struct emu_object *object = emu_object_create(&nvmap_ops, sizeof(*object));
  if (!object)
    return -ENOMEM;
  emu_nvmap.opens++;
  int fd = emu_table_open("nvmap", object);
  emu_object_put(object);
  return fd;
}
