/* Names, versions and extension lists of platform and device. */
#ifndef TEGRACL_DEVICE_TEXT_H
#define TEGRACL_DEVICE_TEXT_H

#include "icd/icd.h"

#define ICD_VERSION_TEXT   "OpenCL 3.0 tegracl " TEGRACL_VERSION
#define ICD_C_VERSION_TEXT "OpenCL C 1.2 tegracl " TEGRACL_VERSION

/* Applications compare the leading number with versions of NVIDIA's desktop
 * driver to find out what it can do (design page, decision 7). */
#define ICD_DRIVER_VERSION_TEXT "520.0 tegracl " TEGRACL_VERSION

/* Blank-separated, and the same with versions. shared_addresses: rt_device_info's. il:
 * whether programs can be made from SPIR-V. */
const char *icd_platform_extensions(void);
const cl_name_version *icd_platform_extension_list(size_t *count);
const char *icd_device_extensions(bool shared_addresses, bool il);
const cl_name_version *icd_device_extension_list(bool shared_addresses, bool il, size_t *count);

/* Versions of SPIR-V, if any. */
const char *icd_il_versions(void);
const cl_name_version *icd_il_version_list(size_t *count);

/* OpenCL C versions, and feature macros of OpenCL C 3.0. */
const cl_name_version *icd_c_version_list(size_t *count);
const char *icd_c_features(void);
const cl_name_version *icd_c_feature_list(size_t *count);

#endif
