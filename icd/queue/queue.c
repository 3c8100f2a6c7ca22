/* Command queues. The runtime assigns each one a channel of the GPU, which several queues may
 * share. */
#include <stdlib.h>
#include <string.h>

#include "icd/queue/command.h"

#define KNOWN_FLAGS                                                                                \
  (CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE | CL_QUEUE_ON_DEVICE |       \
   CL_QUEUE_ON_DEVICE_DEFAULT)
#define SUPPORTED_FLAGS (CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE)

/* The queue's work must complete before the queue is removed from the context's list, because
 * icd_retire uses that list to find out whether released memory is still in use. */
static void destroy_queue(struct icd_object *object) {
  cl_command_queue queue = (cl_command_queue)object;
  cl_context context = queue->context;
  icd_worker_stop(queue);
  rt_queue_wait(queue->rt, rt_queue_submitted(queue->rt), UINT64_MAX);
  icd_print_drain(queue);
  icd_context_remove_queue(queue);
  rt_queue_destroy(queue->rt);
  icd_reclaim(context, false);
  /* Objects that waited for this queue may now wait for others. */
  icd_reclaim_in_background(context);
  free(queue->properties);
  icd_object_free(ICD_MAGIC_QUEUE, queue);
  icd_context_drop(context);
}

static const struct icd_kind queue_kind = {.magic = ICD_MAGIC_QUEUE, .destroy = destroy_queue};

static cl_command_queue create_queue(cl_context context, cl_device_id device,
                                     cl_command_queue_properties flags, enum rt_priority priority,
                                     const cl_queue_properties *properties, size_t property_count,
                                     cl_int *errcode_ret, const char *call) {
  if (flags & ~(cl_command_queue_properties)KNOWN_FLAGS)
    return icd_null(errcode_ret,
                    icd_fail(context, CL_INVALID_VALUE, call, "properties 0x%llx has unknown bits",
                             (unsigned long long)flags));
  if (flags & ~(cl_command_queue_properties)SUPPORTED_FLAGS)
    return icd_null(errcode_ret, icd_fail(context, CL_INVALID_QUEUE_PROPERTIES, call,
                                          "on-device queues are not supported"));
  cl_command_queue queue = icd_object_new(ICD_MAGIC_QUEUE, sizeof(*queue));
  if (!queue)
    goto no_memory;
  if (property_count) {
    queue->properties = malloc(property_count * sizeof(*properties));
    if (!queue->properties)
      goto no_memory;
    memcpy(queue->properties, properties, property_count * sizeof(*properties));
    queue->property_count = property_count;
  }
  int error = rt_queue_create(context->rt, priority, &queue->rt);
  if (icd_context_make_room(context, error))
    error = rt_queue_create(context->rt, priority, &queue->rt);
  if (error) {
    free(queue->properties);
    icd_object_free(ICD_MAGIC_QUEUE, queue);
    return icd_null(errcode_ret, icd_fail(context, icd_code(error, CL_OUT_OF_HOST_MEMORY), call,
                                          "%s", rt_last_message()));
  }
  queue->context = context;
  queue->device = device;
  queue->flags = flags;
  icd_lock_init(&queue->lock, BASE_LOCK_QUEUE);
  icd_context_hold(context);
  icd_object_init(&queue->object, &queue_kind);
  base_mutex_lock(&context->lock);
  queue->serial = context->next_queue++;
  cl_command_queue *link = &context->queues;
  while (*link)
    link = &(*link)->next;
  *link = queue;
  base_mutex_unlock(&context->lock);
  return ICD_GIVE(errcode_ret, queue);

no_memory:
  icd_object_free(ICD_MAGIC_QUEUE, queue);
  return icd_null(errcode_ret,
                  icd_fail(context, CL_OUT_OF_HOST_MEMORY, call, "out of host memory"));
}

static cl_int check_place(cl_context context, cl_device_id device, const char *call) {
  if (!icd_is_context(context))
    return icd_fail(NULL, CL_INVALID_CONTEXT, call, "context %p is not a valid cl_context",
                    (void *)context);
  if (!icd_is_device(device) || device != context->device)
    return icd_fail(context, CL_INVALID_DEVICE, call, "device %p is not in the context",
                    (void *)device);
  return CL_SUCCESS;
}

CL_API_ENTRY cl_command_queue CL_API_CALL
clCreateCommandQueue(cl_context context, cl_device_id device,
                     cl_command_queue_properties properties, cl_int *errcode_ret) {
  const cl_int code = check_place(context, device, __func__);
  if (code)
    return icd_null(errcode_ret, code);
  if (properties & ~(cl_command_queue_properties)SUPPORTED_FLAGS)
    return ICD_FAIL_NULL(errcode_ret, context, CL_INVALID_VALUE,
                         "properties 0x%llx has bits that are not valid for this function",
                         (unsigned long long)properties);
  return create_queue(context, device, properties, RT_PRIORITY_MEDIUM, NULL, 0, errcode_ret,
                      __func__);
}

static bool is_one_of(cl_queue_properties value, cl_queue_properties low,
                      cl_queue_properties medium, cl_queue_properties high) {
  return value == low || value == medium || value == high;
}

CL_API_ENTRY cl_command_queue CL_API_CALL
clCreateCommandQueueWithProperties(cl_context context, cl_device_id device,
                                   const cl_queue_properties *properties, cl_int *errcode_ret) {
  const cl_int code = check_place(context, device, __func__);
  if (code)
    return icd_null(errcode_ret, code);
  cl_command_queue_properties flags = 0;
  enum rt_priority priority = RT_PRIORITY_MEDIUM;
  size_t count = 0;
  for (; properties && properties[count]; count += 2) {
    const cl_queue_properties value = properties[count + 1];
    switch (properties[count]) {
    case CL_QUEUE_PROPERTIES:
      flags = value;
      break;
    case CL_QUEUE_PRIORITY_KHR:
      if (!is_one_of(value, CL_QUEUE_PRIORITY_LOW_KHR, CL_QUEUE_PRIORITY_MED_KHR,
                     CL_QUEUE_PRIORITY_HIGH_KHR))
        return ICD_FAIL_NULL(errcode_ret, context, CL_INVALID_VALUE,
                             "CL_QUEUE_PRIORITY_KHR has the unknown value 0x%llx",
                             (unsigned long long)value);
      priority = value == CL_QUEUE_PRIORITY_HIGH_KHR  ? RT_PRIORITY_HIGH
                 : value == CL_QUEUE_PRIORITY_MED_KHR ? RT_PRIORITY_MEDIUM
                                                      : RT_PRIORITY_LOW;
      break;
    case CL_QUEUE_THROTTLE_KHR: /* no effect; the power mode of the board decides */
      if (!is_one_of(value, CL_QUEUE_THROTTLE_LOW_KHR, CL_QUEUE_THROTTLE_MED_KHR,
                     CL_QUEUE_THROTTLE_HIGH_KHR))
        return ICD_FAIL_NULL(errcode_ret, context, CL_INVALID_VALUE,
                             "CL_QUEUE_THROTTLE_KHR has the unknown value 0x%llx",
                             (unsigned long long)value);
      break;
    case CL_QUEUE_SIZE:
      return ICD_FAIL_NULL(errcode_ret, context, CL_INVALID_QUEUE_PROPERTIES,
                           "CL_QUEUE_SIZE requires an on-device queue; these are not supported");
    default:
      return ICD_FAIL_NULL(errcode_ret, context, CL_INVALID_VALUE, "unknown property 0x%llx",
                           (unsigned long long)properties[count]);
    }
  }
  return create_queue(context, device, flags, priority, properties, properties ? count + 1 : 0,
                      errcode_ret, __func__);
}

CL_API_ENTRY cl_int CL_API_CALL clRetainCommandQueue(cl_command_queue queue) {
  const cl_int code = icd_check_queue(queue, __func__);
  if (!code)
    icd_object_retain(&queue->object);
  return code;
}

CL_API_ENTRY cl_int CL_API_CALL clReleaseCommandQueue(cl_command_queue queue) {
  const cl_int code = icd_check_queue(queue, __func__);
  if (code)
    return code;
  icd_queue_hold(queue);
  const cl_int released = icd_object_release(&queue->object, CL_INVALID_COMMAND_QUEUE);
  /* No later call on this queue will reclaim retired objects, so wait for the GPU. The worker
   * does so for deferred commands. */
  if (!released && !atomic_load(&queue->object.handles)) {
    rt_queue_wait(queue->rt, rt_queue_submitted(queue->rt), UINT64_MAX);
    icd_print_drain(queue);
    icd_reclaim(queue->context, false);
  }
  if (released)
    ICD_FAIL(queue->context, released, "command_queue %p has been released too often",
             (void *)queue);
  icd_queue_drop(queue);
  return released;
}

CL_API_ENTRY cl_int CL_API_CALL clGetCommandQueueInfo(cl_command_queue queue,
                                                      cl_command_queue_info param_name,
                                                      size_t param_value_size, void *param_value,
                                                      size_t *param_value_size_ret) {
  const struct icd_answer answer = {param_value_size, param_value, param_value_size_ret};
  const cl_int code = icd_check_queue(queue, __func__);
  if (code)
    return code;
  switch (param_name) {
  case CL_QUEUE_CONTEXT:
    return ICD_ANSWER(&answer, cl_context, queue->context);
  case CL_QUEUE_DEVICE:
    return ICD_ANSWER(&answer, cl_device_id, queue->device);
  case CL_QUEUE_REFERENCE_COUNT:
    return ICD_ANSWER(&answer, cl_uint, atomic_load(&queue->object.handles));
  case CL_QUEUE_PROPERTIES:
    return ICD_ANSWER(&answer, cl_command_queue_properties, queue->flags);
  case CL_QUEUE_PROPERTIES_ARRAY:
    return icd_answer_bytes(&answer, __func__, queue->properties,
                            queue->property_count * sizeof(*queue->properties));
  case CL_QUEUE_DEVICE_DEFAULT: /* on-device queues are not supported */
    return ICD_ANSWER(&answer, cl_command_queue, NULL);
  case CL_QUEUE_SIZE:
    return ICD_FAIL(queue->context, CL_INVALID_COMMAND_QUEUE,
                    "CL_QUEUE_SIZE can only be queried for on-device queues");
  default:
    return ICD_FAIL(queue->context, CL_INVALID_VALUE, "unknown param_name 0x%x", param_name);
  }
}

/* Deprecated since OpenCL 1.1. Always fails. */
CL_API_ENTRY cl_int CL_API_CALL
clSetCommandQueueProperty(cl_command_queue queue, cl_command_queue_properties properties,
                          cl_bool enable, cl_command_queue_properties *old_properties) {
  const cl_int code = icd_check_queue(queue, __func__);
  if (code)
    return code;
  if (old_properties)
    *old_properties = queue->flags;
  return ICD_FAIL(queue->context, CL_INVALID_OPERATION,
                  "the properties of a command queue cannot be changed after its creation");
}

CL_API_ENTRY cl_int CL_API_CALL clFlush(cl_command_queue queue) {
  return icd_check_queue(queue, __func__); /* commands are submitted as soon as they can be */
}

CL_API_ENTRY cl_int CL_API_CALL clFinish(cl_command_queue queue) {
  const cl_int code = icd_check_queue(queue, __func__);
  if (code)
    return code;
  const int error = icd_queue_finish(queue);
  icd_reclaim(queue->context, false);
  if (error) {
    const char *fault = rt_context_fault(queue->context->rt);
    icd_context_report_fault(queue->context);
    return ICD_FAIL(queue->context, CL_OUT_OF_RESOURCES, "%s", fault ? fault : rt_last_message());
  }
  return CL_SUCCESS;
}
