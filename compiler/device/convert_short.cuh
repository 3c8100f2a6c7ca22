/* convert_short and its variants; see convert.cuh. */
#ifndef TEGRACL_CONVERT_SHORT_CUH
#define TEGRACL_CONVERT_SHORT_CUH
#include "convert.cuh"

namespace ocl {

OCL_CONVERT_INTEGER(short, short)

} // namespace ocl
#endif
