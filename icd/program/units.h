/* The kernels of a program and the modules with their code. A program has one module, or a
 * module for each of its units if these are compiled in the background (docs/architecture.md,
 * "Units"). */
#ifndef TEGRACL_ICD_UNITS_H
#define TEGRACL_ICD_UNITS_H

#include "icd/objects.h"

/* The kernels of a built program. */
struct icd_kernels {
  struct icd_module *module;        /* held; NULL if the program has units */
  struct cc_background *background; /* held; NULL if the program has one module */
  const struct cc_planned_kernel *planned;
  size_t count;
};

/* Gets the kernels, with references that icd_kernels_drop releases. Returns false if the program
 * has not been built. The caller holds the program's lock. */
bool icd_kernels_get(cl_program program, struct icd_kernels *kernels);
void icd_kernels_drop(struct icd_kernels *kernels);
const char *icd_kernels_name(const struct icd_kernels *kernels, size_t i);

/* Gets the module of kernel i, with a reference, and the kernel's index in it. Waits until the
 * kernel's unit is compiled. Returns CL_OUT_OF_RESOURCES if that fails. The caller must be
 * counted in program->kernels, so that no other build of the program can begin. */
cl_int icd_kernels_module(cl_program program, const struct icd_kernels *kernels, size_t i,
                          const char *call, struct icd_module **module, uint32_t *index);

/* Moves the result of the background build into the program if the build has ended. If wait,
 * waits for its end. The caller does not hold the program's lock. */
void icd_program_settle(cl_program program, bool wait);

/* Cancel the rest of the background build if the program has neither handles nor kernels any
 * longer. Called when the last handle or a kernel of program->kernels was released. */
void icd_program_released(cl_program program);
void icd_program_remove_kernel(cl_program program);

/* Creates the units of an accepted build, and takes ownership of its reference even on failure.
 * Returns false if out of memory. */
bool icd_units_make(struct cc_background *background, struct icd_units *units);
/* Frees the units, and cancels their build. */
void icd_units_drop(struct icd_units *units);

#endif
