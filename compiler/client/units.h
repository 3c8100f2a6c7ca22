/* Builds of programs in units: parts of a program that are compiled in parallel and cached
 * separately. compiler/lower/lower_units.c divides programs into units. */
#ifndef TEGRACL_UNITS_H
#define TEGRACL_UNITS_H

#include "compiler/compiler.h"

struct units;

/* Takes ownership of the plan in result and parses it. Returns CC_OK,
 * or the reason why there are no units. */
enum cc_status units_create(struct cc_result *result, struct units **units);
void units_destroy(struct units *units); /* NULL is fine */

/* Builds one unit. Several threads call it at the same time. */
typedef enum cc_status units_build_fn(void *data, const struct cc_job *unit,
                                      struct cc_result *result);

/* Builds the units of the job's program, at most limits_width in parallel, and puts the program
 * binary and the logs of the units into result. If a unit fails, returns its status and puts its
 * log into result. If accept is not NULL, it is called once all units that may be refused are
 * built and others remain. The remaining units are then built even if one of them fails. */
enum cc_status units_build(struct units *units, const struct cc_job *job, struct cc_result *result,
                           units_build_fn *build, void *data, void (*accept)(void *data));

/* Says that a thread waits for all units: none is unattended any more. */
void units_want_all(struct units *units);

/* Wakes the threads in units_wait, because no more units will be built. */
void units_end(struct units *units);

/* Returns the kernels of all units, in the order of the units. */
const struct cc_planned_kernel *units_kernels(const struct units *units, size_t *count);

/* Implements cc_background_unit. */
enum cc_status units_wait(struct units *units, unsigned unit, void **binary, size_t *size);

#endif
