/* Replaces the SM, so that the command stream and the scheduling of CTAs can be tested separately.
 * A "program" in GPU memory is one operation that each CTA executes. */
#ifndef TEGRACL_TEST_FAKE_SM_H
#define TEGRACL_TEST_FAKE_SM_H

#include <stdint.h>

enum fake_operation {
  FAKE_ADD = 1,   /* *address += value, once for each CTA */
  FAKE_SPIN,      /* waits until *address == value, then *address2 += 1 */
  FAKE_BANK,      /* *address = word 0 of constant bank 0 */
  FAKE_TICKET,    /* CTA i waits until *address == i, then sets i + 1: reversed order */
  FAKE_ORDER,     /* CTA i waits until *address == i, then sets i + 1. Some take value turns */
  FAKE_COUNT,     /* *address2 += 1 for each turn, until *address == value */
  FAKE_TURNS,     /* each CTA adds 1 to *address in its turn number value and ends */
  FAKE_FAULT,     /* an exception of kind value (enum sm_fault_kind) */
  FAKE_POOLS,     /* stores the pools of headers and samplers, and which sampler applies */
  FAKE_WRITE_BAD, /* a fault at address */
  FAKE_CODE,      /* *address = the decoded code's address */
  FAKE_LIKE,      /* *address = the grid's number of like grids */
};

struct fake_program {
  uint32_t operation;
  uint32_t pad;
  uint64_t address, value, address2;
};

/* The FAKE_COUNT grids that ran, identified by their address2, in order of time: one entry per
 * slice. The last entry may still grow. No more entries are added when the array is full. */
struct fake_slice {
  uint64_t address2, first_ns, last_ns; /* when the first and the last turn began */
};
enum { FAKE_SLICES = 4096 };
extern struct fake_slice fake_slices[FAKE_SLICES];
extern _Atomic uint32_t fake_slice_count;

/* How often decoded code was discarded. */
extern _Atomic unsigned fake_sm_invalidations;
/* How often the L1 caches were invalidated. */
extern _Atomic unsigned fake_sm_l1_invalidations;

#endif
