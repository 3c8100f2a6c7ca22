/* Numeric test of the math functions: every function of OpenCL C in float,
 * double and half on edge values and random ones against long double references,
 * within the specification's error bounds (OpenCL C 3.0, "Relative Error as ULPs");
 * half, which is made of float, within one ulp, which none of cl_khr_fp16 forbids.
 */
#include <fenv.h>
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/compiler/device_cl.h"

typedef long double real;

enum type { TYPE_FLOAT, TYPE_DOUBLE, TYPE_HALF, TYPES };
static const struct {
  const char *name;
  size_t size;
  int digits, least, most; /* as FLT_MANT_DIG, FLT_MIN_EXP and FLT_MAX_EXP */
} types[TYPES] = {
    [TYPE_FLOAT] = {"float", 4, FLT_MANT_DIG, FLT_MIN_EXP, FLT_MAX_EXP},
    [TYPE_DOUBLE] = {"double", 8, DBL_MANT_DIG, DBL_MIN_EXP, DBL_MAX_EXP},
    [TYPE_HALF] = {"half", 2, 11, -13, 16},
};

/* The inputs of one work-item, exact in long double, and what came out. */
struct in {
  real a, b, c;
  int n;
  enum type type;
};
struct out {
  real value;
  real second; /* through the pointer to the floating-point type */
  int integer; /* through the pointer to int, or as the result */
};

/* What is checked. ANY_ZERO: the sign of a zero is free. NEAR: the native_
 * functions, whose error the specification leaves open, may also be off by a
 * small absolute amount. */
enum checks { VALUE = 1, SECOND = 2, INTEGER = 4, ANY_ZERO = 8, NEAR = 16 };

struct function {
  const char *name;
  const char *expression; /* x, y, z, n are inputs; s, m take second results */
  void (*reference)(const struct in *, struct out *);
  double float_ulps;  /* negative: not in float */
  double double_ulps; /* negative: not in double */
  int checks;
  real limit; /* of |a| in random values and edges; 0: none */
};

static const real pi = 3.14159265358979323846264338327950288L;

static real sin_pi(real x) {
  if (!isfinite(x))
    return NAN;
  real sign = copysignl(1, x), r = fmodl(fabsl(x), 2);
  if (r >= 1) {
    r -= 1;
    sign = -sign;
  }
  if (r == 0)
    return copysignl(0, x);
  if (r > 0.5L)
    r = 1 - r;
  return sign * (r <= 0.25L ? sinl(pi * r) : cosl(pi * (0.5L - r)));
}

static real cos_pi(real x) {
  if (!isfinite(x))
    return NAN;
  real r = fmodl(fabsl(x), 2);
  if (r > 1)
    r = 2 - r;
  if (r == 0.5L)
    return 0;
  return r < 0.25L ? cosl(pi * r) : r < 0.75L ? sinl(pi * (0.5L - r)) : -cosl(pi * (1 - r));
}

static real root(real x, int n) {
  if (n == 0 || (x < 0 && n % 2 == 0))
    return NAN;
  real r = powl(fabsl(x), 1.0L / n);
  return n % 2 ? copysignl(r, x) : r;
}

/* Rounds to the type under test. */
static real narrow(const struct in *in, real x) {
  return in->type == TYPE_DOUBLE  ? (real)(double)x
         : in->type == TYPE_FLOAT ? (real)(float)x
         : isnan(x)               ? x
                                  : device_half_value(device_half_bits(x, FE_TONEAREST));
}

#define REFERENCE(name, ...)                                                                       \
  static void ref_##name(const struct in *in, struct out *out) {                                   \
    const real a = in->a, b = in->b, c = in->c;                                                    \
    const int n = in->n;                                                                           \
    (void)a, (void)b, (void)c, (void)n;                                                            \
    __VA_ARGS__;                                                                                   \
  }
#define VALUE_OF(name, expression) REFERENCE(name, out->value = (expression))
/* By the library's function of the type itself, where it is exact. */
#define EXACT(name, f, d, h)                                                                       \
  REFERENCE(name, out->value = in->type == TYPE_DOUBLE  ? (real)(d)                                \
                               : in->type == TYPE_FLOAT ? (real)(f)                                \
                                                        : (h))

/* a * b + c of halfs, never half-way where the exact sum is not: the product is
 * exact, and a bit that the sum lost goes into its last place. */
static real half_fma(real a, real b, real c) {
  real product = a * b, sum = product + c, part = sum - product;
  real lost = (product - (sum - part)) + (c - part);
  return isfinite(sum) && lost != 0 ? nextafterl(sum, lost > 0 ? INFINITY : -INFINITY) : sum;
}

/* The halfs that are not negative are in the order of their bits. */
static real half_next(real a, real b) {
  if (isnan(a) || isnan(b) || a == b)
    return isnan(a) ? a : b;
  if (a == 0)
    return copysignl(device_half_value(1), b);
  unsigned bits = device_half_bits(a, FE_TONEAREST);
  return device_half_value((a < b) == (a > 0) ? bits + 1 : bits - 1);
}

VALUE_OF(acos, acosl(a))
VALUE_OF(acosh, acoshl(a))
VALUE_OF(acospi, acosl(a) / pi)
VALUE_OF(asin, asinl(a))
VALUE_OF(asinh, asinhl(a))
VALUE_OF(asinpi, asinl(a) / pi)
VALUE_OF(atan, atanl(a))
VALUE_OF(atan2, atan2l(a, b))
VALUE_OF(atan2pi, atan2l(a, b) / pi)
VALUE_OF(atanh, atanhl(a))
VALUE_OF(atanpi, atanl(a) / pi)
VALUE_OF(cbrt, cbrtl(a))
VALUE_OF(ceil, ceill(a))
VALUE_OF(copysign, copysignl(a, b))
VALUE_OF(cos, cosl(a))
VALUE_OF(cosh, coshl(a))
VALUE_OF(cospi, cos_pi(a))
VALUE_OF(erf, erfl(a))
VALUE_OF(erfc, erfcl(a))
VALUE_OF(exp, expl(a))
VALUE_OF(exp10, exp10l(a))
VALUE_OF(exp2, exp2l(a))
VALUE_OF(expm1, expm1l(a))
VALUE_OF(fabs, fabsl(a))
EXACT(fdim, fdimf((float)a, (float)b), fdim((double)a, (double)b), fdiml(a, b))
VALUE_OF(floor, floorl(a))
EXACT(fma, fmaf((float)a, (float)b, (float)c), fma((double)a, (double)b, (double)c),
      half_fma(a, b, c))
VALUE_OF(fmax, fmaxl(a, b))
VALUE_OF(fmin, fminl(a, b))
VALUE_OF(fmod, fmodl(a, b))
REFERENCE(fract, out->second = floorl(a);
          out->value = isinf(a)   ? copysignl(0, a)
                       : isnan(a) ? a
                                  : fminl(a - floorl(a), 1 - ldexpl(1, -types[in->type].digits)))
REFERENCE(frexp, out->value = frexpl(a, &out->integer))
VALUE_OF(hypot, hypotl(a, b))
REFERENCE(ilogb, out->integer = isnan(a) ? INT_MAX : a == 0 ? INT_MIN : ilogbl(a))
EXACT(ldexp, ldexpf((float)a, n), ldexp((double)a, n), ldexpl(a, n))
VALUE_OF(lgamma, lgammal(a))
REFERENCE(lgamma_r, out->value = lgammal_r(a, &out->integer);
          if (a == 0 || (a < 0 && a == floorl(a)) || !isfinite(a)) out->integer = INT_MIN)
VALUE_OF(log, logl(a))
VALUE_OF(log10, log10l(a))
VALUE_OF(log1p, log1pl(a))
VALUE_OF(log2, log2l(a))
VALUE_OF(logb, logbl(a))
VALUE_OF(maxmag, fabsl(a) > fabsl(b) ? a : fabsl(b) > fabsl(a) ? b : fmaxl(a, b))
VALUE_OF(minmag, fabsl(a) < fabsl(b) ? a : fabsl(b) < fabsl(a) ? b : fminl(a, b))
REFERENCE(modf, out->value = modfl(a, &out->second))
EXACT(nextafter, nextafterf((float)a, (float)b), nextafter((double)a, (double)b), half_next(a, b))
VALUE_OF(pow, powl(a, b))
VALUE_OF(pown, powl(a, n))
VALUE_OF(powr,
         a < 0 || isnan(a) || isnan(b) || (b == 0 && (a == 0 || isinf(a))) || (a == 1 && isinf(b))
             ? NAN
             : powl(fabsl(a), b))
VALUE_OF(remainder, remainderl(a, b))
/* The C library promises three bits of the quotient; seven come from a
 * remainder with 128 times the divisor. */
REFERENCE(
    remquo, out->value = remainderl(a, b); if (!isfinite(a) || isnan(b) || b == 0) {
      out->integer = INT_MIN;
      return;
    } real part = isinf(b) ? a : fmodl(fabsl(a), 128 * fabsl(b));
    int q = isinf(b) ? 0
                     : (int)(unsigned)rintl((part - fabsl(out->value) *
                                                        ((out->value < 0) != (a < 0) ? -1 : 1)) /
                                            fabsl(b)) &
                           127;
    out->integer = (a < 0) != (b < 0) ? -q : q)
VALUE_OF(rint, rintl(a))
VALUE_OF(rootn, root(a, n))
VALUE_OF(round, roundl(a))
VALUE_OF(rsqrt, 1 / sqrtl(a))
VALUE_OF(sin, sinl(a))
REFERENCE(sincos, out->value = sinl(a); out->second = cosl(a))
VALUE_OF(sinh, sinhl(a))
VALUE_OF(sinpi, sin_pi(a))
VALUE_OF(sqrt, sqrtl(a))
VALUE_OF(tan, tanl(a))
VALUE_OF(tanh, tanhl(a))
VALUE_OF(tanpi, sin_pi(a) / cos_pi(a))
VALUE_OF(tgamma, a == 0 ? copysignl(INFINITY, a) : tgammal(a))
VALUE_OF(trunc, truncl(a))
VALUE_OF(divide, a / b)
VALUE_OF(recip, 1 / a)
VALUE_OF(degrees, a *(180 / pi))
VALUE_OF(radians, a *(pi / 180))
VALUE_OF(sign, isnan(a) ? 0 : a > 0 ? 1 : a < 0 ? -1 : a)
VALUE_OF(step, b < a ? 0 : 1)

#define ANY     DBL_MAX
#define HALF    8192
#define NEVER   -1
#define IN_HALF 65536.0L
#define F1(name, f, d)                                                                             \
  { #name, #name "(x)", ref_##name, f, d, VALUE, 0 }
#define F2(name, f, d)                                                                             \
  { #name, #name "(x, y)", ref_##name, f, d, VALUE, 0 }
#define FN(name, f, d)                                                                             \
  { #name, #name "(x, n)", ref_##name, f, d, VALUE, 0 }
#define FZ(name, call, ulps)                                                                       \
  { #name, #name call, ref_##name, ulps, ulps, VALUE | ANY_ZERO, 0 }
#define FT(name, base, call)                                                                       \
  { #name, #name call, ref_##base, HALF, NEVER, VALUE | NEAR, 100 }
#define FH(name, base, call)                                                                       \
  { #name, #name call, ref_##base, HALF, NEVER, VALUE, IN_HALF }

static const struct function functions[] = {
    F1(acos, 4, 4),
    F1(acosh, 4, 4),
    F1(acospi, 5, 5),
    F1(asin, 4, 4),
    F1(asinh, 4, 4),
    F1(asinpi, 5, 5),
    F1(atan, 5, 5),
    F2(atan2, 6, 6),
    F2(atan2pi, 6, 6),
    F1(atanh, 5, 5),
    F1(atanpi, 5, 5),
    F1(cbrt, 2, 2),
    F1(ceil, 0, 0),
    F2(copysign, 0, 0),
    F1(cos, 4, 4),
    F1(cosh, 4, 4),
    F1(cospi, 4, 4),
    F1(erf, 16, 16),
    F1(erfc, 16, 16),
    F1(exp, 3, 3),
    F1(exp10, 3, 3),
    F1(exp2, 3, 3),
    F1(expm1, 3, 3),
    F1(fabs, 0, 0),
    F2(fdim, 0, 0),
    F1(floor, 0, 0),
    {"fma", "fma(x, y, z)", ref_fma, 0, 0, VALUE, 0},
    FZ(fmax, "(x, y)", 0),
    FZ(fmin, "(x, y)", 0),
    F2(fmod, 0, 0),
    {"fract", "fract(x, &s)", ref_fract, 0, 0, VALUE | SECOND, 0},
    {"frexp", "frexp(x, &m)", ref_frexp, 0, 0, VALUE | INTEGER, 0},
    F2(hypot, 4, 4),
    {"ilogb", "(m = ilogb(x))", ref_ilogb, 0, 0, INTEGER, 0},
    FN(ldexp, 0, 0),
    F1(lgamma, ANY, ANY),
    {"lgamma_r", "lgamma_r(x, &m)", ref_lgamma_r, ANY, ANY, VALUE | INTEGER, 0},
    F1(log, 3, 3),
    F1(log10, 3, 3),
    F1(log1p, 2, 2),
    F1(log2, 3, 3),
    F1(logb, 0, 0),
    FZ(maxmag, "(x, y)", 0),
    FZ(minmag, "(x, y)", 0),
    {"modf", "modf(x, &s)", ref_modf, 0, 0, VALUE | SECOND, 0},
    F2(nextafter, 0, 0),
    F2(pow, 16, 16),
    FN(pown, 16, 16),
    F2(powr, 16, 16),
    F2(remainder, 0, 0),
    {"remquo", "remquo(x, y, &m)", ref_remquo, 0, 0, VALUE | INTEGER, 0},
    F1(rint, 0, 0),
    FN(rootn, 16, 16),
    F1(round, 0, 0),
    F1(rsqrt, 2, 2),
    F1(sin, 4, 4),
    {"sincos", "sincos(x, &s)", ref_sincos, 4, 4, VALUE | SECOND, 0},
    F1(sinh, 4, 4),
    F1(sinpi, 4, 4),
    F1(sqrt, 3, 0.5),
    F1(tan, 5, 5),
    F1(tanh, 5, 5),
    F1(tanpi, 6, 6),
    FZ(tgamma, "(x)", 16),
    F1(trunc, 0, 0),
    {"divide", "x / y", ref_divide, 2.5, 0.5, VALUE, 0},
    F1(degrees, 2, 2),
    F1(radians, 2, 2),
    F1(sign, 0, 0),
    F2(step, 0, 0),
    FH(half_cos, cos, "(x)"),
    FH(half_divide, divide, "(x, y)"),
    FH(half_exp, exp, "(x)"),
    FH(half_exp10, exp10, "(x)"),
    FH(half_exp2, exp2, "(x)"),
    FH(half_log, log, "(x)"),
    FH(half_log10, log10, "(x)"),
    FH(half_log2, log2, "(x)"),
    FH(half_powr, powr, "(x, y)"),
    FH(half_recip, recip, "(x)"),
    FH(half_rsqrt, rsqrt, "(x)"),
    FH(half_sin, sin, "(x)"),
    FH(half_sqrt, sqrt, "(x)"),
    FH(half_tan, tan, "(x)"),
    FT(native_cos, cos, "(x)"),
    FT(native_divide, divide, "(x, y)"),
    FT(native_exp, exp, "(x)"),
    FT(native_exp10, exp10, "(x)"),
    FT(native_exp2, exp2, "(x)"),
    FT(native_log, log, "(x)"),
    FT(native_log10, log10, "(x)"),
    FT(native_log2, log2, "(x)"),
    FT(native_powr, powr, "(x, y)"),
    FT(native_recip, recip, "(x)"),
    FT(native_rsqrt, rsqrt, "(x)"),
    FT(native_sin, sin, "(x)"),
    FT(native_sqrt, sqrt, "(x)"),
    FT(native_tan, tan, "(x)"),
};
enum { FUNCTIONS = sizeof functions / sizeof functions[0] };

/* Inputs. */
static const double edges[] = {
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    -0.5,
    1.5,
    -1.5,
    2.0,
    -2.0,
    2.5,
    -2.5,
    3.0,
    -3.0,
    10.0,
    -10.0,
    0.25,
    0.75,
    100.5,
    -100.5,
    1e-3,
    -1e-3,
    8388608,
    8388609,
    16777216,
    -16777217.0,
    1e10,
    -1e10,
    88.7,
    -88.7,
    -103.9,
    709.7,
    -745.1,
    127.999,
    -149.5,
    1.5707963267948966,
    3.1415926535897932,
    -0.7853981633974483,
    0.9999999403953552,
    1.0000001192092896,
    -0.99999994,
    FLT_MIN,
    -FLT_MIN,
    FLT_MAX,
    -FLT_MAX,
    0x1p-149,
    -0x1p-149,
    0x1p-140,
    0x1p-14,
    0x1p-24,
    -0x1.8p-24,
    65504,
    -65504,
    65519,
    0x1.ffcp-1,
    DBL_MIN,
    DBL_MAX,
    -DBL_MAX,
    0x1p-1074,
    INFINITY,
    -INFINITY,
    NAN,
};
static const int integer_edges[] = {0,     1,      -1,      2,       -2,       3,        -3,
                                    7,     -8,     24,      127,     -149,     150,      1074,
                                    -1074, 100001, INT_MAX, INT_MIN, 16777217, -16777219};
enum {
  EDGES = sizeof edges / sizeof edges[0],
  INTEGER_EDGES = sizeof integer_edges / sizeof integer_edges[0],
  RANDOM = 2400,
  ITEMS = EDGES * EDGES + RANDOM,
};

static struct in inputs[ITEMS];

/* Random bits, and values near 1 in three widths, in turn. */
static double random_value(unsigned turn, enum type type) {
  uint64_t bits = device_random();
  uint32_t half = (uint32_t)(bits >> 32);
  double unit = (double)(int64_t)bits * 0x1p-63;
  float f;
  double d;
  memcpy(&f, &half, sizeof f);
  memcpy(&d, &bits, sizeof d);
  switch (turn % 4) {
  case 0:
    return type == TYPE_DOUBLE  ? d
           : type == TYPE_FLOAT ? (double)f
                                : (double)device_half_value(half >> 16);
  case 1:
    return unit;
  case 2:
    return unit * 100;
  default:
    return ldexp(unit, (int)(bits % 41) - (type == TYPE_HALF ? 24 : 20));
  }
}

static void make_inputs(enum type type) {
  for (unsigned i = 0; i < ITEMS; i++) {
    struct in *in = &inputs[i];
    bool edge = i < EDGES * EDGES;
    double a = edge ? edges[i / EDGES] : random_value(i, type);
    double b = edge ? edges[i % EDGES] : random_value(i / 4, type);
    double c = edge ? edges[(i * 7) % EDGES] : random_value(i / 16, type);
    *in = (struct in){a, b, c, 0, type};
    in->n = edge ? integer_edges[i % INTEGER_EDGES] : (int)(device_random() >> (32 + i % 31));
    if (i % 2 && !edge)
      in->n = -in->n;
    in->a = narrow(in, in->a);
    in->b = narrow(in, in->b);
    in->c = narrow(in, in->c);
  }
}

/* Distance of a result from the true value in units of the last place of the
 * true value; INFINITY for a wrong infinity, NaN or sign of zero. */
static double error_ulps(real got, real want, enum type type, bool zero_sign) {
  const int digits = types[type].digits, least = types[type].least, most = types[type].most;
  const real last = ldexpl(1, most - digits), largest = ldexpl(1, most) - last;
  if (isnan(want) || isnan(got))
    return isnan(want) && isnan(got) ? 0 : INFINITY;
  if (got == want)
    return zero_sign && got == 0 && signbit(got) != signbit(want) ? INFINITY : 0;
  if (isinf(want))
    return INFINITY;
  int exponent = want == 0 ? least : ilogbl(want) + 1;
  if (exponent < least)
    exponent = least;
  real ulp = ldexpl(1, exponent - digits);
  if (isinf(got)) /* as if it were the next number behind the largest */
    got = copysignl(largest + last, got);
  if (fabsl(want) > largest) {
    want = copysignl(largest + last, want);
    ulp = last;
  }
  return (double)(fabsl(got - want) / ulp);
}

struct results {
  void *value, *second;
  int *integer;
};

static real load(const void *array, size_t i, enum type type) {
  return type == TYPE_DOUBLE  ? (real)((const double *)array)[i]
         : type == TYPE_FLOAT ? (real)((const float *)array)[i]
                              : device_half_value(((const uint16_t *)array)[i]);
}
static void store(void *array, size_t i, enum type type, real x) {
  if (type == TYPE_DOUBLE)
    ((double *)array)[i] = (double)x;
  else if (type == TYPE_FLOAT)
    ((float *)array)[i] = (float)x;
  else
    ((uint16_t *)array)[i] = (uint16_t)device_half_bits(x, FE_TONEAREST);
}

/* Of half: one rounding, and nothing but float's own error before it. */
static double bound_of(const struct function *f, enum type type) {
  return type == TYPE_DOUBLE                          ? f->double_ulps
         : type == TYPE_FLOAT                         ? f->float_ulps
         : f->limit != 0                              ? NEVER
         : f->float_ulps == 0 || f->float_ulps == ANY ? f->float_ulps
         : f->double_ulps == 0.5                      ? 0.5
                                                      : 1;
}

static bool out_of_domain(const struct function *f, const struct in *in) {
  return f->limit != 0 && (!(fabsl(in->a) < f->limit) || !(fabsl(in->b) < f->limit) ||
                           (in->a != 0 && fabsl(in->a) < 1 / f->limit) ||
                           (in->b != 0 && fabsl(in->b) < 1 / f->limit));
}

/* What NEAR allows: the errors of sine and cosine grow in their quotient. */
static real near(const struct function *f, real want) {
  return 0x1p-16L * (f->reference == ref_tan ? 1 + want * want : 1);
}

/* The number of failures; prints the first few and the worst error. */
static int check(const struct function *f, const struct results *results, enum type type) {
  enum { SHOWN = 4 };
  double bound = bound_of(f, type), worst = 0;
  int failures = 0;
  for (size_t i = 0; i < ITEMS; i++) {
    const struct in *in = &inputs[i];
    struct out want = {0, 0, 0}, got = {0, 0, 0};
    if (out_of_domain(f, in))
      continue;
    f->reference(in, &want);
    got.value = load(results->value, i, type);
    got.second = load(results->second, i, type);
    got.integer = results->integer[i];
    if (bound == 0) {
      want.value = narrow(in, want.value);
      want.second = narrow(in, want.second);
    }
    bool zero_sign = f->limit == 0 && !(f->checks & ANY_ZERO);
    double error = 0;
    if (f->checks & VALUE)
      error = error_ulps(got.value, want.value, type, zero_sign);
    if ((f->checks & NEAR) && fabsl(got.value - want.value) < near(f, want.value))
      error = 0;
    if (f->checks & SECOND)
      error = fmax(error, error_ulps(got.second, want.second, type, zero_sign));
    /* The exponent of what is no number is free; so is what a reference marks. */
    bool free_integer = want.integer == INT_MIN && f->reference != ref_ilogb;
    free_integer |= f->reference == ref_frexp && !isfinite(in->a);
    if ((f->checks & INTEGER) && !free_integer && got.integer != want.integer)
      error = INFINITY;
    if (bound == ANY && error < INFINITY)
      error = 0;
    if (error > worst && error < INFINITY)
      worst = error;
    if (error > bound && failures++ < SHOWN)
      printf("  %s(%La, %La, %La; %d) = %La, %La, %d; not %La, %La, %d: %g ulp\n", f->name, in->a,
             in->b, in->c, in->n, got.value, got.second, got.integer, want.value, want.second,
             want.integer, error);
  }
  printf("%-6s %-12s worst %8.3f ulp of %g%s\n", types[type].name, f->name, worst, bound,
         failures ? "  FAIL" : "");
  return failures;
}

static char *program_text(enum type type) {
  struct device_text text = {0};
  const char *name = types[type].name;
  if (type == TYPE_HALF)
    device_text_add(&text, "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n");
  for (size_t i = 0; i < FUNCTIONS; i++)
    if (bound_of(&functions[i], type) >= 0)
      device_text_add(&text,
                      "kernel void test_%s(global const %s *a, global const %s *b, global const %s "
                      "*c,\n  global const int *d, global %s *v, global %s *w, global int *k) {\n"
                      "  size_t i = get_global_id(0);\n  %s x = a[i], y = b[i], z = c[i], s = 0;\n"
                      "  int n = d[i], m = 0;\n  v[i] = %s;\n  w[i] = s;\n  k[i] = m;\n}\n",
                      functions[i].name, name, name, name, name, name, name,
                      functions[i].expression);
  return text.data;
}

static int test_type(struct device_cl *cl, enum type type, const char *only) {
  static double a[ITEMS], b[ITEMS], c[ITEMS], value[ITEMS], second[ITEMS];
  static int n[ITEMS], integer[ITEMS];
  size_t size = types[type].size;
  int failures = 0;
  make_inputs(type);
  for (size_t i = 0; i < ITEMS; i++) {
    n[i] = inputs[i].n;
    store(a, i, type, inputs[i].a);
    store(b, i, type, inputs[i].b);
    store(c, i, type, inputs[i].c);
  }
  char *source = program_text(type);
  cl_program program = device_cl_build(cl, source);
  free(source);
  if (!program)
    return 1;
  struct results results = {value, second, integer};
  for (size_t i = 0; i < FUNCTIONS; i++) {
    const struct function *f = &functions[i];
    char kernel[64];
    if (bound_of(f, type) < 0 || (only && strcmp(only, f->name)))
      continue;
    snprintf(kernel, sizeof kernel, "test_%s", f->name);
    struct device_array arrays[] = {
        {a, ITEMS * size, false},        {b, ITEMS * size, false},
        {c, ITEMS * size, false},        {n, sizeof n, false},
        {value, ITEMS * size, true},     {second, ITEMS * size, true},
        {integer, sizeof integer, true},
    };
    if (device_cl_run(cl, program, kernel, ITEMS, 0, arrays, sizeof arrays / sizeof arrays[0]))
      failures += check(f, &results, type) != 0;
    else
      failures++;
  }
  clReleaseProgram(program);
  return failures;
}

int main(int argc, char **argv) {
  struct device_cl cl;
  const char *only = argc > 1 ? argv[1] : NULL;
  if (!device_cl_open(&cl))
    return 1;
  int failures = 0;
  for (enum type type = 0; type < TYPES; type++)
    failures += test_type(&cl, type, only);
  device_cl_close(&cl);
  printf("%d functions failed\n", failures);
  return failures != 0;
}
