/* Command buffers on the fake runtime: updates and releases while replays are in flight or
 * deferred, failed updates, sync points, and all queries. Errors of single arguments are in
 * tests/icd/misuse, and results on the software Orin in
 * tests/end_to_end/commands/command_buffers.c.
 */
#include <pthread.h>

#include "icd/command_buffer/command_buffer_api.h"
#include "tests/icd/fakes/alloc_fail.h"
#include "tests/icd/fakes/fixture.h"

enum { N = 64, BYTES = N * sizeof(int) };

static const cl_command_buffer_properties_khr is_mutable[] = {CL_COMMAND_BUFFER_FLAGS_KHR,
                                                              CL_COMMAND_BUFFER_MUTABLE_KHR, 0};

static cl_command_buffer_khr begin(cl_command_queue queue) {
  cl_int code;
  cl_command_buffer_khr buffer = icd_clCreateCommandBufferKHR(1, &queue, is_mutable, &code);
  assert_cl(code);
  return buffer;
}

static cl_mutable_command_khr launch(cl_command_buffer_khr buffer, cl_kernel kernel) {
  const size_t items = N;
  cl_mutable_command_khr command;
  assert_cl(icd_clCommandNDRangeKernelKHR(buffer, NULL, NULL, kernel, 1, NULL, &items, NULL, 0,
                                          NULL, NULL, &command));
  return command;
}

static cl_int set_number(cl_command_buffer_khr buffer, cl_mutable_command_khr command, int n) {
  const cl_mutable_dispatch_arg_khr arg = {2, sizeof n, &n};
  const struct icd_mutable_dispatch_config config = {
      .command = command, .num_args = 1, .arg_list = &arg};
  const cl_command_buffer_update_type_khr type = ICD_MUTABLE_DISPATCH_CONFIG;
  const void *configs[] = {&config};
  return icd_clUpdateMutableCommandsKHR(buffer, 1, &type, configs);
}

static int first_word(struct fixture *fixture, cl_mem mem) {
  int word;
  assert_cl(
      clEnqueueReadBuffer(fixture->queue, mem, CL_TRUE, 0, sizeof word, &word, 0, NULL, NULL));
  return word;
}

/* The objects of a test that computes x += n. */
struct sum {
  cl_mem x;
  cl_kernel kernel;
  cl_command_buffer_khr buffer;
  cl_mutable_command_khr command;
};

static struct sum make_sum(struct fixture *fixture, int n) {
  struct sum sum = {.x = fixture_buffer(fixture, BYTES)};
  sum.kernel = fixture_add(fixture, "add", sum.x, sum.x, n);
  sum.buffer = begin(fixture->queue);
  sum.command = launch(sum.buffer, sum.kernel);
  assert_cl(icd_clFinalizeCommandBufferKHR(sum.buffer));
  return sum;
}

static void drop_sum(struct sum *sum) {
  assert_cl(icd_clReleaseCommandBufferKHR(sum->buffer));
  assert_cl(clReleaseKernel(sum->kernel));
  assert_cl(clReleaseMemObject(sum->x));
}

static void replay(const struct sum *sum, cl_event wait) {
  assert_cl(
      icd_clEnqueueCommandBufferKHR(0, NULL, sum->buffer, wait != NULL, wait ? &wait : NULL, NULL));
}

static void updates_do_not_change_replays_in_flight(void **state) {
  struct fixture *fixture = *state;
  struct sum sum = make_sum(fixture, 1);
  fake_pause();
  for (int i = 0; i < 4; i++) { /* 1 + 10 + 100 + 1000 */
    replay(&sum, NULL);
    int n = 1;
    for (int k = 0; k <= i; k++)
      n *= 10;
    assert_cl(set_number(sum.buffer, sum.command, n));
  }
  fake_resume();
  assert_int_equal(first_word(fixture, sum.x), 1111);
  drop_sum(&sum);
}

static void updates_do_not_change_deferred_replays(void **state) {
  struct fixture *fixture = *state;
  struct sum sum = make_sum(fixture, 1);
  cl_int code;
  cl_event gate = clCreateUserEvent(fixture->context, &code);
  assert_cl(code);
  replay(&sum, gate);
  assert_cl(set_number(sum.buffer, sum.command, 10));
  replay(&sum, NULL);
  assert_cl(set_number(sum.buffer, sum.command, 100));
  replay(&sum, NULL);
  /* released, but the commands hold a reference */
  assert_cl(icd_clReleaseCommandBufferKHR(sum.buffer));
  assert_cl(clReleaseKernel(sum.kernel));
  assert_cl(clSetUserEventStatus(gate, CL_COMPLETE));
  assert_int_equal(first_word(fixture, sum.x), 111);
  assert_cl(clReleaseEvent(gate));
  assert_cl(clReleaseMemObject(sum.x));
}

/* An update that fails in its last argument or because memory is exhausted changes nothing. */
static void failed_updates_change_nothing(void **state) {
  struct fixture *fixture = *state;
  struct sum sum = make_sum(fixture, 1);
  int failures = 0;
  for (int tries = 0;; tries++) {
    alloc_fail_arm(tries);
    const cl_int code = set_number(sum.buffer, sum.command, 10);
    if (!alloc_fail_disarm())
      break;
    failures += code != CL_SUCCESS;
    replay(&sum, NULL);
  }
  assert_int_equal(first_word(fixture, sum.x), failures);
  for (int skip = 0; skip < 2; skip++) {
    fake_fail_after(skip, 1);
    assert_int_equal(set_number(sum.buffer, sum.command, 100), CL_OUT_OF_HOST_MEMORY);
  }
  const int n = 1000;
  const cl_mutable_dispatch_arg_khr args[] = {{2, sizeof n, &n}, {2, 1, &n}};
  const struct icd_mutable_dispatch_config config = {
      .command = sum.command, .num_args = 2, .arg_list = args};
  const cl_command_buffer_update_type_khr type = ICD_MUTABLE_DISPATCH_CONFIG;
  const void *configs[] = {&config};
  assert_int_equal(icd_clUpdateMutableCommandsKHR(sum.buffer, 1, &type, configs),
                   CL_INVALID_ARG_SIZE);
  replay(&sum, NULL); /* uses the arguments of the last update that succeeded */
  assert_int_equal(first_word(fixture, sum.x), failures + 10);
  drop_sum(&sum);
}

static void kernel_faults_fail_replays(void **state) {
  struct fixture *fixture = *state;
  cl_mem x = fixture_buffer(fixture, BYTES);
  cl_kernel kernel = fixture_kernel(fixture, "fault");
  assert_cl(clSetKernelArg(kernel, 0, sizeof x, &x));
  cl_command_buffer_khr buffer = begin(fixture->queue);
  launch(buffer, kernel);
  assert_cl(icd_clFinalizeCommandBufferKHR(buffer));
  cl_event event;
  assert_cl(icd_clEnqueueCommandBufferKHR(0, NULL, buffer, 0, NULL, &event));
  assert_int_equal(clWaitForEvents(1, &event), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
  assert_int_equal(icd_clEnqueueCommandBufferKHR(0, NULL, buffer, 0, NULL, NULL),
                   CL_OUT_OF_RESOURCES);
  assert_cl(clReleaseEvent(event));
  assert_cl(icd_clReleaseCommandBufferKHR(buffer));
  assert_cl(clReleaseKernel(kernel));
  assert_cl(clReleaseMemObject(x));
}

/* A wait list with a failed event, and one whose event fails while the replay waits. */
static void failed_wait_lists_fail_replays(void **state) {
  struct fixture *fixture = *state;
  struct sum sum = make_sum(fixture, 1);
  cl_int code;
  cl_event gate = clCreateUserEvent(fixture->context, &code), events[2];
  assert_cl(icd_clEnqueueCommandBufferKHR(0, NULL, sum.buffer, 1, &gate, &events[0]));
  assert_cl(clSetUserEventStatus(gate, -1));
  assert_cl(icd_clEnqueueCommandBufferKHR(0, NULL, sum.buffer, 1, &gate, &events[1]));
  for (int i = 0; i < 2; i++) {
    assert_int_equal(clWaitForEvents(1, &events[i]), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    assert_cl(clReleaseEvent(events[i]));
  }
  assert_int_equal(first_word(fixture, sum.x), 0);
  assert_cl(clReleaseEvent(gate));
  drop_sum(&sum);
}

static void *resume_soon(void *data) {
  (void)data;
  nap();
  fake_resume();
  return NULL;
}

/* A replay that fails after the GPU has got the first of its times, which it may still write. */
static void failed_replay_keeps_times_until_written(void **state) {
  struct fixture *fixture = *state;
  cl_command_queue queue = fixture_queue(fixture, CL_QUEUE_PROFILING_ENABLE);
  struct sum sum = make_sum(fixture, 1);
  pthread_t thread;
  cl_event event;
  fake_pause();
  fake_fail_after(1, 1);
  assert_int_equal(pthread_create(&thread, NULL, resume_soon, NULL), 0);
  assert_int_equal(icd_clEnqueueCommandBufferKHR(1, &queue, sum.buffer, 0, NULL, &event),
                   CL_OUT_OF_RESOURCES);
  pthread_join(thread, NULL);
  assert_cl(clReleaseCommandQueue(queue));
  drop_sum(&sum);
}

static void sync_points_are_distinct_and_unknown_ones_are_refused(void **state) {
  struct fixture *fixture = *state;
  cl_command_buffer_khr buffer = begin(fixture->queue), other = begin(fixture->queue);
  cl_sync_point_khr points[3];
  for (int i = 0; i < 3; i++)
    assert_cl(icd_clCommandBarrierWithWaitListKHR(buffer, NULL, NULL, i != 0, i ? points : NULL,
                                                  &points[i], NULL));
  assert_true(points[0] != points[1] && points[1] != points[2] && points[0] != points[2]);
  cl_sync_point_khr unused = 1000;
  assert_int_equal(icd_clCommandBarrierWithWaitListKHR(buffer, NULL, NULL, 1, &unused, NULL, NULL),
                   CL_INVALID_SYNC_POINT_WAIT_LIST_KHR);
  assert_int_equal(
      icd_clCommandBarrierWithWaitListKHR(other, NULL, NULL, 1, &points[2], NULL, NULL),
      CL_INVALID_SYNC_POINT_WAIT_LIST_KHR);
  assert_cl(icd_clFinalizeCommandBufferKHR(buffer)); /* nothing to do */
  assert_cl(icd_clEnqueueCommandBufferKHR(0, NULL, buffer, 0, NULL, NULL));
  assert_cl(clFinish(fixture->queue));
  assert_cl(icd_clReleaseCommandBufferKHR(buffer));
  assert_cl(icd_clReleaseCommandBufferKHR(other));
}

#define ASSERT_INFO(type, call, object, name, expected)                                            \
  do {                                                                                             \
    type got;                                                                                      \
    size_t size;                                                                                   \
    assert_cl(call(object, name, sizeof got, &got, &size));                                        \
    assert_int_equal(size, sizeof got);                                                            \
    assert_true(got == (expected));                                                                \
    assert_int_equal(call(object, name, sizeof got - 1, &got, NULL), CL_INVALID_VALUE);            \
  } while (0)

static void queries_return_state_and_properties(void **state) {
  struct fixture *fixture = *state;
  struct sum sum = make_sum(fixture, 1);
  ASSERT_INFO(cl_uint, icd_clGetCommandBufferInfoKHR, sum.buffer, CL_COMMAND_BUFFER_NUM_QUEUES_KHR,
              1);
  ASSERT_INFO(cl_command_queue, icd_clGetCommandBufferInfoKHR, sum.buffer,
              CL_COMMAND_BUFFER_QUEUES_KHR, fixture->queue);
  ASSERT_INFO(cl_context, icd_clGetCommandBufferInfoKHR, sum.buffer, CL_COMMAND_BUFFER_CONTEXT_KHR,
              fixture->context);
  assert_cl(icd_clRetainCommandBufferKHR(sum.buffer));
  ASSERT_INFO(cl_uint, icd_clGetCommandBufferInfoKHR, sum.buffer,
              CL_COMMAND_BUFFER_REFERENCE_COUNT_KHR, 2);
  assert_cl(icd_clReleaseCommandBufferKHR(sum.buffer));
  ASSERT_INFO(cl_command_buffer_state_khr, icd_clGetCommandBufferInfoKHR, sum.buffer,
              CL_COMMAND_BUFFER_STATE_KHR, CL_COMMAND_BUFFER_STATE_EXECUTABLE_KHR);
  cl_command_buffer_properties_khr properties[3];
  assert_cl(icd_clGetCommandBufferInfoKHR(sum.buffer, CL_COMMAND_BUFFER_PROPERTIES_ARRAY_KHR,
                                          sizeof properties, properties, NULL));
  assert_memory_equal(properties, is_mutable, sizeof properties);
  ASSERT_INFO(cl_kernel, icd_clGetMutableCommandInfoKHR, sum.command,
              CL_MUTABLE_DISPATCH_KERNEL_KHR, sum.kernel);
  ASSERT_INFO(cl_uint, icd_clGetMutableCommandInfoKHR, sum.command,
              CL_MUTABLE_DISPATCH_DIMENSIONS_KHR, 1);
  ASSERT_INFO(size_t, icd_clGetMutableCommandInfoKHR, sum.command,
              CL_MUTABLE_DISPATCH_GLOBAL_WORK_SIZE_KHR, N);
  ASSERT_INFO(cl_command_type, icd_clGetMutableCommandInfoKHR, sum.command,
              CL_MUTABLE_COMMAND_COMMAND_TYPE_KHR, CL_COMMAND_NDRANGE_KERNEL);
  ASSERT_INFO(cl_command_buffer_khr, icd_clGetMutableCommandInfoKHR, sum.command,
              CL_MUTABLE_COMMAND_COMMAND_BUFFER_KHR, sum.buffer);
  ASSERT_INFO(cl_command_queue, icd_clGetMutableCommandInfoKHR, sum.command,
              CL_MUTABLE_COMMAND_COMMAND_QUEUE_KHR, fixture->queue);
  size_t size = 1;
  assert_cl(icd_clGetMutableCommandInfoKHR(sum.command, CL_MUTABLE_COMMAND_PROPERTIES_ARRAY_KHR, 0,
                                           NULL, &size));
  assert_int_equal(size, 0);
  assert_int_equal(
      icd_clGetMutableCommandInfoKHR(sum.command, CL_COMMAND_BUFFER_STATE_KHR, 0, NULL, NULL),
      CL_INVALID_VALUE);
  cl_mutable_command_khr stale = sum.command;
  cl_command_buffer_khr destroyed = sum.buffer;
  drop_sum(&sum);
  assert_cl(clFinish(fixture->queue));
  assert_int_equal(icd_clRetainCommandBufferKHR(destroyed), CL_INVALID_COMMAND_BUFFER_KHR);
  assert_int_equal(
      icd_clGetMutableCommandInfoKHR(stale, CL_MUTABLE_DISPATCH_DIMENSIONS_KHR, 0, NULL, NULL),
      CL_INVALID_MUTABLE_COMMAND_KHR);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
  const struct CMUnitTest tests[] = {
      TEST(updates_do_not_change_replays_in_flight),
      TEST(updates_do_not_change_deferred_replays),
      TEST(failed_updates_change_nothing),
      TEST(kernel_faults_fail_replays),
      TEST(failed_wait_lists_fail_replays),
      TEST(failed_replay_keeps_times_until_written),
      TEST(sync_points_are_distinct_and_unknown_ones_are_refused),
      TEST(queries_return_state_and_properties),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
