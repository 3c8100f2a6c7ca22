/* Background builds: the interface for the code that runs them. */
#ifndef TEGRACL_BACKGROUND_H
#define TEGRACL_BACKGROUND_H

#include <stdatomic.h>

#include "compiler/client/units.h"

/* Returns the flag that helper_cancel sets. */
atomic_bool *background_cancelled(struct cc_background *background);

/* Takes ownership of the program's units, and copies the log of the front end. */
void background_plan(struct cc_background *background, struct units *units, const char *log);

/* Marks the program as accepted, because the remaining units cannot be refused. */
void background_accept(struct cc_background *background);

/* Like cc_build. If background is not NULL, it receives the program's units. */
enum cc_status client_build(const struct cc_job *job, struct cc_background *background,
                            struct cc_result *result);

#endif
