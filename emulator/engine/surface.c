/* Lines of bytes in pitch and block-linear surfaces: docs/hardware/command-stream.md 7.4. */
#include "emulator/engine/surface.h"

#include "emulator/engine/mmu.h"
#include "gpu/hw/block_linear.h"
#include "gpu/hw/methods.h"

bool emu_surface_set_blocks(struct emu_surface *s, uint32_t block_size) {
  s->block_height = hw_field(block_size, NVC7B5_SET_DST_BLOCK_SIZE_HEIGHT);
  s->block_depth = hw_field(block_size, NVC7B5_SET_DST_BLOCK_SIZE_DEPTH);
  return !hw_field(block_size, NVC7B5_SET_DST_BLOCK_SIZE_WIDTH) &&
         s->block_height <= BLOCK_LOG2_MAX && s->block_depth <= BLOCK_LOG2_MAX;
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
  const struct hw_block_linear layout = {s->width, s->height, s->block_height, s->block_depth};
  return s->address + hw_block_linear_offset(&layout, x, (uint32_t)(s->y + line), s->layer);
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
