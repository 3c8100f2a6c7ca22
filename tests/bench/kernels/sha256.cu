/* SHA-256 of one block of 16 words (padded already) for each thread; word i of all
 * of them, then word i + 1. */
static __constant__ unsigned K[64] = {
#include "sha256_constants.h"
};

static __device__ unsigned ror(unsigned x, unsigned n) {
  return __funnelshift_r(x, x, n);
}

extern "C" __global__ void sha256(const unsigned *__restrict__ blocks,
                                  unsigned *__restrict__ digests, int n) {
  int item = blockIdx.x * blockDim.x + threadIdx.x;
  if (item >= n)
    return;
  const unsigned start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                             0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  unsigned w[16], h[8];
  for (int i = 0; i < 16; i++)
    w[i] = blocks[i * n + item];
  for (int i = 0; i < 8; i++)
    h[i] = start[i];
#pragma unroll
  for (int i = 0; i < 64; i++) {
    if (i >= 16) {
      unsigned a = w[(i + 1) & 15], b = w[(i + 14) & 15];
      w[i & 15] += (ror(a, 7) ^ ror(a, 18) ^ a >> 3) + w[(i + 9) & 15] +
                   (ror(b, 17) ^ ror(b, 19) ^ b >> 10);
    }
    unsigned t1 = h[7] + (ror(h[4], 6) ^ ror(h[4], 11) ^ ror(h[4], 25)) +
                  ((h[4] & h[5]) ^ (~h[4] & h[6])) + K[i] + w[i & 15];
    unsigned t2 = (ror(h[0], 2) ^ ror(h[0], 13) ^ ror(h[0], 22)) +
                  ((h[0] & h[1]) ^ (h[0] & h[2]) ^ (h[1] & h[2]));
    for (int j = 7; j; j--)
      h[j] = h[j - 1];
    h[4] += t1;
    h[0] = t1 + t2;
  }
  for (int i = 0; i < 8; i++)
    digests[i * n + item] = start[i] + h[i];
}
