/* Experiments that measure: launches, bandwidth, the time after a pause. */
#include <errno.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "gpu/hw/memory.h"
#include "tools/doctor/experiments.h"

extern char **environ;

static int by_size(const void *a, const void *b) {
  const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

/* Launch and wait, again and again. *median in ns. */
static bool latency(struct setup *b, uint64_t *median) {
  enum { ROUNDS = 65 };
  uint64_t times[ROUNDS], point = 0;
  for (uint32_t i = 0; i < ROUNDS; i++) {
    const uint64_t start = base_clock_ns();
    if (start_kernel(b, b->queue, KERNEL_NUMBER, 1, b->data->gpu, i, &point))
      return say_failure(b->doctor);
    if (!setup_wait(b, point))
      return false;
    times[i] = base_clock_ns() - start;
  }
  qsort(times, ROUNDS, sizeof(times[0]), by_size);
  *median = times[ROUNDS / 2];
  return true;
}

static bool throughput(struct setup *b, uint32_t launches, uint64_t *per_s) {
  uint64_t point = 0;
  const uint64_t start = base_clock_ns();
  for (uint32_t i = 0; i < launches; i++)
    if (start_kernel(b, b->queue, KERNEL_NUMBER, 1, b->data->gpu, i, &point))
      return say_failure(b->doctor);
  if (!setup_wait(b, point))
    return false;
  *per_s = (uint64_t)launches * 1000000000 / (base_clock_ns() - start + 1);
  return true;
}

/* Both directions counted. */
static bool bandwidth(struct setup *b, uint64_t bytes, uint64_t *mb_per_s) {
  enum { ITEM = 16, ROUNDS = 8 };
  const uint32_t items = (uint32_t)(bytes / ITEM);
  uint64_t point = 0, best = UINT64_MAX;
  for (int i = 0; i < ROUNDS; i++) {
    const uint64_t start = base_clock_ns();
    if (start_kernel(b, b->queue, KERNEL_COPY, items / EXPERIMENT_BLOCK, b->data->gpu, items,
                     &point))
      return say_failure(b->doctor);
    if (!setup_wait(b, point))
      return false;
    const uint64_t took = base_clock_ns() - start;
    best = took < best ? took : best;
  }
  *mb_per_s = 2 * bytes * 1000 / (best + 1);
  return true;
}

/* In the format of docs/performance.md. */
bool step_speed(struct doctor *d) {
  const bool emulated = rt_device_info(d->device)->emulated;
  const uint64_t bytes = emulated ? 1 << 20 : 64 << 20;
  uint64_t median = 0, per_s = 0, mb_per_s = 0;
  struct setup b;
  if (!setup_open(d, 2 * bytes, &b))
    return false;
  const bool good = latency(&b, &median) && throughput(&b, emulated ? 500 : 10000, &per_s) &&
                    bandwidth(&b, bytes, &mb_per_s);
  if (good) {
    say(d, "| what | measured |");
    say(d, "| --- | --- |");
    say(d, "| launch of a small kernel and wait for it, median | %.1f us |", (double)median / 1e3);
    say(d, "| launches without waiting | %" PRIu64 " per second |", per_s);
    say(d, "| copy by a kernel, %" PRIu64 " MiB, read and written | %.2f GB/s |", bytes >> 20,
        (double)mb_per_s / 1e3);
    measured(d, MEASURE_LAUNCH, median);
    measured(d, MEASURE_LAUNCHES, per_s);
    measured(d, MEASURE_COPY, mb_per_s);
  }
  setup_close(&b);
  return good;
}

/* ---- pauses ------------------------------------------------------------------------------------
 */

static bool works(struct setup *b, const char *when, uint64_t *ns) {
  uint64_t point = 0;
  const uint64_t start = base_clock_ns();
  if (start_kernel(b, b->queue, KERNEL_NUMBER, 1, b->data->gpu, 17, &point))
    return say_failure(b->doctor);
  if (!setup_wait(b, point))
    return false;
  *ns = base_clock_ns() - start;
  const uint32_t *out = b->data->cpu;
  for (uint32_t i = 0; i < EXPERIMENT_BLOCK; i++)
    if (out[i] != 17 + i) {
      say(b->doctor, "%s: item %u is %u instead of %u", when, i, out[i], 17 + i);
      return false;
    }
  say(b->doctor, "%s: a kernel took %.3f ms", when, (double)*ns / 1e6);
  return true;
}

/* The GPU is railgated after half a second without a channel (docs/hardware/kernel-interface.md 9).
 */
bool step_idle(struct doctor *d) {
  static const struct timespec pause = {.tv_sec = 1};
  struct setup b;
  uint64_t before = 0, with_channel = 0, without = 0;
  if (!setup_open(d, GPU_PAGE_BYTES, &b))
    return false;
  bool good = works(&b, "at once", &before);
  nanosleep(&pause, NULL);
  good = good && works(&b, "after a second with an idle channel", &with_channel);
  setup_close(&b);
  nanosleep(&pause, NULL);
  const uint64_t start = base_clock_ns();
  if (!good || !setup_open(d, GPU_PAGE_BYTES, &b))
    return false;
  say(d, "after a second without a channel: a new one took %.3f ms",
      (double)(base_clock_ns() - start) / 1e6);
  good = works(&b, "on it", &without);
  if (good)
    measured(d, MEASURE_IDLE, with_channel);
  setup_close(&b);
  return good;
}

/* Sleeps for some seconds as the machine does. It needs root. */
static bool suspend(struct doctor *d) {
  char *const command[] = {"rtcwake", "-m", "mem", "-s", "10", NULL};
  pid_t pid;
  int status = 0;
  int error = posix_spawnp(&pid, command[0], NULL, NULL, command, environ);
  if (error == 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
      WEXITSTATUS(status) == 0)
    return true;
  if (error)
    say(d, "rtcwake: %s", strerror(error));
  else
    say(d, "rtcwake -m mem -s 10 failed with status %d", WEXITSTATUS(status));
  advise(d, "sudo apt install util-linux-extra; run sudo tegracl-doctor --suspend");
  return false;
}

bool step_suspend(struct doctor *d) {
  struct setup b;
  uint64_t ns = 0;
  if (!d->options.suspend) {
    say(d, "not asked for: tegracl-doctor --suspend lets the machine sleep for 10 s");
    d->result->skipped = true;
    return true;
  }
  if (rt_device_info(d->device)->emulated) {
    say(d, "the software Orin does not sleep");
    d->result->skipped = true;
    return true;
  }
  if (!setup_open(d, GPU_PAGE_BYTES, &b))
    return false;
  bool good = works(&b, "before", &ns) && suspend(d);
  /* The channel may be lost; a new one may not. */
  if (good && !works(&b, "after, on the same channel", &ns))
    say(d, "the channel did not survive");
  setup_close(&b);
  if (!good || !setup_open(d, GPU_PAGE_BYTES, &b))
    return false;
  good = works(&b, "after, on a new channel", &ns);
  setup_close(&b);
  return good;
}
