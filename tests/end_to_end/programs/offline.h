/* Runs the offline compiler in tests. */
#ifndef TEGRACL_TEST_OFFLINE_H
#define TEGRACL_TEST_OFFLINE_H

#include "tests/end_to_end/opencl.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* Compiles a source in the form that --emit selects. Returns *size bytes, which the caller
 * frees. */
static inline unsigned char *offline_compile(char *compiler, char *form, char *source,
                                             size_t *size) {
  char path[] = "/tmp/offline-XXXXXX";
  int fd = mkstemp(path);
  CHECK(fd >= 0);
  char *arguments[] = {compiler, "--emit", form, "-o", path, source, NULL};
  pid_t child;
  int status;
  CHECK(posix_spawn(&child, compiler, NULL, NULL, arguments, environ) == 0);
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  off_t end = lseek(fd, 0, SEEK_END);
  CHECK(end > 0);
  *size = (size_t)end;
  unsigned char *binary = malloc(*size);
  CHECK(binary && pread(fd, binary, *size, 0) == (ssize_t)*size);
  close(fd);
  unlink(path);
  return binary;
}

#endif
