/* Image reads and writes with the texture units. A handle is image.texture with a sampler's bits (see enum
 * kernel_texture in gpu/cubin/kernel_code.h) plus the number of the layer or slice: each of them
 * has its own two-dimensional header. */
#ifndef TEGRACL_IMAGE_TEXTURE_CUH
#define TEGRACL_IMAGE_TEXTURE_CUH
#include "image_sample.cuh"

namespace ocl {

enum { TEXTURE_SAMPLER = 20, TEXTURE_STORES = 29, TEXTURE_FILTERS = 30, TEXTURE_VARIES = 31 };

/* A coordinate outside of every image, whether it is normalized or not. The texture units return the
 * border colour there. */
constexpr float OUTSIDE = -2.0f;

/* Return the bits of four floats or integers, depending on the image's format. Images only have
 * one mipmap level. */
OCL_FN vec<uint, 4> sample_texture(uint handle, float x, float y) {
  vec<uint, 4> r;
  asm("tex.level.2d.v4.u32.f32 {%0, %1, %2, %3}, [%4, {%5, %6}], 0f00000000;"
      : "=r"(r.s[0]), "=r"(r.s[1]), "=r"(r.s[2]), "=r"(r.s[3])
      : "l"((ulong)handle), "f"(x), "f"(y));
  return r;
}
OCL_FN vec<uint, 4> fetch_texture(uint handle, int x, int y) {
  vec<uint, 4> r;
  asm("tex.level.2d.v4.u32.s32 {%0, %1, %2, %3}, [%4, {%5, %6}], 0;"
      : "=r"(r.s[0]), "=r"(r.s[1]), "=r"(r.s[2]), "=r"(r.s[3])
      : "l"((ulong)handle), "r"(x), "r"(y));
  return r;
}
OCL_FN vec<uint, 4> fetch_buffer(uint handle, int x) {
  vec<uint, 4> r;
  asm("tex.level.1d.v4.u32.s32 {%0, %1, %2, %3}, [%4, {%5}], 0;"
      : "=r"(r.s[0]), "=r"(r.s[1]), "=r"(r.s[2]), "=r"(r.s[3])
      : "l"((ulong)handle), "r"(x));
  return r;
}

/* The bits of image.texture that a kernel needs which chooses its path at the beginning. filters:
 * it has a sampler that is linear or may be. Filters that are wrong leave other reads to the
 * texture units. */
OCL_FN bool has_texture(const image &m, bool filters) {
  return filters ? m.texture >> TEXTURE_FILTERS & 1 : m.texture != 0;
}

/* Whether the texture units do a read. Where each read chooses, the compiler may merge reads of
 * different images, so the handles of a warp may differ. */
template <class I> OCL_FN bool has_texture(I image, uint sampler) {
#if defined(OCL_NO_TEXTURES)
  return false;
#else
  return I::PATH == PATH_TEXTURES ||
         (I::PATH == PATH_ANY && image.p->texture >> TEXTURE_VARIES & 1 &&
          (!(sampler & SAMPLER_LINEAR) || image.p->texture >> TEXTURE_FILTERS & 1));
#endif
}

/* Moves unnormalized coordinates to the centre of the texel if the filter is nearest, because
 * OpenCL then requires the exact texel. It is unknown how the hardware rounds a coordinate at or
 * just below an integer. */
OCL_FN float exact(float s, uint sampler) {
  return sampler & (SAMPLER_LINEAR | SAMPLER_NORMALIZED) ? s : floorf(s) + 0.5f;
}
OCL_FN float exact(int i, uint) {
  return (float)i + 0.5f;
}
/* Neighbouring texels share the conversion of base. The sum is exact if base is between -2^22 and
 * 2^22. Otherwise both it and base + offset are outside of the image, on the same side: an image has
 * at most 2^15 texels in a row, and offset is at most 2^16. */
OCL_FN float exact(const offset_int &i, uint) {
  return (float)i.base + ((float)i.offset + 0.5f);
}

/* Samples one slice of a 3D image. */
template <class I, class T>
OCL_FN vec<uint, 4> sample_slice(uint handle, const image &m, uint sampler,
                                 const coordinate<T> &c, int slice) {
  const uint at = clamp_index(slice, m.depth);
  const bool outside = (sampler & SAMPLER_ADDRESS) == SAMPLER_CLAMP && at != (uint)slice;
  return sample_texture(handle + at, exact(c.c[0], sampler),
                        outside ? OUTSIDE : exact(c.c[1], sampler));
}

/* Returns the bits of the nearest texel or, in 1D and 2D images with a linear filter, of the mean
 * of the texels around the coordinate. Integer coordinates never use the linear filter. */
template <class I, class T>
OCL_FN vec<uint, 4> read_texture(const image &m, uint sampler, const coordinate<T> &c) {
  uint handle = m.texture;
  if constexpr (I::ARRAY)
    handle += layer_index(m, c.c[I::D]);
  if constexpr (I::BUFFER)
    return fetch_buffer(handle, c.c[0]);
  else {
    if constexpr (!is_float<T>) {
      sampler &= SAMPLER_ADDRESS;
      if (!sampler) {
        if constexpr (I::D == 3)
          handle += clamp_index(c.c[2], m.depth);
        return fetch_texture(handle, c.c[0], I::D == 1 ? 0 : c.c[1]);
      }
    }
    handle |= sampler << TEXTURE_SAMPLER;
    if constexpr (I::D == 3)
      return sample_slice<I>(handle, m, sampler, c, nearest_index(c.c[2], m.depth, sampler));
    else
      return sample_texture(handle, exact(c.c[0], sampler),
                            I::D == 1 ? 0.5f : exact(c.c[1], sampler));
  }
}

OCL_FN vec<float, 4> floats_of_bits(const vec<uint, 4> &bits) {
  vec<float, 4> r;
  _Pragma("unroll") for (int i = 0; i < 4; i++) r.s[i] = __uint_as_float(bits.s[i]);
  return r;
}

/* Applies the linear filter in a 3D image: interpolates between two slices. */
template <class I>
OCL_FN vec<float, 4> mix_slices(const image &m, uint sampler, const coordinate<float> &c) {
  const uint handle = m.texture | sampler << TEXTURE_SAMPLER;
  const linear_texels n = linear_indices(c.c[2], m.depth, sampler);
  const vec<float, 4> a = floats_of_bits(sample_slice<I>(handle, m, sampler, c, n.index[0]));
  const vec<float, 4> b = floats_of_bits(sample_slice<I>(handle, m, sampler, c, n.index[1]));
  vec<float, 4> r;
  _Pragma("unroll") for (int i = 0; i < 4; i++) r.s[i] =
      __fmaf_rn(b.s[i], n.weight, a.s[i] * (1.0f - n.weight));
  return r;
}

template <class I, class T>
OCL_FN vec<float, 4> read_texture_floats(const image &m, uint sampler, const coordinate<T> &c) {
  if constexpr (I::D == 3 && is_float<T>)
    if (sampler & SAMPLER_LINEAR)
      return mix_slices<I>(m, sampler, c);
  return floats_of_bits(read_texture<I>(m, sampler, c));
}

template <class E, class I, class T>
OCL_FN vec<E, 4> read_texture_integers(const image &m, uint sampler, const coordinate<T> &c) {
  const vec<uint, 4> bits = read_texture<I>(m, sampler & ~SAMPLER_LINEAR, c);
  vec<E, 4> r;
  _Pragma("unroll") for (int i = 0; i < 4; i++) r.s[i] = (E)bits.s[i];
  return r;
}

/* ---- writes ---- */

/* Stores the bits of floats or integers, which are converted to the header's format. Stores outside
 * the image are ignored. */
OCL_FN void store_texture(uint handle, int x, int y, const vec<uint, 4> &bits) {
  asm volatile("sust.p.2d.v4.b32.zero [%0, {%1, %2}], {%3, %4, %5, %6};" ::"l"((ulong)handle),
               "r"(x), "r"(y), "r"(bits.s[0]), "r"(bits.s[1]), "r"(bits.s[2]), "r"(bits.s[3])
               : "memory");
}

/* Whether typed stores write the image. They never write one that the kernel can read. */
template <class I> OCL_FN bool stores_texels(I image) {
#if defined(OCL_NO_TEXTURES)
  return false;
#else
  return I::PATH != PATH_SOFTWARE && image.p->texture >> TEXTURE_STORES & 1;
#endif
}

OCL_FN vec<uint, 4> bits_of_floats(const vec<float, 4> &colour) {
  vec<uint, 4> r;
  _Pragma("unroll") for (int i = 0; i < 4; i++) r.s[i] = __float_as_uint(colour.s[i]);
  return r;
}

template <class I, class C>
OCL_FN void store_colour(const image &m, const coordinate<C> &c, const vec<uint, 4> &bits) {
  uint handle = m.texture;
  if constexpr (I::ARRAY || I::D == 3) {
    const uint layer = (uint)c.c[I::ARRAY ? I::D : 2];
    if (layer >= m.depth)
      return;
    handle += layer;
  }
  store_texture(handle, c.c[0], I::D == 1 ? 0 : c.c[1], bits);
}

} // namespace ocl
#endif
