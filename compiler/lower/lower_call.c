/* Calls of the program's functions and of OpenCL's built-in functions. The C types of a
 * built-in function's arguments are decoded from its mangled name. */
#include <string.h>

#include "compiler/device_files.h"
#include "compiler/lower/lower_state.h"

enum { FILE_NAME_MAX = 64 }; /* with the final zero */
static const char groups_file[] = "groups.txt", core_file[] = "tegracl.cuh";

/* Built-in functions that take struct ocl::hidden. device/groups.txt also lists them. */
static const char *const hidden_functions[] = {
    "get_work_dim",
    "get_global_size",
    "get_global_id",
    "get_local_size",
    "get_local_id",
    "get_enqueued_local_size",
    "get_num_groups",
    "get_group_id",
    "get_global_offset",
    "get_global_linear_id",
    "get_local_linear_id",
    "__global_id_low",
    "get_enqueued_num_sub_groups",
};

static const char *const base_names[] = {
    [MANGLE_VOID] = "void",        [MANGLE_BOOL] = "bool",
    [MANGLE_CHAR] = "signed char", [MANGLE_UCHAR] = "unsigned char",
    [MANGLE_SHORT] = "short",      [MANGLE_USHORT] = "unsigned short",
    [MANGLE_INT] = "int",          [MANGLE_UINT] = "unsigned",
    [MANGLE_LONG] = "long long",   [MANGLE_ULONG] = "unsigned long long",
    [MANGLE_HALF] = "ocl::half",   [MANGLE_FLOAT] = "float",
    [MANGLE_DOUBLE] = "double",
};

/* Named types of OpenCL C that are numbers or handles in the device library. */
static const struct {
  const char *name;
  const char *c_name;
} named_types[] = {
    {"memory_order", "int"},
    {"memory_scope", "int"},
    {"ocl_event", "char *"},
};

static bool takes_hidden(const char *base) {
  for (size_t i = 0; i < sizeof hidden_functions / sizeof hidden_functions[0]; i++)
    if (!strcmp(base, hidden_functions[i]))
      return true;
  return false;
}

bool lower_call_needs_hidden(const char *symbol) {
  struct mangle mangle;
  return lower_is_printf(symbol) || (mangle_parse(symbol, &mangle) && takes_hidden(mangle.base));
}

/* Returns whether the symbol is a sub-group function whose result depends on the active lanes. All
 * do except those that every work-item must reach. */
bool lower_call_uses_active(const char *symbol) {
  static const char prefix[] = "sub_group_", vendor[] = "intel_";
  static const char *const for_all[] = {"all",       "any",     "barrier", "block_",
                                        "broadcast", "reduce_", "scan_"};
  struct mangle mangle;
  if (!mangle_parse(symbol, &mangle))
    return false;
  const char *name = mangle.base;
  if (!strncmp(name, vendor, sizeof vendor - 1))
    name += sizeof vendor - 1;
  if (strncmp(name, prefix, sizeof prefix - 1))
    return false;
  name += sizeof prefix - 1;
  for (size_t i = 0; i < sizeof for_all / sizeof for_all[0]; i++) {
    size_t size = strlen(for_all[i]);
    if (!strncmp(name, for_all[i], size) && (for_all[i][size - 1] == '_' || !name[size]))
      return false;
  }
  return true;
}

/* The functions of device/matrix.cuh use other instructions for local memory. */
static bool is_matrix_function(const char *base) {
  static const char prefix[] = "tegracl_matrix_";
  return !strncmp(base, prefix, sizeof prefix - 1);
}

bool lower_call_is_matrix(LLVMValueRef callee) {
  struct mangle mangle;
  return LLVMIsAFunction(callee) && LLVMIsDeclaration(callee) &&
         mangle_parse(LLVMGetValueName(callee), &mangle) && is_matrix_function(mangle.base);
}

static const char *device_file(const char *name) {
  for (unsigned i = 0; i < device_file_count; i++)
    if (!strcmp(device_files[i].name, name))
      return device_files[i].text;
  return "";
}

/* Whether the text contains the name followed by '(' and preceded by a blank, '(' or ','. */
static bool has_function(const char *text, const char *name) {
  size_t size = strlen(name);
  for (const char *at = text; (at = strstr(at, name)); at += size)
    if (at[size] == '(' && at > text && strchr(" \n(,", at[-1]))
      return true;
  return false;
}

/* Finds the file of a function in groups.txt, by its full name or the longest
 * matching prefix. Returns false if there is none. */
static bool find_group(const char *base, char *file, size_t file_size) {
  size_t best = 0;
  bool found = false;
  for (const char *line = device_file(groups_file); *line;) {
    size_t length = strcspn(line, "\n"), name = strcspn(line, " \n");
    bool is_prefix = name && line[name - 1] == '*';
    size_t compared = is_prefix ? name - 1 : name;
    bool matches =
        name && line[0] != '#' && !strncmp(line, base, compared) && (is_prefix || !base[compared]);
    size_t weight = is_prefix ? compared : SIZE_MAX;
    if (matches && (!found || weight > best) && name < length) {
      size_t size = length - name - 1;
      if (size < file_size) {
        memcpy(file, line + name + 1, size);
        file[size] = 0;
        best = weight;
        found = true;
      }
    }
    line += length + (line[length] == '\n');
  }
  return found;
}

/* Returns whether a kernel that calls the function may depend on which work-items form a
 * work-group. A function that is not known to concern one work-item alone does. */
bool lower_call_sees_groups(const char *symbol) {
  static const char *const core[] = {"get_work_dim", "get_global_size", "get_global_id",
                                     "__global_id_low"};
  static const char *const files[] = {/* or the start of their names */
                                      "atomic.cuh",        "atomic11.cuh",  "bitfield.cuh",
                                      "common.cuh",        "convert_",      "dot_",
                                      "exponential.cuh",   "geometric.cuh", "image.cuh",
                                      "integer.cuh",       "math.cuh",      "native.cuh",
                                      "relational.cuh",    "shuffle.cuh",   "special.cuh",
                                      "trigonometric.cuh", "vload.cuh"};
  struct mangle mangle;
  char file[FILE_NAME_MAX];
  if (!strncmp(symbol, "llvm.", strlen("llvm.")) || lower_is_printf(symbol) ||
      lower_is_sampler_literal(symbol))
    return false;
  if (!mangle_parse(symbol, &mangle))
    return true;
  for (size_t i = 0; i < sizeof core / sizeof core[0]; i++)
    if (!strcmp(mangle.base, core[i]))
      return false;
  const bool found = find_group(mangle.base, file, sizeof file);
  for (size_t i = 0; found && i < sizeof files / sizeof files[0]; i++)
    if (!strncmp(file, files[i], strlen(files[i])))
      return false;
  return true;
}

static const char *cuda_type(struct lower *lower, const struct mangle_type *type) {
  if (type->base != MANGLE_NAMED) {
    if (type->base == MANGLE_VARIADIC)
      return NULL;
    if (type->lanes == 1)
      return base_names[type->base];
    return lower_print(lower, "ocl::vec<%s, %u>", base_names[type->base], type->lanes);
  }
  for (size_t i = 0; i < sizeof named_types / sizeof named_types[0]; i++)
    if (!strcmp(type->name, named_types[i].name))
      return named_types[i].c_name;
  return lower_type_is_handle(type) ? lower_print(lower, "ocl::%s", type->name) : NULL;
}

static const char *scalar_argument(struct lower *lower, const struct mangle_type *type,
                                   const char *text) {
  if (type->base == MANGLE_HALF || type->base == MANGLE_FLOAT || type->base == MANGLE_DOUBLE)
    return text;
  return lower_print(lower, "(%s)%s", cuda_type(lower, type), text);
}

static void print_argument(struct lower *lower, struct text *out, const char *function,
                           const struct mangle_type *type, LLVMValueRef value) {
  const char *name = cuda_type(lower, type);
  unsigned leaves = lower_leaf_count(lower, LLVMTypeOf(value));
  if (type->pointers && type->is_local && is_matrix_function(function)) {
    text_printf(out, "ocl::in_local<%s%s>{(%s%s *)%s}", type->is_const ? "const " : "", name,
                type->is_const ? "const " : "", name, lower_pointer(lower, value, 0));
    return;
  }
  if (type->pointers) {
    text_printf(out, "(%s%s%s %.*s)%s", type->is_const ? "const " : "",
                type->is_volatile ? "volatile " : "", name, (int)type->pointers, "***",
                lower_pointer(lower, value, 0));
    return;
  }
  const char *handle = lower_handle_argument(lower, function, type, value);
  if (handle) {
    text_puts(out, handle);
    return;
  }
  if (type->lanes == 1) {
    text_puts(out, scalar_argument(lower, type, lower_use(lower, value, 0)));
    return;
  }
  struct mangle_type element = *type;
  element.lanes = 1;
  text_printf(out, "%s{", name);
  for (unsigned i = 0; i < type->lanes && i < leaves; i++)
    text_printf(out, "%s%s", i ? ", " : "",
                scalar_argument(lower, &element, lower_use(lower, value, i)));
  text_puts(out, "}");
}

static void print_library_call(struct lower *lower, LLVMValueRef call, const struct mangle *mangle,
                               struct text *expression) {
  unsigned count = (unsigned)LLVMGetNumArgOperands(call);
  bool first = true;
  text_printf(expression, "ocl::%s(", mangle->base);
  if (takes_hidden(mangle->base)) {
    text_puts(expression, "hidden_");
    first = false;
  }
  for (unsigned i = 0; i < count && i < mangle->arg_count; i++, first = false) {
    if (!first)
      text_puts(expression, ", ");
    LLVMValueRef value = LLVMGetOperand(call, i);
    const char *coordinate = lower_coordinate(lower, mangle, i, value);
    if (coordinate)
      text_puts(expression, coordinate);
    else
      print_argument(lower, expression, mangle->base, &mangle->args[i], value);
  }
  text_puts(expression, ")");
}

/* Functions of OpenCL C 2.0 that clang declares, with the features
 * they need, which the device lacks. */
static const struct {
  const char *prefix, *what;
} missing[] = {
    {"__read_pipe", "pipes"},
    {"__write_pipe", "pipes"},
    {"__reserve_", "pipes"},
    {"__commit_", "pipes"},
    {"__work_group_reserve_", "pipes"},
    {"__sub_group_reserve_", "pipes"},
    {"__work_group_commit_", "pipes"},
    {"__sub_group_commit_", "pipes"},
    {"__get_pipe_", "pipes"},
    {"__enqueue_kernel", "device-side queues"},
    {"__get_kernel_", "device-side queues"},
    {"get_default_queue", "device-side queues"},
};

/* Returns the missing feature that the function needs, or NULL. */
static const char *missing_feature(const char *name) {
  for (size_t i = 0; i < sizeof missing / sizeof missing[0]; i++)
    if (!strncmp(name, missing[i].prefix, strlen(missing[i].prefix)))
      return missing[i].what;
  return NULL;
}

static void call_library(struct lower *lower, LLVMValueRef call, const char *symbol) {
  struct mangle mangle;
  char file[FILE_NAME_MAX];
  const bool mangled = mangle_parse(symbol, &mangle);
  const char *feature = missing_feature(mangled ? mangle.base : symbol);
  if (feature) {
    lower_fail(lower, "the device does not support %s", feature);
    return;
  }
  if (!mangled) {
    lower_fail(lower, "the function '%s' is declared but not defined", symbol);
    return;
  }
  for (unsigned i = 0; i < mangle.arg_count; i++)
    if (!cuda_type(lower, &mangle.args[i])) {
      lower_fail(lower, "the function '%s' with an argument of type '%s' is not supported",
                 mangle.base, mangle.args[i].name);
      return;
    }
  if (find_group(mangle.base, file, sizeof file)) {
    lower_use_group(lower, file);
  } else if (!has_function(device_file(core_file), mangle.base)) {
    lower_fail(lower,
               "the function '%s' is declared but not defined, and is not a built-in function",
               mangle.base);
    return;
  }
  struct leaves leaves = lower_leaves(lower, LLVMTypeOf(call));
  struct text expression = {0};
  print_library_call(lower, call, &mangle, &expression);
  if (expression.failed) {
    lower_fail(lower, "out of memory");
  } else if (leaves.count == 0) {
    text_printf(&lower->body, "%s;\n", expression.data);
  } else if (leaves.count == 1) {
    text_printf(&lower->body, "%s = %s;\n", lower_variable(lower, call, 0, leaves.at[0].kind),
                lower_cast(lower, &leaves.at[0], expression.data));
  } else {
    text_printf(&lower->body, "{ const auto t = %s;", expression.data);
    for (unsigned i = 0; i < leaves.count; i++)
      text_printf(&lower->body, " %s = %s;", lower_variable(lower, call, i, leaves.at[i].kind),
                  lower_cast(lower, &leaves.at[i], lower_print(lower, "t.s[%u]", i)));
    text_puts(&lower->body, " }\n");
  }
  text_finish(&expression);
}

const char *lower_result_type(struct lower *lower, const struct function *function) {
  LLVMTypeRef type = LLVMGetReturnType(LLVMGlobalGetValueType(function->ref));
  struct leaves leaves = lower_leaves(lower, type);
  return leaves.count == 0   ? "void"
         : leaves.count == 1 ? scalar_names[leaves.at[0].kind]
                             : lower_print(lower, "r_%s", function->name);
}

static void call_function(struct lower *lower, LLVMValueRef call, const struct function *callee) {
  struct leaves leaves = lower_leaves(lower, LLVMTypeOf(call));
  const char *separator = "";
  struct text *body = &lower->body;
  if (leaves.count == 1)
    text_printf(body, "%s = ", lower_variable(lower, call, 0, leaves.at[0].kind));
  else if (leaves.count > 1)
    text_printf(body, "{ const %s t = ", lower_result_type(lower, callee));
  text_printf(body, "%s(", callee->name);
  if (callee->needs_hidden) {
    text_puts(body, "hidden_");
    separator = ", ";
  }
  for (unsigned i = 0; i < LLVMGetNumArgOperands(call); i++) {
    LLVMValueRef argument = LLVMGetOperand(call, i);
    for (unsigned k = 0; k < lower_leaf_count(lower, LLVMTypeOf(argument)); k++) {
      text_printf(body, "%s%s", separator, lower_use(lower, argument, k));
      separator = ", ";
    }
  }
  text_puts(body, ");");
  for (unsigned i = 0; leaves.count > 1 && i < leaves.count; i++)
    text_printf(body, " %s = t.f%u;", lower_variable(lower, call, i, leaves.at[i].kind), i);
  text_puts(body, leaves.count > 1 ? " }\n" : "\n");
}

/* Conversions from the generic address space, by clang's names. */
static const struct {
  const char *symbol;
  const char *function;
} conversions[] = {
    {"__to_global", "to_global"}, {"__to_local", "to_local"}, {"__to_private", "to_private"}};

static bool call_conversion(struct lower *lower, LLVMValueRef call, const char *symbol) {
  for (size_t i = 0; i < sizeof conversions / sizeof conversions[0]; i++) {
    if (strcmp(symbol, conversions[i].symbol))
      continue;
    const char *argument = lower_use(lower, LLVMGetOperand(call, 0), 0);
    text_printf(&lower->body, "%s = ocl::%s(%s);\n", lower_variable(lower, call, 0, SCALAR_POINTER),
                conversions[i].function, argument);
    return true;
  }
  return false;
}

void lower_call(struct lower *lower, LLVMValueRef call) {
  LLVMValueRef callee = LLVMGetCalledValue(call);
  if (LLVMIsAInlineAsm(callee)) {
    lower_asm(lower, call, callee);
    return;
  }
  if (!LLVMIsAFunction(callee)) {
    lower_fail(lower, "calls through function pointers are not supported");
    return;
  }
  const char *symbol = LLVMGetValueName(callee);
  struct function *function = lower_function(lower, callee);
  if (function)
    call_function(lower, call, function);
  else if (!strncmp(symbol, "llvm.", strlen("llvm.")))
    lower_intrinsic(lower, call, symbol);
  else if (lower_is_printf(symbol))
    lower_printf(lower, call);
  else if (!call_conversion(lower, call, symbol) && !lower_call_sampler(lower, call, symbol))
    call_library(lower, call, symbol);
}
