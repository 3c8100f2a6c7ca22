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

/* Takes a queue whose work has completed out of the context's list, which says what may still be
 * in use. */
void icd_context_remove_queue(cl_command_queue queue);

/* Destroys the retired objects that the GPU has done with; wait: waits for all of them, except for
 * those that another thread is destroying. */
void icd_reclaim_retired(cl_context context, bool wait);
static inline void icd_reclaim(cl_context context, bool wait) {
  if (atomic_load_explicit(&context->any_retired, memory_order_relaxed))
    icd_reclaim_retired(context, wait);
}

/* The runtime has failed with that error: true if that was -ENOMEM and it may be tried again,
 * because everything that was released is now free. No lock is held. */
bool icd_context_make_room(cl_context context, int error);

/* Destroys all of them in a separate thread, if there are any: for objects whose end the
 * application is told of, though it may make no call until then. */
void icd_reclaim_in_background(cl_context context);

#endif
