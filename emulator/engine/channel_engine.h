/* The engine's state of a channel: its position in the ring and the pushbuffer, the state of its
 * classes, and its grids. */
#ifndef TEGRACL_EMULATOR_CHANNEL_ENGINE_H
#define TEGRACL_EMULATOR_CHANNEL_ENGINE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "emulator/engine/compute.h"
#include "emulator/engine/copy.h"
#include "emulator/engine/host.h"
#include "emulator/engine/i2m.h"
#include "emulator/engine/mmu.h"
#include "emulator/engine/pushbuffer.h"

struct emu_grid;
struct emu_held_qmd;
struct emu_mme;

/* Aligned, so that clients write none of its cache lines. */
struct emu_channel_engine {
  _Alignas(128) uint32_t turns; /* turns so far */
  uint64_t turn_end;            /* when the current one must end, in the time of emu_time_ns */
  bool scheduled;               /* has work, or may have some */
  uint32_t gp_get;
  struct emu_ring ring;
  struct emu_fetch fetch;
  struct emu_run run;
  uint32_t steps;        /* headers and methods so far, to look at the clock now and then */
  bool progress_is_late; /* not yet in USERD (not in adversarial mode) */
  bool waiting;          /* the turn ended to wait for a semaphore or a point in time */
  struct emu_adversary_state adversary;
  uint32_t subdevice_mask, stored_subdevice_mask;
  struct emu_host_state host;
  struct emu_compute compute;
  struct emu_mme *mme; /* NULL unless the compute class is bound */
  struct emu_i2m i2m;
  bool i2m_bound;
  struct emu_copy copy;
  struct emu_grid *grids, **grids_tail; /* launched, not ended */
  struct emu_grid *spare_grid;          /* an ended one for reuse, or NULL */
  atomic_int running_grids;             /* number of grids that have started */
  atomic_int resident_ctas;             /* of running grids, at the end of the last turn */
  struct emu_held_qmd *held;
  struct emu_pin pin;
};

/* Returns the state of a new channel, or NULL if out of memory. */
struct emu_channel_engine *emu_channel_engine_create(void);
/* Accepts NULL. */
void emu_channel_engine_destroy(struct emu_channel_engine *engine);

#endif
