/* Commands that read, write, copy and fill buffers, and their variants for rectangles. The host
 * carries them out in unified memory. Mapping is in map.c.
 */
#include <string.h>

#include "icd/memory/transfer.h"
#include "icd/queue/command.h"

#include "icd/cl_tegracl.h"

cl_int icd_check_mem(cl_command_queue queue, cl_mem mem, const char *call) {
  if (!icd_is_mem(mem))
    return icd_fail(queue->context, CL_INVALID_MEM_OBJECT, call,
                    "memory object %p is not a valid cl_mem", (void *)mem);
  if (mem->context != queue->context)
    return icd_fail(queue->context, CL_INVALID_CONTEXT, call,
                    "the memory object and command_queue belong to different contexts");
  return CL_SUCCESS;
}

cl_int icd_check_buffer(cl_command_queue queue, cl_mem mem, const char *call) {
  const cl_int code = icd_check_mem(queue, mem, call);
  return code || !mem->image ? code
                             : icd_fail(queue->context, CL_INVALID_MEM_OBJECT, call,
                                        "memory object %p is an image, not a buffer", (void *)mem);
}

cl_int icd_check_range(cl_mem mem, size_t offset, size_t size, const char *call) {
  if (offset > mem->size || size > mem->size - offset)
    return icd_fail(mem->context, CL_INVALID_VALUE, call,
                    "%zu bytes at offset %zu exceed the buffer, which has %zu bytes", size, offset,
                    mem->size);
  return CL_SUCCESS;
}

cl_int icd_check_host_access(cl_mem mem, bool read, bool write, const char *call) {
  if ((read && mem->flags & (CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_NO_ACCESS)) ||
      (write && mem->flags & (CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS)))
    return icd_fail(mem->context, CL_INVALID_OPERATION, call,
                    "the CL_MEM_HOST_* flags of the memory object do not allow the host to %s it",
                    read ? "read" : "write");
  return write ? icd_check_mutable(mem, call) : CL_SUCCESS;
}

cl_int icd_check_mutable(cl_mem mem, const char *call) {
  if (mem->flags & CL_MEM_IMMUTABLE_EXT)
    return icd_fail(mem->context, CL_INVALID_OPERATION, call,
                    "the memory object is immutable (CL_MEM_IMMUTABLE_EXT) and cannot be written");
  return CL_SUCCESS;
}

struct icd_operation icd_line(cl_command_type type, char *target, const char *source, size_t size) {
  return (struct icd_operation){
      .kind = size ? ICD_COPY : ICD_MARK,
      .type = type,
      .copy = {.target = target,
               .source = source,
               .region = {size, 1, 1},
               .target_row_bytes = size,
               .target_slice_bytes = size,
               .source_row_bytes = size,
               .source_slice_bytes = size},
  };
}

cl_int icd_check_pattern(cl_command_queue queue, const void *pattern, size_t pattern_size,
                         size_t offset, size_t size, const char *call) {
  if (!pattern)
    return icd_fail(queue->context, CL_INVALID_VALUE, call, "pattern is NULL");
  if (!pattern_size || pattern_size > ICD_PATTERN_BYTES || (pattern_size & (pattern_size - 1)))
    return icd_fail(queue->context, CL_INVALID_VALUE, call,
                    "pattern_size is %zu; it must be a power of two from 1 to %d", pattern_size,
                    ICD_PATTERN_BYTES);
  if (offset % pattern_size || size % pattern_size)
    return icd_fail(
        queue->context, CL_INVALID_VALUE, call,
        "offset or address 0x%zx and size %zu must be multiples of pattern_size, which is %zu",
        offset, size, pattern_size);
  return CL_SUCCESS;
}

struct icd_operation icd_fill_operation(cl_command_type type, char *target, const void *pattern,
                                        size_t pattern_size, size_t size) {
  struct icd_operation operation = {
      .kind = size ? ICD_FILL : ICD_MARK,
      .type = type,
      .fill = {.target = target, .region = {size, 1, 1}, .pattern_size = pattern_size}};
  memcpy(operation.fill.pattern, pattern, pattern_size);
  return operation;
}

/* ---- read, write, copy, fill -------------------------------------------------------- */

cl_int icd_check_host_side(cl_command_queue queue, cl_mem mem, const void *target,
                           const void *source, cl_uint wait_count, const cl_event *waits,
                           const char *call) {
  if (!target && !source)
    return icd_fail(queue->context, CL_INVALID_VALUE, call, "ptr is NULL");
  const cl_int code = icd_check_waits(queue, wait_count, waits, call);
  return code ? code : icd_check_host_access(mem, target, source, call);
}

static cl_int transfer_buffer(cl_command_queue queue, cl_mem buffer, bool blocking, size_t offset,
                              size_t size, void *target, const void *source, cl_uint wait_count,
                              const cl_event *waits, cl_event *event, const char *call) {
  cl_int code;
  if ((code = icd_check_queue(queue, call)) || (code = icd_check_buffer(queue, buffer, call)) ||
      (code = icd_check_range(buffer, offset, size, call)) ||
      (code = icd_check_host_side(queue, buffer, target, source, wait_count, waits, call)))
    return code;
  char *place = buffer->cpu + offset;
  struct icd_operation operation = target ? icd_line(CL_COMMAND_READ_BUFFER, target, place, size)
                                          : icd_line(CL_COMMAND_WRITE_BUFFER, place, source, size);
  operation.mems[0] = buffer;
  return icd_enqueue(queue, &operation, blocking, wait_count, waits, event, call);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueReadBuffer(cl_command_queue queue, cl_mem buffer,
                                                    cl_bool blocking, size_t offset, size_t size,
                                                    void *ptr, cl_uint wait_count,
                                                    const cl_event *waits, cl_event *event) {
  return transfer_buffer(queue, buffer, blocking, offset, size, ptr, NULL, wait_count, waits, event,
                         __func__);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueWriteBuffer(cl_command_queue queue, cl_mem buffer,
                                                     cl_bool blocking, size_t offset, size_t size,
                                                     const void *ptr, cl_uint wait_count,
                                                     const cl_event *waits, cl_event *event) {
  return transfer_buffer(queue, buffer, blocking, offset, size, NULL, ptr, wait_count, waits, event,
                         __func__);
}

cl_int icd_copy_buffer(cl_command_queue queue, cl_mem source, cl_mem target, size_t source_offset,
                       size_t target_offset, size_t size, struct icd_operation *operation,
                       const char *call) {
  cl_int code;
  if ((code = icd_check_buffer(queue, source, call)) ||
      (code = icd_check_buffer(queue, target, call)) ||
      (code = icd_check_range(source, source_offset, size, call)) ||
      (code = icd_check_range(target, target_offset, size, call)) ||
      (code = icd_check_mutable(target, call)))
    return code;
  char *to = target->cpu + target_offset;
  const char *from = source->cpu + source_offset;
  if (source->buffer == target->buffer && to < from + size && from < to + size)
    return icd_fail(queue->context, CL_MEM_COPY_OVERLAP, call,
                    "the source and destination regions overlap");
  *operation = icd_line(CL_COMMAND_COPY_BUFFER, to, from, size);
  operation->mems[0] = source;
  operation->mems[1] = target;
  return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueCopyBuffer(cl_command_queue queue, cl_mem source,
                                                    cl_mem target, size_t source_offset,
                                                    size_t target_offset, size_t size,
                                                    cl_uint wait_count, const cl_event *waits,
                                                    cl_event *event) {
  struct icd_operation operation;
  cl_int code;
  if ((code = icd_check_queue(queue, __func__)) ||
      (code = icd_copy_buffer(queue, source, target, source_offset, target_offset, size, &operation,
                              __func__)))
    return code;
  return icd_enqueue_checked(queue, &operation, wait_count, waits, event, __func__);
}

cl_int icd_fill_buffer(cl_command_queue queue, cl_mem buffer, const void *pattern,
                       size_t pattern_size, size_t offset, size_t size,
                       struct icd_operation *operation, const char *call) {
  cl_int code;
  if ((code = icd_check_buffer(queue, buffer, call)) ||
      (code = icd_check_range(buffer, offset, size, call)) ||
      (code = icd_check_mutable(buffer, call)) ||
      (code = icd_check_pattern(queue, pattern, pattern_size, offset, size, call)))
    return code;
  *operation =
      icd_fill_operation(CL_COMMAND_FILL_BUFFER, buffer->cpu + offset, pattern, pattern_size, size);
  operation->mems[0] = buffer;
  return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueFillBuffer(cl_command_queue queue, cl_mem buffer,
                                                    const void *pattern, size_t pattern_size,
                                                    size_t offset, size_t size, cl_uint wait_count,
                                                    const cl_event *waits, cl_event *event) {
  struct icd_operation operation;
  cl_int code;
  if ((code = icd_check_queue(queue, __func__)) ||
      (code = icd_fill_buffer(queue, buffer, pattern, pattern_size, offset, size, &operation,
                              __func__)))
    return code;
  return icd_enqueue_checked(queue, &operation, wait_count, waits, event, __func__);
}

/* ---- rectangles ----------------------------------------------------------------------- */

/* The source or destination of a rectangular copy. */
struct side {
  const size_t *origin;
  size_t row_bytes, slice_bytes; /* pitches; 0, tightly packed, is replaced */
  size_t first_byte, end_byte;   /* offsets from the start of the memory */
};

/* Replaces pitches of 0, checks the pitches, and computes the range of bytes. Returns
 * CL_INVALID_VALUE if anything is invalid. */
static cl_int place_rectangle(cl_context context, struct side *side, const size_t *region,
                              const char *call) {
  if (!side->origin || !region)
    return icd_fail(context, CL_INVALID_VALUE, call, "origin or region is NULL");
  if (!region[0] || !region[1] || !region[2])
    return icd_fail(context, CL_INVALID_VALUE, call, "region is %zu x %zu x %zu; no size may be 0",
                    region[0], region[1], region[2]);
  bool huge = false;
  if (!side->row_bytes)
    side->row_bytes = region[0];
  size_t least_slice;
  huge |= __builtin_mul_overflow(region[1], side->row_bytes, &least_slice);
  if (!side->slice_bytes)
    side->slice_bytes = least_slice;
  if (side->row_bytes < region[0])
    return icd_fail(context, CL_INVALID_VALUE, call,
                    "row pitch is %zu; it must be at least region[0], which is %zu",
                    side->row_bytes, region[0]);
  if (huge || side->slice_bytes < least_slice || side->slice_bytes % side->row_bytes)
    return icd_fail(context, CL_INVALID_VALUE, call,
                    "slice pitch is %zu; it must be a multiple of the row pitch %zu and at least "
                    "region[1] (%zu) rows",
                    side->slice_bytes, side->row_bytes, region[1]);
  size_t z, y, sum;
  huge |= __builtin_mul_overflow(side->origin[2], side->slice_bytes, &z);
  huge |= __builtin_mul_overflow(side->origin[1], side->row_bytes, &y);
  huge |= __builtin_add_overflow(z, y, &sum);
  huge |= __builtin_add_overflow(sum, side->origin[0], &side->first_byte);
  huge |= __builtin_mul_overflow(region[2] - 1, side->slice_bytes, &z);
  huge |= __builtin_mul_overflow(region[1] - 1, side->row_bytes, &y);
  huge |= __builtin_add_overflow(z, y, &sum);
  huge |= __builtin_add_overflow(sum, region[0], &sum);
  huge |= __builtin_add_overflow(side->first_byte, sum, &side->end_byte);
  if (huge)
    return icd_fail(context, CL_INVALID_VALUE, call, "the region exceeds the address space");
  return CL_SUCCESS;
}

static struct icd_operation copy_operation(cl_command_type type, char *target,
                                           const struct side *to, const char *source,
                                           const struct side *from, const size_t *region) {
  return (struct icd_operation){
      .kind = ICD_COPY,
      .type = type,
      .copy = {.target = target + to->first_byte,
               .source = source + from->first_byte,
               .region = {region[0], region[1], region[2]},
               .target_row_bytes = to->row_bytes,
               .target_slice_bytes = to->slice_bytes,
               .source_row_bytes = from->row_bytes,
               .source_slice_bytes = from->slice_bytes},
  };
}

static cl_int transfer_rect(cl_command_queue queue, cl_mem buffer, bool blocking,
                            struct side *device, struct side *host, const size_t *region,
                            void *target, const void *source, cl_uint wait_count,
                            const cl_event *waits, cl_event *event, const char *call) {
  cl_int code;
  if ((code = icd_check_queue(queue, call)) || (code = icd_check_buffer(queue, buffer, call)) ||
      (code = place_rectangle(queue->context, device, region, call)) ||
      (code = icd_check_range(buffer, device->first_byte, device->end_byte - device->first_byte,
                              call)) ||
      (code = place_rectangle(queue->context, host, region, call)) ||
      (code = icd_check_host_side(queue, buffer, target, source, wait_count, waits, call)))
    return code;
  struct icd_operation operation =
      target
          ? copy_operation(CL_COMMAND_READ_BUFFER_RECT, target, host, buffer->cpu, device, region)
          : copy_operation(CL_COMMAND_WRITE_BUFFER_RECT, buffer->cpu, device, source, host, region);
  operation.mems[0] = buffer;
  return icd_enqueue(queue, &operation, blocking, wait_count, waits, event, call);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueReadBufferRect(
    cl_command_queue queue, cl_mem buffer, cl_bool blocking, const size_t *buffer_origin,
    const size_t *host_origin, const size_t *region, size_t buffer_row_pitch,
    size_t buffer_slice_pitch, size_t host_row_pitch, size_t host_slice_pitch, void *ptr,
    cl_uint wait_count, const cl_event *waits, cl_event *event) {
  struct side device = {
      .origin = buffer_origin, .row_bytes = buffer_row_pitch, .slice_bytes = buffer_slice_pitch};
  struct side host = {
      .origin = host_origin, .row_bytes = host_row_pitch, .slice_bytes = host_slice_pitch};
  return transfer_rect(queue, buffer, blocking, &device, &host, region, ptr, NULL, wait_count,
                       waits, event, __func__);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueWriteBufferRect(
    cl_command_queue queue, cl_mem buffer, cl_bool blocking, const size_t *buffer_origin,
    const size_t *host_origin, const size_t *region, size_t buffer_row_pitch,
    size_t buffer_slice_pitch, size_t host_row_pitch, size_t host_slice_pitch, const void *ptr,
    cl_uint wait_count, const cl_event *waits, cl_event *event) {
  struct side device = {
      .origin = buffer_origin, .row_bytes = buffer_row_pitch, .slice_bytes = buffer_slice_pitch};
  struct side host = {
      .origin = host_origin, .row_bytes = host_row_pitch, .slice_bytes = host_slice_pitch};
  return transfer_rect(queue, buffer, blocking, &device, &host, region, NULL, ptr, wait_count,
                       waits, event, __func__);
}

cl_int icd_copy_buffer_rect(cl_command_queue queue, cl_mem source, cl_mem target,
                            const struct icd_rectangles *r, struct icd_operation *operation,
                            const char *call) {
  struct side from = {.origin = r->source_origin,
                      .row_bytes = r->source_row_bytes,
                      .slice_bytes = r->source_slice_bytes};
  struct side to = {.origin = r->target_origin,
                    .row_bytes = r->target_row_bytes,
                    .slice_bytes = r->target_slice_bytes};
  cl_int code;
  if ((code = icd_check_buffer(queue, source, call)) ||
      (code = icd_check_buffer(queue, target, call)) ||
      (code = place_rectangle(queue->context, &from, r->region, call)) ||
      (code = icd_check_range(source, from.first_byte, from.end_byte - from.first_byte, call)) ||
      (code = place_rectangle(queue->context, &to, r->region, call)) ||
      (code = icd_check_range(target, to.first_byte, to.end_byte - to.first_byte, call)) ||
      (code = icd_check_mutable(target, call)))
    return code;
  if (source == target && (from.row_bytes != to.row_bytes || from.slice_bytes != to.slice_bytes))
    return icd_fail(queue->context, CL_INVALID_VALUE, call,
                    "source and destination are the same buffer, but their pitches differ");
  *operation =
      copy_operation(CL_COMMAND_COPY_BUFFER_RECT, target->cpu, &to, source->cpu, &from, r->region);
  operation->mems[0] = source;
  operation->mems[1] = target;
  const size_t *region = r->region;
  const struct icd_box from_box = {.region = {region[0], region[1], region[2]},
                                   .row_bytes = from.row_bytes,
                                   .slice_bytes = from.slice_bytes};
  const struct icd_box to_box = {.region = {region[0], region[1], region[2]},
                                 .row_bytes = to.row_bytes,
                                 .slice_bytes = to.slice_bytes};
  if (source->buffer == target->buffer &&
      icd_boxes_overlap(operation->copy.source, &from_box, operation->copy.target, &to_box))
    return icd_fail(queue->context, CL_MEM_COPY_OVERLAP, call,
                    "the source and destination regions overlap");
  return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueCopyBufferRect(
    cl_command_queue queue, cl_mem source, cl_mem target, const size_t *source_origin,
    const size_t *target_origin, const size_t *region, size_t source_row_pitch,
    size_t source_slice_pitch, size_t target_row_pitch, size_t target_slice_pitch,
    cl_uint wait_count, const cl_event *waits, cl_event *event) {
  const struct icd_rectangles rectangles = {.source_origin = source_origin,
                                            .target_origin = target_origin,
                                            .region = region,
                                            .source_row_bytes = source_row_pitch,
                                            .source_slice_bytes = source_slice_pitch,
                                            .target_row_bytes = target_row_pitch,
                                            .target_slice_bytes = target_slice_pitch};
  struct icd_operation operation;
  cl_int code;
  if ((code = icd_check_queue(queue, __func__)) ||
      (code = icd_copy_buffer_rect(queue, source, target, &rectangles, &operation, __func__)))
    return code;
  return icd_enqueue_checked(queue, &operation, wait_count, waits, event, __func__);
}
