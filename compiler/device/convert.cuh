/* OpenCL C explicit conversions (section 6.4.3 of OpenCL C 3.0):
 * convert_<type><n>[_sat][_<rounding>]. The default rounding is towards zero for
 * integers, and to nearest even for floating point. _sat clamps and converts NaN to
 * 0. Each result type has a file (convert_<type>.cuh), because including all of
 * them would double the compile time of a small kernel. */
#ifndef TEGRACL_CONVERT_CUH
#define TEGRACL_CONVERT_CUH
#include "half.cuh"

namespace ocl {

/* round_to<R>(x, D()) for pairs of types whose conversion may round. */
#define OCL_ROUND(D, S, cuda)                                                                      \
  template <rounding R> OCL_FN D round_to(S x, D) {                                                \
    return R == RTE   ? cuda##_rn(x)                                                               \
           : R == RTZ ? cuda##_rz(x)                                                               \
           : R == RTP ? cuda##_ru(x)                                                               \
                      : cuda##_rd(x);                                                              \
  }
OCL_ROUND(int, float, __float2int)
OCL_ROUND(uint, float, __float2uint)
OCL_ROUND(slong, float, __float2ll)
OCL_ROUND(ulong, float, __float2ull)
OCL_ROUND(int, double, __double2int)
OCL_ROUND(uint, double, __double2uint)
OCL_ROUND(slong, double, __double2ll)
OCL_ROUND(ulong, double, __double2ull)
OCL_ROUND(float, int, __int2float)
OCL_ROUND(float, uint, __uint2float)
OCL_ROUND(float, slong, __ll2float)
OCL_ROUND(float, ulong, __ull2float)
OCL_ROUND(double, slong, __ll2double)
OCL_ROUND(double, ulong, __ull2double)
OCL_ROUND(float, double, __double2float)

/* Number of value bits of an integer type. */
template <class T> constexpr int digits = 8 * sizeof(T) - is_signed<T>;

template <class D, bool SATURATE, rounding R, class S> OCL_FN D convert_one(S x) {
  if constexpr (same<S, half> && same<D, half>) {
    return x;
  } else if constexpr (same<S, half>) {
    return convert_one<D, SATURATE, R>(float(x));
  } else if constexpr (same<D, half>) {
    typedef pick<sizeof(S) < 4, int, S> W;
    return to_half<R>(W(x));
  } else if constexpr (is_float<D>) {
    /* Whether D can represent every value of S. */
    constexpr bool EXACT = is_float<S> ? sizeof(S) <= sizeof(D) : sizeof(S) < sizeof(D);
    if constexpr (EXACT)
      return D(x);
    else
      return round_to<R>(x, D());
  } else if constexpr (is_float<S>) {
    typedef pick<sizeof(D) < 4, int, D> W;
    W wide = round_to<R>(x, W()); /* saturates */
    if constexpr (SATURATE) {
      if constexpr (sizeof(D) < 4)
        wide = wide < min_of<D> ? min_of<D> : wide > max_of<D> ? max_of<D> : wide;
      /* The hardware converts NaN to 0 only from float to 32-bit integers. */
      if constexpr (sizeof(S) == 8 || sizeof(W) == 8)
        wide = x == x ? wide : W(0);
    }
    return D(wide);
  } else {
    if constexpr (SATURATE && is_signed<S> && !is_signed<D>)
      if (x < 0)
        return 0;
    if constexpr (SATURATE && is_signed<S> && is_signed<D> && sizeof(D) < sizeof(S))
      if (x < S(min_of<D>))
        return min_of<D>;
    if constexpr (SATURATE && digits<D> < digits<S>)
      if (x > S(max_of<D>))
        return max_of<D>;
    return D(x);
  }
}

template <class D, bool SATURATE, rounding R, class S, int N>
OCL_FN vec<D, N> convert_each(vec<S, N> x) {
  vec<D, N> r;
  OCL_EACH r.s[i] = convert_one<D, SATURATE, R>(x.s[i]);
  return r;
}

#define OCL_CONVERT(name, suffix, D, SATURATE, R)                                                  \
  template <class S> OCL_FN D convert_##name##suffix(S x) {                                        \
    return convert_one<D, SATURATE, R>(x);                                                         \
  }                                                                                                \
  OCL_CONVERT_N(name, 2, suffix, D, SATURATE, R)                                                   \
  OCL_CONVERT_N(name, 3, suffix, D, SATURATE, R)                                                   \
  OCL_CONVERT_N(name, 4, suffix, D, SATURATE, R)                                                   \
  OCL_CONVERT_N(name, 8, suffix, D, SATURATE, R)                                                   \
  OCL_CONVERT_N(name, 16, suffix, D, SATURATE, R)
#define OCL_CONVERT_N(name, N, suffix, D, SATURATE, R)                                             \
  template <class S> OCL_FN vec<D, N> convert_##name##N##suffix(vec<S, N> x) {                     \
    return convert_each<D, SATURATE, R>(x);                                                        \
  }
#define OCL_CONVERT_MODES(name, suffix, D, SATURATE, DEFAULT)                                      \
  OCL_CONVERT(name, suffix, D, SATURATE, DEFAULT)                                                  \
  OCL_CONVERT(name, suffix##_rte, D, SATURATE, RTE)                                                \
  OCL_CONVERT(name, suffix##_rtz, D, SATURATE, RTZ)                                                \
  OCL_CONVERT(name, suffix##_rtp, D, SATURATE, RTP)                                                \
  OCL_CONVERT(name, suffix##_rtn, D, SATURATE, RTN)
#define OCL_CONVERT_INTEGER(name, D)                                                               \
  OCL_CONVERT_MODES(name, , D, false, RTZ)                                                         \
  OCL_CONVERT_MODES(name, _sat, D, true, RTZ)

} // namespace ocl
#endif
