/* Prints pure operations as C expressions: arithmetic, comparisons, casts and
 * address arithmetic, for instructions and constant expressions alike.
 * Handles one leaf (an element of a vector) at a time. */
#include <inttypes.h>
#include <string.h>

#include "compiler/lower/lower_state.h"

static const struct {
  LLVMOpcode opcode;
  const char *sign;
} arithmetic[] = {
    {LLVMAdd, "+"},  {LLVMSub, "-"},  {LLVMMul, "*"},  {LLVMUDiv, "/"},  {LLVMURem, "%"},
    {LLVMSDiv, "/"}, {LLVMSRem, "%"}, {LLVMShl, "<<"}, {LLVMLShr, ">>"}, {LLVMAShr, ">>"},
    {LLVMAnd, "&"},  {LLVMOr, "|"},   {LLVMXor, "^"},  {LLVMFAdd, "+"},  {LLVMFSub, "-"},
    {LLVMFMul, "*"}, {LLVMFDiv, "/"},
};

static const struct {
  LLVMIntPredicate predicate;
  const char *sign;
  bool is_signed;
} comparisons[] = {
    {LLVMIntEQ, "==", false},  {LLVMIntNE, "!=", false}, {LLVMIntUGT, ">", false},
    {LLVMIntUGE, ">=", false}, {LLVMIntULT, "<", false}, {LLVMIntULE, "<=", false},
    {LLVMIntSGT, ">", true},   {LLVMIntSGE, ">=", true}, {LLVMIntSLT, "<", true},
    {LLVMIntSLE, "<=", true},
};

/* a and b are the operands. Unordered comparisons are negations of the
 * opposite ordered ones, which are false for a NaN. */
static const struct {
  LLVMRealPredicate predicate;
  const char *before, *sign, *after;
} real_comparisons[] = {
    {LLVMRealOEQ, "", "==", ""},    {LLVMRealOGT, "", ">", ""},    {LLVMRealOGE, "", ">=", ""},
    {LLVMRealOLT, "", "<", ""},     {LLVMRealOLE, "", "<=", ""},   {LLVMRealUNE, "", "!=", ""},
    {LLVMRealUGT, "!(", "<=", ")"}, {LLVMRealUGE, "!(", "<", ")"}, {LLVMRealULT, "!(", ">=", ")"},
    {LLVMRealULE, "!(", ">", ")"},
};

bool lower_is_pure(LLVMOpcode opcode) {
  for (size_t i = 0; i < sizeof arithmetic / sizeof arithmetic[0]; i++)
    if (arithmetic[i].opcode == opcode)
      return true;
  switch (opcode) {
  case LLVMFRem:
  case LLVMFNeg:
  case LLVMICmp:
  case LLVMFCmp:
  case LLVMSelect:
  case LLVMTrunc:
  case LLVMZExt:
  case LLVMSExt:
  case LLVMFPTrunc:
  case LLVMFPExt:
  case LLVMFPToUI:
  case LLVMFPToSI:
  case LLVMUIToFP:
  case LLVMSIToFP:
  case LLVMPtrToInt:
  case LLVMIntToPtr:
  case LLVMBitCast:
  case LLVMAddrSpaceCast:
  case LLVMGetElementPtr:
  case LLVMFreeze:
    return true;
  default:
    return false;
  }
}

static const char *use_operand(struct lower *lower, LLVMValueRef value, unsigned number,
                               unsigned leaf) {
  return lower_use(lower, LLVMGetOperand(value, number), leaf);
}

static struct leaf leaf_of(struct lower *lower, LLVMTypeRef type, unsigned index) {
  struct leaves leaves = lower_leaves(lower, type);
  return index < leaves.count ? leaves.at[index] : (struct leaf){.kind = SCALAR_U32, .bits = 32};
}

/* Conversions between half and other numbers go through float. */
static const char *as_float(struct lower *lower, const struct leaf *leaf, const char *expression) {
  return leaf->kind == SCALAR_HALF ? lower_print(lower, "(float)%s", expression) : expression;
}

static const char *print_arithmetic(struct lower *lower, LLVMValueRef value, LLVMOpcode opcode,
                                    unsigned index) {
  struct leaf leaf = leaf_of(lower, LLVMTypeOf(value), index);
  const char *a = use_operand(lower, value, 0, index), *b = use_operand(lower, value, 1, index);
  const char *sign = "";
  for (size_t i = 0; i < sizeof arithmetic / sizeof arithmetic[0]; i++)
    if (arithmetic[i].opcode == opcode)
      sign = arithmetic[i].sign;
  if (!scalar_is_integer(leaf.kind))
    return lower_print(lower, "%s %s %s", a, sign, b);
  if (leaf.kind == SCALAR_U1024 && strchr("*/%", *sign))
    lower_fail(lower, "the operator %s is not supported for integers of %u bits", sign, leaf.bits);
  const char *mask = lower_mask(lower, &leaf), *name = scalar_names[leaf.kind];
  if (opcode == LLVMSDiv || opcode == LLVMSRem) {
    a = lower_signed(lower, &leaf, a);
    b = lower_signed(lower, &leaf, b);
  } else if (opcode == LLVMAShr) {
    a = lower_signed(lower, &leaf, a);
  } else if (leaf.kind < SCALAR_U32 && opcode != LLVMAnd && opcode != LLVMOr && opcode != LLVMXor) {
    /* C would promote to int, whose overflow is undefined. */
    a = lower_print(lower, "(u32)%s", a);
    b = lower_print(lower, "(u32)%s", b);
  }
  if (leaf.kind == SCALAR_BOOL)
    return lower_print(lower, "(%s %s %s) & 1", a, sign, b);
  return lower_print(lower, "(%s)(%s %s %s)%s", name, a, sign, b, mask);
}

static const char *print_icmp(struct lower *lower, LLVMValueRef value, unsigned index) {
  struct leaf leaf = leaf_of(lower, LLVMTypeOf(LLVMGetOperand(value, 0)), index);
  LLVMIntPredicate predicate = LLVMGetICmpPredicate(value);
  const char *a = use_operand(lower, value, 0, index), *b = use_operand(lower, value, 1, index);
  for (size_t i = 0; i < sizeof comparisons / sizeof comparisons[0]; i++) {
    if (comparisons[i].predicate != predicate)
      continue;
    if (comparisons[i].is_signed) {
      if (leaf.kind == SCALAR_POINTER)
        leaf.kind = SCALAR_U64;
      a = lower_signed(lower, &leaf, a);
      b = lower_signed(lower, &leaf, b);
    }
    return lower_print(lower, "%s %s %s", a, comparisons[i].sign, b);
  }
  lower_fail(lower, "integer comparison predicate %d is not supported", (int)predicate);
  return "false";
}

static const char *print_fcmp(struct lower *lower, LLVMValueRef value, unsigned index) {
  LLVMRealPredicate predicate = LLVMGetFCmpPredicate(value);
  const char *a = use_operand(lower, value, 0, index), *b = use_operand(lower, value, 1, index);
  for (size_t i = 0; i < sizeof real_comparisons / sizeof real_comparisons[0]; i++)
    if (real_comparisons[i].predicate == predicate)
      return lower_print(lower, "%s%s %s %s%s", real_comparisons[i].before, a,
                         real_comparisons[i].sign, b, real_comparisons[i].after);
  switch (predicate) {
  case LLVMRealORD:
    return lower_print(lower, "%s == %s && %s == %s", a, a, b, b);
  case LLVMRealUNO:
    return lower_print(lower, "%s != %s || %s != %s", a, a, b, b);
  case LLVMRealONE:
    return lower_print(lower, "%s < %s || %s > %s", a, b, a, b);
  case LLVMRealUEQ:
    return lower_print(lower, "!(%s < %s || %s > %s)", a, b, a, b);
  case LLVMRealPredicateTrue:
    return "true";
  default:
    return "false";
  }
}

static const char *print_select(struct lower *lower, LLVMValueRef value, unsigned index) {
  LLVMTypeRef condition = LLVMTypeOf(LLVMGetOperand(value, 0));
  bool is_vector = LLVMGetTypeKind(condition) == LLVMVectorTypeKind;
  return lower_print(lower, "%s ? %s : %s", use_operand(lower, value, 0, is_vector ? index : 0),
                     use_operand(lower, value, 1, index), use_operand(lower, value, 2, index));
}

/* Prints the base address plus the sum of indices times element sizes. */
static const char *print_address(struct lower *lower, LLVMValueRef value, unsigned index) {
  LLVMTypeRef type = LLVMGetGEPSourceElementType(value);
  bool is_vector = LLVMGetTypeKind(LLVMTypeOf(value)) == LLVMVectorTypeKind;
  unsigned operands = (unsigned)LLVMGetNumOperands(value);
  uint64_t fixed = 0;
  LLVMValueRef base = LLVMGetOperand(value, 0);
  bool base_vector = LLVMGetTypeKind(LLVMTypeOf(base)) == LLVMVectorTypeKind;
  const char *text = lower_use(lower, base, is_vector && base_vector ? index : 0);

  for (unsigned i = 1; i < operands; i++) {
    LLVMValueRef step = LLVMGetOperand(value, i);
    LLVMTypeRef step_type = LLVMTypeOf(step);
    if (i > 1 && LLVMGetTypeKind(type) == LLVMStructTypeKind) {
      unsigned field = (unsigned)LLVMConstIntGetZExtValue(step);
      fixed += LLVMOffsetOfElement(lower->layout, type, field);
      type = LLVMStructGetTypeAtIndex(type, field);
      continue;
    }
    uint64_t size;
    if (i > 1) {
      LLVMTypeRef container = type;
      type = LLVMGetElementType(type);
      size = LLVMGetTypeKind(container) == LLVMVectorTypeKind
                 ? LLVMStoreSizeOfType(lower->layout, type)
                 : lower_size(lower, type);
    } else {
      size = lower_size(lower, type);
    }
    if (LLVMIsAConstantInt(step)) {
      fixed += (uint64_t)LLVMConstIntGetSExtValue(step) * size;
      continue;
    }
    unsigned lane = LLVMGetTypeKind(step_type) == LLVMVectorTypeKind ? index : 0;
    struct leaf leaf = leaf_of(lower, step_type, lane);
    const char *number = lower_signed(lower, &leaf, lower_use(lower, step, lane));
    text = size == 1 ? lower_print(lower, "%s + (s64)%s", text, number)
                     : lower_print(lower, "%s + (s64)%s * %" PRIu64, text, number, size);
  }
  if (fixed)
    text = lower_print(lower, "%s + (s64)%" PRId64, text, (int64_t)fixed);
  return text;
}

/* Returns the bits of an expression as an unsigned integer of the same width. */
static const char *to_bits(struct lower *lower, const struct leaf *leaf, const char *expression) {
  switch (leaf->kind) {
  case SCALAR_FLOAT:
    return lower_print(lower, "__float_as_uint(%s)", expression);
  case SCALAR_DOUBLE:
    return lower_print(lower, "(u64)__double_as_longlong(%s)", expression);
  case SCALAR_POINTER:
    return lower_print(lower, "(u64)%s", expression);
  case SCALAR_HALF:
    return lower_print(lower, "(%s).bits", expression);
  default:
    return expression;
  }
}

static const char *from_bits(struct lower *lower, const struct leaf *leaf, const char *expression) {
  switch (leaf->kind) {
  case SCALAR_FLOAT:
    return lower_print(lower, "__uint_as_float(%s)", expression);
  case SCALAR_DOUBLE:
    return lower_print(lower, "__longlong_as_double((s64)(%s))", expression);
  case SCALAR_POINTER:
    return lower_print(lower, "(char *)(%s)", expression);
  case SCALAR_BOOL:
    return lower_print(lower, "(bool)((%s) & 1)", expression);
  case SCALAR_HALF:
    return lower_print(lower, "ocl::half_of(%s)", expression);
  default:
    return lower_print(lower, "(%s)(%s)%s", scalar_names[leaf->kind], expression,
                       lower_mask(lower, leaf));
  }
}

const char *lower_reinterpret(struct lower *lower, const struct leaf *from, const struct leaf *to,
                              const char *expression) {
  return from->kind == to->kind ? expression
                                : from_bits(lower, to, to_bits(lower, from, expression));
}

static const char *wide_name(unsigned bits) {
  enum { INT_BITS = 32 };
  return scalar_names[bits <= INT_BITS ? SCALAR_U32 : scalar_of_bits(bits)];
}

/* Prints one leaf of the result, assembled from the bits of the
 * operand's leaves that overlap it. */
static const char *print_bitcast(struct lower *lower, LLVMValueRef value, unsigned index) {
  LLVMValueRef source = LLVMGetOperand(value, 0);
  struct leaves from = lower_leaves(lower, LLVMTypeOf(source));
  struct leaves to = lower_leaves(lower, LLVMTypeOf(value));
  if (index >= to.count || !from.count)
    return "0";
  if (from.count == to.count && from.at[0].bits == to.at[0].bits)
    return lower_reinterpret(lower, &from.at[index], &to.at[index],
                             lower_use(lower, source, index));
  unsigned from_bits_each = from.at[0].bits, to_bits_each = to.at[0].bits;
  unsigned low = index * to_bits_each, high = low + to_bits_each;
  const char *wide = wide_name(from_bits_each > to_bits_each ? from_bits_each : to_bits_each),
             *text = NULL;
  for (unsigned i = low / from_bits_each; i < from.count && i * from_bits_each < high; i++) {
    unsigned start = i * from_bits_each;
    const char *part = to_bits(lower, &from.at[i], lower_use(lower, source, i));
    if (start < low)
      part = lower_print(lower, "(%s)%s >> %u", wide, part, low - start);
    else
      part = lower_print(lower, "(%s)%s << %u", wide, part, start - low);
    text = text ? lower_print(lower, "%s | %s", text, part) : part;
  }
  return from_bits(lower, &to.at[index], text ? text : "0");
}

static const char *print_cast(struct lower *lower, LLVMValueRef value, LLVMOpcode opcode,
                              unsigned index) {
  struct leaf from = leaf_of(lower, LLVMTypeOf(LLVMGetOperand(value, 0)), index);
  struct leaf to = leaf_of(lower, LLVMTypeOf(value), index);
  const char *a = use_operand(lower, value, 0, index), *name = scalar_names[to.kind];
  switch (opcode) {
  case LLVMTrunc:
    if (to.kind == SCALAR_BOOL)
      return lower_print(lower, "(bool)(%s & 1)", a);
    return lower_print(lower, "(%s)%s%s", name, a, lower_mask(lower, &to));
  case LLVMZExt:
    return lower_print(lower, "(%s)%s", name, a);
  case LLVMSExt:
    return lower_print(lower, "(%s)%s%s", name, lower_signed(lower, &from, a),
                       lower_mask(lower, &to));
  case LLVMFPTrunc:
  case LLVMFPExt:
    return lower_print(lower, "(%s)%s", name, a);
  case LLVMFPToUI:
    return lower_print(lower, "(%s)%s%s", to.kind < SCALAR_U32 ? "u32" : name,
                       as_float(lower, &from, a), lower_mask(lower, &to));
  case LLVMFPToSI:
    return lower_print(lower, "(%s)(%s)%s%s", name,
                       to.kind < SCALAR_U32 ? "s32" : signed_names[to.kind],
                       as_float(lower, &from, a), lower_mask(lower, &to));
  case LLVMUIToFP:
  case LLVMSIToFP:
    if (opcode == LLVMSIToFP)
      a = lower_signed(lower, &from, a);
    return lower_print(lower, "(%s)%s", name, a);
  case LLVMPtrToInt:
    return lower_print(lower, "(%s)(u64)%s%s", name, a, lower_mask(lower, &to));
  default: /* LLVMIntToPtr */
    return lower_print(lower, "%s((char *)(u64)%s)", lower_space_hint(lower, value, &to), a);
  }
}

const char *lower_expression(struct lower *lower, LLVMValueRef value, LLVMOpcode opcode,
                             unsigned leaf) {
  struct leaf type;
  switch (opcode) {
  case LLVMFRem:
    type = leaf_of(lower, LLVMTypeOf(value), leaf);
    return lower_print(lower, "(%s)%s(%s, %s)", scalar_names[type.kind],
                       type.kind == SCALAR_DOUBLE ? "fmod" : "fmodf",
                       as_float(lower, &type, use_operand(lower, value, 0, leaf)),
                       as_float(lower, &type, use_operand(lower, value, 1, leaf)));
  case LLVMFNeg:
    return lower_print(lower, "-%s", use_operand(lower, value, 0, leaf));
  case LLVMICmp:
    return print_icmp(lower, value, leaf);
  case LLVMFCmp:
    return print_fcmp(lower, value, leaf);
  case LLVMSelect:
    return print_select(lower, value, leaf);
  case LLVMGetElementPtr:
    return print_address(lower, value, leaf);
  case LLVMFreeze:
  case LLVMAddrSpaceCast:
    return use_operand(lower, value, 0, leaf);
  case LLVMBitCast:
    return print_bitcast(lower, value, leaf);
  case LLVMTrunc:
  case LLVMZExt:
  case LLVMSExt:
  case LLVMFPTrunc:
  case LLVMFPExt:
  case LLVMFPToUI:
  case LLVMFPToSI:
  case LLVMUIToFP:
  case LLVMSIToFP:
  case LLVMPtrToInt:
  case LLVMIntToPtr:
    return print_cast(lower, value, opcode, leaf);
  default:
    return print_arithmetic(lower, value, opcode, leaf);
  }
}
