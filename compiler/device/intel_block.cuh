/* Block reads and writes of cl_intel_subgroups, _char, _short and _long, and of
 * SPV_INTEL_subgroups. Lanes access consecutive elements. All lanes of the
 * sub-group must execute the call with the same address. */
#ifndef TEGRACL_INTEL_BLOCK_CUH
#define TEGRACL_INTEL_BLOCK_CUH
#include "image_sample.cuh"
#include "subgroup.cuh"

namespace ocl {

template <class T, int N> struct block {
  typedef vec<T, N> type;
  static OCL_FN T &element(type &data, int i) { return data.s[i]; }
};
template <class T> struct block<T, 1> {
  typedef T type;
  static OCL_FN T &element(type &data, int) { return data; }
};

/* ---- buffers ---- */

template <class T, int N> OCL_FN typename block<T, N>::type read_block(const T *p) {
  typename block<T, N>::type data;
  OCL_EACH block<T, N>::element(data, i) = p[get_sub_group_local_id() + i * WARP];
  return data;
}
template <class T, int N> OCL_FN void write_block(T *p, typename block<T, N>::type data) {
  OCL_EACH p[get_sub_group_local_id() + i * WARP] = block<T, N>::element(data, i);
}

/* ---- images: rows of bytes; a lane's next element is in the next row ---- */

/* Offset in bytes for any int coordinate. */
typedef long long offset;

OCL_FN offset row_bytes(const image &m) {
  return (offset)m.width << m.texel_shift();
}
OCL_FN offset clamp_offset(offset x, offset most) {
  return ::max(::min(x, most), 0ll);
}

/* Loads, byte by byte, elements that are not aligned or not completely within the row. */
template <bool CONSTANT>
__device__ __noinline__ uint load_bytes(ulong row, offset row_bytes, offset x, uint count) {
  uint value = 0;
  for (uint i = 0; i < count; i++)
    value |= load_global<CONSTANT, uchar>(row + clamp_offset(x + i, row_bytes - 1)) << 8 * i;
  return value;
}
__device__ __noinline__ void store_bytes(ulong row, offset row_bytes, offset x, uint count,
                                         uint value) {
  for (uint i = 0; i < count; i++)
    if (x + i >= 0 && x + i < row_bytes)
      *global_pointer<uchar>(row + x + i) = (uchar)(value >> 8 * i);
}

/* Loads the element at byte x, which may be any coordinate.
 * Outside the image it repeats the edge. */
template <class T, bool CONSTANT> OCL_FN T load_element(const image &m, offset x, offset y) {
  const ulong row = m.base + (ulong)clamp_offset(y, m.height - 1ll) * m.row_pitch;
  if constexpr (sizeof(T) > sizeof(uint)) {
    const T low = load_element<uint, CONSTANT>(m, x, y);
    return (T)load_element<uint, CONSTANT>(m, x + (offset)sizeof(uint), y) << 32 | low;
  } else {
    const offset size = sizeof(T), bytes = row_bytes(m);
    x = clamp_offset(x, bytes - size);
    if (size <= bytes && (row + x) % size == 0)
      return load_global<CONSTANT, T>(row + x);
    return (T)load_bytes<CONSTANT>(row, bytes, x, sizeof(T));
  }
}
/* Ignores writes outside the image. */
template <class T> OCL_FN void store_element(const image &m, offset x, offset y, T value) {
  const ulong row = m.base + (ulong)y * m.row_pitch;
  if (y < 0 || y >= (offset)m.height)
    return;
  if constexpr (sizeof(T) > sizeof(uint)) {
    store_element(m, x, y, (uint)value);
    store_element(m, x + (offset)sizeof(uint), y, (uint)(value >> 32));
  } else {
    const offset size = sizeof(T), bytes = row_bytes(m);
    if (x >= 0 && x + size <= bytes && (row + x) % size == 0)
      *global_pointer<T>(row + x) = value;
    else
      store_bytes(row, bytes, x, sizeof(T), value);
  }
}

OCL_FN offset block_column(vec<int, 2> at, uint size) {
  return at.s[0] + (offset)(get_sub_group_local_id() * size);
}
template <class T, int N, class I>
OCL_FN typename block<T, N>::type read_image_block(I image, vec<int, 2> at) {
  typename block<T, N>::type data;
  const offset x = block_column(at, sizeof(T));
  OCL_EACH block<T, N>::element(data, i) =
      load_element<T, I::CONSTANT>(*image.p, x, at.s[1] + (offset)i);
  return data;
}
template <class T, int N, class I>
OCL_FN void write_image_block(I image, vec<int, 2> at, typename block<T, N>::type data) {
  const offset x = block_column(at, sizeof(T));
  OCL_EACH store_element(*image.p, x, at.s[1] + (offset)i, block<T, N>::element(data, i));
}

/* ---- the functions ---- */

#define OCL_BLOCK(suffix, T, N)                                                                    \
  OCL_FN block<T, N>::type intel_sub_group_block_read##suffix(const T *p) {                        \
    return read_block<T, N>(p);                                                                    \
  }                                                                                                \
  OCL_FN void intel_sub_group_block_write##suffix(T *p, block<T, N>::type data) {                  \
    write_block<T, N>(p, data);                                                                    \
  }                                                                                                \
  template <class I>                                                                               \
  OCL_FN block<T, N>::type intel_sub_group_block_read##suffix(I image, vec<int, 2> at) {           \
    return read_image_block<T, N>(image, at);                                                      \
  }                                                                                                \
  template <class I>                                                                               \
  OCL_FN void intel_sub_group_block_write##suffix(I image, vec<int, 2> at,                         \
                                                  block<T, N>::type data) {                        \
    write_image_block<T, N>(image, at, data);                                                      \
  }
OCL_BLOCK(, uint, 1)
OCL_BLOCK(2, uint, 2)
OCL_BLOCK(4, uint, 4)
OCL_BLOCK(8, uint, 8)
OCL_BLOCK(_ui, uint, 1)
OCL_BLOCK(_ui2, uint, 2)
OCL_BLOCK(_ui4, uint, 4)
OCL_BLOCK(_ui8, uint, 8)
OCL_BLOCK(_uc, uchar, 1)
OCL_BLOCK(_uc2, uchar, 2)
OCL_BLOCK(_uc4, uchar, 4)
OCL_BLOCK(_uc8, uchar, 8)
OCL_BLOCK(_uc16, uchar, 16)
OCL_BLOCK(_us, ushort, 1)
OCL_BLOCK(_us2, ushort, 2)
OCL_BLOCK(_us4, ushort, 4)
OCL_BLOCK(_us8, ushort, 8)
OCL_BLOCK(_us16, ushort, 16)
OCL_BLOCK(_ul, ulong, 1)
OCL_BLOCK(_ul2, ulong, 2)
OCL_BLOCK(_ul4, ulong, 4)
OCL_BLOCK(_ul8, ulong, 8)

} // namespace ocl
#endif
