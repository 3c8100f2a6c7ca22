/* Chooses the channel that runs next. The caller holds gpu.lock. */
#ifndef TEGRACL_EMULATOR_RUNLIST_H
#define TEGRACL_EMULATOR_RUNLIST_H

#include <stdbool.h>

struct emu_channel;
struct emu_tsg;

/* The default of the context-switch timeout: nvgpu, include/nvgpu/defaults.h,
 * NVGPU_DEFAULT_POLL_TIMEOUT_MS. */
enum { EMU_SWITCH_LIMIT_MS = 3000 };

/* Returns the channel that runs next, or NULL. Call on the engine thread. */
struct emu_channel *emu_runlist_pick(void);
/* Returns whether the TSG must make room for another TSG, so that none of its grids may start. Call
 * on the engine thread. */
bool emu_runlist_gives_way(const struct emu_tsg *tsg);
/* Ends the current time slice. */
void emu_runlist_yield(void);
/* Records whether the channel's turn ended with a wait. The slice ends when all channels of the TSG
 * have waited in succession. */
void emu_runlist_waited(const struct emu_channel *channel, bool waited);

#endif
