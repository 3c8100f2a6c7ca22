/* SM memory: generic-address windows, the local memory pool, shared-memory carve-outs, and the
 * limits of a grid. docs/hardware/command-stream.md 4.2, 4.3, 5.2, 5.4, 9.1 */
#ifndef TEGRACL_HW_MEMORY_H
#define TEGRACL_HW_MEMORY_H

#include <stddef.h>
#include <stdint.h>

enum {
  GPU_PAGE_BYTES = 4096, /* the only GMMU page size on Orin; docs/hardware/kernel-interface.md 5 */
  GPU_WARP_SIZE = 32,
  SM_WARPS = 48,
  SM_BLOCKS = 16,
  SM_REGISTERS = 65536,
  SM_SHARED_BYTES = 164 * 1024,
  SMS_PER_TPC = 2,
  GRID_X_MAX = INT32_MAX,
  GRID_YZ_MAX = 65535,
  BLOCK_XY_MAX = 1024,
  BLOCK_Z_MAX = 64,
  BLOCK_THREADS_MAX = 1024,
  REGISTERS_MIN = 16, /* smallest REGISTER_COUNT_V used by CUDA */
  REGISTERS_MAX = 255,
  REGISTER_UNIT = 256, /* allocation unit of registers per warp */
  WARP_UNIT = 4,       /* an SM has four partitions, each with a quarter of its registers */
  BARRIERS_MAX = 16,
  TEXT_ALIGN = 128,       /* PROGRAM_ADDRESS */
  TEXT_TAIL_BYTES = 4096, /* mapped memory required after the code, which the prefetcher may read */
};

/* The size of each window of generic addresses. No buffer may overlap a window (not measured on
 * GA10B; docs/hardware/command-stream.md 4.2). */
#define SHADER_WINDOW_BYTES UINT64_C(0x1000000)

/* The local memory pool has space for SM_WARPS * SMS_PER_TPC warps of each TPC. */
enum {
  LOCAL_THREAD_UNIT = 32, /* rounding of bytes per thread, as in tinygrad */
  LOCAL_WARP_UNIT = 0x200,
  LOCAL_TPC_UNIT = 0x8000,
  LOCAL_POOL_UNIT = 0x20000,
  LOCAL_MAX_SM_COUNT = 0xff, /* NON_THROTTLED_C as in tinygrad and NVK */
};

/* Carve-outs of SM 8.7 in KiB. The QMD contains KiB / 4 + 1. */
static const uint8_t shared_carveout_kib[] = {0, 8, 16, 32, 64, 100, 132, 164};

enum { SHARED_UNIT = 128 /* unit of SHARED_MEMORY_SIZE */ };

static inline uint32_t shared_carveout_code(uint32_t kib) {
  return kib / 4 + 1;
}

/* Returns the code of the smallest carve-out with at least this many bytes, or of the largest
 * one. */
static inline uint32_t shared_carveout_for(uint64_t bytes) {
  size_t last = sizeof(shared_carveout_kib) - 1;
  size_t i = 0;
  while (i < last && (uint64_t)shared_carveout_kib[i] * 1024 < bytes)
    i++;
  return shared_carveout_code(shared_carveout_kib[i]);
}

#endif
