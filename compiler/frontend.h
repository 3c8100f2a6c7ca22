/* OpenCL C to LLVM bitcode by the clang executable. */
#ifndef TEGRACL_FRONTEND_H
#define TEGRACL_FRONTEND_H

#include "compiler/compiler.h"
#include "compiler/options.h"

enum frontend_output { FRONTEND_BITCODE, FRONTEND_IR_TEXT };

/* Compiles the job's sources; clang's messages are added to log with the names
 * "<program source>" for the source and the headers' own names. output is
 * added to. */
enum cc_status frontend_run(const struct cc_job *job, const struct options *options,
                            enum frontend_output kind, struct text *output, struct text *log);

#endif
