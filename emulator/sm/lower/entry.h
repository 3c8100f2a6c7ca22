/* The registers that a kernel may read before it writes them. */
#ifndef TEGRACL_SM_ENTRY_H
#define TEGRACL_SM_ENTRY_H

#include "emulator/sm/sm.h"

/* Consecutive slots of the register file (SM_SLOT_*). */
struct sm_run {
  uint16_t slot, count;
};

enum { SM_ENTRY_RUNS = 8 };

struct sm_entry {
  struct sm_entry *next; /* in its hash bucket */
  uint64_t program;
  uint32_t registers;
  uint32_t run_count;
  struct sm_run run[SM_ENTRY_RUNS]; /* each is of uniform or of general registers */
};

/* Returns NULL if out of memory. */
struct sm_entry *sm_entry_create(const struct sm_memory *memory, uint64_t program,
                                 uint32_t registers);

/* Copies the instruction at va. Returns false if nothing is mapped there. */
bool sm_fetch_instruction(const struct sm_memory *memory, uint64_t va, uint64_t word[2]);

#endif
