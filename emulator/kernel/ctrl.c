/* The control node: characteristics, clocks, time, and requests that open address spaces, TSGs and
 * channels. Section numbers refer to docs/hardware/kernel-interface.md: 2.1, 3.1. */
#include "emulator/kernel/ctrl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "emulator/boards.h"
#include "emulator/engine/engine.h"
#include "emulator/engine/method.h"
#include "emulator/gpu.h"
#include "emulator/kernel/address_space.h"
#include "emulator/kernel/channel.h"
#include "emulator/kernel/dispatch.h"
#include "emulator/kernel/dmabuf.h"
#include "emulator/kernel/l4t.h"
#include "emulator/kernel/power.h"
#include "emulator/kernel/share.h"
#include "emulator/kernel/tsg.h"
#include "emulator/kernel/user_copy.h"
#include "emulator/kernel/usermode.h"
#include "emulator/modes/inject.h"
#include "emulator/objects.h"
#include "gpu/hw/host.h"
#include "gpu/hw/memory.h"
#include "gpu/hw/methods.h"
#include "gpu/nvgpu/release.h"
#include "gpu/nvgpu/uapi.h"

struct emu_ctrls emu_ctrls;

enum {
  ZCULL_CONTEXT_BYTES = 164352, /* 2.1, nr 1 */
  FBPS = 2,
  GPU_CLOCK_MIN_HZ = 114750000,  /* Orin's lowest devfreq step */
  GPU_CLOCK_STEP_HZ = 102000000, /* distance of Orin's devfreq steps */
  CLOCK_POINTS_MAX = 16,
  AS_APERTURE_BITS = 49, /* 3.1, ALLOC_AS check 7 */
  ENGINE_GR = 0,
  ENGINE_GR_COPY = 1,
  RUNLIST_GR = 0,
};

/* Copies data to a buffer to which the argument points. For a bad pointer returns the number of
 * bytes not copied, like the driver (1.4, last paragraph). */
static int copy_to_buffer(uint64_t user, const void *data, size_t bytes) {
  return emu_copy_to_user(user, data, bytes) ? (int)bytes : 0;
}

/* The characteristics of 2.1.1, but of a board at full power; those were measured in the 30 W mode
 * (docs/hardware/kernel-interface.md trap T11). */
static int get_characteristics(struct emu_object *object, int fd, void *argument) {
  (void)fd;
  struct nvgpu_gpu_get_characteristics *a = argument;
  struct nvgpu_gpu_characteristics c = {
      .arch = 0x170,
      .impl = 0xb,
      .rev = 0xa1,
      .num_gpc = emu_board()->gpcs,
      .numa_domain_id = -1,
      .L2_cache_size = 0x400000,
      .num_tpc_per_gpc = EMU_TPCS_PER_GPC,
      .bus_type = 32,
      .compression_page_size = 0x10000,
      .pde_coverage_bit_count = 47,
      .flags = UINT64_C(0x01bf5fff7f5d035d),
      .twod_class = EMU_CLASS_2D,
      .threed_class = CLASS_3D,
      .compute_class = CLASS_COMPUTE,
      .gpfifo_class = CLASS_HOST,
      .inline_to_memory_class = EMU_CLASS_I2M,
      .dma_copy_class = CLASS_COPY,
      .gpc_mask = (1u << emu_board()->gpcs) - 1,
      .sm_arch_sm_version = emu_inject_sm_version(0x807),
      .sm_arch_spa_version = 0x806,
      .sm_arch_warp_count = 96,
      .gpu_ioctl_nr_last = (int16_t)emu_node_ctrl.last_number,
      .tsg_ioctl_nr_last = (int16_t)emu_node_tsg.last_number,
      .dbg_gpu_ioctl_nr_last = 33,
      .ioctl_channel_nr_last = (int16_t)emu_node_channel.last_number,
      .as_ioctl_nr_last = (int16_t)emu_node_as.last_number,
      .gpu_va_bit_count = GPU_VA_BITS,
      .max_fbps_count = FBPS,
      .fbp_en_mask = (1u << FBPS) - 1,
      .max_ltc_per_fbp = 1,
      .max_lts_per_ltc = 4,
      .max_gpc_count = EMU_GPCS,
      .chipname = "ga10b",
      .num_ltc = 2,
      .lts_per_ltc = 4,
      .map_buffer_batch_limit = 256,
      .max_freq = emu_board()->gpu_max_hz,
      .graphics_preemption_mode_flags = NVGPU_PREEMPT_GRAPHICS_WFI | NVGPU_PREEMPT_GRAPHICS_GFXP,
      .compute_preemption_mode_flags =
          NVGPU_PREEMPT_COMPUTE_WFI | NVGPU_PREEMPT_COMPUTE_CTA | NVGPU_PREEMPT_COMPUTE_CILP,
      .default_graphics_preempt_mode = NVGPU_PREEMPT_GRAPHICS_WFI,
      .default_compute_preempt_mode = NVGPU_PREEMPT_COMPUTE_WFI,
      .reg_ops_limit = 1024,
      .event_ioctl_nr_last = 1,
      .ctxsw_ioctl_nr_last = 6,
      .prof_ioctl_nr_last = 13,
      .num_ppc_per_gpc = 2,
      .max_veid_count_per_tsg = EMU_VEIDS,
      .max_gpfifo_entries = 268435456,
      .max_dbg_tsg_timeslice = 4000000,
      .device_instance_id = ((struct emu_ctrl *)object)->instance,
  };
  /* 3.1, GET_CHARACTERISTICS check 2 */
  char shaped[sizeof(c)];
  size_t all = nvgpu_release_pack_characteristics(emu_release(), &c, shaped);
  size_t bytes =
      a->gpu_characteristics_buf_size < all ? (size_t)a->gpu_characteristics_buf_size : all;
  int result = copy_to_buffer(a->gpu_characteristics_buf_addr, shaped, bytes);
  a->gpu_characteristics_buf_size = all;
  return result;
}

static int zcull_size(struct emu_object *object, int fd, void *argument) {
  ((struct nvgpu_gpu_zcull_get_ctx_size_args *)argument)->size = ZCULL_CONTEXT_BYTES;
  return 0;
}

/* ALLOC_AS: makes the checks in the driver's order (3.1). */
static int alloc_as(struct emu_object *object, int fd, void *argument) {
  struct nvgpu_alloc_as_args *a = argument;
  if (a->big_page_size)
    return -EINVAL; /* check 2: there are no big page sizes */
  if (!a->va_range_start || a->va_range_start % NVGPU_AS_RANGE_ALIGN)
    return -EINVAL; /* check 3 */
  if (!a->va_range_end || a->va_range_end % NVGPU_AS_RANGE_ALIGN)
    return -EINVAL; /* check 4 */
  if (a->va_range_start >= a->va_range_end)
    return -EINVAL; /* check 5 */
  if (a->va_range_split)
    return -EINVAL; /* check 6 */
  if (a->va_range_end > (UINT64_C(1) << AS_APERTURE_BITS) - NVGPU_AS_KERNEL_BYTES)
    return -ENOMEM; /* check 7 */
  struct emu_as *as = emu_as_create(a->va_range_start, a->va_range_end);
  if (!as)
    return -ENOMEM;
  int as_fd = emu_table_open("nvhost-ga10b-as", &as->object);
  emu_object_put(&as->object);
  if (as_fd < 0)
    return as_fd;
  a->as_fd = as_fd;
  return 0;
}

/* OPEN_TSG: makes the checks in the driver's order (3.1). */
static int open_tsg(struct emu_object *object, int fd, void *argument) {
  struct nvgpu_gpu_open_tsg_args *a = argument;
  uint64_t instance = ((struct emu_ctrl *)object)->instance;
  bool share = a->flags & NVGPU_OPEN_TSG_SHARE;
  if (!share && (a->source_device_instance_id || a->share_token))
    return -EINVAL; /* check 1 */
  if (share && (!a->source_device_instance_id || !a->share_token))
    return -EINVAL; /* check 2 */
  int tsg_fd;
  if (share) {
    struct emu_tsg *shared = emu_share_use(a->source_device_instance_id, instance, a->share_token);
    if (!shared)
      return -EINVAL; /* check 3 */
    tsg_fd = emu_table_open("nvgpu-ga10b-tsg", &shared->object);
  } else {
    tsg_fd = emu_tsg_open(); /* checks 4 and 5 */
  }
  if (tsg_fd < 0)
    return tsg_fd;
  int error = emu_share_own(emu_table_get_kind(tsg_fd, EMU_TSG), instance);
  if (error) {
    close(tsg_fd);
    emu_table_clear(tsg_fd);
    return error;
  }
  a->tsg_fd = (uint32_t)tsg_fd;
  return 0;
}

static int open_channel(struct emu_object *object, int fd, void *argument) {
  struct nvgpu_gpu_open_channel_args *a = argument;
  int channel = emu_channel_open(a->in.runlist_id);
  if (channel < 0)
    return channel;
  a->out.channel_fd = channel;
  return 0;
}

static int copy_masks(uint64_t user, uint32_t *size, const uint32_t *values, uint32_t count) {
  uint32_t full = count * (uint32_t)sizeof(*values);
  int result = copy_to_buffer(user, values, *size < full ? *size : full);
  *size = full;
  return result;
}

static int tpc_masks(struct emu_object *object, int fd, void *argument) {
  struct nvgpu_gpu_get_tpc_masks_args *a = argument;
  return copy_masks(a->mask_buf_addr, &a->mask_buf_size, emu_board()->tpc_masks, EMU_GPCS);
}

static int fbp_masks(struct emu_object *object, int fd, void *argument) {
  struct nvgpu_gpu_get_fbp_l2_masks_args *a = argument;
  const uint32_t values[FBPS] = {0xf, 0xf}; /* four slices of one LTC each; 2.1.1 */
  return copy_masks(a->mask_buf_addr, &a->mask_buf_size, values, FBPS);
}

static int num_vsms(struct emu_object *object, int fd, void *argument) {
  struct nvgpu_gpu_num_vsms *a = argument;
  a->num_vsms = emu_board()->sms;
  a->reserved = 0;
  return 0;
}

static int vsms_mapping(struct emu_object *object, int fd, void *argument) {
  struct nvgpu_gpu_vsms_mapping *a = argument;
  char entries[EMU_SMS * sizeof(struct nvgpu_gpu_vsms_mapping_entry)];
  size_t bytes = 0;
  uint32_t tpcs = 0;
  for (uint32_t gpc = 0; gpc < emu_board()->gpcs; gpc++) {
    uint32_t in_gpc = (uint32_t)__builtin_popcount(emu_board()->tpc_masks[gpc]);
    for (uint32_t tpc = 0; tpc < in_gpc; tpc++, tpcs++) {
      for (uint32_t sm = 0; sm < SMS_PER_TPC; sm++) {
        const struct nvgpu_gpu_vsms_mapping_entry entry = {
            .gpc_logical_index = (uint8_t)gpc,
            .gpc_virtual_index = (uint8_t)gpc,
            .tpc_local_logical_index = (uint8_t)tpc,
            .tpc_global_logical_index = (uint8_t)tpcs,
            .sm_local_id = (uint8_t)sm,
            .tpc_migratable_index = (uint8_t)tpc,
        };
        bytes += emu_l4t_vsm(&entry, entries + bytes);
      }
    }
  }
  return copy_to_buffer(a->vsms_map_buf_addr, entries, bytes);
}

static int gpc_map(uint32_t size, uint64_t user) {
  uint32_t map[EMU_GPCS];
  uint32_t bytes = emu_board()->gpcs * (uint32_t)sizeof(map[0]);
  for (uint32_t i = 0; i < EMU_GPCS; i++)
    map[i] = i;
  if (size != bytes)
    return -EINVAL;
  return emu_copy_to_user(user, map, bytes);
}

static int gpc_physical_map(struct emu_object *object, int fd, void *argument) {
  struct nvgpu_gpu_get_gpc_physical_map_args *a = argument;
  return gpc_map(a->map_buf_size, a->physical_gpc_buf_addr);
}

static int gpc_logical_map(struct emu_object *object, int fd, void *argument) {
  struct nvgpu_gpu_get_gpc_logical_map_args *a = argument;
  return gpc_map(a->map_buf_size, a->logical_gpc_buf_addr);
}

/* FLUSH_L2: there is no cache to flush (3.1). */
static int flush_l2(struct emu_object *object, int fd, void *argument) {
  const struct nvgpu_gpu_l2_fb_args *a = argument;
  if ((!a->l2_flush && !a->fb_flush) || (a->l2_invalidate && !a->l2_flush))
    return -EINVAL;
  return 0;
}

static int gpu_time(struct emu_object *object, int fd, void *argument) {
  ((struct nvgpu_gpu_get_gpu_time_args *)argument)->gpu_timestamp = emu_inject_time(emu_time_ns());
  return 0;
}

/* GET_CPU_TIME_CORRELATION_INFO (3.1). TSC is the system counter, which is CLOCK_MONOTONIC_RAW on
 * Linux; OSTIME is CLOCK_MONOTONIC. */
static int time_correlation(struct emu_object *object, int fd, void *argument) {
  struct nvgpu_gpu_get_cpu_time_correlation_info_args *a = argument;
  if (a->count > NVGPU_TIME_SAMPLES_MAX)
    return -EINVAL;
  if (a->source_id != NVGPU_TIME_SOURCE_TSC &&
      (a->source_id != NVGPU_TIME_SOURCE_OSTIME || !emu_release()->time_of_os))
    return -EINVAL;
  clockid_t clock = a->source_id == NVGPU_TIME_SOURCE_TSC ? CLOCK_MONOTONIC_RAW : CLOCK_MONOTONIC;
  for (uint32_t i = 0; i < a->count; i++) {
    struct timespec now;
    clock_gettime(clock, &now);
    a->samples[i].cpu_timestamp = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    a->samples[i].gpu_timestamp = emu_time_ns();
  }
  return 0;
}

/* GET_ENGINE_INFO: GR and then the copy engine, both on GR's runlist (3.1). */
static int engine_info(struct emu_object *object, int fd, void *argument) {
  struct nvgpu_gpu_get_engine_info_args *a = argument;
  const struct nvgpu_gpu_get_engine_info_item items[] = {
      {.engine_id = ENGINE_GR, .runlist_id = RUNLIST_GR},
      {.engine_id = ENGINE_GR_COPY, .runlist_id = RUNLIST_GR},
  };
  size_t count = a->engine_info_buf_size / sizeof(items[0]);
  size_t all = sizeof(items) / sizeof(items[0]);
  int result = copy_to_buffer(a->engine_info_buf_addr, items,
                              (count < all ? count : all) * sizeof(items[0]));
  a->engine_info_buf_size = sizeof(items);
  return result;
}

/* The requests of clocks know only whole MHz: nvgpu, common/clk_arb/clk_arb.c. */
static uint64_t whole_mhz(uint64_t hz) {
  enum { HZ_PER_MHZ = 1000000 };
  return hz / HZ_PER_MHZ * HZ_PER_MHZ;
}

/* CLK_GET_RANGE: the only domain is GPCCLK (3.1). */
static int clk_range(struct emu_object *object, int fd, void *argument) {
  enum { DOMAINS = 1 };
  struct nvgpu_gpu_clk_range_args *a = argument;
  struct nvgpu_gpu_clk_range range = {.clk_domain = NVGPU_CLK_DOMAIN_GPCCLK,
                                      .min_hz = whole_mhz(GPU_CLOCK_MIN_HZ),
                                      .max_hz = whole_mhz(emu_board()->gpu_max_hz)};
  if (a->flags == 0) {
    if (a->num_entries == 0) {
      a->num_entries = DOMAINS;
      return 0;
    }
    a->num_entries = DOMAINS;
    return emu_copy_to_user(a->clk_range_entries, &range, sizeof(range));
  }
  if (a->flags != NVGPU_CLK_RANGE_SPECIFIC_DOMAINS || a->num_entries > DOMAINS)
    return -EINVAL;
  for (unsigned i = 0; i < a->num_entries; i++) {
    uint64_t at = a->clk_range_entries + i * sizeof(range);
    struct nvgpu_gpu_clk_range asked;
    if (emu_copy_from_user(&asked, at, sizeof(asked)))
      return -EFAULT;
    if (asked.clk_domain != NVGPU_CLK_DOMAIN_GPCCLK)
      return -EINVAL;
    if (emu_copy_to_user(at, &range, sizeof(range)))
      return -EFAULT;
  }
  return 0;
}

/* 3.1, CLK_GET_INFO */
static int clk_info(struct emu_object *object, int fd, void *argument) {
  enum { DOMAINS = 1, CLOCK_TYPES = 3 };
  struct nvgpu_gpu_clk_get_info_args *a = argument;
  struct nvgpu_gpu_clk_info info = {.clk_domain = NVGPU_CLK_DOMAIN_GPCCLK,
                                    .freq_hz = whole_mhz(emu_board()->gpu_max_hz)};
  if (a->flags == 0) {
    if (a->num_entries == 0) {
      a->num_entries = DOMAINS;
      return 0;
    }
    if (a->clk_type < 1 || a->clk_type > CLOCK_TYPES)
      return -EINVAL;
    info.clk_type = a->clk_type;
    a->num_entries = DOMAINS;
    return emu_copy_to_user(a->clk_info_entries, &info, sizeof(info));
  }
  if (a->flags != NVGPU_CLK_RANGE_SPECIFIC_DOMAINS || a->num_entries > DOMAINS * CLOCK_TYPES)
    return -EINVAL;
  for (unsigned i = 0; i < a->num_entries; i++) {
    uint64_t at = a->clk_info_entries + i * sizeof(info);
    struct nvgpu_gpu_clk_info asked;
    if (emu_copy_from_user(&asked, at, sizeof(asked)))
      return -EFAULT;
    if (asked.clk_domain != NVGPU_CLK_DOMAIN_GPCCLK || asked.clk_type < 1 ||
        asked.clk_type > CLOCK_TYPES)
      return -EINVAL;
    asked.flags = 0;
    asked.freq_hz = info.freq_hz;
    if (emu_copy_to_user(at, &asked, sizeof(asked)))
      return -EFAULT;
  }
  return 0;
}

/* CLK_GET_VF_POINTS (3.1). */
static int clk_points(struct emu_object *object, int fd, void *argument) {
  struct nvgpu_gpu_clk_vf_points_args *a = argument;
  uint64_t points[CLOCK_POINTS_MAX];
  uint16_t count = 0;
  for (uint64_t hz = GPU_CLOCK_MIN_HZ; hz < emu_board()->gpu_max_hz; hz += GPU_CLOCK_STEP_HZ)
    points[count++] = whole_mhz(hz);
  points[count++] = whole_mhz(emu_board()->gpu_max_hz);
  if (a->flags || a->clk_domain != NVGPU_CLK_DOMAIN_GPCCLK)
    return -EINVAL;
  if (a->max_entries == 0) {
    a->max_entries = count;
    return 0;
  }
  if (a->max_entries < count)
    return -EINVAL;
  a->num_entries = count;
  return emu_copy_to_user(a->clk_vf_point_entries, points, count * sizeof(points[0]));
}

/* GET_EVENT_FD, the sensors and SET_THERM_ALERT_LIMIT are not supported on Orin (3.1). */
static int feature_off(struct emu_object *object, int fd, void *argument) {
  return -EINVAL;
}

static int memory_state(struct emu_object *object, int fd, void *argument) {
  const struct nvgpu_gpu_get_memory_state_args *a = argument;
  for (size_t i = 0; i < sizeof(a->reserved) / sizeof(a->reserved[0]); i++) {
    if (a->reserved[i])
      return -EINVAL;
  }
  return -ENOSYS;
}

/* 3.1, SET_DETERMINISTIC_OPTS */
static int deterministic_opts(struct emu_object *object, int fd, void *argument) {
  const uint32_t allow = 1, disallow = 2;
  struct nvgpu_gpu_set_deterministic_opts_args *a = argument;
  if (a->num_channels > EMU_CHANNELS)
    return -EINVAL;
  for (uint32_t i = 0; i < a->num_channels; i++) {
    int32_t channel_fd;
    if (emu_copy_from_user(&channel_fd, a->channels + i * sizeof(channel_fd), sizeof(channel_fd)))
      return -EFAULT;
    struct emu_channel *channel = emu_table_get_kind(channel_fd, EMU_CHANNEL);
    if (!channel || !channel->deterministic ||
        (a->flags & (allow | disallow)) == (allow | disallow))
      return -EINVAL;
    if (a->flags & (allow | disallow))
      channel->railgating_allowed = a->flags & allow;
    emu_engine_wake(); /* so that the engine switches the GPU off when it is due */
  }
  return 0;
}

/* REGISTER_BUFFER: makes the checks in the driver's order (3.1). */
static int register_buffer(struct emu_object *object, int fd, void *argument) {
  struct nvgpu_gpu_register_buffer_args *a = argument;
  if (a->metadata_size > NVGPU_METADATA_BYTES_MAX)
    return -EINVAL; /* check 1 */
  if (a->comptags_alloc_control > NVGPU_COMPTAGS_REQUIRED)
    return -EINVAL; /* check 2 */
  struct emu_dmabuf *dmabuf;
  int error = emu_dmabuf_from_fd(a->dmabuf_fd, &dmabuf);
  if (error)
    return error; /* check 3 */
  uint8_t metadata[NVGPU_METADATA_BYTES_MAX];
  if (dmabuf->registered && (!(a->flags & NVGPU_REGISTER_MODIFY) || !dmabuf->mutable_metadata))
    error = -EINVAL; /* check 4 */
  else if (emu_copy_from_user(metadata, a->metadata_addr, a->metadata_size))
    error = -EFAULT; /* check 5 */
  if (!error) {
    /* check 6 never fails, because there are compression tags for all memory */
    dmabuf->comptags = a->comptags_alloc_control != NVGPU_COMPTAGS_NONE;
    dmabuf->comptags_tried |= dmabuf->comptags;
    dmabuf->registered = true;
    dmabuf->mutable_metadata = a->flags & NVGPU_REGISTER_MUTABLE;
    dmabuf->metadata_size = a->metadata_size;
    memcpy(dmabuf->metadata, metadata, a->metadata_size);
    a->flags = dmabuf->comptags ? NVGPU_REGISTER_COMPTAGS_ALLOCATED : 0;
  }
  emu_object_put(&dmabuf->object);
  return error;
}

static int buffer_info(struct emu_object *object, int fd, void *argument) {
  struct nvgpu_gpu_get_buffer_info_args *a = argument;
  struct emu_dmabuf *dmabuf;
  int error = emu_dmabuf_from_fd(a->in.dmabuf_fd, &dmabuf);
  if (error)
    return error;
  uint32_t bytes =
      a->in.metadata_size < dmabuf->metadata_size ? a->in.metadata_size : dmabuf->metadata_size;
  error = emu_copy_to_user(a->in.metadata_addr, dmabuf->metadata, bytes);
  if (!error) {
    a->out.flags = (dmabuf->registered ? NVGPU_INFO_METADATA_REGISTERED : 0) |
                   (dmabuf->comptags ? NVGPU_INFO_COMPTAGS_ALLOCATED : 0) |
                   (dmabuf->mutable_metadata ? NVGPU_INFO_MUTABLE_METADATA : 0);
    a->out.metadata_size = dmabuf->metadata_size;
    a->out.reserved = 0;
    a->out.size = dmabuf->size;
  }
  emu_object_put(&dmabuf->object);
  return error;
}

static const struct emu_ioctl ioctls[] = {
    {NVGPU_GPU_IOCTL_ZCULL_GET_CTX_SIZE, zcull_size},
    {NVGPU_GPU_IOCTL_ZCULL_GET_INFO, emu_ctrl_graphics},
    {NVGPU_GPU_IOCTL_ZBC_SET_TABLE, emu_ctrl_graphics},
    {NVGPU_GPU_IOCTL_ZBC_QUERY_TABLE, emu_ctrl_graphics},
    {NVGPU_GPU_IOCTL_GET_CHARACTERISTICS, get_characteristics},
    {NVGPU_GPU_IOCTL_PREPARE_COMPRESSIBLE_READ, emu_ctrl_prepare_read},
    {NVGPU_GPU_IOCTL_MARK_COMPRESSIBLE_WRITE, emu_ctrl_mark_write},
    {NVGPU_GPU_IOCTL_ALLOC_AS, alloc_as},
    {NVGPU_GPU_IOCTL_OPEN_TSG, open_tsg},
    {NVGPU_GPU_IOCTL_GET_TPC_MASKS, tpc_masks},
    {NVGPU_GPU_IOCTL_OPEN_CHANNEL, open_channel},
    {NVGPU_GPU_IOCTL_FLUSH_L2, flush_l2},
    {NVGPU_GPU_IOCTL_SET_MMUDEBUG_MODE, emu_ctrl_mmu_debug},
    {NVGPU_GPU_IOCTL_SET_SM_DEBUG_MODE, emu_ctrl_sm_debug},
    {NVGPU_GPU_IOCTL_WAIT_FOR_PAUSE, emu_ctrl_pause},
    {NVGPU_GPU_IOCTL_GET_TPC_EXCEPTION_EN_STATUS, emu_ctrl_exception_status},
    {NVGPU_GPU_IOCTL_NUM_VSMS, num_vsms},
    {NVGPU_GPU_IOCTL_VSMS_MAPPING, vsms_mapping},
    {NVGPU_GPU_IOCTL_RESUME_FROM_PAUSE, emu_ctrl_pause},
    {NVGPU_GPU_IOCTL_TRIGGER_SUSPEND, emu_ctrl_pause},
    {NVGPU_GPU_IOCTL_CLEAR_SM_ERRORS, emu_ctrl_clear_errors},
    {NVGPU_GPU_IOCTL_GET_CPU_TIME_CORRELATION_INFO, time_correlation},
    {NVGPU_GPU_IOCTL_GET_GPU_TIME, gpu_time},
    {NVGPU_GPU_IOCTL_GET_ENGINE_INFO, engine_info},
    {NVGPU_GPU_IOCTL_ALLOC_VIDMEM, emu_ctrl_vidmem},
    {NVGPU_GPU_IOCTL_CLK_GET_RANGE, clk_range},
    {NVGPU_GPU_IOCTL_CLK_GET_VF_POINTS, clk_points},
    {NVGPU_GPU_IOCTL_CLK_GET_INFO, clk_info},
    {NVGPU_GPU_IOCTL_CLK_SET_INFO, emu_ctrl_set_clocks},
    {NVGPU_GPU_IOCTL_GET_EVENT_FD, feature_off},
    {NVGPU_GPU_IOCTL_GET_MEMORY_STATE, memory_state},
    {NVGPU_GPU_IOCTL_GET_VOLTAGE, feature_off},
    {NVGPU_GPU_IOCTL_GET_CURRENT, feature_off},
    {NVGPU_GPU_IOCTL_GET_POWER, feature_off},
    {NVGPU_GPU_IOCTL_GET_TEMPERATURE, feature_off},
    {NVGPU_GPU_IOCTL_GET_FBP_L2_MASKS, fbp_masks},
    {NVGPU_GPU_IOCTL_SET_THERM_ALERT_LIMIT, feature_off},
    {NVGPU_GPU_IOCTL_SET_DETERMINISTIC_OPTS, deterministic_opts},
    {NVGPU_GPU_IOCTL_REGISTER_BUFFER, register_buffer},
    {NVGPU_GPU_IOCTL_GET_BUFFER_INFO, buffer_info},
    {NVGPU_GPU_IOCTL_GET_GPC_LOCAL_TO_PHYSICAL_MAP, gpc_physical_map},
    {NVGPU_GPU_IOCTL_GET_GPC_LOCAL_TO_LOGICAL_MAP, gpc_logical_map},
};

const struct emu_node emu_node_ctrl = {
    .magic = 'G',
    .last_number = 44,
    .largest_argument = 264,
    .ioctls = ioctls,
    .ioctl_count = sizeof(ioctls) / sizeof(ioctls[0]),
};

static int ctrl_ioctl(struct emu_object *object, int fd, unsigned long request, void *argument) {
  return emu_dispatch(&emu_node_ctrl, object, fd, request, argument);
}

static void ctrl_destroy(struct emu_object *object) {
  emu_share_forget(NULL, ((struct emu_ctrl *)object)->instance);
  free(object);
}

int emu_ctrl_open(void) {
  static const struct emu_object_ops ops = {
      .kind = EMU_CTRL,
      .node = NVGPU_CTRL_NODE,
      .ioctl = ctrl_ioctl,
      .mmap = emu_usermode_mmap,
      .mapped = emu_usermode_mapped,
      .destroy = ctrl_destroy,
  };
  struct emu_ctrl *ctrl = emu_object_create(&ops, sizeof(*ctrl));
  if (!ctrl)
    return -ENOMEM;
  ctrl->instance = ++emu_ctrls.opened;
  if (!emu_power.ready)
    emu_power_use();
  emu_power.ready = true;
  int fd = emu_usermode_open(&ctrl->object);
  emu_object_put(&ctrl->object);
  return fd;
}
