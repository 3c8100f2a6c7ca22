/* Conversions of cl_intel_bfloat16_conversions and SPV_INTEL_bfloat16_conversion. The bits of a
 * bfloat16 are those of the upper half of a float. */
#ifndef TEGRACL_BFLOAT16_CUH
#define TEGRACL_BFLOAT16_CUH
#include "tegracl.cuh"

namespace ocl {

/* Rounds to nearest even. All NaNs become the same NaN. */
OCL_FN ushort intel_convert_bfloat16_as_ushort(float x) {
  ushort r;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(r) : "f"(x));
  return r;
}
OCL_FN float intel_convert_as_bfloat16_float(ushort x) {
  return __uint_as_float((uint)x << 16);
}

template <int N> OCL_FN vec<ushort, N> bfloat16_of(vec<float, N> x) {
  vec<ushort, N> r;
  OCL_EACH r.s[i] = intel_convert_bfloat16_as_ushort(x.s[i]);
  return r;
}
/* LLVM's translator represents the bits as signed shorts. */
template <class T, int N> OCL_FN vec<float, N> float_of(vec<T, N> x) {
  vec<float, N> r;
  OCL_EACH r.s[i] = intel_convert_as_bfloat16_float((ushort)x.s[i]);
  return r;
}

#define OCL_BFLOAT16(n)                                                                            \
  OCL_FN vec<ushort, n> intel_convert_bfloat16##n##_as_ushort##n(vec<float, n> x) {                \
    return bfloat16_of(x);                                                                         \
  }                                                                                                \
  template <class T> OCL_FN vec<float, n> intel_convert_as_bfloat16##n##_float##n(vec<T, n> x) {   \
    return float_of(x);                                                                            \
  }
OCL_BFLOAT16(2)
OCL_BFLOAT16(3)
OCL_BFLOAT16(4)
OCL_BFLOAT16(8)
OCL_BFLOAT16(16)
#undef OCL_BFLOAT16

} // namespace ocl
#endif
