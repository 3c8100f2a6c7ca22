/* The interface between the driver and the kernel: six system calls and the doorbell. The runtime
 * accesses the GPU only through this table. It has two implementations: Linux's system calls, and
 * the software Orin (emulator/emulator.h). */
#ifndef TEGRACL_NVGPU_OS_H
#define TEGRACL_NVGPU_OS_H

#include <poll.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct nvgpu_os {
  const char *name; /* "linux" or "emulator" */
  /* Returns an fd or -errno. */
  int (*open)(const char *path, int flags);
  /* 0 or -errno. */
  int (*close)(int fd);
  /* Returns the ioctl's result (>= 0) or -errno. Retries after EINTR. */
  int (*ioctl)(int fd, unsigned long request, void *argument);
  /* Returns the address, or NULL with -errno in *error. */
  void *(*mmap)(void *address, size_t length, int protection, int flags, int fd, off_t offset,
                int *error);
  /* 0 or -errno. */
  int (*munmap)(void *address, size_t length);
  /* Returns the number of ready fds, 0 after the timeout, or -errno. Does not retry after EINTR. */
  int (*poll)(struct pollfd *fds, unsigned count, int timeout_ms);
  /* Stores the work-submit token at offset 0x90 of the user-mode page (a mapping of the control
   * node), after the barrier that this requires. */
  void (*doorbell)(void *usermode_page, uint32_t token);
};

extern const struct nvgpu_os nvgpu_os_linux;
/* Defined in emulator/, which programs that use it must link. */
extern const struct nvgpu_os nvgpu_os_emulator;

#endif
