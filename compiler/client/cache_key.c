/* The keys of the disk cache of program binaries. */
#include <ctype.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "compiler/client/cache.h"
#include "compiler/frontend/places.h"
#include "compiler/spirv/spirv.h"

/* Limit for all headers of a program. */
#define MAX_HEADER_BYTES ((size_t)64 << 20)

static void add_bytes(struct text *key, const void *bytes, size_t size) {
  const uint64_t length = size;
  text_add(key, (const char *)&length, sizeof(length));
  text_add(key, bytes, size);
}

static void add_string(struct text *key, const char *text) {
  add_bytes(key, text, text ? strlen(text) : 0);
}

static void add_file(struct text *key, const char *path) {
  add_string(key, path);
  struct stat status;
  if (!path || stat(path, &status) != 0)
    return;
  /* The device number is left out: it may change whenever a container starts. */
  const uint64_t facts[] = {(uint64_t)status.st_size, (uint64_t)status.st_mtim.tv_sec,
                            (uint64_t)status.st_mtim.tv_nsec};
  add_bytes(key, facts, sizeof(facts));
}

/* A hash is enough, because a program cannot choose NVRTC's file. */
static void add_nvrtc(struct cache_key *key, const char *path) {
  struct text facts = {0};
  if (!path)
    return;
  add_file(&facts, path);
  const XXH128_hash_t hash = XXH3_128bits(facts.data, facts.size);
  key->nvrtc[0] = hash.high64;
  key->nvrtc[1] = hash.low64;
  key->bytes.failed |= facts.failed;
  text_finish(&facts);
}

static bool has_word(const char *text, size_t size, const char *const *words) {
  for (; *words; words++)
    if (memmem(text, size, *words, strlen(*words)))
      return true;
  return false;
}

/* Whether the text may hide a word by a line splice or a trigraph in the middle of it. */
static bool has_hidden_words(const char *text, size_t size) {
  const char *end = text + size;
  if (memmem(text, size, "\?\?/", 3))
    return true;
  for (const char *at = text; (at = memchr(at, '\\', (size_t)(end - at))); at++) {
    const char *next = at + 1;
    while (next < end && (*next == ' ' || *next == '\t' || *next == '\r'))
      next++;
    const bool in_word = at > text && (isalnum((unsigned char)at[-1]) || at[-1] == '_');
    if (!in_word || end - next < 2 || *next != '\n')
      continue;
    if (isalnum((unsigned char)next[1]) || next[1] == '_' || next[1] == '\\')
      return true;
  }
  return false;
}

/* Determines what a source or header may depend on besides its own text. A false match only costs
 * time. __has_include is refused because clang does not list the files that it did not find. */
static enum cache_scope scope_of(const char *text, size_t size) {
  static const char *const never[] = {"__DATE__", "__TIME__", "__TIMESTAMP__", "has_include", NULL};
  static const char *const places[] = {"include", "import", "embed", NULL};
  if (has_word(text, size, never) || has_hidden_words(text, size))
    return CACHE_NEVER;
  return has_word(text, size, places) ? CACHE_PLACES : CACHE_JOB;
}

static void widen(enum cache_scope *scope, enum cache_scope other) {
  if (other == CACHE_NEVER || (other == CACHE_PLACES && *scope == CACHE_JOB))
    *scope = other;
}

/* Hashes the key. Returns false if the key is incomplete for lack of memory. */
static bool finish_hash(struct cache_key *key) {
  if (key->bytes.failed)
    return false;
  const XXH128_hash_t hash = XXH3_128bits(key->bytes.data, key->bytes.size);
  key->hash[0] = hash.high64;
  key->hash[1] = hash.low64;
  return true;
}

void cache_key_finish(struct cache_key *key) {
  text_finish(&key->bytes);
}

bool cache_key_equal(const struct cache_key *a, const struct cache_key *b) {
  return memcmp(a->nvrtc, b->nvrtc, sizeof(a->nvrtc)) == 0 && a->bytes.size == b->bytes.size &&
         memcmp(a->bytes.data, b->bytes.data, a->bytes.size) == 0;
}

enum cache_scope cache_key_make(const struct cc_job *job, const char *folder,
                                const struct cache_tools *tools, struct cache_key *key) {
  const char *options = job->options ? job->options : "";
  enum cache_scope scope = CACHE_JOB;
  struct text *bytes = &key->bytes;
  *key = (struct cache_key){0};
  add_string(bytes, TEGRACL_VERSION);
  for (size_t i = 0; i < CACHE_TOOLS; i++)
    if (i != CACHE_NVRTC)
      add_file(bytes, tools->paths[i]);
  add_nvrtc(key, tools->paths[CACHE_NVRTC]);
  const uint64_t device[] = {
      job->action,           job->device->sm,   job->device->version, job->device->local_mem_bytes,
      job->device->textures, job->source_count, job->header_count};
  add_bytes(bytes, device, sizeof(device));
  add_string(bytes, job->device->extensions);
  add_string(bytes, job->device->c_features);
  add_string(bytes, options);
  /* Options can define macros too. */
  if (scope_of(options, strlen(options)) == CACHE_NEVER)
    scope = CACHE_NEVER;
  for (size_t i = 0; i < job->source_count; i++) {
    const struct cc_source *source = &job->sources[i];
    if (!cc_links(job->action) && !spirv_is(source->text, source->size))
      widen(&scope, scope_of(source->text, source->size));
    add_bytes(bytes, source->text, source->size);
  }
  for (size_t i = 0; i < job->header_count; i++) {
    const char *text = job->headers[i].text;
    widen(&scope, scope_of(text, strlen(text)));
    add_string(bytes, job->headers[i].name);
    add_string(bytes, text);
  }
  if (scope == CACHE_PLACES) {
    if (!folder)
      return CACHE_NEVER;
    add_string(bytes, folder);
  }
  add_bytes(bytes, &scope, sizeof(scope));
  return finish_hash(key) ? scope : CACHE_NEVER;
}

/* ---- places ---------------------------------------------------------------------- */

static bool is_before(const struct timespec *a, const struct timespec *b) {
  return a->tv_sec != b->tv_sec ? a->tv_sec < b->tv_sec : a->tv_nsec < b->tv_nsec;
}

/* Reads a regular file into malloc'ed memory and its times into status. Returns NULL if
 * there is no such file, or, with *failed set, if it cannot be read. */
static char *read_place(const char *folder, const char *name, struct stat *status, bool *failed) {
  char path[PATH_MAX];
  const int length = snprintf(path, sizeof(path), "%s%s%s", *name == '/' ? "" : folder,
                              *name == '/' ? "" : "/", name);
  if (length < 0 || length >= (int)sizeof(path)) {
    *failed = true;
    return NULL;
  }
  /* With O_NONBLOCK a pipe of this name does not block. */
  const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  char *bytes = NULL;
  if (fd >= 0 && fstat(fd, status) == 0 && S_ISREG(status->st_mode)) {
    const size_t size = (size_t)status->st_size;
    bytes = size > MAX_HEADER_BYTES ? NULL : malloc(size + 1);
    if (!bytes || read(fd, bytes, size) != (ssize_t)size) {
      free(bytes);
      bytes = NULL;
      *failed = true;
    }
  }
  if (fd >= 0)
    close(fd);
  return bytes;
}

/* Adds the contents of a place to the key. began is NULL, or the start of a
 * build that must have read the same contents. Returns false if the file
 * cannot be read or may have changed since then. */
static bool add_place(struct text *key, const char *folder, const char *place,
                      const struct timespec *began) {
  struct stat status;
  bool failed = false;
  char *bytes = read_place(folder, place + 1, &status, &failed);
  add_string(key, place);
  add_bytes(key, &(bool){bytes != NULL}, sizeof(bool));
  if (bytes && key->size > MAX_HEADER_BYTES) {
    failed = true;
  } else if (bytes) {
    add_bytes(key, bytes, (size_t)status.st_size);
    if (began && (!is_before(&status.st_mtim, began) || !is_before(&status.st_ctim, began) ||
                  scope_of(bytes, (size_t)status.st_size) == CACHE_NEVER))
      failed = true;
  } else if (began && *place == PLACE_READ) {
    failed = true;
  }
  free(bytes);
  return !failed;
}

static bool add_places(const struct cache_key *job, const char *folder, const char *places,
                       size_t size, const struct timespec *began, struct cache_key *key) {
  bool good = size && places[size - 1] == 0;
  *key = (struct cache_key){.nvrtc = {job->nvrtc[0], job->nvrtc[1]}};
  add_bytes(&key->bytes, job->bytes.data, job->bytes.size);
  for (const char *at = places; good && at < places + size; at += strlen(at) + 1)
    good = *at && add_place(&key->bytes, folder, at, began);
  good = good && finish_hash(key);
  if (!good)
    cache_key_finish(key);
  return good;
}

bool cache_find_places(const struct cache_key *job, const char *folder, struct cache_key *key) {
  struct cc_result list = {0};
  const bool found =
      cache_get(job, &list) && add_places(job, folder, list.binary, list.binary_size, NULL, key);
  cc_result_finish(&list);
  return found;
}

bool cache_keep_places(const struct cache_key *job, const char *folder,
                       const struct cc_result *result, const struct timespec *began,
                       struct cache_key *key) {
  char no_log[] = "";
  const struct cc_result list = {
      .log = no_log, .binary = result->places, .binary_size = result->places_size};
  if (!add_places(job, folder, result->places, result->places_size, began, key))
    return false;
  cache_put(job, &list);
  return true;
}

bool cache_places_unchanged(const struct cache_key *job, const char *folder,
                            const struct cc_result *result, const struct timespec *began) {
  struct cache_key key;
  const bool unchanged = add_places(job, folder, result->places, result->places_size, began, &key);
  if (unchanged)
    cache_key_finish(&key);
  return unchanged;
}
