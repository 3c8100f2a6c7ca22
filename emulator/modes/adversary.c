/* The seed of adversarial timing, and the random numbers that are derived from it. */
#include "emulator/modes/adversary.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "base/splitmix.h"

struct emu_adversary emu_adversary;
static struct emu_random driver; /* under gpu.lock */

void emu_adversary_start(void) {
  if (emu_adversary.on && emu_adversary.seeded)
    driver = emu_adversary_stream(EMU_STREAM_DRIVER, 0);
  if (!emu_adversary.on || emu_adversary.seeded)
    return;
  uint32_t seed;
  if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) != sizeof(seed))
    seed = (uint32_t)splitmix((uint64_t)time(NULL) << 32 | (uint64_t)getpid());
  emu_adversary.seed = seed;
  emu_adversary.seeded = true;
  fprintf(stderr,
          "tegracl: adversarial: the seed is %" PRIu32 " (TEGRACL_EMULATOR=adversarial:%" PRIu32
          ")\n",
          seed, seed);
  driver = emu_adversary_stream(EMU_STREAM_DRIVER, 0);
}

struct emu_random emu_adversary_stream(enum emu_stream use, uint64_t number) {
  return (struct emu_random){splitmix(splitmix(emu_adversary.seed + (uint64_t)use) + number)};
}

uint64_t emu_adversary_delay_ns(struct emu_random *random) {
  static const uint32_t most_ns[] = {1, 1, 1, 1, 5000, 20000, 50000, 300000};
  const uint32_t kinds = sizeof(most_ns) / sizeof(most_ns[0]);
  return emu_adversary_below(random, most_ns[emu_adversary_below(random, kinds)]);
}

void emu_adversary_power_up(void) {
  enum { SOMETIMES = 8, POWER_UP_NS = 30000000 };
  if (emu_adversary.on && emu_adversary_one_in(&driver, SOMETIMES))
    nanosleep(&(struct timespec){.tv_nsec = POWER_UP_NS}, NULL);
}

void emu_adversary_preemption(void) {
  enum { SOMETIMES = 16, PREEMPTION_NS = 95000000 };
  if (emu_adversary.on && emu_adversary_one_in(&driver, SOMETIMES))
    nanosleep(&(struct timespec){.tv_nsec = PREEMPTION_NS}, NULL);
}

/* Returns how late the interrupt of a fence is: up to 50 ms, or two seconds if it is lost and a
 * later one wakes the client. */
uint64_t emu_adversary_fence_delay_ns(void) {
  enum { LATE = 16, LOST = 64, LATE_NS = 50000000, LOST_NS = 2000000000 };
  if (!emu_adversary.on)
    return 0;
  if (emu_adversary_one_in(&driver, LOST))
    return LOST_NS;
  return emu_adversary_one_in(&driver, LATE) ? emu_adversary_below(&driver, LATE_NS) : 0;
}

bool emu_adversary_interrupts(void) {
  enum { SOMETIMES = 16 };
  return emu_adversary.on && emu_adversary_one_in(&driver, SOMETIMES);
}

bool emu_adversary_loads_next(void) {
  enum { SOMETIMES = 4 };
  return emu_adversary.on && emu_adversary_one_in(&driver, SOMETIMES);
}

void emu_adversary_linger(struct emu_random *random) {
  const uint64_t ns = emu_adversary_delay_ns(random);
  if (ns)
    nanosleep(&(struct timespec){.tv_nsec = (long)ns}, NULL);
}

uint32_t emu_adversary_below(struct emu_random *random, uint32_t n) {
  return splitmix_below(&random->state, n);
}
