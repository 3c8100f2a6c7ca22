/* The disk cache of program binaries: one file for each build, named by the
 * hash of everything that went into it, in $TEGRACL_CACHE_DIR, else
 * $XDG_CACHE_HOME/tegracl, else ~/.cache/tegracl. TEGRACL_CACHE=0 turns it off,
 * TEGRACL_CACHE_SIZE is its limit in MiB. Failures are misses; nothing here reports an
 * error.
 *
 * A build that includes files has two entries: under the key of its job the list of its
 * places (places.h), and the build itself under the hash of that key and of what is at
 * the places.
 */
#ifndef TEGRACL_CACHE_H
#define TEGRACL_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "compiler/compiler.h"

struct cache_key {
  uint64_t words[2];
};

/* The files that make up the compiler: tegraclc, clang, NVRTC, and for SPIR-V its
 * validator and translator. Another path, size or time of change makes another key. */
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
  CACHE_NEVER,  /* more than can be watched: the time of day, say */
  CACHE_JOB,    /* the job alone */
  CACHE_PLACES, /* files that it includes, too */
};

/* Hashes the job, built in the folder (NULL: unknown). */
enum cache_scope cache_key_make(const struct cc_job *job, const char *folder,
                                const struct cache_tools *tools, struct cache_key *key);

/* Makes the key of the build from that of its job (CACHE_PLACES), with the files as they
 * are now. False if no such job is known. */
bool cache_find_places(const struct cache_key *job, const char *folder, struct cache_key *key);

/* The same for a build that was just made: its places are kept. False if a file may have
 * changed since the build began (CLOCK_REALTIME_COARSE), or says that it depends on more. */
bool cache_keep_places(const struct cache_key *job, const char *folder,
                       const struct cc_result *result, const struct timespec *began,
                       struct cache_key *key);

/* True and log and binary filled in (to be freed by the caller) on a hit. */
bool cache_get(const struct cache_key *key, struct cc_result *result);

/* Keeps a result; removes the longest unused entries beyond the size limit. */
void cache_put(const struct cache_key *key, const struct cc_result *result);

/* Removes the longest unused entries of folder until limit bytes are left, and
 * what interrupted writers left behind. */
void cache_trim(const char *folder, uint64_t limit);

/* Names of files in the cache's folder end so. */
#define CACHE_ENTRY_SUFFIX ".bin"
#define CACHE_TEMP_SUFFIX  ".tmp"

#endif
