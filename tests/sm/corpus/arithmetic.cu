// Kernels that make the compiler use the arithmetic instructions, for the test
// that compares our disassembly with nvdisasm's: every operator and conversion
// of C over every type, mathematical functions, and integer intrinsics.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <math.h>
#include <stdint.h>

#define INDEX (blockIdx.x * blockDim.x + threadIdx.x)

#define BINARY(name, T, expression)                                                                \
  extern "C" __global__ void name(T *out, const T *in, T k) {                                      \
    T a = in[INDEX], b = in[INDEX + 1024], c = in[INDEX + 2048];                                   \
    (void)b, (void)c, (void)k;                                                                     \
    out[INDEX] = (T)(expression);                                                                  \
  }

#define INTEGER(T)                                                                                 \
  BINARY(T##_add, T, a + b)                                                                        \
  BINARY(T##_sub, T, a - b)                                                                        \
  BINARY(T##_mul, T, a *b)                                                                         \
  BINARY(T##_mad, T, a *b + c)                                                                     \
  BINARY(T##_div, T, b ? a / b : c)                                                                \
  BINARY(T##_rem, T, b ? a % b : c)                                                                \
  BINARY(T##_div7, T, a / 7)                                                                       \
  BINARY(T##_rem10, T, a % 10)                                                                     \
  BINARY(T##_div16, T, a / 16)                                                                     \
  BINARY(T##_and, T, a &b)                                                                         \
  BINARY(T##_orxor, T, (a | b) ^ c)                                                                \
  BINARY(T##_lut, T, (a & ~b) | (~a & c) | 0x15)                                                   \
  BINARY(T##_shl, T, a << (b & 31))                                                                \
  BINARY(T##_shr, T, a >> (b & 31))                                                                \
  BINARY(T##_shl3, T, (a << 3) + b)                                                                \
  BINARY(T##_shr5, T, (a >> 5) - c)                                                                \
  BINARY(T##_min, T, a < b ? a : b)                                                                \
  BINARY(T##_max, T, a > k ? a : k)                                                                \
  BINARY(T##_select, T, a >= b && b != c || a == k ? b : c)                                        \
  BINARY(T##_neg, T, -a + 100)                                                                     \
  BINARY(T##_abs, T, (a < 0 ? -a : a) + b)                                                         \
  BINARY(T##_not, T, !a + ~b)                                                                      \
  BINARY(T##_constant, T, a * 1000 + k * 3 - 5)                                                    \
  BINARY(T##_cmp, T, (a < b) + (a <= c) * 2 + (a == b) * 4 + (b != c) * 8 + (a > 17) * 16)

typedef signed char s8;
typedef unsigned char u8;
typedef short s16;
typedef unsigned short u16;
typedef int s32;
typedef unsigned int u32;
typedef long long s64;
typedef unsigned long long u64;
INTEGER(s8)
INTEGER(u8)
INTEGER(s16)
INTEGER(u16)
INTEGER(s32)
INTEGER(u32)
INTEGER(s64)
INTEGER(u64)

#define REAL(T)                                                                                    \
  BINARY(T##_add, T, a + b)                                                                        \
  BINARY(T##_sub, T, a - k)                                                                        \
  BINARY(T##_mul, T, a *b)                                                                         \
  BINARY(T##_fma, T, a *b + c)                                                                     \
  BINARY(T##_fmaneg, T, -a * b - c)                                                                \
  BINARY(T##_div, T, a / b)                                                                        \
  BINARY(T##_third, T, a / (T)3)                                                                   \
  BINARY(T##_select, T, a > b && !(b <= c) || a != k ? b : c)                                      \
  BINARY(T##_cmp, T, (a < b) + (a <= c) * 2 + (a == b) * 4 + (b != c) * 8 + (a > (T)1.7) * 16)     \
  BINARY(T##_constant, T, a *(T)1.1 + k * (T)3 - (T)0.7)                                           \
  BINARY(T##_minmax, T, a < b ? (c > k ? c : k) : a)

REAL(float)
REAL(double)
BINARY(half_add, __half, __hadd(a, b))
BINARY(half_fma, __half, __hfma(a, b, c))
BINARY(half_div, __half, __hdiv(a, b))
BINARY(half_relu, __half, __hfma_relu(a, b, c))
BINARY(half_sat, __half, __hfma_sat(a, b, c))
BINARY(half_min, __half, __hmin(a, b))
BINARY(half_maxnan, __half, __hmax_nan(a, b))
BINARY(half_cmp, __half, __hlt(a, b) ? c : k)
BINARY(half_exp, __half, hexp(a))
BINARY(half_sqrt, __half, hsqrt(a))
BINARY(half_sin, __half, hsin(a))
BINARY(half2_add, __half2, __hadd2(a, b))
BINARY(half2_mul, __half2, __hmul2_sat(a, k))
BINARY(half2_fma, __half2, __hfma2(a, b, c))
BINARY(half2_constant, __half2, __hfma2(a, __float2half2_rn(0.3f), __float2half2_rn(-1.5f)))
BINARY(half2_cmp, __half2, __hbgt2(a, b) ? __hge2(a, c) : __heq2(b, k))
BINARY(half2_cmpu, __half2, __hbltu2(a, b) ? __hneu2(a, c) : __hleu2(b, k))
BINARY(half2_swap, __half2, __hadd2(__lowhigh2highlow(a), __low2half2(b)))
BINARY(half2_min, __half2, __hmin2(a, __hmax2_nan(b, c)))
BINARY(half2_abs, __half2, __hadd2(__habs2(a), __hneg2(b)))
BINARY(half2_log, __half2, h2log2(a))
BINARY(bf16_add, __nv_bfloat16, __hadd(a, b))
BINARY(bf16_fma, __nv_bfloat16, __hfma(a, b, c))
BINARY(bf16_min, __nv_bfloat16, __hmin(a, b))
BINARY(bf162_fma, __nv_bfloat162, __hfma2(a, b, c))
BINARY(bf162_relu, __nv_bfloat162, __hfma2_relu(a, b, k))
BINARY(bf162_mul, __nv_bfloat162, __hmul2(a, b))
BINARY(bf162_max, __nv_bfloat162, __hmax2(a, __hmin2_nan(b, c)))
BINARY(bf162_gt, __nv_bfloat162, __hgt2(a, b))
BINARY(bf16_exp, __nv_bfloat16, hexp(a))

#define CONVERT(A, B)                                                                              \
  extern "C" __global__ void A##_to_##B(B *out, const A *in) { out[INDEX] = (B)in[INDEX]; }
#define CONVERT_TO(B)                                                                              \
  CONVERT(s8, B) CONVERT(u8, B) CONVERT(s16, B) CONVERT(u16, B) CONVERT(s32, B) CONVERT(u32, B)    \
  CONVERT(s64, B) CONVERT(u64, B) CONVERT(float, B) CONVERT(double, B) CONVERT(__half, B)
CONVERT_TO(s8)
CONVERT_TO(u8)
CONVERT_TO(s16)
CONVERT_TO(u16)
CONVERT_TO(s32)
CONVERT_TO(u32)
CONVERT_TO(s64)
CONVERT_TO(u64)
CONVERT_TO(float)
CONVERT_TO(double)
CONVERT_TO(__half)

#define ROUNDED(A, B, f)                                                                           \
  extern "C" __global__ void f##_k(B *out, const A *in) { out[INDEX] = f(in[INDEX]); }
ROUNDED(float, int, __float2int_rn) ROUNDED(float, int, __float2int_ru)
ROUNDED(float, int, __float2int_rd) ROUNDED(float, unsigned, __float2uint_rn)
ROUNDED(float, long long, __float2ll_ru) ROUNDED(float, unsigned long long, __float2ull_rd)
ROUNDED(double, int, __double2int_rn) ROUNDED(double, unsigned, __double2uint_ru)
ROUNDED(double, long long, __double2ll_rd) ROUNDED(double, float, __double2float_rz)
ROUNDED(double, float, __double2float_ru) ROUNDED(int, float, __int2float_ru)
ROUNDED(int, float, __int2float_rd) ROUNDED(unsigned, float, __uint2float_rz)
ROUNDED(long long, float, __ll2float_ru) ROUNDED(unsigned long long, double, __ull2double_rd)
ROUNDED(long long, double, __ll2double_rz) ROUNDED(float, __half, __float2half_rz)
ROUNDED(float, __half, __float2half_ru) ROUNDED(__half, int, __half2int_ru)
ROUNDED(__half, short, __half2short_rd) ROUNDED(short, __half, __short2half_rz)
ROUNDED(int, __half, __int2half_ru) ROUNDED(double, int, __double2hiint)
ROUNDED(float, __nv_bfloat16, __float2bfloat16_rz) ROUNDED(float, __nv_bfloat16, __float2bfloat16_rn)
ROUNDED(float, float, __frcp_rn) ROUNDED(float, float, __fsqrt_rn) ROUNDED(float, float, __frsqrt_rn)
ROUNDED(float, float, __frcp_rz) ROUNDED(float, float, __fsqrt_ru) ROUNDED(double, double, __drcp_rn)
ROUNDED(double, double, __dsqrt_rd) ROUNDED(float, float, __sinf) ROUNDED(float, float, __cosf)
ROUNDED(float, float, __expf) ROUNDED(float, float, __logf) ROUNDED(float, float, __saturatef)
ROUNDED(float, float, __tanf) ROUNDED(int, int, __popc) ROUNDED(int, int, __clz)
ROUNDED(unsigned, unsigned, __brev) ROUNDED(int, int, __ffs) ROUNDED(long long, int, __popcll)
ROUNDED(long long, int, __clzll) ROUNDED(unsigned long long, unsigned long long, __brevll)
ROUNDED(double, double, rint) ROUNDED(double, double, floor) ROUNDED(double, double, ceil)
ROUNDED(double, double, trunc) ROUNDED(double, double, round) ROUNDED(float, float, rintf)
ROUNDED(float, float, floorf) ROUNDED(float, float, ceilf) ROUNDED(float, float, truncf)
ROUNDED(__half, __half, hrint) ROUNDED(__half, __half, hfloor) ROUNDED(__half, __half, hceil)

#define MATH(F)                                                                                    \
  extern "C" __global__ void F##_d(double *out, const double *in) { out[INDEX] = F(in[INDEX]); }   \
  extern "C" __global__ void F##_f(float *out, const float *in) { out[INDEX] = F##f(in[INDEX]); }
MATH(sin) MATH(cos) MATH(tan) MATH(asin) MATH(acos) MATH(atan) MATH(sinh) MATH(cosh) MATH(tanh)
MATH(asinh) MATH(acosh) MATH(atanh) MATH(exp) MATH(exp2) MATH(exp10) MATH(expm1) MATH(log)
MATH(log2) MATH(log10) MATH(log1p) MATH(sqrt) MATH(rsqrt) MATH(cbrt) MATH(erf) MATH(erfc)
MATH(tgamma) MATH(lgamma) MATH(fabs) MATH(logb) MATH(sinpi) MATH(cospi) MATH(j0) MATH(y1)
MATH(normcdf) MATH(nearbyint) MATH(erfinv)
#define MATH2(F)                                                                                   \
  BINARY(F##_d, double, F(a, b)) BINARY(F##_f, float, F##f(a, b))
MATH2(pow) MATH2(atan2) MATH2(fmod) MATH2(remainder) MATH2(hypot) MATH2(fdim) MATH2(fmin)
MATH2(fmax) MATH2(nextafter) MATH2(copysign)

BINARY(mulhi_s, int, __mulhi(a, b))
BINARY(mulhi_u, unsigned, __umulhi(a, b))
BINARY(mul64hi_s, long long, __mul64hi(a, b))
BINARY(mul64hi_u, unsigned long long, __umul64hi(a, b))
BINARY(mul24_s, int, __mul24(a, b))
BINARY(sad_s, int, __sad(a, b, c))
BINARY(sad_u, unsigned, __usad(a, b, c))
BINARY(hadd_s, int, __hadd(a, b))
BINARY(rhadd_u, unsigned, __urhadd(a, b))
BINARY(byte_perm, unsigned, __byte_perm(a, b, c))
BINARY(byte_perm_c, unsigned, __byte_perm(a, b, 0x3715))
BINARY(funnel_l, unsigned, __funnelshift_l(a, b, c))
BINARY(funnel_r, unsigned, __funnelshift_r(a, b, c))
BINARY(funnel_lc, unsigned, __funnelshift_lc(a, b, c))
BINARY(funnel_rc, unsigned, __funnelshift_rc(a, b, 9))
BINARY(dp4a_s, int, __dp4a(a, b, c))
BINARY(dp4a_u, unsigned, __dp4a(a, b, c))
BINARY(dp2a_lo, int, __dp2a_lo(a, b, c))
BINARY(dp2a_hi, unsigned, __dp2a_hi(a, b, c))
BINARY(vabsdiff4, unsigned, __vabsdiffu4(a, b))
BINARY(vsads4, unsigned, __vsads4(a, b))
BINARY(vavgs4, unsigned, __vavgs4(a, b))
BINARY(vcmpgt2, unsigned, __vcmpgts2(a, b))
BINARY(vaddss4, unsigned, __vaddss4(a, b))
BINARY(vmaxu2, unsigned, __vmaxu2(a, __vmins2(b, c)))
BINARY(fadd_modes, float, __fadd_rz(a, __fmul_ru(b, __fmaf_rd(a, c, k))))
BINARY(dadd_modes, double, __dadd_rz(a, __dmul_ru(b, __fma_rd(a, c, k))))
BINARY(fdiv_modes, float, __fdiv_rz(a, __fdiv_ru(b, __fdividef(c, k))))
BINARY(ddiv_modes, double, __ddiv_rz(a, __ddiv_ru(b, c)))
