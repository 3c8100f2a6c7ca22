/* Builds of programs in units: parts that are compiled and cached separately, several at once.
 * compiler/lower/lower_units.c makes them. */
#ifndef TEGRACL_UNITS_H
#define TEGRACL_UNITS_H

#include "compiler/compiler.h"

struct units;

/* Parses the plan in result and takes ownership of it. CC_OK, or why there are no units. */
enum cc_status units_create(struct cc_result *result, struct units **units);
void units_destroy(struct units *units); /* NULL is fine */

/* Builds one unit. Called from several threads at once. */
typedef enum cc_status units_build_fn(void *data, const struct cc_job *unit,
                                      struct cc_result *result);

/* Builds the units of the job's program, at most limits_width at once, and puts the program
 * binary and the units' logs into result. If a unit fails, returns its status and puts its log
 * into result. accept (NULL: none) is called once all units that may be refused are built, if
 * others are left: these are built even if one of them fails. */
enum cc_status units_build(struct units *units, const struct cc_job *job, struct cc_result *result,
                           units_build_fn *build, void *data, void (*accept)(void *data));

/* Wakes the threads in units_wait: no more units will be built. */
void units_end(struct units *units);

/* Their kernels, in the order of the units. */
const struct cc_planned_kernel *units_kernels(const struct units *units, size_t *count);

/* As cc_background_unit. */
enum cc_status units_wait(struct units *units, unsigned unit, void **binary, size_t *size);

#endif
