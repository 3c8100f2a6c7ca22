/* Time-slice groups (TSGs): a context has one for each group of priorities. */
#include <errno.h>

#include "gpu/nvgpu/uapi.h"
#include "runtime/context/context.h"
#include "runtime/device/fds.h"
#include "runtime/message.h"

static void close_tsg(struct rt_context *c, struct rt_tsg *tsg) {
  rt_fd_close(c->device->os, tsg->fd);
  tsg->fd = -1;
}

void rt_tsg_init(struct rt_tsg *tsg) {
  tsg->fd = -1;
  base_rwlock_init(&tsg->pool.lock, BASE_LOCK_RT_POOL);
}

void rt_tsg_finish(struct rt_context *c, struct rt_tsg *tsg) {
  close_tsg(c, tsg);
  rt_memory_destroy(c->device, &tsg->pool.memory);
  base_rwlock_destroy(&tsg->pool.lock);
}

/* The id that CREATE_SUBCONTEXT would return first. Kernels without that request accept it in
 * BIND_CHANNEL_EX. */
enum { FIRST_ASYNC_VEID = 1 };

/* Compute work runs in an asynchronous subcontext. Pushbuffers on the synchronous one have had no
 * effect on a board (docs/hardware/kernel-interface.md trap T14). */
static int need_subcontext(struct rt_context *c, struct rt_tsg *tsg) {
  struct nvgpu_tsg_create_subcontext_args sub = {.type = NVGPU_SUBCONTEXT_ASYNC, .as_fd = c->as_fd};
  if (tsg->has_subcontext)
    return 0;
  if (!c->device->release->subcontext_requests) {
    tsg->veid = FIRST_ASYNC_VEID;
    tsg->has_subcontext = true;
    return 0;
  }
  int error = c->device->os->ioctl(tsg->fd, NVGPU_TSG_IOCTL_CREATE_SUBCONTEXT, &sub);
  if (error)
    return rt_fail_call(error, "CREATE_SUBCONTEXT");
  tsg->veid = sub.veid;
  tsg->has_subcontext = true;
  return 0;
}

int rt_tsg_create(struct rt_context *c, struct rt_tsg *tsg) {
  struct nvgpu_gpu_open_tsg_args open = {0};
  int error = c->device->os->ioctl(c->device->ctrl_fd,
                                   rt_request(c->device, NVGPU_GPU_IOCTL_OPEN_TSG), &open);
  if (error)
    return rt_fail_call(error, "OPEN_TSG");
  tsg->fd = rt_fd_opened(c->device->os, (int)open.tsg_fd);
  if (tsg->fd < 0)
    return rt_fail_call(tsg->fd, "OPEN_TSG");
  error = need_subcontext(c, tsg);
  if (error) {
    close_tsg(c, tsg);
    return error;
  }
  struct nvgpu_runlist_interleave_args level = {.level = NVGPU_INTERLEAVE_HIGH};
  /* Only a hint: the kernel may refuse it with EPERM if an administrator controls scheduling. */
  if (tsg == &c->high_tsg)
    c->device->os->ioctl(tsg->fd, NVGPU_IOCTL_TSG_SET_RUNLIST_INTERLEAVE, &level);
  return 0;
}

static int bind_channel(struct rt_context *c, struct rt_tsg *tsg, int channel_fd) {
  int error = need_subcontext(c, tsg);
  if (error)
    return error;
  struct nvgpu_tsg_bind_channel_ex_args ex = {.channel_fd = channel_fd, .subcontext_id = tsg->veid};
  error = c->device->os->ioctl(tsg->fd, NVGPU_TSG_IOCTL_BIND_CHANNEL_EX, &ex);
  return error ? rt_fail_call(error, "TSG BIND_CHANNEL_EX, subcontext %u", tsg->veid) : 0;
}

/* Replaces a TSG that has no channels with a new one. */
static int replace_tsg(struct rt_context *c, struct rt_tsg *tsg) {
  close_tsg(c, tsg);
  tsg->has_subcontext = tsg->has_mode = tsg->emptied = false;
  return rt_tsg_create(c, tsg);
}

/* No board has shown that a TSG accepts channels after its last one was closed. If it refuses, a
 * new TSG replaces it. */
int rt_tsg_bind(struct rt_context *c, struct rt_tsg *tsg, int channel_fd) {
  struct rt_choices *choices = &c->device->choices;
  base_mutex_lock(&c->lock);
  const bool emptied = tsg->emptied;
  int error = 0;
  if (emptied && !rt_choice_may(choices, RT_CHOICE_TSG_REUSE))
    error = replace_tsg(c, tsg);
  if (error == 0)
    error = bind_channel(c, tsg, channel_fd);
  if (error && emptied && rt_choice_unknown(choices, RT_CHOICE_TSG_REUSE)) {
    error = replace_tsg(c, tsg);
    if (error == 0)
      error = bind_channel(c, tsg, channel_fd);
    if (error == 0)
      rt_choice_refused(choices, RT_CHOICE_TSG_REUSE,
                        "a TSG refused a channel after its last one had been closed");
  }
  if (error == 0) {
    tsg->channels++;
    tsg->emptied = false;
  }
  base_mutex_unlock(&c->lock);
  return error;
}

/* nvgpu deletes a subcontext when its last channel is closed (common/fifo/tsg_subctx.c). */
void rt_tsg_close_channel(struct rt_context *c, struct rt_tsg *tsg, int channel_fd) {
  base_mutex_lock(&c->lock);
  rt_fd_close(c->device->os, channel_fd);
  if (--tsg->channels == 0) {
    tsg->has_subcontext = tsg->has_mode = false;
    tsg->emptied = true;
  }
  base_mutex_unlock(&c->lock);
}

/* nvgpu gives every TSG the lowest interleave level by default, so low and medium priority are the
 * same. Only high priority takes precedence over other programs. */
int rt_context_tsg(struct rt_context *c, enum rt_priority priority, struct rt_tsg **tsg) {
  const bool high =
      priority == RT_PRIORITY_HIGH && rt_choice_may(&c->device->choices, RT_CHOICE_HIGH_PRIORITY);
  *tsg = high ? &c->high_tsg : &c->tsg;
  base_mutex_lock(&c->lock);
  int error = (*tsg)->fd < 0 ? rt_tsg_create(c, *tsg) : 0;
  base_mutex_unlock(&c->lock);
  return error;
}
