/* Samplers. A kernel gets a sampler as a word of bits (kernel_code.h). */
#include <string.h>

#include "icd/objects.h"

static void destroy_sampler(struct icd_object *object) {
  cl_sampler sampler = (cl_sampler)object;
  cl_context context = sampler->context;
  icd_object_free(ICD_MAGIC_SAMPLER, sampler);
  icd_context_drop(context);
}

static const struct icd_kind sampler_kind = {.magic = ICD_MAGIC_SAMPLER,
                                             .destroy = destroy_sampler};

/* Adds the bits of an addressing mode. Returns false if the mode is unknown. */
static bool addressing_bits(cl_sampler_properties mode, uint32_t *bits) {
  switch (mode) {
  case CL_ADDRESS_NONE:
    return true;
  case CL_ADDRESS_CLAMP_TO_EDGE:
    *bits |= KERNEL_SAMPLER_CLAMP_TO_EDGE;
    return true;
  case CL_ADDRESS_CLAMP:
    *bits |= KERNEL_SAMPLER_CLAMP;
    return true;
  case CL_ADDRESS_REPEAT:
    *bits |= KERNEL_SAMPLER_REPEAT;
    return true;
  case CL_ADDRESS_MIRRORED_REPEAT:
    *bits |= KERNEL_SAMPLER_MIRRORED_REPEAT;
    return true;
  default:
    return false;
  }
}

static bool filter_bits(cl_sampler_properties mode, uint32_t *bits) {
  if (mode != CL_FILTER_NEAREST && mode != CL_FILTER_LINEAR)
    return false;
  *bits |= mode == CL_FILTER_LINEAR ? KERNEL_SAMPLER_LINEAR : KERNEL_SAMPLER_NEAREST;
  return true;
}

enum { NORMALIZED, ADDRESSING, FILTER, PROPERTIES };
static const cl_sampler_properties names[PROPERTIES] = {
    CL_SAMPLER_NORMALIZED_COORDS, CL_SAMPLER_ADDRESSING_MODE, CL_SAMPLER_FILTER_MODE};

static cl_int read_properties(cl_context context, const cl_sampler_properties *list,
                              cl_sampler_properties values[PROPERTIES], size_t *words,
                              const char *call) {
  bool seen[PROPERTIES] = {false};
  for (*words = 0; list && list[*words]; *words += 2) {
    unsigned i = 0;
    while (i < PROPERTIES && names[i] != list[*words])
      i++;
    if (i == PROPERTIES || seen[i])
      return icd_fail(context, CL_INVALID_VALUE, call, "property 0x%llx is %s",
                      (unsigned long long)list[*words],
                      i == PROPERTIES ? "unknown" : "given twice");
    seen[i] = true;
    values[i] = list[*words + 1];
  }
  *words += list != NULL;
  return CL_SUCCESS;
}

static cl_sampler create_sampler(cl_context context, const cl_sampler_properties *list,
                                 cl_bool normalized, cl_addressing_mode addressing,
                                 cl_filter_mode filter, cl_int *errcode_ret, const char *call) {
  if (!icd_is_context(context))
    return icd_null(errcode_ret, icd_fail(NULL, CL_INVALID_CONTEXT, call,
                                          "context %p is not a valid cl_context", (void *)context));
  cl_sampler_properties values[PROPERTIES] = {normalized, addressing, filter};
  size_t words;
  uint32_t bits = 0;
  const cl_int code = read_properties(context, list, values, &words, call);
  if (code)
    return icd_null(errcode_ret, code);
  if (values[NORMALIZED] > CL_TRUE || !addressing_bits(values[ADDRESSING], &bits) ||
      !filter_bits(values[FILTER], &bits))
    return icd_null(
        errcode_ret,
        icd_fail(
            context, CL_INVALID_VALUE, call,
            "normalized_coords 0x%llx, addressing_mode 0x%llx or filter_mode 0x%llx is invalid",
            (unsigned long long)values[NORMALIZED], (unsigned long long)values[ADDRESSING],
            (unsigned long long)values[FILTER]));
  cl_sampler sampler = icd_object_new(ICD_MAGIC_SAMPLER, sizeof(*sampler));
  if (!sampler)
    return icd_null(errcode_ret,
                    icd_fail(context, CL_OUT_OF_HOST_MEMORY, call, "out of host memory"));
  sampler->context = context;
  sampler->normalized = (cl_bool)values[NORMALIZED];
  sampler->addressing = (cl_addressing_mode)values[ADDRESSING];
  sampler->filter = (cl_filter_mode)values[FILTER];
  sampler->bits = bits | (sampler->normalized ? KERNEL_SAMPLER_NORMALIZED : 0u);
  sampler->property_count = words;
  if (list)
    memcpy(sampler->properties, list, words * sizeof(*list));
  icd_context_hold(context);
  icd_object_init(&sampler->object, &sampler_kind);
  return ICD_GIVE(errcode_ret, sampler);
}

CL_API_ENTRY cl_sampler CL_API_CALL clCreateSampler(cl_context context, cl_bool normalized,
                                                    cl_addressing_mode addressing,
                                                    cl_filter_mode filter, cl_int *errcode_ret) {
  return create_sampler(context, NULL, normalized, addressing, filter, errcode_ret, __func__);
}

CL_API_ENTRY cl_sampler CL_API_CALL clCreateSamplerWithProperties(
    cl_context context, const cl_sampler_properties *properties, cl_int *errcode_ret) {
  return create_sampler(context, properties, CL_TRUE, CL_ADDRESS_CLAMP, CL_FILTER_NEAREST,
                        errcode_ret, __func__);
}

CL_API_ENTRY cl_int CL_API_CALL clRetainSampler(cl_sampler sampler) {
  if (!icd_is_sampler(sampler))
    return ICD_FAIL(NULL, CL_INVALID_SAMPLER, "sampler %p is not a valid cl_sampler",
                    (void *)sampler);
  icd_object_retain(&sampler->object);
  return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL clReleaseSampler(cl_sampler sampler) {
  if (!icd_is_sampler(sampler) || icd_object_release(&sampler->object, CL_INVALID_SAMPLER))
    return ICD_FAIL(NULL, CL_INVALID_SAMPLER,
                    "sampler %p is not a valid cl_sampler or was released too often",
                    (void *)sampler);
  return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL clGetSamplerInfo(cl_sampler sampler, cl_sampler_info param_name,
                                                 size_t param_value_size, void *param_value,
                                                 size_t *param_value_size_ret) {
  const struct icd_answer answer = {param_value_size, param_value, param_value_size_ret};
  if (!icd_is_sampler(sampler))
    return ICD_FAIL(NULL, CL_INVALID_SAMPLER, "sampler %p is not a valid cl_sampler",
                    (void *)sampler);
  switch (param_name) {
  case CL_SAMPLER_REFERENCE_COUNT:
    return ICD_ANSWER(&answer, cl_uint, atomic_load(&sampler->object.handles));
  case CL_SAMPLER_CONTEXT:
    return ICD_ANSWER(&answer, cl_context, sampler->context);
  case CL_SAMPLER_NORMALIZED_COORDS:
    return ICD_ANSWER(&answer, cl_bool, sampler->normalized);
  case CL_SAMPLER_ADDRESSING_MODE:
    return ICD_ANSWER(&answer, cl_addressing_mode, sampler->addressing);
  case CL_SAMPLER_FILTER_MODE:
    return ICD_ANSWER(&answer, cl_filter_mode, sampler->filter);
  case CL_SAMPLER_PROPERTIES:
    return icd_answer_bytes(&answer, __func__, sampler->properties,
                            sampler->property_count * sizeof(*sampler->properties));
  default:
    return ICD_FAIL(sampler->context, CL_INVALID_VALUE, "unknown param_name 0x%x", param_name);
  }
}
