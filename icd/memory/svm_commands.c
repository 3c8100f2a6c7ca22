/* Commands on shared virtual memory. Copies and fills also work on any host memory, as the
 * specification allows. Mapping moves no data.
 */
#include <stdlib.h>
#include <string.h>

#include "icd/memory/svm.h"
#include "icd/memory/transfer.h"
#include "icd/platform/experimental.h"
#include "icd/queue/command.h"

static cl_int check_queue(cl_command_queue queue, const char *call) {
  const cl_int code = icd_check_queue(queue, call);
  return code ? code : icd_check_svm(queue->context, call);
}

/* Enqueues an operation whose pointers may point into allocations or other host memory. */
static cl_int enqueue_svm(cl_command_queue queue, struct icd_operation *operation, bool blocking,
                          const void *target, const void *source, cl_uint wait_count,
                          const cl_event *waits, cl_event *event, const char *call) {
  operation->mems[0] = source ? icd_svm_find(queue->context, source) : NULL;
  operation->mems[1] = icd_svm_find(queue->context, target);
  const cl_mem held[2] = {operation->mems[0], operation->mems[1]};
  const cl_int code = icd_enqueue(queue, operation, blocking, wait_count, waits, event, call);
  for (int i = 0; i < 2; i++)
    if (held[i])
      icd_mem_drop(held[i]);
  return code;
}

static cl_int check_end(cl_command_queue queue, uintptr_t start, size_t size, const char *call) {
  if (start > UINTPTR_MAX - size)
    return icd_fail(queue->context, CL_INVALID_VALUE, call,
                    "%zu bytes at %p exceed the address space", size, (void *)start);
  return CL_SUCCESS;
}

cl_int icd_svm_copy_operation(cl_command_queue queue, cl_command_type type, void *target,
                              const void *source, size_t size, struct icd_operation *operation,
                              const char *call) {
  if (!target || !source)
    return icd_fail(queue->context, CL_INVALID_VALUE, call, "%s is NULL",
                    target ? "src_ptr" : "dst_ptr");
  const uintptr_t to = (uintptr_t)target, from = (uintptr_t)source;
  cl_int code;
  if ((code = check_end(queue, to, size, call)) || (code = check_end(queue, from, size, call)))
    return code;
  if (to < from + size && from < to + size)
    return icd_fail(queue->context, CL_MEM_COPY_OVERLAP, call,
                    "the source and destination of %zu bytes overlap", size);
  *operation = icd_line(type, target, source, size);
  return CL_SUCCESS;
}

cl_int icd_svm_copy(cl_command_queue queue, cl_command_type type, bool blocking, void *target,
                    const void *source, size_t size, cl_uint wait_count, const cl_event *waits,
                    cl_event *event, const char *call) {
  struct icd_operation operation;
  cl_int code;
  if ((code = check_queue(queue, call)) || (code = icd_check_waits(queue, wait_count, waits, call)))
    return code;
  if (!size && icd_unified_svm()) /* any pointer is allowed */
    return icd_mark(queue, type, blocking, wait_count, waits, event, call);
  if ((code = icd_svm_copy_operation(queue, type, target, source, size, &operation, call)))
    return code;
  return enqueue_svm(queue, &operation, blocking, target, source, wait_count, waits, event, call);
}

cl_int icd_svm_fill_operation(cl_command_queue queue, cl_command_type type, void *target,
                              const void *pattern, size_t pattern_size, size_t size,
                              struct icd_operation *operation, const char *call) {
  if (!target)
    return icd_fail(queue->context, CL_INVALID_VALUE, call, "the destination pointer is NULL");
  cl_int code = icd_check_pattern(queue, pattern, pattern_size, (uintptr_t)target, size, call);
  if (!code)
    code = check_end(queue, (uintptr_t)target, size, call);
  if (!code)
    *operation = icd_fill_operation(type, target, pattern, pattern_size, size);
  return code;
}

cl_int icd_svm_fill(cl_command_queue queue, cl_command_type type, void *target, const void *pattern,
                    size_t pattern_size, size_t size, cl_uint wait_count, const cl_event *waits,
                    cl_event *event, const char *call) {
  struct icd_operation operation;
  cl_int code;
  if ((code = check_queue(queue, call)) || (code = icd_check_waits(queue, wait_count, waits, call)))
    return code;
  if (!size && icd_unified_svm()) { /* any target is allowed */
    code = icd_check_pattern(queue, pattern, pattern_size, (uintptr_t)target, size, call);
    return code ? code : icd_mark(queue, type, false, wait_count, waits, event, call);
  }
  if ((code = icd_svm_fill_operation(queue, type, target, pattern, pattern_size, size, &operation,
                                     call)))
    return code;
  return enqueue_svm(queue, &operation, false, target, NULL, wait_count, waits, event, call);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueSVMMemcpy(cl_command_queue queue, cl_bool blocking,
                                                   void *target, const void *source, size_t size,
                                                   cl_uint wait_count, const cl_event *waits,
                                                   cl_event *event) {
  return icd_svm_copy(queue, CL_COMMAND_SVM_MEMCPY, blocking, target, source, size, wait_count,
                      waits, event, __func__);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueSVMMemFill(cl_command_queue queue, void *target,
                                                    const void *pattern, size_t pattern_size,
                                                    size_t size, cl_uint wait_count,
                                                    const cl_event *waits, cl_event *event) {
  return icd_svm_fill(queue, CL_COMMAND_SVM_MEMFILL, target, pattern, pattern_size, size,
                      wait_count, waits, event, __func__);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueSVMMap(cl_command_queue queue, cl_bool blocking,
                                                cl_map_flags flags, void *pointer, size_t size,
                                                cl_uint wait_count, const cl_event *waits,
                                                cl_event *event) {
  cl_int code = check_queue(queue, __func__);
  if (code)
    return code;
  if (!pointer || !size)
    return ICD_FAIL(queue->context, CL_INVALID_VALUE, "%s",
                    pointer ? "size is 0" : "svm_ptr is NULL");
  if ((code = icd_check_map_flags(queue, flags, __func__)))
    return code;
  return icd_mark(queue, CL_COMMAND_SVM_MAP, blocking, wait_count, waits, event, __func__);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueSVMUnmap(cl_command_queue queue, void *pointer,
                                                  cl_uint wait_count, const cl_event *waits,
                                                  cl_event *event) {
  const cl_int code = check_queue(queue, __func__);
  if (code)
    return code;
  if (!pointer)
    return ICD_FAIL(queue->context, CL_INVALID_VALUE, "svm_ptr is NULL");
  return icd_mark(queue, CL_COMMAND_SVM_UNMAP, false, wait_count, waits, event, __func__);
}

/* Checks that a range is inside one allocation. A size of 0 means the whole allocation. */
static cl_int check_range(cl_command_queue queue, const void *pointer, size_t size,
                          const char *call) {
  cl_mem mem = icd_svm_find(queue->context, pointer);
  const bool inside = mem && size <= mem->size - (size_t)((const char *)pointer - mem->cpu);
  if (mem)
    icd_mem_drop(mem);
  if (!inside)
    return icd_fail(queue->context, CL_INVALID_VALUE, call,
                    "%zu bytes at %p are not inside one allocation of the context", size, pointer);
  return CL_SUCCESS;
}

/* Host and device share memory, so nothing is moved. */
CL_API_ENTRY cl_int CL_API_CALL clEnqueueSVMMigrateMem(cl_command_queue queue, cl_uint count,
                                                       const void **pointers, const size_t *sizes,
                                                       cl_mem_migration_flags flags,
                                                       cl_uint wait_count, const cl_event *waits,
                                                       cl_event *event) {
  cl_int code = check_queue(queue, __func__);
  if (code)
    return code;
  if (!count || !pointers)
    return ICD_FAIL(queue->context, CL_INVALID_VALUE,
                    "num_svm_pointers is %u and svm_pointers %p; at least one pointer is required",
                    count, (void *)pointers);
  for (cl_uint i = 0; i < count; i++)
    if ((pointers[i] || (sizes && sizes[i]) || !icd_unified_svm()) &&
        (code = check_range(queue, pointers[i], sizes ? sizes[i] : 0, __func__)))
      return code;
  if ((code = icd_check_migration(queue, flags, __func__)))
    return code;
  return icd_mark(queue, CL_COMMAND_SVM_MIGRATE_MEM, false, wait_count, waits, event, __func__);
}

/* ---- clEnqueueSVMFree --------------------------------------------------------------- */

/* If the command is terminated, because an event in its wait list or the device has failed, the
 * pointers are not freed and the callback is not called. The application can still pass them to
 * clSVMFree. */

typedef void(CL_CALLBACK *free_callback)(cl_command_queue, cl_uint, void *[], void *);

struct svm_free {
  free_callback function; /* NULL means clSVMFree */
  void *data;
  cl_uint count;
  void *pointers[];
};

static void free_now(cl_command_queue queue, void *data) {
  struct svm_free *order = data;
  if (order->function) {
    order->function(queue, order->count, order->pointers, order->data);
    return;
  }
  for (cl_uint i = 0; i < order->count; i++)
    clSVMFree(queue->context, order->pointers[i]);
}

CL_API_ENTRY cl_int CL_API_CALL
clEnqueueSVMFree(cl_command_queue queue, cl_uint count, void *pointers[],
                 void(CL_CALLBACK *free_function)(cl_command_queue, cl_uint, void *[], void *),
                 void *user_data, cl_uint wait_count, const cl_event *waits, cl_event *event) {
  cl_int code = check_queue(queue, __func__);
  if (code)
    return code;
  if (!count != !pointers)
    return ICD_FAIL(queue->context, CL_INVALID_VALUE,
                    "num_svm_pointers is %u but svm_pointers is %s", count,
                    pointers ? "not NULL" : "NULL");
  for (cl_uint i = 0; i < count; i++)
    if (!pointers[i] && !icd_unified_svm())
      return ICD_FAIL(queue->context, CL_INVALID_VALUE, "svm_pointers[%u] is NULL", i);
  if ((code = icd_check_waits(queue, wait_count, waits, __func__)))
    return code;
  const size_t bytes = sizeof(struct svm_free) + count * sizeof(*pointers);
  struct svm_free *order = malloc(bytes);
  if (!order)
    return ICD_FAIL(queue->context, CL_OUT_OF_HOST_MEMORY, "out of host memory");
  *order = (struct svm_free){.function = free_function, .data = user_data, .count = count};
  if (count)
    memcpy(order->pointers, pointers, count * sizeof(*pointers));
  struct icd_operation operation = {
      .kind = ICD_CALL,
      .type = CL_COMMAND_SVM_FREE,
      .call = {.function = free_now, .data = order, .bytes = bytes},
  };
  code = icd_enqueue(queue, &operation, false, wait_count, waits, event, __func__);
  free(order);
  return code;
}
