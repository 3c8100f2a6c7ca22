/* Syncpoints of host1x, and the fds that wait for them. Callers hold gpu.lock unless a function
 * says otherwise. */
#ifndef TEGRACL_EMULATOR_SYNCPOINT_H
#define TEGRACL_EMULATOR_SYNCPOINT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "emulator/objects.h"

struct emu_dmabuf;
struct emu_wait;

/* docs/hardware/kernel-interface.md traps T11, T12 */
enum { EMU_SYNCPOINTS = 1024, EMU_SYNCPOINT_STRIDE = 0x10000, EMU_NO_SYNCPOINT = -1 };
/* by which the driver raises a syncpoint whose channel stops, to wake all waiters (3.4) */
enum { EMU_SYNCPOINT_SAFE_STEP = 1000 };

/* A syncpoint and the value for which to wait. */
struct emu_point {
  uint32_t id, threshold;
};

/* Maximum number of points in a sync_file. */
enum { EMU_POINTS = 32 };

/* An fd that waits for syncpoints: a sync_file until all its points are reached, a pollfd until any
 * of the triggered ones is. */
struct emu_waiter {
  struct emu_object object;
  uint64_t reached_ns; /* when a late or lost fence should have been signalled; 0 if in time */
  uint32_t left;       /* number of points not yet reached */
  uint32_t count;
  struct emu_point points[EMU_POINTS]; /* the points of a sync_file; more than one after a merge */
};

extern struct emu_syncpoints {
  struct emu_dmabuf *memory; /* EMU_SYNCPOINT_STRIDE bytes per syncpoint */
  bool used[EMU_SYNCPOINTS];
  uint32_t slept_past_fence[EMU_SYNCPOINTS]; /* per syncpoint, fences that a client slept past */
  struct emu_wait *waits;
  atomic_int wait_count;
} emu_syncpoints;

/* Returns the memory of all syncpoints, which the first call creates, or NULL if memory is
 * exhausted. */
struct emu_dmabuf *emu_syncpoint_memory(void);
/* Allocates a syncpoint. Returns it or -ENOMEM. */
int emu_syncpoint_take(void);
/* Returns the value of a syncpoint. */
uint32_t emu_syncpoint_value(int syncpoint);
/* Increments a syncpoint. Called by the engine thread; takes gpu.lock if there are waiters. */
void emu_syncpoint_increment(int syncpoint);
/* Adds by to a syncpoint. */
void emu_syncpoint_raise(int syncpoint, uint32_t by);
/* Opens a fd that becomes readable when all points are reached. Returns it or -errno. */
int emu_sync_file_open(const struct emu_point *points, uint32_t count);
/* Open the nodes of r36 and r35. Return an fd or -errno. */
int emu_host1x_open(void);
int emu_nvhost_open(void);

#endif
