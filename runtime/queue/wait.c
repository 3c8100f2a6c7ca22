/* Waits for a point of a queue: spins briefly, then sleeps on a fence of the channel's syncpoint,
 * which every submission increments after releasing the timeline. docs/hardware/kernel-interface.md
 * 6 */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <time.h>

#include "base/clock.h"
#include "gpu/nvgpu/uapi.h"
#include "runtime/debug/debug.h"
#include "runtime/debug/timeline.h"
#include "runtime/debug/timeline_gpu.h"
#include "runtime/device/device.h"
#include "runtime/device/fds.h"
#include "runtime/message.h"
#include "runtime/queue/queue.h"

enum {
  NS_PER_MS = 1000000,
  SPIN_NS = 30000,
  SPIN_PAUSES = 64, /* between two clock reads */
  PAUSES_MAX = 16,  /* between two polls of the timeline */
  /* Upper bound of a sleep: a fault also increments the syncpoint, but maybe not far enough to wake
   * the fence. */
  FENCE_MAX_MS = 100,
  /* A fence is late if it has not woken this long after its point was reached. */
  FENCE_LATE_MS = 10,
  PAUSE_FIRST_NS = 5000, /* without a fence */
  PAUSE_LAST_NS = 200000,
};

/* Waits between two polls, longer if more points are left, because each poll takes the timeline's
 * cache line from the core that writes it. If the process may use one core only, the threads of the
 * software Orin must run on it before anything changes. Returns the number of pauses. */
static unsigned pause_polling(const struct rt_device *d, uint64_t points_left) {
  const unsigned pauses = points_left < PAUSES_MAX ? (unsigned)points_left : PAUSES_MAX;
  if (d->one_core) {
    sched_yield();
    return 1;
  }
  for (unsigned i = 0; i < pauses; i++) {
#if defined(__aarch64__)
    __asm__ volatile("yield");
#elif defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }
  return pauses;
}

static int create_fence(struct rt_queue *q, uint64_t point, int *fd) {
  const struct rt_device *d = q->context->device;
  const struct rt_channel *ch = q->channel;
  const uint32_t threshold = ch->syncpoint_base + (uint32_t)(point - ch->first);
  return nvgpu_create_fence(d->os, d->release, d->fence_fd, ch->syncpoint_id, threshold, fd);
}

/* Keeps threads from sleeping on fences of this channel, because each sleep could last 100 ms. */
static void fence_is_late(struct rt_channel *ch) {
  if (!atomic_exchange(&ch->fences_late, true) && rt_debug_choices())
    fprintf(stderr,
            "tegracl: channel 0x%x: a fence of syncpoint %u did not wake within %d ms of its "
            "point; waits will poll from now on\n",
            ch->token, ch->syncpoint_id, FENCE_LATE_MS);
}

/* Sleeps until the point is near, a signal arrives or timeout_ms has passed. Returns 1 if woken by
 * the fence, 0 if not, or -1 if fences cannot be used. */
static int sleep_on_fence(struct rt_queue *q, uint64_t point, int timeout_ms) {
  const struct rt_device *d = q->context->device;
  if (!q->channel->syncpoint_gpu || atomic_load(&q->channel->fences_late))
    return -1;
  int fd;
  if (create_fence(q, point, &fd))
    return -1;
  struct pollfd p = {.fd = rt_fd_opened(d->os, fd), .events = POLLIN};
  if (p.fd < 0)
    return -1;
  int ready = 0;
  for (int left = timeout_ms; left > 0 && !ready; left -= FENCE_LATE_MS) {
    const bool reached = rt_queue_completed(q) >= point;
    ready = d->os->poll(&p, 1, left < FENCE_LATE_MS ? left : FENCE_LATE_MS);
    if (!ready && reached) {
      if (left >= FENCE_LATE_MS)
        fence_is_late(q->channel);
      break;
    }
  }
  rt_fd_close(d->os, p.fd);
  return ready < 0 && ready != -EINTR ? -1 : ready > 0;
}

/* The work may wait for work in the other TSG, whose fault does not appear in this queue's
 * notifier. If another thread holds the lock for long, that thread checks the notifiers. */
static void check_all_notifiers(struct rt_context *c) {
  if (base_mutex_trylock(&c->lock))
    return;
  rt_context_find_fault(c);
  base_mutex_unlock(&c->lock);
}

/* Small work ends within tens of microseconds (docs/hardware/kernel-interface.md 9); spinning that
 * long costs less than sleeping. */
static int wait_point(struct rt_queue *q, uint64_t point, uint64_t start, uint64_t timeout_ns) {
  uint64_t deadline = timeout_ns > UINT64_MAX - start ? UINT64_MAX : start + timeout_ns;
  uint64_t spin_end = start + SPIN_NS;
  uint64_t pause_ns = PAUSE_FIRST_NS;
  int fence = 0; /* duration of the last sleep */
  for (;;) {
    for (unsigned pauses = 0; pauses < SPIN_PAUSES;) {
      const uint64_t completed = rt_queue_completed(q);
      if (completed >= point)
        return 0;
      pauses += pause_polling(q->context->device, point - completed);
      /* Other threads may use the only core for milliseconds. */
      if (q->context->device->one_core && base_clock_ns() >= deadline)
        break;
    }
    /* The release may have arrived after the last poll. */
    if (rt_queue_dead(q))
      return rt_queue_completed(q) >= point ? 0 : -EIO;
    uint64_t now = base_clock_ns();
    if (now >= deadline)
      return -ETIMEDOUT;
    if (now < spin_end)
      continue;
    check_all_notifiers(q->context);
    uint64_t left = deadline - now;
    /* Rounded, so a timeout may be half a millisecond late. */
    uint64_t ms = left / NS_PER_MS + (left % NS_PER_MS >= NS_PER_MS / 2);
    if (fence == 0 && ms) {
      fence = sleep_on_fence(q, point, ms < FENCE_MAX_MS ? (int)ms : FENCE_MAX_MS);
      spin_end = base_clock_ns() + SPIN_NS;
      continue;
    }
    /* The fence has woken too early, and a new one would wake at once, so poll for a while. */
    fence = fence > 0 ? 0 : fence;
    nanosleep(&(struct timespec){.tv_nsec = (long)(pause_ns < left ? pause_ns : left)}, NULL);
    pause_ns = pause_ns * 2 < PAUSE_LAST_NS ? pause_ns * 2 : PAUSE_LAST_NS;
  }
}

int rt_queue_wait_point(struct rt_queue *q, uint64_t point, uint64_t timeout_ns) {
  const bool completed = rt_queue_completed(q) >= point;
  const uint64_t start = completed ? 0 : base_clock_ns();
  const int error = completed ? 0 : wait_point(q, point, start, timeout_ns);
  if (rt_timeline_on())
    rt_timeline_waited(q, point, start);
  return error;
}

int rt_timeline_await(struct rt_queue *q, const volatile uint64_t *timeline, uint64_t point) {
  uint64_t pause_ns = PAUSE_FIRST_NS;
  while (!rt_timeline_reached(timeline, point)) {
    check_all_notifiers(q->context);
    if (rt_queue_dead(q) && !rt_timeline_reached(timeline, point)) {
      rt_context_explain(q->context);
      return -EIO;
    }
    nanosleep(&(struct timespec){.tv_nsec = (long)pause_ns}, NULL);
    pause_ns = pause_ns * 2 < PAUSE_LAST_NS ? pause_ns * 2 : PAUSE_LAST_NS;
  }
  return 0;
}

int rt_queue_fence(struct rt_queue *q, uint64_t point, int *fd) {
  if (!q->channel->syncpoint_gpu)
    return rt_fail(-ENOTSUP, "cannot create a fence: the queue has no syncpoint");
  int error = create_fence(q, point < q->channel->first ? q->channel->first : point, fd);
  return error ? rt_fail_call(error, "CREATE_FENCE") : 0;
}
