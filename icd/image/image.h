/* Image limits, descriptions and regions. */
#ifndef TEGRACL_IMAGE_H
#define TEGRACL_IMAGE_H

#include "icd/objects.h"

/* Limits of software and of the texture units: those of NVIDIA's desktop devices of the same
 * generation (docs/hardware/textures.md 1.4), reduced to what 32-bit coordinates can address. */
enum {
  ICD_IMAGE_WIDTH_MAX = 32768, /* 1D and 2D images */
  ICD_IMAGE_SIDE_MAX = 16384,  /* 3D images */
  ICD_IMAGE_LAYERS_MAX = 2048,
  ICD_IMAGE_BUFFER_MAX = 1 << 27, /* pixels */
  ICD_IMAGE_ARGS_MAX = 128, /* image arguments of each access; a kernel's parameters have space for
                               their descriptors */
  ICD_SAMPLERS_MAX = 16,
  ICD_IMAGE_ALIGN = 1, /* pixels; for row pitch and base address of an image in a buffer */
};

/* The dimensions of an image type. */
struct icd_image_type {
  uint8_t dimensions; /* of a layer */
  bool is_array;
};
/* Returns NULL if type is not an image type. */
const struct icd_image_type *icd_image_type(cl_mem_object_type type);

/* Returns the maximum size in a dimension of images of a type. The dimension after those of a
 * layer is the number of layers. Returns 1 for a dimension that the type lacks. */
size_t icd_image_limit(cl_mem_object_type type, unsigned dimension);

/* Checks an image description except for its sizes and pitches. Returns
 * CL_INVALID_IMAGE_DESCRIPTOR, or CL_INVALID_CONTEXT if mem_object belongs to another context. */
cl_int icd_check_image_desc(cl_context context, const cl_image_desc *desc, const char *call);

/* Computes the layout of an image and its size in bytes. Fills in *image except for its kernel
 * descriptor. format and desc must have been checked. Pitches other than 0 are refused unless
 * pitched is true. Returns CL_INVALID_IMAGE_SIZE or CL_INVALID_IMAGE_DESCRIPTOR, or
 * CL_INVALID_IMAGE_FORMAT_DESCRIPTOR if a pitch is wrong for an image in mem_object. */
cl_int icd_lay_out_image(cl_context context, const cl_image_format *format,
                         const cl_image_desc *desc, bool pitched, struct icd_image *image,
                         size_t *bytes, const char *call);

/* Moves rows, slices and layers to multiples of what the texture units demand, unless that takes
 * more than most bytes or too much memory for the gaps. clGetImageInfo still returns the pitches
 * without gaps. */
void icd_pad_rows(struct icd_image *image, uint64_t most, size_t *bytes);

/* Returns CL_INVALID_MEM_OBJECT if image is not an image, or CL_INVALID_CONTEXT if it belongs to
 * another context than queue. */
cl_int icd_check_image(cl_command_queue queue, cl_mem image, const char *call);

/* Converts a region of a checked image to a box. Returns CL_INVALID_VALUE if origin or region is
 * NULL, or if the region is empty or outside the image. */
cl_int icd_image_box(cl_mem image, const size_t *origin, const size_t *region, struct icd_box *box,
                     const char *call);

#endif
