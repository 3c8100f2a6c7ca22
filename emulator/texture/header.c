/* Decodes texture headers and samplers. Rejects values that the texture units or this emulator
 * cannot use. */
#include "emulator/texture/texture.h"

#include <stdarg.h>
#include <stdio.h>

#include "gpu/hw/block_linear.h"
#include "gpu/hw/texture.h"

_Static_assert((int)EMU_TEXTURE_WORDS == (int)TEXTURE_WORDS, "the header's size");

enum emu_texture_fault emu_texture_fault;

enum {
  PITCH_UNIT_BITS = 5,
  PITCH_BIT_21 = 21,
  ADDRESS_HIGH_BIT = 32,
};
/* Limits that NVIDIA documents (docs/hardware/textures.md 1.4). */
enum {
  BUFFER_MAX = 1 << 28,
  HEIGHT_MAX = 65536,
  PITCH_HEIGHT_MAX = 65000,
  PITCH_MAX = 2097120,
  DEPTH_MAX = 16384, /* also limits the other sides of a 3D texture */
  LAYERS_MAX = 2048,
};

__attribute__((format(printf, 2, 3))) static bool refuse_value(char *wrong, const char *format,
                                                               ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(wrong, EMU_TEXTURE_MESSAGE, format, arguments);
  va_end(arguments);
  return false;
}

/* Memory formats: bytes per texel, and bits of R, G, B and A. */
static const struct {
  uint8_t code, bytes, bits[4];
} layouts[] = {
    {TIC_COMPONENTS_R8, 1, {8}},
    {TIC_COMPONENTS_G8R8, 2, {8, 8}},
    {TIC_COMPONENTS_A8B8G8R8, 4, {8, 8, 8, 8}},
    {TIC_COMPONENTS_X8B8G8R8, 4, {8, 8, 8}},
    {TIC_COMPONENTS_R16, 2, {16}},
    {TIC_COMPONENTS_R16_G16, 4, {16, 16}},
    {TIC_COMPONENTS_R16_G16_B16_A16, 8, {16, 16, 16, 16}},
    {TIC_COMPONENTS_R32, 4, {32}},
    {TIC_COMPONENTS_R32_G32, 8, {32, 32}},
    {TIC_COMPONENTS_R32_G32_B32, 12, {32, 32, 32}},
    {TIC_COMPONENTS_R32_G32_B32_A32, 16, {32, 32, 32, 32}},
    {TIC_COMPONENTS_G4R4, 1, {4, 4}},
    {TIC_COMPONENTS_A4B4G4R4, 2, {4, 4, 4, 4}},
    {TIC_COMPONENTS_B5G6R5, 2, {5, 6, 5}},
    {TIC_COMPONENTS_A1B5G5R5, 2, {5, 5, 5, 1}},
    {TIC_COMPONENTS_A5B5G5R1, 2, {1, 5, 5, 5}},
    {TIC_COMPONENTS_A2B10G10R10, 4, {10, 10, 10, 2}},
    {TIC_COMPONENTS_BF10GF11RF11, 4, {11, 11, 10}},
};

static bool can_convert(unsigned type, unsigned bits) {
  switch (type) {
  case TIC_R_DATA_TYPE_NUM_FLOAT:
    return bits == 10 || bits == 11 || bits == 16 || bits == 32;
  case TIC_R_DATA_TYPE_NUM_SNORM:
    return bits > 1 && bits <= 16;
  case TIC_R_DATA_TYPE_NUM_UNORM:
    return bits <= 16;
  case TIC_R_DATA_TYPE_NUM_SINT:
  case TIC_R_DATA_TYPE_NUM_UINT:
    return true;
  default:
    return false;
  }
}

static bool decode_format(const uint32_t *header, struct emu_texel_format *format, char *wrong) {
  const uint32_t code = hw_get(header, TIC_COMPONENTS);
  const uint8_t types[] = {
      (uint8_t)hw_get(header, TIC_R_DATA_TYPE), (uint8_t)hw_get(header, TIC_G_DATA_TYPE),
      (uint8_t)hw_get(header, TIC_B_DATA_TYPE), (uint8_t)hw_get(header, TIC_A_DATA_TYPE)};
  const uint8_t sources[] = {
      (uint8_t)hw_get(header, TIC_X_SOURCE), (uint8_t)hw_get(header, TIC_Y_SOURCE),
      (uint8_t)hw_get(header, TIC_Z_SOURCE), (uint8_t)hw_get(header, TIC_W_SOURCE)};
  unsigned k = 0;
  while (k < sizeof layouts / sizeof *layouts && layouts[k].code != code)
    k++;
  if (k == sizeof layouts / sizeof *layouts)
    return refuse_value(wrong, "COMPONENTS is 0x%02x, a format that the emulator does not support",
                        code);
  *format = (struct emu_texel_format){.bytes = layouts[k].bytes,
                                      .srgb = hw_get(header, TIC_S_R_G_B_CONVERSION)};
  for (unsigned i = 0; i < 4; i++) {
    format->bits[i] = layouts[k].bits[i];
    format->type[i] = types[i];
    if (format->bits[i] && !can_convert(types[i], format->bits[i]))
      return refuse_value(wrong,
                          "%c_DATA_TYPE is %u, which does not fit the %u bits of component %c",
                          "RGBA"[i], types[i], format -> bits[i], "RGBA"[i]);
    if (format->srgb && i < 3 && format->bits[i] &&
        (format->bits[i] != 8 || types[i] != TIC_R_DATA_TYPE_NUM_UNORM))
      return refuse_value(wrong, "S_R_G_B_CONVERSION requires components of 8-bit UNORM");
  }
  for (unsigned i = 0; i < 4; i++) {
    const unsigned component = sources[i] - TIC_X_SOURCE_IN_R;
    format->source[i] = sources[i];
    if (sources[i] == 1 || (component < 4 && !format->bits[component]))
      return refuse_value(wrong, "%c_SOURCE is %u, a component that format 0x%02x does not have",
                          "XYZW"[i], sources[i], code);
  }
  return true;
}

static bool decode_buffer(const uint32_t *header, struct emu_texture *t, char *wrong) {
  const uint64_t elements = ((uint64_t)hw_get(header, TIC_WIDTH_MINUS_ONE_BITS31TO16) << 16 |
                             hw_get(header, TIC_WIDTH_MINUS_ONE_BITS15TO0)) +
                            1;
  if (t->type != TIC_TEXTURE_TYPE_ONE_D_BUFFER)
    return refuse_value(wrong, "TEXTURE_TYPE is %u in a ONE_D_BUFFER header", t->type);
  if (elements > BUFFER_MAX)
    return refuse_value(wrong, "the buffer has %llu elements; the limit is 2^28",
                        (unsigned long long)elements);
  t->width = (uint32_t)elements;
  t->address |= hw_get(header, TIC_ADDRESS_BITS31TO0);
  const uint32_t aligned = t->format.bytes == 12 ? 4 : t->format.bytes;
  if (t->address % aligned)
    return refuse_value(wrong, "the address of the buffer, 0x%llx, is not a multiple of %u",
                        (unsigned long long)t->address, aligned);
  return true;
}

static bool decode_pitch(const uint32_t *header, struct emu_texture *t, char *wrong) {
  if (t->type != TIC_TEXTURE_TYPE_TWO_D_NO_MIPMAP)
    return refuse_value(wrong, "TEXTURE_TYPE is %u in a PITCH header, which supports only 7",
                        t->type);
  t->pitch = hw_get(header, TIC_PITCH_BITS20TO5) << PITCH_UNIT_BITS |
             hw_get(header, TIC_PITCH_BIT21) << PITCH_BIT_21;
  t->address |= hw_get(header, TIC_ADDRESS_BITS31TO5) << PITCH_UNIT_BITS;
  if (hw_get(header, TIC_ADDRESS_BITS31TO0) % (1 << PITCH_UNIT_BITS))
    return refuse_value(wrong,
                        "bits 4:0 of the address are 0x%x; they are reserved in PITCH headers",
                        hw_get(header, TIC_ADDRESS_BITS31TO0) % (1 << PITCH_UNIT_BITS));
  if (t->pitch > PITCH_MAX)
    return refuse_value(wrong, "the pitch is %u; the limit is %u", t->pitch, PITCH_MAX);
  if (t->height > PITCH_HEIGHT_MAX)
    return refuse_value(wrong, "the PITCH header has %u rows; the limit is %u", t->height,
                        PITCH_HEIGHT_MAX);
  if (t->height > 1 && t->pitch < t->width * t->format.bytes)
    return refuse_value(wrong, "the pitch is %u, less than a row's %u bytes", t->pitch,
                        t->width * t->format.bytes);
  return true;
}

static bool decode_block_linear(const uint32_t *header, struct emu_texture *t, char *wrong) {
  enum { GOB_UNIT_BITS = 9, DEPTH_HIGH_BIT = 14 };
  const uint32_t deep = (hw_get(header, TIC_DEPTH_MINUS_ONE) |
                         hw_get(header, TIC_DEPTH_MINUS_ONE_BIT14) << DEPTH_HIGH_BIT) +
                        1;
  t->block_linear = true;
  t->address |= hw_get(header, TIC_ADDRESS_BITS31TO9) << GOB_UNIT_BITS;
  if (hw_get(header, TIC_ADDRESS_BITS31TO0) % (1 << GOB_UNIT_BITS))
    return refuse_value(
        wrong, "bits 8:0 of the address are 0x%x; they are reserved in BLOCKLINEAR headers",
        hw_get(header, TIC_ADDRESS_BITS31TO0) % (1 << GOB_UNIT_BITS));
  t->block_height = (uint8_t)hw_get(header, TIC_GOBS_PER_BLOCK_HEIGHT);
  t->block_depth = (uint8_t)hw_get(header, TIC_GOBS_PER_BLOCK_DEPTH);
  if (hw_get(header, TIC_GOBS_PER_BLOCK_WIDTH) || t->block_height > BLOCK_LOG2_MAX ||
      t->block_depth > BLOCK_LOG2_MAX)
    return refuse_value(wrong, "unsupported block of 2^%u x 2^%u x 2^%u GOBs",
                        hw_get(header, TIC_GOBS_PER_BLOCK_WIDTH), t->block_height, t->block_depth);
  if (hw_get(header, TIC_TILE_WIDTH_IN_GOBS) || hw_get(header, TIC_GOB_DEPTH_OFFSET) ||
      hw_get(header, TIC_GOB3D))
    return refuse_value(wrong, "TILE_WIDTH_IN_GOBS, GOB_DEPTH_OFFSET or GOB3D is not 0");
  if (t->format.bytes & (t->format.bytes - 1))
    return refuse_value(wrong, "texels of %u bytes cannot be block-linear", t->format.bytes);
  if (t->height > HEIGHT_MAX)
    return refuse_value(wrong, "the texture has %u rows; the limit is %u", t->height, HEIGHT_MAX);
  switch (t->type) {
  case TIC_TEXTURE_TYPE_ONE_D:
    t->height = 1;
    break;
  case TIC_TEXTURE_TYPE_TWO_D:
  case TIC_TEXTURE_TYPE_TWO_D_NO_MIPMAP:
    break;
  case TIC_TEXTURE_TYPE_THREE_D:
    t->depth = deep;
    if (t->width > DEPTH_MAX || t->height > DEPTH_MAX || deep > DEPTH_MAX)
      return refuse_value(wrong,
                          "the 3D texture has %u x %u x %u texels; the limit of a side is %u",
                          t->width, t->height, deep, DEPTH_MAX);
    break;
  case TIC_TEXTURE_TYPE_ONE_D_ARRAY:
    t->height = 1;
    t->layers = deep;
    break;
  case TIC_TEXTURE_TYPE_TWO_D_ARRAY:
    t->layers = deep;
    break;
  default:
    return refuse_value(wrong, "TEXTURE_TYPE is %u, which the emulator does not support", t->type);
  }
  return t->layers <= LAYERS_MAX ||
         refuse_value(wrong, "the texture has %u layers; the limit is %u", t->layers, LAYERS_MAX);
}

static bool decode_header(const uint32_t *header, struct emu_texture *t, char *wrong) {
  const uint32_t version = hw_get(header, TIC_HEADER_VERSION);
  *t = (struct emu_texture){
      .address = (uint64_t)hw_get(header, TIC_ADDRESS_BITS48TO32) << ADDRESS_HIGH_BIT,
      .height = 1,
      .depth = 1,
      .layers = 1,
      .type = (uint8_t)hw_get(header, TIC_TEXTURE_TYPE),
  };
  if (!decode_format(header, &t->format, wrong))
    return false;
  if (version == TIC_HEADER_VERSION_SELECT_ONE_D_BUFFER)
    return decode_buffer(header, t, wrong);
  t->width = hw_get(header, TIC_WIDTH_MINUS_ONE) + 1;
  t->height =
      (hw_get(header, TIC_HEIGHT_MINUS_ONE) | hw_get(header, TIC_HEIGHT_MINUS_ONE_BIT16) << 16) + 1;
  t->normalized = hw_get(header, TIC_NORMALIZED_COORDS);
  t->none = hw_get(header, TIC_RES_VIEW_MIN_MIP_LEVEL) > hw_get(header, TIC_RES_VIEW_MAX_MIP_LEVEL);
  if (hw_get(header, TIC_MAX_MIP_LEVEL) || hw_get(header, TIC_RES_VIEW_MAX_MIP_LEVEL))
    return refuse_value(wrong,
                        "the texture has several mip levels, which the emulator does not support");
  if (hw_get(header, TIC_MULTI_SAMPLE_COUNT))
    return refuse_value(wrong, "MULTI_SAMPLE_COUNT is %u, which the emulator does not support",
                        hw_get(header, TIC_MULTI_SAMPLE_COUNT));
  if (hw_get(header, TIC_BORDER_SIZE) != TIC_BORDER_SIZE_BORDER_SAMPLER_COLOR)
    return refuse_value(wrong,
                        "BORDER_SIZE is %u; only 7, the sampler's border colour, is supported",
                        hw_get(header, TIC_BORDER_SIZE));
  switch (version) {
  case TIC_HEADER_VERSION_SELECT_PITCH:
    return decode_pitch(header, t, wrong);
  case TIC_HEADER_VERSION_SELECT_BLOCKLINEAR:
    return decode_block_linear(header, t, wrong);
  default:
    return refuse_value(wrong, "HEADER_VERSION is %u", version);
  }
}

/* Makes the decoded header wrong as the planted fault says. */
static void plant_fault(struct emu_texture *t) {
  struct emu_texel_format *f = &t->format;
  switch (emu_texture_fault) {
  case EMU_TEXTURE_SWIZZLE:
    for (unsigned i = 0; i < 4; i++)
      if (f->bits[i])
        f->source[i] = (uint8_t)(TIC_X_SOURCE_IN_R + i);
    break;
  case EMU_TEXTURE_SRGB:
    f->srgb = false;
    break;
  case EMU_TEXTURE_FORMAT:
    for (unsigned i = 0; i < 4; i++)
      if (f->bits[i] == 16 && f->type[i] == TIC_R_DATA_TYPE_NUM_SNORM)
        f->type[i] = TIC_R_DATA_TYPE_NUM_UNORM;
    break;
  case EMU_TEXTURE_PITCH:
    t->pitch = (t->pitch + 63) / 64 * 64;
    break;
  case EMU_TEXTURE_WIDTH:
    t->width -= t->pitch && t->width > 1;
    break;
  case EMU_TEXTURE_HEIGHT:
    t->height -= t->pitch && t->height > 1;
    break;
  case EMU_TEXTURE_LEVEL:
    t->width = t->pitch ? (t->width + 1) / 2 : t->width;
    t->height = (t->height + 1) / 2;
    break;
  case EMU_TEXTURE_BUFFER:
    t->address += t->type == TIC_TEXTURE_TYPE_ONE_D_BUFFER ? f->bytes : 0;
    break;
  default:
    break;
  }
}

bool emu_texture_decode(const uint32_t header[EMU_TEXTURE_WORDS], struct emu_texture *t,
                        char *wrong) {
  if (!decode_header(header, t, wrong))
    return false;
  plant_fault(t);
  return true;
}

bool emu_sampler_decode(const uint32_t words[EMU_TEXTURE_WORDS], struct emu_sampler *s,
                        char *wrong) {
  const uint32_t magnified = hw_get(words, TSC_MAG_FILTER),
                 minified = hw_get(words, TSC_MIN_FILTER);
  *s = (struct emu_sampler){
      .mode = {(uint8_t)hw_get(words, TSC_ADDRESS_U), (uint8_t)hw_get(words, TSC_ADDRESS_V),
               (uint8_t)hw_get(words, TSC_ADDRESS_P)},
      .linear_magnified = magnified == TSC_MAG_FILTER_MAG_LINEAR,
      .linear_minified = minified == TSC_MIN_FILTER_MIN_LINEAR,
      .unnormalized = hw_get(words, TSC_FLOAT_COORD_NORMALIZATION),
      .srgb = hw_get(words, TSC_S_R_G_B_CONVERSION),
      .border = {hw_get(words, TSC_BORDER_COLOR_R), hw_get(words, TSC_BORDER_COLOR_G),
                 hw_get(words, TSC_BORDER_COLOR_B), hw_get(words, TSC_BORDER_COLOR_A)},
  };
  if (emu_texture_has(EMU_TEXTURE_BORDER))
    for (unsigned i = 0; i < 4; i++)
      s->border[i] = 0x3f800000; /* 1.0 */
  if (emu_texture_has(EMU_TEXTURE_ADDRESS_MODE))
    for (unsigned i = 0; i < 3; i++)
      if (s->mode[i] == TSC_ADDRESS_U_WRAP || s->mode[i] == TSC_ADDRESS_U_MIRROR)
        s->mode[i] = TSC_ADDRESS_U_CLAMP_TO_EDGE;
  if (hw_get(words, TSC_FORCED_INVALID))
    return refuse_value(wrong, "FORCED_INVALID is 1");
  if (!s->linear_magnified && magnified != TSC_MAG_FILTER_MAG_POINT)
    return refuse_value(wrong, "MAG_FILTER is %u", magnified);
  if (!s->linear_minified && minified != TSC_MIN_FILTER_MIN_POINT)
    return refuse_value(wrong, "MIN_FILTER is %u", minified);
  if (hw_get(words, TSC_REDUCTION_FILTER))
    return refuse_value(wrong, "REDUCTION_FILTER is %u", hw_get(words, TSC_REDUCTION_FILTER));
  return true;
}
