/* Profile mode. */
#ifndef TEGRACL_EMULATOR_PROFILE_H
#define TEGRACL_EMULATOR_PROFILE_H

#include <stdint.h>

struct sm_counts;
struct sm_grid;

/* Adds the counts of a CTA that has ended. */
void emu_profile_count(const struct sm_grid *grid, const struct sm_counts *counts);
/* Counts a grid that has ended. */
void emu_profile_grid(const struct sm_grid *grid, uint64_t ctas, uint32_t ctas_per_sm);
/* Prints the counts since the previous call. */
void emu_profile_print(void);
/* Resets the lock and the counts. Call in the child after fork. */
void emu_profile_forked(void);

#endif
