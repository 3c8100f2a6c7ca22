/* Extensions that TEGRACL_EXPERIMENTAL enables. */
#ifndef TEGRACL_EXPERIMENTAL_H
#define TEGRACL_EXPERIMENTAL_H

#include "icd/icd.h"

#include "icd/cl_tegracl.h"

/* Whether TEGRACL_EXPERIMENTAL, a list separated by commas, has the name of an extension without
 * cl_khr_. */
bool icd_experimental(const char *name);

/* Whether the draft cl_khr_unified_svm is enabled. */
bool icd_unified_svm(void);
/* Returns code, and says why, if it is not. context may be NULL. */
cl_int icd_check_unified_svm(cl_context context, cl_int code, const char *call);

/* The same for the draft cl_khr_cooperative_matrix, which also requires that programs can be
 * created from SPIR-V. */
bool icd_cooperative_matrix(void);
cl_int icd_check_cooperative_matrix(cl_context context, cl_int code, const char *call);

/* The types of allocations of cl_khr_unified_svm. The first two are those of clSVMAlloc. */
enum icd_svm_type {
  ICD_SVM_COARSE,
  ICD_SVM_FINE,
  ICD_SVM_DEVICE,
  ICD_SVM_HOST,
  ICD_SVM_SHARED,
  ICD_SVM_TYPES
};
extern const cl_svm_capabilities_khr icd_svm_types[ICD_SVM_TYPES];

#endif
