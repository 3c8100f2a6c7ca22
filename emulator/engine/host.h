/* Methods of the host: semaphores and waits. */
#ifndef TEGRACL_EMULATOR_HOST_H
#define TEGRACL_EMULATOR_HOST_H

#include <stdbool.h>
#include <stdint.h>

#include "emulator/engine/method.h"

struct emu_channel;
struct emu_fault;

struct emu_host_state {
  struct {
    uint32_t address_low, address_high, payload_low, payload_high;
  } sem;                     /* SEM_ADDR_LO to SEM_PAYLOAD_HI */
  uint64_t acquire_limit_ns; /* 0 means no limit */
  uint64_t waiting_since;    /* PTIMER time at which an acquire began to wait, or 0 */
};

/* Sets the time limit of acquires, as the driver does when it binds a channel: 80 % of the
 * watchdog's limit, or none without a watchdog (docs/hardware/command-stream.md 3.1). */
void emu_host_bind(struct emu_channel *channel);
/* Executes SEM_ADDR_LO, SEM_ADDR_HI, SEM_PAYLOAD_LO and SEM_PAYLOAD_HI at once. Returns false and
 * does nothing if one of them is wrong. */
bool emu_host_operands(struct emu_channel *channel, const uint32_t *words);
enum emu_step emu_host_method(struct emu_channel *channel, uint32_t method, uint32_t data,
                              struct emu_fault *fault);

#endif
