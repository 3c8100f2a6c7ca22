/* Compiles CUDA C to CUBINs with NVRTC, which is loaded on first use. */
#ifndef TEGRACL_NVRTC_H
#define TEGRACL_NVRTC_H

#include "compiler/compiler.h"
#include "compiler/frontend/options.h"

/* Compiles a CUDA C source, which may include the device library's files, for the SM, and
 * adds the CUBIN to cubin. If NVRTC refuses the source, the cause is a bug in
 * compiler/lower: returns CC_INTERNAL_ERROR, with NVRTC's messages in log. */
enum cc_status nvrtc_compile(const char *source, unsigned sm, const struct options *options,
                             struct text *cubin, struct text *log);

#endif
