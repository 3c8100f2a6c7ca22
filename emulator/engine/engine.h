/* The engine thread, which gives the channels their turns. */
#ifndef TEGRACL_EMULATOR_ENGINE_H
#define TEGRACL_EMULATOR_ENGINE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "emulator/gpu.h"

struct emu_channel;
struct emu_tsg;
struct emu_worker_pool;

extern struct emu_engine {
  bool running, stopping;
  int leaving;         /* threads that wait on serviced until the engine leaves a channel */
  atomic_int settling; /* threads that count a channel's turns; grids' turns must end for them */
  _Atomic int scheduled_count;
  pthread_t thread;
  atomic_bool stop;
  struct emu_channel *servicing; /* under gpu.lock */
  pthread_cond_t serviced;
  _Atomic uint64_t doorbells[EMU_CHANNELS / 64];
  _Atomic uint32_t doorbell_count;
  _Atomic uint32_t asleep;
  atomic_int bell_cpu; /* the CPU of the last doorbell; -1: unknown */
  int cpus;            /* that the process may use */
  struct emu_worker_pool *pool;
  _Atomic uint64_t instructions, grids, ctas;
  uint64_t fault_serial;
} emu_engine;

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
