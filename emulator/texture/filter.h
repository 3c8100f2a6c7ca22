/* Linear filters of the texture units, in the integer arithmetic that reproduces the results that
 * were measured: all of 1D and 2D filters, and of 3D filters all of UNORM and SNORM and 99.9 % of
 * the others (docs/hardware/textures.md 6.4). */
#ifndef TEGRACL_EMULATOR_TEXTURE_FILTER_H
#define TEGRACL_EMULATOR_TEXTURE_FILTER_H

#include <stdbool.h>
#include <stdint.h>

enum {
  EMU_FRACTION_BITS = 8, /* of a coordinate */
  EMU_WEIGHTS = 1 << EMU_FRACTION_BITS,
  EMU_CORNERS = 8, /* of a cube of texels */
};

/* The texels that a filter blends. Bit i of a corner's index selects the second texel in dimension
 * i. */
struct emu_corners {
  unsigned count;               /* 2, 4 or 8 */
  uint16_t weight[EMU_CORNERS]; /* the sum is EMU_WEIGHTS */
  bool is_blended[EMU_CORNERS]; /* an infinity or a NaN counts, even if the weight is 0 */
};

/* Computes the weights from the fraction of the coordinate in each dimension. */
void emu_find_weights(struct emu_corners *corners, unsigned dimensions, const uint32_t fraction[3]);

/* Blend a component of the texels. raw has the component of each corner as it is in memory. Return
 * the bits of a float. type is TIC_R_DATA_TYPE_NUM_*. */
uint32_t emu_blend(const struct emu_corners *corners, const uint32_t *raw, unsigned bits,
                   unsigned type);
uint32_t emu_blend_srgb(const struct emu_corners *corners, const uint32_t *raw);

/* Decodes an 8-bit sRGB component. Returns units of 2^-16. */
uint32_t emu_decode_srgb(uint32_t code);

#endif
