/* Check and profile modes: the records of a CTA, and the interfaces between watch.c (lifetime, hook
 * before each instruction, reports), records.c (whose registers have which records), check.c
 * (registers), check_memory.c (state of memory),
 * check_race.c (races), check_pointer.c (buffers of addresses) and count.c (profile). */
#ifndef TEGRACL_SM_WATCH_H
#define TEGRACL_SM_WATCH_H

#include <stdatomic.h>
#include <stddef.h>

#include "emulator/sm/lower/chain.h"
#include "emulator/sm/lower/entry.h"
#include "emulator/sm/state.h"

enum {
  SM_SLOTS = SM_NOTE_PREDS,
  /* Arrays of places have the slots first, then the predicates. */
  SM_PLACES = SM_SLOTS + SM_PRED_FILE,
};

/* An origin identifies where an undefined value comes from. The cause is in its low bits, the pc of
 * the instruction that read the value in the others (0 for registers at the start). */
enum sm_cause {
  SM_CAUSE_REGISTER,
  SM_CAUSE_SHARED,
  SM_CAUSE_LOCAL,
  SM_CAUSE_GLOBAL,
  SM_CAUSE_LANE,
  SM_ORIGIN_STORED = 8, /* flag: the undefined value was stored in memory */
};

/* A register that an unfinished instruction will write or still reads. */
struct sm_pending {
  uint64_t pc; /* of the instruction */
  uint32_t lanes;
  uint8_t scoreboard, result_scoreboard;
  uint8_t space; /* of the instruction: enum sm_space */
};

/* Which records of a place have a content. Most places have none, so most instructions need no
 * look at the records. */
enum sm_place_state {
  SM_PLACE_UNDEFINED = 1, /* undefined is not 0 */
  SM_PLACE_RESULT = 2,    /* an instruction may be going to write the place: result is valid */
  SM_PLACE_SOURCE = 4,    /* an instruction may be reading the place: source is valid */
  SM_PLACE_POINTER = 8,   /* pointer is not SM_POINTER_NONE */
};

enum { SM_WAITING = 32 };

/* The records of registers and predicates. */
struct sm_records {
  uint32_t warps; /* those that have them: 1 shifted by the index in the CTA, modulo SM_BATCH */
  uint8_t state[SM_PLACES]; /* masks of enum sm_place_state */
  /* The parameter from which the register was computed: SM_POINTER_*, for all lanes, or, if it is
   * SM_POINTER_LANES, for each. */
  uint8_t pointer[SM_PLACES];
  uint8_t waiting_count[SM_SCOREBOARDS];
  bool spilled;                  /* a pointer was stored where private memory may be */
  uint32_t undefined[SM_PLACES]; /* lanes */
  /* What follows is only valid where state and waiting_count say so, and is not initialised. */
  uint64_t origin[SM_PLACES]; /* of undefined places */
  /* For each scoreboard, places whose records depend on it, so that a wait drops these records. If
   * waiting_count is larger than the list, it has not all of them. */
  uint16_t waiting[SM_SCOREBOARDS][SM_WAITING];
  struct sm_pending result[SM_PLACES], source[SM_PLACES];
  uint8_t lane_pointer[SM_PLACES][SM_LANES];
};

struct sm_warp_shadow {
  /* Vector clock: how many releases of each other warp this warp has seen, and the number of its
   * own releases. */
  uint32_t clock[SM_MAX_WARPS];
  uint32_t accessed;     /* its own clock at its last access to shared memory, plus 1 */
  struct sm_records own; /* used once they differ from those of other warps: records.c */
};

/* A pointer among the parameters, and the memory that it may access. Registers refer to it by
 * SM_POINTER_FIRST plus its index. SM_POINTER_MANY is an unknown pointer. */
enum {
  SM_POINTER_NONE,
  SM_POINTER_FIRST,
  SM_POINTER_LANES = 254,
  SM_POINTER_MANY,
  SM_PARAMETERS = 64
};
struct sm_parameter {
  struct sm_range range; /* its shadow is NULL if the mapping may have changed */
  uint32_t offset;       /* in bank 0 */
};

/* States of a byte of memory. */
enum { SM_UNWRITTEN, SM_WRITTEN, SM_MBARRIER /* an mbarrier with an arrival */ };

/* An access to a word of memory. */
struct sm_touch {
  uint32_t cta;   /* number of the CTA, counted over all grids */
  uint32_t clock; /* of its warp */
  uint32_t time;  /* orders it with other CTAs: check_race.c */
  uint32_t pc;    /* offset from the program */
  uint32_t by;    /* parts of it: SM_TOUCH_* */
};

/* Parts of an access's word by, which is written at once: to load the record after a store to a
 * part of it, the host would wait until the store is in its cache. */
enum {
  SM_TOUCH_THREAD = 0xffff,      /* mask of the work-item's number in the CTA */
  SM_TOUCH_BYTES_AT = 16,        /* mask of the word's bytes; none means no access */
  SM_TOUCH_SHIFT_AT = 20,        /* of a row: logarithm of the words that each lane accesses */
  SM_TOUCH_STRONG = 1 << 22,     /* atomic or volatile; two strong accesses do not race */
  SM_TOUCH_COMPARES = 1 << 23,   /* compare-and-swap; does not race with a read that it verifies */
  SM_TOUCH_VALUED = 1 << 24,     /* a store; if it is the writer, its value is in the cell */
  SM_TOUCH_BY_SEVERAL = 1 << 25, /* other lanes have made the same access with the work-item */
  SM_TOUCH_REPEATS = 1 << 26,    /* of a reader: it stored the value of the writer at that time */
};

static inline uint32_t sm_touch_thread(const struct sm_touch *t) {
  return t->by & SM_TOUCH_THREAD;
}

static inline uint32_t sm_touch_warp(const struct sm_touch *t) {
  return sm_touch_thread(t) / SM_LANES;
}

static inline uint32_t sm_touch_bytes(const struct sm_touch *t) {
  return t->by >> SM_TOUCH_BYTES_AT & ((1u << SM_CELL_BYTES) - 1);
}

static inline uint32_t sm_touch_shift(const struct sm_touch *t) {
  return t->by >> SM_TOUCH_SHIFT_AT & 3;
}

struct sm_cell {
  struct sm_touch writer, reader[2]; /* readers from different warps: check_race.c */
  uint32_t value;                    /* stored by the writer */
};

/* Records of 16 words of global memory, each of which consecutive lanes of a warp have accessed as
 * a whole: word k by the work-item (k >> shift) after that of the record. */
enum { SM_ROW_WORDS = SM_ROW_BYTES / SM_CELL_BYTES };
struct sm_row {
  struct sm_touch writer, reader[2];
  uint16_t words;      /* mask of the words that writer has written */
  bool is_split : 1;   /* the records are in the cells instead */
  bool is_stamped : 1; /* has a stamp: sm_row_stamp */
  bool is_used;        /* only written: row_at */
  uint32_t value[SM_ROW_WORDS];
};

/* A lane's access to memory. */
struct sm_access {
  struct sm_warp *w;
  const struct sm_uop *u;
  const struct sm_note *note;
  uint32_t lane;
  uint64_t at;           /* address, or offset in shared or local memory */
  uint32_t bytes;        /* note->bytes, or fewer for the source of LDGSTS.ZFILL */
  const uint8_t *memory; /* the bytes there */
  uint8_t *defined;      /* the state of these bytes, or NULL if all are written */
  uint64_t origin;       /* origin of the value stored or, after the access, of the value read */
  const uint8_t *stored; /* what a store to a texel writes; NULL if registers have it */
  bool global, is_write, strong;
  bool undefined; /* stores an undefined value in shared or private memory */
  bool several;   /* other lanes read the same memory through the same pointer */
  /* Set by the check of such a read: the lane is the work-item that wrote the memory, so that the
   * reads of the others may race although its own does not. */
  bool by_writer;
  bool by_units; /* by the texture units, which may not see writes of the same grid */
  bool texel;    /* by a texture or surface instruction: its address is not from a pointer */
  struct sm_touch touch; /* its record, without thread and bytes */
  /* Whether pointer is valid: the parameter from which all lanes' addresses were computed, or NULL
   * if it is not known. */
  bool one_pointer;
  const struct sm_parameter *pointer;
  const struct sm_range
      *rows; /* the memory of pointer if it has rows and may be accessed, or NULL */
};

/* The patterns of a full warp's addresses, and the first address of each half. */
struct sm_warp_addresses {
  struct sm_halves halves;
  uint64_t first[2];
};

/* The check of an instruction's accesses to memory, by warps that have the same records. */
struct sm_memory_check {
  const struct sm_uop *u;
  const struct sm_note *note;
  /* Number of warps that sm_check_memory_start leaves, and those of them that are not checked yet.
   */
  uint32_t warps, left;
  bool read_same;        /* all these warps read the same global memory */
  bool is_clean;         /* the check of the last warp found nothing, as it would for any other */
  uint32_t clean;        /* number of consecutive warps for which it was so */
  struct sm_touch touch; /* of accesses to shared memory, without thread, bytes and clock */
  bool is_started;
  bool is_sequence; /* the warps access consecutive rows of access.rows, the next one at next */
  uint64_t next;
  struct sm_access access; /* by the present lane of the present warp */
  struct sm_cell_lock *held;
  unsigned row_lanes; /* lanes that access a row, or 0 if there are no rows to look for */
  bool has_pattern;   /* pattern is that of the last warp that was checked */
  struct sm_warp_addresses pattern;
  bool has_addresses;
  uint64_t address[SM_LANES]; /* of the present warp, if has_addresses */
  uint32_t data;              /* lanes that store an undefined value */
  uint64_t stored, *origin;
};

/* A lane's access to a texel. */
struct sm_texel {
  uint64_t address;
  uint32_t bytes;
  enum sm_access_kind access;
  bool by_units;
  const uint8_t *stored;
};

/* Consecutive words of shared memory that half of a full warp accesses. */
struct sm_words {
  uint32_t at;
  uint16_t bytes, owner; /* work-item of the first word, or a number that none has */
};

/* A warp's access to shared memory that the cells do not have yet: check_shared.c. */
struct sm_logged {
  struct sm_touch touch; /* with the thread of lane 0, without bytes */
  uint32_t lanes;
  uint32_t writers[4]; /* for each word of a store, the lanes that change it */
  bool is_write;
  uint8_t bytes;
  uint8_t runs;           /* different ones: 1 or 2, or 0 if the addresses have no pattern */
  struct sm_words run[2]; /* of each half of the warp */
} __attribute__((aligned(64)));

enum { SM_CHECK_RANGES = 4, SM_LOCAL_ORIGIN = 0x80 };

struct sm_shadow {
  struct sm_warp_shadow *warp;
  size_t warp_bytes;
  struct sm_records common[SM_MAX_WARPS / SM_BATCH]; /* each of consecutive warps */
  uint8_t *shared_defined;                           /* state of each byte */
  struct sm_cell *cell;                              /* one for each word of shared memory */
  size_t shared_bytes, cell_bytes;
  uint32_t *mark; /* for each word of shared memory, the accesses of its last phase */
  size_t mark_bytes;
  uint32_t phase; /* increases when a barrier orders all earlier accesses */
  /* Whether all bytes of shared memory have been found to be written, and the phase in which that
   * was looked for. */
  bool all_written;
  bool has_stored; /* the CTA has written global memory */
  uint32_t sought_in;
  uint32_t logged;
  uint32_t stored; /* of the log: the stores of the first ones are in memory */
  struct sm_logged *log;
  struct sm_lanes *log_at; /* addresses of the lanes, of accesses without runs */
  uint8_t *local_defined;  /* for each word, a mask of its written bytes, and SM_LOCAL_ORIGIN */
  size_t local_bytes;
  /* For each word the origin of the undefined value stored there, or 0. That of local memory is
   * valid only with SM_LOCAL_ORIGIN. */
  uint64_t *shared_origin, *local_origin;
  size_t shared_origin_bytes, local_origin_bytes;
  uint32_t number;        /* number of the CTA, counted over all grids */
  uint32_t first_number;  /* that of the first CTA of the grid */
  uint64_t ctas;          /* in the grid */
  uint32_t acquired;      /* when it last acquired the releases of other CTAs */
  uint32_t parameters_of; /* first_number of the grid whose parameters were found */
  bool parameters_known;
  unsigned parameter_count;
  struct sm_parameter parameter[SM_PARAMETERS];
  uint8_t pointer_at[SM_PARAMETERS_END / 4]; /* for each word of bank 0: SM_POINTER_* */
  struct sm_range range[SM_CHECK_RANGES];    /* ranges of global memory that were used last */
  unsigned range_turn;
  uint32_t barrier_clock[SM_BARRIERS][SM_MAX_WARPS];
  uint32_t lock_clock[SM_MAX_WARPS];
  uint64_t left_to_watchdog; /* instructions up to and including the one that faults */
  struct sm_counts counts;
};

/* Makes an array at *pointer that has *have bytes at least as large. A new array is zero. */
bool sm_grow_array(void *pointer, size_t *have, size_t bytes);

static inline struct sm_warp_shadow *sm_shadow_of(const struct sm_warp *w) {
  return w->shadow;
}

static inline const struct sm_note *sm_note_of(const struct sm_warp *w, const struct sm_uop *u) {
  const uint8_t *notes = (const uint8_t *)sm_annotation_of(w->page)->note;
  const ptrdiff_t at = (const uint8_t *)u - (const uint8_t *)w->page->uop;
  return (const struct sm_note *)(const void *)(notes + 2 * at);
}

static inline const uint32_t *sm_file_at(const struct sm_warp *w, unsigned offset) {
  return (const uint32_t *)(const void *)(sm_file(w) + offset);
}

/* Returns the union of the states of all places of an instruction that has at most
 * SM_NOTE_QUICK. */
static inline uint8_t sm_quick_states(const uint8_t *state, const struct sm_note *note) {
  const uint16_t *p = note->place;
  const uint8_t half = state[p[0]] | state[p[1]] | state[p[2]] | state[p[3]];
  _Static_assert(SM_NOTE_QUICK == 8, "all of them");
  if (note->places <= SM_NOTE_QUICK / 2)
    return half;
  return half | state[p[4]] | state[p[5]] | state[p[6]] | state[p[7]];
}

/* Returns the part of a chain that u begins. */
static inline const struct sm_chain *sm_chain_of(const struct sm_warp *w, const struct sm_uop *u) {
  const uint8_t *chains = (const uint8_t *)sm_annotation_of(w->page)->chain;
  const ptrdiff_t at = (const uint8_t *)u - (const uint8_t *)w->page->uop;
  return (const struct sm_chain *)(const void *)(chains + at);
}

/* Returns the warps of a batch as in struct sm_records. */
static inline uint32_t sm_batch_of(const struct sm_warp *w, uint32_t warps) {
  return ((1u << warps) - 1) << w->index % SM_BATCH;
}

/* Lanes that execute u. */
static inline uint32_t sm_lanes_of(const struct sm_warp *w, const struct sm_uop *u) {
  return (w->pred[u->guard] ^ u->guard_xor) & w->active[u->uniform];
}

/* Returns the lanes whose addresses are used. LDSM uses those of eight lanes for each matrix. */
static inline uint32_t sm_addressing_lanes(const struct sm_uop *u, const struct sm_note *note) {
  const unsigned lanes = note->handler == SM_H_ldsm ? u->ldsm.matrices * 8u : SM_LANES;
  return lanes < SM_LANES ? (1u << lanes) - 1 : SM_ALL_LANES;
}

/* Computes the generic or global addresses of all lanes. Those of inactive lanes are
 * meaningless. */
static inline void sm_addresses(const struct sm_warp *w, const struct sm_uop *u, uint64_t *out) {
  const uint32_t *lo = sm_file_at(w, u->s[0]);
  const uint32_t *hi = sm_file_at(w, u->memory.narrow ? 0 : u->s[0] + SM_REG_BYTES);
  const uint64_t term = ((uint64_t)sm_file_at(w, u->memory.uniform + SM_REG_BYTES)[0] << 32 |
                         sm_file_at(w, u->memory.uniform)[0]) +
                        (uint64_t)u->memory.offset;
  FOR_LANES
  out[i] = ((uint64_t)hi[i] << 32 | lo[i]) + term;
}

/* Computes the offsets of all lanes in shared or local memory. */
static inline void sm_addresses_32(const struct sm_warp *w, const struct sm_uop *u, uint64_t *out) {
  const uint32_t *a = sm_file_at(w, u->s[0]);
  const uint32_t term = sm_file_at(w, u->memory.uniform)[0] + (uint32_t)u->memory.offset;
  FOR_LANES
  out[i] = (uint32_t)((a[i] << u->memory.scale) + term);
}

/* What a report is about, besides the instruction and the lane. */
struct sm_about {
  uint64_t address;
  uint32_t bytes;
  bool is_write;
  uint64_t other_pc;                    /* instruction at which the message ends, or 0 */
  const struct sm_parameter *parameter; /* or NULL */
};
/* Reports an action of a lane of w at pc, if sm_report_wanted. */
void sm_report(const struct sm_warp *w, uint64_t pc, enum sm_fault_kind kind, uint32_t lane,
               const struct sm_about *about, const char *format, ...)
    __attribute__((format(printf, 6, 7)));
bool sm_report_wanted(const struct sm_warp *w, uint64_t pc, enum sm_fault_kind kind);

/* Check u for the warps of a batch, or count it for w, before it is executed. */
void sm_check(struct sm_warp *w, const struct sm_uop *u, uint32_t warps,
              const struct sm_note *note);
void sm_count(struct sm_warp *w, const struct sm_uop *u, const struct sm_note *note);

/* Waits for scoreboards: drops the records of the instructions that set them. */
void sm_wait_for(struct sm_records *r, uint32_t scoreboards);

/* Starts the check of a memory instruction of warps, from w on, that have the same records, and
 * completes it for as many as can be checked together. is_defined says that no place of the
 * instruction is undefined. Returns the number of these warps, which are the first ones. */
uint32_t sm_check_memory_start(struct sm_memory_check *c, struct sm_warp *w, const struct sm_uop *u,
                               const struct sm_note *note, uint32_t warps, bool is_defined);
/* Ends the check. */
void sm_check_memory_end(struct sm_memory_check *c);

/* Checks a lane's access to a texel while u is executed. Returns whether it
 * reads an uninitialised byte. */
bool sm_check_texel(struct sm_warp *w, const struct sm_uop *u, uint32_t lane,
                    const struct sm_texel *texel);
/* Marks the results of u as undefined in lanes, which have read uninitialised memory. */
void sm_check_undefined(struct sm_warp *w, const struct sm_uop *u, uint32_t lanes);

/* records.c: initialises the records of a CTA that starts. Registers that the kernel writes before
 * it reads them are never found undefined, so they are not marked. entry has the other ones, or is
 * NULL. */
void sm_records_start(struct sm_cta *cta, const struct sm_entry *entry);
/* Returns how many warps, from w on and at most the given number, have the same records and execute
 * u in the same lanes, so that one check of registers is that of all. No other warp has these
 * records. If another warp has them, w gets its own copy, and 1 is returned. */
uint32_t sm_records_joint(struct sm_warp *w, const struct sm_uop *u, uint32_t warps);
/* Returns whether that is obviously so of all of these warps. */
static inline bool sm_are_records_joint(const struct sm_warp *w, const struct sm_uop *u,
                                        uint32_t warps) {
  return w->cta->batch->all_active && sm_is_unguarded(u) &&
         w->records->warps == sm_batch_of(w, warps);
}
/* Lets the warps of a new batch have records in common that are the same. */
void sm_records_join(struct sm_warp *w, uint32_t warps);
/* Gives warps, from w on, records that no other warp has. */
void sm_records_separate(struct sm_warp *w, uint32_t warps);

/* check_pointer.c: finds the pointers among the parameters of the grid of a CTA that starts. */
void sm_pointers_start(struct sm_cta *cta);
/* Returns the parameter from which a lane's address was computed, or NULL if it is not known. */
const struct sm_parameter *sm_pointer_of(const struct sm_warp *w, const struct sm_uop *u,
                                         uint32_t lane);
/* Sets *of to the parameter from which the addresses of all lanes were computed, or to NULL if it
 * is not known. Returns false if it depends on the lane. */
bool sm_pointer_of_all(const struct sm_warp *w, const struct sm_uop *u,
                       const struct sm_parameter **of);
/* Propagates pointers from the operands of u to its result, in the lanes of m. state is the union
 * of the states of all places that u reads or writes. */
void sm_check_pointers(struct sm_warp *w, const struct sm_uop *u, const struct sm_note *note,
                       uint32_t m, uint8_t state);

/* check_race.c: the part of an access that is in one word. */
struct sm_part {
  uint32_t first, count; /* bytes within the word */
  uint8_t mask;
  uint32_t offset; /* within the access */
};
/* Returns the part that starts at byte offset of an access at address at. */
static inline struct sm_part sm_part_of(uint64_t at, uint32_t bytes, uint32_t offset) {
  struct sm_part p = {.first = (at + offset) % SM_CELL_BYTES, .offset = offset};
  p.count = SM_CELL_BYTES - p.first < bytes - offset ? SM_CELL_BYTES - p.first : bytes - offset;
  p.mask = (uint8_t)(((1u << p.count) - 1) << p.first);
  return p;
}
/* Counts the releases of all CTAs and serves as their time. */
extern _Atomic uint32_t sm_releases;
/* Returns the record of an access, without thread and bytes. */
static inline struct sm_touch sm_touch_by(const struct sm_warp *w, const struct sm_uop *u,
                                          const struct sm_note *note, bool strong) {
  return (struct sm_touch){
      .cta = w->cta->shadow->number,
      .clock = sm_shadow_of(w)->clock[w->index],
      .time = atomic_load_explicit(&sm_releases, memory_order_relaxed),
      .pc = (uint32_t)(sm_pc_of(w, u) - w->cta->grid->program),
      .by = (strong ? (uint32_t)SM_TOUCH_STRONG : 0) |
            (note->compares ? (uint32_t)SM_TOUCH_COMPARES : 0) |
            (note->access == SM_ACCESS_STORE ? (uint32_t)SM_TOUCH_VALUED : 0),
  };
}
/* Returns the record of an access by a->lane to some bytes of a word. */
static inline struct sm_touch sm_touch_by_lane(const struct sm_access *a, uint32_t bytes) {
  struct sm_touch t = a->touch;
  t.by |= (a->w->index * SM_LANES + a->lane) | bytes << SM_TOUCH_BYTES_AT;
  return t;
}
/* Returns whether a CTA of the grid of a has made a recorded access. */
static inline bool sm_is_of_grid(const struct sm_access *a, const struct sm_touch *t) {
  const struct sm_shadow *s = a->w->cta->shadow;
  return t->cta - s->first_number < s->ctas;
}
void sm_check_race(struct sm_access *access, struct sm_cell *cell, const struct sm_part *part);
/* Returns whether an access races with the recorded access t to some bytes of mask. */
bool sm_is_race(const struct sm_access *a, const struct sm_touch *t, uint32_t mask, bool was_write);
/* Returns whether a recorded write is ordered before a read, whichever lane of the warp reads. */
bool sm_is_ordered_write(const struct sm_access *a, const struct sm_touch *writer);
/* The same, for a write to some bytes of mask. There may be none. */
static inline bool sm_is_settled(const struct sm_access *a, const struct sm_touch *writer,
                                 uint32_t mask) {
  return !(sm_touch_bytes(writer) & mask) || sm_is_ordered_write(a, writer);
}
/* Returns whether the warp has already read the same bytes since its last synchronization. */
static inline bool sm_follows_read(const struct sm_touch *last, const struct sm_touch *now) {
  return last->cta == now->cta && last->clock == now->clock && last->time == now->time &&
         sm_touch_warp(last) == sm_touch_warp(now) &&
         !(sm_touch_bytes(now) & ~sm_touch_bytes(last));
}
/* Makes a read the last one. It does not follow a read of the same bytes by its warp. */
static inline void sm_replace_reader(struct sm_touch *reader, const struct sm_touch *now) {
  const struct sm_touch *last = &reader[0];
  if (sm_touch_bytes(last) && (last->cta != now->cta || sm_touch_warp(last) != sm_touch_warp(now)))
    reader[1] = *last;
  reader[0] = *now;
}
/* Adds a read to the last readers. */
static inline void sm_add_reader(struct sm_touch *reader, const struct sm_touch *now) {
  struct sm_touch *last = &reader[0];
  if (sm_follows_read(last, now)) {
    const bool is_same = sm_touch_thread(last) == sm_touch_thread(now);
    const uint32_t by_several =
        is_same ? (last->by | now->by) & SM_TOUCH_BY_SEVERAL : (uint32_t)SM_TOUCH_BY_SEVERAL;
    const uint32_t repeats = last->by & now->by & SM_TOUCH_REPEATS;
    if (last->pc != now->pc)
      *last = *now;
    last->by = (last->by & ~(uint32_t)SM_TOUCH_REPEATS) | by_several | repeats;
    return;
  }
  sm_replace_reader(reader, now);
}
/* Records the order between CTAs that fences, and the atomics that locks use, establish. */
void sm_check_order(struct sm_warp *w, const struct sm_note *note);

/* Returns whether bytes are written, by their states. */
static inline bool sm_are_written(const uint8_t *written, uint32_t bytes) {
  const uint32_t each = UINT32_MAX / UINT8_MAX;
  uint32_t missing = 0;
  if (bytes % sizeof missing)
    for (uint32_t k = 0; k < bytes; k++)
      missing |= (uint32_t)__atomic_load_n(written + k, __ATOMIC_RELAXED) ^ SM_WRITTEN;
  else
    for (uint32_t k = 0; k < bytes; k += sizeof missing)
      missing |=
          __atomic_load_n((const uint32_t *)(const void *)(written + k), __ATOMIC_RELAXED) ^ each;
  return !missing;
}

/* If an access reads an undefined word, sets *origin to the origin of that word. If it writes an
 * undefined value, records the origin of the value. */
static inline void sm_note_origin(uint64_t *of_word, const struct sm_access *a, bool found,
                                  uint64_t *origin) {
  if (found && *of_word)
    *origin = *of_word & ~(uint64_t)SM_ORIGIN_STORED;
  if (a->is_write && a->undefined)
    *of_word = a->origin | SM_ORIGIN_STORED;
}

/* check_shared.c: starts the records of a CTA's shared memory. Returns false if out of memory. */
bool sm_shared_start(struct sm_shadow *s, size_t bytes);
void sm_shared_free(struct sm_shadow *s);
/* Checks a lane's access. Returns true if it reads an undefined value. */
bool sm_shared_access(struct sm_access *a);
/* Records the accesses of warps, from w on, which have the same records, in the lanes of m, and
 * store defined values. Returns how many of them are checked. The lanes of the next one have to be
 * checked singly; calling this again for it changes nothing. */
uint32_t sm_shared_log(const struct sm_memory_check *c, struct sm_warp *w, uint32_t warps,
                       uint32_t m);
/* Starts a new phase if all earlier accesses are ordered before those that follow. */
void sm_shared_barrier(struct sm_cta *cta);

/* check_row.c: checks and records the access of consecutive lanes, from a->lane on, to rows of
 * global memory. a->memory is that of the first one, at offset of its range. Returns the number of
 * rows before the first of which each lane has to be checked: because of a race, or because records
 * or written bytes differ from word to word. Changes no record there, and leaves a->lane and
 * a->memory at it. Adds the lanes that read bytes that were never written to *undefined. The caller
 * holds the lock of the rows. */
uint32_t sm_row_access(struct sm_access *a, const struct sm_memory_shadow *shadow, uint64_t offset,
                       uint32_t rows, uint32_t *undefined);
/* Records that warps, from a->w on, read consecutive rows, if all records of these are of grids
 * that have ended, and all bytes are written. Returns the number of rows before the first one of
 * which that is not so, and changes a->w and a->lane. The caller holds the lock of the rows. */
uint32_t sm_row_read_first(struct sm_access *a, const struct sm_memory_shadow *shadow,
                           uint64_t offset, uint32_t rows);
/* Checks that several lanes of the warp, from a->lane on, read the same words, and records it.
 * Returns false, and has changed nothing, if each lane has to be checked because of a race. Sets
 * *undefined to whether they read a byte that was never written. The caller holds the lock. */
bool sm_row_read_same(const struct sm_access *a, const struct sm_memory_shadow *shadow,
                      uint64_t offset, bool *undefined);
/* Checks and records that the lanes of a full warp read consecutive bytes or halves of words, from
 * the start of a word. Returns false, and has changed nothing, if each lane has to be checked
 * because of a race or an earlier read, or because a byte was never written. The caller holds the
 * lock. */
bool sm_row_read_parts(const struct sm_access *a, const struct sm_memory_shadow *shadow,
                       uint64_t offset);
/* Records an atomic by a->lane to whole words. Returns false, and has recorded nothing, if it has
 * to be checked: it may race, or reads a byte that was never written. The caller holds the lock. */
bool sm_row_atomic(const struct sm_access *a, const struct sm_memory_shadow *shadow,
                   uint64_t offset);
/* A row has a stamp, of a grid and a number of releases, if its records have plain reads of each
 * word by two CTAs of that grid, made at that number of releases, if no CTA of the grid has written
 * it, and all bytes are written. Without a stamp, this returns 0. */
static inline uint64_t sm_row_stamp(const struct sm_memory_shadow *shadow, uint64_t offset) {
  return __atomic_load_n(&shadow->stamps[offset / SM_ROW_BYTES], __ATOMIC_RELAXED);
}
/* Returns the stamp of rows that a read at the time of a needs no check in. It is not 0. */
static inline uint64_t sm_stamp_of(const struct sm_access *a) {
  return ((uint64_t)a->w->cta->shadow->first_number << 32 | a->touch.time) + 1;
}
/* Removes the stamp of a row before an access that changes its records. The caller holds the
 * lock. */
static inline void sm_row_drop_stamp(const struct sm_memory_shadow *shadow, uint64_t offset) {
  struct sm_row *row = &shadow->rows[offset / SM_ROW_BYTES];
  if (row->is_stamped)
    __atomic_store_n(&shadow->stamps[offset / SM_ROW_BYTES], 0, __ATOMIC_RELAXED);
  row->is_stamped = false;
}
/* Returns whether an access to a row needs no check. If it does, removes the stamp, like
 * sm_row_drop_stamp. */
static inline bool sm_row_is_free(const struct sm_access *a, const struct sm_memory_shadow *shadow,
                                  uint64_t offset) {
  if (!shadow->rows[offset / SM_ROW_BYTES].is_stamped)
    return false;
  if (!a->is_write && sm_row_stamp(shadow, offset) == sm_stamp_of(a))
    return true;
  sm_row_drop_stamp(shadow, offset);
  return false;
}
/* Makes the cells of a row valid. */
void sm_row_split(const struct sm_memory_shadow *shadow, uint64_t offset);

/* check_memory.c: the same for accesses of all lanes to the same words of private memory, whose
 * records are beside each other. */
uint32_t sm_local_rows(const struct sm_memory_check *c, struct sm_warp *w, uint32_t warps);
/* Checks the accesses of the lanes of m, as sm_check_memory. */
uint32_t sm_check_warp(struct sm_memory_check *c, struct sm_warp *w, uint32_t data,
                       uint64_t *origin, uint32_t m);
/* Checks the rows that the next warp of a sequence accesses, as sm_check_memory. */
uint32_t sm_check_next_rows(struct sm_memory_check *c, struct sm_warp *w, uint64_t *origin);

/* Checks the accesses of a warp by a memory instruction. data has the lanes whose stored value is
 * undefined, and *origin the origin of that value. Returns the lanes whose loaded value is
 * undefined, and sets *origin to the origin of that value. */
static inline uint32_t sm_check_memory(struct sm_memory_check *c, struct sm_warp *w, uint32_t data,
                                       uint64_t *origin) {
  const uint32_t m = sm_lanes_of(w, c->u) & sm_addressing_lanes(c->u, c->note);
  const uint8_t space = c->note->space;
  uint32_t undefined = 0;
  c->left--;
  /* Two warps found nothing, and the last two will replace this one in the records. */
  if (c->read_same && c->clean >= 2 && c->left >= 2)
    return 0;
  c->is_clean = true;
  if (data || !(space == SM_SPACE_SHARED  ? m && sm_shared_log(c, w, 1, m)
                : space == SM_SPACE_LOCAL ? m == SM_ALL_LANES && sm_local_rows(c, w, 1)
                                          : false))
    undefined =
        c->is_sequence ? sm_check_next_rows(c, w, origin) : sm_check_warp(c, w, data, origin, m);
  c->clean = c->is_clean && !undefined ? c->clean + 1 : 0;
  return undefined;
}

/* Make warp w release to, or acquire from, a vector clock. */
void sm_release_clock(struct sm_warp *w, uint32_t *clock);
void sm_acquire_clock(struct sm_warp *w, const uint32_t *clock);

#endif
