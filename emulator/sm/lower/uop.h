/* The compact form of an instruction that the interpreter executes: a handler
 * and operands as byte offsets into the warp's register file, made once by
 * lower.c.
 *
 * The register file of a warp is one array of 128-byte vectors: zero registers
 * (RZ and URZ as sources), discard registers (as destinations), the uniform
 * registers (each spread over all lanes), then the general ones. Uniform
 * instructions are the vector ones on uniform registers, with all lanes active,
 * so their semantics are written once.
 */
#ifndef TEGRACL_SM_UOP_H
#define TEGRACL_SM_UOP_H

#include <stdbool.h>
#include <stdint.h>

#include "emulator/sm/exec/lanes.h"

struct sm_warp;
struct sm_uop;

/* Executes one uop; returns the next one, or NULL with warp->event set. */
typedef const struct sm_uop *(*sm_handler)(struct sm_warp *warp, const struct sm_uop *u);

enum {
  SM_SLOT_ZERO = 0,    /* four, so that 128-bit reads of RZ are zero */
  SM_SLOT_DISCARD = 4, /* four */
  SM_SLOT_UR = 8,
  SM_SLOT_R = SM_SLOT_UR + 64,
  SM_RZ = 255,
  SM_URZ = 63,
  SM_UR_COUNT = 63,
};

/* Predicate file: P0..P6 and true, a discard place, UP0..UP6 and true. Each is a
 * mask of lanes; uniform ones are 0 or all ones. */
enum {
  SM_PRED_TRUE = 7,
  SM_PRED_DISCARD = 8,
  SM_PRED_UNIFORM = 16,
  SM_PRED_FILE = 24,
};

/* Where the scalar operand of a uop comes from: a bank number, SM_BANKS for the bank
 * that a descriptor in uniform registers names, or: */
enum { SM_SCALAR_IMM = 0xff, SM_SCALAR_NONE = 0xfe };
enum { SM_NO_SLOT = 3 };

/* Bits of mods: two for each source operand. */
enum { SM_SRC_NEG = 1, SM_SRC_ABS = 2 };
/* For integer operands: the operand is inverted (neg adds one as well). */
enum { SM_SRC_INV = 2 };

/* Of arithmetic in half precision: bits of x[1]. */
enum {
  SM_HALF_BF16 = 1,
  SM_HALF_F32_OUT = 2,
  SM_HALF_FMZ = 4,
  SM_HALF_RELU = 8,
  SM_HALF_EXCHANGE = 16, /* the second operand is .H0_NH1 */
};

struct sm_uop {
  sm_handler handler;
  uint16_t d;          /* byte offset of the destination */
  uint16_t s[3];       /* of the sources a, b, c */
  uint8_t guard;       /* index into the predicate file */
  uint8_t uniform;     /* 1: acts on all lanes, whichever are active */
  uint8_t scalar_slot; /* the source that is a scalar, or SM_NO_SLOT */
  uint8_t scalar_kind; /* its bank, or SM_SCALAR_IMM */
  uint32_t guard_xor;  /* all ones if the guard is negated */
  uint32_t imm;        /* the scalar, or its byte offset in the bank */
  uint8_t pd, pe;      /* destination predicates */
  uint8_t pp, pq, pr;  /* source predicates */
  uint8_t pnot;        /* bits 0..2: pp, pq, pr are negated */
  uint8_t mods;
  uint8_t round; /* enum sem_round */
  int64_t off;   /* memory offset, or branch target (absolute) */
  int32_t jump;  /* branch target in uops from here, when in this page */
  uint8_t x[6];  /* what the handler needs besides */
  uint8_t ftz, sat;
} __attribute__((aligned(64)));

_Static_assert(sizeof(struct sm_uop) == 64, "one cache line");

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

/* Handlers. X(name) */
// clang-format off
#define SM_HANDLERS(X)                                                                            \
  X(nop) X(mov_reg) X(mov_scalar) X(sel) X(iadd3) X(iadd_carry) X(iadd3_plain) X(iadd3_rrr) X(iadd3_rsr)        \
  X(imad) X(imad_rrr) X(imad_rsr) X(imad_wide) X(imad_wide_plain) X(lea) X(lea_plain) X(lop3)     \
  X(shf) X(shl) X(shr) X(sar) X(isetp) X(imnmx) X(iabs) X(popc) X(brev) X(flo) X(sgxt) X(bmsk)    \
  X(prmt) X(prmt_imm) X(dp4a) X(dp2a) X(absdiff) X(absdiff4) X(i2i_sat) X(i2ip) X(p2r) X(r2p)     \
  X(plop3) X(plop3_sign) X(fadd) X(fadd_rr) X(fadd_rs) X(fmul) X(fmul_rr) X(fmul_rs) X(ffma)      \
  X(ffma_rrr) X(ffma_neg) X(ffma_rsr) X(ffma_rrs) X(fmnmx) X(fsel) X(fsetp) X(fset) X(fchk)       \
  X(fswzadd) X(dadd) X(dadd_rr) X(dadd_rs) X(dmul) X(dmul_rr)       \
  X(dmul_rs) X(dfma) X(dfma_rrr) X(dfma_rsr) X(dfma_rrs) X(dsetp) X(hfma2) X(hmnmx2) X(hset2) X(hsetp2) X(mufu)       \
  X(mufu_f16) X(f2i) X(f2i_fast) X(i2f) X(i2f_fast) X(f2f) X(frnd) X(f2fp) X(f2ip)                \
  X(ld_global) X(ld_generic) X(ld_shared) X(ld_local) X(st_global) X(st_generic) X(st_shared)     \
  X(st_local) X(ldc) X(atom) X(atom_shared) X(atom_inc) X(ldgsts) X(fence) X(qspc) X(bra)         \
  X(bra_far) X(bra_cond) X(brx) X(exit) X(bssy) X(bsync) X(break_) X(yield) X(warpsync)           \
  X(bmov) X(clear_barriers) X(bar) X(b2r) X(trap) X(lepc) X(s2r) X(s2r64) X(vote) X(shfl) X(match) X(redux)         \
  X(r2ur) X(hmma) X(dmma) X(imma) X(bmma) X(movm) X(ldsm) X(arrive) X(arrive_generic)             \
  X(bindless) X(fmul_scaled) X(l1_ld_global) X(l1_ld_generic) X(l1_st_global) X(l1_st_generic)    \
  X(l1_atom) X(l1_ldgsts) X(l1_invalidate)                                                        \
  X(page_end) X(illegal) X(not_implemented) X(register_range) X(pc_range)
// clang-format on

enum sm_handler_id {
#define X(name) SM_H_##name,
  SM_HANDLERS(X)
#undef X
      SM_HANDLER_COUNT
};

#endif
