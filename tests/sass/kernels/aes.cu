// AES-128 encryption (FIPS 197), one block for each thread. The S-box is computed from its
// definition in shared memory: inverses in GF(2^8) by powers of 3.
typedef unsigned char u8;
__device__ u8 times2(u8 x) { return (u8)(x << 1 ^ (x & 0x80 ? 0x1b : 0)); }
extern "C" __global__ void aes(const u8 *in, u8 *out, const u8 *key, unsigned n) {
  __shared__ u8 power[256], log3[256], box[256], round_key[176];
  if (threadIdx.x == 0) {
    u8 p = 1;
    for (int k = 0; k < 255; k++) {
      power[k] = p;
      log3[p] = (u8)k;
      p = (u8)(p ^ times2(p));
    }
    power[255] = 1;
  }
  __syncthreads();
  for (int x = threadIdx.x; x < 256; x += blockDim.x) {
    u8 i = x ? power[(255 - log3[x]) % 255] : 0, s = i;
    for (int k = 0; k < 4; k++) {
      i = (u8)(i << 1 | i >> 7);
      s ^= i;
    }
    box[x] = s ^ 0x63;
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int k = 0; k < 16; k++)
      round_key[k] = key[k];
    u8 rcon = 1;
    for (int k = 16; k < 176; k += 4) {
      u8 t[4];
      for (int j = 0; j < 4; j++)
        t[j] = round_key[k - 4 + j];
      if (k % 16 == 0) {
        u8 first = t[0];
        t[0] = box[t[1]] ^ rcon, t[1] = box[t[2]], t[2] = box[t[3]], t[3] = box[first];
        rcon = times2(rcon);
      }
      for (int j = 0; j < 4; j++)
        round_key[k + j] = round_key[k - 16 + j] ^ t[j];
    }
  }
  __syncthreads();
  unsigned block = blockIdx.x * blockDim.x + threadIdx.x;
  if (block >= n)
    return;
  u8 s[16], t[16];
  for (int k = 0; k < 16; k++)
    s[k] = in[block * 16 + k] ^ round_key[k];
  for (int round = 1; round <= 10; round++) {
    for (int c = 0; c < 4; c++)
      for (int r = 0; r < 4; r++)
        t[c * 4 + r] = box[s[(c + r) % 4 * 4 + r]];
    for (int c = 0; c < 4; c++)
      for (int r = 0; r < 4; r++) {
        u8 a = t[c * 4 + r], b = t[c * 4 + (r + 1) % 4];
        u8 v = a;
        if (round < 10)
          v = times2(a) ^ times2(b) ^ b ^ t[c * 4 + (r + 2) % 4] ^ t[c * 4 + (r + 3) % 4];
        s[c * 4 + r] = v ^ round_key[round * 16 + c * 4 + r];
      }
  }
  for (int k = 0; k < 16; k++)
    out[block * 16 + k] = s[k];
}
