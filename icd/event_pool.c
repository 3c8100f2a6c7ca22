/* The free list of events: chunks that are never given back before the context
 * goes, so that a stale event handle is an error and not a crash.
 */
#include <stdlib.h>
#include <string.h>

#include "icd/event_pool.h"

enum { CHUNK_EVENTS = 64 };

struct icd_event_chunk {
  struct icd_event_chunk *next;
  struct _cl_event events[CHUNK_EVENTS];
};

/* The context's lock is held. */
static bool add_chunk(cl_context context) {
  struct icd_event_chunk *chunk = calloc(1, sizeof *chunk);
  if (!chunk)
    return false;
  chunk->next = context->event_chunks;
  context->event_chunks = chunk;
  for (int i = 0; i < CHUNK_EVENTS; i++) {
    chunk->events[i].next_free = context->free_events;
    context->free_events = &chunk->events[i];
  }
  return true;
}

cl_event icd_event_pool_get(cl_context context) {
  cl_event event = NULL;
  pthread_mutex_lock(&context->lock);
  if (context->free_events || add_chunk(context)) {
    event = context->free_events;
    context->free_events = event->next_free;
  }
  pthread_mutex_unlock(&context->lock);
  if (event)
    memset(event, 0, sizeof *event);
  return event;
}

void icd_event_pool_put(cl_context context, cl_event event) {
  pthread_mutex_lock(&context->lock);
  event->next_free = context->free_events;
  context->free_events = event;
  pthread_mutex_unlock(&context->lock);
}

void icd_event_pool_finish(cl_context context) {
  struct icd_event_chunk *chunk = context->event_chunks;
  while (chunk) {
    struct icd_event_chunk *next = chunk->next;
    free(chunk);
    chunk = next;
  }
}
