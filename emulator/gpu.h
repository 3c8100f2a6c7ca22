/* The software Orin: one for the process. Each part has its state in a struct of its header:
 * emu_objects (objects.h), emu_memory (dmabuf.h), emu_nvmap, emu_ctrls, emu_power, emu_tsgs,
 * emu_channels, emu_syncpoints and emu_usermode (kernel/), emu_engine (engine.h).
 *
 * Locks: gpu.lock guards everything that ioctls change (object table, reference counts,
 * bindings), so all those structs but what is atomic. The engine thread takes it only between
 * channels, and pins the address space in which it works (struct emu_pin), so that an unmap never
 * waits and never frees memory under a grid. An address space's mapping table has its own lock,
 * which look-ups take for reading.
 */
#ifndef TEGRACL_EMULATOR_GPU_H
#define TEGRACL_EMULATOR_GPU_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* A limit of its driver; docs/hardware/kernel-interface.md trap T11. */
enum { EMU_CHANNELS = 512 };

struct emu_gpu {
  pthread_mutex_t lock;
  bool started;
};

extern struct emu_gpu emu_gpu;

/* PTIMER: nanoseconds in steps of 32. */
uint64_t emu_time_ns(void);
/* Destroys the device if no fd and no mapping is left. Called without gpu.lock. */
void emu_device_stop_if_unused(void);

#endif
