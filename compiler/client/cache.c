/* The files of the disk cache of program binaries. An entry is a small header, the
 * key, the build log and the binary. It is written to an unnamed file, which is
 * linked into the folder when it is complete: a writer that dies leaves nothing, and
 * readers see only complete entries. Readers also check a hash.
 */
#include "compiler/client/cache.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/file.h"

enum { PATH_BYTES = 4096 };

/* Default size limit of the whole cache. A typical program binary has tens of kilobytes. */
enum { DEFAULT_SIZE_MIB = 256, MIB_SHIFT = 20 };

/* The cache may exceed its limit by about 1 / SLACK_PARTS. */
enum { SLACK_PARTS = 16 };

struct entry {
  char magic[CACHE_MAGIC_BYTES];
  uint64_t nvrtc[2]; /* that built it */
  uint64_t key_size;
  uint64_t log_size; /* with its NUL */
  uint64_t binary_size;
  uint64_t hash; /* xxHash64 of the log and the binary */
};

/* Returns the limit in bytes, or 0 if the cache is off. */
static uint64_t size_limit(void) {
  const char *wanted = secure_getenv("TEGRACL_CACHE"), *size = secure_getenv("TEGRACL_CACHE_SIZE");
  if (wanted && strcmp(wanted, "0") == 0)
    return 0;
  char *end = NULL;
  const unsigned long long mib = size && *size ? strtoull(size, &end, 10) : 0;
  const bool given = end && !*end && mib <= UINT64_MAX >> MIB_SHIFT;
  return (given ? mib : DEFAULT_SIZE_MIB) << MIB_SHIFT;
}

/* Finds the path of the cache folder. Returns false if the environment does not determine it. */
static bool cache_folder(char folder[PATH_BYTES]) {
  const char *own = secure_getenv("TEGRACL_CACHE_DIR");
  const char *xdg = secure_getenv("XDG_CACHE_HOME");
  const char *home = secure_getenv("HOME");
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

static void make_folders(char *path) {
  for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
    *slash = 0;
    mkdir(path, 0700);
    *slash = '/';
  }
  mkdir(path, 0700);
}

/* Opens the cache folder. Returns -1 if there is none, or if
 * other users can modify its contents. */
static int open_folder(bool make) {
  char folder[PATH_BYTES];
  struct stat status;
  if (!cache_folder(folder))
    return -1;
  if (make)
    make_folders(folder);
  const int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd >= 0 && fstat(fd, &status) == 0 && status.st_uid == geteuid() &&
      !(status.st_mode & (S_IWGRP | S_IWOTH)))
    return fd;
  if (fd >= 0)
    close(fd);
  return -1;
}

enum { NAME_BYTES = 64 };

static void entry_name(const struct cache_key *key, char name[NAME_BYTES]) {
  snprintf(name, NAME_BYTES, "%016llx%016llx" CACHE_ENTRY_SUFFIX, (unsigned long long)key->hash[0],
           (unsigned long long)key->hash[1]);
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
    ssize_t put = base_write(fd, at, size);
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

/* Reads as many bytes as the key has, and returns whether they are equal. */
static bool read_key(int fd, const struct cache_key *key) {
  char chunk[512];
  for (size_t at = 0; at < key->bytes.size;) {
    const size_t rest = key->bytes.size - at;
    const size_t size = rest < sizeof(chunk) ? rest : sizeof(chunk);
    if (!read_all(fd, chunk, size) || memcmp(chunk, key->bytes.data + at, size) != 0)
      return false;
    at += size;
  }
  return true;
}

static bool has_nvrtc(const struct cache_key *key) {
  return key->nvrtc[0] || key->nvrtc[1];
}

static bool read_entry(int fd, const struct cache_key *key, struct cc_result *result) {
  struct stat status;
  struct entry entry;
  /* Entries that another user wrote are not trusted. */
  if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) || status.st_uid != geteuid())
    return false;
  if (!read_all(fd, &entry, sizeof(entry)) ||
      memcmp(entry.magic, CACHE_MAGIC, CACHE_MAGIC_BYTES) != 0 ||
      (has_nvrtc(key) && memcmp(entry.nvrtc, key->nvrtc, sizeof(entry.nvrtc)) != 0) ||
      entry.key_size != key->bytes.size || !read_key(fd, key))
    return false;
  const uint64_t size = (uint64_t)status.st_size - sizeof(entry) - entry.key_size;
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
  char name[NAME_BYTES];
  const int folder = size_limit() ? open_folder(false) : -1;
  if (folder < 0)
    return false;
  entry_name(key, name);
  /* With O_NONBLOCK a pipe of this name does not block. */
  const int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  close(folder);
  if (fd < 0)
    return false;
  bool hit = read_entry(fd, key, result);
  if (hit)
    futimens(fd, NULL); /* cache_trim uses it as the time of last use */
  close(fd);
  return hit;
}

static bool write_entry(int fd, const struct cache_key *key, const struct cc_result *result) {
  const size_t log_size = strlen(result->log) + 1;
  struct entry entry = {
      .nvrtc = {key->nvrtc[0], key->nvrtc[1]},
      .key_size = key->bytes.size,
      .log_size = log_size,
      .binary_size = result->binary_size,
      .hash = entry_hash(result->log, log_size, result->binary, result->binary_size),
  };
  memcpy(entry.magic, CACHE_MAGIC, CACHE_MAGIC_BYTES);
  return write_all(fd, &entry, sizeof(entry)) && write_all(fd, key->bytes.data, key->bytes.size) &&
         write_all(fd, result->log, log_size) && write_all(fd, result->binary, result->binary_size);
}

/* Links an unnamed file as name. Other readers miss if they look between the two calls. */
static void give_name(int fd, int folder, const char *name) {
  char unnamed[32];
  snprintf(unnamed, sizeof(unnamed), "/proc/self/fd/%d", fd);
  unlinkat(folder, name, 0);
  /* Fails if another process linked its file first, or if /proc is not mounted. */
  (void)!linkat(AT_FDCWD, unnamed, folder, name, AT_SYMLINK_FOLLOW);
}

/* Creates a new file with a random name. */
static int make_temporary(int folder, char name[NAME_BYTES]) {
  static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyz";
  enum { ATTEMPTS = 16 };
  for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
    unsigned char letters[CACHE_TEMP_LETTERS];
    if (getrandom(letters, sizeof(letters), 0) != sizeof(letters))
      return -1;
    for (size_t i = 0; i < sizeof(letters); i++)
      letters[i] = (unsigned char)digits[letters[i] % (sizeof(digits) - 1)];
    snprintf(name, NAME_BYTES, CACHE_TEMP_PREFIX "%.*s" CACHE_TEMP_SUFFIX, (int)sizeof(letters),
             letters);
    const int fd = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (fd >= 0 || errno != EEXIST)
      return fd;
  }
  return -1;
}

/* Writes the entry to a temporary file and renames it, for file systems without O_TMPFILE. The lock
 * tells cache_trim that the writer is alive. */
static void put_by_renaming(int folder, const char *name, const struct cache_key *key,
                            const struct cc_result *result) {
  char temporary[NAME_BYTES];
  const int fd = make_temporary(folder, temporary);
  if (fd < 0)
    return;
  const bool locked = flock(fd, LOCK_EX | LOCK_NB) == 0;
  if (!locked || !write_entry(fd, key, result) || renameat(folder, temporary, folder, name) != 0)
    unlinkat(folder, temporary, 0);
  close(fd);
}

void cache_put(const struct cache_key *key, const struct cc_result *result) {
  char name[NAME_BYTES];
  const uint64_t limit = size_limit();
  const uint64_t size =
      sizeof(struct entry) + key->bytes.size + strlen(result->log) + 1 + result->binary_size;
  const int folder = limit && size <= limit ? open_folder(true) : -1;
  if (folder < 0)
    return;
  entry_name(key, name);
  const int fd = openat(folder, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (fd < 0) {
    put_by_renaming(folder, name, key, result);
  } else {
    if (write_entry(fd, key, result))
      give_name(fd, folder, name);
    close(fd);
  }
  /* Trimming reads the whole folder, so only some entries cause it: all large ones,
   * and small ones at random, selected by their hash. */
  if (key->hash[0] % limit < size * SLACK_PARTS)
    cache_trim(folder, limit);
  close(folder);
}
