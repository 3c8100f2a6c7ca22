/* The notes on instructions that check and profile modes go by. */
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

static enum sm_class class_of(unsigned handler) {
  static const uint8_t classes[SM_HANDLER_COUNT] = {
      [SM_H_mov_reg] = SM_CLASS_MOVE,
      [SM_H_mov_scalar] = SM_CLASS_MOVE,
      [SM_H_sel] = SM_CLASS_MOVE,
      [SM_H_fsel] = SM_CLASS_MOVE,
      [SM_H_s2r] = SM_CLASS_MOVE,
      [SM_H_s2r64] = SM_CLASS_MOVE,
      [SM_H_p2r] = SM_CLASS_MOVE,
      [SM_H_r2p] = SM_CLASS_MOVE,
      [SM_H_iadd3] = SM_CLASS_INTEGER,
      [SM_H_iadd3_plain] = SM_CLASS_INTEGER,
      [SM_H_iadd3_rrr] = SM_CLASS_INTEGER,
      [SM_H_iadd3_rsr] = SM_CLASS_INTEGER,
      [SM_H_imad] = SM_CLASS_INTEGER,
      [SM_H_imad_rrr] = SM_CLASS_INTEGER,
      [SM_H_imad_rsr] = SM_CLASS_INTEGER,
      [SM_H_imad_wide] = SM_CLASS_INTEGER,
      [SM_H_imad_wide_plain] = SM_CLASS_INTEGER,
      [SM_H_lea] = SM_CLASS_INTEGER,
      [SM_H_lea_plain] = SM_CLASS_INTEGER,
      [SM_H_lop3] = SM_CLASS_INTEGER,
      [SM_H_shf] = SM_CLASS_INTEGER,
      [SM_H_shl] = SM_CLASS_INTEGER,
      [SM_H_shr] = SM_CLASS_INTEGER,
      [SM_H_sar] = SM_CLASS_INTEGER,
      [SM_H_isetp] = SM_CLASS_INTEGER,
      [SM_H_imnmx] = SM_CLASS_INTEGER,
      [SM_H_iabs] = SM_CLASS_INTEGER,
      [SM_H_popc] = SM_CLASS_INTEGER,
      [SM_H_brev] = SM_CLASS_INTEGER,
      [SM_H_flo] = SM_CLASS_INTEGER,
      [SM_H_sgxt] = SM_CLASS_INTEGER,
      [SM_H_bmsk] = SM_CLASS_INTEGER,
      [SM_H_prmt] = SM_CLASS_INTEGER,
      [SM_H_prmt_imm] = SM_CLASS_INTEGER,
      [SM_H_dp4a] = SM_CLASS_INTEGER,
      [SM_H_dp2a] = SM_CLASS_INTEGER,
      [SM_H_absdiff] = SM_CLASS_INTEGER,
      [SM_H_absdiff4] = SM_CLASS_INTEGER,
      [SM_H_plop3] = SM_CLASS_INTEGER,
      [SM_H_plop3_sign] = SM_CLASS_INTEGER,
      [SM_H_fadd] = SM_CLASS_FLOAT,
      [SM_H_fadd_rr] = SM_CLASS_FLOAT,
      [SM_H_fadd_rs] = SM_CLASS_FLOAT,
      [SM_H_fmul] = SM_CLASS_FLOAT,
      [SM_H_fmul_rr] = SM_CLASS_FLOAT,
      [SM_H_fmul_rs] = SM_CLASS_FLOAT,
      [SM_H_ffma] = SM_CLASS_FLOAT,
      [SM_H_ffma_rrr] = SM_CLASS_FLOAT,
      [SM_H_ffma_neg] = SM_CLASS_FLOAT,
      [SM_H_ffma_rsr] = SM_CLASS_FLOAT,
      [SM_H_ffma_rrs] = SM_CLASS_FLOAT,
      [SM_H_fmnmx] = SM_CLASS_FLOAT,
      [SM_H_fsetp] = SM_CLASS_FLOAT,
      [SM_H_fset] = SM_CLASS_FLOAT,
      [SM_H_fchk] = SM_CLASS_FLOAT,
      [SM_H_fswzadd] = SM_CLASS_FLOAT,
      [SM_H_fmul_scaled] = SM_CLASS_FLOAT,
      [SM_H_dadd] = SM_CLASS_DOUBLE,
      [SM_H_dmul] = SM_CLASS_DOUBLE,
      [SM_H_dfma] = SM_CLASS_DOUBLE,
      [SM_H_dsetp] = SM_CLASS_DOUBLE,
      [SM_H_hfma2] = SM_CLASS_HALF,
      [SM_H_hmnmx2] = SM_CLASS_HALF,
      [SM_H_hset2] = SM_CLASS_HALF,
      [SM_H_hsetp2] = SM_CLASS_HALF,
      [SM_H_mufu] = SM_CLASS_SPECIAL,
      [SM_H_mufu_f16] = SM_CLASS_SPECIAL,
      [SM_H_i2i_sat] = SM_CLASS_CONVERSION,
      [SM_H_i2ip] = SM_CLASS_CONVERSION,
      [SM_H_f2i] = SM_CLASS_CONVERSION,
      [SM_H_f2i_fast] = SM_CLASS_CONVERSION,
      [SM_H_i2f] = SM_CLASS_CONVERSION,
      [SM_H_i2f_fast] = SM_CLASS_CONVERSION,
      [SM_H_f2f] = SM_CLASS_CONVERSION,
      [SM_H_frnd] = SM_CLASS_CONVERSION,
      [SM_H_f2fp] = SM_CLASS_CONVERSION,
      [SM_H_f2ip] = SM_CLASS_CONVERSION,
      [SM_H_ld_global] = SM_CLASS_GLOBAL,
      [SM_H_st_global] = SM_CLASS_GLOBAL,
      [SM_H_ld_generic] = SM_CLASS_GLOBAL,
      [SM_H_st_generic] = SM_CLASS_GLOBAL,
      [SM_H_ldgsts] = SM_CLASS_GLOBAL,
      [SM_H_ld_shared] = SM_CLASS_SHARED,
      [SM_H_st_shared] = SM_CLASS_SHARED,
      [SM_H_ld_local] = SM_CLASS_LOCAL,
      [SM_H_st_local] = SM_CLASS_LOCAL,
      [SM_H_ldc] = SM_CLASS_CONSTANT,
      [SM_H_atom] = SM_CLASS_ATOMIC,
      [SM_H_atom_shared] = SM_CLASS_ATOMIC,
      [SM_H_atom_inc] = SM_CLASS_ATOMIC,
      [SM_H_fence] = SM_CLASS_BARRIER,
      [SM_H_bar] = SM_CLASS_BARRIER,
      [SM_H_b2r] = SM_CLASS_BARRIER,
      [SM_H_vote] = SM_CLASS_WARP,
      [SM_H_shfl] = SM_CLASS_WARP,
      [SM_H_match] = SM_CLASS_WARP,
      [SM_H_redux] = SM_CLASS_WARP,
      [SM_H_warpsync] = SM_CLASS_WARP,
      [SM_H_r2ur] = SM_CLASS_UNIFORM,
      [SM_H_hmma] = SM_CLASS_TENSOR,
      [SM_H_dmma] = SM_CLASS_TENSOR,
      [SM_H_imma] = SM_CLASS_TENSOR,
      [SM_H_bmma] = SM_CLASS_TENSOR,
      [SM_H_movm] = SM_CLASS_TENSOR,
      [SM_H_ldsm] = SM_CLASS_SHARED,
      [SM_H_arrive] = SM_CLASS_ATOMIC,
      [SM_H_arrive_generic] = SM_CLASS_ATOMIC,
      [SM_H_bra] = SM_CLASS_CONTROL,
      [SM_H_bra_far] = SM_CLASS_CONTROL,
      [SM_H_bra_cond] = SM_CLASS_CONTROL,
      [SM_H_brx] = SM_CLASS_CONTROL,
      [SM_H_exit] = SM_CLASS_CONTROL,
      [SM_H_bssy] = SM_CLASS_CONTROL,
      [SM_H_bsync] = SM_CLASS_CONTROL,
      [SM_H_break_] = SM_CLASS_CONTROL,
      [SM_H_yield] = SM_CLASS_CONTROL,
      [SM_H_bmov] = SM_CLASS_CONTROL,
      [SM_H_lepc] = SM_CLASS_CONTROL,
  };
  return classes[handler];
}

/* How each memory handler goes to which memory. */
static void note_memory(struct sm_note *note, unsigned handler) {
  static const struct {
    uint8_t handler, space, access;
  } rows[] = {
      {SM_H_ld_global, SM_SPACE_GLOBAL, SM_ACCESS_LOAD},
      {SM_H_st_global, SM_SPACE_GLOBAL, SM_ACCESS_STORE},
      {SM_H_ld_generic, SM_SPACE_GENERIC, SM_ACCESS_LOAD},
      {SM_H_st_generic, SM_SPACE_GENERIC, SM_ACCESS_STORE},
      {SM_H_ld_shared, SM_SPACE_SHARED, SM_ACCESS_LOAD},
      {SM_H_st_shared, SM_SPACE_SHARED, SM_ACCESS_STORE},
      {SM_H_ld_local, SM_SPACE_LOCAL, SM_ACCESS_LOAD},
      {SM_H_st_local, SM_SPACE_LOCAL, SM_ACCESS_STORE},
      {SM_H_atom, SM_SPACE_GENERIC, SM_ACCESS_ATOMIC},
      {SM_H_atom_shared, SM_SPACE_SHARED, SM_ACCESS_ATOMIC},
      {SM_H_atom_inc, SM_SPACE_SHARED, SM_ACCESS_ATOMIC},
      {SM_H_ldgsts, SM_SPACE_COPY, SM_ACCESS_LOAD},
      {SM_H_ldsm, SM_SPACE_SHARED, SM_ACCESS_LOAD},
      {SM_H_arrive, SM_SPACE_SHARED, SM_ACCESS_ATOMIC},
      {SM_H_arrive_generic, SM_SPACE_GENERIC, SM_ACCESS_ATOMIC},
  };
  for (unsigned k = 0; k < sizeof rows / sizeof rows[0]; k++)
    if (rows[k].handler == handler) {
      note->space = rows[k].space;
      note->access = rows[k].access;
    }
}

/* Accesses that PTX calls strong: they do not race with each other. */
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

/* bar.warp.sync, which ptxas makes a NOP where it knows that the lanes are together, and
 * otherwise WARPSYNC, perhaps after a branch for lanes that are (tried with CUDA 13.0);
 * and what lanes exchange values by. */
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

/* Order between CTAs: fences beyond the CTA and what locks are made of both ways;
 * atomics that return a value, volatile loads and CCTL.IVALL (after an acquire) see
 * what others have released. */
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

void sm_note_finish(struct sm_note *note, const struct sm_insn *insn, unsigned handler,
                    const struct sm_uop *u) {
  /* By the size field of uops that access memory. */
  static const uint8_t bytes[] = {1, 1, 2, 2, 4, 8, 16};
  note->handler = (uint8_t)handler;
  note->klass = (uint8_t)class_of(handler);
  note->wait_mask = insn->wait_mask;
  note->write_sb = insn->write_sb;
  /* ptxas of CUDA 13.5 gives no instruction a scoreboard or a stall count at -O0, and uses
   * results in the next one. Optimised code has stall counts of 1 and more. */
  note->is_alone = insn->stall == 0;
  note->read_sb = insn->read_sb;
  note_memory(note, handler);
  if (note->space != SM_SPACE_NONE)
    note->bytes = handler == SM_H_atom_inc ? 4 : u->x[0] < sizeof bytes ? bytes[u->x[0]] : 4;
  if (handler == SM_H_ldc && u->x[0] < sizeof bytes)
    note->bytes = bytes[u->x[0]];
  note->acquires = is_cas(insn->op) || handler == SM_H_arrive || handler == SM_H_arrive_generic ||
                   (note->access == SM_ACCESS_ATOMIC && handler != SM_H_atom_inc && !u->x[3] &&
                    u->x[4] == SM_ATOM_EXCH);
  note->strong = is_strong(note, insn->mod[SM_MOD_SEM]);
  note->compares = is_cas(insn->op);
  note->syncs_warp = syncs_warp(insn->op, handler);
  note_order(note, insn);
  if (note->space == SM_SPACE_COPY)
    for (unsigned k = 0; k < note->read_count; k++)
      note->read[k].address = true;
  if (handler == SM_H_brx)
    for (unsigned k = 0; k < note->read_count; k++)
      note->read[k].address = true;
  /* DEPBAR: the scoreboard that it names, and a set of others. */
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
}
