/* See filter.h. */
#include "emulator/texture/filter.h"

#include "base/number.h"
#include "emulator/texture/texture.h"
#include "gpu/hw/texture.h"

/* ---- weights ---------------------------------------------------------------------- */

/* Multiplies two fractions and rounds to the nearest fraction, with ties upwards or downwards. */
static uint32_t multiply_up(uint32_t a, uint32_t b) {
  return (a * b + EMU_WEIGHTS / 2) >> EMU_FRACTION_BITS;
}
static uint32_t multiply_down(uint32_t a, uint32_t b) {
  return (a * b + EMU_WEIGHTS / 2 - 1) >> EMU_FRACTION_BITS;
}

void emu_find_weights(struct emu_corners *corners, unsigned dimensions,
                      const uint32_t fraction[3]) {
  corners->count = 1u << dimensions;
  for (unsigned z = 0; z < (dimensions > 2 ? 2u : 1u); z++) {
    const uint32_t slice = dimensions < 3 ? EMU_WEIGHTS
                           : z            ? fraction[2]
                                          : EMU_WEIGHTS - fraction[2];
    const uint32_t right = dimensions < 3 ? fraction[0] : multiply_up(fraction[0], slice);
    const uint32_t left = slice - right;
    const uint32_t low_right = dimensions < 2 ? 0 : multiply_up(right, fraction[1]);
    const uint32_t low_left = dimensions < 2 ? 0 : multiply_down(left, fraction[1]);
    const uint32_t weight[] = {left - low_left, right - low_right, low_left, low_right};
    for (unsigned i = 0; i < 4 && i < corners->count; i++)
      corners->weight[4 * z + i] = (uint16_t)weight[i];
  }
  for (unsigned i = 0; i < corners->count; i++) {
    bool is_blended = true;
    for (unsigned k = 0; k < dimensions; k++)
      is_blended &= !(i >> k & 1) || fraction[k];
    corners->is_blended[i] = is_blended;
  }
}

/* ---- fixed point ------------------------------------------------------------------- */

static uint32_t blend_unorm(const struct emu_corners *c, const uint32_t *raw, unsigned bits) {
  const uint32_t most = UINT32_MAX >> (32 - bits);
  uint64_t sum = 0;
  for (unsigned i = 0; i < c->count; i++)
    sum += (uint64_t)raw[i] * c->weight[i];
  if (bits == 8 && emu_texture_has(EMU_TEXTURE_FILTER_BYTES))
    return base_float_bits((float)((sum + EMU_WEIGHTS / 2) >> EMU_FRACTION_BITS) / (float)most);
  if (UINT16_MAX % most == 0)
    sum = (sum * (UINT16_MAX / most) + EMU_WEIGHTS / 2) >> EMU_FRACTION_BITS;
  else
    sum = (sum * UINT16_MAX + EMU_WEIGHTS / 2 * most) / (EMU_WEIGHTS * most);
  return base_float_bits((float)sum / UINT16_MAX);
}

static uint32_t blend_snorm(const struct emu_corners *c, const uint32_t *raw, unsigned bits) {
  const int64_t most = (INT64_C(1) << (bits - 1)) - 1;
  int64_t sum = 0;
  for (unsigned i = 0; i < c->count; i++)
    sum += ((int32_t)(raw[i] << (32 - bits)) >> (32 - bits)) * (int64_t)c->weight[i];
  if (bits == 16)
    sum = (sum + EMU_WEIGHTS / 2) >> EMU_FRACTION_BITS;
  else if (bits == 8) /* multiplies by 32767 / 127 / 256, approximately */
    sum += ((sum >> 4) + (sum >> 12) + 4) >> 3;
  else /* twice the range makes the dividend positive, so that the quotient is rounded downwards */
    sum = ((sum + 2 * EMU_WEIGHTS * most) * INT16_MAX + EMU_WEIGHTS / 2 * most) /
              (EMU_WEIGHTS * most) -
          2 * INT16_MAX;
  return base_float_bits((float)(sum < -INT16_MAX ? -INT16_MAX : sum) / INT16_MAX);
}

/* ---- floats ------------------------------------------------------------------------ */

/* Precision of a blend: of the texels after they were aligned with the largest one, and of the
 * result. */
struct precision {
  int fraction; /* bits after the first one of the largest texel */
  int digits;   /* of the result, with the first one */
  int least;    /* exponent */
  uint32_t nan;
};
static const struct precision single = {27, 24, -126, 0x7fffffff};
static const struct precision half = {14, 11, -14, 0x7fffe000};

/* Rounds sum * 2^unit to nearest, ties away from zero, and flushes subnormal floats. */
static uint32_t round_sum(int64_t sum, int unit, const struct precision *p) {
  enum { EXPONENT_BIT = 23, FLOAT_MIN = 0x00800000 };
  uint64_t size = (uint64_t)(sum < 0 ? -sum : sum);
  if (!size)
    return 0;
  const int exponent = unit + 63 - __builtin_clzll(size);
  const int last = (exponent < p->least ? p->least : exponent) - p->digits + 1;
  if (last > unit) {
    size = (size + (UINT64_C(1) << (last - unit - 1))) >> (last - unit);
    unit = last;
  }
  const int64_t bits =
      size ? base_float_bits((float)size) + (int64_t)unit * (1 << EXPONENT_BIT) : 0;
  return (bits < FLOAT_MIN ? 0 : (uint32_t)bits) | (sum < 0 ? 1u << 31 : 0);
}

enum { F32_SIGN_BIT = 31, F32_MANTISSA = 23, F32_BIAS = 127, F32_SPECIAL = 255 };

static unsigned exponent_field(uint32_t v) {
  return v >> F32_MANTISSA & F32_SPECIAL;
}

/* Blends numbers of which one is an infinity or a NaN. */
static uint32_t blend_specials(const struct emu_corners *c, const uint32_t *v,
                               const struct precision *p) {
  bool found[2] = {false, false};
  for (unsigned i = 0; i < c->count; i++) {
    if (!c->is_blended[i] || exponent_field(v[i]) != F32_SPECIAL)
      continue;
    if (v[i] << (32 - F32_MANTISSA))
      return p->nan;
    found[v[i] >> F32_SIGN_BIT] = true;
  }
  return found[0] && found[1]
             ? p->nan
             : (uint32_t)F32_SPECIAL << F32_MANTISSA | (uint32_t)found[1] << F32_SIGN_BIT;
}

/* The sum of a slice's texels, which are aligned with the largest of them. */
struct slice {
  int64_t sum;
  int unit; /* exponent of the sum's last bit */
};

/* Adds the sums of two slices. The sum with the smaller unit keeps one bit below the larger unit.
 */
static struct slice add_slices(struct slice a, struct slice b) {
  const int unit = (a.unit > b.unit ? a.unit : b.unit) - 1;
  const int drop[] = {unit - a.unit, unit - b.unit};
  const int64_t sums[] = {a.sum, b.sum};
  struct slice result = {0, unit};
  for (unsigned i = 0; i < 2; i++)
    result.sum += drop[i] < 0 ? sums[i] * 2 : sums[i] >> (drop[i] < 63 ? drop[i] : 63);
  return result;
}

/* Sums up the texels of a slice: four corners, or two. */
static struct slice sum_floats(const struct emu_corners *c, const uint32_t *v,
                               const struct precision *p, unsigned first, unsigned count) {
  int top = p->least;
  int64_t sum = 0;
  for (unsigned i = first; i < first + count; i++) {
    const int exponent = (int)exponent_field(v[i]) - F32_BIAS;
    if (c->weight[i] && exponent > top)
      top = exponent;
  }
  for (unsigned i = first; i < first + count; i++) {
    const unsigned field = exponent_field(v[i]);
    if (!c->weight[i] || !field)
      continue;
    const uint32_t mantissa = (v[i] & ((1u << F32_MANTISSA) - 1)) | 1u << F32_MANTISSA;
    const int drop = F32_MANTISSA - p->fraction + top - ((int)field - F32_BIAS);
    const int64_t aligned = drop < 0 ? mantissa << -drop : drop < 32 ? mantissa >> drop : 0;
    sum += (v[i] >> F32_SIGN_BIT ? -aligned : aligned) * c->weight[i];
  }
  return (struct slice){sum, top - p->fraction - EMU_FRACTION_BITS};
}

/* Blends floats. Subnormal ones count as zeros. */
static uint32_t blend_floats(const struct emu_corners *c, const uint32_t *v,
                             const struct precision *p) {
  bool positive = false;
  for (unsigned i = 0; i < c->count; i++)
    if (c->is_blended[i]) {
      if (exponent_field(v[i]) == F32_SPECIAL)
        return blend_specials(c, v, p);
      positive |= !(v[i] >> F32_SIGN_BIT);
    }
  struct slice s = sum_floats(c, v, p, 0, c->count < 4 ? c->count : 4);
  if (c->count > 4)
    s = add_slices(s, sum_floats(c, v, p, 4, 4));
  if (!s.sum)
    return positive ? 0 : 1u << F32_SIGN_BIT;
  return round_sum(s.sum, s.unit, p);
}

/* ---- sRGB -------------------------------------------------------------------------- */

/* Codes decode to a byte and the number of zeros after it, in units of 2^-16. The byte is the
 * nearest one to the standard's curve. */
static const uint8_t srgb_bytes[] = {
    0,   5,   10,  15,  20,  25,  30,  35,  40,  45,  50,  55,  60,  66,  72,  78,  85,  92,  99,
    107, 115, 123, 131, 140, 150, 159, 169, 180, 190, 201, 213, 224, 118, 125, 131, 138, 145, 152,
    159, 166, 174, 182, 190, 198, 206, 215, 224, 233, 121, 126, 131, 136, 141, 146, 151, 156, 162,
    168, 173, 179, 185, 191, 197, 204, 105, 108, 112, 115, 118, 122, 125, 129, 133, 136, 140, 144,
    148, 152, 156, 160, 164, 169, 173, 177, 182, 186, 191, 195, 200, 205, 209, 214, 219, 224, 229,
    234, 120, 122, 125, 128, 130, 133, 136, 139, 142, 145, 148, 151, 154, 157, 160, 163, 166, 169,
    172, 176, 179, 182, 186, 189, 192, 196, 199, 203, 206, 210, 214, 217, 221, 225, 229, 232, 236,
    240, 244, 248, 126, 128, 130, 132, 134, 136, 138, 141, 143, 145, 147, 149, 152, 154, 156, 158,
    161, 163, 165, 168, 170, 173, 175, 178, 180, 182, 185, 188, 190, 193, 195, 198, 200, 203, 206,
    209, 211, 214, 217, 219, 222, 225, 228, 231, 234, 237, 240, 242, 123, 124, 126, 127, 129, 130,
    132, 133, 135, 137, 138, 140, 141, 143, 145, 146, 148, 150, 151, 153, 155, 156, 158, 160, 161,
    163, 165, 167, 169, 170, 172, 174, 176, 178, 179, 181, 183, 185, 187, 189, 191, 193, 195, 197,
    199, 201, 203, 205, 207, 209, 211, 213, 215, 217, 219, 221, 223, 225, 227, 229, 232, 234, 236,
    238, 120, 121, 122, 123, 125, 126, 127, 128};
_Static_assert(sizeof srgb_bytes == 256, "all codes");

static unsigned srgb_zeros(uint32_t code) {
  static const uint8_t zeros_of_eight[] = {2, 2, 2, 2, 3, 3, 4, 4, 5, 5, 5, 5, 6, 6, 6, 6,
                                           6, 7, 7, 7, 7, 7, 7, 8, 8, 8, 8, 8, 8, 8, 8, 9};
  return zeros_of_eight[code / 8];
}

uint32_t emu_decode_srgb(uint32_t code) {
  return (uint32_t)srgb_bytes[code] << srgb_zeros(code);
}

static struct slice sum_srgb(const struct emu_corners *c, const uint32_t *raw, unsigned first,
                             unsigned count) {
  enum { UNIT = -16 };
  unsigned zeros = 0;
  int64_t sum = 0;
  for (unsigned i = first; i < first + count; i++)
    if (c->weight[i] && srgb_zeros(raw[i]) > zeros)
      zeros = srgb_zeros(raw[i]);
  for (unsigned i = first; i < first + count; i++)
    if (c->weight[i])
      sum += (int64_t)(emu_decode_srgb(raw[i]) >> zeros) * c->weight[i];
  return (struct slice){sum, UNIT + (int)zeros - EMU_FRACTION_BITS};
}

uint32_t emu_blend_srgb(const struct emu_corners *c, const uint32_t *raw) {
  struct slice s = sum_srgb(c, raw, 0, c->count < 4 ? c->count : 4);
  if (c->count > 4)
    s = add_slices(s, sum_srgb(c, raw, 4, 4));
  return round_sum(s.sum, s.unit, &half);
}

/* ------------------------------------------------------------------------------------ */

uint32_t emu_blend(const struct emu_corners *corners, const uint32_t *raw, unsigned bits,
                   unsigned type) {
  uint32_t wide[EMU_CORNERS];
  switch (type) {
  case TIC_R_DATA_TYPE_NUM_UNORM:
    return blend_unorm(corners, raw, bits);
  case TIC_R_DATA_TYPE_NUM_SNORM:
    return blend_snorm(corners, raw, bits);
  default:
    if (bits == 32)
      return blend_floats(corners, raw, &single);
    for (unsigned i = 0; i < corners->count; i++)
      wide[i] = emu_widen_float(raw[i], bits);
    return blend_floats(corners, wide, &half);
  }
}
