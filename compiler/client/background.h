/* Background builds, as seen by the functions that perform them. */
#ifndef TEGRACL_BACKGROUND_H
#define TEGRACL_BACKGROUND_H

#include <stdatomic.h>

#include "compiler/client/units.h"

/* The flag that helper_cancel sets. */
atomic_bool *background_cancelled(struct cc_background *background);

/* Takes over the units of the program, and copies the front end's log. */
void background_plan(struct cc_background *background, struct units *units, const char *log);

/* Marks the program as accepted: no unit that is still to be built can be refused. */
void background_accept(struct cc_background *background);

/* As cc_build; background (NULL: none) gets the units. */
enum cc_status client_build(const struct cc_job *job, struct cc_background *background,
                            struct cc_result *result);

#endif
