/* The disk cache of program binaries: one file for each build, named by the
 * hash of everything that went into it, in $TEGRACL_CACHE_DIR, else
 * $XDG_CACHE_HOME/tegracl, else ~/.cache/tegracl. TEGRACL_CACHE=0 turns it off.
 * Failures are misses; nothing here reports an error.
 */
#ifndef TEGRACL_CACHE_H
#define TEGRACL_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

/* Hashes the job. False if it must not be cached: it may include files from the
 * disk (or depends on the time of day), so that its key would not tell all. */
bool cache_key_make(const struct cc_job *job, const struct cache_tools *tools,
                    struct cache_key *key);

/* True and log and binary filled in (to be freed by the caller) on a hit. */
bool cache_get(const struct cache_key *key, struct cc_result *result);

/* Keeps a result; removes the longest unused entries beyond the size limit. */
void cache_put(const struct cache_key *key, const struct cc_result *result);

/* Removes the longest unused entries of folder until limit bytes are left, and
 * what interrupted writers left behind. */
void cache_trim(const char *folder, uint64_t limit);

#endif
