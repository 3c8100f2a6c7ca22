/* Checks that the interpreter supports the instructions that ptxas emits for sm_87. Of the recorded
 * words (isa_corpus.txt), exactly those of cube maps must be lowered to "not implemented", as
 * docs/emulator/instructions.md states. So must a form that no compiler emits.
 *
 *   isa_lowered ISA_CORPUS.TXT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emulator/sm/state.h"
#include "gpu/isa/insn.h"

enum { MOST_REGISTERS = 255 };

static bool is_not_executed(const char *text) {
  return strstr(text, "CUBE");
}

/* For an SGXT with a constant operand ptxas 13.0 emits a bank that does not exist. */
static bool names_invalid_bank(const struct sm_insn *insn) {
  for (unsigned k = 0; k < insn->operand_count; k++)
    if (insn->operand[k].kind == SM_OPERAND_CONST && insn->operand[k].bank >= SM_BANKS)
      return insn->op == SM_OP_SGXT;
  return false;
}

/* Returns whether HFMA2.RELU with a predicate, a form whose meaning is not known, is rejected
 * although it decodes. */
static bool refuses_unknown_form(const struct sm_core *core) {
  const uint64_t word[2] = {0x3000001cff106231, 0x000000000002850c};
  struct sm_insn insn;
  struct sm_uop u;
  if (!sm_decode(word, &insn) || insn.op != SM_OP_HFMA2)
    return false;
  sm_lower(&u, &insn, 0, MOST_REGISTERS, core, NULL);
  return u.handler == core->handler[SM_H_not_implemented];
}

int main(int argc, char **argv) {
  FILE *file = argc > 1 ? fopen(argv[1], "r") : NULL;
  if (!file) {
    fprintf(stderr, "usage: isa_lowered ISA_CORPUS.TXT\n");
    return 2;
  }
  const struct sm_core *core = sm_core();
  unsigned words = 0, executed = 0, failures = 0;
  for (char line[512]; fgets(line, sizeof line, file);) {
    uint64_t word[2];
    struct sm_insn insn;
    struct sm_uop u;
    char text[256];
    if (line[0] == '#')
      continue;
    if (sscanf(line, "%16llx%16llx", (unsigned long long *)&word[1],
               (unsigned long long *)&word[0]) != 2 ||
        !sm_decode(word, &insn)) {
      printf("not an instruction: %s", line);
      failures++;
      continue;
    }
    sm_lower(&u, &insn, 0, MOST_REGISTERS, core, NULL);
    words++;
    const bool lacking = u.handler == core->handler[SM_H_not_implemented] ||
                         u.handler == core->handler[SM_H_register_range];
    executed += !lacking;
    sm_disassemble(&insn, 0, text, sizeof text);
    if (lacking != (is_not_executed(text) || names_invalid_bank(&insn))) {
      printf("%s: %s\n", lacking ? "not executed" : "executed, but listed as lacking", text);
      failures++;
    }
  }
  fclose(file);
  if (!refuses_unknown_form(core)) {
    printf("executed: HFMA2.RELU with a predicate\n");
    failures++;
  }
  printf("%u words, %u executed, %u failures\n", words, executed, failures);
  return failures || !executed;
}
