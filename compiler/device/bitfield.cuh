/* cl_khr_extended_bit_ops: bit fields and bit reversal for the eight integer types. */
#ifndef TEGRACL_BITFIELD_CUH
#define TEGRACL_BITFIELD_CUH
#include "tegracl.cuh"

namespace ocl {

template <class T> constexpr uint width = 8 * sizeof(T);

/* Returns a mask of the count lowest bits. Avoids shifting by
 * the full width, which is undefined. */
template <class U> OCL_FN U low_bits(uint count) {
  return count ? U(all_ones<U> >> (width<U> - count)) : U(0);
}

template <class T> OCL_FN scalar<T> bitfield_insert(T base, T insert, uint offset, uint count) {
  typedef to_unsigned<T> U;
  U mask = count ? U(low_bits<U>(count) << offset) : U(0);
  return T((U(base) & ~mask) | (U(U(insert) << (count ? offset : 0)) & mask));
}
template <class T, int N>
OCL_FN vec<T, N> bitfield_insert(vec<T, N> base, vec<T, N> insert, uint offset, uint count) {
  OCL_EACH base.s[i] = bitfield_insert(base.s[i], insert.s[i], offset, count);
  return base;
}

template <class T>
OCL_FN to_signed<scalar<T>> bitfield_extract_signed(T base, uint offset, uint count) {
  typedef to_signed<T> S;
  if (!count)
    return 0;
  return S(S(to_unsigned<T>(base) << (width<T> - offset - count)) >> (width<T> - count));
}
template <class T>
OCL_FN to_unsigned<scalar<T>> bitfield_extract_unsigned(T base, uint offset, uint count) {
  typedef to_unsigned<T> U;
  return count ? U(U(base) >> offset & low_bits<U>(count)) : U(0);
}
#define OCL_EXTRACT(name, result)                                                                  \
  template <class T, int N>                                                                        \
  OCL_FN vec<result<T>, N> name(vec<T, N> base, uint offset, uint count) {                         \
    vec<result<T>, N> r;                                                                           \
    OCL_EACH r.s[i] = name(base.s[i], offset, count);                                              \
    return r;                                                                                      \
  }
OCL_EXTRACT(bitfield_extract_signed, to_signed)
OCL_EXTRACT(bitfield_extract_unsigned, to_unsigned)

template <class T> OCL_FN scalar<T> bit_reverse(T x) {
  if constexpr (sizeof(T) == 8)
    return T(__brevll(x));
  else
    return T(__brev(to_unsigned<T>(x)) >> (32 - width<T>));
}
OCL_MAP_V(bit_reverse)

} // namespace ocl
#endif
