/* Texture headers (TIC) and samplers (TSC), 32 bytes each: docs/hardware/textures.md 1 and 2. Field
 * names and bits come from texture-header.csv and texture-sampler.csv, e.g. hw_set(header,
 * TIC_TEXTURE_TYPE, TIC_TEXTURE_TYPE_TWO_D_NO_MIPMAP). */
#ifndef TEGRACL_HW_TEXTURE_H
#define TEGRACL_HW_TEXTURE_H

#include "gpu/hw/field.h"
#include "gpu/hw/texture_gen.h"

enum {
  TEXTURE_WORDS = 8, /* size of a header, and of a sampler */
  TEXTURE_BYTES = 32,
  /* Texture handles: docs/hardware/textures.md 4.2. */
  TEXTURE_HANDLE_HEADER_BITS = 20,
  TEXTURE_HANDLE_SAMPLER_BITS = 12,
};

#endif
