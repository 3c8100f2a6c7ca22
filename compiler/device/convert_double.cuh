/* convert_double and its variants; see convert.cuh. */
#ifndef TEGRACL_CONVERT_DOUBLE_CUH
#define TEGRACL_CONVERT_DOUBLE_CUH
#include "convert.cuh"

namespace ocl {

OCL_CONVERT_MODES(double, , double, false, RTE)

} // namespace ocl
#endif
