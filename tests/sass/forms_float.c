/* Single and double precision: arithmetic in all roundings, with flushing and
 * saturation; minimum and maximum, comparisons, selections, signs.
 */
#include <fenv.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "tests/sass/exact.h"
#include "tests/sass/forms.h"

static const struct {
  const char *name;
  int mode;
} rounds[] = {{"rn", FE_TONEAREST}, {"rz", FE_TOWARDZERO}, {"rm", FE_DOWNWARD}, {"rp", FE_UPWARD}};
enum { ROUNDS = 4 };

/* p[0]: 1 for f64, p[1]: rounding, p[2]: .ftz, p[3]: .sat, p[4]: the operation */
#define FORMAT(f) ((f)->p[0] ? &FORMAT_F64 : &FORMAT_F32)

static uint64_t in_flush(const struct form *f, uint64_t v) {
  return f->p[2] ? exact_flush(v, FORMAT(f)) : v;
}

static uint64_t out(const struct form *f, uint64_t v) {
  if (f->p[2])
    v = exact_flush(v, FORMAT(f));
  return f->p[3] ? exact_saturate(v, FORMAT(f)) : v;
}

static uint64_t negate(const struct form *f, uint64_t v) {
  return v ^ 1ull << (f->p[0] ? 63 : 31);
}

#define EXPECT(name, expression)                                                                   \
  static uint64_t name(const struct form *f, const uint64_t *in) {                                 \
    const uint64_t a = in_flush(f, in[0]), b = in_flush(f, in[1]), c = in_flush(f, in[2]);         \
    (void)a, (void)b, (void)c;                                                                     \
    return expression;                                                                             \
  }

EXPECT(e_add, out(f, exact_sum(a, b, FORMAT(f), f->p[1])))
EXPECT(e_sub, out(f, exact_sum(a, negate(f, b), FORMAT(f), f->p[1])))
EXPECT(e_mul, out(f, exact_round(exact_mul(exact_of(a, FORMAT(f)), exact_of(b, FORMAT(f))),
                                 FORMAT(f), f->p[1])))
EXPECT(e_div, out(f, exact_round(exact_div(exact_of(a, FORMAT(f)), exact_of(b, FORMAT(f))),
                                 FORMAT(f), f->p[1])))
EXPECT(e_fma, out(f, exact_fma(a, b, c, FORMAT(f), FORMAT(f), f->p[1])))
EXPECT(e_fms, out(f, exact_fma(a, b, negate(f, c), FORMAT(f), FORMAT(f), f->p[1])))
EXPECT(e_fnma, out(f, exact_fma(negate(f, a), b, c, FORMAT(f), FORMAT(f), f->p[1])))
EXPECT(e_rcp, out(f, exact_round(exact_div((struct exact){1, false}, exact_of(a, FORMAT(f))),
                                 FORMAT(f), f->p[1])))

/* A quotient slightly below the smallest normal number may be flushed if rounding it as a subnormal
 * would give that number. */
static bool a_div_ftz(const struct form *f, const uint64_t *in, uint64_t got) {
  const uint64_t want = e_div(f, in), least = 1ull << FORMAT_F32.mantissa, sign = 1ull << 31;
  if (got == want)
    return true;
  struct exact q = exact_div(exact_of(in_flush(f, in[0]), &FORMAT_F32),
                             exact_of(in_flush(f, in[1]), &FORMAT_F32));
  return (want & ~sign) == least && got == (want & sign) && q.v < 0x1p-126 && q.v > -0x1p-126;
}

/* The host's square root, which IEEE 754 defines exactly. */
static uint64_t e_sqrt(const struct form *f, const uint64_t *in) {
  const uint64_t a = in_flush(f, in[0]);
  uint64_t r = 0;
  fesetround(f->p[1]);
  if (f->p[0]) {
    double x;
    memcpy(&x, &a, sizeof x);
    const volatile double y = x;
    const volatile double root = sqrt(y);
    x = root;
    memcpy(&r, &x, sizeof x);
  } else {
    float x;
    memcpy(&x, &a, sizeof x);
    const volatile float y = x;
    const volatile float root = sqrtf(y);
    x = root;
    memcpy(&r, &x, sizeof x);
  }
  fesetround(FE_TONEAREST);
  return exact_is_nan(r, FORMAT(f)) ? 0x7fffffff : out(f, r);
}
static uint64_t e_dsqrt(const struct form *f, const uint64_t *in) {
  const uint64_t r = e_sqrt(f, in);
  return r == 0x7fffffff ? 0x7fffffffffffffff : r;
}

/* Minimum and maximum. p[4]: bit 0 max, bit 1 .NaN, bit 2 .xorsign.abs */
static uint64_t e_minmax(const struct form *f, const uint64_t *in) {
  const uint64_t sign = 1ull << (f->p[0] ? 63 : 31);
  uint64_t a = in_flush(f, in[0]), b = in_flush(f, in[1]), r;
  const uint64_t signs = (a ^ b) & sign;
  if (f->p[4] & 4)
    a &= ~sign, b &= ~sign;
  const bool na = exact_is_nan(a, FORMAT(f)), nb = exact_is_nan(b, FORMAT(f));
  const uint64_t nan = f->p[0] ? 0x7fffffffffffffff : 0x7fffffff;
  if ((na && nb) || ((f->p[4] & 2) && (na || nb)))
    return nan;
  if (na || nb) {
    r = na ? b : a;
  } else {
    const quad x = exact_of(a, FORMAT(f)).v, y = exact_of(b, FORMAT(f)).v;
    const bool a_lower = x < y || (x == y && (a & sign) != 0);
    r = a_lower == !(f->p[4] & 1) ? a : b;
  }
  return f->p[4] & 4 ? (r & ~sign) | signs : r;
}

/* Comparisons: bit 0 less, 1 equal, 2 greater, 3 unordered */
static const struct {
  const char *name;
  int relation;
} compares[] = {{"eq", 2},   {"ne", 5},   {"lt", 1},   {"le", 3},  {"gt", 4},
                {"ge", 6},   {"equ", 10}, {"neu", 13}, {"ltu", 9}, {"leu", 11},
                {"gtu", 12}, {"geu", 14}, {"num", 7},  {"nan", 8}};
static bool related(const struct form *f, const uint64_t *in) {
  const uint64_t a = in_flush(f, in[0]), b = in_flush(f, in[1]);
  if (exact_is_nan(a, FORMAT(f)) || exact_is_nan(b, FORMAT(f)))
    return f->p[4] >> 3 & 1;
  const quad x = exact_of(a, FORMAT(f)).v, y = exact_of(b, FORMAT(f)).v;
  return f->p[4] >> (x < y ? 0 : x == y ? 1 : 2) & 1;
}
static uint64_t e_setp(const struct form *f, const uint64_t *in) {
  return related(f, in);
}
static uint64_t e_setp_and(const struct form *f, const uint64_t *in) {
  return (related(f, in) && in[2] ? 1 : 0) | (!related(f, in) && in[2] ? 2 : 0);
}
static uint64_t e_set(const struct form *f, const uint64_t *in) {
  return related(f, in) ? 0xffffffff : 0;
}
static uint64_t e_set_float(const struct form *f, const uint64_t *in) {
  return related(f, in) ? 0x3f800000 : 0;
}

/* PTX does not specify whether abs and neg of f32 make NaNs canonical. */
static bool sign_only(const struct form *f, const uint64_t *in, uint64_t got, uint64_t want) {
  const uint64_t sign = 1ull << (f->p[0] ? 63 : 31);
  if (exact_is_nan(in[0], FORMAT(f)))
    return exact_is_nan(got & ~sign, FORMAT(f));
  return got == want;
}
static bool a_abs(const struct form *f, const uint64_t *in, uint64_t got) {
  return sign_only(f, in, got, in_flush(f, in[0]) & ~(1ull << (f->p[0] ? 63 : 31)));
}
static bool a_neg(const struct form *f, const uint64_t *in, uint64_t got) {
  return sign_only(f, in, got, negate(f, in_flush(f, in[0])));
}
static uint64_t e_copysign(const struct form *f, const uint64_t *in) {
  const uint64_t sign = 1ull << (f->p[0] ? 63 : 31);
  return (in[1] & ~sign) | (in[0] & sign);
}
static uint64_t e_testp(const struct form *f, const uint64_t *in) {
  const uint64_t a = in[0];
  const bool nan = exact_is_nan(a, FORMAT(f));
  const uint64_t sign = 1ull << (f->p[0] ? 63 : 31), m = a & ~sign;
  const bool infinite = !nan && exact_of(m, FORMAT(f)).v * 0 != 0;
  const bool small = m < 1ull << FORMAT(f)->mantissa;
  switch (f->p[4]) {
  case 0:
    return !nan && !infinite;
  case 1:
    return infinite;
  case 2:
    return !nan;
  case 3:
    return nan;
  case 4: /* normal, or zero */
    return !nan && !infinite && (!small || !m);
  default:
    return small && m;
  }
}

static struct form *set(struct form *f, uint64_t (*expect)(const struct form *, const uint64_t *),
                        int is_double, int mode, int ftz, int sat, int what) {
  const int p[5] = {is_double, mode, ftz, sat, what};
  memcpy(f->p, p, sizeof p);
  f->expect = expect;
  return f;
}

static void single(void) {
  static const char *const flags[] = {"", ".ftz", ".sat", ".ftz.sat"};
  for (int r = 0; r < ROUNDS; r++)
    for (int k = 0; k < 4; k++) {
      const char *n = rounds[r].name, *s = flags[k];
      const int m = rounds[r].mode, ftz = k & 1, sat = k >> 1;
      set(form_add("ff", 'f', "add.%s%s.f32 %%0, %%1, %%2;", n, s), e_add, 0, m, ftz, sat, 0);
      set(form_add("ff", 'f', "sub.%s%s.f32 %%0, %%1, %%2;", n, s), e_sub, 0, m, ftz, sat, 0);
      set(form_add("ff", 'f', "mul.%s%s.f32 %%0, %%1, %%2;", n, s), e_mul, 0, m, ftz, sat, 0);
      set(form_add("fff", 'f', "fma.%s%s.f32 %%0, %%1, %%2, %%3;", n, s), e_fma, 0, m, ftz, sat, 0);
      set(form_add("fff", 'f', ".reg .f32 t; neg.f32 t, %%3; fma.%s%s.f32 %%0, %%1, %%2, t;", n, s),
          e_fms, 0, m, ftz, sat, 0);
      set(form_add("fff", 'f', ".reg .f32 t; neg.f32 t, %%1; fma.%s%s.f32 %%0, t, %%2, %%3;", n, s),
          e_fnma, 0, m, ftz, sat, 0);
      if (sat)
        continue;
      struct form *div = form_add("ff", 'f', "div.%s%s.f32 %%0, %%1, %%2;", n, s);
      set(div, ftz ? NULL : e_div, 0, m, ftz, 0, 0)->accept = ftz ? a_div_ftz : NULL;
      set(form_add("f", 'f', "rcp.%s%s.f32 %%0, %%1;", n, s), e_rcp, 0, m, ftz, 0, 0);
      set(form_add("f", 'f', "sqrt.%s%s.f32 %%0, %%1;", n, s), e_sqrt, 0, m, ftz, 0, 0);
    }
}

static void both(int is_double) {
  const char k = is_double ? 'd' : 'f';
  const char one[] = {k, 0}, two[] = {k, k, 0}, pred[] = {k, k, 'p', 0};
  const char *type = is_double ? "f64" : "f32";
  for (int ftz = 0; ftz < (is_double ? 1 : 2); ftz++) {
    const char *s = ftz ? ".ftz" : "";
    for (int what = 0; what < (is_double ? 2 : 8); what++)
      set(form_add(two, k, "%s%s%s%s.%s %%0, %%1, %%2;", what & 1 ? "max" : "min", s,
                   what & 2 ? ".NaN" : "", what & 4 ? ".xorsign.abs" : "", type),
          e_minmax, is_double, FE_TONEAREST, ftz, 0, what);
    for (unsigned c = 0; c < sizeof compares / sizeof *compares; c++) {
      const char *n = compares[c].name;
      const int relation = compares[c].relation;
      set(form_add(two, 'i', ".reg .pred p; setp.%s%s.%s p, %%1, %%2; selp.u32 %%0, 1, 0, p;", n, s,
                   type),
          e_setp, is_double, 0, ftz, 0, relation);
      set(form_add(pred, 'i',
                   ".reg .pred p, q, c; .reg .b32 t, u; setp.ne.u32 c, %%3, 0; setp.%s.and%s.%s "
                   "p|q, %%1, %%2, c; selp.u32 t, 1, 0, p; selp.u32 u, 2, 0, q; or.b32 %%0, t, u;",
                   n, s, type),
          e_setp_and, is_double, 0, ftz, 0, relation);
      set(form_add(two, 'i', "set.%s%s.u32.%s %%0, %%1, %%2;", n, s, type), e_set, is_double, 0,
          ftz, 0, relation);
      set(form_add(two, 'i', "set.%s%s.f32.%s %%0, %%1, %%2;", n, s, type), e_set_float, is_double,
          0, ftz, 0, relation);
    }
    set(form_add(one, k, "abs%s.%s %%0, %%1;", s, type), NULL, is_double, 0, ftz, 0, 0)->accept =
        a_abs;
    set(form_add(one, k, "neg%s.%s %%0, %%1;", s, type), NULL, is_double, 0, ftz, 0, 0)->accept =
        a_neg;
  }
  set(form_add(two, k, "copysign.%s %%0, %%1, %%2;", type), e_copysign, is_double, 0, 0, 0, 0);
  static const char *const classes[] = {"finite",     "infinite", "number",
                                        "notanumber", "normal",   "subnormal"};
  for (int c = 0; c < 6; c++)
    set(form_add(one, 'i', ".reg .pred p; testp.%s.%s p, %%1; selp.u32 %%0, 1, 0, p;", classes[c],
                 type),
        e_testp, is_double, 0, 0, 0, c);
}

void forms_float(void) {
  single();
  both(0);
  both(1);
  for (int r = 0; r < ROUNDS; r++) {
    const char *n = rounds[r].name;
    const int m = rounds[r].mode;
    set(form_add("dd", 'd', "add.%s.f64 %%0, %%1, %%2;", n), e_add, 1, m, 0, 0, 0);
    set(form_add("dd", 'd', "sub.%s.f64 %%0, %%1, %%2;", n), e_sub, 1, m, 0, 0, 0);
    set(form_add("dd", 'd', "mul.%s.f64 %%0, %%1, %%2;", n), e_mul, 1, m, 0, 0, 0);
    set(form_add("dd", 'd', "div.%s.f64 %%0, %%1, %%2;", n), e_div, 1, m, 0, 0, 0);
    set(form_add("ddd", 'd', "fma.%s.f64 %%0, %%1, %%2, %%3;", n), e_fma, 1, m, 0, 0, 0);
    set(form_add("ddd", 'd', ".reg .f64 t; neg.f64 t, %%3; fma.%s.f64 %%0, %%1, %%2, t;", n), e_fms,
        1, m, 0, 0, 0);
    set(form_add("d", 'd', "rcp.%s.f64 %%0, %%1;", n), e_rcp, 1, m, 0, 0, 0);
    set(form_add("d", 'd', "sqrt.%s.f64 %%0, %%1;", n), e_dsqrt, 1, m, 0, 0, 0);
  }
}
