/* The disk cache of program binaries: one file for each build, in $TEGRACL_CACHE_DIR,
 * else $XDG_CACHE_HOME/tegracl, else ~/.cache/tegracl. TEGRACL_CACHE=0 turns it off,
 * TEGRACL_CACHE_SIZE is its limit in MiB. Failures are misses; nothing here reports an
 * error.
 *
 * A file is named after a hash of the key, which is everything that the build depends on. An
 * attacker can make two programs with the same hash, so the entry contains the whole key, which is
 * compared.
 *
 * A build that includes files has two entries: under the key of its job the list of its
 * places (places.h), and the build itself under that key with what is at the places.
 *
 * A folder that belongs to another user, or that others may write, is not used. Files in it
 * that are not entries are neither read nor removed.
 */
#ifndef TEGRACL_CACHE_H
#define TEGRACL_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "base/text.h"
#include "compiler/compiler.h"

/* All that a build depends on, one part after another, each after its length. */
struct cache_key {
  struct text bytes;
  uint64_t nvrtc[2]; /* a hash that identifies NVRTC; 0: none is installed, entries of any match */
  uint64_t hash[2];  /* of the bytes, for the name of the file */
};

void cache_key_finish(struct cache_key *key);
bool cache_key_equal(const struct cache_key *a, const struct cache_key *b);

/* The files that make up the compiler: tegraclc, clang, NVRTC, and for SPIR-V its
 * validator and translator. Another path, size or time of change makes another key. There is
 * one entry for a job whatever NVRTC built it, so programs in the cache run after NVRTC has
 * been removed. */
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
  CACHE_NEVER,  /* more than can be checked, such as the time of day */
  CACHE_JOB,    /* the job alone */
  CACHE_PLACES, /* files that it includes, too */
};

/* Makes the key of the job, whose relative file names start at the folder (NULL: unknown). The
 * caller finishes the key whatever the scope. */
enum cache_scope cache_key_make(const struct cc_job *job, const char *folder,
                                const struct cache_tools *tools, struct cache_key *key);

/* Makes the key of the build from that of its job (CACHE_PLACES), with the files as they
 * are now. False if no such job is known; the key need not be finished then. */
bool cache_find_places(const struct cache_key *job, const char *folder, struct cache_key *key);

/* The same for a build that was just made; writes the entry of its places. False if a file may
 * have changed since the build began (CLOCK_REALTIME_COARSE), or contains a word of CACHE_NEVER. */
bool cache_keep_places(const struct cache_key *job, const char *folder,
                       const struct cc_result *result, const struct timespec *began,
                       struct cache_key *key);

/* On a hit true, with log and binary in result, to be freed by the caller. */
bool cache_get(const struct cache_key *key, struct cc_result *result);

/* Writes an entry; may then remove the longest unused ones beyond the size limit. */
void cache_put(const struct cache_key *key, const struct cc_result *result);

/* Removes the longest unused entries of the folder (a descriptor) until limit bytes are
 * left, and the files that interrupted writers left. */
void cache_trim(int folder, uint64_t limit);

/* Names of entries are 32 hexadecimal digits and the suffix; they begin with the magic, and
 * with another last character in other versions. Names of unfinished ones are the prefix, six
 * letters or digits, and the suffix. */
#define CACHE_ENTRY_SUFFIX ".bin"
#define CACHE_TEMP_PREFIX  "tegracl-"
#define CACHE_TEMP_SUFFIX  ".tmp"
#define CACHE_MAGIC        "TEGCLCH3"
enum { CACHE_TEMP_LETTERS = 6, CACHE_MAGIC_BYTES = 8, CACHE_MAGIC_COMMON = 7 };

#endif
