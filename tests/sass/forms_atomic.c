/* Atomic operations in global, shared and generic memory, by some or all lanes of a warp, at the
 * same or different places. The order of the lanes is not defined: results are right if some order
 * produces them. */
#include <fenv.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "tests/sass/exact.h"
#include "tests/sass/forms.h"
#include "tests/sass/forms_place.h"

enum op { ADD, MIN, MAX, INC, DEC, AND, OR, XOR, EXCH, CAS };
static const char *const op_name[] = {"add", "min", "max", "inc",  "dec",
                                      "and", "or",  "xor", "exch", "cas"};
enum type { U32, S32, U64, S64, F16, F16X2, F32, F64, B16, B32, B64 };
static const struct type_row {
  const char *name;
  char kind; /* of operands */
  int bytes;
} types[] = {{".u32", 'I', 4},       {".s32", 'I', 4},         {".u64", 'l', 8}, {".s64", 'l', 8},
             {".noftz.f16", 'Q', 2}, {".noftz.f16x2", 'Q', 4}, {".f32", 'F', 4}, {".f64", 'd', 8},
             {".b16", 'I', 2},       {".b32", 'I', 4},         {".b64", 'l', 8}};

/* p[0]: space (forms_place.h), p[1]: op, p[2]: type, p[3]: the form tests the final contents of the
 * place instead of the operation's result */
#define OP   ((enum op)f->p[1])
#define TYPE ((enum type)f->p[2])

static uint64_t add_floats(enum type type, uint64_t a, uint64_t b, bool flush) {
  const struct format *format = type == F64 ? &FORMAT_F64 : type == F32 ? &FORMAT_F32 : &FORMAT_F16;
  if (flush)
    a = exact_flush(a, format), b = exact_flush(b, format);
  const uint64_t sum = exact_sum(a, b, format, FE_TONEAREST);
  return flush ? exact_flush(sum, format) : sum;
}

/* Returns the value after a lane's operation with operand v. CAS compares with the place's first
 * value or v, and writes the first value or another. */
static uint64_t apply(const struct form *f, enum space space, uint64_t first, uint64_t old,
                      uint64_t v) {
  const int bytes = types[TYPE].bytes;
  const uint64_t b = place_bytes(v, bytes);
  const bool is_signed = TYPE == S32 || TYPE == S64;
  const int unused = 64 - 8 * bytes;
  const int64_t x = (int64_t)(old << unused), y = (int64_t)(b << unused);
  const bool less = is_signed ? y < x : b < old;
  switch (OP) {
  case ADD:
    if (TYPE == F16X2)
      return add_floats(F16, old & 0xffff, b & 0xffff, false) |
             add_floats(F16, old >> 16, b >> 16, false) << 16;
    if (TYPE == F16 || TYPE == F32 || TYPE == F64) /* only global memory flushes (PTX manual) */
      return add_floats(TYPE, old, b, TYPE == F32 && space == GLOBAL);
    return place_bytes(old + b, bytes);
  case MIN:
    return less ? b : old;
  case MAX:
    return less ? old : b;
  case INC:
    return old >= b ? 0 : old + 1;
  case DEC:
    return old == 0 || old > b ? b : old - 1;
  case AND:
    return old & b;
  case OR:
    return old | b;
  case XOR:
    return old ^ b;
  case EXCH:
    return b;
  case CAS:
    if (old != (v & 1 ? first : b))
      return old;
    return v & 2 ? first : place_bytes(v * 5, bytes);
  }
  return 0;
}

static bool equal(const struct form *f, uint64_t a, uint64_t b) {
  return a == b || (TYPE == F64 && exact_is_nan(a, &FORMAT_F64) && exact_is_nan(b, &FORMAT_F64));
}

struct group {
  const struct form *f;
  const uint64_t *operand, *got;
  enum space space;
  uint64_t first, last;
  unsigned tries;
};

/* Returns whether some order of the lanes in left produces their results from value. */
static bool has_order(struct group *g, uint64_t value, uint32_t left) {
  const bool final = g->f->p[3];
  if (!left)
    return !final || equal(g->f, value, g->last);
  for (int lane = 0; lane < LANES; lane++) {
    if (!(left >> lane & 1) || (!final && !equal(g->f, g->got[lane], value)))
      continue;
    if (!g->tries)
      return false;
    g->tries--;
    const uint64_t next = apply(g->f, g->space, g->first, value, g->operand[lane]);
    if (has_order(g, next, left & ~(1u << lane)))
      return true;
    if (!final && next == value) /* the lane changed nothing, so no other order helps */
      return false;
  }
  return false;
}

static uint32_t wrong_lanes(const struct form *f, const uint64_t (*in)[32], const uint64_t *got) {
  uint32_t wrong = 0, done = 0;
  for (int lane = 0; lane < LANES; lane++) {
    const uint64_t place = in[2][lane];
    const enum space space = place_space_of(f, place);
    if (done >> lane & 1)
      continue;
    uint32_t group = 0, active = 0;
    for (int k = lane; k < LANES; k++)
      if (k == lane || (space != LOCAL && place_space_of(f, in[2][k]) == space &&
                        place_offset(in[2][k]) == place_offset(place))) {
        group |= 1u << k;
        active |= (uint32_t)place_active(in[2][k]) << k;
      }
    const int at = place_offset(place) - f->place.bias + f->place.added;
    struct group g = {f, in[1], got, space, 0, got[lane], 100000};
    g.first = place_bytes(place_word(in, space, lane, at / 8) >> (8 * (at % 8)), f->place.element);
    bool right = has_order(&g, g.first, active);
    for (int k = 0; k < LANES; k++) {
      if (!(group >> k & 1))
        continue;
      if (f->p[3])
        right = right && equal(f, got[k], got[lane]);
      else if (!place_active(in[2][k]))
        right = right && got[k] == in[0][k];
    }
    wrong |= right ? 0 : group;
    done |= group;
  }
  return wrong;
}

enum use { RESULT, NO_RESULT, REDUCTION };

static struct form *add(enum space space, enum op op, enum type type, enum use use) {
  /* Memory orders and scopes; the forms use each in turn. */
  static const char *const orders[] = {"",
                                       ".relaxed.cta",
                                       ".relaxed.gpu",
                                       ".relaxed.sys",
                                       ".release.cta",
                                       ".release.gpu",
                                       ".release.sys",
                                       ".acquire.cta",
                                       ".acquire.gpu",
                                       ".acquire.sys",
                                       ".acq_rel.cta",
                                       ".acq_rel.gpu",
                                       ".acq_rel.sys"};
  enum { ATOM_ORDERS = sizeof orders / sizeof *orders, RED_ORDERS = 7 };
  static unsigned turn;
  const struct type_row *t = &types[type];
  const int bits = 8 * t->bytes, bias = place_next_bias();
  const char *order = orders[turn++ % (use == REDUCTION ? RED_ORDERS : ATOM_ORDERS)];
  char compare[240] = "", end[160] = "";
  if (op == CAS)
    snprintf(compare, sizeof compare,
             "ld.volatile%s.u%d d, [%%4+%d]; bar.warp.sync -1; and.b64 x, %%2, 1; setp.ne.s64 z, "
             "x, 0; selp.b%d b, d, b, z; mul.lo.u64 x, %%2, 5; cvt.u%d.u64 c, x; and.b64 x, %%2, "
             "2; setp.ne.s64 z, x, 0; selp.b%d c, d, c, z;",
             space_name[space], bits, -bias, bits, bits, bits);
  if (use != RESULT)
    snprintf(end, sizeof end, "bar.warp.sync -1; ld.volatile%s.u%d d, [%%4+%d]; mov.pred q, -1;",
             space_name[space], bits, -bias);
  /* A shuffle hides b, because ptxas 13.0 takes half of an f16x2 from the wrong word of a pair. */
  const char *opaque =
      type == F16X2 ? "mov.u32 c, %laneid; shfl.sync.idx.b32 b, b, c, 31, -1;" : "";
  const char in[] = {t->kind, t->kind, 'a', 0};
  struct form *f = form_add(
      in, 'l',
      ".reg .pred q, z; .reg .b64 x; .reg .b%d b, c, d; cvt.u%d.u64 b, %%2; %s setp.ne.s32 "
      "q, %%5, 0; %s %s %s%s%s.%s%s %s[%%4+%d], b%s; out: %s cvt.u64.u%d x, d; selp.b64 "
      "%%0, x, %%1, q;",
      bits, bits, opaque, compare, place_next_guard(), use == REDUCTION ? "red" : "atom", order,
      space_name[space], op_name[op], t->name, use == REDUCTION ? "" : "d, ", -bias,
      op == CAS ? ", c" : "", end, bits);
  f->wrong_lanes = wrong_lanes;
  place_form(f, space, t->bytes, bias);
  if (space == GENERIC)
    f->place.spaces = LOCAL; /* the spaces below LOCAL */
  f->p[1] = op, f->p[2] = (int)type, f->p[3] = use != RESULT;
  /* If the final contents depend on the order, only a few lanes take part, so that all orders can
   * be tried. */
  f->place.few = use != RESULT && (op >= EXCH || op == INC || op == DEC || type == F16 ||
                                   type == F16X2 || type == F32 || type == F64);
  return f;
}

void forms_atomic(void) {
  static const enum space spaces[] = {GLOBAL, SHARED, GENERIC};
  static const struct {
    enum op op;
    enum type type;
  } rows[] = {{ADD, U32},  {ADD, S32}, {ADD, U64}, {ADD, F16}, {ADD, F16X2}, {ADD, F32},
              {ADD, F64},  {MIN, U32}, {MIN, S32}, {MIN, U64}, {MIN, S64},   {MAX, U32},
              {MAX, S32},  {MAX, U64}, {MAX, S64}, {INC, U32}, {DEC, U32},   {AND, B32},
              {AND, B64},  {OR, B32},  {OR, B64},  {XOR, B32}, {XOR, B64},   {EXCH, B32},
              {EXCH, B64}, {CAS, B16}, {CAS, B32}, {CAS, B64}};
  for (unsigned s = 0; s < 3; s++)
    for (unsigned k = 0; k < sizeof rows / sizeof *rows; k++)
      for (enum use use = RESULT; use <= (rows[k].op < EXCH ? REDUCTION : NO_RESULT); use++)
        add(spaces[s], rows[k].op, rows[k].type, use);
  place_scaled(add(SHARED, ADD, U32, RESULT));
  place_scaled(add(SHARED, MAX, S32, NO_RESULT));
  place_scaled(add(SHARED, EXCH, B64, RESULT));
  place_scaled(add(SHARED, CAS, B32, NO_RESULT));
}
