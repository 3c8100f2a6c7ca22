/* The image model. It follows the text of the specification (section 8 of the OpenCL 3.0 API on
 * formats, "Image Addressing and Filtering"), not the driver.
 */
#include "tests/end_to_end/kernels/image_model.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "tests/end_to_end/half_value.h"

static int channels_of(cl_channel_order order) {
  switch (order) {
  case CL_RG:
    return 2;
  case CL_RGB:
    return 3;
  case CL_RGBA:
  case CL_BGRA:
  case CL_ARGB:
  case CL_sRGBA:
  case CL_sBGRA:
    return 4;
  default:
    return 1;
  }
}

static size_t channel_bytes(cl_channel_type type) {
  switch (type) {
  case CL_SNORM_INT8:
  case CL_UNORM_INT8:
  case CL_SIGNED_INT8:
  case CL_UNSIGNED_INT8:
    return 1;
  case CL_SIGNED_INT32:
  case CL_UNSIGNED_INT32:
  case CL_FLOAT:
    return 4;
  default:
    return 2;
  }
}

size_t model_texel_bytes(const cl_image_format *format) {
  switch (format->image_channel_data_type) {
  case CL_UNORM_SHORT_565:
  case CL_UNORM_SHORT_555:
    return 2;
  case CL_UNORM_INT_101010:
    return 4;
  default:
    return channel_bytes(format->image_channel_data_type) *
           (size_t)channels_of(format->image_channel_order);
  }
}

bool model_is_integer(const cl_image_format *format) {
  return format->image_channel_data_type >= CL_SIGNED_INT8 &&
         format->image_channel_data_type <= CL_UNSIGNED_INT32;
}

static bool is_srgb(const cl_image_format *format) {
  return format->image_channel_order == CL_sRGBA || format->image_channel_order == CL_sBGRA;
}

static double channel_value(cl_channel_type type, const void *at) {
  int8_t i8;
  int16_t i16;
  int32_t i32;
  float f;
  memcpy(&i8, at, 1);
  switch (type) {
  case CL_SNORM_INT8:
    return fmax(i8 / 127.0, -1);
  case CL_UNORM_INT8:
    return (uint8_t)i8 / 255.0;
  case CL_SIGNED_INT8:
    return i8;
  case CL_UNSIGNED_INT8:
    return (uint8_t)i8;
  case CL_SIGNED_INT32:
  case CL_UNSIGNED_INT32:
    memcpy(&i32, at, 4);
    return type == CL_SIGNED_INT32 ? i32 : (double)(uint32_t)i32;
  case CL_FLOAT:
    memcpy(&f, at, 4);
    return (double)f;
  default:
    break;
  }
  memcpy(&i16, at, 2);
  switch (type) {
  case CL_SNORM_INT16:
    return fmax(i16 / 32767.0, -1);
  case CL_UNORM_INT16:
    return (uint16_t)i16 / 65535.0;
  case CL_SIGNED_INT16:
    return i16;
  case CL_UNSIGNED_INT16:
    return (uint16_t)i16;
  default:
    return half_value((uint16_t)i16);
  }
}

static double from_srgb(double s) {
  return s <= 0.04045 ? s / 12.92 : pow((s + 0.055) / 1.055, 2.4);
}

/* Reads the channels in memory order, or in the order R, G, B from a packed texel. */
static void channels(const cl_image_format *format, const void *texel, double c[4]) {
  const cl_channel_type type = format->image_channel_data_type;
  uint32_t word = 0;
  memcpy(&word, texel, model_texel_bytes(format) < 4 ? model_texel_bytes(format) : 4);
  if (type == CL_UNORM_SHORT_565) {
    c[0] = (word >> 11) / 31.0;
    c[1] = (word >> 5 & 63) / 63.0;
    c[2] = (word & 31) / 31.0;
  } else if (type == CL_UNORM_SHORT_555) {
    for (int i = 0; i < 3; i++)
      c[i] = (word >> (10 - 5 * i) & 31) / 31.0;
  } else if (type == CL_UNORM_INT_101010) {
    for (int i = 0; i < 3; i++)
      c[i] = (word >> (20 - 10 * i) & 1023) / 1023.0;
  } else {
    for (int i = 0; i < channels_of(format->image_channel_order); i++)
      c[i] = channel_value(type, (const char *)texel + (size_t)i * channel_bytes(type));
  }
}

void model_decode(const cl_image_format *format, const void *texel, double colour[4]) {
  double c[4] = {0};
  channels(format, texel, c);
  colour[0] = colour[1] = colour[2] = 0;
  colour[3] = 1;
  switch (format->image_channel_order) {
  case CL_A:
    colour[3] = c[0];
    break;
  case CL_INTENSITY:
    colour[3] = c[0];
    /* fall through */
  case CL_LUMINANCE:
    colour[0] = colour[1] = colour[2] = c[0];
    break;
  case CL_ARGB:
    for (int i = 0; i < 4; i++)
      colour[i] = c[(i + 1) % 4];
    break;
  case CL_BGRA:
  case CL_sBGRA:
    for (int i = 0; i < 4; i++)
      colour[i] = c[i < 3 ? 2 - i : 3];
    break;
  default:
    for (int i = 0; i < channels_of(format->image_channel_order); i++)
      colour[i] = c[i];
  }
  for (int i = 0; i < 3 && is_srgb(format); i++)
    colour[i] = from_srgb(colour[i]);
}

/* ---- addressing ------------------------------------------------------------------- */

enum { BORDER = -1 };

static int clamp(double x, int least, int most) {
  return x > most ? most : x > least ? (int)x : least;
}

/* Returns the texel index after wrapping: a clamped index or BORDER. */
static int address(const struct model_sampler *sampler, double index, int size) {
  if (sampler->addressing == CL_ADDRESS_CLAMP)
    return index < 0 || index > size - 1 ? BORDER : (int)index;
  return clamp(index, 0, size - 1);
}

/* Converts a coordinate to texels, with the float arithmetic of the specification's formulas. */
static float unnormalized(const struct model_sampler *sampler, float s, int size) {
  switch (sampler->addressing) {
  case CL_ADDRESS_REPEAT:
    return (s - floorf(s)) * (float)size;
  case CL_ADDRESS_MIRRORED_REPEAT:
    return fabsf(s - 2.0f * rintf(0.5f * s)) * (float)size;
  default:
    return sampler->normalized ? s * (float)size : s;
  }
}

static int wrap(const struct model_sampler *sampler, double index, int size) {
  if (sampler->addressing == CL_ADDRESS_REPEAT)
    index += index < 0 ? size : index > size - 1 ? -size : 0;
  return address(sampler, index, size);
}

static void fetch(const struct model_image *image, const int at[3], double colour[4]) {
  static const cl_channel_order opaque[] = {CL_R, CL_RG, CL_RGB, CL_LUMINANCE};
  if (at[0] == BORDER || at[1] == BORDER || at[2] == BORDER) {
    colour[0] = colour[1] = colour[2] = colour[3] = 0;
    for (size_t i = 0; i < sizeof opaque / sizeof *opaque; i++)
      if (image->format.image_channel_order == opaque[i])
        colour[3] = 1;
    return;
  }
  const size_t number =
      ((size_t)at[2] * (size_t)image->size[1] + (size_t)at[1]) * (size_t)image->size[0] +
      (size_t)at[0];
  model_decode(&image->format, (const char *)image->texels + number * image->texel_bytes, colour);
}

void model_sample(const struct model_image *image, const struct model_sampler *sampler,
                  const float at[4], double colour[4], double *largest) {
  const int dimensions = image->dimensions;
  int index[2][3] = {{0}};
  double weight[3] = {0};
  for (int d = 0; d < dimensions; d++) {
    const float u = unnormalized(sampler, at[d], image->size[d]);
    if (sampler->filter == CL_FILTER_NEAREST) {
      index[0][d] = wrap(sampler, (double)floorf(u), image->size[d]);
      continue;
    }
    const float place = u - 0.5f;
    index[0][d] = wrap(sampler, (double)floorf(place), image->size[d]);
    index[1][d] = wrap(sampler, (double)floorf(place) + 1, image->size[d]);
    weight[d] = (double)(place - floorf(place));
  }
  if (image->is_array)
    index[0][dimensions] = index[1][dimensions] =
        clamp((double)rintf(at[dimensions]), 0, image->size[dimensions] - 1);
  const int corners = sampler->filter == CL_FILTER_NEAREST ? 1 : 1 << dimensions;
  *largest = 0;
  memset(colour, 0, 4 * sizeof *colour);
  for (int corner = 0; corner < corners; corner++) {
    int place[3];
    double part = 1, texel[4];
    for (int d = 0; d < 3; d++) {
      const int side = d < dimensions ? corner >> d & 1 : 0;
      place[d] = index[side][d];
      if (d < dimensions && corners > 1)
        part *= side ? weight[d] : 1 - weight[d];
    }
    fetch(image, place, texel);
    for (int c = 0; c < 4; c++) {
      colour[c] += part * texel[c];
      *largest = fmax(*largest, fabs(texel[c]));
    }
  }
}

/* ---- writes ------------------------------------------------------------------------------ */

static double limit(double x, double least, double most) {
  return isnan(x) ? 0 : fmin(fmax(x, least), most);
}

void model_write(const cl_image_format *format, const double colour[4], double written[4],
                 double *error) {
  double least = 0, most = 1, step = 0;
  switch (format->image_channel_data_type) {
  case CL_SNORM_INT8:
    least = -1;
    step = 1 / 127.0;
    break;
  case CL_SNORM_INT16:
    least = -1;
    step = 1 / 32767.0;
    break;
  case CL_UNORM_INT8:
    step = 1 / 255.0;
    break;
  case CL_UNORM_INT16:
    step = 1 / 65535.0;
    break;
  case CL_UNORM_SHORT_565: /* red and blue have fewer bits */
  case CL_UNORM_SHORT_555:
    step = 1 / 31.0;
    break;
  case CL_UNORM_INT_101010:
    step = 1 / 1023.0;
    break;
  case CL_SIGNED_INT8:
    least = INT8_MIN, most = INT8_MAX;
    break;
  case CL_SIGNED_INT16:
    least = INT16_MIN, most = INT16_MAX;
    break;
  case CL_UNSIGNED_INT8:
    most = UINT8_MAX;
    break;
  case CL_UNSIGNED_INT16:
    most = UINT16_MAX;
    break;
  case CL_HALF_FLOAT:
    least = -65504, most = 65504;
    for (int i = 0; i < 4; i++) /* half a unit in the last place */
      step = fmax(step, fmax(fabs(colour[i]) / 1024, ldexp(1, -24)));
    break;
  default:
    least = -INFINITY, most = INFINITY;
  }
  /* OpenCL allows 0.6 of a step for normalized formats. The sRGB curve is steepest at the upper
   * end. */
  const double part = format->image_channel_data_type == CL_HALF_FLOAT ? 0.5 : 0.6;
  *error = step * part * (is_srgb(format) ? 2.4 : 1) + 1e-6 * (step > 0);
  double c[4], texel[4] = {0, 0, 0, 1};
  for (int i = 0; i < 4; i++)
    c[i] = limit(colour[i], least, most);
  switch (format->image_channel_order) {
  case CL_A:
    texel[3] = c[3];
    break;
  case CL_INTENSITY:
    texel[3] = c[0];
    /* fall through */
  case CL_LUMINANCE:
    texel[0] = texel[1] = texel[2] = c[0];
    break;
  default:
    for (int i = 0; i < channels_of(format->image_channel_order); i++)
      texel[i] = c[i];
  }
  memcpy(written, texel, sizeof texel);
}
