/* LLVM's optimiser, in this process: unlike clang it can drop what no kernel calls before it
 * costs time. */
#ifndef TEGRACL_OPTIMISE_H
#define TEGRACL_OPTIMISE_H

#include <llvm-c/Types.h>

#include "base/text.h"
#include "compiler/compiler.h"

/* Makes the module one for clang's target, data layout and all. False, and why in log, if this
 * LLVM does not have the target. */
bool optimise_adopt(LLVMModuleRef module, struct text *log);

enum optimise_output { OPTIMISE_BITCODE, OPTIMISE_IR_TEXT };

/* Optimises the bitcode at the level, 0 to 3. whole: it is all of the program, so that only
 * kernels are called from elsewhere. output is added to. */
enum cc_status optimise_run(const struct text *bitcode, unsigned level, bool whole,
                            enum optimise_output kind, struct text *output, struct text *log);

#endif
