/* The watchdog for channels whose ring the driver writes. Aborts the TSG of a channel whose work
 * makes no progress for longer than the channel's limit. docs/hardware/kernel-interface.md 7,
 * "watchdog" and notifier 8 */
#include "emulator/kernel/watchdog.h"

#include <errno.h>
#include <stdlib.h>

#include "base/thread.h"
#include "emulator/engine/fault.h"
#include "emulator/gpu.h"
#include "emulator/kernel/channel.h"
#include "emulator/kernel/submit.h"
#include "emulator/kernel/syncpoint.h"
#include "gpu/hw/host.h"

enum {
  POLL_MS = 100,
  NS_PER_MS = 1000000,
  /* The default limit is meant for boards, where work that takes seconds here takes milliseconds. A
   * limit set by the client is not scaled. */
  SLOWER_THAN_A_BOARD = 100,
};

struct emu_watchdog {
  pthread_t thread;
  pthread_cond_t stopped;
  bool stop;
};

uint64_t emu_watchdog_limit_ns(const struct emu_channel *channel) {
  return (uint64_t)channel->watchdog_ms * NS_PER_MS *
         (channel->watchdog_set ? 1 : SLOWER_THAN_A_BOARD);
}

/* Callers of this function and of those below hold gpu.lock. */
static bool is_idle(const struct emu_channel *channel) {
  const struct emu_submit *s = channel->submit;
  return emu_syncpoint_value(s->syncpoint) == s->target && emu_submit_got(channel) == s->put;
}

void emu_watchdog_submit(struct emu_channel *channel) {
  if (is_idle(channel))
    channel->submit->since_ns = emu_time_ns();
}

/* Restarts the channel's limit if there was progress. After the limit aborts its TSG. */
static void check_progress(struct emu_channel *channel, uint64_t now) {
  struct emu_submit *s = channel->submit;
  uint32_t done = emu_syncpoint_value(s->syncpoint), get = emu_submit_got(channel);
  if (done != s->seen_done || get != s->seen_get || is_idle(channel)) {
    s->seen_done = done;
    s->seen_get = get;
    s->since_ns = now;
  } else if (channel->watchdog && channel->tsg && atomic_load(&channel->serviceable) &&
             now - s->since_ns > emu_watchdog_limit_ns(channel)) {
    emu_tsg_abort(channel->tsg, NOTIFIER_IDLE_TIMEOUT);
  }
}

static void *watchdog_thread(void *argument) {
  struct emu_watchdog *w = argument;
  pthread_mutex_lock(&emu_gpu.lock);
  while (!w->stop) {
    for (int i = 0; i < EMU_CHANNELS; i++) {
      if (emu_channels.by_id[i] && emu_channels.by_id[i]->submit)
        check_progress(emu_channels.by_id[i], emu_time_ns());
    }
    base_cond_wait_until(&w->stopped, &emu_gpu.lock, emu_time_ns() + POLL_MS * NS_PER_MS);
  }
  pthread_mutex_unlock(&emu_gpu.lock);
  return NULL;
}

int emu_watchdog_start(struct emu_channel *channel) {
  channel->submit->watched = true;
  channel->submit->since_ns = emu_time_ns();
  if (emu_channels.watched++)
    return 0;
  struct emu_watchdog *w = calloc(1, sizeof(*w));
  int error = w ? 0 : -ENOMEM;
  if (w) {
    pthread_cond_init(&w->stopped, NULL);
    error = -base_thread_start(&w->thread, watchdog_thread, w);
  }
  if (error) {
    free(w);
    emu_channels.watched--;
    channel->submit->watched = false;
    return error;
  }
  emu_channels.watchdog = w;
  return 0;
}

void emu_watchdog_stop(struct emu_channel *channel) {
  if (!channel->submit->watched)
    return;
  channel->submit->watched = false;
  if (--emu_channels.watched)
    return;
  struct emu_watchdog *w = emu_channels.watchdog;
  emu_channels.watchdog = NULL;
  w->stop = true;
  pthread_cond_signal(&w->stopped);
  pthread_mutex_unlock(&emu_gpu.lock);
  pthread_join(w->thread, NULL);
  pthread_mutex_lock(&emu_gpu.lock);
  pthread_cond_destroy(&w->stopped);
  free(w);
}
