/* Commands: what an enqueue call has checked, and where it is executed.
 *
 * Kernels whose dependencies are all on the GPU are submitted at once in the
 * calling thread, markers likewise. What the host does (copies in unified
 * memory) is done at once if the queue is idle, or if the call blocks. Anything
 * else, and everything after it, goes to the queue's worker thread until that
 * has done it all. The GPU never waits for the host.
 *
 * A queue out of order, too, submits to one channel of the GPU, in the order in which launches
 * become ready. Commands of the host and deferred commands overtake those that they need not wait
 * for.
 */
#ifndef TEGRACL_COMMAND_H
#define TEGRACL_COMMAND_H

#include "icd/context/retire.h"

enum { ICD_PATTERN_BYTES = 128 }; /* the longest fill pattern: long16 */

enum icd_operation_kind {
  ICD_LAUNCH, /* a grid on the GPU */
  ICD_MARK,   /* nothing but a place in the order */
  ICD_COPY,   /* the host copies a box of bytes */
  ICD_FILL,   /* the host repeats a pattern */
  ICD_CALL,   /* the worker calls a function, which may call OpenCL */
  ICD_REPLAY, /* a command buffer's recording on the GPU */
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
  size_t region[3];              /* bytes, a multiple of pattern_size; rows; slices */
  size_t row_bytes, slice_bytes; /* pitches */
  size_t pattern_size;
  unsigned char pattern[ICD_PATTERN_BYTES];
};

struct icd_call {
  void (*function)(cl_command_queue queue, void *data);
  void *data; /* copied with the command */
  size_t bytes;
};

/* The work-items of a launch as the application gives them. */
struct icd_given_range {
  cl_uint work_dim; /* 1 to 3 */
  const size_t *offset, *global, *local;
};

struct icd_replay {
  struct _cl_command_buffer_khr *buffer;
  struct icd_recording *recording; /* held by it */
  bool prints;                     /* a launch in it prints */
};

struct icd_launch {
  struct icd_given_range range; /* of at least one work-item */
  const struct rt_launch *rt;   /* icd_launch_begin: the kernel's */
};

/* What to do. Lives on the caller's stack; copied if it must wait. */
struct icd_operation {
  enum icd_operation_kind kind;
  cl_command_type type;
  cl_mem mems[2];              /* memory that a COPY, FILL or map uses, or NULL: bare memory */
  cl_kernel kernel;            /* of a LAUNCH */
  struct icd_mapping *mapping; /* of a map or unmap */
  union {
    struct icd_launch launch;
    struct icd_copy copy;
    struct icd_fill fill;
    struct icd_call call;
    struct icd_replay replay;
  };
};

/* Brings the operation into the queue. blocking: returns when it is done (not
 * for LAUNCH). waits is a checked wait list. event: where the application's event is stored;
 * NULL: none. The error codes are those of all clEnqueue* functions;
 * call is the name of the entry point. */
cl_int icd_enqueue(cl_command_queue queue, struct icd_operation *operation, bool blocking,
                   cl_uint wait_count, const cl_event *waits, cl_event *event, const char *call);

/* Checks the wait list, and enqueues a command that does not block. */
cl_int icd_enqueue_checked(cl_command_queue queue, struct icd_operation *operation,
                           cl_uint wait_count, const cl_event *waits, cl_event *event,
                           const char *call);

/* Checks the wait list, and enqueues a command that only has a place in the order. */
cl_int icd_mark(cl_command_queue queue, cl_command_type type, bool blocking, cl_uint wait_count,
                const cl_event *waits, cl_event *event, const char *call);

/* Checks that queue is a queue and the wait list is sound:
 * CL_INVALID_COMMAND_QUEUE, CL_INVALID_EVENT_WAIT_LIST, CL_INVALID_CONTEXT. */
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

/* The same for extensions that refuse events which have failed:
 * CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST. */
cl_int icd_check_good_waits(cl_command_queue queue, cl_uint wait_count, const cl_event *waits,
                            const char *call);

/* Puts a command after all others for the worker. The locks of the queue and of
 * the kernel are held.
 * event may be NULL. CL_SUCCESS, CL_OUT_OF_HOST_MEMORY or CL_OUT_OF_RESOURCES
 * (no thread). */
cl_int icd_defer(cl_command_queue queue, const struct icd_operation *operation, cl_uint wait_count,
                 const cl_event *waits, cl_event event);

/* True if the deferred commands include a barrier. The caller holds the queue's lock. */
bool icd_defers_barrier(cl_command_queue queue);

/* The code for the -errno of a submission; and for a command whose submission was refused, with
 * the runtime's sentence. event may be NULL. No lock is held. */
cl_int icd_submission_code(const struct icd_operation *operation, int error);
cl_int icd_refuse_submission(cl_command_queue queue, cl_event event, cl_int code, const char *call);

/* Submits a LAUNCH, MARK or REPLAY to the GPU after the events in waits, which are
 * tracked or complete. The queue's lock is held. The event may be NULL; *due
 * are callbacks to be called once the lock is free. */
cl_int icd_submit(cl_command_queue queue, const struct icd_operation *operation, cl_uint wait_count,
                  const cl_event *waits, cl_event event, struct icd_event_callback **due);

/* Checks the launch over operation->launch.range, and completes the kernel's parameters
 * and its launch. The kernel's lock is held, and so is notify. */
cl_int icd_launch_prepare(const struct icd_operation *operation, const char *call);

static inline bool icd_is_range(const struct icd_range *range,
                                const struct icd_given_range *given) {
  /* A given size cannot be 0, which means the driver's choice here. */
  bool same = range->work_dim == given->work_dim && (!given->local || given->local[0]);
  for (cl_uint i = 0; i < given->work_dim && same; i++)
    same = range->global[i] == given->global[i] &&
           range->offset[i] == (given->offset ? given->offset[i] : 0) &&
           range->local[i] == (given->local ? given->local[i] : 0);
  return same;
}

/* Takes the kernel's lock and prepares the launch, unless it is the kernel's last one again.
 * With CL_SUCCESS launch.rt is set, and icd_launch_end releases the lock when the launch has
 * been submitted or deferred. With an error the lock is free. */
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

/* Checks of a launch before that of its arguments: the kernel, its context and the number of
 * dimensions. icd_read_range: the range, in all three dimensions. */
static inline cl_int icd_check_launch(cl_context context, cl_kernel kernel, cl_uint work_dim,
                                      const char *call) {
  if (!icd_is_kernel(kernel))
    return icd_fail(context, CL_INVALID_KERNEL, call, "kernel %p is not a valid cl_kernel",
                    (void *)kernel);
  if (kernel->program->context != context)
    return icd_fail(context, CL_INVALID_CONTEXT, call, "kernel is of another context");
  if (work_dim < 1 || work_dim > 3)
    return icd_fail(context, CL_INVALID_WORK_DIMENSION, call, "work_dim is %u", work_dim);
  return CL_SUCCESS;
}
cl_int icd_read_range(cl_kernel kernel, const struct icd_given_range *given,
                      struct icd_range *range, const char *call);

/* Submits a REPLAY: 0 or -errno. The queue's lock is held. icd_replay_hold and icd_replay_drop
 * count the REPLAYs of its recording that are not yet submitted (replay.c). */
int icd_replay(cl_command_queue queue, const struct icd_replay *replay, struct rt_times *times);
void icd_replay_hold(const struct icd_replay *replay);
void icd_replay_drop(const struct icd_replay *replay);

/* Maps and unmaps (map.c). */
static inline bool icd_is_about_mapping(const struct icd_operation *operation) {
  return operation->type == CL_COMMAND_MAP_BUFFER || operation->type == CL_COMMAND_MAP_IMAGE ||
         operation->type == CL_COMMAND_UNMAP_MEM_OBJECT;
}
/* Copies at once. */
void icd_copy_box(const struct icd_copy *copy);

/* Does the host's part, if there is one. */
void icd_do_on_host(cl_command_queue queue, const struct icd_operation *operation);

/* The order in a queue out of order: a marker or barrier without a wait list comes after
 * all that was enqueued before it, and all that is enqueued after a barrier comes after
 * it. Other commands have no order. */
static inline bool icd_in_order(const struct _cl_command_queue *queue) {
  return !(queue->flags & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
}
/* The GPU does it, in the order in which it gets it. */
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

/* Whether the operation must follow the deferred commands. The queue's lock is
 * held. */
static inline bool icd_must_queue(cl_command_queue queue, const struct icd_operation *operation,
                                  cl_uint wait_count) {
  if (operation->kind == ICD_CALL || (operation->kind == ICD_LAUNCH && operation->launch.rt->cut))
    return true;
  if (!queue->first)
    return false;
  return icd_in_order(queue) || icd_follows_all(operation, wait_count) || icd_defers_barrier(queue);
}

/* icd_enqueue for a LAUNCH or REPLAY. icd_enqueue_alone: of one that waits for no event, makes
 * none and does not print. */
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
static inline cl_int icd_enqueue_kernels(cl_command_queue queue, struct icd_operation *operation,
                                         cl_uint wait_count, const cl_event *waits, cl_event *event,
                                         const char *call) {
  return event || wait_count || icd_prints(operation)
             ? icd_enqueue(queue, operation, false, wait_count, waits, event, call)
             : icd_enqueue_alone(queue, operation, call);
}

/* True if the GPU has completed the queue's work up to *point, for which the host must wait before
 * it does the operation. */
static inline bool icd_gpu_is_past(cl_command_queue queue, const struct icd_operation *operation,
                                   cl_uint wait_count, uint64_t *point) {
  const bool all = icd_in_order(queue) || icd_follows_all(operation, wait_count);
  *point = all ? rt_queue_submitted(queue->rt) : atomic_load(&queue->barrier);
  return rt_queue_completed(queue->rt) >= *point;
}

/* Waits for all that has been enqueued until now: 0 or -errno. */
int icd_queue_finish(cl_command_queue queue);

/* Makes the worker end, and waits for it unless it is the caller. */
void icd_worker_stop(cl_command_queue queue);

#endif
