/* The texture units: return texels for a header, a sampler and coordinates. The functions have no
 * state and read memory through a callback. docs/hardware/textures.md lists the sources,
 * docs/emulator/textures.md what is unknown about the hardware and how this model decides it. */
#ifndef TEGRACL_EMULATOR_TEXTURE_H
#define TEGRACL_EMULATOR_TEXTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { EMU_TEXTURE_WORDS = 8, EMU_TEXEL_BYTES_MAX = 16, EMU_TEXTURE_MESSAGE = 128 };

/* Faults of texture units, planted to test how drivers find them (emulator/modes/inject.c). */
enum emu_texture_fault {
  EMU_TEXTURE_RIGHT,
  EMU_TEXTURE_SWIZZLE,        /* a stored component is returned in its own place */
  EMU_TEXTURE_SRGB,           /* sRGB is not decoded */
  EMU_TEXTURE_BORDER,         /* the border is white */
  EMU_TEXTURE_ADDRESS_MODE,   /* WRAP and MIRROR clamp to the edge */
  EMU_TEXTURE_NORMALIZED,     /* normalized coordinates are multiplied by the size - 1 */
  EMU_TEXTURE_HALF_TEXEL,     /* linear filters are shifted by half a texel */
  EMU_TEXTURE_WEIGHTS,        /* weights of linear filters have six bits */
  EMU_TEXTURE_FILTER_BYTES,   /* linear filters round the result if components have 8 bits */
  EMU_TEXTURE_PITCH,          /* the pitch is rounded up to 64 bytes */
  EMU_TEXTURE_WIDTH,          /* the last column is outside */
  EMU_TEXTURE_HEIGHT,         /* the last row is outside */
  EMU_TEXTURE_LEVEL,          /* level 1 is read instead of level 0 */
  EMU_TEXTURE_FORMAT,         /* SNORM components of 16 bits are read as UNORM */
  EMU_TEXTURE_BUFFER,         /* a buffer begins one texel later */
  EMU_TEXTURE_LAYER,          /* a warp uses the handle of one lane for all */
  EMU_TEXTURE_CONSTANT_FORM,  /* handles in constant banks use the next header */
  EMU_TEXTURE_UNIFORM_FORM,   /* handles in uniform registers use the next header */
  EMU_TEXTURE_STORE_CONSTANT, /* SUST with a handle in a constant bank uses the next header */
  EMU_TEXTURE_STORE_REGISTER, /* SUST with a handle in a register uses the next header */
  EMU_TEXTURE_SAMPLER_INDEX,  /* sampler 0 is used */
  EMU_TEXTURE_STORE,          /* SUST.P truncates */
  EMU_TEXTURE_STORE_ORDER,    /* SUST.P exchanges R and B of 8-bit components */
  EMU_TEXTURE_STALE_HEADER,   /* invalidates keep headers */
  EMU_TEXTURE_STALE_SAMPLER,  /* invalidates keep samplers */
  EMU_TEXTURE_STALE_DATA,     /* invalidates keep texels */
  EMU_TEXTURE_LOST,           /* reads of textures fault */
  EMU_TEXTURE_STORE_LOST,     /* SUST.P faults */
};
extern enum emu_texture_fault emu_texture_fault;
static inline bool emu_texture_has(enum emu_texture_fault fault) {
  return __builtin_expect(emu_texture_fault == fault, 0);
}
/* Returns whether the fault concerns caches, which then exist in every mode. */
static inline bool emu_texture_is_stale(void) {
  return emu_texture_fault >= EMU_TEXTURE_STALE_HEADER &&
         emu_texture_fault <= EMU_TEXTURE_STALE_DATA;
}

/* A memory format. Components are R, G, B, A, with R in the lowest bits. */
struct emu_texel_format {
  uint8_t bytes;
  uint8_t bits[4];   /* 0 if the component does not exist */
  uint8_t type[4];   /* TIC_R_DATA_TYPE_NUM_* */
  uint8_t source[4]; /* TIC_X_SOURCE_IN_*, for x, y, z, w of the result */
  bool srgb;         /* R, G and B are sRGB */
  bool is_gathered;  /* texels pass through the filter */
};

/* A decoded header. */
struct emu_texture {
  uint64_t address;
  uint32_t width, height; /* texels */
  uint32_t depth;         /* of a 3D texture, else 1 */
  uint32_t layers;        /* of an array, else 1 */
  uint32_t pitch;         /* in bytes, or 0 for a block-linear texture or a buffer */
  uint8_t block_height;   /* log2 of the number of GOBs */
  uint8_t block_depth;    /* log2 of the number of slices */
  uint8_t type;           /* TIC_TEXTURE_TYPE_* */
  bool block_linear;
  bool normalized;
  bool none; /* it has no mip level, so it belongs to no image: reads return 0, stores do nothing */
  struct emu_texel_format format;
};

/* A decoded sampler. */
struct emu_sampler {
  uint8_t mode[3]; /* TSC_ADDRESS_U_* for x, y, z */
  bool linear_magnified, linear_minified;
  bool unnormalized;
  bool srgb;          /* decode sRGB if the header requests it */
  uint32_t border[4]; /* x, y, z, w of the result */
};

/* Decode a header or a sampler. Return false if the texture units or this emulator cannot use it;
 * then wrong, of EMU_TEXTURE_MESSAGE bytes, describes the field and its value. */
bool emu_texture_decode(const uint32_t header[EMU_TEXTURE_WORDS], struct emu_texture *texture,
                        char *wrong);
bool emu_sampler_decode(const uint32_t words[EMU_TEXTURE_WORDS], struct emu_sampler *sampler,
                        char *wrong);

/* read copies bytes from GPU memory. If it returns false, the texture access also returns false. */
struct emu_texture_memory {
  bool (*read)(void *space, uint64_t address, void *to, size_t bytes);
  void *space;
};

/* Returns the number of coordinates, not counting the layer. */
unsigned emu_texture_dimensions(const struct emu_texture *texture);

bool emu_texture_is_array(const struct emu_texture *texture);
bool emu_texture_is_buffer(const struct emu_texture *texture);

struct emu_texture_place {
  float at[3];
  uint32_t layer; /* of an array; clamped to the last layer */
  int offset[3];  /* in texels */
  bool minified;  /* the level of detail is above 0 */
};

/* Returns whether the format can be filtered, which integer formats cannot. */
bool emu_texture_filters(const struct emu_texture *texture);

/* Returns whether the first component is a signed integer. */
bool emu_texture_is_signed(const struct emu_texture *texture);

/* TEX: samples the texture. Header and sampler determine whether coordinates are normalized or in
 * texels. result has x to w, as the bits of floats or integers. */
bool emu_texture_sample(const struct emu_texture *texture, const struct emu_sampler *sampler,
                        const struct emu_texture_place *place,
                        const struct emu_texture_memory *memory, uint32_t result[4]);
/* TLD4: returns one component of the four texels that linear filtering would blend: (x, y + 1), (x
 * + 1, y + 1), (x + 1, y), (x, y). */
bool emu_texture_gather(const struct emu_texture *texture, const struct emu_sampler *sampler,
                        const struct emu_texture_place *place, unsigned component,
                        const struct emu_texture_memory *memory, uint32_t result[4]);
/* TLD: reads the texel at integer coordinates. Texels outside the texture are converted from
 * zeros. */
bool emu_texture_fetch(const struct emu_texture *texture, const int32_t at[3], uint32_t layer,
                       const struct emu_texture_memory *memory, uint32_t result[4]);
/* TXQ: returns width, height, and depth or layers, which are 0 if the level does not exist, and the
 * number of levels. */
void emu_texture_query(const struct emu_texture *texture, uint32_t level, uint32_t result[4]);

/* Returns the GPU address of the texel at (x, y, z), which must be inside the texture. z is the
 * layer of an array. */
uint64_t emu_texture_address(const struct emu_texture *texture, uint32_t x, uint32_t y, uint32_t z);
/* Convert a texel from, and to, its memory format (SUST.P). */
void emu_texel_unpack(const struct emu_texel_format *format, const uint8_t *texel,
                      uint32_t result[4]);
void emu_texel_pack(const struct emu_texel_format *format, const uint32_t components[4],
                    uint8_t *texel);
/* The steps of unpacking: stores the components as they are in memory, and converts one of them. */
void emu_texel_extract(const struct emu_texel_format *format, const uint8_t *texel,
                       uint32_t raw[4]);
uint32_t emu_texel_convert(const struct emu_texel_format *format, unsigned component, uint32_t raw);
/* Returns whether a component is decoded from sRGB. */
bool emu_texel_is_srgb(const struct emu_texel_format *format, unsigned component);
/* Converts a component of the border colour to the memory format. */
uint32_t emu_texel_border(const struct emu_texel_format *format, unsigned component,
                          uint32_t border);
/* Converts a float of 10, 11 or 16 bits to 32 bits. */
uint32_t emu_widen_float(uint32_t raw, unsigned bits);

#endif
