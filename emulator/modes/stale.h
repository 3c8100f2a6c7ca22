/* Caches of adversarial mode, which return stale data. In other modes these functions do nothing
 * unless stated otherwise. All but the functions that free are called on the engine thread. */
#ifndef TEGRACL_EMULATOR_STALE_H
#define TEGRACL_EMULATOR_STALE_H

#include <stdbool.h>
#include <stdint.h>

#include "emulator/sm/sm.h"

struct emu_as;
struct emu_channel;
struct emu_launch;
struct emu_stale_bank;

struct emu_invalidate {
  bool code, data, constants;
  bool texels, headers, samplers; /* of textures */
};

/* Invalidates caches. Code is invalidated in all modes. */
void emu_stale_invalidate(struct emu_as *as, const struct emu_invalidate *what);
/* Invalidates one texture header or sampler of a channel. */
void emu_stale_drop_texture(const struct emu_channel *channel, enum sm_l1_kind kind,
                            uint32_t index);
/* Returns the descriptor in the scheduler's cache. If there is none, caches the one at qmd. Without
 * a cache, returns qmd. */
const uint32_t *emu_stale_descriptor(struct emu_as *as, uint64_t address, const uint32_t *qmd);
/* Reads a descriptor into the scheduler's cache. */
void emu_stale_prefetch(struct emu_as *as, uint64_t address);
/* Drop one descriptor or all descriptors from the cache. */
void emu_stale_drop_descriptor(struct emu_as *as, uint64_t address);
void emu_stale_drop_descriptors(struct emu_as *as);
/* Replaces the descriptor of a grid that starts by that in the scheduler's cache, after the cache
 * may have lost it. */
void emu_stale_start(struct emu_as *as, uint64_t address, uint32_t *qmd);
/* Sets up the caches and constant banks of a decoded grid. Returns the banks, which the grid owns,
 * or NULL if there are none. */
struct emu_stale_bank *emu_stale_begin(struct emu_as *as, const uint32_t *qmd,
                                       struct emu_launch *launch);
/* Caches the banks that the grid has read from memory. */
void emu_stale_end(struct emu_as *as, const struct emu_stale_bank *banks);
void emu_stale_free_banks(struct emu_stale_bank *banks);
/* Returns whether code of an address space uses the L1 caches. */
bool emu_stale_code(struct emu_as *as);
/* Free the caches of an address space, and those of the SMs. */
void emu_stale_free(struct emu_as *as);
void emu_stale_stop(void);

#endif
