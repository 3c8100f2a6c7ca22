/* Surfaces: lines of bytes in memory. */
#ifndef TEGRACL_EMULATOR_SURFACE_H
#define TEGRACL_EMULATOR_SURFACE_H

#include <stdbool.h>
#include <stdint.h>

struct emu_as;
struct emu_fault;

/* A surface in pitch or block-linear layout. x and width are in bytes. */
struct emu_surface {
  uint64_t address;
  uint32_t pitch; /* in bytes; used in the pitch layout */
  bool block_linear;
  uint32_t block_height, block_depth; /* log2, in GOBs */
  uint64_t width, x;
  uint32_t height, layer, y; /* the transfer starts at x and y */
};

/* Applies the data of SET_DST_BLOCK_SIZE or SET_SRC_BLOCK_SIZE. Returns false if the block size is
 * illegal. */
bool emu_surface_set_blocks(struct emu_surface *surface, uint32_t block_size);
/* Copy bytes of a line, starting at column. Lines and columns (in bytes) count from the start of
 * the transfer. Return false with *fault set on an error. */
bool emu_surface_read(struct emu_as *as, const struct emu_surface *surface, uint64_t line,
                      uint64_t column, void *to, uint64_t bytes, struct emu_fault *fault);
bool emu_surface_write(struct emu_as *as, const struct emu_surface *surface, uint64_t line,
                       uint64_t column, const void *from, uint64_t bytes, struct emu_fault *fault);

#endif
