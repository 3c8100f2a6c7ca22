/* Execution of commands: host work in the calling thread, and submission to the GPU. */
#include <errno.h>
#include <string.h>

#include "icd/memory/box.h"
#include "icd/queue/command.h"
#include "runtime/debug/timeline.h"

/* ---- host work ------------------------------------------------------------------- */

void icd_copy_box(const struct icd_copy *copy) {
  const size_t row = copy->region[0];
  for (size_t z = 0; z < copy->region[2]; z++) {
    char *target = copy->target + z * copy->target_slice_bytes;
    const char *source = copy->source + z * copy->source_slice_bytes;
    if (copy->target_row_bytes == row && copy->source_row_bytes == row) {
      memcpy(target, source, row * copy->region[1]);
      continue;
    }
    for (size_t y = 0; y < copy->region[1]; y++)
      memcpy(target + y * copy->target_row_bytes, source + y * copy->source_row_bytes, row);
  }
}

/* Fills the first row by doubling its filled part, then copies it to the other rows, so that
 * memcpy does the work. */
static void fill_box(const struct icd_fill *fill) {
  const size_t size = fill->region[0];
  size_t done = fill->pattern_size;
  memcpy(fill->target, fill->pattern, done);
  while (done < size) {
    const size_t more = done < size - done ? done : size - done;
    memcpy(fill->target + done, fill->target, more);
    done += more;
  }
  for (size_t z = 0; z < fill->region[2]; z++)
    for (size_t y = z ? 0 : 1; y < fill->region[1]; y++)
      memcpy(fill->target + z * fill->slice_bytes + y * fill->row_bytes, fill->target, size);
}

/* Reports the range between the first and last byte written, for the checks of the software
 * Orin. */
static void note_written(const struct icd_operation *operation) {
  const cl_mem mem = operation->mems[1] ? operation->mems[1] : operation->mems[0];
  const struct icd_copy *copy = &operation->copy;
  const struct icd_fill *fill = &operation->fill;
  if (!mem)
    return;
  if (operation->kind == ICD_FILL)
    rt_buffer_note_written(mem->buffer, fill->target,
                           icd_box_span(fill->region, fill->row_bytes, fill->slice_bytes));
  else
    rt_buffer_note_written(
        mem->buffer, copy->target,
        icd_box_span(copy->region, copy->target_row_bytes, copy->target_slice_bytes));
}

/* Records the bytes that the host has written on the timeline. */
static void show_on_timeline(const struct icd_operation *operation, uint64_t since_ns) {
  const bool copy = operation->kind == ICD_COPY;
  const size_t *region = copy ? operation->copy.region : operation->fill.region;
  const struct rt_timeline_detail bytes = {"bytes", region[0] * region[1] * region[2], NULL};
  if (copy || operation->kind == ICD_FILL)
    rt_timeline_span("copy", copy ? "copy" : "fill", since_ns, &bytes, 1);
}

void icd_do_on_host(cl_command_queue queue, const struct icd_operation *operation) {
  const uint64_t since_ns = rt_timeline_on() ? base_clock_ns() : 0;
  switch (operation->kind) {
  case ICD_COPY:
    icd_copy_box(&operation->copy);
    note_written(operation);
    break;
  case ICD_FILL:
    fill_box(&operation->fill);
    note_written(operation);
    break;
  case ICD_CALL:
    operation->call.function(queue, operation->call.data);
    break;
  case ICD_LAUNCH:
  case ICD_MARK:
  case ICD_REPLAY:
    break;
  }
  if (rt_timeline_on())
    show_on_timeline(operation, since_ns);
}

/* Translates an error of the runtime. Two errors have other codes for launches than for other
 * operations. */
cl_int icd_submission_code(const struct icd_operation *operation, int error) {
  if (operation->kind == ICD_LAUNCH && error == -EINVAL)
    return CL_INVALID_WORK_GROUP_SIZE;
  if (operation->kind == ICD_LAUNCH && error == -ENOMEM)
    return CL_MEM_OBJECT_ALLOCATION_FAILURE;
  return icd_code(error, CL_OUT_OF_RESOURCES);
}

/* Submits a LAUNCH or REPLAY. The GPU writes times unless it is NULL. Returns 0 or -errno. The
 * caller holds the queue's lock. */
static int submit_kernels(cl_command_queue queue, const struct icd_operation *operation,
                          struct rt_times *times) {
  if (operation->kind == ICD_REPLAY)
    return icd_replay(queue, &operation->replay, times);
  const struct rt_launch *launch = operation->launch.rt;
  struct rt_launch timed;
  if (times) {
    timed = *launch;
    timed.times = times;
    launch = &timed;
  }
  return operation->kernel->code->prints ? icd_print_launch(queue, operation->kernel, launch)
                                         : rt_queue_launch(queue->rt, launch, NULL);
}

cl_int icd_submit(cl_command_queue queue, const struct icd_operation *operation, cl_uint wait_count,
                  const cl_event *waits, cl_event event) {
  struct rt_times *times = NULL;
  bool acquired = false;
  int error = 0;
  for (cl_uint i = 0; i < wait_count && !error; i++) {
    /* The channel is in order, and the host has completed commands that were never tracked. */
    if (waits[i]->queue == queue || !atomic_load(&waits[i]->tracked) ||
        rt_queue_completed(waits[i]->queue->rt) >= waits[i]->point)
      continue;
    error = rt_queue_acquire(queue->rt, waits[i]->queue->rt, waits[i]->point);
    acquired = true;
  }
  struct rt_cut *cut = operation->kind == ICD_LAUNCH ? operation->launch.rt->cut : NULL;
  if (cut && cut->begun) {
    times = cut->times;
  } else if (!error && event && event->profiled) {
    event->submit_ns = base_clock_ns();
    error = rt_times_get(queue->context->rt, &times);
  }
  if (!error && icd_runs_kernels(operation))
    error = submit_kernels(queue, operation, times);
  else if (!error && (times || acquired))
    error = rt_queue_marker(queue->rt, times, NULL);
  if (error) {
    if (times) { /* which a part that was submitted may still write */
      rt_queue_wait(queue->rt, rt_queue_submitted(queue->rt), UINT64_MAX);
      rt_times_put(queue->context->rt, times);
    }
    return icd_submission_code(operation, error);
  }
  if (cut && !cut->over) {
    cut->times = times;
    return CL_SUCCESS;
  }
  const uint64_t point = rt_queue_submitted(queue->rt);
  if (icd_is_barrier(operation))
    atomic_store(&queue->barrier, point);
  if (event)
    icd_event_track(event, point, times);
  return CL_SUCCESS;
}
