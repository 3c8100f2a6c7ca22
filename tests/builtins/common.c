/* Common, geometric and relational functions (OpenCL C 3.0, 6.15.4 to 6.15.6). Where the
 * specification gives an absolute error or none, the answer contains the unit of the error.
 */
#include "tests/builtins/builtins.h"

#include <fenv.h>

#define DEGREE (180 / 3.14159265358979323846264338327950288L)

static bool is_float(const struct call *c) {
  return types[c->type].is_float;
}
static bool less(const struct call *c, struct value a, struct value b) {
  return is_float(c) ? a.x < b.x : a.n < b.n;
}
static real largest(enum type type) {
  return ldexpl(1 - ldexpl(1, -types[type].digits), types[type].most);
}

/* NaN is undefined for max, min and clamp of the common functions. A clamp whose
 * minimum is above its maximum is undefined for all types. */
#define IN(argument) c->in[argument][e]
REFERENCE(max, out->value = less(c, IN(0), IN(1)) ? IN(1) : IN(0); out->free = isnan(a) || isnan(b))
REFERENCE(min, out->value = less(c, IN(1), IN(0)) ? IN(1) : IN(0); out->free = isnan(a) || isnan(b))
REFERENCE(clamp, out->value = less(c, IN(0), IN(1))   ? IN(1)
                              : less(c, IN(2), IN(0)) ? IN(2)
                                                      : IN(0);
          out->free = isnan(a) || isnan(b) || isnan(d) || less(c, IN(2), IN(1)))
REFERENCE(degrees, out->value.x = a * DEGREE)
REFERENCE(radians, out->value.x = a / DEGREE)
REFERENCE(sign, out->value.x = isnan(a) ? 0 : a > 0 ? 1 : a < 0 ? -1 : a)
REFERENCE(step, out->value.x = b < a ? 0 : 1; out->free = isnan(a) || isnan(b))
/* The error grows with the operands of the addition. Intermediate overflow is allowed. */
REFERENCE(mix, out->value.x = a + (b - a) * d;
          real part = fmaxl(fmaxl(fabsl(a), fabsl(b)), fabsl((b - a) * d));
          out->free = !(part <= largest(c->type)) || !(fabsl(b - a) <= largest(c->type)) ||
                      !(fabsl(out->value.x) <= largest(c->type));
          out->unit = epsilon(c->type) * fmaxl(part, ldexpl(1, types[c->type].least - 1)))
REFERENCE(smoothstep, real t = (d - a) / (b - a); t = t < 0   ? 0
                                                      : t > 1 ? 1
                                                              : t;
          out->value.x = t * t * (3 - 2 * t);
          out->free = isnan(d) || !(a < b) || !(b - a <= largest(c->type)) ||
                      !(fabsl(d - a) <= largest(c->type)) ||
                      b - a < ldexpl(1, types[c->type].least - 1);
          out->unit = c->type == FLOAT ? 1e-5L : epsilon(c->type))

#define ROW(name, forms, kinds, half, in_float, in_double, unit)                                   \
  { #name, forms, kinds, ref_##name, {half, in_float, in_double }, {0 }, ANY_ZERO, 0, unit }
static const struct builtin common_rows[] = {
    ROW(max, "ggg ggs", ALL, 0, 0, 0, NULL),
    ROW(min, "ggg ggs", ALL, 0, 0, 0, NULL),
    ROW(clamp, "gggg ggss", ALL, 0, 0, 0, NULL),
    ROW(degrees, "gg", FLOATS, 2, 2, 2, NULL),
    ROW(radians, "gg", FLOATS, 2, 2, 2, NULL),
    {"sign", "gg", FLOATS, ref_sign, {0}, {0}, 0, 0, NULL},
    ROW(step, "ggg gsg", FLOATS, 0, 0, 0, NULL),
    ROW(mix, "gggg gggs", FLOATS, 3, 3, 3, "ε·max"),
    ROW(smoothstep, "gggg gssg", FLOATS, 8, 1, 8, "ε, float: 10⁻⁵"),
};
const struct builtin_list common_functions = {"Common functions", common_rows,
                                              sizeof common_rows / sizeof common_rows[0]};

/* Geometric functions work on whole vectors. */
static real greatest(const struct call *c, unsigned arguments) {
  real most = 0;
  for (unsigned k = 0; k < arguments; k++)
    for (unsigned n = 0; n < c->width; n++)
      most = fmaxl(most, fabsl(c->in[k][n].x));
  return most;
}
static bool has_nan(const struct call *c, unsigned arguments) {
  for (unsigned k = 0; k < arguments; k++)
    for (unsigned n = 0; n < c->width; n++)
      if (isnan(c->in[k][n].x))
        return true;
  return false;
}
/* Computes the unit for products, max * max * epsilon, and whether their sum may overflow. */
static void product_unit(const struct call *c, struct answer *out) {
  const struct type_info *t = &types[c->type];
  real most = greatest(c, 2);
  out->unit = fmaxl(most * most * epsilon(c->type), ldexpl(1, t->least - t->digits));
  out->free = has_nan(c, 2) || !(most * most * c->width <= largest(c->type));
}
static real norm(const struct call *c, real (*element)(const struct call *, unsigned)) {
  real most = 0, sum = 0;
  for (unsigned n = 0; n < c->width; n++)
    most = fmaxl(most, fabsl(element(c, n)));
  if (most == 0 || isinf(most))
    return most;
  for (unsigned n = 0; n < c->width; n++)
    sum += element(c, n) / most * (element(c, n) / most);
  return sqrtl(sum) * most;
}
static real component(const struct call *c, unsigned n) {
  return c->in[0][n].x;
}
/* The subtraction is done in the type: the bound covers its
 * rounding, and an overflow gives infinity. */
static real gap(const struct call *c, unsigned n) {
  return c->in[0][n].x - c->in[1][n].x;
}
static bool gap_overflows(const struct call *c) {
  for (unsigned n = 0; n < c->width; n++)
    if (isinf(narrow(c->type, gap(c, n), FE_TONEAREST)))
      return true;
  return false;
}

REFERENCE(dot,
          for (unsigned n = 0; n < c->width; n++) out->value.x += c->in[0][n].x * c->in[1][n].x;
          product_unit(c, out))
REFERENCE(cross, unsigned p = (e + 1) % 3; unsigned q = (e + 2) % 3; product_unit(c, out);
          out->value.x = e == 3 ? 0 : c->in[0][p].x * c->in[1][q].x - c->in[0][q].x * c->in[1][p].x)
REFERENCE(length, out->value.x = has_nan(c, 1) ? NAN : norm(c, component))
REFERENCE(distance, out->value.x = norm(c, gap);
          out->free = has_nan(c, 2) || isinf(greatest(c, 2)) || gap_overflows(c))
/* If elements are infinite, they count as 1 and the others as 0. */
REFERENCE(normalize, real most = greatest(c, 1); struct call limit = *c;
          for (unsigned n = 0; isinf(most) && n < c->width; n++) limit.in[0][n].x =
              copysignl(isinf(c->in[0][n].x) ? 1 : 0, c->in[0][n].x);
          real whole = norm(&limit, component);
          out->value.x = has_nan(c, 1) ? NAN
                         : whole == 0  ? a
                                       : limit.in[0][e].x / whole)

#define GEOMETRIC(name, forms, kinds, base, per_element, limit)                                    \
  { "" #name, forms, kinds, ref_##name, base, per_element, UP_TO_4 | VECTORS, limit, NULL }
#define THREE(...)                                                                                 \
  { __VA_ARGS__ }
/* Limits arguments so that the squares in fast_ functions stay in float's range. */
#define IN_SQUARES 0x1p60L
#define FAST(name, forms, base, per_element)                                                       \
  {                                                                                                \
    "fast_" #name, forms, 1 << FLOAT, ref_##name, {0, base, 0}, {0, per_element, 0},               \
        UP_TO_4 | VECTORS | ANY_ZERO, IN_SQUARES, NULL                                             \
  }
static const struct builtin geometric_rows[] = {
    {"dot",
     "sgg",
     FLOATS,
     ref_dot,
     {-1, -1, -1},
     {2, 2, 2},
     UP_TO_4 | VECTORS | ANY_ZERO,
     0,
     "ε·max²"},
    {"cross", "ggg", FLOATS, ref_cross, {3, 3, 3}, {0}, ONLY_3_4 | VECTORS | ANY_ZERO, 0, "ε·max²"},
    GEOMETRIC(length, "sg", FLOATS, THREE(0.25, 2.75, 5.5), THREE(0.5, 0.5, 1), 0),
    GEOMETRIC(distance, "sgg", FLOATS, THREE(0, 2.5, 5.5), THREE(2, 2, 2), 0),
    GEOMETRIC(normalize, "gg", FLOATS, THREE(1, 2, 4.5), THREE(1, 1, 1), 0),
    FAST(length, "sg", 8191.5, 1),
    FAST(distance, "sgg", 8191.5, 2),
    FAST(normalize, "gg", 8192, 1),
};
const struct builtin_list geometric_functions = {"Geometric functions", geometric_rows,
                                                 sizeof geometric_rows / sizeof geometric_rows[0]};

/* Truth values: 1 for scalars, -1 for elements of vectors. */
#define TEST(name, condition)                                                                      \
  REFERENCE(name, out->value.n = !(condition) ? 0 : c->width == 1 ? 1 : -1)
TEST(isequal, a == b)
TEST(isnotequal, a != b)
TEST(isgreater, a > b)
TEST(isgreaterequal, a >= b)
TEST(isless, a < b)
TEST(islessequal, a <= b)
TEST(islessgreater, a<b || a> b)
TEST(isordered, !isnan(a) && !isnan(b))
TEST(isunordered, isnan(a) || isnan(b))
TEST(isfinite, isfinite(a))
TEST(isinf, isinf(a))
TEST(isnan, isnan(a))
TEST(isnormal, isfinite(a) && fabsl(a) >= ldexpl(1, types[c->type].least - 1))
TEST(signbit, i >> (types[c->type].bits - 1) & 1)

static unsigned tops(const struct call *c) {
  unsigned count = 0;
  for (unsigned n = 0; n < c->width; n++)
    count += c->in[0][n].n < 0;
  return count;
}
REFERENCE(any, out->value.n = tops(c) > 0)
REFERENCE(all, out->value.n = tops(c) == c->width)
REFERENCE(bitselect, uint64_t bits = (uint64_t)((i & ~k) | (j & k));
          out->value = value_of_bits(c->type, bits))
/* select tests a scalar for non-zero, and the most significant bit of a vector element. */
REFERENCE(select, bool second = c->width == 1 ? k != 0 : k >> (types[c->type].bits - 1) & 1;
          out->value = IN(second))

#define RELATION(name, forms, kinds)                                                               \
  { #name, forms, kinds, ref_##name, {0 }, {0 }, 0, 0, NULL }
static const struct builtin relational_rows[] = {
    RELATION(isequal, "rgg", FLOATS),
    RELATION(isnotequal, "rgg", FLOATS),
    RELATION(isgreater, "rgg", FLOATS),
    RELATION(isgreaterequal, "rgg", FLOATS),
    RELATION(isless, "rgg", FLOATS),
    RELATION(islessequal, "rgg", FLOATS),
    RELATION(islessgreater, "rgg", FLOATS),
    RELATION(isordered, "rgg", FLOATS),
    RELATION(isunordered, "rgg", FLOATS),
    RELATION(isfinite, "rg", FLOATS),
    RELATION(isinf, "rg", FLOATS),
    RELATION(isnan, "rg", FLOATS),
    RELATION(isnormal, "rg", FLOATS),
    RELATION(signbit, "rg", FLOATS),
    {"any", "jg", SIGNEDS, ref_any, {0}, {0}, VECTORS, 0, NULL},
    {"all", "jg", SIGNEDS, ref_all, {0}, {0}, VECTORS, 0, NULL},
    RELATION(bitselect, "gggg", ALL),
    RELATION(select, "gggk gggu", ALL),
};
const struct builtin_list relational_functions = {
    "Relational functions", relational_rows, sizeof relational_rows / sizeof relational_rows[0]};
