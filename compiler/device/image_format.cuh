/* Converts texels between words in memory and four channels (sections 5.3.1.1 and 8.3 of the
 * OpenCL 3.0 API). A kernel can be used with images of any format, so it branches on the
 * format at run time. The branch is the same for all work-items. */
#ifndef TEGRACL_IMAGE_FORMAT_CUH
#define TEGRACL_IMAGE_FORMAT_CUH
#include "half.cuh"

namespace ocl {

OCL_FN uint order_of(uint format) {
  return format & 255;
}
OCL_FN uint type_of(uint format) {
  return format >> 8 & 255;
}
OCL_FN uint shift_of(uint format) {
  return format >> 16;
}

/* struct kernel_image of gpu/cubin/kernel_code.h. */
struct image {
  ulong base;
  uint width;
  ushort height, depth;
  uint row_pitch;
  uint slice_rows;
  uint format;
  uint texture;

  OCL_FN uint order() const { return order_of(format); }
  OCL_FN uint type() const { return type_of(format); }
  OCL_FN uint texel_shift() const { return shift_of(format); }
};
static_assert(sizeof(image) == 32, "clSetKernelArg writes 32 bytes");

/* Values of cl.h, starting at CL_SNORM_INT8 and CL_R. */
enum { CHANNEL_TYPES = 0x10D0, CHANNEL_ORDERS = 0x10B0 };
enum channel_type {
  SNORM8,
  SNORM16,
  UNORM8,
  UNORM16,
  UNORM565,
  UNORM555,
  UNORM101010,
  SINT8,
  SINT16,
  SINT32,
  UINT8,
  UINT16,
  UINT32,
  HALF,
  FLOAT,
};
enum channel_order {
  CHANNELS_R,
  CHANNELS_A,
  CHANNELS_RG,
  CHANNELS_RGB = 4,
  CHANNELS_RGBA,
  CHANNELS_BGRA,
  CHANNELS_ARGB,
  CHANNELS_INTENSITY,
  CHANNELS_LUMINANCE,
  CHANNELS_SRGBA = 17,
  CHANNELS_SBGRA,
};

OCL_FN bool is_srgb(uint format) {
  return order_of(format) == CHANNELS_SRGBA || order_of(format) == CHANNELS_SBGRA;
}

/* Returns image.format. */
OCL_FN constexpr uint format_of(channel_order order, channel_type type, uint shift) {
  return order | type << 8 | shift << 16;
}
/* Programs contain many reads and writes, so only these formats are inline; the others are in a
 * function. */
constexpr uint RGBA_UNORM8 = format_of(CHANNELS_RGBA, UNORM8, 2);
constexpr uint RGBA_FLOAT = format_of(CHANNELS_RGBA, FLOAT, 4);
constexpr uint R_UNORM8 = format_of(CHANNELS_R, UNORM8, 0);
constexpr uint R_FLOAT = format_of(CHANNELS_R, FLOAT, 2);

/* The words of a texel in memory. Words beyond its size are zero. */
struct texel {
  uint w[4];
};

/* Converts an address with assembly, for the reason given at as_global in lower.cuh. */
template <class T> OCL_FN T *global_pointer(ulong address) {
  ulong place;
  asm("cvta.to.global.u64 %0, %1;" : "=l"(place) : "l"(address));
  return (T *)__cvta_global_to_generic(place);
}

/* CONSTANT means that no work-item of the kernel writes the image. */
template <bool CONSTANT, class T> OCL_FN T load_global(ulong address) {
  const T *p = global_pointer<const T>(address);
  if constexpr (CONSTANT)
    return __ldg(p);
  else
    return *p;
}

/* Loads the texels at N addresses. Texels that are not inside become zero,
 * which every format decodes as the border colour. */
template <bool CONSTANT, int N>
OCL_FN void load_texels(uint shift, const ulong (&at)[N], const bool (&inside)[N], texel (&t)[N]) {
  OCL_EACH t[i] = texel{};
  if (shift == 2) {
    OCL_EACH if (inside[i]) t[i].w[0] = load_global<CONSTANT, uint>(at[i]);
  } else if (shift == 4) {
    OCL_EACH if (inside[i]) {
      const uint4 v = load_global<CONSTANT, uint4>(at[i]);
      t[i] = {v.x, v.y, v.z, v.w};
    }
  } else if (shift == 3) {
    OCL_EACH if (inside[i]) {
      const uint2 v = load_global<CONSTANT, uint2>(at[i]);
      t[i].w[0] = v.x;
      t[i].w[1] = v.y;
    }
  } else if (shift == 1) {
    OCL_EACH if (inside[i]) t[i].w[0] = load_global<CONSTANT, ushort>(at[i]);
  } else {
    OCL_EACH if (inside[i]) t[i].w[0] = load_global<CONSTANT, uchar>(at[i]);
  }
}

OCL_FN void store_texel(uint shift, ulong at, const texel &t) {
  if (shift == 2)
    *global_pointer<uint>(at) = t.w[0];
  else if (shift == 4)
    *global_pointer<uint4>(at) = {t.w[0], t.w[1], t.w[2], t.w[3]};
  else if (shift == 3)
    *global_pointer<uint2>(at) = {t.w[0], t.w[1]};
  else if (shift == 1)
    *global_pointer<ushort>(at) = (ushort)t.w[0];
  else
    *global_pointer<uchar>(at) = (uchar)t.w[0];
}

/* Returns channel c of a texel with 8-bit or 16-bit channels. */
OCL_FN uint channel8(const texel &t, int c) {
  return (uchar)(t.w[0] >> 8 * c);
}
OCL_FN uint channel16(const texel &t, int c) {
  return (ushort)(t.w[c / 2] >> 16 * (c % 2));
}

/* Convert the bits of a channel to a number, for each channel type. */
OCL_FN float unorm(uint bits, float most) {
  return (float)bits * (1.0f / most);
}
OCL_FN float snorm(int bits, float most) {
  return fmaxf((float)bits * (1.0f / most), -1.0f);
}
OCL_FN float unorm565(const texel &t, int c) {
  return c == 0   ? unorm(t.w[0] >> 11, 31)
         : c == 1 ? unorm(t.w[0] >> 5 & 63, 63)
         : c == 2 ? unorm(t.w[0] & 31, 31)
                  : 0;
}
OCL_FN float unorm555(const texel &t, int c) {
  return c < 3 ? unorm(t.w[0] >> (10 - 5 * c) & 31, 31) : 0;
}
OCL_FN float unorm101010(const texel &t, int c) {
  return c < 3 ? unorm(t.w[0] >> (20 - 10 * c) & 1023, 1023) : 0;
}
/* The sRGB curve applies to the colour channels but not to alpha,
 * which is the last channel in both orders. */
OCL_FN float linear_of_srgb(const texel &t, int c) {
  const float s = unorm(channel8(t, c), 255);
  return c == 3 ? s : s <= 0.04045f ? s * (1 / 12.92f) : __powf((s + 0.055f) * (1 / 1.055f), 2.4f);
}

/* Sets each channel of r to the weighted sum of that channel of N texels, or to the texel's channel
 * if N is 1. Ends the case. */
#define OCL_DECODE(value)                                                                          \
  _Pragma("unroll") for (int c = 0; c < 4; c++) {                                                  \
    float sum = 0;                                                                                 \
    OCL_EACH {                                                                                     \
      const float v = value;                                                                       \
      sum = N == 1 ? v : i == 0 ? v * weight[0] : __fmaf_rn(v, weight[i], sum);                    \
    }                                                                                              \
    r.s[c] = sum;                                                                                  \
  }                                                                                                \
  break
template <int N>
OCL_FN vec<float, 4> decode_floats(uint type, bool srgb, const texel (&t)[N],
                                   const float (&weight)[N]) {
  vec<float, 4> r;
  switch (type) {
  case UNORM8:
    if (srgb) {
      OCL_DECODE(linear_of_srgb(t[i], c));
    } else {
      OCL_DECODE(unorm(channel8(t[i], c), 255));
    }
    break;
  case FLOAT:
    OCL_DECODE(__uint_as_float(t[i].w[c]));
  case HALF:
    OCL_DECODE(half_to_float(half_of((ushort)channel16(t[i], c))));
  case UNORM16:
    OCL_DECODE(unorm(channel16(t[i], c), 65535));
  case SNORM8:
    OCL_DECODE(snorm((signed char)channel8(t[i], c), 127));
  case SNORM16:
    OCL_DECODE(snorm((short)channel16(t[i], c), 32767));
  case UNORM565:
    OCL_DECODE(unorm565(t[i], c));
  case UNORM555:
    OCL_DECODE(unorm555(t[i], c));
  default: /* UNORM101010; integer formats cannot be read as float */
    OCL_DECODE(unorm101010(t[i], c));
  }
  return r;
}
#undef OCL_DECODE

/* Decodes integers. T is int or uint. Other channel types return their bits. */
template <class T> OCL_FN vec<T, 4> decode_integers(uint type, const texel &t) {
  vec<T, 4> r;
  if (type == SINT32 || type == UINT32 || type == FLOAT)
    _Pragma("unroll") for (int c = 0; c < 4; c++) r.s[c] = T(t.w[c]);
  else if (type == SINT8 || type == UINT8)
    _Pragma("unroll") for (int c = 0; c < 4; c++) {
      const uint bits = channel8(t, c);
      r.s[c] = is_signed<T> ? T((signed char)bits) : T(bits);
    }
  else
    _Pragma("unroll") for (int c = 0; c < 4; c++) {
      const uint bits = channel16(t, c);
      r.s[c] = is_signed<T> ? T((short)bits) : T(bits);
    }
  return r;
}

/* Reorders the channels from memory order to red, green, blue, alpha. */
template <class T> __device__ __noinline__ vec<T, 4> other_colour(uint order, vec<T, 4> v) {
  const T x = v.s[0], y = v.s[1], z = v.s[2], w = v.s[3];
  switch (order) {
  case CHANNELS_SRGBA:
    return v;
  case CHANNELS_BGRA:
  case CHANNELS_SBGRA:
    return {z, y, x, w};
  case CHANNELS_RG:
    return {x, y, 0, 1};
  case CHANNELS_A:
    return {0, 0, 0, x};
  case CHANNELS_RGB:
    return {x, y, z, 1};
  case CHANNELS_ARGB:
    return {y, z, w, x};
  case CHANNELS_INTENSITY:
    return {x, x, x, x};
  case CHANNELS_LUMINANCE:
    return {x, x, x, 1};
  default: /* DEPTH */
    return {x, 0, 0, 1};
  }
}
template <class T> OCL_FN vec<T, 4> colour_of_channels(uint order, const vec<T, 4> &v) {
  return order == CHANNELS_RGBA ? v
         : order == CHANNELS_R  ? vec<T, 4>{v.s[0], 0, 0, 1}
                                : other_colour(order, v);
}

/* Read the colour of the texel at an address. A texel that is not inside is zero in each channel of
 * its format. */
template <bool CONSTANT>
__device__ __noinline__ vec<float, 4> read_other_colour(uint format, ulong at, bool inside) {
  texel t[1];
  load_texels<CONSTANT>(shift_of(format), {at}, {inside}, t);
  return colour_of_channels(order_of(format),
                            decode_floats(type_of(format), is_srgb(format), t, {1.0f}));
}
template <bool CONSTANT> OCL_FN vec<float, 4> read_colour(uint format, ulong at, bool inside) {
  if (format == RGBA_UNORM8) {
    const texel t = {inside ? load_global<CONSTANT, uint>(at) : 0};
    return {unorm(channel8(t, 0), 255), unorm(channel8(t, 1), 255), unorm(channel8(t, 2), 255),
            unorm(channel8(t, 3), 255)};
  }
  if (format == RGBA_FLOAT) {
    const float4 v = inside ? load_global<CONSTANT, float4>(at) : float4{};
    return {v.x, v.y, v.z, v.w};
  }
  if (format == R_FLOAT)
    return {inside ? load_global<CONSTANT, float>(at) : 0, 0, 0, 1};
  if (format == R_UNORM8)
    return {unorm(inside ? load_global<CONSTANT, uchar>(at) : 0, 255), 0, 0, 1};
  return read_other_colour<CONSTANT>(format, at, inside);
}

/* Read integers. T is int or uint. */
template <bool CONSTANT, class T>
__device__ __noinline__ vec<T, 4> read_other_integers(uint format, ulong at, bool inside) {
  texel t[1];
  load_texels<CONSTANT>(shift_of(format), {at}, {inside}, t);
  return colour_of_channels(order_of(format), decode_integers<T>(type_of(format), t[0]));
}
template <bool CONSTANT, class T>
OCL_FN vec<T, 4> read_integers(uint format, ulong at, bool inside) {
  constexpr channel_type TYPE8 = is_signed<T> ? SINT8 : UINT8;
  constexpr channel_type TYPE32 = is_signed<T> ? SINT32 : UINT32;
  if (format == format_of(CHANNELS_RGBA, TYPE8, 2))
    return decode_integers<T>(TYPE8, {inside ? load_global<CONSTANT, uint>(at) : 0});
  if (format == format_of(CHANNELS_RGBA, TYPE32, 4)) {
    const uint4 v = inside ? load_global<CONSTANT, uint4>(at) : uint4{};
    return {T(v.x), T(v.y), T(v.z), T(v.w)};
  }
  if (format == format_of(CHANNELS_R, TYPE32, 2))
    return {inside ? load_global<CONSTANT, T>(at) : T(0), 0, 0, 1};
  return read_other_integers<CONSTANT, T>(format, at, inside);
}

/* Converts a colour to the channels of the order. */
template <class T> OCL_FN vec<T, 4> channels_of_colour(uint order, const vec<T, 4> &v) {
  const T r = v.s[0], g = v.s[1], b = v.s[2], a = v.s[3];
  switch (order) {
  case CHANNELS_BGRA:
  case CHANNELS_SBGRA:
    return {b, g, r, a};
  case CHANNELS_A:
    return {a, 0, 0, 0};
  case CHANNELS_ARGB:
    return {a, r, g, b};
  default: /* missing channels come after the existing ones */
    return v;
  }
}

/* Rounds to the nearest number of the format. NaN becomes 0. */
OCL_FN uint to_unorm(float x, float most) {
  return __float2uint_rn(__saturatef(x) * most);
}
OCL_FN uint to_snorm(float x, float most) {
  return (uint)__float2int_rn(fminf(fmaxf(x == x ? x : 0.0f, -1.0f), 1.0f) * most);
}
OCL_FN float srgb_of_linear(float x) {
  x = __saturatef(x);
  return x < 0.0031308f ? 12.92f * x : 1.055f * __powf(x, 1 / 2.4f) - 0.055f;
}

OCL_FN texel pack8(const uint (&c)[4]) {
  return {c[0] & 255 | (c[1] & 255) << 8 | (c[2] & 255) << 16 | c[3] << 24};
}
OCL_FN texel pack16(const uint (&c)[4]) {
  return {c[0] & 65535 | c[1] << 16, c[2] & 65535 | c[3] << 16};
}

#define OCL_ENCODE(value)                                                                          \
  _Pragma("unroll") for (int i = 0; i < 4; i++) {                                                  \
    const float x = v.s[i];                                                                        \
    c[i] = value;                                                                                  \
  }
OCL_FN texel encode_floats(uint type, bool srgb, const vec<float, 4> &v) {
  uint c[4];
  switch (type) {
  case UNORM8:
    if (srgb) {
      OCL_ENCODE(to_unorm(i < 3 ? srgb_of_linear(x) : x, 255));
    } else {
      OCL_ENCODE(to_unorm(x, 255));
    }
    return pack8(c);
  case FLOAT:
    OCL_ENCODE(__float_as_uint(x));
    return {c[0], c[1], c[2], c[3]};
  case HALF:
    OCL_ENCODE(to_half<RTE>(x).bits);
    return pack16(c);
  case UNORM16:
    OCL_ENCODE(to_unorm(x, 65535));
    return pack16(c);
  case SNORM8:
    OCL_ENCODE(to_snorm(x, 127));
    return pack8(c);
  case SNORM16:
    OCL_ENCODE(to_snorm(x, 32767));
    return pack16(c);
  case UNORM565:
    return {to_unorm(v.s[0], 31) << 11 | to_unorm(v.s[1], 63) << 5 | to_unorm(v.s[2], 31)};
  case UNORM555:
    OCL_ENCODE(to_unorm(x, 31));
    return {c[0] << 10 | c[1] << 5 | c[2]};
  default: /* UNORM101010 */
    OCL_ENCODE(to_unorm(x, 1023));
    return {c[0] << 20 | c[1] << 10 | c[2]};
  }
}
#undef OCL_ENCODE

/* Write a colour to the texel at an address. */
__device__ __noinline__ void write_other_colour(uint format, ulong at, vec<float, 4> colour) {
  const vec<float, 4> channels = channels_of_colour(order_of(format), colour);
  store_texel(shift_of(format), at, encode_floats(type_of(format), is_srgb(format), channels));
}
OCL_FN void write_colour(uint format, ulong at, const vec<float, 4> &colour) {
  if (format == RGBA_UNORM8)
    *global_pointer<uint>(at) = encode_floats(UNORM8, false, colour).w[0];
  else if (format == RGBA_FLOAT)
    *global_pointer<float4>(at) = {colour.s[0], colour.s[1], colour.s[2], colour.s[3]};
  else if (format == R_FLOAT)
    *global_pointer<float>(at) = colour.s[0];
  else
    write_other_colour(format, at, colour);
}

/* Saturates. T is int or uint. */
template <class T> OCL_FN texel encode_integers(uint type, const vec<T, 4> &v) {
  const bool is8 = type == SINT8 || type == UINT8, is16 = type == SINT16 || type == UINT16;
  uint c[4];
  if (!is8 && !is16)
    return {(uint)v.s[0], (uint)v.s[1], (uint)v.s[2], (uint)v.s[3]};
  const T most = T(is8 ? 0xff : 0xffff) >> is_signed<T>, least = is_signed<T> ? T(~most) : T(0);
  _Pragma("unroll") for (int i = 0; i < 4; i++) c[i] = (uint)::min(::max(v.s[i], least), most);
  return is8 ? pack8(c) : pack16(c);
}

} // namespace ocl
#endif
