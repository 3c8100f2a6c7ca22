/* /dev/nvmap beyond test_ioctl.c: the client's own pages, read-only handles, mappings named in
 * cache requests, and rare requests. docs/hardware/kernel-interface.md 3.5, 4.3. */
#include <errno.h>
#include <fcntl.h>
#include <linux/dma-buf.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/emulator/client.h"

enum { PAGE = 4096 };

static struct fixture *f;

static int setup(void **state) {
  int result = fixture_setup(state);
  f = *state;
  return result;
}

static void *own_pages(size_t pages, int protection, int flags) {
  void *p = mmap(NULL, pages * PAGE, protection, flags | MAP_ANONYMOUS, -1, 0);
  assert_true(p != MAP_FAILED);
  return p;
}

static uint64_t map(int fd, uint32_t access, int result) {
  struct nvgpu_as_map_buffer_ex_args m = {
      .flags = access << NVGPU_MAP_ACCESS_SHIFT, .compr_kind = -1, .dmabuf_fd = (uint32_t)fd};
  EXPECT(result, f->c.as, NVGPU_AS_IOCTL_MAP_BUFFER_EX, m);
  return m.offset;
}

static void unmap(uint64_t va) {
  EXPECT(0, f->c.as, NVGPU_AS_IOCTL_UNMAP_BUFFER, (struct nvgpu_as_unmap_buffer_args){va});
}

static int fd_of(uint32_t id) {
  struct nvmap_create_handle get = {.handle = id};
  EXPECT(0, f->c.nvmap, NVMAP_IOC_GET_FD, get);
  return get.fd;
}

static void free_id(uint32_t id) {
  assert_int_equal(OS->ioctl(f->c.nvmap, NVMAP_IOC_FREE, (void *)(uintptr_t)id), 0);
}

/* Section 3.5, FROM_VA: the checks in their order. */
static void from_va_checks_arguments_in_order(void **state) {
  char *p = own_pages(4, PROT_READ | PROT_WRITE, MAP_PRIVATE);
  char *read_only = own_pages(1, PROT_READ, MAP_PRIVATE);
  char *shared = own_pages(1, PROT_READ | PROT_WRITE, MAP_SHARED);
  assert_int_equal(munmap(p + 3 * PAGE, PAGE), 0);
  struct nvmap_query_heap_params heap = {.heap_mask = NVMAP_HEAP_IOVMM};
  EXPECT(0, f->c.nvmap, NVMAP_IOC_QUERY_HEAP_PARAMS, heap);
  const struct {
    struct nvmap_create_handle_from_va args;
    int result;
  } rows[] = {
      {{.va = (uintptr_t)p + 8, .size = PAGE}, -EINVAL},
      {{.va = UINT64_MAX - PAGE + 1, .size = PAGE}, -EINVAL}, /* no VMA */
      {{.va = (uintptr_t)p, .size64 = heap.total + PAGE}, -ENOMEM},
      {{.va = (uintptr_t)read_only, .size = PAGE}, -EINVAL},
      {{.va = (uintptr_t)shared, .size = PAGE}, -EINVAL}, /* not pinned here */
      {{.va = (uintptr_t)p, .size = 5 * PAGE}, -EINVAL},  /* passes its end */
      {{.va = (uintptr_t)__builtin_frame_address(0) & ~(uint64_t)(PAGE - 1), .size = PAGE}, 0},
      {{.va = (uintptr_t)read_only, .size = PAGE, .flags = NVMAP_FLAG_READ_ONLY}, 0},
      {{.va = (uintptr_t)p, .size = 100}, 0},
  };
  for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
    struct nvmap_create_handle_from_va args = rows[i].args;
    EXPECT(rows[i].result, f->c.nvmap, NVMAP_IOC_FROM_VA, args);
    if (rows[i].result == 0)
      free_id(args.handle);
  }
  munmap(p, 3 * PAGE);
  munmap(read_only, PAGE);
  munmap(shared, PAGE);
}

/* No holder of a dma-buf can remove its pages, because the accesses of other holders would raise
 * SIGBUS. */
static void size_is_sealed(void **state) {
  struct buffer b = buffer_create(&f->c, 2 * PAGE, true);
  assert_int_equal(ftruncate(b.fd, 0), -1);
  assert_int_equal(errno, EPERM);
  assert_int_equal(ftruncate(b.fd, 4 * PAGE), -1);
  assert_int_equal(errno, EPERM);
  assert_int_equal(fallocate(b.fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, PAGE), 0);
  ((volatile char *)b.cpu)[2 * PAGE - 1] = 1;
  /* No holder can make it read-only for the others either. */
  assert_int_equal(fcntl(b.fd, F_ADD_SEALS, F_SEAL_WRITE), -1);
  assert_int_equal(errno, EPERM);
  buffer_destroy(&f->c, &b);
}

/* The holder of a read-only fd gains no rights by opening the file again. */
static void read_only_holder_gains_no_rights(void **state) {
  struct buffer b = buffer_create(&f->c, 2 * PAGE, true);
  struct nvmap_duplicate_handle dup = {.handle = b.handle, .access_flags = NVMAP_FLAG_READ_ONLY};
  EXPECT(0, f->c.nvmap, NVMAP_IOC_DUP_HANDLE, dup);
  const int read_only = fd_of(dup.dup_handle);
  char path[32];
  snprintf(path, sizeof(path), "/proc/self/fd/%d", read_only);
  assert_int_equal(open(path, O_RDWR | O_TRUNC | O_CLOEXEC), -1);
  assert_int_equal(errno, EPERM);
  assert_int_equal(truncate(path, PAGE), -1);
  assert_int_equal(errno, EPERM);
  const int again = open(path, O_RDWR | O_CLOEXEC);
  assert_true(again >= 0);
  assert_int_equal(OS->close(read_only), 0);
  assert_int_equal(OS->close(b.fd), 0);
  free_id(dup.dup_handle);
  /* Nothing changes when the owner's fds have been closed. */
  assert_int_equal(ftruncate(again, 0), -1);
  assert_int_equal(pwrite(again, "", 1, 2 * PAGE), -1);
  assert_int_equal(errno, EPERM);
  assert_int_equal(pwrite(again, "1", 1, 2 * PAGE - 1), 1);
  assert_int_equal(((volatile char *)b.cpu)[2 * PAGE - 1], '1');
  close(again);
  b.fd = fd_of(b.handle);
  buffer_destroy(&f->c, &b);
}

/* Files with the name of a dma-buf that are none: their sizes could change. */
static void forged_dmabufs_are_refused(void **state) {
  static const struct {
    int seals;
    off_t size;
  } rows[] = {{0, PAGE},
              {F_SEAL_SHRINK | F_SEAL_GROW, PAGE},
              {F_SEAL_SHRINK | F_SEAL_SEAL, PAGE},
              {F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL, PAGE},
              {F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL, 0},
              {F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL, 100}};
  for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
    const int fd = memfd_create("dmabuf", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    assert_int_equal(ftruncate(fd, rows[i].size), 0);
    assert_int_equal(fcntl(fd, F_ADD_SEALS, rows[i].seals), 0);
    struct nvmap_create_handle import = {.fd = fd};
    EXPECT(-EINVAL, f->c.nvmap, NVMAP_IOC_FROM_FD, import);
    close(fd);
  }
}

/* A thread that counts until it is stopped, in a page that partly belongs to a device buffer. */
struct other_thread {
  volatile uint64_t count;
  atomic_bool stop;
};

static void *count_up(void *data) {
  struct other_thread *n = data;
  uint64_t count = 0;
  while (!atomic_load(&n->stop))
    n->count = ++count;
  return (void *)(uintptr_t)count;
}

static uint64_t read_gpu(const void *cpu) {
  return *(const volatile uint64_t *)cpu;
}

/* The GPU and the client see the same pages, and no store of another thread is lost. */
static void from_va_shares_pages(void **state) {
  enum { TIMES = 2000 };
  char *p = own_pages(4, PROT_READ | PROT_WRITE, MAP_PRIVATE);
  memset(p, 7, 4 * PAGE);
  struct nvmap_query_heap_params before = {.heap_mask = NVMAP_HEAP_IOVMM}, after = before;
  EXPECT(0, f->c.nvmap, NVMAP_IOC_QUERY_HEAP_PARAMS, before);
  struct nvmap_create_handle_from_va va = {.va = (uintptr_t)p + PAGE, .size64 = 2 * PAGE};
  va.size = 2 * PAGE;
  struct other_thread *n = (struct other_thread *)(p + 2 * PAGE + 64);
  *n = (struct other_thread){0};
  pthread_t thread;
  void *count;
  assert_int_equal(pthread_create(&thread, NULL, count_up, n), 0);
  for (int i = 0; i < TIMES; i++) {
    EXPECT(0, f->c.nvmap, NVMAP_IOC_FROM_VA, va);
    free_id(va.handle);
  }
  atomic_store(&n->stop, true);
  assert_int_equal(pthread_join(thread, &count), 0);
  assert_int_equal(n->count, (uintptr_t)count);
  memset(p, 7, 4 * PAGE);

  EXPECT(0, f->c.nvmap, NVMAP_IOC_FROM_VA, va);
  EXPECT(0, f->c.nvmap, NVMAP_IOC_QUERY_HEAP_PARAMS, after);
  assert_int_equal(before.free, after.free); /* no new memory */
  for (int i = 0; i < 4 * PAGE; i++)
    assert_int_equal(p[i], 7);
  int fd = fd_of(va.handle);
  /* Section 4.3, DMA_BUF_IOCTL_SYNC. */
  EXPECT(0, fd, DMA_BUF_IOCTL_SYNC, (struct dma_buf_sync){DMA_BUF_SYNC_RW | DMA_BUF_SYNC_END});
  EXPECT(-EINVAL, fd, DMA_BUF_IOCTL_SYNC, (struct dma_buf_sync){DMA_BUF_SYNC_START});
  EXPECT(-EINVAL, fd, DMA_BUF_IOCTL_SYNC, (struct dma_buf_sync){1 << 5 | DMA_BUF_SYNC_RW});
  assert_int_equal(OS->ioctl(fd, DMA_BUF_IOCTL_SYNC, (void *)8), -EFAULT);
  uint64_t gpu = map(fd, NVGPU_ACCESS_READ_WRITE, 0);
  push_semaphore(&f->ch, gpu + PAGE, 0x1234, RELEASE_64_WFI);
  submit(&f->c, &f->ch);
  assert_true(wait_word(p + 2 * PAGE, 0x1234));
  struct nvmap_gup_test test = {.va = (uintptr_t)p + PAGE, .handle = va.handle};
  EXPECT(-EINVAL, f->c.nvmap, NVMAP_IOC_GUP_TEST, test); /* the mapping is larger */
  /* A mapping of the dma-buf shows the same pages. */
  int error;
  uint32_t *again = OS->mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0, &error);
  assert_non_null(again);
  assert_int_equal(again[PAGE / 4], 0x1234);
  EXPECT(0, f->c.nvmap, NVMAP_IOC_GUP_TEST, test);
  assert_int_equal(test.result, 1);
  test.va = (uintptr_t)p;
  EXPECT(-EINVAL, f->c.nvmap, NVMAP_IOC_GUP_TEST, test);
  again[1] = 0x4321;
  assert_int_equal(*(uint32_t *)(p + PAGE + 4), 0x4321);
  push_semaphore(&f->ch, gpu + PAGE, 0x5678, RELEASE_64_WFI);
  submit(&f->c, &f->ch);
  assert_true(wait_word(p + 2 * PAGE, 0x5678));
  assert_int_equal(again[PAGE / 4], 0x5678);
  assert_int_equal(munmap(p, 4 * PAGE), 0);
  assert_int_equal(OS->munmap(again, 2 * PAGE), 0);
  unmap(gpu);
  assert_int_equal(OS->close(fd), 0);
  free_id(va.handle);
}

/* After a fork the client's stores go to another page than the GPU's. A new FROM_VA makes it the
 * same page again. */
static void from_va_after_fork_shares_pages_again(void **state) {
  char *p = own_pages(1, PROT_READ | PROT_WRITE, MAP_PRIVATE);
  volatile uint64_t *words = (volatile uint64_t *)p;
  struct nvmap_create_handle_from_va va = {.va = (uintptr_t)p, .size64 = PAGE};
  EXPECT(0, f->c.nvmap, NVMAP_IOC_FROM_VA, va);
  int fd = fd_of(va.handle);
  uint64_t gpu = map(fd, NVGPU_ACCESS_READ_WRITE, 0);
  words[0] = 1;
  pid_t child = fork();
  if (child == 0)
    _exit(words[0] == 1 ? 0 : 1);
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
  words[0] = 2;
  push_semaphore(&f->ch, gpu + 8, 3, RELEASE_64_WFI);
  push_semaphore(&f->ch, f->data.va, 1, RELEASE_64_WFI);
  submit(&f->c, &f->ch);
  assert_true(wait_word(f->data.cpu, 1));
  assert_int_equal(read_gpu(p + 8), 0); /* it went elsewhere */
  unmap(gpu);
  assert_int_equal(OS->close(fd), 0);
  free_id(va.handle);
  va = (struct nvmap_create_handle_from_va){.va = (uintptr_t)p, .size64 = PAGE};
  EXPECT(0, f->c.nvmap, NVMAP_IOC_FROM_VA, va);
  fd = fd_of(va.handle);
  gpu = map(fd, NVGPU_ACCESS_READ_WRITE, 0);
  push_semaphore(&f->ch, gpu + 8, 4, RELEASE_64_WFI);
  submit(&f->c, &f->ch);
  assert_true(wait_word(p + 8, 4));
  assert_int_equal(words[0], 2);
  unmap(gpu);
  assert_int_equal(OS->close(fd), 0);
  free_id(va.handle);
  assert_int_equal(munmap(p, PAGE), 0);
}

static void *wait_for_nine(void *argument) {
  return (void *)(intptr_t)OS->ioctl(f->ch.fd, NVGPU_IOCTL_CHANNEL_WAIT, argument);
}

/* A WAIT that began before a fork reads the GPU's page, which is no longer the client's. */
static void wait_during_fork_reads_gpu_page(void **state) {
  char *p = own_pages(1, PROT_READ | PROT_WRITE, MAP_PRIVATE);
  struct nvmap_create_handle_from_va va = {.va = (uintptr_t)p, .size64 = PAGE};
  EXPECT(0, f->c.nvmap, NVMAP_IOC_FROM_VA, va);
  const int fd = fd_of(va.handle);
  const uint64_t gpu = map(fd, NVGPU_ACCESS_READ_WRITE, 0);
  struct nvgpu_wait_args wait = {.type = 1,
                                 .timeout = PATIENCE_MS,
                                 .condition.semaphore = {.dmabuf_fd = (uint32_t)fd, .payload = 9}};
  pthread_t waiter;
  assert_int_equal(pthread_create(&waiter, NULL, wait_for_nine, &wait), 0);
  usleep(20000); /* by now it is likely to wait */
  const pid_t child = fork();
  if (child == 0)
    _exit(0);
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  push_semaphore(&f->ch, gpu, 9, RELEASE_64_WFI);
  submit(&f->c, &f->ch);
  void *result;
  assert_int_equal(pthread_join(waiter, &result), 0);
  assert_ptr_equal(result, NULL);
  unmap(gpu);
  assert_int_equal(OS->close(fd), 0);
  free_id(va.handle);
  assert_int_equal(munmap(p, PAGE), 0);
}

/* Section 3.2, orders 8 and 11; 3.5, DUP_HANDLE and WRITE; 4.3, "VPR heap, or ...". */
static void read_only_handles_cannot_be_written(void **state) {
  struct buffer b = buffer_create(&f->c, PAGE, false);
  *(uint32_t *)b.cpu = 42;
  struct nvmap_duplicate_handle dup = {.handle = b.handle, .access_flags = NVMAP_FLAG_READ_ONLY};
  EXPECT(0, f->c.nvmap, NVMAP_IOC_DUP_HANDLE, dup);
  struct nvmap_duplicate_handle back = {.handle = dup.dup_handle};
  EXPECT(-EPERM, f->c.nvmap, NVMAP_IOC_DUP_HANDLE, back);
  uint32_t word = 1;
  struct nvmap_rw_handle write = {.addr = (uintptr_t)&word,
                                  .handle = dup.dup_handle,
                                  .elem_size = 4,
                                  .hmem_stride = 4,
                                  .user_stride = 4,
                                  .count = 1};
  EXPECT(-EPERM, f->c.nvmap, NVMAP_IOC_WRITE, write);
  int fd = fd_of(dup.dup_handle), error;
  assert_int_equal(fcntl(fd, F_GETFL) & O_ACCMODE, O_RDONLY);
  assert_null(OS->mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0, &error));
  assert_int_equal(error, -EACCES);
  uint32_t *p = OS->mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, 0, &error);
  assert_non_null(p);
  assert_int_equal(*p, 42);
  assert_int_equal(OS->munmap(p, PAGE), 0);
  map(fd, NVGPU_ACCESS_READ_WRITE, -EINVAL);
  uint64_t gpu = map(fd, NVGPU_ACCESS_DEFAULT, 0);
  push_semaphore(&f->ch, gpu, 1, RELEASE_64_WFI); /* a write to it faults */
  submit(&f->c, &f->ch);
  assert_true(wait_fault(&f->ch, NOTIFIER_MMU_FAULT));
  unmap(gpu);
  assert_int_equal(OS->close(fd), 0);
  /* The writable handle still yields writable fds. */
  assert_int_equal(OS->close(b.fd), 0);
  fd = fd_of(dup.dup_handle);
  b.fd = fd_of(b.handle);
  assert_int_equal(fcntl(b.fd, F_GETFL) & O_ACCMODE, O_RDWR);
  assert_int_equal(OS->close(fd), 0);
  free_id(dup.dup_handle);
  buffer_destroy(&f->c, &b);
  /* The client's own read-only pages. */
  char *own = own_pages(1, PROT_READ, MAP_PRIVATE);
  struct nvmap_create_handle_from_va va = {
      .va = (uintptr_t)own, .size = PAGE, .flags = NVMAP_FLAG_READ_ONLY};
  EXPECT(0, f->c.nvmap, NVMAP_IOC_FROM_VA, va);
  fd = fd_of(va.handle);
  assert_null(OS->mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0, &error));
  assert_int_equal(error, -EPERM);
  assert_int_equal(OS->close(fd), 0);
  free_id(va.handle);
  munmap(own, PAGE);
}

/* 3.5, CACHE */
static void cache_requests_check_ranges(void **state) {
  struct buffer a = buffer_create(&f->c, 2 * PAGE, false), b = buffer_create(&f->c, PAGE, false);
  const uint64_t at = (uintptr_t)a.cpu;
  int local = 0;
  const struct {
    struct nvmap_cache_op_64 args;
    int result;
  } rows[] = {
      {{.addr = 0, .handle = a.handle, .len = 8}, -EINVAL},
      {{.addr = at, .handle = a.handle, .len = 8, .op = 3}, -EINVAL},
      {{.addr = at, .handle = a.handle, .len = 8, .op = -1}, -EINVAL},
      {{.addr = at, .handle = 5, .len = 8}, -EINVAL},
      {{.addr = (uintptr_t)&local, .handle = a.handle, .len = 4}, -EADDRNOTAVAIL},
      {{.addr = at + PAGE, .handle = a.handle, .len = PAGE + 1}, -EADDRNOTAVAIL},
      {{.addr = at, .handle = b.handle, .len = 8}, -EFAULT},
      {{.addr = at, .handle = a.handle, .len = 2 * PAGE, .op = 1}, 0},
  };
  for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
    struct nvmap_cache_op_64 wide = rows[i].args;
    EXPECT(rows[i].result, f->c.nvmap, NVMAP_IOC_CACHE_64, wide);
    struct nvmap_cache_op narrow = {
        .addr = wide.addr, .handle = wide.handle, .len = (uint32_t)wide.len, .op = wide.op};
    EXPECT(rows[i].result, f->c.nvmap, NVMAP_IOC_CACHE, narrow);
  }
  uint32_t handles[2] = {a.handle, b.handle}, offsets[2] = {PAGE, 0}, sizes[2] = {PAGE, PAGE};
  struct nvmap_cache_op_list list = {.handles = (uintptr_t)handles,
                                     .offsets = (uintptr_t)offsets,
                                     .sizes = (uintptr_t)sizes,
                                     .nr = 2};
  EXPECT(0, f->c.nvmap, NVMAP_IOC_CACHE_LIST, list);
  sizes[1]++; /* Orin does not check the ranges: nvmap_cache.c, nvmap_do_cache_maint_list */
  EXPECT(0, f->c.nvmap, NVMAP_IOC_CACHE_LIST, list);
  struct nvmap_create_handle create = {.size = 1};
  EXPECT(0, f->c.nvmap, NVMAP_IOC_CREATE, create);
  handles[1] = create.handle;
  EXPECT(-EPERM, f->c.nvmap, NVMAP_IOC_CACHE_LIST, list);
  struct nvmap_alloc_handle alloc = {
      .handle = create.handle, .heap_mask = NVMAP_HEAP_IOVMM, .flags = NVMAP_FLAG_SYNC_AT_RESERVE};
  EXPECT(0, f->c.nvmap, NVMAP_IOC_ALLOC, alloc);
  EXPECT(-EINVAL, f->c.nvmap, NVMAP_IOC_CACHE_LIST, list); /* of some only */
  free_id(create.handle);
  list.nr = 0;
  EXPECT(-EINVAL, f->c.nvmap, NVMAP_IOC_CACHE_LIST, list);
  list.nr = 2;
  list.sizes = 8;
  EXPECT(-EFAULT, f->c.nvmap, NVMAP_IOC_CACHE_LIST, list);
  buffer_destroy(&f->c, &a);
  buffer_destroy(&f->c, &b);
}

static void rare_requests_check_arguments(void **state) {
  struct buffer b = buffer_create(&f->c, PAGE, false);
  uint32_t heaps = 77, floor = 1;
  EXPECT(0, f->c.nvmap, NVMAP_IOC_GET_IVM_HEAPS, heaps);
  assert_int_equal(heaps, 0);
  EXPECT(0, f->c.nvmap, NVMAP_IOC_VPR_FLOOR_SIZE, floor);
  struct nvmap_alloc_ivm_handle ivm = {.handle = b.handle, .align = 3};
  EXPECT(-EINVAL, f->c.nvmap, NVMAP_IOC_ALLOC_IVM, ivm);
  ivm = (struct nvmap_alloc_ivm_handle){.handle = b.handle, .heap_mask = 2};
  EXPECT(-ENOMEM, f->c.nvmap, NVMAP_IOC_ALLOC_IVM, ivm);
  struct nvmap_create_handle id = {.ivm_handle = 5};
  EXPECT(-EINVAL, f->c.nvmap, NVMAP_IOC_GET_IVC_ID, id);
  id = (struct nvmap_create_handle){.ivm_handle = b.handle};
  EXPECT(0, f->c.nvmap, NVMAP_IOC_GET_IVC_ID, id);
  assert_int_equal(id.ivm_id, 0);
  EXPECT(-EINVAL, f->c.nvmap, NVMAP_IOC_FROM_IVC_ID, id);
  id.ivm_id = 1;
  EXPECT(-ENOMEM, f->c.nvmap, NVMAP_IOC_FROM_IVC_ID, id);
  EXPECT(-EPERM, f->c.nvmap, NVMAP_IOC_GET_SCIIPCID, (struct nvmap_sciipc_map){0});
  EXPECT(-EPERM, f->c.nvmap, NVMAP_IOC_HANDLE_FROM_SCIIPCID, (struct nvmap_sciipc_map){0});
  uint32_t ids[] = {b.handle, 5};
  struct nvmap_fd_for_range_from_list range = {.num_handles = 1, .size = PAGE};
  EXPECT(-EINVAL, f->c.nvmap, NVMAP_IOC_GET_FD_FOR_RANGE_FROM_LIST, range);
  range.handles = 8;
  EXPECT(-EFAULT, f->c.nvmap, NVMAP_IOC_GET_FD_FOR_RANGE_FROM_LIST, range);
  range.handles = (uintptr_t)ids;
  range.num_handles = 2;
  EXPECT(-EINVAL, f->c.nvmap, NVMAP_IOC_GET_FD_FOR_RANGE_FROM_LIST, range);
  char text[] = "compute";
  struct nvmap_set_tag_label label = {.tag = 0x900};
  EXPECT(-ENOENT, f->c.nvmap, NVMAP_IOC_SET_TAG_LABEL, label);
  label = (struct nvmap_set_tag_label){.tag = 0x900, .len = 8, .addr = (uintptr_t)text};
  EXPECT(0, f->c.nvmap, NVMAP_IOC_SET_TAG_LABEL, label);
  label.addr = 8;
  EXPECT(-EFAULT, f->c.nvmap, NVMAP_IOC_SET_TAG_LABEL, label);
  label.len = 0;
  EXPECT(0, f->c.nvmap, NVMAP_IOC_SET_TAG_LABEL, label);
  EXPECT(-ENODEV, f->c.nvmap, NVMAP_IOC_GET_HEAP_SIZE,
         (struct nvmap_heap_size){.heap = NVMAP_HEAP_IOVMM});
  EXPECT(0, f->c.nvmap, NVMAP_IOC_GET_HEAP_SIZE, (struct nvmap_heap_size){.heap = NVMAP_HEAP_VPR});
  struct nvmap_handle_parameters parameters = {.handle = b.handle};
  EXPECT(0, f->c.nvmap, NVMAP_IOC_PARAMETERS, parameters);
  assert_int_equal(parameters.size, PAGE);
  assert_int_equal(parameters.heap, NVMAP_HEAP_IOVMM);
  assert_int_equal(parameters.align, PAGE);
  assert_int_equal(parameters.access_flags, 0);
  /* All ids of a buffer report the same, except that a read-only id, and an id imported from its
   * fd, report that they are read-only. */
  struct nvmap_duplicate_handle dup = {.handle = b.handle, .access_flags = NVMAP_FLAG_READ_ONLY};
  EXPECT(0, f->c.nvmap, NVMAP_IOC_DUP_HANDLE, dup);
  struct nvmap_create_handle import = {.fd = fd_of(dup.dup_handle)};
  EXPECT(0, f->c.nvmap, NVMAP_IOC_FROM_FD, import);
  struct nvmap_handle_parameters imported = {.handle = import.handle};
  EXPECT(0, f->c.nvmap, NVMAP_IOC_PARAMETERS, imported);
  assert_int_equal(imported.serial_id, parameters.serial_id);
  assert_int_equal(imported.coherency, parameters.coherency);
  assert_int_equal(imported.access_flags, NVMAP_FLAG_READ_ONLY);
  assert_int_equal(OS->close(import.fd), 0);
  free_id(import.handle);
  free_id(dup.dup_handle);
  parameters.handle = 5;
  EXPECT(-ENODEV, f->c.nvmap, NVMAP_IOC_PARAMETERS, parameters);
  struct nvmap_create_handle small = {.size = 1};
  EXPECT(0, f->c.nvmap, NVMAP_IOC_CREATE, small);
  /* The flag in ALLOC does not make the id read-only: nvmap_alloc.c, is_nvmap_id_ro. */
  EXPECT(0, f->c.nvmap, NVMAP_IOC_ALLOC,
         (struct nvmap_alloc_handle){.handle = small.handle,
                                     .heap_mask = NVMAP_HEAP_IOVMM | NVMAP_HEAP_VPR,
                                     .flags = NVMAP_FLAG_READ_ONLY | NVMAP_CACHEABLE});
  parameters.handle = small.handle;
  EXPECT(0, f->c.nvmap, NVMAP_IOC_PARAMETERS, parameters);
  assert_int_equal(parameters.coherency, NVMAP_UNCACHED); /* because the memory may be in VPR */
  EXPECT(0, f->c.nvmap, NVMAP_IOC_WRITE,
         (struct nvmap_rw_handle){.addr = (uintptr_t)text,
                                  .handle = small.handle,
                                  .elem_size = 8,
                                  .hmem_stride = 8,
                                  .user_stride = 8,
                                  .count = 1});
  free_id(small.handle);
  buffer_destroy(&f->c, &b);
}

/* nvmap, nvmap_dmabuf.c, __nvmap_map makes every mapping a shared one. */
static void private_mappings_are_shared(void **state) {
  int error;
  struct buffer b = buffer_create(&f->c, PAGE, false);
  uint32_t *p = OS->mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, b.fd, 0, &error);
  assert_non_null(p);
  *p = 77;
  assert_int_equal(*(uint32_t *)b.cpu, 77);
  assert_int_equal(OS->munmap(p, PAGE), 0);
  buffer_destroy(&f->c, &b);
}

/* GET_FD that fails at the limit of fds leaves none open, and succeeds later. A read-only handle
 * needs two fds for a moment: of the new file, and of another open of it. */
static void get_fd_at_limit_leaves_no_fd_open(void **state) {
  struct nvmap_create_handle create = {.size = PAGE};
  EXPECT(0, f->c.nvmap, NVMAP_IOC_CREATE, create);
  struct nvmap_duplicate_handle dup = {.handle = create.handle,
                                       .access_flags = NVMAP_FLAG_READ_ONLY};
  /* Without memory the driver takes the id for an fd. nvmap_ioctl_dup_handle */
  EXPECT(-EBADF, f->c.nvmap, NVMAP_IOC_DUP_HANDLE, dup);
  EXPECT(0, f->c.nvmap, NVMAP_IOC_ALLOC,
         (struct nvmap_alloc_handle){.handle = create.handle, .heap_mask = NVMAP_HEAP_IOVMM});
  EXPECT(0, f->c.nvmap, NVMAP_IOC_DUP_HANDLE, dup);
  struct nvmap_create_handle get = {.handle = dup.dup_handle};
  const int lowest = open("/dev/null", O_RDONLY | O_CLOEXEC);
  struct rlimit limit, low;
  assert_int_equal(close(lowest), 0);
  assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
  low = (struct rlimit){.rlim_cur = (rlim_t)lowest + 1, .rlim_max = limit.rlim_max};
  assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
  const int result = OS->ioctl(f->c.nvmap, NVMAP_IOC_GET_FD, &get);
  assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
  assert_int_equal(result, -EMFILE);
  assert_int_equal(fcntl(lowest, F_GETFD), -1);
  assert_int_equal(OS->close(fd_of(dup.dup_handle)), 0);
  free_id(dup.dup_handle);
  free_id(create.handle);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(from_va_checks_arguments_in_order, setup, fixture_teardown),
      cmocka_unit_test_setup_teardown(size_is_sealed, setup, fixture_teardown),
      cmocka_unit_test_setup_teardown(read_only_holder_gains_no_rights, setup, fixture_teardown),
      cmocka_unit_test_setup_teardown(forged_dmabufs_are_refused, setup, fixture_teardown),
      cmocka_unit_test_setup_teardown(get_fd_at_limit_leaves_no_fd_open, setup, fixture_teardown),
      cmocka_unit_test_setup_teardown(from_va_shares_pages, setup, fixture_teardown),
      cmocka_unit_test_setup_teardown(from_va_after_fork_shares_pages_again, setup,
                                      fixture_teardown),
      cmocka_unit_test_setup_teardown(wait_during_fork_reads_gpu_page, setup, fixture_teardown),
      cmocka_unit_test_setup_teardown(read_only_handles_cannot_be_written, setup, fixture_teardown),
      cmocka_unit_test_setup_teardown(private_mappings_are_shared, setup, fixture_teardown),
      cmocka_unit_test_setup_teardown(cache_requests_check_ranges, setup, fixture_teardown),
      cmocka_unit_test_setup_teardown(rare_requests_check_arguments, setup, fixture_teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
