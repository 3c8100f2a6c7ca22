/* Names, versions and extension lists of the platform and the device. Each list is one macro, here
 * or in compiler/extensions.h, from which both forms that OpenCL requires are generated.
 */
#include "icd/platform/device_text.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/compiler.h"
#include "compiler/extensions.h"
#include "icd/platform/experimental.h"

/* X(name, version). Only if buffers have the same address for CPU and GPU. */
#define SHARED_EXTENSIONS(X) X("cl_intel_unified_shared_memory", CL_MAKE_VERSION(1, 0, 0))

/* Like CC_EXPERIMENTAL_EXTENSIONS, and only if buffers have the same address for CPU and GPU. */
#define UNIFIED_SVM(X) X("cl_khr_unified_svm", CL_MAKE_VERSION(0, 9, 0))

/* Like CC_EXPERIMENTAL_EXTENSIONS, and only if programs can be created from SPIR-V. */
#define COOPERATIVE_MATRIX(X) X(CC_MATRIX_EXTENSION, CL_MAKE_VERSION(1, 0, 0))

/* Extensions that are reported only if programs can be created from SPIR-V. */
#define IL_EXTENSIONS(X)                                                                           \
  X("cl_khr_il_program", CL_MAKE_VERSION(1, 0, 0))                                                 \
  X("cl_khr_spirv_linkonce_odr", CL_MAKE_VERSION(1, 0, 0))                                         \
  X("cl_khr_spirv_no_integer_wrap_decoration", CL_MAKE_VERSION(1, 0, 0))                           \
  X("cl_khr_spirv_queries", CL_MAKE_VERSION(1, 0, 0))

/* Like CC_EXPERIMENTAL_EXTENSIONS, and only if programs can be created from SPIR-V. */
#define EXPERIMENTAL_IL_EXTENSIONS(X)                                                              \
  X("cl_khr_spirv_extended_debug_info", CL_MAKE_VERSION(1, 0, 0))

#define IL_VERSIONS(X)                                                                             \
  X("SPIR-V", 1, 0)                                                                                \
  X("SPIR-V", 1, 1)                                                                                \
  X("SPIR-V", 1, 2) X("SPIR-V", 1, 3) X("SPIR-V", 1, 4) X("SPIR-V", 1, 5) X("SPIR-V", 1, 6)

#define C_VERSIONS(X)                                                                              \
  X("OpenCL C", CL_MAKE_VERSION(1, 0, 0))                                                          \
  X("OpenCL C", CL_MAKE_VERSION(1, 1, 0))                                                          \
  X("OpenCL C", CL_MAKE_VERSION(1, 2, 0))                                                          \
  X("OpenCL C", CL_MAKE_VERSION(3, 0, 0))                                                          \
  X("OpenCL C", CL_MAKE_VERSION(3, 1, 0)) /* only if programs can be created from SPIR-V */

#define AS_WORD(name, version) name " "
#define AS_VALUE(name, version)                                                                    \
  { version, name }
#define AS_ENTRY(name, version)         AS_VALUE(name, version),
#define AS_IL_WORD(name, major, minor)  name "_" #major "." #minor " "
#define AS_IL_ENTRY(name, major, minor) {CL_MAKE_VERSION(major, minor, 0), name},

static const cl_name_version platform_extensions[] = {CC_PLATFORM_EXTENSIONS(AS_ENTRY)};
static const cl_name_version shared_extensions[] = {SHARED_EXTENSIONS(AS_ENTRY)};
static const cl_name_version device_extensions[] = {CC_DEVICE_EXTENSIONS(AS_ENTRY)};
static const cl_name_version il_extensions[] = {IL_EXTENSIONS(AS_ENTRY)};
static const cl_name_version unified_svm_extension = UNIFIED_SVM(AS_VALUE);
static const cl_name_version cooperative_matrix_extension = COOPERATIVE_MATRIX(AS_VALUE);
static const cl_name_version experimental_extensions[] = {CC_EXPERIMENTAL_EXTENSIONS(AS_ENTRY)};
static const cl_name_version experimental_il_extensions[] = {EXPERIMENTAL_IL_EXTENSIONS(AS_ENTRY)};
static const cl_name_version il_versions[] = {IL_VERSIONS(AS_IL_ENTRY)};
static const cl_name_version c_versions[] = {C_VERSIONS(AS_ENTRY)};
static const cl_name_version c_features[] = {CC_FEATURES(AS_ENTRY)};

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

const char *icd_version_text(bool il) {
  return il ? "OpenCL 3.1 tegracl " TEGRACL_VERSION : "OpenCL 3.0 tegracl " TEGRACL_VERSION;
}

cl_version icd_version(bool il) {
  return CL_MAKE_VERSION(3, il ? 1 : 0, 0);
}

const char *icd_platform_extensions(void) {
  return CC_PLATFORM_EXTENSIONS(AS_WORD);
}

const cl_name_version *icd_platform_extension_list(size_t *count) {
  *count = COUNT(platform_extensions);
  return platform_extensions;
}

/* The extensions of a device, in both forms. */
struct extension_set {
  cl_name_version list[COUNT(shared_extensions) + COUNT(device_extensions) + COUNT(il_extensions) +
                       COUNT(experimental_extensions) + COUNT(experimental_il_extensions) +
                       2 /* unified_svm_extension, cooperative_matrix_extension */];
  size_t count;
  char words[sizeof(SHARED_EXTENSIONS(AS_WORD) CC_DEVICE_EXTENSIONS(AS_WORD) IL_EXTENSIONS(
      AS_WORD) UNIFIED_SVM(AS_WORD) COOPERATIVE_MATRIX(AS_WORD) CC_EXPERIMENTAL_EXTENSIONS(AS_WORD)
                        EXPERIMENTAL_IL_EXTENSIONS(AS_WORD))];
  char *end; /* of words */
};

static struct extension_set extension_sets[2][2]; /* by shared_addresses and il */
static pthread_once_t extension_sets_once = PTHREAD_ONCE_INIT;

static void add_extension(struct extension_set *set, const cl_name_version *extension) {
  set->list[set->count++] = *extension;
  set->end = stpcpy(stpcpy(set->end, extension->name), " ");
}

static bool is_wanted(const cl_name_version *extension) {
  return icd_experimental(extension->name + strlen("cl_khr_"));
}

static void make_extension_sets(void) {
  for (int shared = 0; shared < 2; shared++)
    for (int il = 0; il < 2; il++) {
      struct extension_set *set = &extension_sets[shared][il];
      set->end = set->words;
      for (size_t i = 0; shared && i < COUNT(shared_extensions); i++)
        add_extension(set, &shared_extensions[i]);
      for (size_t i = 0; i < COUNT(device_extensions); i++)
        add_extension(set, &device_extensions[i]);
      for (size_t i = 0; il && i < COUNT(il_extensions); i++)
        add_extension(set, &il_extensions[i]);
      for (size_t i = 0; i < COUNT(experimental_extensions); i++)
        if (is_wanted(&experimental_extensions[i]))
          add_extension(set, &experimental_extensions[i]);
      if (shared && icd_unified_svm())
        add_extension(set, &unified_svm_extension);
      if (il && icd_cooperative_matrix())
        add_extension(set, &cooperative_matrix_extension);
      for (size_t i = 0; il && i < COUNT(experimental_il_extensions); i++)
        if (is_wanted(&experimental_il_extensions[i]))
          add_extension(set, &experimental_il_extensions[i]);
    }
}

const char *icd_device_extensions(bool shared_addresses, bool il) {
  pthread_once(&extension_sets_once, make_extension_sets);
  return extension_sets[shared_addresses][il].words;
}

const cl_name_version *icd_device_extension_list(bool shared_addresses, bool il, size_t *count) {
  pthread_once(&extension_sets_once, make_extension_sets);
  *count = extension_sets[shared_addresses][il].count;
  return extension_sets[shared_addresses][il].list;
}

const char *icd_il_versions(void) {
  return IL_VERSIONS(AS_IL_WORD);
}

const cl_name_version *icd_il_version_list(size_t *count) {
  *count = COUNT(il_versions);
  return il_versions;
}

const cl_name_version *icd_c_version_list(bool il, size_t *count) {
  *count = COUNT(c_versions) - !il;
  return c_versions;
}

const char *icd_c_features(void) {
  return CC_FEATURES(AS_WORD);
}

const cl_name_version *icd_c_feature_list(size_t *count) {
  *count = COUNT(c_features);
  return c_features;
}
