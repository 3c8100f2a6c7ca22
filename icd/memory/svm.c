/* Shared virtual memory: memory objects that the application identifies by their address, which is
 * the same for CPU and GPU (runtime/memory/memory.c). Coarse-grained and fine-grained memory do not
 * differ: the GPU snoops the CPU's caches (docs/hardware/kernel-interface.md 5), so host and device
 * see each other's writes at every synchronisation point, with or without mapping. Atomics that
 * both use at the same time are not supported, because they have not been tested on a board.
 */
#include "icd/memory/svm.h"

#include <stdlib.h>
#include <string.h>

#include "icd/context/retire.h"
#include "icd/memory/memory.h"
#include "icd/platform/experimental.h"

#include "icd/cl_tegracl.h"

#define DEVICE_ACCESS (CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY | CL_MEM_READ_ONLY)
#define SVM_FLAGS     (CL_MEM_SVM_FINE_GRAIN_BUFFER | CL_MEM_SVM_ATOMICS)

enum { FIRST_ROOM = 16 };

cl_int icd_check_svm(cl_context context, const char *call) {
  if (!context->device->info->shared_addresses)
    return icd_fail(context, CL_INVALID_OPERATION, call,
                    "shared virtual memory is not available: this process already uses the "
                    "addresses that the device needs");
  return CL_SUCCESS;
}

/* ---- the context's allocations ---------------------------------------------------- */

/* Returns the number of allocations that begin at or before pointer. The caller holds the
 * context's lock. */
static size_t find_rank(cl_context context, const void *pointer) {
  size_t low = 0, high = context->svm_count;
  while (low < high) {
    const size_t middle = (low + high) / 2;
    if ((const char *)pointer < context->svm[middle]->cpu)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

static bool add_allocation(cl_context context, cl_mem mem) {
  bool good = true;
  base_mutex_lock(&context->lock);
  if (context->svm_count == context->svm_room) {
    const size_t room = context->svm_room ? 2 * context->svm_room : FIRST_ROOM;
    cl_mem *more = realloc(context->svm, room * sizeof(cl_mem));
    good = more;
    if (more) {
      context->svm = more;
      context->svm_room = room;
    }
  }
  if (good) {
    cl_mem *place = context->svm + find_rank(context, mem->cpu);
    memmove(place + 1, place, (size_t)(context->svm + context->svm_count - place) * sizeof(cl_mem));
    *place = mem;
    context->svm_count++;
  }
  base_mutex_unlock(&context->lock);
  return good;
}

cl_mem icd_svm_remove(cl_context context, const void *pointer) {
  cl_mem mem = NULL;
  base_mutex_lock(&context->lock);
  const size_t below = find_rank(context, pointer);
  if (below && context->svm[below - 1]->cpu == pointer) {
    cl_mem *place = context->svm + below - 1;
    mem = *place;
    memmove(place, place + 1, (context->svm_count - below) * sizeof(cl_mem));
    context->svm_count--;
  }
  base_mutex_unlock(&context->lock);
  return mem;
}

cl_mem icd_svm_find(cl_context context, const void *pointer) {
  cl_mem mem = NULL;
  base_mutex_lock(&context->lock);
  const size_t below = find_rank(context, pointer);
  if (below) {
    mem = context->svm[below - 1];
    if ((const char *)pointer <= mem->cpu + mem->size)
      icd_mem_hold(mem);
    else
      mem = NULL;
  }
  base_mutex_unlock(&context->lock);
  return mem;
}

cl_mem icd_svm_create(cl_context context, cl_mem_flags flags, size_t size,
                      const struct icd_usm *usm, const cl_mem_properties *properties, cl_int *code,
                      const char *call) {
  icd_reclaim(context, false);
  struct rt_buffer *buffer;
  const int error = icd_mem_allocate(context, true, size, &buffer);
  if (error) {
    *code = icd_fail(context, icd_code(error, CL_MEM_OBJECT_ALLOCATION_FAILURE), call, "%s",
                     rt_last_message());
    return NULL;
  }
  cl_mem mem = icd_mem_wrap(context, flags, size, buffer, 0, code, call);
  if (!mem)
    return NULL;
  mem->usm = *usm;
  if (mem->gpu != (uint64_t)(uintptr_t)mem->cpu)
    *code = icd_fail(context, CL_OUT_OF_RESOURCES, call, "this process already uses address 0x%llx",
                     (unsigned long long)mem->gpu);
  else if (!icd_keep_mem_properties(mem, properties) || !add_allocation(context, mem))
    *code = icd_fail(context, CL_OUT_OF_HOST_MEMORY, call, "out of host memory");
  if (*code) {
    icd_mem_drop(mem);
    return NULL;
  }
  return mem;
}

cl_int icd_svm_release(cl_context context, void *pointer, bool intel, const char *call) {
  cl_mem found = pointer ? icd_svm_find(context, pointer) : NULL;
  cl_mem mem = found && !found->usm.type == !intel ? icd_svm_remove(context, pointer) : NULL;
  if (found)
    icd_mem_drop(found);
  if (mem)
    icd_mem_drop(mem);
  else if (pointer)
    return icd_fail(context, CL_INVALID_VALUE, call, "ptr %p is not %s allocation of this context",
                    pointer, intel ? "a unified shared memory" : "a shared virtual memory");
  return CL_SUCCESS;
}

/* ---- entry points -------------------------------------------------------------------- */

cl_int icd_check_alignment(cl_context context, cl_uint alignment, const char *call) {
  if ((alignment & (alignment - 1)) || alignment > ICD_SVM_ALIGN_MAX)
    return icd_fail(context, CL_INVALID_VALUE, call,
                    "alignment is %u; it must be 0 or a power of two up to %d", alignment,
                    ICD_SVM_ALIGN_MAX);
  return CL_SUCCESS;
}

CL_API_ENTRY void *CL_API_CALL clSVMAlloc(cl_context context, cl_svm_mem_flags flags, size_t size,
                                          cl_uint alignment) {
  if (!icd_is_context(context)) {
    ICD_FAIL(NULL, CL_INVALID_CONTEXT, "context %p is not a valid cl_context", (void *)context);
    return NULL;
  }
  if (icd_check_svm(context, __func__) ||
      icd_check_mem_flags(context, flags, DEVICE_ACCESS | SVM_FLAGS, __func__) ||
      icd_check_alignment(context, alignment, __func__))
    return NULL;
  if (flags & CL_MEM_SVM_ATOMICS) {
    ICD_FAIL(context, CL_INVALID_VALUE, "CL_MEM_SVM_ATOMICS is not supported");
    return NULL;
  }
  if (!size && icd_unified_svm())
    return NULL;
  const uint64_t most = context->device->info->max_buffer_bytes;
  if (!size || size > most) {
    ICD_FAIL(context, CL_INVALID_BUFFER_SIZE, "size is %zu; it must be from 1 to %llu bytes", size,
             (unsigned long long)most);
    return NULL;
  }
  const bool fine = flags & CL_MEM_SVM_FINE_GRAIN_BUFFER;
  const struct icd_usm usm = {.svm_type = fine ? ICD_SVM_FINE : ICD_SVM_COARSE};
  cl_int code;
  cl_mem mem = icd_svm_create(context, flags, size, &usm, NULL, &code, __func__);
  return mem ? mem->cpu : NULL;
}

/* The specification requires the application to wait for the commands that use the memory. Here
 * it is freed after those on the GPU, and deferred copies and fills, have completed. */
CL_API_ENTRY void CL_API_CALL clSVMFree(cl_context context, void *pointer) {
  if (!icd_is_context(context)) {
    ICD_FAIL(NULL, CL_INVALID_CONTEXT, "context %p is not a valid cl_context", (void *)context);
    return;
  }
  cl_mem mem = pointer ? icd_svm_remove(context, pointer) : NULL;
  if (mem)
    icd_mem_drop(mem);
  else if (pointer)
    ICD_FAIL(context, CL_INVALID_VALUE, "svm_pointer %p is not an allocation of this context",
             pointer);
}

/* ---- kernels ---------------------------------------------------------------------------- */

cl_int icd_set_svm_arg(cl_kernel kernel, cl_uint arg_index, const void *arg_value,
                       const char *call) {
  cl_int code;
  if (!icd_is_kernel(kernel))
    return icd_fail(NULL, CL_INVALID_KERNEL, call, "kernel %p is not a valid cl_kernel",
                    (void *)kernel);
  cl_context context = kernel->program->context;
  if ((code = icd_check_svm(context, call)) ||
      (code = icd_check_pointer_arg(kernel, arg_index, CL_INVALID_ARG_VALUE, call)))
    return code;
  if (arg_value && !icd_unified_svm()) {
    cl_mem mem = icd_svm_find(context, arg_value);
    if (!mem)
      return icd_fail(
          context, CL_INVALID_ARG_VALUE, call,
          "arg_value %p does not point into shared virtual memory of the kernel's context",
          arg_value);
    icd_mem_drop(mem);
  }
  icd_set_pointer_arg(kernel, arg_index, arg_value);
  return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL clSetKernelArgSVMPointer(cl_kernel kernel, cl_uint arg_index,
                                                         const void *arg_value) {
  return icd_set_svm_arg(kernel, arg_index, arg_value, __func__);
}

/* All memory of a context is mapped for all of its kernels, so the lists of pointers are only
 * checked. */
cl_int icd_set_exec_info(cl_kernel kernel, cl_kernel_exec_info param_name, size_t param_value_size,
                         const void *param_value, const char *call) {
  if (!icd_is_kernel(kernel))
    return icd_fail(NULL, CL_INVALID_KERNEL, call, "kernel %p is not a valid cl_kernel",
                    (void *)kernel);
  cl_context context = kernel->program->context;
  cl_int code;
  switch (param_name) {
  case CL_KERNEL_EXEC_INFO_SVM_PTRS:
  case CL_KERNEL_EXEC_INFO_USM_PTRS_INTEL:
    if ((code = icd_check_svm(context, call)))
      return code;
    __attribute__((fallthrough));
  case CL_KERNEL_EXEC_INFO_DEVICE_PTRS_EXT: /* which may differ from the host's addresses */
    /* A size of 0 with NULL is an empty list. */
    if (!param_value_size != !param_value || param_value_size % sizeof(void *))
      return icd_fail(context, CL_INVALID_VALUE, call,
                      "param_value_size %zu with param_value %p is not a list of pointers",
                      param_value_size, param_value);
    return CL_SUCCESS;
  case CL_KERNEL_EXEC_INFO_SVM_INDIRECT_ACCESS_KHR:
    if ((code = icd_check_unified_svm(context, CL_INVALID_VALUE, call)))
      return code;
    __attribute__((fallthrough));
  case CL_KERNEL_EXEC_INFO_INDIRECT_HOST_ACCESS_INTEL:
  case CL_KERNEL_EXEC_INFO_INDIRECT_DEVICE_ACCESS_INTEL:
  case CL_KERNEL_EXEC_INFO_INDIRECT_SHARED_ACCESS_INTEL:
    if ((code = icd_check_svm(context, call)))
      return code;
    __attribute__((fallthrough));
  case CL_KERNEL_EXEC_INFO_SVM_FINE_GRAIN_SYSTEM:
    if (!param_value || param_value_size != sizeof(cl_bool))
      return icd_fail(context, CL_INVALID_VALUE, call,
                      "param_value_size %zu with param_value %p is not a cl_bool", param_value_size,
                      param_value);
    if (param_name == CL_KERNEL_EXEC_INFO_SVM_FINE_GRAIN_SYSTEM && *(const cl_bool *)param_value)
      return icd_fail(context, CL_INVALID_OPERATION, call,
                      "CL_KERNEL_EXEC_INFO_SVM_FINE_GRAIN_SYSTEM is not supported");
    return CL_SUCCESS;
  default:
    return icd_fail(context, CL_INVALID_VALUE, call, "unknown param_name 0x%x", param_name);
  }
}

CL_API_ENTRY cl_int CL_API_CALL clSetKernelExecInfo(cl_kernel kernel,
                                                    cl_kernel_exec_info param_name,
                                                    size_t param_value_size,
                                                    const void *param_value) {
  return icd_set_exec_info(kernel, param_name, param_value_size, param_value, __func__);
}
