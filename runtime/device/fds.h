/* The set of the runtime's open fds. A child of fork closes its copies of them, which would
 * otherwise keep the parent's channels and memory alive (docs/hardware/kernel-interface.md trap
 * T10). It uses no locks, because another thread could hold them during the fork. */
#ifndef TEGRACL_RUNTIME_FDS_H
#define TEGRACL_RUNTIME_FDS_H

#include "gpu/nvgpu/os.h"

/* Adds a newly opened fd to the set and returns it. Negative values are returned unchanged. If
 * memory is exhausted, closes the fd and returns -ENOMEM. */
int rt_fd_opened(const struct nvgpu_os *os, int fd);
/* Removes an fd from the set and closes it. Does nothing for -1. */
void rt_fd_close(const struct nvgpu_os *os, int fd);
/* Closes the copies of all fds in the set in a child of fork. */
void rt_fds_close_copies(void);

#endif
