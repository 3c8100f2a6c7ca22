/* Steps about the copy engine and the clocks. */
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

/* Copies 1 MiB. If object is set, allocates an object of the copy class first. */
static bool run_copy(struct setup *setup, bool object) {
  struct doctor *d = setup->doctor;
  struct rt_queue *q = setup->queue;
  struct nvgpu_alloc_obj_ctx_args args = {.class_num = CLASS_COPY};
  int result =
      object ? d->device->os->ioctl(q->channel->fd, NVGPU_IOCTL_CHANNEL_ALLOC_OBJ_CTX, &args) : 0;
  if (result) {
    doctor_say_refusal(d, "ALLOC_OBJ_CTX of the copy class", result);
    return false;
  }
  uint32_t *from = setup->data->cpu;
  const uint32_t *to = from + COPY_BYTES / sizeof(*from);
  for (uint32_t i = 0; i < COPY_BYTES / sizeof(*from); i++)
    from[i] = ~i;
  struct rt_slice s;
  if (rt_slice_begin(q, 0, &s))
    return doctor_say_failure(d);
  uint64_t gpu = setup->data->gpu;
  put_copy(&s, gpu, gpu + COPY_BYTES, gpu + 2 * COPY_BYTES);
  uint64_t start = base_clock_ns();
  if (!setup_wait(setup, rt_slice_submit(q, &s, NULL)))
    return false;
  uint64_t ns = base_clock_ns() - start;
  const struct semaphore_report *done =
      (const void *)((const char *)setup->data->cpu + 2 * COPY_BYTES);
  for (uint32_t i = 0; i < COPY_BYTES / sizeof(*from); i++)
    if (to[i] != ~i) {
      doctor_say(d, "word %u of the copy is 0x%x instead of 0x%x", i, to[i], ~i);
      return false;
    }
  doctor_say(d, "copied 1 MiB in %.1f us; semaphore 0x%" PRIx64 ", time %" PRIu64, (double)ns / 1e3,
             done->payload, done->timestamp_ns);
  return done->payload == COPY_PAYLOAD;
}

enum copy_form { ON_COMPUTE_CHANNEL, WITHOUT_OBJECT, ON_OWN_CHANNEL };

/* On the compute channel the copy is between two kernels, as in command buffers. */
static bool copy_step(struct doctor *d, enum copy_form form) {
  struct setup setup;
  uint64_t point = 0;
  if (!setup_open(d, 2 * COPY_BYTES + GPU_PAGE_BYTES, &setup))
    return false;
  const uint64_t place = setup.data->gpu;
  if (form == ON_OWN_CHANNEL)
    rt_queue_skip_setup(setup.queue);
  bool good = form == ON_OWN_CHANNEL ||
              ((start_kernel(&setup, setup.queue, KERNEL_NUMBER, 1, place, 1, &point) == 0 ||
                doctor_say_failure(d)) &&
               setup_wait(&setup, point));
  good = good && run_copy(&setup, form != WITHOUT_OBJECT);
  if (good && form != ON_OWN_CHANNEL)
    good = (start_kernel(&setup, setup.queue, KERNEL_NUMBER, 1, place, 2, &point) == 0 ||
            doctor_say_failure(d)) &&
           setup_wait(&setup, point) && *(const uint32_t *)setup.data->cpu == 2;
  setup_close(&setup);
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

/* Checks that PTIMER and CLOCK_MONOTONIC run at the same rate. */
static bool compare_clocks(struct doctor *d) {
  static const struct timespec pause = {.tv_nsec = 50000000};
  const double tolerance = 0.01; /* relative to the time between the two readings */
  uint64_t gpu[2], cpu[2];
  for (int i = 0; i < 2; i++) {
    if (rt_device_time(d->device, &gpu[i], &cpu[i]))
      return doctor_say_failure(d);
    if (i == 0)
      nanosleep(&pause, NULL);
  }
  double rate = (double)(gpu[1] - gpu[0]) / (double)(cpu[1] - cpu[0]);
  doctor_say(d, "GET_GPU_TIME: %" PRIu64 " ns; PTIMER runs at %.6f of CLOCK_MONOTONIC's rate",
             gpu[1], rate);
  return rate > 1 - tolerance && rate < 1 + tolerance;
}

/* Only class headers document these registers, so the result does not count.
 * The page is mapped as long as there is a channel. */
static void say_page_time(struct doctor *d) {
  const volatile char *page = d->device->usermode;
  uint32_t low = *(const volatile uint32_t *)(page + USERMODE_TIME_0);
  uint32_t high = *(const volatile uint32_t *)(page + USERMODE_TIME_1);
  uint64_t time = (uint64_t)high << 32 | low;
  doctor_say(d, "user-mode page, TIME_1 and TIME_0: %" PRIu64 "%s", time,
             time ? "" : " (the page does not show the time on this board)");
}

bool step_time(struct doctor *d) {
  struct setup setup;
  bool good = compare_clocks(d);
  if (!setup_open(d, 2 * (uint64_t)GPU_PAGE_BYTES, &setup))
    return false;
  say_page_time(d);
  good = time_semaphores(&setup) && good;
  if (d->verdicts[STEP_LAUNCH_DRIVER] == VERDICT_PASS)
    good = time_qmd(&setup) && good;
  else
    doctor_say(d, "QMD release: not tried, because kernels do not run");
  setup_close(&setup);
  return good;
}
