/* The image formats that the device supports. clGetSupportedImageFormats reports these
 * (icd/image/image_format.c), and the self-check of the texture units tests these
 * (runtime/context/textures.c). Names are OpenCL's without CL_, as in gpu/hw/texture-formats.csv.
 */
#ifndef TEGRACL_RUNTIME_IMAGE_FORMATS_H
#define TEGRACL_RUNTIME_IMAGE_FORMATS_H

enum rt_channel_kind { RT_UNORM, RT_SNORM, RT_SIGNED, RT_UNSIGNED, RT_HALF, RT_FLOAT, RT_PACKED };

/* Sets of channel types, as bits. OpenCL allows a channel order with the types of its sets. */
enum rt_channel_types {
  RT_TYPES_NORM = 1 << 0,    /* normalized integers, half and float */
  RT_TYPES_INTEGER = 1 << 1, /* integers */
  RT_TYPES_BYTES = 1 << 2,   /* 8-bit types, for ARGB and BGRA */
  RT_TYPES_SRGB = 1 << 3,
  RT_TYPES_DEPTH = 1 << 4,
  RT_TYPES_PACKED = 1 << 5,
  RT_TYPES_UNSUPPORTED = 1 << 6, /* with RGBA; the device does not support these */
  RT_TYPES_PLAIN = RT_TYPES_NORM | RT_TYPES_INTEGER,
};

/* Accesses of kernels, as bits. */
enum rt_image_uses {
  RT_IMAGE_READ = 1,
  RT_IMAGE_WRITE = 2,
  RT_IMAGE_READ_WRITE = 4,
  RT_IMAGE_ALL = RT_IMAGE_READ | RT_IMAGE_WRITE | RT_IMAGE_READ_WRITE,
};

/* X(type, kind, bytes, sets): bytes of a channel, or of the texel if kind is RT_PACKED. */
#define RT_CHANNEL_TYPES(X)                                                                        \
  X(UNORM_INT8, RT_UNORM, 1, RT_TYPES_NORM | RT_TYPES_BYTES | RT_TYPES_SRGB)                       \
  X(UNORM_INT16, RT_UNORM, 2, RT_TYPES_NORM | RT_TYPES_DEPTH)                                      \
  X(SNORM_INT8, RT_SNORM, 1, RT_TYPES_NORM | RT_TYPES_BYTES)                                       \
  X(SNORM_INT16, RT_SNORM, 2, RT_TYPES_NORM)                                                       \
  X(HALF_FLOAT, RT_HALF, 2, RT_TYPES_NORM)                                                         \
  X(FLOAT, RT_FLOAT, 4, RT_TYPES_NORM | RT_TYPES_DEPTH)                                            \
  X(SIGNED_INT8, RT_SIGNED, 1, RT_TYPES_INTEGER | RT_TYPES_BYTES)                                  \
  X(SIGNED_INT16, RT_SIGNED, 2, RT_TYPES_INTEGER)                                                  \
  X(SIGNED_INT32, RT_SIGNED, 4, RT_TYPES_INTEGER)                                                  \
  X(UNSIGNED_INT8, RT_UNSIGNED, 1, RT_TYPES_INTEGER | RT_TYPES_BYTES)                              \
  X(UNSIGNED_INT16, RT_UNSIGNED, 2, RT_TYPES_INTEGER)                                              \
  X(UNSIGNED_INT32, RT_UNSIGNED, 4, RT_TYPES_INTEGER)                                              \
  X(UNORM_SHORT_565, RT_PACKED, 2, RT_TYPES_PACKED)                                                \
  X(UNORM_SHORT_555, RT_PACKED, 2, RT_TYPES_PACKED)                                                \
  X(UNORM_INT_101010, RT_PACKED, 4, RT_TYPES_PACKED)                                               \
  X(UNORM_INT_101010_2, RT_PACKED, 4, RT_TYPES_UNSUPPORTED)

/* X(order, sets, uses, channels, components): uses is 0 for what OpenCL defines and the device does
 * not support. components are those of a colour, in the order of the channels. */
#define RT_CHANNEL_ORDERS(X)                                                                       \
  X(RGBA, RT_TYPES_PLAIN | RT_TYPES_UNSUPPORTED, RT_IMAGE_ALL, 4, 0, 1, 2, 3)                      \
  X(R, RT_TYPES_PLAIN, RT_IMAGE_ALL, 1, 0)                                                         \
  X(RG, RT_TYPES_PLAIN, RT_IMAGE_ALL, 2, 0, 1)                                                     \
  X(A, RT_TYPES_PLAIN, RT_IMAGE_ALL, 1, 3)                                                         \
  X(BGRA, RT_TYPES_BYTES, RT_IMAGE_ALL, 4, 2, 1, 0, 3)                                             \
  X(ARGB, RT_TYPES_BYTES, RT_IMAGE_ALL, 4, 3, 0, 1, 2)                                             \
  X(INTENSITY, RT_TYPES_NORM, RT_IMAGE_ALL, 1, 0)                                                  \
  X(LUMINANCE, RT_TYPES_NORM, RT_IMAGE_ALL, 1, 0)                                                  \
  X(RGB, RT_TYPES_PACKED, RT_IMAGE_ALL, 3, 0, 1, 2)                                                \
  X(sRGBA, RT_TYPES_SRGB, RT_IMAGE_READ | RT_IMAGE_WRITE, 4, 0, 1, 2, 3)                           \
  X(sBGRA, RT_TYPES_SRGB, RT_IMAGE_READ | RT_IMAGE_WRITE, 4, 2, 1, 0, 3)                           \
  X(DEPTH, RT_TYPES_DEPTH, RT_IMAGE_READ | RT_IMAGE_WRITE, 1, 0)                                   \
  X(RA, RT_TYPES_PLAIN, 0, 2, 0, 3)                                                                \
  X(ABGR, RT_TYPES_BYTES, 0, 4, 3, 2, 1, 0)                                                        \
  X(Rx, RT_TYPES_PLAIN, 0, 1, 0)                                                                   \
  X(RGx, RT_TYPES_PLAIN, 0, 2, 0, 1)                                                               \
  X(RGBx, RT_TYPES_PACKED, 0, 3, 0, 1, 2)                                                          \
  X(sRGB, RT_TYPES_SRGB, 0, 3, 0, 1, 2)                                                            \
  X(sRGBx, RT_TYPES_SRGB, 0, 4, 0, 1, 2, 3)

#endif
