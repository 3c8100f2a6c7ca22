/* Check and profile modes: the hook before each instruction, the memory for records, reports, and
 * the vector clocks by which barriers order accesses. */
#include "emulator/sm/check/watch.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

/* --- lifetime --------------------------------------------------------------- */

bool sm_grow_array(void *pointer, size_t *have, size_t bytes) {
  void **p = pointer;
  if (bytes <= *have)
    return true;
  free(*p);
  *p = calloc(1, bytes);
  *have = *p ? bytes : 0;
  return *p != NULL;
}

static bool start_check(struct sm_cta *cta, struct sm_shadow *s) {
  const struct sm_grid *grid = cta->grid;
  const struct sm_warp *first = sm_warp_at(cta, 0);
  const size_t local =
      (size_t)cta->warps * SM_LANES * (first->local_high + (size_t)first->local_high_at) / 4;
  if (!sm_grow_array(&s->warp, &s->warp_bytes, cta->warps * sizeof *s->warp) ||
      !sm_shared_start(s, grid->shared_bytes) ||
      !sm_grow_array(&s->local_defined, &s->local_bytes, local + 1) ||
      !sm_grow_array(&s->local_origin, &s->local_origin_bytes, local * sizeof(uint64_t) + 1) ||
      !s->local_defined)
    return false;
  memset(s->local_defined, 0, local);
  memset(s->barrier_clock, 0, sizeof s->barrier_clock);
  memset(s->lock_clock, 0, sizeof s->lock_clock);
  s->number =
      grid->first_number + cta->id[0] + grid->grid[0] * (cta->id[1] + grid->grid[1] * cta->id[2]);
  s->first_number = grid->first_number;
  s->ctas = (uint64_t)grid->grid[0] * grid->grid[1] * grid->grid[2];
  s->acquired = 0;
  s->has_stored = false;
  memset(s->range, 0, sizeof s->range);
  sm_pointers_start(cta);
  s->left_to_watchdog = grid->watch->watchdog ? grid->watch->watchdog + 1 : UINT64_MAX;
  const struct sm_entry *entry = sm_code_entry(grid->code, grid->program, grid->registers);
  for (unsigned k = 0; k < cta->warps; k++) {
    struct sm_warp *w = sm_warp_at(cta, k);
    w->shadow = &s->warp[k];
    w->left_to_watchdog = &s->left_to_watchdog;
    memset(s->warp[k].clock, 0, sizeof s->warp[k].clock);
    s->warp[k].accessed = 0;
  }
  sm_records_start(cta, entry);
  return true;
}

bool sm_watch_start(struct sm_cta *cta) {
  if (!cta->shadow && !(cta->shadow = calloc(1, sizeof *cta->shadow)))
    return false;
  struct sm_shadow *s = cta->shadow;
  memset(&s->counts, 0, sizeof s->counts);
  return !cta->grid->watch->check || start_check(cta, s);
}

void sm_watch_finish(struct sm_cta *cta) {
  struct sm_shadow *s = cta->shadow;
  const struct sm_watch *watch = cta->grid->watch;
  if (watch->profile)
    watch->count(cta->grid, &s->counts);
}

void sm_watch_drop_ranges(struct sm_cta *cta) {
  struct sm_shadow *s = cta->shadow;
  memset(s->range, 0, sizeof s->range);
  for (unsigned k = 0; k < s->parameter_count; k++)
    s->parameter[k].range.shadow = NULL;
}

void sm_watch_free(struct sm_cta *cta) {
  if (!cta->shadow)
    return;
  free(cta->shadow->warp);
  sm_shared_free(cta->shadow);
  free(cta->shadow->local_defined);
  free(cta->shadow->local_origin);
  free(cta->shadow);
}

/* --- each instruction --------------------------------------------------------- */

void sm_watch_batch(struct sm_warp *w, uint32_t warps) {
  if (warps > 1 && w->records)
    sm_records_join(w, warps);
}

static const struct sm_uop *bark(struct sm_warp *w, const struct sm_uop *u) {
  return sm_raise(w, u, SM_FAULT_WATCHDOG, (uint32_t)__builtin_ctz(w->active[0]), 0, 0, false);
}

/* Returns whether BAR makes all lanes of the batch wait for the whole CTA. At another barrier each
 * warp has to be checked when it arrives: one of them may open it before the others. */
static bool are_for_all(struct sm_warp *w, const struct sm_uop *u, uint32_t warps) {
  for (uint32_t k = 0; k < warps; k++) {
    const struct sm_warp *v = sm_warp_after(w, k);
    const uint32_t m = sm_lanes_of(v, u);
    if (m != v->active[0] || sm_bar_request_of(v, u, m).count)
      return false;
  }
  return true;
}

static __attribute__((noinline)) const struct sm_uop *
step(struct sm_warp *w, const struct sm_uop *u, uint32_t warps, const struct sm_note *note) {
  if (!w->place_state && w->cta->grid->watch && w->cta->grid->watch->profile)
    sm_count(w, u, note);
  if (w->shadow) {
    const uint64_t executes = (1u + note->skips) * (uint64_t)warps;
    const bool is_last = *w->left_to_watchdog <= executes;
    if (is_last && warps == 1)
      return bark(w, u);
    if (is_last || (warps > 1 && note->handler == SM_H_bar && !are_for_all(w, u, warps))) {
      *w->left_to_watchdog -= warps; /* which sm_disband adds */
      return sm_disband(w, u, warps);
    }
    *w->left_to_watchdog -= executes;
    w->cta->shadow->stored = w->cta->shadow->logged;
    sm_check(w, u, warps, note);
  }
  return note->execute(w, u, warps);
}

static __attribute__((noinline)) bool others_have_record(struct sm_warp *w, uint32_t warps,
                                                         const struct sm_note *note) {
  uint8_t any = 0;
  for (uint32_t k = 1; k < warps; k++)
    any |= sm_quick_states(sm_warp_after(w, k)->place_state, note);
  return any;
}

/* Returns whether a place of a quick instruction has a record in a warp of the batch. */
static inline bool has_record(struct sm_warp *w, uint32_t warps, const struct sm_note *note) {
  return sm_quick_states(w->place_state, note) ||
         (note->parameter && w->cta->shadow->pointer_at[note->parameter]) ||
         (sm_batch_of(w, warps) & ~w->records->warps && others_have_record(w, warps, note));
}

/* Drops the records of the results of a chain whose inputs have none. state is the union of their
 * states. Returns false if the chain has to be checked. */
static __attribute__((noinline)) bool drop_results(struct sm_warp *w, uint32_t warps,
                                                   const struct sm_chain *chain, uint8_t state) {
  struct sm_records *r = w->records;
  if (!w->all_active || r->warps != sm_batch_of(w, warps) ||
      state & (SM_PLACE_RESULT | SM_PLACE_SOURCE))
    return false;
  for (unsigned k = chain->inputs; k < chain->places; k++) {
    r->state[chain->place[k]] = 0;
    r->undefined[chain->place[k]] = 0;
    r->pointer[chain->place[k]] = SM_POINTER_NONE;
  }
  return true;
}

/* Returns whether a chain needs no check: its inputs have no records, in any warp of the batch, so
 * that its results have none. */
static inline bool is_free(struct sm_warp *w, uint32_t warps, const struct sm_chain *chain) {
  const uint8_t *state = w->place_state;
  uint8_t any = 0;
  unsigned k = 0;
  if (sm_batch_of(w, warps) & ~w->records->warps)
    return false;
  for (; k < chain->inputs; k++)
    any |= state[chain->place[k]];
  if (any)
    return false;
  for (; k < chain->places; k++)
    any |= state[chain->place[k]];
  return !any || drop_results(w, warps, chain, any);
}

const struct sm_uop *sm_watch_step(struct sm_warp *w, const struct sm_uop *u, uint32_t warps) {
  u = sm_unchained(w->page, u);
  const struct sm_note *note = sm_note_of(w, u);
  const struct sm_chain *chain = sm_chain_of(w, u);
  uint64_t *left = w->left_to_watchdog;
  if (!note->is_quick || !w->place_state)
    return step(w, u, warps, note);
  if (note->wait_mask) {
    if (w->records->warps != sm_batch_of(w, warps))
      return step(w, u, warps, note);
    sm_wait_for(w->records, note->wait_mask);
  }
  if (chain->count > 1 && *left > chain->count * (uint64_t)warps && is_free(w, warps, chain)) {
    *left -= chain->count * (uint64_t)warps;
    return note->execute(w, sm_annotation_of(w->page)->chained + (u - w->page->uop), warps);
  }
  if (*left <= warps || has_record(w, warps, note))
    return step(w, u, warps, note);
  *left -= warps;
  return note->execute(w, u, warps);
}

/* --- reports ----------------------------------------------------------------- */

bool sm_report_wanted(const struct sm_warp *w, uint64_t pc, enum sm_fault_kind kind) {
  const struct sm_grid *grid = w->cta->grid;
  return grid->watch->wanted(grid, kind, pc);
}

static void set_owner(struct sm_fault *f, const struct sm_parameter *p) {
  f->owner = p ? p->range.gpu : 0;
  f->parameter = p ? p->offset : 0;
}

void sm_report(const struct sm_warp *w, uint64_t pc, enum sm_fault_kind kind, uint32_t lane,
               const struct sm_about *about, const char *format, ...) {
  const struct sm_grid *grid = w->cta->grid;
  if (!sm_report_wanted(w, pc, kind))
    return;
  const struct sm_page *page =
      sm_code_page(grid->code, pc & ~(uint64_t)(SM_PAGE_BYTES - 1), grid->registers);
  struct sm_fault f;
  sm_fault_fill(&f, w, pc, page ? page->word[(pc - page->va) / SM_INSN_BYTES] : NULL, kind, lane);
  f.address = about->address;
  f.access_bytes = about->bytes;
  f.is_write = about->is_write;
  f.other_pc = about->other_pc;
  set_owner(&f, about->parameter);
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(f.message, sizeof f.message, format, arguments);
  va_end(arguments);
  grid->watch->report(grid, &f);
}

void sm_watch_owner(const struct sm_warp *w, const struct sm_uop *u, struct sm_fault *fault,
                    uint32_t lane) {
  const struct sm_note *note = sm_note_of(w, u);
  if (w->cta->grid->watch->check && sm_is_memory(note->space))
    set_owner(fault, sm_pointer_of(w, u, lane));
}

/* --- barriers ----------------------------------------------------------------- */

void sm_release_clock(struct sm_warp *w, uint32_t *clock) {
  struct sm_warp_shadow *ws = sm_shadow_of(w);
  ws->clock[w->index]++;
  for (unsigned k = 0; k < w->cta->warps; k++)
    clock[k] = clock[k] > ws->clock[k] ? clock[k] : ws->clock[k];
}

void sm_acquire_clock(struct sm_warp *w, const uint32_t *clock) {
  struct sm_warp_shadow *ws = sm_shadow_of(w);
  for (unsigned k = 0; k < w->cta->warps; k++)
    if (k != w->index && clock[k] > ws->clock[k])
      ws->clock[k] = clock[k];
}

void sm_watch_barrier(struct sm_cta *cta, uint8_t id) {
  if (!cta->grid->watch->check)
    return;
  const struct sm_warp *first = NULL;
  const struct sm_group *at = NULL;
  for (uint32_t k = 0; k < cta->warps; k++) {
    struct sm_warp *w = sm_warp_at(cta, k);
    if (!(cta->bar[id].warps >> k & 1))
      continue;
    sm_acquire_clock(w, cta->shadow->barrier_clock[id]);
    for (unsigned g = 0; g < w->groups; g++) {
      const struct sm_group *group = &w->group[g];
      if (group->state != SM_GROUP_BAR || group->breg != id)
        continue;
      const uint32_t lane = (uint32_t)__builtin_ctz(group->mask);
      if (!first) {
        first = w;
        at = group;
      } else if (group->pc != at->pc) {
        const uint32_t other = (uint32_t)__builtin_ctz(at->mask);
        sm_report(w, group->pc, SM_REPORT_BARRIER, lane,
                  &(struct sm_about){.address = id, .other_pc = at->pc},
                  "waits at this barrier, but work-item (%u,%u,%u) waits at the one",
                  first->tid[0].l[other], first->tid[1].l[other], first->tid[2].l[other]);
      }
    }
  }
  sm_shared_barrier(cta);
  if (first && cta->bar[id].whole && cta->exited)
    sm_report(first, at->pc, SM_REPORT_BARRIER, (uint32_t)__builtin_ctz(at->mask),
              &(struct sm_about){.address = id},
              "%u of the %u work-items of the group have ended without reaching this barrier",
              cta->exited, cta->threads);
}
