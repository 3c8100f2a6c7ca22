/* OpenCL C common functions (section 6.15.4 of OpenCL C 3.0),
 * and max, min and clamp for integers. */
#ifndef TEGRACL_COMMON_CUH
#define TEGRACL_COMMON_CUH
#include "math.cuh"

namespace ocl {

template <class T> OCL_FN scalar<T> max(T x, T y) {
  if constexpr (sizeof(T) == 4 && is_float<T>)
    return ::fmaxf(x, y);
  else
    return x < y ? y : x;
}
OCL_FN half max(half x, half y) {
  return half_max(x, y);
}
OCL_MAP_VV(max)
OCL_MAP_VS(max)

template <class T> OCL_FN scalar<T> min(T x, T y) {
  if constexpr (sizeof(T) == 4 && is_float<T>)
    return ::fminf(x, y);
  else
    return y < x ? y : x;
}
OCL_FN half min(half x, half y) {
  return half_min(x, y);
}
OCL_MAP_VV(min)
OCL_MAP_VS(min)

template <class T> OCL_FN scalar<T> clamp(T x, T low, T high) {
  return min(max(x, low), high);
}
OCL_MAP_VVV(clamp)
OCL_MAP_VSS(clamp)

constexpr double PI = 3.14159265358979323846;

template <class T> OCL_FN scalar<T> degrees(T x) {
  return T(180 / PI) * x;
}
OCL_BY_FLOAT1(degrees)
OCL_MAP_V(degrees)
template <class T> OCL_FN scalar<T> radians(T x) {
  return T(PI / 180) * x;
}
OCL_BY_FLOAT1(radians)
OCL_MAP_V(radians)

template <class T> OCL_FN scalar<T> mix(T x, T y, T a) {
  return x + (y - x) * a;
}
OCL_BY_FLOAT3(mix)
OCL_MAP_VVV(mix)
OCL_MAP_VVS(mix)

template <class T> OCL_FN scalar<T> step(T edge, T x) {
  return x < edge ? T(0) : T(1);
}
OCL_BY_FLOAT2(step, half, float(y))
OCL_MAP_VV(step)
OCL_MAP_SV(step)

template <class T> OCL_FN scalar<T> smoothstep(T low, T high, T x) {
  T t = clamp((x - low) / (high - low), T(0), T(1));
  return t * t * (3 - 2 * t);
}
OCL_BY_FLOAT3(smoothstep)
OCL_MAP_VVV(smoothstep)
OCL_MAP_SSV(smoothstep)

/* Zeros keep their sign; sign(NaN) is 0. */
template <class T> OCL_FN scalar<T> sign(T x) {
  return x > 0 ? T(1) : x < 0 ? T(-1) : x == 0 ? x : T(0);
}
OCL_BY_FLOAT1(sign)
OCL_MAP_V(sign)

} // namespace ocl
#endif
