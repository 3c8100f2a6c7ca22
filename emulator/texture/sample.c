/* Sampling: coordinates, address modes, filters, and the addresses of texels
 * (docs/hardware/textures.md 6.1 and 7.1). */
#include <math.h>
#include <string.h>

#include "base/number.h"
#include "emulator/texture/texture.h"
#include "gpu/hw/block_linear.h"
#include "gpu/hw/texture.h"

enum {
  FRACTION_BITS = 8, /* in the weights of linear filtering */
  ONE = 1 << FRACTION_BITS,
};

/* The index of texels outside the texture, which have the border colour. */
enum { BORDER = -1 };

/* Limit of coordinates, which is beyond the sides of all textures. */
static const double farthest = 1 << 24;

unsigned emu_texture_dimensions(const struct emu_texture *t) {
  switch (t->type) {
  case TIC_TEXTURE_TYPE_ONE_D:
  case TIC_TEXTURE_TYPE_ONE_D_ARRAY:
  case TIC_TEXTURE_TYPE_ONE_D_BUFFER:
    return 1;
  case TIC_TEXTURE_TYPE_THREE_D:
    return 3;
  default:
    return 2;
  }
}

bool emu_texture_is_array(const struct emu_texture *t) {
  return t->type == TIC_TEXTURE_TYPE_ONE_D_ARRAY || t->type == TIC_TEXTURE_TYPE_TWO_D_ARRAY;
}

bool emu_texture_is_buffer(const struct emu_texture *t) {
  return t->type == TIC_TEXTURE_TYPE_ONE_D_BUFFER;
}

uint64_t emu_texture_address(const struct emu_texture *t, uint32_t x, uint32_t y, uint32_t z) {
  const uint64_t bytes = x * (uint64_t)t->format.bytes;
  if (t->block_linear) {
    const struct hw_block_linear layout = {t->width * (uint64_t)t->format.bytes, t->height,
                                           t->block_height, t->block_depth};
    return t->address + hw_block_linear_offset(&layout, bytes, y, z);
  }
  return t->address + (uint64_t)y * t->pitch + bytes;
}

static bool read_texel(const struct emu_texture *t, const struct emu_texel_format *format,
                       const int64_t at[3], const struct emu_texture_memory *memory,
                       uint32_t result[4]) {
  uint8_t texel[EMU_TEXEL_BYTES_MAX];
  const uint64_t address =
      emu_texture_address(t, (uint32_t)at[0], (uint32_t)at[1], (uint32_t)at[2]);
  if (!memory->read(memory->space, address, texel, format->bytes))
    return false;
  emu_texel_unpack(format, texel, result);
  return true;
}

static int64_t modulo(int64_t i, int64_t n) {
  return (i % n + n) % n;
}

/* Applies the address mode to index i of a side with n texels. Returns an index within the side, or
 * BORDER. */
static int64_t apply_address_mode(int64_t i, uint32_t n, unsigned mode) {
  switch (mode) {
  case TSC_ADDRESS_U_WRAP:
    return modulo(i, n);
  case TSC_ADDRESS_U_MIRROR:
    i = modulo(i, 2 * (int64_t)n);
    return i < n ? i : 2 * (int64_t)n - 1 - i;
  case TSC_ADDRESS_U_MIRROR_ONCE_CLAMP_TO_EDGE:
  case TSC_ADDRESS_U_MIRROR_ONCE_BORDER:
  case TSC_ADDRESS_U_MIRROR_ONCE_CLAMP_OGL:
    i = i < 0 ? -1 - i : i;
    break;
  default:
    break;
  }
  if (mode == TSC_ADDRESS_U_CLAMP_TO_EDGE || mode == TSC_ADDRESS_U_MIRROR_ONCE_CLAMP_TO_EDGE)
    return i < 0 ? 0 : i < n ? i : (int64_t)n - 1;
  return i < 0 || i >= n ? BORDER : i;
}

/* Converts a coordinate to texels. NaN becomes 0. */
static double scale_coordinate(float at, uint32_t n, unsigned mode, bool normalized) {
  if (normalized) {
    /* Removing whole periods before the multiplication keeps large coordinates exact. */
    if (mode == TSC_ADDRESS_U_WRAP)
      at -= floorf(at);
    else if (mode == TSC_ADDRESS_U_MIRROR)
      at -= 2 * floorf(at / 2);
    at *= (float)(emu_texture_has(EMU_TEXTURE_NORMALIZED) && n > 1 ? n - 1 : n);
  }
  if (isnan(at))
    return 0;
  if (mode == TSC_ADDRESS_U_MIRROR_ONCE_CLAMP_OGL)
    at = fabsf(at);
  if (mode == TSC_ADDRESS_U_CLAMP_OGL || mode == TSC_ADDRESS_U_MIRROR_ONCE_CLAMP_OGL)
    at = fmaxf(0, fminf(at, (float)n));
  return fmax(-farthest, fmin((double)at, farthest));
}

/* The two texels that filtering blends in one dimension: first, and first + 1 with weight / ONE. */
struct tap {
  int64_t first;
  uint32_t weight;
};

static struct tap make_tap(double at, bool linear, int offset) {
  if (!linear)
    return (struct tap){(int64_t)floor(at) + offset, 0};
  int64_t fixed = (int64_t)floor((at - 0.5) * ONE + 0.5);
  if (emu_texture_has(EMU_TEXTURE_HALF_TEXEL))
    fixed += ONE / 2;
  if (emu_texture_has(EMU_TEXTURE_WEIGHTS))
    fixed = (int64_t)floor((at - 0.5) * 64 + 0.5) * (ONE / 64);
  return (struct tap){(fixed >> FRACTION_BITS) + offset, (uint32_t)(fixed & (ONE - 1))};
}

static uint32_t texels_of_side(const struct emu_texture *t, unsigned dimension) {
  return dimension == 0 ? t->width : dimension == 1 ? t->height : t->depth;
}

static void find_taps(const struct emu_texture *t, const struct emu_sampler *s,
                      const struct emu_texture_place *place, bool linear, struct tap taps[3]) {
  for (unsigned i = 0; i < emu_texture_dimensions(t); i++)
    taps[i] = make_tap(scale_coordinate(place->at[i], texels_of_side(t, i), s->mode[i],
                                        t->normalized && !s->unnormalized),
                       linear, place->offset[i]);
}

static uint32_t clamp_layer(const struct emu_texture *t, uint32_t layer) {
  return layer < t->layers ? layer : t->layers - 1;
}

/* Reads the texel at a corner of the taps. Bit i of corner selects first + 1 in dimension i. */
static bool read_corner(const struct emu_texture *t, const struct emu_texel_format *format,
                        const struct emu_sampler *s, const struct tap taps[3], unsigned corner,
                        uint32_t layer, const struct emu_texture_memory *memory,
                        uint32_t result[4]) {
  const unsigned dimensions = emu_texture_dimensions(t);
  int64_t at[3] = {0, 0, layer};
  for (unsigned i = 0; i < dimensions; i++) {
    at[i] = apply_address_mode(taps[i].first + (corner >> i & 1), texels_of_side(t, i), s->mode[i]);
    if (at[i] == BORDER) {
      memcpy(result, s->border, sizeof s->border);
      return true;
    }
  }
  return read_texel(t, format, at, memory, result);
}

static bool is_integer(unsigned type) {
  return type == TIC_R_DATA_TYPE_NUM_SINT || type == TIC_R_DATA_TYPE_NUM_UINT;
}

bool emu_texture_filters(const struct emu_texture *t) {
  for (unsigned i = 0; i < 4; i++)
    if (t->format.bits[i] && is_integer(t->format.type[i]))
      return false;
  return true;
}

bool emu_texture_is_signed(const struct emu_texture *t) {
  return t->format.type[0] == TIC_R_DATA_TYPE_NUM_SINT;
}

/* Rounds a filtered result to 16 bits if its component is 16-bit UNORM or SNORM. */
static double round_filtered(const struct emu_texel_format *f, unsigned result, double v) {
  const unsigned component = f->source[result] - TIC_X_SOURCE_IN_R;
  if (component <= 3 && f->bits[component] == 8 && emu_texture_has(EMU_TEXTURE_FILTER_BYTES))
    return rint(v * UINT8_MAX) / UINT8_MAX;
  if (component > 3 || f->bits[component] != 16)
    return v;
  switch (f->type[component]) {
  case TIC_R_DATA_TYPE_NUM_UNORM:
    return rint(v * UINT16_MAX) / UINT16_MAX;
  case TIC_R_DATA_TYPE_NUM_SNORM:
    return rint(v * INT16_MAX) / INT16_MAX;
  default:
    return v;
  }
}

/* Returns the bits of a filtered result. The host's NaNs depend on its processor, so all become the
 * NaN of the SM's arithmetic. */
static uint32_t filtered_bits(double v) {
  enum { FLOAT_NAN = 0x7fffffff };
  return isnan(v) ? FLOAT_NAN : base_float_bits((float)v);
}

bool emu_texture_sample(const struct emu_texture *t, const struct emu_sampler *s,
                        const struct emu_texture_place *place,
                        const struct emu_texture_memory *memory, uint32_t result[4]) {
  const bool linear =
      (place->minified ? s->linear_minified : s->linear_magnified) && emu_texture_filters(t);
  struct emu_texel_format format = t->format;
  struct tap taps[3];
  format.srgb &= s->srgb;
  memset(result, 0, 4 * sizeof *result);
  find_taps(t, s, place, linear, taps);
  const uint32_t layer = clamp_layer(t, place->layer);
  if (!linear)
    return read_corner(t, &format, s, taps, 0, layer, memory, result);
  const unsigned dimensions = emu_texture_dimensions(t);
  double sum[4] = {0};
  for (unsigned corner = 0; corner < 1u << dimensions; corner++) {
    uint32_t texel[4];
    double weight = 1;
    for (unsigned i = 0; i < dimensions; i++)
      weight *= (corner >> i & 1 ? taps[i].weight : ONE - taps[i].weight) / (double)ONE;
    if (!read_corner(t, &format, s, taps, corner, layer, memory, texel))
      return false;
    for (unsigned i = 0; i < 4; i++)
      sum[i] += weight * (double)base_float(texel[i]);
  }
  for (unsigned i = 0; i < 4; i++)
    result[i] = filtered_bits(round_filtered(&format, i, sum[i]));
  return true;
}

bool emu_texture_gather(const struct emu_texture *t, const struct emu_sampler *s,
                        const struct emu_texture_place *place, unsigned component,
                        const struct emu_texture_memory *memory, uint32_t result[4]) {
  static const uint8_t corners[] = {2, 3, 1, 0};
  struct emu_texel_format format = t->format;
  struct tap taps[3];
  format.srgb &= s->srgb;
  memset(result, 0, 4 * sizeof *result);
  find_taps(t, s, place, true, taps);
  for (unsigned i = 0; i < 4; i++) {
    uint32_t texel[4];
    if (!read_corner(t, &format, s, taps, corners[i], clamp_layer(t, place->layer), memory, texel))
      return false;
    result[i] = texel[component];
  }
  return true;
}

bool emu_texture_fetch(const struct emu_texture *t, const int32_t at[3], uint32_t layer,
                       const struct emu_texture_memory *memory, uint32_t result[4]) {
  const unsigned dimensions = emu_texture_dimensions(t);
  int64_t texel[3] = {0, 0, layer};
  bool inside = layer < t->layers;
  for (unsigned i = 0; i < dimensions; i++) {
    texel[i] = at[i];
    inside &= at[i] >= 0 && (uint32_t)at[i] < texels_of_side(t, i);
  }
  if (inside)
    return read_texel(t, &t->format, texel, memory, result);
  const uint8_t nothing[EMU_TEXEL_BYTES_MAX] = {0};
  emu_texel_unpack(&t->format, nothing, result);
  return true;
}

void emu_texture_query(const struct emu_texture *t, uint32_t level, uint32_t result[4]) {
  result[0] = level ? 0 : t->width;
  result[1] = level ? 0 : t->height;
  result[2] = level ? 0 : t->type == TIC_TEXTURE_TYPE_THREE_D ? t->depth : t->layers;
  result[3] = 1;
}
