/* Assigns channels to queues. Opening or closing a channel preempts its TSG. If running work is not
 * preempted within 100 ms, opening fails, and closing kills all channels of the TSG
 * (docs/hardware.md, "Preemption"). Channels are also scarce (512 for all processes together). So a
 * TSG opens only a few channels, and none while it has unfinished work, keeps them, and shares them
 * among further queues. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "runtime/message.h"
#include "runtime/queue/queue.h"

enum {
  TSG_CHANNELS = 8, /* CUDA's default for its streams */
  /* When a process has this many channels, each TSG gets only one, to leave some for its other
   * contexts. */
  PROCESS_CHANNELS = 256,
};

static atomic_uint open_channels; /* of the process */

void rt_channels_forget(void) {
  atomic_store(&open_channels, 0);
}

static void destroy_channel(struct rt_channel *ch) {
  rt_channel_close(ch->context, ch);
  rt_ring_destroy(ch);
  base_mutex_destroy(&ch->lock);
  free(ch);
  atomic_fetch_sub(&open_channels, 1);
}

void rt_channels_destroy(struct rt_context *c, struct rt_tsg *tsg) {
  base_mutex_lock(&c->lock);
  struct rt_channel *ch = tsg->first_channel;
  tsg->first_channel = NULL;
  base_mutex_unlock(&c->lock);
  while (ch) {
    struct rt_channel *next = ch->next;
    destroy_channel(ch);
    ch = next;
  }
  if (tsg->half_open)
    destroy_channel(tsg->half_open);
  tsg->half_open = NULL;
}

static bool has_queues(const struct rt_tsg *tsg) {
  for (const struct rt_channel *ch = tsg->first_channel; ch; ch = ch->next)
    if (ch->queues)
      return true;
  return false;
}

static bool has_unfinished_work(const struct rt_tsg *tsg) {
  for (const struct rt_channel *ch = tsg->first_channel; ch; ch = ch->next)
    if (!rt_timeline_reached(ch->timeline, atomic_load(&ch->submitted)))
      return true;
  return false;
}

/* Returns whether a channel may be opened now. Opening one preempts unfinished work, which only
 * CILP can do at any instruction. */
static bool may_open(const struct rt_context *c, const struct rt_tsg *tsg) {
  if (tsg->half_open)
    return false;
  return !has_unfinished_work(tsg) ||
         atomic_load(&c->device->choices.value[RT_CHOICE_PREEMPTION]) == RT_PREEMPTION_CILP;
}

/* Destroys a channel that could not be set up, or keeps it open if the TSG has queues: another
 * thread may have submitted long work meanwhile, and closing the channel would kill it. */
static void give_up_channel(struct rt_tsg *tsg, struct rt_channel *ch) {
  if (ch->tsg && has_queues(tsg))
    tsg->half_open = ch;
  else
    destroy_channel(ch);
}

/* Opens a channel of the TSG. Returns NULL on failure, with the error in *error and a message. */
static struct rt_channel *create_channel(struct rt_context *c, struct rt_tsg *tsg, bool shared,
                                         int *error) {
  struct rt_channel *ch = calloc(1, sizeof(*ch));
  if (!ch) {
    *error = rt_fail(-ENOMEM, "out of memory while opening a channel");
    return NULL;
  }
  ch->context = c;
  ch->fd = -1;
  ch->shared = shared;
  base_mutex_init(&ch->lock, BASE_LOCK_RT_CHANNEL);
  atomic_fetch_add(&open_channels, 1);
  *error = rt_channel_open(c, tsg, ch);
  if (*error == 0)
    *error = rt_ring_create(ch);
  if (*error) {
    give_up_channel(tsg, ch);
    return NULL;
  }
  base_mutex_lock(&c->lock);
  ch->next = tsg->first_channel;
  tsg->first_channel = ch;
  base_mutex_unlock(&c->lock);
  return ch;
}

static void explain_failure(int error) {
  char cause[256];
  snprintf(cause, sizeof(cause), "%s", rt_last_message());
  rt_fail(error,
          "cannot open a GPU channel for the command queue (all processes together can have 512; "
          "this one has %u): %s",
          atomic_load(&open_channels), cause);
}

/* Opens a TSG's first channel together with a second one that can be shared, because no further
 * channel can be opened while work is running. */
static struct rt_channel *open_first_channel(struct rt_context *c, struct rt_tsg *tsg, bool scarce,
                                             int *error) {
  struct rt_channel *ch = create_channel(c, tsg, scarce, error);
  int ignored;
  if (ch && !scarce && !create_channel(c, tsg, true, &ignored))
    ch->shared = true; /* no queue uses it yet */
  return ch;
}

/* Returns a channel without queues, preferably a private one; else a new one, every second of which
 * is shared; else the shared one with the fewest queues. Returns NULL on failure, like
 * create_channel. */
static struct rt_channel *choose_channel(struct rt_context *c, struct rt_tsg *tsg, int *error) {
  const bool scarce = atomic_load(&open_channels) >= PROCESS_CHANNELS;
  *error = 0;
  if (!tsg->first_channel)
    return open_first_channel(c, tsg, scarce, error);
  struct rt_channel *idle = NULL, *shared = NULL;
  unsigned count = 0;
  for (struct rt_channel *ch = tsg->first_channel; ch; ch = ch->next, count++) {
    if (!ch->queues && (!idle || idle->shared))
      idle = ch;
    if (ch->shared && (!shared || ch->queues < shared->queues))
      shared = ch;
  }
  if (idle)
    return idle;
  if (scarce || count >= TSG_CHANNELS || !may_open(c, tsg))
    return shared;
  struct rt_channel *ch = create_channel(c, tsg, count % 2, error);
  return ch ? ch : shared;
}

int rt_channel_get(struct rt_context *c, struct rt_tsg *tsg, struct rt_channel **channel) {
  base_mutex_lock(&c->channels_lock);
  int error;
  *channel = choose_channel(c, tsg, &error);
  if (*channel)
    (*channel)->queues++;
  base_mutex_unlock(&c->channels_lock);
  if (*channel)
    return 0;
  explain_failure(error);
  return error;
}

void rt_channel_put(struct rt_channel *ch) {
  struct base_mutex *lock = &ch->context->channels_lock;
  base_mutex_lock(lock);
  ch->queues--;
  base_mutex_unlock(lock);
}
