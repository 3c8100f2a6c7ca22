/* A second OpenCL platform, without devices, for ICD loaders. */
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#include <CL/cl_icd.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT cl_int clGetPlatformInfo(cl_platform_id platform, cl_platform_info name, size_t size,
                                void *value, size_t *size_ret);
EXPORT cl_int clIcdGetPlatformIDsKHR(cl_uint room, cl_platform_id *platforms, cl_uint *count);
EXPORT void *clGetExtensionFunctionAddress(const char *name);

cl_int clGetPlatformInfo(cl_platform_id platform, cl_platform_info name, size_t size, void *value,
                         size_t *size_ret) {
  const char *text = name == CL_PLATFORM_EXTENSIONS       ? "cl_khr_icd"
                     : name == CL_PLATFORM_ICD_SUFFIX_KHR ? "OTHER"
                     : name == CL_PLATFORM_VERSION        ? "OpenCL 3.0 other"
                                                          : "Another Platform";
  if (size_ret)
    *size_ret = strlen(text) + 1;
  if (value && size <= strlen(text))
    return CL_INVALID_VALUE;
  if (value)
    strcpy(value, text);
  return CL_SUCCESS;
}

static cl_int CL_API_CALL no_devices(cl_platform_id platform, cl_device_type type, cl_uint room,
                                     cl_device_id *devices, cl_uint *count) {
  if (count)
    *count = 0;
  return CL_DEVICE_NOT_FOUND;
}

struct _cl_platform_id {
  cl_icd_dispatch *dispatch;
};

static cl_icd_dispatch dispatch = {.clGetPlatformInfo = clGetPlatformInfo,
                                   .clGetDeviceIDs = no_devices};
static struct _cl_platform_id other = {&dispatch};

cl_int clIcdGetPlatformIDsKHR(cl_uint room, cl_platform_id *platforms, cl_uint *count) {
  if (count)
    *count = 1;
  if (platforms && room)
    *platforms = &other;
  return CL_SUCCESS;
}

void *clGetExtensionFunctionAddress(const char *name) {
  return strcmp(name, "clIcdGetPlatformIDsKHR") == 0 ? (void *)clIcdGetPlatformIDsKHR : NULL;
}
