/* Tests extensions that consist of a few instructions each: dot products of
 * bytes, floating-point atomics, clocks, hints, inline PTX and images of halves.
 * Compares with the host's results; everything is exact.
 */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/compiler/device/device_cl.h"

enum { ITEMS = 2048, SHOWN = 4 };

static const char dot_source[] =
    "#define DOT(k, A, B, R, name) \\\n"
    "  r[k * n + i] = dot(as_##A(x), as_##B(y)); \\\n"
    "  r[(k + 1) * n + i] = dot_4x8packed_##name(x, y); \\\n"
    "  r[(k + 2) * n + i] = dot_acc_sat(as_##A(x), as_##B(y), (R)z); \\\n"
    "  r[(k + 3) * n + i] = dot_acc_sat_4x8packed_##name(x, y, (R)z);\n"
    "kernel void test(global const uint *a, global const uint *b, global const uint *c,\n"
    "                 global uint *r) {\n"
    "  size_t i = get_global_id(0), n = get_global_size(0);\n  uint x = a[i], y = b[i], z = c[i];\n"
    "  DOT(0, uchar4, uchar4, uint, uu_uint)\n  DOT(4, char4, char4, int, ss_int)\n"
    "  DOT(8, uchar4, char4, int, us_int)\n  DOT(12, char4, uchar4, int, su_int)\n}\n";

static int64_t byte(unsigned word, unsigned i, bool is_signed) {
  const unsigned value = word >> 8 * i & 0xff;
  return is_signed && value > 127 ? (int64_t)value - 256 : (int64_t)value;
}

static int test_dot(struct device_cl *cl) {
  enum { RESULTS = 16, FORMS = 4 };
  static unsigned a[ITEMS], b[ITEMS], c[ITEMS], out[RESULTS * ITEMS];
  static const bool signs[FORMS][2] = {{false, false}, {true, true}, {false, true}, {true, false}};
  cl_program program = device_cl_build_with(cl, dot_source, "-cl-std=CL3.0");
  if (!program)
    return 1;
  for (unsigned i = 0; i < ITEMS; i++) {
    const uint64_t random = device_random();
    a[i] = i % 8 ? (unsigned)random : 0x80ff80ffu;
    b[i] = i % 8 ? (unsigned)(random >> 32) : 0x80ffff80u;
    c[i] = i % 3 ? (unsigned)device_random() : 0x7fffffffu + (i & 1) + (i & 2);
  }
  struct device_array arrays[] = {
      {a, sizeof a, false}, {b, sizeof b, false}, {c, sizeof c, false}, {out, sizeof out, true}};
  int failures = !device_cl_run(cl, program, "test", ITEMS, 0, arrays, 4);
  for (unsigned k = 0; k < RESULTS && !failures; k++)
    for (unsigned i = 0; i < ITEMS; i++) {
      const bool *sign = signs[k / 4], any = sign[0] || sign[1];
      int64_t want = 0, least = any ? INT32_MIN : 0, most = any ? INT32_MAX : UINT32_MAX;
      for (unsigned j = 0; j < 4; j++)
        want += byte(a[i], j, sign[0]) * byte(b[i], j, sign[1]);
      if (k % 4 >= 2) {
        want += any ? (int64_t)(int32_t)c[i] : (int64_t)c[i];
        want = want < least ? least : want > most ? most : want;
      }
      if (out[k * ITEMS + i] != (uint32_t)want && failures++ < SHOWN)
        printf("  dot product %u of %x, %x, %x: %x, not %x\n", k, a[i], b[i], c[i],
               out[k * ITEMS + i], (uint32_t)want);
    }
  clReleaseProgram(program);
  printf("dot products%s\n", failures ? "  FAIL" : "");
  return failures != 0;
}

/* Each check in the kernel writes 1 at its line number. The host checks the group's sums. */
static const char rest_source[] =
    "#define CHECK(c) if (!(c)) failures[__LINE__] = 1\n"
    "kernel void rest(global int *failures, global atomic_float *f, global atomic_double *d) {\n"
    "  local atomic_float sum, low;\n  local atomic_double high;\n"
    "  int i = get_local_id(0), n = get_local_size(0);\n"
    "  if (i == 0) {\n"
    "    atomic_init(&sum, 0.0f);\n    atomic_init(&low, INFINITY);\n"
    "    atomic_init(&high, (double)NAN);\n  }\n"
    "  barrier(CLK_LOCAL_MEM_FENCE);\n"
    "#define RELAXED memory_order_relaxed, memory_scope_work_group\n"
    "  atomic_fetch_add_explicit(&sum, (float)i, RELAXED);\n"
    "  atomic_fetch_min_explicit(&low, (i == 3 ? NAN : 5.5f - i), RELAXED);\n"
    "  atomic_fetch_max_explicit(&high, i - 1000.25, RELAXED);\n"
    "  atomic_fetch_add_explicit(f, 0.5f, RELAXED);\n"
    "  atomic_fetch_sub_explicit(d, (double)i, RELAXED);\n"
    "  atomic_fetch_min_explicit(f + 1, (float)-i, RELAXED);\n"
    "  atomic_fetch_max_explicit(d + 1, (double)i, RELAXED);\n"
    "  barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  CHECK(atomic_load_explicit(&sum, RELAXED) == n * (n - 1) / 2);\n"
    "  CHECK(atomic_load_explicit(&low, RELAXED) == 6.5f - n);\n"
    "  CHECK(atomic_load_explicit(&high, RELAXED) == n - 1001.25);\n"
    "  ulong device = clock_read_device(), group = clock_read_work_group();\n"
    "  ulong one = clock_read_sub_group();\n  uint2 hilo = clock_read_hilo_sub_group();\n"
    "  CHECK(clock_read_device() >= device && one > group && as_ulong(hilo) > one);\n"
    "  CHECK(as_ulong(clock_read_hilo_device()) >= device && clock_read_work_group() > group);\n"
    "  __builtin_assume(n > 0);\n  CHECK(__builtin_expect(i < n, 1));\n"
    "  uint lanes, bytes = 0x01020304;\n  float product;\n"
    "  asm(\"prmt.b32 %0, %1, 0, 0x0123;\" : \"=r\"(lanes) : \"r\"(bytes));\n"
    "  asm volatile(\"mul.rn.f32 %0, %1, 0f40000000;\" : \"=f\"(product) : \"f\"((float)i));\n"
    "  CHECK(lanes == 0x04030201 && product == 2 * i);\n"
    "  uint chosen;\n  int less;\n  ulong wide;\n"
    "  asm(\"lop3.b32 %0, %1, %2, %3, %4;\" : \"=r\"(chosen) : \"r\"(0xffu << i), \"r\"(lanes), "
    "\"r\"(bytes), \"i\"(0xca));\n"
    "  asm(\"add.s32 %0, %1, %2;\" : \"=r\"(less) : \"r\"(i), \"i\"(-3));\n"
    "  asm(\"add.u64 %0, %1, %2;\" : \"=l\"(wide) : \"l\"((ulong)i), \"n\"(0x123456789aul));\n"
    "  int more;\n"
    "  asm(\"add.s32 %0, %1, %2;\" : \"=r\"(more) : \"ri\"(7), \"ir\"(i));\n"
    "  CHECK(more == 7 + i);\n"
    "  CHECK(chosen == bitselect(bytes, lanes, 0xffu << i) && less == i - 3);\n"
    "  CHECK(wide == i + 0x123456789aul);\n"
    "  int turns = 0;\n#pragma unroll 4\n  for (int k = 0; k < n; k++)\n    turns += k & i;\n"
    "#pragma unroll\n  for (int k = 0; k < 4; k++)\n    turns += k;\n"
    "  int want = 6;\n  for (int k = n; k--;)\n    want += k & i;\n  CHECK(turns == want);\n}\n";

static int test_rest(struct device_cl *cl) {
  enum { LINES = 64, GROUP = 96 };
  static int failed[LINES];
  float f[2] = {1.0f, 100.0f};
  double d[2] = {0.0, -5.0};
  int failures = 0;
  cl_program program = device_cl_build_with(cl, rest_source, "-cl-std=CL3.0");
  struct device_array arrays[] = {
      {failed, sizeof failed, true}, {f, sizeof f, true}, {d, sizeof d, true}};
  if (!program || !device_cl_run(cl, program, "rest", GROUP, GROUP, arrays, 3))
    return 1;
  for (int i = 0; i < LINES; i++)
    if (failed[i] && ++failures)
      printf("  line %d of the kernel\n", i);
  if (f[0] != 1 + GROUP / 2 || f[1] != 1 - GROUP || d[0] != -GROUP * (GROUP - 1) / 2 ||
      d[1] != GROUP - 1)
    printf("  atomics: %g %g %g %g\n", (double)f[0], (double)f[1], d[0], d[1]), failures++;
  clReleaseProgram(program);
  printf("atomics, clocks, hints, assembly%s\n", failures ? "  FAIL" : "");
  return failures != 0;
}

/* Atomics of halves but sums, which the device does not report: two work-items at a time change the
 * two halves of a word. */
static const char halves_source[] =
    "#define RELAXED memory_order_relaxed, memory_scope_work_group\n"
    "#define CHECK(c) if (!(c)) failures[__LINE__] = 1\n"
    "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n"
    "half through_generic(atomic_half *p, half x) { return atomic_exchange(p, x); }\n"
    "kernel void halves(global int *failures, global atomic_half *g, global half *old) {\n"
    "  local atomic_half low[2], high[2], swapped;\n"
    "  int i = get_local_id(0), n = get_local_size(0), side = i & 1;\n"
    "  if (i < 2) {\n"
    "    atomic_store(low + i, (half)INFINITY);\n"
    "    atomic_store_explicit(high + i, (half)NAN, RELAXED);\n"
    "    atomic_store(&swapped, (half)0);\n  }\n"
    "  barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  atomic_fetch_min_explicit(low + side, i == 3 ? (half)NAN : (half)(5.5f - i), RELAXED);\n"
    "  atomic_fetch_max(high + side, (half)(i - 1000));\n"
    "  old[i] = through_generic(g, (half)(i + 1));\n"
    "  old[n + i] = through_generic(&swapped, (half)(i + 1));\n"
    "  atomic_fetch_max_explicit(g + 1, (half)i, RELAXED);\n"
    "  atomic_fetch_min_explicit(g + 2, (half)-i, RELAXED);\n"
    "  barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  CHECK(atomic_load_explicit(low + side, RELAXED) == 5.5f - (n - 2 + side));\n"
    "  CHECK(atomic_load(high + side) == n - 2 + side - 1000);\n"
    "  if (i == 0)\n    old[2 * n] = atomic_load(&swapped);\n}\n";

/* Counts the whole numbers from 1 to limit among halves. */
static void count_halves(const cl_ushort *bits, int count, int *seen, int limit) {
  for (int i = 0; i < count; i++) {
    const float value = ldexpf((float)((bits[i] & 0x3ff) | 0x400), (bits[i] >> 10 & 31) - 25);
    if (bits[i] && value == (float)(int)value && (int)value <= limit)
      seen[(int)value]++;
    seen[0] += !bits[i];
  }
}

static int test_halves(struct device_cl *cl) {
  enum { LINES = 64, GROUP = 96, OLD = 2 * GROUP + 1 };
  static int failed[LINES];
  cl_ushort g[4] = {0, 0xfc00 /* -infinity */, 0x7e00 /* NaN */, 0x1234};
  const cl_ushort greatest = 0x55f0, least = 0xd5f0; /* 95, -95 */
  cl_ushort old[OLD] = {0};
  int failures = 0, swaps[GROUP + 1] = {0}, local_swaps[GROUP + 1] = {0};
  cl_program program = device_cl_build_with(cl, halves_source, "-cl-std=CL3.0");
  struct device_array arrays[] = {
      {failed, sizeof failed, true}, {g, sizeof g, true}, {old, sizeof old, true}};
  if (!program || !device_cl_run(cl, program, "halves", GROUP, GROUP, arrays, 3))
    return 1;
  for (int i = 0; i < LINES; i++)
    if (failed[i] && ++failures)
      printf("  line %d of the kernel\n", i);
  if (g[1] != greatest || g[2] != least || g[3] != 0x1234)
    printf("  halves: %#x %#x %#x\n", g[1], g[2], g[3]), failures++;
  count_halves(old, GROUP, swaps, GROUP);
  count_halves(g, 1, swaps, GROUP);
  count_halves(old + GROUP, GROUP + 1, local_swaps, GROUP);
  for (int i = 0; i <= GROUP; i++)
    failures += swaps[i] != 1 || local_swaps[i] != 1;
  clReleaseProgram(program);
  printf("atomics of halves%s\n", failures ? "  FAIL" : "");
  return failures != 0;
}

/* Atomic sums of floats in global and local memory are rounded once and keep denormals,
 * although the hardware's addition in global memory flushes them to zero. */
static const char sums_source[] =
    "#define RELAXED memory_order_relaxed, memory_scope_device\n"
    "kernel void sums(global atomic_float *sum, global atomic_float *unasked, global float "
    "*local_sum,\n"
    "                 global float *old, global const float *x) {\n"
    "  local atomic_float place[256];\n"
    "  int i = get_global_id(0), l = get_local_id(0);\n"
    "  atomic_init(place + l, atomic_load_explicit(sum + i, RELAXED));\n"
    "  atomic_fetch_add_explicit(place + l, x[i], RELAXED);\n"
    "  local_sum[i] = atomic_load_explicit(place + l, RELAXED);\n"
    "  old[i] = atomic_fetch_add_explicit(sum + i, x[i], RELAXED);\n"
    "  atomic_fetch_sub_explicit(unasked + i, -x[i], RELAXED);\n}\n";

static bool same_float(float a, float b) {
  return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b));
}

static int test_sums(struct device_cl *cl) {
  static const float values[] = {
      0.0f,       -0.0f,       0x1p-149f, -0x1p-149f, 0x1.fffffcp-127f, 0x1p-126f,
      -0x1p-126f, 0x1.8p-126f, 0x1p-101f, -0x1p-101f, 0x1.fffffep-102f, -0x1.000002p-101f,
      1.0f,       -FLT_MAX,    INFINITY,  NAN,
  };
  enum { VALUES = sizeof values / sizeof *values, PAIRS = VALUES * VALUES };
  static float sum[PAIRS], unasked[PAIRS], local_sum[PAIRS], old[PAIRS], x[PAIRS];
  int failures = 0;
  for (int i = 0; i < PAIRS; i++) {
    sum[i] = unasked[i] = values[i / VALUES];
    x[i] = values[i % VALUES];
  }
  cl_program program = device_cl_build_with(cl, sums_source, "-cl-std=CL3.0");
  struct device_array arrays[] = {{sum, sizeof sum, true},
                                  {unasked, sizeof unasked, true},
                                  {local_sum, sizeof local_sum, true},
                                  {old, sizeof old, true},
                                  {x, sizeof x, false}};
  if (!program || !device_cl_run(cl, program, "sums", PAIRS, PAIRS, arrays, 5))
    return 1;
  for (int i = 0; i < PAIRS; i++) {
    const float was = values[i / VALUES], want = was + x[i];
    if (!(same_float(sum[i], want) && same_float(unasked[i], want) &&
          same_float(local_sum[i], want) && same_float(old[i], was)) &&
        failures++ < SHOWN)
      printf("  %a + %a: %a, %a, in local memory %a\n", (double)was, (double)x[i], (double)sum[i],
             (double)unasked[i], (double)local_sum[i]);
  }
  clReleaseProgram(program);
  printf("sums of floats%s\n", failures ? "  FAIL" : "");
  return failures != 0;
}

/* Images that are read and written as half. */
static const char image_source[] =
    "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n"
    "kernel void twice(read_only image2d_t from, sampler_t s, write_only image2d_t to) {\n"
    "  int2 at = (int2)(get_global_id(0), get_global_id(1));\n"
    "  half4 bare = read_imageh(from, at), sampled = read_imageh(from, s, at);\n"
    "  write_imageh(to, at, bare + sampled);\n}\n";

static int test_half_images(struct device_cl *cl) {
  enum { SIDE = 8, VALUES = SIDE * SIDE * 4 };
  const cl_image_format format = {CL_RGBA, CL_FLOAT};
  const cl_image_desc description = {
      .image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = SIDE, .image_height = SIDE};
  const size_t origin[3] = {0, 0, 0}, region[3] = {SIDE, SIDE, 1};
  float values[VALUES];
  int failures = 0;
  for (unsigned i = 0; i < VALUES; i++)
    values[i] = ((float)i - 100) / 8; /* exact in half, also when doubled */
  cl_program program = device_cl_build(cl, image_source);
  cl_kernel kernel = program ? clCreateKernel(program, "twice", NULL) : NULL;
  cl_mem from = clCreateImage(cl->context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, &format,
                              &description, values, NULL);
  cl_mem to = clCreateImage(cl->context, CL_MEM_WRITE_ONLY, &format, &description, NULL, NULL);
  cl_sampler sampler =
      clCreateSampler(cl->context, CL_FALSE, CL_ADDRESS_NONE, CL_FILTER_NEAREST, NULL);
  float out[VALUES] = {0};
  if (!kernel || !from || !to || !sampler || clSetKernelArg(kernel, 0, sizeof from, &from) ||
      clSetKernelArg(kernel, 1, sizeof sampler, &sampler) ||
      clSetKernelArg(kernel, 2, sizeof to, &to) ||
      clEnqueueNDRangeKernel(cl->queue, kernel, 2, NULL, region, NULL, 0, NULL, NULL) ||
      clEnqueueReadImage(cl->queue, to, CL_TRUE, origin, region, 0, 0, out, 0, NULL, NULL))
    failures++;
  for (unsigned i = 0; i < VALUES && !failures; i++)
    failures += out[i] != 2 * values[i];
  if (sampler)
    clReleaseSampler(sampler);
  if (to)
    clReleaseMemObject(to);
  if (from)
    clReleaseMemObject(from);
  if (kernel)
    clReleaseKernel(kernel);
  if (program)
    clReleaseProgram(program);
  printf("half images%s\n", failures ? "  FAIL" : "");
  return failures != 0;
}

int main(void) {
  struct device_cl cl;
  if (!device_cl_open(&cl))
    return 1;
  int failures = test_dot(&cl) + test_sums(&cl) + test_half_images(&cl);
  /* llvm-spirv 15 cannot write atomics of halves; spirv_float_atomics.spvasm contains them. */
  if (!device_is_module())
    failures += test_rest(&cl) + test_halves(&cl);
  device_cl_close(&cl);
  printf("%d groups failed\n", failures);
  return failures != 0;
}
