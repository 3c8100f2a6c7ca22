/* The structs of a warp, a CTA and a worker, and the functions that the parts of the interpreter
 * call: the core (exec_*.c, compiled for several instruction sets of the host), divergence
 * (diverge.c), the scheduler and the barriers of a CTA (cta.c) and the code cache (code.c). */
#ifndef TEGRACL_SM_STATE_H
#define TEGRACL_SM_STATE_H

#include "emulator/sm/lower/uop.h"
#include "emulator/sm/sm.h"

#define SM_BARRIERS     16 /* convergence barriers B0..B15; also the number of named barriers */
#define SM_WINDOW_BYTES 0x1000000ull
#define SM_MAX_THREADS  1024
#define SM_MAX_WARPS    (SM_MAX_THREADS / SM_LANES)
/* Warps in a batch at most: enough that the cost of dispatching an instruction is shared by several
 * warps, and few enough that their registers stay in the host's cache. */
#define SM_BATCH       8
#define SM_RANGE_CACHE 16

enum sm_group_state {
  SM_GROUP_FREE,
  SM_GROUP_READY,
  SM_GROUP_BSYNC,    /* waits at BSYNC for barrier breg */
  SM_GROUP_WARPSYNC, /* waits at WARPSYNC for the lanes in their masks */
  SM_GROUP_BAR,      /* waits at the CTA's barrier breg */
};

/* Lanes that execute together (docs/hardware/divergence.md section 1). */
struct sm_group {
  uint32_t mask;
  uint8_t state;
  uint8_t breg;
  bool yielded;
  uint64_t pc; /* next instruction, or the one at which a blocked group waits */
};

enum sm_event {
  SM_EVENT_NONE,
  SM_EVENT_SWITCH,  /* the group has blocked, ended or split: run another one */
  SM_EVENT_YIELD,   /* the group has yielded: run other warps first */
  SM_EVENT_BUDGET,  /* the slice is used up; the pc of the group is set */
  SM_EVENT_DISBAND, /* the warps of the batch continue one by one; their pcs are set */
  SM_EVENT_FAULT,
};

/* Consecutive warps of a CTA form a batch if each has one group only and all are at the same pc.
 * The interpreter executes each instruction for all warps of the batch before the next instruction,
 * so that they share the cost of its dispatch. all_active, from, slice and left of the first warp
 * are those of the batch; page, active and event are set in each warp. When its warps branch
 * differently, or one may block or split, the batch is disbanded: the next turn of each warp is
 * without a batch. Grids in profile mode, and those with stale L1 caches, run without batches. */
struct sm_warp {
  size_t stride;      /* bytes from one warp of the CTA to the next */
  bool all_active;    /* first warp of a batch: all lanes of all its warps are active */
  uint32_t active[2]; /* [0] has the lanes of the running group, [1] all 32 for uniform uops */
  uint32_t pred[SM_PRED_FILE];
  struct sm_cta *cta;
  const struct sm_page *page; /* page of the running group's pc */
  const struct sm_uop *from;  /* first uop that is not yet subtracted from left */
  int64_t slice, left;        /* instructions of this turn; those that remain */
  struct {
    const uint8_t *data;
    uint32_t size;
  } bank[SM_BANKS + 1]; /* the last one is bound by descriptor */
  uint8_t *shared;
  uint32_t shared_bytes;
  uint8_t *local;             /* the warp's local memory, with words interleaved over the lanes */
  uint32_t local_high;        /* size of the high region, rounded up */
  uint32_t local_high_at;     /* offset of the high region in each lane's part of local */
  struct sm_records *records; /* of grids in check mode: watch.h */
  /* Watched grids: whether each place of the register file has a record (enum sm_place_state), or
   * NULL if instructions are counted, or not checked. */
  uint8_t *place_state;
  struct sm_warp_shadow *shadow; /* of grids in check mode */
  uint64_t *left_to_watchdog;    /* of the CTA: instructions up to and including the fault */
  enum sm_event event;
  bool alone;       /* the next turn of the warp is without a batch */
  bool bar_reduced; /* bar_count and bar_flag may be nonzero */

  uint32_t index;   /* in the CTA */
  uint32_t lanes;   /* lanes that exist */
  uint32_t alive;   /* lanes that have not exited */
  uint32_t current; /* running group */
  uint32_t groups;  /* all groups from this one on are free */
  struct sm_group group[SM_LANES];
  struct sm_lanes scratch[2]; /* results before they are blended into their registers */
  uint32_t breg_used;         /* mask of the breg that may be nonzero */
  struct sm_lanes breg[SM_BARRIERS];
  struct sm_lanes sync_mask;           /* operand of WARPSYNC, by lane */
  struct sm_lanes bar_count, bar_flag; /* BAR.RED's results */
  struct sm_lanes tid[3];
};

/* A barrier of the CTA at which warps wait. */
struct sm_bar {
  uint32_t arrived;  /* lanes */
  uint32_t absent;   /* lanes of arrived warps that do not exist or had exited */
  uint32_t expected; /* lanes, unless whole */
  uint32_t warps;    /* mask of warps that have arrived */
  uint32_t count;    /* lanes that arrived with a true predicate */
  bool whole, all, any;
  bool reduces;   /* warps read count and a flag: all or any */
  uint8_t reduce; /* enum sm_bar_reduce */
};

struct sm_cta {
  struct sm_cta *next; /* in the pool of the worker */
  const struct sm_grid *grid;
  uint64_t launch;              /* of the grid whose banks the warps have, or 0 */
  const struct sm_entry *entry; /* its registers that must be cleared; NULL: all, or not known */
  uint32_t reuses;              /* CTAs of like grids in this memory before */
  struct sm_worker *worker;     /* the one that runs it now */
  uint64_t clock, ahead;        /* both at the end of the last turn; ahead: of the worker's clock */
  uint32_t sm_id;               /* the SM of the board that it runs on */
  uint32_t id[3];
  uint32_t threads, warps, exited;
  uint32_t turn;         /* the warp that runs next */
  struct sm_warp *batch; /* the first warp of the batch that runs */
  uint32_t leads;        /* number of times that the first warp of a batch ran ahead */
  struct sm_fault *fault;
  uint32_t bars_in_use; /* mask of bar[] */
  struct sm_bar bar[SM_BARRIERS];
  uint32_t unmappings; /* value of memory.unmappings when the ranges were found */
  uint32_t range_count, range_turn;
  const struct sm_range *last; /* last used range, or an empty one */
  struct sm_range range[SM_RANGE_CACHE];

  uint8_t *memory; /* the warps, each followed by its register file */
  size_t stride, memory_bytes;
  uint32_t ur_dirty;   /* number of uniform registers that may be nonzero */
  uint32_t tids_of[3]; /* block size for which the warps' tid is set, */
  uint32_t tids_for;   /* and for how many warps */
  uint8_t *shared;
  size_t shared_allocated;
  uint8_t *local;
  size_t local_bytes;
  struct sm_shadow *shadow; /* of watched grids: watch.h */
  uint64_t like;            /* of the grids for which the warps were set up, or 0 */
};

static inline struct sm_warp *sm_warp_at(const struct sm_cta *cta, uint32_t index) {
  return (struct sm_warp *)(void *)(cta->memory + index * cta->stride);
}

/* Returns the register file of a warp (uop.h), which follows the struct. */
static inline uint8_t *sm_file(const struct sm_warp *w) {
  return (uint8_t *)(uintptr_t)(w + 1);
}

static inline struct sm_warp *sm_warp_after(const struct sm_warp *w, uint32_t count) {
  return (struct sm_warp *)(void *)((uint8_t *)w + count * w->stride);
}

struct sm_worker {
  _Alignas(128) uint32_t sm_id; /* threads write no cache line (or pair of lines) of another's */
  uint64_t instructions;
  struct sm_cta *pool;
};

/* --- one build of the core -------------------------------------------------- */

struct sm_insn;
struct sm_note;
struct sm_marking;

/* The pattern of 16 addresses, or other words. */
enum sm_pattern { SM_PATTERN_ANY, SM_PATTERN_SAME, SM_PATTERN_ROW /* consecutive elements */ };
/* Those of the two halves of a warp. */
struct sm_halves {
  enum sm_pattern first : 8, second : 8;
  bool is_uniform : 1; /* the high words of all addresses are the same */
};

/* Returns the pattern of half k. */
static inline enum sm_pattern sm_pattern_of(struct sm_halves h, unsigned k) {
  return k ? h.second : h.first;
}

struct sm_core {
  sm_handler handler[SM_HANDLER_COUNT];
  sm_handler watch; /* the handler of all uops of annotated code: calls sm_watch_step */
  /* Finds the patterns of addresses, whose low and high words are in registers, with elements of a
   * number of bytes. */
  struct sm_halves (*halves)(const uint32_t *lo, const uint32_t *hi, uint32_t bytes);
  /* Marks words of shared memory. Returns 0 if the access cannot race: check/mark.h. */
  uint32_t (*mark)(uint32_t *mark, const struct sm_marking *marking);
  /* Runs the current group from u until an event. */
  void (*run)(struct sm_warp *warp, const struct sm_uop *u, uint32_t warps);
};

/* Returns a build of the core, or NULL if this processor does not support it. Level 0 runs on every
 * processor, the last level needs the newest instruction set. */
enum { SM_CORE_BUILDS = 3 };
const struct sm_core *sm_core_build(unsigned level);
const struct sm_core *sm_core(void);           /* the best supported one */
extern const struct sm_core *sm_core_override; /* set by tests to use another one */

/* --- code.c ----------------------------------------------------------------*/

/* Returns the page that contains va, lowered for a number of registers, or NULL if out of
 * memory. */
const struct sm_page *sm_code_page(struct sm_code *code, uint64_t va, uint32_t registers);

/* Returns the registers that a kernel may read before it writes them, or NULL if out of memory. */
const struct sm_entry *sm_code_entry(struct sm_code *code, uint64_t program, uint32_t registers);

/* All code in this cache writes only uniform registers below the returned number. */
uint32_t sm_code_ur_high(const struct sm_code *code);

/* Set by tests to lower code without specialise.c. */
extern bool sm_general_handlers;

/* lower.c: sets *u to the instruction at pc, and *note unless note is NULL. */
void sm_lower(struct sm_uop *u, const struct sm_insn *insn, uint64_t pc, uint32_t registers,
              const struct sm_core *core, struct sm_note *note);

static inline uint64_t sm_pc_of(const struct sm_warp *w, const struct sm_uop *u) {
  return w->page->va + (uint64_t)(u - w->page->uop) * SM_INSN_BYTES;
}

static inline struct sm_group *sm_group_now(struct sm_warp *w) {
  return &w->group[w->current];
}

/* Subtracts the uops up to and including u from the rest of the slice. Execution continues at
 * to. */
static inline void sm_account(struct sm_warp *w, const struct sm_uop *u, const struct sm_uop *to) {
  w->left -= u - w->from + 1;
  w->from = to;
}

/* --- diverge.c ------------------------------------------------------------ */

/* Disbands the batch before u is executed. Returns NULL with the event set. */
const struct sm_uop *sm_disband(struct sm_warp *w, const struct sm_uop *u, uint32_t warps);
/* Splits lanes off the running group. They become ready at pc. */
struct sm_group *sm_split(struct sm_warp *w, uint32_t lanes, uint64_t pc);
/* Blocks lanes of the running group at u. Its other lanes continue after u. Returns NULL with the
 * event set. */
const struct sm_uop *sm_block(struct sm_warp *w, const struct sm_uop *u, uint32_t mask,
                              enum sm_group_state state, uint8_t breg);
/* YIELD: the running group continues after u when the other groups have run. Until then, no barrier
 * of the warp waits for its lanes. */
const struct sm_uop *sm_switch(struct sm_warp *w, const struct sm_uop *u);
/* Execute EXIT, jumps with a separate target for each lane, BSYNC, BREAK and WARPSYNC for the lanes
 * of mask. Return the next uop, or NULL with the event set. */
const struct sm_uop *sm_exit(struct sm_warp *w, const struct sm_uop *u, uint32_t mask);
/* Executes EXIT for all lanes of a batch. */
const struct sm_uop *sm_exit_batch(struct sm_warp *w, const struct sm_uop *u, uint32_t warps);
const struct sm_uop *sm_jump_lanes(struct sm_warp *w, const struct sm_uop *u, uint32_t mask,
                                   const uint64_t *target);
const struct sm_uop *sm_bsync(struct sm_warp *w, const struct sm_uop *u, uint32_t mask, uint8_t n);
void sm_break(struct sm_warp *w, uint32_t mask, uint8_t n);
const struct sm_uop *sm_warpsync(struct sm_warp *w, const struct sm_uop *u, uint32_t mask);
/* Continues the batch at pc. Returns the uop there, or NULL with the event set. */
const struct sm_uop *sm_continue(struct sm_warp *w, uint32_t warps, uint64_t pc);
/* Ends a slice that is used up. The batch continues at pc later. Returns NULL. */
const struct sm_uop *sm_preempt(struct sm_warp *w, uint32_t warps, uint64_t pc);
/* Makes a ready group current. Returns its first uop, or NULL if no group is ready or after a
 * fault. If preempted, the group that ran last continues: groups share the uniform registers, and
 * compiled code expects that other groups run only where it yields, blocks or splits
 * (docs/hardware/divergence.md 4). */
const struct sm_uop *sm_pick(struct sm_warp *w, bool preempted);
/* Releases the group with the lowest pc among those that wait at a BSYNC, in a warp in which no
 * group can run. Returns false if no group waits at a BSYNC. */
bool sm_release_early(struct sm_warp *w);

/* --- cta.c ---------------------------------------------------------------- */

struct sm_bar_request {
  uint8_t mode; /* enum sm_bar_mode */
  uint8_t reduce;
  uint32_t id, count; /* number of lanes, or 0 for the whole CTA */
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

/* Returns what the lanes of mask request at a BAR. */
struct sm_bar_request sm_bar_request_of(const struct sm_warp *w, const struct sm_uop *u,
                                        uint32_t mask);
const struct sm_uop *sm_bar_arrive(struct sm_warp *w, const struct sm_uop *u, uint32_t mask,
                                   const struct sm_bar_request *request);
/* Opens the barriers at which only exited lanes were missing. */
void sm_bar_after_exit(struct sm_cta *cta);

/* Records a fault of the running group. Returns NULL with the event set. */
const struct sm_uop *sm_raise(struct sm_warp *w, const struct sm_uop *u, enum sm_fault_kind kind,
                              uint32_t lane, uint64_t address, uint32_t bytes, bool is_write);

/* Records a fault at a pc that has no uop, or a deadlock of the CTA. */
void sm_raise_at(struct sm_warp *w, uint64_t pc, enum sm_fault_kind kind);

/* fault.c: sets *f for an action of a lane of w at pc. word is the instruction or NULL. */
void sm_fault_fill(struct sm_fault *f, const struct sm_warp *w, uint64_t pc, const uint64_t *word,
                   enum sm_fault_kind kind, uint32_t lane);

/* texture.c: executes a texture instruction for the lanes of mask. handles has one for each lane;
 * it is not used if they are in the list of operands. Returns false after a fault. */
bool sm_texture(struct sm_warp *w, const struct sm_uop *u, uint32_t mask, const uint32_t *handles);

/* surface.c: executes a surface instruction, like sm_texture. */
bool sm_surface(struct sm_warp *w, const struct sm_uop *u, uint32_t mask, const uint32_t *handles);

/* --- watch.c ------------------------------------------------------------------ */

/* Start and finish the checks of a CTA, and free its records. sm_watch_start returns false if out
 * of memory. */
bool sm_watch_start(struct sm_cta *cta);
void sm_watch_finish(struct sm_cta *cta);
void sm_watch_drop_ranges(struct sm_cta *cta); /* after a mapping was removed */
void sm_watch_free(struct sm_cta *cta);
/* Called when w and the warps after it become a batch. */
void sm_watch_batch(struct sm_warp *w, uint32_t warps);
/* Counts and checks an instruction of annotated code, then calls its real handler. */
const struct sm_uop *sm_watch_step(struct sm_warp *w, const struct sm_uop *u, uint32_t warps);
/* Adds the buffer that the lane's pointer belongs to to the fault of a global access. */
void sm_watch_owner(const struct sm_warp *w, const struct sm_uop *u, struct sm_fault *fault,
                    uint32_t lane);
/* Checks a barrier. Call before it opens. */
void sm_watch_barrier(struct sm_cta *cta, uint8_t id);

/* Returns the host address of a range of global memory, or NULL if it is not mapped, or not
 * writable though write is set. Keeps the mapping in the CTA's cache. */
uint8_t *sm_find(struct sm_cta *cta, uint64_t address, uint64_t bytes, bool write);

static inline uint8_t *sm_global(struct sm_cta *cta, uint64_t address, uint64_t bytes, bool write) {
  uint64_t at = address - cta->last->gpu;
  if (at < cta->last->size && bytes <= cta->last->size - at && (!write || cta->last->writable))
    return cta->last->host + at;
  return sm_find(cta, address, bytes, write);
}

#endif
