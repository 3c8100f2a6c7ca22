/* Writes to files, including memfds, without SIGXFSZ. If a write exceeds RLIMIT_FSIZE, Linux fails
 * it with EFBIG and sends SIGXFSZ, which kills the application. These functions fail without the
 * signal. */
#ifndef TEGRACL_BASE_FILE_H
#define TEGRACL_BASE_FILE_H

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <time.h>
#include <unistd.h>

struct base_growth {
  sigset_t before;
  bool discard; /* the file system call can raise SIGXFSZ, so discard it at the end */
};

/* Blocks SIGXFSZ in this thread, to which Linux sends it. Call this before a system call that may
 * grow a file, and base_growth_end after it. */
static inline void base_growth_begin(struct base_growth *growth) {
  sigset_t pending, signal;
  sigemptyset(&signal);
  sigaddset(&signal, SIGXFSZ);
  /* A SIGXFSZ that was pending before the call belongs to the application and must stay pending. */
  sigpending(&pending);
  growth->discard = !sigismember(&pending, SIGXFSZ);
  pthread_sigmask(SIG_BLOCK, &signal, &growth->before);
}

/* Discards a SIGXFSZ raised since base_growth_begin, restores the signal mask, and preserves
 * errno. */
static inline void base_growth_end(const struct base_growth *growth) {
  const int error = errno;
  if (growth->discard) {
    const struct timespec at_once = {0};
    sigset_t signal;
    sigemptyset(&signal);
    sigaddset(&signal, SIGXFSZ);
    while (sigtimedwait(&signal, NULL, &at_once) < 0 && errno == EINTR)
      ;
  }
  pthread_sigmask(SIG_SETMASK, &growth->before, NULL);
  errno = error;
}

/* Like ftruncate and write. */
static inline int base_truncate(int fd, off_t size) {
  struct base_growth growth;
  base_growth_begin(&growth);
  const int result = ftruncate(fd, size);
  base_growth_end(&growth);
  return result;
}

static inline ssize_t base_write(int fd, const void *bytes, size_t size) {
  struct base_growth growth;
  base_growth_begin(&growth);
  const ssize_t result = write(fd, bytes, size);
  base_growth_end(&growth);
  return result;
}

#endif
