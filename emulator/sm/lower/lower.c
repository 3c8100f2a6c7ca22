/* Lowers a decoded instruction to the compact form that the interpreter executes: selects the
 * handler, converts registers to offsets, and checks them against the number of registers of the
 * launch. */
#include "emulator/sm/lower/lower.h"

bool sm_general_handlers;

/* UPT is the same as PT. */
static uint8_t guard_of(const struct sm_insn *insn) {
  const bool uniform = insn->guard_uniform && insn->guard != SM_PRED_TRUE;
  return (uint8_t)(insn->guard + (uniform ? SM_PRED_UNIFORM : 0));
}

void sm_lower(struct sm_uop *u, const struct sm_insn *insn, uint64_t pc, uint32_t registers,
              const struct sm_core *core, struct sm_note *note) {
  struct lowering l = {
      .u = u, .insn = insn, .registers = registers, .next_pc = pc + SM_INSN_BYTES, .note = note};
  *u = (struct sm_uop){
      .d = SM_SLOT_DISCARD * SM_REG_BYTES,
      .guard = guard_of(insn),
      .guard_xor = insn->guard_not ? ~0u : 0,
      .uniform = insn->guard_uniform, /* a uniform guard: executed for the whole warp */
      .scalar_slot = SM_NO_SLOT,
      .pd = SM_PRED_DISCARD,
      .pe = SM_PRED_DISCARD,
      .pp = SM_PRED_TRUE,
      .pq = SM_PRED_TRUE,
      .pr = SM_PRED_TRUE,
  };
  unsigned handler = SM_H_not_implemented;
  if (sm_lower_operation[insn->op])
    handler = sm_lower_operation[insn->op](&l);
  if (l.unsupported)
    handler = SM_H_not_implemented;
  else if (l.out_of_range)
    handler = SM_H_register_range;
  if (note)
    sm_note_finish(note, insn, handler, u); /* about the general form */
  if (!sm_general_handlers)
    handler = sm_specialise(u, handler);
  u->handler = core->handler[handler];
  if (l.bindless && !l.unsupported && !l.out_of_range) { /* binds the bank, then calls execute */
    u->execute = u->handler;
    u->handler = core->handler[SM_H_bindless];
  }
  if (note) {
    note->handler = (uint8_t)handler;
    sm_note_pointers(note, u);
    note->execute = u->handler;
    u->handler = core->watch;
  }
}
