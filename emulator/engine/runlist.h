/* Chooses the channel that has its turn next. gpu.lock held. */
#ifndef TEGRACL_EMULATOR_RUNLIST_H
#define TEGRACL_EMULATOR_RUNLIST_H

#include <stdbool.h>

struct emu_channel;
struct emu_tsg;

/* The default of the context-switch timeout: nvgpu, include/nvgpu/defaults.h,
 * NVGPU_DEFAULT_POLL_TIMEOUT_MS. */
enum { EMU_SWITCH_LIMIT_MS = 3000 };

/* The channel whose turn it is, or NULL. Engine thread. */
struct emu_channel *emu_runlist_pick(void);
/* Whether the TSG must give way to another TSG, so that none of its grids starts. Engine thread. */
bool emu_runlist_gives_way(const struct emu_tsg *tsg);
/* Ends the current time slice. */
void emu_runlist_yield(void);
/* Records how the channel's turn ended. When all channels of the TSG have waited in a row, the
 * slice ends. */
void emu_runlist_waited(const struct emu_channel *channel, bool waited);

#endif
