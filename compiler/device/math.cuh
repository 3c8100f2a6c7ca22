/* OpenCL C math functions (section 6.15.2 of OpenCL C 3.0) for float, double and half
 * (cl_khr_fp16). A CUDA function that meets OpenCL's error bound is used directly (see
 * "Mathematical Functions" in the CUDA C Programming Guide and "Relative Error as ULPs" in OpenCL
 * C); comments describe what the other functions add. NVRTC's --prec-div and --prec-sqrt, which
 * follow -cl-fp32-correctly-rounded-divide-sqrt, control sqrt and / of floats.
 */
#ifndef TEGRACL_MATH_CUH
#define TEGRACL_MATH_CUH
#include "half.cuh"

namespace ocl {

/* The printer defines OCL_HALF_MATH for programs with halves. Other
 * programs compile faster without these functions. */
#ifdef OCL_HALF_MATH
#define OCL_FOR_HALF(...) __VA_ARGS__
#else
#define OCL_FOR_HALF(...)
#endif

/* Uses CUDA's function of the same name, with the suffix f for float. half is computed as float,
 * unless double rounding would be too inaccurate or there is a better way. */
#define OCL_MATH_V(name) OCL_MATH_HALF_V(name, half(::name##f(float(x))))
#define OCL_MATH_HALF_V(name, of_half)                                                             \
  OCL_FN float name(float x) {                                                                     \
    return ::name##f(x);                                                                           \
  }                                                                                                \
  OCL_FN double name(double x) {                                                                   \
    return ::name(x);                                                                              \
  }                                                                                                \
  OCL_FOR_HALF(OCL_FN half name(half x) { return of_half; })                                       \
  OCL_MAP_V(name)
#define OCL_MATH_VV(name) OCL_MATH_HALF_VV(name, half(::name##f(float(x), float(y))))
#define OCL_MATH_HALF_VV(name, of_half)                                                            \
  OCL_FN float name(float x, float y) {                                                            \
    return ::name##f(x, y);                                                                        \
  }                                                                                                \
  OCL_FN double name(double x, double y) {                                                         \
    return ::name(x, y);                                                                           \
  }                                                                                                \
  OCL_FOR_HALF(OCL_FN half name(half x, half y) { return of_half; })                               \
  OCL_MAP_VV(name)

/* Computes half as float for a template. R is the type after the pointer. */
#define OCL_BY_FLOAT1(name) OCL_FOR_HALF(OCL_FN half name(half x) { return half(name(float(x))); })
#define OCL_BY_FLOAT2(name, U, second)                                                             \
  OCL_FOR_HALF(OCL_FN half name(half x, U y) { return half(name(float(x), second)); })
#define OCL_BY_FLOAT3(name)                                                                        \
  OCL_FOR_HALF(OCL_FN half name(half x, half y, half z) {                                          \
    return half(name(float(x), float(y), float(z)));                                               \
  })
#define OCL_BY_FLOAT_POINTER(name, R)                                                              \
  OCL_FOR_HALF(OCL_FN half name(half x, R *second) {                                               \
    pick<sizeof(R) == sizeof(half), float, R> other;                                               \
    half r = half(name(float(x), &other));                                                         \
    *second = R(other);                                                                            \
    return r;                                                                                      \
  })

/* Functions that return a second result through a pointer. */
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

OCL_MATH_V(ceil)
OCL_MATH_HALF_V(fabs, half_abs(x))
OCL_MATH_V(floor)
OCL_MATH_V(rint)
OCL_MATH_V(round)
OCL_MATH_V(rsqrt)
OCL_MATH_HALF_V(sqrt, half(__fsqrt_rn(float(x))))
OCL_MATH_V(trunc)
OCL_MATH_HALF_VV(copysign, half_copysign(x, y))
OCL_MATH_VV(fdim)
OCL_MATH_HALF_VV(fmax, half_max(x, y))
OCL_MATH_HALF_VV(fmin, half_min(x, y))
OCL_MAP_VS(fmax)
OCL_MAP_VS(fmin)

OCL_FN float fma(float x, float y, float z) {
  return ::fmaf(x, y, z);
}
OCL_FN double fma(double x, double y, double z) {
  return ::fma(x, y, z);
}
OCL_FN half fma(half x, half y, half z) {
  return half_fma(x, y, z);
}
OCL_MAP_VVV(fma)
template <class T> OCL_FN scalar<T> mad(T x, T y, T z) {
  return fma(x, y, z);
}
OCL_MAP_VVV(mad)

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

/* Returns a quiet NaN with the code in its mantissa. */
OCL_FN float nan(uint code) {
  return __uint_as_float(0x7fc00000u | (code & 0x003fffffu));
}
OCL_FN double nan(ulong code) {
  return __longlong_as_double(0x7ff8000000000000ull | (code & 0x0007ffffffffffffull));
}
OCL_FN half nan(ushort code) {
  return half_of(0x7e00 | (code & 0x01ff));
}
OCL_MAP_AUTO_V(nan)

} // namespace ocl
#endif
