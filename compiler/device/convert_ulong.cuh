/* convert_ulong and its variants; see convert.cuh. */
#ifndef TEGRACL_CONVERT_ULONG_CUH
#define TEGRACL_CONVERT_ULONG_CUH
#include "convert.cuh"

namespace ocl {

OCL_CONVERT_INTEGER(ulong, ulong)

} // namespace ocl
#endif
