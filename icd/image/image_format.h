/* Image formats and the packing of texels. */
#ifndef TEGRACL_IMAGE_FORMAT_H
#define TEGRACL_IMAGE_FORMAT_H

#include "icd/icd.h"

enum { ICD_TEXEL_BYTES = 16 }; /* size of the largest texel */

/* Returns CL_INVALID_IMAGE_FORMAT_DESCRIPTOR if format is NULL or OpenCL does not define it. */
cl_int icd_format_check(cl_context context, const cl_image_format *format, const char *call);

/* Returns CL_IMAGE_FORMAT_NOT_SUPPORTED unless the device supports the format for images of this
 * type with these flags. The format must be one that OpenCL defines. */
cl_int icd_format_check_support(cl_context context, const cl_image_format *format,
                                cl_mem_object_type type, cl_mem_flags flags, const char *call);

/* Returns the binary logarithm of the bytes of a texel. The device must support the format. */
unsigned icd_format_shift(const cl_image_format *format);

/* Returns kernel_image.format. */
uint32_t icd_format_for_kernels(const cl_image_format *format);

/* Whether an image of format view may be created from an image of format of. */
bool icd_format_is_view(const cl_image_format *view, const cl_image_format *of);

/* Packs a colour into a texel. The colour has the form that clEnqueueFillImage takes: float[4],
 * int[4] or unsigned[4], or one float for depth, depending on the format. Returns the number of
 * bytes. */
size_t icd_format_pack(const cl_image_format *format, const void *colour,
                       unsigned char texel[ICD_TEXEL_BYTES]);

#endif
