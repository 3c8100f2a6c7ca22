/* Names and constants: returns the C expression for each leaf of an LLVM value. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/lower/lower_state.h"

const char *lower_print(struct lower *lower, const char *format, ...) {
  va_list values, again;
  va_start(values, format);
  va_copy(again, values);
  int size = vsnprintf(NULL, 0, format, values);
  char *text = size < 0 ? NULL : arena_alloc(&lower->names, (size_t)size + 1, 1);
  if (text)
    vsnprintf(text, (size_t)size + 1, format, again);
  else
    lower_fail(lower, "out of memory");
  va_end(again);
  va_end(values);
  return text ? text : "0";
}

static size_t hash_value(LLVMValueRef key) {
  return (size_t)(((uintptr_t)key >> 4) * UINT64_C(0x9E3779B97F4A7C15) >> 20);
}

static bool grow_values(struct lower *lower) {
  enum { FIRST_SLOTS = 256 };
  unsigned slots = lower->value_slots ? lower->value_slots * 2 : FIRST_SLOTS;
  struct value *values = calloc(slots, sizeof *values);
  if (!values)
    return false;
  for (unsigned i = 0; i < lower->value_slots; i++) {
    if (!lower->values[i].key)
      continue;
    size_t at = hash_value(lower->values[i].key) & (slots - 1);
    while (values[at].key)
      at = (at + 1) & (slots - 1);
    values[at] = lower->values[i];
  }
  free(lower->values);
  lower->values = values;
  lower->value_slots = slots;
  return true;
}

static struct value *find_value(struct lower *lower, LLVMValueRef key) {
  if (!lower->value_slots)
    return NULL;
  size_t at = hash_value(key) & (lower->value_slots - 1);
  while (lower->values[at].key && lower->values[at].key != key)
    at = (at + 1) & (lower->value_slots - 1);
  return &lower->values[at];
}

void lower_alias(struct lower *lower, LLVMValueRef value, unsigned leaf, const char *expression) {
  if (lower->value_count * 2 >= lower->value_slots && !grow_values(lower)) {
    lower_fail(lower, "out of memory");
    return;
  }
  struct value *slot = find_value(lower, value);
  if (!slot->key) {
    unsigned count = lower_leaf_count(lower, LLVMTypeOf(value));
    slot->leaf = arena_alloc(&lower->names, count, sizeof *slot->leaf);
    if (!slot->leaf) {
      lower_fail(lower, "out of memory");
      return;
    }
    slot->key = value;
    lower->value_count++;
  }
  slot->leaf[leaf] = expression;
}

void lower_forget(struct lower *lower) {
  free(lower->values);
  lower->values = NULL;
  lower->value_slots = lower->value_count = 0;
  lower->next_name = 0;
  arena_finish(&lower->names);
  for (int i = 0; i < SCALAR_KINDS; i++)
    text_finish(&lower->locals[i]);
  text_finish(&lower->arrays);
  text_finish(&lower->textures);
  text_finish(&lower->samplers);
  lower->reads_images = lower->may_filter = false;
  text_finish(&lower->body);
}

const char *lower_temporary(struct lower *lower, enum scalar kind) {
  const char *name = lower_print(lower, "v%u", lower->next_name++);
  struct text *list = &lower->locals[kind];
  const char *star = kind == SCALAR_POINTER && list->size ? "*" : "";
  text_printf(list, list->size ? ", %s%s" : "%s%s", star, name);
  return name;
}

const char *lower_variable(struct lower *lower, LLVMValueRef value, unsigned leaf,
                           enum scalar kind) {
  const char *name = lower_temporary(lower, kind);
  lower_alias(lower, value, leaf, name);
  return name;
}

const char *lower_cast(struct lower *lower, const struct leaf *leaf, const char *expression) {
  if (scalar_is_integer(leaf->kind) || leaf->kind == SCALAR_POINTER)
    return lower_print(lower, "(%s)%s", scalar_names[leaf->kind], expression);
  return expression;
}

const char *lower_float_text(struct lower *lower, enum scalar kind, uint64_t bits) {
  if (kind == SCALAR_HALF)
    return lower_print(lower, "ocl::half_of(%uu)", (unsigned)bits);
  if (kind == SCALAR_FLOAT) {
    uint32_t word = (uint32_t)bits;
    float number;
    memcpy(&number, &word, sizeof number);
    if (isfinite(number))
      return lower_print(lower, signbit(number) ? "(%af)" : "%af", (double)number);
    return lower_print(lower, "__uint_as_float(0x%" PRIx32 "u)", word);
  }
  double number;
  memcpy(&number, &bits, sizeof number);
  if (isfinite(number))
    return lower_print(lower, signbit(number) ? "(%a)" : "%a", number);
  return lower_print(lower, "__longlong_as_double(0x%" PRIx64 "ll)", bits);
}

/* Constants of more than 64 bits, for which LLVM's C interface only provides decimal text. */
static const char *wide_constant(struct lower *lower, const struct leaf *leaf,
                                 LLVMValueRef constant) {
  enum { WORD_BITS = 64, WORDS_MAX = WIDEST_BITS / WORD_BITS };
  const char *name = scalar_names[leaf->kind], *sum = "0";
  char *text = LLVMPrintValueToString(constant);
  const char *digits = strchr(text, ' ');
  uint64_t words[WORDS_MAX] = {0};
  bool negative = digits && digits[1] == '-';
  for (digits = digits ? digits + 1 + negative : ""; *digits >= '0' && *digits <= '9'; digits++) {
    unsigned __int128 carry = (unsigned)(*digits - '0');
    for (unsigned i = 0; i < WORDS_MAX; i++, carry >>= WORD_BITS) {
      carry += (unsigned __int128)words[i] * 10;
      words[i] = (uint64_t)carry;
    }
  }
  LLVMDisposeMessage(text);
  for (unsigned i = 0; i < WORDS_MAX; i++)
    if (words[i])
      sum =
          lower_print(lower, "%s | (%s)0x%" PRIx64 "ull << %u", sum, name, words[i], i * WORD_BITS);
  return lower_print(lower, negative ? "(0 - (%s)(%s))" : "((%s)(%s))", name, sum);
}

static const char *integer_constant(struct lower *lower, const struct leaf *leaf,
                                    LLVMValueRef constant) {
  if (scalar_is_wide(leaf->kind))
    return lower_print(lower, "(%s%s)", wide_constant(lower, leaf, constant),
                       lower_mask(lower, leaf));
  uint64_t number = LLVMConstIntGetZExtValue(constant);
  switch (leaf->kind) {
  case SCALAR_BOOL:
    return number & 1 ? "true" : "false";
  case SCALAR_U64:
    return lower_print(lower, "%" PRIu64 "ull", number);
  case SCALAR_U32:
    return lower_print(lower, "%" PRIu64 "u", number);
  default:
    return lower_print(lower, "(%s)%" PRIu64 "u", scalar_names[leaf->kind], number);
  }
}

static const char *zero_constant(struct lower *lower, const struct leaf *leaf) {
  switch (leaf->kind) {
  case SCALAR_BOOL:
    return "false";
  case SCALAR_POINTER:
    return "(char *)0";
  case SCALAR_FLOAT:
    return "0.0f";
  case SCALAR_DOUBLE:
    return "0.0";
  case SCALAR_U32:
    return "0u";
  case SCALAR_HALF:
    return "ocl::half_of(0)";
  default:
    return lower_print(lower, "(%s)0", scalar_names[leaf->kind]);
  }
}

static LLVMTypeRef integer_type_of(LLVMValueRef value, unsigned bits) {
  return LLVMIntTypeInContext(LLVMGetTypeContext(LLVMTypeOf(value)), bits);
}

/* Returns a leaf of extractelement or insertelement on a constant vector, which clang does not
 * fold without optimisation. Returns NULL for other expressions. */
static const char *constant_element(struct lower *lower, LLVMValueRef value, LLVMOpcode opcode,
                                    unsigned index) {
  if (opcode != LLVMExtractElement && opcode != LLVMInsertElement)
    return NULL;
  bool inserts = opcode == LLVMInsertElement;
  LLVMValueRef vector = LLVMGetOperand(value, 0), place = LLVMGetOperand(value, inserts ? 2 : 1);
  uint64_t lane = LLVMIsAConstantInt(place) ? LLVMConstIntGetZExtValue(place) : UINT64_MAX;
  if (lane >= LLVMGetVectorSize(LLVMTypeOf(vector)))
    return NULL;
  if (inserts)
    return lane == index ? lower_use(lower, LLVMGetOperand(value, 1), 0)
                         : lower_use(lower, vector, index);
  return lower_use(lower, vector, (unsigned)lane);
}

static const char *constant_leaf(struct lower *lower, LLVMValueRef value, unsigned index) {
  LLVMTypeRef type = LLVMTypeOf(value);
  struct leaves leaves = lower_leaves(lower, type);
  if (index >= leaves.count) {
    lower_fail(lower, "a constant does not have an element %u", index);
    return "0";
  }
  const struct leaf *leaf = &leaves.at[index];
  if (LLVMIsUndef(value) || LLVMIsNull(value))
    return zero_constant(lower, leaf);
  switch (LLVMGetValueKind(value)) {
  case LLVMConstantIntValueKind:
    return integer_constant(lower, leaf, value);
  case LLVMConstantFPValueKind: {
    LLVMValueRef bits = LLVMConstBitCast(value, integer_type_of(value, leaf->bits));
    return lower_float_text(lower, leaf->kind, LLVMConstIntGetZExtValue(bits));
  }
  case LLVMConstantStructValueKind:
  case LLVMConstantArrayValueKind:
  case LLVMConstantVectorValueKind:
  case LLVMConstantDataArrayValueKind:
  case LLVMConstantDataVectorValueKind: {
    unsigned element = 0;
    while (lower_leaf_of_element(lower, type, element + 1) <= index)
      element++;
    return lower_use(lower, LLVMGetAggregateElement(value, element),
                     index - lower_leaf_of_element(lower, type, element));
  }
  case LLVMConstantExprValueKind: {
    LLVMOpcode opcode = LLVMGetConstOpcode(value);
    if (lower_is_pure(opcode))
      return lower_print(lower, "(%s)", lower_expression(lower, value, opcode, index));
    const char *element = constant_element(lower, value, opcode, index);
    if (element)
      return element;
    break;
  }
  default:
    break;
  }
  char *text = LLVMPrintValueToString(value);
  lower_fail(lower, "the constant %.200s is not supported", text);
  LLVMDisposeMessage(text);
  return "0";
}

const char *lower_use(struct lower *lower, LLVMValueRef value, unsigned leaf) {
  struct value *slot = find_value(lower, value);
  if (slot && slot->key && slot->leaf[leaf])
    return slot->leaf[leaf];
  if (LLVMIsAGlobalVariable(value))
    return lower_global_address(lower, value);
  /* In OpenCL C only blocks contain addresses of functions. The address is never read,
   * because clang turns calls of a block into calls of its function. */
  if (LLVMIsAFunction(value))
    return "(char *)0";
  if (LLVMIsConstant(value))
    return constant_leaf(lower, value, leaf);
  char *text = LLVMPrintValueToString(value);
  lower_fail(lower, "'%.200s' cannot be used as a value", text);
  LLVMDisposeMessage(text);
  return "0";
}
