/* Steps that launch kernels, and steps about times written by the GPU. For the forms of launch see
 * docs/hardware/bring-up.md 3.3 and docs/hardware/command-stream.md 4.5.
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
  VALUE = 1000,        /* item i writes VALUE + i */
  SECOND_VALUE = 5000, /* the same for a grid that another grid starts */
};

static struct rt_launch make_launch(const struct setup *setup, uint32_t kernel, uint32_t blocks,
                                    const struct doctor_params *params) {
  return (struct rt_launch){.module = setup->module,
                            .kernel = kernel,
                            .grid = {blocks, 1, 1},
                            .block = {BLOCK, 1, 1},
                            .params = params};
}

/* Checks that out[i] = value + i for all work-items. */
static bool check_numbers(struct setup *setup, const uint32_t *out, uint32_t value) {
  uint32_t wrong = 0, zero = 0, first = 0;
  for (uint32_t i = 0; i < ITEMS; i++) {
    if (out[i] == value + i)
      continue;
    first = wrong++ ? first : i;
    zero += out[i] == 0;
  }
  if (wrong == 0) {
    doctor_say(setup->doctor, "all %d work-items have written their numbers", ITEMS);
    return true;
  }
  doctor_say(setup->doctor, "%u of %d results are wrong; the first is item %u: %u instead of %u",
             wrong, ITEMS, first, out[first], value + first);
  if (wrong == ITEMS && zero == ITEMS)
    doctor_say(setup->doctor,
               "nothing was written: the launch was consumed, but the kernel did not run");
  else if (zero == wrong)
    doctor_say(setup->doctor,
               "some work-groups did not run, or wrote to another group's place (check block and "
               "grid size in constant bank 0)");
  return false;
}

/* ---- forms of launch --------------------------------------------------------------- */

/* Writes the methods that start the grid whose QMD is at the beginning of the slice. */
typedef void start_fn(struct setup *setup, struct rt_slice *s);

static void put_pcas(struct rt_slice *s, enum pcas_action action) {
  put_methods(s, SUBCHANNEL_COMPUTE, NVC7C0_SEND_PCAS_A, 1);
  put_word(s, (uint32_t)(s->gpu >> QMD_ADDRESS_SHIFT));
  put_methods(s, SUBCHANNEL_COMPUTE, NVC7C0_SEND_SIGNALING_PCAS2_B, 1);
  put_word(s, action);
}

static void start_prefetch(struct setup *setup, struct rt_slice *s) {
  (void)setup;
  put_pcas(s, PCAS_PREFETCH_SCHEDULE);
}

static void start_copy(struct setup *setup, struct rt_slice *s) {
  (void)setup;
  put_pcas(s, PCAS_INVALIDATE_COPY_SCHEDULE);
}

/* The compute class writes the QMD to memory, so it is cleared there first. */
static void start_inline(struct setup *setup, struct rt_slice *s) {
  (void)setup;
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

/* Creates a second QMD with its own constant bank, in memory after the results of both grids. */
static void start_chain(struct setup *setup, struct rt_slice *s) {
  const struct kernel_code *k = &doctor_code.kernels[KERNEL_NUMBER];
  size_t place = GPU_PAGE_BYTES;
  char *cpu = (char *)setup->data->cpu + place;
  uint64_t gpu = setup->data->gpu + place;
  uint32_t first[QMD_WORDS], second[QMD_WORDS];
  memcpy(first, s->cpu, sizeof(first));
  memcpy(second, first, sizeof(second));
  qmd_set(second, QMD_CONSTANT_BUFFER_ADDR_LOWER(0), (uint32_t)(gpu + QMD_BYTES));
  qmd_set(second, QMD_CONSTANT_BUFFER_ADDR_UPPER(0), (uint32_t)((gpu + QMD_BYTES) >> 32));
  memcpy(cpu, second, sizeof(second));
  memcpy(cpu + QMD_BYTES, s->cpu + QMD_BYTES, k->bank0_bytes);
  struct doctor_params params = {.out = setup->data->gpu + RESULT_BYTES, .value = SECOND_VALUE};
  memcpy(cpu + QMD_BYTES + k->param_offset, &params, k->param_bytes);
  qmd_set(first, QMD_DEPENDENT_QMD0_POINTER, (uint32_t)(gpu >> QMD_ADDRESS_SHIFT));
  qmd_set(first, QMD_DEPENDENT_QMD0_ENABLE, 1);
  qmd_set(first, QMD_DEPENDENT_QMD0_ACTION, DEPENDENT_SCHEDULE);
  qmd_set(first, QMD_DEPENDENT_QMD0_PREFETCH, 1);
  memcpy(s->cpu, first, sizeof(first));
  put_pcas(s, PCAS_PREFETCH_SCHEDULE);
}

/* Launches a kernel and checks its results. start is NULL for the driver's own form. */
static bool check_launch(struct doctor *d, start_fn *start) {
  struct setup setup;
  if (!setup_open(d, 2 * GPU_PAGE_BYTES, &setup))
    return false;
  struct doctor_params params = {.out = setup.data->gpu, .value = VALUE};
  struct rt_launch l = make_launch(&setup, KERNEL_NUMBER, BLOCKS, &params);
  struct rt_slice s;
  uint64_t point = 0;
  bool good;
  if (!start) {
    good = rt_queue_launch(setup.queue, &l, &point) == 0 || doctor_say_failure(d);
  } else {
    good = rt_launch_begin(setup.queue, &l, &s) == 0 || doctor_say_failure(d);
    if (good) {
      start(&setup, &s);
      point = rt_slice_submit(setup.queue, &s, doctor_code.kernels[KERNEL_NUMBER].name);
    }
  }
  good = good && setup_wait(&setup, point) && check_numbers(&setup, setup.data->cpu, VALUE);
  if (good && start == start_chain) {
    doctor_say(d, "the second grid:");
    good = check_numbers(&setup, (const uint32_t *)setup.data->cpu + ITEMS, SECOND_VALUE);
  }
  setup_close(&setup);
  return good;
}

bool step_launch_driver(struct doctor *d) {
  return check_launch(d, NULL);
}
bool step_launch_prefetch(struct doctor *d) {
  return check_launch(d, start_prefetch);
}
bool step_launch_copy(struct doctor *d) {
  return check_launch(d, start_copy);
}
bool step_launch_inline(struct doctor *d) {
  return check_launch(d, start_inline);
}
bool step_launch_chain(struct doctor *d) {
  return check_launch(d, start_chain);
}

/* Sums a table in private memory in an order that depends on out[i]. The sum, of k
 * + i for k from 0 to 63, does not depend on the order. */
bool step_local(struct doctor *d) {
  enum { TABLE = 64, TABLE_SUM = TABLE * (TABLE - 1) / 2 };
  struct setup setup;
  if (!setup_open(d, GPU_PAGE_BYTES, &setup))
    return false;
  struct doctor_params params = {.out = setup.data->gpu, .value = 0};
  struct rt_launch l = make_launch(&setup, KERNEL_PRIVATE_SUM, BLOCKS, &params);
  uint64_t point = 0;
  const uint32_t *out = setup.data->cpu;
  bool good = rt_queue_launch(setup.queue, &l, &point) == 0 || doctor_say_failure(d);
  good = good && setup_wait(&setup, point);
  const struct rt_pool *pool = &setup.queue->channel->tsg->pool;
  doctor_say(d, "pool of %" PRIu64 " KiB for %u bytes per work-item", pool->memory.size >> 10,
             pool->thread_bytes);
  for (uint32_t i = 0; i < ITEMS && good; i++)
    if (out[i] != TABLE_SUM + TABLE * i) {
      doctor_say(d, "the sum of work-item %u is %u instead of %u", i, out[i],
                 TABLE_SUM + TABLE * i);
      good = false;
    }
  setup_close(&setup);
  return good;
}

/* ---- time ------------------------------------------------------------------------- */

/* Checks that a time written by the GPU is between two times of GET_GPU_TIME. */
static bool check_between(struct doctor *d, const char *what, uint64_t before, uint64_t time,
                          uint64_t after) {
  doctor_say(
      d, "%s: %" PRIu64 " ns, %.1f us after one time of the kernel, %.1f us before the next%s",
      what, time, ((double)time - (double)before) / 1e3, ((double)after - (double)time) / 1e3,
      time >= before && time <= after ? "" : ": not between them");
  return time >= before && time <= after;
}

static uint64_t gpu_time(struct doctor *d) {
  uint64_t gpu = 0, cpu = 0;
  return rt_device_time(d->device, &gpu, &cpu) ? 0 : gpu;
}

bool time_semaphores(struct setup *setup) {
  struct doctor *d = setup->doctor;
  struct rt_times *times;
  uint64_t point = 0;
  if (rt_times_get(setup->context, &times))
    return doctor_say_failure(d);
  uint64_t before = gpu_time(d);
  bool good = rt_queue_marker(setup->queue, times, &point) == 0 || doctor_say_failure(d);
  good = good && setup_wait(setup, point);
  uint64_t after = gpu_time(d);
  if (good) {
    good = check_between(d, "semaphore, start", before, times->start_ns, after);
    good = check_between(d, "semaphore, end", before, times->end_ns, after) && good;
  }
  rt_times_put(setup->context, times);
  return good;
}

/* The QMD's RELEASE0 writes four words at the end of the grid. */
bool time_qmd(struct setup *setup) {
  struct doctor *d = setup->doctor;
  size_t place = GPU_PAGE_BYTES;
  uint64_t gpu = setup->data->gpu + place;
  const volatile struct semaphore_report *report =
      (const void *)((const char *)setup->data->cpu + place);
  struct doctor_params params = {.out = setup->data->gpu, .value = VALUE};
  struct rt_launch l = make_launch(setup, KERNEL_NUMBER, BLOCKS, &params);
  struct rt_slice s;
  uint64_t before = gpu_time(d);
  if (rt_launch_begin(setup->queue, &l, &s))
    return doctor_say_failure(d);
  uint32_t qmd[QMD_WORDS];
  memcpy(qmd, s.cpu, sizeof(qmd));
  qmd_set(qmd, QMD_RELEASE0_ADDRESS_LOWER, (uint32_t)gpu);
  qmd_set(qmd, QMD_RELEASE0_ADDRESS_UPPER, (uint32_t)(gpu >> 32));
  qmd_set(qmd, QMD_RELEASE0_PAYLOAD_LOWER, VALUE);
  qmd_set(qmd, QMD_RELEASE0_STRUCTURE_SIZE, REPORT_FOUR_WORDS);
  qmd_set(qmd, QMD_RELEASE0_ENABLE, 1);
  memcpy(s.cpu, qmd, sizeof(qmd));
  put_pcas(&s, PCAS_INVALIDATE_PREFETCH_COPY_SCHEDULE);
  if (!setup_wait(setup,
                  rt_slice_submit(setup->queue, &s, doctor_code.kernels[KERNEL_NUMBER].name)))
    return false;
  if (report->payload != VALUE) {
    doctor_say(d, "QMD release: 0x%" PRIx64 " instead of 0x%x", report->payload, VALUE);
    return false;
  }
  return check_between(d, "QMD release", before, report->timestamp_ns, gpu_time(d));
}
