/* The disk cache of program binaries, with one file for each build. The folder is
 * $TEGRACL_CACHE_DIR, else $XDG_CACHE_HOME/tegracl, else ~/.cache/tegracl. TEGRACL_CACHE=0
 * turns the cache off; TEGRACL_CACHE_SIZE is its limit in MiB. All failures are cache
 * misses; no errors are reported.
 *
 * The name of a file is a hash of the key, which contains everything that the build depends
 * on. An attacker can make two programs with the same hash, so the entry contains the whole
 * key, and readers compare it.
 *
 * A build that includes files has two entries. The first, under the key of its job, is the
 * list of its places (places.h). The second, whose key also contains the files at these
 * places, is the build.
 *
 * A folder that belongs to another user, or that other users may write, is not used. Files
 * in the folder that are not entries are neither read nor removed.
 */
#ifndef TEGRACL_CACHE_H
#define TEGRACL_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "base/text.h"
#include "compiler/compiler.h"

/* Everything that a build depends on: a sequence of parts, each preceded by its length. */
struct cache_key {
  struct text bytes;
  uint64_t nvrtc[2]; /* hash of NVRTC's identity; 0 without NVRTC, which matches every entry */
  uint64_t hash[2];  /* hash of the bytes, for the file name */
};

void cache_key_finish(struct cache_key *key);
bool cache_key_equal(const struct cache_key *a, const struct cache_key *b);

/* The files that make up the compiler: tegraclc, clang, NVRTC, and for SPIR-V its
 * validator and translator. A different path, size or modification time makes a
 * different key. NVRTC is the exception: a job has one entry, whichever NVRTC built it,
 * so that cached programs still run after NVRTC has been removed. */
enum cache_tool {
  CACHE_COMPILER,
  CACHE_CLANG,
  CACHE_NVRTC,
  CACHE_VALIDATOR,
  CACHE_TRANSLATOR,
  CACHE_TOOLS
};
struct cache_tools {
  const char *paths[CACHE_TOOLS]; /* NULL: none */
};

/* What the result of a job depends on. */
enum cache_scope {
  CACHE_NEVER,  /* things that cannot be checked, such as the time of day */
  CACHE_JOB,    /* the job alone */
  CACHE_PLACES, /* the job and the files that it includes */
};

/* Makes the key of the job. Relative file names start at folder, which is NULL if
 * unknown. The caller calls cache_key_finish for any return value. */
enum cache_scope cache_key_make(const struct cc_job *job, const char *folder,
                                const struct cache_tools *tools, struct cache_key *key);

/* Makes the key of a build from the key of its job (CACHE_PLACES) and the
 * present contents of its files. Returns false if the cache has no entry for
 * the job; the key then needs no cache_key_finish. */
bool cache_find_places(const struct cache_key *job, const char *folder, struct cache_key *key);

/* Like cache_find_places, for a build that has just finished; also writes the entry with its
 * places. Returns false if a file may have changed since the build began (a time of
 * CLOCK_REALTIME_COARSE), or contains a word that makes its scope CACHE_NEVER. */
bool cache_keep_places(const struct cache_key *job, const char *folder,
                       const struct cc_result *result, const struct timespec *began,
                       struct cache_key *key);

/* Whether no file of a build's places has changed since the build began. */
bool cache_places_unchanged(const struct cache_key *job, const char *folder,
                            const struct cc_result *result, const struct timespec *began);

/* Looks up the key. Returns true on a hit; the caller then frees the result's log and binary. */
bool cache_get(const struct cache_key *key, struct cc_result *result);

/* Writes an entry. May then remove the least recently used
 * entries to stay within the size limit. */
void cache_put(const struct cache_key *key, const struct cc_result *result);

/* Removes the least recently used entries until the folder (a descriptor) has at
 * most limit bytes, and the files of interrupted writers. */
void cache_trim(int folder, uint64_t limit);

/* The name of an entry is 32 hexadecimal digits and the suffix. Its first bytes are
 * the magic, whose last character differs between versions. The name of an unfinished
 * entry is the prefix, six letters or digits, and its suffix. */
#define CACHE_ENTRY_SUFFIX ".bin"
#define CACHE_TEMP_PREFIX  "tegracl-"
#define CACHE_TEMP_SUFFIX  ".tmp"
#define CACHE_MAGIC        "TEGCLCH3"
enum { CACHE_TEMP_LETTERS = 6, CACHE_MAGIC_BYTES = 8, CACHE_MAGIC_COMMON = 7 };

#endif
