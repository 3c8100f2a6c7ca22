/* UUIDs of the device and the driver (cl_khr_device_uuid). */
#ifndef TEGRACL_UUID_H
#define TEGRACL_UUID_H

#include "icd/icd.h"

enum { ICD_SHA256_BYTES = 32 };

/* Computes the SHA-256 hash (FIPS 180-4) of a text of at most 55 bytes, which fits in one block. */
void icd_sha256(const char *text, unsigned char hash[ICD_SHA256_BYTES]);

/* Computes the UUID for a kind of object and a name. identity is "", or at most 55 bytes that
 * distinguish objects with the same name. The UUID does not reveal it. */
void icd_uuid(const char *kind, const char *name, const char *identity,
              cl_uchar uuid[CL_UUID_SIZE_KHR]);

#endif
