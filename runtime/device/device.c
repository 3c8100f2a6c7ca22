/* Opens a GPU and reads its properties and clock. */
#include "runtime/device/device.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysinfo.h>

#include "base/clock.h"
#include "base/cores.h"
#include "gpu/hw/constant_bank.h"
#include "gpu/hw/host.h"
#include "gpu/hw/memory.h"
#include "gpu/hw/methods.h"
#include "gpu/nvgpu/emulator_node.h"
#include "gpu/nvgpu/uapi.h"
#include "runtime/context/notes.h"
#include "runtime/debug/debug.h"
#include "runtime/device/available.h"
#include "runtime/device/board_file.h"
#include "runtime/device/fds.h"
#include "runtime/memory/ranges.h"
#include "runtime/message.h"

enum {
  ORIN_SM_VERSION = 0x807, /* GA10B; docs/hardware/kernel-interface.md 2.1.1 */
  GPCS_MAX = 32,           /* number of bits in gpc_mask */
  /* ptxas rejects more than 48 KiB of static shared memory, so this is the limit for OpenCL's local
   * memory, static and dynamic together (docs/hardware/command-stream.md 5.4). */
  SHARED_PER_BLOCK = 48 * 1024,
  HZ_PER_MHZ = 1000000,
  /* The largest power of two that fits in the first context's address range. */
  BUFFER_SHIFT_MAX = 36,
};

static const char model_file[] = "/proc/device-tree/model";
static const char serial_file[] = "/proc/device-tree/serial-number";

/* Reads the characteristics and rejects GPUs whose formats the driver does not know. */
static int get_characteristics(struct rt_device *d, struct nvgpu_gpu_characteristics *c) {
  struct nvgpu_gpu_get_characteristics args = {.gpu_characteristics_buf_size = sizeof(*c),
                                               .gpu_characteristics_buf_addr = (uintptr_t)c};
  memset(c, 0, sizeof(*c));
  int error = d->os->ioctl(d->ctrl_fd, NVGPU_GPU_IOCTL_GET_CHARACTERISTICS, &args);
  if (error)
    return rt_fail_call(error, "GET_CHARACTERISTICS");
  d->release = nvgpu_release_find(args.gpu_characteristics_buf_size);
  if (!d->release)
    return rt_fail(-ENODEV,
                   "the kernel driver has %llu bytes of GPU characteristics instead of %zu (%s) or "
                   "%zu (%s), so it belongs to an unsupported release; install JetPack 5 or 6",
                   (unsigned long long)args.gpu_characteristics_buf_size,
                   nvgpu_r36.characteristics_bytes, nvgpu_r36.name, nvgpu_r35.characteristics_bytes,
                   nvgpu_r35.name);
  nvgpu_release_characteristics(d->release, c);
  if (c->sm_arch_sm_version != ORIN_SM_VERSION || c->compute_class != CLASS_COMPUTE ||
      c->gpfifo_class != CLASS_HOST)
    return rt_fail(-ENODEV,
                   "unsupported GPU (\"%.8s\", SM version 0x%x, compute class 0x%x, channel class "
                   "0x%x); tegracl supports only Orin's GA10B",
                   (const char *)c->chipname, c->sm_arch_sm_version, c->compute_class,
                   c->gpfifo_class);
  if (!(c->flags >> NVGPU_FLAG_USERMODE_SUBMIT & 1) || !(c->flags >> NVGPU_FLAG_SUBCONTEXTS & 1))
    return rt_fail(-ENODEV,
                   "the kernel driver does not support user-mode submission or subcontexts "
                   "(characteristics flags 0x%llx)",
                   (unsigned long long)c->flags);
  return 0;
}

/* Reads the number of SMs in use, and the number of TPCs for the local memory pool. The pool is
 * indexed by physical TPC, so disabled TPCs count (docs/hardware/command-stream.md 4.3). */
static int get_units(struct rt_device *d, const struct nvgpu_gpu_characteristics *c) {
  struct nvgpu_gpu_num_vsms vsms = {0};
  int error = d->os->ioctl(d->ctrl_fd, NVGPU_GPU_IOCTL_NUM_VSMS, &vsms);
  if (error)
    return rt_fail_call(error, "NUM_VSMS");
  if (vsms.num_vsms == 0)
    return rt_fail(-ENODEV, "the kernel driver reports a GPU without SMs");
  d->info.sm_count = vsms.num_vsms;

  uint32_t masks[GPCS_MAX] = {0};
  struct nvgpu_gpu_get_tpc_masks_args tpc = {.mask_buf_size = sizeof(masks),
                                             .mask_buf_addr = (uintptr_t)masks};
  error = d->os->ioctl(d->ctrl_fd, NVGPU_GPU_IOCTL_GET_TPC_MASKS, &tpc);
  if (error)
    return rt_fail_call(error, "GET_TPC_MASKS");
  uint32_t gpcs = tpc.mask_buf_size / sizeof(uint32_t);
  uint32_t tpcs = c->num_tpc_per_gpc;
  for (uint32_t i = 0; i < GPCS_MAX; i++)
    if (masks[i] && 32 - (uint32_t)__builtin_clz(masks[i]) > tpcs)
      tpcs = 32 - (uint32_t)__builtin_clz(masks[i]);
  if (c->num_gpc > gpcs)
    gpcs = c->num_gpc;
  d->info.tpc_count = gpcs * tpcs;
  if (d->info.tpc_count * SMS_PER_TPC < d->info.sm_count)
    d->info.tpc_count = (d->info.sm_count + SMS_PER_TPC - 1) / SMS_PER_TPC;
  return 0;
}

static uint32_t max_clock_mhz(struct rt_device *d, const struct nvgpu_gpu_characteristics *c) {
  struct nvgpu_gpu_clk_range range = {.clk_domain = NVGPU_CLK_DOMAIN_GPCCLK};
  struct nvgpu_gpu_clk_range_args args = {.flags = NVGPU_CLK_RANGE_SPECIFIC_DOMAINS,
                                          .num_entries = 1,
                                          .clk_range_entries = (uintptr_t)&range};
  /* If the clock range is unavailable, use the chip's maximum frequency. */
  if (d->os->ioctl(d->ctrl_fd, NVGPU_GPU_IOCTL_CLK_GET_RANGE, &args) || range.max_hz == 0)
    return (uint32_t)(c->max_freq / HZ_PER_MHZ);
  return (uint32_t)(range.max_hz / HZ_PER_MHZ);
}

static uint64_t memory_bytes(struct rt_device *d) {
  struct nvmap_query_heap_params heap = {.heap_mask = NVMAP_HEAP_IOVMM};
  if (d->os->ioctl(d->nvmap_fd, rt_request(d, NVMAP_IOC_QUERY_HEAP_PARAMS), &heap) == 0 &&
      heap.total)
    return heap.total;
  /* Reads what that request would report (docs/hardware/kernel-interface.md 3.5) from the
   * system. */
  struct sysinfo system;
  return sysinfo(&system) ? 0 : (uint64_t)system.totalram * system.mem_unit;
}

/* Reads at most size - 1 bytes of a file and terminates them. If the file cannot be opened, name is
 * unchanged. */
static void read_name(const char *file, char *name, size_t size) {
  FILE *f = fopen(file, "re");
  if (!f)
    return;
  size_t n = fread(name, 1, size - 1, f);
  name[n] = 0;
  fclose(f);
}

/* Uses the number in the chip's fuses, which kernels of r35 and r36 read at boot
 * (ga10b_fuse_read_per_device_identifier), or else the module's serial number. Every user who may
 * open the nodes may read both. */
static void identify_chip(struct rt_device_info *info, const struct nvgpu_gpu_characteristics *c) {
  if (c->per_device_identifier)
    snprintf(info->identity, sizeof(info->identity), "%016llx",
             (unsigned long long)c->per_device_identifier);
  else if (!info->emulated)
    read_name(serial_file, info->identity, sizeof(info->identity));
}

static int describe_device(struct rt_device *d) {
  struct nvgpu_gpu_characteristics c;
  int error = get_characteristics(d, &c);
  if (error == 0)
    error = get_units(d, &c);
  if (error)
    return error;
  struct rt_device_info *info = &d->info;
  memcpy(info->chip, c.chipname, sizeof(c.chipname));
  info->emulated = d->emulator_fd >= 0;
  if (!info->emulated)
    read_name(model_file, info->board, sizeof(info->board));
  identify_chip(info, &c);
  info->sm_version = c.sm_arch_sm_version;
  info->max_clock_mhz = max_clock_mhz(d, &c);
  info->warp_size = GPU_WARP_SIZE;
  info->blocks_per_sm = SM_BLOCKS;
  info->max_threads_per_block = BLOCK_THREADS_MAX;
  info->max_block[0] = BLOCK_XY_MAX;
  info->max_block[1] = BLOCK_XY_MAX;
  info->max_block[2] = BLOCK_Z_MAX;
  info->max_grid[0] = GRID_X_MAX;
  info->max_grid[1] = GRID_YZ_MAX;
  info->max_grid[2] = GRID_YZ_MAX;
  info->registers_per_sm = SM_REGISTERS;
  info->shared_bytes_per_block = SHARED_PER_BLOCK;
  info->l2_bytes = c.L2_cache_size;
  info->memory_bytes = rt_available_share(memory_bytes(d));
  info->max_buffer_bytes = info->memory_bytes / 2 / GPU_PAGE_BYTES * GPU_PAGE_BYTES;
  if (info->max_buffer_bytes > UINT64_C(1) << BUFFER_SHIFT_MAX)
    info->max_buffer_bytes = UINT64_C(1) << BUFFER_SHIFT_MAX;
  info->max_param_bytes = BANK0_PARAMS_BYTES_MAX;
  info->timer_step_ns = PTIMER_STEP_NS;
  info->shared_addresses = rt_ranges_are_free();
  d->preemptions = c.compute_preemption_mode_flags;
  return 0;
}

static void forget_nodes(struct rt_device *d) {
  d->usermode = NULL;
  d->usermode_users = 0;
  d->nvmap_fd = d->ctrl_fd = d->fence_fd = d->emulator_fd = -1;
}

static void close_nodes(struct rt_device *d) {
  rt_fd_close(d->os, d->emulator_fd);
  rt_fd_close(d->os, d->fence_fd);
  rt_fd_close(d->os, d->ctrl_fd);
  rt_fd_close(d->os, d->nvmap_fd);
  forget_nodes(d);
}

void rt_device_close(struct rt_device *d) {
  if (!d)
    return;
  close_nodes(d);
  base_mutex_destroy(&d->usermode_lock);
  base_mutex_destroy(&d->contexts_lock);
  base_mutex_destroy(&d->addresses);
  base_mutex_destroy(&d->allocation);
  free(d);
}

int rt_device_hold_usermode(struct rt_device *d) {
  int error = 0;
  base_mutex_lock(&d->usermode_lock);
  if (!d->usermode)
    d->usermode = d->os->mmap(NULL, USERMODE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, d->ctrl_fd,
                              0, &error);
  if (!error)
    d->usermode_users++;
  base_mutex_unlock(&d->usermode_lock);
  return error ? rt_fail_call(error, "mmap of the user-mode page of %s", NVGPU_CTRL_NODE) : 0;
}

void rt_device_release_usermode(struct rt_device *d) {
  base_mutex_lock(&d->usermode_lock);
  if (--d->usermode_users == 0) {
    d->os->munmap(d->usermode, USERMODE_BYTES);
    d->usermode = NULL;
  }
  base_mutex_unlock(&d->usermode_lock);
}

static int open_nodes(struct rt_device *d) {
  d->nvmap_fd = rt_fd_opened(d->os, d->os->open(NVMAP_NODE, O_RDWR));
  if (d->nvmap_fd < 0)
    return rt_fail_call(d->nvmap_fd, "open %s", NVMAP_NODE);
  d->ctrl_fd = rt_fd_opened(d->os, d->os->open(NVGPU_CTRL_NODE, O_RDWR));
  if (d->ctrl_fd < 0)
    return rt_fail_call(d->ctrl_fd, "open %s", NVGPU_CTRL_NODE);
  /* A board does not need this node, so every error is ignored. A container or a security module
   * may refuse unknown nodes with EACCES or EPERM. */
  d->emulator_fd = rt_fd_opened(d->os, d->os->open(EMULATOR_NODE_PATH, O_RDWR));
  d->notes = rt_notes_wanted(d->os, d->emulator_fd, &d->info.checks);
  return 0;
}

/* The node is optional: without it, or without permission to open it, waits poll. */
static void open_fence_node(struct rt_device *d) {
  d->fence_fd = rt_fd_opened(d->os, d->os->open(d->release->fence_node, O_RDWR));
}

/* Check and profile mode distinguish buffers by page, so these modes rule out suballocation. */
static bool may_suballocate(const struct rt_device *d) {
  const char *value = secure_getenv("TEGRACL_SUBALLOCATION");
  const bool off = value && strcmp(value, "0") == 0;
  if (value && *value && !off && strcmp(value, "1") != 0)
    fprintf(stderr, "tegracl: TEGRACL_SUBALLOCATION: unknown value \"%s\"; use 0 or 1\n", value);
  return !off && !d->notes;
}

int rt_device_create(const struct nvgpu_os *os, struct rt_device **device) {
  struct rt_device *d = calloc(1, sizeof(*d));
  if (!d)
    return rt_fail(-ENOMEM, "out of memory while opening the device");
  d->os = rt_debug_trace_os(os);
  base_mutex_init(&d->addresses, BASE_LOCK_RT_ADDRESSES);
  base_mutex_init(&d->allocation, BASE_LOCK_RT_ALLOCATION);
  d->meminfo = "/proc/meminfo";
  base_mutex_init(&d->usermode_lock, BASE_LOCK_RT_USERMODE);
  base_mutex_init(&d->contexts_lock, BASE_LOCK_RT_CONTEXTS);
  forget_nodes(d);
  struct rt_board_results results = {0};
  int error = open_nodes(d);
  if (error == 0) {
    rt_board_choose(d->emulator_fd >= 0, &results);
    d->choices = results.choices;
    rt_choices_read_environment(&d->choices);
  }
  if (error == 0)
    error = describe_device(d);
  if (error) {
    rt_device_close(d);
    return error;
  }
  open_fence_node(d);
  d->suballocation = may_suballocate(d);
  d->one_core = base_cores() == 1;
  rt_texture_units_init(&d->textures, &results.textures, d->info.board);
  for (int i = 0; i < RT_CHOICES && rt_debug_choices(); i++)
    fprintf(stderr, "tegracl: choice: %s=%s\n", rt_choice_name(i), rt_choice_value(&d->choices, i));
  *device = d;
  return 0;
}

int rt_device_reopen(struct rt_device *d) {
  int error = open_nodes(d);
  if (error)
    close_nodes(d);
  else
    open_fence_node(d);
  return error;
}

void rt_device_forget(struct rt_device *d) {
  forget_nodes(d);
  base_mutex_init(&d->allocation, BASE_LOCK_RT_ALLOCATION);
  base_mutex_init(&d->addresses,
                  BASE_LOCK_RT_ADDRESSES); /* another thread may have held it during the fork */
  base_mutex_init(&d->usermode_lock, BASE_LOCK_RT_USERMODE);
  base_mutex_init(&d->contexts_lock, BASE_LOCK_RT_CONTEXTS);
  base_mutex_init(&d->textures.lock, BASE_LOCK_RT_TEXTURE_UNITS);
  d->contexts = NULL; /* those of the parent */
}

const struct rt_device_info *rt_device_info(const struct rt_device *d) {
  return &d->info;
}

/* Calls the kernel's GET_GPU_TIME between two reads of the CPU's clock. The error is at most half
 * the time between the reads, so of several tries the shortest is used. */
int rt_device_time(struct rt_device *d, uint64_t *gpu_ns, uint64_t *cpu_ns) {
  enum { TRIES = 4 };
  uint64_t best = UINT64_MAX;
  for (int i = 0; i < TRIES; i++) {
    struct nvgpu_gpu_get_gpu_time_args args = {0};
    uint64_t before = base_clock_ns();
    int error = d->os->ioctl(d->ctrl_fd, NVGPU_GPU_IOCTL_GET_GPU_TIME, &args);
    uint64_t after = base_clock_ns();
    if (error)
      return rt_fail_call(error, "GET_GPU_TIME");
    if (after - before < best) {
      best = after - before;
      *gpu_ns = args.gpu_timestamp;
      *cpu_ns = before + best / 2;
    }
  }
  return 0;
}

int rt_device_warp_instructions(struct rt_device *d, uint64_t *count) {
  if (d->emulator_fd < 0)
    return rt_fail(-ENOTSUP, "only the software Orin counts executed instructions");
  struct emulator_counters counters = {0};
  int error = d->os->ioctl(d->emulator_fd, EMULATOR_IOCTL_COUNTERS, &counters);
  if (error)
    return rt_fail_call(error, "counters of the software Orin");
  *count = counters.warp_instructions;
  return 0;
}
