/* The runtime's open fds, as bits. */
#include "runtime/fds.h"

#include <stdatomic.h>

enum { WORD_BITS = 64, FDS = 1 << 16 }; /* what lies above is not remembered */

static _Atomic uint64_t open_fds[FDS / WORD_BITS];

static uint64_t bit(int fd) {
  return UINT64_C(1) << (fd % WORD_BITS);
}

int rt_fd_opened(int fd) {
  if (fd >= 0 && fd < FDS)
    atomic_fetch_or(&open_fds[fd / WORD_BITS], bit(fd));
  return fd;
}

/* Forgotten before it is closed: a moment later the number may be somebody else's, whom
 * the child of a fork in between must not harm. It may keep a copy instead. */
void rt_fd_close(const struct nvgpu_os *os, int fd) {
  if (fd < 0)
    return;
  if (fd < FDS)
    atomic_fetch_and(&open_fds[fd / WORD_BITS], ~bit(fd));
  os->close(fd);
}

/* By the system call, since the child has nothing but numbers, and no emulated device
 * behind them. */
void rt_fds_close_copies(void) {
  for (int i = 0; i < FDS / WORD_BITS; i++) {
    uint64_t bits = atomic_load_explicit(&open_fds[i], memory_order_relaxed);
    if (!bits)
      continue;
    atomic_store(&open_fds[i], 0);
    for (; bits; bits &= bits - 1)
      nvgpu_os_linux.close(i * WORD_BITS + __builtin_ctzll(bits));
  }
}
