/* Vectors of 2, 3, 4, 8 and 16: loads, stores, components, conversions,
 * literals, comparisons and selection, dynamic components. */
#define COPY(T, name)                                                                              \
  kernel void name(global const T *in, global T *out, T by) {                                      \
    size_t i = get_global_id(0);                                                                   \
    out[i] = in[i] * by + in[i + 1];                                                               \
  }
COPY(char2, copy_char2)
COPY(uchar3, copy_uchar3)
COPY(char4, copy_char4)
COPY(uchar8, copy_uchar8)
COPY(char16, copy_char16)
COPY(short2, copy_short2)
COPY(ushort3, copy_ushort3)
COPY(short4, copy_short4)
COPY(ushort8, copy_ushort8)
COPY(short16, copy_short16)
COPY(int2, copy_int2)
COPY(uint3, copy_uint3)
COPY(int4, copy_int4)
COPY(uint8, copy_uint8)
COPY(int16, copy_int16)
COPY(long2, copy_long2)
COPY(ulong3, copy_ulong3)
COPY(long4, copy_long4)
COPY(ulong8, copy_ulong8)
COPY(long16, copy_long16)
COPY(float2, copy_float2)
COPY(float3, copy_float3)
COPY(float4, copy_float4)
COPY(float8, copy_float8)
COPY(float16, copy_float16)
COPY(double2, copy_double2)
COPY(double3, copy_double3)
COPY(double4, copy_double4)
COPY(double8, copy_double8)
COPY(double16, copy_double16)

kernel void components(global float4 *v, global int8 *w, int n) {
  size_t i = get_global_id(0);
  float4 a = v[i];
  a.xy = a.wz;
  a.s3 = a.hi.x + a.even.y;
  float8 wide = (float8)(a, a.wzyx);
  w[i] = convert_int8(wide) + (int8)(1, 2, 3, 4, 5, 6, 7, 8);
  int8 mask = wide > (float8)(0.5f);
  w[i + 1] = select((int8)(0), w[i], mask) & ~mask;
  float lanes[4] = {a.x, a.y, a.z, a.w};
  a[n & 3] = lanes[(n + 1) & 3];
  v[i] = (mask[n & 7] != 0) ? a : -a;
  v[i].z += a[(n + 2) & 3];
}

kernel void packed(global const uchar *in, global uchar *out, global const float *f) {
  size_t i = get_global_id(0);
  uchar16 bytes = vload16(i, in);
  uint4 words = as_uint4(bytes) + (uint4)(1, 2, 3, 4);
  ushort8 halves = as_ushort8(words) >> (ushort8)(3);
  vstore16(as_uchar16(halves), i, out);
  float3 t = vload3(i, f);
  vstore3(convert_uchar3_sat(t * 255.0f), i, out + 64);
  double2 d = as_double2(words);
  long2 l = as_long2(d);
  vstore4(convert_uchar4(as_int4(l)), i, out + 128);
}

float4 turn(float4 v, float16 m) {
  return (float4)(dot(v, m.s0123), dot(v, m.s4567), dot(v, m.s89ab), dot(v, m.scdef));
}
kernel void transform(global float4 *v, float16 m, float3 move) {
  size_t i = get_global_id(0);
  v[i] = turn(turn(v[i], m), m.s048c159d26ae37bf) + (float4)(move, 1.0f);
}

/* Without optimisation an element of a constant that is seen as another vector. */
kernel void seen_as_others(global int *out, global short2 *s) {
  out[0] = as_int2((char8)1).x + as_int8((short16)(out[1] != 0 ? 3 : 4)).s5;
  s[0] = as_short4((int2)(5, 6)).s13;
  out[2] = ((uint4)(as_uint2((uchar8)7), 8, 9)).y;
}
