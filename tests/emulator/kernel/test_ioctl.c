/* The kernel interface: each check of docs/hardware/kernel-interface.md with its errno, the
 * dispatch rules, and the placement of mappings. */
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

static struct client c;

static int setup(void **state) {
  client_open(&c);
  return 0;
}

static int teardown(void **state) {
  client_close(&c);
  return 0;
}

static int new_channel(void) {
  struct nvgpu_gpu_open_channel_args open = {.in.runlist_id = NVGPU_RUNLIST_GR};
  assert_int_equal(OS->ioctl(c.ctrl, NVGPU_GPU_IOCTL_OPEN_CHANNEL, &open), 0);
  return open.out.channel_fd;
}

/* 1.4 */
static void unknown_requests_are_refused(void **state) {
  uint64_t word[64] = {0};
  EXPECT(-EINVAL, c.ctrl, NVGPU_AS_IOCTL_UNMAP_BUFFER, word);
  EXPECT(-EINVAL, c.ctrl, _IOWR('G', 0, uint32_t), word);
  EXPECT(-EINVAL, c.ctrl, _IOWR('G', 45, uint32_t), word);
  EXPECT(-EINVAL, c.ctrl, _IOWR('G', 9, char[272]), word);
  EXPECT(-ENOTTY, c.ctrl, _IOWR('G', 11, uint64_t), word); /* OPEN_CHANNEL with a wrong size */
  EXPECT(-ENOTTY, c.ctrl, _IOWR('G', 20, uint32_t), word);
  EXPECT(-ENOTTY, c.ctrl, _IOWR('G', 13, uint32_t), word);
  EXPECT(-ENOTTY, c.nvmap, _IOWR('G', 1, uint32_t), word);
  EXPECT(-ENOTTY, c.nvmap, _IOWR('N', 108, uint32_t), word);
  EXPECT(-ENOTTY, c.nvmap, NVMAP_IOC_PARAM, word);
  EXPECT(-ENOTTY, c.nvmap, NVMAP_IOC_FROM_ID, word);
  EXPECT(-ENOTTY, c.nvmap, NVMAP_IOC_GET_ID, word);
  EXPECT(-EINVAL, c.as, _IOWR('A', 15, uint32_t), word);
  EXPECT(-ENOTTY, c.as, NVGPU_AS_IOCTL_GET_BUFFER_COMPBITS_INFO, word);
  EXPECT(-ENOTTY, c.as, NVGPU_AS_IOCTL_MAP_BUFFER_COMPBITS, word);
  EXPECT(-ENOTTY, c.tsg, NVGPU_TSG_IOCTL_READ_ALL_SM_ERROR_STATES, word);
  int ch = new_channel();
  EXPECT(-ENOTTY, ch, _IOWR('H', 107, char[48]), word); /* SUBMIT_GPFIFO with 48 bytes */
  EXPECT(-ENOTTY, ch, NVGPU_IOCTL_CHANNEL_EVENT_ID_CTRL, word);
  EXPECT(-EINVAL, ch, _IOWR('H', 129, uint32_t), word);
  assert_int_equal(OS->close(ch), 0);
  void *bad = (void *)16;
  assert_int_equal(OS->ioctl(c.ctrl, NVGPU_GPU_IOCTL_ALLOC_AS, bad), -EFAULT);
  assert_int_equal(OS->ioctl(c.nvmap, NVMAP_IOC_CREATE, bad), -EFAULT);
  /* The result is the number of bytes not copied, which is a bug of the driver. The AS node returns
   * the right error. */
  assert_int_equal(OS->ioctl(c.ctrl, NVGPU_GPU_IOCTL_ZCULL_GET_CTX_SIZE, bad), 4);
  assert_int_equal(OS->ioctl(c.as, NVGPU_AS_IOCTL_GET_SYNC_RO_MAP, bad), -EFAULT);
  assert_int_equal(OS->ioctl(999, NVGPU_GPU_IOCTL_ALLOC_AS, word), -EBADF);
}

/* 1.1 */
static void nodes_open_as_on_a_board(void **state) {
  static const struct {
    const char *path;
    int result; /* 0: opens */
  } rows[] = {
      {"/dev/nvmap", 0},
      {"/dev/nvgpu/igpu0/ctrl", 0},
      {"/dev/nvhost-ctrl-gpu", 0},
      {"/dev/nvgpu/igpu0/as", -EINVAL},
      {"/dev/nvhost-as-gpu", -EINVAL},
      {"/dev/nvgpu/igpu0/channel", 0},
      {"/dev/nvhost-gpu", 0},
      {"/dev/nvgpu/igpu0/tsg", 0},
      {"/dev/nvhost-tsg-gpu", 0},
      {"/dev/nvgpu/igpu0/power", 0},
      {"/dev/nvgpu/igpu0/prof", -EACCES},
      {"/dev/nvhost-dbg-gpu", -EACCES},
      {"/dev/nvgpu/igpu0/sched", -EACCES},
      {"/dev/host1x-fence", 0},
      {"/dev/nvhost-ctrl", -ENOENT},
      {"/dev/nvidia0", -ENOENT},
  };
  uint64_t word[8] = {0};
  for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
    int fd = OS->open(rows[i].path, O_RDWR);
    assert_int_equal(fd < 0 ? fd : 0, rows[i].result);
    if (fd >= 0)
      assert_int_equal(OS->close(fd), 0);
  }
  int power = OS->open("/dev/nvhost-power-gpu", O_RDWR);
  EXPECT(-ENOTTY, power, NVGPU_GPU_IOCTL_ALLOC_AS, word);
  assert_int_equal(OS->close(power), 0);
  /* Nodes that are opened directly give a TSG and a channel of GR. */
  int tsg = OS->open("/dev/nvgpu/igpu0/tsg", O_RDWR), ch = OS->open("/dev/nvhost-gpu", O_RDWR);
  struct nvgpu_as_bind_channel_args as = {.channel_fd = (uint32_t)ch};
  EXPECT(0, c.as, NVGPU_AS_IOCTL_BIND_CHANNEL, as);
  struct nvgpu_tsg_bind_channel_ex_args bind = {.channel_fd = ch};
  EXPECT(0, tsg, NVGPU_TSG_IOCTL_BIND_CHANNEL_EX, bind);
  assert_int_equal(OS->close(tsg), 0);
  assert_int_equal(OS->close(ch), 0);
}

/* 2.1, 2.1.1, 3.1 */
static void characteristics_match_board(void **state) {
  struct nvgpu_gpu_characteristics ch;
  memset(&ch, 0xee, sizeof(ch));
  struct nvgpu_gpu_get_characteristics args = {.gpu_characteristics_buf_size = 0};
  EXPECT(0, c.ctrl, NVGPU_GPU_IOCTL_GET_CHARACTERISTICS, args);
  assert_int_equal(args.gpu_characteristics_buf_size, 328);
  assert_int_equal(ch.arch, 0xeeeeeeee);
  args = (struct nvgpu_gpu_get_characteristics){.gpu_characteristics_buf_size = 16,
                                                .gpu_characteristics_buf_addr = (uintptr_t)&ch};
  EXPECT(0, c.ctrl, NVGPU_GPU_IOCTL_GET_CHARACTERISTICS, args);
  assert_int_equal(ch.num_gpc, 2);
  assert_int_equal((uint32_t)ch.numa_domain_id, 0xeeeeeeee);
  EXPECT(0, c.ctrl, NVGPU_GPU_IOCTL_GET_CHARACTERISTICS, args);
  assert_int_equal(ch.flags, 0x01bf5fff7f5d035d);
  assert_int_equal(ch.compute_class, 0xc7c0);
  assert_string_equal((char *)ch.chipname, "ga10b");
  struct nvgpu_gpu_num_vsms vsms = {0};
  EXPECT(0, c.ctrl, NVGPU_GPU_IOCTL_NUM_VSMS, vsms);
  assert_int_equal(vsms.num_vsms, 16);
  struct nvgpu_gpu_vsms_mapping_entry entry[17] = {0};
  struct nvgpu_gpu_vsms_mapping map = {.vsms_map_buf_addr = (uintptr_t)entry};
  EXPECT(0, c.ctrl, NVGPU_GPU_IOCTL_VSMS_MAPPING, map);
  assert_int_equal(entry[15].gpc_logical_index, 1);
  assert_int_equal(entry[15].sm_local_id, 1);
  struct nvgpu_gpu_zcull_get_ctx_size_args zcull = {0};
  EXPECT(0, c.ctrl, NVGPU_GPU_IOCTL_ZCULL_GET_CTX_SIZE, zcull);
  assert_int_equal(zcull.size, 164352);
  uint32_t masks[2] = {0};
  struct nvgpu_gpu_get_tpc_masks_args tpc = {.mask_buf_size = 4, .mask_buf_addr = (uintptr_t)masks};
  EXPECT(0, c.ctrl, NVGPU_GPU_IOCTL_GET_TPC_MASKS, tpc);
  assert_int_equal(tpc.mask_buf_size, 8);
  assert_int_equal(masks[0], 0xf);
  assert_int_equal(masks[1], 0);
}

static void control_requests_check_arguments(void **state) {
  EXPECT(-EINVAL, c.ctrl, NVGPU_GPU_IOCTL_FLUSH_L2, (struct nvgpu_gpu_l2_fb_args){0});
  EXPECT(-EINVAL, c.ctrl, NVGPU_GPU_IOCTL_FLUSH_L2,
         (struct nvgpu_gpu_l2_fb_args){.l2_invalidate = 1, .fb_flush = 1});
  EXPECT(0, c.ctrl, NVGPU_GPU_IOCTL_FLUSH_L2, (struct nvgpu_gpu_l2_fb_args){.l2_flush = 1});
  struct nvgpu_gpu_get_cpu_time_correlation_info_args time = {.count = 17, .source_id = 1};
  EXPECT(-EINVAL, c.ctrl, NVGPU_GPU_IOCTL_GET_CPU_TIME_CORRELATION_INFO, time);
  time.count = 2;
  time.source_id = 3;
  EXPECT(-EINVAL, c.ctrl, NVGPU_GPU_IOCTL_GET_CPU_TIME_CORRELATION_INFO, time);
  time.source_id = 1;
  EXPECT(0, c.ctrl, NVGPU_GPU_IOCTL_GET_CPU_TIME_CORRELATION_INFO, time);
  assert_true(time.samples[1].gpu_timestamp >= time.samples[0].gpu_timestamp);
  assert_int_equal(time.samples[1].gpu_timestamp % 32, 0);
  EXPECT(-EINVAL, c.ctrl, NVGPU_GPU_IOCTL_GET_EVENT_FD, (struct nvgpu_gpu_get_event_fd_args){0});
  EXPECT(-ENOSYS, c.ctrl, NVGPU_GPU_IOCTL_GET_MEMORY_STATE,
         (struct nvgpu_gpu_get_memory_state_args){0});
  EXPECT(-EINVAL, c.ctrl, NVGPU_GPU_IOCTL_OPEN_TSG,
         (struct nvgpu_gpu_open_tsg_args){.share_token = 1});
  EXPECT(-EINVAL, c.ctrl, NVGPU_GPU_IOCTL_OPEN_TSG, (struct nvgpu_gpu_open_tsg_args){.flags = 1});
  EXPECT(-EINVAL, c.ctrl, NVGPU_GPU_IOCTL_OPEN_CHANNEL,
         (struct nvgpu_gpu_open_channel_args){.in.runlist_id = 7});
  EXPECT(-EINVAL, c.ctrl, NVGPU_GPU_IOCTL_OPEN_CHANNEL,
         (struct nvgpu_gpu_open_channel_args){.in.runlist_id = -2});
  struct nvgpu_gpu_clk_range_args clk = {0};
  EXPECT(0, c.ctrl, NVGPU_GPU_IOCTL_CLK_GET_RANGE, clk);
  assert_int_equal(clk.num_entries, 1);
  struct nvgpu_gpu_clk_range range = {0};
  clk.clk_range_entries = (uintptr_t)&range;
  EXPECT(0, c.ctrl, NVGPU_GPU_IOCTL_CLK_GET_RANGE, clk);
  assert_int_equal(range.max_hz, 1300000000);
  struct nvgpu_gpu_register_buffer_args reg = {.dmabuf_fd = c.ctrl, .metadata_size = 257};
  EXPECT(-EINVAL, c.ctrl, NVGPU_GPU_IOCTL_REGISTER_BUFFER, reg);
  reg.metadata_size = 0;
  EXPECT(-EINVAL, c.ctrl, NVGPU_GPU_IOCTL_REGISTER_BUFFER, reg);
  reg.dmabuf_fd = 999;
  EXPECT(-EBADF, c.ctrl, NVGPU_GPU_IOCTL_REGISTER_BUFFER, reg);
  struct buffer b = buffer_create(&c, 8192, false);
  reg.dmabuf_fd = b.fd;
  EXPECT(0, c.ctrl, NVGPU_GPU_IOCTL_REGISTER_BUFFER, reg);
  EXPECT(-EINVAL, c.ctrl, NVGPU_GPU_IOCTL_REGISTER_BUFFER, reg); /* again */
  struct nvgpu_gpu_get_buffer_info_args info = {.in.dmabuf_fd = b.fd};
  EXPECT(0, c.ctrl, NVGPU_GPU_IOCTL_GET_BUFFER_INFO, info);
  assert_int_equal(info.out.size, 8192);
  assert_int_equal(info.out.flags, 1);
  buffer_destroy(&c, &b);
}

/* 3.1, ALLOC_AS */
static void alloc_as_checks_arguments(void **state) {
  static const struct {
    struct nvgpu_alloc_as_args args;
    int result;
  } rows[] = {
      {{0}, -EINVAL},
      {{.big_page_size = 65536, .va_range_start = 0x200000, .va_range_end = 0x400000}, -EINVAL},
      {{.va_range_start = 0x201000, .va_range_end = 0x400000}, -EINVAL},
      {{.va_range_start = 0x200000, .va_range_end = 0x401000}, -EINVAL},
      {{.va_range_start = 0x200000}, -EINVAL},
      {{.va_range_start = 0x400000, .va_range_end = 0x400000}, -EINVAL},
      {{.va_range_start = 0x200000, .va_range_end = 0x800000, .va_range_split = 0x400000}, -EINVAL},
      {{.va_range_start = 0x200000, .va_range_end = UINT64_C(1) << 49}, -ENOMEM},
      {{.va_range_start = 0x4000000, .va_range_end = 0x2000000000}, 0},
      {{.flags = ~0u, .va_range_start = 0x200000, .va_range_end = 0x400000}, 0},
  };
  for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
    struct nvgpu_alloc_as_args args = rows[i].args;
    EXPECT(rows[i].result, c.ctrl, NVGPU_GPU_IOCTL_ALLOC_AS, args);
    if (rows[i].result)
      continue;
    uint64_t region[3];
    struct nvgpu_as_get_va_regions_args regions = {.buf_addr = (uintptr_t)region, .buf_size = 24};
    EXPECT(0, args.as_fd, NVGPU_AS_IOCTL_GET_VA_REGIONS, regions);
    assert_int_equal(region[0], args.va_range_start);
    assert_int_equal(region[2], (args.va_range_end - args.va_range_start) / 4096);
    assert_int_equal(OS->close(args.as_fd), 0);
  }
}

/* 3.5 */
static void nvmap_requests_check_arguments(void **state) {
  struct nvmap_create_handle create = {.size64 = 0};
  EXPECT(-EINVAL, c.nvmap, NVMAP_IOC_CREATE_64, create);
  create.size64 = 5000;
  EXPECT(0, c.nvmap, NVMAP_IOC_CREATE_64, create);
  uint32_t id = create.handle64;
  assert_true(id & 0x80000000);
  static const struct {
    struct nvmap_alloc_handle args;
    int result;
  } rows[] = {
      {{.handle = 1, .heap_mask = 1u << 30, .align = 3}, -EINVAL},
      {{.handle = 0, .heap_mask = 1u << 30}, -EINVAL},
      {{.handle = 1, .heap_mask = 1u << 30, .numa_nid = -2}, -EINVAL},
      {{.handle = 7, .heap_mask = 1u << 30}, -EINVAL},
      {{.handle = 1, .heap_mask = 0}, -ENOMEM},
      {{.handle = 1, .heap_mask = 1u << 31}, -ENOMEM},
      {{.handle = 1, .heap_mask = 1u << 3}, -ENOMEM},
      {{.handle = 1, .heap_mask = 1u << 28}, -ENOMEM},
      /* nvmap_alloc.c, heap_policy_excl: IVM and VIDMEM cannot be combined with other heaps; VPR
       * can. */
      {{.handle = 1, .heap_mask = 1u << 30 | 1u << 1}, -EINVAL},
      {{.handle = 1, .heap_mask = 1u << 30 | 1u << 26}, -EINVAL},
      {{.handle = 1, .heap_mask = 1u << 30, .flags = 5, .align = 4096, .numa_nid = -1}, 0},
      {{.handle = 1, .heap_mask = 1u << 30}, -EEXIST},
      {{.handle = 1, .heap_mask = 1u << 28}, -ENOMEM},
  };
  struct nvmap_create_handle get = {.handle = id};
  EXPECT(0, c.nvmap, NVMAP_IOC_GET_FD, get); /* also before ALLOC */
  int error;
  assert_null(OS->mmap(NULL, 4096, PROT_READ, MAP_SHARED, get.fd, 0, &error));
  assert_int_equal(error, -EPERM);
  struct nvgpu_as_map_buffer_ex_args map = {.dmabuf_fd = (uint32_t)get.fd, .compr_kind = -1};
  EXPECT(-ENOMEM, c.as, NVGPU_AS_IOCTL_MAP_BUFFER_EX, map);
  struct nvmap_create_handle from = {.fd = get.fd};
  EXPECT(-EINVAL, c.nvmap, NVMAP_IOC_FROM_FD, from);
  struct nvmap_rw_handle rw = {.addr = (uintptr_t)rows,
                               .handle = id,
                               .offset = 8000,
                               .elem_size = 4,
                               .hmem_stride = 4,
                               .user_stride = 4,
                               .count = 3};
  EXPECT(-EPERM, c.nvmap, NVMAP_IOC_WRITE,
         rw); /* the handle has no heap yet: nvmap_ioctl.c, rw_handle */
  assert_int_equal(rw.count, 0);
  for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
    struct nvmap_alloc_handle args = rows[i].args;
    args.handle = args.handle == 1 ? id : args.handle;
    EXPECT(rows[i].result, c.nvmap, NVMAP_IOC_ALLOC, args);
  }
  EXPECT(0, c.nvmap, NVMAP_IOC_FROM_FD, from);
  assert_true(from.handle != id);
  char text[] = "twelve bytes", back[sizeof(text)] = "";
  rw.addr = (uintptr_t)text;
  rw.count = 3;
  EXPECT(0, c.nvmap, NVMAP_IOC_WRITE, rw);
  assert_int_equal(rw.count, 12);
  rw.addr = (uintptr_t)back;
  rw.count = 3;
  rw.handle = from.handle;
  EXPECT(0, c.nvmap, NVMAP_IOC_READ, rw);
  assert_string_equal(text, back);
  rw.count = 49;
  EXPECT(-EINVAL, c.nvmap, NVMAP_IOC_READ, rw);
  rw.count = 0;
  EXPECT(-EINVAL, c.nvmap, NVMAP_IOC_READ, rw);
  /* Strides smaller than an element are refused, even for one element. The count returned is in
   * bytes; a partial copy is an error. */
  rw.count = 1;
  rw.user_stride = 0;
  EXPECT(-EINVAL, c.nvmap, NVMAP_IOC_READ, rw);
  assert_int_equal(rw.count, 0);
  rw.count = 2;
  rw.user_stride = 8;
  EXPECT(0, c.nvmap, NVMAP_IOC_READ, rw);
  assert_int_equal(rw.count, 8);
  rw.count = 2;
  rw.addr = 8;
  EXPECT(-EINTR, c.nvmap, NVMAP_IOC_READ, rw);
  assert_int_equal(rw.count, 4);
  rw.user_stride = 4;
  EXPECT(0, c.nvmap, NVMAP_IOC_READ, rw);
  rw.count = 1;
  rw.handle = 5;
  EXPECT(-EINVAL, c.nvmap, NVMAP_IOC_READ, rw);
  assert_null(OS->mmap(NULL, 4096 * 3, PROT_READ, MAP_SHARED, get.fd, 0, &error));
  assert_int_equal(error, -EINVAL);
  assert_null(OS->mmap(NULL, 4096, PROT_READ, MAP_SHARED, c.nvmap, 0, &error));
  assert_int_equal(error, -EPERM);
  struct nvmap_available_heaps heaps;
  EXPECT(0, c.nvmap, NVMAP_IOC_GET_AVAILABLE_HEAPS, heaps);
  assert_int_equal(heaps.heaps, 0x10000004);
  struct nvmap_query_heap_params query = {.heap_mask = 1u << 30};
  EXPECT(0, c.nvmap, NVMAP_IOC_QUERY_HEAP_PARAMS, query);
  assert_true(query.total - query.free == 8192);
  query.heap_mask = 1;
  EXPECT(-ENODEV, c.nvmap, NVMAP_IOC_QUERY_HEAP_PARAMS, query);
  /* More memory than the machine has. */
  struct nvmap_create_handle huge = {.size64 = query.total + 4096};
  EXPECT(0, c.nvmap, NVMAP_IOC_CREATE_64, huge);
  struct nvmap_alloc_handle alloc = {.handle = huge.handle64, .heap_mask = 1u << 30};
  EXPECT(-ENOMEM, c.nvmap, NVMAP_IOC_ALLOC, alloc);
  /* An fd outlives its handle; the last handle outlives its fd. */
  assert_int_equal(OS->ioctl(c.nvmap, NVMAP_IOC_FREE, (void *)(uintptr_t)id), 0);
  assert_int_equal(OS->ioctl(c.nvmap, NVMAP_IOC_FREE, (void *)(uintptr_t)id), 0);
  assert_int_equal(OS->close(get.fd), 0);
  get.handle = from.handle;
  EXPECT(0, c.nvmap, NVMAP_IOC_GET_FD, get);
  char *p = OS->mmap(NULL, 8192, PROT_READ, MAP_SHARED, get.fd, 0, &error);
  assert_non_null(p);
  assert_string_equal(p + 8000, "twelve bytes");
  assert_int_equal(OS->munmap(p, 8192), 0);
  get.handle = 12345;
  EXPECT(-EBADF, c.nvmap, NVMAP_IOC_GET_FD, get);
}

/* 3.2, MAP_BUFFER_EX */
static void map_buffer_checks_arguments(void **state) {
  struct buffer b = buffer_create(&c, 8192, false);
  struct nvgpu_as_alloc_space_args space = {
      .pages = 16, .page_size = 4096, .flags = 1, .o_a.offset = 0x40000000};
  EXPECT(0, c.as, NVGPU_AS_IOCTL_ALLOC_SPACE, space);
  EXPECT(-ENOMEM, c.as, NVGPU_AS_IOCTL_ALLOC_SPACE, space); /* occupied */
  space.page_size = 65536;
  EXPECT(-EINVAL, c.as, NVGPU_AS_IOCTL_ALLOC_SPACE, space);
  uint32_t fd = (uint32_t)b.fd;
  const struct {
    struct nvgpu_as_map_buffer_ex_args args;
    int result;
  } rows[] = {
      {{.dmabuf_fd = 999}, -EBADF},
      {{.dmabuf_fd = (uint32_t)c.ctrl}, -EINVAL},
      {{.dmabuf_fd = fd, .offset = 4096}, -EINVAL},
      {{.dmabuf_fd = fd, .buffer_offset = 4096}, -EINVAL},
      {{.dmabuf_fd = fd, .mapping_size = 4096}, -EINVAL},
      {{.dmabuf_fd = fd, .flags = 1, .mapping_size = 12288, .offset = 0x40000000}, -EINVAL},
      {{.dmabuf_fd = fd, .flags = 3 << 10}, -EINVAL},
      {{.dmabuf_fd = fd, .flags = 1 << 12}, -EINVAL},
      {{.dmabuf_fd = fd, .flags = 1 << 1}, -EINVAL},
      {{.dmabuf_fd = fd, .flags = 1 << 4}, -EINVAL},
      {{.dmabuf_fd = fd, .flags = 1 << 8}, -EINVAL},
      {{.dmabuf_fd = fd, .compr_kind = -1, .flags = 1, .offset = 0x50000000},
       -EINVAL}, /* no area */
      {{.dmabuf_fd = fd, .compr_kind = -1, .flags = 1, .offset = 0x40000800}, -EINVAL},
      {{.dmabuf_fd = fd, .compr_kind = -1, .flags = 1, .offset = 0x4000f000},
       -EINVAL}, /* passes its end */
      {{.dmabuf_fd = fd, .compr_kind = -1, .flags = 1, .offset = 0x40000000}, 0},
      {{.dmabuf_fd = fd, .compr_kind = -1, .flags = 1, .offset = 0x40001000},
       -EINVAL}, /* overlaps */
      {{.dmabuf_fd = fd, .compr_kind = -1, .flags = 5, .offset = 0x40004000, .mapping_size = 4096},
       0},
      {{.dmabuf_fd = fd, .compr_kind = -1, .incompr_kind = -1}, -ENOMEM},
  };
  for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
    struct nvgpu_as_map_buffer_ex_args args = rows[i].args;
    EXPECT(rows[i].result, c.as, NVGPU_AS_IOCTL_MAP_BUFFER_EX, args);
  }
  /* Order 12: a repeated mapping returns the same address, which must be unmapped as often. The
   * kind differs from those of the mappings above. */
  struct nvgpu_as_map_buffer_ex_args once = {.dmabuf_fd = fd, .compr_kind = -1, .incompr_kind = 6};
  EXPECT(0, c.as, NVGPU_AS_IOCTL_MAP_BUFFER_EX, once);
  struct nvgpu_as_map_buffer_ex_args twice = {.dmabuf_fd = fd, .compr_kind = -1, .incompr_kind = 6};
  EXPECT(0, c.as, NVGPU_AS_IOCTL_MAP_BUFFER_EX, twice);
  assert_int_equal(once.offset, twice.offset);
  struct nvgpu_as_unmap_buffer_args unmap = {.offset = once.offset + 4096};
  EXPECT(0, c.as, NVGPU_AS_IOCTL_UNMAP_BUFFER,
         unmap); /* an address inside the mapping has no effect */
  unmap.offset = once.offset;
  EXPECT(0, c.as, NVGPU_AS_IOCTL_UNMAP_BUFFER, unmap);
  EXPECT(0, c.as, NVGPU_AS_IOCTL_UNMAP_BUFFER, unmap);
  struct nvgpu_as_mapping_modify_args modify = {.map_address = once.offset, .buffer_size = 4096};
  EXPECT(-EINVAL, c.as, NVGPU_AS_IOCTL_MAPPING_MODIFY, modify);
  modify.map_address = 0x40000000;
  EXPECT(0, c.as, NVGPU_AS_IOCTL_MAPPING_MODIFY, modify);
  struct nvgpu_as_free_space_args free_space = {.offset = 0x40000000};
  EXPECT(0, c.as, NVGPU_AS_IOCTL_FREE_SPACE, free_space);
  EXPECT(0, c.as, NVGPU_AS_IOCTL_FREE_SPACE, free_space);
  EXPECT(-EINVAL, c.as, NVGPU_AS_IOCTL_MAPPING_MODIFY, modify); /* was unmapped */
  space.page_size = 4096;
  EXPECT(0, c.as, NVGPU_AS_IOCTL_ALLOC_SPACE, space);
  buffer_destroy(&c, &b);
}

/* The six addresses that a board returned: 3.2, "VA placement without FIXED". */
static void buffers_get_the_addresses_of_a_board(void **state) {
  static const struct {
    uint64_t size, va;
  } rows[] = {
      {4096, 0xffffa00000},    {4096, 0xffffa01000},     {65536, 0xffffa10000},
      {1 << 20, 0xffffb00000}, {16 << 20, 0xfffe200000}, {64 << 20, 0xfff8200000},
  };
  struct buffer b[6];
  for (int round = 0; round < 2; round++) {
    for (int i = 0; i < 6; i++) {
      b[i] = buffer_create(&c, rows[i].size, true);
      assert_int_equal(b[i].va, rows[i].va);
    }
    for (int i = 6; i-- > 0;)
      buffer_destroy(&c, &b[i]);
  }
}

/* 3.3 and 3.4: the order of binds, the watchdog and SETUP_BIND. */
static void channel_requests_check_order_and_arguments(void **state) {
  int ch = new_channel();
  struct nvgpu_get_param_args timedout;
  EXPECT(0, ch, NVGPU_IOCTL_CHANNEL_GET_TIMEDOUT, timedout);
  assert_int_equal(timedout.value, 1);
  struct nvgpu_tsg_create_subcontext_args sub = {.type = 2, .as_fd = c.as};
  EXPECT(-EINVAL, c.tsg, NVGPU_TSG_IOCTL_CREATE_SUBCONTEXT, sub);
  sub.type = 1;
  sub.as_fd = c.tsg;
  EXPECT(-EINVAL, c.tsg, NVGPU_TSG_IOCTL_CREATE_SUBCONTEXT, sub);
  sub = (struct nvgpu_tsg_create_subcontext_args){.type = 0, .as_fd = c.as};
  EXPECT(0, c.tsg, NVGPU_TSG_IOCTL_CREATE_SUBCONTEXT, sub);
  EXPECT(-ENOSPC, c.tsg, NVGPU_TSG_IOCTL_CREATE_SUBCONTEXT, sub);
  assert_int_equal(c.veid, 1);
  struct nvgpu_tsg_bind_channel_ex_args bind = {.channel_fd = ch, .subcontext_id = 1};
  EXPECT(-EINVAL, c.tsg, NVGPU_TSG_IOCTL_BIND_CHANNEL_EX, bind); /* no AS yet */
  struct nvgpu_alloc_obj_ctx_args object = {.class_num = 0xc7c0};
  EXPECT(-EINVAL, ch, NVGPU_IOCTL_CHANNEL_ALLOC_OBJ_CTX, object);
  struct nvgpu_channel_setup_bind_args setup_bind = {.num_gpfifo_entries = 1024, .flags = 0xa};
  EXPECT(-EINVAL, ch, NVGPU_IOCTL_CHANNEL_SETUP_BIND, setup_bind);
  struct nvgpu_as_bind_channel_args as = {.channel_fd = (uint32_t)c.tsg};
  EXPECT(-EINVAL, c.as, NVGPU_AS_IOCTL_BIND_CHANNEL, as);
  as.channel_fd = (uint32_t)ch;
  EXPECT(0, c.as, NVGPU_AS_IOCTL_BIND_CHANNEL, as);
  EXPECT(-EINVAL, c.as, NVGPU_AS_IOCTL_BIND_CHANNEL, as);
  EXPECT(-EINVAL, ch, NVGPU_IOCTL_CHANNEL_ALLOC_OBJ_CTX, object); /* no TSG */
  bind.subcontext_id = 64;
  EXPECT(-EINVAL, c.tsg, NVGPU_TSG_IOCTL_BIND_CHANNEL_EX, bind);
  bind.subcontext_id = 5;
  EXPECT(-EINVAL, c.tsg, NVGPU_TSG_IOCTL_BIND_CHANNEL_EX, bind);
  bind.subcontext_id = 1;
  EXPECT(0, c.tsg, NVGPU_TSG_IOCTL_BIND_CHANNEL_EX, bind);
  EXPECT(-EINVAL, c.tsg, NVGPU_TSG_IOCTL_BIND_CHANNEL_EX, bind);
  EXPECT(0, ch, NVGPU_IOCTL_CHANNEL_GET_TIMEDOUT, timedout);
  assert_int_equal(timedout.value, 0);
  struct nvgpu_tsg_delete_subcontext_args del = {.veid = 1};
  EXPECT(-EINVAL, c.tsg, NVGPU_TSG_IOCTL_DELETE_SUBCONTEXT, del);
  object.class_num = 0x1234;
  EXPECT(-EINVAL, ch, NVGPU_IOCTL_CHANNEL_ALLOC_OBJ_CTX, object);
  object.class_num = 0xc797;
  EXPECT(-EINVAL, ch, NVGPU_IOCTL_CHANNEL_ALLOC_OBJ_CTX, object);
  struct nvgpu_preemption_mode_args preemption = {.compute_preempt_mode = 4};
  EXPECT(-EINVAL, ch, NVGPU_IOCTL_CHANNEL_SET_PREEMPTION_MODE, preemption);
  object.class_num = 0xc7c0;
  EXPECT(0, ch, NVGPU_IOCTL_CHANNEL_ALLOC_OBJ_CTX, object);
  EXPECT(0, ch, NVGPU_IOCTL_CHANNEL_SET_PREEMPTION_MODE, preemption);
  preemption.compute_preempt_mode = 1;
  EXPECT(-EINVAL, ch, NVGPU_IOCTL_CHANNEL_SET_PREEMPTION_MODE, preemption);

  struct buffer ring = buffer_create(&c, 8192, false), userd = buffer_create(&c, 4096, false);
  struct nvgpu_channel_setup_bind_args good = {.num_gpfifo_entries = 1024,
                                               .flags = 0xa,
                                               .userd_dmabuf_fd = userd.fd,
                                               .gpfifo_dmabuf_fd = ring.fd};
  EXPECT(-EINVAL, ch, NVGPU_IOCTL_CHANNEL_SETUP_BIND, good); /* watchdog */
  struct nvgpu_channel_wdt_args wdt = {.wdt_status = 3};
  EXPECT(-EINVAL, ch, NVGPU_IOCTL_CHANNEL_WDT, wdt);
  wdt = (struct nvgpu_channel_wdt_args){.wdt_status = 5, .timeout_ms = ~0u};
  EXPECT(0, ch, NVGPU_IOCTL_CHANNEL_WDT, wdt);
  const struct {
    uint32_t entries, flags;
    int userd, gpfifo;
    uint64_t userd_offset, gpfifo_offset;
    int result;
  } rows[] = {
      {0, 0xa, userd.fd, ring.fd, 0, 0, -EINVAL},
      {1, 0xa, userd.fd, ring.fd, 0, 0, -EINVAL},
      {3, 0xa, userd.fd, ring.fd, 0, 0, -EINVAL},
      {1u << 29, 0xa, userd.fd, ring.fd, 0, 0, -EINVAL},
      {1024, 0x8, userd.fd, ring.fd, 0, 0, -EINVAL},
      {1024, 0xa, 0, ring.fd, 0, 0, -EINVAL},
      {1024, 0xa, userd.fd, 0, 0, 0, -EINVAL},
      {1024, 0xa, userd.fd, ring.fd, 4096, 0, -EINVAL},
      {1024, 0xa, userd.fd, ring.fd, 0, 4096, -EINVAL},
      {1024, 0xa, userd.fd, 999, 0, 0, -EBADF},
      {1024, 0xa, userd.fd, c.as, 0, 0, -EINVAL},
      {2048, 0xa, userd.fd, ring.fd, 0, 0, -EINVAL},
      {1024, 0xa, 999, ring.fd, 0, 0, -EBADF},
      {1024, 0xa, userd.fd, ring.fd, 0, 0, 0},
      {1024, 0xa, userd.fd, ring.fd, 0, 0, -EEXIST},
  };
  for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
    struct nvgpu_channel_setup_bind_args args = {.num_gpfifo_entries = rows[i].entries,
                                                 .flags = rows[i].flags,
                                                 .userd_dmabuf_fd = rows[i].userd,
                                                 .gpfifo_dmabuf_fd = rows[i].gpfifo,
                                                 .userd_dmabuf_offset = rows[i].userd_offset,
                                                 .gpfifo_dmabuf_offset = rows[i].gpfifo_offset,
                                                 .gpfifo_gpu_va = 1};
    EXPECT(rows[i].result, ch, NVGPU_IOCTL_CHANNEL_SETUP_BIND, args);
    if (rows[i].result == 0) {
      assert_int_equal(args.work_submit_token, 511);
      assert_int_equal(args.gpfifo_gpu_va, 0);
    }
  }
  wdt = (struct nvgpu_channel_wdt_args){.wdt_status = 2};
  EXPECT(-EINVAL, ch, NVGPU_IOCTL_CHANNEL_WDT, wdt); /* deterministic */
  EXPECT(-EINVAL, ch, NVGPU_IOCTL_CHANNEL_SUBMIT_GPFIFO, (struct nvgpu_submit_gpfifo_args){0});
  struct nvgpu_get_user_syncpoint_args sync = {0};
  EXPECT(0, ch, NVGPU_IOCTL_CHANNEL_GET_USER_SYNCPOINT, sync);
  assert_int_equal(sync.gpu_va, 0xffffe10000);
  assert_int_equal(sync.syncpoint_id, 17);
  struct nvgpu_get_user_syncpoint_args again = {0};
  EXPECT(0, ch, NVGPU_IOCTL_CHANNEL_GET_USER_SYNCPOINT, again);
  assert_int_equal(again.gpu_va, sync.gpu_va);
  struct nvgpu_set_error_notifier notifier = {.mem = 0};
  EXPECT(-EINVAL, ch, NVGPU_IOCTL_CHANNEL_SET_ERROR_NOTIFIER, notifier);
  notifier.mem = (uint32_t)userd.fd;
  notifier.offset = 4096 - 15;
  EXPECT(-EINVAL, ch, NVGPU_IOCTL_CHANNEL_SET_ERROR_NOTIFIER, notifier);
  notifier.offset = 4096 - 16;
  EXPECT(0, ch, NVGPU_IOCTL_CHANNEL_SET_ERROR_NOTIFIER, notifier);
  EXPECT(0, c.tsg, NVGPU_TSG_IOCTL_UNBIND_CHANNEL, ch);
  EXPECT(-EINVAL, c.tsg, NVGPU_TSG_IOCTL_UNBIND_CHANNEL, ch);
  EXPECT(-ETIMEDOUT, ch, NVGPU_IOCTL_CHANNEL_SUBMIT_GPFIFO, (struct nvgpu_submit_gpfifo_args){0});
  assert_int_equal(OS->close(ch), 0);
  buffer_destroy(&c, &ring);
  buffer_destroy(&c, &userd);
}

static void tsg_requests_check_arguments(void **state) {
  struct nvgpu_timeslice_args slice = {.timeslice_us = 999};
  EXPECT(-EINVAL, c.tsg, NVGPU_IOCTL_TSG_SET_TIMESLICE, slice);
  EXPECT(0, c.tsg, NVGPU_IOCTL_TSG_GET_TIMESLICE, slice);
  assert_int_equal(slice.timeslice_us, 1024);
  struct nvgpu_runlist_interleave_args level = {.level = 3};
  EXPECT(-EINVAL, c.tsg, NVGPU_IOCTL_TSG_SET_RUNLIST_INTERLEAVE, level);
  struct nvgpu_tsg_l2_max_ways_evict_last_args ways = {.max_ways = 17};
  EXPECT(-EINVAL, c.tsg, NVGPU_TSG_IOCTL_SET_L2_MAX_WAYS_EVICT_LAST, ways);
  struct nvgpu_event_id_ctrl_args event = {.cmd = 1, .event_id = 6};
  EXPECT(-EINVAL, c.tsg, NVGPU_IOCTL_TSG_EVENT_ID_CTRL, event);
  event.event_id = 2;
  event.cmd = 0;
  EXPECT(-EINVAL, c.tsg, NVGPU_IOCTL_TSG_EVENT_ID_CTRL, event);
  struct nvgpu_tsg_read_single_sm_error_state_args sm = {.sm_id = 16};
  EXPECT(-EINVAL, c.tsg, NVGPU_TSG_IOCTL_READ_SINGLE_SM_ERROR_STATE, sm);
}

/* 4.1 */
static void usermode_page_has_one_mapping_per_fd(void **state) {
  int error;
  assert_null(OS->mmap(NULL, 4096, PROT_READ, MAP_SHARED, c.ctrl, 0, &error));
  assert_int_equal(error, -EBUSY);
  int second = OS->open("/dev/nvhost-ctrl-gpu", O_RDWR);
  assert_true(second >= 0);
  assert_null(OS->mmap(NULL, 0x20000, PROT_READ, MAP_SHARED, second, 0, &error));
  assert_int_equal(error, -EINVAL);
  assert_null(OS->mmap(NULL, 0x1000, PROT_READ, MAP_SHARED, second, 0x1000, &error));
  assert_int_equal(error, -EINVAL);
  uint32_t *page = OS->mmap(NULL, 0x1000, PROT_READ, MAP_SHARED, second, 0, &error);
  assert_non_null(page);
  assert_int_equal(page[0], 0xc461);
  assert_int_equal(OS->close(second), 0);
  assert_int_equal(page[0], 0xc461);
  assert_int_equal(OS->munmap(page, 0x1000), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(unknown_requests_are_refused, setup, teardown),
      cmocka_unit_test_setup_teardown(nodes_open_as_on_a_board, setup, teardown),
      cmocka_unit_test_setup_teardown(characteristics_match_board, setup, teardown),
      cmocka_unit_test_setup_teardown(control_requests_check_arguments, setup, teardown),
      cmocka_unit_test_setup_teardown(alloc_as_checks_arguments, setup, teardown),
      cmocka_unit_test_setup_teardown(nvmap_requests_check_arguments, setup, teardown),
      cmocka_unit_test_setup_teardown(map_buffer_checks_arguments, setup, teardown),
      cmocka_unit_test_setup_teardown(buffers_get_the_addresses_of_a_board, setup, teardown),
      cmocka_unit_test_setup_teardown(channel_requests_check_order_and_arguments, setup, teardown),
      cmocka_unit_test_setup_teardown(tsg_requests_check_arguments, setup, teardown),
      cmocka_unit_test_setup_teardown(usermode_page_has_one_mapping_per_fd, setup, teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
