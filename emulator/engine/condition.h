/* SET_RENDER_ENABLE: conditional work. */
#ifndef TEGRACL_EMULATOR_CONDITION_H
#define TEGRACL_EMULATOR_CONDITION_H

#include <stdbool.h>
#include <stdint.h>

#include "gpu/hw/methods.h"

struct emu_as;
struct emu_fault;

struct emu_condition {
  uint64_t address;
  uint32_t mode; /* enum render_enable_mode */
};

/* Implements emu_condition_holds for modes other than ALWAYS. */
bool emu_condition_read(struct emu_as *as, const struct emu_condition *condition, bool *holds,
                        struct emu_fault *fault);
/* Sets *holds to whether conditional work must be executed. Returns false with *fault set on an
 * error. */
static inline bool emu_condition_holds(struct emu_as *as, const struct emu_condition *condition,
                                       bool *holds, struct emu_fault *fault) {
  *holds = true;
  return condition->mode == RENDER_ENABLE_ALWAYS || emu_condition_read(as, condition, holds, fault);
}

#endif
