/* Lines of bytes in pitch and block-linear surfaces.
 *
 * In the block-linear layout, a GOB has 8 rows of 64 bytes, and a block is 1 GOB wide and up to 32
 * GOBs high and deep (docs/hardware/command-stream.md 7.4). Within a GOB, runs of 16 bytes are
 * swizzled as on Turing and later (TuringColor2D in Mesa's nil/tiling.rs; the layout of Xavier and
 * later in the NVIDIA modifiers of drm_fourcc.h). */
#include "emulator/engine/surface.h"

#include "emulator/engine/mmu.h"
#include "gpu/hw/methods.h"

enum {
  GOB_WIDTH = 64,
  GOB_HEIGHT = 8,
  GOB_BYTES = GOB_WIDTH * GOB_HEIGHT,
  GOB_RUN = 16, /* contiguous bytes */
  BLOCK_LOG2_MAX = 5,
};

bool emu_surface_set_blocks(struct emu_surface *s, uint32_t block_size) {
  s->block_height = hw_field(block_size, NVC7B5_SET_DST_BLOCK_SIZE_HEIGHT);
  s->block_depth = hw_field(block_size, NVC7B5_SET_DST_BLOCK_SIZE_DEPTH);
  return !hw_field(block_size, NVC7B5_SET_DST_BLOCK_SIZE_WIDTH) &&
         s->block_height <= BLOCK_LOG2_MAX && s->block_depth <= BLOCK_LOG2_MAX;
}

static uint64_t gob_offset(uint64_t x, uint64_t y) {
  return x / 32 * 256 + y / 4 * 128 + x % 32 / GOB_RUN * 64 + y % 4 * GOB_RUN + x % GOB_RUN;
}

static uint64_t block_linear_offset(const struct emu_surface *s, uint64_t x, uint64_t y) {
  uint64_t z = s->layer;
  uint64_t block_rows = (uint64_t)GOB_HEIGHT << s->block_height;
  uint64_t layer_bytes = (uint64_t)GOB_BYTES << s->block_height;
  uint64_t block_bytes = layer_bytes << s->block_depth;
  uint64_t across = (s->width + GOB_WIDTH - 1) / GOB_WIDTH;
  uint64_t down = (s->height + block_rows - 1) / block_rows;
  uint64_t block = ((z >> s->block_depth) * down + y / block_rows) * across + x / GOB_WIDTH;
  return block * block_bytes + (z & ((1u << s->block_depth) - 1)) * layer_bytes +
         y % block_rows / GOB_HEIGHT * GOB_BYTES + gob_offset(x % GOB_WIDTH, y % GOB_HEIGHT);
}

/* Returns the address of the byte at line and column, and sets *run to the number of contiguous
 * bytes from there on. */
static uint64_t locate_byte(const struct emu_surface *s, uint64_t line, uint64_t column,
                            uint64_t bytes, uint64_t *run) {
  *run = bytes;
  if (!s->block_linear)
    return s->address + line * s->pitch + column;
  uint64_t x = s->x + column;
  if (*run > GOB_RUN - x % GOB_RUN)
    *run = GOB_RUN - x % GOB_RUN;
  return s->address + block_linear_offset(s, x, s->y + line);
}

bool emu_surface_read(struct emu_as *as, const struct emu_surface *s, uint64_t line,
                      uint64_t column, void *to, uint64_t bytes, struct emu_fault *fault) {
  uint8_t *out = to;
  for (uint64_t run; bytes; bytes -= run, column += run, out += run) {
    uint64_t address = locate_byte(s, line, column, bytes, &run);
    if (!emu_mmu_read(as, address, out, run, fault))
      return false;
  }
  return true;
}

bool emu_surface_write(struct emu_as *as, const struct emu_surface *s, uint64_t line,
                       uint64_t column, const void *from, uint64_t bytes, struct emu_fault *fault) {
  const uint8_t *in = from;
  for (uint64_t run; bytes; bytes -= run, column += run, in += run) {
    uint64_t address = locate_byte(s, line, column, bytes, &run);
    if (!emu_mmu_write(as, address, in, run, fault))
      return false;
  }
  return true;
}
