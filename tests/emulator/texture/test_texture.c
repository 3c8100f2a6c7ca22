/* Compares the texture units with a reference in double precision that uses the values from which a
 * header was made and not the header itself: test_texture [CASES]. Also tests refusals, conversions
 * of all 8-bit and 16-bit values, headers of random bits, and that results are the same on all
 * machines, and results that a GPU returned (measured.h). */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/number.h"
#include "emulator/texture/filter.h"
#include "emulator/texture/texture.h"
#include "gpu/hw/texture.h"
#include "tests/emulator/random.h"
#include "tests/emulator/texture/measured.h"

enum { MEMORY_BYTES = 1 << 20, SIDE_MAX = 24, LAYERS_MAX = 5, READS = 40 };
#define BASE UINT64_C(0x1200000000)

static uint8_t noise[MEMORY_BYTES], memory_bytes[MEMORY_BYTES];
static unsigned cases = 3000;

static bool read_memory(void *space, uint64_t address, void *to, size_t bytes) {
  (void)space;
  assert_true(address >= BASE && address + bytes <= BASE + MEMORY_BYTES);
  memcpy(to, memory_bytes + (address - BASE), bytes);
  return true;
}
static const struct emu_texture_memory memory = {read_memory, NULL};

/* --- the formats of OpenCL ------------------------------------------------- */

#define ROW(order, type, bytes, components, data_type, x, y, z, w, srgb)                           \
  {#order " " #type, bytes, components, data_type, {x, y, z, w}, srgb},
static const struct format {
  const char *name;
  uint8_t bytes, components, type, source[4];
  bool srgb;
} formats[] = {TEXTURE_FORMATS(ROW)};
enum { FORMATS = sizeof formats / sizeof *formats };

/* Returns the width of a component. In the special formats the widths are listed from the lowest
 * bit on; all other formats have equal parts. */
static unsigned component_bits(const struct format *f, unsigned i) {
  static const uint8_t special[][5] = {{TIC_COMPONENTS_B5G6R5, 5, 6, 5, 0},
                                       {TIC_COMPONENTS_A1B5G5R5, 5, 5, 5, 1},
                                       {TIC_COMPONENTS_A2B10G10R10, 10, 10, 10, 2}};
  static const uint8_t one[] = {TIC_COMPONENTS_R8, TIC_COMPONENTS_R16, TIC_COMPONENTS_R32};
  static const uint8_t two[] = {TIC_COMPONENTS_G8R8, TIC_COMPONENTS_R16_G16,
                                TIC_COMPONENTS_R32_G32};
  for (unsigned k = 0; k < 3; k++)
    if (special[k][0] == f->components)
      return special[k][1 + i];
  unsigned count = f->components == TIC_COMPONENTS_R32_G32_B32 ? 3 : 4;
  for (unsigned k = 0; k < 3; k++)
    count = one[k] == f->components ? 1 : two[k] == f->components ? 2 : count;
  return i < count ? f->bytes * 8u / count : 0;
}

static double half_value(unsigned raw) {
  const int exponent = raw >> 10 & 31;
  const double mantissa = raw & 1023, sign = raw >> 15 ? -1 : 1;
  return sign * (exponent ? ldexp(1024 + mantissa, exponent - 25) : ldexp(mantissa, -24));
}

/* Returns the value of an sRGB code: the nearest one with the precision that its range has. */
static double srgb_value(unsigned code) {
  static const uint8_t limits[] = {32, 48, 64, 96, 136, 184, 248};
  const double v = code / 255.0;
  const double linear = v <= 0.04045 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4);
  double step = 0x1p-14;
  for (unsigned i = 0; i < sizeof limits && code >= limits[i]; i++)
    step *= 2;
  return rint(linear / step) * step;
}

/* Returns the number that a component represents. */
static double component_value(const struct format *f, const uint8_t *texel, unsigned i) {
  unsigned at = 0;
  for (unsigned k = 0; k < i; k++)
    at += component_bits(f, k);
  const unsigned bits = component_bits(f, i);
  uint64_t raw = 0;
  for (unsigned b = 0; b < bits; b++)
    raw |= (uint64_t)(texel[(at + b) / 8] >> (at + b) % 8 & 1) << b;
  const int64_t negative = (int64_t)raw - (raw >> (bits - 1) ? INT64_C(1) << bits : 0);
  const uint32_t word = (uint32_t)raw;
  float single;
  switch (f->type) {
  case TIC_R_DATA_TYPE_NUM_UNORM: {
    const double v = (double)raw / (ldexp(1, (int)bits) - 1);
    return f->srgb && i < 3 ? srgb_value((unsigned)raw) : v;
  }
  case TIC_R_DATA_TYPE_NUM_SNORM:
    return fmax((double)negative / (ldexp(1, (int)bits - 1) - 1), -1);
  case TIC_R_DATA_TYPE_NUM_SINT:
    return (double)negative;
  case TIC_R_DATA_TYPE_NUM_UINT:
    return (double)raw;
  default:
    memcpy(&single, &word, sizeof single);
    return bits == 16 ? half_value(word) : (double)single;
  }
}

static bool is_integer(const struct format *f) {
  return f->type == TIC_R_DATA_TYPE_NUM_SINT || f->type == TIC_R_DATA_TYPE_NUM_UINT;
}

static double result_value(const struct format *f, const uint8_t *texel, unsigned i) {
  switch (f->source[i]) {
  case 0:
    return 0;
  case 6: /* integer one */
  case 7:
    return 1;
  default:
    return component_value(f, texel, f->source[i] - 2u);
  }
}

static double number(const struct format *f, uint32_t bits) {
  float v;
  memcpy(&v, &bits, sizeof v);
  return f->type == TIC_R_DATA_TYPE_NUM_SINT   ? (double)(int32_t)bits
         : f->type == TIC_R_DATA_TYPE_NUM_UINT ? (double)bits
                                               : (double)v;
}

/* --- a random texture ------------------------------------------------------ */

enum kind { BUFFER, PITCH, LINE, LINES, BLOCK, BLOCKS, VOLUME, KINDS };
static const uint8_t types[] = {TIC_TEXTURE_TYPE_ONE_D_BUFFER, TIC_TEXTURE_TYPE_TWO_D_NO_MIPMAP,
                                TIC_TEXTURE_TYPE_ONE_D,        TIC_TEXTURE_TYPE_ONE_D_ARRAY,
                                TIC_TEXTURE_TYPE_TWO_D,        TIC_TEXTURE_TYPE_TWO_D_ARRAY,
                                TIC_TEXTURE_TYPE_THREE_D};
static const uint8_t dimensions_of[] = {1, 2, 1, 1, 2, 2, 3};

struct scene {
  const struct format *format;
  enum kind kind;
  unsigned dimensions;
  uint32_t size[3], layers, pitch, block_height, block_depth;
  uint64_t address;
  /* The sampler. */
  uint8_t mode[3];
  bool linear, normalized, decodes_srgb;
  float border[4];
  uint32_t header[EMU_TEXTURE_WORDS], sampler[EMU_TEXTURE_WORDS];
  struct emu_texture texture;
  struct emu_sampler decoded;
};

static void make_header(struct scene *s) {
  uint32_t *h = s->header;
  const struct format *f = s->format;
  memset(h, 0, sizeof s->header);
  hw_set(h, TIC_COMPONENTS, f->components);
  hw_set(h, TIC_R_DATA_TYPE, f->type);
  hw_set(h, TIC_G_DATA_TYPE, f->type);
  hw_set(h, TIC_B_DATA_TYPE, f->type);
  hw_set(h, TIC_A_DATA_TYPE, f->type);
  hw_set(h, TIC_X_SOURCE, f->source[0]);
  hw_set(h, TIC_Y_SOURCE, f->source[1]);
  hw_set(h, TIC_Z_SOURCE, f->source[2]);
  hw_set(h, TIC_W_SOURCE, f->source[3]);
  hw_set(h, TIC_S_R_G_B_CONVERSION, f->srgb);
  hw_set(h, TIC_ADDRESS_BITS48TO32, (uint32_t)(s->address >> 32));
  hw_set(h, TIC_TEXTURE_TYPE, types[s->kind]);
  if (s->kind == BUFFER) {
    hw_set(h, TIC_HEADER_VERSION, 0);
    hw_set(h, TIC_ADDRESS_BITS31TO0, (uint32_t)s->address);
    hw_set(h, TIC_WIDTH_MINUS_ONE_BITS15TO0, s->size[0] - 1);
    return;
  }
  hw_set(h, TIC_BORDER_SIZE, 7);
  hw_set(h, TIC_NORMALIZED_COORDS, 1);
  hw_set(h, TIC_WIDTH_MINUS_ONE, s->size[0] - 1);
  hw_set(h, TIC_HEIGHT_MINUS_ONE, s->size[1] - 1);
  if (s->kind == PITCH) {
    hw_set(h, TIC_HEADER_VERSION, 2);
    hw_set(h, TIC_ADDRESS_BITS31TO5, (uint32_t)s->address >> 5);
    hw_set(h, TIC_PITCH_BITS20TO5, s->pitch >> 5);
    return;
  }
  hw_set(h, TIC_HEADER_VERSION, 3);
  hw_set(h, TIC_ADDRESS_BITS31TO9, (uint32_t)s->address >> 9);
  hw_set(h, TIC_GOBS_PER_BLOCK_HEIGHT, s->block_height);
  hw_set(h, TIC_GOBS_PER_BLOCK_DEPTH, s->block_depth);
  hw_set(h, TIC_DEPTH_MINUS_ONE, s->size[2] * s->layers - 1);
}

static void make_sampler(struct scene *s) {
  memset(s->sampler, 0, sizeof s->sampler);
  hw_set(s->sampler, TSC_ADDRESS_U, s->mode[0]);
  hw_set(s->sampler, TSC_ADDRESS_V, s->mode[1]);
  hw_set(s->sampler, TSC_ADDRESS_P, s->mode[2]);
  hw_set(s->sampler, TSC_S_R_G_B_CONVERSION, s->decodes_srgb);
  hw_set(s->sampler, TSC_MAG_FILTER, s->linear ? 2 : 1);
  hw_set(s->sampler, TSC_MIN_FILTER, s->linear ? 2 : 1);
  hw_set(s->sampler, TSC_FLOAT_COORD_NORMALIZATION, !s->normalized);
  for (unsigned i = 0; i < 4; i++) {
    uint32_t bits = (uint32_t)s->border[i];
    if (!is_integer(s->format))
      memcpy(&bits, &s->border[i], sizeof bits);
    s->sampler[4 + i] = bits;
  }
}

/* Removes infinities and NaNs, because sums of them cannot be compared. */
static void make_finite(const struct format *f) {
  if (f->type != TIC_R_DATA_TYPE_NUM_FLOAT)
    return;
  const unsigned size = component_bits(f, 0) == 16 ? 2 : 4;
  for (unsigned i = size - 1; i < MEMORY_BYTES; i += size)
    memory_bytes[i] &= (uint8_t)~0x40u; /* the exponent's highest bit */
}

static void random_scene(struct scene *s) {
  *s = (struct scene){.format = &formats[below(FORMATS)], .kind = (enum kind)below(KINDS)};
  if (s->format->components == TIC_COMPONENTS_R32_G32_B32)
    s->kind = one_in(2) ? BUFFER : PITCH;
  s->dimensions = dimensions_of[s->kind];
  s->normalized = s->kind != BUFFER && one_in(2);
  s->linear = s->kind != BUFFER && !is_integer(s->format) && !one_in(3);
  s->decodes_srgb = !one_in(4);
  s->layers = s->kind == LINES || s->kind == BLOCKS ? 1 + below(LAYERS_MAX) : 1;
  for (unsigned i = 0; i < 3; i++) {
    s->size[i] = i < s->dimensions ? s->normalized ? 1u << below(5) : 1 + below(SIDE_MAX) : 1;
    s->mode[i] = (uint8_t)below(8);
    /* The reference does not model these modes. */
    if (s->mode[i] == TSC_ADDRESS_U_CLAMP_OGL || s->mode[i] == TSC_ADDRESS_U_MIRROR_ONCE_CLAMP_OGL)
      s->mode[i] = TSC_ADDRESS_U_BORDER;
  }
  for (unsigned i = 0; i < 4; i++)
    s->border[i] = (float)below(2);
  s->pitch = (s->size[0] * s->format->bytes + 31) / 32 * 32 + 32 * below(3);
  s->block_height = below(4);
  s->block_depth = s->kind == VOLUME ? below(4) : 0;
  s->address =
      BASE + 512 * (uint64_t)below(8) + (s->kind == PITCH ? 32 * below(16) : 0) +
      (s->kind == BUFFER ? s->format->bytes * below(5) * (s->format->bytes % 3 ? 1 : 4) : 0);
  memcpy(memory_bytes, noise, sizeof noise);
  make_finite(s->format);
  make_header(s);
  make_sampler(s);
  char wrong[EMU_TEXTURE_MESSAGE] = "";
  if (!emu_texture_decode(s->header, &s->texture, wrong) ||
      !emu_sampler_decode(s->sampler, &s->decoded, wrong))
    fail_msg("case %llu, %s: %s", (unsigned long long)seed, s->format->name, wrong);
}

/* --- the reference --------------------------------------------------------- */

/* Returns the offset of a byte in a GOB. The string lists the bits of x and y from the lowest bit
 * of the offset on. */
static uint64_t place_in_gob(uint64_t x, uint64_t y) {
  static const char order[] = "xxxxyyxyx";
  uint64_t offset = 0;
  for (unsigned bit = 0, nx = 0, ny = 0; order[bit]; bit++)
    offset |= (order[bit] == 'x' ? x >> nx++ & 1 : y >> ny++ & 1) << bit;
  return offset;
}

static uint64_t texel_place(const struct scene *s, uint64_t x, uint64_t y, uint64_t z) {
  const uint64_t bytes = s->format->bytes;
  if (s->kind == BUFFER)
    return s->address + x * bytes;
  if (s->kind == PITCH)
    return s->address + y * s->pitch + x * bytes;
  /* Counts the GOBs before the texel, block by block. */
  const uint64_t high = 1u << s->block_height, deep = 1u << s->block_depth;
  const uint64_t across = (s->size[0] * bytes + 63) / 64;
  const uint64_t down = (s->size[1] + 8 * high - 1) / (8 * high);
  const uint64_t column = x * bytes / 64, row = y / 8;
  const uint64_t blocks = z / deep * down * across + row / high * across + column;
  const uint64_t gobs = blocks * high * deep + z % deep * high + row % high;
  return s->address + gobs * 512 + place_in_gob(x * bytes % 64, y % 8);
}

/* Returns the texel at coordinate i, or -1 for the border. Finds it by steps, unlike the device. */
static int wrapped(int i, int n, unsigned mode) {
  switch (mode) {
  case TSC_ADDRESS_U_WRAP:
    while (i < 0)
      i += n;
    while (i >= n)
      i -= n;
    return i;
  case TSC_ADDRESS_U_MIRROR:
    while (i < 0 || i >= n)
      i = i < 0 ? -1 - i : 2 * n - 1 - i;
    return i;
  case TSC_ADDRESS_U_CLAMP_TO_EDGE:
    return i < 0 ? 0 : i >= n ? n - 1 : i;
  case TSC_ADDRESS_U_MIRROR_ONCE_CLAMP_TO_EDGE:
    return wrapped(i < 0 ? -1 - i : i, n, TSC_ADDRESS_U_CLAMP_TO_EDGE);
  case TSC_ADDRESS_U_MIRROR_ONCE_BORDER:
    return wrapped(i < 0 ? -1 - i : i, n, TSC_ADDRESS_U_BORDER);
  default:
    return i < 0 || i >= n ? -1 : i;
  }
}

static double texel_value(const struct scene *s, const int at[3], unsigned layer, unsigned i) {
  int place[3] = {0, 0, (int)layer};
  for (unsigned d = 0; d < s->dimensions; d++) {
    place[d] = wrapped(at[d], (int)s->size[d], s->mode[d]);
    if (place[d] < 0)
      return (double)s->border[i];
  }
  const uint64_t address =
      texel_place(s, (uint64_t)place[0], (uint64_t)place[1], (uint64_t)place[2]);
  return result_value(s->format, memory_bytes + (address - BASE), i);
}

/* Returns the product of weights, rounded to 1/256. A tie between the texels of a row goes to the
 * right one. */
static double round_weight(double v, bool right) {
  return right ? floor(v * 256 + 0.5) / 256 : ceil(v * 256 - 0.5) / 256;
}

/* Returns the weight of a corner. */
static double corner_weight(const double weight[3], unsigned dimensions, unsigned corner) {
  const bool right = corner & 1, low = corner >> 1 & 1, behind = corner >> 2;
  const double slice = dimensions < 3 ? 1 : behind ? weight[2] : 1 - weight[2];
  const double share = round_weight(slice * weight[0], true);
  const double column = right ? share : slice - share;
  const double below_it = dimensions < 2 ? 0 : round_weight(column * weight[1], right);
  return low ? below_it : column - below_it;
}

/* Returns the filtered value, and in *size the largest magnitude of the texels. */
static double sampled_value(const struct scene *s, const double at[3], const int offset[3],
                            unsigned layer, unsigned i, double *size) {
  int low[3] = {0};
  double weight[3] = {0}, sum = 0;
  for (unsigned d = 0; d < s->dimensions; d++) {
    low[d] = (int)floor(s->linear ? at[d] - 0.5 : at[d]);
    weight[d] = s->linear ? floor((at[d] - 0.5 - low[d]) * 256 + 0.5) / 256 : 0;
    if (weight[d] == 1) {
      weight[d] = 0;
      low[d]++;
    }
    low[d] += offset[d];
  }
  *size = 0;
  for (unsigned corner = 0; corner < 1u << s->dimensions; corner++) {
    const double share = corner_weight(weight, s->dimensions, corner);
    int place[3];
    for (unsigned d = 0; d < s->dimensions; d++)
      place[d] = low[d] + (int)(corner >> d & 1);
    if (share > 0) {
      const double v = texel_value(s, place, layer, i);
      sum += share * v;
      *size = fmax(*size, fabs(v));
    }
  }
  return sum;
}

/* Returns how far a filtered value may be from the reference. */
static double filter_error(const struct format *f, double size) {
  switch (f->type) {
  case TIC_R_DATA_TYPE_NUM_UNORM:
    return f->srgb ? size / 100 : 0.51 / 65535;
  case TIC_R_DATA_TYPE_NUM_SNORM: /* the least code is less than -1 */
    return component_bits(f, 0) == 8 ? 1 / 127.0 : 1 / 32767.0;
  default: /* subnormal floats are zeros */
    return component_bits(f, 0) == 32 ? size * 2e-7 + 2e-38 : size * 0x1p-11 + 0x1p-25;
  }
}

static void compare(const struct scene *s, const uint32_t got[4], const double expected[4],
                    const double error[4]) {
  for (unsigned i = 0; i < 4; i++)
    if (!(fabs(number(s->format, got[i]) - expected[i]) <= error[i]))
      fail_msg("case %llu, %s, kind %d: component %u is %.9g, expected %.9g within %g",
               (unsigned long long)seed, s->format->name, (int)s->kind, i,
               number(s->format, got[i]), expected[i], error[i]);
}

static void samples_match_reference(void **state) {
  (void)state;
  unsigned done[KINDS] = {0};
  for (unsigned n = 0; n < cases; n++) {
    struct scene s;
    begin_input(n);
    random_scene(&s);
    struct format undecoded = *s.format; /* the format as the sampler sees it */
    undecoded.srgb &= s.decodes_srgb;
    s.format = &undecoded;
    done[s.kind]++;
    for (unsigned r = 0; r < READS && s.kind != BUFFER; r++) {
      struct emu_texture_place place = {.minified = one_in(2)};
      double at[3], expected[4], error[4];
      uint32_t got[4];
      for (unsigned d = 0; d < s.dimensions; d++) {
        /* Multiples of 1/1024: all steps are exact if the sides are powers of two. */
        at[d] = ((double)below(4 * 1024 * s.size[d]) + 0.5) / 1024 - 1.5 * s.size[d];
        place.at[d] = (float)(s.normalized ? at[d] / s.size[d] : at[d]);
        place.offset[d] = one_in(3) ? (int)below(16) - 8 : 0;
      }
      place.layer = below(s.layers + 2);
      const unsigned layer = place.layer < s.layers ? place.layer : s.layers - 1;
      assert_true(emu_texture_sample(&s.texture, &s.decoded, &place, &memory, got));
      for (unsigned i = 0; i < 4; i++) {
        double size;
        expected[i] = sampled_value(&s, at, place.offset, layer, i, &size);
        error[i] = is_integer(s.format) ? 0 : s.linear ? filter_error(s.format, size) : 2e-7 * size;
      }
      compare(&s, got, expected, error);
    }
  }
  for (unsigned k = 0; k < KINDS; k++)
    assert_true(done[k] > cases / 20);
}

static void fetches_match_reference(void **state) {
  (void)state;
  unsigned outside = 0;
  for (unsigned n = 0; n < cases; n++) {
    struct scene s;
    begin_input(n);
    random_scene(&s);
    for (unsigned r = 0; r < READS; r++) {
      int32_t at[3] = {0};
      int place[3] = {0};
      uint32_t got[4];
      double expected[4], error[4];
      const uint32_t layer = below(s.layers + (one_in(4) ? 2 : 0));
      bool inside = layer < s.layers;
      for (unsigned d = 0; d < s.dimensions; d++) {
        at[d] = one_in(10) ? (int32_t)rnd() : (int32_t)below(s.size[d]);
        inside &= at[d] >= 0 && at[d] < (int32_t)s.size[d];
        place[d] = at[d];
      }
      outside += !inside;
      assert_true(emu_texture_fetch(&s.texture, at, layer, &memory, got));
      const uint8_t nothing[16] = {0};
      for (unsigned i = 0; i < 4; i++) {
        expected[i] =
            inside ? texel_value(&s, place, layer, i) : result_value(s.format, nothing, i);
        error[i] = is_integer(s.format) ? 0 : 2e-7 * fabs(expected[i]);
      }
      compare(&s, got, expected, error);
    }
    uint32_t size[4];
    emu_texture_query(&s.texture, 0, size);
    assert_int_equal(size[0], s.size[0]);
    assert_int_equal(size[1], s.size[1]);
    assert_int_equal(size[2], s.size[2] * s.layers);
    assert_int_equal(size[3], 1);
  }
  assert_true(outside > cases);
}

/* TLD4 returns the four texels that linear filtering uses. */
static void gathers_match_reference(void **state) {
  (void)state;
  for (unsigned n = 0; n < cases; n++) {
    struct scene s;
    begin_input(n);
    random_scene(&s);
    struct format undecoded = *s.format; /* the format as the sampler sees it */
    undecoded.srgb &= s.decodes_srgb;
    s.format = &undecoded;
    if (s.dimensions != 2)
      continue;
    struct emu_texture_place place = {.layer = below(s.layers)};
    int low[2];
    uint32_t got[4];
    const unsigned component = below(4);
    for (unsigned d = 0; d < 2; d++) {
      low[d] = (int)below(2 * s.size[d]) - (int)s.size[d] / 2;
      const float at = (float)low[d] + 0.75f;
      place.at[d] = s.normalized ? at / (float)s.size[d] : at;
    }
    assert_true(emu_texture_gather(&s.texture, &s.decoded, &place, component, &memory, got));
    static const uint8_t corners[][2] = {{0, 1}, {1, 1}, {1, 0}, {0, 0}};
    for (unsigned i = 0; i < 4; i++) {
      const int at[3] = {low[0] + corners[i][0], low[1] + corners[i][1], 0};
      const double expected = texel_value(&s, at, place.layer, component);
      /* The texels pass through the filter. */
      const double error = is_integer(s.format) ? 0 : filter_error(s.format, fabs(expected));
      assert_true(fabs(number(s.format, got[i]) - expected) <= error);
    }
  }
}

/* --- conversions ----------------------------------------------------------- */

/* Unpacks and packs every value of each format with up to 16 bits. */
static void unpacked_texels_pack_to_the_same_bits(void **state) {
  (void)state;
  static const struct {
    uint8_t bits, type;
  } kinds[] = {{8, TIC_R_DATA_TYPE_NUM_UNORM},  {8, TIC_R_DATA_TYPE_NUM_SNORM},
               {8, TIC_R_DATA_TYPE_NUM_SINT},   {8, TIC_R_DATA_TYPE_NUM_UINT},
               {16, TIC_R_DATA_TYPE_NUM_UNORM}, {16, TIC_R_DATA_TYPE_NUM_SNORM},
               {16, TIC_R_DATA_TYPE_NUM_SINT},  {16, TIC_R_DATA_TYPE_NUM_UINT},
               {16, TIC_R_DATA_TYPE_NUM_FLOAT}, {10, TIC_R_DATA_TYPE_NUM_FLOAT},
               {11, TIC_R_DATA_TYPE_NUM_FLOAT}, {10, TIC_R_DATA_TYPE_NUM_UNORM},
               {5, TIC_R_DATA_TYPE_NUM_UNORM},  {6, TIC_R_DATA_TYPE_NUM_UNORM},
               {1, TIC_R_DATA_TYPE_NUM_UNORM}};
  for (unsigned k = 0; k < sizeof kinds / sizeof *kinds; k++) {
    const unsigned bits = kinds[k].bits;
    const struct emu_texel_format f = {.bytes = (uint8_t)((bits + 7) / 8),
                                       .bits = {kinds[k].bits},
                                       .type = {kinds[k].type},
                                       .source = {TIC_X_SOURCE_IN_R}};
    for (unsigned raw = 0; raw < 1u << bits; raw++) {
      uint8_t texel[2] = {(uint8_t)raw, (uint8_t)(raw >> 8)}, back[2] = {0};
      uint32_t value[4];
      emu_texel_unpack(&f, texel, value);
      emu_texel_pack(&f, value, back);
      unsigned expected = raw;
      if (kinds[k].type == TIC_R_DATA_TYPE_NUM_SNORM && raw == 1u << (bits - 1))
        expected = raw + 1; /* both mean -1 */
      if (kinds[k].type == TIC_R_DATA_TYPE_NUM_FLOAT) {
        const unsigned mantissa = bits == 16 ? 10 : bits - 5;
        if ((raw >> mantissa & 31) == 31 && raw & ((1u << mantissa) - 1)) { /* a NaN stays one */
          assert_true((value[0] & 0x7fffffff) > 0x7f800000);
          continue;
        }
      }
      assert_int_equal(back[0] | back[1] << 8, expected);
    }
  }
}

static unsigned packed_half(double v) {
  const struct emu_texel_format f = {
      .bytes = 2, .bits = {16}, .type = {TIC_R_DATA_TYPE_NUM_FLOAT}, .source = {TIC_X_SOURCE_IN_R}};
  const float single = (float)v;
  uint32_t value[4] = {0};
  uint8_t texel[2];
  memcpy(value, &single, sizeof single);
  emu_texel_pack(&f, value, texel);
  return texel[0] | (unsigned)texel[1] << 8;
}

/* Values between two halves become the smaller one. */
static void halves_are_truncated(void **state) {
  (void)state;
  enum { LARGEST = 0x7bff, INFINITY_HALF = 0x7c00 };
  for (unsigned h = 0; h < LARGEST; h++) {
    const double next = half_value(h + 1);
    assert_int_equal(packed_half(half_value(h)), h);
    assert_int_equal(packed_half((half_value(h) + next) / 2), h);
    assert_int_equal(packed_half((double)nextafterf((float)next, 0)), h);
  }
  assert_int_equal(packed_half(65535.99), LARGEST);
  assert_int_equal(packed_half(1e30), LARGEST);
  assert_int_equal(packed_half(HUGE_VAL), INFINITY_HALF);
  assert_int_equal(packed_half(-HUGE_VAL), INFINITY_HALF | 0x8000);
  assert_int_equal(packed_half(-0.0), 0x8000);
}

static void conversions_saturate(void **state) {
  (void)state;
  static const struct {
    uint8_t type;
    float value;
    uint8_t stored;
  } rows[] = {{TIC_R_DATA_TYPE_NUM_UNORM, -1, 0},          {TIC_R_DATA_TYPE_NUM_UNORM, 2, 255},
              {TIC_R_DATA_TYPE_NUM_UNORM, 0.5f, 127},      {TIC_R_DATA_TYPE_NUM_UNORM, NAN, 0},
              {TIC_R_DATA_TYPE_NUM_UNORM, HUGE_VALF, 255}, {TIC_R_DATA_TYPE_NUM_SNORM, -2, 0x81},
              {TIC_R_DATA_TYPE_NUM_SNORM, 2, 127},         {TIC_R_DATA_TYPE_NUM_SNORM, NAN, 0}};
  static const struct {
    uint8_t type;
    int32_t value;
    uint8_t stored;
  } integers[] = {{TIC_R_DATA_TYPE_NUM_SINT, 128, 127},
                  {TIC_R_DATA_TYPE_NUM_SINT, -129, 0x80},
                  {TIC_R_DATA_TYPE_NUM_SINT, -5, 0xfb},
                  {TIC_R_DATA_TYPE_NUM_UINT, 256, 255},
                  {TIC_R_DATA_TYPE_NUM_UINT, -1, 255}};
  struct emu_texel_format f = {.bytes = 1, .bits = {8}, .source = {TIC_X_SOURCE_IN_R}};
  uint32_t value[4] = {0};
  uint8_t texel;
  for (unsigned k = 0; k < sizeof rows / sizeof *rows; k++) {
    f.type[0] = rows[k].type;
    memcpy(value, &rows[k].value, sizeof *value);
    emu_texel_pack(&f, value, &texel);
    assert_int_equal(texel, rows[k].stored);
  }
  for (unsigned k = 0; k < sizeof integers / sizeof *integers; k++) {
    f.type[0] = integers[k].type;
    memcpy(value, &integers[k].value, sizeof *value);
    emu_texel_pack(&f, value, &texel);
    assert_int_equal(texel, integers[k].stored);
  }
}

/* --- measured results ------------------------------------------------------- */

static struct emu_texture single_component(uint32_t width, uint32_t height, uint32_t depth,
                                           unsigned type, unsigned bits) {
  return (struct emu_texture){.address = BASE,
                              .width = width,
                              .height = height,
                              .depth = depth,
                              .layers = 1,
                              .pitch = width * bits / 8,
                              .type = depth > 1 ? TIC_TEXTURE_TYPE_THREE_D
                                                : TIC_TEXTURE_TYPE_TWO_D_NO_MIPMAP,
                              .block_linear = depth > 1,
                              .normalized = true,
                              .format = {.bytes = (uint8_t)(bits / 8),
                                         .bits = {(uint8_t)bits},
                                         .type = {(uint8_t)type},
                                         .source = {TIC_X_SOURCE_IN_R}}};
}

/* Texel i is 256 (i + 1). */
static bool read_ramp(void *space, uint64_t address, void *to, size_t bytes) {
  (void)space;
  const float v = 256 * (float)((address - BASE) / sizeof v + 1);
  assert_int_equal(bytes, sizeof v);
  memcpy(to, &v, sizeof v);
  return true;
}

static void coordinates_are_as_measured(void **state) {
  (void)state;
  const struct emu_texture_memory ramp = {read_ramp, NULL};
  for (unsigned k = 0; k < sizeof measured_coordinates / sizeof *measured_coordinates; k++) {
    const struct measured_coordinate *m = &measured_coordinates[k];
    const struct emu_texture t = single_component(m->size, 1, 1, TIC_R_DATA_TYPE_NUM_FLOAT, 32);
    const struct emu_sampler s = {.mode = {m->mode, m->mode, m->mode},
                                  .linear_magnified = m->linear,
                                  .unnormalized = !m->normalized};
    const struct emu_texture_place place = {.at = {base_float(m->x), 0.5f}};
    uint32_t got[4];
    assert_true(emu_texture_sample(&t, &s, &place, &ramp, got));
    if (got[0] != base_float_bits(m->result))
      fail_msg("row %u: %g instead of %g", k, (double)base_float(got[0]), (double)m->result);
  }
}

/* Samples 2 x 2 or 2 x 2 x 2 texels between their centres. */
static uint32_t blend_texels(const struct emu_texture *t, const uint8_t *fraction) {
  const struct emu_sampler s = {.mode = {TSC_ADDRESS_U_CLAMP_TO_EDGE, TSC_ADDRESS_U_CLAMP_TO_EDGE,
                                         TSC_ADDRESS_U_CLAMP_TO_EDGE},
                                .linear_magnified = true,
                                .unnormalized = true,
                                .srgb = true};
  struct emu_texture_place place = {.minified = false};
  uint32_t got[4];
  for (unsigned d = 0; d < emu_texture_dimensions(t); d++)
    place.at[d] = 0.5f + (float)fraction[d] / 256;
  assert_true(emu_texture_sample(t, &s, &place, &memory, got));
  return got[0];
}

static void blends_are_as_measured(void **state) {
  (void)state;
  for (unsigned k = 0; k < sizeof measured_blends / sizeof *measured_blends; k++) {
    const struct measured_blend *m = &measured_blends[k];
    const unsigned bits = m->bits == 10 ? 16 : m->bits;
    struct emu_texture t = single_component(2, 2, 1, m->type, bits);
    t.format.bits[0] = m->bits;
    t.format.srgb = m->srgb;
    for (unsigned i = 0; i < 4; i++)
      memcpy(memory_bytes + i * bits / 8, &m->texel[i], bits / 8);
    const uint32_t got = blend_texels(&t, m->fraction);
    if (got != m->result)
      fail_msg("row %u: 0x%08x instead of 0x%08x", k, got, m->result);
  }
  for (unsigned k = 0; k < sizeof measured_volumes / sizeof *measured_volumes; k++) {
    const struct measured_volume *m = &measured_volumes[k];
    const struct emu_texture t = single_component(2, 2, 2, TIC_R_DATA_TYPE_NUM_UNORM, 16);
    for (unsigned i = 0; i < 8; i++)
      memcpy(memory_bytes + (emu_texture_address(&t, i & 1, i >> 1 & 1, i >> 2) - BASE),
             &m->texel[i], sizeof m->texel[i]);
    const uint32_t got = blend_texels(&t, m->fraction);
    if (got != m->result)
      fail_msg("3D, row %u: 0x%08x instead of 0x%08x", k, got, m->result);
  }
}

/* Four equal texels, of any width that normalized components may have, blend to their value,
 * rounded to 16 bits. OpenCL's formats have only some of these widths. */
static void equal_texels_blend_to_their_value(void **state) {
  (void)state;
  static const uint32_t fraction[3] = {77, 33};
  struct emu_corners corners;
  emu_find_weights(&corners, 2, fraction);
  for (unsigned bits = 2; bits <= 16; bits++)
    for (unsigned code = 0; code < 1u << bits; code++) {
      const uint32_t raw[] = {code, code, code, code}, most = (1u << bits) - 1;
      const double v =
          (double)base_float(emu_blend(&corners, raw, bits, TIC_R_DATA_TYPE_NUM_UNORM));
      if (fabs(v - (double)code / most) > 0.502 / UINT16_MAX)
        fail_msg("UNORM, code %u of %u bits: %.9g", code, bits, v);
      const int number = code >> (bits - 1) ? (int)code - (1 << bits) : (int)code;
      const double half = most >> 1, wanted = fmax(number / half, -1);
      const double w =
          (double)base_float(emu_blend(&corners, raw, bits, TIC_R_DATA_TYPE_NUM_SNORM));
      if (fabs(w - wanted) > (fabs(wanted) < 1 ? 0.505 / INT16_MAX : 0))
        fail_msg("SNORM, code %d of %u bits: %.9g", number, bits, w);
    }
}

static void stores_are_as_measured(void **state) {
  (void)state;
  for (unsigned k = 0; k < sizeof measured_stores / sizeof *measured_stores; k++) {
    const struct measured_store *m = &measured_stores[k];
    const struct emu_texture t = single_component(1, 1, 1, m->type, m->bits);
    const uint32_t colour[4] = {m->value};
    uint8_t texel[EMU_TEXEL_BYTES_MAX] = {0};
    emu_texel_pack(&t.format, colour, texel);
    if ((unsigned)(texel[0] | texel[1] << 8) != m->stored)
      fail_msg("row %u: 0x%x instead of 0x%x", k, (unsigned)(texel[0] | texel[1] << 8), m->stored);
  }
}

/* --- what is refused ------------------------------------------------------- */

static void invalid_headers_are_refused(void **state) {
  (void)state;
  static const struct {
    enum kind kind;
    unsigned high, low;
    uint32_t value;
    const char *words;
  } rows[] = {
      {PITCH, TIC_COMPONENTS, TIC_COMPONENTS_DXT1, "COMPONENTS is 0x24"},
      {PITCH, TIC_R_DATA_TYPE, 0, "R_DATA_TYPE is 0"},
      {PITCH, TIC_B_DATA_TYPE, TIC_R_DATA_TYPE_NUM_FLOAT, "B_DATA_TYPE is 7"},
      {PITCH, TIC_Y_SOURCE, 1, "Y_SOURCE is 1"},
      {PITCH, TIC_HEADER_VERSION, 1, "HEADER_VERSION is 1"},
      {PITCH, TIC_HEADER_VERSION, 7, "HEADER_VERSION is 7"},
      {PITCH, TIC_TEXTURE_TYPE, TIC_TEXTURE_TYPE_TWO_D_ARRAY, "supports only 7"},
      {PITCH, TIC_PITCH_BITS20TO5, 1, "less than a row's"},
      {PITCH, TIC_PITCH_BIT21, 1, "the pitch is"},
      {PITCH, TIC_HEIGHT_MINUS_ONE, 65000, "65001 rows"},
      {PITCH, TIC_MAX_MIP_LEVEL, 1, "mip level"},
      {PITCH, TIC_RES_VIEW_MAX_MIP_LEVEL, 1, "mip level"},
      {PITCH, TIC_ADDRESS_BITS31TO0, 16, "bits 4:0 of the address are 0x10"},
      {BLOCK, TIC_ADDRESS_BITS31TO0, 32, "bits 8:0 of the address are 0x20"},
      {PITCH, TIC_MULTI_SAMPLE_COUNT, 2, "MULTI_SAMPLE_COUNT is 2"},
      {PITCH, TIC_BORDER_SIZE, 0, "BORDER_SIZE is 0"},
      {BLOCK, TIC_TEXTURE_TYPE, TIC_TEXTURE_TYPE_CUBEMAP, "TEXTURE_TYPE is 3"},
      {BLOCK, TIC_TEXTURE_TYPE, TIC_TEXTURE_TYPE_ONE_D_BUFFER, "TEXTURE_TYPE is 6"},
      {BLOCK, TIC_GOBS_PER_BLOCK_HEIGHT, 6, "2^6"},
      {BLOCK, TIC_GOBS_PER_BLOCK_WIDTH, 1, "2^1"},
      {BLOCK, TIC_TILE_WIDTH_IN_GOBS, 1, "TILE_WIDTH"},
      {BLOCK, TIC_COMPONENTS, TIC_COMPONENTS_R32_G32_B32, "12 bytes"},
      {BLOCK, TIC_HEIGHT_MINUS_ONE_BIT16, 1, "the limit is 65536"},
      {VOLUME, TIC_WIDTH_MINUS_ONE, 16384, "16385 x"},
      {VOLUME, TIC_DEPTH_MINUS_ONE_BIT14, 1, "the limit of a side is 16384"},
      {BLOCKS, TIC_DEPTH_MINUS_ONE, 2048, "2049 layers"},
      {BUFFER, TIC_TEXTURE_TYPE, TIC_TEXTURE_TYPE_ONE_D, "TEXTURE_TYPE is 0"},
      {BUFFER, TIC_WIDTH_MINUS_ONE_BITS31TO16, 0x1000, "the limit is 2^28"},
      {BUFFER, TIC_ADDRESS_BITS31TO0, 2, "not a multiple of 4"},
  };
  struct scene s = {.size = {9, 8, 2}, .layers = 1, .pitch = 64, .address = BASE, .linear = true};
  char wrong[EMU_TEXTURE_MESSAGE];
  for (unsigned i = 0; i < FORMATS; i++)
    if (!strcmp(formats[i].name, "RGBA UNSIGNED_INT8"))
      s.format = &formats[i];
  for (unsigned k = 0; k < sizeof rows / sizeof *rows; k++) {
    s.kind = rows[k].kind;
    make_header(&s);
    if (rows[k].kind == BLOCK && rows[k].value == TIC_COMPONENTS_R32_G32_B32)
      hw_set(s.header, TIC_W_SOURCE, TIC_X_SOURCE_IN_ONE_INT);
    if (!emu_texture_decode(s.header, &s.texture, wrong))
      fail_msg("row %u: %s", k, wrong);
    hw_set(s.header, rows[k].high, rows[k].low, rows[k].value);
    if (emu_texture_decode(s.header, &s.texture, wrong))
      fail_msg("row %u is not refused", k);
    if (!strstr(wrong, rows[k].words))
      fail_msg("row %u: \"%s\" has no \"%s\"", k, wrong, rows[k].words);
  }
  static const struct {
    unsigned high, low;
    uint32_t value;
    const char *words;
  } samplers[] = {{TSC_FORCED_INVALID, 1, "FORCED_INVALID"},
                  {TSC_MAG_FILTER, 0, "MAG_FILTER is 0"},
                  {TSC_MAG_FILTER, 3, "MAG_FILTER is 3"},
                  {TSC_MIN_FILTER, 3, "MIN_FILTER is 3"},
                  {TSC_REDUCTION_FILTER, 1, "REDUCTION_FILTER is 1"}};
  for (unsigned k = 0; k < sizeof samplers / sizeof *samplers; k++) {
    make_sampler(&s);
    assert_true(emu_sampler_decode(s.sampler, &s.decoded, wrong));
    hw_set(s.sampler, samplers[k].high, samplers[k].low, samplers[k].value);
    assert_false(emu_sampler_decode(s.sampler, &s.decoded, wrong));
    assert_non_null(strstr(wrong, samplers[k].words));
  }
}

static bool read_nothing(void *space, uint64_t address, void *to, size_t bytes) {
  (void)address;
  memset(to, 0, bytes);
  return --*(unsigned *)space;
}

/* A header of any 32 bytes is either refused or decoded; a decoded one can be read. */
static void random_headers_are_safe(void **state) {
  (void)state;
  static const float strange[] = {NAN,    HUGE_VALF, -HUGE_VALF, 3e38f,
                                  -3e38f, 1e-40f,    -0.0f,      16777216};
  unsigned decoded = 0;
  for (unsigned n = 0; n < 50 * cases; n++) {
    uint32_t words[2][EMU_TEXTURE_WORDS], got[4];
    struct scene s;
    struct emu_texture texture;
    struct emu_sampler sampler;
    char wrong[EMU_TEXTURE_MESSAGE];
    begin_input(n);
    for (unsigned i = 0; i < 2 * EMU_TEXTURE_WORDS; i++)
      words[i / EMU_TEXTURE_WORDS][i % EMU_TEXTURE_WORDS] = rnd() ^ rnd() << 16;
    if (n % 50) { /* near to legal */
      s = (struct scene){.format = &formats[below(FORMATS)],
                         .kind = (enum kind)below(KINDS),
                         .size = {1 + below(1 << 16), 1 + below(1 << 16), 1 + below(1 << 11)},
                         .layers = 1,
                         .pitch = 32 * below(1 << 16),
                         .address = (uint64_t)rnd() << 17,
                         .linear = one_in(2),
                         .normalized = one_in(2)};
      make_header(&s);
      make_sampler(&s);
      memcpy(words, s.header, sizeof s.header);
      memcpy(words[1], s.sampler, sizeof s.sampler);
      for (unsigned flips = below(4); flips; flips--)
        words[below(2)][below(EMU_TEXTURE_WORDS)] ^= 1u << below(32);
    }
    memset(wrong, 0, sizeof wrong);
    if (!emu_sampler_decode(words[1], &sampler, wrong) ||
        !emu_texture_decode(words[0], &texture, wrong)) {
      assert_true(strlen(wrong) > 0);
      continue;
    }
    decoded++;
    unsigned left = one_in(4) ? 1 + below(4) : 100;
    const struct emu_texture_memory nothing = {read_nothing, &left};
    struct emu_texture_place place = {.layer = rnd(), .minified = one_in(2)};
    int32_t at[3];
    for (unsigned d = 0; d < 3; d++) {
      place.at[d] = one_in(2) ? strange[below(8)] : (float)(int32_t)rnd();
      place.offset[d] = (int)below(256) - 128;
      at[d] = (int32_t)rnd();
    }
    emu_texture_sample(&texture, &sampler, &place, &nothing, got);
    emu_texture_gather(&texture, &sampler, &place, below(4), &nothing, got);
    emu_texture_fetch(&texture, at, rnd(), &nothing, got);
    emu_texture_query(&texture, below(3), got);
  }
  assert_true(decoded > cases);
}

/* --- equal results on all machines ----------------------------------------- */

/* What a checksum is about. A read counts for each of these that applies to it. */
enum part { NEAREST, LINEAR, SRGB, BORDERS, ARRAYS, VOLUMES, GATHERS, FETCHES, STORES, PARTS };

/* FNV-1a of 32-bit words. */
static void add_to_sum(uint64_t *sum, uint32_t word) {
  *sum = (*sum ^ word) * UINT64_C(0x100000001b3);
}

static void add_read(const struct scene *s, enum part what, const uint32_t words[4],
                     uint64_t sums[PARTS], unsigned counts[PARTS]) {
  bool has_border = false;
  for (unsigned d = 0; d < s->dimensions; d++)
    has_border |= s->mode[d] == TSC_ADDRESS_U_BORDER;
  const bool applies[PARTS] = {[SRGB] = s->format->srgb && s->decodes_srgb && what < SRGB,
                               [BORDERS] = has_border && what < SRGB,
                               [ARRAYS] = s->kind == LINES || s->kind == BLOCKS,
                               [VOLUMES] = s->kind == VOLUME};
  for (unsigned part = 0; part < PARTS; part++)
    if (part == what || applies[part]) {
      counts[part]++;
      for (unsigned i = 0; i < 4; i++)
        add_to_sum(&sums[part], words[i]);
    }
}

/* Makes a few components of a format of floats infinite. */
static void add_infinities(const struct format *f) {
  if (f->type != TIC_R_DATA_TYPE_NUM_FLOAT)
    return;
  const unsigned size = component_bits(f, 0) == 16 ? 2 : 4;
  const uint32_t infinity = size == 2 ? 0x7c00 : 0x7f800000, sign = size == 2 ? 0x8000 : 1u << 31;
  for (unsigned i = 0; i < MEMORY_BYTES; i += size * (2 + below(6))) {
    const uint32_t value = infinity | (one_in(2) ? sign : 0);
    memcpy(memory_bytes + i, &value, size);
  }
}

/* Compares the bits of results with those of an x86-64 machine. Unlike the references above, this
 * also covers sums of infinities and NaNs, and coordinates and sizes that make steps inexact. After
 * an intended change of the model, copy the checksums that are printed if this test also passes on
 * arm64. */
static void results_are_the_same_on_all_machines(void **state) {
  (void)state;
  enum { SCENES = 3000, READS_MIN = 1000 };
  static const struct {
    const char *name;
    uint64_t sum;
  } golden[PARTS] = {
      [NEAREST] = {"nearest", UINT64_C(0x1c8e70dd4474e844)},
      [LINEAR] = {"linear", UINT64_C(0x1f9845798f7d8748)},
      [SRGB] = {"sRGB", UINT64_C(0x33aca11af0d8d52e)},
      [BORDERS] = {"borders", UINT64_C(0x2eb02e03485e73a6)},
      [ARRAYS] = {"arrays", UINT64_C(0x6154987541b4e58d)},
      [VOLUMES] = {"3D", UINT64_C(0x473343a9ddc2da1a)},
      [GATHERS] = {"gathers", UINT64_C(0x0243c175f5e88c41)},
      [FETCHES] = {"fetches", UINT64_C(0x77e8766a80cdf957)},
      [STORES] = {"typed stores", UINT64_C(0xf6c93d16b6a380ff)},
  };
  uint64_t sums[PARTS];
  unsigned counts[PARTS] = {0}, wrong = 0;
  for (unsigned part = 0; part < PARTS; part++)
    sums[part] = UINT64_C(0xcbf29ce484222325);
  for (unsigned n = 0; n < SCENES; n++) {
    struct scene s;
    begin_input(n);
    random_scene(&s);
    memcpy(memory_bytes, noise, sizeof noise);
    add_infinities(s.format);
    for (unsigned r = 0; r < READS; r++) {
      struct emu_texture_place place = {.layer = below(s.layers + 1), .minified = one_in(2)};
      int32_t at[3] = {0};
      uint32_t words[4];
      for (unsigned d = 0; d < s.dimensions; d++) {
        const float x = (float)rnd() * 0x1p-30f - 1.5f; /* -1.5 to 2.5 */
        place.at[d] = s.normalized ? x : x * (float)s.size[d];
        at[d] = (int32_t)below(s.size[d] + 2) - 1;
      }
      if (s.kind != BUFFER) {
        assert_true(emu_texture_sample(&s.texture, &s.decoded, &place, &memory, words));
        add_read(&s, s.linear ? LINEAR : NEAREST, words, sums, counts);
      }
      if (s.dimensions == 2) {
        assert_true(emu_texture_gather(&s.texture, &s.decoded, &place, below(4), &memory, words));
        add_read(&s, GATHERS, words, sums, counts);
      }
      assert_true(emu_texture_fetch(&s.texture, at, place.layer, &memory, words));
      add_read(&s, FETCHES, words, sums, counts);
      uint8_t texel[EMU_TEXEL_BYTES_MAX] = {0};
      const float x = (float)rnd() * 0x1p-30f - 1.5f;
      for (unsigned i = 0; i < 4; i++)
        words[i] = one_in(2) || is_integer(s.format) ? rnd() : base_float_bits(x / (float)(i + 1));
      emu_texel_pack(&s.texture.format, words, texel);
      memcpy(words, texel, sizeof words);
      add_read(&s, STORES, words, sums, counts);
    }
  }
  for (unsigned part = 0; part < PARTS; part++) {
    assert_true(counts[part] > READS_MIN);
    if (sums[part] != golden[part].sum) {
      print_error("%s: the checksum is 0x%016llx, not 0x%016llx\n", golden[part].name,
                  (unsigned long long)sums[part], (unsigned long long)golden[part].sum);
      wrong++;
    }
  }
  assert_int_equal(wrong, 0);
}

int main(int argc, char **argv) {
  if (argc > 1)
    cases = (unsigned)strtoul(argv[1], NULL, 0);
  begin_input(0);
  for (unsigned i = 0; i < MEMORY_BYTES; i++)
    noise[i] = (uint8_t)rnd();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(samples_match_reference),
      cmocka_unit_test(fetches_match_reference),
      cmocka_unit_test(gathers_match_reference),
      cmocka_unit_test(unpacked_texels_pack_to_the_same_bits),
      cmocka_unit_test(halves_are_truncated),
      cmocka_unit_test(conversions_saturate),
      cmocka_unit_test(coordinates_are_as_measured),
      cmocka_unit_test(blends_are_as_measured),
      cmocka_unit_test(equal_texels_blend_to_their_value),
      cmocka_unit_test(stores_are_as_measured),
      cmocka_unit_test(invalid_headers_are_refused),
      cmocka_unit_test(random_headers_are_safe),
      cmocka_unit_test(results_are_the_same_on_all_machines),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
