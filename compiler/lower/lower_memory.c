/* Loads, stores and atomic operations. If the alignment allows it, one wide access moves several
 * adjacent elements. Accesses with less than natural alignment are split. */
#include <inttypes.h>

#include "compiler/lower/lower_state.h"

enum { WIDE_BYTES = 16, ROOT_DEPTH_MAX = 12 };

const char *lower_space_hint(struct lower *lower, LLVMValueRef value, const struct leaf *leaf) {
  return leaf->kind == SCALAR_POINTER && leaf->space == SPACE_GLOBAL &&
                 !lower_is_handle(lower, value)
             ? "as_global"
             : "";
}

/* Whether NVRTC can see which memory the pointer points to. */
static bool is_rooted(struct lower *lower, LLVMValueRef pointer, unsigned depth) {
  if (depth > ROOT_DEPTH_MAX)
    return true;
  if (LLVMIsAGlobalVariable(pointer))
    return true;
  if (LLVMIsAArgument(pointer))
    return lower->in_kernel;
  bool is_expression = LLVMGetValueKind(pointer) == LLVMConstantExprValueKind;
  if (!is_expression && !LLVMIsAInstruction(pointer))
    return false;
  LLVMOpcode opcode =
      is_expression ? LLVMGetConstOpcode(pointer) : LLVMGetInstructionOpcode(pointer);
  switch (opcode) {
  case LLVMAlloca:
    return true;
  case LLVMGetElementPtr:
  case LLVMBitCast:
  case LLVMAddrSpaceCast:
  case LLVMFreeze:
    return is_rooted(lower, LLVMGetOperand(pointer, 0), depth + 1);
  case LLVMSelect:
    return is_rooted(lower, LLVMGetOperand(pointer, 1), depth + 1) &&
           is_rooted(lower, LLVMGetOperand(pointer, 2), depth + 1);
  case LLVMPHI:
    for (unsigned i = 0; i < LLVMCountIncoming(pointer); i++)
      if (!is_rooted(lower, LLVMGetIncomingValue(pointer, i), depth + ROOT_DEPTH_MAX / 3))
        return false;
    return true;
  default:
    return false;
  }
}

const char *lower_pointer(struct lower *lower, LLVMValueRef pointer, unsigned leaf) {
  const char *text = lower_use(lower, pointer, leaf);
  /* A hint at the access, rather than at the definition, keeps null pointers null. */
  if (LLVMGetTypeKind(LLVMTypeOf(pointer)) == LLVMPointerTypeKind &&
      LLVMGetPointerAddressSpace(LLVMTypeOf(pointer)) == SPACE_LOCAL &&
      !is_rooted(lower, pointer, 0))
    return lower_print(lower, "as_shared(%s)", text);
  return text;
}

static const char *offset_pointer(struct lower *lower, const char *pointer, uint64_t offset) {
  return offset ? lower_print(lower, "%s + %" PRIu64, pointer, offset) : pointer;
}

static uint64_t align_at(uint64_t align, uint64_t offset) {
  uint64_t low = offset & (~offset + 1);
  return low && low < align ? low : align;
}

static const char *unsigned_of_bytes(uint64_t bytes) {
  return bytes == 1 ? "u8" : bytes == 2 ? "u16" : bytes == 4 ? "u32" : "u64";
}

/* Returns the size of a leaf in memory. An i24 takes 3 bytes. */
static uint64_t memory_bytes(const struct leaf *leaf) {
  return (leaf->bits + 7) / 8;
}

static bool is_power_of_two(uint64_t value) {
  return value && !(value & (value - 1));
}

/* Returns the largest size that this alignment allows for the next piece of an access. */
static uint64_t piece_size(uint64_t left, uint64_t align) {
  enum { PIECE_MAX = 8 };
  uint64_t size = PIECE_MAX;
  while (size > left || size > align)
    size /= 2;
  return size;
}

static struct leaf bits_leaf(const struct leaf *leaf) {
  struct leaf bits = *leaf;
  bits.kind = leaf->kind == SCALAR_BOOL ? SCALAR_U8 : scalar_of_bits(leaf->bits);
  return bits;
}

static const char *memory_name(const struct leaf *leaf) {
  return leaf->kind == SCALAR_BOOL ? "u8" : scalar_names[leaf->kind];
}

/* Whether one C assignment can move the leaf. C++ cannot copy a class, such as half, from or
 * to volatile memory, and a u1024 may have more bits than the leaf. */
static bool moves_whole(const struct leaf *leaf, uint64_t align, const char *is_volatile) {
  uint64_t bytes = memory_bytes(leaf);
  return is_power_of_two(bytes) && align_at(align, leaf->offset) >= bytes &&
         (leaf->kind != SCALAR_HALF || !*is_volatile) && leaf->kind != SCALAR_U1024;
}

static const char *load_leaf(struct lower *lower, const struct leaf *leaf, const char *pointer,
                             uint64_t align, const char *is_volatile) {
  uint64_t bytes = memory_bytes(leaf);
  if (moves_whole(leaf, align, is_volatile)) {
    const char *text = lower_print(lower, "*(%s %sconst *)(%s)", memory_name(leaf), is_volatile,
                                   offset_pointer(lower, pointer, leaf->offset));
    return leaf->kind == SCALAR_BOOL ? lower_print(lower, "(%s) & 1", text) : text;
  }
  struct leaf bits = bits_leaf(leaf);
  const char *wide = scalar_names[bits.kind], *text = NULL;
  for (uint64_t at = 0, size; at < bytes; at += size) {
    uint64_t offset = leaf->offset + at;
    size = piece_size(bytes - at, align_at(align, offset));
    const char *part =
        lower_print(lower, "(%s)((%s)*(const %s%s *)(%s) << %" PRIu64 ")", wide, wide, is_volatile,
                    unsigned_of_bytes(size), offset_pointer(lower, pointer, offset), at * 8);
    text = text ? lower_print(lower, "%s | %s", text, part) : part;
  }
  return lower_reinterpret(lower, &bits, leaf, lower_print(lower, "(%s)(%s)", wide, text));
}

static void store_leaf(struct lower *lower, const struct leaf *leaf, const char *pointer,
                       uint64_t align, const char *is_volatile, const char *value) {
  uint64_t bytes = memory_bytes(leaf);
  if (moves_whole(leaf, align, is_volatile)) {
    text_printf(&lower->body, "*(%s %s*)(%s) = %s;\n", memory_name(leaf), is_volatile,
                offset_pointer(lower, pointer, leaf->offset), value);
    return;
  }
  struct leaf bits = bits_leaf(leaf);
  const char *name = lower_temporary(lower, bits.kind);
  text_printf(&lower->body, "%s = %s;\n", name, lower_reinterpret(lower, leaf, &bits, value));
  for (uint64_t at = 0, size; at < bytes; at += size) {
    uint64_t offset = leaf->offset + at;
    size = piece_size(bytes - at, align_at(align, offset));
    text_printf(&lower->body, "*(%s%s *)(%s) = (%s)(%s >> %" PRIu64 ");\n", is_volatile,
                unsigned_of_bytes(size), offset_pointer(lower, pointer, offset),
                unsigned_of_bytes(size), name, at * 8);
  }
}

/* Returns the number of leaves, starting at first, that one access of at most 16 bytes can move
 * because they are adjacent and of one kind: 4, 2 or 1. */
static unsigned run_length(const struct leaves *leaves, unsigned first, uint64_t align) {
  const struct leaf *leaf = &leaves->at[first];
  uint64_t bytes = memory_bytes(leaf);
  if (leaf->kind == SCALAR_BOOL || scalar_is_wide(leaf->kind) || !is_power_of_two(bytes) ||
      leaf->bits != scalar_storage_bits(leaf->kind))
    return 1;
  for (unsigned count = 4; count > 1; count /= 2) {
    if (first + count > leaves->count || count * bytes > WIDE_BYTES ||
        align_at(align, leaf->offset) < count * bytes)
      continue;
    unsigned same = 1;
    while (same < count && leaves->at[first + same].kind == leaf->kind &&
           leaves->at[first + same].offset == leaf->offset + same * bytes)
      same++;
    if (same == count)
      return count;
  }
  return 1;
}

/* A load or store: its address and the leaves of its type. */
struct access {
  struct leaves leaves;
  uint64_t align;
  bool plain; /* neither volatile nor atomic, so leaves may move together */
  const char *pointer;
};

static void fence_if(struct lower *lower, bool fenced) {
  if (fenced)
    text_puts(&lower->body, "__threadfence();\n");
}

/* Begins an access through a pointer operand: prints the fence that its memory order requires. */
static struct access begin_access(struct lower *lower, LLVMValueRef instruction, LLVMTypeRef type,
                                  unsigned operand) {
  const LLVMAtomicOrdering order = LLVMGetOrdering(instruction);
  const uint64_t align = LLVMGetAlignment(instruction);
  const struct access access = {
      .leaves = lower_leaves(lower, type),
      .align = align ? align : LLVMABIAlignmentOfType(lower->layout, type),
      .plain = !LLVMGetVolatile(instruction) && order == LLVMAtomicOrderingNotAtomic,
      .pointer = lower_pointer(lower, LLVMGetOperand(instruction, operand), 0)};
  fence_if(lower, order > LLVMAtomicOrderingMonotonic);
  return access;
}

/* Returns how many leaves, starting at i, move together. */
static unsigned access_run(const struct access *access, unsigned i) {
  return access->plain ? run_length(&access->leaves, i, access->align) : 1;
}
static const char *access_qualifier(const struct access *access) {
  return access->plain ? "" : "volatile ";
}

static const char pack_members[] = "abcd";

void lower_load(struct lower *lower, LLVMValueRef instruction) {
  const struct access access = begin_access(lower, instruction, LLVMTypeOf(instruction), 0);
  for (unsigned i = 0, count; i < access.leaves.count; i += count) {
    const struct leaf *leaf = &access.leaves.at[i];
    count = access_run(&access, i);
    if (count == 1) {
      const char *text =
          load_leaf(lower, leaf, access.pointer, access.align, access_qualifier(&access));
      text_printf(&lower->body, "%s = %s(%s);\n", lower_variable(lower, instruction, i, leaf->kind),
                  lower_space_hint(lower, instruction, leaf), text);
      continue;
    }
    text_printf(&lower->body, "{ const pack%u<%s> t = *(const pack%u<%s> *)(%s);", count,
                scalar_names[leaf->kind], count, scalar_names[leaf->kind],
                offset_pointer(lower, access.pointer, leaf->offset));
    for (unsigned k = 0; k < count; k++)
      text_printf(&lower->body, " %s = %s(t.%c);",
                  lower_variable(lower, instruction, i + k, leaf->kind),
                  lower_space_hint(lower, instruction, leaf), pack_members[k]);
    text_puts(&lower->body, " }\n");
  }
  fence_if(lower, LLVMGetOrdering(instruction) > LLVMAtomicOrderingMonotonic);
}

void lower_store(struct lower *lower, LLVMValueRef instruction) {
  LLVMValueRef value = LLVMGetOperand(instruction, 0);
  const struct access access = begin_access(lower, instruction, LLVMTypeOf(value), 1);
  for (unsigned i = 0, count; i < access.leaves.count; i += count) {
    const struct leaf *leaf = &access.leaves.at[i];
    count = access_run(&access, i);
    if (count == 1) {
      store_leaf(lower, leaf, access.pointer, access.align, access_qualifier(&access),
                 lower_use(lower, value, i));
      continue;
    }
    text_printf(&lower->body, "*(pack%u<%s> *)(%s) = pack%u<%s>{", count, scalar_names[leaf->kind],
                offset_pointer(lower, access.pointer, leaf->offset), count,
                scalar_names[leaf->kind]);
    for (unsigned k = 0; k < count; k++)
      text_printf(&lower->body, "%s%s", k ? ", " : "", lower_use(lower, value, i + k));
    text_puts(&lower->body, "};\n");
  }
  fence_if(lower, LLVMGetOrdering(instruction) == LLVMAtomicOrderingSequentiallyConsistent);
}

void lower_fence(struct lower *lower, LLVMValueRef instruction) {
  text_puts(&lower->body, "__threadfence();\n");
}

static const struct {
  LLVMAtomicRMWBinOp operation;
  const char *function;
  bool is_signed;
} atomics[] = {
    {LLVMAtomicRMWBinOpXchg, "atomicExch", false}, {LLVMAtomicRMWBinOpAdd, "atomicAdd", false},
    {LLVMAtomicRMWBinOpAnd, "atomicAnd", false},   {LLVMAtomicRMWBinOpOr, "atomicOr", false},
    {LLVMAtomicRMWBinOpXor, "atomicXor", false},   {LLVMAtomicRMWBinOpMax, "atomicMax", true},
    {LLVMAtomicRMWBinOpMin, "atomicMin", true},    {LLVMAtomicRMWBinOpUMax, "atomicMax", false},
    {LLVMAtomicRMWBinOpUMin, "atomicMin", false},  {LLVMAtomicRMWBinOpFAdd, "atomicAdd", false},
};

/* Returns the type for CUDA's 32- and 64-bit atomic functions. */
static const char *atomic_name(struct lower *lower, const struct leaf *leaf, bool is_signed) {
  switch (leaf->kind) {
  case SCALAR_U32:
    return is_signed ? "s32" : "u32";
  case SCALAR_U64:
  case SCALAR_POINTER:
    return is_signed ? "s64" : "u64";
  case SCALAR_FLOAT:
  case SCALAR_DOUBLE:
    return scalar_names[leaf->kind];
  default:
    lower_fail(lower, "atomic operations on %u bits are not supported", leaf->bits);
    return "u32";
  }
}

static void atomic_rmw(struct lower *lower, LLVMValueRef instruction) {
  LLVMAtomicRMWBinOp operation = LLVMGetAtomicRMWBinOp(instruction);
  struct leaves leaves = lower_leaves(lower, LLVMTypeOf(instruction));
  const struct leaf *leaf = &leaves.at[0];
  const char *value = lower_use(lower, LLVMGetOperand(instruction, 1), 0);
  const char *pointer = lower_pointer(lower, LLVMGetOperand(instruction, 0), 0);
  const char *result = lower_variable(lower, instruction, 0, leaf->kind);
  if (operation == LLVMAtomicRMWBinOpSub) {
    operation = LLVMAtomicRMWBinOpAdd;
    value = lower_print(lower, "0 - %s", value);
  }
  for (size_t i = 0; i < sizeof atomics / sizeof atomics[0]; i++) {
    if (atomics[i].operation != operation)
      continue;
    const char *name = atomic_name(lower, leaf, atomics[i].is_signed);
    text_printf(&lower->body, "%s = (%s)%s((%s *)(%s), (%s)(%s));\n", result,
                scalar_names[leaf->kind], atomics[i].function, name, pointer, name, value);
    return;
  }
  lower_fail(lower, "the atomic operation %d is not supported", (int)operation);
}

static void atomic_cmpxchg(struct lower *lower, LLVMValueRef instruction) {
  LLVMValueRef expected = LLVMGetOperand(instruction, 1), desired = LLVMGetOperand(instruction, 2);
  struct leaves leaves = lower_leaves(lower, LLVMTypeOf(expected));
  const struct leaf *leaf = &leaves.at[0];
  const char *name = atomic_name(lower, leaf, false);
  const char *pointer = lower_pointer(lower, LLVMGetOperand(instruction, 0), 0);
  const char *old = lower_variable(lower, instruction, 0, leaf->kind);
  text_printf(&lower->body, "%s = (%s)atomicCAS((%s *)(%s), (%s)%s, (%s)%s);\n", old,
              scalar_names[leaf->kind], name, pointer, name, lower_use(lower, expected, 0), name,
              lower_use(lower, desired, 0));
  text_printf(&lower->body, "%s = %s == %s;\n", lower_variable(lower, instruction, 1, SCALAR_BOOL),
              old, lower_use(lower, expected, 0));
}

void lower_atomic(struct lower *lower, LLVMValueRef instruction) {
  bool is_rmw = LLVMGetInstructionOpcode(instruction) == LLVMAtomicRMW;
  LLVMAtomicOrdering ordering =
      is_rmw ? LLVMGetOrdering(instruction) : LLVMGetCmpXchgSuccessOrdering(instruction);
  /* CUDA's atomic functions are relaxed. */
  if (ordering > LLVMAtomicOrderingMonotonic)
    text_puts(&lower->body, "__threadfence();\n");
  if (is_rmw)
    atomic_rmw(lower, instruction);
  else
    atomic_cmpxchg(lower, instruction);
  if (ordering > LLVMAtomicOrderingMonotonic)
    text_puts(&lower->body, "__threadfence();\n");
}
