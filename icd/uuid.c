/* cl_khr_device_uuid: numbers by which programs find the same device, or driver, in
 * another process or API. The board has no such number of its own that user space may
 * read, so they are made from the names: the same in every process, different for a
 * board and the software Orin.
 */
#include "icd/uuid.h"

#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

/* RFC 9562: version 8, contents as the maker likes. */
void icd_uuid(const char *kind, const char *name, cl_uchar uuid[CL_UUID_SIZE_KHR]) {
  enum { VERSION_BYTE = 6, VERSION = 0x80, VARIANT_BYTE = 8, VARIANT = 0x80 };
  XXH128_canonical_t hash;
  _Static_assert(sizeof hash == CL_UUID_SIZE_KHR, "all of it");
  XXH128_canonicalFromHash(
      &hash, XXH3_128bits_withSeed(name, strlen(name), XXH3_64bits(kind, strlen(kind))));
  memcpy(uuid, &hash, sizeof hash);
  uuid[VERSION_BYTE] = (cl_uchar)((uuid[VERSION_BYTE] & 0x0f) | VERSION);
  uuid[VARIANT_BYTE] = (cl_uchar)((uuid[VARIANT_BYTE] & 0x3f) | VARIANT);
}
