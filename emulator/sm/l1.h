/* A model of the L1 data caches of the SMs: a line keeps the contents that memory had when the line
 * was fetched, until it is invalidated.
 *
 * What an SM guarantees, and what it does not:
 *
 * - It writes through, and updates its own line: threads of one CTA see each other's
 * stores. Its atomics are executed by the L2 cache and drop the sector. Writes of other
 * SMs, the copy engine and the CPU do not change its lines (PTX ISA, memory
 * consistency model: only morally strong operations are ordered across CTAs).
 *
 * - Weak loads and those of CTA scope (LDG, LDG.STRONG.SM) may hit it; wider ones
 * (LDG.STRONG.GPU, .SYS: volatile, relaxed.gpu) may not. ptxas 13.0 puts CCTL.IVALL after
 * each acquire and fence of wider scope than a CTA, and MEMBAR alone where a release
 * suffices. So MEMBAR does not change lines, and CCTL.IVALL drops them.
 *
 * - LDG.CONSTANT (ld.global.nc) reads memory that no kernel writes at the same time (PTX ISA):
 * its lines ignore stores and fences; only operations before a grid drop them.
 *
 * - Between grids lines stay: QMD INVALIDATE_SHADER_DATA_CACHE (qmd-v03.csv) and
 * INVALIDATE_SHADER_CACHES (docs/hardware/command-stream.md 4.4) drop them.
 *
 * - Lines are 128 bytes, fetched in sectors of 32 bytes. They are found by virtual address
 * (Jia and others, "Dissecting the NVIDIA Volta GPU Architecture via Microbenchmarking",
 * 2018), so a new mapping does not drop them either.
 *
 * - Any line may be dropped at any time.
 */
#ifndef TEGRACL_SM_L1_H
#define TEGRACL_SM_L1_H

#include "emulator/sm/state.h"

/* 128 KiB: what shared memory leaves of 192 KiB if it is small (docs/hardware/command-stream.md
 * 5.4). */
enum {
  SM_L1_LINE_BYTES = 128,
  SM_L1_SECTOR_BYTES = 32,
  SM_L1_SETS = 128,
  SM_L1_WAYS = 8,
};

struct sm_l1_line {
  const void *space; /* the address space of the address */
  uint64_t address;  /* of its first byte */
  uint32_t age;      /* the cache's age for its kind when it was fetched; 0: never */
  bool constant;     /* read by LDG.CONSTANT */
  uint8_t sectors;   /* mask of its valid sectors */
  uint8_t data[SM_L1_LINE_BYTES];
};

/* The cache of one SM. */
struct sm_l1 {
  uint64_t random;
  uint32_t forgets; /* one of this many hits drops its sector and fetches it again; 0: none */
  uint32_t age[2];  /* of other lines; of constant ones. A line of another age is invalid. */
  struct sm_l1_line line[SM_L1_SETS][SM_L1_WAYS];
};

struct sm_l1_caches {
  uint32_t count;
  uint64_t random; /* chooses the SM of a CTA, and its initial contents */
  struct sm_l1 sm[];
};

/* Chooses the SM of a CTA that starts: an index of sm[]. */
uint32_t sm_l1_pick(struct sm_l1_caches *caches);
/* An arbitrary word, which an earlier CTA left in a register or in shared memory. */
uint32_t sm_l1_leftover(struct sm_l1_caches *caches);

/* The cache of a warp's SM. */
static inline struct sm_l1 *sm_l1_of(const struct sm_warp *w) {
  return &w->cta->grid->l1->sm[w->cta->sm_id];
}

/* In these functions, space is the address space, and memory has the current bytes at address,
 * which are in one sector. */

/* The bytes that the SM reads; valid until the next call. */
uint8_t *sm_l1_read(struct sm_l1 *l1, const void *space, uint64_t address, uint8_t *memory,
                    bool constant);
/* This SM has written the bytes. */
void sm_l1_written(struct sm_l1 *l1, const void *space, uint64_t address, const uint8_t *memory,
                   uint32_t bytes);
/* Call before the L2 cache changes the bytes for this SM (atomics). */
void sm_l1_drop(struct sm_l1 *l1, const void *space, uint64_t address);
/* CCTL.IVALL: drops all lines except the constant ones. */
void sm_l1_invalidate(struct sm_l1 *l1);

#endif
