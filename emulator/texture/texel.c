/* Converts texels from and to their memory formats (docs/hardware/textures.md 3 and 6.2). */
#include <math.h>
#include <string.h>

#include "base/number.h"
#include "emulator/texture/filter.h"
#include "emulator/texture/texture.h"
#include "gpu/hw/texture.h"

/* Converts a float of 10, 11 or 16 bits to 32 bits. The source has five bits of exponent, and a
 * sign only if it has 16 bits. A NaN keeps its payload. */
uint32_t emu_widen_float(uint32_t raw, unsigned bits) {
  enum { BIAS = 127 - 15, EXPONENT = 31, FLOAT_MANTISSA = 23, FLOAT_INFINITY = 0x7f800000 };
  const unsigned mantissa_bits = bits == 16 ? 10 : bits - 5;
  const uint32_t sign = bits == 16 ? raw >> 15 << 31 : 0;
  const uint32_t mantissa = raw & ((1u << mantissa_bits) - 1);
  const uint32_t exponent = raw >> mantissa_bits & EXPONENT;
  if (exponent == EXPONENT)
    return sign | FLOAT_INFINITY | mantissa << (FLOAT_MANTISSA - mantissa_bits);
  if (!exponent) /* zero or a subnormal, which is a normal number in 32 bits */
    return sign | base_float_bits(ldexpf((float)mantissa, -14 - (int)mantissa_bits));
  return sign | (exponent + BIAS) << FLOAT_MANTISSA | mantissa << (FLOAT_MANTISSA - mantissa_bits);
}

/* Converts a float to 10, 11 or 16 bits: truncates it. A NaN keeps the upper bits of its payload,
 * even if they are 0. Negative values become 0 in formats without a sign (10 and 11 bits). */
static uint32_t narrow_float(uint32_t value, unsigned bits) {
  enum { FLOAT_MANTISSA = 23, FLOAT_SPECIAL = 255, SPECIAL = 31, BIAS = 127 - 15 };
  const unsigned mantissa_bits = bits == 16 ? 10 : bits - 5;
  const uint32_t sign = bits == 16 ? value >> 31 << 15 : 0;
  const uint32_t mantissa = value & ((1u << FLOAT_MANTISSA) - 1);
  const int exponent = (int)(value >> FLOAT_MANTISSA & FLOAT_SPECIAL);
  const unsigned drop = FLOAT_MANTISSA - mantissa_bits;
  if (bits != 16 && value >> 31 && !(exponent == FLOAT_SPECIAL && mantissa))
    return 0;
  if (exponent == FLOAT_SPECIAL)
    return sign | SPECIAL << mantissa_bits | mantissa >> drop;
  if (exponent - BIAS >= SPECIAL)
    return sign | ((SPECIAL << mantissa_bits) - 1);
  if (exponent > BIAS)
    return sign | (uint32_t)(exponent - BIAS) << mantissa_bits | mantissa >> drop;
  const unsigned more = drop + 1 + (unsigned)(BIAS - exponent);
  return sign | (more > FLOAT_MANTISSA ? 0 : (mantissa | 1u << FLOAT_MANTISSA) >> more);
}

static int32_t sign_extend(uint32_t raw, unsigned bits) {
  return (int32_t)(raw << (32 - bits)) >> (32 - bits);
}

static uint32_t max_of_bits(unsigned bits) {
  return UINT32_MAX >> (32 - bits);
}

static uint32_t convert_component(uint32_t raw, unsigned bits, unsigned type, bool srgb) {
  float v;
  switch (type) {
  case TIC_R_DATA_TYPE_NUM_UNORM:
    v = srgb ? (float)emu_decode_srgb(raw) / 65536 : (float)raw / (float)max_of_bits(bits);
    return base_float_bits(v);
  case TIC_R_DATA_TYPE_NUM_SNORM:
    return base_float_bits(fmaxf((float)sign_extend(raw, bits) / (float)max_of_bits(bits - 1), -1));
  case TIC_R_DATA_TYPE_NUM_SINT:
    return (uint32_t)sign_extend(raw, bits);
  case TIC_R_DATA_TYPE_NUM_FLOAT:
    return bits < 32 ? emu_widen_float(raw, bits) : raw;
  default:
    return raw;
  }
}

void emu_texel_extract(const struct emu_texel_format *format, const uint8_t *texel,
                       uint32_t raw[4]) {
  uint64_t words[2] = {0};
  memcpy(words, texel, format->bytes);
  unsigned at = 0;
  for (unsigned i = 0; i < 4 && format->bits[i]; at += format->bits[i++])
    raw[i] = (uint32_t)(words[at / 64] >> at % 64) & max_of_bits(format->bits[i]);
}

/* The texture units do not decode G of formats with two components. */
bool emu_texel_is_srgb(const struct emu_texel_format *format, unsigned component) {
  return format->srgb && (component == 0 || (component < 3 && format->bits[2]));
}

uint32_t emu_texel_convert(const struct emu_texel_format *format, unsigned component,
                           uint32_t raw) {
  const unsigned bits = format->bits[component], type = format->type[component];
  const bool is_integer = type == TIC_R_DATA_TYPE_NUM_SINT || type == TIC_R_DATA_TYPE_NUM_UINT;
  const bool srgb = emu_texel_is_srgb(format, component);
  if (format->is_gathered && !is_integer && !srgb) {
    const struct emu_corners single = {.count = 1, .weight = {EMU_WEIGHTS}, .is_blended = {true}};
    return emu_blend(&single, &raw, bits, type);
  }
  return convert_component(raw, bits, type, srgb);
}

void emu_texel_unpack(const struct emu_texel_format *format, const uint8_t *texel,
                      uint32_t result[4]) {
  uint32_t component[4] = {0};
  emu_texel_extract(format, texel, component);
  for (unsigned i = 0; i < 4 && format->bits[i]; i++)
    component[i] = format->is_gathered
                       ? emu_texel_convert(format, i, component[i])
                       : convert_component(component[i], format->bits[i], format->type[i],
                                           emu_texel_is_srgb(format, i));
  for (unsigned i = 0; i < 4; i++)
    switch (format->source[i]) {
    case TIC_X_SOURCE_IN_ZERO:
      result[i] = 0;
      break;
    case TIC_X_SOURCE_IN_ONE_INT:
      result[i] = 1;
      break;
    case TIC_X_SOURCE_IN_ONE_FLOAT:
      result[i] = base_float_bits(1);
      break;
    default:
      result[i] = component[format->source[i] - TIC_X_SOURCE_IN_R];
    }
}

/* Multiplies a float from 0 to 1 by 2^bits - 1, with four bits of fraction, and rounds it to
 * nearest, ties downwards. Larger ones count as 1, smaller ones and NaNs as 0. */
static uint32_t scale_component(uint32_t value, unsigned bits) {
  enum { FRACTION = 4 };
  const float v = base_float(value);
  const float clamped = v > 0 ? fminf(v, 1) : 0;
  const uint32_t scaled = (uint32_t)(clamped * (float)(1u << (bits + FRACTION)));
  const uint32_t half = emu_texture_has(EMU_TEXTURE_STORE) ? 0 : (1 << (FRACTION - 1)) - 1;
  return (scaled - (scaled >> bits) + half) >> FRACTION;
}

static uint32_t pack_component(uint32_t raw, unsigned bits, unsigned type) {
  enum { SIGN = 1u << 31 };
  const int32_t most = (int32_t)(max_of_bits(bits) >> 1), v = (int32_t)raw;
  switch (type) {
  case TIC_R_DATA_TYPE_NUM_UNORM:
    return scale_component(raw, bits);
  case TIC_R_DATA_TYPE_NUM_SNORM:
    raw = scale_component(raw & ~(uint32_t)SIGN, bits - 1);
    return v < 0 ? 0 - raw : raw;
  case TIC_R_DATA_TYPE_NUM_FLOAT:
    return bits < 32 ? narrow_float(raw, bits) : raw;
  case TIC_R_DATA_TYPE_NUM_UINT:
    return raw < max_of_bits(bits) ? raw : max_of_bits(bits);
  default: /* SINT */
    return (uint32_t)(v > most ? most : v < -most - 1 ? -most - 1 : v);
  }
}

uint32_t emu_texel_border(const struct emu_texel_format *format, unsigned component,
                          uint32_t border) {
  const unsigned bits = format->bits[component], type = format->type[component];
  uint32_t code = 0;
  if (type == TIC_R_DATA_TYPE_NUM_SINT || type == TIC_R_DATA_TYPE_NUM_UINT)
    return border & max_of_bits(bits);
  if (!emu_texel_is_srgb(format, component))
    return pack_component(border, bits, type) & max_of_bits(bits);
  while (code < UINT8_MAX && (float)emu_decode_srgb(code) < base_float(border) * 65536)
    code++;
  return code;
}

void emu_texel_pack(const struct emu_texel_format *format, const uint32_t components[4],
                    uint8_t *texel) {
  uint64_t words[2] = {0};
  unsigned at = 0;
  for (unsigned i = 0; i < 4 && format->bits[i]; at += format->bits[i++]) {
    const unsigned bits = format->bits[i];
    const bool exchanged = emu_texture_has(EMU_TEXTURE_STORE_ORDER) && bits == 8 && format->bits[2];
    uint32_t raw = components[exchanged && i < 3 ? 2 - i : i];
    raw = pack_component(raw, bits, format->type[i]);
    words[at / 64] |= (uint64_t)(raw & max_of_bits(bits)) << at % 64;
  }
  memcpy(texel, words, format->bytes);
}
