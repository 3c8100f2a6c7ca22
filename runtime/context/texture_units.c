/* Decides which images the texture units read: runs their self-check when the first image is
 * created and the GPU has nothing else to do. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/thread.h"
#include "runtime/context/context.h"
#include "runtime/context/texture_check.h"
#include "runtime/debug/debug.h"
#include "runtime/message.h"
#include "runtime/queue/queue.h"

/* After a self-check that was not finished, the next one waits, because each may take
 * RT_TEXTURE_CHECK_LIMIT_MS. */
enum { TRIES_MAX = 5, PAUSE_MS = 1000, BUSY_PAUSE_MS = 20 };

/* ---- an idle GPU --------------------------------------------------------------------------- */

/* Work of the scratch context makes the GPU preempt other contexts' work, and the kernel driver
 * ends a context that cannot be preempted within 3 s. So the self-check only runs while no context
 * of this process has work, and keeps other threads from submitting:
 *
 * - Launches with private memory and replays hold the pools' locks for reading.
 * - All other submissions begin with rt_slice_begin. Its fast path does not test context.held, to
 *   cost nothing. But it tests code_generation, so a new one leads all channels to the slow path,
 *   which waits.
 *
 * A thread that has passed that test has a few hundred instructions to do until its work is
 * visible. It gets SETTLE_MS for them before has_work decides. Only if it is not scheduled for so
 * long, its one submission may follow during the self-check. */
enum { SETTLE_MS = 1 };

/* A channel that has faulted never reaches its last point, and the GPU does not execute it. */
static bool has_work(struct rt_context *c, const struct rt_tsg *tsg) {
  bool busy = false;
  base_mutex_lock(&c->lock);
  for (const struct rt_channel *ch = tsg->first_channel; ch && !busy; ch = ch->next)
    busy = !rt_channel_dead(ch) && !rt_timeline_reached(ch->timeline, atomic_load(&ch->submitted));
  base_mutex_unlock(&c->lock);
  return busy;
}

/* Keeps the context from submitting. Returns false and changes nothing if a launch holds a pool. */
static bool hold_context(struct rt_context *c) {
  if (base_rwlock_trywrite(&c->tsg.pool.lock))
    return false;
  if (base_rwlock_trywrite(&c->high_tsg.pool.lock)) {
    base_rwlock_unlock(&c->tsg.pool.lock);
    return false;
  }
  atomic_store(&c->held, true);
  atomic_fetch_add(&c->code_generation, 1);
  return true;
}

static void release_contexts(struct rt_context *c, const struct rt_context *end) {
  for (; c != end; c = c->next) {
    atomic_store(&c->held, false);
    base_rwlock_unlock(&c->high_tsg.pool.lock);
    base_rwlock_unlock(&c->tsg.pool.lock);
  }
}

/* Returns whether the contexts have no work after short work has had time to end. */
static bool is_idle(struct rt_context *contexts) {
  static const struct timespec settle = {.tv_nsec = SETTLE_MS * 1000000};
  bool idle = true;
  nanosleep(&settle, NULL);
  for (struct rt_context *c = contexts; c && idle; c = c->next)
    idle = !has_work(c, &c->tsg) && !has_work(c, &c->high_tsg);
  return idle;
}

struct run {
  struct rt_device *device;
  struct rt_texture_answers *answers;
  int error;
  char why[256];
};

static void *run_check(void *data) {
  struct run *run = data;
  run->error = rt_texture_check_run(run->device, RT_TEXTURE_CHECK_LIMIT_MS * UINT64_C(1000000),
                                    run->answers);
  if (run->error)
    snprintf(run->why, sizeof(run->why), "%s", rt_last_message());
  return NULL;
}

/* Runs the self-check while no context has work or submits. It has a separate thread, because it
 * takes locks of the kinds that this thread holds, of other contexts. Returns 0 or -errno. */
static int run_while_idle(struct run *run) {
  struct rt_device *d = run->device;
  pthread_t thread;
  int error = 0;
  base_mutex_lock(&d->contexts_lock);
  struct rt_context *c = d->contexts;
  while (c && hold_context(c))
    c = c->next;
  if (c || !is_idle(d->contexts))
    error = rt_fail(-EBUSY, "the GPU is busy");
  else if (base_thread_start(&thread, run_check, run))
    error = rt_fail(-ENOMEM, "cannot start a thread");
  else
    pthread_join(thread, NULL);
  release_contexts(d->contexts, c);
  base_mutex_unlock(&d->contexts_lock);
  if (!error && run->error)
    error = rt_fail(run->error, "%s", run->why);
  return error;
}

/* ---- the decision -----------------------------------------------------------------------------
 */

static void decide(struct rt_texture_units *units, struct run *run) {
  const uint64_t begin = base_clock_ns();
  const int error = run_while_idle(run);
  if (!error) {
    units->answers = *run->answers;
    atomic_store(&units->decided, true);
  }
  if (rt_debug_choices()) {
    char failed[256];
    rt_texture_answers_print(run->answers, failed, sizeof(failed));
    fprintf(stderr, "tegracl: self-check of the texture units: %s%s (%llu us)\n",
            error     ? "undecided: "
            : *failed ? "software does these: "
                      : "all right",
            error ? rt_last_message() : failed,
            (unsigned long long)(base_clock_ns() - begin) / 1000);
  }
  if (!error)
    return;
  /* A busy GPU cost little, and says nothing about the texture units. */
  if (error == -EBUSY) {
    units->next_ns = base_clock_ns() + BUSY_PAUSE_MS * UINT64_C(1000000);
    return;
  }
  if (++units->tries == TRIES_MAX) { /* software reads all images */
    memset(&units->answers, 0, sizeof(units->answers));
    atomic_store(&units->decided, true);
    return;
  }
  units->next_ns = base_clock_ns() + PAUSE_MS * UINT64_C(1000000) + 4 * (base_clock_ns() - begin);
}

void rt_texture_check(struct rt_context *c) {
  struct rt_texture_units *units = &c->device->textures;
  struct rt_texture_answers answers = {0};
  struct run run = {.device = c->device, .answers = &answers};
  if (units->wanted != BASE_IMAGES_CHECKED || atomic_load(&units->decided))
    return;
  base_mutex_lock(&units->lock);
  if (!atomic_load(&units->decided) && base_clock_ns() >= units->next_ns)
    decide(units, &run);
  base_mutex_unlock(&units->lock);
}
