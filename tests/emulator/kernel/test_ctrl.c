/* The control node's rare requests, clocks, shared TSGs, and the requests of TSGs and channels that
 * test_ioctl.c does not cover. docs/hardware/kernel-interface.md 2.1, 3.1, 3.3, 3.4. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>

#include <cmocka.h>

#include "base/clock.h"
#include "tests/emulator/client.h"

static struct fixture *f;

static int setup(void **state) {
  int result = fixture_setup(state);
  f = *state;
  return result;
}

static void graphics_requests_are_refused_or_ignored(void **state) {
  EXPECT(-ENODEV, f->c.ctrl, NVGPU_GPU_IOCTL_ZCULL_GET_INFO,
         (struct nvgpu_gpu_zcull_get_info_args){0});
  EXPECT(-ENODEV, f->c.ctrl, NVGPU_GPU_IOCTL_ZBC_SET_TABLE,
         (struct nvgpu_gpu_zbc_set_table_args){0});
  EXPECT(-ENODEV, f->c.ctrl, NVGPU_GPU_IOCTL_ZBC_QUERY_TABLE,
         (struct nvgpu_gpu_zbc_query_table_args){0});
  struct nvgpu_gpu_prepare_compressible_read_args read = {.handle = 999};
  EXPECT(-EINVAL, f->c.ctrl, NVGPU_GPU_IOCTL_PREPARE_COMPRESSIBLE_READ, read);
  read = (struct nvgpu_gpu_prepare_compressible_read_args){
      .handle = (uint32_t)f->data.fd, .valid_compbits = 3, .submit_flags = 1 << 1 | 1 << 3};
  EXPECT(0, f->c.ctrl, NVGPU_GPU_IOCTL_PREPARE_COMPRESSIBLE_READ, read);
  assert_int_equal(read.valid_compbits, 0);
  assert_int_equal(read.fence.fd, -1);
  struct nvgpu_gpu_mark_compressible_write_args write = {.handle = (uint32_t)f->ch.fd};
  EXPECT(-EINVAL, f->c.ctrl, NVGPU_GPU_IOCTL_MARK_COMPRESSIBLE_WRITE, write);
  write.handle = (uint32_t)f->data.fd;
  EXPECT(0, f->c.ctrl, NVGPU_GPU_IOCTL_MARK_COMPRESSIBLE_WRITE, write);
  EXPECT(0, f->ch.fd, NVGPU_IOCTL_CHANNEL_ZCULL_BIND, (struct nvgpu_zcull_bind_args){0});
}

static void debugger_requests_check_arguments(void **state) {
  EXPECT(0, f->c.ctrl, NVGPU_GPU_IOCTL_SET_MMUDEBUG_MODE,
         (struct nvgpu_gpu_mmu_debug_mode_args){.state = 1});
  struct nvgpu_gpu_sm_debug_mode_args mode = {.channel_fd = f->c.tsg, .sms = 1};
  EXPECT(-EINVAL, f->c.ctrl, NVGPU_GPU_IOCTL_SET_SM_DEBUG_MODE, mode);
  mode.channel_fd = f->ch.fd;
  EXPECT(0, f->c.ctrl, NVGPU_GPU_IOCTL_SET_SM_DEBUG_MODE, mode);
  EXPECT(-ENOSYS, f->c.ctrl, NVGPU_GPU_IOCTL_WAIT_FOR_PAUSE, (struct nvgpu_gpu_wait_pause_args){0});
  const struct {
    uint32_t request;
    int result;
  } rows[] = {{NVGPU_GPU_IOCTL_RESUME_FROM_PAUSE, -ENOSYS},
              {NVGPU_GPU_IOCTL_TRIGGER_SUSPEND, -ENOSYS},
              {NVGPU_GPU_IOCTL_CLEAR_SM_ERRORS, 0}};
  for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
    assert_int_equal(OS->ioctl(f->c.ctrl, rows[i].request, NULL), rows[i].result);
  struct nvgpu_gpu_tpc_exception_en_status_args status = {0};
  EXPECT(0, f->c.ctrl, NVGPU_GPU_IOCTL_GET_TPC_EXCEPTION_EN_STATUS, status);
  assert_int_equal(status.tpc_exception_en_sm_mask, 0xffff);
}

/* 2.1, nr 27 */
static void video_memory_is_never_available(void **state) {
  static const struct {
    uint64_t size;
    uint32_t flags, alignment;
    int result;
  } rows[] = {
      {4096, 1 << 1, 0, -EINVAL}, {4096, 1 << 4, 0, -EINVAL}, {0, 0, 0, -EINVAL},
      {4097, 0, 0, -EINVAL},      {4096, 0, 3000, -EINVAL},   {4096, 0, 8192, -EINVAL},
      {4096, 0, 4096, -ENOMEM},   {12288, 1, 16384, -ENOMEM},
  };
  for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
    struct nvgpu_gpu_alloc_vidmem_args args = {
        .in = {.size = rows[i].size, .flags = rows[i].flags, .alignment = rows[i].alignment}};
    EXPECT(rows[i].result, f->c.ctrl, NVGPU_GPU_IOCTL_ALLOC_VIDMEM, args);
  }
}

/* 3.1, CLK_* */
static void clock_requests_check_arguments(void **state) {
  struct nvgpu_gpu_clk_info info[2] = {{.clk_domain = 1, .clk_type = 1, .freq_hz = 612000000},
                                       {.clk_domain = 1}};
  struct nvgpu_gpu_clk_set_info_args set = {.flags = 1, .num_entries = 1};
  EXPECT(-EINVAL, f->c.ctrl, NVGPU_GPU_IOCTL_CLK_SET_INFO, set);
  set.flags = 0;
  EXPECT(-EFAULT, f->c.ctrl, NVGPU_GPU_IOCTL_CLK_SET_INFO, set);
  set.clk_info_entries = (uintptr_t)info;
  set.num_entries = 0;
  EXPECT(-EINVAL, f->c.ctrl, NVGPU_GPU_IOCTL_CLK_SET_INFO, set);
  set.num_entries = 2;
  EXPECT(-EINVAL, f->c.ctrl, NVGPU_GPU_IOCTL_CLK_SET_INFO, set);
  set.num_entries = 1;
  EXPECT(0, f->c.ctrl, NVGPU_GPU_IOCTL_CLK_SET_INFO, set);
  struct pollfd p = {.fd = set.completion_fd, .events = POLLIN};
  assert_int_equal(OS->poll(&p, 1, 0), 1);
  assert_int_equal(OS->poll(&p, 1, 0), 0); /* once */
  assert_int_equal(OS->close(set.completion_fd), 0);
  info[0].clk_domain = 7;
  EXPECT(-EINVAL, f->c.ctrl, NVGPU_GPU_IOCTL_CLK_SET_INFO, set);
  struct nvgpu_gpu_clk_get_info_args get = {
      .flags = 1, .num_entries = 1, .clk_info_entries = (uintptr_t)info};
  EXPECT(-EINVAL, f->c.ctrl, NVGPU_GPU_IOCTL_CLK_GET_INFO, get); /* the domain */
  info[0].clk_domain = 1;
  info[0].clk_type = 4;
  EXPECT(-EINVAL, f->c.ctrl, NVGPU_GPU_IOCTL_CLK_GET_INFO, get);
  info[0].clk_type = 2;
  EXPECT(0, f->c.ctrl, NVGPU_GPU_IOCTL_CLK_GET_INFO, get);
  assert_int_equal(info[0].freq_hz, 1300000000);
  get.num_entries = 4;
  EXPECT(-EINVAL, f->c.ctrl, NVGPU_GPU_IOCTL_CLK_GET_INFO, get);
  struct nvgpu_gpu_clk_vf_points_args points = {.clk_domain = 0};
  EXPECT(-EINVAL, f->c.ctrl, NVGPU_GPU_IOCTL_CLK_GET_VF_POINTS, points);
  points = (struct nvgpu_gpu_clk_vf_points_args){.clk_domain = 1, .max_entries = 1};
  EXPECT(-EINVAL, f->c.ctrl, NVGPU_GPU_IOCTL_CLK_GET_VF_POINTS, points);
}

/* Section 3.1: requests that take a pointer and a size. */
static void requests_fill_the_callers_buffers(void **state) {
  struct nvgpu_gpu_get_engine_info_item items[3] = {[2] = {.engine_id = 99}};
  struct nvgpu_gpu_get_engine_info_args engines = {.engine_info_buf_size = 16,
                                                   .engine_info_buf_addr = (uintptr_t)items};
  EXPECT(0, f->c.ctrl, NVGPU_GPU_IOCTL_GET_ENGINE_INFO, engines);
  assert_int_equal(engines.engine_info_buf_size, 32);
  assert_int_equal(items[1].engine_id, 0);
  engines.engine_info_buf_size = sizeof(items);
  EXPECT(0, f->c.ctrl, NVGPU_GPU_IOCTL_GET_ENGINE_INFO, engines);
  assert_int_equal(items[1].engine_id, 1);
  assert_int_equal(items[2].engine_id, 99);
  engines.engine_info_buf_addr = 8;
  EXPECT(32, f->c.ctrl, NVGPU_GPU_IOCTL_GET_ENGINE_INFO, engines); /* 1.4, last paragraph */
  uint32_t masks[2] = {0};
  struct nvgpu_gpu_get_fbp_l2_masks_args l2 = {.mask_buf_size = 8,
                                               .mask_buf_addr = (uintptr_t)masks};
  EXPECT(0, f->c.ctrl, NVGPU_GPU_IOCTL_GET_FBP_L2_MASKS, l2);
  assert_int_equal(masks[1], 0xf);
  struct nvgpu_gpu_get_gpc_physical_map_args physical = {.map_buf_size = 4,
                                                         .physical_gpc_buf_addr = (uintptr_t)masks};
  EXPECT(-EINVAL, f->c.ctrl, NVGPU_GPU_IOCTL_GET_GPC_LOCAL_TO_PHYSICAL_MAP, physical);
  physical.map_buf_size = 8;
  EXPECT(0, f->c.ctrl, NVGPU_GPU_IOCTL_GET_GPC_LOCAL_TO_PHYSICAL_MAP, physical);
  assert_int_equal(masks[1], 1);
  struct nvgpu_gpu_get_gpc_logical_map_args logical = {.map_buf_size = 8};
  EXPECT(-EFAULT, f->c.ctrl, NVGPU_GPU_IOCTL_GET_GPC_LOCAL_TO_LOGICAL_MAP, logical);
  logical.logical_gpc_buf_addr = (uintptr_t)masks;
  EXPECT(0, f->c.ctrl, NVGPU_GPU_IOCTL_GET_GPC_LOCAL_TO_LOGICAL_MAP, logical);
  struct nvgpu_gpu_get_gpu_time_args time = {0}, later = {0};
  EXPECT(0, f->c.ctrl, NVGPU_GPU_IOCTL_GET_GPU_TIME, time);
  EXPECT(0, f->c.ctrl, NVGPU_GPU_IOCTL_GET_GPU_TIME, later);
  assert_true(later.gpu_timestamp >= time.gpu_timestamp);
}

/* Section 3.1: features that Orin does not have. */
static void features_without_hardware_are_refused(void **state) {
  EXPECT(-EINVAL, f->c.ctrl, NVGPU_GPU_IOCTL_GET_VOLTAGE, (struct nvgpu_gpu_get_voltage_args){0});
  EXPECT(-EINVAL, f->c.ctrl, NVGPU_GPU_IOCTL_GET_CURRENT, (struct nvgpu_gpu_get_current_args){0});
  EXPECT(-EINVAL, f->c.ctrl, NVGPU_GPU_IOCTL_GET_POWER, (struct nvgpu_gpu_get_power_args){0});
  EXPECT(-EINVAL, f->c.ctrl, NVGPU_GPU_IOCTL_GET_TEMPERATURE,
         (struct nvgpu_gpu_get_temperature_args){0});
  EXPECT(-EINVAL, f->c.ctrl, NVGPU_GPU_IOCTL_SET_THERM_ALERT_LIMIT,
         (struct nvgpu_gpu_set_therm_alert_limit_args){0});
  EXPECT(-EINVAL, f->c.ctrl, NVGPU_GPU_IOCTL_GET_MEMORY_STATE,
         (struct nvgpu_gpu_get_memory_state_args){.reserved = {0, 0, 0, 1}});
}

/* 3.1, SET_DETERMINISTIC_OPTS */
static void deterministic_opts_check_channels(void **state) {
  struct nvgpu_gpu_open_channel_args open = {.in.runlist_id = NVGPU_RUNLIST_GR};
  EXPECT(0, f->c.ctrl, NVGPU_GPU_IOCTL_OPEN_CHANNEL, open);
  int32_t channels[] = {f->ch.fd, open.out.channel_fd, f->c.as};
  const struct {
    struct nvgpu_gpu_set_deterministic_opts_args args;
    int result;
  } rows[] = {
      {{.num_channels = 513, .channels = (uintptr_t)channels}, -EINVAL},
      {{.num_channels = 1, .channels = 8}, -EFAULT},
      {{.num_channels = 1, .flags = 3, .channels = (uintptr_t)channels}, -EINVAL},
      {{.num_channels = 1, .flags = 1, .channels = (uintptr_t)channels}, 0},
      {{.num_channels = 2, .flags = 2, .channels = (uintptr_t)channels}, -EINVAL},
      {{.num_channels = 1, .flags = 2, .channels = (uintptr_t)&channels[2]}, -EINVAL},
  };
  for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
    struct nvgpu_gpu_set_deterministic_opts_args args = rows[i].args;
    EXPECT(rows[i].result, f->c.ctrl, NVGPU_GPU_IOCTL_SET_DETERMINISTIC_OPTS, args);
  }
  assert_int_equal(OS->close(open.out.channel_fd), 0);
}

static uint64_t instance_of(int ctrl) {
  struct nvgpu_gpu_characteristics ch;
  struct nvgpu_gpu_get_characteristics args = {.gpu_characteristics_buf_size = sizeof(ch),
                                               .gpu_characteristics_buf_addr = (uintptr_t)&ch};
  EXPECT(0, ctrl, NVGPU_GPU_IOCTL_GET_CHARACTERISTICS, args);
  return ch.device_instance_id;
}

/* Section 3.1, OPEN_TSG; 3.3, GET_SHARE_TOKEN and REVOKE_SHARE_TOKEN. */
static void tsg_share_tokens_open_the_tsg(void **state) {
  int other = OS->open("/dev/nvgpu/igpu0/ctrl", O_RDWR);
  uint64_t mine = instance_of(f->c.ctrl), theirs = instance_of(other);
  assert_true(mine != theirs && mine && theirs);
  const struct {
    uint64_t source, target;
    int result;
  } rows[] = {{0, theirs, -EINVAL},        {mine, 0, -EINVAL}, {theirs, mine, -EINVAL},
              {mine, UINT64_MAX, -EINVAL}, {mine, theirs, 0},  {mine, mine, 0}};
  struct nvgpu_tsg_get_share_token_args get;
  for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
    get = (struct nvgpu_tsg_get_share_token_args){rows[i].source, rows[i].target, 0};
    EXPECT(rows[i].result, f->c.tsg, NVGPU_TSG_IOCTL_GET_SHARE_TOKEN, get);
  }
  assert_int_equal(get.share_token, 2);
  struct nvgpu_gpu_open_tsg_args open = {.flags = 1, .source_device_instance_id = mine};
  EXPECT(-EINVAL, other, NVGPU_GPU_IOCTL_OPEN_TSG, open);
  open.share_token = 2; /* for another target */
  EXPECT(-EINVAL, other, NVGPU_GPU_IOCTL_OPEN_TSG, open);
  open.share_token = 1;
  EXPECT(0, other, NVGPU_GPU_IOCTL_OPEN_TSG, open);
  int shared = (int)open.tsg_fd;
  EXPECT(-EINVAL, other, NVGPU_GPU_IOCTL_OPEN_TSG, open); /* used up */
  /* Both fds are of one TSG: each sees the settings made through the other, and each can share it
   * again. */
  EXPECT(0, shared, NVGPU_IOCTL_TSG_SET_TIMESLICE, (struct nvgpu_timeslice_args){5000});
  struct nvgpu_timeslice_args slice = {0};
  EXPECT(0, f->c.tsg, NVGPU_IOCTL_TSG_GET_TIMESLICE, slice);
  assert_int_equal(slice.timeslice_us, 5000);
  get = (struct nvgpu_tsg_get_share_token_args){theirs, mine, 0};
  EXPECT(0, shared, NVGPU_TSG_IOCTL_GET_SHARE_TOKEN, get);
  struct nvgpu_tsg_revoke_share_token_args revoke = {theirs, mine, 0};
  EXPECT(-EINVAL, f->c.tsg, NVGPU_TSG_IOCTL_REVOKE_SHARE_TOKEN, revoke);
  revoke.share_token = get.share_token;
  EXPECT(0, f->c.tsg, NVGPU_TSG_IOCTL_REVOKE_SHARE_TOKEN, revoke);
  EXPECT(-EINVAL, f->c.tsg, NVGPU_TSG_IOCTL_REVOKE_SHARE_TOKEN, revoke);
  /* There are at most 63 tokens, because the driver counts from 1; closing a control node frees its
   * tokens. */
  get = (struct nvgpu_tsg_get_share_token_args){theirs, mine, 0};
  for (int i = 0; i < 62; i++)
    EXPECT(0, shared, NVGPU_TSG_IOCTL_GET_SHARE_TOKEN, get);
  EXPECT(-ENOSPC, shared, NVGPU_TSG_IOCTL_GET_SHARE_TOKEN, get);
  assert_int_equal(OS->close(other), 0);
  get = (struct nvgpu_tsg_get_share_token_args){mine, mine, 0};
  EXPECT(0, f->c.tsg, NVGPU_TSG_IOCTL_GET_SHARE_TOKEN, get);
  assert_int_equal(OS->close(shared), 0);
  EXPECT(0, f->c.tsg, NVGPU_IOCTL_TSG_GET_TIMESLICE, slice);
}

static void tsg_and_channel_settings_are_checked(void **state) {
  struct nvgpu_tsg_bind_scheduling_domain_args domain = {.reserved = {0, 1}};
  EXPECT(-EINVAL, f->c.tsg, NVGPU_TSG_IOCTL_BIND_SCHEDULING_DOMAIN, domain);
  domain = (struct nvgpu_tsg_bind_scheduling_domain_args){.domain_fd = f->c.as};
  EXPECT(-ENOENT, f->c.tsg, NVGPU_TSG_IOCTL_BIND_SCHEDULING_DOMAIN, domain);
  struct nvgpu_tsg_l2_max_ways_evict_last_args ways = {.max_ways = 16};
  EXPECT(0, f->c.tsg, NVGPU_TSG_IOCTL_SET_L2_MAX_WAYS_EVICT_LAST, ways);
  ways.max_ways = 0;
  EXPECT(0, f->c.tsg, NVGPU_TSG_IOCTL_GET_L2_MAX_WAYS_EVICT_LAST, ways);
  assert_int_equal(ways.max_ways, 16);
  struct nvgpu_tsg_set_l2_sector_promotion_args promotion = {.promotion_flag = 3};
  EXPECT(-EINVAL, f->c.tsg, NVGPU_TSG_IOCTL_SET_L2_SECTOR_PROMOTION, promotion);
  promotion.promotion_flag = 4;
  EXPECT(0, f->c.tsg, NVGPU_TSG_IOCTL_SET_L2_SECTOR_PROMOTION, promotion);
  assert_int_equal(OS->ioctl(f->c.tsg, NVGPU_IOCTL_TSG_PREEMPT, NULL), 0);
  assert_int_equal(OS->ioctl(f->ch.fd, NVGPU_IOCTL_CHANNEL_PREEMPT, NULL), 0);
  EXPECT(0, f->ch.fd, NVGPU_IOCTL_CHANNEL_SET_NVMAP_FD, (struct nvgpu_set_nvmap_fd_args){999});
  EXPECT(0, f->ch.fd, NVGPU_IOCTL_CHANNEL_SET_TIMEOUT, (struct nvgpu_set_timeout_args){7});
  EXPECT(0, f->ch.fd, NVGPU_IOCTL_CHANNEL_SET_TIMEOUT_EX, (struct nvgpu_set_timeout_ex_args){7});
  EXPECT(-EINVAL, f->ch.fd, NVGPU_IOCTL_CHANNEL_SET_BOOSTED_CTX,
         (struct nvgpu_boosted_ctx_args){1});
  EXPECT(-EPERM, f->ch.fd, NVGPU_IOCTL_CHANNEL_RESCHEDULE_RUNLIST,
         (struct nvgpu_reschedule_runlist_args){0});
  EXPECT(-ENOTTY, f->ch.fd, NVGPU_IOCTL_CHANNEL_SET_RUNLIST_INTERLEAVE,
         (struct nvgpu_runlist_interleave_args){0});
  struct nvgpu_channel_open_args open = {.in.runlist_id = 0};
  EXPECT(0, f->ch.fd, NVGPU_IOCTL_CHANNEL_OPEN, open);
  assert_int_equal(OS->ioctl(open.out.channel_fd, NVGPU_IOCTL_CHANNEL_PREEMPT, NULL), -EINVAL);
  EXPECT(-EINVAL, open.out.channel_fd, NVGPU_IOCTL_CHANNEL_ZCULL_BIND,
         (struct nvgpu_zcull_bind_args){0});
  /* The old bind request binds to VEID 0, which is created if necessary; an address space must be
   * bound first. */
  int32_t bound = open.out.channel_fd;
  EXPECT(-EINVAL, f->c.tsg, NVGPU_TSG_IOCTL_BIND_CHANNEL, bound);
  EXPECT(0, f->c.as, NVGPU_AS_IOCTL_BIND_CHANNEL,
         (struct nvgpu_as_bind_channel_args){.channel_fd = (uint32_t)bound});
  EXPECT(0, f->c.tsg, NVGPU_TSG_IOCTL_BIND_CHANNEL, bound);
  EXPECT(-EINVAL, f->c.tsg, NVGPU_TSG_IOCTL_BIND_CHANNEL, bound);
  EXPECT(-EINVAL, f->c.tsg, NVGPU_TSG_IOCTL_DELETE_SUBCONTEXT,
         (struct nvgpu_tsg_delete_subcontext_args){.veid = 0});
  EXPECT(0, f->c.tsg, NVGPU_TSG_IOCTL_UNBIND_CHANNEL, bound);
  EXPECT(0, f->c.tsg, NVGPU_TSG_IOCTL_DELETE_SUBCONTEXT,
         (struct nvgpu_tsg_delete_subcontext_args){.veid = 0});
  EXPECT(-EINVAL, f->c.tsg, NVGPU_TSG_IOCTL_UNBIND_CHANNEL, f->c.as);
  assert_int_equal(OS->close(open.out.channel_fd), 0);
  /* After DISABLE and PREEMPT, work waits for ENABLE. A channel's PREEMPT also enables the
   * channel. */
  const struct {
    int fd;
    uint32_t disable, enable;
  } rows[] = {
      {f->c.tsg, NVGPU_IOCTL_TSG_DISABLE, NVGPU_IOCTL_TSG_ENABLE},
      {f->ch.fd, NVGPU_IOCTL_CHANNEL_DISABLE, NVGPU_IOCTL_CHANNEL_ENABLE},
      {f->ch.fd, NVGPU_IOCTL_CHANNEL_DISABLE, NVGPU_IOCTL_CHANNEL_PREEMPT},
  };
  for (uint32_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
    assert_int_equal(OS->ioctl(rows[i].fd, rows[i].disable, NULL), 0);
    assert_int_equal(OS->ioctl(f->c.tsg, NVGPU_IOCTL_TSG_PREEMPT, NULL), 0);
    push_semaphore(&f->ch, f->data.va, i + 1, RELEASE_64_WFI);
    submit(&f->c, &f->ch);
    struct pollfd none = {.fd = -1};
    assert_int_equal(OS->poll(&none, 1, 20), 0);
    assert_int_equal(*(uint32_t *)f->data.cpu, i);
    assert_int_equal(OS->ioctl(rows[i].fd, rows[i].enable, NULL), 0);
    assert_true(wait_word(f->data.cpu, i + 1));
  }
}

/* Opens a channel in the TSG's subcontext and returns the result of BIND_CHANNEL_EX. */
static int bind_another(uint32_t veid, int *fd) {
  struct nvgpu_channel_open_args open = {.in.runlist_id = 0};
  EXPECT(0, f->ch.fd, NVGPU_IOCTL_CHANNEL_OPEN, open);
  *fd = open.out.channel_fd;
  EXPECT(0, f->c.as, NVGPU_AS_IOCTL_BIND_CHANNEL,
         (struct nvgpu_as_bind_channel_args){.channel_fd = (uint32_t)*fd});
  struct nvgpu_tsg_bind_channel_ex_args bind = {.channel_fd = *fd, .subcontext_id = veid};
  return OS->ioctl(f->c.tsg, NVGPU_TSG_IOCTL_BIND_CHANNEL_EX, &bind);
}

/* A subcontext ends when its last channel is closed, but not when that channel is unbound: "force"
 * in nvgpu's common/fifo/tsg_subctx.c, nvgpu_tsg_subctx_unbind_channel. */
static void subcontext_ends_when_last_channel_is_closed(void **state) {
  int first, second;
  struct nvgpu_tsg_create_subcontext_args sub = {.type = NVGPU_SUBCONTEXT_ASYNC, .as_fd = f->c.as};
  EXPECT(0, f->c.tsg, NVGPU_TSG_IOCTL_CREATE_SUBCONTEXT, sub);
  const uint32_t veid = sub.veid;
  assert_int_equal(bind_another(veid, &first), 0);
  assert_int_equal(bind_another(veid, &second), 0);
  assert_int_equal(OS->close(first), 0);
  EXPECT(0, f->c.tsg, NVGPU_TSG_IOCTL_UNBIND_CHANNEL, second);
  assert_int_equal(OS->close(second), 0);
  assert_int_equal(bind_another(veid, &first), 0);
  assert_int_equal(OS->close(first), 0);
  assert_int_equal(bind_another(veid, &first), -EINVAL);
  EXPECT(0, f->c.tsg, NVGPU_TSG_IOCTL_CREATE_SUBCONTEXT, sub);
  assert_int_equal(sub.veid, veid);
  assert_int_equal(bind_another(veid, &second), 0);
  assert_int_equal(OS->close(first), 0);
  assert_int_equal(OS->close(second), 0);
}

/* A channel with unfinished work cannot be unbound from a TSG with several channels. If it is
 * closed and the work does not end soon, the other channels end too: nvgpu's common/fifo/tsg.c,
 * nvgpu_tsg_unbind_channel. */
static void unbind_with_unfinished_work_is_refused(void **state) {
  uint32_t *word = fixture_data(f, 0);
  const struct error_notifier *notifier = f->ch.notifier.cpu;
  struct nvgpu_wait_args wait = {
      .timeout = PATIENCE_MS,
      .type = 1,
      .condition.semaphore = {.dmabuf_fd = (uint32_t)f->data.fd, .offset = 16, .payload = 7}};
  for (int ends = 1; ends >= 0; ends--) {
    struct channel second;
    channel_open(&f->c, &second, 64, CLASS_COMPUTE);
    *word = 0;
    push_semaphore(&second, f->data.va, 1, 0);
    submit(&f->c, &second);
    EXPECT(-EAGAIN, f->c.tsg, NVGPU_TSG_IOCTL_UNBIND_CHANNEL, second.fd);
    *word = (uint32_t)ends;
    channel_close(&f->c, &second);
    if (ends) {
      push_semaphore(&f->ch, f->data.va + 16, 7, RELEASE_64_WFI);
      submit(&f->c, &f->ch);
    }
    EXPECT(ends ? 0 : -ETIMEDOUT, f->ch.fd, NVGPU_IOCTL_CHANNEL_WAIT, wait);
  }
  assert_int_equal(notifier->status, 0);
}

static volatile sig_atomic_t alarms;

static void count_alarm(int signal) {
  (void)signal;
  alarms++;
}

/* Returns the result of WAIT while signals arrive at a handler with these flags. */
static int wait_with_signals(struct nvgpu_wait_args wait, int flags) {
  const struct sigaction counting = {.sa_handler = count_alarm, .sa_flags = flags};
  const struct itimerval soon = {.it_interval = {.tv_usec = 2000}, .it_value = {.tv_usec = 2000}};
  const struct itimerval never = {0};
  struct sigaction before;
  alarms = 0;
  assert_int_equal(sigaction(SIGALRM, &counting, &before), 0);
  assert_int_equal(setitimer(ITIMER_REAL, &soon, NULL), 0);
  const int result = OS->ioctl(f->ch.fd, NVGPU_IOCTL_CHANNEL_WAIT, &wait);
  assert_int_equal(setitimer(ITIMER_REAL, &never, NULL), 0);
  assert_int_equal(sigaction(SIGALRM, &before, NULL), 0);
  assert_true(alarms > 0);
  return result;
}

/* include/nvgpu/linux/cond.h, NVGPU_COND_WAIT_INTERRUPTIBLE is ERESTARTSYS with and without a
 * timeout. os/linux/ioctl_channel.c, gk20a_channel_wait_semaphore returns that, and
 * gk20a_channel_wait makes it EINTR for a notifier. */
static void signal_interrupts_channel_wait(void **state) {
  enum { SHORT_MS = 200 };
  struct nvgpu_wait_args wait = {
      .type = 1, .condition.semaphore = {.dmabuf_fd = (uint32_t)f->data.fd, .payload = 9}};
  assert_int_equal(wait_with_signals(wait, 0), -EINTR);
  wait.timeout = PATIENCE_MS;
  assert_int_equal(wait_with_signals(wait, 0), -EINTR);
  wait.timeout = SHORT_MS;
  assert_int_equal(wait_with_signals(wait, SA_RESTART), -ETIMEDOUT);
  wait = (struct nvgpu_wait_args){
      .timeout = PATIENCE_MS,
      .condition.notifier = {.dmabuf_fd = (uint32_t)f->data.fd, .offset = 64}};
  ((struct error_notifier *)fixture_data(f, 64))->status = 1;
  const uint64_t start_ns = base_clock_ns();
  assert_int_equal(wait_with_signals(wait, SA_RESTART), -EINTR);
  assert_true(base_clock_ns() - start_ns < PATIENCE_MS * UINT64_C(1000000));
}

/* The kernel does not map a read-only dma-buf for itself: nvmap, nvmap_dmabuf.c,
 * nvmap_dmabuf_vmap. */
static void driver_refuses_read_only_memory(void **state) {
  struct nvmap_duplicate_handle dup = {.handle = f->data.handle,
                                       .access_flags = NVMAP_FLAG_READ_ONLY};
  EXPECT(0, f->c.nvmap, NVMAP_IOC_DUP_HANDLE, dup);
  struct nvmap_create_handle get = {.handle = dup.dup_handle};
  EXPECT(0, f->c.nvmap, NVMAP_IOC_GET_FD, get);
  const uint32_t fd = (uint32_t)get.fd;
  *(uint32_t *)f->data.cpu = 9;
  EXPECT(-ENOMEM, f->ch.fd, NVGPU_IOCTL_CHANNEL_SET_ERROR_NOTIFIER,
         (struct nvgpu_set_error_notifier){.mem = fd, .size = 4096});
  assert_int_equal(*(uint32_t *)f->data.cpu, 9);
  struct nvgpu_wait_args wait = {.type = 1, .condition.semaphore = {.dmabuf_fd = fd, .payload = 9}};
  EXPECT(-EINVAL, f->ch.fd, NVGPU_IOCTL_CHANNEL_WAIT, wait);
  wait = (struct nvgpu_wait_args){.condition.notifier = {.dmabuf_fd = fd, .offset = 64}};
  EXPECT(-ENOMEM, f->ch.fd, NVGPU_IOCTL_CHANNEL_WAIT, wait);
  assert_int_equal(OS->close((int)fd), 0);
  assert_int_equal(OS->ioctl(f->c.nvmap, NVMAP_IOC_FREE, (void *)(uintptr_t)dup.dup_handle), 0);
}

/* 3.4, WAIT */
static void channel_wait_ends_with_semaphore_or_timeout(void **state) {
  struct nvgpu_wait_args wait = {.type = 2};
  EXPECT(-EINVAL, f->ch.fd, NVGPU_IOCTL_CHANNEL_WAIT, wait);
  wait = (struct nvgpu_wait_args){.type = 1, .condition.semaphore = {.dmabuf_fd = 999}};
  EXPECT(-EINVAL, f->ch.fd, NVGPU_IOCTL_CHANNEL_WAIT, wait);
  wait = (struct nvgpu_wait_args){
      .type = 1,
      .timeout = 5,
      .condition.semaphore = {.dmabuf_fd = (uint32_t)f->data.fd, .payload = 9}};
  EXPECT(-ETIMEDOUT, f->ch.fd, NVGPU_IOCTL_CHANNEL_WAIT, wait);
  push_semaphore(&f->ch, f->data.va, 9, RELEASE_64_WFI);
  submit(&f->c, &f->ch);
  wait.timeout = PATIENCE_MS;
  EXPECT(0, f->ch.fd, NVGPU_IOCTL_CHANNEL_WAIT, wait);
  wait.condition.semaphore.offset = 2;
  EXPECT(-EINVAL, f->ch.fd, NVGPU_IOCTL_CHANNEL_WAIT, wait);
  /* Waits until the notifier's status, which the client has set, is 0: gk20a_channel_wait. */
  struct error_notifier *n = fixture_data(f, 64);
  wait = (struct nvgpu_wait_args){
      .timeout = 5, .condition.notifier = {.dmabuf_fd = (uint32_t)f->data.fd, .offset = 64}};
  n->status = 1;
  EXPECT(-EINTR, f->ch.fd, NVGPU_IOCTL_CHANNEL_WAIT, wait); /* even after a timeout */
  n->status = 0;
  EXPECT(0, f->ch.fd, NVGPU_IOCTL_CHANNEL_WAIT, wait);
  assert_int_equal(n->code, 0xdeadbeef);
  wait.condition.notifier.offset = 4096 - 8;
  EXPECT(-EINVAL, f->ch.fd, NVGPU_IOCTL_CHANNEL_WAIT, wait);
  EXPECT(-EINVAL, f->ch.fd, NVGPU_IOCTL_CHANNEL_SET_ERROR_NOTIFIER,
         (struct nvgpu_set_error_notifier){.mem = 999});
  assert_int_equal(OS->ioctl(f->ch.fd, NVGPU_IOCTL_CHANNEL_FORCE_RESET, NULL), 0);
  EXPECT(-ETIMEDOUT, f->ch.fd, NVGPU_IOCTL_CHANNEL_WAIT, wait);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(graphics_requests_are_refused_or_ignored, setup,
                                      fixture_teardown),
      cmocka_unit_test_setup_teardown(debugger_requests_check_arguments, setup, fixture_teardown),
      cmocka_unit_test_setup_teardown(video_memory_is_never_available, setup, fixture_teardown),
      cmocka_unit_test_setup_teardown(clock_requests_check_arguments, setup, fixture_teardown),
      cmocka_unit_test_setup_teardown(requests_fill_the_callers_buffers, setup, fixture_teardown),
      cmocka_unit_test_setup_teardown(features_without_hardware_are_refused, setup,
                                      fixture_teardown),
      cmocka_unit_test_setup_teardown(deterministic_opts_check_channels, setup, fixture_teardown),
      cmocka_unit_test_setup_teardown(tsg_share_tokens_open_the_tsg, setup, fixture_teardown),
      cmocka_unit_test_setup_teardown(signal_interrupts_channel_wait, setup, fixture_teardown),
      cmocka_unit_test_setup_teardown(driver_refuses_read_only_memory, setup, fixture_teardown),
      cmocka_unit_test_setup_teardown(tsg_and_channel_settings_are_checked, setup,
                                      fixture_teardown),
      cmocka_unit_test_setup_teardown(subcontext_ends_when_last_channel_is_closed, setup,
                                      fixture_teardown),
      cmocka_unit_test_setup_teardown(unbind_with_unfinished_work_is_refused, setup,
                                      fixture_teardown),
      cmocka_unit_test_setup_teardown(channel_wait_ends_with_semaphore_or_timeout, setup,
                                      fixture_teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
