/* The CUBIN reader: an ELF file with SM machine code becomes a struct
 * module_code. Input is hostile (clCreateProgramWithBinary): every offset, size
 * and index is checked before use. Format: docs/hardware/cubin.md.
 */
#ifndef TEGRACL_CUBIN_H
#define TEGRACL_CUBIN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "gpu/cubin/kernel_code.h"

enum cubin_status {
  CUBIN_OK = 0,
  CUBIN_INVALID,      /* truncated, damaged or foreign */
  CUBIN_WRONG_DEVICE, /* valid, but for another SM */
  CUBIN_OUT_OF_MEMORY,
};

bool cubin_is_elf(const void *data, size_t size);

/* Reads a whole-program CUBIN for sm_80, sm_86 or sm_87. Arrays and strings go
 * into arena; section data and names point into data, which must be aligned to
 * 8 and live as long as the arena. On failure a sentence is left in error and
 * *code is undefined. Argument kinds are all VALUE, args_known is 0 and
 * hidden_offset UINT32_MAX. */
enum cubin_status cubin_read(const void *data, size_t size, struct arena *arena,
                             struct module_code *code, char *error, size_t error_size);

#endif
