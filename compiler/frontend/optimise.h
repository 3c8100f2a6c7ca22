/* LLVM's optimiser, in this process: unlike clang it first drops what no kernel calls. */
#ifndef TEGRACL_OPTIMISE_H
#define TEGRACL_OPTIMISE_H

#include <llvm-c/Types.h>

#include "base/text.h"
#include "compiler/compiler.h"

/* Gives the module clang's target and data layout. False, and why in log, if this LLVM does
 * not have the target. */
bool optimise_adopt(LLVMModuleRef module, struct text *log);

enum optimise_output { OPTIMISE_BITCODE, OPTIMISE_IR_TEXT };

/* Optimises the bitcode at the level, 0 to 3, and adds the result to output. whole: it is the
 * whole program, so only kernels are called from elsewhere. */
enum cc_status optimise_run(const struct text *bitcode, unsigned level, bool whole,
                            enum optimise_output kind, struct text *output, struct text *log);

#endif
