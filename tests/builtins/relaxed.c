/* The requirements with -cl-fast-relaxed-math: the table "ULP Values for Single-Precision Built-in
 * Math Functions With Unsafe Math Optimizations" of OpenCL C (unified specification 3.0, section
 * 7.4), with -cl-finite-math-only and -cl-denorms-are-zero, which the option implies. Functions
 * that are not in the table keep their bounds, and so do half and double. */
#include "tests/builtins/run.h"

#include <float.h>
#include <string.h>

#define PI 3.14159265358979323846264338327950288L

static real ulp(real x) {
  int exponent = x == 0 ? FLT_MIN_EXP : ilogbl(x) + 1;
  return ldexpl(1, (exponent < FLT_MIN_EXP ? FLT_MIN_EXP : exponent) - FLT_MANT_DIG);
}

/* Return the absolute error that the table allows, or INFINITY if the result is
 * undefined. x and y are the arguments, r is the true result. */
static real up_to_4096(real x, real y, real r) {
  (void)x, (void)y;
  return 4096 * ulp(r);
}
static real up_to_8192(real x, real y, real r) {
  (void)x, (void)y;
  return 8192 * ulp(r);
}
static real divide(real x, real y, real r) {
  bool defined = (x == 0 || (fabsl(x) >= 0x1p-62L && fabsl(x) <= 0x1p62L)) &&
                 fabsl(y) >= 0x1p-62L && fabsl(y) <= 0x1p62L;
  return defined ? 2.5L * ulp(r) : INFINITY;
}
static real open_interval(real x, real y, real r) {
  (void)y;
  return fabsl(x) < 1 ? 8192 * ulp(r) : INFINITY;
}
static real hyperbolic(real x, real y, real r) {
  (void)y;
  return fabsl(x) <= 88 ? 8192 * ulp(r) : INFINITY;
}
static real sine(real x, real y, real r) {
  (void)y, (void)r;
  return fabsl(x) <= PI ? 0x1p-11L : INFINITY;
}
static real sine_pi(real x, real y, real r) {
  (void)y, (void)r;
  return fabsl(x) <= 1 ? 0x1p-11L : INFINITY;
}
static real tangent_pi(real x, real y, real r) {
  (void)y;
  return fabsl(x) <= 1 ? 8192 * ulp(r) : INFINITY;
}
/* Error of sin(x) * (1 / cos(x)), derived from the errors of both. */
static real tangent(real x, real y, real r) {
  const real error = 0x1p-11L, s = fabsl(sinl(x)), c = fabsl(cosl(x));
  (void)y;
  if (fabsl(x) > PI || c <= error)
    return INFINITY;
  return fmaxl(8192 * ulp(r), (s + error) / (c - error) - fabsl(r));
}
static real exponential(real x, real y, real r) {
  (void)y;
  return (3 + floorl(fabsl(2 * x))) * ulp(r);
}
static real logarithm(real x, real y, real r) {
  (void)y;
  return x >= 0.5L && x <= 2 ? 0x1p-21L : 3 * ulp(r);
}
/* Error of exp2(y * log2(|x|)), derived from the errors of exp2, the product, and log2. */
static real by_logarithm(real x, real y, real r) {
  real log = log2l(fabsl(x)), t = y * log;
  real error_of_t = fabsl(y) * logarithm(fabsl(x), 0, log) + 0.5L * ulp(t);
  real derived = fabsl(r) * expm1l(error_of_t * logl(2)) + exponential(t, 0, r);
  return fmaxl(8192 * ulp(r), derived);
}
static real power(real x, real y, real r) {
  if ((x == 0 && y == 0) || (x < 0 && (y != floorl(y) || fabsl(y) > 0x1p24L)))
    return INFINITY;
  return x == 0 ? ulp(0) : by_logarithm(x, y, r);
}
static real integer_power(real x, real y, real r) {
  if (x == 0)
    return y == 0 ? INFINITY : ulp(0);
  return by_logarithm(x, y, r);
}
static real positive_power(real x, real y, real r) {
  return x < 0 ? INFINITY : power(x, y, r);
}
static real root(real x, real n, real r) {
  return x == 0 ? ulp(0) : by_logarithm(x, 1 / n, r);
}
/* smoothstep may use a division. */
static real smooth_step(real x, real y, real r) {
  (void)r;
  return fabsl(y - x) >= 0x1p-62L && fabsl(y - x) <= 0x1p62L ? 1e-5L : INFINITY;
}

static const struct relaxed rows[] = {
    {"operator_divide", divide, "2.5 ulp, x and y in [2⁻⁶², 2⁶²]"},
    {"acos", up_to_4096, "4096 ulp"},
    {"acosh", up_to_8192, "8192 ulp"},
    {"acospi", up_to_8192, "8192 ulp"},
    {"asin", up_to_4096, "4096 ulp"},
    {"asinh", up_to_8192, "8192 ulp"},
    {"asinpi", up_to_8192, "8192 ulp"},
    {"atan", up_to_4096, "4096 ulp"},
    {"atanh", open_interval, "8192 ulp in (-1, 1)"},
    {"atanpi", up_to_8192, "8192 ulp"},
    {"atan2", up_to_8192, "8192 ulp"},
    {"atan2pi", up_to_8192, "8192 ulp"},
    {"cbrt", up_to_8192, "8192 ulp"},
    {"cos", sine, "2⁻¹¹ in [-π, π]"},
    {"cosh", hyperbolic, "8192 ulp in [-88, 88]"},
    {"cospi", sine_pi, "2⁻¹¹ in [-1, 1]"},
    {"exp", exponential, "3 + ⌊2·abs(x)⌋ ulp"},
    {"exp2", exponential, "3 + ⌊2·abs(x)⌋ ulp"},
    {"exp10", up_to_8192, "8192 ulp"},
    {"expm1", up_to_8192, "8192 ulp"},
    {"log", logarithm, "2⁻²¹ in [½, 2], else 3 ulp"},
    {"log2", logarithm, "2⁻²¹ in [½, 2], else 3 ulp"},
    {"log10", logarithm, "2⁻²¹ in [½, 2], else 3 ulp"},
    {"log1p", up_to_8192, "8192 ulp"},
    {"pow", power, "exp2(y·log2(abs(x))) or 8192 ulp"},
    {"pown", integer_power, "exp2(y·log2(abs(x))) or 8192 ulp"},
    {"powr", positive_power, "exp2(y·log2(x)) or 8192 ulp"},
    {"rootn", root, "exp2(log2(abs(x)) / y) or 8192 ulp"},
    {"sin", sine, "2⁻¹¹ in [-π, π]"},
    {"sincos", sine, "2⁻¹¹ in [-π, π]"},
    {"sinh", hyperbolic, "8192 ulp in [-88, 88]"},
    {"sinpi", sine_pi, "2⁻¹¹ in [-1, 1]"},
    {"smoothstep", smooth_step, "10⁻⁵, distance of the edges in [2⁻⁶², 2⁶²]"},
    {"tan", tangent, "sin(x)·(1 / cos(x)) or 8192 ulp in [-π, π]"},
    {"tanh", up_to_8192, "8192 ulp"},
    {"tanpi", tangent_pi, "8192 ulp in [-1, 1]"},
};

const struct relaxed *relaxed_row(const struct builtin *b, enum type type) {
  for (size_t i = 0; settings.relaxed && type == FLOAT && i < sizeof rows / sizeof rows[0]; i++)
    if (strcmp(rows[i].name, b->name) == 0)
      return &rows[i];
  return NULL;
}

/* Returns the absolute error that the row allows, or INFINITY if the result is undefined. */
static real allowed_error(const struct relaxed *row, const struct run *run, const struct call *call,
                          real want) {
  const struct value *second = &call->in[1][call->element];
  const enum type type = letter_type(run->form->letters[2], run->type, run->width);
  return row->allowed(call->in[0][call->element].x, types[type].is_float ? second->x : second->n,
                      want);
}

/* Infinities and NaNs are excluded as arguments and results. */
bool relaxed_free(const struct run *run, const struct call *call, const struct answer *want) {
  const bool whole = (run->b->flags & VECTORS) != 0;
  for (unsigned k = 0; k < run->form->arguments; k++)
    if (types[letter_type(run->form->letters[1 + k], run->type, run->width)].is_float)
      for (unsigned e = 0; e < run->width; e++)
        if ((whole || e == call->element) && !isfinite(call->in[k][e].x))
          return true;
  const enum type type = letter_type(run->form->letters[0], run->type, run->width);
  if (!types[type].is_float)
    return false;
  const struct relaxed *row = relaxed_row(run->b, type);
  return !isfinite(value_of_real(type, want->value.x).x) ||
         (row && isinf(allowed_error(row, run, call, want->value.x)));
}

bool relaxed_flush(const struct run *run, struct call *call) {
  bool any = false;
  for (unsigned k = 0; run->type == FLOAT && k < run->form->arguments; k++)
    if (letter_type(run->form->letters[1 + k], run->type, run->width) == FLOAT)
      for (unsigned e = 0; e < run->width; e++) {
        struct value *value = &call->in[k][e];
        if (value->x != 0 && fabsl(value->x) < FLT_MIN) {
          *value = value_of_real(FLOAT, copysignl(0, value->x));
          any = true;
        }
      }
  return any;
}

double relaxed_error(const struct relaxed *row, const struct run *run, const struct call *call,
                     real got, real want) {
  const real allowed = allowed_error(row, run, call, want);
  if (isnan(got))
    return INFINITY;
  if (isinf(got))
    got = copysignl(ldexpl(1, FLT_MAX_EXP), got);
  if (fabsl(got) <= FLT_MIN && fabsl(want) - allowed < FLT_MIN)
    return 0;
  return (double)(fabsl(got - want) / allowed);
}
