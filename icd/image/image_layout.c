/* What clCreateImage's descriptions mean: the types of images, their limits, and where
 * texels, rows and slices lie. The layout is what the application gives for memory that
 * exists already, else rows and slices without gaps, so that a host pointer's memory and
 * the image's have the same one.
 */
#include "icd/image/image.h"
#include "icd/image/image_format.h"

/* By type, less CL_MEM_OBJECT_IMAGE2D. */
static const struct icd_image_type types[] = {
    [CL_MEM_OBJECT_IMAGE2D - CL_MEM_OBJECT_IMAGE2D] = {2, false},
    [CL_MEM_OBJECT_IMAGE3D - CL_MEM_OBJECT_IMAGE2D] = {3, false},
    [CL_MEM_OBJECT_IMAGE2D_ARRAY - CL_MEM_OBJECT_IMAGE2D] = {2, true},
    [CL_MEM_OBJECT_IMAGE1D - CL_MEM_OBJECT_IMAGE2D] = {1, false},
    [CL_MEM_OBJECT_IMAGE1D_ARRAY - CL_MEM_OBJECT_IMAGE2D] = {1, true},
    [CL_MEM_OBJECT_IMAGE1D_BUFFER - CL_MEM_OBJECT_IMAGE2D] = {1, false},
};

const struct icd_image_type *icd_image_type(cl_mem_object_type type) {
  const cl_mem_object_type number = type - CL_MEM_OBJECT_IMAGE2D;
  return number < sizeof(types) / sizeof(*types) ? &types[number] : NULL;
}

size_t icd_image_limit(cl_mem_object_type object, unsigned dimension) {
  const struct icd_image_type *type = icd_image_type(object);
  if (dimension == type->dimensions && type->is_array)
    return ICD_IMAGE_LAYERS_MAX;
  if (dimension >= type->dimensions)
    return 1;
  return object == CL_MEM_OBJECT_IMAGE1D_BUFFER ? ICD_IMAGE_BUFFER_MAX
         : type->dimensions == 3                ? ICD_IMAGE_SIDE_MAX
                                                : ICD_IMAGE_WIDTH_MAX;
}

/* ---- checks of a description ---------------------------------------------------------- */

/* What an image can be made of: nothing, a buffer, or a 2D image of a 2D one. */
static cl_int check_parent(cl_context context, const cl_image_desc *desc, const char *call) {
  cl_mem parent = desc->mem_object;
  if (!parent)
    return CL_SUCCESS;
  if (!icd_is_mem(parent) || (parent->image && (desc->image_type != CL_MEM_OBJECT_IMAGE2D ||
                                                parent->image->type != CL_MEM_OBJECT_IMAGE2D)))
    return icd_fail(context, CL_INVALID_IMAGE_DESCRIPTOR, call,
                    "mem_object is not what an image of this type can be made from");
  if (parent->context != context)
    return icd_fail(context, CL_INVALID_CONTEXT, call, "mem_object is of another context");
  return CL_SUCCESS;
}

cl_int icd_check_image_desc(cl_context context, const cl_image_desc *desc, const char *call) {
  if (!desc)
    return icd_fail(context, CL_INVALID_IMAGE_DESCRIPTOR, call, "image_desc is NULL");
  if (!icd_image_type(desc->image_type))
    return icd_fail(context, CL_INVALID_IMAGE_DESCRIPTOR, call,
                    "image_type 0x%x is not a type of images", desc->image_type);
  if (desc->num_mip_levels || desc->num_samples)
    return icd_fail(context, CL_INVALID_IMAGE_DESCRIPTOR, call,
                    "num_mip_levels and num_samples must be 0");
  return check_parent(context, desc, call);
}

/* ---- the layout ------------------------------------------------------------------------- */

/* Fills in the extent: texels, rows, slices. */
static cl_int read_extent(cl_context context, const cl_image_desc *desc, struct icd_image *image,
                          const char *call) {
  const struct icd_image_type *type = icd_image_type(desc->image_type);
  const size_t sides[] = {desc->image_width, desc->image_height, desc->image_depth};
  for (unsigned i = 0; i < 3; i++) {
    const size_t limit = icd_image_limit(desc->image_type, i);
    size_t *size = &image->extent[i];
    *size = i < type->dimensions                      ? sides[i]
            : i == type->dimensions && type->is_array ? desc->image_array_size
                                                      : 1;
    if (!*size || *size > limit)
      return icd_fail(context, CL_INVALID_IMAGE_SIZE, call,
                      "the image's dimension %u is %zu; it must be 1 to %zu", i, *size, limit);
  }
  return CL_SUCCESS;
}

static bool is_multiple(size_t size, size_t of) {
  return of && size % of == 0;
}

/* Fills in pitches and strides, those of the description or else without gaps. */
static cl_int read_pitches(cl_context context, const cl_image_desc *desc, bool pitched,
                           struct icd_image *image, const char *call) {
  const struct icd_image_type *type = icd_image_type(desc->image_type);
  const cl_int refused =
      desc->mem_object ? CL_INVALID_IMAGE_FORMAT_DESCRIPTOR : CL_INVALID_IMAGE_DESCRIPTOR;
  const size_t row = image->extent[0] * image->element;
  const bool sliced = type->is_array || type->dimensions == 3;
  if (!pitched && (desc->image_row_pitch || desc->image_slice_pitch))
    return icd_fail(context, CL_INVALID_IMAGE_DESCRIPTOR, call,
                    "image_row_pitch and image_slice_pitch must be 0 for memory of its own");
  image->row_pitch = desc->image_row_pitch ? desc->image_row_pitch : row;
  if (image->row_pitch < row || !is_multiple(image->row_pitch, image->element) ||
      image->row_pitch > UINT32_MAX)
    return icd_fail(context, refused, call,
                    "image_row_pitch is %zu; it must be a multiple of %zu, at least %zu",
                    image->row_pitch, image->element, row);
  const size_t slice = image->row_pitch * (type->dimensions > 1 ? image->extent[1] : 1);
  const size_t given = sliced ? desc->image_slice_pitch : 0;
  image->slice_pitch = !sliced ? 0 : given ? given : slice;
  if (sliced && (image->slice_pitch < slice || !is_multiple(image->slice_pitch, image->row_pitch)))
    return icd_fail(context, refused, call,
                    "image_slice_pitch is %zu; it must be a multiple of %zu, at least %zu",
                    image->slice_pitch, image->row_pitch, slice);
  const bool layers_are_rows = type->is_array && type->dimensions == 1;
  const bool has_slices = sliced && !layers_are_rows;
  image->stride[0] = image->element;
  image->stride[1] = layers_are_rows ? image->slice_pitch : image->row_pitch;
  image->stride[2] = has_slices ? image->slice_pitch : image->stride[1] * image->extent[1];
  return CL_SUCCESS;
}

/* All rows and slices with their gaps, and a single row without; 0: too many. */
static size_t image_bytes(const struct icd_image *image) {
  size_t bytes;
  if (__builtin_mul_overflow(image->extent[2], image->stride[2], &bytes) ||
      bytes >> 32 >= image->row_pitch || image->stride[1] > UINT32_MAX)
    return 0;
  return image->extent[1] * image->extent[2] == 1 ? image->extent[0] * image->element : bytes;
}

cl_int icd_lay_out_image(cl_context context, const cl_image_format *format,
                         const cl_image_desc *desc, bool pitched, struct icd_image *image,
                         size_t *bytes, const char *call) {
  *image = (struct icd_image){.type = desc->image_type,
                              .format = *format,
                              .element = (size_t)1 << icd_format_shift(format)};
  cl_int code;
  if ((code = read_extent(context, desc, image, call)) ||
      (code = read_pitches(context, desc, pitched, image, call)))
    return code;
  *bytes = image_bytes(image);
  return *bytes ? CL_SUCCESS
                : icd_fail(context, CL_INVALID_IMAGE_SIZE, call,
                           "the image has more than 2^32 - 1 rows");
}
