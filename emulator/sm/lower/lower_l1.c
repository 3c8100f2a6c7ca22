/* Lowering for modelled L1 caches (l1.h): replaces handlers that access memory by those that use
 * the caches. */
#include "emulator/sm/l1.h"
#include "emulator/sm/lower/lower.h"

bool sm_is_cached(const struct sm_insn *insn) {
  switch (insn->mod[SM_MOD_SEM]) {
  case SM_SEM_STRONG_GPU_PRIVATE:
  case SM_SEM_STRONG_GPU:
  case SM_SEM_MMIO_GPU:
  case SM_SEM_STRONG_SYS:
  case SM_SEM_MMIO_SYS:
    return false;
  default:
    return true;
  }
}

static bool is_constant(const struct sm_insn *insn) {
  return insn->mod[SM_MOD_SEM] != SM_SEM_NONE && insn->mod[SM_MOD_SEM] != SM_SEM_STRONG_SM;
}

void sm_lower_l1(struct sm_uop *u, const struct sm_insn *insn, const struct sm_core *core,
                 sm_handler *handler) {
  static const uint8_t through[SM_HANDLER_COUNT] = {
      [SM_H_ld_global] = SM_H_l1_ld_global, [SM_H_ld_generic] = SM_H_l1_ld_generic,
      [SM_H_st_global] = SM_H_l1_st_global, [SM_H_st_generic] = SM_H_l1_st_generic,
      [SM_H_atom] = SM_H_l1_atom,           [SM_H_ldgsts] = SM_H_l1_ldgsts,
  };
  switch (insn->op) {
  case SM_OP_LDG:
  case SM_OP_LD:
    if (!sm_is_cached(insn))
      return;
    u->load.is_constant = is_constant(insn);
    break;
  case SM_OP_LDGSTS:
    /* .BYPASS is cp.async.cg: "only at global level" (PTX ISA) */
    if (insn->mod[SM_MOD_BYPASS] == SM_BYPASS_BYPASS)
      return;
    break;
  case SM_OP_CCTL_ALL:
  case SM_OP_CCTL:
    /* CCTL.IV of one line also drops all lines. */
    if (insn->mod[SM_MOD_CCTL] == SM_CCTL_IVALL || insn->mod[SM_MOD_CCTL] == SM_CCTL_IVALLP ||
        insn->mod[SM_MOD_CCTL] == SM_CCTL_IV)
      *handler = core->handler[SM_H_l1_invalidate];
    return;
  default:
    break;
  }
  for (unsigned from = 0; from < SM_HANDLER_COUNT; from++)
    if (through[from] && *handler == core->handler[from])
      *handler = core->handler[through[from]];
}
