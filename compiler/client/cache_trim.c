/* Keeps the disk cache within its size limit by removing the least recently used entries. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "compiler/client/cache.h"

struct old_entry {
  char name[64];
  struct timespec used;
  uint64_t size;
};

struct entry_list {
  struct old_entry *entries;
  size_t count, room;
  uint64_t total;
};

/* Whether name consists of the prefix, count characters from letters, and the suffix. */
static bool is_made_of(const char *name, const char *prefix, size_t count, const char *letters,
                       const char *suffix) {
  const size_t prefix_size = strlen(prefix);
  return strncmp(name, prefix, prefix_size) == 0 && strspn(name + prefix_size, letters) == count &&
         strcmp(name + prefix_size + count, suffix) == 0;
}

static bool is_entry(const char *name) {
  enum { DIGITS = 32 };
  return is_made_of(name, "", DIGITS, "0123456789abcdef", CACHE_ENTRY_SUFFIX);
}

static bool is_temporary(const char *name) {
  return is_made_of(name, CACHE_TEMP_PREFIX, CACHE_TEMP_LETTERS,
                    "0123456789abcdefghijklmnopqrstuvwxyz", CACHE_TEMP_SUFFIX);
}

/* Adds the entry with this file name to the list. */
static void list_add(struct entry_list *list, const char *name, const struct stat *status) {
  if (list->count == list->room) {
    size_t room = list->room ? 2 * list->room : 64;
    struct old_entry *entries = realloc(list->entries, room * sizeof(*entries));
    if (!entries)
      return;
    list->entries = entries;
    list->room = room;
  }
  struct old_entry *entry = &list->entries[list->count];
  memcpy(entry->name, name, strlen(name) + 1);
  entry->used = status->st_mtim;
  entry->size = (uint64_t)status->st_size;
  list->total += entry->size;
  list->count++;
}

static int older(const void *a, const void *b) {
  const struct timespec *x = &((const struct old_entry *)a)->used;
  const struct timespec *y = &((const struct old_entry *)b)->used;
  if (x->tv_sec != y->tv_sec)
    return x->tv_sec < y->tv_sec ? -1 : 1;
  return x->tv_nsec < y->tv_nsec ? -1 : x->tv_nsec > y->tv_nsec;
}

/* Does not follow a symbolic link or block on a pipe. */
static int open_file(int folder, const char *name) {
  return openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
}

/* Returns whether no process is writing the file. A writer holds the lock until it closes it. */
static bool has_no_writer(int folder, const char *name) {
  const int fd = open_file(folder, name);
  const bool free = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0;
  if (fd >= 0)
    close(fd);
  return free;
}

/* Whether the file is an entry of this version or another one. */
static bool begins_with_magic(int folder, const char *name) {
  char magic[CACHE_MAGIC_COMMON];
  const int fd = open_file(folder, name);
  const bool is_ours = fd >= 0 && read(fd, magic, sizeof(magic)) == sizeof(magic) &&
                       memcmp(magic, CACHE_MAGIC, sizeof(magic)) == 0;
  if (fd >= 0)
    close(fd);
  return is_ours;
}

void cache_trim(int folder, uint64_t limit) {
  const int own = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *directory = own >= 0 ? fdopendir(own) : NULL;
  if (!directory) {
    if (own >= 0)
      close(own);
    return;
  }
  struct entry_list list = {0};
  for (struct dirent *item; (item = readdir(directory));) {
    struct stat status;
    const bool temporary = is_temporary(item->d_name);
    if ((!temporary && !is_entry(item->d_name)) ||
        fstatat(folder, item->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0 ||
        !S_ISREG(status.st_mode) || status.st_uid != geteuid())
      continue;
    if (!temporary)
      list_add(&list, item->d_name, &status);
    else if (has_no_writer(folder, item->d_name))
      unlinkat(folder, item->d_name, 0);
  }
  if (list.total > limit)
    qsort(list.entries, list.count, sizeof(*list.entries), older);
  for (size_t i = 0; i < list.count && list.total > limit; i++) {
    if (begins_with_magic(folder, list.entries[i].name))
      unlinkat(folder, list.entries[i].name, 0);
    list.total -= list.entries[i].size;
  }
  free(list.entries);
  closedir(directory);
}
