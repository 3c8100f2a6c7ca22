/* Queries about kernels: names, arguments and resources. */
#include <string.h>

#include "icd/objects.h"

#include "icd/cl_tegracl.h"

CL_API_ENTRY cl_int CL_API_CALL clGetKernelInfo(cl_kernel kernel, cl_kernel_info param_name,
                                                size_t param_value_size, void *param_value,
                                                size_t *param_value_size_ret) {
  const struct icd_answer answer = {param_value_size, param_value, param_value_size_ret};
  if (!icd_is_kernel(kernel))
    return ICD_FAIL(NULL, CL_INVALID_KERNEL, "kernel %p is not a valid cl_kernel", (void *)kernel);
  switch (param_name) {
  case CL_KERNEL_FUNCTION_NAME:
    return ICD_ANSWER_STRING(&answer, kernel->code->name);
  case CL_KERNEL_NUM_ARGS:
    return ICD_ANSWER(&answer, cl_uint, kernel->code->arg_count);
  case CL_KERNEL_REFERENCE_COUNT:
    return ICD_ANSWER(&answer, cl_uint, atomic_load(&kernel->object.handles));
  case CL_KERNEL_CONTEXT:
    return ICD_ANSWER(&answer, cl_context, kernel->program->context);
  case CL_KERNEL_PROGRAM:
    return ICD_ANSWER(&answer, cl_program, kernel->program);
  case CL_KERNEL_ATTRIBUTES: { /* empty if the program was created from SPIR-V or a binary */
    const struct _cl_program *program = kernel->program;
    return ICD_ANSWER_STRING(&answer,
                             program->source || program->linked ? kernel->code->attributes : "");
  }
  default:
    return ICD_FAIL(kernel->program->context, CL_INVALID_VALUE, "unknown param_name 0x%x",
                    param_name);
  }
}

static cl_kernel_arg_address_qualifier address_qualifier(enum kernel_arg_kind kind) {
  switch (kind) {
  case KERNEL_ARG_GLOBAL:
  case KERNEL_ARG_IMAGE:
    return CL_KERNEL_ARG_ADDRESS_GLOBAL;
  case KERNEL_ARG_CONSTANT:
    return CL_KERNEL_ARG_ADDRESS_CONSTANT;
  case KERNEL_ARG_LOCAL:
    return CL_KERNEL_ARG_ADDRESS_LOCAL;
  case KERNEL_ARG_VALUE:
  case KERNEL_ARG_SAMPLER:
    break;
  }
  return CL_KERNEL_ARG_ADDRESS_PRIVATE;
}

_Static_assert(CL_KERNEL_ARG_ACCESS_READ_ONLY + KERNEL_ARG_ACCESS_NONE == CL_KERNEL_ARG_ACCESS_NONE,
               "the order of enum kernel_arg_access differs from OpenCL's");
_Static_assert(KERNEL_ARG_CONST == CL_KERNEL_ARG_TYPE_CONST &&
                   KERNEL_ARG_RESTRICT == CL_KERNEL_ARG_TYPE_RESTRICT &&
                   KERNEL_ARG_VOLATILE == CL_KERNEL_ARG_TYPE_VOLATILE,
               "the bits of enum kernel_arg_qualifier differ from OpenCL's");

CL_API_ENTRY cl_int CL_API_CALL clGetKernelArgInfo(cl_kernel kernel, cl_uint arg_index,
                                                   cl_kernel_arg_info param_name,
                                                   size_t param_value_size, void *param_value,
                                                   size_t *param_value_size_ret) {
  const struct icd_answer answer = {param_value_size, param_value, param_value_size_ret};
  if (!icd_is_kernel(kernel))
    return ICD_FAIL(NULL, CL_INVALID_KERNEL, "kernel %p is not a valid cl_kernel", (void *)kernel);
  cl_context context = kernel->program->context;
  if (arg_index >= kernel->code->arg_count)
    return ICD_FAIL(context, CL_INVALID_ARG_INDEX,
                    "kernel %s has %u arguments, but arg_index is %u", kernel->code->name,
                    kernel->code->arg_count, arg_index);
  const struct kernel_arg *arg = &kernel->code->args[arg_index];
  if (!*arg->type_name)
    return ICD_FAIL(
        context, CL_KERNEL_ARG_INFO_NOT_AVAILABLE,
        "argument information is not available; build the program with -cl-kernel-arg-info");
  switch (param_name) {
  case CL_KERNEL_ARG_ADDRESS_QUALIFIER:
    return ICD_ANSWER(&answer, cl_kernel_arg_address_qualifier, address_qualifier(arg->kind));
  case CL_KERNEL_ARG_ACCESS_QUALIFIER:
    return ICD_ANSWER(&answer, cl_kernel_arg_access_qualifier,
                      CL_KERNEL_ARG_ACCESS_READ_ONLY + arg->access);
  case CL_KERNEL_ARG_TYPE_NAME:
    return ICD_ANSWER_STRING(&answer, arg->type_name);
  case CL_KERNEL_ARG_TYPE_QUALIFIER:
    return ICD_ANSWER(&answer, cl_kernel_arg_type_qualifier, arg->qualifiers);
  case CL_KERNEL_ARG_NAME:
    return ICD_ANSWER_STRING(&answer, arg->name);
  default:
    return ICD_FAIL(context, CL_INVALID_VALUE, "unknown param_name 0x%x", param_name);
  }
}

/* Returns the size of static local memory and of the local arguments that have been set, each
 * aligned as its type requires. */
static cl_ulong local_memory(cl_kernel kernel) {
  cl_ulong bytes = kernel->code->shared_bytes;
  icd_lock(&kernel->guard);
  for (uint32_t i = 0; i < kernel->code->arg_count; i++) {
    const struct kernel_arg *arg = &kernel->code->args[i];
    if (arg->kind == KERNEL_ARG_LOCAL && kernel->set[i])
      bytes = ((bytes + arg->align - 1) & ~((cl_ulong)arg->align - 1)) + kernel->local_sizes[i];
  }
  icd_unlock(&kernel->guard);
  return bytes;
}

/* Writes three numbers as size_t[3]. */
static cl_int answer_block(const struct icd_answer *answer, const char *call,
                           const uint32_t block[3]) {
  const size_t sizes[3] = {block[0], block[1], block[2]};
  return icd_answer_bytes(answer, call, sizes, sizeof(sizes));
}

CL_API_ENTRY cl_int CL_API_CALL clGetKernelWorkGroupInfo(cl_kernel kernel, cl_device_id device,
                                                         cl_kernel_work_group_info param_name,
                                                         size_t param_value_size, void *param_value,
                                                         size_t *param_value_size_ret) {
  const struct icd_answer answer = {param_value_size, param_value, param_value_size_ret};
  if (!icd_is_kernel(kernel))
    return ICD_FAIL(NULL, CL_INVALID_KERNEL, "kernel %p is not a valid cl_kernel", (void *)kernel);
  cl_context context = kernel->program->context;
  if (device && device != context->device)
    return ICD_FAIL(context, CL_INVALID_DEVICE, "device %p is not a device of the kernel",
                    (void *)device);
  const struct kernel_code *code = kernel->code;
  switch (param_name) {
  case CL_KERNEL_WORK_GROUP_SIZE:
    return ICD_ANSWER(&answer, size_t, kernel->max_threads);
  case CL_KERNEL_COMPILE_WORK_GROUP_SIZE:
    return answer_block(&answer, __func__, code->required_block);
  case CL_KERNEL_LOCAL_MEM_SIZE:
    return ICD_ANSWER(&answer, cl_ulong, local_memory(kernel));
  case CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE:
    return ICD_ANSWER(&answer, size_t, context->device->info->warp_size);
  case CL_KERNEL_PRIVATE_MEM_SIZE:
    return ICD_ANSWER(&answer, cl_ulong, rt_kernel_local_bytes(code));
  /* an upper bound, because NVRTC does not report spills separately */
  case CL_KERNEL_SPILL_MEM_SIZE_INTEL:
    return ICD_ANSWER(&answer, cl_ulong, rt_kernel_local_bytes(code));
  case CL_KERNEL_REGISTERS_TEGRACL:
    return ICD_ANSWER(&answer, cl_uint, code->registers);
  case CL_KERNEL_CODE_BYTES_TEGRACL:
    return ICD_ANSWER(&answer, cl_ulong, kernel->owner->code->sections[code->text].size);
  case CL_KERNEL_GLOBAL_WORK_SIZE:
    return ICD_FAIL(
        context, CL_INVALID_VALUE,
        "CL_KERNEL_GLOBAL_WORK_SIZE is only valid for built-in kernels and custom devices");
  default:
    return ICD_FAIL(context, CL_INVALID_VALUE, "unknown param_name 0x%x", param_name);
  }
}

/* Returns the number of work-items of a local size, or 0 if bytes is not the size of one to
 * three dimensions. */
static size_t items_of(const size_t *sizes, size_t bytes) {
  const size_t dimensions = bytes / sizeof(*sizes);
  size_t items = 1;
  if (!sizes || bytes % sizeof(*sizes) || dimensions < 1 || dimensions > 3)
    return 0;
  for (size_t i = 0; i < dimensions; i++)
    items *= sizes[i];
  return items;
}

/* Writes a local size that has count sub-groups, or zeros if there is none. */
static cl_int answer_local_size(const struct icd_answer *answer, cl_kernel kernel, size_t count) {
  const size_t warp = kernel->program->context->device->info->warp_size;
  const uint32_t *required = kernel->code->required_block;
  size_t sizes[3] = {count * warp, 1, 1};
  if (answer->value &&
      (!answer->size || answer->size % sizeof(*sizes) || answer->size > sizeof(sizes)))
    return icd_fail(kernel->program->context, CL_INVALID_VALUE, "clGetKernelSubGroupInfo",
                    "param_value_size is %zu; it must be the size of 1 to 3 values of size_t",
                    answer->size);
  if (required[0]) {
    const size_t items = (size_t)required[0] * required[1] * required[2];
    for (int i = 0; i < 3; i++)
      sizes[i] = (items + warp - 1) / warp == count ? required[i] : 0;
  } else if (!count || count > kernel->max_threads / warp) {
    sizes[0] = sizes[1] = sizes[2] = 0;
  }
  return icd_answer_bytes(answer, "clGetKernelSubGroupInfo", sizes,
                          answer->value ? answer->size : sizeof(sizes));
}

CL_API_ENTRY cl_int CL_API_CALL clGetKernelSubGroupInfo(cl_kernel kernel, cl_device_id device,
                                                        cl_kernel_sub_group_info param_name,
                                                        size_t input_value_size,
                                                        const void *input_value,
                                                        size_t param_value_size, void *param_value,
                                                        size_t *param_value_size_ret) {
  const struct icd_answer answer = {param_value_size, param_value, param_value_size_ret};
  if (!icd_is_kernel(kernel))
    return ICD_FAIL(NULL, CL_INVALID_KERNEL, "kernel %p is not a valid cl_kernel", (void *)kernel);
  cl_context context = kernel->program->context;
  if (device && device != context->device)
    return ICD_FAIL(context, CL_INVALID_DEVICE, "device %p is not a device of the kernel",
                    (void *)device);
  const size_t warp = context->device->info->warp_size;
  const size_t items = items_of(input_value, input_value_size);
  switch (param_name) {
  case CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE:
  case CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE:
    if (!items)
      return ICD_FAIL(
          context, CL_INVALID_VALUE,
          "input_value_size %zu with input_value %p is not a local size of 1 to 3 dimensions",
          input_value_size, input_value);
    return ICD_ANSWER(
        &answer, size_t,
        param_name == CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE ? (items + warp - 1) / warp : warp);
  case CL_KERNEL_LOCAL_SIZE_FOR_SUB_GROUP_COUNT:
    if (!input_value || input_value_size != sizeof(size_t))
      return ICD_FAIL(context, CL_INVALID_VALUE,
                      "input_value_size %zu with input_value %p is not a number of sub-groups",
                      input_value_size, input_value);
    return answer_local_size(&answer, kernel, *(const size_t *)input_value);
  case CL_KERNEL_MAX_NUM_SUB_GROUPS:
    return ICD_ANSWER(&answer, size_t, (kernel->max_threads + warp - 1) / warp);
  case CL_KERNEL_COMPILE_NUM_SUB_GROUPS:
    return ICD_ANSWER(&answer, size_t, kernel->code->sub_groups);
  case CL_KERNEL_COMPILE_SUB_GROUP_SIZE_INTEL: /* all kernels have this size */
    return ICD_ANSWER(&answer, size_t,
                      strstr(kernel->code->attributes, "intel_reqd_sub_group_size(") ? warp
                                                                                     : (size_t)0);
  default:
    return ICD_FAIL(context, CL_INVALID_VALUE, "unknown param_name 0x%x", param_name);
  }
}
