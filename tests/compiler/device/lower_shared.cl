/* Kernels that are also valid C: lower_run.c includes this file, and compares the results
 * of the device with those of the host's compiler. */
#define OPS(T, name)                                                                               \
  kernel void name(global const ulong *in, global ulong *out) {                                    \
    int i = (int)get_global_id(0);                                                                 \
    T x = (T)in[2 * i], y = (T)in[2 * i + 1], r = (T)((ulong)x + (ulong)y);                                     \
    r ^= (T)((ulong)x - (ulong)y);                                                                 \
    r = (T)((ulong)r + (ulong)x * (ulong)y);                                                                 \
    if ((y & 0x7f) > 1) {                                                                          \
      r ^= (T)(x / (T)(y & 0x7f));                                                                 \
      r = (T)((ulong)r + (ulong)(x % (T)(y & 0x7f)));                                                                \
    }                                                                                              \
    r ^= (T)((ulong)x << (y & 7)) | (T)(x >> (y & 7));                                             \
    r = x < y ? r : (T)~r;                                                                         \
    r = (T)((ulong)r + (ulong)(x >= y) + (x == y) - !x);                                                            \
    for (int k = 0; k < (int)(in[i] & 15); k++)                                                    \
      r = (T)((ulong)r * 3 + (ulong)(x & y) - (ulong)(x | (T)k));                                  \
    r = (T)(r > x ? (ulong)r - (ulong)x : (ulong)y - (ulong)r);                                    \
    out[i] = (ulong)r;                                                                             \
  }
OPS(char, char_ops)
OPS(uchar, uchar_ops)
OPS(short, short_ops)
OPS(ushort, ushort_ops)
OPS(int, int_ops)
OPS(uint, uint_ops)
OPS(long, long_ops)
OPS(ulong, ulong_ops)

kernel void idioms(global const ulong *in, global ulong *out) {
  int i = (int)get_global_id(0);
  uint x = (uint)in[i];
  ulong y = in[i + 1];
  ushort z = (ushort)(in[i] >> 32);
  uint swapped = x >> 24 | (x >> 8 & 0xff00) | (x << 8 & 0xff0000) | x << 24;
  ulong turned = y << 13 | y >> 51;
  ushort half_swapped = (ushort)(z << 8 | z >> 8);
  int most = (int)x > (int)swapped ? (int)x : (int)swapped;
  uint least = x < swapped ? x : swapped, sum = x + swapped;
  uint size = (int)x < 0 ? 0 - x : x;
  out[i] = (turned + ((ulong)x * swapped >> 32)) ^ (ulong)(long)most ^ least ^ size ^
           (sum < x ? 0xffffffffu : sum) ^ ((ulong)half_swapped << 40) ^ (y * 0x9E3779B97F4A7C15ul);
}

/* Values that change places in a loop: copies must not overwrite each other. */
kernel void rotation(global const ulong *in, global ulong *out) {
  int i = (int)get_global_id(0);
  ulong x = in[i], y = in[i + 1], z = in[i + 2], last = 0, before = 0;
  for (int k = 0; k < (int)(x & 31); k++) {
    ulong t = x;
    before = last;
    last = x;
    x = y;
    y = z ^ (ulong)k;
    z = t + 1;
  }
  out[i] = x * 3 + y * 5 + z * 7 + last * 11 + before * 13;
}

kernel void decision(global const ulong *in, global ulong *out) {
  int i = (int)get_global_id(0), r = 1;
  long key = (long)(in[i] % 9) - 4;
  switch (key) {
  case -4: r = 10; break;
  case -1: r = 11;
  case 2: r += i; break;
  case 3: out[i] = 99; return;
  case 4: r = -3; break;
  default: r = -1;
  }
  switch ((char)(in[i] >> 8)) {
  case 'a': r = 1; break;
  case -128: r = 77; break;
  case 9: r = -1000; break;
  case 10: case 11: case 12: case 13: r *= 3; break;
  }
  for (int y = 0; y < 8; y++) {
    for (int x = 0; x < 8; x++) {
      ulong v = in[i] >> (x + y);
      if (v % 3 == 0)
        continue;
      if (v % 31 == 5)
        goto end;
      r += x * y;
    }
    if (r > 60)
      break;
  }
end:
  do {
    r++;
  } while (r & 3);
  out[i] = (ulong)(long)r;
}

typedef struct {
  char tag;
  long wide;
  short list[3];
  double real;
} item;
typedef struct __attribute__((packed)) {
  uchar a;
  uint b;
  ulong c;
  float d;
} tight;
typedef union {
  ulong u;
  float f[2];
  uchar b[8];
} parts;

constant int table[5] = {1, -2, 3, -4, 5};
constant item first = {'x', -9, {1, -2, 3}, 2.5};
constant int *constant chosen[3] = {&table[1], table, &table[4]};

static item grow(item x, int by) {
  x.wide += by;
  x.list[by & 1] = (short)by;
  x.real = x.real * 2 + by;
  return x;
}

kernel void objects(global const ulong *in, global ulong *out) {
  int i = (int)get_global_id(0), n = (int)(in[i] & 7);
  item x = first;
  long own[8];
  for (int k = 0; k < 8; k++)
    own[k] = (long)in[i] >> (k * 5);
  x.tag = (char)in[i];
  x = grow(grow(x, n), (int)(in[i] >> 8 & 0xff));
  parts p;
  p.u = in[i];
  p.b[n] ^= 0x5a;
  x.wide += own[n] + table[n % 5] + *chosen[n % 3] + p.b[3];
  out[i] = p.u ^ (ulong)x.wide ^ (ulong)(long)x.real ^ (ulong)(long)(x.tag + x.list[0] * 3 + x.list[n % 3]);
}

kernel void unaligned(global const ulong *in, global ulong *out) {
  int i = (int)get_global_id(0);
  global const tight *t = (global const tight *)in + i;
  out[i] = t->a + ((ulong)t->b << 3) + t->c * 5 + (t->d > 1.0f) + (t->d < -1.0f) * 2 + (t->d != t->d) * 4;
}

kernel void reals(global const ulong *in, global ulong *out) {
  int i = (int)get_global_id(0);
  parts p;
  p.u = in[i];
  float x = p.f[0], y = p.f[1];
  double d = (double)x, e = (double)y;
  int r = (x < y) | (x <= y) << 1 | (x > y) << 2 | (x >= y) << 3 | (x == y) << 4 | (x != y) << 5;
  r |= !(x < y) << 6 | !(x >= y) << 7 | !(x <= y) << 8 | !(x > y) << 9 | !(x == x) << 10;
  r |= (d < e) << 11 | !(d <= e) << 12 | (d == e) << 13 | (d != d) << 14;
  p.f[0] = (float)(long)in[i] - (float)(uint)in[i];
  p.f[1] = (float)((double)(long)in[i] * 0.1) + (float)(char)in[i];
  out[i] = p.u * 3 + (ulong)r + (ulong)(long)(int)(float)(short)in[i];
}

/* 64-bit arithmetic whose lower half is used, and in some cases the upper half too. */
kernel void halves(global const ulong *in, global ulong *out) {
  int i = (int)get_global_id(0);
  ulong x = in[i], y = in[i + 1], whole = x * 5 + y, sum = x, both = y;
  int n = (int)(x >> 60), a = (int)(x + y * 3), b = (int)((x ^ y) - 7), c = (int)(sum << 5);
  uint d = (uint)((x & 0xff00ff00fful) | (y << 31)), e = (uint)(a < b ? x : y);
  short f = (short)(x * y + (x << 40));
  long g = (long)(int)(x + 3) * 8, h = (long)(int)(y - x) >> 3, k = (long)a * b;
  for (int j = 0; j < n; j++) {
    sum = sum * 3 + (j & 1 ? y : x);
    both += sum >> 1;
  }
  int low = (int)(sum + 0x100000000ul), from = (int)both;
  bool less = (int)(x + 1) < (int)y, even = (uint)(x - y) == 0x80000000u, above = (int)(whole + 2) > 5;
  out[i] = whole ^ both ^ (ulong)(long)(a + b + c) ^ (ulong)d << 9 ^ (ulong)e * 3 ^ (ulong)f ^ (ulong)g ^
           (ulong)h ^ (ulong)k ^ (ulong)low * 7 ^ (ulong)from << 20 ^ (ulong)less << 50 ^
           (ulong)even << 51 ^ (ulong)above << 52;
}
