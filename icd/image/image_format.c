/* Image formats: which of those in runtime/image_formats.h may be used for an image, and their
 * texels in memory (OpenCL 3.0 API specification, 5.3.1.1 and 5.3.1.2).
 * compiler/device/image_format.cuh is the device's counterpart.
 */
#include "icd/image/image_format.h"

#include <string.h>

#include "icd/memory/memory.h"
#include "runtime/image_formats.h"

/* ---- channel types and orders -------------------------------------------------------- */

#define TYPE(type, kind, bytes, sets) {CL_##type, kind, bytes, sets},
static const struct channel_type {
  cl_channel_type type;
  enum rt_channel_kind kind;
  uint8_t bytes, sets;
} types[] = {RT_CHANNEL_TYPES(TYPE)};

#define ORDER(order, sets, uses, channels, ...) {CL_##order, sets, uses, channels, {__VA_ARGS__}},
static const struct channel_order {
  cl_channel_order order;
  uint8_t sets, uses, channels;
  uint8_t where[4]; /* the component of the colour that is stored in each channel */
} orders[] = {RT_CHANNEL_ORDERS(ORDER)};

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

static const struct channel_type *find_type(cl_channel_type type) {
  for (size_t i = 0; i < COUNT(types); i++)
    if (types[i].type == type)
      return &types[i];
  return NULL;
}

static const struct channel_order *find_order(cl_channel_order order) {
  for (size_t i = 0; i < COUNT(orders); i++)
    if (orders[i].order == order)
      return &orders[i];
  return NULL;
}

#define READ_RIGHTS (CL_MEM_READ_ONLY | CL_MEM_IMMUTABLE_EXT)

/* Returns the accesses from kernels that an image with these flags must support. */
static unsigned wanted_uses(cl_mem_flags flags) {
  return flags & CL_MEM_KERNEL_READ_AND_WRITE ? RT_IMAGE_READ_WRITE
         : flags & READ_RIGHTS                ? RT_IMAGE_READ
         : flags & CL_MEM_WRITE_ONLY          ? RT_IMAGE_WRITE
                                              : RT_IMAGE_READ | RT_IMAGE_WRITE;
}

static bool is_supported(const struct channel_type *channel, const struct channel_order *order,
                         cl_mem_object_type type, cl_mem_flags flags) {
  const unsigned wanted = wanted_uses(flags);
  const bool flat = type == CL_MEM_OBJECT_IMAGE2D || type == CL_MEM_OBJECT_IMAGE2D_ARRAY;
  return (order->uses & wanted) == wanted && (flat || order->order != CL_DEPTH) &&
         channel->sets != RT_TYPES_UNSUPPORTED;
}

cl_int icd_format_check(cl_context context, const cl_image_format *format, const char *call) {
  if (!format)
    return icd_fail(context, CL_INVALID_IMAGE_FORMAT_DESCRIPTOR, call, "image_format is NULL");
  const struct channel_type *channel = find_type(format->image_channel_data_type);
  const struct channel_order *order = find_order(format->image_channel_order);
  if (!channel || !order || !(channel->sets & order->sets))
    return icd_fail(context, CL_INVALID_IMAGE_FORMAT_DESCRIPTOR, call,
                    "OpenCL has no image format with channel order 0x%x and data type 0x%x",
                    format->image_channel_order, format->image_channel_data_type);
  return CL_SUCCESS;
}

cl_int icd_format_check_support(cl_context context, const cl_image_format *format,
                                cl_mem_object_type type, cl_mem_flags flags, const char *call) {
  if (!is_supported(find_type(format->image_channel_data_type),
                    find_order(format->image_channel_order), type, flags))
    return icd_fail(context, CL_IMAGE_FORMAT_NOT_SUPPORTED, call,
                    "image format with channel order 0x%x and data type 0x%x is not supported for "
                    "image type 0x%x and flags 0x%llx",
                    format->image_channel_order, format->image_channel_data_type, type,
                    (unsigned long long)flags);
  return CL_SUCCESS;
}

unsigned icd_format_shift(const cl_image_format *format) {
  const struct channel_type *channel = find_type(format->image_channel_data_type);
  const unsigned channels = find_order(format->image_channel_order)->channels;
  return (unsigned)__builtin_ctz(channel->kind == RT_PACKED ? channel->bytes
                                                            : channel->bytes * channels);
}

uint32_t icd_format_for_kernels(const cl_image_format *format) {
  return (format->image_channel_order - CL_R) << KERNEL_IMAGE_ORDER |
         (format->image_channel_data_type - CL_SNORM_INT8) << KERNEL_IMAGE_TYPE |
         icd_format_shift(format) << KERNEL_IMAGE_TEXEL_SHIFT;
}

bool icd_format_is_view(const cl_image_format *view, const cl_image_format *of) {
  static const cl_channel_order pairs[][2] = {{CL_sRGBA, CL_RGBA},
                                              {CL_RGBA, CL_sRGBA},
                                              {CL_sBGRA, CL_BGRA},
                                              {CL_BGRA, CL_sBGRA},
                                              {CL_DEPTH, CL_R}};
  const cl_channel_order a = view->image_channel_order, b = of->image_channel_order;
  if (view->image_channel_data_type != of->image_channel_data_type)
    return false;
  for (size_t i = 0; i < COUNT(pairs); i++)
    if (a == pairs[i][0] && b == pairs[i][1])
      return true;
  return a == b;
}

/* ---- colours ------------------------------------------------------------------------------ */

/* Rounds to the nearest integer, ties to even. NaN becomes 0. */
static int64_t round_even(double x) {
  const double size = x < 0 ? -x : x > 0 ? x : 0;
  int64_t whole = (int64_t)size;
  const double rest = size - (double)whole;
  whole += rest > 0.5 || (rest == 0.5 && whole % 2);
  return x < 0 ? -whole : whole;
}

static double clamp_number(double x, double least, double most) {
  return x > most ? most : x < least ? least : x;
}

static uint32_t to_unorm(double x, unsigned most) {
  return (uint32_t)round_even(clamp_number(x, 0, 1) * most);
}

static int64_t clamp_integer(int64_t x, int64_t least, int64_t most) {
  return x > most ? most : x < least ? least : x;
}

/* Converts to binary16, ties to even. */
static uint16_t half_of(float x) {
  enum { MANTISSA = 10, BIAS = 15, INFINITE = 0x7c00, QUIET = 0x200, FLOAT_BIAS = 127 };
  uint32_t bits;
  memcpy(&bits, &x, sizeof(bits));
  const uint16_t sign = (uint16_t)(bits >> 16 & 0x8000);
  const int exponent = (int)(bits >> 23 & 0xff) - FLOAT_BIAS + BIAS;
  if (x != x)
    return sign | INFINITE | QUIET;
  if (exponent > 2 * BIAS)
    return sign | INFINITE;
  /* The unit is the value of the result's last mantissa bit. */
  const int place = exponent > 0 ? exponent : 1;
  double unit = 1.0 / (1 << (BIAS + MANTISSA - 1));
  for (int i = 1; i < place; i++)
    unit *= 2;
  const double size = x < 0 ? -(double)x : (double)x;
  const uint32_t mantissa = (uint32_t)round_even(size / unit);
  /* A carry out of the mantissa increments the exponent, and yields infinity after the largest. */
  return (uint16_t)(sign | (((uint32_t)(place - 1) << MANTISSA) + mantissa));
}

/* Converts a linear intensity to 8-bit sRGB: the largest code whose lower rounding boundary is
 * at most x. The exponent of the curve is 2.4 = 12/5, so both sides are compared as integral
 * powers. */
static uint32_t to_srgb(double x) {
  uint32_t code = 0;
  x = clamp_number(x, 0, 1);
  const double x5 = x * x * x * x * x;
  for (uint32_t bit = 128; bit; bit /= 2) {
    const double edge = (code + bit - 0.5) / 255, t = (edge + 0.055) / 1.055;
    const double t4 = t * t * t * t;
    if (edge <= 0.04045 ? edge / 12.92 <= x : t4 * t4 * t4 <= x5)
      code += bit;
  }
  return code;
}

/* Returns the bits of a channel. */
static uint32_t pack_channel(const struct channel_type *type, const void *colour,
                             unsigned component, bool is_srgb) {
  const unsigned bits = 8u * type->bytes;
  float x;
  uint32_t word;
  memcpy(&word, (const char *)colour + sizeof(word) * component, sizeof(word));
  memcpy(&x, &word, sizeof(x));
  switch (type->kind) {
  case RT_UNORM:
    return is_srgb && component < 3 ? to_srgb((double)x) : to_unorm((double)x, (1u << bits) - 1);
  case RT_SNORM:
    return (uint32_t)round_even(clamp_number((double)x, -1, 1) * ((1 << (bits - 1)) - 1));
  case RT_HALF:
    return half_of(x);
  case RT_SIGNED: {
    const int64_t most = (INT64_C(1) << (bits - 1)) - 1;
    return (uint32_t)clamp_integer((int32_t)word, -most - 1, most);
  }
  case RT_UNSIGNED:
    return (uint32_t)clamp_integer(word, 0, (INT64_C(1) << bits) - 1);
  case RT_FLOAT:
  case RT_PACKED:
    break;
  }
  return word;
}

static uint32_t pack_pixel(cl_channel_type type, const float c[3]) {
  switch (type) {
  case CL_UNORM_SHORT_565:
    return to_unorm((double)c[0], 31) << 11 | to_unorm((double)c[1], 63) << 5 |
           to_unorm((double)c[2], 31);
  case CL_UNORM_SHORT_555:
    return to_unorm((double)c[0], 31) << 10 | to_unorm((double)c[1], 31) << 5 |
           to_unorm((double)c[2], 31);
  default: /* CL_UNORM_INT_101010 */
    return to_unorm((double)c[0], 1023) << 20 | to_unorm((double)c[1], 1023) << 10 |
           to_unorm((double)c[2], 1023);
  }
}

size_t icd_format_pack(const cl_image_format *format, const void *colour,
                       unsigned char texel[ICD_TEXEL_BYTES]) {
  const struct channel_type *type = find_type(format->image_channel_data_type);
  const struct channel_order *order = find_order(format->image_channel_order);
  if (type->kind == RT_PACKED) {
    const uint32_t word = pack_pixel(type->type, colour);
    memcpy(texel, &word, type->bytes);
    return type->bytes;
  }
  for (unsigned i = 0; i < order->channels; i++) {
    const uint32_t word = pack_channel(type, colour, order->where[i], order->sets == RT_TYPES_SRGB);
    memcpy(texel + i * type->bytes, &word, type->bytes);
  }
  return (size_t)type->bytes * order->channels;
}

/* ---- clGetSupportedImageFormats ----------------------------------------------------- */

CL_API_ENTRY cl_int CL_API_CALL clGetSupportedImageFormats(cl_context context, cl_mem_flags flags,
                                                           cl_mem_object_type type,
                                                           cl_uint num_entries,
                                                           cl_image_format *formats,
                                                           cl_uint *num_formats) {
  if (!icd_is_context(context))
    return ICD_FAIL(NULL, CL_INVALID_CONTEXT, "context %p is not a valid cl_context",
                    (void *)context);
  const cl_int code =
      icd_check_mem_flags(context, flags, ICD_MEM_FLAGS | CL_MEM_KERNEL_READ_AND_WRITE, __func__);
  if (code)
    return code;
  if (type < CL_MEM_OBJECT_IMAGE2D || type > CL_MEM_OBJECT_IMAGE1D_BUFFER)
    return ICD_FAIL(context, CL_INVALID_VALUE, "image_type 0x%x is not an image type", type);
  if (formats && !num_entries)
    return ICD_FAIL(context, CL_INVALID_VALUE, "num_entries is 0, but image_formats is not NULL");
  cl_uint count = 0;
  for (size_t i = 0; i < COUNT(orders); i++)
    for (size_t k = 0; k < COUNT(types); k++) {
      if (!(types[k].sets & orders[i].sets) || !is_supported(&types[k], &orders[i], type, flags))
        continue;
      if (formats && count < num_entries)
        formats[count] = (cl_image_format){orders[i].order, types[k].type};
      count++;
    }
  if (num_formats)
    *num_formats = count;
  return CL_SUCCESS;
}
