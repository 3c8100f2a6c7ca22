/* Converts 64-bit arithmetic that clang derived from 32-bit indices back to 32 bits. */
#ifndef TEGRACL_NARROW_H
#define TEGRACL_NARROW_H

#include <llvm-c/Types.h>
#include <stdbool.h>

/* Rewrites the module's functions without changing their
 * results. Returns false if out of memory. */
bool narrow_module(LLVMModuleRef module);

#endif
