/* Sampling: coordinates, address modes, filters, and the addresses of texels
 * (docs/hardware/textures.md 6.1 and 7.1). */
#include <math.h>
#include <string.h>

#include "base/number.h"
#include "emulator/texture/filter.h"
#include "emulator/texture/texture.h"
#include "gpu/hw/block_linear.h"
#include "gpu/hw/texture.h"

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

static bool read_bytes(const struct emu_texture *t, const int64_t at[3],
                       const struct emu_texture_memory *memory,
                       uint8_t texel[EMU_TEXEL_BYTES_MAX]) {
  const uint64_t address =
      emu_texture_address(t, (uint32_t)at[0], (uint32_t)at[1], (uint32_t)at[2]);
  return memory->read(memory->space, address, texel, t->format.bytes);
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

/* Truncates a normalized coordinate to the texture units' fraction, and removes whole periods. */
static double reduce_normalized(double at, uint32_t n, unsigned mode) {
  /* Longer sides have more bits. */
  const double unit = n <= 8192 ? 0x1p21 : n <= 65536 ? 0x1p22 : 0x1p23;
  at = floor(at * unit) / unit;
  if (mode == TSC_ADDRESS_U_WRAP)
    return at - floor(at);
  if (mode == TSC_ADDRESS_U_MIRROR)
    return at - 2 * floor(at / 2);
  return at;
}

/* Converts a coordinate to texels. NaN and subnormal numbers become 0, infinities too if they are
 * normalized and the address mode is periodic. */
static double scale_coordinate(float from, uint32_t n, unsigned mode, bool normalized) {
  double at = fabsf(from) >= 0x1p-126f ? (double)from : 0;
  if (normalized) {
    at = reduce_normalized(at, n, mode);
    at *= emu_texture_has(EMU_TEXTURE_NORMALIZED) && n > 1 ? n - 1 : n;
  }
  if (isnan(at))
    return 0;
  if (mode == TSC_ADDRESS_U_MIRROR_ONCE_CLAMP_OGL)
    at = fabs(at);
  if (mode == TSC_ADDRESS_U_CLAMP_OGL || mode == TSC_ADDRESS_U_MIRROR_ONCE_CLAMP_OGL)
    at = fmax(0, fmin(at, n));
  return fmax(-farthest, fmin(at, farthest));
}

/* The two texels that filtering blends in one dimension: first, and first + 1 with weight /
 * EMU_WEIGHTS. */
struct tap {
  int64_t first;
  uint32_t weight;
};

static struct tap make_tap(double at, bool linear, int offset) {
  if (!linear)
    return (struct tap){(int64_t)floor(at) + offset, 0};
  int64_t fixed = (int64_t)floor((at - 0.5) * EMU_WEIGHTS + 0.5);
  if (emu_texture_has(EMU_TEXTURE_HALF_TEXEL))
    fixed += EMU_WEIGHTS / 2;
  if (emu_texture_has(EMU_TEXTURE_WEIGHTS))
    fixed = (int64_t)floor((at - 0.5) * 64 + 0.5) * (EMU_WEIGHTS / 64);
  return (struct tap){(fixed >> EMU_FRACTION_BITS) + offset, (uint32_t)(fixed & (EMU_WEIGHTS - 1))};
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

/* Finds the texel at a corner of the taps. Bit i of corner selects first + 1 in dimension i.
 * Returns false if it has the border colour. */
static bool find_corner(const struct emu_texture *t, const struct emu_sampler *s,
                        const struct tap taps[3], unsigned corner, uint32_t layer, int64_t at[3]) {
  at[1] = 0;
  at[2] = layer;
  for (unsigned i = 0; i < emu_texture_dimensions(t); i++) {
    at[i] = apply_address_mode(taps[i].first + (corner >> i & 1), texels_of_side(t, i), s->mode[i]);
    if (at[i] == BORDER)
      return false;
  }
  return true;
}

/* Returns a component of the border colour as the format represents it. */
static uint32_t convert_border(const struct emu_texel_format *format, unsigned result,
                               uint32_t border) {
  const unsigned component = format->source[result] - TIC_X_SOURCE_IN_R;
  return component > 3
             ? border
             : emu_texel_convert(format, component, emu_texel_border(format, component, border));
}

/* Reads the texel at a corner, or converts the border colour. */
static bool read_corner(const struct emu_texture *t, const struct emu_texel_format *format,
                        const struct emu_sampler *s, const struct tap taps[3], unsigned corner,
                        uint32_t layer, const struct emu_texture_memory *memory,
                        uint32_t result[4]) {
  uint8_t texel[EMU_TEXEL_BYTES_MAX];
  int64_t at[3];
  if (!find_corner(t, s, taps, corner, layer, at)) {
    for (unsigned i = 0; i < 4; i++)
      result[i] = convert_border(format, i, s->border[i]);
    return true;
  }
  if (!read_bytes(t, at, memory, texel))
    return false;
  emu_texel_unpack(format, texel, result);
  return true;
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

/* The texels that a filter blends. */
struct footprint {
  struct emu_corners corners;
  uint32_t raw[4][EMU_CORNERS]; /* components as they are in memory */
  bool is_border[EMU_CORNERS];
  bool has_border;
};

/* Reads the texels that are blended. */
static bool read_footprint(const struct emu_texture *t, const struct emu_sampler *s,
                           const struct tap taps[3], uint32_t layer,
                           const struct emu_texture_memory *memory, struct footprint *f) {
  uint8_t texel[EMU_TEXEL_BYTES_MAX];
  uint32_t raw[4] = {0};
  f->has_border = false;
  for (unsigned corner = 0; corner < f->corners.count; corner++) {
    int64_t at[3];
    f->is_border[corner] = false;
    for (unsigned i = 0; i < 4; i++)
      f->raw[i][corner] = 0;
    if (!f->corners.is_blended[corner])
      continue;
    if (!find_corner(t, s, taps, corner, layer, at)) {
      f->is_border[corner] = f->has_border = true;
      continue;
    }
    if (!read_bytes(t, at, memory, texel))
      return false;
    emu_texel_extract(&t->format, texel, raw);
    for (unsigned i = 0; i < 4; i++)
      f->raw[i][corner] = raw[i];
  }
  return true;
}

/* Blends the texels of a footprint to one component of the result. */
static uint32_t blend(const struct emu_texel_format *format, const struct emu_sampler *s,
                      unsigned result, const struct footprint *f) {
  const unsigned source = format->source[result], component = source - TIC_X_SOURCE_IN_R;
  const uint32_t constant =
      source == TIC_X_SOURCE_IN_ONE_FLOAT ? base_float_bits(1) : source == TIC_X_SOURCE_IN_ONE_INT;
  uint32_t raw[EMU_CORNERS];
  if (component > 3 && !f->has_border)
    return constant;
  for (unsigned i = 0; i < f->corners.count; i++)
    raw[i] = f->is_border[i] ? component > 3
                                   ? s->border[result]
                                   : emu_texel_border(format, component, s->border[result])
             : component > 3 ? constant
                             : f->raw[component][i];
  if (component > 3)
    return emu_blend(&f->corners, raw, 32, TIC_R_DATA_TYPE_NUM_FLOAT);
  if (emu_texel_is_srgb(format, component))
    return emu_blend_srgb(&f->corners, raw);
  return emu_blend(&f->corners, raw, format->bits[component], format->type[component]);
}

bool emu_texture_sample(const struct emu_texture *t, const struct emu_sampler *s,
                        const struct emu_texture_place *place,
                        const struct emu_texture_memory *memory, uint32_t result[4]) {
  const bool linear =
      (place->minified ? s->linear_minified : s->linear_magnified) && emu_texture_filters(t);
  struct emu_texel_format format = t->format;
  struct tap taps[3] = {{0}};
  format.srgb &= s->srgb;
  memset(result, 0, 4 * sizeof *result);
  find_taps(t, s, place, linear, taps);
  const uint32_t layer = clamp_layer(t, place->layer);
  if (!linear)
    return read_corner(t, &format, s, taps, 0, layer, memory, result);
  const uint32_t fraction[] = {taps[0].weight, taps[1].weight, taps[2].weight};
  struct footprint footprint;
  emu_find_weights(&footprint.corners, emu_texture_dimensions(t), fraction);
  if (!read_footprint(t, s, taps, layer, memory, &footprint))
    return false;
  for (unsigned i = 0; i < 4; i++)
    result[i] = blend(&format, s, i, &footprint);
  return true;
}

bool emu_texture_gather(const struct emu_texture *t, const struct emu_sampler *s,
                        const struct emu_texture_place *place, unsigned component,
                        const struct emu_texture_memory *memory, uint32_t result[4]) {
  static const uint8_t corners[] = {2, 3, 1, 0};
  struct emu_texel_format format = t->format;
  struct tap taps[3];
  format.srgb &= s->srgb;
  format.is_gathered = true;
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
  uint8_t bytes[EMU_TEXEL_BYTES_MAX] = {0};
  if (inside && !read_bytes(t, texel, memory, bytes))
    return false;
  emu_texel_unpack(&t->format, bytes, result);
  return true;
}

void emu_texture_query(const struct emu_texture *t, uint32_t level, uint32_t result[4]) {
  result[0] = level ? 0 : t->width;
  result[1] = level ? 0 : t->height;
  result[2] = level ? 0 : t->type == TIC_TEXTURE_TYPE_THREE_D ? t->depth : t->layers;
  result[3] = 1;
}
