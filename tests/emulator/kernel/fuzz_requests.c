/* Makes random requests to the nodes: emulator-fuzz-requests COUNT [SEED]. Each input is one ioctl,
 * close, mmap, poll or doorbell, and uses objects that earlier inputs created. At the end the
 * program prints what the inputs reached. It fails if that is too little, or if an object remains
 * after everything has been closed. */
#include <fcntl.h>
#include <linux/dma-buf.h>
#include <linux/sync_file.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "emulator/gpu.h"
#include "emulator/kernel/dmabuf.h"
#include "emulator/kernel/nvmap.h"
#include "emulator/kernel/syncpoint.h"
#include "emulator/kernel/tsg.h"
#include "emulator/objects.h"
#include "tests/emulator/client.h"
#include "tests/emulator/random.h"

enum {
  REQUESTS_MAX = 256,
  FDS_MAX = 48, /* fds beyond this number are closed again */
  HANDLES_MAX = 32,
  ARGUMENT_WORDS = 80,
  SCRATCH_BYTES = 1 << 16,
  GUARD_BYTES = 1 << 20,
  REACHED_MIN = 90, /* kinds of requests that succeeded: nearly all that can */
  LIFE = 4000,      /* inputs after which everything is closed and opened again */
  ALARM_SECONDS = 60,
};

static struct {
  uint32_t code[REQUESTS_MAX];
  uint64_t made[REQUESTS_MAX], good[REQUESTS_MAX];
  unsigned count;
} requests;

/* What there is. */
static int fds[FDS_MAX];
static unsigned fd_count;
static uint32_t handles[HANDLES_MAX];
static unsigned handle_count;
static uint64_t last_va;
static char *scratch; /* between inaccessible pages */
static void *mapped;
static size_t mapped_bytes;

/* Collects every request in the table, and Linux's own requests for such fds. */
static void find_requests(void) {
  static const uint32_t of_linux[] = {SYNC_IOC_FILE_INFO, SYNC_IOC_MERGE, DMA_BUF_IOCTL_SYNC};
  static const char magics[] = "GATHNX";
  for (const char *magic = magics; *magic; magic++) {
    for (uint32_t low = 0; low < 256; low++) {
      for (uint32_t size = 0; size < ARGUMENT_WORDS * 4; size++) {
        for (uint32_t direction = 0; direction < 4; direction++) {
          uint32_t code = _IOC(direction, (uint32_t)*magic, low, size);
          if (nvgpu_request_name(code) && requests.count < REQUESTS_MAX - 3)
            requests.code[requests.count++] = code;
        }
      }
    }
  }
  for (size_t i = 0; i < sizeof(of_linux) / sizeof(of_linux[0]); i++)
    requests.code[requests.count++] = of_linux[i];
}

static bool is_open(int fd) {
  return fcntl(fd, F_GETFD) >= 0;
}

static void add_fd(int fd) {
  if (fd_count == FDS_MAX) {
    unsigned victim = below(FDS_MAX);
    OS->close(fds[victim]);
    fds[victim] = fds[--fd_count];
  }
  fds[fd_count++] = fd;
}

static int any_fd(void) {
  return fd_count && !one_in(50) ? fds[below(fd_count)] : (int)below(2000) - 2;
}

static int fd_of(enum emu_kind kind) {
  for (int tries = 0; tries < 2 * FDS_MAX; tries++) {
    int fd = any_fd();
    if (emu_table_get_kind(fd, kind))
      return fd;
  }
  return any_fd();
}

static uint64_t any_pointer(void) {
  switch (below(12)) {
  case 0:
    return 0;
  case 1:
    return 8;
  case 2:
    return (uintptr_t)scratch + SCRATCH_BYTES - below(64); /* passes the end */
  case 3:
    return UINT64_MAX - below(4096);
  case 4:
    return UINT64_C(1) << 63 | (uint64_t)rnd() << 32 | rnd();
  case 5:
    return (uintptr_t)mapped;
  case 6:
    return (uintptr_t)scratch + below(16) * 4096;
  default:
    return (uintptr_t)scratch + below(SCRATCH_BYTES / 2) / 8 * 8;
  }
}

static uint64_t any_address(void) {
  switch (below(6)) {
  case 0:
    return UINT64_C(0x40000000) + below(64) * 4096;
  case 1:
    return (uint64_t)below(0x10000) << 24;
  case 2:
    return (uint64_t)rnd() << 20 | rnd();
  default:
    return last_va + below(3) * 4096;
  }
}

static uint32_t any_word(void) {
  switch (below(10)) {
  case 0:
    return (uint32_t)any_fd();
  case 1:
    return handle_count ? handles[below(handle_count)] : 1;
  case 2:
    return 1u << below(32);
  case 3:
    return UINT32_MAX - below(3);
  case 4:
    return rnd();
  case 5:
    return 4096 << below(4);
  default:
    return below(40);
  }
}

static void any_argument(uint32_t *words) {
  for (int i = 0; i < ARGUMENT_WORDS; i += 2) {
    uint64_t pair = one_in(3) ? any_pointer() : one_in(4) ? any_address() : any_word();
    if (one_in(2))
      pair = (uint64_t)any_word() << 32 | any_word();
    memcpy(&words[i], &pair, sizeof(pair));
  }
}

/* Fills in an argument with which the important requests succeed; afterwards a few words are
 * changed. */
static void good_argument(uint32_t code, void *argument) {
  memset(argument, 0, ARGUMENT_WORDS * 4);
  switch (code) {
  case NVGPU_GPU_IOCTL_ALLOC_AS: {
    struct nvgpu_alloc_as_args *a = argument;
    a->va_range_start = one_in(2) ? 0x200000 : 0x4000000;
    a->va_range_end = one_in(2) ? 0xffffe00000 : 0x2000000000;
    break;
  }
  case NVGPU_GPU_IOCTL_OPEN_CHANNEL:
  case NVGPU_IOCTL_CHANNEL_OPEN:
    ((struct nvgpu_gpu_open_channel_args *)argument)->in.runlist_id = -1;
    break;
  case NVGPU_AS_IOCTL_BIND_CHANNEL:
  case NVGPU_TSG_IOCTL_BIND_CHANNEL:
  case NVGPU_TSG_IOCTL_UNBIND_CHANNEL:
    *(int *)argument = fd_of(EMU_CHANNEL);
    break;
  case NVGPU_TSG_IOCTL_BIND_CHANNEL_EX:
    *(struct nvgpu_tsg_bind_channel_ex_args *)argument = (struct nvgpu_tsg_bind_channel_ex_args){
        .channel_fd = fd_of(EMU_CHANNEL), .subcontext_id = below(3)};
    break;
  case NVGPU_TSG_IOCTL_CREATE_SUBCONTEXT:
    *(struct nvgpu_tsg_create_subcontext_args *)argument =
        (struct nvgpu_tsg_create_subcontext_args){.type = below(2), .as_fd = fd_of(EMU_AS)};
    break;
  case NVGPU_IOCTL_TSG_EVENT_ID_CTRL:
    *(struct nvgpu_event_id_ctrl_args *)argument =
        (struct nvgpu_event_id_ctrl_args){.cmd = 1, .event_id = below(6)};
    break;
  case NVGPU_AS_IOCTL_ALLOC_SPACE: {
    struct nvgpu_as_alloc_space_args *a = argument;
    a->pages = 1 + below(64);
    a->page_size = 4096;
    a->flags = below(4);
    a->o_a.offset = any_address() & ~UINT64_C(4095);
    break;
  }
  case NVGPU_AS_IOCTL_FREE_SPACE:
  case NVGPU_AS_IOCTL_UNMAP_BUFFER:
    *(uint64_t *)argument = any_address();
    break;
  case NVGPU_AS_IOCTL_MAP_BUFFER_EX: {
    struct nvgpu_as_map_buffer_ex_args *a = argument;
    a->dmabuf_fd = (uint32_t)fd_of(EMU_DMABUF);
    a->compr_kind = -1;
    a->flags = below(2) | below(2) << 2 | below(3) << 10;
    a->offset = a->flags & 1 ? any_address() & ~UINT64_C(4095) : 0;
    break;
  }
  case NVGPU_AS_IOCTL_REMAP: {
    struct nvgpu_as_remap_op *op = (struct nvgpu_as_remap_op *)(void *)scratch;
    uint32_t count = 1 + below(4);
    for (uint32_t i = 0; i < count; i++)
      op[i] = (struct nvgpu_as_remap_op){.flags = NVGPU_REMAP_PAGE_4K | below(2) << 10,
                                         .compr_kind = -1,
                                         .mem_handle = (uint32_t)fd_of(EMU_DMABUF),
                                         .mem_offset_in_pages = below(2),
                                         .virt_offset_in_pages = any_address() / 4096,
                                         .num_pages = 1 + below(3)};
    *(struct nvgpu_as_remap_args *)argument =
        (struct nvgpu_as_remap_args){.ops = (uintptr_t)scratch, .num_ops = count};
    break;
  }
  case NVGPU_IOCTL_CHANNEL_SETUP_BIND:
    *(struct nvgpu_channel_setup_bind_args *)argument =
        (struct nvgpu_channel_setup_bind_args){.num_gpfifo_entries = 4u << below(6),
                                               .flags = one_in(2) ? 0xa : 0,
                                               .userd_dmabuf_fd = fd_of(EMU_DMABUF),
                                               .gpfifo_dmabuf_fd = fd_of(EMU_DMABUF)};
    break;
  case NVGPU_IOCTL_CHANNEL_ALLOC_GPFIFO_EX:
    *(uint32_t *)argument = 4u << below(6);
    break;
  case NVGPU_IOCTL_CHANNEL_WDT:
    *(struct nvgpu_channel_wdt_args *)argument =
        (struct nvgpu_channel_wdt_args){.wdt_status = 1 + below(2), .timeout_ms = below(100)};
    break;
  case NVGPU_IOCTL_CHANNEL_SUBMIT_GPFIFO:
    *(struct nvgpu_submit_gpfifo_args *)argument =
        (struct nvgpu_submit_gpfifo_args){.gpfifo = (uintptr_t)scratch,
                                          .num_entries = below(3),
                                          .flags = rnd() & 0x3f,
                                          .fence = {.id = any_word(), .value = below(4)}};
    break;
  case NVGPU_IOCTL_CHANNEL_ALLOC_OBJ_CTX:
    *(uint32_t *)argument = one_in(2) ? CLASS_COMPUTE : CLASS_COPY;
    break;
  case NVGPU_IOCTL_CHANNEL_SET_ERROR_NOTIFIER:
    ((struct nvgpu_set_error_notifier *)argument)->mem = (uint32_t)fd_of(EMU_DMABUF);
    break;
  case NVMAP_IOC_CREATE_64:
    ((struct nvmap_create_handle *)argument)->size64 = 4096u << below(5);
    break;
  case NVMAP_IOC_CREATE:
    ((struct nvmap_create_handle *)argument)->size = 1 + below(1 << 16);
    break;
  case NVMAP_IOC_ALLOC:
    *(struct nvmap_alloc_handle *)argument =
        (struct nvmap_alloc_handle){.handle = handle_count ? handles[below(handle_count)] : 1,
                                    .heap_mask = NVMAP_HEAP_IOVMM,
                                    .flags = 0x09000001,
                                    .align = 4096};
    break;
  case NVMAP_IOC_GET_FD:
  case NVMAP_IOC_DUP_HANDLE:
  case NVMAP_IOC_PARAMETERS:
    any_argument(argument);
    ((uint32_t *)argument)[code == NVMAP_IOC_DUP_HANDLE   ? 0
                           : code == NVMAP_IOC_PARAMETERS ? 2
                                                          : 1] =
        handle_count ? handles[below(handle_count)] : 1;
    break;
  case NVMAP_IOC_FROM_FD:
    ((struct nvmap_create_handle *)argument)->fd = fd_of(EMU_DMABUF);
    break;
  case NVMAP_IOC_WRITE:
  case NVMAP_IOC_READ:
    *(struct nvmap_rw_handle *)argument =
        (struct nvmap_rw_handle){.addr = any_pointer(),
                                 .handle = handle_count ? handles[below(handle_count)] : 1,
                                 .offset = below(5000),
                                 .elem_size = 1 + below(64),
                                 .hmem_stride = 64,
                                 .user_stride = 64,
                                 .count = 1 + below(20)};
    break;
  case NVGPU_GPU_IOCTL_REGISTER_BUFFER:
    *(struct nvgpu_gpu_register_buffer_args *)argument =
        (struct nvgpu_gpu_register_buffer_args){.dmabuf_fd = fd_of(EMU_DMABUF),
                                                .metadata_addr = any_pointer(),
                                                .metadata_size = below(300),
                                                .flags = below(8)};
    break;
  case NVGPU_GPU_IOCTL_CLK_GET_VF_POINTS:
    *(struct nvgpu_gpu_clk_vf_points_args *)argument = (struct nvgpu_gpu_clk_vf_points_args){
        .clk_domain = 1, .max_entries = (uint16_t)below(40), .clk_vf_point_entries = any_pointer()};
    break;
  case NVGPU_GPU_IOCTL_GET_CPU_TIME_CORRELATION_INFO:
    *(struct nvgpu_gpu_get_cpu_time_correlation_info_args *)argument =
        (struct nvgpu_gpu_get_cpu_time_correlation_info_args){.count = below(18), .source_id = 1};
    break;
  case NVGPU_AS_IOCTL_MAPPING_MODIFY:
    *(struct nvgpu_as_mapping_modify_args *)argument =
        (struct nvgpu_as_mapping_modify_args){.buffer_size = 4096, .map_address = last_va};
    break;
  case NVGPU_IOCTL_CHANNEL_SET_PREEMPTION_MODE:
    ((struct nvgpu_preemption_mode_args *)argument)->compute_preempt_mode = 1u << below(3);
    break;
  case NVGPU_GPU_IOCTL_CLK_SET_INFO:
    *(struct nvgpu_gpu_clk_info *)(void *)scratch = (struct nvgpu_gpu_clk_info){.clk_domain = 1};
    *(struct nvgpu_gpu_clk_set_info_args *)argument = (struct nvgpu_gpu_clk_set_info_args){
        .num_entries = 1, .clk_info_entries = (uintptr_t)scratch};
    break;
  case NVGPU_IOCTL_CHANNEL_WAIT:
    *(struct nvgpu_wait_args *)argument = (struct nvgpu_wait_args){
        .type = 1, .condition.semaphore = {.dmabuf_fd = (uint32_t)fd_of(EMU_DMABUF)}};
    break;
  case NVMAP_IOC_CACHE_64:
  case NVMAP_IOC_GUP_TEST:
    *(struct nvmap_cache_op_64 *)argument =
        (struct nvmap_cache_op_64){.addr = (uintptr_t)mapped,
                                   .handle = handle_count ? handles[below(handle_count)] : 1,
                                   .len = below(5000)};
    break;
  case NVMAP_IOC_FROM_VA:
    *(struct nvmap_create_handle_from_va *)argument = (struct nvmap_create_handle_from_va){
        .va = (uintptr_t)scratch + below(8) * 4096, .size = 4096 * (1 + below(3))};
    break;
  case SYNC_IOC_MERGE:
    ((struct sync_merge_data *)argument)->fd2 = fd_of(EMU_SYNC_FILE);
    break;
  case SYNC_IOC_FILE_INFO:
    *(struct sync_file_info *)argument =
        (struct sync_file_info){.num_fences = below(4), .sync_fence_info = any_pointer()};
    break;
  case HOST1X_IOCTL_FENCE_EXTRACT:
    *(struct host1x_fence_extract *)argument = (struct host1x_fence_extract){
        .fence_fd = fd_of(EMU_SYNC_FILE), .num_fences = below(3), .fences_ptr = any_pointer()};
    break;
  case HOST1X_IOCTL_CREATE_FENCE:
    *(struct host1x_create_fence *)argument =
        (struct host1x_create_fence){.id = 17 + below(4), .threshold = below(8)};
    break;
  case HOST1X_IOCTL_TRIGGER_POLLFD:
    *(struct host1x_trigger_pollfd *)argument = (struct host1x_trigger_pollfd){
        .fd = fd_of(EMU_POLLFD), .id = 17 + below(4), .threshold = below(8)};
    break;
  default:
    any_argument(argument);
    break;
  }
}

/* Returns an fd of the node that the request is for. */
static int fd_for(uint32_t code) {
  switch (_IOC_TYPE(code)) {
  case 'G':
    return fd_of(EMU_CTRL);
  case 'A':
    return fd_of(EMU_AS);
  case 'T':
    return fd_of(EMU_TSG);
  case 'H':
    return fd_of(EMU_CHANNEL);
  case 'N':
    return fd_of(EMU_NVMAP);
  case SYNC_IOC_MAGIC:
    return fd_of(EMU_SYNC_FILE);
  case DMA_BUF_BASE:
    return fd_of(EMU_DMABUF);
  default:
    return fd_of(EMU_HOST1X);
  }
}

/* Records the object that a request created. */
static void note(uint32_t code, const uint32_t *words) {
  uint32_t made = 0;
  switch (code) {
  case NVMAP_IOC_CREATE:
  case NVMAP_IOC_FROM_FD:
    made = words[1];
    break;
  case NVMAP_IOC_CREATE_64:
    made = words[0];
    break;
  case NVMAP_IOC_DUP_HANDLE:
    made = words[2];
    break;
  case NVMAP_IOC_FROM_VA:
    made = words[4];
    break;
  case NVGPU_AS_IOCTL_MAP_BUFFER_EX:
    memcpy(&last_va, &words[8], sizeof(last_va));
    break;
  case NVGPU_AS_IOCTL_ALLOC_SPACE:
    memcpy(&last_va, &words[4], sizeof(last_va));
    break;
  default:
    break;
  }
  if (made)
    handles[handle_count < HANDLES_MAX ? handle_count++ : below(HANDLES_MAX)] = made;
}

/* Makes one request and records its result. Returns whether it succeeded. */
static bool make(int fd, uint32_t code, void *argument, const uint32_t *words) {
  unsigned which = 0;
  while (which < requests.count && requests.code[which] != code)
    which++;
  /* A new fd gets the lowest free number. */
  int next = dup(STDERR_FILENO);
  close(next);
  int result = OS->ioctl(fd, code, argument);
  if (which < requests.count) {
    requests.made[which]++;
    requests.good[which] += result == 0;
  }
  if (result == 0)
    note(code, words);
  if (next >= 0 && is_open(next) && emu_table_get(next))
    add_fd(next);
  return result == 0;
}

static bool make_good(uint32_t code) {
  _Alignas(8) uint32_t words[ARGUMENT_WORDS];
  good_argument(code, words);
  return make(fd_for(code), code, words, words);
}

/* Creates memory and an fd for it; uses the newest handle. */
static void new_buffer(void) {
  _Alignas(8) uint32_t words[ARGUMENT_WORDS];
  if (!make_good(NVMAP_IOC_CREATE_64) || !handle_count)
    return;
  uint32_t id = handles[handle_count - 1];
  good_argument(NVMAP_IOC_ALLOC, words);
  words[0] = id;
  make(fd_of(EMU_NVMAP), NVMAP_IOC_ALLOC, words, words);
  words[1] = id;
  make(fd_of(EMU_NVMAP), NVMAP_IOC_GET_FD, words, words);
}

/* Opens a channel of either kind and sets it up as far as SETUP_BIND. */
static void new_channel(void) {
  int as = fd_of(EMU_AS), tsg = fd_of(EMU_TSG);
  struct nvgpu_gpu_open_channel_args open = {.in.runlist_id = -1};
  if (!make(fd_of(EMU_CTRL), NVGPU_GPU_IOCTL_OPEN_CHANNEL, &open, NULL))
    return;
  int fd = open.out.channel_fd;
  struct nvgpu_as_bind_channel_args bind = {(uint32_t)fd};
  make(as, NVGPU_AS_IOCTL_BIND_CHANNEL, &bind, NULL);
  struct nvgpu_tsg_bind_channel_ex_args ex = {.channel_fd = fd};
  make(tsg, NVGPU_TSG_IOCTL_BIND_CHANNEL_EX, &ex, NULL);
  struct nvgpu_channel_wdt_args wdt = {.wdt_status = 1 + below(2)};
  make(fd, NVGPU_IOCTL_CHANNEL_WDT, &wdt, NULL);
  new_buffer();
  _Alignas(8) uint32_t words[ARGUMENT_WORDS];
  good_argument(NVGPU_IOCTL_CHANNEL_SETUP_BIND, words);
  make(fd, NVGPU_IOCTL_CHANNEL_SETUP_BIND, words, words);
}

/* Replaces pointers that happen to point into this process's own memory with invalid ones, because
 * the device would write there. */
static void tame(uint32_t code, uint32_t *words) {
  static const struct {
    uint32_t code, offset;
  } pointers[] = {
      {NVGPU_GPU_IOCTL_GET_CHARACTERISTICS, 8},
      {NVGPU_GPU_IOCTL_GET_TPC_MASKS, 8},
      {NVGPU_GPU_IOCTL_GET_FBP_L2_MASKS, 8},
      {NVGPU_GPU_IOCTL_WAIT_FOR_PAUSE, 0},
      {NVGPU_GPU_IOCTL_VSMS_MAPPING, 0},
      {NVGPU_GPU_IOCTL_GET_ENGINE_INFO, 8},
      {NVGPU_GPU_IOCTL_CLK_GET_RANGE, 8},
      {NVGPU_GPU_IOCTL_CLK_GET_VF_POINTS, 16},
      {NVGPU_GPU_IOCTL_CLK_GET_INFO, 8},
      {NVGPU_GPU_IOCTL_CLK_SET_INFO, 8},
      {NVGPU_GPU_IOCTL_SET_DETERMINISTIC_OPTS, 8},
      {NVGPU_GPU_IOCTL_REGISTER_BUFFER, 8},
      {NVGPU_GPU_IOCTL_GET_BUFFER_INFO, 8},
      {NVGPU_GPU_IOCTL_GET_GPC_LOCAL_TO_PHYSICAL_MAP, 8},
      {NVGPU_GPU_IOCTL_GET_GPC_LOCAL_TO_LOGICAL_MAP, 8},
      {NVGPU_AS_IOCTL_GET_VA_REGIONS, 0},
      {NVGPU_AS_IOCTL_MAP_BUFFER_BATCH, 0},
      {NVGPU_AS_IOCTL_MAP_BUFFER_BATCH, 8},
      {NVGPU_AS_IOCTL_REMAP, 0},
      {NVGPU_TSG_IOCTL_READ_SINGLE_SM_ERROR_STATE, 8},
      {NVGPU_IOCTL_CHANNEL_SUBMIT_GPFIFO, 0},
      {NVMAP_IOC_WRITE, 0},
      {NVMAP_IOC_READ, 0},
      {NVMAP_IOC_CACHE_LIST, 0},
      {NVMAP_IOC_CACHE_LIST, 8},
      {NVMAP_IOC_CACHE_LIST, 16},
      {NVMAP_IOC_FROM_VA, 0},
      {NVMAP_IOC_SET_TAG_LABEL, 8},
      {NVMAP_IOC_GET_FD_FOR_RANGE_FROM_LIST, 0},
      {HOST1X_IOCTL_FENCE_EXTRACT, 8},
      {SYNC_IOC_FILE_INFO, offsetof(struct sync_file_info, sync_fence_info)},
  };
  for (size_t i = 0; i < sizeof(pointers) / sizeof(pointers[0]); i++) {
    uint64_t pointer;
    if (pointers[i].code != code)
      continue;
    memcpy(&pointer, (char *)words + pointers[i].offset, sizeof(pointer));
    uint64_t from_scratch = pointer - ((uintptr_t)scratch - GUARD_BYTES);
    uint64_t from_mapped = pointer - (uintptr_t)mapped;
    bool known =
        from_scratch < SCRATCH_BYTES + 2 * GUARD_BYTES || (mapped && from_mapped < mapped_bytes);
    /* Nothing is mapped there, not even the address sanitizer's shadow memory. */
    bool nowhere = pointer >> 30 == 0 || pointer >> 47;
    if (!known && !nowhere)
      memset((char *)words + pointers[i].offset, 0, sizeof(pointer));
  }
}

static void request(void) {
  uint32_t code = requests.code[below(requests.count)];
  _Alignas(8) uint32_t words[ARGUMENT_WORDS];
  if (one_in(5))
    any_argument(words);
  else
    good_argument(code, words);
  for (uint32_t i = one_in(3) ? 1 + below(2) : 0; i; i--)
    words[below(1 + _IOC_SIZE(code) / 4)] = any_word();
  if (code == NVGPU_IOCTL_CHANNEL_WAIT)
    words[1] = 1; /* milliseconds; 0 means no limit */
  if (one_in(100))
    code ^= 1u << below(32); /* other sizes, directions, numbers and magics */
  int fd = one_in(30) ? any_fd() : fd_for(code);
  tame(code, words);
  /* Only inaccessible addresses, because tame() does not check arguments elsewhere in memory. */
  void *const bad[] = {NULL, (void *)8, scratch + SCRATCH_BYTES - 1, (void *)-(uintptr_t)4096};
  void *argument = one_in(100) ? bad[below(4)] : words;
  if (code == NVMAP_IOC_FREE)
    argument = (void *)(uintptr_t)(handle_count ? handles[below(handle_count)] : any_word());
  make(fd, code, argument, words);
}

static void map_and_unmap(void) {
  int error;
  if (mapped)
    OS->munmap(mapped, mapped_bytes);
  mapped_bytes = (1 + below(4)) * 4096;
  mapped = OS->mmap(NULL, mapped_bytes, one_in(2) ? PROT_READ : PROT_READ | PROT_WRITE,
                    one_in(8) ? MAP_PRIVATE : MAP_SHARED, any_fd(), one_in(8) ? 4096 : 0, &error);
}

static void open_node(void) {
  static const char *const paths[] = {
      "/dev/nvmap",      "/dev/nvgpu/igpu0/ctrl", "/dev/host1x-fence",   "/dev/nvhost-tsg-gpu",
      "/dev/nvhost-gpu", "/dev/nvgpu/igpu0/as",   "/dev/nvhost-prof-gpu"};
  int fd = OS->open(paths[below(sizeof(paths) / sizeof(paths[0]))], O_RDWR);
  if (fd >= 0)
    add_fd(fd);
}

static void close_one(void) {
  if (!fd_count)
    return;
  unsigned which = below(fd_count);
  OS->close(fds[which]);
  fds[which] = fds[--fd_count];
}

static void step(void) {
  switch (below(60)) {
  case 0:
    map_and_unmap();
    break;
  case 1:
    close_one();
    break;
  case 2:
    open_node();
    break;
  case 3:
    OS->doorbell(scratch, one_in(2) ? 511 - below(8) : rnd());
    break;
  case 4:
    new_buffer();
    break;
  case 5:
    new_channel();
    break;
  case 6: {
    struct pollfd p = {.fd = any_fd(), .events = (short)(POLLIN | below(2) * POLLPRI)};
    OS->poll(&p, 1, 0);
    break;
  }
  default:
    request();
    break;
  }
}

static void begin_life(void) {
  static const char *const nodes[] = {"/dev/nvmap", "/dev/nvgpu/igpu0/ctrl", "/dev/host1x-fence",
                                      "/dev/nvgpu/igpu0/tsg"};
  for (size_t i = 0; i < sizeof(nodes) / sizeof(nodes[0]); i++)
    add_fd(OS->open(nodes[i], O_RDWR));
  struct nvgpu_alloc_as_args as = {.va_range_start = 0x4000000, .va_range_end = 0x2000000000};
  EXPECT(0, fds[1], NVGPU_GPU_IOCTL_ALLOC_AS, as);
  add_fd(as.as_fd);
  /* Makes the pages private again after FROM_VA. */
  assert_true(mmap(scratch, SCRATCH_BYTES, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == scratch);
}

/* True: nothing stays. */
static bool end_life(void) {
  if (mapped)
    OS->munmap(mapped, mapped_bytes);
  mapped = NULL;
  while (fd_count)
    OS->close(fds[--fd_count]);
  handle_count = 0;
  bool clean = !emu_gpu.started && !emu_objects.fd_count && !emu_memory.dmabufs &&
               !emu_nvmap.handles && !emu_memory.used && !emu_tsgs.count && !emu_syncpoints.waits &&
               !emu_tsgs.tokens;
  int lowest = dup(STDERR_FILENO);
  close(lowest);
  return clean && lowest == STDERR_FILENO + 1;
}

int main(int argc, char **argv) {
  if (argc < 2) {
    fprintf(stderr, "usage: emulator-fuzz-requests COUNT [SEED]\n");
    return 2;
  }
  uint64_t count = strtoull(argv[1], NULL, 0);
  uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 0) : 20260101;
  bool clean = true;
  /* The caller's fds are not part of the test. */
  for (int fd = STDERR_FILENO + 1; fd < 64; fd++)
    close(fd);
  find_requests();
  char *memory =
      mmap(NULL, SCRATCH_BYTES + 2 * GUARD_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return 1;
  scratch = memory + GUARD_BYTES;
  for (uint64_t i = 0; i < count && clean; i++) {
    begin_input(first + i);
    if (i % LIFE == 0) {
      alarm(ALARM_SECONDS);
      begin_life();
    }
    step();
    if (i % LIFE == LIFE - 1 || i + 1 == count)
      clean = end_life();
  }
  unsigned reached = 0;
  uint64_t good = 0, made = 0;
  for (unsigned i = 0; i < requests.count; i++) {
    reached += requests.good[i] > 0;
    good += requests.good[i];
    made += requests.made[i];
  }
  printf("%llu inputs from seed %llu: %llu of %llu requests granted, %u of %u kinds\n",
         (unsigned long long)count, (unsigned long long)first, (unsigned long long)good,
         (unsigned long long)made, reached, requests.count);
  for (unsigned i = 0; i < requests.count; i++) {
    const char *name = nvgpu_request_name(requests.code[i]);
    printf("%10llu of %10llu %s\n", (unsigned long long)requests.good[i],
           (unsigned long long)requests.made[i], name ? name : "of Linux");
  }
  munmap(memory, SCRATCH_BYTES + 2 * GUARD_BYTES);
  if (!clean)
    fprintf(stderr, "objects are left after seed %llu\n", (unsigned long long)seed);
  bool deep = reached >= REACHED_MIN;
  if (count >= 100000 && !deep)
    fprintf(stderr, "the inputs do not reach deep\n");
  return !clean || (count >= 100000 && !deep);
}
