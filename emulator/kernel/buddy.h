/* The allocator of GPU virtual addresses. It behaves like nvgpu's buddy allocator, so clients get
 * the same addresses as on a board. docs/hardware/kernel-interface.md 3.2, "VA placement without
 * FIXED" */
#ifndef TEGRACL_EMULATOR_BUDDY_H
#define TEGRACL_EMULATOR_BUDDY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { BUDDY_ORDERS = 48, BUDDY_BUCKET_BITS = 10 };

struct emu_buddy_block;

struct emu_buddy {
  uint64_t start, end;
  struct emu_buddy_block *free[BUDDY_ORDERS]; /* heads are taken first */
  struct emu_buddy_block **bucket;            /* all blocks, by start */
  unsigned bucket_bits;                       /* 2^n buckets, initially 2^BUDDY_BUCKET_BITS */
  size_t block_count;
};

/* Makes [start, end) available; both are multiples of 4096. Returns false if memory is
 * exhausted. */
bool emu_buddy_init(struct emu_buddy *buddy, uint64_t start, uint64_t end);
void emu_buddy_destroy(struct emu_buddy *buddy);
/* Allocates size bytes, rounded up to a power of two of pages. Returns the address, or 0. */
uint64_t emu_buddy_alloc(struct emu_buddy *buddy, uint64_t size);
/* Allocates [address, address + size), multiples of 4096, which emu_buddy_free_fixed frees. Returns
 * false if part of it is in use or outside the range. */
bool emu_buddy_alloc_fixed(struct emu_buddy *buddy, uint64_t address, uint64_t size);
void emu_buddy_free(struct emu_buddy *buddy, uint64_t address);
void emu_buddy_free_fixed(struct emu_buddy *buddy, uint64_t address, uint64_t size);

#endif
