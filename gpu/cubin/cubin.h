/* Reads a CUBIN, an ELF file with SM machine code, into a struct module_code. The file may be
 * hostile (clCreateProgramWithBinary), so every offset, size and index is checked before use.
 * Format: docs/hardware/cubin.md */
#ifndef TEGRACL_CUBIN_H
#define TEGRACL_CUBIN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "gpu/cubin/kernel_code.h"

enum cubin_status {
  CUBIN_OK = 0,
  CUBIN_INVALID,      /* truncated, damaged or not a CUBIN */
  CUBIN_WRONG_DEVICE, /* valid, but for another SM */
  CUBIN_OUT_OF_MEMORY,
};

/* Returns whether data begins with the ELF magic number. */
bool cubin_is_elf(const void *data, size_t size);

/* Reads a whole-program CUBIN for sm_80, sm_86 or sm_87 into *code. The arrays are allocated from
 * arena. Section data and names point into data, which must be aligned to 8 bytes and outlive the
 * arena. A CUBIN does not describe the arguments of a kernel: all have the kind KERNEL_ARG_VALUE,
 * args_known is 0, and hidden_offset is UINT32_MAX.
 *
 * If is_ours is set, source lines outside SOURCE_FOLDER are ignored. On failure *code is undefined,
 * and error receives a sentence unless error_size, which includes the NUL, is 0. */
enum cubin_status cubin_read(const void *data, size_t size, struct arena *arena, bool is_ours,
                             struct module_code *code, char *error, size_t error_size);

#endif
