/* Modules: the code of one build in the context's memory, shared by a program and its kernels.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "icd/context/retire.h"

int icd_module_create(cl_context context, struct module_code *code, struct icd_module **module) {
  struct icd_module *made = calloc(1, sizeof(*made));
  int error = made ? rt_module_create(context->rt, code, &made->rt) : -ENOMEM;
  if (made && icd_context_make_room(context, error))
    error = rt_module_create(context->rt, code, &made->rt);
  if (error) {
    free(made);
    cc_module_free(code);
    return error;
  }
  atomic_init(&made->references, 1);
  made->code = code;
  made->context = context;
  icd_context_hold(context);
  *module = made;
  return 0;
}

enum cc_status icd_module_place(cl_context context, const void *binary, size_t size,
                                struct icd_module **module, cl_int *code, char *why,
                                size_t why_size) {
  struct module_code *read = NULL;
  const enum cc_status status = cc_module_read(binary, size, &read, why, why_size);
  if (status != CC_OK)
    return status;
  const int error = icd_module_create(context, read, module);
  *code = icd_code(error, CL_OUT_OF_RESOURCES);
  if (error)
    snprintf(why, why_size, "%s", rt_last_message());
  return CC_OK;
}

void icd_module_hold(struct icd_module *module) {
  atomic_fetch_add_explicit(&module->references, 1, memory_order_relaxed);
}

static void destroy_module(void *owner) {
  struct icd_module *module = owner;
  cl_context context = module->context;
  rt_module_destroy(module->rt);
  cc_module_free(module->code);
  free(module);
  icd_context_drop(context);
}

void icd_module_drop(struct icd_module *module) {
  if (module && atomic_fetch_sub_explicit(&module->references, 1, memory_order_acq_rel) == 1)
    icd_retire(module->context, &module->retired, destroy_module, module);
}
