/* convert_float and its variants; see convert.cuh. */
#ifndef TEGRACL_CONVERT_FLOAT_CUH
#define TEGRACL_CONVERT_FLOAT_CUH
#include "convert.cuh"

namespace ocl {

OCL_CONVERT_MODES(float, , float, false, RTE)

} // namespace ocl
#endif
