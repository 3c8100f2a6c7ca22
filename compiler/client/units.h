/* Builds of programs in units: parts which are compiled apart, several at once, and cached
 * apart (compiler/lower/lower_units.c makes them). */
#ifndef TEGRACL_UNITS_H
#define TEGRACL_UNITS_H

#include "compiler/compiler.h"

/* Builds one unit. Called from several threads at once. */
typedef enum cc_status units_build_fn(void *data, const struct cc_job *unit,
                                      struct cc_result *result);

/* Builds what the plan in result says, as many units at once as limits_width, and puts the
 * program binary and the units' logs in place of the plan. The status of a unit that failed
 * otherwise, and its log. */
enum cc_status units_build(const struct cc_job *job, struct cc_result *result,
                           units_build_fn *build, void *data);

#endif
