// BLAKE2b and BLAKE2s (RFC 7693) without key: each thread hashes its own message.
typedef unsigned char u8;
__constant__ u8 sigma[10][16] = {
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
    {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
    {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4},
    {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
    {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13},
    {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
    {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11},
    {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
    {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5},
    {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0}};
template <typename T> struct shape;
template <> struct shape<unsigned> {
  static const int rounds = 10, a = 16, b = 12, c = 8, d = 7;
  static __device__ unsigned iv(int k) {
    const unsigned v[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                           0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    return v[k];
  }
};
template <> struct shape<unsigned long long> {
  static const int rounds = 12, a = 32, b = 24, c = 16, d = 63;
  static __device__ unsigned long long iv(int k) {
    const unsigned long long v[8] = {0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b,
                                     0xa54ff53a5f1d36f1, 0x510e527fade682d1, 0x9b05688c2b3e6c1f,
                                     0x1f83d9abfb41bd6b, 0x5be0cd19137e2179};
    return v[k];
  }
};
template <typename T> __device__ T rotate(T x, int n) { return x >> n | x << (sizeof(T) * 8 - n); }
template <typename T>
__device__ void blake2(const u8 *message, unsigned length, u8 *digest) {
  T h[8], v[16], m[16];
  const unsigned block = sizeof m;
  for (int k = 0; k < 8; k++)
    h[k] = shape<T>::iv(k);
  h[0] ^= 0x01010000 ^ sizeof h;
  unsigned done = 0;
  do {
    unsigned part = length - done < block ? length - done : block;
    for (int k = 0; k < 16; k++) {
      m[k] = 0;
      for (unsigned j = 0; j < sizeof(T); j++)
        if (k * sizeof(T) + j < part)
          m[k] |= (T)message[done + k * sizeof(T) + j] << (8 * j);
    }
    done += part;
    for (int k = 0; k < 8; k++)
      v[k] = h[k], v[k + 8] = shape<T>::iv(k);
    v[12] ^= done;
    if (done == length)
      v[14] = ~v[14];
    for (int r = 0; r < shape<T>::rounds; r++) {
      const u8 *s = sigma[r % 10];
#define MIX(A, B, C, D, i)                                                                         \
  v[A] += v[B] + m[s[2 * i]], v[D] = rotate(v[D] ^ v[A], shape<T>::a);                             \
  v[C] += v[D], v[B] = rotate(v[B] ^ v[C], shape<T>::b);                                           \
  v[A] += v[B] + m[s[2 * i + 1]], v[D] = rotate(v[D] ^ v[A], shape<T>::c);                         \
  v[C] += v[D], v[B] = rotate(v[B] ^ v[C], shape<T>::d);
      MIX(0, 4, 8, 12, 0) MIX(1, 5, 9, 13, 1) MIX(2, 6, 10, 14, 2) MIX(3, 7, 11, 15, 3)
      MIX(0, 5, 10, 15, 4) MIX(1, 6, 11, 12, 5) MIX(2, 7, 8, 13, 6) MIX(3, 4, 9, 14, 7)
    }
    for (int k = 0; k < 8; k++)
      h[k] ^= v[k] ^ v[k + 8];
  } while (done < length);
  for (unsigned k = 0; k < sizeof h; k++)
    digest[k] = (u8)(h[k / sizeof(T)] >> (8 * (k % sizeof(T))));
}
extern "C" __global__ void blake2b(const u8 *text, const unsigned *length, u8 *out) {
  unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  blake2<unsigned long long>(text, length[t], out + 64 * t);
}
extern "C" __global__ void blake2s(const u8 *text, const unsigned *length, u8 *out) {
  unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  blake2<unsigned>(text, length[t], out + 32 * t);
}
