/* Time and order of printf output on the fake runtime. The kernel "print" prints its argument
 * once for each work-item. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "icd/command_buffer/command_buffer_api.h"
#include "tests/icd/fakes/alloc_fail.h"
#include "tests/icd/fakes/fixture.h"

enum { SMALL = 64, LEAST = 1024, RECORD = 8 };

static struct {
  char text[4096], message[1024];
  size_t size;
  unsigned ends;
  cl_command_queue finish; /* a queue that the callback finishes */
  struct fixture *fixture; /* for a callback that waits for another thread that prints */
} seen;

static void wait_for_another(void);

static void CL_CALLBACK take(const char *text, size_t size, size_t complete, void *data) {
  assert_true(seen.size + size < sizeof seen.text);
  memcpy(seen.text + seen.size, text, size);
  seen.size += size;
  seen.ends += complete != 0;
  if (seen.finish)
    assert_cl(clFinish(seen.finish));
  if (seen.fixture)
    wait_for_another();
}

static void CL_CALLBACK notify(const char *message, const void *data, size_t size, void *user) {
  strncpy(seen.message, message, sizeof seen.message - 1);
}

static int set_up(void **state) {
  const cl_context_properties properties[] = {CL_PRINTF_CALLBACK_ARM, (cl_context_properties)take,
                                              CL_PRINTF_BUFFERSIZE_ARM, SMALL, 0};
  memset(&seen, 0, sizeof seen);
  return fixture_setup_with(state, properties, notify);
}

static cl_event launch(struct fixture *fixture, cl_command_queue queue, int n, size_t items,
                       cl_event wait) {
  cl_kernel kernel = fixture_kernel(fixture, "print");
  cl_event event;
  assert_cl(clSetKernelArg(kernel, 0, sizeof n, &n));
  assert_cl(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &items, NULL, wait != NULL,
                                   wait ? &wait : NULL, &event));
  assert_cl(clReleaseKernel(kernel));
  return event;
}

static void print(struct fixture *fixture, int n) {
  assert_cl(clReleaseEvent(launch(fixture, fixture->queue, n, 1, NULL)));
}

static void finish_prints_output(void **state) {
  struct fixture *fixture = *state;
  print(fixture, 1);
  print(fixture, 2);
  assert_cl(clFinish(fixture->queue));
  assert_string_equal(seen.text, "1 2 ");
  assert_int_equal(seen.ends, 2);
}

static void waiting_for_an_event_prints_output(void **state) {
  struct fixture *fixture = *state;
  cl_event waited = launch(fixture, fixture->queue, 1, 1, NULL);
  assert_cl(clWaitForEvents(1, &waited));
  assert_string_equal(seen.text, "1 ");
  cl_event polled = launch(fixture, fixture->queue, 2, 1, NULL);
  while (fixture_status(polled) != CL_COMPLETE)
    ;
  assert_string_equal(seen.text, "1 2 ");
  clReleaseEvent(waited);
  clReleaseEvent(polled);
}

static void blocking_read_prints_output(void **state) {
  struct fixture *fixture = *state;
  cl_mem mem = fixture_buffer(fixture, 4);
  int value;
  print(fixture, 1);
  assert_cl(clEnqueueReadBuffer(fixture->queue, mem, CL_TRUE, 0, 4, &value, 0, NULL, NULL));
  assert_string_equal(seen.text, "1 ");
  clReleaseMemObject(mem);
}

static void release_prints_output(void **state) {
  struct fixture *fixture = *state;
  cl_command_queue queue = fixture_queue(fixture, 0);
  assert_cl(clReleaseEvent(launch(fixture, queue, 1, 1, NULL)));
  assert_cl(clReleaseCommandQueue(queue));
  assert_string_equal(seen.text, "1 ");
}

/* Finishing a queue first prints the output of the work on which its commands depend. */
static void output_of_dependencies_is_first(void **state) {
  struct fixture *fixture = *state;
  cl_command_queue other = fixture_queue(fixture, 0);
  cl_event first = launch(fixture, fixture->queue, 1, 1, NULL);
  cl_event second = launch(fixture, other, 2, 1, first);
  cl_event third = launch(fixture, fixture->queue, 3, 1, second);
  assert_cl(clFlush(other));
  assert_cl(clFinish(fixture->queue));
  assert_string_equal(seen.text, "1 2 3 ");
  clReleaseEvent(first);
  clReleaseEvent(second);
  clReleaseEvent(third);
  clReleaseCommandQueue(other);
}

/* More launches than print buffers. */
static void launches_wait_for_print_buffers(void **state) {
  struct fixture *fixture = *state;
  char expected[256] = "";
  for (int i = 0; i < 40; i++) {
    print(fixture, i);
    sprintf(expected + strlen(expected), "%d ", i);
  }
  assert_cl(clFinish(fixture->queue));
  assert_string_equal(seen.text, expected);
}

static void deferred_launches_print(void **state) {
  struct fixture *fixture = *state;
  cl_event user = clCreateUserEvent(fixture->context, NULL);
  cl_event held = launch(fixture, fixture->queue, 1, 1, user);
  for (int i = 2; i < 20; i++)
    print(fixture, i);
  assert_string_equal(seen.text, "");
  assert_cl(clSetUserEventStatus(user, CL_COMPLETE));
  assert_cl(clFinish(fixture->queue));
  assert_memory_equal(seen.text, "1 2 3 4 ", 8);
  assert_non_null(strstr(seen.text, "19 "));
  clReleaseEvent(user);
  clReleaseEvent(held);
}

/* Output that does not fit is counted, and the next launch has the whole buffer. */
static void dropped_calls_are_reported(void **state) {
  enum { RECORDS = LEAST / RECORD };
  struct fixture *fixture = *state;
  char expected[2 * 2 * RECORDS + 1] = "";
  for (size_t i = 0; i < RECORDS; i++) {
    memcpy(expected + 2 * i, "1 ", 2);
    memcpy(expected + 2 * (RECORDS + i), "2 ", 2);
  }
  clReleaseEvent(launch(fixture, fixture->queue, 1, RECORDS + 5, NULL));
  assert_cl(clFinish(fixture->queue));
  assert_int_equal(seen.size, 2 * RECORDS);
  assert_memory_equal(seen.text, expected, 2 * RECORDS);
  assert_string_equal(seen.message, "printf: 5 calls of kernel print were dropped: the buffer of "
                                    "1024 bytes is full (CL_PRINTF_BUFFERSIZE_ARM sets its size)");
  clReleaseEvent(launch(fixture, fixture->queue, 2, RECORDS, NULL));
  assert_cl(clFinish(fixture->queue));
  assert_string_equal(seen.text, expected);
}

/* A kernel has overwritten the size of its output. */
static void overwritten_size_is_limited(void **state) {
  struct fixture *fixture = *state;
  print(fixture, -2);
  assert_cl(clFinish(fixture->queue));
  assert_string_equal(seen.text, "-2 ");
  print(fixture, 3);
  assert_cl(clFinish(fixture->queue));
  assert_string_equal(seen.text, "-2 3 ");
}

static void callback_may_use_the_queue(void **state) {
  struct fixture *fixture = *state;
  seen.finish = fixture->queue;
  for (int i = 0; i < 20; i++)
    print(fixture, i);
  assert_cl(clFinish(fixture->queue));
  for (int i = 0; i < 20; i++) {
    char word[16];
    sprintf(word, "%d ", i);
    assert_non_null(strstr(seen.text, word));
  }
}

/* A command buffer with two launches that print, and their commands for updates. */
struct recorded {
  cl_command_buffer_khr buffer;
  cl_mutable_command_khr commands[2];
};

static struct recorded record(struct fixture *fixture, cl_command_queue queue) {
  const cl_command_buffer_properties_khr properties[] = {CL_COMMAND_BUFFER_FLAGS_KHR,
                                                         CL_COMMAND_BUFFER_MUTABLE_KHR, 0};
  const size_t one = 1;
  cl_int code;
  struct recorded recorded = {icd_clCreateCommandBufferKHR(1, &queue, properties, &code), {0}};
  assert_cl(code);
  cl_kernel kernel = fixture_kernel(fixture, "print");
  cl_mem mem = fixture_buffer(fixture, sizeof code);
  for (int n = 1; n <= 2; n++) {
    assert_cl(clSetKernelArg(kernel, 0, sizeof n, &n));
    assert_cl(icd_clCommandNDRangeKernelKHR(recorded.buffer, NULL, NULL, kernel, 1, NULL, &one,
                                            NULL, 0, NULL, NULL, &recorded.commands[n - 1]));
    assert_cl(icd_clCommandFillBufferKHR(recorded.buffer, NULL, NULL, mem, &n, sizeof n, 0,
                                         sizeof n, 0, NULL, NULL, NULL));
  }
  assert_cl(icd_clFinalizeCommandBufferKHR(recorded.buffer));
  assert_cl(clReleaseMemObject(mem));
  assert_cl(clReleaseKernel(kernel));
  return recorded;
}

static cl_int change(const struct recorded *recorded, int which, int n) {
  const cl_mutable_dispatch_arg_khr arg = {0, sizeof n, &n};
  const struct icd_mutable_dispatch_config config = {
      .command = recorded->commands[which], .num_args = 1, .arg_list = &arg};
  const cl_command_buffer_update_type_khr type = ICD_MUTABLE_DISPATCH_CONFIG;
  const void *configs[] = {&config};
  return icd_clUpdateMutableCommandsKHR(recorded->buffer, 1, &type, configs);
}

static void replays_print(void **state) {
  struct fixture *fixture = *state;
  cl_command_queue queue = fixture_queue(fixture, CL_QUEUE_PROFILING_ENABLE);
  struct recorded recorded = record(fixture, queue);
  cl_event gate = clCreateUserEvent(fixture->context, NULL), event;
  cl_ulong start, end;
  assert_cl(icd_clEnqueueCommandBufferKHR(0, NULL, recorded.buffer, 0, NULL, NULL));
  assert_cl(icd_clEnqueueCommandBufferKHR(0, NULL, recorded.buffer, 0, NULL, &event));
  assert_cl(clWaitForEvents(1, &event));
  assert_string_equal(seen.text, "1 2 1 2 ");
  assert_cl(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof start, &start, NULL));
  assert_cl(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL));
  assert_true(start < end);
  assert_cl(clReleaseEvent(event));
  /* The replay is deferred, and the command buffer is updated before it runs. */
  assert_cl(icd_clEnqueueCommandBufferKHR(0, NULL, recorded.buffer, 1, &gate, NULL));
  assert_cl(change(&recorded, 0, 3));
  assert_cl(icd_clEnqueueCommandBufferKHR(0, NULL, recorded.buffer, 0, NULL, NULL));
  assert_cl(icd_clReleaseCommandBufferKHR(recorded.buffer));
  assert_cl(clSetUserEventStatus(gate, CL_COMPLETE));
  assert_cl(clFinish(queue));
  assert_string_equal(seen.text, "1 2 1 2 1 2 3 2 ");
  assert_cl(clReleaseEvent(gate));
  assert_cl(clReleaseCommandQueue(queue));
}

static void replays_wait_for_print_buffers(void **state) {
  struct fixture *fixture = *state;
  struct recorded recorded = record(fixture, fixture->queue);
  char expected[256] = "";
  for (int i = 0; i < 20; i++) {
    assert_cl(change(&recorded, i % 2, i));
    assert_cl(icd_clEnqueueCommandBufferKHR(0, NULL, recorded.buffer, 0, NULL, NULL));
    const int other = i ? i - 1 : 2;
    sprintf(expected + strlen(expected), "%d %d ", i % 2 ? other : i, i % 2 ? i : other);
  }
  assert_cl(icd_clReleaseCommandBufferKHR(recorded.buffer));
  assert_cl(clFinish(fixture->queue));
  assert_string_equal(seen.text, expected);
}

/* An update changes nothing if an allocation fails, whichever one it is. */
static void updates_without_memory_change_nothing(void **state) {
  struct fixture *fixture = *state;
  struct recorded recorded = record(fixture, fixture->queue);
  bool failed = true;
  for (int after = 0; failed; after++) {
    alloc_fail_arm(after);
    const cl_int code = change(&recorded, 0, 5);
    failed = alloc_fail_disarm();
    assert_int_equal(code, failed ? CL_OUT_OF_HOST_MEMORY : CL_SUCCESS);
  }
  fake_fail_after(1, 1); /* Fails the print buffer of the second launch. The first launch runs. */
  assert_int_equal(icd_clEnqueueCommandBufferKHR(0, NULL, recorded.buffer, 0, NULL, NULL),
                   CL_OUT_OF_RESOURCES);
  assert_cl(icd_clEnqueueCommandBufferKHR(0, NULL, recorded.buffer, 0, NULL, NULL));
  assert_cl(clFinish(fixture->queue));
  assert_string_equal(seen.text, "5 5 2 ");
  assert_cl(icd_clReleaseCommandBufferKHR(recorded.buffer));
}

static void *print_elsewhere(void *data) {
  struct fixture *fixture = data;
  cl_command_queue queue = fixture_queue(fixture, 0);
  cl_event event = launch(fixture, queue, 2, 1, NULL);
  assert_cl(clFinish(queue));
  assert_cl(clReleaseEvent(event));
  assert_cl(clReleaseCommandQueue(queue));
  return NULL;
}

static void wait_for_another(void) {
  pthread_t thread;
  struct fixture *fixture = seen.fixture;
  seen.fixture = NULL;
  assert_int_equal(pthread_create(&thread, NULL, print_elsewhere, fixture), 0);
  assert_int_equal(pthread_join(thread, NULL), 0);
}

static void callback_may_wait_for_other_threads(void **state) {
  struct fixture *fixture = *state;
  seen.fixture = fixture;
  print(fixture, 1);
  assert_cl(clFinish(fixture->queue));
  assert_string_equal(seen.text, "1 2 ");
}

static void *finish_too(void *data) {
  assert_cl(clFinish(data));
  assert_string_equal(seen.text, "1 2 3 ");
  return NULL;
}

/* A queue's output is complete when it has been finished, whichever thread writes it. */
static void two_threads_may_finish_a_queue(void **state) {
  struct fixture *fixture = *state;
  pthread_t thread;
  for (int i = 1; i <= 3; i++)
    print(fixture, i);
  assert_int_equal(pthread_create(&thread, NULL, finish_too, fixture->queue), 0);
  finish_too(fixture->queue);
  assert_int_equal(pthread_join(thread, NULL), 0);
}

static void bad_printf_properties_are_refused(void **state) {
  struct fixture *fixture = *state;
  const cl_context_properties rows[][5] = {
      {CL_PRINTF_BUFFERSIZE_ARM, 0},
      {CL_PRINTF_BUFFERSIZE_ARM, -1},
      {CL_PRINTF_BUFFERSIZE_ARM, SMALL, CL_PRINTF_BUFFERSIZE_ARM, SMALL},
      {CL_PRINTF_CALLBACK_ARM, (cl_context_properties)take, CL_PRINTF_CALLBACK_ARM,
       (cl_context_properties)take},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    cl_int code;
    assert_null(clCreateContext(rows[i], 1, &fixture->device, NULL, NULL, &code));
    assert_int_equal(code, CL_INVALID_PROPERTY);
  }
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, fixture_teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(finish_prints_output),
      TEST(waiting_for_an_event_prints_output),
      TEST(blocking_read_prints_output),
      TEST(release_prints_output),
      TEST(launches_wait_for_print_buffers),
      TEST(deferred_launches_print),
      TEST(output_of_dependencies_is_first),
      TEST(dropped_calls_are_reported),
      TEST(overwritten_size_is_limited),
      TEST(callback_may_use_the_queue),
      TEST(bad_printf_properties_are_refused),
      TEST(callback_may_wait_for_other_threads),
      TEST(two_threads_may_finish_a_queue),
      TEST(replays_print),
      TEST(replays_wait_for_print_buffers),
      TEST(updates_without_memory_change_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
