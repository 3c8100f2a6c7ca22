/* LLVM's intrinsic functions that its optimiser creates from plain OpenCL C.
 * device/lower.cuh has their counterparts in CUDA C. */
#include <inttypes.h>
#include <string.h>

#include "compiler/lower/lower_state.h"

/* Elementwise intrinsics: llvm.<name>.<type> becomes
 * function(arguments). Does not include integers of odd widths. */
static const struct {
  const char *name;
  const char *function;
  unsigned arguments;
  bool is_signed; /* of the argument */
} elementwise[] = {
    {"fma.", "fma_", 3, false},
    {"fmuladd.", "fma_", 3, false},
    {"sqrt.", "sqrt_", 1, false},
    {"fabs.", "fabs_", 1, false},
    {"copysign.", "copysign_", 2, false},
    {"minnum.", "fmin_", 2, false},
    {"maxnum.", "fmax_", 2, false},
    {"floor.", "floor_", 1, false},
    {"ceil.", "ceil_", 1, false},
    {"trunc.", "trunc_", 1, false},
    {"rint.", "rint_", 1, false},
    {"nearbyint.", "rint_", 1, false},
    {"roundeven.", "rint_", 1, false},
    {"round.", "round_", 1, false},
    {"abs.", "abs_", 1, true},
    {"smax.", "max_", 2, true},
    {"smin.", "min_", 2, true},
    {"umax.", "max_", 2, false},
    {"umin.", "min_", 2, false},
    {"ctlz.", "ctlz_", 1, false},
    {"cttz.", "cttz_", 1, false},
    {"ctpop.", "ctpop_", 1, false},
    {"bswap.", "bswap_", 1, false},
    {"bitreverse.", "bitreverse_", 1, false},
    {"fshl.", "fshl_", 3, false},
    {"fshr.", "fshr_", 3, false},
    {"uadd.sat.", "add_sat_", 2, false},
    {"sadd.sat.", "add_sat_", 2, true},
    {"usub.sat.", "sub_sat_", 2, false},
    {"ssub.sat.", "sub_sat_", 2, true},
    {"uadd.with.overflow.", "add_overflow_", 2, false},
    {"sadd.with.overflow.", "add_overflow_", 2, true},
    {"usub.with.overflow.", "sub_overflow_", 2, false},
    {"ssub.with.overflow.", "sub_overflow_", 2, true},
    {"umul.with.overflow.", "mul_overflow_", 2, false},
    {"smul.with.overflow.", "mul_overflow_", 2, true},
};

/* Intrinsics without an effect here, such as hints for the optimiser. */
static const char *const ignored[] = {
    "lifetime.",       "assume",        "dbg.",      "experimental.noalias.scope.decl",
    "invariant.start", "invariant.end", "donothing", "sideeffect",
    "prefetch.",
};

/* Vector reductions: llvm.vector.reduce.<name>.<type>. */
static const struct {
  const char *name;
  const char *sign;     /* the operator; NULL if there is none */
  const char *function; /* function of two elements, if there is no operator */
  bool is_signed, has_start;
} reductions[] = {
    {"add.", "+", NULL, false, false},      {"mul.", "*", NULL, false, false},
    {"and.", "&", NULL, false, false},      {"or.", "|", NULL, false, false},
    {"xor.", "^", NULL, false, false},      {"smax.", NULL, "max_", true, false},
    {"smin.", NULL, "min_", true, false},   {"umax.", NULL, "max_", false, false},
    {"umin.", NULL, "min_", false, false},  {"fmax.", NULL, "fmax_", false, false},
    {"fmin.", NULL, "fmin_", false, false}, {"fadd.", "+", NULL, false, true},
    {"fmul.", "*", NULL, false, true},
};

static bool starts_with(const char *text, const char *prefix) {
  return !strncmp(text, prefix, strlen(prefix));
}

static const char *use_argument(struct lower *lower, LLVMValueRef call, unsigned number,
                                unsigned index, bool is_signed) {
  LLVMValueRef value = LLVMGetOperand(call, number);
  struct leaves leaves = lower_leaves(lower, LLVMTypeOf(value));
  const char *text = lower_use(lower, value, index);
  if (index >= leaves.count)
    return text;
  if (is_signed)
    return lower_print(lower, "(%s)%s", signed_names[leaves.at[index].kind], text);
  return text;
}

static bool has_odd_width(const struct leaf *leaf) {
  return scalar_is_integer(leaf->kind) && leaf->bits != scalar_storage_bits(leaf->kind);
}

/* Prints an operation with the result {value, overflow flag}. The C function returns the flag. */
static void print_overflow(struct lower *lower, LLVMValueRef call, const char *function,
                           bool is_signed) {
  struct leaves leaves = lower_leaves(lower, LLVMTypeOf(call));
  unsigned lanes = leaves.count / 2;
  for (unsigned i = 0; i < lanes; i++) {
    const char *value = lower_variable(lower, call, i, leaves.at[i].kind);
    const char *flag = lower_variable(lower, call, lanes + i, SCALAR_BOOL);
    text_printf(&lower->body, "%s = %s(%s, %s, &%s);\n", flag, function,
                use_argument(lower, call, 0, i, is_signed),
                use_argument(lower, call, 1, i, is_signed), value);
  }
}

static bool print_elementwise(struct lower *lower, LLVMValueRef call, const char *name) {
  for (size_t i = 0; i < sizeof elementwise / sizeof elementwise[0]; i++) {
    if (!starts_with(name, elementwise[i].name))
      continue;
    bool is_signed = elementwise[i].is_signed;
    struct leaves leaves = lower_leaves(lower, LLVMTypeOf(call));
    if (leaves.count && has_odd_width(&leaves.at[0]))
      return false;
    if (strstr(elementwise[i].name, ".with.overflow.")) {
      print_overflow(lower, call, elementwise[i].function, is_signed);
      return true;
    }
    for (unsigned k = lower_half_pairs(lower, call, elementwise[i].function); k < leaves.count;
         k++) {
      const char *text = use_argument(lower, call, 0, k, is_signed);
      for (unsigned a = 1; a < elementwise[i].arguments; a++)
        text = lower_print(lower, "%s, %s", text, use_argument(lower, call, a, k, is_signed));
      text = lower_print(lower, "%s(%s)", elementwise[i].function, text);
      text_printf(&lower->body, "%s = %s;\n", lower_variable(lower, call, k, leaves.at[k].kind),
                  lower_cast(lower, &leaves.at[k], text));
    }
    return true;
  }
  return false;
}

static bool print_reduction(struct lower *lower, LLVMValueRef call, const char *name) {
  for (size_t i = 0; i < sizeof reductions / sizeof reductions[0]; i++) {
    if (!starts_with(name, reductions[i].name))
      continue;
    bool has_start = reductions[i].has_start, is_signed = reductions[i].is_signed;
    LLVMValueRef vector = LLVMGetOperand(call, has_start ? 1 : 0);
    struct leaves leaves = lower_leaves(lower, LLVMTypeOf(call));
    unsigned lanes = lower_leaf_count(lower, LLVMTypeOf(vector));
    const char *sum = lower_variable(lower, call, 0, leaves.at[0].kind);
    text_printf(&lower->body, "%s = %s;\n", sum,
                lower_use(lower, has_start ? LLVMGetOperand(call, 0) : vector, 0));
    for (unsigned k = has_start ? 0 : 1; k < lanes; k++) {
      const char *element = use_argument(lower, call, has_start ? 1 : 0, k, is_signed);
      const char *text = reductions[i].sign
                             ? lower_print(lower, "(%s %s %s)", sum, reductions[i].sign, element)
                             : lower_print(lower, "%s((%s)%s, %s)", reductions[i].function,
                                           is_signed ? signed_names[leaves.at[0].kind]
                                                     : scalar_names[leaves.at[0].kind],
                                           sum, element);
      text_printf(&lower->body, "%s = %s;\n", sum, lower_cast(lower, &leaves.at[0], text));
    }
    return true;
  }
  return false;
}

/* Returns a pointer argument of memcpy, memmove or memset with
 * the alignment that the call promises. */
static const char *use_aligned(struct lower *lower, LLVMValueRef call, unsigned number) {
  LLVMValueRef pointer = LLVMGetOperand(call, number);
  unsigned kind = LLVMGetEnumAttributeKindForName("align", strlen("align"));
  LLVMAttributeRef attribute = LLVMGetCallSiteEnumAttribute(call, number + 1, kind);
  uint64_t align = attribute ? LLVMGetEnumAttributeValue(attribute) : 1;
  return lower_print(lower, "__builtin_assume_aligned(%s, %" PRIu64 ")",
                     lower_pointer(lower, pointer, 0), align ? align : 1);
}

static bool print_memory(struct lower *lower, LLVMValueRef call, const char *name) {
  bool copy = starts_with(name, "memcpy."), move = starts_with(name, "memmove.");
  if (!copy && !move && !starts_with(name, "memset."))
    return false;
  if (copy || move)
    text_printf(&lower->body, "%s(%s, %s, %s);\n", copy ? "memcpy" : "memmove_",
                use_aligned(lower, call, 0), use_aligned(lower, call, 1),
                lower_use(lower, LLVMGetOperand(call, 2), 0));
  else
    text_printf(&lower->body, "memset(%s, %s, %s);\n", use_aligned(lower, call, 0),
                lower_use(lower, LLVMGetOperand(call, 1), 0),
                lower_use(lower, LLVMGetOperand(call, 2), 0));
  return true;
}

void lower_intrinsic(struct lower *lower, LLVMValueRef call, const char *symbol) {
  static const char prefix[] = "llvm.", reduce[] = "vector.reduce.", expect[] = "expect.",
                    constant[] = "is.constant.", object_size[] = "objectsize.", trap[] = "trap";
  const char *name = symbol + strlen(prefix);
  for (size_t i = 0; i < sizeof ignored / sizeof ignored[0]; i++)
    if (starts_with(name, ignored[i]))
      return;
  if (print_elementwise(lower, call, name) || print_memory(lower, call, name))
    return;
  if (starts_with(name, reduce) && print_reduction(lower, call, name + strlen(reduce)))
    return;
  if (starts_with(name, expect)) {
    lower_alias(lower, call, 0, lower_use(lower, LLVMGetOperand(call, 0), 0));
  } else if (starts_with(name, constant)) {
    lower_alias(lower, call, 0, "false");
  } else if (starts_with(name, object_size)) {
    bool least = LLVMConstIntGetZExtValue(LLVMGetOperand(call, 1)) != 0;
    lower_alias(lower, call, 0, least ? "0" : "-1");
  } else if (starts_with(name, trap)) {
    text_puts(&lower->body, "__trap();\n");
  } else {
    lower_fail(lower, "the intrinsic function '%s' is not supported", symbol);
  }
}
