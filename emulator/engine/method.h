/* Results of methods, and helpers for the methods of all classes. */
#ifndef TEGRACL_EMULATOR_METHOD_H
#define TEGRACL_EMULATOR_METHOD_H

#include <stdint.h>

/* Classes that gpu/hw does not define (docs/hardware/kernel-interface.md 2.1.1). */
enum { EMU_CLASS_I2M = 0xa140, EMU_CLASS_2D = 0x902d };

/* The result of a method. */
enum emu_step {
  EMU_NEXT,  /* done */
  EMU_AGAIN, /* cannot be done yet; to be retried later */
  EMU_YIELD, /* done, and the turn ends */
  EMU_FAULT, /* *fault is set */
};

/* Set one half of an address, for addresses that two methods set. */
static inline void emu_set_high(uint64_t *address, uint32_t high) {
  *address = (uint64_t)high << 32 | (uint32_t)*address;
}

static inline void emu_set_low(uint64_t *address, uint32_t low) {
  *address = (*address >> 32) << 32 | low;
}

#endif
