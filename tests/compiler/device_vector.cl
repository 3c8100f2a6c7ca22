/* Kernels of device_vector.c. Each checks a family of built-in functions in
 * vector form against the scalar forms (which device_math.c and
 * device_integer.c check), or by what must come out. One work-group of GROUP
 * items; in: 64 floats around 1 of both signs; scratch: zeros. A failed check
 * leaves 1 at its line. */
#define GROUP 96
#define CHECK(c)                                                                                   \
  if (!(c))                                                                                        \
  failures[__LINE__] = 1
#define KERNEL(name)                                                                               \
  kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void name(                             \
      global const float *in, global int *failures, global ulong *scratch)

KERNEL(vector_math) {
  float4 a = vload4(get_local_id(0) % 8, in), b = vload4(3, in), c = vload4(5, in);
  float s = in[7];
  float4 p = fabs(a), q = fabs(b);
  CHECK(all(fmax(a, s) == (float4)(fmax(a.x, s), fmax(a.y, s), fmax(a.z, s), fmax(a.w, s))));
  CHECK(all(fmin(a, s) == (float4)(fmin(a.x, s), fmin(a.y, s), fmin(a.z, s), fmin(a.w, s))));
  CHECK(all(sin(a) == (float4)(sin(a.x), sin(a.y), sin(a.z), sin(a.w))));
  CHECK(all(pow(p, q) == (float4)(pow(p.x, q.x), pow(p.y, q.y), pow(p.z, q.z), pow(p.w, q.w))));
  CHECK(all(ldexp(a, 3) == a * 8));
  CHECK(all(ldexp(a, (int4)(1, 2, 3, 4)) == a * (float4)(2, 4, 8, 16)));
  CHECK(all(fma(a, b, c) == (float4)(fma(a.x, b.x, c.x), fma(a.y, b.y, c.y), fma(a.z, b.z, c.z),
                                     fma(a.w, b.w, c.w))));
  float4 cosine, whole;
  int4 exponent, quotient;
  float4 sine = sincos(a, &cosine);
  float second;
  CHECK(sine.z == sincos(a.z, &second) && cosine.z == second);
  CHECK(all(fract(a, &whole) + whole == a));
  float4 mantissa = frexp(a, &exponent);
  CHECK(all(ldexp(mantissa, exponent) == a));
  float4 rest = remquo(a, b, &quotient);
  int one;
  CHECK(rest.w == remquo(a.w, b.w, &one) && quotient.w == one);
  CHECK(all(ilogb(a) == (int4)(ilogb(a.x), ilogb(a.y), ilogb(a.z), ilogb(a.w))));
  CHECK(all(pown(a, (int4)(2, 3, -1, 0)) ==
            (float4)(pown(a.x, 2), pown(a.y, 3), pown(a.z, -1), pown(a.w, 0))));
  CHECK(all(isnan(nan((uint4)(1, 2, 3, 4)))) && isnan(nan(5ul)));
  double3 d = convert_double3(a.xyz), e;
  CHECK(all(modf(d, &e) + e == d));
  CHECK(all(sqrt(d * d) == fabs(d)));
  float16 w = vload16(1, in);
  float16 powers = exp(w);
  CHECK(fabs(powers.sf - exp(w.sf)) < 1e-5f && fabs(powers.s9 - exp(w.s9)) < 1e-5f);
}

KERNEL(common_functions) {
  float4 a = vload4(get_local_id(0) % 8, in), b = vload4(3, in), t = fabs(vload4(2, in)) / 4;
  float s = in[9];
  CHECK(all(clamp(a, -0.5f, 0.5f) == fmin(fmax(a, -0.5f), 0.5f)));
  CHECK(all(max(a, s) == fmax(a, s)) && all(min(a, b) == fmin(a, b)));
  CHECK(all(fabs(mix(a, b, t) - (a + (b - a) * t)) < 1e-5f));
  CHECK(all(fabs(mix(a, b, 0.25f) - (a + (b - a) * 0.25f)) < 1e-5f));
  CHECK(all(step(s, a) == (float4)(step(s, a.x), step(s, a.y), step(s, a.z), step(s, a.w))));
  CHECK(all(smoothstep(-1.0f, 1.0f, a) == smoothstep((float4)-1.0f, (float4)1.0f, a)));
  CHECK(smoothstep(2.0f, 4.0f, 3.0f) == 0.5f && smoothstep(2.0f, 4.0f, 5.0f) == 1);
  CHECK(all(sign(a) == select((float4)-1.0f, (float4)1.0f, a > 0)));
  CHECK(all(clamp((int3)(-5, 0, 5), -2, 3) == (int3)(-2, 0, 3)));
  CHECK(all(max((uchar4)(1, 200, 3, 4), (uchar)5) == (uchar4)(5, 200, 5, 5)));
  CHECK(all(upsample((char2)(-1, 1), (uchar2)(2, 255)) == (short2)(-254, 511)));
  CHECK(all(abs((char4)(-128, 127, -1, 0)) == (uchar4)(128, 127, 1, 0)));
  CHECK(all(rotate((ulong2)(1, 3), (ulong2)(63, 63)) ==
            (ulong2)(0x8000000000000000, 0x8000000000000001)));
}

KERNEL(relational) {
  float4 a = vload4(get_local_id(0) % 8, in), b = vload4(3, in);
  float4 odd = (float4)(NAN, INFINITY, -0.0f, 0x1p-140f * in[63]);
  double4 odd_double = convert_double4(odd);
  CHECK(isequal(a.x, a.x) == 1 && isequal(odd.x, odd.x) == 0);
  CHECK(all(isequal(a, a) == (int4)-1));
  CHECK(all(isnan(odd) == (int4)(-1, 0, 0, 0)) && all(isinf(odd) == (int4)(0, -1, 0, 0)));
  CHECK(all(isfinite(odd) == (int4)(0, 0, -1, -1)) && all(isnormal(odd) == (int4)0));
  CHECK(all(isnormal(odd_double) == (long4)(0, 0, 0, -1)) && isnormal(1.0) == 1);
  CHECK(signbit(odd.z) == 1 && signbit(1.0f) == 0 && all(signbit(-a * a) == (int4)-1));
  CHECK(all(isless(a, b) == (a < b)) && all(isgreater(a, b) == (a > b)));
  CHECK(all(islessequal(a, b) == (a <= b)) && all(isgreaterequal(a, b) == (a >= b)));
  CHECK(all(isnotequal(odd, odd) == (int4)(-1, 0, 0, 0)));
  CHECK(all(islessgreater(odd, a) == (int4)(0, -1, -1, -1)));
  CHECK(all(isordered(odd, a) == (int4)(0, -1, -1, -1)));
  CHECK(all(isunordered(odd_double, odd_double) == (long4)(-1, 0, 0, 0)));
  CHECK(any((char3)(1, 2, -1)) == 1 && any((char3)(1, 2, 3)) == 0 && any(-1) == 1 && any(1L) == 0);
  CHECK(all((short2)(-1, -5)) == 1 && all((short2)(-1, 5)) == 0 && all(-1L) == 1);
  CHECK(all(select(a, b, (int4)(-1, 1, 0, -2)) == (float4)(b.x, a.y, a.z, b.w)));
  CHECK(all(select(a, b, (uint4)(0x80000000u, 1, 0, ~0u)) == (float4)(b.x, a.y, a.z, b.w)));
  CHECK(select(a.x, b.x, 1) == b.x && select(a.x, b.x, 0) == a.x);
  CHECK(bitselect(1.0f, -1.0f, as_float(0x80000000u)) == -1.0f);
  CHECK(all(bitselect((ulong2)0x1234, (ulong2)0xabcd, (ulong2)0xf0f0) == (ulong2)0xa2c4));
}

#pragma OPENCL EXTENSION cl_khr_fp16 : enable
KERNEL(halfs) {
  half4 a = convert_half4(vload4(get_local_id(0) % 8, in)), b = convert_half4(vload4(3, in));
  half4 c = (half4)(0.5h, 2, -1, 4), odd = (half4)(NAN, -INFINITY, 0x1p-24h, -0.0h);
  float4 wide = convert_float4(a), other = convert_float4(b);
  CHECK(all(a + b == convert_half4(wide + other)) && all(a - b == convert_half4(wide - other)));
  CHECK(all(a * b == convert_half4(wide * other)) && all(-a == convert_half4(-wide)));
  CHECK(all(a / b == convert_half4(convert_double4(a) / convert_double4(b))));
  CHECK(all(fma(a, b, c) == convert_half4(convert_double4(a) * convert_double4(b) +
                                          convert_double4(c))));
  CHECK(all((a < b) == convert_short4(wide < other)) && all((a >= b) == ~(a < b)));
  CHECK(all(isnan(odd) == (short4)(-1, 0, 0, 0)) && all(isinf(odd) == (short4)(0, -1, 0, 0)));
  CHECK(all(isnormal(odd) == (short4)0) && all(isfinite(odd) == (short4)(0, 0, -1, -1)));
  CHECK(all(signbit(odd.yzw) == (short3)(-1, 0, -1)) && !(odd.x == odd.x) && odd.x != odd.x);
  CHECK(all(fmax(a, 0.5h) == max(a, (half4)0.5h)) && all(fmin(b, a) == min(a, b)));
  CHECK(all(clamp(a, -0.5h, 0.5h) == fmin(fmax(a, -0.5h), 0.5h)));
  CHECK(all(select(a, b, (short4)(-1, 1, 0, -2)) == (half4)(b.x, a.y, a.z, b.w)));
  CHECK(bitselect(1.0h, -1.0h, as_half((short)0x8000)) == -1.0h);
  CHECK(all(shuffle(a, (ushort4)(3, 2, 1, 0)) == a.wzyx));
  CHECK(fabs(dot(c, c) - 21.25h) == 0 && length((half2)(3e4, 4e4)) == 50000.0h);
  CHECK(distance((half3)(1, 2, 3), (half3)(1, 5, 7)) == 5 && normalize(-a.x) == -sign(a.x));
  CHECK(fabs(length(normalize(a)) - 1) < 0.002h && cross(a, a).w == 0);
  CHECK(all(mix(a, b, (half)0) == a) && all(step(a, a) == (half4)1));
  half4 whole;
  int4 exponent;
  CHECK(all(fract(a, &whole) + whole == a) && fract(-0x1p-24h, (half *)&whole) < 1);
  CHECK(all(ldexp(frexp(a, &exponent), exponent) == a) && all(ilogb(c) == (int4)(-1, 1, 0, 2)));
  CHECK(nextafter(0.0h, -1.0h) == -0x1p-24h && isinf(nextafter(65504.0h, (half)INFINITY)));
  CHECK(convert_char_sat((half)300) == 127 && convert_half_rtz(65519) == 65504.0h);
  CHECK(isinf(convert_half(65520)) && convert_ulong_sat((half)-3) == 0 && sizeof(half16) == 32);
  half16 sixteen = (half16)(a, b, a + b, a * b);
  local half parts[16 * 2];
  vstore16(sixteen, get_local_id(0) & 1, parts);
  barrier(CLK_LOCAL_MEM_FENCE);
  CHECK(all(isfinite(vload8(3, parts))));
}

KERNEL(geometric) {
  float4 a = vload4(get_local_id(0) % 8, in), b = vload4(3, in);
  float exact = sqrt(a.x * a.x + a.y * a.y + a.z * a.z + a.w * a.w);
  float4 n = normalize(a);
  CHECK(fabs(dot(a, b) - (a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w)) < 1e-5f);
  CHECK(dot(a.x, b.x) == a.x * b.x && dot(convert_double2(a.xy), (double2)(1, 0)) == a.x);
  CHECK(fabs(length(a) - exact) < 1e-6f * exact && length(a.x) == fabs(a.x));
  CHECK(fabs(length(a * 0x1p-100f) - exact * 0x1p-100f) < 1e-6f * exact * 0x1p-100f);
  CHECK(fabs(length(a * 0x1p100f) - exact * 0x1p100f) < 1e-6f * exact * 0x1p100f);
  CHECK(fabs(length(convert_double4(a) * 0x1p-900) * 0x1p900 - exact) < 1e-6f * exact);
  CHECK(length((float2)(INFINITY, 1)) == INFINITY && length((float3)0.0f) == 0);
  CHECK(fabs(distance(a, b) - length(a - b)) < 1e-6f * exact);
  CHECK(all(fabs(n - a / exact) < 1e-6f));
  CHECK(all(fabs(normalize(a * 0x1p-100f) - n) < 1e-6f) &&
        all(fabs(normalize(a * 0x1p120f) - n) < 1e-6f));
  double one = a.x / a.x;
  CHECK(hypot(one * 0x1p64, -0x1.fffffffffffffp1023) == 0x1.fffffffffffffp1023);
  double4 wide = {0x1p511, 0x1.8p-500, 0x1.23456789abcdep-512, -0x1.8p511};
  double4 unit = normalize(wide * 2), limit = fabs(unit) * 1e-14;
  CHECK(all(fabs(normalize(wide * 0x1p-400) - unit) <= limit) && unit.z != 0);
  CHECK(all(normalize((float3)0.0f) == 0) &&
        all(normalize((float2)(-INFINITY, 1)) == (float2)(-1, 0)));
  CHECK(all(cross((float3)(1, 0, 0), (float3)(0, 1, 0)) == (float3)(0, 0, 1)));
  CHECK(all(fabs(cross(a, b) - (float4)(a.yzx * b.zxy - a.zxy * b.yzx, 0)) < 1e-5f));
  CHECK(fabs(fast_length(a) - exact) < 1e-3f * exact &&
        fabs(fast_distance(a, b) - distance(a, b)) < 1e-3f * exact);
  CHECK(all(fabs(fast_normalize(a) - n) < 1e-3f) && all(fast_normalize((float3)0.0f) == 0));
}

KERNEL(shuffles) {
  uint i = get_local_id(0);
  uint4 a = (uint4)(10, 20, 30, 40) + i, b = a + 100;
  uint4 mask = (uint4)(i, i >> 1, i >> 2, 3);
  uint list[4] = {a.x, a.y, a.z, a.w}, other[4] = {b.x, b.y, b.z, b.w};
  uint4 r = shuffle(a, mask), r2 = shuffle2(a, b, mask);
  CHECK(r.x == list[i & 3] && r.y == list[i >> 1 & 3] && r.z == list[i >> 2 & 3] && r.w == a.w);
  CHECK(r2.x == ((i & 4) ? other[i & 3] : list[i & 3]) && r2.w == a.w);
  CHECK(all(shuffle((uchar2)(7, 9), (uchar8)(0, 1, 1, 0, 3, 2, 255, 0)) ==
            (uchar8)(7, 9, 9, 7, 9, 7, 9, 7)));
  CHECK(all(shuffle2((double2)(1, 2), (double2)(3, 4), (ulong4)(3, 2, 1, 0)) ==
            (double4)(4, 3, 2, 1)));
}

KERNEL(loads) {
  uint i = get_local_id(0);
  global char *bytes = (global char *)scratch + i * 64;
  vstore3((char3)(1, -2, 3), 1, bytes);
  CHECK(bytes[2] == 0 && bytes[3] == 1 && bytes[4] == -2 && bytes[5] == 3 && bytes[6] == 0);
  CHECK(all(vload3(1, bytes) == (char3)(1, -2, 3)) && all(vload2(2, bytes) == (char2)(-2, 3)));
  global ushort *shorts = (global ushort *)(bytes + 8);
  vstore16((ushort16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15) + (ushort)i, 0,
           shorts + 1);
  CHECK(shorts[1] == i && shorts[16] == i + 15 && vload8(1, shorts + 1).s7 == i + 15);
  local double parts[3 * GROUP];
  vstore3((double3)(i, i + 1, i + 2), i, parts);
  barrier(CLK_LOCAL_MEM_FENCE);
  uint next = (i + 1) % GROUP;
  CHECK(all(vload3(next, parts) == (double3)(next, next + 1, next + 2)));
}

KERNEL(atomics_32) {
  local int sums[8];
  uint i = get_local_id(0);
  global int *words = (global int *)scratch;
  if (i < 8)
    sums[i] = i == 3 ? INT_MAX : 0;
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  int before = atomic_add(&sums[0], 2);
  CHECK(before >= 0 && before < 2 * GROUP && before % 2 == 0);
  atomic_sub(&sums[1], (int)i);
  atomic_max(&sums[2], (int)i * 3);
  atomic_min(&sums[3], -(int)i);
  atomic_or(&sums[4], 1 << (i & 31));
  atomic_inc(&sums[5]);
  atomic_xor(&sums[6], (int)i);
  atomic_dec(&sums[7]);
  atomic_add(&words[0], 2);
  atomic_max((global uint *)&words[1], 0x80000000u + i);
  atomic_min(&words[2], -(int)i);
  while (atomic_cmpxchg(&words[3], (int)i, (int)i + 1) != (int)i)
    ;
  atomic_xchg((global float *)&words[4], 1.5f);
  atomic_inc((global uint *)&words[5]);
  atomic_and(&words[6], 0);
  atomic_sub(&words[7], 1);
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  CHECK(sums[0] == 2 * GROUP && sums[1] == -GROUP * (GROUP - 1) / 2 && sums[2] == 3 * (GROUP - 1));
  CHECK(sums[3] == 1 - GROUP && sums[4] == -1 && sums[5] == GROUP && sums[6] == 0 &&
        sums[7] == -GROUP);
  CHECK(words[0] == 2 * GROUP && words[1] == (int)(0x80000000u + GROUP - 1) &&
        words[2] == 1 - GROUP);
  CHECK(words[3] == GROUP && as_float(words[4]) == 1.5f && words[5] == GROUP && words[7] == -GROUP);
}

#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable
KERNEL(atomics_64) {
  local ulong sums[4];
  uint i = get_local_id(0);
  global long *words = (global long *)scratch;
  if (i < 4)
    sums[i] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  atom_add(&sums[0], 0x100000001ul);
  atom_max(&sums[1], (ulong)i << 40);
  atom_or(&sums[2], 1ul << (i % 64));
  atom_xchg(&sums[3], 5ul);
  atom_sub(&words[0], 0x100000001l);
  atom_min(&words[1], -((long)i << 40));
  atom_inc(&words[2]);
  atom_xor(&words[3], (long)i << 32);
  long old = words[4], seen;
  while ((seen = atom_cmpxchg(&words[4], old, old + (1l << 33))) != old)
    old = seen;
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  CHECK(sums[0] == 0x100000001ul * GROUP && sums[1] == (GROUP - 1ul) << 40 && sums[2] == ~0ul);
  CHECK(sums[3] == 5 && words[0] == -0x100000001l * GROUP && words[1] == -((GROUP - 1l) << 40));
  CHECK(words[2] == GROUP && words[3] == 0 && words[4] == (long)GROUP << 33);
}

KERNEL(async_copies) {
  local float tile[64], strided[16];
  local int3 triples[8];
  local double4 wide[4];
  uint i = get_local_id(0);
  global int3 *source = (global int3 *)scratch;
  global double4 *sink = (global double4 *)(scratch + 64);
  if (i < 8)
    source[i] = (int3)(i, i + 1, i + 2);
  if (i < 4)
    wide[i] = (double4)(i, i + 1, i + 2, i + 3);
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  event_t events[2];
  events[0] = async_work_group_copy(tile, in, 64, 0);
  events[1] = async_work_group_strided_copy(strided, in + 1, 16, 3, 0);
  event_t third = async_work_group_copy(triples, source, 8, 0);
  third = async_work_group_strided_copy(sink, wide, 4, 2, third);
  prefetch(in, 64);
  wait_group_events(2, events);
  wait_group_events(1, &third);
  CHECK(tile[i % 64] == in[i % 64] && strided[i % 16] == in[1 + 3 * (i % 16)]);
  CHECK(all(triples[i % 8] == (int3)(i % 8) + (int3)(0, 1, 2)));
  barrier(CLK_GLOBAL_MEM_FENCE);
  CHECK(all(sink[2 * (i % 4)] == wide[i % 4]));
}
