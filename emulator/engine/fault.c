/* Faults: stop the channels of a TSG, write their error notifiers, and record the cause, which on a
 * board is in the kernel log (docs/hardware/kernel-interface.md 7). */
#include "emulator/engine/fault.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "emulator/engine/engine.h"
#include "emulator/engine/grid.h"
#include "emulator/gpu.h"
#include "emulator/kernel/address_space.h"
#include "emulator/kernel/channel.h"
#include "emulator/kernel/dmabuf.h"
#include "emulator/kernel/submit.h"
#include "emulator/kernel/syncpoint.h"
#include "emulator/kernel/tsg.h"
#include "emulator/kernel/user_copy.h"
#include "emulator/modes/notes.h"
#include "emulator/objects.h"
#include "emulator/options.h"
#include "gpu/hw/host.h"
#include "gpu/nvgpu/emulator_node.h"
#include "gpu/nvgpu/uapi.h"

void emu_fault_set(struct emu_fault *fault, uint32_t notifier, uint64_t address, const char *format,
                   ...) {
  memset(fault, 0, sizeof(*fault));
  fault->notifier = notifier;
  fault->record.code = notifier;
  fault->record.address = address;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(fault->record.message, sizeof(fault->record.message), format, arguments);
  va_end(arguments);
}

/* Writes the channel's notifier unless it is in use: on ga10b the first error is kept. The notifier
 * may be misaligned, because SET_ERROR_NOTIFIER accepts any offset. */
static void post_notifier(struct emu_channel *channel, uint32_t code) {
  if (!channel->notifier || !code)
    return;
  uint8_t *at = channel->notifier->host + channel->notifier_offset;
  struct error_notifier notifier;
  memcpy(&notifier, at, sizeof(notifier));
  if (notifier.status == ERROR_NOTIFIER_WRITTEN)
    return;
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  uint64_t ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
  notifier.time_low = (uint32_t)ns;
  notifier.time_high = (uint32_t)(ns >> 32);
  notifier.code = code;
  memcpy(at, &notifier, sizeof(notifier));
  atomic_thread_fence(memory_order_release);
  notifier.status = ERROR_NOTIFIER_WRITTEN;
  memcpy(at + offsetof(struct error_notifier, status), &notifier.status, sizeof(notifier.status));
}

void emu_channel_clean_up(struct emu_channel *channel) {
  if (channel->syncpoint >= 0)
    emu_syncpoint_raise(channel->syncpoint, EMU_SYNCPOINT_SAFE_STEP);
  if (channel->submit)
    emu_submit_give_up(channel);
}

/* The driver posts no event: a client that waits only for one sleeps on. New channels may be bound
 * to the TSG. nvgpu, common/fifo/tsg.c, nvgpu_tsg_abort and nvgpu_tsg_bind_channel */
void emu_tsg_abort(struct emu_tsg *tsg, uint32_t notifier) {
  for (struct emu_channel *c = tsg->channels; c; c = c->next_in_tsg) {
    atomic_store(&c->serviceable, false);
    emu_channel_unschedule(c);
    post_notifier(c, notifier);
    emu_channel_clean_up(c);
  }
  emu_engine_wake();
}

void emu_fault_raise_locked(struct emu_channel *channel, const struct emu_fault *fault) {
  struct emulator_fault *record = &channel->as->fault;
  int32_t as_fd = record->as_fd;
  *record = fault->record;
  record->as_fd = as_fd;
  record->serial = ++emu_engine.fault_serial;
  if (channel->tsg) {
    channel->tsg->sm_error = (struct nvgpu_tsg_sm_error_state_record){
        .global_esr = fault->global_esr,
        .warp_esr = fault->warp_esr,
        .warp_esr_pc = fault->record.pc,
    };
    emu_tsg_abort(channel->tsg, fault->notifier);
  }
}

void emu_fault_raise(struct emu_channel *channel, const struct emu_fault *fault) {
  pthread_mutex_lock(&emu_gpu.lock);
  emu_fault_raise_locked(channel, fault);
  pthread_mutex_unlock(&emu_gpu.lock);
}

static int last_fault(uint64_t user) {
  struct emulator_fault record;
  if (emu_copy_from_user(&record, user, sizeof(record)))
    return -EFAULT;
  int32_t as_fd = record.as_fd;
  const struct emu_as *as = emu_table_get_kind(as_fd, EMU_AS);
  if (!as)
    return -EINVAL;
  record = as->fault;
  record.as_fd = as_fd;
  record.serial = emu_engine.fault_serial;
  return emu_copy_to_user(user, &record, sizeof(record));
}

static int add_note(uint64_t user) {
  struct emulator_note record;
  if (emu_copy_from_user(&record, user, sizeof(record)))
    return -EFAULT;
  struct emu_as *as = emu_table_get_kind(record.as_fd, EMU_AS);
  return as ? emu_note(as, &record) : -EINVAL;
}

static int read_grid_record(uint64_t user) {
  struct emulator_grid record;
  if (emu_copy_from_user(&record, user, sizeof(record)))
    return -EFAULT;
  const struct emu_as *as = emu_table_get_kind(record.as_fd, EMU_AS);
  if (!as)
    return -EINVAL;
  emu_grid_recall(as, &record);
  return emu_copy_to_user(user, &record, sizeof(record));
}

static int counters_ioctl(struct emu_object *object, int fd, unsigned long request,
                          void *argument) {
  const uint64_t user = (uintptr_t)argument;
  switch ((uint32_t)request) {
  case (uint32_t)EMULATOR_IOCTL_FAULT:
    return last_fault(user);
  case (uint32_t)EMULATOR_IOCTL_COUNTERS: {
    const struct emulator_counters counters = {
        .warp_instructions = atomic_load(&emu_engine.instructions),
        .grids = atomic_load(&emu_engine.grids),
        .ctas = atomic_load(&emu_engine.ctas),
    };
    return emu_copy_to_user(user, &counters, sizeof(counters));
  }
  case (uint32_t)EMULATOR_IOCTL_MODES: {
    const struct emulator_modes modes = {emu_options()->check, emu_options()->profile};
    return emu_copy_to_user(user, &modes, sizeof(modes));
  }
  case (uint32_t)EMULATOR_IOCTL_NOTE:
    return add_note(user);
  case (uint32_t)EMULATOR_IOCTL_GRID:
    return read_grid_record(user);
  default:
    return -ENOTTY;
  }
}

int emu_counters_open(void) {
  static const struct emu_object_ops ops = {.kind = EMU_COUNTER_NODE, .ioctl = counters_ioctl};
  return emu_object_open(&ops, "tegracl-emulator");
}
