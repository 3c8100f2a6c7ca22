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

/* Returns NULL if out of memory. The caller holds the lock of the code cache. */
struct sm_entry *sm_entry_create(struct sm_code *code, uint64_t program, uint32_t registers);

/* code.c: like sm_code_page, but the caller holds the lock of the code cache. */
const struct sm_page *sm_code_page_locked(struct sm_code *code, uint64_t va, uint32_t registers);

#endif
