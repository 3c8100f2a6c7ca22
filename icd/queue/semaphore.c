/* cl_khr_semaphore: binary semaphores, between queues and, as sync fds, between drivers
 * (cl_khr_external_semaphore_sync_fd). A semaphore's signal is an event, that of the command that
 * signals it or of an imported fence. If a wait is enqueued before the signal, the semaphore has a
 * promise instead: a user event, which completes with the next signal.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/thread.h"
#include "icd/queue/command.h"

#include "icd/cl_tegracl.h"

struct _cl_semaphore_khr {
  struct icd_object object;
  cl_context context; /* held */
  cl_semaphore_properties_khr *properties;
  size_t property_count;
  bool exportable, imported;

  struct base_mutex lock; /* guards what follows */
  cl_event signal;        /* held; NULL if no signal has been enqueued */
  cl_event promise;       /* held; NULL, or the event of waits for the next signal */
};

#define icd_is_semaphore(handle)                                                                   \
  icd_object_is((const struct icd_object *)(handle), ICD_MAGIC_SEMAPHORE)

static void drop_event(cl_event event) {
  if (event)
    icd_event_drop(event);
}

static void destroy_semaphore(struct icd_object *object) {
  cl_semaphore_khr semaphore = (cl_semaphore_khr)object;
  cl_context context = semaphore->context;
  drop_event(semaphore->signal);
  if (semaphore->promise)
    icd_event_set(semaphore->promise, CL_INVALID_SEMAPHORE_KHR, 0, 0);
  drop_event(semaphore->promise);
  base_mutex_destroy(&semaphore->lock);
  free(semaphore->properties);
  icd_object_free(ICD_MAGIC_SEMAPHORE, semaphore);
  icd_context_drop(context);
}

static const struct icd_kind semaphore_kind = {.magic = ICD_MAGIC_SEMAPHORE,
                                               .destroy = destroy_semaphore};

/* ---- sync fds ------------------------------------------------------------------------ */

struct awaited_fence {
  cl_event event; /* held */
  int fd;         /* owned */
};

static void *await_fence(void *data) {
  struct awaited_fence *fence = data;
  struct pollfd file = {.fd = fence->fd, .events = POLLIN};
  while (poll(&file, 1, -1) < 0 && errno == EINTR)
    ;
  close(fence->fd);
  icd_event_set(fence->event, file.revents & POLLIN ? CL_COMPLETE : CL_OUT_OF_RESOURCES, 0, 0);
  icd_event_drop(fence->event);
  free(fence);
  return NULL;
}

/* Returns a user event that completes with the fence, and takes ownership of fd. -1 is a fence
 * that is already signalled. On failure returns NULL, sets *code (to refused if fd is not a sync
 * fd), and leaves fd to the caller. */
static cl_event event_of_fence(cl_context context, int fd, cl_int refused, cl_int *code,
                               const char *call) {
  struct pollfd file = {.fd = fd, .events = POLLIN};
  if (fd >= 0 && (poll(&file, 1, 0) < 0 || file.revents & POLLNVAL)) {
    *code = icd_fail(context, refused, call, "file descriptor %d is not a sync fd", fd);
    return NULL;
  }
  cl_event event = icd_event_create(context, NULL, CL_COMMAND_USER);
  struct awaited_fence *fence = malloc(sizeof(*fence));
  *code = CL_SUCCESS;
  if (!event || !fence) {
    *code = icd_fail(context, CL_OUT_OF_HOST_MEMORY, call, "out of host memory");
  } else if (fd < 0 || file.revents & POLLIN) {
    icd_event_set(event, CL_COMPLETE, 0, 0);
    if (fd >= 0)
      close(fd);
  } else {
    icd_event_hold(event);
    *fence = (struct awaited_fence){event, fd};
    if (!base_thread_start(NULL, await_fence, fence))
      return event;
    icd_event_drop(event);
    *code = icd_fail(context, CL_OUT_OF_RESOURCES, call,
                     "cannot start a thread that waits for the sync fd");
  }
  free(fence);
  if (*code) {
    drop_event(event);
    return NULL;
  }
  return event;
}

/* Exports the event of a signal as a sync fd. Waits until the command has been submitted,
 * because the fence is created from its point on the timeline. */
static cl_int export_event(cl_event event, int *fd, const char *call) {
  cl_context context = event->context;
  cl_command_queue queue = event->queue;
  if (queue)
    icd_event_await_submission(event);
  if (!queue || icd_event_status(event) < 0)
    return icd_fail(
        context, CL_INVALID_OPERATION, call,
        "the signal of the semaphore was imported or has failed, and cannot be exported");
  const uint64_t point = atomic_load(&event->tracked) ? event->point : 0;
  const int error = rt_queue_fence(queue->rt, point, fd);
  return error ? icd_fail(context, icd_code(error, CL_OUT_OF_HOST_MEMORY), call, "%s",
                          rt_last_message())
               : CL_SUCCESS;
}

/* ---- properties ------------------------------------------------------------------------- */

struct given_properties {
  size_t words; /* length of the list including the final 0 */
  bool type, devices, exports, imports;
  int fd;
};

/* Sets *count to the number of values in a zero-terminated list and returns its end. */
static const cl_semaphore_properties_khr *skip_list(const cl_semaphore_properties_khr *value,
                                                    size_t *count) {
  for (*count = 0; *value; value++)
    ++*count;
  return value + 1;
}

static cl_int read_properties(cl_context context, const cl_semaphore_properties_khr *list,
                              struct given_properties *given, const char *call) {
  *given = (struct given_properties){.words = 1, .fd = -1};
  if (!list || !*list)
    return icd_fail(context, CL_INVALID_VALUE, call, "sema_props is NULL or empty");
  const cl_semaphore_properties_khr *p = list;
  while (*p) {
    const cl_semaphore_properties_khr name = *p++, *values = p;
    bool *seen = name == CL_SEMAPHORE_TYPE_KHR                  ? &given->type
                 : name == CL_SEMAPHORE_DEVICE_HANDLE_LIST_KHR  ? &given->devices
                 : name == CL_SEMAPHORE_EXPORT_HANDLE_TYPES_KHR ? &given->exports
                 : name == CL_SEMAPHORE_HANDLE_SYNC_FD_KHR      ? &given->imports
                                                                : NULL;
    if (!seen || *seen)
      return icd_fail(context, CL_INVALID_PROPERTY, call, "property 0x%llx is %s",
                      (unsigned long long)name, seen ? "given twice" : "unknown");
    *seen = true;
    if (seen == &given->type) {
      if (*p++ != CL_SEMAPHORE_TYPE_BINARY_KHR)
        return icd_fail(
            context, CL_INVALID_PROPERTY, call,
            "CL_SEMAPHORE_TYPE_KHR is 0x%llx; only CL_SEMAPHORE_TYPE_BINARY_KHR is supported",
            (unsigned long long)values[0]);
    } else if (seen == &given->imports) {
      given->fd = (int)*p++;
    } else {
      size_t count;
      p = skip_list(p, &count);
      for (size_t i = 0; i < count; i++)
        if (seen == &given->devices && (cl_device_id)(uintptr_t)values[i] != context->device)
          return icd_fail(
              context, CL_INVALID_DEVICE, call,
              "CL_SEMAPHORE_DEVICE_HANDLE_LIST_KHR has a device that is not in the context");
        else if (seen == &given->exports && values[i] != CL_SEMAPHORE_HANDLE_SYNC_FD_KHR)
          return icd_fail(context, CL_INVALID_PROPERTY, call,
                          "export handle type 0x%llx is not supported; "
                          "CL_SEMAPHORE_HANDLE_SYNC_FD_KHR is the only one",
                          (unsigned long long)values[i]);
      if (seen == &given->devices && count != 1)
        return icd_fail(context, CL_INVALID_DEVICE, call,
                        "CL_SEMAPHORE_DEVICE_HANDLE_LIST_KHR has %zu devices; it must have one",
                        count);
      if (count > 1)
        return icd_fail(
            context, CL_INVALID_VALUE, call,
            "CL_SEMAPHORE_EXPORT_HANDLE_TYPES_KHR has %zu handle types; at most one is supported",
            count);
      given->exports &= count || seen != &given->exports;
    }
  }
  given->words = (size_t)(p - list) + 1;
  if (!given->type)
    return icd_fail(context, CL_INVALID_VALUE, call, "sema_props has no CL_SEMAPHORE_TYPE_KHR");
  if (given->imports && given->exports)
    return icd_fail(context, CL_INVALID_OPERATION, call,
                    "a semaphore cannot be imported and exportable at the same time");
  return CL_SUCCESS;
}

/* ---- creation and destruction ------------------------------------------------------------ */

CL_API_ENTRY cl_semaphore_khr CL_API_CALL clCreateSemaphoreWithPropertiesKHR(
    cl_context context, const cl_semaphore_properties_khr *properties, cl_int *errcode_ret) {
  if (!icd_is_context(context))
    return ICD_FAIL_NULL(errcode_ret, NULL, CL_INVALID_CONTEXT,
                         "context %p is not a valid cl_context", (void *)context);
  struct given_properties given;
  cl_int code = read_properties(context, properties, &given, __func__);
  if (code)
    return icd_null(errcode_ret, code);
  cl_semaphore_khr semaphore = icd_object_new(ICD_MAGIC_SEMAPHORE, sizeof(*semaphore));
  if (semaphore)
    semaphore->properties = malloc(given.words * sizeof(*properties));
  if (!semaphore || !semaphore->properties) {
    icd_object_free(ICD_MAGIC_SEMAPHORE, semaphore);
    return ICD_FAIL_NULL(errcode_ret, context, CL_OUT_OF_HOST_MEMORY, "out of host memory");
  }
  memcpy(semaphore->properties, properties, given.words * sizeof(*properties));
  semaphore->property_count = given.words;
  semaphore->context = context;
  semaphore->exportable = given.exports;
  semaphore->imported = given.imports;
  base_mutex_init(&semaphore->lock, BASE_LOCK_SEMAPHORE);
  icd_context_hold(context);
  if (given.imports && !(semaphore->signal = event_of_fence(context, given.fd, CL_INVALID_PROPERTY,
                                                            &code, __func__))) {
    destroy_semaphore(&semaphore->object);
    return icd_null(errcode_ret, code);
  }
  icd_object_init(&semaphore->object, &semaphore_kind);
  return ICD_GIVE(errcode_ret, semaphore);
}

CL_API_ENTRY cl_int CL_API_CALL clRetainSemaphoreKHR(cl_semaphore_khr semaphore) {
  if (!icd_is_semaphore(semaphore))
    return ICD_FAIL(NULL, CL_INVALID_SEMAPHORE_KHR,
                    "sema_object %p is not a valid cl_semaphore_khr", (void *)semaphore);
  icd_object_retain(&semaphore->object);
  return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL clReleaseSemaphoreKHR(cl_semaphore_khr semaphore) {
  if (!icd_is_semaphore(semaphore) ||
      icd_object_release(&semaphore->object, CL_INVALID_SEMAPHORE_KHR) != CL_SUCCESS)
    return ICD_FAIL(NULL, CL_INVALID_SEMAPHORE_KHR,
                    "sema_object %p is not a valid cl_semaphore_khr or was released too often",
                    (void *)semaphore);
  return CL_SUCCESS;
}

static bool is_signalled(cl_semaphore_khr semaphore) {
  base_mutex_lock(&semaphore->lock);
  cl_event event = semaphore->signal;
  if (event)
    icd_event_hold(event);
  base_mutex_unlock(&semaphore->lock);
  const bool signalled = event && icd_event_status(event) == CL_COMPLETE;
  drop_event(event);
  return signalled;
}

CL_API_ENTRY cl_int CL_API_CALL clGetSemaphoreInfoKHR(cl_semaphore_khr semaphore,
                                                      cl_semaphore_info_khr param_name,
                                                      size_t param_value_size, void *param_value,
                                                      size_t *param_value_size_ret) {
  const struct icd_answer answer = {param_value_size, param_value, param_value_size_ret};
  if (!icd_is_semaphore(semaphore))
    return ICD_FAIL(NULL, CL_INVALID_SEMAPHORE_KHR,
                    "sema_object %p is not a valid cl_semaphore_khr", (void *)semaphore);
  switch (param_name) {
  case CL_SEMAPHORE_CONTEXT_KHR:
    return ICD_ANSWER(&answer, cl_context, semaphore->context);
  case CL_SEMAPHORE_REFERENCE_COUNT_KHR:
    return ICD_ANSWER(&answer, cl_uint, atomic_load(&semaphore->object.handles));
  case CL_SEMAPHORE_PROPERTIES_KHR:
    return icd_answer_bytes(&answer, __func__, semaphore->properties,
                            semaphore->property_count * sizeof(*semaphore->properties));
  case CL_SEMAPHORE_TYPE_KHR:
    return ICD_ANSWER(&answer, cl_semaphore_type_khr, CL_SEMAPHORE_TYPE_BINARY_KHR);
  case CL_SEMAPHORE_PAYLOAD_KHR:
    return ICD_ANSWER(&answer, cl_semaphore_payload_khr, is_signalled(semaphore));
  case CL_SEMAPHORE_DEVICE_HANDLE_LIST_KHR:
    return ICD_ANSWER(&answer, cl_device_id, semaphore->context->device);
  case CL_SEMAPHORE_EXPORTABLE_KHR:
    return ICD_ANSWER(&answer, cl_bool, semaphore->exportable);
  case CL_SEMAPHORE_EXPORT_HANDLE_TYPES_KHR: {
    const cl_external_semaphore_handle_type_khr type = CL_SEMAPHORE_HANDLE_SYNC_FD_KHR;
    return icd_answer_bytes(&answer, __func__, &type, semaphore->exportable ? sizeof(type) : 0);
  }
  default:
    return ICD_FAIL(semaphore->context, CL_INVALID_VALUE, "unknown param_name 0x%x", param_name);
  }
}

/* Takes the signal and its reference from the semaphore. Returns NULL if it has none. */
static cl_event take_signal(cl_semaphore_khr semaphore) {
  base_mutex_lock(&semaphore->lock);
  cl_event event = semaphore->signal;
  semaphore->signal = NULL;
  base_mutex_unlock(&semaphore->lock);
  return event;
}

/* Signals the semaphore with an event: completes the promise with it, or stores it. It replaces
 * a stored signal for which no command has waited. */
static void signal_with(cl_semaphore_khr semaphore, cl_event event) {
  cl_event old = NULL;
  base_mutex_lock(&semaphore->lock);
  cl_event promise = semaphore->promise;
  semaphore->promise = NULL;
  if (!promise) {
    icd_event_hold(event);
    old = semaphore->signal;
    semaphore->signal = event;
  }
  base_mutex_unlock(&semaphore->lock);
  drop_event(old);
  if (promise) {
    icd_event_promise(event, promise);
    icd_event_watch(event);
  }
}

CL_API_ENTRY cl_int CL_API_CALL clGetSemaphoreHandleForTypeKHR(
    cl_semaphore_khr semaphore, cl_device_id device, cl_external_semaphore_handle_type_khr type,
    size_t size, void *handle, size_t *size_ret) {
  const struct icd_answer answer = {size, handle, size_ret};
  if (!icd_is_semaphore(semaphore))
    return ICD_FAIL(NULL, CL_INVALID_SEMAPHORE_KHR,
                    "sema_object %p is not a valid cl_semaphore_khr", (void *)semaphore);
  cl_context context = semaphore->context;
  if (device != context->device)
    return ICD_FAIL(context, CL_INVALID_DEVICE, "device %p is not the device of the semaphore",
                    (void *)device);
  if (type != CL_SEMAPHORE_HANDLE_SYNC_FD_KHR || !semaphore->exportable)
    return ICD_FAIL(context, CL_INVALID_VALUE,
                    "the semaphore cannot be exported as handle type 0x%x", type);
  int fd = -1;
  if (!handle || size < sizeof(fd))
    return icd_answer_bytes(&answer, __func__, &fd, sizeof(fd));
  cl_event event = take_signal(semaphore);
  if (!event)
    return ICD_FAIL(context, CL_INVALID_OPERATION,
                    "no command that signals the semaphore has been enqueued");
  const cl_int code = export_event(event, &fd, __func__);
  if (code)
    signal_with(semaphore, event);
  icd_event_drop(event);
  return code ? code : icd_answer_bytes(&answer, __func__, &fd, sizeof(fd));
}

CL_API_ENTRY cl_int CL_API_CALL clReImportSemaphoreSyncFdKHR(
    cl_semaphore_khr semaphore, cl_semaphore_reimport_properties_khr *properties, int fd) {
  if (!icd_is_semaphore(semaphore) || !semaphore->imported)
    return ICD_FAIL(
        NULL, CL_INVALID_SEMAPHORE_KHR,
        "sema_object %p is not a valid cl_semaphore_khr or was not imported from a sync fd",
        (void *)semaphore);
  if (properties && *properties)
    return ICD_FAIL(semaphore->context, CL_INVALID_VALUE, "unknown reimport property 0x%llx",
                    (unsigned long long)*properties);
  cl_int code;
  cl_event event = event_of_fence(semaphore->context, fd, CL_INVALID_VALUE, &code, __func__);
  if (event)
    signal_with(semaphore, event);
  drop_event(event);
  return code;
}

/* ---- commands ------------------------------------------------------------------------------ */

static cl_int check_semaphores(cl_command_queue queue, cl_uint count,
                               const cl_semaphore_khr *semaphores, cl_uint wait_count,
                               const cl_event *waits, const char *call) {
  cl_int code = icd_check_queue(queue, call);
  if (code)
    return code;
  if (!count || !semaphores)
    return icd_fail(
        queue->context, CL_INVALID_VALUE, call,
        "num_sema_objects is %u and sema_objects %p; at least one semaphore is required", count,
        (const void *)semaphores);
  for (cl_uint i = 0; i < count; i++) {
    if (!icd_is_semaphore(semaphores[i]))
      return icd_fail(queue->context, CL_INVALID_SEMAPHORE_KHR, call,
                      "sema_objects[%u] is not a valid cl_semaphore_khr", i);
    if (semaphores[i]->context != queue->context)
      return icd_fail(queue->context, CL_INVALID_CONTEXT, call,
                      "sema_objects[%u] belongs to another context", i);
  }
  return icd_check_good_waits(queue, wait_count, waits, call);
}

/* Returns the event for which a wait on the semaphore waits, with a reference: its signal, which
 * is consumed, or its promise. Returns NULL if out of memory. */
static cl_event claim_signal(cl_semaphore_khr semaphore) {
  base_mutex_lock(&semaphore->lock);
  cl_event event = semaphore->signal;
  semaphore->signal = NULL;
  if (!event) {
    if (!semaphore->promise)
      semaphore->promise = icd_event_create(semaphore->context, NULL, CL_COMMAND_USER);
    event = semaphore->promise;
    if (event)
      icd_event_hold(event);
  }
  base_mutex_unlock(&semaphore->lock);
  return event;
}

/* Undoes claim_signal after a failure. No other command can be waiting, because two waits for
 * one signal are not allowed. */
static void give_back(cl_semaphore_khr semaphore, cl_event event) {
  base_mutex_lock(&semaphore->lock);
  const bool promised = semaphore->promise == event;
  if (promised)
    semaphore->promise = NULL;
  base_mutex_unlock(&semaphore->lock);
  if (promised)
    icd_event_drop(event);
  else
    signal_with(semaphore, event);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueWaitSemaphoresKHR(cl_command_queue queue, cl_uint count,
                                                           const cl_semaphore_khr *semaphores,
                                                           const cl_semaphore_payload_khr *payloads,
                                                           cl_uint wait_count,
                                                           const cl_event *waits, cl_event *event) {
  cl_int code = check_semaphores(queue, count, semaphores, wait_count, waits, __func__);
  if (code)
    return code;
  cl_event *all = malloc(((size_t)count + wait_count) * sizeof(cl_event));
  cl_uint claimed = 0;
  code = all ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
  for (; !code && claimed < count; claimed++)
    if (!(all[claimed] = claim_signal(semaphores[claimed]))) {
      code = CL_OUT_OF_HOST_MEMORY;
      break;
    }
  if (!code) {
    if (wait_count)
      memcpy(all + count, waits, wait_count * sizeof(cl_event));
    struct icd_operation operation = {.kind = ICD_MARK, .type = CL_COMMAND_SEMAPHORE_WAIT_KHR};
    code = icd_enqueue(queue, &operation, false, count + wait_count, all, event, __func__);
  } else {
    ICD_FAIL(queue->context, code, "out of host memory");
  }
  for (cl_uint i = 0; i < claimed; i++) {
    if (code)
      give_back(semaphores[i], all[i]);
    icd_event_drop(all[i]);
  }
  free(all);
  return code;
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueSignalSemaphoresKHR(
    cl_command_queue queue, cl_uint count, const cl_semaphore_khr *semaphores,
    const cl_semaphore_payload_khr *payloads, cl_uint wait_count, const cl_event *waits,
    cl_event *event_ret) {
  cl_int code = check_semaphores(queue, count, semaphores, wait_count, waits, __func__);
  if (code)
    return code;
  cl_event event;
  struct icd_operation operation = {.kind = ICD_MARK, .type = CL_COMMAND_SEMAPHORE_SIGNAL_KHR};
  code = icd_enqueue(queue, &operation, false, wait_count, waits, &event, __func__);
  if (code)
    return code;
  for (cl_uint i = 0; i < count; i++)
    signal_with(semaphores[i], event);
  if (event_ret)
    *event_ret = event;
  else
    icd_event_drop(event);
  return CL_SUCCESS;
}
