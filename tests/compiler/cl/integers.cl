/* Every integer width, signed and unsigned: arithmetic, shifts, comparisons,
 * conversions, and the patterns that clang turns into intrinsics. */
#define OPS(T, name)                                                                               \
  kernel void name(global const T *a, global const T *b, global T *out, int n) {                   \
    int i = get_global_id(0);                                                                      \
    T x = a[i], y = b[i];                                                                          \
    T r = x + y;                                                                                   \
    r ^= x - y;                                                                                    \
    r += x * y;                                                                                    \
    if (y != 0) {                                                                                  \
      r ^= x / y;                                                                                  \
      r += x % y;                                                                                  \
    }                                                                                              \
    r ^= (x << (y & 7)) | (x >> (y & 7));                                                          \
    r = x < y ? r : (T)~r;                                                                         \
    r += (x >= y) + (x == y) - !x;                                                                 \
    for (int k = 0; k < n; k++)                                                                    \
      r = r * 3 + (x & y) - (x | (T)k);                                                            \
    out[i] = r;                                                                                    \
  }
OPS(char, char_ops)
OPS(uchar, uchar_ops)
OPS(short, short_ops)
OPS(ushort, ushort_ops)
OPS(int, int_ops)
OPS(uint, uint_ops)
OPS(long, long_ops)
OPS(ulong, ulong_ops)

kernel void converts(global const long *in, global char *c, global ushort *s, global int *i,
                     global float *f, global double *d, global uchar *bits) {
  size_t g = get_global_id(0);
  long x = in[g];
  c[g] = (char)x;
  s[g] = (ushort)(x >> 3);
  i[g] = (int)x;
  f[g] = (float)x + (float)(uint)x + (char)x;
  d[g] = (double)x * (uchar)x;
  bits[g] = (x & 1) | ((x > 5) << 1) | ((bool)x << 2) | ((x < 0 ? 1 : 0) << 3);
  c[g] += (char)(short)f[g];
  s[g] += (ushort)(int)d[g];
}

kernel void idioms(global uint *a, global ulong *b, global ushort *c) {
  size_t g = get_global_id(0);
  uint x = a[g];
  ulong y = b[g];
  ushort z = c[g];
  uint swapped = x >> 24 | (x >> 8 & 0xff00) | (x << 8 & 0xff0000) | x << 24;
  ulong turned = y << 13 | y >> 51;
  ushort half_swapped = z << 8 | z >> 8;
  int most = (int)x > (int)swapped ? (int)x : (int)swapped;
  uint least = x < swapped ? x : swapped;
  int size = (int)x < 0 ? -(int)x : (int)x;
  uint sum = x + swapped;
  uint saturated = sum < x ? 0xffffffffu : sum;
  a[g] = swapped ^ most ^ least ^ size ^ saturated ^ popcount(x) ^ clz(x);
  b[g] = turned + (ulong)(((ulong)x * swapped) >> 32);
  c[g] = half_swapped + (z & 0x1ff) * 7;
}
