/* convert_uint and its variants; see convert.cuh. */
#ifndef TEGRACL_CONVERT_UINT_CUH
#define TEGRACL_CONVERT_UINT_CUH
#include "convert.cuh"

namespace ocl {

OCL_CONVERT_INTEGER(uint, uint)

} // namespace ocl
#endif
