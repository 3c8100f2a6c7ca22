/* Names, versions and extension lists of the platform and the device. Each list is one macro, here
 * or in compiler/extensions.h, from which both forms that OpenCL requires are generated.
 */
#include "icd/platform/device_text.h"

#include "compiler/extensions.h"

/* X(name, version). Only if buffers have the same address for CPU and GPU. */
#define SHARED_EXTENSIONS(X) X("cl_intel_unified_shared_memory", CL_MAKE_VERSION(1, 0, 0))

/* Only if programs can be created from SPIR-V. */
#define IL_EXTENSIONS(X)                                                                           \
  X("cl_khr_il_program", CL_MAKE_VERSION(1, 0, 0))                                                 \
  X("cl_khr_spirv_extended_debug_info", CL_MAKE_VERSION(1, 0, 0))                                  \
  X("cl_khr_spirv_linkonce_odr", CL_MAKE_VERSION(1, 0, 0))                                         \
  X("cl_khr_spirv_no_integer_wrap_decoration", CL_MAKE_VERSION(1, 0, 0))                           \
  X("cl_khr_spirv_queries", CL_MAKE_VERSION(1, 0, 0))

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

#define AS_WORD(name, version)          name " "
#define AS_ENTRY(name, version)         {version, name},
#define AS_IL_WORD(name, major, minor)  name "_" #major "." #minor " "
#define AS_IL_ENTRY(name, major, minor) {CL_MAKE_VERSION(major, minor, 0), name},

static const cl_name_version platform_extensions[] = {CC_PLATFORM_EXTENSIONS(AS_ENTRY)};
/* Extensions that not every device has are at both ends. */
static const cl_name_version device_extensions[] = {
    SHARED_EXTENSIONS(AS_ENTRY) CC_DEVICE_EXTENSIONS(AS_ENTRY) IL_EXTENSIONS(AS_ENTRY)};
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

const char *icd_device_extensions(bool shared_addresses, bool il) {
  if (shared_addresses)
    return il ? SHARED_EXTENSIONS(AS_WORD) CC_DEVICE_EXTENSIONS(AS_WORD) IL_EXTENSIONS(AS_WORD)
              : SHARED_EXTENSIONS(AS_WORD) CC_DEVICE_EXTENSIONS(AS_WORD);
  return il ? CC_DEVICE_EXTENSIONS(AS_WORD) IL_EXTENSIONS(AS_WORD) : CC_DEVICE_EXTENSIONS(AS_WORD);
}

const cl_name_version *icd_device_extension_list(bool shared_addresses, bool il, size_t *count) {
  static const cl_name_version shared[] = {SHARED_EXTENSIONS(AS_ENTRY)},
                               of_il[] = {IL_EXTENSIONS(AS_ENTRY)};
  const size_t before = shared_addresses ? 0 : COUNT(shared), after = il ? 0 : COUNT(of_il);
  *count = COUNT(device_extensions) - before - after;
  return device_extensions + before;
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
