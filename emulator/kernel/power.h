/* Power references of requests, and railgating. Callers hold gpu.lock. */
#ifndef TEGRACL_EMULATOR_POWER_H
#define TEGRACL_EMULATOR_POWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

extern struct emu_power {
  bool on;
  bool ready; /* the GPU has been on at least once */
  uint64_t last_busy_ns;
} emu_power;

/* Opens the power node, which has no requests. Returns an fd or -errno. */
int emu_power_open(void);
/* Takes and drops a power reference, as each request does: powers the GPU up if it is off, and
 * keeps it on for a while. */
void emu_power_use(void);
/* Like emu_power_use, in an mmap of the user-mode page. Returns 0, or -EDEADLK with a warning if
 * the kernel would deadlock. */
int emu_power_use_in_mmap(void);
/* Returns the time at which the engine must run to remove mappings of the page, or 0. */
uint64_t emu_power_deadline(void);

/* The requests that need power: side-effects.csv. */
extern const uint32_t emu_power_requests[];

extern const size_t emu_power_request_count;

#endif
