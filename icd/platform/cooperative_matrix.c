/* cl_khr_cooperative_matrix, a draft: which products of matrices SPIR-V modules may use. */
#include "compiler/compiler.h"
#include "icd/objects.h"
#include "icd/platform/experimental.h"

_Static_assert((int)CC_FP16 == CL_DEVICE_COOPERATIVE_MATRIX_COMPONENT_TYPE_FP16_KHR &&
                   (int)CC_FP32 == CL_DEVICE_COOPERATIVE_MATRIX_COMPONENT_TYPE_FP32_KHR &&
                   (int)CC_SINT8 == CL_DEVICE_COOPERATIVE_MATRIX_COMPONENT_TYPE_SINT8_KHR &&
                   (int)CC_SINT32 == CL_DEVICE_COOPERATIVE_MATRIX_COMPONENT_TYPE_SINT32_KHR &&
                   (int)CC_UINT8 == CL_DEVICE_COOPERATIVE_MATRIX_COMPONENT_TYPE_UINT8_KHR &&
                   (int)CC_UINT32 == CL_DEVICE_COOPERATIVE_MATRIX_COMPONENT_TYPE_UINT32_KHR,
               "the compiler uses the draft's numbers");

static cl_int answer_products(const struct icd_answer *answer, const char *call) {
  enum { PRODUCTS_MAX = 64 };
  cl_device_cooperative_matrix_variant_khr variants[PRODUCTS_MAX];
  size_t count;
  const struct cc_matrix_product *products = cc_il_matrix_products(&count);
  if (count > PRODUCTS_MAX)
    count = PRODUCTS_MAX;
  for (size_t i = 0; i < count; i++)
    variants[i] = (cl_device_cooperative_matrix_variant_khr){
        products[i].m, products[i].n, products[i].k,      products[i].a,
        products[i].b, products[i].c, products[i].result, products[i].saturates};
  return icd_answer_bytes(answer, call, variants, count * sizeof(*variants));
}

CL_API_ENTRY cl_int CL_API_CALL clGetDeviceCooperativeMatrixInfoKHR(
    cl_device_id device, cl_device_cooperative_matrix_info_khr param_name, size_t input_value_size,
    const void *input_value, size_t param_value_size, void *param_value,
    size_t *param_value_size_ret) {
  const struct icd_answer answer = {param_value_size, param_value, param_value_size_ret};
  if (!icd_is_device(device))
    return ICD_FAIL(NULL, CL_INVALID_DEVICE, "device %p is not a valid cl_device_id",
                    (void *)device);
  const cl_int code = icd_check_cooperative_matrix(NULL, CL_INVALID_OPERATION, __func__);
  if (code)
    return code;
  switch (param_name) {
  case CL_DEVICE_COOPERATIVE_MATRIX_DEFAULT_SUB_GROUP_VARIANTS_KHR:
    return answer_products(&answer, __func__);
  case CL_DEVICE_COOPERATIVE_MATRIX_SUB_GROUP_VARIANTS_KHR:
    if (!input_value || input_value_size != sizeof(cl_uint))
      return ICD_FAIL(NULL, CL_INVALID_VALUE,
                      "input_value_size %zu with input_value %p is not a sub-group size",
                      input_value_size, input_value);
    return *(const cl_uint *)input_value == device->info->warp_size
               ? answer_products(&answer, __func__)
               : icd_answer_bytes(&answer, __func__, NULL, 0);
  default:
    return ICD_FAIL(NULL, CL_INVALID_VALUE, "param_name 0x%x is unknown", param_name);
  }
}
