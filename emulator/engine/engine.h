/* The engine thread, which runs the channels in turn. */
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
  int leaving;         /* threads in emu_engine_leave, which wait on serviced */
  atomic_int settling; /* threads that wait for turns to end, which grids then do */
  _Atomic int scheduled_count;
  pthread_t thread;
  atomic_bool stop;
  struct emu_channel *servicing; /* under gpu.lock */
  pthread_cond_t serviced;
  _Atomic uint64_t doorbells[EMU_CHANNELS / 64];
  _Atomic uint32_t doorbell_count; /* a futex, incremented to wake the thread */
  _Atomic uint32_t asleep;         /* the thread waits on doorbell_count */
  atomic_int bell_cpu;             /* the CPU of the last doorbell; -1: unknown */
  int cpus;                        /* number that the process may use */
  struct emu_worker_pool *pool;
  _Atomic uint64_t instructions, grids, ctas; /* executed so far */
  uint64_t fault_serial;
} emu_engine;

/* When a turn of the channel that begins now ends, on emu_time_ns. */
uint64_t emu_turn_end(struct emu_channel *channel);
/* Starts the engine thread if none runs: 0 or -errno. gpu.lock held. */
int emu_engine_start(void);
/* Stops and joins the engine thread; no channel is left. gpu.lock is held, and released
 * meanwhile. */
void emu_engine_stop(void);
/* Call after a change that the engine must see. */
void emu_engine_wake(void);
/* A store of a token to the doorbell. */
void emu_doorbell(uint32_t token);
/* Whether another channel has work or a thread waits for turns to end, so that the channel's turn
 * must end in time. */
bool emu_engine_others_wait(const struct emu_channel *channel);
/* Waits for the end of the channel's turn, if it has one. Other turns may follow, unless the
 * channel cannot run. gpu.lock is held, and released meanwhile. */
void emu_engine_leave(struct emu_channel *channel);
/* Ends the current time slice, and waits for the end of a turn of the TSG's channels. On return a
 * disabled channel has stopped. gpu.lock is held, and released meanwhile. */
void emu_engine_preempt(struct emu_tsg *tsg);
/* Records that the channel has no work. gpu.lock held. */
void emu_channel_unschedule(struct emu_channel *channel);
/* Whether the channel has work, or its doorbell was rung. */
bool emu_channel_busy(const struct emu_channel *channel);
/* Drops the channel's work. It must not have its turn. gpu.lock held. */
void emu_channel_drop_work(struct emu_channel *channel);

#endif
