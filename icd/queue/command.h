/* Commands: what they do, their checks, and where they run.
 *
 * Kernels and markers whose dependencies are complete or on the GPU are submitted at once in the
 * calling thread. Work of the host (copies in unified memory) is done at once if the queue is idle
 * or the call blocks. Other commands, and all that are enqueued while the queue has deferred
 * commands, go to the queue's worker thread. The GPU never waits for the host.
 *
 * An out-of-order queue submits to one channel of the GPU too, in the order in which launches
 * become ready. Host work and deferred commands may overtake commands on which they do not depend.
 */
#ifndef TEGRACL_COMMAND_H
#define TEGRACL_COMMAND_H

#include "icd/context/retire.h"

enum { ICD_PATTERN_BYTES = 128 }; /* the longest fill pattern, long16 */

enum icd_operation_kind {
  ICD_LAUNCH, /* a grid on the GPU */
  ICD_MARK,   /* no work; only takes part in the order of commands */
  ICD_COPY,   /* the host copies a box */
  ICD_FILL,   /* the host fills a box with a pattern */
  ICD_CALL,   /* the worker calls a function, which may call OpenCL functions */
  ICD_REPLAY, /* the recording of a command buffer on the GPU */
};

struct icd_copy {
  char *target; /* first byte of the box */
  const char *source;
  size_t region[3]; /* bytes, rows, slices */
  /* Pitches. */
  size_t target_row_bytes, target_slice_bytes, source_row_bytes, source_slice_bytes;
};

struct icd_fill {
  char *target;
  size_t region[3];              /* bytes (a multiple of pattern_size), rows, slices */
  size_t row_bytes, slice_bytes; /* pitches */
  size_t pattern_size;
  unsigned char pattern[ICD_PATTERN_BYTES];
};

struct icd_call {
  void (*function)(cl_command_queue queue, void *data);
  void *data; /* copied if the command is deferred */
  size_t bytes;
};

/* The range of a launch as passed by the application. */
struct icd_given_range {
  cl_uint work_dim; /* 1 to 3 */
  const size_t *offset, *global, *local;
};

struct icd_replay {
  struct _cl_command_buffer_khr *buffer;
  struct icd_recording *recording; /* held by buffer */
  bool prints;                     /* whether one of its kernels calls printf */
};

struct icd_launch {
  struct icd_given_range range; /* has at least one work-item */
  const struct rt_launch *rt;   /* the kernel's launch, set by icd_launch_begin */
};

/* What a command does. It is on the caller's stack, and is copied if the command is deferred. */
struct icd_operation {
  enum icd_operation_kind kind;
  cl_command_type type;
  cl_mem mems[2];   /* used by a COPY, FILL or map; NULL for memory that is not a memory object */
  cl_kernel kernel; /* of a LAUNCH */
  struct icd_mapping *mapping; /* of a map or unmap */
  union {
    struct icd_launch launch;
    struct icd_copy copy;
    struct icd_fill fill;
    struct icd_call call;
    struct icd_replay replay;
  };
};

/* Enqueues the operation. If blocking, returns after it has completed (not for LAUNCH). waits
 * must be a checked wait list. The application's event is stored at *event unless event is NULL.
 * Returns the error codes of clEnqueue* functions and reports errors under the name call. */
cl_int icd_enqueue(cl_command_queue queue, struct icd_operation *operation, bool blocking,
                   cl_uint wait_count, const cl_event *waits, cl_event *event, const char *call);

/* Checks the wait list and enqueues a command that does not block. */
cl_int icd_enqueue_checked(cl_command_queue queue, struct icd_operation *operation,
                           cl_uint wait_count, const cl_event *waits, cl_event *event,
                           const char *call);

/* Checks the wait list and enqueues a command without work, such as a marker. */
cl_int icd_mark(cl_command_queue queue, cl_command_type type, bool blocking, cl_uint wait_count,
                const cl_event *waits, cl_event *event, const char *call);

/* Check a queue and its wait list. They return CL_INVALID_COMMAND_QUEUE,
 * CL_INVALID_EVENT_WAIT_LIST or CL_INVALID_CONTEXT. */
static inline cl_int icd_check_queue(cl_command_queue queue, const char *call) {
  if (!icd_is_queue(queue))
    return icd_fail(NULL, CL_INVALID_COMMAND_QUEUE, call,
                    "command_queue %p is not a valid cl_command_queue", (void *)queue);
  return CL_SUCCESS;
}
cl_int icd_check_wait_list(cl_command_queue queue, cl_uint wait_count, const cl_event *waits,
                           const char *call);
static inline cl_int icd_check_waits(cl_command_queue queue, cl_uint wait_count,
                                     const cl_event *waits, const char *call) {
  return wait_count || waits ? icd_check_wait_list(queue, wait_count, waits, call) : CL_SUCCESS;
}

/* Like icd_check_waits, for extensions that refuse failed events. Also returns
 * CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST. */
cl_int icd_check_good_waits(cl_command_queue queue, cl_uint wait_count, const cl_event *waits,
                            const char *call);

/* Appends a command to the worker's list. The caller holds the locks of the queue and the
 * kernel. event may be NULL. Returns CL_SUCCESS, CL_OUT_OF_HOST_MEMORY, or CL_OUT_OF_RESOURCES
 * if the context has faulted or the worker cannot be started. */
cl_int icd_defer(cl_command_queue queue, const struct icd_operation *operation, cl_uint wait_count,
                 const cl_event *waits, cl_event event);

/* Whether the deferred commands include a barrier. The caller holds the queue's lock. */
bool icd_defers_barrier(cl_command_queue queue);

/* Returns the OpenCL code for the -errno of a submission. */
cl_int icd_submission_code(const struct icd_operation *operation, int error);
/* Reports the failure of a submission with the runtime's message, and drops event, which may be
 * NULL. The caller holds no lock. Returns code. */
cl_int icd_refuse_submission(cl_command_queue queue, cl_event event, cl_int code, const char *call);

/* Submits a LAUNCH, MARK or REPLAY to the GPU. The events in waits must be tracked or complete.
 * The caller holds the queue's lock. event may be NULL. */
cl_int icd_submit(cl_command_queue queue, const struct icd_operation *operation, cl_uint wait_count,
                  const cl_event *waits, cl_event event);

/* Checks the launch and completes the kernel's parameters and its struct rt_launch. The caller
 * holds the kernel's lock and has called icd_hold_notify. */
cl_int icd_launch_prepare(const struct icd_operation *operation, const char *call);

/* Returns in suggested the local size of a launch without one; or, if the kernel may not be
 * launched with that size, one that divides the global size. Returns CL_SUCCESS or the error that a
 * launch with such a size would have. */
cl_int icd_suggest_local_size(cl_kernel kernel, const struct icd_given_range *range,
                              size_t *suggested, const char *call);

static inline bool icd_is_range(const struct icd_range *range,
                                const struct icd_given_range *given) {
  /* range->local is 0 if the driver chose the size. A local size of 0 from the application is an
   * error and must not match it. */
  bool same = range->work_dim == given->work_dim && (!given->local || given->local[0]);
  for (cl_uint i = 0; i < given->work_dim && same; i++)
    same = range->global[i] == given->global[i] &&
           range->offset[i] == (given->offset ? given->offset[i] : 0) &&
           range->local[i] == (given->local ? given->local[i] : 0);
  return same;
}

/* Takes the kernel's lock, and prepares the launch unless it is the same as the kernel's last
 * one. On success sets launch.rt; the caller releases the lock with icd_launch_end after it has
 * submitted or deferred the launch. On failure the lock is released. */
static inline cl_int icd_launch_begin(struct icd_operation *operation, const char *call) {
  cl_kernel kernel = operation->kernel;
  icd_lock(&kernel->guard);
  operation->launch.rt = &kernel->launch;
  if (kernel->ready && icd_is_range(&kernel->range, &operation->launch.range))
    return CL_SUCCESS;
  icd_hold_notify();
  const cl_int code = icd_launch_prepare(operation, call);
  if (code)
    icd_unlock(&kernel->guard);
  icd_release_notify();
  return code;
}
static inline void icd_launch_end(const struct icd_operation *operation) {
  icd_unlock(&operation->kernel->guard);
}

/* Checks the kernel, its context and the number of dimensions of a launch. */
static inline cl_int icd_check_launch(cl_context context, cl_kernel kernel, cl_uint work_dim,
                                      const char *call) {
  if (!icd_is_kernel(kernel))
    return icd_fail(context, CL_INVALID_KERNEL, call, "kernel %p is not a valid cl_kernel",
                    (void *)kernel);
  if (kernel->program->context != context)
    return icd_fail(context, CL_INVALID_CONTEXT, call, "kernel belongs to another context");
  if (work_dim < 1 || work_dim > 3)
    return icd_fail(context, CL_INVALID_WORK_DIMENSION, call,
                    "work_dim is %u; it must be 1, 2 or 3", work_dim);
  return CL_SUCCESS;
}
/* Checks a range and extends it to three dimensions. */
cl_int icd_read_range(cl_kernel kernel, const struct icd_given_range *given,
                      struct icd_range *range, const char *call);

/* Submits a REPLAY. Returns 0 or -errno. The caller holds the queue's lock. */
int icd_replay(cl_command_queue queue, const struct icd_replay *replay, struct rt_times *times);
/* Count the REPLAYs of a recording that have not yet been submitted (replay.c). */
void icd_replay_hold(const struct icd_replay *replay);
void icd_replay_drop(const struct icd_replay *replay);

/* Whether the operation is a map or unmap (map.c). */
static inline bool icd_is_about_mapping(const struct icd_operation *operation) {
  return operation->type == CL_COMMAND_MAP_BUFFER || operation->type == CL_COMMAND_MAP_IMAGE ||
         operation->type == CL_COMMAND_UNMAP_MEM_OBJECT;
}
/* Copies at once. */
void icd_copy_box(const struct icd_copy *copy);

/* Does the host's part of an operation, if it has one. */
void icd_do_on_host(cl_command_queue queue, const struct icd_operation *operation);

/* In an out-of-order queue a marker or barrier without a wait list comes after all earlier
 * commands, and all later commands come after a barrier. Other commands are not ordered. */
static inline bool icd_in_order(const struct _cl_command_queue *queue) {
  return !(queue->flags & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
}
/* Returns whether the GPU executes the operation. It executes operations in the order of
 * submission. */
static inline bool icd_is_for_gpu(const struct icd_operation *operation) {
  return operation->kind == ICD_LAUNCH || operation->kind == ICD_MARK ||
         operation->kind == ICD_REPLAY;
}
static inline bool icd_runs_kernels(const struct icd_operation *operation) {
  return operation->kind == ICD_LAUNCH || operation->kind == ICD_REPLAY;
}
static inline bool icd_prints(const struct icd_operation *operation) {
  return operation->kind == ICD_LAUNCH   ? operation->kernel->code->prints
         : operation->kind == ICD_REPLAY ? operation->replay.prints
                                         : false;
}
static inline bool icd_is_barrier(const struct icd_operation *operation) {
  return operation->type == CL_COMMAND_BARRIER;
}
static inline bool icd_follows_all(const struct icd_operation *operation, cl_uint wait_count) {
  return !wait_count && (operation->type == CL_COMMAND_MARKER || icd_is_barrier(operation));
}

/* Whether the operation must be appended to the deferred commands. The caller holds the queue's
 * lock. */
static inline bool icd_must_queue(cl_command_queue queue, const struct icd_operation *operation,
                                  cl_uint wait_count) {
  if (operation->kind == ICD_CALL || (operation->kind == ICD_LAUNCH && operation->launch.rt->cut))
    return true;
  if (!queue->first)
    return false;
  return icd_in_order(queue) || icd_follows_all(operation, wait_count) || icd_defers_barrier(queue);
}

/* Enqueues a LAUNCH or REPLAY without a wait list, an event or printf output. */
static inline cl_int icd_enqueue_alone(cl_command_queue queue, struct icd_operation *operation,
                                       const char *call) {
  const bool launch = operation->kind == ICD_LAUNCH;
  icd_reclaim(queue->context, false);
  cl_int code = launch ? icd_launch_begin(operation, call) : CL_SUCCESS;
  if (code)
    return code;
  icd_lock(&queue->lock);
  if (icd_must_queue(queue, operation, 0)) {
    code = icd_defer(queue, operation, 0, NULL, NULL);
  } else {
    const int error = launch ? rt_queue_launch(queue->rt, operation->launch.rt, NULL)
                             : icd_replay(queue, &operation->replay, NULL);
    code = error ? icd_submission_code(operation, error) : CL_SUCCESS;
  }
  icd_unlock(&queue->lock);
  if (launch)
    icd_launch_end(operation);
  return code ? icd_refuse_submission(queue, NULL, code, call) : CL_SUCCESS;
}
/* Enqueues any LAUNCH or REPLAY. */
static inline cl_int icd_enqueue_kernels(cl_command_queue queue, struct icd_operation *operation,
                                         cl_uint wait_count, const cl_event *waits, cl_event *event,
                                         const char *call) {
  return event || wait_count || icd_prints(operation)
             ? icd_enqueue(queue, operation, false, wait_count, waits, event, call)
             : icd_enqueue_alone(queue, operation, call);
}

/* Sets *point to the point of the queue that the GPU must reach before the host does the
 * operation. Returns whether it has been reached. */
static inline bool icd_gpu_is_past(cl_command_queue queue, const struct icd_operation *operation,
                                   cl_uint wait_count, uint64_t *point) {
  const bool all = icd_in_order(queue) || icd_follows_all(operation, wait_count);
  *point = all ? rt_queue_submitted(queue->rt) : atomic_load(&queue->barrier);
  return rt_queue_completed(queue->rt) >= *point;
}

/* Waits for all commands that have been enqueued. Returns 0 or -errno. */
int icd_queue_finish(cl_command_queue queue);

/* Stops the worker, and joins it unless it is the calling thread. */
void icd_worker_stop(cl_command_queue queue);

#endif
