/* The modules with a GA10B, from boards.csv. */
#ifndef TEGRACL_EMULATOR_BOARDS_H
#define TEGRACL_EMULATOR_BOARDS_H

#include <stddef.h>
#include <stdint.h>

#include "gpu/hw/memory.h"

/* Units of a GA10B of which nothing is fused off (docs/hardware/kernel-interface.md traps T11,
 * T12). */
enum {
  EMU_GPCS = 2,
  EMU_TPCS_PER_GPC = 4,
  EMU_TPCS = EMU_GPCS * EMU_TPCS_PER_GPC,
  EMU_SMS = EMU_TPCS * SMS_PER_TPC,
};

/* A module in its mode of maximum power. */
struct emu_board {
  const char *word, *title;     /* in TEGRACL_EMULATOR; in output */
  uint32_t gpcs, sms;           /* available ones, which are not fused off */
  uint32_t tpc_masks[EMU_GPCS]; /* a bit for each TPC of each GPC */
  uint64_t gpu_max_hz, memory_bytes, dram_bytes_per_s;
};

extern const struct emu_board emu_boards[]; /* the first one is the default */
extern const size_t emu_board_count;

/* Returns the board that TEGRACL_EMULATOR selects. */
const struct emu_board *emu_board(void);

#endif
