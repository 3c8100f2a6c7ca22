/* Commands that map and unmap. CPU and GPU see the same memory, so only a CL_MEM_USE_HOST_PTR
 * object with separate host memory is copied: to the host on map, and back on unmap.
 */
#include <stdlib.h>

#include "icd/image/image.h"
#include "icd/memory/mapping.h"
#include "icd/memory/transfer.h"
#include "icd/queue/command.h"

#define KNOWN_MAP_FLAGS (CL_MAP_READ | CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION)

cl_int icd_check_map_flags(cl_command_queue queue, cl_map_flags flags, const char *call) {
  if ((flags & ~(cl_map_flags)KNOWN_MAP_FLAGS) ||
      ((flags & CL_MAP_WRITE_INVALIDATE_REGION) && (flags & (CL_MAP_READ | CL_MAP_WRITE))))
    return icd_fail(queue->context, CL_INVALID_VALUE, call,
                    "map_flags 0x%llx has unknown or mutually exclusive bits",
                    (unsigned long long)flags);
  return CL_SUCCESS;
}

/* ---- commands ------------------------------------------------------------------------- */

/* Returns the operation of a map (to_host) or unmap: a copy if the host's memory is separate and
 * needed is true, else only a marker. */
static struct icd_operation plan_mapping(cl_command_type type, cl_mem mem,
                                         struct icd_mapping *mapping, bool to_host, bool needed) {
  struct icd_operation operation = {
      .kind = ICD_MARK, .type = type, .mems = {mem}, .mapping = mapping};
  if (mem->host_ptr && mem->host_ptr != mem->cpu && needed) {
    /* Host and device memory have the same layout. */
    const struct icd_box *box = &mapping->box;
    char *device = mem->cpu + box->offset;
    operation.kind = ICD_COPY;
    operation.copy = (struct icd_copy){
        .target = to_host ? mapping->pointer : device,
        .source = to_host ? device : mapping->pointer,
        .region = {box->region[0], box->region[1], box->region[2]},
        .target_row_bytes = box->row_bytes,
        .target_slice_bytes = box->slice_bytes,
        .source_row_bytes = box->row_bytes,
        .source_slice_bytes = box->slice_bytes,
    };
  }
  return operation;
}

static cl_int check_access(cl_mem mem, cl_map_flags flags, const char *call) {
  return icd_check_host_access(mem, flags & CL_MAP_READ, flags & ICD_MAP_WRITES, call);
}

/* Maps a box. The caller has checked that it is inside the object and that the host has access. */
static void *enqueue_map(cl_command_queue queue, cl_mem mem, cl_command_type type, bool blocking,
                         cl_map_flags flags, const struct icd_box *box, cl_uint wait_count,
                         const cl_event *waits, cl_event *event, cl_int *errcode_ret,
                         const char *call) {
  cl_int code;
  if ((code = icd_check_map_flags(queue, flags, call)) ||
      (code = icd_check_waits(queue, wait_count, waits, call)))
    return icd_null(errcode_ret, code);
  struct icd_mapping *mapping = malloc(sizeof(*mapping));
  if (!mapping)
    return icd_null(errcode_ret,
                    icd_fail(queue->context, CL_OUT_OF_HOST_MEMORY, call, "out of host memory"));
  char *pointer = (mem->host_ptr ? (char *)mem->host_ptr : mem->cpu) + box->offset;
  *mapping = (struct icd_mapping){
      .references = 1, .mem = mem, .pointer = pointer, .box = *box, .flags = flags};
  /* CL_MAP_WRITE needs the old contents too, because the application may write only a part. */
  struct icd_operation operation =
      plan_mapping(type, mem, mapping, true, flags & (CL_MAP_READ | CL_MAP_WRITE));
  /* Before enqueueing, because another thread may unmap as soon as the command is enqueued. */
  if (!icd_mapping_add(mapping)) {
    icd_mapping_drop(mapping);
    return icd_null(errcode_ret,
                    icd_fail(queue->context, CL_INVALID_OPERATION, call,
                             "the region overlaps a region that is already mapped for writing"));
  }
  if (flags & ICD_MAP_WRITES)
    rt_buffer_note_written(mem->buffer, mem->cpu + box->offset,
                           icd_box_span(box->region, box->row_bytes, box->slice_bytes));
  code = icd_enqueue(queue, &operation, blocking, wait_count, waits, event, call);
  if (code)
    icd_map_terminated(&operation);
  icd_mapping_drop(mapping);
  return code ? icd_null(errcode_ret, code) : ICD_GIVE(errcode_ret, pointer);
}

CL_API_ENTRY void *CL_API_CALL clEnqueueMapBuffer(cl_command_queue queue, cl_mem buffer,
                                                  cl_bool blocking, cl_map_flags flags,
                                                  size_t offset, size_t size, cl_uint wait_count,
                                                  const cl_event *waits, cl_event *event,
                                                  cl_int *errcode_ret) {
  cl_int code;
  if ((code = icd_check_queue(queue, __func__)) ||
      (code = icd_check_buffer(queue, buffer, __func__)) ||
      (code = check_access(buffer, flags, __func__)))
    return icd_null(errcode_ret, code);
  if (!size)
    return ICD_FAIL_NULL(errcode_ret, queue->context, CL_INVALID_VALUE, "size is 0");
  if ((code = icd_check_range(buffer, offset, size, __func__)))
    return icd_null(errcode_ret, code);
  const struct icd_box box = {
      .offset = offset, .region = {size, 1, 1}, .row_bytes = size, .slice_bytes = size};
  return enqueue_map(queue, buffer, CL_COMMAND_MAP_BUFFER, blocking, flags, &box, wait_count, waits,
                     event, errcode_ret, __func__);
}

CL_API_ENTRY void *CL_API_CALL clEnqueueMapImage(cl_command_queue queue, cl_mem image,
                                                 cl_bool blocking, cl_map_flags flags,
                                                 const size_t *origin, const size_t *region,
                                                 size_t *row_pitch, size_t *slice_pitch,
                                                 cl_uint wait_count, const cl_event *waits,
                                                 cl_event *event, cl_int *errcode_ret) {
  cl_int code;
  struct icd_box box;
  if ((code = icd_check_queue(queue, __func__)) ||
      (code = icd_check_image(queue, image, __func__)) ||
      (code = icd_image_box(image, origin, region, &box, __func__)) ||
      (code = check_access(image, flags, __func__)))
    return icd_null(errcode_ret, code);
  const size_t slice = image->image->slice_pitch;
  if (!row_pitch || (slice && !slice_pitch))
    return ICD_FAIL_NULL(errcode_ret, queue->context, CL_INVALID_VALUE, "%s is NULL",
                         row_pitch ? "image_slice_pitch" : "image_row_pitch");
  void *pointer = enqueue_map(queue, image, CL_COMMAND_MAP_IMAGE, blocking, flags, &box, wait_count,
                              waits, event, errcode_ret, __func__);
  if (pointer) {
    const struct icd_image *const picture = image->image;
    const bool layers_are_rows = picture->type == CL_MEM_OBJECT_IMAGE1D_ARRAY;
    *row_pitch = layers_are_rows ? picture->row_pitch : picture->stride[1];
    if (slice_pitch)
      *slice_pitch = !slice ? 0 : picture->stride[layers_are_rows ? 1 : 2];
  }
  return pointer;
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueUnmapMemObject(cl_command_queue queue, cl_mem mem,
                                                        void *mapped_ptr, cl_uint wait_count,
                                                        const cl_event *waits, cl_event *event) {
  cl_int code;
  if ((code = icd_check_queue(queue, __func__)) || (code = icd_check_mem(queue, mem, __func__)) ||
      (code = icd_check_waits(queue, wait_count, waits, __func__)))
    return code;
  struct icd_mapping *mapping = icd_mapping_remove(mem, mapped_ptr);
  if (!mapping)
    return ICD_FAIL(queue->context, CL_INVALID_VALUE,
                    "mapped_ptr %p is not the address of a mapped region of memobj", mapped_ptr);
  struct icd_operation operation = plan_mapping(CL_COMMAND_UNMAP_MEM_OBJECT, mem, mapping, false,
                                                mapping->flags & ICD_MAP_WRITES);
  code = icd_enqueue(queue, &operation, false, wait_count, waits, event, __func__);
  if (code)
    icd_map_terminated(&operation);
  icd_mapping_drop(mapping);
  return code;
}
