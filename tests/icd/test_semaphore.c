/* Semaphores on the fake runtime: signals and waits in every order, between queues and with sync
 * fds, and errors.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "tests/icd/fakes/alloc_fail.h"
#include "tests/icd/fakes/fixture.h"

#include "icd/cl_tegracl.h"

static const cl_semaphore_properties_khr plain[] = {CL_SEMAPHORE_TYPE_KHR,
                                                    CL_SEMAPHORE_TYPE_BINARY_KHR, 0};
static const cl_semaphore_properties_khr exportable[] = {
    CL_SEMAPHORE_TYPE_KHR,
    CL_SEMAPHORE_TYPE_BINARY_KHR,
    CL_SEMAPHORE_EXPORT_HANDLE_TYPES_KHR,
    CL_SEMAPHORE_HANDLE_SYNC_FD_KHR,
    CL_SEMAPHORE_EXPORT_HANDLE_TYPES_LIST_END_KHR,
    0};

static cl_semaphore_khr make(struct fixture *fixture, const cl_semaphore_properties_khr *list) {
  cl_int code;
  cl_semaphore_khr semaphore = clCreateSemaphoreWithPropertiesKHR(fixture->context, list, &code);
  assert_cl(code);
  return semaphore;
}

static cl_event signal_it(cl_command_queue queue, cl_semaphore_khr semaphore, cl_event after) {
  cl_event event;
  assert_cl(clEnqueueSignalSemaphoresKHR(queue, 1, &semaphore, NULL, after != NULL,
                                         after ? &after : NULL, &event));
  return event;
}

static cl_event wait_for(cl_command_queue queue, cl_semaphore_khr semaphore) {
  cl_event event;
  assert_cl(clEnqueueWaitSemaphoresKHR(queue, 1, &semaphore, NULL, 0, NULL, &event));
  return event;
}

static cl_semaphore_payload_khr payload(cl_semaphore_khr semaphore) {
  cl_semaphore_payload_khr value;
  assert_cl(clGetSemaphoreInfoKHR(semaphore, CL_SEMAPHORE_PAYLOAD_KHR, sizeof value, &value, NULL));
  return value;
}

static void finish(cl_event *events, int count) {
  assert_cl(clWaitForEvents((cl_uint)count, events));
  for (int i = 0; i < count; i++)
    assert_cl(clReleaseEvent(events[i]));
}

/* A signal that depends on a user event, with a wait in another queue. Done twice. */
static void signal_in_one_queue_ends_wait_in_another(void **state) {
  struct fixture *fixture = *state;
  cl_command_queue other = fixture_queue(fixture, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  cl_semaphore_khr semaphore = make(fixture, plain);
  for (int i = 0; i < 2; i++) {
    cl_event user = clCreateUserEvent(fixture->context, NULL);
    cl_event events[2] = {signal_it(fixture->queue, semaphore, user)};
    assert_int_equal(payload(semaphore), 0);
    events[1] = wait_for(other, semaphore);
    nap();
    assert_int_equal(fixture_status(events[1]), CL_QUEUED);
    assert_cl(clSetUserEventStatus(user, CL_COMPLETE));
    finish(events, 2);
    clReleaseEvent(user);
    assert_int_equal(payload(semaphore), 0); /* the wait has consumed the signal */
  }
  cl_event events[2] = {signal_it(other, semaphore, NULL)};
  assert_cl(clFinish(other));
  assert_int_equal(payload(semaphore), 1);
  events[1] = wait_for(fixture->queue, semaphore);
  finish(events, 2);
  assert_cl(clReleaseSemaphoreKHR(semaphore));
  clReleaseCommandQueue(other);
}

/* A wait that is enqueued before the signal waits for it. */
static void wait_may_be_enqueued_before_signal(void **state) {
  struct fixture *fixture = *state;
  cl_command_queue other = fixture_queue(fixture, 0);
  cl_semaphore_khr semaphore = make(fixture, plain);
  cl_event events[2] = {wait_for(other, semaphore)};
  nap();
  assert_int_equal(fixture_status(events[0]), CL_QUEUED);
  events[1] = signal_it(fixture->queue, semaphore, NULL);
  finish(events, 2);
  assert_int_equal(payload(semaphore), 0);
  /* If the semaphore is released without a signal, the wait fails. */
  events[0] = wait_for(other, semaphore);
  assert_cl(clReleaseSemaphoreKHR(semaphore));
  assert_int_equal(clWaitForEvents(1, events), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
  clReleaseEvent(events[0]);
  clReleaseCommandQueue(other);
}

/* Work on the GPU delays the signal, and a wait for its exported fence. */
static void sync_fds_are_exported_and_imported(void **state) {
  struct fixture *fixture = *state;
  cl_command_queue other = fixture_queue(fixture, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  cl_semaphore_khr semaphore = make(fixture, exportable);
  int fd = -1;
  size_t size;
  assert_int_equal(clGetSemaphoreHandleForTypeKHR(semaphore, fixture->device,
                                                  CL_SEMAPHORE_HANDLE_SYNC_FD_KHR, sizeof fd, &fd,
                                                  NULL),
                   CL_INVALID_OPERATION); /* no signal */
  cl_event events[2] = {signal_it(fixture->queue, semaphore, NULL)};
  assert_cl(clGetSemaphoreHandleForTypeKHR(semaphore, fixture->device,
                                           CL_SEMAPHORE_HANDLE_SYNC_FD_KHR, sizeof fd, &fd, &size));
  assert_int_equal(size, sizeof fd);
  assert_true(fd >= 0);
  cl_semaphore_properties_khr from_fd[] = {CL_SEMAPHORE_TYPE_KHR, CL_SEMAPHORE_TYPE_BINARY_KHR,
                                           CL_SEMAPHORE_HANDLE_SYNC_FD_KHR,
                                           (cl_semaphore_properties_khr)fd, 0};
  cl_semaphore_khr imported = make(fixture, from_fd);
  events[1] = wait_for(other, imported);
  finish(events, 2);
  /* Import a fence of another driver, which is signalled later. */
  fd = eventfd(0, EFD_CLOEXEC);
  const int writer = dup(fd);
  assert_cl(clReImportSemaphoreSyncFdKHR(imported, NULL, fd));
  events[0] = wait_for(other, imported);
  nap();
  assert_int_equal(fixture_status(events[0]), CL_QUEUED);
  assert_int_equal(eventfd_write(writer, 1), 0);
  finish(events, 1);
  close(writer);
  assert_int_equal(clReImportSemaphoreSyncFdKHR(imported, NULL, 9999), CL_INVALID_VALUE);
  assert_cl(clReImportSemaphoreSyncFdKHR(imported, NULL, -1)); /* signalled already */
  assert_int_equal(payload(imported), 1);
  /* The first wait consumes the signal. The second is enqueued before the next fence is
   * imported. */
  events[0] = wait_for(other, imported);
  events[1] = wait_for(other, imported);
  assert_cl(clReImportSemaphoreSyncFdKHR(imported, NULL, -1));
  finish(events, 2);
  assert_int_equal(clReImportSemaphoreSyncFdKHR(semaphore, NULL, -1), CL_INVALID_SEMAPHORE_KHR);
  assert_cl(clReleaseSemaphoreKHR(semaphore));
  assert_cl(clReleaseSemaphoreKHR(imported));
  clReleaseCommandQueue(other);
}

static void *resume_soon(void *data) {
  nap();
  fake_resume();
  return NULL;
}

/* Exports a deferred signal, after a write that waits for the GPU. */
static void deferred_signal_is_exported(void **state) {
  struct fixture *fixture = *state;
  cl_semaphore_khr semaphore = make(fixture, exportable);
  cl_mem mem = fixture_buffer(fixture, sizeof(int));
  cl_kernel kernel = fixture_add(fixture, "add", mem, mem, 1);
  const size_t one = 1;
  const int value = 7;
  int fd = -1;
  pthread_t thread;
  fake_pause();
  assert_cl(clEnqueueNDRangeKernel(fixture->queue, kernel, 1, NULL, &one, NULL, 0, NULL, NULL));
  assert_cl(
      clEnqueueWriteBuffer(fixture->queue, mem, CL_FALSE, 0, sizeof value, &value, 0, NULL, NULL));
  assert_cl(clEnqueueSignalSemaphoresKHR(fixture->queue, 1, &semaphore, NULL, 0, NULL, NULL));
  assert_int_equal(pthread_create(&thread, NULL, resume_soon, NULL), 0);
  assert_cl(clGetSemaphoreHandleForTypeKHR(semaphore, fixture->device,
                                           CL_SEMAPHORE_HANDLE_SYNC_FD_KHR, sizeof fd, &fd, NULL));
  assert_true(fd >= 0);
  close(fd);
  pthread_join(thread, NULL);
  /* A failed signal does not signal the semaphore. */
  cl_event user = clCreateUserEvent(fixture->context, NULL);
  assert_cl(clReleaseEvent(signal_it(fixture->queue, semaphore, user)));
  assert_cl(clSetUserEventStatus(user, -1));
  assert_int_equal(clGetSemaphoreHandleForTypeKHR(semaphore, fixture->device,
                                                  CL_SEMAPHORE_HANDLE_SYNC_FD_KHR, sizeof fd, &fd,
                                                  NULL),
                   CL_INVALID_OPERATION);
  assert_cl(clReleaseEvent(user));
  assert_cl(clReleaseKernel(kernel));
  assert_cl(clReleaseMemObject(mem));
  assert_cl(clReleaseSemaphoreKHR(semaphore));
}

static void creation_checks_properties(void **state) {
  struct fixture *fixture = *state;
  const cl_semaphore_properties_khr device =
      (cl_semaphore_properties_khr)(uintptr_t)fixture->device;
  const struct {
    cl_semaphore_properties_khr list[8];
    cl_int code;
  } rows[] = {
      {{0}, CL_INVALID_VALUE},
      {{CL_SEMAPHORE_DEVICE_HANDLE_LIST_KHR, device, 0, 0}, CL_INVALID_VALUE},
      {{0x4242, 1, 0}, CL_INVALID_PROPERTY},
      {{CL_SEMAPHORE_TYPE_KHR, 2, 0}, CL_INVALID_PROPERTY},
      {{CL_SEMAPHORE_TYPE_KHR, 1, CL_SEMAPHORE_TYPE_KHR, 0}, CL_INVALID_PROPERTY},
      {{CL_SEMAPHORE_TYPE_KHR, 1, CL_SEMAPHORE_DEVICE_HANDLE_LIST_KHR, 42, 0, 0},
       CL_INVALID_DEVICE},
      {{CL_SEMAPHORE_TYPE_KHR, 1, CL_SEMAPHORE_DEVICE_HANDLE_LIST_KHR, 0, 0}, CL_INVALID_DEVICE},
      {{CL_SEMAPHORE_TYPE_KHR, 1, CL_SEMAPHORE_DEVICE_HANDLE_LIST_KHR, device, device, 0, 0},
       CL_INVALID_DEVICE},
      {{CL_SEMAPHORE_TYPE_KHR, 1, CL_SEMAPHORE_EXPORT_HANDLE_TYPES_KHR,
        CL_SEMAPHORE_HANDLE_OPAQUE_FD_KHR, 0, 0},
       CL_INVALID_PROPERTY},
      {{CL_SEMAPHORE_TYPE_KHR, 1, CL_SEMAPHORE_EXPORT_HANDLE_TYPES_KHR,
        CL_SEMAPHORE_HANDLE_SYNC_FD_KHR, CL_SEMAPHORE_HANDLE_SYNC_FD_KHR, 0, 0},
       CL_INVALID_VALUE},
      {{CL_SEMAPHORE_TYPE_KHR, 1, CL_SEMAPHORE_HANDLE_SYNC_FD_KHR, 9999, 0}, CL_INVALID_PROPERTY},
      {{CL_SEMAPHORE_TYPE_KHR, 1, CL_SEMAPHORE_HANDLE_SYNC_FD_KHR, (cl_semaphore_properties_khr)-1,
        CL_SEMAPHORE_EXPORT_HANDLE_TYPES_KHR, CL_SEMAPHORE_HANDLE_SYNC_FD_KHR, 0, 0},
       CL_INVALID_OPERATION},
  };
  cl_int code;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    assert_null(clCreateSemaphoreWithPropertiesKHR(fixture->context, rows[i].list, &code));
    if (code != rows[i].code)
      fail_msg("row %zu: %d", i, code);
  }
  assert_null(clCreateSemaphoreWithPropertiesKHR(NULL, plain, &code));
  assert_int_equal(code, CL_INVALID_CONTEXT);
  assert_null(clCreateSemaphoreWithPropertiesKHR(fixture->context, NULL, &code));
  assert_int_equal(code, CL_INVALID_VALUE);
}

static void queries_check_arguments(void **state) {
  struct fixture *fixture = *state;
  cl_semaphore_khr semaphore = make(fixture, exportable), none = NULL;
  cl_semaphore_khr wrong = (cl_semaphore_khr)(void *)fixture->queue;
  cl_semaphore_properties_khr list[6];
  cl_uint count;
  cl_bool can;
  cl_event failed = clCreateUserEvent(fixture->context, NULL);
  assert_cl(clSetUserEventStatus(failed, -1));
  assert_cl(clGetSemaphoreInfoKHR(semaphore, CL_SEMAPHORE_PROPERTIES_KHR, sizeof list, list, NULL));
  assert_memory_equal(list, exportable, sizeof list);
  assert_cl(clRetainSemaphoreKHR(semaphore));
  assert_cl(clGetSemaphoreInfoKHR(semaphore, CL_SEMAPHORE_REFERENCE_COUNT_KHR, sizeof count, &count,
                                  NULL));
  assert_int_equal(count, 2);
  assert_cl(clReleaseSemaphoreKHR(semaphore));
  assert_cl(clGetSemaphoreInfoKHR(semaphore, CL_SEMAPHORE_EXPORTABLE_KHR, sizeof can, &can, NULL));
  assert_int_equal(can, CL_TRUE);
  assert_int_equal(clGetSemaphoreInfoKHR(semaphore, 0, 0, NULL, NULL), CL_INVALID_VALUE);
  assert_int_equal(clGetSemaphoreInfoKHR(wrong, CL_SEMAPHORE_TYPE_KHR, 0, NULL, NULL),
                   CL_INVALID_SEMAPHORE_KHR);
  assert_int_equal(clRetainSemaphoreKHR(none), CL_INVALID_SEMAPHORE_KHR);
  assert_int_equal(clReleaseSemaphoreKHR(wrong), CL_INVALID_SEMAPHORE_KHR);
  assert_int_equal(clGetSemaphoreHandleForTypeKHR(semaphore, NULL, CL_SEMAPHORE_HANDLE_SYNC_FD_KHR,
                                                  4, &count, NULL),
                   CL_INVALID_DEVICE);
  assert_int_equal(clGetSemaphoreHandleForTypeKHR(semaphore, fixture->device,
                                                  CL_SEMAPHORE_HANDLE_OPAQUE_FD_KHR, 4, &count,
                                                  NULL),
                   CL_INVALID_VALUE);
  for (int i = 0; i < 2; i++) {
    cl_int(CL_API_CALL * enqueue)(cl_command_queue, cl_uint, const cl_semaphore_khr *,
                                  const cl_semaphore_payload_khr *, cl_uint, const cl_event *,
                                  cl_event *) =
        i ? clEnqueueSignalSemaphoresKHR : clEnqueueWaitSemaphoresKHR;
    assert_int_equal(enqueue(NULL, 1, &semaphore, NULL, 0, NULL, NULL), CL_INVALID_COMMAND_QUEUE);
    assert_int_equal(enqueue(fixture->queue, 0, &semaphore, NULL, 0, NULL, NULL), CL_INVALID_VALUE);
    assert_int_equal(enqueue(fixture->queue, 1, NULL, NULL, 0, NULL, NULL), CL_INVALID_VALUE);
    assert_int_equal(enqueue(fixture->queue, 1, &none, NULL, 0, NULL, NULL),
                     CL_INVALID_SEMAPHORE_KHR);
    assert_int_equal(enqueue(fixture->queue, 1, &semaphore, NULL, 1, NULL, NULL),
                     CL_INVALID_EVENT_WAIT_LIST);
    assert_int_equal(enqueue(fixture->queue, 1, &semaphore, NULL, 1, &failed, NULL),
                     CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
  }
  clReleaseEvent(failed);
  assert_cl(clReleaseSemaphoreKHR(semaphore));
  assert_int_equal(clRetainSemaphoreKHR(semaphore), CL_INVALID_SEMAPHORE_KHR);
}

/* A wait that fails because there is no memory changes neither a signalled semaphore nor one
 * that is signalled later. */
static void failed_wait_keeps_the_signal(void **state) {
  struct fixture *fixture = *state;
  cl_event user = clCreateUserEvent(fixture->context, NULL), events[2];
  bool failed = true;
  for (int after = 0; failed; after++) {
    cl_semaphore_khr pair[2] = {make(fixture, plain), make(fixture, plain)};
    clReleaseEvent(signal_it(fixture->queue, pair[0], NULL));
    assert_cl(clFinish(fixture->queue));
    alloc_fail_arm(after);
    const cl_int code =
        clEnqueueWaitSemaphoresKHR(fixture->queue, 2, pair, NULL, 1, &user, &events[0]);
    failed = alloc_fail_disarm();
    if (failed) {
      assert_int_equal(code, CL_OUT_OF_HOST_MEMORY);
      assert_int_equal(payload(pair[0]), 1);
      clReleaseEvent(signal_it(fixture->queue, pair[1], NULL));
      assert_cl(clFinish(fixture->queue));
      assert_int_equal(payload(pair[1]), 1);
    } else {
      assert_cl(code);
      assert_cl(clSetUserEventStatus(user, CL_COMPLETE));
      cl_command_queue other = fixture_queue(fixture, 0);
      events[1] = signal_it(other, pair[1], NULL);
      finish(events, 2);
      clReleaseCommandQueue(other);
    }
    for (int i = 0; i < 2; i++)
      assert_cl(clReleaseSemaphoreKHR(pair[i]));
  }
  clReleaseEvent(user);
}

/* ---- threads ------------------------------------------------------------------------------- */

enum { EXCHANGES = 500 };

struct exchanges {
  cl_command_queue queue; /* the signals' */
  cl_semaphore_khr semaphores[EXCHANGES];
};

static void *signal_all(void *data) {
  struct exchanges *exchanges = data;
  for (int i = 0; i < EXCHANGES; i++)
    clReleaseEvent(signal_it(exchanges->queue, exchanges->semaphores[i], NULL));
  return NULL;
}

/* Waits and signals from different threads are matched, whichever comes first. */
static void threads_wait_and_signal(void **state) {
  struct fixture *fixture = *state;
  static struct exchanges exchanges;
  cl_event events[EXCHANGES];
  pthread_t thread;
  exchanges.queue = fixture_queue(fixture, 0);
  for (int i = 0; i < EXCHANGES; i++)
    exchanges.semaphores[i] = make(fixture, plain);
  assert_int_equal(pthread_create(&thread, NULL, signal_all, &exchanges), 0);
  for (int i = 0; i < EXCHANGES; i++)
    events[i] = wait_for(fixture->queue, exchanges.semaphores[i]);
  pthread_join(thread, NULL);
  finish(events, EXCHANGES); /* never returns if a wait has missed its signal */
  for (int i = 0; i < EXCHANGES; i++)
    assert_cl(clReleaseSemaphoreKHR(exchanges.semaphores[i]));
  clReleaseCommandQueue(exchanges.queue);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, fixture_setup, fixture_teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(signal_in_one_queue_ends_wait_in_another),
      TEST(wait_may_be_enqueued_before_signal),
      TEST(sync_fds_are_exported_and_imported),
      TEST(creation_checks_properties),
      TEST(queries_check_arguments),
      TEST(threads_wait_and_signal),
      TEST(failed_wait_keeps_the_signal),
      TEST(deferred_signal_is_exported),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
