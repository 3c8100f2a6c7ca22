/* Layout of constant bank 0 as expected by NVRTC's code for sm_87: byte offsets of the words that
 * the driver provides. docs/hardware/command-stream.md 6 */
#ifndef TEGRACL_HW_CONSTANT_BANK_H
#define TEGRACL_HW_CONSTANT_BANK_H

enum bank0_offset {
  BANK0_BLOCK_X = 0x00, /* %ntid */
  BANK0_BLOCK_Y = 0x04,
  BANK0_BLOCK_Z = 0x08,
  BANK0_GRID_X = 0x0c, /* %nctaid */
  BANK0_GRID_Y = 0x10,
  BANK0_GRID_Z = 0x14,
  BANK0_SHARED_WINDOW = 0x18,  /* 64 bits */
  BANK0_LOCAL_WINDOW = 0x20,   /* 64 bits */
  BANK0_STACK_POINTER = 0x28,  /* initial R1 */
  BANK0_DYNAMIC_SHARED = 0x2c, /* %dynamic_smem_size */
  BANK0_GRID_ID = 0x30,        /* 64 bits */
  BANK0_BANK3_ADDRESS = 0x50,  /* 64 bits; generic address of __constant__ variables */
  BANK0_ENVREG = 0x88,         /* 32 words */
  BANK0_SM_COUNT = 0x10c,      /* %nsmid */
  BANK0_RESERVED_SHARED = 0x114,
  BANK0_GLOBAL_DESCRIPTOR = 0x118, /* 64 bits; 0 works on Orin */
  BANK0_PARAMS = 0x160,
  BANK0_PARAMS_BIG = 0x1a80, /* if the parameters exceed BANK0_PARAMS_BYTES_MAX bytes */
};

enum {
  BANK0_PARAMS_BYTES_MAX = 4352,
  BANK0_PARAMS_BIG_BYTES_MAX = 32764,
  CONSTANT_BANK_BYTES_MAX = 65536,
  CONSTANT_BANK_ALIGN = 256, /* required by NVK; the hardware's minimum is unknown */
};

/* The stack starts 0x240 bytes below the end of the local window (16 MiB) and grows down; CUDA
 * reserves the top 0x240 bytes. docs/hardware/command-stream.md 4.3 */
enum {
  STACK_POINTER_START = 0xfffdc0,
  STACK_TOP_RESERVED = 0x240,
};

#endif
