/* A device node that only the software Orin has, for faults, counters and notes. It reports the
 * causes of faults, which a board writes to the kernel log. On a board opening it fails with
 * ENOENT. */
#ifndef TEGRACL_EMULATOR_NODE_H
#define TEGRACL_EMULATOR_NODE_H

#include <stdint.h>
#include <sys/ioctl.h>

#define EMULATOR_NODE_PATH "/dev/tegracl-emulator"

/* The last fault of an address space. If there was none, all fields except serial are 0. */
struct emulator_fault {
  int32_t as_fd;         /* in: fd of the address space */
  uint32_t code;         /* error-notifier code: 31 MMU fault, 13 GR exception, 32 PBDMA */
  uint64_t serial;       /* number of faults so far, in all address spaces */
  uint64_t address;      /* GPU virtual address, or offset in shared or local memory */
  uint64_t pc;           /* GPU virtual address of the instruction, or 0 */
  uint64_t program;      /* PROGRAM_ADDRESS of the QMD, or 0 */
  uint64_t opcode[2];    /* the instruction's words */
  uint32_t access_bytes; /* 0: no memory access */
  uint32_t is_write;
  uint32_t ctaid[3];
  uint32_t tid[3];      /* one of the work-items that caused the fault */
  char instruction[96]; /* disassembled */
  char message[256];    /* the cause, as a sentence */
};

struct emulator_counters {
  uint64_t warp_instructions; /* executed since start */
  uint64_t grids;
  uint64_t ctas;
};

/* Counters of the last grid that a descriptor started. The emulator keeps the counters of the last
 * few thousand grids. */
struct emulator_grid {
  int32_t as_fd;              /* in: fd of the address space */
  uint32_t known;             /* 0 if no counters are kept for the descriptor */
  uint64_t descriptor;        /* in: GPU virtual address of the QMD */
  uint64_t warp_instructions; /* executed */
  uint64_t global_bytes;      /* accessed 32-byte sectors in bytes; 0 unless profile mode is on */
};

/* Active modes of TEGRACL_EMULATOR. If both are 0, the emulator ignores notes. */
struct emulator_modes {
  uint32_t check, profile; /* 0 or 1 */
};

/* Notes describe a range of an address space for the reports of check and profile modes. A note
 * replaces overlapping notes of its kind. Notes about code are kept until the address space is
 * closed, notes about memory until it is unmapped. */
enum emulator_note_kind {
  EMULATOR_NOTE_KERNEL,     /* code; data: the name of the kernel */
  EMULATOR_NOTE_BUFFER,     /* data: the name of the buffer */
  EMULATOR_NOTE_LINES,      /* data: struct emulator_line, by offset in the range */
  EMULATOR_NOTE_FILES,      /* data: file names for those lines, each with a NUL */
  EMULATOR_NOTE_PARAMETERS, /* data: struct emulator_parameter of the kernel there */
  /* The remaining kinds describe memory in one mapping and have no data. */
  EMULATOR_NOTE_READ_ONLY,  /* kernels must not write it */
  EMULATOR_NOTE_WRITE_ONLY, /* kernels must not read it */
  EMULATOR_NOTE_UNWRITTEN,  /* uninitialised: nothing has been written to it */
  EMULATOR_NOTE_WRITTEN,    /* the CPU has written it, or may write it at any time */
  EMULATOR_NOTE_KINDS,
};
struct emulator_note {
  int32_t as_fd;
  uint32_t kind; /* enum emulator_note_kind */
  uint64_t address, size;
  uint64_t data;  /* pointer */
  uint64_t bytes; /* of data */
};
/* The source line of the code from offset to the offset of the next element. */
struct emulator_line {
  uint32_t offset;
  uint32_t line; /* from 1; 0: not known */
  uint32_t file; /* index in EMULATOR_NOTE_FILES */
};
/* A kernel parameter that is a pointer. */
struct emulator_parameter {
  uint32_t offset; /* in constant bank 0 */
  char name[60];   /* NUL-terminated, e.g. "argument 1 (data)" */
};

#define EMULATOR_IOCTL_FAULT    _IOWR('E', 1, struct emulator_fault)
#define EMULATOR_IOCTL_COUNTERS _IOR('E', 2, struct emulator_counters)
#define EMULATOR_IOCTL_MODES    _IOR('E', 3, struct emulator_modes)
#define EMULATOR_IOCTL_NOTE     _IOW('E', 4, struct emulator_note)
#define EMULATOR_IOCTL_GRID     _IOWR('E', 5, struct emulator_grid)

#endif
