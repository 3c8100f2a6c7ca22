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

/* What the last grid of a descriptor did, of those that ended lately. */
struct emulator_grid {
  int32_t as_fd;              /* in */
  uint32_t known;             /* 0: none of them was of that descriptor */
  uint64_t descriptor;        /* in: GPU virtual address of the QMD */
  uint64_t warp_instructions; /* executed */
  uint64_t global_bytes;      /* of the 32-byte sectors touched; 0 without profile mode */
};

/* Which modes of TEGRACL_EMULATOR are on: without them notes are of no use. */
struct emulator_modes {
  uint32_t check, profile; /* 0 or 1 */
};

/* What a client knows about a range of an address space, for the reports of check
 * and profile modes. A note replaces those of its kind on ranges that it overlaps.
 * Notes on code go with the address space, those on memory with its mapping. */
enum emulator_note_kind {
  EMULATOR_NOTE_KERNEL,     /* data: the name of the kernel whose code it is */
  EMULATOR_NOTE_BUFFER,     /* data: the name of the buffer */
  EMULATOR_NOTE_LINES,      /* data: struct emulator_line, by offset in the range */
  EMULATOR_NOTE_FILES,      /* data: the files of those lines, each ended by 0 */
  EMULATOR_NOTE_PARAMETERS, /* data: struct emulator_parameter of the kernel there */
  /* Of memory in one mapping; no data: */
  EMULATOR_NOTE_READ_ONLY,  /* kernels may not write it */
  EMULATOR_NOTE_WRITE_ONLY, /* nor read it */
  EMULATOR_NOTE_UNWRITTEN,  /* its contents mean nothing yet */
  EMULATOR_NOTE_WRITTEN,    /* the CPU wrote it, or may do so from now on */
  EMULATOR_NOTE_KINDS,
};
struct emulator_note {
  int32_t as_fd;
  uint32_t kind; /* enum emulator_note_kind */
  uint64_t address, size;
  uint64_t data; /* pointer to bytes of data */
  uint64_t bytes;
};
/* The code from offset on, up to the next one's, is of this line. */
struct emulator_line {
  uint32_t offset;
  uint32_t line; /* from 1; 0: not known */
  uint32_t file; /* number among EMULATOR_NOTE_FILES */
};
/* A pointer among the kernel's parameters. */
struct emulator_parameter {
  uint32_t offset; /* in constant bank 0 */
  char name[60];   /* e.g. "argument 1 (data)"; ends with 0 */
};

#define EMULATOR_IOCTL_FAULT    _IOWR('E', 1, struct emulator_fault)
#define EMULATOR_IOCTL_COUNTERS _IOR('E', 2, struct emulator_counters)
#define EMULATOR_IOCTL_MODES    _IOR('E', 3, struct emulator_modes)
#define EMULATOR_IOCTL_NOTE     _IOW('E', 4, struct emulator_note)
#define EMULATOR_IOCTL_GRID     _IOWR('E', 5, struct emulator_grid)

#endif
