/* Faults: their records, and their effect on a TSG. */
#ifndef TEGRACL_EMULATOR_FAULT_H
#define TEGRACL_EMULATOR_FAULT_H

#include <stdint.h>

#include "gpu/nvgpu/emulator_node.h"

struct emu_channel;
struct emu_tsg;

/* A fault that the engine has detected. emu_fault_raise completes the record. */
struct emu_fault {
  uint32_t notifier;             /* enum error_notifier_code */
  uint32_t warp_esr, global_esr; /* of SM exceptions, for READ_SINGLE_SM_ERROR_STATE */
  struct emulator_fault record;
};

/* Sets *fault. address is where the fault occurred, or 0. format and the arguments after it are the
 * message. */
void emu_fault_set(struct emu_fault *fault, uint32_t notifier, uint64_t address, const char *format,
                   ...) __attribute__((format(printf, 4, 5)));
/* Records the fault and stops the channel's TSG. Takes gpu.lock. */
void emu_fault_raise(struct emu_channel *channel, const struct emu_fault *fault);
/* Like emu_fault_raise, for a caller that holds gpu.lock. */
void emu_fault_raise_locked(struct emu_channel *channel, const struct emu_fault *fault);
/* Wakes all that wait for the channel's work: nvgpu, common/fifo/channel.c,
 * nvgpu_channel_abort_clean_up. The caller holds gpu.lock. */
void emu_channel_clean_up(struct emu_channel *channel);
/* Stops the channels of a TSG and writes notifier to them, unless it is 0. The caller holds
 * gpu.lock. */
void emu_tsg_abort(struct emu_tsg *tsg, uint32_t notifier);
/* Returns a new file descriptor for EMULATOR_NODE_PATH, or -errno. */
int emu_counters_open(void);

#endif
