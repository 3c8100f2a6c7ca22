/* Uops, the compact form of instructions that the interpreter executes: a handler, and operands as
 * byte offsets into the register file of the warp. lower.c makes them once for each page of code.
 *
 * The register file of a warp is one array of 128-byte vectors: zero registers (RZ and URZ as
 * sources), discard registers (RZ and URZ as destinations), the uniform registers (each spread over
 * all lanes), and the general registers. Uniform instructions execute as vector instructions on
 * uniform registers with all lanes active, so that their semantics are written only once. */
#ifndef TEGRACL_SM_UOP_H
#define TEGRACL_SM_UOP_H

#include <stdbool.h>
#include <stdint.h>

#include "emulator/sm/exec/lanes.h"
#include "emulator/sm/execution_gen.h"

struct sm_warp;
struct sm_uop;

/* Executes one uop. Returns the next one, or NULL with warp->event set. */
typedef const struct sm_uop *(*sm_handler)(struct sm_warp *warp, const struct sm_uop *u,
                                           uint32_t warps);

enum {
  SM_SLOT_ZERO = 0,    /* four, because 128-bit operands read four */
  SM_SLOT_DISCARD = 4, /* four */
  SM_SLOT_UR = 8,
  SM_SLOT_R = SM_SLOT_UR + 64,
  SM_RZ = 255,
  SM_URZ = 63,
  SM_UR_COUNT = 63,
};

/* Predicate file: P0..P6, PT, a discard predicate, UP0..UP6 and UPT. Each is a mask of lanes;
 * uniform predicates are 0 or all ones. */
enum {
  SM_PRED_TRUE = 7,
  SM_PRED_DISCARD = 8,
  SM_PRED_UNIFORM = 16,
  SM_PRED_FILE = 24,
};

/* Sources of the scalar operand: a bank number, SM_BANKS for the bank that a descriptor in uniform
 * registers identifies, or SM_SCALAR_IMM for an immediate. */
enum { SM_SCALAR_IMM = 0xff };
enum { SM_NO_SLOT = 3 };

/* Modifiers of a source operand, two bits of mods for each. */
enum { SM_SRC_NEG = 1, SM_SRC_ABS = 2 };
/* In integer operations, either modifier inverts the operand; NEG then adds one. */
enum { SM_SRC_INV = 2 };

/* Operations on halves, and how they read an operand's register: both halves, a float, or one half
 * for both. */
enum { SM_HALF_ADD, SM_HALF_MUL, SM_HALF_FMA };
enum { SM_HALF_BOTH, SM_HALF_SINGLE, SM_HALF_LOW, SM_HALF_HIGH };

/* Texture operations, and the place of the handle: among the operands, in a constant, or in two
 * uniform registers with the indices of header and sampler. */
/* SM_TEXTURE_NONE is no instruction's: an access through a header without texels. */
enum {
  SM_TEXTURE_TEX,
  SM_TEXTURE_TLD,
  SM_TEXTURE_TLD4,
  SM_TEXTURE_TXQ,
  SM_TEXTURE_TXD,
  SM_TEXTURE_NONE
};
enum { SM_HANDLE_IN_LIST, SM_HANDLE_WORD, SM_HANDLE_PAIR };
/* Surface instructions outside of the surface: loads give 0 and stores do nothing, the nearest
 * texel is accessed, or the kernel traps. */
enum { SM_OUTSIDE_IGNORED, SM_OUTSIDE_CLAMPED, SM_OUTSIDE_TRAPS };

struct sm_uop {
  sm_handler handler;
  uint16_t d;          /* byte offset of the destination */
  uint16_t s[3];       /* of the sources a, b, c */
  uint8_t guard;       /* index into the predicate file */
  uint8_t uniform;     /* 1 executes for all 32 lanes, 0 for the active ones */
  uint8_t scalar_slot; /* the source that is a scalar, or SM_NO_SLOT */
  uint8_t scalar_kind; /* its bank, SM_BANKS or SM_SCALAR_IMM */
  uint32_t guard_xor;  /* all ones if the guard is negated */
  uint32_t imm;        /* the scalar, or its byte offset in the bank */
  uint8_t pd, pe;      /* destination predicates */
  uint8_t pp, pq, pr;  /* source predicates */
  uint8_t pnot;        /* bits 0..2: pp, pq, pr are negated */
  uint8_t mods;        /* SM_SRC_*, two bits for each source */
  uint8_t round;       /* enum sem_round */
  uint8_t ftz, sat;
  uint16_t descriptor; /* offset of the uniform registers that identify bank SM_BANKS */
  sm_handler execute;  /* the handler of the instruction, called after that bank is bound */
  union {              /* the other arguments of the handler: sm87.isa, handlers */
    uint64_t argument_words[2];
#define X(group) struct sm_arguments_##group group;
    SM_ARGUMENTS(X)
#undef X
  };
} __attribute__((aligned(64)));

_Static_assert(sizeof(struct sm_uop) == 64, "one cache line");

/* Returns whether all active lanes execute u. */
static inline bool sm_is_unguarded(const struct sm_uop *u) {
  return u->guard == SM_PRED_TRUE && !u->guard_xor;
}

/* Returns the first of the predicates that P2R and R2P copy. */
static inline unsigned sm_first_predicate(const struct sm_uop *u) {
  return u->uniform ? SM_PRED_UNIFORM : 0;
}

#define SM_PAGE_BYTES  4096u
#define SM_INSN_BYTES  16u
#define SM_PAGE_UOPS   (SM_PAGE_BYTES / SM_INSN_BYTES)
#define SM_FUSED_AFTER 16u /* uops of the next page that a sequence may include */

/* A lowered page of code. */
struct sm_page {
  struct sm_page *next; /* in its hash bucket */
  uint64_t va;
  uint32_t registers; /* number of registers that its uops were checked against */
  uint64_t word[SM_PAGE_UOPS][2];
  /* After those of the page there is one that continues at the next page. */
  struct sm_uop uop[SM_PAGE_UOPS + SM_FUSED_AFTER];
};

enum sm_handler_id {
#define X(name) SM_H_##name,
  SM_HANDLERS(X)
#undef X
      SM_HANDLER_COUNT
};

#endif
