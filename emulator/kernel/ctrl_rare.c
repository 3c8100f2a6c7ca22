/* Requests of the control node that compute clients do not make: debugging, graphics, compression,
 * video memory, and clocks. docs/hardware/kernel-interface.md 2.1, 3.1; other details come from
 * nvgpu's ioctl_ctrl.c of L4T r36.4.3. */
#include <errno.h>

#include "emulator/boards.h"
#include "emulator/kernel/channel.h"
#include "emulator/kernel/ctrl.h"
#include "emulator/kernel/dmabuf.h"
#include "emulator/kernel/tsg.h"
#include "emulator/kernel/user_copy.h"
#include "emulator/objects.h"
#include "gpu/hw/memory.h"
#include "gpu/nvgpu/uapi.h"

enum {
  /* flags of ALLOC_VIDMEM (nvgpu-ctrl.h) */
  VIDMEM_CPU_MASK = 7 << 1,
  VIDMEM_VPR = 1 << 4,
  /* flags of SUBMIT_GPFIFO and PREPARE_COMPRESSIBLE_READ (nvgpu.h) */
  FENCE_GET = 1 << 1,
  SYNC_FENCE = 1 << 3,
};
static const uint32_t no_syncpoint = UINT32_MAX;

/* There is no 3D engine, so this returns the driver's error for missing zcull and ZBC. */
int emu_ctrl_graphics(struct emu_object *object, int fd, void *argument) {
  return -ENODEV;
}

static int check_buffer(int fd) {
  struct emu_dmabuf *dmabuf;
  if (emu_dmabuf_from_fd(fd, &dmabuf))
    return -EINVAL;
  emu_object_put(&dmabuf->object);
  return 0;
}

/* Requests 6 and 7 (2.1): no buffer has compression tags, so there is nothing to do and no fence to
 * wait for. */
int emu_ctrl_prepare_read(struct emu_object *object, int fd, void *argument) {
  struct nvgpu_gpu_prepare_compressible_read_args *a = argument;
  int error = check_buffer((int)a->handle);
  if (error)
    return error;
  a->valid_compbits = 0;
  a->zbc_color = 0;
  if ((a->submit_flags & FENCE_GET) && (a->submit_flags & SYNC_FENCE)) {
    a->fence.fd = -1;
  } else if (a->submit_flags & FENCE_GET) {
    a->fence.syncpt_id = no_syncpoint;
    a->fence.syncpt_value = 0;
  }
  return 0;
}

int emu_ctrl_mark_write(struct emu_object *object, int fd, void *argument) {
  const struct nvgpu_gpu_mark_compressible_write_args *a = argument;
  return check_buffer((int)a->handle);
}

/* The mode has no effect, because there is no debugger. */
int emu_ctrl_mmu_debug(struct emu_object *object, int fd, void *argument) {
  return 0;
}

int emu_ctrl_sm_debug(struct emu_object *object, int fd, void *argument) {
  const struct nvgpu_gpu_sm_debug_mode_args *a = argument;
  const struct emu_channel *channel = emu_table_get_kind(a->channel_fd, EMU_CHANNEL);
  return channel && channel->tsg ? 0 : -EINVAL;
}

/* SMs cannot be paused here. The driver returns the same error for chips without this feature. */
int emu_ctrl_pause(struct emu_object *object, int fd, void *argument) {
  return -ENOSYS;
}

int emu_ctrl_clear_errors(struct emu_object *object, int fd, void *argument) {
  return 0;
}

int emu_ctrl_exception_status(struct emu_object *object, int fd, void *argument) {
  struct nvgpu_gpu_tpc_exception_en_status_args *a = argument;
  a->tpc_exception_en_sm_mask = (UINT64_C(1) << emu_board()->sms) - 1;
  return 0;
}

/* ALLOC_VIDMEM (2.1, request 27): Orin has no video memory. */
int emu_ctrl_vidmem(struct emu_object *object, int fd, void *argument) {
  const struct nvgpu_gpu_alloc_vidmem_args *a = argument;
  uint64_t align = a->in.alignment ? a->in.alignment : GPU_PAGE_BYTES;
  if (a->in.flags & (VIDMEM_CPU_MASK | VIDMEM_VPR))
    return -EINVAL;
  if (!a->in.size || a->in.size % GPU_PAGE_BYTES)
    return -EINVAL;
  /* The alignment must not exceed the size rounded up to a power of two. */
  if ((align & (align - 1)) || align / 2 >= a->in.size)
    return -EINVAL;
  return -ENOMEM;
}

/* CLK_SET_INFO (3.1). The clock does not change; a board's governor may decide the same. The
 * request completes at once, so its fd is readable. */
int emu_ctrl_set_clocks(struct emu_object *object, int fd, void *argument) {
  enum { DOMAINS = 1 };
  struct nvgpu_gpu_clk_set_info_args *a = argument;
  if (a->flags || a->num_entries < 1 || a->num_entries > DOMAINS)
    return -EINVAL;
  struct nvgpu_gpu_clk_info info;
  if (emu_copy_from_user(&info, a->clk_info_entries, sizeof(info)))
    return -EFAULT;
  if (info.clk_domain != NVGPU_CLK_DOMAIN_GPCCLK)
    return -EINVAL;
  int event = emu_event_open(NULL, 0, 1);
  if (event < 0)
    return event;
  a->completion_fd = event;
  return 0;
}
