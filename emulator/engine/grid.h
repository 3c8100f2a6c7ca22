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
struct emu_grid;
struct emu_shader_state;
struct emu_worker_pool;
struct emulator_grid;
struct sm_code;
struct sm_counts;
struct sm_grid;

/* Decoded code, which all grids of an address space share. If it is invalidated while a grid uses
 * it, the address space gets a new one. */
struct emu_code {
  struct sm_code *sm;
  /* The number of grids, including those that channels keep for their next launch, plus one for the
   * address space whose current code it is. */
  atomic_int users;
};

/* Queues a grid after the channel's other grids. qmd is the descriptor in memory, which must not
 * change until the grid starts. Returns false with *fault set on an error. */
bool emu_grid_launch(struct emu_channel *channel, uint64_t qmd_address, const uint32_t *qmd,
                     const struct emu_shader_state *shader, struct emu_fault *fault);
/* Returns whether a grid with this descriptor was launched and has not ended. */
bool emu_grid_active(const struct emu_channel *channel, uint64_t qmd_address);
/* Returns whether a grid of the channel that has not ended uses local memory. */
bool emu_grids_use_local(const struct emu_channel *channel);
/* Returns whether a grid of the channel that has not ended has a pool of texture headers. */
bool emu_grids_use_textures(const struct emu_channel *channel);
/* Runs the channel's grids. Returns EMU_NEXT when all have ended, or EMU_AGAIN if the turn is over
 * or none may start yet (channel->engine->waiting). */
enum emu_step emu_grids_run(struct emu_channel *channel, struct emu_fault *fault);
/* Returns whether the TSG's preemption mode lets the channel's grids be preempted now. Must be
 * called between turns. */
bool emu_grids_give_way(const struct emu_channel *channel);
/* Frees the grid that a channel keeps for its next. Accepts NULL. */
void emu_grid_free(struct emu_grid *grid);
/* Drops the channel's grids. Must be called between turns, with gpu.lock held. */
void emu_grids_drop(struct emu_channel *channel);
/* Profile mode: adds the counts of a CTA that has ended. */
void emu_grid_count(const struct sm_grid *grid, const struct sm_counts *counts);
/* EMULATOR_IOCTL_GRID: sets the counts of the last grid with the descriptor in *record. */
void emu_grid_recall(const struct emu_as *as, struct emulator_grid *record);
/* Resets the lock. Call in the child after fork. */
void emu_grids_forked(void);
/* Creates the threads that run CTAs besides the engine thread, at most EMU_HELPERS_MAX. Returns
 * NULL if memory or threads are exhausted. */
enum { EMU_HELPERS_MAX = 63 };
struct emu_worker_pool *emu_pool_create(int helpers);
void emu_pool_destroy(struct emu_worker_pool *pool);
/* Invalidates the instruction cache: discards the decoded code, or replaces it if a grid has a
 * reference. Call on the engine thread. */
void emu_code_invalidate(struct emu_as *as);
/* Drops the reference of the grid that the channel keeps for its next launch. */
void emu_grids_forget_code(struct emu_channel *channel);
/* Drops a reference. The last one frees the code. */
void emu_code_put(struct emu_code *code);

#endif
