/* OpenCL C to LLVM bitcode by the clang executable. */
#ifndef TEGRACL_FRONTEND_H
#define TEGRACL_FRONTEND_H

#include "compiler/command.h"
#include "compiler/compiler.h"
#include "compiler/find.h"
#include "compiler/options.h"

#define FRONTEND_TARGET "nvptx64-nvidia-nvcl"

enum frontend_output { FRONTEND_BITCODE, FRONTEND_IR_TEXT };

/* Compiles the job's sources; clang's messages are added to log with the names
 * "<program source>" for the source and the headers' own names. output is
 * added to, and places (places.h), if they are known. */
enum cc_status frontend_run(const struct cc_job *job, const struct options *options,
                            enum frontend_output kind, struct text *output, struct text *places,
                            struct text *log);

/* False, and what to install in log, if there is no clang. */
bool frontend_find_clang(char path[CC_PATH_MAX], struct text *log);
/* The words of clang's command that say what comes out of it, whatever goes in. */
void frontend_add_code_options(struct command *command, const struct options *options,
                               enum frontend_output kind);

#endif
