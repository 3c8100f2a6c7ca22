/* Conversions between all pairs of types, in all roundings, with saturation and
 * flushing.
 */
#include <fenv.h>
#include <stddef.h>
#include <string.h>

#include "tests/sass/exact.h"
#include "tests/sass/forms.h"

struct type {
  const char *name;
  unsigned bits;
  bool is_signed;
  char kind; /* of the register */
  const struct format *format;
};
static const struct type types[] = {
    {"u8", 8, false, 'i', NULL},         {"s8", 8, true, 'i', NULL},
    {"u16", 16, false, 's', NULL},       {"s16", 16, true, 's', NULL},
    {"u32", 32, false, 'i', NULL},       {"s32", 32, true, 'i', NULL},
    {"u64", 64, false, 'l', NULL},       {"s64", 64, true, 'l', NULL},
    {"f16", 16, true, 'h', &FORMAT_F16}, {"f32", 32, true, 'f', &FORMAT_F32},
    {"f64", 64, true, 'd', &FORMAT_F64}, {"bf16", 16, true, 'b', &FORMAT_BF16},
};
enum { TYPES = sizeof types / sizeof *types, BF16 = TYPES - 1 };

static const struct {
  const char *name, *integral;
  int mode;
} rounds[] = {{"rn", "rni", FE_TONEAREST},
              {"rz", "rzi", FE_TOWARDZERO},
              {"rm", "rmi", FE_DOWNWARD},
              {"rp", "rpi", FE_UPWARD}};

/* p[0]: to, p[1]: from, p[2]: mode, p[3]: .ftz, p[4]: .sat */
#define TO(f)   (&types[(f)->p[0]])
#define FROM(f) (&types[(f)->p[1]])

typedef __int128 i128;

static i128 integer(uint64_t v, const struct type *t) {
  const unsigned up = 64 - t->bits;
  return t->is_signed ? (i128)((int64_t)(v << up) >> up) : (i128)(v << up >> up);
}

static i128 lowest(const struct type *t) {
  return t->is_signed ? -((i128)1 << (t->bits - 1)) : 0;
}
static i128 highest(const struct type *t) {
  return ((i128)1 << (t->bits - (t->is_signed ? 1 : 0))) - 1;
}

static uint64_t clamped(i128 v, const struct type *t) {
  return (uint64_t)(v < lowest(t) ? lowest(t) : v > highest(t) ? highest(t) : v);
}

/* Returns the result as it is in its register, extended from the width of the type. */
static uint64_t e_int_int(const struct form *f, const uint64_t *in) {
  const i128 v = integer(in[0], FROM(f));
  if (f->p[4])
    return clamped(v, TO(f));
  return (uint64_t)integer((uint64_t)v, TO(f));
}

static uint64_t flushed(const struct form *f, uint64_t v, const struct format *format) {
  return f->p[3] && format == &FORMAT_F32 ? exact_flush(v, format) : v;
}

static uint64_t e_int_float(const struct form *f, const uint64_t *in) {
  const i128 v = integer(in[0], FROM(f));
  const uint64_t r = exact_round((struct exact){(quad)v, false}, TO(f)->format, f->p[2]);
  return f->p[4] ? exact_saturate(r, TO(f)->format) : r;
}

/* From a 64-bit integer whose low word is 0: ptxas encodes the high word as an immediate. */
#define HIGH_WORD_ALONE 0x9234567800000000
static uint64_t e_immediate_float(const struct form *f, const uint64_t *in) {
  const uint64_t v = HIGH_WORD_ALONE;
  (void)in;
  return e_int_float(f, &v);
}

static uint64_t e_float_int(const struct form *f, const uint64_t *in) {
  const uint64_t a = flushed(f, in[0], FROM(f)->format);
  const struct type *to = TO(f);
  if (exact_is_nan(a, FROM(f)->format)) /* PTX manual, cvt */
    return FROM(f)->bits < 64 && to->bits < 64 ? 0 : (uint64_t)integer(1ull << (to->bits - 1), to);
  const quad v = exact_of(a, FROM(f)->format).v, limit = 0x1p100;
  if (v > limit || v < -limit)
    return clamped(v > 0 ? (i128)1 << 100 : -((i128)1 << 100), to);
  return clamped((i128)exact_integral(v, f->p[2]), to);
}

static uint64_t e_float_float(const struct form *f, const uint64_t *in) {
  const uint64_t a = flushed(f, in[0], FROM(f)->format);
  uint64_t r = exact_round(exact_of(a, FROM(f)->format), TO(f)->format, f->p[2]);
  r = flushed(f, r, TO(f)->format);
  return f->p[4] == 1   ? exact_saturate(r, TO(f)->format)
         : f->p[4] == 2 ? (r >> (TO(f)->bits - 1) ? 0 : r) /* .relu */
                        : r;
}

/* To an integral value of the same type. */
static uint64_t e_integral(const struct form *f, const uint64_t *in) {
  const struct format *format = TO(f)->format;
  const uint64_t a = flushed(f, in[0], format), sign = a >> (TO(f)->bits - 1) << (TO(f)->bits - 1);
  struct exact v = exact_of(a, format);
  if (v.v - v.v == 0)
    v.v = exact_integral(v.v, f->p[2]);
  uint64_t r = exact_round(v, format, FE_TONEAREST);
  if (!exact_is_nan(a, format))
    r |= sign; /* -0 stays -0, and small negative values become -0 */
  return f->p[4] ? exact_saturate(r, format) : r;
}

/* Two floats to two halves: p[0]: bf16, p[2]: mode, p[4]: .relu */
static uint64_t e_pack(const struct form *f, const uint64_t *in) {
  const struct format *to = f->p[0] ? &FORMAT_BF16 : &FORMAT_F16;
  uint64_t r = 0;
  for (int k = 0; k < 2; k++) {
    uint64_t h = exact_round(exact_of(in[1 - k], &FORMAT_F32), to, f->p[2]);
    if (f->p[4] && h & 0x8000)
      h = 0;
    r |= h << (16 * k);
  }
  return r;
}

/* tf32 keeps 10 bits; .rna rounds halves away from zero. */
static bool a_tf32(const struct form *f, const uint64_t *in, uint64_t got) {
  const uint64_t a = in[0], special = 0x7f800000;
  (void)f;
  /* The low 13 bits are unspecified; a NaN that has no others is cut to infinity. */
  return ((got ^ ((a & special) == special ? a : a + 0x1000)) & ~0x1fffull) == 0;
}

/* cvt.pack: two saturated integers below the shifted third. p[0]: bits, p[1]: signed */
static uint64_t e_cvt_pack(const struct form *f, const uint64_t *in) {
  const struct type t = {NULL, (unsigned)f->p[0], f->p[1], 'i', NULL};
  const uint64_t m = (1ull << t.bits) - 1;
  const uint64_t low = clamped((int32_t)in[1], &t) & m, high = clamped((int32_t)in[0], &t) & m;
  return low | high << t.bits | (t.bits < 16 ? in[2] << (2 * t.bits) : 0);
}

static struct form *set(struct form *f, uint64_t (*expect)(const struct form *, const uint64_t *),
                        int to, int from, int mode, int ftz, int sat) {
  const int p[5] = {to, from, mode, ftz, sat};
  memcpy(f->p, p, sizeof p);
  f->expect = expect;
  return f;
}

static void pair(int to, int from) {
  const struct type *t = &types[to], *s = &types[from];
  const char in[] = {s->kind, 0};
  for (int sat = 0; sat < 2; sat++) {
    const char *dot_sat = sat ? ".sat" : "";
    if (!t->format && !s->format) {
      if (sat && lowest(t) <= lowest(s) && highest(t) >= highest(s))
        continue; /* PTX does not allow it: there is nothing to saturate */
      set(form_add(in, t->kind, "cvt%s.%s.%s %%0, %%1;", dot_sat, t->name, s->name), e_int_int, to,
          from, 0, 0, sat);
      continue;
    }
    for (int r = 0; r < 4; r++)
      for (int ftz = 0; ftz < (t->format == &FORMAT_F32 || s->format == &FORMAT_F32 ? 2 : 1);
           ftz++) {
        const char *dot_ftz = ftz ? ".ftz" : "";
        const int mode = rounds[r].mode;
        if (!t->format) {
          if (!ftz || s->format == &FORMAT_F32)
            set(form_add(in, t->kind, "cvt.%s%s%s.%s.%s %%0, %%1;", rounds[r].integral, dot_ftz,
                         dot_sat, t->name, s->name),
                e_float_int, to, from, mode, ftz, sat);
        } else if (!s->format) {
          set(form_add(in, t->kind, "cvt.%s%s%s.%s.%s %%0, %%1;", rounds[r].name, dot_ftz, dot_sat,
                       t->name, s->name),
              e_int_float, to, from, mode, ftz, sat);
        } else if (to == from) {
          set(form_add(in, t->kind, "cvt.%s%s%s.%s.%s %%0, %%1;", rounds[r].integral, dot_ftz,
                       dot_sat, t->name, s->name),
              e_integral, to, from, mode, ftz, sat);
        } else if (t->bits < s->bits) {
          /* ptxas emits the same code for cvt.rp.f16.f32 with and without .ftz. */
          if (!(t->bits == 16 && ftz && r > 1))
            set(form_add(in, t->kind, "cvt.%s%s%s.%s.%s %%0, %%1;", rounds[r].name, dot_ftz,
                         dot_sat, t->name, s->name),
                e_float_float, to, from, mode, ftz, sat);
        } else if (r == 0) {
          set(form_add(in, t->kind, "cvt%s%s.%s.%s %%0, %%1;", dot_ftz, dot_sat, t->name, s->name),
              e_float_float, to, from, mode, ftz, sat);
        }
      }
  }
}

void forms_convert(void) {
  for (int to = 0; to < BF16; to++)
    for (int from = 0; from < BF16; from++)
      pair(to, from);
  for (int from = 6; from < 8; from++)
    for (int to = 9; to < 11; to++)
      set(form_add("l", types[to].kind, "cvt.rp.%s.%s %%0, %#llx;", types[to].name,
                   types[from].name, (unsigned long long)HIGH_WORD_ALONE),
          e_immediate_float, to, from, FE_UPWARD, 0, 0);
  static const char *const relu[] = {"", ".relu"};
  for (int r = 0; r < 2; r++)
    for (int k = 0; k < 2; k++) {
      const int mode = rounds[r].mode;
      set(form_add("ff", 'H', "cvt.%s%s.f16x2.f32 %%0, %%1, %%2;", rounds[r].name, relu[k]), e_pack,
          0, 0, mode, 0, k);
      set(form_add("ff", 'B', "cvt.%s%s.bf16x2.f32 %%0, %%1, %%2;", rounds[r].name, relu[k]),
          e_pack, 1, 0, mode, 0, k);
      set(form_add("f", 'b', "cvt.%s%s.bf16.f32 %%0, %%1;", rounds[r].name, relu[k]), e_float_float,
          BF16, 9, mode, 0, 2 * k);
      set(form_add("f", 'h', "cvt.%s%s.f16.f32 %%0, %%1;", rounds[r].name, relu[k]), e_float_float,
          8, 9, mode, 0, 2 * k);
    }
  set(form_add("f", 'i', "cvt.rna.tf32.f32 %%0, %%1;"), NULL, 0, 0, 0, 0, 0)->accept = a_tf32;
  static const struct {
    const char *name;
    int bits, is_signed;
  } packed[] = {{"u16", 16, 0}, {"s16", 16, 1}, {"u8", 8, 0}, {"s8", 8, 1},
                {"u4", 4, 0},   {"s4", 4, 1},   {"u2", 2, 0}, {"s2", 2, 1}};
  for (unsigned k = 0; k < sizeof packed / sizeof *packed; k++) {
    struct form *f =
        packed[k].bits == 16
            ? form_add("ii", 'i', "cvt.pack.sat.%s.s32 %%0, %%1, %%2;", packed[k].name)
            : form_add("iii", 'i', "cvt.pack.sat.%s.s32.b32 %%0, %%1, %%2, %%3;", packed[k].name);
    set(f, e_cvt_pack, packed[k].bits, packed[k].is_signed, 0, 0, 0);
  }
}
