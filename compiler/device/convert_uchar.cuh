/* convert_uchar and its variants; see convert.cuh. */
#ifndef TEGRACL_CONVERT_UCHAR_CUH
#define TEGRACL_CONVERT_UCHAR_CUH
#include "convert.cuh"

namespace ocl {

OCL_CONVERT_INTEGER(uchar, uchar)

} // namespace ocl
#endif
