/* Error and gamma functions, remainders, fract, modf and nextafter of OpenCL C. */
#ifndef TEGRACL_SPECIAL_CUH
#define TEGRACL_SPECIAL_CUH
#include "math.cuh"

namespace ocl {

OCL_MATH_V(erf)
OCL_MATH_V(erfc)
OCL_MATH_V(lgamma)
OCL_MATH_V(tgamma)
OCL_MATH_VV(fmod)
/* Returns the half next to x in the direction of y. */
OCL_FN half next_half(half x, half y) {
  if (x != x || y != y)
    return x + y;
  if (x == y)
    return y;
  if ((x.bits & 0x7fff) == 0)
    return half_of((y.bits & 0x8000) | 1);
  return half_of((x < y) == (x.bits < 0x8000) ? x.bits + 1 : x.bits - 1);
}
OCL_MATH_HALF_VV(nextafter, next_half(x, y))
OCL_MATH_VV(remainder)

/* The gamma function is negative between -1 and 0, between -3 and -2, and so on. */
template <class T> OCL_FN scalar<T> lgamma_r(T x, int *sign) {
  T half_floor = floor(x) * T(0.5);
  *sign = x < 0 && half_floor != floor(half_floor) ? -1 : 1;
  return lgamma(x);
}
OCL_BY_FLOAT_POINTER(lgamma_r, int)
OCL_MAP_POINTER(lgamma_r, int)

/* Keeps the result below 1, even if x - floor(x) rounds up to 1. */
template <class T> OCL_FN scalar<T> fract(T x, T *whole) {
  T w = floor(x), r = x - w;
  *whole = w;
  if (::isinf(x))
    return copysign(T(0), x);
  return r >= 1 ? T(sizeof(T) == 4 ? 0x1.fffffep-1 : 0x1.fffffffffffffp-1) : r;
}
OCL_FN half fract(half x, half *whole) {
  float w, r = fract(float(x), &w);
  constexpr float LARGEST = 0x1.ffcp-1f;
  *whole = half(w);
  return half(r > LARGEST ? LARGEST : r);
}
OCL_MAP_POINTER(fract, T)

OCL_FN float modf(float x, float *whole) {
  return ::modff(x, whole);
}
OCL_FN double modf(double x, double *whole) {
  return ::modf(x, whole);
}
OCL_BY_FLOAT_POINTER(modf, half)
OCL_MAP_POINTER(modf, T)

/* Computes remainder, and the lowest seven bits of the rounded quotient with its sign. All
 * subtractions are exact, because the remainder is less than twice the subtrahend. Multiples of y
 * that overflow are larger than the remainder, so they are never subtracted. */
template <class T> OCL_FN scalar<T> remquo(T x, T y, int *quotient) {
  constexpr int BITS = 7;
  T b = fabs(y), r = fmod(fabs(x), b * T(1 << BITS));
  int q = 0;
  for (int bit = BITS - 1; bit >= 0; bit--) {
    T multiple = b * T(1 << bit);
    if (r >= multiple) {
      r -= multiple;
      q |= 1 << bit;
    }
  }
  if (r + r > b || (r + r == b && (q & 1))) {
    r -= b;
    q++;
  }
  q &= (1 << BITS) - 1;
  bool none = x != x || y != y || ::isinf(x) || b == 0;
  *quotient = none ? 0 : (x < 0) != (y < 0) ? -q : q;
  return none                                         ? T(__uint_as_float(0x7fffffffu))
         : ::isinf(y)                                 ? x
         : x < 0 || bits_of(x) >> (8 * sizeof(T) - 1) ? -r
                                                      : r;
}
OCL_FN half remquo(half x, half y, int *quotient) {
  return half(remquo(float(x), float(y), quotient));
}
template <class T, int N> OCL_FN vec<T, N> remquo(vec<T, N> x, vec<T, N> y, vec<int, N> *quotient) {
  vec<T, N> r;
  OCL_EACH {
    int q;
    r.s[i] = remquo(x.s[i], y.s[i], &q);
    quotient->s[i] = q;
  }
  return r;
}

} // namespace ocl
#endif
