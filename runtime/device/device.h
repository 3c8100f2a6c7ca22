/* The opened GPU, for the rest of runtime/. */
#ifndef TEGRACL_RUNTIME_DEVICE_H
#define TEGRACL_RUNTIME_DEVICE_H

#include <stdatomic.h>

#include "base/lock.h"
#include "gpu/nvgpu/os.h"
#include "gpu/nvgpu/release.h"
#include "runtime/device/choices.h"
#include "runtime/device/texture_answers.h"
#include "runtime/runtime.h"

struct rt_device {
  const struct nvgpu_os *os;
  const struct nvgpu_release *release; /* L4T release of the kernel interface */
  int nvmap_fd;
  int ctrl_fd;
  int fence_fd;    /* creates syncpoint fences; -1 if unavailable */
  int emulator_fd; /* -1 on a board */
  /* Locked while memory is mapped or unmapped for both GPU and CPU, so that an address that the
   * GPU's address space hands out is also free for the CPU. */
  struct base_mutex addresses;
  struct base_mutex allocation;  /* held during a large allocation; see available.h */
  _Atomic uint64_t unseen_bytes; /* small allocations since the last check of free memory */
  const char *meminfo;           /* the system's file */
  bool notes;                    /* check or profile mode is on and accepts notes */
  bool suballocation;            /* small buffers share blocks; see heap.h */
  bool one_core; /* the process could use only one core when the device was opened */
  struct base_mutex usermode_lock;
  unsigned usermode_users; /* number of channels that use the page; protected by usermode_lock */
  void *usermode;          /* the user-mode register page; NULL if there are no users */
  uint32_t preemptions;    /* supported compute preemption modes: NVGPU_PREEMPT_COMPUTE_* */
  struct rt_choices choices;
  struct rt_texture_units textures;
  struct base_mutex contexts_lock; /* protects the list of contexts */
  struct rt_context *contexts;
  struct rt_device_info info;
};

/* Returns the implementation that rt_device_open uses: the board's or the software Orin's. Returns
 * NULL with a message if TEGRACL_DEVICE is invalid. */
const struct nvgpu_os *rt_device_os(void);

/* Translates a request to the code that this kernel release uses. */
static inline uint32_t rt_request(const struct rt_device *device, uint32_t request) {
  return nvgpu_release_request(device->release, request);
}

/* Opens the GPU through an implementation of the kernel interface. */
int rt_device_create(const struct nvgpu_os *os, struct rt_device **device);

/* Forgets the parent's nodes and mappings in a child of fork, where they do not exist, and resets
 * the locks. */
void rt_device_forget(struct rt_device *device);

/* Map and unmap the user-mode page, which is mapped while at least one channel holds it. A channel
 * takes it after SETUP_BIND, which powers the GPU for the channel's lifetime, and releases it
 * before the channel is closed.
 *
 * No mapping of the page may outlive the last channel, and the page must not be mapped while the
 * GPU may be off. Mapping it makes the kernel power up the GPU under the process's mmap lock. At
 * power-up the kernel restores older mappings of the page, and waits forever for that same lock
 * (nvgpu, os/linux/ioctl_ctrl.c, gk20a_ctrl_dev_mmap and alter_usermode_mappings).
 *
 * rt_device_hold_usermode returns 0, or -errno with a message. */
int rt_device_hold_usermode(struct rt_device *device);
void rt_device_release_usermode(struct rt_device *device);

#endif
