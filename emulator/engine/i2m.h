/* Inline-to-memory, in the compute class or in class A140. */
#ifndef TEGRACL_EMULATOR_I2M_H
#define TEGRACL_EMULATOR_I2M_H

#include <stdbool.h>
#include <stdint.h>

#include "emulator/engine/method.h"
#include "emulator/engine/surface.h"

struct emu_channel;
struct emu_fault;

struct emu_i2m {
  uint32_t line_length, line_count;
  struct emu_surface surface;
  uint32_t block_size;
  uint64_t semaphore;
  uint32_t semaphore_payload;
  uint32_t launch;
  uint64_t remaining; /* bytes that the transfer still needs */
  uint64_t done;      /* bytes written */
};

enum emu_step emu_i2m_method(struct emu_channel *channel, struct emu_i2m *i2m, uint32_t method,
                             uint32_t data, struct emu_fault *fault);
/* Returns whether the method belongs to inline-to-memory. */
bool emu_i2m_owns(uint32_t method);
/* Executes LOAD_INLINE_DATA for several words. */
enum emu_step emu_i2m_data(struct emu_channel *channel, struct emu_i2m *i2m, const uint32_t *words,
                           uint32_t count, struct emu_fault *fault);

#endif
