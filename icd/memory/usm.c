/* cl_intel_unified_shared_memory: another interface to shared virtual memory. Host, device and
 * shared allocations are the same, so their types only affect queries. The file also has the kernel
 * arguments of cl_ext_buffer_device_address, which are addresses as well.
 */
#include "icd/memory/svm.h"
#include "icd/memory/transfer.h"

#include "icd/cl_tegracl.h"

/* ---- allocation -------------------------------------------------------------------- */

#define KNOWN_ALLOC_FLAGS                                                                          \
  (CL_MEM_ALLOC_WRITE_COMBINED_INTEL | CL_MEM_ALLOC_INITIAL_PLACEMENT_DEVICE_INTEL |               \
   CL_MEM_ALLOC_INITIAL_PLACEMENT_HOST_INTEL)

/* Reads the allocation flags. Only shared memory may have an initial placement. */
static cl_int read_properties(cl_context context, const cl_mem_properties_intel *properties,
                              cl_unified_shared_memory_type_intel type,
                              cl_mem_alloc_flags_intel *flags, const char *call) {
  const cl_mem_alloc_flags_intel placements =
      CL_MEM_ALLOC_INITIAL_PLACEMENT_DEVICE_INTEL | CL_MEM_ALLOC_INITIAL_PLACEMENT_HOST_INTEL;
  const bool shared = type == CL_MEM_TYPE_SHARED_INTEL;
  bool seen = false;
  *flags = 0;
  for (; properties && *properties; properties += 2) {
    if (*properties != CL_MEM_ALLOC_FLAGS_INTEL || seen)
      return icd_fail(context, CL_INVALID_PROPERTY, call,
                      "property 0x%llx is unknown or given twice", (unsigned long long)*properties);
    seen = true;
    *flags = properties[1];
    if ((*flags & ~(cl_mem_alloc_flags_intel)KNOWN_ALLOC_FLAGS) ||
        (shared ? (*flags & placements) == placements : *flags & placements))
      return icd_fail(context, CL_INVALID_PROPERTY, call,
                      "CL_MEM_ALLOC_FLAGS_INTEL is 0x%llx, which has unknown or mutually exclusive "
                      "flags, or flags that are only for shared memory",
                      (unsigned long long)*flags);
  }
  return CL_SUCCESS;
}

static void *allocate_usm(cl_context context, cl_device_id device,
                          cl_unified_shared_memory_type_intel type,
                          const cl_mem_properties_intel *properties, size_t size, cl_uint alignment,
                          cl_int *errcode_ret, const char *call) {
  if (!icd_is_context(context))
    return icd_null(errcode_ret, icd_fail(NULL, CL_INVALID_CONTEXT, call,
                                          "context %p is not a valid cl_context", (void *)context));
  const bool needs_device = type == CL_MEM_TYPE_DEVICE_INTEL;
  cl_mem_alloc_flags_intel flags;
  cl_int code = icd_check_svm(context, call);
  if (!code && (needs_device || device) && device != context->device)
    code = icd_fail(context, CL_INVALID_DEVICE, call, "device %p is not in the context",
                    (void *)device);
  if (code || (code = read_properties(context, properties, type, &flags, call)) ||
      (code = icd_check_alignment(context, alignment, call)))
    return icd_null(errcode_ret, code);
  const uint64_t most = context->device->info->max_buffer_bytes;
  if (!size || size > most)
    return icd_null(errcode_ret, icd_fail(context, CL_INVALID_BUFFER_SIZE, call,
                                          "size is %zu; it must be from 1 to %llu bytes", size,
                                          (unsigned long long)most));
  const struct icd_usm usm = {.type = type, .flags = flags, .device = device};
  cl_mem mem = icd_svm_create(context, CL_MEM_READ_WRITE, size, &usm, NULL, &code, call);
  if (!mem)
    return icd_null(errcode_ret, code);
  return ICD_GIVE(errcode_ret, mem->cpu);
}

CL_API_ENTRY void *CL_API_CALL clHostMemAllocINTEL(cl_context context,
                                                   const cl_mem_properties_intel *properties,
                                                   size_t size, cl_uint alignment,
                                                   cl_int *errcode_ret) {
  return allocate_usm(context, NULL, CL_MEM_TYPE_HOST_INTEL, properties, size, alignment,
                      errcode_ret, __func__);
}

CL_API_ENTRY void *CL_API_CALL clDeviceMemAllocINTEL(cl_context context, cl_device_id device,
                                                     const cl_mem_properties_intel *properties,
                                                     size_t size, cl_uint alignment,
                                                     cl_int *errcode_ret) {
  return allocate_usm(context, device, CL_MEM_TYPE_DEVICE_INTEL, properties, size, alignment,
                      errcode_ret, __func__);
}

CL_API_ENTRY void *CL_API_CALL clSharedMemAllocINTEL(cl_context context, cl_device_id device,
                                                     const cl_mem_properties_intel *properties,
                                                     size_t size, cl_uint alignment,
                                                     cl_int *errcode_ret) {
  return allocate_usm(context, device, CL_MEM_TYPE_SHARED_INTEL, properties, size, alignment,
                      errcode_ret, __func__);
}

CL_API_ENTRY cl_int CL_API_CALL clMemFreeINTEL(cl_context context, void *pointer) {
  if (!icd_is_context(context))
    return ICD_FAIL(NULL, CL_INVALID_CONTEXT, "context %p is not a valid cl_context",
                    (void *)context);
  return icd_svm_release(context, pointer, true, __func__);
}

/* Waits for all commands, because any of them may use the memory. */
CL_API_ENTRY cl_int CL_API_CALL clMemBlockingFreeINTEL(cl_context context, void *pointer) {
  if (!icd_is_context(context))
    return ICD_FAIL(NULL, CL_INVALID_CONTEXT, "context %p is not a valid cl_context",
                    (void *)context);
  icd_context_finish(context);
  return icd_svm_release(context, pointer, true, __func__);
}

CL_API_ENTRY cl_int CL_API_CALL clGetMemAllocInfoINTEL(cl_context context, const void *pointer,
                                                       cl_mem_info_intel param_name,
                                                       size_t param_value_size, void *param_value,
                                                       size_t *param_value_size_ret) {
  const struct icd_answer answer = {param_value_size, param_value, param_value_size_ret};
  if (!icd_is_context(context))
    return ICD_FAIL(NULL, CL_INVALID_CONTEXT, "context %p is not a valid cl_context",
                    (void *)context);
  struct icd_usm usm = {.type = CL_MEM_TYPE_UNKNOWN_INTEL};
  void *base = NULL;
  size_t size = 0;
  cl_mem mem = icd_svm_find(context, pointer);
  if (mem && mem->usm.type && (const char *)pointer < mem->cpu + mem->size) {
    usm = mem->usm;
    base = mem->cpu;
    size = mem->size;
  }
  if (mem)
    icd_mem_drop(mem);
  switch (param_name) {
  case CL_MEM_ALLOC_TYPE_INTEL:
    return ICD_ANSWER(&answer, cl_unified_shared_memory_type_intel, usm.type);
  case CL_MEM_ALLOC_BASE_PTR_INTEL:
    return ICD_ANSWER(&answer, void *, base);
  case CL_MEM_ALLOC_SIZE_INTEL:
    return ICD_ANSWER(&answer, size_t, size);
  case CL_MEM_ALLOC_DEVICE_INTEL:
    return ICD_ANSWER(&answer, cl_device_id, usm.device);
  case CL_MEM_ALLOC_FLAGS_INTEL:
    return ICD_ANSWER(&answer, cl_mem_alloc_flags_intel, usm.flags);
  default:
    return ICD_FAIL(context, CL_INVALID_VALUE, "unknown param_name 0x%x", param_name);
  }
}

/* ---- kernels and commands ------------------------------------------------------------- */

/* Any pointer is allowed, because the allocation may be created later. */
static cl_int set_argument(cl_kernel kernel, cl_uint index, const void *pointer, cl_int other,
                           const char *call) {
  if (!icd_is_kernel(kernel))
    return icd_fail(NULL, CL_INVALID_KERNEL, call, "kernel %p is not a valid cl_kernel",
                    (void *)kernel);
  const cl_int code = icd_check_pointer_arg(kernel, index, other, call);
  if (!code)
    icd_set_pointer_arg(kernel, index, pointer);
  return code;
}

CL_API_ENTRY cl_int CL_API_CALL clSetKernelArgMemPointerINTEL(cl_kernel kernel, cl_uint arg_index,
                                                              const void *arg_value) {
  const cl_int code =
      icd_is_kernel(kernel) ? icd_check_svm(kernel->program->context, __func__) : CL_SUCCESS;
  if (code)
    return code;
  return set_argument(kernel, arg_index, arg_value, CL_INVALID_ARG_VALUE, __func__);
}

CL_API_ENTRY cl_int CL_API_CALL clSetKernelArgDevicePointerEXT(
    cl_kernel kernel, cl_uint arg_index, cl_mem_device_address_ext arg_value) {
  if (icd_is_kernel(kernel) && arg_index < kernel->code->arg_count &&
      kernel->code->args[arg_index].kind == KERNEL_ARG_CONSTANT)
    return ICD_FAIL(kernel->program->context, CL_INVALID_ARG_INDEX,
                    "argument %u of kernel %s is a pointer to constant memory; device addresses "
                    "require one to global memory",
                    arg_index, kernel->code->name);
  return set_argument(kernel, arg_index, (const void *)(uintptr_t)arg_value, CL_INVALID_ARG_INDEX,
                      __func__);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueMemFillINTEL(cl_command_queue queue, void *target,
                                                      const void *pattern, size_t pattern_size,
                                                      size_t size, cl_uint wait_count,
                                                      const cl_event *waits, cl_event *event) {
  return icd_svm_fill(queue, CL_COMMAND_MEMFILL_INTEL, target, pattern, pattern_size, size,
                      wait_count, waits, event, __func__);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueMemsetINTEL(cl_command_queue queue, void *target,
                                                     cl_int value, size_t size, cl_uint wait_count,
                                                     const cl_event *waits, cl_event *event) {
  const cl_uchar byte = (cl_uchar)value;
  return icd_svm_fill(queue, CL_COMMAND_MEMFILL_INTEL, target, &byte, sizeof(byte), size,
                      wait_count, waits, event, __func__);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueMemcpyINTEL(cl_command_queue queue, cl_bool blocking,
                                                     void *target, const void *source, size_t size,
                                                     cl_uint wait_count, const cl_event *waits,
                                                     cl_event *event) {
  return icd_svm_copy(queue, CL_COMMAND_MEMCPY_INTEL, blocking, target, source, size, wait_count,
                      waits, event, __func__);
}

/* Enqueues a hint about a range as a marker, because host and device share memory. */
static cl_int mark_allocation(cl_command_queue queue, cl_command_type type, const void *pointer,
                              size_t size, cl_uint wait_count, const cl_event *waits,
                              cl_event *event, const char *call) {
  cl_int code = icd_check_queue(queue, call);
  if (code || (code = icd_check_svm(queue->context, call)))
    return code;
  if (!pointer || !size)
    return icd_fail(queue->context, CL_INVALID_VALUE, call, "%s",
                    pointer ? "size is 0" : "ptr is NULL");
  return icd_mark(queue, type, false, wait_count, waits, event, call);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueMigrateMemINTEL(cl_command_queue queue,
                                                         const void *pointer, size_t size,
                                                         cl_mem_migration_flags flags,
                                                         cl_uint wait_count, const cl_event *waits,
                                                         cl_event *event) {
  cl_int code = icd_check_queue(queue, __func__);
  if (code || (code = icd_check_svm(queue->context, __func__)) ||
      (code = icd_check_migration(queue, flags, __func__)))
    return code;
  return mark_allocation(queue, CL_COMMAND_MIGRATEMEM_INTEL, pointer, size, wait_count, waits,
                         event, __func__);
}

/* The extension defines no advice with a meaning for this driver. */
CL_API_ENTRY cl_int CL_API_CALL clEnqueueMemAdviseINTEL(cl_command_queue queue, const void *pointer,
                                                        size_t size, cl_mem_advice_intel advice,
                                                        cl_uint wait_count, const cl_event *waits,
                                                        cl_event *event) {
  return mark_allocation(queue, CL_COMMAND_MEMADVISE_INTEL, pointer, size, wait_count, waits, event,
                         __func__);
}
