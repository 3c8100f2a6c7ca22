/* cl_khr_device_uuid: numbers by which programs find the same device, or driver, in
 * another process or API. The board has no such number of its own that user space may
 * read, so they are made from the names: the same in every process, different for a
 * board and the software Orin.
 */
#include "icd/uuid.h"

#include <string.h>

/* FNV-1a with 64 bits (Fowler, Noll, Vo; offset basis and prime as published). */
static uint64_t hash(uint64_t value, const char *text) {
  const uint64_t prime = UINT64_C(0x100000001b3);
  for (; *text; text++)
    value = (value ^ (unsigned char)*text) * prime;
  return value;
}

/* RFC 9562: version 8, contents as the maker likes. */
void icd_uuid(const char *kind, const char *name, cl_uchar uuid[CL_UUID_SIZE_KHR]) {
  enum { VERSION_BYTE = 6, VERSION = 0x80, VARIANT_BYTE = 8, VARIANT = 0x80 };
  const uint64_t basis = UINT64_C(0xcbf29ce484222325);
  const uint64_t high = hash(hash(basis, kind), name), low = hash(high, kind);
  memcpy(uuid, &high, sizeof high);
  memcpy(uuid + sizeof high, &low, sizeof low);
  uuid[VERSION_BYTE] = (cl_uchar)((uuid[VERSION_BYTE] & 0x0f) | VERSION);
  uuid[VARIANT_BYTE] = (cl_uchar)((uuid[VARIANT_BYTE] & 0x3f) | VARIANT);
}
