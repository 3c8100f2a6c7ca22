/* The lifetime of a CTA: its memory from the worker's pool, the scheduling of its warps, its
 * barriers, and its cache of mappings. */
#include <fenv.h>
#include <stdlib.h>

#include "emulator/sm/l1.h"
#include "emulator/sm/lower/entry.h"
#include "emulator/sm/state.h"

/* Instructions that a warp executes before the next warp runs: enough to keep its registers in the
 * host's cache, and few enough that a warp which spins until another one has run does not spin for
 * long. */
enum { TURN = 8192 };

/* CTAs of like grids in the same memory, after which finding out which registers need not be
 * cleared is worth it. */
enum { MANY = 64 };

_Static_assert(sizeof(struct sm_warp) % SM_REG_BYTES == 0, "the register file follows the struct");

static const struct sm_range nowhere;

struct sm_worker *sm_worker_create(uint32_t sm_id) {
  struct sm_worker *worker = aligned_alloc(_Alignof(struct sm_worker), sizeof *worker);
  if (worker)
    *worker = (struct sm_worker){.sm_id = sm_id};
  return worker;
}

static void free_cta(struct sm_cta *cta) {
  free(cta->memory);
  free(cta->shared);
  free(cta->local);
  sm_watch_free(cta);
  free(cta);
}

void sm_worker_destroy(struct sm_worker *worker) {
  if (!worker)
    return;
  while (worker->pool) {
    struct sm_cta *next = worker->pool->next;
    free_cta(worker->pool);
    worker->pool = next;
  }
  free(worker);
}

uint64_t sm_worker_instructions(const struct sm_worker *worker) {
  return worker->instructions;
}

/* Makes the buffer at *p at least this large. Does not preserve its contents. */
static bool grow_buffer(uint8_t **p, size_t *have, size_t bytes) {
  if (*p && bytes <= *have)
    return true;
  free(*p);
  *p = NULL;
  *have = 0;
  void *fresh;
  if (posix_memalign(&fresh, SM_REG_BYTES, bytes))
    return false;
  memset(fresh, 0, bytes); /* kernels may read it: what the host left there is not theirs */
  *p = fresh;
  *have = bytes;
  return true;
}

static uint32_t round_up_16(uint32_t n) {
  return (n + 15u) & ~15u;
}

static void set_tids(struct sm_cta *cta, const uint32_t block[3]) {
  if (!memcmp(cta->tids_of, block, sizeof cta->tids_of) && cta->tids_for >= cta->warps)
    return;
  uint32_t x = 0, y = 0, z = 0;
  for (uint32_t k = 0; k < cta->warps * SM_LANES; k++) {
    struct sm_warp *w = sm_warp_at(cta, k / SM_LANES);
    w->tid[0].l[k % SM_LANES] = x;
    w->tid[1].l[k % SM_LANES] = y;
    w->tid[2].l[k % SM_LANES] = z;
    if (++x == block[0]) {
      x = 0;
      if (++y == block[1])
        y = 0, z++;
    }
  }
  memcpy(cta->tids_of, block, sizeof cta->tids_of);
  cta->tids_for = cta->warps;
}

/* Fills registers and predicates with arbitrary values, because no source states that the hardware
 * clears them for a new CTA. */
static void fill_with_leftovers(struct sm_warp *w) {
  const struct sm_grid *grid = w->cta->grid;
  enum { UNIFORM = 63 };
  for (unsigned k = 0; k < SM_PRED_TRUE; k++)
    w->pred[k] = sm_l1_leftover(grid->l1);
  for (unsigned k = 0; k < UNIFORM; k++) {
    uint32_t *ur = (uint32_t *)(void *)(sm_file(w) + (SM_SLOT_UR + k) * SM_REG_BYTES);
    ur[0] = sm_l1_leftover(grid->l1);
    for (unsigned lane = 1; lane < SM_LANES; lane++)
      ur[lane] = ur[0];
  }
  w->cta->ur_dirty = UNIFORM;
  uint32_t *r = (uint32_t *)(void *)(sm_file(w) + SM_SLOT_R * SM_REG_BYTES);
  for (uint32_t k = 0; k < grid->registers * SM_LANES; k++)
    r[k] = sm_l1_leftover(grid->l1);
}

static void bind_banks(struct sm_warp *w) {
  const struct sm_grid *grid = w->cta->grid;
  for (unsigned k = 0; k < SM_BANKS; k++) {
    w->bank[k].data = grid->bank[k].data;
    w->bank[k].size = grid->bank[k].data ? grid->bank[k].size : 0;
  }
}

/* Sets what is the same for this warp in all CTAs of like grids. */
static void bind_warp(struct sm_cta *cta, uint32_t index) {
  const struct sm_grid *grid = cta->grid;
  struct sm_warp *w = sm_warp_at(cta, index);
  const uint32_t threads = cta->threads - index * SM_LANES;
  w->stride = cta->stride;
  w->cta = cta;
  w->index = index;
  w->lanes = threads >= SM_LANES ? SM_ALL_LANES : (1u << threads) - 1;
  w->active[1] = SM_ALL_LANES;
  w->page = NULL;
  w->shared = cta->shared;
  w->shared_bytes = grid->shared_bytes;
  w->local_high = round_up_16(grid->local_high);
  w->local_high_at = round_up_16(grid->local_low);
  w->local = cta->local + (size_t)index * SM_LANES * (w->local_high + (size_t)w->local_high_at);
}

/* Clears registers that the last CTA in this memory may have written: those that the kernel may
 * read before it writes them, or all. Nothing writes the zero registers, and nothing reads the
 * discard registers. */
static void clear_registers(struct sm_warp *w) {
  const struct sm_cta *cta = w->cta;
  const uint32_t ur_end = SM_SLOT_UR + cta->ur_dirty;
  if (!cta->entry) {
    memset(sm_file(w) + SM_SLOT_UR * SM_REG_BYTES, 0, (size_t)cta->ur_dirty * SM_REG_BYTES);
    memset(sm_file(w) + SM_SLOT_R * SM_REG_BYTES, 0, (size_t)cta->grid->registers * SM_REG_BYTES);
    return;
  }
  for (uint32_t k = 0; k < cta->entry->run_count; k++) {
    const struct sm_run run = cta->entry->run[k];
    uint32_t end = (uint32_t)run.slot + run.count;
    if (run.slot < SM_SLOT_R && end > ur_end)
      end = ur_end;
    if (end > run.slot)
      memset(sm_file(w) + (size_t)run.slot * SM_REG_BYTES, 0,
             (size_t)(end - run.slot) * SM_REG_BYTES);
  }
}

static void start_warp(struct sm_warp *w) {
  const struct sm_grid *grid = w->cta->grid;
  w->alone = false;
  w->alive = w->active[0] = w->lanes;
  w->all_active = w->lanes == SM_ALL_LANES;
  w->event = SM_EVENT_NONE;
  w->place_state = NULL;
  w->records = NULL;
  w->shadow = NULL;
  memset(w->pred, 0, sizeof w->pred);
  w->pred[SM_PRED_TRUE] = w->pred[SM_PRED_UNIFORM + SM_PRED_TRUE] = SM_ALL_LANES;
  w->current = 0;
  w->groups = 1;
  w->group[0] = (struct sm_group){.mask = w->lanes, .state = SM_GROUP_READY, .pc = grid->program};
  FOR_MASK(n, w->breg_used)
  memset(&w->breg[n], 0, sizeof w->breg[n]);
  w->breg_used = 0;
  if (w->bar_reduced) {
    memset(&w->bar_count, 0, sizeof w->bar_count);
    memset(&w->bar_flag, 0, sizeof w->bar_flag);
    w->bar_reduced = false;
  }
  clear_registers(w);
  if (grid->l1)
    fill_with_leftovers(w);
}

/* Takes a CTA from the pool, or creates one, and sets it up for the grid. Returns NULL like
 * sm_cta_start. */
static struct sm_cta *set_up_cta(struct sm_worker *worker, const struct sm_grid *grid) {
  uint64_t threads = (uint64_t)grid->block[0] * grid->block[1];
  if (threads > SM_MAX_THREADS || grid->block[2] > SM_MAX_THREADS)
    return NULL;
  threads *= grid->block[2];
  if (threads == 0 || threads > SM_MAX_THREADS || grid->registers == 0 || grid->registers > SM_RZ ||
      grid->local_low > SM_WINDOW_BYTES || grid->local_high > SM_WINDOW_BYTES)
    return NULL;
  struct sm_cta *cta = worker->pool;
  if (cta)
    worker->pool = cta->next;
  else if (!(cta = calloc(1, sizeof *cta)))
    return NULL;

  const uint32_t warps = (uint32_t)(threads + SM_LANES - 1) / SM_LANES;
  const size_t stride =
      sizeof(struct sm_warp) + (size_t)(SM_SLOT_R + grid->registers) * SM_REG_BYTES;
  const size_t local = (size_t)warps * SM_LANES *
                       (round_up_16(grid->local_low) + (size_t)round_up_16(grid->local_high));
  const bool fresh = cta->stride != stride || stride * warps > cta->memory_bytes;
  if (!grow_buffer(&cta->memory, &cta->memory_bytes, stride * warps) ||
      !grow_buffer(&cta->shared, &cta->shared_allocated, (size_t)grid->shared_bytes + 1) ||
      !grow_buffer(&cta->local, &cta->local_bytes, local + 1)) {
    free_cta(cta);
    return NULL;
  }
  if (fresh) {
    memset(cta->memory, 0, cta->memory_bytes);
    cta->ur_dirty = cta->tids_for = 0;
  }
  cta->grid = grid;
  cta->like = grid->like;
  cta->reuses = 0;
  cta->entry = NULL;
  cta->stride = stride;
  cta->threads = (uint32_t)threads;
  cta->warps = warps;
  cta->range_count = cta->range_turn = 0;
  cta->last = &nowhere;
  for (uint32_t k = 0; k < warps; k++)
    bind_warp(cta, k);
  set_tids(cta, grid->block);
  return cta;
}

struct sm_cta *sm_cta_start(struct sm_worker *worker, const struct sm_grid *grid, uint32_t x,
                            uint32_t y, uint32_t z) {
  struct sm_cta *cta = worker->pool;
  const bool again = cta && grid->like && cta->like == grid->like;
  const bool same_banks = again && cta->launch == grid->launch;
  if (again) {
    worker->pool = cta->next;
    if (++cta->reuses == MANY && !grid->l1)
      cta->entry = sm_code_entry(grid->code, grid->program, grid->registers);
  } else if (!(cta = set_up_cta(worker, grid))) {
    return NULL;
  }
  cta->launch = grid->launch;
  cta->grid = grid;
  cta->worker = worker;
  cta->sm_id = grid->l1 ? sm_l1_pick(grid->l1) : worker->sm_id;
  cta->id[0] = x, cta->id[1] = y, cta->id[2] = z;
  cta->exited = cta->turn = 0;
  cta->clock = 0;
  cta->bars_in_use = 0;
  if (grid->shared_bytes)
    memset(cta->shared, 0, grid->shared_bytes);
  for (uint32_t k = 0; grid->l1 && k + sizeof(uint32_t) <= grid->shared_bytes;
       k += sizeof(uint32_t)) {
    const uint32_t leftover = sm_l1_leftover(grid->l1);
    memcpy(cta->shared + k, &leftover, sizeof leftover);
  }
  for (uint32_t k = 0; k < cta->warps; k++) {
    struct sm_warp *w = sm_warp_at(cta, k);
    if (!same_banks)
      bind_banks(w);
    start_warp(w);
  }
  if (grid->watch && !sm_watch_start(cta)) {
    free_cta(cta);
    return NULL;
  }
  return cta;
}

void sm_cta_finish(struct sm_worker *worker, struct sm_cta *cta) {
  if (cta->grid->watch)
    sm_watch_finish(cta);
  /* The next CTA that uses this memory must clear these uniform registers. */
  uint32_t high = sm_code_ur_high(cta->grid->code);
  if (high > SM_UR_COUNT + 1)
    high = SM_UR_COUNT + 1;
  if (high > cta->ur_dirty)
    cta->ur_dirty = high;
  cta->grid = NULL;
  cta->next = worker->pool;
  worker->pool = cta;
}

/* --- turns ------------------------------------------------------------------ */

/* CTAs run with the default floating-point state; the host's is saved meanwhile. */
#if defined(__x86_64__)
static const uint32_t MXCSR_DEFAULT = 0x1f80;
struct float_state {
  uint32_t mxcsr; /* the interpreter does not use the x87 */
};
/* In assembler, because this file is compiled without SSE (meson.build). */
static struct float_state enter_default_float(void) {
  struct float_state host;
  __asm__ volatile("stmxcsr %0" : "=m"(host.mxcsr));
  __asm__ volatile("ldmxcsr %0" : : "m"(MXCSR_DEFAULT) : "memory");
  return host;
}
static void restore_host_float(const struct float_state *host) {
  __asm__ volatile("ldmxcsr %0" : : "m"(host->mxcsr) : "memory");
}
#else
struct float_state {
  fenv_t env;
};
static struct float_state enter_default_float(void) {
  struct float_state host;
  fegetenv(&host.env);
  fesetenv(FE_DFL_ENV);
  return host;
}
static void restore_host_float(const struct float_state *host) {
  fesetenv(&host->env);
}
#endif

static bool is_ready(const struct sm_warp *w) {
  if (!w->alive)
    return false;
  if (w->group[w->current].state == SM_GROUP_READY)
    return true;
  for (unsigned k = 0; k < w->groups; k++)
    if (w->group[k].state == SM_GROUP_READY)
      return true;
  return false;
}

static struct sm_warp *next_ready_warp(struct sm_cta *cta) {
  for (uint32_t k = 0; k < cta->warps; k++) {
    uint32_t index = cta->turn + k;
    if (index >= cta->warps)
      index -= cta->warps;
    struct sm_warp *w = sm_warp_at(cta, index);
    if (is_ready(w)) {
      cta->turn = index;
      return w;
    }
  }
  return NULL;
}

/* Releases lanes of a CTA in which no warp can run. This happens if the mask of a barrier includes
 * lanes that have left the barrier. */
static bool release_blocked(struct sm_cta *cta) {
  for (uint32_t k = 0; k < cta->warps; k++)
    if (sm_release_early(sm_warp_at(cta, k)))
      return true;
  return false;
}

static void report_deadlock(struct sm_cta *cta) {
  for (uint32_t k = 0; k < cta->warps; k++) {
    struct sm_warp *w = sm_warp_at(cta, k);
    for (unsigned g = 0; g < w->groups; g++)
      if (w->group[g].state != SM_GROUP_FREE) {
        w->active[0] = w->group[g].mask;
        sm_raise_at(w, w->group[g].pc, SM_FAULT_DEADLOCK);
        return;
      }
  }
}

/* Returns whether all lanes of a warp that are alive form one group, which is ready. */
static bool is_together(const struct sm_warp *w) {
  const struct sm_group *group = &w->group[w->current];
  return w->alive && group->state == SM_GROUP_READY && group->mask == w->alive;
}

/* Forms a batch of w, which runs at u, and the warps after it. Returns their number. */
static uint32_t form_batch(struct sm_warp *w, const struct sm_uop *u) {
  const struct sm_cta *cta = w->cta;
  const uint64_t pc = sm_pc_of(w, u);
  uint32_t count = 1;
  const bool counts = cta->grid->watch && cta->grid->watch->profile;
  if (counts || cta->grid->l1 || !is_together(w))
    return count;
  while (count < SM_BATCH && w->index + count < cta->warps) {
    struct sm_warp *v = sm_warp_after(w, count);
    if ((cta->grid->watch && v->index % SM_BATCH == 0) || v->alone || !is_together(v) ||
        sm_group_now(v)->pc != pc)
      break;
    v->active[0] = v->alive;
    w->all_active = w->all_active && v->alive == SM_ALL_LANES;
    v->page = w->page;
    v->event = SM_EVENT_NONE;
    sm_group_now(v)->yielded = false;
    count++;
  }
  if (cta->grid->watch)
    sm_watch_batch(w, count);
  return count;
}

/* Runs the first warp of a batch a little ahead of the others. Without that, warps that retry until
 * they get ahead of each other would do the same at the same time forever. Usually it runs to the
 * next branch, where it waits for the others, and sometimes further in case a round of its loop has
 * several branches. */
static void run_ahead(struct sm_warp *w, const struct sm_core *core) {
  enum { FURTHER_EVERY = 16, FURTHER = 64 };
  const int64_t lead = ++w->cta->leads % FURTHER_EVERY ? 1 : FURTHER;
  w->slice += lead - w->left; /* the number of executed instructions remains */
  w->left = lead;
  w->event = SM_EVENT_NONE;
  const struct sm_uop *u = sm_pick(w, true);
  if (u)
    core->run(w, u, 1);
}

/* Limits what remains of a turn. */
static void limit_turn(struct sm_warp *w, uint64_t limit) {
  const int64_t most = limit ? (int64_t)limit : 1, excess = w->left > most ? w->left - most : 0;
  w->slice -= excess;
  w->left -= excess;
}

/* Runs a warp, and those that form a batch with it, until their turn ends. limit is the number of
 * instructions that they should not exceed together by much. Returns that number, and sets *warps
 * to the number of warps. */
static uint64_t run_turn(struct sm_warp *w, const struct sm_core *core, uint64_t limit,
                         uint32_t *warps) {
  uint64_t spent = 0;
  const bool alone = w->alone;
  w->alone = false;
  w->cta->batch = w;
  w->slice = w->left = limit < TURN ? (int64_t)limit : TURN;
  *warps = 1;
  do {
    const bool preempted = w->event == SM_EVENT_BUDGET;
    w->event = SM_EVENT_NONE;
    const struct sm_uop *u = sm_pick(w, preempted);
    if (!u)
      break;
    *warps = alone ? 1 : form_batch(w, u);
    limit_turn(w, limit > spent ? (limit - spent) / *warps : 0);
    const int64_t before = w->left;
    core->run(w, u, *warps);
    spent += (uint64_t)(before - w->left) * *warps;
  } while (*warps == 1 && w->event == SM_EVENT_SWITCH && w->alive && w->left > 0);
  if (*warps > 1 && w->event == SM_EVENT_BUDGET) {
    const int64_t executed = w->slice - w->left;
    run_ahead(w, core);
    spent += (uint64_t)(w->slice - w->left - executed);
  }
  return spent;
}

static bool has_faulted(const struct sm_warp *w, uint32_t warps) {
  for (uint32_t k = 0; k < warps; k++)
    if (sm_warp_after(w, k)->event == SM_EVENT_FAULT)
      return true;
  return false;
}

/* Drops the cached ranges if a mapping has been removed since they were found. */
static void drop_stale_ranges(struct sm_cta *cta) {
  const struct sm_memory *memory = &cta->grid->memory;
  const uint32_t unmappings = memory->unmappings ? *memory->unmappings : 0;
  if (cta->unmappings == unmappings)
    return;
  cta->unmappings = unmappings;
  cta->range_count = cta->range_turn = 0;
  cta->last = &nowhere;
  if (cta->grid->watch)
    sm_watch_drop_ranges(cta);
}

enum sm_result sm_cta_run(struct sm_worker *worker, struct sm_cta *cta, uint64_t budget,
                          struct sm_fault *fault) {
  const struct sm_core *core = sm_core();
  enum sm_result result = SM_PREEMPTED;
  const struct float_state host = enter_default_float();
  cta->worker = worker;
  cta->ahead = cta->clock > worker->instructions ? cta->clock - worker->instructions : 0;
  cta->fault = fault;
  drop_stale_ranges(cta);
  for (uint64_t used = 0; used < budget;) {
    if (cta->exited == cta->threads) {
      result = SM_DONE;
      break;
    }
    struct sm_warp *w = next_ready_warp(cta);
    if (!w) {
      if (release_blocked(cta))
        continue;
      report_deadlock(cta);
      result = SM_FAULTED;
      break;
    }
    uint32_t warps;
    const uint64_t spent = run_turn(w, core, budget - used, &warps);
    used += spent ? spent : 1;
    worker->instructions += spent;
    if (has_faulted(w, warps)) {
      result = SM_FAULTED;
      break;
    }
    if (w->event == SM_EVENT_DISBAND)
      continue;
    cta->turn = cta->turn + warps == cta->warps ? 0 : cta->turn + warps;
  }
  if (result == SM_PREEMPTED && cta->exited == cta->threads)
    result = SM_DONE;
  cta->clock = worker->instructions + cta->ahead;
  restore_host_float(&host);
  return result;
}

/* --- barriers ------------------------------------------------------------------ */

/* Sets what B2R.RESULT reads. */
static void set_bar_result(struct sm_warp *w, uint32_t mask, uint32_t count, uint32_t flag) {
  w->bar_reduced = true;
  FOR_MASK(lane, mask) {
    w->bar_count.l[lane] = count;
    w->bar_flag.l[lane] = flag;
  }
}

static void open_barrier(struct sm_cta *cta, uint8_t id) {
  struct sm_bar *bar = &cta->bar[id];
  if (cta->grid->watch)
    sm_watch_barrier(cta, id);
  const uint32_t flag = (bar->reduce == SM_CTABAR_AND ? bar->all : bar->any) ? ~0u : 0;
  for (uint32_t k = 0; k < cta->warps; k++) {
    struct sm_warp *w = sm_warp_at(cta, k);
    uint32_t left = bar->warps >> k & 1 ? w->alive : 0; /* lanes of groups not yet visited */
    for (unsigned g = 0; g < w->groups && left; g++) {
      const unsigned at = w->current + g;
      struct sm_group *group = &w->group[at < w->groups ? at : at - w->groups];
      if (group->state == SM_GROUP_FREE)
        continue;
      left &= ~group->mask;
      if (group->state != SM_GROUP_BAR || group->breg != id)
        continue;
      group->state = SM_GROUP_READY;
      group->pc += SM_INSN_BYTES;
      if (bar->reduces)
        set_bar_result(w, group->mask, bar->count, flag);
    }
  }
  *bar = (struct sm_bar){0};
  cta->bars_in_use &= ~(1u << id);
}

static void try_open_barrier(struct sm_cta *cta, uint8_t id) {
  const struct sm_bar *bar = &cta->bar[id];
  if (bar->whole ? bar->arrived + cta->exited >= cta->threads
                 : bar->arrived + bar->absent >= bar->expected)
    open_barrier(cta, id);
}

void sm_bar_after_exit(struct sm_cta *cta) {
  for (uint32_t left = cta->bars_in_use; left; left &= left - 1)
    if (cta->bar[__builtin_ctz(left)].whole)
      try_open_barrier(cta, (uint8_t)__builtin_ctz(left));
}

struct sm_bar_request sm_bar_request_of(const struct sm_warp *w, const struct sm_uop *u,
                                        uint32_t mask) {
  enum { PACKED_COUNT_SHIFT = 16, COUNT_MASK = 0xfff, ID_MASK = 0xf };
  uint32_t reg;
  memcpy(&reg, sm_file(w) + u->s[1] + sizeof(reg) * (unsigned)__builtin_ctz(mask), sizeof(reg));
  return (struct sm_bar_request){
      .mode = u->bar.mode,
      .reduce = u->bar.reduce,
      .id = u->bar.id_in_register ? reg & ID_MASK : u->bar.id,
      .count = !u->bar.count_in_register ? (uint32_t)u->bar.count
               : u->bar.packed           ? reg >> PACKED_COUNT_SHIFT & COUNT_MASK
                                         : reg & COUNT_MASK,
      .predicate = w->pred[u->pp] ^ (0u - (u->pnot & 1u)),
  };
}

const struct sm_uop *sm_bar_arrive(struct sm_warp *w, const struct sm_uop *u, uint32_t mask,
                                   const struct sm_bar_request *request) {
  struct sm_cta *cta = w->cta;
  if (request->id >= cta->grid->barriers || request->id >= SM_BARRIERS)
    return sm_raise(w, u, SM_FAULT_BARRIER_RANGE, (uint32_t)__builtin_ctz(mask), request->id, 0,
                    false);
  const uint8_t id = (uint8_t)request->id;
  struct sm_bar *bar = &cta->bar[id];
  if (!(cta->bars_in_use >> id & 1)) {
    *bar = (struct sm_bar){.whole = request->count == 0,
                           .expected = request->count,
                           .reduce = request->reduce,
                           .all = true};
    cta->bars_in_use |= 1u << id;
  }
  if (!(bar->warps >> w->index & 1)) {
    /* A barrier counts whole warps: lanes that do not exist or have exited count as having
     * arrived. */
    bar->warps |= 1u << w->index;
    bar->absent += SM_LANES - (uint32_t)__builtin_popcount(w->alive);
  }
  const uint32_t yes = request->predicate & mask;
  bar->arrived += (uint32_t)__builtin_popcount(mask);
  bar->count += (uint32_t)__builtin_popcount(yes);
  bar->all = bar->all && yes == mask;
  bar->any = bar->any || yes;
  bar->reduces = bar->reduces || request->mode == SM_CTABAR_RED;
  if (request->mode == SM_CTABAR_ARV) {
    try_open_barrier(cta, id);
    return u + 1;
  }
  sm_block(w, u, mask, SM_GROUP_BAR, id);
  if (mask == w->alive)
    w->event = SM_EVENT_YIELD; /* so that all warps that the barrier releases form a batch */
  try_open_barrier(cta, id);
  return NULL;
}

/* --- mappings --------------------------------------------------------------------- */

static bool range_holds(const struct sm_range *range, uint64_t address, uint64_t bytes) {
  uint64_t at = address - range->gpu;
  return at < range->size && bytes <= range->size - at;
}

uint8_t *sm_find(struct sm_cta *cta, uint64_t address, uint64_t bytes, bool write) {
  for (uint32_t k = 0; k < cta->range_count; k++)
    if (range_holds(&cta->range[k], address, bytes)) {
      cta->last = &cta->range[k];
      return write && !cta->last->writable ? NULL : cta->last->host + (address - cta->last->gpu);
    }
  const struct sm_memory *memory = &cta->grid->memory;
  struct sm_range range;
  if (!memory->find(memory->space, address, &range) || !range_holds(&range, address, bytes) ||
      (write && !range.writable))
    return NULL;
  struct sm_range *slot = &cta->range[cta->range_turn];
  if (cta->range_count < SM_RANGE_CACHE)
    slot = &cta->range[cta->range_count++];
  else
    cta->range_turn = (cta->range_turn + 1) % SM_RANGE_CACHE;
  *slot = range;
  cta->last = slot;
  return range.host + (address - range.gpu);
}
