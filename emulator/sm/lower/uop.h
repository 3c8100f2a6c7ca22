/* The compact form of an instruction that the interpreter executes: a handler
 * and operands as byte offsets into the warp's register file, made once by
 * lower.c.
 *
 * The register file of a warp is one array of 128-byte vectors: zero registers
 * (RZ and URZ as sources), discard registers (as destinations), the uniform
 * registers (each spread over all lanes), then the general ones. Uniform
 * instructions execute as vector instructions on uniform registers, with all lanes active,
 * so their semantics are written once.
 */
#ifndef TEGRACL_SM_UOP_H
#define TEGRACL_SM_UOP_H

#include <stdbool.h>
#include <stdint.h>

#include "emulator/sm/exec/lanes.h"
#include "emulator/sm/execution_gen.h"

struct sm_warp;
struct sm_uop;

/* Executes one uop; returns the next one, or NULL with warp->event set. */
typedef const struct sm_uop *(*sm_handler)(struct sm_warp *warp, const struct sm_uop *u);

enum {
  SM_SLOT_ZERO = 0,    /* four, because 128-bit operands read four */
  SM_SLOT_DISCARD = 4, /* four */
  SM_SLOT_UR = 8,
  SM_SLOT_R = SM_SLOT_UR + 64,
  SM_RZ = 255,
  SM_URZ = 63,
  SM_UR_COUNT = 63,
};

/* Predicate file: P0..P6 and true, a discarded one, UP0..UP6 and true. Each is a
 * mask of lanes; uniform ones are 0 or all ones. */
enum {
  SM_PRED_TRUE = 7,
  SM_PRED_DISCARD = 8,
  SM_PRED_UNIFORM = 16,
  SM_PRED_FILE = 24,
};

/* Where the scalar operand of a uop comes from: a bank number, SM_BANKS for the bank
 * that a descriptor in uniform registers names, or: */
enum { SM_SCALAR_IMM = 0xff };
enum { SM_NO_SLOT = 3 };

/* Bits of mods: two for each source operand. */
enum { SM_SRC_NEG = 1, SM_SRC_ABS = 2 };
/* For integer operands: the operand is inverted (neg adds one as well). */
enum { SM_SRC_INV = 2 };

/* Texture instructions, and where their handle is: a constant, the uniform register with the
 * header's index and the next one with the sampler's, or the list of operands. */
enum { SM_TEXTURE_TEX, SM_TEXTURE_TLD, SM_TEXTURE_TLD4, SM_TEXTURE_TXQ };
enum { SM_HANDLE_IN_LIST, SM_HANDLE_WORD, SM_HANDLE_PAIR };

struct sm_uop {
  sm_handler handler;
  uint16_t d;          /* byte offset of the destination */
  uint16_t s[3];       /* of the sources a, b, c */
  uint8_t guard;       /* index into the predicate file */
  uint8_t uniform;     /* 1: for all 32 lanes; 0: for the active ones */
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
  uint16_t descriptor; /* offset of the uniform registers that name bank SM_BANKS */
  sm_handler execute;  /* the instruction's handler, after that bank is found */
  union {              /* the handler's arguments besides operands: sm87.isa, handlers */
    uint64_t argument_words[2];
#define X(group) struct sm_arguments_##group group;
    SM_ARGUMENTS(X)
#undef X
  };
} __attribute__((aligned(64)));

_Static_assert(sizeof(struct sm_uop) == 64, "one cache line");

/* The first of the predicates that P2R and R2P copy. */
static inline unsigned sm_first_predicate(const struct sm_uop *u) {
  return u->uniform ? SM_PRED_UNIFORM : 0;
}

#define SM_PAGE_BYTES 4096u
#define SM_INSN_BYTES 16u
#define SM_PAGE_UOPS  (SM_PAGE_BYTES / SM_INSN_BYTES)

/* A lowered page of code. */
struct sm_page {
  struct sm_page *next; /* in its hash bucket */
  uint64_t va;
  uint32_t registers; /* the count that its uops were checked against */
  uint64_t word[SM_PAGE_UOPS][2];
  struct sm_uop uop[SM_PAGE_UOPS + 1]; /* the last one leads to the next page */
};

enum sm_handler_id {
#define X(name) SM_H_##name,
  SM_HANDLERS(X)
#undef X
      SM_HANDLER_COUNT
};

#endif
