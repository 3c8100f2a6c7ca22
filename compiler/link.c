/* Links the LLVM modules of compiled objects. */
#include "compiler/link.h"

#include <ctype.h>
#include <llvm-c/BitReader.h>
#include <llvm-c/BitWriter.h>
#include <llvm-c/Core.h>
#include <llvm-c/Linker.h>
#include <string.h>

#include "compiler/object.h"

/* Options that are said when everything else about them has been done. */
static const char *const link_only[] = {"-create-library", "-enable-link-options"};

static bool is_link_only(const char *word, size_t size) {
  for (size_t i = 0; i < sizeof link_only / sizeof link_only[0]; i++)
    if (strlen(link_only[i]) == size && !memcmp(word, link_only[i], size))
      return true;
  return false;
}

static void add_options(struct text *options, const char *words) {
  while (*words) {
    size_t size = 0;
    while (words[size] && !isspace((unsigned char)words[size]))
      size++;
    if (!is_link_only(words, size))
      text_add(options, words, size);
    text_add(options, " ", 1);
    words += size + (words[size] != 0);
  }
  text_add(options, " ", 1);
}

static void report(LLVMDiagnosticInfoRef info, void *log) {
  char *words = LLVMGetDiagInfoDescription(info);
  text_printf(log, "error: %s\n", words);
  LLVMDisposeMessage(words);
}

/* The module of an object. NULL if it cannot be read. */
static LLVMModuleRef read_module(LLVMContextRef context, const struct object *object) {
  LLVMModuleRef module = NULL;
  LLVMMemoryBufferRef buffer =
      LLVMCreateMemoryBufferWithMemoryRangeCopy(object->bitcode, object->bitcode_size, "object");
  if (LLVMParseBitcodeInContext2(context, buffer, &module))
    module = NULL;
  LLVMDisposeMemoryBuffer(buffer);
  return module;
}

static enum cc_status add_object(LLVMModuleRef whole, const struct cc_source *source,
                                 struct text *options, struct text *log) {
  struct object object;
  LLVMModuleRef module = NULL;
  if (cc_object_read(source->text, source->size, &object))
    module = read_module(LLVMGetModuleContext(whole), &object);
  if (!module) {
    text_puts(log, "error: a program to be linked is no compiled object, or one of another "
                   "version of LLVM\n");
    return CC_INVALID_BINARY;
  }
  LLVMSetDataLayout(whole, LLVMGetDataLayoutStr(module));
  LLVMSetTarget(whole, LLVMGetTarget(module));
  add_options(options, object.options);
  return LLVMLinkModules2(whole, module) ? CC_BUILD_FAILURE : CC_OK;
}

enum cc_status link_objects(const struct cc_job *job, struct text *bitcode, struct text *options,
                            struct text *log) {
  enum cc_status status = CC_OK;
  LLVMContextRef context = LLVMContextCreate();
  LLVMContextSetDiagnosticHandler(context, report, log);
  LLVMModuleRef whole = LLVMModuleCreateWithNameInContext("linked", context);
  for (size_t i = 0; i < job->source_count && status == CC_OK; i++)
    status = add_object(whole, &job->sources[i], options, log);
  if (status == CC_OK) {
    add_options(options, job->options ? job->options : "");
    LLVMMemoryBufferRef buffer = LLVMWriteBitcodeToMemoryBuffer(whole);
    text_add(bitcode, LLVMGetBufferStart(buffer), LLVMGetBufferSize(buffer));
    LLVMDisposeMemoryBuffer(buffer);
  }
  LLVMDisposeModule(whole);
  LLVMContextDispose(context);
  return status == CC_OK && (bitcode->failed || options->failed) ? CC_OUT_OF_MEMORY : status;
}
