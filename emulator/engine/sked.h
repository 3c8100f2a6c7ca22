/* The hardware scheduler: launch descriptors that wait for others. Functions that return false have
 * set *fault. */
#ifndef TEGRACL_EMULATOR_SKED_H
#define TEGRACL_EMULATOR_SKED_H

#include <stdbool.h>
#include <stdint.h>

#include "emulator/engine/compute.h"
#include "emulator/engine/method.h"

struct emu_channel;
struct emu_fault;

/* A descriptor that waits. */
struct emu_held_qmd {
  struct emu_held_qmd *next;
  uint64_t address;
  uint32_t dependences; /* remaining */
  bool scheduled;
  bool requires_scheduling; /* also waits for an action that schedules it */
  struct emu_shader_state shader;
};

/* Executes an action of SEND_SIGNALING_PCAS2_B. */
bool emu_sked_pcas(struct emu_channel *channel, uint64_t qmd_address, uint32_t action,
                   struct emu_fault *fault);
/* Launches the grid of a descriptor, or holds it until its dependences are met. */
bool emu_sked_schedule(struct emu_channel *channel, uint64_t qmd_address,
                       const struct emu_shader_state *shader, struct emu_fault *fault);
/* Decrements the dependence counter of a descriptor, whose grid starts at zero. */
bool emu_sked_decrement(struct emu_channel *channel, uint64_t qmd_address,
                        const struct emu_shader_state *shader, struct emu_fault *fault);
/* Runs the channel's grids like emu_grids_run. Raises a fault if a held descriptor can never start;
 * a board would wait forever. */
enum emu_step emu_sked_wait(struct emu_channel *channel, struct emu_fault *fault);
/* Drops the channel's held descriptors. */
void emu_sked_drop(struct emu_channel *channel);

#endif
