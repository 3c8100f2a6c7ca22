/* The worker: a thread of a command queue that runs deferred commands, in order, or, for an
 * out-of-order queue, as they become ready. It is created when it is first needed, and sleeps while
 * there are no commands.
 */
#include <stdlib.h>
#include <string.h>

#include "base/thread.h"
#include "icd/memory/mapping.h"
#include "icd/queue/command.h"

/* Maximum time to wait for the GPU before the other commands are checked again. */
#define LOOK_NS 1000000u

/* A deferred command. It holds a reference to all objects that it uses. */
struct icd_command {
  struct icd_command *next;
  uint64_t number; /* among the queue's deferred commands */
  cl_event event;  /* or NULL */
  struct icd_operation operation;
  struct rt_launch launch; /* of a LAUNCH */
  struct rt_cut cut;       /* for a LAUNCH that is submitted in parts */
  cl_event *waits;
  cl_mem *mems; /* memory objects of the operation or of the kernel's arguments */
  cl_uint wait_count;
  uint32_t mem_count;
  void *tail; /* copy of a LAUNCH's shape or a CALL's data */
};

static void release_mems(struct icd_command *command) {
  while (command->mem_count)
    icd_mem_drop(command->mems[--command->mem_count]);
}

static void release_command(struct icd_command *command) {
  for (cl_uint i = 0; i < command->wait_count; i++)
    icd_event_drop(command->waits[i]);
  release_mems(command);
  if (command->operation.kernel)
    icd_kernel_drop(command->operation.kernel);
  if (command->operation.kind == ICD_REPLAY)
    icd_replay_drop(&command->operation.replay);
  if (icd_is_about_mapping(&command->operation))
    icd_mapping_drop(command->operation.mapping);
  if (command->event)
    icd_event_drop(command->event);
  free(command);
}

/* Allocates one block for the command and all of its lists. */
static struct icd_command *create_command(const struct icd_operation *operation, cl_uint wait_count,
                                          const cl_event *waits, cl_event event) {
  cl_kernel kernel = operation->kind == ICD_LAUNCH ? operation->kernel : NULL;
  const uint32_t most_mems = kernel ? kernel->code->arg_count : 2;
  const bool call = operation->kind == ICD_CALL;
  const size_t tail_bytes = kernel ? rt_shape_bytes(kernel->code)
                            : call ? operation->call.bytes
                                   : 0;
  const size_t size = sizeof(struct icd_command) + wait_count * sizeof(cl_event) +
                      most_mems * sizeof(cl_mem) + tail_bytes;
  struct icd_command *command = calloc(1, size);
  if (!command)
    return NULL;
  command->operation = *operation;
  command->waits = (cl_event *)(command + 1);
  command->mems = (cl_mem *)(command->waits + wait_count);
  command->tail = command->mems + most_mems;

  for (cl_uint i = 0; i < wait_count; i++) {
    icd_event_hold(waits[i]);
    command->waits[command->wait_count++] = waits[i];
  }
  /* A kernel does not hold its arguments. A buffer that is already freed must not be used by the
   * kernel; the GPU faults if it is. */
  const cl_mem *mems = kernel ? kernel->buffers : operation->mems;
  for (uint32_t i = 0; i < most_mems; i++)
    if (mems[i] && icd_object_try_hold(&mems[i]->object)) {
      command->mems[command->mem_count++] = mems[i];
    }
  if (kernel) {
    icd_kernel_hold(kernel);
    memcpy(command->tail, kernel->shape, tail_bytes);
    command->launch = *operation->launch.rt;
    command->launch.shape = (struct rt_shape *)command->tail;
    if (command->launch.cut)
      command->launch.cut = &command->cut;
    command->launch.params = rt_shape_params(command->launch.shape, kernel->code);
    command->operation.launch.rt = &command->launch;
  }
  if (operation->kind == ICD_REPLAY)
    icd_replay_hold(&operation->replay);
  if (icd_is_about_mapping(operation))
    icd_mapping_hold(operation->mapping);
  if (call) {
    memcpy(command->tail, operation->call.data, tail_bytes);
    command->operation.call.data = command->tail;
  }
  if (event) {
    icd_event_hold(event);
    command->event = event;
  }
  return command;
}

/* ---- in the worker ------------------------------------------------------------------- */

/* Whether the host need not wait for an event that is on the GPU, because the GPU runs the
 * commands of a queue in the order of submission. */
static bool is_ordered(cl_command_queue queue, const struct icd_command *command, cl_event event) {
  return event->queue == queue && atomic_load(&event->tracked) &&
         (icd_in_order(queue) || icd_is_for_gpu(&command->operation));
}

static cl_int wait_for_all(cl_command_queue queue, const struct icd_command *command) {
  cl_int code = CL_SUCCESS;
  for (cl_uint i = 0; i < command->wait_count; i++) {
    cl_event event = command->waits[i];
    const cl_int status =
        is_ordered(queue, command, event) ? icd_event_status(event) : icd_event_wait(event);
    if (status < 0)
      code = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
  }
  return code;
}

/* Runs the command or submits it to the GPU. */
static void run_command(cl_command_queue queue, struct icd_command *command) {
  const struct icd_operation *operation = &command->operation;
  cl_event event = command->event;
  cl_int status = wait_for_all(queue, command);
  if (!status && icd_is_for_gpu(operation)) {
    /* Submit a launch that is cut into parts one part at a time, and release the queue's lock in
     * between. At most two parts are on the GPU, because more could fill the channel while this
     * thread holds the lock. */
    uint64_t before = 0, last = 0;
    do {
      if (before)
        rt_queue_wait(queue->rt, before, UINT64_MAX); /* a fault is found below */
      before = last;
      if (icd_prints(operation))
        icd_print_wait_for_room(queue->context);
      icd_lock(&queue->lock);
      status = icd_submit(queue, operation, 0, NULL, event);
      last = rt_queue_submitted(queue->rt);
      icd_unlock(&queue->lock);
    } while (!status && command->launch.cut && !command->cut.over);
    if (!status) {
      release_mems(command);
      return;
    }
  }
  uint64_t start_ns = 0, end_ns = 0, point;
  if (!status && !icd_gpu_is_past(queue, operation, command->wait_count, &point) &&
      rt_queue_wait(queue->rt, point, UINT64_MAX))
    status = CL_OUT_OF_RESOURCES;
  icd_print_drain(queue);
  if (!status) {
    const uint64_t cpu_ns = base_clock_ns();
    icd_do_on_host(queue, operation);
    if (event && event->profiled) {
      event->submit_ns = cpu_ns;
      start_ns = icd_device_clock(queue->device, cpu_ns);
      end_ns = start_ns + (base_clock_ns() - cpu_ns);
    }
  } else {
    if (icd_is_about_mapping(operation))
      icd_map_terminated(operation);
    icd_context_report_fault(queue->context);
  }
  /* Before the event completes, because a thread that waits for it may then reuse the memory. */
  release_mems(command);
  if (event)
    icd_event_set(event, status, start_ns, end_ns);
}

/* Removes the command from the list. Returns true if the list is now empty. */
static bool remove_command(cl_command_queue queue, struct icd_command *command) {
  icd_lock(&queue->lock);
  struct icd_command **link = &queue->first, *before = NULL;
  for (; *link != command; link = &before->next)
    before = *link;
  *link = command->next;
  if (!*link)
    queue->last = before;
  const bool empty = !queue->first;
  icd_wake(&queue->done);
  icd_unlock(&queue->lock);
  return empty;
}

/* ---- out of order ---------------------------------------------------------------------- */

bool icd_defers_barrier(cl_command_queue queue) {
  for (const struct icd_command *command = queue->first; command; command = command->next)
    if (icd_is_barrier(&command->operation))
      return true;
  return false;
}

/* Other threads append to the list while the worker walks it, so the lock is needed. Only the
 * worker removes commands. */
static struct icd_command *next_command(cl_command_queue queue, struct icd_command *command) {
  icd_lock(&queue->lock);
  struct icd_command *found = command ? command->next : queue->first;
  icd_unlock(&queue->lock);
  return found;
}

/* The point of a queue for which a command waits. */
struct awaited {
  struct rt_queue *rt; /* or NULL */
  uint64_t point;
};

/* Whether a command can run now, or has failed. If it only waits for the GPU, sets *awaited to
 * the point. The caller holds no lock, because callbacks may run. */
static bool is_ready(cl_command_queue queue, const struct icd_command *command, bool first,
                     struct awaited *awaited) {
  const struct icd_operation *operation = &command->operation;
  for (cl_uint i = 0; i < command->wait_count; i++) {
    cl_event event = command->waits[i];
    if (icd_event_status(event) <= CL_COMPLETE || is_ordered(queue, command, event))
      continue;
    if (atomic_load_explicit(&event->tracked, memory_order_acquire))
      *awaited = (struct awaited){event->queue->rt, event->point};
    return false;
  }
  if (icd_follows_all(operation, command->wait_count) && !first)
    return false;
  uint64_t point;
  if (icd_is_for_gpu(operation) || icd_gpu_is_past(queue, operation, command->wait_count, &point) ||
      rt_context_fault(queue->context->rt))
    return true;
  *awaited = (struct awaited){queue->rt, point};
  return false;
}

/* Waits until one of the deferred commands is ready, and returns it. The list must not be empty. */
static struct icd_command *choose_command(cl_command_queue queue) {
  for (;;) {
    const uint64_t changes = icd_context_changes(queue->context);
    struct awaited awaited = {0};
    struct icd_command *command = next_command(queue, NULL);
    for (bool first = true; command; first = false) {
      if (is_ready(queue, command, first, &awaited))
        return command;
      if (icd_is_barrier(&command->operation))
        break; /* later commands must wait for the barrier */
      command = next_command(queue, command);
    }
    if (!awaited.rt)
      icd_context_await_change(queue->context, changes);
    else
      rt_queue_wait(awaited.rt, awaited.point, LOOK_NS);
  }
}

/* ---- the thread -------------------------------------------------------------------------- */

static void *run_worker(void *data) {
  cl_command_queue queue = data;
  for (;;) {
    icd_lock(&queue->lock);
    while (!queue->first && !queue->stop)
      icd_wait(&queue->work, &queue->lock);
    struct icd_command *command = queue->first;
    icd_unlock(&queue->lock);
    if (!command)
      return NULL;
    if (!icd_in_order(queue))
      command = choose_command(queue);

    run_command(queue, command);
    const bool empty = remove_command(queue, command);
    if (command->event)
      icd_event_watch(command->event);
    release_command(command);
    /* A non-empty list holds the queue. If the application has released the queue, no later call
     * reclaims retired objects, so wait for the GPU and do it here. */
    if (empty) {
      if (!atomic_load(&queue->object.handles))
        rt_queue_wait(queue->rt, rt_queue_submitted(queue->rt), UINT64_MAX);
      icd_reclaim(queue->context, false);
      if (icd_object_drop(&queue->object))
        return NULL;
    }
  }
}

/* ---- from outside ---------------------------------------------------------------------- */

cl_int icd_defer(cl_command_queue queue, const struct icd_operation *operation, cl_uint wait_count,
                 const cl_event *waits, cl_event event) {
  if (rt_context_fault(queue->context->rt))
    return CL_OUT_OF_RESOURCES;
  struct icd_command *command = create_command(operation, wait_count, waits, event);
  if (!command)
    return CL_OUT_OF_HOST_MEMORY;
  if (!queue->has_worker) {
    if (base_thread_start(&queue->worker, run_worker, queue)) {
      release_command(command);
      return CL_OUT_OF_RESOURCES;
    }
    queue->has_worker = true;
  }
  if (queue->first) {
    queue->last->next = command;
  } else {
    icd_queue_hold(queue);
    queue->first = command;
  }
  queue->last = command;
  command->number = ++queue->deferred;
  icd_wake(&queue->work);
  if (!icd_in_order(queue))
    icd_context_change(queue->context);
  return CL_SUCCESS;
}

int icd_queue_finish(cl_command_queue queue) {
  icd_lock(&queue->lock);
  const uint64_t target = queue->deferred;
  while (queue->first && queue->first->number <= target)
    icd_wait(&queue->done, &queue->lock);
  icd_unlock(&queue->lock);
  const int error = rt_queue_wait(queue->rt, rt_queue_submitted(queue->rt), UINT64_MAX);
  icd_print_drain(queue);
  return error;
}

/* Returns the first queue whose serial number is at least serial, with a reference, or NULL.
 * Skips queues that are being destroyed, because these wait for their own work. */
static cl_command_queue next_queue(cl_context context, uint64_t serial) {
  base_mutex_lock(&context->lock);
  cl_command_queue queue = context->queues;
  while (queue && (queue->serial < serial || !icd_object_try_hold(&queue->object)))
    queue = queue->next;
  base_mutex_unlock(&context->lock);
  return queue;
}

void icd_context_finish(cl_context context) {
  cl_command_queue queue;
  for (uint64_t serial = 0; (queue = next_queue(context, serial)); icd_queue_drop(queue)) {
    icd_queue_finish(queue);
    serial = queue->serial + 1;
  }
}

void icd_worker_stop(cl_command_queue queue) {
  if (!queue->has_worker)
    return;
  icd_lock(&queue->lock);
  queue->stop = true;
  icd_wake(&queue->work);
  icd_unlock(&queue->lock);
  if (pthread_equal(pthread_self(), queue->worker))
    pthread_detach(queue->worker);
  else
    pthread_join(queue->worker, NULL);
}
