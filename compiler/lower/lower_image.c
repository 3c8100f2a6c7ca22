/* Images and samplers. clang passes both as pointers, but they are values: for an image, the
 * address of its description among the kernel's parameters; for a sampler, a word of bits instead
 * of an address. Such a handle must not be treated as an address in global memory. */
#include <string.h>

#include "compiler/lower/lower_state.h"

static const char image_file[] = "image.cuh";
static const char image_prefix[] = "ocl_image", sampler_name[] = "ocl_sampler";

/* OpenCL C's image types. In mangled names clang calls them e.g. ocl_image2d_ro. */
static const struct {
  const char *name;
  uint32_t type; /* enum kernel_arg_image */
} image_types[] = {
    {"image1d_t", KERNEL_ARG_IMAGE_1D},
    {"image1d_buffer_t", KERNEL_ARG_IMAGE_1D_BUFFER},
    {"image1d_array_t", KERNEL_ARG_IMAGE_1D_ARRAY},
    {"image2d_t", KERNEL_ARG_IMAGE_2D},
    {"image2d_array_t", KERNEL_ARG_IMAGE_2D_ARRAY},
    {"image3d_t", KERNEL_ARG_IMAGE_3D},
    {"image2d_depth_t", KERNEL_ARG_IMAGE_2D | KERNEL_ARG_IMAGE_DEPTH},
    {"image2d_array_depth_t", KERNEL_ARG_IMAGE_2D_ARRAY | KERNEL_ARG_IMAGE_DEPTH},
};

enum kernel_arg_kind lower_handle_kind(const char *type, uint32_t *image) {
  for (size_t i = 0; i < sizeof image_types / sizeof image_types[0]; i++)
    if (!strcmp(type, image_types[i].name)) {
      *image = image_types[i].type;
      return KERNEL_ARG_IMAGE;
    }
  return strcmp(type, "sampler_t") ? KERNEL_ARG_VALUE : KERNEL_ARG_SAMPLER;
}

static bool is_image(const struct mangle_type *type) {
  return type->base == MANGLE_NAMED && !type->pointers &&
         !strncmp(type->name, image_prefix, strlen(image_prefix));
}

static bool is_sampler(const struct mangle_type *type) {
  return type->base == MANGLE_NAMED && !type->pointers && !strcmp(type->name, sampler_name);
}

void lower_handle_parameter(struct lower *lower, unsigned number, LLVMValueRef argument,
                            struct binary_arg *arg) {
  if (arg->kind == KERNEL_ARG_IMAGE) {
    lower_use_group(lower, image_file);
    arg->size = sizeof(struct kernel_image);
    text_printf(&lower->code, "const ocl::image a%u", number);
    if (arg->access == KERNEL_ARG_ACCESS_READ_ONLY)
      text_printf(&lower->textures, "%socl::has_texture(a%u, filters_)",
                  lower->textures.size ? " && " : "", number);
    lower_alias(lower, argument, 0, lower_print(lower, "((char *)&a%u)", number));
  } else {
    arg->size = sizeof(uint32_t);
    text_printf(&lower->code, "const u32 a%u", number);
    text_printf(&lower->samplers, "%sa%u", lower->samplers.size ? " | " : "", number);
    lower_alias(lower, argument, 0, lower_print(lower, "((char *)(u64)a%u)", number));
  }
}

static const char sampler_function[] = "__translate_sampler_initializer";

/* Returns the bits of a sampler that is a literal in the program. */
static LLVMValueRef literal_bits(LLVMValueRef value) {
  if (!LLVMIsACallInst(value))
    return NULL;
  const char *name = LLVMGetValueName(LLVMGetCalledValue(value));
  LLVMValueRef bits = strcmp(name, sampler_function) ? NULL : LLVMGetOperand(value, 0);
  return bits && LLVMIsAConstantInt(bits) ? bits : NULL;
}

/* Whether the function uses an image that is a parameter of the kernel, on a path that the kernel
 * chooses: a read of a read_only image, or a write if the kernel also has read_only images. */
static bool uses_parameter(struct lower *lower, const char *function, LLVMValueRef image,
                           const char *type) {
  static const char reads[] = "read_image", writes[] = "write_image";
  const char *access = type + strlen(type) - strlen("_ro");
  return lower->in_kernel && lower->textures.size && LLVMIsAArgument(image) &&
         ((!strncmp(function, reads, strlen(reads)) && !strcmp(access, "_ro")) ||
          (!strncmp(function, writes, strlen(writes)) && !strcmp(access, "_wo")));
}

const char *lower_handle_argument(struct lower *lower, const char *function,
                                  const struct mangle_type *type, LLVMValueRef value) {
  if (is_image(type)) {
    const bool chosen = uses_parameter(lower, function, value, type->name);
    lower->reads_images |= chosen;
    return lower_print(lower, "%socl::%s{(const ocl::image *)%s}%s",
                       chosen ? "ocl::on_path<textures_>(" : "", type->name,
                       lower_use(lower, value, 0), chosen ? ")" : "");
  }
  if (!is_sampler(type))
    return NULL;
  LLVMValueRef literal = literal_bits(value);
  lower->may_filter |=
      literal ? LLVMConstIntGetZExtValue(literal) & KERNEL_SAMPLER_LINEAR : !LLVMIsAArgument(value);
  return literal
             ? lower_print(lower, "ocl::literal_sampler<%llu>{}", LLVMConstIntGetZExtValue(literal))
             : lower_print(lower, "ocl::%s{(u32)(u64)%s}", type->name, lower_use(lower, value, 0));
}

bool lower_type_is_handle(const struct mangle_type *type) {
  return is_image(type) || is_sampler(type);
}

bool lower_is_sampler_literal(const char *symbol) {
  return !strcmp(symbol, sampler_function);
}

bool lower_call_sampler(struct lower *lower, LLVMValueRef call, const char *symbol) {
  if (!lower_is_sampler_literal(symbol))
    return false;
  const char *bits = lower_use(lower, LLVMGetOperand(call, 0), 0);
  lower_alias(lower, call, 0, lower_print(lower, "((char *)(u64)%s)", bits));
  return true;
}

/* ---- coordinates of integers ------------------------------------------------------- */

/* An element of a vector, or a scalar, and a constant that is added to it. */
struct sum {
  LLVMValueRef value;
  unsigned element;
  int64_t offset;
};

/* Whether the instruction is a sum of signed integers that does not overflow. clang does not say so
 * for vectors; LLVM's C interface only says so since LLVM 17. */
static bool is_signed_sum(LLVMValueRef value) {
  if (LLVMGetInstructionOpcode(value) != LLVMAdd)
    return false;
  /* A copy without operands and names prints at once. Otherwise all of the function is numbered. */
  LLVMValueRef copy = LLVMInstructionClone(value);
  LLVMSetOperand(copy, 0, LLVMGetUndef(LLVMTypeOf(value)));
  char *text = LLVMPrintValueToString(copy);
  const bool is_signed = strstr(text, " nsw ");
  LLVMDisposeMessage(text);
  LLVMDeleteInstruction(copy);
  return is_signed;
}

/* Finds the integer to which the program adds constants. */
static struct sum find_sum(LLVMValueRef value, unsigned element) {
  enum { OFFSET_MAX = 1 << 16 }; /* see exact in device/image_texture.cuh */
  struct sum sum = {value, element, 0};
  for (;;) {
    if (LLVMIsAInsertElementInst(sum.value)) {
      LLVMValueRef place = LLVMGetOperand(sum.value, 2);
      if (!LLVMIsAConstantInt(place))
        return sum;
      const bool is_here = LLVMConstIntGetZExtValue(place) == sum.element;
      sum.value = LLVMGetOperand(sum.value, is_here);
      sum.element = is_here ? 0 : sum.element;
      continue;
    }
    LLVMValueRef constant = LLVMIsABinaryOperator(sum.value) ? LLVMGetOperand(sum.value, 1) : NULL;
    if (!constant || !LLVMIsAConstantInt(constant) || !is_signed_sum(sum.value))
      return sum;
    const int64_t offset = sum.offset + LLVMConstIntGetSExtValue(constant);
    if (offset < -OFFSET_MAX || offset > OFFSET_MAX)
      return sum;
    sum.value = LLVMGetOperand(sum.value, 0);
    sum.offset = offset;
  }
}

const char *lower_coordinate(struct lower *lower, const struct mangle *mangle, unsigned number,
                             LLVMValueRef value) {
  enum { IMAGE, SAMPLER, COORDINATE };
  const struct mangle_type *type = &mangle->args[number];
  if (!lower->options.textures || number != COORDINATE || type->base != MANGLE_INT ||
      type->pointers || !is_image(&mangle->args[IMAGE]) || !is_sampler(&mangle->args[SAMPLER]))
    return NULL;
  bool has_offset = false;
  const char *text = type->lanes == 1
                         ? "ocl::offset_int{"
                         : lower_print(lower, "ocl::vec<ocl::offset_int, %u>{", type->lanes);
  for (unsigned i = 0; i < type->lanes; i++) {
    const struct sum sum = find_sum(value, i);
    has_offset |= sum.offset;
    text = lower_print(lower, "%s%s(int)%s, %d", text, i ? ", " : "",
                       lower_use(lower, sum.value, sum.element), (int)sum.offset);
  }
  return has_offset ? lower_print(lower, "%s}", text) : NULL;
}

/* ---- which pointers are handles ---------------------------------------------------- */

/* Handles are marked: instructions by metadata, arguments by an attribute. */
static const char mark_name[] = "tegracl.handle";

static unsigned argument_index(LLVMValueRef argument) {
  LLVMValueRef function = LLVMGetParamParent(argument);
  unsigned number = 0;
  while (LLVMGetParam(function, number) != argument)
    number++;
  return number + 1; /* as attributes count */
}

bool lower_is_handle(struct lower *lower, LLVMValueRef value) {
  if (LLVMIsAInstruction(value))
    return LLVMGetMetadata(value, lower->handle_mark) != NULL;
  return LLVMIsAArgument(value) &&
         LLVMGetStringAttributeAtIndex(LLVMGetParamParent(value), argument_index(value), mark_name,
                                       sizeof mark_name - 1);
}

static void mark_handle(struct lower *lower, LLVMValueRef value) {
  LLVMContextRef context = LLVMGetModuleContext(lower->module);
  if (LLVMIsAInstruction(value))
    LLVMSetMetadata(value, lower->handle_mark,
                    LLVMMetadataAsValue(context, LLVMMDNodeInContext2(context, NULL, 0)));
  else
    LLVMAddAttributeAtIndex(
        LLVMGetParamParent(value), argument_index(value),
        LLVMCreateStringAttribute(context, mark_name, sizeof mark_name - 1, "", 0));
}

static void mark_sources(struct lower *lower, LLVMValueRef value);

/* Marks the values that callers pass as this argument. */
static void mark_argument(struct lower *lower, LLVMValueRef argument) {
  LLVMValueRef function = LLVMGetParamParent(argument);
  const unsigned number = argument_index(argument) - 1;
  for (LLVMUseRef use = LLVMGetFirstUse(function); use; use = LLVMGetNextUse(use)) {
    LLVMValueRef user = LLVMGetUser(use);
    if (LLVMIsACallInst(user) && LLVMGetCalledValue(user) == function &&
        number < LLVMGetNumArgOperands(user))
      mark_sources(lower, LLVMGetOperand(user, number));
  }
}

/* Marks the values that are stored in the variable. */
static void mark_variable(struct lower *lower, LLVMValueRef variable) {
  if (!LLVMIsAAllocaInst(variable))
    return;
  for (LLVMUseRef use = LLVMGetFirstUse(variable); use; use = LLVMGetNextUse(use)) {
    LLVMValueRef user = LLVMGetUser(use);
    if (LLVMIsAStoreInst(user) && LLVMGetOperand(user, 1) == variable)
      mark_sources(lower, LLVMGetOperand(user, 0));
  }
}

/* Marks a handle and all values that it may come from. */
static void mark_sources(struct lower *lower, LLVMValueRef value) {
  if ((!LLVMIsAInstruction(value) && !LLVMIsAArgument(value)) || lower_is_handle(lower, value))
    return;
  mark_handle(lower, value);
  if (LLVMIsAArgument(value)) {
    mark_argument(lower, value);
    return;
  }
  switch (LLVMGetInstructionOpcode(value)) {
  case LLVMLoad:
    mark_variable(lower, LLVMGetOperand(value, 0));
    break;
  case LLVMPHI:
    for (unsigned i = 0; i < LLVMCountIncoming(value); i++)
      mark_sources(lower, LLVMGetIncomingValue(value, i));
    break;
  case LLVMSelect:
    mark_sources(lower, LLVMGetOperand(value, 2));
    mark_sources(lower, LLVMGetOperand(value, 1));
    break;
  case LLVMFreeze:
    mark_sources(lower, LLVMGetOperand(value, 0));
    break;
  default:
    break;
  }
}

/* Marks handles, starting at calls of library functions that take images or
 * samplers and going back to the parameters of kernels. */
void lower_find_handles(struct lower *lower) {
  struct mangle mangle;
  lower->handle_mark = LLVMGetMDKindIDInContext(LLVMGetModuleContext(lower->module), mark_name,
                                                sizeof mark_name - 1);
  for (LLVMValueRef at = LLVMGetFirstFunction(lower->module); at; at = LLVMGetNextFunction(at)) {
    if (!LLVMIsDeclaration(at) || !mangle_parse(LLVMGetValueName(at), &mangle))
      continue;
    for (LLVMUseRef use = LLVMGetFirstUse(at); use; use = LLVMGetNextUse(use)) {
      LLVMValueRef call = LLVMGetUser(use);
      if (!LLVMIsACallInst(call) || LLVMGetCalledValue(call) != at)
        continue;
      for (unsigned i = 0; i < mangle.arg_count && i < LLVMGetNumArgOperands(call); i++)
        if (lower_type_is_handle(&mangle.args[i]))
          mark_sources(lower, LLVMGetOperand(call, i));
    }
  }
}
