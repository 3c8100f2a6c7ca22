/* The copy class. */
#ifndef TEGRACL_EMULATOR_COPY_H
#define TEGRACL_EMULATOR_COPY_H

#include <stdbool.h>
#include <stdint.h>

#include "emulator/engine/method.h"
#include "emulator/engine/surface.h"
#include "gpu/hw/methods.h"

struct emu_channel;
struct emu_fault;

enum {
  EMU_COPY_STATE_WORDS = NVC7B5_DST_ORIGIN_Y / 4 + 1,
  EMU_COPY_PIPELINED = 8,
  EMU_COPY_TRANSFERS = 8,
  EMU_COPY_COMPONENTS = 4,
  EMU_COPY_POSTED = 256,
};

/* The component map of a remap; docs/hardware/command-stream.md 7.3. Not enabled: elements are
 * bytes. */
struct emu_remap {
  bool enabled;
  unsigned size, sources, destinations; /* bytes of a component, and numbers of components */
  unsigned select[EMU_COPY_COMPONENTS];
  uint32_t constants[2];
};

/* A transfer that was launched and has not ended. */
struct emu_transfer {
  struct emu_remap remap;
  struct emu_surface source, destination;
  uint32_t lines;
  uint64_t length; /* elements of a line */
  uint32_t line;   /* the current one */
  uint64_t done;   /* elements of it */
  bool pipelined;
  uint64_t not_before; /* adversarial timing; PTIMER */
};

/* A linear copy of bytes. */
struct emu_span {
  uint64_t from, to, bytes;
};

/* Adversarial timing: the last bytes of a transfer, read and not yet written. */
struct emu_posted {
  struct emu_surface destination;
  uint64_t line, column, bytes; /* bytes 0: none */
  uint64_t due;                 /* PTIMER */
  uint8_t data[EMU_COPY_POSTED];
};

struct emu_copy {
  bool bound;
  uint32_t state[EMU_COPY_STATE_WORDS]; /* the methods' data */
  bool launched; /* LAUNCH_DMA, which is retried until its transfer ends, has begun it */
  struct emu_transfer transfers[EMU_COPY_TRANSFERS]; /* in the order of their launches */
  unsigned transfer_count;
  struct emu_posted posted;
  /* Transfers that may still run when the next pipelined one begins. */
  struct emu_span pipelined[EMU_COPY_PIPELINED];
  unsigned pipelined_count;
};

/* SET_OBJECT: the state after reset. */
void emu_copy_bind(struct emu_copy *copy);
enum emu_step emu_copy_method(struct emu_channel *channel, uint32_t method, uint32_t data,
                              struct emu_fault *fault);

/* Whether transfers have not ended, or not all their bytes are in memory. */
static inline bool emu_copies_pending(const struct emu_copy *copy) {
  return copy->transfer_count || copy->posted.bytes;
}

/* Runs the channel's transfers. Returns as emu_grids_run. */
enum emu_step emu_copies_run(struct emu_channel *channel, struct emu_fault *fault);

#endif
