/* Images and samplers. clang passes both as pointers, but they are values: an image is
 * the address of a description among the kernel's parameters, a sampler is a word of
 * bits that stands where the address would. So nothing here may be taken for an
 * address of global memory. */
#include <string.h>

#include "compiler/lower_state.h"

static const char image_file[] = "image.cuh";
static const char image_prefix[] = "ocl_image", sampler_name[] = "ocl_sampler";

/* OpenCL C's image types; clang names them in mangled names like ocl_image2d_ro. */
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
    lower_alias(lower, argument, 0, lower_print(lower, "((char *)&a%u)", number));
  } else {
    arg->size = sizeof(uint32_t);
    text_printf(&lower->code, "const u32 a%u", number);
    lower_alias(lower, argument, 0, lower_print(lower, "((char *)(u64)a%u)", number));
  }
}

static const char sampler_function[] = "__translate_sampler_initializer";

/* The bits of a sampler that is written in the program. */
static LLVMValueRef literal_bits(LLVMValueRef value) {
  if (!LLVMIsACallInst(value))
    return NULL;
  const char *name = LLVMGetValueName(LLVMGetCalledValue(value));
  LLVMValueRef bits = strcmp(name, sampler_function) ? NULL : LLVMGetOperand(value, 0);
  return bits && LLVMIsAConstantInt(bits) ? bits : NULL;
}

const char *lower_handle_argument(struct lower *lower, const struct mangle_type *type,
                                  LLVMValueRef value) {
  if (is_image(type))
    return lower_print(lower, "ocl::%s{(const ocl::image *)%s}", type->name,
                       lower_use(lower, value, 0));
  if (!is_sampler(type))
    return NULL;
  LLVMValueRef literal = literal_bits(value);
  return literal
             ? lower_print(lower, "ocl::literal_sampler<%llu>{}", LLVMConstIntGetZExtValue(literal))
             : lower_print(lower, "ocl::%s{(u32)(u64)%s}", type->name, lower_use(lower, value, 0));
}

bool lower_type_is_handle(const struct mangle_type *type) {
  return is_image(type) || is_sampler(type);
}

bool lower_call_sampler(struct lower *lower, LLVMValueRef call, const char *symbol) {
  if (strcmp(symbol, sampler_function) != 0)
    return false;
  const char *bits = lower_use(lower, LLVMGetOperand(call, 0), 0);
  lower_alias(lower, call, 0, lower_print(lower, "((char *)(u64)%s)", bits));
  return true;
}

/* ---- which pointers are handles ---------------------------------------------------- */

/* How far a value is followed through variables, phis and calls. */
enum { FOLLOW_MAX = 6 };

static bool follow(struct lower *lower, LLVMValueRef value, unsigned depth);

static bool is_handle_argument(struct lower *lower, LLVMValueRef call, LLVMValueRef value,
                               unsigned depth) {
  LLVMValueRef callee = LLVMGetCalledValue(call);
  if (!LLVMIsAFunction(callee))
    return false;
  const bool defined = !LLVMIsDeclaration(callee);
  struct mangle mangle;
  if (!defined && !mangle_parse(LLVMGetValueName(callee), &mangle))
    return false;
  for (unsigned i = 0; i < LLVMGetNumArgOperands(call); i++) {
    if (LLVMGetOperand(call, i) != value)
      continue;
    if (defined ? follow(lower, LLVMGetParam(callee, i), depth)
                : i < mangle.arg_count && lower_type_is_handle(&mangle.args[i]))
      return true;
  }
  return false;
}

/* A variable that the value is stored in: whether what is loaded from it is a handle. */
static bool is_handle_variable(struct lower *lower, LLVMValueRef variable, unsigned depth) {
  if (!LLVMIsAAllocaInst(variable))
    return false;
  for (LLVMUseRef use = LLVMGetFirstUse(variable); use; use = LLVMGetNextUse(use))
    if (LLVMIsALoadInst(LLVMGetUser(use)) && follow(lower, LLVMGetUser(use), depth))
      return true;
  return false;
}

static bool follow(struct lower *lower, LLVMValueRef value, unsigned depth) {
  if (depth == FOLLOW_MAX)
    return false;
  for (LLVMUseRef use = LLVMGetFirstUse(value); use; use = LLVMGetNextUse(use)) {
    LLVMValueRef user = LLVMGetUser(use);
    if (!LLVMIsAInstruction(user))
      continue;
    bool found = false;
    switch (LLVMGetInstructionOpcode(user)) {
    case LLVMCall:
      found = is_handle_argument(lower, user, value, depth + 1);
      break;
    case LLVMStore:
      found = LLVMGetOperand(user, 0) == value &&
              is_handle_variable(lower, LLVMGetOperand(user, 1), depth + 1);
      break;
    case LLVMPHI:
    case LLVMSelect:
    case LLVMFreeze:
      found = follow(lower, user, depth + 1);
      break;
    default:
      break;
    }
    if (found)
      return true;
  }
  return false;
}

bool lower_is_handle(struct lower *lower, LLVMValueRef value) {
  return lower->has_handles && follow(lower, value, 0);
}

void lower_find_handles(struct lower *lower) {
  struct mangle mangle;
  for (LLVMValueRef at = LLVMGetFirstFunction(lower->module); at && !lower->has_handles;
       at = LLVMGetNextFunction(at)) {
    if (!LLVMIsDeclaration(at) || !mangle_parse(LLVMGetValueName(at), &mangle))
      continue;
    for (unsigned i = 0; i < mangle.arg_count; i++)
      lower->has_handles |= is_image(&mangle.args[i]);
  }
}
