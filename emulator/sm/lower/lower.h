/* Lowering: from a decoded instruction to its uop. Most functions are generated from the "does"
 * lines of sm87.isa (lowering_gen.c) and use this header to store arguments and operands. The other
 * files of this directory select handlers, and lower the few instructions that fit no pattern. */
#ifndef TEGRACL_SM_LOWER_H
#define TEGRACL_SM_LOWER_H

#include "emulator/sm/exec/semantics.h"
#include "emulator/sm/lower/note.h"
#include "emulator/sm/state.h"
#include "gpu/isa/insn.h"

struct lowering {
  struct sm_uop *u;
  const struct sm_insn *insn;
  uint32_t registers;
  uint64_t next_pc;
  bool out_of_range, unsupported;
  unsigned at;          /* next operand */
  struct sm_note *note; /* filled in, unless NULL */
  bool address;         /* the current operand is part of an address */
  bool bindless;        /* an operand is a constant by descriptor */
};

/* note.c: records consecutive slots that the instruction uses. */
void sm_note_slot(struct sm_note *note, unsigned slot, unsigned count, bool written, bool address);
/* Sets the members of a note that do not come from the operands. */
void sm_note_finish(struct sm_note *note, const struct sm_insn *insn, unsigned handler,
                    const struct sm_uop *u);
/* Sets how pointers propagate. Call after note->handler is set for good. */
void sm_note_pointers(struct sm_note *note, const struct sm_uop *u);

static inline const struct sm_operand *next_operand(struct lowering *l) {
  static const struct sm_operand none = {.kind = SM_OPERAND_NONE};
  return l->at < l->insn->operand_count ? &l->insn->operand[l->at++] : &none;
}

/* Returns the next operand without consuming it. */
static inline const struct sm_operand *peek_operand(struct lowering *l) {
  const struct sm_operand *o = next_operand(l);
  l->at--;
  return o;
}

static inline unsigned modifier(const struct lowering *l, enum sm_mod which) {
  return l->insn->mod[which];
}

/* Returns the offset of count consecutive registers, general or uniform, of which the operand is
 * the first. */
static inline uint16_t reg_slot(struct lowering *l, const struct sm_operand *o, unsigned count,
                                bool dst) {
  unsigned slot = dst ? SM_SLOT_DISCARD : SM_SLOT_ZERO;
  if (o->kind == SM_OPERAND_UREG && o->reg != SM_URZ) {
    slot = SM_SLOT_UR + o->reg;
    l->out_of_range |= o->reg % count != 0 || o->reg + count > SM_UR_COUNT;
  } else if (o->kind == SM_OPERAND_REG && o->reg != SM_RZ) {
    slot = SM_SLOT_R + o->reg;
    l->out_of_range |= o->reg % count != 0 || o->reg + count > l->registers;
  } else if (o->kind != SM_OPERAND_REG && o->kind != SM_OPERAND_UREG) {
    l->unsupported = true;
  }
  if (l->note)
    sm_note_slot(l->note, slot, count, dst, l->address);
  return (uint16_t)(slot * SM_REG_BYTES);
}

static inline void lower_result(struct lowering *l, unsigned count) {
  l->u->d = reg_slot(l, next_operand(l), count, true);
}

static inline uint8_t pred_index(const struct sm_operand *o) {
  return (uint8_t)(o->kind == SM_OPERAND_UPRED ? SM_PRED_UNIFORM + o->reg : o->reg);
}

static inline uint8_t lower_result_predicate(struct lowering *l) {
  const struct sm_operand *o = next_operand(l);
  if (o->kind != SM_OPERAND_PRED && o->kind != SM_OPERAND_UPRED)
    return SM_PRED_DISCARD;
  if (o->reg == SM_PRED_TRUE)
    return SM_PRED_DISCARD;
  if (l->note)
    l->note->preds_written |= 1u << pred_index(o);
  return pred_index(o);
}

/* Lowers an input predicate: pp, pq or pr for which = 0, 1 or 2. */
static inline void lower_source_predicate(struct lowering *l, unsigned which) {
  struct sm_uop *u = l->u;
  const struct sm_operand *o = next_operand(l);
  if (o->kind != SM_OPERAND_PRED && o->kind != SM_OPERAND_UPRED)
    return;
  uint8_t *field = which == 0 ? &u->pp : which == 1 ? &u->pq : &u->pr;
  *field = pred_index(o);
  if (l->note && o->reg != SM_PRED_TRUE)
    l->note->preds_read |= 1u << *field;
  if (o->not_)
    u->pnot |= (uint8_t)(1u << which);
}

/* Consumes an operand that is supported only with its neutral value: RZ, PT, or number. */
static inline void expect_neutral(struct lowering *l, int64_t number) {
  const struct sm_operand *o = next_operand(l);
  switch (o->kind) {
  case SM_OPERAND_NONE:
    break;
  case SM_OPERAND_REG:
    l->unsupported |= o->reg != SM_RZ;
    break;
  case SM_OPERAND_PRED:
  case SM_OPERAND_UPRED:
    l->unsupported |= o->reg != SM_PRED_TRUE || o->not_;
    break;
  default:
    l->unsupported |= o->value != number;
  }
}

/* Lowers a source operand to slot: count registers, an immediate or a constant. */
static inline void lower_source(struct lowering *l, unsigned slot, unsigned count) {
  struct sm_uop *u = l->u;
  const struct sm_operand *o = next_operand(l);
  unsigned mods = (o->neg ? SM_SRC_NEG : 0u) | (o->abs || o->inv ? SM_SRC_ABS : 0u);
  u->mods |= (uint8_t)(mods << (2 * slot));
  switch (o->kind) {
  case SM_OPERAND_REG:
  case SM_OPERAND_UREG:
    u->s[slot] = reg_slot(l, o, count, false);
    break;
  case SM_OPERAND_IMM:
    u->scalar_slot = (uint8_t)slot;
    u->scalar_kind = SM_SCALAR_IMM;
    u->imm = (uint32_t)o->value;
    break;
  case SM_OPERAND_CONST:
    if (o->bank >= SM_BANKS || o->index != SM_RZ) {
      l->unsupported = true;
      break;
    }
    u->scalar_slot = (uint8_t)slot;
    u->scalar_kind = o->bank;
    u->imm = (uint32_t)o->value;
    break;
  case SM_OPERAND_CONST_BINDLESS: {
    const struct sm_operand descriptor = {.kind = SM_OPERAND_UREG, .reg = o->reg};
    l->bindless = true;
    l->address = true;
    u->descriptor = reg_slot(l, &descriptor, 2, false);
    l->address = false;
    u->scalar_slot = (uint8_t)slot;
    u->scalar_kind = SM_BANKS;
    u->imm = (uint32_t)o->value;
    break;
  }
  default:
    l->unsupported = true;
  }
}

/* lowering_gen.c: for each operation, the function that lowers an instruction and returns its
 * handler, or NULL if the operation is not supported. */
extern unsigned (*const sm_lower_operation[SM_OP_COUNT])(struct lowering *l);

/* lower_mem.c: lowers the memory operand. */
void sm_lower_address(struct lowering *l);

/* The functions to which "does" lines refer. sm_choose_* returns the handler after operands and
 * arguments are in the uop, which it may change. sm_lower_* also lowers the operands. handler is
 * the one in the line. */
#define X(name) unsigned sm_choose_##name(struct lowering *l, unsigned handler);
SM_CHOICES(X)
#undef X
#define X(name) unsigned sm_lower_##name(struct lowering *l, unsigned handler);
SM_LOWERINGS(X)
#undef X

/* lower_l1.c: returns whether a load may hit the L1 cache of its SM. */
bool sm_is_cached(const struct sm_insn *insn);
/* Replaces the handler of u by its variant for L1 caches, if there is one. */
void sm_lower_l1(struct sm_uop *u, const struct sm_insn *insn, const struct sm_core *core,
                 sm_handler *handler);

/* specialise.c: returns a faster handler with the same effect for this uop, or handler if there is
 * none. May change arguments of the uop. */
unsigned sm_specialise(struct sm_uop *u, unsigned handler);
/* Sets handlers that execute a sequence of uops at once. All uops of the sequence stay valid,
 * because a branch may lead into it. u has the uops of a page and SM_FUSED_AFTER of the next one.
 * notes has the notes on annotated uops, else it is NULL. Annotated sequences in two pages are
 * ignored. */
void sm_fuse(struct sm_uop *u, struct sm_note *notes, const struct sm_core *core);

#endif
