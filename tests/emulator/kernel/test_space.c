/* Address spaces: sparse areas and REMAP, fixed mappings, batches, and objects closed in any order.
 * docs/hardware/kernel-interface.md 3.2, 3.4 "close". */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/emulator/client.h"

enum { PAGE = 4096, AREA_PAGES = 8 };
#define AREA UINT64_C(0x40000000)

static struct fixture *f;

static int setup(void **state) {
  int result = fixture_setup(state);
  f = *state;
  return result;
}

static int remap(struct nvgpu_as_remap_op *ops, uint32_t count, uint32_t *done) {
  struct nvgpu_as_remap_args args = {.ops = (uintptr_t)ops, .num_ops = count};
  int result = OS->ioctl(f->c.as, NVGPU_AS_IOCTL_REMAP, &args);
  *done = args.num_ops;
  return result;
}

/* Section 3.2, REMAP: refused requests, and the number of operations reported. */
static void remap_checks_operations_in_order(void **state) {
  struct buffer b = buffer_create(&f->c, 4 * PAGE, false);
  const uint32_t fd = (uint32_t)b.fd, page = NVGPU_REMAP_PAGE_4K;
  const uint64_t at = AREA / PAGE;
  struct nvgpu_as_alloc_space_args space = {.pages = AREA_PAGES,
                                            .page_size = PAGE,
                                            .flags = NVGPU_SPACE_FIXED_OFFSET | NVGPU_SPACE_SPARSE,
                                            .o_a.offset = AREA};
  EXPECT(0, f->c.as, NVGPU_AS_IOCTL_ALLOC_SPACE, space);
  struct nvgpu_as_alloc_space_args dense = {
      .pages = 4, .page_size = PAGE, .flags = NVGPU_SPACE_FIXED_OFFSET, .o_a.offset = 2 * AREA};
  EXPECT(0, f->c.as, NVGPU_AS_IOCTL_ALLOC_SPACE, dense);
  /* Fields: flags, compressible kind, kind, buffer, reserved, page of the buffer, page of the area,
   * number of pages. */
  const struct {
    struct nvgpu_as_remap_op op;
    int result;
  } rows[] = {
      {{0, -1, 0, fd, 0, 0, at, 1}, -EINVAL}, /* no page size */
      {{page | NVGPU_REMAP_PAGE_64K, -1, 0, fd, 0, 0, at, 1}, -EINVAL},
      {{page | 1, -1, 0, fd, 0, 0, at, 1}, -EINVAL},
      {{page, -1, -1, fd, 0, 0, at, 1}, -EINVAL}, /* no kind */
      {{page, -1, 0, 0, 0, 0, at, 1}, -EINVAL},   /* unmap with a kind */
      {{page, -1, -1, 0, 0, 1, at, 1}, -EINVAL},  /* unmap with an offset */
      {{page | NVGPU_REMAP_CACHEABLE, -1, -1, 0, 0, 0, at, 1}, -EINVAL},
      {{page, -1, 0, fd, 0, 0, at, 0}, -EINVAL},
      {{NVGPU_REMAP_PAGE_64K, -1, 0, fd, 0, 0, at / 16, 1},
       -EINVAL},                                     /* a page size other than the area's */
      {{page, -1, 0, fd, 0, 0, 2 * at, 1}, -EINVAL}, /* not sparse */
      {{page, -1, 0, fd, 0, 0, at - 1, 1}, -EINVAL}, /* no area */
      {{page, -1, 0, fd, 0, 0, at + AREA_PAGES - 1, 2}, -EINVAL}, /* passes its end */
      {{page, -1, 0, fd, 0, 3, at, 2}, -EINVAL},                  /* passes the buffer's */
      {{page, -1, 0, (uint32_t)f->c.as, 0, 0, at, 1}, -EINVAL},
      {{page, 0, 0, fd, 0, 1, at, 3}, 0},
      {{page, -1, -1, 0, 0, 0, at, AREA_PAGES}, 0},
  };
  uint32_t done;
  for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
    struct nvgpu_as_remap_op op = rows[i].op;
    int got = remap(&op, 1, &done);
    if (got != rows[i].result)
      print_error("row %zu\n", i);
    assert_int_equal(got, rows[i].result);
    assert_int_equal(done, rows[i].result == 0);
    if (!rows[i].result)
      assert_int_equal(op.compr_kind, -1); /* written back */
  }
  assert_int_equal(remap(NULL, 0, &done), 0);
  assert_int_equal(remap((void *)8, 1, &done), -EFAULT);
  assert_int_equal(remap((void *)8, UINT32_MAX, &done), -ENOMEM);
  /* All operations are checked before the first is executed. */
  struct nvgpu_as_remap_op two[] = {{page, -1, 0, fd, 0, 0, at, 1}, {page, -1, 0, fd, 0, 9, at, 1}};
  assert_int_equal(remap(two, 2, &done), -EINVAL);
  assert_int_equal(done, 0);
  buffer_destroy(&f->c, &b);
}

static void remapped_pages_are_read_and_written(void **state) {
  struct buffer a = buffer_create(&f->c, 8 * PAGE, false), b = buffer_create(&f->c, PAGE, false);
  struct nvgpu_as_alloc_space_args space = {
      .pages = AREA_PAGES, .page_size = PAGE, .flags = NVGPU_SPACE_SPARSE};
  EXPECT(0, f->c.as, NVGPU_AS_IOCTL_ALLOC_SPACE, space);
  const uint64_t va = space.o_a.offset, at = va / PAGE;
  const uint32_t page = NVGPU_REMAP_PAGE_4K, fa = (uint32_t)a.fd, fb = (uint32_t)b.fd;
  uint32_t done, *wa = a.cpu, *wb = b.cpu;
  const size_t w = PAGE / 4;
  /* Nothing is mapped yet, so reads return zeros. */
  push_semaphore(&f->ch, va + 5 * PAGE + 16, 0, 0);
  assert_true(fixture_store(f, f->data.va + 64, 1));
  /* Eight pages of a; then the fourth page maps b, and the sixth maps the first page of a. */
  struct nvgpu_as_remap_op ops[] = {{page, -1, 0, fa, 0, 0, at, 8},
                                    {page, -1, 0, fb, 0, 0, at + 3, 1},
                                    {page, -1, 0, fa, 0, 0, at + 5, 1}};
  assert_int_equal(remap(ops, 3, &done), 0);
  assert_int_equal(done, 3);
  for (uint32_t i = 0; i < 8; i++)
    assert_true(fixture_store(f, va + i * PAGE + 16, 100 + i));
  const uint32_t expected[8] = {105, 101, 102, 0, 104, 0, 106, 107};
  for (uint32_t i = 0; i < 8; i++)
    assert_int_equal(wa[i * w + 4], expected[i]);
  assert_int_equal(wb[4], 103);
  /* The client cannot unmap these mappings by address, and they are not found as existing
   * mappings. */
  EXPECT(0, f->c.as, NVGPU_AS_IOCTL_UNMAP_BUFFER, (struct nvgpu_as_unmap_buffer_args){va});
  assert_true(fixture_store(f, va + 16, 7));
  assert_int_equal(wa[4], 7);
  struct nvgpu_as_map_buffer_ex_args map = {.dmabuf_fd = fa, .compr_kind = -1};
  EXPECT(0, f->c.as, NVGPU_AS_IOCTL_MAP_BUFFER_EX, map);
  assert_true(map.offset < va || map.offset >= va + 8 * PAGE);
  /* The mappings outlive the buffers' fds and handles. */
  assert_int_equal(OS->close(b.fd), 0);
  assert_true(fixture_store(f, va + 3 * PAGE + 16, 9));
  assert_int_equal(wb[4], 9);
  /* A read-only page; then the area is freed with its mappings. */
  struct nvgpu_as_remap_op only = {page | NVGPU_REMAP_NO_WRITE, -1, 0, fa, 0, 7, at + 7, 1};
  assert_int_equal(remap(&only, 1, &done), 0);
  EXPECT(0, f->c.as, NVGPU_AS_IOCTL_FREE_SPACE, (struct nvgpu_as_free_space_args){.offset = va});
  push_semaphore(&f->ch, va + 16, 1, 1);
  submit(&f->c, &f->ch);
  assert_true(wait_fault(&f->ch, NOTIFIER_MMU_FAULT));
  struct nvmap_create_handle get = {.handle = b.handle};
  EXPECT(0, f->c.nvmap, NVMAP_IOC_GET_FD, get);
  b.fd = get.fd;
  buffer_destroy(&f->c, &a);
  buffer_destroy(&f->c, &b);
}

static void store_to_read_only_remap_faults(void **state) {
  struct buffer a = buffer_create(&f->c, PAGE, false);
  struct nvgpu_as_alloc_space_args space = {
      .pages = 1, .page_size = PAGE, .flags = NVGPU_SPACE_SPARSE};
  EXPECT(0, f->c.as, NVGPU_AS_IOCTL_ALLOC_SPACE, space);
  struct nvgpu_as_remap_op op = {NVGPU_REMAP_PAGE_4K | NVGPU_REMAP_NO_WRITE,
                                 -1,
                                 0,
                                 (uint32_t)a.fd,
                                 0,
                                 0,
                                 space.o_a.offset / PAGE,
                                 1};
  uint32_t done;
  assert_int_equal(remap(&op, 1, &done), 0);
  push_semaphore(&f->ch, space.o_a.offset, 1, 1);
  submit(&f->c, &f->ch);
  assert_true(wait_fault(&f->ch, NOTIFIER_MMU_FAULT));
  buffer_destroy(&f->c, &a);
}

/* Section 2.2, flags of MAP_BUFFER_EX: invalid entries have an address, and an access to it
 * faults. */
static void access_to_invalid_entries_faults(void **state) {
  struct buffer a = buffer_create(&f->c, PAGE, false);
  struct nvgpu_as_map_buffer_ex_args map = {.dmabuf_fd = (uint32_t)a.fd, .compr_kind = -1};
  const uint32_t harmless[] = {NVGPU_MAP_CACHEABLE, NVGPU_MAP_MAPPABLE_COMPBITS, NVGPU_MAP_L3_ALLOC,
                               NVGPU_MAP_SYSTEM_COHERENT};
  for (size_t i = 0; i < sizeof(harmless) / sizeof(harmless[0]); i++) {
    map.flags = harmless[i];
    map.offset = 0;
    EXPECT(0, f->c.as, NVGPU_AS_IOCTL_MAP_BUFFER_EX, map);
    assert_true(fixture_store(f, map.offset, 10 + (uint32_t)i));
    assert_int_equal(*(uint32_t *)a.cpu, 10 + i);
  }
  map.flags = NVGPU_MAP_UNMAPPED_PTE;
  map.offset = 0;
  EXPECT(0, f->c.as, NVGPU_AS_IOCTL_MAP_BUFFER_EX, map);
  push_semaphore(&f->ch, map.offset, 1, 1);
  submit(&f->c, &f->ch);
  assert_true(wait_fault(&f->ch, NOTIFIER_MMU_FAULT));
  EXPECT(0, f->c.as, NVGPU_AS_IOCTL_UNMAP_BUFFER, (struct nvgpu_as_unmap_buffer_args){map.offset});
  buffer_destroy(&f->c, &a);
}

/* Section 3.2, MAP_BUFFER_BATCH, the older ALLOC_SPACE, GET_VA_REGIONS. */
static void batch_maps_and_unmaps(void **state) {
  struct buffer a = buffer_create(&f->c, 2 * PAGE, false);
  struct nvgpu_as_alloc_space_args space = {
      .pages = 4, .page_size = PAGE, .flags = NVGPU_SPACE_FIXED_OFFSET, .o_a.offset = AREA};
  EXPECT(0, f->c.as, NVGPU_AS_IOCTL_ALLOC_SPACE, space);
  struct nvgpu_as_map_buffer_ex_args maps[2] = {
      {.dmabuf_fd = (uint32_t)a.fd, .flags = 1, .compr_kind = -1, .offset = AREA},
      {.dmabuf_fd = (uint32_t)a.fd, .flags = 1, .compr_kind = -1, .offset = AREA + PAGE}};
  struct nvgpu_as_unmap_buffer_args unmaps[2] = {{AREA}, {12345}};
  struct nvgpu_as_map_buffer_batch_args args = {.num_maps = 257};
  EXPECT(-EINVAL, f->c.as, NVGPU_AS_IOCTL_MAP_BUFFER_BATCH, args);
  args = (struct nvgpu_as_map_buffer_batch_args){.num_unmaps = 257};
  EXPECT(-EINVAL, f->c.as, NVGPU_AS_IOCTL_MAP_BUFFER_BATCH, args);
  args = (struct nvgpu_as_map_buffer_batch_args){.num_maps = 1, .maps = 8};
  EXPECT(-EFAULT, f->c.as, NVGPU_AS_IOCTL_MAP_BUFFER_BATCH, args);
  args = (struct nvgpu_as_map_buffer_batch_args){.maps = (uintptr_t)maps, .num_maps = 2};
  EXPECT(-EINVAL, f->c.as, NVGPU_AS_IOCTL_MAP_BUFFER_BATCH, args); /* they overlap */
  assert_true(fixture_store(f, AREA + 8, 5)); /* the first operation was executed */
  assert_int_equal(((uint32_t *)a.cpu)[2], 5);
  args = (struct nvgpu_as_map_buffer_batch_args){
      .unmaps = (uintptr_t)unmaps, .maps = (uintptr_t)&maps[1], .num_unmaps = 2, .num_maps = 1};
  EXPECT(0, f->c.as, NVGPU_AS_IOCTL_MAP_BUFFER_BATCH, args);
  assert_true(fixture_store(f, AREA + PAGE + 8, 6));
  assert_int_equal(((uint32_t *)a.cpu)[2], 6);
  struct nvgpu32_as_alloc_space_args old = {.pages = 1, .page_size = PAGE};
  EXPECT(0, f->c.as, NVGPU32_AS_IOCTL_ALLOC_SPACE, old);
  EXPECT(0, f->c.as, NVGPU_AS_IOCTL_FREE_SPACE,
         (struct nvgpu_as_free_space_args){.offset = old.o_a.offset});
  struct nvgpu_as_get_va_regions_args regions = {.buf_size = 0};
  EXPECT(0, f->c.as, NVGPU_AS_IOCTL_GET_VA_REGIONS, regions);
  assert_int_equal(regions.buf_size, 24);
  EXPECT(-EFAULT, f->c.as, NVGPU_AS_IOCTL_GET_VA_REGIONS, regions);
  buffer_destroy(&f->c, &a);
}

/* Trap T1: the driver's own mappings lie after the range, and the hardware keeps only 40 bits of
 * the addresses of contexts and rings. A ring of 2 MiB uses all the space below 2^40 that the
 * fixture's range leaves. A ring of 512 KiB has run on a board, and every ring works in a range
 * with a lower end. */
static void contexts_beyond_40_bits_are_refused(void **state) {
  enum { BIG = (2 << 20) / GP_ENTRY_BYTES, SMALL = BIG / 4 };
  struct nvgpu_alloc_obj_ctx_args object = {.class_num = CLASS_COMPUTE};
  static const struct {
    uint64_t end;
    uint32_t entries;
    int result;
  } rows[] = {{0xffffe00000, BIG, -EINVAL}, {0xffffe00000, SMALL, 0}, {0x2000000000, BIG, 0}};
  for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
    struct client c;
    struct channel ch, late;
    client_open_range(&c, 0x200000, rows[i].end);
    channel_open(&c, &ch, rows[i].entries, 0);
    EXPECT(rows[i].result, ch.fd, NVGPU_IOCTL_CHANNEL_ALLOC_OBJ_CTX, object);
    if (rows[i].result) {
      assert_true(wait_fault(&ch, NOTIFIER_GR_EXCEPTION));
      assert_non_null(strstr(last_fault(&c).message, "beyond 40 bits"));
      channel_open(&f->c, &late, BIG, 0); /* its TSG already has a context */
      push_semaphore(&late, f->code.va, 1, RELEASE_64);
      submit(&f->c, &late);
      assert_true(wait_fault(&late, NOTIFIER_MMU_FAULT));
      channel_close(&f->c, &late);
    }
    channel_close(&c, &ch);
    client_close(&c);
  }
}

/* Section 3.2, GET_SYNC_RO_MAP; 6, "wait on the GPU". Uses the range that CUDA uses: the fixture's
 * range ends 2 MiB below 2^40, and after it the hardware cannot reach the window
 * (docs/hardware/kernel-interface.md trap T1). */
static void syncpoint_window_is_read_only(void **state) {
  struct client c;
  struct channel ch;
  client_open_range(&c, 0x4000000, 0x2000000000);
  channel_open(&c, &ch, 64, 0);
  struct buffer b = buffer_create(&c, PAGE, true);
  struct nvgpu_as_get_sync_ro_map_args ro = {0}, again = {0};
  EXPECT(0, c.as, NVGPU_AS_IOCTL_GET_SYNC_RO_MAP, ro);
  EXPECT(0, c.as, NVGPU_AS_IOCTL_GET_SYNC_RO_MAP, again);
  assert_int_equal(ro.base_gpuva, again.base_gpuva);
  assert_int_equal(ro.sync_size, 0x10000);
  assert_int_equal(ro.num_syncpoints, 1024);
  struct nvgpu_get_user_syncpoint_args point = {0};
  EXPECT(0, ch.fd, NVGPU_IOCTL_CHANNEL_GET_USER_SYNCPOINT, point);
  push_semaphore(&ch, point.gpu_va, 0, 1);
  push_semaphore(&ch, ro.base_gpuva + point.syncpoint_id * 0x10000, point.syncpoint_max + 1,
                 3 | 1 << 12);
  push_semaphore(&ch, b.va, 77, 1);
  submit(&c, &ch);
  assert_true(wait_word(b.cpu, 77));
  push_semaphore(&ch, ro.base_gpuva, 0, 1);
  submit(&c, &ch);
  assert_true(wait_fault(&ch, NOTIFIER_MMU_FAULT));
  buffer_destroy(&c, &b);
  channel_close(&c, &ch);
  client_close(&c);
  struct nvgpu_as_get_sync_ro_map_args high = {0};
  EXPECT(0, f->c.as, NVGPU_AS_IOCTL_GET_SYNC_RO_MAP, high);
  assert_true(high.base_gpuva >= UINT64_C(1) << 40);
}

/* A channel keeps its address space, a mapping keeps its memory, and a TSG lives until its last
 * channel is closed, in every order of closing. */
static void objects_close_in_any_order(void **state) {
  enum { THINGS = 5 };
  for (unsigned order = 0; order < 120; order++) {
    struct client c;
    struct channel ch;
    client_open(&c);
    channel_open(&c, &ch, 64, 0);
    struct buffer b = buffer_create(&c, PAGE, true);
    const int fds[THINGS] = {c.as, c.tsg, ch.fd, b.fd, c.nvmap};
    unsigned left = THINGS, code = order;
    bool closed[THINGS] = {false};
    uint32_t value = 1;
    for (; left; left--) {
      unsigned nth = code % left;
      code /= left;
      unsigned i = 0;
      for (;; i++)
        if (!closed[i] && nth-- == 0)
          break;
      closed[i] = true;
      assert_int_equal(OS->close(fds[i]), 0);
      assert_int_equal(OS->close(fds[i]), -EBADF);
      if (closed[2])
        continue;
      push_semaphore(&ch, b.va, ++value, 1);
      submit(&c, &ch);
      assert_true(wait_word(b.cpu, value));
    }
    OS->munmap(b.cpu, b.size);
    struct buffer *rest[] = {&ch.ring, &ch.userd, &ch.push, &ch.notifier};
    for (int i = 0; i < 4; i++) {
      OS->munmap(rest[i]->cpu, rest[i]->size);
      OS->close(rest[i]->fd);
    }
    OS->munmap(c.page, 0x10000);
    OS->close(c.node);
    OS->close(c.ctrl);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(remap_checks_operations_in_order, setup, fixture_teardown),
      cmocka_unit_test_setup_teardown(remapped_pages_are_read_and_written, setup, fixture_teardown),
      cmocka_unit_test_setup_teardown(store_to_read_only_remap_faults, setup, fixture_teardown),
      cmocka_unit_test_setup_teardown(access_to_invalid_entries_faults, setup, fixture_teardown),
      cmocka_unit_test_setup_teardown(batch_maps_and_unmaps, setup, fixture_teardown),
      cmocka_unit_test_setup_teardown(contexts_beyond_40_bits_are_refused, setup, fixture_teardown),
      cmocka_unit_test_setup_teardown(syncpoint_window_is_read_only, setup, fixture_teardown),
      cmocka_unit_test(objects_close_in_any_order),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
