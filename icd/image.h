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

/* CL_INVALID_MEM_OBJECT, CL_INVALID_CONTEXT */
cl_int icd_check_image(cl_command_queue queue, cl_mem image, const char *call);

/* The box of a checked image: CL_INVALID_VALUE if origin or region is NULL, empty or outside. */
cl_int icd_image_box(cl_mem image, const size_t *origin, const size_t *region, struct icd_box *box,
                     const char *call);

#endif
