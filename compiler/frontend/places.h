/* The places of a compilation's headers: the files that it read, and the files that it would
 * have read instead if they had existed. The cache watches all of them. */
#ifndef TEGRACL_PLACES_H
#define TEGRACL_PLACES_H

#include "compiler/frontend/options.h"

/* First character of a place. */
enum { PLACE_READ = '+', PLACE_LOOKED_FOR = '-' };

/* Appends the places to the text. Each begins with its mark and ends with a NUL; relative names are
 * as clang wrote them. dependencies is what clang wrote for -dependency-file with -MV.
 * header_folder is the folder of the job's own headers, which are left out, or NULL. Returns
 * false if there are too many places to watch, or if out of memory. */
bool places_add(const char *dependencies, const struct options *options, const char *header_folder,
                struct text *places);

#endif
