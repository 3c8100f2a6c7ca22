/* A model of images from the specification's text, in double precision on the CPU: the meaning of
 * a texel's bytes, and the results of samplers.
 */
#ifndef TEGRACL_IMAGE_MODEL_H
#define TEGRACL_IMAGE_MODEL_H

#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <stdbool.h>

struct model_image {
  cl_image_format format;
  int dimensions;     /* of a layer */
  bool is_array;      /* size[dimensions] layers */
  int size[3];        /* 1 where there is no such dimension */
  const void *texels; /* without gaps */
  size_t texel_bytes;
};

struct model_sampler {
  cl_bool normalized;
  cl_addressing_mode addressing;
  cl_filter_mode filter;
};

size_t model_texel_bytes(const cl_image_format *format);
bool model_is_integer(const cl_image_format *format);

/* Red, green, blue, alpha of a texel, integers as they are. */
void model_decode(const cl_image_format *format, const void *texel, double colour[4]);

/* What a read at a coordinate gives. *largest: the largest component that went into it. */
void model_sample(const struct model_image *image, const struct model_sampler *sampler,
                  const float at[4], double colour[4], double *largest);

/* What a write of a colour leaves, decoded again, and how far from it a result may be. */
void model_write(const cl_image_format *format, const double colour[4], double written[4],
                 double *error);

#endif
