/* Mapping. CPU and GPU see the same memory, so mapping copies nothing but for
 * CL_MEM_USE_HOST_PTR, where the host's own memory is brought up to date on map
 * and taken over on unmap.
 */
#include <stdlib.h>

#include "icd/command.h"
#include "icd/transfer.h"

#define KNOWN_MAP_FLAGS (CL_MAP_READ | CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION)

cl_int icd_check_map_flags(cl_command_queue queue, cl_map_flags flags, const char *call) {
  if ((flags & ~(cl_map_flags)KNOWN_MAP_FLAGS) ||
      ((flags & CL_MAP_WRITE_INVALIDATE_REGION) && (flags & (CL_MAP_READ | CL_MAP_WRITE))))
    return icd_fail(queue->context, CL_INVALID_VALUE, call,
                    "map_flags 0x%llx are unknown or exclude each other",
                    (unsigned long long)flags);
  return CL_SUCCESS;
}

/* What must be done besides keeping the order: to_host or back, if at all. */
static struct icd_operation plan(cl_command_type type, cl_mem mem,
                                 const struct icd_mapping *mapping, bool to_host, bool needed) {
  struct icd_operation operation = {.kind = ICD_MARK, .type = type};
  if (mem->host_ptr && mem->host_ptr != mem->cpu && needed) {
    char *device = mem->cpu + mapping->offset;
    operation.kind = ICD_COPY;
    operation.mems[0] = mem;
    operation.copy = (struct icd_copy){
        .target = to_host ? mapping->pointer : device,
        .source = to_host ? device : mapping->pointer,
        .region = {mapping->size, 1, 1},
        .target_row = mapping->size,
        .target_slice = mapping->size,
        .source_row = mapping->size,
        .source_slice = mapping->size,
    };
  }
  return operation;
}

/* Takes the mapping at a pointer off the list; any one of them if the same region
 * is mapped more than once. */
static struct icd_mapping *take(cl_mem mem, const void *pointer) {
  struct icd_mapping *found = NULL;
  pthread_mutex_lock(&mem->lock);
  for (struct icd_mapping **link = &mem->mappings; *link; link = &(*link)->next)
    if ((*link)->pointer == pointer) {
      found = *link;
      *link = found->next;
      mem->map_count--;
      break;
    }
  pthread_mutex_unlock(&mem->lock);
  return found;
}

static void put(cl_mem mem, struct icd_mapping *mapping) {
  pthread_mutex_lock(&mem->lock);
  mapping->next = mem->mappings;
  mem->mappings = mapping;
  mem->map_count++;
  pthread_mutex_unlock(&mem->lock);
}

CL_API_ENTRY void *CL_API_CALL clEnqueueMapBuffer(cl_command_queue queue, cl_mem buffer,
                                                  cl_bool blocking, cl_map_flags flags,
                                                  size_t offset, size_t size, cl_uint wait_count,
                                                  const cl_event *waits, cl_event *event,
                                                  cl_int *errcode_ret) {
  cl_int code;
  if ((code = icd_check_queue(queue, __func__)) || (code = icd_check_mem(queue, buffer, __func__)))
    return icd_null(errcode_ret, code);
  if (!size)
    return ICD_FAIL_NULL(errcode_ret, queue->context, CL_INVALID_VALUE, "size is 0");
  if ((code = icd_check_range(buffer, offset, size, __func__)))
    return icd_null(errcode_ret, code);
  if ((code = icd_check_map_flags(queue, flags, __func__)) ||
      (code = icd_check_waits(queue, wait_count, waits, __func__)) ||
      (code = icd_check_host_access(buffer, flags & CL_MAP_READ,
                                    flags & (CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION),
                                    __func__)))
    return icd_null(errcode_ret, code);

  struct icd_mapping *mapping = malloc(sizeof *mapping);
  if (!mapping)
    return ICD_FAIL_NULL(errcode_ret, queue->context, CL_OUT_OF_HOST_MEMORY, "no memory");
  char *pointer = (buffer->host_ptr ? (char *)buffer->host_ptr : buffer->cpu) + offset;
  *mapping =
      (struct icd_mapping){.pointer = pointer, .offset = offset, .size = size, .flags = flags};
  /* A region that is only partly written must hold its old contents besides. */
  struct icd_operation operation =
      plan(CL_COMMAND_MAP_BUFFER, buffer, mapping, true, flags & (CL_MAP_READ | CL_MAP_WRITE));
  if (flags & (CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION))
    rt_buffer_tell_written(buffer->buffer, buffer->cpu + offset, size);
  put(buffer, mapping); /* first: another thread may unmap as soon as it is enqueued */
  code = icd_enqueue(queue, &operation, blocking, wait_count, waits, event, __func__);
  if (code) {
    free(take(buffer, pointer));
    return icd_null(errcode_ret, code);
  }
  return ICD_GIVE(errcode_ret, pointer);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueUnmapMemObject(cl_command_queue queue, cl_mem mem,
                                                        void *mapped_ptr, cl_uint wait_count,
                                                        const cl_event *waits, cl_event *event) {
  cl_int code;
  if ((code = icd_check_queue(queue, __func__)) || (code = icd_check_mem(queue, mem, __func__)) ||
      (code = icd_check_waits(queue, wait_count, waits, __func__)))
    return code;
  struct icd_mapping *mapping = take(mem, mapped_ptr);
  if (!mapping)
    return ICD_FAIL(queue->context, CL_INVALID_VALUE,
                    "mapped_ptr %p is not a mapping of this memory object", mapped_ptr);
  struct icd_operation operation =
      plan(CL_COMMAND_UNMAP_MEM_OBJECT, mem, mapping, false,
           mapping->flags & (CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION));
  code = icd_enqueue(queue, &operation, false, wait_count, waits, event, __func__);
  if (code)
    put(mem, mapping);
  else
    free(mapping);
  return code;
}
