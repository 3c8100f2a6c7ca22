/* Notes on an instruction, for check and profile modes: the registers and predicates that it reads
 * and writes, its use of memory, and its scoreboards. Lowering creates notes only in those
 * modes. */
#ifndef TEGRACL_SM_NOTE_H
#define TEGRACL_SM_NOTE_H

#include "emulator/sm/lower/uop.h"

/* Classes of instructions that a profile counts (sm87.isa). */
enum sm_class {
#define X(name, text) SM_CLASS_##name,
  SM_CLASSES(X)
#undef X
      SM_CLASS_COUNT
};
extern const char *const sm_class_names[SM_CLASS_COUNT];

enum sm_space {
  SM_SPACE_NONE,
  SM_SPACE_GLOBAL,
  SM_SPACE_GENERIC,
  SM_SPACE_SHARED,
  SM_SPACE_LOCAL,
  SM_SPACE_COPY, /* global to shared */
  SM_SPACE_SURFACE,
};
enum sm_access_kind { SM_ACCESS_NONE, SM_ACCESS_LOAD, SM_ACCESS_STORE, SM_ACCESS_ATOMIC };

enum { SM_NOTE_READS = 10, SM_NOTE_WRITES = 4, SM_NOTE_PLACES = 12, SM_NOTE_QUICK = 8 };
enum { SM_SCOREBOARDS = 6 };
/* The parameters in constant bank 0, in bytes (docs/hardware/command-stream.md 6). */
enum { SM_PARAMETERS_AT = 0x160, SM_PARAMETERS_END = SM_PARAMETERS_AT + 4352 };

/* The first predicate among the places of an instruction. */
enum { SM_NOTE_PREDS = SM_SLOT_R + 256 };

/* How the pointers of an instruction's results follow from those of its operands. */
enum sm_pointer_rule {
  SM_POINTERS_NONE,
  SM_POINTERS_SUM,
  SM_POINTERS_WIDE_SUM, /* the third operand has two registers */
  SM_POINTERS_SELECT,
  SM_POINTERS_CONSTANT, /* read from a constant bank */
  SM_POINTERS_PRIVATE,  /* perhaps read from private memory */
  SM_POINTERS_COPY,     /* from another lane */
  SM_POINTERS_UNKNOWN,  /* of no known buffer if an operand has one */
};

/* Consecutive slots of the register file (SM_SLOT_*). */
struct sm_use {
  uint16_t slot;
  uint8_t count;
  bool address; /* part of a memory or branch address */
};

struct sm_note {
  sm_handler execute;
  /* Registers and predicates that the instruction accesses: slots, and predicates plus
   * SM_NOTE_PREDS. First its sources, then the guard, unless that is always true, then those that
   * it writes. The rest is 0, a slot that never has a record. */
  uint16_t place[SM_NOTE_PLACES];
  uint8_t sources, places_read, places; /* ends of these parts of place */
  bool has_places;                      /* false if they do not fit */
  bool is_plain;            /* needs no check unless a place that it accesses has a record */
  bool is_special;          /* has effects or checks besides its values, memory and scoreboards */
  bool is_quick;            /* plain, and has at most SM_NOTE_QUICK places */
  uint16_t parameter;       /* its scalar, if that may be a pointer: word of bank 0, or 0 */
  bool has_result;          /* writes its results later: sets a scoreboard, or loads without one */
  uint8_t pointer_rule;     /* enum sm_pointer_rule */
  uint8_t pointer_operands; /* of a sum: mask of the slots whose pointer it keeps */
  bool subtracts;           /* of a sum: has a negated register */
  uint8_t skips;            /* instructions after this one that execute also executes */
  uint8_t klass;            /* enum sm_class */
  uint8_t space, access, bytes;
  uint8_t handler; /* enum sm_handler_id */
  uint8_t read_count, write_count;
  uint8_t wait_mask, write_sb, read_sb;
  bool is_alone;                   /* completes before the next instruction issues: code of -O0 */
  bool acquires;                   /* an atomic that locks use, which also releases */
  bool strong;                     /* volatile or atomic access */
  bool compares;                   /* compare-and-swap */
  bool syncs_warp;                 /* orders accesses of the warp's lanes */
  bool releases_all, acquires_all; /* orders accesses of different CTAs */
  struct sm_use read[SM_NOTE_READS], write[SM_NOTE_WRITES];
  uint32_t preds_read, preds_written; /* masks of the predicate file, without the guard */
} __attribute__((aligned(64)));

/* Returns whether a space (enum sm_space) is memory that instructions access by addresses. */
static inline bool sm_is_memory(uint8_t space) {
  return space != SM_SPACE_NONE && space != SM_SPACE_SURFACE;
}

_Static_assert(sizeof(struct sm_note) == 2 * sizeof(struct sm_uop), "as sm_note_of expects");

#endif
