/* Lowers a module: decides which functions are needed and in which order
 * they are printed, and assembles the source. */
#include "compiler/lower/lower.h"

#include <stdlib.h>
#include <string.h>

#include "compiler/device_files.h"
#include "compiler/frontend/bitcode.h"
#include "compiler/lower/lower_state.h"
#include "compiler/lower/narrow.h"
#include "gpu/cubin/cubin_format.h"

/* Alignment of the memory of __local kernel arguments: the largest of
 * any OpenCL C type (double16, long16). */
enum { DYNAMIC_SHARED_ALIGN = 128 };

void lower_fail(struct lower *lower, const char *format, ...) {
  if (lower->failed)
    return;
  lower->failed = true;
  text_puts(lower->log, "error: ");
  if (lower->function)
    text_printf(lower->log, "in function '%s'", LLVMGetValueName(lower->function->ref));
  if (lower->function && lower->line)
    text_printf(lower->log, ", line %u", lower->line);
  if (lower->function)
    text_puts(lower->log, ": ");
  va_list values;
  va_start(values, format);
  text_vprintf(lower->log, format, values);
  va_end(values);
  text_puts(lower->log, "\n");
}

struct function *lower_function(struct lower *lower, LLVMValueRef ref) {
  for (unsigned i = 0; i < lower->function_count; i++)
    if (lower->functions[i].ref == ref)
      return &lower->functions[i];
  return NULL;
}

void lower_use_group(struct lower *lower, const char *file) {
  for (unsigned i = 0; i < device_file_count; i++) {
    if (strcmp(device_files[i].name, file) || lower->group_used[i])
      continue;
    lower->group_used[i] = true;
    text_printf(&lower->includes, "#include \"%s\"\n", file);
  }
}

/* Writes a file name with '?' for all characters that would need an escape: ptxas supports none. */
static void add_file_name(const char *file, unsigned length, struct text *out) {
  for (unsigned i = 0; i < length; i++) {
    bool plain = (unsigned char)file[i] >= ' ' && file[i] != '"' && file[i] != '\\';
    text_add(out, plain ? file + i : "?", 1);
  }
}

static unsigned file_number(struct lower *lower, const char *file, unsigned length) {
  unsigned count = 0;
  for (unsigned i = lower->place_count; i > 0; i--) {
    if (lower->places[i - 1].file == file)
      return lower->places[i - 1].file_number;
    if (lower->places[i - 1].file_number >= count)
      count = lower->places[i - 1].file_number + 1;
  }
  add_file_name(file, length, &lower->result->files);
  text_add(&lower->result->files, "", 1);
  return count;
}

/* Returns the number of the place in the unit's list. Adds the place if it is new. */
static unsigned place_number(struct lower *lower, unsigned line, const char *file,
                             unsigned length) {
  for (unsigned i = lower->place_count; i > 0; i--)
    if (lower->places[i - 1].line == line && lower->places[i - 1].file == file)
      return i - 1;
  if ((lower->place_count & (lower->place_count - 1)) == 0) {
    const size_t room = lower->place_count ? 2 * (size_t)lower->place_count : 1;
    struct place *places = realloc(lower->places, room * sizeof *places);
    if (!places) {
      lower_fail(lower, "out of memory");
      return 0;
    }
    lower->places = places;
  }
  const unsigned number = file_number(lower, file, length);
  const struct binary_place place = {line, number};
  text_add(&lower->result->places, (const char *)&place, sizeof place);
  lower->places[lower->place_count] = (struct place){line, number, file};
  return lower->place_count++;
}

void lower_line(struct lower *lower, LLVMValueRef value, struct text *out) {
  unsigned line = LLVMGetDebugLocLine(value), length = 0;
  if (!line)
    return;
  const char *file = LLVMGetDebugLocFilename(value, &length);
  if (line == lower->line && file == lower->file)
    return;
  if (lower->in_units) {
    text_printf(out, "\n#line %u", 1 + BINARY_LINES_STEP * place_number(lower, line, file, length));
    if (!lower->file)
      text_puts(out, " \"" SOURCE_FOLDER SOURCE_NAME "\"");
  } else {
    text_printf(out, "\n#line %u", line);
    if (file != lower->file) {
      text_puts(out, " \"" SOURCE_FOLDER);
      add_file_name(file, length, out);
      text_puts(out, "\"");
    }
  }
  text_puts(out, "\n");
  lower->line = line;
  lower->file = file;
}

void lower_join_lines(struct text *text, size_t start) {
  for (size_t i = start; i < text->size; i++)
    if (text->data[i] == '\n')
      text->data[i] = ' ';
}

bool lower_is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

bool lower_list_functions(struct lower *lower) {
  unsigned count = 0, kernels = 0;
  for (LLVMValueRef at = LLVMGetFirstFunction(lower->module); at; at = LLVMGetNextFunction(at))
    count++;
  lower->functions = arena_alloc(&lower->arena, count, sizeof *lower->functions);
  lower->group_used = arena_alloc(&lower->arena, device_file_count, sizeof *lower->group_used);
  if (!lower->functions || !lower->group_used)
    return false;
  for (LLVMValueRef at = LLVMGetFirstFunction(lower->module); at; at = LLVMGetNextFunction(at)) {
    if (LLVMIsDeclaration(at))
      continue;
    struct function *function = &lower->functions[lower->function_count++];
    function->ref = at;
    function->kernel = lower_is_kernel(at) ? kernels++ : NO_KERNEL;
  }
  return true;
}

/* Gives each function that is reached its name in the CUDA source. */
static bool name_functions(struct lower *lower) {
  unsigned number = 0;
  for (unsigned i = 0; i < lower->function_count; i++) {
    struct function *function = &lower->functions[i];
    if (!function->reached)
      continue;
    struct text name = {0};
    text_printf(&name, "f%u_", number++);
    for (const char *c = LLVMGetValueName(function->ref); *c; c++)
      text_add(&name, lower_is_name_character(*c) ? c : "_", 1);
    function->name = name.failed ? NULL : arena_string(&lower->arena, name.data, name.size);
    text_finish(&name);
    if (!function->name)
      return false;
  }
  return true;
}

static void visit_call(struct lower *lower, struct function *caller, LLVMValueRef call) {
  LLVMValueRef ref = LLVMGetCalledValue(call);
  struct function *callee = LLVMIsAFunction(ref) ? lower_function(lower, ref) : NULL;
  if (callee) {
    callee->called = true;
    lower_reach(lower, callee);
    caller->needs_hidden |= callee->needs_hidden;
    caller->uses_active |= callee->uses_active;
    caller->prints |= callee->prints;
    caller->sees_groups |= callee->sees_groups;
  } else if (LLVMIsAFunction(ref)) {
    caller->needs_hidden |= lower_call_needs_hidden(LLVMGetValueName(ref));
    caller->uses_active |= lower_call_uses_active(LLVMGetValueName(ref));
    caller->prints |= lower_is_printf(LLVMGetValueName(ref));
    caller->sees_groups = caller->sees_groups || lower_call_sees_groups(LLVMGetValueName(ref));
  } else {
    caller->sees_groups = true; /* inline assembly can read any special register */
  }
}

/* OpenCL C has no recursion, so a callee's needs_hidden is known after the callee has been visited.
 * clang accepts recursion, which is fine as long as the optimiser turns it into a loop. */
void lower_reach(struct lower *lower, struct function *function) {
  if (function->open)
    lower_fail(lower, "the function '%s' calls itself: OpenCL C does not allow recursion",
               LLVMGetValueName(function->ref));
  if (function->reached)
    return;
  function->reached = function->open = true;
  for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function->ref); block;
       block = LLVMGetNextBasicBlock(block))
    for (LLVMValueRef at = LLVMGetFirstInstruction(block); at; at = LLVMGetNextInstruction(at)) {
      lower->reached_instructions++;
      if (LLVMGetInstructionOpcode(at) == LLVMCall)
        visit_call(lower, function, at);
      for (unsigned i = 0; i < (unsigned)LLVMGetNumOperands(at); i++)
        lower_use_globals(lower, LLVMGetOperand(at, i));
    }
  function->open = false;
}

/* Prints the choice between the versions of the kernel's body. If filters are wrong, but the
 * samplers that are parameters turn out to be nearest, the texture units read nevertheless. */
static void print_choice(struct lower *lower) {
  struct text *code = &lower->code;
  text_printf(code,
              "};\nconst auto readable_ = [&](bool filters_) { return %s; };\nif (readable_(%s)",
              lower->textures.data, lower->may_filter || lower->samplers.size ? "true" : "false");
  if (!lower->may_filter && lower->samplers.size)
    text_printf(code, " || (!((%s) & ocl::SAMPLER_LINEAR) && readable_(false))",
                lower->samplers.data);
  text_puts(code, ")\nbody_(ocl::path<true>{});\nelse\nbody_(ocl::path<false>{});\n");
}

/* Writes the finished body after the function's heading. If the texture units may be used, a kernel
 * that reads images gets two versions of its body, because a choice at each read would cost more,
 * especially for images that the texture units cannot read. */
static void finish_function(struct lower *lower) {
  struct text *code = &lower->code;
  size_t start = code->size;
  text_puts(code, " {\n");
  const bool twice = lower->reads_images && lower->options.textures;
  if (twice)
    text_puts(code, "const auto body_ = [&](auto path_) {\n"
                    "constexpr bool textures_ = decltype(path_)::value;\n");
  else if (lower->reads_images)
    text_puts(code, "constexpr bool textures_ = false;\n");
  for (int i = 0; i < SCALAR_KINDS; i++)
    if (lower->locals[i].size)
      text_printf(code, "%s%s%s;\n", scalar_names[i], i == SCALAR_POINTER ? "" : " ",
                  lower->locals[i].data);
  text_add(code, lower->arrays.data, lower->arrays.size);
  lower_join_lines(code, start);
  text_add(code, lower->body.data, lower->body.size);
  if (twice)
    print_choice(lower);
  text_puts(code, "}\n");
  for (int i = 0; i < SCALAR_KINDS; i++)
    code->failed |= lower->locals[i].failed;
  code->failed |=
      lower->arrays.failed | lower->body.failed | lower->textures.failed | lower->samplers.failed;
  lower_forget(lower);
}

static void declare_result(struct lower *lower, const struct function *function) {
  struct leaves leaves =
      lower_leaves(lower, LLVMGetReturnType(LLVMGlobalGetValueType(function->ref)));
  if (leaves.count < 2)
    return;
  text_printf(&lower->head, "struct %s {", lower_result_type(lower, function));
  for (unsigned i = 0; i < leaves.count; i++)
    text_printf(&lower->head, " %s f%u;", scalar_names[leaves.at[i].kind], i);
  text_puts(&lower->head, " };\n");
}

static bool is_noinline(LLVMValueRef function) {
  static const char name[] = "noinline";
  const unsigned kind = LLVMGetEnumAttributeKindForName(name, sizeof name - 1);
  return LLVMGetEnumAttributeAtIndex(function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                                     kind) != NULL;
}

/* Prints the heading of a function that is not a kernel. */
static void print_heading(struct lower *lower, const struct function *function, struct text *out) {
  const char *separator = "";
  text_printf(out, "static __device__ %s%s %s(", is_noinline(function->ref) ? "__noinline__ " : "",
              lower_result_type(lower, function), function->name);
  if (function->needs_hidden) {
    text_puts(out, "const ocl::hidden hidden_");
    separator = ", ";
  }
  for (unsigned i = 0; i < LLVMCountParams(function->ref); i++) {
    LLVMValueRef argument = LLVMGetParam(function->ref, i);
    struct leaves leaves = lower_leaves(lower, LLVMTypeOf(argument));
    for (unsigned k = 0; k < leaves.count; k++) {
      text_printf(out, "%s%s a%u_%u", separator, scalar_names[leaves.at[k].kind], i, k);
      separator = ", ";
    }
  }
  text_puts(out, ")");
}

/* The heading gets the function's source line, or belongs to no file of the user. */
static void open_function(struct lower *lower, struct function *function, bool in_kernel) {
  lower->function = function;
  lower->in_kernel = in_kernel;
  lower->line = 0;
  lower->file = NULL;
  lower_line(lower, function->ref, &lower->code);
  if (!lower->line)
    text_puts(&lower->code, "\n#line 1 \"kernels.cu\"\n");
}

/* Names the parameters of a device function. Copies structs that are passed by value. */
static void open_parameters(struct lower *lower, const struct function *function) {
  for (unsigned i = 0; i < LLVMCountParams(function->ref); i++) {
    LLVMValueRef argument = LLVMGetParam(function->ref, i);
    struct leaves leaves = lower_leaves(lower, LLVMTypeOf(argument));
    LLVMTypeRef byval = lower_byval_type(function->ref, i);
    for (unsigned k = 0; k < leaves.count; k++)
      lower_alias(
          lower, argument, k,
          lower_print(lower, "%s(a%u_%u)", lower_space_hint(lower, argument, &leaves.at[k]), i, k));
    unsigned long long size = byval ? lower_size(lower, byval) : 0;
    if (size == 0)
      continue;
    unsigned align = (unsigned)lower_argument_align(lower, function->ref, i, byval);
    text_printf(&lower->arrays,
                "__align__(%u) u8 c%u[%llu];\n"
                "memcpy(c%u, __builtin_assume_aligned(a%u_0, %u), %llu);\n",
                align, i, size, i, i, align, size);
    lower_alias(lower, argument, 0, lower_print(lower, "((char *)c%u)", i));
  }
}

static void print_device_function(struct lower *lower, struct function *function) {
  open_function(lower, function, false);
  declare_result(lower, function);
  print_heading(lower, function, &lower->head);
  text_puts(&lower->head, ";\n");
  print_heading(lower, function, &lower->code);
  open_parameters(lower, function);
  lower_body(lower, function->ref);
  finish_function(lower);
  lower->function = NULL;
}

static void print_kernel(struct lower *lower, struct function *function) {
  struct binary_kernel *kernel = &lower->result->kernels[lower->result->kernel_count++];
  open_function(lower, function, true);
  kernel->prints = function->prints;
  kernel->uniform = lower_is_uniform(function->ref);
  kernel->ignores_groups = !function->sees_groups;
  lower_kernel(lower, function->ref, kernel);
  if (!lower->failed)
    lower_body(lower, function->ref);
  finish_function(lower);
  lower->function = NULL;
}

static bool is_wanted(const struct lower *lower, const struct function *function) {
  return function->kernel != NO_KERNEL &&
         (!lower->in_units ||
          (function->kernel >= lower->first_kernel && function->kernel < lower->end_kernel));
}

/* Refuses globals that need constructors, which C++ for OpenCL allows and nothing here
 * would run. The optimiser has already evaluated those that it can. */
static bool refuse_constructors(struct lower *lower) {
  static const char *const lists[] = {"llvm.global_ctors", "llvm.global_dtors"};
  for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
    LLVMValueRef list = LLVMGetNamedGlobal(lower->module, lists[i]);
    if (list && LLVMGetArrayLength(LLVMGlobalGetValueType(list))) {
      lower_fail(lower, "global objects whose constructors or destructors must run are not "
                        "supported: their values must be known at build time");
      return true;
    }
  }
  return false;
}

static void print_module(struct lower *lower) {
  struct lowered *result = lower->result;
  unsigned kernels = 0;
  bool uniform = true;
  if (refuse_constructors(lower))
    return;
  if (!lower_list_functions(lower)) {
    lower_fail(lower, "out of memory");
    return;
  }
  lower_list_globals(lower);
  for (unsigned i = 0; i < lower->function_count && !lower->failed; i++)
    if (is_wanted(lower, &lower->functions[i])) {
      uniform &= lower_is_uniform(lower->functions[i].ref);
      lower_reach(lower, &lower->functions[i]);
      kernels++;
    }
  result->kernels = arena_alloc(&result->arena, kernels, sizeof *result->kernels);
  if (!result->kernels || !name_functions(lower)) {
    lower_fail(lower, "out of memory");
    return;
  }
  lower_find_handles(lower);
  lower_globals(lower);
  for (unsigned i = 0; i < lower->function_count && !lower->failed; i++) {
    struct function *function = &lower->functions[i];
    bool is_kernel = lower_is_kernel(function->ref);
    if (function->reached && (function->called || !is_kernel))
      print_device_function(lower, function);
    if (is_wanted(lower, function) && !lower->failed)
      print_kernel(lower, function);
  }
  if (lower->has_half)
    text_puts(&result->cuda, "#define OCL_HALF_MATH\n");
  if (uniform)
    text_puts(&result->cuda, "#define OCL_UNIFORM\n");
  text_puts(&result->cuda, "#include \"tegracl.cuh\"\n#include \"lower.cuh\"\n");
  if (!lower->options.textures)
    text_puts(&result->cuda, "#define OCL_NO_TEXTURES\n");
  text_add(&result->cuda, lower->includes.data, lower->includes.size);
  text_printf(&result->cuda, "extern __shared__ __align__(%d) char dynamic_shared[];\n",
              DYNAMIC_SHARED_ALIGN);
  text_add(&result->cuda, lower->head.data, lower->head.size);
  text_add(&result->cuda, lower->code.data, lower->code.size);
  if (lower->includes.failed || lower->head.failed || lower->code.failed || result->cuda.failed ||
      result->places.failed || result->files.failed)
    lower_fail(lower, "out of memory");
}

void lower_print_source(struct lower *lower) {
  print_module(lower);
  lower_forget(lower);
  text_finish(&lower->head);
  text_finish(&lower->code);
  text_finish(&lower->includes);
  free(lower->places);
  arena_finish(&lower->arena);
}

bool lower_open(struct lower *lower, const char *bytes, size_t size) {
  LLVMContextRef context = bitcode_context(lower->log);
  lower->module = bitcode_read(context, bytes, size);
  if (!lower->module) {
    text_puts(lower->log, "error: cannot read the optimised program\n");
    LLVMContextDispose(context);
    return false;
  }
  lower->layout = LLVMCreateTargetData(LLVMGetDataLayoutStr(lower->module));
  if (!narrow_module(lower->module))
    lower_fail(lower, "out of memory");
  return true;
}

void lower_close(struct lower *lower) {
  LLVMContextRef context = LLVMGetModuleContext(lower->module);
  LLVMDisposeTargetData(lower->layout);
  LLVMDisposeModule(lower->module);
  LLVMContextDispose(context);
}

enum cc_status lower_bitcode(const char *bytes, size_t size, const struct lower_options *options,
                             struct lowered *result, struct text *log) {
  struct lower lower = {.result = result, .log = log, .options = *options};
  if (!lower_open(&lower, bytes, size))
    return CC_INTERNAL_ERROR;
  if (!lower.failed)
    lower_print_source(&lower);
  lower_close(&lower);
  return lower.failed ? CC_BUILD_FAILURE : CC_OK;
}

void lowered_finish(struct lowered *result) {
  text_finish(&result->cuda);
  text_finish(&result->places);
  text_finish(&result->files);
  arena_finish(&result->arena);
  *result = (struct lowered){0};
}
