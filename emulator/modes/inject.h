/* One fault of a board, TEGRACL_EMULATOR=fault:SEED or fault:NAME, to test a diagnosis of
 * it. The seed chooses a fault from the table in inject.c, and its errno.
 */
#ifndef TEGRACL_EMULATOR_INJECT_H
#define TEGRACL_EMULATOR_INJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct emu_fault;

/* Bytes of shared memory from which EMU_PLACE_SHARED_FAULT has its effect. */
enum { EMU_INJECT_SHARED = 48 * 1024 };

/* The places where an engine can fail. */
enum emu_place {
  EMU_PLACE_NONE,
  EMU_PLACE_DOORBELL,        /* doorbells are ignored */
  EMU_PLACE_HOST_LOST,       /* a semaphore release ends the channel */
  EMU_PLACE_PAYLOAD,         /* 64-bit releases write another payload */
  EMU_PLACE_TIME_ZERO,       /* releases with time write time 0 */
  EMU_PLACE_TIME_SKEW,       /* releases with time write the time of another clock */
  EMU_PLACE_ACQUIRE_STUCK,   /* acquires never see their payload */
  EMU_PLACE_ACQUIRE_EARLY,   /* acquires do not wait */
  EMU_PLACE_CLASS_STUCK,     /* the compute class stops at its first method */
  EMU_PLACE_CLASS_LOST,      /* the first compute method ends the channel */
  EMU_PLACE_REPORT_LOST,     /* report semaphores write nothing */
  EMU_PLACE_GRID_STUCK,      /* grids do not end */
  EMU_PLACE_GRID_LOST,       /* launches start nothing */
  EMU_PLACE_GRID_FAULT,      /* grids end the channel */
  EMU_PLACE_GRID_SHORT,      /* the last work-group does not run */
  EMU_PLACE_LOCAL_FAULT,     /* grids with local memory end the channel */
  EMU_PLACE_SHARED_FAULT,    /* grids with 48 KiB of shared memory end the channel */
  EMU_PLACE_ACTION_9,        /* PCAS action 9, PREFETCH_SCHEDULE, starts nothing */
  EMU_PLACE_ACTION_3,        /* PCAS action 3, INVALIDATE_COPY_SCHEDULE, starts nothing */
  EMU_PLACE_INLINE,          /* descriptors in the pushbuffer start nothing */
  EMU_PLACE_DEPENDENT,       /* grids that end do not start their dependents */
  EMU_PLACE_COPY_STUCK,      /* copies do not end */
  EMU_PLACE_COPY_LOST,       /* copies end the channel */
  EMU_PLACE_COPY_COMPUTE,    /* copies end a channel that has launched grids */
  EMU_PLACE_COPY_WRONG,      /* copies change a byte */
  EMU_PLACE_FENCE_LATE,      /* fences are signalled 2 s late */
  EMU_PLACE_FENCE_LOST,      /* fences are never signalled */
  EMU_PLACE_FENCE_EARLY,     /* fences are signalled at once */
  EMU_PLACE_SYNCPOINT_STUCK, /* the GPU does not count syncpoints up */
};

struct emu_inject {
  enum emu_place place;
  const struct emu_inject_fault *fault; /* NULL: none */
  int error;
};
extern struct emu_inject emu_inject;

/* Chooses the fault by a seed or a name. False: there is no such fault. */
bool emu_inject_choose(const char *text);
/* The name and the class ("hang", "late fence") of a fault of the table; NULL: no such index. */
const char *emu_inject_name(size_t index, const char **fault_class);
/* The index of the chosen fault. */
size_t emu_inject_index(void);
/* How many of all bytes of memory are free before any allocation. */
uint64_t emu_inject_free_bytes(uint64_t all);

/* Whether the chosen fault is that of the place. */
static inline bool emu_injected(enum emu_place place) {
  return __builtin_expect(emu_inject.place == place, 0);
}
/* emu_injected, and fills in the fault that ends the channel if it is. */
bool emu_inject_loss(enum emu_place place, uint32_t notifier, struct emu_fault *fault);

/* The error of an open of a node: 0 or -errno. */
int emu_inject_open(const char *path);
/* Call before a request: its error, -errno or 0. Does not return if the request hangs. */
int emu_inject_request(uint32_t request, const void *argument);
/* Call after a request that succeeded: changes its results. */
void emu_inject_answer(uint32_t request, void *argument);

#endif
