/* Grids of a channel, their decoded code, and the threads that run their CTAs. */
#ifndef TEGRACL_EMULATOR_GRID_H
#define TEGRACL_EMULATOR_GRID_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "emulator/engine/method.h"

struct emu_as;
struct emu_channel;
struct emu_fault;
struct emu_shader_state;
struct emu_worker_pool;
struct emulator_grid;
struct sm_code;
struct sm_counts;
struct sm_grid;

/* Decoded code, shared by the grids that run it. An invalidate replaces it if a grid of another
 * channel still runs it. */
struct emu_code {
  struct sm_code *sm;
  atomic_int users; /* grids, and the address space while it is its newest */
};

/* Queues a grid after the channel's others. The descriptor is read when the grid starts. */
bool emu_grid_launch(struct emu_channel *channel, uint64_t qmd_address,
                     const struct emu_shader_state *shader, struct emu_fault *fault);
/* A grid with this descriptor has been launched and has not ended. */
bool emu_grid_active(const struct emu_channel *channel, uint64_t qmd_address);
/* A grid of the channel that has not ended uses local memory. */
bool emu_grids_use_local(const struct emu_channel *channel);
/* Runs the channel's grids. EMU_NEXT: all have ended. EMU_AGAIN: the turn is over, or
 * none may start yet (channel->engine->waiting). */
enum emu_step emu_grids_run(struct emu_channel *channel, struct emu_fault *fault);
/* Between turns: no grid runs that the TSG's preemption mode would let end first. */
bool emu_grids_give_way(const struct emu_channel *channel);
void emu_grids_drop(struct emu_channel *channel);
/* Profile mode: at the end of each CTA. */
void emu_grid_count(const struct sm_grid *grid, const struct sm_counts *counts);
/* For EMULATOR_IOCTL_GRID. */
void emu_grid_recall(const struct emu_as *as, struct emulator_grid *record);
void emu_grids_forked(void);
struct emu_worker_pool *emu_pool_create(int helpers);
void emu_pool_destroy(struct emu_worker_pool *pool);
/* Instruction cache invalidate. Engine thread. */
void emu_code_invalidate(struct emu_as *as);
void emu_code_put(struct emu_code *code);

#endif
