/* The disk cache of program binaries. An entry is a small header, the build log
 * and the binary; writers rename a finished temporary file into place, so readers
 * see whole entries or none, and check a hash anyway.
 */
#include "compiler/cache.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "compiler/spirv.h"

#define ENTRY_SUFFIX ".bin"
#define TEMP_SUFFIX  ".tmp"

enum { PATH_BYTES = 4096 };

/* All entries together. A program binary has some ten kilobytes. */
#define SIZE_LIMIT (256ull << 20)

/* A temporary file older than this has lost its writer. */
enum { TEMP_SECONDS = 3600 };

struct entry {
  char magic[8];
  struct cache_key key;
  uint64_t log_size; /* with its NUL */
  uint64_t binary_size;
  uint64_t hash; /* xxHash64 of log and binary */
};

static const char magic[8] = {'T', 'E', 'G', 'C', 'L', 'C', 'H', '1'};

/* ---- key --------------------------------------------------------------------- */

static void hash_bytes(XXH3_state_t *state, const void *bytes, size_t size) {
  uint64_t length = size;
  XXH3_128bits_update(state, &length, sizeof(length));
  if (size)
    XXH3_128bits_update(state, bytes, size);
}

static void hash_string(XXH3_state_t *state, const char *text) {
  hash_bytes(state, text, text ? strlen(text) : 0);
}

static void hash_file(XXH3_state_t *state, const char *path) {
  hash_string(state, path);
  struct stat status;
  if (!path || stat(path, &status) != 0)
    return;
  uint64_t facts[] = {(uint64_t)status.st_dev, (uint64_t)status.st_ino, (uint64_t)status.st_size,
                      (uint64_t)status.st_mtim.tv_sec, (uint64_t)status.st_mtim.tv_nsec};
  hash_bytes(state, facts, sizeof(facts));
}

/* Words that let a source depend on more than its own text. Line splices and
 * trigraphs could hide them, so these count as well. A false alarm costs time
 * only. */
static bool source_depends_on_world(const char *text, size_t size) {
  static const char *const words[] = {
      "include", "import", "embed", "__DATE__", "__TIME__", "__TIMESTAMP__", "\?\?/",
  };
  for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
    if (memmem(text, size, words[i], strlen(words[i])))
      return true;
  /* A splice behind part of a word: a letter, a backslash, a newline. */
  const char *end = text + size;
  for (const char *at = text; (at = memchr(at, '\\', (size_t)(end - at))); at++) {
    const char *next = at + 1;
    while (next < end && (*next == ' ' || *next == '\t' || *next == '\r'))
      next++;
    bool in_word = at > text && (isalnum((unsigned char)at[-1]) || at[-1] == '_');
    if (in_word && next < end && *next == '\n')
      return true;
  }
  return false;
}

bool cache_key_make(const struct cc_job *job, const struct cache_tools *tools,
                    struct cache_key *key) {
  const char *wanted = getenv("TEGRACL_CACHE");
  if (wanted && strcmp(wanted, "0") == 0)
    return false;
  const char *options = job->options ? job->options : "";
  if (strstr(options, "include") || strstr(options, "imacros"))
    return false;
  XXH3_state_t *state = XXH3_createState();
  if (!state)
    return false;
  bool cachable = true;
  XXH3_128bits_reset(state);
  hash_string(state, TEGRACL_VERSION);
  for (size_t i = 0; i < sizeof(tools->paths) / sizeof(tools->paths[0]); i++)
    hash_file(state, tools->paths[i]);
  uint64_t device[] = {job->action, job->device->sm, job->device->local_mem_bytes,
                       job->source_count, job->header_count};
  hash_bytes(state, device, sizeof(device));
  hash_string(state, job->device->extensions);
  hash_string(state, job->device->c_features);
  hash_string(state, options);
  for (size_t i = 0; i < job->source_count; i++) {
    const bool is_text = (job->action == CC_BUILD || job->action == CC_COMPILE) &&
                         !spirv_is(job->sources[i].text, job->sources[i].size);
    if (is_text)
      cachable = cachable && !source_depends_on_world(job->sources[i].text, job->sources[i].size);
    hash_bytes(state, job->sources[i].text, job->sources[i].size);
  }
  for (size_t i = 0; i < job->header_count; i++) {
    const char *text = job->headers[i].text;
    cachable = cachable && !source_depends_on_world(text, strlen(text));
    hash_string(state, job->headers[i].name);
    hash_string(state, text);
  }
  XXH128_hash_t hash = XXH3_128bits_digest(state);
  XXH3_freeState(state);
  key->words[0] = hash.high64;
  key->words[1] = hash.low64;
  return cachable;
}

/* ---- files ------------------------------------------------------------------- */

/* The cache's folder. False if there is none to be had. */
static bool cache_folder(char folder[PATH_BYTES]) {
  const char *own = getenv("TEGRACL_CACHE_DIR");
  const char *xdg = getenv("XDG_CACHE_HOME");
  const char *home = getenv("HOME");
  int length;
  if (own && *own)
    length = snprintf(folder, PATH_BYTES, "%s", own);
  else if (xdg && *xdg == '/')
    length = snprintf(folder, PATH_BYTES, "%s/tegracl", xdg);
  else if (home && *home == '/')
    length = snprintf(folder, PATH_BYTES, "%s/.cache/tegracl", home);
  else
    return false;
  return length > 0 && length < PATH_BYTES;
}

static void make_folders(const char *folder) {
  char path[PATH_BYTES];
  snprintf(path, sizeof(path), "%s", folder);
  for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
    *slash = 0;
    mkdir(path, 0700);
    *slash = '/';
  }
  mkdir(path, 0700);
}

static bool entry_path(const char *folder, const struct cache_key *key, char path[PATH_BYTES]) {
  int length = snprintf(path, PATH_BYTES, "%s/%016llx%016llx" ENTRY_SUFFIX, folder,
                        (unsigned long long)key->words[0], (unsigned long long)key->words[1]);
  return length > 0 && length < PATH_BYTES;
}

static bool read_all(int fd, void *bytes, size_t size) {
  for (unsigned char *at = bytes; size > 0;) {
    ssize_t got = read(fd, at, size);
    if (got <= 0) {
      if (got < 0 && errno == EINTR)
        continue;
      return false;
    }
    at += got;
    size -= (size_t)got;
  }
  return true;
}

static bool write_all(int fd, const void *bytes, size_t size) {
  for (const unsigned char *at = bytes; size > 0;) {
    ssize_t put = write(fd, at, size);
    if (put < 0) {
      if (errno == EINTR)
        continue;
      return false;
    }
    at += put;
    size -= (size_t)put;
  }
  return true;
}

static uint64_t entry_hash(const char *log, size_t log_size, const void *binary,
                           size_t binary_size) {
  return XXH64(binary, binary_size, XXH64(log, log_size, 0));
}

static bool read_entry(int fd, const struct cache_key *key, struct cc_result *result) {
  struct stat status;
  struct entry entry;
  /* An entry that another user wrote may say anything. */
  if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) || status.st_uid != geteuid())
    return false;
  if (!read_all(fd, &entry, sizeof(entry)) || memcmp(entry.magic, magic, sizeof(magic)) != 0 ||
      memcmp(&entry.key, key, sizeof(*key)) != 0)
    return false;
  uint64_t size = (uint64_t)status.st_size - sizeof(entry);
  if (entry.log_size == 0 || entry.log_size > size || entry.binary_size != size - entry.log_size ||
      entry.binary_size == 0)
    return false;
  char *log = malloc(entry.log_size);
  void *binary = malloc(entry.binary_size);
  if (log && binary && read_all(fd, log, entry.log_size) &&
      read_all(fd, binary, entry.binary_size) && log[entry.log_size - 1] == 0 &&
      entry.hash == entry_hash(log, entry.log_size, binary, entry.binary_size)) {
    result->log = log;
    result->binary = binary;
    result->binary_size = entry.binary_size;
    return true;
  }
  free(log);
  free(binary);
  return false;
}

bool cache_get(const struct cache_key *key, struct cc_result *result) {
  char folder[PATH_BYTES], path[PATH_BYTES];
  if (!cache_folder(folder) || !entry_path(folder, key, path))
    return false;
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0)
    return false;
  bool hit = read_entry(fd, key, result);
  if (hit)
    futimens(fd, NULL); /* used now: cache_trim goes by this */
  close(fd);
  return hit;
}

void cache_put(const struct cache_key *key, const struct cc_result *result) {
  char folder[PATH_BYTES], path[PATH_BYTES], temporary[PATH_BYTES];
  if (!cache_folder(folder) || !entry_path(folder, key, path))
    return;
  int length = snprintf(temporary, sizeof(temporary), "%s/XXXXXX" TEMP_SUFFIX, folder);
  if (length < 0 || length >= (int)sizeof(temporary))
    return;
  make_folders(folder);
  int fd = mkostemps(temporary, (int)strlen(TEMP_SUFFIX), O_CLOEXEC);
  if (fd < 0)
    return;
  size_t log_size = strlen(result->log) + 1;
  struct entry entry = {
      .key = *key,
      .log_size = log_size,
      .binary_size = result->binary_size,
      .hash = entry_hash(result->log, log_size, result->binary, result->binary_size),
  };
  memcpy(entry.magic, magic, sizeof(magic));
  bool written = write_all(fd, &entry, sizeof(entry)) && write_all(fd, result->log, log_size) &&
                 write_all(fd, result->binary, result->binary_size);
  written = close(fd) == 0 && written;
  if (!written || rename(temporary, path) != 0)
    unlink(temporary);
  cache_trim(folder, SIZE_LIMIT);
}

/* ---- eviction ---------------------------------------------------------------- */

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

void cache_trim(const char *folder, uint64_t limit) {
  DIR *directory = opendir(folder);
  if (!directory)
    return;
  int fd = dirfd(directory);
  struct entry_list list = {0};
  time_t now = time(NULL);
  for (struct dirent *item; (item = readdir(directory));) {
    struct stat status;
    bool temporary = ends_with(item->d_name, TEMP_SUFFIX);
    if ((!temporary && !ends_with(item->d_name, ENTRY_SUFFIX)) ||
        fstatat(fd, item->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(status.st_mode))
      continue;
    if (!temporary)
      list_add(&list, item->d_name, &status);
    else if (now - status.st_mtim.tv_sec > TEMP_SECONDS)
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
