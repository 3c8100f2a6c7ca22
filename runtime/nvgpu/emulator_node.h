/* The one node that only the software Orin has: what it saw and counted. It
 * takes the place of the kernel log, which on a board tells the cause of a
 * fault; opening it on a board fails with ENOENT.
 */
#ifndef TEGRACL_EMULATOR_NODE_H
#define TEGRACL_EMULATOR_NODE_H

#include <stdint.h>
#include <sys/ioctl.h>

#define EMULATOR_NODE_PATH "/dev/tegracl-emulator"

/* The last fault of one address space. All zero but for serial if none. */
struct emulator_fault {
  int32_t as_fd;         /* in: whose fault */
  uint32_t code;         /* error-notifier code: 31 MMU fault, 13 GR exception, 32 PBDMA */
  uint64_t serial;       /* counts faults since start */
  uint64_t address;      /* GPU virtual address, shared or local offset */
  uint64_t pc;           /* GPU virtual address of the instruction, 0 if none */
  uint64_t program;      /* PROGRAM_ADDRESS of the QMD, 0 if none */
  uint64_t opcode[2];    /* the instruction's words */
  uint32_t access_bytes; /* 0: no memory access */
  uint32_t is_write;
  uint32_t ctaid[3];
  uint32_t tid[3];      /* one work-item that did it */
  char instruction[96]; /* disassembled */
  char message[256];    /* one sentence: what the hardware objects to */
};

struct emulator_counters {
  uint64_t warp_instructions; /* executed since start */
  uint64_t grids;
  uint64_t ctas;
};

/* A name for a range of an address space that holds code (a kernel's, say), for
 * the reports of check and profile modes. It replaces the names of ranges that it
 * overlaps, and goes with the address space. */
struct emulator_name {
  int32_t as_fd;
  uint32_t reserved; /* 0 */
  uint64_t address, size;
  char name[128]; /* cut there */
};

#define EMULATOR_IOCTL_FAULT    _IOWR('E', 1, struct emulator_fault)
#define EMULATOR_IOCTL_COUNTERS _IOR('E', 2, struct emulator_counters)
#define EMULATOR_IOCTL_NAME     _IOW('E', 3, struct emulator_name)

#endif
