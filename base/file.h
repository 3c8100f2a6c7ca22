/* Writes to files, memfds among them, that may exceed RLIMIT_FSIZE. Linux then fails the call with
 * EFBIG and sends SIGXFSZ, which ends the application. Here the call fails without the signal. */
#ifndef TEGRACL_BASE_FILE_H
#define TEGRACL_BASE_FILE_H

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <time.h>
#include <unistd.h>

struct base_growth {
  sigset_t before;
  bool discard; /* a SIGXFSZ that is pending at the end is ours */
};

/* Blocks SIGXFSZ in this thread, which is the one that Linux sends it to. Call it before a system
 * call that lets a file grow, and base_growth_end after it. */
static inline void base_growth_begin(struct base_growth *growth) {
  sigset_t pending, signal;
  sigemptyset(&signal);
  sigaddset(&signal, SIGXFSZ);
  /* One that the application has blocked and not yet received must stay pending. */
  sigpending(&pending);
  growth->discard = !sigismember(&pending, SIGXFSZ);
  pthread_sigmask(SIG_BLOCK, &signal, &growth->before);
}

/* Discards a SIGXFSZ of ours, restores the signal mask, and keeps errno. */
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

/* As ftruncate and write. */
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
