/* The disk cache of program binaries: its keys. */
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

#include "compiler/cache.h"
#include "compiler/places.h"
#include "compiler/spirv.h"

/* A larger header is not kept in mind. */
#define MAX_HEADER_BYTES ((size_t)64 << 20)

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
  /* Not the device's number: each start of a container may give it another. */
  const uint64_t facts[] = {(uint64_t)status.st_size, (uint64_t)status.st_mtim.tv_sec,
                            (uint64_t)status.st_mtim.tv_nsec};
  hash_bytes(state, facts, sizeof(facts));
}

static bool has_word(const char *text, size_t size, const char *const *words) {
  for (; *words; words++)
    if (memmem(text, size, *words, strlen(*words)))
      return true;
  return false;
}

/* Line splices and trigraphs within a word can hide it. */
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

/* What a source or a header may depend on beside its own text. False alarms cost time
 * only. What __has_include did not find is in no list of clang's. */
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

static struct cache_key take_key(XXH3_state_t *state) {
  const XXH128_hash_t hash = XXH3_128bits_digest(state);
  return (struct cache_key){{hash.high64, hash.low64}};
}

enum cache_scope cache_key_make(const struct cc_job *job, const char *folder,
                                const struct cache_tools *tools, struct cache_key *key) {
  const char *options = job->options ? job->options : "";
  enum cache_scope scope = CACHE_JOB;
  XXH3_state_t state;
  XXH3_INITSTATE(&state);
  XXH3_128bits_reset(&state);
  hash_string(&state, TEGRACL_VERSION);
  for (size_t i = 0; i < sizeof(tools->paths) / sizeof(tools->paths[0]); i++)
    hash_file(&state, tools->paths[i]);
  const uint64_t device[] = {job->action, job->device->sm, job->device->local_mem_bytes,
                             job->source_count, job->header_count};
  hash_bytes(&state, device, sizeof(device));
  hash_string(&state, job->device->extensions);
  hash_string(&state, job->device->c_features);
  hash_string(&state, options);
  /* Macros can be given there. */
  if (scope_of(options, strlen(options)) == CACHE_NEVER)
    scope = CACHE_NEVER;
  for (size_t i = 0; i < job->source_count; i++) {
    const struct cc_source *source = &job->sources[i];
    if (!cc_links(job->action) && !spirv_is(source->text, source->size))
      widen(&scope, scope_of(source->text, source->size));
    hash_bytes(&state, source->text, source->size);
  }
  for (size_t i = 0; i < job->header_count; i++) {
    const char *text = job->headers[i].text;
    widen(&scope, scope_of(text, strlen(text)));
    hash_string(&state, job->headers[i].name);
    hash_string(&state, text);
  }
  if (scope == CACHE_PLACES) {
    if (!folder)
      return CACHE_NEVER;
    hash_string(&state, folder);
  }
  hash_bytes(&state, &scope, sizeof(scope));
  *key = take_key(&state);
  return scope;
}

/* ---- places ---------------------------------------------------------------------- */

static bool is_before(const struct timespec *a, const struct timespec *b) {
  return a->tv_sec != b->tv_sec ? a->tv_sec < b->tv_sec : a->tv_nsec < b->tv_nsec;
}

/* The bytes of a regular file, to be freed. NULL if there is none; *failed if it cannot be
 * read. Its times in status. */
static char *read_place(const char *folder, const char *name, struct stat *status, bool *failed) {
  char path[PATH_MAX];
  const int length = snprintf(path, sizeof(path), "%s%s%s", *name == '/' ? "" : folder,
                              *name == '/' ? "" : "/", name);
  if (length < 0 || length >= (int)sizeof(path)) {
    *failed = true;
    return NULL;
  }
  /* Not to wait for a pipe that lies there. */
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

/* Adds what is at a place. began: NULL, or when a build began that must have seen it as it
 * is. False if it cannot be read, or the build may have seen another. */
static bool hash_place(XXH3_state_t *state, const char *folder, const char *place,
                       const struct timespec *began) {
  struct stat status;
  bool failed = false;
  char *bytes = read_place(folder, place + 1, &status, &failed);
  hash_string(state, place);
  hash_bytes(state, &(bool){bytes != NULL}, sizeof(bool));
  if (bytes) {
    hash_bytes(state, bytes, (size_t)status.st_size);
    if (began && (!is_before(&status.st_mtim, began) || !is_before(&status.st_ctim, began) ||
                  scope_of(bytes, (size_t)status.st_size) == CACHE_NEVER))
      failed = true;
  } else if (began && *place == PLACE_READ) {
    failed = true;
  }
  free(bytes);
  return !failed;
}

static bool hash_places(const struct cache_key *job, const char *folder, const char *places,
                        size_t size, const struct timespec *began, struct cache_key *key) {
  XXH3_state_t state;
  if (!size || places[size - 1] != 0)
    return false;
  XXH3_INITSTATE(&state);
  XXH3_128bits_reset(&state);
  hash_bytes(&state, job, sizeof(*job));
  for (const char *at = places; at < places + size; at += strlen(at) + 1)
    if (!*at || !hash_place(&state, folder, at, began))
      return false;
  *key = take_key(&state);
  return true;
}

bool cache_find_places(const struct cache_key *job, const char *folder, struct cache_key *key) {
  struct cc_result list = {0};
  const bool found =
      cache_get(job, &list) && hash_places(job, folder, list.binary, list.binary_size, NULL, key);
  cc_result_finish(&list);
  return found;
}

bool cache_keep_places(const struct cache_key *job, const char *folder,
                       const struct cc_result *result, const struct timespec *began,
                       struct cache_key *key) {
  char no_log[] = "";
  const struct cc_result list = {
      .log = no_log, .binary = result->places, .binary_size = result->places_size};
  if (!hash_places(job, folder, result->places, result->places_size, began, key))
    return false;
  cache_put(job, &list);
  return true;
}
