/* Adversarial timing, TEGRACL_EMULATOR=adversarial[:SEED]: the device does its work as late, as
 * early and as much out of order as the hardware may. The seed determines how.
 *
 * Each kind of decision uses a separate stream of random numbers, so the decisions of one channel
 * do not change those of another. */
#ifndef TEGRACL_EMULATOR_ADVERSARY_H
#define TEGRACL_EMULATOR_ADVERSARY_H

#include <stdbool.h>
#include <stdint.h>

struct emu_adversary {
  bool on;
  bool seeded; /* seed was set by the user or when the device was opened */
  uint64_t seed;
};
/* Set when TEGRACL_EMULATOR is parsed. */
extern struct emu_adversary emu_adversary;
/* Chooses a seed if the user gave none, and prints it on stderr. Call when the device is opened. */
void emu_adversary_start(void);

struct emu_random {
  uint64_t state;
};
/* Purposes of random streams. */
enum emu_stream { EMU_STREAM_CHANNEL, EMU_STREAM_RUNLIST, EMU_STREAM_CACHES, EMU_STREAM_DRIVER };
/* Returns the stream for a use and a number. */
struct emu_random emu_adversary_stream(enum emu_stream use, uint64_t number);
/* Returns a random number below n, which must not be 0. */
uint32_t emu_adversary_below(struct emu_random *random, uint32_t n);
/* Returns a delay for an operation whose time the hardware does not guarantee: often none, rarely
 * some hundred microseconds. */
uint64_t emu_adversary_delay_ns(struct emu_random *random);
/* Sometimes waits as long as a power-up takes in the kernel: up to 30 ms. The caller holds
 * gpu.lock. */
void emu_adversary_power_up(void);
/* Sometimes waits as long as the preemption of a TSG may take: up to 100 ms. The caller holds
 * gpu.lock. */
void emu_adversary_preemption(void);
/* Returns the delay of a syncpoint's interrupt, which is mostly 0. The caller holds gpu.lock. */
uint64_t emu_adversary_fence_delay_ns(void);
/* Returns whether a signal interrupts a wait of the client. The caller holds gpu.lock. */
bool emu_adversary_interrupts(void);
/* Returns whether the hardware is about to load a channel, which then cannot leave its TSG. The
 * caller holds gpu.lock. */
bool emu_adversary_loads_next(void);
/* Waits between two stores, so that threads of the client can see the first one without the
 * second. */
void emu_adversary_linger(struct emu_random *random);
/* Returns true with probability 1/n. */
static inline bool emu_adversary_one_in(struct emu_random *random, uint32_t n) {
  return emu_adversary_below(random, n) == 0;
}

#endif
