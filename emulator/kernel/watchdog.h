/* The watchdog of rings that the driver writes: one thread, while there are any. */
#ifndef TEGRACL_EMULATOR_WATCHDOG_H
#define TEGRACL_EMULATOR_WATCHDOG_H

#include <stdint.h>

struct emu_channel;

/* For how long the channel's work may make no progress. */
uint64_t emu_watchdog_limit_ns(const struct emu_channel *channel);
/* Watches a channel: 0 or -errno. gpu.lock held. */
int emu_watchdog_start(struct emu_channel *channel);
/* Ends the watch. gpu.lock is held; if it was the last channel, it is released meanwhile. */
void emu_watchdog_stop(struct emu_channel *channel);
/* Call before work is submitted: a channel without work gets the whole limit. gpu.lock held. */
void emu_watchdog_submit(struct emu_channel *channel);

#endif
