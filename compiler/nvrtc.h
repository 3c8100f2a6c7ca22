/* CUDA C to CUBIN by NVRTC, which is loaded when first needed. */
#ifndef TEGRACL_NVRTC_H
#define TEGRACL_NVRTC_H

#include "compiler/compiler.h"
#include "compiler/frontend/options.h"

/* Compiles one CUDA C source for the SM; the device library's files are there
 * to be included. The CUBIN is added to cubin. An error of NVRTC is a fault of
 * our printer: it gives CC_INTERNAL_ERROR with NVRTC's log. */
enum cc_status nvrtc_compile(const char *source, unsigned sm, const struct options *options,
                             struct text *cubin, struct text *log);

#endif
