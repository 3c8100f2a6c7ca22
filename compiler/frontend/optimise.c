/* Runs LLVM's optimiser; see optimise.h. */
#include "compiler/frontend/optimise.h"

#include <llvm-c/Core.h>
#include <llvm-c/Support.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "compiler/frontend/bitcode.h"
#include "compiler/frontend/frontend.h"
#include "compiler/lower/lower_state.h"

static void set_up_llvm(void) {
  /* LLVM would merge calls of a sub-group function in both branches of a condition into one
   * call outside of the condition, where all lanes are active. */
  static const char *const words[] = {"tegraclc", "-simplifycfg-hoist-common=false",
                                      "-simplifycfg-sink-common=false"};
  LLVMParseCommandLineOptions(sizeof words / sizeof words[0], words, "");
  LLVMInitializeNVPTXTargetInfo();
  LLVMInitializeNVPTXTarget();
  LLVMInitializeNVPTXTargetMC();
}

static LLVMTargetMachineRef make_machine(struct text *log) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, set_up_llvm);
  LLVMTargetRef target = NULL;
  char *why = NULL;
  if (LLVMGetTargetFromTriple(FRONTEND_TARGET, &target, &why)) {
    text_printf(log, "error: %s\n", why);
    LLVMDisposeMessage(why);
    return NULL;
  }
  return LLVMCreateTargetMachine(target, FRONTEND_TARGET, "", "", LLVMCodeGenLevelDefault,
                                 LLVMRelocDefault, LLVMCodeModelDefault);
}

bool optimise_adopt(LLVMModuleRef module, struct text *log) {
  LLVMTargetMachineRef machine = make_machine(log);
  if (!machine)
    return false;
  LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(machine);
  LLVMSetTarget(module, FRONTEND_TARGET);
  LLVMSetModuleDataLayout(module, layout);
  LLVMDisposeTargetData(layout);
  LLVMDisposeTargetMachine(machine);
  return true;
}

/* Makes functions internal. In OpenCL C every function that is not static is
 * external, and hashcat's headers contain hundreds of them. */
static void make_functions_internal(LLVMModuleRef module) {
  for (LLVMValueRef at = LLVMGetFirstFunction(module); at; at = LLVMGetNextFunction(at))
    if (!LLVMIsDeclaration(at) && !lower_is_kernel(at))
      LLVMSetLinkage(at, LLVMInternalLinkage);
}

static bool has_attribute(LLVMValueRef function, const char *name) {
  const unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
  return LLVMGetEnumAttributeAtIndex(function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                                     kind) != NULL;
}

/* Makes inline functions linkable: an inline function may be defined in a header that several
 * parts of a program include, and nowhere else, regardless of the rules of C99 or GNU C89. */
static void share_inline(LLVMModuleRef module) {
  for (LLVMValueRef at = LLVMGetFirstFunction(module); at; at = LLVMGetNextFunction(at)) {
    const LLVMLinkage linkage = LLVMGetLinkage(at);
    const bool is_inline = has_attribute(at, "inlinehint") || has_attribute(at, "alwaysinline");
    if (linkage == LLVMAvailableExternallyLinkage ||
        (linkage == LLVMExternalLinkage && is_inline && !LLVMIsDeclaration(at)))
      LLVMSetLinkage(at, LLVMWeakODRLinkage);
  }
}

/* Uses clang's settings for this target: loops are not vectorised. */
static bool run_passes(LLVMModuleRef module, unsigned level, struct text *log) {
  LLVMTargetMachineRef machine = make_machine(log);
  if (!machine)
    return false;
  char passes[32];
  /* Constructors in C++ must be evaluated at build time if possible. */
  if (!level && LLVMGetNamedGlobal(module, "llvm.global_ctors"))
    level = 1;
  snprintf(passes, sizeof passes, "globaldce,default<O%u>", level);
  LLVMPassBuilderOptionsRef settings = LLVMCreatePassBuilderOptions();
  LLVMPassBuilderOptionsSetLoopVectorization(settings, false);
  LLVMPassBuilderOptionsSetSLPVectorization(settings, false);
  LLVMPassBuilderOptionsSetLoopInterleaving(settings, level > 1);
  LLVMPassBuilderOptionsSetLoopUnrolling(settings, level > 1);
  LLVMErrorRef error = LLVMRunPasses(module, passes, machine, settings);
  if (error) {
    char *words = LLVMGetErrorMessage(error);
    text_printf(log, "error: %s\n", words);
    LLVMDisposeErrorMessage(words);
  }
  LLVMDisposePassBuilderOptions(settings);
  LLVMDisposeTargetMachine(machine);
  return !error;
}

enum cc_status optimise_run(const struct text *bitcode, unsigned level, bool whole,
                            enum optimise_output kind, struct text *output, struct text *log) {
  LLVMContextRef context = bitcode_context(log);
  LLVMModuleRef module = bitcode_read(context, bitcode->data, bitcode->size);
  enum cc_status status = CC_INTERNAL_ERROR;
  if (!module) {
    text_puts(log, "error: cannot read clang's bitcode; clang may be newer than the LLVM that "
                   "tegraclc was built with\n");
  } else {
    share_inline(module);
    if (whole)
      make_functions_internal(module);
    if (run_passes(module, level, log))
      status = CC_OK;
    if (kind == OPTIMISE_BITCODE) {
      bitcode_write(module, output);
    } else {
      char *text = LLVMPrintModuleToString(module);
      text_puts(output, text);
      LLVMDisposeMessage(text);
    }
    LLVMDisposeModule(module);
  }
  LLVMContextDispose(context);
  return status == CC_OK && output->failed ? CC_OUT_OF_MEMORY : status;
}
