/* The modules with GA10B: boards.csv. */
#ifndef TEGRACL_EMULATOR_BOARDS_H
#define TEGRACL_EMULATOR_BOARDS_H

#include <stddef.h>
#include <stdint.h>

#include "gpu/hw/memory.h"

/* GA10B with nothing fused off; docs/hardware/kernel-interface.md traps T11, T12. */
enum {
  EMU_GPCS = 2,
  EMU_TPCS_PER_GPC = 4,
  EMU_TPCS = EMU_GPCS * EMU_TPCS_PER_GPC,
  EMU_SMS = EMU_TPCS * SMS_PER_TPC,
};

/* A module at full power. */
struct emu_board {
  const char *word, *title;     /* for TEGRACL_EMULATOR and for output */
  uint32_t gpcs, sms;           /* that are not fused off */
  uint32_t tpc_masks[EMU_GPCS]; /* a bit for each TPC of a GPC */
  uint64_t gpu_max_hz, memory_bytes, dram_bytes_per_s;
};

extern const struct emu_board emu_boards[]; /* the first is the default */
extern const size_t emu_board_count;

/* The board that TEGRACL_EMULATOR chose. */
const struct emu_board *emu_board(void);

#endif
