/* Tests TEGRACL_EMULATOR=l4t:r35: the sizes, numbers and flags of the requests of L4T r35, with a
 * client that uses only those. docs/hardware/kernel-interface.md 10. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "tests/emulator/client.h"

/* As in r35's headers. */
struct open_tsg_r35 {
  uint32_t tsg_fd, reserved;
};
struct nvmap_alloc_r35 {
  uint32_t handle, heap_mask, flags, align;
};
struct setup_bind_r35 {
  uint32_t num_gpfifo_entries, num_inflight_jobs, flags;
  int32_t userd_dmabuf_fd, gpfifo_dmabuf_fd;
  uint32_t work_submit_token;
  uint64_t userd_dmabuf_offset, gpfifo_dmabuf_offset;
  uint32_t reserved[9];
};
struct query_heap_r35 {
  uint32_t heap_mask, flags;
  uint8_t contig;
  uint64_t total, free, largest_free_block;
};
#define OPEN_TSG_R35    _IOWR('G', 9, struct open_tsg_r35)
#define SETUP_BIND_R35  _IOWR('H', 128, struct setup_bind_r35)
#define NVMAP_ALLOC_R35 _IOW('N', 3, struct nvmap_alloc_r35)
#define QUERY_HEAP_R35  _IOR('N', 105, struct query_heap_r35)
/* A flag of MAP_BUFFER_EX: direct control of kinds. */
enum { DIRECT_KIND = 1 << 8 };
enum { R35_BYTES = 312, R35_FLAGS = 56, R35_CHIPNAME = 148, R35_MAX_FREQ = 192 };

struct fence_r35 {
  uint32_t count;
  int32_t fd;
  uint64_t points, name;
};
#define CREATE_FENCE_R35 _IOWR('H', 11, struct fence_r35)

/* The checks of host1x.c, nvhost_ctrlctl and nvhost_ioctl_ctrl_sync_fence_create, in their order.
 * The fence of a point that its counter has passed is signalled. */
static void fences(int nvhost) {
  uint32_t point[2] = {1023, 0};
  struct fence_r35 fence = {.count = 1, .points = (uintptr_t)point, .name = (uintptr_t) "waits"};
  EXPECT(-ENOTTY, nvhost, _IOWR('H', 19, uint32_t), point);
  EXPECT(-ENOTTY, nvhost, HOST1X_IOCTL_CREATE_FENCE, (struct host1x_create_fence){0});
  EXPECT(-EFAULT, nvhost, CREATE_FENCE_R35, (struct fence_r35){.name = 16});
  EXPECT(-EFAULT, nvhost, CREATE_FENCE_R35, (struct fence_r35){.count = 1, .points = 16});
  EXPECT(0, nvhost, CREATE_FENCE_R35, fence);
  struct pollfd p = {.fd = fence.fd, .events = POLLIN};
  assert_int_equal(OS->poll(&p, 1, 60000), 1);
  assert_int_equal(OS->close(fence.fd), 0);
  point[0] = 1024;
  EXPECT(-EINVAL, nvhost, CREATE_FENCE_R35, fence);
}

static void sizes(const void *unused) {
  int ctrl = OS->open("/dev/nvhost-ctrl-gpu", O_RDWR), nvmap = OS->open("/dev/nvmap", O_RDWR);
  assert_true(ctrl >= 0 && nvmap >= 0);
  assert_int_equal(OS->open("/dev/host1x-fence", O_RDWR), -ENOENT);
  int nvhost = OS->open("/dev/nvhost-ctrl", O_RDWR);
  assert_true(nvhost >= 0);
  fences(nvhost);
  assert_int_equal(OS->close(nvhost), 0);
  uint64_t word[64] = {0};
  EXPECT(-ENOTTY, ctrl, NVGPU_GPU_IOCTL_OPEN_TSG, word);
  EXPECT(-ENOTTY, nvmap, NVMAP_IOC_ALLOC, word);
  EXPECT(-ENOTTY, nvmap, NVMAP_IOC_PARAMETERS, word);
  EXPECT(-ENOTTY, nvmap, NVMAP_IOC_QUERY_HEAP_PARAMS, word);
  EXPECT(-ENOTTY, nvmap, NVMAP_IOC_GET_FD_FOR_RANGE_FROM_LIST, word); /* number 107 */
  struct query_heap_r35 heap = {.heap_mask = NVMAP_HEAP_IOVMM};
  EXPECT(0, nvmap, QUERY_HEAP_R35, heap);
  assert_true(heap.total > 0 && heap.free <= heap.total);
  EXPECT(-EINVAL, ctrl, NVGPU_GPU_IOCTL_GET_GPC_LOCAL_TO_PHYSICAL_MAP, word); /* number 43 */
  struct open_tsg_r35 tsg = {0};
  EXPECT(0, ctrl, OPEN_TSG_R35, tsg);
  EXPECT(-EINVAL, (int)tsg.tsg_fd, NVGPU_TSG_IOCTL_CREATE_SUBCONTEXT, word); /* number 18 */
  EXPECT(-EINVAL, ctrl, NVGPU_GPU_IOCTL_GET_CPU_TIME_CORRELATION_INFO,
         (struct nvgpu_gpu_get_cpu_time_correlation_info_args){.count = 1, .source_id = 2});
  char ch[400];
  memset(ch, 0xee, sizeof(ch));
  struct nvgpu_gpu_get_characteristics args = {.gpu_characteristics_buf_size = sizeof(ch),
                                               .gpu_characteristics_buf_addr = (uintptr_t)ch};
  EXPECT(0, ctrl, NVGPU_GPU_IOCTL_GET_CHARACTERISTICS, args);
  assert_int_equal(args.gpu_characteristics_buf_size, R35_BYTES);
  assert_int_equal((unsigned char)ch[R35_BYTES], 0xee);
  uint64_t l2, flags, freq;
  memcpy(&l2, ch + 16, sizeof(l2));
  memcpy(&flags, ch + R35_FLAGS, sizeof(flags));
  memcpy(&freq, ch + R35_MAX_FREQ, sizeof(freq));
  assert_int_equal(l2, 0x400000);
  assert_int_equal(flags >> 54, 0);
  const uint64_t older =
      1 << 1 | 1 << 7 | 1 << 23; /* partial mappings, user-mode submission, kinds */
  assert_int_equal(flags & older, older);
  assert_int_equal(freq, 1300000000);
  assert_string_equal(ch + R35_CHIPNAME, "ga10b");
  uint8_t entries[33] = {[32] = 0xee};
  struct nvgpu_gpu_vsms_mapping map = {.vsms_map_buf_addr = (uintptr_t)entries};
  EXPECT(0, ctrl, NVGPU_GPU_IOCTL_VSMS_MAPPING, map);
  assert_int_equal(entries[30], 1); /* GPC and TPC of the last SM */
  assert_int_equal(entries[31], 3);
  assert_int_equal(entries[32], 0xee);
  assert_int_equal(OS->close((int)tsg.tsg_fd), 0);
  assert_int_equal(OS->close(ctrl), 0);
  assert_int_equal(OS->close(nvmap), 0);
}

static int memory(int nvmap, uint64_t size, void **cpu) {
  struct nvmap_create_handle create = {.size64 = size};
  EXPECT(0, nvmap, NVMAP_IOC_CREATE_64, create);
  struct nvmap_alloc_r35 alloc = {create.handle64, NVMAP_HEAP_IOVMM, 0x09000001, 4096};
  struct nvmap_create_handle get = {.handle = create.handle64};
  EXPECT(0, nvmap, NVMAP_ALLOC_R35, alloc);
  EXPECT(0, nvmap, NVMAP_IOC_GET_FD, get);
  int error;
  *cpu = OS->mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, get.fd, 0, &error);
  assert_non_null(*cpu);
  return get.fd;
}

/* Sets up a channel without creating its VEID, maps memory with r35's flags, and releases a
 * semaphore. */
static void bring_up(const void *unused) {
  int ctrl = OS->open("/dev/nvhost-ctrl-gpu", O_RDWR), nvmap = OS->open("/dev/nvmap", O_RDWR),
      error;
  struct nvgpu_alloc_as_args as = {.va_range_start = 0x4000000, .va_range_end = 0x2000000000};
  EXPECT(0, ctrl, NVGPU_GPU_IOCTL_ALLOC_AS, as);
  struct open_tsg_r35 tsg = {0};
  EXPECT(0, ctrl, OPEN_TSG_R35, tsg);
  struct channel ch = {.entries = 512};
  struct nvgpu_gpu_open_channel_args open = {.in.runlist_id = -1};
  EXPECT(0, ctrl, NVGPU_GPU_IOCTL_OPEN_CHANNEL, open);
  ch.fd = open.out.channel_fd;
  EXPECT(0, as.as_fd, NVGPU_AS_IOCTL_BIND_CHANNEL,
         (struct nvgpu_as_bind_channel_args){(uint32_t)ch.fd});
  struct nvgpu_tsg_bind_channel_ex_args bind = {.channel_fd = ch.fd, .subcontext_id = 5};
  EXPECT(0, (int)tsg.tsg_fd, NVGPU_TSG_IOCTL_BIND_CHANNEL_EX, bind);
  EXPECT(0, ch.fd, NVGPU_IOCTL_CHANNEL_WDT, (struct nvgpu_channel_wdt_args){NVGPU_WDT_DISABLE, 0});
  ch.ring.fd = memory(nvmap, 4096, &ch.ring.cpu);
  ch.userd.fd = memory(nvmap, 4096, &ch.userd.cpu);
  ch.push.fd = memory(nvmap, 8192, &ch.push.cpu);
  ch.push.size = 8192;
  ch.word = ch.push.cpu;
  struct nvgpu_as_map_buffer_ex_args map = {
      .flags = 1 << 4, .compr_kind = -1, .dmabuf_fd = (uint32_t)ch.push.fd, .page_size = 4096};
  EXPECT(-EINVAL, as.as_fd, NVGPU_AS_IOCTL_MAP_BUFFER_EX, map);
  map.flags |= DIRECT_KIND;
  EXPECT(0, as.as_fd, NVGPU_AS_IOCTL_MAP_BUFFER_EX, map);
  ch.push.va = map.offset;
  EXPECT(-ENOTTY, ch.fd, NVGPU_IOCTL_CHANNEL_SETUP_BIND, (struct nvgpu_channel_setup_bind_args){0});
  struct setup_bind_r35 setup = {.num_gpfifo_entries = ch.entries,
                                 .flags = 0xa,
                                 .userd_dmabuf_fd = ch.userd.fd,
                                 .gpfifo_dmabuf_fd = ch.ring.fd};
  EXPECT(0, ch.fd, SETUP_BIND_R35, setup);
  ch.token = setup.work_submit_token;
  struct client c = {
      .page = OS->mmap(NULL, 0x10000, PROT_READ | PROT_WRITE, MAP_SHARED, ctrl, 0, &error)};
  assert_non_null(c.page);
  push_semaphore(&ch, ch.push.va + 4096, 35, RELEASE_64_WFI);
  submit(&c, &ch);
  assert_true(wait_word((char *)ch.push.cpu + 4096, 35));
}

static void r35_requests_work_on_r35(void **state) {
  with_emulator("l4t:r35", sizes, NULL);
  with_emulator("l4t:r35,board:agx64", bring_up, NULL);
}

/* r36 has none of these requests. */
static void newer(const void *unused) {
  struct client c;
  client_open(&c);
  EXPECT(-ENOTTY, c.ctrl, OPEN_TSG_R35, (struct open_tsg_r35){0});
  EXPECT(-ENOTTY, c.nvmap, NVMAP_ALLOC_R35, (struct nvmap_alloc_r35){0});
  EXPECT(-ENOTTY, c.nvmap, QUERY_HEAP_R35, (struct query_heap_r35){0});
  client_close(&c);
}

static void r36_has_no_r35_requests(void **state) {
  with_emulator("l4t:r36", newer, NULL);
  with_emulator(NULL, newer, NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(r35_requests_work_on_r35),
                                     cmocka_unit_test(r36_has_no_r35_requests)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
