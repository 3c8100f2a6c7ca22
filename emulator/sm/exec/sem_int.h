/* Integer semantics of SM 8.7 for one lane, without branches so that loops over lanes vectorise.
 * Rules: docs/hardware/sass.md, section 4.1. */
#ifndef TEGRACL_SM_SEM_INT_H
#define TEGRACL_SM_SEM_INT_H

#include <stdbool.h>
#include <stdint.h>

/* Bits of a comparison code: 0 less, 1 equal, 2 greater, 3 unordered. */
#define SEM_CMP_LESS      1u
#define SEM_CMP_EQUAL     2u
#define SEM_CMP_GREATER   4u
#define SEM_CMP_UNORDERED 8u

enum sem_bop { SEM_BOP_AND, SEM_BOP_OR, SEM_BOP_XOR };

static inline uint32_t sem_bop(enum sem_bop bop, uint32_t a, uint32_t b) {
  return bop == SEM_BOP_AND ? a & b : bop == SEM_BOP_OR ? a | b : a ^ b;
}

/* Returns a + b + c + carry_in (0 to 5). Each word is inverted first if its x mask is all ones.
 * *carry is the carry out, 0 to 2. */
static inline uint32_t sem_add3(uint32_t a, uint32_t b, uint32_t c, uint32_t xa, uint32_t xb,
                                uint32_t xc, uint32_t carry_in, uint32_t *carry) {
  a ^= xa, b ^= xb, c ^= xc;
  uint32_t s = a + b, t = s + c, u = t + carry_in;
  *carry = (uint32_t)(s < a) + (uint32_t)(t < s) + (uint32_t)(u < t);
  return u;
}

/* Returns the high word of {hi:lo} << sh, with sh in 0..31. */
static inline uint32_t sem_shl_high(uint32_t lo, uint32_t hi, uint32_t sh) {
  return (uint32_t)((((uint64_t)hi << 32 | lo) << sh) >> 32);
}

static inline uint64_t sem_pair(uint32_t lo, uint32_t hi) {
  return (uint64_t)hi << 32 | lo;
}

static inline uint32_t sem_shift_count(uint32_t count, uint32_t width, bool wrap) {
  return wrap ? count & (width - 1) : count < width ? count : width;
}

/* SHF on the pair hi:lo; width is 32 or 64. */
static inline uint32_t sem_shf(uint32_t lo, uint32_t count, uint32_t hi, bool right, bool wrap,
                               bool is_signed, uint32_t width, bool high) {
  uint64_t v = sem_pair(lo, hi);
  uint32_t n = sem_shift_count(count, width, wrap);
  uint32_t n63 = n & 63;
  uint64_t out = 0;
  if (!right)
    out = n > 63 ? 0 : v << n63;
  else if (is_signed)
    out = (uint64_t)((int64_t)v >> (n > 63 ? 63 : n63));
  else
    out = n > 63 ? 0 : v >> n63;
  return high ? (uint32_t)(out >> 32) : (uint32_t)out;
}

/* The truth table of LOP3. Bit 2k of it fills the word base[k], bit 2k + 1 fills base[k] ^
 * flip[k]. */
struct sem_lut {
  uint32_t base[4], flip[4];
};

static inline struct sem_lut sem_lut(uint32_t table) {
  struct sem_lut lut;
  for (unsigned ab = 0; ab < 4; ab++) {
    uint32_t c0 = 0u - (table >> (2 * ab) & 1), c1 = 0u - (table >> (2 * ab + 1) & 1);
    lut.base[ab] = c0;
    lut.flip[ab] = c0 ^ c1;
  }
  return lut;
}

static inline uint32_t sem_lop3(uint32_t a, uint32_t b, uint32_t c, struct sem_lut lut) {
  uint32_t t0 = lut.base[0] ^ (lut.flip[0] & c), t1 = lut.base[1] ^ (lut.flip[1] & c);
  uint32_t t2 = lut.base[2] ^ (lut.flip[2] & c), t3 = lut.base[3] ^ (lut.flip[3] & c);
  uint32_t u0 = t0 ^ ((t0 ^ t1) & b), u1 = t2 ^ ((t2 ^ t3) & b);
  return u0 ^ ((u0 ^ u1) & a);
}

static inline uint32_t sem_popc(uint32_t a) {
  a -= a >> 1 & 0x55555555u;
  a = (a & 0x33333333u) + (a >> 2 & 0x33333333u);
  a = (a + (a >> 4)) & 0x0f0f0f0fu;
  return a * 0x01010101u >> 24;
}

static inline uint32_t sem_brev(uint32_t a) {
  a = (a >> 1 & 0x55555555u) | (a & 0x55555555u) << 1;
  a = (a >> 2 & 0x33333333u) | (a & 0x33333333u) << 2;
  a = (a >> 4 & 0x0f0f0f0fu) | (a & 0x0f0f0f0fu) << 4;
  return __builtin_bswap32(a);
}

/* FLO: the index of the highest set bit, or of the highest zero bit of a negative signed value.
 * With sh it is counted from the left. All ones if there is no such bit. */
static inline uint32_t sem_flo(uint32_t a, bool is_signed, bool sh) {
  if (is_signed)
    a ^= (uint32_t)((int32_t)a >> 31);
  if (!a)
    return ~0u;
  uint32_t lead = (uint32_t)__builtin_clz(a);
  return sh ? lead : 31 - lead;
}

static inline uint32_t sem_sgxt(uint32_t a, uint32_t b, bool wrap, bool is_signed) {
  uint32_t n = sem_shift_count(b, 32, wrap);
  if (n == 0)
    return 0;
  uint32_t up = a << (32 - n);
  return is_signed ? (uint32_t)((int32_t)up >> (32 - n)) : up >> (32 - n);
}

static inline uint32_t sem_bmsk(uint32_t position, uint32_t size, bool wrap) {
  uint32_t p = sem_shift_count(position, 32, wrap), n = sem_shift_count(size, 32, wrap);
  return (uint32_t)((((uint64_t)1 << n) - 1) << p);
}

enum sem_prmt {
  SEM_PRMT_INDEX,
  SEM_PRMT_F4E,
  SEM_PRMT_B4E,
  SEM_PRMT_RC8,
  SEM_PRMT_ECL,
  SEM_PRMT_ECR,
  SEM_PRMT_RC16
};

/* Returns the four nibbles by which PRMT selects bytes, for a mode and a selector operand. */
static inline uint32_t sem_prmt_selector(uint32_t sel, enum sem_prmt mode) {
  if (mode == SEM_PRMT_INDEX)
    return sel & 0xffff;
  uint32_t n = sel & 3, out = 0;
  for (uint32_t k = 0; k < 4; k++) {
    uint32_t byte = 0;
    switch (mode) {
    case SEM_PRMT_F4E:
      byte = n + k;
      break;
    case SEM_PRMT_B4E:
      byte = (n - k) & 7;
      break;
    case SEM_PRMT_RC8:
      byte = n;
      break;
    case SEM_PRMT_ECL:
      byte = k > n ? k : n;
      break;
    case SEM_PRMT_ECR:
      byte = k < n ? k : n;
      break;
    case SEM_PRMT_RC16:
      byte = (n & 1) * 2 + (k & 1);
      break;
    case SEM_PRMT_INDEX:
      break;
    }
    out |= byte << (4 * k);
  }
  return out;
}

static inline uint32_t sem_prmt(uint32_t a, uint32_t c, uint32_t nibbles) {
  uint32_t out = 0;
  for (uint32_t k = 0; k < 4; k++) {
    uint32_t sel = nibbles >> (4 * k);
    uint32_t word = sel & 4 ? c : a;
    uint32_t byte = word >> (8 * (sel & 3)) & 0xff;
    uint32_t sign = byte & 0x80 ? 0xff : 0;
    out |= (sel & 8 ? sign : byte) << (8 * k);
  }
  return out;
}

static inline uint32_t sem_byte(uint32_t a, unsigned k, bool is_signed) {
  uint32_t up = a << (24 - 8 * k);
  return is_signed ? (uint32_t)((int32_t)up >> 24) : up >> 24;
}

static inline uint32_t sem_half_word(uint32_t a, unsigned k, bool is_signed) {
  uint32_t up = a << (16 - 16 * k);
  return is_signed ? (uint32_t)((int32_t)up >> 16) : up >> 16;
}

static inline uint32_t sem_dp4a(uint32_t a, uint32_t b, uint32_t c, bool sa, bool sb) {
  for (unsigned k = 0; k < 4; k++)
    c += sem_byte(a, k, sa) * sem_byte(b, k, sb);
  return c;
}

static inline uint32_t sem_dp2a(uint32_t a, uint32_t b, uint32_t c, bool sa, bool sb, bool high) {
  for (unsigned k = 0; k < 2; k++)
    c += sem_half_word(a, k, sa) * sem_byte(b, k + (high ? 2 : 0), sb);
  return c;
}

static inline uint32_t sem_absdiff(uint32_t a, uint32_t b, bool is_signed) {
  bool less = is_signed ? (int32_t)a < (int32_t)b : a < b;
  return less ? b - a : a - b;
}

static inline uint32_t sem_absdiff4(uint32_t a, uint32_t b, uint32_t c, bool is_signed, bool sum) {
  uint32_t bytes = 0;
  for (unsigned k = 0; k < 4; k++) {
    uint32_t d = sem_absdiff(sem_byte(a, k, is_signed), sem_byte(b, k, is_signed), true);
    bytes |= (d & 0xff) << (8 * k);
    c += sum ? d : 0;
  }
  return sum ? c : bytes;
}

/* Clamps a signed word to the range of a field of the given width. */
static inline uint32_t sem_clamp(uint32_t a, unsigned bits, bool is_signed) {
  int32_t low = is_signed ? -(int32_t)(1u << (bits - 1)) : 0;
  int32_t high = (int32_t)((1u << (bits - (is_signed ? 1 : 0))) - 1);
  int32_t v = (int32_t)a;
  return (uint32_t)(v < low ? low : v > high ? high : v);
}

/* I2IP: clamps two words to fields and inserts them below c, which is shifted left by their
 * width. */
static inline uint32_t sem_i2ip(uint32_t a, uint32_t b, uint32_t c, unsigned bits, bool is_signed) {
  uint32_t field = (1u << bits) - 1;
  uint32_t low = sem_clamp(b, bits, is_signed) & field;
  uint32_t high = sem_clamp(a, bits, is_signed) & field;
  uint32_t rest = bits < 16 ? c << (2 * bits) : 0;
  return low | high << bits | rest;
}

/* Returns the 64-bit value a * b + c + carry_in; *carry is the carry out of the addition. */
static inline uint64_t sem_mad_wide(uint32_t a, uint32_t b, uint64_t c, bool is_signed,
                                    uint32_t carry_in, uint32_t *carry) {
  uint64_t product = is_signed ? (uint64_t)((int64_t)(int32_t)a * (int32_t)b) : (uint64_t)a * b;
  uint64_t s = product + c, t = s + carry_in;
  *carry = (uint32_t)(s < product) + (uint32_t)(t < s);
  return t;
}

#endif
