/* Runs LLVM's optimiser in this process. Unlike clang, it first
 * removes everything that no kernel calls. */
#ifndef TEGRACL_OPTIMISE_H
#define TEGRACL_OPTIMISE_H

#include <llvm-c/Types.h>

#include "base/text.h"
#include "compiler/compiler.h"

/* Sets the module's target and data layout to those of clang. Returns false, with the
 * reason in log, if this LLVM does not support the target. */
bool optimise_adopt(LLVMModuleRef module, struct text *log);

enum optimise_output { OPTIMISE_BITCODE, OPTIMISE_IR_TEXT };

/* Optimises the bitcode at a level from 0 to 3 and adds the result to output. whole means that
 * it is the whole program, so only kernels are called from outside. */
enum cc_status optimise_run(const struct text *bitcode, unsigned level, bool whole,
                            enum optimise_output kind, struct text *output, struct text *log);

#endif
