/* The L1 data caches of the SMs, where they are modelled: they serve a line as it was
 * when it was fetched until they are told otherwise.
 *
 * What an SM does, and what no source promises:
 * - It writes through, and its own line follows: threads of one CTA see each other's
 *   stores. Its atomics are the L2 cache's and drop the sector. What other SMs, the copy
 *   engine and the CPU write leaves its lines as they are (PTX ISA, memory consistency
 *   model: only morally strong operations are ordered across CTAs).
 * - Weak loads and those of CTA scope (LDG, LDG.STRONG.SM) may be served by it; wider
 *   ones (LDG.STRONG.GPU, .SYS: volatile, relaxed.gpu) may not. ptxas 13.0 puts
 *   CCTL.IVALL after each acquire and fence of wider scope than a CTA, and MEMBAR
 *   alone where a release suffices: so that MEMBAR leaves lines alone, and CCTL.IVALL
 *   drops them.
 * - LDG.CONSTANT (ld.global.nc) reads what no kernel writes meanwhile (PTX ISA): its
 *   lines follow no store and no fence; only what comes before a grid drops them.
 * - Between grids lines stay: QMD INVALIDATE_SHADER_DATA_CACHE (qmd-v03.csv) and
 *   INVALIDATE_SHADER_CACHES (docs/hardware/command-stream.md 4.4) drop them.
 * - Lines are 128 bytes of which 32-byte sectors are fetched; they are found by virtual
 *   address (Jia and others, "Dissecting the NVIDIA Volta GPU Architecture via
 *   Microbenchmarking", 2018), so that a new mapping does not drop them either.
 * - Any line may go at any time.
 */
#ifndef TEGRACL_SM_L1_H
#define TEGRACL_SM_L1_H

#include "emulator/sm/state.h"

/* 128 KiB: what is left of 192 where shared memory is small (docs/hardware/command-stream.md 5.4).
 */
enum {
  SM_L1_LINE_BYTES = 128,
  SM_L1_SECTOR_BYTES = 32,
  SM_L1_SETS = 128,
  SM_L1_WAYS = 8,
};

struct sm_l1_line {
  const void *space; /* whose addresses these are */
  uint64_t address;  /* of its first byte */
  uint32_t age;      /* that of its kind when it was fetched; 0: never */
  bool constant;     /* read by LDG.CONSTANT */
  uint8_t sectors;   /* mask of those that it has */
  uint8_t data[SM_L1_LINE_BYTES];
};

/* One SM's. */
struct sm_l1 {
  uint64_t random;
  uint32_t forgets; /* one in how many hits finds that its sector has gone; 0: none */
  uint32_t age[2];  /* of other lines; of constant ones. An older line is gone. */
  struct sm_l1_line line[SM_L1_SETS][SM_L1_WAYS];
};

struct sm_l1_caches {
  uint32_t count;
  uint64_t random; /* which SM a CTA goes to, and what it finds there */
  struct sm_l1 sm[];
};

/* A CTA begins: on which SM. */
uint32_t sm_l1_pick(struct sm_l1_caches *caches);
/* What those before it left in registers and shared memory: anything. */
uint32_t sm_l1_leftover(struct sm_l1_caches *caches);

/* Of the SM that a warp is on. */
static inline struct sm_l1 *sm_l1_of(const struct sm_warp *w) {
  return &w->cta->grid->l1->sm[w->cta->sm_id];
}

/* space: that of the addresses. memory: the bytes at address, all in one sector. */

/* The bytes as the SM sees them, until the next call. */
uint8_t *sm_l1_read(struct sm_l1 *l1, const void *space, uint64_t address, uint8_t *memory,
                    bool constant);
/* They have been written by this SM. */
void sm_l1_written(struct sm_l1 *l1, const void *space, uint64_t address, const uint8_t *memory,
                   uint32_t bytes);
/* They are about to be changed elsewhere, for this SM. */
void sm_l1_drop(struct sm_l1 *l1, const void *space, uint64_t address);
/* CCTL.IVALL. */
void sm_l1_invalidate(struct sm_l1 *l1);

#endif
