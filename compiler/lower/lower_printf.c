/* printf. The device library writes a record of each call, with the raw arguments and the address
 * of the format, and the host formats it (client/print.c). The format or a string may thus depend
 * on a condition, which happens when the optimiser merges calls from two branches. */
#include <string.h>

#include "compiler/lower/lower_state.h"

enum {
  PRINT_FIELD_MAX = 4095, /* largest width and precision, the minimum that C requires */
  SHOWN_MAX = 32,         /* number of characters of a format in a message */
  FORMATS_MAX = 256,      /* values visited in the search for formats that depend on conditions */
};

static const char library_file[] = "printf.cuh";

/* Whether the symbol is printf, by clang's name or by the name in SPIR-V modules. */
bool lower_is_printf(const char *symbol) {
  static const char mangled[] = "_Z6printf";
  return !strcmp(symbol, "printf") || !strncmp(symbol, mangled, sizeof mangled - 1);
}

/* Returns a scalar as a C expression of the type that selects its print_type. */
static const char *typed_element(struct lower *lower, const struct leaf *leaf, const char *text) {
  switch (leaf->kind) {
  case SCALAR_POINTER:
    return lower_print(lower, "(const void *)%s", text);
  case SCALAR_BOOL:
    return lower_print(lower, "(u32)%s", text);
  default:
    return lower_print(lower, "(%s)%s", scalar_names[leaf->kind], text);
  }
}

static bool is_printable(LLVMTypeRef type, const struct leaves *leaves) {
  LLVMTypeKind kind = LLVMGetTypeKind(type);
  enum scalar scalar = leaves->count ? leaves->at[0].kind : SCALAR_BOOL;
  if (kind == LLVMVectorTypeKind)
    return scalar != SCALAR_BOOL && !scalar_is_wide(scalar) && scalar != SCALAR_POINTER;
  return kind != LLVMStructTypeKind && kind != LLVMArrayTypeKind && leaves->count == 1 &&
         !scalar_is_wide(scalar);
}

static void print_argument(struct lower *lower, LLVMValueRef value, struct text *out) {
  LLVMTypeRef type = LLVMTypeOf(value);
  struct leaves leaves = lower_leaves(lower, type);
  if (!is_printable(type, &leaves)) {
    lower_fail(lower, "printf: a struct, an array, a 128-bit integer or a vector of such elements "
                      "cannot be printed");
    return;
  }
  if (LLVMGetTypeKind(type) != LLVMVectorTypeKind) {
    text_puts(out, typed_element(lower, &leaves.at[0], lower_use(lower, value, 0)));
    return;
  }
  text_printf(out, "ocl::vec<%s, %u>{", scalar_names[leaves.at[0].kind], leaves.count);
  for (unsigned i = 0; i < leaves.count; i++)
    text_printf(out, "%s%s", i ? ", " : "",
                typed_element(lower, &leaves.at[i], lower_use(lower, value, i)));
  text_puts(out, "}");
}

/* Reads the number at *at and moves *at past it. Numbers above
 * the limit become the limit plus one. */
static unsigned read_number(const char **at, const char *end) {
  unsigned number = 0;
  for (; *at < end && **at >= '0' && **at <= '9'; ++*at)
    if (number <= PRINT_FIELD_MAX)
      number = number * 10 + (unsigned)(**at - '0');
  return number;
}

/* Refuses conversions with a very large width or precision: a few bytes of program
 * would become megabytes of output in the application. */
static void check_format(struct lower *lower, const char *format, size_t size) {
  const char *end = format + size;
  for (const char *at = format; (at = memchr(at, '%', (size_t)(end - at)));) {
    const char *begin = at++;
    if (at < end && *at == '%') {
      at++;
      continue;
    }
    while (at < end && *at && strchr("-+ #0", *at))
      at++;
    const bool wide = read_number(&at, end) > PRINT_FIELD_MAX;
    const bool has_precision = at < end && *at == '.';
    at += has_precision;
    if ((has_precision && read_number(&at, end) > PRINT_FIELD_MAX) || wide)
      lower_fail(lower, "the width and precision of a printf conversion must be at most %d: %.*s",
                 PRINT_FIELD_MAX, (int)(at - begin < SHOWN_MAX ? at - begin : SHOWN_MAX), begin);
  }
}

/* Checks the constant strings that the value may be. Visits at most *left values to find them. */
static void check_formats(struct lower *lower, LLVMValueRef value, unsigned *left) {
  size_t size;
  if (!*left)
    return;
  --*left;
  if (LLVMIsAGlobalVariable(value)) {
    LLVMValueRef string = LLVMGetInitializer(value);
    if (string && LLVMIsAConstantDataSequential(string) && LLVMIsConstantString(string)) {
      const char *format = LLVMGetAsString(string, &size);
      check_format(lower, format, size);
    }
  } else if (LLVMIsAPHINode(value)) {
    for (unsigned i = 0; i < LLVMCountIncoming(value); i++)
      check_formats(lower, LLVMGetIncomingValue(value, i), left);
  } else if (LLVMIsASelectInst(value) || LLVMIsAConstantExpr(value)) {
    for (int i = 0; i < LLVMGetNumOperands(value); i++)
      check_formats(lower, LLVMGetOperand(value, (unsigned)i), left);
  }
}

void lower_printf(struct lower *lower, LLVMValueRef call) {
  struct text arguments = {0};
  unsigned left = FORMATS_MAX;
  if (LLVMGetNumArgOperands(call))
    check_formats(lower, LLVMGetOperand(call, 0), &left);
  for (unsigned i = 0; i < LLVMGetNumArgOperands(call); i++) {
    text_puts(&arguments, ", ");
    print_argument(lower, LLVMGetOperand(call, i), &arguments);
  }
  lower_use_group(lower, library_file);
  if (arguments.failed)
    lower_fail(lower, "out of memory");
  else
    text_printf(&lower->body, "%s = (u32)ocl::print(hidden_%s);\n",
                lower_variable(lower, call, 0, SCALAR_U32), arguments.data);
  text_finish(&arguments);
}
