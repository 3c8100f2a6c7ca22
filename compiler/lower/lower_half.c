/* Pairs of halves: one instruction of the half unit computes two adjacent elements of a vector. */
#include <string.h>

#include "compiler/lower/lower_state.h"

static const struct {
  LLVMOpcode opcode;
  const char *function; /* for a call: the name of the intrinsic in lower.cuh */
  const char *pair;     /* in half.cuh */
  unsigned operands;
} pairs[] = {
    {LLVMFAdd, "", "half_add_pair", 2},      {LLVMFSub, "", "half_sub_pair", 2},
    {LLVMFMul, "", "half_mul_pair", 2},      {LLVMCall, "fma_", "half_fma_pair", 3},
    {LLVMCall, "fmin_", "half_min_pair", 2}, {LLVMCall, "fmax_", "half_max_pair", 2},
};

unsigned lower_half_pairs(struct lower *lower, LLVMValueRef instruction, const char *function) {
  struct leaves leaves = lower_leaves(lower, LLVMTypeOf(instruction));
  if (leaves.count < 2 || leaves.at[0].kind != SCALAR_HALF)
    return 0;
  size_t k = 0;
  while (k < sizeof pairs / sizeof pairs[0] &&
         (pairs[k].opcode != LLVMGetInstructionOpcode(instruction) ||
          strcmp(pairs[k].function, function)))
    k++;
  if (k == sizeof pairs / sizeof pairs[0])
    return 0;
  unsigned done = 0;
  for (; done + 2 <= leaves.count; done += 2) {
    const char *first = lower_variable(lower, instruction, done, SCALAR_HALF);
    const char *second = lower_variable(lower, instruction, done + 1, SCALAR_HALF);
    text_printf(&lower->body, "ocl::%s(%s, %s", pairs[k].pair, first, second);
    for (unsigned i = 0; i < pairs[k].operands; i++) {
      LLVMValueRef operand = LLVMGetOperand(instruction, i);
      text_printf(&lower->body, ", %s, %s", lower_use(lower, operand, done),
                  lower_use(lower, operand, done + 1));
    }
    text_puts(&lower->body, ");\n");
  }
  return done;
}
