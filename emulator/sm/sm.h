/* The streaming multiprocessor (SM): runs CTAs of SM 8.7 machine code. It does not depend on OpenCL
 * or on the command stream: the compute front end passes grids to it.
 *
 * Host threads share a struct sm_code. Each thread has its own struct sm_worker, on which it runs
 * one CTA at a time. */
#ifndef TEGRACL_SM_H
#define TEGRACL_SM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Check mode: records of a range of memory. The arrays are initially zero. */
struct sm_cell;
struct sm_row;
struct sm_memory_shadow {
  uint8_t *written;      /* 1 for each initialised byte; NULL if all are */
  struct sm_cell *cells; /* one for each SM_CELL_BYTES; NULL disables the check for races */
  struct sm_row *rows;   /* one for each SM_ROW_BYTES; NULL if cells is */
  uint64_t *stamps;      /* one for each row: check_row.c; NULL if cells is */
  bool read_only, write_only;
};
enum { SM_CELL_BYTES = 4, SM_CELL_SIZE = 64 /* sizeof(struct sm_cell) */ };
enum { SM_ROW_BYTES = 64, SM_ROW_SIZE = 128 /* sizeof(struct sm_row) */ };

/* A range of GPU virtual addresses that is contiguous in host memory. */
struct sm_range {
  uint64_t gpu;
  uint64_t size;
  uint8_t *host;
  bool writable;
  struct sm_memory_shadow *shadow; /* or NULL */
};

/* The MMU as the SM uses it. find sets *range to the mapping that contains address, or returns
 * false if there is none. A CTA caches ranges until unmappings changes, which it reads at the start
 * of each sm_cta_run. The host memory of a range must stay mapped until the grid has ended. */
struct sm_memory {
  bool (*find)(void *space, uint64_t address, struct sm_range *range);
  void *space;
  const _Atomic uint32_t
      *unmappings; /* mappings removed or replaced so far; NULL if none ever is */
};

/* The decoded code of one address space, as pages of instructions. They are decoded when first
 * executed, and kept until invalidated. */
struct sm_code;
struct sm_code *sm_code_create(const struct sm_memory *memory);
void sm_code_destroy(struct sm_code *code);
/* Invalidates the instruction cache. No grid may be running. */
void sm_code_invalidate(struct sm_code *code);

/* Makes pages that are decoded from now on have notes, which watched grids need. */
void sm_code_annotate(struct sm_code *code);

/* A model of the caches of the SMs for data, textures, headers and samplers, with stale lines
 * (l1.h). All CTAs of a grid that uses it run on one host thread. */
struct sm_l1_caches;
enum sm_l1_kind {
  SM_L1_DATA,
  SM_L1_CONSTANT, /* data that LDG.CONSTANT reads */
  SM_L1_TEXELS,
  SM_L1_HEADERS,
  SM_L1_SAMPLERS,
  SM_L1_KINDS,
};
struct sm_l1_caches *sm_l1_create(uint32_t sms, uint64_t seed);
void sm_l1_destroy(struct sm_l1_caches *caches);
/* Empties the caches. */
void sm_l1_invalidate_all(struct sm_l1_caches *caches);
/* Drops all lines of a kind. */
void sm_l1_invalidate_kind(struct sm_l1_caches *caches, enum sm_l1_kind kind);
/* Drops a header or sampler. pools_of is as in the grid. */
void sm_l1_drop_descriptor(struct sm_l1_caches *caches, enum sm_l1_kind kind, const void *pools_of,
                           uint32_t index);
/* Makes pages that are decoded from now on use the caches. Only grids with caches may execute
 * them. */
void sm_code_cache(struct sm_code *code);

#define SM_BANKS 8

/* A table of texture headers or of samplers, with 32 bytes each. */
struct sm_pool {
  uint64_t address; /* 0 if there is no pool */
  uint32_t last;    /* highest index */
};

struct sm_watch;

/* A launch descriptor with its addresses translated. */
struct sm_grid {
  struct sm_code *code;
  struct sm_memory memory;
  uint64_t launch;  /* a number that no other grid of the process has */
  uint64_t program; /* GPU virtual address of the entry */
  uint32_t grid[3], block[3];
  struct {
    const uint8_t *data; /* NULL if the bank is not valid */
    uint32_t size;
  } bank[SM_BANKS];
  uint32_t registers;     /* 1 to 255 */
  uint32_t barriers;      /* named barriers, 0 to 16 */
  uint32_t shared_bytes;  /* SHARED_MEMORY_SIZE */
  uint32_t local_low;     /* bytes per thread at the bottom of the window */
  uint32_t local_high;    /* bytes per thread at the top of the window */
  uint64_t shared_window; /* generic address; both windows have 16 MiB */
  uint64_t local_window;
  struct sm_pool headers, samplers;
  const void *pools_of;   /* the channel: caches find headers and samplers by it and their index */
  bool sampler_of_header; /* the index of a header also selects the sampler */
  uint32_t sm_count;
  uint64_t (*time_ns)(void); /* PTIMER */
  struct sm_l1_caches
      *l1; /* for sm_count SMs and with code for caches; NULL if memory is coherent */
  /* Check or profile mode, which needs code with notes; else NULL. */
  const struct sm_watch *watch;
  uint32_t first_number; /* check mode: number of the first CTA, counted over all grids */
  /* The launch of the first grid like this one: the members of like grids are equal, except banks
   * and launch. A CTA of a like grid finds in the worker's memory what the last one has left, and
   * clears only registers that its code may read before it writes them. 0: each CTA starts from
   * nothing. */
  uint64_t like;
};

enum sm_fault_kind {
  SM_FAULT_NONE,
  SM_FAULT_MMU,          /* no mapping, or a write to a read-only one */
  SM_FAULT_MISALIGNED,   /* the address is not a multiple of the size */
  SM_FAULT_SHARED_RANGE, /* shared address out of range */
  SM_FAULT_LOCAL_RANGE,  /* local address out of range */
  SM_FAULT_ILLEGAL_INSTRUCTION,
  SM_FAULT_REGISTER_RANGE,  /* register beyond those of the launch */
  SM_FAULT_BARRIER_RANGE,   /* barrier beyond those of the launch */
  SM_FAULT_PC_RANGE,        /* fetch from outside a mapping or from a misaligned address */
  SM_FAULT_TRAP,            /* BPT.TRAP */
  SM_FAULT_DEADLOCK,        /* no lane of the CTA can ever run again */
  SM_FAULT_NOT_IMPLEMENTED, /* decoded, but not supported */
  SM_FAULT_TEXTURE,         /* a header, sampler or index that the texture units cannot use */
  SM_FAULT_WATCHDOG,        /* a CTA executed more instructions than watchdog allows */
  /* The kinds below are reported only by a watch, and execution continues. */
  SM_REPORT_UNDEFINED,  /* an address, a branch or a store depends on an undefined value */
  SM_REPORT_RACE,       /* unordered accesses to a word by different work-items */
  SM_REPORT_BARRIER,    /* not all work-items of the CTA reach the same barrier */
  SM_REPORT_WARP_MASK,  /* a warp-synchronous operation's mask does not match its lanes */
  SM_REPORT_SCOREBOARD, /* a result is used before its scoreboard is waited for */
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
  uint64_t other_pc;  /* another instruction, whose location completes the message; or 0 */
  uint64_t owner;     /* address of the buffer that the pointer belongs to; 0 if not known */
  uint32_t parameter; /* parameter with that pointer, as an offset in bank 0 */
  char instruction[96];
  char message[256];
};

/* Profile mode: counts of a CTA, or of all CTAs of a kernel. */
enum { SM_COUNTED_CLASSES = 24 };
enum { SM_SECTOR_BYTES = 32 }; /* the unit in which memory is read and written */

struct sm_counts {
  uint64_t instructions[SM_COUNTED_CLASSES]; /* warp instructions by class (see sm_class_name) */
  uint64_t lanes;                            /* sum of their active lanes */
  uint64_t global_requests, global_sectors;  /* accesses of warps, and 32-byte sectors in them */
  uint64_t store_sectors;                    /* the part of global_sectors for stores and atomics */
  uint64_t shared_requests, shared_passes;   /* one pass each if there are no bank conflicts */
  uint64_t atomics;
  uint64_t tensor_passes;           /* products of 8 x 16 and 16 x 8 bytes on the tensor cores */
  uint64_t double_products;         /* those of doubles, 8 x 8 x 4 */
  uint64_t texture_requests;        /* of warps to the texture units and to surfaces */
  uint64_t texture_samples;         /* lanes' results; one of a filtered 3D texture counts as two */
  uint64_t texels, texture_sectors; /* read or written; sectors of each warp's request */
};
/* Returns the name of a class, or NULL after the last one. */
const char *sm_class_name(unsigned class);

/* An observer of grids. Several threads call its functions concurrently. */
struct sm_watch {
  bool check;
  uint64_t watchdog; /* warp instructions after which a CTA faults; 0 means no limit */
  /* Returns whether a report of this kind is wanted for the instruction at pc. */
  bool (*wanted)(const struct sm_grid *grid, enum sm_fault_kind kind, uint64_t pc);
  void (*report)(const struct sm_grid *grid, const struct sm_fault *fault);
  bool profile;
  /* Called at the end of each CTA. */
  void (*count)(const struct sm_grid *grid, const struct sm_counts *counts);
  /* Check mode: grids that have started and not ended. Those of other channels take turns with the
   * running grid, and adversarial timing overlaps grids. */
  _Atomic int unfinished_grids;
};

/* Resets the locks, which threads of the parent may have held. Call in the child after fork. */
void sm_check_forked(void);

struct sm_worker;
struct sm_worker *sm_worker_create(uint32_t sm_id);
void sm_worker_destroy(struct sm_worker *worker);

enum sm_result { SM_DONE, SM_PREEMPTED, SM_FAULTED };

/* Returns a CTA that is ready to run, in memory from the worker's pool. Returns NULL if out of
 * memory, or if the block, the registers or the local memory of the grid exceed the limits of the
 * SM. */
struct sm_cta;
struct sm_cta *sm_cta_start(struct sm_worker *worker, const struct sm_grid *grid, uint32_t x,
                            uint32_t y, uint32_t z);
/* Runs a CTA until it ends, faults or has executed budget warp instructions. Budgets let CTAs that
 * wait for each other make progress: after SM_PREEMPTED the CTA can continue later on any worker.
 * SM_FAULTED sets *fault. */
enum sm_result sm_cta_run(struct sm_worker *worker, struct sm_cta *cta, uint64_t budget,
                          struct sm_fault *fault);
/* Returns the memory of a CTA to the worker's pool. */
void sm_cta_finish(struct sm_worker *worker, struct sm_cta *cta);

/* Returns the number of warp instructions that the worker has executed. */
uint64_t sm_worker_instructions(const struct sm_worker *worker);

#endif
