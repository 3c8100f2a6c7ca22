/* tegraclc --prebuild: fills the driver's cache. */
#ifndef TEGRACL_PREBUILD_H
#define TEGRACL_PREBUILD_H

#include <stddef.h>

#include "base/text.h"

/* Builds each text as a program, through the OpenCL loader and the driver, as applications do:
 * the cache has it for them then. EXIT_SUCCESS if all could be built. */
int prebuild(const char *const *names, const struct text *texts, size_t count, const char *options);

#endif
