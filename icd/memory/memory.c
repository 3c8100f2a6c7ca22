/* Buffers and sub-buffers. CPU and GPU use the same memory. With CL_MEM_USE_HOST_PTR a buffer uses
 * the host's pages or shared virtual memory if possible. Otherwise it is a copy, which map and
 * unmap keep up to date, as the specification allows.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "icd/context/retire.h"
#include "icd/memory/mapping.h"
#include "icd/memory/memory.h"

#include "icd/cl_tegracl.h"

cl_int icd_check_host_pointer(cl_context context, cl_mem_flags flags, const void *host_ptr,
                              const char *call) {
  if ((flags & CL_MEM_USE_HOST_PTR) && __builtin_popcountll(flags & ICD_HOST_POINTER) > 1)
    return icd_fail(context, CL_INVALID_VALUE, call,
                    "CL_MEM_USE_HOST_PTR excludes CL_MEM_ALLOC_HOST_PTR and CL_MEM_COPY_HOST_PTR");
  const bool wants_pointer = flags & (CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR);
  if (wants_pointer != (host_ptr != NULL))
    return icd_fail(
        context, CL_INVALID_HOST_PTR, call,
        wants_pointer
            ? "host_ptr is NULL, but flags has CL_MEM_USE_HOST_PTR or CL_MEM_COPY_HOST_PTR"
            : "host_ptr is not NULL, but flags has neither CL_MEM_USE_HOST_PTR nor "
              "CL_MEM_COPY_HOST_PTR");
  return CL_SUCCESS;
}

cl_int icd_check_contents(cl_context context, cl_mem_flags flags, bool has_memory,
                          const char *call) {
  if (flags & CL_MEM_IMMUTABLE_EXT && !has_memory &&
      !(flags & (CL_MEM_COPY_HOST_PTR | CL_MEM_USE_HOST_PTR)))
    return icd_fail(context, CL_INVALID_VALUE, call,
                    "CL_MEM_IMMUTABLE_EXT requires CL_MEM_COPY_HOST_PTR, CL_MEM_USE_HOST_PTR or "
                    "external memory");
  return CL_SUCCESS;
}

/* Checks size and host_ptr as clCreateBuffer requires. Sets *svm to the allocation of shared
 * virtual memory that contains all of host_ptr, with a reference, if CL_MEM_USE_HOST_PTR is set,
 * else to NULL. */
static cl_int check_buffer(cl_context context, cl_mem_flags flags, size_t size, void *host_ptr,
                           cl_mem *svm, const char *call) {
  *svm = NULL;
  const uint64_t most = context->device->info->max_buffer_bytes;
  if (!size || size > most)
    return icd_fail(context, CL_INVALID_BUFFER_SIZE, call,
                    "size is %zu; it must be from 1 to %llu bytes", size, (unsigned long long)most);
  const cl_int code = icd_check_host_pointer(context, flags, host_ptr, call);
  if (code)
    return code;
  cl_mem found = host_ptr ? icd_svm_find(context, host_ptr) : NULL;
  if (!found)
    return CL_SUCCESS;
  const size_t rest = found->size - (size_t)((char *)host_ptr - found->cpu);
  if (rest >= size && flags & CL_MEM_USE_HOST_PTR) {
    *svm = found;
    return CL_SUCCESS;
  }
  icd_mem_drop(found);
  if (!rest || rest >= size) /* host_ptr is at the end, where another allocation may begin */
    return CL_SUCCESS;
  return icd_fail(context, CL_INVALID_BUFFER_SIZE, call,
                  "size is %zu, but the shared virtual memory at host_ptr ends after %zu bytes",
                  size, rest);
}

/* Creates a buffer that uses the application's pages. Returns NULL if that is not possible. */
static cl_mem use_pages(cl_context context, cl_mem_flags flags, size_t size, void *host_ptr,
                        const char *call) {
  enum { LINE_BYTES = 64 }; /* so that no cache line contains other data of the application */
  struct rt_buffer *buffer;
  cl_int code;
  if (!(flags & CL_MEM_USE_HOST_PTR))
    return NULL;
  if ((uintptr_t)host_ptr % ICD_PAGE_BYTES || size % LINE_BYTES) {
    icd_note(call,
             "host_ptr %p is copied: to avoid the copy, align it to %d bytes and make the size "
             "(%zu) a multiple of %d",
             host_ptr, ICD_PAGE_BYTES, size, LINE_BYTES);
    return NULL;
  }
  if (icd_host_pages_import(context, host_ptr, size, &buffer)) {
    icd_note(call, "host_ptr %p is copied: %s", host_ptr, rt_last_message());
    return NULL;
  }
  cl_mem mem = icd_mem_wrap(context, flags, size, buffer, 0, &code, call);
  if (mem)
    mem->host_pages = true;
  else
    icd_host_pages_release(context);
  return mem;
}

static cl_mem create_buffer(cl_context context, cl_mem_flags flags, size_t size, void *host_ptr,
                            const cl_mem_properties *properties, cl_int *errcode_ret,
                            const char *call) {
  if (!icd_is_context(context))
    return icd_null(errcode_ret, icd_fail(NULL, CL_INVALID_CONTEXT, call,
                                          "context %p is not a valid cl_context", (void *)context));
  cl_mem svm;
  cl_int code;
  const cl_mem_properties *dma_buf =
      icd_find_mem_property(properties, CL_EXTERNAL_MEMORY_HANDLE_DMA_BUF_KHR);
  if ((code = icd_check_mem_properties(context, properties, flags, call)) ||
      (code = icd_check_mem_flags(context, flags, ICD_MEM_FLAGS, call)) ||
      (code = icd_check_contents(context, flags, dma_buf, call)) ||
      (code = check_buffer(context, flags, size, host_ptr, &svm, call)))
    return icd_null(errcode_ret, code);
  icd_reclaim(context, false);
  cl_mem mem = dma_buf || svm ? NULL : use_pages(context, flags, size, host_ptr, call);
  if (!mem)
    mem = dma_buf ? icd_mem_import(context, flags, size, (int)*dma_buf, CL_INVALID_PROPERTY,
                                   CL_INVALID_BUFFER_SIZE, &code, call)
                  : icd_mem_create(context, flags, size, svm, host_ptr, &code, call);
  if (!mem) {
    if (svm)
      icd_mem_drop(svm);
    return icd_null(errcode_ret, code);
  }
  if (!icd_keep_mem_properties(mem, properties)) {
    icd_mem_drop(mem);
    return icd_null(errcode_ret,
                    icd_fail(context, CL_OUT_OF_HOST_MEMORY, call, "out of host memory"));
  }
  if (dma_buf)
    close((int)*dma_buf); /* a successful import takes ownership */
  mem->host_ptr = flags & CL_MEM_USE_HOST_PTR ? host_ptr : NULL;
  icd_mem_note(mem, svm || dma_buf);
  if (host_ptr && mem->cpu != host_ptr)
    memcpy(mem->cpu, host_ptr, size);
  return ICD_GIVE(errcode_ret, mem);
}

CL_API_ENTRY cl_mem CL_API_CALL clCreateBuffer(cl_context context, cl_mem_flags flags, size_t size,
                                               void *host_ptr, cl_int *errcode_ret) {
  return create_buffer(context, flags, size, host_ptr, NULL, errcode_ret, __func__);
}

CL_API_ENTRY cl_mem CL_API_CALL clCreateBufferWithProperties(cl_context context,
                                                             const cl_mem_properties *properties,
                                                             cl_mem_flags flags, size_t size,
                                                             void *host_ptr, cl_int *errcode_ret) {
  return create_buffer(context, flags, size, host_ptr, properties, errcode_ret, __func__);
}

cl_int icd_inherit_flags(cl_mem parent, cl_mem_flags *flags, const char *call) {
  const cl_mem_flags device = *flags & ICD_DEVICE_ACCESS, host = *flags & ICD_HOST_ACCESS;
  const cl_mem_flags has = parent->flags;
  if ((has & CL_MEM_WRITE_ONLY && device & (CL_MEM_READ_WRITE | CL_MEM_READ_ONLY)) ||
      (has & CL_MEM_READ_ONLY && device & (CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY)))
    return icd_fail(
        parent->context, CL_INVALID_VALUE, call,
        "flags 0x%llx allow kernels more access than the flags 0x%llx of the parent object",
        (unsigned long long)*flags, (unsigned long long)has);
  if (has & CL_MEM_IMMUTABLE_EXT && *flags & ICD_MEM_WRITES)
    return icd_fail(parent->context, CL_INVALID_VALUE, call,
                    "flags 0x%llx allow writes, but the parent object is immutable",
                    (unsigned long long)*flags);
  if ((has & CL_MEM_HOST_WRITE_ONLY && host & CL_MEM_HOST_READ_ONLY) ||
      (has & CL_MEM_HOST_READ_ONLY && host & CL_MEM_HOST_WRITE_ONLY) ||
      (has & CL_MEM_HOST_NO_ACCESS && host & (CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_WRITE_ONLY)))
    return icd_fail(
        parent->context, CL_INVALID_VALUE, call,
        "flags 0x%llx allow the host more access than the flags 0x%llx of the parent object",
        (unsigned long long)*flags, (unsigned long long)has);
  if (*flags & ICD_HOST_POINTER)
    return icd_fail(
        parent->context, CL_INVALID_VALUE, call,
        "flags 0x%llx has CL_MEM_*_HOST_PTR bits, which are inherited from the parent object",
        (unsigned long long)*flags);
  if (!(*flags & ICD_DEVICE_RIGHTS))
    *flags |= has & ICD_DEVICE_RIGHTS;
  if (!host)
    *flags |= has & ICD_HOST_ACCESS;
  *flags |= has & (ICD_HOST_POINTER | CL_MEM_IMMUTABLE_EXT);
  return CL_SUCCESS;
}

CL_API_ENTRY cl_mem CL_API_CALL clCreateSubBuffer(cl_mem buffer, cl_mem_flags flags,
                                                  cl_buffer_create_type buffer_create_type,
                                                  const void *buffer_create_info,
                                                  cl_int *errcode_ret) {
  if (!icd_is_mem(buffer) || buffer->parent || buffer->image)
    return ICD_FAIL_NULL(errcode_ret, NULL, CL_INVALID_MEM_OBJECT,
                         "buffer %p is not a valid buffer, or is itself a sub-buffer",
                         (void *)buffer);
  cl_context context = buffer->context;
  cl_int code = icd_check_mem_flags(context, flags, ICD_MEM_FLAGS, __func__);
  if (!code)
    code = icd_inherit_flags(buffer, &flags, __func__);
  if (code)
    return icd_null(errcode_ret, code);
  const cl_buffer_region *region = buffer_create_info;
  if (buffer_create_type != CL_BUFFER_CREATE_TYPE_REGION || !region)
    return ICD_FAIL_NULL(errcode_ret, context, CL_INVALID_VALUE,
                         "buffer_create_type is 0x%x and buffer_create_info %p; "
                         "CL_BUFFER_CREATE_TYPE_REGION and a region are required",
                         buffer_create_type, buffer_create_info);
  if (region->origin > buffer->size || region->size > buffer->size - region->origin)
    return ICD_FAIL_NULL(
        errcode_ret, context, CL_INVALID_VALUE,
        "the region of %zu bytes at origin %zu exceeds the buffer, which has %zu bytes",
        region->size, region->origin, buffer->size);
  if (!region->size)
    return ICD_FAIL_NULL(errcode_ret, context, CL_INVALID_BUFFER_SIZE,
                         "the size of the region is 0");
  cl_uint align_bits;
  clGetDeviceInfo(context->device, CL_DEVICE_MEM_BASE_ADDR_ALIGN, sizeof(align_bits), &align_bits,
                  NULL);
  if (region->origin % (align_bits / 8))
    return ICD_FAIL_NULL(
        errcode_ret, context, CL_MISALIGNED_SUB_BUFFER_OFFSET,
        "origin is %zu; it must be a multiple of %u bytes (CL_DEVICE_MEM_BASE_ADDR_ALIGN)",
        region->origin, align_bits / 8);
  cl_mem mem = icd_mem_create_part(buffer, flags, region->origin, region->size);
  if (!mem)
    return ICD_FAIL_NULL(errcode_ret, context, CL_OUT_OF_HOST_MEMORY, "out of host memory");
  return ICD_GIVE(errcode_ret, mem);
}

CL_API_ENTRY cl_int CL_API_CALL clRetainMemObject(cl_mem mem) {
  if (!icd_is_mem(mem))
    return ICD_FAIL(NULL, CL_INVALID_MEM_OBJECT, "memobj %p is not a valid cl_mem", (void *)mem);
  icd_object_retain(&mem->object);
  return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL clReleaseMemObject(cl_mem mem) {
  if (!icd_is_mem(mem))
    return ICD_FAIL(NULL, CL_INVALID_MEM_OBJECT, "memobj %p is not a valid cl_mem", (void *)mem);
  if (icd_mem_release(mem))
    return ICD_FAIL(mem->context, CL_INVALID_MEM_OBJECT, "memobj %p has been released too often",
                    (void *)mem);
  return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL clSetMemObjectDestructorCallback(
    cl_mem mem, void(CL_CALLBACK *pfn_notify)(cl_mem, void *), void *user_data) {
  if (!icd_is_mem(mem))
    return ICD_FAIL(NULL, CL_INVALID_MEM_OBJECT, "memobj %p is not a valid cl_mem", (void *)mem);
  if (!pfn_notify)
    return ICD_FAIL(mem->context, CL_INVALID_VALUE, "pfn_notify is NULL");
  struct icd_mem_destructor *destructor = malloc(sizeof(*destructor));
  if (!destructor)
    return ICD_FAIL(mem->context, CL_OUT_OF_HOST_MEMORY, "out of host memory");
  destructor->function = pfn_notify;
  destructor->data = user_data;
  icd_lock(&mem->lock);
  destructor->next = mem->destructors;
  mem->destructors = destructor;
  icd_unlock(&mem->lock);
  return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL clGetMemObjectInfo(cl_mem mem, cl_mem_info param_name,
                                                   size_t param_value_size, void *param_value,
                                                   size_t *param_value_size_ret) {
  const struct icd_answer answer = {param_value_size, param_value, param_value_size_ret};
  if (!icd_is_mem(mem))
    return ICD_FAIL(NULL, CL_INVALID_MEM_OBJECT, "memobj %p is not a valid cl_mem", (void *)mem);
  switch (param_name) {
  case CL_MEM_TYPE:
    return ICD_ANSWER(&answer, cl_mem_object_type,
                      mem->image ? mem->image->type : CL_MEM_OBJECT_BUFFER);
  case CL_MEM_FLAGS:
    return ICD_ANSWER(&answer, cl_mem_flags, mem->flags);
  case CL_MEM_SIZE:
    return ICD_ANSWER(&answer, size_t, mem->size);
  case CL_MEM_HOST_PTR:
    return ICD_ANSWER(&answer, void *, mem->host_ptr);
  case CL_MEM_MAP_COUNT:
    return ICD_ANSWER(&answer, cl_uint, icd_map_count(mem));
  case CL_MEM_REFERENCE_COUNT:
    return ICD_ANSWER(&answer, cl_uint, atomic_load(&mem->object.handles));
  case CL_MEM_CONTEXT:
    return ICD_ANSWER(&answer, cl_context, mem->context);
  case CL_MEM_ASSOCIATED_MEMOBJECT:
    return ICD_ANSWER(&answer, cl_mem, mem->parent);
  case CL_MEM_OFFSET:
    return ICD_ANSWER(&answer, size_t, mem->origin);
  case CL_MEM_USES_SVM_POINTER:
    return ICD_ANSWER(&answer, cl_bool, mem->svm || (mem->parent && mem->parent->svm));
  case CL_MEM_DEVICE_ADDRESS_EXT:
    if (!(mem->parent ? mem->parent : mem)->device_address)
      return ICD_FAIL(mem->context, CL_INVALID_OPERATION,
                      "the buffer was created without CL_MEM_DEVICE_PRIVATE_ADDRESS_EXT");
    return ICD_ANSWER(&answer, cl_mem_device_address_ext, mem->gpu);
  case CL_MEM_PROPERTIES:
    return icd_answer_bytes(&answer, __func__, mem->properties,
                            mem->property_count * sizeof(*mem->properties));
  default:
    return ICD_FAIL(mem->context, CL_INVALID_VALUE, "unknown param_name 0x%x", param_name);
  }
}
