/* The scheduler: launch descriptors that wait for others. */
#ifndef TEGRACL_EMULATOR_SKED_H
#define TEGRACL_EMULATOR_SKED_H

#include <stdbool.h>
#include <stdint.h>

#include "emulator/engine/compute.h"
#include "emulator/engine/method.h"

struct emu_channel;
struct emu_fault;

struct emu_held_qmd {
  struct emu_held_qmd *next;
  uint64_t address;
  uint32_t dependences; /* remaining */
  bool scheduled;
  bool requires_scheduling; /* besides its dependences */
  struct emu_shader_state shader;
};

/* Does an action of SEND_SIGNALING_PCAS2_B. */
bool emu_sked_pcas(struct emu_channel *channel, uint64_t qmd_address, uint32_t action,
                   struct emu_fault *fault);
/* Starts a descriptor, or keeps it until its dependences are met. */
bool emu_sked_schedule(struct emu_channel *channel, uint64_t qmd_address,
                       const struct emu_shader_state *shader, struct emu_fault *fault);
bool emu_sked_decrement(struct emu_channel *channel, uint64_t qmd_address,
                        const struct emu_shader_state *shader, struct emu_fault *fault);
/* As emu_grids_run. A grid that will never start is a fault; a board would wait for ever. */
enum emu_step emu_sked_wait(struct emu_channel *channel, struct emu_fault *fault);
void emu_sked_drop(struct emu_channel *channel);

#endif
