/* Reading and writing LLVM modules in memory. */
#ifndef TEGRACL_BITCODE_H
#define TEGRACL_BITCODE_H

#include <llvm-c/Types.h>

#include "base/text.h"

/* Creates a context whose errors become lines of log. The caller disposes of it. */
LLVMContextRef bitcode_context(struct text *log);

/* Returns NULL if this LLVM cannot read the bytes as a module.
 * The bytes must outlive the module. */
LLVMModuleRef bitcode_read(LLVMContextRef context, const void *bytes, size_t size);

/* Appends the module's bitcode to bytes. */
void bitcode_write(LLVMModuleRef module, struct text *bytes);

#endif
