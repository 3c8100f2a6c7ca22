/* The runlist: whose turn it is. TSGs follow each other as in the list that nvgpu
 * builds (common/fifo/runlist.c): those of the high level come between all others,
 * those of the medium level between the low ones. A TSG has the engine for its time
 * slice, and its channels take turns within it.
 */
#include "runtime/emulator/gpu.h"

enum { LEVELS = NVGPU_INTERLEAVE_HIGH + 1, NS_PER_US = 1000 };

/* gpu.lock guards it. */
static struct {
  const void *tsg; /* whose slice it is; it may be gone */
  uint64_t slice_end;
  int waited; /* turns in a row, of its channels, that ended waiting */
  /* In each level, how far the pass over its TSGs is: the first channel id of the
   * last TSG that had its slice; -1: at the beginning. */
  int passed[LEVELS];
} runlist = {.passed = {-1, -1, -1}};

static bool runnable(const struct emu_channel *channel) {
  return channel && channel->scheduled && !channel->disabled && channel->tsg &&
         atomic_load(&channel->serviceable);
}

/* The next TSG of the level in this pass: the id of one of its channels, or -1. A
 * TSG is known by the first of its channels that can run. */
static int next_of_level(uint32_t level) {
  for (int i = runlist.passed[level] + 1; i < EMU_CHANNELS; i++) {
    const struct emu_channel *channel = emu_gpu.channels[i];
    if (!runnable(channel) || channel->tsg->interleave != level)
      continue;
    bool first = true;
    for (const struct emu_channel *c = channel->tsg->channels; c; c = c->next_in_tsg)
      first &= c->id >= channel->id || !runnable(c);
    if (first)
      return i;
  }
  return -1;
}

/* What lies above the level of a TSG that has its slice begins again. */
static int take(int level, int id) {
  runlist.passed[level] = id;
  for (int above = level + 1; above < LEVELS; above++)
    runlist.passed[above] = -1;
  return id;
}

/* All of the high level, then one of the medium level and so on; when the medium
 * level has been passed, one of the low level. */
static int next_tsg(void) {
  for (int level = NVGPU_INTERLEAVE_HIGH; level >= NVGPU_INTERLEAVE_LOW; level--) {
    const int id = next_of_level((uint32_t)level);
    if (id >= 0)
      return take(level, id);
  }
  /* The list ends with the lowest level that has any, which goes on with its first. */
  for (int level = NVGPU_INTERLEAVE_LOW; level <= NVGPU_INTERLEAVE_HIGH; level++) {
    runlist.passed[level] = -1;
    const int id = next_of_level((uint32_t)level);
    if (id >= 0)
      return take(level, id);
  }
  return -1;
}

static struct emu_channel *next_channel(const struct emu_tsg *tsg) {
  for (uint32_t i = 1; i <= EMU_CHANNELS; i++) {
    struct emu_channel *channel = emu_gpu.channels[(tsg->last_channel + i) % EMU_CHANNELS];
    if (runnable(channel) && channel->tsg == tsg)
      return channel;
  }
  return NULL;
}

/* Whose slice it is, if it is not over and the TSG is still there. */
static struct emu_tsg *current_tsg(uint64_t now) {
  for (int i = 0; now < runlist.slice_end && i < EMU_CHANNELS; i++)
    if (runnable(emu_gpu.channels[i]) && emu_gpu.channels[i]->tsg == runlist.tsg)
      return emu_gpu.channels[i]->tsg;
  return NULL;
}

struct emu_channel *emu_runlist_pick(void) {
  const uint64_t now = emu_time_ns();
  if (!emu_gpu.scheduled_count)
    return NULL;
  struct emu_tsg *tsg = current_tsg(now);
  if (!tsg) {
    const int id = next_tsg();
    if (id < 0)
      return NULL;
    tsg = emu_gpu.channels[id]->tsg;
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
