/* Integer functions (OpenCL C 3.0, 6.15.3, and cl_khr_extended_bit_ops); max, min and clamp are in
 * common.c. The references use wider arithmetic, so all results are exact.
 */
#include "tests/builtins/builtins.h"

static unsigned bits_of(const struct call *c) {
  return types[c->type].bits;
}
static uwide mask_of(const struct call *c) {
  return ((uwide)1 << bits_of(c)) - 1;
}
static wide distance(wide a, wide b) {
  return a > b ? a - b : b - a;
}
static wide high_part(const struct call *c, wide a, wide b) {
  return types[c->type].is_signed ? (a * b) >> bits_of(c)
                                  : (wide)((uwide)a * (uwide)b >> bits_of(c));
}
static wide mad_saturated(const struct call *c, wide a, wide b, wide d) {
  uwide sum = (uwide)a * (uwide)b + (uwide)d;
  if (types[c->type].is_signed)
    return clip(c->type, a * b + d);
  return sum > (uwide)most_of(c->type) ? most_of(c->type) : (wide)sum;
}
static wide bits_reversed(const struct call *c, wide a) {
  uwide r = 0;
  for (unsigned n = 0; n < bits_of(c); n++)
    r |= ((uwide)a >> n & 1) << (bits_of(c) - 1 - n);
  return wrap(c->type, (wide)r);
}
static wide rotated(const struct call *c, wide a, wide count) {
  uwide x = (uwide)a & mask_of(c);
  unsigned n = (unsigned)count & (bits_of(c) - 1);
  return wrap(c->type, (wide)(x << n | x >> (bits_of(c) - n)));
}
/* Returns the number of zeros above or below the ones, or the width for 0. */
static wide zeros_above(const struct call *c, wide a) {
  unsigned n = 0;
  while (n < bits_of(c) && !((uwide)a >> (bits_of(c) - 1 - n) & 1))
    n++;
  return n;
}
static wide zeros_below(const struct call *c, wide a) {
  unsigned n = 0;
  while (n < bits_of(c) && !((uwide)a >> n & 1))
    n++;
  return n;
}
/* Returns the bits [offset, offset + count) as a number. */
static wide field(const struct call *c, wide a, wide offset, wide count, bool is_signed) {
  uwide part = (uwide)(a >> offset) & (((uwide)1 << count) - 1);
  (void)c;
  return is_signed && count && part >> (count - 1) & 1 ? (wide)(part - ((uwide)1 << count))
                                                       : (wide)part;
}

#define INTEGER(name, expression) REFERENCE(name, out->value.n = (expression))
INTEGER(abs, distance(i, 0))
INTEGER(abs_diff, distance(i, j))
INTEGER(add_sat, clip(c->type, i + j))
INTEGER(sub_sat, clip(c->type, i - j))
INTEGER(hadd, (i + j) >> 1)
INTEGER(rhadd, (i + j + 1) >> 1)
INTEGER(mul_hi, high_part(c, i, j))
INTEGER(mad_hi, wrap(c->type, high_part(c, i, j) + k))
INTEGER(mad_sat, mad_saturated(c, i, j, k))
INTEGER(clz, zeros_above(c, i))
INTEGER(ctz, zeros_below(c, i))
INTEGER(popcount, __builtin_popcountll((uint64_t)((uwide)i &mask_of(c))))
INTEGER(rotate, rotated(c, i, j))
INTEGER(upsample, (wide)((uwide)i << bits_of(c) | ((uwide)j & mask_of(c))))
INTEGER(mul24, wrap(c->type, i *j))
INTEGER(mad24, wrap(c->type, i *j + k))
INTEGER(bit_reverse, bits_reversed(c, i))
/* Fields that extend beyond the word are undefined. */
REFERENCE(bitfield_extract_signed, out->free = j + k > bits_of(c);
          out->value.n = out->free ? 0 : field(c, i, j, k, true))
REFERENCE(bitfield_extract_unsigned, out->free = j + k > bits_of(c);
          out->value.n = out->free ? 0 : field(c, i, j, k, false))
REFERENCE(
    bitfield_insert, wide count = c->in[3][e].n; out->free = k + count > bits_of(c);
    if (!out->free) {
      uwide mask = (((uwide)1 << count) - 1) << k;
      out->value.n = wrap(c->type, (wide)(((uwide)i & ~mask) | ((uwide)j << k & mask)));
    })

#define ROW(name, forms, kinds, flags)                                                             \
  { #name, forms, kinds, ref_##name, {0 }, {0 }, flags, 0, NULL }
static const struct builtin integer_rows[] = {
    ROW(abs, "ug", INTEGERS, 0),
    ROW(abs_diff, "ugg", INTEGERS, 0),
    ROW(add_sat, "ggg", INTEGERS, 0),
    ROW(sub_sat, "ggg", INTEGERS, 0),
    ROW(hadd, "ggg", INTEGERS, 0),
    ROW(rhadd, "ggg", INTEGERS, 0),
    ROW(mul_hi, "ggg", INTEGERS, 0),
    ROW(mad_hi, "gggg", INTEGERS, 0),
    ROW(mad_sat, "gggg", INTEGERS, 0),
    ROW(clz, "gg", INTEGERS, 0),
    ROW(ctz, "gg", INTEGERS, 0),
    ROW(popcount, "gg", INTEGERS, 0),
    ROW(rotate, "ggg", INTEGERS, 0),
    ROW(upsample, "dgu", INTEGERS & ~(1 << LONG | 1 << ULONG), 0),
    ROW(mul24, "gqq", 1 << INT | 1 << UINT, 0),
    ROW(mad24, "gqqg", 1 << INT | 1 << UINT, 0),
    ROW(bit_reverse, "gg", INTEGERS, 0),
    ROW(bitfield_extract_signed, "kgxx", INTEGERS, 0),
    ROW(bitfield_extract_unsigned, "ugxx", INTEGERS, 0),
    ROW(bitfield_insert, "gggxx", INTEGERS, 0),
};
const struct builtin_list integer_functions = {"Integer functions", integer_rows,
                                               sizeof integer_rows / sizeof integer_rows[0]};
