/* convert_char and its variants; see convert.cuh. */
#ifndef TEGRACL_CONVERT_CHAR_CUH
#define TEGRACL_CONVERT_CHAR_CUH
#include "convert.cuh"

namespace ocl {

OCL_CONVERT_INTEGER(char, signed char)

} // namespace ocl
#endif
