/* The engine thread, which gives the channels their turns. */
#ifndef TEGRACL_EMULATOR_ENGINE_H
#define TEGRACL_EMULATOR_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

struct emu_channel;
struct emu_tsg;

/* The end of a turn of the channel that begins now, within its TSG's time slice. */
uint64_t emu_turn_end(struct emu_channel *channel);
/* Starts the engine thread if none runs: 0 or -errno. gpu.lock held. */
int emu_engine_start(void);
/* Joins it. gpu.lock is held, and released meanwhile; no channel is left. */
void emu_engine_stop(void);
/* Call after a change that the engine must see. */
void emu_engine_wake(void);
void emu_doorbell(uint32_t token);
/* Another channel has work, or a thread counts turns: a grid's turn may end. */
bool emu_engine_others_wait(const struct emu_channel *channel);
/* Waits for the end of the channel's turn, if it has one. No other turn follows if the channel
 * cannot run any more. gpu.lock held. */
void emu_engine_leave(struct emu_channel *channel);
/* Ends the TSG's time slice and its channel's turn, if any. The work of a disabled channel has
 * stopped on return. gpu.lock held. */
void emu_engine_preempt(struct emu_tsg *tsg);
void emu_channel_unschedule(struct emu_channel *channel);
/* Whether it has work, or a doorbell that was rung. */
bool emu_channel_busy(const struct emu_channel *channel);
/* Drops a channel's work. The engine must not be in it. */
void emu_channel_drop_work(struct emu_channel *channel);

#endif
