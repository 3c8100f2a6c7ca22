/* LLVM modules as bytes. */
#ifndef TEGRACL_BITCODE_H
#define TEGRACL_BITCODE_H

#include <llvm-c/Types.h>

#include "base/text.h"

/* A context whose errors become lines of log. The caller disposes of it. */
LLVMContextRef bitcode_context(struct text *log);

/* NULL if bytes hold no module that this LLVM can read. They must outlive the module. */
LLVMModuleRef bitcode_read(LLVMContextRef context, const void *bytes, size_t size);

/* Adds the module to bytes. */
void bitcode_write(LLVMModuleRef module, struct text *bytes);

#endif
