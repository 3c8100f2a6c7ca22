/* Functions of features that the device does not support: pipes, on-device queues, and sharing with
 * OpenGL and EGL. Each returns the error that the specification requires for such a device, after
 * the checks that precede it.
 */
#include "icd/queue/command.h"

static cl_int check_context(cl_context context, const char *call) {
  if (!icd_is_context(context))
    return icd_fail(NULL, CL_INVALID_CONTEXT, call, "context %p is not a valid cl_context",
                    (void *)context);
  return CL_SUCCESS;
}

/* Returns the error for a function of a feature that is not supported. */
static cl_int refuse_feature(cl_context context, const char *call, const char *feature) {
  const cl_int code = check_context(context, call);
  return code ? code
              : icd_fail(context, CL_INVALID_OPERATION, call, "%s are not supported", feature);
}

/* Returns the error for a command of a feature that is not supported. */
static cl_int refuse_sharing(cl_command_queue queue, cl_uint wait_count, const cl_event *waits,
                             const char *call, const char *feature) {
  cl_int code;
  if ((code = icd_check_queue(queue, call)) ||
      (code = icd_check_waits(queue, wait_count, waits, call)))
    return code;
  return icd_fail(queue->context, CL_INVALID_OPERATION, call, "%s are not supported", feature);
}

/* ---- pipes and on-device queues ----------------------------------------------------- */

CL_API_ENTRY cl_mem CL_API_CALL clCreatePipe(cl_context context, cl_mem_flags flags,
                                             cl_uint packet_size, cl_uint max_packets,
                                             const cl_pipe_properties *properties,
                                             cl_int *errcode_ret) {
  return icd_null(errcode_ret, refuse_feature(context, __func__, "pipes"));
}

CL_API_ENTRY cl_int CL_API_CALL clGetPipeInfo(cl_mem pipe, cl_pipe_info param_name,
                                              size_t param_value_size, void *param_value,
                                              size_t *param_value_size_ret) {
  return ICD_FAIL(NULL, CL_INVALID_MEM_OBJECT,
                  "pipe %p is not a valid pipe; pipes are not supported", (void *)pipe);
}

CL_API_ENTRY cl_int CL_API_CALL clSetDefaultDeviceCommandQueue(cl_context context,
                                                               cl_device_id device,
                                                               cl_command_queue queue) {
  const cl_int code = check_context(context, __func__);
  if (code)
    return code;
  if (device != context->device)
    return ICD_FAIL(context, CL_INVALID_DEVICE, "device %p is not in the context", (void *)device);
  return ICD_FAIL(context, CL_INVALID_OPERATION, "on-device queues are not supported");
}

/* ---- extensions in the dispatch table ----------------------------------------------- */

CL_API_ENTRY cl_int CL_API_CALL clCreateSubDevicesEXT(cl_device_id device,
                                                      const cl_device_partition_property_ext *list,
                                                      cl_uint num_entries, cl_device_id *devices,
                                                      cl_uint *num_devices) {
  return clCreateSubDevices(device, NULL, num_entries, devices, num_devices);
}

CL_API_ENTRY cl_int CL_API_CALL clRetainDeviceEXT(cl_device_id device) {
  return clRetainDevice(device);
}

CL_API_ENTRY cl_int CL_API_CALL clReleaseDeviceEXT(cl_device_id device) {
  return clReleaseDevice(device);
}

CL_API_ENTRY cl_int CL_API_CALL clGetKernelSubGroupInfoKHR(
    cl_kernel kernel, cl_device_id device, cl_kernel_sub_group_info param_name, size_t input_size,
    const void *input, size_t param_value_size, void *param_value, size_t *param_value_size_ret) {
  return clGetKernelSubGroupInfo(kernel, device, param_name, input_size, input, param_value_size,
                                 param_value, param_value_size_ret);
}

CL_API_ENTRY cl_mem CL_API_CALL clCreateFromGLBuffer(cl_context context, cl_mem_flags flags,
                                                     cl_GLuint buffer, cl_int *errcode_ret) {
  return icd_null(errcode_ret, refuse_feature(context, __func__, "OpenGL objects"));
}

CL_API_ENTRY cl_mem CL_API_CALL clCreateFromGLTexture(cl_context context, cl_mem_flags flags,
                                                      cl_GLenum target, cl_GLint level,
                                                      cl_GLuint texture, cl_int *errcode_ret) {
  return icd_null(errcode_ret, refuse_feature(context, __func__, "OpenGL objects"));
}

CL_API_ENTRY cl_mem CL_API_CALL clCreateFromGLTexture2D(cl_context context, cl_mem_flags flags,
                                                        cl_GLenum target, cl_GLint level,
                                                        cl_GLuint texture, cl_int *errcode_ret) {
  return icd_null(errcode_ret, refuse_feature(context, __func__, "OpenGL objects"));
}

CL_API_ENTRY cl_mem CL_API_CALL clCreateFromGLTexture3D(cl_context context, cl_mem_flags flags,
                                                        cl_GLenum target, cl_GLint level,
                                                        cl_GLuint texture, cl_int *errcode_ret) {
  return icd_null(errcode_ret, refuse_feature(context, __func__, "OpenGL objects"));
}

CL_API_ENTRY cl_mem CL_API_CALL clCreateFromGLRenderbuffer(cl_context context, cl_mem_flags flags,
                                                           cl_GLuint renderbuffer,
                                                           cl_int *errcode_ret) {
  return icd_null(errcode_ret, refuse_feature(context, __func__, "OpenGL objects"));
}

CL_API_ENTRY cl_int CL_API_CALL clGetGLObjectInfo(cl_mem mem, cl_gl_object_type *type,
                                                  cl_GLuint *name) {
  if (!icd_is_mem(mem))
    return ICD_FAIL(NULL, CL_INVALID_MEM_OBJECT, "memobj %p is not a valid cl_mem", (void *)mem);
  return ICD_FAIL(mem->context, CL_INVALID_GL_OBJECT,
                  "memobj %p was not created from an OpenGL object", (void *)mem);
}

CL_API_ENTRY cl_int CL_API_CALL clGetGLTextureInfo(cl_mem mem, cl_gl_texture_info param_name,
                                                   size_t param_value_size, void *param_value,
                                                   size_t *param_value_size_ret) {
  if (!icd_is_mem(mem))
    return ICD_FAIL(NULL, CL_INVALID_MEM_OBJECT, "memobj %p is not a valid cl_mem", (void *)mem);
  return ICD_FAIL(mem->context, CL_INVALID_GL_OBJECT,
                  "memobj %p was not created from an OpenGL object", (void *)mem);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueAcquireGLObjects(cl_command_queue queue, cl_uint count,
                                                          const cl_mem *mems, cl_uint wait_count,
                                                          const cl_event *waits, cl_event *event) {
  return refuse_sharing(queue, wait_count, waits, __func__, "OpenGL objects");
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueReleaseGLObjects(cl_command_queue queue, cl_uint count,
                                                          const cl_mem *mems, cl_uint wait_count,
                                                          const cl_event *waits, cl_event *event) {
  return refuse_sharing(queue, wait_count, waits, __func__, "OpenGL objects");
}

CL_API_ENTRY cl_int CL_API_CALL clGetGLContextInfoKHR(const cl_context_properties *properties,
                                                      cl_gl_context_info param_name,
                                                      size_t param_value_size, void *param_value,
                                                      size_t *param_value_size_ret) {
  return ICD_FAIL(NULL, CL_INVALID_OPERATION, "OpenGL objects are not supported");
}

CL_API_ENTRY cl_event CL_API_CALL clCreateEventFromGLsyncKHR(cl_context context, cl_GLsync sync,
                                                             cl_int *errcode_ret) {
  return icd_null(errcode_ret, refuse_feature(context, __func__, "OpenGL objects"));
}

CL_API_ENTRY cl_mem CL_API_CALL clCreateFromEGLImageKHR(
    cl_context context, CLeglDisplayKHR display, CLeglImageKHR image, cl_mem_flags flags,
    const cl_egl_image_properties_khr *properties, cl_int *errcode_ret) {
  return icd_null(errcode_ret, refuse_feature(context, __func__, "EGL objects"));
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueAcquireEGLObjectsKHR(cl_command_queue queue, cl_uint count,
                                                              const cl_mem *mems,
                                                              cl_uint wait_count,
                                                              const cl_event *waits,
                                                              cl_event *event) {
  return refuse_sharing(queue, wait_count, waits, __func__, "EGL objects");
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueReleaseEGLObjectsKHR(cl_command_queue queue, cl_uint count,
                                                              const cl_mem *mems,
                                                              cl_uint wait_count,
                                                              const cl_event *waits,
                                                              cl_event *event) {
  return refuse_sharing(queue, wait_count, waits, __func__, "EGL objects");
}

CL_API_ENTRY cl_event CL_API_CALL clCreateEventFromEGLSyncKHR(cl_context context, CLeglSyncKHR sync,
                                                              CLeglDisplayKHR display,
                                                              cl_int *errcode_ret) {
  return icd_null(errcode_ret, refuse_feature(context, __func__, "EGL objects"));
}
