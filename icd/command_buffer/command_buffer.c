/* Command buffers (cl_khr_command_buffer): their creation, finalization and replay. The recorded
 * commands become one pushbuffer in its own memory (runtime/launch/recording.c), which each replay
 * submits.
 */
#include "icd/command_buffer/command_buffer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- creation and destruction ------------------------------------------------------------ */

cl_int icd_read_flags(cl_context context, const cl_properties *list,
                      struct icd_flag_property known[2], size_t *words, const char *call) {
  *words = list ? 1 : 0;
  for (; list && *list; list += 2, *words += 2) {
    struct icd_flag_property *property = list[0] == known[0].name   ? &known[0]
                                         : list[0] == known[1].name ? &known[1]
                                                                    : NULL;
    if (!property || property->seen)
      return icd_fail(context, CL_INVALID_VALUE, call, "property 0x%llx is %s",
                      (unsigned long long)list[0], property ? "given twice" : "unknown");
    if (list[1] & ~property->known)
      return icd_fail(context, CL_INVALID_VALUE, call,
                      "property 0x%llx has the value 0x%llx, which has unknown bits",
                      (unsigned long long)list[0], (unsigned long long)list[1]);
    property->seen = true;
    *property->value = list[1];
  }
  return CL_SUCCESS;
}

CL_API_ENTRY cl_command_buffer_khr CL_API_CALL icd_clCreateCommandBufferKHR(
    cl_uint queue_count, const cl_command_queue *queues,
    const cl_command_buffer_properties_khr *properties, cl_int *errcode_ret) {
  static const char call[] = "clCreateCommandBufferKHR";
  static const struct icd_kind kind = {.magic = ICD_MAGIC_COMMAND_BUFFER,
                                       .destroy = icd_command_buffer_retire};
  if (queue_count != 1 || !queues)
    return icd_null(errcode_ret,
                    icd_fail(NULL, CL_INVALID_VALUE, call,
                             "num_queues is %u and queues %p; exactly one queue is supported",
                             queue_count, (const void *)queues));
  cl_command_queue queue = queues[0];
  cl_int code = icd_check_queue(queue, call);
  if (code)
    return icd_null(errcode_ret, code);
  cl_context context = queue->context;
  cl_command_buffer_flags_khr flags = 0;
  cl_mutable_dispatch_asserts_khr asserts = 0;
  struct icd_flag_property known[2] = {
      {.name = CL_COMMAND_BUFFER_FLAGS_KHR,
       .known = CL_COMMAND_BUFFER_SIMULTANEOUS_USE_KHR | CL_COMMAND_BUFFER_MUTABLE_KHR,
       .value = &flags},
      {.name = CL_COMMAND_BUFFER_MUTABLE_DISPATCH_ASSERTS_KHR,
       .known = CL_MUTABLE_DISPATCH_ASSERT_NO_ADDITIONAL_WORK_GROUPS_KHR,
       .value = &asserts}};
  size_t words;
  if ((code = icd_read_flags(context, properties, known, &words, call)))
    return icd_null(errcode_ret, code);
  cl_command_buffer_khr buffer = icd_object_new(ICD_MAGIC_COMMAND_BUFFER, sizeof(*buffer));
  if (buffer && words)
    buffer->properties = malloc(words * sizeof(*properties));
  if (!buffer || (words && !buffer->properties)) {
    icd_object_free(ICD_MAGIC_COMMAND_BUFFER, buffer);
    return icd_null(errcode_ret,
                    icd_fail(context, CL_OUT_OF_HOST_MEMORY, call, "out of host memory"));
  }
  if (words)
    memcpy(buffer->properties, properties, words * sizeof(*properties));
  buffer->property_count = words;
  buffer->flags = flags;
  buffer->asserts = asserts;
  buffer->context = context;
  buffer->queue = queue;
  buffer->end = &buffer->first;
  base_mutex_init(&buffer->lock, BASE_LOCK_COMMAND_BUFFER);
  icd_context_hold(context);
  icd_queue_hold(queue);
  icd_object_init(&buffer->object, &kind);
  return ICD_GIVE(errcode_ret, buffer);
}

static cl_int check_command_buffer(cl_command_buffer_khr buffer, const char *call) {
  if (!icd_is_command_buffer(buffer))
    return icd_fail(NULL, CL_INVALID_COMMAND_BUFFER_KHR, call,
                    "command_buffer %p is not a valid cl_command_buffer_khr", (void *)buffer);
  return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL icd_clRetainCommandBufferKHR(cl_command_buffer_khr buffer) {
  const cl_int code = check_command_buffer(buffer, "clRetainCommandBufferKHR");
  if (!code)
    icd_object_retain(&buffer->object);
  return code;
}

CL_API_ENTRY cl_int CL_API_CALL icd_clReleaseCommandBufferKHR(cl_command_buffer_khr buffer) {
  static const char call[] = "clReleaseCommandBufferKHR";
  cl_int code = check_command_buffer(buffer, call);
  if (code)
    return code;
  code = icd_object_release(&buffer->object, CL_INVALID_COMMAND_BUFFER_KHR);
  if (code)
    return icd_fail(buffer->context, code, call, "command_buffer %p has been released too often",
                    (void *)buffer);
  return CL_SUCCESS;
}

/* ---- recordings ----------------------------------------------------------------------------- */

static bool recording_is_free(const struct icd_recording *recording) {
  bool in_flight = atomic_load(&recording->users);
  for (const struct icd_part *part = &recording->first; part && !in_flight; part = part->next)
    in_flight = rt_recording_in_flight(part->rt);
  return !in_flight;
}

/* Returns a recording that is not in use and not the current one, because writing it may fail.
 * Returns NULL if out of memory. */
static struct icd_recording *find_free_recording(cl_command_buffer_khr buffer) {
  for (struct icd_recording *recording = buffer->recordings; recording; recording = recording->next)
    if (recording != atomic_load(&buffer->current) && recording_is_free(recording))
      return recording;
  struct icd_recording *recording = calloc(1, sizeof(*recording));
  if (!recording)
    return NULL;
  icd_lock_init(&recording->guard, BASE_LOCK_RECORDING);
  if (rt_recording_create(buffer->context->rt, &recording->first.rt)) {
    free(recording);
    return NULL;
  }
  recording->next = buffer->recordings;
  buffer->recordings = recording;
  return recording;
}

/* Converts a CPU address in a memory object to the GPU address. */
static uint64_t gpu_address(cl_mem mem, const char *cpu) {
  return mem->gpu + (uint64_t)(cpu - mem->cpu);
}

static int record_copy(struct rt_recording *rt, const struct icd_operation *operation) {
  const struct icd_copy *copy = &operation->copy;
  const struct rt_copy out = {
      .target = gpu_address(operation->mems[1], copy->target),
      .source = gpu_address(operation->mems[0], copy->source),
      .region = {copy->region[0], copy->region[1], copy->region[2]},
      .target_row_bytes = copy->target_row_bytes,
      .target_slice_bytes = copy->target_slice_bytes,
      .source_row_bytes = copy->source_row_bytes,
      .source_slice_bytes = copy->source_slice_bytes,
  };
  return rt_recording_copy(rt, &out);
}

static int record_fill(struct rt_recording *rt, const struct icd_operation *operation) {
  const struct icd_fill *fill = &operation->fill;
  const struct rt_fill out = {
      .target = gpu_address(operation->mems[0], fill->target),
      .region = {fill->region[0], fill->region[1], fill->region[2]},
      .row_bytes = fill->row_bytes,
      .slice_bytes = fill->slice_bytes,
      .pattern = fill->pattern,
      .pattern_size = fill->pattern_size,
  };
  return rt_recording_fill(rt, &out);
}

struct icd_operation icd_recorded_launch(cl_kernel kernel, const struct icd_range *range) {
  return (struct icd_operation){.kind = ICD_LAUNCH,
                                .type = CL_COMMAND_NDRANGE_KERNEL,
                                .kernel = kernel,
                                .launch.range = {range->work_dim, range->offset, range->global,
                                                 range->local[0] ? range->local : NULL}};
}

/* Ends a part with a launch that prints, and creates the next part. */
static int end_part(struct icd_part **part, cl_kernel printer) {
  cl_context context = printer->program->context;
  struct icd_part *next = calloc(1, sizeof(*next));
  const int error = next ? rt_recording_create(context->rt, &next->rt) : -ENOMEM;
  if (error) {
    free(next);
    return error;
  }
  icd_kernel_hold(printer);
  (*part)->printer = printer;
  (*part)->next = next;
  *part = next;
  return 0;
}

enum { RECORDED_GRIDS_MAX = 1 << 12 }; /* of a launch */

static cl_int record_launch(struct icd_part **part, const struct icd_dispatch *dispatch, int *error,
                            const char *call) {
  if (icd_is_empty(&dispatch->range))
    return CL_SUCCESS;
  cl_kernel kernel = dispatch->kernel;
  struct icd_operation operation = icd_recorded_launch(kernel, &dispatch->range);
  const cl_int code = icd_launch_begin(&operation, call);
  if (code)
    return code;
  /* Record all grids now, instead of submitting them in parts. */
  const uint64_t grids = rt_launch_grids(kernel->program->context->rt, operation.launch.rt);
  kernel->launch.cut = NULL;
  if (grids > RECORDED_GRIDS_MAX) {
    icd_launch_end(&operation);
    return icd_fail(kernel->program->context, CL_OUT_OF_RESOURCES, call,
                    "the launch needs %llu grids; the limit in a command buffer is %d",
                    (unsigned long long)grids, RECORDED_GRIDS_MAX);
  }
  *error = kernel->code->prints ? end_part(part, kernel)
                                : rt_recording_launch((*part)->rt, operation.launch.rt);
  icd_launch_end(&operation);
  return CL_SUCCESS;
}

/* Returns the launch with its staged changes, if there are any. */
static const struct icd_dispatch *dispatch_of(cl_mutable_command_khr command) {
  return command->staged.kernel ? &command->staged : &command->dispatch;
}

static bool is_complete(cl_command_buffer_khr buffer) {
  for (cl_mutable_command_khr command = buffer->first; command; command = command->next)
    if (command->operation.kind == ICD_LAUNCH && dispatch_of(command)->kernel->unset)
      return false;
  return true;
}

static cl_int record_commands(cl_command_buffer_khr buffer, struct icd_recording *recording,
                              const char *call) {
  cl_int code = CL_SUCCESS;
  int error = 0;
  icd_recording_clear(recording);
  struct icd_part *part = &recording->first;
  for (cl_mutable_command_khr command = buffer->first; command && !code && !error;
       command = command->next) {
    if (command->waits)
      rt_recording_wait(part->rt);
    switch (command->operation.kind) {
    case ICD_LAUNCH:
      code = record_launch(&part, dispatch_of(command), &error, call);
      break;
    case ICD_COPY:
      error = record_copy(part->rt, &command->operation);
      break;
    case ICD_FILL:
      error = record_fill(part->rt, &command->operation);
      break;
    default: /* ICD_MARK has no work */
      break;
    }
  }
  for (part = &recording->first; part && !code && !error; part = part->next)
    error = rt_recording_end(part->rt);
  if (error)
    code = icd_fail(buffer->context, icd_code(error, CL_OUT_OF_HOST_MEMORY), call, "%s",
                    rt_last_message());
  return code;
}

cl_int icd_command_buffer_record(cl_command_buffer_khr buffer, const char *call) {
  if (!is_complete(buffer))
    return CL_SUCCESS;
  struct icd_recording *recording = find_free_recording(buffer);
  if (!recording)
    return icd_fail(buffer->context, CL_OUT_OF_HOST_MEMORY, call, "out of host memory");
  const cl_int code = record_commands(buffer, recording, call);
  if (!code)
    atomic_store(&buffer->current, recording);
  return code;
}

CL_API_ENTRY cl_int CL_API_CALL icd_clFinalizeCommandBufferKHR(cl_command_buffer_khr buffer) {
  static const char call[] = "clFinalizeCommandBufferKHR";
  cl_int code = check_command_buffer(buffer, call);
  if (code)
    return code;
  icd_enter(&buffer->lock);
  if (buffer->finalized)
    code = icd_fail(buffer->context, CL_INVALID_OPERATION, call,
                    "command_buffer has already been finalized");
  else
    code = icd_command_buffer_record(buffer, call);
  if (!code)
    buffer->finalized = true;
  icd_leave(&buffer->lock);
  return code;
}

/* ---- replaying ------------------------------------------------------------------------------- */

/* Returns the current recording and counts a user, so that it is not rewritten until the caller
 * subtracts it again. A recording that was replaced before it was counted may be rewritten, so
 * try again. */
static struct icd_recording *use_current(cl_command_buffer_khr buffer) {
  for (;;) {
    struct icd_recording *recording = atomic_load(&buffer->current);
    if (!recording)
      return NULL;
    atomic_fetch_add(&recording->users, 1);
    if (atomic_load(&buffer->current) == recording)
      return recording;
    atomic_fetch_sub(&recording->users, 1);
  }
}

/* Chooses the queue for a replay. All queues of the context are possible. */
static cl_int choose_queue(cl_command_buffer_khr buffer, cl_uint queue_count,
                           const cl_command_queue *queues, cl_command_queue *queue,
                           const char *call) {
  *queue = buffer->queue;
  if (!queue_count && !queues)
    return CL_SUCCESS;
  if (queue_count != 1 || !queues)
    return icd_fail(buffer->context, CL_INVALID_VALUE, call,
                    "num_queues is %u and queues %p; the command buffer was created for one queue",
                    queue_count, (const void *)queues);
  const cl_int code = icd_check_queue(queues[0], call);
  if (code)
    return code;
  if (queues[0]->context != buffer->context)
    return icd_fail(buffer->context, CL_INVALID_CONTEXT, call,
                    "the queue and the command buffer belong to different contexts");
  *queue = queues[0];
  return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL icd_clEnqueueCommandBufferKHR(
    cl_uint queue_count, cl_command_queue *queues, cl_command_buffer_khr buffer, cl_uint wait_count,
    const cl_event *waits, cl_event *event) {
  static const char call[] = "clEnqueueCommandBufferKHR";
  cl_command_queue queue = NULL;
  cl_int code;
  if ((code = check_command_buffer(buffer, call)) ||
      (code = choose_queue(buffer, queue_count, queues, &queue, call)))
    return code;
  if ((code = icd_check_waits(queue, wait_count, waits, call)))
    return code;
  struct icd_operation operation;
  operation.kind = ICD_REPLAY;
  operation.type = CL_COMMAND_COMMAND_BUFFER_KHR;
  operation.mems[0] = operation.mems[1] = NULL;
  operation.kernel = NULL;
  operation.replay.buffer = buffer;
  struct icd_recording *recording = use_current(buffer);
  if (!recording)
    return icd_fail(buffer->context, CL_INVALID_OPERATION, call,
                    "command_buffer is not executable: it has not been finalized, or kernel "
                    "arguments have not been set");
  operation.replay.recording = recording;
  operation.replay.prints = recording->first.printer;
  code = icd_enqueue_kernels(queue, &operation, wait_count, waits, event, call);
  atomic_fetch_sub(&recording->users, 1);
  return code;
}

/* ---- queries ------------------------------------------------------------------------ */

static cl_command_buffer_state_khr command_buffer_state(cl_command_buffer_khr buffer) {
  base_mutex_lock(&buffer->lock);
  const cl_command_buffer_state_khr state =
      !buffer->finalized              ? CL_COMMAND_BUFFER_STATE_RECORDING_KHR
      : atomic_load(&buffer->current) ? CL_COMMAND_BUFFER_STATE_EXECUTABLE_KHR
                                      : CL_COMMAND_BUFFER_STATE_FINALIZED_KHR;
  base_mutex_unlock(&buffer->lock);
  return state;
}

CL_API_ENTRY cl_int CL_API_CALL icd_clGetCommandBufferInfoKHR(cl_command_buffer_khr buffer,
                                                              cl_command_buffer_info_khr param_name,
                                                              size_t param_value_size,
                                                              void *param_value,
                                                              size_t *param_value_size_ret) {
  static const char call[] = "clGetCommandBufferInfoKHR";
  const struct icd_answer answer = {param_value_size, param_value, param_value_size_ret};
  const cl_int code = check_command_buffer(buffer, call);
  if (code)
    return code;
  switch (param_name) {
  case CL_COMMAND_BUFFER_NUM_QUEUES_KHR:
    return ICD_ANSWER(&answer, cl_uint, 1);
  case CL_COMMAND_BUFFER_QUEUES_KHR:
    return ICD_ANSWER(&answer, cl_command_queue, buffer->queue);
  case CL_COMMAND_BUFFER_REFERENCE_COUNT_KHR:
    return ICD_ANSWER(&answer, cl_uint, atomic_load(&buffer->object.handles));
  case CL_COMMAND_BUFFER_STATE_KHR:
    return ICD_ANSWER(&answer, cl_command_buffer_state_khr, command_buffer_state(buffer));
  case CL_COMMAND_BUFFER_PROPERTIES_ARRAY_KHR:
    return icd_answer_bytes(&answer, call, buffer->properties,
                            buffer->property_count * sizeof(*buffer->properties));
  case CL_COMMAND_BUFFER_CONTEXT_KHR:
    return ICD_ANSWER(&answer, cl_context, buffer->context);
  default:
    return icd_fail(buffer->context, CL_INVALID_VALUE, call, "unknown param_name 0x%x", param_name);
  }
}
