/* cl_khr_device_uuid: numbers by which programs recognise the same device or driver in another
 * process or API. They are hashes of names and, on a board, of its serial number. They are the same
 * in every process and after every boot, and differ between boards.
 */
#include "icd/platform/uuid.h"

#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

/* ---- SHA-256 ------------------------------------------------------------------------- */

enum { ROUNDS = 64, BLOCK_BYTES = 64, STATE_WORDS = 8, BYTE_BITS = 8, WORD_BITS = 32 };

static uint32_t rotate_right(uint32_t x, unsigned bits) {
  return x >> bits | x << (WORD_BITS - bits);
}

/* FIPS 180-4, section 4.2.2: the first 32 bits of the fractional parts of the cube roots of the
 * first 64 primes. */
static const uint32_t round_constants[ROUNDS] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

/* Section 6.2.2. */
static void hash_block(const unsigned char block[BLOCK_BYTES], uint32_t state[STATE_WORDS]) {
  uint32_t w[ROUNDS], a[STATE_WORDS];
  for (int t = 0; t < ROUNDS; t++)
    if (t < 16) {
      const unsigned char *b = block + 4 * t;
      w[t] = (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
    } else {
      const uint32_t x = w[t - 15], y = w[t - 2];
      w[t] = w[t - 16] + w[t - 7] + (rotate_right(x, 7) ^ rotate_right(x, 18) ^ x >> 3) +
             (rotate_right(y, 17) ^ rotate_right(y, 19) ^ y >> 10);
    }
  memcpy(a, state, sizeof(a));
  for (int t = 0; t < ROUNDS; t++) {
    const uint32_t e = a[4], t1 = a[7] +
                                  (rotate_right(e, 6) ^ rotate_right(e, 11) ^ rotate_right(e, 25)) +
                                  ((e & a[5]) ^ (~e & a[6])) + round_constants[t] + w[t];
    const uint32_t t2 = (rotate_right(a[0], 2) ^ rotate_right(a[0], 13) ^ rotate_right(a[0], 22)) +
                        ((a[0] & a[1]) ^ (a[0] & a[2]) ^ (a[1] & a[2]));
    memmove(a + 1, a, sizeof(a) - sizeof(*a));
    a[0] = t1 + t2;
    a[4] += t1;
  }
  for (int i = 0; i < STATE_WORDS; i++)
    state[i] += a[i];
}

void icd_sha256(const char *text, unsigned char hash[ICD_SHA256_BYTES]) {
  enum { TEXT_MAX = BLOCK_BYTES - 1 - (int)sizeof(uint64_t), END = 0x80 };
  uint32_t state[STATE_WORDS] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  unsigned char block[BLOCK_BYTES] = {0};
  const size_t size = strnlen(text, TEXT_MAX);
  memcpy(block, text, size);
  block[size] = END;
  block[BLOCK_BYTES - 2] = (unsigned char)(size * BYTE_BITS >> BYTE_BITS);
  block[BLOCK_BYTES - 1] = (unsigned char)(size * BYTE_BITS);
  hash_block(block, state);
  for (int i = 0; i < ICD_SHA256_BYTES; i++)
    hash[i] = (unsigned char)(state[i / 4] >> (24 - i % 4 * BYTE_BITS));
}

/* ---- UUIDs ---------------------------------------------------------------------------- */

/* RFC 9562, version 8: the contents are defined by the vendor. */
void icd_uuid(const char *kind, const char *name, const char *identity,
              cl_uchar uuid[CL_UUID_SIZE_KHR]) {
  enum { VERSION_BYTE = 6, VERSION = 0x80, VARIANT_BYTE = 8, VARIANT = 0x80 };
  unsigned char hidden[ICD_SHA256_BYTES];
  XXH128_canonical_t hash;
  _Static_assert(sizeof(hash) == CL_UUID_SIZE_KHR, "all of it");
  icd_sha256(identity, hidden);
  const XXH64_hash_t seed =
      XXH3_64bits_withSeed(kind, strlen(kind), XXH3_64bits(hidden, sizeof(hidden)));
  XXH128_canonicalFromHash(&hash, XXH3_128bits_withSeed(name, strlen(name), seed));
  memcpy(uuid, &hash, sizeof(hash));
  uuid[VERSION_BYTE] = (cl_uchar)((uuid[VERSION_BYTE] & 0x0f) | VERSION);
  uuid[VARIANT_BYTE] = (cl_uchar)((uuid[VARIANT_BYTE] & 0x3f) | VARIANT);
}
