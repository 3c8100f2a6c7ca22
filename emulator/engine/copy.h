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

/* The component map of a remap (docs/hardware/command-stream.md 7.3). If it is not enabled,
 * elements are bytes. */
struct emu_remap {
  bool enabled;
  unsigned size, sources, destinations; /* bytes of a component; numbers of components */
  unsigned select[EMU_COPY_COMPONENTS];
  uint32_t constants[2];
};

/* A transfer that was launched and is not complete. */
struct emu_transfer {
  struct emu_remap remap;
  struct emu_surface source, destination;
  uint32_t lines;
  uint64_t length; /* bytes of a line, or elements if remapped */
  uint32_t line;   /* the current line */
  uint64_t done;   /* elements of the current line */
  bool pipelined;
  uint64_t not_before; /* adversarial timing: start time on PTIMER */
};

/* A linear copy. */
struct emu_span {
  uint64_t from, to, bytes;
};

/* Adversarial timing: the last bytes of a transfer, which were read but are not written yet. */
struct emu_posted {
  struct emu_surface destination;
  uint64_t line, column, bytes; /* bytes is 0 if there are none */
  uint64_t due;                 /* PTIMER */
  uint8_t data[EMU_COPY_POSTED];
};

struct emu_copy {
  bool bound;
  uint32_t state[EMU_COPY_STATE_WORDS]; /* the methods' data */
  bool launched; /* LAUNCH_DMA has begun a transfer, and is retried until it ends */
  struct emu_transfer transfers[EMU_COPY_TRANSFERS]; /* in launch order */
  unsigned transfer_count;
  struct emu_posted posted;
  /* Transfers that may still run when the next pipelined one begins. */
  struct emu_span pipelined[EMU_COPY_PIPELINED];
  unsigned pipelined_count;
};

/* Executes SET_OBJECT, which resets the state. */
void emu_copy_bind(struct emu_copy *copy);
enum emu_step emu_copy_method(struct emu_channel *channel, uint32_t method, uint32_t data,
                              struct emu_fault *fault);

/* Returns whether transfers are incomplete, or some of their bytes are not in memory yet. */
static inline bool emu_copies_pending(const struct emu_copy *copy) {
  return copy->transfer_count || copy->posted.bytes;
}

/* Runs the channel's transfers. Returns the same values as emu_grids_run. */
enum emu_step emu_copies_run(struct emu_channel *channel, struct emu_fault *fault);

#endif
