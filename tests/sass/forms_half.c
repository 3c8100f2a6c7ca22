/* Half precision and bfloat16, one and two at a time: arithmetic, minimum and
 * maximum, comparisons.
 */
#include <fenv.h>
#include <stddef.h>
#include <string.h>

#include "tests/sass/exact.h"
#include "tests/sass/forms.h"

/* p[0]: 1 for bf16, p[1]: halves in a word, p[2]: .ftz, p[3]: 1 .sat, 2 .relu, p[4]: the
 * operation */
#define FORMAT(f) ((f)->p[0] ? &FORMAT_BF16 : &FORMAT_F16)
enum { NAN16 = 0x7fff, SIGN16 = 0x8000 };

static uint64_t flush(const struct form *f, uint64_t v) {
  return f->p[2] ? exact_flush(v, FORMAT(f)) : v;
}

static uint64_t out(const struct form *f, uint64_t v) {
  v = flush(f, v);
  if (f->p[3] == 1)
    return exact_saturate(v, FORMAT(f));
  return f->p[3] == 2 && v & SIGN16 ? 0 : v;
}

/* Applies a function of single halves to each half. */
static uint64_t halves(const struct form *f, const uint64_t *in,
                       uint64_t (*one)(const struct form *, uint64_t, uint64_t, uint64_t)) {
  uint64_t r = 0;
  for (int k = 0; k < f->p[1]; k++)
    r |= one(f, in[0] >> (16 * k) & 0xffff, in[1] >> (16 * k) & 0xffff, in[2] >> (16 * k) & 0xffff)
         << (16 * k);
  return r;
}

#define EXPECT(name, expression)                                                                   \
  static uint64_t one_##name(const struct form *f, uint64_t a, uint64_t b, uint64_t c) {           \
    a = flush(f, a), b = flush(f, b), c = flush(f, c);                                             \
    return expression;                                                                             \
  }                                                                                                \
  static uint64_t name(const struct form *f, const uint64_t *in) {                                 \
    return halves(f, in, one_##name);                                                              \
  }

EXPECT(e_add, out(f, exact_sum(a, b, FORMAT(f), FE_TONEAREST)))
EXPECT(e_sub, out(f, exact_sum(a, b ^ SIGN16, FORMAT(f), FE_TONEAREST)))
EXPECT(e_mul, out(f, exact_round(exact_mul(exact_of(a, FORMAT(f)), exact_of(b, FORMAT(f))),
                                 FORMAT(f), FE_TONEAREST)))
EXPECT(e_fma, out(f, exact_fma(a, b, c, FORMAT(f), FORMAT(f), FE_TONEAREST)))

/* Returns the second factor, taken as a complex number, times i. */
static uint64_t e_fma_turned(const struct form *f, const uint64_t *in) {
  const uint64_t turned[] = {in[0], (in[1] >> 16 ^ SIGN16) | (in[1] & 0xffff) << 16, in[2]};
  return e_fma(f, turned);
}

static uint64_t minmax(const struct form *f, uint64_t a, uint64_t b) {
  const uint64_t signs = (a ^ b) & SIGN16;
  if (f->p[4] & 4)
    a &= ~(uint64_t)SIGN16, b &= ~(uint64_t)SIGN16;
  const bool na = exact_is_nan(a, FORMAT(f)), nb = exact_is_nan(b, FORMAT(f));
  if ((na && nb) || ((f->p[4] & 2) && (na || nb)))
    return NAN16;
  uint64_t r;
  if (na || nb) {
    r = na ? b : a;
  } else {
    const quad x = exact_of(a, FORMAT(f)).v, y = exact_of(b, FORMAT(f)).v;
    const bool a_lower = x < y || (x == y && (a & SIGN16) != 0);
    r = a_lower == !(f->p[4] & 1) ? a : b;
  }
  return f->p[4] & 4 ? (r & ~(uint64_t)SIGN16) | signs : r;
}
EXPECT(e_minmax, ((void)c, minmax(f, a, b)))

static bool related(const struct form *f, uint64_t a, uint64_t b) {
  a = flush(f, a), b = flush(f, b);
  if (exact_is_nan(a, FORMAT(f)) || exact_is_nan(b, FORMAT(f)))
    return f->p[4] >> 3 & 1;
  const quad x = exact_of(a, FORMAT(f)).v, y = exact_of(b, FORMAT(f)).v;
  return f->p[4] >> (x < y ? 0 : x == y ? 1 : 2) & 1;
}
static uint64_t e_setp(const struct form *f, const uint64_t *in) {
  return (uint64_t)related(f, in[0] & 0xffff, in[1] & 0xffff) |
         (f->p[1] == 2 ? (uint64_t)related(f, in[0] >> 16, in[1] >> 16) << 1 : 0);
}
/* set: 1.0 or all ones. p[3]: all ones */
static uint64_t e_set(const struct form *f, const uint64_t *in) {
  const uint64_t yes = f->p[3] ? 0xffff : f->p[0] ? 0x3f80 : 0x3c00, both = e_setp(f, in);
  return (both & 1 ? yes : 0) | (both & 2 ? yes << 16 : 0);
}
static uint64_t e_set_word(const struct form *f, const uint64_t *in) {
  return e_setp(f, in) & 1 ? 0xffffffff : 0;
}

static uint64_t e_abs(const struct form *f, const uint64_t *in) {
  return in[0] & (f->p[1] == 2 ? 0x7fff7fffu : 0x7fffu);
}
static uint64_t e_neg(const struct form *f, const uint64_t *in) {
  return in[0] ^ (f->p[1] == 2 ? 0x80008000u : 0x8000u);
}
/* The bits of a NaN may differ. */
static bool accept_signs(const struct form *f, const uint64_t *in, uint64_t got,
                         uint64_t (*want)(const struct form *, const uint64_t *)) {
  const uint64_t w = want(f, in);
  for (int k = 0; k < 16 * f->p[1]; k += 16) {
    const uint64_t v = flush(f, w >> k & 0xffff), g = got >> k & 0xffff;
    if (v != g && !(exact_is_nan(v, FORMAT(f)) && exact_is_nan(g, FORMAT(f))))
      return false;
  }
  return true;
}
static bool a_abs(const struct form *f, const uint64_t *in, uint64_t got) {
  return accept_signs(f, in, got, e_abs);
}
static bool a_neg(const struct form *f, const uint64_t *in, uint64_t got) {
  return accept_signs(f, in, got, e_neg);
}

static struct form *set(struct form *f, uint64_t (*expect)(const struct form *, const uint64_t *),
                        int bf16, int halves_of, int ftz, int clip, int what) {
  const int p[5] = {bf16, halves_of, ftz, clip, what};
  memcpy(f->p, p, sizeof p);
  f->expect = expect;
  return f;
}

static void of_type(int bf16, int n) {
  static const char *const names[2][2] = {{"f16", "f16x2"}, {"bf16", "bf16x2"}};
  static const char *const clips[] = {"", ".sat", ".relu"};
  const char *type = names[bf16][n - 1];
  const char k = bf16 ? n == 2 ? 'B' : 'b' : n == 2 ? 'H' : 'h';
  const char one[] = {k, 0}, two[] = {k, k, 0}, three[] = {k, k, k, 0};
  for (int ftz = 0; ftz < (bf16 ? 1 : 2); ftz++) {
    const char *s = ftz ? ".ftz" : "";
    for (int clip = 0; clip < 3; clip++) {
      const char *c = clips[clip];
      if (clip < 2 && !bf16) {
        set(form_add(two, k, "add%s%s.%s %%0, %%1, %%2;", s, c, type), e_add, 0, n, ftz, clip, 0);
        set(form_add(two, k, "add.rn%s%s.%s %%0, %%1, %%2;", s, c, type), e_add, 0, n, ftz, clip,
            0);
        set(form_add(two, k, "sub%s%s.%s %%0, %%1, %%2;", s, c, type), e_sub, 0, n, ftz, clip, 0);
        set(form_add(two, k, "mul%s%s.%s %%0, %%1, %%2;", s, c, type), e_mul, 0, n, ftz, clip, 0);
      }
      if (clip != 1 || !bf16)
        set(form_add(three, k, "fma.rn%s%s.%s %%0, %%1, %%2, %%3;", s, c, type), e_fma, bf16, n,
            ftz, clip, 0);
      if ((clip != 1 || !bf16) && n == 2)
        set(form_add(three, k,
                     ".reg .b16 re, im; .reg .b32 t; mov.b32 {re, im}, %%2; neg.%s im, im; "
                     "mov.b32 t, {im, re}; fma.rn%s%s.%s %%0, %%1, t, %%3;",
                     names[bf16][0], s, c, type),
            e_fma_turned, bf16, n, ftz, clip, 0);
    }
    for (int what = 0; what < 8; what++)
      set(form_add(two, k, "%s%s%s%s.%s %%0, %%1, %%2;", what & 1 ? "max" : "min", s,
                   what & 2 ? ".NaN" : "", what & 4 ? ".xorsign.abs" : "", type),
          e_minmax, bf16, n, ftz, 0, what);
    set(form_add(one, k, "abs%s.%s %%0, %%1;", s, type), NULL, bf16, n, ftz, 0, 0)->accept = a_abs;
    set(form_add(one, k, "neg%s.%s %%0, %%1;", s, type), NULL, bf16, n, ftz, 0, 0)->accept = a_neg;
    static const struct {
      const char *name;
      int relation;
    } compares[] = {{"eq", 2},   {"ne", 5},   {"lt", 1},   {"le", 3},  {"gt", 4},
                    {"ge", 6},   {"equ", 10}, {"neu", 13}, {"ltu", 9}, {"leu", 11},
                    {"gtu", 12}, {"geu", 14}, {"num", 7},  {"nan", 8}};
    for (unsigned c = 0; !bf16 && c < sizeof compares / sizeof *compares; c++) {
      const char *name = compares[c].name;
      const int relation = compares[c].relation;
      if (n == 2)
        set(form_add(two, 'i',
                     ".reg .pred p, q; .reg .b32 t, u; setp.%s%s.%s p|q, %%1, %%2; selp.u32 t, 1, "
                     "0, p; selp.u32 u, 2, 0, q; or.b32 %%0, t, u;",
                     name, s, type),
            e_setp, bf16, n, ftz, 0, relation);
      else
        set(form_add(two, 'i', ".reg .pred p; setp.%s%s.%s p, %%1, %%2; selp.u32 %%0, 1, 0, p;",
                     name, s, type),
            e_setp, bf16, n, ftz, 0, relation);
      set(form_add(two, k, "set.%s%s.%s.%s %%0, %%1, %%2;", name, s, type, type), e_set, bf16, n,
          ftz, 0, relation);
      if (n == 1)
        set(form_add(two, 'i', "set.%s%s.u32.%s %%0, %%1, %%2;", name, s, type), e_set_word, bf16,
            n, ftz, 0, relation);
    }
  }
}

void forms_half(void) {
  for (int bf16 = 0; bf16 < 2; bf16++)
    for (int n = 1; n < 3; n++)
      of_type(bf16, n);
}
