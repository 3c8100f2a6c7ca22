/* Results of methods, and helpers of the methods of all classes. */
#ifndef TEGRACL_EMULATOR_METHOD_H
#define TEGRACL_EMULATOR_METHOD_H

#include <stdint.h>

/* Classes that gpu/hw does not name; docs/hardware/kernel-interface.md 2.1.1. */
enum { EMU_CLASS_I2M = 0xa140, EMU_CLASS_2D = 0x902d };

/* The result of a method. */
enum emu_step {
  EMU_NEXT,  /* done */
  EMU_AGAIN, /* cannot be done yet; retry later */
  EMU_YIELD, /* done; end the turn */
  EMU_FAULT, /* the fault is filled in */
};

/* Set one half of an address, whose halves are set by two methods. */
static inline void emu_set_high(uint64_t *address, uint32_t high) {
  *address = (uint64_t)high << 32 | (uint32_t)*address;
}

static inline void emu_set_low(uint64_t *address, uint32_t low) {
  *address = (*address >> 32) << 32 | low;
}

#endif
