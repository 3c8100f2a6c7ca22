/* Links the LLVM modules of compiled objects. */
#include "compiler/frontend/link.h"

#include <llvm-c/Analysis.h>
#include <llvm-c/Core.h>
#include <llvm-c/Linker.h>

#include "compiler/client/object.h"
#include "compiler/frontend/bitcode.h"

static bool add_options(const struct object *object, struct options *parts, struct text *log) {
  struct options part;
  const bool sound = options_parse(object->options, OPTIONS_BUILD | OPTIONS_LIBRARY, &part, log);
  if (object->kind == CC_BINARY_OBJECT)
    part.effects |= OPTION_ENABLE_LINK;
  options_join(parts, &part);
  options_finish(&part);
  return sound;
}

static enum cc_status add_object(LLVMModuleRef whole, const struct cc_source *source,
                                 struct options *parts, struct text *log) {
  struct object object;
  LLVMModuleRef module = NULL;
  if (cc_object_read(source->text, source->size, &object))
    module = bitcode_read(LLVMGetModuleContext(whole), object.bitcode, object.bitcode_size);
  if (!module) {
    text_puts(log, "error: an input of the link is not a compiled object, or was made by another "
                   "version of LLVM\n");
    return CC_INVALID_BINARY;
  }
  /* LLVM's reader accepts modules that violate rules on which other parts of LLVM rely. */
  char *why = NULL;
  const bool is_sound = !LLVMVerifyModule(module, LLVMReturnStatusAction, &why);
  if (!is_sound) {
    text_printf(log, "error: an input of the link is damaged: %s\n", why);
    LLVMDisposeModule(module);
  }
  LLVMDisposeMessage(why);
  if (!is_sound)
    return CC_INVALID_BINARY;
  LLVMSetDataLayout(whole, LLVMGetDataLayoutStr(module));
  LLVMSetTarget(whole, LLVMGetTarget(module));
  if (LLVMLinkModules2(whole, module))
    return CC_BUILD_FAILURE;
  return add_options(&object, parts, log) ? CC_OK : CC_INVALID_BINARY;
}

enum cc_status link_objects(const struct cc_job *job, struct text *bitcode, struct options *options,
                            struct text *log) {
  struct options parts = {.effects = OPTIONS_SHARED};
  enum cc_status status = CC_OK;
  LLVMContextRef context = bitcode_context(log);
  LLVMModuleRef whole = LLVMModuleCreateWithNameInContext("linked", context);
  for (size_t i = 0; i < job->source_count && status == CC_OK; i++)
    status = add_object(whole, &job->sources[i], &parts, log);
  if (status == CC_OK)
    bitcode_write(whole, bitcode);
  /* Relaxations of the link apply to all of the code or none: NVRTC
   * has no options for single functions. */
  if (!(parts.effects & OPTION_ENABLE_LINK))
    options->effects &= ~(unsigned)OPTIONS_SHARED;
  options->effects |= parts.effects & ~(unsigned)OPTION_ENABLE_LINK;
  if (!options->max_registers)
    options->max_registers = parts.max_registers;
  LLVMDisposeModule(whole);
  LLVMContextDispose(context);
  return status == CC_OK && bitcode->failed ? CC_OUT_OF_MEMORY : status;
}
