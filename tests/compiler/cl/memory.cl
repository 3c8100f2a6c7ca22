/* Address spaces and objects in memory: structs by value and by pointer,
 * unions, arrays, packed data, program-scope constants, local variables. */
typedef struct {
  char tag;
  int4 v;
  short s[3];
  double d;
} item;
typedef struct __attribute__((packed)) {
  uchar a;
  uint b;
  ulong c;
  float d;
} tight;
typedef union {
  float f;
  uint u;
  uchar b[4];
} bits;
typedef struct {
  int x, y;
} pair;

constant int table[5] = {1, -2, 3, -4, 5};
constant float4 colours[2] = {(float4)(1, 2, 3, 4), (float4)(5, 6, 7, 8)};
constant item first = {'x', (int4)(9, 8, 7, 6), {1, 2, 3}, 2.5};
constant char text[] = "twelve bytes";
constant pair pairs[3] = {{1, 2}, {3, 4}, {5, 6}};
constant ushort halves[4] = {0x3c00, 0x4000, 0xb800, 0x7bff};

pair flip(pair p) { return (pair){p.y, p.x}; }
item grow(item i, int by) {
  i.v += by;
  i.s[by & 1] = (short)by;
  i.d *= 2;
  return i;
}
void fill(global int *out, local int *l, int *p, constant int *c, int n) {
  for (int i = 0; i < n; i++)
    out[i] = l[i] + p[i & 3] + c[i % 5];
}

kernel void structs(global item *a, item by_value, pair p, global pair *q) {
  size_t i = get_global_id(0);
  item x = grow(a[i], p.x);
  x.v.xy += by_value.v.zw;
  x.s[2] = by_value.s[p.y & 1];
  by_value.s[1] = 5;
  a[i] = grow(x, by_value.s[i & 1]);
  q[i] = flip(flip(p));
  a[i + 1] = first;
}

kernel void tight_structs(global tight *t, global bits *b) {
  size_t i = get_global_id(0);
  t[i].b += t[i].a;
  t[i].c ^= 0x123456789abcdef;
  t[i].d *= 2.0f;
  b[i].u ^= 0x80000000;
  b[i].b[1] = (uchar)b[i].f;
}

kernel void spaces(global int *out, local int *dynamic, constant int *args, int n) {
  local int fixed[64];
  local float4 four[8];
  int own[4] = {1, 2, 3, 4};
  int big[100];
  size_t l = get_local_id(0);
  for (int i = 0; i < 100; i++)
    big[i] = i * n;
  fixed[l] = (int)l;
  four[l & 7] = colours[n & 1];
  dynamic[l] = table[n % 5] + text[n] + pairs[n].y;
  barrier(CLK_LOCAL_MEM_FENCE);
  own[n & 3] = big[n];
  fill(out, n ? dynamic : fixed, own, args, n);
  fill(out + n, fixed, big, table, n);
  out[0] += (int)four[n].z + (int)vload_half(n, (constant half *)halves);
}

kernel void pointers(global int *a, global int *b, int n) {
  global int *p = n > 3 ? a : b;
  global int *end = p + n;
  for (; p != end; p++)
    *p += (int)(end - p);
  global int *rows[2] = {a, b};
  *rows[n & 1] = 5;
  size_t address = (size_t)a;
  *(global int *)(address + 16) = (int)(address & 3);
  volatile global int *v = a;
  v[2] = v[1];
  v[2] = v[1];
}

kernel void volatile_vectors(volatile global float4 *v, volatile local int *l, global void *raw) {
  v[1] = v[0];
  l[0] += 3;
  *(global short *)raw = (short)l[0];
}

kernel void halves_in_memory(global half *h, global float *f) {
  size_t i = get_global_id(0);
  f[i] = vload_half(i, h) + vload_half4(i, h).y;
  vstore_half(f[i], i, h);
  vstore_half4_rtz((float4)(f[i]), i, h + 16);
  vstore_half(2.0, i, h);
}

constant int *constant chosen[3] = {&table[1], table, &table[4]};
constant struct {
  int before;
  constant char *name;
  float after;
} named = {3, text + 7, 1.5f};
kernel void addresses(global int *out, int n) {
  out[n] = *chosen[n] + named.name[n] + named.before + (int)named.after;
}

/* LLVM takes the numbers out of the vectors, as out of one integer of 256 bits. */
kernel void first_of_vector(global const long4 *restrict v, global const double4 *restrict w,
                            global long *restrict out) {
  long4 all = popcount(*v);
  double4 roots = sqrt(*w);
  out[0] = all.s0 + all.s1 + *(global const long *)v + *(global const int *)v;
  out[1] = (long)(roots.s0 + roots.s3) + *(global const long *)w;
}

/* Addresses of constants as arguments of calls that return more than one number. */
constant char letters[16] = {3, 4, -5};
__attribute__((noinline)) int2 two(constant int *from) { return (int2)(from[0], from[1]); }
kernel void from_constants(global int2 *out, global char4 *c) {
  out[0] = two(table);
  out[1] = two(&table[out[0].x & 3]);
  c[0] = vload4(0, letters);
  c[1] = vload4(2, letters + 1);
}
