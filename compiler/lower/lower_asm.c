/* Inline assembly: passes PTX through. Turns LLVM's notation ($0, constraints in one
 * string) back into GNU C's notation, which CUDA C uses. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/lower/lower_state.h"

enum { OPERANDS_MAX = 64 };

/* LLVM 15's C interface cannot read an InlineAsm, but prints it as
 *   void ()* asm [sideeffect] "text", "constraints"
 * where \XX stands for quotes, backslashes and unprintable bytes. */
static const char *read_quoted(const char *at, struct text *out) {
  at = strchr(at, '"');
  if (!at)
    return NULL;
  text_add(out, "", 0);
  for (at++; *at && *at != '"'; at++) {
    char byte = *at;
    if (byte == '\\' && at[1] && at[2]) {
      char digits[3] = {at[1], at[2], 0};
      byte = (char)strtoul(digits, NULL, 16);
      at += 2;
    }
    text_add(out, &byte, 1);
  }
  return *at ? at + 1 : NULL;
}

static void print_c_string(struct text *out, const char *bytes, size_t size) {
  text_puts(out, "\"");
  for (size_t i = 0; i < size; i++) {
    if (bytes[i] == '\n')
      text_puts(out, "\\n");
    else if (bytes[i] == '\t')
      text_puts(out, "\\t");
    else if (bytes[i] == '"' || bytes[i] == '\\')
      text_printf(out, "\\%c", bytes[i]);
    else
      text_add(out, &bytes[i], 1);
  }
  text_puts(out, "\"");
}

struct output {
  const char *name; /* of its variable */
  char letter;
  bool early; /* written before all inputs have been read */
  bool tied;  /* shares its register with an input */
};

struct lists {
  struct output outputs[OPERANDS_MAX];
  unsigned output_count, input_count;
  /* Maps LLVM's number of an operand to its number in CUDA C, where an
   * output and its tied input are one operand. */
  unsigned numbers[OPERANDS_MAX], operand_count;
  struct text inputs, clobbers, before, after;
};

/* Replaces $0 and ${0:x} by %0 and $$ by $, and doubles literal percent signs. */
static void print_template(struct text *out, const char *text, const struct lists *lists) {
  struct text c = {0};
  for (; *text; text++) {
    if (*text == '%') {
      text_puts(&c, "%%");
    } else if (*text == '$' && text[1] == '$') {
      text_puts(&c, "$");
      text++;
    } else if (*text == '$') {
      bool braces = text[1] == '{';
      char *end;
      const char *digits = text + 1 + braces;
      unsigned long number = strtoul(digits, &end, 10);
      if (end > digits && number < lists->operand_count)
        text_printf(&c, "%%%u", lists->numbers[number]);
      else
        text_puts(&c, "%="); /* ${:uid} */
      const char *close = braces ? strchr(end, '}') : NULL;
      text = close ? close : end - 1;
    } else {
      text_add(&c, text, 1);
    }
  }
  print_c_string(out, c.data ? c.data : "", c.size);
  text_finish(&c);
}

/* Declares a variable of the type that CUDA requires for the letter. PTX has no 8-bit registers. */
static const char *operand_variable(struct lower *lower, const struct leaf *leaf, char letter) {
  bool narrow = leaf->kind == SCALAR_U8 || leaf->kind == SCALAR_BOOL;
  return lower_temporary(lower, narrow && letter == 'r'                     ? SCALAR_U32
                                : narrow || leaf->kind == SCALAR_HALF       ? SCALAR_U16
                                : leaf->kind == SCALAR_POINTER              ? SCALAR_U64
                                : leaf->kind == SCALAR_U16 && letter == 'r' ? SCALAR_U32
                                                                            : leaf->kind);
}

static bool add_operand(struct lists *lists, unsigned number) {
  if (lists->operand_count == OPERANDS_MAX)
    return false;
  lists->numbers[lists->operand_count++] = number;
  return true;
}

static bool add_output(struct lower *lower, LLVMValueRef call, const struct leaves *results,
                       const char *constraint, struct lists *lists) {
  unsigned number = lists->output_count;
  if (number >= results->count || !add_operand(lists, number))
    return false;
  const struct leaf *leaf = &results->at[number];
  struct output *output = &lists->outputs[lists->output_count++];
  output->early = constraint[1] == '&';
  output->letter = constraint[1 + output->early];
  output->name = operand_variable(lower, leaf, output->letter);
  bool is_pointer = leaf->kind == SCALAR_POINTER;
  text_printf(&lists->after, leaf->kind == SCALAR_HALF ? "%s = %s_of(%s);\n" : "%s = (%s)%s;\n",
              lower_variable(lower, call, number, leaf->kind), scalar_names[leaf->kind],
              output->name);
  return !is_pointer || output->letter == 'l';
}

/* Returns the letter of the first kind of operand that the constraint allows and the value can be:
 * "i" and "n" are constants. CUDA C has one letter in a constraint, and "n" for both. */
static char choose_letter(LLVMValueRef value, const char *constraint) {
  const bool is_constant = LLVMIsConstant(value);
  while (!is_constant && (*constraint == 'i' || *constraint == 'n') && constraint[1])
    constraint++;
  return *constraint == 'i' ? 'n' : *constraint;
}

/* Adds an input. If its constraint is a number, the input is the initial
 * value of that output, which CUDA C marks "+r". */
static bool add_input(struct lower *lower, LLVMValueRef value, const char *constraint,
                      struct lists *lists) {
  struct leaves leaves = lower_leaves(lower, LLVMTypeOf(value));
  if (leaves.count != 1)
    return false;
  const char *text = lower_use(lower, value, 0);
  const char *cast = leaves.at[0].kind == SCALAR_POINTER ? "(u64)" : "";
  if (leaves.at[0].kind == SCALAR_HALF)
    text = lower_print(lower, "(%s).bits", text);
  if (isdigit((unsigned char)*constraint)) {
    unsigned long number = strtoul(constraint, NULL, 10);
    if (number >= lists->output_count || !add_operand(lists, (unsigned)number))
      return false;
    lists->outputs[number].tied = true;
    text_printf(&lists->before, "%s = %s%s;\n", lists->outputs[number].name, cast, text);
    return true;
  }
  if (!add_operand(lists, lists->output_count + lists->input_count++))
    return false;
  const char letter = choose_letter(value, constraint);
  if (letter != 'n') {
    const char *name = operand_variable(lower, &leaves.at[0], letter);
    text_printf(&lists->before, "%s = %s%s;\n", name, cast, text);
    text = name;
  }
  text_printf(&lists->inputs, "%s\"%c\"(%s)", lists->inputs.size ? ", " : "", letter, text);
  return true;
}

static bool read_operands(struct lower *lower, LLVMValueRef call, char *constraints,
                          struct lists *lists) {
  struct leaves results = lower_leaves(lower, LLVMTypeOf(call));
  unsigned input = 0;
  char *rest;
  for (char *one = strtok_r(constraints, ",", &rest); one; one = strtok_r(NULL, ",", &rest)) {
    if (*one == '~') {
      if (!strcmp(one, "~{memory}") && !lists->clobbers.size)
        text_puts(&lists->clobbers, "\"memory\"");
      continue;
    }
    if (strchr(one, '*')) /* a memory operand */
      return false;
    if (*one == '=' ? !add_output(lower, call, &results, one, lists)
                    : !add_input(lower, LLVMGetOperand(call, input++), one, lists))
      return false;
  }
  return true;
}

static void print_outputs(struct text *body, const struct lists *lists) {
  for (unsigned i = 0; i < lists->output_count; i++) {
    const struct output *output = &lists->outputs[i];
    text_printf(body, "%s\"%s%s%c\"(%s)", i ? ", " : "", output->tied ? "+" : "=",
                output->early ? "&" : "", output->letter, output->name);
  }
}

void lower_asm(struct lower *lower, LLVMValueRef call, LLVMValueRef assembly) {
  struct text code = {0}, constraints = {0};
  struct lists lists = {0};
  char *printed = LLVMPrintValueToString(assembly);
  const char *at = strstr(printed, " asm ");
  bool is_volatile = at && strstr(at, " sideeffect \"") != NULL;
  at = at ? read_quoted(at, &code) : NULL;
  at = at ? read_quoted(at, &constraints) : NULL;
  if (!at || !read_operands(lower, call, constraints.data, &lists)) {
    lower_fail(lower, "inline assembly with these operands is not supported: %.200s", printed);
  } else {
    struct text *body = &lower->body;
    lower->result->has_assembly = true;
    text_puts(body, lists.before.data ? lists.before.data : "");
    text_puts(body, is_volatile ? "asm volatile(" : "asm(");
    print_template(body, code.data, &lists);
    text_puts(body, " : ");
    print_outputs(body, &lists);
    text_printf(body, " : %s", lists.inputs.data ? lists.inputs.data : "");
    if (lists.clobbers.data)
      text_printf(body, " : %s", lists.clobbers.data);
    text_puts(body, ");\n");
    text_puts(body, lists.after.data ? lists.after.data : "");
  }
  LLVMDisposeMessage(printed);
  text_finish(&code);
  text_finish(&constraints);
  text_finish(&lists.inputs);
  text_finish(&lists.clobbers);
  text_finish(&lists.before);
  text_finish(&lists.after);
}
