/* LLVM modules in memory; see bitcode.h. */
#include "compiler/frontend/bitcode.h"

#include <llvm-c/BitReader.h>
#include <llvm-c/BitWriter.h>
#include <llvm-c/Core.h>

static void log_error(LLVMDiagnosticInfoRef info, void *log) {
  if (LLVMGetDiagInfoSeverity(info) != LLVMDSError)
    return;
  char *words = LLVMGetDiagInfoDescription(info);
  text_printf(log, "error: %s\n", words);
  LLVMDisposeMessage(words);
}

LLVMContextRef bitcode_context(struct text *log) {
  LLVMContextRef context = LLVMContextCreate();
#if TEGRACL_LLVM_MAJOR < 17 /* LLVM 17 has only opaque pointers */
  LLVMContextSetOpaquePointers(context, true);
#endif
  LLVMContextSetDiagnosticHandler(context, log_error, log);
  return context;
}

LLVMModuleRef bitcode_read(LLVMContextRef context, const void *bytes, size_t size) {
  LLVMModuleRef module = NULL;
  LLVMMemoryBufferRef buffer = LLVMCreateMemoryBufferWithMemoryRange(bytes, size, "bitcode", false);
  if (LLVMParseBitcodeInContext2(context, buffer, &module))
    module = NULL;
  LLVMDisposeMemoryBuffer(buffer);
  return module;
}

void bitcode_write(LLVMModuleRef module, struct text *bytes) {
  LLVMMemoryBufferRef buffer = LLVMWriteBitcodeToMemoryBuffer(module);
  text_add(bytes, LLVMGetBufferStart(buffer), LLVMGetBufferSize(buffer));
  LLVMDisposeMemoryBuffer(buffer);
}
