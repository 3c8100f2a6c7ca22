/* Rings that the driver writes: SETUP_BIND without user-mode submission, ALLOC_GPFIFO_EX,
 * SUBMIT_GPFIFO with its fences, and the watchdog. docs/hardware/kernel-interface.md 3.4, 6, 7. */
#include <errno.h>
#include <fcntl.h>
#include <linux/sync_file.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "emulator/gpu.h"
#include "emulator/kernel/channel.h"
#include "emulator/kernel/submit.h"
#include "emulator/objects.h"
#include "tests/emulator/client.h"
#include "tests/emulator/fake_sm.h"

enum { ENTRIES = 16, WATCHDOG_MS = 1000 };

static struct client c;
static struct buffer data;
static int host1x;

static int setup(void **state) {
  /* The range and the driver's mappings lie below 2^40: docs/hardware/kernel-interface.md trap
   * T1. */
  client_open_range(&c, 0x4000000, 0x2000000000);
  data = buffer_create(&c, 4096, true);
  host1x = OS->open("/dev/host1x-fence", O_RDWR);
  return 0;
}

static int teardown(void **state) {
  buffer_destroy(&c, &data);
  assert_int_equal(OS->close(host1x), 0);
  client_close(&c);
  return 0;
}

static int bound_channel(void) {
  struct nvgpu_gpu_open_channel_args open = {.in.runlist_id = NVGPU_RUNLIST_GR};
  EXPECT(0, c.ctrl, NVGPU_GPU_IOCTL_OPEN_CHANNEL, open);
  int fd = open.out.channel_fd;
  EXPECT(0, c.as, NVGPU_AS_IOCTL_BIND_CHANNEL, (struct nvgpu_as_bind_channel_args){(uint32_t)fd});
  struct nvgpu_tsg_bind_channel_ex_args bind = {.channel_fd = fd, .subcontext_id = c.veid};
  EXPECT(0, c.tsg, NVGPU_TSG_IOCTL_BIND_CHANNEL_EX, bind);
  return fd;
}

static void ring_set_up_jobs(struct channel *r, uint32_t jobs) {
  r->push = buffer_create(&c, 0x10000, true);
  r->notifier = buffer_create(&c, 4096, false);
  r->word = r->push.cpu;
  EXPECT(0, r->fd, NVGPU_IOCTL_CHANNEL_SETUP_BIND,
         (struct nvgpu_channel_setup_bind_args){.num_gpfifo_entries = ENTRIES,
                                                .num_inflight_jobs = jobs});
  EXPECT(0, r->fd, NVGPU_IOCTL_CHANNEL_SET_ERROR_NOTIFIER,
         (struct nvgpu_set_error_notifier){.mem = (uint32_t)r->notifier.fd});
}

static void ring_set_up(struct channel *r) {
  ring_set_up_jobs(r, 0);
}

static struct channel ring_open(void) {
  struct channel r = {.fd = bound_channel()};
  ring_set_up(&r);
  return r;
}

static void ring_close(struct channel *r) {
  assert_int_equal(OS->close(r->fd), 0);
  buffer_destroy(&c, &r->push);
  buffer_destroy(&c, &r->notifier);
}

static uint64_t ring_entry(struct channel *r) {
  uint32_t end = (uint32_t)(r->word - (uint32_t *)r->push.cpu);
  uint64_t entry = gp_entry(r->push.va + r->start * 4, end - r->start, 0);
  r->start = end;
  return entry;
}

/* Submits one entry with the words written since the last one. */
static struct nvgpu_submit_gpfifo_args ring_submit(struct channel *r, uint32_t flags, uint32_t id,
                                                   uint32_t value) {
  uint64_t entry = ring_entry(r);
  struct nvgpu_submit_gpfifo_args args = {.gpfifo = (uintptr_t)&entry,
                                          .num_entries = 1,
                                          .flags = flags,
                                          .fence = {.id = id, .value = value}};
  EXPECT(0, r->fd, NVGPU_IOCTL_CHANNEL_SUBMIT_GPFIFO, args);
  return args;
}

static bool ready(int fd, int timeout_ms) {
  struct pollfd p = {.fd = fd, .events = POLLIN};
  return OS->poll(&p, 1, timeout_ms) == 1;
}

/* Section 3.4, SETUP_BIND without the flag, and ALLOC_GPFIFO_EX. */
static void ring_setup_checks_sizes(void **state) {
  int fd = bound_channel();
  static const uint32_t bad[] = {0, 2, 3, 6, 1u << 29};
  for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
    EXPECT(-EINVAL, fd, NVGPU_IOCTL_CHANNEL_SETUP_BIND,
           (struct nvgpu_channel_setup_bind_args){.num_gpfifo_entries = bad[i]});
    EXPECT(-EINVAL, fd, NVGPU_IOCTL_CHANNEL_ALLOC_GPFIFO_EX,
           (struct nvgpu_alloc_gpfifo_ex_args){.num_entries = bad[i]});
  }
  struct nvgpu_submit_gpfifo_args submit = {.num_entries = 1};
  EXPECT(-ENOMEM, fd, NVGPU_IOCTL_CHANNEL_SUBMIT_GPFIFO, submit);
  /* A deterministic channel with the watchdog on. */
  struct nvgpu_alloc_gpfifo_ex_args alloc = {.num_entries = 4, .flags = 2};
  EXPECT(-EINVAL, fd, NVGPU_IOCTL_CHANNEL_ALLOC_GPFIFO_EX, alloc);
  alloc.flags = 0;
  EXPECT(0, fd, NVGPU_IOCTL_CHANNEL_ALLOC_GPFIFO_EX, alloc);
  EXPECT(-EEXIST, fd, NVGPU_IOCTL_CHANNEL_ALLOC_GPFIFO_EX, alloc);
  EXPECT(-EEXIST, fd, NVGPU_IOCTL_CHANNEL_SETUP_BIND,
         (struct nvgpu_channel_setup_bind_args){.num_gpfifo_entries = ENTRIES});
  assert_int_equal(OS->close(fd), 0);
}

/* SUBMIT_GPFIFO: the checks in their order. */
static void submit_checks_arguments_in_order(void **state) {
  struct channel r = ring_open();
  uint64_t entry = ring_entry(&r);
  const struct {
    struct nvgpu_submit_gpfifo_args args;
    int result;
  } rows[] = {
      {{.gpfifo = (uintptr_t)&entry, .num_entries = ENTRIES - 2}, -ENOMEM},
      {{.gpfifo = (uintptr_t)&entry, .num_entries = UINT32_MAX}, -ENOMEM},
      {{.gpfifo = 8, .num_entries = 1}, -EFAULT},
      {{.gpfifo = (uintptr_t)&entry, .flags = 1, .fence = {.id = 1024}}, -EINVAL},
      {{.gpfifo = (uintptr_t)&entry, .flags = 1 | 8, .fence = {.id = 999}}, -EINVAL},
      {{.gpfifo = (uintptr_t)&entry, .flags = 1 | 8, .fence = {.id = (uint32_t)c.as}}, -EINVAL},
      {{.num_entries = 0}, 0},
  };
  for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
    struct nvgpu_submit_gpfifo_args args = rows[i].args;
    EXPECT(rows[i].result, r.fd, NVGPU_IOCTL_CHANNEL_SUBMIT_GPFIFO, args);
  }
  assert_int_equal(OS->ioctl(r.fd, NVGPU_IOCTL_CHANNEL_FORCE_RESET, NULL), 0);
  struct nvgpu_submit_gpfifo_args late = {0};
  EXPECT(-ETIMEDOUT, r.fd, NVGPU_IOCTL_CHANNEL_SUBMIT_GPFIFO, late);
  ring_close(&r);
}

/* Further checks apply to a deterministic channel. */
static void deterministic_channels_are_restricted(void **state) {
  int fd = bound_channel();
  EXPECT(0, fd, NVGPU_IOCTL_CHANNEL_WDT,
         (struct nvgpu_channel_wdt_args){.wdt_status = NVGPU_WDT_DISABLE});
  EXPECT(0, fd, NVGPU_IOCTL_CHANNEL_SETUP_BIND,
         (struct nvgpu_channel_setup_bind_args){.num_gpfifo_entries = ENTRIES, .flags = 2});
  const struct {
    uint32_t flags;
    int result;
  } rows[] = {{0, -EINVAL}, {2 | 8 | 32, -EINVAL}, {32, 0}, {2 | 32, 0}};
  for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
    struct nvgpu_submit_gpfifo_args args = {.flags = rows[i].flags};
    EXPECT(rows[i].result, fd, NVGPU_IOCTL_CHANNEL_SUBMIT_GPFIFO, args);
  }
  int32_t channels[] = {fd};
  struct nvgpu_gpu_set_deterministic_opts_args opts = {
      .num_channels = 1, .flags = 1, .channels = (uintptr_t)channels};
  EXPECT(0, c.ctrl, NVGPU_GPU_IOCTL_SET_DETERMINISTIC_OPTS, opts);
  struct nvgpu_submit_gpfifo_args args = {.flags = 32};
  EXPECT(-EINVAL, fd, NVGPU_IOCTL_CHANNEL_SUBMIT_GPFIFO, args); /* dormant */
  opts.flags = 2;
  EXPECT(0, c.ctrl, NVGPU_GPU_IOCTL_SET_DETERMINISTIC_OPTS, opts);
  EXPECT(0, fd, NVGPU_IOCTL_CHANNEL_SUBMIT_GPFIFO, args);
  assert_int_equal(OS->close(fd), 0);
}

/* More submissions than the ring has entries; the client waits for the fence of each. */
static void submissions_return_fences(void **state) {
  struct channel r = ring_open();
  uint32_t last = 0;
  for (uint32_t i = 1; i <= 5 * ENTRIES; i++) {
    push_semaphore(&r, data.va, i, 1);
    bool file = i % 2;
    struct nvgpu_submit_gpfifo_args out = ring_submit(&r, file ? 2 | 8 : 2, 0, 0);
    struct host1x_create_fence fence = {.id = out.fence.id, .threshold = out.fence.value};
    if (file)
      fence.fence_fd = (int)out.fence.id;
    else
      EXPECT(0, host1x, HOST1X_IOCTL_CREATE_FENCE, fence);
    assert_true(ready(fence.fence_fd, PATIENCE_MS));
    assert_int_equal(*(volatile uint32_t *)data.cpu, i);
    struct host1x_fence_extract_fence pair;
    struct host1x_fence_extract extract = {
        .fence_fd = fence.fence_fd, .num_fences = 1, .fences_ptr = (uintptr_t)&pair};
    EXPECT(0, host1x, HOST1X_IOCTL_FENCE_EXTRACT, extract);
    assert_true(i == 1 || pair.threshold == last + 1);
    last = pair.threshold;
    assert_int_equal(OS->close(fence.fence_fd), 0);
  }
  ring_close(&r);
}

/* A channel waits for another channel's fence, of either kind. */
static void submissions_wait_for_fences(void **state) {
  struct channel a = ring_open(), b = ring_open();
  for (uint32_t i = 1; i <= 2; i++) {
    /* Channel a waits for a semaphore until the CPU releases it. */
    uint32_t *gate = (uint32_t *)data.cpu + 16;
    push_semaphore(&a, data.va + 64, i, 0);
    uint32_t kind = i == 1 ? 0 : NVGPU_SUBMIT_SYNC_FENCE;
    struct nvgpu_submit_gpfifo_args out = ring_submit(&a, NVGPU_SUBMIT_FENCE_GET | kind, 0, 0);
    push_semaphore(&b, data.va, i, 1);
    struct nvgpu_submit_gpfifo_args in = ring_submit(
        &b, NVGPU_SUBMIT_FENCE_WAIT | NVGPU_SUBMIT_FENCE_GET | kind, out.fence.id, out.fence.value);
    usleep(20000);
    assert_int_equal(*(volatile uint32_t *)data.cpu, i - 1);
    __atomic_store_n(gate, i, __ATOMIC_SEQ_CST);
    assert_true(wait_word(data.cpu, i));
    if (kind) {
      assert_true(ready((int)in.fence.id, PATIENCE_MS));
      assert_int_equal(OS->close((int)in.fence.id), 0);
      assert_int_equal(OS->close((int)out.fence.id), 0);
    }
  }
  ring_close(&a);
  ring_close(&b);
}

/* A submission waits for the fences of two others, merged into one sync_file. */
static void submission_waits_for_merged_fences(void **state) {
  struct channel r[3] = {ring_open(), ring_open(), ring_open()};
  uint32_t *gates = (uint32_t *)data.cpu + 16;
  int fences[2];
  for (uint32_t i = 0; i < 2; i++) {
    push_semaphore(&r[i], data.va + 64 + i * 4, 1, 0);
    fences[i] = (int)ring_submit(&r[i], 2 | 8, 0, 0).fence.id;
  }
  struct sync_merge_data merge = {.fd2 = fences[1]};
  EXPECT(0, fences[0], SYNC_IOC_MERGE, merge);
  push_semaphore(&r[2], data.va, 7, 1);
  ring_submit(&r[2], 1 | 8, (uint32_t)merge.fence, 0);
  for (uint32_t i = 0; i < 2; i++) {
    usleep(10000);
    assert_int_equal(*(volatile uint32_t *)data.cpu, 0);
    assert_false(ready(merge.fence, 0));
    __atomic_store_n(&gates[i], 1, __ATOMIC_SEQ_CST);
  }
  assert_true(wait_word(data.cpu, 7));
  assert_true(ready(merge.fence, PATIENCE_MS));
  assert_int_equal(OS->close(merge.fence), 0);
  for (int i = 0; i < 2; i++)
    assert_int_equal(OS->close(fences[i]), 0);
  for (int i = 0; i < 3; i++)
    ring_close(&r[i]);
}

/* The subcontext of a TSG ends with its last channel. */
static void new_tsg(void) {
  struct nvgpu_gpu_open_tsg_args tsg = {0};
  EXPECT(0, c.ctrl, NVGPU_GPU_IOCTL_OPEN_TSG, tsg);
  c.tsg = (int)tsg.tsg_fd;
  struct nvgpu_tsg_create_subcontext_args sub = {.type = 1, .as_fd = c.as};
  EXPECT(0, c.tsg, NVGPU_TSG_IOCTL_CREATE_SUBCONTEXT, sub);
}

/* Returns how many submissions can be made, until one returns EAGAIN, while earlier work waits. */
static uint32_t submissions_until_eagain(struct channel *r) {
  for (uint32_t made = 0;; made++) {
    push_semaphore(r, data.va, made + 1, 1);
    uint64_t entry = ring_entry(r);
    struct nvgpu_submit_gpfifo_args args = {.gpfifo = (uintptr_t)&entry, .num_entries = 1};
    int result = OS->ioctl(r->fd, NVGPU_IOCTL_CHANNEL_SUBMIT_GPFIFO, &args);
    if (result == -EAGAIN)
      return made;
    assert_int_equal(result, 0);
    assert_true(made < ENTRIES);
  }
}

/* Waiting work keeps its jobs, so submissions return EAGAIN until the work continues. There is a
 * job per three entries, unless the client has asked for a number: nvgpu, common/fifo/channel.c,
 * channel_setup_kernelmode. */
static void too_many_jobs_return_eagain(void **state) {
  for (uint32_t asked = 0; asked < 4; asked += 3) {
    struct channel r = {.fd = bound_channel()};
    ring_set_up_jobs(&r, asked);
    push_semaphore(&r, data.va + 64, 1, 0);
    ring_submit(&r, 0, 0, 0);
    const uint32_t made = submissions_until_eagain(&r);
    assert_int_equal(made, (asked ? asked : (ENTRIES + 2) / 3) - 1);
    __atomic_store_n((uint32_t *)data.cpu + 16, 1, __ATOMIC_SEQ_CST);
    assert_true(wait_word(data.cpu, made));
    push_semaphore(&r, data.va, 1000, 1);
    ring_submit(&r, 0, 0, 0);
    assert_true(wait_word(data.cpu, 1000));
    __atomic_store_n((uint32_t *)data.cpu + 16, 0, __ATOMIC_SEQ_CST);
    ring_close(&r);
    assert_int_equal(OS->close(c.tsg), 0);
    new_tsg();
  }
}

/* When a channel with endless work is closed or reset, threads that wait for it wake. */
static void waiters_wake_when_channel_ends(void **state) {
  for (int reset = 0; reset < 2; reset++) {
    struct channel r = ring_open();
    push_semaphore(&r, data.va + 64, 99, 0);
    int fence = (int)ring_submit(&r, 2 | 8, 0, 0).fence.id;
    assert_false(ready(fence, 20));
    if (reset) {
      assert_int_equal(OS->ioctl(r.fd, NVGPU_IOCTL_CHANNEL_FORCE_RESET, NULL), 0);
      assert_true(ready(fence, PATIENCE_MS));
    }
    ring_close(&r);
    assert_true(ready(fence, PATIENCE_MS));
    assert_int_equal(OS->close(fence), 0);
    assert_int_equal(OS->close(c.tsg), 0);
    new_tsg();
  }
}

/* A grid that ends when the word at its address has the value. */
static void push_spin(struct channel *r, uint64_t value) {
  char *memory = (char *)r->push.cpu + 0x8000;
  uint64_t va = r->push.va + 0x8000;
  *(struct fake_program *)(void *)memory = (struct fake_program){
      .operation = FAKE_SPIN, .address = data.va + 64, .value = value, .address2 = data.va + 128};
  qmd_make((uint32_t *)(void *)(memory + 0x1000), va, va + 0x2000, 1);
  push_method(r, SUBCHANNEL_COMPUTE, NVC7C0_SEND_PCAS_A,
              (uint32_t)((va + 0x1000) >> QMD_ADDRESS_SHIFT));
  push_method(r, SUBCHANNEL_COMPUTE, NVC7C0_SEND_SIGNALING_PCAS2_B, PCAS_PREFETCH_SCHEDULE);
}

/* Makes the watchdog's time without progress longer by ms. The watchdog checks the channel before
 * and after. */
static void let_time_pass(const struct channel *r, uint32_t ms) {
  enum { LOOK_US = 150000 };
  usleep(LOOK_US);
  pthread_mutex_lock(&emu_gpu.lock);
  ((struct emu_channel *)emu_table_get_kind(r->fd, EMU_CHANNEL))->submit->since_ns -=
      ms * UINT64_C(1000000);
  pthread_mutex_unlock(&emu_gpu.lock);
  usleep(LOOK_US);
}

static uint32_t timed_out(const struct channel *r) {
  struct nvgpu_get_param_args dead = {0};
  EXPECT(0, r->fd, NVGPU_IOCTL_CHANNEL_GET_TIMEDOUT, dead);
  return dead.value;
}

/* Section 7, "watchdog": work without progress ends with notifier 8. Work that makes progress in
 * time, or whose watchdog is off, continues. */
static void watchdog_ends_stuck_work(void **state) {
  struct channel r = ring_open();
  EXPECT(0, r.fd, NVGPU_IOCTL_CHANNEL_ALLOC_OBJ_CTX,
         (struct nvgpu_alloc_obj_ctx_args){.class_num = CLASS_COMPUTE});
  enum { LIMIT_MS = PATIENCE_MS, MOST_OF_IT_MS = LIMIT_MS / 4 * 3 };
  struct nvgpu_channel_wdt_args wdt = {.wdt_status = NVGPU_WDT_ENABLE | NVGPU_WDT_SET_TIMEOUT,
                                       .timeout_ms = LIMIT_MS};
  struct nvgpu_channel_wdt_args off = {.wdt_status = NVGPU_WDT_DISABLE};
  EXPECT(0, r.fd, NVGPU_IOCTL_CHANNEL_WDT, wdt);
  let_time_pass(&r, 2 * LIMIT_MS); /* an idle channel is not stuck */
  push_compute_setup(&r);
  for (uint32_t i = 1; i <= 3; i++) {
    push_spin(&r, i);
    int fence = (int)ring_submit(&r, 2 | 8, 0, 0).fence.id;
    let_time_pass(&r, MOST_OF_IT_MS);
    __atomic_store_n((uint32_t *)data.cpu + 16, i, __ATOMIC_SEQ_CST);
    assert_true(ready(fence, PATIENCE_MS));
    assert_int_equal(OS->close(fence), 0);
  }
  assert_int_equal(timed_out(&r), 0);
  push_spin(&r, 99);
  EXPECT(0, r.fd, NVGPU_IOCTL_CHANNEL_WDT, off);
  ring_submit(&r, 0, 0, 0);
  let_time_pass(&r, 2 * LIMIT_MS);
  assert_int_equal(timed_out(&r), 0);
  wdt.timeout_ms = WATCHDOG_MS;
  EXPECT(0, r.fd, NVGPU_IOCTL_CHANNEL_WDT, wdt);
  assert_true(wait_fault(&r, NOTIFIER_IDLE_TIMEOUT));
  assert_int_equal(timed_out(&r), 1);
  ring_close(&r);
}

/* The limit of acquires is the timeout that the watchdog had at SETUP_BIND.
 * docs/hardware/command-stream.md 3.1. */
static void acquire_timeout_is_set_at_setup_bind(void **state) {
  static const struct {
    struct nvgpu_channel_wdt_args before, after;
    bool ends;
  } rows[] = {
      {{NVGPU_WDT_ENABLE | NVGPU_WDT_SET_TIMEOUT, WATCHDOG_MS}, {NVGPU_WDT_DISABLE, 0}, true},
      {{NVGPU_WDT_DISABLE, 0}, {NVGPU_WDT_ENABLE | NVGPU_WDT_SET_TIMEOUT, 60000}, false},
  };
  for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
    struct nvgpu_channel_wdt_args before = rows[i].before, after = rows[i].after;
    struct channel r = {.fd = bound_channel()};
    EXPECT(0, r.fd, NVGPU_IOCTL_CHANNEL_WDT, before);
    ring_set_up(&r);
    EXPECT(0, r.fd, NVGPU_IOCTL_CHANNEL_WDT, after);
    push_semaphore(&r, data.va + 192, 99, 0);
    ring_submit(&r, 0, 0, 0);
    if (rows[i].ends)
      assert_true(wait_fault(&r, NOTIFIER_SEMAPHORE_TIMEOUT));
    else
      usleep((WATCHDOG_MS + 250) * 1000);
    assert_int_equal(timed_out(&r), rows[i].ends);
    ring_close(&r);
    assert_int_equal(OS->close(c.tsg), 0);
    new_tsg();
  }
}

/* Submits entries with a grid each. That of entry k, from 1 on, runs until word 16 of data is k. */
static void submit_grids(struct channel *r, uint32_t count, int *fence) {
  uint64_t entries[ENTRIES];
  EXPECT(0, r->fd, NVGPU_IOCTL_CHANNEL_ALLOC_OBJ_CTX,
         (struct nvgpu_alloc_obj_ctx_args){.class_num = CLASS_COMPUTE});
  push_compute_setup(r);
  ((uint32_t *)data.cpu)[16] = 0;
  *(uint64_t *)(void *)((char *)data.cpu + 128) = 0;
  for (uint32_t i = 0; i < count; i++) {
    char *memory = (char *)r->push.cpu + 0x8000;
    const uint64_t va = r->push.va + 0x8000;
    *(struct fake_program *)(void *)(memory + 256 * i) = (struct fake_program){
        .operation = FAKE_SPIN, .address = data.va + 64, .value = i + 1, .address2 = data.va + 128};
    qmd_make((uint32_t *)(void *)(memory + 0x1000 + 256 * i), va + 256 * i, va + 0x3000, 1);
    push_method(r, SUBCHANNEL_COMPUTE, NVC7C0_SEND_PCAS_A,
                (uint32_t)((va + 0x1000 + 256 * i) >> QMD_ADDRESS_SHIFT));
    push_method(r, SUBCHANNEL_COMPUTE, NVC7C0_SEND_SIGNALING_PCAS2_B, PCAS_PREFETCH_SCHEDULE);
    push_method(r, SUBCHANNEL_COMPUTE, NVC76F_WFI, 0);
    entries[i] = ring_entry(r);
  }
  struct nvgpu_submit_gpfifo_args args = {
      .gpfifo = (uintptr_t)entries, .num_entries = count, .flags = 2 | 8};
  EXPECT(0, r->fd, NVGPU_IOCTL_CHANNEL_SUBMIT_GPFIFO, args);
  *fence = (int)args.fence.id;
}

static void end_grid(uint32_t number) {
  __atomic_store_n((uint32_t *)data.cpu + 16, number, __ATOMIC_SEQ_CST);
  assert_true(wait_word((char *)data.cpu + 128, number));
}

/* The watchdog and the free entries of the ring follow from GP_GET, also if many entries follow. */
static void entries_of_a_submission_count_as_progress(void **state) {
  enum { COUNT = 12, LATE = 3, LIMIT_MS = PATIENCE_MS, MOST_OF_IT_MS = LIMIT_MS / 4 * 3 };
  struct channel r = ring_open();
  struct nvgpu_channel_wdt_args wdt = {.wdt_status = NVGPU_WDT_ENABLE | NVGPU_WDT_SET_TIMEOUT,
                                       .timeout_ms = LIMIT_MS};
  int fence;
  EXPECT(0, r.fd, NVGPU_IOCTL_CHANNEL_WDT, wdt);
  submit_grids(&r, COUNT, &fence);
  for (uint32_t i = 1; i <= LATE; i++) {
    let_time_pass(&r, MOST_OF_IT_MS);
    assert_int_equal(timed_out(&r), 0);
    end_grid(i);
  }
  /* While the next grid runs. */
  usleep(100000);
  push_method(&r, SUBCHANNEL_COMPUTE, NVC76F_NOP, 0);
  ring_submit(&r, 0, 0, 0);
  for (uint32_t i = LATE + 1; i <= COUNT; i++)
    end_grid(i);
  assert_true(ready(fence, PATIENCE_MS));
  assert_int_equal(OS->close(fence), 0);
  ring_close(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(ring_setup_checks_sizes, setup, teardown),
      cmocka_unit_test_setup_teardown(submit_checks_arguments_in_order, setup, teardown),
      cmocka_unit_test_setup_teardown(deterministic_channels_are_restricted, setup, teardown),
      cmocka_unit_test_setup_teardown(submissions_return_fences, setup, teardown),
      cmocka_unit_test_setup_teardown(submissions_wait_for_fences, setup, teardown),
      cmocka_unit_test_setup_teardown(submission_waits_for_merged_fences, setup, teardown),
      cmocka_unit_test_setup_teardown(too_many_jobs_return_eagain, setup, teardown),
      cmocka_unit_test_setup_teardown(waiters_wake_when_channel_ends, setup, teardown),
      cmocka_unit_test_setup_teardown(watchdog_ends_stuck_work, setup, teardown),
      cmocka_unit_test_setup_teardown(entries_of_a_submission_count_as_progress, setup, teardown),
      cmocka_unit_test_setup_teardown(acquire_timeout_is_set_at_setup_bind, setup, teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
