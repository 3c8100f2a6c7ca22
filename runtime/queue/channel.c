/* Opens and closes channels. The requests are made in the order that has run on boards
 * (docs/hardware/bring-up.md 2). */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "gpu/hw/host.h"
#include "gpu/hw/methods.h"
#include "gpu/nvgpu/uapi.h"
#include "runtime/device/fds.h"
#include "runtime/message.h"
#include "runtime/queue/queue.h"

/* Binds to the address space first; the kernel refuses the opposite order. */
static int bind_channel(struct rt_context *c, struct rt_tsg *tsg, struct rt_channel *ch) {
  const struct nvgpu_os *os = c->device->os;
  struct nvgpu_as_bind_channel_args as = {.channel_fd = (uint32_t)ch->fd};
  int error = os->ioctl(c->as_fd, NVGPU_AS_IOCTL_BIND_CHANNEL, &as);
  if (error)
    return rt_fail_call(error, "AS BIND_CHANNEL");
  error = rt_tsg_bind(c, tsg, ch->fd);
  if (error == 0)
    ch->tsg = tsg;
  return error;
}

/* Ring and USERD have separate memory of exact size, mapped at offset 0: a 3 MiB ring froze a board
 * (docs/hardware/kernel-interface.md trap T1). */
static int setup_bind(struct rt_context *c, struct rt_channel *ch) {
  struct rt_device *d = c->device;
  struct nvgpu_channel_wdt_args wdt = {.wdt_status = NVGPU_WDT_DISABLE};
  int error = d->os->ioctl(ch->fd, NVGPU_IOCTL_CHANNEL_WDT, &wdt);
  if (error)
    return rt_fail_call(error, "channel WDT");
  error = rt_memory_create(d, RT_NO_ADDRESS_SPACE, RT_GPFIFO_ENTRIES * GP_ENTRY_BYTES,
                           RT_MEMORY_WRITE_COMBINE, &ch->gpfifo);
  if (error == 0)
    error =
        rt_memory_create(d, RT_NO_ADDRESS_SPACE, USERD_BYTES, RT_MEMORY_WRITE_COMBINE, &ch->userd);
  if (error)
    return error;
  struct nvgpu_channel_setup_bind_args args = {.num_gpfifo_entries = RT_GPFIFO_ENTRIES,
                                               .flags = NVGPU_SETUP_BIND_DETERMINISTIC |
                                                        NVGPU_SETUP_BIND_USERMODE_SUPPORT,
                                               .userd_dmabuf_fd = ch->userd.fd,
                                               .gpfifo_dmabuf_fd = ch->gpfifo.fd};
  error = d->os->ioctl(ch->fd, rt_request(d, NVGPU_IOCTL_CHANNEL_SETUP_BIND), &args);
  if (error)
    return rt_fail_call(error, "channel SETUP_BIND with %d entries", RT_GPFIFO_ENTRIES);
  ch->token = args.work_submit_token;
  error = rt_device_hold_usermode(d);
  if (error)
    return error;
  ch->holds_usermode = true;
  rt_memory_drop_fd(d, &ch->gpfifo);
  rt_memory_drop_fd(d, &ch->userd);
  return 0;
}

/* Sets the preemption mode. WFI is the default and not requested. After a refusal the mode is
 * unchanged, and it is not requested again. The mode is requested once per TSG: nvgpu keeps it in
 * the TSG's graphics context for all subcontexts, and requesting it again would only preempt the
 * TSG. docs/hardware.md, "Preemption" */
static void choose_preemption(struct rt_device *d, struct rt_tsg *tsg, struct rt_channel *ch) {
  static const uint32_t modes[] = {[RT_PREEMPTION_CTA] = NVGPU_PREEMPT_COMPUTE_CTA,
                                   [RT_PREEMPTION_CILP] = NVGPU_PREEMPT_COMPUTE_CILP};
  const int choice = atomic_load(&d->choices.value[RT_CHOICE_PREEMPTION]);
  if (tsg->has_mode || (choice != RT_PREEMPTION_CTA && choice != RT_PREEMPTION_CILP))
    return;
  struct nvgpu_preemption_mode_args args = {.compute_preempt_mode = modes[choice]};
  char why[96] = "the kernel driver does not support it";
  if (d->preemptions & modes[choice]) {
    const int error = d->os->ioctl(ch->fd, NVGPU_IOCTL_CHANNEL_SET_PREEMPTION_MODE, &args);
    tsg->has_mode = error == 0;
    if (tsg->has_mode)
      return;
    snprintf(why, sizeof(why), "SET_PREEMPTION_MODE failed with error %d; wfi is used", error);
  }
  rt_choice_refused(&d->choices, RT_CHOICE_PREEMPTION, why);
}

static int allocate_object(struct rt_context *c, struct rt_tsg *tsg, struct rt_channel *ch) {
  const struct nvgpu_os *os = c->device->os;
  struct nvgpu_alloc_obj_ctx_args obj = {.class_num = CLASS_COMPUTE};
  int error = os->ioctl(ch->fd, NVGPU_IOCTL_CHANNEL_ALLOC_OBJ_CTX, &obj);
  if (error)
    return rt_fail_call(error, "ALLOC_OBJ_CTX of class 0x%x", CLASS_COMPUTE);
  choose_preemption(c->device, tsg, ch);
  return 0;
}

static int set_notifier(struct rt_context *c, struct rt_channel *ch) {
  struct rt_device *d = c->device;
  int error = rt_memory_create(d, RT_NO_ADDRESS_SPACE, sizeof(struct error_notifier),
                               RT_MEMORY_CACHED, &ch->notifier);
  if (error)
    return error;
  struct nvgpu_set_error_notifier args = {.size = sizeof(struct error_notifier),
                                          .mem = (uint32_t)ch->notifier.fd};
  error = d->os->ioctl(ch->fd, NVGPU_IOCTL_CHANNEL_SET_ERROR_NOTIFIER, &args);
  if (error)
    return rt_fail_call(error, "SET_ERROR_NOTIFIER");
  rt_memory_drop_fd(d, &ch->notifier);
  return 0;
}

/* Gets a syncpoint for the channel. Syncpoints are few and shared by the whole machine; without
 * one, waits poll. Must follow the bind to the address space (docs/hardware/kernel-interface.md
 * trap T22). */
static void take_syncpoint(struct rt_context *c, struct rt_channel *ch) {
  const struct rt_device *d = c->device;
  struct nvgpu_get_user_syncpoint_args args = {0};
  if (d->fence_fd < 0 || d->os->ioctl(ch->fd, NVGPU_IOCTL_CHANNEL_GET_USER_SYNCPOINT, &args))
    return;
  ch->syncpoint_gpu = args.gpu_va;
  ch->syncpoint_id = args.syncpoint_id;
  ch->syncpoint_base = args.syncpoint_max;
}

int rt_channel_open(struct rt_context *c, struct rt_tsg *tsg, struct rt_channel *ch) {
  struct nvgpu_gpu_open_channel_args open = {.in.runlist_id = NVGPU_RUNLIST_GR};
  int error = c->device->os->ioctl(c->device->ctrl_fd, NVGPU_GPU_IOCTL_OPEN_CHANNEL, &open);
  if (error)
    return rt_fail_call(error, "OPEN_CHANNEL");
  ch->fd = rt_fd_opened(c->device->os, open.out.channel_fd);
  if (ch->fd < 0)
    return rt_fail_call(ch->fd, "OPEN_CHANNEL");
  error = bind_channel(c, tsg, ch);
  if (error == 0)
    error = setup_bind(c, ch);
  if (error == 0)
    error = allocate_object(c, tsg, ch);
  if (error == 0)
    error = set_notifier(c, ch);
  if (error == 0)
    take_syncpoint(c, ch);
  return error;
}

static void release_usermode(struct rt_context *c, struct rt_channel *ch) {
  if (ch->holds_usermode)
    rt_device_release_usermode(c->device);
  ch->holds_usermode = false;
}

/* After the channel is closed only the CPU writes the timeline. */
void rt_channel_abandon(struct rt_channel *ch, uint64_t point) {
  struct rt_context *c = ch->context;
  release_usermode(c, ch);
  rt_fd_close(c->device->os, ch->fd);
  ch->fd = -1;
  *ch->timeline = point;
}

/* The user-mode page is released first, while the channel still powers the GPU. After the channel
 * is closed, the hardware does not read its memory any more. */
void rt_channel_close(struct rt_context *c, struct rt_channel *ch) {
  release_usermode(c, ch);
  if (ch->tsg)
    rt_tsg_close_channel(c, ch->tsg, ch->fd);
  else
    rt_fd_close(c->device->os, ch->fd);
  ch->tsg = NULL;
  ch->fd = -1;
  rt_memory_destroy(c->device, &ch->notifier);
  rt_memory_destroy(c->device, &ch->userd);
  rt_memory_destroy(c->device, &ch->gpfifo);
}
