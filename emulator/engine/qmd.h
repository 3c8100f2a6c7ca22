/* Launch descriptors (QMD). Functions that return false have set *fault. */
#ifndef TEGRACL_EMULATOR_QMD_H
#define TEGRACL_EMULATOR_QMD_H

#include <stdbool.h>
#include <stdint.h>

#include "emulator/engine/compute.h"
#include "emulator/engine/report.h"
#include "emulator/sm/sm.h"
#include "gpu/hw/qmd.h"

struct emu_as;
struct emu_fault;

struct emu_release {
  bool enabled;
  bool interrupt;
  struct emu_report report;
};

struct emu_launch {
  bool decoded; /* the members below and qmd and state belong together */
  uint32_t qmd[QMD_WORDS];
  struct emu_shader_state state;
  struct sm_grid sm;
  uint64_t qmd_address;
  bool invalidate_code;
  bool one_at_a_time; /* runs one CTA after the other */
  int per_sm;         /* number of CTAs that one SM holds */
  uint32_t banks;     /* mask of the valid constant banks */
  uint64_t first_cta; /* index, nonzero for the descriptor of a preempted grid */
  struct emu_release release[3];
  bool dependent;
  uint64_t dependent_qmd;
  uint32_t dependent_action;
};

/* Decodes and checks a descriptor, as the scheduler and the front end do. *launch is that of an
 * earlier descriptor, or not decoded. */
bool emu_qmd_decode(struct emu_as *as, const struct emu_shader_state *state, uint64_t qmd_address,
                    const uint32_t *qmd, struct emu_launch *launch, struct emu_fault *fault);
/* Returns whether all constant banks of the descriptor are mapped. */
bool emu_qmd_banks(struct emu_as *as, uint64_t qmd_address, const uint32_t *qmd,
                   struct emu_fault *fault);
/* Returns whether the grid uses local memory. Does not set a fault. */
bool emu_qmd_uses_local(const uint32_t *qmd);
/* Returns whether the whole pool at SET_SHADER_LOCAL_MEMORY is mapped. */
bool emu_local_pool(struct emu_as *as, const struct emu_shader_state *state,
                    struct emu_fault *fault);
/* Returns the descriptor in memory, or NULL with *fault set (grid.c). */
const uint32_t *emu_qmd_find(struct emu_as *as, uint64_t address, struct emu_fault *fault);

#endif
