/* convert_ushort and its variants; see convert.cuh. */
#ifndef TEGRACL_CONVERT_USHORT_CUH
#define TEGRACL_CONVERT_USHORT_CUH
#include "convert.cuh"

namespace ocl {

OCL_CONVERT_INTEGER(ushort, ushort)

} // namespace ocl
#endif
