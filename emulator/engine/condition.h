/* SET_RENDER_ENABLE: conditional work. */
#ifndef TEGRACL_EMULATOR_CONDITION_H
#define TEGRACL_EMULATOR_CONDITION_H

#include <stdbool.h>
#include <stdint.h>

struct emu_as;
struct emu_fault;

struct emu_condition {
  uint64_t address;
  uint32_t mode; /* enum render_enable_mode */
};

/* Sets *holds to whether conditional work must be executed. Returns false with *fault set on an
 * error. */
bool emu_condition_holds(struct emu_as *as, const struct emu_condition *condition, bool *holds,
                         struct emu_fault *fault);

#endif
