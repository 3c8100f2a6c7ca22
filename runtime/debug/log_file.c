/* Log files of TEGRACL_DEBUG. See log_file.h. */
#include "runtime/debug/log_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/file.h"

/* The first writer truncates the file under an exclusive lock, writes the head, and then keeps a
 * shared lock. Later writers append; their wait for the shared lock ends when the head is written.
 * A later writer is another process, or the driver itself in a program that is linked with this
 * code, such as tegracl-doctor. */
int rt_log_open(const char *path, const char *head, const char *what) {
  int fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  bool first = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0;
  bool empty = first && ftruncate(fd, 0) == 0;
  if (fd < 0 || (empty && base_write(fd, head, strlen(head)) < 0)) {
    fprintf(stderr, "tegracl: no %s in %s: %s\n", what, path, strerror(errno));
    if (fd >= 0)
      close(fd);
    return -1;
  }
  flock(fd, LOCK_SH);
  return fd;
}
