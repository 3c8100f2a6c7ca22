/* Tests the decision about the texture units on the software Orin: while their self-check runs,
 * other threads submit nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "runtime/context/context.h"
#include "runtime/queue/queue.h"

enum { RINGS_MAX = 1 << 20, CONTEXTS = 2, QUEUES = 3, THREADS = CONTEXTS * QUEUES };
#define WAIT_NS UINT64_C(20000000000)

/* Tokens of the channels in the order of their doorbells. */
static uint32_t rings[RINGS_MAX];
static atomic_uint ring_count;

static void record_doorbell(void *page, uint32_t token) {
  const unsigned i = atomic_fetch_add(&ring_count, 1);
  if (i < RINGS_MAX)
    rings[i] = token;
  nvgpu_os_emulator.doorbell(page, token);
}

static atomic_bool stop;

struct submitter {
  pthread_t thread;
  struct rt_queue *queue;
  atomic_uint done;
};

/* Submits markers, which use no private memory, one after the other. */
static void *submit(void *data) {
  struct submitter *s = data;
  uint64_t point;
  while (!atomic_load(&stop) && rt_queue_marker(s->queue, NULL, &point) == 0 &&
         rt_queue_wait(s->queue, point, WAIT_NS) == 0)
    atomic_fetch_add(&s->done, 1);
  return NULL;
}

static bool is_of_submitter(const struct submitter *submitters, uint32_t token) {
  for (int i = 0; i < THREADS; i++)
    if (submitters[i].queue->channel->token == token)
      return true;
  return false;
}

/* Waits until each thread has submitted more than before. */
static void wait_for_progress(struct submitter *submitters) {
  static const struct timespec pause = {.tv_nsec = 1000000};
  const uint64_t end = base_clock_ns() + WAIT_NS;
  for (int i = 0; i < THREADS; i++) {
    const unsigned before = atomic_load(&submitters[i].done);
    while (atomic_load(&submitters[i].done) == before && base_clock_ns() < end)
      nanosleep(&pause, NULL);
    assert_true(atomic_load(&submitters[i].done) > before);
  }
}

/* Tries the self-check until it has decided. Returns the number of doorbells before the last try.
 */
static unsigned decide(struct rt_context *context) {
  static const struct timespec pause = {.tv_nsec = 1000000};
  const uint64_t end = base_clock_ns() + WAIT_NS;
  const struct rt_texture_units *units = &context->device->textures;
  unsigned before = 0;
  while (!rt_texture_units_answers(units) && base_clock_ns() < end) {
    before = atomic_load(&ring_count);
    rt_texture_check(context);
    nanosleep(&pause, NULL);
  }
  assert_non_null(rt_texture_units_answers(units));
  return before;
}

/* The thread that runs the self-check cannot know whether another one has just begun a submission.
 * That one may follow, but no second one. */
static void nothing_is_submitted_during_the_self_check(void **state) {
  (void)state;
  struct nvgpu_os os = nvgpu_os_emulator;
  struct rt_device *device;
  struct rt_context *contexts[CONTEXTS];
  struct submitter submitters[THREADS] = {0};
  os.doorbell = record_doorbell;
  setenv("TEGRACL_IMAGES", "checked", 1);
  assert_int_equal(rt_device_create(&os, &device), 0);
  for (int i = 0; i < THREADS; i++) {
    struct rt_context **c = &contexts[i / QUEUES];
    if (i % QUEUES == 0)
      assert_int_equal(rt_context_create(device, c), 0);
    assert_int_equal(rt_queue_create(*c, RT_PRIORITY_MEDIUM, &submitters[i].queue), 0);
  }
  for (int i = 0; i < THREADS; i++)
    assert_int_equal(pthread_create(&submitters[i].thread, NULL, submit, &submitters[i]), 0);
  wait_for_progress(submitters);
  const unsigned before = decide(contexts[0]);
  wait_for_progress(submitters);
  atomic_store(&stop, true);
  for (int i = 0; i < THREADS; i++)
    pthread_join(submitters[i].thread, NULL);
  /* All other doorbells are those of the self-check. */
  unsigned first = RINGS_MAX, last = 0, between = 0;
  const unsigned count = atomic_load(&ring_count);
  assert_true(count < RINGS_MAX);
  for (unsigned i = before; i < count; i++)
    if (!is_of_submitter(submitters, rings[i])) {
      first = first < i ? first : i;
      last = i;
    }
  assert_true(first < last);
  for (unsigned i = first; i < last; i++)
    between += is_of_submitter(submitters, rings[i]);
  if (between > THREADS)
    fail_msg("%u submissions between the %u doorbells of the self-check", between,
             last - first + 1 - between);
  for (int i = 0; i < THREADS; i++)
    rt_queue_destroy(submitters[i].queue);
  for (int i = 0; i < CONTEXTS; i++)
    rt_context_destroy(contexts[i]);
  rt_device_close(device);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nothing_is_submitted_during_the_self_check),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
