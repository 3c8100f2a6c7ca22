/* The structs of a warp, a CTA and a worker, and the functions that the parts of the interpreter
 * call from each other: the core (exec_*.c, compiled for each instruction set of the host), the
 * divergence engine (diverge.c), the CTA's scheduler and barriers (cta.c) and the code cache
 * (code.c). */
#ifndef TEGRACL_SM_STATE_H
#define TEGRACL_SM_STATE_H

#include "emulator/sm/lower/uop.h"
#include "emulator/sm/sm.h"

#define SM_BARRIERS     16 /* convergence barriers B0..B15; also named barriers */
#define SM_WINDOW_BYTES 0x1000000ull
#define SM_MAX_THREADS  1024
#define SM_MAX_WARPS    (SM_MAX_THREADS / SM_LANES)
#define SM_RANGE_CACHE  16

enum sm_group_state {
  SM_GROUP_FREE,
  SM_GROUP_READY,
  SM_GROUP_BSYNC,    /* waits at BSYNC of barrier breg */
  SM_GROUP_WARPSYNC, /* waits at WARPSYNC for its lanes' masks */
  SM_GROUP_BAR,      /* waits at the CTA's barrier breg */
};

/* Lanes that execute together (docs/hardware/divergence.md section 1). */
struct sm_group {
  uint32_t mask;
  uint8_t state;
  uint8_t breg;
  bool yielded;
  uint64_t pc; /* of the next instruction; if it is blocked, of the one at which it waits */
};

enum sm_event {
  SM_EVENT_NONE,
  SM_EVENT_SWITCH, /* the group blocked, ended or split: pick another */
  SM_EVENT_YIELD,  /* the group yielded: other warps run first */
  SM_EVENT_BUDGET, /* the slice is used up; the group's pc is set */
  SM_EVENT_FAULT,
};

struct sm_warp {
  uint8_t *file;      /* the register file, see uop.h */
  uint32_t active[2]; /* [0]: lanes of the running group; [1]: all 32, for uniform uops */
  uint32_t pred[SM_PRED_FILE];
  struct sm_cta *cta;
  const struct sm_page *page; /* contains the running group's pc */
  const struct sm_uop *from;  /* first uop not yet counted */
  int64_t slice, left;        /* instructions of this turn; those not yet accounted for */
  struct {
    const uint8_t *data;
    uint32_t size;
  } bank[SM_BANKS + 1]; /* the last one: the bank that the instruction's descriptor names */
  uint8_t *shared;
  uint32_t shared_bytes;
  uint8_t *local;         /* of this warp; words are interleaved over the lanes */
  uint32_t local_high;    /* size of the high region, rounded up */
  uint32_t local_high_at; /* its offset in each lane's part of local */
  enum sm_event event;

  uint32_t index;   /* in the CTA */
  uint32_t lanes;   /* lanes that exist */
  uint32_t alive;   /* lanes that have not exited */
  uint32_t current; /* running group */
  struct sm_group group[SM_LANES];
  struct sm_lanes scratch[2]; /* a result before it is blended into its registers */
  uint32_t breg_used;         /* mask of breg that may not be zero */
  struct sm_lanes breg[SM_BARRIERS];
  struct sm_lanes sync_mask;           /* operand of WARPSYNC, by lane */
  struct sm_lanes bar_count, bar_flag; /* BAR.RED's results */
  struct sm_lanes tid[3];
};

/* A barrier of the CTA at which warps wait. */
struct sm_bar {
  uint32_t arrived;  /* lanes */
  uint32_t absent;   /* lanes of arrived warps that do not exist or had exited */
  uint32_t expected; /* lanes, unless it is for the whole CTA */
  uint32_t warps;    /* mask of warps that have arrived */
  uint32_t count;    /* lanes that arrived with a true predicate */
  bool whole, all, any;
  uint8_t reduce; /* enum sm_bar_reduce */
};

struct sm_cta {
  struct sm_cta *next; /* in the worker's pool */
  const struct sm_grid *grid;
  struct sm_worker *worker; /* on which it runs now */
  uint64_t clock, ahead;    /* at the end of its last turn; how far it is ahead of the worker's */
  uint32_t sm_id;           /* the board's SM that it is on */
  uint32_t id[3];
  uint32_t threads, warps, exited;
  uint32_t turn; /* warp that runs next */
  struct sm_fault *fault;
  uint32_t bars_in_use; /* mask of bar[] */
  struct sm_bar bar[SM_BARRIERS];
  uint32_t unmappings; /* of the grid's memory, when the ranges were found */
  uint32_t range_count, range_turn;
  struct sm_range last; /* the range used last; size 0: none */
  struct sm_range range[SM_RANGE_CACHE];

  uint8_t *memory; /* warps, each followed by its register file */
  size_t stride, memory_bytes;
  uint32_t ur_dirty;   /* this many uniform registers may not be zero */
  uint32_t tids_of[3]; /* block size for which the warps have tids, */
  uint32_t tids_for;   /* and the number of those warps */
  uint8_t *shared;
  size_t shared_allocated;
  uint8_t *local;
  size_t local_bytes;
  struct sm_shadow *shadow; /* for watched grids: watch.h */
};

static inline struct sm_warp *sm_warp_at(const struct sm_cta *cta, uint32_t index) {
  return (struct sm_warp *)(void *)(cta->memory + index * cta->stride);
}

struct sm_worker {
  uint32_t sm_id;
  uint64_t instructions;
  struct sm_cta *pool;
};

/* --- one build of the core -------------------------------------------------- */

struct sm_insn;
struct sm_note;

struct sm_core {
  sm_handler handler[SM_HANDLER_COUNT];
  /* Runs the current group from its pc until an event. */
  void (*run)(struct sm_warp *warp, const struct sm_uop *u);
};

/* The build of a level: 0 is for every processor, the last one for the newest instruction set.
 * NULL: this processor lacks it. */
enum { SM_CORE_BUILDS = 3 };
const struct sm_core *sm_core_build(unsigned level);
const struct sm_core *sm_core(void);           /* the best one */
extern const struct sm_core *sm_core_override; /* set by tests: this one instead */

/* --- code.c ----------------------------------------------------------------*/

/* The page that contains va, lowered for a register count. NULL: no memory. */
const struct sm_page *sm_code_page(struct sm_code *code, uint64_t va, uint32_t registers);

/* Code in this cache writes only uniform registers below this number. */
uint32_t sm_code_ur_high(const struct sm_code *code);

/* lower.c: sets *u for the instruction at pc, and *note unless it is NULL. */
void sm_lower(struct sm_uop *u, const struct sm_insn *insn, uint64_t pc, uint32_t registers,
              const struct sm_core *core, struct sm_note *note);

/* The notes on a page of annotated code. */
static inline struct sm_note *sm_page_notes(const struct sm_page *page) {
  return (struct sm_note *)(void *)(page + 1);
}

static inline uint64_t sm_pc_of(const struct sm_warp *w, const struct sm_uop *u) {
  return w->page->va + (uint64_t)(u - w->page->uop) * SM_INSN_BYTES;
}

static inline struct sm_group *sm_group_now(struct sm_warp *w) {
  return &w->group[w->current];
}

/* Subtracts all uops up to and including u from the slice. Execution continues at to. */
static inline void sm_account(struct sm_warp *w, const struct sm_uop *u, const struct sm_uop *to) {
  w->left -= u - w->from + 1;
  w->from = to;
}

/* --- diverge.c ------------------------------------------------------------ */

/* Splits lanes off the running group; they become ready at pc. */
struct sm_group *sm_split(struct sm_warp *w, uint32_t lanes, uint64_t pc);
/* Blocks lanes of the running group at u in a state. Its other lanes continue after u. Returns
 * NULL with the event set. */
const struct sm_uop *sm_block(struct sm_warp *w, const struct sm_uop *u, uint32_t mask,
                              enum sm_group_state state, uint8_t breg);
/* YIELD: the running group continues after u when the other groups have run. Until then no barrier
 * of the warp waits for it. */
const struct sm_uop *sm_switch(struct sm_warp *w, const struct sm_uop *u);
/* These execute EXIT, jumps with a target for each lane, BSYNC, BREAK and WARPSYNC
 * for the lanes of mask. NULL: the event is set. */
const struct sm_uop *sm_exit(struct sm_warp *w, const struct sm_uop *u, uint32_t mask);
const struct sm_uop *sm_jump_lanes(struct sm_warp *w, const struct sm_uop *u, uint32_t mask,
                                   const uint64_t *target);
const struct sm_uop *sm_bsync(struct sm_warp *w, const struct sm_uop *u, uint32_t mask, uint8_t n);
void sm_break(struct sm_warp *w, uint32_t mask, uint8_t n);
const struct sm_uop *sm_warpsync(struct sm_warp *w, const struct sm_uop *u, uint32_t mask);
/* The uop at an address, where the running group continues; or NULL with the event set. */
const struct sm_uop *sm_continue(struct sm_warp *w, uint64_t pc);
/* The slice is used up; the group continues at pc later. Returns NULL. */
const struct sm_uop *sm_preempt(struct sm_warp *w, uint64_t pc);
/* Makes a ready group current and returns its first uop; NULL: none is ready, or a fault.
 * preempted: the group that ran last continues. Groups share the uniform registers, and compiled
 * code expects that others run only where it yields, blocks or splits
 * (docs/hardware/divergence.md 4). */
const struct sm_uop *sm_pick(struct sm_warp *w, bool preempted);
/* For a warp of which no group can run: releases the group with the lowest pc that is blocked at a
 * BSYNC. False: there is none. */
bool sm_release_early(struct sm_warp *w);

/* --- cta.c ---------------------------------------------------------------- */

struct sm_bar_request {
  uint8_t mode; /* enum sm_bar_mode */
  uint8_t reduce;
  uint32_t id, count; /* count: lanes; 0: the whole CTA */
  uint32_t predicate;
};
enum sm_bar_mode {
  SM_CTABAR_SYNC,
  SM_CTABAR_ARV,
  SM_CTABAR_RED,
  SM_CTABAR_SCAN,
  SM_CTABAR_SYNCALL
};
enum sm_bar_reduce { SM_CTABAR_POPC, SM_CTABAR_AND, SM_CTABAR_OR };

/* What the lanes of mask request at a BAR. */
struct sm_bar_request sm_bar_request_of(const struct sm_warp *w, const struct sm_uop *u,
                                        uint32_t mask);
const struct sm_uop *sm_bar_arrive(struct sm_warp *w, const struct sm_uop *u, uint32_t mask,
                                   const struct sm_bar_request *request);
/* Opens the barriers that waited only for lanes that have exited. */
void sm_bar_after_exit(struct sm_cta *cta);

/* Records a fault of the running group; returns NULL with the event set. */
const struct sm_uop *sm_raise(struct sm_warp *w, const struct sm_uop *u, enum sm_fault_kind kind,
                              uint32_t lane, uint64_t address, uint32_t bytes, bool is_write);

/* The same for a pc without a uop: nothing was fetched there, or the CTA is deadlocked. */
void sm_raise_at(struct sm_warp *w, uint64_t pc, enum sm_fault_kind kind);

/* fault.c: sets *f for an action of a lane of w at pc. word: the instruction, or NULL. */
void sm_fault_fill(struct sm_fault *f, const struct sm_warp *w, uint64_t pc, const uint64_t *word,
                   enum sm_fault_kind kind, uint32_t lane);

/* texture.c: a texture instruction for the lanes of mask. handles: one for each lane; unused if
 * they are in the list of operands. False: a fault was raised. */
bool sm_texture(struct sm_warp *w, const struct sm_uop *u, uint32_t mask, const uint32_t *handles);

/* --- watch.c ------------------------------------------------------------------ */

/* Start and end of a watched CTA, and free for the memory of its records. False: no memory. */
bool sm_watch_start(struct sm_cta *cta);
void sm_watch_finish(struct sm_cta *cta);
void sm_watch_free(struct sm_cta *cta);
/* The handler of every uop of annotated code: counts and checks the instruction, then calls its own
 * handler. */
const struct sm_uop *sm_watch_step(struct sm_warp *w, const struct sm_uop *u);
/* Adds the buffer of the lane's pointer to the fault of an access to global memory. */
void sm_watch_owner(const struct sm_warp *w, const struct sm_uop *u, struct sm_fault *fault,
                    uint32_t lane);
/* Call before a barrier opens. */
void sm_watch_barrier(struct sm_cta *cta, uint8_t id);

/* The host address of a range of global memory, or NULL: not mapped, or not writable. Keeps the
 * mapping in the CTA's cache. */
uint8_t *sm_find(struct sm_cta *cta, uint64_t address, uint64_t bytes, bool write);

static inline uint8_t *sm_global(struct sm_cta *cta, uint64_t address, uint64_t bytes, bool write) {
  uint64_t at = address - cta->last.gpu;
  if (at < cta->last.size && bytes <= cta->last.size - at && (!write || cta->last.writable))
    return cta->last.host + at;
  return sm_find(cta, address, bytes, write);
}

#endif
