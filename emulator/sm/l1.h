/* A model of the L1 caches of the SMs, and of the caches of texture headers and samplers. A line
 * keeps the contents that memory had when the line was fetched, until it is invalidated.
 *
 * Rules of the model, and their sources:
 *
 * - An SM writes through and updates its own line, so threads of one CTA see each other's stores.
 *   The L2 cache executes the atomics of the SM, which drop the sector in L1. Writes by other SMs,
 *   the copy engine and the CPU do not change the line (PTX ISA, memory consistency model: only
 *   morally strong operations are ordered across CTAs).
 *
 * - Weak loads and those of CTA scope (LDG, LDG.STRONG.SM) may hit a line. Loads of a wider scope
 *   (LDG.STRONG.GPU, .SYS: volatile, relaxed.gpu) may not. ptxas 13.0 emits CCTL.IVALL after each
 *   acquire and fence of wider scope than a CTA, and only MEMBAR where a release suffices. So
 *   MEMBAR keeps the lines, and CCTL.IVALL drops them.
 *
 * - LDG.CONSTANT (ld.global.nc) reads memory that no kernel writes at the same time (PTX ISA).
 *   Stores and fences keep its lines; only operations before a grid drop them.
 *
 * - Texels, headers and samplers are only read. Their lines ignore stores, even of the same CTA,
 *   and fences; only operations before a grid drop them (docs/hardware/textures.md 4.3). Headers
 *   and samplers are found by channel and index: a pool that moves must also be invalidated.
 *
 * - Lines survive the end of a grid. QMD INVALIDATE_SHADER_DATA_CACHE (qmd-v03.csv) and
 *   INVALIDATE_SHADER_CACHES (docs/hardware/command-stream.md 4.4) drop them.
 *
 * - Lines have 128 bytes and are fetched in sectors of 32 bytes. Their tags are virtual addresses
 *   (Jia and others, "Dissecting the NVIDIA Volta GPU Architecture via Microbenchmarking", 2018),
 *   so a new mapping does not drop them either.
 *
 * - Any line may be dropped at any time. */
#ifndef TEGRACL_SM_L1_H
#define TEGRACL_SM_L1_H

#include "emulator/sm/state.h"

/* 128 KiB: what is left of 192 KiB when the carve-out for shared memory is small
 * (docs/hardware/command-stream.md 5.4). */
enum {
  SM_L1_LINE_BYTES = 128,
  SM_L1_SECTOR_BYTES = 32,
  SM_L1_SETS = 128,
  SM_L1_WAYS = 8,
};

struct sm_l1_line {
  const void *space; /* the address space of address; of headers and samplers, sm_grid.pools_of */
  uint64_t address;  /* of the first byte; of headers and samplers, the offset in the pool */
  uint32_t age;      /* age[kind] of the cache when the line was fetched; 0 if never */
  uint8_t kind;      /* enum sm_l1_kind */
  uint8_t sectors;   /* mask of the valid sectors */
  uint8_t data[SM_L1_LINE_BYTES];
};

/* The cache of one SM. */
struct sm_l1 {
  uint64_t random;
  uint32_t forgets;          /* one in this many hits fetches its sector again; 0 means none */
  uint32_t age[SM_L1_KINDS]; /* current ages; a line of another age is invalid */
  struct sm_l1_line line[SM_L1_SETS][SM_L1_WAYS];
};

struct sm_l1_caches {
  uint32_t count;
  uint64_t random; /* chooses the SM of each CTA and its initial contents */
  struct sm_l1 sm[];
};

/* Chooses an SM for a CTA that starts, and returns its index in sm[]. */
uint32_t sm_l1_pick(struct sm_l1_caches *caches);
/* Returns an arbitrary word, as an earlier CTA might have left in a register or in shared
 * memory. */
uint32_t sm_l1_leftover(struct sm_l1_caches *caches);

/* Returns the cache of a warp's SM. */
static inline struct sm_l1 *sm_l1_of(const struct sm_warp *w) {
  return &w->cta->grid->l1->sm[w->cta->sm_id];
}

/* In these functions, space is the address space and memory points to the current bytes at address,
 * all of which are in one sector. */

/* Returns the bytes that the SM reads, which are valid until the next call. */
uint8_t *sm_l1_read(struct sm_l1 *l1, const void *space, uint64_t address, const uint8_t *memory,
                    enum sm_l1_kind kind);
/* Updates the line after the SM has written the bytes. */
void sm_l1_written(struct sm_l1 *l1, const void *space, uint64_t address, const uint8_t *memory,
                   uint32_t bytes);
/* Drops the sector. Call this before the L2 cache executes an atomic of this SM. */
void sm_l1_drop(struct sm_l1 *l1, const void *space, uint64_t address);
/* CCTL.IVALL: drops the lines of SM_L1_DATA. */
void sm_l1_invalidate(struct sm_l1 *l1);

#endif
