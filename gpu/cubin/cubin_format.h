/* Constants of the CUBIN format: CUDA's additions to ELF. Each group cites its section of
 * docs/hardware/cubin.md. The names are those of public tables (denvdis ei_attrs.txt). Generic ELF
 * constants come from <elf.h>. */
#ifndef TEGRACL_CUBIN_FORMAT_H
#define TEGRACL_CUBIN_FORMAT_H

#include <stdint.h>

/* Header (section 1). */
enum {
  CUBIN_MACHINE = 190,
  CUBIN_OSABI_7 = 0x33, /* CUDA up to 12.x */
  CUBIN_OSABI_8 = 0x41, /* CUDA 13 */
  CUBIN_ABI_7 = 7,      /* SM in e_flags bits 7:0 */
  CUBIN_ABI_8 = 8,      /* SM in e_flags bits 15:8 */
  CUBIN_ABI_8_SM_SHIFT = 8,
  CUBIN_SM_MASK = 0xff,
};

/* Sections (section 2). */
enum {
  CUBIN_SHT_INFO = 0x70000000,
  CUBIN_SHT_GLOBAL = 0x70000007,   /* like NOBITS */
  CUBIN_SHT_SHARED = 0x7000000a,   /* like NOBITS */
  CUBIN_SHT_BANK = 0x70000064,     /* plus the number of the constant bank */
  CUBIN_TEXT_REGISTERS_SHIFT = 24, /* sh_info of .text */
  CUBIN_TEXT_BARRIERS_SHIFT = 20,  /* sh_flags of .text, ABI 7 */
  CUBIN_TEXT_BARRIERS_MASK = 0x7f,
};

/* Symbols (section 3). */
enum {
  CUBIN_STO_ENTRY = 0x10, /* st_other of a kernel */
};

/* Relocations (section 4). */
enum {
  R_CUDA_NONE = 0,
  R_CUDA_32 = 1,
  R_CUDA_64 = 2,
  R_CUDA_G32 = 3,
  R_CUDA_G64 = 4,
  R_CUDA_ABS32_LO_32 = 56,
  R_CUDA_ABS32_HI_32 = 57,
  R_CUDA_ABS47_34 = 58,
  R_CUDA_YIELD_OPCODE9_0 = 68,
  R_CUDA_YIELD_CLEAR_PRED4_87 = 69,
  R_CUDA_UNUSED_CLEAR32 = 72,
  R_CUDA_UNUSED_CLEAR64 = 73,
};

/* Attribute records of .nv.info (section 5). */
enum {
  EIFMT_NONE = 1,
  EIFMT_BYTE = 2,
  EIFMT_HALF = 3,
  EIFMT_SIZED = 4,
};

enum {
  EIATTR_MAX_THREADS = 0x05,
  EIATTR_PARAM_CBANK = 0x0a,
  EIATTR_EXTERNS = 0x0f,
  EIATTR_REQNTID = 0x10,
  EIATTR_FRAME_SIZE = 0x11,
  EIATTR_MIN_STACK_SIZE = 0x12,
  EIATTR_KPARAM_INFO = 0x17,
  EIATTR_CRS_STACK_SIZE = 0x1e,
  EIATTR_REGCOUNT = 0x2f,
  EIATTR_KPARAM_INFO_V2 = 0x45,
  EIATTR_NUM_BARRIERS = 0x4c,
};

enum {
  CUBIN_KPARAM_SIZE_SHIFT = 18, /* in the last word of EIATTR_KPARAM_INFO */
  CUBIN_KPARAM_BYTES = 12,
};

/* Value of EIATTR_MIN_STACK_SIZE and EIATTR_CRS_STACK_SIZE for a kernel whose stack ptxas could not
 * bound because of recursion or indirect calls (in all output of ptxas 11.8 and 12.4, and in
 * debugging output of 13.0). */
#define CUBIN_STACK_UNKNOWN UINT32_MAX

/* Folder in which tegraclc places the files of an OpenCL program (#line in its CUDA C), so that
 * they can be distinguished from the device library in the line table. */
#define SOURCE_FOLDER "/opencl/"
#define SOURCE_NAME   "<program source>" /* the source from clCreateProgramWithSource */

/* Limits of the machine. A CUBIN that exceeds them is rejected. */
enum {
  CUBIN_INSN_BYTES = 16,
  CUBIN_BANK_BYTES = 65536,
  CUBIN_MAX_REGISTERS = 255,
  CUBIN_MAX_BARRIERS = 16,
  CUBIN_MAX_STACK = 1 << 24,  /* the local-memory window */
  CUBIN_MAX_SHARED = 1 << 24, /* the shared-memory window */
  CUBIN_MAX_ALIGN = 1 << 21,
  CUBIN_PARAM_BASE = 0x160, /* in bank 0, without PARAM_CBANK */
};
#define CUBIN_MAX_SECTION (1ull << 40) /* end of the GPU's address space */

#endif
