/* OpenCL C half_ and native_ math functions (section 6.15.2 of OpenCL C 3.0). They use
 * the hardware's MUFU instructions for float. half_ functions may have an error of
 * 8192 ulp, and half_sin, half_cos and half_tan are defined up to 2^16. Near the
 * zeros, where MUFU's error is absolute, they need extra steps. */
#ifndef TEGRACL_NATIVE_CUH
#define TEGRACL_NATIVE_CUH
#include "math.cuh"

namespace ocl {

#define OCL_PTX_V(name, op)                                                                        \
  OCL_FN float name(float x) {                                                                     \
    float r;                                                                                       \
    asm(op " %0, %1;" : "=f"(r) : "f"(x));                                                         \
    return r;                                                                                      \
  }                                                                                                \
  OCL_MAP_V(name)
#define OCL_FAST_V(name, expression)                                                               \
  OCL_FN float name(float x) {                                                                     \
    return expression;                                                                             \
  }                                                                                                \
  OCL_MAP_V(name)
#define OCL_FAST_VV(name, expression)                                                              \
  OCL_FN float name(float x, float y) {                                                            \
    return expression;                                                                             \
  }                                                                                                \
  OCL_MAP_VV(name)

OCL_PTX_V(native_exp2, "ex2.approx.ftz.f32")
OCL_PTX_V(native_log2, "lg2.approx.ftz.f32")
OCL_PTX_V(native_recip, "rcp.approx.ftz.f32")
OCL_PTX_V(native_rsqrt, "rsqrt.approx.ftz.f32")
OCL_PTX_V(native_sqrt, "sqrt.approx.ftz.f32")
OCL_FAST_V(native_sin, __sinf(x))
OCL_FAST_V(native_cos, __cosf(x))
OCL_FAST_V(native_tan, __tanf(x))
OCL_FAST_V(native_exp, __expf(x))
OCL_FAST_V(native_exp10, __exp10f(x))
OCL_FAST_V(native_log, __logf(x))
OCL_FAST_V(native_log10, __log10f(x))
OCL_FAST_VV(native_divide, __fdividef(x, y))
OCL_FAST_VV(native_powr, __powf(x, y))

/* Computes log2(x) with a relative error of 2^-18. Near 1, where MUFU.LG2's absolute
 * error of 2^-22 is too large, it uses the series of log(1 + t). */
OCL_FN float half_log2(float x) {
  constexpr float LOG2_E = 1.44269504f;
  float t = x - 1, wide;
  asm("lg2.approx.f32 %0, %1;" : "=f"(wide) : "f"(x));
  float series = __fmaf_rn(t, 0.2f, -0.25f);
  series = __fmaf_rn(t, __fmaf_rn(t, __fmaf_rn(t, series, 1 / 3.0f), -0.5f), 1.0f);
  return ::fabsf(t) < 0x1p-4f ? LOG2_E * t * series : wide;
}
OCL_MAP_V(half_log2)

/* Subtracts k times pi / 2 from x. The first step is exact, because k has 16
 * bits and float can represent the difference. */
OCL_FN float less_half_pi(float x, float k) {
  x = __fmaf_rn(k, -0x1.921fb6p+0f, x);
  x = __fmaf_rn(k, 0x1.777a5cp-25f, x);
  return __fmaf_rn(k, 0x1.ee59dap-50f, x);
}
/* Computes sin(x) up to pi / 2, negated if odd is set. Returns small x unchanged. */
OCL_FN float signed_sin(float x, uint odd) {
  float sine = ::fabsf(x) < 0x1p-8f ? x : __sinf(x);
  return __uint_as_float(__float_as_uint(sine) ^ odd << 31);
}
/* Added to a float below 2^22, this puts the nearest integer into the low bits of the sum. */
constexpr float TO_INTEGER = 0x1.8p+23f;
constexpr float PER_PI = 0.318309886f;
OCL_FN float half_sin(float x) {
  float turns = __fmaf_rn(x, PER_PI, TO_INTEGER);
  return signed_sin(less_half_pi(x, 2 * (turns - TO_INTEGER)), __float_as_uint(turns));
}
/* Subtracts the nearest zero, (k + 0.5) * pi, and returns the signed sine of the rest. */
OCL_FN float half_cos(float x) {
  float turns = __fmaf_rn(x, PER_PI, -0.5f) + TO_INTEGER;
  return signed_sin(less_half_pi(x, __fmaf_rn(2, turns - TO_INTEGER, 1)), ~__float_as_uint(turns));
}
OCL_MAP_V(half_sin)
OCL_MAP_V(half_cos)

OCL_PTX_V(half_exp2, "ex2.approx.f32")
OCL_PTX_V(half_recip, "rcp.approx.f32")
OCL_PTX_V(half_rsqrt, "rsqrt.approx.f32")
OCL_PTX_V(half_sqrt, "sqrt.approx.f32")
OCL_FAST_V(half_exp, __expf(x))
OCL_FAST_V(half_exp10, __exp10f(x))
OCL_FAST_V(half_log, 0.693147181f * half_log2(x))
OCL_FAST_V(half_log10, 0.301029996f * half_log2(x))
/* Beyond 2^16, where sine and cosine may both be 0, their quotient must not be NaN. Up to 2^16 the
 * cosine is so far from 0 that the addition does not change it. */
OCL_FAST_V(half_tan, half_sin(x) * half_recip(half_cos(x) + 0x1p-126f))
OCL_FAST_VV(half_divide, x / y)
OCL_FAST_VV(half_powr, half_exp2(y *half_log2(x)))

} // namespace ocl
#endif
