/* Exponentials, logarithms, powers and roots of OpenCL C, and functions
 * that split numbers into mantissa and exponent. */
#ifndef TEGRACL_EXPONENTIAL_CUH
#define TEGRACL_EXPONENTIAL_CUH
#include "math.cuh"

namespace ocl {

OCL_MATH_V(cbrt)
OCL_MATH_V(exp)
OCL_MATH_V(exp10)
OCL_MATH_V(exp2)
OCL_MATH_V(expm1)
OCL_MATH_V(log)
OCL_MATH_V(log10)
OCL_MATH_V(log1p)
OCL_MATH_V(log2)
OCL_MATH_V(logb)
/* CUDA's double hypot can be one ulp too large. Near DBL_MAX this would give
 * infinity, even if the smaller number is too small to matter. */
OCL_FN float hypot(float x, float y) {
  return ::hypotf(x, y);
}
OCL_FN double hypot(double x, double y) {
  double large = ::fmax(::fabs(x), ::fabs(y)), small = ::fmin(::fabs(x), ::fabs(y));
  return x == x && y == y && small < large * 0x1p-54 ? large : ::hypot(x, y);
}
OCL_BY_FLOAT2(hypot, half, float(y))
OCL_MAP_VV(hypot)

#ifdef OCL_FAST
/* NVRTC's --use_fast_math turns powf into exp2(y * log2(x)), which is NaN if x is negative or
 * both are 0. For an odd y the result has the sign of x. A y that is not an integer is
 * undefined for negative x (OpenCL C 3.0, 7.4, unsafe math optimizations). */
OCL_FN float pow(float x, float y) {
  float r = y == 0 ? 1 : ::powf(::fabsf(x), y), half_y = 0.5f * y;
  return half_y == ::truncf(half_y) ? r : ::copysignf(r, x);
}
#else
OCL_FN float pow(float x, float y) {
  return ::powf(x, y);
}
#endif
OCL_FN double pow(double x, double y) {
  return ::pow(x, y);
}
OCL_BY_FLOAT2(pow, half, float(y))
OCL_MAP_VV(pow)

/* Computes x to the power n. An n that float cannot represent is split into two numbers of the
 * same sign, so that neither factor overflows or underflows before the product does. */
OCL_FN float pown(float x, int n) {
  float high = __int2float_rz(n);
  int low = n - int(high);
  float r = pow(x, high);
  return low == 0 ? r : r * pow(x, float(low));
}
OCL_FN double pown(double x, int n) {
  return ::pow(x, double(n));
}
OCL_BY_FLOAT2(pown, int, y)
OCL_MAP_VV(pown)

/* Computes pow for x >= 0 as exp2(y * log2(x)). Returns NaN where this has no limit. */
template <class T> OCL_FN scalar<T> powr(T x, T y) {
  T a = fabs(x);
  T r = pow(a, y);
  bool nowhere =
      x < 0 || x != x || y != y || (y == 0 && (a == 0 || ::isinf(a))) || (a == 1 && ::isinf(y));
  return nowhere ? T(__uint_as_float(0x7fffffffu)) : r;
}
OCL_BY_FLOAT2(powr, half, float(y))
OCL_MAP_VV(powr)

/* Computes the n-th root. 1 / n is rounded, which the second factor corrects:
 * x^(e + d) = x^e * (1 + d * ln x) for a small d. */
template <class T> OCL_FN scalar<T> rootn(T x, int n) {
  T a = fabs(x), m = T(n);
  T e = T(1) / m;
  T r = pow(a, e);
  if (n == 0 || (x < 0 && (n & 1) == 0))
    return T(__uint_as_float(0x7fffffffu));
  if (a > 0 && !::isinf(a) && !::isinf(r))
    r = fma(r, fma(-e, m, T(1)) / m * log(a), r);
  return n & 1 ? copysign(r, x) : r;
}
OCL_BY_FLOAT2(rootn, int, y)
OCL_MAP_VV(rootn)

OCL_FN int ilogb(float x) {
  return x != x ? max_of<int> : ::ilogbf(x);
}
OCL_FN int ilogb(double x) {
  return x != x ? max_of<int> : ::ilogb(x);
}
OCL_FN int ilogb(half x) {
  return ilogb(float(x));
}
OCL_MAP_AUTO_V(ilogb)

OCL_FN float ldexp(float x, int n) {
  return ::ldexpf(x, n);
}
OCL_FN double ldexp(double x, int n) {
  return ::ldexp(x, n);
}
OCL_BY_FLOAT2(ldexp, int, y)
OCL_MAP_VV(ldexp)
OCL_MAP_VS(ldexp)

OCL_FN float frexp(float x, int *exponent) {
  return ::frexpf(x, exponent);
}
OCL_FN double frexp(double x, int *exponent) {
  return ::frexp(x, exponent);
}
OCL_BY_FLOAT_POINTER(frexp, int)
OCL_MAP_POINTER(frexp, int)

} // namespace ocl
#endif
