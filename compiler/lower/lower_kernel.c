/* Kernel entry points: their parameters, and the descriptions of kernels in the program binary. */
#include <stdio.h>
#include <string.h>

#include "compiler/lower/lower_state.h"

/* SPIR_KERNEL is LLVM's number for the calling convention spir_kernel (llvm/IR/CallingConv.h). */
enum { SPIR_KERNEL = 76, POINTER_BYTES = 8, LOCAL_OFFSET_BYTES = 4, DIMENSIONS = 3 };

bool lower_is_kernel(LLVMValueRef function) {
  return LLVMGetFunctionCallConv(function) == SPIR_KERNEL && !LLVMIsDeclaration(function);
}

/* Returns whether all work-groups must have the same size, as in OpenCL C 1.x and with
 * -cl-uniform-work-group-size. */
bool lower_is_uniform(LLVMValueRef kernel) {
  static const char name[] = "uniform-work-group-size", yes[] = "true";
  unsigned size = 0;
  LLVMAttributeRef attribute = LLVMGetStringAttributeAtIndex(
      kernel, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, name, sizeof name - 1);
  const char *value = attribute ? LLVMGetStringAttributeValue(attribute, &size) : "";
  return size == sizeof yes - 1 && !memcmp(value, yes, size);
}

static bool has_attribute(LLVMValueRef function, unsigned argument, const char *name) {
  unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
  return LLVMGetEnumAttributeAtIndex(function, argument + 1, kind) != NULL;
}

LLVMTypeRef lower_byval_type(LLVMValueRef function, unsigned argument) {
  static const char name[] = "byval";
  unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
  LLVMAttributeRef attribute = LLVMGetEnumAttributeAtIndex(function, argument + 1, kind);
  return attribute ? LLVMGetTypeAttributeValue(attribute) : NULL;
}

uint64_t lower_argument_align(struct lower *lower, LLVMValueRef function, unsigned argument,
                              LLVMTypeRef type) {
  static const char name[] = "align";
  unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
  LLVMAttributeRef attribute = LLVMGetEnumAttributeAtIndex(function, argument + 1, kind);
  return attribute ? LLVMGetEnumAttributeValue(attribute)
                   : LLVMABIAlignmentOfType(lower->layout, type);
}

/* Prints one parameter and the name that the body uses for it. Fills in the argument's size
 * and kind; for images and samplers describe_argument sets the kind. */
static void print_parameter(struct lower *lower, LLVMValueRef function, unsigned number,
                            LLVMValueRef argument, struct binary_arg *arg) {
  LLVMTypeRef type = LLVMTypeOf(argument), byval = lower_byval_type(function, number);
  struct text *code = &lower->code;
  struct leaves leaves = lower_leaves(lower, type);
  if (arg->kind != KERNEL_ARG_VALUE) {
    lower_handle_parameter(lower, number, argument, arg);
  } else if (byval) {
    uint64_t size = lower_size(lower, byval);
    if (size == 0)
      lower_fail(lower, "argument %u is an empty struct, which is not supported", number);
    arg->size = (uint32_t)size;
    text_printf(code, "param<u8, %llu, %llu> a%u", (unsigned long long)size,
                (unsigned long long)lower_argument_align(lower, function, number, byval), number);
    lower_alias(lower, argument, 0, lower_print(lower, "((char *)&a%u)", number));
  } else if (LLVMGetTypeKind(type) == LLVMVectorTypeKind) {
    arg->size = (uint32_t)lower_size(lower, type);
    text_printf(code, "const param<%s, %u, %u> a%u", scalar_names[leaves.at[0].kind], leaves.count,
                LLVMABIAlignmentOfType(lower->layout, type), number);
    for (unsigned i = 0; i < leaves.count; i++)
      lower_alias(lower, argument, i, lower_print(lower, "a%u.s[%u]", number, i));
  } else if (leaves.count != 1) {
    lower_fail(lower, "the type of argument %u is not supported", number);
  } else if (leaves.at[0].kind != SCALAR_POINTER) {
    arg->size = (uint32_t)lower_size(lower, type);
    text_printf(code, "const %s a%u", scalar_names[leaves.at[0].kind], number);
    lower_alias(lower, argument, 0, lower_print(lower, "a%u", number));
  } else if (leaves.at[0].space == SPACE_LOCAL) {
    arg->kind = KERNEL_ARG_LOCAL;
    arg->size = LOCAL_OFFSET_BYTES;
    arg->align = lower_array_align((unsigned)lower_argument_align(lower, function, number, type),
                                   UINT64_MAX);
    text_printf(code, "const u32 a%u", number);
    lower_alias(lower, argument, 0, lower_print(lower, "(dynamic_shared + a%u)", number));
  } else {
    bool constant = leaves.at[0].space == SPACE_CONSTANT;
    bool read_only = constant || has_attribute(function, number, "readonly") ||
                     has_attribute(function, number, "readnone");
    bool alone = constant || has_attribute(function, number, "noalias");
    arg->kind = constant ? KERNEL_ARG_CONSTANT : KERNEL_ARG_GLOBAL;
    arg->size = POINTER_BYTES;
    text_printf(code, "%schar *%s a%u", read_only ? "const " : "", alone ? "__restrict__" : "",
                number);
    lower_alias(lower, argument, 0, lower_print(lower, "((char *)a%u)", number));
  }
}

/* Returns the function's metadata of this name, or NULL. */
static LLVMValueRef find_metadata(struct lower *lower, LLVMValueRef function, const char *name) {
  LLVMContextRef context = LLVMGetModuleContext(lower->module);
  unsigned kind = LLVMGetMDKindIDInContext(context, name, (unsigned)strlen(name));
  size_t count = 0;
  LLVMValueMetadataEntry *entries = LLVMGlobalCopyAllMetadata(function, &count);
  LLVMValueRef found = NULL;
  for (unsigned i = 0; i < count && !found; i++)
    if (LLVMValueMetadataEntriesGetKind(entries, i) == kind)
      found = LLVMMetadataAsValue(context, LLVMValueMetadataEntriesGetMetadata(entries, i));
  LLVMDisposeValueMetadataEntries(entries);
  return found;
}

/* Returns the operands of a metadata node, allocated in lower->names, or NULL with a count of 0. */
static LLVMValueRef *metadata_operands(struct lower *lower, LLVMValueRef function, const char *name,
                                       unsigned *count) {
  LLVMValueRef node = find_metadata(lower, function, name);
  *count = node ? LLVMGetMDNodeNumOperands(node) : 0;
  if (!*count)
    return NULL;
  LLVMValueRef *list = arena_alloc(&lower->names, *count, sizeof(LLVMValueRef));
  if (list)
    LLVMGetMDNodeOperands(node, list);
  else
    *count = 0;
  return list;
}

static const char *metadata_string(struct lower *lower, LLVMValueRef function, const char *name,
                                   unsigned number) {
  unsigned count, length = 0;
  LLVMValueRef *list = metadata_operands(lower, function, name, &count);
  const char *text = number < count && list[number] ? LLVMGetMDString(list[number], &length) : "";
  const char *copy = arena_string(&lower->result->arena, text ? text : "", text ? length : 0);
  if (!copy)
    lower_fail(lower, "out of memory");
  return copy;
}

static enum kernel_arg_access access_of(const char *text) {
  return !strcmp(text, "read_only")    ? KERNEL_ARG_ACCESS_READ_ONLY
         : !strcmp(text, "write_only") ? KERNEL_ARG_ACCESS_WRITE_ONLY
         : !strcmp(text, "read_write") ? KERNEL_ARG_ACCESS_READ_WRITE
                                       : KERNEL_ARG_ACCESS_NONE;
}

/* Whether clang passes the type as a pointer although it is not an address. */
static bool is_opaque(const char *type) {
  static const char *const names[] = {"event_t", "queue_t"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    if (!strncmp(type, names[i], strlen(names[i])))
      return true;
  return false;
}

static void describe_argument(struct lower *lower, LLVMValueRef function, unsigned number,
                              struct binary_arg *arg) {
  const char *qualifiers = metadata_string(lower, function, "kernel_arg_type_qual", number);
  const char *access = metadata_string(lower, function, "kernel_arg_access_qual", number);
  const char *base_type = metadata_string(lower, function, "kernel_arg_base_type", number);
  if (!lower->failed && (is_opaque(base_type) || strstr(qualifiers, "pipe")))
    lower_fail(lower, "kernel arguments of type '%s%s' are not supported",
               strstr(qualifiers, "pipe") ? "pipe " : "", base_type);
  arg->kind = lower_handle_kind(base_type, &arg->image);
  arg->access = access_of(access);
  arg->qualifiers = (strstr(qualifiers, "const") ? KERNEL_ARG_CONST : 0u) |
                    (strstr(qualifiers, "restrict") ? KERNEL_ARG_RESTRICT : 0u) |
                    (strstr(qualifiers, "volatile") ? KERNEL_ARG_VOLATILE : 0u);
  if (lower->failed || !lower->options.arg_info)
    return;
  arg->name = metadata_string(lower, function, "kernel_arg_name", number);
  arg->type_name = metadata_string(lower, function, "kernel_arg_type", number);
}

static void read_size(struct lower *lower, LLVMValueRef function, const char *name,
                      uint32_t size[DIMENSIONS], struct text *attributes) {
  unsigned count;
  LLVMValueRef *list = metadata_operands(lower, function, name, &count);
  if (count != DIMENSIONS)
    return;
  for (int i = 0; i < DIMENSIONS; i++)
    size[i] = (uint32_t)LLVMConstIntGetZExtValue(list[i]);
  text_printf(attributes, "%s%s(%u,%u,%u)", attributes->size ? " " : "", name, size[0], size[1],
              size[2]);
}

/* Reads vec_type_hint, which is an undefined value of the type and whether it is signed. */
static void read_type_hint(struct lower *lower, LLVMValueRef function, struct text *attributes) {
  static const char *const names[SCALAR_KINDS] = {
      [SCALAR_U8] = "char",      [SCALAR_U16] = "short", [SCALAR_U32] = "int",
      [SCALAR_U64] = "long",     [SCALAR_HALF] = "half", [SCALAR_FLOAT] = "float",
      [SCALAR_DOUBLE] = "double"};
  unsigned count;
  LLVMValueRef *list = metadata_operands(lower, function, "vec_type_hint", &count);
  if (count != 2 || !list[0])
    return;
  struct leaves leaves = lower_leaves(lower, LLVMTypeOf(list[0]));
  if (!leaves.count || !names[leaves.at[0].kind])
    return;
  bool is_unsigned = scalar_is_integer(leaves.at[0].kind) && LLVMConstIntGetZExtValue(list[1]) == 0;
  text_printf(attributes, "%svec_type_hint(%s%s", attributes->size ? " " : "",
              is_unsigned ? "u" : "", names[leaves.at[0].kind]);
  if (leaves.count > 1)
    text_printf(attributes, "%u", leaves.count);
  text_puts(attributes, ")");
}

enum { WARP = 32 };

/* Reads intel_reqd_sub_group_size, from OpenCL C or SPIR-V's SubgroupSize.
 * Any size other than that of a warp is an error. */
static void read_subgroup_size(struct lower *lower, LLVMValueRef function,
                               struct text *attributes) {
  unsigned count;
  LLVMValueRef *list = metadata_operands(lower, function, "intel_reqd_sub_group_size", &count);
  if (count != 1)
    return;
  const unsigned size = (unsigned)LLVMConstIntGetZExtValue(list[0]);
  if (size != WARP)
    lower_fail(lower,
               "the kernel '%s' requires sub-groups of %u work-items, but the device has "
               "sub-groups of %u",
               LLVMGetValueName(function), size, (unsigned)WARP);
  text_printf(attributes, "%sintel_reqd_sub_group_size(%u)", attributes->size ? " " : "", size);
}

/* Reads LOWER_SUB_GROUPS, which is SPIR-V's SubgroupsPerWorkgroup. */
static void read_sub_groups(struct lower *lower, LLVMValueRef function,
                            struct binary_kernel *kernel) {
  unsigned count;
  LLVMValueRef *list = metadata_operands(lower, function, LOWER_SUB_GROUPS, &count);
  if (count == 1)
    kernel->sub_groups = (uint32_t)LLVMConstIntGetZExtValue(list[0]);
}

static void describe_kernel(struct lower *lower, LLVMValueRef function,
                            struct binary_kernel *kernel) {
  struct arena *arena = &lower->result->arena;
  const char *name = LLVMGetValueName(function);
  struct text attributes = {0};
  for (const char *c = name; *c; c++)
    if (!lower_is_name_character(*c))
      lower_fail(lower, "the kernel name '%s' contains characters other than a-z, A-Z, 0-9 and _",
                 name);
  read_type_hint(lower, function, &attributes);
  read_size(lower, function, "work_group_size_hint", kernel->hinted_block, &attributes);
  read_size(lower, function, "reqd_work_group_size", kernel->required_block, &attributes);
  read_subgroup_size(lower, function, &attributes);
  read_sub_groups(lower, function, kernel);
  kernel->name = arena_string(arena, name, strlen(name));
  kernel->attributes = arena_string(arena, attributes.data ? attributes.data : "", attributes.size);
  if (attributes.failed || !kernel->name || !kernel->attributes)
    lower_fail(lower, "out of memory");
  text_finish(&attributes);
}

void lower_kernel(struct lower *lower, LLVMValueRef function, struct binary_kernel *kernel) {
  unsigned count = LLVMCountParams(function);
  struct binary_arg *args = arena_alloc(&lower->result->arena, count, sizeof *args);
  if (!args) {
    lower_fail(lower, "out of memory");
    return;
  }
  describe_kernel(lower, function, kernel);
  if (lower->failed)
    return;
  kernel->args = args;
  kernel->arg_count = count;

  text_puts(&lower->code, "extern \"C\" __global__ void ");
  if (kernel->required_block[0])
    text_printf(&lower->code, "__launch_bounds__(%u) ",
                kernel->required_block[0] * kernel->required_block[1] * kernel->required_block[2]);
  else if (kernel->sub_groups)
    text_printf(&lower->code, "__launch_bounds__(%u) ", kernel->sub_groups * (unsigned)WARP);
  text_printf(&lower->code, BINARY_KERNEL_PREFIX "%s(", kernel->name);
  for (unsigned i = 0; i < count; i++) {
    LLVMValueRef argument = LLVMGetParam(function, i);
    describe_argument(lower, function, i, &args[i]);
    print_parameter(lower, function, i, argument, &args[i]);
    text_puts(&lower->code, ", ");
  }
  text_puts(&lower->code, "const __grid_constant__ ocl::hidden hidden_)");
}
