/* UUIDs of device and driver (cl_khr_device_uuid). */
#ifndef TEGRACL_UUID_H
#define TEGRACL_UUID_H

#include "icd/icd.h"

enum { ICD_SHA256_BYTES = 32 };

/* The hash of a text of at most 55 bytes, which is one block (FIPS 180-4). */
void icd_sha256(const char *text, unsigned char hash[ICD_SHA256_BYTES]);

/* The UUID for a kind and a name. identity: at most 55 bytes that distinguish it from others of
 * the name, and that the UUID does not reveal; or "". */
void icd_uuid(const char *kind, const char *name, const char *identity,
              cl_uchar uuid[CL_UUID_SIZE_KHR]);

#endif
