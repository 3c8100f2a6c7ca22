/* Images: their limits, and regions of them as commands name them. */
#ifndef TEGRACL_IMAGE_H
#define TEGRACL_IMAGE_H

#include "icd/objects.h"

/* Images are sampled in software, so these limits are choices: what NVIDIA's desktop
 * devices of this generation say, within what 32-bit coordinates can address. */
enum {
  ICD_IMAGE_WIDTH_MAX = 32768, /* of one and two dimensions */
  ICD_IMAGE_SIDE_MAX = 16384,  /* of three */
  ICD_IMAGE_LAYERS_MAX = 2048,
  ICD_IMAGE_BUFFER_MAX = 1 << 27, /* texels */
  ICD_IMAGE_ARGS_MAX = 128, /* of each access; as many descriptions fit a kernel's parameters */
  ICD_SAMPLERS_MAX = 16,
  ICD_IMAGE_ALIGN = 1, /* texels: of the pitch and the address of an image in a buffer */
};

/* What a type of images is. */
struct icd_image_type {
  uint8_t dimensions; /* of a layer */
  bool is_array;
};
/* NULL: there is no such type. */
const struct icd_image_type *icd_image_type(cl_mem_object_type type);

/* The largest size of images of a type in a dimension. The layers of an array are the dimension
 * after the type's. 1 in dimensions that the type lacks. */
size_t icd_image_limit(cl_mem_object_type type, unsigned dimension);

/* All of a description but sizes and pitches: CL_INVALID_IMAGE_DESCRIPTOR,
 * CL_INVALID_CONTEXT. */
cl_int icd_check_image_desc(cl_context context, const cl_image_desc *desc, const char *call);

/* Fills in all of *image but what a kernel gets, and the bytes that it takes. The caller has
 * checked format and description. pitched: the application may give pitches.
 * CL_INVALID_IMAGE_SIZE, CL_INVALID_IMAGE_DESCRIPTOR, and for the pitches of an image that
 * is made from another object CL_INVALID_IMAGE_FORMAT_DESCRIPTOR. */
cl_int icd_lay_out_image(cl_context context, const cl_image_format *format,
                         const cl_image_desc *desc, bool pitched, struct icd_image *image,
                         size_t *bytes, const char *call);

/* CL_INVALID_MEM_OBJECT, CL_INVALID_CONTEXT */
cl_int icd_check_image(cl_command_queue queue, cl_mem image, const char *call);

/* The box of a checked image: CL_INVALID_VALUE if origin or region is NULL, empty or outside. */
cl_int icd_image_box(cl_mem image, const size_t *origin, const size_t *region, struct icd_box *box,
                     const char *call);

#endif
