/* Files that grow. Beyond RLIMIT_FSIZE, which memfds have as well, Linux does not only refuse:
 * it sends SIGXFSZ, which ends the application. These functions give EFBIG alone.
 */
#ifndef TEGRACL_BASE_FILE_H
#define TEGRACL_BASE_FILE_H

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <time.h>
#include <unistd.h>

struct base_growth {
  sigset_t before;
  bool blocked; /* SIGXFSZ, by us */
};

/* Around whatever lets a file grow. Linux sends the signal to the thread that writes. */
static inline void base_growth_begin(struct base_growth *growth) {
  sigset_t pending, signal;
  sigemptyset(&signal);
  sigaddset(&signal, SIGXFSZ);
  /* One that the application holds back stays pending, and takes ours in. */
  sigpending(&pending);
  growth->blocked = !sigismember(&pending, SIGXFSZ);
  pthread_sigmask(SIG_BLOCK, &signal, &growth->before);
}

/* Keeps errno. */
static inline void base_growth_end(const struct base_growth *growth) {
  const int error = errno;
  if (growth->blocked) {
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
