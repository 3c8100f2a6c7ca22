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

/* Holds what icd_kernels_drop releases. False if the program has not been built. The program's
 * lock is held. */
bool icd_kernels_get(cl_program program, struct icd_kernels *kernels);
void icd_kernels_drop(struct icd_kernels *kernels);
const char *icd_kernels_name(const struct icd_kernels *kernels, size_t i);

/* The module of kernel i, with a reference for the caller, and the kernel's index in it. Waits
 * until the kernel's unit is compiled; CL_OUT_OF_RESOURCES if that fails. No build of the program
 * may begin meanwhile: the caller is counted in program->kernels. */
cl_int icd_kernels_module(cl_program program, const struct icd_kernels *kernels, size_t i,
                          const char *call, struct icd_module **module, uint32_t *index);

/* Moves the result of the background build into the program if the build has ended; wait: waits
 * for its end. The caller does not hold the program's lock. */
void icd_program_settle(cl_program program, bool wait);

/* Cancels the rest of the background build, if there is one. */
void icd_program_abandon(cl_program program);

/* The units of a build that was accepted, whose reference they take over, on failure too. False:
 * no memory. */
bool icd_units_make(struct cc_background *background, struct icd_units *units);
/* Cancels the build, too. */
void icd_units_drop(struct icd_units *units);

#endif
