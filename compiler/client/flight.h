/* Merges builds of the same job in several threads: the first thread builds. The others wait for
 * the outcome, or for a plan, whose units they then build together. */
#ifndef TEGRACL_FLIGHT_H
#define TEGRACL_FLIGHT_H

#include <stdatomic.h>

#include "compiler/client/cache.h"

struct flight;

/* Returns the flight of the key's build, or NULL if out of memory. The first thread that joins must
 * build: it keeps the key valid and ends with flight_land. The others follow it, and end with
 * flight_leave. */
struct flight *flight_join(const struct cache_key *key, bool *first);

/* Returns the time before the build, of CLOCK_REALTIME_COARSE. */
const struct timespec *flight_began(const struct flight *flight);

/* Called by the first thread: pass copies of a plan, and of the outcome, to the followers. */
void flight_plan(struct flight *flight, const struct cc_result *plan);
void flight_land(struct flight *flight, enum cc_status status, const struct cc_result *result);

/* Waits for a plan or the outcome, or until the follower is cancelled. Returns whether there is a
 * plan, of which the caller then owns a copy. Its units can be built while the first thread builds
 * them too: each is compiled once. */
bool flight_wait_for_plan(struct flight *flight, const atomic_bool *cancelled,
                          struct cc_result *plan);

/* Waits until the first thread has finished the build. Returns its status, CC_OUT_OF_MEMORY if
 * the result cannot be copied, or CC_CANCELLED if *cancelled was set before. cancelled may be
 * NULL. */
enum cc_status flight_wait(struct flight *flight, const atomic_bool *cancelled,
                           struct cc_result *result);

/* Wakes the followers whose flags have been set. */
void flight_wake_cancelled(void);

/* Whether the first thread has built the program. */
bool flight_has_built(struct flight *flight);

void flight_leave(struct flight *flight);

#endif
