/* Syncpoints of host1x, and the fds that wait for them. gpu.lock held, unless a function says
 * otherwise. */
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

/* A syncpoint and the value to reach. */
struct emu_point {
  uint32_t id, threshold;
};

/* Points of a sync_file. */
enum { EMU_POINTS = 32 };

/* An fd that waits for syncpoints: a sync_file until all its points are reached, a
 * pollfd for any of those that were triggered. */
struct emu_waiter {
  struct emu_object object;
  uint64_t reached_ns; /* when a late or lost fence should have been signalled; 0: not late */
  uint32_t left;       /* points that are not reached */
  uint32_t count;
  struct emu_point points[EMU_POINTS]; /* of a sync_file; several where some were merged */
};

extern struct emu_syncpoints {
  struct emu_dmabuf *memory; /* EMU_SYNCPOINT_STRIDE bytes for each */
  bool used[EMU_SYNCPOINTS];
  uint32_t overslept[EMU_SYNCPOINTS]; /* number of fences on which a client slept too long */
  struct emu_wait *waits;
  atomic_int wait_count;
} emu_syncpoints;

/* The memory of all syncpoints, made at the first call; NULL: no memory. */
struct emu_dmabuf *emu_syncpoint_memory(void);
/* A free syncpoint, or -ENOMEM. */
int emu_syncpoint_take(void);
/* The value of a syncpoint. */
uint32_t emu_syncpoint_value(int syncpoint);
/* Increments a syncpoint. Engine thread: takes gpu.lock if there are waiters. */
void emu_syncpoint_increment(int syncpoint);
/* Adds a number to a syncpoint. */
void emu_syncpoint_raise(int syncpoint, uint32_t by);
/* A new fd that polls readable when all points are reached, or -errno. */
int emu_sync_file_open(const struct emu_point *points, uint32_t count);
/* Opens of the nodes of r36 and r35: a new fd, or -errno. */
int emu_host1x_open(void);
int emu_nvhost_open(void);

#endif
