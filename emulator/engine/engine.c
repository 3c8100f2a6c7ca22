/* The host engine: one thread that runs the channels in turn (runlist.c). When it has no work it
 * spins for a short time before it sleeps, so that a client that submits steadily does not need a
 * system call to wake it. It does not spin for clients that submit rarely. */
#include "emulator/engine/engine.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/thread.h"
#include "emulator/engine/channel_engine.h"
#include "emulator/engine/grid.h"
#include "emulator/engine/mme.h"
#include "emulator/engine/mmu.h"
#include "emulator/engine/pushbuffer.h"
#include "emulator/engine/runlist.h"
#include "emulator/engine/sked.h"
#include "emulator/gpu.h"
#include "emulator/kernel/channel.h"
#include "emulator/kernel/power.h"
#include "emulator/kernel/usermode.h"
#include "emulator/modes/adversary.h"
#include "emulator/modes/stale.h"
#include "emulator/objects.h"
#include "gpu/hw/host.h"

struct emu_engine emu_engine = {.serviced = PTHREAD_COND_INITIALIZER};

enum {
  SPIN_NS = 50000, /* idle time before the engine sleeps */
  MOVE_INTERVAL_NS = 2000000,
  BLOCKED_SPIN_NS = 100000, /* time of polling a semaphore before pauses begin */
  PAUSE_MIN_NS = 20000,
  BLOCKED_PAUSE_MAX_NS = 500000,
  WATCH_PAUSE_MAX_NS = 4000000,
  NS_PER_S = 1000000000,
};

static void futex_wait(_Atomic uint32_t *word, uint32_t value, const struct timespec *timeout) {
  syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, timeout, NULL, 0);
}

static void futex_wake(_Atomic uint32_t *word) {
  syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

static void pause_spinning(void) {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

void emu_engine_wake(void) {
  atomic_fetch_add(&emu_engine.doorbell_count, 1);
  /* Wakes only once for each sleep, even if the engine takes long to wake up. */
  if (atomic_load(&emu_engine.asleep) && atomic_exchange(&emu_engine.asleep, 0)) {
    atomic_store_explicit(&emu_engine.woken_ns, base_clock_ns(), memory_order_relaxed);
    futex_wake(&emu_engine.doorbell_count);
  }
}

/* Tokens that belong to no channel are ignored (docs/hardware/command-stream.md 1.4). While an
 * earlier doorbell is pending, the engine is awake or about to be, so this one need not wake it. */
void emu_doorbell(uint32_t token) {
  uint32_t id = hw_field(token, WORK_SUBMIT_TOKEN_CHANNEL);
  if (id >= EMU_CHANNELS || hw_field(token, WORK_SUBMIT_TOKEN_RUNLIST))
    return;
  const uint64_t bit = UINT64_C(1) << (id % 64);
  if (atomic_fetch_or(&emu_engine.doorbells[id / 64], bit) & bit)
    return;
  atomic_store_explicit(&emu_engine.bell_cpu, sched_getcpu(), memory_order_relaxed);
  emu_engine_wake();
}

/* Schedules the channels whose doorbells were rung. The caller holds gpu.lock. */
static void collect_doorbells(void) {
  emu_usermode_collect();
  for (int i = 0; i < EMU_CHANNELS / 64; i++) {
    uint64_t bits = atomic_load_explicit(&emu_engine.doorbells[i], memory_order_relaxed);
    if (!bits)
      continue;
    bits = atomic_exchange(&emu_engine.doorbells[i], 0);
    for (; bits; bits &= bits - 1) {
      struct emu_channel *channel = emu_channels.by_id[i * 64 + __builtin_ctzll(bits)];
      if (channel && channel->in_runlist && !channel->engine->scheduled) {
        channel->engine->scheduled = true;
        emu_engine.scheduled_count++;
      }
    }
  }
}

bool emu_channel_busy(const struct emu_channel *channel) {
  const uint64_t bit = UINT64_C(1) << (channel->id % 64);
  return channel->engine->scheduled || (atomic_load(&emu_engine.doorbells[channel->id / 64]) & bit);
}

bool emu_engine_others_wait(const struct emu_channel *channel) {
  if (atomic_load_explicit(&emu_engine.scheduled_count, memory_order_relaxed) > 1 ||
      atomic_load_explicit(&emu_engine.settling, memory_order_relaxed))
    return true;
  for (int i = 0; i < EMU_CHANNELS / 64; i++) {
    uint64_t own =
        (uint32_t)i == channel->id / 64 ? UINT64_C(1) << (channel->id % 64) : UINT64_C(0);
    if (atomic_load_explicit(&emu_engine.doorbells[i], memory_order_relaxed) & ~own)
      return true;
  }
  return emu_usermode_rung_for_other(channel);
}

void emu_channel_unschedule(struct emu_channel *channel) {
  if (channel->engine->scheduled) {
    channel->engine->scheduled = false;
    emu_engine.scheduled_count--;
  }
}

/* Returns whether the last submission came from another core. On the same core, spinning would keep
 * the submitter from running. */
static bool may_spin(void) {
  return emu_engine.cpus > 1 &&
         atomic_load_explicit(&emu_engine.bell_cpu, memory_order_relaxed) != sched_getcpu();
}

/* Moves to a core other than the submitter's, if the process may use one. The scheduler may move
 * the thread again. This is done rarely, because on a busy machine the scheduler chooses better. */
static void move_away(void) {
  static uint64_t last;
  cpu_set_t all, others;
  uint64_t now = base_clock_ns();
  if (emu_engine.cpus < 2 || now - last < MOVE_INTERVAL_NS ||
      sched_getaffinity(0, sizeof(all), &all) < 0)
    return;
  last = now;
  others = all;
  CPU_CLR((size_t)atomic_load(&emu_engine.bell_cpu), &others);
  if (CPU_COUNT(&others) && sched_setaffinity(0, sizeof(others), &others) == 0)
    sched_setaffinity(0, sizeof(all), &all);
}

/* Returns the pause between two reads of memory whose changes are not announced. It grows with the
 * time waited. */
static struct timespec pause_after(uint64_t waited_ns, uint64_t max_ns) {
  uint64_t ns = waited_ns / 8;
  ns = ns < PAUSE_MIN_NS ? PAUSE_MIN_NS : ns;
  return (struct timespec){.tv_nsec = (long)(ns < max_ns ? ns : max_ns)};
}

/* Spins until the doorbell count differs from seen or a watched doorbell rings. Returns false if
 * that has not happened by end. */
static bool spin_until_work(uint32_t seen, uint64_t end) {
  do {
    for (int i = 0; i < 32; i++) {
      if (atomic_load_explicit(&emu_engine.doorbell_count, memory_order_relaxed) != seen ||
          emu_usermode_rung())
        return true;
      pause_spinning();
    }
  } while (base_clock_ns() < end && may_spin());
  return false;
}

/* Sleeps until the doorbell count differs from seen, a watched doorbell rings, or the deadline has
 * passed (0 means no deadline). Spins first if work came soon after the end of the last work. That
 * does not include the time that this thread took to wake up, which may be longer than it spins.
 * When a watched doorbell rang is unknown, so with these it always spins. */
static void sleep_until_work(uint32_t seen, uint64_t deadline) {
  static bool soon = true;
  const uint64_t since = base_clock_ns();
  const bool spin = soon || emu_usermode_watched();
  if (spin && !may_spin())
    move_away();
  if (spin && may_spin() && spin_until_work(seen, since + SPIN_NS))
    return;
  uint64_t now = since;
  for (; atomic_load(&emu_engine.doorbell_count) == seen && !emu_usermode_rung() &&
         (!deadline || now < deadline);
       now = base_clock_ns()) {
    struct timespec timeout = pause_after(now - since, WATCH_PAUSE_MAX_NS);
    if (!emu_usermode_watched() && deadline)
      timeout = (struct timespec){.tv_sec = (time_t)((deadline - now) / NS_PER_S),
                                  .tv_nsec = (long)((deadline - now) % NS_PER_S)};
    atomic_store(&emu_engine.asleep, 1);
    if (atomic_load(&emu_engine.doorbell_count) == seen)
      futex_wait(&emu_engine.doorbell_count, seen,
                 emu_usermode_watched() || deadline ? &timeout : NULL);
  }
  atomic_store(&emu_engine.asleep, 0);
  const uint64_t woken = atomic_load_explicit(&emu_engine.woken_ns, memory_order_relaxed);
  soon = (woken > since ? woken : now) - since < SPIN_NS;
}

/* Pauses, briefly at first and then longer, while all channels wait for semaphores. The CPU may
 * write these without a doorbell. The wait began at time since. */
static void pause_blocked(uint32_t seen, uint64_t since) {
  uint64_t waited = base_clock_ns() - since;
  if (waited < BLOCKED_SPIN_NS && may_spin()) {
    pause_spinning();
    return;
  }
  struct timespec timeout = pause_after(waited, BLOCKED_PAUSE_MAX_NS);
  atomic_store(&emu_engine.asleep, 1);
  if (atomic_load(&emu_engine.doorbell_count) == seen)
    futex_wait(&emu_engine.doorbell_count, seen, &timeout);
  atomic_store(&emu_engine.asleep, 0);
}

static void *engine_main(void *unused) {
  int blocked_in_a_row = 0;
  uint64_t blocked_since = 0;
  pthread_mutex_lock(&emu_gpu.lock);
  while (!atomic_load(&emu_engine.stop)) {
    uint32_t seen = atomic_load(&emu_engine.doorbell_count);
    collect_doorbells();
    struct emu_channel *channel = emu_runlist_pick();
    if (!channel) {
      const uint64_t deadline = emu_power_deadline();
      pthread_mutex_unlock(&emu_gpu.lock);
      sleep_until_work(seen, deadline);
      pthread_mutex_lock(&emu_gpu.lock);
      continue;
    }
    emu_engine.servicing = channel;
    pthread_mutex_unlock(&emu_gpu.lock);
    enum emu_outcome outcome = emu_pushbuffer_run(channel);
    pthread_mutex_lock(&emu_gpu.lock);
    emu_engine.servicing = NULL;
    channel->engine->turns++;
    if (emu_engine.leaving)
      pthread_cond_broadcast(&emu_engine.serviced);
    if (outcome == EMU_IDLE)
      emu_channel_unschedule(channel);
    if (outcome == EMU_GAVE_UP)
      emu_runlist_yield();
    emu_runlist_waited(channel, outcome == EMU_BLOCKED);
    if (outcome != EMU_BLOCKED) {
      blocked_in_a_row = 0;
      continue;
    }
    if (blocked_in_a_row++ == 0)
      blocked_since = base_clock_ns();
    if (blocked_in_a_row >= emu_engine.scheduled_count) {
      pthread_mutex_unlock(&emu_gpu.lock);
      pause_blocked(seen, blocked_since);
      pthread_mutex_lock(&emu_gpu.lock);
    }
  }
  pthread_mutex_unlock(&emu_gpu.lock);
  return unused;
}

uint64_t emu_turn_end(struct emu_channel *channel) {
  enum { TURN_NS = 1000000, SHORT_TURN_NS = 100000 };
  /* In adversarial mode turns are short and random, which interleaves the work of channels. */
  return emu_time_ns() +
         (emu_adversary.on ? emu_adversary_below(&channel->engine->adversary.random, SHORT_TURN_NS)
                           : TURN_NS);
}

void emu_engine_leave(struct emu_channel *channel) {
  const uint32_t turn = channel->engine->turns;
  emu_engine.leaving++;
  while (emu_engine.servicing == channel && channel->engine->turns == turn)
    pthread_cond_wait(&emu_engine.serviced, &emu_gpu.lock);
  emu_engine.leaving--;
}

void emu_engine_preempt(struct emu_tsg *tsg) {
  struct emu_channel *channel = emu_engine.servicing;
  emu_runlist_yield();
  if (!channel || channel->tsg != tsg)
    return;
  emu_object_get(&channel->object);
  emu_engine_leave(channel);
  emu_object_put(&channel->object);
}

struct emu_channel_engine *emu_channel_engine_create(void) {
  struct emu_channel_engine *e = aligned_alloc(_Alignof(struct emu_channel_engine), sizeof(*e));
  if (!e)
    return NULL;
  memset(e, 0, sizeof(*e));
  e->subdevice_mask = 1;
  e->grids_tail = &e->grids;
  return e;
}

void emu_channel_engine_destroy(struct emu_channel_engine *engine) {
  if (engine) {
    free(engine->mme);
    emu_grid_free(engine->spare_grid);
  }
  free(engine);
}

void emu_channel_drop_work(struct emu_channel *channel) {
  struct emu_channel_engine *e = channel->engine;
  emu_channel_unschedule(channel);
  emu_grids_drop(channel);
  emu_sked_drop(channel);
  e->copy.launched = false;
  e->copy.transfer_count = 0;
  e->copy.posted.bytes = 0;
  emu_mme_drop(e->mme);
  if (channel->as)
    emu_unpin(channel->as, &e->pin, true);
  e->ring = (struct emu_ring){.put = e->gp_get};
  e->fetch = (struct emu_fetch){0};
  e->run.count = 0;
}

/* Waits while another thread stops the engine. The caller holds gpu.lock, which is released
 * meanwhile. */
static void wait_for_stop(void) {
  while (emu_engine.stopping)
    pthread_cond_wait(&emu_engine.serviced, &emu_gpu.lock);
}

int emu_engine_start(void) {
  wait_for_stop();
  if (emu_engine.running)
    return 0;
  int helpers = emu_engine.cpus - 1 < EMU_HELPERS_MAX ? emu_engine.cpus - 1 : EMU_HELPERS_MAX;
  emu_engine.pool = emu_pool_create(helpers);
  if (!emu_engine.pool)
    return -ENOMEM;
  atomic_store(&emu_engine.stop, false);
  int error = -base_thread_start(&emu_engine.thread, engine_main, NULL);
  if (error) {
    emu_pool_destroy(emu_engine.pool);
    emu_engine.pool = NULL;
    return error;
  }
  emu_engine.running = true;
  return 0;
}

void emu_engine_stop(void) {
  wait_for_stop();
  if (!emu_engine.running)
    return;
  emu_engine.stopping = true;
  atomic_store(&emu_engine.stop, true);
  emu_engine_wake();
  pthread_mutex_unlock(&emu_gpu.lock);
  pthread_join(emu_engine.thread, NULL);
  pthread_mutex_lock(&emu_gpu.lock);
  emu_pool_destroy(emu_engine.pool);
  emu_engine.pool = NULL;
  emu_stale_stop();
  emu_engine.running = false;
  emu_engine.stopping = false;
  pthread_cond_broadcast(&emu_engine.serviced);
}
