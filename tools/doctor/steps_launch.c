/* Steps of kernels, and of what measures time on the GPU. The forms of launch that
 * have run somewhere: docs/hardware/bring-up.md 3.3, docs/hardware/command-stream.md 4.5.
 */
#include <inttypes.h>
#include <string.h>

#include "gpu/hw/host.h"
#include "gpu/hw/memory.h"
#include "gpu/hw/methods.h"
#include "runtime/context/module.h"
#include "tools/doctor/doctor.h"
#include "tools/doctor/kernels.h"

enum {
  BLOCK = 64,
  BLOCKS = 8,
  ITEMS = BLOCK * BLOCKS,
  RESULT_BYTES = ITEMS * sizeof(uint32_t),
  VALUE = 1000,        /* what item i adds to i */
  SECOND_VALUE = 5000, /* in the grid that a grid starts */
};

static struct rt_launch grid(const struct setup *b, uint32_t kernel, uint32_t blocks,
                             const struct doctor_params *params) {
  return (struct rt_launch){.module = b->module,
                            .kernel = kernel,
                            .grid = {blocks, 1, 1},
                            .block = {BLOCK, 1, 1},
                            .params = params};
}

/* out[i] = value + i, everywhere. */
static bool check_numbers(struct setup *b, const uint32_t *out, uint32_t value) {
  uint32_t wrong = 0, zero = 0, first = 0;
  for (uint32_t i = 0; i < ITEMS; i++) {
    if (out[i] == value + i)
      continue;
    first = wrong++ ? first : i;
    zero += out[i] == 0;
  }
  if (wrong == 0) {
    say(b->doctor, "all %d work-items have written their number", ITEMS);
    return true;
  }
  say(b->doctor, "%u of %d results are wrong; the first is item %u: %u instead of %u", wrong, ITEMS,
      first, out[first], value + first);
  if (wrong == ITEMS && zero == ITEMS)
    say(b->doctor, "nothing was written: the launch was consumed and the kernel did not run");
  else if (zero == wrong)
    say(b->doctor, "some work-groups did not run, or took each other's place (block and grid size "
                   "in constant bank 0)");
  return false;
}

/* ---- forms of launch --------------------------------------------------------------- */

/* Writes what starts the grid whose QMD lies at the slice's beginning. */
typedef void start_fn(struct setup *b, struct rt_slice *s);

static void pcas(struct rt_slice *s, enum pcas_action action) {
  put_methods(s, SUBCHANNEL_COMPUTE, NVC7C0_SEND_PCAS_A, 1);
  put_word(s, (uint32_t)(s->gpu >> QMD_ADDRESS_SHIFT));
  put_methods(s, SUBCHANNEL_COMPUTE, NVC7C0_SEND_SIGNALING_PCAS2_B, 1);
  put_word(s, action);
}

static void start_prefetch(struct setup *b, struct rt_slice *s) {
  (void)b;
  pcas(s, PCAS_PREFETCH_SCHEDULE);
}

static void start_copy(struct setup *b, struct rt_slice *s) {
  (void)b;
  pcas(s, PCAS_INVALIDATE_COPY_SCHEDULE);
}

/* The front end writes the QMD to memory, where there is none before. */
static void start_inline(struct setup *b, struct rt_slice *s) {
  (void)b;
  uint32_t qmd[QMD_WORDS];
  memcpy(qmd, s->cpu, sizeof(qmd));
  memset(s->cpu, 0, sizeof(qmd));
  uint64_t address = s->gpu >> QMD_ADDRESS_SHIFT;
  put_methods(s, SUBCHANNEL_COMPUTE, NVC7C0_SET_INLINE_QMD_ADDRESS_A, 2 + QMD_WORDS);
  put_word(s, (uint32_t)(address >> 32));
  put_word(s, (uint32_t)address);
  for (int i = 0; i < QMD_WORDS; i++)
    put_word(s, qmd[i]);
}

/* A second QMD with its own constant bank, after the results of both grids. */
static void start_chain(struct setup *b, struct rt_slice *s) {
  const struct kernel_code *k = &doctor_code.kernels[KERNEL_NUMBER];
  size_t place = GPU_PAGE_BYTES;
  char *cpu = (char *)b->data->cpu + place;
  uint64_t gpu = b->data->gpu + place;
  uint32_t first[QMD_WORDS], second[QMD_WORDS];
  memcpy(first, s->cpu, sizeof(first));
  memcpy(second, first, sizeof(second));
  qmd_set(second, QMD_CONSTANT_BUFFER_ADDR_LOWER(0), (uint32_t)(gpu + QMD_BYTES));
  qmd_set(second, QMD_CONSTANT_BUFFER_ADDR_UPPER(0), (uint32_t)((gpu + QMD_BYTES) >> 32));
  memcpy(cpu, second, sizeof(second));
  memcpy(cpu + QMD_BYTES, s->cpu + QMD_BYTES, k->bank0_bytes);
  struct doctor_params params = {.out = b->data->gpu + RESULT_BYTES, .value = SECOND_VALUE};
  memcpy(cpu + QMD_BYTES + k->param_offset, &params, k->param_bytes);
  qmd_set(first, QMD_DEPENDENT_QMD0_POINTER, (uint32_t)(gpu >> QMD_ADDRESS_SHIFT));
  qmd_set(first, QMD_DEPENDENT_QMD0_ENABLE, 1);
  qmd_set(first, QMD_DEPENDENT_QMD0_ACTION, DEPENDENT_SCHEDULE);
  qmd_set(first, QMD_DEPENDENT_QMD0_PREFETCH, 1);
  memcpy(s->cpu, first, sizeof(first));
  pcas(s, PCAS_PREFETCH_SCHEDULE);
}

/* start NULL: as the driver does. */
static bool launch(struct doctor *d, start_fn *start) {
  struct setup b;
  if (!setup_open(d, 2 * GPU_PAGE_BYTES, &b))
    return false;
  struct doctor_params params = {.out = b.data->gpu, .value = VALUE};
  struct rt_launch l = grid(&b, KERNEL_NUMBER, BLOCKS, &params);
  struct rt_slice s;
  uint64_t point = 0;
  bool good;
  if (!start) {
    good = rt_queue_launch(b.queue, &l, &point) == 0 || say_failure(d);
  } else {
    good = rt_launch_begin(b.queue, &l, &s) == 0 || say_failure(d);
    if (good) {
      start(&b, &s);
      point = rt_slice_submit(b.queue, &s, doctor_code.kernels[KERNEL_NUMBER].name);
    }
  }
  good = good && setup_wait(&b, point) && check_numbers(&b, b.data->cpu, VALUE);
  if (good && start == start_chain) {
    say(d, "the second grid:");
    good = check_numbers(&b, (const uint32_t *)b.data->cpu + ITEMS, SECOND_VALUE);
  }
  setup_close(&b);
  return good;
}

bool step_launch_driver(struct doctor *d) {
  return launch(d, NULL);
}
bool step_launch_prefetch(struct doctor *d) {
  return launch(d, start_prefetch);
}
bool step_launch_copy(struct doctor *d) {
  return launch(d, start_copy);
}
bool step_launch_inline(struct doctor *d) {
  return launch(d, start_inline);
}
bool step_launch_chain(struct doctor *d) {
  return launch(d, start_chain);
}

/* The kernel adds up a table in private memory in an order that out[i] picks, so the
 * sum is the same for each: of k + i over 64 k. */
bool step_local(struct doctor *d) {
  enum { TABLE = 64, TABLE_SUM = TABLE * (TABLE - 1) / 2 };
  struct setup b;
  if (!setup_open(d, GPU_PAGE_BYTES, &b))
    return false;
  struct doctor_params params = {.out = b.data->gpu, .value = 0};
  struct rt_launch l = grid(&b, KERNEL_PRIVATE_SUM, BLOCKS, &params);
  uint64_t point = 0;
  const uint32_t *out = b.data->cpu;
  bool good = rt_queue_launch(b.queue, &l, &point) == 0 || say_failure(d);
  good = good && setup_wait(&b, point);
  const struct rt_pool *pool = &b.queue->channel->tsg->pool;
  say(d, "pool of %" PRIu64 " KiB for %u bytes per work-item", pool->memory.size >> 10,
      pool->thread_bytes);
  for (uint32_t i = 0; i < ITEMS && good; i++)
    if (out[i] != TABLE_SUM + TABLE * i) {
      say(d, "item %u has the sum %u instead of %u", i, out[i], TABLE_SUM + TABLE * i);
      good = false;
    }
  setup_close(&b);
  return good;
}

/* ---- time ------------------------------------------------------------------------- */

/* A time that the GPU wrote lies between two that the kernel told. */
static bool between(struct doctor *d, const char *what, uint64_t before, uint64_t time,
                    uint64_t after) {
  say(d, "%s: %" PRIu64 " ns, %.1f us after the kernel's, %.1f us before its next%s", what, time,
      ((double)time - (double)before) / 1e3, ((double)after - (double)time) / 1e3,
      time >= before && time <= after ? "" : ": not between them");
  return time >= before && time <= after;
}

static uint64_t gpu_time(struct doctor *d) {
  uint64_t gpu = 0, cpu = 0;
  return rt_device_time(d->device, &gpu, &cpu) ? 0 : gpu;
}

bool time_semaphores(struct setup *b) {
  struct doctor *d = b->doctor;
  struct rt_times *times;
  uint64_t point = 0;
  if (rt_times_get(b->context, &times))
    return say_failure(d);
  uint64_t before = gpu_time(d);
  bool good = rt_queue_marker(b->queue, times, &point) == 0 || say_failure(d);
  good = good && setup_wait(b, point);
  uint64_t after = gpu_time(d);
  if (good) {
    good = between(d, "semaphore, start", before, times->start_ns, after);
    good = between(d, "semaphore, end", before, times->end_ns, after) && good;
  }
  rt_times_put(b->context, times);
  return good;
}

/* RELEASE0 of the QMD: four words, when the grid has ended. */
bool time_qmd(struct setup *b) {
  struct doctor *d = b->doctor;
  size_t place = GPU_PAGE_BYTES;
  uint64_t gpu = b->data->gpu + place;
  const volatile struct semaphore_report *report =
      (const void *)((const char *)b->data->cpu + place);
  struct doctor_params params = {.out = b->data->gpu, .value = VALUE};
  struct rt_launch l = grid(b, KERNEL_NUMBER, BLOCKS, &params);
  struct rt_slice s;
  uint64_t before = gpu_time(d);
  if (rt_launch_begin(b->queue, &l, &s))
    return say_failure(d);
  uint32_t qmd[QMD_WORDS];
  memcpy(qmd, s.cpu, sizeof(qmd));
  qmd_set(qmd, QMD_RELEASE0_ADDRESS_LOWER, (uint32_t)gpu);
  qmd_set(qmd, QMD_RELEASE0_ADDRESS_UPPER, (uint32_t)(gpu >> 32));
  qmd_set(qmd, QMD_RELEASE0_PAYLOAD_LOWER, VALUE);
  qmd_set(qmd, QMD_RELEASE0_STRUCTURE_SIZE, REPORT_FOUR_WORDS);
  qmd_set(qmd, QMD_RELEASE0_ENABLE, 1);
  memcpy(s.cpu, qmd, sizeof(qmd));
  pcas(&s, PCAS_INVALIDATE_PREFETCH_COPY_SCHEDULE);
  if (!setup_wait(b, rt_slice_submit(b->queue, &s, doctor_code.kernels[KERNEL_NUMBER].name)))
    return false;
  if (report->payload != VALUE) {
    say(d, "QMD release: 0x%" PRIx64 " instead of 0x%x", report->payload, VALUE);
    return false;
  }
  return between(d, "QMD release", before, report->timestamp_ns, gpu_time(d));
}
