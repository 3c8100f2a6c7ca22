/* Semaphore writes of the engines. */
#ifndef TEGRACL_EMULATOR_REPORT_H
#define TEGRACL_EMULATOR_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "gpu/hw/host.h"
#include "gpu/hw/methods.h"

struct emu_as;
struct emu_channel;
struct emu_fault;

/* Addition of 32-bit floats, which the copy class supports and enum report_reduction lacks. */
enum { EMU_REDUCTION_FLOAT_ADD = REPORT_RED_XOR + 1 };

/* A write to a semaphore. */
struct emu_report {
  uint64_t address, payload;
  bool wide;      /* 64-bit payload */
  bool timestamp; /* four words with the time */
  bool reduce;
  unsigned reduction; /* enum report_reduction */
  bool reduce_signed;
};

/* Writes a semaphore, whose address must be aligned (emu_report_misaligned). Returns false with
 * *fault set on an error. */
bool emu_report_write(struct emu_channel *channel, const struct emu_report *report,
                      struct emu_fault *fault);
/* Reads the value that an acquire compares. Returns false with *fault set on an error. */
bool emu_semaphore_read(struct emu_as *as, uint64_t address, bool wide, uint64_t *value,
                        struct emu_fault *fault);
/* Returns whether the address is not a multiple of the number of bytes written: 4, 8 or 16. */
static inline bool emu_report_misaligned(const struct emu_report *report) {
  const uint64_t bytes = report->timestamp ? sizeof(struct semaphore_report)
                         : report->wide    ? sizeof(uint64_t)
                                           : sizeof(uint32_t);
  return report->address & (bytes - 1);
}

#endif
