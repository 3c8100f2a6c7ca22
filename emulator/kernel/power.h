/* Power references of requests, and railgating. gpu.lock held. */
#ifndef TEGRACL_EMULATOR_POWER_H
#define TEGRACL_EMULATOR_POWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

extern struct emu_power {
  bool on;
  bool ready; /* it has been on at least once */
  uint64_t last_busy_ns;
} emu_power;

/* A new fd of the power node, whose requests are all unknown; or -errno. */
int emu_power_open(void);
/* Takes and drops a power reference, as each request does: the GPU is powered up if it was off, and
 * stays on for a while. */
void emu_power_use(void);
/* The same in mmap of the user-mode page: 0, or -EDEADLK with a warning where the kernel would
 * deadlock. */
int emu_power_use_in_mmap(void);
/* When the engine must run again to remove mappings of the page; 0: not needed. */
uint64_t emu_power_deadline(void);

/* The requests that use power: side-effects.csv. */
extern const uint32_t emu_power_requests[];

extern const size_t emu_power_request_count;

#endif
