/* Grids: their queue on the channel, and their CTAs on the host's cores.
 *
 * A grid starts as late as the stream allows: when something waits for it, or when the channel has
 * nothing else to do. This reveals missing waits in a program. Each thread claims several CTAs at a
 * time and starts them in order, so that threads write neither the same counters nor adjacent
 * memory at each CTA. Long CTAs are claimed singly and take turns. If none of them ends for a
 * while, others start too, up to the number that the board's SMs hold, because the running ones may
 * be waiting for a CTA that has not started. */
#include "emulator/engine/grid.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/thread.h"
#include "emulator/boards.h"
#include "emulator/engine/channel_engine.h"
#include "emulator/engine/engine.h"
#include "emulator/engine/fault.h"
#include "emulator/engine/method.h"
#include "emulator/engine/mmu.h"
#include "emulator/engine/qmd.h"
#include "emulator/engine/report.h"
#include "emulator/engine/runlist.h"
#include "emulator/engine/sked.h"
#include "emulator/gpu.h"
#include "emulator/kernel/address_space.h"
#include "emulator/kernel/channel.h"
#include "emulator/kernel/tsg.h"
#include "emulator/modes/adversary.h"
#include "emulator/modes/checks.h"
#include "emulator/modes/inject.h"
#include "emulator/modes/profile.h"
#include "emulator/modes/stale.h"
#include "emulator/options.h"
#include "emulator/sm/sm.h"
#include "gpu/hw/exceptions.h"
#include "gpu/hw/host.h"
#include "gpu/hw/memory.h"
#include "gpu/hw/qmd.h"
#include "gpu/nvgpu/uapi.h"

enum {
  FIRST_BUDGET = 2000,   /* warp instructions, enough for a short CTA: about 50 us */
  FULL_BUDGET = 1 << 16, /* warp instructions: about a millisecond */
  HELP_AFTER_NS = 20000, /* time after which helpers are woken */
  HELP_FOR_NS = 50000,   /* work that is worth waking them */
  STALLS_MAX = 64,       /* more CTAs start after this many budgets in which none has ended */
  RESIDENT_MAX = EMU_SMS * SM_BLOCKS,
  OPEN_CTAS = 64, /* adversarial timing: CTAs among which the next one is chosen */
  CLAIM_MAX = 16, /* CTAs that a thread claims at once */
  CLAIMS = 4,     /* a claim takes at most 1 / (CLAIMS * threads) of the CTAs that are left */
};

/* CTAs that one thread will start, in order. */
struct claim {
  uint64_t next, end;
  bool place;  /* among the resident CTAs, for the next one */
  bool shared; /* other threads run CTAs of the grid, too */
};

struct emu_grid {
  struct emu_grid *next;
  bool started;
  bool closed; /* start no CTA in this turn */
  struct emu_stale_bank *banks;
  uint64_t total;
  uint32_t unmappings; /* of the address space, when the grid started */
  int limit;           /* limit of resident CTAs */
  _Atomic uint64_t instructions,
      sectors; /* executed so far; sectors of global memory (profile mode) */

  /* Adversarial timing. */
  uint64_t not_before; /* earliest start, on PTIMER */
  int open_count;

  _Atomic uint64_t next_cta; /* the first that no thread has claimed */
  atomic_int resident;
  atomic_bool stop;
  atomic_bool slow;           /* a CTA has used up its budget: claim single CTAs */
  atomic_int stalls;          /* budgets used up since a CTA last ended */
  atomic_bool wide;           /* stalls has reached STALLS_MAX: start others first */
  int preempted_first;        /* this and the members below are protected by lock */
  atomic_int preempted_count; /* also read without the lock, to see if it is 0 */
  atomic_int returned_count;
  bool faulted;

  /* The members from here on are not cleared at a launch. */
  pthread_mutex_t lock;
  struct emu_code *code; /* NULL, or of this or an earlier grid; a reference */
  uint64_t qmd_address;
  struct emu_shader_state shader;
  uint32_t qmd[QMD_WORDS];  /* contents at the launch */
  struct emu_launch launch; /* decoded when the grid starts; before, that of an earlier grid */
  uint64_t invalidations;   /* of code, when launch.sm.like was chosen */
  struct sm_fault fault;
  struct sm_cta *preempted[RESIDENT_MAX];     /* ring */
  uint64_t open[OPEN_CTAS];                   /* CTAs that may start next, in any order */
  struct claim returned[EMU_HELPERS_MAX + 1]; /* rests of claims, in any order */
};

struct helper {
  struct emu_worker_pool *pool;
  pthread_t thread;
  struct sm_worker *worker;
  bool running;
};

struct emu_worker_pool {
  pthread_mutex_t lock;
  pthread_cond_t call, done;
  struct emu_grid *grid; /* the grid that helpers work on */
  int wanted;            /* number of helpers that may still join */
  int active;            /* number of helpers that have joined */
  bool quit;
  int helper_count;
  struct sm_worker *engine_worker;
  struct sm_worker *reaper; /* frees the CTAs of dropped grids; the caller holds gpu.lock */
  struct helper helper[];
};

/* ---- code ---- */

static uint64_t invalidations; /* of code, in all address spaces; engine thread only */

void emu_code_put(struct emu_code *code) {
  if (atomic_fetch_sub(&code->users, 1) > 1)
    return;
  sm_code_destroy(code->sm);
  free(code);
}

static struct emu_code *code_get(struct emu_as *as) {
  if (!as->code) {
    struct emu_code *code = calloc(1, sizeof(*code));
    struct sm_memory memory = {.find = emu_mmu_range, .space = as};
    if (code)
      code->sm = sm_code_create(&memory);
    if (!code || !code->sm) {
      free(code);
      return NULL;
    }
    atomic_init(&code->users, 1);
    if (emu_watch())
      sm_code_annotate(code->sm);
    if (emu_stale_code(as))
      sm_code_cache(code->sm);
    as->code = code;
  }
  atomic_fetch_add(&as->code->users, 1);
  return as->code;
}

void emu_code_invalidate(struct emu_as *as) {
  if (!as->code)
    return;
  invalidations++;
  if (atomic_load(&as->code->users) == 1) {
    sm_code_invalidate(as->code->sm);
  } else {
    emu_code_put(as->code); /* a grid of another channel still uses it */
    as->code = NULL;
  }
}

/* ---- queue ---- */

const uint32_t *emu_qmd_find(struct emu_as *as, uint64_t address, struct emu_fault *fault) {
  if (address + QMD_BYTES > GPU_VA_END) {
    emu_fault_set(fault, NOTIFIER_GR_EXCEPTION, address,
                  "QMD at 0x%llx: its address has more than 40 bits", (unsigned long long)address);
    return NULL;
  }
  return emu_mmu_host(as, address, QMD_BYTES, false, fault);
}

static void drop_code(struct emu_grid *grid) {
  if (grid->code)
    emu_code_put(grid->code);
  grid->code = NULL;
}

void emu_grid_free(struct emu_grid *grid) {
  if (grid) {
    drop_code(grid);
    pthread_mutex_destroy(&grid->lock);
  }
  free(grid);
}

/* Keeps one grid for the channel's next, which often has an equal descriptor and the same code. */
static void retire_grid(struct emu_channel *channel, struct emu_grid *grid) {
  if (grid->banks)
    emu_stale_free_banks(grid->banks);
  emu_grid_free(channel->engine->spare_grid);
  channel->engine->spare_grid = grid;
}

void emu_grids_forget_code(struct emu_channel *channel) {
  if (channel->engine->spare_grid)
    drop_code(channel->engine->spare_grid);
}

/* Returns the grid that was kept, or a new one. Returns NULL if out of memory. */
static struct emu_grid *take_grid(struct emu_channel *channel) {
  struct emu_grid *grid = channel->engine->spare_grid;
  channel->engine->spare_grid = NULL;
  if (grid || !(grid = malloc(sizeof(*grid))))
    return grid;
  pthread_mutex_init(&grid->lock, NULL);
  grid->code = NULL;
  grid->launch.decoded = false;
  return grid;
}

bool emu_grid_launch(struct emu_channel *channel, uint64_t qmd_address, const uint32_t *qmd,
                     const struct emu_shader_state *shader, struct emu_fault *fault) {
  if (emu_injected(EMU_PLACE_GRID_LOST))
    return true;
  struct emu_grid *grid = take_grid(channel);
  if (!grid) {
    emu_fault_set(fault, NOTIFIER_GR_EXCEPTION, qmd_address, "the host is out of memory");
    return false;
  }
  memset(grid, 0, offsetof(struct emu_grid, lock));
  grid->qmd_address = qmd_address;
  grid->shader = *shader;
  memcpy(grid->qmd, qmd, QMD_BYTES);
  if (emu_adversary.on)
    grid->not_before = emu_time_ns() + emu_adversary_delay_ns(&channel->engine->adversary.random);
  *channel->engine->grids_tail = grid;
  channel->engine->grids_tail = &grid->next;
  return true;
}

bool emu_grid_active(const struct emu_channel *channel, uint64_t qmd_address) {
  for (const struct emu_grid *grid = channel->engine->grids; grid; grid = grid->next) {
    if (grid->qmd_address == qmd_address)
      return true;
  }
  return false;
}

bool emu_grids_use_local(const struct emu_channel *channel) {
  for (const struct emu_grid *grid = channel->engine->grids; grid; grid = grid->next) {
    if (emu_qmd_uses_local(grid->qmd))
      return true;
  }
  return false;
}

bool emu_grids_use_textures(const struct emu_channel *channel) {
  for (const struct emu_grid *grid = channel->engine->grids; grid; grid = grid->next) {
    if (grid->shader.headers.address)
      return true;
  }
  return false;
}

static bool share_pool(const struct emu_grid *a, const struct emu_grid *b) {
  const struct emu_shader_state *p = &a->shader, *q = &b->shader;
  return emu_qmd_uses_local(a->qmd) && emu_qmd_uses_local(b->qmd) &&
         p->local_base < q->local_base + q->local_bytes_per_tpc * EMU_TPCS &&
         q->local_base < p->local_base + p->local_bytes_per_tpc * EMU_TPCS;
}

/* Returns whether no preempted grid of another TSG has local memory in the grid's pool. With CILP a
 * TSG is preempted in the middle of its grids (docs/hardware/kernel-interface.md trap T13). Their
 * local memory stays in the pool, at places that depend only on TPC and warp
 * (docs/hardware/command-stream.md 4.3), so a grid of another TSG would overwrite it. A board would
 * continue with wrong results. */
static bool pool_is_free(const struct emu_channel *channel, const struct emu_grid *grid,
                         struct emu_fault *fault) {
  bool taken = false;
  if (!emu_qmd_uses_local(grid->qmd))
    return true;
  pthread_mutex_lock(&emu_gpu.lock);
  for (int i = 0; i < EMU_CHANNELS && emu_tsgs.count > 1; i++) {
    const struct emu_channel *other = emu_channels.by_id[i];
    if (!other || other->as != channel->as || !other->tsg || other->tsg == channel->tsg ||
        other->tsg->compute_preemption != NVGPU_PREEMPT_COMPUTE_CILP)
      continue;
    for (const struct emu_grid *g = other->engine->grids; g; g = g->next)
      taken |= g->started && share_pool(g, grid);
  }
  pthread_mutex_unlock(&emu_gpu.lock);
  if (taken)
    emu_fault_set(fault, NOTIFIER_GR_EXCEPTION, grid->shader.local_base,
                  "the pool of local memory at 0x%llx is in use by a grid of another TSG that "
                  "was preempted in the middle (CILP)",
                  (unsigned long long)grid->shader.local_base);
  return !taken;
}

/* Only the engine thread changes the number, or between turns one that drops grids. */
static void count_running(struct emu_channel *channel, int n) {
  atomic_int *running = &channel->engine->running_grids;
  atomic_store_explicit(running, atomic_load_explicit(running, memory_order_relaxed) + n,
                        memory_order_release);
}

static void unlink_grid(struct emu_channel *channel, struct emu_grid **link) {
  struct emu_grid *grid = *link;
  *link = grid->next;
  if (grid->started) {
    count_running(channel, -1);
    if (grid->launch.sm.watch)
      emu_check_grid_over();
  }
  if (!*link)
    channel->engine->grids_tail = link;
  retire_grid(channel, grid);
}

void emu_grids_drop(struct emu_channel *channel) {
  while (channel->engine->grids) {
    struct emu_grid *grid = channel->engine->grids;
    for (int i = 0; i < grid->preempted_count; i++)
      sm_cta_finish(emu_engine.pool->reaper,
                    grid->preempted[(grid->preempted_first + i) % RESIDENT_MAX]);
    unlink_grid(channel, &channel->engine->grids);
  }
  atomic_store(&channel->engine->resident_ctas, 0);
}

/* Sets the code and the numbers of a decoded grid. If the launch was decoded for an earlier grid,
 * the number of that remains, unless what its CTAs have left may be of no use or of another mode.
 */
static void number_grid(struct emu_grid *grid) {
  static uint64_t launches; /* engine thread only */
  struct sm_grid *sm = &grid->launch.sm;
  sm->launch = ++launches;
  if (!sm->like || sm->watch || sm->l1 || sm->code != grid->code->sm ||
      grid->invalidations != invalidations)
    sm->like = sm->launch;
  sm->code = grid->code->sm;
  grid->invalidations = invalidations;
}

/* Sets the code of a grid, unless it has it from an earlier one. Returns false if out of memory. */
static bool take_code(struct emu_as *as, struct emu_grid *grid) {
  if (grid->code && grid->code == as->code)
    return true;
  drop_code(grid);
  grid->code = code_get(as);
  return grid->code != NULL;
}

static bool grid_start(struct emu_channel *channel, struct emu_grid *grid,
                       struct emu_fault *fault) {
  const uint32_t *now = emu_qmd_find(channel->as, grid->qmd_address, fault);
  if (!now)
    return false;
  /* A board may use either version (docs/hardware/command-stream.md 8.3, hazard 1). */
  if (memcmp(now, grid->qmd, QMD_BYTES) != 0) {
    emu_fault_set(fault, NOTIFIER_GR_EXCEPTION, grid->qmd_address,
                  "QMD at 0x%llx was overwritten between its launch and its start",
                  (unsigned long long)grid->qmd_address);
    return false;
  }
  emu_stale_start(channel->as, grid->qmd_address, grid->qmd);
  grid->unmappings = channel->as->unmappings;
  if (emu_inject_loss(EMU_PLACE_GRID_FAULT, NOTIFIER_GR_EXCEPTION, fault) ||
      (emu_qmd_uses_local(grid->qmd) &&
       emu_inject_loss(EMU_PLACE_LOCAL_FAULT, NOTIFIER_GR_EXCEPTION, fault)) ||
      (qmd_get(grid->qmd, QMD_SHARED_MEMORY_SIZE) >= EMU_INJECT_SHARED &&
       emu_inject_loss(EMU_PLACE_SHARED_FAULT, NOTIFIER_GR_EXCEPTION, fault)) ||
      !pool_is_free(channel, grid, fault) ||
      !emu_qmd_decode(channel->as, &grid->shader, grid->qmd_address, grid->qmd, &grid->launch,
                      fault))
    return false;
  grid->banks = emu_stale_begin(channel->as, grid->qmd, &grid->launch);
  if (grid->launch.invalidate_code) {
    drop_code(grid);
    emu_code_invalidate(channel->as);
  }
  if (!take_code(channel->as, grid)) {
    emu_fault_set(fault, NOTIFIER_GR_EXCEPTION, grid->qmd_address, "the host is out of memory");
    return false;
  }
  number_grid(grid);
  grid->launch.sm.pools_of = channel;
  const uint32_t *size = grid->launch.sm.grid;
  grid->total = (uint64_t)size[0] * size[1] * size[2];
  if (emu_injected(EMU_PLACE_GRID_SHORT) && grid->total > 1)
    grid->total--;
  if (grid->launch.sm.watch)
    emu_check_grid(&grid->launch.sm, grid->total);
  atomic_store_explicit(&grid->next_cta, grid->launch.first_cta, memory_order_relaxed);
  grid->limit =
      grid->launch.one_at_a_time ? 1 : grid->launch.per_sm * (int)grid->launch.sm.sm_count;
  grid->started = true;
  count_running(channel, 1);
  return true;
}

/* ---- CTAs ---- */

static struct sm_cta *start_cta(struct emu_grid *grid, struct sm_worker *worker, uint64_t index) {
  const uint32_t *size = grid->launch.sm.grid;
  const uint32_t row = index < size[0] ? 0 : (uint32_t)(index / size[0]); /* divisions take long */
  const uint32_t x = (uint32_t)(index - (uint64_t)row * size[0]);
  struct sm_cta *cta = sm_cta_start(worker, &grid->launch.sm, x, row % size[1], row / size[1]);
  if (!cta) {
    pthread_mutex_lock(&grid->lock);
    grid->faulted = true;
    grid->fault = (struct sm_fault){.kind = SM_FAULT_NOT_IMPLEMENTED,
                                    .message = "the host is out of memory for a CTA"};
    pthread_mutex_unlock(&grid->lock);
    atomic_fetch_sub(&grid->resident, 1);
    atomic_store(&grid->stop, true);
  }
  return cta;
}

/* Returns the CTA that has waited longest, or NULL if there is none. */
static struct sm_cta *resume_cta(struct emu_grid *grid) {
  struct sm_cta *cta = NULL;
  if (!atomic_load(&grid->preempted_count))
    return NULL;
  pthread_mutex_lock(&grid->lock);
  if (grid->preempted_count) {
    cta = grid->preempted[grid->preempted_first];
    grid->preempted_first = (grid->preempted_first + 1) % RESIDENT_MAX;
    grid->preempted_count--;
  }
  pthread_mutex_unlock(&grid->lock);
  return cta;
}

/* Returns the rest of a claim, so that any thread can start it: at the end of a turn, or if CTAs
 * turn out to be long. Nothing else is claimed while there are such rests, so there are never more
 * of them than threads. */
static void return_claim(struct emu_grid *grid, struct claim *claim) {
  if (claim->next == claim->end)
    return;
  pthread_mutex_lock(&grid->lock);
  grid->returned[grid->returned_count++] = *claim;
  pthread_mutex_unlock(&grid->lock);
  claim->next = claim->end;
}

/* Claims the lowest CTAs that were returned. */
static void claim_returned(struct emu_grid *grid, struct claim *claim) {
  pthread_mutex_lock(&grid->lock);
  struct claim *lowest = NULL;
  for (int i = 0; i < grid->returned_count; i++)
    if (!lowest || grid->returned[i].next < lowest->next)
      lowest = &grid->returned[i];
  if (lowest) {
    claim->next = lowest->next;
    claim->end = atomic_load(&grid->slow) ? lowest->next + 1 : lowest->end;
    lowest->next = claim->end;
    if (lowest->next == lowest->end)
      *lowest = grid->returned[--grid->returned_count];
  }
  pthread_mutex_unlock(&grid->lock);
}

/* Changes the number of resident CTAs, and returns what it was. */
static int change_resident(struct emu_grid *grid, const struct claim *claim, int n) {
  if (claim->shared)
    return atomic_fetch_add(&grid->resident, n);
  const int resident = atomic_load_explicit(&grid->resident, memory_order_relaxed);
  atomic_store_explicit(&grid->resident, resident + n, memory_order_relaxed);
  return resident;
}

/* Claims the lowest CTAs. */
static void claim_ctas(struct emu_grid *grid, struct claim *claim) {
  if (atomic_load(&grid->returned_count))
    claim_returned(grid, claim);
  const uint64_t next = atomic_load(&grid->next_cta);
  if (claim->next < claim->end || next >= grid->total)
    return;
  const uint64_t left = grid->total - next;
  const uint64_t parts = (uint64_t)(emu_engine.pool->helper_count + 1) * CLAIMS;
  uint64_t count = 1;
  if (left >= 2 * parts && !atomic_load(&grid->slow))
    count = left / parts < CLAIM_MAX ? left / parts : CLAIM_MAX;
  claim->next = next;
  if (claim->shared)
    claim->next = atomic_fetch_add(&grid->next_cta, count);
  else
    atomic_store_explicit(&grid->next_cta, next + count, memory_order_relaxed);
  claim->end = claim->next + count;
  if (claim->end > grid->total)
    claim->end = grid->total > claim->next ? grid->total : claim->next;
}

/* Returns whether no thread has claimed some CTAs, or one has returned its claim. */
static bool has_unclaimed(const struct emu_grid *grid) {
  return atomic_load_explicit(&grid->next_cta, memory_order_relaxed) < grid->total ||
         atomic_load_explicit(&grid->returned_count, memory_order_relaxed);
}

/* Gives up the place that is kept for the next CTA of a claim. */
static void release_place(struct emu_grid *grid, struct claim *claim) {
  if (claim->place)
    change_resident(grid, claim, -1);
  claim->place = false;
}

static struct sm_cta *start_claimed(struct emu_grid *grid, struct sm_worker *worker,
                                    struct claim *claim) {
  claim->place = false; /* the CTA has it now */
  return start_cta(grid, worker, claim->next++);
}

static bool take_place(struct emu_grid *grid, const struct claim *claim) {
  if (change_resident(grid, claim, 1) < grid->limit)
    return true;
  change_resident(grid, claim, -1);
  return false;
}

/* Starts the lowest CTA that is not claimed, if there is one and a place for it. */
static struct sm_cta *start_next_cta(struct emu_grid *grid, struct sm_worker *worker,
                                     struct claim *claim) {
  if (grid->closed || !has_unclaimed(grid) || !(claim->place || take_place(grid, claim)))
    return NULL;
  claim->place = true;
  claim_ctas(grid, claim);
  return claim->next < claim->end ? start_claimed(grid, worker, claim) : NULL;
}

/* Returns the CTA that a thread runs next, or NULL if there is none.
 *
 * A CTA may wait for lower ones, so it must not take the last place from them. Therefore a thread
 * keeps a place for its claim while none of its CTAs was slow. Else it returns the claim before it
 * gives up the place, and then the lowest CTA is the next that starts anywhere. */
static struct sm_cta *take_cta(struct emu_grid *grid, struct sm_worker *worker,
                               struct claim *claim) {
  struct sm_cta *cta = NULL;
  const bool slow = atomic_load(&grid->slow);
  if (!slow && claim->place && claim->next < claim->end)
    return start_claimed(grid, worker, claim);
  return_claim(grid, claim);
  if (slow && atomic_load_explicit(&grid->stalls, memory_order_relaxed) >= STALLS_MAX)
    atomic_store(&grid->wide, true);
  if (slow && !atomic_load_explicit(&grid->wide, memory_order_relaxed))
    cta = resume_cta(grid);
  if (!cta)
    cta = start_next_cta(grid, worker, claim);
  release_place(grid, claim);
  return cta ? cta : resume_cta(grid);
}

/* Ends a thread's part in a turn. */
static void leave_turn(struct emu_grid *grid, struct claim *claim) {
  return_claim(grid, claim);
  release_place(grid, claim);
}

static void requeue_cta(struct emu_grid *grid, struct sm_cta *cta) {
  pthread_mutex_lock(&grid->lock);
  grid->preempted[(grid->preempted_first + grid->preempted_count) % RESIDENT_MAX] = cta;
  grid->preempted_count++;
  pthread_mutex_unlock(&grid->lock);
}

static void finish_cta(struct emu_grid *grid, struct sm_worker *worker, struct claim *claim,
                       struct sm_cta *cta, enum sm_result result, const struct sm_fault *fault) {
  if (result == SM_PREEMPTED) {
    atomic_store(&grid->slow, true);
    atomic_fetch_add(&grid->stalls, 1);
    requeue_cta(grid, cta);
    return;
  }
  if (atomic_load_explicit(&grid->stalls, memory_order_relaxed))
    atomic_store(&grid->stalls, 0);
  sm_cta_finish(worker, cta);
  claim->place = true; /* the CTA had it */
  if (claim->next == claim->end)
    release_place(grid, claim);
  if (result != SM_FAULTED)
    return;
  pthread_mutex_lock(&grid->lock);
  if (!grid->faulted) {
    grid->faulted = true;
    grid->fault = *fault;
  }
  pthread_mutex_unlock(&grid->lock);
  atomic_store(&grid->stop, true);
}

/* Adds to a counter that no other thread changes at this time. */
static void count_up(_Atomic uint64_t *counter, uint64_t n) {
  const uint64_t count = atomic_load_explicit(counter, memory_order_relaxed);
  atomic_store_explicit(counter, count + n, memory_order_relaxed);
}

/* Call on the engine thread while no helper works. */
static void count_instructions(struct emu_grid *grid, struct sm_worker *worker, uint64_t before) {
  const uint64_t executed = sm_worker_instructions(worker) - before;
  count_up(&emu_engine.instructions, executed);
  count_up(&grid->instructions, executed);
}

void emu_grid_count(const struct sm_grid *sm, const struct sm_counts *counts) {
  struct emu_grid *grid = (struct emu_grid *)((char *)sm - offsetof(struct emu_grid, launch.sm));
  atomic_fetch_add(&grid->sectors, counts->global_sectors);
  emu_profile_count(sm, counts);
}

/* Runs CTAs on a helper thread until no more are left. */
static void run_as_helper(struct emu_grid *grid, struct sm_worker *worker) {
  uint64_t before = sm_worker_instructions(worker);
  struct claim claim = {.shared = true};
  struct sm_cta *cta;
  while (!atomic_load(&grid->stop) && (cta = take_cta(grid, worker, &claim)) != NULL) {
    struct sm_fault fault;
    finish_cta(grid, worker, &claim, cta, sm_cta_run(worker, cta, FULL_BUDGET, &fault), &fault);
  }
  leave_turn(grid, &claim);
  const uint64_t executed = sm_worker_instructions(worker) - before;
  atomic_fetch_add(&emu_engine.instructions, executed);
  atomic_fetch_add(&grid->instructions, executed);
}

static void call_helpers(struct emu_worker_pool *pool, struct emu_grid *grid, uint64_t useful) {
  pthread_mutex_lock(&pool->lock);
  pool->grid = grid;
  pool->wanted = useful < (uint64_t)pool->helper_count ? (int)useful : pool->helper_count;
  pthread_cond_broadcast(&pool->call);
  pthread_mutex_unlock(&pool->lock);
}

static bool turn_is_over(const struct emu_channel *channel, uint64_t now, uint64_t end) {
  return !atomic_load_explicit(&channel->serviceable, memory_order_relaxed) ||
         (now > end && emu_engine_others_wait(channel));
}

/* Waits until all helpers have finished, and stops them at the end of the turn. */
static void dismiss_helpers(struct emu_worker_pool *pool, struct emu_grid *grid,
                            const struct emu_channel *channel, uint64_t end) {
  enum { POLL_NS = 200000 };
  pthread_mutex_lock(&pool->lock);
  pool->wanted = 0;
  while (pool->active) {
    base_cond_wait_until(&pool->done, &pool->lock, base_clock_ns() + POLL_NS);
    if (turn_is_over(channel, base_clock_ns(), end))
      atomic_store(&grid->stop, true);
  }
  pool->grid = NULL;
  pthread_mutex_unlock(&pool->lock);
}

static uint64_t ctas_left(struct emu_grid *grid) {
  uint64_t next = atomic_load(&grid->next_cta);
  uint64_t left = (next < grid->total ? grid->total - next : 0) + (uint64_t)grid->preempted_count;
  for (int i = 0; i < grid->returned_count; i++)
    left += grid->returned[i].end - grid->returned[i].next;
  return left;
}

/* Calls helpers if CTAs are left besides the one that this thread runs, and will take long enough
 * at the rate of those that have ended within elapsed_ns. ended is 0 if a CTA has used up its
 * budget, and then the rate is unknown. Returns whether it has called them. */
static bool call_if_useful(struct emu_worker_pool *pool, struct emu_grid *grid, uint64_t ended,
                           uint64_t elapsed_ns) {
  pthread_mutex_lock(&grid->lock);
  const uint64_t left = ctas_left(grid);
  pthread_mutex_unlock(&grid->lock);
  const bool useful = left && (!ended || left >= HELP_FOR_NS * ended / elapsed_ns);
  if (useful)
    call_helpers(pool, grid, left);
  return useful;
}

/* Returns whether this thread has no CTA to start or continue. */
static bool nothing_is_left(const struct emu_grid *grid, const struct claim *claim) {
  return claim->next == claim->end && !has_unclaimed(grid) &&
         !atomic_load_explicit(&grid->preempted_count, memory_order_relaxed);
}

/* Runs CTAs on the engine thread until the turn ends. Reads the clock only now and then, so that
 * short grids and short CTAs cost little. */
static void run_slice(struct emu_channel *channel, struct emu_grid *grid, uint64_t end) {
  enum { CTAS_PER_CLOCK = 8, INSTRUCTIONS_PER_CLOCK = 1000 };
  struct emu_worker_pool *pool = emu_engine.pool;
  struct sm_worker *worker = pool->engine_worker;
  const uint64_t before = sm_worker_instructions(worker);
  const uint64_t start = grid->total > 1 ? base_clock_ns() : 0;
  uint64_t looked = before; /* instructions when the clock was read */
  unsigned ctas = 0;
  uint64_t budget = FIRST_BUDGET;
  struct claim claim = {0};
  struct sm_cta *cta;
  atomic_store_explicit(&grid->stop, false, memory_order_relaxed);
  while (!atomic_load(&grid->stop) && (cta = take_cta(grid, worker, &claim)) != NULL) {
    struct sm_fault fault;
    enum sm_result result = sm_cta_run(worker, cta, budget, &fault);
    uint64_t now = 0;
    if (result == SM_PREEMPTED || ++ctas % CTAS_PER_CLOCK == 0 ||
        sm_worker_instructions(worker) - looked > INSTRUCTIONS_PER_CLOCK) {
      looked = sm_worker_instructions(worker);
      now = base_clock_ns();
      emu_pushbuffer_write_progress(channel);
    }
    if (!claim.shared && pool->helper_count &&
        (result == SM_PREEMPTED || now > start + HELP_AFTER_NS))
      claim.shared = call_if_useful(pool, grid, result == SM_PREEMPTED ? 0 : ctas, now - start);
    if (result == SM_PREEMPTED && budget == FIRST_BUDGET)
      result = sm_cta_run(worker, cta, FULL_BUDGET, &fault);
    budget = FULL_BUDGET;
    finish_cta(grid, worker, &claim, cta, result, &fault);
    if (nothing_is_left(grid, &claim))
      break;
    if (turn_is_over(channel, now, end))
      atomic_store(&grid->stop, true);
  }
  leave_turn(grid, &claim);
  if (claim.shared)
    dismiss_helpers(pool, grid, channel, end);
  count_instructions(grid, worker, before);
}

/* ---- adversarial timing: concurrent grids ---- */

/* Returns a grid of the channel that may run now, or NULL. Grids without a barrier between them may
 * overlap (docs/hardware/command-stream.md 8.4). */
static struct emu_grid **choose_grid(struct emu_channel *channel) {
  struct emu_grid **chosen = NULL;
  const uint64_t now = emu_time_ns();
  uint32_t count = 0;
  for (struct emu_grid **link = &channel->engine->grids; *link; link = &(*link)->next)
    if (now >= (*link)->not_before &&
        emu_adversary_one_in(&channel->engine->adversary.random, ++count))
      chosen = link;
  return chosen;
}

/* Starts a CTA in any order. The last place is kept for the lowest CTA that has not started, so
 * that CTAs which wait for lower ones make progress, as they do in the usual order. */
static struct sm_cta *start_any_cta(struct emu_channel *channel, struct emu_grid *grid,
                                    struct sm_worker *worker) {
  while (grid->open_count < OPEN_CTAS && grid->next_cta < grid->total)
    grid->open[grid->open_count++] = grid->next_cta++;
  if (grid->closed || !grid->open_count || grid->resident == grid->limit)
    return NULL;
  int chosen = 0;
  if (grid->resident < grid->limit - 1) {
    chosen =
        (int)emu_adversary_below(&channel->engine->adversary.random, (uint32_t)grid->open_count);
  } else {
    for (int i = 1; i < grid->open_count; i++)
      chosen = grid->open[i] < grid->open[chosen] ? i : chosen;
  }
  uint64_t index = grid->open[chosen];
  grid->open[chosen] = grid->open[--grid->open_count];
  grid->resident++;
  return start_cta(grid, worker, index);
}

static struct sm_cta *resume_any_cta(struct emu_channel *channel, struct emu_grid *grid) {
  if (grid->preempted_count) {
    int first = grid->preempted_first;
    int other = (first + (int)emu_adversary_below(&channel->engine->adversary.random,
                                                  (uint32_t)grid->preempted_count)) %
                RESIDENT_MAX;
    struct sm_cta *cta = grid->preempted[other];
    grid->preempted[other] = grid->preempted[first];
    grid->preempted[first] = cta;
  }
  return resume_cta(grid);
}

/* Runs a few CTAs of the grid, each for a while. Uses only this thread, so that equal seeds
 * interleave CTAs equally. */
static void run_some_ctas(struct emu_channel *channel, struct emu_grid *grid) {
  enum { CTAS = 8, START = 3, BUDGET_MIN = 64, BUDGETS = 10 };
  struct emu_random *random = &channel->engine->adversary.random;
  struct sm_worker *worker = emu_engine.pool->engine_worker;
  const uint64_t before = sm_worker_instructions(worker);
  atomic_store(&grid->stop, false);
  for (uint32_t n = 1 + emu_adversary_below(random, CTAS); n && !grid->stop; n--) {
    struct claim none = {0};
    struct sm_fault fault;
    struct sm_cta *cta = NULL;
    if (!grid->preempted_count || emu_adversary_one_in(random, START))
      cta = start_any_cta(channel, grid, worker);
    if (!cta)
      cta = resume_any_cta(channel, grid);
    if (!cta)
      break;
    const uint64_t budget = (uint64_t)BUDGET_MIN << emu_adversary_below(random, BUDGETS);
    finish_cta(grid, worker, &none, cta, sm_cta_run(worker, cta, budget, &fault), &fault);
  }
  count_instructions(grid, worker, before);
}

/* ---- a channel's grids ---- */

static void convert_fault(struct emu_as *as, struct emu_grid *grid, struct emu_fault *fault) {
  struct sm_fault *f = &grid->fault;
  if (emu_options()->check)
    emu_check_print(&grid->launch.sm, f);
  if (f->kind == SM_FAULT_MMU)
    emu_check_place(as, f->address, f->message, sizeof(f->message));
  bool mmu = f->kind == SM_FAULT_MMU || f->kind == SM_FAULT_PC_RANGE;
  emu_fault_set(fault, mmu ? NOTIFIER_MMU_FAULT : NOTIFIER_GR_EXCEPTION, f->address,
                "%s, by work-item (%u,%u,%u) of group (%u,%u,%u)", f->message, f->tid[0], f->tid[1],
                f->tid[2], f->ctaid[0], f->ctaid[1], f->ctaid[2]);
  struct emulator_fault *r = &fault->record;
  r->pc = f->pc;
  r->program = grid->launch.sm.program;
  r->access_bytes = f->access_bytes;
  r->is_write = f->is_write;
  memcpy(r->opcode, f->word, sizeof(r->opcode));
  memcpy(r->ctaid, f->ctaid, sizeof(r->ctaid));
  memcpy(r->tid, f->tid, sizeof(r->tid));
  memcpy(r->instruction, f->instruction, sizeof(r->instruction));
  r->instruction[sizeof(r->instruction) - 1] = 0;
  static const uint8_t warp_errors[] = {
      [SM_FAULT_MMU] = WARP_ERROR_MMU_NACK,
      [SM_FAULT_MISALIGNED] = WARP_ERROR_MISALIGNED_ADDRESS,
      [SM_FAULT_SHARED_RANGE] = WARP_ERROR_ADDRESS_RANGE,
      [SM_FAULT_LOCAL_RANGE] = WARP_ERROR_ADDRESS_RANGE,
      [SM_FAULT_ILLEGAL_INSTRUCTION] = WARP_ERROR_ILLEGAL_INSTRUCTION,
      [SM_FAULT_REGISTER_RANGE] = WARP_ERROR_REGISTER_RANGE,
      [SM_FAULT_BARRIER_RANGE] = WARP_ERROR_ILLEGAL_PARAMETER,
  };
  if ((size_t)f->kind < sizeof(warp_errors))
    fault->warp_esr = warp_errors[f->kind];
  fault->global_esr = f->kind == SM_FAULT_TRAP ? GLOBAL_ESR_BPT_INT : 0;
}

/* Counts of the grids that ended last, for EMULATOR_IOCTL_GRID. The engine thread writes them
 * without a lock: it fills an element of the ring before it counts it. */
enum { RECALLED_GRIDS = 4096 };
static struct {
  _Atomic uint64_t count; /* ever */
  struct {
    const struct emu_as *_Atomic as;
    _Atomic uint64_t descriptor, instructions, sectors;
  } grids[RECALLED_GRIDS];
} ended;

void emu_grids_forked(void) {
  atomic_store(&ended.count, 0);
}

static void record_grid(const struct emu_as *as, struct emu_grid *grid) {
  const memory_order any = memory_order_relaxed;
  const uint64_t count = atomic_load_explicit(&ended.count, any), i = count % RECALLED_GRIDS;
  atomic_thread_fence(memory_order_release); /* a reader that sees the next stores sees count */
  atomic_store_explicit(&ended.grids[i].as, as, any);
  atomic_store_explicit(&ended.grids[i].descriptor, grid->qmd_address, any);
  atomic_store_explicit(&ended.grids[i].instructions,
                        atomic_load_explicit(&grid->instructions, any), any);
  atomic_store_explicit(&ended.grids[i].sectors, atomic_load_explicit(&grid->sectors, any), any);
  atomic_store_explicit(&ended.count, count + 1, memory_order_release);
}

void emu_grid_recall(const struct emu_as *as, struct emulator_grid *record) {
  const uint64_t count = atomic_load_explicit(&ended.count, memory_order_acquire);
  record->known = 0;
  for (uint64_t at = count; at && count - at < RECALLED_GRIDS && !record->known; at--) {
    const uint64_t i = (at - 1) % RECALLED_GRIDS;
    if (atomic_load(&ended.grids[i].as) != as ||
        atomic_load(&ended.grids[i].descriptor) != record->descriptor)
      continue;
    record->warp_instructions = atomic_load(&ended.grids[i].instructions);
    record->global_bytes = atomic_load(&ended.grids[i].sectors) * SM_SECTOR_BYTES;
    atomic_thread_fence(memory_order_acquire);
    record->known = atomic_load(&ended.count) - (at - 1) < RECALLED_GRIDS; /* not overwritten */
  }
}

/* Performs the actions at the end of a grid: memory barrier, releases and dependents
 * (command-stream.md 5.6). Returns false with *fault set on an error. */
static bool grid_end(struct emu_channel *channel, struct emu_grid *grid, struct emu_fault *fault) {
  const struct emu_launch *launch = &grid->launch;
  atomic_thread_fence(memory_order_seq_cst);
  /* Constant banks that are not cached are read until the end, so they must still be mapped. */
  if (grid->unmappings != channel->as->unmappings &&
      !emu_qmd_banks(channel->as, grid->qmd_address, grid->qmd, fault))
    return false;
  /* The client may free the pool only after the grid has ended (docs/hardware/command-stream.md
   * 4.3). */
  if (emu_qmd_uses_local(grid->qmd) && !emu_local_pool(channel->as, &grid->shader, fault))
    return false;
  count_up(&emu_engine.grids, 1);
  count_up(&emu_engine.ctas, grid->total - launch->first_cta);
  if (grid->banks)
    emu_stale_end(channel->as, grid->banks);
  record_grid(channel->as, grid);
  if (launch->sm.watch && launch->sm.watch->profile)
    emu_profile_grid(&launch->sm, grid->total, (uint32_t)launch->per_sm);
  for (size_t i = 0; i < sizeof(launch->release) / sizeof(launch->release[0]); i++) {
    const struct emu_release *release = &launch->release[i];
    if (!release->enabled)
      continue;
    if (!emu_report_write(channel, &release->report, fault))
      return false;
    if (release->interrupt)
      emu_non_stall_interrupt(channel);
  }
  if (!launch->dependent || emu_injected(EMU_PLACE_DEPENDENT))
    return true;
  if (launch->dependent_action == DEPENDENT_DECREMENT_DEPENDENCE)
    return emu_sked_decrement(channel, launch->dependent_qmd, &grid->shader, fault);
  if (launch->dependent_action == DEPENDENT_INVALIDATE_COPY_SCHEDULE)
    emu_stale_drop_descriptor(channel->as, launch->dependent_qmd);
  return emu_sked_schedule(channel, launch->dependent_qmd, &grid->shader, fault);
}

bool emu_grids_give_way(const struct emu_channel *channel) {
  switch (channel->tsg->compute_preemption) {
  case NVGPU_PREEMPT_COMPUTE_CILP:
    return true;
  case NVGPU_PREEMPT_COMPUTE_CTA:
    return !atomic_load(&channel->engine->resident_ctas);
  default:
    return !atomic_load(&channel->engine->running_grids);
  }
}

static int count_resident(const struct emu_channel *channel) {
  int count = 0;
  for (const struct emu_grid *grid = channel->engine->grids; grid; grid = grid->next)
    count += atomic_load(&grid->resident);
  return count;
}

static enum emu_step run_grids(struct emu_channel *channel, struct emu_fault *fault) {
  const struct emu_tsg *tsg = channel->tsg;
  const bool draining = tsg && (atomic_load(&tsg->draining) || emu_runlist_gives_way(tsg));
  const uint64_t end = channel->engine->turn_end;
  while (channel->engine->grids) {
    struct emu_grid **link = emu_adversary.on ? choose_grid(channel) : &channel->engine->grids;
    if (!link || emu_injected(EMU_PLACE_GRID_STUCK)) {
      channel->engine->waiting = true;
      return EMU_AGAIN;
    }
    struct emu_grid *grid = *link;
    if (!grid->started && draining) {
      channel->engine->waiting = true;
      return EMU_AGAIN;
    }
    if (!grid->started && !grid_start(channel, grid, fault))
      return EMU_FAULT;
    grid->closed = draining && tsg->compute_preemption == NVGPU_PREEMPT_COMPUTE_CTA;
    if (grid->total)
      emu_adversary.on ? run_some_ctas(channel, grid) : run_slice(channel, grid, end);
    if (grid->faulted) {
      convert_fault(channel->as, grid, fault);
      return EMU_FAULT;
    }
    const bool over = !atomic_load(&grid->resident) && !grid->open_count &&
                      !atomic_load(&grid->returned_count) &&
                      atomic_load(&grid->next_cta) >= grid->total;
    if (over) {
      if (!grid_end(channel, grid, fault))
        return EMU_FAULT;
      unlink_grid(channel, link);
    } else if (!emu_adversary.on) {
      return EMU_AGAIN; /* run_slice has used up the turn */
    }
    /* A chain of dependent descriptors may be endless. */
    if (channel->engine->grids && turn_is_over(channel, base_clock_ns(), end))
      return EMU_AGAIN;
  }
  return EMU_NEXT;
}

enum emu_step emu_grids_run(struct emu_channel *channel, struct emu_fault *fault) {
  const enum emu_step step = run_grids(channel, fault);
  atomic_store_explicit(&channel->engine->resident_ctas, count_resident(channel),
                        memory_order_relaxed);
  return step;
}

/* ---- threads ---- */

static void *helper_main(void *argument) {
  struct helper *self = argument;
  struct emu_worker_pool *pool = self->pool;
  pthread_mutex_lock(&pool->lock);
  while (!pool->quit) {
    if (!pool->wanted) {
      pthread_cond_wait(&pool->call, &pool->lock);
      continue;
    }
    pool->wanted--;
    pool->active++;
    struct emu_grid *grid = pool->grid;
    pthread_mutex_unlock(&pool->lock);
    run_as_helper(grid, self->worker);
    pthread_mutex_lock(&pool->lock);
    if (--pool->active == 0)
      pthread_cond_signal(&pool->done);
  }
  pthread_mutex_unlock(&pool->lock);
  return NULL;
}

struct emu_worker_pool *emu_pool_create(int helpers) {
  struct emu_worker_pool *pool =
      calloc(1, sizeof(*pool) + (size_t)helpers * sizeof(pool->helper[0]));
  if (!pool)
    return NULL;
  pthread_mutex_init(&pool->lock, NULL);
  pthread_cond_init(&pool->call, NULL);
  pthread_cond_init(&pool->done, NULL);
  pool->helper_count = helpers;
  pool->engine_worker = sm_worker_create(0);
  pool->reaper = sm_worker_create(0);
  bool good = pool->engine_worker && pool->reaper;
  for (int i = 0; good && i < helpers; i++) {
    struct helper *h = &pool->helper[i];
    h->pool = pool;
    h->worker = sm_worker_create((uint32_t)(i + 1) % emu_board()->sms);
    good = h->worker && base_thread_start(&h->thread, helper_main, h) == 0;
    h->running = good;
  }
  if (good)
    return pool;
  emu_pool_destroy(pool);
  return NULL;
}

void emu_pool_destroy(struct emu_worker_pool *pool) {
  pthread_mutex_lock(&pool->lock);
  pool->quit = true;
  pthread_cond_broadcast(&pool->call);
  pthread_mutex_unlock(&pool->lock);
  for (int i = 0; i < pool->helper_count; i++) {
    if (pool->helper[i].running)
      pthread_join(pool->helper[i].thread, NULL);
    if (pool->helper[i].worker)
      sm_worker_destroy(pool->helper[i].worker);
  }
  if (pool->engine_worker)
    sm_worker_destroy(pool->engine_worker);
  if (pool->reaper)
    sm_worker_destroy(pool->reaper);
  pthread_cond_destroy(&pool->call);
  pthread_cond_destroy(&pool->done);
  pthread_mutex_destroy(&pool->lock);
  free(pool);
}
