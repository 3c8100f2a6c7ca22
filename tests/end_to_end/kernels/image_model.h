/* A model of images on the CPU in double precision, from the text of the specification: the meaning
 * of a texel's bytes and the results of samplers.
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
  int size[3];        /* 1 in dimensions that do not exist */
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

/* Decodes a texel to red, green, blue and alpha. Integers are not converted. */
void model_decode(const cl_image_format *format, const void *texel, double colour[4]);

/* Computes the result of a read at a coordinate. Sets *largest to the largest component that it
 * uses. */
void model_sample(const struct model_image *image, const struct model_sampler *sampler,
                  const float at[4], double colour[4], double *largest);

/* Computes the result of writing a colour, decoded again, and the allowed error. */
void model_write(const cl_image_format *format, const double colour[4], double written[4],
                 double *error);

#endif
