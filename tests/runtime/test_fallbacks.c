/* Tests features that no board has proven: each is tried once. If the kernel refuses it, or it
 * faults, the alternative is used from then on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "gpu/hw/host.h"
#include "gpu/nvgpu/uapi.h"
#include "runtime/context/module.h"
#include "runtime/queue/queue.h"
#include "tests/runtime/fake_os.h"

static struct rt_device *device;

static int setup(void **state) {
  (void)state;
  fake_os_reset(0, 0, false);
  assert_int_equal(rt_device_create(&fake_os, &device), 0);
  return 0;
}

static int teardown(void **state) {
  (void)state;
  rt_device_close(device);
  const struct fake_alive a = fake_os_alive();
  assert_int_equal(a.fds + a.handles + a.gpu_mappings + a.cpu_mappings, 0);
  return 0;
}

static void assert_refused(enum rt_choice refused) {
  assert_true(fake_os_refused());
  for (int i = 0; i < RT_CHOICES; i++)
    assert_int_equal(rt_choice_may(&device->choices, i), i != (int)refused);
}

/* The second context's range is refused, so it and the third context use the first range. */
static void refused_range_falls_back_to_first(void **state) {
  (void)state;
  struct rt_context *c[3] = {0};
  fake_os_refuse_named("NVGPU_GPU_IOCTL_ALLOC_AS", 2, -EINVAL);
  assert_int_equal(rt_context_create(device, &c[0]), 0);
  const unsigned long long end = fake_os_last_va_end();
  assert_int_equal(rt_context_create(device, &c[1]), 0);
  assert_int_equal(fake_os_last_va_end(), end);
  assert_refused(RT_CHOICE_CONTEXTS);
  assert_int_equal(rt_context_create(device, &c[2]), 0);
  assert_int_equal(fake_os_last_va_end(), end);
  for (int i = 0; i < 3; i++)
    rt_context_destroy(c[i]);
}

/* An error that also occurs with the first range does not rule out other ranges. */
static void general_failure_does_not_rule_out_ranges(void **state) {
  (void)state;
  struct rt_context *c = NULL, *none = NULL;
  assert_int_equal(rt_context_create(device, &c), 0);
  device->choices = (struct rt_choices){0};
  fake_os_refuse_named("NVGPU_GPU_IOCTL_OPEN_TSG", 1, -ENOMEM);
  assert_int_equal(rt_context_create(device, &none), -ENOMEM);
  assert_true(rt_choice_unknown(&device->choices, RT_CHOICE_CONTEXTS));
  rt_context_destroy(c);
}

/* Fails each step of opening a channel of high priority. */
static void high_priority_falls_back_to_normal(void **state) {
  (void)state;
  static const char *const calls[] = {
      "NVGPU_GPU_IOCTL_OPEN_TSG",          "NVGPU_TSG_IOCTL_CREATE_SUBCONTEXT",
      "NVGPU_TSG_IOCTL_BIND_CHANNEL_EX",   "NVGPU_IOCTL_CHANNEL_SETUP_BIND",
      "NVGPU_IOCTL_CHANNEL_ALLOC_OBJ_CTX",
  };
  for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
    struct rt_context *c = NULL;
    struct rt_queue *high = NULL, *next = NULL;
    device->choices = (struct rt_choices){0};
    assert_int_equal(rt_context_create(device, &c), 0);
    fake_os_refuse_named(calls[i], 1, -EINVAL);
    assert_int_equal(rt_queue_create(c, RT_PRIORITY_HIGH, &high), 0);
    assert_ptr_equal(high->channel->tsg, &c->tsg);
    assert_refused(RT_CHOICE_HIGH_PRIORITY);
    assert_int_equal(rt_queue_create(c, RT_PRIORITY_HIGH, &next), 0);
    assert_ptr_equal(next->channel->tsg, &c->tsg);
    rt_queue_destroy(next);
    rt_queue_destroy(high);
    rt_context_destroy(c);
  }
}

/* If a proven feature fails, it is an error. */
static void failure_of_proven_feature_is_an_error(void **state) {
  (void)state;
  struct rt_context *c = NULL;
  struct rt_queue *high = NULL;
  assert_int_equal(rt_context_create(device, &c), 0);
  assert_true(rt_choices_set(&device->choices, "priority", "yes"));
  fake_os_refuse_named("NVGPU_GPU_IOCTL_OPEN_TSG", 1, -EINVAL);
  assert_int_equal(rt_queue_create(c, RT_PRIORITY_HIGH, &high), -EPROTO);
  rt_context_destroy(c);
}

/* The only channel of a TSG is closed, and then the TSG refuses another one. */
static void refused_tsg_reuse_opens_new_tsg(void **state) {
  (void)state;
  static const char *const calls[] = {"NVGPU_TSG_IOCTL_CREATE_SUBCONTEXT",
                                      "NVGPU_TSG_IOCTL_BIND_CHANNEL_EX"};
  for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
    struct rt_context *c = NULL;
    struct rt_queue *queue = NULL;
    device->choices = (struct rt_choices){0};
    assert_int_equal(rt_context_create(device, &c), 0);
    fake_os_refuse_named("NVGPU_IOCTL_CHANNEL_ALLOC_OBJ_CTX", 1, -EINVAL);
    assert_int_equal(rt_queue_create(c, RT_PRIORITY_MEDIUM, &queue), -EPROTO);
    assert_true(c->tsg.emptied);
    fake_os_refuse_named(calls[i], 1, -EINVAL);
    assert_int_equal(rt_queue_create(c, RT_PRIORITY_MEDIUM, &queue), 0);
    assert_refused(RT_CHOICE_TSG_REUSE);
    rt_queue_destroy(queue);
    rt_context_destroy(c);
  }
}

struct release {
  volatile uint64_t *timeline;
  atomic_bool done;
};

static void *release_later(void *data) {
  struct release *r = data;
  nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
  atomic_store(&r->done, true);
  __atomic_store_n(r->timeline, *r->timeline + 1, __ATOMIC_RELEASE);
  return NULL;
}

/* After host faults in a context whose queues wait for each other, later queues wait on the CPU. */
static void fault_after_acquires_makes_cpu_wait(void **state) {
  (void)state;
  struct rt_context *c = NULL;
  struct rt_queue *first = NULL, *second = NULL;
  uint64_t point = 0;
  assert_int_equal(rt_context_create(device, &c), 0);
  assert_int_equal(rt_queue_create(c, RT_PRIORITY_MEDIUM, &first), 0);
  assert_int_equal(rt_queue_create(c, RT_PRIORITY_HIGH, &second), 0);
  assert_int_equal(rt_queue_marker(first, NULL, &point), 0); /* nothing executes it */
  assert_int_equal(rt_queue_acquire(second, first, point), 0);
  assert_int_equal(second->acquire_count, 1);
  struct error_notifier *n = second->channel->notifier.cpu;
  n->code = NOTIFIER_SEMAPHORE_TIMEOUT;
  n->status = ERROR_NOTIFIER_WRITTEN;
  assert_non_null(rt_context_fault(c));
  assert_false(rt_choice_may(&device->choices, RT_CHOICE_ACQUIRES));
  rt_queue_destroy(second);
  rt_queue_destroy(first);
  rt_context_destroy(c);

  assert_int_equal(rt_context_create(device, &c), 0);
  assert_int_equal(rt_queue_create(c, RT_PRIORITY_MEDIUM, &first), 0);
  assert_int_equal(rt_queue_create(c, RT_PRIORITY_HIGH, &second), 0);
  assert_int_equal(rt_queue_marker(first, NULL, &point), 0);
  struct release release = {.timeline = first->timeline};
  pthread_t thread;
  assert_int_equal(pthread_create(&thread, NULL, release_later, &release), 0);
  assert_int_equal(rt_queue_acquire(second, first, point), 0);
  assert_true(atomic_load(&release.done));
  assert_int_equal(second->acquire_count, 0);
  pthread_join(thread, NULL);
  /* A fault ends the wait. */
  assert_int_equal(rt_queue_marker(first, NULL, &point), 0);
  n = first->channel->notifier.cpu;
  n->code = NOTIFIER_MMU_FAULT;
  n->status = ERROR_NOTIFIER_WRITTEN;
  assert_int_equal(rt_queue_acquire(second, first, point), -EIO);
  rt_queue_destroy(second);
  rt_queue_destroy(first);
  rt_context_destroy(c);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(refused_range_falls_back_to_first, setup, teardown),
      cmocka_unit_test_setup_teardown(general_failure_does_not_rule_out_ranges, setup, teardown),
      cmocka_unit_test_setup_teardown(high_priority_falls_back_to_normal, setup, teardown),
      cmocka_unit_test_setup_teardown(failure_of_proven_feature_is_an_error, setup, teardown),
      cmocka_unit_test_setup_teardown(refused_tsg_reuse_opens_new_tsg, setup, teardown),
      cmocka_unit_test_setup_teardown(fault_after_acquires_makes_cpu_wait, setup, teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
