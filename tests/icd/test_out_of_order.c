/* Out-of-order queues on the fake runtime. Commands overtake others only where that is allowed, and
 * clFinish waits for all of them.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "tests/icd/fakes/fixture.h"

enum { N = 64, BYTES = N * 4 };
static const size_t global = N;

struct out_of_order {
  struct fixture *fixture;
  cl_command_queue queue;
  cl_mem a, b, c;
  cl_event user;
};

static struct out_of_order set_up(void **state) {
  struct fixture *fixture = *state;
  return (struct out_of_order){
      fixture,
      fixture_queue(fixture, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE),
      fixture_buffer(fixture, BYTES),
      fixture_buffer(fixture, BYTES),
      fixture_buffer(fixture, BYTES),
      clCreateUserEvent(fixture->context, NULL)};
}

static void tear_down(struct out_of_order *d) {
  assert_cl(clFinish(d->queue));
  clReleaseEvent(d->user);
  clReleaseMemObject(d->a);
  clReleaseMemObject(d->b);
  clReleaseMemObject(d->c);
  assert_cl(clReleaseCommandQueue(d->queue));
}

static void go(struct out_of_order *d) {
  assert_cl(clSetUserEventStatus(d->user, CL_COMPLETE));
}

static cl_event add(struct out_of_order *d, const char *name, cl_mem in, cl_mem out, int n,
                    cl_event wait) {
  cl_kernel kernel = fixture_add(d->fixture, name, in, out, n);
  cl_event event;
  assert_cl(clEnqueueNDRangeKernel(d->queue, kernel, 1, NULL, &global, NULL, wait != NULL,
                                   wait ? &wait : NULL, &event));
  clReleaseKernel(kernel);
  return event;
}

static cl_event fill(struct out_of_order *d, cl_mem mem, int n, cl_event wait) {
  cl_event event;
  assert_cl(clEnqueueFillBuffer(d->queue, mem, &n, sizeof n, 0, BYTES, wait != NULL,
                                wait ? &wait : NULL, &event));
  return event;
}

static int value(struct out_of_order *d, cl_mem mem) {
  int values[N];
  assert_cl(clEnqueueReadBuffer(d->queue, mem, CL_TRUE, 0, BYTES, values, 0, NULL, NULL));
  for (int i = 1; i < N; i++)
    assert_int_equal(values[i], values[0]);
  return values[0];
}

static void release(cl_event *events, int count) {
  for (int i = 0; i < count; i++)
    assert_cl(clReleaseEvent(events[i]));
}

/* A command that waits for a user event does not delay other launches or transfers. */
static void independent_commands_overtake(void **state) {
  struct out_of_order d = set_up(state);
  cl_event events[4] = {add(&d, "add", d.a, d.b, 1, d.user), fill(&d, d.c, 2, d.user),
                        add(&d, "add", d.a, d.a, 5, NULL)};
  events[3] = fill(&d, d.c, 7, NULL);
  assert_cl(clWaitForEvents(2, events + 2));
  assert_int_equal(value(&d, d.a), 5);
  assert_int_equal(value(&d, d.c), 7);
  assert_int_equal(value(&d, d.b), 0);
  assert_int_equal(fixture_status(events[0]), CL_QUEUED);
  assert_int_equal(fixture_status(events[1]), CL_QUEUED);
  go(&d);
  assert_cl(clFinish(d.queue));
  assert_int_equal(value(&d, d.b), 6);
  assert_int_equal(value(&d, d.c), 2);
  release(events, 4);
  tear_down(&d);
}

/* Commands of the host do not wait for unrelated work on the GPU. */
static void host_commands_overtake_gpu_work(void **state) {
  struct out_of_order d = set_up(state);
  fake_pause();
  cl_event events[3] = {add(&d, "add", d.a, d.b, 1, NULL)};
  events[1] = fill(&d, d.c, 3, NULL);
  assert_int_equal(fixture_status(events[1]), CL_COMPLETE);
  assert_int_equal(value(&d, d.c), 3);
  events[2] = fill(&d, d.b, 9, events[0]);
  nap();
  assert_int_equal(fixture_status(events[0]), CL_SUBMITTED);
  assert_int_equal(fixture_status(events[2]), CL_QUEUED);
  fake_resume();
  assert_cl(clWaitForEvents(1, &events[2]));
  assert_int_equal(value(&d, d.b), 9);
  release(events, 3);
  tear_down(&d);
}

/* Deferred commands that depend on each other run in that order, even if their user events are
 * set in another order. */
static void deferred_commands_follow_their_dependencies(void **state) {
  struct out_of_order d = set_up(state);
  cl_event second = clCreateUserEvent(d.fixture->context, NULL);
  cl_event events[5] = {fill(&d, d.a, 10, d.user)};
  events[1] = add(&d, "slow_add", d.a, d.b, 1, events[0]);
  cl_event both[2] = {events[1], second};
  assert_cl(clEnqueueCopyBuffer(d.queue, d.b, d.c, 0, 0, BYTES, 2, both, &events[2]));
  events[3] = add(&d, "slow_add", d.c, d.c, 1, events[2]);
  events[4] = fill(&d, d.b, 0, second); /* overtakes all the others */
  assert_cl(clSetUserEventStatus(second, CL_COMPLETE));
  assert_cl(clWaitForEvents(1, &events[4]));
  assert_int_equal(fixture_status(events[0]), CL_QUEUED);
  go(&d);
  assert_cl(clWaitForEvents(1, &events[3]));
  assert_int_equal(value(&d, d.c), 12);
  clReleaseEvent(second);
  release(events, 5);
  tear_down(&d);
}

/* Commands after a barrier start after it, and it starts after the commands before it. */
static void barrier_orders_commands(void **state) {
  struct out_of_order d = set_up(state);
  cl_event events[5] = {fill(&d, d.a, 4, d.user)}, marker;
  assert_cl(clEnqueueBarrierWithWaitList(d.queue, 0, NULL, &events[1]));
  events[2] = add(&d, "slow_add", d.a, d.b, 1, NULL);
  assert_cl(clEnqueueBarrier(d.queue));
  events[3] = fill(&d, d.a, 100, NULL);
  events[4] = fill(&d, d.c, 8, NULL);
  nap();
  for (int i = 0; i < 5; i++)
    assert_int_equal(fixture_status(events[i]), CL_QUEUED);
  go(&d);
  assert_cl(clEnqueueMarkerWithWaitList(d.queue, 0, NULL, &marker));
  assert_cl(clWaitForEvents(1, &marker));
  for (int i = 0; i < 5; i++)
    assert_int_equal(fixture_status(events[i]), CL_COMPLETE);
  assert_int_equal(value(&d, d.b), 5);
  assert_int_equal(value(&d, d.a), 100);
  release(events, 5);
  clReleaseEvent(marker);
  tear_down(&d);
}

/* A barrier on the GPU delays commands of the host until the GPU has passed it. */
static void barrier_on_gpu_delays_the_host(void **state) {
  struct out_of_order d = set_up(state);
  fake_pause();
  cl_event events[3] = {add(&d, "add", d.a, d.b, 1, NULL), add(&d, "add", d.a, d.c, 2, NULL)};
  assert_cl(clEnqueueBarrier(d.queue));
  events[2] = fill(&d, d.b, 70, NULL);
  nap();
  assert_int_equal(fixture_status(events[2]), CL_QUEUED);
  fake_resume();
  assert_int_equal(value(&d, d.c), 2); /* a blocking read waits for it too */
  assert_cl(clFinish(d.queue));
  assert_int_equal(value(&d, d.b), 70);
  release(events, 3);
  tear_down(&d);
}

/* Markers and barriers with a wait list only wait for that list. A barrier still delays later
 * commands. */
static void markers_wait_for_their_lists_only(void **state) {
  struct out_of_order d = set_up(state);
  cl_event other = clCreateUserEvent(d.fixture->context, NULL);
  cl_event events[4] = {fill(&d, d.a, 1, d.user)};
  assert_cl(clEnqueueMarkerWithWaitList(d.queue, 1, &other, &events[1]));
  assert_cl(clEnqueueBarrierWithWaitList(d.queue, 1, &other, &events[2]));
  events[3] = fill(&d, d.b, 2, NULL);
  nap();
  assert_int_equal(fixture_status(events[3]), CL_QUEUED);
  assert_cl(clSetUserEventStatus(other, CL_COMPLETE));
  assert_cl(clWaitForEvents(3, events + 1));
  assert_int_equal(fixture_status(events[0]), CL_QUEUED);
  go(&d);
  assert_cl(clWaitForEvents(1, events));
  clReleaseEvent(other);
  release(events, 4);
  tear_down(&d);
}

/* A marker without a wait list waits for all earlier commands and delays none. */
static void marker_waits_for_all_commands(void **state) {
  struct out_of_order d = set_up(state);
  cl_event events[3] = {fill(&d, d.a, 1, d.user)};
  assert_cl(clEnqueueMarkerWithWaitList(d.queue, 0, NULL, &events[1]));
  events[2] = fill(&d, d.b, 2, NULL);
  assert_cl(clWaitForEvents(1, &events[2]));
  assert_int_equal(fixture_status(events[1]), CL_QUEUED);
  go(&d);
  assert_cl(clWaitForEvents(1, &events[1]));
  assert_int_equal(fixture_status(events[0]), CL_COMPLETE);
  release(events, 3);
  tear_down(&d);
}

static void *set_late(void *user) {
  nap();
  clSetUserEventStatus(user, CL_COMPLETE);
  return NULL;
}

/* clFinish waits for the oldest command even if younger ones have completed. */
static void finish_waits_for_the_oldest_command(void **state) {
  struct out_of_order d = set_up(state);
  cl_event other = clCreateUserEvent(d.fixture->context, NULL);
  cl_event events[2] = {fill(&d, d.a, 1, d.user), fill(&d, d.b, 2, other)};
  assert_cl(clSetUserEventStatus(other, CL_COMPLETE));
  assert_cl(clWaitForEvents(1, &events[1]));
  pthread_t thread;
  pthread_create(&thread, NULL, set_late, d.user);
  assert_cl(clFinish(d.queue));
  assert_int_equal(fixture_status(events[0]), CL_COMPLETE);
  pthread_join(thread, NULL);
  clReleaseEvent(other);
  release(events, 2);
  tear_down(&d);
}

/* A failed command fails the commands that depend on it, and no others. */
static void failed_dependency_fails_dependents_only(void **state) {
  struct out_of_order d = set_up(state);
  cl_event events[4] = {fill(&d, d.a, 1, d.user)};
  events[1] = add(&d, "add", d.a, d.b, 1, events[0]);
  events[2] = fill(&d, d.c, 3, NULL);
  events[3] = add(&d, "add", d.c, d.c, 1, events[2]);
  assert_cl(clSetUserEventStatus(d.user, -5));
  assert_cl(clFinish(d.queue));
  assert_int_equal(fixture_status(events[0]), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
  assert_int_equal(fixture_status(events[1]), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
  assert_int_equal(fixture_status(events[3]), CL_COMPLETE);
  assert_int_equal(value(&d, d.c), 4);
  release(events, 4);
  tear_down(&d);
}

/* Events between an in-order and an out-of-order queue, on the GPU and on the host. */
static void events_order_two_queues(void **state) {
  struct out_of_order d = set_up(state);
  cl_kernel kernel = fixture_add(d.fixture, "slow_add", d.a, d.b, 1);
  cl_event ordered, events[2], deferred;
  fake_pause();
  assert_cl(
      clEnqueueNDRangeKernel(d.fixture->queue, kernel, 1, NULL, &global, NULL, 0, NULL, &ordered));
  events[0] = add(&d, "add", d.b, d.c, 1, ordered);
  events[1] = fill(&d, d.a, 50, ordered);
  assert_cl(clEnqueueNDRangeKernel(d.fixture->queue, kernel, 1, NULL, &global, NULL, 2, events,
                                   &deferred));
  nap();
  assert_int_equal(fixture_status(events[1]), CL_QUEUED);
  fake_resume();
  assert_cl(clWaitForEvents(1, &deferred));
  assert_int_equal(value(&d, d.c), 2);
  assert_int_equal(value(&d, d.b), 51);
  clReleaseEvent(ordered);
  clReleaseEvent(deferred);
  release(events, 2);
  clReleaseKernel(kernel);
  tear_down(&d);
}

struct enqueued {
  struct out_of_order *d;
  _Atomic(cl_event) event;
};

static void CL_CALLBACK enqueue_more(cl_event event, cl_int status, void *data) {
  struct enqueued *enqueued = data;
  enqueued->event = fill(enqueued->d, enqueued->d->b, 33, NULL);
}

/* A callback that the worker calls may use the queue. */
static void callbacks_may_use_the_queue(void **state) {
  struct out_of_order d = set_up(state);
  struct enqueued enqueued = {.d = &d};
  fake_pause();
  cl_event events[2] = {add(&d, "add", d.a, d.c, 1, NULL)};
  events[1] = fill(&d, d.a, 1, events[0]);
  assert_cl(clSetEventCallback(events[1], CL_COMPLETE, enqueue_more, &enqueued));
  fake_resume();
  assert_cl(clWaitForEvents(1, &events[1]));
  AWAIT(atomic_load(&enqueued.event));
  cl_event more = atomic_load(&enqueued.event);
  assert_cl(clWaitForEvents(1, &more));
  assert_int_equal(value(&d, d.b), 33);
  assert_cl(clFinish(d.queue));
  clReleaseEvent(more);
  release(events, 2);
  tear_down(&d);
}

/* A fault also fails deferred commands. */
static void fault_fails_deferred_commands(void **state) {
  struct out_of_order d = set_up(state);
  cl_kernel kernel = fixture_kernel(d.fixture, "fault");
  cl_event events[2];
  assert_cl(clSetKernelArg(kernel, 0, sizeof d.a, &d.a));
  fake_pause();
  assert_cl(clEnqueueNDRangeKernel(d.queue, kernel, 1, NULL, &global, NULL, 0, NULL, &events[0]));
  events[1] = fill(&d, d.a, 1, events[0]);
  assert_cl(clEnqueueBarrier(d.queue));
  assert_cl(clEnqueueFillBuffer(d.queue, d.b, &(int){1}, 4, 0, BYTES, 0, NULL, NULL));
  fake_resume();
  assert_int_equal(clFinish(d.queue), CL_OUT_OF_RESOURCES);
  assert_true(fixture_status(events[0]) < 0);
  assert_true(fixture_status(events[1]) < 0);
  release(events, 2);
  clReleaseKernel(kernel);
  clReleaseEvent(d.user);
  clReleaseMemObject(d.a);
  clReleaseMemObject(d.b);
  clReleaseMemObject(d.c);
  assert_cl(clReleaseCommandQueue(d.queue));
}

/* Many commands with random dependencies. Each adds to the result of its predecessor. */
static void random_dependencies_are_kept(void **state) {
  struct out_of_order d = set_up(state);
  enum { COUNT = 300, LINES = 8 };
  cl_mem mems[LINES];
  cl_event last[LINES];
  int expected[LINES] = {0};
  uint32_t seed = 1;
  for (int i = 0; i < LINES; i++) {
    mems[i] = fixture_buffer(d.fixture, BYTES);
    last[i] = fill(&d, mems[i], 0, i % 2 ? d.user : NULL);
  }
  for (int i = 0; i < COUNT; i++) {
    seed = seed * 1664525 + 1013904223;
    const int line = (int)(seed >> 28) % LINES, kind = (int)(seed >> 24) % 4;
    cl_event event = NULL;
    if (kind < 3) {
      event = add(&d, "add", mems[line], mems[line], kind + 1, last[line]);
      expected[line] += kind + 1;
    } else {
      event = fill(&d, mems[line], i, last[line]);
      expected[line] = i;
    }
    clReleaseEvent(last[line]);
    last[line] = event;
    if (i == COUNT / 2)
      go(&d);
  }
  assert_cl(clFinish(d.queue));
  for (int i = 0; i < LINES; i++) {
    assert_int_equal(value(&d, mems[i]), expected[i]);
    clReleaseMemObject(mems[i]);
  }
  release(last, LINES);
  tear_down(&d);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, fixture_setup, fixture_teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(independent_commands_overtake),
      TEST(host_commands_overtake_gpu_work),
      TEST(deferred_commands_follow_their_dependencies),
      TEST(barrier_orders_commands),
      TEST(barrier_on_gpu_delays_the_host),
      TEST(markers_wait_for_their_lists_only),
      TEST(marker_waits_for_all_commands),
      TEST(finish_waits_for_the_oldest_command),
      TEST(failed_dependency_fails_dependents_only),
      TEST(events_order_two_queues),
      TEST(callbacks_may_use_the_queue),
      TEST(fault_fails_deferred_commands),
      TEST(random_dependencies_are_kept),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
