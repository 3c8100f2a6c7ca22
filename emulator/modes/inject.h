/* One fault of a board, TEGRACL_EMULATOR=fault:SEED or fault:NAME, for the test of a
 * diagnosis. The seed chooses one of the table in inject.c, and its errno.
 */
#ifndef TEGRACL_EMULATOR_INJECT_H
#define TEGRACL_EMULATOR_INJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct emu_fault;

enum { EMU_INJECT_SHARED = 48 * 1024 };

/* The places where an engine can fail. */
enum emu_place {
  EMU_PLACE_NONE,
  EMU_PLACE_DOORBELL,        /* it is ignored */
  EMU_PLACE_HOST_LOST,       /* a semaphore release ends the channel */
  EMU_PLACE_PAYLOAD,         /* 64-bit releases write another payload */
  EMU_PLACE_TIME_ZERO,       /* releases with time write time 0 */
  EMU_PLACE_TIME_SKEW,       /* they write the time of another clock */
  EMU_PLACE_ACQUIRE_STUCK,   /* acquires never see their payload */
  EMU_PLACE_ACQUIRE_EARLY,   /* acquires do not wait */
  EMU_PLACE_CLASS_STUCK,     /* the compute class stops at its first method */
  EMU_PLACE_CLASS_LOST,      /* it ends the channel */
  EMU_PLACE_REPORT_LOST,     /* report semaphores write nothing */
  EMU_PLACE_GRID_STUCK,      /* grids do not end */
  EMU_PLACE_GRID_LOST,       /* launches start nothing */
  EMU_PLACE_GRID_FAULT,      /* grids end the channel */
  EMU_PLACE_GRID_SHORT,      /* the last work-group does not run */
  EMU_PLACE_LOCAL_FAULT,     /* grids with local memory end the channel */
  EMU_PLACE_SHARED_FAULT,    /* so do grids with 48 KiB of shared memory */
  EMU_PLACE_ACTION_9,        /* this action starts nothing */
  EMU_PLACE_ACTION_3,        /* nor does this */
  EMU_PLACE_INLINE,          /* nor do descriptors in the pushbuffer */
  EMU_PLACE_DEPENDENT,       /* nor do grids that end */
  EMU_PLACE_COPY_STUCK,      /* copies do not end */
  EMU_PLACE_COPY_LOST,       /* copies end the channel */
  EMU_PLACE_COPY_COMPUTE,    /* they do so on a channel that has launched grids */
  EMU_PLACE_COPY_WRONG,      /* copies change a byte */
  EMU_PLACE_FENCE_LATE,      /* fences are signalled 2 s late */
  EMU_PLACE_FENCE_LOST,      /* never */
  EMU_PLACE_FENCE_EARLY,     /* at once */
  EMU_PLACE_SYNCPOINT_STUCK, /* the GPU does not count syncpoints up */
};

struct emu_inject {
  enum emu_place place;
  const struct emu_inject_fault *fault; /* NULL: none */
  int error;
};
extern struct emu_inject emu_inject;

/* By a number or a name. False: there is no such fault. */
bool emu_inject_choose(const char *text);
/* NULL beyond the last. fault_class: "hang", "late fence", ... */
const char *emu_inject_name(size_t index, const char **fault_class);
/* The index of the chosen one. */
size_t emu_inject_index(void);
/* The free part of all memory, before any allocation. */
uint64_t emu_inject_free_bytes(uint64_t all);

static inline bool emu_injected(enum emu_place place) {
  return __builtin_expect(emu_inject.place == place, 0);
}
/* The same, and fills in the fault of a lost channel. */
bool emu_inject_loss(enum emu_place place, uint32_t notifier, struct emu_fault *fault);

/* 0 or -errno, for a node that is opened. */
int emu_inject_open(const char *path);
/* Before a request: -errno, or 0; does not return if the request hangs. After it: changes its
 * result. */
int emu_inject_request(uint32_t request, const void *argument);
void emu_inject_answer(uint32_t request, void *argument);

#endif
