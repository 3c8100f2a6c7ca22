/* Integer arithmetic: sums and carries, products, quotients, comparisons,
 * minimum and maximum.
 */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "tests/sass/forms.h"

typedef __int128 i128;
typedef unsigned __int128 u128;

/* Integer types of PTX. */
struct type {
  const char *name;
  unsigned bits;
  bool is_signed;
  char kind, nonzero;
};
static const struct type types[] = {{"u16", 16, false, 's', 't'}, {"s16", 16, true, 's', 't'},
                                    {"u32", 32, false, 'i', 'n'}, {"s32", 32, true, 'i', 'n'},
                                    {"u64", 64, false, 'l', 'm'}, {"s64", 64, true, 'l', 'm'}};
enum { TYPES = sizeof types / sizeof *types };
#define FOR_TYPES(t) for (const struct type *t = types; t < types + TYPES; t++)

static i128 value(uint64_t bits, const struct type *t) {
  if (!t->is_signed)
    return (i128)bits;
  const unsigned up = 64 - t->bits;
  return (int64_t)(bits << up) >> up;
}

/* p[0]: the type, p[1]: the operation */
#define TYPE(f) (&types[(f)->p[0]])
#define A       value(in[0], TYPE(f))
#define B       value(in[1], TYPE(f))
#define C       value(in[2], TYPE(f))
#define EXPECT(name, expression)                                                                   \
  static uint64_t name(const struct form *f, const uint64_t *in) {                                 \
    (void)f, (void)in;                                                                             \
    return (uint64_t)(expression);                                                                 \
  }

EXPECT(e_add, A + B)
EXPECT(e_sub, A - B)
EXPECT(e_mul, (u128)A *(u128)B)
EXPECT(e_neg, -A)
EXPECT(e_abs, A < 0 ? -A : A)
EXPECT(e_min, A < B ? A : B)
EXPECT(e_max, A > B ? A : B)
EXPECT(e_sad, (A > B ? A - B : B - A) + C)
EXPECT(e_div, A / B)
EXPECT(e_rem, A % B)
EXPECT(e_mad, (u128)A *(u128)B + (u128)C)
static uint64_t high_of(const struct form *f, const uint64_t *in) {
  const i128 a = A, b = B;
  const unsigned bits = TYPE(f)->bits;
  return (uint64_t)(TYPE(f)->is_signed ? (a * b) >> bits : (i128)((u128)a * (u128)b >> bits));
}
EXPECT(e_mul_hi, high_of(f, in))
EXPECT(e_mad_hi, high_of(f, in) + in[2])
/* c has twice the width */
EXPECT(e_mad_wide, (u128)A *(u128)B + in[2])

static i128 clamp32(i128 v) {
  return v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : v;
}
EXPECT(e_add_sat, clamp32(A + B))
EXPECT(e_sub_sat, clamp32(A - B))
EXPECT(e_mad_hi_sat, clamp32((A * B >> 32) + C))

/* mul24: 48-bit products of the low 24 bits; p[1]: the type, p[2]: high */
static i128 low24(uint64_t v, bool is_signed) {
  return is_signed ? (int32_t)(uint32_t)(v << 8) >> 8 : (i128)(v & 0xffffff);
}
static i128 mul24(const struct form *f, const uint64_t *in) {
  const bool s = TYPE(f)->is_signed;
  return low24(in[0], s) * low24(in[1], s) >> (f->p[2] ? 16 : 0);
}
EXPECT(e_mul24, mul24(f, in))
EXPECT(e_mad24, mul24(f, in) + in[2])
EXPECT(e_mad24_sat, clamp32((int32_t)mul24(f, in) + C))

/* Carries. */
EXPECT(e_add_carry, ((u128)in[0] + in[1]) >> TYPE(f)->bits)
EXPECT(e_sub_borrow, in[2] - (in[0] < in[1])) /* c - 0 - borrow */
EXPECT(e_addc2, in[2] + in[0] + (((u128)in[0] + in[1]) >> TYPE(f)->bits))
/* the carry of a + b goes into b + c, whose carry is the result */
EXPECT(e_addc_out,
       ((u128)in[1] + in[2] + (uint64_t)(((u128)in[0] + in[1]) >> TYPE(f)->bits)) >> TYPE(f)->bits)
static uint64_t e_subc_out(const struct form *f, const uint64_t *in) {
  const unsigned bits = TYPE(f)->bits;
  const u128 borrow = in[0] < in[1];
  const u128 d = (u128)in[1] - in[2] - borrow;
  (void)bits;
  return (uint64_t)0 - (uint64_t)(d >> 127);
}
/* mad.lo.cc: the carry of the sum with the low product */
static u128 low_product(const struct form *f, const uint64_t *in) {
  const u128 m = ((u128)1 << TYPE(f)->bits) - 1;
  return ((u128)in[0] * in[1]) & m;
}
EXPECT(e_mad_lo_carry, (low_product(f, in) + in[2]) >> TYPE(f)->bits)
EXPECT(e_madc_hi,
       high_of(f, in) + in[2] + (uint64_t)((low_product(f, in) + in[2]) >> TYPE(f)->bits))
static uint64_t e_madc_hi_carry(const struct form *f, const uint64_t *in) {
  const unsigned bits = TYPE(f)->bits;
  const u128 m = ((u128)1 << bits) - 1, carry = (low_product(f, in) + in[2]) >> bits;
  return (uint64_t)(((high_of(f, in) & m) + in[2] + carry) >> bits);
}

/* A 128-bit product computed in parts of 32 bits, and its part p[1]. */
static uint64_t e_wide(const struct form *f, const uint64_t *in) {
  return (uint64_t)((u128)in[0] * in[1] >> (f->p[1] ? 64 : 0));
}

/* Comparisons: bit 0 less, 1 equal, 2 greater. */
static const struct {
  const char *name;
  int relation;
  bool unsigned_only, signless;
} compares[] = {{"eq", 2, false, true},  {"ne", 5, false, true},  {"lt", 1, false, false},
                {"le", 3, false, false}, {"gt", 4, false, false}, {"ge", 6, false, false},
                {"lo", 1, true, false},  {"ls", 3, true, false},  {"hi", 4, true, false},
                {"hs", 6, true, false}};
static bool related(const struct form *f, const uint64_t *in) {
  const i128 a = A, b = B;
  return f->p[1] >> (a < b ? 0 : a == b ? 1 : 2) & 1;
}
EXPECT(e_setp, related(f, in))
EXPECT(e_setp_and, (related(f, in) & in[2]) | (in[2] & !related(f, in)) << 1)
EXPECT(e_setp_or, (related(f, in) | in[2]) | (in[2] | !related(f, in)) << 1)
EXPECT(e_setp_xor, (related(f, in) ^ in[2]) | (in[2] ^ !related(f, in)) << 1)
EXPECT(e_set, related(f, in) ? 0xffffffffu : 0)
EXPECT(e_set_float, related(f, in) ? 0x3f800000u : 0)
EXPECT(e_set_and, related(f, in) && in[2] ? 0xffffffffu : 0)
EXPECT(e_selp, in[2] ? in[0] : in[1])
EXPECT(e_slct, (int32_t)in[2] >= 0 ? in[0] : in[1])
static uint64_t e_slct_float(const struct form *f, const uint64_t *in) {
  float c;
  memcpy(&c, in + 2, sizeof c);
  return c >= 0 ? in[0] : in[1];
}

static struct form *typed(const struct type *t, struct form *f,
                          uint64_t (*expect)(const struct form *, const uint64_t *)) {
  f->p[0] = (int)(t - types);
  f->expect = expect;
  return f;
}

static void compare_forms(const struct type *t) {
  const char k = t->kind;
  const char two[] = {k, k, 0}, pred[] = {k, k, 'p', 0};
  for (unsigned c = 0; c < sizeof compares / sizeof *compares; c++) {
    if (compares[c].unsigned_only && t->is_signed)
      continue;
    struct form *f =
        form_add(two, 'i', ".reg .pred p; setp.%s.%s p, %%1, %%2; selp.u32 %%0, 1, 0, p;",
                 compares[c].name, t->name);
    typed(t, f, e_setp)->p[1] = compares[c].relation;
    if (compares[c].signless) {
      f = form_add(two, 'i', ".reg .pred p; setp.%s.b%u p, %%1, %%2; selp.u32 %%0, 1, 0, p;",
                   compares[c].name, t->bits);
      typed(t, f, e_setp)->p[1] = compares[c].relation;
    }
    static const struct {
      const char *name;
      uint64_t (*expect)(const struct form *, const uint64_t *);
    } bops[] = {{"and", e_setp_and}, {"or", e_setp_or}, {"xor", e_setp_xor}};
    for (unsigned b = 0; b < 3; b++) {
      f = form_add(pred, 'i',
                   ".reg .pred p, q, c; .reg .b32 t, u; setp.ne.u32 c, %%3, 0; setp.%s.%s.%s p|q, "
                   "%%1, %%2, c; selp.u32 t, 1, 0, p; selp.u32 u, 2, 0, q; or.b32 %%0, t, u;",
                   compares[c].name, bops[b].name, t->name);
      typed(t, f, bops[b].expect)->p[1] = compares[c].relation;
    }
    f = form_add(two, 'i', "set.%s.u32.%s %%0, %%1, %%2;", compares[c].name, t->name);
    typed(t, f, e_set)->p[1] = compares[c].relation;
    f = form_add(two, 'i', "set.%s.f32.%s %%0, %%1, %%2;", compares[c].name, t->name);
    typed(t, f, e_set_float)->p[1] = compares[c].relation;
    f = form_add(pred, 'i',
                 ".reg .pred c; setp.ne.u32 c, %%3, 0; set.%s.and.s32.%s %%0, %%1, %%2, c;",
                 compares[c].name, t->name);
    typed(t, f, e_set_and)->p[1] = compares[c].relation;
  }
}

void forms_integer(void) {
  FOR_TYPES(t) {
    const char k = t->kind;
    const char one[] = {k, 0}, two[] = {k, k, 0}, three[] = {k, k, k, 0},
               div[] = {k, t->nonzero, 0};
    const char *n = t->name;
    typed(t, form_add(two, k, "add.%s %%0, %%1, %%2;", n), e_add);
    typed(t, form_add(two, k, "sub.%s %%0, %%1, %%2;", n), e_sub);
    typed(t, form_add(two, k, "mul.lo.%s %%0, %%1, %%2;", n), e_mul);
    typed(t, form_add(two, k, "mul.hi.%s %%0, %%1, %%2;", n), e_mul_hi);
    typed(t, form_add(three, k, "mad.lo.%s %%0, %%1, %%2, %%3;", n), e_mad);
    typed(t, form_add(three, k, "mad.hi.%s %%0, %%1, %%2, %%3;", n), e_mad_hi);
    typed(t, form_add(div, k, "div.%s %%0, %%1, %%2;", n), e_div);
    typed(t, form_add(div, k, "rem.%s %%0, %%1, %%2;", n), e_rem);
    typed(t, form_add(two, k, "min.%s %%0, %%1, %%2;", n), e_min);
    typed(t, form_add(two, k, "max.%s %%0, %%1, %%2;", n), e_max);
    typed(t, form_add(three, k, "sad.%s %%0, %%1, %%2, %%3;", n), e_sad);
    if (t->is_signed) {
      typed(t, form_add(one, k, "neg.%s %%0, %%1;", n), e_neg);
      typed(t, form_add(one, k, "abs.%s %%0, %%1;", n), e_abs);
    }
    if (t->bits < 64) {
      const char wide = t->bits == 16 ? 'i' : 'l';
      const char wide3[] = {k, k, wide, 0};
      typed(t, form_add(two, wide, "mul.wide.%s %%0, %%1, %%2;", n), e_mul);
      typed(t, form_add(wide3, wide, "mad.wide.%s %%0, %%1, %%2, %%3;", n), e_mad_wide);
    }
    if (t->bits == 32)
      for (int high = 0; high < 2; high++) {
        const char *part = high ? "hi" : "lo";
        typed(t, form_add(two, k, "mul24.%s.%s %%0, %%1, %%2;", part, n), e_mul24)->p[2] = high;
        typed(t, form_add(three, k, "mad24.%s.%s %%0, %%1, %%2, %%3;", part, n), e_mad24)->p[2] =
            high;
      }
    if (t->bits >= 32) {
      typed(t, form_add(two, k, ".reg .%s t; add.cc.%s t, %%1, %%2; addc.%s %%0, 0, 0;", n, n, n),
            e_add_carry);
      typed(
          t,
          form_add(three, k, ".reg .%s t; add.cc.%s t, %%1, %%2; addc.%s %%0, %%3, %%1;", n, n, n),
          e_addc2);
      typed(
          t,
          form_add(three, k,
                   ".reg .%s t; add.cc.%s t, %%1, %%2; addc.cc.%s t, %%2, %%3; addc.%s %%0, 0, 0;",
                   n, n, n, n),
          e_addc_out);
      typed(t,
            form_add(three, k, ".reg .%s t; sub.cc.%s t, %%1, %%2; subc.%s %%0, %%3, 0;", n, n, n),
            e_sub_borrow);
      typed(
          t,
          form_add(three, k,
                   ".reg .%s t; sub.cc.%s t, %%1, %%2; subc.cc.%s t, %%2, %%3; subc.%s %%0, 0, 0;",
                   n, n, n, n),
          e_subc_out);
      typed(t,
            form_add(three, k, ".reg .%s t; mad.lo.cc.%s t, %%1, %%2, %%3; addc.%s %%0, 0, 0;", n,
                     n, n),
            e_mad_lo_carry);
      typed(t,
            form_add(three, k,
                     ".reg .%s t; mad.lo.cc.%s t, %%1, %%2, %%3; madc.hi.%s %%0, %%1, %%2, %%3;", n,
                     n, n),
            e_madc_hi);
      typed(t,
            form_add(three, k,
                     ".reg .%s t; mad.lo.cc.%s t, %%1, %%2, %%3; madc.hi.cc.%s t, %%1, %%2, %%3; "
                     "addc.%s %%0, 0, 0;",
                     n, n, n, n),
            e_madc_hi_carry);
    }
    compare_forms(t);
  }
  const struct type *s32 = &types[3], *u64 = &types[4];
  typed(s32, form_add("ii", 'i', "add.sat.s32 %%0, %%1, %%2;"), e_add_sat);
  typed(s32, form_add("ii", 'i', "sub.sat.s32 %%0, %%1, %%2;"), e_sub_sat);
  typed(s32, form_add("iii", 'i', "mad.hi.sat.s32 %%0, %%1, %%2, %%3;"), e_mad_hi_sat);
  typed(s32, form_add("iii", 'i', "mad24.hi.sat.s32 %%0, %%1, %%2, %%3;"), e_mad24_sat)->p[2] = 1;
  for (int high = 0; high < 2; high++)
    typed(u64,
          form_add("ll", 'l',
                   ".reg .u32 a, b, c, d, x, y, z, w; mov.b64 {a, b}, %%1; mov.b64 {c, d}, %%2; "
                   "mul.lo.u32 x, a, c; mul.hi.u32 y, a, c; mad.lo.cc.u32 y, a, d, y; "
                   "madc.hi.u32 z, a, d, 0; mad.lo.cc.u32 y, b, c, y; madc.hi.cc.u32 z, b, c, z; "
                   "addc.u32 w, 0, 0; mad.lo.cc.u32 z, b, d, z; madc.hi.u32 w, b, d, w; "
                   "mov.b64 %%0, {%s};",
                   high ? "z, w" : "x, y"),
          e_wide)
        ->p[1] = high;
  static const char *const sel[] = {"b16", "u16", "s16", "b32", "u32", "s32",
                                    "b64", "u64", "s64", "f32", "f64"};
  for (unsigned k = 0; k < sizeof sel / sizeof *sel; k++) {
    const char kind = strstr(sel[k], "16") ? 's' : strstr(sel[k], "32") ? 'i' : 'l';
    const char pred[] = {kind, kind, 'p', 0}, slct[] = {kind, kind, 'i', 0},
               slctf[] = {kind, kind, 'f', 0};
    form_add(pred, kind, ".reg .pred c; setp.ne.u32 c, %%3, 0; selp.%s %%0, %%1, %%2, c;", sel[k])
        ->expect = e_selp;
    form_add(slct, kind, "slct.%s.s32 %%0, %%1, %%2, %%3;", sel[k])->expect = e_slct;
    form_add(slctf, kind, "slct.%s.f32 %%0, %%1, %%2, %%3;", sel[k])->expect = e_slct_float;
  }
}
