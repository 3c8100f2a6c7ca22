/* See tensor_model.h. Floats are summed as sem_mma.h describes, but with 64-bit integers and the
 * rounding of exact.h. */
#include "tests/sass/tensor_model.h"

#include <fenv.h>
#include <stdlib.h>

#include "tests/sass/exact.h"

static const struct {
  const char *name;
  unsigned bits;
} elements[] = {
    [F16] = {"f16", 16}, [BF16] = {"bf16", 16}, [TF32] = {"tf32", 32}, [F64] = {"f64", 64},
    [U8] = {"u8", 8},    [S8] = {"s8", 8},      [U4] = {"u4", 4},      [S4] = {"s4", 4},
    [B1] = {"b1", 1},    [F32] = {"f32", 32},   [S32] = {"s32", 32}};

unsigned element_bits(enum element type) {
  return elements[type].bits;
}
const char *element_name(enum element type) {
  return elements[type].name;
}

/* --- floats: (-1)^negative * sig * 2^lsb, and the exponent used for alignment -- */

struct number {
  bool negative, nan, infinite;
  uint64_t sig;
  int lsb, exponent;
};

static struct number number_of(uint64_t bits, enum element type) {
  const unsigned mantissa = type == F16 ? 10 : type == BF16 ? 7 : 23, width = element_bits(type);
  const unsigned exponent_bits = width - 1 - mantissa;
  const int bias = (1 << (exponent_bits - 1)) - 1, top = (1 << exponent_bits) - 1;
  if (type == TF32)
    bits &= ~0x1fffull;
  const int field = (int)(bits >> mantissa & (uint64_t)top);
  struct number n = {.negative = bits >> (width - 1) & 1, .sig = bits & ((1ull << mantissa) - 1)};
  n.nan = field == top && n.sig;
  n.infinite = field == top && !n.sig;
  if (field)
    n.sig |= 1ull << mantissa;
  n.exponent = (field ? field : 1) - bias;
  n.lsb = n.exponent - (int)mantissa;
  return n;
}

static struct number product(struct number a, struct number b) {
  const bool invalid =
      (a.infinite && !b.infinite && !b.sig) || (b.infinite && !a.infinite && !a.sig);
  return (struct number){.negative = a.negative != b.negative,
                         .nan = a.nan || b.nan || invalid,
                         .infinite = a.infinite || b.infinite,
                         .sig = a.sig * b.sig,
                         .lsb = a.lsb + b.lsb,
                         .exponent = a.exponent + b.exponent};
}

static uint64_t special(const struct number *term, unsigned count, bool f16) {
  bool nan = false, plus = false, minus = false;
  for (unsigned k = 0; k < count; k++) {
    nan |= term[k].nan;
    plus |= term[k].infinite && !term[k].negative;
    minus |= term[k].infinite && term[k].negative;
  }
  if (nan || (plus && minus))
    return f16 ? 0x7fff : 0x7fffffff;
  return f16 ? (minus ? 0xfc00 : 0x7c00) : minus ? 0xff800000 : 0x7f800000;
}

static uint64_t sum_of(const struct number *term, unsigned count, bool f16) {
  enum { FRACTION = 24, LEAST = -126, LIMIT = 128 };
  int top = LEAST;
  int64_t sum = 0;
  for (unsigned k = 0; k < count; k++) {
    if (term[k].nan || term[k].infinite)
      return special(term, count, f16);
    if (term[k].sig && term[k].exponent > top)
      top = term[k].exponent;
  }
  for (unsigned k = 0; k < count; k++) {
    if (!term[k].sig)
      continue;
    const int down = top - FRACTION - term[k].lsb;
    const uint64_t part = down > 63 ? 0 : down >= 0 ? term[k].sig >> down : term[k].sig << -down;
    sum += term[k].negative ? -(int64_t)part : (int64_t)part;
  }
  struct exact value = {.v = (quad)sum};
  for (int k = top - FRACTION; k > 0; k--)
    value.v *= 2;
  for (int k = top - FRACTION; k < 0; k++)
    value.v /= 2;
  if (f16)
    return exact_round(value, &FORMAT_F16, FE_TONEAREST);
  quad limit = 1;
  for (int k = 0; k < LIMIT; k++)
    limit *= 2;
  if (value.v >= limit || value.v <= -limit)
    return value.v < 0 ? 0xff800000 : 0x7f800000;
  return exact_round(value, &FORMAT_F32, FE_TOWARDZERO);
}

static uint64_t float_dot(const struct dot *d) {
  const unsigned together = d->a_type == TF32 ? 4 : 8;
  uint64_t c = d->c;
  for (unsigned k = 0; k < d->count; k += together) {
    struct number term[9];
    unsigned count = 0;
    for (; count < together && k + count < d->count; count++)
      term[count] =
          product(number_of(d->a[k + count], d->a_type), number_of(d->b[k + count], d->b_type));
    term[count++] = number_of(c, d->c_type);
    c = sum_of(term, count, d->c_type == F16);
  }
  return c;
}

/* --- the others -------------------------------------------------------------------------- */

static int64_t integer_of(uint64_t bits, enum element type) {
  const unsigned width = element_bits(type);
  const bool is_signed = type == S8 || type == S4;
  return is_signed && bits >> (width - 1) & 1 ? (int64_t)bits - (1ll << width) : (int64_t)bits;
}

uint64_t dot_product(const struct dot *d) {
  if (d->a_type == F64) {
    uint64_t c = d->c;
    for (unsigned k = 0; k < d->count; k++)
      c = exact_fma(d->a[k], d->b[k], c, &FORMAT_F64, &FORMAT_F64, d->round);
    return c;
  }
  if (d->a_type <= TF32)
    return float_dot(d);
  int64_t sum = (int32_t)d->c;
  for (unsigned k = 0; k < d->count; k++)
    sum += d->a_type != B1 ? integer_of(d->a[k], d->a_type) * integer_of(d->b[k], d->b_type)
           : d->and        ? (int64_t)(d->a[k] & d->b[k])
                           : (int64_t)(d->a[k] ^ d->b[k]);
  if (d->saturate)
    sum = sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
  return (uint32_t)sum;
}
