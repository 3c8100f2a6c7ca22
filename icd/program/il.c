/* Programs from SPIR-V, and specialization constants. */
#include <stdlib.h>
#include <string.h>

#include "icd/objects.h"

CL_API_ENTRY cl_program CL_API_CALL clCreateProgramWithIL(cl_context context, const void *il,
                                                          size_t length, cl_int *errcode_ret) {
  const char *why;
  uint32_t *words;
  if (!icd_is_context(context))
    return ICD_FAIL_NULL(errcode_ret, NULL, CL_INVALID_CONTEXT,
                         "context %p is not a valid cl_context", (void *)context);
  if (!cc_il_available())
    return ICD_FAIL_NULL(errcode_ret, context, CL_INVALID_OPERATION,
                         "SPIR-V is not supported on this system: it requires spirv-val and "
                         "llvm-spirv in addition to clang and NVRTC");
  if (!il || !length)
    return ICD_FAIL_NULL(errcode_ret, context, CL_INVALID_VALUE,
                         "il is %p and length is %zu; a SPIR-V module is required", il, length);
  if (cc_il_read(il, length, &words, &why) == CC_INVALID_BINARY)
    return ICD_FAIL_NULL(errcode_ret, context, CL_INVALID_VALUE, "%s", why);
  cl_program program = words ? icd_program_create(context) : NULL;
  void *copy = program ? malloc(length) : NULL;
  if (!copy) {
    free(words);
    if (program)
      icd_program_drop(program);
    return ICD_FAIL_NULL(errcode_ret, context, CL_OUT_OF_HOST_MEMORY,
                         "out of host memory for a SPIR-V module of %zu bytes", length);
  }
  program->il = memcpy(copy, il, length);
  program->il_size = length;
  program->il_words = words;
  return ICD_GIVE(errcode_ret, program);
}

CL_API_ENTRY cl_int CL_API_CALL clSetProgramSpecializationConstant(cl_program program,
                                                                   cl_uint spec_id,
                                                                   size_t spec_size,
                                                                   const void *spec_value) {
  if (!icd_is_program(program))
    return ICD_FAIL(NULL, CL_INVALID_PROGRAM, "program %p is not a valid cl_program",
                    (void *)program);
  if (!cc_il_available())
    return ICD_FAIL(program->context, CL_INVALID_OPERATION,
                    "SPIR-V is not supported on this system");
  if (!program->il)
    return ICD_FAIL(program->context, CL_INVALID_PROGRAM,
                    "the program was not created from SPIR-V");
  const size_t count = program->il_size / sizeof(*program->il_words);
  const size_t size = cc_il_constant_size(program->il_words, count, spec_id);
  if (!size)
    return ICD_FAIL(program->context, CL_INVALID_SPEC_ID,
                    "the module has no specialization constant %u", spec_id);
  if (!spec_value || spec_size != size)
    return ICD_FAIL(program->context, CL_INVALID_VALUE,
                    "spec_size is %zu and spec_value %p; specialization constant %u has %zu bytes",
                    spec_size, spec_value, spec_id, size);
  base_mutex_lock(&program->lock);
  cc_il_specialize(program->il_words, count, spec_id, spec_value);
  base_mutex_unlock(&program->lock);
  return CL_SUCCESS;
}
