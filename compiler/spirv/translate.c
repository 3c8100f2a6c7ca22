/* Translates SPIR-V modules: spirv-val checks them, and llvm-spirv translates them to LLVM IR for
 * SPIR. This IR is adapted to clang's target: address spaces have other numbers, and convergence,
 * which SPIR-V does not express, is added. It is then optimised like IR from clang. */
#include "compiler/spirv/translate.h"

#include <llvm-c/Core.h>
#include <llvm-c/DebugInfo.h>
#include <llvm-c/IRReader.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compiler/find.h"
#include "compiler/frontend/bitcode.h"
#include "compiler/frontend/command.h"
#include "compiler/frontend/frontend.h"
#include "compiler/frontend/optimise.h"
#include "compiler/lower/lower.h"
#include "compiler/spirv/spirv.h"

/* ---- from SPIR to clang's target ------------------------------------------------------ */

/* Maps SPIR's address spaces (clang's SPIRDefIsPrivMap) to those of the target. Generic pointers
 * get a number that clang's NVPTX map does not use and lower*.c treats like 0. They cannot get 0,
 * which is SPIR's private memory: LLVM does not allow casts between equal spaces. */
static unsigned target_space(unsigned space) {
  enum { SPIR_CONSTANT = 2, SPIR_GENERIC = 4, NVPTX_CONSTANT = 4, OTHER_GENERIC = 5 };
  return space == SPIR_CONSTANT ? NVPTX_CONSTANT : space == SPIR_GENERIC ? OTHER_GENERIC : space;
}

static void add_attribute(LLVMValueRef function, const char *name) {
  const unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
  LLVMContextRef context = LLVMGetModuleContext(LLVMGetGlobalParent(function));
  LLVMAddAttributeAtIndex(function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                          LLVMCreateEnumAttribute(context, kind, 0));
}

static bool is_pure(LLVMValueRef function) {
  static const char name[] = "readnone";
  const unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
  return LLVMGetEnumAttributeAtIndex(function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                                     kind) != NULL;
}

/* As in OpenCL C, any function may be a barrier or communicate with other lanes. The
 * optimiser finds out which functions of the program do not. */
static void mark_convergent(LLVMModuleRef module) {
  for (LLVMValueRef at = LLVMGetFirstFunction(module); at; at = LLVMGetNextFunction(at))
    if (!LLVMGetIntrinsicID(at) && !(LLVMIsDeclaration(at) && is_pure(at)))
      add_attribute(at, "convergent");
}

/* Corrects the calling convention of calls of kernels. The translator sets a
 * wrong one, which is undefined behaviour in LLVM. */
static void mend_calls(LLVMModuleRef module) {
  for (LLVMValueRef at = LLVMGetFirstFunction(module); at; at = LLVMGetNextFunction(at))
    for (LLVMUseRef use = LLVMGetFirstUse(at); use; use = LLVMGetNextUse(use)) {
      LLVMValueRef user = LLVMGetUser(use);
      if (LLVMIsACallInst(user) && LLVMGetCalledValue(user) == at)
        LLVMSetInstructionCallConv(user, LLVMGetFunctionCallConv(at));
    }
}

/* Keeps unused definitions with LinkOnceODR linkage, because other modules may rely on them. */
static void keep_shared(LLVMValueRef value) {
  if (LLVMGetLinkage(value) == LLVMLinkOnceODRLinkage)
    LLVMSetLinkage(value, LLVMWeakODRLinkage);
}

static void keep_all_shared(LLVMModuleRef module) {
  for (LLVMValueRef at = LLVMGetFirstFunction(module); at; at = LLVMGetNextFunction(at))
    keep_shared(at);
  for (LLVMValueRef at = LLVMGetFirstGlobal(module); at; at = LLVMGetNextGlobal(at))
    keep_shared(at);
}

/* Adds each kernel's number of sub-groups as metadata, which the translator omits. */
static void note_sub_groups(LLVMModuleRef module, const uint32_t *words, size_t count) {
  LLVMContextRef context = LLVMGetModuleContext(module);
  const unsigned kind =
      LLVMGetMDKindIDInContext(context, LOWER_SUB_GROUPS, sizeof LOWER_SUB_GROUPS - 1);
  for (LLVMValueRef at = LLVMGetFirstFunction(module); at; at = LLVMGetNextFunction(at)) {
    const bool is_kernel = LLVMGetFunctionCallConv(at) == LLVMSPIRKERNELCallConv;
    const uint32_t number = is_kernel ? spirv_sub_groups(words, count, LLVMGetValueName(at)) : 0;
    LLVMMetadataRef value =
        LLVMValueAsMetadata(LLVMConstInt(LLVMInt32TypeInContext(context), number, 0));
    if (number)
      LLVMGlobalSetMetadata(at, kind, LLVMMDNodeInContext2(context, &value, 1));
  }
}

/* Copies IR as text and replaces the numbers of address spaces, in addrspace(N)
 * and in names of intrinsics (.pN), but not in strings. */
static void renumber_spaces(const char *ir, struct text *out) {
  static const char space[] = "addrspace(", intrinsic[] = "@llvm.";
  enum { SPACE = sizeof space - 1, INTRINSIC = sizeof intrinsic - 1 };
  bool in_string = false, in_intrinsic = false;
  const char *done = ir;
  for (const char *at = ir; *at; at++) {
    in_string ^= *at == '"';
    if (in_string)
      continue;
    if (!strncmp(at, intrinsic, INTRINSIC))
      in_intrinsic = true;
    else if (*at == '(')
      in_intrinsic = false;
    const bool is_space = !strncmp(at, space, SPACE);
    const char *digit = is_space ? at + SPACE : at + 2;
    if (!is_space && !(in_intrinsic && at[0] == '.' && at[1] == 'p'))
      continue;
    if (*digit < '0' || *digit > '9' || (digit[1] >= '0' && digit[1] <= '9'))
      continue;
    text_add(out, done, (size_t)(digit - done));
    text_printf(out, "%u", target_space((unsigned)(*digit - '0')));
    done = digit + 1;
    at = digit;
  }
  text_puts(out, done);
}

static LLVMModuleRef read_text(LLVMContextRef context, const struct text *ir, struct text *log) {
  LLVMModuleRef module = NULL;
  char *why = NULL;
  LLVMMemoryBufferRef buffer =
      LLVMCreateMemoryBufferWithMemoryRange(ir->data, ir->size, "renumbered", true);
  if (!LLVMParseIRInContext(context, buffer, &module, &why))
    return module;
  text_printf(log, "error: %s\n", why);
  LLVMDisposeMessage(why);
  return NULL;
}

static enum cc_status adapt(const struct text *spir, const uint32_t *spirv, size_t count,
                            struct text *bitcode, struct text *log) {
  struct text ir = {0};
  enum cc_status status = CC_INTERNAL_ERROR;
  LLVMContextRef context = bitcode_context(log);
  LLVMModuleRef module = bitcode_read(context, spir->data, spir->size);
  if (!module) {
    text_puts(log, "error: cannot read the bitcode of llvm-spirv; it may be newer than the LLVM "
                   "that tegraclc was built with\n");
    goto done;
  }
  mark_convergent(module);
  mend_calls(module);
  keep_all_shared(module);
  note_sub_groups(module, spirv, count);
  char *words = LLVMPrintModuleToString(module);
  renumber_spaces(words, &ir);
  LLVMDisposeMessage(words);
  LLVMDisposeModule(module);
  module = ir.failed ? NULL : read_text(context, &ir, log);
  if (module && optimise_adopt(module, log)) {
    bitcode_write(module, bitcode);
    status = bitcode->failed ? CC_OUT_OF_MEMORY : CC_OK;
  }
  if (module)
    LLVMDisposeModule(module);

done:
  text_finish(&ir);
  LLVMContextDispose(context);
  return status;
}

/* ---- the commands --------------------------------------------------------------------- */

/* Removes debug information. Returns false if out of memory. */
static bool drop_debug(uint32_t *words, size_t *count) {
  return spirv_drop_sets(words, count, "OpenCL.DebugInfo.") &&
         spirv_drop_sets(words, count, "SPIRV.debug");
}

/* Runs the command with the bytes as its input, and frees the command. */
static enum cc_status feed(struct command *command, const void *bytes, size_t size,
                           struct text *output, struct text *log) {
  const int input = command_input();
  enum cc_status status = CC_OUT_OF_MEMORY;
  if (input >= 0 && command_write(input, bytes, size))
    status = command_run(command, input, output, log);
  if (input >= 0)
    close(input);
  command_finish(command);
  return status;
}

/* Validates a module. Because modules from clang and its translators violate some rules without
 * harm, spirv-val gets a copy
 * - with sorted blocks, one sampler type, one phi entry for each predecessor, and the corrections
 * of spirv_mend,
 * - without merge instructions, because kernels need no structured control flow,
 * - without debug information, because the two tools disagree about return types in it. */
static enum cc_status validate(const char *tool, const struct cc_source *module, struct text *log) {
  struct command command = {0};
  struct text output = {0};
  enum cc_status status = CC_OUT_OF_MEMORY;
  uint32_t *words = malloc(module->size), *mended = NULL, *checked = NULL;
  if (!words)
    return status;
  memcpy(words, module->text, module->size);
  size_t count = spirv_drop_merges(words, module->size / sizeof *words);
  count = spirv_join_samplers(words, count);
  command_add(&command, "%s", tool);
  command_add(&command, "--target-env");
  command_add(&command, "spv1.%u", spirv_minor(words));
  if (drop_debug(words, &count) && spirv_order(words, count) &&
      (mended = spirv_mend(words, &count)) && (checked = spirv_phis(mended, &count, false)))
    status = feed(&command, checked, count * sizeof *words, &output, log);
  text_add(log, output.data ? output.data : "", output.size);
  text_finish(&output);
  command_finish(&command);
  free(checked);
  free(mended);
  free(words);
  return status;
}

static bool replace_words(uint32_t **words, uint32_t *with) {
  free(*words);
  *words = with;
  return with;
}

static enum cc_status translate(const char *tool, const struct cc_source *module, bool arg_info,
                                struct text *bitcode, struct text *log) {
  struct command command = {0};
  command_add(&command, "%s", tool);
  command_add(&command, "-r");
  /* Name built-in functions as in OpenCL C. */
  command_add(&command, "--spirv-target-env=CL2.0");
  command_add(&command, "--spirv-ext=+all");
  if (arg_info)
    command_add(&command, "--spirv-gen-kernel-arg-name-md");
  command_add(&command, "/dev/stdin");
  command_add(&command, "-o");
  command_add(&command, "-");
  const enum cc_status status = feed(&command, module->text, module->size, bitcode, log);
  if (status == CC_BUILD_FAILURE)
    text_puts(log, "error: cannot translate the SPIR-V module\n");
  return status;
}

static enum cc_status make_bitcode(const char *tool, const uint32_t *words, size_t count,
                                   bool arg_info, struct text *bitcode, struct text *log) {
  const struct cc_source module = {(const char *)words, count * sizeof *words};
  struct text spir = {0};
  enum cc_status status = translate(tool, &module, arg_info, &spir, log);
  if (status == CC_OK)
    status = adapt(&spir, words, count, bitcode, log);
  text_finish(&spir);
  return status;
}

/* Translates a valid module. Its debug information has not been checked,
 * and is removed if it cannot be translated. */
static enum cc_status make_any_bitcode(const char *tool, uint32_t *words, size_t count,
                                       bool arg_info, struct text *bitcode, struct text *log) {
  struct text messages = {0};
  size_t without = count;
  enum cc_status status = make_bitcode(tool, words, count, arg_info, bitcode, &messages);
  if (status != CC_OK && status != CC_OUT_OF_MEMORY && drop_debug(words, &without) &&
      without < count) {
    text_finish(&messages);
    messages = (struct text){0};
    text_puts(&messages, "warning: cannot translate the module's debug information\n");
    status = make_bitcode(tool, words, without, arg_info, bitcode, &messages);
  }
  text_add(log, messages.data ? messages.data : "", messages.size);
  text_finish(&messages);
  return status;
}

enum cc_status translate_run(const struct cc_job *job, const struct options *options,
                             struct text *output, struct text *log) {
  char validator[CC_PATH_MAX], translator[CC_PATH_MAX];
  const struct cc_source *source = &job->sources[0];
  uint32_t *words = NULL;
  const char *why;

  if (!cc_find_spirv_tools(validator, translator)) {
    text_puts(log, "error: SPIR-V requires the commands spirv-val and llvm-spirv (Debian, Ubuntu: "
                   "apt install spirv-tools llvm-spirv-15)\n");
    return CC_NOT_AVAILABLE;
  }
  enum cc_status status = cc_il_read(source->text, source->size, &words, &why);
  if (status != CC_OK) {
    text_printf(log, "error: %s\n", why);
    return status == CC_INVALID_BINARY ? CC_BUILD_FAILURE : status;
  }
  size_t count = source->size / sizeof *words;
  const bool matrices =
      frontend_has_word(job->device->extensions, CC_MATRIX_EXTENSION, strlen(CC_MATRIX_EXTENSION));
  if (!spirv_check(words, count, matrices, log))
    status = CC_BUILD_FAILURE;
  count = spirv_drop_aliasing(words, count);
  if (status == CC_OK && !spirv_plain(words, &count))
    status = CC_OUT_OF_MEMORY;
  if (status == CC_OK)
    status = spirv_matrices(&words, &count, log);
  const struct cc_source module = {(const char *)words, count * sizeof *words};
  if (status == CC_OK)
    status = validate(validator, &module, log);
  if (status == CC_OK &&
      !(spirv_reword(&words, &count) && replace_words(&words, spirv_load_builtins(words, &count)) &&
        replace_words(&words, spirv_phis(words, &count, true))))
    status = CC_OUT_OF_MEMORY;
  if (status == CC_OK)
    status =
        make_any_bitcode(translator, words, count, options->effects & OPTION_ARG_INFO, output, log);
  free(words);
  return status;
}
