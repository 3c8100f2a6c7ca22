/* A build in the background, as the functions see it that do the build. */
#ifndef TEGRACL_BACKGROUND_H
#define TEGRACL_BACKGROUND_H

#include <stdatomic.h>

#include "compiler/client/units.h"

/* By helper_cancel. */
atomic_bool *background_cancelled(struct cc_background *background);

/* The units of the program, which are the background's from now on, and the front end's log. */
void background_plan(struct cc_background *background, struct units *units, const char *log);

/* What is left of it cannot be refused. */
void background_accept(struct cc_background *background);

/* cc_build, which tells the background of the units. NULL: there is none. */
enum cc_status client_build(const struct cc_job *job, struct cc_background *background,
                            struct cc_result *result);

#endif
