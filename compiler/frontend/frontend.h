/* Compiles OpenCL C to LLVM bitcode with the clang executable. */
#ifndef TEGRACL_FRONTEND_H
#define TEGRACL_FRONTEND_H

#include "compiler/compiler.h"
#include "compiler/find.h"
#include "compiler/frontend/command.h"
#include "compiler/frontend/options.h"

#define FRONTEND_TARGET "nvptx64-nvidia-nvcl"

/* Compiles the job's sources and adds the unoptimised bitcode to output. Adds clang's
 * messages to log, with "<program source>" for the source and the original names of headers.
 * Adds the files to watch (places.h) to places if they are known. */
enum cc_status frontend_run(const struct cc_job *job, const struct options *options,
                            struct text *output, struct text *places, struct text *log);

/* Finds clang. If there is none, returns false and writes to log what to install. */
bool frontend_find_clang(char path[CC_PATH_MAX], struct text *log);

/* Whether the list of words, separated by blanks, has the word of size bytes. */
bool frontend_has_word(const char *words, const char *word, size_t size);

#endif
