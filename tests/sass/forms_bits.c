/* Bits: logic and its tables, shifts, fields, counts, permutations. */
#include <stdio.h>
#include <string.h>

#include "tests/sass/forms.h"

#define EXPECT(name, expression)                                                                   \
  static uint64_t name(const struct form *f, const uint64_t *in) {                                 \
    const uint64_t a = in[0], b = in[1], c = in[2];                                                \
    (void)f, (void)a, (void)b, (void)c;                                                            \
    return (uint64_t)(expression);                                                                 \
  }

typedef unsigned __int128 u128;

/* p[0]: bits, p[1]: signed */
#define BITS ((unsigned)f->p[0])

static int64_t extend(uint64_t v, unsigned bits) {
  return bits == 0 ? 0 : (int64_t)(v << (64 - bits)) >> (64 - bits);
}

EXPECT(e_and, a &b)
EXPECT(e_or, a | b)
EXPECT(e_xor, a ^ b)
EXPECT(e_not, ~a)
EXPECT(e_cnot, a == 0)
EXPECT(e_shl, b >= BITS ? 0 : a << b)
EXPECT(e_shr, b >= BITS ? 0 : a >> b)
EXPECT(e_sar, extend(a, BITS) >> (b > 63 ? 63 : b))

static uint64_t e_lop3(const struct form *f, const uint64_t *in) {
  uint64_t out = 0;
  for (int k = 0; k < 32; k++) {
    const unsigned index = (in[0] >> k & 1) << 2 | (in[1] >> k & 1) << 1 | (in[2] >> k & 1);
    out |= (uint64_t)(f->p[0] >> index & 1) << k;
  }
  return out;
}
EXPECT(e_lop3_nonzero, e_lop3(f, in) != 0)

static unsigned count(uint64_t v) {
  unsigned n = 0;
  for (; v; v &= v - 1)
    n++;
  return n;
}
static unsigned leading(uint64_t v, unsigned bits) {
  unsigned n = 0;
  while (n < bits && !(v >> (bits - 1 - n) & 1))
    n++;
  return n;
}
EXPECT(e_popc, count(a))
EXPECT(e_clz, leading(a, BITS))
static uint64_t e_brev(const struct form *f, const uint64_t *in) {
  uint64_t out = 0;
  for (unsigned k = 0; k < BITS; k++)
    out |= (in[0] >> k & 1) << (BITS - 1 - k);
  return out;
}
/* p[2]: shift amount instead of position */
static uint64_t e_bfind(const struct form *f, const uint64_t *in) {
  uint64_t v = in[0];
  if (f->p[1] && v >> (BITS - 1))
    v = ~v;
  const unsigned n = leading(v, BITS);
  return n == BITS ? 0xffffffffu : f->p[2] ? n : BITS - 1 - n;
}
/* Returns the position of the n-th set bit, upwards or downwards from a base. */
static uint64_t e_fns(const struct form *f, const uint64_t *in) {
  const uint32_t m = (uint32_t)in[0], base = in[1] & 31;
  const int32_t n = (int32_t)extend(in[2], 4);
  if (n == 0)
    return m >> base & 1 ? base : 0xffffffffu;
  int left = n > 0 ? n : -n;
  for (int k = (int)base; k >= 0 && k<32; k += n> 0 ? 1 : -1)
    if ((m >> k & 1) && --left == 0)
      return (uint64_t)k;
  return 0xffffffffu;
}

/* As defined in the PTX manual. */
static uint64_t e_bfe(const struct form *f, const uint64_t *in) {
  const unsigned msb = BITS - 1, pos = in[1] & 0xff, len = in[2] & 0xff;
  const uint64_t a = in[0];
  uint64_t sbit;
  if (!f->p[1] || len == 0)
    sbit = 0;
  else
    sbit = a >> (pos + len - 1 < msb ? pos + len - 1 : msb) & 1;
  uint64_t d = 0;
  for (unsigned i = 0; i <= msb; i++)
    d |= (i < len && pos + i <= msb ? a >> (pos + i) & 1 : sbit) << i;
  return d;
}
/* f = a inserted into b; position and length are packed into one operand */
static uint64_t e_bfi(const struct form *f, const uint64_t *in) {
  const unsigned msb = BITS - 1, pos = in[2] & 0xff, len = in[2] >> 8 & 0xff;
  uint64_t out = in[1];
  for (unsigned i = 0; i < len && pos + i <= msb; i++)
    out = (out & ~(1ull << (pos + i))) | (in[0] >> i & 1) << (pos + i);
  return out;
}
/* p[2]: wrap */
#define COUNT_OF(v) (f->p[2] ? (unsigned)(v)&31 : (v) > 32 ? 32u : (unsigned)(v))
EXPECT(e_szext, f->p[1] ? (uint64_t)extend(a, COUNT_OF(b)) : a &((1ull << COUNT_OF(b)) - 1))
EXPECT(e_bmsk, ((1ull << COUNT_OF(b)) - 1) << COUNT_OF(a))
EXPECT(e_shf_l, (b << 32 | a) << COUNT_OF(c) >> 32)
EXPECT(e_shf_r, (u128)(b << 32 | a) >> COUNT_OF(c))
static uint64_t e_shf_l_clamp(const struct form *f, const uint64_t *in) {
  const unsigned n = COUNT_OF(in[2]);
  return n == 32 ? in[0] : e_shf_l(f, in);
}

/* p[0]: mode, in the order of the table below */
static uint64_t e_prmt(const struct form *f, const uint64_t *in) {
  uint8_t byte[8];
  memcpy(byte, in, 4);
  memcpy(byte + 4, in + 1, 4);
  uint64_t out = 0;
  const unsigned n = in[2] & 3;
  for (unsigned k = 0; k < 4; k++) {
    static const uint8_t f4e[4][4] = {{0, 1, 2, 3}, {1, 2, 3, 4}, {2, 3, 4, 5}, {3, 4, 5, 6}};
    static const uint8_t b4e[4][4] = {{0, 7, 6, 5}, {1, 0, 7, 6}, {2, 1, 0, 7}, {3, 2, 1, 0}};
    static const uint8_t ecl[4][4] = {{0, 1, 2, 3}, {1, 1, 2, 3}, {2, 2, 2, 3}, {3, 3, 3, 3}};
    static const uint8_t ecr[4][4] = {{0, 0, 0, 0}, {0, 1, 1, 1}, {0, 1, 2, 2}, {0, 1, 2, 3}};
    static const uint8_t rc16[4][4] = {{0, 1, 0, 1}, {2, 3, 2, 3}, {0, 1, 0, 1}, {2, 3, 2, 3}};
    const unsigned nibble = in[2] >> (4 * k) & 15;
    uint8_t v = 0;
    switch (f->p[0]) {
    case 0:
      v = byte[nibble & 7];
      if (nibble & 8)
        v = v & 0x80 ? 0xff : 0;
      break;
    case 1:
      v = byte[f4e[n][k]];
      break;
    case 2:
      v = byte[b4e[n][k]];
      break;
    case 3:
      v = byte[n];
      break;
    case 4:
      v = byte[ecl[n][k]];
      break;
    case 5:
      v = byte[ecr[n][k]];
      break;
    case 6:
      v = byte[rc16[n][k]];
      break;
    }
    out |= (uint64_t)v << (8 * k);
  }
  return out;
}

/* Sums of products of bytes. p[0], p[1]: signs, p[2]: high bytes of b for dp2a */
static int64_t byte_of(uint64_t v, unsigned k, int is_signed) {
  const uint64_t b = v >> (8 * k) & 0xff;
  return is_signed ? extend(b, 8) : (int64_t)b;
}
static uint64_t e_dp4a(const struct form *f, const uint64_t *in) {
  int64_t sum = (int64_t)in[2];
  for (unsigned k = 0; k < 4; k++)
    sum += byte_of(in[0], k, f->p[0]) * byte_of(in[1], k, f->p[1]);
  return (uint64_t)sum;
}
static uint64_t e_dp2a(const struct form *f, const uint64_t *in) {
  int64_t sum = (int64_t)in[2];
  for (unsigned k = 0; k < 2; k++) {
    const uint64_t h = in[0] >> (16 * k) & 0xffff;
    sum += (f->p[0] ? extend(h, 16) : (int64_t)h) * byte_of(in[1], k + (f->p[2] ? 2 : 0), f->p[1]);
  }
  return (uint64_t)sum;
}

static struct form *with(struct form *f, uint64_t (*expect)(const struct form *, const uint64_t *),
                         int p0, int p1, int p2) {
  f->expect = expect;
  f->p[0] = p0, f->p[1] = p1, f->p[2] = p2;
  return f;
}

static void forms_dot(void) {
  for (int sa = 0; sa < 2; sa++)
    for (int sb = 0; sb < 2; sb++) {
      const char *a = sa ? "s32" : "u32", *b = sb ? "s32" : "u32";
      with(form_add("iii", 'i', "dp4a.%s.%s %%0, %%1, %%2, %%3;", a, b), e_dp4a, sa, sb, 0);
      with(form_add("iii", 'i', "dp2a.lo.%s.%s %%0, %%1, %%2, %%3;", a, b), e_dp2a, sa, sb, 0);
      with(form_add("iii", 'i', "dp2a.hi.%s.%s %%0, %%1, %%2, %%3;", a, b), e_dp2a, sa, sb, 1);
    }
}

void forms_bits(void) {
  for (unsigned bits = 16; bits <= 64; bits *= 2) {
    const char k = bits == 16 ? 's' : bits == 32 ? 'i' : 'l';
    const char one[] = {k, 0}, two[] = {k, k, 0}, shift[] = {k, 'c', 0};
    with(form_add(two, k, "and.b%u %%0, %%1, %%2;", bits), e_and, 0, 0, 0);
    with(form_add(two, k, "or.b%u %%0, %%1, %%2;", bits), e_or, 0, 0, 0);
    with(form_add(two, k, "xor.b%u %%0, %%1, %%2;", bits), e_xor, 0, 0, 0);
    with(form_add(one, k, "not.b%u %%0, %%1;", bits), e_not, 0, 0, 0);
    with(form_add(one, k, "cnot.b%u %%0, %%1;", bits), e_cnot, 0, 0, 0);
    with(form_add(shift, k, "shl.b%u %%0, %%1, %%2;", bits), e_shl, (int)bits, 0, 0);
    with(form_add(shift, k, "shr.u%u %%0, %%1, %%2;", bits), e_shr, (int)bits, 0, 0);
    with(form_add(shift, k, "shr.b%u %%0, %%1, %%2;", bits), e_shr, (int)bits, 0, 0);
    with(form_add(shift, k, "shr.s%u %%0, %%1, %%2;", bits), e_sar, (int)bits, 0, 0);
    if (bits == 16)
      continue;
    with(form_add(one, 'i', "popc.b%u %%0, %%1;", bits), e_popc, (int)bits, 0, 0);
    with(form_add(one, 'i', "clz.b%u %%0, %%1;", bits), e_clz, (int)bits, 0, 0);
    with(form_add(one, k, "brev.b%u %%0, %%1;", bits), e_brev, (int)bits, 0, 0);
    for (int s = 0; s < 2; s++) {
      const char sign = s ? 's' : 'u';
      const char field[] = {k, 'c', 'c', 0};
      with(form_add(one, 'i', "bfind.%c%u %%0, %%1;", sign, bits), e_bfind, (int)bits, s, 0);
      with(form_add(one, 'i', "bfind.shiftamt.%c%u %%0, %%1;", sign, bits), e_bfind, (int)bits, s,
           1);
      /* The code of ptxas for 64 bits uses all bits of position and length. */
      with(form_add(field, k,
                    ".reg .b32 p, n; and.b32 p, %%2, 255; and.b32 n, %%3, 255; bfe.%c%u %%0, %%1, "
                    "p, n;",
                    sign, bits),
           e_bfe, (int)bits, s, 0);
      if (bits == 32)
        with(form_add(field, k, "bfe.%c%u %%0, %%1, %%2, %%3;", sign, bits), e_bfe, (int)bits, s,
             0);
    }
    const char insert[] = {k, k, 'i', 0};
    with(form_add(
             insert, k,
             ".reg .b32 p, n; and.b32 p, %%3, 255; bfe.u32 n, %%3, 8, 8; bfi.b%u %%0, %%1, %%2, p, "
             "n;",
             bits),
         e_bfi, (int)bits, 0, 0);
  }
  with(form_add("iii", 'i',
                ".reg .s32 n; .reg .b32 b; bfe.s32 n, %%3, 0, 4; and.b32 b, %%2, 31; fns.b32 %%0, "
                "%%1, b, n;"),
       e_fns, 0, 0, 0);
  for (int wrap = 0; wrap < 2; wrap++) {
    const char *mode = wrap ? "wrap" : "clamp";
    /* ptxas 13.0 encodes a wrong bank (0x1c) in SGXT with a constant. */
    with(form_add("ic", 'i', "szext.%s.s32 %%0, %%1, %%2;", mode), e_szext, 32, 1, wrap)
        ->vector_only = true;
    with(form_add("ic", 'i', "szext.%s.u32 %%0, %%1, %%2;", mode), e_szext, 32, 0, wrap)
        ->vector_only = true;
    with(form_add("cc", 'i', "bmsk.%s.b32 %%0, %%1, %%2;", mode), e_bmsk, 32, 0, wrap);
    with(form_add("iic", 'i', "shf.l.%s.b32 %%0, %%1, %%2, %%3;", mode), e_shf_l_clamp, 32, 0,
         wrap);
    with(form_add("iic", 'i', "shf.r.%s.b32 %%0, %%1, %%2, %%3;", mode), e_shf_r, 32, 0, wrap);
  }
  for (int table = 0; table < 256; table++)
    with(form_add("iii", 'i', "lop3.b32 %%0, %%1, %%2, %%3, %d;", table), e_lop3, table, 0, 0)
        ->vector_only = table % 16 != 6;
  for (int table = 0; table < 256; table += 37)
    with(form_add("iii", 'i',
                  ".reg .b32 t; .reg .pred p, q; setp.ne.u32 q, 0, 0; lop3.or.b32 t|p, %%1, %%2, "
                  "%%3, %d, q; selp.u32 %%0, 1, 0, p;",
                  table),
         e_lop3_nonzero, table, 0, 0);
  static const char *const modes[] = {"", ".f4e", ".b4e", ".rc8", ".ecl", ".ecr", ".rc16"};
  for (int k = 0; k < 7; k++)
    with(form_add("iii", 'i', "prmt.b32%s %%0, %%1, %%2, %%3;", modes[k]), e_prmt, k, 0, 0);
  forms_dot();
}
