/* Recording of commands into a command buffer. Commands on memory are prepared as for a queue
 * (transfer.c, enqueue_image.c, svm_commands.c). A launch uses a clone of the kernel, so that later
 * changes of the kernel do not affect it.
 */
#include <stdlib.h>
#include <string.h>

#include "icd/command_buffer/command_buffer.h"
#include "icd/memory/svm.h"
#include "icd/memory/transfer.h"

/* The parameters that all functions here have. */
struct place {
  const char *call;
  cl_command_buffer_khr buffer;
  cl_command_queue queue;
  const cl_command_properties_khr *properties;
  cl_uint wait_count;
  const cl_sync_point_khr *waits;
  cl_sync_point_khr *sync_point;
  cl_mutable_command_khr *handle;
};
#define PLACE(name)                                                                                \
  { (name), buffer, queue, properties, wait_count, waits, sync_point, handle }

static cl_int check_place(const struct place *place) {
  if (!icd_is_command_buffer(place->buffer))
    return icd_fail(NULL, CL_INVALID_COMMAND_BUFFER_KHR, place->call,
                    "command_buffer %p is not a valid cl_command_buffer_khr",
                    (void *)place->buffer);
  if (place->queue)
    return icd_fail(place->buffer->context, CL_INVALID_COMMAND_QUEUE, place->call,
                    "command_queue is %p; it must be NULL, because a command buffer has one queue",
                    (void *)place->queue);
  return CL_SUCCESS;
}

/* Checks the parameters of a command that cannot be changed later. */
static cl_int check_fixed(const struct place *place) {
  const cl_int code = check_place(place);
  if (code)
    return code;
  if (place->properties && *place->properties)
    return icd_fail(place->buffer->context, CL_INVALID_VALUE, place->call,
                    "unknown property 0x%llx", (unsigned long long)*place->properties);
  if (place->handle)
    return icd_fail(place->buffer->context, CL_INVALID_VALUE, place->call,
                    "mutable_handle must be NULL, because only clCommandNDRangeKernelKHR records "
                    "commands that can be changed");
  return CL_SUCCESS;
}

/* ---- the order ----------------------------------------------------------------------------- */

/* Checks the wait list. A sync point is the number of a command, starting at 1. The caller holds
 * the buffer's lock. */
static cl_int check_waits(const struct place *place) {
  cl_context context = place->buffer->context;
  if (!place->wait_count != !place->waits)
    return icd_fail(context, CL_INVALID_SYNC_POINT_WAIT_LIST_KHR, place->call,
                    "num_sync_points_in_wait_list is %u, but sync_point_wait_list is %s",
                    place->wait_count, place->waits ? "not NULL" : "NULL");
  for (cl_uint i = 0; i < place->wait_count; i++)
    if (!place->waits[i] || place->waits[i] > place->buffer->count)
      return icd_fail(
          context, CL_INVALID_SYNC_POINT_WAIT_LIST_KHR, place->call,
          "sync_point_wait_list[%u] is %u, which is not a sync point of the command buffer", i,
          place->waits[i]);
  return CL_SUCCESS;
}

/* Whether a command must wait for earlier ones. The GPU can only wait for all of them. */
static bool must_wait(const struct place *place, cl_command_type type) {
  const struct _cl_command_buffer_khr *buffer = place->buffer;
  cl_uint last = icd_in_order(buffer->queue) || (type == CL_COMMAND_BARRIER && !place->wait_count)
                     ? buffer->count
                     : 0;
  for (cl_uint i = 0; i < place->wait_count; i++)
    if (place->waits[i] > last)
      last = place->waits[i];
  return last > buffer->settled;
}

/* Appends a command. Takes over the command, even on failure. */
static cl_int append_command(const struct place *place, cl_mutable_command_khr command) {
  static const struct icd_kind kind = {.magic = ICD_MAGIC_MUTABLE_COMMAND};
  cl_command_buffer_khr buffer = place->buffer;
  cl_int code = CL_SUCCESS;
  icd_enter(&buffer->lock);
  if (buffer->finalized)
    code = icd_fail(buffer->context, CL_INVALID_OPERATION, place->call,
                    "command_buffer has already been finalized");
  else if (buffer->count == CL_UINT_MAX)
    code = icd_fail(buffer->context, CL_OUT_OF_RESOURCES, place->call,
                    "command_buffer already has the maximum of %u commands", CL_UINT_MAX);
  else
    code = check_waits(place);
  if (!code) {
    command->waits = must_wait(place, command->operation.type);
    if (command->waits)
      buffer->settled = buffer->count;
    *buffer->end = command;
    buffer->end = &command->next;
    buffer->count++;
    icd_object_init(&command->object, &kind);
    if (place->sync_point)
      *place->sync_point = buffer->count;
    if (place->handle)
      *place->handle = command;
  }
  icd_leave(&buffer->lock);
  if (code)
    icd_mutable_command_free(command);
  return code;
}

/* Creates a command with references to its mems. It is not yet in the buffer. */
static cl_mutable_command_khr create_command(const struct place *place,
                                             const struct icd_operation *operation) {
  cl_mutable_command_khr command = icd_object_new(ICD_MAGIC_MUTABLE_COMMAND, sizeof(*command));
  if (!command) {
    icd_fail(place->buffer->context, CL_OUT_OF_HOST_MEMORY, place->call, "out of host memory");
    return NULL;
  }
  command->buffer = place->buffer;
  command->operation = *operation;
  for (int i = 0; i < 2; i++)
    if (operation->mems[i])
      icd_mem_hold(operation->mems[i]);
  return command;
}

static cl_int record_command(const struct place *place, const struct icd_operation *operation) {
  cl_mutable_command_khr command = create_command(place, operation);
  return command ? append_command(place, command) : CL_OUT_OF_HOST_MEMORY;
}

/* ---- barriers, copies, fills -------------------------------------------------------- */

CL_API_ENTRY cl_int CL_API_CALL icd_clCommandBarrierWithWaitListKHR(ICD_RECORD_HEAD,
                                                                    ICD_RECORD_TAIL) {
  const struct place place = PLACE("clCommandBarrierWithWaitListKHR");
  const struct icd_operation operation = {.kind = ICD_MARK, .type = CL_COMMAND_BARRIER};
  const cl_int code = check_fixed(&place);
  return code ? code : record_command(&place, &operation);
}

CL_API_ENTRY cl_int CL_API_CALL icd_clCommandCopyBufferKHR(ICD_RECORD_HEAD, cl_mem source,
                                                           cl_mem target, size_t source_offset,
                                                           size_t target_offset, size_t size,
                                                           ICD_RECORD_TAIL) {
  const struct place place = PLACE("clCommandCopyBufferKHR");
  struct icd_operation operation;
  cl_int code;
  if ((code = check_fixed(&place)) ||
      (code = icd_copy_buffer(buffer->queue, source, target, source_offset, target_offset, size,
                              &operation, place.call)))
    return code;
  return record_command(&place, &operation);
}

CL_API_ENTRY cl_int CL_API_CALL icd_clCommandCopyBufferRectKHR(
    ICD_RECORD_HEAD, cl_mem source, cl_mem target, const size_t *source_origin,
    const size_t *target_origin, const size_t *region, size_t source_row_bytes,
    size_t source_slice_bytes, size_t target_row_bytes, size_t target_slice_bytes,
    ICD_RECORD_TAIL) {
  const struct place place = PLACE("clCommandCopyBufferRectKHR");
  const struct icd_rectangles rectangles = {.source_origin = source_origin,
                                            .target_origin = target_origin,
                                            .region = region,
                                            .source_row_bytes = source_row_bytes,
                                            .source_slice_bytes = source_slice_bytes,
                                            .target_row_bytes = target_row_bytes,
                                            .target_slice_bytes = target_slice_bytes};
  struct icd_operation operation;
  cl_int code;
  if ((code = check_fixed(&place)) ||
      (code = icd_copy_buffer_rect(buffer->queue, source, target, &rectangles, &operation,
                                   place.call)))
    return code;
  return record_command(&place, &operation);
}

CL_API_ENTRY cl_int CL_API_CALL icd_clCommandCopyBufferToImageKHR(ICD_RECORD_HEAD, cl_mem source,
                                                                  cl_mem target, size_t offset,
                                                                  const size_t *origin,
                                                                  const size_t *region,
                                                                  ICD_RECORD_TAIL) {
  const struct place place = PLACE("clCommandCopyBufferToImageKHR");
  struct icd_operation operation;
  cl_int code;
  if ((code = check_fixed(&place)) ||
      (code = icd_copy_buffer_to_image(buffer->queue, source, target, offset, origin, region,
                                       &operation, place.call)))
    return code;
  return record_command(&place, &operation);
}

CL_API_ENTRY cl_int CL_API_CALL icd_clCommandCopyImageKHR(ICD_RECORD_HEAD, cl_mem source,
                                                          cl_mem target,
                                                          const size_t *source_origin,
                                                          const size_t *target_origin,
                                                          const size_t *region, ICD_RECORD_TAIL) {
  const struct place place = PLACE("clCommandCopyImageKHR");
  struct icd_operation operation;
  cl_int code;
  if ((code = check_fixed(&place)) ||
      (code = icd_copy_image(buffer->queue, source, target, source_origin, target_origin, region,
                             &operation, place.call)))
    return code;
  return record_command(&place, &operation);
}

CL_API_ENTRY cl_int CL_API_CALL icd_clCommandCopyImageToBufferKHR(ICD_RECORD_HEAD, cl_mem source,
                                                                  cl_mem target,
                                                                  const size_t *origin,
                                                                  const size_t *region,
                                                                  size_t offset, ICD_RECORD_TAIL) {
  const struct place place = PLACE("clCommandCopyImageToBufferKHR");
  struct icd_operation operation;
  cl_int code;
  if ((code = check_fixed(&place)) ||
      (code = icd_copy_image_to_buffer(buffer->queue, source, target, origin, region, offset,
                                       &operation, place.call)))
    return code;
  return record_command(&place, &operation);
}

CL_API_ENTRY cl_int CL_API_CALL icd_clCommandFillBufferKHR(ICD_RECORD_HEAD, cl_mem mem,
                                                           const void *pattern, size_t pattern_size,
                                                           size_t offset, size_t size,
                                                           ICD_RECORD_TAIL) {
  const struct place place = PLACE("clCommandFillBufferKHR");
  struct icd_operation operation;
  cl_int code;
  if ((code = check_fixed(&place)) ||
      (code = icd_fill_buffer(buffer->queue, mem, pattern, pattern_size, offset, size, &operation,
                              place.call)))
    return code;
  return record_command(&place, &operation);
}

CL_API_ENTRY cl_int CL_API_CALL icd_clCommandFillImageKHR(ICD_RECORD_HEAD, cl_mem image,
                                                          const void *color, const size_t *origin,
                                                          const size_t *region, ICD_RECORD_TAIL) {
  const struct place place = PLACE("clCommandFillImageKHR");
  struct icd_operation operation;
  cl_int code;
  if ((code = check_fixed(&place)) ||
      (code = icd_fill_image(buffer->queue, image, color, origin, region, &operation, place.call)))
    return code;
  return record_command(&place, &operation);
}

/* ---- shared virtual memory ---------------------------------------------------------- */

/* Finds the allocation that contains the whole range. The GPU cannot access other host memory,
 * and a replay does not check the range again. */
static cl_int find_svm(const struct place *place, const void *pointer, size_t size, cl_mem *mem) {
  *mem = icd_svm_find(place->buffer->context, pointer);
  if (*mem && size <= (*mem)->size - (size_t)((const char *)pointer - (*mem)->cpu))
    return CL_SUCCESS;
  return icd_fail(place->buffer->context, CL_INVALID_VALUE, place->call,
                  "%zu bytes at %p are not inside one allocation of shared virtual memory", size,
                  pointer);
}

/* Records an operation, with references to the allocations that contain target and source.
 * source may be NULL. */
static cl_int record_svm(const struct place *place, struct icd_operation *operation,
                         const void *target, const void *source, size_t size) {
  cl_mem mems[2] = {NULL, NULL};
  cl_int code = source ? find_svm(place, source, size, &mems[0]) : CL_SUCCESS;
  if (!code)
    code = find_svm(place, target, size, &mems[source ? 1 : 0]);
  if (!code) {
    memcpy(operation->mems, mems, sizeof(mems));
    code = record_command(place, operation);
  }
  for (int i = 0; i < 2; i++)
    if (mems[i])
      icd_mem_drop(mems[i]);
  return code;
}

CL_API_ENTRY cl_int CL_API_CALL icd_clCommandSVMMemcpyKHR(ICD_RECORD_HEAD, void *target,
                                                          const void *source, size_t size,
                                                          ICD_RECORD_TAIL) {
  const struct place place = PLACE("clCommandSVMMemcpyKHR");
  struct icd_operation operation;
  cl_int code;
  if ((code = check_place(&place)) || (code = icd_check_svm(buffer->context, place.call)) ||
      (code = check_fixed(&place)) ||
      (code = icd_svm_copy_operation(buffer->queue, CL_COMMAND_SVM_MEMCPY, target, source, size,
                                     &operation, place.call)))
    return code;
  return record_svm(&place, &operation, target, source, size);
}

CL_API_ENTRY cl_int CL_API_CALL icd_clCommandSVMMemFillKHR(ICD_RECORD_HEAD, void *target,
                                                           const void *pattern, size_t pattern_size,
                                                           size_t size, ICD_RECORD_TAIL) {
  const struct place place = PLACE("clCommandSVMMemFillKHR");
  struct icd_operation operation;
  cl_int code;
  if ((code = check_place(&place)) || (code = icd_check_svm(buffer->context, place.call)) ||
      (code = check_fixed(&place)) ||
      (code = icd_svm_fill_operation(buffer->queue, CL_COMMAND_SVM_MEMFILL, target, pattern,
                                     pattern_size, size, &operation, place.call)))
    return code;
  return record_svm(&place, &operation, target, NULL, size);
}

/* ---- launches ----------------------------------------------------------------------- */

/* The properties of a launch. */
struct launch_properties {
  cl_mutable_dispatch_fields_khr fields;
  cl_mutable_dispatch_asserts_khr asserts;
  bool defers; /* arguments may be set after recording */
  size_t words;
};

static cl_int read_launch_properties(const struct place *place, struct launch_properties *given) {
  cl_context context = place->buffer->context;
  const cl_mutable_dispatch_fields_khr can = icd_mutable_fields(context->device->info);
  *given = (struct launch_properties){.fields = can, .asserts = place->buffer->asserts};
  struct icd_flag_property known[2] = {
      {.name = CL_MUTABLE_DISPATCH_UPDATABLE_FIELDS_KHR,
       .known = can | CL_MUTABLE_DISPATCH_EXEC_INFO_KHR,
       .value = &given->fields},
      {.name = CL_MUTABLE_DISPATCH_ASSERTS_KHR,
       .known = CL_MUTABLE_DISPATCH_ASSERT_NO_ADDITIONAL_WORK_GROUPS_KHR,
       .value = &given->asserts}};
  const cl_int code = icd_read_flags(context, place->properties, known, &given->words, place->call);
  if (code)
    return code;
  if (given->fields & ~can)
    return icd_fail(
        context, CL_INVALID_OPERATION, place->call,
        "CL_MUTABLE_DISPATCH_UPDATABLE_FIELDS_KHR is 0x%llx, but the device only supports 0x%llx",
        (unsigned long long)given->fields, (unsigned long long)can);
  given->asserts |= place->buffer->asserts;
  given->defers = place->buffer->flags & CL_COMMAND_BUFFER_MUTABLE_KHR && known[0].seen &&
                  given->fields & CL_MUTABLE_DISPATCH_ARGUMENTS_KHR;
  return CL_SUCCESS;
}

/* Checks the launch as far as its arguments are known. No other thread uses its kernel yet. */
static cl_int try_launch(const struct place *place, const struct icd_dispatch *dispatch,
                         bool defers) {
  struct icd_operation operation = icd_recorded_launch(dispatch->kernel, &dispatch->range);
  cl_kernel kernel = dispatch->kernel;
  if (kernel->unset || icd_is_empty(&dispatch->range))
    return defers ? CL_SUCCESS : icd_check_arguments(kernel, place->call);
  const cl_int code = icd_launch_begin(&operation, place->call);
  if (!code)
    icd_launch_end(&operation);
  return code;
}

static cl_int record_launch(const struct place *place, cl_kernel kernel,
                            const struct icd_range *range, const struct launch_properties *given) {
  const struct icd_operation operation = {.kind = ICD_LAUNCH, .type = CL_COMMAND_NDRANGE_KERNEL};
  cl_mutable_command_khr command = create_command(place, &operation);
  if (!command)
    return CL_OUT_OF_HOST_MEMORY;
  command->fields = given->fields;
  command->property_count = given->words;
  command->dispatch =
      (struct icd_dispatch){icd_kernel_clone(kernel, BASE_LOCK_RECORDED_KERNEL), *range};
  if (given->words)
    command->properties = malloc(given->words * sizeof(*command->properties));
  if (!command->dispatch.kernel || (given->words && !command->properties)) {
    icd_mutable_command_free(command);
    return icd_fail(place->buffer->context, CL_OUT_OF_HOST_MEMORY, place->call,
                    "out of host memory");
  }
  if (given->words)
    memcpy(command->properties, place->properties, given->words * sizeof(*command->properties));
  icd_kernel_hold(kernel);
  command->kernel = kernel;
  const cl_int code = try_launch(place, &command->dispatch, given->defers);
  if (code) {
    icd_mutable_command_free(command);
    return code;
  }
  return append_command(place, command);
}

CL_API_ENTRY cl_int CL_API_CALL icd_clCommandNDRangeKernelKHR(
    ICD_RECORD_HEAD, cl_kernel kernel, cl_uint work_dim, const size_t *offset, const size_t *global,
    const size_t *local, ICD_RECORD_TAIL) {
  const struct place place = PLACE("clCommandNDRangeKernelKHR");
  const struct icd_given_range sizes = {work_dim, offset, global, local};
  struct icd_range range;
  struct launch_properties given;
  cl_int code;
  if ((code = check_place(&place)) || (code = read_launch_properties(&place, &given)) ||
      (code = icd_check_launch(buffer->context, kernel, work_dim, place.call)) ||
      (code = icd_read_range(kernel, &sizes, &range, place.call)))
    return code;
  if (!global)
    memset(range.global, 0, sizeof(range.global));
  if (given.asserts && !local)
    return icd_fail(buffer->context, CL_INVALID_VALUE, place.call,
                    "CL_MUTABLE_DISPATCH_ASSERT_NO_ADDITIONAL_WORK_GROUPS_KHR requires "
                    "local_work_size, which is NULL");
  return record_launch(&place, kernel, &range, &given);
}
