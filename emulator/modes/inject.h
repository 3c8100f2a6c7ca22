/* Injects one fault of a board, TEGRACL_EMULATOR=fault:SEED or fault:NAME, to test how it is
 * diagnosed. The seed chooses a fault from the table in inject.c and its errno. */
#ifndef TEGRACL_EMULATOR_INJECT_H
#define TEGRACL_EMULATOR_INJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct emu_fault;

/* EMU_PLACE_SHARED_FAULT affects grids with at least this many bytes of shared memory. */
enum { EMU_INJECT_SHARED = 48 * 1024 };

/* Places where an engine can fail. */
enum emu_place {
  EMU_PLACE_NONE,
  EMU_PLACE_DOORBELL,        /* doorbells are ignored */
  EMU_PLACE_HOST_LOST,       /* a semaphore release stops the channel */
  EMU_PLACE_PAYLOAD,         /* 64-bit releases write a wrong payload */
  EMU_PLACE_TIME_ZERO,       /* releases with a timestamp write time 0 */
  EMU_PLACE_TIME_SKEW,       /* releases with a timestamp use a different clock */
  EMU_PLACE_ACQUIRE_STUCK,   /* acquires never see their payload */
  EMU_PLACE_ACQUIRE_EARLY,   /* acquires do not wait */
  EMU_PLACE_CLASS_STUCK,     /* the compute class stops at its first method */
  EMU_PLACE_CLASS_LOST,      /* the first compute method stops the channel */
  EMU_PLACE_REPORT_LOST,     /* report semaphores write nothing */
  EMU_PLACE_GRID_STUCK,      /* grids never end */
  EMU_PLACE_GRID_LOST,       /* launches start nothing */
  EMU_PLACE_GRID_FAULT,      /* grids stop the channel */
  EMU_PLACE_GRID_SHORT,      /* the last work-group does not run */
  EMU_PLACE_LOCAL_FAULT,     /* grids with local memory stop the channel */
  EMU_PLACE_SHARED_FAULT,    /* grids with 48 KiB of shared memory stop the channel */
  EMU_PLACE_ACTION_9,        /* PCAS action 9, PREFETCH_SCHEDULE, starts nothing */
  EMU_PLACE_ACTION_3,        /* PCAS action 3, INVALIDATE_COPY_SCHEDULE, starts nothing */
  EMU_PLACE_INLINE,          /* descriptors in the pushbuffer start nothing */
  EMU_PLACE_DEPENDENT,       /* the end of a grid does not start its dependent */
  EMU_PLACE_COPY_STUCK,      /* copies never end */
  EMU_PLACE_COPY_LOST,       /* copies stop the channel */
  EMU_PLACE_COPY_COMPUTE,    /* copies stop a channel that has launched grids */
  EMU_PLACE_COPY_WRONG,      /* copies change a byte */
  EMU_PLACE_FENCE_LATE,      /* fences are signalled 2 s late */
  EMU_PLACE_FENCE_LOST,      /* fences are never signalled */
  EMU_PLACE_FENCE_EARLY,     /* fences are signalled at once */
  EMU_PLACE_SYNCPOINT_STUCK, /* the GPU does not increment syncpoints */
};

struct emu_inject {
  enum emu_place place;
  const struct emu_inject_fault *fault; /* NULL: none */
  int error;
};
extern struct emu_inject emu_inject;

/* Chooses the fault by its name or by a seed. Returns false if there is no such fault. */
bool emu_inject_choose(const char *text);
/* Returns the name of a fault of the table and sets its class (such as "hang" or "late fence"), or
 * returns NULL at the end of the table. */
const char *emu_inject_name(size_t index, const char **fault_class);
/* Returns the index of the chosen fault. */
size_t emu_inject_index(void);
/* Returns how many of all bytes of memory are free before any allocation. */
uint64_t emu_inject_free_bytes(uint64_t all);

/* Returns whether the chosen fault is at this place. */
static inline bool emu_injected(enum emu_place place) {
  return __builtin_expect(emu_inject.place == place, 0);
}
/* Sets *fault, which stops the channel. */
void emu_inject_stop(uint32_t notifier, struct emu_fault *fault);
/* Like emu_injected, but also stops the channel. */
static inline bool emu_inject_loss(enum emu_place place, uint32_t notifier,
                                   struct emu_fault *fault) {
  const bool lost = emu_injected(place);
  if (lost)
    emu_inject_stop(notifier, fault);
  return lost;
}

/* Returns the error with which opening a node fails: 0 or -errno. */
int emu_inject_open(const char *path);
/* Returns the error with which a request fails: 0 or -errno. Does not return if the request hangs.
 * Must be called before the request. */
int emu_inject_request(uint32_t request, const void *argument);
/* Return what the control node reports as the GPU's time and as its SM version. */
uint64_t emu_inject_time(uint64_t ns);
uint32_t emu_inject_sm_version(uint32_t version);

#endif
