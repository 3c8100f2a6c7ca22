/* Tests expressions of C: NVRTC compiles the same text for SM 8.7 as the host compiler for the
 * host, and both results must have the same bits, or be within a few units in the last place for
 * functions of the math library. Operands are random values and edge cases. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emulator/sm/state.h"
#include "tests/sm/harness.h"

#include <cmocka.h>

typedef int8_t i8;
typedef uint8_t u8;
typedef int16_t i16;
typedef uint16_t u16;
typedef int32_t i32;
typedef uint32_t u32;
typedef int64_t i64;
typedef uint64_t u64;
typedef float f32;
typedef double f64;

static const char prelude[] =
    "typedef signed char i8; typedef unsigned char u8; typedef short i16;\n"
    "typedef unsigned short u16; typedef int i32; typedef unsigned u32;\n"
    "typedef long long i64; typedef unsigned long long u64;\n"
    "typedef float f32; typedef double f64;\n";

/* X(name, type of operands, type of result, expression of a, b and c) */
#define INT_OPS(X, T, U, bits)                                                                     \
  X(T##_add, T, T, (T)((U)a + (U)b))                                                               \
  X(T##_sub, T, T, (T)((U)a - (U)b))                                                               \
  X(T##_mul, T, T, (T)((u64)(U)a * (U)b))                                                          \
  X(T##_mad, T, T, (T)((u64)(U)a * (U)b + (U)c))                                                   \
  X(T##_div, T, T, b == 0 || (b == (T)-1) ? a : (T)(a / b))                                        \
  X(T##_rem, T, T, b == 0 || (b == (T)-1) ? a : (T)(a % b))                                        \
  X(T##_div7, T, T, (T)(a / 7))                                                                    \
  X(T##_rem10, T, T, (T)(a % 10))                                                                  \
  X(T##_shl, T, T, (T)((U)a << (b & (bits - 1))))                                                  \
  X(T##_shr, T, T, (T)(a >> (b & (bits - 1))))                                                     \
  X(T##_shl5, T, T, (T)((U)a << 5))                                                                \
  X(T##_shr3, T, T, (T)(a >> 3))                                                                   \
  X(T##_and, T, T, (T)(a & b))                                                                     \
  X(T##_or, T, T, (T)(a | b))                                                                      \
  X(T##_xor, T, T, (T)(a ^ b))                                                                     \
  X(T##_andnot, T, T, (T)((a & ~b) ^ c))                                                           \
  X(T##_maj, T, T, (T)((a & b) | (a & c) | (b & c)))                                               \
  X(T##_not, T, T, (T)~a)                                                                          \
  X(T##_neg, T, T, (T)(0 - (U)a))                                                                  \
  X(T##_lt, T, i32, a < b)                                                                         \
  X(T##_le, T, i32, a <= b)                                                                        \
  X(T##_eq, T, i32, a == b)                                                                        \
  X(T##_gt2, T, i32, a > b && b > c)                                                               \
  X(T##_ne3, T, i32, (a != b) + 2 * (b != c) + 4 * (a != c))                                       \
  X(T##_min, T, T, a < b ? a : b)                                                                  \
  X(T##_max, T, T, a > b ? a : b)                                                                  \
  X(T##_sel, T, T, c & 1 ? a : b)                                                                  \
  X(T##_f32, T, f32, (f32)a)                                                                       \
  X(T##_f64, T, f64, (f64)a)                                                                       \
  X(T##_i8, T, i8, (i8)a)                                                                          \
  X(T##_u16, T, u16, (u16)a)                                                                       \
  X(T##_i32, T, i32, (i32)a)                                                                       \
  X(T##_u64, T, u64, (u64)a)

#define INTS(X)                                                                                    \
  INT_OPS(X, i8, u8, 8)                                                                            \
  INT_OPS(X, u8, u8, 8)                                                                            \
  INT_OPS(X, i16, u16, 16)                                                                         \
  INT_OPS(X, u16, u16, 16)                                                                         \
  INT_OPS(X, i32, u32, 32)                                                                         \
  INT_OPS(X, u32, u32, 32)                                                                         \
  INT_OPS(X, i64, u64, 64)                                                                         \
  INT_OPS(X, u64, u64, 64)                                                                         \
  X(rotl32, u32, u32, (a << (b & 31)) | (a >> (-b & 31)))                                          \
  X(rotl64, u64, u64, (a << (b & 63)) | (a >> (-b & 63)))                                          \
  X(wide_s, i32, i64, (i64)a *b + c)                                                               \
  X(wide_u, u32, u64, (u64)a *b + c)                                                               \
  X(high_s, i32, i32, (i32)(((i64)a * b) >> 32))                                                   \
  X(high_u, u32, u32, (u32)(((u64)a * b) >> 32))                                                   \
  X(abs_diff, i32, u32, a > b ? (u32)a - (u32)b : (u32)b - (u32)a)                                 \
  X(bytes, u32, u32, (a << 24) | ((b >> 8 & 0xff) << 16) | (c >> 24) | (a >> 16 & 0xff00))         \
  X(lea, u32, u32, (a << 4) + b)                                                                   \
  X(lea64, u64, u64, (a << 4) + b)                                                                 \
  X(collatz, u32, u32, a % 2 ? 3 * a + 1 : a / 2)                                                  \
  X(sgn, i32, i32, (a > 0) - (a < 0))                                                              \
  X(sext, i32, i32, (i32)((u32)a << 11) >> 13)                                                     \
  X(add64c, u32, u64, (u64)a + ((u64)b << 32) + c)

#define FLOAT_OPS(X, T, FMA, SQRT, TRUNC, FLOOR, CEIL, RINT, FABS)                                 \
  X(T##_add, T, T, a + b)                                                                          \
  X(T##_sub, T, T, a - b)                                                                          \
  X(T##_mul, T, T, a *b)                                                                           \
  X(T##_div, T, T, a / b)                                                                          \
  X(T##_rcp, T, T, 1 / a)                                                                          \
  X(T##_fma, T, T, FMA(a, b, c))                                                                   \
  X(T##_fnma, T, T, FMA(-a, b, c))                                                                 \
  X(T##_fms, T, T, FMA(a, b, -c))                                                                  \
  X(T##_fmak, T, T, FMA(a, (T)1.5, b))                                                             \
  X(T##_fmac, T, T, FMA(a, b, (T)-0.75))                                                           \
  X(T##_sqrt, T, T, SQRT(a))                                                                       \
  X(T##_lt, T, i32, a < b)                                                                         \
  X(T##_ge, T, i32, a >= b)                                                                        \
  X(T##_eq, T, i32, a == b)                                                                        \
  X(T##_ne, T, i32, a != b)                                                                        \
  X(T##_nlt, T, i32, !(a < b))                                                                     \
  X(T##_sel, T, T, a < b ? b : c)                                                                  \
  X(T##_abs, T, T, FABS(a) + b)                                                                    \
  X(T##_i32, T, i32, a > -2e9 && a < 2e9 ? (i32)a : 0)                                             \
  X(T##_u32, T, u32, a > -0.5 && a < 4e9 ? (u32)a : 0)                                             \
  X(T##_i64, T, i64, a > -9e18 && a < 9e18 ? (i64)a : 0)                                           \
  X(T##_u64, T, u64, a > -0.5 && a < 1.8e19 ? (u64)a : 0)                                          \
  X(T##_trunc, T, T, TRUNC(a))                                                                     \
  X(T##_floor, T, T, FLOOR(a))                                                                     \
  X(T##_ceil, T, T, CEIL(a))                                                                       \
  X(T##_rint, T, T, RINT(a))                                                                       \
  X(T##_poly, T, T, ((a * b + c) * b - a) * c + 1)

#define FLOATS(X)                                                                                  \
  FLOAT_OPS(X, f32, fmaf, sqrtf, truncf, floorf, ceilf, rintf, fabsf)                              \
  FLOAT_OPS(X, f64, fma, sqrt, trunc, floor, ceil, rint, fabs)                                     \
  X(narrow, f64, f32, (f32)a)                                                                      \
  X(widen, f32, f64, (f64)a *b)

/* Functions of the math library, compared within ULPS units in the last place. */
#define FUNCTIONS(X)                                                                               \
  X(expf_, f32, f32, expf(a))                                                                      \
  X(exp2f_, f32, f32, exp2f(a))                                                                    \
  X(logf_, f32, f32, logf(a))                                                                      \
  X(log2f_, f32, f32, log2f(a))                                                                    \
  X(sinf_, f32, f32, sinf(a))                                                                      \
  X(cosf_, f32, f32, cosf(a))                                                                      \
  X(tanf_, f32, f32, tanf(a))                                                                      \
  X(tanhf_, f32, f32, tanhf(a))                                                                    \
  X(atan2f_, f32, f32, atan2f(a, b))                                                               \
  X(powf_, f32, f32, powf(fabsf(a), b))                                                            \
  X(cbrtf_, f32, f32, cbrtf(a))                                                                    \
  X(hypotf_, f32, f32, hypotf(a, b))                                                               \
  X(erff_, f32, f32, erff(a))                                                                      \
  X(fmodf_, f32, f32, fmodf(a, b))                                                                 \
  X(exp_, f64, f64, exp(a))                                                                        \
  X(log_, f64, f64, log(a))                                                                        \
  X(sin_, f64, f64, sin(a))                                                                        \
  X(cos_, f64, f64, cos(a))                                                                        \
  X(pow_, f64, f64, pow(fabs(a), b))                                                               \
  X(atan_, f64, f64, atan(a))                                                                      \
  X(fmod_, f64, f64, fmod(a, b))

enum { COUNT = 2048, BLOCK = 96, ULPS = 4 };

struct row {
  const char *name;
  size_t in, out;
  bool is_float, in_float;
  void (*host)(const void *, void *);
};

#define HOST(name, T, R, expr)                                                                     \
  static void host_##name(const void *in, void *out) {                                             \
    const T *v = in;                                                                               \
    for (int i = 0; i < COUNT; i++) {                                                              \
      const T a = v[3 * i], b = v[3 * i + 1], c = v[3 * i + 2];                                    \
      (void)a, (void)b, (void)c;                                                                   \
      ((R *)out)[i] = (R)(expr);                                                                   \
    }                                                                                              \
  }
INTS(HOST)
FLOATS(HOST)
FUNCTIONS(HOST)

#define IS_FLOAT(T)           ((T)0.5 != 0)
#define ROW(name, T, R, expr) {#name, sizeof(T), sizeof(R), IS_FLOAT(R), IS_FLOAT(T), host_##name},
static const struct row ints[] = {INTS(ROW)};
static const struct row floats[] = {FLOATS(ROW)};
static const struct row functions[] = {FUNCTIONS(ROW)};

#define KERNEL(name, T, R, expr)                                                                   \
  "extern \"C\" __global__ void " #name "(const " #T " *in, " #R " *out, int n) {\n"               \
  "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"                                             \
  "  if (i >= n) return;\n"                                                                        \
  "  const " #T " a = in[3 * i], b = in[3 * i + 1], c = in[3 * i + 2];\n"                          \
  "  out[i] = (" #R ")(" #expr ");\n}\n"
static const char int_kernels[] = INTS(KERNEL);
static const char float_kernels[] = FLOATS(KERNEL);
static const char function_kernels[] = FUNCTIONS(KERNEL);

static uint64_t state = 88172645463325252ull;
static uint64_t random64(void) {
  state ^= state << 13;
  state ^= state >> 7;
  return state ^= state << 17;
}

static void fill_ints(uint8_t *p, size_t size, int count) {
  static const uint64_t edges[] = {0,          1,          2,          ~0ull,     ~1ull,
                                   0x7f,       0x80,       0x7fff,     0x8000,    0x7fffffff,
                                   0x80000000, 0xffffffff, 1ull << 63, ~0ull >> 1};
  for (int i = 0; i < count; i++) {
    uint64_t r = random64(), v = random64();
    switch (r % 5) {
    case 0:
      v = edges[r / 8 % (sizeof edges / sizeof *edges)];
      break;
    case 1:
      v >>= r / 8 % 64;
      break;
    case 2:
      v = (uint64_t)((int64_t)v >> (r / 8 % 64));
      break;
    default:
      break;
    }
    memcpy(p + (size_t)i * size, &v, size);
  }
}

static void fill_floats(uint8_t *p, size_t size, int count, bool moderate) {
  static const double edges[] = {0,     -0.0,     1,        -1,           0.5,      -2,
                                 1e-40, -3e-42,   1e38,     -3e38,        INFINITY, -INFINITY,
                                 NAN,   0x1p-126, 0x1p-149, 2147483648.0, -0.5,     1.5,
                                 2.5,   -2.5,     16777217, 4294967295.0};
  for (int i = 0; i < count; i++) {
    uint64_t r = random64();
    double v = ((double)(random64() >> 11) * 0x1p-53 * 2 - 1) * 20;
    if (!moderate && r % 4 == 0)
      v = edges[r / 8 % (sizeof edges / sizeof *edges)];
    else if (!moderate && r % 4 == 1)
      v = ldexp(v, (int)(r / 8 % 300) - 150);
    float f = (float)v;
    memcpy(p + (size_t)i * size, size == 4 ? (void *)&f : (void *)&v, size);
  }
}

static int64_t ordered(const void *p, size_t size) {
  if (size == 4) {
    int32_t v;
    memcpy(&v, p, 4);
    return v < 0 ? (int64_t)INT32_MIN - v : v;
  }
  int64_t v;
  memcpy(&v, p, 8);
  return v < 0 ? INT64_MIN - v : v;
}

static bool is_nan(const void *p, size_t size) {
  float f;
  double d;
  if (size == 4)
    return memcpy(&f, p, 4), f != f;
  return memcpy(&d, p, 8), d != d;
}

static bool same(const struct row *row, const void *x, const void *y, int64_t ulps) {
  if (!memcmp(x, y, row->out))
    return true;
  if (!row->is_float)
    return false;
  if (is_nan(x, row->out) || is_nan(y, row->out))
    return is_nan(x, row->out) && is_nan(y, row->out);
  int64_t distance = ordered(x, row->out) - ordered(y, row->out);
  return ulps && distance >= -ulps && distance <= ulps;
}

static void run_rows(const struct row *rows, size_t count, const char *kernels,
                     const char *const *options, int64_t ulps) {
  char *source = malloc(sizeof prelude + strlen(kernels));
  strcpy(stpcpy(source, prelude), kernels);
  struct module *m = module_compile(source, options);
  free(source);
  assert_non_null(m);

  const uint64_t in = module_alloc(m, COUNT * 3 * 8), out = module_alloc(m, COUNT * 8);
  uint8_t *expected = malloc(COUNT * 8);
  int failures = 0;
  for (size_t k = 0; k < count; k++) {
    const struct row *row = &rows[k];
    if (row->in_float)
      fill_floats(module_host(m, in), row->in, COUNT * 3, ulps != 0);
    else
      fill_ints(module_host(m, in), row->in, COUNT * 3);
    memset(module_host(m, out), 0, COUNT * 8);
    memset(expected, 0, COUNT * 8);
    row->host(module_host(m, in), expected);
    struct {
      uint64_t in, out;
      int n;
    } params = {in, out, COUNT};
    const struct launch launch = {.grid = {(COUNT + BLOCK - 1) / BLOCK, 1, 1},
                                  .block = {BLOCK, 1, 1},
                                  .limit = 10000000,
                                  .params = &params,
                                  .param_bytes = 20};
    struct sm_fault fault = {0};
    enum sm_result result = module_run(m, row->name, &launch, &fault, NULL);
    if (result != SM_DONE) {
      print_error("%s: result %d: %s (%s)\n", row->name, result, fault.message, fault.instruction);
      failures++;
      continue;
    }
    const uint8_t *got = module_host(m, out);
    int bad = 0;
    for (int i = 0; i < COUNT; i++) {
      const void *x = got + (size_t)i * row->out, *y = expected + (size_t)i * row->out;
      if (same(row, x, y, ulps) || bad++ > 2)
        continue;
      uint64_t v[5] = {0};
      memcpy(&v[0], x, row->out);
      memcpy(&v[1], y, row->out);
      for (int j = 0; j < 3; j++)
        memcpy(&v[2 + j], (const uint8_t *)module_host(m, in) + (size_t)(3 * i + j) * row->in,
               row->in);
      print_error("%s[%d]: got %llx, expected %llx, of %llx %llx %llx\n", row->name, i,
                  (unsigned long long)v[0], (unsigned long long)v[1], (unsigned long long)v[2],
                  (unsigned long long)v[3], (unsigned long long)v[4]);
    }
    failures += bad != 0;
  }
  free(expected);
  module_free(m);
  assert_int_equal(failures, 0);
}

#define RUN(table, ulps, ...)                                                                      \
  const char *const options[] = {__VA_ARGS__ "--fmad=false", NULL};                                \
  run_rows(table##s, sizeof table##s / sizeof *table##s, table##_kernels, options, ulps)

static void integer_expressions_match_host(void **unused) {
  RUN(int, 0, );
}
static void float_expressions_match_host(void **unused) {
  RUN(float, 0, );
}
static void math_functions_match_host(void **unused) {
  RUN(function, ULPS, );
}
static void integer_expressions_match_host_in_debug_code(void **unused) {
  RUN(int, 0, "--device-debug", );
}
static void float_expressions_match_host_in_debug_code(void **unused) {
  RUN(float, 0, "--device-debug", );
}
static void math_functions_match_host_with_few_registers(void **unused) {
  RUN(function, ULPS, "--maxrregcount=24", );
}

int main(void) {
  if (!harness_available())
    return HARNESS_SKIP;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(integer_expressions_match_host),
      cmocka_unit_test(float_expressions_match_host),
      cmocka_unit_test(math_functions_match_host),
      cmocka_unit_test(integer_expressions_match_host_in_debug_code),
      cmocka_unit_test(float_expressions_match_host_in_debug_code),
      cmocka_unit_test(math_functions_match_host_with_few_registers),
  };
  int failed = 0;
  for (unsigned level = 0; level < SM_CORE_BUILDS; level++)
    if ((sm_core_override = sm_core_build(level)))
      failed += cmocka_run_group_tests(tests, NULL, NULL);
  return failed;
}
