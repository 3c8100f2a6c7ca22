/* The members of struct _cl_icd_dispatch in order, for a loader for OpenCL 3.1 (OpenCL-Headers
 * v2026.05.29, CL/cl_icd.h). */
#ifndef TEGRACL_TEST_TABLE_3_1_H
#define TEGRACL_TEST_TABLE_3_1_H

/* clang-format off */
static const char *const table_3_1[] = {
    "clGetPlatformIDs", "clGetPlatformInfo", "clGetDeviceIDs", "clGetDeviceInfo", "clCreateContext",
    "clCreateContextFromType", "clRetainContext", "clReleaseContext", "clGetContextInfo",
    "clCreateCommandQueue", "clRetainCommandQueue", "clReleaseCommandQueue",
    "clGetCommandQueueInfo", "clSetCommandQueueProperty", "clCreateBuffer", "clCreateImage2D",
    "clCreateImage3D", "clRetainMemObject", "clReleaseMemObject", "clGetSupportedImageFormats",
    "clGetMemObjectInfo", "clGetImageInfo", "clCreateSampler", "clRetainSampler",
    "clReleaseSampler", "clGetSamplerInfo", "clCreateProgramWithSource",
    "clCreateProgramWithBinary", "clRetainProgram", "clReleaseProgram", "clBuildProgram",
    "clUnloadCompiler", "clGetProgramInfo", "clGetProgramBuildInfo", "clCreateKernel",
    "clCreateKernelsInProgram", "clRetainKernel", "clReleaseKernel", "clSetKernelArg",
    "clGetKernelInfo", "clGetKernelWorkGroupInfo", "clWaitForEvents", "clGetEventInfo",
    "clRetainEvent", "clReleaseEvent", "clGetEventProfilingInfo", "clFlush", "clFinish",
    "clEnqueueReadBuffer", "clEnqueueWriteBuffer", "clEnqueueCopyBuffer", "clEnqueueReadImage",
    "clEnqueueWriteImage", "clEnqueueCopyImage", "clEnqueueCopyImageToBuffer",
    "clEnqueueCopyBufferToImage", "clEnqueueMapBuffer", "clEnqueueMapImage",
    "clEnqueueUnmapMemObject", "clEnqueueNDRangeKernel", "clEnqueueTask", "clEnqueueNativeKernel",
    "clEnqueueMarker", "clEnqueueWaitForEvents", "clEnqueueBarrier",
    "clGetExtensionFunctionAddress", "clCreateFromGLBuffer", "clCreateFromGLTexture2D",
    "clCreateFromGLTexture3D", "clCreateFromGLRenderbuffer", "clGetGLObjectInfo",
    "clGetGLTextureInfo", "clEnqueueAcquireGLObjects", "clEnqueueReleaseGLObjects",
    "clGetGLContextInfoKHR", "clGetDeviceIDsFromD3D10KHR", "clCreateFromD3D10BufferKHR",
    "clCreateFromD3D10Texture2DKHR", "clCreateFromD3D10Texture3DKHR",
    "clEnqueueAcquireD3D10ObjectsKHR", "clEnqueueReleaseD3D10ObjectsKHR", "clSetEventCallback",
    "clCreateSubBuffer", "clSetMemObjectDestructorCallback", "clCreateUserEvent",
    "clSetUserEventStatus", "clEnqueueReadBufferRect", "clEnqueueWriteBufferRect",
    "clEnqueueCopyBufferRect", "clCreateSubDevicesEXT", "clRetainDeviceEXT", "clReleaseDeviceEXT",
    "clCreateEventFromGLsyncKHR", "clCreateSubDevices", "clRetainDevice", "clReleaseDevice",
    "clCreateImage", "clCreateProgramWithBuiltInKernels", "clCompileProgram", "clLinkProgram",
    "clUnloadPlatformCompiler", "clGetKernelArgInfo", "clEnqueueFillBuffer", "clEnqueueFillImage",
    "clEnqueueMigrateMemObjects", "clEnqueueMarkerWithWaitList", "clEnqueueBarrierWithWaitList",
    "clGetExtensionFunctionAddressForPlatform", "clCreateFromGLTexture",
    "clGetDeviceIDsFromD3D11KHR", "clCreateFromD3D11BufferKHR", "clCreateFromD3D11Texture2DKHR",
    "clCreateFromD3D11Texture3DKHR", "clCreateFromDX9MediaSurfaceKHR",
    "clEnqueueAcquireD3D11ObjectsKHR", "clEnqueueReleaseD3D11ObjectsKHR",
    "clGetDeviceIDsFromDX9MediaAdapterKHR", "clEnqueueAcquireDX9MediaSurfacesKHR",
    "clEnqueueReleaseDX9MediaSurfacesKHR", "clCreateFromEGLImageKHR",
    "clEnqueueAcquireEGLObjectsKHR", "clEnqueueReleaseEGLObjectsKHR", "clCreateEventFromEGLSyncKHR",
    "clCreateCommandQueueWithProperties", "clCreatePipe", "clGetPipeInfo", "clSVMAlloc",
    "clSVMFree", "clEnqueueSVMFree", "clEnqueueSVMMemcpy", "clEnqueueSVMMemFill", "clEnqueueSVMMap",
    "clEnqueueSVMUnmap", "clCreateSamplerWithProperties", "clSetKernelArgSVMPointer",
    "clSetKernelExecInfo", "clGetKernelSubGroupInfoKHR", "clCloneKernel", "clCreateProgramWithIL",
    "clEnqueueSVMMigrateMem", "clGetDeviceAndHostTimer", "clGetHostTimer",
    "clGetKernelSubGroupInfo", "clSetDefaultDeviceCommandQueue", "clSetProgramReleaseCallback",
    "clSetProgramSpecializationConstant", "clCreateBufferWithProperties",
    "clCreateImageWithProperties", "clSetContextDestructorCallback",
    "clGetKernelSuggestedLocalWorkSize",
};
/* clang-format on */

enum { TABLE_3_1_SLOTS = sizeof table_3_1 / sizeof *table_3_1 };
_Static_assert(TABLE_3_1_SLOTS == 150, "OpenCL 3.0 has 149 members, and 3.1 one more");

#endif
