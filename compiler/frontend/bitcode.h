/* LLVM modules as bytes. */
#ifndef TEGRACL_BITCODE_H
#define TEGRACL_BITCODE_H

#include <llvm-c/Types.h>

#include "base/text.h"

/* A context whose errors become lines of log. To be disposed of by the caller. */
LLVMContextRef bitcode_context(struct text *log);

/* NULL if there is no module in bytes that this LLVM can read. They are used as long as the
 * module lives. */
LLVMModuleRef bitcode_read(LLVMContextRef context, const void *bytes, size_t size);

/* Adds the module to bytes. */
void bitcode_write(LLVMModuleRef module, struct text *bytes);

#endif
