/* A driver that is not tegracl: one platform, of which only a name can be had. */
#include <stdint.h>
#include <string.h>

#include <CL/cl.h>
#include <CL/cl_icd.h>

static cl_int CL_API_CALL platform_info(cl_platform_id platform, cl_platform_info name, size_t size,
                                        void *value, size_t *size_ret) {
  (void)platform;
  const char *text = name == CL_PLATFORM_NAME         ? "Other Platform"
                     : name == CL_PLATFORM_EXTENSIONS ? "cl_khr_icd"
                                                      : "OTHER";
  if (value && size < strlen(text) + 1)
    return CL_INVALID_VALUE;
  if (value)
    strcpy(value, text);
  if (size_ret)
    *size_ret = strlen(text) + 1;
  return CL_SUCCESS;
}

static cl_int CL_API_CALL no_devices(cl_platform_id platform, cl_device_type type, cl_uint size,
                                     cl_device_id *devices, cl_uint *count) {
  (void)platform, (void)type, (void)size, (void)devices;
  if (count)
    *count = 0;
  return CL_DEVICE_NOT_FOUND;
}

static cl_icd_dispatch dispatch = {.clGetPlatformInfo = platform_info,
                                   .clGetDeviceIDs = no_devices};
static struct { cl_icd_dispatch *dispatch; } only = {&dispatch};

static cl_int CL_API_CALL platforms(cl_uint size, cl_platform_id *list, cl_uint *count) {
  if (list && size)
    list[0] = (cl_platform_id)(void *)&only;
  if (count)
    *count = 1;
  return CL_SUCCESS;
}

/* Both loaders look for these two in the library's symbols. */
__attribute__((visibility("default"))) CL_API_ENTRY cl_int CL_API_CALL clGetPlatformInfo(
    cl_platform_id platform, cl_platform_info name, size_t size, void *value, size_t *size_ret) {
  return platform_info(platform, name, size, value, size_ret);
}

__attribute__((visibility("default"))) CL_API_ENTRY void *CL_API_CALL
clGetExtensionFunctionAddress(const char *name) {
  if (!strcmp(name, "clIcdGetPlatformIDsKHR"))
    return (void *)(uintptr_t)platforms;
  return strcmp(name, "clGetPlatformInfo") ? NULL : (void *)(uintptr_t)platform_info;
}
