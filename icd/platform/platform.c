/* The only platform. It exists even without a device. */
#include "icd/objects.h"
#include "icd/platform/device_text.h"
#include "icd/platform/experimental.h"

#define EXPORT __attribute__((visibility("default")))

struct _cl_platform_id icd_platform = {
    .object = {.dispatch = &icd_dispatch.entries,
               .magic = ICD_MAGIC_PLATFORM,
               .references = 1,
               .handles = 1},
};

void icd_platform_forked(void) {
  static const struct icd_kind kind = {.magic = ICD_MAGIC_PLATFORM};
  icd_object_init(&icd_platform.object, &kind);
}

CL_API_ENTRY cl_int CL_API_CALL clGetPlatformIDs(cl_uint num_entries, cl_platform_id *platforms,
                                                 cl_uint *num_platforms) {
  if (!platforms && !num_platforms)
    return ICD_FAIL(NULL, CL_INVALID_VALUE, "both platforms and num_platforms are NULL");
  if (platforms && !num_entries)
    return ICD_FAIL(NULL, CL_INVALID_VALUE, "num_entries is 0, but platforms is not NULL");
  if (platforms)
    platforms[0] = &icd_platform;
  if (num_platforms)
    *num_platforms = 1;
  return CL_SUCCESS;
}

EXPORT CL_API_ENTRY cl_int CL_API_CALL clIcdGetPlatformIDsKHR(cl_uint num_entries,
                                                              cl_platform_id *platforms,
                                                              cl_uint *num_platforms) {
  return clGetPlatformIDs(num_entries, platforms, num_platforms);
}

EXPORT CL_API_ENTRY cl_int CL_API_CALL clGetPlatformInfo(cl_platform_id platform,
                                                         cl_platform_info param_name,
                                                         size_t param_value_size, void *param_value,
                                                         size_t *param_value_size_ret) {
  const struct icd_answer answer = {param_value_size, param_value, param_value_size_ret};
  if (!icd_is_platform(platform))
    return ICD_FAIL(NULL, CL_INVALID_PLATFORM, "platform %p is not the platform of tegracl",
                    (void *)platform);
  switch (param_name) {
  case CL_PLATFORM_PROFILE:
    return ICD_ANSWER_STRING(&answer, "FULL_PROFILE");
  case CL_PLATFORM_VERSION:
    return ICD_ANSWER_STRING(&answer, icd_version_text(cc_il_available()));
  case CL_PLATFORM_NUMERIC_VERSION:
    return ICD_ANSWER(&answer, cl_version, icd_version(cc_il_available()));
  case CL_PLATFORM_NAME:
  case CL_PLATFORM_VENDOR:
    return ICD_ANSWER_STRING(&answer, "tegracl");
  case CL_PLATFORM_EXTENSIONS:
    return ICD_ANSWER_STRING(&answer, icd_platform_extensions());
  case CL_PLATFORM_EXTENSIONS_WITH_VERSION: {
    size_t count;
    const cl_name_version *list = icd_platform_extension_list(&count);
    return icd_answer_bytes(&answer, __func__, list, count * sizeof(*list));
  }
  case CL_PLATFORM_HOST_TIMER_RESOLUTION: /* unit of CLOCK_MONOTONIC in nanoseconds */
    return ICD_ANSWER(&answer, cl_ulong, 1);
  case CL_PLATFORM_SEMAPHORE_TYPES_KHR:
    return ICD_ANSWER(&answer, cl_semaphore_type_khr, CL_SEMAPHORE_TYPE_BINARY_KHR);
  case CL_PLATFORM_SEMAPHORE_IMPORT_HANDLE_TYPES_KHR:
  case CL_PLATFORM_SEMAPHORE_EXPORT_HANDLE_TYPES_KHR:
    return ICD_ANSWER(&answer, cl_external_semaphore_handle_type_khr,
                      CL_SEMAPHORE_HANDLE_SYNC_FD_KHR);
  case CL_PLATFORM_EXTERNAL_MEMORY_IMPORT_HANDLE_TYPES_KHR:
    return ICD_ANSWER(&answer, cl_external_memory_handle_type_khr,
                      CL_EXTERNAL_MEMORY_HANDLE_DMA_BUF_KHR);
  case CL_PLATFORM_SVM_TYPE_CAPABILITIES_KHR: {
    const cl_int code = icd_check_unified_svm(NULL, CL_INVALID_VALUE, __func__);
    return code ? code : icd_answer_bytes(&answer, __func__, icd_svm_types, sizeof(icd_svm_types));
  }
  case CL_PLATFORM_ICD_SUFFIX_KHR:
    return ICD_ANSWER_STRING(&answer, "TEGRACL");
  default:
    return ICD_FAIL(NULL, CL_INVALID_VALUE, "unknown param_name 0x%x", param_name);
  }
}
