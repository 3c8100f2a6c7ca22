/* Children of fork: resources that they must not inherit, and how they exit. */
#ifndef TEGRACL_TEST_CHILDREN_H
#define TEGRACL_TEST_CHILDREN_H

#include <dirent.h>
#include <stdbool.h>
#include <unistd.h>

#include "tests/end_to_end/opencl.h"

static inline bool is_memfd(const char *name) {
  return strstr(name, "/memfd:");
}

/* Ends the test if this process has a memfd open or mapped. The software Orin uses memfds for
 * its files and shared memory, and a compile helper for its output. */
static inline void no_memfds(void) {
  char target[256], line[512];
  DIR *folder = opendir("/proc/self/fd");
  CHECK(folder);
  for (const struct dirent *entry; (entry = readdir(folder));) {
    const ssize_t length = readlinkat(dirfd(folder), entry->d_name, target, sizeof target - 1);
    target[length > 0 ? length : 0] = 0;
    CHECK(!is_memfd(target));
  }
  closedir(folder);
  FILE *maps = fopen("/proc/self/maps", "re");
  CHECK(maps);
  while (fgets(line, sizeof line, maps))
    CHECK(!is_memfd(line));
  fclose(maps);
}

/* Exits and runs destructors. Under AddressSanitizer exits without them, because memory to which
 * only the parent's other threads or its device pointed would be reported as leaked. */
static inline void end_by_exit(void) {
#ifdef __SANITIZE_ADDRESS__
  _exit(0);
#else
  exit(0);
#endif
}

#endif
