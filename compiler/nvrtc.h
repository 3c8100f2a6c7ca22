/* CUDA C to CUBIN by NVRTC, which is loaded when first needed. */
#ifndef TEGRACL_NVRTC_H
#define TEGRACL_NVRTC_H

#include "compiler/compiler.h"
#include "compiler/frontend/options.h"

/* Compiles one CUDA C source for the SM, which may include the device library's
 * files. The CUBIN is added to cubin. If NVRTC refuses the source, that is a fault
 * of compiler/lower: CC_INTERNAL_ERROR, with NVRTC's messages in log. */
enum cc_status nvrtc_compile(const char *source, unsigned sm, const struct options *options,
                             struct text *cubin, struct text *log);

#endif
