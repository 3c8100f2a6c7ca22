/* 64-bit arithmetic that clang made of 32-bit indices, back in 32 bits, and integers that it
 * made of whole vectors, as their elements. */
#ifndef TEGRACL_NARROW_H
#define TEGRACL_NARROW_H

#include <llvm-c/Types.h>
#include <stdbool.h>

/* Changes the module's functions; what they compute stays the same. False if there
 * is no memory. */
bool narrow_module(LLVMModuleRef module);

#endif
