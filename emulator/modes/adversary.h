/* Adversarial timing, TEGRACL_EMULATOR=adversarial[:SEED]: the device uses every freedom
 * that the hardware has in the order of its work, as the seed determines.
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
  bool seeded; /* by the user; else the seed is drawn when the device opens */
  uint64_t seed;
};
/* Set from TEGRACL_EMULATOR when the device opens. */
extern struct emu_adversary emu_adversary;
/* Call when the device opens: draws a seed if the user gave none, and prints it on stderr. */
void emu_adversary_start(void);

struct emu_random {
  uint64_t state;
};
/* The streams of one seed differ in their use and in a number. */
enum emu_stream { EMU_STREAM_CHANNEL, EMU_STREAM_RUNLIST, EMU_STREAM_CACHES, EMU_STREAM_DRIVER };
struct emu_random emu_adversary_stream(enum emu_stream whose, uint64_t number);
/* Below n, which is not 0. */
uint32_t emu_adversary_below(struct emu_random *random, uint32_t n);
/* A delay for an operation whose time the hardware does not promise: often nothing, rarely some
 * hundred microseconds. */
uint64_t emu_adversary_delay_ns(struct emu_random *random);
/* Power-up in the kernel takes up to 30 ms. gpu.lock held. */
void emu_adversary_power_up(void);
/* Preemption of a TSG takes up to 100 ms. */
void emu_adversary_preemption(void);
/* The delay of a syncpoint's interrupt: mostly 0. */
uint64_t emu_adversary_fence_delay_ns(void);
/* Whether a signal ends a wait of the client. gpu.lock held. */
bool emu_adversary_interrupts(void);
/* Whether the hardware would load a channel next, which then cannot leave its TSG. gpu.lock
 * held. */
bool emu_adversary_loads_next(void);
/* Waits between two steps, while the client's threads may read memory. */
void emu_adversary_linger(struct emu_random *random);
static inline bool emu_adversary_one_in(struct emu_random *random, uint32_t n) {
  return emu_adversary_below(random, n) == 0;
}

#endif
