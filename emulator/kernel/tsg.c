/* Time-slice groups (TSGs), their subcontexts and events. Section numbers refer to
 * docs/hardware/kernel-interface.md: 2.3, 3.3. */
#include "emulator/kernel/tsg.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "emulator/boards.h"
#include "emulator/engine/channel_engine.h"
#include "emulator/engine/engine.h"
#include "emulator/engine/fault.h"
#include "emulator/engine/grid.h"
#include "emulator/gpu.h"
#include "emulator/kernel/address_space.h"
#include "emulator/kernel/buddy.h"
#include "emulator/kernel/channel.h"
#include "emulator/kernel/dispatch.h"
#include "emulator/kernel/l4t.h"
#include "emulator/kernel/share.h"
#include "emulator/kernel/submit.h"
#include "emulator/kernel/syncpoint.h"
#include "emulator/kernel/user_copy.h"
#include "emulator/modes/adversary.h"
#include "emulator/objects.h"
#include "emulator/options.h"
#include "emulator/warn.h"
#include "gpu/nvgpu/uapi.h"

struct emu_tsgs emu_tsgs;

enum { L2_WAYS_MAX = 16, SECTOR_PROMOTION_DEFAULT = 1 };

static const struct emu_object_ops tsg_ops, event_ops;

int emu_tsg_open(void) {
  if (emu_tsgs.count >= EMU_TSGS)
    return -ENOMEM; /* 3.1, OPEN_TSG check 4 */
  struct emu_tsg *tsg = emu_object_create(&tsg_ops, sizeof(*tsg));
  if (!tsg)
    return -ENOMEM;
  tsg->timeslice_us = NVGPU_TIMESLICE_DEFAULT_US;
  tsg->sector_promotion = SECTOR_PROMOTION_DEFAULT;
  emu_tsgs.count++;
  int fd = emu_table_open("nvgpu-ga10b-tsg", &tsg->object);
  emu_object_put(&tsg->object);
  return fd;
}

static void drop_veid(struct emu_tsg *tsg, unsigned veid) {
  if (tsg->veid_as[veid])
    emu_object_put(&tsg->veid_as[veid]->object);
  tsg->veid_as[veid] = NULL;
}

static void tsg_destroy(struct emu_object *object) {
  struct emu_tsg *tsg = (struct emu_tsg *)object;
  for (unsigned i = 0; i < EMU_VEIDS; i++)
    drop_veid(tsg, i);
  if (tsg->context_as) {
    emu_buddy_free(&tsg->context_as->kernel, tsg->context_va);
    emu_object_put(&tsg->context_as->object);
  }
  for (struct emu_event *event = tsg->events; event; event = event->next)
    event->tsg = NULL;
  emu_share_forget(tsg, 0);
  emu_tsgs.count--;
  free(tsg);
}

static void set_veid(struct emu_tsg *tsg, unsigned veid, struct emu_as *as) {
  tsg->veid_as[veid] = as;
  emu_object_get(&as->object);
}

/* CREATE_SUBCONTEXT: makes the checks in the driver's order (3.3). */
static int create_subcontext(struct emu_object *object, int fd, void *argument) {
  struct emu_tsg *tsg = (struct emu_tsg *)object;
  struct nvgpu_tsg_create_subcontext_args *a = argument;
  if (a->type > NVGPU_SUBCONTEXT_ASYNC)
    return -EINVAL; /* check 1 */
  struct emu_as *as = emu_table_get_kind(a->as_fd, EMU_AS);
  if (!as)
    return -EINVAL; /* check 2 */
  unsigned veid = 0;
  if (a->type == NVGPU_SUBCONTEXT_ASYNC) {
    veid = 1;
    while (veid < EMU_VEIDS && tsg->veid_as[veid])
      veid++;
    if (veid == EMU_VEIDS)
      veid = 0; /* check 4 */
  }
  if (tsg->veid_as[veid])
    return -ENOSPC; /* checks 3 and 4 */
  set_veid(tsg, veid, as);
  a->veid = veid;
  return 0;
}

static int delete_subcontext(struct emu_object *object, int fd, void *argument) {
  struct emu_tsg *tsg = (struct emu_tsg *)object;
  const struct nvgpu_tsg_delete_subcontext_args *a = argument;
  if (a->veid >= EMU_VEIDS || tsg->veid_channels[a->veid])
    return -EINVAL;
  drop_veid(tsg, a->veid);
  return 0;
}

/* BIND_CHANNEL_EX: checks 5 to 9 of 3.3. */
static int bind_to_tsg(struct emu_tsg *tsg, struct emu_channel *channel) {
  /* check 5; r35 has no CREATE_SUBCONTEXT and creates subcontexts here */
  if ((channel->veid == 0 || !emu_release()->subcontext_requests) && !tsg->veid_as[channel->veid] &&
      channel->as)
    set_veid(tsg, channel->veid, channel->as);
  if (!channel->as || tsg->veid_as[channel->veid] != channel->as)
    return -EINVAL; /* check 6 */
  if (channel->tsg)
    return -EINVAL; /* check 7 */
  if (tsg->channel_count >= EMU_TSG_CHANNELS)
    return -EINVAL; /* check 8 */
  channel->tsg = tsg;
  emu_object_get(&tsg->object);
  channel->next_in_tsg = tsg->channels;
  tsg->channels = channel;
  tsg->channel_count++;
  tsg->veid_channels[channel->veid]++;
  atomic_store(&channel->serviceable, true); /* even if the TSG was aborted before */
  return 0;
}

static int bind_channel_ex(struct emu_object *object, int fd, void *argument) {
  struct nvgpu_tsg_bind_channel_ex_args *a = argument;
  struct emu_channel *channel = emu_table_get_kind(a->channel_fd, EMU_CHANNEL);
  if (!channel)
    return -EINVAL; /* check 3 */
  if (a->subcontext_id >= EMU_VEIDS)
    return -EINVAL; /* check 4 */
  /* Stored even if a later step fails. If the channel is already bound, its subcontext does not
   * change. */
  if (!channel->tsg)
    channel->veid = a->subcontext_id;
  return bind_to_tsg((struct emu_tsg *)object, channel);
}

static int bind_channel(struct emu_object *object, int fd, void *argument) {
  struct emu_channel *channel = emu_table_get_kind(*(int32_t *)argument, EMU_CHANNEL);
  return channel ? bind_to_tsg((struct emu_tsg *)object, channel) : -EINVAL;
}

/* Like nvgpu_tsg_unbind_channel_common (nvgpu, common/fifo/tsg.c), keeps a channel that the
 * hardware is about to load. Here that is any channel with work. */
bool emu_tsg_needs(struct emu_channel *channel) {
  return channel->tsg && channel->tsg->channel_count > 1 && !channel->disabled &&
         atomic_load(&channel->serviceable) && emu_channel_busy(channel);
}

/* Closing the last channel of a subcontext also closes the subcontext, which must be created again.
 * Unbinding the channel keeps it: nvgpu, common/fifo/tsg_subctx.c, "force". Unless the TSG was
 * aborted, its other channels are enabled, even those that the client has disabled: nvgpu,
 * common/fifo/tsg.c, nvgpu_tsg_unbind_channel_common. */
void emu_tsg_unlink(struct emu_channel *channel, bool closed) {
  const bool serviceable = atomic_exchange(&channel->serviceable, false);
  emu_engine_leave(channel);
  emu_channel_drop_work(channel);
  struct emu_tsg *tsg = channel->tsg;
  if (!tsg)
    return;
  struct emu_channel **link = &tsg->channels;
  while (*link != channel)
    link = &(*link)->next_in_tsg;
  *link = channel->next_in_tsg;
  tsg->channel_count--;
  if (--tsg->veid_channels[channel->veid] == 0 && closed)
    drop_veid(tsg, channel->veid);
  channel->tsg = NULL;
  channel->in_runlist = false;
  if (serviceable)
    emu_tsg_enable(tsg, true);
  emu_object_put(&tsg->object);
}

/* Like nvgpu, preempts the TSG first, and aborts it if that fails; the channel leaves it anyway.
 * The channel cannot get into the runlist again, because SETUP_BIND returns EEXIST. */
static int unbind_channel(struct emu_object *object, int fd, void *argument) {
  struct emu_channel *channel = emu_table_get_kind(*(int32_t *)argument, EMU_CHANNEL);
  struct emu_tsg *tsg = (struct emu_tsg *)object;
  if (!channel || channel->tsg != tsg)
    return -EINVAL;
  emu_object_get(&channel->object);
  int error = emu_tsg_preempt(tsg);
  const bool serviceable = atomic_load(&channel->serviceable);
  if (channel->tsg != tsg) {
    error = -EINVAL; /* it has left while gpu.lock was released */
  } else if (!error && serviceable &&
             (emu_tsg_needs(channel) || (tsg->channel_count > 1 && emu_adversary_loads_next()))) {
    emu_tsg_enable(tsg, true);
    error = -EAGAIN;
  } else {
    if (error)
      emu_tsg_abort(tsg, 0);
    emu_tsg_unlink(channel, false);
    if (!error)
      emu_channel_clean_up(channel);
  }
  emu_object_put(&channel->object);
  return error;
}

static bool gives_way(const struct emu_tsg *tsg) {
  const bool stuck = emu_options()->preempt_stuck;
  for (const struct emu_channel *c = tsg->channels; c; c = c->next_in_tsg)
    if (atomic_load(&c->serviceable) &&
        (stuck ? atomic_load(&c->engine->running_grids) > 0 : !emu_grids_give_way(c)))
      return false;
  return true;
}

/* Preempts the TSG. With WFI waits for its grids to end, with CTA for their running CTAs. With CILP
 * grids can be preempted at any instruction, unless the firmware cannot save them in time
 * (preempt:MS:stuck). nvgpu, common/fifo/preempt.c, nvgpu_fifo_preempt_tsg */
int emu_tsg_preempt(struct emu_tsg *tsg) {
  enum { PAUSE_US = 1000, NS_PER_MS = 1000000 };
  emu_adversary_preemption();
  if (!emu_options()->preempt_ms)
    return 0;
  emu_object_get(&tsg->object);
  atomic_fetch_add(&emu_engine.settling, 1); /* meanwhile grids end their turns early */
  emu_engine_preempt(tsg);
  const uint64_t end = emu_time_ns() + emu_options()->preempt_ms * NS_PER_MS;
  atomic_fetch_add(&tsg->draining, 1);
  while (!gives_way(tsg) && emu_time_ns() < end) {
    pthread_mutex_unlock(&emu_gpu.lock);
    usleep(PAUSE_US);
    pthread_mutex_lock(&emu_gpu.lock);
  }
  atomic_fetch_sub(&tsg->draining, 1);
  const int result = gives_way(tsg) ? 0 : -EBUSY;
  emu_engine_wake();
  atomic_fetch_sub(&emu_engine.settling, 1);
  if (result)
    emu_warn("a request that preempts its TSG failed: a grid of another channel in the TSG runs "
             "for longer than 100 ms (with CTA, one of its work-groups; with CILP, it cannot be "
             "saved in time); keep channels open and share them, or wait for the TSG's work first",
             "nvgpu, common/fifo/preempt.c, nvgpu_fifo_preempt_tsg");
  emu_object_put(&tsg->object);
  return result;
}

void emu_tsg_enable(struct emu_tsg *tsg, bool enabled) {
  for (struct emu_channel *c = tsg->channels; c; c = c->next_in_tsg)
    c->disabled = !enabled;
  emu_engine_wake();
}

static int enable_tsg(struct emu_object *object, int fd, void *argument) {
  emu_tsg_enable((struct emu_tsg *)object, true);
  return 0;
}

static int disable_tsg(struct emu_object *object, int fd, void *argument) {
  emu_tsg_enable((struct emu_tsg *)object, false);
  return 0;
}

static int preempt_tsg(struct emu_object *object, int fd, void *argument) {
  emu_engine_preempt((struct emu_tsg *)object);
  return 0;
}

int emu_event_open(struct emu_tsg *tsg, uint32_t event_id, unsigned count) {
  struct emu_event *event = emu_object_create(&event_ops, sizeof(*event));
  if (!event)
    return -ENOMEM;
  event->event_id = event_id;
  int fd = eventfd(count, EFD_CLOEXEC | EFD_NONBLOCK);
  int error = fd < 0 ? -errno : emu_table_set(fd, &event->object);
  if (!error && tsg) {
    event->tsg = tsg;
    event->next = tsg->events;
    tsg->events = event;
  } else if (error && fd >= 0) {
    close(fd);
  }
  emu_object_put(&event->object);
  return error ? error : fd;
}

/* EVENT_ID_CTRL (3.3). Enabling an event again returns another fd. */
static int event_id_ctrl(struct emu_object *object, int fd, void *argument) {
  struct emu_tsg *tsg = (struct emu_tsg *)object;
  struct nvgpu_event_id_ctrl_args *a = argument;
  if (a->event_id >= EMU_EVENTS || a->cmd != NVGPU_EVENT_CMD_ENABLE)
    return -EINVAL;
  int event = emu_event_open(tsg, a->event_id, 0);
  if (event < 0)
    return event;
  a->event_fd = event;
  return 0;
}

static void event_destroy(struct emu_object *object) {
  struct emu_event *event = (struct emu_event *)object;
  if (event->tsg) {
    struct emu_event **link = &event->tsg->events;
    while (*link != event)
      link = &(*link)->next;
    *link = event->next;
  }
  free(event);
}

static void raise_event(struct emu_tsg *tsg, uint32_t event_id) {
  const uint64_t one = 1;
  for (struct emu_event *event = tsg->events; event; event = event->next) {
    /* A full counter is readable as well. */
    if (event->event_id == event_id && write(event->object.fd, &one, sizeof(one)) < 0)
      continue;
  }
}

/* docs/hardware/kernel-interface.md 6. nvgpu, common/fifo/channel.c,
 * nvgpu_channel_semaphore_wakeup, and common/gr/gr_intr.c, nvgpu_gr_intr_handle_semaphore_pending
 */
void emu_non_stall_interrupt(const struct emu_channel *awakened) {
  const struct emu_tsg *last = NULL;
  pthread_mutex_lock(&emu_gpu.lock);
  for (int i = 0; i < EMU_CHANNELS; i++) {
    const struct emu_channel *channel = emu_channels.by_id[i];
    if (!channel || !channel->in_runlist || channel->tsg == last)
      continue;
    raise_event(channel->tsg, NVGPU_EVENT_BLOCKING_SYNC);
    last = channel->tsg;
  }
  if (awakened && awakened->tsg)
    raise_event(awakened->tsg, NVGPU_EVENT_GR_SEMAPHORE_WRITE_AWAKEN);
  pthread_mutex_unlock(&emu_gpu.lock);
}

static int set_interleave(struct emu_object *object, int fd, void *argument) {
  const struct nvgpu_runlist_interleave_args *a = argument;
  if (a->level > NVGPU_INTERLEAVE_HIGH)
    return -EINVAL;
  ((struct emu_tsg *)object)->interleave = a->level;
  return 0;
}

static int set_timeslice(struct emu_object *object, int fd, void *argument) {
  const struct nvgpu_timeslice_args *a = argument;
  if (a->timeslice_us < NVGPU_TIMESLICE_MIN_US || a->timeslice_us > NVGPU_TIMESLICE_MAX_US)
    return -EINVAL;
  ((struct emu_tsg *)object)->timeslice_us = a->timeslice_us;
  return 0;
}

static int get_timeslice(struct emu_object *object, int fd, void *argument) {
  ((struct nvgpu_timeslice_args *)argument)->timeslice_us =
      ((struct emu_tsg *)object)->timeslice_us;
  return 0;
}

static int set_ways(struct emu_object *object, int fd, void *argument) {
  const struct nvgpu_tsg_l2_max_ways_evict_last_args *a = argument;
  if (a->max_ways > L2_WAYS_MAX)
    return -EINVAL;
  ((struct emu_tsg *)object)->evict_last_ways = a->max_ways;
  return 0;
}

static int get_ways(struct emu_object *object, int fd, void *argument) {
  ((struct nvgpu_tsg_l2_max_ways_evict_last_args *)argument)->max_ways =
      ((struct emu_tsg *)object)->evict_last_ways;
  return 0;
}

static int set_promotion(struct emu_object *object, int fd, void *argument) {
  const struct nvgpu_tsg_set_l2_sector_promotion_args *a = argument;
  if (a->promotion_flag != 1 && a->promotion_flag != 2 && a->promotion_flag != 4)
    return -EINVAL;
  ((struct emu_tsg *)object)->sector_promotion = a->promotion_flag;
  return 0;
}

/* READ_SINGLE_SM_ERROR_STATE: all SMs of a TSG report its only exception (3.3). */
static int read_sm_error(struct emu_object *object, int fd, void *argument) {
  struct nvgpu_tsg_read_single_sm_error_state_args *a = argument;
  const struct emu_tsg *tsg = (const struct emu_tsg *)object;
  if (a->sm_id >= emu_board()->sms)
    return -EINVAL;
  size_t bytes = a->record_size < sizeof(tsg->sm_error) ? a->record_size : sizeof(tsg->sm_error);
  a->record_size = bytes;
  return emu_copy_to_user(a->record_mem, &tsg->sm_error, bytes) ? (int)bytes : 0;
}

/* BIND_SCHEDULING_DOMAIN: only root can open domains, so no fd is valid (3.3). */
static int bind_domain(struct emu_object *object, int fd, void *argument) {
  const struct nvgpu_tsg_bind_scheduling_domain_args *a = argument;
  if (a->reserved0 || a->reserved[0] || a->reserved[1] || a->reserved[2])
    return -EINVAL;
  return -ENOENT;
}

static const struct emu_ioctl ioctls[] = {
    {NVGPU_TSG_IOCTL_BIND_CHANNEL, bind_channel},
    {NVGPU_TSG_IOCTL_UNBIND_CHANNEL, unbind_channel},
    {NVGPU_IOCTL_TSG_ENABLE, enable_tsg},
    {NVGPU_IOCTL_TSG_DISABLE, disable_tsg},
    {NVGPU_IOCTL_TSG_PREEMPT, preempt_tsg},
    {NVGPU_IOCTL_TSG_EVENT_ID_CTRL, event_id_ctrl},
    {NVGPU_IOCTL_TSG_SET_RUNLIST_INTERLEAVE, set_interleave},
    {NVGPU_IOCTL_TSG_SET_TIMESLICE, set_timeslice},
    {NVGPU_IOCTL_TSG_GET_TIMESLICE, get_timeslice},
    {NVGPU_TSG_IOCTL_BIND_CHANNEL_EX, bind_channel_ex},
    {NVGPU_TSG_IOCTL_READ_SINGLE_SM_ERROR_STATE, read_sm_error},
    {NVGPU_TSG_IOCTL_SET_L2_MAX_WAYS_EVICT_LAST, set_ways},
    {NVGPU_TSG_IOCTL_GET_L2_MAX_WAYS_EVICT_LAST, get_ways},
    {NVGPU_TSG_IOCTL_SET_L2_SECTOR_PROMOTION, set_promotion},
    {NVGPU_TSG_IOCTL_CREATE_SUBCONTEXT, create_subcontext},
    {NVGPU_TSG_IOCTL_DELETE_SUBCONTEXT, delete_subcontext},
    {NVGPU_TSG_IOCTL_BIND_SCHEDULING_DOMAIN, bind_domain},
    {NVGPU_TSG_IOCTL_GET_SHARE_TOKEN, emu_share_get_token},
    {NVGPU_TSG_IOCTL_REVOKE_SHARE_TOKEN, emu_share_revoke_token},
};

const struct emu_node emu_node_tsg = {
    .magic = 'T',
    .last_number = 21,
    .largest_argument = 32,
    .ioctls = ioctls,
    .ioctl_count = sizeof(ioctls) / sizeof(ioctls[0]),
};

static int tsg_ioctl(struct emu_object *object, int fd, unsigned long request, void *argument) {
  return emu_dispatch(&emu_node_tsg, object, fd, request, argument);
}

static const struct emu_object_ops tsg_ops = {
    .kind = EMU_TSG,
    .ioctl = tsg_ioctl,
    .destroy = tsg_destroy,
};

void emu_event_poll(struct pollfd *found) {
  uint64_t count;
  if (!(found->revents & POLLIN))
    return;
  found->revents = found->events & (POLLIN | POLLPRI);
  /* Another thread's poll may have consumed it. */
  if (read(found->fd, &count, sizeof(count)) != sizeof(count))
    found->revents = 0;
}

static const struct emu_object_ops event_ops = {
    .kind = EMU_EVENT,
    .poll = emu_event_poll,
    .destroy = event_destroy,
};
