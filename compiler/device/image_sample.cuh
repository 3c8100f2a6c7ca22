/* Determines the texels for a coordinate: addressing modes and filters (unified OpenCL C
 * specification, "Image Addressing and Filtering"; section 8.2 of OpenCL 3.0). No texel outside
 * the image is accessed for any coordinate, including infinities and NaN. */
#ifndef TEGRACL_IMAGE_SAMPLE_CUH
#define TEGRACL_IMAGE_SAMPLE_CUH
#include "image_format.cuh"

namespace ocl {

/* Samplers, as enum kernel_sampler of gpu/cubin/kernel_code.h: kernel arguments and literals. */
struct ocl_sampler {
  uint bits;
};
template <uint BITS> struct literal_sampler {};
enum {
  SAMPLER_NORMALIZED = 1,
  SAMPLER_ADDRESS = 14,
  SAMPLER_CLAMP = 4,
  SAMPLER_REPEAT = 6,
  SAMPLER_MIRRORED_REPEAT = 8,
  SAMPLER_LINEAR = 0x20,
  SAMPLER_BITS = 0x3f, /* clang accepts literals with others */
};

/* An image type of OpenCL C. D is the number of coordinates within a layer. ARRAY means that there
 * is another one for the layer, BUFFER that the image is made from a buffer, CONSTANT read_only. */
enum image_kind { IMAGE_PLAIN, IMAGE_ARRAY, IMAGE_BUFFER };
/* What reads or writes the image. With PATH_ANY each read or write checks the image. */
enum image_path { PATH_ANY, PATH_SOFTWARE, PATH_TEXTURES };
template <int DIMENSIONS, image_kind KIND, bool IS_DEPTH, bool IS_CONSTANT,
          image_path HOW = IS_CONSTANT ? PATH_ANY : PATH_SOFTWARE>
struct image_type {
  const image *p;
  static constexpr int D = DIMENSIONS;
  static constexpr bool ARRAY = KIND == IMAGE_ARRAY, BUFFER = KIND == IMAGE_BUFFER,
                        DEPTH = IS_DEPTH, CONSTANT = IS_CONSTANT;
  static constexpr image_path PATH = HOW;
};

/* Selects a path: a kernel's body is compiled for both. */
template <bool TEXTURES> struct path { static constexpr bool value = TEXTURES; };
template <bool TEXTURES, int D, image_kind KIND, bool DEPTH>
OCL_FN image_type<D, KIND, DEPTH, true, TEXTURES ? PATH_TEXTURES : PATH_SOFTWARE>
on_path(image_type<D, KIND, DEPTH, true> image) {
  return {image.p};
}
template <bool TEXTURES, int D, image_kind KIND, bool DEPTH>
OCL_FN image_type<D, KIND, DEPTH, false, TEXTURES ? PATH_ANY : PATH_SOFTWARE>
on_path(image_type<D, KIND, DEPTH, false, PATH_ANY> image) {
  return {image.p};
}

/* A coordinate of integers to which the program adds a constant. */
struct offset_int {
  int base, offset;
  OCL_FN operator int() const {
    return base + offset;
  }
};

/* The components of a coordinate as an array. */
template <class T> struct coordinate { T c[3]; };
template <class C> constexpr bool has_fractions = is_float<C>;
template <class T, int N> constexpr bool has_fractions<vec<T, N>> = is_float<T>;
template <class T> OCL_FN coordinate<T> components(T x) {
  return {x};
}
template <class T> OCL_FN coordinate<T> components(const vec<T, 2> &v) {
  return {v.s[0], v.s[1]};
}
template <class T> OCL_FN coordinate<T> components(const vec<T, 4> &v) {
  return {v.s[0], v.s[1], v.s[2]};
}

OCL_FN int extent(const image &m, int dimension) {
  return dimension == 0 ? m.width : dimension == 1 ? m.height : m.depth;
}
OCL_FN int clamp_index(int i, int size) {
  return ::max(::min(i, size - 1), 0);
}

/* Returns the address of a texel from its index in each dimension, followed by the layer or 0. */
template <class I> OCL_FN ulong texel_address(const image &m, const uint (&at)[I::D + 1]) {
  const ulong column = m.base + (at[0] << m.texel_shift());
  if constexpr (I::D == 1 && !I::ARRAY)
    return column;
  else if constexpr (I::D + I::ARRAY == 2)
    return column + (ulong)at[1] * m.row_pitch;
  else
    return column + (ulong)(at[2] * m.slice_rows + at[1]) * m.row_pitch;
}

/* Returns the nearest existing layer. */
OCL_FN uint layer_index(const image &m, float layer) {
  return clamp_index(__float2int_rn(layer), m.depth);
}
OCL_FN uint layer_index(const image &m, int layer) {
  return clamp_index(layer, m.depth);
}

/* Converts the normalized coordinate of a repeating sampler to texels. */
OCL_FN float unfold(float s, uint address, float size) {
  return (address == SAMPLER_REPEAT ? s - floorf(s) : fabsf(s - 2.0f * rintf(0.5f * s))) * size;
}
OCL_FN bool repeats(uint address) {
  return address == SAMPLER_REPEAT || address == SAMPLER_MIRRORED_REPEAT;
}

/* Returns the index of the texel that contains the coordinate, before clamping. */
OCL_FN int nearest_index(float s, int size, uint sampler) {
  const uint address = sampler & SAMPLER_ADDRESS;
  if (repeats(address)) {
    const int i = __float2int_rd(unfold(s, address, size));
    return address == SAMPLER_REPEAT && i >= size ? i - size : i;
  }
  return __float2int_rd(sampler & SAMPLER_NORMALIZED ? s * size : s);
}
OCL_FN int nearest_index(int i, int, uint) {
  return i;
}

/* The indices of the texels on both sides of a coordinate, and the weight of the second one. */
struct linear_texels {
  int index[2];
  float weight;
};
OCL_FN linear_texels linear_indices(float s, int size, uint sampler) {
  const uint address = sampler & SAMPLER_ADDRESS;
  const float u = repeats(address)               ? unfold(s, address, size)
                  : sampler & SAMPLER_NORMALIZED ? s * size
                                                 : s;
  const float place = u - 0.5f, below = floorf(place);
  const int i = __float2int_rd(below);
  linear_texels n = {{i, i + 1}, __saturatef(place - below)};
  if (address == SAMPLER_REPEAT) {
    n.index[0] += i < 0 ? size : 0;
    n.index[1] -= i + 1 >= size ? size : 0;
  }
  return n;
}

/* The address of a texel. One that is not inside the image has the colour of the border. */
struct texel_place {
  ulong address;
  bool inside;
};
/* Finds the nearest texel to a coordinate. */
template <class I, class T>
OCL_FN texel_place find_nearest(const image &m, uint sampler, const coordinate<T> &c) {
  uint at[I::D + 1] = {};
  bool inside = true;
  _Pragma("unroll") for (int d = 0; d < I::D; d++) {
    const int size = extent(m, d), i = nearest_index(c.c[d], size, sampler);
    at[d] = clamp_index(i, size);
    if ((sampler & SAMPLER_ADDRESS) == SAMPLER_CLAMP)
      inside &= at[d] == (uint)i;
  }
  if constexpr (I::ARRAY)
    at[I::D] = layer_index(m, c.c[I::D]);
  return {texel_address<I>(m, at), inside};
}

/* Returns the weighted mean of the texels around a coordinate. Too much code to inline. */
template <class I>
__device__ __noinline__ vec<float, 4> sample_linear(image m, uint sampler, coordinate<float> c) {
  constexpr int N = 1 << I::D;
  linear_texels n[I::D];
  _Pragma("unroll") for (int d = 0; d < I::D; d++) n[d] =
      linear_indices(c.c[d], extent(m, d), sampler);
  uint layer = 0;
  if constexpr (I::ARRAY)
    layer = layer_index(m, c.c[I::D]);
  ulong address[N];
  bool inside[N];
  float weight[N];
  OCL_EACH {
    uint at[I::D + 1] = {};
    at[I::D] = layer;
    inside[i] = true;
    weight[i] = 1;
    _Pragma("unroll") for (int d = 0; d < I::D; d++) {
      const int side = i >> d & 1, index = n[d].index[side];
      at[d] = clamp_index(index, extent(m, d));
      if ((sampler & SAMPLER_ADDRESS) == SAMPLER_CLAMP)
        inside[i] &= at[d] == (uint)index;
      weight[i] *= side ? n[d].weight : 1.0f - n[d].weight;
    }
    address[i] = texel_address<I>(m, at);
  }
  texel t[N];
  load_texels<I::CONSTANT>(m.texel_shift(), address, inside, t);
  return colour_of_channels(m.order(), decode_floats(m.type(), is_srgb(m.format), t, weight));
}

} // namespace ocl
#endif
