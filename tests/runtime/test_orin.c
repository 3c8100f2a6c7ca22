/* Tests the runtime on the software Orin: memory, points, launches, dependencies, faults, and
 * leaks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "gpu/nvgpu/uapi.h"
#include "runtime/context/context.h"
#include "runtime/context/module.h"
#include "runtime/debug/timeline.h"
#include "runtime/device/device.h"
#include "runtime/queue/queue.h"
#include "tools/doctor/kernel_words.h"

enum { NUMBER, PRIVATE_SUM };

/* Parameters of both kernels: an address and a word. */
struct params {
  uint64_t out;
  uint32_t value;
  uint32_t padding;
};

static const struct module_section sections[] = {
    {.kind = MODULE_TEXT, .size = sizeof(text_number), .align = 128, .data = text_number},
    {.kind = MODULE_TEXT, .size = sizeof(text_private_sum), .align = 128, .data = text_private_sum},
};
static const struct kernel_code kernels[] = {
    [NUMBER] = {.name = "number",
                .text = 0,
                .registers = 8,
                .bank0_bytes = 0x16c,
                .param_offset = 0x160,
                .param_bytes = 12,
                .bank2 = MODULE_NO_SECTION,
                .bank3 = MODULE_NO_SECTION,
                .bank4 = MODULE_NO_SECTION},
    [PRIVATE_SUM] = {.name = "private_sum",
                     .text = 1,
                     .registers = 10,
                     .stack_bytes = 256,
                     .bank0_bytes = 0x16c,
                     .param_offset = 0x160,
                     .param_bytes = 12,
                     .bank2 = MODULE_NO_SECTION,
                     .bank3 = MODULE_NO_SECTION,
                     .bank4 = MODULE_NO_SECTION},
};
static const struct module_code code = {
    .sections = sections, .section_count = 2, .kernels = kernels, .kernel_count = 2};

/* Objects that most tests need. */
struct orin {
  struct rt_device *device;
  struct rt_context *context;
  struct rt_module *module;
  struct rt_queue *queue;
  struct rt_buffer *out; /* 4096 words */
};

enum { WORDS = 4096, BLOCK = 64 };

/* Counts all calls; those of a sleeping wait are counted separately. */
static atomic_int calls_into_the_kernel, sleeps, doorbells;

static int counted_ioctl(int fd, unsigned long request, void *argument) {
  if (request != HOST1X_IOCTL_CREATE_FENCE && request != NVHOST_IOCTL_CTRL_SYNC_FENCE_CREATE)
    calls_into_the_kernel++;
  return nvgpu_os_emulator.ioctl(fd, request, argument);
}

static void *counted_mmap(void *address, size_t length, int protection, int flags, int fd,
                          off_t offset, int *error) {
  calls_into_the_kernel++;
  return nvgpu_os_emulator.mmap(address, length, protection, flags, fd, offset, error);
}

static bool fences_are_lost;

static int counted_poll(struct pollfd *fds, unsigned count, int timeout_ms) {
  sleeps++;
  if (fences_are_lost)
    return nvgpu_os_emulator.poll(fds, 0, timeout_ms);
  return nvgpu_os_emulator.poll(fds, count, timeout_ms);
}

static void counted_doorbell(void *page, uint32_t token) {
  doorbells++;
  nvgpu_os_emulator.doorbell(page, token);
}

static struct nvgpu_os counted_os;

static void begin(struct orin *o) {
  counted_os = nvgpu_os_emulator;
  counted_os.ioctl = counted_ioctl;
  counted_os.mmap = counted_mmap;
  counted_os.poll = counted_poll;
  counted_os.doorbell = counted_doorbell;
  assert_int_equal(rt_device_create(&counted_os, &o->device), 0);
  assert_int_equal(rt_context_create(o->device, &o->context), 0);
  assert_int_equal(rt_module_create(o->context, &code, &o->module), 0);
  assert_int_equal(rt_queue_create(o->context, RT_PRIORITY_MEDIUM, &o->queue), 0);
  assert_int_equal(rt_buffer_create(o->context, WORDS * 4, RT_MEMORY_CACHED, &o->out), 0);
}

static void end(struct orin *o) {
  rt_buffer_destroy(o->out);
  rt_queue_destroy(o->queue);
  rt_module_destroy(o->module);
  rt_context_destroy(o->context);
  rt_device_close(o->device);
}

static int launch(const struct orin *o, struct rt_queue *queue, uint32_t kernel, uint64_t out,
                  uint32_t items, uint32_t value, struct rt_times *times, uint64_t *point) {
  struct params params = {.out = out, .value = value};
  struct rt_launch l = {.module = o->module,
                        .kernel = kernel,
                        .grid = {items / BLOCK, 1, 1},
                        .block = {BLOCK, 1, 1},
                        .params = &params,
                        .times = times};
  return rt_queue_launch(queue, &l, point);
}

static int count_fds(void) {
  DIR *d = opendir("/proc/self/fd");
  int n = 0;
  while (readdir(d))
    n++;
  closedir(d);
  return n;
}

static long mapped_kib(void) {
  FILE *f = fopen("/proc/self/status", "r");
  char line[256];
  long kib = -1;
  while (fgets(line, sizeof(line), f))
    if (sscanf(line, "VmSize: %ld", &kib) == 1)
      break;
  fclose(f);
  return kib;
}

static void destroying_frees_everything(void **state) {
  (void)state;
  struct orin o;
  int fds = 0;
  long kib = 0;
  for (int i = 0; i < 21; i++) {
    uint64_t point;
    begin(&o);
    assert_int_equal(rt_queue_marker(o.queue, NULL, &point), 0);
    end(&o);
    if (i > 0)
      continue;
    fds = count_fds(); /* including memory that the C library keeps after its first use */
    kib = mapped_kib();
  }
  assert_int_equal(count_fds(), fds);
  /* The C library may keep one thread's stack (8 MiB) and arena (64 MiB), but not those of twenty
   * engine threads. */
  assert_true(mapped_kib() - kib < 20 * 8 * 1024);
}

static void buffers_are_zeroed_and_mapped(void **state) {
  (void)state;
  struct orin o;
  begin(&o);
  static const uint64_t sizes[] = {1, 4096, 4097, 1 << 20, 16 << 20, 513 << 10};
  enum { COUNT = sizeof(sizes) / sizeof(sizes[0]) };
  struct rt_buffer *b[COUNT];
  for (int i = 0; i < COUNT; i++) {
    assert_int_equal(rt_buffer_create(o.context, sizes[i],
                                      i % 2 ? RT_MEMORY_CACHED : RT_MEMORY_WRITE_COMBINE, &b[i]),
                     0);
    assert_int_equal(b[i]->size, sizes[i]);
    assert_int_equal(b[i]->gpu % 4096, 0);
#ifndef __SANITIZE_ADDRESS__
    assert_true((uintptr_t)b[i]->cpu == b[i]->gpu);
#endif
    const unsigned char *p = b[i]->cpu;
    for (uint64_t k = 0; k < sizes[i]; k += 512)
      assert_int_equal(p[k], 0);
    memset(b[i]->cpu, i + 1, sizes[i]);
  }
  for (int i = 0; i < COUNT; i++)
    assert_int_equal(((unsigned char *)b[i]->cpu)[sizes[i] - 1], i + 1);
  for (int i = 0; i < COUNT; i++)
    rt_buffer_destroy(b[i]);
  struct rt_buffer *none = NULL;
  assert_int_equal(rt_buffer_create(o.context, 0, RT_MEMORY_CACHED, &none), -EINVAL);
  assert_int_equal(rt_buffer_create(o.context, UINT64_MAX, RT_MEMORY_CACHED, &none), -ENOMEM);
  assert_int_equal(rt_buffer_create(o.context, UINT64_C(1) << 50, RT_MEMORY_CACHED, &none),
                   -ENOMEM);
  assert_null(none);
  end(&o);
}

static void points_and_times_increase(void **state) {
  (void)state;
  struct orin o;
  begin(&o);
  uint64_t before = 0, after = 0, cpu = 0, cpu2 = 0, point = 0, next = 0;
  struct rt_times *times = NULL;
  assert_int_equal(rt_times_get(o.context, &times), 0);
  assert_int_equal(times->end_ns, 0);
  assert_int_equal(rt_device_time(o.device, &before, &cpu), 0);
  assert_int_equal(rt_queue_marker(o.queue, times, &point), 0);
  assert_int_equal(rt_queue_submitted(o.queue), point);
  assert_int_equal(rt_queue_wait(o.queue, point, UINT64_MAX), 0);
  assert_int_equal(rt_queue_completed(o.queue), point);
  assert_int_equal(rt_device_time(o.device, &after, &cpu2), 0);
  assert_true(before <= times->start_ns && times->start_ns <= times->end_ns &&
              times->end_ns <= after);
  assert_true(cpu <= cpu2);
  assert_int_equal(rt_queue_marker(o.queue, NULL, &next), 0);
  assert_int_equal(next, point + 1);
  assert_int_equal(rt_queue_wait(o.queue, next + 1, 1000000), -ETIMEDOUT);
  rt_times_put(o.context, times);
  /* A slot is cleared when it is allocated again. */
  assert_int_equal(rt_times_get(o.context, &times), 0);
  assert_int_equal(times->end_ns | times->start_ns | times->start_mark | times->end_mark, 0);
  rt_times_put(o.context, times);
  end(&o);
}

static void next_queue_continues_the_timeline(void **state) {
  (void)state;
  struct orin o;
  begin(&o);
  struct rt_queue *q = NULL;
  uint64_t last = 0;
  for (int i = 0; i < 4; i++) {
    uint64_t point = 0;
    assert_int_equal(rt_queue_create(o.context, RT_PRIORITY_LOW, &q), 0);
    assert_int_equal(rt_queue_marker(q, NULL, &point), 0);
    assert_true(point > last);
    last = point;
    rt_queue_destroy(q);
  }
  end(&o);
}

/* The kernel deletes a subcontext when its last channel is closed: nvgpu,
 * common/fifo/tsg_subctx.c. */
static void queue_works_after_last_one_was_destroyed(void **state) {
  (void)state;
  static const enum rt_priority priorities[] = {RT_PRIORITY_MEDIUM, RT_PRIORITY_HIGH};
  struct orin o;
  begin(&o);
  for (uint32_t i = 0; i < 6; i++) {
    uint64_t point = 0;
    rt_queue_destroy(o.queue);
    assert_int_equal(rt_queue_create(o.context, priorities[i / 2 % 2], &o.queue), 0);
    assert_int_equal(launch(&o, o.queue, NUMBER, o.out->gpu, BLOCK, i, NULL, &point), 0);
    assert_int_equal(rt_queue_wait(o.queue, point, UINT64_MAX), 0);
    assert_int_equal(((const uint32_t *)o.out->cpu)[1], i + 1);
  }
  end(&o);
}

static void launches_write_expected_results(void **state) {
  (void)state;
  struct orin o;
  begin(&o);
  uint64_t point = 0;
  struct rt_times *times = NULL;
  assert_int_equal(rt_times_get(o.context, &times), 0);
  assert_int_equal(launch(&o, o.queue, NUMBER, o.out->gpu, WORDS, 7, times, &point), 0);
  assert_int_equal(rt_queue_wait(o.queue, point, UINT64_MAX), 0);
  const uint32_t *words = o.out->cpu;
  for (uint32_t i = 0; i < WORDS; i++)
    assert_int_equal(words[i], 7 + i);
  assert_true(times->start_ns > 0 && times->end_ns > times->start_ns);
  rt_times_put(o.context, times);
  uint64_t executed = 0;
  assert_int_equal(rt_device_warp_instructions(o.device, &executed), 0);
  assert_true(executed >= WORDS / 32 * 10);
  end(&o);
}

static void private_memory_pool_grows(void **state) {
  (void)state;
  struct orin o;
  begin(&o);
  uint32_t *words = o.out->cpu;
  for (int round = 0; round < 3; round++) {
    uint64_t point = 0;
    for (uint32_t i = 0; i < WORDS; i++)
      words[i] = i * 37;
    if (round == 1)
      assert_int_equal(rt_pool_grow(o.context, &o.context->tsg, 8192), 0);
    assert_int_equal(launch(&o, o.queue, PRIVATE_SUM, o.out->gpu, WORDS, 5, NULL, &point), 0);
    assert_int_equal(rt_queue_wait(o.queue, point, UINT64_MAX), 0);
    for (uint32_t i = 0; i < WORDS; i++)
      assert_int_equal(words[i], 64 * i + 63 * 64 / 2);
  }
  assert_int_equal(rt_pool_grow(o.context, &o.context->tsg, 1 << 30), -ENOMEM);
  end(&o);
}

/* With CILP the kernel driver switches TSGs in the middle of their grids and does not save their
 * local memory, so each TSG has a separate pool. docs/hardware/command-stream.md 4.3 */
static void each_priority_has_its_pool(void **state) {
  (void)state;
  struct orin o;
  begin(&o);
  struct rt_queue *queues[] = {o.queue, NULL};
  uint64_t points[2] = {0};
  uint32_t *words = o.out->cpu;
  assert_int_equal(rt_queue_create(o.context, RT_PRIORITY_HIGH, &queues[1]), 0);
  memset(words, 0, WORDS * 4);
  for (unsigned i = 0; i < 2; i++)
    assert_int_equal(launch(&o, queues[i], PRIVATE_SUM, o.out->gpu + i * WORDS / 2 * 4, WORDS / 2,
                            1, NULL, &points[i]),
                     0);
  for (unsigned i = 0; i < 2; i++)
    assert_int_equal(rt_queue_wait(queues[i], points[i], UINT64_MAX), 0);
  for (uint32_t i = 0; i < WORDS; i++)
    assert_int_equal(words[i], 63 * 64 / 2 + 64 * (i % (WORDS / 2)));
  const struct rt_memory *a = &queues[0]->channel->tsg->pool.memory,
                         *b = &queues[1]->channel->tsg->pool.memory;
  assert_true(a->size && b->size && (a->gpu + a->size <= b->gpu || b->gpu + b->size <= a->gpu));
  rt_queue_destroy(queues[1]);
  end(&o);
}

/* More submissions than GPFIFO entries, and more slices than the ring can hold, with as many in
 * flight as possible. Checks the result of the last one. */
static void rings_wrap_without_system_calls(void **state) {
  (void)state;
  struct orin o;
  begin(&o);
  enum { LAUNCHES = 3 * RT_GPFIFO_ENTRIES };
  uint64_t point = 0;
  assert_int_equal(launch(&o, o.queue, NUMBER, o.out->gpu, BLOCK, 0, NULL, &point), 0);
  int calls = calls_into_the_kernel;
  for (uint32_t i = 0; i < LAUNCHES; i++) {
    uint64_t out = o.out->gpu + 4 * BLOCK * (i % (WORDS / BLOCK));
    assert_int_equal(launch(&o, o.queue, NUMBER, out, BLOCK, i, NULL, &point), 0);
    if (i % 5 == 0)
      assert_int_equal(rt_queue_marker(o.queue, NULL, &point), 0);
  }
  assert_int_equal(rt_queue_wait(o.queue, point, UINT64_MAX), 0);
  assert_int_equal(calls_into_the_kernel, calls);
  const uint32_t *words = o.out->cpu;
  for (uint32_t i = LAUNCHES - WORDS / BLOCK; i < LAUNCHES; i++)
    for (uint32_t k = 0; k < BLOCK; k++)
      assert_int_equal(words[BLOCK * (i % (WORDS / BLOCK)) + k], i + k);
  end(&o);
}

/* Grids with blocks of different sizes, a replay with timestamps before and after it, and more
 * entries than the GPFIFO holds, the last ones without a doorbell. */
static void one_doorbell_starts_many_entries(void **state) {
  (void)state;
  struct orin o;
  begin(&o);
  struct kernel_code kernel = kernels[NUMBER];
  kernel.hidden_offset = sizeof(struct params);
  kernel.param_bytes = sizeof(struct params) + sizeof(struct kernel_hidden);
  kernel.bank0_bytes = kernel.param_offset + kernel.param_bytes;
  struct module_code one = code;
  one.kernels = &kernel;
  one.kernel_count = 1;
  struct rt_module *module;
  assert_int_equal(rt_module_create(o.context, &one, &module), 0);
  struct {
    struct params user;
    struct kernel_hidden hidden;
  } params = {.user = {.out = o.out->gpu, .value = 7}};
  const struct rt_launch l = {.module = module,
                              .grid = {3, 1, 1},
                              .block = {BLOCK, 1, 1},
                              .last_block = {BLOCK / 2},
                              .params = &params};
  int before = doorbells;
  uint64_t first = rt_queue_submitted(o.queue), point = 0;
  assert_int_equal(rt_queue_launch(o.queue, &l, &point), 0);
  assert_int_equal(point, first + 2);
  assert_int_equal(rt_queue_wait(o.queue, point, UINT64_MAX), 0);
  assert_int_equal(((uint32_t *)o.out->cpu)[2 * BLOCK - 1], 7 + 2 * BLOCK - 1);
  assert_int_equal(doorbells - before, 1);

  struct rt_recording *recording;
  struct rt_times *times;
  assert_int_equal(rt_recording_create(o.context, &recording), 0);
  assert_int_equal(rt_recording_launch(recording, &l), 0);
  assert_int_equal(rt_recording_end(recording), 0);
  assert_int_equal(rt_times_get(o.context, &times), 0);
  before = doorbells;
  first = point;
  assert_int_equal(rt_queue_replay(o.queue, recording, times, &point), 0);
  assert_int_equal(point, first + 4);
  assert_int_equal(rt_queue_wait(o.queue, point, UINT64_MAX), 0);
  assert_int_equal(doorbells - before, 1);

  enum { ROUNDS = 3 };
  before = doorbells;
  for (int i = 0; i < ROUNDS * RT_GPFIFO_ENTRIES; i++) {
    struct rt_slice s;
    assert_int_equal(rt_slice_begin(o.queue, 0, &s), 0);
    point = rt_slice_put(o.queue, &s, NULL);
  }
  assert_int_equal(rt_queue_wait(o.queue, point, 1000000), -ETIMEDOUT);
  rt_queue_ring(o.queue);
  assert_int_equal(rt_queue_wait(o.queue, point, UINT64_MAX), 0);
  assert_true(doorbells - before >= ROUNDS);
  rt_queue_ring(o.queue);
  const int rung = doorbells;
  rt_queue_ring(o.queue);
  assert_int_equal(doorbells, rung);

  rt_times_put(o.context, times);
  rt_recording_destroy(recording);
  rt_module_destroy(module);
  end(&o);
}

static double seconds(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Waits must wake up rarely and use little CPU time, even with several waiting threads, for points
 * in the middle of the queue, and with a timeout. */
static void long_waits_sleep(void **state) {
  (void)state;
  struct orin o;
  begin(&o);
  enum { LAUNCHES = 600 };
  uint64_t point = 0, middle = 0;
  /* The first launch enlarges the pool, after all earlier work has ended. */
  assert_int_equal(launch(&o, o.queue, PRIVATE_SUM, o.out->gpu, WORDS, 1, NULL, &point), 0);
  assert_int_equal(rt_queue_wait(o.queue, point, UINT64_MAX), 0);
  /* Nothing starts before the other queue rings its doorbell. */
  struct rt_queue *gate = NULL;
  struct rt_slice s;
  assert_int_equal(rt_queue_create(o.context, RT_PRIORITY_MEDIUM, &gate), 0);
  assert_int_equal(rt_slice_begin(gate, 0, &s), 0);
  assert_int_equal(rt_queue_acquire(o.queue, gate, rt_slice_put(gate, &s, NULL)), 0);
  for (int i = 0; i < LAUNCHES; i++)
    assert_int_equal(launch(&o, o.queue, PRIVATE_SUM, o.out->gpu, WORDS, 1, NULL,
                            i < LAUNCHES / 2 ? &middle : &point),
                     0);
  int before = sleeps;
  double wall = seconds(CLOCK_MONOTONIC), core = seconds(CLOCK_THREAD_CPUTIME_ID);
  assert_int_equal(rt_queue_wait(o.queue, point, 3000000), -ETIMEDOUT);
  rt_queue_ring(gate);
  assert_int_equal(rt_queue_wait(o.queue, middle, UINT64_MAX), 0);
  assert_int_equal(rt_queue_wait(o.queue, point, UINT64_MAX), 0);
  wall = seconds(CLOCK_MONOTONIC) - wall;
  core = seconds(CLOCK_THREAD_CPUTIME_ID) - core;
  print_message("waited %.1f ms, of them %.2f ms on a core, %d sleeps\n", wall * 1e3, core * 1e3,
                sleeps - before);
  /* With adversarial timing a fence may be late; waits poll afterwards. */
  if (!o.queue->channel->fences_late)
    assert_true(sleeps > before && sleeps - before < 30 + wall * 1e3);
  assert_true(core < wall / 4);
  rt_queue_destroy(gate);
  end(&o);
}

/* Restricts this thread, and those that it starts, to one core. Returns the cores of before. */
static cpu_set_t use_one_core(void) {
  cpu_set_t before, one;
  assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
  CPU_ZERO(&one);
  for (int cpu = 0; cpu < CPU_SETSIZE && !CPU_COUNT(&one); cpu++)
    if (CPU_ISSET(cpu, &before))
      CPU_SET(cpu, &one);
  assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
  return before;
}

/* If the process may use only one core, a wait lets the threads of the software Orin run before it
 * sleeps. Other processes may take the core meanwhile, so not all waits end without a sleep. */
static void short_waits_yield_a_single_core(void **state) {
  (void)state;
  enum { WAITS = 200 };
  struct orin o;
  const cpu_set_t before = use_one_core();
  begin(&o);
  uint64_t point = 0;
  assert_int_equal(launch(&o, o.queue, PRIVATE_SUM, o.out->gpu, BLOCK, 1, NULL, &point), 0);
  assert_int_equal(rt_queue_wait(o.queue, point, UINT64_MAX), 0);
  const int slept = sleeps;
  for (int i = 0; i < WAITS; i++) {
    assert_int_equal(launch(&o, o.queue, PRIVATE_SUM, o.out->gpu, BLOCK, 1, NULL, &point), 0);
    assert_int_equal(rt_queue_wait(o.queue, point, UINT64_MAX), 0);
  }
  print_message("%d sleeps in %d waits\n", sleeps - slept, WAITS);
  assert_true(o.device->one_core);
  /* With adversarial timing grids start too late. */
  const char *mode = getenv("TEGRACL_EMULATOR");
  if (!mode || !strstr(mode, "adversarial"))
    assert_true(sleeps - slept < WAITS / 10);
  end(&o);
  assert_int_equal(sched_setaffinity(0, sizeof(before), &before), 0);
}

static void *use_core(void *stop) {
  while (!atomic_load((atomic_bool *)stop))
    continue;
  return NULL;
}

/* A wait on the only core ends soon after its deadline although it yields the core to a thread that
 * is busy. The busy thread gets a few milliseconds each time. */
static void waits_that_yield_end_at_the_deadline(void **state) {
  (void)state;
  struct orin o;
  const cpu_set_t before = use_one_core();
  begin(&o);
  struct rt_queue *gate = NULL;
  struct rt_slice s;
  uint64_t point = 0;
  assert_int_equal(rt_queue_create(o.context, RT_PRIORITY_MEDIUM, &gate), 0);
  assert_int_equal(rt_slice_begin(gate, 0, &s), 0);
  assert_int_equal(rt_queue_acquire(o.queue, gate, rt_slice_put(gate, &s, NULL)), 0);
  assert_int_equal(rt_queue_marker(o.queue, NULL, &point), 0);
  atomic_bool stop = false;
  pthread_t busy;
  clockid_t clock;
  assert_int_equal(pthread_create(&busy, NULL, use_core, &stop), 0);
  assert_int_equal(pthread_getcpuclockid(busy, &clock), 0);
  const double start = seconds(clock);
  assert_int_equal(rt_queue_wait(o.queue, point, 1000000), -ETIMEDOUT);
  const double used = seconds(clock) - start;
  atomic_store(&stop, true);
  pthread_join(busy, NULL);
  print_message("the other thread used %.1f ms in a wait of 1 ms\n", used * 1e3);
  assert_true(used < 0.05);
  rt_queue_ring(gate);
  assert_int_equal(rt_queue_wait(o.queue, point, UINT64_MAX), 0);
  rt_queue_destroy(gate);
  end(&o);
  assert_int_equal(sched_setaffinity(0, sizeof(before), &before), 0);
}

/* After a fence that does not wake although its point is reached, waits poll. */
static void waits_poll_after_late_fence(void **state) {
  (void)state;
  struct orin o;
  begin(&o);
  uint64_t point = 0;
  fences_are_lost = true;
  for (int round = 0; round < 100 && !o.queue->channel->fences_late; round++) {
    for (int i = 0; i < 200; i++)
      assert_int_equal(launch(&o, o.queue, PRIVATE_SUM, o.out->gpu, WORDS, 1, NULL, &point), 0);
    assert_int_equal(rt_queue_wait(o.queue, point, UINT64_MAX), 0);
  }
  assert_true(o.queue->channel->fences_late);
  int before = sleeps;
  for (int i = 0; i < 200; i++)
    assert_int_equal(launch(&o, o.queue, PRIVATE_SUM, o.out->gpu, WORDS, 1, NULL, &point), 0);
  assert_int_equal(rt_queue_wait(o.queue, point, UINT64_MAX), 0);
  assert_int_equal(sleeps, before);
  fences_are_lost = false;
  end(&o);
}

/* Waits also end without syncpoints. */
static void waits_end_without_fences(void **state) {
  (void)state;
  struct orin o;
  begin(&o);
  uint64_t point = 0;
  o.queue->channel->syncpoint_gpu = 0;
  for (int i = 0; i < 50; i++)
    assert_int_equal(launch(&o, o.queue, PRIVATE_SUM, o.out->gpu, WORDS, 1, NULL, &point), 0);
  int before = sleeps;
  assert_int_equal(rt_queue_wait(o.queue, point, UINT64_MAX), 0);
  assert_int_equal(sleeps, before);
  end(&o);
}

static void queues_wait_for_each_other(void **state) {
  (void)state;
  struct orin o;
  begin(&o);
  struct rt_queue *other = NULL, *high = NULL;
  assert_int_equal(rt_queue_create(o.context, RT_PRIORITY_MEDIUM, &other), 0);
  assert_int_equal(rt_queue_create(o.context, RT_PRIORITY_HIGH, &high), 0);
  uint32_t *words = o.out->cpu;
  for (uint32_t round = 0; round < 50; round++) {
    uint64_t slow = 0, fast = 0, third = 0;
    for (int i = 0; i < 5; i++)
      assert_int_equal(launch(&o, o.queue, PRIVATE_SUM, o.out->gpu, WORDS, round, NULL, &slow), 0);
    assert_int_equal(rt_queue_acquire(other, o.queue, slow), 0);
    assert_int_equal(launch(&o, other, NUMBER, o.out->gpu, BLOCK, round, NULL, &fast), 0);
    assert_int_equal(rt_queue_acquire(high, other, fast), 0);
    assert_int_equal(rt_queue_acquire(high, o.queue, slow), 0);
    assert_int_equal(rt_queue_marker(high, NULL, &third), 0);
    assert_int_equal(rt_queue_wait(high, third, UINT64_MAX), 0);
    assert_true(rt_queue_completed(o.queue) >= slow);
    assert_true(rt_queue_completed(other) >= fast);
    for (uint32_t k = 0; k < BLOCK; k++)
      assert_int_equal(words[k], round + k);
  }
  assert_int_equal(rt_queue_acquire(other, o.queue, rt_queue_submitted(o.queue) + 1), -EINVAL);
  rt_queue_destroy(high);
  rt_queue_destroy(other);
  end(&o);
}

/* Loads a second module at the first one's address: its code must run, not the old one. */
static void new_code_replaces_cached_code(void **state) {
  (void)state;
  struct orin o;
  begin(&o);
  static const struct module_section reversed_sections[] = {
      {.kind = MODULE_TEXT,
       .size = sizeof(text_private_sum),
       .align = 128,
       .data = text_private_sum},
      {.kind = MODULE_TEXT, .size = sizeof(text_number), .align = 128, .data = text_number},
  };
  struct kernel_code reversed_kernels[2] = {kernels[NUMBER], kernels[PRIVATE_SUM]};
  reversed_kernels[NUMBER].text = 1;
  reversed_kernels[PRIVATE_SUM].text = 0;
  struct module_code reversed = code;
  reversed.sections = reversed_sections;
  reversed.kernels = reversed_kernels;
  uint64_t address = o.module->memory.gpu, point = 0;
  assert_int_equal(launch(&o, o.queue, NUMBER, o.out->gpu, BLOCK, 0, NULL, &point), 0);
  assert_int_equal(rt_queue_wait(o.queue, point, UINT64_MAX), 0);
  for (uint32_t i = 0; i < 6; i++) {
    rt_module_destroy(o.module);
    assert_int_equal(rt_module_create(o.context, i % 2 ? &code : &reversed, &o.module), 0);
    assert_true(o.module->memory.gpu == address);
    assert_int_equal(launch(&o, o.queue, NUMBER, o.out->gpu, BLOCK, 100 * i, NULL, &point), 0);
    assert_int_equal(rt_queue_wait(o.queue, point, UINT64_MAX), 0);
    assert_int_equal(((uint32_t *)o.out->cpu)[3], 100 * i + 3);
  }
  end(&o);
}

static void fault_message_names_kernel_and_buffer(void **state) {
  (void)state;
  struct orin o;
  begin(&o);
  uint64_t point = 0;
  assert_null(rt_context_fault(o.context));
  /* The last block writes past the end of the buffer. */
  assert_int_equal(launch(&o, o.queue, NUMBER, o.out->gpu, WORDS + BLOCK, 0, NULL, &point), 0);
  assert_int_equal(rt_queue_wait(o.queue, point, UINT64_MAX), -EIO);
  const char *fault = rt_context_fault(o.context);
  assert_non_null(fault);
  char expected[128];
  snprintf(expected, sizeof(expected), "a buffer of %d bytes at 0x%llx", WORDS * 4,
           (unsigned long long)o.out->gpu);
  assert_non_null(strstr(fault, "kernel number"));
  assert_non_null(strstr(fault, "MMU fault"));
  assert_non_null(strstr(fault, "0 bytes past the end of"));
  assert_non_null(strstr(fault, expected));
  assert_string_equal(rt_last_message(), fault);
  assert_int_equal(launch(&o, o.queue, NUMBER, o.out->gpu, BLOCK, 0, NULL, &point), -EIO);
  assert_int_equal(rt_queue_marker(o.queue, NULL, &point), -EIO);
  struct rt_queue *q = NULL;
  assert_int_equal(rt_queue_create(o.context, RT_PRIORITY_LOW, &q), -EIO);
  struct orin fresh;
  begin(&fresh);
  assert_int_equal(launch(&fresh, fresh.queue, NUMBER, fresh.out->gpu, BLOCK, 1, NULL, &point), 0);
  assert_int_equal(rt_queue_wait(fresh.queue, point, UINT64_MAX), 0);
  end(&fresh);
  end(&o);
}

/* A fault is reported only to channels of its TSG (docs/hardware/kernel-interface.md 7). A wait on
 * a channel of another TSG must detect the fault if it depends on the work. */
static void fault_ends_waits_of_other_tsg(void **state) {
  (void)state;
  struct orin o;
  begin(&o);
  struct rt_queue *high = NULL;
  uint64_t point = 0, after = 0;
  assert_int_equal(rt_queue_create(o.context, RT_PRIORITY_HIGH, &high), 0);
  assert_int_equal(launch(&o, o.queue, NUMBER, o.out->gpu, WORDS + BLOCK, 0, NULL, &point), 0);
  assert_int_equal(rt_queue_acquire(high, o.queue, point), 0);
  assert_int_equal(rt_queue_marker(high, NULL, &after), 0);
  assert_int_equal(rt_queue_wait(high, after, UINT64_MAX), -EIO);
  assert_non_null(strstr(rt_last_message(), "kernel number"));
  rt_queue_destroy(high);
  end(&o);
}

struct worker {
  struct orin *o;
  uint32_t index;
  int failures;
};

static void *work(void *argument) {
  struct worker *w = argument;
  struct rt_queue *q = NULL;
  struct rt_buffer *b = NULL;
  if (rt_queue_create(w->o->context, RT_PRIORITY_MEDIUM, &q) ||
      rt_buffer_create(w->o->context, BLOCK * 4, RT_MEMORY_CACHED, &b)) {
    w->failures = 1000;
  } else {
    for (uint32_t i = 0; i < 200; i++) {
      uint64_t point = 0;
      uint32_t kernel = i % 16 == w->index ? PRIVATE_SUM : NUMBER;
      uint32_t expected = kernel == NUMBER ? w->index * 1000 + i + 9 : 64 * 9 + 2016;
      if (launch(w->o, q, kernel, b->gpu, BLOCK, w->index * 1000 + i, NULL, &point) ||
          rt_queue_wait(q, point, UINT64_MAX) || ((uint32_t *)b->cpu)[9] != expected)
        w->failures++;
    }
  }
  rt_buffer_destroy(b);
  rt_queue_destroy(q);
  return NULL;
}

static void threads_use_separate_queues(void **state) {
  (void)state;
  struct orin o;
  begin(&o);
  enum { THREADS = 4 };
  pthread_t threads[THREADS];
  struct worker workers[THREADS];
  for (uint32_t i = 0; i < THREADS; i++) {
    workers[i] = (struct worker){&o, i, 0};
    assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
  }
  for (int i = 0; i < THREADS; i++) {
    pthread_join(threads[i], NULL);
    assert_int_equal(workers[i].failures, 0);
  }
  end(&o);
}

static atomic_bool enough;

/* Releases times. This makes the timeline visit all queues. */
static void *give_times_back(void *data) {
  struct rt_context *context = data;
  struct rt_times *times = NULL;
  while (!enough && rt_times_get(context, &times) == 0)
    rt_times_put(context, times);
  return NULL;
}

static void queues_are_destroyed_while_timeline_is_written(void **state) {
  (void)state;
  enum { QUEUES = 300 };
  struct orin o;
  pthread_t thread;
  rt_timeline_open("/dev/null");
  assert_true(rt_timeline_begin());
  begin(&o);
  assert_int_equal(pthread_create(&thread, NULL, give_times_back, o.context), 0);
  for (int i = 0; i < QUEUES; i++) {
    struct rt_queue *q = NULL;
    assert_int_equal(rt_queue_create(o.context, RT_PRIORITY_MEDIUM, &q), 0);
    assert_int_equal(launch(&o, q, NUMBER, o.out->gpu, BLOCK, 1, NULL, NULL), 0);
    rt_queue_destroy(q);
  }
  enough = true;
  pthread_join(thread, NULL);
  end(&o);
}

static void device_is_chosen_by_environment(void **state) {
  (void)state;
  struct rt_device *device = NULL;
  /* Reported only once, because a program may call clGetDeviceIDs often. */
  char shown_text[256] = "";
  const int shown = memfd_create("stderr", MFD_CLOEXEC), kept = dup(STDERR_FILENO);
  dup2(shown, STDERR_FILENO);
  setenv("TEGRACL_DEVICE", "toaster", 1);
  for (int i = 0; i < 2; i++)
    assert_int_equal(rt_device_open(&device), -ENODEV);
  dup2(kept, STDERR_FILENO);
  close(kept);
  assert_true(pread(shown, shown_text, sizeof shown_text - 1, 0) >= 0);
  close(shown);
  assert_string_equal(
      shown_text,
      "tegracl: TEGRACL_DEVICE: unknown value \"toaster\"; use \"board\" or \"emulator\"\n");
  assert_non_null(strstr(rt_last_message(), "toaster"));
  setenv("TEGRACL_DEVICE", "emulator", 1);
  assert_int_equal(rt_device_open(&device), 0);
  assert_true(rt_device_info(device)->emulated);
  assert_string_equal(rt_device_info(device)->chip, "ga10b");
  rt_device_close(device);
  unsetenv("TEGRACL_DEVICE");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(device_is_chosen_by_environment),
      cmocka_unit_test(destroying_frees_everything),
      cmocka_unit_test(buffers_are_zeroed_and_mapped),
      cmocka_unit_test(points_and_times_increase),
      cmocka_unit_test(next_queue_continues_the_timeline),
      cmocka_unit_test(queue_works_after_last_one_was_destroyed),
      cmocka_unit_test(launches_write_expected_results),
      cmocka_unit_test(private_memory_pool_grows),
      cmocka_unit_test(each_priority_has_its_pool),
      cmocka_unit_test(rings_wrap_without_system_calls),
      cmocka_unit_test(one_doorbell_starts_many_entries),
      cmocka_unit_test(long_waits_sleep),
      cmocka_unit_test(waits_poll_after_late_fence),
      cmocka_unit_test(short_waits_yield_a_single_core),
      cmocka_unit_test(waits_that_yield_end_at_the_deadline),
      cmocka_unit_test(waits_end_without_fences),
      cmocka_unit_test(queues_wait_for_each_other),
      cmocka_unit_test(new_code_replaces_cached_code),
      cmocka_unit_test(fault_message_names_kernel_and_buffer),
      cmocka_unit_test(fault_ends_waits_of_other_tsg),
      cmocka_unit_test(threads_use_separate_queues),
      cmocka_unit_test(queues_are_destroyed_while_timeline_is_written), /* which stays on */
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
