/* The dispatch table for cl_khr_icd, to which every object points, and functions that return a
 * function's address by name.
 */
#include <stddef.h>
#include <string.h>

#include "icd/objects.h"

#include "icd/cl_tegracl.h"
#include "icd/command_buffer/command_buffer_api.h"
#include "runtime/debug/timeline.h"

/* All functions of the table in <CL/cl_icd.h>, in the same order. */
/* clang-format off */
#define ENTRIES(X) \
  X(clGetPlatformIDs) \
  X(clGetPlatformInfo) \
  X(clGetDeviceIDs) \
  X(clGetDeviceInfo) \
  X(clCreateContext) \
  X(clCreateContextFromType) \
  X(clRetainContext) \
  X(clReleaseContext) \
  X(clGetContextInfo) \
  X(clCreateCommandQueue) \
  X(clRetainCommandQueue) \
  X(clReleaseCommandQueue) \
  X(clGetCommandQueueInfo) \
  X(clSetCommandQueueProperty) \
  X(clCreateBuffer) \
  X(clCreateImage2D) \
  X(clCreateImage3D) \
  X(clRetainMemObject) \
  X(clReleaseMemObject) \
  X(clGetSupportedImageFormats) \
  X(clGetMemObjectInfo) \
  X(clGetImageInfo) \
  X(clCreateSampler) \
  X(clRetainSampler) \
  X(clReleaseSampler) \
  X(clGetSamplerInfo) \
  X(clCreateProgramWithSource) \
  X(clCreateProgramWithBinary) \
  X(clRetainProgram) \
  X(clReleaseProgram) \
  X(clBuildProgram) \
  X(clUnloadCompiler) \
  X(clGetProgramInfo) \
  X(clGetProgramBuildInfo) \
  X(clCreateKernel) \
  X(clCreateKernelsInProgram) \
  X(clRetainKernel) \
  X(clReleaseKernel) \
  X(clSetKernelArg) \
  X(clGetKernelInfo) \
  X(clGetKernelWorkGroupInfo) \
  X(clWaitForEvents) \
  X(clGetEventInfo) \
  X(clRetainEvent) \
  X(clReleaseEvent) \
  X(clGetEventProfilingInfo) \
  X(clFlush) \
  X(clFinish) \
  X(clEnqueueReadBuffer) \
  X(clEnqueueWriteBuffer) \
  X(clEnqueueCopyBuffer) \
  X(clEnqueueReadImage) \
  X(clEnqueueWriteImage) \
  X(clEnqueueCopyImage) \
  X(clEnqueueCopyImageToBuffer) \
  X(clEnqueueCopyBufferToImage) \
  X(clEnqueueMapBuffer) \
  X(clEnqueueMapImage) \
  X(clEnqueueUnmapMemObject) \
  X(clEnqueueNDRangeKernel) \
  X(clEnqueueTask) \
  X(clEnqueueNativeKernel) \
  X(clEnqueueMarker) \
  X(clEnqueueWaitForEvents) \
  X(clEnqueueBarrier) \
  X(clGetExtensionFunctionAddress) \
  X(clCreateFromGLBuffer) \
  X(clCreateFromGLTexture2D) \
  X(clCreateFromGLTexture3D) \
  X(clCreateFromGLRenderbuffer) \
  X(clGetGLObjectInfo) \
  X(clGetGLTextureInfo) \
  X(clEnqueueAcquireGLObjects) \
  X(clEnqueueReleaseGLObjects) \
  X(clGetGLContextInfoKHR) \
  X(clSetEventCallback) \
  X(clCreateSubBuffer) \
  X(clSetMemObjectDestructorCallback) \
  X(clCreateUserEvent) \
  X(clSetUserEventStatus) \
  X(clEnqueueReadBufferRect) \
  X(clEnqueueWriteBufferRect) \
  X(clEnqueueCopyBufferRect) \
  X(clCreateSubDevicesEXT) \
  X(clRetainDeviceEXT) \
  X(clReleaseDeviceEXT) \
  X(clCreateEventFromGLsyncKHR) \
  X(clCreateSubDevices) \
  X(clRetainDevice) \
  X(clReleaseDevice) \
  X(clCreateImage) \
  X(clCreateProgramWithBuiltInKernels) \
  X(clCompileProgram) \
  X(clLinkProgram) \
  X(clUnloadPlatformCompiler) \
  X(clGetKernelArgInfo) \
  X(clEnqueueFillBuffer) \
  X(clEnqueueFillImage) \
  X(clEnqueueMigrateMemObjects) \
  X(clEnqueueMarkerWithWaitList) \
  X(clEnqueueBarrierWithWaitList) \
  X(clGetExtensionFunctionAddressForPlatform) \
  X(clCreateFromGLTexture) \
  X(clCreateFromEGLImageKHR) \
  X(clEnqueueAcquireEGLObjectsKHR) \
  X(clEnqueueReleaseEGLObjectsKHR) \
  X(clCreateEventFromEGLSyncKHR) \
  X(clCreateCommandQueueWithProperties) \
  X(clCreatePipe) \
  X(clGetPipeInfo) \
  X(clSVMAlloc) \
  X(clSVMFree) \
  X(clEnqueueSVMFree) \
  X(clEnqueueSVMMemcpy) \
  X(clEnqueueSVMMemFill) \
  X(clEnqueueSVMMap) \
  X(clEnqueueSVMUnmap) \
  X(clCreateSamplerWithProperties) \
  X(clSetKernelArgSVMPointer) \
  X(clSetKernelExecInfo) \
  X(clGetKernelSubGroupInfoKHR) \
  X(clCloneKernel) \
  X(clCreateProgramWithIL) \
  X(clEnqueueSVMMigrateMem) \
  X(clGetDeviceAndHostTimer) \
  X(clGetHostTimer) \
  X(clGetKernelSubGroupInfo) \
  X(clSetDefaultDeviceCommandQueue) \
  X(clSetProgramReleaseCallback) \
  X(clSetProgramSpecializationConstant) \
  X(clCreateBufferWithProperties) \
  X(clCreateImageWithProperties) \
  X(clSetContextDestructorCallback)
/* clang-format on */

/* Functions of extensions that are not in the table. */
/* clang-format off */
#define EXTENSIONS(X) \
  X(clGetKernelSuggestedLocalWorkSize) \
  X(clGetImageRequirementsInfoEXT) \
  X(clSetKernelArgDevicePointerEXT) \
  X(clCreateSemaphoreWithPropertiesKHR) \
  X(clRetainSemaphoreKHR) \
  X(clReleaseSemaphoreKHR) \
  X(clGetSemaphoreInfoKHR) \
  X(clEnqueueWaitSemaphoresKHR) \
  X(clEnqueueSignalSemaphoresKHR) \
  X(clGetSemaphoreHandleForTypeKHR) \
  X(clReImportSemaphoreSyncFdKHR) \
  X(clImportMemoryARM) \
  X(clEnqueueAcquireExternalMemObjectsKHR) \
  X(clEnqueueReleaseExternalMemObjectsKHR) \
  X(clHostMemAllocINTEL) \
  X(clDeviceMemAllocINTEL) \
  X(clSharedMemAllocINTEL) \
  X(clMemFreeINTEL) \
  X(clMemBlockingFreeINTEL) \
  X(clGetMemAllocInfoINTEL) \
  X(clSetKernelArgMemPointerINTEL) \
  X(clEnqueueMemFillINTEL) \
  X(clEnqueueMemsetINTEL) \
  X(clEnqueueMemcpyINTEL) \
  X(clEnqueueMigrateMemINTEL) \
  X(clEnqueueMemAdviseINTEL) \
  X(clSVMAllocWithPropertiesKHR) \
  X(clSVMFreeWithPropertiesKHR) \
  X(clGetSVMPointerInfoKHR) \
  X(clGetSVMSuggestedTypeIndexKHR) \
  X(clGetDeviceCooperativeMatrixInfoKHR)
/* clang-format on */

#define AS_FIELD(name) .name = name,

/* OpenCL 3.1 appends this function to the table (OpenCL-Headers v2026.05.29, CL/cl_icd.h). */
enum { SUGGESTED_LOCAL_WORK_SIZE_SLOT = 149 };
_Static_assert(offsetof(cl_icd_dispatch, clSetContextDestructorCallback) / sizeof(void *) ==
                       SUGGESTED_LOCAL_WORK_SIZE_SLOT - 1 &&
                   sizeof(cl_icd_dispatch) <= sizeof(icd_dispatch),
               "cl_icd_dispatch is not that of OpenCL 3.0 or 3.1");

/* Wrappers of these functions that record calls on the timeline (generate_timed.py). */
#define AS_TIMED(name)       extern __typeof__(name) icd_timed_##name;
#define AS_TIMED_DRAFT(name) AS_TIMED(icd_##name)
ENTRIES(AS_TIMED)
EXTENSIONS(AS_TIMED)
COMMAND_BUFFER_FUNCTIONS(AS_TIMED_DRAFT)
#define AS_TIMED_FIELD(name) .name = icd_timed_##name,

/* Fills slots without a function: those of Direct3D and DX9, which loaders for Linux do not
 * call, and those of later OpenCL versions. Only loaders for version 1 of cl_khr_icd call them.
 * Loaders for version 2 look functions up by name and have their own fallback. */
static cl_int refuse_newer_function(void) {
  return icd_fail(NULL, CL_INVALID_OPERATION, "dispatch table",
                  "the function is not implemented; tegracl supports OpenCL 3.1 and earlier");
}

/* Runs before an application can get the table's address. */
__attribute__((constructor)) static void fill_dispatch(void) {
  static const cl_icd_dispatch plain = {ENTRIES(AS_FIELD)}, timed = {ENTRIES(AS_TIMED_FIELD)};
  const bool on = rt_timeline_begin();
  icd_dispatch.entries = on ? timed : plain;
  icd_dispatch.slots[SUGGESTED_LOCAL_WORK_SIZE_SLOT] =
      on ? (void *)icd_timed_clGetKernelSuggestedLocalWorkSize
         : (void *)clGetKernelSuggestedLocalWorkSize;
  for (size_t i = 0; i < ICD_TABLE_SLOTS; i++)
    if (!icd_dispatch.slots[i])
      icd_dispatch.slots[i] = (void *)refuse_newer_function;
  /* Loaders never call these two through the table. In version 2 of cl_khr_icd they contain a
   * tag. */
  const intptr_t tag = CL_ICD2_TAG_KHR;
  memcpy(&icd_dispatch.entries.clGetPlatformIDs, &tag, sizeof(tag));
  memcpy(&icd_dispatch.entries.clUnloadCompiler, &tag, sizeof(tag));
}

struct named {
  const char *name;
  void *address, *timed;
};

/* Functions that can be found by name. Core functions are included for applications that load
 * the driver without a loader. */
#define AS_NAMED(entry) {#entry, (void *)(entry), (void *)icd_timed_##entry},
#define AS_DRAFT(entry) {#entry, (void *)(icd_##entry), (void *)icd_timed_icd_##entry},
/* clang-format off */
static const struct named functions[] = {
    ENTRIES(AS_NAMED) EXTENSIONS(AS_NAMED) COMMAND_BUFFER_FUNCTIONS(AS_DRAFT)
    {"clIcdGetPlatformIDsKHR", (void *)clIcdGetPlatformIDsKHR, (void *)icd_timed_clGetPlatformIDs},
    {"clIcdGetFunctionAddressForPlatformKHR", (void *)clIcdGetFunctionAddressForPlatformKHR,
     (void *)clIcdGetFunctionAddressForPlatformKHR},
    {"clIcdSetPlatformDispatchDataKHR", (void *)clIcdSetPlatformDispatchDataKHR,
     (void *)clIcdSetPlatformDispatchDataKHR},
    {"clGetKernelSuggestedLocalWorkSizeKHR", (void *)clGetKernelSuggestedLocalWorkSize,
     (void *)icd_timed_clGetKernelSuggestedLocalWorkSize},
    {"clCreateCommandQueueWithPropertiesKHR", (void *)clCreateCommandQueueWithProperties,
     (void *)icd_timed_clCreateCommandQueueWithProperties},
    {"clCreateProgramWithILKHR", (void *)clCreateProgramWithIL,
     (void *)icd_timed_clCreateProgramWithIL},
};
/* clang-format on */

static void *find_function(const char *name) {
  for (size_t i = 0; name && i < sizeof(functions) / sizeof(*functions); i++)
    if (!strcmp(name, functions[i].name))
      return rt_timeline_on() ? functions[i].timed : functions[i].address;
  return NULL;
}

__attribute__((visibility("default"))) CL_API_ENTRY void *CL_API_CALL
clGetExtensionFunctionAddress(const char *name) {
  return find_function(name);
}

CL_API_ENTRY void *CL_API_CALL clGetExtensionFunctionAddressForPlatform(cl_platform_id platform,
                                                                        const char *name) {
  if (!icd_is_platform(platform)) {
    ICD_FAIL(NULL, CL_INVALID_PLATFORM, "platform %p is not the platform of tegracl",
             (void *)platform);
    return NULL;
  }
  return find_function(name);
}

CL_API_ENTRY void *CL_API_CALL clIcdGetFunctionAddressForPlatformKHR(cl_platform_id platform,
                                                                     const char *name) {
  return clGetExtensionFunctionAddressForPlatform(platform, name);
}

CL_API_ENTRY cl_int CL_API_CALL clIcdSetPlatformDispatchDataKHR(cl_platform_id platform,
                                                                void *data) {
  if (!icd_is_platform(platform))
    return ICD_FAIL(NULL, CL_INVALID_PLATFORM, "platform %p is not the platform of tegracl",
                    (void *)platform);
  icd_objects_set_dispatch_data(data);
  icd_platform.object.dispatch_data = data;
  icd_device_object()->dispatch_data = data; /* it outlives loaders */
  return CL_SUCCESS;
}
