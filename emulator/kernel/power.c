/* The GPU's power: references that keep it on, switching it off, and the effect on mappings of the
 * user-mode page. Callers hold gpu.lock.
 *
 * Two kinds of objects hold a reference: channels with deterministic submission, unless
 * SET_DETERMINISTIC_OPTS allows railgating, and submissions through the driver's own ring. Most
 * requests hold one while they run (side-effects.csv). Some time after the last reference is
 * dropped, the driver removes all mappings of the page, so that an access raises SIGBUS, and
 * switches the GPU off. Power-up restores the mappings: nvgpu, os/linux/module.c gk20a_busy and
 * gk20a_idle, os/linux/ioctl_ctrl.c alter_usermode_mappings. */
#include "emulator/kernel/power.h"

#include <errno.h>

#include "emulator/engine/engine.h"
#include "emulator/gpu.h"
#include "emulator/kernel/channel.h"
#include "emulator/kernel/ctrl.h"
#include "emulator/kernel/submit.h"
#include "emulator/kernel/usermode.h"
#include "emulator/modes/adversary.h"
#include "emulator/objects.h"
#include "emulator/options.h"
#include "emulator/warn.h"
#include "gpu/nvgpu/uapi.h"

struct emu_power emu_power;

enum { NS_PER_MS = 1000000 };

int emu_power_open(void) {
  static const struct emu_object_ops ops = {.kind = EMU_POWER, .node = NVGPU_POWER_NODE};
  return emu_object_open(&ops, "nvgpu-power");
}

static bool is_held(void) {
  for (int i = 0; i < EMU_CHANNELS; i++) {
    const struct emu_channel *c = emu_channels.by_id[i];
    if (c && ((c->deterministic && !c->railgating_allowed) || emu_submit_pending(c)))
      return true;
  }
  return false;
}

static uint64_t delay_ns(void) {
  return emu_options()->railgate_ms * NS_PER_MS;
}

static void alter_mappings(bool hide) {
  for (struct emu_ctrl *ctrl = emu_ctrls.mapped; ctrl; ctrl = ctrl->next_mapped)
    if (ctrl->hidden != hide)
      ctrl->hidden = emu_usermode_remap(ctrl, hide);
}

/* Switches the GPU off if that is due, even if no thread was running at the right time. */
static void switch_off_if_due(void) {
  if (!emu_power.on || emu_time_ns() - emu_power.last_busy_ns < delay_ns() || is_held())
    return;
  emu_power.on = false;
  alter_mappings(true);
}

void emu_power_use(void) {
  switch_off_if_due();
  if (!emu_power.on) {
    emu_adversary_power_up();
    emu_power.on = true;
    alter_mappings(false);
    emu_engine_wake(); /* so that the engine switches the GPU off when it is due */
  }
  emu_power.last_busy_ns = emu_time_ns();
}

int emu_power_use_in_mmap(void) {
  switch_off_if_due();
  for (const struct emu_ctrl *ctrl = emu_ctrls.mapped; ctrl && !emu_power.on;
       ctrl = ctrl->next_mapped)
    if (ctrl->hidden) {
      emu_warn("the kernel would hang: mmap of the user-mode page while the GPU is off and an "
               "older mapping of this process must be restored, which needs the mmap lock that "
               "this mmap holds; map the page only while a channel is open that has had its "
               "SETUP_BIND, and unmap it before the last such channel is closed",
               "nvgpu, os/linux/ioctl_ctrl.c, gk20a_ctrl_dev_mmap and alter_usermode_mappings");
      return -EDEADLK;
    }
  emu_power_use();
  return 0;
}

uint64_t emu_power_deadline(void) {
  if (!emu_ctrls.mapped)
    return 0;
  switch_off_if_due();
  return emu_power.on && !is_held() ? emu_power.last_busy_ns + delay_ns() : 0;
}
