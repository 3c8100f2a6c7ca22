/* Check mode: undefined values, results that are used before their scoreboard was waited for, and
 * masks of warp-synchronous operations.
 *
 * Instructions may move undefined values and compute with them, because compilers let them do so
 * where the result is unused. A value is reported when something depends on it: an address, a
 * branch or a store to global memory. */
#include <inttypes.h>
#include <stdio.h>

#include "emulator/sm/check/watch.h"

static const uint64_t cause_mask = SM_INSN_BYTES - 1;

/* --- scoreboards: docs/hardware/sass.md, control bits ------------------------------ */

/* The scoreboard of a load that sets none, so that code cannot wait for it. Loads from shared
 * memory are exempt: they finish in order, and ptxas waits for a later one. */
enum { NEVER = SM_SCOREBOARDS };

/* Adds a place to the list of a scoreboard. */
static inline void add_waiting(struct sm_records *r, uint8_t scoreboard, unsigned place) {
  if (scoreboard >= SM_SCOREBOARDS || r->waiting_count[scoreboard] > SM_WAITING)
    return;
  const unsigned n = r->waiting_count[scoreboard]++;
  if (n < SM_WAITING)
    r->waiting[scoreboard][n] = (uint16_t)place;
}

/* Drops the records of a place that depend on a scoreboard. A wait for the result of an instruction
 * also covers its sources, which have been read by then. */
static inline void drop_pending(struct sm_records *r, unsigned place, unsigned scoreboard) {
  const struct sm_pending *result = &r->result[place], *source = &r->source[place];
  uint8_t state = r->state[place];
  if (state & SM_PLACE_RESULT && result->scoreboard == scoreboard)
    state &= (uint8_t)~SM_PLACE_RESULT;
  if (state & SM_PLACE_SOURCE &&
      (source->scoreboard == scoreboard || source->result_scoreboard == scoreboard))
    state &= (uint8_t)~SM_PLACE_SOURCE;
  r->state[place] = state;
}

void sm_wait_for(struct sm_records *r, uint32_t scoreboards) {
  for (uint32_t left = scoreboards; left; left &= left - 1) {
    const unsigned n = (unsigned)__builtin_ctz(left) % SM_SCOREBOARDS;
    const unsigned count = r->waiting_count[n];
    const bool is_listed = count <= SM_WAITING;
    for (unsigned k = 0; k < (is_listed ? count : SM_PLACES); k++)
      drop_pending(r, is_listed ? r->waiting[n][k] : k, n);
    r->waiting_count[n] = 0;
  }
}

static void report_pending(struct sm_warp *w, const struct sm_uop *u, unsigned place,
                           const struct sm_pending *p, uint32_t m, bool is_result) {
  const bool predicate = place >= SM_SLOTS;
  const bool uniform = predicate ? place - SM_SLOTS >= SM_PRED_UNIFORM : place < SM_SLOT_R;
  const unsigned number = predicate ? (place - SM_SLOTS) % SM_PRED_UNIFORM
                          : uniform ? place - SM_SLOT_UR
                                    : place - SM_SLOT_R;
  const char *const letter = uniform ? predicate ? "UP" : "UR" : predicate ? "P" : "R";
  const struct sm_about about = {.other_pc = p->pc};
  const uint32_t lane = (uint32_t)__builtin_ctz(m);
  if (p->scoreboard == NEVER)
    sm_report(w, sm_pc_of(w, u), SM_REPORT_SCOREBOARD, lane, &about,
              "uses %s%u, but no scoreboard announces the result of the load", letter, number);
  else
    sm_report(w, sm_pc_of(w, u), SM_REPORT_SCOREBOARD, lane, &about,
              is_result ? "uses %s%u without a wait for scoreboard %u, which announces the result "
                          "of the instruction"
                        : "writes %s%u without a wait for scoreboard %u, which announces that the "
                          "register was read by the instruction",
              letter, number, p->scoreboard);
}

/* Reports a place that an unfinished instruction still reads or will write. writer is the note of
 * the current instruction if it writes the place, else NULL. Accesses to shared memory complete in
 * order, so ptxas lets the result of one overwrite the result of another. Accesses to memory
 * and shuffles read their registers in order, so ptxas lets the result of a shuffle or of a load
 * from shared memory overwrite a source of any earlier access, for example the address of a store
 * to global memory. */
static void check_pending(struct sm_warp *w, const struct sm_uop *u, struct sm_records *r,
                          unsigned place, uint32_t m, const struct sm_note *writer) {
  const struct sm_pending *result = &r->result[place], *source = &r->source[place];
  const bool written = writer != NULL;
  const bool shared = written && writer->space == SM_SPACE_SHARED;
  const bool shuffles = written && writer->handler == SM_H_shfl;
  const uint8_t state = r->state[place];
  if (state & SM_PLACE_RESULT && result->lanes & m &&
      !(shared && result->space == SM_SPACE_SHARED)) {
    report_pending(w, u, place, result, m, true);
    r->state[place] = (uint8_t)(r->state[place] & ~SM_PLACE_RESULT);
  } else if (written && state & SM_PLACE_SOURCE && source->lanes & m &&
             !((shared || shuffles) && sm_is_memory(source->space))) {
    report_pending(w, u, place, source, m, false);
    r->state[place] = (uint8_t)(r->state[place] & ~SM_PLACE_SOURCE);
  }
}

/* Iterates over the places that an instruction reads or writes: over list, or else over use and
 * preds. */
struct places {
  const uint16_t *list, *end;
  const struct sm_use *use;
  unsigned count, at, word;
  uint32_t preds;
};

static bool next_unlisted(struct places *p, unsigned *place) {
  while (p->at < p->count && p->word == p->use[p->at].count) {
    p->at++;
    p->word = 0;
  }
  if (p->at < p->count) {
    *place = p->use[p->at].slot + p->word++;
    return true;
  }
  if (!p->preds)
    return false;
  *place = SM_SLOTS + (unsigned)__builtin_ctz(p->preds);
  p->preds &= p->preds - 1;
  return true;
}

static inline bool next_place(struct places *p, unsigned *place) {
  if (!p->list)
    return next_unlisted(p, place);
  if (p->list == p->end)
    return false;
  *place = *p->list++;
  return true;
}

/* The guard is not among them. */
static inline struct places reads_of(const struct sm_note *note) {
  if (note->has_places)
    return (struct places){.list = note->place, .end = note->place + note->sources};
  return (struct places){.use = note->read, .count = note->read_count, .preds = note->preds_read};
}

static inline struct places writes_of(const struct sm_note *note) {
  if (note->has_places)
    return (struct places){.list = note->place + note->places_read,
                           .end = note->place + note->places};
  return (struct places){
      .use = note->write, .count = note->write_count, .preds = note->preds_written};
}

static inline struct sm_pending pending_on(const struct sm_warp *w, const struct sm_uop *u,
                                           const struct sm_note *note, uint8_t scoreboard,
                                           uint32_t m) {
  return (struct sm_pending){.pc = sm_pc_of(w, u),
                             .lanes = m,
                             .scoreboard = scoreboard,
                             .result_scoreboard = note->write_sb,
                             .space = note->space};
}

/* Note that an instruction will write, or still reads, a place. */
static inline void set_result(struct sm_records *r, unsigned place, const struct sm_pending *p) {
  r->result[place] = *p;
  r->state[place] |= SM_PLACE_RESULT;
  add_waiting(r, p->scoreboard, place);
}

static void set_source(struct sm_records *r, unsigned place, const struct sm_pending *p) {
  r->source[place] = *p;
  r->state[place] |= SM_PLACE_SOURCE;
  add_waiting(r, p->scoreboard, place);
  if (p->result_scoreboard != p->scoreboard)
    add_waiting(r, p->result_scoreboard, place);
}

/* read and written are the union of the states of these places. */
static void check_scoreboards(struct sm_warp *w, const struct sm_uop *u, const struct sm_note *note,
                              struct sm_records *r, uint32_t m, uint8_t read, uint8_t written) {
  unsigned place;
  const uint32_t everyone = w->active[u->uniform];
  if (read & SM_PLACE_RESULT && u->guard % SM_PRED_UNIFORM < SM_PRED_TRUE)
    check_pending(w, u, r, SM_SLOTS + u->guard, everyone, NULL);
  if (!m)
    return;
  if (read & SM_PLACE_RESULT)
    for (struct places p = reads_of(note); next_place(&p, &place);)
      check_pending(w, u, r, place, m, NULL);
  if (written & (SM_PLACE_RESULT | SM_PLACE_SOURCE))
    for (struct places p = writes_of(note); next_place(&p, &place);)
      check_pending(w, u, r, place, m, note);
  if (note->has_result) {
    const struct sm_pending pending =
        pending_on(w, u, note, note->write_sb < SM_SCOREBOARDS ? note->write_sb : NEVER, m);
    if (note->has_places)
      for (unsigned k = note->places_read; k < note->places; k++)
        set_result(r, note->place[k], &pending);
    else
      for (struct places p = writes_of(note); next_place(&p, &place);)
        set_result(r, place, &pending);
  }
  /* Uniform registers are read at issue: NVRTC's code overwrites them directly after a store. */
  if (note->read_sb < SM_SCOREBOARDS) {
    const struct sm_pending pending = pending_on(w, u, note, note->read_sb, m);
    for (struct places p = reads_of(note); next_place(&p, &place);)
      if (place >= SM_SLOT_R)
        set_source(r, place, &pending);
  }
}

/* --- undefined values -------------------------------------------------------------- */

static void report_undefined(struct sm_warp *w, const struct sm_uop *u, uint64_t origin,
                             uint32_t lanes, const char *use) {
  static const char *const causes[] = {
      [SM_CAUSE_REGISTER] = "an uninitialised register",
      [SM_CAUSE_SHARED] = "uninitialised local memory, read",
      [SM_CAUSE_LOCAL] = "uninitialised private memory, read",
      [SM_CAUSE_GLOBAL] = "uninitialised global memory, read",
      [SM_CAUSE_LANE] = "a lane that does not participate, read",
  };
  const unsigned cause = origin & cause_mask;
  sm_report(w, sm_pc_of(w, u), SM_REPORT_UNDEFINED, (uint32_t)__builtin_ctz(lanes),
            &(struct sm_about){.other_pc = cause == SM_CAUSE_REGISTER ? 0 : origin & ~cause_mask},
            "%s is undefined: it comes from %s", use, causes[cause]);
}

/* Sets the lanes in which a place is undefined. */
static void set_undefined(struct sm_records *r, unsigned place, uint32_t lanes) {
  r->undefined[place] = lanes;
  r->state[place] = (uint8_t)(r->state[place] & ~SM_PLACE_UNDEFINED);
  if (lanes)
    r->state[place] |= SM_PLACE_UNDEFINED;
}

/* Reports a place on which something depends, if it is undefined in any lane of m. Marks it as
 * defined, so that it is reported once. */
static void report_if_undefined(struct sm_warp *w, const struct sm_uop *u, struct sm_records *r,
                                unsigned place, uint32_t m, const char *use) {
  const uint32_t lanes = r->undefined[place] & m;
  if (!lanes)
    return;
  report_undefined(w, u, r->origin[place], lanes, use);
  set_undefined(r, place, 0);
}

struct taint {
  uint32_t lanes;
  uint64_t origin;
};

static void add_taint(struct taint *t, const struct sm_records *r, unsigned place, uint32_t m) {
  const uint32_t lanes = r->undefined[place] & m;
  if (lanes && !t->lanes)
    t->origin = r->origin[place];
  t->lanes |= lanes;
}

static unsigned source_place(const struct sm_uop *u, unsigned which) {
  return u->scalar_slot == which ? 0 : u->s[which] / SM_REG_BYTES;
}

/* Adds the lanes whose SHFL reads an undefined value or a lane that does not participate. The
 * source lanes are computed as in the handler (exec_ctl.c). */
static void shuffle_taint(struct sm_warp *w, const struct sm_uop *u, struct sm_records *r,
                          uint32_t m, struct taint *t) {
  enum { SHFL_IDX, SHFL_UP, SHFL_DOWN, SHFL_BFLY };
  const uint32_t *b = sm_file_at(w, u->s[1]), *c = sm_file_at(w, u->s[2]);
  const unsigned value = source_place(u, 0);
  const uint32_t undefined = r->undefined[value];
  uint32_t absent = 0;
  FOR_MASK(i, m) {
    const uint32_t control = u->shfl.clamp_known ? (uint32_t)u->shfl.clamp : c[i];
    const uint32_t segment = control >> 8 & 31, clamp = control & 31;
    const uint32_t by = (u->scalar_slot == 1 ? u->imm : b[i]) & 31;
    const uint32_t max = (i & segment) | (clamp & ~segment);
    uint32_t from = (i & segment) | (by & ~segment & 31);
    bool ok;
    if (u->shfl.mode == SHFL_UP) {
      from = i - by;
      ok = (int32_t)from >= (int32_t)max;
    } else {
      from = u->shfl.mode == SHFL_DOWN ? i + by : u->shfl.mode == SHFL_BFLY ? i ^ by : from;
      ok = from <= max;
    }
    from = ok ? from & 31 : i;
    if (!(m >> from & 1))
      absent |= 1u << i;
    else if (undefined >> from & 1) {
      t->lanes |= 1u << i;
      t->origin = r->origin[value];
    }
  }
  if (absent && !t->lanes)
    t->origin = sm_pc_of(w, u) | SM_CAUSE_LANE;
  t->lanes |= absent;
}

/* Returns the lanes in which the result of an instruction without memory access is undefined. */
static struct taint computed_taint(struct sm_warp *w, const struct sm_uop *u,
                                   const struct sm_note *note, struct sm_records *r, uint32_t m) {
  struct taint t = {0};
  unsigned place;
  switch (note->handler) {
  case SM_H_sel:
  case SM_H_fsel: {
    const uint32_t p = w->pred[u->pp] ^ (0u - (u->pnot & 1u));
    add_taint(&t, r, source_place(u, 0), m & p);
    add_taint(&t, r, source_place(u, 1), m & ~p);
    add_taint(&t, r, SM_SLOTS + u->pp, m);
    return t;
  }
  case SM_H_prmt_imm:
  case SM_H_prmt: {
    /* PRMT may insert bytes into an incomplete word: its result counts as undefined only if both
     * sources are. */
    struct taint low = {0}, high = {0};
    add_taint(&low, r, source_place(u, 0), m);
    add_taint(&high, r, source_place(u, 2), m);
    if (source_place(u, 0) < SM_SLOT_UR)
      return high;
    if (source_place(u, 2) < SM_SLOT_UR)
      return low;
    low.lanes &= high.lanes;
    return low;
  }
  case SM_H_shfl:
    shuffle_taint(w, u, r, m, &t);
    return t;
  case SM_H_p2r:
  case SM_H_r2p:
    return t;
  default:
    break;
  }
  for (struct places p = reads_of(note); next_place(&p, &place);)
    add_taint(&t, r, place, m);
  switch (note->handler) {
  case SM_H_vote:
  case SM_H_match:
  case SM_H_redux:
    t.lanes = t.lanes ? SM_ALL_LANES : 0;
    break;
  case SM_H_r2ur:
    t.lanes = m && t.lanes >> __builtin_ctz(m) & 1 ? SM_ALL_LANES : 0;
    break;
  default:
    if (note->klass == SM_CLASS_TENSOR)
      t.lanes = t.lanes ? SM_ALL_LANES : 0;
    break;
  }
  return t;
}

static bool decides_by_guard(const struct sm_note *note) {
  return note->klass == SM_CLASS_CONTROL || note->klass == SM_CLASS_BARRIER ||
         note->access == SM_ACCESS_STORE || note->access == SM_ACCESS_ATOMIC;
}

static bool is_global(const struct sm_note *note) {
  return note->space == SM_SPACE_GLOBAL || note->space == SM_SPACE_GENERIC ||
         note->space == SM_SPACE_SURFACE;
}

static void check_uses(struct sm_warp *w, const struct sm_uop *u, const struct sm_note *note,
                       struct sm_records *r, uint32_t m) {
  if (decides_by_guard(note)) {
    report_if_undefined(w, u, r, SM_SLOTS + u->guard, w->active[u->uniform], "the condition");
    if (note->klass == SM_CLASS_CONTROL)
      for (uint32_t left = note->preds_read; left; left &= left - 1)
        report_if_undefined(w, u, r, SM_SLOTS + (unsigned)__builtin_ctz(left), m, "the condition");
  }
  for (unsigned k = 0; k < note->read_count; k++) {
    const struct sm_use *use = &note->read[k];
    for (unsigned word = 0; word < use->count; word++)
      if (use->address)
        report_if_undefined(w, u, r, use->slot + word, m, "the address");
      else if (is_global(note) && note->access != SM_ACCESS_LOAD)
        report_if_undefined(w, u, r, use->slot + word, m, "what is written to memory");
  }
}

static void define_place(struct sm_records *r, unsigned place, uint32_t m, const struct taint *t) {
  const bool uniform = place < SM_SLOT_R;
  const uint32_t lanes = uniform && m ? SM_ALL_LANES : m;
  const uint32_t undefined = uniform && t->lanes ? SM_ALL_LANES : t->lanes;
  set_undefined(r, place, (r->undefined[place] & ~lanes) | (undefined & lanes));
  if (undefined & lanes)
    r->origin[place] = t->origin;
}

/* Returns whether the result may be undefined although all sources are defined, or which places are
 * written is known only now. */
static bool is_irregular(const struct sm_note *note) {
  return note->handler == SM_H_shfl || note->handler == SM_H_r2p;
}

/* Returns the lanes of a warp in which the result of an instruction is undefined. state is the
 * union of the states of all places that the instruction reads or writes. */
static struct taint result_taint(struct sm_warp *w, struct sm_memory_check *memory, uint32_t m,
                                 uint8_t state) {
  const struct sm_uop *u = memory->u;
  const struct sm_note *note = memory->note;
  struct sm_records *r = w->records;
  struct taint data = {0}, t = {0};
  /* Surfaces are checked while they are accessed: texture.c. */
  if (!sm_is_memory(note->space))
    return m && (state & SM_PLACE_UNDEFINED || is_irregular(note))
               ? computed_taint(w, u, note, r, m)
               : t;
  for (unsigned k = 0; state & SM_PLACE_UNDEFINED && k < note->read_count; k++)
    for (unsigned word = 0; word < note->read[k].count && !note->read[k].address; word++)
      add_taint(&data, r, note->read[k].slot + word, m);
  t.origin = data.origin;
  t.lanes = m ? sm_check_memory(memory, w, data.lanes, &t.origin) : 0;
  return t;
}

/* Records in which lanes the results of an instruction are undefined. */
static void define_results(struct sm_warp *w, const struct sm_uop *u, const struct sm_note *note,
                           uint32_t m, struct taint t) {
  struct sm_records *r = w->records;
  unsigned place;
  /* The result is also undefined if the guard is. */
  add_taint(&t, r, SM_SLOTS + u->guard, w->active[u->uniform]);
  for (struct places p = writes_of(note); next_place(&p, &place);)
    define_place(r, place, m, &t);
  if (note->handler == SM_H_r2p)
    for (unsigned k = 0; k < SM_PRED_TRUE; k++)
      set_undefined(r, SM_SLOTS + k + sm_first_predicate(u),
                    r->undefined[SM_SLOTS + k + sm_first_predicate(u)] & ~m);
}

/* Checks the values of warps that have the same records, and their accesses to memory. If the
 * records of their results differ, each warp gets its own. */
static void check_values(struct sm_warp *w, const struct sm_uop *u, uint32_t warps,
                         const struct sm_note *note, uint32_t m, uint8_t state) {
  struct taint t[SM_BATCH];
  struct sm_memory_check memory;
  uint32_t undefined = 0;
  if (state & SM_PLACE_UNDEFINED)
    check_uses(w, u, note, w->records, m);
  else if (note->space == SM_SPACE_NONE && !is_irregular(note))
    return;
  const uint32_t done =
      sm_check_memory_start(&memory, w, u, note, warps, !(state & SM_PLACE_UNDEFINED));
  for (uint32_t k = 0; k < done; k++)
    t[k] = (struct taint){0};
  if (sm_is_memory(note->space) && m && !(state & SM_PLACE_UNDEFINED))
    for (uint32_t k = done; k < warps; k++) {
      t[k].origin = 0;
      undefined |= t[k].lanes = sm_check_memory(&memory, sm_warp_after(w, k), 0, &t[k].origin);
    }
  else
    for (uint32_t k = done; k < warps; k++)
      undefined |= (t[k] = result_taint(sm_warp_after(w, k), &memory, m, state)).lanes;
  sm_check_memory_end(&memory);
  if (!m || (!undefined && !(state & SM_PLACE_UNDEFINED) && note->handler != SM_H_r2p))
    return;
  const bool differ = undefined && warps > 1;
  if (differ)
    sm_records_separate(w, warps);
  for (uint32_t k = 0; k < (differ ? warps : 1); k++)
    define_results(sm_warp_after(w, k), u, note, m, t[k]);
}

/* --- warp-synchronous operations ------------------------------------------------------ */

static void report_mask(struct sm_warp *w, const struct sm_uop *u, uint32_t lane, uint32_t mask,
                        const char *rest) {
  sm_report(w, sm_pc_of(w, u), SM_REPORT_WARP_MASK, lane, &(struct sm_about){0},
            "lane %u executes this with the mask 0x%08x, %s", lane, mask, rest);
}

static void check_own_lane(struct sm_warp *w, const struct sm_uop *u, uint32_t lanes,
                           uint32_t mask) {
  if (lanes & ~mask)
    report_mask(w, u, (uint32_t)__builtin_ctz(lanes & ~mask), mask, "which does not include it");
}

static void check_warpsync(struct sm_warp *w, const struct sm_uop *u, uint32_t m) {
  const uint32_t *mask = sm_file_at(w, u->s[1]);
  if (u->scalar_slot == 1) {
    if (u->scalar_kind == SM_SCALAR_IMM)
      check_own_lane(w, u, m, u->imm);
    return;
  }
  FOR_MASK(i, m) {
    check_own_lane(w, u, 1u << i, mask[i]);
    FOR_MASK(k, m & mask[i])
    if (mask[k] != mask[i]) {
      report_mask(w, u, i, mask[i], "but another lane in that mask has a different one");
      return;
    }
  }
}

/* Checks BRA.DIV and BRA.CONV, by which converged lanes skip a WARPSYNC. */
static void check_mask_branch(struct sm_warp *w, const struct sm_uop *u, uint32_t m) {
  check_own_lane(w, u, m, sm_file_at(w, u->s[0])[0] ^ (u->mods ? ~0u : 0));
}

/* Checks an instruction by which the 32 lanes of a warp work together (mma and ldmatrix of PTX have
 * the qualifier .aligned). */
static void check_whole_warp(struct sm_warp *w, const struct sm_uop *u, uint32_t m) {
  if (m != SM_ALL_LANES)
    sm_report(w, sm_pc_of(w, u), SM_REPORT_WARP_MASK, (uint32_t)__builtin_ctz(m),
              &(struct sm_about){0},
              "%d of 32 lanes execute this together; its result is undefined unless all do",
              __builtin_popcount(m));
}

/* --- barriers and constants ------------------------------------------------------------- */

static void check_barrier(struct sm_warp *w, const struct sm_uop *u, uint32_t m) {
  const uint32_t lane = (uint32_t)__builtin_ctz(m);
  const struct sm_bar_request request = sm_bar_request_of(w, u, m);
  const struct sm_bar *bar = &w->cta->bar[request.id % SM_BARRIERS];
  const struct sm_about about = {.address = request.id};
  sm_release_clock(w, w->cta->shadow->barrier_clock[request.id % SM_BARRIERS]);
  if (request.count % SM_LANES)
    sm_report(w, sm_pc_of(w, u), SM_REPORT_BARRIER, lane, &about,
              "barrier %u is for %u work-items, which is not a multiple of %d", request.id,
              request.count, SM_LANES);
  else if (request.count > w->cta->warps * SM_LANES)
    sm_report(w, sm_pc_of(w, u), SM_REPORT_BARRIER, lane, &about,
              "barrier %u is for %u work-items, but the group has %u", request.id, request.count,
              w->cta->threads);
  else if (w->cta->bars_in_use >> request.id % SM_BARRIERS & 1 &&
           (bar->whole != !request.count || bar->expected != request.count))
    sm_report(w, sm_pc_of(w, u), SM_REPORT_BARRIER, lane, &about,
              "barrier %u is for %u work-items here, but for %u where others wait at it",
              request.id, request.count ? request.count : w->cta->threads,
              bar->whole ? w->cta->threads : bar->expected);
}

/* Reports reads past the end of a constant bank, which return zero. */
static void check_constant(struct sm_warp *w, const struct sm_uop *u, const struct sm_note *note,
                           uint32_t m) {
  const uint32_t *index = sm_file_at(w, u->s[0]);
  const uint32_t term = sm_file_at(w, u->ldc.uniform)[0] + (uint32_t)u->ldc.offset;
  const bool is_same = u->s[0] / SM_REG_BYTES < SM_SLOT_R; /* no register, or a uniform one */
  FOR_MASK(i, is_same ? m & (0u - m) : m) {
    const uint64_t at = index[i] + term;
    if (at + note->bytes > w->bank[u->ldc.bank].size) {
      sm_report(w, sm_pc_of(w, u), SM_REPORT_BOUNDS, i,
                &(struct sm_about){.address = at, .bytes = note->bytes},
                "read of %u bytes at 0x%" PRIx64 " of constant bank %u, which has %u bytes",
                note->bytes, at, u->ldc.bank, w->bank[u->ldc.bank].size);
      return;
    }
  }
}

/* Returns the union of the states of some places of an instruction. */
static inline uint8_t states(const struct sm_records *r, const struct sm_note *note, unsigned first,
                             unsigned end) {
  uint8_t state = 0;
#pragma GCC unroll 1
  for (unsigned k = first; k < end; k++)
    state |= r->state[note->place[k]];
  return state;
}

/* Returns whether an instruction may write a place that has a pointer. */
static inline bool replaces_pointer(const struct sm_records *r, const struct sm_note *note) {
  return !note->has_places || states(r, note, note->places_read, note->places) & SM_PLACE_POINTER;
}

/* Checks what an instruction does for a warp besides its values, memory and scoreboards. */
static void check_special(struct sm_warp *w, const struct sm_uop *u, const struct sm_note *note,
                          uint32_t m) {
  const uint32_t chosen = m & (w->pred[u->pp] ^ (0u - (u->pnot & 1u)));
  if (note->handler == SM_H_warpsync)
    check_warpsync(w, u, chosen);
  if (note->handler == SM_H_bra_cond)
    check_mask_branch(w, u, chosen);
  if (note->handler == SM_H_ldc)
    check_constant(w, u, note, m);
  if (note->handler == SM_H_bar && m)
    check_barrier(w, u, m);
  if ((note->klass == SM_CLASS_TENSOR || note->handler == SM_H_ldsm) && m)
    check_whole_warp(w, u, m);
  if (note->acquires && m) {
    sm_acquire_clock(w, w->cta->shadow->lock_clock);
    sm_release_clock(w, w->cta->shadow->lock_clock);
  }
  if (note->syncs_warp)
    sm_shadow_of(w)->clock[w->index]++;
  if (m)
    sm_check_order(w, note);
}

static __attribute__((noinline)) void check_fully(struct sm_warp *w, const struct sm_uop *u,
                                                  uint32_t warps, const struct sm_note *note) {
  struct sm_records *r = w->records;
  const uint32_t m = sm_lanes_of(w, u);
  uint8_t read = UINT8_MAX, written = UINT8_MAX; /* look at each place */
  if (note->places <= SM_NOTE_QUICK && note->has_places)
    read = written = sm_quick_states(r->state, note);
  if (note->has_places && read & ~SM_PLACE_POINTER) {
    read = states(r, note, 0, note->places_read);
    written = states(r, note, note->places_read, note->places);
  }
  check_scoreboards(w, u, note, r, m, read, written);
  check_values(w, u, warps, note, m, read | written);
  const uint32_t own = w->records == r ? 1 : warps; /* how many have records of their own */
  for (uint32_t k = 0; k < own; k++)
    if (note->pointer_rule != SM_POINTERS_NONE || replaces_pointer(r, note))
      sm_check_pointers(sm_warp_after(w, k), u, note, m, read | written);
  for (uint32_t k = 0; note->is_special && k < warps; k++)
    check_special(sm_warp_after(w, k), u, note, m);
}

/* Checks an instruction that only computes, if no place has a record of more than a pointer, except
 * that results may replace undefined values. Returns false otherwise. */
static bool check_plain(struct sm_warp *w, const struct sm_uop *u, const struct sm_note *note) {
  struct sm_records *r = w->records;
  const uint8_t read = states(r, note, 0, note->places_read);
  const uint8_t written = states(r, note, note->places_read, note->places);
  if ((read | (written & ~SM_PLACE_UNDEFINED)) & ~SM_PLACE_POINTER)
    return false;
  const uint32_t m = sm_lanes_of(w, u);
  if (m && written & SM_PLACE_UNDEFINED)
    for (unsigned k = note->places_read; k < note->places; k++)
      set_undefined(r, note->place[k],
                    note->place[k] < SM_SLOT_R ? 0 : r->undefined[note->place[k]] & ~m);
  if ((read | written) & SM_PLACE_POINTER || note->parameter)
    sm_check_pointers(w, u, note, m, read | written);
  return true;
}

/* Checks warps that have the same records. */
static void check_warps(struct sm_warp *w, const struct sm_uop *u, uint32_t warps,
                        const struct sm_note *note) {
  if (note->is_quick && !note->wait_mask) {
    const uint8_t any = sm_quick_states(w->records->state, note);
    if (!(any & ~SM_PLACE_POINTER)) {
      if (any || note->parameter)
        sm_check_pointers(w, u, note, sm_lanes_of(w, u), any);
      return;
    }
  }
  sm_wait_for(w->records, note->wait_mask);
  if (!note->is_plain || !check_plain(w, u, note))
    check_fully(w, u, warps, note);
}

/* Returns whether the records of an instruction's results may depend on more than the records of
 * its operands, besides what it reads from memory. */
static bool depends_on_values(const struct sm_warp *w, const struct sm_uop *u,
                              const struct sm_note *note) {
  const struct sm_records *r = w->records;
  uint8_t read = 0;
  unsigned place;
  for (struct places p = reads_of(note); next_place(&p, &place);)
    read |= r->state[place];
  read |= r->state[SM_SLOTS + u->guard];
  return read & SM_PLACE_UNDEFINED || note->handler == SM_H_r2p ||
         (note->pointer_rule == SM_POINTERS_SELECT &&
          (read & SM_PLACE_POINTER || note->parameter)) ||
         (note->pointer_rule == SM_POINTERS_CONSTANT && !u->ldc.bank && !u->s[0] && u->ldc.uniform);
}

void sm_check(struct sm_warp *w, const struct sm_uop *u, uint32_t warps,
              const struct sm_note *note) {
  while (warps) {
    uint32_t count = sm_are_records_joint(w, u, warps) ? warps : sm_records_joint(w, u, warps);
    if (count > 1 && depends_on_values(w, u, note)) {
      sm_records_separate(w, count);
      count = 1;
    }
    check_warps(w, u, count, note);
    w = sm_warp_after(w, count);
    warps -= count;
  }
}
