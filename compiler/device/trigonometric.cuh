/* Trigonometric and hyperbolic functions of OpenCL C. */
#ifndef TEGRACL_TRIGONOMETRIC_CUH
#define TEGRACL_TRIGONOMETRIC_CUH
#include "math.cuh"

/* With NVRTC's --use_fast_math, sine and cosine of float have an absolute error, and no known
 * bound beyond pi. half keeps its bound of 2 ulp by using the half_ functions. */
#if defined OCL_FAST && defined OCL_HALF_MATH
#include "native.cuh"
#define OCL_HALF_BY(fast, exact) fast
#else
#define OCL_HALF_BY(fast, exact) exact
#endif
#define OCL_TRIGONOMETRIC_V(name)                                                                  \
  OCL_MATH_HALF_V(name, half(OCL_HALF_BY(half_##name, ::name##f)(float(x))))

namespace ocl {

OCL_MATH_V(acos)
OCL_MATH_V(acosh)
OCL_MATH_V(asin)
OCL_MATH_V(asinh)
OCL_MATH_V(atan)
OCL_MATH_V(atanh)
OCL_TRIGONOMETRIC_V(cos)
OCL_MATH_V(cosh)
OCL_MATH_V(cospi)
OCL_TRIGONOMETRIC_V(sin)
OCL_MATH_V(sinh)
OCL_MATH_V(sinpi)
OCL_TRIGONOMETRIC_V(tan)
OCL_MATH_V(tanh)
OCL_MATH_VV(atan2)

/* 1 / pi. */
constexpr double INVERSE_PI = 0.31830988618379067154;
template <class T> OCL_FN scalar<T> acospi(T x) {
  return acos(x) * T(INVERSE_PI);
}
OCL_BY_FLOAT1(acospi)
OCL_MAP_V(acospi)
template <class T> OCL_FN scalar<T> asinpi(T x) {
  return asin(x) * T(INVERSE_PI);
}
OCL_BY_FLOAT1(asinpi)
OCL_MAP_V(asinpi)
template <class T> OCL_FN scalar<T> atanpi(T x) {
  return atan(x) * T(INVERSE_PI);
}
OCL_BY_FLOAT1(atanpi)
OCL_MAP_V(atanpi)
template <class T> OCL_FN scalar<T> atan2pi(T y, T x) {
  return atan2(y, x) * T(INVERSE_PI);
}
OCL_BY_FLOAT2(atan2pi, half, float(y))
OCL_MAP_VV(atan2pi)
template <class T> OCL_FN scalar<T> tanpi(T x) {
  return sinpi(x) / cospi(x);
}
OCL_BY_FLOAT1(tanpi)
OCL_MAP_V(tanpi)

OCL_FN float sincos(float x, float *cosine) {
  float sine;
  ::sincosf(x, &sine, cosine);
  return sine;
}
OCL_FN double sincos(double x, double *cosine) {
  double sine;
  ::sincos(x, &sine, cosine);
  return sine;
}
OCL_FOR_HALF(OCL_FN half sincos(half x, half *cosine) {
  *cosine = cos(x);
  return sin(x);
})
OCL_MAP_POINTER(sincos, T)

} // namespace ocl
#endif
