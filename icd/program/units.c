/* Programs whose units are compiled in the background. See units.h. */
#include "icd/program/units.h"

#include <stdlib.h>
#include <string.h>

/* ---- builds ------------------------------------------------------------------------- */

bool icd_units_make(struct cc_background *background, struct icd_units *units) {
  size_t count;
  const struct cc_planned_kernel *kernels = cc_background_kernels(background, &count);
  *units = (struct icd_units){.background = background,
                              .count = count ? kernels[count - 1].unit + (size_t)1 : 1};
  units->modules = calloc(units->count, sizeof(struct icd_module *));
  if (!units->modules)
    icd_units_drop(units);
  return units->modules != NULL;
}

void icd_units_drop(struct icd_units *units) {
  if (!units->background)
    return;
  cc_background_cancel(units->background);
  cc_background_drop(units->background);
  for (size_t i = 0; units->modules && i < units->count; i++)
    icd_module_drop(units->modules[i]);
  free(units->modules);
  *units = (struct icd_units){0};
}

/* Cancels the background build if nothing can use it any longer. The caller holds the program's
 * lock. */
static void cancel_if_abandoned(cl_program program) {
  if (program->units.background && !program->kernels && !atomic_load(&program->object.handles))
    cc_background_cancel(program->units.background);
}

void icd_program_released(cl_program program) {
  base_mutex_lock(&program->lock);
  cancel_if_abandoned(program);
  base_mutex_unlock(&program->lock);
}

void icd_program_remove_kernel(cl_program program) {
  base_mutex_lock(&program->lock);
  program->kernels--;
  cancel_if_abandoned(program);
  base_mutex_unlock(&program->lock);
}

/* Stores the binary or the log of the build in the program. The caller holds the program's lock. */
static void store_result(cl_program program, enum cc_status status, struct cc_result *result) {
  program->units.settled = true;
  if (status == CC_OK) {
    free(program->binary); /* the object that it was built from */
    program->binary = result->binary;
    program->binary_size = result->binary_size;
    result->binary = NULL;
    return; /* the log has been complete since clBuildProgram */
  }
  free(program->log);
  program->log = result->log;
  result->log = NULL;
  program->status = CL_BUILD_ERROR;
  program->binary_type = program->units.binary_type;
}

void icd_program_settle(cl_program program, bool wait) {
  base_mutex_lock(&program->lock);
  struct cc_background *background = program->units.settled ? NULL : program->units.background;
  if (background)
    cc_background_hold(background);
  base_mutex_unlock(&program->lock);
  if (background && (wait || cc_background_has_ended(background))) {
    struct cc_result *result;
    const enum cc_status status = cc_background_wait(background, &result);
    base_mutex_lock(&program->lock);
    if (program->units.background == background && !program->units.settled)
      store_result(program, status, result);
    base_mutex_unlock(&program->lock);
  }
  cc_background_drop(background);
}

/* ---- kernels -------------------------------------------------------------------------- */

bool icd_kernels_get(cl_program program, struct icd_kernels *kernels) {
  *kernels = (struct icd_kernels){.module = program->module};
  if (kernels->module) {
    icd_module_hold(kernels->module);
    kernels->count = kernels->module->code->kernel_count;
  } else if (program->units.background) {
    kernels->background = program->units.background;
    cc_background_hold(kernels->background);
    kernels->planned = cc_background_kernels(kernels->background, &kernels->count);
  }
  return kernels->module || kernels->background;
}

void icd_kernels_drop(struct icd_kernels *kernels) {
  icd_module_drop(kernels->module);
  cc_background_drop(kernels->background);
}

const char *icd_kernels_name(const struct icd_kernels *kernels, size_t i) {
  return kernels->module ? kernels->module->code->kernels[i].name : kernels->planned[i].name;
}

/* Returns the module at *place with a reference, or NULL if there is none. */
static struct icd_module *get_module(cl_program program, struct icd_module *const *place) {
  base_mutex_lock(&program->lock);
  struct icd_module *module = *place;
  if (module)
    icd_module_hold(module);
  base_mutex_unlock(&program->lock);
  return module;
}

/* Creates the module of a program binary and stores it at *place, unless another thread has done
 * so. The caller gets a reference. */
static cl_int make_module(cl_program program, struct icd_module **place, const void *binary,
                          size_t size, const char *call, struct icd_module **module) {
  char why[512] = "out of host memory";
  cl_int code = CL_OUT_OF_RESOURCES;
  struct icd_module *made = NULL;
  if (icd_module_place(program->context, binary, size, &made, &code, why, sizeof(why)) != CC_OK)
    code = CL_OUT_OF_RESOURCES;
  if (code)
    return icd_fail(program->context, code, call, "%s", why);
  base_mutex_lock(&program->lock);
  struct icd_module *unused = *place ? made : NULL;
  if (!*place)
    *place = made;
  *module = *place;
  icd_module_hold(*module);
  base_mutex_unlock(&program->lock);
  icd_module_drop(unused);
  return CL_SUCCESS;
}

static cl_int find_in_module(cl_program program, struct icd_module *module, const char *name,
                             const char *call, uint32_t *index) {
  for (*index = 0; *index < module->code->kernel_count; ++*index)
    if (strcmp(module->code->kernels[*index].name, name) == 0)
      return CL_SUCCESS;
  icd_module_drop(module);
  return icd_fail(program->context, CL_OUT_OF_RESOURCES, call,
                  "the compiler's binary lacks kernel %s, which its plan lists", name);
}

/* Finds a kernel whose unit was not built, because the program may have been built as one module
 * instead. */
static cl_int use_whole_program(cl_program program, const char *name, const char *call,
                                struct icd_module **module, uint32_t *index) {
  icd_program_settle(program, true);
  if (program->status != CL_BUILD_SUCCESS)
    return icd_fail(program->context, CL_OUT_OF_RESOURCES, call, "kernel %s was not compiled: %s",
                    name, program->log ? program->log : "out of host memory");
  *module = get_module(program, &program->module);
  const cl_int code = *module ? CL_SUCCESS
                              : make_module(program, &program->module, program->binary,
                                            program->binary_size, call, module);
  return code ? code : find_in_module(program, *module, name, call, index);
}

cl_int icd_kernels_module(cl_program program, const struct icd_kernels *kernels, size_t i,
                          const char *call, struct icd_module **module, uint32_t *index) {
  if (kernels->module) {
    *module = kernels->module;
    *index = (uint32_t)i;
    icd_module_hold(*module);
    return CL_SUCCESS;
  }
  const struct cc_planned_kernel *kernel = &kernels->planned[i];
  struct icd_module **place = &program->units.modules[kernel->unit];
  void *binary;
  size_t size;
  *module = get_module(program, place);
  if (*module)
    return find_in_module(program, *module, kernel->name, call, index);
  const enum cc_status status =
      cc_background_unit(kernels->background, kernel->unit, &binary, &size);
  if (status == CC_OUT_OF_MEMORY)
    return icd_fail(program->context, CL_OUT_OF_HOST_MEMORY, call, "out of host memory");
  if (status != CC_OK)
    return use_whole_program(program, kernel->name, call, module, index);
  const cl_int code = make_module(program, place, binary, size, call, module);
  free(binary);
  return code ? code : find_in_module(program, *module, kernel->name, call, index);
}
