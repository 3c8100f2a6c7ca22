/* Names, versions and extension lists of the platform and the device. */
#ifndef TEGRACL_DEVICE_TEXT_H
#define TEGRACL_DEVICE_TEXT_H

#include "icd/icd.h"

#define ICD_C_VERSION_TEXT "OpenCL C 1.2 tegracl " TEGRACL_VERSION

/* The first number is a version of NVIDIA's desktop driver, which applications compare to find
 * out what the driver supports (design page, decision 7). */
#define ICD_DRIVER_VERSION_TEXT "520.0 tegracl " TEGRACL_VERSION

/* Return the version of the platform and the device: 3.1, which requires SPIR-V, or 3.0 if the
 * tools for SPIR-V are not installed. Here and below, il is whether programs can be created from
 * SPIR-V. */
const char *icd_version_text(bool il);
cl_version icd_version(bool il);

/* Return the extensions as a string separated by blanks, or as a list with versions.
 * shared_addresses is the member of rt_device_info. */
const char *icd_platform_extensions(void);
const cl_name_version *icd_platform_extension_list(size_t *count);
const char *icd_device_extensions(bool shared_addresses, bool il);
const cl_name_version *icd_device_extension_list(bool shared_addresses, bool il, size_t *count);

/* Supported versions of SPIR-V. */
const char *icd_il_versions(void);
const cl_name_version *icd_il_version_list(size_t *count);

/* OpenCL C versions and feature macros of OpenCL C 3.0. */
const cl_name_version *icd_c_version_list(bool il, size_t *count);
const char *icd_c_features(void);
const cl_name_version *icd_c_feature_list(size_t *count);

#endif
