/* Contexts. Each has an address space of the GPU. */
#include <stdlib.h>
#include <string.h>

#include "icd/memory/memory.h"
#include "icd/queue/command.h"
#include "icd/queue/event_pool.h"

#include "icd/cl_tegracl.h"

/* All objects of the context hold a reference to it, so none exists any more. */
static void destroy_context(struct icd_object *object) {
  cl_context context = (cl_context)object;
  struct icd_context_destructor *destructor = context->destructors;
  while (destructor) { /* in reverse order of registration */
    struct icd_context_destructor *next = destructor->next;
    destructor->function(context, destructor->data);
    free(destructor);
    destructor = next;
  }
  icd_print_finish(context);
  icd_host_pages_remove_context(context);
  rt_context_destroy(context->rt);
  icd_event_pool_finish(context);
  free(context->svm);
  pthread_cond_destroy(&context->changed);
  base_mutex_destroy(&context->lock);
  icd_object_drop(&context->device->object);
  free(context->properties);
  icd_object_free(ICD_MAGIC_CONTEXT, context);
}

static const struct icd_kind context_kind = {.magic = ICD_MAGIC_CONTEXT,
                                             .destroy = destroy_context};

/* ---- changes ------------------------------------------------------------------ */

void icd_context_change_locked(cl_context context) {
  context->changes++;
  pthread_cond_broadcast(&context->changed);
}

void icd_context_change(cl_context context) {
  base_mutex_lock(&context->lock);
  icd_context_change_locked(context);
  base_mutex_unlock(&context->lock);
}

uint64_t icd_context_changes(cl_context context) {
  base_mutex_lock(&context->lock);
  const uint64_t changes = context->changes;
  base_mutex_unlock(&context->lock);
  return changes;
}

void icd_context_await_change(cl_context context, uint64_t changes) {
  base_mutex_lock(&context->lock);
  while (context->changes == changes)
    base_mutex_wait(&context->lock, &context->changed);
  base_mutex_unlock(&context->lock);
}

void icd_context_report_fault(cl_context context) {
  const char *fault = rt_context_fault(context->rt);
  if (fault && !atomic_exchange(&context->fault_reported, true))
    icd_fail(context, CL_OUT_OF_RESOURCES, "context", "%s", fault);
}

/* ---- entry points ------------------------------------------------------------- */

/* Checks a property list and sets *count to its length in words. */
static cl_int check_properties(const cl_context_properties *properties, size_t *count,
                               const char *call) {
  bool platform = false, sync = false, printer = false, print_bytes = false;
  *count = 0;
  if (!properties)
    return CL_SUCCESS;
  for (; properties[*count]; *count += 2) {
    const cl_context_properties name = properties[*count], value = properties[*count + 1];
    bool *seen = name == CL_CONTEXT_PLATFORM            ? &platform
                 : name == CL_CONTEXT_INTEROP_USER_SYNC ? &sync
                 : name == CL_PRINTF_CALLBACK_ARM       ? &printer
                 : name == CL_PRINTF_BUFFERSIZE_ARM     ? &print_bytes
                                                        : NULL;
    if (!seen)
      return icd_fail(NULL, CL_INVALID_PROPERTY, call, "unknown property 0x%llx",
                      (unsigned long long)name);
    if (*seen)
      return icd_fail(NULL, CL_INVALID_PROPERTY, call, "property 0x%llx is given twice",
                      (unsigned long long)name);
    *seen = true;
    if (name == CL_CONTEXT_PLATFORM && !icd_is_platform(value))
      return icd_fail(NULL, CL_INVALID_PLATFORM, call,
                      "CL_CONTEXT_PLATFORM is 0x%llx, which is not the platform of tegracl",
                      (unsigned long long)value);
    if (name == CL_CONTEXT_INTEROP_USER_SYNC && value != CL_TRUE && value != CL_FALSE)
      return icd_fail(NULL, CL_INVALID_PROPERTY, call,
                      "CL_CONTEXT_INTEROP_USER_SYNC is 0x%llx; it must be CL_TRUE or CL_FALSE",
                      (unsigned long long)value);
    if (name == CL_PRINTF_BUFFERSIZE_ARM && value <= 0)
      return icd_fail(NULL, CL_INVALID_PROPERTY, call,
                      "CL_PRINTF_BUFFERSIZE_ARM is %lld; it must be positive", (long long)value);
  }
  *count += 1;
  return CL_SUCCESS;
}

static cl_context create_context(const cl_context_properties *properties, size_t property_count,
                                 cl_device_id device, icd_context_notify notify, void *notify_data,
                                 cl_int *errcode_ret, const char *call) {
  if (!icd_device())
    return icd_null(errcode_ret,
                    icd_fail(NULL, CL_DEVICE_NOT_AVAILABLE, call, "the device cannot be opened"));
  cl_context context = icd_object_new(ICD_MAGIC_CONTEXT, sizeof(*context));
  if (!context)
    goto no_memory;
  if (property_count) {
    context->properties = malloc(property_count * sizeof(*properties));
    if (!context->properties)
      goto no_memory;
    memcpy(context->properties, properties, property_count * sizeof(*properties));
    context->property_count = property_count;
  }
  const int error = rt_context_create(device->rt, &context->rt);
  if (error) {
    free(context->properties);
    icd_object_free(ICD_MAGIC_CONTEXT, context);
    return icd_null(errcode_ret, icd_fail(NULL, icd_code(error, CL_OUT_OF_HOST_MEMORY), call, "%s",
                                          rt_last_message()));
  }
  context->device = device;
  context->notify = notify;
  context->notify_data = notify_data;
  context->next_queue = 1;
  base_mutex_init(&context->lock, BASE_LOCK_CONTEXT);
  pthread_cond_init(&context->changed, NULL);
  icd_print_init(context);
  icd_object_hold(&device->object);
  icd_object_init(&context->object, &context_kind);
  return ICD_GIVE(errcode_ret, context);

no_memory:
  icd_object_free(ICD_MAGIC_CONTEXT, context);
  return icd_null(errcode_ret, icd_fail(NULL, CL_OUT_OF_HOST_MEMORY, call, "out of host memory"));
}

CL_API_ENTRY cl_context CL_API_CALL clCreateContext(
    const cl_context_properties *properties, cl_uint num_devices, const cl_device_id *devices,
    void(CL_CALLBACK *pfn_notify)(const char *, const void *, size_t, void *), void *user_data,
    cl_int *errcode_ret) {
  size_t count;
  const cl_int code = check_properties(properties, &count, __func__);
  if (code)
    return icd_null(errcode_ret, code);
  if (!devices || !num_devices)
    return ICD_FAIL_NULL(errcode_ret, NULL, CL_INVALID_VALUE,
                         "num_devices is %u and devices %p; at least one device is required",
                         num_devices, (const void *)devices);
  if (!pfn_notify && user_data)
    return ICD_FAIL_NULL(errcode_ret, NULL, CL_INVALID_VALUE,
                         "pfn_notify is NULL, but user_data is not");
  for (cl_uint i = 0; i < num_devices; i++) /* duplicates are allowed and ignored */
    if (!icd_is_device(devices[i]))
      return ICD_FAIL_NULL(errcode_ret, NULL, CL_INVALID_DEVICE,
                           "devices[%u] %p is not a valid cl_device_id", i, (void *)devices[i]);
  return create_context(properties, count, devices[0], pfn_notify, user_data, errcode_ret,
                        __func__);
}

CL_API_ENTRY cl_context CL_API_CALL
clCreateContextFromType(const cl_context_properties *properties, cl_device_type device_type,
                        void(CL_CALLBACK *pfn_notify)(const char *, const void *, size_t, void *),
                        void *user_data, cl_int *errcode_ret) {
  size_t count;
  cl_int code = check_properties(properties, &count, __func__);
  if (code)
    return icd_null(errcode_ret, code);
  if (!pfn_notify && user_data)
    return ICD_FAIL_NULL(errcode_ret, NULL, CL_INVALID_VALUE,
                         "pfn_notify is NULL, but user_data is not");
  cl_device_id device;
  code = clGetDeviceIDs(&icd_platform, device_type, 1, &device, NULL);
  if (code)
    return icd_null(errcode_ret, code);
  return create_context(properties, count, device, pfn_notify, user_data, errcode_ret, __func__);
}

CL_API_ENTRY cl_int CL_API_CALL clRetainContext(cl_context context) {
  if (!icd_is_context(context))
    return ICD_FAIL(NULL, CL_INVALID_CONTEXT, "context %p is not a valid cl_context",
                    (void *)context);
  icd_object_retain(&context->object);
  return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL clReleaseContext(cl_context context) {
  if (!icd_is_context(context) ||
      icd_object_release(&context->object, CL_INVALID_CONTEXT) != CL_SUCCESS)
    return ICD_FAIL(NULL, CL_INVALID_CONTEXT,
                    "context %p is not a valid cl_context or was released too often",
                    (void *)context);
  return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL clGetContextInfo(cl_context context, cl_context_info param_name,
                                                 size_t param_value_size, void *param_value,
                                                 size_t *param_value_size_ret) {
  const struct icd_answer answer = {param_value_size, param_value, param_value_size_ret};
  if (!icd_is_context(context))
    return ICD_FAIL(NULL, CL_INVALID_CONTEXT, "context %p is not a valid cl_context",
                    (void *)context);
  switch (param_name) {
  case CL_CONTEXT_REFERENCE_COUNT:
    return ICD_ANSWER(&answer, cl_uint, atomic_load(&context->object.handles));
  case CL_CONTEXT_NUM_DEVICES:
    return ICD_ANSWER(&answer, cl_uint, 1);
  case CL_CONTEXT_DEVICES:
    return ICD_ANSWER(&answer, cl_device_id, context->device);
  case CL_CONTEXT_PROPERTIES:
    return icd_answer_bytes(&answer, __func__, context->properties,
                            context->property_count * sizeof(*context->properties));
  case CL_CONTEXT_FAULT_TEGRACL: {
    const char *fault = rt_context_fault(context->rt);
    return ICD_ANSWER_STRING(&answer, fault ? fault : "");
  }
  default:
    return ICD_FAIL(context, CL_INVALID_VALUE, "unknown param_name 0x%x", param_name);
  }
}

CL_API_ENTRY cl_int CL_API_CALL clSetContextDestructorCallback(
    cl_context context, void(CL_CALLBACK *pfn_notify)(cl_context, void *), void *user_data) {
  if (!icd_is_context(context))
    return ICD_FAIL(NULL, CL_INVALID_CONTEXT, "context %p is not a valid cl_context",
                    (void *)context);
  if (!pfn_notify)
    return ICD_FAIL(context, CL_INVALID_VALUE, "pfn_notify is NULL");
  struct icd_context_destructor *destructor = malloc(sizeof(*destructor));
  if (!destructor)
    return ICD_FAIL(context, CL_OUT_OF_HOST_MEMORY, "out of host memory");
  destructor->function = pfn_notify;
  destructor->data = user_data;
  base_mutex_lock(&context->lock);
  destructor->next = context->destructors;
  context->destructors = destructor;
  base_mutex_unlock(&context->lock);
  return CL_SUCCESS;
}
