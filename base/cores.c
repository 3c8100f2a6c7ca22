/* Counts the cores that this process may use. See cores.h. */
#include "base/cores.h"

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINE_BYTES = 1024, NAME_BYTES = LINE_BYTES + 512 };

/* Reads up to two numbers from a file and returns how many there are. "max" is not a number. */
static int read_numbers(const char *folder, const char *name, long long numbers[2]) {
  char text[NAME_BYTES];
  int count = 0;
  if (snprintf(text, sizeof(text), "%s/%s", folder, name) >= (int)sizeof(text))
    return 0;
  FILE *file = fopen(text, "re");
  const char *at = file && fgets(text, sizeof(text), file) ? text : "";
  for (char *end; count < 2; count++, at = end) {
    numbers[count] = strtoll(at, &end, 10);
    if (end == at)
      break;
  }
  if (file)
    fclose(file);
  return count;
}

/* Returns the quota of one cgroup, whose folder has the files of version 1 or 2. */
static unsigned quota_of_folder(const char *folder) {
  long long quota[2], period[2];
  if (read_numbers(folder, "cpu.max", quota) != 2) {
    if (read_numbers(folder, "cpu.cfs_quota_us", quota) != 1 ||
        read_numbers(folder, "cpu.cfs_period_us", period) != 1)
      return 0;
    quota[1] = period[0];
  }
  if (quota[0] <= 0 || quota[1] <= 0)
    return 0;
  const long long cores = (quota[0] - 1) / quota[1] + 1;
  return cores < CPU_SETSIZE ? (unsigned)cores : CPU_SETSIZE;
}

static bool has_word(const char *words, const char *wanted) {
  const size_t size = strlen(wanted);
  for (; words; words = strchr(words, ',') ? strchr(words, ',') + 1 : NULL)
    if (strncmp(words, wanted, size) == 0 && (!words[size] || words[size] == ','))
      return true;
  return false;
}

/* Returns the smallest quota of the cgroup and its parents. In a container the parents may be
 * invisible. */
static unsigned quota_of_path(const char *root, const char *mount, char *path) {
  unsigned least = 0;
  for (bool more = true; more;) {
    char folder[NAME_BYTES];
    char *end = strrchr(path, '/');
    if (end && !end[1])
      *end = 0;
    if (snprintf(folder, sizeof(folder), "%s%s%s", root, mount, path) >= (int)sizeof(folder))
      return least;
    const unsigned cores = quota_of_folder(folder);
    if (cores && (!least || cores < least))
      least = cores;
    end = strrchr(path, '/');
    more = end != NULL;
    if (end)
      *end = 0;
  }
  return least;
}

unsigned base_cores_of_quota(const char *root) {
  char line[LINE_BYTES];
  unsigned least = 0;
  if (snprintf(line, sizeof(line), "%s/proc/self/cgroup", root) >= (int)sizeof(line))
    return 0;
  FILE *list = fopen(line, "re");
  /* A line is HIERARCHY:CONTROLLERS:PATH. In version 2 there are no controllers. */
  while (list && fgets(line, sizeof(line), list)) {
    char *controllers = strchr(line, ':');
    char *path = controllers ? strchr(controllers + 1, ':') : NULL;
    if (!path)
      continue;
    *path++ = 0;
    path[strcspn(path, "\n")] = 0;
    const char *mount = !controllers[1]                    ? "/sys/fs/cgroup"
                        : has_word(controllers + 1, "cpu") ? "/sys/fs/cgroup/cpu"
                                                           : NULL;
    const unsigned cores = mount ? quota_of_path(root, mount, path) : 0;
    if (cores && (!least || cores < least))
      least = cores;
  }
  if (list)
    fclose(list);
  return least;
}

static unsigned quota;

static void read_quota(void) {
  quota = base_cores_of_quota("");
}

unsigned base_cores(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  cpu_set_t set;
  const long online = sysconf(_SC_NPROCESSORS_ONLN);
  const int allowed = sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 0;
  const unsigned cores = allowed > 0 ? (unsigned)allowed : online > 0 ? (unsigned)online : 1;
  pthread_once(&once, read_quota);
  return quota && quota < cores ? quota : cores;
}
