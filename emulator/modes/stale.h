/* Stale caches of adversarial mode; otherwise these do nothing. Engine thread. */
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

/* Invalidates caches for a method. In any mode. */
void emu_stale_invalidate(struct emu_as *as, const struct emu_invalidate *what);
/* The scheduler reads a descriptor: changes qmd from the contents of memory to what it sees. */
void emu_stale_descriptor(struct emu_as *as, uint64_t address, uint32_t *qmd);
/* The scheduler reads a descriptor that may be scheduled later. */
void emu_stale_prefetch(struct emu_as *as, uint64_t address);
void emu_stale_drop_descriptor(struct emu_as *as, uint64_t address);
void emu_stale_drop_descriptors(struct emu_as *as);
/* A grid starts: its descriptor as the cache returns it. */
void emu_stale_start(struct emu_as *as, uint64_t address, uint32_t *qmd);
/* Sets up its banks and caches after decoding. The grid owns the result. */
struct emu_stale_bank *emu_stale_begin(struct emu_as *as, const uint32_t *qmd,
                                       struct emu_launch *launch);
void emu_stale_end(struct emu_as *as, const struct emu_stale_bank *banks);
void emu_stale_free_banks(struct emu_stale_bank *banks);
/* Whether code of an address space uses the L1 caches. */
bool emu_stale_code(struct emu_as *as);
/* The address space ends; the engine stops. */
void emu_stale_free(struct emu_as *as);
void emu_stale_stop(void);

#endif
