/* Merges builds of the same job in several threads: one thread
 * builds, the others wait for the outcome. */
#ifndef TEGRACL_FLIGHT_H
#define TEGRACL_FLIGHT_H

#include "compiler/client/cache.h"

struct flight;

/* Returns a flight if the caller must build: it keeps the key valid and ends with
 * flight_land. Otherwise returns NULL, with the outcome of another thread's build in
 * status and result, or with CC_OUT_OF_MEMORY in status. */
struct flight *flight_take_off(const struct cache_key *key, enum cc_status *status,
                               struct cc_result *result);

/* Copies the outcome to the waiting threads and frees the flight. */
void flight_land(struct flight *flight, enum cc_status status, const struct cc_result *result);

#endif
