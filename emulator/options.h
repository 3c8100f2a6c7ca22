/* TEGRACL_EMULATOR: the options that the user gave the software Orin. */
#ifndef TEGRACL_EMULATOR_OPTIONS_H
#define TEGRACL_EMULATOR_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

struct emu_board;

struct emu_options {
  bool bad; /* an error was printed on stderr */
  bool check;
  uint64_t watchdog; /* limit of warp instructions of a CTA */
  uint64_t report_limit;
  bool leaks; /* report leaked buffers */
  bool profile;
  char *profile_file; /* NULL: none */
  const struct emu_board *board;
  uint64_t preempt_ms;  /* a preemption waits this long for grids that must end; 0: not at all */
  bool preempt_stuck;   /* no mode makes them give way before their end */
  bool switches;        /* a TSG's grids delay other TSGs, by its preemption mode */
  uint64_t switch_ms;   /* duration of the context-switch timeout, 3 s on a board; 0: none */
  uint64_t railgate_ms; /* time without power references until the GPU is switched off */
  uint64_t memory_mib;  /* limit of memory; 0: the module's */
  bool r35;             /* the kernel interface of L4T r35, not r36 */
};

const struct emu_options *emu_options(void);

#endif
