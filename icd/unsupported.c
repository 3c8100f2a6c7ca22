/* Entry points of features that the device does not report: images, samplers,
 * pipes, queues on the device, sharing with OpenGL and EGL. Each gives the error which the
 * specification has for a device without the feature, after the checks that come before it.
 */
#include "icd/command.h"

static cl_int check_context(cl_context context, const char *call) {
  if (!icd_is_context(context))
    return icd_fail(NULL, CL_INVALID_CONTEXT, call, "context is not a context");
  return CL_SUCCESS;
}

/* The error of a call in a context that lacks the feature. */
static cl_int lacks(cl_context context, const char *call, const char *feature) {
  const cl_int code = check_context(context, call);
  return code ? code
              : icd_fail(context, CL_INVALID_OPERATION, call, "the device has no %s", feature);
}

/* The error of a command to a queue whose device lacks the feature. */
static cl_int refuse(cl_command_queue queue, cl_uint wait_count, const cl_event *waits,
                     const char *call, const char *feature) {
  cl_int code;
  if ((code = icd_check_queue(queue, call)) ||
      (code = icd_check_waits(queue, wait_count, waits, call)))
    return code;
  return icd_fail(queue->context, CL_INVALID_OPERATION, call, "the device has no %s", feature);
}

/* ---- images and samplers ----------------------------------------------------------- */

CL_API_ENTRY cl_mem CL_API_CALL clCreateImage(cl_context context, cl_mem_flags flags,
                                              const cl_image_format *format,
                                              const cl_image_desc *desc, void *host_ptr,
                                              cl_int *errcode_ret) {
  return icd_null(errcode_ret, lacks(context, __func__, "images"));
}

CL_API_ENTRY cl_mem CL_API_CALL clCreateImageWithProperties(
    cl_context context, const cl_mem_properties *properties, cl_mem_flags flags,
    const cl_image_format *format, const cl_image_desc *desc, void *host_ptr, cl_int *errcode_ret) {
  return icd_null(errcode_ret, lacks(context, __func__, "images"));
}

CL_API_ENTRY cl_mem CL_API_CALL clCreateImage2D(cl_context context, cl_mem_flags flags,
                                                const cl_image_format *format, size_t width,
                                                size_t height, size_t pitch, void *host_ptr,
                                                cl_int *errcode_ret) {
  return icd_null(errcode_ret, lacks(context, __func__, "images"));
}

CL_API_ENTRY cl_mem CL_API_CALL clCreateImage3D(cl_context context, cl_mem_flags flags,
                                                const cl_image_format *format, size_t width,
                                                size_t height, size_t depth, size_t row_pitch,
                                                size_t slice_pitch, void *host_ptr,
                                                cl_int *errcode_ret) {
  return icd_null(errcode_ret, lacks(context, __func__, "images"));
}

/* None is an answer, not an error. */
CL_API_ENTRY cl_int CL_API_CALL clGetSupportedImageFormats(cl_context context, cl_mem_flags flags,
                                                           cl_mem_object_type type,
                                                           cl_uint num_entries,
                                                           cl_image_format *formats,
                                                           cl_uint *num_formats) {
  const cl_int code = check_context(context, __func__);
  if (code)
    return code;
  if (formats && !num_entries)
    return ICD_FAIL(context, CL_INVALID_VALUE, "num_entries is 0 but image_formats is not NULL");
  if (num_formats)
    *num_formats = 0;
  return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL clGetImageInfo(cl_mem image, cl_image_info param_name,
                                               size_t param_value_size, void *param_value,
                                               size_t *param_value_size_ret) {
  return ICD_FAIL(NULL, CL_INVALID_MEM_OBJECT, "image is not an image; the device has none");
}

CL_API_ENTRY cl_sampler CL_API_CALL clCreateSampler(cl_context context, cl_bool normalized,
                                                    cl_addressing_mode addressing,
                                                    cl_filter_mode filter, cl_int *errcode_ret) {
  return icd_null(errcode_ret, lacks(context, __func__, "images, and so no samplers"));
}

CL_API_ENTRY cl_sampler CL_API_CALL clCreateSamplerWithProperties(
    cl_context context, const cl_sampler_properties *properties, cl_int *errcode_ret) {
  return icd_null(errcode_ret, lacks(context, __func__, "images, and so no samplers"));
}

CL_API_ENTRY cl_int CL_API_CALL clRetainSampler(cl_sampler sampler) {
  return ICD_FAIL(NULL, CL_INVALID_SAMPLER, "sampler is not a sampler; the device has none");
}

CL_API_ENTRY cl_int CL_API_CALL clReleaseSampler(cl_sampler sampler) {
  return ICD_FAIL(NULL, CL_INVALID_SAMPLER, "sampler is not a sampler; the device has none");
}

CL_API_ENTRY cl_int CL_API_CALL clGetSamplerInfo(cl_sampler sampler, cl_sampler_info param_name,
                                                 size_t param_value_size, void *param_value,
                                                 size_t *param_value_size_ret) {
  return ICD_FAIL(NULL, CL_INVALID_SAMPLER, "sampler is not a sampler; the device has none");
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueReadImage(cl_command_queue queue, cl_mem image,
                                                   cl_bool blocking, const size_t *origin,
                                                   const size_t *region, size_t row_pitch,
                                                   size_t slice_pitch, void *ptr,
                                                   cl_uint wait_count, const cl_event *waits,
                                                   cl_event *event) {
  return refuse(queue, wait_count, waits, __func__, "images");
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueWriteImage(cl_command_queue queue, cl_mem image,
                                                    cl_bool blocking, const size_t *origin,
                                                    const size_t *region, size_t row_pitch,
                                                    size_t slice_pitch, const void *ptr,
                                                    cl_uint wait_count, const cl_event *waits,
                                                    cl_event *event) {
  return refuse(queue, wait_count, waits, __func__, "images");
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueFillImage(cl_command_queue queue, cl_mem image,
                                                   const void *color, const size_t *origin,
                                                   const size_t *region, cl_uint wait_count,
                                                   const cl_event *waits, cl_event *event) {
  return refuse(queue, wait_count, waits, __func__, "images");
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueCopyImage(cl_command_queue queue, cl_mem source,
                                                   cl_mem target, const size_t *source_origin,
                                                   const size_t *target_origin,
                                                   const size_t *region, cl_uint wait_count,
                                                   const cl_event *waits, cl_event *event) {
  return refuse(queue, wait_count, waits, __func__, "images");
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueCopyImageToBuffer(cl_command_queue queue, cl_mem source,
                                                           cl_mem target, const size_t *origin,
                                                           const size_t *region, size_t offset,
                                                           cl_uint wait_count,
                                                           const cl_event *waits, cl_event *event) {
  return refuse(queue, wait_count, waits, __func__, "images");
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueCopyBufferToImage(cl_command_queue queue, cl_mem source,
                                                           cl_mem target, size_t offset,
                                                           const size_t *origin,
                                                           const size_t *region, cl_uint wait_count,
                                                           const cl_event *waits, cl_event *event) {
  return refuse(queue, wait_count, waits, __func__, "images");
}

CL_API_ENTRY void *CL_API_CALL clEnqueueMapImage(cl_command_queue queue, cl_mem image,
                                                 cl_bool blocking, cl_map_flags flags,
                                                 const size_t *origin, const size_t *region,
                                                 size_t *row_pitch, size_t *slice_pitch,
                                                 cl_uint wait_count, const cl_event *waits,
                                                 cl_event *event, cl_int *errcode_ret) {
  return icd_null(errcode_ret, refuse(queue, wait_count, waits, __func__, "images"));
}

/* ---- pipes, queues on the device ------------------------------------------------------- */

CL_API_ENTRY cl_mem CL_API_CALL clCreatePipe(cl_context context, cl_mem_flags flags,
                                             cl_uint packet_size, cl_uint max_packets,
                                             const cl_pipe_properties *properties,
                                             cl_int *errcode_ret) {
  return icd_null(errcode_ret, lacks(context, __func__, "pipes"));
}

CL_API_ENTRY cl_int CL_API_CALL clGetPipeInfo(cl_mem pipe, cl_pipe_info param_name,
                                              size_t param_value_size, void *param_value,
                                              size_t *param_value_size_ret) {
  return ICD_FAIL(NULL, CL_INVALID_MEM_OBJECT, "pipe is not a pipe; the device has none");
}

CL_API_ENTRY cl_int CL_API_CALL clSetDefaultDeviceCommandQueue(cl_context context,
                                                               cl_device_id device,
                                                               cl_command_queue queue) {
  return lacks(context, __func__, "queues on the device");
}

/* ---- extensions with places in the table ---------------------------------------------------- */

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
  return icd_null(errcode_ret, lacks(context, __func__, "sharing with OpenGL"));
}

CL_API_ENTRY cl_mem CL_API_CALL clCreateFromGLTexture(cl_context context, cl_mem_flags flags,
                                                      cl_GLenum target, cl_GLint level,
                                                      cl_GLuint texture, cl_int *errcode_ret) {
  return icd_null(errcode_ret, lacks(context, __func__, "sharing with OpenGL"));
}

CL_API_ENTRY cl_mem CL_API_CALL clCreateFromGLTexture2D(cl_context context, cl_mem_flags flags,
                                                        cl_GLenum target, cl_GLint level,
                                                        cl_GLuint texture, cl_int *errcode_ret) {
  return icd_null(errcode_ret, lacks(context, __func__, "sharing with OpenGL"));
}

CL_API_ENTRY cl_mem CL_API_CALL clCreateFromGLTexture3D(cl_context context, cl_mem_flags flags,
                                                        cl_GLenum target, cl_GLint level,
                                                        cl_GLuint texture, cl_int *errcode_ret) {
  return icd_null(errcode_ret, lacks(context, __func__, "sharing with OpenGL"));
}

CL_API_ENTRY cl_mem CL_API_CALL clCreateFromGLRenderbuffer(cl_context context, cl_mem_flags flags,
                                                           cl_GLuint renderbuffer,
                                                           cl_int *errcode_ret) {
  return icd_null(errcode_ret, lacks(context, __func__, "sharing with OpenGL"));
}

CL_API_ENTRY cl_int CL_API_CALL clGetGLObjectInfo(cl_mem mem, cl_gl_object_type *type,
                                                  cl_GLuint *name) {
  if (!icd_is_mem(mem))
    return ICD_FAIL(NULL, CL_INVALID_MEM_OBJECT, "memobj is not a memory object");
  return ICD_FAIL(mem->context, CL_INVALID_GL_OBJECT, "memobj is not shared with OpenGL");
}

CL_API_ENTRY cl_int CL_API_CALL clGetGLTextureInfo(cl_mem mem, cl_gl_texture_info param_name,
                                                   size_t param_value_size, void *param_value,
                                                   size_t *param_value_size_ret) {
  if (!icd_is_mem(mem))
    return ICD_FAIL(NULL, CL_INVALID_MEM_OBJECT, "memobj is not a memory object");
  return ICD_FAIL(mem->context, CL_INVALID_GL_OBJECT, "memobj is not shared with OpenGL");
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueAcquireGLObjects(cl_command_queue queue, cl_uint count,
                                                          const cl_mem *mems, cl_uint wait_count,
                                                          const cl_event *waits, cl_event *event) {
  return refuse(queue, wait_count, waits, __func__, "sharing with OpenGL");
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueReleaseGLObjects(cl_command_queue queue, cl_uint count,
                                                          const cl_mem *mems, cl_uint wait_count,
                                                          const cl_event *waits, cl_event *event) {
  return refuse(queue, wait_count, waits, __func__, "sharing with OpenGL");
}

CL_API_ENTRY cl_int CL_API_CALL clGetGLContextInfoKHR(const cl_context_properties *properties,
                                                      cl_gl_context_info param_name,
                                                      size_t param_value_size, void *param_value,
                                                      size_t *param_value_size_ret) {
  return ICD_FAIL(NULL, CL_INVALID_OPERATION, "the device has no sharing with OpenGL");
}

CL_API_ENTRY cl_event CL_API_CALL clCreateEventFromGLsyncKHR(cl_context context, cl_GLsync sync,
                                                             cl_int *errcode_ret) {
  return icd_null(errcode_ret, lacks(context, __func__, "sharing with OpenGL"));
}

CL_API_ENTRY cl_mem CL_API_CALL clCreateFromEGLImageKHR(
    cl_context context, CLeglDisplayKHR display, CLeglImageKHR image, cl_mem_flags flags,
    const cl_egl_image_properties_khr *properties, cl_int *errcode_ret) {
  return icd_null(errcode_ret, lacks(context, __func__, "sharing with EGL"));
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueAcquireEGLObjectsKHR(cl_command_queue queue, cl_uint count,
                                                              const cl_mem *mems,
                                                              cl_uint wait_count,
                                                              const cl_event *waits,
                                                              cl_event *event) {
  return refuse(queue, wait_count, waits, __func__, "sharing with EGL");
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueReleaseEGLObjectsKHR(cl_command_queue queue, cl_uint count,
                                                              const cl_mem *mems,
                                                              cl_uint wait_count,
                                                              const cl_event *waits,
                                                              cl_event *event) {
  return refuse(queue, wait_count, waits, __func__, "sharing with EGL");
}

CL_API_ENTRY cl_event CL_API_CALL clCreateEventFromEGLSyncKHR(cl_context context, CLeglSyncKHR sync,
                                                              CLeglDisplayKHR display,
                                                              cl_int *errcode_ret) {
  return icd_null(errcode_ret, lacks(context, __func__, "sharing with EGL"));
}
