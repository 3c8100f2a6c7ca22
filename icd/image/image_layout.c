/* Image types, their limits, and the layout of texels, rows and slices. Images in existing memory
 * have the pitches of the description. Others have no gaps, except for icd_pad_rows.
 */
#include "icd/image/image.h"
#include "icd/image/image_format.h"

/* Indexed by type - CL_MEM_OBJECT_IMAGE2D. */
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

/* An image may be created from a buffer, or a 2D image from another 2D image. */
static cl_int check_parent(cl_context context, const cl_image_desc *desc, const char *call) {
  cl_mem parent = desc->mem_object;
  if (!parent)
    return CL_SUCCESS;
  if (!icd_is_mem(parent) || (parent->image && (desc->image_type != CL_MEM_OBJECT_IMAGE2D ||
                                                parent->image->type != CL_MEM_OBJECT_IMAGE2D)))
    return icd_fail(
        context, CL_INVALID_IMAGE_DESCRIPTOR, call,
        "mem_object %p is not a buffer or image from which an image of type 0x%x can be created",
        (void *)parent, desc->image_type);
  if (parent->context != context)
    return icd_fail(context, CL_INVALID_CONTEXT, call, "mem_object belongs to another context");
  return CL_SUCCESS;
}

cl_int icd_check_image_desc(cl_context context, const cl_image_desc *desc, const char *call) {
  if (!desc)
    return icd_fail(context, CL_INVALID_IMAGE_DESCRIPTOR, call, "image_desc is NULL");
  if (!icd_image_type(desc->image_type))
    return icd_fail(context, CL_INVALID_IMAGE_DESCRIPTOR, call,
                    "image_type 0x%x is not an image type", desc->image_type);
  if (desc->num_mip_levels || desc->num_samples)
    return icd_fail(context, CL_INVALID_IMAGE_DESCRIPTOR, call,
                    "num_mip_levels is %u and num_samples is %u; both must be 0",
                    desc->num_mip_levels, desc->num_samples);
  return check_parent(context, desc, call);
}

/* ---- the layout ------------------------------------------------------------------------- */

/* Fills in the numbers of texels, rows and slices. */
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
                      "the size in dimension %u is %zu; it must be from 1 to %zu", i, *size, limit);
  }
  return CL_SUCCESS;
}

static bool is_multiple(size_t size, size_t of) {
  return of && size % of == 0;
}

/* Fills in pitches and strides. A pitch of 0 in the description means that there are no gaps. */
static cl_int read_pitches(cl_context context, const cl_image_desc *desc, bool pitched,
                           struct icd_image *image, const char *call) {
  const struct icd_image_type *type = icd_image_type(desc->image_type);
  const cl_int refused =
      desc->mem_object ? CL_INVALID_IMAGE_FORMAT_DESCRIPTOR : CL_INVALID_IMAGE_DESCRIPTOR;
  const size_t row = image->extent[0] * image->element;
  const bool sliced = type->is_array || type->dimensions == 3;
  if (!pitched && (desc->image_row_pitch || desc->image_slice_pitch))
    return icd_fail(context, CL_INVALID_IMAGE_DESCRIPTOR, call,
                    "image_row_pitch is %zu and image_slice_pitch is %zu; both must be 0 without "
                    "host_ptr or mem_object",
                    desc->image_row_pitch, desc->image_slice_pitch);
  image->row_pitch = desc->image_row_pitch ? desc->image_row_pitch : row;
  if (image->row_pitch < row || !is_multiple(image->row_pitch, image->element) ||
      image->row_pitch > UINT32_MAX)
    return icd_fail(context, refused, call,
                    "image_row_pitch is %zu; it must be a multiple of %zu and at least %zu",
                    image->row_pitch, image->element, row);
  const size_t slice = image->row_pitch * (type->dimensions > 1 ? image->extent[1] : 1);
  const size_t given = sliced ? desc->image_slice_pitch : 0;
  image->slice_pitch = !sliced ? 0 : given ? given : slice;
  if (sliced && (image->slice_pitch < slice || !is_multiple(image->slice_pitch, image->row_pitch)))
    return icd_fail(context, refused, call,
                    "image_slice_pitch is %zu; it must be a multiple of %zu and at least %zu",
                    image->slice_pitch, image->row_pitch, slice);
  const bool layers_are_rows = type->is_array && type->dimensions == 1;
  const bool has_slices = sliced && !layers_are_rows;
  image->stride[0] = image->element;
  image->stride[1] = layers_are_rows ? image->slice_pitch : image->row_pitch;
  image->stride[2] = has_slices ? image->slice_pitch : image->stride[1] * image->extent[1];
  return CL_SUCCESS;
}

/* Returns the size of all slices including gaps, without gaps for a single row, or 0 if there
 * are too many rows. */
static size_t image_bytes(const struct icd_image *image) {
  size_t bytes;
  if (__builtin_mul_overflow(image->extent[2], image->stride[2], &bytes) ||
      bytes >> 32 >= image->stride[1] || image->stride[1] > UINT32_MAX)
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
                           "the image is too large: it has more than 2^32 - 1 rows");
}

static size_t round_up(size_t size, size_t align) {
  return (size + align - 1) / align * align;
}

void icd_pad_rows(struct icd_image *image, uint64_t most, size_t *bytes) {
  enum { SMALL_BYTES = 1 << 20 }; /* gaps of smaller images do not matter */
  const struct icd_image_type *type = icd_image_type(image->type);
  const bool layers_are_rows = type->is_array && type->dimensions == 1;
  struct icd_image padded = *image;
  padded.stride[1] = round_up(image->extent[0] * image->element,
                              layers_are_rows ? RT_TEXTURE_BASE_ALIGN : RT_TEXTURE_PITCH_ALIGN);
  /* A slice has whole rows, so it has as many as reach a multiple of the alignment. */
  size_t rows = 1;
  while (image->extent[2] > 1 && rows * padded.stride[1] % RT_TEXTURE_BASE_ALIGN)
    rows *= 2;
  padded.stride[2] = padded.stride[1] * round_up(image->extent[1], rows);
  const size_t needed = image_bytes(&padded);
  if (needed && needed <= most && (needed <= SMALL_BYTES || needed / 2 <= *bytes)) {
    *image = padded;
    *bytes = needed;
  }
}
