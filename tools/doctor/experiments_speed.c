/* Experiments that measure launches, bandwidth, and the first work after an idle period. */
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

static int compare_times(const void *a, const void *b) {
  const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

/* Sets *median to the ns from a launch to the end of the wait for it. */
static bool measure_latency(struct setup *setup, uint64_t *median) {
  enum { ROUNDS = 65 };
  uint64_t times[ROUNDS], point = 0;
  for (uint32_t i = 0; i < ROUNDS; i++) {
    const uint64_t start = base_clock_ns();
    if (start_kernel(setup, setup->queue, KERNEL_NUMBER, 1, setup->data->gpu, i, &point))
      return doctor_say_failure(setup->doctor);
    if (!setup_wait(setup, point))
      return false;
    times[i] = base_clock_ns() - start;
  }
  qsort(times, ROUNDS, sizeof(times[0]), compare_times);
  *median = times[ROUNDS / 2];
  return true;
}

static bool measure_throughput(struct setup *setup, uint32_t launches, uint64_t *per_s) {
  uint64_t point = 0;
  const uint64_t start = base_clock_ns();
  for (uint32_t i = 0; i < launches; i++)
    if (start_kernel(setup, setup->queue, KERNEL_NUMBER, 1, setup->data->gpu, i, &point))
      return doctor_say_failure(setup->doctor);
  if (!setup_wait(setup, point))
    return false;
  *per_s = (uint64_t)launches * 1000000000 / (base_clock_ns() - start + 1);
  return true;
}

/* Counts both bytes read and bytes written. */
static bool measure_bandwidth(struct setup *setup, uint64_t bytes, uint64_t *mb_per_s) {
  enum { ITEM = 16, ROUNDS = 8 };
  const uint32_t items = (uint32_t)(bytes / ITEM);
  uint64_t point = 0, best = UINT64_MAX;
  for (int i = 0; i < ROUNDS; i++) {
    const uint64_t start = base_clock_ns();
    if (start_kernel(setup, setup->queue, KERNEL_COPY, items / EXPERIMENT_BLOCK, setup->data->gpu,
                     items, &point))
      return doctor_say_failure(setup->doctor);
    if (!setup_wait(setup, point))
      return false;
    const uint64_t took = base_clock_ns() - start;
    best = took < best ? took : best;
  }
  *mb_per_s = 2 * bytes * 1000 / (best + 1);
  return true;
}

/* Prints a table in the format of docs/performance.md. */
bool step_speed(struct doctor *d) {
  const bool emulated = rt_device_info(d->device)->emulated;
  const uint64_t bytes = emulated ? 1 << 20 : 64 << 20;
  uint64_t median = 0, per_s = 0, mb_per_s = 0;
  struct setup setup;
  if (!setup_open(d, 2 * bytes, &setup))
    return false;
  const bool good = measure_latency(&setup, &median) &&
                    measure_throughput(&setup, emulated ? 500 : 10000, &per_s) &&
                    measure_bandwidth(&setup, bytes, &mb_per_s);
  if (good) {
    doctor_say(d, "| what | measured |");
    doctor_say(d, "| --- | --- |");
    doctor_say(d, "| launch of a small kernel and wait for it, median | %.1f us |",
               (double)median / 1e3);
    doctor_say(d, "| launches without waiting | %" PRIu64 " per second |", per_s);
    doctor_say(d, "| copy by a kernel, %" PRIu64 " MiB, read and written | %.2f GB/s |",
               bytes >> 20, (double)mb_per_s / 1e3);
    doctor_record(d, MEASURE_LAUNCH, median);
    doctor_record(d, MEASURE_LAUNCHES, per_s);
    doctor_record(d, MEASURE_COPY, mb_per_s);
  }
  setup_close(&setup);
  return good;
}

/* ---- pauses ------------------------------------------------------------------------------- */

static bool run_and_check(struct setup *setup, const char *when, uint64_t *ns) {
  uint64_t point = 0;
  const uint64_t start = base_clock_ns();
  if (start_kernel(setup, setup->queue, KERNEL_NUMBER, 1, setup->data->gpu, 17, &point))
    return doctor_say_failure(setup->doctor);
  if (!setup_wait(setup, point))
    return false;
  *ns = base_clock_ns() - start;
  const uint32_t *out = setup->data->cpu;
  for (uint32_t i = 0; i < EXPERIMENT_BLOCK; i++)
    if (out[i] != 17 + i) {
      doctor_say(setup->doctor, "%s: work-item %u is %u instead of %u", when, i, out[i], 17 + i);
      return false;
    }
  doctor_say(setup->doctor, "%s: a kernel took %.3f ms", when, (double)*ns / 1e6);
  return true;
}

/* nvgpu turns the GPU off after half a second without channels
 * (railgate_delay_init in platform_ga10b_tegra.c). */
bool step_idle(struct doctor *d) {
  static const struct timespec pause = {.tv_sec = 1};
  struct setup setup;
  uint64_t before = 0, with_channel = 0, without = 0;
  if (!setup_open(d, GPU_PAGE_BYTES, &setup))
    return false;
  bool good = run_and_check(&setup, "at once", &before);
  nanosleep(&pause, NULL);
  good = good && run_and_check(&setup, "after a second with an idle channel", &with_channel);
  setup_close(&setup);
  nanosleep(&pause, NULL);
  const uint64_t start = base_clock_ns();
  if (!good || !setup_open(d, GPU_PAGE_BYTES, &setup))
    return false;
  doctor_say(d, "after a second without channels, creating one took %.3f ms",
             (double)(base_clock_ns() - start) / 1e6);
  good = run_and_check(&setup, "on it", &without);
  if (good)
    doctor_record(d, MEASURE_IDLE, with_channel);
  setup_close(&setup);
  return good;
}

/* Suspends the machine for 10 s. Requires root. */
static bool suspend_machine(struct doctor *d) {
  char *const command[] = {"rtcwake", "-m", "mem", "-s", "10", NULL};
  pid_t pid;
  int status = 0;
  int error = posix_spawnp(&pid, command[0], NULL, NULL, command, environ);
  if (error == 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
      WEXITSTATUS(status) == 0)
    return true;
  if (error)
    doctor_say(d, "rtcwake: %s", strerror(error));
  else
    doctor_say(d, "rtcwake -m mem -s 10 failed with status %d", WEXITSTATUS(status));
  doctor_advise(d, "sudo apt install util-linux-extra; run sudo tegracl-doctor --suspend");
  return false;
}

bool step_suspend(struct doctor *d) {
  struct setup setup;
  uint64_t ns = 0;
  if (!d->options.suspend) {
    doctor_say(d, "skipped: tegracl-doctor --suspend suspends the machine for 10 s");
    d->result->skipped = true;
    return true;
  }
  if (rt_device_info(d->device)->emulated) {
    doctor_say(d, "the software Orin cannot be suspended");
    d->result->skipped = true;
    return true;
  }
  if (!setup_open(d, GPU_PAGE_BYTES, &setup))
    return false;
  bool good = run_and_check(&setup, "before", &ns) && suspend_machine(d);
  /* The channel may be lost, but a new one must work. */
  if (good && !run_and_check(&setup, "after, on the same channel", &ns))
    doctor_say(d, "the channel did not survive");
  setup_close(&setup);
  if (!good || !setup_open(d, GPU_PAGE_BYTES, &setup))
    return false;
  good = run_and_check(&setup, "after, on a new channel", &ns);
  setup_close(&setup);
  return good;
}
