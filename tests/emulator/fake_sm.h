/* Replaces the SM, so that the command stream and the scheduling of CTAs can be tested
 * separately. A "program" in GPU memory is one operation that each CTA does.
 */
#ifndef TEGRACL_TEST_FAKE_SM_H
#define TEGRACL_TEST_FAKE_SM_H

#include <stdint.h>

enum fake_operation {
  FAKE_ADD = 1,   /* *address += value, once for each CTA */
  FAKE_SPIN,      /* until *address == value; then *address2 += 1 */
  FAKE_BANK,      /* *address = word 0 of constant bank 0 */
  FAKE_TICKET,    /* CTA i waits until *address == i, then sets i + 1: reversed order */
  FAKE_COUNT,     /* *address2 += 1 for each turn, until *address == value */
  FAKE_TURNS,     /* in turn number value of each CTA *address += 1, and it ends */
  FAKE_FAULT,     /* an exception of kind value (enum sm_fault_kind) */
  FAKE_POOLS,     /* stores the pools of headers and samplers, and which sampler is taken */
  FAKE_WRITE_BAD, /* a fault at address */
};

struct fake_program {
  uint32_t operation;
  uint32_t pad;
  uint64_t address, value, address2;
};

/* What FAKE_COUNT was at work, known by its address2, in the order of time: an entry for as
 * long as it is the same. The last entry may grow; entries end with the array. */
struct fake_slice {
  uint64_t address2, first_ns, last_ns; /* the first and the last turn's beginning */
};
enum { FAKE_SLICES = 4096 };
extern struct fake_slice fake_slices[FAKE_SLICES];
extern _Atomic uint32_t fake_slice_count;

/* How often decoded code was forgotten. */
extern _Atomic unsigned fake_sm_invalidations;
/* How often the L1 caches were. */
extern _Atomic unsigned fake_sm_l1_invalidations;

#endif
