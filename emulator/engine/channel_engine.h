/* The engine's state of a channel: its place in ring and pushbuffer, the state of the classes,
 * its grids.
 */
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

struct emu_channel_engine {
  uint32_t turns; /* turns so far */
  bool scheduled; /* has, or may have, work */
  uint32_t gp_get;
  struct emu_ring ring;
  struct emu_fetch fetch;
  struct emu_run run;
  bool waiting; /* its turn ended because it waits for a semaphore or a time */
  struct emu_adversary_state adversary;
  uint32_t subdevice_mask, stored_subdevice_mask;
  struct emu_host_state host;
  struct emu_compute compute;
  struct emu_mme *mme; /* with the compute class */
  struct emu_i2m i2m;
  bool i2m_bound;
  struct emu_copy copy;
  struct emu_grid *grids, **grids_tail; /* launched, not ended */
  atomic_int running_grids;             /* those that have started */
  atomic_int resident_ctas; /* of running grids, at the end of the channel's last turn */
  struct emu_held_qmd *held;
  struct emu_pin pin;
};

/* The state of a new channel; NULL: no memory. */
struct emu_channel_engine *emu_channel_engine_create(void);
/* Accepts NULL. */
void emu_channel_engine_destroy(struct emu_channel_engine *engine);

#endif
