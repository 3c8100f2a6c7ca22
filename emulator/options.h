/* TEGRACL_EMULATOR: the options that the user gave the software Orin. */
#ifndef TEGRACL_EMULATOR_OPTIONS_H
#define TEGRACL_EMULATOR_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

struct emu_board;

struct emu_options {
  bool bad; /* and that was said on stderr */
  bool check;
  uint64_t watchdog; /* warp instructions of a CTA */
  uint64_t report_limit;
  bool leaks; /* of buffers are reported */
  bool profile;
  char *profile_file; /* NULL: none */
  const struct emu_board *board;
  uint64_t preempt_ms;  /* a preemption waits so long for grids that must end; 0: it needs none */
  bool preempt_stuck;   /* and no mode lets them give way before their end */
  bool switches;        /* a TSG's grids keep other TSGs waiting, by its mode of preemption */
  uint64_t switch_ms;   /* what 3 s of the context-switch timeout are here; 0: no end */
  uint64_t railgate_ms; /* without power references until the GPU is switched off */
  uint64_t memory_mib;  /* no more than this; 0: the module's */
  bool r35;             /* the kernel interface of L4T r35, not r36 */
};

const struct emu_options *emu_options(void);

#endif
