/* The image formats that there are, and texels made of colours. */
#ifndef TEGRACL_IMAGE_FORMAT_H
#define TEGRACL_IMAGE_FORMAT_H

#include "icd/icd.h"

enum { ICD_TEXEL_BYTES = 16 }; /* of the largest texel */

/* Whether OpenCL has the format: CL_INVALID_IMAGE_FORMAT_DESCRIPTOR if not, or NULL. */
cl_int icd_format_check(cl_context context, const cl_image_format *format, const char *call);

/* Whether the device has a format of OpenCL's for images of a type with these flags:
 * CL_IMAGE_FORMAT_NOT_SUPPORTED. */
cl_int icd_format_check_support(cl_context context, const cl_image_format *format,
                                cl_mem_object_type type, cl_mem_flags flags, const char *call);

/* Binary logarithm of the bytes of a texel; a format that the device has. */
unsigned icd_format_shift(const cl_image_format *format);

/* Whether an image of the one format may be a view of an image of the other. */
bool icd_format_is_view(const cl_image_format *view, const cl_image_format *of);

/* The texel of a colour as clEnqueueFillImage takes it: float[4], int[4], unsigned[4], or
 * one float for depth, depending on the format. Returns its bytes. */
size_t icd_format_pack(const cl_image_format *format, const void *colour,
                       unsigned char texel[ICD_TEXEL_BYTES]);

#endif
