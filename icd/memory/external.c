/* Imported memory, which is used without a copy: dma-bufs of cameras, decoders and displays
 * (cl_khr_external_memory_dma_buf, cl_arm_import_memory_dma_buf), and pages of the host
 * (cl_arm_import_memory_host). The GPU snoops the CPU's caches, so the commands that acquire and
 * release such memory only order other commands.
 */
#include "icd/memory/memory.h"
#include "icd/memory/transfer.h"
#include "icd/queue/command.h"

#include "icd/cl_tegracl.h"

#define ACCESS_FLAGS                                                                               \
  (CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY | CL_MEM_READ_ONLY | CL_MEM_HOST_WRITE_ONLY |             \
   CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS)

static cl_mem import_host(cl_context context, cl_mem_flags flags, void *memory, size_t size,
                          cl_int *code, const char *call) {
  const uintptr_t start = (uintptr_t)memory;
  const uint64_t most = context->device->info->max_buffer_bytes;
  struct rt_buffer *buffer;
  if (!size || size > most || start > UINTPTR_MAX - size - ICD_PAGE_BYTES) {
    *code =
        icd_fail(context, CL_INVALID_BUFFER_SIZE, call,
                 "size is %zu; it must be from 1 to %llu bytes", size, (unsigned long long)most);
    return NULL;
  }
  const int error = icd_host_pages_import(context, memory, size, &buffer);
  if (error) {
    *code = icd_fail(context, icd_code(error, CL_MEM_OBJECT_ALLOCATION_FAILURE), call, "%s",
                     rt_last_message());
    return NULL;
  }
  cl_mem mem = icd_mem_wrap(context, flags, size, buffer, start % ICD_PAGE_BYTES, code, call);
  if (mem)
    mem->host_pages = true;
  else
    icd_host_pages_release(context);
  return mem;
}

/* Reads the import type. Returns CL_INVALID_PROPERTY if a property or its value is unknown. */
static cl_int read_import_properties(cl_context context, const cl_import_properties_arm *properties,
                                     cl_import_properties_arm *type, const char *call) {
  *type = CL_IMPORT_TYPE_HOST_ARM;
  for (; properties && *properties; properties += 2) {
    const cl_import_properties_arm value = properties[1];
    bool good = false;
    if (*properties == CL_IMPORT_TYPE_ARM) {
      *type = value;
      good = value == CL_IMPORT_TYPE_HOST_ARM || value == CL_IMPORT_TYPE_DMA_BUF_ARM;
    } else if (*properties == CL_IMPORT_DMA_BUF_DATA_CONSISTENCY_WITH_HOST_ARM) {
      good = value == CL_TRUE || value == CL_FALSE; /* it always is */
    }
    if (!good)
      return icd_fail(context, CL_INVALID_PROPERTY, call, "unknown property 0x%llx or value 0x%llx",
                      (unsigned long long)*properties, (unsigned long long)value);
  }
  return CL_SUCCESS;
}

CL_API_ENTRY cl_mem CL_API_CALL clImportMemoryARM(cl_context context, cl_mem_flags flags,
                                                  const cl_import_properties_arm *properties,
                                                  void *memory, size_t size, cl_int *errcode_ret) {
  if (!icd_is_context(context))
    return ICD_FAIL_NULL(errcode_ret, NULL, CL_INVALID_CONTEXT,
                         "context %p is not a valid cl_context", (void *)context);
  cl_import_properties_arm type;
  cl_int code;
  if ((code = icd_check_mem_flags(context, flags, ACCESS_FLAGS, __func__)) ||
      (code = read_import_properties(context, properties, &type, __func__)))
    return icd_null(errcode_ret, code);
  if (!memory)
    return ICD_FAIL_NULL(errcode_ret, context, CL_INVALID_VALUE, "memory is NULL");
  icd_reclaim(context, false);
  cl_mem mem = type == CL_IMPORT_TYPE_HOST_ARM
                   ? import_host(context, flags, memory, size, &code, __func__)
                   : icd_mem_import(context, flags, size, *(const int *)memory, CL_INVALID_VALUE,
                                    CL_INVALID_BUFFER_SIZE, &code, __func__);
  return mem ? ICD_GIVE(errcode_ret, mem) : icd_null(errcode_ret, code);
}

/* ---- acquire and release ----------------------------------------------------------------- */

static cl_int mark_ownership(cl_command_queue queue, cl_command_type type, cl_uint count,
                             const cl_mem *mems, cl_uint wait_count, const cl_event *waits,
                             cl_event *event, const char *call) {
  cl_int code = icd_check_queue(queue, call);
  if (code)
    return code;
  if (!count != !mems)
    return icd_fail(queue->context, CL_INVALID_VALUE, call,
                    "num_mem_objects is %u but mem_objects is %s", count,
                    mems ? "not NULL" : "NULL");
  for (cl_uint i = 0; i < count; i++) {
    if ((code = icd_check_mem(queue, mems[i], call)))
      return code;
    if (!icd_find_mem_property(mems[i]->properties, CL_EXTERNAL_MEMORY_HANDLE_DMA_BUF_KHR))
      return icd_fail(queue->context, CL_INVALID_MEM_OBJECT, call,
                      "mem_objects[%u] was not created from an external memory handle", i);
  }
  code = icd_check_good_waits(queue, wait_count, waits, call);
  return code ? code : icd_mark(queue, type, false, wait_count, waits, event, call);
}

CL_API_ENTRY cl_int CL_API_CALL
clEnqueueAcquireExternalMemObjectsKHR(cl_command_queue queue, cl_uint count, const cl_mem *mems,
                                      cl_uint wait_count, const cl_event *waits, cl_event *event) {
  return mark_ownership(queue, CL_COMMAND_ACQUIRE_EXTERNAL_MEM_OBJECTS_KHR, count, mems, wait_count,
                        waits, event, __func__);
}

CL_API_ENTRY cl_int CL_API_CALL
clEnqueueReleaseExternalMemObjectsKHR(cl_command_queue queue, cl_uint count, const cl_mem *mems,
                                      cl_uint wait_count, const cl_event *waits, cl_event *event) {
  return mark_ownership(queue, CL_COMMAND_RELEASE_EXTERNAL_MEM_OBJECTS_KHR, count, mems, wait_count,
                        waits, event, __func__);
}
