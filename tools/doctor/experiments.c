/* Experiments with queues, contexts, preemption and faults. */
#include "tools/doctor/experiments.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "gpu/hw/host.h"
#include "gpu/hw/memory.h"
#include "gpu/hw/methods.h"
#include "gpu/nvgpu/uapi.h"
#include "runtime/device/device.h"

#define NS_PER_MS UINT64_C(1000000)

/* ---- long kernels ----------------------------------------------------------------------- */

int start_kernel(struct setup *setup, struct rt_queue *q, enum doctor_kernel kernel,
                 uint32_t groups, uint64_t out, uint32_t value, uint64_t *point) {
  const struct doctor_params params = {.out = out, .value = value};
  const struct rt_launch launch = {.module = setup->module,
                                   .kernel = kernel,
                                   .grid = {groups, 1, 1},
                                   .block = {EXPERIMENT_BLOCK, 1, 1},
                                   .params = &params};
  return rt_queue_launch(q, &launch, point);
}

bool wait_for(struct setup *setup, struct rt_queue *q, uint64_t point, uint64_t timeout_ns) {
  const int result = rt_queue_wait(q, point, timeout_ns);
  if (result == 0)
    return true;
  if (result != -ETIMEDOUT)
    return doctor_say_failure(setup->doctor);
  doctor_say(setup->doctor,
             "the GPU did not reach timeline point %" PRIu64 " within %" PRIu64 " ms", point,
             timeout_ns / NS_PER_MS);
  if (setup->doctor->result)
    setup->doctor->result->no_answer = true;
  return false;
}

uint64_t long_ns(const struct doctor *d) {
  return (rt_device_info(d->device)->emulated ? 100 : 2500) * NS_PER_MS;
}

uint32_t spin_rounds(struct setup *setup, uint64_t ns) {
  enum { FIRST = 4096 };
  uint64_t point = 0, took = 0;
  uint32_t rounds = FIRST / 2;
  /* The first run also uploads the code, and clock frequencies rise during it. */
  while (took < ns / 2 && rounds < UINT32_MAX / 2) {
    rounds *= 2;
    const uint64_t start = base_clock_ns();
    if (start_kernel(setup, setup->queue, KERNEL_SPIN,
                     rt_device_info(setup->doctor->device)->sm_count, setup->data->gpu, rounds,
                     &point))
      return doctor_say_failure(setup->doctor), 0;
    if (!setup_wait(setup, point))
      return 0;
    took = base_clock_ns() - start;
  }
  const double scaled = (double)rounds * (double)ns / (double)took;
  return scaled < UINT32_MAX ? (uint32_t)scaled : UINT32_MAX;
}

/* Sets factor and sum so that rounds steps of x * a + c give x *
 * factor + sum. Computes them by squaring. */
static void spin_steps(uint32_t rounds, uint32_t *factor, uint32_t *sum) {
  uint32_t a = 1664525, c = 1013904223;
  *factor = 1;
  *sum = 0;
  for (; rounds; rounds >>= 1) {
    if (rounds & 1) {
      *factor *= a;
      *sum = *sum * a + c;
    }
    c += a * c;
    a *= a;
  }
}

bool check_spin(struct setup *setup, const uint32_t *out, uint32_t groups, uint32_t rounds) {
  uint32_t factor, sum;
  spin_steps(rounds, &factor, &sum);
  for (uint32_t i = 0; i < groups * EXPERIMENT_BLOCK; i++)
    if (out[i] != i * factor + sum) {
      doctor_say(setup->doctor, "work-item %u of the long kernel is 0x%08x instead of 0x%08x", i,
                 out[i], i * factor + sum);
      return false;
    }
  return true;
}

/* Checks the results of KERNEL_NUMBER: out[i] = value + i. */
static bool check_number(struct setup *setup, const uint32_t *out, uint32_t groups,
                         uint32_t value) {
  for (uint32_t i = 0; i < groups * EXPERIMENT_BLOCK; i++)
    if (out[i] != value + i) {
      doctor_say(setup->doctor, "work-item %u of the short kernel is %u instead of %u", i, out[i],
                 value + i);
      return false;
    }
  return true;
}

static bool has_no_fault(struct setup *setup) {
  const char *fault = rt_context_fault(setup->context);
  if (fault)
    doctor_say(setup->doctor, "%s", fault);
  return !fault;
}

/* ---- preemption --------------------------------------------------------------------------- */

/* Runs a long kernel in one context, and short kernels in another one until the long kernel
 * has ended. Sets *worst to the ns of the slowest short kernel. */
static bool run_short_kernels_during(struct setup *longer, struct setup *shorter, uint64_t *worst) {
  struct doctor *d = longer->doctor;
  const uint32_t groups = rt_device_info(d->device)->sm_count;
  const uint64_t limit = 2 * long_ns(d) + d->options.timeout_ns;
  const uint32_t rounds = spin_rounds(longer, long_ns(d));
  uint64_t point = 0, short_point = 0;
  uint32_t count = 0;
  if (!rounds)
    return false;
  *worst = 0;
  memset(longer->data->cpu, 0, groups * EXPERIMENT_BLOCK * sizeof(uint32_t));
  const uint64_t start = base_clock_ns();
  if (start_kernel(longer, longer->queue, KERNEL_SPIN, groups, longer->data->gpu, rounds, &point))
    return doctor_say_failure(d);
  do {
    const uint64_t begin = base_clock_ns();
    if (start_kernel(shorter, shorter->queue, KERNEL_NUMBER, 1, shorter->data->gpu, ++count,
                     &short_point))
      return doctor_say_failure(d);
    if (!wait_for(shorter, shorter->queue, short_point, limit))
      return false;
    const uint64_t took = base_clock_ns() - begin;
    *worst = took > *worst ? took : *worst;
    if (!check_number(shorter, shorter->data->cpu, 1, count))
      return false;
  } while (rt_queue_completed(longer->queue) < point && base_clock_ns() - start < limit);
  if (!wait_for(longer, longer->queue, point, d->options.timeout_ns))
    return false;
  doctor_say(
      d, "during a kernel of %.1f ms another context ran %u short ones; the slowest took %.3f ms",
      (double)(base_clock_ns() - start) / 1e6, count, (double)*worst / 1e6);
  return check_spin(longer, longer->data->cpu, groups, rounds) && has_no_fault(longer) &&
         has_no_fault(shorter);
}

static bool check_preemption(struct doctor *d, const char *mode, enum measure measure) {
  struct setup longer, shorter = {.doctor = d};
  uint64_t worst = 0;
  if (!rt_choices_set(&d->device->choices, "preemption", mode)) {
    doctor_say(d, "the driver does not support preemption=%s", mode);
    return false;
  }
  if (!setup_open(d, 16 * GPU_PAGE_BYTES, &longer))
    return false;
  const bool good = setup_open(d, GPU_PAGE_BYTES, &shorter) &&
                    run_short_kernels_during(&longer, &shorter, &worst);
  setup_close(&shorter);
  setup_close(&longer);
  if (strcmp(rt_choice_value(&d->device->choices, RT_CHOICE_PREEMPTION), mode) != 0) {
    doctor_say(d, "nvgpu refused this mode");
    return false;
  }
  if (good)
    doctor_record(d, measure, worst);
  return good;
}

bool step_wfi(struct doctor *d) {
  return check_preemption(d, "wfi", MEASURE_SHORT_WFI);
}
bool step_cta(struct doctor *d) {
  return check_preemption(d, "cta", MEASURE_SHORT_CTA);
}
bool step_cilp(struct doctor *d) {
  return check_preemption(d, "cilp", MEASURE_SHORT_CILP);
}

/* ---- contexts and queues ----------------------------------------------------------------- */

bool step_contexts(struct doctor *d) {
  struct setup a, b = {.doctor = d};
  uint64_t worst = 0;
  if (!setup_open(d, 16 * GPU_PAGE_BYTES, &a))
    return false;
  const bool good = setup_open(d, GPU_PAGE_BYTES, &b) && run_short_kernels_during(&a, &b, &worst);
  setup_close(&b);
  setup_close(&a);
  return good;
}

/* Opens a channel during a kernel that cannot be preempted. The driver itself never does this. */
static bool open_and_close_channel(struct setup *setup, uint64_t *ns) {
  struct rt_channel *ch = calloc(1, sizeof(*ch));
  if (!ch) {
    doctor_say(setup->doctor, "out of memory");
    return false;
  }
  ch->context = setup->context;
  ch->fd = -1;
  const uint64_t start = base_clock_ns();
  const bool good = rt_channel_open(setup->context, setup->queue->channel->tsg, ch) == 0 ||
                    doctor_say_failure(setup->doctor);
  *ns = base_clock_ns() - start;
  rt_channel_close(setup->context, ch);
  free(ch);
  return good;
}

bool step_queues(struct doctor *d) {
  enum { ROUNDS = 4 };
  struct setup setup;
  uint64_t point = 0, worst = 0, short_point = 0;
  /* Opening a channel preempts the TSG, and nvgpu times out after 100 ms.
   * Only CILP interrupts the long kernel in time. CTA waits until its
   * work-groups end, and all of them run at the same time. */
  const char *mode = doctor_best_preemption(d);
  const bool interrupts = strcmp(mode, "cilp") == 0;
  const uint64_t ns = interrupts ? long_ns(d) : 50 * NS_PER_MS;
  if (!rt_choices_set(&d->device->choices, "preemption", mode))
    return false;
  if (!setup_open(d, 32 * GPU_PAGE_BYTES, &setup))
    return false;
  const uint32_t groups = rt_device_info(d->device)->sm_count;
  const uint64_t other = 16 * GPU_PAGE_BYTES;
  const uint32_t rounds = spin_rounds(&setup, ns);
  bool good = rounds && (start_kernel(&setup, setup.queue, KERNEL_SPIN, groups, setup.data->gpu,
                                      rounds, &point) == 0 ||
                         doctor_say_failure(d));
  for (int i = 0; i < ROUNDS && good; i++) {
    struct rt_queue *q = NULL;
    uint64_t took = 0;
    good = (rt_queue_create(setup.context, RT_PRIORITY_MEDIUM, &q) == 0 || doctor_say_failure(d)) &&
           open_and_close_channel(&setup, &took);
    good = good && (start_kernel(&setup, q, KERNEL_NUMBER, 1, setup.data->gpu + other, (uint32_t)i,
                                 &short_point) == 0 ||
                    doctor_say_failure(d));
    good = good && wait_for(&setup, q, short_point, 2 * long_ns(d) + d->options.timeout_ns) &&
           check_number(&setup, (const uint32_t *)setup.data->cpu + other / sizeof(uint32_t), 1,
                        (uint32_t)i);
    rt_queue_destroy(q);
    worst = took > worst ? took : worst;
  }
  good = good && wait_for(&setup, setup.queue, point, 2 * long_ns(d) + d->options.timeout_ns) &&
         check_spin(&setup, setup.data->cpu, groups, rounds) && has_no_fault(&setup);
  if (good) {
    doctor_say(
        d,
        "preemption %s: %d queues created, used and destroyed, and channels opened and closed, "
        "during a kernel of %.0f ms; opening a channel took at most %.3f ms",
        mode, ROUNDS, (double)ns / 1e6, (double)worst / 1e6);
    doctor_record(d, MEASURE_QUEUE, worst);
  }
  setup_close(&setup);
  return good;
}

bool step_priority(struct doctor *d) {
  struct setup setup;
  struct rt_queue *high = NULL;
  uint64_t point = 0, high_point = 0;
  if (!setup_open(d, 32 * GPU_PAGE_BYTES, &setup))
    return false;
  const uint32_t groups = rt_device_info(d->device)->sm_count;
  const uint64_t other = 16 * GPU_PAGE_BYTES;
  const uint32_t rounds = spin_rounds(&setup, long_ns(d));
  bool good = rounds && (rt_queue_create(setup.context, RT_PRIORITY_HIGH, &high) == 0 ||
                         doctor_say_failure(d));
  good = good && (start_kernel(&setup, setup.queue, KERNEL_SPIN, groups, setup.data->gpu, rounds,
                               &point) == 0 ||
                  doctor_say_failure(d));
  const uint64_t start = base_clock_ns();
  good = good && (start_kernel(&setup, high, KERNEL_NUMBER, 1, setup.data->gpu + other, 5,
                               &high_point) == 0 ||
                  doctor_say_failure(d));
  good = good && wait_for(&setup, high, high_point, 2 * long_ns(d) + d->options.timeout_ns);
  const uint64_t took = base_clock_ns() - start;
  good = good &&
         check_number(&setup, (const uint32_t *)setup.data->cpu + other / sizeof(uint32_t), 1, 5) &&
         wait_for(&setup, setup.queue, point, 2 * long_ns(d) + d->options.timeout_ns) &&
         check_spin(&setup, setup.data->cpu, groups, rounds) && has_no_fault(&setup);
  struct nvgpu_runlist_interleave_args level = {.level = NVGPU_INTERLEAVE_HIGH};
  const int refused = good ? d->device->os->ioctl(high->channel->tsg->fd,
                                                  NVGPU_IOCTL_TSG_SET_RUNLIST_INTERLEAVE, &level)
                           : 0;
  if (refused) {
    doctor_say_refusal(d, "SET_RUNLIST_INTERLEAVE to high", refused);
    good = false;
  }
  if (good && high->channel->tsg == setup.queue->channel->tsg) {
    doctor_say(d, "the queue of high priority is in the other queue's TSG");
    good = false;
  }
  if (good)
    doctor_say(d, "short work of high priority took %.3f ms during a long kernel",
               (double)took / 1e6);
  rt_queue_destroy(high);
  setup_close(&setup);
  return good;
}

/* Checks that the second queue waits for the first, which waits
 * for a word that the CPU writes later.
 */
static bool check_acquire(struct setup *setup, struct rt_queue *second) {
  struct doctor *d = setup->doctor;
  /* Half a second. A queue that does not wait writes its results
   * in this time even on a busy machine.
   */
  enum { LOOKS = 25 };
  static const struct timespec pause = {.tv_nsec = 20000000};
  volatile uint32_t *out = setup->data->cpu;
  volatile uint64_t *word = (void *)((char *)setup->data->cpu + GPU_PAGE_BYTES);
  struct rt_slice s;
  uint64_t point = 0;
  if (rt_slice_begin(setup->queue, 0, &s))
    return doctor_say_failure(d);
  put_semaphore(&s, setup->data->gpu + GPU_PAGE_BYTES, 1,
                hw_bits(NVC76F_SEM_EXECUTE_OPERATION, SEM_ACQUIRE) |
                    hw_bits(NVC76F_SEM_EXECUTE_PAYLOAD_SIZE, 1) |
                    hw_bits(NVC76F_SEM_EXECUTE_ACQUIRE_SWITCH_TSG, 1));
  const uint64_t first = rt_slice_submit(setup->queue, &s, NULL);
  if (rt_queue_acquire(second, setup->queue, first) ||
      start_kernel(setup, second, KERNEL_NUMBER, 1, setup->data->gpu, 9, &point))
    return doctor_say_failure(d);
  uint32_t early = 0;
  for (int i = 0; i < LOOKS && !early; i++) {
    nanosleep(&pause, NULL);
    early = out[0];
  }
  __atomic_store_n(word, 1, __ATOMIC_RELEASE);
  if (!setup_wait(setup, first) || !wait_for(setup, second, point, d->options.timeout_ns))
    return false;
  if (early) {
    doctor_say(
        d,
        "the second queue did not wait: its result appeared before the first queue had finished");
    return false;
  }
  doctor_say(d, "the second queue waited until the first had finished");
  return check_number(setup, setup->data->cpu, 1, 9);
}

bool step_acquire(struct doctor *d) {
  struct setup setup;
  struct rt_queue *second = NULL;
  if (!setup_open(d, 2 * GPU_PAGE_BYTES, &setup))
    return false;
  bool good = rt_queue_create(setup.context, RT_PRIORITY_MEDIUM, &second) == 0;
  /* Queues that share a channel never wait for each other on the GPU. */
  if (good && second->channel == setup.queue->channel) {
    doctor_say(d, "no second channel: the queues share one, so there is nothing to test");
    good = false;
  }
  good = (good || doctor_say_failure(d)) && check_acquire(&setup, second);
  if (!good) /* release a queue that still waits */
    ((volatile uint64_t *)setup.data->cpu)[GPU_PAGE_BYTES / sizeof(uint64_t)] = 1;
  setup_destroy_queue(second);
  setup_close(&setup);
  return good;
}

bool step_reuse(struct doctor *d) {
  enum { ROUNDS = 3 };
  struct setup setup;
  if (!setup_open(d, GPU_PAGE_BYTES, &setup))
    return false;
  bool good = true;
  for (uint32_t i = 1; i <= ROUNDS && good; i++) {
    uint64_t point = 0;
    rt_queue_destroy(setup.queue);
    setup.queue = NULL;
    good = rt_queue_create(setup.context, RT_PRIORITY_MEDIUM, &setup.queue) == 0 &&
           start_kernel(&setup, setup.queue, KERNEL_NUMBER, 1, setup.data->gpu, i, &point) == 0;
    good = (good || doctor_say_failure(d)) && setup_wait(&setup, point) &&
           check_number(&setup, setup.data->cpu, 1, i);
  }
  if (good)
    doctor_say(d, "work ran in %d queues, each created after the previous one was destroyed",
               ROUNDS);
  setup_close(&setup);
  return good;
}

/* ---- faults --------------------------------------------------------------------------------- */

/* Stores to an unmapped address, which must end the context with a fault. */
static bool check_fault(struct setup *setup) {
  struct doctor *d = setup->doctor;
  const uint64_t nowhere = UINT64_C(0x1000000); /* below the address range of all contexts */
  uint64_t point = 0;
  if (start_kernel(setup, setup->queue, KERNEL_NUMBER, 1, nowhere, 1, &point))
    return doctor_say_failure(d);
  const int result = rt_queue_wait(setup->queue, point, d->options.timeout_ns);
  const char *fault = rt_context_fault(setup->context);
  doctor_say(d, "wait: %s; %s", result ? strerror(-result) : "it ended",
             fault ? fault : "no fault was reported");
  if (result == -ETIMEDOUT && d->result)
    d->result->no_answer = true;
  return result == -EIO && fault;
}

bool step_store(struct doctor *d) {
  struct setup setup;
  uint64_t point = 0;
  if (!setup_open(d, GPU_PAGE_BYTES, &setup))
    return false;
  bool good = check_fault(&setup);
  setup_close(&setup);
  if (!good)
    doctor_say(d, "a store to an unmapped address must cause a fault");
  if (!setup_open(d, GPU_PAGE_BYTES, &setup))
    return false;
  const bool again =
      (start_kernel(&setup, setup.queue, KERNEL_NUMBER, 1, setup.data->gpu, 3, &point) == 0 ||
       doctor_say_failure(d)) &&
      setup_wait(&setup, point) && check_number(&setup, setup.data->cpu, 1, 3);
  doctor_say(d, "a new context after the fault %s", again ? "works" : "does not work");
  setup_close(&setup);
  return good && again;
}

/* Reads past the end may fault or return a word, but must not hang. */
bool step_beyond(struct doctor *d) {
  static const uint32_t offsets[] = {4, 252, 256, 1024, 48 * 1024, 1 << 20};
  for (size_t i = 0; i < sizeof(offsets) / sizeof(offsets[0]); i++) {
    struct setup setup;
    uint64_t point = 0;
    if (!setup_open(d, GPU_PAGE_BYTES, &setup))
      return false;
    if (start_kernel(&setup, setup.queue, KERNEL_BEYOND, 1, setup.data->gpu, offsets[i], &point)) {
      doctor_say_failure(d);
      setup_close(&setup);
      return false;
    }
    const int result = rt_queue_wait(setup.queue, point, d->options.timeout_ns);
    if (result == 0)
      doctor_say(d, "reading at byte %u of 4: no fault, 0x%x", offsets[i],
                 *(const uint32_t *)setup.data->cpu);
    else
      doctor_say(d, "reading at byte %u of 4: %s", offsets[i],
                 result == -EIO ? rt_context_fault(setup.context) : strerror(-result));
    if (result == -ETIMEDOUT && d->result)
      d->result->no_answer = true;
    setup_close(&setup);
    if (result && result != -EIO)
      return false;
  }
  return true;
}

/* ---- texture units -------------------------------------------------------------------------- */

/* Runs the driver's self-check, whose answers the driver uses from then on. A fault of the GPU is
 * an answer. */
bool step_textures(struct doctor *d) {
  struct rt_texture_answers answers;
  char failed[256];
  const uint64_t start = base_clock_ns();
  const int error = rt_texture_check_run(d->device, d->options.timeout_ns, &answers);
  if (error == -ETIMEDOUT && d->result)
    d->result->no_answer = true;
  if (error)
    return doctor_say_failure(d);
  doctor_record(d, MEASURE_TEXTURES, base_clock_ns() - start);
  const struct rt_device_info *info = rt_device_info(d->device);
  const bool is_known = info->emulated || *info->board;
  if (d->result && is_known) {
    d->result->textures = answers;
    snprintf(d->result->board, sizeof(d->result->board), "%s", info->board);
    d->result->has_textures = true;
  }
  rt_texture_answers_print(&answers, failed, sizeof(failed));
  if (*failed)
    doctor_say(d, "wrong, so software does these: %s", failed);
  else
    doctor_say(d, "all that the driver uses is right%s",
               is_known ? ": images are fast once the driver has these results" : "");
  if (!is_known)
    doctor_say(d, "--json does not store these results: the board's name is unknown, because "
                  "/proc/device-tree/model cannot be read, and the driver compares it with its "
                  "board's. Containers hide the file: run tegracl-doctor outside, or "
                  "use docker run --security-opt systempaths=unconfined");
  return !*failed;
}
