/* The software Orin: one for the process. Each part has its state in a struct of its header:
 * emu_objects (objects.h), emu_memory (dmabuf.h), emu_nvmap, emu_ctrls, emu_power, emu_tsgs,
 * emu_channels, emu_syncpoints and emu_usermode (kernel/), emu_engine (engine.h).
 *
 * Locks: gpu.lock guards what ioctls change (object table, reference counts, bindings): all of
 * those structs except their atomic members. The engine thread takes it between the turns of
 * channels, and pins the address space of the channel (struct emu_pin): an unmap does not wait
 * for a grid and does not free memory that it uses. An address space's mapping table has its own
 * lock, which look-ups take for reading.
 */
#ifndef TEGRACL_EMULATOR_GPU_H
#define TEGRACL_EMULATOR_GPU_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* The driver's limit; docs/hardware/kernel-interface.md trap T11. */
enum { EMU_CHANNELS = 512 };

struct emu_gpu {
  pthread_mutex_t lock;
  bool started;
};

extern struct emu_gpu emu_gpu;

/* The time of PTIMER: nanoseconds in steps of 32. */
uint64_t emu_time_ns(void);
/* Destroys the device if no fd and no mapping is left. Called without gpu.lock. */
void emu_device_stop_if_unused(void);

#endif
