/* convert_int and its variants; see convert.cuh. */
#ifndef TEGRACL_CONVERT_INT_CUH
#define TEGRACL_CONVERT_INT_CUH
#include "convert.cuh"

namespace ocl {

OCL_CONVERT_INTEGER(int, int)

} // namespace ocl
#endif
