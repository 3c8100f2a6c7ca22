/* Caches of adversarial mode, which return stale data. In other modes these functions do nothing
 * unless they say so. All but those that free are called on the engine thread. */
#ifndef TEGRACL_EMULATOR_STALE_H
#define TEGRACL_EMULATOR_STALE_H

#include <stdbool.h>
#include <stdint.h>

struct emu_as;
struct emu_launch;
struct emu_stale_bank;

struct emu_invalidate {
  bool code, data, constants;
};

/* Invalidates caches. In any mode for code. */
void emu_stale_invalidate(struct emu_as *as, const struct emu_invalidate *what);
/* Replaces the contents of a descriptor in memory by those that the scheduler reads from its
 * cache. */
void emu_stale_descriptor(struct emu_as *as, uint64_t address, uint32_t *qmd);
/* Reads a descriptor into the scheduler's cache. */
void emu_stale_prefetch(struct emu_as *as, uint64_t address);
/* Drop one descriptor, or all, from the cache. */
void emu_stale_drop_descriptor(struct emu_as *as, uint64_t address);
void emu_stale_drop_descriptors(struct emu_as *as);
/* emu_stale_descriptor for a grid that starts; the cache may have lost the descriptor. */
void emu_stale_start(struct emu_as *as, uint64_t address, uint32_t *qmd);
/* Sets up the caches and constant banks of a decoded grid, which owns the result (NULL: none). */
struct emu_stale_bank *emu_stale_begin(struct emu_as *as, const uint32_t *qmd,
                                       struct emu_launch *launch);
/* Caches the banks that the grid has read from memory. */
void emu_stale_end(struct emu_as *as, const struct emu_stale_bank *banks);
void emu_stale_free_banks(struct emu_stale_bank *banks);
/* Whether code of an address space uses the L1 caches. */
bool emu_stale_code(struct emu_as *as);
/* Free the caches of an address space, and those of the SMs. */
void emu_stale_free(struct emu_as *as);
void emu_stale_stop(void);

#endif
