/* The streaming multiprocessor: runs CTAs of SM 8.7 machine code. It is
 * independent of OpenCL and of the command stream: the compute front end passes grids to it.
 *
 * Threads: a struct sm_code is shared; each host thread has its own
 * struct sm_worker and runs one CTA at a time on it.
 */
#ifndef TEGRACL_SM_H
#define TEGRACL_SM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Check mode: the records of a run of memory. Both arrays begin as zeros. */
struct sm_cell;
struct sm_memory_shadow {
  uint8_t *written;      /* 1 for each byte that was; NULL: all count as written */
  struct sm_cell *cells; /* for each SM_CELL_BYTES; NULL: no races are looked for */
  bool read_only, write_only;
};
enum { SM_CELL_BYTES = 4, SM_CELL_SIZE = 64 /* of a struct sm_cell */ };

/* A run of GPU virtual addresses that is contiguous in host memory. */
struct sm_range {
  uint64_t gpu;
  uint64_t size;
  uint8_t *host;
  bool writable;
  struct sm_memory_shadow *shadow; /* NULL: none */
};

/* The MMU as the SM sees it. find fills in the mapping that holds address, or returns false. The
 * SM keeps ranges during a CTA's turn, and longer if nothing is unmapped. Their memory stays
 * mapped in the host until the grid has ended. */
struct sm_memory {
  bool (*find)(void *space, uint64_t address, struct sm_range *range);
  void *space;
  const _Atomic uint32_t *unmappings; /* counts them; NULL: there are none */
};

/* Decoded code of one address space: pages of instructions, decoded at first
 * execution and kept until invalidated. */
struct sm_code;
struct sm_code *sm_code_create(const struct sm_memory *memory);
void sm_code_destroy(struct sm_code *code);
/* The instruction cache is invalidated: forget everything. No grid runs. */
void sm_code_invalidate(struct sm_code *code);

/* Pages decoded from now on also keep notes for watched grids, which take more memory. */
void sm_code_annotate(struct sm_code *code);

/* A model of the SMs' L1 data caches, in which lines become stale: l1.h. The CTAs of a grid that
 * uses it run on one host thread. */
struct sm_l1_caches;
struct sm_l1_caches *sm_l1_create(uint32_t sms, uint64_t seed);
void sm_l1_destroy(struct sm_l1_caches *caches);
/* Empties them. */
void sm_l1_invalidate_all(struct sm_l1_caches *caches);
/* Pages decoded from now on use the caches, in grids that have them. */
void sm_code_cache(struct sm_code *code);

#define SM_BANKS 8

/* Texture headers, or samplers: 32 bytes each. */
struct sm_pool {
  uint64_t address; /* 0: none */
  uint32_t last;    /* index */
};

struct sm_watch;

/* What a launch descriptor says, with addresses translated. */
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
  bool sampler_of_header; /* the sampler has the header's index, whatever the handle says */
  uint32_t sm_count;
  uint64_t (*time_ns)(void); /* PTIMER */
  struct sm_l1_caches *l1;   /* of sm_count SMs, with code for them; NULL: memory is coherent */
  /* Check and profile modes, with annotated code; NULL: neither. */
  const struct sm_watch *watch;
  uint32_t first_number; /* check mode: number of the first CTA, counted over all grids */
};

enum sm_fault_kind {
  SM_FAULT_NONE,
  SM_FAULT_MMU,          /* no mapping, or a write to a read-only one */
  SM_FAULT_MISALIGNED,   /* hww_warp_esr 0x10 */
  SM_FAULT_SHARED_RANGE, /* shared address out of range */
  SM_FAULT_LOCAL_RANGE,  /* local address out of range */
  SM_FAULT_ILLEGAL_INSTRUCTION,
  SM_FAULT_REGISTER_RANGE,  /* register beyond the launch's count */
  SM_FAULT_BARRIER_RANGE,   /* barrier beyond the launch's count */
  SM_FAULT_PC_RANGE,        /* fetch outside a mapping */
  SM_FAULT_TRAP,            /* BPT.TRAP */
  SM_FAULT_DEADLOCK,        /* no lane of the CTA can ever run again */
  SM_FAULT_NOT_IMPLEMENTED, /* decoded, but not executed by this emulator */
  SM_FAULT_TEXTURE,         /* a header, sampler or index that the texture units cannot use */
  SM_FAULT_WATCHDOG,        /* a CTA ran for longer than the watch allows */
  /* Reported only by a watch; execution continues: */
  SM_REPORT_UNDEFINED,  /* an address, a branch or a store depends on an undefined value */
  SM_REPORT_RACE,       /* accesses to shared memory that no barrier orders */
  SM_REPORT_BARRIER,    /* reached by a part of the CTA, or at different places */
  SM_REPORT_WARP_MASK,  /* lanes and masks of a warp-synchronous operation differ */
  SM_REPORT_SCOREBOARD, /* a result used before its scoreboard was waited for */
  SM_REPORT_BOUNDS,     /* a pointer led out of its buffer, or of a constant bank */
  SM_REPORT_ACCESS,     /* to memory that kernels may not read, or not write */
};

struct sm_fault {
  enum sm_fault_kind kind;
  uint64_t address;
  uint32_t access_bytes;
  bool is_write;
  uint64_t pc; /* GPU virtual address */
  uint64_t word[2];
  uint32_t ctaid[3], tid[3];
  uint64_t other_pc;  /* of another instruction that the message ends with; 0: none */
  uint64_t owner;     /* in the buffer that the pointer belongs to; 0: not known */
  uint32_t parameter; /* offset in bank 0 of that pointer */
  char instruction[96];
  char message[256];
};

/* What the CTAs of one kernel did. */
enum { SM_COUNTED_CLASSES = 24 };
enum { SM_SECTOR_BYTES = 32 }; /* in which memory is read and written */

struct sm_counts {
  uint64_t instructions[SM_COUNTED_CLASSES]; /* of warps, by class: sm_class_name */
  uint64_t lanes;                            /* active in them, summed */
  uint64_t global_requests, global_sectors;  /* warps' accesses; 32-byte sectors they touch */
  uint64_t store_sectors;                    /* of these, written */
  uint64_t shared_requests, shared_passes;   /* passes: 1 each without bank conflicts */
  uint64_t atomics;
};
/* The name of a class, or NULL after the last. */
const char *sm_class_name(unsigned class);

/* Watches grids. The functions are called by several threads at once. */
struct sm_watch {
  bool check;
  uint64_t watchdog; /* warp instructions of a CTA after which it faults; 0: never */
  /* Whether a report of a kind at a place is still wanted. */
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

/* Starts a CTA on the worker (its state is kept in *cta, created from the
 * worker's pool) and runs it until it ends, faults, or has executed budget warp
 * instructions (then it may be resumed by sm_cta_run on any worker, so that
 * CTAs that wait for each other make progress). */
struct sm_cta;
struct sm_cta *sm_cta_start(struct sm_worker *worker, const struct sm_grid *grid, uint32_t x,
                            uint32_t y, uint32_t z);
enum sm_result sm_cta_run(struct sm_worker *worker, struct sm_cta *cta, uint64_t budget,
                          struct sm_fault *fault);
/* Returns its memory to the worker's pool. */
void sm_cta_finish(struct sm_worker *worker, struct sm_cta *cta);

/* Warp instructions this worker has executed since it was created. */
uint64_t sm_worker_instructions(const struct sm_worker *worker);

#endif
