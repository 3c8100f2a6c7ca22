/* The opened GPU, as the rest of runtime/ sees it. */
#ifndef TEGRACL_RUNTIME_DEVICE_H
#define TEGRACL_RUNTIME_DEVICE_H

#include <stdatomic.h>

#include "base/lock.h"
#include "gpu/nvgpu/os.h"
#include "gpu/nvgpu/release.h"
#include "runtime/device/choices.h"
#include "runtime/runtime.h"

struct rt_device {
  const struct nvgpu_os *os;
  const struct nvgpu_release *release; /* of the kernel interface */
  int nvmap_fd;
  int ctrl_fd;
  int fence_fd;    /* syncpoint fences; -1: the kernel has none */
  int emulator_fd; /* -1 on a board */
  /* Held while memory is mapped or unmapped for GPU and CPU: an address that the GPU's
   * address space gives out again is free for the CPU, too. */
  struct base_mutex addresses;
  struct base_mutex allocation;  /* held while a large allocation is made: available.h */
  _Atomic uint64_t unseen_bytes; /* of small ones since the last check of free memory */
  const char *meminfo;           /* the system's file */
  bool notes;                    /* the software Orin's modes need to know code and memory */
  bool suballocation;            /* small buffers share blocks (heap.h) */
  bool textures;                 /* the texture units read images (textures.h) */
  struct base_mutex usermode_lock;
  unsigned usermode_users; /* channels that hold the page, under usermode_lock */
  void *usermode;          /* the user-mode register page; NULL without users */
  uint32_t preemptions;    /* modes of compute that are offered; NVGPU_PREEMPT_COMPUTE_* */
  struct rt_choices choices;
  struct rt_device_info info;
};

/* What rt_device_open opens: the board, or the software Orin. NULL, with a message,
 * if TEGRACL_DEVICE is neither. */
const struct nvgpu_os *rt_device_os(void);

/* The release's code of a request. */
static inline uint32_t rt_request(const struct rt_device *device, uint32_t request) {
  return nvgpu_release_request(device->release, request);
}

/* Opens the GPU through one implementation of the kernel boundary. */
int rt_device_create(const struct nvgpu_os *os, struct rt_device **device);

/* In a child of fork: the parent's nodes and mappings are not this process's. */
void rt_device_forget(struct rt_device *device);

/* The user-mode page is mapped while channels hold it. A channel takes it after its
 * SETUP_BIND, which powers the GPU for the channel's lifetime, and gives it back before it
 * is closed. The kernel powers the GPU up under the process's mmap lock when the page is
 * mapped, restores older mappings of the page at power-up, and waits forever for that lock:
 * so no mapping of ours may outlive our last channel, nor may the page be mapped while the
 * GPU can be off (nvgpu, os/linux/ioctl_ctrl.c, gk20a_ctrl_dev_mmap and
 * alter_usermode_mappings). 0 or -errno with a message. */
int rt_device_hold_usermode(struct rt_device *device);
void rt_device_release_usermode(struct rt_device *device);

#endif
