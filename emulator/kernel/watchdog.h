/* The watchdog for rings that the driver writes. Its thread runs while there are any. */
#ifndef TEGRACL_EMULATOR_WATCHDOG_H
#define TEGRACL_EMULATOR_WATCHDOG_H

#include <stdint.h>

struct emu_channel;

/* Returns how long the channel's work may make no progress. */
uint64_t emu_watchdog_limit_ns(const struct emu_channel *channel);
/* Starts watching a channel. Returns 0 or -errno. The caller holds gpu.lock. */
int emu_watchdog_start(struct emu_channel *channel);
/* Stops watching a channel. The caller holds gpu.lock, which is temporarily released after the last
 * channel. */
void emu_watchdog_stop(struct emu_channel *channel);
/* Restarts the limit of a channel if it is idle. Must be called before a submission, with gpu.lock
 * held. */
void emu_watchdog_submit(struct emu_channel *channel);

#endif
