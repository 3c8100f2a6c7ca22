/* Faster handlers for common forms of an instruction, and one for a sequence that compilers emit.
 * They are selected after lowering, by the fields of the uop. */
#include "emulator/sm/exec/sem_float.h"
#include "emulator/sm/lower/lower.h"

/* Returns whether IADD3 adds two operands and at most one 1, from a carry or from a negation. */
static bool is_sum2(const struct sm_uop *u) {
  const unsigned negated = (unsigned)__builtin_popcount(u->mods & SM_SRC_NEG * 0x5u);
  const bool second_carry = u->iadd.extended && !(u->pq == SM_PRED_TRUE && u->pnot & 2);
  return u->s[2] == 0 && u->scalar_slot != 0 && u->scalar_slot != 2 && !(u->mods >> 4) &&
         u->pe == SM_PRED_DISCARD && !second_carry && negated + u->iadd.extended <= 1;
}

/* Returns whether the operation rounds to nearest, takes no absolute values and does not negate a
 * scalar. */
static bool is_plain_double(const struct sm_uop *u) {
  const unsigned abs = SM_SRC_ABS * 0x15u;
  const bool sign = u->scalar_slot != SM_NO_SLOT && u->mods >> (2 * u->scalar_slot) & SM_SRC_NEG;
  return u->round == SEM_RN && !(u->mods & abs) && !sign && u->scalar_slot != 0;
}

static unsigned by_scalar(const struct sm_uop *u, unsigned none, unsigned second, unsigned third) {
  return u->scalar_slot == SM_NO_SLOT ? none : u->scalar_slot == 1 ? second : third;
}

static unsigned choose_sum(const struct sm_uop *u, unsigned handler) {
  if (!is_sum2(u))
    return handler;
  if (u->mods)
    return SM_H_iadd_carry;
  const bool scalar = u->scalar_slot == 1;
  if (!u->iadd.extended)
    return scalar ? SM_H_iadd_cc_rs : SM_H_iadd_cc;
  if (u->pd != SM_PRED_DISCARD)
    return SM_H_iadd_carry;
  return scalar ? SM_H_iadd_x_rs : SM_H_iadd_x;
}

/* IMAD by 1 is a sum. By another power of two, if it adds nothing, it is a shift. */
static unsigned choose_product(struct sm_uop *u, unsigned handler) {
  if (u->scalar_kind != SM_SCALAR_IMM)
    return handler;
  if (u->imm == 1) {
    u->s[1] = 0;
    u->scalar_slot = SM_NO_SLOT;
    return SM_H_iadd3_rrr;
  }
  if (u->s[2] != 0 || !u->imm || u->imm & (u->imm - 1))
    return handler;
  u->imm = (uint32_t)__builtin_ctz(u->imm);
  u->shift.known = 1;
  return SM_H_shl;
}

/* The high word of a sum: a product with RZ, plus c and a carry. */
static unsigned choose_high_sum(struct sm_uop *u, unsigned handler) {
  if (!u->imad.extended || u->mods || u->s[0] != 0 || u->s[1] != 0)
    return handler;
  if (u->scalar_slot == 2)
    return SM_H_iadd_x_rs;
  if (u->scalar_slot != SM_NO_SLOT)
    return handler;
  u->s[1] = u->s[2];
  u->s[2] = 0;
  return SM_H_iadd_x;
}

/* Returns whether the result of a comparison depends on no other predicate and goes to one. */
static bool is_alone(const struct sm_uop *u, unsigned combine) {
  return u->pp == SM_PRED_TRUE && !(u->pnot & 1) && combine == SEM_BOP_AND &&
         u->pe == SM_PRED_DISCARD;
}

static unsigned choose_isetp(const struct sm_uop *u, unsigned handler) {
  const bool certain =
      u->isetp.compare == 0 || u->isetp.compare == (SEM_CMP_LESS | SEM_CMP_EQUAL | SEM_CMP_GREATER);
  return is_alone(u, u->isetp.combine) && !certain && !u->isetp.extended && u->scalar_slot != 0
             ? SM_H_isetp_one
             : handler;
}

static unsigned choose_lop3(const struct sm_uop *u, unsigned handler) {
  enum { A = 0xf0, B = 0xcc, C = 0xaa };
  if (u->pd != SM_PRED_DISCARD)
    return handler;
  switch (u->lop3.table) {
  case A &B:
    return SM_H_lop3_and;
  case A | B:
    return SM_H_lop3_or;
  case A ^ B:
    return SM_H_lop3_xor;
  case A ^ B ^ C:
    return SM_H_lop3_xor3;
  case A | B | C:
    return SM_H_lop3_or3;
  case (A & B) | (0xff & ~A & C):
    return SM_H_lop3_select;
  case (A & B) | (A & C) | (B & C):
    return SM_H_lop3_majority;
  default:
    return handler;
  }
}

/* Chooses a handler for SHF by a known count if the result has bits of both words. Reduces the
 * count as the instruction does. */
static unsigned choose_shf(struct sm_uop *u, unsigned handler) {
  if (u->scalar_slot != 1 || u->scalar_kind != SM_SCALAR_IMM || u->shift.right == u->shift.high)
    return handler;
  const uint32_t n = sem_shift_count(u->imm, u->shift.width, u->shift.wrap);
  if (n == 0 || n > 31)
    return handler;
  const bool rotates = u->s[0] == u->s[2];
  u->imm = rotates && !u->shift.right ? 32 - n : n;
  return rotates ? SM_H_shf_rotate : u->shift.right ? SM_H_shf_right : SM_H_shf_left;
}

static unsigned choose_fadd(const struct sm_uop *u, unsigned handler) {
  enum { ABS_BITS = SM_SRC_ABS * 0x15 };
  return u->round == SEM_RN && !u->ftz && !u->sat && !(u->mods & ABS_BITS) && u->scalar_slot != 0
             ? SM_H_fadd_neg
             : handler;
}

/* Returns whether HADD2 adds one half to -0 in single precision, to which NVRTC compiles each
 * conversion. */
static bool is_conversion(const struct sm_uop *u) {
  return u->half.operation == SM_HALF_ADD && u->half.f32_result && !u->half.bf16 && !u->ftz &&
         !u->sat && u->scalar_slot == SM_NO_SLOT && u->s[0] == 0 && (u->mods & 3) == SM_SRC_NEG &&
         (u->half.select >> 2 & 3) != SM_HALF_SINGLE;
}

unsigned sm_specialise(struct sm_uop *u, unsigned handler) {
  switch (handler) {
  case SM_H_iadd3:
    return choose_sum(u, handler);
  case SM_H_imad:
    return choose_high_sum(u, handler);
  case SM_H_imad_rsr:
    return choose_product(u, handler);
  case SM_H_isetp:
    return choose_isetp(u, handler);
  case SM_H_fsetp:
    return is_alone(u, u->compare.combine) ? SM_H_fsetp_one : handler;
  case SM_H_lop3:
    return choose_lop3(u, handler);
  case SM_H_shf:
    return choose_shf(u, handler);
  case SM_H_fadd:
    return choose_fadd(u, handler);
  case SM_H_hfma2:
    return is_conversion(u) ? SM_H_half_to_f32 : handler;
  case SM_H_dadd:
    return is_plain_double(u) ? by_scalar(u, SM_H_dadd_rr, SM_H_dadd_rs, handler) : handler;
  case SM_H_dmul:
    return is_plain_double(u) ? by_scalar(u, SM_H_dmul_rr, SM_H_dmul_rs, handler) : handler;
  case SM_H_dfma:
    return is_plain_double(u) ? by_scalar(u, SM_H_dfma_rrr, SM_H_dfma_rsr, SM_H_dfma_rrs) : handler;
  default:
    return handler;
  }
}

/* Returns whether u is a BMOV of all lanes to barrier register to. note is its note, which says
 * that there is nothing to wait for, or NULL. */
static bool is_bmov(const struct sm_uop *u, const struct sm_note *note, const struct sm_core *core,
                    unsigned to) {
  return (note ? note->execute : u->handler) == core->handler[SM_H_bmov] && sm_is_unguarded(u) &&
         !u->uniform && u->bmov.to_barrier && u->bmov.to == to &&
         (!note || note->is_quick || to == 0);
}

/* Returns whether u starts the sequence at the entry of each kernel that clears all barrier
 * registers: it sets B0, moves it through all registers to B15, and clears B15. */
static bool clears_barriers(const struct sm_uop *u, const struct sm_note *notes,
                            const struct sm_core *core) {
  if (!is_bmov(u, notes, core, 0) || u->bmov.from_barrier)
    return false;
  for (unsigned n = 1; n < SM_BARRIERS; n++)
    if (!is_bmov(&u[n], notes ? &notes[n] : NULL, core, n) || !u[n].bmov.from_barrier ||
        u[n].bmov.from != n - 1 || !u[n].bmov.clear)
      return false;
  const struct sm_uop *last = &u[SM_BARRIERS];
  return is_bmov(last, notes ? &notes[SM_BARRIERS] : NULL, core, SM_BARRIERS - 1) &&
         !last->bmov.from_barrier && last->scalar_slot == 1 && last->scalar_kind == SM_SCALAR_IMM &&
         last->imm == 0;
}

void sm_fuse(struct sm_uop *u, struct sm_note *notes, const struct sm_core *core) {
  for (unsigned k = 0; k < SM_PAGE_UOPS; k++) {
    const bool far = k + SM_BARRIERS >= SM_PAGE_UOPS;
    if ((far && notes) || !clears_barriers(&u[k], notes ? &notes[k] : NULL, core))
      continue;
    *(notes ? &notes[k].execute : &u[k].handler) =
        core->handler[far ? SM_H_clear_barriers_far : SM_H_clear_barriers];
    if (notes) {
      notes[k].skips = SM_BARRIERS;
      notes[k].is_quick = false;
    }
  }
}
