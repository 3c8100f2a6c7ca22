/* The free list of events, so that an enqueue allocates nothing in the steady state. */
#ifndef TEGRACL_EVENT_POOL_H
#define TEGRACL_EVENT_POOL_H

#include "icd/objects.h"

/* A cleared event, from the context's free list if it has one; NULL if there is no memory. And back
 * to the list. */
cl_event icd_event_pool_get(cl_context context);
void icd_event_pool_put(cl_context context, cl_event event);

/* Empties the list. All events of the context are in it. */
void icd_event_pool_finish(cl_context context);

#endif
