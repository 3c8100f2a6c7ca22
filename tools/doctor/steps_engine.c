/* Steps of the copy engine and of the clocks. */
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "gpu/hw/host.h"
#include "gpu/hw/memory.h"
#include "gpu/hw/methods.h"
#include "gpu/nvgpu/uapi.h"
#include "runtime/device/device.h"
#include "tools/doctor/experiments.h"

/* ---- copies ------------------------------------------------------------------------ */

enum { COPY_BYTES = 1 << 20, COPY_PAYLOAD = 0xc0b7 };

static void put_copy(struct rt_slice *s, uint64_t from, uint64_t to, uint64_t done) {
  put_methods(s, SUBCHANNEL_COPY, NVC7B5_SET_OBJECT, 1);
  put_word(s, CLASS_COPY);
  put_methods(s, SUBCHANNEL_COPY, NVC7B5_OFFSET_IN_UPPER, 4);
  put_word(s, (uint32_t)(from >> 32));
  put_word(s, (uint32_t)from);
  put_word(s, (uint32_t)(to >> 32));
  put_word(s, (uint32_t)to);
  put_methods(s, SUBCHANNEL_COPY, NVC7B5_LINE_LENGTH_IN, 1);
  put_word(s, COPY_BYTES);
  put_methods(s, SUBCHANNEL_COPY, NVC7B5_SET_SEMAPHORE_A, 3);
  put_word(s, (uint32_t)(done >> 32));
  put_word(s, (uint32_t)done);
  put_word(s, COPY_PAYLOAD);
  put_methods(s, SUBCHANNEL_COPY, NVC7B5_LAUNCH_DMA, 1);
  put_word(s, hw_bits(NVC7B5_LAUNCH_DMA_DATA_TRANSFER_TYPE, COPY_NON_PIPELINED) |
                  hw_bits(NVC7B5_LAUNCH_DMA_SRC_MEMORY_LAYOUT, LAYOUT_PITCH) |
                  hw_bits(NVC7B5_LAUNCH_DMA_DST_MEMORY_LAYOUT, LAYOUT_PITCH) |
                  hw_bits(NVC7B5_LAUNCH_DMA_FLUSH_ENABLE, 1) |
                  hw_bits(NVC7B5_LAUNCH_DMA_SEMAPHORE_TYPE, COPY_SEMAPHORE_FOUR_WORDS));
}

/* One copy of 1 MiB. object: the channel gets one of the class first. */
static bool copy(struct setup *b, bool object) {
  struct doctor *d = b->doctor;
  struct rt_queue *q = b->queue;
  struct nvgpu_alloc_obj_ctx_args args = {.class_num = CLASS_COPY};
  int result =
      object ? d->device->os->ioctl(q->channel->fd, NVGPU_IOCTL_CHANNEL_ALLOC_OBJ_CTX, &args) : 0;
  if (result) {
    say_refusal(d, "ALLOC_OBJ_CTX of the copy class", result);
    return false;
  }
  uint32_t *from = b->data->cpu;
  const uint32_t *to = from + COPY_BYTES / sizeof(*from);
  for (uint32_t i = 0; i < COPY_BYTES / sizeof(*from); i++)
    from[i] = ~i;
  struct rt_slice s;
  if (rt_slice_begin(q, 0, &s))
    return say_failure(d);
  uint64_t gpu = b->data->gpu;
  put_copy(&s, gpu, gpu + COPY_BYTES, gpu + 2 * COPY_BYTES);
  uint64_t start = base_clock_ns();
  if (!setup_wait(b, rt_slice_submit(q, &s, NULL)))
    return false;
  uint64_t ns = base_clock_ns() - start;
  const struct semaphore_report *done = (const void *)((const char *)b->data->cpu + 2 * COPY_BYTES);
  for (uint32_t i = 0; i < COPY_BYTES / sizeof(*from); i++)
    if (to[i] != ~i) {
      say(d, "word %u of the copy is 0x%x instead of 0x%x", i, to[i], ~i);
      return false;
    }
  say(d, "1 MiB is the same at both places, after %.1f us; semaphore 0x%" PRIx64 ", time %" PRIu64,
      (double)ns / 1e3, done->payload, done->timestamp_ns);
  return done->payload == COPY_PAYLOAD;
}

enum copy_form { ON_COMPUTE_CHANNEL, WITHOUT_OBJECT, ON_OWN_CHANNEL };

/* On the compute channel between two kernels, as command buffers have it. */
static bool copy_step(struct doctor *d, enum copy_form form) {
  struct setup b;
  uint64_t point = 0;
  if (!setup_open(d, 2 * COPY_BYTES + GPU_PAGE_BYTES, &b))
    return false;
  const uint64_t place = b.data->gpu;
  if (form == ON_OWN_CHANNEL)
    rt_queue_skip_setup(b.queue);
  bool good =
      form == ON_OWN_CHANNEL ||
      ((start_kernel(&b, b.queue, KERNEL_NUMBER, 1, place, 1, &point) == 0 || say_failure(d)) &&
       setup_wait(&b, point));
  good = good && copy(&b, form != WITHOUT_OBJECT);
  if (good && form != ON_OWN_CHANNEL)
    good = (start_kernel(&b, b.queue, KERNEL_NUMBER, 1, place, 2, &point) == 0 || say_failure(d)) &&
           setup_wait(&b, point) && *(const uint32_t *)b.data->cpu == 2;
  setup_close(&b);
  return good;
}

bool step_copy(struct doctor *d) {
  return copy_step(d, ON_COMPUTE_CHANNEL);
}
bool step_copy_bare(struct doctor *d) {
  return copy_step(d, WITHOUT_OBJECT);
}
bool step_copy_own(struct doctor *d) {
  return copy_step(d, ON_OWN_CHANNEL);
}

/* ---- time -------------------------------------------------------------------------- */

/* PTIMER and CLOCK_MONOTONIC run at the same rate. */
static bool clocks(struct doctor *d) {
  static const struct timespec pause = {.tv_nsec = 50000000};
  const double tolerance = 0.01; /* of the time between the two looks */
  uint64_t gpu[2], cpu[2];
  for (int i = 0; i < 2; i++) {
    if (rt_device_time(d->device, &gpu[i], &cpu[i]))
      return say_failure(d);
    if (i == 0)
      nanosleep(&pause, NULL);
  }
  double rate = (double)(gpu[1] - gpu[0]) / (double)(cpu[1] - cpu[0]);
  say(d, "GET_GPU_TIME: %" PRIu64 " ns; PTIMER runs at %.6f of CLOCK_MONOTONIC's rate", gpu[1],
      rate);
  return rate > 1 - tolerance && rate < 1 + tolerance;
}

/* Known from class headers only, so nothing depends on it. A channel holds the page. */
static void say_page_time(struct doctor *d) {
  const volatile char *page = d->device->usermode;
  uint32_t low = *(const volatile uint32_t *)(page + USERMODE_TIME_0);
  uint32_t high = *(const volatile uint32_t *)(page + USERMODE_TIME_1);
  uint64_t time = (uint64_t)high << 32 | low;
  say(d, "user-mode page, TIME_1 and TIME_0: %" PRIu64 "%s", time,
      time ? "" : " (the page does not show the time here)");
}

bool step_time(struct doctor *d) {
  struct setup b;
  bool good = clocks(d);
  if (!setup_open(d, 2 * (uint64_t)GPU_PAGE_BYTES, &b))
    return false;
  say_page_time(d);
  good = time_semaphores(&b) && good;
  if (d->verdicts[STEP_LAUNCH_DRIVER] == VERDICT_PASS)
    good = time_qmd(&b) && good;
  else
    say(d, "QMD release: not tried, as kernels do not run");
  setup_close(&b);
  return good;
}
