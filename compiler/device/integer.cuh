/* OpenCL C integer functions (section 6.15.3 of OpenCL C 3.0) for the eight
 * integer types. clamp, max and min are in common.cuh. */
#ifndef TEGRACL_INTEGER_CUH
#define TEGRACL_INTEGER_CUH
#include "tegracl.cuh"

namespace ocl {

template <class T> OCL_FN to_unsigned<scalar<T>> abs(T x) {
  typedef to_unsigned<T> U;
  if constexpr (is_signed<T>)
    return x < 0 ? U(0 - U(x)) : U(x);
  else
    return x;
}
OCL_MAP_AUTO_V(abs)

template <class T> OCL_FN to_unsigned<scalar<T>> abs_diff(T x, T y) {
  typedef to_unsigned<T> U;
  return x > y ? U(U(x) - U(y)) : U(U(y) - U(x));
}
OCL_MAP_AUTO_VV(abs_diff)

/* Clamps a sum or product, which W can represent, to the range of T. */
template <class T, class W> OCL_FN T saturate(W x) {
  if constexpr (is_signed<W>)
    x = x < W(min_of<T>) ? W(min_of<T>) : x;
  return T(x > W(max_of<T>) ? W(max_of<T>) : x);
}

template <class T> OCL_FN scalar<T> add_sat(T x, T y) {
  typedef to_unsigned<T> U;
  if constexpr (sizeof(T) < 4)
    return saturate<T>(int(x) + int(y));
  T sum = T(U(x) + U(y));
  if constexpr (is_signed<T>)
    return ((x ^ sum) & (y ^ sum)) < 0 ? (x < 0 ? min_of<T> : max_of<T>) : sum;
  else
    return sum < x ? max_of<T> : sum;
}
OCL_MAP_VV(add_sat)

template <class T> OCL_FN scalar<T> sub_sat(T x, T y) {
  typedef to_unsigned<T> U;
  if constexpr (sizeof(T) < 4)
    return saturate<T>(int(x) - int(y));
  T difference = T(U(x) - U(y));
  if constexpr (is_signed<T>)
    return ((x ^ y) & (x ^ difference)) < 0 ? (x < 0 ? min_of<T> : max_of<T>) : difference;
  else
    return x < y ? T(0) : difference;
}
OCL_MAP_VV(sub_sat)

template <class T> OCL_FN scalar<T> hadd(T x, T y) {
  return T((x >> 1) + (y >> 1) + (x & y & 1));
}
OCL_MAP_VV(hadd)
template <class T> OCL_FN scalar<T> rhadd(T x, T y) {
  return T((x >> 1) + (y >> 1) + ((x | y) & 1));
}
OCL_MAP_VV(rhadd)

OCL_FN int high_product(int x, int y) {
  return __mulhi(x, y);
}
OCL_FN uint high_product(uint x, uint y) {
  return __umulhi(x, y);
}
OCL_FN slong high_product(slong x, slong y) {
  return __mul64hi(x, y);
}
OCL_FN ulong high_product(ulong x, ulong y) {
  return __umul64hi(x, y);
}

template <class T> OCL_FN scalar<T> mul_hi(T x, T y) {
  if constexpr (sizeof(T) < 4)
    return T(pick<is_signed<T>, int, uint>(x) * y >> 8 * sizeof(T));
  else
    return high_product(x, y);
}
OCL_MAP_VV(mul_hi)

template <class T> OCL_FN scalar<T> mad_hi(T x, T y, T z) {
  typedef to_unsigned<T> U;
  return T(U(U(mul_hi(x, y)) + U(z)));
}
OCL_MAP_VVV(mad_hi)

template <class T> OCL_FN scalar<T> mad_sat(T x, T y, T z) {
  if constexpr (sizeof(T) < 4) {
    /* W can represent the extremes, 65535 * 65535 + 65535 and -32768 * 32767 - 32768. */
    typedef pick<is_signed<T>, int, uint> W;
    return saturate<T>(W(W(x) * W(y) + W(z)));
  } else if constexpr (sizeof(T) == 4) {
    typedef pick<is_signed<T>, slong, ulong> W;
    return saturate<T>(W(x) * W(y) + W(z));
  } else {
    ulong low = ulong(x) * ulong(y);
    ulong sum = low + ulong(z);
    T high = high_product(x, y);
    if constexpr (is_signed<T>) {
      high += (z >> 63) + (sum < low);
      return high == slong(sum) >> 63 ? slong(sum) : high < 0 ? min_of<T> : max_of<T>;
    } else {
      return high != 0 || sum < low ? max_of<T> : sum;
    }
  }
}
OCL_MAP_VVV(mad_sat)

/* The result is implementation-defined for operands of more than 24 bits. The
 * fastest multiplication of the hardware is the 32-bit one. */
OCL_FN int mul24(int x, int y) {
  return int(uint(x) * uint(y));
}
OCL_FN uint mul24(uint x, uint y) {
  return x * y;
}
OCL_MAP_VV(mul24)
OCL_FN int mad24(int x, int y, int z) {
  return int(uint(x) * uint(y) + uint(z));
}
OCL_FN uint mad24(uint x, uint y, uint z) {
  return x * y + z;
}
OCL_MAP_VVV(mad24)

template <class T> OCL_FN scalar<T> rotate(T x, T count) {
  typedef to_unsigned<T> U;
  constexpr uint MASK = 8 * sizeof(T) - 1;
  if constexpr (sizeof(T) == 4)
    return T(__funnelshift_l(x, x, count));
  uint left = uint(count) & MASK, right = (0u - uint(count)) & MASK;
  return T(U(U(x) << left | U(x) >> right));
}
OCL_MAP_VV(rotate)

template <class T> OCL_FN scalar<T> clz(T x) {
  if constexpr (sizeof(T) == 8)
    return T(__clzll(x));
  else
    return T(__clz(to_unsigned<T>(x)) - (32 - 8 * int(sizeof(T))));
}
OCL_MAP_V(clz)

/* ctz(0) is the width of the type. */
template <class T> OCL_FN scalar<T> ctz(T x) {
  typedef to_unsigned<T> U;
  if constexpr (sizeof(T) == 8)
    return T(__popcll(~U(x) & (U(x) - 1)));
  else
    return T(__popc(U(~U(x) & (U(x) - 1))));
}
OCL_MAP_V(ctz)

template <class T> OCL_FN scalar<T> popcount(T x) {
  if constexpr (sizeof(T) == 8)
    return T(__popcll(x));
  else
    return T(__popc(to_unsigned<T>(x)));
}
OCL_MAP_V(popcount)

template <class T, class U>
OCL_FN pick<is_signed<scalar<T>>, sbits<2 * sizeof(T)>, ubits<2 * sizeof(T)>> upsample(T high,
                                                                                       U low) {
  typedef ubits<2 * sizeof(T)> W;
  return W(W(to_unsigned<T>(high)) << 8 * sizeof(T) | W(low));
}
OCL_MAP_AUTO_VV(upsample)

} // namespace ocl
#endif
