/* Numeric test of the integer functions in the eight integer types, of all
 * explicit conversions among the eleven scalar types, and of half loads and stores,
 * against references in wider arithmetic. Everything is exact.
 */
#include <fenv.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/compiler/device_cl.h"

__extension__ typedef __int128 wide;
__extension__ typedef unsigned __int128 uwide;
typedef long double real;

enum kind { SIGNED, UNSIGNED, FLOATING };
static const struct type {
  const char *name;
  const char *unsigned_name;
  const char *double_width; /* what upsample gives */
  enum kind kind;
  unsigned bits;
} types[] = {
    {"char", "uchar", "short", SIGNED, 8},  {"uchar", "uchar", "ushort", UNSIGNED, 8},
    {"short", "ushort", "int", SIGNED, 16}, {"ushort", "ushort", "uint", UNSIGNED, 16},
    {"int", "uint", "long", SIGNED, 32},    {"uint", "uint", "ulong", UNSIGNED, 32},
    {"long", "ulong", "long", SIGNED, 64},  {"ulong", "ulong", "ulong", UNSIGNED, 64},
    {"float", "", "", FLOATING, 32},        {"double", "", "", FLOATING, 64},
    {"half", "", "", FLOATING, 16},
};
enum { TYPES = sizeof types / sizeof types[0], INTEGER_TYPES = 8, SHOWN = 4 };

static wide least(const struct type *t) {
  return t->kind == SIGNED ? -((wide)1 << (t->bits - 1)) : 0;
}
static wide most(const struct type *t) {
  return ((wide)1 << (t->bits - (t->kind == SIGNED))) - 1;
}
static wide clip(const struct type *t, wide x) {
  return x < least(t) ? least(t) : x > most(t) ? most(t) : x;
}
/* The value that the low bits of x have in the type. */
static wide wrap(const struct type *t, wide x) {
  uwide low = (uwide)x & (((uwide)1 << t->bits) - 1);
  return t->kind == SIGNED && low >> (t->bits - 1) ? (wide)low - ((wide)1 << t->bits) : (wide)low;
}

/* Integer functions: every result as the 64 bits of a ulong. */
static wide shift_down(wide x) {
  return x >> 1;
} /* rounds down, as hadd does */

static uint64_t mad_sat(const struct type *t, wide a, wide b, wide c) {
  if (t->kind == UNSIGNED) {
    uwide r = (uwide)a * (uwide)b + (uwide)c;
    return (uint64_t)(r > (uwide)most(t) ? (uwide)most(t) : r);
  }
  return (uint64_t)clip(t, a * b + c);
}
static uint64_t count_bits(const struct type *t, wide a) {
  uint64_t mask = (uint64_t)most(&types[1]) | ~(uint64_t)0 >> (64 - t->bits);
  return (uint64_t)__builtin_popcountll((uint64_t)a & mask);
}
static uint64_t leading_zeros(const struct type *t, wide a) {
  unsigned n = 0;
  while (n < t->bits && !((uint64_t)a >> (t->bits - 1 - n) & 1))
    n++;
  return n;
}
static wide rotated(const struct type *t, wide a, wide count) {
  uwide mask = ((uwide)1 << t->bits) - 1, x = (uwide)a & mask;
  unsigned n = (unsigned)count & (t->bits - 1);
  return wrap(t, (wide)(x << n | x >> (t->bits - n)));
}
static wide high_part(const struct type *t, wide a, wide b) {
  return t->kind == SIGNED ? (a * b) >> t->bits : (wide)((uwide)a * (uwide)b >> t->bits);
}
static wide distance(wide a, wide b) {
  return a > b ? a - b : b - a;
}
static wide low24(const struct type *t, wide x) {
  return t->kind == SIGNED ? (wide)(int32_t)((uint32_t)x << 8) >> 8 : x & 0xffffff;
}

struct operation {
  const char *name;
  const char *expression;
  unsigned only_bits; /* 0: every type */
};
static const struct operation operations[] = {
    {"abs", "abs(x)", 0},
    {"abs_diff", "abs_diff(x, y)", 0},
    {"add_sat", "add_sat(x, y)", 0},
    {"sub_sat", "sub_sat(x, y)", 0},
    {"hadd", "hadd(x, y)", 0},
    {"rhadd", "rhadd(x, y)", 0},
    {"mul_hi", "mul_hi(x, y)", 0},
    {"mad_hi", "mad_hi(x, y, z)", 0},
    {"mad_sat", "mad_sat(x, y, z)", 0},
    {"clz", "clz(x)", 0},
    {"popcount", "popcount(x)", 0},
    {"rotate", "rotate(x, y)", 0},
    {"max", "max(x, y)", 0},
    {"min", "min(x, y)", 0},
    {"clamp", "clamp(x, min(y, z), max(y, z))", 0},
    {"bitselect", "bitselect(x, y, z)", 0},
    {"select", "select(x, y, z)", 0},
    {"mul24", "mul24(LOW24(x), LOW24(y))", 32},
    {"mad24", "mad24(LOW24(x), LOW24(y), z)", 32},
    {"upsample", "upsample(x, (UNSIGNED)y)", 0},
};
enum { OPERATIONS = sizeof operations / sizeof operations[0] };

static uint64_t integer_reference(unsigned operation, const struct type *t, wide a, wide b,
                                  wide c) {
  wide low = b < c ? b : c, high = b < c ? c : b;
  switch (operation) {
  case 0:
    return (uint64_t)distance(a, 0);
  case 1:
    return (uint64_t)distance(a, b);
  case 2:
    return (uint64_t)clip(t, a + b);
  case 3:
    return (uint64_t)clip(t, a - b);
  case 4:
    return (uint64_t)shift_down(a + b);
  case 5:
    return (uint64_t)shift_down(a + b + 1);
  case 6:
    return (uint64_t)high_part(t, a, b);
  case 7:
    return (uint64_t)wrap(t, high_part(t, a, b) + c);
  case 8:
    return mad_sat(t, a, b, c);
  case 9:
    return leading_zeros(t, a);
  case 10:
    return count_bits(t, a);
  case 11:
    return (uint64_t)rotated(t, a, b);
  case 12:
    return (uint64_t)(a > b ? a : b);
  case 13:
    return (uint64_t)(a < b ? a : b);
  case 14:
    return (uint64_t)(a < low ? low : a > high ? high : a);
  case 15:
    return (uint64_t)wrap(t, (a & ~c) | (b & c));
  case 16:
    return (uint64_t)(c ? b : a);
  case 17:
    return (uint64_t)wrap(t, low24(t, a) * low24(t, b));
  case 18:
    return (uint64_t)wrap(t, low24(t, a) * low24(t, b) + c);
  default: {
    uint64_t mask = ~(uint64_t)0 >> (64 - t->bits);
    return (uint64_t)((uwide)a << t->bits) | ((uint64_t)b & mask);
  }
  }
}

static bool applies(unsigned operation, const struct type *t) {
  return (operations[operation].only_bits == 0 || operations[operation].only_bits == t->bits) &&
         (strcmp(operations[operation].name, "upsample") != 0 || t->bits < 64);
}

enum { EDGES = 12, RANDOM = 1500, ITEMS = EDGES * EDGES * EDGES + RANDOM };
static unsigned char input[3][ITEMS * 8];

static wide integer_edge(const struct type *t, unsigned i) {
  const wide edges[EDGES] = {
      0, 1, -1, 2, 3, 7, least(t), least(t) + 1, most(t), most(t) - 1, most(t) / 2, most(t) / 3};
  return wrap(t, edges[i]);
}

static void store(const struct type *t, void *array, size_t i, wide x) {
  memcpy((unsigned char *)array + i * (t->bits / 8), &x, t->bits / 8);
}
static wide load(const struct type *t, const void *array, size_t i) {
  wide x = 0;
  memcpy(&x, (const unsigned char *)array + i * (t->bits / 8), t->bits / 8);
  return wrap(t, x);
}

static void make_integers(const struct type *t) {
  for (unsigned i = 0; i < ITEMS; i++)
    for (unsigned k = 0, divisor = 1; k < 3; k++, divisor *= EDGES) {
      wide edge = integer_edge(t, i / divisor % EDGES);
      wide random = wrap(t, (wide)device_random() >> (i % 3 ? 0 : device_random() % t->bits));
      store(t, input[k], i, i < EDGES * EDGES * EDGES ? edge : random);
    }
}

static int test_integer_type(struct device_cl *cl, const struct type *t) {
  static uint64_t result[OPERATIONS * ITEMS];
  struct device_text text = {0};
  int failures = 0;
  make_integers(t);
  device_text_add(&text,
                  "#define UNSIGNED %s\n#define LOW24(x) %s\nkernel void test(global const %s *a, "
                  "global const %s *b, global const %s *c, global ulong *r) {\n  size_t i = "
                  "get_global_id(0);\n  %s x = a[i], y = b[i], z = c[i];\n",
                  t->unsigned_name, t->kind == SIGNED ? "((x) << 8 >> 8)" : "((x) & 0xffffff)",
                  t->name, t->name, t->name, t->name);
  for (unsigned k = 0; k < OPERATIONS; k++) {
    const char *expression = operations[k].expression;
    if (applies(k, t))
      device_text_add(&text, "  r[%u * get_global_size(0) + i] = %s;\n", k,
                      strcmp(operations[k].name, "select") == 0 && t->kind == SIGNED
                          ? "select(x, y, z)"
                          : expression);
  }
  device_text_add(&text, "}\n");
  cl_program program = device_cl_build(cl, text.data);
  free(text.data);
  struct device_array arrays[] = {{input[0], sizeof input[0], false},
                                  {input[1], sizeof input[1], false},
                                  {input[2], sizeof input[2], false},
                                  {result, sizeof result, true}};
  if (!program || !device_cl_run(cl, program, "test", ITEMS, 0, arrays, 4))
    return 1;
  clReleaseProgram(program);
  for (unsigned k = 0; k < OPERATIONS; k++)
    for (unsigned i = 0, shown = 0; applies(k, t) && i < ITEMS; i++) {
      wide a = load(t, input[0], i), b = load(t, input[1], i), c = load(t, input[2], i);
      uint64_t want = integer_reference(k, t, a, b, c), got = result[k * ITEMS + i];
      if (got == want)
        continue;
      failures++;
      if (shown++ < SHOWN)
        printf("  %s %s(%llx, %llx, %llx) = %llx, not %llx\n", t->name, operations[k].name,
               (unsigned long long)a, (unsigned long long)b, (unsigned long long)c,
               (unsigned long long)got, (unsigned long long)want);
    }
  printf("%-6s integer functions%s\n", t->name, failures ? "  FAIL" : "");
  return failures != 0;
}

/* Conversions. */
static const struct mode {
  const char *suffix;
  int rounding; /* of fenv.h; -1: the type's default */
} modes[] = {
    {"", -1},
    {"_rte", FE_TONEAREST},
    {"_rtz", FE_TOWARDZERO},
    {"_rtp", FE_UPWARD},
    {"_rtn", FE_DOWNWARD},
};
enum { MODES = sizeof modes / sizeof modes[0], CONVERSION_ITEMS = 1024 };

static real load_any(const struct type *t, const void *array, size_t i) {
  if (t->kind != FLOATING)
    return (real)load(t, array, i);
  return t->bits == 16   ? device_half_value(((const uint16_t *)array)[i])
         : t->bits == 32 ? (real)((const float *)array)[i]
                         : (real)((const double *)array)[i];
}

static void make_values(const struct type *t) {
  static const double edges[] = {
      0.0,      -0.0,    0.5,        -0.5,        1.5,   -1.5,     2.5,       -2.5, 126.5,
      127.4,    127.5,   128,        -128.5,      -129,  255.5,    255.49,    256,  32767.5,
      -32768.5, 65535.5, 0.49999999, -0.99999999, 1e-40, INFINITY, -INFINITY, NAN};
  enum { COUNT = sizeof edges / sizeof edges[0], POWERS = 3 * 66 };
  for (unsigned i = 0; i < CONVERSION_ITEMS; i++) {
    double x = (double)(int64_t)device_random() * 0x1p-63;
    x = ldexp(x, (int)(device_random() % 72) - 2);
    if (i < COUNT)
      x = edges[i];
    else if (i < COUNT + POWERS) /* around the powers of two, both signs */
      x = (i % 2 ? -1 : 1) *
          nextafter(ldexp(1, (int)(i - COUNT) / 3), i % 3 ? (i % 3 - 1) * INFINITY : 0);
    if (t->kind == FLOATING && t->bits == 16)
      ((uint16_t *)input[0])[i] = (uint16_t)device_half_bits(x, FE_TONEAREST);
    else if (t->kind == FLOATING && t->bits == 32)
      ((float *)input[0])[i] = (float)x;
    else if (t->kind == FLOATING)
      ((double *)input[0])[i] = x;
    else
      store(t, input[0], i,
            i < EDGES ? integer_edge(t, i)
                      : wrap(t, (wide)(int64_t)device_random() >> device_random() % t->bits));
  }
}

/* False where the result is free. */
static bool converted_integer(const struct type *d, const struct type *s, real x, wide exact,
                              bool saturate, int rounding, wide *want) {
  if (s->kind != FLOATING) {
    *want = saturate ? clip(d, exact) : wrap(d, exact);
    return true;
  }
  if (isnan(x)) {
    *want = 0;
    return saturate;
  }
  x = device_round(x, rounding < 0 ? FE_TOWARDZERO : rounding);
  bool inside = x >= (real)least(d) && x <= (real)most(d);
  *want = inside ? (wide)x : x < 0 ? least(d) : most(d);
  return inside || saturate;
}

/* x in the type, rounded once. */
static real converted_real(const struct type *d, real x, int rounding) {
  volatile real exact = x;
  volatile float f = 0;
  volatile double g = 0;
  if (rounding < 0)
    rounding = FE_TONEAREST;
  if (d->bits == 16)
    return isnan(x) ? x : device_half_value(device_half_bits(x, rounding));
  fesetround(rounding);
  if (d->bits == 32)
    f = (float)exact;
  else
    g = (double)exact;
  fesetround(FE_TONEAREST);
  return d->bits == 32 ? (real)f : (real)g;
}

static int check_conversion(const struct type *d, const struct type *s, bool saturate,
                            const struct mode *mode, const void *got) {
  int failures = 0;
  for (unsigned i = 0; i < CONVERSION_ITEMS; i++) {
    real x = load_any(s, input[0], i), value = load_any(d, got, i);
    bool right;
    if (d->kind == FLOATING) {
      /* float to float and double to double never round. */
      real want = converted_real(d, x, mode->rounding);
      right = isnan(x) ? isnan(value) : value == want && signbit(value) == signbit(want);
    } else {
      wide want = 0, exact = s->kind == FLOATING ? 0 : load(s, input[0], i);
      right = !converted_integer(d, s, x, exact, saturate, mode->rounding, &want) ||
              load(d, got, i) == want;
    }
    if (!right && failures++ < SHOWN)
      printf("  convert_%s%s%s(%s %.20Lg = %La) = %.20Lg\n", d->name, saturate ? "_sat" : "",
             mode->suffix, s->name, x, x, value);
  }
  return failures;
}

static int test_conversions_to(struct device_cl *cl, const struct type *d) {
  static unsigned char result[2 * MODES * CONVERSION_ITEMS * 8];
  struct device_text text = {0};
  unsigned forms = d->kind == FLOATING ? 1 : 2;
  int failures = 0;
  device_text_add(&text, "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n");
  for (unsigned k = 0; k < TYPES; k++) {
    device_text_add(&text,
                    "kernel void from_%s(global const %s *a, global %s *r) {\n  size_t i = "
                    "get_global_id(0), n = get_global_size(0);\n",
                    types[k].name, types[k].name, d->name);
    for (unsigned f = 0; f < forms * MODES; f++)
      device_text_add(&text, "  r[%u * n + i] = convert_%s%s%s(a[i]);\n", f, d->name,
                      f < MODES ? "" : "_sat", modes[f % MODES].suffix);
    device_text_add(&text, "}\n");
  }
  cl_program program = device_cl_build(cl, text.data);
  free(text.data);
  if (!program)
    return 1;
  for (unsigned k = 0; k < TYPES; k++) {
    const struct type *s = &types[k];
    char kernel[32];
    snprintf(kernel, sizeof kernel, "from_%s", s->name);
    make_values(s);
    struct device_array arrays[] = {{input[0], CONVERSION_ITEMS * 8, false},
                                    {result, sizeof result, true}};
    if (!device_cl_run(cl, program, kernel, CONVERSION_ITEMS, 0, arrays, 2)) {
      failures++;
      continue;
    }
    for (unsigned f = 0; f < forms * MODES; f++)
      failures += check_conversion(d, s, f >= MODES, &modes[f % MODES],
                                   result + (size_t)f * CONVERSION_ITEMS * (d->bits / 8));
  }
  clReleaseProgram(program);
  printf("%-6s conversions%s\n", d->name, failures ? "  FAIL" : "");
  return failures != 0;
}

/* Halfs: all 65536 loaded; floats and doubles stored in every mode. */
enum { HALFS = 65536, HALF_DIGITS = 11 };

static const char half_source[] =
    "kernel void load(global const half *h, global float *r) {\n"
    "  size_t i = get_global_id(0);\n"
    "  vstore4(vload_half4(i, h), i, r);\n"
    "  vstore4(vloada_half4(i, h), i, r + 65536);\n"
    "  float3 t = vload_half3(i, h);\n"
    "  vstore3(t, i, r + 2 * 65536);\n"
    "}\n"
    "#define STORE(T) kernel void store_##T(global const T *x, global half *r) {\\\n"
    "  size_t i = get_global_id(0), n = get_global_size(0);\\\n"
    "  vstore_half(x[i], i, r);\\\n"
    "  vstore_half_rte(x[i], n + i, r);\\\n"
    "  vstore_half_rtz(x[i], 2 * n + i, r);\\\n"
    "  vstore_half_rtp(x[i], 3 * n + i, r);\\\n"
    "  vstore_half_rtn(x[i], 4 * n + i, r);\\\n"
    "  vstorea_half2((T##2)(x[i], -x[i]), 5 * n / 2 + i, r);\\\n"
    "}\n"
    "STORE(float)\nSTORE(double)\n";

static int test_half_store(struct device_cl *cl, cl_program program, const struct type *t) {
  enum { COUNT = 4096 };
  static uint16_t result[7 * COUNT];
  char kernel[32];
  int failures = 0;
  for (unsigned i = 0; i < COUNT; i++) {
    /* Around halfs, between two of them, and outside their range. */
    double x = (double)device_half_value((unsigned)(device_random() % 0x7c00));
    x *= i % 4 == 0 ? 1
                    : 1 + (double)(int64_t)device_random() * 0x1p-63 * (i % 4 == 1 ? 0x1p-10 : 0.9);
    if (i % 5 == 4)
      x += ldexp(1, ilogb(x + 1e-9) - HALF_DIGITS);
    if (i % 2)
      x = -x;
    if (i < 8)
      x = (const double[]){0.0, -0.0, INFINITY, -INFINITY, 65520, -65519.9, 0x1p-25, 0x1p-60}[i];
    if (t->bits == 32)
      ((float *)input[0])[i] = (float)x;
    else
      ((double *)input[0])[i] = x;
  }
  snprintf(kernel, sizeof kernel, "store_%s", t->name);
  struct device_array arrays[] = {{input[0], COUNT * 8, false}, {result, sizeof result, true}};
  if (!device_cl_run(cl, program, kernel, COUNT, 0, arrays, 2))
    return 1;
  for (unsigned k = 0; k < 7; k++)
    for (unsigned i = 0, shown = 0; i < COUNT; i++) {
      unsigned at = k < 5 ? k * COUNT + i : 5 * COUNT + 2 * i + (k - 5);
      real x = load_any(t, input[0], i);
      unsigned want =
          device_half_bits(k == 6 ? -x : x, k > 0 && k < 5 ? modes[k].rounding : FE_TONEAREST);
      if (result[at] == want)
        continue;
      failures++;
      if (shown++ < SHOWN)
        printf("  half of %s %La, mode %u: %04x, not %04x\n", t->name, x, k, result[at], want);
    }
  return failures;
}

static int test_halfs(struct device_cl *cl) {
  static uint16_t halfs[HALFS];
  static float result[3 * HALFS];
  int failures = 0;
  cl_program program = device_cl_build(cl, half_source);
  if (!program)
    return 1;
  for (unsigned i = 0; i < HALFS; i++)
    halfs[i] = (uint16_t)i;
  struct device_array arrays[] = {{halfs, sizeof halfs, false}, {result, sizeof result, true}};
  if (!device_cl_run(cl, program, "load", HALFS / 4, 0, arrays, 2))
    return 1;
  for (unsigned k = 0; k < 3; k++)
    for (unsigned i = 0; i < (k < 2 ? HALFS : HALFS / 4 * 3); i++) {
      real want = device_half_value(i), got = result[k * HALFS + i];
      bool right = isnan(want) ? isnan(got) : got == want && signbit(got) == signbit(want);
      if (!right && failures++ < SHOWN)
        printf("  half %04x loaded in form %u: %La\n", i, k, got);
    }
  failures += test_half_store(cl, program, &types[8]) + test_half_store(cl, program, &types[9]);
  clReleaseProgram(program);
  printf("halfs%s\n", failures ? "  FAIL" : "");
  return failures != 0;
}

int main(void) {
  struct device_cl cl;
  int failures = 0;
  if (!device_cl_open(&cl))
    return 1;
  for (unsigned i = 0; i < INTEGER_TYPES; i++)
    failures += test_integer_type(&cl, &types[i]);
  for (unsigned i = 0; i < TYPES; i++)
    failures += test_conversions_to(&cl, &types[i]);
  failures += test_halfs(&cl);
  device_cl_close(&cl);
  printf("%d groups failed\n", failures);
  return failures != 0;
}
