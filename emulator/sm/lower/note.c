/* Notes on instructions, for check and profile modes. */
#include "emulator/sm/lower/lower.h"

const char *const sm_class_names[SM_CLASS_COUNT] = {
#define X(name, text) [SM_CLASS_##name] = text,
    SM_CLASSES(X)
#undef X
};

void sm_note_slot(struct sm_note *note, unsigned slot, unsigned count, bool written, bool address) {
  const struct sm_use use = {(uint16_t)slot, (uint8_t)count, address};
  if (slot < SM_SLOT_UR)
    return;
  if (written && note->write_count < SM_NOTE_WRITES)
    note->write[note->write_count++] = use;
  else if (!written && note->read_count < SM_NOTE_READS)
    note->read[note->read_count++] = use;
}

/* Class and memory accesses of each supported operation. */
static const struct {
  uint8_t class, space, access;
} operations[SM_OP_COUNT] = {
#define X(op, class, space, access)                                                                \
  [SM_OP_##op] = {SM_CLASS_##class, SM_SPACE_##space, SM_ACCESS_##access},
    SM_EXECUTED(X)
#undef X
};

static void note_operation(struct sm_note *note, unsigned op, unsigned handler) {
  if (handler == SM_H_not_implemented || handler == SM_H_register_range)
    return;
  const bool moves = handler == SM_H_mov_reg || handler == SM_H_mov_scalar;
  note->klass = moves ? SM_CLASS_MOVE : operations[op].class;
  note->space = operations[op].space;
  note->access = operations[op].access;
}

/* Returns whether the access is strong in PTX's terms. Two strong accesses do not race. */
static bool is_strong(const struct sm_note *note, unsigned sem) {
  if (note->access == SM_ACCESS_ATOMIC)
    return true;
  if (note->space != SM_SPACE_GLOBAL && note->space != SM_SPACE_GENERIC)
    return false;
  switch (sem) {
  case SM_SEM_STRONG_SM:
  case SM_SEM_STRONG_GPU_PRIVATE:
  case SM_SEM_STRONG_GPU:
  case SM_SEM_MMIO_GPU:
  case SM_SEM_STRONG_SYS:
  case SM_SEM_MMIO_SYS:
    return true;
  default:
    return note->access == SM_ACCESS_STORE && sem == SM_SEM_W_STRONG_SM_PRIVATE;
  }
}

/* Returns whether the instruction is bar.warp.sync or lets lanes exchange values. ptxas compiles
 * bar.warp.sync to a NOP where the lanes are known to be converged. Elsewhere it emits WARPSYNC,
 * perhaps after a branch by which converged lanes skip it (observed with CUDA 13.0). */
static bool syncs_warp(unsigned op, unsigned handler) {
  switch (handler) {
  case SM_H_warpsync:
  case SM_H_bra_cond:
  case SM_H_shfl:
  case SM_H_vote:
  case SM_H_match:
  case SM_H_redux:
    return true;
  default:
    return op == SM_OP_NOP;
  }
}

/* Records how the instruction orders CTAs. Fences of a wider scope than the CTA, and the atomics
 * that locks use, release and acquire. Atomics that return a value, volatile loads, and CCTL.IVALL
 * (the last part of an acquire) acquire. */
static void note_order(struct sm_note *note, const struct sm_insn *insn) {
  const bool fence = insn->op == SM_OP_MEMBAR && insn->mod[SM_MOD_SCOPE] != SM_SCOPE_CTA;
  const bool global = note->space == SM_SPACE_GLOBAL || note->space == SM_SPACE_GENERIC;
  note->releases_all = fence || (global && note->acquires);
  note->acquires_all =
      note->releases_all || insn->op == SM_OP_CCTL_ALL ||
      (global && note->strong && note->access != SM_ACCESS_STORE && note->write_count);
}

static bool is_cas(uint16_t op) {
  return op == SM_OP_ATOM_CAS || op == SM_OP_ATOMG_CAS || op == SM_OP_ATOMS_CAS;
}

static bool add_places(struct sm_note *note, const struct sm_use *use, unsigned count,
                       uint32_t preds) {
  for (unsigned k = 0; k < count; k++)
    for (unsigned word = 0; word < use[k].count; word++) {
      if (note->places == SM_NOTE_PLACES)
        return false;
      note->place[note->places++] = (uint16_t)(use[k].slot + word);
    }
  for (uint32_t left = preds; left; left &= left - 1) {
    if (note->places == SM_NOTE_PLACES)
      return false;
    note->place[note->places++] = (uint16_t)(SM_NOTE_PREDS + __builtin_ctz(left));
  }
  return true;
}

/* Returns whether check mode has more to do than to check values, memory and scoreboards. */
static bool is_special(const struct sm_note *note) {
  switch (note->handler) {
  case SM_H_warpsync:
  case SM_H_bra_cond:
  case SM_H_ldc:
  case SM_H_bar:
  case SM_H_ldsm:
    return true;
  default:
    return note->klass == SM_CLASS_TENSOR || note->acquires || note->syncs_warp ||
           note->releases_all || note->acquires_all;
  }
}

/* Returns whether the instruction only computes registers and predicates from others. */
static bool only_computes(const struct sm_note *note) {
  return !note->is_special && note->handler != SM_H_shfl && note->handler != SM_H_r2p &&
         note->space == SM_SPACE_NONE && note->write_sb >= SM_SCOREBOARDS &&
         note->read_sb >= SM_SCOREBOARDS;
}

static void note_places(struct sm_note *note, const struct sm_uop *u) {
  const bool has_guard = u->guard % SM_PRED_UNIFORM < SM_PRED_TRUE;
  note->has_places = add_places(note, note->read, note->read_count, note->preds_read);
  note->sources = note->places;
  note->has_places =
      note->has_places && add_places(note, note->read, 0, has_guard ? 1u << u->guard : 0);
  note->places_read = note->places;
  note->has_places =
      note->has_places && add_places(note, note->write, note->write_count, note->preds_written);
  note->is_special = is_special(note);
  note->is_plain = note->has_places && only_computes(note);
  note->is_quick = note->is_plain && note->places <= SM_NOTE_QUICK;
  if (u->scalar_slot != SM_NO_SLOT && u->scalar_kind == 0 && note->write_count &&
      u->imm >= SM_PARAMETERS_AT && u->imm < SM_PARAMETERS_END)
    note->parameter = (uint16_t)(u->imm / 4);
}

void sm_note_finish(struct sm_note *note, const struct sm_insn *insn, unsigned handler,
                    const struct sm_uop *u) {
  /* Access size in bytes, by the size argument of the uop. */
  static const uint8_t bytes[] = {1, 1, 2, 2, 4, 8, 16};
  note->handler = (uint8_t)handler;
  note_operation(note, insn->op, handler);
  note->wait_mask = insn->wait_mask;
  note->write_sb = insn->write_sb;
  /* At -O0, ptxas of CUDA 13.5 emits no scoreboards and stall counts of 0, and uses results in the
   * next instruction. Optimised code has stall counts of at least 1. */
  note->is_alone = insn->stall == 0;
  note->read_sb = insn->read_sb;
  if (note->space != SM_SPACE_NONE)
    note->bytes = handler == SM_H_atom_inc        ? 4
                  : u->memory.size < sizeof bytes ? bytes[u->memory.size]
                                                  : 4;
  if (handler == SM_H_ldc && u->ldc.size < sizeof bytes)
    note->bytes = bytes[u->ldc.size];
  note->acquires = is_cas(insn->op) || handler == SM_H_arrive || handler == SM_H_arrive_generic ||
                   (note->access == SM_ACCESS_ATOMIC && handler != SM_H_atom_inc && !u->atom.cas &&
                    u->atom.operation == SM_ATOM_EXCH);
  note->strong = is_strong(note, insn->mod[SM_MOD_SEM]);
  note->compares = is_cas(insn->op);
  note->syncs_warp = syncs_warp(insn->op, handler);
  note->has_result = note->write_sb < SM_SCOREBOARDS ||
                     ((note->space == SM_SPACE_GLOBAL || note->space == SM_SPACE_LOCAL) &&
                      note->access != SM_ACCESS_STORE && !note->is_alone);
  note_order(note, insn);
  if (note->space == SM_SPACE_COPY)
    for (unsigned k = 0; k < note->read_count; k++)
      note->read[k].address = true;
  if (handler == SM_H_brx)
    for (unsigned k = 0; k < note->read_count; k++)
      note->read[k].address = true;
  /* DEPBAR waits for one scoreboard and for a set of others. */
  if (insn->op == SM_OP_DEPBAR || insn->op == SM_OP_DEPBAR_LE)
    for (unsigned k = 0; k < insn->operand_count; k++) {
      const struct sm_operand *o = &insn->operand[k];
      if (o->kind == SM_OPERAND_SCOREBOARD)
        note->wait_mask |= (uint8_t)(1u << o->value);
      else if (o->kind == SM_OPERAND_SCOREBOARD_SET)
        note->wait_mask |= (uint8_t)o->value;
    }
  if (note->klass != SM_CLASS_CONSTANT && note->klass != SM_CLASS_CONTROL && note->write_count &&
      note->write[0].slot < SM_SLOT_R)
    note->klass = SM_CLASS_UNIFORM;
  note_places(note, u);
}

/* Returns the source operands whose pointer the result keeps, as a mask of slots. */
static unsigned pointer_operands(const struct sm_uop *u, unsigned handler) {
  const bool by_one = u->scalar_slot == 1 && u->scalar_kind == SM_SCALAR_IMM && u->imm == 1;
  switch (handler) {
  case SM_H_mov_reg:
  case SM_H_mov_scalar:
  case SM_H_iadd3:
  case SM_H_iadd3_plain:
  case SM_H_iadd3_rrr:
  case SM_H_iadd3_rsr:
  case SM_H_iadd_cc:
  case SM_H_iadd_cc_rs:
  case SM_H_iadd_x:
  case SM_H_iadd_x_rs:
  case SM_H_iadd_carry:
    return 7;
  case SM_H_imad:
  case SM_H_imad_rrr:
  case SM_H_imad_rsr:
    return by_one ? 5 : 4;
  case SM_H_imad_wide:
  case SM_H_imad_wide_plain:
    return 4;
  case SM_H_lea:
  case SM_H_lea_plain:
  case SM_H_lea_high:
    return 2;
  default:
    return 0;
  }
}

/* Returns whether a sum has a negated register, which may be a pointer that was kept in memory. */
static bool subtracts_register(const struct sm_uop *u) {
  for (unsigned slot = 0; slot < 3; slot++)
    if (u->mods >> (2 * slot) & 3u && u->scalar_slot != slot &&
        u->s[slot] / SM_REG_BYTES >= SM_SLOT_UR)
      return true;
  return false;
}

static enum sm_pointer_rule pointer_rule(const struct sm_note *note) {
  if (note->space == SM_SPACE_LOCAL || note->space == SM_SPACE_GENERIC)
    return SM_POINTERS_PRIVATE;
  switch (note->handler) {
  case SM_H_ldc:
    return SM_POINTERS_CONSTANT;
  case SM_H_sel:
    return SM_POINTERS_SELECT;
  case SM_H_imad_wide:
  case SM_H_imad_wide_plain:
    return SM_POINTERS_WIDE_SUM;
  case SM_H_shfl:
  case SM_H_r2ur:
    return SM_POINTERS_COPY;
  default:
    return note->pointer_operands         ? SM_POINTERS_SUM
           : note->space == SM_SPACE_NONE ? SM_POINTERS_UNKNOWN
                                          : SM_POINTERS_NONE;
  }
}

void sm_note_pointers(struct sm_note *note, const struct sm_uop *u) {
  uint8_t modified = 0;
  for (unsigned slot = 0; slot < 3; slot++)
    modified |= (uint8_t)((u->mods >> (2 * slot) & 3u) != 0) << slot;
  note->pointer_operands = (uint8_t)pointer_operands(u, note->handler);
  note->pointer_rule = (uint8_t)pointer_rule(note);
  note->pointer_operands &= (uint8_t)~modified;
  note->subtracts = subtracts_register(u);
}
