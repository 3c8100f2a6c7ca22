/* OpenCL C math functions (section 6.15.2 of OpenCL C 3.0) in float and double.
 * Where CUDA's function meets OpenCL's error bound (CUDA C Programming Guide,
 * "Mathematical Functions", against OpenCL C's "Relative Error as ULPs") it is
 * used as it is; the others say what they add.
 *
 * TEGRACL_CORRECT_DIVIDE_SQRT is defined for -cl-fp32-correctly-rounded-divide-
 * sqrt. Without it sqrt and divide of floats use the machine's faster forms
 * (PTX ISA: sqrt.approx 2^-23 relative; div.full 2 ulp; OpenCL allows 3 and 2.5).
 */
#ifndef TEGRACL_MATH_CUH
#define TEGRACL_MATH_CUH
#include "tegracl.cuh"

namespace ocl {

/* CUDA's function of the same name, with an f behind it for float. */
#define OCL_MATH_V(name)                                                                           \
  OCL_FN float name(float x) {                                                                     \
    return ::name##f(x);                                                                           \
  }                                                                                                \
  OCL_FN double name(double x) {                                                                   \
    return ::name(x);                                                                              \
  }                                                                                                \
  OCL_MAP_V(name)
#define OCL_MATH_VV(name)                                                                          \
  OCL_FN float name(float x, float y) {                                                            \
    return ::name##f(x, y);                                                                        \
  }                                                                                                \
  OCL_FN double name(double x, double y) {                                                         \
    return ::name(x, y);                                                                           \
  }                                                                                                \
  OCL_MAP_VV(name)

OCL_MATH_V(acos)
OCL_MATH_V(acosh)
OCL_MATH_V(asin)
OCL_MATH_V(asinh)
OCL_MATH_V(atan)
OCL_MATH_V(atanh)
OCL_MATH_V(cbrt)
OCL_MATH_V(ceil)
OCL_MATH_V(cos)
OCL_MATH_V(cosh)
OCL_MATH_V(cospi)
OCL_MATH_V(erf)
OCL_MATH_V(erfc)
OCL_MATH_V(exp)
OCL_MATH_V(exp10)
OCL_MATH_V(exp2)
OCL_MATH_V(expm1)
OCL_MATH_V(fabs)
OCL_MATH_V(floor)
OCL_MATH_V(lgamma)
OCL_MATH_V(log)
OCL_MATH_V(log10)
OCL_MATH_V(log1p)
OCL_MATH_V(log2)
OCL_MATH_V(logb)
OCL_MATH_V(rint)
OCL_MATH_V(round)
OCL_MATH_V(rsqrt)
OCL_MATH_V(sin)
OCL_MATH_V(sinh)
OCL_MATH_V(sinpi)
OCL_MATH_V(tan)
OCL_MATH_V(tanh)
OCL_MATH_V(tgamma)
OCL_MATH_V(trunc)
OCL_MATH_VV(atan2)
OCL_MATH_VV(copysign)
OCL_MATH_VV(fdim)
OCL_MATH_VV(fmax)
OCL_MATH_VV(fmin)
OCL_MATH_VV(fmod)
OCL_MATH_VV(hypot)
OCL_MATH_VV(nextafter)
OCL_MATH_VV(pow)
OCL_MATH_VV(remainder)
OCL_MAP_VS(fmax)
OCL_MAP_VS(fmin)

OCL_FN float fma(float x, float y, float z) {
  return ::fmaf(x, y, z);
}
OCL_FN double fma(double x, double y, double z) {
  return ::fma(x, y, z);
}
OCL_MAP_VVV(fma)
template <class T> OCL_FN scalar<T> mad(T x, T y, T z) {
  return fma(x, y, z);
}
OCL_MAP_VVV(mad)

#ifdef TEGRACL_CORRECT_DIVIDE_SQRT
OCL_FN float sqrt(float x) {
  return __fsqrt_rn(x);
}
OCL_FN float divide(float x, float y) {
  return __fdiv_rn(x, y);
}
#else
OCL_FN float sqrt(float x) {
  float r;
  asm("sqrt.approx.f32 %0, %1;" : "=f"(r) : "f"(x));
  return r;
}
OCL_FN float divide(float x, float y) {
  float r;
  asm("div.full.f32 %0, %1, %2;" : "=f"(r) : "f"(x), "f"(y));
  return r;
}
#endif
OCL_FN double sqrt(double x) {
  return ::sqrt(x);
}
OCL_MAP_V(sqrt)
OCL_FN double divide(double x, double y) {
  return x / y;
}
OCL_MAP_VV(divide)

/* 1 / pi. */
constexpr double INVERSE_PI = 0.31830988618379067154;
template <class T> OCL_FN scalar<T> acospi(T x) {
  return acos(x) * T(INVERSE_PI);
}
OCL_MAP_V(acospi)
template <class T> OCL_FN scalar<T> asinpi(T x) {
  return asin(x) * T(INVERSE_PI);
}
OCL_MAP_V(asinpi)
template <class T> OCL_FN scalar<T> atanpi(T x) {
  return atan(x) * T(INVERSE_PI);
}
OCL_MAP_V(atanpi)
template <class T> OCL_FN scalar<T> atan2pi(T y, T x) {
  return atan2(y, x) * T(INVERSE_PI);
}
OCL_MAP_VV(atan2pi)
template <class T> OCL_FN scalar<T> tanpi(T x) {
  return sinpi(x) / cospi(x);
}
OCL_MAP_V(tanpi)

OCL_FN int ilogb(float x) {
  return x != x ? max_of<int> : ::ilogbf(x);
}
OCL_FN int ilogb(double x) {
  return x != x ? max_of<int> : ::ilogb(x);
}
OCL_MAP_V(ilogb)

OCL_FN float ldexp(float x, int n) {
  return ::ldexpf(x, n);
}
OCL_FN double ldexp(double x, int n) {
  return ::ldexp(x, n);
}
OCL_MAP_VV(ldexp)
OCL_MAP_VS(ldexp)

/* Quiet NaNs with the code in the mantissa. */
OCL_FN float nan(uint code) {
  return __uint_as_float(0x7fc00000u | (code & 0x003fffffu));
}
OCL_FN double nan(ulong code) {
  return __longlong_as_double(0x7ff8000000000000ull | (code & 0x0007ffffffffffffull));
}
OCL_MAP_V(nan)

template <class T> OCL_FN scalar<T> maxmag(T x, T y) {
  T a = fabs(x), b = fabs(y);
  return a > b ? x : b > a ? y : fmax(x, y);
}
OCL_MAP_VV(maxmag)
template <class T> OCL_FN scalar<T> minmag(T x, T y) {
  T a = fabs(x), b = fabs(y);
  return a < b ? x : b < a ? y : fmin(x, y);
}
OCL_MAP_VV(minmag)

/* x to the power n. An n that float cannot hold is split into two of the same
 * sign, so that neither factor leaves the range before the product does. */
OCL_FN float pown(float x, int n) {
  float high = __int2float_rz(n);
  int low = n - int(high);
  float r = ::powf(x, high);
  return low == 0 ? r : r * ::powf(x, float(low));
}
OCL_FN double pown(double x, int n) {
  return ::pow(x, double(n));
}
OCL_MAP_VV(pown)

/* pow for x >= 0 as exp2(y * log2(x)): where a limit does not exist, NaN. */
template <class T> OCL_FN scalar<T> powr(T x, T y) {
  T a = fabs(x);
  T r = pow(a, y);
  bool nowhere =
      x < 0 || x != x || y != y || (y == 0 && (a == 0 || ::isinf(a))) || (a == 1 && ::isinf(y));
  return nowhere ? T(__uint_as_float(0x7fffffffu)) : r;
}
OCL_MAP_VV(powr)

/* The n-th root. 1 / n is rounded; the second factor makes up for what that
 * lost: x^(e + d) = x^e * (1 + d * ln x) for a small d. */
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
OCL_MAP_VV(rootn)

/* Functions with a second result through a pointer. */
#define OCL_MAP_POINTER(f, R)                                                                      \
  template <class T, int N> OCL_FN vec<T, N> f(vec<T, N> x, vec<R, N> *second) {                   \
    vec<T, N> r;                                                                                   \
    OCL_EACH {                                                                                     \
      R other;                                                                                     \
      r.s[i] = f(x.s[i], &other);                                                                  \
      second->s[i] = other;                                                                        \
    }                                                                                              \
    return r;                                                                                      \
  }

/* Below 1 also where x - floor(x) rounds up to it. */
template <class T> OCL_FN scalar<T> fract(T x, T *whole) {
  T w = floor(x), r = x - w;
  *whole = w;
  if (::isinf(x))
    return copysign(T(0), x);
  return r >= 1 ? T(sizeof(T) == 4 ? 0x1.fffffep-1 : 0x1.fffffffffffffp-1) : r;
}
OCL_MAP_POINTER(fract, T)

OCL_FN float frexp(float x, int *exponent) {
  return ::frexpf(x, exponent);
}
OCL_FN double frexp(double x, int *exponent) {
  return ::frexp(x, exponent);
}
OCL_MAP_POINTER(frexp, int)

OCL_FN float modf(float x, float *whole) {
  return ::modff(x, whole);
}
OCL_FN double modf(double x, double *whole) {
  return ::modf(x, whole);
}
OCL_MAP_POINTER(modf, T)

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
OCL_MAP_POINTER(sincos, T)

/* Gamma is negative between -1 and 0, -3 and -2, and so on. */
template <class T> OCL_FN scalar<T> lgamma_r(T x, int *sign) {
  T half_floor = floor(x) * T(0.5);
  *sign = x < 0 && half_floor != floor(half_floor) ? -1 : 1;
  return lgamma(x);
}
OCL_MAP_POINTER(lgamma_r, int)

/* remainder, and the low seven bits of the rounded quotient with its sign.
 * Every subtraction is exact: the remainder is less than twice what is taken
 * off. Multiples of y that overflow are never taken off, as it should be. */
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
