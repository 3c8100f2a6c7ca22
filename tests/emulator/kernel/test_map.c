/* MAP_BUFFER_EX: which existing mapping a request uses again, and its checks of places and kinds;
 * compression tags. docs/hardware/kernel-interface.md 3.1 REGISTER_BUFFER, 3.2, 5. The functions in
 * the comments are nvgpu's. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "tests/emulator/client.h"

enum { PAGE = 4096, AREA_PAGES = 64 };
#define AREA UINT64_C(0x40000000)

static struct fixture *f;

static int setup(void **state) {
  int result = fixture_setup(state);
  f = *state;
  return result;
}

static void alloc_area(void) {
  struct nvgpu_as_alloc_space_args space = {.pages = AREA_PAGES,
                                            .page_size = PAGE,
                                            .flags = NVGPU_SPACE_FIXED_OFFSET,
                                            .o_a.offset = AREA};
  EXPECT(0, f->c.as, NVGPU_AS_IOCTL_ALLOC_SPACE, space);
}

static struct nvgpu_as_map_buffer_ex_args map_arguments(int fd, uint32_t flags) {
  return (struct nvgpu_as_map_buffer_ex_args){
      .dmabuf_fd = (uint32_t)fd, .flags = flags, .compr_kind = NVGPU_KIND_NONE};
}

static uint64_t map(int fd, uint32_t flags) {
  struct nvgpu_as_map_buffer_ex_args args = map_arguments(fd, flags);
  EXPECT(0, f->c.as, NVGPU_AS_IOCTL_MAP_BUFFER_EX, args);
  return args.offset;
}

static uint32_t access_flags(enum nvgpu_map_access access) {
  return (uint32_t)access << NVGPU_MAP_ACCESS_SHIFT;
}

static void unmap(uint64_t va) {
  EXPECT(0, f->c.as, NVGPU_AS_IOCTL_UNMAP_BUFFER, (struct nvgpu_as_unmap_buffer_args){va});
}

/* A writable mapping never takes the place of a read-only one of the same buffer. os/linux/vm.c,
 * nvgpu_vm_find_mapping; common/mm/vm.c, nvgpu_vm_do_map */
static void mappings_with_other_access_are_separate(void **state) {
  struct buffer b = buffer_create(&f->c, PAGE, false);
  const uint64_t reader = map(b.fd, access_flags(NVGPU_ACCESS_READ_ONLY));
  const uint64_t writer = map(b.fd, access_flags(NVGPU_ACCESS_READ_WRITE));
  assert_true(reader != writer);
  assert_true(fixture_store(f, writer, 1));
  push_semaphore(&f->ch, reader, 1, 1);
  submit(&f->c, &f->ch);
  assert_true(wait_fault(&f->ch, NOTIFIER_MMU_FAULT));
  buffer_destroy(&f->c, &b);
}

/* The read-only dma-buf of a handle is another buffer. nvgpu_vm_find_mapping */
static void mappings_of_a_read_only_handle_are_separate(void **state) {
  struct buffer b = buffer_create(&f->c, PAGE, false);
  struct nvmap_duplicate_handle dup = {.handle = b.handle, .access_flags = NVMAP_FLAG_READ_ONLY};
  EXPECT(0, f->c.nvmap, NVMAP_IOC_DUP_HANDLE, dup);
  struct nvmap_create_handle get = {.handle = dup.dup_handle};
  EXPECT(0, f->c.nvmap, NVMAP_IOC_GET_FD, get);
  const uint64_t reader = map((int)get.fd, 0), writer = map(b.fd, 0);
  assert_true(reader != writer);
  assert_true(fixture_store(f, writer, 1));
  assert_int_equal(map((int)get.fd, 0), reader);
  assert_int_equal(map(b.fd, 0), writer);
  assert_int_equal(OS->close((int)get.fd), 0);
  assert_int_equal(OS->ioctl(f->c.nvmap, NVMAP_IOC_FREE, (void *)(uintptr_t)dup.dup_handle), 0);
  buffer_destroy(&f->c, &b);
}

/* Only the mapping with the lowest address is compared, and MAPPABLE_COMPBITS is not.
 * nvgpu_vm_find_mapping */
static void first_mapping_decides_about_reuse(void **state) {
  struct buffer b = buffer_create(&f->c, PAGE, false);
  const uint64_t first = map(b.fd, NVGPU_MAP_CACHEABLE);
  assert_int_equal(map(b.fd, NVGPU_MAP_CACHEABLE | NVGPU_MAP_MAPPABLE_COMPBITS), first);
  const uint64_t other = map(b.fd, 0);
  assert_true(other != first);
  const uint64_t again = map(b.fd, other < first ? NVGPU_MAP_CACHEABLE : 0);
  assert_true(again != first && again != other);
  /* The kind by which a mapping is found is the compressible one. */
  struct nvgpu_as_map_buffer_ex_args args = map_arguments(b.fd, NVGPU_MAP_CACHEABLE);
  args.compr_kind = 8;
  EXPECT(0, f->c.as, NVGPU_AS_IOCTL_MAP_BUFFER_EX, args);
  const uint64_t compressible = args.offset;
  assert_true(compressible != first);
  args.incompr_kind = 7;
  args.offset = 0;
  EXPECT(0, f->c.as, NVGPU_AS_IOCTL_MAP_BUFFER_EX, args);
  assert_int_equal(args.offset, compressible);
  buffer_destroy(&f->c, &b);
}

/* common/mm/vm.c, nvgpu_vm_map, nvgpu_vm_new_mapping and nvgpu_vm_do_map; common/mm/gmmu/
 * page_table.c, nvgpu_gmmu_update_page_table, whose error number is lost */
static void places_and_kinds_are_checked(void **state) {
  enum { KIND = 8 };
  struct buffer b = buffer_create(&f->c, 3 * PAGE, false);
  const uint32_t fd = (uint32_t)b.fd, fixed = NVGPU_MAP_FIXED_OFFSET;
  const struct {
    struct nvgpu_as_map_buffer_ex_args args;
    int result;
  } rows[] = {
      /* Without a size the whole buffer is mapped, which does not fit after an offset. */
      {{.flags = fixed, .compr_kind = -1, .offset = AREA, .buffer_offset = PAGE}, -EINVAL},
      {{.flags = fixed,
        .compr_kind = -1,
        .offset = AREA,
        .buffer_offset = 16,
        .mapping_size = PAGE},
       -ENOMEM},
      /* A compressible kind needs the same offset in 64 KiB. */
      {{.flags = fixed, .compr_kind = KIND, .offset = AREA + PAGE, .mapping_size = PAGE}, -EINVAL},
      {{.flags = fixed,
        .compr_kind = KIND,
        .offset = AREA + PAGE,
        .buffer_offset = PAGE,
        .mapping_size = PAGE},
       0},
      {{.flags = fixed, .compr_kind = KIND, .offset = AREA + 16 * PAGE, .mapping_size = PAGE}, 0},
      {{.flags = fixed, .compr_kind = -1, .offset = AREA + 33 * PAGE, .mapping_size = PAGE}, 0},
      /* A kind that is not used is not checked. */
      {{.compr_kind = KIND, .incompr_kind = -1}, 0},
      {{.compr_kind = KIND + 1, .incompr_kind = 256}, 0},
      {{.compr_kind = -1, .incompr_kind = 256}, -ENOMEM},
      {{.compr_kind = -1, .incompr_kind = -1}, -ENOMEM},
  };
  alloc_area();
  for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
    struct nvgpu_as_map_buffer_ex_args args = rows[i].args;
    args.dmabuf_fd = fd;
    EXPECT(rows[i].result, f->c.as, NVGPU_AS_IOCTL_MAP_BUFFER_EX, args);
  }
  buffer_destroy(&f->c, &b);
}

/* os/linux/ioctl_ctrl.c, nvgpu_gpu_ioctl_register_buffer; os/linux/comptags.c,
 * gk20a_alloc_or_get_comptags: without tags only the incompressible kind can be used.
 * MAPPING_MODIFY keeps what the mapping has: common/mm/vm.c, nvgpu_vm_mapping_modify */
static void compression_tags_follow_registration(void **state) {
  struct {
    uint8_t control;
    uint32_t flags;
    int result; /* of a mapping with only a compressible kind */
  } rows[] = {{NVGPU_COMPTAGS_NONE, 0, -ENOMEM},
              {NVGPU_COMPTAGS_NONE, NVGPU_REGISTER_MUTABLE, 0},
              {NVGPU_COMPTAGS_REQUESTED, 0, 0},
              {NVGPU_COMPTAGS_REQUIRED, 0, 0}};
  for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
    struct buffer b = buffer_create(&f->c, PAGE, false);
    struct nvgpu_gpu_register_buffer_args reg = {.dmabuf_fd = b.fd,
                                                 .comptags_alloc_control = rows[i].control,
                                                 .flags = rows[i].flags | NVGPU_REGISTER_MODIFY};
    EXPECT(0, f->c.ctrl, NVGPU_GPU_IOCTL_REGISTER_BUFFER, reg);
    const bool tags = rows[i].control != NVGPU_COMPTAGS_NONE;
    assert_int_equal(reg.flags, tags ? NVGPU_REGISTER_COMPTAGS_ALLOCATED : 0);
    struct nvgpu_gpu_get_buffer_info_args info = {.in.dmabuf_fd = b.fd};
    EXPECT(0, f->c.ctrl, NVGPU_GPU_IOCTL_GET_BUFFER_INFO, info);
    assert_int_equal(info.out.flags & NVGPU_INFO_COMPTAGS_ALLOCATED,
                     tags ? NVGPU_INFO_COMPTAGS_ALLOCATED : 0);
    struct nvgpu_as_map_buffer_ex_args args = map_arguments(b.fd, 0);
    args.compr_kind = 8;
    args.incompr_kind = -1;
    EXPECT(rows[i].result, f->c.as, NVGPU_AS_IOCTL_MAP_BUFFER_EX, args);
    if (!rows[i].result) {
      struct nvgpu_as_mapping_modify_args modify = {
          .compr_kind = 8, .incompr_kind = -1, .buffer_size = PAGE, .map_address = args.offset};
      EXPECT(0, f->c.as, NVGPU_AS_IOCTL_MAPPING_MODIFY, modify);
      unmap(args.offset);
    }
    const uint64_t plain = map(b.fd, 0);
    EXPECT(-EINVAL, f->c.as, NVGPU_AS_IOCTL_MAPPING_MODIFY,
           (struct nvgpu_as_mapping_modify_args){
               .compr_kind = 8, .incompr_kind = -1, .buffer_size = PAGE, .map_address = plain});
    buffer_destroy(&f->c, &b);
  }
}

/* The driver finds the area that contains the address. common/mm/vm_area.c,
 * nvgpu_vm_area_free */
static void free_space_takes_any_address_of_the_area(void **state) {
  alloc_area();
  EXPECT(0, f->c.as, NVGPU_AS_IOCTL_FREE_SPACE,
         (struct nvgpu_as_free_space_args){.offset = AREA - PAGE});
  EXPECT(0, f->c.as, NVGPU_AS_IOCTL_FREE_SPACE,
         (struct nvgpu_as_free_space_args){.offset = AREA + 3 * PAGE});
  alloc_area(); /* would fail if it were still allocated */
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(mappings_with_other_access_are_separate, setup,
                                      fixture_teardown),
      cmocka_unit_test_setup_teardown(mappings_of_a_read_only_handle_are_separate, setup,
                                      fixture_teardown),
      cmocka_unit_test_setup_teardown(first_mapping_decides_about_reuse, setup, fixture_teardown),
      cmocka_unit_test_setup_teardown(places_and_kinds_are_checked, setup, fixture_teardown),
      cmocka_unit_test_setup_teardown(compression_tags_follow_registration, setup,
                                      fixture_teardown),
      cmocka_unit_test_setup_teardown(free_space_takes_any_address_of_the_area, setup,
                                      fixture_teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
