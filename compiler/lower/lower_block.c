/* The body of a function. Basic blocks become labels and branches become gotos. Each
 * phi has a second variable, which the predecessors set and the head of the block
 * copies, so that no copy overwrites a value that another phi needs. */
#include <stdlib.h>
#include <string.h>

#include "compiler/lower/lower_state.h"

static unsigned block_number(struct lower *lower, LLVMBasicBlockRef block) {
  return (unsigned)strtoul(lower_use(lower, LLVMBasicBlockAsValue(block), 0) + 1, NULL, 10);
}

/* Reachable blocks in reverse post-order: every definition comes
 * before its uses, except for uses in phis. */
struct order {
  LLVMBasicBlockRef *blocks;
  unsigned count;
};

static bool find_order(struct lower *lower, LLVMValueRef function, struct order *order) {
  unsigned count = LLVMCountBasicBlocks(function), depth = 0, filled = count, number = 0;
  struct {
    LLVMBasicBlockRef block;
    unsigned next;
  } *stack = arena_alloc(&lower->names, count, sizeof *stack);
  bool *seen = arena_alloc(&lower->names, count, sizeof *seen);
  LLVMBasicBlockRef *blocks = arena_alloc(&lower->names, count, sizeof(LLVMBasicBlockRef));
  if (!stack || !seen || !blocks) {
    lower_fail(lower, "out of memory");
    return false;
  }
  for (LLVMBasicBlockRef at = LLVMGetFirstBasicBlock(function); at; at = LLVMGetNextBasicBlock(at))
    lower_alias(lower, LLVMBasicBlockAsValue(at), 0, lower_print(lower, "B%u", number++));
  stack[depth].block = LLVMGetEntryBasicBlock(function);
  stack[depth++].next = 0;
  seen[block_number(lower, stack[0].block)] = true;
  while (depth) {
    LLVMValueRef end = LLVMGetBasicBlockTerminator(stack[depth - 1].block);
    if (stack[depth - 1].next == LLVMGetNumSuccessors(end)) {
      blocks[--filled] = stack[--depth].block;
      continue;
    }
    LLVMBasicBlockRef successor = LLVMGetSuccessor(end, stack[depth - 1].next++);
    unsigned index = block_number(lower, successor);
    if (!seen[index]) {
      seen[index] = true;
      stack[depth].block = successor;
      stack[depth++].next = 0;
    }
  }
  order->blocks = blocks + filled;
  order->count = count - filled;
  return true;
}

/* Whether a phi, perhaps by way of other phis, of which it looks at *limit, is an argument of a
 * function in device/matrix.cuh. */
static bool feeds_matrices(LLVMValueRef phi, unsigned *limit) {
  for (LLVMUseRef use = LLVMGetFirstUse(phi); use; use = LLVMGetNextUse(use)) {
    LLVMValueRef user = LLVMGetUser(use);
    if (LLVMIsACallInst(user) && lower_call_is_matrix(LLVMGetCalledValue(user)))
      return true;
    if (!LLVMIsAPHINode(user) || !*limit)
      continue;
    --*limit;
    if (feeds_matrices(user, limit))
      return true;
  }
  return false;
}

/* Returns how many leaves of a phi share a variable vi. The instructions of the tensor cores take
 * words of 32 bits, and NVRTC would pack and unpack smaller elements at each turn of a loop. */
static unsigned leaves_of_word(const struct leaves *leaves, LLVMValueRef phi) {
  enum { OTHER_PHIS = 8 };
  unsigned limit = OTHER_PHIS;
  const enum scalar kind = leaves->count ? leaves->at[0].kind : SCALAR_U32;
  const unsigned bits = kind == SCALAR_U8 ? 8 : kind == SCALAR_U16 || kind == SCALAR_HALF ? 16 : 32;
  const bool packs = LLVMGetTypeKind(LLVMTypeOf(phi)) == LLVMVectorTypeKind && bits < 32 &&
                     leaves->count % (32 / bits) == 0 && feeds_matrices(phi, &limit);
  return packs ? 32 / bits : 1;
}

/* Declares for each variable v of the phi's leaves, or the first of each word, a variable vi, which
 * the predecessors set. */
static void declare_phi(struct lower *lower, LLVMValueRef phi) {
  struct leaves leaves = lower_leaves(lower, LLVMTypeOf(phi));
  const unsigned each = leaves_of_word(&leaves, phi);
  for (unsigned i = 0; i < leaves.count; i++) {
    const char *name = lower_variable(lower, phi, i, leaves.at[i].kind);
    struct text *locals = &lower->locals[each > 1 ? SCALAR_U32 : leaves.at[i].kind];
    if (i % each == 0)
      text_printf(locals, "%s%s%si", locals->size ? ", " : "",
                  leaves.at[i].kind == SCALAR_POINTER ? "*" : "", name);
  }
}

/* Sets a phi's variables to the leaves of a value. */
static void set_phi(struct lower *lower, LLVMValueRef phi, LLVMValueRef value) {
  struct leaves leaves = lower_leaves(lower, LLVMTypeOf(phi));
  const unsigned each = leaves_of_word(&leaves, phi);
  for (unsigned i = 0; i < leaves.count; i += each) {
    text_printf(&lower->body,
                each > 1 ? "%si = ocl::word_of(" : "%si = ", lower_use(lower, phi, i));
    for (unsigned k = 0; k < each; k++)
      text_printf(&lower->body, k ? ", %s" : "%s", lower_use(lower, value, i + k));
    text_puts(&lower->body, each > 1 ? ");\n" : ";\n");
  }
}

/* Copies a phi's variables at the head of its block. */
static void copy_phi(struct lower *lower, LLVMValueRef phi) {
  struct leaves leaves = lower_leaves(lower, LLVMTypeOf(phi));
  const unsigned each = leaves_of_word(&leaves, phi);
  for (unsigned i = 0; i < leaves.count; i++) {
    const char *name = lower_use(lower, phi, i);
    if (each > 1)
      text_printf(&lower->body, "%s = ocl::part_of_word<%s>(%si, %u);\n", name,
                  scalar_names[leaves.at[i].kind], lower_use(lower, phi, i - i % each), i % each);
    else
      text_printf(&lower->body, "%s = %si;\n", name, name);
  }
}

static bool is_phi(LLVMValueRef instruction) {
  return instruction && LLVMGetInstructionOpcode(instruction) == LLVMPHI;
}

static void set_phis(struct lower *lower, LLVMBasicBlockRef from, LLVMBasicBlockRef to) {
  for (LLVMValueRef phi = LLVMGetFirstInstruction(to); is_phi(phi);
       phi = LLVMGetNextInstruction(phi)) {
    for (unsigned k = 0; k < LLVMCountIncoming(phi); k++) {
      if (LLVMGetIncomingBlock(phi, k) != from)
        continue;
      if (!LLVMIsUndef(LLVMGetIncomingValue(phi, k)))
        set_phi(lower, phi, LLVMGetIncomingValue(phi, k));
      break;
    }
  }
}

static void print_switch(struct lower *lower, LLVMValueRef instruction) {
  unsigned operands = (unsigned)LLVMGetNumOperands(instruction);
  text_printf(&lower->body, "switch (%s) {\n", lower_use(lower, LLVMGetOperand(instruction, 0), 0));
  for (unsigned i = 2; i + 1 < operands; i += 2)
    text_printf(&lower->body, "case %s: goto %s;\n",
                lower_use(lower, LLVMGetOperand(instruction, i), 0),
                lower_use(lower, LLVMGetOperand(instruction, i + 1), 0));
  text_printf(&lower->body, "default: goto %s;\n}\n",
              lower_use(lower, LLVMGetOperand(instruction, 1), 0));
}

static void print_return(struct lower *lower, LLVMValueRef instruction) {
  LLVMValueRef value = LLVMGetNumOperands(instruction) ? LLVMGetOperand(instruction, 0) : NULL;
  unsigned leaves = value ? lower_leaf_count(lower, LLVMTypeOf(value)) : 0;
  if (leaves == 0) {
    text_puts(&lower->body, "return;\n");
    return;
  }
  if (leaves == 1) {
    text_printf(&lower->body, "return %s;\n", lower_use(lower, value, 0));
    return;
  }
  text_puts(&lower->body, "return {");
  for (unsigned i = 0; i < leaves; i++)
    text_printf(&lower->body, "%s%s", i ? ", " : "", lower_use(lower, value, i));
  text_puts(&lower->body, "};\n");
}

static void print_terminator(struct lower *lower, LLVMBasicBlockRef block,
                             LLVMValueRef instruction) {
  for (unsigned i = 0; i < LLVMGetNumSuccessors(instruction); i++) {
    LLVMBasicBlockRef to = LLVMGetSuccessor(instruction, i);
    bool repeated = false;
    for (unsigned k = 0; k < i && !repeated; k++)
      repeated = LLVMGetSuccessor(instruction, k) == to;
    if (!repeated)
      set_phis(lower, block, to);
  }
  switch (LLVMGetInstructionOpcode(instruction)) {
  case LLVMBr:
    /* NVRTC unrolls loops and duplicates the code after a condition into both paths, which
     * separates lanes that are together in the source. An opaque condition prevents both. */
    if (LLVMIsConditional(instruction))
      text_printf(&lower->body,
                  lower->function->uses_active ? "if (opaque_(%s)) goto %s;\n"
                                               : "if (%s) goto %s;\n",
                  lower_use(lower, LLVMGetCondition(instruction), 0),
                  lower_use(lower, LLVMBasicBlockAsValue(LLVMGetSuccessor(instruction, 0)), 0));
    text_printf(&lower->body, "goto %s;\n",
                lower_use(lower,
                          LLVMBasicBlockAsValue(
                              LLVMGetSuccessor(instruction, LLVMGetNumSuccessors(instruction) - 1)),
                          0));
    break;
  case LLVMSwitch:
    print_switch(lower, instruction);
    break;
  case LLVMRet:
    print_return(lower, instruction);
    break;
  case LLVMUnreachable:
    text_puts(&lower->body, "__builtin_unreachable();\n");
    break;
  default:
    lower_fail(lower, "branch instructions of kind %d are not supported",
               (int)LLVMGetInstructionOpcode(instruction));
  }
}

static void print_alloca(struct lower *lower, LLVMValueRef instruction) {
  LLVMValueRef count = LLVMGetOperand(instruction, 0);
  LLVMTypeRef type = LLVMGetAllocatedType(instruction);
  if (!LLVMIsAConstantInt(count)) {
    lower_fail(lower, "private arrays of variable length are not supported");
    return;
  }
  unsigned long long size = lower_size(lower, type) * LLVMConstIntGetZExtValue(count);
  const char *name = lower_print(lower, "m%u", lower->next_name++);
  text_printf(&lower->arrays, "__align__(%u) u8 %s[%llu];\n",
              lower_array_align(LLVMGetAlignment(instruction), size), name, size ? size : 1);
  lower_alias(lower, instruction, 0, lower_print(lower, "((char *)%s)", name));
}

static void print_extract_element(struct lower *lower, LLVMValueRef instruction) {
  LLVMValueRef vector = LLVMGetOperand(instruction, 0), place = LLVMGetOperand(instruction, 1);
  unsigned lanes = LLVMGetVectorSize(LLVMTypeOf(vector));
  if (LLVMIsAConstantInt(place)) {
    uint64_t lane = LLVMConstIntGetZExtValue(place);
    lower_alias(lower, instruction, 0, lower_use(lower, vector, lane < lanes ? (unsigned)lane : 0));
    return;
  }
  struct leaves leaves = lower_leaves(lower, LLVMTypeOf(instruction));
  const char *index = lower_use(lower, place, 0);
  text_printf(&lower->body, "%s = ", lower_variable(lower, instruction, 0, leaves.at[0].kind));
  for (unsigned i = 0; i + 1 < lanes; i++)
    text_printf(&lower->body, "%s == %u ? %s : ", index, i, lower_use(lower, vector, i));
  text_printf(&lower->body, "%s;\n", lower_use(lower, vector, lanes - 1));
}

static void print_insert_element(struct lower *lower, LLVMValueRef instruction) {
  LLVMValueRef vector = LLVMGetOperand(instruction, 0), place = LLVMGetOperand(instruction, 2);
  const char *value = lower_use(lower, LLVMGetOperand(instruction, 1), 0);
  struct leaves leaves = lower_leaves(lower, LLVMTypeOf(instruction));
  bool fixed = LLVMIsAConstantInt(place) != NULL;
  uint64_t lane = fixed ? LLVMConstIntGetZExtValue(place) : 0;
  for (unsigned i = 0; i < leaves.count; i++) {
    const char *old = lower_use(lower, vector, i);
    if (fixed)
      lower_alias(lower, instruction, i, lane == i ? value : old);
    else
      text_printf(&lower->body, "%s = %s == %u ? %s : %s;\n",
                  lower_variable(lower, instruction, i, leaves.at[i].kind),
                  lower_use(lower, place, 0), i, value, old);
  }
}

static void print_shuffle(struct lower *lower, LLVMValueRef instruction) {
  LLVMValueRef first = LLVMGetOperand(instruction, 0), second = LLVMGetOperand(instruction, 1);
  unsigned lanes = LLVMGetVectorSize(LLVMTypeOf(first));
  for (unsigned i = 0; i < LLVMGetNumMaskElements(instruction); i++) {
    int from = LLVMGetMaskValue(instruction, i);
    const char *text = from < 0 ? lower_use(lower, LLVMGetUndef(LLVMTypeOf(first)), 0)
                       : (unsigned)from < lanes ? lower_use(lower, first, (unsigned)from)
                                                : lower_use(lower, second, (unsigned)from - lanes);
    lower_alias(lower, instruction, i, text);
  }
}

/* Returns the first leaf of the part that an extractvalue or insertvalue accesses. */
static unsigned part_leaf(struct lower *lower, LLVMValueRef instruction, LLVMTypeRef type) {
  const unsigned *indices = LLVMGetIndices(instruction);
  unsigned leaf = 0;
  for (unsigned i = 0; i < LLVMGetNumIndices(instruction); i++) {
    leaf += lower_leaf_of_element(lower, type, indices[i]);
    type = lower_element_type(type, indices[i]);
  }
  return leaf;
}

static void print_extract_value(struct lower *lower, LLVMValueRef instruction) {
  LLVMValueRef whole = LLVMGetOperand(instruction, 0);
  unsigned first = part_leaf(lower, instruction, LLVMTypeOf(whole));
  for (unsigned i = 0; i < lower_leaf_count(lower, LLVMTypeOf(instruction)); i++)
    lower_alias(lower, instruction, i, lower_use(lower, whole, first + i));
}

static void print_insert_value(struct lower *lower, LLVMValueRef instruction) {
  LLVMValueRef whole = LLVMGetOperand(instruction, 0), part = LLVMGetOperand(instruction, 1);
  unsigned first = part_leaf(lower, instruction, LLVMTypeOf(whole));
  unsigned count = lower_leaf_count(lower, LLVMTypeOf(part));
  for (unsigned i = 0; i < lower_leaf_count(lower, LLVMTypeOf(instruction)); i++)
    lower_alias(lower, instruction, i,
                i >= first && i < first + count ? lower_use(lower, part, i - first)
                                                : lower_use(lower, whole, i));
}

static bool is_same_bits(LLVMOpcode opcode, const struct leaves *from, const struct leaves *to) {
  return opcode == LLVMFreeze || opcode == LLVMAddrSpaceCast ||
         (opcode == LLVMBitCast && from->count == to->count && from->count &&
          from->at[0].kind == to->at[0].kind);
}

static void print_pure(struct lower *lower, LLVMValueRef instruction, LLVMOpcode opcode) {
  struct leaves to = lower_leaves(lower, LLVMTypeOf(instruction));
  struct leaves from = lower_leaves(lower, LLVMTypeOf(LLVMGetOperand(instruction, 0)));
  for (unsigned i = lower_half_pairs(lower, instruction, ""); i < to.count; i++) {
    const char *text = lower_expression(lower, instruction, opcode, i);
    if (is_same_bits(opcode, &from, &to))
      lower_alias(lower, instruction, i, text);
    else
      text_printf(&lower->body, "%s = %s;\n", lower_variable(lower, instruction, i, to.at[i].kind),
                  text);
  }
}

static void print_instruction(struct lower *lower, LLVMBasicBlockRef block,
                              LLVMValueRef instruction) {
  LLVMOpcode opcode = LLVMGetInstructionOpcode(instruction);
  if (LLVMIsATerminatorInst(instruction)) {
    print_terminator(lower, block, instruction);
    return;
  }
  if (lower_is_pure(opcode)) {
    print_pure(lower, instruction, opcode);
    return;
  }
  switch (opcode) {
  case LLVMPHI:
    copy_phi(lower, instruction);
    break;
  case LLVMAlloca:
    print_alloca(lower, instruction);
    break;
  case LLVMLoad:
    lower_load(lower, instruction);
    break;
  case LLVMStore:
    lower_store(lower, instruction);
    break;
  case LLVMAtomicRMW:
  case LLVMAtomicCmpXchg:
    lower_atomic(lower, instruction);
    break;
  case LLVMFence:
    lower_fence(lower, instruction);
    break;
  case LLVMCall:
    lower_call(lower, instruction);
    break;
  case LLVMExtractElement:
    print_extract_element(lower, instruction);
    break;
  case LLVMInsertElement:
    print_insert_element(lower, instruction);
    break;
  case LLVMShuffleVector:
    print_shuffle(lower, instruction);
    break;
  case LLVMExtractValue:
    print_extract_value(lower, instruction);
    break;
  case LLVMInsertValue:
    print_insert_value(lower, instruction);
    break;
  default: {
    char *text = LLVMPrintValueToString(instruction);
    lower_fail(lower, "the instruction '%.200s' is not supported", text);
    LLVMDisposeMessage(text);
  }
  }
}

void lower_body(struct lower *lower, LLVMValueRef function) {
  struct order order;
  if (!find_order(lower, function, &order))
    return;
  for (unsigned i = 0; i < order.count; i++)
    for (LLVMValueRef phi = LLVMGetFirstInstruction(order.blocks[i]); is_phi(phi);
         phi = LLVMGetNextInstruction(phi))
      declare_phi(lower, phi);
  for (unsigned i = 0; i < order.count && !lower->failed; i++) {
    const char *label = lower_use(lower, LLVMBasicBlockAsValue(order.blocks[i]), 0);
    text_printf(&lower->body, "%s:; ", label);
    if (lower->function->uses_active) /* keeps NVRTC from merging identical blocks */
      text_printf(&lower->body, "asm volatile(\"// %s\"); ", label);
    for (LLVMValueRef at = LLVMGetFirstInstruction(order.blocks[i]); at && !lower->failed;
         at = LLVMGetNextInstruction(at)) {
      lower_line(lower, at, &lower->body);
      size_t start = lower->body.size;
      print_instruction(lower, order.blocks[i], at);
      lower_join_lines(&lower->body, start);
    }
  }
}
