/* Converts texels on the CPU, from OpenCL's definition of the formats: the reference of the
 * self-check, independent of texture headers. */
#ifndef TEGRACL_RUNTIME_TEXEL_H
#define TEGRACL_RUNTIME_TEXEL_H

#include <stdbool.h>
#include <stdint.h>

enum { RT_TEXEL_BYTES = 16 };

struct rt_texel {
  bool integer, is_signed;
  unsigned read;            /* mask of the components that a read defines */
  unsigned stored;          /* mask of the components in memory */
  double value[4];          /* R, G, B, A */
  double accuracy[4];       /* how far a read may be from value */
  double loss[4];           /* how far a blend of values up to 1 may be off, besides its weights */
  double step[4];           /* how far a store may be from the value */
  double least[4], most[4]; /* the range of the channel */
};

/* Decodes a texel in a kernel_image.format. */
void rt_texel_decode(uint32_t format, const uint8_t bytes[RT_TEXEL_BYTES], struct rt_texel *texel);
/* Fills a texel with an arbitrary value that all hardware reads alike: neither NaN nor denormal. If
 * tame is set all hardware filters it alike: in float formats it is between 0 and 1. */
void rt_texel_make(uint32_t format, bool tame, uint64_t *random, uint8_t bytes[RT_TEXEL_BYTES]);

#endif
