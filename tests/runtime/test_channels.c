/* Tests which channel a queue gets. Few channels are opened, and they stay open; queues that share
 * a channel have separate points; no queue waits for itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <errno.h>

#include "runtime/queue/queue.h"
#include "tests/runtime/fake_os.h"

enum { TSG_CHANNELS = 8, PROCESS_CHANNELS = 256, QUEUES = 100 };

struct opened {
  struct rt_device *device;
  struct rt_context *context;
};

static void open_context(struct opened *o) {
  fake_os_reset(0, 0, false);
  assert_int_equal(rt_device_create(&fake_os, &o->device), 0);
  assert_int_equal(rt_context_create(o->device, &o->context), 0);
}

static void close_context(const struct opened *o) {
  rt_context_destroy(o->context);
  rt_device_close(o->device);
  const struct fake_alive alive = fake_os_alive();
  assert_int_equal(alive.fds, 0);
  assert_int_equal(alive.gpu_mappings, 0);
  assert_int_equal(alive.cpu_mappings, 0);
}

static struct rt_queue *new_queue(struct rt_context *context) {
  struct rt_queue *q = NULL;
  if (rt_queue_create(context, RT_PRIORITY_MEDIUM, &q))
    fail_msg("a queue: %s", rt_last_message());
  return q;
}

/* Each open channel has one fd, so the number of fds shows how many there are. */
static void few_channels_are_opened_and_kept(void **state) {
  (void)state;
  struct opened o;
  struct rt_queue *queues[QUEUES];
  open_context(&o);
  const int before = fake_os_alive().fds;
  for (int round = 0; round < 3; round++) {
    for (int i = 0; i < QUEUES; i++) {
      queues[i] = new_queue(o.context);
      const int most = round || i >= TSG_CHANNELS ? TSG_CHANNELS : i ? i + 1 : 2;
      assert_int_equal(fake_os_alive().fds - before, most);
      for (int k = 0; k < i && i < TSG_CHANNELS; k++)
        assert_ptr_not_equal(queues[i]->channel, queues[k]->channel);
    }
    for (int i = 0; i < QUEUES; i++)
      rt_queue_destroy(queues[i]);
    assert_int_equal(fake_os_alive().fds - before, TSG_CHANNELS);
  }
  /* A single queue gets a channel that needs no lock. */
  struct rt_queue *alone = new_queue(o.context);
  assert_false(alone->channel->shared);
  rt_queue_destroy(alone);
  close_context(&o);
}

/* A private channel has at most one queue; shared channels have about equal numbers of queues. */
static void channels_are_shared_evenly(void **state) {
  (void)state;
  struct opened o;
  struct rt_queue *queues[QUEUES];
  open_context(&o);
  for (int i = 0; i < QUEUES; i++)
    queues[i] = new_queue(o.context);
  const unsigned shared = TSG_CHANNELS / 2, each = (QUEUES - shared) / shared;
  for (int i = 0; i < QUEUES; i++) {
    const struct rt_channel *ch = queues[i]->channel;
    assert_int_equal(ch->queues, ch->shared ? each : 1);
  }
  for (int i = 0; i < QUEUES; i++)
    rt_queue_destroy(queues[i]);
  close_context(&o);
}

/* If a process has many contexts, each leaves channels to the others. */
static void many_contexts_get_one_channel_each(void **state) {
  (void)state;
  enum { CONTEXTS = 64, EACH = 10 };
  struct opened o;
  struct rt_context *contexts[CONTEXTS];
  struct rt_queue *queues[CONTEXTS][EACH];
  open_context(&o);
  for (int i = 0; i < CONTEXTS; i++)
    assert_int_equal(rt_context_create(o.device, &contexts[i]), 0);
  const int before = fake_os_alive().fds;
  for (int i = 0; i < CONTEXTS; i++)
    for (int k = 0; k < EACH; k++)
      queues[i][k] = new_queue(contexts[i]);
  const int full = PROCESS_CHANNELS / TSG_CHANNELS;
  assert_int_equal(fake_os_alive().fds - before, PROCESS_CHANNELS + CONTEXTS - full);
  for (int i = 0; i < CONTEXTS; i++) {
    for (int k = 0; k < EACH; k++)
      rt_queue_destroy(queues[i][k]);
    rt_context_destroy(contexts[i]);
  }
  close_context(&o);
}

/* If the kernel refuses a channel, it is not an error as long as the queue can share one. */
static void refused_channel_is_an_error_only_if_none_can_be_shared(void **state) {
  (void)state;
  struct opened o;
  struct rt_queue *q = NULL, *queues[4];
  open_context(&o);
  fake_os_refuse_all("NVGPU_GPU_IOCTL_OPEN_CHANNEL", -ENOMEM);
  assert_int_equal(rt_queue_create(o.context, RT_PRIORITY_MEDIUM, &q), -ENOMEM);
  assert_non_null(strstr(rt_last_message(), "command queue"));
  assert_non_null(strstr(rt_last_message(), "this one has 0"));
  fake_os_refuse_all(NULL, 0);
  queues[0] = new_queue(o.context);
  queues[1] = new_queue(o.context);
  fake_os_refuse_all("NVGPU_GPU_IOCTL_OPEN_CHANNEL", -ENOMEM);
  queues[2] = new_queue(o.context);
  fake_os_refuse_all("NVGPU_IOCTL_CHANNEL_SETUP_BIND", -ENOMEM);
  queues[3] = new_queue(o.context);
  for (int i = 1; i < 4; i++)
    assert_ptr_equal(queues[i]->channel, queues[1]->channel);
  for (int i = 0; i < 4; i++)
    rt_queue_destroy(queues[i]);
  fake_os_refuse_all(NULL, 0);
  close_context(&o);
}

/* Opening a channel preempts the TSG. While work runs that cannot be preempted, no channel is
 * opened and queues share one. Nothing executes the work here; it ends when the test writes its
 * timeline. */
static void no_channel_is_opened_during_work(void **state) {
  (void)state;
  static const char *const modes[] = {"default", "wfi", "cta", "cilp"};
  enum { MORE = 9 };
  for (size_t mode = 0; mode < sizeof(modes) / sizeof(modes[0]); mode++) {
    struct opened o;
    struct rt_queue *busy, *more[MORE], *late;
    uint64_t point = 0, shared_point = 0;
    open_context(&o);
    assert_true(rt_choices_set(&o.device->choices, "preemption", modes[mode]));
    const bool gives_way = strcmp(modes[mode], "cilp") == 0;
    const int before = fake_os_alive().fds;
    busy = new_queue(o.context);
    assert_int_equal(fake_os_alive().fds - before, 2);
    assert_int_equal(rt_queue_marker(busy, NULL, &point), 0);
    for (int i = 0; i < MORE; i++) {
      more[i] = new_queue(o.context);
      assert_ptr_not_equal(more[i]->channel, busy->channel);
    }
    assert_int_equal(fake_os_alive().fds - before, gives_way ? TSG_CHANNELS : 2);

    /* Work of queues that share a channel also counts. */
    assert_int_equal(rt_queue_marker(more[0], NULL, &shared_point), 0);
    *(volatile uint64_t *)busy->timeline = point;
    late = new_queue(o.context);
    assert_int_equal(fake_os_alive().fds - before, gives_way ? TSG_CHANNELS : 2);
    rt_queue_destroy(late);
    *(volatile uint64_t *)more[0]->timeline = shared_point;
    late = new_queue(o.context);
    assert_int_equal(fake_os_alive().fds - before, gives_way ? TSG_CHANNELS : 3);
    assert_int_equal(late->channel->shared, gives_way);
    rt_queue_destroy(late);
    for (int i = 0; i < MORE; i++)
      rt_queue_destroy(more[i]);
    rt_queue_destroy(busy);
    close_context(&o);
  }
}

/* Work may start while a channel is being opened. Closing a half-open channel would kill long work,
 * so it stays until the context is destroyed, and no more channels are opened. */
static void half_open_channel_is_not_closed(void **state) {
  (void)state;
  static const char *const calls[] = {
      "NVGPU_GPU_IOCTL_OPEN_CHANNEL",
      "NVGPU_AS_IOCTL_BIND_CHANNEL",
      "NVGPU_TSG_IOCTL_BIND_CHANNEL_EX",
      "NVGPU_IOCTL_CHANNEL_SETUP_BIND", /* from here on it is bound to the TSG */
      "NVGPU_IOCTL_CHANNEL_ALLOC_OBJ_CTX",
      "NVGPU_IOCTL_CHANNEL_SET_ERROR_NOTIFIER",
  };
  for (size_t call = 0; call < sizeof(calls) / sizeof(calls[0]); call++) {
    struct opened o;
    struct rt_queue *queues[4];
    open_context(&o);
    queues[0] = new_queue(o.context);
    queues[1] = new_queue(o.context);
    const int before = fake_os_alive().fds;
    fake_os_refuse_named(calls[call], 1, -EBUSY);
    queues[2] = new_queue(o.context);
    assert_true(fake_os_refused());
    assert_ptr_equal(queues[2]->channel, queues[1]->channel);
    const int after = fake_os_alive().fds;
    assert_int_equal(after > before, call >= 3);
    queues[3] = new_queue(o.context);
    assert_int_equal(fake_os_alive().fds - after, call >= 3 ? 0 : 1);
    assert_int_equal(queues[3]->channel == queues[1]->channel, call >= 3);
    for (int i = 0; i < 4; i++)
      rt_queue_destroy(queues[i]);
    close_context(&o);
  }
}

/* If a second channel cannot be opened, the first is shared. */
static void only_channel_is_shared(void **state) {
  (void)state;
  struct opened o;
  struct rt_queue *a, *b;
  open_context(&o);
  fake_os_refuse_named("NVGPU_GPU_IOCTL_OPEN_CHANNEL", 2, -ENOMEM);
  a = new_queue(o.context);
  assert_true(fake_os_refused() && a->channel->shared);
  fake_os_refuse_all("NVGPU_GPU_IOCTL_OPEN_CHANNEL", -ENOMEM);
  b = new_queue(o.context);
  assert_ptr_equal(a->channel, b->channel);
  rt_queue_destroy(a);
  rt_queue_destroy(b);
  close_context(&o);
}

/* Nothing executes work here, so no point is reached. */
static void queues_on_a_shared_channel_have_separate_points(void **state) {
  (void)state;
  struct opened o;
  struct rt_queue *queues[TSG_CHANNELS + 4], *a = NULL, *b, *other;
  uint64_t first, second, third;
  open_context(&o);
  for (int i = 0; i < TSG_CHANNELS + 4; i++)
    queues[i] = new_queue(o.context);
  b = queues[TSG_CHANNELS];
  for (int i = 0; i < TSG_CHANNELS; i++)
    if (queues[i]->channel == b->channel)
      a = queues[i];
  other = queues[0];
  assert_ptr_not_equal(other->channel, a->channel);

  const uint64_t none = rt_queue_submitted(b);
  assert_int_equal(rt_queue_completed(b), none);
  assert_int_equal(rt_queue_marker(a, NULL, &first), 0);
  assert_int_equal(rt_queue_submitted(a), first);
  assert_int_equal(rt_queue_submitted(b), none); /* there is nothing to wait for */
  assert_int_equal(rt_queue_wait(b, rt_queue_submitted(b), 0), 0);
  assert_int_equal(rt_queue_wait(a, first, 0), -ETIMEDOUT);
  assert_int_equal(rt_queue_marker(b, NULL, &second), 0);
  assert_true(second > first);
  assert_int_equal(rt_queue_submitted(a), first);

  /* On a shared channel the order of the ring is sufficient. Otherwise the GPU waits for what has
   * been submitted so far. */
  assert_int_equal(rt_queue_acquire(a, b, second), 0);
  assert_int_equal(a->acquire_count, 0);
  assert_int_equal(rt_queue_acquire(other, b, second), 0);
  assert_int_equal(other->acquire_count, 1);
  assert_int_equal(rt_queue_acquire(other, b, second + 1), -EINVAL);
  assert_int_equal(rt_queue_acquire(other, a, second),
                   -EINVAL); /* this point was submitted by the other queue */
  assert_int_equal(rt_queue_marker(other, NULL, &third), 0);
  assert_int_equal(other->acquire_count, 0);

  *(volatile uint64_t *)b->timeline = second;
  *(volatile uint64_t *)other->timeline = third;
  for (int i = 0; i < TSG_CHANNELS + 4; i++)
    rt_queue_destroy(queues[i]);
  /* A new queue does not wait for earlier work on its channel. */
  struct rt_queue *late[TSG_CHANNELS];
  for (int i = 0; i < TSG_CHANNELS; i++) {
    late[i] = new_queue(o.context);
    assert_true(rt_queue_submitted(late[i]) <= rt_queue_completed(late[i]));
  }
  for (int i = 0; i < TSG_CHANNELS; i++)
    rt_queue_destroy(late[i]);
  close_context(&o);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(few_channels_are_opened_and_kept),
      cmocka_unit_test(channels_are_shared_evenly),
      cmocka_unit_test(many_contexts_get_one_channel_each),
      cmocka_unit_test(refused_channel_is_an_error_only_if_none_can_be_shared),
      cmocka_unit_test(no_channel_is_opened_during_work),
      cmocka_unit_test(half_open_channel_is_not_closed),
      cmocka_unit_test(only_channel_is_shared),
      cmocka_unit_test(queues_on_a_shared_channel_have_separate_points),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
