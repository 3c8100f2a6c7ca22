/* The options of the software Orin: TEGRACL_EMULATOR (docs/emulator.md). */
#ifndef TEGRACL_EMULATOR_OPTIONS_H
#define TEGRACL_EMULATOR_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

struct emu_board;

struct emu_options {
  bool bad; /* TEGRACL_EMULATOR has an error, which was printed */
  bool check;
  uint64_t watchdog;     /* limit of warp instructions per CTA */
  uint64_t report_limit; /* number of reports */
  bool leaks;            /* report leaked buffers */
  bool profile;
  char *profile_file; /* NULL: none */
  const struct emu_board *board;
  uint64_t preempt_ms;  /* how long a preemption waits for grids; 0 means not at all */
  bool preempt_stuck;   /* preemptions wait until grids end in all modes, including CILP */
  bool switches;        /* grids of a TSG delay other TSGs according to its preemption mode */
  uint64_t switch_ms;   /* context-switch timeout, 3000 on a board; 0 means none */
  uint64_t railgate_ms; /* time without power references until the GPU is powered off */
  uint64_t memory_mib;  /* limit of memory; 0 means that of the module */
  bool r35;             /* emulate the kernel interface of L4T r35 instead of r36 */
};

/* Returns the options, which are parsed at the first call. */
const struct emu_options *emu_options(void);

#endif
