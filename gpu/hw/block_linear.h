/* The block-linear layout: docs/hardware/textures.md 7.1. A GOB has 8 rows of 64 bytes, and a block
 * is 1 GOB wide and up to 32 GOBs high and deep.
 */
#ifndef TEGRACL_HW_BLOCK_LINEAR_H
#define TEGRACL_HW_BLOCK_LINEAR_H

#include <stdint.h>

enum {
  GOB_WIDTH = 64, /* bytes */
  GOB_ROWS = 8,
  GOB_BYTES_LOG2 = 9,
  GOB_RUN = 16, /* contiguous bytes */
  BLOCK_LOG2_MAX = 5,
};

struct hw_block_linear {
  uint64_t width_bytes;
  uint32_t height;                    /* rows */
  unsigned block_height, block_depth; /* log2, in GOBs */
};

/* Returns the offset of a byte in a GOB. Source: Mesa's nil/tiling.rs, TuringColor2D; drm_fourcc.h
 * says that Xavier and Orin have the same layout. */
static inline uint64_t hw_gob_offset(uint64_t x, uint32_t y) {
  return (x & 15) | (y & 1) << 4 | (y & 2) << 4 | (x & 16) << 2 | (y & 4) << 5 | (x & 32) << 3;
}

/* Returns the offset of the byte at (x, y, z), where x is in bytes, y in rows, and z in slices or
 * layers. */
static inline uint64_t hw_block_linear_offset(const struct hw_block_linear *s, uint64_t x,
                                              uint32_t y, uint32_t z) {
  const unsigned h = s->block_height, d = s->block_depth;
  const uint64_t wide = (s->width_bytes + GOB_WIDTH - 1) / GOB_WIDTH;
  const uint64_t block_rows = (uint64_t)GOB_ROWS << h;
  const uint64_t high = (s->height + block_rows - 1) / block_rows;
  const uint64_t block = ((uint64_t)(z >> d) * high + y / block_rows) * wide + x / GOB_WIDTH;
  const uint64_t gob = (uint64_t)(z & ((1u << d) - 1)) << h | (y / GOB_ROWS & ((1u << h) - 1));
  return block << (GOB_BYTES_LOG2 + h + d) | gob << GOB_BYTES_LOG2 |
         hw_gob_offset(x % GOB_WIDTH, y % GOB_ROWS);
}

#endif
