/* Builds of the same job by several threads at once: one builds, and the others wait for the
 * outcome. */
#ifndef TEGRACL_FLIGHT_H
#define TEGRACL_FLIGHT_H

#include "compiler/client/cache.h"

struct flight;

/* Not NULL: the caller builds. It must then call flight_land, and keep the key until then.
 * NULL: another thread has built it, whose outcome is in status and result; or there is no memory,
 * as status says. */
struct flight *flight_take_off(const struct cache_key *key, enum cc_status *status,
                               struct cc_result *result);

/* Gives copies of the outcome to the threads that wait, and frees the flight. */
void flight_land(struct flight *flight, enum cc_status status, const struct cc_result *result);

#endif
