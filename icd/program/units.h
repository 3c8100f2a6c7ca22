/* The kernels of a program, and the modules that have their code: one module, or one for each unit
 * of a program whose units are compiled in the background (docs/architecture.md, "Units"). */
#ifndef TEGRACL_ICD_UNITS_H
#define TEGRACL_ICD_UNITS_H

#include "icd/objects.h"

/* The kernels of a built program. */
struct icd_kernels {
  struct icd_module *module;        /* held; NULL: the program has units */
  struct cc_background *background; /* held; NULL: it has a module */
  const struct cc_planned_kernel *planned;
  size_t count;
};

/* False if the program has not been built. The program's lock is held. */
bool icd_kernels_get(cl_program program, struct icd_kernels *kernels);
void icd_kernels_drop(struct icd_kernels *kernels);
const char *icd_kernels_name(const struct icd_kernels *kernels, size_t i);

/* The module, which the caller holds then, that has the kernel, and its number there. Waits for
 * the kernel's unit. CL_OUT_OF_RESOURCES if that cannot be compiled. */
cl_int icd_kernels_module(cl_program program, const struct icd_kernels *kernels, size_t i,
                          const char *call, struct icd_module **module, uint32_t *index);

/* Takes over what the build in the background gave, if that has ended; wait: when it has. Without
 * the program's lock. */
void icd_program_settle(cl_program program, bool wait);

/* What is left of the build in the background is not needed any more. */
void icd_program_abandon(cl_program program);

/* Of a build whose units are accepted, which is the units' then. False: no memory. */
bool icd_units_make(struct cc_background *background, struct icd_units *units);
/* Ends the build as well. */
void icd_units_drop(struct icd_units *units);

#endif
