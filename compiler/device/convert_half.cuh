/* convert_half and its variants; see convert.cuh. */
#ifndef TEGRACL_CONVERT_HALF_CUH
#define TEGRACL_CONVERT_HALF_CUH
#include "convert.cuh"

namespace ocl {

OCL_CONVERT_MODES(half, , half, false, RTE)

} // namespace ocl
#endif
