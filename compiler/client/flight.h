/* Builds of the same job by several threads at once: one builds, the others wait for
 * what it gets. */
#ifndef TEGRACL_FLIGHT_H
#define TEGRACL_FLIGHT_H

#include "compiler/client/cache.h"

struct flight;

/* The caller is the one that builds: it must call flight_land, and keep the key until then.
 * NULL if another thread was
 * building: its outcome is in status and result then. */
struct flight *flight_take_off(const struct cache_key *key, enum cc_status *status,
                               struct cc_result *result);

/* Gives the outcome to those who wait. */
void flight_land(struct flight *flight, enum cc_status status, const struct cc_result *result);

#endif
