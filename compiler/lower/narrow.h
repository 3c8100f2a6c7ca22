/* Turns 64-bit arithmetic that clang made of 32-bit indices back into 32 bits. */
#ifndef TEGRACL_NARROW_H
#define TEGRACL_NARROW_H

#include <llvm-c/Types.h>
#include <stdbool.h>

/* Changes the module's functions; what they compute stays the same. False: out of memory. */
bool narrow_module(LLVMModuleRef module);

#endif
