/* half as a storage format: conversions from and to float and double in the
 * four rounding modes. */
#ifndef TEGRACL_HALF_CUH
#define TEGRACL_HALF_CUH
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

} // namespace ocl
#endif
