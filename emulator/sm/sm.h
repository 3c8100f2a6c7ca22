/* The streaming multiprocessor: runs CTAs of SM 8.7 machine code. It is
 * independent of OpenCL and of the command stream: the compute front end passes grids to it.
 *
 * Threads: host threads share a struct sm_code. Each has its own struct sm_worker, on which it runs
 * one CTA at a time.
 */
#ifndef TEGRACL_SM_H
#define TEGRACL_SM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Check mode: the records of a range of memory. The arrays are zero at the start. */
struct sm_cell;
struct sm_memory_shadow {
  uint8_t *written;      /* 1 for each byte that was written; NULL: all count as written */
  struct sm_cell *cells; /* one for each SM_CELL_BYTES; NULL: no check for races */
  bool read_only, write_only;
};
enum { SM_CELL_BYTES = 4, SM_CELL_SIZE = 64 /* of a struct sm_cell */ };

/* A range of GPU virtual addresses that is contiguous in host memory. */
struct sm_range {
  uint64_t gpu;
  uint64_t size;
  uint8_t *host;
  bool writable;
  struct sm_memory_shadow *shadow; /* NULL: none */
};

/* The MMU as the SM sees it. find sets *range to the mapping that contains address; false if there
 * is none. A CTA keeps ranges until unmappings changes, which it reads at the start of each
 * sm_cta_run. Their host memory must stay mapped until the grid has ended. */
struct sm_memory {
  bool (*find)(void *space, uint64_t address, struct sm_range *range);
  void *space;
  const _Atomic uint32_t *unmappings; /* how many mappings were removed; NULL: none ever */
};

/* Decoded code of one address space: pages of instructions, decoded at first
 * execution and kept until invalidated. */
struct sm_code;
struct sm_code *sm_code_create(const struct sm_memory *memory);
void sm_code_destroy(struct sm_code *code);
/* Invalidates the instruction cache. No grid may be running. */
void sm_code_invalidate(struct sm_code *code);

/* Pages that are decoded later also have notes, which watched grids need. */
void sm_code_annotate(struct sm_code *code);

/* A model of the L1 data caches of the SMs, with stale lines: l1.h. The CTAs of a grid that uses it
 * run on one host thread. */
struct sm_l1_caches;
struct sm_l1_caches *sm_l1_create(uint32_t sms, uint64_t seed);
void sm_l1_destroy(struct sm_l1_caches *caches);
/* Empties them. */
void sm_l1_invalidate_all(struct sm_l1_caches *caches);
/* Pages that are decoded later use the caches. Only grids with caches may execute them. */
void sm_code_cache(struct sm_code *code);

#define SM_BANKS 8

/* Texture headers, or samplers: 32 bytes each. */
struct sm_pool {
  uint64_t address; /* 0: none */
  uint32_t last;    /* index */
};

struct sm_watch;

/* The contents of a launch descriptor, with addresses translated. */
struct sm_grid {
  struct sm_code *code;
  struct sm_memory memory;
  uint64_t program; /* GPU virtual address of the entry */
  uint32_t grid[3], block[3];
  struct {
    const uint8_t *data; /* NULL: bank not valid */
    uint32_t size;
  } bank[SM_BANKS];
  uint32_t registers;     /* 1 to 255 */
  uint32_t barriers;      /* named barriers, 0 to 16 */
  uint32_t shared_bytes;  /* SHARED_MEMORY_SIZE */
  uint32_t local_low;     /* bytes per thread from the window's bottom */
  uint32_t local_high;    /* bytes per thread from the window's top (16 MiB) */
  uint64_t shared_window; /* generic addresses; 16 MiB each */
  uint64_t local_window;
  struct sm_pool headers, samplers;
  bool sampler_of_header; /* the header's index is also that of the sampler */
  uint32_t sm_count;
  uint64_t (*time_ns)(void); /* PTIMER */
  struct sm_l1_caches *l1;   /* of sm_count SMs, with code for them; NULL: memory is coherent */
  /* Check and profile modes, which need annotated code; NULL: neither. */
  const struct sm_watch *watch;
  uint32_t first_number; /* check mode: number of the first CTA, counted over all grids */
};

enum sm_fault_kind {
  SM_FAULT_NONE,
  SM_FAULT_MMU,          /* no mapping, or a write to a read-only one */
  SM_FAULT_MISALIGNED,   /* the address is no multiple of the size */
  SM_FAULT_SHARED_RANGE, /* shared address out of range */
  SM_FAULT_LOCAL_RANGE,  /* local address out of range */
  SM_FAULT_ILLEGAL_INSTRUCTION,
  SM_FAULT_REGISTER_RANGE,  /* register beyond the launch's count */
  SM_FAULT_BARRIER_RANGE,   /* barrier beyond the launch's count */
  SM_FAULT_PC_RANGE,        /* fetch outside a mapping, or at a misaligned address */
  SM_FAULT_TRAP,            /* BPT.TRAP */
  SM_FAULT_DEADLOCK,        /* no lane of the CTA can ever run again */
  SM_FAULT_NOT_IMPLEMENTED, /* decoded, but not executed by this emulator */
  SM_FAULT_TEXTURE,         /* a header, sampler or index that the texture units cannot use */
  SM_FAULT_WATCHDOG,        /* a CTA executed more instructions than the watch allows */
  /* Reported only by a watch; execution continues: */
  SM_REPORT_UNDEFINED,  /* an address, a branch or a store depends on an undefined value */
  SM_REPORT_RACE,       /* accesses to shared memory that no barrier orders */
  SM_REPORT_BARRIER,    /* reached by a part of the CTA only, or at different places */
  SM_REPORT_WARP_MASK,  /* lanes and masks of a warp-synchronous operation differ */
  SM_REPORT_SCOREBOARD, /* a result used before its scoreboard was waited for */
  SM_REPORT_BOUNDS,     /* access outside the pointer's buffer, or outside a constant bank */
  SM_REPORT_ACCESS,     /* access to memory that kernels may not read, or may not write */
};

struct sm_fault {
  enum sm_fault_kind kind;
  uint64_t address;
  uint32_t access_bytes;
  bool is_write;
  uint64_t pc; /* GPU virtual address */
  uint64_t word[2];
  uint32_t ctaid[3], tid[3];
  uint64_t other_pc;  /* another instruction, with which the message ends; 0: none */
  uint64_t owner;     /* address of the buffer that the pointer belongs to; 0: not known */
  uint32_t parameter; /* offset of that pointer in bank 0 */
  char instruction[96];
  char message[256];
};

/* Profile mode: what a CTA executed, or all CTAs of a kernel. */
enum { SM_COUNTED_CLASSES = 24 };
enum { SM_SECTOR_BYTES = 32 }; /* the unit in which memory is read and written */

struct sm_counts {
  uint64_t instructions[SM_COUNTED_CLASSES]; /* of warps, by class: sm_class_name */
  uint64_t lanes;                            /* active in them, summed */
  uint64_t global_requests, global_sectors;  /* warps' accesses; 32-byte sectors they touch */
  uint64_t store_sectors;                    /* sectors of stores and atomics, among those */
  uint64_t shared_requests, shared_passes;   /* passes: 1 each without bank conflicts */
  uint64_t atomics;
};
/* The name of a class, or NULL after the last. */
const char *sm_class_name(unsigned class);

/* Watches grids. The functions are called by several threads at once. */
struct sm_watch {
  bool check;
  uint64_t watchdog; /* warp instructions of a CTA after which it faults; 0: never */
  /* Should this kind of report be made for the instruction at pc? */
  bool (*wanted)(const struct sm_grid *grid, enum sm_fault_kind kind, uint64_t pc);
  void (*report)(const struct sm_grid *grid, const struct sm_fault *fault);
  bool profile;
  /* At the end of each CTA. */
  void (*count)(const struct sm_grid *grid, const struct sm_counts *counts);
};

/* Call in a child of fork: resets the locks, which threads of the parent may have held. */
void sm_check_forked(void);

struct sm_worker;
struct sm_worker *sm_worker_create(uint32_t sm_id);
void sm_worker_destroy(struct sm_worker *worker);

enum sm_result { SM_DONE, SM_PREEMPTED, SM_FAULTED };

/* A CTA that is ready to run, in memory from the worker's pool. NULL: no memory, or the grid has a
 * block, registers or local memory beyond the SM's limits. */
struct sm_cta;
struct sm_cta *sm_cta_start(struct sm_worker *worker, const struct sm_grid *grid, uint32_t x,
                            uint32_t y, uint32_t z);
/* Runs a CTA until it ends, faults or has executed budget warp instructions. SM_PREEMPTED: it can
 * continue on any worker later. Budgets let CTAs that wait for each other make progress. On
 * SM_FAULTED, *fault is set. */
enum sm_result sm_cta_run(struct sm_worker *worker, struct sm_cta *cta, uint64_t budget,
                          struct sm_fault *fault);
/* Returns the memory of a CTA to the worker's pool. */
void sm_cta_finish(struct sm_worker *worker, struct sm_cta *cta);

/* The warp instructions that the worker has executed since it was created. */
uint64_t sm_worker_instructions(const struct sm_worker *worker);

#endif
