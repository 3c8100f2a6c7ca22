/* SHA-256 of one block of 16 words (padded already) for each work-item; word i of
 * all of them, then word i + 1. */
constant uint K[64] = {
#include "sha256_constants.h"
};

static uint ror(uint x, uint n) {
  return rotate(x, 32 - n);
}

kernel void sha256(global const uint *restrict blocks, global uint *restrict digests, int n) {
  int item = get_global_id(0);
  if (item >= n)
    return;
  const uint start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  uint w[16], h[8];
  for (int i = 0; i < 16; i++)
    w[i] = blocks[i * n + item];
  for (int i = 0; i < 8; i++)
    h[i] = start[i];
#pragma unroll
  for (int i = 0; i < 64; i++) {
    if (i >= 16) {
      uint a = w[(i + 1) & 15], b = w[(i + 14) & 15];
      w[i & 15] += (ror(a, 7) ^ ror(a, 18) ^ a >> 3) + w[(i + 9) & 15] +
                   (ror(b, 17) ^ ror(b, 19) ^ b >> 10);
    }
    uint t1 = h[7] + (ror(h[4], 6) ^ ror(h[4], 11) ^ ror(h[4], 25)) +
              ((h[4] & h[5]) ^ (~h[4] & h[6])) + K[i] + w[i & 15];
    uint t2 = (ror(h[0], 2) ^ ror(h[0], 13) ^ ror(h[0], 22)) +
              ((h[0] & h[1]) ^ (h[0] & h[2]) ^ (h[1] & h[2]));
    for (int j = 7; j; j--)
      h[j] = h[j - 1];
    h[4] += t1;
    h[0] = t1 + t2;
  }
  for (int i = 0; i < 8; i++)
    digests[i * n + item] = start[i] + h[i];
}
