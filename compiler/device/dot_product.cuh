/* cl_khr_integer_dot_product: dot products of four bytes, with IDP.4A. */
#ifndef TEGRACL_DOT_PRODUCT_CUH
#define TEGRACL_DOT_PRODUCT_CUH
#include "tegracl.cuh"

namespace ocl {

template <class T> OCL_FN uint packed(vec<T, 4> x) {
  return uchar(x.s[0]) | uchar(x.s[1]) << 8 | uchar(x.s[2]) << 16 | uint(uchar(x.s[3])) << 24;
}

OCL_FN int saturated_sum(int x, int y) {
  int r;
  asm("add.sat.s32 %0, %1, %2;" : "=r"(r) : "r"(x), "r"(y));
  return r;
}
OCL_FN uint saturated_sum(uint x, uint y) {
  return x + y < x ? ~0u : x + y;
}

/* letters: s and u for signed and unsigned bytes, as in the extension's function names. */
#define OCL_DOT(letters, A, B, R, result, types)                                                   \
  OCL_FN R dot_4x8packed_##letters##_##result(uint a, uint b) {                                    \
    R r;                                                                                           \
    asm("dp4a." types " %0, %1, %2, 0;" : "=r"(r) : "r"(a), "r"(b));                               \
    return r;                                                                                      \
  }                                                                                                \
  OCL_FN R dot_acc_sat_4x8packed_##letters##_##result(uint a, uint b, R c) {                       \
    return saturated_sum(dot_4x8packed_##letters##_##result(a, b), c);                             \
  }                                                                                                \
  OCL_FN R dot(vec<A, 4> a, vec<B, 4> b) {                                                         \
    return dot_4x8packed_##letters##_##result(packed(a), packed(b));                               \
  }                                                                                                \
  OCL_FN R dot_acc_sat(vec<A, 4> a, vec<B, 4> b, R c) {                                            \
    return saturated_sum(dot(a, b), c);                                                            \
  }
OCL_DOT(uu, uchar, uchar, uint, uint, "u32.u32")
OCL_DOT(ss, signed char, signed char, int, int, "s32.s32")
OCL_DOT(us, uchar, signed char, int, int, "u32.s32")
OCL_DOT(su, signed char, uchar, int, int, "s32.u32")

} // namespace ocl
#endif
