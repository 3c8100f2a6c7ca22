/* SET_RENDER_ENABLE of the compute and copy classes: conditional work. methods.csv has the modes.
 * The operands are those that Mesa's drivers use: the payload of a 64-bit report (nvk), and of the
 * report 16 bytes after it to compare with (nouveau). */
#include "emulator/engine/condition.h"

#include "emulator/engine/fault.h"
#include "emulator/engine/mmu.h"
#include "gpu/hw/host.h"
#include "gpu/hw/methods.h"

bool emu_condition_read(struct emu_as *as, const struct emu_condition *c, bool *holds,
                        struct emu_fault *fault) {
  struct semaphore_report reports[2];
  switch (c->mode) {
  case RENDER_ENABLE_NEVER:
    *holds = false;
    return true;
  case RENDER_ENABLE_CONDITIONAL:
  case RENDER_ENABLE_IF_EQUAL:
  case RENDER_ENABLE_IF_NOT_EQUAL:
    break;
  default:
    emu_fault_set(fault, NOTIFIER_GR_EXCEPTION, c->address, "SET_RENDER_ENABLE: mode %u is illegal",
                  c->mode);
    return false;
  }
  if (c->address % sizeof(reports[0])) {
    emu_fault_set(fault, NOTIFIER_GR_EXCEPTION, c->address,
                  "SET_RENDER_ENABLE: address 0x%llx is not a multiple of 16",
                  (unsigned long long)c->address);
    return false;
  }
  bool one = c->mode == RENDER_ENABLE_CONDITIONAL;
  if (!emu_mmu_read(as, c->address, reports, one ? sizeof(reports[0]) : sizeof(reports), fault))
    return false;
  if (one)
    *holds = reports[0].payload != 0;
  else
    *holds = (reports[0].payload == reports[1].payload) == (c->mode == RENDER_ENABLE_IF_EQUAL);
  return true;
}
