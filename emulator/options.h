/* The options of the software Orin: TEGRACL_EMULATOR (docs/emulator.md). */
#ifndef TEGRACL_EMULATOR_OPTIONS_H
#define TEGRACL_EMULATOR_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

struct emu_board;

struct emu_options {
  bool bad; /* TEGRACL_EMULATOR has an error, which was printed on stderr */
  bool check;
  uint64_t watchdog;     /* limit of warp instructions of a CTA */
  uint64_t report_limit; /* number of reports */
  bool leaks;            /* report leaked buffers */
  bool profile;
  char *profile_file; /* NULL: none */
  const struct emu_board *board;
  uint64_t preempt_ms;  /* how long a preemption waits for grids; 0: they give way at once */
  bool preempt_stuck;   /* a preemption waits for grids to end in all modes, CILP too */
  bool switches;        /* a TSG's grids delay other TSGs, as its preemption mode says */
  uint64_t switch_ms;   /* duration of the context-switch timeout, 3 s on a board; 0: none */
  uint64_t railgate_ms; /* time without power references until the GPU is switched off */
  uint64_t memory_mib;  /* limit of memory; 0: the module's */
  bool r35;             /* the kernel interface of L4T r35, not r36 */
};

/* The options, read at the first call. */
const struct emu_options *emu_options(void);

#endif
