/* Video instructions as the PTX manual defines them: arithmetic on selected bytes and halves with
 * saturation, merging and secondary operations, and on all bytes or halves at once. The test leaves
 * out the cases that ptxas 13.0 translates differently: .sat of single values, minima and maxima
 * after vset, scaling of unsigned products. */
#include <stdio.h>
#include <string.h>

#include "tests/sass/forms.h"

typedef __int128 i128;

enum op { VADD, VSUB, VABSDIFF, VMIN, VMAX, VAVRG, VSHL, VSHR };
static const char *const op_name[] = {"vadd", "vsub",  "vabsdiff", "vmin",
                                      "vmax", "vavrg", "vshl",     "vshr"};
static const char *const type_name[] = {".u32", ".s32"};
static const struct part {
  const char *name;
  unsigned low, bits;
} parts[] = {{"", 0, 32},    {".b0", 0, 8},  {".b1", 8, 8},  {".b2", 16, 8},
             {".b3", 24, 8}, {".h0", 0, 16}, {".h1", 16, 16}};
enum { PARTS = sizeof parts / sizeof *parts };
enum secondary { NONE, ADD, MIN, MAX, MERGE };
static const char *const secondary_name[] = {"", ".add", ".min", ".max", ""};

/* The forms, by p[0]. */
static struct video {
  int op, dtype, atype, btype; /* types: signed */
  bool saturate, wrap;
  enum secondary secondary;
  const struct part *d, *a, *b;
  int relation;                       /* of vset: bit 0 less, 1 equal, 2 greater */
  unsigned lanes, mask, asel, bsel;   /* SIMD: a nibble of asel and bsel for each lane */
  bool negate_product, negate_c, one; /* vmad */
  unsigned scale;
} video[1024];
static unsigned video_count;
#define V (&video[f->p[0]])

static i128 part_of(uint64_t v, const struct part *part, int is_signed) {
  const unsigned unused = 64 - part->bits;
  const uint64_t high = v >> part->low << unused;
  return is_signed ? (i128)((int64_t)high >> unused) : (i128)(high >> unused);
}

static i128 saturate(i128 v, unsigned bits, int is_signed) {
  const i128 most = ((i128)1 << (bits - (unsigned)is_signed)) - 1;
  const i128 least = is_signed ? -most - 1 : 0;
  return v > most ? most : v < least ? least : v;
}

static i128 word_of(uint64_t v, int is_signed) {
  return part_of(v, &parts[0], is_signed);
}

static i128 operate(const struct video *v, i128 a, i128 b) {
  switch ((enum op)v->op) {
  case VADD:
    return a + b;
  case VSUB:
    return a - b;
  case VABSDIFF:
    return a > b ? a - b : b - a;
  case VMIN:
    return a < b ? a : b;
  case VMAX:
    return a > b ? a : b;
  case VAVRG: /* halves are rounded away from zero */
    return (a + b + (a + b >= 0)) >> 1;
  case VSHL:
  case VSHR:
    b = v->wrap ? b & 31 : b > 32 ? 32 : b;
    return v->op == VSHL ? a * ((i128)1 << (int)b) : a >> (int)b;
  }
  return 0;
}

/* The manual does not specify what a minimum or maximum with c compares. As in ptxas's code, it
 * compares all bits of the intermediate result, in the type of the destination. */
static uint64_t finish(const struct video *v, i128 t, uint64_t c, int is_signed) {
  const i128 y = word_of(c, is_signed);
  const bool less = is_signed ? t < y : (unsigned __int128)t < (unsigned __int128)y;
  const uint64_t field = ((1ull << v->d->bits) - 1) << v->d->low;
  switch (v->secondary) {
  case ADD:
    return (uint64_t)t + c;
  case MIN:
    return less ? (uint64_t)t : c;
  case MAX:
    return less ? c : (uint64_t)t;
  case MERGE:
    return (c & ~field) | ((uint64_t)t << v->d->low & field);
  case NONE:
    break;
  }
  return (uint64_t)t;
}

static uint64_t e_scalar(const struct form *f, const uint64_t *in) {
  const struct video *v = V;
  const i128 a = part_of(in[0], v->a, v->atype), b = part_of(in[1], v->b, v->btype);
  return finish(v, operate(v, a, b), in[2], v->dtype);
}

static bool related(const struct video *v, i128 a, i128 b) {
  return v->relation >> (a < b ? 0 : a == b ? 1 : 2) & 1;
}

static uint64_t e_vset(const struct form *f, const uint64_t *in) {
  const i128 a = part_of(in[0], V->a, V->atype), b = part_of(in[1], V->b, V->btype);
  return finish(V, related(V, a, b), in[2], 0);
}

static uint64_t e_vmad(const struct form *f, const uint64_t *in) {
  const struct video *v = V;
  const i128 product = part_of(in[0], v->a, v->atype) * part_of(in[1], v->b, v->btype);
  const int is_signed = v->atype || v->btype || v->negate_product;
  const i128 c = word_of(in[2], is_signed);
  i128 t = (v->negate_product ? -product : product) + (v->negate_c ? -c : c) + v->one;
  t >>= v->scale;
  if (v->saturate)
    t = saturate(t, 32, is_signed || v->negate_c);
  return (uint64_t)t;
}

/* SIMD: lanes are chosen from both operands, with b above a. */
static uint64_t e_simd(const struct form *f, const uint64_t *in) {
  const struct video *v = V;
  const unsigned bits = 32 / v->lanes;
  const uint64_t both = in[1] << 32 | in[0], field = (1ull << bits) - 1;
  uint64_t merged = in[2], sum = in[2];
  for (unsigned k = 0; k < v->lanes; k++) {
    const struct part a = {"", bits * (v->asel >> 4 * k & 15), bits};
    const struct part b = {"", bits * (v->bsel >> 4 * k & 15), bits};
    const i128 x = part_of(both, &a, v->atype), y = part_of(both, &b, v->btype);
    i128 t = v->relation ? related(v, x, y) : operate(v, x, y);
    if (v->saturate)
      t = saturate(t, bits, v->dtype);
    if (!(v->mask >> k & 1))
      continue;
    merged = (merged & ~(field << bits * k)) | ((uint64_t)t & field) << bits * k;
    sum += (uint64_t)t;
  }
  return v->secondary == ADD ? sum : merged;
}

/* The secondary operation is appended to name. */
static void add(struct video v, uint64_t (*expect)(const struct form *, const uint64_t *),
                const char *name, const char *target, const char *sources) {
  struct form *f =
      form_add("iii", 'i', "%s%s %%0%s, %s;", name, secondary_name[v.secondary], target, sources);
  f->expect = expect;
  f->vector_only = true;
  f->p[0] = (int)video_count;
  video[video_count++] = v;
}

/* The forms select each part of the operands in turn. */
static void scalar(struct video v, uint64_t (*expect)(const struct form *, const uint64_t *),
                   const char *name, enum secondary secondary) {
  static unsigned turn;
  char sources[48];
  turn++;
  v.a = &parts[turn % PARTS], v.b = &parts[turn / 2 % PARTS];
  v.secondary = secondary;
  v.d = &parts[secondary == MERGE ? 1 + turn % (PARTS - 1) : 0];
  snprintf(sources, sizeof sources, "%%1%s, %%2%s%s", v.a->name, v.b->name,
           secondary ? ", %3" : "");
  add(v, expect, name, v.d->name, sources);
}

static enum secondary next_secondary(void) {
  static unsigned turn;
  return ADD + turn++ % 3;
}

static void scalar_forms(void) {
  char name[64];
  for (int k = 0; k < 8; k++) {
    struct video v = {.dtype = k & 1, .atype = k >> 1 & 1, .btype = k >> 2 & 1};
    for (v.op = VADD; v.op <= VSHR; v.op++) {
      if (v.op == VAVRG)
        continue;
      const bool shift = v.op >= VSHL;
      v.wrap = shift && v.btype;
      struct video now = v;
      now.btype = shift ? 0 : v.btype;
      snprintf(name, sizeof name, "%s%s%s%s%s", op_name[v.op], type_name[v.dtype],
               type_name[v.atype], type_name[now.btype],
               !shift   ? ""
               : v.wrap ? ".wrap"
                        : ".clamp");
      for (int s = 0; s < 3; s++)
        scalar(now, e_scalar, name, s == 0 ? NONE : s == 1 ? next_secondary() : MERGE);
    }
  }
}

static const struct {
  const char *name;
  int relation;
} compares[] = {{".eq", 2}, {".ne", 5}, {".lt", 1}, {".le", 3}, {".gt", 4}, {".ge", 6}};
enum { COMPARES = sizeof compares / sizeof *compares };

static void compare_forms(void) {
  char name[64];
  for (int k = 0; k < 4 * COMPARES; k++) {
    struct video v = {.atype = k & 1, .btype = k >> 1 & 1, .relation = compares[k / 4].relation};
    snprintf(name, sizeof name, "vset%s%s%s", type_name[v.atype], type_name[v.btype],
             compares[k / 4].name);
    for (int s = 0; s < 3; s++)
      scalar(v, e_vset, name, s == 0 ? NONE : s == 1 ? ADD : MERGE);
  }
}

static void multiply_forms(void) {
  static const char *const scales[] = {"", ".shr7", ".shr15"};
  enum { PLAIN, NEGATE_PRODUCT, NEGATE_C, PLUS_ONE, KINDS };
  for (int k = 0; k < 4 * KINDS * 6; k++) {
    const int kind = k / 4 % KINDS, s = k / 16 % 3;
    struct video v = {.atype = k & 1, .btype = k >> 1 & 1, .saturate = k / 48};
    const int is_signed = v.atype || v.btype || kind == NEGATE_PRODUCT;
    if ((v.saturate || s) && !(v.atype && v.btype))
      continue;
    char name[64], sources[48];
    v.a = &parts[k % PARTS], v.b = &parts[k / 3 % PARTS], v.d = &parts[0];
    v.negate_product = kind == NEGATE_PRODUCT;
    v.negate_c = kind == NEGATE_C;
    v.one = kind == PLUS_ONE;
    v.scale = s == 0 ? 0 : s == 1 ? 7 : 15;
    /* The type of the result follows from the other types. */
    snprintf(name, sizeof name, "vmad%s%s%s%s%s%s", type_name[is_signed || v.negate_c],
             type_name[v.atype], type_name[v.btype], v.one ? ".po" : "", v.saturate ? ".sat" : "",
             scales[s]);
    snprintf(sources, sizeof sources, "%s%%1%s, %%2%s, %s%%3", v.negate_product ? "-" : "",
             v.a->name, v.b->name, v.negate_c ? "-" : "");
    add(v, e_vmad, name, "", sources);
  }
}

/* Lanes in the order of PTX, the highest first. */
static unsigned digits(char *out, unsigned lanes, unsigned nibbles, unsigned chosen) {
  unsigned n = 0;
  for (unsigned k = lanes; k-- > 0;)
    if (chosen >> k & 1)
      out[n++] = (char)('0' + (nibbles >> 4 * k & 15));
  out[n] = 0;
  return n;
}

static void simd(struct video v, const char *name) {
  static unsigned turn;
  const char kind = v.lanes == 2 ? 'h' : 'b';
  const unsigned all = (1u << v.lanes) - 1;
  char sources[64], mask[8], asel[8], bsel[8];
  turn++;
  v.mask = turn % 3 == 0 ? all : 1 + turn % all;
  v.asel = v.bsel = 0;
  for (unsigned k = 0; k < v.lanes; k++) {
    v.asel |= (turn * (k + 3) + turn / 5) % (2 * v.lanes) << 4 * k;
    v.bsel |= (turn * (k + 2) + turn / 7) % (2 * v.lanes) << 4 * k;
  }
  v.d = &parts[0];
  digits(mask, v.lanes, 0x3210, v.mask);
  digits(asel, v.lanes, v.asel, all);
  digits(bsel, v.lanes, v.bsel, all);
  snprintf(sources, sizeof sources, "%%1.%c%s, %%2.%c%s, %%3", kind, asel, kind, bsel);
  char target[16];
  snprintf(target, sizeof target, ".%c%s", kind, mask);
  add(v, e_simd, name, target, sources);
}

static void simd_forms(void) {
  char name[64];
  for (unsigned lanes = 2; lanes <= 4; lanes += 2)
    for (int k = 0; k < 12; k++) {
      struct video v = {
          .lanes = lanes, .dtype = k & 1, .atype = (k >> 1 ^ k) & 1, .btype = k >> 2 & 1};
      v.saturate = k % 3 == 1;
      v.secondary = k % 3 == 2 ? ADD : NONE;
      for (v.op = VADD; v.op <= VAVRG; v.op++) {
        snprintf(name, sizeof name, "%s%u%s%s%s%s", op_name[v.op], lanes, type_name[v.dtype],
                 type_name[v.atype], type_name[v.btype], v.saturate ? ".sat" : "");
        simd(v, name);
      }
      v.saturate = false;
      v.relation = compares[k % COMPARES].relation;
      snprintf(name, sizeof name, "vset%u%s%s%s", lanes, type_name[v.atype], type_name[v.btype],
               compares[k % COMPARES].name);
      simd(v, name);
    }
}

void forms_video(void) {
  scalar_forms();
  compare_forms();
  multiply_forms();
  simd_forms();
}
