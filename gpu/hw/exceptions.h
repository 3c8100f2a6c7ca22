/* Exceptions that an SM reports for a stopped warp: the ERROR field of HWW_WARP_ESR, and bits of
 * HWW_GLOBAL_ESR. Source: nvgpu, include/nvgpu/hw/ga10b/hw_gr_ga10b.h */
#ifndef TEGRACL_HW_EXCEPTIONS_H
#define TEGRACL_HW_EXCEPTIONS_H

#include <stddef.h>
#include <stdint.h>

enum sm_warp_error {
  WARP_ERROR_NONE = 0,
  WARP_ERROR_API_STACK = 0x2,
  WARP_ERROR_MISALIGNED_PC = 0x5,
  WARP_ERROR_PC_OVERFLOW = 0x6,
  WARP_ERROR_MISALIGNED_REGISTER = 0x8,
  WARP_ERROR_ILLEGAL_INSTRUCTION = 0x9,
  WARP_ERROR_ILLEGAL_PARAMETER = 0xb,
  WARP_ERROR_REGISTER_RANGE = 0xd,
  WARP_ERROR_ADDRESS_RANGE = 0xe,
  WARP_ERROR_MISALIGNED_ADDRESS = 0xf,
  WARP_ERROR_ADDRESS_SPACE = 0x10,
  WARP_ERROR_CONSTANT_ADDRESS = 0x12,
  WARP_ERROR_MMU_FAULT = 0x17,
  WARP_ERROR_TEXTURE_FORMAT = 0x18,
  WARP_ERROR_TEXTURE_LAYOUT = 0x19,
  WARP_ERROR_MMU_NACK = 0x20,
  WARP_ERROR_ARRIVE = 0x21,
};

/* Values of the ERROR field of HWW_WARP_ESR. */
#define WARP_ESR_ERROR 15, 0

enum sm_global_esr {
  GLOBAL_ESR_MULTIPLE_WARPS = 1 << 2,
  GLOBAL_ESR_BPT_INT = 1 << 4, /* trap instruction in the program */
};

/* Returns a description of the error, or NULL if it is unknown. */
static inline const char *warp_error_text(uint32_t error) {
  static const char *const texts[] = {
      [WARP_ERROR_API_STACK] = "call stack too deep",
      [WARP_ERROR_MISALIGNED_PC] = "misaligned program counter",
      [WARP_ERROR_PC_OVERFLOW] = "program counter out of range",
      [WARP_ERROR_MISALIGNED_REGISTER] = "misaligned register",
      [WARP_ERROR_ILLEGAL_INSTRUCTION] = "illegal instruction",
      [WARP_ERROR_ILLEGAL_PARAMETER] = "illegal instruction parameter",
      [WARP_ERROR_REGISTER_RANGE] = "register out of range",
      [WARP_ERROR_ADDRESS_RANGE] = "address out of range",
      [WARP_ERROR_MISALIGNED_ADDRESS] = "misaligned address",
      [WARP_ERROR_ADDRESS_SPACE] = "invalid address space",
      [WARP_ERROR_CONSTANT_ADDRESS] = "constant address out of range",
      [WARP_ERROR_MMU_FAULT] = "MMU fault",
      [WARP_ERROR_TEXTURE_FORMAT] = "texture format",
      [WARP_ERROR_TEXTURE_LAYOUT] = "texture layout",
      [WARP_ERROR_MMU_NACK] = "MMU fault",
      [WARP_ERROR_ARRIVE] = "arrival at a barrier",
  };
  return error < sizeof(texts) / sizeof(texts[0]) ? texts[error] : NULL;
}

#endif
