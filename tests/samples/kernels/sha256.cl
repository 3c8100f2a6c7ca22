/* SHA-256 (FIPS 180-4) of one message a work-item, at most 55 bytes long, so
 * one block each. Messages lie stride bytes apart; lengths in bytes. */
constant uint K[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

uint ror(uint x, uint n) { return rotate(x, 32u - n); }

kernel void sha256(global const uchar *messages, uint stride, global const uint *lengths,
                   global uint *digests) {
  uint id = get_global_id(0), length = lengths[id];
  global const uchar *m = messages + id * stride;
  uint w[64];
  for (uint i = 0; i < 16; i++) {
    uint word = 0;
    for (uint b = 0; b < 4; b++) {
      uint at = i * 4 + b;
      uint byte = at < length ? m[at] : at == length ? 0x80u : 0u;
      word = word << 8 | byte;
    }
    w[i] = word;
  }
  w[15] = length * 8;
  for (uint i = 16; i < 64; i++) {
    uint s0 = ror(w[i - 15], 7) ^ ror(w[i - 15], 18) ^ w[i - 15] >> 3;
    uint s1 = ror(w[i - 2], 17) ^ ror(w[i - 2], 19) ^ w[i - 2] >> 10;
    w[i] = w[i - 16] + s0 + w[i - 7] + s1;
  }
  uint h[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
               0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  uint a = h[0], b = h[1], c = h[2], d = h[3], e = h[4], f = h[5], g = h[6], k = h[7];
  for (uint i = 0; i < 64; i++) {
    uint t1 = k + (ror(e, 6) ^ ror(e, 11) ^ ror(e, 25)) + bitselect(g, f, e) + K[i] + w[i];
    uint t2 = (ror(a, 2) ^ ror(a, 13) ^ ror(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    k = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
  }
  global uint *out = digests + id * 8;
  out[0] = h[0] + a, out[1] = h[1] + b, out[2] = h[2] + c, out[3] = h[3] + d;
  out[4] = h[4] + e, out[5] = h[5] + f, out[6] = h[6] + g, out[7] = h[7] + k;
}
