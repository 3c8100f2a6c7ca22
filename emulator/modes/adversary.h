/* Adversarial timing, TEGRACL_EMULATOR=adversarial[:SEED]: the device makes use of
 * every freedom that the hardware has in the order of its work, as a seed tells it to.
 *
 * Who has a choice draws it from its own stream of random numbers, so that what
 * one channel does leaves the choices of another as they are.
 */
#ifndef TEGRACL_EMULATOR_ADVERSARY_H
#define TEGRACL_EMULATOR_ADVERSARY_H

#include <stdbool.h>
#include <stdint.h>

struct emu_adversary {
  bool on;
  bool seeded; /* by the user; else it is drawn when the device opens */
  uint64_t seed;
};
/* As TEGRACL_EMULATOR has it, from when the device opens on. */
extern struct emu_adversary emu_adversary;
/* The device opens: draws a seed if the user gave none, and says so on stderr. */
void emu_adversary_start(void);

struct emu_random {
  uint64_t state;
};
/* Streams of one seed differ in whose they are, and in a number. */
enum emu_stream { EMU_STREAM_CHANNEL, EMU_STREAM_RUNLIST, EMU_STREAM_CACHES, EMU_STREAM_DRIVER };
struct emu_random emu_adversary_stream(enum emu_stream whose, uint64_t number);
/* Below n, which is not 0. */
uint32_t emu_adversary_below(struct emu_random *random, uint32_t n);
/* What something takes for which the hardware promises no time: often nothing, rarely
 * some hundred microseconds. */
uint64_t emu_adversary_delay_ns(struct emu_random *random);
/* The kernel's part: power-up takes up to 30 ms. gpu.lock held. */
void emu_adversary_power_up(void);
/* A preemption of a TSG takes up to 100 ms. */
void emu_adversary_preemption(void);
/* How late an interrupt of a syncpoint is: mostly 0. */
uint64_t emu_adversary_fence_delay_ns(void);
/* A signal ends a wait of the client: gpu.lock held. */
bool emu_adversary_interrupts(void);
/* The hardware would load a channel next, which then cannot leave its TSG: gpu.lock held. */
bool emu_adversary_loads_next(void);
/* Takes that long: for steps between which the client's threads may see memory. */
void emu_adversary_linger(struct emu_random *random);
static inline bool emu_adversary_one_in(struct emu_random *random, uint32_t n) {
  return emu_adversary_below(random, n) == 0;
}

#endif
