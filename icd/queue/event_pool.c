/* The free list of events. See event_pool.h. */
#include <string.h>

#include "icd/queue/event_pool.h"

cl_event icd_event_pool_get(cl_context context) {
  base_mutex_lock(&context->lock);
  cl_event event = context->free_events;
  if (event)
    context->free_events = event->next_free;
  base_mutex_unlock(&context->lock);
  if (!event)
    return icd_object_new(ICD_MAGIC_EVENT, sizeof(*event));
  memset((char *)event + sizeof(event->object), 0, sizeof(*event) - sizeof(event->object));
  return event;
}

void icd_event_pool_put(cl_context context, cl_event event) {
  base_mutex_lock(&context->lock);
  event->next_free = context->free_events;
  context->free_events = event;
  base_mutex_unlock(&context->lock);
}

void icd_event_pool_finish(cl_context context) {
  cl_event event = context->free_events;
  while (event) {
    cl_event next = event->next_free;
    icd_object_free(ICD_MAGIC_EVENT, event);
    event = next;
  }
}
