/* The watchdog of driver-written rings: one thread while there are any. */
#ifndef TEGRACL_EMULATOR_WATCHDOG_H
#define TEGRACL_EMULATOR_WATCHDOG_H

#include <stdint.h>

struct emu_channel;

/* How long the channel's work may make no progress. */
uint64_t emu_watchdog_limit_ns(const struct emu_channel *channel);
/* Both with gpu.lock held. 0 or -errno. */
int emu_watchdog_start(struct emu_channel *channel);
/* The last channel's stop releases gpu.lock meanwhile. */
void emu_watchdog_stop(struct emu_channel *channel);
/* Call before work is submitted: a channel without work gets the whole limit. gpu.lock held. */
void emu_watchdog_submit(struct emu_channel *channel);

#endif
