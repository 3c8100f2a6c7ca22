/* Implements tegraclc --prebuild, which fills the driver's cache. */
#ifndef TEGRACL_PREBUILD_H
#define TEGRACL_PREBUILD_H

#include <stddef.h>

#include "base/text.h"

/* Builds each text as a program through the OpenCL loader and the driver, like an application,
 * which stores it in the cache. Returns EXIT_SUCCESS if all builds succeed. */
int prebuild(const char *const *names, const struct text *texts, size_t count, const char *options);

#endif
