/* See texel.h. OpenCL C 3.0 API specification, 5.3.1 (formats) and 8.3 (conversions). */
#include "runtime/context/texel.h"

#include <string.h>

#include "base/number.h"
#include "base/splitmix.h"
#include "gpu/cubin/kernel_code.h"

/* Channel orders, numbered as in kernel_image.format: the component of each channel. */
enum {
  ORDER_INTENSITY = 8,
  ORDER_LUMINANCE = 9,
  ORDER_DEPTH = 13,
  ORDER_SRGB_FIRST = 15,
  ORDER_SRGB_LAST = 18,
};
static const struct order {
  uint8_t channels, where[4];
} orders[] = {
    {1, {0}},          /* R */
    {1, {3}},          /* A */
    {2, {0, 1}},       /* RG */
    {2, {0, 3}},       /* RA */
    {3, {2, 1, 0}},    /* RGB, packed: from the lowest bits */
    {4, {0, 1, 2, 3}}, /* RGBA */
    {4, {2, 1, 0, 3}}, /* BGRA */
    {4, {3, 0, 1, 2}}, /* ARGB */
    {1, {0}},          /* INTENSITY */
    {1, {0}},          /* LUMINANCE */
    {1, {0}},          /* Rx */
    {2, {0, 1}},       /* RGx */
    {3, {2, 1, 0}},    /* RGBx, packed */
    {1, {0}},          /* DEPTH */
    {0, {0}},          /* DEPTH_STENCIL */
    {3, {0, 1, 2}},    /* sRGB */
    {3, {0, 1, 2}},    /* sRGBx */
    {4, {0, 1, 2, 3}}, /* sRGBA */
    {4, {2, 1, 0, 3}}, /* sBGRA */
    {4, {3, 2, 1, 0}}, /* ABGR */
};

enum kind { SNORM, UNORM, SIGNED, UNSIGNED, FLOAT };
/* Channel types, numbered as in kernel_image.format. */
static const struct type {
  uint8_t kind, bits[3];
} types[] = {
    {SNORM, {8}},       {SNORM, {16}},         {UNORM, {8}},     {UNORM, {16}},  {UNORM, {5, 6, 5}},
    {UNORM, {5, 5, 5}}, {UNORM, {10, 10, 10}}, {SIGNED, {8}},    {SIGNED, {16}}, {SIGNED, {32}},
    {UNSIGNED, {8}},    {UNSIGNED, {16}},      {UNSIGNED, {32}}, {FLOAT, {16}},  {FLOAT, {32}},
};

static const struct order *order_of(uint32_t format) {
  const uint8_t order = (uint8_t)(format >> KERNEL_IMAGE_ORDER);
  return &orders[order < sizeof orders / sizeof *orders ? order : 0];
}

static const struct type *type_of(uint32_t format) {
  const uint8_t type = (uint8_t)(format >> KERNEL_IMAGE_TYPE);
  return &types[type < sizeof types / sizeof *types ? type : 0];
}

static unsigned bits_of(const struct type *type, unsigned channel) {
  return type->bits[1] ? type->bits[channel] : type->bits[0];
}

/* Returns 2^exponent. */
static double power_of_two(int exponent) {
  double result = 1;
  for (; exponent > 0; exponent--)
    result *= 2;
  for (; exponent < 0; exponent++)
    result /= 2;
  return result;
}

static double widen_half(uint32_t raw) {
  const double mantissa = raw & 1023, sign = raw >> 15 ? -1 : 1;
  const int exponent = raw >> 10 & 31;
  return exponent ? sign * (1024 + mantissa) * power_of_two(exponent - 25)
                  : sign * mantissa * power_of_two(-24);
}

/* Decodes sRGB: the inverse of the standard's curve, whose exponent is 12/5, by bisection. */
static double decode_srgb(double code) {
  double low = 0, high = 2; /* the code may be half a step above 1 */
  const double t = (code + 0.055) / 1.055, t4 = t * t * t * t;
  if (code <= 0.04045)
    return code / 12.92;
  for (int i = 0; i < 40; i++) {
    const double x = (low + high) / 2;
    if (x * x * x * x * x < t4 * t4 * t4)
      low = x;
    else
      high = x;
  }
  return low;
}

static void decode_channel(struct rt_texel *t, unsigned component, const struct type *type,
                           uint32_t raw, unsigned bits, bool srgb) {
  const double relative = power_of_two(-21), all = power_of_two((int)bits) - 1;
  const double half = power_of_two((int)bits - 1);
  const double as_signed = raw >= half ? raw - all - 1 : raw;
  const double rounding = 0.6; /* of the step: OpenCL's bound */
  /* Blends are rounded to 16 bits, to halves, or to fewer bits. */
  double loss = srgb ? power_of_two(-7) : power_of_two(-15);
  double v = 0, least = 0, most = 1, step = 0;
  switch (type->kind) {
  case UNORM:
    v = raw / all;
    step = rounding / all;
    break;
  case SNORM:
    v = as_signed / (half - 1);
    v = v < -1 ? -1 : v;
    least = -1;
    step = rounding / (half - 1);
    break;
  case SIGNED:
    v = as_signed;
    least = -half;
    most = half - 1;
    break;
  case UNSIGNED:
    v = raw;
    most = all;
    break;
  default:
    v = bits == 16 ? widen_half(raw) : (double)base_float(raw);
    least = -60000;
    most = 60000;
    step = bits == 16 ? (v < 0 ? -v : v) * power_of_two(-11) : 0;
    loss = bits == 16 ? power_of_two(-11) : loss;
  }
  double accuracy = t->integer || type->kind == FLOAT ? 0 : (v < 0 ? -v : v) * relative;
  if (srgb) { /* OpenCL allows half a step of the code */
    const double below = decode_srgb(v - 0.5 / all), above = decode_srgb(v + 0.5 / all);
    v = decode_srgb(v);
    accuracy = v - below < above - v ? v - below : above - v;
  }
  t->value[component] = v;
  t->accuracy[component] = accuracy;
  t->loss[component] = loss;
  t->step[component] = step * (1 + power_of_two(-10));
  t->least[component] = least;
  t->most[component] = most;
  t->stored |= 1u << component;
}

void rt_texel_decode(uint32_t format, const uint8_t bytes[RT_TEXEL_BYTES], struct rt_texel *t) {
  const uint8_t number = (uint8_t)(format >> KERNEL_IMAGE_ORDER);
  const struct order *order = order_of(format);
  const struct type *type = type_of(format);
  uint64_t words[2];
  memcpy(words, bytes, sizeof(words));
  *t = (struct rt_texel){.integer = type->kind == SIGNED || type->kind == UNSIGNED,
                         .is_signed = type->kind == SIGNED,
                         .read = number == ORDER_DEPTH ? 1 : 15,
                         .value = {0, 0, 0, 1}};
  unsigned at = 0;
  for (unsigned i = 0; i < order->channels; i++) {
    const unsigned bits = bits_of(type, i), component = order->where[i];
    const bool srgb = number >= ORDER_SRGB_FIRST && number <= ORDER_SRGB_LAST && component < 3;
    const uint32_t raw = (uint32_t)(words[at / 64] >> at % 64) & (UINT32_MAX >> (32 - bits));
    decode_channel(t, component, type, raw, bits, srgb);
    at += bits;
  }
  for (unsigned i = 1; i < 4 && (number == ORDER_INTENSITY || number == ORDER_LUMINANCE); i++)
    if (i < 3 || number == ORDER_INTENSITY) {
      t->value[i] = t->value[0];
      t->accuracy[i] = t->accuracy[0];
      t->loss[i] = t->loss[0];
    }
}

/* Makes the second bit of the exponent the inverse of the first, so that the exponent is neither
 * the least nor the largest. */
static uint32_t keep_normal(uint32_t word, uint32_t second) {
  return (word & ~second) | (~word >> 1 & second);
}

/* Replaces the least SNORM code, which means -1 like the next one. Filters do not know that. */
static uint32_t avoid_least(uint32_t word, unsigned bits) {
  for (unsigned at = 0; at < 32; at += bits)
    if ((word >> at & (UINT32_MAX >> (32 - bits))) == 1u << (bits - 1))
      word |= 1u << at;
  return word;
}

void rt_texel_make(uint32_t format, bool tame, uint64_t *random, uint8_t bytes[RT_TEXEL_BYTES]) {
  const struct type *type = type_of(format);
  for (unsigned i = 0; i < RT_TEXEL_BYTES; i += sizeof(uint32_t)) {
    uint32_t word = splitmix_below(random, UINT32_MAX);
    if (type->kind == FLOAT && type->bits[0] == 32)
      word = tame ? (word & 0x00ffffff) + 0x3e800000 : keep_normal(word, 0x20000000);
    if (type->kind == FLOAT && type->bits[0] == 16)
      word = tame ? (word & 0x07ff07ff) + 0x34003400 : keep_normal(word, 0x20002000);
    if (type->kind == SNORM && tame)
      word = avoid_least(word, type->bits[0]);
    memcpy(bytes + i, &word, sizeof(word));
  }
}
