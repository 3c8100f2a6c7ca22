/* Requirements of an image before it is created (cl_ext_image_requirements_info,
 * cl_ext_image_from_buffer). Images are linear, so texels only need their natural alignment.
 */
#include "icd/image/image.h"
#include "icd/image/image_format.h"
#include "icd/memory/memory.h"

#include "icd/cl_tegracl.h"

/* The field of the image description to which a query refers. */
enum { WIDTH, HEIGHT, DEPTH, ARRAY_SIZE };

/* Returns the maximum of one dimension of an image type, or 0 if the type lacks that dimension. */
static size_t largest_extent(cl_mem_object_type object, unsigned dimension) {
  const struct icd_image_type *type = icd_image_type(object);
  if (dimension == ARRAY_SIZE)
    return type->is_array ? icd_image_limit(object, type->dimensions) : 0;
  return dimension < type->dimensions ? icd_image_limit(object, dimension) : 0;
}

/* Returns the smallest maximum among the image types that have the dimension. */
static size_t least_limit(unsigned dimension) {
  size_t least = SIZE_MAX;
  for (cl_mem_object_type type = CL_MEM_OBJECT_IMAGE2D; type <= CL_MEM_OBJECT_IMAGE1D_BUFFER;
       type++) {
    const size_t limit = largest_extent(type, dimension);
    if (limit && limit < least)
      least = limit;
  }
  return least;
}

static cl_int answer_limit(cl_context context, const struct icd_answer *answer,
                           const cl_image_desc *desc, unsigned dimension, const char *call) {
  const cl_mem_object_type type = desc ? desc->image_type : 0;
  if (type && !icd_image_type(type))
    return icd_fail(context, CL_INVALID_IMAGE_DESCRIPTOR, call,
                    "image_type 0x%x is not an image type", type);
  const cl_uint limit = (cl_uint)(type ? largest_extent(type, dimension) : least_limit(dimension));
  return limit ? icd_answer_bytes(answer, call, &limit, sizeof(limit))
               : icd_fail(context, CL_INVALID_IMAGE_DESCRIPTOR, call,
                          "images of type 0x%x do not have the dimension that is queried", type);
}

/* Computes the size of the described image, or sets *bytes to 0 if format or desc is missing. */
static cl_int plan_image(cl_context context, cl_mem_flags flags, const cl_image_format *format,
                         const cl_image_desc *desc, size_t *bytes, const char *call) {
  *bytes = 0;
  cl_int code = desc ? icd_check_image_desc(context, desc, call) : CL_SUCCESS;
  if (code || !desc || !format)
    return code;
  if (icd_format_check_support(context, format, desc->image_type, flags, call))
    return CL_INVALID_IMAGE_FORMAT_DESCRIPTOR;
  struct icd_image image;
  return icd_lay_out_image(context, format, desc, true, &image, bytes, call)
             ? CL_INVALID_IMAGE_DESCRIPTOR
             : CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL clGetImageRequirementsInfoEXT(
    cl_context context, const cl_mem_properties *properties, cl_mem_flags flags,
    const cl_image_format *format, const cl_image_desc *desc,
    cl_image_requirements_info_ext param_name, size_t param_value_size, void *param_value,
    size_t *param_value_size_ret) {
  const struct icd_answer answer = {param_value_size, param_value, param_value_size_ret};
  if (!icd_is_context(context))
    return ICD_FAIL(NULL, CL_INVALID_CONTEXT, "context %p is not a valid cl_context",
                    (void *)context);
  cl_int code;
  if ((code = icd_check_mem_properties(context, properties, flags, __func__)) ||
      (code = icd_check_mem_flags(context, flags, ICD_MEM_FLAGS | CL_MEM_KERNEL_READ_AND_WRITE,
                                  __func__)) ||
      (format && (code = icd_format_check(context, format, __func__))))
    return code;
  size_t bytes;
  switch (param_name) {
  case CL_IMAGE_REQUIREMENTS_MAX_WIDTH_EXT:
    return answer_limit(context, &answer, desc, WIDTH, __func__);
  case CL_IMAGE_REQUIREMENTS_MAX_HEIGHT_EXT:
    return answer_limit(context, &answer, desc, HEIGHT, __func__);
  case CL_IMAGE_REQUIREMENTS_MAX_DEPTH_EXT:
    return answer_limit(context, &answer, desc, DEPTH, __func__);
  case CL_IMAGE_REQUIREMENTS_MAX_ARRAY_SIZE_EXT:
    return answer_limit(context, &answer, desc, ARRAY_SIZE, __func__);
  case CL_IMAGE_REQUIREMENTS_ROW_PITCH_ALIGNMENT_EXT:
  case CL_IMAGE_REQUIREMENTS_SLICE_PITCH_ALIGNMENT_EXT:
  case CL_IMAGE_REQUIREMENTS_BASE_ADDRESS_ALIGNMENT_EXT:
    if ((code = plan_image(context, flags, format, desc, &bytes, __func__)))
      return code;
    return ICD_ANSWER(&answer, size_t,
                      ICD_IMAGE_ALIGN *
                          (format ? (size_t)1 << icd_format_shift(format) : ICD_TEXEL_BYTES));
  case CL_IMAGE_REQUIREMENTS_SIZE_EXT:
    if (!format || !desc)
      return ICD_FAIL(context, CL_INVALID_VALUE, "image_%s is NULL", format ? "desc" : "format");
    if ((code = plan_image(context, flags, format, desc, &bytes, __func__)))
      return code;
    return ICD_ANSWER(&answer, size_t, bytes);
  default:
    return ICD_FAIL(context, CL_INVALID_VALUE, "unknown param_name 0x%x", param_name);
  }
}
