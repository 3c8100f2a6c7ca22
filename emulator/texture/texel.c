/* Converts texels from and to their memory formats (docs/hardware/textures.md 3 and 6.2). */
#include <math.h>
#include <string.h>

#include "base/number.h"
#include "emulator/texture/texture.h"
#include "gpu/hw/texture.h"

/* Converts a float of 10, 11 or 16 bits to 32 bits. The source has five bits of exponent, and a
 * sign only if it has 16 bits. A NaN keeps its payload. */
static uint32_t widen_float(uint32_t raw, unsigned bits) {
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

/* Converts a float to 10, 11 or 16 bits. Rounds to nearest even, or to infinity if the value is too
 * large. Negative values become 0 in formats without a sign (10 and 11 bits). */
static uint32_t narrow_float(uint32_t value, unsigned bits) {
  enum { EXPONENT = 31, LEAST = -14 };
  const unsigned mantissa_bits = bits == 16 ? 10 : bits - 5;
  const uint32_t sign = bits == 16 ? value >> 31 << 15 : 0;
  const float v = base_float(value);
  if (isnan(v))
    return sign | EXPONENT << mantissa_bits | 1u << (mantissa_bits - 1);
  if (bits != 16 && signbit(v))
    return 0;
  const double size = fabs((double)v);
  if (isinf(size))
    return sign | EXPONENT << mantissa_bits;
  int exponent = 0;
  frexp(size, &exponent);
  exponent = exponent - 1 < LEAST || size == 0 ? LEAST : exponent - 1;
  /* The value in units of the last place. If rounding carries into the exponent, the sum below is
   * still correct. */
  const double units = rint(ldexp(size, (int)mantissa_bits - exponent));
  const double coded = ldexp(exponent - LEAST, (int)mantissa_bits) + units;
  const double largest = ldexp(EXPONENT, (int)mantissa_bits);
  return sign | (uint32_t)(coded < largest ? coded : largest);
}

static int32_t sign_extend(uint32_t raw, unsigned bits) {
  return (int32_t)(raw << (32 - bits)) >> (32 - bits);
}

static uint32_t max_of_bits(unsigned bits) {
  return UINT32_MAX >> (32 - bits);
}

static float decode_srgb(float c) {
  return (float)(c <= 0.04045f ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4));
}

static uint32_t convert_component(uint32_t raw, unsigned bits, unsigned type, bool srgb) {
  float v;
  switch (type) {
  case TIC_R_DATA_TYPE_NUM_UNORM:
    v = (float)raw / (float)max_of_bits(bits);
    return base_float_bits(srgb ? decode_srgb(v) : v);
  case TIC_R_DATA_TYPE_NUM_SNORM:
    return base_float_bits(fmaxf((float)sign_extend(raw, bits) / (float)max_of_bits(bits - 1), -1));
  case TIC_R_DATA_TYPE_NUM_SINT:
    return (uint32_t)sign_extend(raw, bits);
  case TIC_R_DATA_TYPE_NUM_FLOAT:
    return bits < 32 ? widen_float(raw, bits) : raw;
  default:
    return raw;
  }
}

void emu_texel_unpack(const struct emu_texel_format *format, const uint8_t *texel,
                      uint32_t result[4]) {
  uint64_t words[2] = {0};
  uint32_t component[4] = {0};
  memcpy(words, texel, format->bytes);
  unsigned at = 0;
  for (unsigned i = 0; i < 4 && format->bits[i]; at += format->bits[i++])
    component[i] =
        convert_component((uint32_t)(words[at / 64] >> at % 64) & max_of_bits(format->bits[i]),
                          format->bits[i], format->type[i], format->srgb && i < 3);
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

/* Clamps a float to the range from least to 1 and multiplies it by most. NaN becomes 0. */
static int32_t scale_component(uint32_t value, float least, float most) {
  const float v = base_float(value);
  if (isnan(v))
    return 0;
  const double scaled = (double)fmaxf(fminf(v, 1), least) * (double)most;
  return (int32_t)(emu_texture_has(EMU_TEXTURE_STORE) ? trunc(scaled) : rint(scaled));
}

void emu_texel_pack(const struct emu_texel_format *format, const uint32_t components[4],
                    uint8_t *texel) {
  uint64_t words[2] = {0};
  unsigned at = 0;
  for (unsigned i = 0; i < 4 && format->bits[i]; at += format->bits[i++]) {
    const unsigned bits = format->bits[i];
    const bool exchanged = emu_texture_has(EMU_TEXTURE_STORE_ORDER) && bits == 8 && format->bits[2];
    uint32_t raw = components[exchanged && i < 3 ? 2 - i : i];
    switch (format->type[i]) {
    case TIC_R_DATA_TYPE_NUM_UNORM:
      raw = (uint32_t)scale_component(raw, 0, (float)max_of_bits(bits));
      break;
    case TIC_R_DATA_TYPE_NUM_SNORM:
      raw = (uint32_t)scale_component(raw, -1, (float)max_of_bits(bits - 1));
      break;
    case TIC_R_DATA_TYPE_NUM_FLOAT:
      raw = bits < 32 ? narrow_float(raw, bits) : raw;
      break;
    case TIC_R_DATA_TYPE_NUM_UINT:
      raw = raw < max_of_bits(bits) ? raw : max_of_bits(bits);
      break;
    default: { /* SINT */
      const int32_t most = (int32_t)(max_of_bits(bits) >> 1), v = (int32_t)raw;
      raw = (uint32_t)(v > most ? most : v < -most - 1 ? -most - 1 : v);
    }
    }
    words[at / 64] |= (uint64_t)(raw & max_of_bits(bits)) << at % 64;
  }
  memcpy(texel, words, format->bytes);
}
