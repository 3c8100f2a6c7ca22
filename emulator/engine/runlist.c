/* The runlist chooses the channel that runs next. TSGs are in the order of the list that nvgpu
 * builds (common/fifo/runlist.c): those of high level between all others, those of medium level
 * between those of low level. A TSG has the engine for its time slice, within which its channels
 * take turns. With ctxsw:MS it keeps the engine after its slice until its grids can be preempted in
 * its preemption mode, or until it is aborted. */
#include "emulator/engine/runlist.h"

#include "emulator/engine/channel_engine.h"
#include "emulator/engine/engine.h"
#include "emulator/engine/fault.h"
#include "emulator/engine/grid.h"
#include "emulator/gpu.h"
#include "emulator/kernel/channel.h"
#include "emulator/kernel/tsg.h"
#include "emulator/options.h"
#include "emulator/warn.h"
#include "gpu/hw/host.h"
#include "gpu/nvgpu/uapi.h"

enum {
  LEVELS = NVGPU_INTERLEAVE_HIGH + 1,
  NS_PER_US = 1000,
  NS_PER_MS = 1000000,
  LATE_PERIOD_MS = 100, /* nvgpu, include/nvgpu/fifo.h, CTXSW_TIMEOUT_PERIOD_MS */
};

/* Protected by gpu.lock. */
static struct {
  const void *tsg; /* the TSG that has the time slice; may be freed */
  uint64_t slice_end;
  int waited; /* consecutive turns of its channels that ended with a wait */
  /* How far the current pass over the TSGs of each level has come: the first channel id of the TSG
   * that had a slice last, or -1 at the start of a pass. */
  int passed[LEVELS];
  const void *late; /* the TSG that keeps the engine while others wait, or NULL */
  uint64_t late_at; /* end of the current late period */
} runlist = {.passed = {-1, -1, -1}};

static bool is_runnable(const struct emu_channel *channel) {
  return channel && channel->engine->scheduled && !channel->disabled && channel->in_runlist &&
         atomic_load(&channel->serviceable);
}

/* Returns the next TSG of the level in this pass, as the id of the first of its channels that can
 * run, or -1 if there is none. */
static int next_of_level(uint32_t level) {
  for (int i = runlist.passed[level] + 1; i < EMU_CHANNELS; i++) {
    const struct emu_channel *channel = emu_channels.by_id[i];
    if (!is_runnable(channel) || channel->tsg->interleave != level)
      continue;
    bool first = true;
    for (const struct emu_channel *c = channel->tsg->channels; c; c = c->next_in_tsg)
      first &= c->id >= channel->id || !is_runnable(c);
    if (first)
      return i;
  }
  return -1;
}

/* Notes that a TSG gets a slice of its level, which restarts the passes of the higher levels.
 * Returns id. */
static int take_slice(int level, int id) {
  runlist.passed[level] = id;
  for (int above = level + 1; above < LEVELS; above++)
    runlist.passed[above] = -1;
  return id;
}

/* Chooses the next TSG: all TSGs of high level before each one of a lower level, and all of medium
 * level before each one of low level. Returns the same as next_of_level. */
static int next_tsg(void) {
  for (int level = NVGPU_INTERLEAVE_HIGH; level >= NVGPU_INTERLEAVE_LOW; level--) {
    const int id = next_of_level((uint32_t)level);
    if (id >= 0)
      return take_slice(level, id);
  }
  /* The list ends with the lowest level that has a TSG, and restarts with the first TSG of that
   * level. */
  for (int level = NVGPU_INTERLEAVE_LOW; level <= NVGPU_INTERLEAVE_HIGH; level++) {
    runlist.passed[level] = -1;
    const int id = next_of_level((uint32_t)level);
    if (id >= 0)
      return take_slice(level, id);
  }
  return -1;
}

static struct emu_channel *next_channel(const struct emu_tsg *tsg) {
  for (uint32_t i = 1; i <= EMU_CHANNELS; i++) {
    struct emu_channel *channel = emu_channels.by_id[(tsg->last_channel + i) % EMU_CHANNELS];
    if (is_runnable(channel) && channel->tsg == tsg)
      return channel;
  }
  return NULL;
}

/* Returns the TSG that has the time slice, or NULL if the slice is over or the TSG is gone. */
static struct emu_tsg *current_tsg(uint64_t now) {
  for (int i = 0; now < runlist.slice_end && i < EMU_CHANNELS; i++)
    if (is_runnable(emu_channels.by_id[i]) && emu_channels.by_id[i]->tsg == runlist.tsg)
      return emu_channels.by_id[i]->tsg;
  return NULL;
}

/* ---- ctxsw:MS ---- */

bool emu_runlist_gives_way(const struct emu_tsg *tsg) {
  return runlist.late == tsg;
}

/* Returns whether running work of the channel keeps the engine. DISABLE does not stop such work. */
static bool keeps_engine(const struct emu_channel *channel) {
  return channel && channel->engine->scheduled && channel->tsg && channel->tsg == runlist.tsg &&
         atomic_load(&channel->serviceable) && !emu_grids_give_way(channel);
}

/* Counts a late period, and returns whether the TSG must be aborted. The count restarts when GP_GET
 * has moved, but only for channels with a ring of the kernel driver. For other channels, all late
 * periods of their lifetime add up. See nvgpu, common/fifo/tsg.c, nvgpu_tsg_check_ctxsw_timeout,
 * and common/fifo/channel.c, nvgpu_channel_update_and_check_ctxsw_timeout. */
static bool is_too_late(struct emu_tsg *tsg) {
  for (struct emu_channel *c = tsg->channels; c; c = c->next_in_tsg) {
    const uint32_t get = c->submit ? c->engine->gp_get : c->switch_late_get;
    if (get != c->switch_late_get) {
      c->switch_late_get = get;
      for (struct emu_channel *other = tsg->channels; other; other = other->next_in_tsg)
        other->switch_late_ms = LATE_PERIOD_MS;
      return false;
    }
    c->switch_late_ms += LATE_PERIOD_MS;
    if (c->switch_late_ms > c->switch_limit_ms)
      return true;
  }
  return false;
}

/* Returns a channel of the slice's TSG if the TSG keeps the engine while others wait, else NULL.
 * Aborts the TSG if this takes too long. Must be called after the end of a slice. */
static struct emu_channel *late_channel(uint64_t now) {
  struct emu_channel *late = NULL;
  bool others = false;
  uint32_t last = 0;
  for (uint32_t i = 0; i < EMU_CHANNELS; i++) {
    const struct emu_channel *channel = emu_channels.by_id[i];
    others |= is_runnable(channel) && channel->tsg != runlist.tsg;
    if (keeps_engine(channel))
      last = channel->tsg->last_channel;
  }
  for (uint32_t i = 1; others && !late && i <= EMU_CHANNELS; i++) {
    struct emu_channel *channel = emu_channels.by_id[(last + i) % EMU_CHANNELS];
    late = keeps_engine(channel) ? channel : NULL;
  }
  if (!late) {
    runlist.late = NULL;
    return NULL;
  }
  const uint64_t period =
      emu_options()->switch_ms * NS_PER_MS * LATE_PERIOD_MS / EMU_SWITCH_LIMIT_MS;
  if (runlist.late != late->tsg) {
    runlist.late = late->tsg;
    runlist.late_at = now + period;
  }
  for (; period && now >= runlist.late_at; runlist.late_at += period) {
    if (!is_too_late(late->tsg))
      continue;
    emu_warn(
        "a grid (with CTA preemption, a work-group) kept another TSG waiting for 3 s: its TSG is "
        "aborted with notifier 8; make kernels shorter, or use CILP",
        "nvgpu, common/fifo/tsg.c, nvgpu_tsg_check_ctxsw_timeout");
    emu_tsg_abort(late->tsg, NOTIFIER_IDLE_TIMEOUT);
    runlist.late = NULL;
    return NULL;
  }
  late->tsg->last_channel = late->id;
  return late;
}

struct emu_channel *emu_runlist_pick(void) {
  const uint64_t now = emu_time_ns();
  if (!emu_engine.scheduled_count)
    return NULL;
  struct emu_tsg *tsg = current_tsg(now);
  if (!tsg && emu_options()->switches) {
    struct emu_channel *late = late_channel(now);
    if (late)
      return late;
  }
  if (!tsg) {
    const int id = next_tsg();
    if (id < 0)
      return NULL;
    tsg = emu_channels.by_id[id]->tsg;
    runlist.tsg = tsg;
    runlist.slice_end = now + (uint64_t)tsg->timeslice_us * NS_PER_US;
    runlist.waited = 0;
  }
  struct emu_channel *channel = next_channel(tsg);
  tsg->last_channel = channel->id;
  return channel;
}

void emu_runlist_yield(void) {
  runlist.slice_end = 0;
}

void emu_runlist_waited(const struct emu_channel *channel, bool waited) {
  runlist.waited = waited ? runlist.waited + 1 : 0;
  if (waited && (!channel->tsg || runlist.waited >= channel->tsg->channel_count))
    emu_runlist_yield();
}
