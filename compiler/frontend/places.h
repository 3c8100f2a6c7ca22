/* The places of a compilation's headers: the files that it read, and those which it
 * would have read instead had they been there. The cache watches all of them. */
#ifndef TEGRACL_PLACES_H
#define TEGRACL_PLACES_H

#include "compiler/frontend/options.h"

/* In front of a place's name. */
enum { PLACE_READ = '+', PLACE_LOOKED_FOR = '-' };

/* Adds the places to places, each with its mark before it and a NUL after it, relative ones
 * as clang has them. dependencies: what clang wrote for -dependency-file with -MV. header_folder:
 * that of the job's own headers, which are left out; NULL: there is none. False if there are too
 * many to watch, or out of memory. */
bool places_add(const char *dependencies, const struct options *options, const char *header_folder,
                struct text *places);

#endif
