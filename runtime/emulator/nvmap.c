/* /dev/nvmap: memory handles. nvgpu-uapi.md 2.5, 3.5 and the nvmap column of 1.4.
 */
#include "runtime/emulator/nvmap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/emulator/l4t.h"

enum {
  NVMAP_LAST_NUMBER = 107,
  NVMAP_ARGUMENT_MAX = 128,
  NVMAP_NODE_LAST = 0, /* NUMA nodes beyond it do not exist */
};

/* Carveouts that Orin lists. They hold nothing here, so nothing can be allocated
 * from them. nvgpu-uapi.md 3.5, GET_AVAILABLE_HEAPS. */
static const uint32_t carveouts = NVMAP_HEAP_VPR | NVMAP_HEAP_FSI;

/* ALLOC's heaps that cannot be mixed with others. */
static const uint32_t exclusive_heaps = NVMAP_HEAP_VPR;

struct emu_handle *emu_handle_find(uint32_t id) {
  struct emu_handle *handle = emu_gpu.handles;
  while (handle && handle->id != id)
    handle = handle->next;
  return handle;
}

static struct emu_handle *handle_create(struct emu_dmabuf *dmabuf) {
  struct emu_handle *handle = calloc(1, sizeof(*handle));
  if (!handle)
    return NULL;
  handle->id = ++emu_gpu.next_handle;
  handle->flags = NVMAP_WRITE_COMBINE; /* 3.5, CREATE */
  handle->dmabuf = dmabuf;
  emu_object_get(&dmabuf->object);
  dmabuf->handles++;
  handle->next = emu_gpu.handles;
  emu_gpu.handles = handle;
  return handle;
}

void emu_handle_free(struct emu_handle *handle) {
  struct emu_handle **link = &emu_gpu.handles;
  while (*link != handle)
    link = &(*link)->next;
  *link = handle->next;
  handle->dmabuf->handles--;
  emu_dmabuf_unpark(handle->dmabuf);
  emu_object_put(&handle->dmabuf->object);
  free(handle);
}

void emu_nvmap_free_all(void) {
  while (emu_gpu.handles)
    emu_handle_free(emu_gpu.handles);
}

struct emu_handle *emu_handle_create(uint64_t size) {
  uint64_t pages = (size + GPU_PAGE_BYTES - 1) / GPU_PAGE_BYTES;
  struct emu_dmabuf *dmabuf = emu_dmabuf_create(pages * GPU_PAGE_BYTES);
  if (!dmabuf)
    return NULL;
  dmabuf->asked = size;
  struct emu_handle *handle = handle_create(dmabuf);
  emu_object_put(&dmabuf->object);
  return handle;
}

static int create(uint64_t size, uint32_t *id) {
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
  return create(a->size, &a->handle);
}

static int nvmap_create_64(void *argument) {
  struct nvmap_create_handle *a = argument;
  uint32_t id;
  int error = create(a->size64, &id);
  if (!error)
    a->handle64 = id;
  return error;
}

/* nvgpu-uapi.md 3.5, ALLOC: the checks in their order */
static int nvmap_alloc(void *argument) {
  const struct nvmap_alloc_handle *a = argument;
  if (a->align & (a->align - 1))
    return -EINVAL;
  if (!a->handle || a->numa_nid < NVMAP_NUMA_ANY || a->numa_nid > NVMAP_NODE_LAST)
    return -EINVAL;
  struct emu_handle *handle = emu_handle_find(a->handle);
  if (!handle)
    return -EINVAL;
  if (!(a->heap_mask & (NVMAP_HEAP_IOVMM | carveouts)))
    return -ENOMEM;
  struct emu_dmabuf *dmabuf = handle->dmabuf;
  if (dmabuf->size > emu_gpu.memory_limit)
    return -ENOMEM;
  if (dmabuf->allocated)
    return -EEXIST;
  if ((a->heap_mask & exclusive_heaps) && (a->heap_mask & ~exclusive_heaps))
    return -EINVAL;
  if (!(a->heap_mask & NVMAP_HEAP_IOVMM) ||
      dmabuf->size > emu_gpu.memory_limit - emu_gpu.memory_used)
    return -ENOMEM;
  dmabuf->allocated = true;
  emu_gpu.memory_used += dmabuf->size;
  handle->heap = NVMAP_HEAP_IOVMM;
  handle->flags = a->flags;
  handle->align = a->align;
  handle->read_only = a->flags & NVMAP_FLAG_READ_ONLY;
  return 0;
}

/* 3.5, FREE: the argument is the value itself, nothing is an error */
static int nvmap_free(uint32_t value) {
  struct emu_handle *handle = emu_handle_find(value);
  if (handle) {
    emu_handle_free(handle);
    return 0;
  }
  int fd = (int)value;
  struct emu_dmabuf *dmabuf = emu_table_get_kind(fd, EMU_DMABUF);
  if (value && dmabuf) {
    emu_dmabuf_closing(dmabuf, fd);
    close(fd);
    emu_table_clear(fd);
  }
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
  handle->heap = NVMAP_HEAP_IOVMM;
  a->handle = handle->id;
  return 0;
}

static int read_write(struct nvmap_rw_handle *a, bool write) {
  if (!a->addr || !a->count || !a->elem_size)
    return -EINVAL;
  struct emu_handle *handle = emu_handle_find(a->handle);
  if (!handle)
    return -EINVAL;
  if (write && handle->read_only)
    return -EPERM;
  struct emu_dmabuf *dmabuf = handle->dmabuf;
  if (!dmabuf->allocated)
    return -EFAULT;
  /* Each element inside the buffer, strides not shorter than an element. */
  if (a->elem_size > dmabuf->size || a->offset > dmabuf->size - a->elem_size)
    return -EINVAL;
  if (a->count > 1 && (a->hmem_stride < a->elem_size || a->user_stride < a->elem_size ||
                       a->count - 1 > (dmabuf->size - a->elem_size - a->offset) / a->hmem_stride))
    return -EINVAL;
  if (emu_dmabuf_host(dmabuf))
    return -ENOMEM;
  for (uint64_t i = 0; i < a->count; i++) {
    uint8_t *memory = dmabuf->host + a->offset + i * a->hmem_stride;
    uint64_t user = a->addr + i * a->user_stride;
    int error = write ? emu_copy_from_user(memory, user, a->elem_size)
                      : emu_copy_to_user(user, memory, a->elem_size);
    if (error)
      return i ? -EINTR : error;
  }
  a->count *= a->elem_size;
  return 0;
}

static int nvmap_write(void *argument) {
  return read_write(argument, true);
}
static int nvmap_read(void *argument) {
  return read_write(argument, false);
}

/* Orin's caches are coherent, as this machine's: checks only. */
static int cache(uint64_t address, uint32_t id, uint64_t bytes, int32_t op) {
  enum { CACHE_OP_LAST = 2 };
  if (!address || op < 0 || op > CACHE_OP_LAST)
    return -EINVAL;
  const struct emu_handle *handle = emu_handle_find(id);
  return handle ? emu_nvmap_cache_range(address, bytes, handle->dmabuf) : -EINVAL;
}

static int nvmap_cache(void *argument) {
  const struct nvmap_cache_op *a = argument;
  return cache(a->addr, a->handle, a->len, a->op);
}

static int nvmap_cache_64(void *argument) {
  const struct nvmap_cache_op_64 *a = argument;
  return cache(a->addr, a->handle, a->len, a->op);
}

static int nvmap_cache_list(void *argument) {
  const struct nvmap_cache_op_list *a = argument;
  bool wide = (uint32_t)a->op >> 31; /* elements of offsets and sizes */
  size_t bytes = wide ? sizeof(uint64_t) : sizeof(uint32_t);
  if (!a->nr || !a->handles || !a->offsets || !a->sizes)
    return -EINVAL;
  for (uint32_t i = 0; i < a->nr; i++) {
    uint32_t id;
    uint64_t offset = 0, size = 0; /* little-endian: the low part is read */
    if (emu_copy_from_user(&id, a->handles + i * sizeof(id), sizeof(id)) ||
        emu_copy_from_user(&offset, a->offsets + i * bytes, bytes) ||
        emu_copy_from_user(&size, a->sizes + i * bytes, bytes))
      return -EFAULT;
    struct emu_handle *handle = emu_handle_find(id);
    if (!handle || !handle->dmabuf->allocated || offset > handle->dmabuf->size ||
        size > handle->dmabuf->size - offset)
      return -EINVAL;
  }
  return 0;
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

static int nvmap_query_heap(void *argument) {
  struct nvmap_query_heap_params *a = argument;
  if (!(a->heap_mask & (NVMAP_HEAP_IOVMM | carveouts)))
    return -ENODEV;
  bool iovmm = a->heap_mask & NVMAP_HEAP_IOVMM;
  a->contig = 0;
  a->total = iovmm ? emu_gpu.memory_limit : 0;
  a->free = iovmm ? emu_gpu.memory_limit - emu_gpu.memory_used : 0;
  a->largest_free_block = GPU_PAGE_BYTES;
  a->granule_size = GPU_PAGE_BYTES;
  return 0;
}

static int nvmap_parameters(void *argument) {
  struct nvmap_handle_parameters *a = argument;
  struct emu_handle *handle = emu_handle_find(a->handle);
  if (!handle)
    return -ENODEV;
  *a = (struct nvmap_handle_parameters){
      .handle = handle->id,
      .heap = handle->heap,
      .align = handle->align,
      .coherency = handle->flags & NVMAP_CACHE_TYPE_MASK,
      .size = handle->dmabuf->size,
  };
  return 0;
}

static int nvmap_duplicate(void *argument) {
  struct nvmap_duplicate_handle *a = argument;
  struct emu_handle *handle = emu_handle_find(a->handle);
  if (!handle)
    return -EINVAL;
  bool read_only = a->access_flags & NVMAP_FLAG_READ_ONLY;
  if (handle->read_only && !read_only)
    return -EPERM;
  struct emu_handle *copy = handle_create(handle->dmabuf);
  if (!copy)
    return -ENOMEM;
  copy->heap = handle->heap;
  copy->flags = handle->flags;
  copy->align = handle->align;
  copy->read_only = read_only;
  a->dup_handle = copy->id;
  return 0;
}

static int nvmap_tag_label(void *argument) {
  enum { TAG_BITS = 64, LABEL_MAX = 64 };
  const struct nvmap_set_tag_label *a = argument;
  uint64_t *word = &emu_gpu.tags[(a->tag & 0xffff) / TAG_BITS];
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

/* FROM_ID, GET_ID and PARAM answer ENOTTY on a board as well. */
static const struct {
  uint32_t request;
  int (*function)(void *argument);
  bool copy_out; /* not always what the direction bits say; 2.5 */
} ioctls[] = {
    {NVMAP_IOC_CREATE, nvmap_create, true},
    {NVMAP_IOC_CREATE_64, nvmap_create_64, true},
    {NVMAP_IOC_ALLOC, nvmap_alloc, false},
    {NVMAP_IOC_WRITE, nvmap_write, true},
    {NVMAP_IOC_READ, nvmap_read, true},
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

int emu_nvmap_ioctl(struct emu_object *object, int fd, unsigned long request, void *user) {
  (void)object;
  (void)fd;
  /* 1.4, nvmap column: wrong magic, number beyond the last, unknown request */
  if (_IOC_TYPE(request) != 'N' || _IOC_NR(request) > NVMAP_LAST_NUMBER)
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
    /* An answer that cannot be delivered must leave nothing behind: try first. */
    if (ioctls[i].copy_out && emu_copy_to_user((uintptr_t)user, argument, size))
      return -EFAULT;
    int result = ioctls[i].function(argument);
    if (result == 0 && ioctls[i].copy_out && emu_copy_to_user((uintptr_t)user, argument, size))
      return -EFAULT;
    return result;
  }
  return -ENOTTY;
}
