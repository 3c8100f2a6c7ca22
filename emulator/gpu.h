/* The software Orin: one for the process.
 *
 * Locks: gpu.lock guards everything that ioctls change (object table, reference counts,
 * bindings). The engine thread takes it only between channels, and pins the address space
 * in which it works (struct emu_pin), so that an unmap never waits and never frees memory
 * under a grid. An address space's mapping table has its own lock, which look-ups take for
 * reading.
 */
#ifndef TEGRACL_EMULATOR_GPU_H
#define TEGRACL_EMULATOR_GPU_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct emu_channel;
struct emu_ctrl;
struct emu_dmabuf;
struct emu_handle;
struct emu_token;
struct emu_wait;
struct emu_watchdog;
struct emu_worker_pool;
struct emu_object;

/* Limits of its driver; docs/hardware/kernel-interface.md traps T11, T12. */
enum { EMU_CHANNELS = 512, EMU_SYNCPOINTS = 1024 };

struct emu_gpu {
  pthread_mutex_t lock;
  bool started;
  struct emu_object **table; /* by fd */
  int table_size;
  int fd_count;
  int nvmap_opens;
  struct emu_dmabuf *dmabufs;
  struct emu_handle *handles;
  uint32_t next_handle;
  uint64_t next_serial;
  uint64_t memory_limit, memory_used;
  uint64_t tags[1024];     /* SET_TAG_LABEL: one bit for each of 65536 */
  struct emu_ctrl *mapped; /* ctrl nodes with a mapping */
  struct {
    bool on;
    bool ready; /* it has been on at least once */
    uint64_t last_busy_ns;
  } power;
  uint64_t instances;
  int tsg_count;
  struct emu_token *tokens;
  struct emu_channel *channels[EMU_CHANNELS];
  uint16_t free_channels[EMU_CHANNELS];
  int free_channel_count;
  uint64_t channels_opened;
  struct emu_dmabuf *syncpoint_memory; /* EMU_SYNCPOINT_STRIDE bytes each */
  bool syncpoint_used[EMU_SYNCPOINTS];
  uint32_t syncpoint_overslept[EMU_SYNCPOINTS]; /* fences on which a client slept too long */
  struct emu_wait *waits;                       /* for syncpoints */
  struct emu_watchdog *watchdog;
  int watched_channels;
  atomic_int wait_count;
  uint64_t fault_serial;

  /* Engine. */
  bool engine_running, engine_stopping;
  int leaving;         /* threads that wait on serviced until the engine leaves a channel */
  atomic_int settling; /* threads that count a channel's turns; grids' turns must end for them */
  _Atomic int scheduled_count;
  pthread_t engine;
  atomic_bool stop;
  struct emu_channel *servicing; /* under lock */
  pthread_cond_t serviced;
  _Atomic uint64_t doorbells[EMU_CHANNELS / 64];
  _Atomic uint32_t doorbell_count;
  _Atomic uint32_t engine_asleep;
  atomic_int bell_cpu; /* the CPU of the last doorbell; -1: unknown */
  struct emu_dmabuf *usermode_page;
  int cpus;
  struct emu_worker_pool *pool;
  _Atomic uint64_t instructions, grids, ctas;
};

extern struct emu_gpu emu_gpu;

/* PTIMER: nanoseconds in steps of 32. */
uint64_t emu_time_ns(void);
/* Destroys the device if no fd and no mapping is left. Called without gpu.lock. */
void emu_device_stop_if_unused(void);

#endif
