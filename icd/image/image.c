/* Images: memory objects with a format and a layout. Their memory is linear and may belong to
 * another object.
 */
#include "icd/image/image.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "icd/context/retire.h"
#include "icd/image/image_format.h"
#include "icd/memory/memory.h"
#include "icd/memory/svm.h"
#include "icd/queue/command.h"

#include "icd/cl_tegracl.h"

/* ---- images in existing memory ------------------------------------------------------ */

/* Checks an image that is created from another image. It must have the same size and strides, and
 * may only interpret the channels differently. */
static cl_int check_in_image(cl_mem parent, struct icd_image *image, const char *call) {
  const struct icd_image *other = parent->image;
  if (!icd_format_is_view(&image->format, &other->format) || image->row_pitch != other->row_pitch ||
      memcmp(image->extent, other->extent, sizeof(image->extent)) != 0)
    return icd_fail(parent->context, CL_INVALID_IMAGE_FORMAT_DESCRIPTOR, call,
                    "an image created from an image must have the same size, row pitch and channel "
                    "data type, and a compatible channel order");
  memcpy(image->stride, other->stride, sizeof(image->stride));
  return CL_SUCCESS;
}

static cl_int check_in_buffer(cl_mem parent, const struct icd_image *image, size_t bytes,
                              const char *call) {
  if (bytes > parent->size)
    return icd_fail(parent->context, CL_INVALID_IMAGE_SIZE, call,
                    "the image requires %zu bytes, but the buffer has only %zu", bytes,
                    parent->size);
  if (parent->gpu % image->element || (uintptr_t)parent->host_ptr % image->element)
    return icd_fail(parent->context, CL_INVALID_IMAGE_FORMAT_DESCRIPTOR, call,
                    "the address of the buffer is not aligned to the pixel size of %zu bytes",
                    image->element);
  return CL_SUCCESS;
}

/* ---- creation ----------------------------------------------------------------------------- */

static void describe_for_kernels(cl_mem mem, struct icd_image *image) {
  const bool is_row = icd_image_type(image->type)->dimensions == 1;
  const size_t row = image->stride[1];
  image->kernel = (struct kernel_image){
      .base = mem->gpu,
      .width = (uint32_t)image->extent[0],
      .height = (uint16_t)(is_row ? 1 : image->extent[1]),
      .depth = (uint16_t)(is_row ? image->extent[1] : image->extent[2]),
      .row_pitch = (uint32_t)image->stride[1],
      .slice_rows = (uint32_t)(row ? image->stride[2] / row : 1),
      .format = icd_format_for_kernels(&image->format),
  };
}

static int try_texture(cl_mem mem, struct icd_image *image) {
  return rt_texture_create(mem->context->rt, &image->kernel, image->type - CL_MEM_OBJECT_IMAGE2D,
                           &image->kernel.texture);
}

/* Lets the texture units read and write the image, if they can. */
static void make_texture(cl_mem mem, struct icd_image *image, const char *call) {
  int error = try_texture(mem, image);
  if (icd_context_make_room(mem->context, error))
    error = try_texture(mem, image);
  if (error)
    icd_note(call, "the image is read and written by software: %s", rt_last_message());
}

/* Creates an image in new memory, or in the shared virtual memory at host_ptr if
 * CL_MEM_USE_HOST_PTR is set. */
static cl_mem create_own(cl_context context, cl_mem_flags flags, struct icd_image *image,
                         size_t bytes, char *host_ptr, cl_int *code, const char *call) {
  const uint64_t most = context->device->info->max_buffer_bytes;
  const struct icd_image host = *image;
  if (rt_texture_may_read(context->device->rt) && !(flags & CL_MEM_USE_HOST_PTR))
    icd_pad_rows(image, most, &bytes);
  if (bytes > most) {
    *code = icd_fail(context, CL_MEM_OBJECT_ALLOCATION_FAILURE, call,
                     "the image requires %zu bytes; CL_DEVICE_MAX_MEM_ALLOC_SIZE is %llu", bytes,
                     (unsigned long long)most);
    return NULL;
  }
  cl_mem svm = flags & CL_MEM_USE_HOST_PTR ? icd_svm_find(context, host_ptr) : NULL;
  if (svm &&
      ((uintptr_t)host_ptr % image->element || bytes > svm->size - (size_t)(host_ptr - svm->cpu))) {
    icd_mem_drop(svm);
    svm = NULL;
  }
  cl_mem mem = icd_mem_create(context, flags, bytes, svm, host_ptr, code, call);
  if (!mem) {
    if (svm)
      icd_mem_drop(svm);
    return NULL;
  }
  mem->host_ptr = flags & CL_MEM_USE_HOST_PTR ? host_ptr : NULL;
  if (host_ptr && !svm)
    icd_copy_box(&(struct icd_copy){
        .target = mem->cpu,
        .source = host_ptr,
        .region = {image->extent[0] * image->element, image->extent[1], image->extent[2]},
        .target_row_bytes = image->stride[1],
        .target_slice_bytes = image->stride[2],
        .source_row_bytes = host.stride[1],
        .source_slice_bytes = host.stride[2]});
  return mem;
}

static cl_mem create_in(cl_mem parent, cl_mem_flags flags, struct icd_image *image, size_t bytes,
                        cl_int *code, const char *call) {
  if (parent->flags & CL_MEM_IMMUTABLE_EXT && !(flags & CL_MEM_IMMUTABLE_EXT)) {
    *code = icd_fail(parent->context, CL_INVALID_VALUE, call,
                     "mem_object is immutable, but flags lack CL_MEM_IMMUTABLE_EXT");
    return NULL;
  }
  *code = icd_inherit_flags(parent, &flags, call);
  if (!*code)
    *code = parent->image ? check_in_image(parent, image, call)
                          : check_in_buffer(parent, image, bytes, call);
  if (*code)
    return NULL;
  cl_mem mem = icd_mem_create_part(parent, flags, 0, parent->image ? parent->size : bytes);
  if (!mem)
    *code = icd_fail(parent->context, CL_OUT_OF_HOST_MEMORY, call, "out of host memory");
  return mem;
}

/* An image has one source of memory, and no device address. */
static cl_int check_place(cl_context context, const cl_mem_properties *properties,
                          const cl_image_desc *desc, const char *call) {
  if (desc->image_type == CL_MEM_OBJECT_IMAGE1D_BUFFER && !desc->mem_object)
    return icd_fail(context, CL_INVALID_IMAGE_DESCRIPTOR, call,
                    "mem_object is NULL; CL_MEM_OBJECT_IMAGE1D_BUFFER requires a buffer");
  if (icd_find_mem_property(properties, CL_MEM_DEVICE_PRIVATE_ADDRESS_EXT))
    return icd_fail(context, CL_INVALID_PROPERTY, call,
                    "CL_MEM_DEVICE_PRIVATE_ADDRESS_EXT is not allowed for images");
  if (desc->mem_object && icd_find_mem_property(properties, CL_EXTERNAL_MEMORY_HANDLE_DMA_BUF_KHR))
    return icd_fail(context, CL_INVALID_PROPERTY, call,
                    "an external memory handle and mem_object are mutually exclusive");
  return CL_SUCCESS;
}

/* Creates an image whose layout is known: in parent, else in the dma-buf, else in new memory. */
static cl_mem create_laid_out(cl_context context, const cl_mem_properties *dma_buf,
                              cl_mem_flags flags, cl_mem parent, void *host_ptr,
                              struct icd_image *image, size_t bytes, cl_int *code,
                              const char *call) {
  icd_reclaim(context, false);
  if (parent)
    return create_in(parent, flags, image, bytes, code, call);
  cl_mem mem = dma_buf ? icd_mem_import(context, flags, bytes, (int)*dma_buf, CL_INVALID_PROPERTY,
                                        CL_INVALID_IMAGE_SIZE, code, call)
                       : create_own(context, flags, image, bytes, host_ptr, code, call);
  if (mem)
    icd_mem_note(mem, mem->svm || dma_buf);
  return mem;
}

static cl_mem create_image(cl_context context, const cl_mem_properties *properties,
                           cl_mem_flags flags, const cl_image_format *format,
                           const cl_image_desc *desc, void *host_ptr, cl_int *errcode_ret,
                           const char *call) {
  if (!icd_is_context(context))
    return icd_null(errcode_ret, icd_fail(NULL, CL_INVALID_CONTEXT, call,
                                          "context %p is not a valid cl_context", (void *)context));
  cl_int code;
  const cl_mem_properties *dma_buf =
      icd_find_mem_property(properties, CL_EXTERNAL_MEMORY_HANDLE_DMA_BUF_KHR);
  if ((code = icd_check_mem_properties(context, properties, flags, call)) ||
      (code = icd_check_mem_flags(context, flags, ICD_MEM_FLAGS, call)) ||
      (code = icd_format_check(context, format, call)) ||
      (code = icd_check_image_desc(context, desc, call)) ||
      (code = check_place(context, properties, desc, call)) ||
      (code = icd_check_contents(context, flags, desc->mem_object || dma_buf, call)) ||
      (code = icd_format_check_support(context, format, desc->image_type, flags, call)) ||
      (code = icd_check_host_pointer(context, flags, host_ptr, call)))
    return icd_null(errcode_ret, code);
  struct icd_image *image = calloc(1, sizeof(*image));
  if (!image)
    return icd_null(errcode_ret,
                    icd_fail(context, CL_OUT_OF_HOST_MEMORY, call, "out of host memory"));
  cl_mem mem = NULL;
  size_t bytes;
  rt_texture_check(context->rt); /* decides about the layout */
  code = icd_lay_out_image(context, format, desc, host_ptr || desc->mem_object || dma_buf, image,
                           &bytes, call);
  if (!code)
    mem = create_laid_out(context, dma_buf, flags, desc->mem_object, host_ptr, image, bytes, &code,
                          call);
  if (!mem) {
    free(image);
    return icd_null(errcode_ret, code);
  }
  describe_for_kernels(mem, image);
  make_texture(mem, image, call);
  mem->image = image;
  if (!icd_keep_mem_properties(mem, properties)) {
    icd_mem_drop(mem);
    return icd_null(errcode_ret,
                    icd_fail(context, CL_OUT_OF_HOST_MEMORY, call, "out of host memory"));
  }
  if (dma_buf)
    close((int)*dma_buf); /* a successful import takes ownership */
  return ICD_GIVE(errcode_ret, mem);
}

CL_API_ENTRY cl_mem CL_API_CALL clCreateImage(cl_context context, cl_mem_flags flags,
                                              const cl_image_format *format,
                                              const cl_image_desc *desc, void *host_ptr,
                                              cl_int *errcode_ret) {
  return create_image(context, NULL, flags, format, desc, host_ptr, errcode_ret, __func__);
}

CL_API_ENTRY cl_mem CL_API_CALL clCreateImageWithProperties(
    cl_context context, const cl_mem_properties *properties, cl_mem_flags flags,
    const cl_image_format *format, const cl_image_desc *desc, void *host_ptr, cl_int *errcode_ret) {
  return create_image(context, properties, flags, format, desc, host_ptr, errcode_ret, __func__);
}

/* Like create_image, but with the error codes of the functions of OpenCL 1.1, for which wrong
 * pitches are wrong sizes. */
static cl_mem create_with_sizes(cl_context context, cl_mem_flags flags,
                                const cl_image_format *format, const cl_image_desc *desc,
                                void *host_ptr, cl_int *errcode_ret, const char *call) {
  cl_int code;
  cl_mem mem = create_image(context, NULL, flags, format, desc, host_ptr, &code, call);
  if (code == CL_INVALID_IMAGE_DESCRIPTOR)
    code = CL_INVALID_IMAGE_SIZE;
  return mem ? ICD_GIVE(errcode_ret, mem) : icd_null(errcode_ret, code);
}

CL_API_ENTRY cl_mem CL_API_CALL clCreateImage2D(cl_context context, cl_mem_flags flags,
                                                const cl_image_format *format, size_t width,
                                                size_t height, size_t pitch, void *host_ptr,
                                                cl_int *errcode_ret) {
  const cl_image_desc desc = {.image_type = CL_MEM_OBJECT_IMAGE2D,
                              .image_width = width,
                              .image_height = height,
                              .image_row_pitch = pitch};
  return create_with_sizes(context, flags, format, &desc, host_ptr, errcode_ret, __func__);
}

CL_API_ENTRY cl_mem CL_API_CALL clCreateImage3D(cl_context context, cl_mem_flags flags,
                                                const cl_image_format *format, size_t width,
                                                size_t height, size_t depth, size_t row_pitch,
                                                size_t slice_pitch, void *host_ptr,
                                                cl_int *errcode_ret) {
  const cl_image_desc desc = {.image_type = CL_MEM_OBJECT_IMAGE3D,
                              .image_width = width,
                              .image_height = height,
                              .image_depth = depth,
                              .image_row_pitch = row_pitch,
                              .image_slice_pitch = slice_pitch};
  return create_with_sizes(context, flags, format, &desc, host_ptr, errcode_ret, __func__);
}

/* ---- queries ------------------------------------------------------------------------ */

/* Size in a dimension, or 0 if the type of image lacks that dimension. */
static size_t query_size(const struct icd_image *image, unsigned dimension) {
  return dimension < icd_image_type(image->type)->dimensions ? image->extent[dimension] : 0;
}
static size_t count_layers(const struct icd_image *image) {
  const struct icd_image_type *type = icd_image_type(image->type);
  return type->is_array ? image->extent[type->dimensions] : 0;
}

CL_API_ENTRY cl_int CL_API_CALL clGetImageInfo(cl_mem mem, cl_image_info param_name,
                                               size_t param_value_size, void *param_value,
                                               size_t *param_value_size_ret) {
  const struct icd_answer answer = {param_value_size, param_value, param_value_size_ret};
  if (!icd_is_mem(mem) || !mem->image)
    return ICD_FAIL(NULL, CL_INVALID_MEM_OBJECT, "image %p is not a valid image", (void *)mem);
  const struct icd_image *image = mem->image;
  switch (param_name) {
  case CL_IMAGE_FORMAT:
    return icd_answer_bytes(&answer, __func__, &image->format, sizeof(image->format));
  case CL_IMAGE_ELEMENT_SIZE:
    return ICD_ANSWER(&answer, size_t, image->element);
  case CL_IMAGE_ROW_PITCH:
    return ICD_ANSWER(&answer, size_t, image->row_pitch);
  case CL_IMAGE_SLICE_PITCH:
    return ICD_ANSWER(&answer, size_t, image->slice_pitch);
  case CL_IMAGE_WIDTH:
    return ICD_ANSWER(&answer, size_t, query_size(image, 0));
  case CL_IMAGE_HEIGHT:
    return ICD_ANSWER(&answer, size_t, query_size(image, 1));
  case CL_IMAGE_DEPTH:
    return ICD_ANSWER(&answer, size_t, query_size(image, 2));
  case CL_IMAGE_ARRAY_SIZE:
    return ICD_ANSWER(&answer, size_t, count_layers(image));
  case CL_IMAGE_BUFFER:
    return ICD_ANSWER(&answer, cl_mem, mem->parent && !mem->parent->image ? mem->parent : NULL);
  case CL_IMAGE_NUM_MIP_LEVELS:
  case CL_IMAGE_NUM_SAMPLES:
    return ICD_ANSWER(&answer, cl_uint, 0);
  default:
    return ICD_FAIL(mem->context, CL_INVALID_VALUE, "unknown param_name 0x%x", param_name);
  }
}

/* ---- functions for commands --------------------------------------------------------- */

cl_int icd_check_image(cl_command_queue queue, cl_mem image, const char *call) {
  if (!icd_is_mem(image) || !image->image)
    return icd_fail(queue->context, CL_INVALID_MEM_OBJECT, call, "image %p is not a valid image",
                    (void *)image);
  if (image->context != queue->context)
    return icd_fail(queue->context, CL_INVALID_CONTEXT, call,
                    "the image and command_queue belong to different contexts");
  return CL_SUCCESS;
}

cl_int icd_image_box(cl_mem mem, const size_t *origin, const size_t *region, struct icd_box *box,
                     const char *call) {
  const struct icd_image *image = mem->image;
  if (!origin || !region)
    return icd_fail(mem->context, CL_INVALID_VALUE, call, "origin or region is NULL");
  *box = (struct icd_box){.row_bytes = image->stride[1], .slice_bytes = image->stride[2]};
  for (unsigned i = 0; i < 3; i++) {
    if (!region[i] || origin[i] > image->extent[i] || region[i] > image->extent[i] - origin[i])
      return icd_fail(mem->context, CL_INVALID_VALUE, call,
                      "origin[%u] %zu and region[%u] %zu are outside the image, whose size is %zu",
                      i, origin[i], i, region[i], image->extent[i]);
    box->offset += origin[i] * image->stride[i];
    box->region[i] = region[i];
  }
  box->region[0] *= image->element;
  return CL_SUCCESS;
}
