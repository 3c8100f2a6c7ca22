/* Replaces 64-bit arithmetic by 32-bit arithmetic if only the lower half of the result is used.
 * OpenCL's work-item functions return size_t, and many programs convert the result to int.
 * clang then moves the truncation after the arithmetic, and extends an index by shifting it
 * left and back. GPUs have 32-bit registers, and NVRTC does not undo this.
 */
#include "compiler/lower/narrow.h"

#include <llvm-c/Core.h>
#include <llvm-c/DebugInfo.h>
#include <stdlib.h>

enum { WIDE = 64, HALF = 32 };

static bool has_bits(LLVMValueRef value, unsigned bits) {
  LLVMTypeRef type = LLVMTypeOf(value);
  return LLVMGetTypeKind(type) == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(type) == bits;
}

static bool has_opcode(LLVMValueRef value, LLVMOpcode opcode) {
  return LLVMIsAInstruction(value) && LLVMGetInstructionOpcode(value) == opcode;
}

static bool read_constant(LLVMValueRef value, uint64_t *number) {
  if (!LLVMIsAConstantInt(value))
    return false;
  *number = LLVMConstIntGetZExtValue(value);
  return true;
}

static bool is_constant(LLVMValueRef value, uint64_t number) {
  uint64_t found;
  return read_constant(value, &found) && found == number;
}

/* ---- values whose lower half is zero --------------------------------------------------- */

/* Returns the upper half of value if its lower half is zero: for x << 32, and for that plus a
 * constant. Returns NULL otherwise. New instructions are inserted at the builder's position. */
static LLVMValueRef upper_half(LLVMBuilderRef builder, LLVMValueRef value) {
  LLVMTypeRef half = LLVMIntTypeInContext(LLVMGetTypeContext(LLVMTypeOf(value)), HALF);
  uint64_t number;
  if (read_constant(value, &number))
    return number << HALF ? NULL : LLVMConstInt(half, number >> HALF, false);
  if (has_opcode(value, LLVMShl) && is_constant(LLVMGetOperand(value, 1), HALF))
    return LLVMBuildTrunc(builder, LLVMGetOperand(value, 0), half, "");
  if (!has_opcode(value, LLVMAdd) || !LLVMIsAConstantInt(LLVMGetOperand(value, 1)) ||
      !has_opcode(LLVMGetOperand(value, 0), LLVMShl))
    return NULL;
  LLVMValueRef right = upper_half(builder, LLVMGetOperand(value, 1));
  LLVMValueRef left = right ? upper_half(builder, LLVMGetOperand(value, 0)) : NULL;
  return left ? LLVMBuildAdd(builder, left, right, "") : NULL;
}

static bool may_have_upper_half(LLVMValueRef value) {
  return has_opcode(value, LLVMShl) || has_opcode(value, LLVMAdd);
}

/* Replaces a right shift by 32 by an extension of the upper half, and a comparison by one
 * of the upper halves. Returns NULL for other instructions. */
static LLVMValueRef without_shift(LLVMBuilderRef builder, LLVMValueRef value) {
  LLVMValueRef left = LLVMGetNumOperands(value) == 2 ? LLVMGetOperand(value, 0) : NULL;
  if (!left || !has_bits(left, WIDE) || !may_have_upper_half(left))
    return NULL;
  LLVMTypeRef type = LLVMTypeOf(left);
  uint64_t shift;
  if (has_opcode(value, LLVMAShr) && read_constant(LLVMGetOperand(value, 1), &shift) &&
      shift < WIDE) {
    LLVMValueRef half = upper_half(builder, left);
    if (!half)
      return NULL;
    LLVMValueRef wide = LLVMBuildSExt(builder, half, type, "");
    if (shift == HALF)
      return wide;
    return shift < HALF ? LLVMBuildShl(builder, wide, LLVMConstInt(type, HALF - shift, false), "")
                        : LLVMBuildAShr(builder, wide, LLVMConstInt(type, shift - HALF, false), "");
  }
  if (has_opcode(value, LLVMICmp)) {
    LLVMValueRef other = upper_half(builder, LLVMGetOperand(value, 1));
    LLVMValueRef half = other ? upper_half(builder, left) : NULL;
    return half ? LLVMBuildICmp(builder, LLVMGetICmpPredicate(value), half, other, "") : NULL;
  }
  return NULL;
}

static void replace_instruction(LLVMValueRef old, LLVMValueRef new) {
  LLVMReplaceAllUsesWith(old, new);
  LLVMInstructionEraseFromParent(old);
}

/* Makes the builder insert before this instruction, with its source line. */
static void position_before(LLVMBuilderRef builder, LLVMValueRef instruction) {
  LLVMPositionBuilderBefore(builder, instruction);
  LLVMSetCurrentDebugLocation2(builder, LLVMInstructionGetDebugLoc(instruction));
}

#define FOR_INSTRUCTIONS(instruction, next, function)                                              \
  for (LLVMBasicBlockRef block_ = LLVMGetFirstBasicBlock(function); block_;                        \
       block_ = LLVMGetNextBasicBlock(block_))                                                     \
    for (LLVMValueRef instruction = LLVMGetFirstInstruction(block_), next;                         \
         instruction && (next = LLVMGetNextInstruction(instruction), true); instruction = next)

static void remove_shifts(LLVMBuilderRef builder, LLVMValueRef function) {
  FOR_INSTRUCTIONS(instruction, next, function) {
    position_before(builder, instruction);
    LLVMValueRef new = without_shift(builder, instruction);
    if (!new)
      continue;
    LLVMValueRef shifted = LLVMGetOperand(instruction, 0);
    replace_instruction(instruction, new);
    /* Remove the unused x << 32 or its sum with a constant; otherwise x would stay 64-bit. */
    while (has_opcode(shifted, LLVMShl) || has_opcode(shifted, LLVMAdd)) {
      if (LLVMGetFirstUse(shifted))
        break;
      LLVMValueRef below = LLVMGetOperand(shifted, 0);
      LLVMInstructionEraseFromParent(shifted);
      shifted = below;
    }
  }
}

/* ---- values of which only the lower half is used ----------------------------------------- */

/* The instructions to be narrowed, sorted by their addresses. */
struct candidates {
  LLVMValueRef *list;
  LLVMValueRef *low; /* the lower half of each candidate; before that, a freeze to be replaced */
  bool *rejected;    /* more than the lower half is used */
  size_t count, room;
};

static int compare_values(const void *a, const void *b) {
  const LLVMValueRef *left = a, *right = b;
  return *left < *right ? -1 : *left > *right;
}

static size_t find_candidate(const struct candidates *c, LLVMValueRef value) {
  if (!c->count)
    return SIZE_MAX;
  const LLVMValueRef *found = bsearch(&value, c->list, c->count, sizeof value, compare_values);
  return found && !c->rejected[found - c->list] ? (size_t)(found - c->list) : SIZE_MAX;
}

/* Whether the lower half of the value depends only on the lower halves of its operands. */
static bool is_narrowable(LLVMValueRef value) {
  uint64_t shift;
  if (!has_bits(value, WIDE))
    return false;
  switch (LLVMGetInstructionOpcode(value)) {
  case LLVMAdd:
  case LLVMSub:
  case LLVMMul:
  case LLVMAnd:
  case LLVMOr:
  case LLVMXor:
  case LLVMPHI:
  case LLVMSelect:
    return true;
  case LLVMShl:
    return read_constant(LLVMGetOperand(value, 1), &shift) && shift < HALF;
  default:
    return false;
  }
}

static bool collect_candidates(struct candidates *c, LLVMValueRef function) {
  FOR_INSTRUCTIONS(instruction, next, function) {
    if (!is_narrowable(instruction) || !LLVMGetFirstUse(instruction))
      continue;
    if (c->count == c->room) {
      const size_t room = c->room ? 2 * c->room : 64;
      LLVMValueRef *more = realloc(c->list, room * sizeof *more);
      if (!more)
        return false;
      c->list = more;
      c->room = room;
    }
    c->list[c->count++] = instruction;
  }
  if (!c->count)
    return true;
  qsort(c->list, c->count, sizeof *c->list, compare_values);
  c->low = calloc(c->count, sizeof *c->low);
  c->rejected = calloc(c->count, sizeof *c->rejected);
  return c->low && c->rejected;
}

static bool uses_upper_half(const struct candidates *c, LLVMValueRef value) {
  for (LLVMUseRef use = LLVMGetFirstUse(value); use; use = LLVMGetNextUse(use)) {
    LLVMValueRef user = LLVMGetUser(use);
    if (!has_opcode(user, LLVMTrunc) || LLVMGetIntTypeWidth(LLVMTypeOf(user)) > HALF)
      if (find_candidate(c, user) == SIZE_MAX)
        return true;
  }
  return false;
}

/* Rejects values whose upper halves are used, and then the operands of rejected values.
 * Goes backwards, because most uses follow the definition. */
static void reject_wide_uses(const struct candidates *c) {
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t i = c->count; i-- > 0;)
      if (!c->rejected[i] && uses_upper_half(c, c->list[i]))
        changed = c->rejected[i] = true;
  }
}

/* Makes the truncations of value use low instead. The builder folds a truncation to 32 bits. */
static void replace_truncations(LLVMBuilderRef builder, LLVMValueRef value, LLVMValueRef low) {
  for (LLVMUseRef use = LLVMGetFirstUse(value), next; use; use = next) {
    LLVMValueRef user = LLVMGetUser(use);
    next = LLVMGetNextUse(use);
    if (!has_opcode(user, LLVMTrunc))
      continue;
    position_before(builder, user);
    replace_instruction(user, LLVMBuildTrunc(builder, low, LLVMTypeOf(user), ""));
  }
}

/* Returns the lower half of an operand: for candidates, the one in c->low. */
static LLVMValueRef low_half(LLVMBuilderRef builder, const struct candidates *c, LLVMTypeRef half,
                             LLVMValueRef value) {
  const size_t i = find_candidate(c, value);
  uint64_t number;
  if (i != SIZE_MAX)
    return c->low[i];
  if (read_constant(value, &number))
    return LLVMConstInt(half, (uint32_t)number, false);
  if ((has_opcode(value, LLVMZExt) || has_opcode(value, LLVMSExt)) &&
      has_bits(LLVMGetOperand(value, 0), HALF))
    return LLVMGetOperand(value, 0);
  return LLVMBuildTrunc(builder, value, half, "");
}

static LLVMValueRef narrow_phi(LLVMBuilderRef builder, const struct candidates *c, LLVMTypeRef half,
                               LLVMValueRef phi) {
  LLVMValueRef new = LLVMBuildPhi(builder, half, "");
  const unsigned count = LLVMCountIncoming(phi);
  for (unsigned i = 0; i < count; i++) {
    LLVMBasicBlockRef block = LLVMGetIncomingBlock(phi, i);
    position_before(builder, LLVMGetBasicBlockTerminator(block));
    LLVMValueRef value = low_half(builder, c, half, LLVMGetIncomingValue(phi, i));
    LLVMAddIncoming(new, &value, &block, 1);
  }
  return new;
}

/* Builds a 32-bit version of the instruction. */
static LLVMValueRef narrow_instruction(LLVMBuilderRef builder, const struct candidates *c,
                                       LLVMTypeRef half, LLVMValueRef value) {
  position_before(builder, value);
  const LLVMOpcode opcode = LLVMGetInstructionOpcode(value);
  if (opcode == LLVMPHI)
    return narrow_phi(builder, c, half, value);
  const bool select = opcode == LLVMSelect;
  LLVMValueRef left = low_half(builder, c, half, LLVMGetOperand(value, select ? 1 : 0));
  LLVMValueRef right = low_half(builder, c, half, LLVMGetOperand(value, select ? 2 : 1));
  return select ? LLVMBuildSelect(builder, LLVMGetOperand(value, 0), left, right, "")
                : LLVMBuildBinOp(builder, opcode, left, right, "");
}

/* The placeholders are freeze instructions, because the builder does not fold them. */
static void narrow_candidates(LLVMBuilderRef builder, const struct candidates *c,
                              LLVMTypeRef half) {
  for (size_t i = 0; i < c->count; i++)
    if (!c->rejected[i]) {
      position_before(builder, c->list[i]);
      c->low[i] = LLVMBuildFreeze(builder, LLVMGetUndef(half), "");
    }
  for (size_t i = 0; i < c->count; i++)
    if (!c->rejected[i]) {
      LLVMValueRef new = narrow_instruction(builder, c, half, c->list[i]);
      replace_instruction(c->low[i], new);
      c->low[i] = new;
    }

  for (size_t i = 0; i < c->count; i++)
    if (!c->rejected[i])
      replace_truncations(builder, c->list[i], c->low[i]);
  for (size_t i = 0; i < c->count; i++)
    if (!c->rejected[i])
      replace_instruction(c->list[i], LLVMGetUndef(LLVMTypeOf(c->list[i])));
}

/* ---- work-item functions --------------------------------------------------------------- */

/* The function that returns a 64-bit sum, and the device library's function for its lower half. */
static const char global_id[] = "_Z13get_global_idj", global_id_low[] = "_Z15__global_id_lowj";

static void narrow_calls(LLVMBuilderRef builder, LLVMModuleRef module, LLVMTypeRef half) {
  LLVMValueRef function = LLVMGetNamedFunction(module, global_id);
  LLVMTypeRef type = LLVMFunctionType(half, &half, 1, false);
  const struct candidates none = {0};
  LLVMValueRef low = NULL;
  for (LLVMUseRef use = function ? LLVMGetFirstUse(function) : NULL, next; use; use = next) {
    LLVMValueRef call = LLVMGetUser(use);
    next = LLVMGetNextUse(use);
    if (!has_opcode(call, LLVMCall) || LLVMGetCalledValue(call) != function ||
        uses_upper_half(&none, call))
      continue;
    if (!low)
      low = LLVMAddFunction(module, global_id_low, type);
    LLVMValueRef dimension = LLVMGetOperand(call, 0);
    position_before(builder, call);
    replace_truncations(builder, call, LLVMBuildCall2(builder, type, low, &dimension, 1, ""));
    LLVMInstructionEraseFromParent(call);
  }
}

static bool narrow_arithmetic(LLVMBuilderRef builder, LLVMTypeRef half, LLVMValueRef function) {
  struct candidates c = {0};
  const bool good = collect_candidates(&c, function);
  if (good) {
    reject_wide_uses(&c);
    narrow_candidates(builder, &c, half);
  }
  free(c.list);
  free(c.low);
  free(c.rejected);
  return good;
}

bool narrow_module(LLVMModuleRef module) {
  LLVMContextRef context = LLVMGetModuleContext(module);
  LLVMBuilderRef builder = LLVMCreateBuilderInContext(context);
  LLVMTypeRef half = LLVMInt32TypeInContext(context);
  bool good = true;
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f && good; f = LLVMGetNextFunction(f)) {
    remove_shifts(builder, f);
    good = narrow_arithmetic(builder, half, f);
  }
  narrow_calls(builder, module, half);
  LLVMDisposeBuilder(builder);
  return good;
}
