/* cl_khr_unified_svm, a draft: shared virtual memory of several types. The types only affect
 * queries, because all are the same memory.
 */
#include "icd/memory/svm.h"

#include "icd/memory/memory.h"
#include "icd/platform/experimental.h"

#define ACCESS_FLAGS                                                                               \
  (CL_SVM_ALLOC_ACCESS_HOST_NOREAD_KHR | CL_SVM_ALLOC_ACCESS_HOST_NOWRITE_KHR |                    \
   CL_SVM_ALLOC_ACCESS_DEVICE_NOREAD_KHR | CL_SVM_ALLOC_ACCESS_DEVICE_NOWRITE_KHR)

static cl_int check_context(cl_context context, const char *call) {
  if (!icd_is_context(context))
    return icd_fail(NULL, CL_INVALID_CONTEXT, call, "context %p is not a valid cl_context",
                    (void *)context);
  const cl_int code = icd_check_unified_svm(context, CL_INVALID_OPERATION, call);
  return code ? code : icd_check_svm(context, call);
}

static bool is_valid_property(cl_context context, const cl_svm_alloc_properties_khr *property) {
  switch (property[0]) {
  case CL_SVM_ALLOC_ASSOCIATED_DEVICE_HANDLE_KHR:
    return !property[1] || (cl_device_id)(uintptr_t)property[1] == context->device;
  case CL_SVM_ALLOC_ACCESS_FLAGS_KHR:
    return !(property[1] & ~(cl_svm_alloc_access_flags_khr)ACCESS_FLAGS);
  case CL_SVM_ALLOC_ALIGNMENT_KHR:
    return !(property[1] & (property[1] - 1)) && property[1] <= ICD_SVM_ALIGN_MAX;
  default:
    return false;
  }
}

static cl_int check_properties(cl_context context, const cl_svm_alloc_properties_khr *properties,
                               const char *call) {
  for (const cl_svm_alloc_properties_khr *at = properties; at && *at; at += 2) {
    if (!is_valid_property(context, at))
      return icd_fail(context, CL_INVALID_PROPERTY, call,
                      "property 0x%llx is unknown, or its value 0x%llx is not valid",
                      (unsigned long long)at[0], (unsigned long long)at[1]);
    if (icd_find_mem_property(properties, *at) != at + 1)
      return icd_fail(context, CL_INVALID_PROPERTY, call, "property 0x%llx is given twice",
                      (unsigned long long)at[0]);
  }
  return CL_SUCCESS;
}

CL_API_ENTRY void *CL_API_CALL
clSVMAllocWithPropertiesKHR(cl_context context, const cl_svm_alloc_properties_khr *properties,
                            cl_uint svm_type_index, size_t size, cl_int *errcode_ret) {
  cl_int code = check_context(context, __func__);
  if (code || (code = check_properties(context, properties, __func__)))
    return icd_null(errcode_ret, code);
  if (svm_type_index >= ICD_SVM_TYPES)
    return ICD_FAIL_NULL(errcode_ret, context, CL_INVALID_VALUE,
                         "svm_type_index is %u; the device has %d types", svm_type_index,
                         ICD_SVM_TYPES);
  const cl_mem_properties *device =
      icd_find_mem_property(properties, CL_SVM_ALLOC_ASSOCIATED_DEVICE_HANDLE_KHR);
  if (!(icd_svm_types[svm_type_index] & CL_SVM_CAPABILITY_DEVICE_UNASSOCIATED_KHR) &&
      !(device && *device))
    return ICD_FAIL_NULL(errcode_ret, context, CL_INVALID_PROPERTY,
                         "type %u requires CL_SVM_ALLOC_ASSOCIATED_DEVICE_HANDLE_KHR",
                         svm_type_index);
  if (!size)
    return ICD_GIVE(errcode_ret, NULL);
  const uint64_t most = context->device->info->max_buffer_bytes;
  if (size > most)
    return ICD_FAIL_NULL(errcode_ret, context, CL_INVALID_BUFFER_SIZE,
                         "size is %zu; it must be at most %llu bytes", size,
                         (unsigned long long)most);
  const struct icd_usm usm = {
      .svm_type = svm_type_index,
      .device = device ? (cl_device_id)(uintptr_t)*device : NULL,
  };
  cl_mem mem = icd_svm_create(context, CL_MEM_READ_WRITE, size, &usm, properties, &code, __func__);
  if (!mem)
    return icd_null(errcode_ret, code);
  return ICD_GIVE(errcode_ret, mem->cpu);
}

CL_API_ENTRY cl_int CL_API_CALL
clSVMFreeWithPropertiesKHR(cl_context context, const cl_svm_free_properties_khr *properties,
                           cl_svm_free_flags_khr flags, void *ptr) {
  const cl_int code = check_context(context, __func__);
  if (code)
    return code;
  if (properties && *properties)
    return ICD_FAIL(context, CL_INVALID_PROPERTY, "property 0x%llx is unknown",
                    (unsigned long long)*properties);
  if (flags)
    return ICD_FAIL(context, CL_INVALID_VALUE, "flags is 0x%llx; it must be 0",
                    (unsigned long long)flags);
  return icd_svm_release(context, ptr, false, __func__);
}

static cl_int answer_pointer_info(const struct icd_answer *answer, cl_svm_pointer_info_khr name,
                                  cl_mem mem, cl_context context, const char *call) {
  const cl_mem_properties *access =
      mem ? icd_find_mem_property(mem->properties, CL_SVM_ALLOC_ACCESS_FLAGS_KHR) : NULL;
  switch (name) {
  case CL_SVM_INFO_TYPE_INDEX_KHR:
    return ICD_ANSWER(answer, cl_uint, mem ? mem->usm.svm_type : CL_UINT_MAX);
  case CL_SVM_INFO_CAPABILITIES_KHR:
    return ICD_ANSWER(answer, cl_svm_capabilities_khr, mem ? icd_svm_types[mem->usm.svm_type] : 0);
  case CL_SVM_INFO_PROPERTIES_KHR:
    return icd_answer_bytes(answer, call, mem ? mem->properties : NULL,
                            mem ? mem->property_count * sizeof(*mem->properties) : 0);
  case CL_SVM_INFO_ACCESS_FLAGS_KHR:
    return ICD_ANSWER(answer, cl_svm_alloc_access_flags_khr, access ? *access : 0);
  case CL_SVM_INFO_BASE_PTR_KHR:
    return ICD_ANSWER(answer, void *, mem ? mem->cpu : NULL);
  case CL_SVM_INFO_SIZE_KHR:
    return ICD_ANSWER(answer, size_t, mem ? mem->size : 0);
  case CL_SVM_INFO_ASSOCIATED_DEVICE_HANDLE_KHR:
    return ICD_ANSWER(answer, cl_device_id, mem ? mem->usm.device : NULL);
  default:
    return icd_fail(context, CL_INVALID_VALUE, call, "unknown param_name 0x%x", name);
  }
}

CL_API_ENTRY cl_int CL_API_CALL clGetSVMPointerInfoKHR(cl_context context, cl_device_id device,
                                                       const void *ptr,
                                                       cl_svm_pointer_info_khr param_name,
                                                       size_t param_value_size, void *param_value,
                                                       size_t *param_value_size_ret) {
  const struct icd_answer answer = {param_value_size, param_value, param_value_size_ret};
  cl_int code = check_context(context, __func__);
  if (code)
    return code;
  if (device && device != context->device)
    return ICD_FAIL(context, CL_INVALID_DEVICE, "device %p is not in the context", (void *)device);
  cl_mem mem = icd_svm_find(context, ptr);
  const bool inside = mem && !mem->usm.type && (const char *)ptr < mem->cpu + mem->size;
  code = answer_pointer_info(&answer, param_name, inside ? mem : NULL, context, __func__);
  if (mem)
    icd_mem_drop(mem);
  return code;
}

/* Suggests the type that has the required and most of the desired capabilities, if an allocation
 * may have that size. */
CL_API_ENTRY cl_int CL_API_CALL clGetSVMSuggestedTypeIndexKHR(
    cl_context context, cl_svm_capabilities_khr required_capabilities,
    cl_svm_capabilities_khr desired_capabilities, const cl_svm_alloc_properties_khr *properties,
    size_t size, cl_uint *suggested_svm_type_index) {
  cl_int code = check_context(context, __func__);
  if (code || (code = check_properties(context, properties, __func__)))
    return code;
  if (!suggested_svm_type_index)
    return ICD_FAIL(context, CL_INVALID_VALUE, "suggested_svm_type_index is NULL");
  int best = -1;
  *suggested_svm_type_index = CL_UINT_MAX;
  for (cl_uint i = 0; size <= context->device->info->max_buffer_bytes && i < ICD_SVM_TYPES; i++) {
    const int desired = __builtin_popcountll(icd_svm_types[i] & desired_capabilities);
    if (!(required_capabilities & ~icd_svm_types[i]) && desired > best) {
      best = desired;
      *suggested_svm_type_index = i;
    }
  }
  return CL_SUCCESS;
}
