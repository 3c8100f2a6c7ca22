/* Order, object lifetimes and threads of commands on the fake runtime. */
#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/icd/fakes/fixture.h"

enum { N = 64 };
static const size_t global = N;

static void expect_all(const int *values, int expected) {
  for (int i = 0; i < N; i++)
    assert_int_equal(values[i], expected);
}

static void read_back(cl_command_queue queue, cl_mem mem, int expected) {
  int values[N];
  assert_cl(clEnqueueReadBuffer(queue, mem, CL_TRUE, 0, sizeof values, values, 0, NULL, NULL));
  expect_all(values, expected);
}

static void read_after_launch_returns_results(void **state) {
  struct fixture *fixture = *state;
  cl_mem a = fixture_buffer(fixture, N * 4), b = fixture_buffer(fixture, N * 4);
  cl_kernel kernel = fixture_add(fixture, "add", a, b, 7);
  assert_cl(clEnqueueNDRangeKernel(fixture->queue, kernel, 1, NULL, &global, NULL, 0, NULL, NULL));
  read_back(fixture->queue, b, 7);
  clReleaseKernel(kernel);
  clReleaseMemObject(a);
  clReleaseMemObject(b);
}

/* A write that must wait, a launch after it, and a read after that. */
static void non_blocking_commands_keep_their_order(void **state) {
  struct fixture *fixture = *state;
  cl_mem a = fixture_buffer(fixture, N * 4), b = fixture_buffer(fixture, N * 4);
  cl_kernel slow = fixture_add(fixture, "slow_add", a, b, 1);
  int values[N], result[2][N];
  for (int i = 0; i < N; i++)
    values[i] = 100;
  assert_cl(clEnqueueNDRangeKernel(fixture->queue, slow, 1, NULL, &global, NULL, 0, NULL, NULL));
  assert_cl(
      clEnqueueReadBuffer(fixture->queue, b, CL_FALSE, 0, sizeof values, result[0], 0, NULL, NULL));
  assert_cl(
      clEnqueueWriteBuffer(fixture->queue, a, CL_FALSE, 0, sizeof values, values, 0, NULL, NULL));
  assert_cl(clEnqueueNDRangeKernel(fixture->queue, slow, 1, NULL, &global, NULL, 0, NULL, NULL));
  assert_cl(
      clEnqueueReadBuffer(fixture->queue, b, CL_FALSE, 0, sizeof values, result[1], 0, NULL, NULL));
  assert_cl(clFinish(fixture->queue));
  /* The memory is no longer needed. */
  assert_int_equal(a->object.references, 1);
  assert_int_equal(b->object.references, 1);
  expect_all(result[0], 1);
  expect_all(result[1], 101);
  clReleaseKernel(slow);
  clReleaseMemObject(a);
  clReleaseMemObject(b);
}

/* A deferred launch uses the arguments of the time when it was enqueued. */
static void user_event_delays_commands(void **state) {
  struct fixture *fixture = *state;
  cl_mem a = fixture_buffer(fixture, N * 4), b = fixture_buffer(fixture, N * 4);
  cl_kernel kernel = fixture_add(fixture, "add", a, b, 5);
  cl_event user = clCreateUserEvent(fixture->context, NULL), launched, after_launch;
  const int other = 9;
  assert_cl(
      clEnqueueNDRangeKernel(fixture->queue, kernel, 1, NULL, &global, NULL, 1, &user, &launched));
  assert_cl(clSetKernelArg(kernel, 2, sizeof other, &other));
  int result[N];
  assert_cl(clEnqueueReadBuffer(fixture->queue, b, CL_FALSE, 0, sizeof result, result, 0, NULL,
                                &after_launch));
  nap();
  assert_int_equal(fixture_status(launched), CL_QUEUED);
  assert_int_equal(fixture_status(after_launch), CL_QUEUED);
  assert_cl(clSetUserEventStatus(user, CL_COMPLETE));
  assert_cl(clWaitForEvents(1, &after_launch));
  expect_all(result, 5);
  assert_int_equal(fixture_status(launched), CL_COMPLETE);
  clReleaseEvent(user);
  clReleaseEvent(launched);
  clReleaseEvent(after_launch);
  clReleaseKernel(kernel);
  clReleaseMemObject(a);
  clReleaseMemObject(b);
}

static void failed_user_event_fails_commands(void **state) {
  struct fixture *fixture = *state;
  cl_mem a = fixture_buffer(fixture, N * 4), b = fixture_buffer(fixture, N * 4);
  cl_kernel kernel = fixture_add(fixture, "add", a, b, 5);
  cl_event user = clCreateUserEvent(fixture->context, NULL), launched, late;
  assert_cl(
      clEnqueueNDRangeKernel(fixture->queue, kernel, 1, NULL, &global, NULL, 1, &user, &launched));
  assert_cl(clSetUserEventStatus(user, -77));
  assert_int_equal(clWaitForEvents(1, &launched), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
  assert_int_equal(fixture_status(launched), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
  assert_int_equal(fixture_status(user), -77);
  /* A later command fails as well. A blocking call returns the error itself. */
  assert_cl(
      clEnqueueNDRangeKernel(fixture->queue, kernel, 1, NULL, &global, NULL, 1, &user, &late));
  assert_int_equal(fixture_status(late), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
  int values[N];
  assert_int_equal(
      clEnqueueReadBuffer(fixture->queue, b, CL_TRUE, 0, sizeof values, values, 1, &user, NULL),
      CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
  assert_cl(clFinish(fixture->queue));
  read_back(fixture->queue, b, 0); /* nothing ran, and the queue still works */
  clReleaseEvent(user);
  clReleaseEvent(launched);
  clReleaseEvent(late);
  clReleaseKernel(kernel);
  clReleaseMemObject(a);
  clReleaseMemObject(b);
}

/* The event of a launch in one queue delays a launch in another queue, on the GPU and without a
 * thread of the driver. */
static void events_order_launches_of_two_queues(void **state) {
  struct fixture *fixture = *state;
  cl_command_queue other = fixture_queue(fixture, 0);
  cl_mem a = fixture_buffer(fixture, N * 4), b = fixture_buffer(fixture, N * 4),
         c = fixture_buffer(fixture, N * 4);
  cl_kernel first = fixture_add(fixture, "slow_add", a, b, 1);
  cl_kernel second = fixture_add(fixture, "add", b, c, 1);
  for (int i = 0; i < 20; i++) {
    cl_event done;
    assert_cl(clEnqueueFillBuffer(fixture->queue, b, &(int){0}, 4, 0, N * 4, 0, NULL, NULL));
    assert_cl(
        clEnqueueNDRangeKernel(fixture->queue, first, 1, NULL, &global, NULL, 0, NULL, &done));
    assert_cl(clEnqueueNDRangeKernel(other, second, 1, NULL, &global, NULL, 1, &done, NULL));
    assert_false(other->has_worker);
    read_back(other, c, 2);
    clReleaseEvent(done);
  }
  /* A barrier without an event delays later commands of the host. */
  cl_event done;
  int n = 40;
  assert_cl(clSetKernelArg(first, 2, sizeof n, &n));
  assert_cl(clEnqueueNDRangeKernel(fixture->queue, first, 1, NULL, &global, NULL, 0, NULL, &done));
  assert_cl(clEnqueueBarrierWithWaitList(other, 1, &done, NULL));
  read_back(other, b, 40);
  clReleaseEvent(done);
  clReleaseCommandQueue(other);
  clReleaseKernel(first);
  clReleaseKernel(second);
  clReleaseMemObject(a);
  clReleaseMemObject(b);
  clReleaseMemObject(c);
}

static void CL_CALLBACK raise_flag(cl_mem mem, void *flag) {
  atomic_store((atomic_int *)flag, 1);
}

/* The flag may be set by a thread of the driver. */
static void expect_raised(atomic_int *flag) {
  AWAIT(*flag);
  assert_int_equal(*flag, 1);
}

/* All objects are released before the GPU starts. */
static void objects_live_until_the_gpu_is_done(void **state) {
  struct fixture *fixture = *state;
  for (int profiled = 0; profiled < 2; profiled++) {
    cl_command_queue queue = fixture_queue(fixture, profiled ? CL_QUEUE_PROFILING_ENABLE : 0);
    cl_mem a = fixture_buffer(fixture, N * 4), b = fixture_buffer(fixture, N * 4);
    cl_kernel kernel = fixture_add(fixture, "slow_add", a, b, 1);
    atomic_int destroyed = 0;
    cl_event event;
    assert_cl(clSetMemObjectDestructorCallback(b, raise_flag, &destroyed));
    fake_pause();
    assert_cl(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, NULL, 0, NULL, &event));
    assert_cl(clReleaseEvent(event));
    assert_cl(clReleaseKernel(kernel));
    assert_cl(clReleaseMemObject(a));
    assert_cl(clReleaseMemObject(b));
    assert_int_equal(destroyed, 0);
    fake_resume();
    if (profiled)
      assert_cl(clFinish(queue));
    assert_cl(clReleaseCommandQueue(queue));
    expect_raised(&destroyed);
  }
}

/* A destructor callback is called without further OpenCL calls, also for a buffer whose sub-buffer
 * was released last. */
static void destructor_needs_no_further_calls(void **state) {
  struct fixture *fixture = *state;
  const cl_buffer_region region = {0, N * 4};
  for (int part = 0; part < 2; part++) {
    cl_mem a = fixture_buffer(fixture, N * 4), b = fixture_buffer(fixture, N * 4);
    cl_mem out = part ? clCreateSubBuffer(b, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, NULL) : b;
    cl_kernel kernel = fixture_add(fixture, "slow_add", a, out, 1);
    atomic_int destroyed = 0;
    assert_cl(clSetMemObjectDestructorCallback(b, raise_flag, &destroyed));
    fake_pause();
    assert_cl(
        clEnqueueNDRangeKernel(fixture->queue, kernel, 1, NULL, &global, NULL, 0, NULL, NULL));
    assert_cl(clReleaseKernel(kernel));
    assert_cl(clReleaseMemObject(a));
    assert_cl(clReleaseMemObject(b));
    if (part)
      assert_cl(clReleaseMemObject(out));
    nap();
    assert_int_equal(destroyed, 0);
    fake_resume();
    expect_raised(&destroyed);
  }
}

static void CL_CALLBACK release_queue(cl_mem mem, void *queue) {
  assert_cl(clReleaseCommandQueue(queue));
}

/* The destructor of the first object releases the queue for which the second one waits. */
static void destructor_may_release_a_queue(void **state) {
  struct fixture *fixture = *state;
  cl_command_queue queue = fixture_queue(fixture, 0);
  cl_mem in = fixture_buffer(fixture, N * 4), out[2];
  cl_kernel kernel = fixture_add(fixture, "slow_add", in, in, 1);
  atomic_int destroyed = 0;
  for (int i = 0; i < 2; i++) {
    out[i] = fixture_buffer(fixture, N * 4);
    assert_cl(clSetKernelArg(kernel, 1, sizeof out[i], &out[i]));
    assert_cl(clSetMemObjectDestructorCallback(out[i], i ? raise_flag : release_queue,
                                               i ? (void *)&destroyed : queue));
    fake_pause();
    assert_cl(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, NULL, 0, NULL, NULL));
    assert_cl(clReleaseMemObject(out[i]));
    nap(); /* let a thread of the driver wait for the first */
  }
  fake_resume();
  expect_raised(&destroyed);
  assert_cl(clReleaseKernel(kernel));
  assert_cl(clReleaseMemObject(in));
}

struct slow_destructor {
  atomic_int called, let_go; /* The callback sets called and waits for let_go. */
};

static void CL_CALLBACK wait_in_destructor(cl_mem mem, void *data) {
  struct slow_destructor *slow_destructor = data;
  slow_destructor->called = 1;
  while (!slow_destructor->let_go)
    nap();
}

static void *let_go_soon(void *data) {
  nap();
  *(atomic_int *)data = 1;
  return NULL;
}

/* Another thread slowly destroys the released objects. An allocation in this thread destroys the
 * others and waits for that thread. */
static void allocation_waits_for_memory_freed_by_another_thread(void **state) {
  struct fixture *fixture = *state;
  struct slow_destructor slow_destructor = {0};
  cl_mem mems[2] = {fixture_buffer(fixture, N * 4), fixture_buffer(fixture, N * 4)};
  cl_kernel kernel = fixture_add(fixture, "slow_add", mems[0], mems[1], 1);
  pthread_t thread;
  assert_cl(clSetMemObjectDestructorCallback(mems[0], wait_in_destructor, &slow_destructor));
  fake_pause();
  assert_cl(clEnqueueNDRangeKernel(fixture->queue, kernel, 1, NULL, &global, NULL, 0, NULL, NULL));
  assert_cl(clReleaseKernel(kernel));
  for (int i = 0; i < 2; i++)
    assert_cl(clReleaseMemObject(mems[i]));
  fake_memory(2);
  fake_resume();
  expect_raised(&slow_destructor.called);
  mems[1] = fixture_buffer(fixture, N * 4);
  assert_int_equal(pthread_create(&thread, NULL, let_go_soon, &slow_destructor.let_go), 0);
  mems[0] = fixture_buffer(fixture, N * 4);
  pthread_join(thread, NULL);
  for (int i = 0; i < 2; i++)
    assert_cl(clReleaseMemObject(mems[i]));
  fake_memory(0);
}

/* A thousand retired objects cost fewer than ten checks each on average. */
static void retired_objects_are_not_checked_at_every_release(void **state) {
  struct fixture *fixture = *state;
  enum { COUNT = 1000, LOOKS = 10 };
  cl_mem a = fixture_buffer(fixture, N * 4), b = fixture_buffer(fixture, N * 4);
  cl_kernel kernel = fixture_add(fixture, "add", a, b, 1);
  const int live = fake_live();
  fake_pause();
  assert_cl(clEnqueueNDRangeKernel(fixture->queue, kernel, 1, NULL, &global, NULL, 0, NULL, NULL));
  const int before = fake_looks;
  for (int i = 0; i < COUNT; i++)
    assert_cl(clReleaseMemObject(fixture_buffer(fixture, 4)));
  const int waiting = fake_live() - live, looks = fake_looks - before;
  fake_resume();
  assert_cl(clFinish(fixture->queue));
  const int left = fake_live() - live;
  assert_cl(clReleaseKernel(kernel));
  assert_cl(clReleaseMemObject(a));
  assert_cl(clReleaseMemObject(b));
  assert_int_equal(waiting, COUNT);
  assert_int_equal(left, 0);
  assert_true(looks < LOOKS * COUNT);
}

enum { THREADS = 16 };

struct allocator {
  struct fixture *fixture;
  pthread_t thread;
  int failures;
};

static void *allocate_and_release(void *data) {
  enum { ROUNDS = 200, BUFFERS = 8 };
  struct allocator *allocator = data;
  for (int i = 0; i < ROUNDS; i++) {
    cl_mem mems[BUFFERS];
    cl_int error;
    for (int k = 0; k < BUFFERS; k++) {
      mems[k] = clCreateBuffer(allocator->fixture->context, 0, 4, NULL, &error);
      allocator->failures += error != CL_SUCCESS;
    }
    for (int k = 0; k < BUFFERS; k++)
      allocator->failures += clReleaseMemObject(mems[k]) != CL_SUCCESS;
  }
  return NULL;
}

/* Threads release buffers that wait for a queue while other threads create buffers. */
static void threads_release_and_create_buffers(void **state) {
  struct fixture *fixture = *state;
  struct allocator allocators[THREADS];
  cl_mem a = fixture_buffer(fixture, N * 4), b = fixture_buffer(fixture, N * 4);
  cl_kernel kernel = fixture_add(fixture, "add", a, b, 1);
  const int live = fake_live();
  fake_pause();
  assert_cl(clEnqueueNDRangeKernel(fixture->queue, kernel, 1, NULL, &global, NULL, 0, NULL, NULL));
  for (int i = 0; i < THREADS; i++) {
    allocators[i] = (struct allocator){.fixture = fixture};
    assert_int_equal(
        pthread_create(&allocators[i].thread, NULL, allocate_and_release, &allocators[i]), 0);
    if (i == THREADS / 2)
      fake_resume();
  }
  for (int i = 0; i < THREADS; i++) {
    pthread_join(allocators[i].thread, NULL);
    assert_int_equal(allocators[i].failures, 0);
  }
  assert_cl(clFinish(fixture->queue));
  cl_mem c = fixture_buffer(fixture, 4); /* destroys the released objects */
  assert_cl(clReleaseMemObject(c));
  assert_int_equal(fake_live(), live);
  assert_cl(clReleaseKernel(kernel));
  assert_cl(clReleaseMemObject(a));
  assert_cl(clReleaseMemObject(b));
}

/* Failed creations of queues and modules are retried too. */
static void creations_are_retried_after_reclaiming(void **state) {
  struct fixture *fixture = *state;
  const char *source = "source";
  fake_fail_after(0, 1);
  assert_cl(clReleaseCommandQueue(fixture_queue(fixture, 0)));
  cl_int code;
  cl_program program = clCreateProgramWithSource(fixture->context, 1, &source, NULL, &code);
  assert_cl(code);
  fake_fail_after(0, 1);
  assert_cl(clBuildProgram(program, 1, &fixture->device, "", NULL, NULL));
  assert_cl(clReleaseProgram(program));
}

/* The application releases everything while the worker still has the command. */
static void deferred_commands_hold_their_objects(void **state) {
  struct fixture *fixture = *state;
  cl_command_queue queue = fixture_queue(fixture, CL_QUEUE_PROFILING_ENABLE);
  cl_mem a = fixture_buffer(fixture, N * 4), b = fixture_buffer(fixture, N * 4);
  cl_kernel kernel = fixture_add(fixture, "slow_add", a, b, 1);
  atomic_int destroyed = 0;
  cl_event user = clCreateUserEvent(fixture->context, NULL), event;
  assert_cl(clSetMemObjectDestructorCallback(b, raise_flag, &destroyed));
  assert_cl(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, NULL, 1, &user, &event));
  assert_cl(clReleaseKernel(kernel));
  assert_cl(clReleaseMemObject(a));
  assert_cl(clReleaseMemObject(b));
  assert_cl(clReleaseCommandQueue(queue));
  assert_cl(clSetUserEventStatus(user, CL_COMPLETE));
  assert_cl(clWaitForEvents(1, &event));
  assert_cl(clReleaseEvent(event));
  assert_cl(clReleaseEvent(user));
  expect_raised(&destroyed);
}

/* Commands that wait for a user event that was released without being set fail. */
static void released_user_event_fails_commands(void **state) {
  struct fixture *fixture = *state;
  cl_event user = clCreateUserEvent(fixture->context, NULL), marker;
  assert_cl(clEnqueueMarkerWithWaitList(fixture->queue, 1, &user, &marker));
  assert_cl(clReleaseEvent(user));
  assert_int_equal(clWaitForEvents(1, &marker), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
  assert_cl(clReleaseEvent(marker));
}

static void profiling_times_are_in_order(void **state) {
  struct fixture *fixture = *state;
  cl_command_queue queue = fixture_queue(fixture, CL_QUEUE_PROFILING_ENABLE);
  cl_mem a = fixture_buffer(fixture, N * 4), b = fixture_buffer(fixture, N * 4);
  cl_kernel kernel = fixture_add(fixture, "slow_add", a, b, 1);
  cl_event events[5], user = clCreateUserEvent(fixture->context, NULL);
  int values[N] = {0};
  cl_ulong before, after, host, last = 0;
  assert_cl(clGetDeviceAndHostTimer(fixture->device, &before, &host));
  assert_cl(clEnqueueWriteBuffer(queue, a, CL_TRUE, 0, N * 4, values, 0, NULL, &events[0]));
  assert_cl(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, NULL, 0, NULL, &events[1]));
  assert_cl(clEnqueueMarkerWithWaitList(queue, 0, NULL, &events[2]));
  assert_cl(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, NULL, 1, &user, &events[3]));
  assert_cl(clEnqueueReadBuffer(queue, b, CL_FALSE, 0, N * 4, values, 0, NULL, &events[4]));
  cl_ulong time;
  assert_int_equal(clGetEventProfilingInfo(events[3], CL_PROFILING_COMMAND_END, 8, &time, NULL),
                   CL_PROFILING_INFO_NOT_AVAILABLE);
  assert_int_equal(clGetEventProfilingInfo(user, CL_PROFILING_COMMAND_END, 8, &time, NULL),
                   CL_PROFILING_INFO_NOT_AVAILABLE);
  assert_cl(clSetUserEventStatus(user, CL_COMPLETE));
  assert_cl(clWaitForEvents(5, events));
  assert_cl(clGetDeviceAndHostTimer(fixture->device, &after, &host));
  for (int i = 0; i < 5; i++) {
    cl_ulong times[4];
    for (cl_uint k = 0; k < 4; k++)
      assert_cl(
          clGetEventProfilingInfo(events[i], CL_PROFILING_COMMAND_QUEUED + k, 8, &times[k], NULL));
    assert_true(times[0] <= times[1] && times[1] <= times[2] && times[2] <= times[3]);
    /* The clocks differ by at most a tick of the GPU and the time between two reads. */
    assert_true(times[0] + 1000000 >= before && times[3] <= after + 1000000);
    assert_true(times[2] + 1000000 >= last);
    last = times[3];
    clReleaseEvent(events[i]);
  }
  clReleaseEvent(user);
  clReleaseKernel(kernel);
  clReleaseMemObject(a);
  clReleaseMemObject(b);
  clReleaseCommandQueue(queue);
}

static void CL_CALLBACK note_status(cl_event event, cl_int status, void *data) {
  atomic_store((atomic_int *)data, status + 1000);
}

static void callbacks_get_each_status(void **state) {
  struct fixture *fixture = *state;
  cl_mem a = fixture_buffer(fixture, N * 4), b = fixture_buffer(fixture, N * 4);
  cl_kernel kernel = fixture_add(fixture, "add", a, b, 1);
  atomic_int submitted = 0, running = 0, complete = 0, late = 0;
  cl_event event;
  fake_pause();
  assert_cl(
      clEnqueueNDRangeKernel(fixture->queue, kernel, 1, NULL, &global, NULL, 0, NULL, &event));
  assert_cl(clSetEventCallback(event, CL_SUBMITTED, note_status, &submitted));
  assert_cl(clSetEventCallback(event, CL_RUNNING, note_status, &running));
  assert_cl(clSetEventCallback(event, CL_COMPLETE, note_status, &complete));
  AWAIT(submitted);
  assert_int_equal(submitted, 1000 + CL_SUBMITTED);
  nap();
  assert_int_equal(running, 0);
  assert_int_equal(complete, 0);
  fake_resume();
  /* No thread waits, so the watcher must notice. */
  AWAIT(complete);
  assert_int_equal(running, 1000 + CL_RUNNING);
  assert_int_equal(complete, 1000 + CL_COMPLETE);
  assert_cl(clSetEventCallback(event, CL_COMPLETE, note_status, &late));
  AWAIT(late);
  assert_int_equal(late, 1000 + CL_COMPLETE);
  assert_cl(clReleaseEvent(event));
  /* Callbacks of an event whose command is not on the GPU yet. */
  atomic_int user_done = 0, deferred_done = 0;
  cl_event user = clCreateUserEvent(fixture->context, NULL);
  assert_cl(clSetEventCallback(user, CL_COMPLETE, note_status, &user_done));
  assert_cl(
      clEnqueueNDRangeKernel(fixture->queue, kernel, 1, NULL, &global, NULL, 1, &user, &event));
  assert_cl(clSetEventCallback(event, CL_COMPLETE, note_status, &deferred_done));
  assert_cl(clReleaseEvent(event));
  assert_cl(clSetUserEventStatus(user, -5));
  AWAIT(user_done);
  assert_int_equal(user_done, 1000 - 5);
  AWAIT(deferred_done);
  assert_int_equal(deferred_done, 1000 + CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
  assert_cl(clReleaseEvent(user));
  clReleaseKernel(kernel);
  clReleaseMemObject(a);
  clReleaseMemObject(b);
}

/* A callback for CL_RUNNING is called while the command runs, even if a thread has been sleeping
 * until the end of the command since before the callback was added. */
static void running_callback_can_be_added_to_watched_event(void **state) {
  struct fixture *fixture = *state;
  cl_mem a = fixture_buffer(fixture, N * 4), b = fixture_buffer(fixture, N * 4);
  cl_kernel kernel = fixture_add(fixture, "add", a, b, 1);
  cl_command_queue queue = fixture_queue(fixture, CL_QUEUE_PROFILING_ENABLE);
  atomic_int running = 0, complete = 0;
  cl_event event;
  fake_pause();
  fake_hold();
  assert_cl(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, NULL, 0, NULL, &event));
  assert_cl(clSetEventCallback(event, CL_COMPLETE, note_status, &complete));
  nap(); /* by now the thread is likely to sleep */
  assert_cl(clSetEventCallback(event, CL_RUNNING, note_status, &running));
  fake_resume();
  AWAIT(running);
  const int status = running, ended = complete;
  fake_let_end();
  assert_int_equal(status, 1000 + CL_RUNNING);
  assert_int_equal(ended, 0);
  AWAIT(complete);
  assert_int_equal(complete, 1000 + CL_COMPLETE);
  assert_cl(clReleaseEvent(event));
  clReleaseCommandQueue(queue);
  clReleaseKernel(kernel);
  clReleaseMemObject(a);
  clReleaseMemObject(b);
}

static int thread_count(void) {
  int count = 0;
  DIR *folder = opendir("/proc/self/task");
  assert_non_null(folder);
  for (struct dirent *entry; (entry = readdir(folder));)
    count += entry->d_name[0] != '.';
  closedir(folder);
  return count;
}

/* One thread polls for all such callbacks of a queue. */
static void late_running_callbacks_share_a_thread(void **state) {
  enum { EVENTS = 20 };
  struct fixture *fixture = *state;
  cl_mem a = fixture_buffer(fixture, N * 4), b = fixture_buffer(fixture, N * 4);
  cl_kernel kernel = fixture_add(fixture, "add", a, b, 1);
  cl_command_queue queue = fixture_queue(fixture, CL_QUEUE_PROFILING_ENABLE);
  atomic_int running[EVENTS] = {0}, complete[EVENTS] = {0};
  cl_event events[EVENTS];
  fake_pause();
  for (int i = 0; i < EVENTS; i++) {
    assert_cl(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, NULL, 0, NULL, &events[i]));
    assert_cl(clSetEventCallback(events[i], CL_COMPLETE, note_status, &complete[i]));
  }
  nap(); /* by now the thread is likely to sleep */
  const int before = thread_count();
  for (int i = 0; i < EVENTS; i++)
    assert_cl(clSetEventCallback(events[i], CL_RUNNING, note_status, &running[i]));
  const int after = thread_count();
  fake_resume();
  for (int i = 0; i < EVENTS; i++) {
    AWAIT(complete[i]);
    assert_int_equal(running[i], 1000 + CL_RUNNING);
    assert_cl(clReleaseEvent(events[i]));
  }
  assert_true(after <= before + 1); /* a thread of an earlier test may have ended */
  clReleaseCommandQueue(queue);
  clReleaseKernel(kernel);
  clReleaseMemObject(a);
  clReleaseMemObject(b);
}

static void CL_CALLBACK release_event(cl_event event, cl_int status, void *calls) {
  if (!atomic_fetch_add((atomic_int *)calls, 1))
    assert_cl(clReleaseEvent(event));
  else
    assert_int_equal(fixture_status(event), CL_COMPLETE);
}

/* An event lives until all of its callbacks have been called, even if the first one releases it. */
static void callback_may_release_its_event(void **state) {
  struct fixture *fixture = *state;
  atomic_int calls = 0;
  cl_event user = clCreateUserEvent(fixture->context, NULL);
  for (int i = 0; i < 3; i++)
    assert_cl(clSetEventCallback(user, CL_COMPLETE, release_event, &calls));
  assert_cl(clSetUserEventStatus(user, CL_COMPLETE));
  AWAIT(calls == 3);
  assert_int_equal(calls, 3);
}

/* A lock that the application holds in calls and takes in callbacks. */
static pthread_mutex_t application_lock = PTHREAD_MUTEX_INITIALIZER;
enum { LOCK_S = 10 };

static void take_application_lock(atomic_int *count) {
  struct timespec end;
  clock_gettime(CLOCK_MONOTONIC, &end);
  end.tv_sec += LOCK_S;
  if (pthread_mutex_clocklock(&application_lock, CLOCK_MONOTONIC, &end))
    return; /* a deadlock */
  pthread_mutex_unlock(&application_lock);
  atomic_fetch_add(count, 1);
}

static void CL_CALLBACK lock_in_callback(cl_event event, cl_int status, void *count) {
  take_application_lock(count);
}

static void CL_CALLBACK lock_in_destructor(cl_mem mem, void *count) {
  take_application_lock(count);
}

/* The calls that complete events, and the worker for which clFinish waits, must not run callbacks,
 * nor destructors of memory that a command still used when it was released. */
static void application_may_hold_a_lock_that_callbacks_take(void **state) {
  struct fixture *fixture = *state;
  cl_command_queue in_order = fixture->queue;
  cl_mem a = fixture_buffer(fixture, N * 4), b = fixture_buffer(fixture, N * 4);
  cl_kernel kernel = fixture_add(fixture, "add", a, b, 1);
  atomic_int count = 0;
  int values[N];
  for (int deferred = 0; deferred < 2; deferred++) {
    cl_event user = clCreateUserEvent(fixture->context, NULL), launch, read;
    const cl_uint waits = deferred;
    cl_mem released = fixture_buffer(fixture, N * 4);
    count = 0;
    assert_cl(clSetMemObjectDestructorCallback(released, lock_in_destructor, &count));
    fake_pause();
    pthread_mutex_lock(&application_lock);
    assert_cl(clEnqueueNDRangeKernel(in_order, kernel, 1, NULL, &global, NULL, waits,
                                     waits ? &user : NULL, &launch));
    assert_cl(clSetEventCallback(launch, CL_SUBMITTED, lock_in_callback, &count));
    assert_cl(clSetEventCallback(launch, CL_COMPLETE, lock_in_callback, &count));
    assert_cl(clEnqueueReadBuffer(in_order, released, CL_FALSE, 0, N * 4, values, 0, NULL, &read));
    assert_cl(clSetEventCallback(read, CL_COMPLETE, lock_in_callback, &count));
    assert_cl(clReleaseMemObject(released));
    assert_cl(clSetEventCallback(user, CL_COMPLETE, lock_in_callback, &count));
    assert_cl(clSetUserEventStatus(user, CL_COMPLETE));
    fake_resume();
    assert_cl(clFinish(in_order));
    assert_cl(clWaitForEvents(1, &read));
    assert_int_equal(fixture_status(launch), CL_COMPLETE);
    assert_cl(clSetEventCallback(launch, CL_COMPLETE, lock_in_callback, &count));
    assert_int_equal(count, 0);
    pthread_mutex_unlock(&application_lock);
    AWAIT(count == 6);
    assert_int_equal(count, 6);
    assert_cl(clReleaseEvent(user));
    assert_cl(clReleaseEvent(launch));
    assert_cl(clReleaseEvent(read));
  }
  clReleaseKernel(kernel);
  clReleaseMemObject(a);
  clReleaseMemObject(b);
}

static void CL_CALLBACK release_context(cl_event event, cl_int status, void *data) {
  struct fixture *fixture = data;
  assert_cl(clReleaseEvent(event));
  assert_cl(clReleaseCommandQueue(fixture->queue));
  assert_cl(clReleaseContext(fixture->context));
  fixture->context = NULL;
}

/* The callback has the last references of all objects. */
static void callback_may_release_its_context(void **state) {
  struct fixture *fixture = *state;
  const int live = fake_live();
  struct fixture last = {.device = fixture->device};
  cl_int code;
  cl_event event;
  last.context = clCreateContext(NULL, 1, &last.device, NULL, NULL, &code);
  assert_cl(code);
  last.queue = fixture_queue(&last, 0);
  assert_cl(clEnqueueMarkerWithWaitList(last.queue, 0, NULL, &event));
  assert_cl(clSetEventCallback(event, CL_COMPLETE, release_context, &last));
  AWAIT(!last.context && fake_live() == live);
  assert_int_equal(fake_live(), live);
}

static void CL_CALLBACK fork_in_callback(cl_event event, cl_int status, void *child) {
  const pid_t forked = fork();
  if (forked)
    atomic_store((atomic_int *)child, forked);
}

/* The child has only the thread of the callback, which ends after it and with it the child. */
static void callback_may_return_in_child_of_fork(void **state) {
  struct fixture *fixture = *state;
  cl_event user = clCreateUserEvent(fixture->context, NULL);
  atomic_int child = 0;
  pid_t ended = 0;
  int status = -1;
  assert_cl(clSetUserEventStatus(user, CL_COMPLETE));
  assert_cl(clSetEventCallback(user, CL_COMPLETE, fork_in_callback, &child));
  AWAIT(child);
  assert_true(child > 0);
  for (int naps = 0; naps < 3000 && !ended; naps++) {
    nap();
    ended = waitpid(child, &status, WNOHANG);
  }
  if (!ended)
    kill(child, SIGKILL);
  assert_int_equal(ended, child);
  assert_true(WIFEXITED(status)); /* LeakSanitizer changes the status: the parent's objects leak */
  assert_cl(clReleaseEvent(user));
}

struct released {
  pthread_t destroyer;
  cl_mem other;
};

static void CL_CALLBACK note_destroyer(cl_mem mem, void *data) {
  ((struct released *)data)->destroyer = pthread_self();
}

static void CL_CALLBACK release_other(cl_mem mem, void *data) {
  assert_cl(clReleaseMemObject(((struct released *)data)->other));
}

/* clReleaseMemObject calls the destructors of the parent too, even if one of the sub-buffer
 * releases another object. */
static void destructor_may_release_another_object(void **state) {
  struct fixture *fixture = *state;
  struct released released = {.other = fixture_buffer(fixture, N)};
  const cl_buffer_region region = {0, N};
  cl_mem parent = fixture_buffer(fixture, N);
  cl_int code;
  cl_mem part = clCreateSubBuffer(parent, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &code);
  assert_cl(code);
  assert_cl(clSetMemObjectDestructorCallback(parent, note_destroyer, &released));
  assert_cl(clSetMemObjectDestructorCallback(part, release_other, &released));
  assert_cl(clReleaseMemObject(parent));
  assert_cl(clReleaseMemObject(part));
  AWAIT(released.destroyer);
  assert_true(pthread_equal(released.destroyer, pthread_self()));
}

struct relay {
  struct fixture *fixture;
  cl_kernel kernel;
  atomic_int left;
};

/* Enqueues the next launch and sets arguments of the kernel from within the callback of the last
 * one, so the driver must not hold a lock here. */
static void CL_CALLBACK pass_on(cl_event event, cl_int status, void *data) {
  struct relay *relay = data;
  cl_event next;
  const int n = 3;
  assert_cl(clReleaseEvent(event));
  if (atomic_fetch_sub(&relay->left, 1) == 1)
    return;
  assert_cl(clSetKernelArg(relay->kernel, 2, sizeof n, &n));
  assert_cl(clEnqueueNDRangeKernel(relay->fixture->queue, relay->kernel, 1, NULL, &global, NULL, 0,
                                   NULL, &next));
  assert_cl(clSetEventCallback(next, CL_COMPLETE, pass_on, relay));
}

/* A second callback is registered after the first was called, while the GPU is working. */
static void callback_can_be_added_after_another_was_called(void **state) {
  struct fixture *fixture = *state;
  cl_command_queue queue = fixture_queue(fixture, CL_QUEUE_PROFILING_ENABLE);
  cl_mem a = fixture_buffer(fixture, N * 4), b = fixture_buffer(fixture, N * 4);
  cl_kernel kernel = fixture_add(fixture, "slow_add", a, b, 1);
  for (int i = 0; i < 20; i++) {
    atomic_int running = 0, complete = 0;
    cl_event event;
    fake_pause();
    assert_cl(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, NULL, 0, NULL, &event));
    assert_cl(clSetEventCallback(event, CL_RUNNING, note_status, &running));
    fake_resume();
    while (!running)
      sched_yield();
    assert_cl(clSetEventCallback(event, CL_COMPLETE, note_status, &complete));
    assert_cl(clReleaseEvent(event));
    AWAIT(complete);
    assert_int_equal(complete, 1000 + CL_COMPLETE);
  }
  clReleaseKernel(kernel);
  clReleaseMemObject(a);
  clReleaseMemObject(b);
  clReleaseCommandQueue(queue);
}

static void callbacks_may_enqueue(void **state) {
  struct fixture *fixture = *state;
  cl_mem a = fixture_buffer(fixture, N * 4), b = fixture_buffer(fixture, N * 4);
  struct relay relay = {fixture, fixture_add(fixture, "add", a, b, 3), 50};
  cl_event event;
  assert_cl(clEnqueueNDRangeKernel(fixture->queue, relay.kernel, 1, NULL, &global, NULL, 0, NULL,
                                   &event));
  assert_cl(clSetEventCallback(event, CL_COMPLETE, pass_on, &relay));
  AWAIT(relay.left <= 0);
  assert_int_equal(relay.left, 0);
  clReleaseKernel(relay.kernel);
  clReleaseMemObject(a);
  clReleaseMemObject(b);
}

static void maps_keep_the_order_without_copies(void **state) {
  struct fixture *fixture = *state;
  cl_mem a = fixture_buffer(fixture, N * 4), b = fixture_buffer(fixture, N * 4);
  cl_kernel kernel = fixture_add(fixture, "slow_add", a, b, 2);
  cl_int code;
  int *pointer =
      clEnqueueMapBuffer(fixture->queue, a, CL_TRUE, CL_MAP_WRITE, 0, N * 4, 0, NULL, NULL, &code);
  assert_cl(code);
  assert_ptr_equal(pointer, a->cpu); /* nothing is copied */
  for (int i = 0; i < N; i++)
    pointer[i] = 30;
  assert_cl(clEnqueueUnmapMemObject(fixture->queue, a, pointer, 0, NULL, NULL));
  assert_cl(clEnqueueNDRangeKernel(fixture->queue, kernel, 1, NULL, &global, NULL, 0, NULL, NULL));
  cl_event mapped;
  pointer = clEnqueueMapBuffer(fixture->queue, b, CL_FALSE, CL_MAP_READ, 0, N * 4, 0, NULL, &mapped,
                               &code);
  assert_cl(code);
  assert_false(fixture->queue->has_worker); /* the GPU keeps the order */
  assert_cl(clWaitForEvents(1, &mapped));
  expect_all(pointer, 32);
  assert_cl(clEnqueueUnmapMemObject(fixture->queue, b, pointer, 0, NULL, NULL));
  assert_int_equal(clEnqueueUnmapMemObject(fixture->queue, b, pointer, 0, NULL, NULL),
                   CL_INVALID_VALUE);
  clReleaseEvent(mapped);
  clReleaseKernel(kernel);
  clReleaseMemObject(a);
  clReleaseMemObject(b);
}

/* With CL_MEM_USE_HOST_PTR, a map updates the host's memory, and an unmap updates the device's if
 * the map was for writing. */
static void maps_update_host_memory(void **state) {
  struct fixture *fixture = *state;
  int in[N], out[N];
  for (int i = 0; i < N; i++)
    in[i] = 10, out[i] = -1;
  cl_int code;
  cl_mem a = clCreateBuffer(fixture->context, CL_MEM_USE_HOST_PTR, sizeof in, in, &code);
  assert_cl(code);
  cl_mem b = clCreateBuffer(fixture->context, CL_MEM_USE_HOST_PTR, sizeof out, out, &code);
  assert_cl(code);
  cl_kernel kernel = fixture_add(fixture, "add", a, b, 1);
  assert_cl(clEnqueueNDRangeKernel(fixture->queue, kernel, 1, NULL, &global, NULL, 0, NULL, NULL));
  int *pointer =
      clEnqueueMapBuffer(fixture->queue, b, CL_TRUE, CL_MAP_READ, 0, N * 4, 0, NULL, NULL, &code);
  assert_ptr_equal(pointer, out);
  expect_all(out, 11);
  out[0] = -1; /* not allowed */
  assert_cl(clEnqueueUnmapMemObject(fixture->queue, b, pointer, 0, NULL, NULL));
  read_back(fixture->queue, b, 11);
  pointer = clEnqueueMapBuffer(fixture->queue, a, CL_TRUE, CL_MAP_WRITE_INVALIDATE_REGION, 0, N * 4,
                               0, NULL, NULL, &code);
  assert_ptr_equal(pointer, in);
  for (int i = 0; i < N; i++)
    in[i] = 20;
  assert_cl(clEnqueueUnmapMemObject(fixture->queue, a, pointer, 0, NULL, NULL));
  assert_cl(clEnqueueNDRangeKernel(fixture->queue, kernel, 1, NULL, &global, NULL, 0, NULL, NULL));
  read_back(fixture->queue, b, 21);
  clReleaseKernel(kernel);
  clReleaseMemObject(a);
  clReleaseMemObject(b);
}

/* A terminated map has not mapped anything. A terminated unmap has not unmapped, so the host's
 * writes are not lost. The event fails before the call or after it. */
static void terminated_maps_change_nothing(void **state) {
  struct fixture *fixture = *state;
  for (int late = 0; late < 2; late++) {
    cl_event user[2], done;
    int host[N] = {0}, *pointer;
    cl_int code;
    cl_mem mem = clCreateBuffer(fixture->context, CL_MEM_USE_HOST_PTR, sizeof host, host, &code);
    for (int i = 0; i < 2; i++) {
      user[i] = clCreateUserEvent(fixture->context, NULL);
      if (!late)
        assert_cl(clSetUserEventStatus(user[i], -1));
    }
    pointer = clEnqueueMapBuffer(fixture->queue, mem, CL_FALSE, CL_MAP_WRITE, 0, N * 4, 1, &user[0],
                                 &done, &code);
    assert_cl(code);
    if (late) {
      assert_int_equal(fixture_map_count(mem), 1);
      assert_cl(clSetUserEventStatus(user[0], -1));
    }
    assert_int_equal(clWaitForEvents(1, &done), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    clReleaseEvent(done);
    assert_int_equal(fixture_map_count(mem), 0);
    assert_int_equal(clEnqueueUnmapMemObject(fixture->queue, mem, pointer, 0, NULL, NULL),
                     CL_INVALID_VALUE);
    pointer = clEnqueueMapBuffer(fixture->queue, mem, CL_TRUE, CL_MAP_WRITE, 0, N * 4, 0, NULL,
                                 NULL, &code);
    assert_cl(code);
    for (int i = 0; i < N; i++)
      pointer[i] = 17;
    assert_cl(clEnqueueUnmapMemObject(fixture->queue, mem, pointer, 1, &user[1], &done));
    if (late)
      assert_cl(clSetUserEventStatus(user[1], -1));
    assert_int_equal(clWaitForEvents(1, &done), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    clReleaseEvent(done);
    assert_int_equal(fixture_map_count(mem), 1);
    assert_cl(clEnqueueUnmapMemObject(fixture->queue, mem, pointer, 0, NULL, NULL));
    assert_int_equal(fixture_map_count(mem), 0);
    read_back(fixture->queue, mem, 17);
    clReleaseEvent(user[0]);
    clReleaseEvent(user[1]);
    clReleaseMemObject(mem);
  }
}

/* An object lives until the commands that use it have completed. */
static void objects_live_until_their_commands_complete(void **state) {
  struct fixture *fixture = *state;
  cl_mem mem = fixture_buffer(fixture, N * 4);
  cl_event user = clCreateUserEvent(fixture->context, NULL);
  atomic_int destroyed = 0;
  cl_int code;
  assert_cl(clSetMemObjectDestructorCallback(mem, raise_flag, &destroyed));
  void *pointer = clEnqueueMapBuffer(fixture->queue, mem, CL_TRUE, CL_MAP_WRITE, 0, N * 4, 0, NULL,
                                     NULL, &code);
  assert_cl(code);
  assert_cl(clEnqueueUnmapMemObject(fixture->queue, mem, pointer, 1, &user, NULL));
  assert_cl(clReleaseMemObject(mem));
  assert_int_equal(destroyed, 0);
  assert_cl(clSetUserEventStatus(user, CL_COMPLETE));
  assert_cl(clFinish(fixture->queue));
  expect_raised(&destroyed);
  clReleaseEvent(user);
}

static atomic_int fault_reports;
static void CL_CALLBACK count_fault_report(const char *sentence, const void *info, size_t size,
                                           void *data) {
  if (strstr(sentence, "unmapped memory"))
    atomic_fetch_add(&fault_reports, 1);
}

/* After a GPU fault, unfinished commands fail and another context still works. */
static void fault_fails_unfinished_commands(void **state) {
  struct fixture *fixture = *state;
  cl_int code;
  struct fixture broken = {.device = fixture->device, .program = NULL};
  const char *source = "";
  broken.context = clCreateContext(NULL, 1, &fixture->device, count_fault_report, NULL, &code);
  broken.program = clCreateProgramWithSource(broken.context, 1, &source, NULL, &code);
  assert_cl(clBuildProgram(broken.program, 0, NULL, NULL, NULL, NULL));
  broken.queue = fixture_queue(&broken, CL_QUEUE_PROFILING_ENABLE);
  cl_mem mem = fixture_buffer(&broken, N * 4);
  cl_kernel kernel = fixture_kernel(&broken, "fault");
  assert_cl(clSetKernelArg(kernel, 0, sizeof mem, &mem));
  cl_event event, after_fault;
  int values[N];
  fake_pause();
  assert_cl(clEnqueueNDRangeKernel(broken.queue, kernel, 1, NULL, &global, NULL, 0, NULL, &event));
  assert_cl(clEnqueueReadBuffer(broken.queue, mem, CL_FALSE, 0, sizeof values, values, 0, NULL,
                                &after_fault));
  fake_resume();
  assert_int_equal(clWaitForEvents(1, &event), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
  assert_int_equal(fixture_status(event), CL_OUT_OF_RESOURCES);
  assert_int_equal(clFinish(broken.queue), CL_OUT_OF_RESOURCES);
  assert_true(fixture_status(after_fault) < 0);
  assert_true(fault_reports > 0);
  assert_int_equal(
      clEnqueueNDRangeKernel(broken.queue, kernel, 1, NULL, &global, NULL, 0, NULL, NULL),
      CL_OUT_OF_RESOURCES);
  assert_int_equal(
      clEnqueueReadBuffer(broken.queue, mem, CL_TRUE, 0, sizeof values, values, 0, NULL, NULL),
      CL_OUT_OF_RESOURCES);
  clReleaseEvent(event);
  clReleaseEvent(after_fault);
  clReleaseKernel(kernel);
  clReleaseMemObject(mem);
  clReleaseProgram(broken.program);
  clReleaseCommandQueue(broken.queue);
  clReleaseContext(broken.context);
  read_after_launch_returns_results(state);
}

/* Many threads use one shared queue and their own queues, with events from all of them. */
static void *hammer(void *data) {
  struct fixture *fixture = data;
  cl_command_queue own = fixture_queue(fixture, CL_QUEUE_PROFILING_ENABLE);
  unsigned seed = (unsigned)(uintptr_t)own;
  for (int round = 0; round < 40; round++) {
    cl_mem a = fixture_buffer(fixture, N * 4), b = fixture_buffer(fixture, N * 4);
    cl_kernel kernel = fixture_add(fixture, "add", a, b, round);
    cl_command_queue queue = rand_r(&seed) % 2 ? own : fixture->queue;
    cl_event user = clCreateUserEvent(fixture->context, NULL), launched, filled;
    const bool hold = rand_r(&seed) % 2;
    assert_cl(clEnqueueFillBuffer(own, a, &(int){1000}, 4, 0, N * 4, 0, NULL, &filled));
    /* A user event in the shared queue would make the other threads wait for this one. */
    const cl_event list[2] = {filled, user};
    assert_cl(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, NULL,
                                     hold && queue == own ? 2 : 1, list, &launched));
    if (rand_r(&seed) % 2)
      assert_cl(clSetUserEventStatus(user, CL_COMPLETE));
    else
      assert_cl(clReleaseEvent(filled)), filled = NULL,
                                         assert_cl(clSetUserEventStatus(user, CL_COMPLETE));
    int values[N];
    cl_event read;
    assert_cl(clEnqueueReadBuffer(own, b, rand_r(&seed) % 2, 0, sizeof values, values, 1, &launched,
                                  &read));
    assert_cl(clReleaseKernel(kernel));
    assert_cl(clWaitForEvents(1, &read));
    expect_all(values, 1000 + round);
    if (filled)
      assert_cl(clReleaseEvent(filled));
    assert_cl(clReleaseEvent(read));
    assert_cl(clReleaseEvent(user));
    assert_cl(clReleaseEvent(launched));
    assert_cl(clReleaseMemObject(a));
    assert_cl(clReleaseMemObject(b));
  }
  assert_cl(clReleaseCommandQueue(own));
  return NULL;
}

static void threads_use_shared_and_own_queues(void **state) {
  pthread_t ids[6];
  for (int i = 0; i < 6; i++)
    assert_int_equal(pthread_create(&ids[i], NULL, hammer, *state), 0);
  for (int i = 0; i < 6; i++)
    pthread_join(ids[i], NULL);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, fixture_setup, fixture_teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(read_after_launch_returns_results),
      TEST(non_blocking_commands_keep_their_order),
      TEST(user_event_delays_commands),
      TEST(failed_user_event_fails_commands),
      TEST(events_order_launches_of_two_queues),
      TEST(objects_live_until_the_gpu_is_done),
      TEST(destructor_needs_no_further_calls),
      TEST(destructor_may_release_a_queue),
      TEST(allocation_waits_for_memory_freed_by_another_thread),
      TEST(retired_objects_are_not_checked_at_every_release),
      TEST(threads_release_and_create_buffers),
      TEST(creations_are_retried_after_reclaiming),
      TEST(deferred_commands_hold_their_objects),
      TEST(released_user_event_fails_commands),
      TEST(profiling_times_are_in_order),
      TEST(callbacks_get_each_status),
      TEST(running_callback_can_be_added_to_watched_event),
      TEST(late_running_callbacks_share_a_thread),
      TEST(callback_may_release_its_event),
      TEST(application_may_hold_a_lock_that_callbacks_take),
      TEST(callback_may_release_its_context),
      TEST(callback_may_return_in_child_of_fork),
      TEST(destructor_may_release_another_object),
      TEST(callback_can_be_added_after_another_was_called),
      TEST(callbacks_may_enqueue),
      TEST(maps_keep_the_order_without_copies),
      TEST(maps_update_host_memory),
      TEST(terminated_maps_change_nothing),
      TEST(objects_live_until_their_commands_complete),
      TEST(fault_fails_unfinished_commands),
      TEST(threads_use_shared_and_own_queues),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
