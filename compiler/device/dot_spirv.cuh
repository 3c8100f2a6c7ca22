/* SPIR-V's dot products of four bytes (SPV_KHR_integer_dot_product), with the function
 * names of its translator. The translator declares all numbers as signed, and passes
 * the format of packed operands, of which only one exists. */
#ifndef TEGRACL_DOT_SPIRV_CUH
#define TEGRACL_DOT_SPIRV_CUH
#include "dot_product.cuh"
#include "integer.cuh"

namespace ocl {

/* Parameters: SPIR-V's name, the letters and result of the function for packed bytes, the result
 * type in SPIR-V's name, its C type, and the type of the accumulator. */
#define OCL_SPIRV_DOT(name, function, result, R, C)                                                \
  OCL_FN R __spirv_##name##KHR_R##result(int a, int b, int) {                                      \
    return (R)dot_4x8packed_##function(a, b);                                                      \
  }                                                                                                \
  OCL_FN R __spirv_##name##KHR_R##result(vec<signed char, 4> a, vec<signed char, 4> b) {           \
    return (R)dot_4x8packed_##function(packed(a), packed(b));                                      \
  }                                                                                                \
  OCL_FN R __spirv_##name##AccSatKHR_R##result(int a, int b, C c, int) {                           \
    return add_sat((R)dot_4x8packed_##function(a, b), (R)c);                                       \
  }                                                                                                \
  OCL_FN R __spirv_##name##AccSatKHR_R##result(vec<signed char, 4> a, vec<signed char, 4> b,       \
                                               C c) {                                              \
    return add_sat((R)dot_4x8packed_##function(packed(a), packed(b)), (R)c);                       \
  }
#define OCL_SPIRV_DOTS(name, function)                                                             \
  OCL_SPIRV_DOT(name, function, char, signed char, signed char)                                    \
  OCL_SPIRV_DOT(name, function, short, short, short)                                               \
  OCL_SPIRV_DOT(name, function, int, int, int)                                                     \
  OCL_SPIRV_DOT(name, function, long, slong, slong)
OCL_SPIRV_DOTS(SDot, ss_int)
OCL_SPIRV_DOTS(SUDot, su_int)
OCL_SPIRV_DOT(UDot, uu_uint, uchar, uchar, signed char)
OCL_SPIRV_DOT(UDot, uu_uint, ushort, ushort, short)
OCL_SPIRV_DOT(UDot, uu_uint, uint, uint, int)
OCL_SPIRV_DOT(UDot, uu_uint, ulong, ulong, slong)

} // namespace ocl
#endif
