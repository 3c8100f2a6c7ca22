/* Translates SPIR-V to LLVM bitcode like that which clang makes from OpenCL C. */
#ifndef TEGRACL_TRANSLATE_H
#define TEGRACL_TRANSLATE_H

#include "compiler/frontend/frontend.h"

/* Translates the job's source, a SPIR-V module in either byte order.
 * Appends the bitcode to output, and errors to log. */
enum cc_status translate_run(const struct cc_job *job, const struct options *options,
                             struct text *output, struct text *log);

#endif
