/* Math functions (OpenCL C 3.0, 6.15.2): references in long double, and the bounds of section
 * 7.4 ("Relative Error as ULPs") and, for half, of cl_khr_fp16. A bound of 0.5 means
 * "correctly rounded"; the references of those functions round only once.
 */
#include "tests/builtins/builtins.h"

#include <fenv.h>
#include <limits.h>
#include <stdlib.h>

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

static real root(real x, wide n) {
  if (n == 0 || (x < 0 && n % 2 == 0))
    return NAN;
  real r = powl(fabsl(x), 1.0L / (real)n);
  return n % 2 ? copysignl(r, x) : r;
}

/* Computes a * b + c for halves. The result is never exactly between two
 * halves unless the exact sum is: the product is exact, and the sum is
 * adjusted by one unit in the last place if it was rounded. */
static real half_fma(real a, real b, real c) {
  real product = a * b, sum = product + c, part = sum - product;
  real lost = (product - (sum - part)) + (c - part);
  return isfinite(sum) && lost != 0 ? nextafterl(sum, lost > 0 ? INFINITY : -INFINITY) : sum;
}

/* Non-negative halves have the same order as their bits. */
static real half_next(real a, real b) {
  if (isnan(a) || isnan(b) || a == b)
    return isnan(a) ? a : b;
  if (a == 0)
    return copysignl(device_half_value(1), b);
  unsigned bits = device_half_bits(a, FE_TONEAREST);
  return device_half_value((a < b) == (a > 0) ? bits + 1 : bits - 1);
}

#define VALUE(name, expression)  REFERENCE(name, out->value.x = (expression))
#define BOTH(name, first, other) REFERENCE(name, out->value.x = (first); out->second.x = (other))
/* Uses the machine's or library's function for the type where it is exact. */
#define EXACT(name, in_float, in_double, in_half)                                                  \
  REFERENCE(name, out->value.x = c->type == DOUBLE  ? (real)(in_double)                            \
                                 : c->type == FLOAT ? (real)(in_float)                             \
                                                    : narrow(HALF, in_half, FE_TONEAREST))
#define F(x) ((float)(x))
#define D(x) ((double)(x))

VALUE(acos, acosl(a))
VALUE(acosh, acoshl(a))
VALUE(acospi, acosl(a) / pi)
VALUE(asin, asinl(a))
VALUE(asinh, asinhl(a))
VALUE(asinpi, asinl(a) / pi)
VALUE(atan, atanl(a))
VALUE(atan2, atan2l(a, b))
VALUE(atan2pi, atan2l(a, b) / pi)
VALUE(atanh, atanhl(a))
VALUE(atanpi, atanl(a) / pi)
VALUE(cbrt, cbrtl(a))
VALUE(ceil, ceill(a))
VALUE(copysign, copysignl(a, b))
VALUE(cos, cosl(a))
VALUE(cosh, coshl(a))
VALUE(cospi, cos_pi(a))
VALUE(erf, erfl(a))
VALUE(erfc, erfcl(a))
VALUE(exp, expl(a))
VALUE(exp10, exp10l(a))
VALUE(exp2, exp2l(a))
VALUE(expm1, expm1l(a))
VALUE(fabs, fabsl(a))
EXACT(fdim, fdimf(F(a), F(b)), fdim(D(a), D(b)), fdiml(a, b))
VALUE(floor, floorl(a))
EXACT(fma, fmaf(F(a), F(b), F(d)), fma(D(a), D(b), D(d)), half_fma(a, b, d))
VALUE(fmax, fmaxl(a, b))
VALUE(fmin, fminl(a, b))
VALUE(fmod, fmodl(a, b))
BOTH(fract,
     isinf(a)   ? copysignl(0, a)
     : isnan(a) ? a
                : fminl(a - floorl(a), 1 - ldexpl(1, -types[c->type].digits)),
     floorl(a))
/* The exponent of a NaN or infinity is unspecified. */
REFERENCE(frexp, int exponent = 0; out->value.x = frexpl(a, &exponent); out->second.n = exponent;
          out->second_free = !isfinite(a))
VALUE(hypot, hypotl(a, b))
REFERENCE(ilogb, out->value.n = isnan(a)   ? INT_MAX
                                : a == 0   ? INT_MIN
                                : isinf(a) ? INT_MAX
                                           : ilogbl(a))
EXACT(ldexp, ldexpf(F(a), (int)j), ldexp(D(a), (int)j), ldexpl(a, (int)j))
VALUE(lgamma, lgammal(a))
REFERENCE(lgamma_r, int sign = 1; out->value.x = lgammal_r(a, &sign); out->second.n = sign;
          out->second_free = a == 0 || (a < 0 && a == floorl(a)) || !isfinite(a))
VALUE(log, logl(a))
VALUE(log10, log10l(a))
VALUE(log1p, log1pl(a))
VALUE(log2, log2l(a))
VALUE(logb, logbl(a))
VALUE(maxmag, fabsl(a) > fabsl(b) ? a : fabsl(b) > fabsl(a) ? b : fmaxl(a, b))
VALUE(minmag, fabsl(a) < fabsl(b) ? a : fabsl(b) < fabsl(a) ? b : fminl(a, b))
REFERENCE(modf, out->value.x = modfl(a, &out->second.x))
VALUE(nan, NAN)
EXACT(nextafter, nextafterf(F(a), F(b)), nextafter(D(a), D(b)), half_next(a, b))
VALUE(pow, powl(a, b))
VALUE(pown, powl(a, (real)j))
VALUE(powr,
      a < 0 || isnan(a) || isnan(b) || (b == 0 && (a == 0 || isinf(a))) || (a == 1 && isinf(b))
          ? NAN
          : powl(fabsl(a), b))
VALUE(remainder, remainderl(a, b))
/* The C library guarantees only three bits of the quotient. The
 * remainder for 128 times the divisor gives seven. */
static int quotient(real a, real b, real rest) {
  real part = isinf(b) ? a : fmodl(fabsl(a), 128 * fabsl(b));
  real above = fabsl(rest) * ((rest < 0) != (a < 0) ? -1 : 1);
  int q = isinf(b) ? 0 : (int)((unsigned)rintl((part - above) / fabsl(b)) & 127);
  return (a < 0) != (b < 0) ? -q : q;
}
REFERENCE(remquo, out->value.x = remainderl(a, b);
          out->second_free = !isfinite(a) || isnan(b) || b == 0;
          out->second.n = out->second_free ? 0 : quotient(a, b, out->value.x))
VALUE(rint, rintl(a))
VALUE(rootn, root(a, j))
VALUE(round, roundl(a))
VALUE(rsqrt, 1 / sqrtl(a))
VALUE(sin, sinl(a))
BOTH(sincos, sinl(a), cosl(a))
VALUE(sinh, sinhl(a))
VALUE(sinpi, sin_pi(a))
EXACT(sqrt, sqrtl(a), sqrt(D(a)), sqrtl(a))
VALUE(tan, tanl(a))
VALUE(tanh, tanhl(a))
VALUE(tanpi, sin_pi(a) / cos_pi(a))
VALUE(tgamma, a == 0 ? copysignl(INFINITY, a) : tgammal(a))
VALUE(trunc, truncl(a))
EXACT(operator_add, F(a) + F(b), D(a) + D(b), a + b)
EXACT(operator_subtract, F(a) - F(b), D(a) - D(b), a - b)
EXACT(operator_multiply, F(a) * F(b), D(a) * D(b), a *b)
EXACT(operator_divide, a / b, D(a) / D(b), a / b)
VALUE(divide, a / b)
VALUE(recip, 1 / a)

#define ROW(name, forms, half, in_float, in_double, flags)                                         \
  { #name, forms, FLOATS, ref_##name, {half, in_float, in_double }, {0 }, flags, 0, NULL }
#define ROW1(name, half, in_float, in_double) ROW(name, "gg", half, in_float, in_double, 0)
#define ROW2(name, half, in_float, in_double) ROW(name, "ggg", half, in_float, in_double, 0)
#define EXACT1(name)                          ROW(name, "gg", 0, 0, 0, 0)
#define EXACT2(name)                          ROW(name, "ggg", 0, 0, 0, 0)

static const struct builtin math_rows[] = {
    ROW2(operator_add, 0.5, 0.5, 0.5),
    ROW2(operator_subtract, 0.5, 0.5, 0.5),
    ROW2(operator_multiply, 0.5, 0.5, 0.5),
    ROW2(operator_divide, 0.5, 2.5, 0.5),
    ROW1(acos, 2, 4, 4),
    ROW1(acosh, 2, 4, 4),
    ROW1(acospi, 2, 5, 5),
    ROW1(asin, 2, 4, 4),
    ROW1(asinh, 2, 4, 4),
    ROW1(asinpi, 2, 5, 5),
    ROW1(atan, 2, 5, 5),
    ROW2(atan2, 2, 6, 6),
    ROW2(atan2pi, 2, 6, 6),
    ROW1(atanh, 2, 5, 5),
    ROW1(atanpi, 2, 5, 5),
    ROW1(cbrt, 2, 2, 2),
    EXACT1(ceil),
    EXACT2(copysign),
    ROW1(cos, 2, 4, 4),
    ROW1(cosh, 2, 4, 4),
    ROW1(cospi, 2, 4, 4),
    ROW1(erf, 4, 16, 16),
    ROW1(erfc, 4, 16, 16),
    ROW1(exp, 2, 3, 3),
    ROW1(exp10, 2, 3, 3),
    ROW1(exp2, 2, 3, 3),
    ROW1(expm1, 2, 3, 3),
    EXACT1(fabs),
    ROW2(fdim, 0.5, 0.5, 0.5),
    EXACT1(floor),
    ROW(fma, "gggg", 0.5, 0.5, 0.5, 0),
    ROW(fmax, "ggg ggs", 0, 0, 0, ANY_ZERO),
    ROW(fmin, "ggg ggs", 0, 0, 0, ANY_ZERO),
    EXACT2(fmod),
    ROW(fract, "ggo", 0.5, 0.5, 0.5, 0),
    ROW(frexp, "ggp", 0, 0, 0, 0),
    ROW2(hypot, 2, 4, 4),
    ROW(ilogb, "ig", 0, 0, 0, 0),
    ROW(ldexp, "ggi ggj", 0.5, 0.5, 0.5, 0),
    ROW1(lgamma, UNBOUND, UNBOUND, UNBOUND),
    ROW(lgamma_r, "ggp", UNBOUND, UNBOUND, UNBOUND, 0),
    ROW1(log, 2, 3, 3),
    ROW1(log10, 2, 3, 3),
    ROW1(log1p, 2, 2, 2),
    ROW1(log2, 2, 3, 3),
    EXACT1(logb),
    /* The specification does not limit its error; here it must be fma. */
    {"mad", "gggg", FLOATS, ref_fma, {0.5, 0.5, 0.5}, {0}, 0, 0, NULL},
    ROW(maxmag, "ggg", 0, 0, 0, ANY_ZERO),
    ROW(minmag, "ggg", 0, 0, 0, ANY_ZERO),
    ROW(modf, "ggo", 0, 0, 0, 0),
    ROW(nan, "gu", 0, 0, 0, 0),
    EXACT2(nextafter),
    ROW2(pow, 4, 16, 16),
    ROW(pown, "ggi", 4, 16, 16, 0),
    ROW2(powr, 4, 16, 16),
    EXACT2(remainder),
    ROW(remquo, "gggp", 0, 0, 0, 0),
    EXACT1(rint),
    ROW(rootn, "ggi", 4, 16, 16, 0),
    EXACT1(round),
    ROW1(rsqrt, 1, 2, 2),
    ROW1(sin, 2, 4, 4),
    ROW(sincos, "ggo", 2, 4, 4, 0),
    ROW1(sinh, 2, 4, 4),
    ROW1(sinpi, 2, 4, 4),
    ROW1(sqrt, 0.5, 3, 0.5),
    ROW1(tan, 2, 5, 5),
    ROW1(tanh, 2, 5, 5),
    ROW1(tanpi, 2, 6, 6),
    ROW(tgamma, "gg", 4, 16, 16, ANY_ZERO),
    EXACT1(trunc),
};
const struct builtin_list math_functions = {"Math functions", math_rows,
                                            sizeof math_rows / sizeof math_rows[0]};

/* half_ functions have a bound of 8192 ulp where the specification defines
 * them. The specification allows any error for native_ functions; they must
 * meet the bound of half_, or a small absolute one. */
#define HALF_FORM(name, forms)                                                                     \
  { "half_" #name, forms, 1 << FLOAT, ref_##name, {0, 8192, 0}, {0}, 0, 65536, NULL }
#define NATIVE_FORM(name, forms)                                                                   \
  { "native_" #name, forms, 1 << FLOAT, ref_##name, {0, 1, 0}, {0}, NEAR, 100, "8192 ulp or 2⁻¹⁶" }
#define BOTH_FORMS(name, forms) HALF_FORM(name, forms), NATIVE_FORM(name, forms)

static const struct builtin fast_rows[] = {
    BOTH_FORMS(cos, "gg"),   BOTH_FORMS(divide, "ggg"), BOTH_FORMS(exp, "gg"),
    BOTH_FORMS(exp10, "gg"), BOTH_FORMS(exp2, "gg"),    BOTH_FORMS(log, "gg"),
    BOTH_FORMS(log10, "gg"), BOTH_FORMS(log2, "gg"),    BOTH_FORMS(powr, "ggg"),
    BOTH_FORMS(recip, "gg"), BOTH_FORMS(rsqrt, "gg"),   BOTH_FORMS(sin, "gg"),
    BOTH_FORMS(sqrt, "gg"),  BOTH_FORMS(tan, "gg"),
};
const struct builtin_list fast_functions = {"`half_` and `native_` functions", fast_rows,
                                            sizeof fast_rows / sizeof fast_rows[0]};
