/* Deferred freeing. An object that nothing refers to any more may still be in use by work on the
 * GPU: it is retired, and reclaimed when that work has completed.
 */
#ifndef TEGRACL_RETIRE_H
#define TEGRACL_RETIRE_H

#include "icd/objects.h"

/* Calls destroy(owner) once all work has completed that was submitted to any queue of the context
 * until now; at once if there is none. Neither blocks nor fails. The node is part of owner. The
 * context must stay alive until destroy is called: owner holds it. */
void icd_retire(cl_context context, struct icd_retired *node, void (*destroy)(void *), void *owner);

/* Removes a queue whose work has completed from the context's list. Objects that waited for it
 * then wait for later queues of the list, or are idle. */
void icd_context_remove_queue(cl_command_queue queue);

/* Destroys the retired objects that the GPU no longer uses; wait: waits for all of them, except
 * for those that another thread is destroying. */
void icd_reclaim_retired(cl_context context, bool wait);
static inline void icd_reclaim(cl_context context, bool wait) {
  if (atomic_load_explicit(&context->any_retired, memory_order_relaxed))
    icd_reclaim_retired(context, wait);
}

/* After a failure of the runtime: true if the error is -ENOMEM and another try may succeed, because
 * everything that was released is now free. The caller holds no lock. */
bool icd_context_make_room(cl_context context, int error);

/* Destroys all of them in a separate thread, if there are any. For objects with destructor
 * callbacks: the application may wait for one without calling OpenCL again. */
void icd_reclaim_in_background(cl_context context);

#endif
