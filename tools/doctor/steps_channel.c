/* Steps about the channel and the host engine, and the first one about the compute class. */
#include <inttypes.h>
#include <string.h>

#include "gpu/hw/host.h"
#include "gpu/hw/memory.h"
#include "gpu/hw/methods.h"
#include "gpu/nvgpu/uapi.h"
#include "runtime/device/device.h"
#include "tools/doctor/experiments.h"

static uint32_t release_word(bool wide, bool wait, bool time) {
  return hw_bits(NVC76F_SEM_EXECUTE_OPERATION, SEM_RELEASE) |
         hw_bits(NVC76F_SEM_EXECUTE_PAYLOAD_SIZE, wide) |
         hw_bits(NVC76F_SEM_EXECUTE_RELEASE_WFI, wait) |
         hw_bits(NVC76F_SEM_EXECUTE_RELEASE_TIMESTAMP, time);
}

bool step_channel(struct doctor *d) {
  struct setup setup;
  if (!setup_open(d, GPU_PAGE_BYTES, &setup))
    return false;
  const struct rt_channel *ch = setup.queue->channel;
  doctor_say(d, "SETUP_BIND with %d entries: work-submit token 0x%x; user-mode page mapped",
             RT_GPFIFO_ENTRIES, ch->token);
  if (ch->syncpoint_gpu)
    doctor_say(d, "syncpoint %u, at 0x%" PRIx64 " for the GPU, now %u", ch->syncpoint_id,
               ch->syncpoint_gpu, ch->syncpoint_base);
  else
    doctor_say(d, "no syncpoint");
  setup_close(&setup);
  return true;
}

static bool check_release(struct setup *setup, const char *what, uint32_t execute,
                          uint64_t payload) {
  struct doctor *d = setup->doctor;
  struct semaphore_report *memory = setup->data->cpu;
  struct rt_slice s;
  memset(memory, 0, sizeof(*memory));
  if (rt_slice_begin(setup->queue, 0, &s))
    return doctor_say_failure(d);
  put_semaphore(&s, setup->data->gpu, payload, execute);
  uint64_t start = base_clock_ns();
  if (!setup_wait(setup, rt_slice_submit(setup->queue, &s, NULL)))
    return false;
  uint64_t end = base_clock_ns();
  bool good = memory->payload == payload;
  doctor_say(d, "%s (0x%08x): 0x%" PRIx64 "%s, time %" PRIu64 ", after %.1f us", what, execute,
             memory->payload, good ? "" : " instead of the payload", memory->timestamp_ns,
             (double)(end - start) / 1e3);
  return good;
}

bool step_host(struct doctor *d) {
  struct setup setup;
  if (!setup_open(d, GPU_PAGE_BYTES, &setup))
    return false;
  rt_queue_skip_setup(setup.queue);
  const struct semaphore_report *memory = setup.data->cpu;
  bool good =
      check_release(&setup, "32 bits", release_word(false, false, false), 0xcafe) &&
      check_release(&setup, "64 bits", release_word(true, false, false), 0xdeadbeef42) &&
      check_release(&setup, "64 bits, after idle", release_word(true, true, false), 0xdeadbeef43) &&
      check_release(&setup, "64 bits, after idle, with time", release_word(true, true, true),
                    0xdeadbeef44);
  if (good && memory->timestamp_ns == 0) {
    doctor_say(d, "the time stayed 0");
    good = false;
  }
  setup_close(&setup);
  return good;
}

/* Creates a fence of the queue's next submission. Must be called before the submission: a fence
 * whose point has already been reached is signalled immediately, without an interrupt. */
static int next_fence(struct setup *setup, int *fd) {
  const struct rt_device *device = setup->doctor->device;
  const struct rt_channel *ch = setup->queue->channel;
  const uint64_t point = rt_queue_submitted(setup->queue) + 1;
  return nvgpu_create_fence(device->os, device->release, device->fence_fd, ch->syncpoint_id,
                            ch->syncpoint_base + (uint32_t)(point - ch->first), fd);
}

/* Measures the time from the release, on the GPU's clock, until poll returns. */
static bool wake_up(struct setup *setup, uint64_t *ns) {
  enum { ROUNDS = 16, LATE_ROUNDS = 3 };
  const uint64_t late_ns = 500000000; /* longer than the delays of a busy machine */
  struct doctor *d = setup->doctor;
  struct rt_times *times;
  uint64_t best = UINT64_MAX;
  if (rt_times_get(setup->context, &times))
    return doctor_say_failure(d);
  for (int i = 0; i < ROUNDS; i++) {
    uint64_t point = 0, gpu = 0, cpu = 0;
    int fd = -1;
    const int refused = next_fence(setup, &fd);
    if (refused) {
      doctor_say_refusal(d, "CREATE_FENCE of the syncpoint", refused);
      return false;
    }
    if (rt_device_time(d->device, &gpu, &cpu) || rt_queue_marker(setup->queue, times, &point)) {
      d->device->os->close(fd);
      return doctor_say_failure(d);
    }
    struct pollfd p = {.fd = fd, .events = POLLIN};
    const int ready = d->device->os->poll(&p, 1, (int)(d->options.timeout_ns / 1000000));
    const uint64_t woken = base_clock_ns();
    d->device->os->close(fd);
    if (!setup_wait(setup, point))
      return false;
    if (ready != 1) {
      doctor_say(d, "round %d: polling a fence returned %d", i, ready);
      return false;
    }
    const uint64_t released = times->end_ns - gpu + cpu;
    const uint64_t late = woken > released ? woken - released : 0;
    best = late < best ? late : best;
    if (i + 1 >= LATE_ROUNDS && best > late_ns) {
      doctor_say(d, "fences wake %.3f s or more after their release", (double)best / 1e9);
      return false;
    }
  }
  rt_times_put(setup->context, times);
  *ns = best;
  doctor_say(d, "a fence wakes %.1f us after its release, at best of %d", (double)best / 1e3,
             ROUNDS);
  return true;
}

bool step_sleep(struct doctor *d) {
  struct setup setup;
  if (!setup_open(d, GPU_PAGE_BYTES, &setup))
    return false;
  rt_queue_skip_setup(setup.queue);
  bool good = false;
  const struct rt_channel *ch = setup.queue->channel;
  const struct rt_device *device = d->device;
  int fence = -1;
  uint64_t point = 0;
  int result = -1;
  if (d->device->fence_fd < 0)
    doctor_say_refusal(d, device->release->fence_node, device->fence_fd);
  else if (!ch->syncpoint_gpu)
    doctor_advise(d,
                  "GET_USER_SYNCPOINT returned none: the whole machine shares a few of them; close "
                  "other programs that use the GPU or the camera");
  else if ((result = next_fence(&setup, &fence)) != 0)
    doctor_say_refusal(d, "CREATE_FENCE of the syncpoint", result);
  else if (d->device->os->poll(&(struct pollfd){.fd = fence, .events = POLLIN}, 1, 0) != 0)
    doctor_say(
        d, "the fence is signalled before its point is reached, so the driver must not use fences");
  else if (rt_queue_marker(setup.queue, NULL, &point))
    doctor_say_failure(d);
  else {
    struct pollfd p = {.fd = fence, .events = POLLIN};
    uint64_t start = base_clock_ns();
    int ready = d->device->os->poll(&p, 1, (int)(d->options.timeout_ns / 1000000));
    good = ready == 1;
    doctor_say(d, "poll: %d, events 0x%x, after %.1f us%s", ready, (unsigned)p.revents,
               (double)(base_clock_ns() - start) / 1e3,
               good ? "" : ": the pushbuffer did not increment the syncpoint");
    good = setup_wait(&setup, point) && good;
    uint64_t late = 0;
    const bool time = d->verdicts[STEP_TIME] == VERDICT_PASS;
    good = good && (!time || wake_up(&setup, &late));
    if (good)
      doctor_record(d, MEASURE_WAKE, late);
  }
  if (result == 0)
    device->os->close(fence);
  setup_close(&setup);
  return good;
}

/* The GPU polls a word until the CPU writes it, and then writes
 * another word. Neither side flushes a cache. */
static bool run_ping_pong(struct setup *setup, uint32_t rounds, uint64_t *ns) {
  struct doctor *d = setup->doctor;
  volatile uint64_t *ping = setup->data->cpu;
  volatile uint64_t *pong = ping + GPU_PAGE_BYTES / sizeof(*ping);
  uint64_t gpu = setup->data->gpu;
  uint32_t acquire = hw_bits(NVC76F_SEM_EXECUTE_OPERATION, SEM_ACQUIRE) |
                     hw_bits(NVC76F_SEM_EXECUTE_PAYLOAD_SIZE, 1);
  for (uint32_t i = 1; i <= rounds; i++) {
    struct rt_slice s;
    if (rt_slice_begin(setup->queue, 0, &s))
      return doctor_say_failure(d);
    put_semaphore(&s, gpu, i, acquire);
    put_semaphore(&s, gpu + GPU_PAGE_BYTES, ~(uint64_t)i, release_word(true, false, false));
    uint64_t point = rt_slice_submit(setup->queue, &s, NULL);
    uint64_t start = base_clock_ns();
    __atomic_store_n(ping, i, __ATOMIC_RELEASE);
    if (!setup_wait(setup, point)) {
      doctor_say(d, "round %u: the CPU wrote %u, the GPU wrote 0x%" PRIx64, i, i, *pong);
      return false;
    }
    *ns += base_clock_ns() - start;
    if (*pong != ~(uint64_t)i) {
      doctor_say(d, "round %u: the CPU reads 0x%" PRIx64 ", the GPU has written 0x%" PRIx64, i,
                 *pong, ~(uint64_t)i);
      return false;
    }
  }
  return true;
}

bool step_coherence(struct doctor *d) {
  enum { ROUNDS = 100 };
  struct setup setup;
  uint64_t ns = 0;
  if (!setup_open(d, 2 * GPU_PAGE_BYTES, &setup))
    return false;
  rt_queue_skip_setup(setup.queue);
  bool good = run_ping_pong(&setup, ROUNDS, &ns);
  if (good)
    doctor_say(d, "%d rounds, %.1f us each from the CPU's write to the end of the GPU's", ROUNDS,
               (double)ns / 1e3 / ROUNDS);
  setup_close(&setup);
  return good;
}

/* This sequence has worked on a board: docs/hardware/bring-up.md 3.2. */
bool step_class(struct doctor *d) {
  enum { PAYLOAD = 0xcafe };
  struct setup setup;
  struct rt_slice s;
  if (!setup_open(d, GPU_PAGE_BYTES, &setup))
    return false;
  bool good = rt_slice_begin(setup.queue, 0, &s) == 0 || doctor_say_failure(d);
  if (good) {
    put_methods(&s, SUBCHANNEL_COMPUTE, NVC7C0_SET_REPORT_SEMAPHORE_PAYLOAD_LOWER, 5);
    put_word(&s, PAYLOAD);
    put_word(&s, 0);
    put_word(&s, (uint32_t)setup.data->gpu);
    put_word(&s, (uint32_t)(setup.data->gpu >> 32));
    put_word(&s, hw_bits(NVC7C0_REPORT_SEMAPHORE_EXECUTE_OPERATION, REPORT_RELEASE) |
                     hw_bits(NVC7C0_REPORT_SEMAPHORE_EXECUTE_STRUCTURE_SIZE, REPORT_ONE_WORD));
    good = setup_wait(&setup, rt_slice_submit(setup.queue, &s, NULL));
    uint32_t value = *(volatile uint32_t *)setup.data->cpu;
    doctor_say(d, "class, windows and cache invalidates are accepted; the report wrote 0x%x",
               value);
    good = good && value == PAYLOAD;
  }
  setup_close(&setup);
  return good;
}
