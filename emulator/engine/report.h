/* Semaphore writes of the engines. */
#ifndef TEGRACL_EMULATOR_REPORT_H
#define TEGRACL_EMULATOR_REPORT_H

#include <stdbool.h>
#include <stdint.h>

struct emu_as;
struct emu_channel;
struct emu_fault;

enum emu_reduction {
  EMU_RED_ADD,
  EMU_RED_MIN,
  EMU_RED_MAX,
  EMU_RED_INC,
  EMU_RED_DEC,
  EMU_RED_AND,
  EMU_RED_OR,
  EMU_RED_XOR,
  EMU_RED_FLOAT_ADD, /* copy class only; 32 bits */
};

struct emu_report {
  uint64_t address, payload;
  bool wide;      /* 64-bit payload */
  bool timestamp; /* four words with the time */
  bool reduce;
  enum emu_reduction reduction;
  bool reduce_signed;
};

/* Writes a semaphore at any 4-byte aligned address (8 for 64 bits). */
bool emu_report_write(struct emu_channel *channel, const struct emu_report *report,
                      struct emu_fault *fault);
/* Reads the value that an acquire compares. False: the fault is filled in. */
bool emu_semaphore_read(struct emu_as *as, uint64_t address, bool wide, uint64_t *value,
                        struct emu_fault *fault);
/* Its address is not a multiple of the size that it writes: 4, 8 or 16 bytes. */
bool emu_report_misaligned(const struct emu_report *report);

#endif
