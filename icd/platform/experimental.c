/* TEGRACL_EXPERIMENTAL: which extensions that are not reported by default are enabled. */
#include "icd/platform/experimental.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/compiler.h"

bool icd_experimental(const char *name) {
  const char *words = secure_getenv("TEGRACL_EXPERIMENTAL");
  for (; words && *words; words += strcspn(words, ","), words += *words == ',')
    if (strcspn(words, ",") == strlen(name) && !strncmp(words, name, strlen(name)))
      return true;
  return false;
}

/* ---- cl_khr_unified_svm ---------------------------------------------------------------------- */

/* What each type has beyond the draft's minimum. All are the same memory, which host and device
 * share. So each can be mapped, and the host can access all but device memory without that. */
#define MORE_FOR_HOST                                                                              \
  (CL_SVM_CAPABILITY_HOST_MAP_KHR | CL_SVM_CAPABILITY_DEVICE_ATOMIC_ACCESS_KHR |                   \
   CL_SVM_CAPABILITY_CONCURRENT_ACCESS_KHR)

const cl_svm_capabilities_khr icd_svm_types[ICD_SVM_TYPES] = {
    [ICD_SVM_COARSE] =
        CL_SVM_TYPE_MACRO_COARSE_GRAIN_BUFFER_KHR | CL_SVM_CAPABILITY_INDIRECT_ACCESS_KHR,
    [ICD_SVM_FINE] =
        CL_SVM_TYPE_MACRO_FINE_GRAIN_BUFFER_KHR | CL_SVM_CAPABILITY_INDIRECT_ACCESS_KHR,
    [ICD_SVM_DEVICE] = CL_SVM_TYPE_MACRO_DEVICE_KHR | CL_SVM_CAPABILITY_HOST_MAP_KHR,
    [ICD_SVM_HOST] = CL_SVM_TYPE_MACRO_HOST_KHR | MORE_FOR_HOST,
    [ICD_SVM_SHARED] = CL_SVM_TYPE_MACRO_SINGLE_DEVICE_SHARED_KHR | MORE_FOR_HOST,
};

/* ---- drafts ---------------------------------------------------------------------------------- */

/* The draft cl_khr_cooperative_matrix gives the query 0x1078 another meaning, so the two cannot
 * be enabled together. */
static bool drafts_clash(void) {
  return icd_experimental("unified_svm") && icd_experimental("cooperative_matrix");
}

static bool unified_svm, cooperative_matrix;
static pthread_once_t drafts_once = PTHREAD_ONCE_INIT;

static void read_drafts(void) {
  unified_svm = icd_experimental("unified_svm") && !drafts_clash();
  cooperative_matrix =
      icd_experimental("cooperative_matrix") && !drafts_clash() && cc_il_available();
}

bool icd_unified_svm(void) {
  pthread_once(&drafts_once, read_drafts);
  return unified_svm;
}

bool icd_cooperative_matrix(void) {
  pthread_once(&drafts_once, read_drafts);
  return cooperative_matrix;
}

/* Fails with the code, because the draft cl_khr_NAME is not enabled. */
static cl_int fail_draft(cl_context context, cl_int code, const char *call, const char *name) {
  if (drafts_clash())
    return icd_fail(context, code, call,
                    "TEGRACL_EXPERIMENTAL enables unified_svm and cooperative_matrix, but these "
                    "drafts define query 0x1078 differently: enable only one of them");
  return icd_fail(context, code, call, "cl_khr_%s is a draft; TEGRACL_EXPERIMENTAL=%s enables it%s",
                  name, name, icd_experimental(name) ? ", but it requires SPIR-V" : "");
}

cl_int icd_check_unified_svm(cl_context context, cl_int code, const char *call) {
  return icd_unified_svm() ? CL_SUCCESS : fail_draft(context, code, call, "unified_svm");
}

cl_int icd_check_cooperative_matrix(cl_context context, cl_int code, const char *call) {
  return icd_cooperative_matrix() ? CL_SUCCESS
                                  : fail_draft(context, code, call, "cooperative_matrix");
}
