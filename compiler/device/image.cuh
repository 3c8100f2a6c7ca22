/* OpenCL C image functions (section 6.15.15 of OpenCL C 3.0): reads with
 * and without a sampler, writes, and queries. */
#ifndef TEGRACL_IMAGE_CUH
#define TEGRACL_IMAGE_CUH
#include "image_texture.cuh"

namespace ocl {

/* The image types with clang's names. */
#define OCL_IMAGE(name, D, kind, is_depth)                                                         \
  typedef image_type<D, kind, is_depth, true> name##_ro;                                           \
  typedef image_type<D, kind, is_depth, false, PATH_ANY> name##_wo;                                \
  typedef image_type<D, kind, is_depth, false> name##_rw;
OCL_IMAGE(ocl_image1d, 1, IMAGE_PLAIN, false)
OCL_IMAGE(ocl_image1d_buffer, 1, IMAGE_BUFFER, false)
OCL_IMAGE(ocl_image1d_array, 1, IMAGE_ARRAY, false)
OCL_IMAGE(ocl_image2d, 2, IMAGE_PLAIN, false)
OCL_IMAGE(ocl_image2d_array, 2, IMAGE_ARRAY, false)
OCL_IMAGE(ocl_image2d_depth, 2, IMAGE_PLAIN, true)
OCL_IMAGE(ocl_image2d_array_depth, 2, IMAGE_ARRAY, true)
OCL_IMAGE(ocl_image3d, 3, IMAGE_PLAIN, false)
#undef OCL_IMAGE

/* ---- reads ---- */

template <class I, class C>
OCL_FN vec<float, 4> nearest_floats(const image &m, uint sampler, C at) {
  const texel_place t = find_nearest<I>(m, sampler, components(at));
  return read_colour<I::CONSTANT>(m.format, t.address, t.inside);
}

/* Reads with a sampler that is only known at run time, which is too much code to inline. */
template <class I, class C>
__device__ __noinline__ vec<float, 4> any_floats(image m, uint sampler, C at) {
  return sampler & SAMPLER_LINEAR ? sample_linear<I>(m, sampler, components(at))
                                  : nearest_floats<I>(m, sampler, at);
}

template <class I, class C>
OCL_FN vec<float, 4> sampled_floats(const image &m, ocl_sampler sampler, C at) {
  if constexpr (has_fractions<C>)
    return any_floats<I>(m, sampler.bits, at);
  else
    return nearest_floats<I>(m, sampler.bits, at);
}
template <class I, uint BITS, class C>
OCL_FN vec<float, 4> sampled_floats(const image &m, literal_sampler<BITS>, C at) {
  if constexpr (has_fractions<C> && BITS & SAMPLER_LINEAR)
    return sample_linear<I>(m, BITS, components(at));
  else
    return nearest_floats<I>(m, BITS, at);
}

OCL_FN uint sampler_bits(ocl_sampler sampler) {
  return sampler.bits;
}
template <uint BITS> OCL_FN uint sampler_bits(literal_sampler<BITS>) {
  return BITS & SAMPLER_BITS;
}

template <class I, class S, class C> OCL_FN vec<float, 4> read_floats(I image, S sampler, C at) {
  if (has_texture(image, sampler_bits(sampler)))
    return read_texture_floats<I>(*image.p, sampler_bits(sampler), components(at));
  return sampled_floats<I>(*image.p, sampler, at);
}

/* Integer reads always return the nearest texel. */
template <class T, class I, class C> OCL_FN vec<T, 4> read_integers(I image, uint sampler, C at) {
  if (has_texture(image, 0)) /* never filters */
    return read_texture_integers<T, I>(*image.p, sampler, components(at));
  const texel_place t = find_nearest<I>(*image.p, sampler, components(at));
  return read_integers<I::CONSTANT, T>(image.p->format, t.address, t.inside);
}

template <class I, class S, class C> OCL_FN auto read_imagef(I image, S sampler, C at) {
  const vec<float, 4> colour = read_floats(image, sampler, at);
  if constexpr (I::DEPTH)
    return colour.s[0];
  else
    return colour;
}
template <class I, class S, class C> OCL_FN vec<half, 4> read_imageh(I image, S sampler, C at) {
  const vec<float, 4> colour = read_floats(image, sampler, at);
  vec<half, 4> r;
  _Pragma("unroll") for (int i = 0; i < 4; i++) r.s[i] = to_half<RTE>(colour.s[i]);
  return r;
}
template <class I, class S, class C> OCL_FN vec<int, 4> read_imagei(I image, S sampler, C at) {
  return read_integers<int>(image, sampler_bits(sampler), at);
}
template <class I, class S, class C> OCL_FN vec<uint, 4> read_imageui(I image, S sampler, C at) {
  return read_integers<uint>(image, sampler_bits(sampler), at);
}

/* Reads without a sampler: nearest filter, unnormalized coordinates, no addressing mode. */
#define OCL_READ(name)                                                                             \
  template <class I, class C> OCL_FN auto name(I image, C at) {                                    \
    return name(image, literal_sampler<0>{}, at);                                                  \
  }
OCL_READ(read_imagef)
OCL_READ(read_imageh)
OCL_READ(read_imagei)
OCL_READ(read_imageui)
#undef OCL_READ

/* ---- writes: ignored outside the image ---- */

template <class I, class C> OCL_FN texel_place find_texel(I image, C coordinate) {
  const ocl::image &m = *image.p;
  const auto c = components(coordinate);
  uint at[I::D + 1] = {};
  bool inside = true;
  _Pragma("unroll") for (int d = 0; d < I::D; d++) {
    at[d] = (uint)c.c[d];
    inside &= at[d] < (uint)extent(m, d);
  }
  if constexpr (I::ARRAY) {
    at[I::D] = (uint)c.c[I::D];
    inside &= at[I::D] < m.depth;
  }
  return {texel_address<I>(m, at), inside};
}

template <class I, class C> OCL_FN void write_imagef(I image, C at, const vec<float, 4> &colour) {
  if (stores_texels(image)) {
    store_colour<I>(*image.p, components(at), bits_of_floats(colour));
    return;
  }
  const texel_place t = find_texel(image, at);
  if (t.inside)
    write_colour(image.p->format, t.address, colour);
}
template <class I, class C> OCL_FN void write_imagef(I image, C at, float depth) {
  write_imagef(image, at, vec<float, 4>{depth, 0, 0, 0});
}
template <class I, class C> OCL_FN void write_imageh(I image, C at, const vec<half, 4> &colour) {
  vec<float, 4> floats;
  _Pragma("unroll") for (int i = 0; i < 4; i++) floats.s[i] = half_to_float(colour.s[i]);
  write_imagef(image, at, floats);
}
#define OCL_WRITE(name, T)                                                                         \
  template <class I, class C> OCL_FN void name(I image, C at, const vec<T, 4> &colour) {           \
    if (stores_texels(image)) {                                                                    \
      store_colour<I>(*image.p, components(at),                                                    \
                      vec<uint, 4>{(uint)colour.s[0], (uint)colour.s[1], (uint)colour.s[2],        \
                                   (uint)colour.s[3]});                                            \
      return;                                                                                      \
    }                                                                                              \
    const texel_place t = find_texel(image, at);                                                   \
    if (t.inside)                                                                                  \
      store_texel(image.p->texel_shift(), t.address,                                               \
                  encode_integers(image.p->type(), channels_of_colour(image.p->order(), colour))); \
  }
OCL_WRITE(write_imagei, int)
OCL_WRITE(write_imageui, uint)
#undef OCL_WRITE

/* ---- queries ---- */

template <class I> OCL_FN int get_image_width(I image) {
  return image.p->width;
}
template <class I> OCL_FN int get_image_height(I image) {
  return image.p->height;
}
template <class I> OCL_FN int get_image_depth(I image) {
  return image.p->depth;
}
template <class I> OCL_FN ulong get_image_array_size(I image) {
  return image.p->depth;
}
template <class I> OCL_FN int get_image_channel_data_type(I image) {
  return CHANNEL_TYPES + image.p->type();
}
template <class I> OCL_FN int get_image_channel_order(I image) {
  return CHANNEL_ORDERS + image.p->order();
}
template <class I> OCL_FN auto get_image_dim(I image) {
  const int width = image.p->width, height = image.p->height, depth = image.p->depth;
  if constexpr (I::D == 3)
    return vec<int, 4>{width, height, depth, 0};
  else
    return vec<int, 2>{width, height};
}

} // namespace ocl
#endif
