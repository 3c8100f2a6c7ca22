/* OpenCL C to LLVM bitcode by the clang executable. */
#ifndef TEGRACL_FRONTEND_H
#define TEGRACL_FRONTEND_H

#include "compiler/compiler.h"
#include "compiler/find.h"
#include "compiler/frontend/command.h"
#include "compiler/frontend/options.h"

#define FRONTEND_TARGET "nvptx64-nvidia-nvcl"

/* Compiles the job's sources to bitcode, unoptimised, which is added to output. clang's
 * messages are added to log, with "<program source>" for the source and the headers' own
 * names; the files to watch (places.h), if they are known, are added to places. */
enum cc_status frontend_run(const struct cc_job *job, const struct options *options,
                            struct text *output, struct text *places, struct text *log);

/* False, and what to install in log, if there is no clang. */
bool frontend_find_clang(char path[CC_PATH_MAX], struct text *log);

#endif
