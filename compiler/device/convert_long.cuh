/* convert_long and its variants; see convert.cuh. */
#ifndef TEGRACL_CONVERT_LONG_CUH
#define TEGRACL_CONVERT_LONG_CUH
#include "convert.cuh"

namespace ocl {

OCL_CONVERT_INTEGER(long, slong)

} // namespace ocl
#endif
