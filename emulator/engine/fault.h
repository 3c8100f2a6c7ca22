/* Faults: their record, and their effect on a TSG. */
#ifndef TEGRACL_EMULATOR_FAULT_H
#define TEGRACL_EMULATOR_FAULT_H

#include <stdint.h>

#include "gpu/nvgpu/emulator_node.h"

struct emu_channel;
struct emu_tsg;

/* A fault as the engine finds it. emu_fault_raise completes it. */
struct emu_fault {
  uint32_t notifier;             /* enum error_notifier_code */
  uint32_t warp_esr, global_esr; /* SM exceptions: for READ_SINGLE_SM_ERROR_STATE */
  struct emulator_fault record;
};

/* Fills in a fault; address: where, or 0; format: the message. */
void emu_fault_set(struct emu_fault *fault, uint32_t notifier, uint64_t address, const char *format,
                   ...) __attribute__((format(printf, 4, 5)));
/* Records the fault and ends the channel's TSG. Takes gpu.lock. */
void emu_fault_raise(struct emu_channel *channel, const struct emu_fault *fault);
/* emu_fault_raise with gpu.lock held. */
void emu_fault_raise_locked(struct emu_channel *channel, const struct emu_fault *fault);
/* Ends a TSG's channels. Notifier 0: none is written. gpu.lock held. */
void emu_tsg_abort(struct emu_tsg *tsg, uint32_t notifier);
/* A new fd of EMULATOR_NODE_PATH, or -errno. */
int emu_counters_open(void);

#endif
