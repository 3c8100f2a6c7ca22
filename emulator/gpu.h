/* The software Orin, of which each process has one. The state of each part is in a struct of its
 * header: emu_objects (objects.h), emu_memory (dmabuf.h), emu_nvmap, emu_ctrls, emu_power,
 * emu_tsgs, emu_channels, emu_syncpoints and emu_usermode (kernel/), emu_engine (engine.h).
 *
 * Locks: gpu.lock protects what ioctls change (object table, reference counts, bindings): all of
 * those structs except their atomic members. The engine thread takes it between the turns of
 * channels, and pins the address space of the running channel (struct emu_pin), so that an unmap
 * neither waits for a grid nor frees memory that it uses. The mapping table of an address space has
 * a separate lock, which look-ups take for reading. */
#ifndef TEGRACL_EMULATOR_GPU_H
#define TEGRACL_EMULATOR_GPU_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* The limit of the kernel driver (docs/hardware/kernel-interface.md trap T11). */
enum { EMU_CHANNELS = 512 };

struct emu_gpu {
  pthread_mutex_t lock;
  bool started;
};

extern struct emu_gpu emu_gpu;

/* Returns the time of PTIMER: nanoseconds in steps of 32. */
uint64_t emu_time_ns(void);
/* Destroys the device if it has no fds and no mappings. Call without gpu.lock. */
void emu_device_stop_if_unused(void);

#endif
