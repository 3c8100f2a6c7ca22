/* The free list of events. Because of it, enqueueing a command usually allocates no memory. */
#ifndef TEGRACL_EVENT_POOL_H
#define TEGRACL_EVENT_POOL_H

#include "icd/objects.h"

/* Returns a zeroed event, from the context's free list if it is not empty. Returns NULL if out of
 * memory. */
cl_event icd_event_pool_get(cl_context context);
/* Puts an event back into the free list. */
void icd_event_pool_put(cl_context context, cl_event event);

/* Frees all events of the context. All of them must be in the free list. */
void icd_event_pool_finish(cl_context context);

#endif
