/* Which channel has its turn next. gpu.lock held. */
#ifndef TEGRACL_EMULATOR_RUNLIST_H
#define TEGRACL_EMULATOR_RUNLIST_H

#include <stdbool.h>

struct emu_channel;
struct emu_tsg;

/* nvgpu, include/nvgpu/defaults.h, NVGPU_DEFAULT_POLL_TIMEOUT_MS */
enum { EMU_SWITCH_LIMIT_MS = 3000 };

/* The channel whose turn it is, or NULL. The engine's thread. */
struct emu_channel *emu_runlist_pick(void);
/* Whether the TSG's grids must give way to another TSG, so that none starts. The engine's
 * thread. */
bool emu_runlist_gives_way(const struct emu_tsg *tsg);
/* Ends the time slice of its TSG early. */
void emu_runlist_yield(void);
/* Records how a turn ended. The slice ends when all channels of the TSG have waited in a row. */
void emu_runlist_waited(const struct emu_channel *channel, bool waited);

#endif
