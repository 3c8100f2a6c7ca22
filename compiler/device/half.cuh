/* half: conversions in the four rounding modes, arithmetic and comparisons of cl_khr_fp16 on the
 * hardware's half unit, and LLVM's intrinsics for the printer. Operations without an instruction
 * are computed in float. A float has more than twice as many bits as a half, so rounding a float
 * sum, product, quotient or root again gives the correctly rounded half.
 */
#ifndef TEGRACL_HALF_CUH
#define TEGRACL_HALF_CUH
#include "lower.cuh"
#include "tegracl.cuh"

namespace ocl {

enum rounding { RTE, RTZ, RTP, RTN };

OCL_FN float half_to_float(half h) {
  float r;
  asm("cvt.f32.f16 %0, %1;" : "=f"(r) : "h"(h.bits));
  return r;
}

#define OCL_TO_HALF(T, constraint, type)                                                           \
  template <rounding R> OCL_FN half to_half(T x) {                                                 \
    half h;                                                                                        \
    if constexpr (R == RTZ)                                                                        \
      asm("cvt.rz.f16." type " %0, %1;" : "=h"(h.bits) : constraint(x));                           \
    else if constexpr (R == RTP)                                                                   \
      asm("cvt.rp.f16." type " %0, %1;" : "=h"(h.bits) : constraint(x));                           \
    else if constexpr (R == RTN)                                                                   \
      asm("cvt.rm.f16." type " %0, %1;" : "=h"(h.bits) : constraint(x));                           \
    else                                                                                           \
      asm("cvt.rn.f16." type " %0, %1;" : "=h"(h.bits) : constraint(x));                           \
    return h;                                                                                      \
  }
OCL_TO_HALF(float, "f", "f32")
OCL_TO_HALF(double, "d", "f64")
OCL_TO_HALF(int, "r", "s32")
OCL_TO_HALF(uint, "r", "u32")
OCL_TO_HALF(slong, "l", "s64")
OCL_TO_HALF(ulong, "l", "u64")

/* The constructors and conversion operators of half. */
OCL_FN half::half(float x) : half(to_half<RTE>(x)) {}
OCL_FN half::half(double x) : half(to_half<RTE>(x)) {}
OCL_FN half::half(int x) : half(to_half<RTE>(x)) {}
OCL_FN half::half(uint x) : half(to_half<RTE>(x)) {}
OCL_FN half::half(slong x) : half(to_half<RTE>(x)) {}
OCL_FN half::half(ulong x) : half(to_half<RTE>(x)) {}
OCL_FN half::operator float() const {
  return half_to_float(*this);
}
OCL_FN half::operator double() const {
  return half_to_float(*this);
}

OCL_FN ushort bits_of(half x) {
  return x.bits;
}
OCL_FN half from_bits(ushort x, half) {
  return half_of(x);
}

/* Returns the bits of a floating-point value as an integer. */
template <class T> OCL_FN to_unsigned<T> as_bits(T x) {
  if constexpr (is_float<T>)
    return bits_of(x);
  else
    return to_unsigned<T>(x);
}
template <class T> OCL_FN T from_unsigned(to_unsigned<T> x) {
  if constexpr (is_float<T>)
    return from_bits(x, T());
  else
    return T(x);
}

#define OCL_HALF1(name, op)                                                                        \
  OCL_FN half name(half x) {                                                                       \
    half r;                                                                                        \
    asm(op " %0, %1;" : "=h"(r.bits) : "h"(x.bits));                                               \
    return r;                                                                                      \
  }
/* Defines a function of two halves, and one that processes two adjacent elements at once. */
#define OCL_HALF2(name, pair, op)                                                                  \
  OCL_FN half name(half x, half y) {                                                               \
    half r;                                                                                        \
    asm(op ".f16 %0, %1, %2;" : "=h"(r.bits) : "h"(x.bits), "h"(y.bits));                          \
    return r;                                                                                      \
  }                                                                                                \
  OCL_FN void pair(half &r0, half &r1, half x0, half x1, half y0, half y1) {                       \
    asm("{ .reg .b32 x, y; mov.b32 x, {%2, %3}; mov.b32 y, {%4, %5}; " op                          \
        ".f16x2 x, x, y; mov.b32 {%0, %1}, x; }"                                                   \
        : "=h"(r0.bits), "=h"(r1.bits)                                                             \
        : "h"(x0.bits), "h"(x1.bits), "h"(y0.bits), "h"(y1.bits));                                 \
  }
#define OCL_HALF_COMPARE(name, op)                                                                 \
  OCL_FN bool name(half x, half y) {                                                               \
    uint r;                                                                                        \
    asm("{ .reg .pred p; setp." op ".f16 p, %1, %2; selp.u32 %0, 1, 0, p; }"                       \
        : "=r"(r)                                                                                  \
        : "h"(x.bits), "h"(y.bits));                                                               \
    return r != 0;                                                                                 \
  }

/* The explicit rounding mode keeps ptxas from fusing multiplication and addition. */
OCL_HALF2(operator+, half_add_pair, "add.rn")
OCL_HALF2(operator-, half_sub_pair, "sub.rn")
OCL_HALF2(operator*, half_mul_pair, "mul.rn")
OCL_HALF2(half_min, half_min_pair, "min")
OCL_HALF2(half_max, half_max_pair, "max")
OCL_HALF1(operator-, "neg.f16")
OCL_HALF1(half_abs, "abs.f16")
OCL_HALF_COMPARE(operator==, "eq")
OCL_HALF_COMPARE(operator!=, "neu")
OCL_HALF_COMPARE(operator<, "lt")
OCL_HALF_COMPARE(operator<=, "le")
OCL_HALF_COMPARE(operator>, "gt")
OCL_HALF_COMPARE(operator>=, "ge")

/* The reciprocal has an error of up to 1 ulp of float. The correction by the remainder makes the
 * quotient accurate enough for a second rounding; it is 0 or NaN if the first quotient is already
 * exact. Nothing overflows, because halves range from 2^-24 to 2^16. */
OCL_FN half operator/(half x, half y) {
  float a = half_to_float(x), b = half_to_float(y), inverse;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(b));
  float q = a * inverse, rest = __fmaf_rn(-b, q, a);
  return half(::fabsf(rest) > 0 ? __fmaf_rn(rest, inverse, q) : q);
}

OCL_FN half half_fma(half x, half y, half z) {
  half r;
  asm("fma.rn.f16 %0, %1, %2, %3;" : "=h"(r.bits) : "h"(x.bits), "h"(y.bits), "h"(z.bits));
  return r;
}
OCL_FN void half_fma_pair(half &r0, half &r1, half x0, half x1, half y0, half y1, half z0,
                          half z1) {
  asm("{ .reg .b32 x, y, z; mov.b32 x, {%2, %3}; mov.b32 y, {%4, %5}; mov.b32 z, {%6, %7}; "
      "fma.rn.f16x2 x, x, y, z; mov.b32 {%0, %1}, x; }"
      : "=h"(r0.bits), "=h"(r1.bits)
      : "h"(x0.bits), "h"(x1.bits), "h"(y0.bits), "h"(y1.bits), "h"(z0.bits), "h"(z1.bits));
}

OCL_FN half half_copysign(half x, half y) {
  return half_of((x.bits & 0x7fff) | (y.bits & 0x8000));
}

} // namespace ocl

/* Counterparts of LLVM's intrinsics, in addition to those in lower.cuh. */
#define OCL_LOWER_HALF(name)                                                                       \
  LOWER_FN ocl::half name(ocl::half a) {                                                           \
    return ocl::half(name(float(a)));                                                              \
  }
OCL_LOWER_HALF(floor_)
OCL_LOWER_HALF(ceil_)
OCL_LOWER_HALF(trunc_)
OCL_LOWER_HALF(rint_)
OCL_LOWER_HALF(round_)
LOWER_FN ocl::half sqrt_(ocl::half a) {
  return ocl::half(__fsqrt_rn(float(a)));
}
LOWER_FN ocl::half fabs_(ocl::half a) {
  return ocl::half_abs(a);
}
LOWER_FN ocl::half fmin_(ocl::half a, ocl::half b) {
  return ocl::half_min(a, b);
}
LOWER_FN ocl::half fmax_(ocl::half a, ocl::half b) {
  return ocl::half_max(a, b);
}
LOWER_FN ocl::half copysign_(ocl::half a, ocl::half b) {
  return ocl::half_copysign(a, b);
}
LOWER_FN ocl::half fma_(ocl::half a, ocl::half b, ocl::half c) {
  return ocl::half_fma(a, b, c);
}

#endif
