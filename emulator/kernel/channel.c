/* Channels: their ioctls and lifetime. Section numbers refer to docs/hardware/kernel-interface.md:
 * 2.4, 3.4. */
#include "emulator/kernel/channel.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "emulator/engine/channel_engine.h"
#include "emulator/engine/engine.h"
#include "emulator/engine/fault.h"
#include "emulator/engine/host.h"
#include "emulator/engine/mmu.h"
#include "emulator/engine/runlist.h"
#include "emulator/gpu.h"
#include "emulator/kernel/address_space.h"
#include "emulator/kernel/buddy.h"
#include "emulator/kernel/dispatch.h"
#include "emulator/kernel/dmabuf.h"
#include "emulator/kernel/power.h"
#include "emulator/kernel/submit.h"
#include "emulator/kernel/syncpoint.h"
#include "emulator/kernel/tsg.h"
#include "emulator/modes/adversary.h"
#include "emulator/objects.h"
#include "emulator/warn.h"
#include "gpu/hw/host.h"
#include "gpu/hw/memory.h"
#include "gpu/nvgpu/uapi.h"

struct emu_channels emu_channels;

enum {
  WATCHDOG_DEFAULT_MS = 5000, /* 3.1, OPEN_CHANNEL */
  KERNEL_ENTRIES_MIN = 4,     /* 3.4, SETUP_BIND check 1 */
};

static const struct emu_object_ops channel_ops;

/* OPEN_CHANNEL: makes the checks in the driver's order (3.1). */
int emu_channel_open(int32_t runlist) {
  const int32_t runlist_any = -1, runlist_gr = 0;
  if (runlist < runlist_any || runlist > runlist_gr)
    return -EINVAL; /* check 3 */
  if (!emu_channels.free_count)
    return -ENOMEM; /* check 5 */
  struct emu_channel *channel = emu_object_create(&channel_ops, sizeof(*channel));
  struct emu_channel_engine *engine = emu_channel_engine_create();
  if (!channel || !engine) {
    free(channel);
    emu_channel_engine_destroy(engine);
    return -ENOMEM;
  }
  channel->engine = engine;
  channel->watchdog = true;
  channel->watchdog_ms = WATCHDOG_DEFAULT_MS;
  channel->switch_limit_ms = EMU_SWITCH_LIMIT_MS;
  channel->syncpoint = EMU_NO_SYNCPOINT;
  engine->adversary.random = emu_adversary_stream(EMU_STREAM_CHANNEL, emu_channels.opened++);
  channel->id = emu_channels.free_ids[emu_channels.free_count - 1];
  int fd = emu_engine_start();
  if (fd == 0)
    fd = emu_table_open("nvhost-ga10b", &channel->object);
  if (fd < 0) {
    emu_channel_engine_destroy(engine);
    free(channel);
    return fd;
  }
  emu_channels.free_count--;
  emu_channels.by_id[channel->id] = channel;
  emu_object_put(&channel->object);
  return fd;
}

/* Closes a channel that has unfinished work. nvgpu tries for a while to remove it from its TSG and
 * then aborts the TSG (common/fifo/tsg.c, nvgpu_tsg_unbind_channel). The loop also counts the
 * channel's turns, so that the work has the same chance on a slow machine. */
static void settle_before_close(struct emu_channel *channel) {
  enum { TRIES = 11, PAUSE_US = 3000, TURNS = 8 };
  const uint32_t first = channel->engine->turns;
  emu_object_get(&channel->object);
  atomic_fetch_add(&emu_engine.settling, 1);
  for (int i = 0; emu_tsg_needs(channel) && (i < TRIES || channel->engine->turns - first < TURNS);
       i++) {
    pthread_mutex_unlock(&emu_gpu.lock);
    usleep(PAUSE_US);
    pthread_mutex_lock(&emu_gpu.lock);
  }
  atomic_fetch_sub(&emu_engine.settling, 1);
  /* A failed preemption aborts the TSG with all its channels. */
  if (channel->tsg && (emu_tsg_needs(channel) || (emu_tsg_preempt(channel->tsg) && channel->tsg))) {
    emu_tsg_abort(channel->tsg, 0);
    emu_tsg_unlink(channel, true);
  }
  emu_object_put(&channel->object);
}

static void warn_if_given_up(const struct emu_channel *channel) {
  /* A turn in progress counts, because the client may close the channel as soon as it sees the
   * result of its work. */
  const bool used = channel->engine->turns || emu_engine.servicing == channel;
  if (channel->preemption_refused && !used)
    emu_warn("a client closed an unused channel after SET_PREEMPTION_MODE had failed. The request "
             "may fail, because it has to preempt the whole TSG within 100 ms. The channel still "
             "works, in its previous mode",
             "nvgpu, common/gr/gr_setup.c, nvgpu_gr_setup_set_preemption_mode");
}

static void channel_close(struct emu_object *object, int fd) {
  struct emu_channel *channel = (struct emu_channel *)object;
  if (object->fds > 1)
    return;
  emu_power_use();
  warn_if_given_up(channel);
  settle_before_close(channel);
}

/* close of a channel's fd: the channel stops and leaves its TSG (3.4). That raises its syncpoint
 * unless settle_before_close has failed, and the end of a channel that was not aborted raises it
 * again: nvgpu, common/fifo/channel.c, channel_free_invoke_sync_destroy. */
static void channel_closed(struct emu_object *object) {
  struct emu_channel *channel = (struct emu_channel *)object;
  emu_object_get(&channel->object);
  const bool serviceable = atomic_load(&channel->serviceable);
  emu_channels.by_id[channel->id] = NULL;
  const bool bound = channel->tsg;
  emu_tsg_unlink(channel, true);
  if (bound)
    emu_channel_clean_up(channel);
  emu_channels.free_ids[emu_channels.free_count++] = (uint16_t)channel->id;
  if (channel->syncpoint >= 0) {
    if (serviceable)
      emu_syncpoint_raise(channel->syncpoint, EMU_SYNCPOINT_SAFE_STEP);
    emu_syncpoints.used[channel->syncpoint] = false;
    struct emu_mapping *m = emu_mmu_find_exact(channel->as, channel->syncpoint_va);
    if (m)
      emu_as_unmap(channel->as, m);
  }
  if (channel->submit)
    emu_submit_free(channel);
  if (channel->gpfifo_mapping)
    emu_as_unmap(channel->as, channel->gpfifo_mapping);
  channel->gpfifo_mapping = NULL;
  emu_power_use();
  emu_engine_wake(); /* so that the engine switches the GPU off when it is due */
  emu_object_put(&channel->object);
}

static void channel_destroy(struct emu_object *object) {
  struct emu_channel *channel = (struct emu_channel *)object;
  if (channel->gpfifo)
    emu_object_put(&channel->gpfifo->object);
  if (channel->userd)
    emu_object_put(&channel->userd->object);
  if (channel->notifier)
    emu_object_put(&channel->notifier->object);
  if (channel->as)
    emu_object_put(&channel->as->object);
  emu_channel_engine_destroy(channel->engine);
  free(channel);
}

/* Gets a reference to an fd's dma-buf, which must have memory (check 14 of SETUP_BIND, 3.4). */
static int get_usermode_buffer(int fd, struct emu_dmabuf **out) {
  int error = emu_dmabuf_from_fd(fd, out);
  if (error)
    return error;
  if ((*out)->allocated && !emu_dmabuf_host(*out))
    return 0;
  emu_object_put(&(*out)->object);
  *out = NULL;
  return -ENOMEM;
}

/* SETUP_BIND: checks 1 to 10 of 3.4. */
static int check_setup_bind(const struct emu_channel *channel,
                            const struct nvgpu_channel_setup_bind_args *a) {
  bool usermode = a->flags & NVGPU_SETUP_BIND_USERMODE_SUPPORT;
  bool deterministic = a->flags & NVGPU_SETUP_BIND_DETERMINISTIC;
  uint32_t entries = a->num_gpfifo_entries;
  if (entries < (usermode ? (uint32_t)GP_ENTRIES_MIN : (uint32_t)KERNEL_ENTRIES_MIN))
    return -EINVAL; /* check 1 */
  if (entries & (entries - 1))
    return -EINVAL; /* check 2 */
  if (entries > UINT32_MAX / GP_ENTRY_BYTES)
    return -EINVAL; /* check 3 */
  if (!channel->as)
    return -EINVAL; /* check 4 */
  if (!channel->tsg)
    return -EINVAL; /* check 5 */
  if (channel->usermode || channel->submit)
    return -EEXIST; /* checks 6 and 7 */
  if (deterministic && channel->watchdog)
    return -EINVAL; /* check 8 */
  if (usermode && !deterministic)
    return -EINVAL; /* check 9 */
  return 0;
}

static int setup_usermode(struct emu_channel *channel, struct nvgpu_channel_setup_bind_args *a) {
  int error;
  struct emu_dmabuf *gpfifo = NULL, *userd = NULL;
  struct emu_mapping *ring = NULL;
  if (a->gpfifo_dmabuf_fd == 0 || a->userd_dmabuf_fd == 0)
    return -EINVAL; /* check 12 */
  if (a->gpfifo_dmabuf_offset || a->userd_dmabuf_offset)
    return -EINVAL;                                          /* check 13 */
  error = get_usermode_buffer(a->gpfifo_dmabuf_fd, &gpfifo); /* check 14 */
  if (error)
    return error;
  uint64_t bytes = (uint64_t)a->num_gpfifo_entries * GP_ENTRY_BYTES;
  if (gpfifo->size < (bytes > GPFIFO_BYTES_MIN ? bytes : GPFIFO_BYTES_MIN)) {
    error = -EINVAL; /* check 15 */
    goto fail;
  }
  ring = emu_as_map_kernel(channel->as, gpfifo, 0, gpfifo->size, false, EMU_NO_SYNCPOINT);
  if (!ring) {
    error = -ENOMEM; /* check 16 */
    goto fail;
  }
  error = get_usermode_buffer(a->userd_dmabuf_fd, &userd); /* check 17 */
  if (error)
    goto fail;
  channel->gpfifo = gpfifo;
  channel->userd = userd;
  channel->gpfifo_mapping = ring;
  channel->entries = a->num_gpfifo_entries;
  channel->deterministic = true;
  channel->usermode = true;
  a->work_submit_token = channel->id;
  a->gpfifo_gpu_va = 0;
  a->userd_gpu_va = 0;
  a->usermode_mmio_gpu_va = 0;
  return 0;
fail:
  if (ring)
    emu_as_unmap(channel->as, ring);
  emu_object_put(&gpfifo->object);
  return error;
}

static int setup_ring(struct emu_channel *channel, struct nvgpu_channel_setup_bind_args *a) {
  int error = check_setup_bind(channel, a);
  if (error)
    return error;
  if (a->flags & NVGPU_SETUP_BIND_USERMODE_SUPPORT) {
    error = setup_usermode(channel, a);
  } else {
    error = emu_submit_setup(channel, a->num_gpfifo_entries, a->num_inflight_jobs);
    channel->deterministic = !error && (a->flags & NVGPU_SETUP_BIND_DETERMINISTIC);
    emu_host_bind(channel);
  }
  if (error)
    return error;
  /* Enables the channel, even if its TSG is disabled: nvgpu, hal/fifo/channel_ga10b_fusa.c,
   * ga10b_channel_bind. */
  channel->in_runlist = true;
  channel->disabled = false;
  emu_engine_wake();
  return 0;
}

static int setup_bind(struct emu_object *object, int fd, void *argument) {
  return setup_ring((struct emu_channel *)object, argument);
}

/* ALLOC_GPFIFO_EX, the predecessor of SETUP_BIND: the driver writes the ring. */
static int alloc_gpfifo(struct emu_object *object, int fd, void *argument) {
  const struct nvgpu_alloc_gpfifo_ex_args *a = argument;
  struct nvgpu_channel_setup_bind_args args = {
      .num_gpfifo_entries = a->num_entries,
      .num_inflight_jobs = a->num_inflight_jobs,
      .flags = a->flags & (NVGPU_SETUP_BIND_VPR | NVGPU_SETUP_BIND_DETERMINISTIC)};
  return setup_ring((struct emu_channel *)object, &args);
}

/* 3.4, WDT */
static int set_watchdog(struct emu_object *object, int fd, void *argument) {
  struct emu_channel *channel = (struct emu_channel *)object;
  const struct nvgpu_channel_wdt_args *a = argument;
  uint32_t mode = a->wdt_status & (NVGPU_WDT_DISABLE | NVGPU_WDT_ENABLE);
  if (mode != NVGPU_WDT_DISABLE && mode != NVGPU_WDT_ENABLE)
    return -EINVAL;
  if (channel->deterministic && mode != NVGPU_WDT_DISABLE)
    return -EINVAL;
  channel->watchdog = mode == NVGPU_WDT_ENABLE;
  if (a->wdt_status & NVGPU_WDT_SET_TIMEOUT) {
    channel->watchdog_ms = a->timeout_ms;
    channel->watchdog_set = true;
  }
  return 0;
}

enum class_kind { UNKNOWN_CLASS, GRAPHICS_CLASS, COMPUTE_CLASS, OTHER_CLASS };

/* ALLOC_OBJ_CTX: the classes that nvgpu accepts (3.4). */
static enum class_kind class_kind(uint32_t class) {
  static const struct {
    uint16_t class;
    enum class_kind kind;
  } known[] = {
      {0xc797, GRAPHICS_CLASS}, {0xc597, GRAPHICS_CLASS}, {0xc397, GRAPHICS_CLASS},
      {0xc097, GRAPHICS_CLASS}, {0xb197, GRAPHICS_CLASS}, {0x902d, OTHER_CLASS},
      {0xc7c0, COMPUTE_CLASS},  {0xc7b5, OTHER_CLASS},    {0xc76f, OTHER_CLASS},
      {0xc637, OTHER_CLASS},    {0xc46f, OTHER_CLASS},    {0xc5c0, COMPUTE_CLASS},
      {0xc5b5, OTHER_CLASS},    {0xc4b7, OTHER_CLASS},    {0xc3c0, COMPUTE_CLASS},
      {0xc3b5, OTHER_CLASS},    {0xc36f, OTHER_CLASS},    {0xc0b5, OTHER_CLASS},
      {0xc06f, OTHER_CLASS},    {0xc0c0, COMPUTE_CLASS},  {0xa0b5, OTHER_CLASS},
      {0xa140, OTHER_CLASS},    {0xb0b5, OTHER_CLASS},    {0xb06f, OTHER_CLASS},
      {0xb1c0, COMPUTE_CLASS},
  };
  for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
    if (known[i].class == class)
      return known[i].kind;
  }
  return UNKNOWN_CLASS;
}

/* Creates a TSG's context at its first ALLOC_OBJ_CTX. The context's header is in the driver's part
 * of the address space, but the hardware has only 40 bits for its address. With a higher address
 * the copy engines never become idle, and a board freezes (docs/hardware/kernel-interface.md trap
 * T1). */
static int make_context(struct emu_channel *channel) {
  struct emu_tsg *tsg = channel->tsg;
  const uint64_t header = emu_buddy_alloc(&channel->as->kernel, GPU_PAGE_BYTES);
  if (!header)
    return -ENOMEM;
  tsg->context_as = channel->as;
  tsg->context_va = header;
  emu_object_get(&channel->as->object);
  tsg->graphics_preemption = NVGPU_PREEMPT_GRAPHICS_WFI;
  tsg->compute_preemption = NVGPU_PREEMPT_COMPUTE_WFI;
  if (header + GPU_PAGE_BYTES <= GPU_VA_END)
    return 0;
  struct emu_fault fault;
  emu_fault_set(
      &fault, NOTIFIER_GR_EXCEPTION, header,
      "a board would freeze: the context at 0x%llx is beyond 40 bits, because the address "
      "space ends too high or the rings are too large",
      (unsigned long long)header);
  emu_fault_raise_locked(channel, &fault);
  return -EINVAL;
}

/* Disables the channel's TSG, preempts it, and enables it even if it was disabled before. Returns
 * -EINVAL if the channel has left the TSG while gpu.lock was released. */
static int preempt_tsg(struct emu_channel *channel) {
  struct emu_tsg *tsg = channel->tsg;
  emu_object_get(&channel->object);
  int error = emu_tsg_preempt(tsg);
  if (channel->tsg == tsg)
    emu_tsg_enable(tsg, true);
  else if (!error)
    error = -EINVAL;
  emu_object_put(&channel->object);
  return error;
}

static bool is_mode_allowed(uint32_t mode, uint32_t supported, uint32_t current) {
  return !mode || ((mode & supported) && mode >= current);
}

/* Changes the TSG's preemption modes; 0 leaves one as it is. A request for the current modes is not
 * checked further. nvgpu, common/gr/gr_setup.c, nvgpu_gr_setup_validate_preemption_mode,
 * common/gr/ctx.c, nvgpu_gr_ctx_check_valid_preemption_mode, and common/gr/obj_ctx.c,
 * nvgpu_gr_obj_ctx_set_compute_preemption_mode */
static int set_modes(const struct emu_channel *channel, uint32_t graphics, uint32_t compute) {
  const uint32_t graphics_modes = NVGPU_PREEMPT_GRAPHICS_WFI | NVGPU_PREEMPT_GRAPHICS_GFXP;
  const uint32_t compute_modes =
      NVGPU_PREEMPT_COMPUTE_WFI | NVGPU_PREEMPT_COMPUTE_CTA | NVGPU_PREEMPT_COMPUTE_CILP;
  struct emu_tsg *tsg = channel->tsg;
  if (graphics == tsg->graphics_preemption)
    graphics = 0;
  if (compute == tsg->compute_preemption)
    compute = 0;
  if (!graphics && !compute)
    return 0;
  if (!is_mode_allowed(graphics, graphics_modes, tsg->graphics_preemption) ||
      !is_mode_allowed(compute, compute_modes, tsg->compute_preemption))
    return -EINVAL;
  if (graphics == NVGPU_PREEMPT_GRAPHICS_GFXP && compute == NVGPU_PREEMPT_COMPUTE_CILP)
    return -EINVAL;
  if (class_kind(channel->object_class) == OTHER_CLASS || !tsg->context_as)
    return -EINVAL;
  if (graphics == NVGPU_PREEMPT_GRAPHICS_WFI || graphics == NVGPU_PREEMPT_GRAPHICS_GFXP)
    tsg->graphics_preemption = graphics;
  if (compute)
    tsg->compute_preemption = compute;
  return 0;
}

static int alloc_obj_ctx(struct emu_object *object, int fd, void *argument) {
  const uint32_t flag_gfxp = 1 << 1, flag_cilp = 1 << 2;
  struct emu_channel *channel = (struct emu_channel *)object;
  const struct nvgpu_alloc_obj_ctx_args *a = argument;
  const enum class_kind kind = class_kind(a->class_num);
  if (!channel->as || kind == UNKNOWN_CLASS)
    return -EINVAL;                     /* checks 1 and 2 */
  channel->object_class = a->class_num; /* even if a later step fails */
  if (!channel->tsg)
    return -EINVAL; /* check 3 */
  int error = preempt_tsg(channel);
  if (error)
    return error;
  if (kind == GRAPHICS_CLASS && channel->veid > 0)
    return -EINVAL; /* check 4 */
  const uint32_t graphics = a->flags & flag_gfxp ? NVGPU_PREEMPT_GRAPHICS_GFXP : 0;
  const uint32_t compute = a->flags & flag_cilp ? NVGPU_PREEMPT_COMPUTE_CILP : 0;
  error = channel->tsg->context_as ? 0 : make_context(channel);
  /* Other classes have no preemption modes, so the flags do not matter. */
  if (!error && kind != OTHER_CLASS)
    error = set_modes(channel, graphics, compute);
  if (error)
    return error;
  channel->has_object = true;
  return 0;
}

/* 3.4, SET_PREEMPTION_MODE */
static int set_preemption(struct emu_object *object, int fd, void *argument) {
  struct emu_channel *channel = (struct emu_channel *)object;
  const struct nvgpu_preemption_mode_args *a = argument;
  if (!channel->object_class || !channel->tsg)
    return -EINVAL;
  const int error = preempt_tsg(channel);
  return error ? error : set_modes(channel, a->graphics_preempt_mode, a->compute_preempt_mode);
}

/* Returns whether the driver can map the dma-buf to the kernel's memory, which a read-only dma-buf
 * refuses: nvmap, nvmap_dmabuf.c, nvmap_dmabuf_vmap. */
static bool can_kernel_map(struct emu_dmabuf *dmabuf, int fd) {
  return dmabuf->allocated && !emu_dmabuf_read_only(dmabuf, fd) && !emu_dmabuf_host(dmabuf);
}

/* 3.4, SET_ERROR_NOTIFIER */
static int set_notifier(struct emu_object *object, int fd, void *argument) {
  struct emu_channel *channel = (struct emu_channel *)object;
  const struct nvgpu_set_error_notifier *a = argument;
  if (!a->mem)
    return -EINVAL;
  if (channel->notifier)
    emu_object_put(&channel->notifier->object);
  channel->notifier = NULL;
  struct emu_dmabuf *dmabuf;
  if (emu_dmabuf_from_fd((int)a->mem, &dmabuf))
    return -EINVAL;
  int error = 0;
  uint64_t end = a->offset + sizeof(struct error_notifier);
  if (end < a->offset || end > dmabuf->size)
    error = -EINVAL;
  else if (!can_kernel_map(dmabuf, (int)a->mem))
    error = -ENOMEM;
  if (error) {
    emu_object_put(&dmabuf->object);
    return error;
  }
  memset(dmabuf->host + a->offset, 0, sizeof(struct error_notifier));
  channel->notifier = dmabuf;
  channel->notifier_offset = a->offset;
  return 0;
}

/* GET_USER_SYNCPOINT (3.4). The real driver crashes if the channel has no address space. */
static int user_syncpoint(struct emu_object *object, int fd, void *argument) {
  struct emu_channel *channel = (struct emu_channel *)object;
  struct nvgpu_get_user_syncpoint_args *a = argument;
  if (!channel->as)
    return -EINVAL;
  struct emu_dmabuf *memory = emu_syncpoint_memory();
  if (!memory)
    return -ENOMEM;
  if (channel->syncpoint < 0) {
    int id = emu_syncpoint_take();
    if (id < 0)
      return id;
    struct emu_mapping *m = emu_as_map_kernel(
        channel->as, memory, (uint64_t)id * EMU_SYNCPOINT_STRIDE, EMU_SYNCPOINT_STRIDE, true, id);
    if (!m) {
      emu_syncpoints.used[id] = false;
      return -ENOMEM;
    }
    channel->syncpoint = id;
    channel->syncpoint_va = m->gpu;
  }
  a->gpu_va = channel->syncpoint_va;
  a->syncpoint_id = (uint32_t)channel->syncpoint;
  a->syncpoint_max = emu_syncpoint_value(channel->syncpoint);
  return 0;
}

static int get_timedout(struct emu_object *object, int fd, void *argument) {
  ((struct nvgpu_get_param_args *)argument)->value =
      !atomic_load(&((struct emu_channel *)object)->serviceable);
  return 0;
}

/* SET_TIMEOUT sets the context-switch timeout. SET_TIMEOUT_EX also has a flag for the kernel
 * log. */
static int set_timeout(struct emu_object *object, int fd, void *argument) {
  ((struct emu_channel *)object)->switch_limit_ms =
      ((const struct nvgpu_set_timeout_args *)argument)->timeout;
  return 0;
}

/* The argument of SET_NVMAP_FD is ignored. */
static int ignore_nvmap_fd(struct emu_object *object, int fd, void *argument) {
  return 0;
}

/* A disabled channel is not loaded any more, but if it is already loaded it runs until PREEMPT. */
static int set_enabled(struct emu_object *object, bool enabled) {
  ((struct emu_channel *)object)->disabled = !enabled;
  emu_engine_wake();
  return 0;
}

static int enable_channel(struct emu_object *object, int fd, void *argument) {
  return set_enabled(object, true);
}

static int disable_channel(struct emu_object *object, int fd, void *argument) {
  return set_enabled(object, false);
}

/* Like nvgpu, disables the TSG meanwhile, and then enables it even if it was disabled before
 * (os/linux/ioctl_channel.c). */
static int preempt_channel(struct emu_object *object, int fd, void *argument) {
  struct emu_tsg *tsg = ((struct emu_channel *)object)->tsg;
  if (!tsg)
    return -EINVAL;
  emu_object_get(&tsg->object);
  emu_tsg_enable(tsg, false);
  emu_engine_preempt(tsg);
  emu_tsg_enable(tsg, true);
  emu_object_put(&tsg->object);
  return 0;
}

/* 3.4, FORCE_RESET: always 0 */
static int force_reset(struct emu_object *object, int fd, void *argument) {
  struct emu_channel *channel = (struct emu_channel *)object;
  if (channel->tsg)
    emu_tsg_abort(channel->tsg, NOTIFIER_FORCE_RESET);
  return 0;
}

/* The condition of WAIT, in the memory of a dma-buf. */
struct wait_condition {
  struct emu_channel *channel;
  struct emu_dmabuf *dmabuf; /* held; a fork may change its host member */
  uint32_t offset; /* of a semaphore that becomes payload, or a notifier whose status becomes 0 */
  bool semaphore;
  uint32_t payload;
};

static bool is_satisfied(const struct wait_condition *w) {
  if (w->semaphore) {
    uint32_t value;
    memcpy(&value, w->dmabuf->host + w->offset, sizeof(value));
    return value == w->payload;
  }
  struct error_notifier notifier;
  memcpy(&notifier, w->dmabuf->host + w->offset, sizeof(notifier));
  return !notifier.status;
}

enum { WAIT_STEP_NS = 100000 };

/* Sleeps until the timer expires, or for as long if there is none. Returns whether a signal handler
 * ran, except that a handler with SA_RESTART does not interrupt the wait for the timer. */
static bool is_sleep_interrupted(int timer) {
  uint64_t expirations;
  const bool failed = timer >= 0 ? read(timer, &expirations, sizeof(expirations)) < 0
                                 : usleep(WAIT_STEP_NS / 1000) != 0;
  return failed && errno == EINTR;
}

/* Waits until the condition is satisfied, the channel is aborted, or the timeout expires (0: no
 * timeout). Returns 0, -ETIMEDOUT, or -EINTR if a signal interrupts the wait. The driver returns
 * ERESTARTSYS for a semaphore, and EINTR for a notifier. */
static int wait_for_condition(const struct wait_condition *w, uint32_t timeout_ms) {
  const uint64_t end = emu_time_ns() + (uint64_t)timeout_ms * 1000000u;
  const struct itimerspec steps = {.it_interval.tv_nsec = WAIT_STEP_NS,
                                   .it_value.tv_nsec = WAIT_STEP_NS};
  struct emu_object *object = (struct emu_object *)w->channel;
  const int timer = w->semaphore ? timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC) : -1;
  int result = 0;
  if (timer >= 0)
    timerfd_settime(timer, 0, &steps, NULL);
  while (!result && !is_satisfied(w) && atomic_load(&w->channel->serviceable)) {
    if (timeout_ms && emu_time_ns() >= end) {
      result = -ETIMEDOUT;
      break;
    }
    emu_object_get(object);
    pthread_mutex_unlock(&emu_gpu.lock);
    result = is_sleep_interrupted(timer) ? -EINTR : 0;
    pthread_mutex_lock(&emu_gpu.lock);
    emu_object_put(object);
  }
  if (timer >= 0)
    close(timer);
  return result;
}

/* Writes the driver's values to a notifier after the wait. */
static int write_notifier(const struct wait_condition *w) {
  if (!is_satisfied(w))
    return -ETIMEDOUT; /* the channel was aborted */
  const struct error_notifier notifier = {.code = 0xdeadbeef, .reserved = (uint16_t)w->channel->id};
  memcpy(w->dmabuf->host + w->offset, &notifier, sizeof(notifier));
  return 0;
}

/* WAIT (3.4). The errno values come from nvgpu's os/linux/ioctl_channel.c, gk20a_channel_wait. */
static int channel_wait(struct emu_object *object, int fd, void *argument) {
  enum { WAIT_NOTIFIER = 0, WAIT_SEMAPHORE = 1 };
  struct emu_channel *channel = (struct emu_channel *)object;
  const struct nvgpu_wait_args *a = argument;
  const bool semaphore = a->type == WAIT_SEMAPHORE;
  const uint32_t offset = semaphore ? a->condition.semaphore.offset : a->condition.notifier.offset;
  const size_t bytes = semaphore ? sizeof(uint32_t) : sizeof(struct error_notifier);
  if (!atomic_load(&channel->serviceable))
    return -ETIMEDOUT;
  if (a->type > WAIT_SEMAPHORE || (semaphore && offset % sizeof(uint32_t)))
    return -EINVAL;
  const int memory =
      (int)(semaphore ? a->condition.semaphore.dmabuf_fd : a->condition.notifier.dmabuf_fd);
  struct emu_dmabuf *dmabuf;
  if (emu_dmabuf_from_fd(memory, &dmabuf))
    return -EINVAL;
  int result = -EINVAL;
  if (dmabuf->size < bytes || offset > dmabuf->size - bytes)
    goto out;
  result = semaphore ? -EINVAL : -ENOMEM;
  if (!can_kernel_map(dmabuf, memory))
    goto out;
  const struct wait_condition w = {.channel = channel,
                                   .dmabuf = dmabuf,
                                   .offset = offset,
                                   .semaphore = semaphore,
                                   .payload = a->condition.semaphore.payload};
  result = wait_for_condition(&w, a->timeout);
  if (!semaphore)
    result = result ? -EINTR : write_notifier(&w); /* -EINTR even after a timeout */
out:
  emu_object_put(&dmabuf->object);
  return result;
}

static int open_another(struct emu_object *object, int fd, void *argument) {
  struct nvgpu_channel_open_args *a = argument;
  int channel = emu_channel_open(a->in.runlist_id);
  if (channel < 0)
    return channel;
  a->out.channel_fd = channel;
  return 0;
}

/* A request for graphics; the buffer is not used. */
static int zcull_bind(struct emu_object *object, int fd, void *argument) {
  const struct emu_channel *channel = (const struct emu_channel *)object;
  return channel->tsg && channel->tsg->context_as ? 0 : -EINVAL;
}

static int reschedule_runlist(struct emu_object *object, int fd, void *argument) {
  return -EPERM;
}
static int set_boosted(struct emu_object *object, int fd, void *argument) {
  return -EINVAL;
}

/* EVENT_ID_CTRL and SET_RUNLIST_INTERLEAVE return ENOTTY because they are requests of the TSG. */
static const struct emu_ioctl ioctls[] = {
    {NVGPU_IOCTL_CHANNEL_SET_NVMAP_FD, ignore_nvmap_fd},
    {NVGPU_IOCTL_CHANNEL_SET_TIMEOUT, set_timeout},
    {NVGPU_IOCTL_CHANNEL_SET_TIMEOUT_EX, set_timeout},
    {NVGPU_IOCTL_CHANNEL_GET_TIMEDOUT, get_timedout},
    {NVGPU_IOCTL_CHANNEL_WAIT, channel_wait},
    {NVGPU_IOCTL_CHANNEL_SUBMIT_GPFIFO, emu_submit_gpfifo},
    {NVGPU_IOCTL_CHANNEL_ALLOC_OBJ_CTX, alloc_obj_ctx},
    {NVGPU_IOCTL_CHANNEL_ZCULL_BIND, zcull_bind},
    {NVGPU_IOCTL_CHANNEL_SET_ERROR_NOTIFIER, set_notifier},
    {NVGPU_IOCTL_CHANNEL_OPEN, open_another},
    {NVGPU_IOCTL_CHANNEL_ENABLE, enable_channel},
    {NVGPU_IOCTL_CHANNEL_DISABLE, disable_channel},
    {NVGPU_IOCTL_CHANNEL_PREEMPT, preempt_channel},
    {NVGPU_IOCTL_CHANNEL_FORCE_RESET, force_reset},
    {NVGPU_IOCTL_CHANNEL_WDT, set_watchdog},
    {NVGPU_IOCTL_CHANNEL_SET_PREEMPTION_MODE, set_preemption},
    {NVGPU_IOCTL_CHANNEL_ALLOC_GPFIFO_EX, alloc_gpfifo},
    {NVGPU_IOCTL_CHANNEL_SET_BOOSTED_CTX, set_boosted},
    {NVGPU_IOCTL_CHANNEL_GET_USER_SYNCPOINT, user_syncpoint},
    {NVGPU_IOCTL_CHANNEL_RESCHEDULE_RUNLIST, reschedule_runlist},
    {NVGPU_IOCTL_CHANNEL_SETUP_BIND, setup_bind},
};

const struct emu_node emu_node_channel = {
    .magic = 'H',
    .last_number = 128,
    .largest_argument = 104,
    .ioctls = ioctls,
    .ioctl_count = sizeof(ioctls) / sizeof(ioctls[0]),
};

static int channel_ioctl(struct emu_object *object, int fd, unsigned long request, void *argument) {
  return emu_dispatch(&emu_node_channel, object, fd, request, argument);
}

static const struct emu_object_ops channel_ops = {
    .kind = EMU_CHANNEL,
    .ioctl = channel_ioctl,
    .close = channel_close,
    .closed = channel_closed,
    .destroy = channel_destroy,
};
