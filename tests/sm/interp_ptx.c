/* Tests single PTX operations, for which ptxas chooses instruction and encoding: directed rounding,
 * flushing, saturation, halves, bit fields, dot products. Results are compared with independent
 * computation, on random values and edge cases. */
#include <fenv.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emulator/sm/exec/sem_mufu.h"
#include "emulator/sm/state.h"
#include "tests/sm/harness.h"
#include "tests/sm/quad.h"

#include <cmocka.h>

typedef uint32_t u32;
typedef uint64_t u64;

enum { COUNT = 10240, BLOCK = 128 };

static float f32(u32 bits) {
  float f;
  memcpy(&f, &bits, 4);
  return f;
}

/* Converts a result as the GPU does: all NaNs have the same bits, and with flush there are no
 * subnormals. */
static u32 bits32(float f) {
  u32 bits;
  memcpy(&bits, &f, 4);
  return f != f ? 0x7fffffffu : bits;
}

static u32 flush(u32 a) {
  return a & 0x7f800000 ? a : a & 0x80000000;
}
static u32 saturate(float f) {
  return f != f || f <= 0 ? 0 : bits32(f > 1 ? 1 : f);
}

static double f64(u64 bits) {
  double d;
  memcpy(&d, &bits, 8);
  return d;
}

static u64 bits64(double d) {
  u64 bits;
  memcpy(&bits, &d, 8);
  return bits;
}

#define IN_ROUND(mode, type, expression)                                                           \
  __extension__({                                                                                  \
    fesetround(mode);                                                                              \
    volatile type out_ = expression;                                                               \
    fesetround(FE_TONEAREST);                                                                      \
    out_;                                                                                          \
  })
#define VF(x) (*(volatile float[]){f32(x)})
#define VD(x) (*(volatile double[]){f64(x)})

static u32 half2(u32 a, u32 b, u32 c, int relu) {
  u32 out = 0;
#if defined(__FLT16_MAX__)
  for (int k = 0; k < 32; k += 16) {
    uint16_t h[3] = {(uint16_t)(a >> k), (uint16_t)(b >> k), (uint16_t)(c >> k)}, r;
    _Float16 v[3];
    memcpy(v, h, sizeof v);
    quad exact = (quad)v[0] * (quad)v[1] + (quad)v[2];
    _Float16 rounded = (_Float16)exact;
    memcpy(&r, &rounded, 2);
    r = exact != exact ? 0x7fff : relu && r & 0x8000 ? 0 : r;
    out |= (u32)r << k;
  }
#endif
  return out;
}

static u32 dp4a(u32 a, u32 b, u32 c) {
  for (int k = 0; k < 32; k += 8)
    c += (u32)((int8_t)(a >> k) * (int32_t)(uint8_t)(b >> k));
  return c;
}

static u32 dp2a_hi(u32 a, u32 b, u32 c) {
  return c + (u32)((int16_t)a * (int8_t)(b >> 16)) + (u32)((int16_t)(a >> 16) * (int8_t)(b >> 24));
}

static u32 prmt(u32 a, u32 b, u32 sel) {
  u64 all = (u64)b << 32 | a;
  u32 out = 0;
  for (int k = 0; k < 4; k++, sel >>= 4) {
    u32 byte = (u32)(all >> (8 * (sel & 7))) & 0xff;
    out |= (sel & 8 ? (byte & 0x80 ? 0xffu : 0) : byte) << (8 * k);
  }
  return out;
}

static u32 pack_s8(u32 a, u32 b, u32 c) {
  int32_t x = (int32_t)a, y = (int32_t)b;
  x = x < -128 ? -128 : x > 127 ? 127 : x;
  y = y < -128 ? -128 : y > 127 ? 127 : y;
  return (u32)(y & 0xff) | (u32)(x & 0xff) << 8 | c << 16;
}

static u32 bfe_s(u32 a, u32 pos, u32 len) {
  pos &= 255, len &= 255;
  u32 out = 0, sign = len == 0 ? 0 : a >> (pos + len - 1 > 31 ? 31 : pos + len - 1) & 1;
  for (u32 k = 0; k < 32; k++)
    out |= (k < len && pos + k < 32 ? a >> (pos + k) & 1 : sign) << k;
  return out;
}

static u32 absdiff4(u32 a, u32 b, u32 c) {
  for (int k = 0; k < 32; k += 8) {
    int d = (int)(a >> k & 0xff) - (int)(b >> k & 0xff);
    c += (u32)(d < 0 ? -d : d);
  }
  return c;
}

static u32 half_of(float f, int mode) {
  u32 out = 0;
#if defined(__FLT16_MAX__)
  _Float16 h = (_Float16)f;
  uint16_t r;
  if (mode == FE_TOWARDZERO && fabsf((float)h) > fabsf(f)) {
    memcpy(&r, &h, 2);
    r--;
    memcpy(&h, &r, 2);
  }
  memcpy(&r, &h, 2);
  out = f != f ? 0x7fff : r;
#endif
  return out;
}

/* Converts a double to an integer within limits. NaN becomes 0. */
static u32 to_word(double x, double least, double most) {
  return x != x ? 0 : (u32)(int64_t)(x < least ? least : x > most ? most : x);
}

/* Converts radians to turns, as ptxas does before MUFU.SIN and MUFU.COS. */
static u32 turns(u32 a) {
  return flush(bits32(IN_ROUND(FE_TOWARDZERO, float, VF(flush(a)) * 0x1.45f306p-3f)));
}

/* X(name, constraint letter and C type of operands and result, PTX, expected result) */
#define F32_OPS(X, suffix, mode)                                                                   \
  X(add_##suffix, r, u32, "add." #suffix ".f32 %0, %1, %2;",                                       \
    bits32(IN_ROUND(mode, float, VF(a) + VF(b))))                                                  \
  X(mul_##suffix, r, u32, "mul." #suffix ".f32 %0, %1, %2;",                                       \
    bits32(IN_ROUND(mode, float, VF(a) * VF(b))))                                                  \
  X(fma_##suffix, r, u32, "fma." #suffix ".f32 %0, %1, %2, %3;",                                   \
    bits32(IN_ROUND(mode, float, fmaf(VF(a), VF(b), VF(c)))))                                      \
  X(div_##suffix, r, u32, "div." #suffix ".f32 %0, %1, %2;",                                       \
    bits32(IN_ROUND(mode, float, VF(a) / VF(b))))                                                  \
  X(rcp_##suffix, r, u32, "rcp." #suffix ".f32 %0, %1;",                                           \
    bits32(IN_ROUND(mode, float, 1.0f / VF(a))))                                                   \
  X(sqrt_##suffix, r, u32, "sqrt." #suffix ".f32 %0, %1;",                                         \
    bits32(IN_ROUND(mode, float, sqrtf(VF(a)))))                                                   \
  X(from_s32_##suffix, r, u32, "cvt." #suffix ".f32.s32 %0, %1;",                                  \
    bits32(IN_ROUND(mode, float, (float)*(volatile int32_t[]){(int32_t)a})))                       \
  X(from_u32_##suffix, r, u32, "cvt." #suffix ".f32.u32 %0, %1;",                                  \
    bits32(IN_ROUND(mode, float, (float)*(volatile u32[]){a})))                                    \
  X(to_s32_##suffix, r, u32, "cvt." #suffix "i.s32.f32 %0, %1;",                                   \
    to_word(IN_ROUND(mode, double, rint(*(volatile double[]){f32(a)})), INT32_MIN, INT32_MAX))     \
  X(to_u32_##suffix, r, u32, "cvt." #suffix "i.u32.f32 %0, %1;",                                   \
    to_word(IN_ROUND(mode, double, rint(*(volatile double[]){f32(a)})), 0, UINT32_MAX))            \
  X(to_u32_ftz_##suffix, r, u32, "cvt." #suffix "i.ftz.u32.f32 %0, %1;",                           \
    to_word(IN_ROUND(mode, double, rint(*(volatile double[]){f32(flush(a))})), 0, UINT32_MAX))     \
  X(dadd_##suffix, l, u64, "add." #suffix ".f64 %0, %1, %2;",                                      \
    bits64(IN_ROUND(mode, double, VD(a) + VD(b))))                                                 \
  X(dmul_##suffix, l, u64, "mul." #suffix ".f64 %0, %1, %2;",                                      \
    bits64(IN_ROUND(mode, double, VD(a) * VD(b))))                                                 \
  X(dfma_##suffix, l, u64, "fma." #suffix ".f64 %0, %1, %2, %3;",                                  \
    bits64(IN_ROUND(mode, double, fma(VD(a), VD(b), VD(c)))))                                      \
  X(ddiv_##suffix, l, u64, "div." #suffix ".f64 %0, %1, %2;",                                      \
    bits64(IN_ROUND(mode, double, VD(a) / VD(b))))                                                 \
  X(dsqrt_##suffix, l, u64, "sqrt." #suffix ".f64 %0, %1;",                                        \
    bits64(IN_ROUND(mode, double, sqrt(VD(a)))))

#define OPS(X)                                                                                     \
  F32_OPS(X, rn, FE_TONEAREST)                                                                     \
  F32_OPS(X, rm, FE_DOWNWARD)                                                                      \
  F32_OPS(X, rp, FE_UPWARD)                                                                        \
  F32_OPS(X, rz, FE_TOWARDZERO)                                                                    \
  X(add_ftz, r, u32, "add.ftz.f32 %0, %1, %2;", flush(bits32(f32(flush(a)) + f32(flush(b)))))      \
  X(fma_ftz, r, u32, "fma.rn.ftz.f32 %0, %1, %2, %3;",                                             \
    flush(bits32(fmaf(f32(flush(a)), f32(flush(b)), f32(flush(c))))))                              \
  X(add_sat, r, u32, "add.sat.f32 %0, %1, %2;", saturate(f32(a) + f32(b)))                         \
  X(fma_sat, r, u32, "fma.rn.sat.f32 %0, %1, %2, %3;", saturate(fmaf(f32(a), f32(b), f32(c))))     \
  X(hfma2, r, u32, "fma.rn.f16x2 %0, %1, %2, %3;", half2(a, b, c, 0))                              \
  X(hfma2_relu, r, u32, "fma.rn.relu.f16x2 %0, %1, %2, %3;", half2(a, b, c, 1))                    \
  X(hadd2, r, u32, "add.rn.f16x2 %0, %1, %2;", half2(a, 0x3c003c00, b, 0))                         \
  X(hmul2, r, u32, "mul.rn.f16x2 %0, %1, %2;", half2(a, b, 0x80008000, 0))                         \
  X(pack_half, r, u32, "cvt.rn.f16x2.f32 %0, %1, %2;",                                             \
    half_of(f32(a), FE_TONEAREST) << 16 | half_of(f32(b), FE_TONEAREST))                           \
  X(pack_half_rz, r, u32, "cvt.rz.f16x2.f32 %0, %1, %2;",                                          \
    half_of(f32(a), FE_TOWARDZERO) << 16 | half_of(f32(b), FE_TOWARDZERO))                         \
  X(dp4a_su, r, u32, "dp4a.s32.u32 %0, %1, %2, %3;", dp4a(a, b, c))                                \
  X(dp2a_ss, r, u32, "dp2a.hi.s32.s32 %0, %1, %2, %3;", dp2a_hi(a, b, c))                          \
  X(prmt, r, u32, "prmt.b32 %0, %1, %2, %3;", prmt(a, b, c))                                       \
  X(bfe, r, u32, "bfe.s32 %0, %1, %2, %3;", bfe_s(a, b, c))                                        \
  X(pack8, r, u32, "cvt.pack.sat.s8.s32.b32 %0, %1, %2, %3;", pack_s8(a, b, c))                    \
  X(vabsdiff4, r, u32, "vabsdiff4.u32.u32.u32.add %0, %1, %2, %3;", absdiff4(a, b, c))             \
  X(mad_hi, r, u32, "mad.hi.s32 %0, %1, %2, %3;",                                                  \
    (u32)(((int64_t)(int32_t)a * (int32_t)b) >> 32) + c)                                           \
  X(mulhi64, l, u64, "mul.hi.u64 %0, %1, %2;", (u64)(((unsigned __int128)a * b) >> 64))            \
  X(clz64, l, u64, "{.reg .u32 t; clz.b64 t, %1; cvt.u64.u32 %0, t;}",                             \
    a ? (u64)__builtin_clzll(a) : 64)                                                              \
  X(popc64, l, u64, "{.reg .u32 t; popc.b64 t, %1; cvt.u64.u32 %0, t;}",                           \
    (u64)__builtin_popcountll(a))                                                                  \
  X(brev64, l, u64, "brev.b64 %0, %1;", brev64(a))                                                 \
  X(shf_l, r, u32, "shf.l.wrap.b32 %0, %1, %2, %3;",                                               \
    (u32)((((u64)b << 32 | a) << (c & 31)) >> 32))                                                 \
  X(shf_r_clamp, r, u32, "shf.r.clamp.b32 %0, %1, %2, %3;",                                        \
    (u32)(((u64)b << 32 | a) >> (c > 32 ? 32 : c)))                                                \
  X(shf_l_known, r, u32, "shf.l.wrap.b32 %0, %1, %2, 9;", b << 9 | a >> 23)                        \
  X(shf_r_known, r, u32, "shf.r.wrap.b32 %0, %1, %2, 9;", a >> 9 | b << 23)                        \
  X(rotate_left, r, u32, "shf.l.wrap.b32 %0, %1, %1, 7;", a << 7 | a >> 25)                        \
  X(rotate_right, r, u32, "shf.r.wrap.b32 %0, %1, %1, 7;", a >> 7 | a << 25)                       \
  X(sad, r, u32, "sad.s32 %0, %1, %2, %3;", ((int32_t)a > (int32_t)b ? a - b : b - a) + c)         \
  X(add_cc, r, u32, "{.reg .u32 t; add.cc.u32 t, %1, %2; addc.u32 %0, %3, 0;}",                    \
    c + ((u64)a + b > 0xffffffffu))                                                                \
  X(max_nan, r, u32, "max.NaN.f32 %0, %1, %2;",                                                    \
    f32(a) != f32(a) || f32(b) != f32(b) ? 0x7fffffffu                                             \
    : f32(a) == f32(b)                   ? a & b                                                   \
    : f32(a) > f32(b)                    ? a                                                       \
                                         : b)                                                                         \
  X(dmin, l, u64, "min.f64 %0, %1, %2;",                                                           \
    f64(a) != f64(a)   ? b                                                                         \
    : f64(b) != f64(b) ? a                                                                         \
    : f64(a) == f64(b) ? a | b                                                                     \
    : f64(a) < f64(b)  ? a                                                                         \
                       : b)                                                                         \
  X(ex2, r, u32, "ex2.approx.ftz.f32 %0, %1;", sem_ex2(a))                                         \
  X(lg2, r, u32, "lg2.approx.ftz.f32 %0, %1;", sem_lg2(a))                                         \
  X(rsqrt, r, u32, "rsqrt.approx.ftz.f32 %0, %1;", sem_rsq(a))                                     \
  X(sin, r, u32, "sin.approx.ftz.f32 %0, %1;", sem_turn(turns(a), false))                          \
  X(cos, r, u32, "cos.approx.ftz.f32 %0, %1;", sem_turn(turns(a), true))                           \
  X(frnd_rm, r, u32, "cvt.rmi.f32.f32 %0, %1;", bits32(floorf(f32(a))))                            \
  X(dfrnd_rn, l, u64, "cvt.rni.f64.f64 %0, %1;", bits64(rint(f64(a))))

static u64 brev64(u64 a) {
  u64 r = 0;
  for (int k = 0; k < 64; k++)
    r |= (a >> k & 1) << (63 - k);
  return r;
}

#define HOST(name, letter, T, ptx, expression)                                                     \
  static void host_##name(const void *in, void *out) {                                             \
    const T *v = in;                                                                               \
    for (int i = 0; i < COUNT; i++) {                                                              \
      const T a = v[3 * i], b = v[3 * i + 1], c = v[3 * i + 2];                                    \
      (void)a, (void)b, (void)c;                                                                   \
      ((T *)out)[i] = (T)(expression);                                                             \
    }                                                                                              \
  }
OPS(HOST)

#define KERNEL(name, letter, T, ptx, expression)                                                   \
  "extern \"C\" __global__ void k_" #name "(const " #T " *in, " #T " *out) {\n"                    \
  "  int i = blockIdx.x * blockDim.x + threadIdx.x; " #T " r;\n"                                   \
  "  const " #T " a = in[3 * i], b = in[3 * i + 1], c = in[3 * i + 2];\n"                          \
  "  asm volatile(" #ptx " : \"=" #letter "\"(r) : \"" #letter "\"(a), \"" #letter                 \
  "\"(b), \"" #letter "\"(c)); out[i] = r; }\n"
static const char source[] = "typedef unsigned u32; typedef unsigned long long u64;\n" OPS(KERNEL);

#define ROW(name, letter, T, ptx, expression) {"k_" #name, ptx, sizeof(T), host_##name},
static const struct row {
  const char *name, *ptx;
  size_t size;
  void (*host)(const void *, void *);
} rows[] = {OPS(ROW)};

static u64 state = 88172645463325252ull;
static u64 random64(void) {
  state ^= state << 13;
  state ^= state >> 7;
  return state ^= state << 17;
}

static void fill(uint8_t *p, size_t size, int count) {
  static const u32 edges[] = {0,          1,          2,          31,         32,
                              0x7fffff,   0x800000,   0x3f800000, 0x7f7fffff, 0x7f800000,
                              0x7fc00000, 0x80000000, 0xff800000, 0xffffffff, 0x7fffffff,
                              0x3c003c00, 0x7bff0400, 0x00018001};
  for (int i = 0; i < count; i++) {
    u64 r = random64(), v = random64();
    if (r % 6 == 0)
      v = (u64)edges[r / 8 % 18] << (size == 8 ? 32 : 0) | (r / 8 % 3 ? 0 : v >> 32);
    else if (r % 6 == 1) /* floats of moderate size */
      v = size == 8 ? bits64((double)(int64_t)v * 0x1p-50) : bits32((float)(int32_t)v * 0x1p-20f);
    else if (r % 6 == 2)
      v >>= r / 8 % 64;
    memcpy(p + (size_t)i * size, &v, size);
  }
}

static void operations_match_host(void **unused) {
  struct module *m = module_compile(source, NULL);
  assert_non_null(m);
  const u64 params[2] = {module_alloc(m, COUNT * 24), module_alloc(m, COUNT * 8)};
  uint8_t *expected = malloc(COUNT * 8);
  int failures = 0;
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    const struct row *row = &rows[k];
    fill(module_host(m, params[0]), row->size, COUNT * 3);
    row->host(module_host(m, params[0]), expected);
    const struct launch launch = {.grid = {COUNT / BLOCK, 1, 1},
                                  .block = {BLOCK, 1, 1},
                                  .params = params,
                                  .param_bytes = sizeof params};
    struct sm_fault fault = {0};
    if (module_run(m, row->name, &launch, &fault, NULL) != SM_DONE) {
      print_error("%s: %s (%s)\n", row->ptx, fault.message, fault.instruction);
      failures++;
      continue;
    }
    int bad = 0;
    for (int i = 0; i < COUNT; i++) {
      u64 v[5] = {0};
      memcpy(&v[0], (uint8_t *)module_host(m, params[1]) + (size_t)i * row->size, row->size);
      memcpy(&v[1], expected + (size_t)i * row->size, row->size);
      for (int j = 0; j < 3; j++)
        memcpy(&v[2 + j], (uint8_t *)module_host(m, params[0]) + (size_t)(3 * i + j) * row->size,
               row->size);
      /* Which NaN a double operation returns is not documented. */
      if (v[0] == v[1] || (row->size == 8 && f64(v[0]) != f64(v[0]) && f64(v[1]) != f64(v[1])))
        continue;
      if (bad++ < 3)
        print_error("%s: got %llx, expected %llx, of %llx %llx %llx\n", row->ptx,
                    (unsigned long long)v[0], (unsigned long long)v[1], (unsigned long long)v[2],
                    (unsigned long long)v[3], (unsigned long long)v[4]);
    }
    failures += bad != 0;
  }
  free(expected);
  module_free(m);
  assert_int_equal(failures, 0);
}

int main(void) {
  if (!harness_available())
    return HARNESS_SKIP;
  const struct CMUnitTest tests[] = {cmocka_unit_test(operations_match_host)};
  int failed = 0;
  for (unsigned level = 0; level < SM_CORE_BUILDS; level++)
    if ((sm_core_override = sm_core_build(level)))
      failed += cmocka_run_group_tests(tests, NULL, NULL);
  return failed;
}
