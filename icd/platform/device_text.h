/* Names, versions and extension lists of platform and device. */
#ifndef TEGRACL_DEVICE_TEXT_H
#define TEGRACL_DEVICE_TEXT_H

#include "icd/icd.h"

#define ICD_C_VERSION_TEXT "OpenCL C 1.2 tegracl " TEGRACL_VERSION

/* Applications compare the leading number with versions of NVIDIA's desktop
 * driver to find out what it can do (design page, decision 7). */
#define ICD_DRIVER_VERSION_TEXT "520.0 tegracl " TEGRACL_VERSION

/* Of platform and device: 3.1, which demands SPIR-V, or 3.0 where its tools are not installed. il
 * here and below: whether programs can be made from SPIR-V. */
const char *icd_version_text(bool il);
cl_version icd_version(bool il);

/* Blank-separated, and the same with versions. shared_addresses: rt_device_info's. */
const char *icd_platform_extensions(void);
const cl_name_version *icd_platform_extension_list(size_t *count);
const char *icd_device_extensions(bool shared_addresses, bool il);
const cl_name_version *icd_device_extension_list(bool shared_addresses, bool il, size_t *count);

/* Versions of SPIR-V, if any. */
const char *icd_il_versions(void);
const cl_name_version *icd_il_version_list(size_t *count);

/* OpenCL C versions, and feature macros of OpenCL C 3.0. */
const cl_name_version *icd_c_version_list(bool il, size_t *count);
const char *icd_c_features(void);
const cl_name_version *icd_c_feature_list(size_t *count);

#endif
