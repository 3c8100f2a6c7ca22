/* Commands that read, write, copy and fill images. The host carries them out in unified memory.
 * Mapping is in map.c.
 */
#include <string.h>

#include "icd/image/image.h"
#include "icd/image/image_format.h"
#include "icd/memory/transfer.h"

/* Returns the operation that copies a box from one memory to another. */
static struct icd_operation copy_operation(cl_command_type type, char *target,
                                           const struct icd_box *to, const char *source,
                                           const struct icd_box *from) {
  return (struct icd_operation){
      .kind = ICD_COPY,
      .type = type,
      .copy = {.target = target + to->offset,
               .source = source + from->offset,
               .region = {from->region[0], from->region[1], from->region[2]},
               .target_row_bytes = to->row_bytes,
               .target_slice_bytes = to->slice_bytes,
               .source_row_bytes = from->row_bytes,
               .source_slice_bytes = from->slice_bytes},
  };
}

/* Describes the host memory of a transfer of box. A pitch of 0 means that there are no gaps. */
static cl_int host_box(cl_mem image, const struct icd_box *box, size_t row_pitch,
                       size_t slice_pitch, struct icd_box *host, const char *call) {
  const cl_mem_object_type type = image->image->type;
  const bool layers_are_rows = type == CL_MEM_OBJECT_IMAGE1D_ARRAY;
  const bool sliced = image->image->slice_pitch;
  const size_t row = row_pitch ? row_pitch : box->region[0];
  const size_t layers = box->region[layers_are_rows ? 1 : 2];
  size_t least, all;
  if (row < box->region[0] ||
      __builtin_mul_overflow(row, layers_are_rows ? 1 : box->region[1], &least) ||
      (slice_pitch && (!sliced || slice_pitch < least)) ||
      __builtin_mul_overflow(slice_pitch ? slice_pitch : least, layers, &all))
    return icd_fail(
        image->context, CL_INVALID_VALUE, call,
        "row_pitch %zu or slice_pitch %zu is invalid for a region whose rows have %zu bytes",
        row_pitch, slice_pitch, box->region[0]);
  const size_t slice = slice_pitch ? slice_pitch : least;
  *host = (struct icd_box){.region = {box->region[0], box->region[1], box->region[2]},
                           .row_bytes = layers_are_rows ? slice : row,
                           .slice_bytes = slice};
  return CL_SUCCESS;
}

/* Describes the packed texels of box in a buffer, starting at offset. */
static cl_int buffer_box(cl_mem buffer, size_t offset, const struct icd_box *box,
                         struct icd_box *out, const char *call) {
  *out = (struct icd_box){.offset = offset,
                          .region = {box->region[0], box->region[1], box->region[2]},
                          .row_bytes = box->region[0],
                          .slice_bytes = box->region[0] * box->region[1]};
  return icd_check_range(buffer, offset, out->slice_bytes * box->region[2], call);
}

/* ---- read and write ------------------------------------------------------------------- */

static cl_int transfer_image(cl_command_queue queue, cl_mem image, bool blocking,
                             const size_t *origin, const size_t *region, size_t row_pitch,
                             size_t slice_pitch, void *target, const void *source,
                             cl_uint wait_count, const cl_event *waits, cl_event *event,
                             const char *call) {
  cl_int code;
  struct icd_box device = {0}, host = {0};
  if ((code = icd_check_queue(queue, call)) || (code = icd_check_image(queue, image, call)) ||
      (code = icd_image_box(image, origin, region, &device, call)) ||
      (code = host_box(image, &device, row_pitch, slice_pitch, &host, call)) ||
      (code = icd_check_host_side(queue, image, target, source, wait_count, waits, call)))
    return code;
  struct icd_operation operation =
      target ? copy_operation(CL_COMMAND_READ_IMAGE, target, &host, image->cpu, &device)
             : copy_operation(CL_COMMAND_WRITE_IMAGE, image->cpu, &device, source, &host);
  operation.mems[0] = image;
  return icd_enqueue(queue, &operation, blocking, wait_count, waits, event, call);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueReadImage(cl_command_queue queue, cl_mem image,
                                                   cl_bool blocking, const size_t *origin,
                                                   const size_t *region, size_t row_pitch,
                                                   size_t slice_pitch, void *ptr,
                                                   cl_uint wait_count, const cl_event *waits,
                                                   cl_event *event) {
  return transfer_image(queue, image, blocking, origin, region, row_pitch, slice_pitch, ptr, NULL,
                        wait_count, waits, event, __func__);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueWriteImage(cl_command_queue queue, cl_mem image,
                                                    cl_bool blocking, const size_t *origin,
                                                    const size_t *region, size_t row_pitch,
                                                    size_t slice_pitch, const void *ptr,
                                                    cl_uint wait_count, const cl_event *waits,
                                                    cl_event *event) {
  return transfer_image(queue, image, blocking, origin, region, row_pitch, slice_pitch, NULL, ptr,
                        wait_count, waits, event, __func__);
}

/* ---- copies and fills -------------------------------------------------------------------- */

static bool boxes_overlap(const size_t *a, const size_t *b, const size_t *region) {
  for (unsigned i = 0; i < 3; i++)
    if (a[i] >= b[i] + region[i] || b[i] >= a[i] + region[i])
      return false;
  return true;
}

static cl_int make_copy(cl_command_type type, cl_mem source, const struct icd_box *from,
                        cl_mem target, const struct icd_box *to, struct icd_operation *operation,
                        const char *call) {
  *operation = copy_operation(type, target->cpu, to, source->cpu, from);
  operation->mems[0] = source;
  operation->mems[1] = target;
  return icd_check_mutable(target, call);
}

cl_int icd_copy_image(cl_command_queue queue, cl_mem source, cl_mem target,
                      const size_t *source_origin, const size_t *target_origin,
                      const size_t *region, struct icd_operation *operation, const char *call) {
  cl_int code;
  struct icd_box from = {0}, to = {0};
  if ((code = icd_check_image(queue, source, call)) ||
      (code = icd_check_image(queue, target, call)))
    return code;
  if (memcmp(&source->image->format, &target->image->format, sizeof(cl_image_format)) != 0)
    return icd_fail(queue->context, CL_IMAGE_FORMAT_MISMATCH, call,
                    "src_image and dst_image have different image formats");
  if ((code = icd_image_box(source, source_origin, region, &from, call)) ||
      (code = icd_image_box(target, target_origin, region, &to, call)))
    return code;
  if (source == target && boxes_overlap(source_origin, target_origin, region))
    return icd_fail(queue->context, CL_MEM_COPY_OVERLAP, call,
                    "the source and destination regions overlap");
  return make_copy(CL_COMMAND_COPY_IMAGE, source, &from, target, &to, operation, call);
}

/* Checks the objects of a copy between an image and a buffer. An image buffer cannot be copied to
 * or from the buffer whose memory it uses. */
static cl_int check_pair(cl_command_queue queue, cl_mem image, cl_mem buffer, const char *call) {
  cl_int code;
  if ((code = icd_check_image(queue, image, call)) ||
      (code = icd_check_buffer(queue, buffer, call)))
    return code;
  if (image->image->type == CL_MEM_OBJECT_IMAGE1D_BUFFER && image->parent == buffer)
    return icd_fail(queue->context, CL_INVALID_MEM_OBJECT, call,
                    "the image buffer was created from this buffer");
  return CL_SUCCESS;
}

cl_int icd_copy_image_to_buffer(cl_command_queue queue, cl_mem source, cl_mem target,
                                const size_t *origin, const size_t *region, size_t offset,
                                struct icd_operation *operation, const char *call) {
  cl_int code;
  struct icd_box from = {0}, to = {0};
  if ((code = check_pair(queue, source, target, call)) ||
      (code = icd_image_box(source, origin, region, &from, call)) ||
      (code = buffer_box(target, offset, &from, &to, call)))
    return code;
  return make_copy(CL_COMMAND_COPY_IMAGE_TO_BUFFER, source, &from, target, &to, operation, call);
}

cl_int icd_copy_buffer_to_image(cl_command_queue queue, cl_mem source, cl_mem target, size_t offset,
                                const size_t *origin, const size_t *region,
                                struct icd_operation *operation, const char *call) {
  cl_int code;
  struct icd_box from = {0}, to = {0};
  if ((code = check_pair(queue, target, source, call)) ||
      (code = icd_image_box(target, origin, region, &to, call)) ||
      (code = buffer_box(source, offset, &to, &from, call)))
    return code;
  return make_copy(CL_COMMAND_COPY_BUFFER_TO_IMAGE, source, &from, target, &to, operation, call);
}

cl_int icd_fill_image(cl_command_queue queue, cl_mem image, const void *color, const size_t *origin,
                      const size_t *region, struct icd_operation *operation, const char *call) {
  struct icd_box box = {0};
  cl_int code = icd_check_image(queue, image, call);
  if (code)
    return code;
  if (!color)
    return icd_fail(queue->context, CL_INVALID_VALUE, call, "fill_color is NULL");
  if ((code = icd_image_box(image, origin, region, &box, call)) ||
      (code = icd_check_mutable(image, call)))
    return code;
  *operation =
      (struct icd_operation){.kind = ICD_FILL,
                             .type = CL_COMMAND_FILL_IMAGE,
                             .mems = {image},
                             .fill = {.target = image->cpu + box.offset,
                                      .region = {box.region[0], box.region[1], box.region[2]},
                                      .row_bytes = box.row_bytes,
                                      .slice_bytes = box.slice_bytes}};
  operation->fill.pattern_size =
      icd_format_pack(&image->image->format, color, operation->fill.pattern);
  return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueCopyImage(cl_command_queue queue, cl_mem source,
                                                   cl_mem target, const size_t *source_origin,
                                                   const size_t *target_origin,
                                                   const size_t *region, cl_uint wait_count,
                                                   const cl_event *waits, cl_event *event) {
  struct icd_operation operation;
  cl_int code;
  if ((code = icd_check_queue(queue, __func__)) ||
      (code = icd_copy_image(queue, source, target, source_origin, target_origin, region,
                             &operation, __func__)))
    return code;
  return icd_enqueue_checked(queue, &operation, wait_count, waits, event, __func__);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueCopyImageToBuffer(cl_command_queue queue, cl_mem source,
                                                           cl_mem target, const size_t *origin,
                                                           const size_t *region, size_t offset,
                                                           cl_uint wait_count,
                                                           const cl_event *waits, cl_event *event) {
  struct icd_operation operation;
  cl_int code;
  if ((code = icd_check_queue(queue, __func__)) ||
      (code = icd_copy_image_to_buffer(queue, source, target, origin, region, offset, &operation,
                                       __func__)))
    return code;
  return icd_enqueue_checked(queue, &operation, wait_count, waits, event, __func__);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueCopyBufferToImage(cl_command_queue queue, cl_mem source,
                                                           cl_mem target, size_t offset,
                                                           const size_t *origin,
                                                           const size_t *region, cl_uint wait_count,
                                                           const cl_event *waits, cl_event *event) {
  struct icd_operation operation;
  cl_int code;
  if ((code = icd_check_queue(queue, __func__)) ||
      (code = icd_copy_buffer_to_image(queue, source, target, offset, origin, region, &operation,
                                       __func__)))
    return code;
  return icd_enqueue_checked(queue, &operation, wait_count, waits, event, __func__);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueFillImage(cl_command_queue queue, cl_mem image,
                                                   const void *color, const size_t *origin,
                                                   const size_t *region, cl_uint wait_count,
                                                   const cl_event *waits, cl_event *event) {
  struct icd_operation operation;
  cl_int code;
  if ((code = icd_check_queue(queue, __func__)) ||
      (code = icd_fill_image(queue, image, color, origin, region, &operation, __func__)))
    return code;
  return icd_enqueue_checked(queue, &operation, wait_count, waits, event, __func__);
}
