/* The format of program binaries as written by compiler/client/binary.c, for tests that modify
 * them. */
#ifndef TEGRACL_TEST_CONTAINER_H
#define TEGRACL_TEST_CONTAINER_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

enum { HASH_AT = 24, HASHED_FROM = 32, CUBIN_OFFSET_AT = 56, KERNELS_AT = 72 };

static inline uint32_t container_word(const unsigned char *bytes, size_t at) {
  uint32_t value;
  memcpy(&value, bytes + at, sizeof value);
  return value;
}

/* Updates the checksum. size must be greater than HASHED_FROM. */
static inline void container_seal(unsigned char *bytes, size_t size) {
  const uint64_t hash = XXH64(bytes + HASHED_FROM, size - HASHED_FROM, 0);
  memcpy(bytes + HASH_AT, &hash, sizeof hash);
}

#endif
