/* OpenCL C half_ and native_ math functions (section 6.15.2 of OpenCL C 3.0),
 * all in float. half_ functions owe 8192 ulp: where the fast form's error is
 * absolute (sin, cos, tan, log near their zeros) they are the full ones. */
#ifndef TEGRACL_NATIVE_CUH
#define TEGRACL_NATIVE_CUH
#include "exponential.cuh"
#include "trigonometric.cuh"

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

OCL_PTX_V(half_exp2, "ex2.approx.f32")
OCL_PTX_V(half_recip, "rcp.approx.f32")
OCL_PTX_V(half_rsqrt, "rsqrt.approx.f32")
OCL_PTX_V(half_sqrt, "sqrt.approx.f32")
OCL_FAST_V(half_cos, cos(x))
OCL_FAST_V(half_exp, __expf(x))
OCL_FAST_V(half_exp10, __exp10f(x))
OCL_FAST_V(half_log, log(x))
OCL_FAST_V(half_log10, log10(x))
OCL_FAST_V(half_log2, log2(x))
OCL_FAST_V(half_sin, sin(x))
OCL_FAST_V(half_tan, tan(x))
OCL_FAST_VV(half_divide, x / y)
OCL_FAST_VV(half_powr, powr(x, y))

} // namespace ocl
#endif
