/* The kernel boundary: six system calls and one store. Everything the runtime
 * does to a GPU goes through this table. Two implementations: the Linux one
 * (system calls) and the software Orin (emulator/emulator.h).
 */
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
  /* The ioctl's result (>= 0) or -errno. Retries EINTR. */
  int (*ioctl)(int fd, unsigned long request, void *argument);
  /* The address, or NULL with *error = -errno. */
  void *(*mmap)(void *address, size_t length, int protection, int flags, int fd, off_t offset,
                int *error);
  int (*munmap)(void *address, size_t length);
  /* The number of fds that are ready, 0 when the time is over, or -errno (-EINTR
   * among them). */
  int (*poll)(struct pollfd *fds, unsigned count, int timeout_ms);
  /* Stores the work-submit token at +0x90 of the user-mode page (a mapping of
   * the control node), with the barrier that must stand before it. */
  void (*doorbell)(void *usermode_page, uint32_t token);
};

extern const struct nvgpu_os nvgpu_os_linux;
/* Defined by emulator/; a program that links this library links that one. */
extern const struct nvgpu_os nvgpu_os_emulator;

#endif
