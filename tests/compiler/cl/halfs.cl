// cl_khr_fp16: halfs as values of every kind.
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

struct mixed {
  half a;
  half3 b;
  char c;
};
constant half table[4] = {1.0h, -0.5h, 65504.0h, 0x1p-24h};

half add(half a, half2 b) { return a + b.x * b.y; }
half8 __attribute__((noinline)) scaled(half8 x, half factor) { return -x * factor; }

kernel void values(global half *a, global const half16 *b, half c, half4 d, struct mixed e,
                   local half2 *l, volatile global half *v) {
  size_t i = get_global_id(0);
  half x = a[i], y = c + table[i & 3];
  l[i] = (half2)(x, y);
  barrier(CLK_LOCAL_MEM_FENCE);
  half2 other = l[i ^ 1];
  x = x < y || x == other.y ? add(x, other) : fmod(x, y) + e.a;
  *v = *v + x;
  half3 three = e.b * d.xyz + convert_half3_rtz((float3)(x, i, 3.5f));
  for (int k = 0; k < (int)three.y; k++)
    three = fma(three, d.wzy, three);
  half16 sixteen = b[i] / d.x;
  sixteen.lo = scaled(sixteen.hi, x);
  vstore16(sixteen, i, a);
  a[i] = dot(three, three) + (half)(uchar)e.c + as_half((short)0x3c00) + (half)1.0e-3;
  a[i + 1] = isnan(x) ? (half)i : (half)(double)x;
}

kernel void assembly(global half *a, global const half *b) {
  half r;
  asm("add.f16 %0, %1, %2;" : "=h"(r) : "h"(a[0]), "h"(b[0]));
  a[0] = r;
}
