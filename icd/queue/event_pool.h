/* The free list of events; and the watchers (watcher.c) after a fork. */
#ifndef TEGRACL_EVENT_POOL_H
#define TEGRACL_EVENT_POOL_H

#include "icd/objects.h"

/* A cleared event from the context's free list, so that an enqueue allocates
 * nothing in the steady state; NULL if there is no memory. And back to it. */
cl_event icd_event_pool_get(cl_context context);
void icd_event_pool_put(cl_context context, cl_event event);

/* Empties the list of a context whose events are all back. */
void icd_event_pool_finish(cl_context context);

#endif
