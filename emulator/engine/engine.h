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

enum { EMU_CACHE_LINE = 64 }; /* bytes that one core has to give up before another may write them */

extern struct emu_engine {
  bool running, stopping;
  int leaving;         /* threads in emu_engine_leave, waiting on serviced */
  atomic_int settling; /* threads that wait for turns to end; grids end theirs when it is nonzero */
  _Atomic int scheduled_count;
  pthread_t thread;
  atomic_bool stop;
  struct emu_channel *servicing; /* under gpu.lock */
  pthread_cond_t serviced;
  _Alignas(EMU_CACHE_LINE) _Atomic uint64_t doorbells[EMU_CHANNELS / 64]; /* clients write them */
  _Atomic uint32_t doorbell_count; /* a futex, incremented to wake the thread */
  _Atomic uint32_t asleep;         /* the thread waits on doorbell_count */
  _Atomic uint64_t woken_ns;       /* when it was last woken */
  atomic_int bell_cpu;             /* CPU of the last doorbell, or -1 if unknown */
  int cpus;                        /* number of CPUs that the process may use */
  struct emu_worker_pool *pool;
  _Alignas(EMU_CACHE_LINE) _Atomic uint64_t instructions, grids, ctas; /* executed so far */
  uint64_t fault_serial;
} emu_engine;

/* Returns when a turn that begins now must end, in the time of emu_time_ns. */
uint64_t emu_turn_end(struct emu_channel *channel);
/* Starts the engine thread if it is not running. Returns 0 or -errno. The caller holds gpu.lock. */
int emu_engine_start(void);
/* Stops and joins the engine thread. There must be no channels. The caller holds gpu.lock, which is
 * released meanwhile. */
void emu_engine_stop(void);
/* Wakes the engine. Call after a change that it must see. */
void emu_engine_wake(void);
/* Rings the doorbell of the channel with this token. */
void emu_doorbell(uint32_t token);
/* Returns whether another channel has work or a thread waits for turns to end, so that the turn of
 * this channel must not last longer. */
bool emu_engine_others_wait(const struct emu_channel *channel);
/* Waits until the channel's turn, if it has one, ends. More turns may follow if the channel can
 * still run. The caller holds gpu.lock, which is released meanwhile. */
void emu_engine_leave(struct emu_channel *channel);
/* Ends the current time slice and waits until the turn of a channel of the TSG ends. A disabled
 * channel has stopped on return. The caller holds gpu.lock, which is released meanwhile. */
void emu_engine_preempt(struct emu_tsg *tsg);
/* Records that the channel has no work. The caller holds gpu.lock. */
void emu_channel_unschedule(struct emu_channel *channel);
/* Returns whether the channel has work or its doorbell was rung. */
bool emu_channel_busy(const struct emu_channel *channel);
/* Drops the channel's work. The channel must not be running. The caller holds gpu.lock. */
void emu_channel_drop_work(struct emu_channel *channel);

#endif
