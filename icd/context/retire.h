/* Deferred freeing. Work on the GPU may still use an object after its last reference was released.
 * The object is retired then, and reclaimed when that work has completed.
 */
#ifndef TEGRACL_RETIRE_H
#define TEGRACL_RETIRE_H

#include "icd/objects.h"

/* Calls destroy(owner) when all work that has been submitted to the queues of the context has
 * completed, or at once if there is none. Does not block and cannot fail. node is part of owner,
 * which must hold the context. */
void icd_retire(cl_context context, struct icd_retired *node, void (*destroy)(void *), void *owner);

/* Removes a queue whose work has completed from the context's list. Objects that waited for it
 * then wait for later queues in the list or become idle. */
void icd_context_remove_queue(cl_command_queue queue);

/* Destroys the retired objects that the GPU no longer uses. If wait, waits for all retired
 * objects except for those that another thread is destroying. */
void icd_reclaim_retired(cl_context context, bool wait);
static inline void icd_reclaim(cl_context context, bool wait) {
  if (atomic_load_explicit(&context->any_retired, memory_order_relaxed))
    icd_reclaim_retired(context, wait);
}

/* Called after a failure of the runtime. If error is -ENOMEM, reclaims all released objects and
 * returns true, so that the caller tries again. The caller holds no lock. */
bool icd_context_make_room(cl_context context, int error);

/* Count the retired objects that other threads are destroying, for which icd_context_make_room
 * waits. */
void icd_reclaim_began(cl_context context);
void icd_reclaim_ended(cl_context context);

/* Destroys all retired objects in a separate thread, if there are any. For objects with
 * destructor callbacks, because the application may wait for one without calling OpenCL again. */
void icd_reclaim_in_background(cl_context context);

#endif
