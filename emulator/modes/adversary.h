/* Adversarial timing, TEGRACL_EMULATOR=adversarial[:SEED]: the device does its work as late,
 * as early and as out of order as the hardware may. The seed chooses.
 *
 * Each decision uses its own stream of random numbers, so the decisions of one channel do
 * not change those of another.
 */
#ifndef TEGRACL_EMULATOR_ADVERSARY_H
#define TEGRACL_EMULATOR_ADVERSARY_H

#include <stdbool.h>
#include <stdint.h>

struct emu_adversary {
  bool on;
  bool seeded; /* seed is set: by the user, or when the device was opened */
  uint64_t seed;
};
/* Set from TEGRACL_EMULATOR when it is parsed. */
extern struct emu_adversary emu_adversary;
/* Call when the device opens: draws a seed if the user gave none, and prints it on stderr. */
void emu_adversary_start(void);

struct emu_random {
  uint64_t state;
};
/* The uses of streams. */
enum emu_stream { EMU_STREAM_CHANNEL, EMU_STREAM_RUNLIST, EMU_STREAM_CACHES, EMU_STREAM_DRIVER };
/* A stream of the seed for a use and a number. */
struct emu_random emu_adversary_stream(enum emu_stream use, uint64_t number);
/* A random number below n, which is not 0. */
uint32_t emu_adversary_below(struct emu_random *random, uint32_t n);
/* A delay for an operation whose time the hardware does not promise: often nothing, rarely some
 * hundred microseconds. */
uint64_t emu_adversary_delay_ns(struct emu_random *random);
/* Waits for a power-up, which takes up to 30 ms in the kernel. gpu.lock held. */
void emu_adversary_power_up(void);
/* Waits for the preemption of a TSG, which takes up to 100 ms. gpu.lock held. */
void emu_adversary_preemption(void);
/* The delay of a syncpoint's interrupt: mostly 0. gpu.lock held. */
uint64_t emu_adversary_fence_delay_ns(void);
/* Whether a signal ends a wait of the client. gpu.lock held. */
bool emu_adversary_interrupts(void);
/* Whether the hardware is about to load a channel, which then cannot leave its TSG. gpu.lock
 * held. */
bool emu_adversary_loads_next(void);
/* Waits between two stores, so that the client's threads can see the first without the second. */
void emu_adversary_linger(struct emu_random *random);
/* True with probability 1/n. */
static inline bool emu_adversary_one_in(struct emu_random *random, uint32_t n) {
  return emu_adversary_below(random, n) == 0;
}

#endif
