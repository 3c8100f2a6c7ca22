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

/* Decoded code, which the grids of an address space share. An invalidate replaces it while a grid
 * uses it. */
struct emu_code {
  struct sm_code *sm;
  atomic_int users; /* grids, and the address space whose current code it is */
};

/* Queues a grid after the channel's others. The descriptor is read now, and must be the same when
 * the grid starts. False: the fault is filled in. */
bool emu_grid_launch(struct emu_channel *channel, uint64_t qmd_address,
                     const struct emu_shader_state *shader, struct emu_fault *fault);
/* Whether a grid with this descriptor has been launched and has not ended. */
bool emu_grid_active(const struct emu_channel *channel, uint64_t qmd_address);
/* Whether a grid of the channel that has not ended uses local memory. */
bool emu_grids_use_local(const struct emu_channel *channel);
/* Runs the channel's grids. EMU_NEXT: all have ended. EMU_AGAIN: the turn is over, or
 * none may start yet (channel->engine->waiting). */
enum emu_step emu_grids_run(struct emu_channel *channel, struct emu_fault *fault);
/* Whether the TSG's preemption mode lets the channel's grids give way now. Between turns. */
bool emu_grids_give_way(const struct emu_channel *channel);
/* Drops the channel's grids. Between turns; gpu.lock held. */
void emu_grids_drop(struct emu_channel *channel);
/* Profile mode: adds the counts of a CTA that has ended. */
void emu_grid_count(const struct sm_grid *grid, const struct sm_counts *counts);
/* EMULATOR_IOCTL_GRID: fills in the counts of the last grid with the record's descriptor. */
void emu_grid_recall(const struct emu_as *as, struct emulator_grid *record);
/* Call in a child of fork. */
void emu_grids_forked(void);
/* The threads that run CTAs, besides the engine thread; NULL: no memory or no thread. */
struct emu_worker_pool *emu_pool_create(int helpers);
void emu_pool_destroy(struct emu_worker_pool *pool);
/* Invalidates the instruction cache. Engine thread. */
void emu_code_invalidate(struct emu_as *as);
/* Drops a user; the last one frees. */
void emu_code_put(struct emu_code *code);

#endif
