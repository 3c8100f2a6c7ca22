/* The numbers of the fds that the runtime has open, so that a child of fork can close
 * its copies: they would keep the parent's channels and memory (docs/hardware/kernel-interface.md
 * trap T10). No locks, since at the fork another thread might hold them.
 */
#ifndef TEGRACL_RUNTIME_FDS_H
#define TEGRACL_RUNTIME_FDS_H

#include "gpu/nvgpu/os.h"

/* Remembers an fd that has just been opened, and gives it; negative ones pass. Without memory
 * for that it closes it: -ENOMEM. */
int rt_fd_opened(const struct nvgpu_os *os, int fd);
/* Closes one; -1 does nothing. */
void rt_fd_close(const struct nvgpu_os *os, int fd);
/* In a child of fork: closes its copies of all of them. */
void rt_fds_close_copies(void);

#endif
