/* The disk cache within its size limit: the longest unused entries are removed. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "compiler/cache.h"

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

static bool ends_with(const char *name, const char *suffix) {
  size_t length = strlen(name), suffix_length = strlen(suffix);
  return length > suffix_length && strcmp(name + length - suffix_length, suffix) == 0;
}

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
  if (snprintf(entry->name, sizeof(entry->name), "%s", name) >= (int)sizeof(entry->name))
    return; /* not a name of ours */
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

/* Writers hold a lock for as long as they live. */
static bool has_no_writer(int folder, const char *name) {
  const int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  const bool free = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0;
  if (fd >= 0)
    close(fd);
  return free;
}

void cache_trim(const char *folder, uint64_t limit) {
  DIR *directory = opendir(folder);
  if (!directory)
    return;
  int fd = dirfd(directory);
  struct entry_list list = {0};
  for (struct dirent *item; (item = readdir(directory));) {
    struct stat status;
    bool temporary = ends_with(item->d_name, CACHE_TEMP_SUFFIX);
    if ((!temporary && !ends_with(item->d_name, CACHE_ENTRY_SUFFIX)) ||
        fstatat(fd, item->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(status.st_mode))
      continue;
    if (!temporary)
      list_add(&list, item->d_name, &status);
    else if (has_no_writer(fd, item->d_name))
      unlinkat(fd, item->d_name, 0);
  }
  if (list.total > limit)
    qsort(list.entries, list.count, sizeof(*list.entries), older);
  for (size_t i = 0; i < list.count && list.total > limit; i++) {
    unlinkat(fd, list.entries[i].name, 0);
    list.total -= list.entries[i].size;
  }
  free(list.entries);
  closedir(directory);
}
