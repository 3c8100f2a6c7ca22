/* Represents LLVM types as lists of scalar leaves, and scalars as C types. */
#include <string.h>

#include "compiler/lower/lower_state.h"

const char *const scalar_names[SCALAR_KINDS] = {
    [SCALAR_BOOL] = "bool",     [SCALAR_U8] = "u8",          [SCALAR_U16] = "u16",
    [SCALAR_U32] = "u32",       [SCALAR_U64] = "u64",        [SCALAR_U128] = "u128",
    [SCALAR_U1024] = "u1024",   [SCALAR_HALF] = "ocl::half", [SCALAR_FLOAT] = "float",
    [SCALAR_DOUBLE] = "double", [SCALAR_POINTER] = "char *",
};

const char *const signed_names[SCALAR_KINDS] = {
    [SCALAR_U8] = "s8",   [SCALAR_U16] = "s16",   [SCALAR_U32] = "s32",
    [SCALAR_U64] = "s64", [SCALAR_U128] = "s128", [SCALAR_U1024] = "s1024",
};

static const unsigned storage_bits[SCALAR_KINDS] = {
    [SCALAR_BOOL] = 8,
    [SCALAR_U8] = 8,
    [SCALAR_U16] = 16,
    [SCALAR_U32] = 32,
    [SCALAR_U64] = 64,
    [SCALAR_U128] = 128,
    [SCALAR_U1024] = WIDEST_BITS,
    [SCALAR_HALF] = 16,
    [SCALAR_FLOAT] = 32,
    [SCALAR_DOUBLE] = 64,
    [SCALAR_POINTER] = 64,
};

bool scalar_is_integer(enum scalar kind) {
  return kind <= SCALAR_U1024;
}

bool scalar_is_wide(enum scalar kind) {
  return kind == SCALAR_U128 || kind == SCALAR_U1024;
}

unsigned scalar_storage_bits(enum scalar kind) {
  return storage_bits[kind];
}

uint64_t lower_size(struct lower *lower, LLVMTypeRef type) {
  return LLVMABISizeOfType(lower->layout, type);
}

LLVMTypeRef lower_element_type(LLVMTypeRef type, unsigned index) {
  return LLVMGetTypeKind(type) == LLVMStructTypeKind ? LLVMStructGetTypeAtIndex(type, index)
                                                     : LLVMGetElementType(type);
}

static unsigned element_count(LLVMTypeRef type) {
  switch (LLVMGetTypeKind(type)) {
  case LLVMStructTypeKind:
    return LLVMCountStructElementTypes(type);
  case LLVMArrayTypeKind:
    return LLVMGetArrayLength(type);
  case LLVMVectorTypeKind:
    return LLVMGetVectorSize(type);
  default:
    return 0;
  }
}

static bool is_aggregate(LLVMTypeRef type) {
  LLVMTypeKind kind = LLVMGetTypeKind(type);
  return kind == LLVMStructTypeKind || kind == LLVMArrayTypeKind || kind == LLVMVectorTypeKind;
}

unsigned lower_leaf_count(struct lower *lower, LLVMTypeRef type) {
  if (LLVMGetTypeKind(type) == LLVMVoidTypeKind)
    return 0;
  if (!is_aggregate(type))
    return 1;
  unsigned elements = element_count(type), count = 0;
  if (LLVMGetTypeKind(type) != LLVMStructTypeKind)
    return elements ? elements * lower_leaf_count(lower, LLVMGetElementType(type)) : 0;
  for (unsigned i = 0; i < elements; i++)
    count += lower_leaf_count(lower, LLVMStructGetTypeAtIndex(type, i));
  return count;
}

unsigned lower_leaf_of_element(struct lower *lower, LLVMTypeRef type, unsigned index) {
  if (LLVMGetTypeKind(type) != LLVMStructTypeKind)
    return index * lower_leaf_count(lower, LLVMGetElementType(type));
  unsigned count = 0;
  for (unsigned i = 0; i < index; i++)
    count += lower_leaf_count(lower, LLVMStructGetTypeAtIndex(type, i));
  return count;
}

enum scalar scalar_of_bits(unsigned bits) {
  return bits == 1     ? SCALAR_BOOL
         : bits <= 8   ? SCALAR_U8
         : bits <= 16  ? SCALAR_U16
         : bits <= 32  ? SCALAR_U32
         : bits <= 64  ? SCALAR_U64
         : bits <= 128 ? SCALAR_U128
                       : SCALAR_U1024;
}

static struct leaf scalar_leaf(struct lower *lower, LLVMTypeRef type, uint64_t offset) {
  struct leaf leaf = {.offset = offset};
  switch (LLVMGetTypeKind(type)) {
  case LLVMIntegerTypeKind:
    leaf.bits = LLVMGetIntTypeWidth(type);
    leaf.kind = scalar_of_bits(leaf.bits);
    if (leaf.bits > WIDEST_BITS)
      lower_fail(lower, "integers of %u bits are not supported", leaf.bits);
    if (leaf.kind == SCALAR_U1024)
      lower_use_group(lower, "wide.cuh");
    break;
  case LLVMHalfTypeKind:
    leaf.kind = SCALAR_HALF;
    lower->has_half = true;
    lower_use_group(lower, "half.cuh");
    break;
  case LLVMFloatTypeKind:
    leaf.kind = SCALAR_FLOAT;
    break;
  case LLVMDoubleTypeKind:
    leaf.kind = SCALAR_DOUBLE;
    break;
  case LLVMPointerTypeKind:
    leaf.kind = SCALAR_POINTER;
    leaf.space = LLVMGetPointerAddressSpace(type);
    break;
  default: {
    char *name = LLVMPrintTypeToString(type);
    lower_fail(lower, "values of type %s are not supported", name);
    LLVMDisposeMessage(name);
    leaf.kind = SCALAR_U32;
  }
  }
  if (!leaf.bits)
    leaf.bits = storage_bits[leaf.kind];
  return leaf;
}

static struct leaf *fill_leaves(struct lower *lower, LLVMTypeRef type, uint64_t offset,
                                struct leaf *at) {
  if (!is_aggregate(type)) {
    *at = scalar_leaf(lower, type, offset);
    return at + 1;
  }
  bool is_struct = LLVMGetTypeKind(type) == LLVMStructTypeKind;
  for (unsigned i = 0; i < element_count(type); i++) {
    LLVMTypeRef element = lower_element_type(type, i);
    uint64_t place = is_struct ? LLVMOffsetOfElement(lower->layout, type, i)
                     : LLVMGetTypeKind(type) == LLVMVectorTypeKind
                         ? i * LLVMStoreSizeOfType(lower->layout, element)
                         : i * lower_size(lower, element);
    at = fill_leaves(lower, element, offset + place, at);
  }
  return at;
}

struct leaves lower_leaves(struct lower *lower, LLVMTypeRef type) {
  struct leaves leaves = {.count = lower_leaf_count(lower, type)};
  leaves.at = arena_alloc(&lower->names, leaves.count, sizeof *leaves.at);
  if (!leaves.at) {
    lower_fail(lower, "out of memory");
    leaves.count = 0;
  } else if (leaves.count) {
    fill_leaves(lower, type, 0, leaves.at);
  }
  return leaves;
}

const char *lower_mask(struct lower *lower, const struct leaf *leaf) {
  if (!scalar_is_integer(leaf->kind) || leaf->bits == scalar_storage_bits(leaf->kind))
    return "";
  if (scalar_is_wide(leaf->kind))
    return lower_print(lower, " & (~(%s)0 >> %u)", scalar_names[leaf->kind],
                       scalar_storage_bits(leaf->kind) - leaf->bits);
  return lower_print(lower, " & 0x%llxull", (1ull << leaf->bits) - 1);
}

const char *lower_signed(struct lower *lower, const struct leaf *leaf, const char *expression) {
  unsigned storage = scalar_storage_bits(leaf->kind);
  if (leaf->kind == SCALAR_BOOL)
    return lower_print(lower, "(-(s32)%s)", expression);
  const char *name = signed_names[leaf->kind];
  if (leaf->bits == storage)
    return lower_print(lower, "(%s)%s", name, expression);
  return lower_print(lower, "((%s)(%s << %u) >> %u)", name, expression, storage - leaf->bits,
                     storage - leaf->bits);
}
